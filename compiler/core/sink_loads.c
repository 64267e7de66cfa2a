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
 * The place and the value of an update are such operations, too, and so is what a loop's next round has of it:
 *
 *     k = reduce …;  ys = xs with [k] = v   ==>   ks = reduce …, stays;  ys = scatter 1 { -> ks[0], v } to xs
 *     loop (s = s0) { … -> s - 0.5 * x }    ==>   loop (ss = [s0]) { … -> map 1 { -> ss[0] - 0.5 * xs[0] } }
 *
 * where waiting takes longer than another launch does: a parameter says whether the host computes it instead.
 *
 * Nothing that may fail moves, nothing into an operation that does not read the array anyway: the array may have been
 * changed in place by then. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"
#include "params.h"

/* MOST_USERS: operations that read it. MOST_LOADS: tried of one operation. */
enum { MOST_USERS = 4, MOST_LOADS = 8 };

/* Who reads a load. */
typedef struct Users {
    uint32_t inside; /* of all uses, so many in bodies of operations, and in what goes into these */
    CoreStmt *of[MOST_USERS];
    uint32_t n; /* MOST_USERS + 1: too many */
    bool wide;  /* any of them has many instances */
} Users;

/* A statement of the host's, by what it binds; or a loop's state. */
typedef struct Load {
    CoreStmt *stmt; /* or NULL: any other variable */
    uint32_t loop;  /* it stands in */
    uint32_t uses;
    Users users, found; /* found: before anything is decided */
    uint32_t cost;      /* in additions, with what it needs */
    uint32_t state;     /* of the loop, from 1; or 0 */
    bool sunk, derived; /* derived: from what stays on the device */
    uint32_t next;      /* it is so many variables of the next state */
    CoreVar once;       /* an array of one: what the device computes once, a reduction's result; or CORE_NO_VAR */
    CoreAtom copy;      /* in the body at hand, or a constant */
} Load;

/* What a loop's next state is and nothing else needs. */
typedef struct State {
    CoreVar *vars;
    uint32_t n, seen;
} State;

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
    State state;    /* of the loop at hand */
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

static void note_state(Sinker *k, CoreStmt *loop)
{
    for (uint32_t i = 0; i < loop->loop.nparams; i++) {
        const CoreVar v = loop->loop.params[i];
        if (core_var_type(k->fn, v).rank > 0)
            continue;
        add_load(k, loop, v, 0);
        k->loads[v].state = i + 1;
    }
}

static void add_user(Users *u, CoreStmt *user)
{
    u->wide |= user && core_stmt_soac(user);
    for (uint32_t i = 0; i < u->n && i < MOST_USERS; i++)
        if (u->of[i] == user)
            return;
    if (u->n < MOST_USERS)
        u->of[u->n] = user;
    if (u->n <= MOST_USERS)
        u->n++;
}

static void note_inside(void *ctx, CoreAtom *a)
{
    const Sinker *k = ctx;
    Load *l = load_of(k, *a);
    if (!l || l->loop != k->loop || core_var_type(k->fn, a->var).rank > 0)
        return;
    l->found.inside++;
    add_user(&l->found, k->user);
}

/* Of a number, at a place that is known to be one. */
static bool is_update(const Sinker *k, const CoreStmt *s)
{
    return s->kind == CORE_UPDATE && s->update.holds && core_atom_type(k->fn, s->update.array).rank == 1;
}

static void find_loads(void *ctx, CoreBlock *b)
{
    Sinker *k = ctx;
    const uint32_t outer = k->loop;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        s->mark = 0;
        if (s->kind == CORE_LOOP && core_stmt_is_scalar(s)) /* one kernel does all of it */
            continue;
        if (core_stmt_soac(s)) {
            k->user = s;
            core_block_atoms(core_stmt_soac(s)->body, note_inside, k);
            if (s->kind == CORE_REDUCE)
                note_reduction(k, s);
            continue;
        }
        note_load(k, s);
        k->user = s;
        if (is_update(k, s)) {
            note_inside(k, &s->update.index);
            note_inside(k, &s->update.value);
        }
        if (s->kind == CORE_LOOP) {
            k->loop = ++k->nloops;
            if (!s->loop.cond) /* else the host waits for the condition, and gets the state with it */
                note_state(k, s);
        }
        core_stmt_blocks(s, find_loads, k);
        k->loop = outer;
    }
}

/* ---- what goes into bodies ---- */

/* Does the operation read the array that it loads from anyway? An update may read the element that it writes over. */
static bool reads(CoreStmt *user, const CoreStmt *load)
{
    CoreSoac *soac = core_stmt_soac(user);
    CoreUses uses = {load->index.array.var, 0};
    if (!soac)
        return core_atom_equal(user->update.array, load->index.array) &&
               core_atom_equal(user->update.index, load->index.index);
    if (user->mark++ >= MOST_LOADS)
        return false;
    for (uint32_t i = 0; i < soac->ninputs; i++)
        core_count_use(&uses, &soac->inputs[i]);
    core_block_atoms(soac->body, core_count_use, &uses);
    return uses.n > 0;
}

/* Does the device compute it once, in front of all who read it? */
static bool is_once(const Load *l)
{
    return l->next ? l->stmt->kind == CORE_PRIM || l->stmt->kind == CORE_INDEX
                   : l->stmt->kind == CORE_PRIM && l->cost > CORE_MODERATE && l->users.wide;
}

static bool may_sink(const Sinker *k, const Load *l)
{
    if ((l->uses == 0 && !l->state) || l->users.inside != l->uses || l->users.n > MOST_USERS)
        return false;
    if (l->stmt->kind != CORE_INDEX || load_of(k, l->stmt->index.array))
        return true;
    for (uint32_t i = 0; i < l->users.n && !is_once(l); i++)
        if (l->users.of[i] && !reads(l->users.of[i], l->stmt))
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
    l->users.inside++;
    for (uint32_t i = 0; i < p->to->users.n && !is_once(p->to); i++)
        add_user(&l->users, p->to->users.of[i]);
    if (is_once(p->to))
        add_user(&l->users, NULL);
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

/* What the state is in the next round, or NULL: nothing that is loaded in the loop itself. */
static Load *next_of(const Sinker *k, const Load *state)
{
    Load *next = load_of(k, state->stmt->loop.body->results[state->state - 1]);
    return next && next->loop == state->loop ? next : NULL;
}

/* From the last to the first, then what is computed from loads that stay stays, too. */
static void decide_loads(Sinker *k)
{
    for (uint32_t i = k->found.n; i-- > 0;) {
        Load *l = &k->loads[k->found.at[i]];
        l->sunk = may_sink(k, l);
        if (l->sunk && (l->stmt->kind == CORE_PRIM || l->stmt->kind == CORE_INDEX))
            core_stmt_atoms(l->stmt, pass_on, &(Passing){k, l});
    }
    for (uint32_t i = 0; i < k->found.n; i++) {
        Load *l = &k->loads[k->found.at[i]];
        Operands o = {.k = k};
        if (l->stmt->kind == CORE_REDUCE) {
            l->sunk &= stays(k, l->stmt);
        } else if (!l->state) {
            core_stmt_atoms(l->stmt, note_sunk, &o);
            l->sunk &= o.loaded || (l->stmt->kind == CORE_INDEX && !load_of(k, l->stmt->index.array));
        }
    }
}

static void note_derived(void *ctx, CoreAtom *a)
{
    Operands *o = ctx;
    const Load *l = load_of(o->k, *a);
    o->loaded |= l && l->derived;
}

/* Is it computed from what stays on the device? Else the host has all that it takes. */
static bool is_derived(const Sinker *k, const Load *l)
{
    Operands o = {.k = k};
    if (l->state)
        return l->sunk && next_of(k, l) && next_of(k, l)->derived;
    if (l->stmt->kind == CORE_PRIM)
        core_stmt_atoms(l->stmt, note_derived, &o);
    return l->sunk && (l->stmt->kind != CORE_PRIM || o.loaded);
}

static void find_derived(Sinker *k)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < k->found.n; i++) {
            Load *l = &k->loads[k->found.at[i]];
            if (l->derived || !is_derived(k, l))
                continue;
            l->derived = more = true;
        }
    }
}

/* State that had better not stay on the device is no load. */
static bool drop_state(Sinker *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->found.n; i++) {
        Load *l = &k->loads[k->found.at[i]];
        if (!l->state || l->derived)
            k->found.at[n++] = k->found.at[i];
        else
            l->stmt = NULL;
    }
    const bool dropped = n < k->found.n;
    k->found.n = n;
    return dropped;
}

static void begin(Sinker *k)
{
    for (uint32_t i = 0; i < k->found.n; i++) {
        Load *l = &k->loads[k->found.at[i]];
        l->users = l->found;
        l->next = 0;
        l->derived = false;
        for (uint32_t j = 0; j < l->found.n && j < MOST_USERS; j++)
            l->found.of[j]->mark = 0;
    }
    for (uint32_t i = 0; i < k->found.n; i++) {
        Load *l = &k->loads[k->found.at[i]];
        Load *next = l->state ? next_of(k, l) : NULL;
        if (next) {
            next->users.inside++;
            add_user(&next->users, NULL);
            next->next++;
        }
    }
}

/* As much state as can be stays on the device: all of it, then all but what had to be dropped … */
static void decide(Sinker *k)
{
    do {
        begin(k);
        decide_loads(k);
        find_derived(k);
    } while (drop_state(k));
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
    for (uint32_t i = 0; s->kind == CORE_PRIM && i < s->prim.nargs && (whole || !is_once(l)); i++)
        args[i] = copied(k, s->prim.args[i], false);
    k->b.span = s->span;
    vec_push(k->scratch, &k->copied, a.var);
    if (s->kind == CORE_REDUCE || l->state || (is_once(l) && !whole))
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

/* Of these, in the block at hand. */
static CoreAtom *copies(Sinker *k, const CoreVar *vars, uint32_t n)
{
    CoreAtom *all = build_atoms(&k->b, vars, n);
    for (uint32_t i = 0; i < n; i++)
        all[i] = copied(k, all[i], true);
    forget_copies(k);
    return all;
}

/* ds = map 1 { -> d } */
static const CoreAtom *map_once(Sinker *k, const CoreVar *vars, uint32_t n)
{
    CoreBuilder *b = &k->b;
    CoreBlock *outer = build_begin(b);
    const CoreAtom *all = copies(k, vars, n);
    CoreSoac soac = {.domain = core_i64(1), .index = build_var(b, core_scalar(SC_I64), NULL).var};
    soac.body = build_end(b, outer, all, n);
    return build_map(b, soac);
}

static CoreAtom array_of_one(CoreBuilder *b, CoreAtom x)
{
    return build_array(b, core_seq(core_atom_type(b->fn, x)), &x, 1);
}

static CoreAtom on_device(CoreBuilder *b)
{
    return build_prim2(b, PRIM_LT, core_i64(0), build_param(b, PARAM_DEVICE_SCALARS));
}

/* ds = if the device shall then map 1 { -> d } else [d] */
static const CoreAtom *compute(Sinker *k, const CoreVar *vars, uint32_t n)
{
    CoreBuilder *b = &k->b;
    const CoreAtom device = on_device(b);
    CoreBlock *outer = build_begin(b);
    CoreBlock *then_b = build_end(b, outer, map_once(k, vars, n), n);
    build_begin(b);
    CoreAtom *all = copies(k, vars, n);
    for (uint32_t i = 0; i < n; i++)
        all[i] = array_of_one(b, all[i]);
    CoreBlock *else_b = build_end(b, outer, all, n);
    return build_if(b, device, then_b, else_b);
}

/* What of the next state nothing else needs: together, where the last of it is computed. */
static bool is_last(Load *l) { return l->next == l->uses; }

static void compute_once(Sinker *k, CoreVar v)
{
    const CoreVar *vars = &v;
    uint32_t n = 1;
    if (k->loads[v].next && is_last(&k->loads[v])) {
        if (++k->state.seen < k->state.n)
            return;
        vars = k->state.vars;
        n = k->state.n;
    }
    const CoreAtom *arrays = k->loads[v].next ? compute(k, vars, n) : map_once(k, vars, n);
    for (uint32_t i = 0; i < n; i++)
        k->loads[vars[i]].once = arrays[i].var;
}

/* scatter 1 { -> i, v } to xs */
static CoreVar scatter_once(Sinker *k, const CoreStmt *update)
{
    CoreBuilder *b = &k->b;
    const CoreAtom array = update->update.array;
    const CoreType type = core_atom_type(k->fn, array);
    CoreBlock *outer = build_begin(b);
    const CoreAtom there[] = {copied(k, update->update.index, false), copied(k, update->update.value, false)};
    CoreSoac soac = {.domain = core_i64(1), .index = build_var(b, core_scalar(SC_I64), NULL).var};
    soac.body = build_end(b, outer, there, 2);
    forget_copies(k);
    soac.dests = build_atoms_copy(b, &array, 1, 1);
    CoreStmt *s = build_stmt(b, CORE_SCATTER, 1, &type);
    s->soac = soac;
    build_emit(b, s);
    return s->vars[0];
}

/* ys = xs with [i] = v   ==>   ys = if the device shall then scatter 1 { -> i, v } to xs else xs with [i] = v */
static void update_there(Sinker *k, CoreStmt *s)
{
    CoreBuilder *b = &k->b;
    const CoreType type = core_atom_type(k->fn, s->update.array);
    const CoreAtom device = on_device(b);
    CoreBlock *outer = build_begin(b);
    const CoreAtom scattered = build_atom(b, scatter_once(k, s));
    CoreBlock *then_b = build_end(b, outer, &scattered, 1);
    build_begin(b);
    CoreStmt *update = build_stmt(b, CORE_UPDATE, 1, &type);
    update->site = CORE_NO_SITE;
    update->update = s->update;
    update->update.index = copied(k, s->update.index, false);
    update->update.value = copied(k, s->update.value, false);
    forget_copies(k);
    build_emit(b, update);
    CoreBlock *else_b = build_end(b, outer, build_atoms(b, update->vars, 1), 1);
    s->kind = CORE_IF;
    s->if_.cond = device;
    s->if_.then_b = then_b;
    s->if_.else_b = else_b;
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

/* loop (s = s0) { … -> x }, of which the host needs no state: ss = [s0] … Behind the loop it is read. */
static void keep_state(Sinker *k, CoreStmt *s)
{
    k->state = (State){.vars = arena_array(k->scratch, CoreVar, s->loop.nparams)};
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        Load *l = load_of(k, build_atom(&k->b, s->loop.params[i]));
        if (!l || !l->sunk)
            continue;
        const CoreVar next = s->loop.body->results[i].var;
        bool found = !is_once(&k->loads[next]) || !is_last(&k->loads[next]);
        for (uint32_t j = 0; j < k->state.n; j++)
            found |= k->state.vars[j] == next;
        if (!found)
            k->state.vars[k->state.n++] = next;
        const CoreType type = core_seq(core_var_type(k->fn, s->loop.params[i]));
        s->loop.inits[i] = array_of_one(&k->b, s->loop.inits[i]);
        s->loop.params[i] = l->once = build_var(&k->b, type, NULL).var;
    }
}

/* … the next one, once the body has been rewritten. */
static void return_state(Sinker *k, CoreStmt *s, const CoreVar *params)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        if (s->loop.params[i] == params[i])
            continue;
        s->loop.body->results[i] = build_atom(&k->b, load_of(k, s->loop.body->results[i])->once);
        s->vars[i] = build_var(&k->b, core_var_type(k->fn, s->loop.params[i]), NULL).var;
    }
}

static void read_state(Sinker *k, const CoreStmt *s, const CoreVar *vars)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        if (s->vars[i] == vars[i])
            continue;
        CoreStmt *read = build_stmt_into(&k->b, CORE_INDEX, 1, &vars[i]);
        read->site = CORE_NO_SITE;
        read->index.array = build_atom(&k->b, s->vars[i]);
        read->index.index = core_i64(0);
        build_emit(&k->b, read);
    }
}

static void sink_block(void *ctx, CoreBlock *b);

static void sink_loop(Sinker *k, CoreBlock *out, CoreStmt *s)
{
    const CoreVar *params = build_vars_copy(&k->b, s->loop.params, s->nvars, s->nvars);
    const CoreVar *vars = build_vars_copy(&k->b, s->vars, s->nvars, s->nvars);
    const State outer = k->state;
    keep_state(k, s);
    core_stmt_blocks(s, sink_block, k);
    return_state(k, s, params);
    k->state = outer;
    core_push(k->p, out, s);
    read_state(k, s, vars);
}

static bool is_sunk(const Sinker *k, CoreAtom a)
{
    const Load *l = load_of(k, a);
    return l && l->sunk;
}

static bool any_sunk(const Sinker *k, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (k->loads[s->vars[i]].sunk)
            return true;
    return false;
}

static void sink_stmt(Sinker *k, CoreBlock *b, CoreStmt *s)
{
    if (s->kind == CORE_LOOP) {
        sink_loop(k, b, s);
        return;
    }
    if (is_update(k, s) && (is_sunk(k, s->update.index) || is_sunk(k, s->update.value)))
        update_there(k, s);
    else if (core_stmt_soac(s))
        sink_into(k, core_stmt_soac(s)->body);
    else if (s->kind != CORE_LANE)
        core_stmt_blocks(s, sink_block, k);
    if (s->kind == CORE_REDUCE && any_sunk(k, s))
        keep_on_device(k, s);
    core_push(k->p, b, s);
}

static void sink_block(void *ctx, CoreBlock *b)
{
    Sinker *k = ctx;
    CoreBlock *outer = k->b.out, old = core_take_stmts(b);
    k->b.out = b;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        Load *l = s->nvars == 1 ? load_of(k, build_atom(&k->b, s->vars[0])) : NULL;
        if (!l || !l->sunk || s->kind == CORE_REDUCE)
            sink_stmt(k, b, s);
        else if (is_once(l))
            compute_once(k, s->vars[0]);
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
