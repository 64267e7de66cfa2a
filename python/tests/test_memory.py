"""Many calls leave nothing behind, whether they succeed or fail; more of them: DPC_CALLS=100000."""
import os

import numpy as np
import pytest

import dpc

CALLS = int(os.environ.get("DPC_CALLS", 2500))
SOURCE = """
entry inc (x: i64) : i64 = x + 1
entry total (xs: [f64]) : f64 = sum xs
entry ragged (m: [[i64]]) : [[i64]] = m
entry swap (ps: [{a: i64, b: f32}]) : [(f32, i64)] = { (p.b, p.a) : p in ps }
entry pick (xs: [i64]) (i: i64) : i64 = xs[i]
entry same (s: text) : text = s
"""


def resident():
    """Bytes of this process."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.fixture(scope="module")
def m():
    return dpc.compile(SOURCE, awkward=False)


def least_growth(call, n):
    """Bytes that n calls leave, the least of three times: OpenCL and Python have pools that grow now and then."""
    growth = []
    for _ in range(4):
        before = resident()
        for _ in range(n):
            call()
        growth.append(resident() - before)
    return min(growth[1:])


def fails(kind, call):
    with pytest.raises(kind):
        call()


XS = np.zeros(1000)
KINDS = {
    "scalars": lambda m: m.inc(3),
    "arrays": lambda m: m.total(XS),
    "ragged": lambda m: m.ragged([[1, 2], [], [3]]),
    "records": lambda m: m.swap([{"a": 1, "b": 2}]),
    "texts": lambda m: m.same("abc"),
    "failures": lambda m: fails(dpc.RunError, lambda: m.pick([1], 1)),
    "wrong arguments": lambda m: fails(TypeError, lambda: m.pick([1.5], 0)),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read in /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_flat(m, kind):
    call = KINDS[kind]
    assert least_growth(lambda: call(m), CALLS) < 50 * CALLS  # a lost DpcValue is some 200 bytes


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read in /proc")
def test_programs_are_freed():
    assert least_growth(lambda: dpc.compile(SOURCE).inc(1), 10) < 10 * 100_000
