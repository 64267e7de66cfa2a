#include "core/build.h"
#include "flat/flatten_internal.h"

#include <assert.h>

/* ---- which code reads memory ---- */

static bool block_has(const CoreBlock *b, bool (*test)(const CoreStmt *))
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (test(b->stmts.at[i]))
            return true;
    return false;
}

static bool reads_memory(const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_INDEX: return true;
    case CORE_IF: return block_has(s->if_.then_b, reads_memory) || block_has(s->if_.else_b, reads_memory);
    case CORE_LOOP:
        return (s->loop.cond && block_has(s->loop.cond, reads_memory)) || block_has(s->loop.body, reads_memory);
    default: return false;
    }
}

bool loops_over_memory(const CoreStmt *s)
{
    if (s->kind == CORE_LOOP)
        return reads_memory(s);
    if (s->kind == CORE_IF)
        return block_has(s->if_.then_b, loops_over_memory) || block_has(s->if_.else_b, loops_over_memory);
    return false;
}

/* ---- counting uses ---- */

typedef struct UseWalk {
    FlattenFn *f;
    int delta;
} UseWalk;

static void use_atom(void *ctx, CoreAtom *a)
{
    UseWalk *w = ctx;
    if (a->is_const)
        return;
    VarState *v = var_state(w->f, a->var);
    assert(w->delta > 0 || v->uses > 0);
    v->uses = (uint32_t)((int64_t)v->uses + w->delta);
}

void count_uses(FlattenFn *f, CoreBlock *b)
{
    UseWalk w = {f, 1};
    core_block_atoms(b, use_atom, &w);
}
void uses_add_direct(FlattenFn *f, CoreStmt *s)
{
    UseWalk w = {f, 1};
    core_stmt_atoms(s, use_atom, &w);
}
void uses_drop_direct(FlattenFn *f, CoreStmt *s)
{
    UseWalk w = {f, -1};
    core_stmt_atoms(s, use_atom, &w);
}
void uses_drop_deep(FlattenFn *f, CoreStmt *s)
{
    UseWalk w = {f, -1};
    core_stmt_all_atoms(s, use_atom, &w);
}
void uses_drop_lambda(FlattenFn *f, const CoreLambda *l)
{
    UseWalk w = {f, -1};
    core_block_atoms(l->body, use_atom, &w);
}
void uses_drop_results(FlattenFn *f, const CoreBlock *b)
{
    UseWalk w = {f, -1};
    for (uint32_t i = 0; i < b->nresults; i++)
        use_atom(&w, &b->results[i]);
}

/* ---- taking statements out of an open region ---- */

typedef VEC(CoreStmt *) Stmts;

static uint32_t new_stamp(FlattenFn *f) { return ++f->stamp; }

typedef struct StampWalk {
    FlattenFn *f;
    uint32_t stamp;
} StampWalk;

static void stamp_atom(void *ctx, CoreAtom *a)
{
    StampWalk *w = ctx;
    if (!a->is_const)
        var_state(w->f, a->var)->stamp = w->stamp;
}

static void stamp_reads(FlattenFn *f, CoreStmt *s, uint32_t stamp)
{
    StampWalk w = {f, stamp};
    core_stmt_all_atoms(s, stamp_atom, &w);
}

static bool binds_stamped(FlattenFn *f, const CoreStmt *s, uint32_t stamp)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (var_state(f, s->vars[i])->stamp == stamp)
            return true;
    return false;
}

/* Moves to `taken` the open statements that the variables marked `stamp` need, and all that can fail: a
 * check must not be passed by a later statement that relies on it. */
static void region_take(FlattenFn *f, BlockTask *task, uint32_t stamp, Stmts *taken)
{
    uint32_t n = task->open.n;
    bool *take = arena_array(f->arena, bool, n ? n : 1);
    for (uint32_t i = n; i-- > 0;) {
        CoreStmt *s = task->open.at[i];
        take[i] = binds_stamped(f, s, stamp) || core_stmt_fallible(f->core, f->scope, s);
        if (take[i])
            stamp_reads(f, s, stamp);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (take[i])
            vec_push(f->arena, taken, task->open.at[i]);
        else
            task->open.at[kept++] = task->open.at[i];
    }
    task->open.n = kept;
    for (uint32_t i = 0; i < taken->n; i++)
        uses_drop_deep(f, taken->at[i]);
}

/* ---- bodies ---- */

typedef struct InputWalk {
    FlattenFn *f;
    FlatBody *body;
    uint32_t bound;
    uint32_t added;
} InputWalk;

static void add_input(InputWalk *w, CoreVar v);

static void push_input(InputWalk *w, FlatInput in)
{
    packing_input(w->f, w->body->ctx, &in);
    vec_push(w->f->arena, &w->body->inputs, in);
}

/* An element of an array that lives above the nested context's parent: array[pos]. */
static void add_element_at(InputWalk *w, CoreVar v, Val val)
{
    FlattenFn *f = w->f;
    CoreVar pos = fresh_core_var(f, core_scalar(SC_I64), "pos");
    push_input(w, (FlatInput){IN_POS, pos, FLAT_NO_VAR, val.ctx});
    if (var_state(f, val.array)->stamp != w->added)
        add_input(w, val.array);
    CoreBuilder b = {.p = f->core, .fn = f->scope, .out = w->body->block};
    CoreStmt *load = build_stmt_into(&b, CORE_INDEX, 1, &v);
    load->index.array = build_atom(&b, val.array);
    load->index.index = build_atom(&b, pos);
    build_emit(&b, load);
}

static void add_input(InputWalk *w, CoreVar v)
{
    Val val = var_state(w->f, v)->val;
    var_state(w->f, v)->stamp = w->added;
    switch (val.kind) {
    case VAL_HOST: push_input(w, (FlatInput){IN_HOST, v, val.var, FLAT_NO_VAR}); return;
    case VAL_COL: push_input(w, (FlatInput){IN_COL, v, val.var, FLAT_NO_VAR}); return;
    case VAL_ELEM: push_input(w, (FlatInput){IN_ELEM, v, val.var, val.ctx}); return;
    case VAL_POSITION: push_input(w, (FlatInput){IN_POS, v, FLAT_NO_VAR, val.ctx}); return;
    case VAL_DELAYED_INDEX: add_element_at(w, v, val); return;
    case VAL_IN_REGION: assert(false && "flatten: an open value reached a body"); return;
    case VAL_NONE: assert(false && "flatten: a value is used before it is known"); return;
    }
}

static void input_atom(void *ctx, CoreAtom *a)
{
    InputWalk *w = ctx;
    if (a->is_const)
        return;
    uint32_t stamp = var_state(w->f, a->var)->stamp;
    if (stamp != w->bound && stamp != w->added)
        add_input(w, a->var);
}

static void stamp_binder(void *ctx, CoreVar *v)
{
    StampWalk *w = ctx;
    if (*v != CORE_NO_VAR)
        var_state(w->f, *v)->stamp = w->stamp;
}

static void stamp_bound(StampWalk *w, CoreStmt *s);
static void stamp_bound_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        stamp_bound(ctx, b->stmts.at[i]);
}
static void stamp_bound(StampWalk *w, CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        stamp_binder(w, &s->vars[i]);
    core_stmt_binders(s, stamp_binder, w);
    core_stmt_blocks(s, stamp_bound_block, w);
}

static FlatBody make_body(FlattenFn *f, FlatVar ctx, const Stmts *stmts, const CoreAtom *results, uint32_t n)
{
    FlatBody body = {ctx, {0}, core_new_block(f->core)};
    InputWalk w = {f, &body, new_stamp(f), 0};
    w.added = new_stamp(f);
    StampWalk bound = {f, w.bound};
    for (uint32_t i = 0; i < stmts->n; i++)
        stamp_bound(&bound, stmts->at[i]);
    for (uint32_t i = 0; i < stmts->n; i++)
        core_stmt_all_atoms(stmts->at[i], input_atom, &w);
    body.block->results = arena_array(f->arena, CoreAtom, n ? n : 1);
    body.block->nresults = n;
    for (uint32_t i = 0; i < n; i++) {
        body.block->results[i] = results[i];
        input_atom(&w, &body.block->results[i]);
    }
    for (uint32_t i = 0; i < stmts->n; i++) /* behind the loads that add_input has put there */
        core_push(f->core, body.block, stmts->at[i]);
    return body;
}

/* ---- places ---- */

static uint32_t block_weight(const FlattenFn *f, const CoreBlock *b);

/* What a statement costs, in additions; loops and what is read count most. */
static uint32_t stmt_weight(const FlattenFn *f, const CoreStmt *s)
{
    enum { READ = 4, LOOP = 64 };
    switch (s->kind) {
    case CORE_PRIM: return core_prim_cost(s->prim.op, atom_type(f, s->prim.args[0]).scalar);
    case CORE_INDEX: return READ;
    case CORE_IF: return block_weight(f, s->if_.then_b) + block_weight(f, s->if_.else_b);
    case CORE_LOOP: return LOOP + block_weight(f, s->loop.body);
    case CORE_LANE: return LOOP + block_weight(f, s->lane.block);
    default: return 0;
    }
}

static uint32_t block_weight(const FlattenFn *f, const CoreBlock *b)
{
    uint32_t weight = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        weight += stmt_weight(f, b->stmts.at[i]);
    return weight;
}

/* A kernel is named after the statement that costs most, the last of several. */
static Span place_of(const FlattenFn *f, const Stmts *stmts, Span span)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < stmts->n; i++) {
        const uint32_t weight = stmt_weight(f, stmts->at[i]);
        if (i == 0 || weight >= most) {
            most = weight;
            span = stmts->at[i]->span;
        }
    }
    return span;
}

typedef VEC(CoreAtom) Atoms;

/* Cheap scalars of the instances that were kept are computed where these are chosen. */
static bool packed_values(FlattenFn *f, const BlockTask *task, const Stmts *taken, const Atoms *results, FlatVar *outs)
{
    FlatVar source = task->ctx == FLAT_ROOT ? FLAT_NO_VAR : packing_source(f, task->ctx);
    if (source == FLAT_NO_VAR)
        return false;
    uint32_t cost = 0;
    for (uint32_t i = 0; i < taken->n; i++)
        if (!packing_may_compute(f, taken->at[i], &cost))
            return false;
    for (uint32_t i = 0; i < results->n; i++)
        if (atom_type(f, results->at[i]).rank > 0) /* packing_value has not taken it */
            return false;
    FlatBody body = make_body(f, source, taken, results->at, results->n);
    return packing_store(f, task->ctx, &body, outs);
}

/* Emits the taken statements; what they bind and others still use is stored, and so are the `extra` atoms, as
 * variables extra_out[]. */
static void region_emit(FlattenFn *f, BlockTask *task, const Stmts *taken, const CoreAtom *extra, uint32_t nextra,
                        FlatVar *extra_out, Span span)
{
    Atoms results = {0};
    for (uint32_t i = 0; i < taken->n; i++)
        for (uint32_t j = 0; j < taken->at[i]->nvars; j++) {
            CoreVar v = taken->at[i]->vars[j];
            if (var_state(f, v)->uses > 0)
                vec_push(f->arena, &results, core_var_atom(v, core_var_type(f->scope, v)));
        }
    uint32_t live = results.n;
    for (uint32_t i = 0; i < nextra; i++)
        vec_push(f->arena, &results, extra[i]);
    if (!results.n && !core_block_fallible(f->core, f->scope, &(CoreBlock){.stmts = {.at = taken->at, .n = taken->n}}))
        return;
    FlatVar *outs = arena_array(f->arena, FlatVar, results.n + 1);
    if (!packed_values(f, task, taken, &results, outs)) {
        FlatBody body = make_body(f, task->ctx, taken, results.at, results.n);
        FlatKind kind = task->ctx == FLAT_ROOT ? FLAT_S_HOST : FLAT_S_KERNEL;
        FlatStmt *s = flat_emit(f, kind, place_of(f, taken, span), results.n);
        s->ctx = task->ctx;
        s->body = body;
        for (uint32_t i = 0; i < results.n; i++) {
            const char *hint = i < live ? f->scope->vars.at[results.at[i].var].hint : NULL;
            s->outs[i] = outs[i] = new_value(f, task->ctx, atom_type(f, results.at[i]), hint);
        }
    }
    for (uint32_t i = 0; i < results.n; i++) {
        if (i < live)
            bind_value(f, results.at[i].var, outs[i]);
        else
            extra_out[i - live] = outs[i];
    }
}

typedef struct SkipWalk {
    StampWalk walk;
    const CoreAtom *skip;
} SkipWalk;

static void stamp_atom_unless(void *ctx, CoreAtom *a)
{
    SkipWalk *w = ctx;
    if (a != w->skip)
        stamp_atom(&w->walk, a);
}

/* The length of a SOAC over sequences is mostly known from their views: it need not be stored for it. */
static void stamp_needed(FlattenFn *f, CoreStmt *s, uint32_t stamp)
{
    const CoreSoac *soac = core_stmt_soac(s);
    bool skip = soac && soac->ninputs && !soac->domain.is_const;
    StampWalk w = {f, stamp};
    SkipWalk sw = {w, skip ? &soac->domain : NULL}; /* its blocks may use the length too */
    core_stmt_all_atoms(s, stamp_atom_unless, &sw);
}

/* The length of what the statement changes where it is, if nobody else has it. */
static void stamp_lengths(FlattenFn *f, const BlockTask *task, const CoreStmt *stmt, uint32_t stamp)
{
    const CoreAtom changed = core_stmt_changes(stmt);
    StampWalk w = {f, stamp};
    for (uint32_t i = 0; !changed.is_const && task->ctx == FLAT_ROOT && i < task->open.n; i++) {
        const CoreStmt *s = task->open.at[i];
        CoreAtom length = core_var_atom(s->vars[0], core_scalar(SC_I64));
        if (s->kind == CORE_LENGTH && core_atom_equal(s->length.array, changed))
            stamp_atom(&w, &length);
    }
}

void region_flush_for(FlattenFn *f, BlockTask *task, CoreStmt *stmt)
{
    if (!task->open.n)
        return;
    uint32_t stamp = new_stamp(f);
    stamp_needed(f, stmt, stamp);
    stamp_lengths(f, task, stmt, stamp);
    Stmts taken = {0};
    region_take(f, task, stamp, &taken);
    if (taken.n)
        region_emit(f, task, &taken, NULL, 0, NULL, stmt->span);
}

/* Is the value a variable of the task's own context already? */
static bool stored_here(FlattenFn *f, BlockTask *task, CoreAtom a, FlatVar *out)
{
    if (a.is_const)
        return false;
    Val v = var_state(f, a.var)->val;
    *out = v.var;
    return (v.kind == VAL_HOST && task->ctx == FLAT_ROOT) || (v.kind == VAL_COL && flat_ctx(f->fn, v.var) == task->ctx);
}

bool selected_from(const FlattenFn *f, FlatVar ctx, FlatVar outer)
{
    while (ctx != outer && ctx != FLAT_ROOT && ctx != FLAT_NO_VAR && f->fn->vars.at[ctx].ctx_kind == CTX_SELECTED)
        ctx = ctx_parent(f, ctx);
    return ctx == outer;
}

/* Arrays of an enclosing context met in one of its branches: the selection of their views is a move of its own, so that
 * they stay contiguous where the branch is everybody's. */
static bool select_array(FlattenFn *f, BlockTask *task, CoreAtom a, FlatVar *out, Span span)
{
    if (a.is_const || task->ctx == FLAT_ROOT || atom_type(f, a).rank == 0)
        return false;
    Val v = var_state(f, a.var)->val;
    const bool is_column = v.kind == VAL_COL || (v.kind == VAL_ELEM && v.viewed);
    if (!is_column || v.ctx == task->ctx || !selected_from(f, task->ctx, v.ctx))
        return false;
    FlatStmt *s = flat_emit(f, FLAT_S_SELECT, span, 1);
    s->ctx = task->ctx;
    s->arrays.arrays = arena_new(f->arena, FlatVar);
    s->arrays.arrays[0] = v.kind == VAL_COL ? v.var : v.column;
    s->arrays.n = 1;
    *out = s->outs[0] = new_col(f, task->ctx, atom_type(f, a), f->scope->vars.at[a.var].hint);
    return true;
}

void region_store(FlattenFn *f, BlockTask *task, const CoreAtom *atoms, uint32_t n, FlatVar *out, Span span)
{
    uint32_t stamp = new_stamp(f);
    StampWalk w = {f, stamp};
    for (uint32_t i = 0; i < n; i++) {
        CoreAtom a = atoms[i];
        stamp_atom(&w, &a);
        /* an element of the task's own nested context: mostly an alias */
        if (!a.is_const && var_state(f, a.var)->val.kind == VAL_ELEM && var_state(f, a.var)->val.ctx == task->ctx)
            materialise(f, a.var, span);
    }
    Stmts taken = {0};
    region_take(f, task, stamp, &taken);
    /* What neither is stored here nor will be by the region is stored as an extra result. */
    enum { SLOT_DONE = UINT32_MAX - 1 };
    Atoms extra = {0};
    uint32_t *slot = arena_array(f->arena, uint32_t, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        bool open = !atoms[i].is_const && var_state(f, atoms[i].var)->val.kind == VAL_IN_REGION;
        slot[i] = UINT32_MAX;
        if (!open && !stored_here(f, task, atoms[i], &out[i]) &&
            (select_array(f, task, atoms[i], &out[i], span) || packing_value(f, task->ctx, atoms[i], &out[i]))) {
            slot[i] = SLOT_DONE;
        } else if (!open && !stored_here(f, task, atoms[i], &out[i])) {
            slot[i] = extra.n;
            vec_push(f->arena, &extra, atoms[i]);
        }
    }
    FlatVar *extra_out = arena_array(f->arena, FlatVar, extra.n ? extra.n : 1);
    if (taken.n || extra.n)
        region_emit(f, task, &taken, extra.at, extra.n, extra_out, span);
    for (uint32_t i = 0; i < n; i++) {
        if (slot[i] == SLOT_DONE)
            continue;
        if (slot[i] != UINT32_MAX)
            out[i] = extra_out[slot[i]];
        else if (!stored_here(f, task, atoms[i], &out[i]))
            assert(false && "flatten: a result was not stored");
    }
}

FlatVar region_store1(FlattenFn *f, BlockTask *task, CoreAtom atom, Span span)
{
    FlatVar out;
    region_store(f, task, &atom, 1, &out, span);
    return out;
}

FlatBody region_fuse_into(FlattenFn *f, BlockTask *task, const CoreAtom *atoms, uint32_t n)
{
    uint32_t stamp = new_stamp(f);
    StampWalk w = {f, stamp};
    for (uint32_t i = 0; i < n; i++) {
        CoreAtom a = atoms[i];
        stamp_atom(&w, &a);
    }
    Stmts taken = {0};
    region_take(f, task, stamp, &taken);
    return make_body(f, task->ctx, &taken, atoms, n);
}

bool region_fusible(FlattenFn *f, BlockTask *task, const CoreAtom *atoms, uint32_t n)
{
    /* Take nothing: count what would be left after the atoms' own uses are gone. Only direct uses by
     * the statement itself are allowed, so it is enough that every open variable that it reads, and that
     * these need in turn, is used nowhere else; being exact is not worth the trouble: one use each. */
    uint32_t stamp = new_stamp(f);
    StampWalk w = {f, stamp};
    for (uint32_t i = 0; i < n; i++) {
        CoreAtom a = atoms[i];
        if (!a.is_const && var_state(f, a.var)->val.kind == VAL_IN_REGION && var_state(f, a.var)->uses > 1)
            return false;
        stamp_atom(&w, &a);
    }
    for (uint32_t i = task->open.n; i-- > 0;) {
        CoreStmt *s = task->open.at[i];
        bool needed = binds_stamped(f, s, stamp);
        if (!needed && !core_stmt_fallible(f->core, f->scope, s))
            continue;
        for (uint32_t j = 0; j < s->nvars; j++) {
            const VarState *v = var_state(f, s->vars[j]);
            if (v->uses > (v->stamp == stamp ? 1 : 0))
                return false;
        }
        stamp_reads(f, s, stamp);
    }
    return true;
}

FlatVar element_column(FlattenFn *f, CoreVar v, Span span)
{
    Val val = var_state(f, v)->val;
    if (val.viewed)
        return val.column;
    FlatStmt *s = flat_emit(f, FLAT_S_ELEMS, span, 1);
    s->ctx = val.ctx;
    s->arrays.arrays = arena_new(f->arena, FlatVar);
    s->arrays.arrays[0] = val.var;
    s->arrays.n = 1;
    val.column = s->outs[0] = new_col(f, val.ctx, core_var_type(f->scope, v), f->scope->vars.at[v].hint);
    val.viewed = true;
    if (f->fn->vars.at[val.var].kind == FLAT_HOST)
        set_val(f, v, val);
    else
        bind_value(f, v, val.column);
    return val.column;
}

void materialise(FlattenFn *f, CoreVar v, Span span)
{
    Val val = var_state(f, v)->val;
    CoreType type = core_var_type(f->scope, v);
    if (val.kind == VAL_HOST || val.kind == VAL_COL)
        return;
    if (val.kind == VAL_ELEM) {
        bind_value(f, v, element_column(f, v, span));
        return;
    }
    assert(val.kind == VAL_DELAYED_INDEX || val.kind == VAL_POSITION);
    Stmts none = {0};
    CoreAtom a = core_var_atom(v, type);
    FlatStmt *s = flat_emit(f, FLAT_S_KERNEL, span, 1);
    s->ctx = val.ctx;
    s->body = make_body(f, val.ctx, &none, &a, 1);
    s->outs[0] = new_col(f, val.ctx, type, f->scope->vars.at[v].hint);
    bind_value(f, v, s->outs[0]);
}

/* ---- operators ---- */

typedef struct MaterialiseWalk {
    FlattenFn *f;
    uint32_t bound;
    Span span;
} MaterialiseWalk;
static void materialise_atom(void *ctx, CoreAtom *a)
{
    MaterialiseWalk *w = ctx;
    if (!a->is_const && var_state(w->f, a->var)->stamp != w->bound)
        materialise(w->f, a->var, w->span);
}

FlatOp make_op(FlattenFn *f, const CoreLambda *op, const CoreAtom *neutral, uint32_t k, bool commutative, Span span)
{
    /* Rule: an operator sees the instance its segment belongs to; what it uses is stored there. */
    MaterialiseWalk fw = {f, new_stamp(f), span};
    StampWalk bound = {f, fw.bound};
    for (uint32_t i = 0; i < op->nparams; i++)
        stamp_binder(&bound, &op->params[i]);
    stamp_bound_block(&bound, op->body);
    core_block_atoms(op->body, materialise_atom, &fw);
    FlatOp result = {.op = *op, .k = k, .commutative = commutative || core_op_commutes(f->scope, op)};
    FlatBody b = {FLAT_ROOT, {0}, core_new_block(f->core)};
    InputWalk w = {f, &b, fw.bound, new_stamp(f)};
    /* forcing has not touched the marks of what the operator binds */
    core_block_atoms(op->body, input_atom, &w);
    result.inputs = b.inputs;
    FlatBody nb = {FLAT_ROOT, {0}, core_new_block(f->core)};
    InputWalk nw = {f, &nb, new_stamp(f), new_stamp(f)};
    result.neutral = neutral ? arena_array(f->arena, CoreAtom, k) : NULL;
    for (uint32_t i = 0; neutral && i < k; i++) {
        result.neutral[i] = neutral[i];
        if (!neutral[i].is_const)
            materialise(f, neutral[i].var, span);
        input_atom(&nw, &result.neutral[i]);
    }
    result.neutral_inputs = nb.inputs;
    return result;
}
