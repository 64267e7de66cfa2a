// What the compiler knows of the program: the JSON in the page, with places as positions in JavaScript's texts.

const data = JSON.parse(document.getElementById("data").textContent);

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

/** A trace: statements by number, and the events. */
function readTrace(lines) {
  const statements = [], events = [];
  let head = null;
  for (const line of lines) {
    if (line.event === "trace") head = line;
    else if (line.event === "statement") statements[line.id] = line;
    else events.push(line);
  }
  return { head, statements, events };
}
