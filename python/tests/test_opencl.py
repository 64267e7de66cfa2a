"""Arrays of PyOpenCL as arguments and results."""
import numpy as np
import pytest

import dpc

cl = pytest.importorskip("pyopencl")
import pyopencl.array as cla  # noqa: E402

SOURCE = """
entry double (xs: [f32]) : [f32] = { 2.0 * x : x in xs }
entry turn (m: [r][c]f64) : [c][r]f64 = transpose m
entry evens (m: [[i64]]) : [[i64]] = { { x in row | x % 2 == 0 } : row in m }
entry swap (ps: [{a: i64, b: f32}]) : [(f32, i64)] = { (p.b, p.a) : p in ps }
entry both (xs: [i64]) (s: text) : (i64, [i64], text) = (sum xs, reverse xs, s)
entry pick (xs: [i64]) (i: i64) : i64 = xs[i]
"""


@pytest.fixture(scope="module")
def queue():
    try:
        return cl.CommandQueue(cl.Context(cl.get_platforms()[0].get_devices()[:1]))
    except (cl.Error, IndexError):
        pytest.skip("PyOpenCL finds no device")


@pytest.fixture(scope="module")
def m(queue):
    return dpc.compile(SOURCE, queue=queue, awkward=False)


def test_arguments(m, queue):
    xs = np.arange(100_000, dtype=np.float32)
    on = cla.to_device(queue, xs)
    assert np.array_equal(m.double(on), 2 * xs) and np.array_equal(m.double(xs), 2 * xs)
    assert np.array_equal(m.double(on[10:20]), 2 * xs[10:20])  # a part, at an offset
    assert np.array_equal(on.get(), xs)
    a = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(m.turn(cla.to_device(queue, a)), a.T)
    assert m.double(cla.empty(queue, 0, np.float32)).size == 0


def test_results(m, queue):
    xs = np.arange(100_000, dtype=np.float32)
    got = m.double.on_device(xs)
    assert isinstance(got, cla.Array) and got.queue == queue and got.dtype == np.float32
    again = m.double.on_device(got + 1)  # in order with PyOpenCL's own commands
    assert np.array_equal(again.get(), 2 * (2 * xs + 1))
    for _ in range(20):
        m.double.on_device(xs)
    assert np.array_equal(got.get(), 2 * xs)  # results are their own memory
    a = np.arange(6.0).reshape(2, 3)
    turned = m.turn.on_device(a)
    assert turned.shape == (3, 2) and np.array_equal(m.turn.on_device(turned).get(), a)
    assert m.double.on_device([]).shape == (0,)


def test_other_types(m, queue):
    r = m.evens.on_device([[1, 2, 4], [3], [6]])
    assert isinstance(r.data, cla.Array) and r.offsets.tolist() == [0, 2, 2, 3] and r.tolist() == [[2, 4], [], [6]]
    assert m.evens(r) == m.evens([[2, 4], [], [6]])
    columns = m.swap.on_device({"a": cla.arange(queue, 3, dtype=np.int64), "b": np.zeros(3)})
    assert isinstance(columns, dpc.Columns) and columns.tolist() == [(0.0, 0), (0.0, 1), (0.0, 2)]
    total, turned, text = m.both.on_device(cla.arange(queue, 4, dtype=np.int64), "abc")
    assert total == 6 and turned.get().tolist() == [3, 2, 1, 0] and text == "abc"


def test_wrong_arguments(m, queue):
    xs = cla.to_device(queue, np.arange(6.0))
    with pytest.raises(TypeError, match="argument xs of double: numbers of type float32 are wanted, not float64"):
        m.double(xs)
    with pytest.raises(ValueError, match="argument xs of double: one dimension"):
        m.double(xs.astype(np.float32).reshape(2, 3))
    with pytest.raises(TypeError, match="argument xs of pick: .*queue=queue"):
        dpc.compile(SOURCE).pick(cla.arange(queue, 3, dtype=np.int64), 0)
    with pytest.raises(TypeError, match="queue=queue"):
        dpc.compile(SOURCE).pick.on_device([1], 0)
    other = cl.CommandQueue(cl.Context(queue.context.devices))
    with pytest.raises(ValueError, match="argument xs of double: .*another OpenCL context"):
        m.double(cla.zeros(other, 3, np.float32))


def test_other_queues(m, queue):
    """Of the same context: what they have begun is done before."""
    other = cl.CommandQueue(queue.context)
    xs = cla.to_device(other, np.arange(200_000, dtype=np.float32))
    assert np.array_equal(m.double(xs + 1), 2 * (np.arange(200_000, dtype=np.float32) + 1))


def test_failures(m, queue):
    xs = cla.arange(queue, 3, dtype=np.int64)
    with pytest.raises(dpc.RunError, match="index 3 out of bounds for length 3"):
        m.pick.on_device(xs, 3)
    assert m.pick.on_device(xs, 2) == 2
