#include "core/stack_loops_internal.h"

/* Arrays that a recursion changes for its calls only, as backtracking does: what a call is given, nobody gets back.
 *
 *     rec fn place (row, board) = { … loop (s = 0) for c < n { b1 = update board, row, c;
 *                                                              r = call place (row + 1, b1); … } … -> s }
 *
 * Such an array goes through all calls (stack_threads.c) when each gives it back as it was given it, and whoever
 * changes it *undoes* that before an older version is read:
 *
 *     … old = index board, row; b1 = update board, row, c;
 *       r, b2 = call place (row + 1, b1);  b3 = update b2, row, old; … -> s, b3
 *
 * Updates make a tree of versions, whose root is the parameter. The array is at one version at a time: where another
 * is wanted, changes are undone up to the place where the ways to both part, and made again from there down. Branches
 * and rounds of loops with calls end at the version that they begin with. */

typedef struct Version Version;

/* What the parent becomes by one element: at place, or at place[0] of its row, place[1]. */
struct Version {
    const Version *parent;
    uint32_t thread, nplaces;
    CoreAtom places[2], value, old;
};

typedef struct Undo {
    const CoreFn *self;
    CoreBuilder b;
    Arena *scratch;
    uint32_t nvars; /* of before */
    const Version **version;
    CoreStmt **maker;
    const Version **row_of; /* by variable: which it is a row of, or NULL */
    CoreAtom *old;          /* by variable: an update of such a row: what that writes over */
    uint32_t params[MOST_THREADS], n;
    const Version *at[MOST_THREADS], *wanted[MOST_THREADS];
    CoreAtom now[MOST_THREADS];
    bool impossible;
} Undo;

static const Version *version_of(const Undo *u, CoreAtom a)
{
    return a.is_const || a.var >= u->nvars ? NULL : u->version[a.var];
}

static CoreStmt *maker_of(const Undo *u, CoreAtom a)
{
    return a.is_const || a.var >= u->nvars ? NULL : u->maker[a.var];
}

/* ---- from one version to another ---- */

static CoreAtom build_change(CoreBuilder *b, CoreAtom array, const CoreAtom *places, uint32_t n, CoreAtom value)
{
    if (n > 1)
        value = build_change(b, build_index(b, array, places[0], CORE_NO_SITE), places + 1, n - 1, value);
    return build_changed(b, array, places[0], value);
}

static bool is_above(const Version *v, const Version *below)
{
    while (below && below != v)
        below = below->parent;
    return below;
}

static void go_down(Undo *u, const Version *to)
{
    const uint32_t t = to->thread;
    if (to == u->at[t])
        return;
    go_down(u, to->parent);
    u->now[t] = build_change(&u->b, u->now[t], to->places, to->nplaces, to->value);
    u->at[t] = to;
}

static void go_to(Undo *u, const Version *to)
{
    const uint32_t t = to->thread;
    for (const Version *v = u->at[t]; !is_above(v, to); v = u->at[t]) {
        u->now[t] = build_change(&u->b, u->now[t], v->places, v->nplaces, v->old);
        u->at[t] = v->parent;
    }
    go_down(u, to);
}

static void go_to_all(Undo *u, const Version *const *to)
{
    for (uint32_t t = 0; t < u->n; t++)
        if (to[t])
            go_to(u, to[t]);
}

/* ---- what reads versions ---- */

static void note_wanted(void *ctx, CoreAtom *a)
{
    Undo *u = ctx;
    const Version *v = version_of(u, *a);
    if (!v)
        return;
    u->impossible |= u->wanted[v->thread] && u->wanted[v->thread] != v;
    u->wanted[v->thread] = v;
}

static void replace_version(void *ctx, CoreAtom *a)
{
    const Undo *u = ctx;
    const Version *v = version_of(u, *a);
    if (v)
        *a = u->now[v->thread];
}

static void forget_wanted(Undo *u)
{
    for (uint32_t t = 0; t < u->n; t++)
        u->wanted[t] = NULL;
}

/* What a version is: no longer one of them. */
static void copy_version(Undo *u, CoreAtom *a)
{
    const Version *v = version_of(u, *a);
    if (!v)
        return;
    go_to(u, v);
    const CoreAtom from = u->now[v->thread];
    CoreType element = core_atom_type(u->b.fn, from);
    element.rank--;
    CoreSoac soac = {.index = CORE_NO_VAR, .ninputs = 1, .domain = build_length(&u->b, from)};
    const CoreAtom x = build_var(&u->b, element, NULL);
    soac.inputs = build_atoms_copy(&u->b, &from, 1, 1);
    soac.elements = build_vars_copy(&u->b, &x.var, 1, 1);
    CoreBlock *outer = build_begin(&u->b);
    soac.body = build_end(&u->b, outer, &x, 1);
    *a = build_map(&u->b, soac)[0];
}

static void rewrite_reader(Undo *u, CoreStmt *s)
{
    forget_wanted(u);
    core_stmt_all_atoms(s, note_wanted, u);
    go_to_all(u, u->wanted);
    core_stmt_all_atoms(s, replace_version, u);
    build_emit(&u->b, s);
}

/* ---- statements ---- */

static void rewrite_block(Undo *u, CoreBlock *b);

/* The versions' variables behind what the statement binds, and the arrays behind these results. */
static void add_results(Undo *u, CoreStmt *s)
{
    const uint32_t n = s->nvars;
    s->vars = build_vars_copy(&u->b, s->vars, n + u->n, n);
    s->nvars = n + u->n;
    for (uint32_t t = 0; t < u->n; t++) {
        u->now[t] = build_var(&u->b, core_var_type(u->b.fn, u->b.fn->params[u->params[t]]), "array");
        s->vars[n + t] = u->now[t].var;
    }
}

static void add_atoms(const Undo *u, CoreAtom **atoms, uint32_t n)
{
    *atoms = build_atoms_copy(&u->b, *atoms, n + u->n, n);
    for (uint32_t t = 0; t < u->n; t++)
        (*atoms)[n + t] = u->now[t];
}

/* A block that begins with these versions, and gives them. */
static void rewrite_way(Undo *u, CoreBlock *b, const Version *const *begin)
{
    rewrite_block(u, b);
    CoreBlock *outer = u->b.out;
    u->b.out = b;
    for (uint32_t i = 0; i < b->nresults; i++)
        copy_version(u, &b->results[i]);
    go_to_all(u, begin);
    u->b.out = outer;
    add_atoms(u, &b->results, b->nresults);
    b->nresults += u->n;
}

static void rewrite_if(Undo *u, CoreStmt *s)
{
    const Undo before = *u;
    rewrite_way(u, s->if_.then_b, before.at);
    for (uint32_t t = 0; t < u->n; t++)
        u->now[t] = before.now[t];
    rewrite_way(u, s->if_.else_b, before.at);
    add_results(u, s);
    build_emit(&u->b, s);
}

static void rewrite_loop(Undo *u, CoreStmt *s)
{
    const uint32_t n = s->loop.nparams;
    for (uint32_t i = 0; i < n; i++)
        copy_version(u, &s->loop.inits[i]);
    const Undo before = *u;
    add_atoms(u, &s->loop.inits, n);
    s->loop.params = build_vars_copy(&u->b, s->loop.params, n + u->n, n);
    s->loop.nparams = n + u->n;
    for (uint32_t t = 0; t < u->n; t++) {
        u->now[t] = build_var(&u->b, core_atom_type(u->b.fn, before.now[t]), "array");
        s->loop.params[n + t] = u->now[t].var;
    }
    forget_wanted(u);
    if (s->loop.cond)
        core_block_atoms(s->loop.cond, note_wanted, u);
    for (uint32_t t = 0; t < u->n; t++)
        u->impossible |= u->wanted[t] && u->wanted[t] != before.at[t];
    if (s->loop.cond)
        core_block_atoms(s->loop.cond, replace_version, u);
    rewrite_way(u, s->loop.body, before.at);
    add_results(u, s);
    build_emit(&u->b, s);
}

static void rewrite_call(Undo *u, CoreStmt *s)
{
    for (uint32_t i = 0, t = 0; i < s->call.nargs; i++) {
        const Version *v = version_of(u, s->call.args[i]);
        const bool goes_on = t < u->n && u->params[t] == i;
        u->impossible |= goes_on ? !v || v->thread != t : v != NULL;
        if (u->impossible)
            return;
        if (!goes_on)
            continue;
        go_to(u, v);
        s->call.args[i] = u->now[t++];
    }
    add_results(u, s);
    build_emit(&u->b, s);
}

/* xs[i] with [j] = x */
static bool is_row_change(const Undo *u, const CoreStmt *s)
{
    const CoreStmt *row = s->kind == CORE_UPDATE ? maker_of(u, s->update.array) : NULL;
    return row && u->row_of[row->vars[0]] && core_atom_type(u->b.fn, s->update.value).rank == 0;
}

/* xs with [i] = x, or with [i] = xs[i] with [j] = x. */
static void rewrite_update(Undo *u, CoreStmt *s, const Version *v)
{
    const uint32_t t = v->thread;
    Version *next = arena_new(u->scratch, Version);
    *next = (Version){.parent = v, .thread = t, .nplaces = 1, .places = {s->update.index}, .value = s->update.value};
    go_to(u, v);
    if (core_atom_type(u->b.fn, s->update.value).rank == 0) {
        next->old = build_index(&u->b, u->now[t], s->update.index, s->site);
    } else {
        const CoreStmt *change = maker_of(u, s->update.value), *row = NULL;
        if (change && is_row_change(u, change))
            row = maker_of(u, change->update.array);
        u->impossible |= !row || u->row_of[row->vars[0]] != v || !core_atom_equal(row->index.index, s->update.index);
        if (u->impossible)
            return;
        next->nplaces = 2;
        next->places[1] = change->update.index;
        next->value = change->update.value;
        next->old = u->old[change->vars[0]];
    }
    s->update.array = u->now[t];
    build_emit(&u->b, s);
    u->version[s->vars[0]] = u->at[t] = next;
    u->now[t] = build_atom(&u->b, s->vars[0]);
}

static void rewrite_stmt(Undo *u, CoreStmt *s)
{
    u->b.span = s->span;
    for (uint32_t i = 0; i < s->nvars; i++)
        u->maker[s->vars[i]] = s;
    if (stack_calls(u->self, s)) {
        switch (s->kind) {
        case CORE_CALL: rewrite_call(u, s); return;
        case CORE_IF: rewrite_if(u, s); return;
        case CORE_LOOP: rewrite_loop(u, s); return;
        default: u->impossible = true; return;
        }
    }
    const Version *v = s->kind == CORE_ATOM ? version_of(u, s->atom) : NULL;
    if (v) {
        u->version[s->vars[0]] = v;
        return;
    }
    v = s->kind == CORE_UPDATE ? version_of(u, s->update.array) : NULL;
    if (v) {
        rewrite_update(u, s, v);
        return;
    }
    if (s->kind == CORE_INDEX && core_var_type(u->b.fn, s->vars[0]).rank > 0)
        u->row_of[s->vars[0]] = version_of(u, s->index.array);
    if (is_row_change(u, s))
        u->old[s->vars[0]] = build_index(&u->b, s->update.array, s->update.index, s->site);
    rewrite_reader(u, s);
}

static void rewrite_block(Undo *u, CoreBlock *b)
{
    const CoreBlock old = core_take_stmts(b);
    CoreBlock *outer = u->b.out;
    u->b.out = b;
    for (uint32_t i = 0; i < old.stmts.n && !u->impossible; i++)
        rewrite_stmt(u, old.stmts.at[i]);
    u->b.out = outer;
}

/* ---- which arrays ---- */

/* Those that calls change and that are not what becomes a result (stack_find_threads). */
static void find_params(Undo *u, const CoreFn *fn, uint32_t held, Arena *scratch)
{
    bool *fixed = arena_array(scratch, bool, fn->vars.n + 1), *taken = arena_array(scratch, bool, fn->nparams + 1);
    stack_note_fixed(fn, fixed);
    for (uint32_t j = held; j < fn->nresults; j++)
        if (fn->results[j].rank > 0)
            taken[stack_find_param(fn, j, fixed, taken, scratch)] = true;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const CoreVar v = fn->params[i];
        if (fixed[v] || taken[i] || core_var_type(fn, v).rank == 0)
            continue;
        u->impossible |= u->n == MOST_THREADS;
        if (!u->impossible)
            u->params[u->n++] = i;
    }
}

bool stack_undo(CoreProgram *p, const CoreFn *self, CoreFn *fn, uint32_t held, Arena *scratch, bool *undone)
{
    const uint32_t nvars = fn->vars.n, nresults = fn->nresults;
    Undo u = {.self = self, .b = {.p = p, .fn = fn, .span = fn->span}, .scratch = scratch, .nvars = nvars};
    find_params(&u, fn, held, scratch);
    *undone = u.n > 0;
    if (u.impossible || u.n == 0)
        return !u.impossible;
    u.version = arena_array(scratch, const Version *, nvars);
    u.row_of = arena_array(scratch, const Version *, nvars);
    u.maker = arena_array(scratch, CoreStmt *, nvars);
    u.old = arena_array(scratch, CoreAtom, nvars);
    CoreType *results = arena_array(p->arena, CoreType, nresults + u.n);
    for (uint32_t j = 0; j < nresults; j++)
        results[j] = fn->results[j];
    for (uint32_t t = 0; t < u.n; t++) {
        const CoreVar v = fn->params[u.params[t]];
        Version *root = arena_new(scratch, Version);
        root->thread = t;
        u.version[v] = u.at[t] = root;
        u.now[t] = build_atom(&u.b, v);
        results[nresults + t] = core_var_type(fn, v);
    }
    const Undo begin = u;
    rewrite_way(&u, fn->body, begin.at);
    fn->results = results;
    fn->nresults = nresults + u.n;
    return !u.impossible;
}
