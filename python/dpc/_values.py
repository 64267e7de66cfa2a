"""Sequences that numpy has no array for, held as the device holds them: as a few arrays."""
from collections import namedtuple

import numpy as np

from . import _opencl

Case = namedtuple("Case", ["name", "value"], defaults=[None])
Case.__doc__ = "A value of a sum type: its constructor's name, and the payload, None where it has none."


class Sequence:
    """What they have in common: a length, items by index or slice, iteration, `tolist()`, `==`."""

    def __getitem__(self, index):
        n = len(self)
        if isinstance(index, slice):
            return self.take(range(n)[index])
        at = index.__index__()
        if not -n <= at < n:
            raise IndexError(f"index {at} out of bounds for length {n}")
        return self.item(at % n)

    def __iter__(self):
        return (self.item(i) for i in range(len(self)))

    def __eq__(self, other):
        return isinstance(other, Sequence) and self.tolist() == other.tolist()

    __hash__ = None

    def __arrow_c_array__(self, requested_schema=None):
        """For packages that take columns by Arrow: see dpc.arrow."""
        from . import _export

        return _export.exported(self)

    def __repr__(self):
        name = type(self).__name__
        return f"{name}({self.tolist()!r})" if len(self) <= 20 else f"<{name} of {len(self)}>"


def as_list(values):
    """Python's own numbers and lists, all the way down."""
    values = values.get() if _opencl.is_array(values) else values
    return values.tolist() if hasattr(values, "tolist") else [as_item(v) for v in values]


def as_item(value):
    if isinstance(value, dict):
        return {name: as_item(v) for name, v in value.items()}
    if isinstance(value, tuple):
        items = [as_item(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value.tolist() if hasattr(value, "tolist") else value


def take_rows(values, rows):
    """Those of these indices, a range."""
    if isinstance(values, np.ndarray):
        return values[rows.start : rows.stop : rows.step] if rows.step > 0 else values[list(rows)]
    return values.take(rows) if isinstance(values, Sequence) else [values[i] for i in rows]


class Ragged(Sequence):
    """Rows of different lengths: `data` has them all, one behind the other; row i is data[offsets[i]:offsets[i + 1]].

    >>> rows = Ragged([1, 2, 3], [0, 2, 2, 3])
    >>> rows.tolist()
    [[1, 2], [], [3]]
    """

    def __init__(self, data, offsets):
        as_it_is = isinstance(data, (np.ndarray, Sequence)) or _opencl.is_array(data)
        self.data = data if as_it_is else np.asarray(data)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        o = self.offsets
        if o.ndim != 1 or o.size == 0 or o[0] < 0 or o[-1] > len(self.data) or (o[1:] < o[:-1]).any():
            raise ValueError(f"the offsets of rows ascend, from 0 to the {len(self.data)} elements there are")

    @classmethod
    def from_rows(cls, rows):
        """Of a sequence of sequences of numbers."""
        rows = [np.asarray(row) for row in rows]
        data = np.concatenate(rows) if rows else np.zeros(0)
        return cls(data, np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]))

    @property
    def lengths(self):
        """Of the rows."""
        return np.diff(self.offsets)

    def __len__(self):
        return len(self.offsets) - 1

    def item(self, i):
        return self.data[int(self.offsets[i]) : int(self.offsets[i + 1])]

    def take(self, rows):
        if rows.step == 1:
            return Ragged(self.data, self.offsets[rows.start : max(rows.start, rows.stop) + 1])
        return [self.item(i) for i in rows]

    def tolist(self):
        return [as_list(row) for row in self]


class Columns(Sequence):
    """Records or tuples as a column for each component: `columns` is a dict by field, or a tuple.

    >>> Columns(name=["a", "b"], x=[1, 2])[1]
    {'name': 'b', 'x': 2}
    """

    def __init__(self, *items, **fields):
        if bool(items) == bool(fields):
            raise TypeError("columns are all named, or none is")
        self.columns = dict(fields) if fields else tuple(items)
        if len({len(c) for c in self.each()}) != 1:
            raise ValueError("columns of different lengths: " + ", ".join(str(len(c)) for c in self.each()))

    def each(self):
        return self.columns.values() if isinstance(self.columns, dict) else self.columns

    def __len__(self):
        return len(next(iter(self.each())))

    def item(self, i):
        if isinstance(self.columns, dict):
            return {name: column[i] for name, column in self.columns.items()}
        return tuple(column[i] for column in self.columns)

    def take(self, rows):
        if isinstance(self.columns, dict):
            return Columns(**{name: take_rows(column, rows) for name, column in self.columns.items()})
        return Columns(*(take_rows(column, rows) for column in self.columns))

    def tolist(self):
        lists = [as_list(column) for column in self.each()]
        rows = list(zip(*lists))
        return [dict(zip(self.columns, row)) for row in rows] if isinstance(self.columns, dict) else rows


class Cases(Sequence):
    """Values of a sum type: `tags` index `names`, and `payloads` has a column for each constructor, None where it has
    no payload; of a column those items count that have its tag."""

    def __init__(self, names, tags, payloads):
        self.names, self.tags, self.payloads = list(names), tags, list(payloads)

    def __len__(self):
        return len(self.tags)

    def item(self, i):
        tag = int(self.tags[i])
        return Case(self.names[tag], None if self.payloads[tag] is None else self.payloads[tag][i])

    def take(self, rows):
        payloads = [None if p is None else take_rows(p, rows) for p in self.payloads]
        return Cases(self.names, take_rows(self.tags, rows), payloads)

    def tolist(self):
        return [as_item(case) for case in self]
