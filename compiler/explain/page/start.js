// The page: tabs, theme, and what the views are made of.

function startPage() {
  const model = readStages(), links = new Links(model);
  const stages = stagesView(links), runs = new Runs(links), flat = runs.all[0];
  const views = [
    ["stages", "Stages", stages],
    ["passes", "Passes", passesView()],
    ["run", "Run", runs.root],
    ["cost", "Cost", costView(model, flat.trace)],
  ];
  const main = document.getElementById("main"), top = document.getElementById("top");
  const printed = el("div", { id: "text", class: "printed" });
  printed.append(...main.querySelectorAll("section.stage"));
  document.getElementById("plain").remove();
  const tabs = el("div", { role: "tablist", "aria-label": "views" });
  const buttons = [], panels = [];
  const choose = (i, focus) => {
    buttons.forEach((b, k) => {
      b.setAttribute("aria-selected", String(k === i));
      b.tabIndex = k === i ? 0 : -1;
      panels[k].hidden = k !== i;
    });
    if (focus) buttons[i].focus();
    if (views[i][0] === "run" && flat.trace.events.length) runs.shown.show(runs.shown.n);
  };
  views.forEach(([name, word, root], i) => {
    const b = el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}`, onclick: () => choose(i) }, word);
    const p = el("div", { role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}` }, root);
    buttons.push(b);
    panels.push(p);
    tabs.append(b);
    main.append(p);
  });
  tabs.addEventListener("keydown", (e) => {
    const at = buttons.indexOf(document.activeElement), step = { ArrowRight: 1, ArrowLeft: -1, Home: -at, End: buttons.length - 1 - at }[e.key];
    if (step === undefined) return;
    choose((at + step + buttons.length) % buttons.length, true);
    e.preventDefault();
  });
  top.append(tabs, themeButton());
  main.append(printed, arrowHeads());
  document.body.classList.add("scripted");
  document.addEventListener("keydown", (e) => runKeys(e, runs.shown, panels[2]));
  choose(0);
}

/** In the run, without a control that wants them: j and k step, 0 and $ go to the ends. */
function runKeys(e, run, panel) {
  if (panel.hidden || e.ctrlKey || e.metaKey || e.altKey || !run.trace.events.length || /^(?:INPUT|SELECT)$/.test(e.target.tagName)) return;
  const to = { j: run.n + 1, k: run.n - 1, 0: 0, $: run.trace.events.length - 1 }[e.key];
  if (to !== undefined) run.show(to);
  else if (e.key === "o") run.over();
}
