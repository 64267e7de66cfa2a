// Elements, and what pages share: the page of dpc explain and the playground.

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

function themeButton() {
  const names = ["auto", "light", "dark"];
  let at = 0;
  const button = el("button", { type: "button", class: "theme", onclick: () => set(at + 1) });
  const set = (i) => {
    at = i % names.length;
    document.documentElement.dataset.theme = names[at];
    button.textContent = `${{ auto: "◐", light: "☀", dark: "☾" }[names[at]]} ${names[at]}`;
    button.setAttribute("aria-label", `colours: ${names[at]}`);
  };
  set(0);
  return button;
}
