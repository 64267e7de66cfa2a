#!/usr/bin/env python3
"""The playground in a browser (chromium), from file://, without a network. playground.py PAGE path/to/dpc [FOLDER for pictures]"""
import json
import os
import subprocess
import sys
import time

from browser import ACCESSIBLE, REACHABLE, SKIPPED, Browser, check, failures, find

PAGE, DPC = sys.argv[1], sys.argv[2]
PICTURES = sys.argv[3] if len(sys.argv) > 3 else None
EXAMPLES = ["mssp", "spmv", "quicksort", "knapsack", "nqueens", "dictionary", "quickhull", "barneshut", "wordcount", "fft"]


def wait(browser, script, seconds=30):
    """Until the script's value is one; that value, or None."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = browser.run(script)
        if value:
            return value
        time.sleep(0.02)
    check(f"waited for {script}", False, browser.run("document.getElementById('main').innerText")[:600])
    return None


def type_program(browser, text, entry_input=None):
    browser.run(f"""(() => {{ const p = document.getElementById("program"); p.value = {json.dumps(text)}; p.dispatchEvent(new Event("input"));
      const i = document.getElementById("input"); if ({json.dumps(entry_input)} !== null) {{ i.value = {json.dumps(entry_input)}; i.dispatchEvent(new Event("input")); }} }})()""")


IDLE = """["done", "stopped"].includes(document.getElementById("state").textContent)"""
SUMMARY = "document.getElementById('summary').textContent"


def run_typed(browser, text, entry_input):
    """What core and flat say."""
    type_program(browser, text, entry_input)
    browser.run("document.getElementById('state').textContent = ''; document.getElementById('run').click()")
    wait(browser, "document.getElementById('stop').disabled && document.getElementById('state').textContent !== ''")
    return [browser.run(f"(document.getElementById('result-{s}') || {{}}).textContent") for s in ("core", "flat")]


def open_page(browser, fragment=""):
    browser.send("Page.navigate", url="about:blank")
    browser.open(PAGE, fragment)
    wait(browser, IDLE)


def check_examples(browser):
    for name in EXAMPLES:
        path = f"examples/{name}/{name}.dp"
        browser.run(f"""(() => {{ document.getElementById("state").textContent = ""; const s = document.getElementById("examples");
          s.value = "{name}"; s.dispatchEvent(new Event("change")); }})()""")
        wait(browser, IDLE)
        page = path + ".html"
        native = os.path.join(browser.folder, "native.html")
        subprocess.run([DPC, "explain", path, "-o", native], check=True, timeout=60, stdout=subprocess.DEVNULL)
        with open(native, encoding="utf-8") as f:
            wanted = json.loads(f.read().split('id="data">\n')[1].split("\n</script>")[0])
        shown = browser.run("document.getElementById('result-core').textContent")
        check(f"{name}: core gives what dpc gives", shown == wanted["result"], (shown, wanted["result"]))
        shown = browser.run("document.getElementById('result-flat').textContent")
        check(f"{name}: so does flat", shown == wanted["result"], shown)
        wait(browser, f"""(() => {{ const d = document.getElementById("view").contentDocument; return d && d.getElementById("tab-run") && d.readyState === "complete"; }})()""")
        data = browser.run("""(() => { const d = JSON.parse(document.getElementById("view").contentDocument.getElementById("data").textContent);
          return { stages: d.stages.map((s) => s.marks.length), passes: d.passes.map((p) => p.lines.length), trace: d.trace.length, result: d.result, meter: d.meter }; })()""")
        check(f"{name}: the view has the same stages", data["stages"] == [len(s["marks"]) for s in wanted["stages"]], data["stages"])
        check(f"{name}: and passes", data["passes"] == [len(p["lines"]) for p in wanted["passes"]])
        check(f"{name}: and steps", data["trace"] == len(wanted["trace"]), (page, data["trace"], len(wanted["trace"])))
        check(f"{name}: and counts", all(data["meter"][k] == wanted["meter"][k] for k in ("work", "span")), data["meter"])


def check_typing(browser):
    type_program(browser, "entry main (n: i64) : i64 =\n  n + tru\n")
    wait(browser, f"{SUMMARY} === '1 error'")
    problem = browser.run("document.querySelector('#problems button').textContent")
    check("the message has its place", problem.startswith("2:7 error") and "tru" in problem, problem)
    check("it is marked in the text", browser.run("[...document.querySelectorAll('.copy .error')].map((n) => n.textContent).join()") == "tru")
    check("what is shown of the last run is said to be old", "before it was changed" in browser.run("document.getElementById('state').textContent"))
    browser.run("document.querySelector('#problems button').click()")
    check("a click goes there", browser.run("(() => { const p = document.getElementById('program'); return p.value.slice(p.selectionStart, p.selectionEnd); })()") == "tru")
    browser.run("document.getElementById('run').click()")
    wait(browser, "document.getElementById('state').textContent.startsWith('not run')")
    type_program(browser, "-- é 𝄞\nentry main (n: i64) : i64 = let é = 1 in n + true\n")
    wait(browser, f"/^\\d+ error/.test({SUMMARY})")
    type_program(browser, "entry main (n: i64) : i64 =\n  let x = 1 in n\n")
    wait(browser, f"{SUMMARY} === '1 warning'")
    check("a warning is none that stops", browser.run("document.getElementById('entry').value") == "main")
    type_program(browser, "import \"nowhere\"\nentry main (n: i64) : i64 = n\n")
    wait(browser, "/no module/.test(document.getElementById('problems').textContent)")
    type_program(browser, "")
    wait(browser, f"{SUMMARY} === 'no errors'")
    browser.run("document.getElementById('state').textContent = ''; document.getElementById('run').click()")
    wait(browser, "document.getElementById('state').textContent.startsWith('not run')")


def check_runs(browser):
    text = "entry main (a: [i64]) (i: i64) : i64 =\n  a[i] + sum a\n"
    check("a run", run_typed(browser, text, "[1, 2, 3] 1") == ["8", "8"])
    core, flat = run_typed(browser, text, "[1, 2, 3] 3")
    check("a failure has its place", core.startswith("2:4: index 3 out of bounds for length 3") and core == flat, (core, flat))
    check("arguments that are none", "expected" in run_typed(browser, text, "[1, true]")[0])
    check("too few", "parameter i is missing" in run_typed(browser, text, "[1]")[0])
    check("too many", "more values" in run_typed(browser, text, "[1] 0 0")[0])
    deep = "def f (n: i64) : i64 = if n <= 0 then 0 else (1 + f (n - 1 - n / 2000000)) % 1000003\nentry main (n: i64) : i64 = f n\n"
    check("recursion", run_typed(browser, deep, "300") == ["300", "300"])
    said = run_typed(browser, deep, "1000000")[0]
    check("endless recursion ends in a message", "too deep" in said, said)
    said = run_typed(browser, "entry main (n: i64) : [i64] = { x * x : x in iota n }\n", "3000000000")[0]
    check("what is too large ends in a message", "memory" in said, said)
    check("and the page goes on", run_typed(browser, text, "[1, 2, 3] 2") == ["9", "9"])
    nested = "entry main (n: i64) : i64 = " + "-(" * 20000 + "n" + ")" * 20000 + "\n"
    type_program(browser, nested)
    wait(browser, f"/^\\d+ error/.test({SUMMARY})")
    check("deep nesting ends in a message", "deep" in browser.run("document.getElementById('problems').textContent"), browser.run("document.getElementById('problems').textContent"))
    endless = "entry main (n: i64) : i64 = loop a = n while a >= 0 do (a + 1) % 1000\n"
    type_program(browser, endless, "1")
    browser.run("document.getElementById('run').click()")
    wait(browser, "/running on core/.test(document.getElementById('state').textContent)")
    type_program(browser, endless + "\ndef g (x: i64) : i64 = y\n")
    wait(browser, f"/^\\d+ error/.test({SUMMARY})")
    browser.run("document.getElementById('stop').click()")
    wait(browser, "document.getElementById('stop').disabled")
    check("an endless run is stopped", "stopped" in browser.run("document.getElementById('results').textContent"))
    check("and others run", run_typed(browser, text, "[4] 0") == ["8", "8"])


def check_entries_and_links(browser):
    text = "entry one (n: i64) : i64 = n + 1\nentry two (t: text) : i64 = length t\n-- test two\n-- input \"äb\"\n-- output 3\n"
    type_program(browser, text)
    wait(browser, "document.getElementById('entry').options.length === 2")
    browser.run("(() => { const e = document.getElementById('entry'); e.value = 'two'; e.dispatchEvent(new Event('change')); })()")
    check("run of another entry", run_typed(browser, text, '"äöü"') == ["6", "6"])
    address = browser.run("location.href")
    check("the address has the program", "#z=" in address, address)
    open_page(browser, "#" + address.split("#")[1])
    check("the link brings it back", browser.run("document.getElementById('program').value") == text)
    check("with the entry and the arguments", browser.run("document.getElementById('result-flat').textContent") == "6")
    plain = browser.run("encodeURIComponent(JSON.stringify({ program: 'entry main (n: i64) : i64 = 2 * n', input: '21' }))")
    open_page(browser, "#t=" + plain)
    check("a link in plain text", browser.run("document.getElementById('result-core').textContent") == "42")
    open_page(browser, "#z=AAAA")
    check("a broken link shows an example", browser.run("document.getElementById('examples').value") == "mssp")


def check_looks(browser):
    for scheme in ("light", "dark"):
        browser.look(1400, 900, scheme)
        open_page(browser)
        wrong = browser.run(ACCESSIBLE)
        check(f"accessible, {scheme}", not wrong, wrong)
        browser.picture(f"playground-{scheme}")
        type_program(browser, "entry main (n: i64) : i64 =\n  let x = 1 in n + tru\n")
        wait(browser, f"/^\\d+ error/.test({SUMMARY})")
        wrong = browser.run(ACCESSIBLE)
        check(f"accessible with errors, {scheme}", not wrong, wrong)
        browser.picture(f"playground-error-{scheme}")
    check("all is reached by the keyboard", not browser.run(REACHABLE), browser.run(REACHABLE))
    for width in (1400, 1000, 700):
        browser.look(width, 900)
        wide = browser.run("document.documentElement.scrollWidth")
        check(f"fits into {width}", wide <= width, wide)
    browser.picture("playground-narrow")
    browser.look(1400, 900)
    browser.run("document.getElementById('wide').click()")
    check("the view alone", browser.run("document.getElementById('program').getClientRects().length") == 0)


def main():
    if not os.path.exists(PAGE):
        print(f"playground: skipped: {PAGE} was not built (cmake --build build --target playground, which needs emscripten)")
        return SKIPPED
    chromium = find()
    if not chromium:
        print("playground: skipped: no chromium is here")
        return SKIPPED
    browser = Browser(chromium, PICTURES)
    try:
        browser.look(1400, 900)
        open_page(browser)
        check_examples(browser)
        check_typing(browser)
        check_runs(browser)
        check_entries_and_links(browser)
        check_looks(browser)
        wrong = [e for e in browser.errors() if not str(e).startswith("blob:")]
        check("no error, and nothing asked of a network", not wrong, json.dumps(wrong[:2])[:600])
    finally:
        browser.close()
    print("playground:", "FAILED" if failures else "ok")
    return 1 if failures else 0


sys.exit(main())
