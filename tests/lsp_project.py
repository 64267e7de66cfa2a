#!/usr/bin/env python3
"""dpc lsp in a folder of several files: lsp_project.py DPC

Names over files that are open and files that are not, into the library, what is typed bit by bit, requests that are taken back, tests that
are run, and a text of 20,000 lines."""
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import lsp
from lsp import Editor, Text, equal, fail

SHAPES = '''--| A width and a height.
type box = {w: f64, h: f64}
--| Of a box.
def area (b: box) : f64 = b.w * b.h
def unused_here (x: i64) = x
'''
MAIN = '''import "../lib/shapes" as S
import "stats" as Stats
-- test main
-- input  [{w = 1, h = 2}]
-- output 2.0
entry main (boxes: [S.box]) : f64 = Stats.median { S.area b : b in boxes }
-- property wrong
def wrong (x: i64) : bool = x < 5
'''
OTHER = '''import "lib/shapes"
def twice (b: box) = area b + area b
def three (area: i64) = area
'''


class Project:
    def __init__(self, editor, folder):
        self.editor, self.folder = editor, folder
        for name, text in ("lib/shapes.dp", SHAPES), ("app/main.dp", MAIN), ("other.dp", OTHER), (".hidden/x.dp", OTHER), ("words.dp", "def x = area\n"):
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
            with open(f"{folder}/{name}", "w") as out:
                out.write(text)

    def uri(self, name):
        return f"file://{self.folder}/{name}"

    def places(self, result):
        """file:line of each location, by the last part of its path."""
        return sorted(f"{os.path.basename(r['uri'])}:{r['range']['start']['line'] + 1}" for r in result)


def across_files(p):
    t = Text(p.editor, MAIN, p.uri("app/main.dp"))
    t.ask("codeLens")
    equal("diagnostics", p.editor.diagnostics[t.uri], [])
    found = t.ask("definition", "S.‸area")["result"]
    equal("a definition in a file beside", (found["uri"], found["range"]["start"]["line"]), (p.uri("lib/shapes.dp"), 3))
    equal("an import", t.ask("definition", '"../lib/‸shapes"')["result"]["uri"], p.uri("lib/shapes.dp"))
    wanted = ["main.dp:6", "other.dp:2", "other.dp:2", "shapes.dp:4"]
    equal("references, in files that are not open too", p.places(t.ask("references", "S.‸area", context={"includeDeclaration": True})["result"]), wanted)
    hover = t.ask("hover", "S.‸area")["result"]["contents"]["value"]
    for part in "def area : {", "Of a box.", "work = ":
        if part not in hover:
            fail(f"hover over a name of another file has no {part!r}: {hover}")
    changes = t.ask("rename", "S.‸area", newName="surface")["result"]["changes"]
    equal("the files of a renaming", sorted(changes), [p.uri(name) for name in ("app/main.dp", "lib/shapes.dp", "other.dp")])
    equal("a renaming in the open file", t.edited(changes[t.uri]), MAIN.replace("area", "surface"))
    equal("a renaming elsewhere", [e["range"]["start"]["character"] for e in changes[p.uri("other.dp")]], [21, 30])
    equal("a renaming that would change a file that is not open", t.ask("rename", "S.‸area", newName="twice")["error"]["message"],
          "with this name the program would mean something else")
    # What is open stands for its file, by whatever path it is imported.
    shapes = Text(p.editor, "def height = 3\n" + SHAPES, p.uri("lib/shapes.dp"))
    t.put(MAIN.replace("S.area b", "S.height + S.area b"))
    t.ask("codeLens")
    equal("an open document imported as ../lib/shapes", [d["code"] for d in p.editor.diagnostics[t.uri]], ["E0301"])
    equal("references by both paths", p.places(shapes.ask("references", "‸area", context={"includeDeclaration": False})["result"]),
          ["main.dp:6", "other.dp:2", "other.dp:2"])
    p.editor.notify("textDocument/didClose", textDocument={"uri": shapes.uri})
    t.put(MAIN)
    labels = [i["label"] for i in complete(t, MAIN + 'import "../lib/')]
    equal("files of a folder in an import", "shapes" in labels, True)
    labels = [i["label"] for i in complete(t, MAIN + 'import "')]
    equal("files beside, and modules, in an import", ("main" in labels, "linalg" in labels), (False, True))
    t.put(MAIN.replace("S.area b", "b."))
    labels = [i["label"] for i in t.ask("completion", "{ b.‸")["result"]["items"]]
    equal("fields of a record of another file's type", labels, ["h", "w"])
    t.put(MAIN)
    items = {i["label"]: i for i in t.ask("completion", "S.‸area")["result"]["items"]}
    equal("a module's names", sorted(items), ["area", "box", "unused_here"])
    equal("documentation of one", items["area"]["documentation"], "Of a box.")
    return t


def complete(t, text):
    t.put(text)
    return t.editor.request("textDocument/completion", textDocument={"uri": t.uri}, position=t.position(len(text)))["result"]["items"]


def into_the_library(p, t):
    found = t.ask("definition", "Stats.‸median")["result"]
    path = found["uri"].replace("file://", "")
    with open(path) as source:
        line = source.read().split("\n")[found["range"]["start"]["line"]]
    equal("a definition in the library", (os.path.basename(path), line[:10]), ("stats.dp", "def median"))
    with open(path) as source, open(os.path.join(lsp.ROOT, "stdlib/stats.dp")) as original:
        equal("the library's text", source.read(), original.read())
    equal("who may write it", os.stat(path).st_mode & 0o777, 0o444)
    equal("an import of the library", t.ask("definition", '"‸stats"')["result"]["uri"], found["uri"])
    hover = t.ask("hover", "Stats.‸median")["result"]["contents"]["value"]
    for part in "def median : ", "Of an even number", "work <= ", "span <= ":
        if part not in hover:
            fail(f"hover over the library's median has no {part!r}: {hover}")
    equal("renaming a name of the library", t.ask("rename", "Stats.‸median", newName="average")["error"]["message"], "this is a name of the library")
    equal("prepareRename there", t.ask("prepareRename", "Stats.‸median")["result"], None)
    equal("references of a name of the library", "main.dp:6" in p.places(t.ask("references", "Stats.‸median", context={"includeDeclaration": False})["result"]), True)
    # The copy is the library: nothing is wrong with it, it leads on, and it cannot be renamed in.
    with open(path) as source:
        library = Text(p.editor, source.read(), found["uri"])
    library.ask("codeLens")
    equal("diagnostics of the library", p.editor.diagnostics[library.uri], [])
    equal("renaming in the copy", library.ask("rename", "def ‸median", newName="average")["error"]["message"], "this is a name of the library")
    prelude = library.ask("definition", "length")["result"]
    equal("from the library on", prelude is None or prelude["uri"].endswith("/library/prelude.dp"), True)
    p.editor.notify("textDocument/didClose", textDocument={"uri": library.uri})


def nested_calls(t):
    def help_(words):
        result = t.ask("signatureHelp", words)["result"]
        return result and (result["signatures"][0]["label"].split(" ")[0], result["activeParameter"])

    t.put(MAIN + "def f a b c = a + b + c\ndef g = f (f 1 2 3) (f (min 4 5) 6 7) [8][0]\n")
    for words, wanted in (("f ‸(f 1", ("f", 0)), ("(f 1 ‸2 3)", ("f", 1)), ("(min 4 ‸5)", ("min", 1)), ("(min 4 5) ‸6", ("f", 1)), ("6 7) ‸[8]", ("f", 2))):
        equal(f"signature at {words}", help_(words), wanted)
    t.put(MAIN)


def change(t, edits):
    """Changes of ranges: (from, to, text), each in the text that those before it leave."""
    changes = []
    for start, end, text in edits:
        changes.append({"range": {"start": t.position(start), "end": t.position(end)}, "text": text})
        t.text = t.text[:start] + text + t.text[end:]
    t.editor.notify("textDocument/didChange", textDocument={"uri": t.uri, "version": 3}, contentChanges=changes)


def typed_bit_by_bit(editor):
    """The server's text stays the editor's: what it says of names shows it."""
    random.seed(1)
    t = Text(editor, "def 𝄞 = 1\n", "file:///nowhere/typed.dp")
    t.put("-- 𝄞é\ndef first = 1 -- 𝄞\ndef last = first\n")
    for step in range(300):
        lines = [i for i, c in enumerate(t.text) if c == "\n"]
        at = random.choice(lines) + 1
        edits = [(at, at, random.choice(("-- 𝄞𝄞\n", "\n", f"def n{step} = \"𝄞\"\n", "-- é\r\n")))]
        if random.random() < 0.3:
            end = t.text.index("\n", 8) + 1
            edits.append((t.text.index("𝄞"), t.text.index("𝄞") + 1, "𝄞"))
            edits.append((end, end, "-- more\n"))
        change(t, sorted(edits, key=lambda e: -e[0]))
        if step % 20 == 0:
            place = t.ask("definition", "def last = ‸first")["result"]["range"]
            equal(f"the place of a name after {step} changes", t.at(place), "first")
    change(t, [(0, len(t.text), "def 𝄞")])
    change(t, [(len("def "), len(t.text), "only = 1\n")])
    equal("a text that was replaced", [s["name"] for s in t.ask("documentSymbol")["result"]], ["only"])
    # Beyond the text, and from behind to before.
    editor.notify("textDocument/didChange", textDocument={"uri": t.uri}, contentChanges=[
        {"range": {"start": {"line": 99, "character": 9}, "end": {"line": 99, "character": 9}}, "text": "def more = 1\n"},
        {"range": {"start": {"line": 1, "character": 4}, "end": {"line": 0, "character": 0}}, "text": "x"}, {"range": 3, "text": 4}, 5])
    equal("changes beyond the text", [s["name"] for s in t.ask("documentSymbol")["result"]], ["only", "xmore"])


def formatting(editor):
    t = Text(editor, "def  a=1\ndef  b  =  2\n-- 𝄞\ndef c   = \"x  y\"\n", "file:///nowhere/format.dp")
    edits = t.ask("rangeFormatting", range={"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}, options={})["result"]
    equal("formatting of a range", t.edited(edits), "def  a=1\ndef b = 2\n-- 𝄞\ndef c   = \"x  y\"\n")
    edits = t.ask("formatting", options={})["result"]
    equal("formatting", t.edited(edits), "def a = 1\ndef b = 2\n-- 𝄞\ndef c = \"x  y\"\n")
    equal("edits are of blanks", all(not t.at(e["range"]).strip() and not e["newText"].strip() for e in edits), True)
    for path in "examples/quickhull/quickhull.dp", "stdlib/stats.dp":
        with open(os.path.join(lsp.ROOT, path)) as source:
            wanted = source.read()
        t.put(wanted.replace("  ", "   ").replace(" =", "=").replace("(", "( ") if "quick" in path else wanted)
        formatted = subprocess.run([lsp.DPC, "fmt", "-"], input=t.text, capture_output=True, text=True).stdout
        equal(f"formatting of {path}", t.edited(t.ask("formatting", options={})["result"]), formatted)


def cancelled(editor, t):
    """Of requests that wait together, those that are taken back are not answered."""
    everything = b""
    for i in range(6):
        for message in ({"id": f"r{i}", "method": "textDocument/hover", "params": {"textDocument": {"uri": t.uri}, "position": {"line": 5, "character": 8}}},):
            content = json.dumps(dict(message, jsonrpc="2.0")).encode()
            everything += b"Content-Length: %d\r\n\r\n" % len(content) + content
    for i in 1, 4:
        content = json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": f"r{i}"}}).encode()
        everything += b"Content-Length: %d\r\n\r\n" % len(content) + content
    editor.process.stdin.write(everything)
    editor.process.stdin.flush()
    answers = {}
    while len(answers) < 6:
        message = editor.receive()
        if "id" in message:
            answers[message["id"]] = message.get("error", {}).get("code")
    equal("cancelled requests", answers, {f"r{i}": -32800 if i in (1, 4) else None for i in range(6)})
    editor.notify("$/cancelRequest", id="r1")
    editor.notify("$/cancelRequest")


def run_tests(p, t):
    """The lens' command runs the test, while the server goes on."""
    lenses = {c["command"]["arguments"][1]: c["command"] for c in t.ask("codeLens")["result"]}
    equal("lenses", sorted(lenses), ["main", "wrong"])

    def run(name):
        p.editor.last_id += 1
        wanted = p.editor.last_id
        p.editor.send(id=wanted, method="workspace/executeCommand", params={"command": lenses[name]["command"], "arguments": lenses[name]["arguments"]})
        equal("what is asked while a test runs", t.ask("hover", "S.‸area")["result"] is not None, True)
        answer = message = None
        while not (answer and message):
            got = p.editor.receive()
            answer = got if got.get("id") == wanted else answer
            message = got["params"] if got.get("method") == "window/showMessage" else message
        return answer["result"], message

    result, message = run("main")
    equal("a test that passes", (result["status"], result["output"][:9], message["type"]), (0, "1 passed,", 3))
    result, message = run("wrong")
    equal("one that fails", (result["status"], "wrong: /" in message["message"], "false for" in message["message"], "0 passed, 1 failed" in message["message"],
                              message["type"]), (1, True, True, True, 1))
    t.put(MAIN + "\n")
    answer = p.editor.request("workspace/executeCommand", command="dpc.runTest", arguments=lenses["main"]["arguments"])
    equal("a test of what is not saved", answer["error"]["message"], "the file has changes that are not saved")
    for words in [], [3, 4], ["x"], None:
        equal("a command without its words", p.editor.request("workspace/executeCommand", command="dpc.runTest", arguments=words)["error"]["code"], -32602)
    equal("another command", p.editor.request("workspace/executeCommand", command="rm", arguments=["a", "b"])["error"]["code"], -32602)
    t.put(MAIN)


def long_text(editor):
    """20,000 lines: what is typed, there and back, and a question take less of a processor than five times what `dpc check` does."""
    lines = ["def f0 (x: i64) : i64 = x"] + [f"def f{i} (x: i64) : i64 = let y = x * {i} in y + f{i // 2} x" for i in range(1, 20000)]
    t = Text(editor, "\n".join(lines) + "\n", "file:///nowhere/long.dp")
    t.ask("codeLens")

    def seconds():
        with open(f"/proc/{editor.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    least = 9.0
    for step in range(8):
        before = seconds()
        at = t.text.index("in y + f500 ")
        change(t, [(at, at + 2, "in (") if step % 2 else (at, at, " ")])
        change(t, [(at, at + 4, "in") if step % 2 else (at, at + 1, "")])
        t.ask("hover", "def ‸f900 ")
        least = min(least, seconds() - before)
    t.ask("completion", "in y + f50‸1 ")
    with tempfile.NamedTemporaryFile("w", suffix=".dp") as f:
        f.write(t.text)
        f.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([lsp.DPC, "check", f.name], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    check = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if least > 5 * check:
        fail(f"two keys take {least} s in a text of 20,000 lines, which takes {check} to check")


def neovim(folder):
    """A client that others have written."""
    if not shutil.which("nvim"):
        print("neovim is not installed: dpc lsp is not tried with its client")
        return
    Project(None, folder)
    script = os.path.join(lsp.ROOT, "tests/lsp_nvim.lua")
    environment = dict(os.environ, DPC=lsp.DPC, FOLDER=folder, ROOT=lsp.ROOT, XDG_STATE_HOME=folder, XDG_DATA_HOME=folder)
    done = subprocess.run(["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", script], env=environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120)
    if "FAILED" in done.stderr or "done" not in done.stderr:
        fail(f"with Neovim: {done.stdout}{done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        os.environ["XDG_CACHE_HOME"] = folder + "/cache" # the library's copies; tests find their kernels anew
        os.makedirs(folder + "/cache", mode=0o700)
        editor = Editor()
        p = Project(editor, folder + "/work")
        editor.request("initialize", capabilities={}, rootUri=None, workspaceFolders=[{"uri": f"file://{p.folder}", "name": "work"}])
        editor.notify("initialized")
        t = across_files(p)
        into_the_library(p, t)
        nested_calls(t)
        typed_bit_by_bit(editor)
        formatting(editor)
        cancelled(editor, t)
        run_tests(p, t)
        long_text(editor)
        editor.end()
        neovim(folder + "/nvim")


main()
sys.exit(lsp.failed > 0)
