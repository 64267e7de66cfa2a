#include "syntax/build.h"

#include <string.h>

#define DEFINE_LIST(List, Item, add)                                                                                   \
    List *add(ParseState *p, List *list, Item item)                                                                    \
    {                                                                                                                  \
        if (!list)                                                                                                     \
            list = arena_new(p->session->arena, List);                                                                 \
        vec_push(p->session->arena, &list->v, item);                                                                   \
        return list;                                                                                                   \
    }
DEFINE_LIST(NameList, NamePlace, add_name)
DEFINE_LIST(TypeList, TypeExpr *, add_type)
DEFINE_LIST(TypeFieldList, TypeField, add_type_field)
DEFINE_LIST(PatList, Pat *, add_pat)
DEFINE_LIST(PatFieldList, PatField, add_pat_field)
DEFINE_LIST(ExprList, Expr *, add_expr)
DEFINE_LIST(ExprFieldList, ExprField, add_expr_field)
DEFINE_LIST(BinderList, Binder, add_binder)
DEFINE_LIST(CaseList, MatchCase, add_case)

/* ---- depth ---- */

static uint32_t max2(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t type_depth(const TypeExpr *t) { return t ? t->depth : 0; }
static uint32_t pat_depth(const Pat *pat) { return pat ? pat->depth : 0; }
static uint32_t expr_depth(const Expr *e) { return e ? e->depth : 0; }
static uint32_t expr_depth3(const Expr *a, const Expr *b, const Expr *c)
{
    return max2(expr_depth(a), max2(expr_depth(b), expr_depth(c)));
}

static uint32_t types_depth(TypeExpr *const *types, uint32_t n)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++)
        depth = max2(depth, type_depth(types[i]));
    return depth;
}

static uint32_t pats_depth(Pat *const *pats, uint32_t n)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++)
        depth = max2(depth, pat_depth(pats[i]));
    return depth;
}

static uint32_t exprs_depth(Expr *const *exprs, uint32_t n)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++)
        depth = max2(depth, expr_depth(exprs[i]));
    return depth;
}

static uint32_t depth_below_type(const TypeExpr *t)
{
    uint32_t depth = 0;
    switch (t->kind) {
    case TE_NAME: return types_depth(t->name.args, t->name.nargs);
    case TE_TUPLE: return types_depth(t->tuple.items, t->tuple.n);
    case TE_RECORD:
    case TE_SUM:
        for (uint32_t i = 0; i < t->record.n; i++)
            depth = max2(depth, type_depth(t->record.fields[i].type));
        return depth;
    case TE_ARRAY: return type_depth(t->array.element);
    case TE_FUN: return max2(type_depth(t->fun.from), type_depth(t->fun.to));
    }
    return depth;
}

static uint32_t depth_below_pat(const Pat *pat)
{
    uint32_t depth = 0;
    switch (pat->kind) {
    case PAT_NAME:
    case PAT_WILD: return 0;
    case PAT_TUPLE: return pats_depth(pat->tuple.items, pat->tuple.n);
    case PAT_RECORD:
        for (uint32_t i = 0; i < pat->record.n; i++)
            depth = max2(depth, pat_depth(pat->record.fields[i].pat));
        return depth;
    case PAT_ASCRIBE: return max2(pat_depth(pat->ascribe.pat), type_depth(pat->ascribe.type));
    case PAT_LITERAL: return expr_depth(pat->literal);
    case PAT_CTOR: return pat_depth(pat->ctor.arg);
    }
    return depth;
}

static uint32_t depth_below_def(const Def *def)
{
    return max2(pats_depth(def->params, def->nparams), max2(type_depth(def->result), expr_depth(def->body)));
}

static uint32_t depth_below_match(const Expr *e)
{
    uint32_t depth = expr_depth(e->match.subject);
    for (uint32_t i = 0; i < e->match.n; i++) {
        const MatchCase *c = &e->match.cases[i];
        depth = max2(depth, max2(pat_depth(c->pat), expr_depth(c->body)));
    }
    return depth;
}

static uint32_t depth_below_each(const Expr *e)
{
    uint32_t depth = max2(expr_depth(e->each.body), expr_depth(e->each.guard));
    for (uint32_t i = 0; i < e->each.nbinders; i++) {
        const Binder *b = &e->each.binders[i];
        depth = max2(depth, max2(pat_depth(b->pat), expr_depth(b->sequence)));
    }
    return depth;
}

static uint32_t depth_below_loop(const Expr *e)
{
    uint32_t pats = max2(pat_depth(e->loop.state), pat_depth(e->loop.binder));
    return max2(pats, expr_depth3(e->loop.init, e->loop.domain, e->loop.body));
}

static uint32_t depth_below_record(const Expr *e)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < e->record.n; i++)
        depth = max2(depth, expr_depth(e->record.fields[i].value));
    return depth;
}

static uint32_t depth_below_expr(const Expr *e)
{
    switch (e->kind) {
    case E_INT:
    case E_FLOAT:
    case E_BOOL:
    case E_CHAR:
    case E_STRING:
    case E_NAME: return 0;
    case E_TUPLE:
    case E_ARRAY: return exprs_depth(e->items.items, e->items.n);
    case E_RECORD: return depth_below_record(e);
    case E_APPLY: return max2(expr_depth(e->apply.fn), exprs_depth(e->apply.args, e->apply.nargs));
    case E_CTOR: return expr_depth(e->ctor.arg);
    case E_UNARY: return expr_depth(e->unary.arg);
    case E_BINARY:
    case E_OP_SECTION:
    case E_LEFT_SECTION:
    case E_RIGHT_SECTION: return max2(expr_depth(e->binary.left), expr_depth(e->binary.right));
    case E_PIPE: return max2(expr_depth(e->pipe.value), expr_depth(e->pipe.fn));
    case E_RANGE: return expr_depth3(e->range.from, e->range.second, e->range.to);
    case E_INDEX: return max2(expr_depth(e->index.array), expr_depth(e->index.index));
    case E_SLICE: return expr_depth3(e->slice.array, e->slice.from, e->slice.to);
    case E_FIELD: return expr_depth(e->field.value);
    case E_PROJECT: return expr_depth(e->project.value);
    case E_UPDATE_INDEX: return expr_depth3(e->update_index.array, e->update_index.index, e->update_index.value);
    case E_UPDATE_FIELD: return max2(expr_depth(e->update_field.record), expr_depth(e->update_field.value));
    case E_UPDATE_PART: return max2(expr_depth(e->update_part.part), expr_depth(e->update_part.value));
    case E_LET: return max2(pat_depth(e->let.pat), max2(expr_depth(e->let.value), expr_depth(e->let.body)));
    case E_LET_FUN: return max2(depth_below_def(e->let_fun.def), expr_depth(e->let_fun.body));
    case E_IF: return expr_depth3(e->if_.cond, e->if_.then_e, e->if_.else_e);
    case E_MATCH: return depth_below_match(e);
    case E_LAMBDA: return max2(pats_depth(e->lambda.params, e->lambda.nparams), expr_depth(e->lambda.body));
    case E_LOOP: return depth_below_loop(e);
    case E_ASCRIBE: return max2(expr_depth(e->ascribe.value), type_depth(e->ascribe.type));
    case E_EACH: return depth_below_each(e);
    }
    return 0;
}

void report_too_deep(ParseState *p, Span at)
{
    if (!p->too_deep)
        diag_error(p->session, at, DIAG_TOO_DEEP, "nesting too deep");
    p->too_deep = true;
}

/* ---- nodes ---- */

Expr *build_expr(ParseState *p, Span at, Expr content)
{
    Expr *e = arena_new(p->session->arena, Expr);
    *e = content;
    e->span = at;
    e->id = p->ids->expr_count++;
    e->depth = depth_below_expr(e) + 1;
    if (e->depth > MAX_SYNTAX_DEPTH) {
        report_too_deep(p, at);
        *e = (Expr){.kind = E_TUPLE, .span = at, .id = e->id, .depth = 1};
    }
    return e;
}

Pat *build_pat(ParseState *p, Span at, Pat content)
{
    Pat *pat = arena_new(p->session->arena, Pat);
    *pat = content;
    pat->span = at;
    pat->id = p->ids->pat_count++;
    pat->depth = depth_below_pat(pat) + 1;
    if (pat->depth > MAX_SYNTAX_DEPTH) {
        report_too_deep(p, at);
        *pat = (Pat){.kind = PAT_WILD, .span = at, .id = pat->id, .depth = 1};
    }
    return pat;
}

TypeExpr *build_type(ParseState *p, Span at, TypeExpr content)
{
    TypeExpr *t = arena_new(p->session->arena, TypeExpr);
    *t = content;
    t->span = at;
    t->depth = depth_below_type(t) + 1;
    if (t->depth > MAX_SYNTAX_DEPTH) {
        report_too_deep(p, at);
        *t = (TypeExpr){.kind = TE_TUPLE, .span = at, .depth = 1};
    }
    return t;
}

/* ---- expressions ---- */

/* The parser keeps no node for parentheses; the place of the operand tells. */
static bool in_parentheses(const Expr *e, Span at) { return e->span.start != at.start; }

static Expr *negated_literal(ParseState *p, Span at, Expr *e)
{
    e->span = at;
    if (e->kind == E_INT) {
        e->integer.negative = true;
    } else {
        e->floating.value = -e->floating.value;
        e->floating.text = arena_printf(p->session->arena, "-%s", e->floating.text);
    }
    return e;
}

static bool is_unsigned_literal(const Expr *e)
{
    return (e->kind == E_INT && !e->integer.negative) || (e->kind == E_FLOAT && e->floating.text[0] != '-');
}

Expr *build_unary(ParseState *p, Span at, UnaryOp op, Expr *operand, Span operand_at)
{
    if (op == UN_NEG && is_unsigned_literal(operand) && !in_parentheses(operand, operand_at))
        return negated_literal(p, at, operand);
    return build_expr(p, at, (Expr){.kind = E_UNARY, .unary = {op, operand}});
}

static bool is_comparison(BinaryOp op) { return op >= BIN_EQ && op <= BIN_GE; }

static bool is_bare_comparison(const Expr *e, Span at)
{
    return e->kind == E_BINARY && is_comparison(e->binary.op) && !in_parentheses(e, at);
}

/* In `x > 0 and x < 9`, read as x > (0 and x) < 9: the word, or NULL. */
static const Expr *connective_word(const Expr *e)
{
    for (uint32_t i = 0; e->kind == E_APPLY && i + 1 < e->apply.nargs; i++) {
        const Expr *arg = e->apply.args[i];
        bool is_word = arg->kind == E_NAME && (strcmp(arg->name, "and") == 0 || strcmp(arg->name, "or") == 0);
        if (is_word)
            return arg;
    }
    return NULL;
}

static void check_chain(ParseState *p, BinaryOp op, Span op_at, const Expr *left, Span left_at)
{
    if (!is_comparison(op) || !left || !is_bare_comparison(left, left_at))
        return;
    const Expr *word = connective_word(left->binary.right);
    if (word)
        diag_error(p->session, word->span, DIAG_CHAIN, "`%s` is written `%s`", word->name,
                   strcmp(word->name, "and") == 0 ? "&&" : "||");
    else
        diag_error(p->session, op_at, DIAG_CHAIN,
                   "comparisons do not chain; combine them with `&&`, or use parentheses");
}

Expr *build_binary(ParseState *p, Span at, BinaryOp op, Span op_at, Expr *left, Span left_at, Expr *right)
{
    check_chain(p, op, op_at, left, left_at);
    return build_expr(p, at, (Expr){.kind = E_BINARY, .binary = {op, left, right, op_at}});
}

Expr *build_section(ParseState *p, Span at, BinaryOp op, Span op_at, Expr *left, Span left_at, Expr *right)
{
    ExprKind kind = left ? E_LEFT_SECTION : right ? E_RIGHT_SECTION : E_OP_SECTION;
    check_chain(p, op, op_at, left, left_at);
    return build_expr(p, at, (Expr){.kind = kind, .binary = {op, left, right, op_at}});
}

Expr *build_project(ParseState *p, Span at, Expr *value, uint32_t index)
{
    bool looks_like_a_number = value->kind == E_INT && p->session->files.at[at.file]->text[value->span.end] == '.';
    if (looks_like_a_number)
        diag_error(p->session, at, DIAG_MALFORMED_NUMBER,
                   "malformed number: only decimal numbers without a type have a point");
    return build_expr(p, at, (Expr){.kind = E_PROJECT, .project = {value, index}});
}

/* The argument of an accessor. Only parts of it are taken there, so no name of the program is hidden. */
static Name accessed_name(ParseState *p) { return intern_cstr(p->session, "part"); }

Expr *build_accessed(ParseState *p, Span at)
{
    return build_expr(p, at, (Expr){.kind = E_NAME, .name = accessed_name(p)});
}

Expr *build_accessor(ParseState *p, Span at, Expr *body)
{
    PatList *params = add_pat(p, NULL, build_pat(p, at, (Pat){.kind = PAT_NAME, .name = accessed_name(p)}));
    return build_expr(p, at, (Expr){.kind = E_LAMBDA, .lambda = {LIST_OF(params), body, true}});
}

ExprList *join_exprs(ParseState *p, ExprList *list, const ExprList *more)
{
    for (uint32_t i = 0; i < more->v.n; i++)
        list = add_expr(p, list, more->v.at[i]);
    return list;
}

/* The step as a part of `of`. */
static void take_part(Expr *step, Expr *of)
{
    switch (step->kind) {
    case E_INDEX: step->index.array = of; break;
    case E_SLICE: step->slice.array = of; break;
    case E_FIELD: step->field.value = of; break;
    default: step->project.value = of; break;
    }
}

Expr *build_update(ParseState *p, Span at, Expr *whole, ExprList *steps, Expr *value)
{
    uint32_t n = steps->v.n;
    Expr *last = steps->v.at[n - 1];
    if (n == 1 && last->kind == E_INDEX)
        return build_expr(p, at, (Expr){.kind = E_UPDATE_INDEX, .update_index = {whole, last->index.index, value}});
    if (n == 1 && last->kind == E_FIELD)
        return build_expr(p, at,
                          (Expr){.kind = E_UPDATE_FIELD, .update_field = {whole, last->field.name, last->span, value}});
    Expr *part = whole;
    for (uint32_t i = 0; i < n; i++) {
        Expr step = *steps->v.at[i];
        take_part(&step, part);
        if (i > 0 && part->kind == E_SLICE)
            diag_error(p->session, part->span, DIAG_UNEXPECTED, "a slice has to be the last step of an update");
        part = build_expr(p, step.span, step);
    }
    return build_expr(p, at, (Expr){.kind = E_UPDATE_PART, .update_part = {whole, part, value}});
}

Expr *build_range_start(ParseState *p, Span at, Expr *from, Span from_at, Expr *second)
{
    if (from->kind == E_RANGE && !in_parentheses(from, from_at))
        diag_error(p->session, at, DIAG_CHAIN, "ranges do not chain");
    return build_expr(p, at, (Expr){.kind = E_RANGE, .range = {from, second, NULL, false}});
}

Expr *build_range(ParseState *p, Span at, Expr *from, Span from_at, Expr *to, bool inclusive)
{
    if (from->kind != E_RANGE || in_parentheses(from, from_at))
        return build_expr(p, at, (Expr){.kind = E_RANGE, .range = {from, NULL, to, inclusive}});
    if (from->range.to)
        diag_error(p->session, at, DIAG_CHAIN, "ranges do not chain");
    return build_expr(p, at, (Expr){.kind = E_RANGE, .range = {from->range.from, from->range.second, to, inclusive}});
}

Expr *build_apply(ParseState *p, Span at, Expr *fn, Span fn_at, ExprList *args)
{
    if (fn->kind != E_CTOR || in_parentheses(fn, fn_at))
        return build_expr(p, at, (Expr){.kind = E_APPLY, .apply = {fn, LIST_OF(args)}});
    if (args->v.n > 1)
        diag_error(p->session, args->v.at[1]->span, DIAG_CONSTRUCTOR_SYNTAX,
                   "a constructor takes one value: write a tuple, or put the constructor in parentheses");
    return build_expr(p, at, (Expr){.kind = E_CTOR, .ctor = {fn->ctor.name, args->v.at[0]}});
}

static void report_one_tuple(ParseState *p, Span at)
{
    diag_error(p->session, at, DIAG_TUPLE_ARITY, "a tuple has at least two components");
}

Expr *build_tuple(ParseState *p, Span at, ExprList *items, bool ends_in_comma)
{
    if (items->v.n == 1 && ends_in_comma)
        report_one_tuple(p, at);
    if (items->v.n == 1)
        return items->v.at[0];
    return build_expr(p, at, (Expr){.kind = E_TUPLE, .items = {LIST_OF(items)}});
}

Expr *build_wildcard(ParseState *p, Span at)
{
    Expr *e = build_expr(p, at, (Expr){.kind = E_NAME, .name = intern_cstr(p->session, "_")});
    vec_push(p->session->arena, &p->wildcards, e);
    return e;
}

Expr *build_loop_for_count(ParseState *p, Span at, Pat *state, Expr *init, Pat *counter, Expr *count, Expr *body)
{
    if (counter->kind != PAT_NAME && counter->kind != PAT_WILD)
        diag_error(p->session, counter->span, DIAG_PATTERN_SYNTAX, "the counter of a loop is a name or `_`");
    return build_expr(p, at, (Expr){.kind = E_LOOP, .loop = {LOOP_FOR_COUNT, state, init, counter, count, body}});
}

/* ---- patterns ---- */

Pat *build_negative_pat(ParseState *p, Span at, Expr *number)
{
    return build_pat(p, at, (Pat){.kind = PAT_LITERAL, .literal = negated_literal(p, at, number)});
}

Pat *build_tuple_pat(ParseState *p, Span at, PatList *items, bool ends_in_comma)
{
    if (items->v.n == 1 && ends_in_comma)
        report_one_tuple(p, at);
    if (items->v.n == 1)
        return items->v.at[0];
    return build_pat(p, at, (Pat){.kind = PAT_TUPLE, .tuple = {LIST_OF(items)}});
}

Pat *require_irrefutable(ParseState *p, Pat *pat)
{
    switch (pat->kind) {
    case PAT_NAME:
    case PAT_WILD: break;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < pat->tuple.n; i++)
            require_irrefutable(p, pat->tuple.items[i]);
        break;
    case PAT_RECORD:
        for (uint32_t i = 0; i < pat->record.n; i++)
            require_irrefutable(p, pat->record.fields[i].pat);
        break;
    case PAT_ASCRIBE: require_irrefutable(p, pat->ascribe.pat); break;
    case PAT_LITERAL:
        diag_error(p->session, pat->span, DIAG_PATTERN_PLACE, "a literal pattern may only stand in `match`");
        break;
    case PAT_CTOR:
        diag_error(p->session, pat->span, DIAG_PATTERN_PLACE, "a constructor pattern may only stand in `match`");
        break;
    }
    return pat;
}

static Pat *record_pat_from_expr(ParseState *p, Expr *e)
{
    PatFieldList *fields = NULL;
    for (uint32_t i = 0; i < e->record.n; i++) {
        const ExprField *f = &e->record.fields[i];
        fields = add_pat_field(p, fields, (PatField){f->name, f->span, pat_from_expr(p, f->value)});
    }
    return build_pat(p, e->span, (Pat){.kind = PAT_RECORD, .record = {LIST_OF(fields)}});
}

static Pat *tuple_pat_from_expr(ParseState *p, Expr *e)
{
    if (e->items.n == 0)
        return build_pat(p, e->span, (Pat){.kind = PAT_TUPLE});
    PatList *items = NULL;
    for (uint32_t i = 0; i < e->items.n; i++)
        items = add_pat(p, items, pat_from_expr(p, e->items.items[i]));
    return build_pat(p, e->span, (Pat){.kind = PAT_TUPLE, .tuple = {LIST_OF(items)}});
}

static Pat *name_pat_from_expr(ParseState *p, Expr *e)
{
    if (strcmp(e->name, "_") != 0)
        return build_pat(p, e->span, (Pat){.kind = PAT_NAME, .name = e->name});
    e->name = NULL; /* no longer a stray wildcard */
    return build_pat(p, e->span, (Pat){.kind = PAT_WILD});
}

Pat *pat_from_expr(ParseState *p, Expr *e)
{
    if (e->kind == E_NAME && e->name)
        return name_pat_from_expr(p, e);
    if (e->kind == E_TUPLE)
        return tuple_pat_from_expr(p, e);
    if (e->kind == E_RECORD)
        return record_pat_from_expr(p, e);
    if (e->kind == E_ASCRIBE) {
        Pat *pat = pat_from_expr(p, e->ascribe.value);
        return build_pat(p, e->span, (Pat){.kind = PAT_ASCRIBE, .ascribe = {pat, e->ascribe.type}});
    }
    diag_error(p->session, e->span, DIAG_PATTERN_SYNTAX,
               "expected a pattern before `in`, or `:` and the binders behind this expression");
    return build_pat(p, e->span, (Pat){.kind = PAT_WILD});
}

/* ---- types ---- */

TypeExpr *build_tuple_type(ParseState *p, Span at, TypeList *items, bool ends_in_comma)
{
    if (items->v.n == 1 && ends_in_comma)
        report_one_tuple(p, at);
    if (items->v.n == 1)
        return items->v.at[0];
    return build_type(p, at, (TypeExpr){.kind = TE_TUPLE, .tuple = {LIST_OF(items)}});
}

TypeExpr *build_type_variable(ParseState *p, Span at, Name name)
{
    bool is_known = p->in_type_text || p->has_quoted_use;
    p->has_quoted_use = true;
    if (!is_known)
        diag_error(p->session, at, DIAG_UNQUOTED_VARIABLE, "a type variable is used without its quote: write `%s`",
                   name + 1);
    return build_type(p, at, (TypeExpr){.kind = TE_NAME, .name = {.name = name}});
}

TypeExpr *build_sized_by_literal(ParseState *p, Span at, Expr *size, TypeExpr *element)
{
    if (size->integer.suffix != SUFFIX_NONE || size->integer.magnitude > INT64_MAX) {
        diag_error(p->session, size->span, DIAG_SIZE_SYNTAX, "a size is an integer of type i64, without a suffix");
        size->integer.magnitude = 0;
    }
    int64_t n = (int64_t)size->integer.magnitude;
    TypeExpr type = {.kind = TE_ARRAY,
                     .array = {.size_kind = SIZE_LITERAL, .size = n, .size_span = size->span, .element = element}};
    return build_type(p, at, type);
}

TypeExpr *build_sized_by_name(ParseState *p, Span at, TypeExpr *size, TypeExpr *element)
{
    if (size->kind != TE_NAME || size->name.module || size->name.nargs)
        diag_error(p->session, size->span, DIAG_SIZE_SYNTAX, "a size is a name or an integer");
    Name name = size->kind == TE_NAME ? size->name.name : intern_cstr(p->session, "_");
    TypeExpr type = {.kind = TE_ARRAY,
                     .array = {.size_kind = SIZE_NAME, .size_name = name, .size_span = size->span, .element = element}};
    return build_type(p, at, type);
}

/* ---- definitions ---- */

static void set_type_params(ParseState *p, Def *def, const NameList *params)
{
    uint32_t n = params->v.n;
    def->ntype_params = n;
    def->type_params = arena_array(p->session->arena, Name, n);
    def->type_param_spans = arena_array(p->session->arena, Span, n);
    for (uint32_t i = 0; i < n; i++) {
        def->type_params[i] = params->v.at[i].name;
        def->type_param_spans[i] = params->v.at[i].span;
    }
}

Def *build_value(ParseState *p, Span at, Name name, Span name_at, NameList *type_params, PatList *params,
                 TypeExpr *result, Expr *body)
{
    Def *def = arena_new(p->session->arena, Def);
    *def = (Def){.kind = DEF_VALUE, .span = at, .name = name, .name_span = name_at, .result = result, .body = body};
    if (type_params)
        set_type_params(p, def, type_params);
    if (params) {
        def->params = params->v.at;
        def->nparams = params->v.n;
    }
    return def;
}

Def *build_expression_entry(ParseState *p, Expr *e)
{
    const bool is_function = e->kind == E_LAMBDA && !e->lambda.is_accessor;
    Def *def = arena_new(p->session->arena, Def);
    *def = (Def){.kind = DEF_VALUE,
                 .span = e->span,
                 .name = intern_cstr(p->session, EXPRESSION_ENTRY),
                 .name_span = e->span,
                 .is_entry = true,
                 .body = is_function ? e->lambda.body : e};
    if (is_function) {
        def->params = e->lambda.params;
        def->nparams = e->lambda.nparams;
    }
    return def;
}

/* Empty where it was reported. */
static const char *import_path(ParseState *p, const Expr *path)
{
    if (path->string.n == 0 || memchr(path->string.bytes, 0, path->string.n)) {
        diag_error(p->session, path->span, DIAG_IMPORT_SYNTAX, "this is not a path");
        return "";
    }
    return arena_strndup(p->session->arena, (const char *)path->string.bytes, path->string.n);
}

Def *build_import(ParseState *p, Span at, Expr *path, Name as, Span as_at, Name alias, Span alias_at)
{
    if (as && strcmp(as, "as") != 0)
        diag_error(p->session, as_at, DIAG_IMPORT_SYNTAX, "expected `as` or the next definition, found `%s`", as);
    Def *def = arena_new(p->session->arena, Def);
    *def = (Def){.kind = DEF_IMPORT, .span = at, .name = alias, .path = import_path(p, path)};
    def->name_span = alias ? alias_at : path->span;
    return def;
}

/* ---- leaves ---- */

typedef struct IntegerType {
    const char *name;
    uint64_t largest, largest_negated; /* of x and of -x */
} IntegerType;

static void check_integer(ParseState *p, const Expr *e)
{
    static const IntegerType types[] = {
        [SUFFIX_I8] = {"i8", 127, 128},
        [SUFFIX_I16] = {"i16", 32767, 32768},
        [SUFFIX_I32] = {"i32", 2147483647, 2147483648},
        [SUFFIX_I64] = {"i64", INT64_MAX, (uint64_t)INT64_MAX + 1},
        [SUFFIX_U8] = {"u8", UINT8_MAX, 0},
        [SUFFIX_U16] = {"u16", UINT16_MAX, 0},
        [SUFFIX_U32] = {"u32", UINT32_MAX, 0},
        [SUFFIX_U64] = {"u64", UINT64_MAX, 0},
    };
    if (e->kind != E_INT || e->integer.suffix == SUFFIX_NONE)
        return;
    const IntegerType *type = &types[e->integer.suffix];
    if (e->integer.magnitude <= (e->integer.negative ? type->largest_negated : type->largest))
        return;
    diag_error(p->session, e->span, DIAG_LITERAL_RANGE, "the literal does not fit: %s goes from %s%llu to %llu",
               type->name, type->largest_negated ? "-" : "", (unsigned long long)type->largest_negated,
               (unsigned long long)type->largest);
}

void check_leaves(ParseState *p)
{
    for (uint32_t i = 0; i < p->literals.n; i++)
        check_integer(p, p->literals.at[i]);
    for (uint32_t i = 0; i < p->wildcards.n; i++) {
        const Expr *e = p->wildcards.at[i];
        if (e->kind != E_NAME || !e->name)
            continue;
        diag_error(p->session, e->span, DIAG_UNDERSCORE_VALUE, "`_` is a pattern, it has no value");
        diag_note(p->session, e->span, "a function of what is missing is written `\\x -> …`");
    }
}
