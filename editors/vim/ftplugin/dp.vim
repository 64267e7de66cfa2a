" DP: nested data parallelism, compiled by dpc.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=b:--\|,b:-- commentstring=--\ %s
setlocal expandtab shiftwidth=2 softtabstop=2 textwidth=120
setlocal iskeyword=@,48-57,_,'
setlocal suffixesadd=.dp include=^\\s*import
if executable('dpc')
  setlocal formatprg=dpc\ fmt\ -
endif
compiler dpc

let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< textwidth< iskeyword< suffixesadd< include< formatprg<'
