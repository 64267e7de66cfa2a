// The extension for Visual Studio Code, without it: vscode.js DPC FOLDER
//
// package.json says what its documentation asks for, all that it names is there, and extension.js does what it should with a `vscode` that
// notes what is called. What it sends to a terminal is run by sh.
"use strict";
const assert = require("assert");
const childProcess = require("child_process");
const fs = require("fs");
const Module = require("module");
const path = require("path");

const [dpc, folder] = process.argv.slice(2);
const extension = path.join(__dirname, "../editors/vscode");
const manifest = JSON.parse(fs.readFileSync(path.join(extension, "package.json")));
const there = (file) => assert(fs.existsSync(path.join(extension, file)), `${file} is not there`);

// ---- package.json ----

for (const key of ["name", "version", "publisher", "displayName", "description"]) assert.strictEqual(typeof manifest[key], "string", key);
assert.match(manifest.name, /^[a-z0-9][a-z0-9-]*$/);
assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
assert.match(manifest.engines.vscode, /^\^\d+\.\d+\.\d+$/);
const categories = ["Programming Languages", "Snippets", "Linters", "Themes", "Debuggers", "Formatters", "Keymaps", "Other"];
for (const category of manifest.categories) assert(categories.includes(category), category);
there(manifest.main);
const { languages, grammars, commands, configuration } = manifest.contributes;
assert.deepStrictEqual(Object.keys(manifest.contributes).sort(), ["commands", "configuration", "grammars", "languages"]);
const ids = languages.map((language) => language.id);
for (const language of languages) {
  there(language.configuration);
  for (const ending of language.extensions) assert.match(ending, /^\.\w+$/);
  const known = ["comments", "brackets", "autoClosingPairs", "autoCloseBefore", "surroundingPairs", "folding", "wordPattern", "indentationRules",
    "onEnterRules", "colorizedBracketPairs"];
  const settings = JSON.parse(fs.readFileSync(path.join(extension, language.configuration)));
  for (const key of Object.keys(settings)) assert(known.includes(key), `language-configuration.json has ${key}`);
  assert.strictEqual(settings.comments.lineComment, "--");
  assert(new RegExp(settings.wordPattern || "[A-Za-z_][\\w']*").test("xs'"));
  for (const rule of Object.values(settings.indentationRules || {})) new RegExp(typeof rule === "string" ? rule : rule.pattern);
}
for (const event of manifest.activationEvents) assert(ids.includes(event.replace(/^onLanguage:/, "")), event);
for (const command of commands) assert(command.command && command.title);
for (const [name, setting] of Object.entries(configuration.properties)) {
  assert(name.startsWith("dp."), name);
  assert.strictEqual(typeof setting.default, setting.type);
  assert(setting.description);
}

// What a grammar includes is there.
for (const grammar of grammars) {
  there(grammar.path);
  const text = JSON.parse(fs.readFileSync(path.join(extension, grammar.path)));
  assert.strictEqual(text.scopeName, grammar.scopeName);
  assert(!grammar.language || ids.includes(grammar.language), grammar.language);
  const visit = (rule) => {
    if (rule.include && rule.include[0] === "#") assert(text.repository[rule.include.slice(1)], rule.include);
    if (rule.include && /^[a-z]/.test(rule.include)) assert(grammars.some((other) => rule.include.startsWith(other.scopeName)), rule.include);
    assert(!rule.begin === !(rule.end || rule.while), "begin without end");
    for (const part of [...(rule.patterns || []), ...Object.values(rule.repository || {})]) visit(part);
  };
  visit(text);
}

// ---- extension.js ----

const said = [];
const settings = { path: "" };
const terminals = [];
const document = { uri: { fsPath: "" }, isDirty: true, save: async () => said.push("save") };
const vscode = {
  workspace: { getConfiguration: (name) => ({ get: (key) => settings[key] }), textDocuments: [document] },
  window: {
    terminals,
    createTerminal: (name) => {
      terminals.push({ name, show: () => said.push("show"), sendText: (text) => said.push(text) });
      return terminals[terminals.length - 1];
    },
  },
  commands: {
    registerCommand: (name, run) => {
      assert(name !== "dpc.runTest", "the client registers what the server executes");
      said.push(`command ${name}`);
      vscode.run = { ...vscode.run, [name]: run };
      return { dispose() {} };
    },
  },
};
class LanguageClient {
  constructor(id, name, server, options) { Object.assign(this, { id, name, server, options }); vscode.client = this; }
  async start() { said.push("start"); }
  async stop() { said.push("stop"); }
  async restart() { said.push("restart"); }
}
const load = Module._load;
Module._load = (name, ...more) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...more);

async function main() {
  const program = path.join(folder, "it's a test.dp");
  fs.writeFileSync(program, "-- test main\n-- input  1\n-- output 2\nentry main (x: i64) : i64 = x + 1\n");
  const { activate, deactivate } = require(path.join(extension, manifest.main));
  const context = { subscriptions: [] };
  await activate(context);
  assert.deepStrictEqual(said.splice(0), [...commands.map((command) => `command ${command.command}`), "start"]);
  assert.strictEqual(context.subscriptions.length, commands.length);
  assert.deepStrictEqual(vscode.client.server.run, { command: "dpc", args: ["lsp"] });
  assert.deepStrictEqual(vscode.client.options.documentSelector, [{ language: "dp" }]);
  for (const command of commands) await vscode.run[command.command]();
  assert.deepStrictEqual(said.splice(0), ["restart"]);

  // Run test: the file is saved, and one terminal runs it; other commands are the server's.
  settings.path = dpc;
  document.uri.fsPath = program;
  const { executeCommand } = vscode.client.options.middleware;
  const next = (command, words) => said.push(`server ${command}`);
  await executeCommand("dpc.other", [], next);
  assert.deepStrictEqual(said.splice(0), ["server dpc.other"]);
  await executeCommand("dpc.runTest", [program, "main"], next);
  document.isDirty = false;
  await executeCommand("dpc.runTest", [program, "main"], next);
  const text = said[said.length - 1];
  assert.deepStrictEqual(said.splice(0), ["save", "show", text, "show", text]);
  assert.strictEqual(terminals.length, 1);
  const output = childProcess.execFileSync("sh", ["-c", `${text} --eval=core`], { encoding: "utf8" });
  assert.match(output, /^1 passed, on core/);
  // A file that cannot be saved is not tested.
  document.isDirty = true;
  document.save = async () => false;
  await executeCommand("dpc.runTest", [program, "main"], next);
  assert.deepStrictEqual(said.splice(0), []);
  await deactivate();
  assert.deepStrictEqual(said, ["stop"]);
}

main().catch((error) => { console.log(error.message); process.exit(1); });
