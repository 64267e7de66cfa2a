// The client of `dpc lsp`, and the command behind "run test".
const vscode = require("vscode");

let client;

// Without what npm brings (vscode-languageclient) DP is highlighted, and the language server not started.
function clientOfServer() {
  try {
    return require("vscode-languageclient/node").LanguageClient;
  } catch (missing) {
    vscode.window.showInformationMessage("DP: the language server needs `npm install` in the extension's folder.");
    return null;
  }
}

function dpc() {
  return vscode.workspace.getConfiguration("dp").get("path") || "dpc";
}

function quoted(word) {
  return "'" + word.replace(/'/g, "'\\''") + "'";
}

// The server would run a test itself; here a terminal does.
const middleware = {
  executeCommand: (command, words, next) => (command === "dpc.runTest" ? runTest(...words) : next(command, words)),
};

function start() {
  const LanguageClient = clientOfServer();
  if (!LanguageClient) return;
  const run = { command: dpc(), args: ["lsp"] };
  client = new LanguageClient("dpc", "DP", { run, debug: run }, { documentSelector: [{ language: "dp" }], middleware });
  return client.start();
}

async function runTest(file, name) {
  const title = "dpc test";
  const document = vscode.workspace.textDocuments.find((d) => d.uri.fsPath === file);
  if (document && document.isDirty && !(await document.save())) return;
  const terminal = vscode.window.terminals.find((t) => t.name === title) || vscode.window.createTerminal(title);
  terminal.show(true);
  terminal.sendText(`${quoted(dpc())} test --only=${name} ${quoted(file)}`);
}

exports.activate = async function (context) {
  context.subscriptions.push(vscode.commands.registerCommand("dpc.restart", () => client && client.restart()));
  await start();
};

exports.deactivate = () => client && client.stop();
