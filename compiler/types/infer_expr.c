#include "types/check_internal.h"

/* Expressions. `infer` finds a type; the hint, if any, is what the context will want, and is used only
 * where it decides something (constructors, lambdas). `check` also unifies, and does so at the branches
 * and bodies that give the value, where a mismatch is best seen. Both are one walk with a Goal. */

typedef struct Goal {
    Type *expected; /* or NULL: infer */
    Type *hint;
    const Why *why;
} Goal;

static Type *infer_goal(Checker *c, Expr *e, const Goal *g);

Type *infer(Checker *c, Expr *e, Type *hint)
{
    Goal g = {NULL, hint, NULL};
    return infer_goal(c, e, &g);
}

void check(Checker *c, Expr *e, Type *expected, const Why *why)
{
    Goal g = {expected, expected, why};
    infer_goal(c, e, &g);
}

Span result_span(const Expr *e)
{
    while (e->kind == E_LET || e->kind == E_LET_FUN)
        e = e->kind == E_LET ? e->let.body : e->let_fun.body;
    return e->span;
}

void add_data_use(Checker *c, DataKind kind, Span span, Type *t)
{
    DataUse use = {kind, span, t};
    vec_push(c->arena, &c->data, use);
}

/* ---- literals ---- */

static Type *literal_var(Checker *c, const Expr *e, TypeClass cls)
{
    Type *t = new_var(c, cls);
    t->var.is_literal = true;
    LiteralUse use = {e, t};
    vec_push(c->arena, &c->literals, use);
    return t;
}

static Type *suffixed(Checker *c, const Expr *e, Suffix suffix)
{
    /* Suffix and Scalar have the same order: SUFFIX_I8 and SC_I8 are both 1. */
    Type *t = c->scalars[(Scalar)suffix];
    LiteralUse use = {e, t};
    vec_push(c->arena, &c->literals, use);
    return t;
}

static Type *infer_int(Checker *c, const Expr *e)
{
    return e->integer.suffix ? suffixed(c, e, e->integer.suffix) : literal_var(c, e, CLASS_NUM);
}

static Type *infer_float(Checker *c, const Expr *e)
{
    return e->floating.suffix ? suffixed(c, e, e->floating.suffix) : literal_var(c, e, CLASS_FLOAT);
}

/* ---- bindings ---- */

static void infer_let(Checker *c, Expr *e)
{
    if (pat_has_type(e->let.pat)) { /* what is declared is what the value has to be */
        Type *t = new_var(c, CLASS_ANY);
        infer_pat(c, e->let.pat, t);
        Why why = {.kind = WHY_PATTERN, .span = e->let.pat->span};
        check(c, e->let.value, t, &why);
    } else {
        Type *t = infer(c, e->let.value, NULL);
        solve_deferred(c);
        infer_pat(c, e->let.pat, t);
    }
}

static void infer_let_fun(Checker *c, Expr *e)
{
    Def *def = e->let_fun.def;
    LocalFun *f = arena_new(c->arena, LocalFun);
    f->def = def;
    f->expr_id = e->id;
    f->outer = c->fun;
    vec_push(c->arena, &c->funs, f);
    ptrmap_put(c->arena, &c->local_funs, def, f);
    c->fun = f;
    c->level++;
    Signature *sig = infer_signature(c, def);
    f->mono = sig->type;
    infer_body(c, def, sig);
    f->mono = NULL;
    c->level--;
    c->fun = f->outer;
    generalise_local(c, f, sig->type);
}

/* A chain of lets costs no stack: down to the body, then up again with its type. */
static Type *infer_lets(Checker *c, Expr *e, const Goal *g)
{
    Expr *body = e;
    while (body->kind == E_LET || body->kind == E_LET_FUN) {
        if (body->kind == E_LET) {
            infer_let(c, body);
            body = body->let.body;
        } else {
            infer_let_fun(c, body);
            body = body->let_fun.body;
        }
    }
    Type *t = infer_goal(c, body, g);
    while (e != body) {
        c->out->expr_types[e->id] = t;
        e = e->kind == E_LET ? e->let.body : e->let_fun.body;
    }
    return t;
}

/* ---- control ---- */

static void check_condition(Checker *c, Expr *e)
{
    Why why = {.kind = WHY_CONDITION};
    check(c, e, c->scalars[SC_BOOL], &why);
}

/* Does the context say which type it is? If not, the first branch does. */
static bool is_decided(const Goal *g)
{
    const Type *t = g->expected ? type_prune(g->expected) : NULL;
    return t && (t->kind != TY_VAR || t->var.declared);
}

static Type *infer_if(Checker *c, Expr *e, const Goal *g)
{
    check_condition(c, e->if_.cond);
    bool decided = is_decided(g);
    uint32_t errors = c->s->error_count;
    Type *t = infer_goal(c, e->if_.then_e, g);
    if (c->s->error_count != errors) {
        infer(c, e->if_.else_e, g->hint); /* mostly the same mistake again */
    } else if (decided) {
        infer_goal(c, e->if_.else_e, g);
    } else {
        Why why = {.kind = WHY_BRANCH, .span = result_span(e->if_.then_e), .type = t};
        check(c, e->if_.else_e, t, &why);
    }
    add_data_use(c, DATA_IF, e->span, t);
    return decided || c->s->error_count == errors ? t : c->error;
}

static Type *infer_match(Checker *c, Expr *e, const Goal *g)
{
    Type *subject = infer(c, e->match.subject, NULL);
    solve_deferred(c);
    bool decided = is_decided(g);
    Type *t = decided ? g->expected : NULL;
    Why why = {.kind = WHY_CASE, .span = e->span};
    uint32_t errors = c->s->error_count;
    for (uint32_t i = 0; i < e->match.n; i++) {
        MatchCase *mc = &e->match.cases[i];
        infer_pat(c, mc->pat, subject);
        if (c->s->error_count != errors) {
            infer(c, mc->body, g->hint); /* mostly the same mistake again */
        } else if (t) {
            check(c, mc->body, t, decided ? g->why : &why);
        } else {
            t = infer_goal(c, mc->body, g);
            why = (Why){.kind = WHY_CASE, .span = result_span(mc->body), .type = t};
        }
    }
    if (!t)
        t = c->error;
    add_data_use(c, DATA_MATCH, e->span, t);
    return decided || c->s->error_count == errors ? t : c->error;
}

static Type *infer_loop_domain(Checker *c, Expr *e)
{
    if (e->loop.kind == LOOP_FOR_COUNT) {
        Type *count = infer(c, e->loop.domain, NULL);
        return expect_class(c, e->loop.domain->span, CLASS_INT, count) ? count : c->error;
    }
    Type *t = infer(c, e->loop.domain, NULL);
    uint32_t errors = c->s->error_count;
    Type *element = element_of(c, e->loop.domain, t);
    if (c->s->error_count > errors)
        note_counting(c, t);
    return element;
}

/* The literals of a loop's first state are of the types that the context wants, so that a body that makes
 * something else of them is where the message points. */
static void adopt(Checker *c, Type *state, Type *wanted)
{
    state = type_prune(state);
    wanted = type_prune(wanted);
    bool fits = state->kind == TY_VAR && state->var.is_literal && wanted->kind == TY_SCALAR;
    if (fits && class_has_scalar(state->var.cls, wanted->scalar))
        unify(c, state, wanted);
    if (state->kind != TY_TUPLE || wanted->kind != TY_TUPLE || state->tuple.n != wanted->tuple.n)
        return;
    for (uint32_t i = 0; i < state->tuple.n; i++)
        adopt(c, state->tuple.items[i], wanted->tuple.items[i]);
}

static Type *infer_loop(Checker *c, Expr *e, Type *hint)
{
    Type *state;
    if (pat_has_type(e->loop.state)) {
        state = new_var(c, CLASS_ANY);
        infer_pat(c, e->loop.state, state);
        Why declared = {.kind = WHY_PATTERN, .span = e->loop.state->span};
        check(c, e->loop.init, state, &declared);
    } else {
        state = infer(c, e->loop.init, hint);
        if (hint)
            adopt(c, state, hint);
        solve_deferred(c);
        uint32_t errors = c->s->error_count;
        infer_pat(c, e->loop.state, state);
        if (c->s->error_count != errors)
            state = c->error;
    }
    if (e->loop.kind == LOOP_WHILE)
        check_condition(c, e->loop.domain);
    else
        infer_pat(c, e->loop.binder, infer_loop_domain(c, e));
    Why why = {.kind = WHY_STATE, .span = e->loop.init->span, .type = state};
    uint32_t errors = c->s->error_count;
    check(c, e->loop.body, state, &why);
    add_data_use(c, DATA_LOOP, e->span, state);
    return c->s->error_count == errors ? state : c->error;
}

/* A lambda of too few parameters has to give a function, which its body mostly is not. */
static Why lambda_why(const Expr *e, Type *wanted, const Why *outer)
{
    uint32_t more = 0;
    for (Type *t = type_prune(wanted); t->kind == TY_FUN; t = type_prune(t->fun.to))
        more++;
    uint32_t n = e->lambda.nparams;
    Span params = span_join(e->lambda.params[0]->span, e->lambda.params[n - 1]->span);
    return (Why){.kind = more ? WHY_LAMBDA : WHY_NONE, .span = params, .given = n, .wanted = n + more, .outer = outer};
}

/* A lambda of more parameters than it will be given. */
static bool too_many_params(Checker *c, const Expr *e, const Goal *g)
{
    uint32_t takes = 0, n = e->lambda.nparams;
    Type *t = type_prune(g->expected);
    for (; t->kind == TY_FUN; t = type_prune(t->fun.to))
        takes++;
    if (takes == 0 || takes >= n || t->kind == TY_VAR || t->kind == TY_ERROR)
        return t->kind == TY_ERROR;
    Span extra = span_join(e->lambda.params[takes]->span, e->lambda.params[n - 1]->span);
    diag_error(c->s, extra, DIAG_TYPE_MISMATCH, "this function has %u parameters, but is called with %u argument%s", n,
               takes, takes == 1 ? "" : "s");
    note_too_many_params(c, e, g->expected, g->why);
    return true;
}

static Type *infer_lambda(Checker *c, Expr *e, const Goal *g)
{
    uint32_t n = e->lambda.nparams;
    Type **params = arena_array(c->arena, Type *, n);
    Type *wanted = g->hint;
    if (g->expected && too_many_params(c, e, g))
        wanted = c->error;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t errors = c->s->error_count;
        Type *fun = wanted ? type_prune(wanted) : NULL;
        bool known = fun && fun->kind == TY_FUN, failed = fun && fun->kind == TY_ERROR;
        params[i] = known ? fun->fun.from : failed ? fun : new_var(c, CLASS_ANY);
        wanted = known ? fun->fun.to : failed ? fun : NULL;
        infer_pat(c, e->lambda.params[i], params[i]);
        if (c->s->error_count != errors && fun)
            note_lambda_pattern(c, e, fun);
    }
    if (g->expected && wanted && has_error(wanted)) { /* reported */
        infer(c, e->lambda.body, NULL);
        return c->error;
    }
    Type *t;
    if (g->expected && wanted) { /* the function type was known: the body gives the message */
        Why why = lambda_why(e, wanted, g->why);
        t = wanted;
        check(c, e->lambda.body, wanted, why.kind == WHY_LAMBDA ? &why : g->why);
    } else {
        t = infer(c, e->lambda.body, wanted);
    }
    for (uint32_t i = n; i-- > 0;)
        t = type_fun(c->arena, params[i], t);
    if (g->expected)
        expect(c, e->span, g->expected, t, g->why);
    return t;
}

/* ---- apply-to-each ---- */

static Type *infer_each(Checker *c, Expr *e, Type *hint)
{
    Type **elements = arena_array(c->arena, Type *, e->each.nbinders);
    for (uint32_t i = 0; i < e->each.nbinders; i++) {
        Expr *sequence = e->each.binders[i].sequence;
        elements[i] = new_var(c, CLASS_ANY);
        Type *t = infer(c, sequence, NULL);
        defer(c,
              (Deferred){
                  .kind = DEFER_EACH, .span = sequence->span, .from = sequence, .subject = t, .result = elements[i]});
    }
    for (uint32_t i = 0; i < e->each.nbinders; i++)
        infer_pat(c, e->each.binders[i].pat, elements[i]);
    if (e->each.guard)
        check_condition(c, e->each.guard);
    Type *wanted = hint ? type_prune(hint) : NULL;
    Type *body = elements[0];
    if (e->each.body)
        body = infer(c, e->each.body, wanted && wanted->kind == TY_ARRAY ? wanted->element : NULL);
    add_data_use(c, DATA_ELEMENT, e->each.body ? e->each.body->span : e->span, body);
    return type_array(c->arena, body);
}

static Type *infer_range(Checker *c, Expr *e)
{
    Type *t = infer(c, e->range.from, NULL);
    if (!expect_class(c, e->range.from->span, CLASS_INT, t))
        t = new_var(c, CLASS_INT);
    Why why = {.kind = WHY_RANGE, .span = e->range.from->span, .type = t};
    if (e->range.second)
        check(c, e->range.second, t, &why);
    if (e->range.to)
        check(c, e->range.to, t, &why);
    else {
        diag_error(c->s, e->span, DIAG_UNEXPECTED,
                   "a range is written `a..<b`, without b, or `a...b`, with it; a slice `xs[a:b]`");
        diag_note_text(c->s, "in steps it is `a..b..<c` or `a..b...c`");
    }
    return e->range.to ? type_array(c->arena, t) : c->error;
}

static Type *infer_ascribe(Checker *c, Expr *e)
{
    Type *t = convert_type(c, e->ascribe.type);
    check(c, e->ascribe.value, t, NULL);
    return t;
}

/* ---- dispatch ---- */

static Type *infer_simple(Checker *c, Expr *e, Type *hint)
{
    switch (e->kind) {
    case E_INT: return infer_int(c, e);
    case E_FLOAT: return infer_float(c, e);
    case E_BOOL: return c->scalars[SC_BOOL];
    case E_CHAR: return c->scalars[SC_U8];
    case E_STRING: return type_array(c->arena, c->scalars[SC_U8]);
    case E_NAME: return infer_name(c, e);
    case E_TUPLE: return infer_tuple(c, e, hint);
    case E_RECORD: return infer_record(c, e, hint);
    case E_ARRAY: return infer_array(c, e, hint);
    case E_APPLY: return infer_apply(c, e);
    case E_CTOR: return infer_ctor(c, e, hint);
    case E_UNARY: return infer_unary(c, e, hint);
    case E_BINARY: return infer_binary(c, e);
    case E_PIPE: return infer_pipe(c, e);
    case E_RANGE: return infer_range(c, e);
    case E_OP_SECTION:
    case E_LEFT_SECTION:
    case E_RIGHT_SECTION: return infer_section(c, e);
    case E_INDEX: return infer_index(c, e);
    case E_SLICE: return infer_slice(c, e);
    case E_FIELD: return infer_field(c, e);
    case E_PROJECT: return infer_project(c, e);
    case E_UPDATE_INDEX: return infer_update_index(c, e, hint);
    case E_UPDATE_FIELD: return infer_update_field(c, e, hint);
    case E_UPDATE_PART: return infer_update_part(c, e);
    case E_LOOP: return infer_loop(c, e, hint);
    case E_ASCRIBE: return infer_ascribe(c, e);
    case E_EACH: return infer_each(c, e, hint);
    case E_LET:
    case E_LET_FUN:
    case E_IF:
    case E_MATCH:
    case E_LAMBDA: break; /* infer_goal */
    }
    return c->error;
}

/* Against a known tuple, each component by itself, so that the message is about the one that is wrong. */
static bool check_tuple(Checker *c, Expr *e, const Goal *g)
{
    Type *t = g->expected ? type_prune(g->expected) : NULL;
    if (e->kind != E_TUPLE || !t || t->kind != TY_TUPLE || t->tuple.n != e->items.n)
        return false;
    for (uint32_t i = 0; i < e->items.n; i++)
        check(c, e->items.items[i], t->tuple.items[i], g->why);
    return true;
}

/* Likewise a record of the known fields. */
static bool check_record(Checker *c, Expr *e, const Goal *g)
{
    Type *t = g->expected ? type_prune(g->expected) : NULL;
    if (e->kind != E_RECORD || !t || t->kind != TY_RECORD || t->record.n != e->record.n)
        return false;
    for (uint32_t i = 0; i < e->record.n; i++) {
        if (!field_type(t, e->record.fields[i].name))
            return false;
        for (uint32_t j = 0; j < i; j++) {
            if (e->record.fields[i].name == e->record.fields[j].name)
                return false;
        }
    }
    for (uint32_t i = 0; i < e->record.n; i++)
        check(c, e->record.fields[i].value, field_type(t, e->record.fields[i].name), g->why);
    return true;
}

static Type *infer_value(Checker *c, Expr *e, const Goal *g)
{
    if (check_tuple(c, e, g) || check_record(c, e, g))
        return g->expected;
    Type *t = infer_simple(c, e, g->hint);
    uint32_t errors = c->s->error_count;
    if (!g->expected || expect(c, e->span, g->expected, t, g->why))
        return t;
    if (c->s->error_count != errors)
        note_value(c, e, g->expected, t);
    return g->expected;
}

static Type *infer_goal(Checker *c, Expr *e, const Goal *g)
{
    Type *t;
    if (e->kind == E_LET || e->kind == E_LET_FUN)
        t = infer_lets(c, e, g);
    else if (e->kind == E_IF)
        t = infer_if(c, e, g);
    else if (e->kind == E_MATCH)
        t = infer_match(c, e, g);
    else if (e->kind == E_LAMBDA)
        t = infer_lambda(c, e, g);
    else
        t = infer_value(c, e, g);
    c->out->expr_types[e->id] = t;
    return t;
}

/* ---- functions ---- */

static void declare_params(Checker *c, Def *def, Signature *sig)
{
    Type **vars = arena_array(c->arena, Type *, def->ntype_params);
    for (uint32_t i = 0; i < def->ntype_params; i++) {
        vars[i] = new_var(c, CLASS_ANY);
        vars[i]->var.declared = def->type_params[i];
        Declared d = {vars[i], def->type_params[i], def};
        vec_push(c->arena, &c->declared, d);
    }
    sig->env = (TypeEnv){def->type_params, vars, def->ntype_params, c->tenv};
}

Signature *infer_signature(Checker *c, Def *def)
{
    Signature *sig = arena_new(c->arena, Signature);
    declare_params(c, def, sig);
    const TypeEnv *saved = c->tenv;
    c->tenv = &sig->env;
    Type **params = arena_array(c->arena, Type *, def->nparams);
    for (uint32_t i = 0; i < def->nparams; i++) {
        params[i] = new_var(c, CLASS_ANY);
        infer_pat(c, def->params[i], params[i]);
    }
    sig->result = def->result ? convert_type(c, def->result) : new_var(c, CLASS_ANY);
    sig->type = sig->result;
    for (uint32_t i = def->nparams; i-- > 0;)
        sig->type = type_fun(c->arena, params[i], sig->type);
    c->tenv = saved;
    return sig;
}

void infer_body(Checker *c, Def *def, const Signature *sig)
{
    const TypeEnv *saved = c->tenv;
    c->tenv = &sig->env;
    Why why = {.kind = def->result ? WHY_RESULT : WHY_NONE, .span = def->result ? def->result->span : def->span};
    check(c, def->body, sig->result, &why);
    c->tenv = saved;
}
