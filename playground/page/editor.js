// The editor: a text area over a copy of its text that shows the words' kinds and where something is wrong.

const WORDS = /(--[^\n]*)|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)')|\b(def|entry|type|import|let|in|if|then|else|match|case|loop|for|while|do|with|true|false)\b(?!')|\b(\d[\w.]*)|(#[A-Za-z_]\w*)/g;
const KINDS = ["comment", "text", "keyword", "number", "constructor"];

/** The text cut where a word of a kind or a mark begins or ends: [{from, to, kind, level}]. */
function piecesOf(text, marks) {
  const words = [...text.matchAll(WORDS)].map((m) => ({ from: m.index, to: m.index + m[0].length, kind: KINDS[m.slice(1).findIndex((g) => g !== undefined)] }));
  const cuts = new Set([0, text.length]);
  for (const r of [...words, ...marks]) cuts.add(r.from), cuts.add(r.to);
  const order = [...cuts].sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0, w = 0; i + 1 < order.length; i++) {
    const from = order[i], to = order[i + 1];
    while (w < words.length && words[w].to <= from) w++;
    const word = w < words.length && words[w].from <= from ? words[w] : null;
    const levels = marks.filter((m) => m.from <= from && m.to >= to).map((m) => m.level);
    pieces.push({ from, to, kind: word && word.kind, level: levels.includes("error") ? "error" : levels[0] });
  }
  return pieces;
}

class Editor {
  constructor(changed) {
    this.marks = [];
    this.area = el("textarea", { id: "program", spellcheck: "false", autocapitalize: "off", autocomplete: "off", autocorrect: "off", wrap: "off", "aria-label": "the program", "aria-describedby": "problems" });
    this.copy = el("pre", { class: "copy", "aria-hidden": "true" });
    this.lines = el("pre", { class: "lines", "aria-hidden": "true" });
    this.root = el("div", { class: "editor" }, this.lines, el("div", { class: "sheet" }, this.copy, this.area));
    this.area.addEventListener("input", () => {
      this.marks = [];
      this.draw();
      changed();
    });
    this.area.addEventListener("keydown", (e) => this.key(e));
    this.area.addEventListener("scroll", () => this.follow());
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.marks = [];
    this.area.scrollTop = this.area.scrollLeft = 0;
    this.draw();
  }

  /** marks: {from, to, level}, positions in the text. */
  mark(marks) {
    this.marks = marks;
    this.draw();
  }

  draw() {
    const { text } = this;
    const nodes = piecesOf(text, this.marks).map((p) => {
      const part = text.slice(p.from, p.to), name = [p.kind, p.level].filter(Boolean).join(" ");
      return name ? el("span", { class: name }, part) : part;
    });
    this.copy.replaceChildren(...nodes, "\n");
    const bad = new Map();
    for (const m of this.marks) bad.set(text.slice(0, m.from).split("\n").length, m.level);
    this.lines.replaceChildren(...text.split("\n").map((_, i) => el("span", { class: bad.get(i + 1) }, `${i + 1}\n`)));
    this.follow();
  }

  follow() {
    this.copy.scrollTop = this.lines.scrollTop = this.area.scrollTop;
    this.copy.scrollLeft = this.area.scrollLeft;
  }

  /** A new line begins where the one before it does. */
  key(e) {
    if (e.key !== "Enter" || e.ctrlKey || e.metaKey || e.shiftKey || e.isComposing) return;
    const before = this.text.slice(0, this.area.selectionStart);
    const indent = /^[ \t]*/.exec(before.slice(before.lastIndexOf("\n") + 1))[0];
    if (!indent) return;
    e.preventDefault();
    document.execCommand("insertText", false, `\n${indent}`); // which can be undone
  }

  select(from, to) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    const line = this.text.slice(0, from).split("\n").length, height = parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, (line - 4) * height);
    this.follow();
  }
}
