#!/usr/bin/env python3
"""dpc repl: sessions from a pipe, and on a terminal. repl.py DPC"""
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

DPC = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, NO_COLOR="1", TERM="dumb")
failed = 0


def fail(what):
    global failed
    failed += 1
    print("FAILED:", what)


def session(text, *words):
    done = subprocess.run([DPC, "repl", *words], input=text, capture_output=True, text=True, env=ENV, timeout=120)
    return done.returncode, done.stdout, done.stderr


def expect(text, out, err="", words=()):
    """What the session writes is exactly this."""
    status, got_out, got_err = session(text, *words)
    if (got_out, got_err, status) != (out, err, 0):
        fail(f"{text!r} {words}: status {status}\n{got_out}{got_err}but wanted\n{out}{err}")


def pipes():
    for evaluator in "plan", "core", "fused", "flat":
        expect("1 + 2\nsum { x * x : x in 10 }\n", "3\n285\n", words=("--eval", evaluator))
    # Definitions stay; a new one stands for the old one, also in what uses it.
    expect("let x = [1, 2, 3]\nlet f y =\n2 * y\n\nsum { f y : y in x }\nlet z = 3 in z + 1\nlet (a, b) = (1, 2)\nin a + b\n",
           "x : [i64]\nf : a -> a where a num\n12\n4\n3\n")
    expect("def f (x: i64) = x * x\ndef g xs = sum { f x : x in xs }\ng [1, 2, 3]\ndef f (x: i64) = 2 * x\ng [1, 2, 3]\n",
           "f : i64 -> i64\ng : [i64] -> i64\n14\nf : i64 -> i64\n12\n")
    expect("type point = {x: f64, y: f64}\ndef norm (p: point) = sqrt (p.x * p.x + p.y * p.y)\nnorm {x = 3, y = 4}\n",
           "norm : {x: f64, y: f64} -> f64\n5.0\n")
    expect('import "linalg"\nsolve [[2.0]] [4.0]\nimport "linalg" as L\nL.solve [[2.0]] [8.0]\n', "[2.0]\n[4.0]\n")
    # What makes an error is not kept, and ends nothing. Places are those of the session.
    expect("def f (x: i64) = x\n\ndef f (x: i64) = x + true\nf 4\n", "f : i64 -> i64\n4\n",
           "input:3:22: error: expected i64, found bool [E0301]\n  def f (x: i64) = x + true\n                       ^^^^\n"
           "input:3:8: note: the left side is i64: `x` is declared here\n  def f (x: i64) = x + true\n         ^^^^^^\n")
    expect("def at (xs: [i64]) =\n  xs[7]\nat [1]\n2\n", "at : [i64] -> i64\n2\n",
           "input:2:5: error: index 7 out of bounds for length 1\n    xs[7]\n      ^^^\n")
    # Lines go on while something is missing, up to an empty one; or stand between :{ and :}.
    expect("let a = 5 in\na +\n  1\n", "6\n")
    expect("[1,\n 2,\n\n3\n", "3\n",
           "input:2:4: error: expected an expression or `]`, found the end of the file [E0101]\n   2,\n     ^\n"
           "input:1:1: note: this `[` is not closed\n  [1,\n  ^\n")
    expect(":{\ndef a = 1\n\ndef b = a\n  + 1\n:}\nb\n", "a : i64\nb : i64\n2\n")
    expect("-- nothing\n   \n7 -- seven\n", "7\n")
    # A definition of many types has its default where it is used; warnings are about what is new.
    expect("def h (b: bool) = match b case true -> 1\nh true\n", "h : bool -> a where a num\n1\n",
           "input:1:19: warning: this match misses some values [W0301]\n  def h (b: bool) = match b case true -> 1\n"
           "                    ^^^^^^^\n  note: no case matches `false`\n")


def commands():
    expect(":type \\x -> x + 1\n:type map\n:t 1 + 1\n", "a -> a where a num\n(a -> b) -> [a] -> [b]\ni64\n")
    expect(":eval\n:eval flat\n:eval\n:eval gpu\n", "plan\nflat\n", "error: gpu is none of plan, core, fused and flat\n")
    expect(":jump\n:load nofile.dp\n:type\nsqrt\n", "",
           "error: :jump is no command; :help lists them\nerror: cannot read nofile.dp: No such file or directory\n"
           "error: an expression is wanted\n"
           "input:4:1: error: what is evaluated cannot be a function, but this is f64 -> f64 [E0318]\n  sqrt\n  ^^^^\n")
    expect("1\n:quit\n2\n", "1\n")
    expect("def a = 1\ntype t = i64\n:defs\n:clear\n:defs\na\n", "a : i64\na : i64\ntype t\n",
           "input:6:1: error: `a` is not defined [E0201]\n  a\n  ^\n")
    for stage, word in ("core", "reduce"), ("flat", "reduce"), ("plan", "reduce"), ("opencl", "DP_"), ("types", "expression__ : i64"):
        _, out, err = session(f":{stage} sum {{ x * x : x in 10 }}\n")
        if word not in out or err:
            fail(f":{stage} shows no {word}: {out}{err}")
    _, out, _ = session(":explain sum { x * x : x in 10 }\n")
    if "input:1: reduce over 10" not in out:
        fail(f":explain: {out}")
    for evaluator in "plan", "core":
        _, out, err = session(":time sum { x * x : x in 10 }\n", "--eval", evaluator)
        if not re.fullmatch(r"285\nleast [\d.]+ (us|ms|s), median [\d.]+ (us|ms|s), of 5 runs\n", out) or err:
            fail(f":time on {evaluator}: {out}{err}")
    _, out, _ = session(":help\n")
    for name in "type", "load", "reload", "defs", "time", "explain", "device", "quit":
        if f":{name}" not in out:
            fail(f":help has no {name}")
    _, out, err = session(":device\n:device nothing of that name\n1\n:device 0\n2\n")
    if not re.search(r"(?m)^.*0.*$", out) or "no" not in err or not out.endswith("2\n"):
        fail(f":device: {out}{err}")


def files():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("other.dp", "w") as out:
            out.write("def three = 3\n")
        with open("f.dp", "w") as out:
            out.write('import "other"\ndef f (x: i64) = x + three\nentry main (x: i64) : i64 = f x\n')
        expect("main 1\nf 2\n", "f : i64 -> i64\nmain : i64 -> i64\n4\n5\n", words=("f.dp",))
        expect(":load f.dp\nf 1\n", "f : i64 -> i64\nmain : i64 -> i64\n4\n")
        status, _, err = session("1\n", "none.dp")
        if status != 2 or "cannot read none.dp" not in err:
            fail(f"none.dp: {status} {err}")
        # :reload takes what the file has become, unless that is wrong.
        process = subprocess.Popen([DPC, "repl", "--eval=core", "f.dp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=ENV)
        process.stdin.write("f 1\n")
        process.stdin.flush()
        for _ in range(3):
            process.stdout.readline()
        for text in "def f (x: i64) = 10 * x\n", "def f (x: i64) = true + x\n":
            with open("f.dp", "w") as out:
                out.write(text)
            process.stdin.write(":reload\nf 2\n")
            process.stdin.flush()
            lines = [process.stdout.readline() for _ in range(2 if "true" not in text else 1)]
            if lines[-1] != "20\n":
                fail(f":reload: {lines}")
        process.stdin.close()
        if "f.dp:1:18: error" not in process.stderr.read():
            fail(":reload of a wrong file says nothing")
        process.wait()
        os.chdir("/")


class Terminal:
    def __init__(self, *words):
        self.home = tempfile.mkdtemp()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(DPC, [DPC, "repl", *words], dict(ENV, HOME=self.home))
        self.seen = ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self, text):
        """Up to this text."""
        end = time.monotonic() + 30
        while text not in self.seen:
            if time.monotonic() > end or not select.select([self.fd], [], [], 30)[0]:
                fail(f"terminal: no {text!r} in {self.seen!r}")
                return
            try:
                self.seen += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:
                fail(f"terminal: ended before {text!r}: {self.seen!r}")
                return
        self.seen = self.seen[self.seen.index(text) + len(text):]


def terminal():
    t = Terminal("--eval=core")
    t.wait("dp> ")
    t.type("sum { x : x in 5 }\r")
    t.wait("\r\n10\r\n")
    t.wait("dp> ")
    t.type("(1 +\r")
    t.wait("   | ")
    t.type("2)\r")
    t.wait("\r\n3\r\n")
    t.wait("dp> ")
    # Ctrl-C gives up the lines before it.
    for begun in "(1 +\r", ":{\r", "def f x =\r":
        t.type(begun)
        t.wait("   | ")
        t.type("\x03")
        time.sleep(0.3)
        t.type("40 + 1\r")
        t.wait("\r\n41\r\n")
        t.wait("dp> ")
    # What takes too long is interrupted, and the session goes on.
    t.type("loop (x: i64) = 0 while x >= 0 do (x + 1) % 7\r")
    t.wait("7")
    time.sleep(1)
    t.type("\x03")
    t.wait("ended by signal 2")
    t.wait("dp> ")
    t.type("40 + 2\r")
    t.wait("\r\n42\r\n")
    t.wait("dp> ")
    if "libedit" in subprocess.run(["ldd", DPC], capture_output=True, text=True).stdout:
        t.type("def strange_name = 17\r")
        t.wait("strange_name : i64")
        t.wait("dp> ")
        t.type("strange_n\t\r")
        t.wait("\r\n17\r\n")
        t.wait("dp> ")
        # Behind a dot the fields of a record, and the names of a module.
        t.type("def p = {width = 1.5, inner = {height = 2.5}}\r")
        t.wait("p : {")
        t.wait("dp> ")
        for typed, value in ("p.wi\t", "1.5"), ("p.inner.he\t", "2.5"), ("(1 + nothing.wi\t) 2", None):
            t.type(typed + "\r")
            t.wait(f"\r\n{value}\r\n" if value else "is not defined")
            t.wait("dp> ")
        t.type('import "stats" as S\r')
        t.wait("dp> ")
        t.type("S.medi\t [1, 2, 6]\r")
        t.wait("\r\n2.0\r\n")
        t.wait("dp> ")
    else:
        print("dpc is built without libedit (DPC_EDIT): no test of completion")
    t.type(":quit\r")
    _, status = os.waitpid(t.pid, 0)
    if status != 0:
        fail(f"terminal: status {status}")
    history = t.home + "/.dpc_history"
    if os.path.exists(history) and os.stat(history).st_mode & 0o777 != 0o600:
        fail(f"the history's mode is {os.stat(history).st_mode:o}")


pipes()
commands()
files()
terminal()
sys.exit(failed > 0)
