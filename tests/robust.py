#!/usr/bin/env python3
"""Hostile input: every command has to end soon, in little memory, with a message and never by a signal.

    robust.py DPC [NAME...]       only the cases whose name begins with a NAME

A case is a program (or a folder of files, or a command line), the status it must end with and a text that must be in
what it says. Programs are made here: most of them are too long to be kept.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

SECONDS = 4 # of processor time: several times what the slowest needs
MEGABYTES = 4096 # of address space, of which a stack of 1 GB is reserved
MILLION = 10 ** 6
FINE = 0
WRONG = 2
cases = []


def case(name, text, status=WRONG, says="error: ", command=("check", "f.dp"), files=(), prepare=None):
    cases.append((name, text, status, says, command, files, prepare))


def nested(before, inside, after, n=MILLION):
    return before * n + inside + after * n


# ---- nesting ----

DEEP = "nesting too deep"
MAIN = "entry main (x: i64) = "
for name, before, inside, after in [
        ("parentheses", "(", "x", ")"), ("brackets", "[", "x", "]"), ("braces", "{", "x", "}"), ("records", "{a=", "x", "}"),
        ("each", "{", "x", ":i in 3}"), ("minus", "- ", "x", ""), ("not", "!", "true", ""), ("lambdas", "\\y->", "x", ""),
        ("ifs", "if true then ", "x", " else x"), ("matches", "match x case _ -> ", "x", ""), ("loops", "loop s=x for i<3 do ", "x", ""),
        ("tuples", "(1,", "x", ")"), ("power", "x**", "x", ""), ("back_pipe", "f<|", "x", ""), ("index", "a[", "x", "]"),
        ("sections", "(+", "x", ")"), ("mixed", "([{", "x", "}])")]:
    case("nested_" + name, lambda b=before, i=inside, a=after: MAIN + nested(b, i, a), says=DEEP)
    case("open_" + name, lambda b=before: MAIN + b * MILLION)
    if after:
        case("close_" + name, lambda i=inside, a=after: MAIN + i + a * MILLION)
