"""libdpc by ctypes: where it is, and what dpc.h declares (docs/embedding.md)."""
import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_uint, c_uint64, c_void_p

MAX_RANK = 16
NAME = "libdpc.so"


class DpcError(Structure):
    _fields_ = [("status", c_int), ("text", c_char_p)]


class DpcEntry(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("params", c_uint),
        ("param_names", POINTER(c_char_p)),
        ("param_types", POINTER(c_char_p)),
        ("result_type", c_char_p),
        ("sized_params", POINTER(c_char_p)),
        ("sized_result", c_char_p),
        ("doc", c_char_p),
    ]


class DpcOptions(Structure):
    _fields_ = [
        ("device", c_char_p),
        ("platform", c_char_p),
        ("memory", c_uint64),
        ("params", c_char_p),
        ("tune", c_char_p),
    ]


class DpcLeaf(Structure):
    _fields_ = [
        ("scalar", c_char_p),
        ("rank", c_uint),
        ("lengths", c_void_p * MAX_RANK),
        ("sequences", c_uint64 * MAX_RANK),
        ("data", c_void_p),
        ("count", c_uint64),
        ("buffer", c_void_p),
        ("offset", c_uint64),
    ]


class ArrowSchema(Structure):
    _fields_ = [
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_void_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArray(Structure):
    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


# Programs, contexts and values are addresses here.
FUNCTIONS = {
    "dpc_error_clear": (None, [POINTER(DpcError)]),
    "dpc_compile": (c_void_p, [c_char_p, c_char_p, POINTER(DpcError)]),
    "dpc_compile_file": (c_void_p, [c_char_p, POINTER(DpcError)]),
    "dpc_warnings": (c_char_p, [c_void_p]),
    "dpc_program_free": (None, [c_void_p]),
    "dpc_entry_count": (c_uint, [c_void_p]),
    "dpc_entry": (DpcEntry, [c_void_p, c_uint]),
    "dpc_explain": (c_void_p, [c_char_p, c_char_p, c_char_p, c_void_p, c_uint, POINTER(DpcError)]),
    "dpc_open": (c_void_p, [c_void_p, POINTER(DpcOptions), POINTER(DpcError)]),
    "dpc_open_queue": (c_void_p, [c_void_p, c_void_p, POINTER(DpcOptions), POINTER(DpcError)]),
    "dpc_close": (None, [c_void_p]),
    "dpc_call": (c_void_p, [c_void_p, c_char_p, c_void_p, c_uint, c_void_p]),
    "dpc_call_device": (c_void_p, [c_void_p, c_char_p, c_void_p, c_uint, c_void_p]),
    "dpc_copy": (c_int, [c_void_p, c_uint, c_void_p, c_uint64, POINTER(DpcError)]),
    "dpc_scalar": (c_void_p, [c_char_p, c_void_p]),
    "dpc_array": (c_void_p, [c_char_p, c_void_p, c_uint, c_void_p]),
    "dpc_value": (c_void_p, [c_char_p, POINTER(DpcLeaf)]),
    "dpc_value_own": (None, [c_void_p, c_void_p, c_void_p]),
    "dpc_from_arrow": (c_void_p, [c_char_p, c_void_p, c_void_p, POINTER(DpcError)]),
    "dpc_from_arrow_stream": (c_void_p, [c_char_p, c_void_p, POINTER(DpcError)]),
    "dpc_to_arrow": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(DpcError)]),
    "dpc_value_free": (None, [c_void_p]),
    "dpc_leaf_count": (c_uint, [c_void_p]),
    "dpc_leaf": (DpcLeaf, [c_void_p, c_uint]),
}


def candidates():
    """Where the library may be: as DPC_LIBRARY says; in this package, where a wheel has it; in the build folder of the
    source tree that this file is in; and where the system has it."""
    named = os.environ.get("DPC_LIBRARY")
    if named:
        return [named]
    here = os.path.dirname(os.path.abspath(__file__))
    tree = os.path.dirname(os.path.dirname(here))
    found = [os.path.join(here, NAME), os.path.join(tree, os.environ.get("DPC_BUILD", "build"), NAME)]
    return [path for path in found if os.path.exists(path)] + [NAME + ".0"]


def load():
    """The library with the types of its functions."""
    failures = []
    for path in candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as why:
            failures.append(f"  {path}: {why}")
            continue
        for name, (result, arguments) in FUNCTIONS.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise ImportError(f"{path} has no {name}: it is older than this package") from None
            function.restype, function.argtypes = result, arguments
        return library
    raise ImportError("libdpc is not found; DPC_LIBRARY may name it:\n" + "\n".join(failures))


lib = load()
