/* While loops outside parallel code whose condition hangs on what a round reduces become such that the condition reads
 * nothing but results of reductions and the host's scalars: then several rounds can be begun before the host looks at
 * these (runtime/looks.c).
 *
 *     xs, d = loop (a = x, d = y) while c a d do { …; r = reduce …; e = f r; -> b, e }
 *       ==>
 *     xs, r, some = loop (a = x, r' = 0, begun = false) while { d = select begun (f r') y; -> c a d } do
 *                     { …; r = reduce …; -> b, r, true };     d = select some (f r) y
 *
 * A condition that reduces by itself is computed at the end of a round, and before the first:
 *
 *     xs = loop (a = x) while c a do B     ==>     xs, g = loop (a = x, g = c x) while g do { B; -> b, c b }
 *
 * Only where a round has nothing else that the host would wait for, as far as that can be seen here, and where each
 * round ends, whatever the state is. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

#include <string.h>

/* MOST_LATE: scalar operations on what is reduced. MOST_STATE: variables; all that become state have numbers of a byte.
 */
enum { MOST_LATE = 32, MOST_STATE = 64 };

/* Of a variable. */
typedef struct Info {
    uint32_t uses;            /* in the function */
    uint32_t read_in;         /* the last loop in which it is read, */
    uint32_t bound_in;        /* and that which binds it, outside of what it has inside */
    bool late;                /* a scalar of the round at hand that hangs on what is reduced in it */
    const CoreStmt *computed; /* a late one: by this, from others */
    bool is_state;            /* at the end of a round: the value of these */
    CoreVar param, out;
    bool replaced;  /* where the condition reads it, */
    CoreAtom stand; /* by this; and what was computed anew */
} Info;

typedef struct Looker {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    Info *info; /* by variable */
    uint32_t room;
    uint32_t loop; /* the number of the one at hand */
    uint32_t late; /* of its operations: scalar ones on what is reduced */
    CoreCopyMap map;
    CoreBuilder b;
} Looker;

/* There is room for all variables of the function. */
static void make_room(Looker *k)
{
    if (k->fn->vars.n < k->room)
        return;
    Info *was = k->info;
    const uint32_t n = k->room;
    k->room = 2 * k->fn->vars.n + 64;
    k->info = arena_array(k->scratch, Info, k->room);
    if (n)
        memcpy(k->info, was, n * sizeof *was);
}

static Info *info_of(Looker *k, CoreVar v)
{
    make_room(k);
    return &k->info[v];
}

/* ---- what rounds may have ---- */

static void look_inside(void *ctx, CoreBlock *b)
{
    bool *plain = ctx;
    for (uint32_t i = 0; i < b->stmts.n && *plain; i++) {
        CoreStmt *s = b->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        *plain = !(s->kind == CORE_LOOP && s->loop.cond) && !(soac && soac->guard) && s->kind != CORE_CALL &&
                 s->kind != CORE_LANE && s->kind != CORE_ARGSORT && s->kind != CORE_FLATTEN && s->kind != CORE_MANY;
        core_stmt_blocks(s, look_inside, plain);
    }
}

static bool is_late(void *ctx, CoreAtom a) { return !a.is_const && info_of(ctx, a.var)->late; }

static bool may_be_in_round(CoreStmt *s)
{
    switch (s->kind) {
    case CORE_MAP:
    case CORE_REDUCE: return !core_stmt_soac(s)->guard;
    case CORE_PRIM:
    case CORE_ATOM:
    case CORE_LENGTH:
    case CORE_INDEX:
    case CORE_SLICE:
    case CORE_CHECK:
    case CORE_ARRAY:
    case CORE_UPDATE:
    case CORE_SCAN:
    case CORE_SCATTER:
    case CORE_ACCUMULATE:
    case CORE_HIST: return true;
    default: return false;
    }
}

/* Nothing that the host decides by, or that may take any number of rounds itself; what is late is only read by scalar
 * operations that cannot fail. Notes what is late. */
static bool is_plain(Looker *k, CoreBlock *b)
{
    bool plain = true;
    for (uint32_t i = 0; i < b->stmts.n && plain; i++) {
        CoreStmt *s = b->stmts.at[i];
        const bool reads_late = core_stmt_reads(s, is_late, k);
        plain = may_be_in_round(s) &&
                (!reads_late || (s->kind == CORE_PRIM && !core_stmt_fallible(k->p, k->fn, s) && k->late++ < MOST_LATE));
        for (uint32_t j = 0; j < s->nvars; j++) {
            Info *of = info_of(k, s->vars[j]);
            of->late = reads_late || s->kind == CORE_REDUCE;
            of->computed = reads_late ? s : NULL;
            of->bound_in = k->loop;
            of->is_state = false;
        }
        core_stmt_blocks(s, look_inside, &plain);
    }
    return plain;
}

/* ---- the state ---- */

static void note_read(void *ctx, CoreAtom *a)
{
    Looker *k = ctx;
    if (!a->is_const)
        info_of(k, a->var)->read_in = k->loop;
}

/* The parameters are as late as what a round gives for them. False if the round reads one of these. */
static bool set_late(Looker *k, const CoreStmt *s, bool late)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        Info *of = info_of(k, s->loop.params[i]);
        of->late = late && is_late(k, s->loop.body->results[i]);
        of->computed = NULL;
        of->bound_in = k->loop;
        of->is_state = false;
        ok = ok && !(of->late && of->read_in == k->loop);
    }
    return ok;
}

/* Is the condition late, and late state read by nothing else in the loop? */
static bool may_look_ahead(Looker *k, const CoreStmt *s)
{
    k->loop++;
    k->late = 0;
    if (s->nvars > MOST_STATE || !is_plain(k, s->loop.body))
        return false;
    core_block_atoms(s->loop.body, note_read, k);
    const bool late = set_late(k, s, true) && is_plain(k, s->loop.cond) && is_late(k, s->loop.cond->results[0]);
    set_late(k, s, false);
    return late;
}

/* ---- a condition that reduces ---- */

static void add_state(Looker *k, CoreStmt *s, CoreAtom init, CoreAtom result)
{
    CoreBuilder *b = &k->b;
    const uint32_t n = s->nvars;
    const CoreType type = core_atom_type(k->fn, init);
    s->vars = build_vars_copy(b, s->vars, n + 1, n);
    s->loop.params = build_vars_copy(b, s->loop.params, n + 1, n);
    s->loop.inits = build_atoms_copy(b, s->loop.inits, n + 1, n);
    s->loop.body->results = build_atoms_copy(b, s->loop.body->results, n + 1, n);
    s->vars[n] = build_var(b, type, NULL).var;
    s->loop.params[n] = build_var(b, type, NULL).var;
    s->loop.inits[n] = init;
    s->loop.body->results[n] = result;
    s->nvars = s->loop.nparams = s->loop.body->nresults = n + 1;
}

static bool only_scalars(const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind != CORE_PRIM)
            return false;
    return true;
}

/* The condition becomes state. */
static void turn(Looker *k, CoreStmt *s)
{
    CoreBuilder *b = &k->b;
    CoreBlock *outer = b->out;
    const CoreAtom first = build_condition(b, s, s->loop.inits, k->scratch, &k->map);
    b->out = s->loop.body;
    const CoreAtom next = build_condition(b, s, s->loop.body->results, k->scratch, &k->map);
    b->out = outer;
    add_state(k, s, first, next);
    s->loop.cond = core_new_block(k->p);
    const CoreAtom go = build_atom(b, s->loop.params[s->nvars - 1]);
    build_results(b, s->loop.cond, &go, 1);
}

/* ---- state that is computed from what is reduced ---- */

static const CoreStmt *computed(Looker *k, CoreAtom a) { return a.is_const ? NULL : info_of(k, a.var)->computed; }

static void note_state(Looker *k, const CoreStmt *s, uint32_t i)
{
    const CoreAtom a = s->loop.body->results[i];
    if (a.is_const || info_of(k, a.var)->bound_in != k->loop)
        return;
    Info *of = info_of(k, a.var);
    of->is_state = true;
    of->param = s->loop.params[i];
    of->out = s->vars[i];
}

/* What is computed anew needs its operands to be state. */
static void keep_operands(Looker *k, CoreStmt *s)
{
    const CoreBlock *body = s->loop.body;
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        const CoreStmt *c = body->stmts.at[i];
        for (uint32_t j = 0; c->kind == CORE_PRIM && computed(k, build_atom(&k->b, c->vars[0])) && j < c->prim.nargs;
             j++) {
            const CoreAtom a = c->prim.args[j];
            if (a.is_const || computed(k, a) || info_of(k, a.var)->is_state || info_of(k, a.var)->bound_in != k->loop)
                continue;
            add_state(k, s, core_const(core_atom_type(k->fn, a).scalar, 0), a);
            note_state(k, s, s->nvars - 1);
        }
    }
}

/* In front of a round, or behind the last. */
static CoreAtom stand_of(Looker *k, CoreAtom a, bool behind)
{
    if (a.is_const || info_of(k, a.var)->bound_in != k->loop)
        return a;
    const Info *of = info_of(k, a.var);
    return of->computed ? of->stand : build_atom(&k->b, behind ? of->out : of->param);
}

static void compute_anew(Looker *k, const CoreStmt *s, bool behind)
{
    const CoreBlock *body = s->loop.body;
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        const CoreStmt *c = body->stmts.at[i];
        if (c->kind != CORE_PRIM || !computed(k, build_atom(&k->b, c->vars[0])))
            continue;
        CoreAtom args[3];
        for (uint32_t j = 0; j < c->prim.nargs; j++)
            args[j] = stand_of(k, c->prim.args[j], behind);
        const CoreAtom value = build_prim(&k->b, c->prim.op, core_var_type(k->fn, c->vars[0]).scalar, args);
        info_of(k, c->vars[0])->stand = value;
    }
}

static void put_stand(void *ctx, CoreAtom *a)
{
    const Info *of = a->is_const ? NULL : info_of(ctx, a->var);
    if (of && of->replaced)
        *a = of->stand;
}

/* What the state had been if it were none: from the first round on what is computed, in front of it what it began as.
 */
static CoreAtom value_of(Looker *k, const CoreStmt *s, uint32_t i, CoreVar begun)
{
    const CoreAtom value = info_of(k, s->loop.body->results[i].var)->stand;
    return build_select(&k->b, build_atom(&k->b, begun), value, s->loop.inits[i]);
}

static void compute_in_condition(Looker *k, CoreStmt *s, uint32_t n, CoreVar begun)
{
    CoreBlock *outer = build_begin(&k->b);
    compute_anew(k, s, false);
    for (uint32_t i = 0; i < n; i++) {
        if (!computed(k, s->loop.body->results[i]))
            continue;
        const CoreAtom value = value_of(k, s, i, begun);
        Info *of = info_of(k, s->loop.params[i]);
        of->replaced = true;
        of->stand = value;
    }
    core_block_atoms(s->loop.cond, put_stand, k);
    for (uint32_t i = 0; i < s->loop.cond->stmts.n; i++)
        build_emit(&k->b, s->loop.cond->stmts.at[i]);
    s->loop.cond = build_end(&k->b, outer, s->loop.cond->results, 1);
}

static bool is_read_behind(Looker *k, const CoreStmt *s, uint32_t i)
{
    return computed(k, s->loop.body->results[i]) && info_of(k, s->vars[i])->uses > 0;
}

/* Behind the loop. */
static void compute_behind(Looker *k, const CoreStmt *s, uint32_t n, CoreVar begun)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any = any || is_read_behind(k, s, i);
    if (any)
        compute_anew(k, s, true);
    for (uint32_t i = 0; i < n && any; i++) {
        if (!is_read_behind(k, s, i))
            continue;
        build_named(&k->b, s->vars[i], value_of(k, s, i, begun));
    }
}

/* The loop as it is, without the state that is computed from other state, and without what computes it. */
static void drop_computed(Looker *k, CoreStmt *s)
{
    CoreBlock *body = s->loop.body, old = core_take_stmts(body);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nvars; i++) {
        if (computed(k, body->results[i]))
            continue;
        s->vars[n] = s->vars[i];
        s->loop.params[n] = s->loop.params[i];
        s->loop.inits[n] = s->loop.inits[i];
        body->results[n++] = body->results[i];
    }
    s->nvars = s->loop.nparams = body->nresults = n;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        const CoreStmt *c = old.stmts.at[i];
        if (c->kind != CORE_PRIM || !computed(k, build_atom(&k->b, c->vars[0])))
            core_push(k->p, body, old.stmts.at[i]);
    }
}

/* ---- the loop ---- */

/* Emits it. */
static void look_ahead(Looker *k, CoreStmt *s)
{
    k->b.span = s->span;
    if (!only_scalars(s->loop.cond)) {
        turn(k, s);
        is_plain(k, s->loop.body);
    }
    const uint32_t n = s->nvars;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || computed(k, s->loop.body->results[i]);
        note_state(k, s, i);
    }
    if (!any) {
        core_push(k->p, k->b.out, s);
        return;
    }
    keep_operands(k, s);
    add_state(k, s, core_const(SC_BOOL, 0), core_const(SC_BOOL, 1));
    const uint32_t begun = s->nvars - 1;
    compute_in_condition(k, s, n, s->loop.params[begun]);
    core_push(k->p, k->b.out, s);
    compute_behind(k, s, n, s->vars[begun]);
    drop_computed(k, s);
}

static void look_in_block(void *ctx, CoreBlock *b)
{
    Looker *k = ctx;
    CoreBlock *outer = k->b.out, old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        k->b.out = b;
        if (s->kind == CORE_LOOP && s->loop.cond && !core_stmt_is_scalar(s) && may_look_ahead(k, s)) {
            s->loop.looks_ahead = true;
            look_ahead(k, s);
            continue;
        }
        if (!core_stmt_soac(s) && s->kind != CORE_LANE)
            core_stmt_blocks(s, look_in_block, k);
        core_push(k->p, b, s);
    }
    k->b.out = outer;
}

static void count_use(void *ctx, CoreAtom *a)
{
    if (!a->is_const)
        info_of(ctx, a->var)->uses++;
}

static void look_in_fn(CoreProgram *p, CoreFn *fn, Arena *scratch)
{
    Looker k = {.p = p, .fn = fn, .scratch = scratch, .b = {.p = p, .fn = fn}};
    core_block_atoms(fn->body, count_use, &k);
    look_in_block(&k, fn->body);
}

void core_look_ahead(CoreProgram *p) { core_each_host_function(p, look_in_fn); }
