"""Results for other packages, by Arrow's PyCapsule protocol.

What is exported is a value of the library that refers to the memory of the arrays of Python; it is freed when the last
part of Arrow's array is released, in any thread, and holds these arrays until then."""
import atexit
import ctypes
import itertools
from ctypes import byref, c_char_p, c_void_p, py_object

import numpy as np

from . import _arguments, _awkward
from ._library import ArrowArray, ArrowSchema, DpcError, lib
from ._types import SCALARS, Array, Product, Scalar, Sum
from ._values import Cases, Columns, Ragged

# ---- capsules: how a consumer gets the structs, which it empties ----

pointer_at = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
new_capsule = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
alloc = ctypes.PYFUNCTYPE(c_void_p, ctypes.c_size_t, ctypes.c_size_t)(("PyMem_RawCalloc", ctypes.pythonapi))
free = ctypes.PYFUNCTYPE(None, c_void_p)(("PyMem_RawFree", ctypes.pythonapi))


def destroyer(struct, name):
    """A function that a capsule calls at its end: what nobody has taken out of it is released. It stays for good, as
    capsules may live as long as the process."""
    release_type = ctypes.CFUNCTYPE(None, c_void_p)

    def destroy(capsule):
        address = pointer_at(capsule, name)
        release = struct.from_address(address).release
        if release:
            release_type(release)(address)
        free(address)

    made = ctypes.PYFUNCTYPE(None, c_void_p)(destroy)
    ctypes.pythonapi.Py_IncRef(py_object(made))
    return ctypes.cast(made, c_void_p)


NAMES = {ArrowSchema: b"arrow_schema", ArrowArray: b"arrow_array"}
DESTROYERS = {struct: destroyer(struct, name) for struct, name in NAMES.items()}


def empty_capsule(struct):
    """With a struct of zeros; and its address."""
    address = alloc(1, ctypes.sizeof(struct))
    if not address:
        raise MemoryError
    return new_capsule(address, NAMES[struct], DESTROYERS[struct]), address


# ---- what exported values refer to ----

live, numbers = {}, itertools.count(1)


@ctypes.CFUNCTYPE(None, c_void_p)
def forget(number):
    live.pop(number, None)


ctypes.pythonapi.Py_IncRef(py_object(forget))


@atexit.register
def abandon():
    """Without an interpreter nobody can be called any more: what others hold still is theirs for the rest of the
    process."""
    for address, found in list(live.values()):
        lib.dpc_value_own(address, None, None)
        ctypes.pythonapi.Py_IncRef(py_object(found))


# ---- types ----


def type_of(values):
    """That of the elements of a column."""
    if isinstance(values, Ragged):
        return Array(type_of(values.data))
    if isinstance(values, Columns):
        names = list(values.columns) if isinstance(values.columns, dict) else None
        return Product([type_of(c) for c in values.each()], names)
    if isinstance(values, Cases):
        return Sum([(name, None if p is None else type_of(p)) for name, p in zip(values.names, values.payloads)])
    if isinstance(values, np.ndarray):
        return type_of_dtype(values.dtype, values.shape[1:])
    if isinstance(values, list) and all(isinstance(v, str) for v in values):
        return Array(Scalar("u8"), text=True)
    if isinstance(values, list) and all(v == () for v in values):
        return Product([])
    raise TypeError(f"{_arguments.describe(values)} is no column that Arrow could have")


def type_of_dtype(dtype, shape):
    if shape:
        return Array(type_of_dtype(dtype, shape[1:]))
    if dtype.subdtype:
        return type_of_dtype(*dtype.subdtype)
    if dtype.names:
        fields = [type_of_dtype(dtype[name], ()) for name in dtype.names]
        is_tuple = list(dtype.names) == [f"f{i}" for i in range(len(fields))]
        return Product(fields, None if is_tuple else list(dtype.names))
    for name, kind in SCALARS.items():
        if dtype == kind:
            return Scalar(name)
    raise TypeError(f"numbers of type {dtype} are none of DP")


# ---- columns ----


def exported(values):
    """The capsules of a schema and of an array."""
    t = type_of(values)
    leaves = []
    _arguments.many(t, values, len(values), [_arguments.lengths_of([len(values)])], leaves)
    made = _arguments.as_structs(leaves)
    address = lib.dpc_value(str(Array(t)).encode(), made)
    if not address:
        raise MemoryError
    try:
        schema, schema_at = empty_capsule(ArrowSchema)
        array, array_at = empty_capsule(ArrowArray)
        number, error = next(numbers), DpcError()
        live[number] = address, leaves
        lib.dpc_value_own(address, ctypes.cast(forget, c_void_p), number)
        if not lib.dpc_to_arrow(address, schema_at, array_at, byref(error)):
            said = (error.text or b"").decode("utf-8", "replace")
            lib.dpc_error_clear(byref(error))
            raise ValueError(said)
        return schema, array
    except BaseException:
        lib.dpc_value_free(address)
        raise


class Arrow:
    """A column, or a table of columns, that other packages take by Arrow: see dpc.arrow."""

    def __init__(self, values):
        values = _awkward.taken(values)
        if isinstance(values, dict):
            values = Columns(**values)
        elif isinstance(values, tuple) and values:
            values = Columns(*values)
        type_of(values)
        self.values = values

    def __len__(self):
        return len(self.values)

    def __arrow_c_array__(self, requested_schema=None):
        return exported(self.values)


def arrow(values):
    """A result as what pyarrow, pandas, Polars and DuckDB take by Arrow's PyCapsule protocol, of the same memory:
    `pyarrow.array(dpc.arrow(xs))`, `polars.Series(dpc.arrow(rows))`, `pyarrow.table(dpc.arrow({"x": xs, "y": ys}))`.
    Arrays of numpy, Ragged, Columns, Cases and lists of texts are columns; structured arrays, Columns, dicts and tuples
    of columns are tables. Ragged, Columns and Cases are taken as they are, too."""
    return Arrow(values)
