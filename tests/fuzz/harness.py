"""What the fuzzers share: running a command and telling whether the way it ended is a bug."""
import argparse
import os
import random
import re
import resource
import subprocess
import tempfile
import time

TIME_LIMIT = 5


def finish(command, environment, limit, memory):
    """Status (None: out of time), output and messages of a command that gets so many seconds and, unless None, bytes."""
    def confine():
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    environment = dict(os.environ, NO_COLOR="1", DPC_CHECK="1", ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=4000", **environment)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit,
                              env=environment, preexec_fn=confine)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def run(command, statuses):
    """Status, and the failure in one line or None: statuses are those that the command may end with."""
    environment = dict(os.environ, NO_COLOR="1", DPC_CHECK="1", ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=4000",
                       UBSAN_OPTIONS="print_stacktrace=1")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=TIME_LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        return None, "more than %d seconds" % TIME_LIMIT
    said = done.stderr.decode("utf-8", "replace")
    report = re.search(r"runtime error: .*|ERROR: \w+Sanitizer: [a-zA-Z-]+|internal compiler error: .*|Assertion .*|"
                       r"hard rss limit.*", said)
    if report:
        frames = re.findall(r"#\d+ 0x\w+ in (\w+) \S*/(?:compiler|runtime)/", said)[:3]
        return done.returncode, "%s %s" % (report.group(0)[:160], " < ".join(frames))
    if done.returncode not in statuses:
        return done.returncode, "status %d: %s" % (done.returncode, said[:120])
    if done.returncode != 0 and "error: " not in said:
        return done.returncode, "status %d without a message" % done.returncode
    return done.returncode, None


def fuzz(name, judge):
    """Judges random programs until the time is over: judge(dpc, path, random) writes one and returns what is wrong, or ''. True: some are."""
    options = argparse.ArgumentParser()
    options.add_argument("dpc")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", default="")
    o = options.parse_args()
    end, number, failed = time.time() + o.seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < end:
            number += 1
            path = os.path.join(folder, name + ".dp")
            wrong = judge(os.path.abspath(o.dpc), path, random.Random("%d/%d" % (o.seed, number)))
            if not wrong:
                continue
            failed += 1
            print("program %d of seed %d: %s" % (number, o.seed, wrong[:1000]))
            if o.keep:
                os.makedirs(o.keep, exist_ok=True)
                os.replace(path, os.path.join(o.keep, "%s_%d_%d.dp" % (name, o.seed, number)))
    print("%d programs, %d failed" % (number, failed))
    return failed > 0
