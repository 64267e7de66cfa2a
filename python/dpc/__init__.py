"""DP in Python: nested data parallelism on OpenCL devices.

>>> import dpc
>>> m = dpc.compile("entry main (rows: [[f64]]) : [f64] = map sum rows")
>>> m.main([[1, 2, 3], [], [4]]).tolist()
[6.0, 0.0, 4.0]
"""
from ._errors import CompileError, CompileWarning, DeviceError, Diagnostic, Error, OutOfMemory, RunError
from ._export import arrow
from ._module import Entry, Module, compile, load
from ._page import Page
from ._values import Case, Cases, Columns, Ragged

__all__ = [
    "compile",
    "load",
    "arrow",
    "Module",
    "Entry",
    "Page",
    "Ragged",
    "Columns",
    "Case",
    "Cases",
    "Error",
    "CompileError",
    "CompileWarning",
    "RunError",
    "OutOfMemory",
    "DeviceError",
    "Diagnostic",
]

for name in __all__:  # as which messages name them
    globals()[name].__module__ = "dpc"
del name


def load_ipython_extension(shell):
    """`%load_ext dpc` gives notebooks the cell magic `%%dp`."""
    from . import _magic

    _magic.load_ipython_extension(shell)
