// The page: what is typed is checked at once, run on request, and shown as dpc explain shows it.

const AFTER_TYPING = 250; // milliseconds
const LONGEST_CHECK = 20000;
const STAGES = ["core", "flat"];
const FIRST_EXAMPLE = "mssp";

/** Positions in the text of a diagnostic's place, or null: {from, to}. */
function rangeOf(text, d) {
  if (d.file !== "program.dp") return null;
  const lines = text.split("\n");
  const at = (line, column) => {
    const before = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    return before + byteOffsets(lines[line - 1] || "")(column - 1);
  };
  const from = Math.min(at(d.line, d.column), text.length), to = Math.min(at(d.end_line, d.end_column), text.length);
  return { from, to: Math.max(to, Math.min(from + 1, text.length)) };
}

class Playground {
  constructor() {
    this.checker = new Compiler();
    this.runner = new Compiler();
    this.entries = [];
    this.linked = null; // the link that the page has written itself
    this.inputIsTyped = false;
    this.timer = null;
    this.checks = this.runs = 0;
    this.editor = new Editor(() => this.typed());
    this.build();
  }

  build() {
    const button = (id, word, f) => el("button", { type: "button", id, onclick: f }, word);
    this.problems = el("ul", { id: "problems", class: "problems", "aria-live": "polite" });
    this.summary = el("p", { class: "summary", role: "status", id: "summary" });
    this.entry = el("select", { id: "entry", "aria-label": "entry", onchange: () => this.chooseEntry() });
    this.input = el("textarea", { id: "input", rows: 2, spellcheck: "false", oninput: () => (this.inputIsTyped = true) });
    this.signature = el("code", { id: "signature" });
    this.runButton = button("run", "Run", () => this.run());
    this.stopButton = button("stop", "Stop", () => this.runner.stop());
    this.stopButton.disabled = true;
    this.state = el("span", { class: "state", role: "status", id: "state" });
    this.results = el("div", { id: "results", class: "results" });
    this.frame = el("iframe", { id: "view", title: "what the compiler makes of the program, and its run" });
    this.frame.addEventListener("load", () => this.viewLoaded());
    this.examples = this.exampleList();
    this.wide = button("wide", "view only", () => this.toggleWide());
    this.wide.setAttribute("aria-pressed", "false");
    this.theme = themeButton();
    this.theme.addEventListener("click", () => this.colourView());
    document.getElementById("top").append(el("label", { for: "examples" }, "Example ", this.examples), button("link", "copy link", () => this.copyLink()), this.wide, this.theme);
    document.getElementById("main").replaceChildren(el("div", { class: "two" },
      el("section", { class: "left", "aria-label": "program" }, this.editor.root, this.summary, this.problems,
        el("div", { class: "card" }, el("p", { class: "entryline" }, this.entry, " ", this.signature), el("label", { for: "input" }, "Arguments, literals one after another"), this.input,
          el("div", { class: "runline" }, this.runButton, this.stopButton, this.state)), this.results),
      el("section", { class: "right", "aria-label": "view" }, this.frame)));
    document.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) this.run(), e.preventDefault();
    });
    window.addEventListener("hashchange", () => location.hash !== this.linked && this.open());
  }

  exampleList() {
    const texts = [...document.querySelectorAll("script.example")];
    this.texts = new Map(texts.map((n) => [n.dataset.name, n.textContent.replace(/^\n/, "")]));
    const list = el("select", { id: "examples", onchange: () => list.value && this.take({ program: this.texts.get(list.value), entry: "", input: "" }, list.value) });
    list.append(el("option", { value: "" }, "—"), ...[...this.texts.keys()].sort().map((name) => el("option", { value: name }, name)));
    return list;
  }

  /** What the address says; else an example. */
  async open() {
    const typed = await readLink(location.hash);
    if (typed) return this.take(typed, "");
    return this.take({ program: this.texts.get(FIRST_EXAMPLE), entry: "", input: "" }, FIRST_EXAMPLE);
  }

  /** A program from elsewhere is checked and run at once. */
  async take(typed, example) {
    this.editor.text = typed.program;
    this.input.value = typed.input;
    this.inputIsTyped = typed.input !== "";
    this.wantedEntry = typed.entry;
    this.examples.value = example;
    this.runner.stop();
    if (await this.check()) await this.run();
  }

  typed() {
    this.examples.value = "";
    if (this.state.textContent === "done") this.state.textContent = "what is shown is of the program before it was changed";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), AFTER_TYPING);
  }

  /** Can the program, as it is now, be run? */
  async check() {
    const { text } = this.editor, number = ++this.checks;
    clearTimeout(this.timer);
    const late = setTimeout(() => number === this.checks && this.checker.stop(), LONGEST_CHECK);
    const answer = await this.checker.ask("play_check", text);
    clearTimeout(late);
    if (number !== this.checks || text !== this.editor.text) return false; // something newer is on its way
    const report = answer.text === undefined ? this.failed(answer, "checking takes too long") : JSON.parse(answer.text);
    this.showProblems(report.diagnostics, text);
    this.showEntries(report.entries || []);
    return this.entries.length > 0;
  }

  /** The report where there is none. */
  failed(answer, stopped) {
    return { diagnostics: [{ level: "error", code: null, message: answer.stopped ? stopped : answer.died, file: null, notes: [] }] };
  }

  showProblems(diagnostics, text) {
    const ranges = diagnostics.map((d) => rangeOf(text, d));
    this.editor.mark(diagnostics.flatMap((d, i) => (ranges[i] ? [{ ...ranges[i], level: d.level }] : [])));
    const errors = diagnostics.filter((d) => d.level === "error").length, warnings = diagnostics.length - errors;
    this.summary.textContent = [errors && plural(errors, "error"), warnings && plural(warnings, "warning")].filter(Boolean).join(", ") || "no errors";
    this.problems.replaceChildren(...diagnostics.map((d, i) => this.problem(d, ranges[i], text)));
  }

  problem(d, range, text) {
    const place = range ? `${d.line}:${byteOffsets(text.split("\n")[d.line - 1] || "")(d.column - 1) + 1}` : "";
    const words = [el("b", { class: d.level }, d.level), " ", d.message, d.code ? el("small", {}, ` ${d.code}`) : ""];
    const notes = (d.notes || []).map((n) => this.note(n, text));
    return el("li", {}, range ? el("button", { type: "button", onclick: () => this.editor.select(range.from, range.to) }, el("span", { class: "place" }, place), " ", ...words) : el("p", {}, ...words), ...notes);
  }

  note(n, text) {
    const range = rangeOf(text, n);
    return el("p", { class: "note" }, range ? `line ${n.line}: ` : "", n.message);
  }

  showEntries(entries) {
    if (entries.length === 0 && this.entries.length > 0 && this.checks > 1) this.wantedEntry = this.entry.value;
    this.entries = entries;
    if (entries.length === 0) return; // what was chosen stays in sight while an error is typed
    const wanted = this.wantedEntry || this.entry.value;
    this.entry.replaceChildren(...entries.map((e) => el("option", { value: e.name }, e.name)));
    this.entry.value = (entries.find((e) => e.name === wanted) || entries.find((e) => e.name === "main") || entries[0]).name;
    this.wantedEntry = "";
    this.chooseEntry();
  }

  chooseEntry() {
    const e = this.entries.find((x) => x.name === this.entry.value);
    if (!e) return;
    this.signature.textContent = e.signature;
    if (!this.inputIsTyped) this.input.value = e.input || "";
  }

  /** Runs what is typed on each interpreter, then makes the view. */
  async run() {
    if (!(await this.check())) return void (this.state.textContent = "not run: it has errors, or no entry");
    const words = [this.editor.text, this.entry.value, this.input.value], number = ++this.runs;
    this.runner.stop(); // what is still under way
    this.results.replaceChildren();
    this.stopButton.disabled = false;
    this.writeAddress();
    const reports = [];
    for (const stage of STAGES) {
      this.state.textContent = `running on ${stage} …`;
      const began = performance.now();
      const answer = await this.runner.ask("play_run", ...words, stage);
      if (number !== this.runs) return;
      reports.push({ stage, ...(answer.text === undefined ? this.failed(answer, "stopped") : JSON.parse(answer.text)), ms: performance.now() - began });
      this.showResults(reports);
      if (answer.text === undefined) break;
    }
    if (reports.length === STAGES.length && reports.every((r) => r.result !== undefined)) await this.view(words, number);
    else this.finish("");
  }

  async view(words, number) {
    this.state.textContent = "drawing …";
    const answer = await this.runner.ask("play_explain", ...words);
    if (number !== this.runs) return;
    if (answer.text) this.showView(answer.text);
    this.finish(answer.text === undefined ? this.failed(answer, "stopped").diagnostics[0].message : "");
  }

  finish(word) {
    this.state.textContent = word || "done";
    this.stopButton.disabled = true;
  }

  showResults(reports) {
    const rows = reports.map((r) => {
      const ok = typeof r.result === "string", time = el("small", {}, ` ${r.ms < 10 ? r.ms.toFixed(1) : Math.round(r.ms)} ms`);
      const value = ok ? [el("code", { id: `result-${r.stage}` }, r.result), r.cut ? el("small", {}, " … cut") : ""] : r.diagnostics.map((d) => el("span", { class: "failed", id: `result-${r.stage}` }, d.line ? `${d.line}:${d.column}: ` : "", d.message));
      return el("div", { class: "outcome" }, el("b", {}, r.stage), time, el("div", { class: "value" }, ...value));
    });
    if (reports.length === STAGES.length && reports.every((r) => typeof r.result === "string"))
      rows.push(el("p", { class: "note" }, reports.every((r) => r.result === reports[0].result) ? "Both interpreters agree." : "The interpreters differ: of floats in the last digits, by the order of additions; else it is a mistake of dpc."));
    this.results.replaceChildren(...rows);
  }

  /** The page of dpc explain, open where the one before it was. */
  showView(page) {
    const old = this.frame.contentDocument && this.frame.contentDocument.querySelector("[role=tab][aria-selected=true]");
    this.tab = old ? old.id : null;
    this.frame.srcdoc = page;
  }

  viewLoaded() {
    const tab = this.tab && this.frame.contentDocument.getElementById(this.tab);
    if (tab) tab.click();
    this.colourView();
  }

  /** In the same colours as this page. */
  colourView() {
    const inner = this.frame.contentDocument;
    if (!inner || !inner.documentElement) return;
    inner.documentElement.dataset.theme = document.documentElement.dataset.theme;
    for (const b of inner.querySelectorAll(".theme, #top h1")) b.hidden = true;
  }

  toggleWide() {
    const wide = document.body.classList.toggle("wide");
    this.wide.setAttribute("aria-pressed", String(wide));
  }

  async writeAddress() {
    const hash = await writeLink({ program: this.editor.text, entry: this.entry.value, input: this.input.value });
    this.linked = hash;
    location.replace(hash);
    return location.href;
  }

  async copyLink() {
    const address = await this.writeAddress();
    const copied = await navigator.clipboard.writeText(address).then(() => true, () => false);
    this.state.textContent = copied ? "the link is copied" : "the link is this page's address";
  }
}

function startPlayground() {
  document.body.classList.add("scripted");
  new Playground().open();
}
