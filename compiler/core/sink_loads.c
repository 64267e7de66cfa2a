/* What the host would wait for only to hand it on:
 *
 *     x = a[k][k];    ys = map n at i { … x … a … }   ==>   ys = map n at i { x' = a[k][k]; … x' … a … }
 *     x = reduce …;   ys = map n at i { … x … }       ==>   xs = reduce …, stays;  ys = map n at i { … xs[0] … }
 *
 * and with it what is computed from x, where that costs little. Where it costs more, the device computes it once:
 *
 *     d = sqrt x;   ys = map n at i { … d … a … }   ==>   ds = map 1 { -> sqrt a[k][k] };  ys = map n at i { … ds[0] …
 * }
 *
 * Nothing that may fail moves, nothing into an operation that does not read the array anyway: the array may have been
 * changed in place by then. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

/* MOST_USERS: operations that read it. MOST_LOADS: tried of one operation. */
enum { MOST_USERS = 3, MOST_LOADS = 8 };

/* A statement of the host's, by what it binds. */
typedef struct Load {
    CoreStmt *stmt;        /* or NULL: any other variable */
    uint32_t loop;         /* it stands in */
    uint32_t uses, inside; /* of all, so many in bodies of operations, and in what goes into these */
    CoreStmt *users[MOST_USERS];
    uint32_t nusers; /* MOST_USERS + 1: too many */
    uint32_t cost;   /* in additions, with what it needs */
    bool sunk;
    CoreVar once;  /* an array of one: what the device computes once, a reduction's result; or CORE_NO_VAR */
    CoreAtom copy; /* in the body at hand, or a constant */
} Load;

typedef struct Sinker {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    Load *loads; /* by variable */
    uint32_t nvars;
    VEC(CoreVar) found; /* in order */
    VEC(CoreVar) copied;
    uint32_t loop, nloops;
    CoreStmt *user; /* whose body is walked */
    CoreBuilder b;
} Sinker;

static Load *load_of(const Sinker *k, CoreAtom a)
{
    return a.is_const || a.var >= k->nvars || !k->loads[a.var].stmt ? NULL : &k->loads[a.var];
}

/* ---- what the host loads ---- */

static void count_use(void *ctx, CoreAtom *a)
{
    const Sinker *k = ctx;
    if (!a->is_const)
        k->loads[a->var].uses++;
}

typedef struct Operands {
    const Sinker *k;
    bool loaded;
    uint32_t cost;
} Operands;

static void note_operand(void *ctx, CoreAtom *a)
{
    Operands *o = ctx;
    const Load *l = load_of(o->k, *a);
    o->loaded |= l != NULL;
    o->cost += l ? l->cost : 0;
    o->cost = o->cost > CORE_MODERATE + 1 ? CORE_MODERATE + 1 : o->cost;
}

static void add_load(Sinker *k, CoreStmt *s, CoreVar v, uint32_t cost)
{
    k->loads[v] = (Load){.stmt = s,
                         .loop = k->loop,
                         .uses = k->loads[v].uses,
                         .cost = cost,
                         .once = CORE_NO_VAR,
                         .copy = core_const(SC_BOOL, 0)};
    vec_push(k->scratch, &k->found, v);
}

/* A load that cannot fail, or what is computed from one. */
static void note_load(Sinker *k, CoreStmt *s)
{
    Operands o = {.k = k};
    core_stmt_atoms(s, note_operand, &o);
    if (s->kind == CORE_PRIM && o.loaded && !core_stmt_fallible(k->p, k->fn, s) &&
        core_var_type(k->fn, s->vars[0]).rank == 0)
        o.cost += core_prim_cost(s->prim.op, core_atom_type(k->fn, s->prim.args[0]).scalar);
    else if (s->kind != CORE_INDEX || s->site != CORE_NO_SITE)
        return;
    add_load(k, s, s->vars[0], o.cost);
}

static void note_reduction(Sinker *k, CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        add_load(k, s, s->vars[i], 0);
}

static void add_user(Load *l, CoreStmt *user)
{
    for (uint32_t i = 0; i < l->nusers && i < MOST_USERS; i++)
        if (l->users[i] == user)
            return;
    if (l->nusers < MOST_USERS)
        l->users[l->nusers] = user;
    if (l->nusers <= MOST_USERS)
        l->nusers++;
}

static void note_inside(void *ctx, CoreAtom *a)
{
    const Sinker *k = ctx;
    Load *l = load_of(k, *a);
    if (!l || l->loop != k->loop || core_var_type(k->fn, a->var).rank > 0)
        return;
    l->inside++;
    add_user(l, k->user);
}

static void find_loads(void *ctx, CoreBlock *b)
{
    Sinker *k = ctx;
    const uint32_t outer = k->loop;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        s->mark = 0;
        if (core_stmt_soac(s)) {
            k->user = s;
            core_block_atoms(core_stmt_soac(s)->body, note_inside, k);
            if (s->kind == CORE_REDUCE)
                note_reduction(k, s);
            continue;
        }
        note_load(k, s);
        if (s->kind == CORE_LOOP)
            k->loop = ++k->nloops;
        core_stmt_blocks(s, find_loads, k);
        k->loop = outer;
    }
}

/* ---- what goes into bodies ---- */

/* Does the operation read the array anyway? */
static bool reads(CoreStmt *user, CoreVar array)
{
    CoreSoac *soac = core_stmt_soac(user);
    CoreUses uses = {array, 0};
    if (user->mark++ >= MOST_LOADS)
        return false;
    for (uint32_t i = 0; i < soac->ninputs; i++)
        core_count_use(&uses, &soac->inputs[i]);
    core_block_atoms(soac->body, core_count_use, &uses);
    return uses.n > 0;
}

static bool is_dear(const Load *l) { return l->stmt->kind == CORE_PRIM && l->cost > CORE_MODERATE; }

static bool may_sink(const Sinker *k, const Load *l)
{
    if (l->uses == 0 || l->inside != l->uses || l->nusers > MOST_USERS)
        return false;
    if (l->stmt->kind != CORE_INDEX || load_of(k, l->stmt->index.array))
        return true;
    for (uint32_t i = 0; i < l->nusers; i++)
        if (l->users[i] && !reads(l->users[i], l->stmt->index.array.var))
            return false;
    return true;
}

typedef struct Passing {
    const Sinker *k;
    const Load *to;
} Passing;

/* What goes into bodies needs its operands there; what is computed once reads them in front. */
static void pass_on(void *ctx, CoreAtom *a)
{
    const Passing *p = ctx;
    Load *l = load_of(p->k, *a);
    if (!l || l->loop != p->to->loop)
        return;
    l->inside++;
    for (uint32_t i = 0; i < p->to->nusers && !is_dear(p->to); i++)
        add_user(l, p->to->users[i]);
    if (is_dear(p->to))
        add_user(l, NULL);
}

/* A reduction's results stay on the device together. */
static bool stays(Sinker *k, const CoreStmt *s)
{
    bool all = true;
    for (uint32_t i = 0; i < s->nvars; i++)
        all = all && (k->loads[s->vars[i]].sunk || k->loads[s->vars[i]].uses == 0);
    for (uint32_t i = 0; i < s->nvars; i++)
        k->loads[s->vars[i]].sunk &= all;
    return all;
}

static void note_sunk(void *ctx, CoreAtom *a)
{
    Operands *o = ctx;
    const Load *l = load_of(o->k, *a);
    o->loaded |= l && l->sunk;
}

/* From the last to the first, then what is computed from loads that stay stays, too. */
static void decide(Sinker *k)
{
    for (uint32_t i = k->found.n; i-- > 0;) {
        Load *l = &k->loads[k->found.at[i]];
        l->sunk = may_sink(k, l);
        if (l->sunk && l->stmt->kind != CORE_REDUCE)
            core_stmt_atoms(l->stmt, pass_on, &(Passing){k, l});
    }
    for (uint32_t i = 0; i < k->found.n; i++) {
        Load *l = &k->loads[k->found.at[i]];
        Operands o = {.k = k};
        if (l->stmt->kind == CORE_REDUCE) {
            l->sunk &= stays(k, l->stmt);
            continue;
        }
        core_stmt_atoms(l->stmt, note_sunk, &o);
        l->sunk &= o.loaded || (l->stmt->kind == CORE_INDEX && !load_of(k, l->stmt->index.array));
    }
}

/* ---- moving them ---- */

/* In the body at hand. whole: also of what is computed once. */
static CoreAtom copied(Sinker *k, CoreAtom a, bool whole)
{
    Load *l = load_of(k, a);
    if (!l || !l->sunk)
        return a;
    if (!l->copy.is_const)
        return l->copy;
    const CoreStmt *s = l->stmt;
    CoreAtom args[3];
    for (uint32_t i = 0; s->kind == CORE_PRIM && i < s->prim.nargs && (whole || !is_dear(l)); i++)
        args[i] = copied(k, s->prim.args[i], false);
    k->b.span = s->span;
    vec_push(k->scratch, &k->copied, a.var);
    if (s->kind == CORE_REDUCE || (is_dear(l) && !whole))
        return l->copy = build_index(&k->b, build_atom(&k->b, l->once), core_i64(0), CORE_NO_SITE);
    if (s->kind == CORE_PRIM)
        return l->copy = build_prim(&k->b, s->prim.op, core_var_type(k->fn, a.var).scalar, args);
    const CoreAtom array = copied(k, s->index.array, false);
    return l->copy = build_index(&k->b, array, copied(k, s->index.index, false), CORE_NO_SITE);
}

static void forget_copies(Sinker *k)
{
    for (; k->copied.n; k->copied.n--)
        k->loads[k->copied.at[k->copied.n - 1]].copy = core_const(SC_BOOL, 0);
}

static void sink_atom(void *ctx, CoreAtom *a) { *a = copied(ctx, *a, false); }

/* Copies of what the body reads go to its front. */
static void sink_into(Sinker *k, CoreBlock *body)
{
    build_in_front(&k->b, body, sink_atom, k);
    forget_copies(k);
}

/* ds = map 1 { -> d } */
static void compute_once(Sinker *k, CoreVar v)
{
    CoreBuilder *b = &k->b;
    CoreBlock *outer = build_begin(b);
    const CoreAtom d = copied(k, build_atom(b, v), true);
    CoreSoac soac = {.domain = core_i64(1), .index = build_var(b, core_scalar(SC_I64), NULL).var};
    soac.body = build_end(b, outer, &d, 1);
    forget_copies(k);
    k->loads[v].once = build_map(b, soac)[0].var;
}

/* xs = reduce …, stays */
static void keep_on_device(Sinker *k, CoreStmt *s)
{
    const CoreVar *was = s->vars;
    CoreType *types = arena_array(k->scratch, CoreType, s->nvars);
    for (uint32_t i = 0; i < s->nvars; i++)
        types[i] = core_seq(core_var_type(k->fn, was[i]));
    build_fresh(&k->b, s, s->nvars, types);
    s->soac.stays = true;
    for (uint32_t i = 0; i < s->nvars; i++)
        k->loads[was[i]].once = s->vars[i];
}

static bool any_sunk(const Sinker *k, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (k->loads[s->vars[i]].sunk)
            return true;
    return false;
}

static void sink_block(void *ctx, CoreBlock *b)
{
    Sinker *k = ctx;
    CoreBlock *outer = k->b.out, old = core_take_stmts(b);
    k->b.out = b;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        Load *l = s->nvars == 1 ? load_of(k, build_atom(&k->b, s->vars[0])) : NULL;
        if (l && l->sunk && s->kind != CORE_REDUCE) {
            if (is_dear(l))
                compute_once(k, s->vars[0]);
            continue;
        }
        if (core_stmt_soac(s))
            sink_into(k, core_stmt_soac(s)->body);
        else if (s->kind != CORE_LANE)
            core_stmt_blocks(s, sink_block, k);
        if (s->kind == CORE_REDUCE && any_sunk(k, s))
            keep_on_device(k, s);
        core_push(k->p, b, s);
    }
    k->b.out = outer;
}

static void sink_in_fn(CoreProgram *p, CoreFn *fn, Arena *scratch)
{
    Sinker k = {.p = p, .fn = fn, .scratch = scratch, .nvars = fn->vars.n, .b = {.p = p, .fn = fn}};
    k.loads = arena_array(scratch, Load, k.nvars + 1);
    core_block_atoms(fn->body, count_use, &k);
    find_loads(&k, fn->body);
    decide(&k);
    sink_block(&k, fn->body);
}

void core_sink_loads(CoreProgram *p) { core_each_host_function(p, sink_in_fn); }
