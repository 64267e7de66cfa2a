"""What dpc/_library.py says of dpc.h is what a C compiler says of it."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from dpc import _library

HEADERS = pathlib.Path(__file__).parents[2] / "runtime" / "embed"
HEADER = HEADERS / "dpc.h"
STRUCTS = {name: t for name, t in vars(_library).items() if isinstance(t, type) and issubclass(t, ctypes.Structure)}
STRUCTS.pop("Structure", None)
# What a parameter or a result of C is in ctypes: by how many bytes it takes.
BYTES = {"int": 4, "unsigned": 4, "uint64_t": 8}


def measured(text, folder):
    """What a C program prints, by lines."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler: dpc.h is not measured")
    (folder / "abi.c").write_text(text)
    subprocess.run([*compiler.split(), "-I", HEADERS, folder / "abi.c", "-o", folder / "abi"], check=True)
    return subprocess.run([folder / "abi"], capture_output=True, text=True, check=True).stdout.splitlines()


def test_structs(tmp_path):
    lines, expected = [], []
    for own_name, struct in STRUCTS.items():
        name = own_name if own_name.startswith("Dpc") else f"struct {own_name}"
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, kind in struct._fields_:
            at = f"offsetof({name}, {field}), sizeof((({name} *)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu %zu\\n", {at});')
            expected.append(f"{name}.{field} {getattr(struct, field).offset} {ctypes.sizeof(kind)}")
    lines.append('printf("rank %d\\n", (int)DPC_MAX_RANK);')
    expected.append(f"rank {_library.MAX_RANK}")
    body = "\n".join(lines)
    program = f"#include <dpc.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0; }}\n"
    assert measured(program, tmp_path) == expected
    assert {"DpcError", "DpcEntry", "DpcOptions", "DpcLeaf"} <= set(STRUCTS)


def declarations():
    """Of each function of dpc.h: its result's type, and those of its parameters."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    text = re.sub(r"\(\*(\w+)\)\([^()]*\)", r"*\1", text)  # pointers to functions
    return {
        name: (result.strip(), [p for p in parameters.split(",") if p.strip() != "void"])
        for result, name, parameters in re.findall(r"^([\w ]+?[ *]+)(dpc_\w+)\((.*?)\);", text, re.M | re.S)
    }


def bytes_of(c_type):
    """Of a type in C: pointers have 8; structs are measured as such."""
    if "*" in c_type or "(" in c_type:
        return 8
    words = [word for word in c_type.split() if word != "const"]
    return BYTES.get(words[0]) if words[0] != "void" else 0


def test_functions():
    declared = declarations()
    assert len(declared) > 25
    for name, (result, parameters) in _library.FUNCTIONS.items():
        own_result, own_parameters = declared[name]
        sizes = [bytes_of(p) for p in own_parameters]
        assert [ctypes.sizeof(p) for p in parameters] == sizes, name
        if own_result in STRUCTS:
            assert result is STRUCTS[own_result]
        else:
            assert (ctypes.sizeof(result) if result else 0) == bytes_of(own_result), name
