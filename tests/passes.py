"""docs/passes.md: has every pass of the compiler a section, in order? What its commands print is checked by snippets.sh.

    passes.py DPC            checks
    passes.py DPC --write    writes anew what the commands print
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
dpc = pathlib.Path(sys.argv[1]).resolve()
page = root / "docs/passes.md"


def pass_names():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "f.dp"
        file.write_text("entry main : i64 = 1\n")
        listed = subprocess.run([dpc, "dump", "--after=?", file], capture_output=True, text=True).stderr
    return listed.splitlines()[1:]


def documented(text):
    names = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title = section.splitlines()[0]
        rows = re.search(r"^Rows? of the table: (.*)\.$", section, re.M)
        names += re.findall(r"`([^`]*)`", rows.group(1)) if rows else [title.lower()]
    return names


def write(text):
    """Programs are written to a folder, commands run there in order."""
    environment = dict(os.environ, PATH=f"{dpc.parent}:{os.environ['PATH']}", NO_COLOR="1")
    with tempfile.TemporaryDirectory() as folder:

        def block(match):
            tag, body = match.group(1), match.group(2)
            if tag == "dp":
                name = re.match(r"-- (\S+\.dp)\n", body).group(1)
                (pathlib.Path(folder) / name).write_text(body)
                return match.group(0)
            shown = ""
            for command in re.findall(r"^\$ (.*)$", body, re.M):
                got = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
                shown += f"$ {command}\n{got.stdout}{got.stderr}"
            return f"```sh\n{shown}```"

        return re.sub(r"^```(dp|sh)\n(.*?)^```", block, text, flags=re.M | re.S)


text = page.read_text()
if "--write" in sys.argv:
    page.write_text(write(text))
names, known = documented(text), pass_names()
wrong = [f"{n} has no section" for n in known if n not in names] + [f"{n} is no pass" for n in names if n not in known]
firsts = [known.index(n) for n in names if n in known and not re.search(r", (again|after|what|of what)", n)]
if firsts != sorted(firsts):
    wrong.append("the sections are not in the order of the table")
for w in wrong:
    print("FAILED: docs/passes.md:", w)
sys.exit(bool(wrong) or len(known) < 20)
