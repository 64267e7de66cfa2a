// The grammar of DP for tree-sitter. It follows compiler/syntax/parser.y rule by rule; tests/tree_sitter.sh holds the two together:
// each program, with parentheses around all that the tree calls an expression, a pattern or a type, has to be the same program for dpc.
//
// Three tokens depend on what stands around them: `[` directly behind a value indexes (token.immediate), and src/scanner.c tells the `|` of
// a condition in { … | c } from the operator, and the last `**` of a section from the others.

// From loose to tight. Forms that end in an expression extend as far right as possible: OPEN is below all operators.
const PREC = {
  OPEN: 1, PIPE: 3, BACK_PIPE: 4, WITH: 5, OR: 6, AND: 7, COMPARE: 8, BITOR: 9, BITXOR: 10, BITAND: 11, SHIFT: 12, APPEND: 13,
  RANGE: 14, STEPPED: 15, ADD: 16, MULTIPLY: 17, POWER_SECTION: 18, POWER: 19, UNARY: 20,
};

const separated = (rule, separator) => seq(rule, repeat(seq(separator, rule)));
const list = (rule) => seq(separated(rule, ','), optional(','));
const DIGITS = '[0-9][0-9_]*';
const INTEGER_TYPE = '([iu](8|16|32|64))?';

module.exports = grammar({
  name: 'dp',
  word: $ => $.identifier,
  extras: $ => [/[ \t\r\n\f\v]/, $.comment],
  externals: $ => [$._condition_bar, $._bar, $._power_section],
  supertypes: $ => [$._expression, $._pattern, $._type],
  conflicts: $ => [
    // Without `e :` the first pattern of { p in xs } looks like an expression until its `in`.
    [$._value, $._pattern_atom],
    [$._literal_value, $._pattern_atom],
    [$._literal_value, $.negative_pattern],
    [$.record_field, $.field_pattern],
    [$.constructor_value, $._pattern_atom],
    [$.constructor_value, $.constructor_pattern],
    // [n]t is read as [t] until something follows the bracket.
    [$.size, $.named_type],
  ],

  rules: {
    source_file: $ => repeat($._definition),
    comment: _ => token(seq('--', /[^\n]*/)),

    _definition: $ => choice($.value_definition, $.type_definition, $.import),
    value_definition: $ => seq(choice('def', 'entry'), field('name', $.identifier), repeat(field('type_parameter', $.type_variable)),
      repeat(field('parameter', $._pattern_atom)), optional(seq(':', field('result', $._type))), '=', field('body', $._expression)),
    type_definition: $ => seq('type', field('name', $.identifier), repeat(field('type_parameter', $.type_variable)), '=',
      field('type', $._type)),
    import: $ => seq('import', field('path', $.string), optional(seq('as', field('alias', $.identifier)))),

    // ---- types ----

    _type: $ => choice($._function_or_less, $.sum_type),
    sum_type: $ => prec.left(separated($.constructor_type, alias($._bar, '|'))),
    constructor_type: $ => seq(field('name', $.constructor), optional(field('payload', $._function_or_less))),
    _function_or_less: $ => choice($._array_or_less, $.function_type),
    function_type: $ => seq(field('parameter', $._array_or_less), '->', field('result', $._function_or_less)),
    _array_or_less: $ => choice($._type_atom, $.type_application, $.sized_array_type),
    sized_array_type: $ => seq('[', field('size', $.size), ']', field('element', $._array_or_less)),
    size: $ => choice($.identifier, $.integer),
    type_application: $ => seq(field('name', $.named_type), repeat1(field('argument', $._type_atom))),
    _type_atom: $ => choice($.named_type, $.type_variable, alias($.unit, $.unit_type), $.parenthesized_type, $.tuple_type, $.record_type,
      $.array_type),
    named_type: $ => seq(optional(seq(field('module', $.identifier), '.')), field('name', $.identifier)),
    parenthesized_type: $ => seq('(', $._type, ')'),
    tuple_type: $ => seq('(', $._type, ',', list($._type), ')'),
    record_type: $ => seq('{', list($.field_type), '}'),
    field_type: $ => seq(field('name', $.identifier), ':', field('type', $._type)),
    array_type: $ => seq('[', field('element', $._type), ']'),

    // ---- patterns ----

    _pattern: $ => choice($._pattern_atom, $.constructor_pattern, $.negative_pattern),
    constructor_pattern: $ => seq(field('name', $.constructor), field('payload', $._pattern_atom)),
    negative_pattern: $ => seq('-', choice($.integer, $.float)),
    _pattern_atom: $ => choice($.identifier, $.wildcard, $.integer, $.float, $.character, $.boolean, $.string, $.constructor, $.unit,
      $.parenthesized_pattern, $.tuple_pattern, $.record_pattern),
    wildcard: _ => '_',
    parenthesized_pattern: $ => seq('(', $._typed_pattern, ')'),
    tuple_pattern: $ => seq('(', $._typed_pattern, ',', list($._typed_pattern), ')'),
    record_pattern: $ => seq('{', list($.field_pattern), '}'),
    field_pattern: $ => seq(field('name', $.identifier), optional(seq('=', field('pattern', $._pattern)))),
    _typed_pattern: $ => choice($._pattern, $.typed_pattern),
    typed_pattern: $ => seq(field('pattern', $._pattern), ':', field('type', $._type)),

    // ---- expressions ----

    _expression: $ => choice($._operand, $.let_expression, $.if_expression, $.match_expression, $.lambda, $.loop_expression,
      $.pipe_expression, $.update_expression, $.range_expression, $.binary_expression, $.unary_expression),

    let_expression: $ => prec(PREC.OPEN, seq(repeat1(seq('let', choice($.binding, $.function_binding))), 'in', field('body', $._expression))),
    binding: $ => seq(field('pattern', $._typed_pattern), '=', field('value', $._expression)),
    function_binding: $ => seq(field('name', $.identifier),
      choice(seq(repeat1(field('type_parameter', $.type_variable)), repeat(field('parameter', $._pattern_atom))),
        repeat1(field('parameter', $._pattern_atom))),
      optional(seq(':', field('result', $._type))), '=', field('body', $._expression)),

    if_expression: $ => prec(PREC.OPEN, seq('if', field('condition', $._expression), 'then', field('then', $._expression), 'else',
      field('else', $._expression))),
    match_expression: $ => prec.right(seq('match', field('subject', $._expression), repeat1($.match_case))),
    match_case: $ => prec(PREC.OPEN, seq('case', field('pattern', $._pattern), '->', field('body', $._expression))),
    lambda: $ => prec(PREC.OPEN, seq('\\', repeat1(field('parameter', $._pattern_atom)), '->', field('body', $._expression))),
    loop_expression: $ => prec(PREC.OPEN, seq('loop', field('state', $._typed_pattern), '=', field('start', $._expression),
      choice(seq('for', field('counter', $._typed_pattern), choice('<', 'in'), field('over', $._expression)),
        seq('while', field('condition', $._expression))),
      'do', field('body', $._expression))),

    pipe_expression: $ => choice(
      prec.left(PREC.PIPE, seq(field('left', $._expression), '|>', field('right', $._expression))),
      prec.right(PREC.BACK_PIPE, seq(field('left', $._expression), '<|', field('right', $._expression)))),
    update_expression: $ => prec.left(PREC.WITH, seq(field('whole', $._expression), 'with', $._steps, '=', field('value', $._expression))),
    _steps: $ => seq(choice(seq('[', list_without_end($), ']'), field('field', $.identifier)),
      repeat(choice(seq(alias(token.immediate(prec(1, '[')), '['), list_without_end($), ']'), $._part))),
    slice: $ => seq(optional(field('from', $._expression)), ':', optional(field('to', $._expression))),

    range_expression: $ => choice(
      prec.left(PREC.RANGE, seq(field('from', $._expression), choice('..<', '...'), field('to', $._expression))),
      prec.left(PREC.STEPPED, seq(field('from', $._expression), '..', field('second', $._expression), choice('..<', '...'),
        field('to', $._expression)))),
    binary_expression: $ => choice(...binary_operators($).map(([operator, rank, associate]) =>
      associate(rank, seq(field('left', $._expression), field('operator', operator), field('right', $._expression))))),
    unary_expression: $ => prec(PREC.UNARY, seq(field('operator', choice('-', '!', '~')), field('operand', $._expression))),

    _operand: $ => choice($._postfix, $.application),
    application: $ => seq(field('function', $._postfix), repeat1(field('argument', $._postfix))),
    _postfix: $ => choice($._value, $._literal_value, $.constructor_value),
    constructor_value: $ => $.constructor,

    // Behind these a `[` without a blank is an index.
    _value: $ => choice($.identifier, $.string, $.unit, $.parenthesized_expression, $.tuple, $.section, $.accessor, $.array, $.record, $.each,
      $.index_expression, $.field_expression),
    _literal_value: $ => choice($.integer, $.float, $.character, $.boolean),
    index_expression: $ => seq(field('array', $._value), alias(token.immediate(prec(1, '[')), '['),
      field('index', choice($._expression, $.slice)), ']'),
    field_expression: $ => seq(field('whole', $._postfix), $._part),
    _part: $ => seq('.', field('field', choice($.identifier, $.component))),
    component: _ => /[0-9]+/,

    unit: _ => seq('(', ')'),
    parenthesized_expression: $ => seq('(', $._item, ')'),
    tuple: $ => seq('(', $._item, ',', list($._item), ')'),
    _item: $ => choice($._expression, $.ascription),
    ascription: $ => seq(field('value', $._expression), ':', field('type', $._type)),
    section: $ => choice(
      seq('(', field('operator', section_operator($, true)), ')'),
      seq('(', field('operator', section_operator($, false)), field('right', $._expression), ')'),
      seq('(', field('left', $._expression), field('operator', section_operator($, true)), ')')),
    accessor: $ => seq('(', repeat1($._part), ')'),
    array: $ => seq('[', optional(list($._expression)), ']'),
    record: $ => seq('{', list($.record_field), '}'),
    record_field: $ => seq(field('name', $.identifier), optional(seq('=', field('value', $._expression)))),

    each: $ => seq('{', optional(seq(field('body', $._expression), ':')), separated($.generator, ';'),
      optional(seq(alias($._condition_bar, '|'), field('condition', $._expression))), '}'),
    generator: $ => seq(field('pattern', $._pattern), 'in', field('over', $._expression)),

    // ---- words ----

    identifier: _ => /[A-Za-z_][A-Za-z0-9_']*/,
    constructor: _ => /#[A-Za-z_][A-Za-z0-9_']*/,
    type_variable: _ => /'[A-Za-z_][A-Za-z0-9_]*/,
    boolean: _ => choice('true', 'false'),
    integer: _ => token(choice(new RegExp(DIGITS + INTEGER_TYPE), new RegExp('0x_*[0-9a-fA-F][0-9a-fA-F_]*' + INTEGER_TYPE),
      new RegExp('0b_*[01][01_]*' + INTEGER_TYPE))),
    float: _ => token(choice(new RegExp(DIGITS + 'f(32|64)'), new RegExp(`${DIGITS}[.]${DIGITS}([eE][+-]?${DIGITS})?(f(32|64))?`),
      new RegExp(`${DIGITS}[eE][+-]?${DIGITS}(f(32|64))?`))),
    character: _ => token(choice(/'[^'\\\n]'/, /'\\x[0-9a-fA-F]*'/, /'\\[0-7]+'/, /'\\[^\n]'/)),
    string: $ => seq('"', repeat(choice(token.immediate(prec(1, /[^"\\\n]+/)), $.escape)), token.immediate('"')),
    escape: _ => token.immediate(prec(1, choice(/\\x[0-9a-fA-F]{2}/, /\\[0-7]{1,3}/, /\\[^\n]/))),
  },
});

function list_without_end($) {
  return separated(field('place', choice($._expression, $.slice)), ',');
}

function binary_operators($) {
  return [
    ['||', PREC.OR, prec.left], ['&&', PREC.AND, prec.left],
    ...['==', '!=', '<', '<=', '>', '>='].map(operator => [operator, PREC.COMPARE, prec.left]),
    [alias($._bar, '|'), PREC.BITOR, prec.left], ['^', PREC.BITXOR, prec.left], ['&', PREC.BITAND, prec.left],
    ['<<', PREC.SHIFT, prec.left], ['>>', PREC.SHIFT, prec.left], ['++', PREC.APPEND, prec.left],
    ['+', PREC.ADD, prec.left], ['-', PREC.ADD, prec.left],
    ['*', PREC.MULTIPLY, prec.left], ['/', PREC.MULTIPLY, prec.left], ['%', PREC.MULTIPLY, prec.left], ['**', PREC.POWER, prec.right],
    // Never read to its end, as `)` follows: it keeps `a * b` from being all of (a * b **).
    [alias($._power_section, '**'), PREC.POWER_SECTION, prec.left],
  ];
}

// `-` in front of an expression negates, so it begins no section.
function section_operator($, minus) {
  return choice('||', '&&', '==', '!=', '<', '<=', '>', '>=', alias($._bar, '|'), '^', '&', '<<', '>>', '++', '+', ...(minus ? ['-'] : []),
    '*', '/', '%', '**', alias($._power_section, '**'));
}
