#!/usr/bin/env python3
"""The line that says on a terminal what is going on: activity.py DPC.

Nothing depends on how long things take: programs wait for a pipe, which is fed when the line has been seen, or never end."""
import os, pty, select, signal, subprocess, sys, tempfile, time

ERASER = b"\r\x1b[K"
PATIENCE = 120  # seconds, after which something is wrong
dpc = os.path.realpath(sys.argv[1])
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
failed = False


def check(what, holds, seen):
    global failed
    if not holds:
        failed = True
        print(f"FAILED: {what}: {seen!r}")


def read(master, until=None):
    """What the terminal gets, to the end or until this text is seen."""
    seen, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end and not (until and until in seen):
        if select.select([master], [], [], 1)[0]:
            try:
                part = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
    return seen


def on_terminal(words, until, then, **changes):
    """Runs it with the terminal as standard error; the output, the terminal's text, the status."""
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm", **changes}
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, env=env)
    os.close(slave)
    seen = read(master, until) if until else b""
    then(process)
    out = process.stdout.read()
    seen += read(master)
    os.close(master)
    return out, seen, process.wait()


def feed(name, text, after=0):
    def then(process):
        time.sleep(after)
        with open(name, "w") as fifo:
            fifo.write(text)
    return then


def expect_read(what, words, name, text, wanted_out, **changes):
    os.mkfifo(name)
    line = f"reading {name}".encode()
    out, seen, status = on_terminal(words + [name], line, feed(name, text), **changes)
    check(f"{what}: the result", (out, status) == (wanted_out, 0), (out, status, seen))
    check(f"{what}: the line is shown", line in seen, seen)
    check(f"{what}: and erased at the end", seen.endswith(ERASER), seen)


open("f.dp", "w").write("""entry main (xs: [i32]): i32 = sum xs
entry long (n: i64): i64 = loop x = n while x >= 0 do x + 1 - 1
""")
subprocess.run([dpc, "build", "f.dp", "-o", "f"], check=True)
expect_read("an executable", ["./f"], "a.txt", "[1, 2, 3]\n", b"6\n")
expect_read("an interpreter", [dpc, "run", "--eval=core", "f.dp"], "b.txt", "[1, 2, 3]\n", b"6\n")
expect_read("dpc run", [dpc, "run", "f.dp"], "c.txt", "[1, 2, 3]\n", b"6\n")

# A message comes when the line has been erased.
os.mkfifo("d.txt")
out, seen, status = on_terminal(["./f", "d.txt"], b"reading", feed("d.txt", "[1, x]\n"))
check("the message is behind the line", status == 2 and ERASER + b"error: d.txt" in seen, seen)
out, seen, status = on_terminal(["./f", "--entry", "long", "--timeout", "1000", "1"], b"running",
                                lambda process: process.send_signal(signal.SIGALRM))
check("so is the time limit's", status == 6 and ERASER + b"error: time limit of 1000 s" in seen, seen)

# Not on what is no terminal, or cannot erase.
os.mkfifo("e.txt")
pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
process = subprocess.Popen(["./f", "e.txt"], env=dict(os.environ, TERM="xterm"), **pipes)
feed("e.txt", "[1]\n", 1)(process)
check("a pipe gets nothing", process.communicate() == (b"1\n", b""), "")
os.mkfifo("g.txt")
out, seen, status = on_terminal(["./f", "g.txt"], None, feed("g.txt", "[1]\n", 1), TERM="dumb")
check("a terminal that cannot erase gets nothing", (out, seen, status) == (b"1\n", b"", 0), (out, seen, status))
sys.exit(failed)
