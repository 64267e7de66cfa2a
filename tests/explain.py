#!/usr/bin/env python3
"""dpc explain: its pages, and with a browser (chromium) what they do. explain.py path/to/dpc [FOLDER for pictures]"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from browser import ACCESSIBLE, REACHABLE, SKIPPED, Browser, check, failures, find

DPC = sys.argv[1]
PICTURES = sys.argv[2] if len(sys.argv) > 2 else None
SCRATCH = tempfile.mkdtemp()
PROGRAMS = ["spmv", "quickhull", "quicksort", "radixsort", "segscan", "collatz", "wordcount", "barneshut", "bfs", "mandelbrot", "life"]


# ---- the pages ----

made = 0


def page_of(path, words=(), status=0):
    global made
    made += 1
    page = os.path.join(SCRATCH, f"{made}-{os.path.basename(path)}.html")
    run = subprocess.run([DPC, "explain", path, *words, "-o", page], capture_output=True, text=True, timeout=60)
    check(f"{path} {words}: status {run.returncode}", run.returncode == status, run.stderr)
    return page if os.path.exists(page) else None, run.stderr


def data_of(page):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    found = re.search(r'<script type="application/json" id="data">\n(.*?)\n</script>', text, re.S)
    return json.loads(found.group(1)), text


def check_page(name):
    path = f"examples/{name}/{name}.dp"
    page, _ = page_of(path)
    data, text = data_of(page)
    check(f"{name}: less than 3 MB", len(text) < 3_000_000, len(text))
    check(f"{name}: nothing from elsewhere", not re.search(r'(?:src|href)="', text))
    check(f"{name}: seven stages", [s["name"] for s in data["stages"]] == ["types", "core", "fused", "flat", "plan", "kernels"])
    for s in data["stages"]:
        marks = s["marks"]
        check(f"{name}: {s['name']} has marks, in order", marks and marks == sorted(marks, key=lambda m: m[0]))
        check(f"{name}: places are in files", all(0 <= m[3] <= m[4] for m in marks))
    steps = [e for e in data["trace"] if e["event"] == "step"]
    flat = {m[6] for s in data["stages"] if s["name"] == "flat" for m in s["marks"]}
    check(f"{name}: each step's statement is marked in flat", {e["statement"] for e in steps} <= flat)
    check(f"{name}: it was run", data["result"] is not None and data["trace"][-1]["event"] == "result")
    return page


def program(name, text):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def check_special_programs():
    path = program("bad.dp", "entry main (n: i64) : i64 = n + true\n")
    page, message = page_of(path, status=2)
    check("a bad program has no page, and the message of dpc build", page is None and "bad.dp:1:" in message, message)
    path = program("text.dp", '-- </script><!-- \u2028 é 𝄞 & "x"\nentry main (s: text) : text = s ++ "</script>"\n')
    page, _ = page_of(path, ['"<!--</script>&"'])
    data, text = data_of(page)
    check("what looks like the end of the script does not end it", text.count("</script>") == 2, text.count("</script>"))
    check("the texts come through", "</script>" in data["result"])
    path = program("library.dp", "def twice (x: i64) : i64 = 2 * x\n")
    page, _ = page_of(path)
    check("a library is not run", data_of(page)[0]["trace"] == [])
    path = program("untested.dp", "entry main (n: i64) : i64 = n\n")
    page, _ = page_of(path)
    check("without arguments and tests nothing is run", data_of(page)[0]["trace"] == [])
    page_of(path, ["x"], status=2)
    page, _ = page_of("examples/spmv/spmv.dp", ["[[(7, 2)]]", "[1]"])
    data, _ = data_of(page)
    check("a failing run is shown", data["result"] is None and data["trace"][-1]["message"] == "index 7 out of bounds for length 1")
    path = program("long.dp", "entry main (n: i64) : i64 = loop a = 0 for i < n do a + sum (sort { x : x in i % 9 })\n")
    page, _ = page_of(path, ["50000"])
    data, text = data_of(page)
    check("a long run is cut", data["trace"][-2]["event"] == "cut" and len(text) < 3_000_000, len(text))
    run = subprocess.run([DPC, "explain", path, "1", "-o", path], capture_output=True, text=True, timeout=60)
    check("the source is not replaced", run.returncode == 2 and open(path, encoding="utf-8").read().startswith("entry"))


TABS = ("stages", "passes", "run", "cost")


def choose(browser, tab):
    browser.run(f"document.getElementById('tab-{tab}').click()")


def check_in_browser(browser, name, page):
    browser.look(1280, 900)
    browser.open(page)
    check(f"{name}: no error", not browser.errors(), browser.errors()[:2])
    for tab in TABS:
        choose(browser, tab)
        for width in (1280, 800):
            browser.look(width, 900)
            wide = browser.run("document.documentElement.scrollWidth")
            check(f"{name}: {tab} fits into {width}", wide <= width, wide)
        browser.look(1280, 900)
    choose(browser, "run")
    steps = browser.run("Number(document.getElementById('step').max)")
    for n in range(0, steps + 1, max(1, steps // 150)):  # and each frame of what it draws
        browser.run(f"""(() => {{ const s = document.getElementById("step"); s.value = {n}; s.dispatchEvent(new Event("input"));
          const next = document.querySelector(".frames button:last-child"); for (let i = 0; next && i < 4; i++) next.click(); }})()""")
    browser.run("document.querySelector('[aria-label=\"last step\"]').click()")
    shown = browser.run("document.getElementById('result').textContent")
    check(f"{name}: the slider reaches the result", shown == data_of(page)[0]["result"], shown)
    check_core_run(browser, name, page)
    check(f"{name}: no error in the run", not browser.errors(), json.dumps(browser.errors()[:1])[:400])


def check_core_run(browser, name, page):
    """Beside flat's run stands core's; from each one gets to the other."""
    browser.run("""(() => { const s = document.getElementById("step"); for (let n = 0; n <= Number(s.max); n++) {
      s.value = n; s.dispatchEvent(new Event("input"));
      const there = document.querySelector("#view-run .run:not([hidden]) .beside-list button"); if (there) return there.click(); } })()""")
    check(f"{name}: a step of flat leads to core's", browser.run("document.getElementById('run-core').checked"))
    check(f"{name}: which is marked in core", browser.run("document.querySelectorAll('#view-run .pane[data-stage=core] .now').length") > 0)
    check(f"{name}: and leads back", browser.run("document.querySelectorAll('#view-run .run:not([hidden]) .beside-list button').length") > 0)
    browser.run("""(() => { const s = document.getElementById("step-core"), max = Number(s.max), by = Math.max(1, Math.floor(max / 100));
      for (let n = 0; n <= max; n += by) { s.value = n; s.dispatchEvent(new Event("input")); } s.value = max; s.dispatchEvent(new Event("input")); })()""")
    shown = browser.run("(document.getElementById('result-core') || {}).textContent")
    check(f"{name}: core's run ends with the same result", shown == data_of(page)[0]["result"], shown)
    browser.run("document.getElementById('run-flat').click()")


def check_long_lines(browser, page):
    """Lines of stages wrap: no pane scrolls sideways, and no text is lost."""
    browser.look(1280, 900)
    browser.open(page)
    texts = browser.run("""(() => { for (const b of document.querySelectorAll(".chips input[type=checkbox]")) if (!b.checked) b.click();
      return [...document.querySelectorAll("#view-stages .pane")].map((p) => { const pre = p.querySelector("pre");
        return [p.dataset.stage, pre.scrollWidth - pre.clientWidth, pre.textContent === document.querySelector(`#stage-${p.dataset.stage} pre`).textContent]; }); })()""")
    for stage, beyond, whole in texts:
        check(f"{stage} does not scroll sideways", beyond <= 0, beyond)
        check(f"{stage} has all its text", whole)


def check_sorts(browser):
    """Radix sorts of large, negative and real keys are drawn to the end: what the last pass gives is sorted."""
    for keys in ("[70000, 3, 4294967296, 12, 9007199254740991, 3]", "[-5, 100000, -70000, 0]", "[1.5, -2.0, 1000000.0, 0.25, -0.5]"):
        real = "." in keys
        path = program("sorted.dp", f"entry main (a: [{'f64' if real else 'i64'}]) : [i64] = argsort a\n")
        page, _ = page_of(path, [keys])
        browser.open(page)
        choose(browser, "run")
        row = browser.run("""(() => { const s = document.getElementById("step"); let last = null;
          for (let n = 0; n <= Number(s.max); n++) { s.value = n; s.dispatchEvent(new Event("input"));
            if (document.querySelector("#view-run .kind").textContent !== "argsort") continue;
            const back = document.querySelector(".frames button"); if (back) back.click();
            const svg = document.querySelector("#view-run .primitive svg"); if (!svg) continue;
            const labels = [...svg.querySelectorAll("text.label")], sorted = labels.find((l) => l.textContent === "sorted by it"), y = sorted && sorted.getAttribute("y");
            last = [...svg.querySelectorAll(".cell text")].filter((t) => t.getAttribute("y") === y).map((t) => t.parentNode.querySelector("title") ? t.textContent : t.textContent); }
          return last; })()""")
        wanted = sorted(json.loads(keys))
        got = [float(x) for x in row or [] if "…" not in x]
        check(f"a sort of {keys} is drawn", got == [x for x in wanted if len(str(x)) <= 13] and len(row) == len(wanted), row)


def check_links(browser, page):
    browser.open(page)
    hits = """(from) => { const at = (s) => document.querySelector(`#view-stages .pane[data-stage=${s}]`);
      const part = [...at(from).querySelectorAll("span:not(.line)")].find((s) => from === "source" ? s.textContent.includes("*") : / = mul /.test(s.textContent) && !s.textContent.includes("\\n"));
      part.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      return ["source", "core", "fused", "flat", "kernels"].map((s) => [...at(s).querySelectorAll(".hit")].map((n) => n.textContent).join("|")); }"""
    for start in ("source", "flat"):
        source, *others = browser.run(f"({hits})('{start}')")
        check(f"from {start}: the source is marked", "*" in source, source)
        check(f"from {start}: every stage is marked", all("mul" in x for x in others), others)
    browser.run(f"({hits})('source')")
    browser.run("document.querySelector('#view-stages .pane[data-stage=source] .hit').click()")
    browser.run("for (const s of document.querySelectorAll('.pane span:not(.line)')) s.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))")
    check("pointing anywhere is no error", not browser.errors(), json.dumps(browser.errors()[:1])[:400])
    check("a click keeps it marked", browser.run("document.querySelectorAll('.pinned').length") > 1)


def check_keyboard(browser, page):
    browser.open(page)
    for _ in range(4):
        browser.key("Tab")
        if browser.run("document.activeElement.id") == "tab-stages":
            break
    browser.key("ArrowRight")
    browser.key("ArrowRight")
    check("arrows go from tab to tab", browser.run("document.activeElement.id") == "tab-run")
    for _ in range(30):
        browser.key("Tab")
        if browser.run("document.activeElement.id") == "step":
            break
    browser.key("End")
    check("the slider's End is the result", browser.run("Boolean(document.getElementById('result'))"))
    choose(browser, "stages")
    browser.run("document.querySelector('#view-stages .pane[data-stage=core] pre').focus()")
    for _ in range(4):
        browser.key("ArrowDown")
    browser.key("Enter", "\r")
    check("arrows and Enter mark a part in all stages", browser.run("document.querySelectorAll('#view-stages .pane[data-stage=flat] .pinned').length") > 0)
    browser.key("Escape")
    check("Escape lets go", browser.run("document.querySelectorAll('.pinned').length") == 0)
    for tab in TABS:
        choose(browser, tab)
        check(f"{tab}: all is reached", not browser.run(REACHABLE), browser.run(REACHABLE))


def check_looks(browser, name, page):
    for scheme in ("light", "dark"):
        browser.look(1280, 900, scheme)
        browser.open(page)
        for tab in TABS:
            choose(browser, tab)
            if tab == "run":
                browser.run("(() => { const s = document.getElementById('step'); s.value = Math.min(5, s.max); s.dispatchEvent(new Event('input')); })()")
            wrong = browser.run(ACCESSIBLE)
            check(f"{name}: {tab}, {scheme}", not wrong, wrong)
            browser.picture(f"{name}-{tab}-{scheme}")
    browser.look(1280, 900, media="print")
    check("printed, the stages are there as text", browser.run("document.querySelector('#text').getClientRects().length") == 1)


def check_scripts():
    folder = "compiler/explain/page"
    for name in sorted(os.listdir(folder)) if shutil.which("node") else []:
        if name.endswith(".js"):
            run = subprocess.run(["node", "--check", os.path.join(folder, name)], capture_output=True, text=True, timeout=60)
            check(f"{name} is JavaScript", run.returncode == 0, run.stderr)


def main():
    check_scripts()
    pages = {name: check_page(name) for name in PROGRAMS}
    check_special_programs()
    chromium = find()
    if not chromium:
        print("explain:", "FAILED" if failures else "ok; no chromium is here: what the pages do was not tested")
        return 1 if failures else SKIPPED
    browser = Browser(chromium, PICTURES)
    try:
        for name, page in pages.items():
            check_in_browser(browser, name, page)
        check_links(browser, pages["spmv"])
        check_long_lines(browser, pages["quickhull"])
        check_sorts(browser)
        check_keyboard(browser, pages["spmv"])
        check_looks(browser, "quickhull", pages["quickhull"])
    finally:
        browser.close()
    print("explain:", "FAILED" if failures else "ok")
    return 1 if failures else 0


status = main()
shutil.rmtree(SCRATCH)
sys.exit(status)
