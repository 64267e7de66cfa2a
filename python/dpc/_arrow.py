"""Columns of other packages, by Arrow's PyCapsule protocol: arguments that have __arrow_c_array__ or __arrow_c_stream__."""
import ctypes
import sys
from ctypes import byref, c_char_p, c_void_p, py_object

import numpy as np

from ._library import DpcError, lib
from ._results import Value, array_at
from ._types import Array, Scalar
from ._values import Sequence

pointer_in = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def is_taken(value, element):
    """Is it to be handed over by Arrow, as a column of this type? Our own sequences are not, they are known better; nor
    numbers of numpy in a Series of pandas, whose nan would be missing."""
    kind = type(value)
    if isinstance(value, Sequence) or not (hasattr(kind, "__arrow_c_array__") or hasattr(kind, "__arrow_c_stream__")):
        return False
    dtype = getattr(value, "dtype", None)
    return not (isinstance(element, Scalar) and isinstance(dtype, np.dtype) and dtype.kind in "biuf")


def imported(text, value):
    """A value of the library, of the type that the text says."""
    error = DpcError()
    if hasattr(type(value), "__arrow_c_array__"):
        schema, array = value.__arrow_c_array__()
        at = pointer_in(schema, b"arrow_schema"), pointer_in(array, b"arrow_array")
        address = lib.dpc_from_arrow(text.encode(), *at, byref(error))
    else:
        stream = value.__arrow_c_stream__()
        address = lib.dpc_from_arrow_stream(text.encode(), pointer_in(stream, b"arrow_array_stream"), byref(error))
    if address:
        return Value(address)
    said, status = (error.text or b"").decode("utf-8", "replace"), error.status
    lib.dpc_error_clear(byref(error))
    raise MemoryError(said) if status == 3 else ValueError(said)


class Imported:
    """The leaves of a value that has come by Arrow; they refer to its memory. As a column, of `element`s, it has a
    length."""

    def __init__(self, value, t, element=None):
        self.element, self.value = element, imported(str(t), value)
        count = lib.dpc_leaf_count(self.value.address)
        self.leaves = [lib.dpc_leaf(self.value.address, i) for i in range(count)]

    def __len__(self):
        return self.lengths(self.leaves[0], 0)[0].item()

    def __iter__(self):
        raise TypeError("rows are sequences of numbers, or one column of lists")

    def lengths(self, leaf, level):
        return array_at(self.value, leaf.lengths[level], leaf.sequences[level], np.dtype(np.uint64))

    def each(self):
        """Scalar's name, lengths of all levels and numbers, of each leaf."""
        for leaf in self.leaves:
            name = leaf.scalar.decode()
            levels = [self.lengths(leaf, level) for level in range(leaf.rank)]
            yield name, levels, array_at(self.value, leaf.data, leaf.count, Scalar(name).dtype)


def column_of(value, element):
    """A column of these elements: numbers as an array of numpy, others as they are in the library."""
    made = Imported(value, Array(element), element)
    return next(made.each())[2] if isinstance(element, Scalar) else made


def columns_of_frame(value, names):
    """The columns of a pandas DataFrame of which a record is made, so that numbers stay numpy's; or None."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, getattr(pandas, "DataFrame", ())):
        return None
    for name in names:
        if list(value.columns).count(name) != 1:
            raise ValueError(f"the DataFrame has no column {name}, or more than one")
    return {name: value[name] for name in names}
