// What the compiler knows of the program: the JSON in the page, with places as positions in JavaScript's texts.

const data = JSON.parse(document.getElementById("data").textContent);

/** An element; attributes whose value is null are left out, `on…` are listeners. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  setAll(node, attributes);
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

function svgEl(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(node, attributes);
  node.append(...children);
  return node;
}

function setAll(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
}

function plural(n, word) {
  return `${n} ${word}${n === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
}

/** From offsets in bytes of UTF-8 to offsets in the text: the identity if it is ASCII. */
function byteOffsets(text) {
  // eslint-disable-next-line no-control-regex
  if (/^[\u0000-\u007f]*$/.test(text)) return (n) => n;
  const at = [];
  let index = 0;
  for (const c of text) {
    const code = c.codePointAt(0);
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) at.push(index);
    index += c.length;
  }
  return (n) => (n < at.length ? at[n] : index);
}

/** The stages in their order: {name, text, marks}. A mark is {from, to, file, start, end, library, statement}. */
function readStages() {
  const files = new Map();
  for (const f of data.files) {
    const text = document.querySelector(`#stage-${f.stage} pre`).textContent;
    files.set(f.index, { ...f, text, at: byteOffsets(text) });
  }
  const stages = [...files.values()].map((f) => ({ name: f.stage, title: f.stage === "source" ? "source" : f.path, text: f.text, file: f.index, marks: [] }));
  for (const s of data.stages) {
    const text = document.querySelector(`#stage-${s.name} pre`).textContent;
    const at = byteOffsets(text);
    const marks = s.marks.map(([from, to, file, start, end, library, statement]) => {
      const f = files.get(file);
      return { from: at(from), to: at(to), file: f ? file : -1, start: f ? f.at(start) : 0, end: f ? f.at(end) : 0, library, statement };
    });
    stages.push({ name: s.name, title: s.name, text, file: null, marks, cut: s.lines_cut });
  }
  const types = data.types.map(([file, start, end, type, name]) => {
    const f = files.get(file);
    return { file, start: f.at(start), end: f.at(end), type, name };
  });
  return { files, stages, types };
}

/** The line and column of a place, from 1. */
function lineOf(text, index) {
  const before = text.slice(0, index).split("\n");
  return [before.length, before[before.length - 1].length + 1];
}

/** The trace: statements by number, and the events. */
function readTrace() {
  const statements = [], events = [];
  let head = null;
  for (const line of data.trace) {
    if (line.event === "trace") head = line;
    else if (line.event === "statement") statements[line.id] = line;
    else events.push(line);
  }
  return { head, statements, events };
}
