"""What can go wrong, as exceptions: dpc's messages, taken apart."""
import re
from dataclasses import dataclass, field
from typing import List, Optional

PLACED = re.compile(r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<level>error|warning|note): (?P<message>.*)$")
FREE = re.compile(r"^(?:dpc: )?(?P<level>error|warning|note): (?P<message>.*)$")
CODE = re.compile(r"^(?P<message>.*) \[(?P<code>[EW]\d{4})\]$")

# Exit statuses of dpc (docs/tools.md).
PROGRAM, USAGE, MEMORY, DEVICE = 1, 2, 3, 4


@dataclass
class Diagnostic:
    """A message of the compiler. Lines and columns count from 1; `width` is how many columns the caret marks."""

    level: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    code: Optional[str] = None
    source: Optional[str] = None
    width: int = 1
    notes: List["Diagnostic"] = field(default_factory=list)


def read_diagnostics(text):
    """The messages in what dpc prints; notes belong to the message before them."""
    found, last = [], None
    for line in text.split("\n"):
        head = PLACED.match(line) or (FREE.match(line) if not line.startswith(" ") else None)
        if head:
            last = diagnostic_of(head)
            (found[-1].notes if last.level == "note" and found else found).append(last)
        elif last and line.startswith("  "):
            quote_line(last, line[2:])
    return found


def diagnostic_of(head):
    parts = head.groupdict()
    coded = CODE.match(parts["message"])
    placed = parts.get("line") is not None
    return Diagnostic(
        level=parts["level"],
        message=coded["message"] if coded else parts["message"],
        file=parts.get("file"),
        line=int(parts["line"]) if placed else None,
        column=int(parts["column"]) if placed else None,
        code=coded["code"] if coded else None,
    )


def quote_line(diagnostic, line):
    """Under a message stand the line of the source, and below it the carets."""
    if diagnostic.source is None:
        diagnostic.source = line
    elif re.match(r"^ *\^+$", line):
        diagnostic.width = line.count("^")


class Error(Exception):
    """What all exceptions of dpc are, but for wrong arguments: these are a TypeError or a ValueError.

    `diagnostics` are the messages as data, and `str()` is what dpc would print."""

    diagnostics: List[Diagnostic] = []


class CompileError(Error, SyntaxError):
    """The program is wrong. Shown as Python's own SyntaxError is: the place and the line of the first error."""

    def __init__(self, text):
        self.text_of_dpc = text.rstrip("\n")
        self.diagnostics = read_diagnostics(text)
        errors = [d for d in self.diagnostics if d.level == "error"]
        first = errors[0] if errors else Diagnostic("error", self.text_of_dpc)
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        SyntaxError.__init__(self, first.message + (f" [{first.code}]" if first.code else "") + more)
        if first.line is not None:
            self.filename, self.lineno, self.end_lineno = first.file, first.line, first.line
            self.text = first.source
            self.offset = characters(first.source, first.column)
            self.end_offset = self.offset + first.width

    def __str__(self):
        return self.text_of_dpc


def characters(source, column):
    """Columns of dpc are bytes, Python's are characters."""
    before = (source or "").encode("utf-8", "surrogateescape")[: column - 1]
    return len(before.decode("utf-8", "replace")) + 1 if source else column


class CompileWarning(UserWarning):
    """What the compiler warns of in a program that it compiles; Python's module `warnings` says what becomes of it."""


class RunError(Error, RuntimeError):
    """The program has failed, as at an index out of bounds: `message`, and where: `file`, `line`, `column`."""

    def __init__(self, text):
        super().__init__(text.rstrip("\n"))
        self.diagnostics = read_diagnostics(text)
        first = self.diagnostics[0] if self.diagnostics else Diagnostic("error", text)
        self.message, self.file, self.line, self.column = first.message, first.file, first.line, first.column


class OutOfMemory(RunError, MemoryError):
    """The device's memory, or the host's, was not enough."""


class DeviceError(Error, RuntimeError):
    """There is no such device, or it has failed."""


def make_error(status, text, compiling=False):
    """The exception for a DpcError."""
    if status == MEMORY or text is None:
        return OutOfMemory(text or "out of memory")
    if status == DEVICE:
        return DeviceError(text)
    if compiling:
        return CompileError(text)
    return RunError(text) if status == PROGRAM else ValueError(text)
