// What a primitive does, as frames that follow each other, with the real values: {caption, draw}.

/** The operator of a reduction, from the statement's text: a name of a primitive, or null. */
function operatorOf(statement) {
  const m = /op \((%[^,()]+), (%[^,()]+)\) \{\n\s*(%\S+) : \S+ = (\w+) (%[^,\s]+), (%[^,\s]+)\n\s*-> (%\S+)\n/.exec(statement.text);
  return m && m[3] === m[7] ? m[4] : null;
}

const OPERATORS = {
  add: (a, b) => a + b,
  mul: (a, b) => a * b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  and: (a, b) => a && b,
  or: (a, b) => a || b,
};

const SIGNS = { add: "+", mul: "×", min: "min", max: "max", and: "and", or: "or" };

/** a op b: the value where the page can compute it, else how it is made. */
function combine(op, a, b) {
  if (a === null) return b;
  if (b === null) return a;
  const f = OPERATORS[op];
  return f && typeof a === typeof b && typeof a !== "string" ? f(a, b) : "⊕";
}

/** What the body has given for each instance that the trace has: the first of its values, or the k-th. */
function bodyValues(e, k) {
  const values = [];
  for (const [i, ...rest] of e.body || []) values[i] = rest[k || 0];
  return values;
}

function contextOfBody(statement) {
  return statement.context || null;
}

function valueCells(values, vars, context, offsets) {
  const cells = values.map((x, i) => ({ text: x === undefined ? "·" : valueText(x), colour: colourOf(vars, context, i) }));
  return gapsAt(cells, offsets);
}

function frame(caption, draw) {
  return { caption, draw: () => { const d = new Drawing(caption); draw(d); return d.done(); } };
}

const WORKERS = 4;

/** The path through elements and ends of segments, in steps: [elements, segments] after each. */
function mergePath(offsets, n) {
  const steps = [[0, 0]];
  for (let s = 0; s + 1 < offsets.length; s++) {
    for (let i = offsets[s]; i < Math.min(offsets[s + 1], n); i++) steps.push([i + 1, s]);
    steps.push([Math.min(offsets[s + 1], n), s + 1]);
  }
  return steps;
}

/** A segmented reduction: shares of equal length of the path, partial results, their repair. */
function reduceFrames(e, statement, before, after) {
  const name = contextOfBody(statement), c = before.get(name);
  const values = bodyValues(e), n = values.length;
  if (!c || n === 0) return [];
  const offsets = shownOffsets(c).filter((o) => o <= n), op = operatorOf(statement);
  const results = e.outs[0], whole = !c.parent || c.parent === "root";
  const path = mergePath(offsets, n), share = Math.ceil((path.length - 1) / WORKERS) || 1;
  const parts = [];
  for (let w = 0; w * share < path.length - 1; w++) parts.push([w * share, Math.min((w + 1) * share, path.length - 1)]);
  const sign = SIGNS[op] || "⊕";
  const frames = [frame(`The body has given a value for each of ${plural(c.length, "element")}; a gap is the end of a segment.`, (d) => {
    d.indices(d.row("values", valueCells(values, before, name, offsets), c.length - n));
  })];
  frames.push(frame(`The merge path goes right for an element and down for the end of a segment. ${plural(parts.length, "worker")} get equal pieces of it, however long the segments are.`, (d) => {
    const places = d.row("values", valueCells(values, before, name, offsets), c.length - n);
    const at = (i) => (i < places.length ? places[i].x : places[places.length - 1].x + places[places.length - 1].w);
    const top = d.y + 2, step = 22, segments = offsets.length - 1;
    for (let s = 0; s < segments; s++) d.nodes.push(svgEl("text", { x: LABEL - 10, y: top + s * step + 12, class: "label", "text-anchor": "end" }, whole ? "all" : `segment ${s}`));
    parts.forEach(([from, to], w) => {
      const points = path.slice(from, to + 1).map(([i, s]) => `${at(i)},${top + s * step + 4}`).join(" ");
      d.nodes.push(svgEl("polyline", { points, class: `path w${w}` }));
      const [i, s] = path[from];
      d.nodes.push(svgEl("circle", { cx: at(i), cy: top + s * step + 4, r: 4, class: `path dot w${w}` }));
      d.nodes.push(svgEl("text", { x: at(i) + 6, y: top + s * step - 1, class: "index" }, `w${w}`));
    });
    d.y = top + segments * step + 24;
  }));
  const partial = parts.map(([from, to]) => {
    const found = [];
    let acc = null, any = false;
    for (let k = from; k < to; k++) {
      const [i, s] = path[k], [j, t] = path[k + 1];
      if (j > i) (acc = combine(op, acc, values[i])), (any = true);
      if (t > s) found.push({ segment: s, value: acc, ends: true }), (acc = null), (any = false);
    }
    if (any) found.push({ segment: path[to][1], value: acc, ends: false });
    return found;
  });
  frames.push(frame(`Each worker combines (${sign}) what lies on its piece. Where a segment goes on in the next piece, it leaves a carry (→).`, (d) => {
    partial.forEach((found, w) => d.row(`worker ${w}`, found.map((f) => ({ text: `${f.value === null ? "neutral" : valueText(f.value)}${f.ends ? "" : " →"}`, colour: whole ? 0 : colourOf(before, c.parent, f.segment), mark: !f.ends, title: f.ends ? `segment ${f.segment} ends here` : `carry of segment ${f.segment}` }))));
  }));
  frames.push(frame("The carries are added to the segments that they belong to. An empty segment has the neutral element.", (d) => {
    const values2 = whole ? [results.value] : cutList(results.value).items;
    const row = values2.map((x, s) => ({ text: valueText(x), colour: whole ? 0 : colourOf(after, c.parent, s) }));
    const at = d.row("values", valueCells(values, before, name, offsets), c.length - n);
    d.space(10);
    const to = d.row("results", row, whole ? 0 : cutList(results.value).more);
    offsets.forEach((o, s) => {
      if (s + 1 < offsets.length) for (let i = o; i < offsets[s + 1] && i < at.length; i++) d.arrow(at[i], to[s], "thin");
    });
  }));
  return frames;
}

const BLOCK = 4; // elements of a block of the drawn scan

/** A scan: trees in blocks, look-back between blocks. */
function scanFrames(values, segmentAt, op, results, exclusive, cells, label) {
  const n = values.length, sign = SIGNS[op] || "⊕";
  if (n === 0) return [];
  const join = (a, b, from, to) => (segmentAt(from) === segmentAt(to) ? combine(op, a, b) : b);
  const frames = [frame(`${label}; blocks of ${BLOCK} are done side by side.`, (d) => d.indices(d.row("values", cells(values))))];
  frames.push(frame(`In each block a tree combines (${sign}) neighbours at distance 1, 2 …: after log₂ ${BLOCK} steps each element has the sum of its block up to itself.`, (d) => {
    let level = values.slice();
    let above = d.row("values", cells(level));
    for (let step = 1; step < BLOCK && step < n; step *= 2) {
      const next = level.map((x, i) => (i % BLOCK >= step ? join(level[i - step], x, i - step, i) : x));
      const row = d.row(`distance ${step}`, cells(next));
      next.forEach((_, i) => {
        if (i % BLOCK >= step && segmentAt(i - step) === segmentAt(i)) d.arrow(above[i - step], row[i], "thin");
      });
      level = next;
      above = row;
    }
  }));
  const totals = [];
  for (let b = 0; b * BLOCK < n; b++) {
    let acc = null;
    for (let i = b * BLOCK; i < Math.min(n, (b + 1) * BLOCK); i++) acc = i === b * BLOCK ? values[i] : join(acc, values[i], i - 1, i);
    totals.push(acc);
  }
  if (totals.length > 1)
    frames.push(frame("Look-back: a block publishes its total at once, then looks at the blocks before it until it finds one that knows its prefix.", (d) => {
      const sums = d.row("block totals", totals.map((x) => ({ text: valueText(x === undefined ? null : x), colour: null })));
      const prefixes = [];
      totals.forEach((x, b) => prefixes.push(b === 0 ? x : join(prefixes[b - 1], x, b * BLOCK - 1, Math.min(n, (b + 1) * BLOCK) - 1)));
      const row = d.row("prefixes", prefixes.map((x) => ({ text: valueText(x === undefined ? null : x), colour: null, mark: true })));
      sums.forEach((p, b) => {
        d.arrow(p, row[b]);
        if (b > 0) d.arrow(sums[b - 1], row[b], "thin");
      });
    }));
  frames.push(frame(exclusive ? "Each element gets what all before it come to." : "The prefix of the block before goes to each element: what all up to it come to.", (d) => {
    d.row("values", cells(values));
    d.indices(d.row("result", cells(results)));
  }));
  return frames;
}

function scanStatementFrames(e, statement, before) {
  const name = contextOfBody(statement), c = before.get(name), values = bodyValues(e);
  if (!c || values.length === 0) return [];
  const offsets = shownOffsets(c);
  const results = cutList(e.outs[0].value).items.slice(0, values.length);
  return scanFrames(values, (i) => segmentOf(offsets, i), operatorOf(statement), results, / exclusive /.test(statement.text), (list) => valueCells(list, before, name, offsets),
    `The body has given a value for each of ${plural(c.length, "element")}, a gap is the end of a segment`);
}

/** A pack: flags, their exclusive scan as places, what is kept. */
function packFrames(e, before, name, flagsOf, targets) {
  const c = before.get(name);
  if (!c) return [];
  const frames = [];
  targets.forEach((t, way) => {
    const flags = flagsOf(way), n = flags.length;
    if (n === 0) return;
    const offsets = c.form === "nested" ? shownOffsets(c) : [];
    const places = [];
    let sum = 0;
    flags.forEach((f) => (places.push(sum), (sum += f ? 1 : 0)));
    const cells = (list) => gapsAt(list.map((x, i) => ({ text: String(x), colour: colourOf(before, name, i), faded: !flags[i] })), offsets);
    frames.push(frame(`${t.name}: a flag for each instance of ${name}, 1 where it is kept; the exclusive scan of the flags says where it goes.`, (d) => {
      d.row(`of ${name}`, cells(flags.map((_, i) => i)), c.length - n);
      d.row("flag", cells(flags.map((f) => (f ? 1 : 0))));
      d.row("place", cells(places));
    }));
    frames.push(frame(`${plural(sum, "instance")} of ${c.length} ${sum === 1 ? "is" : "are"} in ${t.name}, in the order in which they were.`, (d) => {
      const at = d.row(`of ${name}`, cells(flags.map((_, i) => i)), c.length - n);
      d.space(10);
      const kept = flags.map((f, i) => i).filter((i) => flags[i]);
      const to = d.row(t.name, kept.map((i, k) => ({ text: String(k), colour: colourOf(before, name, i) })), t.length - kept.length);
      kept.forEach((i, k) => d.arrow(at[i], to[k]));
    }));
  });
  return frames;
}

/** Values that are put at positions. */
function scatterFrames(e, statement, before, after) {
  const name = contextOfBody(statement), c = before.get(name), positions = bodyValues(e, 0), values = bodyValues(e, 1);
  if (!c || positions.length === 0) return [];
  const out = e.outs[0], op = operatorOf(statement), isHist = statement.kind === "hist" || /\} (?:commutative )?op \(/.test(statement.text);
  const offsets = shownOffsets(c), nested = c.parent !== "root";
  const rows = nested ? cutList(out.value).items.map((r) => cutList(r || []).items) : [cutList(out.value).items];
  const starts = [0];
  rows.forEach((r) => starts.push(starts[starts.length - 1] + r.length));
  const flat = rows.flat();
  const caption = isHist ? `Each value goes to the bin that its position names, and is combined (${SIGNS[op] || "⊕"}) with what is there.` : "Each value is put where its position says; the last one stays.";
  return [frame(`The body has given a position and a value for each of ${plural(c.length, "element")}.`, (d) => {
    d.row("position", valueCells(positions, before, name, offsets), c.length - positions.length);
    d.row("value", valueCells(values, before, name, offsets), c.length - positions.length);
  }), frame(caption, (d) => {
    const at = d.row("value", valueCells(values, before, name, offsets), c.length - positions.length);
    d.space(20);
    const to = d.row("result", gapsAt(flat.map((x, i) => ({ text: valueText(x), colour: nested ? colourOf(after, c.parent, segmentOf(starts, i)) : null })), starts));
    d.indices(to);
    positions.forEach((p, i) => {
      const s = nested ? segmentOf(offsets, i) : 0;
      if (typeof p === "number" && p >= 0 && starts[s] + p < starts[s + 1]) d.arrow(at[i], to[starts[s] + p], `a${colourOf(before, name, i)}`);
    });
  })];
}

/** A number as a whole number that sorts alike: floats by their bits; null: it is none. */
function keyBits(x, type) {
  if (typeof x === "boolean") return BigInt(x);
  if (!/^f/.test(type)) return typeof x === "number" || /^-?\d+$/.test(x) ? BigInt(x) : null;
  const view = new DataView(new ArrayBuffer(8)), wide = type === "f64";
  const value = typeof x === "number" ? x : { inf: Infinity, "-inf": -Infinity, nan: NaN }[x];
  if (value === undefined) return null;
  if (wide) view.setFloat64(0, value);
  else view.setFloat32(0, value);
  const size = wide ? 64n : 32n, word = wide ? view.getBigUint64(0) : BigInt(view.getUint32(0)), sign = 1n << (size - 1n);
  return word & sign ? ((1n << size) - 1n) ^ word : word | sign;
}

/** A stable sort by digits of four bits, least first: as the device does it. */
function radixFrames(e, statement, before) {
  const m = / argsort \S+ \((%[^,)]+)/.exec(statement.text), keys = m && before.get(m[1]);
  if (!keys) return [];
  const list = keys.kind === "host" ? keys.value : (cutList(keys.value).items.find((r) => Array.isArray(r) && r.length > 1) || cutList(keys.value).items[0]);
  const values = cutList(list || []).items, which = keys.kind === "host" ? "" : ` Shown for one array of ${keys.length}.`;
  const bits = values.map((x) => keyBits(x, keys.type.replace(/[[\]]/g, "")));
  if (values.length === 0 || bits.includes(null)) return [];
  const least = bits.reduce((a, b) => (b < a ? b : a)), top = bits.reduce((a, b) => (b > a ? b : a)) - least, words = bits.some((x, i) => String(x) !== String(values[i])) ? "Keys are the numbers' bits, negative ones turned round, so that they sort as whole numbers. " : "";
  const frames = [];
  let order = values.map((_, i) => i);
  const cells = (o) => o.map((i) => ({ text: valueText(values[i]), colour: i % COLOURS, title: `was element ${i}` }));
  let still = 0; // passes before this one in which all digits were the same
  for (let shift = 0, pass = 0; pass === 0 || top >> BigInt(shift); shift += 4, pass++) {
    const from = order.slice(), digits = from.map((i) => Number(((bits[i] - least) >> BigInt(shift)) & 15n));
    if (top >> BigInt(shift + 4) && digits.every((g) => g === digits[0])) {
      still++;
      continue;
    }
    const count = new Array(16).fill(0);
    digits.forEach((g) => count[g]++);
    const start = count.map((_, g) => count.slice(0, g).reduce((a, b) => a + b, 0));
    const next = start.slice(), to = [];
    from.forEach((i, k) => (to[k] = next[digits[k]]++));
    from.forEach((i, k) => (order[to[k]] = i));
    const result = order.slice();
    const skipped = still ? ` Of ${plural(still, "pass")} before it nothing is shown: all keys had the same digit.` : "";
    still = 0;
    frames.push(frame(`${pass === 0 ? words : ""}Pass ${pass + 1}: the digit is bits ${shift} to ${shift + 3}${least ? ` of key − ${least}` : ""}.${skipped} Digits are counted, the counts are scanned to where each digit's keys begin; keys of one digit keep their order.${which}`, (d) => {
      const at = d.row("keys", cells(from));
      const used = count.map((_, g) => g).filter((g) => count[g]);
      d.row("digit", digits.map((g, k) => ({ text: String(g), colour: from[k] % COLOURS, w: at[k].w })));
      d.row("digit: count", used.map((g) => ({ text: `${g}: ${count[g]}`, colour: null })));
      d.row("digit: begins", used.map((g) => ({ text: `${g}: ${start[g]}`, colour: null })));
      d.space(6);
      const before = d.row("keys", cells(from)), row = d.row("sorted by it", cells(result));
      from.forEach((i, k) => d.arrow(before[k], row[to[k]], `a${i % COLOURS}`));
    }));
  }
  return frames;
}

/** Lengths, their scan, the instances. */
function nestedFrames(e) {
  const c = e.outs[0], offsets = shownOffsets(c), lengths = offsets.slice(1).map((o, i) => o - offsets[i]);
  if (c.parent === "root" || c.stride !== undefined || lengths.length < 2) return [];
  return scanFrames(lengths, () => 0, "add", offsets.slice(0, lengths.length), true, (l) => l.map((x, i) => ({ text: x === undefined ? "·" : String(x), colour: i % COLOURS })), "The lengths of the segments are scanned");
}

/** Parts put where they belong. */
function mergeFrames(e, statement, before) {
  const parts = [...statement.text.matchAll(/(?:\||merge %\S+) (%\S+) \(([^)]*)\)/g)];
  const out = e.outs[0];
  if (!out || out.kind !== "column") return [];
  return [frame("Every instance gets its value from the branch that it took.", (d) => {
    const rows = parts.map(([, ctx, cols]) => {
      const c = before.get(ctx), v = before.get(cols.split(",")[0].trim());
      if (!c || !v) return null;
      const { cells, more } = columnCells(before, v);
      return { c, places: d.row(ctx, cells, more) };
    });
    d.space(14);
    const { cells, more } = columnCells(before, out);
    const to = d.row(out.name, cells, more);
    rows.forEach((r) => r && r.places.forEach((p, i) => d.arrow(p, to[parentOf(r.c, i)])));
  })];
}

/** The instances of several sites, one behind the other. */
function callFrames(e, frames) {
  const caller = frames[frames.length - 2];
  if (!e.sites || !caller) return [];
  const total = e.sites.reduce((n, s) => n + s.length, 0);
  return [frame(`Level ${e.level} of ${e.function}: the calls of ${plural(e.sites.length, "site")}, ${plural(total, "instance")} in all, are one call.`, (d) => {
    const cells = e.sites.map((s) => Array.from({ length: Math.min(s.length, 24) }, (_, i) => ({ text: String(i), colour: colourOf(caller.vars, s.context, i), gap: i === 0 })));
    const all = d.row("sites", cells.flat());
    let from = 0;
    const rows = cells.map((c, s) => {
      const places = all.slice(from, from + c.length);
      d.bracket(all, from, from + c.length, e.sites[s].context);
      from += c.length;
      return places;
    });
    d.space(34);
    const to = d.row("joined", Array.from({ length: Math.min(total, 48) }, (_, i) => ({ text: String(i), colour: i % COLOURS })), Math.max(0, total - 48));
    let at = 0;
    rows.forEach((r, s) => {
      r.forEach((p, i) => d.arrow(p, to[at + i]));
      at += e.sites[s].length;
    });
  })];
}

/** Which instances were still running in each round so far. */
function roundFrames(trace, n) {
  const e = trace.events[n], rounds = [];
  for (let i = n; i >= 0; i--) {
    const r = trace.events[i];
    if (r.event !== "round" || r.statement !== e.statement || r.depth !== e.depth) continue;
    rounds.unshift(r);
    if (r.round === 0) break;
  }
  const active = (r) => r.params.find((p) => p.kind === "context");
  if (!active(e)) return [];
  const shown = rounds.slice(-12), all = Math.min(active(rounds[0]).length, 48);
  return [frame(`Round ${e.round}: ${plural(active(e).length, "instance")} of ${active(rounds[0]).length} ${active(e).length === 1 ? "is" : "are"} still running.`, (d) => {
    for (const r of shown) {
      const c = active(r), on = new Set(c.map ? cutList(c.map).items : Array.from({ length: c.length }, (_, i) => i));
      d.row(`round ${r.round}`, Array.from({ length: all }, (_, i) => ({ text: String(i), colour: i % COLOURS, faded: !on.has(i) })));
      d.space(-14);
    }
    d.space(14);
  })];
}

/** The frames of event n. */
function primitiveFrames(trace, n, before, after, frames) {
  const e = trace.events[n], s = trace.statements[e.statement];
  if (e.event === "call") return callFrames(e, frames);
  if (e.event === "round") return roundFrames(trace, n);
  if (e.event !== "step" || !s || !e.outs.length) return [];
  switch (s.kind) {
    case "reduce": return reduceFrames(e, s, before, after);
    case "scan": return scanStatementFrames(e, s, before);
    case "pack": {
      const ways = e.outs.filter((v) => v.kind === "context");
      return packFrames(e, before, contextOfBody(s), (w) => bodyValues(e, w), ways);
    }
    case "split": {
      const m = / split (%\S+) \((%\S+)\)/.exec(s.text), cond = m && before.get(m[2]);
      return cond ? packFrames(e, before, m[1], (w) => cutList(cond.value).items.map((x) => (w ? !x : x)), e.outs) : [];
    }
    case "hist":
    case "scatter": return scatterFrames(e, s, before, after);
    case "argsort": return radixFrames(e, s, before);
    case "nested": return nestedFrames(e);
    case "merge": return mergeFrames(e, s, before);
    default: return [];
  }
}
