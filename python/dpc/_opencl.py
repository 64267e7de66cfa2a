"""Arrays of PyOpenCL: as arguments, read in their buffers; as results, which stay on the device."""
import sys
from ctypes import byref

import numpy as np

from ._library import lib


def is_array(value):
    """Without importing it: who has such an array has done so."""
    module = sys.modules.get("pyopencl.array")
    return module is not None and isinstance(value, module.Array)


def checked(values, dtype):
    """An array that stands for numbers of this type, as it is."""
    if values.ndim != 1:
        raise ValueError(f"one dimension is wanted here, not {values.ndim}")
    if values.dtype != dtype:
        raise TypeError(f"numbers of type {dtype} are wanted, not {values.dtype}")
    if not values.flags.c_contiguous:
        raise ValueError("a contiguous array is wanted")
    return values if values.size else np.zeros(0, dtype)


def lend(values, queue, leaf):
    """Names the buffer in a DpcLeaf. What is to be done to it before is done, or in the queue."""
    if queue is None:
        raise TypeError("arrays of PyOpenCL are for modules with a queue: dpc.compile(…, queue=queue)")
    if values.context != queue.context:
        raise ValueError("the array is of another OpenCL context than the module's queue")
    if values.queue is not None and values.queue != queue:
        values.queue.finish()
    for event in values.events:
        event.wait()
    leaf.data, leaf.count = None, values.size
    leaf.buffer, leaf.offset = values.base_data.int_ptr, values.offset


def copy_of(value, index, leaf, dtype, queue, error):
    """The numbers of a leaf of a result that is on the device, in an array of their own. None: out of memory there."""
    import pyopencl.array

    made = pyopencl.array.empty(queue, int(leaf.count), dtype)
    if leaf.count and not lib.dpc_copy(value, index, made.base_data.int_ptr, made.offset, byref(error)):
        return None
    return made
