; Names and where they are known.

[(value_definition) (function_binding) (lambda) (let_expression) (match_case) (loop_expression) (each)] @local.scope

(value_definition name: (identifier) @local.definition.function (#set! definition.function.scope "parent"))
(function_binding name: (identifier) @local.definition.function (#set! definition.function.scope "parent"))
(type_definition name: (identifier) @local.definition.type)
(import alias: (identifier) @local.definition.import)

(value_definition parameter: (identifier) @local.definition.parameter)
(function_binding parameter: (identifier) @local.definition.parameter)
(lambda parameter: (identifier) @local.definition.parameter)
(typed_pattern pattern: (identifier) @local.definition.var)
(tuple_pattern (identifier) @local.definition.var)
(parenthesized_pattern (identifier) @local.definition.var)
(constructor_pattern payload: (identifier) @local.definition.var)
(field_pattern name: (identifier) @local.definition.var !pattern)
(field_pattern pattern: (identifier) @local.definition.var)
(binding pattern: (identifier) @local.definition.var)
(generator pattern: (identifier) @local.definition.var)
(match_case pattern: (identifier) @local.definition.var)
(loop_expression state: (identifier) @local.definition.var)
(loop_expression counter: (identifier) @local.definition.var)

(identifier) @local.reference
