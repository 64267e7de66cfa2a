"""Pages of `dpc explain` and notebooks."""
import ctypes
import html
from ctypes import byref, c_void_p

from ._errors import make_error
from ._library import DpcError, lib

free = ctypes.CDLL(None).free
free.restype, free.argtypes = None, [c_void_p]


def page(source, entry=None, values=None):
    """HTML. source: (name, text), or (path, None). values: addresses of the arguments of a run, or None for no run."""
    error = DpcError()
    array = None if values is None else (c_void_p * (len(values) + 1))(*values)
    text = lib.dpc_explain(*source, entry, array, len(values or ()), byref(error))
    if not text:
        why = make_error(error.status, (error.text or b"out of memory").decode("utf-8", "replace"), compiling=True)
        lib.dpc_error_clear(byref(error))
        raise why
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        free(text)


class Page(str):
    """A page of HTML, which a notebook shows in a frame; `save(path)` writes it."""

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self)}" style="width:100%;height:640px;border:1px solid #ccc"></iframe>'

    def save(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(self)
