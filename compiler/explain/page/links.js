// The stages as text, side by side: what is pointed at is marked wherever it came from or went, through its place in
// the source.

const STAGE_WORDS = {
  source: "what was written",
  types: "what was inferred",
  core: "first order, no tuples: what the program means",
  fused: "loops over the same elements are one",
  flat: "segmented operations over contexts",
  plan: "what the host does, instruction by instruction",
  kernels: "OpenCL: the holes of the templates",
};

/** All panes, and what is selected in them. */
class Links {
  constructor(model) {
    this.model = model;
    this.panes = [];
    this.pinned = null;
    this.shown = null;
    this.listeners = [];
    this.ranges = this.sourceRanges();
  }

  /** Every place that some stage knows, by file, small ones first. */
  sourceRanges() {
    const seen = new Map();
    const add = (r) => {
      if (r.file < 0 || r.end <= r.start) return;
      const key = `${r.file}:${r.start}:${r.end}`;
      if (!seen.has(key)) seen.set(key, { file: r.file, start: r.start, end: r.end });
    };
    this.model.types.forEach(add);
    for (const s of this.model.stages) s.marks.forEach(add);
    return [...seen.values()].sort((a, b) => a.end - a.start - (b.end - b.start));
  }

  pane(stage, extra) {
    const pane = new Pane(this, stage, extra || {});
    this.panes.push(pane);
    return pane;
  }

  hover(range) {
    if (!this.pinned) this.show(range);
  }

  pin(range) {
    const same = this.pinned && range && this.pinned.start === range.start && this.pinned.end === range.end && this.pinned.file === range.file;
    this.pinned = same ? null : range;
    this.show(this.pinned, true);
  }

  show(range, pinned) {
    this.shown = range;
    for (const p of this.panes) p.mark(range, Boolean(pinned));
    for (const f of this.listeners) f(range, Boolean(this.pinned));
  }

  /** What the selected range is, in words. */
  describe(range) {
    const file = this.model.files.get(range.file);
    const [line, column] = lineOf(file.text, range.start);
    const text = file.text.slice(range.start, range.end).replace(/\s+/g, " ");
    const type = this.model.types.find((t) => t.file === range.file && t.start === range.start && t.end === range.end);
    return { place: `${line}:${column}`, text: text.length > 70 ? `${text.slice(0, 68)} …` : text, type: type ? type.type : null };
  }
}

function inside(a, b) {
  return a.file === b.file && a.start >= b.start && a.end <= b.end;
}

/** One stage in a scrolled box. */
class Pane {
  constructor(links, stage, extra) {
    this.links = links;
    this.stage = stage;
    this.isSource = stage.file !== null;
    this.pre = el("pre", { tabindex: "0", role: "group", "aria-label": `${stage.title}: arrow keys go from part to part, Enter keeps one marked` });
    this.parts = this.isSource ? this.renderSource() : this.renderMarks();
    this.current = -1;
    this.pre.addEventListener("mouseover", (e) => this.point(e.target));
    this.pre.addEventListener("mouseleave", () => links.hover(null));
    this.pre.addEventListener("click", (e) => this.click(e.target));
    this.pre.addEventListener("keydown", (e) => this.key(e));
    const words = extra.words || STAGE_WORDS[stage.name] || "";
    this.root = el("section", { class: "pane", "data-stage": stage.name }, el("h3", {}, el("b", {}, stage.title), " ", el("span", {}, words)), this.pre,
      stage.cut ? el("p", { class: "cut" }, `${plural(stage.cut, "more line")} not shown; dpc dump has them`) : null);
  }

  /** A line of its own, which wraps behind its indent. */
  newLine(text) {
    const indent = /^ */.exec(text)[0].length;
    const line = el("span", { class: "line", style: indent ? `--indent: ${Math.min(indent, 24)}ch` : null });
    this.pre.append(line);
    return line;
  }

  /** The source, cut wherever a known place or a line begins or ends. */
  renderSource() {
    const cuts = new Set([0, this.stage.text.length]);
    for (const r of this.links.ranges)
      if (r.file === this.stage.file) cuts.add(r.start), cuts.add(r.end);
    const whole = this.stage.text;
    for (let at = whole.indexOf("\n"); at >= 0; at = whole.indexOf("\n", at + 1)) cuts.add(at + 1);
    const order = [...cuts].sort((a, b) => a - b);
    const parts = [];
    let line = null;
    for (let i = 0; i + 1 < order.length; i++) {
      if (order[i] === 0 || whole[order[i] - 1] === "\n") line = this.newLine(whole.slice(order[i], order[i] + 80));
      const leaf = { file: this.stage.file, start: order[i], end: order[i + 1] };
      const range = this.links.ranges.find((r) => inside(leaf, r));
      const span = el("span", {}, whole.slice(order[i], order[i + 1]));
      if (range) parts.push({ range, leaf, spans: [span] }), (span.partIndex = parts.length - 1);
      line.append(span);
    }
    return parts;
  }

  /** Spans in spans, as the marks lie; of a mark one span in each of its lines. */
  renderMarks() {
    const { text, marks } = this.stage, parts = [], open = [];
    let at = 0, i = 0, line = null, stack = [];
    const put = (upTo) => {
      while (at < upTo) {
        if (at === 0 || text[at - 1] === "\n") (line = this.newLine(text.slice(at, at + 80))), (stack = []);
        const end = text.indexOf("\n", at), to = end < 0 ? upTo : Math.min(upTo, end + 1);
        while (stack.length && !open.includes(stack[stack.length - 1].part)) stack.pop();
        for (const part of open.slice(stack.length)) {
          const span = el("span", { class: part.range ? "m" : null });
          if (part.range) part.spans.push(span), (span.partIndex = part.index);
          (stack.length ? stack[stack.length - 1].span : line).append(span);
          stack.push({ part, span });
        }
        (stack.length ? stack[stack.length - 1].span : line).append(text.slice(at, to));
        at = to;
      }
    };
    const close = (from) => {
      while (open.length && open[open.length - 1].mark.to <= from) put(Math.min(open[open.length - 1].mark.to, text.length)), open.pop();
    };
    for (; i < marks.length; i++) {
      const mark = marks[i];
      close(mark.from);
      put(mark.from);
      const part = { mark, spans: [], range: mark.file < 0 ? null : { file: mark.file, start: mark.start, end: mark.end } };
      if (part.range) part.index = parts.push(part) - 1;
      open.push(part);
    }
    close(Infinity);
    put(text.length);
    return parts;
  }

  partOf(target) {
    for (let n = target; n && n !== this.pre; n = n.parentNode) if (n.partIndex !== undefined) return n.partIndex;
    return -1;
  }

  point(target) {
    const i = this.partOf(target);
    this.links.hover(i < 0 ? null : this.parts[i].range);
  }

  click(target) {
    const i = this.partOf(target);
    this.current = i;
    if (String(window.getSelection()) === "") this.links.pin(i < 0 ? null : this.parts[i].range);
  }

  key(e) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[e.key];
    if (step && this.parts.length) {
      let next = this.current + step;
      while (this.isSource && next >= 0 && next < this.parts.length && this.current >= 0 && same(this.parts[next].range, this.parts[this.current].range)) next += step;
      this.current = Math.min(Math.max(next, 0), this.parts.length - 1);
      this.links.pinned = null;
      this.links.show(this.parts[this.current].range);
      if (this.parts[this.current].spans.length) scrollInto(this.pre, this.parts[this.current].spans[0]);
    } else if (e.key === "Enter" || e.key === " ") {
      if (this.current >= 0) this.links.pin(this.parts[this.current].range);
    } else if (e.key === "Escape") {
      this.links.pin(null);
    } else {
      return;
    }
    e.preventDefault();
  }

  /** Marks what came from the range; where nothing did, what is just around it. */
  mark(range, pinned) {
    for (const p of this.parts) for (const s of p.spans) s.classList.remove("hit", "near", "pinned");
    this.hits = 0;
    if (!range) return;
    let found = this.parts.filter((p) => inside(this.isSource ? p.leaf : p.range, range));
    let name = "hit";
    if (found.length === 0 && !this.isSource) {
      const around = this.parts.filter((p) => inside(range, p.range));
      const least = Math.min(...around.map((p) => p.range.end - p.range.start));
      found = around.filter((p) => p.range.end - p.range.start === least);
      name = "near";
    }
    for (const p of found) for (const s of p.spans) s.classList.add(name), pinned && s.classList.add("pinned");
    this.hits = found.length;
    const active = document.activeElement === this.pre || this.pre.matches(":hover");
    const first = found.find((p) => p.spans.length);
    if (first && !active) scrollInto(this.pre, first.spans[0]);
  }

  /** Marks what is executed now: the statement; in stages that were not run, what its place became. */
  follow(statement, range) {
    let first = null;
    const was = this.stage.marks.some((m) => m.statement !== null);
    for (const p of this.parts) {
      const here = this.isSource ? range && inside(p.leaf, range) : was ? p.mark.statement === statement && statement !== null : range && same(p.range, range);
      for (const s of p.spans) s.classList.toggle("now", Boolean(here));
      if (here && !first) first = p.spans[0];
    }
    if (first) scrollInto(this.pre, first);
  }
}

function same(a, b) {
  return a.file === b.file && a.start === b.start && a.end === b.end;
}

/** Scrolls the box, and only it, so that the node can be seen. */
function scrollInto(box, node) {
  const b = box.getBoundingClientRect(), n = node.getBoundingClientRect();
  if (b.height === 0) return;
  if (n.top < b.top || n.top > Math.min(b.bottom, window.innerHeight) - 40) box.scrollTop += n.top - b.top - b.height / 3;
}

/** The view: panes that can be switched on and off. */
function stagesView(links) {
  const stages = links.model.stages;
  const usual = new Set(["source", "core", "flat"]);
  const panes = el("div", { class: "panes" });
  const chips = el("fieldset", { class: "chips" }, el("legend", {}, "Stages"));
  const status = el("p", { class: "status", role: "status" });
  const empty = "Point at anything to see what it came from and what became of it; a click keeps it marked.";
  status.textContent = empty;
  for (const s of stages) {
    const pane = links.pane(s);
    const box = el("input", { type: "checkbox", id: `show-${s.name}` });
    box.checked = usual.has(s.name);
    pane.root.hidden = !box.checked;
    box.addEventListener("change", () => {
      pane.root.hidden = !box.checked;
      panes.style.setProperty("--panes", panes.querySelectorAll(".pane:not([hidden])").length);
      links.show(links.shown, Boolean(links.pinned));
    });
    chips.append(el("label", { for: `show-${s.name}` }, box, s.title));
    panes.append(pane.root);
  }
  panes.style.setProperty("--panes", stages.filter((s) => usual.has(s.name)).length);
  links.listeners.push((range, pinned) => {
    status.replaceChildren();
    if (!range) {
      status.textContent = empty;
      return;
    }
    const d = links.describe(range);
    status.append(el("b", {}, d.place), " ", el("code", {}, d.text), d.type ? el("span", {}, " : ", el("code", {}, d.type)) : "", el("span", { class: "became" }, ` ${became(links)}`),
      pinned ? el("button", { type: "button", onclick: () => links.pin(null) }, "let go") : null);
  });
  return el("div", { class: "stages" }, chips, status, panes);
}

/** How much of each stage is marked. */
function became(links) {
  const counts = [];
  const seen = new Set();
  for (const p of links.panes) {
    if (p.isSource || !p.hits || seen.has(p.stage.name)) continue;
    seen.add(p.stage.name);
    const near = p.parts.some((x) => x.spans.length && x.spans[0].classList.contains("near"));
    counts.push(near ? `${p.stage.name}: within` : `${p.stage.name}: ${p.hits}`);
  }
  return counts.length ? `→ ${counts.join(", ")}` : "→ nothing is left of it";
}
