// Drawings: rows of cells, arrows between them, as SVG.

const CHAR = 7.3, CELL = 26, GAP = 4, LABEL = 118, LINE = 46, LONGEST = 13;

/** A drawing grows downwards; rows remember where their cells are. */
class Drawing {
  constructor(title) {
    this.title = title;
    this.width = 240;
    this.y = 8;
    this.nodes = [];
  }

  text(x, y, text, name) {
    this.nodes.push(svgEl("text", { x, y, class: name || "note" }, text));
    this.width = Math.max(this.width, x + text.length * CHAR + 8);
  }

  /** A label on the left, then cells: {text, colour, faded, gap, mark, title}. Returns {x, y, w, cx} of each. */
  row(label, cells, more) {
    const y = this.y;
    let x = LABEL;
    this.nodes.push(svgEl("text", { x: LABEL - 10, y: y + 17, class: "label", "text-anchor": "end" }, label));
    const places = cells.map((c) => {
      const text = c.text.length > LONGEST ? `${c.text.slice(0, LONGEST - 1)}…` : c.text;
      const w = Math.max(CELL, c.w || 0, text.length * CHAR + 12);
      if (c.gap) x += 10;
      const g = svgEl("g", { class: `cell${c.colour === null || c.colour === undefined ? "" : ` s${c.colour}`}${c.faded ? " faded" : ""}${c.mark ? " mark" : ""}` },
        svgEl("rect", { x, y, width: w, height: CELL, rx: 3 }), svgEl("text", { x: x + w / 2, y: y + 17, "text-anchor": "middle" }, text));
      if (c.title || text !== c.text) g.append(svgEl("title", {}, c.title || c.text));
      this.nodes.push(g);
      const place = { x, y, w, cx: x + w / 2, top: y, bottom: y + CELL };
      x += w + GAP;
      return place;
    });
    if (cells.length === 0) this.text(x, y + 17, "none", "note");
    if (more) this.text(x + 4, y + 17, `… ${more} more`, "note");
    this.width = Math.max(this.width, x + 8);
    this.y += LINE;
    return places;
  }

  /** Positions below or above cells, in small figures. */
  indices(places, from) {
    places.forEach((p, i) => this.nodes.push(svgEl("text", { x: p.cx, y: p.bottom + 11, class: "index", "text-anchor": "middle" }, String((from || 0) + i))));
  }

  /** From the lower edge of one cell to the upper edge of another. */
  arrow(a, b, name) {
    if (!a || !b) return;
    const x1 = a.cx, y1 = a.bottom + 1, x2 = b.cx, y2 = b.top - 3;
    const bend = (y2 - y1) / 2;
    this.nodes.unshift(svgEl("path", { d: `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, class: `arrow ${name || ""}`, "marker-end": "url(#head)" }));
  }

  line(x1, y1, x2, y2, name) {
    this.nodes.unshift(svgEl("line", { x1, y1, x2, y2, class: name || "rule" }));
  }

  /** A bracket over cells i to j - 1 with a word below it. */
  bracket(places, i, j, word) {
    if (j <= i) return;
    const a = places[i], b = places[j - 1], y = a.bottom + 3;
    this.nodes.push(svgEl("path", { d: `M${a.x} ${y} v5 H${b.x + b.w} v-5`, class: "bracket" }));
    if (word) this.nodes.push(svgEl("text", { x: (a.x + b.x + b.w) / 2, y: y + 17, class: "index", "text-anchor": "middle" }, word));
  }

  space(n) {
    this.y += n;
  }

  done() {
    const h = this.y + 4;
    return el("div", { class: "drawing", tabindex: "0", role: "group", "aria-label": `${this.title} (drawing)` },
      svgEl("svg", { width: this.width, height: h, viewBox: `0 0 ${this.width} ${h}`, role: "img", "aria-label": this.title }, ...this.nodes));
  }
}

/** The arrowheads that all drawings share. */
function arrowHeads() {
  return svgEl("svg", { width: 0, height: 0, "aria-hidden": "true", class: "heads" },
    svgEl("defs", {}, svgEl("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svgEl("path", { d: "M0 0 L8 4 L0 8 Z", class: "head" }))));
}

/** A gap in front of each segment but the first. */
function gapsAt(cells, offsets) {
  const starts = new Set(offsets.slice(1));
  cells.forEach((c, i) => (c.gap = i > 0 && starts.has(i)));
  return cells;
}

/** The offsets of a nested context that are there, those beyond what is shown left out. */
function shownOffsets(c) {
  return cutList(c.offsets || []).items;
}

/** Cells of a column, with the gaps of its context's segments. */
function columnCells(vars, v) {
  const { cells, more } = cellsOf(v.value, (i) => colourOf(vars, v.context, i));
  const c = vars.get(v.context);
  return { cells: c && c.form === "nested" ? gapsAt(cells, shownOffsets(c)) : cells, more };
}

/** A value beside what is stored for it. */
function drawValue(vars, v) {
  if (v.kind === "context") return drawContext(vars, v);
  const colour = v.kind === "column" ? (i) => colourOf(vars, v.context, i) : (i) => i % COLOURS;
  const isArray = v.type.startsWith("[");
  const d = new Drawing(`${v.name || "result"}: ${valueWords(v)}: ${valueText(v.value)}`);
  if (!isArray) {
    if (v.kind === "host") return el("div", { class: "scalar" }, valueText(v.value));
    const { cells, more } = columnCells(vars, v);
    d.indices(d.row(storedIn(v), cells, more));
    return d.done();
  }
  const views = v.views || null;
  if (v.kind === "host" && !v.view && v.type.startsWith("[[")) return el("div", { class: "nested" }, valueNode(v.value, colour)); // of core: it is not said where
  if (v.kind === "host" && !views) {
    const { cells, more } = cellsOf(v.value || [], colour);
    d.indices(d.row(!v.view ? "elements" : `block ${v.view[1] === undefined ? "none" : v.view[1]}`, cells, more));
    return d.done();
  }
  return el("div", { class: "beside" }, el("div", { class: "nested" }, valueNode(v.value, colour)), drawViews(d, v, cutList(views), colour));
}

function storedIn(v) {
  return v.block === undefined ? "values" : `block ${v.block}`;
}

/** Views as cells, with arrows to where their elements begin. */
function drawViews(d, v, views, colour) {
  const cells = views.items.map((w, i) => ({ text: `len ${w[0]}`, colour: colour(i), title: w[1] === undefined ? "empty: it points nowhere" : `${plural(w[0], "element")} from element ${w[2]} of block ${w[1]}` }));
  const at = d.row("views", cells, views.more);
  d.space(14);
  const blocks = new Map(); // number -> position -> {text, colour}
  const values = cutList(v.value).items;
  const put = (block, at, cell) => { // what several views share has no one's colour
    const there = block.get(at);
    block.set(at, there && there.colour !== cell.colour ? { ...cell, colour: null } : cell);
  };
  views.items.forEach((w, i) => {
    if (w[1] === undefined || !Array.isArray(values[i])) return;
    if (!blocks.has(w[1])) blocks.set(w[1], new Map());
    cutList(values[i]).items.forEach((x, k) => put(blocks.get(w[1]), w[2] + k, { text: valueText(x), colour: colour(i) }));
  });
  for (const [number, elements] of [...blocks].sort((a, b) => a[0] - b[0])) {
    const order = [...elements.keys()].sort((a, b) => a - b);
    const row = order.map((k, i) => ({ ...elements.get(k), gap: i > 0 && order[i - 1] !== k - 1, title: `element ${k}` }));
    const places = d.row(`block ${number}`, row, 0);
    places.forEach((p, i) => d.nodes.push(svgEl("text", { x: p.cx, y: p.bottom + 11, class: "index", "text-anchor": "middle" }, String(order[i]))));
    views.items.forEach((w, i) => {
      if (w[1] === number && w[0] > 0) d.arrow(at[i], places[order.indexOf(w[2])], `a${colour(i)}`);
    });
  }
  return d.done();
}

/** A context: the parent's instances, and its own under them. */
function drawContext(vars, c) {
  const most = 48;
  const d = new Drawing(`${c.name}: ${valueWords(c)}`);
  const own = Array.from({ length: Math.min(c.length, most) }, (_, i) => ({ text: String(i), colour: colourOf(vars, c.name, i) }));
  const more = Math.max(0, c.length - most);
  if (c.form === "nested") {
    const offsets = shownOffsets(c);
    const at = d.row(c.stride === undefined ? "offsets" : `stride ${c.stride}`, offsets.map((o) => ({ text: String(o), colour: null, faded: c.stride !== undefined })), cutList(c.offsets).more);
    d.space(10);
    const places = d.row("instances", gapsAt(own, offsets), more);
    offsets.forEach((o, s) => {
      if (s + 1 < offsets.length && o < offsets[s + 1]) d.arrow(at[s], places[o]);
      if (s + 1 < offsets.length && o < places.length) d.bracket(places, o, Math.min(offsets[s + 1], places.length), c.parent === "root" ? "" : `segment ${s}`);
    });
    d.space(14);
  } else if (c.form === "selected") {
    const parent = vars.get(c.parent);
    const map = c.map ? cutList(c.map).items : own.map((_, i) => i);
    const n = Math.min(parent ? parent.length : c.length, most);
    const kept = new Set(map);
    const above = Array.from({ length: n }, (_, i) => ({ text: String(i), colour: colourOf(vars, c.parent, i), faded: !kept.has(i) }));
    const at = d.row(c.parent, above, parent ? Math.max(0, parent.length - n) : 0);
    const places = d.row(c.name, own, more);
    map.forEach((m, i) => d.arrow(at[m], places[i]));
  } else {
    d.row("instances", own, more);
  }
  return d.done();
}
