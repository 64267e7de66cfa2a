// What it costs: by lines of the program, in this run and as the compiler says it.

/** What each line has taken in the traced run: {line, launches, …}. */
function countsByLine(trace) {
  const rows = new Map(), keys = ["launches", "read_backs", "moved"];
  const row = (place) => {
    const name = `${place.file}:${place.line}`;
    if (!rows.has(name)) rows.set(name, { place, launches: 0, read_backs: 0, moved: 0, times: 0, work: 0, span: 0 });
    return rows.get(name);
  };
  for (const l of data.meter ? data.meter.lines : []) Object.assign(row({ file: l.file, line: l.line }), { times: l.times, work: l.work, span: l.span });
  let before = null;
  for (const e of trace.events) {
    const s = trace.statements[e.statement];
    if (before && e.counts && s && s.place && e.event === "step") {
      for (const k of keys) row(s.place)[k] += Math.max(0, e.counts[k] - before[k]);
    }
    if (e.counts) before = e.counts;
  }
  return [...rows.values()].sort((a, b) => a.place.line - b.place.line);
}

function sourceLine(model, place) {
  const file = [...model.files.values()].find((f) => f.path === place.file);
  return file ? file.text.split("\n")[place.line - 1].trim() : "";
}

function table(caption, heads, rows) {
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...heads.map((h) => el("th", { scope: "col", class: h.startsWith("#") ? "n" : null }, h.replace("#", ""))))), el("tbody", {}, ...rows)));
}

function lineCell(model, place) {
  return [el("th", { scope: "row" }, String(place.line)), el("td", { class: "src" }, el("code", {}, sourceLine(model, place)))];
}

function costView(model, trace) {
  const root = el("div", { class: "cost" });
  const end = trace.events[trace.events.length - 1];
  if (end && end.counts) {
    const c = end.counts, most = trace.events.reduce((m, e) => Math.max(m, e.counts ? e.counts.bytes : 0), 0);
    const fact = (n, word) => el("div", { class: "fact" }, el("b", {}, n.toLocaleString("en")), el("span", {}, word));
    root.append(el("section", { class: "card" }, el("h3", {}, "In this run"), el("p", { class: "note" }, "Work and span by the rules of the language, of the program as it is written. The rest as the flat interpreter counts: one launch for each statement that needs the device. A device takes a few more or less; dpc run --profile counts there."),
      el("div", { class: "facts" }, data.meter ? fact(data.meter.work, "work") : "", data.meter ? fact(data.meter.span, "span") : "", fact(c.launches, "launches"), fact(c.read_backs, "read-backs"), fact(most, "bytes at most"), fact(c.moved, "elements moved"))));
    const rows = countsByLine(trace), top = Math.max(1, ...rows.map((r) => r.work));
    root.append(el("section", { class: "card" }, table("By line", ["line", "", "#times", "work", "#of the span", "#launches", "#read-backs", "#moved"], rows.map((r) => el("tr", {}, ...lineCell(model, r.place), el("td", { class: "n" }, String(r.times)), el("td", {}, el("span", { class: "meter", style: `--part:${(100 * r.work) / top}%` }, r.work.toLocaleString("en"))), el("td", { class: "n" }, String(r.span)),
      el("td", { class: "n" }, String(r.launches)), el("td", { class: "n" }, String(r.read_backs)), el("td", { class: "n" }, String(r.moved)))))));
  }
  if (data.formulas.length) root.append(formulasCard());
  const kernels = data.remarks.filter((r) => r.remark === "kernel");
  root.append(el("section", { class: "card" }, table("Kernels, and what fusion did", ["line", "", "kernel", "over", "stores", "why it is stored", "also has the code of"], kernels.map((r) => el("tr", {}, ...lineCell(model, r.place), el("td", {}, el("code", {}, r.kernel), el("br", {}), el("small", {}, r.lane ? "by lanes" : r.operation, r.ways && r.ways.length ? `: ${r.ways.join(", ")}` : "")),
    el("td", {}, el("code", {}, r.elements || ""), r.regular ? el("small", {}, " regular") : ""), el("td", {}, r.bytes ? el("code", {}, `${r.bytes} bytes`) : el("small", {}, "nothing: a number for the host")), el("td", {}, (r.because || []).join("; ")), el("td", {}, (r.fused || []).map((f) => `${f.function || f.file} ${f.line}`).join(", ") || "—"))))));
  root.append(refusedCard(model, kernels));
  root.append(versionsCard(model, trace));
  const waits = data.remarks.filter((r) => r.remark === "read-back" || r.remark === "loop");
  if (waits.length) root.append(el("section", { class: "card" }, table("Where the host waits, and its loops", ["line", "", "what"], waits.map((r) => el("tr", {}, ...lineCell(model, r.place), el("td", {}, r.remark === "loop" ? `a round: ${plural(r.kernels, "kernel")}, ${plural(r.read_backs, "read-back")}` : plural(r.read_backs, "read-back")))))));
  return root;
}

/** Why what is read so cannot be computed where it is read. */
const REFUSALS = [
  [/^read at other places/, "its elements are read at positions that only the data say, or by several: computed there, each would be computed anew for every reader"],
  [/^read for each of several/, "one element is read by many instances, which would all compute it"],
  [/^read by the host/, "the host goes on with the number"],
  [/^lengths of rows/, "rows are made of these lengths, and their offsets are a scan of all of them"],
  [/^a condition/, "a branch is taken by it, so it has to be there before"],
  [/^joined with other branches/, "each branch makes a part of the instances; they are put together"],
  [/^sorted/, "a sort needs all keys"],
  [/^the state of a loop/, "the next round begins with it"],
  [/^an argument/, "a function that is called gets it"],
  [/^updated|^flattened/, "it is changed or joined as a whole"],
  [/^the result/, "it is what the program gives"],
  [/^read/, "its reader combines, moves or keeps it in another order or over other elements, or several read it"],
];

/** The arrays between kernels: what was not fused, and why not. */
function refusedCard(model, kernels) {
  const rows = kernels.filter((k) => k.bytes && (k.because || []).length).flatMap((k) => k.because.map((because, i) => {
    const known = REFUSALS.find(([pattern]) => pattern.test(because)), reader = /in line (\d+)$/.exec(because);
    const to = reader ? kernels.filter((r) => r.place.line === Number(reader[1]) && r.kernel !== k.kernel).map((r) => r.kernel) : [];
    return el("tr", {}, ...(i ? [el("th", { scope: "row" }), el("td", {})] : lineCell(model, k.place)), el("td", {}, i ? "" : el("code", {}, k.kernel), i ? "" : el("small", {}, ` ${k.types || ""}`)), el("td", {}, because, to.length ? el("small", {}, `: ${clipped(to.join(", "), 60)}`) : ""), el("td", {}, known ? known[1] : ""));
  }));
  if (!rows.length) return el("section", { class: "card" }, el("h3", {}, "Fusions refused"), el("p", { class: "note" }, "None: nothing is stored between kernels."));
  return el("section", { class: "card" }, table("Fusions refused: what is stored between kernels", ["line", "", "made by", "its reader", "why it is not computed there"], rows));
}

/** Work and span of each definition, with what their symbols mean. */
function formulasCard() {
  const order = (f, what) => (f[`${what}_order`] ? el("small", {}, ` in O(${f[`${what}_order`]})`, f[`${what}_recurrence`] ? `: ${f[`${what}_recurrence`]}` : "") : f.recursive ? el("small", {}, " a recurrence that is not solved") : "");
  const rows = data.formulas.map((f) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, f.name)), el("td", {}, el("code", {}, formula(f.work)), f.work_exact ? "" : el("small", {}, " at most"), order(f, "work")),
    el("td", {}, el("code", {}, formula(f.span)), f.span_exact ? "" : el("small", {}, " at most"), order(f, "span")), el("td", {}, ...f.sizes.flatMap((s) => [el("code", {}, s.name), ` ${s.meaning}`, el("br", {})]))));
  return el("section", { class: "card" }, table("Work and span, as formulas of sizes", ["definition", "work", "span", "where"], rows));
}

/** 3*n + 2 as 3 n + 2. */
function formula(text) {
  return (text || "?").replace(/\*/g, " ");
}

/** Nests that exist twice, and which version this run took. */
function versionsCard(model, trace) {
  const nests = data.remarks.filter((r) => r.remark === "nest");
  const taken = trace.events.filter((e) => e.event === "step" && trace.statements[e.statement].kind === "many");
  const rows = nests.map((r) => {
    const here = taken.filter((e) => { const p = trace.statements[e.statement].place; return p && p.line === r.place.line; });
    const lanes = here.filter((e) => e.outs[0].value === true).length;
    const word = here.length === 0 ? "not reached" : lanes === here.length ? "lanes: there were many instances" : lanes === 0 ? "flat: there were few instances" : `lanes ${lanes}×, flat ${here.length - lanes}×`;
    return el("tr", {}, ...lineCell(model, r.place), el("td", {}, el("code", {}, r.elements || "")), el("td", {}, el("code", {}, r.lane.join(", "))), el("td", {}, el("code", {}, r.flat.join(", "))), el("td", {}, word));
  });
  if (!rows.length) return el("section", { class: "card" }, el("h3", {}, "Versions"), el("p", { class: "note" }, "No nest of this program has two versions: each is done in one way whatever its sizes."));
  return el("section", { class: "card" }, table("Versions", ["line", "", "instances", "by lanes", "flat", "taken in this run"], rows),
    el("p", { class: "note" }, "With few instances lanes would leave the device empty, so all that is nested is flattened; with many, each lane does its own. The interpreter takes four for many; a device goes by the parameter (dpc help params)."));
}
