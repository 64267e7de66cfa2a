"""`%%dp` for IPython and Jupyter: `%load_ext dpc`."""
import argparse
import shlex
import sys

from ._errors import CompileError
from ._module import compile

PARSER = argparse.ArgumentParser(prog="%%dp", add_help=False)
PARSER.add_argument("name", nargs="?", help="the variable for the module; else its entries become variables")
PARSER.add_argument("--device", help="part of a device's name, or its number")
PARSER.add_argument("--params", help="tuning parameters, NAME=VALUE,...")
PARSER.add_argument("--explain", action="store_true", help="shows the page of dpc explain")


def options_of(line):
    try:
        return PARSER.parse_args(shlex.split(line))
    except SystemExit:
        raise ValueError(PARSER.format_usage().strip()) from None


def dp(line, cell):
    """%%dp [NAME] [--device D] [--params P] [--explain]: compiles the cell, a program of DP. Its entries become
    functions of the notebook, or with a name the module."""
    from IPython import get_ipython

    options = options_of(line)
    try:
        module = compile(cell, "<cell>", device=options.device, params=options.params)
    except CompileError as error:
        print(error, file=sys.stderr)
        return None
    names = {options.name: module} if options.name else {entry.__name__: entry for entry in module}
    get_ipython().push(names)
    return module.explain() if options.explain else None


def load_ipython_extension(shell):
    shell.register_magic_function(dp, magic_kind="cell", magic_name="dp")
