"""Awkward Array, where it is installed: ragged results as its arrays, and its arrays as arguments."""
import importlib.util
import sys

import numpy as np

from ._values import Case, Cases, Columns, Ragged

installed = importlib.util.find_spec("awkward") is not None


def taken(value):
    """An argument: an array of Awkward as our own sequences, of the same memory; others as they are."""
    awkward = sys.modules.get("awkward")
    if awkward is None or not isinstance(value, awkward.Array):
        return value
    return column_of(awkward, awkward.to_packed(value).layout)


def column_of(ak, layout):
    if layout.is_option:
        raise ValueError("missing values are not of any type of DP")
    if layout.is_indexed:
        return column_of(ak, layout.project())
    if layout.parameter("__array__") in ("string", "bytestring"):
        return Ragged(column_of(ak, layout.content), layout.to_ListOffsetArray64(True).offsets.data)
    if layout.is_numpy:
        return layout.data
    if layout.is_list:
        rows = layout.to_ListOffsetArray64(True)
        return Ragged(column_of(ak, rows.content), rows.offsets.data)
    if layout.is_record:
        columns = [column_of(ak, content[: len(layout)]) for content in layout.contents]
        return Columns(*columns) if layout.is_tuple else Columns(**dict(zip(layout.fields, columns)))
    if layout.is_unknown:
        return np.zeros(0)
    return ak.to_list(layout)


def given(value):
    """A result: what is no array of numpy as one of Awkward, of the same memory."""
    if isinstance(value, (Ragged, Columns, Cases)):
        import awkward

        try:
            return awkward.Array(layout_of(awkward.contents, awkward.index, value))
        except TooManyCases:
            return value
    if isinstance(value, Case):
        return Case(value.name, given(value.value))
    if isinstance(value, tuple):
        return tuple(given(v) for v in value)
    return {name: given(v) for name, v in value.items()} if isinstance(value, dict) else value


def layout_of(contents, index, value):
    if isinstance(value, Ragged):
        return contents.ListOffsetArray(index.Index64(value.offsets), layout_of(contents, index, value.data))
    if isinstance(value, Columns):
        fields = list(value.columns) if isinstance(value.columns, dict) else None
        return contents.RecordArray([layout_of(contents, index, c) for c in value.each()], fields, length=len(value))
    if isinstance(value, Cases):
        return union_of(contents, index, value)
    if isinstance(value, np.ndarray) and value.dtype.names:
        names = list(value.dtype.names)
        columns = [layout_of(contents, index, np.ascontiguousarray(value[name])) for name in names]
        is_tuple = names == [f"f{i}" for i in range(len(names))]
        return contents.RecordArray(columns, None if is_tuple else names, length=len(value))
    if isinstance(value, np.ndarray):
        return contents.NumpyArray(value) if value.ndim == 1 else contents.NumpyArray(value).to_RegularArray()
    return texts_of(contents, index, value)


def texts_of(contents, index, texts):
    """A list of texts, or of units."""
    import awkward

    return awkward.from_iter(texts, highlevel=False) if texts else contents.EmptyArray()


class TooManyCases(Exception):
    """More than a union of Awkward Array can tell apart."""


def union_of(contents, index, cases):
    """Records of one field, named as the constructor; a constructor without payload has an empty tuple there."""
    if len(cases.names) > 127:
        raise TooManyCases
    n, parts = len(cases), []
    for name, payload in zip(cases.names, cases.payloads):
        inner = contents.RecordArray([], None, length=n) if payload is None else layout_of(contents, index, payload)
        parts.append(contents.RecordArray([inner], [name], length=n))
    tags = np.asarray(cases.tags).astype(np.int8)
    return contents.UnionArray(index.Index8(tags), index.Index64(np.arange(n)), parts)
