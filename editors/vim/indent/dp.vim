" As dpc fmt indents where the author has not chosen: 2 behind what has to go on, `in`, `else` and `case` below their words.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=DpIndent(v:lnum) indentkeys=o,O,*<Return>,0),0],0},0=in,0=else,0=then,0=case,0=def,0=entry,0=type,0=import
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*DpIndent')
  finish
endif

" The line above that begins with one of the words and is indented at most as much; else -1.
function s:IndentOf(lnum, words)
  let l:at = prevnonblank(a:lnum - 1)
  while l:at > 0
    let l:column = match(getline(l:at), '\<\(' . a:words . '\)\>')
    if l:column >= 0
      return l:column
    endif
    if getline(l:at) =~# '^\S'
      return -1
    endif
    let l:at = prevnonblank(l:at - 1)
  endwhile
  return -1
endfunction

function DpIndent(lnum)
  let l:line = getline(a:lnum)
  let l:above = prevnonblank(a:lnum - 1)
  if l:above == 0 || l:line =~# '^\s*\(def\|entry\|type\|import\)\>'
    return 0
  endif
  let l:text = substitute(getline(l:above), '\s*--.*$', '', '')
  for [l:word, l:partner] in [['in', 'let'], ['else', 'if'], ['then', 'if'], ['case', 'case\|match']]
    if l:line =~# '^\s*' . l:word . '\>'
      let l:column = s:IndentOf(a:lnum, l:partner)
      return l:column >= 0 ? l:column : indent(l:above)
    endif
  endfor
  if l:line =~# '^\s*[])}]'
    return max([indent(l:above) - shiftwidth(), 0])
  endif
  if l:text =~# '\(=\|->\|[[({]\|\<\(then\|else\|do\|in\)\)$'
    return indent(l:above) + shiftwidth()
  endif
  return indent(l:above)
endfunction
