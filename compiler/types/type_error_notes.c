#include "types/check_internal.h"

#include "syntax/ast_walk.h"

#include <stdio.h>
#include <string.h>

/* What stands below an error about types: where the other type came from, and what was probably meant. */

enum { LONGEST_QUOTE = 24 }; /* columns of the program's own text in a note */

/* ---- quoting the program ---- */

/* The text at the place, or "..." where it is long. */
static const char *quote(Checker *c, Span at)
{
    const char *text = c->s->files.at[at.file]->text + at.start;
    size_t n = at.end - at.start;
    if (n > LONGEST_QUOTE || memchr(text, '\n', n))
        return "...";
    return arena_strndup(c->arena, text, n);
}

/* With parentheses, unless it may stand as an argument as it is. */
static const char *quote_argument(Checker *c, const Expr *e)
{
    const char *text = quote(c, e->span);
    switch (e->kind) {
    case E_INT:
    case E_FLOAT: return text[0] == '-' ? arena_printf(c->arena, "(%s)", text) : text;
    case E_BOOL:
    case E_CHAR:
    case E_STRING:
    case E_NAME:
    case E_TUPLE:
    case E_RECORD:
    case E_ARRAY:
    case E_EACH:
    case E_INDEX:
    case E_SLICE:
    case E_FIELD:
    case E_PROJECT: return text;
    default: return arena_printf(c->arena, "(%s)", text);
    }
}

/* ---- where a value came from ---- */

bool is_library(const Checker *c, const Def *def) { return c->s->files.at[def->span.file]->is_stdlib; }

const Def *called_def(const Checker *c, const Expr *fn)
{
    if (fn->kind != E_NAME && fn->kind != E_FIELD)
        return NULL;
    const Ref *ref = &c->out->refs[fn->id];
    return ref->kind == REF_DEF || ref->kind == REF_LOCAL_FUN ? ref->def : NULL;
}

static const Pat *binder_of(const Checker *c, const Expr *e)
{
    const Ref *ref = e->kind == E_NAME ? &c->out->refs[e->id] : NULL;
    return ref && ref->kind == REF_LOCAL ? c->binders[ref->pat_id] : NULL;
}

/* The function whose declared result `e` is, or NULL. */
static const Def *result_of(const Checker *c, const Expr *e)
{
    const Def *def = e->kind == E_APPLY ? called_def(c, e->apply.fn) : called_def(c, e);
    uint32_t given = e->kind == E_APPLY ? e->apply.nargs : 0;
    return def && def->result && def->nparams == given && !is_library(c, def) ? def : NULL;
}

/* Of one file. */
static bool same_line(Checker *c, Span a, Span b)
{
    uint32_t line = source_linecol(c->s, a.file, a.start).line;
    return line == source_linecol(c->s, b.file, b.start).line;
}

void note_origin(Checker *c, const Expr *e)
{
    const Pat *p = binder_of(c, e);
    const Def *def = result_of(c, e);
    if (p && p->kind == PAT_ASCRIBE)
        diag_note(c->s, p->span, "`%s` is declared here", e->name);
    else if (p && !same_line(c, p->span, e->span))
        diag_note(c->s, p->span, "`%s` is bound here", e->name);
    else if (def)
        diag_note(c->s, def->result->span, "the type of `%s` is declared here", def->name);
    else if (e->kind == E_NAME && c->out->refs[e->id].kind == REF_SIZE)
        diag_note_text(c->s, "`%s` is a size, and sizes are i64", e->name);
}

/* ---- functions ---- */

static const char *called_name(const Expr *fn)
{
    return fn->kind == E_NAME ? fn->name : fn->kind == E_FIELD ? fn->field.name : "the function";
}

void note_function(Checker *c, const Expr *fn)
{
    const Def *def = called_def(c, fn);
    const Ref *ref = &c->out->refs[fn->id];
    bool named = fn->kind == E_NAME || (fn->kind == E_FIELD && def);
    if (def && !is_library(c, def))
        diag_note(c->s, def->name_span, "it is defined here");
    else if (def)
        diag_note_text(c->s, "`%s : %s`", called_name(fn), describe_signature(c, &c->polys[def->index]));
    else if (named && ref->kind == REF_PRIM)
        diag_note_text(c->s, "`%s : %s`", called_name(fn), describe_signature(c, &c->builtins[ref->builtin]));
    else if (named)
        note_origin(c, fn);
}

static uint32_t arity(Type *t)
{
    uint32_t n = 0;
    for (t = type_prune(t); t->kind == TY_FUN; t = type_prune(t->fun.to))
        n++;
    return n;
}

/* `f (a, b)` where `f a b` is meant. */
static bool note_tuple_argument(Checker *c, const Call *call, Type *expected)
{
    const Expr *arg = call->nargs == 1 ? call->args[0] : NULL;
    if (!arg || arg->kind != E_TUPLE || type_prune(expected)->kind == TY_TUPLE)
        return false;
    if (arity(call->type) < arg->items.n) {
        if (type_prune(expected)->kind != TY_VAR)
            diag_note_text(c->s, "this is one argument, a tuple of %u", arg->items.n);
        return false;
    }
    StrBuf text = {0};
    strbuf_add(&text, quote(c, call->fn->span));
    for (uint32_t i = 0; i < arg->items.n; i++)
        strbuf_printf(&text, " %s", quote_argument(c, arg->items.items[i]));
    diag_note_text(c->s, "arguments stand side by side: `%s`", text.text);
    strbuf_free(&text);
    return true;
}

/* An argument that would fit in another place. */
static bool note_argument_order(Checker *c, const Why *why, Type *found)
{
    const Call *call = why->call;
    uint32_t given = call->nargs + (call->last ? 1 : 0), takes = arity(call->type), i = 0;
    for (Type *t = type_prune(call->type); t->kind == TY_FUN; t = type_prune(t->fun.to), i++) {
        Type *param = type_prune(t->fun.from);
        if (i == why->arg || param->kind == TY_VAR || !types_compatible(param, found))
            continue;
        if (given < takes && i > why->arg)
            diag_note_text(c->s, "`%s` takes %u arguments: is one missing in front of this?", called_name(call->fn),
                           takes);
        else if (i < given && param->kind != type_prune(why->type)->kind)
            diag_note_text(c->s, "this would fit as argument %u: are they in another order?", i + 1);
        else
            continue;
        return true;
    }
    return false;
}

/* `f a b` where `f (a, b)` is meant. */
static bool note_one_tuple(Checker *c, const Call *call)
{
    Type *first = call->type->kind == TY_FUN ? type_prune(call->type->fun.from) : NULL;
    if (!first || first->kind != TY_TUPLE || first->tuple.n != call->nargs || arity(call->type) != 1)
        return false;
    StrBuf text = {0};
    for (uint32_t i = 0; i < call->nargs; i++)
        strbuf_printf(&text, "%s%s", i ? ", " : "", quote(c, call->args[i]->span));
    diag_note_text(c->s, "it takes one tuple: `%s (%s)`", quote(c, call->fn->span), text.text);
    strbuf_free(&text);
    return true;
}

typedef struct NamedSource {
    Name name;
    bool found;
} NamedSource;

static void look_for_source(void *context, Expr *e)
{
    NamedSource *look = context;
    for (uint32_t i = 0; e->kind == E_EACH && i < e->each.nbinders; i++) {
        const Expr *source = e->each.binders[i].sequence;
        look->found |= source->kind == E_NAME && source->name == look->name;
    }
}

/* Is the parameter, whose type is not written, a sequence because of `i in n`, and a number given? */
static bool is_number_for_source(const Def *def, const Pat *param, Type *expected, Type *found)
{
    Type *wanted = type_prune(expected), *given = type_prune(found);
    bool number = (given->kind == TY_SCALAR && scalar_is_int(given->scalar)) ||
                  (given->kind == TY_VAR && given->var.is_literal && given->var.cls != CLASS_FLOAT);
    if (wanted->kind != TY_ARRAY || !number || param->kind != PAT_NAME)
        return false;
    NamedSource look = {param->name, false};
    ast_walk(def, &(AstVisitor){.context = &look, .expr = look_for_source});
    return look.found;
}

static void note_parameter(Checker *c, const Def *def, const Pat *param, Type *expected, Type *found)
{
    diag_note(c->s, param->span, "the parameter is here");
    if (is_number_for_source(def, param, expected, found))
        diag_note_text(c->s, "`in %s` takes what has no type for a sequence: a number is written `(%s: i64)`",
                       param->name, param->name);
}

static void note_argument(Checker *c, const Why *why, Type *expected, Type *found)
{
    const Call *call = why->call;
    const Def *def = called_def(c, call->fn);
    bool whole = type_prune(why->type) == type_prune(expected); /* not only a lambda's body */
    bool tuple = whole && (note_tuple_argument(c, call, why->type) || note_one_tuple(c, call));
    if (def && !is_library(c, def) && why->arg < def->nparams)
        note_parameter(c, def, def->params[why->arg], expected, found);
    else
        note_function(c, call->fn);
    if (!whole || tuple || found == expected || note_argument_order(c, why, found))
        return;
    if (call->last && call->nargs + 1 < arity(call->type))
        diag_note_text(c->s, "`%s` takes %u arguments: here are %u", called_name(call->fn), arity(call->type),
                       call->nargs + 1);
}

static bool is_blank_index(const Expr *arg) { return arg->kind == E_ARRAY && arg->items.n == 1; }

void note_not_a_function(Checker *c, const Call *call, Type *t)
{
    const Expr *fn = call->fn, *arg = call->nargs == 1 ? call->args[0] : NULL;
    bool sequence = type_prune(t)->kind == TY_ARRAY;
    if (sequence && arg && is_blank_index(arg))
        diag_note_text(c->s, "an element is `%s%s`, without the blank", quote(c, fn->span), quote(c, arg->span));
    else if (sequence && arg && arg->kind == E_ARRAY)
        diag_note_text(c->s, "an element is `%s[i]`, an element of a row `%s[i][j]`", quote(c, fn->span),
                       quote(c, fn->span));
    else if (sequence && arg)
        diag_note_text(c->s, "an element is `%s[%s]`", quote(c, fn->span), quote(c, arg->span));
    else if ((fn->kind == E_INT || fn->kind == E_FLOAT) && arg)
        diag_note_text(c->s, "a multiplication needs its operator: `%s * %s`", quote(c, fn->span),
                       quote_argument(c, arg));
    else
        note_origin(c, fn);
}

void note_extra_argument(Checker *c, const Call *call, uint32_t takes)
{
    if (takes < call->nargs && is_blank_index(call->args[takes]))
        diag_note_text(c->s, "an element is taken without a blank in front of the `[`: `xs[i]`");
    else if (takes == 1)
        note_one_tuple(c, call);
}

/* A function where a value is wanted, or one of other arity. */
static void note_function_value(Checker *c, Type *expected, Type *found)
{
    expected = type_prune(expected);
    found = type_prune(found);
    if (found->kind != TY_FUN) {
        Difference d = types_difference(expected, found);
        if (d.b->kind == TY_FUN && d.a->kind != TY_FUN && d.a->kind != TY_VAR)
            diag_note_text(c->s, "a part of this is a function: are arguments missing?");
        return;
    }
    uint32_t wanted = arity(expected), has = arity(found);
    if (expected->kind == TY_FUN) {
        if (wanted != has)
            diag_note_text(c->s, "a function of %u argument%s is wanted here, and this one takes %u", wanted,
                           wanted == 1 ? "" : "s", has);
        return;
    }
    Type *result = found;
    while (result->kind == TY_FUN)
        result = type_prune(result->fun.to);
    if (types_compatible(expected, result))
        diag_note_text(c->s, "this is a function: %u argument%s missing", has, has == 1 ? " is" : "s are");
    else
        diag_note_text(c->s, "this is a function: are arguments missing?");
}

/* ---- conditions ---- */

static bool is_number(const Type *t) { return t->kind == TY_SCALAR && t->scalar != SC_BOOL; }

static void note_condition(Checker *c, Type *found)
{
    Type *t = type_prune(found);
    if (is_number(t) || (t->kind == TY_VAR && t->var.cls >= CLASS_NUM))
        diag_note_text(c->s, "a number is no condition: compare it, for example `x != 0`");
    if (t->kind == TY_ARRAY)
        diag_note_text(c->s, "a sequence is no condition: `is_empty xs`, `any p xs` and `all p xs` are");
}

/* ---- operators ---- */

static bool is_float(const Type *t)
{
    return t->kind == TY_SCALAR ? scalar_is_float(t->scalar) : t->kind == TY_VAR && t->var.cls == CLASS_FLOAT;
}

static bool is_arithmetic(BinaryOp op) { return op >= BIN_ADD && op <= BIN_POW; }

static bool is_comparison(BinaryOp op) { return op >= BIN_EQ && op <= BIN_GE; }

/* An operation on numbers, of which one side, `found`, is a sequence. */
static void note_elementwise(Checker *c, const Expr *node, bool of_left)
{
    const char *sign = binary_op_text(node->binary.op);
    const Expr *left = node->binary.left, *right = node->binary.right;
    if (!of_left)
        diag_note_text(c->s, "`%s` is for numbers; for each element: `{ %s %s x : x in %s }`", sign,
                       quote_argument(c, left), sign, quote(c, right->span));
    else if (right->kind == E_INT || right->kind == E_FLOAT)
        diag_note_text(c->s, "`%s` is for numbers; for each element: `{ x %s %s : x in %s }`", sign, sign,
                       quote_argument(c, right), quote(c, left->span));
    else
        diag_note_text(c->s, "`%s` is for numbers; for each element: `{ x %s y : x in xs; y in ys }`", sign, sign);
}

void note_operator(Checker *c, const Expr *node, Type *found, bool of_left)
{
    BinaryOp op = node->binary.op;
    const char *sign = binary_op_text(op);
    Type *t = type_prune(found), *element = t->kind == TY_ARRAY ? type_prune(t->element) : NULL;
    const Expr *left = node->binary.left, *right = node->binary.right;
    bool is_text = element && element->kind == TY_SCALAR && element->scalar == SC_U8;
    if (of_left && t->kind == TY_FUN && op == BIN_SUB && node->binary.op_span.end == right->span.start &&
        left->span.end < node->binary.op_span.start)
        diag_note_text(c->s, "this is a subtraction; an argument needs parentheses: `%s (-%s)`", quote(c, left->span),
                       quote(c, right->span));
    else if (of_left && t->kind == TY_FUN && left->kind == E_NAME)
        diag_note_text(c->s, "an operator that is an argument needs parentheses: `(%s)`", sign);
    else if (is_text && op == BIN_ADD)
        diag_note_text(c->s, "`++` joins strings");
    else if (element && is_arithmetic(op))
        note_elementwise(c, node, of_left);
    else if (!of_left && is_text && right->kind == E_STRING && right->string.n == 1 && is_comparison(op))
        diag_note_text(c->s, "a character is written in single quotes: `'%c'`", right->string.bytes[0]);
    else if (!element && t->kind != TY_FUN && op == BIN_APPEND)
        diag_note_text(c->s, "`++` joins sequences: one element is `[x]`");
    else if (op == BIN_BITXOR && is_float(t))
        diag_note_text(c->s, "`^` is exclusive or; a power is written `%s ** %s`", quote_argument(c, left),
                       quote_argument(c, right));
    else if (op == BIN_AND || op == BIN_OR)
        note_condition(c, t);
    else if (op == BIN_BITAND || op == BIN_BITOR)
        diag_note_text(c->s, "`%s` works on the bits of integers; conditions are combined with `%s%s`", sign, sign,
                       sign);
    else if (is_comparison(op) && contains_function(t))
        diag_note_text(c->s, "functions cannot be compared");
}

static void note_left_side(Checker *c, const Why *why, Type *found)
{
    const Expr *node = why->expr;
    const char *text = describe_type(c, why->type);
    const Pat *p = binder_of(c, node->binary.left);
    Type *left = type_prune(why->type), *right = type_prune(found);
    if (left->kind != TY_SCALAR || !is_number(right))
        note_operator(c, node, found, false);
    bool numbers = is_number(left) && is_number(right);
    bool float_literal = right->kind == TY_VAR && right->var.cls == CLASS_FLOAT; /* of any float type */
    if (numbers && scalar_is_int(left->scalar) && scalar_is_float(right->scalar))
        diag_note_text(c->s, "`%s %s` converts the left side", scalar_name(right->scalar),
                       quote_argument(c, node->binary.left));
    else if (is_number(left) && scalar_is_int(left->scalar) && float_literal)
        diag_note_text(c->s, "to calculate with floats, convert the left side: `f64 %s`",
                       quote_argument(c, node->binary.left));
    if (p && p->kind == PAT_ASCRIBE)
        diag_note(c->s, p->span, "the left side is %s: `%s` is declared here", text, node->binary.left->name);
    else
        diag_note(c->s, why->span, "the left side is %s", text);
}

/* ---- scalars and their conversions ---- */

static void note_conversion(Checker *c, const Expr *e, Scalar from, Scalar to)
{
    bool truncates = scalar_is_float(from) && scalar_is_int(to);
    if (scalar_is_int(from) && scalar_is_float(to) && e->kind == E_BINARY && e->binary.op == BIN_DIV) {
        diag_note_text(c->s, "`%s %s / %s %s` is the quotient with its fraction", scalar_name(to),
                       quote_argument(c, e->binary.left), scalar_name(to), quote_argument(c, e->binary.right));
        return;
    }
    diag_note_text(c->s, truncates ? "`%s %s` truncates it" : "`%s %s` converts it", scalar_name(to),
                   quote_argument(c, e));
}

void note_index_conversion(Checker *c, const Expr *index, Type *found)
{
    Type *t = type_prune(found);
    if (is_number(t))
        note_conversion(c, index, t->scalar, SC_I64);
}

/* `max xs` */
static void note_of_two(Checker *c, const Expr *e, Type *found)
{
    const Ref *ref = &c->out->refs[e->apply.fn->id];
    bool of_two =
        e->apply.fn->kind == E_NAME && ref->kind == REF_PRIM && (ref->builtin == BI_max || ref->builtin == BI_min);
    if (of_two && found->kind == TY_FUN && type_prune(found->fun.from)->kind == TY_ARRAY)
        diag_note_text(c->s, "of the elements of a sequence it is `%simum %s`", e->apply.fn->name,
                       quote_argument(c, e->apply.args[0]));
}

void note_value(Checker *c, const Expr *e, Type *expected, Type *found)
{
    expected = type_prune(expected);
    found = type_prune(found);
    const Expr *only = e->kind == E_ARRAY && e->items.n == 1 ? e->items.items[0] : NULL;
    if (is_number(expected) && is_number(found))
        note_conversion(c, e, found->scalar, expected->scalar);
    else if (is_number(found) && expected->kind == TY_VAR && expected->var.cls == CLASS_FLOAT)
        note_conversion(c, e, found->scalar, SC_F64);
    else if (only && only->kind == E_RANGE && types_compatible(expected, found->element))
        diag_note_text(c->s, "a range is a sequence: write it without the brackets, `%s`", quote(c, only->span));
    else if (e->kind == E_APPLY)
        note_of_two(c, e, found);
    note_origin(c, e);
}

/* ---- records ---- */

static bool has_name(const Type *t, Name name)
{
    for (uint32_t i = 0; i < t->record.n; i++) {
        if (t->record.names[i] == name)
            return true;
    }
    return false;
}

/* The names of one that the other does not have, for example "`x`, `y`"; NULL if there are none. */
static const char *names_without(Checker *c, const Type *of, const Type *other)
{
    enum { MOST = 4 };
    StrBuf b = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < of->record.n; i++) {
        if (has_name(other, of->record.names[i]) || n++ > MOST)
            continue;
        strbuf_add(&b, n == 1 ? "" : ", ");
        if (n <= MOST)
            strbuf_printf(&b, "`%s%s`", of->kind == TY_SUM ? "#" : "", of->record.names[i]);
        else
            strbuf_add(&b, "...");
    }
    const char *text = n ? arena_strndup(c->arena, b.text, b.n) : NULL;
    strbuf_free(&b);
    return text;
}

void note_names(Checker *c, Type *expected, Type *found)
{
    Difference d = types_difference(expected, found);
    if (d.a->kind != d.b->kind || (d.a->kind != TY_RECORD && d.a->kind != TY_SUM))
        return;
    const char *missing = names_without(c, d.a, d.b), *extra = names_without(c, d.b, d.a);
    if (missing && d.a->kind == TY_RECORD)
        diag_note_text(c->s, "missing: %s", missing);
    if (extra)
        diag_note_text(c->s, "not expected: %s", extra);
}

/* The name that was meant, or all there are. */
void note_known_names(Checker *c, Type *t, Name wanted)
{
    enum { MOST = 12 };
    bool sum = t->kind == TY_SUM;
    Suggestion g = dp_guess_start(wanted);
    StrBuf b = {0};
    for (uint32_t i = 0; i < t->record.n; i++) {
        suggest_consider(&g, t->record.names[i]);
        if (i < MOST)
            strbuf_printf(&b, "%s`%s%s`", i ? ", " : "", sum ? "#" : "", t->record.names[i]);
    }
    if (g.best)
        diag_note_text(c->s, "did you mean `%s%s`?", sum ? "#" : "", g.best);
    else
        diag_note_text(c->s, "it has %s%s", b.text, t->record.n > MOST ? ", ..." : "");
    strbuf_free(&b);
}

/* `r with x = r.x with y = v`, where `first` is r with x = r.x and y a field of x. */
void note_update_of_whole(Checker *c, const Expr *first, Name field)
{
    diag_note_text(c->s, "each `with` updates the whole record; a part of it: `with %s = (%s with %s = …)`",
                   first->update_field.name, quote(c, first->update_field.value->span), field);
}

/* `f . g` */
static bool stands_apart(const Checker *c, const Expr *e)
{
    const char *behind = c->s->files.at[e->span.file]->text + e->span.end;
    return behind[0] == ' ';
}

/* The type of a name of the prelude. */
static const Poly *prelude_poly(const Checker *c, Name name)
{
    const Def *def = ptrmap_get(&c->scopes[0].values, name);
    return def ? &c->polys[def->index] : &c->builtins[(uintptr_t)ptrmap_get(&c->builtin_names, name) - 1];
}

/* `xs.sum`, `xs.map`: as it is written here. */
static void note_method(Checker *c, const char *subject, bool of_sequence, Name name)
{
    const Poly *poly = is_prelude_name(c, name) ? prelude_poly(c, name) : NULL;
    if (poly && poly->type && arity(poly->type) == 1)
        diag_note_text(c->s, "functions stand in front: `%s %s`", name, subject);
    else if (poly && poly->type && arity(poly->type) > 1)
        diag_note_text(c->s, "functions stand in front: `%s : %s`", name, describe_signature(c, poly));
    else if (!poly && !note_foreign_name(c->s, name) && of_sequence)
        diag_note_text(c->s, "functions stand in front: `length xs`");
}

/* `xs.sum`, `x.sqrt`, `i32.sum`, `f . g`: the field of something that is no record, `from` (or NULL). */
static void note_no_record(Checker *c, const Expr *from, TypeKind kind, Name field)
{
    bool is_written = c->s->files.at[from->span.file]->text[from->span.start] != '.'; /* else that of an accessor */
    if (from->kind == E_NAME && find_scalar(c, from->name) && note_type_as_module(c, from->name, field))
        return;
    if (kind == TY_FUN && is_written && stands_apart(c, from))
        diag_note_text(c->s, "functions are composed by pipes: `f . g` is `\\x -> x |> g |> f`");
    else if (kind != TY_FUN)
        note_method(c, is_written ? quote_argument(c, from) : "x", kind == TY_ARRAY, field);
}

/* How one gets at what is inside a value that has no fields. */
void note_no_fields(Checker *c, Type *t, const Expr *from, Name field)
{
    if (t->kind == TY_TUPLE && t->tuple.n)
        diag_note_text(c->s, "the components of a tuple are `.0` to `.%u`", t->tuple.n - 1);
    else if (t->kind == TY_TUPLE)
        return;
    else if (t->kind == TY_ARRAY && type_prune(t->element)->kind == TY_RECORD)
        diag_note_text(c->s, "for each element: `{ r.%s : r in rs }`", field);
    else
        note_no_record(c, from, t->kind, field);
}

/* `xs with x = v` of a sequence. */
void note_set_in_sequence(Checker *c, Type *t, Name field)
{
    if (type_prune(t->element)->kind == TY_RECORD)
        diag_note_text(c->s, "for each element: `{ r with %s = … : r in rs }`", field);
    else
        diag_note_text(c->s, "an updated copy of a sequence is written `xs with [i] = v`");
}

void note_no_sequence(Checker *c, const Expr *e, Type *t)
{
    t = type_prune(t);
    if (t->kind == TY_FUN)
        diag_note_text(c->s, "with a blank in front of the `[` it would be an argument: `f [x]`");
    else if (t->kind == TY_TUPLE && t->tuple.n)
        diag_note_text(c->s, "the components of a tuple are `.0` to `.%u`", t->tuple.n - 1);
    note_origin(c, e);
}

void note_counting(Checker *c, Type *t)
{
    t = type_prune(t);
    if (is_number(t) || (t->kind == TY_VAR && t->var.cls >= CLASS_NUM))
        diag_note_text(c->s, "a loop that counts is written `for i < n`");
}

/* Where the name that a message shows is declared. */
void note_alias(Checker *c, Type *t, Type *other)
{
    const TypeAlias *alias = type_prune(t)->alias;
    TypeKind kind = type_prune(other)->kind;
    if (!alias || kind == TY_SCALAR || kind == TY_VAR || kind == TY_RIGID || is_library(c, alias->def))
        return;
    if (strcmp(describe_type(c, t), describe_structure(c, t)) != 0)
        diag_note(c->s, alias->def->name_span, "`%s` is declared here", alias->def->name);
}

/* ---- why a type is expected ---- */

static void note_why(Checker *c, const Why *why, Type *expected, Type *found)
{
    if (!why || why->kind == WHY_NONE)
        return;
    const char *text = why->type ? describe_type(c, why->type) : "";
    switch (why->kind) {
    case WHY_NONE: return;
    case WHY_RESULT: diag_note(c->s, why->span, "the result's type is declared here"); return;
    case WHY_BRANCH: diag_note(c->s, why->span, "the other branch is %s", text); return;
    case WHY_CASE: diag_note(c->s, why->span, "the first case gives %s", text); return;
    case WHY_ELEMENT: diag_note(c->s, why->span, "the first element is %s", text); return;
    case WHY_PARAM: note_argument(c, why, expected, found); return;
    case WHY_OPERAND: note_left_side(c, why, found); return;
    case WHY_RANGE: diag_note(c->s, why->span, "the range starts with %s", text); return;
    case WHY_PATTERN: diag_note(c->s, why->span, "the pattern's type is declared here"); return;
    case WHY_STATE: diag_note(c->s, why->span, "the loop's state starts as %s", text); return;
    case WHY_CONDITION: note_condition(c, found); return;
    case WHY_LAMBDA:
        diag_note(c->s, why->span, "this has %u parameter%s, but the function is called with %u arguments", why->given,
                  why->given == 1 ? "" : "s", why->wanted);
        note_why(c, why->outer, expected, found);
        return;
    }
}

void note_lambda_pattern(Checker *c, const Expr *lambda, Type *fun)
{
    const Pat *p = lambda->lambda.params[0];
    if (lambda->lambda.nparams != 1 || p->kind != PAT_TUPLE || arity(fun) != p->tuple.n)
        return;
    StrBuf text = {0};
    for (uint32_t i = 0; i < p->tuple.n; i++)
        strbuf_printf(&text, "%s ", quote(c, p->tuple.items[i]->span));
    diag_note_text(c->s, "the function is called with %u arguments: `\\%s-> ...`", p->tuple.n, text.text);
    strbuf_free(&text);
}

void note_too_many_params(Checker *c, const Expr *lambda, Type *expected, const Why *why)
{
    Type *first = type_prune(type_prune(expected)->fun.from);
    uint32_t n = lambda->lambda.nparams;
    if (first->kind == TY_TUPLE && first->tuple.n == n) {
        StrBuf text = {0};
        for (uint32_t i = 0; i < n; i++)
            strbuf_printf(&text, "%s%s", i ? ", " : "", quote(c, lambda->lambda.params[i]->span));
        diag_note_text(c->s, "its argument is a tuple: `\\(%s) -> ...`", text.text);
        strbuf_free(&text);
    }
    note_why(c, why, expected, expected);
}

static void note_declared(Checker *c, const Type *var)
{
    for (uint32_t i = 0; i < c->declared.n; i++) {
        const Declared *d = &c->declared.at[i];
        if (d->var == var)
            diag_note(c->s, d->owner->name_span, "`%s` is a type parameter of `%s` and stands for any type", d->name,
                      d->owner->name);
    }
}

/* ---- the errors ---- */

static void infinite_type(Checker *c, Span span, Type *expected, Type *found)
{
    const char *wanted, *got;
    describe_with_letters(c, expected, found, &wanted, &got);
    diag_error(c->s, span, DIAG_INFINITE_TYPE, "infinite type: %s and %s would have to be the same", wanted, got);
    if (type_prune(expected)->kind == TY_FUN || type_prune(found)->kind == TY_FUN)
        diag_note_text(c->s, "one of them is a function: is an argument missing, or one too many?");
}

bool expect(Checker *c, Span span, Type *expected, Type *found, const Why *why)
{
    if (unify(c, expected, found))
        return true;
    if (mentions_error(expected) || mentions_error(found))
        return false;
    UnifyFailure failure = c->failure;
    const char *wanted, *got;
    if (failure == FAIL_INFINITE) {
        infinite_type(c, span, expected, found);
    } else {
        describe_pair(c, expected, found, &wanted, &got);
        diag_error(c->s, span, DIAG_TYPE_MISMATCH, "expected %s, found %s", wanted, got);
        note_difference(c, expected, found);
        note_names(c, expected, found);
        note_alias(c, expected, found);
        note_alias(c, found, expected);
    }
    if (failure == FAIL_DECLARED)
        note_declared(c, c->failed_declared);
    if (failure == FAIL_MISMATCH)
        note_function_value(c, expected, found);
    note_why(c, why, expected, found);
    return false;
}

bool expect_class(Checker *c, Span span, TypeClass cls, Type *found)
{
    if (constrain(c, found, cls))
        return true;
    if (mentions_error(found))
        return false;
    diag_error(c->s, span, DIAG_TYPE_CLASS, "expected %s, found %s", describe_class(cls), describe_type(c, found));
    return false;
}
