" :make checks the program; places of errors, warnings and their notes.
if exists('current_compiler')
  finish
endif
let current_compiler = 'dpc'

CompilerSet makeprg=dpc\ check\ %:S
CompilerSet errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#
