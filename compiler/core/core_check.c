/* The checker for core: what core.h promises, every later pass may rely on. It runs after each pass;
 * the first broken promise ends it. */
#include "core/core.h"

#include <stdarg.h>

typedef struct Checker {
    const CoreProgram *program;
    const CoreFn *fn;
    StrBuf *why;
    bool ok;
    /* By variable of fn: bound so far, and in scope here. */
    bool *bound, *in_scope;
    VEC(CoreVar) scope; /* those in scope, innermost last */
    Arena *arena;
} Checker;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
fail(Checker *c, const char *format, ...)
{
    if (!c->ok)
        return;
    c->ok = false;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_printf(c->why, "core_check: function %s: %s", c->fn->name, text);
}

/* Fails unless `holds`; returns it, so that a caller may stop before touching what is broken. */
static bool expect(Checker *c, bool holds, const char *what)
{
    if (!holds)
        fail(c, "%s", what);
    return holds && c->ok;
}

static const CoreType type_i64 = {SC_I64, 0}, type_bool = {SC_BOOL, 0};

/* ---- scopes ---- */

static void bind(Checker *c, CoreVar v)
{
    if (!expect(c, v < c->fn->vars.n, "a binder's number is out of range"))
        return;
    if (c->bound[v])
        fail(c, "%%%u is bound twice", v);
    c->bound[v] = true;
    c->in_scope[v] = true;
    vec_push(c->arena, &c->scope, v);
}

static void bind_all(Checker *c, const CoreVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        bind(c, vars[i]);
}

static void leave_scope(Checker *c, uint32_t height)
{
    while (c->scope.n > height)
        c->in_scope[c->scope.at[--c->scope.n]] = false;
}

/* ---- atoms ---- */

/* Are the bits a value of the type? Evaluators compare all 64, kernels those of the type. */
static bool fits(Scalar t, uint64_t bits)
{
    uint32_t unused = 64 - 8 * scalar_bytes(t);
    if (t == SC_BOOL)
        return bits <= 1;
    return scalar_is_signed(t) ? (uint64_t)((int64_t)(bits << unused) >> unused) == bits
                               : bits << unused >> unused == bits;
}

/* The atom's type; checks that it is in scope. */
static CoreType use(Checker *c, CoreAtom a)
{
    if (a.is_const) {
        expect(c, a.type.rank == 0 && a.type.scalar < SCALAR_COUNT && fits(a.type.scalar, a.bits),
               "a constant is not a scalar");
        return a.type;
    }
    if (a.var >= c->fn->vars.n || !c->in_scope[a.var]) {
        fail(c, "%%%u is used out of scope", a.var);
        return type_bool;
    }
    return core_var_type(c->fn, a.var);
}

static void describe_type(char *out, size_t n, CoreType t)
{
    snprintf(out, n, "%s of rank %u", scalar_name(t.scalar), t.rank);
}

static void want_type(Checker *c, CoreType found, CoreType expected, const char *what)
{
    char found_text[32], expected_text[32];
    if (core_type_equal(found, expected) || !c->ok)
        return;
    describe_type(found_text, sizeof found_text, found);
    describe_type(expected_text, sizeof expected_text, expected);
    fail(c, "%s is %s instead of %s", what, found_text, expected_text);
}

static void want(Checker *c, CoreAtom a, CoreType t, const char *what) { want_type(c, use(c, a), t, what); }

/* A sequence: its type; `ok` goes false otherwise. */
static CoreType use_seq(Checker *c, CoreAtom a, const char *what)
{
    CoreType t = use(c, a);
    if (!expect(c, !a.is_const && t.rank > 0, what))
        return (CoreType){t.scalar, 1};
    return t;
}

static CoreType var_type(Checker *c, CoreVar v)
{
    return expect(c, v < c->fn->vars.n, "a variable's number is out of range") ? core_var_type(c->fn, v) : type_bool;
}

/* ---- blocks ---- */

static void check_stmt(Checker *c, const CoreStmt *s);

/* Checks a block whose binders were just bound; leaves its scope down to `height`. */
static void check_body(Checker *c, const CoreBlock *b, uint32_t height, const CoreType *results, uint32_t n,
                       const char *what)
{
    if (!expect(c, b != NULL, "a block is missing"))
        return;
    for (uint32_t i = 0; i < b->stmts.n && c->ok; i++)
        check_stmt(c, b->stmts.at[i]);
    if (c->ok && b->nresults != n)
        fail(c, "%s has %u results instead of %u", what, b->nresults, n);
    for (uint32_t i = 0; i < n && c->ok; i++)
        want(c, b->results[i], results[i], what);
    leave_scope(c, height);
}

static CoreType *types_of(Checker *c, const CoreVar *vars, uint32_t n)
{
    CoreType *types = arena_array(c->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        types[i] = var_type(c, vars[i]);
    return types;
}

/* ---- scalar operations ---- */

static void check_select(Checker *c, const CoreStmt *s, CoreType result)
{
    want(c, s->prim.args[0], type_bool, "select's condition");
    want(c, s->prim.args[1], result, "select's first choice");
    want(c, s->prim.args[2], result, "select's second choice");
}

static void check_prim(Checker *c, const CoreStmt *s)
{
    CorePrim op = s->prim.op;
    if (!expect(c, op < PRIM_COUNT && s->nvars == 1, "an operation has one result") ||
        !expect(c, s->prim.nargs == core_prim_arity(op), "an operation has the wrong number of operands"))
        return;
    CoreType result = var_type(c, s->vars[0]);
    if (op == PRIM_SELECT) {
        check_select(c, s, result);
        return;
    }
    CoreType operand = use(c, s->prim.args[0]);
    if (!expect(c, operand.rank == 0 && core_prim_takes(op, operand.scalar), core_prim_name(op)))
        return;
    for (uint32_t i = 1; i < s->prim.nargs; i++)
        want(c, s->prim.args[i], operand, core_prim_name(op));
    if (op == PRIM_CONVERT)
        expect(c, result.rank == 0, "convert gives a scalar");
    else
        want_type(c, result, core_prim_gives_bool(op) ? type_bool : operand, core_prim_name(op));
    if (core_prim_fallible(op, operand.scalar) && core_stmt_fallible(c->program, c->fn, s))
        expect(c, s->site != CORE_NO_SITE, "a division has no site");
}

/* ---- operations on sequences ---- */

static void check_index(Checker *c, const CoreStmt *s, CoreType result)
{
    CoreType array = use_seq(c, s->index.array, "index into what is no sequence");
    want(c, s->index.index, type_i64, "an index");
    want_type(c, result, core_element(array), "index's result");
}

static void check_slice(Checker *c, const CoreStmt *s, CoreType result)
{
    CoreType array = use_seq(c, s->slice.array, "slice of what is no sequence");
    want(c, s->slice.from, type_i64, "a slice's start");
    want(c, s->slice.to, type_i64, "a slice's end");
    want_type(c, result, array, "slice's result");
}

static void check_update(Checker *c, const CoreStmt *s, CoreType result)
{
    CoreType array = use_seq(c, s->update.array, "update of what is no sequence");
    want(c, s->update.index, type_i64, "an index");
    want(c, s->update.value, core_element(array), "the updated element");
    want_type(c, result, array, "update's result");
}

static void check_array(Checker *c, const CoreStmt *s, CoreType result)
{
    if (!expect(c, result.rank > 0, "an array literal is no sequence"))
        return;
    for (uint32_t i = 0; i < s->array.n; i++)
        want(c, s->array.items[i], core_element(result), "an array literal's item");
}

static void check_flatten(Checker *c, const CoreStmt *s, CoreType result)
{
    CoreType array = use_seq(c, s->length.array, "flatten of what is no sequence");
    if (expect(c, array.rank > 1, "flatten needs rank 2 or more"))
        want_type(c, result, core_element(array), "flatten's result");
}

static void check_table(Checker *c, const CoreStmt *s)
{
    const CoreType rows = use_seq(c, s->length.array, "table of what is no sequence");
    if (!expect(c, rows.rank == 2 && s->nvars == 2, "table needs rank 2, and binds two variables"))
        return;
    want_type(c, core_var_type(c->fn, s->vars[0]), core_element(rows), "table's elements");
    want_type(c, core_var_type(c->fn, s->vars[1]), type_i64, "the length of table's rows");
}

static void check_argsort(Checker *c, const CoreStmt *s)
{
    const uint32_t positions = core_argsort_positions(s);
    if (!expect(c, s->argsort.nkeys > 0, "argsort without keys") ||
        !expect(c, positions <= 1 && s->nvars > 0, "argsort binds its columns, and perhaps the positions"))
        return;
    for (uint32_t i = 0; i < s->argsort.nkeys; i++)
        expect(c, use_seq(c, s->argsort.keys[i], "argsort of what is no sequence").rank == 1,
               "argsort's keys are scalars");
    if (positions)
        want_type(c, core_var_type(c->fn, s->vars[0]), (CoreType){SC_I64, 1}, "argsort's result");
    for (uint32_t i = 0; i < s->argsort.nends; i++)
        want(c, s->argsort.ends[i], type_i64, "argsort's ends");
    for (uint32_t i = 0; i < s->argsort.ncolumns; i++) {
        CoreType t = use_seq(c, s->argsort.columns[i], "argsort of a column that is no sequence");
        expect(c, t.rank == 1, "argsort's columns have scalars");
        want_type(c, core_var_type(c->fn, s->vars[positions + i]), t, "a sorted column");
    }
}

static void check_rows(Checker *c, const CoreStmt *s, CoreType result)
{
    uint32_t depth = s->rows.depth;
    if (!expect(c, s->rows.nargs >= 2 && s->rows.nargs % 2 == 0, "check_rows has the wrong number of operands"))
        return;
    expect(c, use_seq(c, s->rows.args[0], "check_rows of what is no sequence").rank > depth,
           "check_rows goes too deep");
    want(c, s->rows.args[1], type_i64, "check_rows' size");
    for (uint32_t i = 2; i < s->rows.nargs; i += 2) {
        CoreType tag = use(c, s->rows.args[i]), wanted = use(c, s->rows.args[i + 1]);
        expect(c, tag.rank == depth && wanted.rank == 0 && tag.scalar == wanted.scalar, "check_rows' tag");
    }
    want_type(c, result, type_i64, "check_rows' result");
}

static void check_many(Checker *c, const CoreStmt *s, CoreType result)
{
    want_type(c, result, type_bool, "what many gives");
    want(c, s->many.cells, type_i64, "the number of cells");
    want(c, s->many.length, type_i64, "the length of a cell");
}

static void check_check(Checker *c, const CoreStmt *s)
{
    expect(c, s->nvars == 0, "a check binds nothing");
    want(c, s->check.cond, type_bool, "a check's condition");
    if (!expect(c, s->check.nvalues <= 3, "a check has at most three values"))
        return;
    for (uint32_t i = 0; i < s->check.nvalues; i++)
        want(c, s->check.values[i], type_i64, "a check's value");
}

/* ---- control ---- */

static void check_if(Checker *c, const CoreStmt *s)
{
    CoreType *types = types_of(c, s->vars, s->nvars);
    want(c, s->if_.cond, type_bool, "an if's condition");
    check_body(c, s->if_.then_b, c->scope.n, types, s->nvars, "a then branch");
    check_body(c, s->if_.else_b, c->scope.n, types, s->nvars, "an else branch");
}

static void check_fitted(Checker *c, const CoreStmt *s, CoreType result)
{
    for (uint32_t i = 0; i < s->fitted.n; i++)
        use(c, s->fitted.results[i]);
    want_type(c, result, type_bool, "what fitted gives");
}

static void check_lane(Checker *c, const CoreStmt *s)
{
    if (!s->lane.memory.is_const)
        want(c, s->lane.memory, (CoreType){SC_U64, 1}, "a lane's memory");
    check_body(c, s->lane.block, c->scope.n, types_of(c, s->vars, s->nvars), s->nvars, "a lane");
}

/* The condition of a while loop sees the parameters as the body does. */
static void check_loop(Checker *c, const CoreStmt *s)
{
    if (!expect(c, s->nvars == s->loop.nparams, "a loop has as many results as parameters"))
        return;
    CoreType *types = types_of(c, s->loop.params, s->loop.nparams);
    for (uint32_t i = 0; i < s->nvars; i++) {
        want(c, s->loop.inits[i], types[i], "a loop's initial value");
        want_type(c, var_type(c, s->vars[i]), types[i], "a loop's result");
    }
    uint32_t height = c->scope.n;
    bind_all(c, s->loop.params, s->loop.nparams);
    if (s->loop.cond) {
        expect(c, s->loop.index == CORE_NO_VAR, "a while loop has no index");
        check_body(c, s->loop.cond, c->scope.n, &type_bool, 1, "a while condition");
    } else {
        want(c, s->loop.count, type_i64, "a loop's count");
        if (s->loop.index != CORE_NO_VAR) {
            bind(c, s->loop.index);
            want_type(c, var_type(c, s->loop.index), type_i64, "a loop's index");
        }
    }
    check_body(c, s->loop.body, height, types, s->loop.nparams, "a loop body");
}

static void check_call(Checker *c, const CoreStmt *s)
{
    const CoreFn *fn = s->call.fn;
    if (!expect(c, fn && fn->index < c->program->fns.n && c->program->fns.at[fn->index] == fn,
                "a call of a function outside the program") ||
        !expect(c, s->call.nargs == fn->nparams && s->nvars == fn->nresults, "a call has the wrong arity"))
        return;
    for (uint32_t i = 0; i < fn->nparams; i++)
        want(c, s->call.args[i], core_var_type(fn, fn->params[i]), "an argument");
    for (uint32_t i = 0; i < fn->nresults; i++)
        want_type(c, var_type(c, s->vars[i]), fn->results[i], "a call's result");
}

/* ---- parallel operations ---- */

static void check_soac(Checker *c, const CoreSoac *soac, const CoreType *results, uint32_t n)
{
    uint32_t height = c->scope.n;
    want(c, soac->domain, type_i64, "a domain");
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        CoreType t = use_seq(c, soac->inputs[i], "an input is no sequence");
        want_type(c, var_type(c, soac->elements[i]), core_element(t), "an element");
    }
    if (soac->index != CORE_NO_VAR) {
        bind(c, soac->index);
        want_type(c, var_type(c, soac->index), type_i64, "a position");
    }
    bind_all(c, soac->elements, soac->ninputs);
    if (soac->guard)
        check_body(c, soac->guard, c->scope.n, &type_bool, 1, "a guard");
    check_body(c, soac->body, height, results, n, "a body");
}

/* Elements of the bound sequences, behind the places. */
static CoreType *element_types(Checker *c, const CoreStmt *s, uint32_t places)
{
    CoreType *types = arena_array(c->arena, CoreType, s->nvars + places + 1);
    if (places)
        types[0] = type_i64;
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreType t = var_type(c, s->vars[i]);
        if (!expect(c, t.rank > 0, "a sequence operation gives a scalar"))
            return NULL;
        types[i + places] = core_element(t);
    }
    return types;
}

static void check_operator(Checker *c, const CoreSoac *soac, const CoreType *types, uint32_t n)
{
    const CoreLambda *op = &soac->op;
    uint32_t height = c->scope.n;
    if (!expect(c, op->nparams == 2 * n, "an operator has the wrong number of parameters"))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (soac->neutral)
            want(c, soac->neutral[i], types[i], "a neutral element");
        want_type(c, var_type(c, op->params[i]), types[i], "an operator's parameter");
        want_type(c, var_type(c, op->params[n + i]), types[i], "an operator's parameter");
    }
    bind_all(c, op->params, op->nparams);
    check_body(c, op->body, height, types, n, "an operator");
}

static void check_destinations(Checker *c, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        want_type(c, use_seq(c, s->soac.dests[i], "a destination is no sequence"), var_type(c, s->vars[i]),
                  "a destination");
}

static void check_parallel(Checker *c, const CoreStmt *s)
{
    uint32_t places = core_stmt_places(s);
    CoreType *types =
        s->kind == CORE_REDUCE && !s->soac.stays ? types_of(c, s->vars, s->nvars) : element_types(c, s, places);
    if (!types)
        return;
    expect(c, s->kind == CORE_MAP || !s->soac.guard, "only map may have a guard");
    if (core_kind(s->kind)->length == LENGTH_DESTS)
        check_destinations(c, s);
    if (s->kind == CORE_HIST)
        want(c, s->soac.size, type_i64, "a histogram's size");
    check_soac(c, &s->soac, types, s->nvars + places);
    if (core_stmt_operator(s))
        check_operator(c, &s->soac, types + places, s->nvars);
}

/* ---- statements, functions, programs ---- */

static bool has_one_result(CoreKind kind) { return core_kind(kind)->results == RESULTS_ONE; }

static void check_operation(Checker *c, const CoreStmt *s)
{
    CoreType result = has_one_result(s->kind) ? var_type(c, s->vars[0]) : type_bool;
    switch (s->kind) {
    case CORE_ATOM: want(c, s->atom, result, "a copy"); break;
    case CORE_PRIM: check_prim(c, s); break;
    case CORE_LENGTH:
        use_seq(c, s->length.array, "length of what is no sequence");
        want_type(c, result, type_i64, "length's result");
        break;
    case CORE_INDEX: check_index(c, s, result); break;
    case CORE_SLICE: check_slice(c, s, result); break;
    case CORE_UPDATE: check_update(c, s, result); break;
    case CORE_ARRAY: check_array(c, s, result); break;
    case CORE_CHECK: check_check(c, s); break;
    case CORE_CHECK_ROWS: check_rows(c, s, result); break;
    case CORE_IF: check_if(c, s); break;
    case CORE_MANY: check_many(c, s, result); break;
    case CORE_PARAM: want_type(c, result, core_scalar(SC_I64), "a parameter"); break;
    case CORE_FEW:
        want(c, s->few.work, core_scalar(SC_I64), "a round's work");
        want(c, s->few.wide, core_scalar(SC_I64), "what of it goes by vectors");
        want_type(c, result, type_bool, "what few gives");
        break;
    case CORE_MEMORY: want_type(c, result, (CoreType){SC_U64, 1}, "memory"); break;
    case CORE_FITTED: check_fitted(c, s, result); break;
    case CORE_NOTHING: break; /* of any type */
    case CORE_LANE: check_lane(c, s); break;
    case CORE_LOOP: check_loop(c, s); break;
    case CORE_CALL: check_call(c, s); break;
    case CORE_SOAC: check_parallel(c, s); break;
    case CORE_ARGSORT: check_argsort(c, s); break;
    case CORE_FLATTEN: check_flatten(c, s, result); break;
    case CORE_TABLE: check_table(c, s); break;
    }
}

static void check_stmt(Checker *c, const CoreStmt *s)
{
    if (has_one_result(s->kind) && !expect(c, s->nvars == 1, "a statement binds one variable"))
        return;
    expect(c, s->site == CORE_NO_SITE || s->site < c->program->sites.n, "a site is out of range");
    bool was_ok = c->ok;
    check_operation(c, s);
    bind_all(c, s->vars, s->nvars); /* after: a statement does not see its own results */
    if (was_ok && !c->ok && s->nvars)
        strbuf_printf(c->why, "\n  in the %s that binds %%%u", core_kind(s->kind)->word, s->vars[0]);
    else if (was_ok && !c->ok)
        strbuf_printf(c->why, "\n  in a %s", core_kind(s->kind)->word);
}

static void check_fn(Checker *c, const CoreFn *fn, uint32_t index)
{
    c->fn = fn;
    c->bound = arena_array(c->arena, bool, fn->vars.n + 1);
    c->in_scope = arena_array(c->arena, bool, fn->vars.n + 1);
    c->scope.n = 0;
    expect(c, fn->index == index, "a function's index is wrong");
    bind_all(c, fn->params, fn->nparams);
    check_body(c, fn->body, 0, fn->results, fn->nresults, "a function");
}

static void check_entry(Checker *c, const CoreEntry *entry)
{
    CoreTypes params = {0}, results = {0};
    c->fn = entry->fn;
    if (!expect(c, c->fn->index < c->program->fns.n && c->program->fns.at[c->fn->index] == c->fn,
                "an entry outside the program"))
        return;
    for (uint32_t i = 0; i < entry->nparams; i++)
        core_leaves(c->arena, entry->param_types[i], &params);
    if (entry->result_type)
        core_leaves(c->arena, entry->result_type, &results);
    else
        return; /* programs made by hand need no outside types */
    if (!expect(c, params.n == c->fn->nparams && results.n == c->fn->nresults, "an entry has the wrong arity"))
        return;
    for (uint32_t i = 0; i < params.n; i++)
        want_type(c, core_var_type(c->fn, c->fn->params[i]), params.at[i], "an entry's parameter");
    for (uint32_t i = 0; i < results.n; i++)
        want_type(c, c->fn->results[i], results.at[i], "an entry's result");
}

bool core_check(const CoreProgram *p, StrBuf *why)
{
    Checker c = {.program = p, .why = why, .ok = true, .arena = arena_create()};
    for (uint32_t i = 0; i < p->fns.n && c.ok; i++)
        check_fn(&c, p->fns.at[i], i);
    for (uint32_t i = 0; i < p->entries.n && c.ok; i++)
        check_entry(&c, &p->entries.at[i]);
    arena_destroy(c.arena);
    return c.ok;
}
