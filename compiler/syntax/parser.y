/* The grammar of DP. Actions only call the constructors of build.h; places of tokens come from Bison's
 * locations. Binary operators are ranked by the table of precedences below, which is LANGUAGE's table of
 * expressions upside down. There are no conflicts beyond those that the table settles. */
%code requires {
#include "syntax/build.h"
}

%code {
#include "support/memory.h"
#include "syntax/advice.h"

#include <stdlib.h>

int dp_yylex(DP_YYSTYPE *value, Span *at, yyscan_t scanner); /* generated from lexer.l */

/* A rule without symbols has its place behind the symbol before it. */
#define YYLLOC_DEFAULT(Current, Rhs, N)                                                              \
    (Current) = (N) ? span_make(YYRHSLOC(Rhs, 1).file, YYRHSLOC(Rhs, 1).start, YYRHSLOC(Rhs, N).end)    \
                    : span_make(YYRHSLOC(Rhs, 0).file, YYRHSLOC(Rhs, 0).end, YYRHSLOC(Rhs, 0).end)

/* Levels of nesting that a hostile input may open; the stack lives on the heap. */
#define YYMAXDEPTH 200000
#define YYMALLOC(n) memory_alloc(1, n)
#define YYFREE free

#define EXPR(...) build_expr(p, yyloc, (Expr){__VA_ARGS__})
#define PAT(...) build_pat(p, yyloc, (Pat){__VA_ARGS__})
#define TYPE(...) build_type(p, yyloc, (TypeExpr){__VA_ARGS__})
#define BINARY(op, left, left_at, op_at, right) build_binary(p, yyloc, (op), (op_at), (left), (left_at), (right))

static void add_definition(ParseState *p, Def *def);
static void begin_definition(ParseState *p, Span at, bool recovering);
static Def *top_level(Def *def, const char *doc, bool is_entry);
static Expr *each(ParseState *p, Span at, Expr *body, BinderList *binders, Expr *guard);
static void dp_yyerror(const Span *at, ParseState *p, yyscan_t scanner, const char *message);
}

%define api.pure full
%define api.prefix {dp_yy}
%define api.token.prefix {T_}
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%lex-param {yyscan_t scanner}
%parse-param {ParseState *p} {yyscan_t scanner}

%union {
    Name name;
    const char *doc;
    uint32_t index;
    bool flag;
    BinaryOp binary_op;
    Expr *expr;
    Pat *pat;
    TypeExpr *type;
    Def *def;
    TypeField type_field;
    PatField pat_field;
    ExprField expr_field;
    Binder binder;
    MatchCase match_case;
    struct { Pat *pat; Expr *value; Def *def; } binding;
    NameList *names;
    TypeList *types;
    TypeFieldList *type_fields;
    PatList *pats;
    PatFieldList *pat_fields;
    ExprList *exprs;
    ExprFieldList *expr_fields;
    BinderList *binders;
    CaseList *cases;
}

%token END 0 "the end of the file"
%token START_MODULE START_TYPE START_EXPRESSION
%token <doc> DEF "`def`" ENTRY "`entry`" TYPE "`type`" IMPORT "`import`"
%token LET "`let`" IN "`in`" IF "`if`" THEN "`then`" ELSE "`else`" MATCH "`match`" CASE "`case`"
%token LOOP "`loop`" FOR "`for`" WHILE "`while`" DO "`do`" WITH "`with`" WILD "`_`"
%token <name> NAME "a name" CTOR "a constructor" TYPE_VARIABLE "a type variable"
%token <expr> INT "an integer" FLOAT "a number" CHAR "a character" STRING "a string" TRUE "`true`" FALSE "`false`"
%token <index> PROJECTION "a component's number"
%token PAREN_OPEN "`(`" PAREN_CLOSE "`)`" INDEX_OPEN "an index" ARRAY_OPEN "`[`" BRACKET_CLOSE "`]`"
%token BRACE_OPEN "`{`" BRACE_CLOSE "`}`"
%token <binary_op> FILTER_BAR "`|` and a condition" BAR "`|`"
%token <binary_op> OR "`||`" AND "`&&`" EQ "`==`" NE "`!=`" LT "`<`" LE "`<=`" GT "`>`" GE "`>=`"
%token <binary_op> BITXOR "`^`" BITAND "`&`" SHL "`<<`" SHR "`>>`" APPEND "`++`" PLUS "`+`" MINUS "`-`"
%token <binary_op> STAR "`*`" SLASH "`/`" PERCENT "`%`" POW "`**`" POW_SECTION "`**` of a section"
%token NOT "`!`" TILDE "`~`" PIPE "`|>`" BACK_PIPE "`<|`" RANGE_BELOW "`..<`" RANGE_TO "`...`" RANGE_STEP "`..`"
%token ASSIGN "`=`" COLON "`:`" SEMICOLON "`;`" COMMA "`,`" ARROW "`->`" LAMBDA "`\\`" DOT "`.`"

/* Forms that end in an expression extend as far right as possible: their rules have the rank OPEN, so
 * that any operator behind them, and a further `case`, goes on with their last part. */
%precedence OPEN
%precedence CASE
%left PIPE
%right BACK_PIPE
%left WITH
%left OR
%left AND
%left EQ NE LT LE GT GE /* chains are reported by build_binary */
%left BAR
%left BITXOR
%left BITAND
%left SHL SHR
%left APPEND
%left RANGE_BELOW RANGE_TO RANGE_STEP /* a..b..<c: (a..b), which is no range yet, to c */
%left PLUS MINUS
%left STAR SLASH PERCENT
%left POW_SECTION /* below POW: (a ** b **) is (a ** b) in a section */
%right POW
%precedence UNARY

%type <def> definition import function local_function
%type <doc> def_word entry_word type_word import_word
%type <names> type_parameters type_variables
%type <type> optional_type type fun_type array_type type_application type_atom type_argument
%type <types> type_arguments type_items
%type <type_field> constructor type_field
%type <type_fields> sum_type type_fields
%type <pat> pattern pat_atom pat_item bound_pattern typed_pattern parameter
%type <pats> pat_items parameters optional_parameters
%type <pat_field> pat_field
%type <pat_fields> pat_fields
%type <expr> expr let_expr operand postfix primary part place item each_guard literal number
%type <exprs> steps places arguments items array_items
%type <expr_field> field
%type <expr_fields> fields
%type <binding> binding
%type <binder> binder first_binder
%type <binders> binders short_binders
%type <match_case> case
%type <cases> cases
%type <flag> comma
%type <binary_op> operator section_operator

%%

start:
    START_MODULE module
  | START_TYPE type END { p->type = $type; }
  | START_EXPRESSION expr END { add_definition(p, build_expression_entry(p, $expr)); }
  ;

/* Behind an error, reading goes on at the next definition. */
module:
    %empty
  | module definition { add_definition(p, $definition); }
  | module error
  ;

definition:
    def_word function { $$ = top_level($function, $def_word, false); $$->span = @$; }
  | entry_word function { $$ = top_level($function, $entry_word, true); $$->span = @$; }
  | type_word NAME type_parameters ASSIGN type {
        $$ = build_value(p, @$, $NAME, @NAME, $type_parameters, NULL, $type, NULL);
        $$->kind = DEF_TYPE;
        $$->doc = $type_word;
    }
  | import { $$ = $import; $$->span = @$; }
  ;

/* With these words an erroneous definition has ended: errors are reported again. */
def_word: DEF { begin_definition(p, @$, YYRECOVERING()); yyerrok; $$ = $DEF; } ;
entry_word: ENTRY { begin_definition(p, @$, YYRECOVERING()); yyerrok; $$ = $ENTRY; } ;
type_word: TYPE { begin_definition(p, @$, YYRECOVERING()); yyerrok; $$ = $TYPE; } ;
import_word: IMPORT { begin_definition(p, @$, YYRECOVERING()); yyerrok; $$ = $IMPORT; } ;

import:
    import_word STRING { $$ = top_level(build_import(p, @$, $STRING, NULL, @$, NULL, @$), $import_word, false); }
  | import_word STRING NAME[as] NAME[alias] {
        $$ = top_level(build_import(p, @$, $STRING, $as, @as, $alias, @alias), $import_word, false);
    }
  ;

function:
    NAME type_parameters optional_parameters optional_type ASSIGN expr {
        $$ = build_value(p, @$, $NAME, @NAME, $type_parameters, $optional_parameters, $optional_type, $expr);
    }
  ;

type_parameters: %empty { $$ = NULL; } | type_variables ;
type_variables:
    TYPE_VARIABLE { $$ = add_name(p, NULL, (NamePlace){intern_cstr(p->session, $1 + 1), @1}); }
  | type_variables TYPE_VARIABLE { $$ = add_name(p, $1, (NamePlace){intern_cstr(p->session, $2 + 1), @2}); }
  ;

optional_parameters: %empty { $$ = NULL; } | parameters ;
parameters:
    parameter { $$ = add_pat(p, NULL, $1); }
  | parameters parameter { $$ = add_pat(p, $1, $2); }
  ;
parameter: pat_atom { $$ = require_irrefutable(p, $1); } ;

optional_type: %empty { $$ = NULL; } | COLON type { $$ = $type; } ;

comma: %empty { $$ = false; } | COMMA { $$ = true; } ;

/* ---- types ---- */

type: fun_type | sum_type { $$ = TYPE(.kind = TE_SUM, .record = {LIST_OF($1)}); } ;

sum_type:
    constructor { $$ = add_type_field(p, NULL, $1); }
  | sum_type bar constructor { $$ = add_type_field(p, $1, $3); }
  ;
bar: BAR | FILTER_BAR ; /* also directly inside the braces of a record type */
constructor:
    CTOR { $$ = (TypeField){$CTOR, @CTOR, NULL}; }
  | CTOR fun_type { $$ = (TypeField){$CTOR, @CTOR, $fun_type}; }
  ;

fun_type:
    array_type
  | array_type[from] ARROW fun_type[to] { $$ = TYPE(.kind = TE_FUN, .fun = {$from, $to}); }
  ;

/* [n]t is read as [t'] until something follows the bracket. */
array_type:
    type_application
  | array_open INT BRACKET_CLOSE array_type[element] { $$ = build_sized_by_literal(p, @$, $INT, $element); }
  | array_open type[size] BRACKET_CLOSE array_type[element] { $$ = build_sized_by_name(p, @$, $size, $element); }
  ;

type_application:
    type_atom
  | NAME type_arguments { $$ = TYPE(.kind = TE_NAME, .name = {NULL, $NAME, LIST_OF($type_arguments)}); }
  | NAME[module] DOT NAME[name] type_arguments {
        $$ = TYPE(.kind = TE_NAME, .name = {$module, $name, LIST_OF($type_arguments)});
    }
  ;
type_arguments:
    type_argument { $$ = add_type(p, NULL, $1); }
  | type_arguments type_argument { $$ = add_type(p, $1, $2); }
  ;
type_argument: type_atom ;

type_atom:
    NAME { $$ = TYPE(.kind = TE_NAME, .name = {.name = $NAME}); }
  | NAME[module] DOT NAME[name] { $$ = TYPE(.kind = TE_NAME, .name = {.module = $module, .name = $name}); }
  | TYPE_VARIABLE { $$ = build_type_variable(p, @$, $TYPE_VARIABLE); }
  | PAREN_OPEN PAREN_CLOSE { $$ = TYPE(.kind = TE_TUPLE); }
  | PAREN_OPEN type_items comma PAREN_CLOSE { $$ = build_tuple_type(p, @$, $type_items, $comma); }
  | BRACE_OPEN type_fields comma BRACE_CLOSE { $$ = TYPE(.kind = TE_RECORD, .record = {LIST_OF($type_fields)}); }
  | array_open type BRACKET_CLOSE { $$ = TYPE(.kind = TE_ARRAY, .array = {.element = $type}); }
  ;
array_open: ARRAY_OPEN | INDEX_OPEN ;

type_items:
    type { $$ = add_type(p, NULL, $1); }
  | type_items COMMA type { $$ = add_type(p, $1, $3); }
  ;
type_fields:
    type_field { $$ = add_type_field(p, NULL, $1); }
  | type_fields COMMA type_field { $$ = add_type_field(p, $1, $3); }
  ;
type_field: NAME COLON type { $$ = (TypeField){$NAME, @NAME, $type}; } ;

/* ---- patterns ---- */

pattern:
    pat_atom
  | CTOR pat_atom { $$ = PAT(.kind = PAT_CTOR, .ctor = {$CTOR, $pat_atom}); }
  | MINUS number { $$ = build_negative_pat(p, @$, $number); }
  ;

pat_atom:
    NAME { $$ = PAT(.kind = PAT_NAME, .name = $NAME); }
  | WILD { $$ = PAT(.kind = PAT_WILD); }
  | literal { $$ = PAT(.kind = PAT_LITERAL, .literal = $literal); }
  | STRING { $$ = PAT(.kind = PAT_LITERAL, .literal = $STRING); }
  | CTOR { $$ = PAT(.kind = PAT_CTOR, .ctor = {$CTOR, NULL}); }
  | PAREN_OPEN PAREN_CLOSE { $$ = PAT(.kind = PAT_TUPLE); }
  | PAREN_OPEN pat_items comma PAREN_CLOSE { $$ = build_tuple_pat(p, @$, $pat_items, $comma); }
  | BRACE_OPEN pat_fields comma BRACE_CLOSE { $$ = PAT(.kind = PAT_RECORD, .record = {LIST_OF($pat_fields)}); }
  ;

pat_items:
    pat_item { $$ = add_pat(p, NULL, $1); }
  | pat_items COMMA pat_item { $$ = add_pat(p, $1, $3); }
  ;
pat_item:
    pattern
  | pattern COLON type { $$ = PAT(.kind = PAT_ASCRIBE, .ascribe = {$pattern, $type}); }
  ;

pat_fields:
    pat_field { $$ = add_pat_field(p, NULL, $1); }
  | pat_fields COMMA pat_field { $$ = add_pat_field(p, $1, $3); }
  ;
pat_field:
    NAME { $$ = (PatField){$NAME, @NAME, PAT(.kind = PAT_NAME, .name = $NAME)}; }
  | NAME ASSIGN pattern { $$ = (PatField){$NAME, @NAME, $pattern}; }
  ;

bound_pattern: pattern { $$ = require_irrefutable(p, $1); } ;
typed_pattern: pat_item { $$ = require_irrefutable(p, $1); } ;

/* ---- expressions ---- */

expr:
    operand
  | let_expr
  | IF expr[c] THEN expr[t] ELSE expr[e] %prec OPEN { $$ = EXPR(.kind = E_IF, .if_ = {$c, $t, $e}); }
  | MATCH expr[subject] cases %prec OPEN { $$ = EXPR(.kind = E_MATCH, .match = {$subject, LIST_OF($cases)}); }
  | LAMBDA parameters ARROW expr[body] %prec OPEN {
        $$ = EXPR(.kind = E_LAMBDA, .lambda = {LIST_OF($parameters), $body, false});
    }
  | LOOP typed_pattern[state] ASSIGN expr[init] FOR pat_item[counter] LT expr[n] DO expr[body] %prec OPEN {
        $$ = build_loop_for_count(p, @$, $state, $init, $counter, $n, $body);
    }
  | LOOP typed_pattern[state] ASSIGN expr[init] FOR pat_item[x] IN expr[xs] DO expr[body] %prec OPEN {
        Pat *x = require_irrefutable(p, $x);
        $$ = EXPR(.kind = E_LOOP, .loop = {LOOP_FOR_EACH, $state, $init, x, $xs, $body});
    }
  | LOOP typed_pattern[state] ASSIGN expr[init] WHILE expr[c] DO expr[body] %prec OPEN {
        $$ = EXPR(.kind = E_LOOP, .loop = {LOOP_WHILE, $state, $init, NULL, $c, $body});
    }
  | expr[value] PIPE expr[fn] { $$ = EXPR(.kind = E_PIPE, .pipe = {$value, $fn, false}); }
  | expr[fn] BACK_PIPE expr[value] { $$ = EXPR(.kind = E_PIPE, .pipe = {$value, $fn, true}); }
  | expr[whole] WITH steps ASSIGN expr[value] %prec WITH { $$ = build_update(p, @$, $whole, $steps, $value); }
  | expr RANGE_BELOW expr { $$ = build_range(p, @$, $1, @1, $3, false); }
  | expr RANGE_STEP expr { $$ = build_range_start(p, @$, $1, @1, $3); }
  | expr RANGE_TO expr { $$ = build_range(p, @$, $1, @1, $3, true); }
  | expr OR expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr AND expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr EQ expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr NE expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr LT expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr LE expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr GT expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr GE expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr BAR expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr BITXOR expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr BITAND expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr SHL expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr SHR expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr APPEND expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr PLUS expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr MINUS expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr STAR expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr SLASH expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr PERCENT expr { $$ = BINARY($2, $1, @1, @2, $3); }
  | expr POW expr { $$ = BINARY($2, $1, @1, @2, $3); }
  /* Never read to its end, as `)` follows: it keeps `a * b` from being all of (a * b **). */
  | expr POW_SECTION expr { $$ = BINARY($2, $1, @1, @2, $3); } /* GCOVR_EXCL_LINE: it is never read to its end */
  | MINUS expr %prec UNARY { $$ = build_unary(p, @$, UN_NEG, $2, @2); }
  | NOT expr %prec UNARY { $$ = build_unary(p, @$, UN_NOT, $2, @2); }
  | TILDE expr %prec UNARY { $$ = build_unary(p, @$, UN_COMPLEMENT, $2, @2); }
  ;

/* What an update replaces: a list of indices and slices, fields and components without what they are taken from. */
steps:
    ARRAY_OPEN places BRACKET_CLOSE { $$ = $places; }
  | NAME { $$ = add_expr(p, NULL, EXPR(.kind = E_FIELD, .field = {NULL, $NAME, @NAME})); }
  | steps[before] INDEX_OPEN places BRACKET_CLOSE { $$ = join_exprs(p, $before, $places); }
  | steps[before] DOT NAME { $$ = add_expr(p, $before, EXPR(.kind = E_FIELD, .field = {NULL, $NAME, @NAME})); }
  | steps[before] DOT PROJECTION { $$ = add_expr(p, $before, EXPR(.kind = E_PROJECT, .project = {NULL, $PROJECTION})); }
  ;
places:
    place { $$ = add_expr(p, NULL, $1); }
  | places COMMA place { $$ = add_expr(p, $1, $3); }
  ;
place:
    expr[index] { $$ = EXPR(.kind = E_INDEX, .index = {NULL, $index}); }
  | expr[from] COLON expr[to] { $$ = EXPR(.kind = E_SLICE, .slice = {NULL, $from, $to}); }
  | expr[from] COLON { $$ = EXPR(.kind = E_SLICE, .slice = {NULL, $from, NULL}); }
  | COLON expr[to] { $$ = EXPR(.kind = E_SLICE, .slice = {NULL, NULL, $to}); }
  | COLON { $$ = EXPR(.kind = E_SLICE, .slice = {NULL, NULL, NULL}); }
  ;

/* Several `let`s may share one `in`. */
let_expr:
    LET binding IN expr[body] %prec OPEN {
        $$ = $binding.def ? EXPR(.kind = E_LET_FUN, .let_fun = {$binding.def, $body})
                          : EXPR(.kind = E_LET, .let = {$binding.pat, $binding.value, $body});
    }
  | LET binding let_expr[body] {
        $$ = $binding.def ? EXPR(.kind = E_LET_FUN, .let_fun = {$binding.def, $body})
                          : EXPR(.kind = E_LET, .let = {$binding.pat, $binding.value, $body});
    }
  ;
binding:
    typed_pattern ASSIGN expr { $$.pat = $1; $$.value = $3; $$.def = NULL; }
  | local_function { $$.pat = NULL; $$.value = NULL; $$.def = $1; }
  ;
/* Like `function`, but `let x = e` without any parameters binds a pattern. */
local_function:
    NAME parameters optional_type ASSIGN expr {
        $$ = build_value(p, @$, $NAME, @NAME, NULL, $parameters, $optional_type, $expr);
    }
  | NAME type_variables optional_parameters optional_type ASSIGN expr {
        $$ = build_value(p, @$, $NAME, @NAME, $type_variables, $optional_parameters, $optional_type, $expr);
    }
  ;

cases:
    case { $$ = add_case(p, NULL, $1); }
  | cases case { $$ = add_case(p, $1, $2); }
  ;
case: CASE pattern ARROW expr %prec OPEN { $$ = (MatchCase){$pattern, $expr}; } ;

operand:
    postfix
  | postfix arguments { $$ = build_apply(p, @$, $1, @1, $2); }
  ;
arguments:
    postfix { $$ = add_expr(p, NULL, $1); }
  | arguments postfix { $$ = add_expr(p, $1, $2); }
  ;

postfix:
    primary
  | postfix INDEX_OPEN expr[index] BRACKET_CLOSE { $$ = EXPR(.kind = E_INDEX, .index = {$1, $index}); }
  | postfix INDEX_OPEN expr[from] COLON expr[to] BRACKET_CLOSE {
        $$ = EXPR(.kind = E_SLICE, .slice = {$1, $from, $to});
    }
  | postfix INDEX_OPEN expr[from] COLON BRACKET_CLOSE { $$ = EXPR(.kind = E_SLICE, .slice = {$1, $from, NULL}); }
  | postfix INDEX_OPEN COLON expr[to] BRACKET_CLOSE { $$ = EXPR(.kind = E_SLICE, .slice = {$1, NULL, $to}); }
  | postfix INDEX_OPEN COLON BRACKET_CLOSE { $$ = EXPR(.kind = E_SLICE, .slice = {$1, NULL, NULL}); }
  | postfix DOT NAME { $$ = EXPR(.kind = E_FIELD, .field = {$1, $NAME, @NAME}); }
  | postfix DOT PROJECTION { $$ = build_project(p, @$, $1, $PROJECTION); }
  ;

primary:
    NAME { $$ = EXPR(.kind = E_NAME, .name = $NAME); }
  | WILD { $$ = build_wildcard(p, @$); }
  | literal
  | STRING
  | CTOR { $$ = EXPR(.kind = E_CTOR, .ctor = {$CTOR, NULL}); }
  | PAREN_OPEN PAREN_CLOSE { $$ = EXPR(.kind = E_TUPLE); }
  | PAREN_OPEN items comma PAREN_CLOSE { $$ = build_tuple(p, @$, $items, $comma); }
  | PAREN_OPEN operator PAREN_CLOSE { $$ = build_section(p, @$, $2, @2, NULL, @2, NULL); }
  | PAREN_OPEN section_operator expr PAREN_CLOSE { $$ = build_section(p, @$, $2, @2, NULL, @2, $expr); }
  | PAREN_OPEN expr operator PAREN_CLOSE { $$ = build_section(p, @$, $operator, @operator, $expr, @expr, NULL); }
  | PAREN_OPEN part PAREN_CLOSE { $$ = build_accessor(p, @$, $part); }
  | ARRAY_OPEN BRACKET_CLOSE { $$ = EXPR(.kind = E_ARRAY); }
  | ARRAY_OPEN array_items comma BRACKET_CLOSE { $$ = EXPR(.kind = E_ARRAY, .items = {LIST_OF($array_items)}); }
  | BRACE_OPEN fields comma BRACE_CLOSE { $$ = EXPR(.kind = E_RECORD, .record = {LIST_OF($fields)}); }
  | BRACE_OPEN expr COLON binders each_guard BRACE_CLOSE { $$ = each(p, @$, $expr, $binders, $each_guard); }
  | BRACE_OPEN short_binders each_guard BRACE_CLOSE { $$ = each(p, @$, NULL, $short_binders, $each_guard); }
  ;

/* What `(.x)` and `(.0.y)` take of their argument. */
part:
    DOT NAME { $$ = EXPR(.kind = E_FIELD, .field = {build_accessed(p, @DOT), $NAME, @NAME}); }
  | DOT PROJECTION { $$ = EXPR(.kind = E_PROJECT, .project = {build_accessed(p, @DOT), $PROJECTION}); }
  | part[of] DOT NAME { $$ = EXPR(.kind = E_FIELD, .field = {$of, $NAME, @NAME}); }
  | part[of] DOT PROJECTION { $$ = EXPR(.kind = E_PROJECT, .project = {$of, $PROJECTION}); }
  ;

literal: number | CHAR | TRUE | FALSE ;
number: INT | FLOAT ;

items:
    item { $$ = add_expr(p, NULL, $1); }
  | items COMMA item { $$ = add_expr(p, $1, $3); }
  ;
item:
    expr
  | expr COLON type { $$ = EXPR(.kind = E_ASCRIBE, .ascribe = {$expr, $type}); }
  ;

array_items:
    expr { $$ = add_expr(p, NULL, $1); }
  | array_items COMMA expr { $$ = add_expr(p, $1, $3); }
  ;

fields:
    field { $$ = add_expr_field(p, NULL, $1); }
  | fields COMMA field { $$ = add_expr_field(p, $1, $3); }
  ;
field:
    NAME { $$ = (ExprField){$NAME, @NAME, EXPR(.kind = E_NAME, .name = $NAME)}; }
  | NAME ASSIGN expr { $$ = (ExprField){$NAME, @NAME, $expr}; }
  ;

/* `-` in front of an expression negates, so it begins no section. */
operator: section_operator | MINUS ;
section_operator:
    OR | AND | EQ | NE | LT | LE | GT | GE | BAR | BITXOR | BITAND | SHL | SHR | APPEND
  | PLUS | STAR | SLASH | PERCENT | POW | POW_SECTION
  ;

/* ---- apply-to-each ---- */

binders:
    binder { $$ = add_binder(p, NULL, $1); }
  | binders SEMICOLON binder { $$ = add_binder(p, $1, $3); }
  ;
binder: bound_pattern IN expr { $$ = (Binder){$1, $3}; } ;

/* Without `e :` the first pattern looks like an expression until its `in` is seen. */
short_binders:
    first_binder { $$ = add_binder(p, NULL, $1); }
  | short_binders SEMICOLON binder { $$ = add_binder(p, $1, $3); }
  ;
first_binder: expr[pattern] IN expr[sequence] { $$ = (Binder){pat_from_expr(p, $pattern), $sequence}; } ;

each_guard: %empty { $$ = NULL; } | FILTER_BAR expr { $$ = $expr; } ;

%%

static void add_definition(ParseState *p, Def *def) {
    Module *m = p->module;
    uint32_t cap = p->def_capacity;
    if (m->ndefs == cap) m->defs = arena_grow(p->session->arena, m->defs, &p->def_capacity, sizeof(Def *));
    m->defs[m->ndefs++] = def;
}

/* A definition's word in the middle of another one begins nothing: what follows belongs to the same mistake. */
static void begin_definition(ParseState *p, Span at, bool recovering) {
    bool begins_line = at.start == 0 || p->session->files.at[p->file]->text[at.start - 1] == '\n';
    p->has_stray = recovering && !begins_line;
    p->has_quoted_use = false;
}

static Def *top_level(Def *def, const char *doc, bool is_entry) {
    def->doc = doc;
    def->is_entry = is_entry;
    return def;
}

static Expr *each(ParseState *p, Span at, Expr *body, BinderList *binders, Expr *guard) {
    return build_expr(p, at, (Expr){.kind = E_EACH, .each = {body, LIST_OF(binders), guard}});
}

/* ---- syntax errors, in the words of the language ---- */

/* What may come next, one bit a symbol. */
typedef struct Expected {
    bool has[YYNTOKENS];
} Expected;

static void forget(Expected *e, const yysymbol_kind_t *kinds, size_t n) {
    for (size_t i = 0; i < n; i++) e->has[kinds[i]] = false;
}
#define FORGET(e, ...)                                           \
    forget((e), (const yysymbol_kind_t[]){__VA_ARGS__},          \
           sizeof((yysymbol_kind_t[]){__VA_ARGS__}) / sizeof(yysymbol_kind_t))

static void forget_expression_starts(Expected *e) {
    FORGET(e, YYSYMBOL_NAME, YYSYMBOL_WILD, YYSYMBOL_INT, YYSYMBOL_FLOAT, YYSYMBOL_CHAR, YYSYMBOL_STRING, YYSYMBOL_TRUE,
           YYSYMBOL_FALSE, YYSYMBOL_CTOR, YYSYMBOL_PAREN_OPEN, YYSYMBOL_ARRAY_OPEN, YYSYMBOL_BRACE_OPEN, YYSYMBOL_LET,
           YYSYMBOL_IF, YYSYMBOL_MATCH, YYSYMBOL_LAMBDA, YYSYMBOL_LOOP, YYSYMBOL_MINUS, YYSYMBOL_NOT, YYSYMBOL_TILDE);
}

static void forget_operators(Expected *e) {
    FORGET(e, YYSYMBOL_OR, YYSYMBOL_AND, YYSYMBOL_EQ, YYSYMBOL_NE, YYSYMBOL_LT, YYSYMBOL_LE, YYSYMBOL_GT, YYSYMBOL_GE,
           YYSYMBOL_BAR, YYSYMBOL_BITXOR, YYSYMBOL_BITAND, YYSYMBOL_SHL, YYSYMBOL_SHR, YYSYMBOL_APPEND, YYSYMBOL_PLUS,
           YYSYMBOL_MINUS, YYSYMBOL_STAR, YYSYMBOL_SLASH, YYSYMBOL_PERCENT, YYSYMBOL_POW, YYSYMBOL_POW_SECTION,
           YYSYMBOL_PIPE, YYSYMBOL_BACK_PIPE, YYSYMBOL_RANGE_BELOW, YYSYMBOL_RANGE_TO, YYSYMBOL_RANGE_STEP, YYSYMBOL_WITH,
           YYSYMBOL_INDEX_OPEN, YYSYMBOL_DOT);
}

/* Operators may also follow a `(`, as sections do; there an expression may begin, too. */
static bool is_behind_expression(const Expected *e) { return e->has[YYSYMBOL_STAR] && !e->has[YYSYMBOL_IF]; }

/* Replaces the many tokens that begin an expression, a pattern or a type by one word, and leaves out how
 * an expression may go on. Returns the word, or NULL. */
static const char *summarise(Expected *e) {
    bool starts_expression = e->has[YYSYMBOL_IF];
    bool behind_expression = is_behind_expression(e);
    bool starts_pattern = e->has[YYSYMBOL_WILD] && !e->has[YYSYMBOL_ARRAY_OPEN];
    bool starts_type = e->has[YYSYMBOL_NAME] && e->has[YYSYMBOL_ARRAY_OPEN] && e->has[YYSYMBOL_TYPE_VARIABLE];
    bool behind_type = e->has[YYSYMBOL_ARROW] || e->has[YYSYMBOL_BAR];
    bool starts_definition = e->has[YYSYMBOL_DEF] && e->has[YYSYMBOL_IMPORT];
    if (starts_expression || behind_expression || starts_pattern) forget_operators(e);
    if (starts_expression || behind_expression || starts_pattern) forget_expression_starts(e);
    if (starts_definition) FORGET(e, YYSYMBOL_DEF, YYSYMBOL_ENTRY, YYSYMBOL_TYPE, YYSYMBOL_IMPORT, YYSYMBOL_YYEOF);
    if (starts_type)
        FORGET(e, YYSYMBOL_NAME, YYSYMBOL_ARRAY_OPEN, YYSYMBOL_INDEX_OPEN, YYSYMBOL_BRACE_OPEN, YYSYMBOL_PAREN_OPEN,
               YYSYMBOL_TYPE_VARIABLE, YYSYMBOL_CTOR, YYSYMBOL_INT, YYSYMBOL_DOT);
    if (starts_expression) return "an expression";
    if (starts_pattern) return "a pattern";
    if (starts_type && !behind_type) return "a type";
    return starts_definition && !behind_expression ? "a definition" : NULL;
}

/* "`then`", "a name or `(`", "`a`, `b` or `c`"; empty where the list would be too long to help. */
static void describe_expected(StrBuf *out, Expected *e) {
    enum { MOST_NAMED = 4 };
    const char *names[MOST_NAMED + 2];
    uint32_t n = 0;
    const char *summary = summarise(e);
    if (summary) names[n++] = summary;
    for (int kind = 0; kind < YYNTOKENS; kind++) {
        if (!e->has[kind]) continue;
        if (n == MOST_NAMED) {
            n = summary ? 1 : 0;
            break;
        }
        names[n++] = yysymbol_name((yysymbol_kind_t)kind);
    }
    for (uint32_t i = 0; i < n; i++) strbuf_printf(out, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
}

/* The text of the token, or what it is where that would be long or invisible. */
static void describe_found(StrBuf *out, const ParseState *p, Span at, yysymbol_kind_t kind) {
    const char *text = p->session->files.at[p->file]->text + at.start;
    uint32_t n = at.end - at.start;
    bool is_short = kind != YYSYMBOL_YYEOF && n > 0 && n <= 40;
    for (uint32_t i = 0; is_short && i < n; i++) is_short = text[i] >= ' ' && text[i] < 0x7f;
    if (is_short)
        strbuf_printf(out, "`%.*s`", (int)n, text);
    else
        strbuf_add(out, yysymbol_name(kind));
}

static Wanted wanted_of(const Expected *e) {
    const bool *has = e->has;
    return (Wanted){.in = has[YYSYMBOL_IN], .then = has[YYSYMBOL_THEN], .else_ = has[YYSYMBOL_ELSE], .do_ = has[YYSYMBOL_DO],
                    .case_ = has[YYSYMBOL_CASE], .arrow = has[YYSYMBOL_ARROW], .assign = has[YYSYMBOL_ASSIGN],
                    .colon = has[YYSYMBOL_COLON], .semicolon = has[YYSYMBOL_SEMICOLON], .comma = has[YYSYMBOL_COMMA],
                    .bracket_close = has[YYSYMBOL_BRACKET_CLOSE], .name = has[YYSYMBOL_NAME],
                    .expression = has[YYSYMBOL_IF], .behind_expression = is_behind_expression(e),
                    .pattern = has[YYSYMBOL_WILD] && !has[YYSYMBOL_ARRAY_OPEN],
                    .type = has[YYSYMBOL_NAME] && has[YYSYMBOL_ARRAY_OPEN] && has[YYSYMBOL_TYPE_VARIABLE],
                    .definition = has[YYSYMBOL_DEF]};
}

static void add_advice(const ParseState *p, Span at, const Wanted *w) {
    Span unfinished = at;
    const char *text = advice_for(p, w);
    if (!text) text = advice_unfinished(p, w, &unfinished);
    if (text) diag_note(p->session, unfinished, "%s", text);
}

static int yyreport_syntax_error(const yypcontext_t *context, ParseState *p, yyscan_t scanner) {
    (void)scanner;
    yysymbol_kind_t kinds[YYNTOKENS];
    Expected expected = {{false}};
    Span at = *yypcontext_location(context);
    yysymbol_kind_t found = yypcontext_token(context);
    int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
    if (n == YYENOMEM || p->has_stray) return n == YYENOMEM ? n : 0;
    for (int i = 0; i < n; i++) expected.has[kinds[i]] = true;
    const Wanted w = wanted_of(&expected);
    StrBuf wanted = {0}, got = {0};
    describe_expected(&wanted, &expected);
    describe_found(&got, p, at, found);
    if (wanted.n)
        diag_error(p->session, at, DIAG_UNEXPECTED, "expected %s, found %s", wanted.text, got.text);
    else
        diag_error(p->session, at, DIAG_UNEXPECTED, "unexpected %s", got.text);
    add_advice(p, at, &w);
    bool at_end = found == YYSYMBOL_DEF || found == YYSYMBOL_ENTRY || found == YYSYMBOL_TYPE ||
                  found == YYSYMBOL_IMPORT || found == YYSYMBOL_YYEOF;
    bool closes = found == YYSYMBOL_PAREN_CLOSE || found == YYSYMBOL_BRACKET_CLOSE || found == YYSYMBOL_BRACE_CLOSE;
    if ((p->has_unclosed && at_end) || (p->mismatched && closes)) {
        Span open = span_make(p->file, p->unclosed.at, p->unclosed.at + 1);
        diag_note(p->session, open, "this `%c` is not closed", p->unclosed.open);
    }
    strbuf_free(&wanted);
    strbuf_free(&got);
    return 0;
}

/* Called by Bison only when its stack is full. */
static void dp_yyerror(const Span *at, ParseState *p, yyscan_t scanner, const char *message) {
    (void)scanner, (void)message;
    report_too_deep(p, *at);
}
