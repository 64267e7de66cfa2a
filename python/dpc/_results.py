"""Results as values of Python. Numbers stay where the library has put them: arrays refer to it, and the last of them
frees it."""
import ctypes

import numpy as np

from . import _awkward, _opencl
from ._library import lib
from ._types import Array, Product, Scalar
from ._values import Case, Cases, Columns, Ragged

READERS = {
    "bool": ctypes.c_bool,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


class Value:
    """Owns a DpcValue."""

    __slots__ = ["address"]
    free = lib.dpc_value_free

    def __init__(self, address):
        self.address = address

    def __del__(self):
        self.free(self.address)


class Memory:
    """Numbers inside of a DpcValue, for numpy."""

    __slots__ = ["__array_interface__", "value"]

    def __init__(self, value, address, shape, typestr):
        self.value = value
        self.__array_interface__ = {"data": (address, False), "shape": shape, "typestr": typestr, "version": 3}


def array_at(value, address, n, dtype):
    if not n:
        return np.empty(0, dtype)
    return np.asarray(Memory(value, address, (n,), dtype.str))


class Leaves:
    """The leaves of a result, taken one after the other, from left to right. keep: of a result that stays on the
    device, makes an array of PyOpenCL of a leaf of that index."""

    def __init__(self, value, keep=None):
        self.value, self.at, self.keep = value, 0, keep

    def next(self):
        leaf = lib.dpc_leaf(self.value.address, self.at)
        self.at += 1
        return leaf

    def peek(self):
        return lib.dpc_leaf(self.value.address, self.at)

    def numbers(self, dtype):
        """The next one's."""
        leaf = self.next()
        if self.keep:
            return self.keep(self.value, self.at - 1, leaf, dtype)
        return array_at(self.value, leaf.data, leaf.count, dtype)


def scalar_at(t, address):
    return READERS[t.name].from_address(address).value


def one(t, leaves):
    """A value that stands in no sequence."""
    if isinstance(t, Scalar):
        return scalar_at(t, leaves.next().data)
    if isinstance(t, Array):
        found = many(t.element, leaves, 1)
        return text_of(found) if t.text else found
    if isinstance(t, Product):
        return product_one(t, leaves)
    tag = one(t.tag, leaves)
    payloads = [payload and one(payload, leaves) for payload in t.payloads]
    return Case(t.names[tag], payloads[tag])


def product_one(t, leaves):
    if not t.items:
        leaves.next()
        return ()
    items = [None] * len(t.items)
    for i in t.order:
        items[i] = one(t.items[i], leaves)
    return dict(zip(t.names, items)) if t.names else tuple(items)


def text_of(numbers):
    numbers = numbers.get() if _opencl.is_array(numbers) else numbers
    return numbers.tobytes().decode("utf-8", "surrogateescape")


# ---- columns: all the values that stand in sequences of this level ----


def many(t, leaves, level):
    if isinstance(t, Scalar):
        return leaves.numbers(t.dtype)
    if isinstance(t, Array):
        return array_many(t, leaves, level)
    if isinstance(t, Product):
        return product_many(t, leaves, level)
    tags = many(t.tag, leaves, level)
    return Cases(t.names, tags, [payload and many(payload, leaves, level) for payload in t.payloads])


def array_many(t, leaves, level):
    leaf = leaves.peek()
    lengths = array_at(leaves.value, leaf.lengths[level], leaf.sequences[level], np.dtype(np.uint64))
    elements = many(t.element, leaves, level + 1)
    if t.size is not None and (isinstance(elements, np.ndarray) or _opencl.is_array(elements)):
        m = int(lengths[0]) if lengths.size else 0
        return elements.reshape((lengths.size, m) + elements.shape[1:])
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:], dtype=np.int64)
    if t.text:
        data = (elements.get() if leaves.keep else elements).tobytes()
        return [data[a:b].decode("utf-8", "surrogateescape") for a, b in zip(offsets[:-1], offsets[1:])]
    return Ragged(elements, offsets)


def product_many(t, leaves, level):
    if not t.items:
        return [()] * leaves.next().count
    columns = [None] * len(t.items)
    for i in t.order:
        columns[i] = many(t.items[i], leaves, level)
    if all(isinstance(c, np.ndarray) for c in columns):
        return structured(t, columns)
    return Columns(**dict(zip(t.names, columns))) if t.names else Columns(*columns)


def structured(t, columns):
    """Numbers side by side, as numpy has records: a copy."""
    kinds = [(name, c.dtype, c.shape[1:]) for name, c in zip(t.columns, columns)]
    made = np.empty(len(columns[0]), dtype=kinds)
    for name, c in zip(t.columns, columns):
        made[name] = c
    return made


# ---- for calls ----


def reader_of(t, awkward):
    """A function that makes of the address of a result what a call gives; it owns the result. awkward: whether
    sequences that are no arrays of numpy become arrays of Awkward Array."""
    if isinstance(t, Scalar):
        return scalar_reader(t)
    if isinstance(t, Array) and isinstance(t.element, Scalar) and not t.text:
        return lambda address: many(t.element, Leaves(Value(address)), 1)

    def read(address):
        found = one(t, Leaves(Value(address)))
        return _awkward.given(found) if awkward else found

    return read


def device_reader(t):
    """Likewise of a result that is on the device; called with `keep`, see Leaves."""
    return lambda address, keep: one(t, Leaves(Value(address), keep))


def scalar_reader(t):
    kind, leaf, free = READERS[t.name], lib.dpc_leaf, lib.dpc_value_free

    def read(address):
        number = kind.from_address(leaf(address, 0).data).value
        free(address)
        return number

    return read
