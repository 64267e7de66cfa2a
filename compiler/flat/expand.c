/* Reductions and scans whose operator is itself parallel code (it calls, loops over sequences, reduces …)
 * cannot be one kernel. They become rounds over whole sequences, in core, before flattening:
 *
 *   reduce  while more than one is left: combine neighbours, in order. Work: len-1 operator calls; in a context,
 *           instances that are down to one value leave the loop by themselves.
 *   scan    v[i] = op v[i-d] v[i] for d = 1, 2, 4 …: log2(len) rounds of len calls.
 *   hist    the values sorted by bin, and a reduction of each bin's, in rounds as above. */
#include "flat/flatten_internal.h"

typedef struct Expand {
    CoreProgram *p;
    CoreFn *fn;
    CoreBlock *out;
    Span span;
} Expand;

static CoreVar *vars1(Expand *e, CoreVar v)
{
    CoreVar *a = arena_new(e->p->arena, CoreVar);
    *a = v;
    return a;
}

static CoreStmt *put(Expand *e, CoreBlock *b, CoreKind kind)
{
    CoreStmt *s = core_new_stmt(e->p, kind, e->span);
    core_push(e->p, b, s);
    return s;
}

static CoreAtom atom(Expand *e, CoreVar v) { return core_var_atom(v, core_var_type(e->fn, v)); }

static CoreAtom prim(Expand *e, CoreBlock *b, CorePrim op, Scalar result, const CoreAtom *args)
{
    CoreVar v = core_new_var(e->p, e->fn, core_scalar(result), NULL);
    CoreStmt *s = put(e, b, CORE_PRIM);
    s->prim.op = op;
    s->prim.nargs = core_prim_arity(op);
    s->prim.args = arena_array(e->p->arena, CoreAtom, s->prim.nargs);
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        s->prim.args[i] = args[i];
    s->vars = vars1(e, v);
    s->nvars = 1;
    return atom(e, v);
}

static CoreAtom prim2(Expand *e, CoreBlock *b, CorePrim op, Scalar result, CoreAtom x, CoreAtom y)
{
    return prim(e, b, op, result, (const CoreAtom[]){x, y});
}

static void load_into(Expand *e, CoreBlock *b, CoreVar v, CoreAtom array, CoreAtom index)
{
    CoreStmt *s = put(e, b, CORE_INDEX);
    s->index.array = array;
    s->index.index = index;
    s->vars = vars1(e, v);
    s->nvars = 1;
}

static CoreAtom load(Expand *e, CoreBlock *b, CoreAtom array, CoreAtom index)
{
    CoreVar v = core_new_var(e->p, e->fn, core_element(array.type), NULL);
    load_into(e, b, v, array, index);
    return atom(e, v);
}

static void results_of(Expand *e, CoreBlock *b, const CoreAtom *a, uint32_t n)
{
    b->results = arena_array(e->p->arena, CoreAtom, n ? n : 1);
    b->nresults = n;
    for (uint32_t i = 0; i < n; i++)
        b->results[i] = a[i];
}

/* `vars` fresh variables of the elements' (or, if seq, the sequences') types of a reduction's results. */
static CoreVar *fresh_like(Expand *e, const CoreLambda *op, uint32_t k, bool seq)
{
    CoreVar *v = arena_array(e->p->arena, CoreVar, k);
    for (uint32_t i = 0; i < k; i++) {
        CoreType t = core_var_type(e->fn, op->params[i]);
        v[i] = core_new_var(e->p, e->fn, seq ? core_seq(t) : t, NULL);
    }
    return v;
}

static CoreStmt *map_over(Expand *e, CoreBlock *b, CoreAtom domain, CoreVar index, CoreVar *outs, uint32_t k)
{
    CoreStmt *m = put(e, b, CORE_MAP);
    m->map.domain = domain;
    m->map.index = index;
    m->map.body = core_new_block(e->p);
    m->vars = outs;
    m->nvars = k;
    return m;
}

/* The values that the reduction's body computes, as sequences. */
static CoreVar *stored_values(Expand *e, const CoreSoac *soac, const CoreLambda *op, uint32_t k)
{
    CoreStmt *m = put(e, e->out, CORE_MAP);
    m->map = *soac;
    m->vars = fresh_like(e, op, k, true);
    m->nvars = k;
    return m->vars;
}

/* if c then { loads of two operands; op } else { one value per component } */
static CoreStmt *op_or_else(Expand *e, CoreBlock *b, CoreAtom cond, const CoreLambda *op, uint32_t k)
{
    CoreStmt *s = put(e, b, CORE_IF);
    s->if_.cond = cond;
    s->if_.then_b = core_new_block(e->p);
    s->if_.else_b = core_new_block(e->p);
    s->vars = fresh_like(e, op, k, false);
    s->nvars = k;
    return s;
}

static void apply_op(Expand *e, CoreBlock *b, const CoreLambda *op, const CoreAtom *arrays, CoreAtom left,
                     CoreAtom right, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++) {
        load_into(e, b, op->params[i], arrays[i], left);
        load_into(e, b, op->params[k + i], arrays[i], right);
    }
    for (uint32_t i = 0; i < op->body->stmts.n; i++)
        core_push(e->p, b, op->body->stmts.at[i]);
    results_of(e, b, op->body->results, k);
}

static CoreAtom *atoms_of(Expand *e, const CoreVar *v, uint32_t n, uint32_t extra)
{
    CoreAtom *a = arena_array(e->p->arena, CoreAtom, n + extra + 1);
    for (uint32_t i = 0; i < n; i++)
        a[i] = atom(e, v[i]);
    return a;
}

/* loop (arrays, n) = (init, start) while cond do body: returns the statement with its parameters made. */
static CoreStmt *rounds(Expand *e, const CoreVar *init, CoreAtom start, const CoreLambda *op, uint32_t k)
{
    CoreStmt *l = put(e, e->out, CORE_LOOP);
    CoreVar *params = arena_array(e->p->arena, CoreVar, k + 1), *outs = arena_array(e->p->arena, CoreVar, k + 1);
    CoreVar *p = fresh_like(e, op, k, true), *o = fresh_like(e, op, k, true);
    for (uint32_t i = 0; i < k; i++) {
        params[i] = p[i];
        outs[i] = o[i];
    }
    params[k] = core_new_var(e->p, e->fn, core_scalar(SC_I64), "n");
    outs[k] = core_new_var(e->p, e->fn, core_scalar(SC_I64), NULL);
    l->loop.params = params;
    l->loop.nparams = k + 1;
    l->loop.inits = atoms_of(e, init, k, 1);
    l->loop.inits[k] = start;
    l->loop.index = CORE_NO_VAR;
    l->loop.cond = core_new_block(e->p);
    l->loop.body = core_new_block(e->p);
    l->vars = outs;
    l->nvars = k + 1;
    return l;
}

static void expand_reduce(Expand *e, CoreStmt *s)
{
    const CoreLambda *op = &s->reduce.op;
    uint32_t k = s->nvars;
    CoreAtom domain = s->reduce.soac.domain;
    CoreVar *v = stored_values(e, &s->reduce.soac, op, k);
    CoreStmt *l = rounds(e, v, domain, op, k);
    CoreAtom n = atom(e, l->loop.params[k]);
    CoreAtom more = prim2(e, l->loop.cond, PRIM_LT, SC_BOOL, core_i64(1), n);
    results_of(e, l->loop.cond, &more, 1);
    CoreBlock *b = l->loop.body;
    CoreAtom half = prim2(e, b, PRIM_SUB, SC_I64, n, prim2(e, b, PRIM_SHR, SC_I64, n, core_i64(1))); /* rounded up */
    CoreVar i = core_new_var(e->p, e->fn, core_scalar(SC_I64), "i");
    CoreVar *pairs = fresh_like(e, op, k, true);
    CoreStmt *m = map_over(e, b, half, i, pairs, k);
    CoreAtom left = prim2(e, m->map.body, PRIM_ADD, SC_I64, atom(e, i), atom(e, i));
    CoreAtom right = prim2(e, m->map.body, PRIM_ADD, SC_I64, left, core_i64(1));
    CoreAtom both = prim2(e, m->map.body, PRIM_LT, SC_BOOL, right, n);
    CoreStmt *c = op_or_else(e, m->map.body, both, op, k);
    CoreAtom *arrays = atoms_of(e, l->loop.params, k, 0), *single = arena_array(e->p->arena, CoreAtom, k);
    apply_op(e, c->if_.then_b, op, arrays, left, right, k);
    for (uint32_t j = 0; j < k; j++)
        single[j] = load(e, c->if_.else_b, arrays[j], left);
    results_of(e, c->if_.else_b, single, k);
    results_of(e, m->map.body, atoms_of(e, c->vars, k, 0), k);
    CoreAtom *next = atoms_of(e, pairs, k, 1);
    next[k] = half;
    results_of(e, b, next, k + 1);
    CoreStmt *last = put(e, e->out, CORE_IF);
    last->if_.then_b = core_new_block(e->p);
    last->if_.else_b = core_new_block(e->p);
    last->vars = s->vars;
    last->nvars = k;
    results_of(e, last->if_.then_b, s->reduce.neutral, k);
    for (uint32_t j = 0; j < k; j++)
        single[j] = load(e, last->if_.else_b, atom(e, l->vars[j]), core_i64(0));
    results_of(e, last->if_.else_b, single, k);
    e->out->stmts.n--; /* its condition stands before it */
    last->if_.cond = prim2(e, e->out, PRIM_EQ, SC_BOOL, domain, core_i64(0));
    core_push(e->p, e->out, last);
}

static void expand_exclusive(Expand *e, CoreStmt *s, const CoreVar *prefixes, CoreAtom domain)
{
    uint32_t k = s->nvars;
    CoreVar i = core_new_var(e->p, e->fn, core_scalar(SC_I64), "i");
    CoreStmt *m = map_over(e, e->out, domain, i, s->vars, k);
    CoreAtom first = prim2(e, m->map.body, PRIM_EQ, SC_BOOL, atom(e, i), core_i64(0));
    CoreStmt *c = op_or_else(e, m->map.body, first, &s->reduce.op, k);
    results_of(e, c->if_.then_b, s->reduce.neutral, k);
    CoreAtom before = prim2(e, c->if_.else_b, PRIM_SUB, SC_I64, atom(e, i), core_i64(1));
    CoreAtom *single = arena_array(e->p->arena, CoreAtom, k);
    for (uint32_t j = 0; j < k; j++)
        single[j] = load(e, c->if_.else_b, atom(e, prefixes[j]), before);
    results_of(e, c->if_.else_b, single, k);
    results_of(e, m->map.body, atoms_of(e, c->vars, k, 0), k);
}

static void expand_scan(Expand *e, CoreStmt *s)
{
    const CoreLambda *op = &s->reduce.op;
    uint32_t k = s->nvars;
    CoreAtom domain = s->reduce.soac.domain;
    CoreVar *v = stored_values(e, &s->reduce.soac, op, k);
    CoreStmt *l = rounds(e, v, core_i64(1), op, k);
    CoreAtom d = atom(e, l->loop.params[k]);
    CoreAtom more = prim2(e, l->loop.cond, PRIM_LT, SC_BOOL, d, domain);
    results_of(e, l->loop.cond, &more, 1);
    CoreBlock *b = l->loop.body;
    CoreVar i = core_new_var(e->p, e->fn, core_scalar(SC_I64), "i");
    CoreVar *sums = fresh_like(e, op, k, true);
    CoreStmt *m = map_over(e, b, domain, i, sums, k);
    CoreAtom has = prim2(e, m->map.body, PRIM_LE, SC_BOOL, d, atom(e, i));
    CoreStmt *c = op_or_else(e, m->map.body, has, op, k);
    CoreAtom *arrays = atoms_of(e, l->loop.params, k, 0), *single = arena_array(e->p->arena, CoreAtom, k);
    CoreAtom left = prim2(e, c->if_.then_b, PRIM_SUB, SC_I64, atom(e, i), d);
    apply_op(e, c->if_.then_b, op, arrays, left, atom(e, i), k);
    for (uint32_t j = 0; j < k; j++)
        single[j] = load(e, c->if_.else_b, arrays[j], atom(e, i));
    results_of(e, c->if_.else_b, single, k);
    results_of(e, m->map.body, atoms_of(e, c->vars, k, 0), k);
    CoreAtom *next = atoms_of(e, sums, k, 1);
    next[k] = prim2(e, b, PRIM_ADD, SC_I64, d, d);
    results_of(e, b, next, k + 1);
    if (s->reduce.exclusive) {
        expand_exclusive(e, s, l->vars, domain);
        return;
    }
    for (uint32_t j = 0; j < k; j++) {
        CoreStmt *copy = put(e, e->out, CORE_ATOM);
        copy->atom = atom(e, l->vars[j]);
        copy->vars = vars1(e, s->vars[j]);
        copy->nvars = 1;
    }
}

/* ---- reduce_by_index ---- */

static CoreAtom select3(Expand *e, CoreBlock *b, CoreAtom cond, CoreAtom x, CoreAtom y)
{
    return prim(e, b, PRIM_SELECT, SC_I64, (const CoreAtom[]){cond, x, y});
}

static CoreVar new_i64s(Expand *e, const char *hint)
{
    return core_new_var(e->p, e->fn, core_seq(core_scalar(SC_I64)), hint);
}

static CoreVar new_i64(Expand *e, const char *hint) { return core_new_var(e->p, e->fn, core_scalar(SC_I64), hint); }

/* [add]: an operator on two i64. */
static CoreLambda add_i64(Expand *e)
{
    CoreLambda op = {arena_array(e->p->arena, CoreVar, 2), 2, core_new_block(e->p)};
    for (uint32_t i = 0; i < 2; i++)
        op.params[i] = new_i64(e, NULL);
    CoreAtom sum = prim2(e, op.body, PRIM_ADD, SC_I64, atom(e, op.params[0]), atom(e, op.params[1]));
    results_of(e, op.body, &sum, 1);
    return op;
}

static CoreAtom *zero(Expand *e)
{
    CoreAtom *a = arena_array(e->p->arena, CoreAtom, 1);
    a[0] = core_i64(0);
    return a;
}

/* The bins, and `size` in the place of those out of range: sorted, these are the last. */
static CoreAtom bins_in_range(Expand *e, CoreAtom bins, CoreAtom domain, CoreAtom size)
{
    CoreVar i = new_i64(e, "i"), out = new_i64s(e, "bins");
    CoreStmt *m = map_over(e, e->out, domain, i, vars1(e, out), 1);
    CoreBlock *b = m->map.body;
    CoreAtom bin = load(e, b, bins, atom(e, i));
    CoreAtom below = select3(e, b, prim2(e, b, PRIM_LT, SC_BOOL, bin, size), bin, size);
    CoreAtom in_range = select3(e, b, prim2(e, b, PRIM_LT, SC_BOOL, below, core_i64(0)), size, below);
    results_of(e, b, &in_range, 1);
    return atom(e, out);
}

static CoreAtom sorted_positions(Expand *e, CoreAtom bins)
{
    CoreVar order = new_i64s(e, "order");
    CoreStmt *s = put(e, e->out, CORE_ARGSORT);
    s->argsort.keys = arena_array(e->p->arena, CoreAtom, 1);
    s->argsort.keys[0] = bins;
    s->argsort.nkeys = 1;
    s->vars = vars1(e, order);
    s->nvars = 1;
    return atom(e, order);
}

/* How many values each bin has. */
static CoreAtom bin_counts(Expand *e, CoreAtom bins, CoreAtom domain, CoreAtom size)
{
    CoreVar counts = new_i64s(e, "counts"), i = new_i64(e, "i");
    CoreStmt *s = put(e, e->out, CORE_HIST);
    CoreBlock *body = core_new_block(e->p);
    s->hist.soac = (CoreSoac){.domain = domain, .index = i, .body = body};
    CoreAtom pair[] = {load(e, body, bins, atom(e, i)), core_i64(1)};
    results_of(e, body, pair, 2);
    s->hist.size = size;
    s->hist.neutral = zero(e);
    s->hist.op = add_i64(e);
    s->vars = vars1(e, counts);
    s->nvars = 1;
    return atom(e, counts);
}

/* Where each bin's values begin among the sorted ones. */
static CoreAtom bin_starts(Expand *e, CoreAtom counts, CoreAtom size)
{
    CoreVar starts = new_i64s(e, "starts"), i = new_i64(e, "i");
    CoreStmt *s = put(e, e->out, CORE_SCAN);
    CoreBlock *body = core_new_block(e->p);
    s->reduce.soac = (CoreSoac){.domain = size, .index = i, .body = body};
    CoreAtom count = load(e, body, counts, atom(e, i));
    results_of(e, body, &count, 1);
    s->reduce.neutral = zero(e);
    s->reduce.op = add_i64(e);
    s->reduce.exclusive = true;
    s->vars = vars1(e, starts);
    s->nvars = 1;
    return atom(e, starts);
}

/* The bin's reduction, and its expansion; its results end the block. */
static void reduce_bin(Expand *e, CoreBlock *b, const CoreStmt *s, const CoreVar *values, CoreAtom order,
                       CoreAtom start, CoreAtom count)
{
    uint32_t k = s->nvars;
    CoreVar i = new_i64(e, "i");
    CoreStmt *r = core_new_stmt(e->p, CORE_REDUCE, e->span);
    CoreBlock *body = core_new_block(e->p), *outer = e->out;
    CoreAtom at = load(e, body, order, prim2(e, body, PRIM_ADD, SC_I64, start, atom(e, i)));
    CoreAtom *value = arena_array(e->p->arena, CoreAtom, k);
    for (uint32_t j = 0; j < k; j++)
        value[j] = load(e, body, atom(e, values[j]), at);
    results_of(e, body, value, k);
    r->reduce.soac = (CoreSoac){.domain = count, .index = i, .body = body};
    r->reduce.neutral = s->hist.neutral;
    r->reduce.op = s->hist.op;
    r->vars = fresh_like(e, &s->hist.op, k, false);
    r->nvars = k;
    e->out = b;
    expand_reduce(e, r);
    e->out = outer;
    results_of(e, b, atoms_of(e, r->vars, k, 0), k);
}

static void expand_hist(Expand *e, CoreStmt *s)
{
    uint32_t k = s->nvars;
    CoreAtom domain = s->hist.soac.domain, size = s->hist.size;
    CoreStmt *m = put(e, e->out, CORE_MAP);
    m->map = s->hist.soac;
    m->vars = arena_array(e->p->arena, CoreVar, k + 1);
    m->nvars = k + 1;
    m->vars[0] = new_i64s(e, "bins");
    CoreVar *values = fresh_like(e, &s->hist.op, k, true), b = new_i64(e, "bin");
    for (uint32_t j = 0; j < k; j++)
        m->vars[j + 1] = values[j];
    CoreAtom bins = bins_in_range(e, atom(e, m->vars[0]), domain, size);
    CoreAtom order = sorted_positions(e, bins), counts = bin_counts(e, bins, domain, size);
    CoreAtom starts = bin_starts(e, counts, size);
    CoreBlock *body = map_over(e, e->out, size, b, s->vars, k)->map.body;
    CoreAtom start = load(e, body, starts, atom(e, b)), count = load(e, body, counts, atom(e, b));
    reduce_bin(e, body, s, values, order, start, count);
}

/* ---- all of it ---- */

static void expand_block(void *ctx, CoreBlock *b);

static void expand_stmt(Expand *e, CoreStmt *s)
{
    core_stmt_blocks(s, expand_block, e);
    e->span = s->span;
    if ((s->kind == CORE_REDUCE || s->kind == CORE_SCAN) && !scalar_block(s->reduce.op.body)) {
        if (s->kind == CORE_REDUCE)
            expand_reduce(e, s);
        else
            expand_scan(e, s);
        return;
    }
    if (s->kind == CORE_HIST && !scalar_block(s->hist.op.body)) {
        expand_hist(e, s);
        return;
    }
    core_push(e->p, e->out, s);
}

static void expand_block(void *ctx, CoreBlock *b)
{
    Expand *e = ctx;
    CoreBlock *saved = e->out;
    CoreBlock fresh = {0};
    e->out = &fresh;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        expand_stmt(e, b->stmts.at[i]);
    b->stmts.at = fresh.stmts.at;
    b->stmts.n = fresh.stmts.n;
    b->stmts.cap = fresh.stmts.cap;
    e->out = saved;
}

void expand_parallel_operators(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Expand e = {.p = p, .fn = p->fns.at[i]};
        expand_block(&e, p->fns.at[i]->body);
    }
}
