#include "core/build.h"
#include "core/callgraph.h"
#include "flat/flatten_internal.h"

#include <assert.h>

/* One rule per construct; the numbers are sections of docs/flattening.md. Each begins with region_flush_for(): what the
 * statement and its blocks use is then known as HOST, column or delayed element. */

/* Binds a statement's variables to new values in the task's context, as outputs of `out`. */
static void bind_outs(FlattenFn *f, BlockTask *task, CoreStmt *s, FlatStmt *out)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreVar v = s->vars[i];
        out->outs[i] = new_value(f, task->ctx, core_var_type(f->scope, v), f->scope->vars.at[v].hint);
        bind_value(f, v, out->outs[i]);
    }
}

static bool host_atom(FlattenFn *f, CoreAtom a) { return a.is_const || var_state(f, a.var)->val.kind == VAL_HOST; }

/* ---- nested contexts (2): one per column of lengths, shared by all loops over it ---- */

/* Views of an outer context, met in one of its branches or active sets: two words an instance, once. */
static FlatVar selected_array(FlattenFn *f, BlockTask *task, CoreVar v, Span span)
{
    for (uint32_t i = 0; i < f->selected.n; i++)
        if (f->selected.at[i].ctx == task->ctx && f->selected.at[i].array == v)
            return f->selected.at[i].col;
    FlatVar col = region_store1(f, task, core_var_atom(v, core_var_type(f->scope, v)), span);
    vec_push(f->arena, &f->selected, ((Selected){task->ctx, v, col}));
    return col;
}

/* The array as a variable of the task's context, if it is there already, is an element of it, or comes from a
 * context of which this one is a selection; else FLAT_NO_VAR. */
static FlatVar array_here(FlattenFn *f, BlockTask *task, CoreVar v, Span span)
{
    Val val = var_state(f, v)->val;
    if (val.kind == VAL_ELEM && val.ctx == task->ctx)
        return element_column(f, v, span);
    if (val.kind == VAL_HOST)
        return task->ctx == FLAT_ROOT ? val.var : FLAT_NO_VAR;
    if (val.kind == VAL_COL && val.ctx == task->ctx)
        return val.var;
    if ((val.kind == VAL_COL || val.kind == VAL_ELEM) && selected_from(f, task->ctx, val.ctx))
        return selected_array(f, task, v, span);
    return FLAT_NO_VAR;
}

static FlatVar find_memo(const FlattenFn *f, FlatVar parent, FlatVar source, CoreVar domain)
{
    for (uint32_t i = 0; i < f->memos.n; i++) {
        const Memo *m = &f->memos.at[i];
        if (m->parent == parent &&
            ((source != FLAT_NO_VAR && m->source == source) || (domain != CORE_NO_VAR && m->domain == domain)))
            return m->ctx;
    }
    return FLAT_NO_VAR;
}

/* A number for each instance, or of the host where it knows it: the same for all. */
static FlatVar number_here(FlattenFn *f, BlockTask *task, CoreAtom number, Span span)
{
    const bool same = task->ctx != FLAT_ROOT && host_atom(f, number);
    return region_store1(f, same ? &f->host : task, number, span);
}

/* What the lengths are taken from. A length that the host knows is that of all segments: a regular dimension, with a
 * stride instead of offsets. */
static FlatVar nested_source(FlattenFn *f, BlockTask *task, const CoreSoac *soac, Span span)
{
    const bool same = task->ctx != FLAT_ROOT && host_atom(f, soac->domain);
    for (uint32_t i = 0; i < soac->ninputs && !same; i++) {
        FlatVar a = array_here(f, task, soac->inputs[i].var, span);
        if (a != FLAT_NO_VAR)
            return a;
    }
    return number_here(f, task, soac->domain, span);
}

static FlatVar nested_ctx(FlattenFn *f, BlockTask *task, const CoreSoac *soac, Span span)
{
    CoreVar domain = soac->domain.is_const ? CORE_NO_VAR : soac->domain.var;
    FlatVar ctx = find_memo(f, task->ctx, FLAT_NO_VAR, domain);
    if (ctx != FLAT_NO_VAR)
        return ctx;
    FlatVar source = nested_source(f, task, soac, span);
    ctx = find_memo(f, task->ctx, source, CORE_NO_VAR);
    if (ctx == FLAT_NO_VAR) {
        FlatStmt *s = flat_emit(f, FLAT_S_NESTED, span, 1);
        s->ctx = task->ctx;
        s->nested.source = source;
        ctx = s->outs[0] = new_ctx(f, CTX_NESTED, task->ctx);
    }
    vec_push(f->arena, &f->memos, ((Memo){task->ctx, source, domain, ctx}));
    return ctx;
}

/* Makes the context of a SOAC and binds its elements: delayed loads. */
static FlatVar enter_soac(FlattenFn *f, BlockTask *task, const CoreSoac *soac, Span span)
{
    FlatVar ctx = nested_ctx(f, task, soac, span);
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        FlatVar a = array_here(f, task, soac->inputs[i].var, span);
        Val val = a != FLAT_NO_VAR
                      ? (Val){.kind = VAL_ELEM, .var = a, .ctx = ctx}
                      : (Val){.kind = VAL_DELAYED_INDEX, .array = soac->inputs[i].var, .ctx = ctx, .var = FLAT_NO_VAR};
        set_val(f, soac->elements[i], val);
    }
    if (soac->index != CORE_NO_VAR)
        set_val(f, soac->index, (Val){.kind = VAL_POSITION, .ctx = ctx, .var = FLAT_NO_VAR});
    return ctx;
}

/* ---- apply-to-each ---- */

static void pack(FlattenFn *f, Progress *p, BlockTask *guard, Span span)
{
    FlatBody body = region_fuse_into(f, guard, guard->block->results, 1);
    uses_drop_results(f, guard->block);
    p->ctx[1] = packing_add(f, body, span);
}

/* Rule: {e : p in xs | c} -- nested context, guard, selected context, body, and views of the results. */
static bool flatten_map(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    Progress *p = progress_of(f, task, s);
    if (p->stage == 0) {
        region_flush_for(f, task, s);
        p->ctx[0] = p->ctx[1] = enter_soac(f, task, &s->soac, s->span);
        if (s->soac.guard)
            p->child[0] = task_new(f, p->ctx[0], s->soac.guard);
        p->stage = 1;
    }
    if (p->stage == 1) {
        if (p->child[0]) {
            if (!task_run(f, p->child[0]))
                return false;
            pack(f, p, p->child[0], s->span);
        }
        p->child[1] = task_new(f, p->ctx[1], s->soac.body);
        p->stage = 2;
    }
    if (!task_run(f, p->child[1]))
        return false;
    FlatVar *cols = task_results(f, p->child[1], s->span);
    FlatStmt *views = flat_emit(f, FLAT_S_VIEWS, s->span, s->nvars);
    views->ctx = p->ctx[1];
    views->arrays.arrays = cols;
    views->arrays.n = s->nvars;
    bind_outs(f, task, s, views);
    uses_drop_direct(f, s);
    return true;
}

/* ---- segmented operations (7) ---- */

/* Runs the body of a SOAC other than map in its context; NULL while it waits. */
static BlockTask *run_body(FlattenFn *f, BlockTask *task, CoreStmt *s, const CoreSoac *soac)
{
    Progress *p = progress_of(f, task, s);
    if (p->stage == 0) {
        region_flush_for(f, task, s);
        p->ctx[0] = enter_soac(f, task, soac, s->span);
        p->child[0] = task_new(f, p->ctx[0], soac->body);
        p->stage = 1;
    }
    return task_run(f, p->child[0]) ? p->child[0] : NULL;
}

static FlatBody fuse_results(FlattenFn *f, BlockTask *body)
{
    FlatBody b = region_fuse_into(f, body, body->block->results, body->block->nresults);
    uses_drop_results(f, body->block);
    return b;
}

static bool flatten_reduce(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    BlockTask *body = run_body(f, task, s, &s->soac);
    if (!body)
        return false;
    FlatOp op = make_op(f, &s->soac.op, s->soac.neutral, s->nvars, s->soac.commutative, s->span);
    FlatBody b = fuse_results(f, body);
    FlatStmt *r = flat_emit(f, s->kind == CORE_REDUCE ? FLAT_S_REDUCE : FLAT_S_SCAN, s->span, s->nvars);
    r->ctx = body->ctx;
    r->body = b;
    r->reduce.op = op;
    r->reduce.exclusive = s->soac.exclusive;
    r->reduce.stays = s->soac.stays;
    r->reduce.size = FLAT_NO_VAR;
    if (s->kind == CORE_REDUCE) {
        bind_outs(f, task, s, r);
    } else { /* prefixes are columns of the nested context; their views are the result */
        FlatStmt *views = flat_emit(f, FLAT_S_VIEWS, s->span, s->nvars);
        views->ctx = body->ctx;
        views->arrays.n = s->nvars;
        views->arrays.arrays = r->outs;
        for (uint32_t i = 0; i < s->nvars; i++)
            r->outs[i] = new_col(f, body->ctx, core_element(core_var_type(f->scope, s->vars[i])), NULL);
        bind_outs(f, task, s, views);
    }
    uses_drop_lambda(f, &s->soac.op);
    uses_drop_direct(f, s);
    return true;
}

static bool flatten_scatter(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    BlockTask *body = run_body(f, task, s, &s->soac);
    if (!body)
        return false;
    FlatVar *dests = arena_array(f->arena, FlatVar, s->nvars);
    region_store(f, task, s->soac.dests, s->nvars, dests, s->span);
    bool combines = core_stmt_operator(s);
    FlatOp op = combines ? make_op(f, &s->soac.op, NULL, s->nvars, true, s->span) : (FlatOp){0};
    FlatBody b = fuse_results(f, body);
    FlatStmt *r = flat_emit(f, FLAT_S_SCATTER, s->span, s->nvars);
    r->ctx = body->ctx;
    r->body = b;
    r->reduce.dests = dests;
    r->reduce.ndests = s->nvars;
    r->reduce.op = op;
    bind_outs(f, task, s, r);
    if (combines)
        uses_drop_lambda(f, &s->soac.op);
    uses_drop_direct(f, s);
    return true;
}

static bool flatten_hist(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    BlockTask *body = run_body(f, task, s, &s->soac);
    if (!body)
        return false;
    FlatVar size = number_here(f, task, s->soac.size, s->span);
    FlatOp op = make_op(f, &s->soac.op, s->soac.neutral, s->nvars, true, s->span);
    FlatBody b = fuse_results(f, body);
    FlatStmt *r = flat_emit(f, FLAT_S_HIST, s->span, s->nvars);
    r->ctx = body->ctx;
    r->body = b;
    r->reduce.op = op;
    r->reduce.size = size;
    bind_outs(f, task, s, r);
    uses_drop_lambda(f, &s->soac.op);
    uses_drop_direct(f, s);
    return true;
}

/* ---- operations on whole arrays ---- */

static bool flatten_flatten(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    FlatVar *array = arena_new(f->arena, FlatVar);
    region_store(f, task, &s->length.array, 1, array, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_FLATTEN, s->span, 1);
    r->ctx = task->ctx;
    r->arrays.arrays = array;
    r->arrays.n = 1;
    bind_outs(f, task, s, r);
    uses_drop_direct(f, s);
    return true;
}

/* How many of the ends are read, where it is the same for all instances. */
static uint32_t sort_ends(FlattenFn *f, BlockTask *task, const CoreStmt *s, FlatVar *ends)
{
    for (uint32_t i = 0; i < s->argsort.nends; i++)
        if (task->ctx != FLAT_ROOT && !host_atom(f, s->argsort.ends[i]))
            return 0;
    for (uint32_t i = 0; i < s->argsort.nends; i++)
        ends[i] = number_here(f, task, s->argsort.ends[i], s->span);
    return s->argsort.nends;
}

static bool flatten_argsort(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    const uint32_t nkeys = s->argsort.nkeys, ncolumns = s->argsort.ncolumns;
    FlatVar *arrays = arena_array(f->arena, FlatVar, nkeys + ncolumns);
    region_store(f, task, s->argsort.keys, nkeys, arrays, s->span);
    region_store(f, task, s->argsort.columns, ncolumns, arrays + nkeys, s->span);
    FlatVar *ends = arena_array(f->arena, FlatVar, 2);
    const uint32_t nends = sort_ends(f, task, s, ends);
    FlatStmt *r = flat_emit(f, FLAT_S_ARGSORT, s->span, s->nvars);
    r->arrays.ends = ends;
    r->arrays.nends = nends;
    r->ctx = task->ctx;
    r->arrays.arrays = arrays;
    r->arrays.n = nkeys + ncolumns;
    r->arrays.nkeys = nkeys;
    bind_outs(f, task, s, r);
    uses_drop_direct(f, s);
    return true;
}

/* A statement that the flattener adds to the open region. */
typedef struct Opening {
    FlattenFn *f;
    BlockTask *task;
} Opening;

static void open_built(void *ctx, CoreBlock *out, CoreStmt *s)
{
    const Opening *o = ctx;
    (void)out;
    uses_add_direct(o->f, s);
    task_open(o->f, o->task, s);
}

/* An update's index is checked in scalar code before it; the update itself ignores what is out of range. */
static void check_update(FlattenFn *f, BlockTask *task, const CoreStmt *s)
{
    Opening o = {f, task};
    CoreBuilder b = {.p = f->core, .fn = f->scope, .span = s->span, .emit = open_built, .ctx = &o};
    build_check_bounds(&b, s->site, s->update.index, build_length(&b, s->update.array));
}

static bool flatten_update(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    if (s->site != CORE_NO_SITE)
        check_update(f, task, s);
    CoreAtom atoms[3] = {s->update.array, s->update.index, s->update.value};
    FlatVar in[3];
    region_store(f, task, atoms, 3, in, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_UPDATE, s->span, 1);
    r->ctx = task->ctx;
    r->update.array = in[0];
    r->update.index = in[1];
    r->update.value = in[2];
    r->update.masked = s->site == CORE_NO_SITE;
    bind_outs(f, task, s, r);
    uses_drop_direct(f, s);
    return true;
}

/* Rule: [e1 … ek] -- one block of N·k; the elements' code goes into the same kernel if it serves nothing else. */
static bool flatten_array(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    if (!region_fusible(f, task, s->array.items, s->array.n))
        region_flush_for(f, task, s);
    FlatBody b = region_fuse_into(f, task, s->array.items, s->array.n);
    FlatStmt *r = flat_emit(f, FLAT_S_ARRAY, s->span, 1);
    r->ctx = task->ctx;
    r->body = b;
    bind_outs(f, task, s, r);
    uses_drop_direct(f, s);
    return true;
}

/* ---- nested host blocks ---- */

typedef struct Nest {
    BlockMark mark;
    PendingList pending;
} Nest;

static FlatBlock *nest_begin(FlattenFn *f, Nest *n)
{
    n->pending = f->pending; /* calls outside are not joined with those inside */
    f->pending = (PendingList){0};
    return block_begin(f, &n->mark);
}

static void nest_end(FlattenFn *f, Nest *n)
{
    assert(f->pending.n == 0);
    block_end(f, &n->mark);
    f->pending = n->pending;
}

/* The block's results as columns; those that are `uniform` stay on the host. */
static FlatVar *mixed_results(FlattenFn *f, BlockTask *task, const bool *uniform, Span span)
{
    const CoreBlock *b = task->block;
    CoreAtom *columns = arena_array(f->arena, CoreAtom, b->nresults + 1);
    FlatVar *stored = arena_array(f->arena, FlatVar, b->nresults + 1);
    FlatVar *results = arena_array(f->arena, FlatVar, b->nresults + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->nresults; i++)
        if (!uniform[i])
            columns[n++] = b->results[i];
    region_store(f, task, columns, n, stored, span);
    n = 0;
    for (uint32_t i = 0; i < b->nresults; i++) {
        if (uniform[i])
            region_store(f, &f->host, &b->results[i], 1, &results[i], span);
        else
            results[i] = stored[n++];
    }
    uses_drop_results(f, b);
    return results;
}

/* Flattens `b` in `ctx` as a block of its own. uniform: results that stay on the host, or NULL. */
static FlatBlock *nested_block(FlattenFn *f, FlatVar ctx, CoreBlock *b, const bool *uniform, Span span)
{
    Nest n;
    FlatBlock *block = nest_begin(f, &n);
    BlockTask *task = task_new(f, ctx, b);
    schedule_run(f, task);
    block->results = uniform ? mixed_results(f, task, uniform, span) : task_results(f, task, span);
    block->nresults = b->nresults;
    nest_end(f, &n);
    return block;
}

/* ---- branches (4) ---- */

static void find_recursive_call(void *ctx, CoreBlock *b)
{
    bool *found = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !*found; i++) {
        *found = b->stmts.at[i]->kind == CORE_CALL && b->stmts.at[i]->call.fn->recursive;
        if (!*found)
            core_stmt_blocks(b->stmts.at[i], find_recursive_call, found);
    }
}

static bool calls_recursive(CoreBlock *b)
{
    bool found = false;
    find_recursive_call(&found, b);
    return found;
}

/* Is the branch's result one scalar for all instances for certain? */
static bool uniform_result(FlattenFn *f, const CoreBlock *b, CoreAtom a)
{
    for (uint32_t i = 0; i < b->stmts.n && !a.is_const; i++)
        for (uint32_t k = 0; k < b->stmts.at[i]->nvars; k++)
            if (b->stmts.at[i]->vars[k] == a.var)
                return b->stmts.at[i]->kind == CORE_MANY || b->stmts.at[i]->kind == CORE_FITTED;
    return a.is_const || (host_atom(f, a) && core_atom_type(f->scope, a).rank == 0);
}

static bool flatten_if_host(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    region_flush_for(f, task, s);
    FlatVar cond;
    region_store(f, &f->host, &s->if_.cond, 1, &cond, s->span);
    bool *uniform = arena_array(f->arena, bool, s->nvars + 1);
    for (uint32_t i = 0; i < s->nvars; i++)
        uniform[i] = uniform_result(f, s->if_.then_b, s->if_.then_b->results[i]) &&
                     uniform_result(f, s->if_.else_b, s->if_.else_b->results[i]);
    FlatBlock *then_b = nested_block(f, task->ctx, s->if_.then_b, uniform, s->span);
    FlatBlock *else_b = nested_block(f, task->ctx, s->if_.else_b, uniform, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_IF, s->span, s->nvars);
    r->if_.cond = cond;
    r->if_.then_b = then_b;
    r->if_.else_b = else_b;
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreType t = core_var_type(f->scope, s->vars[i]);
        r->outs[i] = uniform[i] ? new_host(f, t, f->scope->vars.at[s->vars[i]].hint)
                                : new_value(f, task->ctx, t, f->scope->vars.at[s->vars[i]].hint);
        bind_value(f, s->vars[i], r->outs[i]);
    }
    uses_drop_direct(f, s);
    return true;
}

static void split(FlattenFn *f, BlockTask *task, CoreStmt *s, Progress *p)
{
    FlatVar cond = region_store1(f, task, s->if_.cond, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_SPLIT, s->span, 2);
    r->ctx = task->ctx;
    r->split.cond = cond;
    CoreBlock *blocks[2] = {s->if_.then_b, s->if_.else_b};
    for (int i = 0; i < 2; i++) {
        p->ctx[i] = r->outs[i] = new_ctx(f, CTX_SELECTED, task->ctx);
        p->child[i] = task_new(f, p->ctx[i], blocks[i]);
    }
}

/* Rule: if c then a else b -- each branch on its own instances; the results' columns are merged, views and all. */
static bool flatten_if_lifted(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    Progress *p = progress_of(f, task, s);
    if (p->stage == 0) {
        region_flush_for(f, task, s);
        split(f, task, s, p);
        p->stage = 1;
    }
    bool done0 = task_run(f, p->child[0]), done1 = task_run(f, p->child[1]);
    if (!done0 || !done1)
        return false;
    FlatPart *parts = arena_array(f->arena, FlatPart, 2);
    for (int i = 0; i < 2; i++)
        parts[i] = (FlatPart){p->ctx[i], task_results(f, p->child[i], s->span)};
    FlatStmt *m = flat_emit(f, FLAT_S_MERGE, s->span, s->nvars);
    m->ctx = task->ctx;
    m->merge.parts = parts;
    m->merge.nparts = 2;
    bind_outs(f, task, s, m);
    uses_drop_direct(f, s);
    return true;
}

static bool flatten_if(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    bool uniform = host_atom(f, s->if_.cond);
    bool joins = f->scope->recursive && (calls_recursive(s->if_.then_b) || calls_recursive(s->if_.else_b));
    if (task->ctx == FLAT_ROOT || (uniform && !joins)) /* calls of a recursive function are to be joined with others */
        return flatten_if_host(f, task, s);
    return flatten_if_lifted(f, task, s);
}

/* Asked before two versions of the same code (12). */
static bool flatten_many(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    const CoreAtom cells = s->many.cells, length = s->many.length;
    const bool shares = host_atom(f, cells) && host_atom(f, length) && !(length.is_const && length.bits == 0);
    const FlatVar n = shares ? region_store1(f, &f->host, cells, s->span) : FLAT_NO_VAR;
    const FlatVar m = shares ? region_store1(f, &f->host, length, s->span) : FLAT_NO_VAR;
    FlatStmt *r = flat_emit(f, FLAT_S_MANY, s->span, 1);
    r->ctx = task->ctx;
    r->many.of = s->many.of;
    r->many.cells = n;
    r->many.length = m;
    r->outs[0] = new_host(f, core_scalar(SC_BOOL), "many");
    bind_value(f, s->vars[0], r->outs[0]);
    return true;
}

static bool flatten_param(FlattenFn *f, CoreStmt *s)
{
    FlatStmt *r = flat_emit(f, FLAT_S_PARAM, s->span, 1);
    r->param.of = s->param.of;
    r->outs[0] = new_host(f, core_scalar(SC_I64), "param");
    bind_value(f, s->vars[0], r->outs[0]);
    return true;
}

static bool flatten_few(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    FlatVar work[2];
    region_flush_for(f, task, s);
    region_store(f, &f->host, (CoreAtom[]){s->few.work, s->few.wide}, 2, work, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_FEW, s->span, 1);
    r->few.work = work[0];
    r->few.wide = work[1];
    r->few.launches = s->few.launches;
    r->few.on_gpu = s->few.on_gpu;
    r->outs[0] = new_host(f, core_scalar(SC_BOOL), "few");
    bind_value(f, s->vars[0], r->outs[0]);
    return true;
}

static bool flatten_memory(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    FlatStmt *r = flat_emit(f, FLAT_S_MEMORY, s->span, 1);
    r->ctx = task->ctx;
    r->memory.gives = s->memory.gives;
    r->memory.of = s->memory.of;
    r->outs[0] = new_host(f, (CoreType){SC_U64, 1}, "memory");
    bind_value(f, s->vars[0], r->outs[0]);
    return true;
}

/* What the lanes give is stored by a kernel, behind which nothing comes before the question. */
static bool flatten_fitted(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    region_flush_for(f, task, s);
    FlatVar *stored = arena_array(f->arena, FlatVar, s->fitted.n + 1);
    region_store(f, task, s->fitted.results, s->fitted.n, stored, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_FITTED, s->span, 1);
    r->ctx = task->ctx;
    r->arrays.arrays = stored;
    r->arrays.n = s->fitted.n;
    r->outs[0] = new_host(f, core_scalar(SC_BOOL), "fitted");
    bind_value(f, s->vars[0], r->outs[0]);
    return true;
}

static bool flatten_nothing(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    FlatStmt *r = flat_emit(f, FLAT_S_NOTHING, s->span, 1);
    r->ctx = task->ctx;
    bind_outs(f, task, s, r);
    return true;
}

/* ---- loops (5) ---- */

/* A context of one instance below depth 0: for what the device had better do than the host. */
FlatVar single_ctx(FlattenFn *f, Span span)
{
    FlatVar count = region_store1(f, &f->host, core_i64(1), span);
    FlatStmt *n = flat_emit(f, FLAT_S_NESTED, span, 1);
    n->ctx = FLAT_ROOT;
    n->nested.source = count;
    return n->outs[0] = new_ctx(f, CTX_NESTED, FLAT_ROOT);
}

/* Binds a statement's variables to the values of the single instance of `ctx`: its columns are arrays of length 1. */
void bind_single(FlattenFn *f, CoreStmt *s, FlatVar ctx, FlatVar *cols)
{
    FlatStmt *views = flat_emit(f, FLAT_S_VIEWS, s->span, s->nvars);
    views->ctx = ctx;
    views->arrays.arrays = cols;
    views->arrays.n = s->nvars;
    FlatBody body = {FLAT_ROOT, {0}, NULL};
    CoreBuilder b = {.p = f->core, .fn = f->scope, .span = s->span};
    CoreBlock *none = build_begin(&b);
    CoreAtom *results = arena_array(f->arena, CoreAtom, s->nvars + 1);
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreType t = core_var_type(f->scope, s->vars[i]);
        views->outs[i] = new_host(f, core_seq(t), NULL);
        CoreAtom single = build_var(&b, core_seq(t), NULL);
        FlatInput in = {IN_HOST, single.var, views->outs[i], FLAT_NO_VAR};
        vec_push(f->arena, &body.inputs, in);
        results[i] = build_index(&b, single, core_i64(0), CORE_NO_SITE);
    }
    body.block = build_end(&b, none, results, s->nvars);
    FlatStmt *host = flat_emit(f, FLAT_S_HOST, s->span, s->nvars);
    host->ctx = FLAT_ROOT;
    host->body = body;
    bind_outs(f, &f->host, s, host);
}

/* A scalar loop that reads memory, met in host code: one instance on the device instead of a read-back a turn. */
static bool flatten_device_loop(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    region_flush_for(f, task, s);
    BlockTask lane = {.ctx = single_ctx(f, s->span)};
    vec_push(f->arena, &lane.open, s);
    CoreAtom *results = arena_array(f->arena, CoreAtom, s->nvars ? s->nvars : 1);
    for (uint32_t i = 0; i < s->nvars; i++) {
        set_val(f, s->vars[i], (Val){.kind = VAL_IN_REGION, .task = &lane, .var = FLAT_NO_VAR});
        results[i] = core_var_atom(s->vars[i], core_var_type(f->scope, s->vars[i]));
        var_state(f, s->vars[i])->uses++; /* bind_single reads it, whoever else does */
    }
    FlatVar *cols = arena_array(f->arena, FlatVar, s->nvars ? s->nvars : 1);
    region_store(f, &lane, results, s->nvars, cols, s->span);
    for (uint32_t i = 0; i < s->nvars; i++)
        var_state(f, s->vars[i])->uses--;
    bind_single(f, s, lane.ctx, cols);
    return true;
}

/* Rule: a loop whose trip count is the same for all instances, or at depth 0: host control. */
static bool flatten_loop_host(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    region_flush_for(f, task, s);
    uint32_t n = s->loop.nparams;
    FlatStmt *r = arena_new(f->arena, FlatStmt); /* emitted when its blocks are done */
    r->loop.nparams = n;
    r->loop.inits = arena_array(f->arena, FlatVar, n ? n : 1);
    region_store(f, task, s->loop.inits, n, r->loop.inits, s->span);
    r->loop.count = r->loop.index = FLAT_NO_VAR;
    r->loop.looks_ahead = s->loop.looks_ahead;
    if (!s->loop.cond)
        region_store(f, &f->host, &s->loop.count, 1, &r->loop.count, s->span);
    r->loop.params = arena_array(f->arena, FlatVar, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        CoreVar v = s->loop.params[i];
        r->loop.params[i] = new_value(f, task->ctx, core_var_type(f->scope, v), f->scope->vars.at[v].hint);
        bind_value(f, v, r->loop.params[i]);
    }
    if (!s->loop.cond) {
        r->loop.index = new_host(f, core_scalar(SC_I64), "i");
        if (s->loop.index != CORE_NO_VAR)
            bind_value(f, s->loop.index, r->loop.index);
    }
    if (s->loop.cond)
        r->loop.cond = nested_block(f, task->ctx, s->loop.cond, NULL, s->span);
    r->loop.body = nested_block(f, task->ctx, s->loop.body, NULL, s->span);
    FlatStmt *out = flat_emit(f, FLAT_S_LOOP, s->span, s->nvars);
    out->loop = r->loop;
    bind_outs(f, task, s, out);
    uses_drop_direct(f, s);
    return true;
}

static bool flatten_loop_lifted(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    assert(s->loop.cond && "flatten: a counted loop is not lowered");
    region_flush_for(f, task, s);
    uint32_t n = s->loop.nparams;
    FlatVar *inits = arena_array(f->arena, FlatVar, n ? n : 1), *params = arena_array(f->arena, FlatVar, n ? n : 1);
    region_store(f, task, s->loop.inits, n, inits, s->span);
    FlatVar active = new_ctx(f, CTX_SELECTED, task->ctx);
    for (uint32_t i = 0; i < n; i++) {
        CoreVar v = s->loop.params[i];
        params[i] = new_col(f, active, core_var_type(f->scope, v), f->scope->vars.at[v].hint);
        bind_value(f, v, params[i]);
    }
    FlatBlock *cond = nested_block(f, active, s->loop.cond, NULL, s->span);
    FlatBlock *body = nested_block(f, active, s->loop.body, NULL, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_LOOP_LIFTED, s->span, s->nvars);
    r->ctx = task->ctx;
    r->loop_lifted.active = active;
    r->loop_lifted.params = params;
    r->loop_lifted.inits = inits;
    r->loop_lifted.nparams = n;
    r->loop_lifted.cond = cond;
    r->loop_lifted.body = body;
    bind_outs(f, task, s, r);
    uses_drop_direct(f, s);
    return true;
}

static bool flatten_loop(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    if (task->ctx == FLAT_ROOT && core_stmt_is_scalar(s))
        return flatten_device_loop(f, task, s);
    if (task->ctx == FLAT_ROOT || (!s->loop.cond && host_atom(f, s->loop.count)))
        return flatten_loop_host(f, task, s);
    return flatten_loop_lifted(f, task, s);
}

/* ---- calls (6) ---- */

void flatten_call_host(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    FlatVar *args = arena_array(f->arena, FlatVar, s->call.nargs ? s->call.nargs : 1);
    region_store(f, task, s->call.args, s->call.nargs, args, s->span);
    FlatStmt *r = flat_emit(f, FLAT_S_CALL, s->span, s->nvars);
    r->call.fn = want_function(f->all, s->call.fn, false);
    r->call.args = args;
    r->call.nargs = s->call.nargs;
    bind_outs(f, task, s, r);
    uses_drop_direct(f, s);
}

static bool flatten_call(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    if (task->ctx == FLAT_ROOT && !core_recurs_together(s->call.fn)) {
        flatten_call_host(f, task, s);
        return true;
    }
    Progress *p = progress_of(f, task, s);
    if (!p->pending) {
        region_flush_for(f, task, s); /* assertions before the call are made before it */
        p->pending = true;
        vec_push(f->arena, &f->pending, ((Pending){task, s}));
    }
    return p->stage == 1; /* join_calls has made it */
}

bool flatten_stmt(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    switch (s->kind) {
    case CORE_MAP: return flatten_map(f, task, s);
    case CORE_REDUCE:
    case CORE_SCAN: return flatten_reduce(f, task, s);
    case CORE_SCATTER:
    case CORE_ACCUMULATE: return flatten_scatter(f, task, s);
    case CORE_HIST: return flatten_hist(f, task, s);
    case CORE_ARGSORT: return flatten_argsort(f, task, s);
    case CORE_FLATTEN: return flatten_flatten(f, task, s);
    case CORE_UPDATE: return flatten_update(f, task, s);
    case CORE_ARRAY: return flatten_array(f, task, s);
    case CORE_IF: return flatten_if(f, task, s);
    case CORE_LOOP: return flatten_loop(f, task, s);
    case CORE_CALL: return flatten_call(f, task, s);
    case CORE_MANY: return flatten_many(f, task, s);
    case CORE_PARAM: return flatten_param(f, s);
    case CORE_FEW: return flatten_few(f, task, s);
    case CORE_MEMORY: return flatten_memory(f, task, s);
    case CORE_FITTED: return flatten_fitted(f, task, s);
    case CORE_NOTHING: return flatten_nothing(f, task, s);
    case CORE_ATOM:
    case CORE_PRIM:
    case CORE_LENGTH:
    case CORE_INDEX:
    case CORE_SLICE:
    case CORE_LANE:
    case CORE_TABLE:
    case CORE_CHECK: break;      /* scalar code never gets here */
    case CORE_CHECK_ROWS: break; /* lowered */
    }
    assert(false && "flatten: a scalar statement is not a flatten_stmt");
    return true;
}
