"""The stub file, and wheels: built by pip of a copy of the tree's part, installed, and used far from it."""
import ast
import importlib.util
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

import dpc
from dpc import _library

PYTHON = pathlib.Path(__file__).parent.parent
STUB = ast.parse((PYTHON / "dpc" / "__init__.pyi").read_text())


def parameters(node):
    a = node.args
    return [x.arg for x in a.posonlyargs + a.args + a.kwonlyargs]


def test_stub_names():
    declared = {node.name for node in STUB.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(dpc.__all__) <= declared
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == list(inspect.signature(getattr(dpc, node.name)).parameters)


@pytest.mark.parametrize("node", [n for n in STUB.body if isinstance(n, ast.ClassDef) and n.name in dpc.__all__])
def test_stub_classes(node):
    real = getattr(dpc, node.name)
    assert real.__doc__
    bases = [base.id for base in node.bases if base.id not in ("NamedTuple", "Sequence")]
    assert all(base in [c.__name__ for c in real.__mro__] for base in bases)
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            own = inspect.getattr_static(real, item.name)
            own = getattr(own, "__func__", getattr(own, "fget", own))
            if inspect.isfunction(own):
                named = [p for p in inspect.signature(own).parameters.values() if p.kind < 2]
                assert len(parameters(item)) == len(named)


def run(*command, **environment):
    left_out = ("PYTHONPATH", "DPC_LIBRARY")
    environment = {**{k: v for k, v in os.environ.items() if k not in left_out}, **environment}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def test_wheel(tmp_path):
    needs("pip", "setuptools", "wheel")
    tree = tmp_path / "tree"
    shutil.copytree(PYTHON, tree / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    shutil.copy(PYTHON.parent / "CMakeLists.txt", tree)
    offline = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check")
    library = os.path.abspath(_library.lib._name)
    if not os.path.exists(library):
        pytest.skip("libdpc is the system's")
    run(sys.executable, "-m", "pip", "wheel", *offline, "-w", tmp_path, tree / "python", DPC_LIBRARY=library)
    (wheel,) = tmp_path.glob("dpc-*.whl")
    assert "-py3-none-linux_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("dpc/__init__.py", "dpc/__init__.pyi", "dpc/py.typed", "dpc/libdpc.so"):
        assert name in names
    site = tmp_path / "site"
    run(sys.executable, "-m", "pip", "install", *offline[1:], "--target", site, wheel)
    program = (
        "import dpc, dpc._library as l; print(l.lib._name);"
        "print(dpc.compile('entry main (xs: [i64]) : i64 = sum xs').main([1, 2]))"
    )
    where, three = run(sys.executable, "-c", program, PYTHONPATH=str(site)).split()
    assert where.startswith(str(site)) and where.endswith("dpc/libdpc.so") and three == "3"


def test_library_is_named(tmp_path):
    program = "import sys; sys.path.insert(0, sys.argv[1])\ntry: import dpc\nexcept ImportError as e: print(e)"
    said = run(sys.executable, "-c", program, PYTHON, DPC_LIBRARY=str(tmp_path / "none.so"))
    assert "DPC_LIBRARY" in said and "none.so" in said
