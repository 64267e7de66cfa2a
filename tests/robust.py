#!/usr/bin/env python3
"""Hostile and enormous input: dpc has to end soon, in bounded memory, with a message, and never by a signal.

    robust.py DPC [PREFIX...]        only the cases whose names begin with a PREFIX

A case is a program made here (most are too long to be kept), the status it has to end with and a text that has to be in
what dpc says. Every command gets SECONDS of processor time and MEGABYTES of heap.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

SECONDS = 20 # of processor time: several times what the slowest needs
MEGABYTES = 3000 # of data, less the stack of 1 GB that dpc reserves
WRONG, FINE, FAILS = 2, 0, 1
MILLION = 10 ** 6
CHAIN = 10 ** 4
DEEP = "nesting too deep"
MAIN = "entry main (x: i64) = "
MAINS = "entry main (xs: [i64]) = "
cases = []


def case(name, text, status=WRONG, says="error: ", command=("check", "f.dp")):
    cases.append((name, text, status, says, command))


def nested(before, inside, after, n=MILLION):
    return before * n + inside + after * n


# ---- nesting: each construct a million times inside itself, and left open, and only closed ----

for name, before, inside, after in [
        ("parentheses", "(", "x", ")"), ("brackets", "[", "x", "]"), ("braces", "{", "x", "}"), ("records", "{a=", "x", "}"),
        ("each", "{", "x", ":i in 3}"), ("minus", "- ", "x", ""), ("not", "!", "true", ""), ("lambdas", "\\y->", "x", ""),
        ("ifs", "if true then ", "x", " else x"), ("matches", "match x case _ -> ", "x", ""), ("lets", "let y=", "x", " in y"),
        ("loops", "loop s=x for i<3 do ", "x", ""), ("tuples", "(1,", "x", ")"), ("power", "x**", "x", ""), ("back_pipe", "f<|", "x", ""),
        ("index", "a[", "x", "]"), ("sections", "(+", "x", ")"), ("mixed", "([{", "x", "}])")]:
    case("nested_" + name, lambda b=before, i=inside, a=after: MAIN + nested(b, i, a), says=DEEP)
    case("open_" + name, lambda b=before: MAIN + b * MILLION, says=DEEP)
    if after:
        case("close_" + name, lambda i=inside, a=after: MAIN + i + a * MILLION)
for name, before, after in [("parentheses", "(", ")"), ("arrays", "[", "]"), ("functions", "i64->", ""), ("sizes", "[3]", ""),
                            ("records", "{a:", "}"), ("sums", "#a (", ")")]:
    case("types_" + name, lambda b=before, a=after: "type t=" + nested(b, "i64", a), says=DEEP)
    case("types_open_" + name, lambda b=before: "def f (x:" + b * MILLION, says=DEEP)
for name, before, inside, after in [("parentheses", "(", "x", ")"), ("tuples", "(x,", "_", ")"), ("records", "{a=", "x", "}"),
                                    ("types", "(", "x", ":i64)"), ("constructors", "(#a", "x", ")")]:
    case("patterns_" + name, lambda b=before, i=inside, a=after: "def f x = match x case " + nested(b, i, a) + " -> 1", says=DEEP)
case("comments", lambda: "-- x\n" * MILLION + "entry main = 1", FINE, "")
case("depth_200", lambda: "entry main = " + nested("[", "1", "]", 250), says="sequences nested more than 200 deep")

# ---- chains, which are lists to their readers ----

numbers = range(CHAIN)
for name, text in [
        ("lets", lambda: MAIN + "".join("let y%d = y%d + 1\n" % (i + 1, i) for i in numbers).replace("y0 ", "x ") + "in y%d" % CHAIN),
        ("lets_in", lambda: MAIN + "".join("let y%d = x / %d in\n" % (i, i + 1) for i in numbers) + "y3"),
        ("let_functions", lambda: MAIN + "".join("let f%d y = y + %d\n" % (i, i) for i in numbers) + "in f3 x"),
        ("plus", lambda: MAIN + "x" + " + x" * CHAIN), ("power", lambda: "entry main (x: f64) = x" + " ** x" * CHAIN),
        ("and", lambda: "entry main (b: bool) = b" + " && b" * CHAIN), ("or", lambda: MAIN + " || ".join("x == %d" % i for i in numbers)),
        ("append", lambda: "entry main = \"a\"" + " ++ \"b\"" * (CHAIN // 4)),
        ("else_if", lambda: MAIN + "".join("if x == %d then x / %d else " % (i, i + 1) for i in numbers) + "0"),
        ("pipes", lambda: MAIN + "x" + " |> (+ 1)" * CHAIN), ("with", lambda: MAINS + "xs" + "".join(" with [%d] = 1" % i for i in numbers)),
        ("maps", lambda: MAINS + "xs" + " |> map (+ 1)" * CHAIN), ("binders", lambda: MAINS + "{ x0 : " + "; ".join("x%d in xs" % i for i in numbers) + " }"),
        ("cases", lambda: MAIN + "match x " + "".join("case %d -> %d " % (i, 2 * i) for i in numbers) + "case _ -> 0"),
        ("elements", lambda: "entry main (i: i64) = [" + ", ".join(str(i) for i in range(10 * CHAIN)) + "][i]"),
        ("components", lambda: MAIN + "(" + ", ".join(["x"] * CHAIN) + ")"),
        ("definitions", lambda: "".join("def f_%d (x: i64) = x + %d\n" % (i, i) for i in range(10 * CHAIN)) + MAIN + "f_0 x"),
        ("calls", lambda: "def f_0 (x: i64) = x\n" + "".join("def f_%d (x: i64) = f_%d (x + 1)\n" % (i + 1, i) for i in numbers) + MAIN + "f_%d x" % CHAIN)]:
    case("chain_" + name, text, FINE, "", ("dump", "--stage=flat", "f.dp"))

case("host_of_long_line", lambda: MAIN + "if x > 3 then x / 2 else loop s = x for i < 3 do s + " * 2000 + "1", FINE, "", ("dump", "--stage=host", "f.dp"))

# ---- long straight programs: time grows as they do ----

LINES = 10 ** 4
STRAIGHT_SECONDS = 6 # what is quadratic takes more; on a slow machine up to GROWTH times what a quarter of the lines takes, where 4 is linear and 16 quadratic
GROWTH = 10
quarters = {}


def straight(name, first, line, last, before="", lines=LINES):
    """`line` has {0}, its number, and {1}, the variable of the line before."""
    text = lambda lines: before + first + "".join("  let y%d = " % i + line.format(i, "y%d" % (i - 1) if i else "x") + "\n" for i in range(lines)) + last % (lines - 1)
    case("straight_" + name, lambda: text(lines), FINE, "", ("dump", "--no-warnings", "--stage=host", "f.dp"))
    quarters["straight_" + name] = lambda: text(lines // 4)


EACH, EACH_END, HOST = "entry main (xs: [i64]) : [i64] = { (\n", "  in y%d) : x in xs }\n", "entry main (x: i64) (xs: [i64]) : i64 =\n"
TWICE = "def f (n: i64) (x: i64) : i64 = if n <= 0 then x else f (n - 1) (x * 3) + f (n - 2) x\n"
straight("divisions", HOST, "({1} + x) / ({0} + 2)", "  in y%d\n")
straight("scalars_mapped", EACH, "({1} + x) / (x + {0})", EACH_END)
straight("arrays", HOST, "sum {{ v * {0} + {1} : v in xs }}", "  in y%d\n")
straight("scans", "entry main (x: [i64]) : [i64] =\n", "scan (+) {0} {1}", "  in y%d\n")
straight("loops", HOST, "loop s = {1} for i < {0} do s + sum {{ v + s + i : v in xs }}", "  in y%d\n", lines=5000)
straight("ifs", HOST, "if {1} > {0} then sum {{ v + {0} : v in xs }} else {0}", "  in y%d\n")
straight("ifs_mapped", EACH, "if {1} > {0} then sum (iota x) + {0} else {0}", EACH_END, lines=6000)
straight("loops_mapped", "entry main (xs: [[i64]]) : [i64] = { (let x = sort r\n", "loop s = {1} while s[0] < {0} do s with [0] = s[0] + 1", "  in sum (sort y%d)) : r in xs }\n", lines=2000)
straight("calls", HOST, "f 2 {1}", "  in y%d\n", TWICE)
straight("groups", HOST, "{1} + sum {{ k * sum g : (k, g) in group_by (\\x -> x % ({0} + 2)) xs }}", "  in y%d\n", lines=600)
straight("calls_mapped", EACH, "f 2 {1}", EACH_END, TWICE)
straight("matches", "type s = #a i64 | #b\n" + HOST, "(match (if {1} > {0} then #a {1} else #b) case #a v -> v + 1 case #b -> {0})", "  in y%d\n")
straight("updates", "entry main (x: [i64]) : [i64] =\n", "{1} with [{0} %% 3] = {0}".replace("%%", "%"), "  in y%d\n")
straight("updates_of_rows", "entry main (x: [[i64]]) (n: i64) : [[i64]] =\n loop x = x for k < n do\n", "{{ r with [0] = r[0] + {0} : r in {1} }}", "  in y%d\n", lines=6000)

# ---- long lines ----

for name, text, says in [
        ("digits", lambda: "entry main = " + "7" * (6 * 10 ** 7), "larger than every integer type"),
        ("string", lambda: "entry main = \"" + "s" * (6 * 10 ** 7), "unterminated string"), ("spaces", lambda: " " * 10 ** 7 + "?", "`?`"),
        ("name", lambda: "entry main = " + "n" * 10 ** 7, "error: `nnn"), ("operators", lambda: MAIN + "x" + " + 1" * MILLION, DEEP),
        ("exponent", lambda: "entry main = 1e999999999", "larger than every number"), ("fraction", lambda: "entry main = 0." + "3" * MILLION, ""),
        ("hexadecimal", lambda: "entry main = 0x" + "f" * MILLION, "larger than every integer"), ("zeros", lambda: "entry main = " + "0" * MILLION + "1", ""),
        ("quotes", lambda: "entry main = " + "'" * MILLION, "error: "), ("hashes", lambda: "entry main = " + "#" * MILLION, "error: "),
        ("dots", lambda: "entry main = " + "." * MILLION, "error: "), ("backslashes", lambda: "entry main = " + "\\" * MILLION, "error: "),
        ("strays", lambda: "entry main = " + "@" * MILLION, "and 9980 more errors"), ("projections", lambda: "entry main = x" + ".0" * MILLION, DEEP)]:
    case("long_" + name, text, FINE if not says else WRONG, says)

# ---- bytes ----

for name, text, status, says in [
        ("nul", b"entry main = \0 1", WRONG, "NUL byte"), ("nuls", b"\0" * MILLION, WRONG, "NUL byte"),
        ("utf8", b"entry main = \xff\xfe\xc0\x80 1", WRONG, "not UTF-8"), ("utf8_string", b'entry main = "\xed\xa0\x80"', WRONG, "no text"),
        ("utf8_cut", b"entry main = \"\xe2\x82", WRONG, "error: "), ("random", bytes((i * 197 + i // 7 * 31) % 255 + 1 for i in range(10 ** 5)), WRONG, "error: "),
        ("empty", b"", FINE, ""), ("comment", b"-- only this", FINE, ""), ("bom", b"\xef\xbb\xbfentry main = 1\n", FINE, ""), ("bom_only", b"\xef\xbb\xbf", FINE, ""),
        ("utf16", b"\xff\xfee\0n\0", WRONG, "UTF-16"), ("utf16_big", b"\xfe\xff\0e\0n", WRONG, "UTF-16"), ("bom_twice", b"\xef\xbb\xbf\xef\xbb\xbfentry main = 1\n", WRONG, "error: "), ("crlf", b"entry main =\r\n  1 -- one\r\n", FINE, ""),
        ("cr", b"entry main =\r 1\r", FINE, ""), ("tabs", b"entry\tmain\t=\t1\t+\t?\n", WRONG, ":1:18: error"), ("no_newline", b"entry main = 1", FINE, ""),
        ("escape_end", b'entry main = "\\', WRONG, "unterminated"), ("quote_end", b"entry main = '", WRONG, "unterminated"),
        ("form_feed", b"entry main\f=\v1", FINE, "")]:
    case("bytes_" + name, lambda t=text: t, status, says)

# ---- types ----

doubling = "type a0 = (i64, i64)\n" + "".join("type a%d = (a%d, a%d)\n" % (i + 1, i, i) for i in range(60))
sums = "type s0 = #a i64 | #b\n" + "".join("type s%d = #a s%d | #b s%d\n" % (i + 1, i, i) for i in range(60))
for name, text, says in [
        ("doubling", doubling + "entry main (x: a60) = x", "too large"), ("doubling_unused", doubling + "entry main = 1", "too large"),
        ("doubling_sums", sums + "entry main (x: s60) = 1", "too large"),
        ("doubling_parameters", "type p 'a = (a, a)\nentry main (x: " + "p (" * 60 + "i64" + ")" * 60 + ") = 1", "too large"),
        ("recursive", "type t = [t]\nentry main = 1", "defined by itself"), ("recursive_pair", "type t 'a = (a, t a)\nentry main = 1", "defined by itself"),
        ("recursive_growing", "type t 'a = #end | #more (t (a, a))\nentry main = 1", "defined by itself"),
        ("recursive_ring", "".join("type t%d = [t%d]\n" % (i, (i + 1) % 1000) for i in range(1000)) + "entry main = 1", "defined by itself"),
        ("chain", "type t0 = i64\n" + "".join("type t%d = t%d\n" % (i + 1, i) for i in range(3000)) + "entry main (x: t3000) = x", ""),
        ("pairs", "entry main = let p0 = (1, 2) " + "".join("let p%d = (p%d, p%d) " % (i + 1, i, i) for i in range(60)) + "in 1", "too large"),
        ("functions", "def f0 x = (x, x)\n" + "".join("def f%d x = f%d (f%d x)\n" % (i + 1, i, i) for i in range(30)) + "entry main = let y = f30 1 in 1", "too large"),
        ("local_functions", MAIN + "let f0 y = (y, y) " + "".join("let f%d y = f%d (f%d y) " % (i + 1, i, i) for i in range(30)) + "in (f30 x).0", "too large"),
        ("occurs", "def f x = x x\nentry main = 1", "infinite type"), ("occurs_record", "def f x = f {a = x}\nentry main = 1", "infinite type"),
        ("polymorphic_recursion", "def f 'a (n: i64) (x: a) : i64 = if n == 0 then 0 else f (n - 1) (x, x)\nentry main (n: i64) = f n 1", "error: "),
        ("function_grows", "def f (n: i64) (g: i64 -> i64) : i64 = if n == 0 then g 0 else f (n - 1) (\\x -> g (g x))\nentry main (n: i64) = f n (+ 1)", "error: "),
        ("expansion_chain", "def h0 (g: i64 -> i64) (x: i64) = g x\n" + "".join("def h%d (g: i64 -> i64) (x: i64) = h%d g (x + 1)\n" % (i + 1, i) for i in range(40000)) +
         MAIN + "h40000 (+ 1) x", "nested too deeply"),
        ("expansion", "def t0 (g: i64 -> i64) (x: i64) = g x\n" + "".join("def t%d (g: i64 -> i64) (x: i64) = t%d (t%d g) x\n" % (i + 1, i, i) for i in range(40)) + MAIN + "t40 (+ 1) x", "error: ")]:
    case("types_" + name, lambda t=text: t, FINE if not says else WRONG, says)

# ---- many errors, many definitions ----

for name, text in [
        ("names", lambda: "".join("def f_%d = y%d\n" % (i, i) for i in range(3000))), ("syntax", lambda: "def f = )\n" * 20000),
        ("types", lambda: "".join("def f_%d = 1 + true\n" % i for i in range(20000))), ("in_one", lambda: "def f = [" + "".join("1 + true, " for i in range(20000)) + "]"),
        ("twice", lambda: "def f = 1\n" * 20000), ("strings", lambda: "def f = \"\n" * 20000), ("imports", lambda: "".join("import \"none%d\"\n" % i for i in range(2000)))]:
    case("errors_" + name, text, WRONG, " more errors")
case("doubling_calls", lambda: "def f_0 (x: i64) = x * x\n" + "".join("def f_%d (x: i64) = f_%d x + f_%d (x + 1)\n" % (i + 1, i, i) for i in range(2000)) + MAIN + "f_2000 x",
     FINE, "", ("dump", "--stage=flat", "f.dp"))
case("types_constructors", lambda: "type t = " + " | ".join("#c%d" % i for i in range(4097)) + "\nentry main = 1", WRONG, "this type has 4097 constructors, and 4096 are the most")

# ---- what passes may make of a program has budgets: inlining, merging recursive functions, expanding definitions in place ----

RING = "if n <= 0 then x else "


def ring(n, step):
    return "".join("def g%d (n: i64) (x: i64) : i64 = %sg%d (n - 1) (x * 3 + %d) + g%d (n - 2) x\n" % (i, RING, (i + step) % n, i, (i + 1) % n)
                   for i in range(n)) + "entry main (n: i64) = g0 n n\n"


def twice(first, define, last, levels=60):
    return first % levels + "".join(define.format(i, i + 1) for i in range(levels)) + last


def complete(n):
    return "".join("def g%d (n: i64) (x: i64) : i64 = %s" % (i, RING) + " + ".join("g%d (n - %d) x" % (j, j + 1) for j in range(n)) + "\n" for i in range(n)) + "entry main (n: i64) = g0 n n\n"


def alone(n):
    return "".join("def g%d (n: i64) : i64 = if n <= 1 then %d else g%d (n - 1) + g%d (n / 2)\n" % (i, i, i, i) for i in range(n)) + \
        "entry main (n: i64) =\n" + "".join("  let x%d = g%d (n + %d)\n" % (i, i, i) for i in range(n)) + "  in " + " + ".join("x%d" % i for i in range(n)) + "\n"


IF = "def g{0} (x: i64) : i64 = if x > {0} then g{1} (x / 2) else g{1} (x + 1)\n"
for name, text in [
        ("ring_13", lambda: ring(13, 1)), ("ring_300", lambda: ring(300, 7)), ("ring_300_next", lambda: ring(300, 1)), ("complete_graph", lambda: complete(30)), ("alone", lambda: alone(3000)),
        ("calls", lambda: twice("def g%d (x: i64) = x * x\n", "def g{0} (x: i64) : i64 = g{1} x + g{1} (x + 1)\n", MAIN + "g0 x")),
        ("calls_in_ifs", lambda: twice("def g%d (x: i64) = x / 3\n", IF, MAINS + "{ g0 x : x in xs }")),
        ("constants", lambda: twice("def c%d = 3\n", "def c{0} : i64 = c{1} + c{1}\n", "entry main = c0")),
        ("constant_arrays", lambda: twice("def c%d = iota 3\n", "def c{0} : [i64] = {{ a + b : a in c{1}; b in c{1} }}\n", "entry main = c0"))]:
    for stage in ["core", "host"]:
        case("grows_%s_%s" % (name, stage), text, FINE, "", ("dump", "--no-warnings", "--stage=" + stage, "f.dp"))

# ---- imports: folders of files ----

def imports(name, files, status, says, links=(), folders=()):
    cases.append(("imports_" + name, (files, links, folders), status, says, ("check", "f.dp")))


imports("self", {"f.dp": 'import "f"\nentry main = 1'}, WRONG, "import each other")
imports("mutual", {"f.dp": 'import "g"\nentry main = 1', "g.dp": 'import "f"\n'}, WRONG, "import each other")
imports("link", {"f.dp": 'import "g"\nentry main = 1'}, WRONG, "import each other", links=[("f.dp", "g.dp")])
imports("link_ring", {"f.dp": 'import "g"\nentry main = 1'}, WRONG, "no module", links=[("g.dp", "h.dp"), ("h.dp", "g.dp")])
imports("folder_ring", {"f.dp": 'import "d/d/d/f"\nentry main = 1'}, WRONG, "import each other", links=[(".", "d")])
imports("folder", {"f.dp": 'import "d"\nimport "d.dp"\nentry main = 1'}, WRONG, "no module", folders=["d", "d.dp"])
imports("device", {"f.dp": 'import "zero"\nentry main = 1'}, WRONG, "no module", links=[("/dev/zero", "zero.dp")])
imports("pipe", {"f.dp": 'import "pipe"\nentry main = 1'}, WRONG, "error: ", folders=["|pipe.dp"])
imports("missing", {"f.dp": 'import "../../../../nowhere/at/all"\nentry main = 1'}, WRONG, "no module")
imports("long_path", {"f.dp": 'import "' + "a/" * 100000 + '"\nentry main = 1'}, WRONG, "no module")
imports("chain", {"f.dp": 'import "m0"\nentry main = x0', **{"m%d.dp" % i: 'import "m%d"\ndef x%d = x%d\n' % (i + 1, i, i + 1) for i in range(1000)}, "m1000.dp": "def x1000 = 1"}, FINE, "")
imports("same", {"f.dp": 'import "g"\n' * 2000 + "entry main = x", "g.dp": "def x = 1"}, FINE, "")

# ---- options, and files that cannot be read ----

for name, says, *command in [
        ("none", "makes an executable"), ("unknown", "is no command", "bulid", "f.dp"), ("no_file", "error: ", "check"), ("missing", "cannot read", "check", "none.dp"),
        ("directory", "cannot read", "check", "."), ("device", "at most 64 MB", "check", "/dev/zero"), ("option", "no option", "check", "--fast", "f.dp"),
        ("stage", "error: ", "dump", "--stage=soup", "f.dp"), ("no_stage", "error: ", "dump", "f.dp"), ("evaluator", "error: ", "run", "--eval=cuda", "f.dp"),
        ("entry", "no entry", "run", "--eval=core", "f.dp", "--entry", "other", "1"), ("entry_value", "error: ", "run", "--eval=core", "f.dp", "--entry"),
        ("output", "error: ", "run", "--eval=core", "f.dp", "[1]", "-o"), ("too_many", "error: ", "run", "--eval=core", "f.dp", "[1]", "[2]"),
        ("long", "error: ", "check", "x" * 100000), ("empty", "error: ", "check", ""), ("test_eval", "error: ", "test", "--eval=core,soup", "f.dp")]:
    case("options_" + name, lambda: "entry main (xs: [i64]) = sum xs\n", WRONG, says, command)

# ---- values on the command line and in files, of types that do not fit, cut off, or with absurd sizes ----

VALUE = "entry main (x: %s) : %s = x\n"


def value(name, type_, argument, says="error: ", data=None, status=WRONG):
    program = VALUE % (type_, type_)
    files = {"f.dp": program} if data is None else {"f.dp": program, argument: data}
    cases.append(("values_" + name, (files, (), ()), status, says, ("run", "--eval=core", "f.dp", argument)))


for name, type_, text in [
        ("malformed", "[i64]", "[1, 2"), ("words", "[i64]", "[one]"), ("wrong_type", "[i64]", "[1.5]"), ("wrong_shape", "[i64]", "[[1]]"), ("range", "i8", "300"),
        ("huge", "i64", "9" * 100000), ("huge_float", "i64", "1e999999999"), ("deep", "[i64]", "[" * 50000), ("deep_fits", "[[i64]]", "[" * 50000 + "]" * 50000),
        ("tuple", "(i64, i64)", "(1)"), ("record", "{x: i64}", "{y = 1}"), ("record_twice", "{x: i64}", "{x = 1, x = 2}"), ("constructor", "(#a | #b i64)", "#c"),
        ("string", "[u8]", '"abc'), ("escape", "[u8]", '"\\q"'), ("bool", "bool", "yes"), ("size", "[3]i64", "[1, 2]"), ("rows", "[2][2]i64", "[[1, 2], [3]]"),
        ("trailing", "i64", "1 2 3 ]"), ("nothing", "i64", " "), ("comment", "i64", "(-- 1")]:
    value(name, type_, text, status=FAILS if name in ("size", "rows") else WRONG)


def npy(shape, data=b"", descr="<i8"):
    header = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


big = 2 ** 62
png = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\0\0\0\0" + b"\x34\x6c\x21\x8c"
for name, type_, file, data in [
        ("npy_huge", "[i64]", "a.npy", npy("(%d,)" % big)), ("npy_product", "[n][m]i64", "a.npy", npy("(%d, %d)" % (2 ** 32, 2 ** 32))),
        ("npy_negative", "[i64]", "a.npy", npy("(-1,)")), ("npy_short", "[i64]", "a.npy", npy("(1000,)", b"\0" * 10)), ("npy_cut", "[i64]", "a.npy", npy("(1,)")[:9]),
        ("npy_header", "[i64]", "a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"), ("npy_empty", "[i64]", "a.npy", b""), ("npy_zero_rows", "[n][m]i64", "a.npy", npy("(%d, 0)" % big)),
        ("dpv_huge", "[i64]", "a.dpv", b"\x89DPV\r\n\x1a\n\1\0\0\0\5\0\0\0[i64]\0\0\0" + big.to_bytes(8, "little") + b"\0" * 4),
        ("dpv_type", "[i64]", "a.dpv", b"\x89DPV\r\n\x1a\n\1\0\0\0\xff\xff\xff\xff[i64]"), ("dpv_deep", "[i64]", "a.dpv", b"\x89DPV\r\n\x1a\n\1\0\0\0\x40\x42\x0f\0" + b"[" * MILLION),
        ("mtx_huge", "[[(i64, f64)]]", "a.mtx", b"%%MatrixMarket matrix coordinate real general\n9000000000000000000 1 1\n1 1 1\n"),
        ("mtx_entries", "[[(i64, f64)]]", "a.mtx", b"%%MatrixMarket matrix coordinate real general\n1 1 9000000000000000000\n1 1 1\n"),
        ("mtx_array", "[n][m]f64", "a.mtx", b"%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n"), ("mtx_cut", "[n][m]f64", "a.mtx", b"%%MatrixMarket matr"),
        ("csv_quote", "[([u8], i64)]", "a.csv", b'"' + b"a" * MILLION), ("csv_columns", "[(i64, i64)]", "a.csv", b"1," * MILLION), ("csv_type", "[i64]", "a.csv", b"one\n"),
        ("pgm_huge", "[h][w]u8", "a.pgm", b"P5 2147483647 2147483647 255\n"), ("pgm_overflow", "[h][w]u8", "a.pgm", b"P5 99999999999999999999 1 255\n"), ("pgm_cut", "[h][w]u8", "a.pgm", b"P5 2 2 255\nab"),
        ("pgm_text", "[h][w]u8", "a.pgm", b"P2 100000 100000 255\n1"), ("png_huge", "[h][w]u8", "a.png", png), ("png_cut", "[h][w]u8", "a.png", png[:20]), ("png_empty", "[h][w]u8", "a.png", b"")]:
    value(name, type_, file, data=data)
value("directory", "[i64]", "./", says="error: ")
value("endless", "[i64]", "/dev/zero", says="File too large")
value("mtx_columns", "[n][m]f64", "a.mtx", data=b"%%MatrixMarket matrix array real general\n0 9223372036854775807", status=FINE, says="")
value("mtx_rows", "[n][m]f64", "a.mtx", data=b"%%MatrixMarket matrix array real general\n9223372036854775807 0", says=":2:1: the sizes are larger")
value("ppm_rows", "[[(u8, u8, u8)]]", "a.ppm", data=b"P3 0 16000000 5", says=":1:16: the sizes are larger")
for name, type_, data, says in [
        ("digits", "i64", b"7" * 10 ** 8, ":1:1: 77777"), ("float", "f64", b"0." + b"3" * 10 ** 7 + b"x", ":1:1: expected an f64"),
        ("string", "[u8]", b'"' + b"s" * 10 ** 7, ":1:10000002: the closing quote"), ("blanks", "[i64]", b" " * 10 ** 8, ":1:100000001: expected [")]:
    value("long_" + name, type_, "a.txt", data=data, says=says)


# ---- running ----

def write(folder, name, content):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())


def prepare(folder, what):
    if callable(what):
        write(folder, "f.dp", what())
        return
    files, links, folders = what
    for name in folders:
        if name.startswith("|"):
            os.mkfifo(os.path.join(folder, name[1:]))
        else:
            os.mkdir(os.path.join(folder, name))
    for name, content in files.items():
        write(folder, name, content)
    for target, name in links:
        os.symlink(target, os.path.join(folder, name))


def limits(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if "DPC_SANITIZED" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, ((MEGABYTES + 1100) << 20, (MEGABYTES + 1100) << 20))


def failure_of(dpc, what, status, says, command, seconds=SECONDS):
    folder = tempfile.mkdtemp()
    try:
        prepare(folder, what)
        done = subprocess.run([dpc, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=lambda: limits(seconds),
                              timeout=4 * SECONDS, env=dict(os.environ, NO_COLOR="1", ASAN_OPTIONS="detect_leaks=0"))
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        shutil.rmtree(folder)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode != status:
        return "status %d, wanted %d: %s" % (done.returncode, status, said[:300])
    if says not in said:
        return "wanted the text `%s`: %s" % (says, said[:300])
    enough = 20000 + sum(map(len, command))
    return "it says %d bytes" % len(said) if status != FINE and len(said) > enough else None


def timed_failure_of(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    failure = failure_of(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return failure, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    dpc, prefixes = os.path.abspath(sys.argv[1]), sys.argv[2:]
    failed, count, slowest = 0, 0, (0, "")
    for name, what, status, says, command in cases:
        if prefixes and not name.startswith(tuple(prefixes)):
            continue
        failure, spent = timed_failure_of(dpc, what, status, says, command, STRAIGHT_SECONDS if name in quarters else SECONDS)
        if failure and name in quarters:
            smaller, quarter = timed_failure_of(dpc, quarters[name], status, says, command, SECONDS)
            if not smaller and GROWTH * quarter > STRAIGHT_SECONDS:
                failure, spent = timed_failure_of(dpc, what, status, says, command, int(GROWTH * quarter))
        slowest = max(slowest, (spent, name))
        count += 1
        if failure:
            failed += 1
            print("FAILED: %s (%.1f s): %s" % (name, spent, failure), flush=True)
        elif os.environ.get("VERBOSE"):
            print("%-30s %.2f s" % (name, spent), flush=True)
    print("%d cases, %d failed; the slowest took %.1f s: %s" % (count, failed, *slowest))
    sys.exit(failed > 0)


main()
