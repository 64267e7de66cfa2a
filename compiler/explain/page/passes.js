// The passes one by one, and what each has changed.

/** The longest common subsequence of two lists of numbers, as pairs of positions. Beyond the budget: only both ends. */
function commonLines(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const n = a.length - head - tail, m = b.length - head - tail;
  const pairs = [];
  for (let i = 0; i < head; i++) pairs.push([i, i]);
  if (n * m <= 4e6) {
    const width = m + 1, best = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--)
      for (let j = m - 1; j >= 0; j--)
        best[i * width + j] = a[head + i] === b[head + j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    for (let i = 0, j = 0; i < n && j < m;) {
      if (a[head + i] === b[head + j]) pairs.push([head + i++, head + j++]);
      else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
      else j++;
    }
  }
  for (let i = tail; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

/** Passes number variables anew: lines that differ in numbers only are the same. By line, the number of its pattern. */
function linePatterns() {
  const numbers = new Map();
  return data.lines.map((line) => {
    const pattern = line.replace(/%(\d+|[A-Za-z_]+\d+)/g, (name) => name.replace(/\d+$/, ""));
    if (!numbers.has(pattern)) numbers.set(pattern, numbers.size);
    return numbers.get(pattern);
  });
}

/** Lines as {sign: " " | "+" | "-", line}. */
function difference(a, b, patterns) {
  const out = [];
  let i = 0, j = 0;
  for (const [x, y] of [...commonLines(a.map((k) => patterns[k]), b.map((k) => patterns[k])), [a.length, b.length]]) {
    while (i < x) out.push({ sign: "-", line: a[i++] });
    while (j < y) out.push({ sign: "+", line: b[j++] });
    if (x < a.length) out.push({ sign: " ", line: b[y] });
    i = x + 1;
    j = y + 1;
  }
  return out;
}

/** What each pass did, in a sentence. */
const PASS_WORDS = {
  "parse": "The text becomes a tree; nothing of it is shown here but what is checked next.",
  "types": "Every name gets its meaning, every expression its type.",
  "elaborate": "Tuples become several values, functions as values disappear: core.",
  "balance dispatch": "A choice among many functions becomes a balanced tree of tests.",
  "simplify": "Constants are computed, what nobody uses goes, equal expressions are computed once.",
  "inline": "Calls of small functions are replaced by what they do.",
  "merge recursion": "Functions that call each other become one function.",
  "tail loops": "A call in the last position becomes a round of a loop.",
  "hoist operations": "What does not depend on a loop moves in front of it.",
  "fuse": "A loop that reads what another has made does its work at once, so that nothing is stored between them.",
  "lower rows": "Operations on whole rows become loops over their elements.",
  "lower operators": "Operators that are parallel themselves become what flattening has rules for.",
  "mask updates": "Updates in branches become updates under a condition.",
  "choose lanes": "Nests that are better done by one lane each are left as they are, with a version for either case.",
  "look ahead": "The host begins several rounds of a loop before it looks whether there are so many.",
  "lower loops": "Counted loops become what flattening has rules for.",
  "flatten": "Nested parallelism becomes segmented operations over contexts: no loop inside a loop is left.",
  "turn scans": "Scans of columns store their results as columns.",
  "dead columns": "What nobody reads is not computed.",
  "demand": "What the next level of a recursion needs at least is noted.",
  "liveness": "Where each variable is used last is noted: there it dies.",
  "maps in place": "In loops, maps whose elements are only read in their own place may write over what they read.",
  "plan": "Each flat statement becomes instructions of the host.",
  "checks on the device": "Checks whose result the host need not know stay on the device.",
  "views of packs": "The host does not wait for sizes that it does not need.",
  "batch read-backs": "Numbers that the host waits for come together.",
  "lifetimes": "Retains and releases are placed; what may be overwritten is.",
};

function passWords(name) {
  return PASS_WORDS[name] || PASS_WORDS[name.split(",")[0]] || "";
}

function passesView() {
  const passes = data.passes.filter((p) => p.level !== "ast");
  const list = el("ol", { class: "passlist" });
  const text = el("pre", { tabindex: "0", "aria-label": "the program behind the pass; lines with + are new, with - gone" });
  const title = el("h3", {});
  const words = el("p", {});
  const only = el("input", { type: "checkbox", id: "only-changes" });
  const buttons = [], patterns = linePatterns();
  const changes = passes.map((p, i) => {
    const before = i > 0 && passes[i - 1].level === p.level ? passes[i - 1] : null;
    if (!before || p.left_out || before.left_out) return null;
    return difference(before.lines, p.lines, patterns);
  });
  let current = 0;
  const show = (i, focus) => {
    current = i;
    buttons.forEach((b, k) => {
      b.setAttribute("aria-current", k === i ? "step" : "false");
      b.tabIndex = k === i ? 0 : -1;
    });
    if (focus) buttons[i].focus();
    const p = passes[i], rows = changes[i] || p.lines.map((line) => ({ sign: " ", line }));
    title.replaceChildren(`${i + 1}. ${p.name}`, el("span", {}, summary(p, changes[i])));
    words.textContent = passWords(p.name);
    text.replaceChildren(el("div", {}, ...(p.left_out ? ["The program is too long to be shown after each pass."] : diffLines(rows, only.checked))));
    const first = text.querySelector("ins, del");
    text.scrollTop = 0;
    if (first) scrollInto(text, first);
  };
  passes.forEach((p, i) => {
    const b = el("button", { type: "button", onclick: () => show(i) }, el("span", { class: "name" }, p.name), el("small", {}, summary(p, changes[i])));
    b.classList.toggle("quiet", Boolean(changes[i]) && changes[i].every((r) => r.sign === " "));
    buttons.push(b);
    list.append(el("li", {}, b));
  });
  list.addEventListener("keydown", (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step) return;
    show(Math.min(Math.max(current + step, 0), passes.length - 1), true);
    e.preventDefault();
  });
  only.addEventListener("change", () => show(current));
  const start = changes.findIndex((c) => c && c.some((r) => r.sign !== " "));
  show(Math.max(start, 0));
  return el("div", { class: "passes" }, el("nav", { "aria-label": "passes" }, list), el("div", { class: "passtext" }, title, words, el("label", { class: "check" }, only, "only what has changed"), text));
}

function summary(pass, change) {
  if (pass.left_out) return "left out";
  if (!change) return `${plural(pass.lines.length, "line")} of ${pass.level}`;
  const more = change.filter((r) => r.sign === "+").length, less = change.filter((r) => r.sign === "-").length;
  return more + less ? `+${more} −${less}` : "no change";
}

const AROUND = 2; // lines shown around a change

function diffLines(rows, onlyChanges) {
  const out = [];
  const near = (i) => rows.slice(Math.max(0, i - AROUND), i + AROUND + 1).some((r) => r.sign !== " ");
  let skipped = 0;
  rows.forEach((r, i) => {
    if (onlyChanges && !near(i)) {
      skipped++;
      return;
    }
    if (skipped) out.push(el("i", {}, `  … ${plural(skipped, "line")}`));
    skipped = 0;
    const line = data.lines[r.line], indent = Math.min(/^ */.exec(line)[0].length, 24) + 2;
    out.push(el(r.sign === "+" ? "ins" : r.sign === "-" ? "del" : "span", { class: "line", style: `--indent: ${indent}ch` }, `${r.sign} ${line}`));
  });
  if (skipped) out.push(el("i", {}, `  … ${plural(skipped, "line")}`));
  return out;
}
