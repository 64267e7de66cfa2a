"""Awkward Array: its arrays as arguments, and as results."""
import numpy as np
import pytest

import dpc

ak = pytest.importorskip("awkward")

SOURCE = """
entry evens (m: [[i64]]) : [[i64]] = { { x in row | x % 2 == 0 } : row in m }
entry cube (m: [[[f64]]]) : [[[f64]]] = m
entry people (ps: [{name: text, scores: [i64]}]) : [{name: text, best: [i64]}] =
  { {name = p.name, best = sort p.scores} : p in ps }
entry pairs (ps: [[(i64, f32)]]) : [[(i64, f32)]] = ps
entry shapes (xs: [#circle f64 | #none]) : [#circle f64 | #none] = xs
entry flat (xs: [f64]) : [f64] = xs
entry points (ps: [{x: f64, y: f64}]) : [{x: f64, y: f64}] = ps
entry both (m: [[i64]]) : ([[i64]], i64) = (m, length m)
"""


@pytest.fixture(scope="module")
def m():
    return dpc.compile(SOURCE)


def test_results(m):
    got = m.evens([[1, 2, 4], [], [6]])
    assert isinstance(got, ak.Array) and got.tolist() == [[2, 4], [], [6]] and str(got.type) == "3 * var * int64"
    assert isinstance(m.flat([1, 2]), np.ndarray) and isinstance(m.points([{"x": 1, "y": 2}]), np.ndarray)
    rows, n = m.both([[1], [2, 3]])
    assert rows.tolist() == [[1], [2, 3]] and n == 2
    assert isinstance(dpc.compile(SOURCE, awkward=False).evens([[2]]), dpc.Ragged)
    assert m.evens([]).tolist() == []


def test_round_trips(m):
    rows = ak.Array([[1, 2, 4], [], [6]])
    assert m.evens(rows).tolist() == [[2, 4], [], [6]]
    assert m.evens(rows[1:]).tolist() == [[], [6]] and m.evens(rows[rows > 1]).tolist() == [[2, 4], [], [6]]
    cube = [[[1.5], []], [], [[2.0, 3.0]]]
    assert m.cube(m.cube(ak.Array(cube))).tolist() == cube
    assert m.cube(ak.Array(np.zeros((1, 2, 3)))).tolist() == np.zeros((1, 2, 3)).tolist()
    assert m.flat(ak.Array([1.0, 2.0])).tolist() == [1, 2] and m.flat(ak.Array([])).tolist() == []
    assert m.pairs(ak.Array([[(1, 2.5)], []])).tolist() == [[(1, 2.5)], []]
    assert m.points(ak.Array([{"x": 1, "y": 2}])).tolist() == [(1, 2)]


def test_records(m):
    people = ak.Array([{"name": "ada", "scores": [9, 3]}, {"name": "é", "scores": []}])
    got = m.people(people)
    assert isinstance(got, ak.Array)
    assert got.tolist() == [{"name": "ada", "best": [3, 9]}, {"name": "é", "best": []}]
    assert got.best.tolist() == [[3, 9], []]


def test_sums(m):
    got = m.shapes([dpc.Case("circle", 1.5), "none"])
    assert got.tolist() == [{"circle": 1.5}, {"none": ()}]


def test_many_cases():
    """More than Awkward's unions have."""
    constructors = " | ".join(f"#c{i:03} i64" for i in range(130))
    m = dpc.compile(f"entry same (xs: [{constructors}]) : [{constructors}] = xs", awkward=True)
    cases = [dpc.Case("c129", 5), dpc.Case("c000", 6)]
    got = m.same(cases)
    assert isinstance(got, dpc.Cases) and got.tolist() == cases


def test_missing_values(m):
    with pytest.raises(ValueError, match="argument m of evens: missing values"):
        m.evens(ak.Array([[1], None]))
    with pytest.raises(TypeError, match="argument m of evens: numbers of type int64"):
        m.evens(ak.Array([[1.5]]))
