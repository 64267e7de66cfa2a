" DP: the language of dpc.
if exists('b:current_syntax')
  finish
endif

syntax match dpOperator "[-+*/%^&|<>=!~\\]\|\.\.[.<]\?"
syntax match dpNumber "\<\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?[0-9_]\+\)\?\([iu]\(8\|16\|32\|64\)\|f\(32\|64\)\)\?\>"
syntax match dpNumber "\<0x[0-9a-fA-F_]\+\([iu]\(8\|16\|32\|64\)\)\?\>\|\<0b[01_]\+\([iu]\(8\|16\|32\|64\)\)\?\>"
syntax match dpConstructor "#[A-Za-z_][A-Za-z0-9_']*"
syntax match dpTypeVariable "\(^\|[^A-Za-z0-9_']\)\@<='[A-Za-z_][A-Za-z0-9_]*"
syntax match dpCharacter "'\([^'\\]\|\\\(x\x\x\|.\)\)'"
syntax match dpName "\<[A-Za-z_][A-Za-z0-9_']*" contained
syntax keyword dpDefinition def entry type nextgroup=dpName skipwhite
syntax keyword dpDefinition import
syntax keyword dpKeyword let in if then else match case loop for while do with
syntax keyword dpBoolean true false
syntax keyword dpType bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 text
syntax region dpString start=+"+ skip=+\\\\\|\\"+ end=+"\|$+ contains=dpEscape
syntax match dpEscape "\\\(x\x\x\|.\)" contained
syntax match dpTest "--\s*\(test\|property\|input\|output\|error\|expect\|hint\|bench\|warns\)\>"hs=s+2 contained
syntax keyword dpTodo TODO FIXME contained
syntax match dpComment "--.*$" contains=dpTest,dpTodo,@Spell
syntax match dpDocumentation "--|.*$" contains=@Spell

highlight default link dpOperator Operator
highlight default link dpNumber Number
highlight default link dpConstructor Constant
highlight default link dpTypeVariable Type
highlight default link dpCharacter Character
highlight default link dpName Function
highlight default link dpDefinition Structure
highlight default link dpKeyword Keyword
highlight default link dpBoolean Boolean
highlight default link dpType Type
highlight default link dpString String
highlight default link dpEscape SpecialChar
highlight default link dpTest PreProc
highlight default link dpTodo Todo
highlight default link dpComment Comment
highlight default link dpDocumentation SpecialComment

let b:current_syntax = 'dp'
