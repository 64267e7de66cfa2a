/* Reductions and scans whose operator is itself parallel code, or whose elements are sequences, cannot be one kernel.
 * They become rounds over whole sequences (docs/flattening.md 7):
 *
 *   reduce  while more than one is left: combine neighbours, in order. len-1 operator calls; in a context, instances
 *           that are down to one value leave the loop by themselves.
 *   scan    a function: combine neighbours, the scan of these by itself, then the even places. At most 2 len calls.
 *   hist    the values sorted by bin, and a reduction of each bin's, in rounds as above; likewise accumulate.
 *
 * The neutral element stands for no elements only: `reduce (map2 (+)) [] rows` is what its name says. */
#include "core/build.h"
#include "core/passes.h"

typedef struct Lowering {
    CoreProgram *p;
    CoreFn *fn;
    CoreBuilder b; /* of fn */
    Arena *scratch;
    CoreCopyMap copies;
    bool changed;
} Lowering;

static const CoreType i64 = {SC_I64, 0};

bool core_combines_in_rounds(const CoreFn *fn, const CoreLambda *op)
{
    for (uint32_t i = 0; i < op->nparams; i++)
        if (core_var_type(fn, op->params[i]).rank > 0)
            return true;
    return !core_block_is_scalar(op->body);
}

/* ---- pieces ---- */

/* An operator on k values, of the function that b builds. */
typedef struct Operator {
    const CoreFn *fn; /* whose variables the lambda has */
    const CoreLambda *op;
    CoreAtom *map; /* of what it reads from outside, for copies */
    uint32_t k;
} Operator;

static Operator operator_of(Lowering *l, const CoreLambda *op)
{
    core_copy_map_note(&l->copies, l->fn, l->scratch);
    return (Operator){l->fn, op, l->copies.at, op->nparams / 2};
}

static CoreAtom *elements_at(CoreBuilder *b, const CoreAtom *arrays, uint32_t k, CoreAtom i)
{
    CoreAtom *elements = arena_array(b->p->arena, CoreAtom, k + 1);
    for (uint32_t j = 0; j < k; j++)
        elements[j] = build_index(b, arrays[j], i, CORE_NO_SITE);
    return elements;
}

/* Appends a copy of the operator on these values. */
static const CoreAtom *apply(CoreBuilder *b, const Operator *o, const CoreAtom *left, const CoreAtom *right)
{
    for (uint32_t j = 0; j < o->k; j++) {
        o->map[o->op->params[j]] = left[j];
        o->map[o->op->params[o->k + j]] = right[j];
    }
    return build_copy(b, o->fn, o->op->body, o->map);
}

static CoreSoac over(CoreBuilder *b, CoreAtom domain, CoreAtom *index)
{
    *index = build_var(b, i64, "i");
    return (CoreSoac){.domain = domain, .index = index->var};
}

static CoreAtom *close_map(CoreBuilder *b, CoreBlock *outer, CoreSoac soac, const CoreAtom *results, uint32_t k)
{
    soac.body = build_end(b, outer, results, k);
    return build_map(b, soac);
}

/* s's variables are these values. */
static void bind_results(CoreBuilder *b, const CoreStmt *s, const CoreAtom *values)
{
    for (uint32_t j = 0; j < s->nvars; j++)
        build_named(b, s->vars[j], values[j]);
}

/* map half at i { op xs[2i] xs[2i+1] }; with `rest`, xs[2i] where there is no neighbour */
static CoreAtom *combine_neighbours(CoreBuilder *b, const Operator *o, const CoreAtom *arrays, CoreAtom half,
                                    const CoreAtom *rest)
{
    CoreAtom i;
    CoreSoac soac = over(b, half, &i);
    CoreBlock *outer = build_begin(b), *then_outer;
    CoreAtom left = build_prim2(b, PRIM_ADD, i, i), right = build_prim2(b, PRIM_ADD, left, core_i64(1));
    if (!rest) {
        const CoreAtom *x = elements_at(b, arrays, o->k, left), *y = elements_at(b, arrays, o->k, right);
        return close_map(b, outer, soac, apply(b, o, x, y), o->k);
    }
    CoreAtom both = build_prim2(b, PRIM_LT, right, *rest);
    then_outer = build_begin(b);
    const CoreAtom *x = elements_at(b, arrays, o->k, left), *y = elements_at(b, arrays, o->k, right);
    CoreBlock *then_b = build_end(b, then_outer, apply(b, o, x, y), o->k);
    then_outer = build_begin(b);
    CoreBlock *else_b = build_end(b, then_outer, elements_at(b, arrays, o->k, left), o->k);
    return close_map(b, outer, soac, build_if(b, both, then_b, else_b), o->k);
}

static CoreBlock *block_of(CoreBuilder *b, const CoreAtom *results, uint32_t n)
{
    return build_end(b, build_begin(b), results, n);
}

/* ---- reduce ---- */

static CoreType *loop_types(const CoreBuilder *b, const CoreAtom *arrays, uint32_t k)
{
    CoreType *types = arena_array(b->p->arena, CoreType, k + 1);
    for (uint32_t j = 0; j < k; j++)
        types[j] = core_atom_type(b->fn, arrays[j]);
    types[k] = i64;
    return types;
}

/* loop (arrays, n) while 1 < n do (combine_neighbours arrays, half of n): the arrays at the end, of one element. */
static CoreAtom *rounds(CoreBuilder *b, const Operator *o, const CoreAtom *arrays, CoreAtom n)
{
    uint32_t k = o->k;
    const CoreType *types = loop_types(b, arrays, k);
    CoreStmt *s = build_stmt(b, CORE_LOOP, k + 1, types);
    s->loop.inits = build_atoms_copy(b, arrays, k + 1, k);
    s->loop.inits[k] = n;
    s->loop.nparams = k + 1;
    s->loop.params = arena_array(b->p->arena, CoreVar, k + 1);
    for (uint32_t j = 0; j <= k; j++)
        s->loop.params[j] = core_new_var(b->p, b->fn, types[j], j < k ? NULL : "n");
    s->loop.index = CORE_NO_VAR;
    CoreAtom *state = build_atoms(b, s->loop.params, k + 1);
    CoreBlock *outer = build_begin(b);
    CoreAtom more = build_prim2(b, PRIM_LT, core_i64(1), state[k]);
    s->loop.cond = build_end(b, outer, &more, 1);
    outer = build_begin(b);
    CoreAtom half =
        build_prim2(b, PRIM_SUB, state[k], build_prim2(b, PRIM_SHR, state[k], core_i64(1))); /* rounded up */
    CoreAtom *next = combine_neighbours(b, o, state, half, &state[k]);
    next[k] = half;
    s->loop.body = build_end(b, outer, next, k + 1);
    build_emit(b, s);
    return build_atoms(b, s->vars, k);
}

/* if n == 0 then neutral else the first of what is left */
static const CoreAtom *reduce(CoreBuilder *b, const Operator *o, const CoreAtom *arrays, CoreAtom n,
                              const CoreAtom *neutral)
{
    CoreAtom *last = rounds(b, o, arrays, n);
    CoreAtom none = build_prim2(b, PRIM_EQ, n, core_i64(0));
    CoreBlock *then_b = block_of(b, neutral, o->k), *outer = build_begin(b);
    CoreBlock *else_b = build_end(b, outer, elements_at(b, last, o->k, core_i64(0)), o->k);
    return build_if(b, none, then_b, else_b);
}

static void lower_reduce(Lowering *l, CoreStmt *s)
{
    Operator o = operator_of(l, &s->soac.op);
    const CoreAtom *arrays = build_map(&l->b, s->soac);
    bind_results(&l->b, s, reduce(&l->b, &o, arrays, s->soac.domain, s->soac.neutral));
}

/* ---- scan ---- */

/* The variables that a block reads from outside, in the order of reading. */
typedef struct Free {
    Arena *arena;
    const bool *bound; /* by variable */
    bool *found;
    VEC(CoreVar) vars;
} Free;

static void note_bound(void *ctx, CoreVar *v) { ((bool *)ctx)[*v] = true; }

static void note_bound_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        core_stmt_binders(s, note_bound, ctx);
        core_stmt_blocks(s, note_bound_block, ctx);
        for (uint32_t j = 0; j < s->nvars; j++)
            note_bound(ctx, &s->vars[j]);
    }
}

static void note_free(void *ctx, CoreAtom *a)
{
    Free *f = ctx;
    if (a->is_const || f->bound[a->var] || f->found[a->var])
        return;
    f->found[a->var] = true;
    vec_push(f->arena, &f->vars, a->var);
}

static Free free_of(const Lowering *l, const CoreLambda *op, Arena *scratch)
{
    bool *bound = arena_array(scratch, bool, l->fn->vars.n + 1);
    Free f = {.arena = scratch, .bound = bound, .found = arena_array(scratch, bool, l->fn->vars.n + 1)};
    for (uint32_t i = 0; i < op->nparams; i++)
        bound[op->params[i]] = true;
    note_bound_block(bound, op->body);
    core_block_atoms(op->body, note_free, &f);
    return f;
}

/* map n at i { if i == 0 then xs[0] else if i is odd then sums[i / 2] else op sums[i / 2 - 1] xs[i] } */
static CoreAtom *even_places(CoreBuilder *b, const Operator *o, const CoreAtom *xs, const CoreAtom *sums, CoreAtom n)
{
    CoreAtom i;
    CoreSoac soac = over(b, n, &i);
    CoreBlock *body = build_begin(b);
    CoreAtom first = build_prim2(b, PRIM_EQ, i, core_i64(0));
    CoreBlock *outer = build_begin(b);
    CoreBlock *then_b = build_end(b, outer, elements_at(b, xs, o->k, i), o->k);
    outer = build_begin(b);
    CoreAtom half = build_prim2(b, PRIM_SHR, i, core_i64(1));
    CoreAtom odd = build_prim2(b, PRIM_EQ, build_prim2(b, PRIM_AND, i, core_i64(1)), core_i64(1));
    CoreBlock *inner = build_begin(b);
    CoreBlock *odd_b = build_end(b, inner, elements_at(b, sums, o->k, half), o->k);
    inner = build_begin(b);
    CoreAtom *left = elements_at(b, sums, o->k, build_prim2(b, PRIM_SUB, half, core_i64(1)));
    CoreBlock *even_b = build_end(b, inner, apply(b, o, left, elements_at(b, xs, o->k, i)), o->k);
    CoreBlock *else_b = build_end(b, outer, build_if(b, odd, odd_b, even_b), o->k);
    return close_map(b, body, soac, build_if(b, first, then_b, else_b), o->k);
}

/* The function's head: its parameters are the sequences, then what the operator reads from outside. */
static CoreFn *new_function(Lowering *l, const CoreAtom *arrays, uint32_t k, const Free *f)
{
    CoreFn *fn = arena_new(l->p->arena, CoreFn);
    *fn = (CoreFn){.index = l->p->fns.n, .recursive = true, .span = l->b.span};
    fn->name = arena_printf(l->p->arena, "%s.scan%u", l->fn->name, fn->index);
    vec_push(l->p->arena, &l->p->fns, fn);
    fn->nparams = k + f->vars.n;
    fn->params = arena_array(l->p->arena, CoreVar, fn->nparams + 1);
    fn->nresults = k;
    fn->results = loop_types(&l->b, arrays, k);
    for (uint32_t j = 0; j < fn->nparams; j++) {
        CoreVarInfo info = j < k ? (CoreVarInfo){fn->results[j], "xs"} : l->fn->vars.at[f->vars.at[j - k]];
        fn->params[j] = core_new_var(l->p, fn, info.type, info.hint);
    }
    return fn;
}

/* fn (xs, free) = if length xs < 2 then xs
 *                 else { sums = fn (combine_neighbours xs, free) in even_places xs sums } */
static CoreFn *scan_function(Lowering *l, const CoreLambda *op, const CoreAtom *arrays, const Free *f)
{
    Operator o = operator_of(l, op);
    CoreFn *fn = new_function(l, arrays, o.k, f);
    CoreBuilder b = {.p = l->p, .fn = fn, .span = l->b.span};
    const CoreAtom *xs = build_atoms(&b, fn->params, fn->nparams);
    for (uint32_t j = 0; j < f->vars.n; j++)
        o.map[f->vars.at[j]] = xs[o.k + j];
    CoreBlock *nothing = build_begin(&b);
    CoreAtom n = build_length(&b, xs[0]);
    CoreAtom few = build_prim2(&b, PRIM_LT, n, core_i64(2));
    CoreBlock *then_b = block_of(&b, xs, o.k), *outer = build_begin(&b);
    CoreAtom half = build_prim2(&b, PRIM_SHR, n, core_i64(1));
    CoreAtom *args = build_atoms_copy(&b, xs, fn->nparams, fn->nparams),
             *pairs = combine_neighbours(&b, &o, xs, half, NULL);
    for (uint32_t j = 0; j < o.k; j++)
        args[j] = pairs[j];
    const CoreAtom *sums = build_call(&b, fn, args);
    CoreBlock *else_b = build_end(&b, outer, even_places(&b, &o, xs, sums, n), o.k);
    fn->body = build_end(&b, nothing, build_if(&b, few, then_b, else_b), o.k);
    for (uint32_t j = 0; j < f->vars.n; j++)
        o.map[f->vars.at[j]] = build_atom(&l->b, f->vars.at[j]);
    return fn;
}

/* map n at i { if i == 0 then neutral else prefixes[i - 1] } */
static const CoreAtom *shift(CoreBuilder *b, const CoreAtom *prefixes, const CoreAtom *neutral, uint32_t k, CoreAtom n)
{
    CoreAtom i;
    CoreSoac soac = over(b, n, &i);
    CoreBlock *body = build_begin(b);
    CoreAtom first = build_prim2(b, PRIM_EQ, i, core_i64(0));
    CoreBlock *then_b = block_of(b, neutral, k), *outer = build_begin(b);
    CoreAtom before = build_prim2(b, PRIM_SUB, i, core_i64(1));
    CoreBlock *else_b = build_end(b, outer, elements_at(b, prefixes, k, before), k);
    return close_map(b, body, soac, build_if(b, first, then_b, else_b), k);
}

static void lower_scan(Lowering *l, CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    Arena *scratch = arena_create();
    uint32_t k = s->nvars;
    const CoreAtom *arrays = build_map(b, s->soac);
    Free f = free_of(l, &s->soac.op, scratch);
    CoreFn *fn = scan_function(l, &s->soac.op, arrays, &f);
    CoreAtom *args = arena_array(l->p->arena, CoreAtom, fn->nparams);
    for (uint32_t j = 0; j < fn->nparams; j++)
        args[j] = j < k ? arrays[j] : build_atom(b, f.vars.at[j - k]);
    const CoreAtom *prefixes = build_call(b, fn, args);
    if (s->soac.exclusive)
        prefixes = shift(b, prefixes, s->soac.neutral, k, s->soac.domain);
    bind_results(b, s, prefixes);
    arena_destroy(scratch);
}

/* ---- reduce_by_index ---- */

/* The bins, and `size` in the place of those out of range: sorted, these are the last. */
static CoreAtom bins_in_range(CoreBuilder *b, CoreAtom bins, CoreAtom domain, CoreAtom size)
{
    CoreAtom i;
    CoreSoac soac = over(b, domain, &i);
    CoreBlock *outer = build_begin(b);
    CoreAtom bin = build_index(b, bins, i, CORE_NO_SITE);
    CoreAtom below = build_select(b, build_prim2(b, PRIM_LT, bin, size), bin, size);
    CoreAtom in_range = build_select(b, build_prim2(b, PRIM_LT, below, core_i64(0)), size, below);
    return close_map(b, outer, soac, &in_range, 1)[0];
}

static CoreAtom sorted_positions(CoreBuilder *b, CoreAtom bins)
{
    CoreType positions = core_seq(i64);
    CoreStmt *s = build_stmt(b, CORE_ARGSORT, 1, &positions);
    s->argsort.keys = build_atoms_copy(b, &bins, 1, 1);
    s->argsort.nkeys = 1;
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

/* How many values each bin has. */
static CoreAtom bin_counts(CoreBuilder *b, CoreAtom bins, CoreAtom domain, CoreAtom size)
{
    CoreType counts = core_seq(i64);
    CoreAtom i, zero = core_i64(0);
    CoreStmt *s = build_stmt(b, CORE_HIST, 1, &counts);
    s->soac = over(b, domain, &i);
    CoreBlock *outer = build_begin(b);
    CoreAtom bin = build_index(b, bins, i, CORE_NO_SITE);
    s->soac.body = build_end(b, outer, (const CoreAtom[]){bin, core_i64(1)}, 2);
    s->soac.size = size;
    s->soac.neutral = build_atoms_copy(b, &zero, 1, 1);
    s->soac.op = build_operator(b, PRIM_ADD, i64);
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

/* Where each bin's values begin among the sorted ones. */
static CoreAtom bin_starts(CoreBuilder *b, CoreAtom counts, CoreAtom size)
{
    CoreAtom i;
    CoreSoac soac = over(b, size, &i);
    CoreBlock *outer = build_begin(b);
    CoreAtom count = build_index(b, counts, i, CORE_NO_SITE);
    soac.body = build_end(b, outer, &count, 1);
    return build_fold(b, CORE_SCAN, soac, PRIM_ADD, core_i64(0), true);
}

/* The bin's values: map count at i { values[order[start + i]] } */
static CoreAtom *bin_values(CoreBuilder *b, const CoreAtom *values, uint32_t k, CoreAtom order, CoreAtom start,
                            CoreAtom count)
{
    CoreAtom i;
    CoreSoac soac = over(b, count, &i);
    CoreBlock *outer = build_begin(b);
    CoreAtom at = build_index(b, order, build_prim2(b, PRIM_ADD, start, i), CORE_NO_SITE);
    return close_map(b, outer, soac, elements_at(b, values, k, at), k);
}

/* if count == 0 then dest else op dest x */
static const CoreAtom *accumulated(CoreBuilder *b, const Operator *o, CoreAtom count, const CoreAtom *dest,
                                   const CoreAtom *x)
{
    CoreAtom none = build_prim2(b, PRIM_EQ, count, core_i64(0));
    CoreBlock *then_b = block_of(b, dest, o->k), *outer = build_begin(b);
    return build_if(b, none, then_b, build_end(b, outer, apply(b, o, dest, x), o->k));
}

static void lower_hist(Lowering *l, CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    Operator o = operator_of(l, &s->soac.op);
    CoreAtom domain = s->soac.domain, size = s->soac.dests ? build_length(b, s->soac.dests[0]) : s->soac.size, bin;
    const CoreAtom *all = build_map(b, s->soac);
    CoreAtom bins = bins_in_range(b, all[0], domain, size);
    CoreAtom order = sorted_positions(b, bins), counts = bin_counts(b, bins, domain, size);
    CoreAtom starts = bin_starts(b, counts, size);
    CoreSoac soac = over(b, size, &bin);
    CoreBlock *outer = build_begin(b);
    CoreAtom start = build_index(b, starts, bin, CORE_NO_SITE), count = build_index(b, counts, bin, CORE_NO_SITE);
    const CoreAtom *values = bin_values(b, all + 1, o.k, order, start, count);
    const CoreAtom *dest = s->soac.dests ? elements_at(b, s->soac.dests, o.k, bin) : NULL;
    const CoreAtom *all_of_bin = reduce(b, &o, values, count, dest ? dest : s->soac.neutral);
    if (dest)
        all_of_bin = accumulated(b, &o, count, dest, all_of_bin);
    bind_results(b, s, close_map(b, outer, soac, all_of_bin, o.k));
}

/* ---- all of it ---- */

static void lower_block(void *ctx, CoreBlock *block);

static void lower_stmt(Lowering *l, CoreStmt *s)
{
    core_stmt_blocks(s, lower_block, l);
    l->b.span = s->span;
    const CoreLambda *op = core_stmt_operator(s);
    if (!op || !core_combines_in_rounds(l->fn, op)) {
        core_push(l->p, l->b.out, s);
        return;
    }
    l->changed = true;
    if (s->kind == CORE_REDUCE)
        lower_reduce(l, s);
    else if (s->kind == CORE_SCAN)
        lower_scan(l, s);
    else
        lower_hist(l, s);
    core_copy_map_forget(&l->copies, l->fn, s);
}

static void lower_block(void *ctx, CoreBlock *block)
{
    Lowering *l = ctx;
    CoreBlock *outer = l->b.out, old = core_take_stmts(block);
    l->b.out = block;
    for (uint32_t i = 0; i < old.stmts.n; i++)
        lower_stmt(l, old.stmts.at[i]);
    l->b.out = outer;
}

bool core_lower_operators(CoreProgram *p)
{
    bool changed = false;
    uint32_t n = p->fns.n; /* functions that scans become have nothing left to lower */
    for (uint32_t i = 0; i < n; i++) {
        Lowering l = {.p = p, .fn = p->fns.at[i], .b = {.p = p, .fn = p->fns.at[i]}, .scratch = arena_create()};
        lower_block(&l, l.fn->body);
        changed |= l.changed;
        arena_destroy(l.scratch);
    }
    return changed;
}
