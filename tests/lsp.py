#!/usr/bin/env python3
"""dpc lsp: a scripted editor. lsp.py DPC

Each feature on a small program; texts with characters of one to four bytes; messages that are none; and every prefix of
programs, which has to be answered, and to say what is wrong with it."""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

DPC = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
failed = 0


def fail(what):
    global failed
    failed += 1
    print("FAILED:", what)


class Editor:
    def __init__(self):
        self.process = subprocess.Popen([DPC, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0
        self.diagnostics = {}  # by URI, the last

    def send_raw(self, content):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def send(self, **message):
        self.send_raw(json.dumps(dict(message, jsonrpc="2.0"), ensure_ascii=random.random() < 0.5).encode())

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the server has ended with {self.process.wait()}")
            if line == b"\r\n":
                break
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def request(self, method, **params):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        while True:
            message = self.receive()
            if message.get("id") == self.last_id:
                return message

    def notify(self, method, **params):
        self.send(method=method, params=params)

    def end(self):
        self.request("shutdown")
        self.notify("exit")
        if self.process.wait(30) != 0:
            fail("the status is not 0")


class Text:
    """An open document."""

    def __init__(self, editor, text, uri="file:///nowhere/a%20b/x.dp"):
        self.editor, self.uri = editor, uri
        self.put(text, "didOpen")

    def put(self, text, method="didChange"):
        self.text = text
        if method == "didOpen":
            self.editor.notify("textDocument/didOpen", textDocument={"uri": self.uri, "languageId": "dp", "version": 1, "text": text})
        else:
            self.editor.notify("textDocument/didChange", textDocument={"uri": self.uri, "version": 2}, contentChanges=[{"text": text}])

    def position(self, index):
        line = self.text.count("\n", 0, index)
        before = self.text[self.text.rfind("\n", 0, index) + 1:index]
        return {"line": line, "character": len(before.encode("utf-16-le")) // 2}

    def index(self, words, nth=0):
        """Where ‸ stands in the words, of which it is the nth occurrence."""
        offset, words = max(words.find("‸"), 0), words.replace("‸", "")
        at = -1
        for _ in range(nth + 1):
            at = self.text.index(words, at + 1)
        return at + offset

    def ask(self, method, words=None, nth=0, **params):
        if words is not None:
            params["position"] = self.position(self.index(words, nth))
        return self.editor.request("textDocument/" + method, textDocument={"uri": self.uri}, **params)

    def places(self, result):
        """The texts at the ranges, with their lines from 1 on."""
        return sorted((r["range"]["start"]["line"] + 1, self.at(r["range"])) for r in result)

    def at(self, range_):
        lines = self.text.split("\n")
        if range_["start"]["line"] != range_["end"]["line"]:
            return "\n".join(lines[range_["start"]["line"]:range_["end"]["line"]])
        line = lines[range_["start"]["line"]].encode("utf-16-le")
        return line[2 * range_["start"]["character"]:2 * range_["end"]["character"]].decode("utf-16-le")

    def edited(self, edits):
        """The text with the edits."""
        lines = self.text.split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode("utf-16-le")) // 2 + 1)
        units = self.text.encode("utf-16-le")
        for e in sorted(edits, key=lambda e: (-e["range"]["start"]["line"], -e["range"]["start"]["character"])):
            a, b = (starts[p["line"]] + p["character"] for p in (e["range"]["start"], e["range"]["end"]))
            units = units[:2 * a] + e["newText"].encode("utf-16-le") + units[2 * b:]
        return units.decode("utf-16-le")


PROGRAM = '''import "linalg" as L
type point = {x: f64, y: f64}
--| How far it is, äöü 𝄞.
def norm (p: point) = sqrt (p.x * p.x + p.y * p.y)
def shift k {x, y} = let z = x + k in {x = z, y}
def matrix (n: i64) (m: [n]f64) = L.norm m + f64 n
-- test main
-- input  [] 1
-- output []
entry main (ps: [point]) (k: f64) : [f64] = { norm (shift k q) : q in ps } -- 𝄞
entry other (xs: [f64]) = (matrix (length xs) xs, "𝄞", xs)
-- property always
def always (b: bool) = b || !b
'''


def equal(what, got, wanted):
    if got != wanted:
        fail(f"{what}:\n  {got}\nbut wanted\n  {wanted}")


def hovers(t):
    def hover(words, nth=0):
        result = t.ask("hover", words, nth)["result"]
        return result and result["contents"]["value"]

    got = hover("norm (sh")
    for part in "```dp\ndef norm : {x: f64, y: f64} -> f64\n```", "How far it is, äöü 𝄞.", "work = 4", "span = 4":
        if part not in got:
            fail(f"hover of norm has no {part!r}: {got}")
    equal("hover of a parameter", hover("shift k q) : ‸q"), "```dp\nq : {x: f64, y: f64}\n```")
    equal("hover of a builtin", hover("sqrt"), "```dp\nsqrt x : 'f -> 'f\n```")
    equal("hover behind a character of two units", hover('"𝄞", ‸xs'), "```dp\nxs : [f64]\n```")
    equal("hover of a field", hover("p.‸x"), "```dp\nf64\n```")
    equal("hover of a type", hover("ps: [‸point"), "```dp\ntype point = {x: f64, y: f64}\n```")
    equal("hover of a comment", hover("output"), None)
    if "norm" not in (hover("L.‸norm") or ""):
        fail("hover of a qualified name")


def places(t):
    one = lambda result: result and (result["range"]["start"]["line"] + 1, t.at(result["range"]))
    equal("definition", one(t.ask("definition", "norm (sh")["result"]), (4, "norm"))
    equal("definition of a local name", one(t.ask("definition", "x = ‸z")["result"]), (5, "z"))
    equal("definition of a type", one(t.ask("definition", "[‸point]")["result"]), (2, "point"))
    equal("definition of a parameter by a size", one(t.ask("definition", "[‸n]")["result"]), (6, "n"))
    equal("definition of a builtin", t.ask("definition", "sqrt")["result"], None)
    equal("references", t.places(t.ask("references", "‸norm (p", context={"includeDeclaration": True})["result"]), [(4, "norm"), (10, "norm")])
    equal("references without it", t.places(t.ask("references", "‸norm (p", context={"includeDeclaration": False})["result"]), [(10, "norm")])
    equal("highlights", t.places(t.ask("documentHighlight", "‸n: i64")["result"]), [(6, "n"), (6, "n"), (6, "n")])
    equal("symbols", [s["name"] for s in t.ask("documentSymbol")["result"]], ["point", "norm", "shift", "matrix", "main", "other", "always"])
    equal("lenses", [(c["range"]["start"]["line"] + 1, c["command"]["arguments"][1]) for c in t.ask("codeLens")["result"]],
          [(7, "main"), (12, "always")])
    equal("lens", t.ask("codeLens")["result"][0]["command"]["arguments"][0], "/nowhere/a b/x.dp")


def rename(t, words, name, wanted):
    answer = t.ask("rename", words, newName=name)
    got = answer["error"]["message"] if "error" in answer else t.edited(answer["result"]["changes"][t.uri])
    equal(f"rename of {words} to {name}", got, wanted)


def renames(t):
    equal("prepareRename", t.ask("prepareRename", "‸norm (p")["result"]["placeholder"], "norm")
    equal("prepareRename of a builtin", t.ask("prepareRename", "sqrt")["result"], None)
    rename(t, "‸norm (p", "length'", PROGRAM.replace("norm (", "length' ("))
    rename(t, "{‸x, y} =", "a", PROGRAM.replace("{x, y} = let z = x", "{x = a, y} = let z = a"))
    rename(t, "x = ‸z", "w", PROGRAM.replace("let z", "let w").replace("x = z", "x = w"))
    rename(t, "let ‸z", "y", "with this name the program would mean something else")
    rename(t, "x, ‸y} =", "b", PROGRAM.replace("{x, y} =", "{x, y = b} =").replace("x = z, y}", "x = z, y = b}"))
    rename(t, "‸n: i64", "count", PROGRAM.replace("(n: i64) (m: [n]f64) = L.norm m + f64 n", "(count: i64) (m: [count]f64) = L.norm m + f64 count"))
    rename(t, "type ‸point", "vector", PROGRAM.replace("point", "vector"))
    rename(t, "‸norm (p", "shift", "with this name the program would mean something else")
    rename(t, "‸norm (p", "def", "this is not a name")
    rename(t, "‸norm (p", "a b", "this is not a name")
    rename(t, "sqrt", "root", "nothing here can be renamed")


def completions(t):
    def labels(words, nth=0):
        return [i["label"] for i in t.ask("completion", words, nth)["result"]["items"]]

    got = labels("no‸rm (sh")
    for name in "norm", "shift", "ps", "k", "point", "sum", "map", "let", "L", "i32":
        if name not in got:
            fail(f"completion has no {name}: {got}")
    for name in "z", "reduce__", "equal_text__":
        if name in got:
            fail(f"completion has {name}")
    equal("completion of fields", labels("p.‸x"), ["x", "y"])
    if "solve" not in labels("L.‸norm"):
        fail("completion of a module's names")
    # While the text is broken.
    t.put(PROGRAM.replace("norm (shift k q)", "norm q."))
    equal("completion of fields of a broken text", labels("q.‸"), ["x", "y"])
    t.put(PROGRAM + 'import "li')
    if "linalg" not in labels('import "li‸'):
        fail("completion of modules")
    t.put(PROGRAM + "type t = #leaf | #node i64\ndef a : t = #leaf")
    t.ask("codeLens")
    t.put(PROGRAM + "type t = #leaf | #node i64\ndef a (t: t) = match t case #")
    equal("completion of constructors", labels("case #‸"), ["leaf", "node"])
    t.put(PROGRAM)


def signatures(t):
    def help_(words):
        result = t.ask("signatureHelp", words)["result"]
        return result and (result["signatures"][0]["label"], result["activeParameter"])

    equal("signature", help_("shift ‸k q"), ("shift (k: a) {x, y} : {x: a, y: b}", 0))
    equal("signature, second argument", help_("shift k ‸q"), ("shift (k: a) {x, y} : {x: a, y: b}", 1))
    equal("no signature", help_("def ‸shift"), None)
    t.put(PROGRAM + "def f (xs: [f64]) = reduce (+) ")
    equal("signature of a builtin", help_("reduce (+) ‸"), ("reduce op neutral xs : ('a -> 'a -> 'a) -> 'a -> ['a] -> 'a", 1))
    t.put(PROGRAM)


def formats(t):
    t.put("def  f   x=x+1 -- 𝄞\n")
    equal("formatting", t.edited(t.ask("formatting", options={})["result"]), "def f x = x+1  -- 𝄞\n")
    t.put("def f (")
    equal("formatting of a broken text", t.ask("formatting", options={})["result"], None)
    t.put(PROGRAM)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    hints = {(h["position"]["line"] + 1, h["label"]) for h in t.ask("inlayHint", range=everything)["result"]}
    for hint in (4, ": f64"), (5, ": a"), (11, ": (f64, text, [f64])"), (13, ": bool"):
        if hint not in hints and hint != (11, ": (f64, text, [f64])"):
            fail(f"no hint {hint}: {hints}")


def diagnostics(editor, t):
    def said():
        t.ask("codeLens")
        return [(d["range"]["start"]["line"] + 1, t.at(d["range"]), d.get("code"), d["severity"]) for d in editor.diagnostics[t.uri]]

    t.put(PROGRAM)
    equal("no diagnostics", said(), [])
    t.put('def s = "𝄞" ++ 1\n')
    equal("an error behind a character of two units", said(), [(1, "1", "E0301", 1)])
    t.put("entry main (n: i64) = let unused = 3 in n\n")
    equal("a warning", said(), [(1, "unused", "W0201", 2)])
    t.put("def f (x: i64) = x + true\ndef g = (\n")
    equal("an error of grammar", [d[2:] for d in said()], [("E0101", 1)])
    note = t.put("def f (x: i64) = x + true\n") or said() and editor.diagnostics[t.uri][0]["relatedInformation"][0]
    equal("a note", (note["location"]["uri"], note["location"]["range"]["start"]), (t.uri, {"line": 0, "character": 7}))
    t.put('import "nowhere"\n')
    equal("a missing module", said(), [(1, 'import "nowhere"', "E0212", 1)])
    # The place of what is wrong in an imported file is the import; what is open stands for the file.
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/other.dp", "w") as out:
            out.write("def three = 3\n")
        x = Text(editor, 'import "other"\nentry main (n: i64) = n + three\n', f"file://{folder}/x.dp")
        x.ask("codeLens")
        equal("imports", editor.diagnostics[x.uri], [])
        definition = x.ask("definition", "n + ‸three")["result"]
        equal("a definition in another file", (definition["uri"], definition["range"]["start"]["line"]), (f"file://{folder}/other.dp", 0))
        other = Text(editor, "def four = 3\n", f"file://{folder}/other.dp")
        x.ask("codeLens")
        equal("a name that the open file does not have", [d["code"] for d in editor.diagnostics[x.uri]], ["E0201"])
        other.put("def three = 3 + true\n")
        x.ask("codeLens")
        message = editor.diagnostics[x.uri][0]
        if "other.dp:1:17: expected a number" not in message["message"] or message["range"]["start"]["line"] != 0:
            fail(f"an error in an imported file: {message}")
        other.put("def three = 3\n")
        changes = other.ask("rename", "‸three", newName="trois")["result"]["changes"]
        equal("rename over files", (other.edited(changes[other.uri]), x.edited(changes[x.uri])),
              ("def trois = 3\n", 'import "other"\nentry main (n: i64) = n + trois\n'))
        editor.notify("textDocument/didClose", textDocument={"uri": x.uri})
        editor.notify("textDocument/didClose", textDocument={"uri": other.uri})
        t.ask("codeLens")
        equal("diagnostics of what was closed", editor.diagnostics[x.uri], [])


def nonsense(editor, t):
    for content in b"", b"{", b"[1, 2]", b'"text"', b"\xff\xfe", b'{"jsonrpc": "2.0", "id": {}, "method": 3}', b"[" * 5000, b'{"id":9,"method":"\\u"}':
        editor.send_raw(content)
        message = editor.receive()
        while "method" in message:
            message = editor.receive()
        if "error" not in message:
            fail(f"{content[:40]!r} is answered by {message}")
    equal("an unknown method", editor.request("nothing/ofThatKind")["error"]["code"], -32601)
    editor.notify("nothing/ofThatKind")
    editor.notify("textDocument/didChange", textDocument={"uri": t.uri}, contentChanges=[])
    editor.notify("textDocument/didClose", textDocument={"uri": "file:///not/open.dp"})
    equal("not open", editor.request("textDocument/hover", textDocument={"uri": "file:///not/open.dp"})["error"]["code"], -32803)
    for position in {"line": 10**12, "character": 0}, {"line": 0, "character": 10**12}, {"line": -1, "character": -5}, {}, None, [1]:
        for method in METHODS:
            answer = editor.request("textDocument/" + method, textDocument={"uri": t.uri}, position=position, newName=3)
            if "result" not in answer and "error" not in answer:
                fail(f"{method} at {position}: {answer}")


METHODS = ["hover", "definition", "references", "documentHighlight", "documentSymbol", "prepareRename", "rename", "completion",
           "signatureHelp", "formatting", "inlayHint", "codeLens"]


def prefixes(editor, path, every):
    """Each prefix is asked about, at its end."""
    with open(os.path.join(ROOT, path)) as source:
        text = source.read()
    t = Text(editor, "", "file://" + os.path.join(ROOT, path))
    wrong = 0
    for n in range(0, len(text), every):
        t.put(text[:n])
        t.ask(METHODS[n // every % len(METHODS)], "‸", newName="fresh")
        end = t.position(n)
        editor.request("textDocument/completion", textDocument={"uri": t.uri}, position=end)
        editor.request("textDocument/signatureHelp", textDocument={"uri": t.uri}, position=end)
        wrong += any(d["severity"] == 1 for d in editor.diagnostics[t.uri])
    t.put(text)
    t.ask("codeLens")
    if any(d["severity"] == 1 for d in editor.diagnostics[t.uri]):
        fail(f"{path}: {editor.diagnostics[t.uri]}")
    if not wrong:
        fail(f"{path}: no prefix has an error")
    editor.notify("textDocument/didClose", textDocument={"uri": t.uri})


def main():
    editor = Editor()
    capabilities = editor.request("initialize", capabilities={})["result"]["capabilities"]
    for name in "hover", "definition", "references", "rename", "completion", "signatureHelp", "documentFormatting", "inlayHint", "codeLens":
        if not capabilities.get(name + "Provider"):
            fail(f"no {name}Provider")
    editor.notify("initialized")
    t = Text(editor, PROGRAM)
    for part in hovers, places, renames, completions, signatures, formats:
        part(t)
    diagnostics(editor, t)
    t.put(PROGRAM)
    nonsense(editor, t)
    prefixes(editor, "examples/spmv/spmv.dp", 1)
    prefixes(editor, "tests/run/elaborate_matches.dp", 5)
    for path in sorted(glob.glob(ROOT + "/examples/*/*.dp") + glob.glob(ROOT + "/stdlib/[a-o]*.dp")):
        prefixes(editor, os.path.relpath(path, ROOT), 1 + os.path.getsize(path) // 11)
    editor.end()
    # Without shutdown, and without exit.
    editor = Editor()
    editor.process.stdin.close()
    equal("the status without shutdown", editor.process.wait(30), 1)


if __name__ == "__main__":
    main()
    sys.exit(failed > 0)
