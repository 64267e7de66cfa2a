"""Values in and out: every type, from what Python and numpy have, and what is refused."""
import copy
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dpc

SOURCE = """
type point = {x: i64, y: f32}
entry rows (m: [[f32]]) (k: f32) : [f32] = { sum { k * x : x in row } : row in m }
entry flip (m: [r][c]f64) : [c][r]f64 = transpose m
entry box (a: i64) (b: i64) (c: i64) : [a][b][c]i64 = { { { i * 100 + j * 10 + k : k in c } : j in b } : i in a }
entry id2 (m: [[i32]]) : [[i32]] = m
entry id3 (m: [[[i64]]]) : [[[i64]]] = m
entry swap (ps: [point]) : [(f32, i64)] = { (p.y, p.x) : p in ps }
entry nested (ps: [[point]]) : [[(f32, i64)]] = { { (p.y, p.x) : p in row } : row in ps }
entry points (ps: [(f64, f64)]) : f64 = sum { x * y : (x, y) in ps }
entry named (b: {t: text, a: [i64]}) : {t: text, a: [i64]} = b
entry people (ps: [{name: text, scores: [i64]}]) : [{name: text, best: i64}] =
  { {name = p.name, best = reduce max 0 p.scores} : p in ps }
entry shapes (xs: [#circle f64 | #none | #box (f64, f64)]) : [#circle f64 | #none | #box (f64, f64)] = xs
entry shape (x: #circle f64 | #none) : #circle f64 | #none = x
entry words (ts: [text]) : [text] = reverse ts
entry shout (s: text) : text = { if c >= 'a' && c <= 'z' then c - 32 else c : c in s }
entry raw (s: [u8]) : [u8] = s
entry unit (u: ()) : () = u
entry units (n: i64) : [()] = { () : i in n }
entry mixed (b: bool) (s: i8) : (bool, i8) = (!b, -s)
entry bools (xs: [bool]) : [bool] = { !x : x in xs }
entry big (x: u64) (xs: [u64]) : (u64, [u64]) = (x, xs)
entry three (v: [3]f64) : [3]f64 = v
entry grid (ps: [n][m](i64, f64)) : [n][m](i64, f64) = ps
--| One more than x.
entry lambda (x: i64) (x': i64) : i64 = x + 1
"""


@pytest.fixture(scope="module")
def m():
    return dpc.compile(SOURCE, awkward=False)


def same(got, wanted):
    """The same array, of the same type."""
    assert isinstance(got, np.ndarray) and got.dtype == wanted.dtype and got.shape == wanted.shape
    assert np.array_equal(got, wanted)


# ---- numbers and arrays ----


def test_scalars(m):
    assert m.mixed(True, 3) == (False, -3)
    assert m.mixed(np.bool_(False), np.int8(-128)) == (True, -128)
    assert m.big(2**64 - 1, [2**64 - 1, 0])[0] == 2**64 - 1
    assert isinstance(m.points([(1, 2.5)]), float)
    assert m.rows([[1]], 2)[0] == 2.0  # integers are numbers of any type


@pytest.mark.parametrize(
    "make", [np.ascontiguousarray, np.asfortranarray, lambda a: a[::1, ::-1], lambda a: a.astype(">f4")]
)
def test_matrices(m, make):
    a = make(np.arange(6, dtype=np.float32).reshape(2, 3))
    same(m.rows(a, 2.0), (2 * a.sum(axis=1)).astype(np.float32))
    same(m.flip(a), np.asarray(a, np.float64).T)


def test_shapes(m):
    same(m.box(2, 3, 4), np.fromfunction(lambda i, j, k: i * 100 + j * 10 + k, (2, 3, 4), dtype=np.int64))
    same(m.flip(np.zeros((0, 3))), np.zeros((0, 0)))
    same(m.flip(np.zeros((3, 0))), np.zeros((0, 0)))
    same(m.rows(np.zeros((2, 0), np.float32), 1), np.zeros(2, np.float32))
    same(m.three((1, 2, 3)), np.array([1.0, 2, 3]))
    same(m.bools([True, False]), np.array([False, True]))
    same(m.bools([]), np.array([], np.bool_))


def test_results_stay(m):
    """Arrays refer to the library's memory, which lives as long as they."""
    results = [m.three([i, i, i]) for i in range(50)]
    parts = [r[1:] for r in results]
    del results
    assert [p.tolist() for p in parts] == [[i, i] for i in range(50)]
    parts[0][0] = 7  # and is theirs
    assert parts[0].tolist() == [7, 0]


def test_conversions(m):
    same(m.id2([[1, 2], [3]]).data, np.array([1, 2, 3], np.int32))
    same(m.flip([[1, 2], [3, 4]]), np.array([[1.0, 3], [2, 4]]))
    same(m.flip(np.array([[1, 2]], np.uint8)), np.array([[1.0], [2.0]]))
    same(m.big(0, range(3))[1], np.arange(3, dtype=np.uint64))
    same(m.big(0, (i for i in range(3)))[1], np.arange(3, dtype=np.uint64))
    same(m.raw(b"abc"), np.array([97, 98, 99], np.uint8))


def test_arrays_are_read_where_they_lie():
    """On the CPU an array needs none of the device's memory: here it is larger than that."""
    m = dpc.compile("entry main (xs: [f64]) (ys: [f64]) : f64 = sum { x * y : x in xs; y in ys }", memory=64 << 20)
    xs = np.arange(12.0e6)  # 96 MB
    assert m.main(xs, xs[::-1].copy()) == pytest.approx(float(xs @ xs[::-1]))


# ---- ragged ----


def test_ragged(m):
    r = m.id2([[1, 2], [], [3]])
    assert isinstance(r, dpc.Ragged)
    assert r.tolist() == [[1, 2], [], [3]] and len(r) == 3 and [len(row) for row in r] == [2, 0, 1]
    assert r.offsets.tolist() == [0, 2, 2, 3] and r.lengths.tolist() == [2, 0, 1]
    assert r[-1].tolist() == [3] and r[1:].tolist() == [[], [3]] and [x.tolist() for x in r[::-1]] == [[3], [], [1, 2]]
    with pytest.raises(IndexError):
        r[3]
    assert m.id2(r) == r and m.id2(r[1:]) == r[1:]
    assert m.id2(dpc.Ragged(np.array([9, 1, 2, 3]), [1, 1, 3])).tolist() == [[], [1, 2]]
    assert m.id2([]).tolist() == [] and m.id2([[], []]).tolist() == [[], []]
    assert m.id2([np.array([1]), np.array([2.0 > 1, True]).astype(np.int8)]).tolist() == [[1], [1, 1]]
    assert dpc.Ragged.from_rows([[1.5], [], [2.5, 3.5]]).tolist() == [[1.5], [], [2.5, 3.5]]
    assert repr(r) == "Ragged([[1, 2], [], [3]])"


def test_deeper(m):
    cube = [[[1], [2, 3]], [], [[], [4]]]
    r = m.id3(cube)
    assert r.tolist() == cube and r[0][1].tolist() == [2, 3]
    assert m.id3(r) == r
    assert m.id3(np.arange(8).reshape(2, 2, 2)).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert m.id3([np.arange(4).reshape(2, 2), np.zeros((0, 5), int)]).tolist() == [[[0, 1], [2, 3]], []]


@pytest.mark.parametrize("offsets", [[], [0, 4], [2, 1], [-1, 2]])
def test_wrong_offsets(offsets):
    with pytest.raises(ValueError, match="offsets"):
        dpc.Ragged([1, 2, 3], offsets)


def test_sparse_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    source = "entry main (a: [[(i32, f64)]]) (x: [f64]) : [f64] = { sum { v * x[j] : (j, v) in row } : row in a }"
    spmv = dpc.compile(source)
    a = sparse.random(50, 40, 0.1, "csr", random_state=1)
    x = np.arange(40.0)
    assert np.allclose(spmv.main(a, x), a @ x)


# ---- records, tuples, sums, texts ----


def test_records(m):
    wanted = [(1.5, 1), (2.5, 2)]
    table = np.array([(1, 1.5), (2, 2.5)], dtype=[("x", "i8"), ("y", "f4")])
    for points in [
        table,
        table[["y", "x"]],
        {"x": [1, 2], "y": np.array([1.5, 2.5])},
        [{"x": 1, "y": 1.5}, {"y": 2.5, "x": 2}],
        list(table),
        dpc.Columns(x=[1, 2], y=[1.5, 2.5]),
    ]:
        got = m.swap(points)
        assert got.dtype.names == ("f0", "f1") and got.dtype["f0"] == np.float32 and got.tolist() == wanted
    assert m.nested([table, [], table[:1]]).tolist() == [wanted, [], wanted[:1]]
    assert m.points(np.array([[1.0, 2], [3, 4]])) == 14 and m.points([(1, 2), [3, 4]]) == 14 and m.points([]) == 0
    got = m.grid(np.arange(12).reshape(2, 3, 2))
    assert got.shape == (2, 3) and got["f1"].tolist() == [[1, 3, 5], [7, 9, 11]]
    assert m.named({"a": [1, 2], "t": "é"})["t"] == "é" and list(m.named({"a": [], "t": ""})) == ["t", "a"]


def test_columns(m):
    people = [{"name": "ada", "scores": [3, 9]}, {"name": "", "scores": []}]
    got = m.people(people)
    assert isinstance(got, dpc.Columns) and len(got) == 2
    assert got.tolist() == [{"name": "ada", "best": 9}, {"name": "", "best": 0}]
    assert got[0] == {"name": "ada", "best": 9} and got[1:].tolist() == got.tolist()[1:]
    assert got.columns["best"].tolist() == [9, 0]
    same_people = {"name": ["ada", ""], "scores": dpc.Ragged([3, 9], [0, 2, 2])}
    assert m.people(same_people) == got


def test_sums(m):
    cases = [dpc.Case("circle", 1.5), "none", ("box", (2.0, 3.0)), dpc.Case("none")]
    wanted = [dpc.Case("circle", 1.5), dpc.Case("none"), dpc.Case("box", (2.0, 3.0)), dpc.Case("none")]
    got = m.shapes(cases)
    assert got.tolist() == wanted and m.shapes(got) == got and got[1:3].tolist() == wanted[1:3]
    assert got[0].name == "circle" and got[0].value == 1.5
    assert m.shape("none") == dpc.Case("none") and m.shape(dpc.Case("circle", 2)) == ("circle", 2.0)
    assert m.shapes([]).tolist() == []


def test_texts(m):
    assert m.shout("héllo") == "HéLLO" and m.shout(b"ab") == "AB" and m.shout("") == ""
    assert m.words(["a", "bc", "", "dé"]) == ["dé", "", "bc", "a"] and m.words([]) == []
    assert m.shout("\udcff") == "\udcff"  # bytes that are no UTF-8 come back as they went


def test_units(m):
    assert m.unit(()) == () and m.units(3) == [(), (), ()]


# ---- what is refused names the argument ----


@pytest.mark.parametrize(
    "entry, args, kind, text",
    [
        ("rows", ([[1.0]], "2"), TypeError, "argument k of rows: .*f32"),
        ("rows", ([[1.0]], None), TypeError, "argument k of rows: "),
        ("rows", ([["a"]], 1), TypeError, "argument m of rows: "),
        ("rows", ([1.0, 2.0], 1), TypeError, "argument m of rows: a sequence is wanted"),
        ("rows", (3, 1), TypeError, "argument m of rows: a sequence is wanted"),
        ("rows", (np.zeros((2, 2, 2), np.float32), 1), ValueError, "argument m of rows: one dimension"),
        ("rows", (np.zeros(2, np.float32), 1), TypeError, "argument m of rows: a sequence is wanted"),
        ("id2", ([[1.5]],), TypeError, "argument m of id2: numbers of type int32 are wanted, not float64"),
        ("id2", (np.array([[2**31]]),), ValueError, "argument m of id2: 2147483648 is no int32"),
        ("id2", ([[True]],), TypeError, "argument m of id2: "),
        ("mixed", (1, 1), TypeError, "argument b of mixed: "),
        ("mixed", (True, 128), ValueError, "argument s of mixed: 128 is no int8"),
        ("mixed", (True, 1.0), TypeError, "argument s of mixed: "),
        ("big", (-1, []), ValueError, "argument x of big: -1 is no uint64"),
        ("big", (0, [2**64]), ValueError, "argument xs of big: 18446744073709551616 is no uint64"),
        ("swap", ([{"x": 1}],), ValueError, "argument ps of swap: fields x, y are wanted, not x"),
        ("swap", ([(1, 2)],), TypeError, "argument ps of swap: a dict with x, y"),
        ("swap", ({"x": [1, 2], "y": [1.0]},), ValueError, "argument ps of swap: columns of different lengths: 2, 1"),
        ("swap", (np.zeros(2, [("x", "i8"), ("z", "f4")]),), ValueError, "fields x, y are wanted, not x, z"),
        ("points", ([(1, 2, 3)],), ValueError, "argument ps of points: a tuple of 2 is wanted, not of 3"),
        ("shape", ("square",), ValueError, "argument x of shape: there is no constructor square: circle, none"),
        ("shape", (("none", 1),), ValueError, "argument x of shape: none has no payload"),
        ("named", ({"t": 1, "a": []},), TypeError, "argument b of named: t: a sequence is wanted, not int 1"),
        ("three", (), TypeError, "three: missing a required argument: 'v'"),
        ("three", ([1], 2), TypeError, "three: too many positional arguments: three .v: .3.f64. : .3.f64"),
    ],
)
def test_wrong_arguments(m, entry, args, kind, text):
    with pytest.raises(kind, match=text):
        m[entry](*args)
    assert m.three([1, 2, 3]).tolist() == [1, 2, 3]


# ---- what a module tells about itself ----


def test_signatures(m):
    assert m.rows.__doc__ == "rows (m: [[f32]]) (k: f32) : [f32]"
    assert str(inspect.signature(m.flip)) == "(m: '[r][c]f64') -> '[c][r]f64'"
    assert m.rows(k=2.0, m=[[1.0]]).tolist() == [2.0]
    assert m["lambda"].__doc__ == "lambda (x: i64) (x_: i64) : i64\n\nOne more than x."
    assert m["lambda"](x_=0, x=1) == 2
    assert "rows" in repr(m) and [e.__name__ for e in m][:2] == ["rows", "flip"]
    with pytest.raises(AttributeError, match="there is no entry nothing: the program has rows, "):
        m.nothing


# ---- where results lie ----


def test_results_are_not_copied():
    """Those of some size are the device's memory, where that is the host's: it is aligned as malloc's never is."""
    n = 50_000
    m = dpc.compile("entry inc (xs: [f64]) : [f64] = { x + 1.0 : x in xs }")
    small, first = m.inc(np.zeros(8)), m.inc(np.zeros(n))
    second = m.inc(first)
    if first.ctypes.data % 64:
        pytest.skip("the device's memory is not the host's, or the host's is limited: results are copied")
    assert second.ctypes.data % 64 == 0 and second.ctypes.data != first.ctypes.data
    first[:] = 7  # it is its own
    assert (second == 2).all() and (m.inc(second) == 3).all() and (first == 7).all()
    m.close()
    assert (m.inc(first) == 8).all()  # opens the device again
    del m
    assert (first == 7).all() and (second == 2).all() and (small == 1).all()


def test_results_do_not_share():
    m = dpc.compile("entry main (n: i64) : ([i64], [i64]) = (let xs = { 2 * i : i in iota n } in (xs, xs))")
    a, b = m.main(50_000)
    a[:] = 0
    assert b[1] == 2 and m.main(50_000)[0][1] == 2


# ---- what a module survives ----


def test_pickles():
    m = dpc.compile(SOURCE, awkward=False)
    for made in (pickle.loads(pickle.dumps(m)), copy.copy(m), copy.deepcopy(m)):
        assert made.points([(1, 2.5)]) == 2.5 and made.rows([[1]], 2).tolist() == [2.0]
    assert pickle.loads(pickle.dumps(m.points))([(1, 2.5)]) == 2.5
    rows = pickle.loads(pickle.dumps(m.id2([[1], [2, 3]])))
    assert rows == dpc.Ragged([1, 2, 3], [0, 1, 3])


def test_masked(m):
    assert m.three(np.ma.array([1.0, 2, 3])).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="masked"):
        m.three(np.ma.array([1.0, 2, 3], mask=[0, 1, 0]))
    with pytest.raises(ValueError, match="masked"):
        m.rows(np.ma.array([[1.0, 2]], mask=[[0, 1]]), 1)


def test_fork():
    """Contexts of a process that has been forked are refused, and so are new ones: they would wait for ever."""
    program = """
import os, dpc, numpy as np
m = dpc.compile("entry main (xs: [f64]) : [f64] = { x + 1.0 : x in xs }")
xs = m.main(np.zeros(50000))
if os.fork() == 0:
    for module in (m, m.open()):
        try:
            module.main([1.0])
        except dpc.DeviceError as error:
            print(error, flush=True)
    print(xs.sum(), flush=True)
    os._exit(0)
os.wait()
print(m.main([1.0])[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "the context is of the process that this one was forked from",
        "OpenCL is in use by the process that this one was forked from",
        "50000.0",
        "2.0",
    ], done.stderr
