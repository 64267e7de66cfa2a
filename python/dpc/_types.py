"""Types of DP, read from what the library prints: "[n](i64, {x: f32})", "[#circle f64 | #none]"."""
import re

import numpy as np

SCALARS = {
    "bool": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
}
TOKEN = re.compile(r"\s*(?:(#?[A-Za-z_][A-Za-z0-9_']*|\d+)|(.))")


class Type:
    """What all types have: `leaves`, how many arrays of numbers a value is made of."""

    leaves = 1


class Scalar(Type):
    def __init__(self, name):
        self.name, self.bytes = name, name.encode()
        self.dtype = np.dtype(SCALARS[name])

    def __str__(self):
        return self.name


class Array(Type):
    """`size`: as it is written, or None where the length is free. `text`: written as the type text."""

    def __init__(self, element, size=None, text=False):
        self.element, self.size, self.text = element, size, text
        self.leaves = element.leaves
        self.is_bytes = isinstance(element, Scalar) and element.name == "u8"

    def __str__(self):
        return "text" if self.text else f"[{self.element}]"


class Product(Type):
    """Tuples and records; of records `names` are the fields as they are written, else None. `order`: of the items in
    memory, where a record's fields stand by name. The unit has no items, and one leaf."""

    def __init__(self, items, names=None):
        self.items, self.names = items, names
        self.order = sorted(range(len(items)), key=lambda i: names[i].encode()) if names else range(len(items))
        self.leaves = sum(item.leaves for item in items) if items else 1
        self.columns = names or [f"f{i}" for i in range(len(items))]

    def __str__(self):
        if self.names:
            return "{" + ", ".join(f"{name}: {item}" for name, item in zip(self.names, self.items)) + "}"
        return "(" + ", ".join(map(str, self.items)) + ")"


class Sum(Type):
    """Constructors with their payloads' types, None where there is none; by name, as tags count them."""

    def __init__(self, constructors):
        constructors = sorted(constructors, key=lambda c: c[0].encode())
        self.names = [name for name, _ in constructors]
        self.payloads = [payload for _, payload in constructors]
        self.leaves = 1 + sum(p.leaves for p in self.payloads if p)
        self.tag = Scalar("u8" if len(self.names) <= 256 else "u16" if len(self.names) <= 65536 else "u32")

    def __str__(self):
        cases = zip(self.names, self.payloads)
        return "(" + " | ".join(f"#{name}" + (f" ({payload})" if payload else "") for name, payload in cases) + ")"


class Parser:
    def __init__(self, text):
        self.tokens = [word or sign for word, sign in TOKEN.findall(text)] + [""]
        self.at = 0

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted is not None and token != wanted:
            raise ValueError(f"not a type of DP: {wanted!r} is missing before {token!r}")
        self.at += 1
        return token

    def peek(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def type(self):
        return self.sum() if self.peek().startswith("#") else self.single()

    def sum(self):
        constructors = []
        while True:
            name = self.take()[1:]
            payload = None if self.peek() in ("|", "", ")", "]", "}", ",") else self.single()
            constructors.append((name, payload))
            if self.peek() != "|":
                return Sum(constructors)
            self.take("|")

    def single(self):
        token = self.take()
        if token == "[":
            return self.array()
        if token == "(":
            items = self.items(")", self.type)
            return items[0] if len(items) == 1 else Product(items)
        if token == "{":
            fields = self.items("}", self.field)
            return Product([t for _, t in fields], [name for name, _ in fields])
        return Array(Scalar("u8"), text=True) if token == "text" else Scalar(token)

    def array(self):
        """[t], or [n]t: then a type follows the bracket."""
        if self.peek(1) == "]" and self.peek(2) not in ("", "]", ")", "}", ",", "|"):
            size = self.take()
            self.take("]")
            return Array(self.single(), size)
        element = self.type()
        self.take("]")
        return Array(element)

    def field(self):
        name = self.take()
        self.take(":")
        return name, self.type()

    def items(self, end, item):
        found = []
        while self.peek() != end:
            found.append(item())
            if self.peek() != end:
                self.take(",")
        self.take(end)
        return found


def parse(text):
    """The type of that text."""
    parser = Parser(text)
    found = parser.type()
    parser.take("")
    return found
