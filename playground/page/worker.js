// Behind the compiler, in a worker: messages {id, what, words} are answered by {id, text}, or by {id, died}, after which
// this worker is of no use any more.

const EXIT_MEMORY = 3; // runtime/include/dp_status.h
let said = "";
const compiler = startCompiler({ print: () => {}, printErr: (line) => (said = line) });

function call(module, what, words) {
  const at = module.ccall(what, "number", words.map(() => "string"), words);
  const text = module.UTF8ToString(at);
  module._free(at);
  return text;
}

/** Why the compiler has ended in the middle. */
function reason(error) {
  if (error instanceof RangeError) return "nested or recursive too deeply for a browser's stack, which dpc itself is not bound to";
  if (error && error.status === EXIT_MEMORY) return "out of memory: a page has 2 GB";
  return `the compiler has made a mistake: ${said || (error && error.message) || error}`;
}

onmessage = async ({ data: { id, what, words } }) => {
  try {
    postMessage({ id, text: call(await compiler, what, words) });
  } catch (error) {
    postMessage({ id, died: reason(error) });
  }
};
