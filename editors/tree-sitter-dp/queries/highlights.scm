; What things are. A later pattern wins in some editors and an earlier one in others, so that none of them overlap but for names.

(comment) @comment
((comment) @comment.documentation (#match? @comment.documentation "^--[|]"))

["def" "entry" "type"] @keyword
["import" "as"] @keyword.import
["let" "in" "do" "with"] @keyword
["if" "then" "else" "match" "case"] @keyword.conditional
["loop" "for" "while"] @keyword.repeat

["||" "&&" "==" "!=" "<" "<=" ">" ">=" "|" "^" "&" "<<" ">>" "++" "+" "-" "*" "/" "%" "**" "!" "~" "|>" "<|" ".." "..<" "..." "="
 "->" "\\"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter

(boolean) @boolean
(integer) @number
(float) @number.float
(character) @character
(string) @string
(escape) @string.escape
(import path: (string) @string.special.path)
(constructor) @constructor
(wildcard) @variable.builtin

(type_variable) @type.parameter
(type_definition name: (identifier) @type.definition)
(named_type name: (identifier) @type)
((named_type name: (identifier) @type.builtin)
 (#any-of? @type.builtin "bool" "i8" "i16" "i32" "i64" "u8" "u16" "u32" "u64" "f32" "f64" "text"))
(named_type module: (identifier) @module)
(import alias: (identifier) @module)
(size (identifier) @variable)

(value_definition name: (identifier) @function)
(function_binding name: (identifier) @function)
(value_definition parameter: (identifier) @variable.parameter)
(function_binding parameter: (identifier) @variable.parameter)
(lambda parameter: (identifier) @variable.parameter)
(application function: (identifier) @function.call)
(application function: (field_expression field: (identifier) @function.call))
(field_expression field: [(identifier) (component)] @property)
(accessor field: [(identifier) (component)] @property)
(update_expression field: [(identifier) (component)] @property)
(record_field name: (identifier) @property)
(field_pattern name: (identifier) @property)
(field_type name: (identifier) @property)
