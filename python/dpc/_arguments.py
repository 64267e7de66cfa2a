"""Values of Python as leaves: one array of numbers for each scalar in a type, and the lengths of its sequences.

A value is taken apart type by type. `one` is for a single value, `many` for all the values that stand in a sequence, as
a column: an array, a Ragged, Columns, a dict of columns, or any sequence of such values. What does not fit is a
TypeError or a ValueError, which the caller says the argument of."""
from collections.abc import Mapping
from itertools import chain

import numpy as np

from . import _arrow, _awkward, _opencl
from ._library import DpcLeaf
from ._types import Array, Product, Scalar, Sum
from ._values import Case, Cases, Columns, Ragged


class Leaf:
    """`lengths`: of each level, arrays of u64."""

    def __init__(self, scalar, lengths, data):
        self.scalar, self.lengths, self.data = scalar, lengths, data


def describe(value):
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with {value.ndim} dimensions"
    return f"{type(value).__name__} {value!r}" if isinstance(value, (int, float, bool, str)) else type(value).__name__


# ---- numbers ----


def whole_numbers(values):
    """Integers beyond i64 next to others are floats to numpy: as objects if they are all whole in Python, else None."""
    if isinstance(values, np.ndarray) or not all(isinstance(v, (int, np.integer)) for v in values):
        return None
    return np.array(values, dtype=object)


def numbers(values, dtype):
    """An array of one dimension and this type, contiguous; the same one if it is so already, or PyOpenCL's."""
    if _opencl.is_array(values):
        return _opencl.checked(values, dtype)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError("values of the array are masked: filled() gives others")
    try:
        given = np.asarray(values)
    except ValueError:
        raise ValueError(f"numbers of type {dtype} are wanted, not sequences of them") from None
    if given.size == 0 and not isinstance(values, np.ndarray):
        given = given.astype(dtype)
    if given.dtype.kind in "fO" and dtype.kind in "iu":
        whole = whole_numbers(values)
        given = given if whole is None else whole
    check_numbers(given, values, dtype)
    return np.ascontiguousarray(given, dtype=dtype)


def check_numbers(given, values, dtype):
    if given.ndim != 1:
        raise ValueError(f"one dimension is wanted here, not {given.ndim}")
    kind, wanted = given.dtype.kind, dtype.kind
    whole = kind in "iu" or (kind == "O" and wanted in "iu" and not isinstance(values, np.ndarray))
    if not (whole if wanted in "iu" else kind == "b" if wanted == "b" else kind in "iuf"):
        raise TypeError(f"numbers of type {dtype} are wanted, not {given.dtype}")
    if wanted in "iu" and given.size and not np.can_cast(given.dtype, dtype, "safe"):
        limits = np.iinfo(dtype)
        least, most = given.min(), given.max()
        if least < limits.min or most > limits.max:
            raise ValueError(f"{least if least < limits.min else most} is no {dtype}")


# ---- sequences ----


def as_bytes(value):
    """A text as its bytes; other values as they are."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    return np.frombuffer(value, np.uint8) if isinstance(value, (bytes, bytearray)) else value


def column(value, element):
    """A value that stands for a sequence, in a form that has a length and elements."""
    value = _awkward.taken(value)
    if isinstance(element, Product) and element.names:
        value = _arrow.columns_of_frame(value, element.names) or value
    if element is not None and _arrow.is_taken(value, element):
        return _arrow.column_of(value, element)
    if element is not None and isinstance(element, Scalar) and element.name == "u8":
        value = as_bytes(value)
    if isinstance(value, Mapping) and isinstance(element, Product) and element.names:
        return dict_columns(value, element)
    if is_rows_of_matrix(value):
        return Ragged(Columns(value.indices, value.data), value.indptr)
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        if not hasattr(value, "__iter__") or isinstance(value, (str, bytes, Mapping)):
            raise TypeError(f"a sequence is wanted, not {describe(value)}")
        return list(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        raise TypeError("a sequence is wanted, not a single number")
    return value


def is_rows_of_matrix(value):
    """A sparse matrix of SciPy by rows is [[(i, t)]]: columns and values."""
    return getattr(value, "format", None) == "csr" and hasattr(value, "indptr")


def dict_columns(value, record):
    if set(value) != set(record.names):
        raise ValueError(f"columns {', '.join(record.names)} are wanted, not {', '.join(map(str, value))}")
    return Columns(**{name: column(value[name], item) for name, item in zip(record.names, record.items)})


def joined(rows, element):
    """The elements of all rows, one behind the other, as a column."""
    if rows and all(isinstance(row, np.ndarray) for row in rows):
        if len({(row.shape[1:], row.dtype) for row in rows}) == 1:
            return np.concatenate(rows)
        if isinstance(element, Scalar):
            return np.concatenate([numbers(row, element.dtype) for row in rows])
    return list(chain.from_iterable(rows))


def lengths_of(n):
    return np.array(n, dtype=np.uint64)


def array_one(t, value, out):
    values = column(value, t.element)
    many(t.element, values, len(values), [lengths_of([len(values)])], out)


def array_many(t, values, n, lengths, out):
    if (isinstance(values, np.ndarray) or _opencl.is_array(values)) and values.ndim > 1:
        m = values.shape[1]
        flat = values.reshape((n * m,) + values.shape[2:])
        many(t.element, flat, n * m, lengths + [np.full(n, m, np.uint64)], out)
    elif isinstance(values, Ragged):
        first, last = int(values.offsets[0]), int(values.offsets[-1])
        rows = values.lengths.astype(np.uint64)
        many(t.element, values.data[first:last], last - first, lengths + [rows], out)
    else:
        rows = [column(row, t.element) for row in values]
        lengths = lengths + [lengths_of([len(row) for row in rows])]
        many(t.element, joined(rows, t.element), int(lengths[-1].sum()), lengths, out)


# ---- tuples and records ----


def add_imported(t, values, n, lengths, out):
    """Appends the leaves of a column that has come by Arrow."""
    if len(values) != n:
        raise ValueError(f"{n} values are wanted, not {len(values)}")
    out.extend(Leaf(name, lengths + levels[1:], data) for name, levels, data in values.each())


def product_one(t, value, out):
    if t.names:
        value = _arrow.columns_of_frame(value, t.names) or value
    if t.items and _arrow.is_taken(value, t):
        out.extend(Leaf(name, levels, data) for name, levels, data in _arrow.Imported(value, t).each())
        return
    parts = components(t, value)
    if not t.items:
        out.append(Leaf("bool", [], np.zeros(1, np.bool_)))
    for i in t.order:
        try:
            one(t.items[i], parts[i], out)
        except (TypeError, ValueError) as why:
            raise type(why)(f"{t.names[i] if t.names else f'component {i}'}: {why}") from None


def components(t, value):
    """Of a tuple, in order; of a record: a dict, a row of a structured array, or a named tuple."""
    if isinstance(value, np.void) and value.dtype.names:
        names = value.dtype.names
        value = {name: value[name] for name in names} if t.names else [value[name] for name in names]
    elif t.names and hasattr(value, "_fields"):
        value = value._asdict()
    if t.names:
        if not isinstance(value, Mapping):
            raise TypeError(f"a dict with {', '.join(t.names)} is wanted, not {describe(value)}")
        if set(value) != set(t.names):
            raise ValueError(f"fields {', '.join(t.names)} are wanted, not {', '.join(map(str, value))}")
        return [value[name] for name in t.names]
    if not isinstance(value, (tuple, list, np.ndarray)):
        raise TypeError(f"a tuple of {len(t.items)} is wanted, not {describe(value)}")
    if len(value) != len(t.items):
        raise ValueError(f"a tuple of {len(t.items)} is wanted, not of {len(value)}")
    return value


def product_columns(t, values):
    """A column for each component."""
    if isinstance(values, np.ndarray) and values.dtype.names:
        names = t.names or values.dtype.names
        if len(names) != len(values.dtype.names) or set(names) != set(values.dtype.names):
            raise ValueError(f"fields {', '.join(t.columns)} are wanted, not {', '.join(values.dtype.names)}")
        return [values[name] for name in names]
    if isinstance(values, np.ndarray) and values.ndim == 2 and not t.names and values.shape[1] == len(t.items):
        return [values[:, i] for i in range(len(t.items))]
    if isinstance(values, Columns) and isinstance(values.columns, dict) == bool(t.names):
        if len(values.columns) == len(t.items) and (not t.names or set(t.names) == set(values.columns)):
            return [values.columns[key] for key in (t.names or range(len(t.items)))]
    rows = [components(t, value) for value in values]
    return [[row[i] for row in rows] for i in range(len(t.items))]


def product_many(t, values, n, lengths, out):
    columns = product_columns(t, values)
    if not t.items:
        out.append(Leaf("bool", lengths, np.zeros(n, np.bool_)))
    for i in t.order:
        many(t.items[i], columns[i], n, lengths, out)


# ---- sums ----


def case_of(t, value):
    """(tag, payload) of a Case or such a pair; a name alone has no payload."""
    name, payload = (value, None) if isinstance(value, str) else value if pairs(value) else (None, None)
    if not isinstance(name, str):
        raise TypeError(f"a Case is wanted, not {describe(value)}")
    name = name.lstrip("#")
    if name not in t.names:
        raise ValueError(f"there is no constructor {name}: {', '.join(t.names)}")
    tag = t.names.index(name)
    if t.payloads[tag] is None and payload is not None:
        raise ValueError(f"{name} has no payload")
    return tag, payload


def pairs(value):
    return isinstance(value, (Case, tuple, list)) and len(value) == 2


def empty(t):
    """What stands in the place of a payload that is not there."""
    if isinstance(t, Scalar):
        return t.dtype.type(0).item()
    if isinstance(t, Array):
        return []
    if isinstance(t, Product):
        return dict(zip(t.names, map(empty, t.items))) if t.names else tuple(map(empty, t.items))
    return Case(t.names[0], t.payloads[0] and empty(t.payloads[0]))


def sum_many(t, values, n, lengths, out):
    if isinstance(values, Cases) and values.names == t.names:
        tags, payloads = values.tags, values.payloads
    else:
        cases = [case_of(t, value) for value in values]
        tags = [tag for tag, _ in cases]
        payloads = [p and [v if tag == k else empty(p) for tag, v in cases] for k, p in enumerate(t.payloads)]
    out.append(Leaf(t.tag.name, lengths, numbers(tags, t.tag.dtype)))
    for payload, items in zip(t.payloads, payloads):
        if payload:
            many(payload, items, n, lengths, out)


# ---- all of them ----


def one(t, value, out):
    """Appends the leaves of a value that stands in no sequence."""
    if isinstance(t, Scalar):
        if hasattr(value, "__len__") and not (isinstance(value, np.ndarray) and value.ndim == 0):
            raise TypeError(f"{t.name} is wanted, not {describe(value)}")
        out.append(Leaf(t.name, [], numbers([value], t.dtype)))
    elif isinstance(t, Array):
        array_one(t, value, out)
    elif isinstance(t, Product):
        product_one(t, value, out)
    else:
        sum_many(t, [value], 1, [], out)


def many(t, values, n, lengths, out):
    """Appends the leaves of n values, in sequences of these lengths."""
    if _arrow.is_taken(values, t):
        values = _arrow.column_of(values, t)
    if isinstance(values, _arrow.Imported):
        add_imported(t, values, n, lengths, out)
    elif isinstance(t, Scalar):
        data = numbers(values, t.dtype)
        out.append(Leaf(t.name, lengths, data))
        if data.size != n:
            raise ValueError(f"{n} numbers are wanted, not {data.size}")
    else:
        MANY[type(t)](t, values, n, lengths, out)


MANY = {Array: array_many, Product: product_many, Sum: sum_many}


def address_of(array):
    return array.__array_interface__["data"][0]


def as_structs(leaves, queue=None):
    """The array of dpc.h for leaves, which have to live as long. queue: as of leaves_of."""
    made = (DpcLeaf * len(leaves))()
    for leaf, to in zip(leaves, made):
        to.scalar, to.rank = leaf.scalar.encode(), len(leaf.lengths)
        for level, lengths in enumerate(leaf.lengths):
            to.lengths[level], to.sequences[level] = address_of(lengths), len(lengths)
        if _opencl.is_array(leaf.data):
            _opencl.lend(leaf.data, queue, to)
        else:
            to.data, to.count = address_of(leaf.data), len(leaf.data)
    return made


def leaves_of(t, value, queue=None):
    """The leaves of a value, and the array of dpc.h for them; both have to live until the call is over. queue: that of
    PyOpenCL on which it is called, or None."""
    found = []
    one(t, value, found)
    return found, as_structs(found, queue)
