"""Programs and their entries."""
import ctypes
import inspect
import keyword
import threading
import warnings
import weakref
from ctypes import byref, c_void_p

import numpy as np

from . import _arguments, _awkward, _opencl, _results, _types
from ._errors import CompileWarning, make_error, read_diagnostics
from ._library import DpcError, DpcOptions, lib
from ._page import Page, page
from ._types import Array, Scalar


def encoded(text):
    if text is None:
        return None
    if "\0" in str(text):
        raise ValueError("a zero byte in a text for dpc")
    return str(text).encode("utf-8", "surrogateescape")


def decoded(data):
    return None if data is None else data.decode("utf-8", "replace")


def raise_error(error, compiling=False):
    text = decoded(error.text)
    status = error.status
    lib.dpc_error_clear(byref(error))
    raise make_error(status, text, compiling)


class Program:
    """A compiled program, which contexts share: of the text, or without one of the file of that name."""

    def __init__(self, name, text=None):
        error = DpcError()
        self.source = encoded(name), encoded(text)
        if text is None:
            self.address = lib.dpc_compile_file(self.source[0], byref(error))
        else:
            self.address = lib.dpc_compile(*self.source, byref(error))
        if not self.address:
            raise_error(error, compiling=True)
        self.free = weakref.finalize(self, lib.dpc_program_free, self.address)
        self.diagnostics = read_diagnostics(decoded(lib.dpc_warnings(self.address)))
        for d in self.diagnostics:
            text = d.message + (f" [{d.code}]" if d.code else "")
            warnings.warn_explicit(text, CompileWarning, d.file or decoded(self.source[0]), d.line or 1)


class Context:
    """A program on a device, opened by the first call; used by one thread at a time."""

    def __init__(self, program, options):
        self.program, self.options = program, options
        self.address, self.lock, self.error = None, threading.Lock(), DpcError()

    def open(self):
        """With the lock held."""
        if not self.address:
            o = self.options
            texts = [encoded(o.get(name)) for name in ("device", "platform", "params", "tune")]
            options = DpcOptions(texts[0], texts[1], o.get("memory") or 0, texts[2], texts[3])
            program, error, queue = self.program.address, byref(self.error), o.get("queue")
            if queue is None:
                self.address = lib.dpc_open(program, byref(options), error)
            else:
                self.address = lib.dpc_open_queue(program, queue.int_ptr, byref(options), error)
            if not self.address:
                raise_error(self.error)
            # The program, among the arguments, is freed behind its contexts.
            self.close_it = weakref.finalize(self, close_context, self.address, self.program)
        return self.address

    def close(self):
        with self.lock:
            if self.address:
                self.address = None
                self.close_it()


def close_context(address, program):
    lib.dpc_close(address)


# ---- arguments ----


def scalar_packer(t):
    """Python's own numbers, checked and put where the library reads them."""
    make, kind, name = lib.dpc_scalar, _results.READERS[t.name], t.bytes
    own = {"b": bool, "f": float}.get(t.dtype.kind, int)
    low, high = (np.iinfo(t.dtype).min, np.iinfo(t.dtype).max) if t.dtype.kind in "iu" else (None, None)

    def pack(value, keep):
        if type(value) is not own or (low is not None and not low <= value <= high):
            leaves = []
            _arguments.one(t, value, leaves)
            value = leaves[0].data[0].item()
        number = kind(value)
        keep.append(number)
        return make(name, byref(number))

    return pack


def value_packer(t, text, queue):
    make = lib.dpc_value

    def pack(value, keep):
        found, made = _arguments.leaves_of(t, value, queue)
        keep.append((found, made))
        address = make(text, made)
        if not address:
            raise ValueError(f"lengths do not fit {text.decode()}")
        return address

    return pack


def array_packer(t, text, queue):
    """Arrays of numpy that are as the device wants them are handed over as they lie; others are made so."""
    rank, element, other = 0, t, value_packer(t, text, queue)
    while isinstance(element, Array):
        rank, element = rank + 1, element.element
    make, name, dtype, shape_type = lib.dpc_array, element.bytes, element.dtype, ctypes.c_uint64 * rank

    def pack(value, keep):
        if type(value) is not np.ndarray or value.dtype != dtype or value.ndim != rank:
            return other(value, keep)
        if not value.flags.c_contiguous:
            value = np.ascontiguousarray(value)
        keep.append(value)
        return make(name, _arguments.address_of(value), rank, shape_type(*value.shape))

    return pack


def packer_of(t, text, queue):
    """A function of a value, and of a list that keeps alive what the DpcValue which it gives refers to."""
    if isinstance(t, Scalar):
        return scalar_packer(t)
    element = t
    while isinstance(element, Array):
        element = element.element
    if isinstance(t, Array) and isinstance(element, Scalar):
        return array_packer(t, text, queue)
    return value_packer(t, text, queue)


# ---- entries ----


def parameter_names(names):
    """As Python may have them: x' is x_, and what is a pattern in DP is named by its place."""
    found = []
    for i, name in enumerate(names):
        name = f"arg{i + 1}" if name == "_" else name.replace("'", "_")
        while keyword.iskeyword(name) or name in found:
            name += "_"
        found.append(name)
    return found


class Entry:
    """An entry of a program, called with numbers, arrays and sequences.

    `params` are pairs of names and types, and `result` is a type, as DP writes them."""

    def __init__(self, context, entry, awkward):
        n = entry.params
        self.__name__ = self.__qualname__ = entry.name.decode()
        types = [entry.param_types[i] for i in range(n)]
        sized = [entry.sized_params[i].decode() for i in range(n)]
        self.names = parameter_names([entry.param_names[i].decode() for i in range(n)])
        self.params, self.result = list(zip(self.names, sized)), entry.sized_result.decode()
        self._context, self._bytes, self._queue = context, entry.name, context.options.get("queue")
        self._types = [_types.parse(text) for text in sized]
        self._packers = [packer_of(t, text, self._queue) for t, text in zip(self._types, types)]
        result = _types.parse(self.result)
        self._awkward = awkward
        self._read, self._read_device = _results.reader_of(result, awkward), _results.device_reader(result)
        self._values = c_void_p * n
        self.__doc__ = self.signature_text() + ("\n\n" + decoded(entry.doc) if entry.doc else "")
        self.__signature__ = self.python_signature()

    def signature_text(self):
        return f"{self.__name__} {''.join(f'({n}: {t}) ' for n, t in self.params)}: {self.result}"

    def python_signature(self):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature(
            [inspect.Parameter(name, kind, annotation=t) for name, t in self.params], return_annotation=self.result
        )

    def __repr__(self):
        return f"<entry {self.signature_text()}>"

    def __call__(self, *args, **named):
        return self.call(lib.dpc_call, self._read, args, named)

    def on_device(self, *args, **named):
        """Calls the entry of a module with a queue of PyOpenCL: the arrays of the result are PyOpenCL's, on that queue,
        which may be computing them yet. Records are dpc.Columns."""
        if self._queue is None:
            raise TypeError("results stay on the device of modules with a queue: dpc.compile(…, queue=queue)")
        return self.call(lib.dpc_call_device, lambda address: self._read_device(address, self.keep), args, named)

    def keep(self, value, index, leaf, dtype):
        """A leaf of a result on the device as an array of PyOpenCL, with the lock held."""
        made = _opencl.copy_of(value.address, index, leaf, dtype, self._queue, self._context.error)
        return raise_error(self._context.error) if made is None else made

    def call(self, function, read, args, named):
        values = self._values()
        keep, context = [], self._context
        try:
            self.pack(args, named, values, keep)
            with context.lock:
                address = context.address or context.open()
                error = context.error
                result = function(address, self._bytes, values, len(self._packers), byref(error))
                if not result:
                    raise_error(error)
                return read(result)
        finally:
            for value in values:
                lib.dpc_value_free(value)

    def __reduce__(self):
        """Pickled is the program's text; see Module."""
        return restored_entry, (restored_from(self._context.program, self._context.options, self._awkward), self.__name__)

    def explain(self, *args, **named):
        """The page of `dpc explain`: with arguments, of a run on an interpreter, which takes its time."""
        if not args and not named and self._packers:
            return Page(page(self._context.program.source, self._bytes))
        values, keep = self._values(), []
        try:
            self.pack(args, named, values, keep)
            return Page(page(self._context.program.source, self._bytes, list(values)))
        finally:
            for value in values:
                lib.dpc_value_free(value)

    def pack(self, args, named, values, keep):
        """Puts a DpcValue for each argument into values; keep: see packer_of."""
        if named or len(args) != len(self._packers):
            args = self.bind(args, named)
        at = 0
        try:
            for pack in self._packers:
                values[at] = pack(args[at], keep)
                at += 1
        except (TypeError, ValueError) as why:
            raise type(why)(f"argument {self.names[at]} of {self.__name__}: {why}") from None

    def bind(self, args, named):
        try:
            return self.__signature__.bind(*args, **named).args
        except TypeError as why:
            raise TypeError(f"{self.__name__}: {why}: {self.signature_text()}") from None


# ---- modules ----


class Module:
    """A compiled program: its entries are methods, `m.main(x)`, and `m["name"]` is one of any name. `diagnostics` are the
    compiler's warnings.

    The device is opened by the first call. A module may be used by several threads, whose calls then wait for each
    other; `open()` gives one that runs beside it."""

    def __init__(self, program, options, awkward=None):
        self._program, self._options, self._awkward = program, options, awkward
        self.diagnostics = program.diagnostics
        self._context = Context(program, options)
        self._entries = {}
        ragged = _awkward.installed if awkward is None else awkward
        for i in range(lib.dpc_entry_count(program.address)):
            entry = Entry(self._context, lib.dpc_entry(program.address, i), ragged)
            self._entries[entry.__name__] = entry
            setattr(self, entry.__name__, entry)
        self.__doc__ = "\n".join(entry.signature_text() for entry in self)

    def __getattr__(self, name):
        known = ", ".join(self.__dict__.get("_entries", ()))
        raise AttributeError(f"there is no entry {name}: the program has {known}")

    def __getitem__(self, name):
        return self._entries[name]

    def __reduce__(self):
        """Pickled, and copied, is the program's text, or of `load` the path, with the options: it is compiled anew."""
        return restored, restored_from(self._program, self._options, self._awkward)

    def __iter__(self):
        return iter(self._entries.values())

    def __len__(self):
        return len(self._entries)

    def __repr__(self):
        return f"<dpc module: {'; '.join(entry.signature_text() for entry in self)}>"

    def open(self, **options):
        """The same program in a context of its own, on the same device or another: options as of `compile`."""
        return Module(self._program, {**self._options, **options}, self._awkward)

    def explain(self):
        """The page of `dpc explain` about the program; an entry's own shows a run, too."""
        return Page(page(self._program.source))

    def _repr_html_(self):
        return self.explain()._repr_html_()

    def close(self):
        """Gives the device's memory back; the next call opens it again. Leaving a `with` does so, too."""
        self._context.close()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()


def restored_from(program, options, awkward):
    if options.get("queue") is not None:
        raise TypeError("a module on a queue of PyOpenCL is of this process only")
    return program.source, options, awkward


def restored(source, options, awkward):
    name, text = (None if data is None else data.decode("utf-8", "surrogateescape") for data in source)
    return Module(Program(name, text), options, awkward)


def restored_entry(module, name):
    return restored(*module)[name]


def compile(
    source, name="main.dp", *, awkward=None, device=None, platform=None, memory=None, params=None, tune=None, queue=None
):
    """Compiles a program of DP, given as text. Wrong programs are a CompileError.

    name: what messages call it; imports of files are relative to it, as a path.
    awkward: whether ragged results are arrays of Awkward Array; by default where that is installed.
    device, platform: parts of their names, or a device's number, as `dpc devices` lists them; by default the first GPU,
    else the CPU. memory: how many bytes of the device may be used. params, tune: tuning, as of `dpc run`.
    queue: a pyopencl.CommandQueue, in order, on which calls work: arrays of PyOpenCL can be arguments then."""
    options = dict(device=device, platform=platform, memory=memory, params=params, tune=tune, queue=queue)
    return Module(Program(name, source), options, awkward)


def load(path, *, awkward=None, device=None, platform=None, memory=None, params=None, tune=None, queue=None):
    """Compiles the file of a program; else as `compile`."""
    options = dict(device=device, platform=platform, memory=memory, params=params, tune=tune, queue=queue)
    return Module(Program(path), options, awkward)
