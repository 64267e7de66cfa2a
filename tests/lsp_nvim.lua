-- The client that is part of Neovim, with dpc lsp: nvim --headless -u NONE -n -S lsp_nvim.lua, with DPC and FOLDER in the environment.
-- FOLDER has app/main.dp, lib/shapes.dp and other.dp, as of tests/lsp_project.py. Prints what does not hold, and then `done`.
local folder = vim.env.FOLDER

local function check(what, holds, got)
  if not holds then print('FAILED: ' .. what .. ': ' .. vim.inspect(got)) end
end

vim.cmd('set nocompatible rtp^=' .. vim.env.ROOT .. '/editors/vim')
vim.cmd('filetype plugin indent on')
vim.cmd('syntax on')
vim.cmd('edit ' .. folder .. '/app/main.dp')
check('the type of the file', vim.bo.filetype == 'dp', vim.bo.filetype)
local start = vim.lsp.start_client or vim.lsp.start
local client = start({
  name = 'dpc', cmd = { vim.env.DPC, 'lsp' }, root_dir = folder,
  workspace_folders = { { uri = vim.uri_from_fname(folder), name = 'work' } },
})
vim.lsp.buf_attach_client(0, client)
vim.wait(5000, function() local c = vim.lsp.get_client_by_id(client) return c and c.initialized end)

local function ask(method, params)
  params.textDocument = { uri = vim.uri_from_bufnr(0) }
  local answer = vim.lsp.buf_request_sync(0, method, params, 60000)
  return answer and answer[client] or {}
end
local function at(words) -- behind the first of them in the document
  for i, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local _, last = line:find(words, 1, true)
    if last then return { line = i - 1, character = last } end
  end
end

local hover = ask('textDocument/hover', { position = at('{ S.ar') }).result
check('hover', hover and hover.contents.value:find('Of a box.', 1, true), hover)
local found = ask('textDocument/definition', { position = at('Stats.med') }).result
check('a definition in the library', found and found.uri:find('/library/stats.dp', 1, true), found)
local places = ask('textDocument/references', { position = at('{ S.ar'), context = { includeDeclaration = true } }).result
check('references', places and #places == 4, places)

-- What is typed reaches the server as ranges; the diagnostics come back.
vim.fn.cursor(6, vim.fn.match(vim.fn.getline(6), ' : b in') + 1)
vim.cmd('normal! i + true 𝄞')
vim.wait(5000, function() return #vim.diagnostic.get(0) > 0 end)
check('diagnostics while typing', #vim.diagnostic.get(0) > 0, vim.diagnostic.get(0))
vim.cmd('normal! u')
vim.wait(5000, function() return #vim.diagnostic.get(0) == 0 end)
check('diagnostics after undo', #vim.diagnostic.get(0) == 0, vim.diagnostic.get(0))

local items = ask('textDocument/completion', { position = at('{ S.') }).result
check('completion', items and #items.items == 3, items)
local help = ask('textDocument/signatureHelp', { position = at('S.area ') }).result
check('signature help', help and help.signatures[1].label:find('area', 1, true), help)
local edit = ask('textDocument/rename', { position = at('{ S.ar'), newName = 'surface' })
check('rename', edit.result, edit)
vim.lsp.util.apply_workspace_edit(edit.result or {}, 'utf-16')
check('the renamed line', vim.fn.getline(6):find('S.surface b', 1, true), vim.fn.getline(6))
vim.cmd('silent wall')
local other = table.concat(vim.fn.readfile(folder .. '/other.dp'), '\n')
check('the renamed file', other:find('surface b + surface b', 1, true), other)

vim.fn.append('$', 'def   last  =  "𝄞"')
local edits = ask('textDocument/formatting', { options = { tabSize = 2, insertSpaces = true } }).result
vim.lsp.util.apply_text_edits(edits or {}, 0, 'utf-16')
check('formatting', vim.fn.getline('$') == 'def last = "𝄞"', vim.fn.getline('$'))
vim.cmd('silent wall')
local lenses = ask('textDocument/codeLens', {}).result
check('lenses', lenses and #lenses == 2, lenses)
local run = vim.lsp.buf_request_sync(0, 'workspace/executeCommand', lenses[1].command, 60000)[client]
check('run test', run.result and run.result.status == 0 and run.result.output:find('1 passed', 1, true), run)
print('done')
vim.cmd('qall!')
