// The run at any of its steps: the trace, replayed. And what can be said of values and contexts.

/** Frames of calls, each with the variables that are alive: {function, level, vars}. */
function replay(trace, upTo) {
  const frames = [];
  for (let i = 0; i <= upTo; i++) apply(frames, trace.events[i]);
  return frames;
}

function apply(frames, e) {
  const top = frames[frames.length - 1];
  if (e.event === "call") frames.push({ function: e.function, level: e.level, call: e, vars: new Map() });
  const frame = frames[frames.length - 1];
  const bind = (v) => frame.vars.set(v.name, { ...v, born: e.n, statement: e.statement });
  for (const v of e.params || []) bind(v);
  for (const v of e.outs || []) bind(v);
  if (e.event === "return") frames.pop();
  else if (top || e.event === "call") for (const name of e.dies || []) frame.vars.delete(name);
  for (const v of (e.event === "step" && e.outs) || []) if ((e.dies || []).includes(v.name)) frame.vars.delete(v.name);
}

/** How many items a list has left out, and those that it has. */
function cutList(list) {
  const last = list.length ? list[list.length - 1] : null;
  const more = last && typeof last === "object" && !Array.isArray(last) ? last.more : 0;
  return { items: more ? list.slice(0, -1) : list, more };
}

/** The segment of instance i, by offsets: the last that begins at or before it and is not empty. */
function segmentOf(offsets, i) {
  let s = 0;
  while (s + 1 < offsets.length && offsets[s + 1] <= i) s++;
  return s;
}

/** The instance of the parent that instance i of context c is from. */
function parentOf(c, i) {
  if (c.form === "nested") return segmentOf(cutList(c.offsets).items, i);
  return c.map ? cutList(c.map).items[i] : i;
}

const COLOURS = 8;

/** Each instance of an outermost context has a colour, and all that lies in it has the same, wherever it is shown. */
function colourOf(vars, name, i) {
  const c = vars.get(name);
  if (!c || i === undefined) return null;
  if (c.form === "instances" || c.parent === "root" || !vars.has(c.parent)) return i % COLOURS;
  return colourOf(vars, c.parent, parentOf(c, i));
}

function shortNumber(x) {
  if (typeof x !== "number" || Number.isInteger(x)) return String(x);
  const text = x.toPrecision(6);
  return text.includes("e") ? text : String(parseFloat(text));
}

function isMore(x) {
  return x !== null && typeof x === "object" && !Array.isArray(x);
}

/** A value as text: [[1, 2], []]. */
function valueText(x) {
  if (x === null) return "·";
  if (isMore(x)) return `… ${x.more} more`;
  return Array.isArray(x) ? `[${x.map(valueText).join(", ")}]` : shortNumber(x);
}

/** A value as nested boxes of text, the outer items in their colours. */
function valueNode(value, colour) {
  if (!Array.isArray(value)) return el("span", {}, valueText(value));
  const node = el("span", { class: "value" }, "[");
  value.forEach((x, i) => {
    if (i) node.append(", ");
    const c = isMore(x) ? null : colour(i);
    node.append(el("span", { class: c === null ? "more" : `s${c}` }, valueText(x)));
  });
  node.append("]");
  return node;
}

/** "3 instances of %c3", and so on. */
function valueWords(v) {
  if (v.kind === "context") {
    const form = { nested: `nested in ${v.parent}`, selected: `selected from ${v.parent}`, instances: "of this call" }[v.form];
    return `context ${form}, ${plural(v.length, "instance")}`;
  }
  if (v.kind === "column") return `${v.type}, one for each of ${plural(v.length, "instance")} of ${v.context}`;
  return v.length === undefined ? v.type : `${v.type}, ${plural(v.length, "element")}`;
}

/** [index, cell] for each item that is there; and what is said of the rest. */
function cellsOf(list, colour) {
  const { items, more } = cutList(list);
  return { cells: items.map((x, i) => ({ text: valueText(x), colour: colour(i), at: i })), more };
}
