"""Columns by Arrow's PyCapsule protocol: capsules made by hand, our own, and those of pyarrow, pandas, Polars and DuckDB
where they are installed."""
import ctypes
import gc
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import dpc
from dpc import _export
from dpc._library import ArrowArray, ArrowSchema

SOURCE = """
type point = {x: f64, y: f64}
entry rows (m: [[f64]]) (k: f64) : [f64] = { k * sum row : row in m }
entry evens (m: [[i64]]) : [[i64]] = { { x in row | x % 2 == 0 } : row in m }
entry inc (xs: [i64]) : [i64] = { x + 1 : x in xs }
entry total (xs: [f64]) : f64 = sum xs
entry far (ps: [point]) (r: f64) : [point] = { p in ps | p.x * p.x + p.y * p.y > r * r }
entry both (t: {x: [f64], n: [i64]}) : f64 = sum t.x + f64 (sum t.n)
entry filled (xs: [#none | #some i64]) : [i64] = { match x case #none -> -1 case #some v -> v : x in xs }
entry maybe (xs: [i64]) : [#none | #some i64] = { if x > 0 then #some x else #none : x in xs }
entry cases (xs: [i64]) : [#many [i64] | #one i64 | #zero] =
  { if x > 1 then #many (iota x) else if x == 1 then #one x else #zero : x in xs }
entry named (rs: [{name: text, x: f64}]) : [{name: text, x: f64}] = { r in rs | r.x > 1.0 }
entry words (ws: [text]) : [text] = reverse ws
entry flags (xs: [i64]) : [bool] = { x > 1 : x in xs }
entry same (fs: [bool]) : [bool] = fs
entry pairs (ps: [(i64, [f64])]) : [(i64, [f64])] = ps
"""


@pytest.fixture(scope="module")
def m():
    return dpc.compile(SOURCE, awkward=False)


# ---- by hand: no other package ----

new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class ByHand:
    """An Arrow array of i64 as Python has made it with ctypes."""

    def __init__(self, numbers, format=b"l", name=b"x"):
        self.numbers, self.released = np.ascontiguousarray(numbers), []
        self.release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.on_release)
        release = ctypes.cast(self.release, ctypes.c_void_p)
        self.buffers = (ctypes.c_void_p * 2)(None, self.numbers.ctypes.data)
        self.schema = ArrowSchema(format=format, name=name, release=release)
        self.array = ArrowArray(length=len(numbers), n_buffers=2, release=release)
        self.array.buffers = ctypes.addressof(self.buffers)

    def on_release(self, address):
        self.released.append(address)
        kind = ArrowSchema if address == ctypes.addressof(self.schema) else ArrowArray
        kind.from_address(address).release = None

    def __arrow_c_array__(self, requested_schema=None):
        return (
            new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
            new_capsule(ctypes.addressof(self.array), b"arrow_array", None),
        )


def test_by_hand(m):
    column = ByHand(np.array([1, 2, 5]))
    assert m.inc(column).tolist() == [2, 3, 6]
    assert len(column.released) == 1 and not column.array.release
    with pytest.raises(ValueError, match="argument xs of inc: the Arrow array is NULL, or has been released"):
        m.inc(column)
    assert m.total(ByHand(np.array([1, 2]))) == 3.0


def test_by_hand_wrong(m):
    for column, said in (
        (ByHand(np.array([1.0]), b"g", b"price"), "argument xs of inc: column price: i64 is wanted, not f64"),
        (ByHand(np.array([1]), b"e"), "Arrow's format e is not read"),
    ):
        with pytest.raises(ValueError, match=said):
            m.inc(column)
        assert not column.released and column.array.release  # it is its owner's as before


class Wrong:
    def __arrow_c_array__(self, requested_schema=None):
        return "no", "capsules"


def test_no_capsules(m):
    with pytest.raises((TypeError, ValueError)):
        m.inc(Wrong())


# ---- our own, both ways ----


@pytest.mark.parametrize(
    "entry, value",
    [
        ("inc", np.arange(5)),
        ("inc", np.zeros(0, np.int64)),
        ("same", np.array([True, False, True] * 5)),
        ("evens", dpc.Ragged([1, 2, 4, 6], [0, 2, 2, 4])),
        ("words", ["ab", "", "é"]),
        ("maybe", np.array([1, 0, 2])),
        ("cases", np.array([0, 1, 3])),
    ],
)
def test_round_trips(m, entry, value):
    wanted = m[entry](value)
    got = m[entry](dpc.arrow(value))
    assert type(got) is type(wanted) and list(map(str, got)) == list(map(str, wanted))
    dpc.arrow(got).__arrow_c_array__()


def test_options(m):
    assert m.filled(dpc.arrow(m.maybe([3, 0, 2]))).tolist() == [3, -1, 2]


def test_tables(m):
    points = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("x", "f8"), ("y", "f8")])
    assert m.far(dpc.arrow(points), 3.0).tolist() == [(3.0, 4.0)]
    table = {"y": np.array([2.0, 4.0]), "more": ["a", "b"], "x": np.array([1.0, 3.0])}
    assert m.far(dpc.arrow(table), 3.0).tolist() == [(3.0, 4.0)]
    assert m.both(dpc.arrow({"x": np.array([1.5]), "n": np.array([2])})) == 3.5
    assert m.both({"x": dpc.arrow(np.array([1.5])), "n": [2]}) == 3.5
    assert m.named({"name": dpc.arrow(["a", "b"]), "x": [1, 2]}).tolist() == [{"name": "b", "x": 2.0}]
    pairs = (np.array([1, 2]), dpc.Ragged([1.0, 2.0], [0, 0, 2]))
    assert m.pairs(dpc.arrow(pairs)).tolist() == [(1, []), (2, [1.0, 2.0])]
    assert m.rows([dpc.arrow(np.array([1.0, 2.0])), [3.0]], 1.0).tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="2 values are wanted, not 1|columns of different lengths"):
        m.named({"name": dpc.arrow(["a"]), "x": [1, 2]})
    with pytest.raises(ValueError, match="there is no field y"):
        m.far(dpc.arrow({"x": np.zeros(2)}), 1.0)


@pytest.mark.parametrize("value", [3, "text", [1, "a"], np.zeros(2, np.float16), np.array([None]), np.array(["a"])])
def test_no_columns(value):
    with pytest.raises(TypeError):
        dpc.arrow(value)


def test_no_utf8():
    with pytest.raises(ValueError, match="text 1 is not UTF-8"):
        dpc.arrow(["a", "\udcff"]).__arrow_c_array__()


def test_lifetime(m):
    before = len(_export.live)
    xs = m.inc(np.arange(1000))
    capsules = dpc.arrow(xs).__arrow_c_array__()
    del xs
    gc.collect()
    assert len(_export.live) == before + 1
    del capsules  # which nobody has emptied
    gc.collect()
    assert len(_export.live) == before
    m.inc(dpc.arrow(np.arange(1000)))
    gc.collect()
    assert len(_export.live) == before


def test_at_exit(m):
    """What others hold when Python ends is theirs; capsules that are there still do no harm."""
    program = (
        "import dpc, numpy as np; m = dpc.compile('entry main (xs: [i64]) : [i64] = xs');"
        "kept = dpc.arrow(m.main([1, 2])).__arrow_c_array__(); import sys; sys.kept = kept, m"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stderr) == (0, "")


# ---- other packages ----


def test_pyarrow(m):
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([[1.0, 2.0], [], [4.0]])
    assert m.rows(lists, 2.0).tolist() == [6.0, 0.0, 8.0]
    assert m.rows(lists[1:], 2.0).tolist() == [0.0, 8.0]
    assert m.rows(pa.chunked_array([[[1.0]], [[2.0, 3.0], []]]), 1.0).tolist() == [1.0, 5.0, 0.0]
    assert m.filled(pa.array([1, None, 3])).tolist() == [1, -1, 3]
    with pytest.raises(ValueError, match="1 values are missing"):
        m.inc(pa.array([1, None]))
    assert m.words(pa.array(["a", "b", "a"]).dictionary_encode()) == ["a", "b", "a"]
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(1)):
        assert m.words(pa.array(["a", "b"], pa.string()).cast(kind)) == ["b", "a"]
    xs = m.inc(np.arange(5))
    array = pa.array(dpc.arrow(xs))
    assert array.to_pylist() == [1, 2, 3, 4, 5] and array.buffers()[1].address == xs.ctypes.data  # the same memory
    array.validate(full=True)
    for value in (m.evens([[1, 2], [4]]), m.maybe([1, 0]), m.cases([0, 1, 3]), m.flags([1, 2])):
        made = pa.array(dpc.arrow(value))
        made.validate(full=True)
        assert len(made) == len(value)
    assert pa.array(m.maybe([1, 0])).to_pylist() == [1, None]
    table = pa.table(dpc.arrow({"x": xs, "big": m.flags(xs)}))
    assert table.to_pydict() == {"x": [1, 2, 3, 4, 5], "big": [False, True, True, True, True]}


def test_pandas(m):
    pd = pytest.importorskip("pandas")
    series = pd.Series([1, 2, 3])
    assert m.inc(series).tolist() == [2, 3, 4] and m.inc(series[::-1]).tolist() == [4, 3, 2]
    assert np.isnan(m.total(pd.Series([1.0, np.nan])))
    frame = pd.DataFrame({"more": ["a", "b"], "y": [2.0, 4.0], "x": [1.0, np.nan]})
    assert m.far(frame, 0.0).tolist() == [(1.0, 2.0)]
    assert m.both(pd.DataFrame({"x": [1.0, 2.0], "n": [3, 4]})) == 10.0
    with pytest.raises(ValueError, match="the DataFrame has no column y"):
        m.far(frame[["x"]], 0.0)
    if hasattr(pd.Series, "__arrow_c_stream__") and pytest.importorskip("pyarrow"):
        assert m.filled(pd.Series([1, None, 3], dtype="Int64")).tolist() == [1, -1, 3]
        assert m.named(pd.DataFrame({"name": ["a", "b"], "x": [1.0, 2.0]})).tolist() == [{"name": "b", "x": 2.0}]
        assert pd.Series.from_arrow(dpc.arrow(m.inc([1, 2]))).tolist() == [2, 3]


def test_polars(m):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"rows": [[1.0, 2.0], [], [4.0]], "x": [1.0, 2.0, 3.0], "y": [0.0, 0.0, 4.0]})
    assert m.rows(frame["rows"], 2.0).tolist() == [6.0, 0.0, 8.0]
    assert m.far(frame, 2.5).tolist() == [(3.0, 4.0)]
    assert m.filled(pl.Series([1, None])).tolist() == [1, -1]
    assert m.words(pl.Series(["a", "more than twelve bytes", ""])) == ["", "more than twelve bytes", "a"]
    assert m.words(pl.Series(["a", "b"], dtype=pl.Categorical)) == ["b", "a"]
    assert pl.Series(m.evens([[1, 2], [4]])).to_list() == [[2], [4]]
    assert pl.Series(dpc.arrow(m.words(["a", "b"]))).to_list() == ["b", "a"]
    assert pl.DataFrame(m.named({"name": ["a", "b"], "x": [1, 2]})).to_dicts() == [{"name": "b", "x": 2.0}]


def test_duckdb(m):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'n' || i as name, i::double as x, i as n from range(3) t(i)")
    assert m.named(relation).tolist() == [{"name": "n2", "x": 2.0}]
    assert m.both(duckdb.sql("select i::double as x, i as n from range(3000) t(i)")) == 2 * 4498500.0
    found = m.named({"name": ["a", "b"], "x": [1, 2]})
    assert duckdb.sql("select name, x * 2 from found").fetchall() == [("b", 4.0)]


def test_documentation(m):
    """The lines of docs/python.md that need the four packages."""
    names = ["polars", "pandas", "duckdb", "pyarrow"]
    for name in names:
        pytest.importorskip(name)
    text = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text()
    (block,) = [b for b in re.findall(r"^```text\n(.*?)^```", text, re.M | re.S) if "import polars" in b]
    scope = {"dpc": dpc, "np": np, "m": m}
    exec(block, scope)
    assert scope["df"].columns == ["x", "y", "rows"]


def test_h5py(m, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["xs"] = np.arange(4.0)
        file["rows"] = np.ones((2, 3))
        file.create_dataset("packed", data=np.arange(1000.0), chunks=(100,), compression="gzip")
        assert m.total(file["xs"]) == 6.0
        assert m.total(file["packed"][...]) == 499500.0
        assert m.rows(file["rows"], 2.0).tolist() == [6.0, 6.0]


def test_parquet(m, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"x": [1.0, 3.0], "y": [1.0, 4.0]}), tmp_path / "f.parquet")
    assert m.far(parquet.read_table(tmp_path / "f.parquet"), 3.0).tolist() == [(3.0, 4.0)]
