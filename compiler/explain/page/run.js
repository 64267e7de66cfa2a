// The run: a slider over the events of the trace, with what is alive, drawn.

/** What each kind of statement does, for who sees it for the first time. */
const KIND_WORDS = {
  host: "Scalar code on the host, once.",
  kernel: "One kernel: the code in braces runs once for each instance of the context.",
  array: "Each instance makes a small array of its values.",
  nested: "A context is made: one instance for each element, for each instance of its parent. Its offsets say where each segment begins.",
  pack: "Of the instances of a context those are kept for which the code says so; the kept ones are a context, their values columns of it.",
  many: "The host asks whether there are many instances, and takes the version that is faster then.",
  memory: "Memory for code that lanes execute from beginning to end.",
  fitted: "Had the lanes enough memory?",
  nothing: "A value that nobody will look at.",
  split: "A context is split in two: where a condition holds, and where not. Each branch goes on in its own.",
  elems: "The elements of arrays, one for each instance: where they lie side by side nothing moves.",
  select: "The entries of the instances that were selected.",
  views: "A column becomes arrays: a view, a length and an address, for each segment. No element moves.",
  merge: "The results of the branches are put together: each instance takes that of the branch it was in.",
  reduce: "The values of each segment are combined to one, all segments at once, whatever their lengths.",
  scan: "Each element gets the combination of all up to it in its segment.",
  hist: "Each value is combined into the bin that it names.",
  scatter: "Each value is put where its position says.",
  argsort: "Each array is sorted.",
  flatten: "An array of arrays becomes one array.",
  update: "One element of an array is replaced.",
  if: "The host decides; one of two blocks is executed.",
  loop: "The host counts rounds; each executes the block.",
  loop_lifted: "A loop of every instance at once: those that are done leave it, the others go on in a smaller context.",
  call: "A function is called.",
  call_lifted: "A function is called for all instances of its sites at once: one call for a whole level of a recursion.",
};

function eventTitle(trace, e) {
  const s = trace.statements[e.statement];
  switch (e.event) {
    case "call": return s ? `call of ${e.function}${e.sites ? `, level ${e.level}` : ""}` : `the entry ${e.function} begins`;
    case "return": return `${e.function} returns`;
    case "branch": return `if: ${e.taken}`;
    case "instance": return `${s.kind}: element ${e.instance}`;
    case "round": return `${s.kind}: round ${e.round}`;
    case "cut": return "the trace is cut";
    case "result": return "the result";
    case "failure": return "the program fails";
    default: return s.kind;
  }
}

function eventWords(trace, e) {
  const s = trace.statements[e.statement];
  switch (e.event) {
    case "call": return s ? KIND_WORDS[s.kind] : "These are its arguments, as they are stored: arrays of arrays are views of data that lies elsewhere.";
    case "return": return "These are its results.";
    case "instance": return "An element, to which the body is applied now.";
    case "branch": return "The host has looked at the condition.";
    case "round": return s.kind === "loop" ? "The state as the round begins." : "The state of the instances that are still running.";
    case "cut": return `A trace has at most ${e.limit.toLocaleString("en")} ${e.at}; how the run ends comes next.`;
    case "result": return "What the program gives.";
    case "failure": return e.message;
    default: return (trace.head.evaluator === "flat" ? KIND_WORDS[s.kind] : CORE_WORDS[s.kind]) || "";
  }
}

/** What core's statements do that flat has none of. */
const CORE_WORDS = {
  atom: "Another name of a value.",
  prim: "A scalar operation.",
  length: "The length of an array, which is known.",
  index: "An element of an array.",
  slice: "A part of an array: nothing is copied.",
  array: "An array of these values.",
  check: "The program ends here if this does not hold.",
  map: "The body is evaluated for one element after another.",
  filter: "The elements for which the condition holds.",
  reduce: "The elements are combined, one after another.",
  scan: "Each element gets the combination of all up to it, one after another.",
};

class Run {
  /** stage: "flat" or "core", whose trace it is. */
  constructor(links, stage, lines) {
    this.links = links;
    this.stage = stage;
    this.other = null; // the run of the other stage
    this.trace = readTrace(lines);
    this.n = 0;
    this.timer = null;
    this.frameTimer = null;
    const stages = links.model.stages, pane = (name) => links.pane(stages.find((s) => s.name === name));
    this.panes = [links.pane(stages[0]), pane(stage), pane(stage === "flat" ? "plan" : "flat")];
    this.root = this.trace.events.length ? this.build() : el("p", { class: "lead" }, "The program was not run: dpc explain takes arguments behind the file, or the first case of a test in its comments.");
    if (this.trace.events.length) this.show(0);
  }

  build() {
    const last = this.trace.events.length - 1;
    const button = (label, title, f) => el("button", { type: "button", title, "aria-label": title, onclick: f }, label);
    this.slider = el("input", { type: "range", min: 0, max: last, value: 0, id: this.id("step"), "aria-label": `step of the run of ${this.stage}`, oninput: () => this.show(Number(this.slider.value)) });
    this.beside = el("div", { class: "beside-list" });
    this.playing = button("play", "play the run", () => this.play());
    this.where = el("output", { for: this.id("step"), class: "where" });
    this.title = el("h3", {});
    this.words = el("p", { class: "words" });
    this.statement = el("pre", { class: "statement", tabindex: "0", "aria-label": "the statement" });
    this.drawing = el("div", { class: "primitive" });
    this.values = el("div", { class: "values" });
    this.contexts = el("div", { class: "contexts" });
    this.alive = el("div", { class: "alive" });
    this.counts = el("p", { class: "counts" });
    const bar = el("div", { class: "bar", role: "group", "aria-label": "steps" }, button("|◀", "first step", () => this.show(0)), button("◀", "step back", () => this.show(this.n - 1)), this.playing,
      button("▶", "step", () => this.show(this.n + 1)), button("↷ over", "step over what lies inside", () => this.over()), button("▶|", "last step", () => this.show(last)), this.slider, this.where);
    const input = el("p", { class: "io" }, el("b", {}, `${data.entry}`), " on ", el("code", {}, data.input || "no arguments"));
    return el("div", { class: "run" }, input, bar, el("div", { class: "columns" },
      el("div", { class: "code" }, ...this.panes.map((x) => x.root)),
      el("div", { class: "show" }, el("section", { class: "card now", "aria-live": "polite" }, this.title, this.words, this.statement, this.counts), el("section", { class: "card" }, el("h3", {}, "What it does"), this.drawing), el("section", { class: "card" }, el("h3", {}, "What it has made"), this.values),
        el("section", { class: "card" }, el("h3", {}, this.stage === "flat" ? "The same in core, one after another" : "The same in flat, all at once"), this.beside),
        this.stage === "flat" ? el("section", { class: "card" }, el("h3", {}, "Contexts"), this.contexts) : el("section", { class: "card" }, el("h3", {}, "Calls under way"), this.contexts), el("section", { class: "card" }, el("h3", {}, "Alive"), this.alive))));
  }

  show(n) {
    const last = this.trace.events.length - 1;
    this.n = Math.min(Math.max(n, 0), last);
    const e = this.trace.events[this.n], s = this.trace.statements[e.statement];
    this.slider.value = this.n;
    const title = eventTitle(this.trace, e);
    this.slider.setAttribute("aria-valuetext", `step ${this.n} of ${last}: ${title}`);
    this.where.textContent = `step ${this.n} of ${last}`;
    this.title.replaceChildren(el("span", { class: `kind ${e.event}` }, title), s && s.place ? el("span", { class: "place" }, `line ${s.place.line}${s.place.library ? `, from ${s.place.library.file.replace(/^.*\//, "")}:${s.place.library.line}` : ""}`) : "");
    this.words.textContent = eventWords(this.trace, e);
    this.statement.textContent = s ? s.text : "";
    this.statement.hidden = !s;
    this.showCounts(e);
    this.showState(e);
    const place = e.event === "failure" ? e.place : s && s.place;
    this.follow(e, place);
  }

  follow(e, place) {
    const file = place && [...this.links.model.files.values()].find((f) => f.path === place.file);
    let range = null;
    if (file) {
      const at = (line, column) => file.at(byteStart(file.text, line) + column - 1);
      range = { file: file.index, start: at(place.line, place.column), end: at(place.end_line, place.end_column) };
    }
    for (const x of this.panes) x.follow(e.statement === undefined || x.stage.name !== this.stage ? null : e.statement, range);
    this.showOther(e, place);
  }

  id(name) {
    return this.stage === "flat" ? name : `${name}-${this.stage}`;
  }

  /** What the other run does at this place of the program: of what lies within it, and else what it lies within. */
  othersAt(place) {
    const { trace } = this.other, at = (k) => (trace.statements[trace.events[k].statement] || {}).place;
    const steps = trace.events.map((_, k) => k).filter((k) => trace.events[k].event === "step" && trace.events[k].outs.length && at(k) && at(k).file === place.file);
    const found = steps.filter((k) => within(at(k), place)), same = found.filter((k) => within(place, at(k)));
    if (found.length) return same.length ? same : found;
    const around = steps.filter((k) => within(place, at(k))), least = Math.min(...around.map((k) => extent(at(k))));
    return around.filter((k) => extent(at(k)) === least);
  }

  showOther(e, place) {
    const most = 12, steps = place && this.other && e.event !== "result" ? this.othersAt(place) : [];
    const rows = steps.slice(0, most).map((k) => {
      const { trace } = this.other, o = trace.events[k];
      return el("li", {}, el("button", { type: "button", title: `to step ${k} of ${this.other.stage}`, onclick: () => this.goToOther(k) }, el("code", {}, clipped(trace.statements[o.statement].text.split("\n")[0], 60)), " ", el("span", { class: "gives" }, `→ ${clipped(o.outs.map((v) => valueText(v.kind === "context" ? v.length : v.value === undefined ? null : v.value)).join("; "), 60)}`)));
    });
    const word = steps.length === 0 ? `No step of ${this.other ? this.other.stage : "it"} is at this place: what stood here has become part of others, or is not needed.` : `${plural(steps.length, "step")} at this place${steps.length > most ? `, of which the first ${most} are here` : ""}.`;
    this.beside.replaceChildren(el("p", { class: "note" }, word), el("ol", {}, ...rows));
  }

  showCounts(e) {
    const before = this.n > 0 ? this.trace.events[this.n - 1].counts : null;
    const c = e.counts || {};
    const part = (name, key) => {
      const more = before && c[key] - before[key];
      return el("span", {}, el("b", {}, (c[key] || 0).toLocaleString("en")), ` ${name}`, more > 0 ? el("i", {}, ` +${more.toLocaleString("en")}`) : "");
    };
    this.counts.replaceChildren(part("launches", "launches"), part("read-backs", "read_backs"), part("bytes alive", "bytes"), part("elements moved", "moved"), part("work", "work"));
  }

  showState(e) {
    const beforeFrames = replay(this.trace, this.n - 1), frames = replay(this.trace, this.n);
    const top = (f) => (f.length ? f[f.length - 1].vars : new Map());
    const before = top(beforeFrames);
    const after = new Map(top(frames));
    for (const v of [...(e.outs || []), ...(e.params || [])]) after.set(v.name, v); // also those that die at once
    for (const name of e.dies || []) if (before.has(name) && !after.has(name)) after.set(name, before.get(name));
    const made = e.outs || e.params || e.results || [];
    const scope = e.event === "return" ? before : after;
    this.showFrames(primitiveFrames(this.trace, this.n, e.event === "call" ? after : before, after, frames));
    this.values.replaceChildren(...made.map((v) => valueCard(scope, v)));
    if (e.event === "result" && data.result !== null) this.values.replaceChildren(el("div", { class: "result" }, el("code", { id: this.id("result") }, data.result)));
    if (e.event === "failure") this.values.replaceChildren(el("p", { class: "failed" }, e.place ? `${e.place.file}:${e.place.line}:${e.place.column}: ` : "", e.message));
    if (this.values.childNodes.length === 0) this.values.append(el("p", { class: "none" }, "Nothing new."));
    this.showContexts(frames, e);
    this.showAlive(frames);
  }

  showFrames(frames) {
    clearInterval(this.frameTimer);
    this.drawing.parentNode.hidden = frames.length === 0;
    if (frames.length === 0) return;
    let k = 0;
    const caption = el("p", { class: "caption", role: "status" }), place = el("div", {});
    const go = (i) => {
      k = (i + frames.length) % frames.length;
      caption.replaceChildren(frames.length > 1 ? el("b", {}, `${k + 1}/${frames.length} `) : "", frames[k].caption);
      place.replaceChildren(frames[k].draw());
    };
    const stop = () => (clearInterval(this.frameTimer), (play.textContent = "animate"), (this.frameTimer = null));
    const play = el("button", { type: "button", onclick: () => {
      if (this.frameTimer) return stop();
      play.textContent = "stop";
      this.frameTimer = setInterval(() => go(k + 1), 1600);
      return go(k + 1);
    } }, "animate");
    this.frameTimer = null;
    const controls = el("div", { class: "frames" }, el("button", { type: "button", "aria-label": "frame before", onclick: () => (stop(), go(k - 1)) }, "◀"), play, el("button", { type: "button", "aria-label": "next frame", onclick: () => (stop(), go(k + 1)) }, "▶"));
    this.drawing.replaceChildren(...(frames.length > 1 ? [controls] : []), caption, place);
    go(0);
  }

  /** The calls under way, in each its contexts as a tree. */
  showContexts(frames, e) {
    const touched = new Set([...(e.outs || []), ...(e.params || [])].filter((v) => v.kind === "context").map((v) => v.name));
    const s = this.trace.statements[e.statement];
    if (s && s.context) touched.add(s.context);
    const out = frames.map((f, depth) => {
      const own = [...f.vars.values()].filter((v) => v.kind === "context");
      const isTop = depth === frames.length - 1;
      const below = (name) => {
        const children = own.filter((c) => (c.form === "instances" ? name === null : (f.vars.has(c.parent) ? c.parent : null) === name));
        return children.length ? el("ul", {}, ...children.map((c) => el("li", {}, contextLine(f.vars, c, isTop && touched.has(c.name)), below(c.name)))) : null;
      };
      const tree = below(null);
      return el("div", { class: `call${isTop ? " top" : ""}` }, el("p", {}, el("b", {}, f.function), f.level > 1 || f.function.endsWith("_lifted") ? ` level ${f.level}` : "", tree ? "" : " — depth 0 only"), tree);
    });
    this.contexts.replaceChildren(...(out.length ? out : [el("p", { class: "none" }, "No call is under way.")]));
  }

  showAlive(frames) {
    const frame = frames[frames.length - 1];
    const vars = frame ? [...frame.vars.values()].filter((v) => v.kind !== "context") : [];
    const rows = vars.map((v) => {
      const colour = v.kind === "column" ? (i) => colourOf(frame.vars, v.context, i) : (i) => i % COLOURS;
      return el("tr", {}, el("th", { scope: "row" }, el("code", {}, v.name)), el("td", {}, el("code", {}, v.type), v.kind === "column" ? el("small", {}, ` in ${v.context}`) : ""), el("td", {}, valueNode(v.value, colour)));
    });
    this.alive.replaceChildren(rows.length ? el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "variables that are alive" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "variable"), el("th", { scope: "col" }, "type"), el("th", { scope: "col" }, "value"))), el("tbody", {}, ...rows))) : el("p", { class: "none" }, "No variable is."));
  }

  /** To the next event at this depth or above it. */
  over() {
    const { events } = this.trace;
    const inside = (k) => {
      for (let s = this.trace.statements[events[k].statement]; s; s = this.trace.statements[s.within]) if (s.id === events[this.n].statement) return true;
      return false;
    };
    let k = this.n + 1;
    while (k < events.length - 1 && (events[k].depth > events[this.n].depth || (inside(k) && events[k].event !== "step"))) k++;
    this.show(k);
  }

  play() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      this.timer = setInterval(() => {
        this.show(this.n + 1);
        if (this.n === this.trace.events.length - 1) this.play();
      }, 700);
    }
    this.playing.textContent = this.timer ? "stop" : "play";
    this.playing.setAttribute("aria-label", this.timer ? "stop" : "play the run");
  }
}

/** The offset in bytes of a line's beginning. */
function byteStart(text, line) {
  const before = text.split("\n").slice(0, line - 1).join("\n");
  return new TextEncoder().encode(before).length + (line > 1 ? 1 : 0);
}

function valueCard(vars, v) {
  const isNumber = v.kind === "host" && v.length === undefined;
  return el("div", { class: isNumber ? "card inner number" : "card inner" }, el("p", { class: "name" }, el("code", {}, v.name || "result"), " ", el("span", {}, valueWords(v))), drawValue(vars, v));
}

function contextLine(vars, c, isTouched) {
  const most = 24, strip = el("span", { class: "strip", "aria-hidden": "true" });
  const starts = new Set(c.form === "nested" ? shownOffsets(c).slice(1) : []);
  for (let i = 0; i < Math.min(c.length, most); i++) {
    const colour = colourOf(vars, c.name, i);
    strip.append(el("i", { class: `${colour === null ? "" : `s${colour}`}${i > 0 && starts.has(i) ? " gap" : ""}` }));
  }
  const form = { nested: c.stride === undefined ? "nested" : `nested, stride ${c.stride}`, selected: c.map ? "selected" : "selected: all", instances: "instances of the call" }[c.form];
  return el("span", { class: isTouched ? "ctx touched" : "ctx" }, el("code", {}, c.name), ` ${form}, `, el("b", {}, String(c.length)), strip, c.length > most ? el("small", {}, ` … ${c.length - most} more`) : "");
}

/** Does a lie within b? */
function within(a, b) {
  const before = (l, c, m, d) => l < m || (l === m && c <= d);
  return before(b.line, b.column, a.line, a.column) && before(a.end_line, a.end_column, b.end_line, b.end_column);
}

function extent(p) {
  return (p.end_line - p.line) * 1000 + p.end_column - p.column;
}

function clipped(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Both runs, one of which is shown. */
class Runs {
  constructor(links) {
    this.all = [new Run(links, "flat", data.trace), new Run(links, "core", data.core_trace)];
    const [flat, core] = this.all;
    this.shown = flat;
    if (!flat.trace.events.length || !core.trace.events.length) {
      this.root = flat.root;
      return;
    }
    this.choices = this.all.map((run) => el("input", { type: "radio", name: "run", id: `run-${run.stage}`, onchange: () => this.choose(run) }));
    const words = { flat: "flat: all instances at once", core: "core: one after another" };
    flat.other = core;
    core.other = flat;
    flat.goToOther = (k) => this.choose(core, k);
    core.goToOther = (k) => this.choose(flat, k);
    this.root = el("div", {}, el("fieldset", { class: "chips" }, el("legend", {}, "Run of"), ...this.all.map((run, i) => el("label", { for: `run-${run.stage}` }, this.choices[i], words[run.stage]))), flat.root, core.root);
    this.choose(flat);
  }

  choose(run, step) {
    if (this.shown.timer) this.shown.play();
    this.shown = run;
    this.all.forEach((r, i) => {
      r.root.hidden = r !== run;
      this.choices[i].checked = r === run;
    });
    run.show(step === undefined ? run.n : step);
    if (step !== undefined) run.slider.focus();
  }
}
