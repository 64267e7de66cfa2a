"""What the fuzzers share: running a command and telling whether the way it ended is a bug."""
import os
import re
import resource
import subprocess

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
