/* Dead code over the whole program, by marking what is needed. Roots are the entries' results and every
 * statement that may fail (DP is strict: a failure is part of the result). From there, each variable
 * needs what its position in its statement needs, and only that:
 *
 *     (a, b) = if c then { -> x, y } else { -> z, w }      a needs c, x and z
 *     (a, b) = loop (p = x, q = y) … do { … -> p', q' }    a needs p; p needs x and p'; and the loop's count
 *     (a, b) = reduce … { -> e, f } neutral (x, y) op …    a needs e, x and op's first result; so does a
 *                                                          parameter of op's first position
 *     a = call f (x, y)                                    a needs f's result; f's parameter needs x
 *
 * so that a loop's state or an accumulator that only feeds itself goes away. Then blocks are swept:
 * statements nobody needs, and positions nobody needs, are left out. */
#include "core/build.h"
#include "core/simplify_internal.h"

#include <string.h>

typedef enum Role { ROLE_RESULT, ROLE_ELEMENT, ROLE_POSITION, ROLE_STATE, ROLE_OPERAND, ROLE_PARAM } Role;

typedef struct VarUse {
    bool live;
    Role role;
    uint32_t at;   /* which result, element, … */
    uint32_t stmt; /* its number; unused for ROLE_PARAM */
} VarUse;

typedef struct StmtUse {
    CoreStmt *stmt;
    uint32_t fn;
    uint32_t parent; /* the statement around it, or NO_STMT */
    bool needed;
} StmtUse;
#define NO_STMT UINT32_MAX

typedef struct FnUse {
    VarUse *vars;
    bool *result_live;
    bool is_entry;
    VEC(CoreStmt *) calls; /* needed calls of it … */
    VEC(uint32_t) callers; /* … and where they stand */
} FnUse;

typedef struct Item {
    uint32_t fn;
    CoreVar var;
} Item;

typedef struct Dead {
    CoreProgram *p;
    Arena *scratch;
    FnUse *fns;
    uint32_t fn;     /* being numbered or swept */
    uint32_t parent; /* while numbering */
    VEC(StmtUse) stmts;
    VEC(Item) work;          /* live variables whose needs are not marked yet */
    VEC(uint32_t) operators; /* while numbering: the reductions in whose operator we are */
    VEC(uint32_t) roots;
    bool changed;
} Dead;

/* ---- numbering ---- */

static void note_var(Dead *d, CoreVar v, Role role, uint32_t at, uint32_t stmt)
{
    d->fns[d->fn].vars[v] = (VarUse){.role = role, .at = at, .stmt = stmt};
}

static void note_vars(Dead *d, const CoreVar *vars, uint32_t n, Role role, uint32_t stmt)
{
    for (uint32_t i = 0; i < n; i++)
        note_var(d, vars[i], role, i, stmt);
}

static void note_binders(Dead *d, const CoreStmt *s, uint32_t id)
{
    const CoreSoac *soac = core_stmt_soac(s);
    const CoreLambda *op = core_stmt_operator(s);
    note_vars(d, s->vars, s->nvars, ROLE_RESULT, id);
    if (soac) {
        note_vars(d, soac->elements, soac->ninputs, ROLE_ELEMENT, id);
        if (soac->index != CORE_NO_VAR)
            note_var(d, soac->index, ROLE_POSITION, 0, id);
    }
    for (uint32_t i = 0; op && i < op->nparams; i++)
        note_var(d, op->params[i], ROLE_OPERAND, i % (op->nparams / 2), id);
    if (s->kind == CORE_LOOP) {
        note_vars(d, s->loop.params, s->loop.nparams, ROLE_STATE, id);
        if (s->loop.index != CORE_NO_VAR)
            note_var(d, s->loop.index, ROLE_POSITION, 0, id);
    }
}

static void number_block(void *ctx, CoreBlock *b);

static void number_blocks(Dead *d, CoreStmt *s, uint32_t id)
{
    const CoreLambda *op = core_stmt_operator(s);
    if (!op) {
        core_stmt_blocks(s, number_block, d);
        return;
    }
    number_block(d, core_stmt_soac(s)->body);
    vec_push(d->scratch, &d->operators, id);
    number_block(d, op->body);
    d->operators.n--;
}

/* Fails by itself, not only through its blocks. */
static bool fails_itself(const Dead *d, const CoreStmt *s)
{
    if (s->kind == CORE_LOOP)
        return s->loop.cond != NULL; /* it may not end */
    if (core_kind(s->kind)->fails == FAILS_INSIDE)
        return false;
    return core_stmt_fallible(d->p, d->p->fns.at[d->fn], s);
}

/* A reduction with a failure in its operator must go on calling it: it keeps a position. */
static void keep_operators(Dead *d)
{
    for (uint32_t i = 0; i < d->operators.n; i++)
        vec_push(d->scratch, &d->roots, d->operators.at[i]);
}

static void number_stmt(Dead *d, CoreStmt *s)
{
    uint32_t id = d->stmts.n, outer = d->parent;
    vec_push(d->scratch, &d->stmts, ((StmtUse){.stmt = s, .fn = d->fn, .parent = outer}));
    s->mark = id;
    note_binders(d, s, id);
    if (fails_itself(d, s)) {
        vec_push(d->scratch, &d->roots, id);
        keep_operators(d);
    }
    d->parent = id;
    number_blocks(d, s, id);
    d->parent = outer;
}

static void number_block(void *ctx, CoreBlock *b)
{
    Dead *d = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        number_stmt(d, b->stmts.at[i]);
}

static void number_fn(Dead *d, uint32_t i)
{
    CoreFn *fn = d->p->fns.at[i];
    d->fn = i;
    d->parent = NO_STMT;
    d->fns[i].vars = arena_array(d->scratch, VarUse, fn->vars.n + 1);
    d->fns[i].result_live = arena_array(d->scratch, bool, fn->nresults + 1);
    note_vars(d, fn->params, fn->nparams, ROLE_PARAM, NO_STMT);
    number_block(d, fn->body);
}

/* ---- marking ---- */

static void live(Dead *d, uint32_t fn, CoreAtom a)
{
    if (a.is_const || d->fns[fn].vars[a.var].live)
        return;
    d->fns[fn].vars[a.var].live = true;
    vec_push(d->scratch, &d->work, ((Item){fn, a.var}));
}

static void live_var(Dead *d, uint32_t fn, CoreVar v) { live(d, fn, core_var_atom(v, core_scalar(SC_BOOL))); }

typedef struct LiveCtx {
    Dead *d;
    uint32_t fn;
} LiveCtx;

static void live_atom(void *ctx, CoreAtom *a)
{
    LiveCtx *c = ctx;
    live(c->d, c->fn, *a);
}

static void need_call(Dead *d, uint32_t fn, CoreStmt *s)
{
    FnUse *callee = &d->fns[s->call.fn->index];
    vec_push(d->scratch, &callee->calls, s);
    vec_push(d->scratch, &callee->callers, fn);
    for (uint32_t i = 0; i < s->call.nargs; i++)
        if (callee->vars[s->call.fn->params[i]].live)
            live(d, fn, s->call.args[i]);
}

/* What a statement needs to run at all, whichever of its results are asked for. */
static void need_operands(Dead *d, uint32_t fn, CoreStmt *s)
{
    LiveCtx ctx = {d, fn};
    CoreSoac *soac = core_stmt_soac(s);
    if (soac) {
        live(d, fn, soac->domain);
        if (soac->guard)
            live(d, fn, soac->guard->results[0]);
        if (core_stmt_places(s))
            live(d, fn, soac->body->results[0]);
        if (core_kind(s->kind)->length == LENGTH_SIZE)
            live(d, fn, soac->size);
    } else if (s->kind == CORE_LOOP) {
        live(d, fn, s->loop.cond ? s->loop.cond->results[0] : s->loop.count);
    } else if (s->kind == CORE_CALL) {
        need_call(d, fn, s);
    } else {
        core_stmt_atoms(s, live_atom, &ctx);
    }
}

static void need_stmt(Dead *d, uint32_t id)
{
    while (id != NO_STMT && !d->stmts.at[id].needed) {
        d->stmts.at[id].needed = true;
        need_operands(d, d->stmts.at[id].fn, d->stmts.at[id].stmt);
        id = d->stmts.at[id].parent;
    }
}

/* Position i of a parallel operation. */
static void need_slot(Dead *d, uint32_t fn, const CoreStmt *s, uint32_t i)
{
    const CoreSoac *soac = core_stmt_soac(s);
    const CoreLambda *op = core_stmt_operator(s);
    if (soac->dests)
        live(d, fn, soac->dests[i]);
    live(d, fn, soac->body->results[core_stmt_places(s) + i]);
    if (soac->neutral)
        live(d, fn, soac->neutral[i]);
    if (op)
        live(d, fn, op->body->results[i]);
}

static void need_fn_result(Dead *d, uint32_t fn, uint32_t i)
{
    if (d->fns[fn].result_live[i])
        return;
    d->fns[fn].result_live[i] = true;
    live(d, fn, d->p->fns.at[fn]->body->results[i]);
}

static void need_result(Dead *d, uint32_t fn, const CoreStmt *s, uint32_t i)
{
    if (s->kind == CORE_IF) {
        live(d, fn, s->if_.then_b->results[i]);
        live(d, fn, s->if_.else_b->results[i]);
    } else if (s->kind == CORE_LOOP) {
        live_var(d, fn, s->loop.params[i]);
    } else if (s->kind == CORE_CALL) {
        need_fn_result(d, s->call.fn->index, i);
    } else if (core_stmt_soac(s)) {
        need_slot(d, fn, s, i);
    } /* else: need_operands */
}

static void need_param(Dead *d, uint32_t fn, uint32_t i)
{
    FnUse *f = &d->fns[fn];
    for (uint32_t c = 0; c < f->calls.n; c++)
        live(d, f->callers.at[c], f->calls.at[c]->call.args[i]);
}

static void need_var(Dead *d, Item item)
{
    VarUse use = d->fns[item.fn].vars[item.var];
    if (use.role == ROLE_PARAM) {
        need_param(d, item.fn, use.at);
        return;
    }
    const CoreStmt *s = d->stmts.at[use.stmt].stmt;
    need_stmt(d, use.stmt);
    switch (use.role) {
    case ROLE_RESULT: need_result(d, item.fn, s, use.at); break;
    case ROLE_ELEMENT: live(d, item.fn, core_stmt_soac(s)->inputs[use.at]); break;
    case ROLE_STATE:
        live(d, item.fn, s->loop.inits[use.at]);
        live(d, item.fn, s->loop.body->results[use.at]);
        break;
    case ROLE_OPERAND: need_slot(d, item.fn, s, use.at); break;
    case ROLE_POSITION:
    case ROLE_PARAM: break;
    }
}

static void mark_all(Dead *d)
{
    for (uint32_t i = 0; i < d->p->entries.n; i++) {
        CoreFn *fn = d->p->entries.at[i].fn;
        d->fns[fn->index].is_entry = true;
        for (uint32_t j = 0; j < fn->nresults; j++)
            need_fn_result(d, fn->index, j);
        for (uint32_t j = 0; j < fn->nparams; j++)
            live_var(d, fn->index, fn->params[j]);
    }
    for (uint32_t i = 0; i < d->roots.n; i++) {
        StmtUse *use = &d->stmts.at[d->roots.at[i]];
        need_stmt(d, d->roots.at[i]);
        if (core_stmt_operator(use->stmt) && use->stmt->nvars)
            live_var(d, use->fn, use->stmt->vars[0]);
    }
    while (d->work.n)
        need_var(d, d->work.at[--d->work.n]);
}

/* ---- sweeping ---- */

/* An array of the entries i with keep[i]: `at` itself if all are kept. */
static void *kept(Dead *d, void *at, uint32_t n, const bool *keep, size_t bytes)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        left += keep[i];
    if (left == n)
        return at;
    d->changed = true;
    char *copy = arena_alloc(d->p->arena, (left ? left : 1) * bytes);
    for (uint32_t i = 0, to = 0; i < n; i++)
        if (keep[i])
            memcpy(copy + bytes * to++, (const char *)at + bytes * i, bytes);
    return copy;
}
#define KEEP(d, at, n, keep) ((at) = kept((d), (at), (n), (keep), sizeof *(at)))

static uint32_t count_kept(const bool *keep, uint32_t n)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        left += keep[i];
    return left;
}

static void keep_results(Dead *d, CoreBlock *b, const bool *keep)
{
    KEEP(d, b->results, b->nresults, keep);
    b->nresults = count_kept(keep, b->nresults);
}

static bool is_live(const Dead *d, CoreVar v) { return d->fns[d->fn].vars[v].live; }

static void trim_soac(Dead *d, CoreSoac *soac)
{
    bool *keep = arena_array(d->scratch, bool, soac->ninputs + 1);
    for (uint32_t i = 0; i < soac->ninputs; i++)
        keep[i] = is_live(d, soac->elements[i]);
    KEEP(d, soac->inputs, soac->ninputs, keep);
    KEEP(d, soac->elements, soac->ninputs, keep);
    soac->ninputs = count_kept(keep, soac->ninputs);
    if (soac->index != CORE_NO_VAR && !is_live(d, soac->index))
        soac->index = CORE_NO_VAR;
}

/* A parallel operation none of whose results is needed, but whose body may fail, becomes a map without results. */
static void become_map(CoreStmt *s)
{
    s->kind = CORE_MAP;
    s->soac = core_soac_of_map(s->soac);
    s->soac.body->nresults = 0;
}

static void trim_operator(Dead *d, CoreLambda *op, const bool *keep, uint32_t n)
{
    bool *twice = arena_array(d->scratch, bool, 2 * n + 1);
    for (uint32_t i = 0; i < 2 * n; i++)
        twice[i] = keep[i % n];
    KEEP(d, op->params, 2 * n, twice);
    op->nparams = 2 * count_kept(keep, n);
    keep_results(d, op->body, keep);
}

/* `keep` for body results that have an index or bin in front. */
static bool *keep_behind_first(Dead *d, const bool *keep, uint32_t n)
{
    bool *all = arena_array(d->scratch, bool, n + 2);
    all[0] = true;
    memcpy(all + 1, keep, n * sizeof *keep);
    return all;
}

static void trim_parallel(Dead *d, CoreStmt *s, bool *keep)
{
    CoreSoac *soac = &s->soac;
    CoreLambda *op = core_stmt_operator(s);
    trim_soac(d, soac);
    for (uint32_t i = 0; op && i < s->nvars; i++) /* its next value may need it */
        keep[i] = keep[i] || is_live(d, op->params[i]) || is_live(d, op->params[s->nvars + i]);
    if (s->nvars && !count_kept(keep, s->nvars)) {
        become_map(s);
        return;
    }
    if (soac->dests)
        KEEP(d, soac->dests, s->nvars, keep);
    keep_results(d, soac->body, core_stmt_places(s) ? keep_behind_first(d, keep, s->nvars) : keep);
    if (soac->neutral)
        KEEP(d, soac->neutral, s->nvars, keep);
    if (op)
        trim_operator(d, op, keep, s->nvars);
}

static void trim_argsort(Dead *d, CoreStmt *s, const bool *keep)
{
    const bool *columns = keep + core_argsort_positions(s);
    KEEP(d, s->argsort.columns, s->argsort.ncolumns, columns);
    s->argsort.ncolumns = count_kept(columns, s->argsort.ncolumns);
}

static void trim_loop(Dead *d, CoreStmt *s, bool *keep)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        keep[i] = is_live(d, s->loop.params[i]);
    KEEP(d, s->loop.params, s->nvars, keep);
    KEEP(d, s->loop.inits, s->nvars, keep);
    keep_results(d, s->loop.body, keep);
    s->loop.nparams = count_kept(keep, s->nvars);
    if (s->loop.index != CORE_NO_VAR && !s->loop.cond && !is_live(d, s->loop.index))
        s->loop.index = CORE_NO_VAR;
}

static void trim_call(Dead *d, CoreStmt *s, bool *keep)
{
    const CoreFn *fn = s->call.fn;
    FnUse *callee = &d->fns[fn->index];
    bool *args = arena_array(d->scratch, bool, s->call.nargs + 1);
    for (uint32_t i = 0; i < s->call.nargs; i++)
        args[i] = callee->is_entry || callee->vars[fn->params[i]].live;
    KEEP(d, s->call.args, s->call.nargs, args);
    s->call.nargs = count_kept(args, s->call.nargs);
    memcpy(keep, callee->result_live, s->nvars * sizeof *keep);
}

/* Positions of a statement that stays. */
static void trim_stmt(Dead *d, CoreStmt *s)
{
    bool *keep = arena_array(d->scratch, bool, s->nvars + 1);
    uint32_t n = s->nvars;
    for (uint32_t i = 0; i < n; i++)
        keep[i] = is_live(d, s->vars[i]);
    if (s->kind == CORE_IF) {
        keep_results(d, s->if_.then_b, keep);
        keep_results(d, s->if_.else_b, keep);
    } else if (s->kind == CORE_LOOP) {
        trim_loop(d, s, keep);
    } else if (s->kind == CORE_CALL) {
        trim_call(d, s, keep);
    } else if (s->kind == CORE_ARGSORT) {
        trim_argsort(d, s, keep);
    } else if (core_stmt_soac(s)) {
        trim_parallel(d, s, keep);
    } else {
        return;
    }
    KEEP(d, s->vars, n, keep);
    s->nvars = count_kept(keep, n);
}

/* Of a piece that nobody needs only the question is left whether it is there, as a piece would hold the array: false if
 * it is none. Elements stay: hoist_checks.c knows what they ask. */
static bool only_checks(Dead *d, CoreBlock *b, const CoreStmt *s)
{
    CoreBuilder builder = {.p = d->p, .fn = d->p->fns.at[d->fn], .out = b, .span = s->span};
    if (s->kind != CORE_SLICE || is_live(d, s->vars[0]))
        return false;
    build_check_slice(&builder, s->site, s->slice.from, s->slice.to, build_length(&builder, s->slice.array));
    d->changed = true;
    return true;
}

static void sweep_block(void *ctx, CoreBlock *b)
{
    Dead *d = ctx;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (!d->stmts.at[s->mark].needed) {
            d->changed = true;
            continue;
        }
        if (only_checks(d, b, s))
            continue;
        core_push(d->p, b, s);
        trim_stmt(d, s);
        core_stmt_blocks(s, sweep_block, d);
    }
}

static void sweep_fn(Dead *d, uint32_t i)
{
    d->fn = i;
    sweep_block(d, d->p->fns.at[i]->body);
}

/* After all calls were trimmed. */
static void trim_signature(Dead *d, uint32_t i)
{
    CoreFn *fn = d->p->fns.at[i];
    FnUse *use = &d->fns[i];
    bool *keep = arena_array(d->scratch, bool, fn->nparams + 1);
    if (use->is_entry)
        return;
    for (uint32_t j = 0; j < fn->nparams; j++)
        keep[j] = use->vars[fn->params[j]].live;
    KEEP(d, fn->params, fn->nparams, keep);
    fn->nparams = count_kept(keep, fn->nparams);
    KEEP(d, fn->results, fn->nresults, use->result_live);
    keep_results(d, fn->body, use->result_live);
    fn->nresults = fn->body->nresults;
}

bool dead_code(CoreProgram *p)
{
    Dead d = {.p = p, .scratch = arena_create()};
    d.fns = arena_array(d.scratch, FnUse, p->fns.n + 1);
    for (uint32_t i = 0; i < p->fns.n; i++)
        number_fn(&d, i);
    mark_all(&d);
    for (uint32_t i = 0; i < p->fns.n; i++)
        sweep_fn(&d, i);
    for (uint32_t i = 0; i < p->fns.n; i++)
        trim_signature(&d, i);
    arena_destroy(d.scratch);
    return d.changed;
}
