#!/usr/bin/env python3
"""dpc step at a terminal: a prompt, and, where dpc is built with libedit (-DDPC_EDIT=ON), lines that are edited and a history.
step_edit.py DPC"""
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

DPC = os.path.abspath(sys.argv[1])
PROGRAM = "entry main (xs: [i64]) : i64 =\n  let ys = { x * 2 : x in xs }\n  in sum ys\n"
failures = 0


def check(what, holds, seen=""):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what, repr(seen))


class Terminal:
    def __init__(self, *words):
        self.pid, self.to = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="vt100", NO_COLOR="1")
            os.execv(DPC, [DPC, "step", *words])
        self.seen = ""

    def wait(self, text, seconds=20):
        """What has come up to the text; it is taken away."""
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.to], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.to, 4096).decode(errors="replace")
                except OSError:
                    break
        check(f"{text!r} is shown", text in self.seen, self.seen[-300:])
        before, _, self.seen = self.seen.partition(text)
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", before)

    def type(self, text):
        os.write(self.to, text.encode())

    def end(self):
        _, status = os.waitpid(self.pid, 0)
        os.close(self.to)
        return os.waitstatus_to_exitcode(status)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "f.dp")
        with open(path, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        t = Terminal(path, "[1, 2, 3]")
        t.wait("help lists the commands")
        t.type("next\r")
        t.wait("#1 ")
        t.type("back\r")
        t.wait("#0 call main")
        if "libedit" in subprocess.run(["ldd", DPC], capture_output=True, text=True, check=True).stdout:
            t.type("nex\x1b[Dx\x7f\x05t\r")  # nex, left, x, rubbed out, to the end, t
            t.wait("#1 ")
            t.type("back\r")
            t.wait("#0 call main")
            t.type("\x10\x10\r")  # two lines back in the history: nex…t
            t.wait("#1 ")
            t.type("step\x01\x0bprint\r")  # to the beginning, the line cut off
            t.wait("%")
        else:
            print("dpc is built without libedit (DPC_EDIT): editing and history of dpc step were not tried")
        t.type("quit\r")
        check("quit ends it", t.end() == 0)
    print("step at a terminal:", "FAILED" if failures else "ok")
    return 1 if failures else 0


sys.exit(main())
