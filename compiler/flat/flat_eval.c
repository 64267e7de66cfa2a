#include "flat/flat_eval.h"
#include "flat/eval_internal.h"

#include "dp_limits.h"
#include "dp_stack.h"
#include "flat/ref.h"

#include <stdlib.h>
#include <string.h>

/* ---- assertions and failures ---- */

void flat_eval_broken(const Eval *e, const char *what)
{
    fprintf(stderr, "dpc: internal error: flat_eval: %s", what);
    if (e->stmt) {
        Session *session = e->program->core ? e->program->core->session : NULL;
        fprintf(stderr, "; in %s of %s", flat_kind(e->stmt->kind)->word, e->frame->fn->name);
        if (session && e->stmt->span.file < session->files.n)
            fprintf(stderr, ", line %u", source_linecol(session, e->stmt->span.file, e->stmt->span.start).line);
    }
    fputc('\n', stderr);
    abort();
}

bool flat_eval_fail(Eval *e, uint32_t site, Span span, int64_t v0, int64_t v1, int64_t v2)
{
    FLAT_ASSERT(e, site != CORE_NO_SITE, "an operation without a site failed");
    *e->error = (EvalError){.kind = EVAL_AT_SITE, .site = site, .values = {v0, v1, v2}, .span = span};
    return false;
}

static Span here(const Eval *e) { return e->stmt ? e->stmt->span : e->entry->scope->span; }

bool flat_eval_fail_text(Eval *e, EvalErrorKind kind, const char *text)
{
    eval_error_set(e->error, kind, here(e), text);
    return false;
}

/* The innermost recursion, and its level: a function and its lifted version are one. */
static uint32_t recursion_level(const Frame *f, const char **function)
{
    uint32_t level = 0;
    while (f && !f->fn->recursive)
        f = f->caller;
    *function = f ? core_fn_called(f->fn->scope) : NULL;
    for (const Frame *g = f; g; g = g->caller)
        level += g->fn->scope->index == f->fn->scope->index;
    return level;
}

bool flat_eval_fail_memory(Eval *e, uint64_t n, uint64_t bytes)
{
    const char *function;
    uint32_t level = recursion_level(e->frame, &function);
    budget_fail_memory(&e->budget, e->error, here(e), dp_size_mul(n, bytes), level, function);
    return false;
}

bool flat_eval_tick(Eval *e)
{
    if (budget_tick(&e->budget))
        return true;
    budget_fail_time(&e->budget, e->error, here(e));
    return false;
}

/* ---- variables ---- */

Value *var_read(Eval *e, FlatVar v)
{
    FLAT_ASSERT(e, v < e->frame->fn->vars.n && e->frame->bound[v], "a variable is read that is dead or not yet bound");
    return &e->frame->vars[v];
}

Ctx *var_ctx(Eval *e, FlatVar v)
{
    if (v == FLAT_ROOT)
        return NULL;
    Value *x = var_read(e, v);
    FLAT_ASSERT(e, x->kind == FLAT_CTX, "a context is none");
    return x->ctx;
}

Col *var_col(Eval *e, FlatVar v, const Ctx *ctx)
{
    Value *x = var_read(e, v);
    FLAT_ASSERT(e, x->kind == FLAT_COL && x->col.ctx == ctx, "a column is of another context");
    return &x->col;
}

Elem var_elem(Eval *e, FlatVar v, const Ctx *ctx, uint64_t i)
{
    if (!ctx) {
        FLAT_ASSERT(e, var_read(e, v)->kind == FLAT_HOST, "a host variable is none");
        return var_read(e, v)->host;
    }
    const Col *col = var_col(e, v, ctx);
    FLAT_ASSERT(e, i < ctx->n, "an instance out of range");
    return elem_load(col->type, col->data + i * elem_bytes(col->type));
}

void var_bind(Eval *e, FlatVar v, Value x)
{
    const FlatVarInfo *info = &e->frame->fn->vars.at[v];
    FLAT_ASSERT(e, info->kind == x.kind, "a variable gets a value of another kind");
    FLAT_ASSERT(e, x.kind == FLAT_CTX || core_type_equal(info->type, x.type),
                "a variable gets a value of another type");
    FLAT_ASSERT(e, x.kind != FLAT_CTX || info->ctx_kind == x.ctx->kind, "a context of another kind");
    if (x.kind == FLAT_COL && e->frame->bound[info->ctx])
        FLAT_ASSERT(e, e->frame->vars[info->ctx].ctx == x.col.ctx, "a variable gets a column of another context");
    e->frame->vars[v] = x;
    e->frame->bound[v] = true;
}

void bind_col(Eval *e, FlatVar v, Ctx *ctx, char *data)
{
    CoreType t = e->frame->fn->vars.at[v].type;
    if (ctx->n) {
        const Stored *s = stored_at(e, (uintptr_t)data);
        FLAT_ASSERT(e, s && core_type_equal(s->type, t), "a column lies in no block of its type");
        uint64_t first = (uint64_t)(data - s->data) / elem_bytes(t);
        FLAT_ASSERT(e, ctx->n <= s->n - first, "a column reaches out of its block");
    }
    var_bind(e, v, (Value){.kind = FLAT_COL, .type = t, .col = {ctx, t, data}});
}

void bind_ctx(Eval *e, FlatVar v, Ctx *ctx) { var_bind(e, v, (Value){.kind = FLAT_CTX, .ctx = ctx}); }

void bind_host(Eval *e, FlatVar v, Elem x, bool owned)
{
    CoreType t = e->frame->fn->vars.at[v].type;
    var_bind(e, v, (Value){.kind = FLAT_HOST, .type = t, .host = x, .owned = owned});
}

bool bind_arrays(Eval *e, FlatVar v, Ctx *parent, Index *offsets, char *data, bool owned)
{
    CoreType t = e->frame->fn->vars.at[v].type;
    uint32_t bytes = elem_bytes(core_element(t));
    if (!parent) {
        bind_host(e, v, (Elem){.view = view_of(data, offsets->at[1])}, owned);
        return true;
    }
    Stored *views = stored_new(e, t, parent->n);
    if (!views)
        return false;
    for (uint64_t i = 0; i < parent->n; i++) {
        View x = view_of(data + offsets->at[i] * bytes, offsets->at[i + 1] - offsets->at[i]);
        elem_store(t, views->data + i * sizeof x, (Elem){.view = x});
    }
    stored_set_contig(views, offsets, data);
    bind_col(e, v, parent, views->data);
    return true;
}

bool new_cols(Eval *e, const FlatVar *vars, uint32_t n, Ctx *ctx, char **data)
{
    for (uint32_t i = 0; i < n; i++) {
        Stored *s = stored_new(e, e->frame->fn->vars.at[vars[i]].type, ctx->n);
        if (!s)
            return false;
        data[i] = s->data;
        bind_col(e, vars[i], ctx, s->data);
    }
    return true;
}

/* ---- ownership of host arrays: who may update in place ---- */

void var_share(Eval *e, FlatVar v) { e->frame->vars[v].owned = false; }

static void share(void *ctx, FlatVar v) { var_share(ctx, v); }

/* Can what the statement binds refer to the arrays that it reads? */
static bool may_capture(const FlatFn *fn, const FlatStmt *s)
{
    uint8_t least = flat_kind(s->kind)->captures;
    for (uint32_t i = 0; least && i < s->nouts; i++)
        if (fn->vars.at[s->outs[i]].type.rank >= least)
            return true;
    return least == 0;
}

static bool is_among(const FlatVar *vars, uint32_t n, FlatVar v)
{
    for (uint32_t i = 0; i < n; i++)
        if (vars[i] == v)
            return true;
    return false;
}

/* The values of vars, which move if they are among `last`, and are shared otherwise or when named twice. */
static void take_values(Eval *e, const FlatVar *vars, uint32_t n, const FlatVar *last, uint32_t nlast, Value *out)
{
    for (uint32_t i = 0; i < n; i++) {
        Value *x = var_read(e, vars[i]);
        bool once = !is_among(vars, i, vars[i]) && !is_among(vars + i + 1, n - i - 1, vars[i]);
        if (!once || !is_among(last, nlast, vars[i]))
            x->owned = false;
        out[i] = *x;
    }
}

static void unbind(Eval *e, const FlatVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        (void)var_read(e, vars[i]); /* nothing dies twice */
        e->frame->bound[vars[i]] = false;
    }
}

/* ---- blocks ---- */

static bool exec_stmt(Eval *e, const FlatStmt *s);

static bool exec_block(Eval *e, const FlatBlock *b, Value *results)
{
    unbind(e, b->dies, b->ndies);
    if (!flat_eval_tick(e))
        return false;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!exec_stmt(e, b->stmts.at[i]))
            return false;
    take_values(e, b->results, b->nresults, b->ends, b->nends, results);
    unbind(e, b->ends, b->nends);
    return true;
}

/* Contexts first: columns among the same variables may belong to them. */
static void bind_values(Eval *e, const FlatVar *vars, uint32_t n, const Value *values)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i].kind == FLAT_CTX)
            var_bind(e, vars[i], values[i]);
    for (uint32_t i = 0; i < n; i++)
        if (values[i].kind != FLAT_CTX)
            var_bind(e, vars[i], values[i]);
}

/* Runs a block and binds its results. */
static bool exec_into(Eval *e, const FlatStmt *s, const FlatBlock *b, const FlatVar *vars, uint32_t n)
{
    Value *values = scratch_alloc(e, n, sizeof *values);
    bool ok = exec_block(e, b, values);
    e->stmt = s;
    if (ok)
        bind_values(e, vars, n, values);
    free(values);
    return ok;
}

static bool exec_if(Eval *e, const FlatStmt *s)
{
    bool holds = var_elem(e, s->if_.cond, NULL, 0).bits;
    flat_trace_branch(e, s, holds);
    return exec_into(e, s, holds ? s->if_.then_b : s->if_.else_b, s->outs, s->nouts);
}

/* ---- host loops ---- */

static bool loop_for(Eval *e, const FlatStmt *s)
{
    int64_t count = (int64_t)var_elem(e, s->loop.count, NULL, 0).bits;
    for (int64_t i = 0; i < count; i++) {
        bind_host(e, s->loop.index, (Elem){.bits = (uint64_t)i}, false);
        flat_trace_round(e, s, (uint64_t)i);
        if (!exec_into(e, s, s->loop.body, s->loop.params, s->loop.nparams))
            return false;
    }
    return true;
}

static bool loop_while(Eval *e, const FlatStmt *s)
{
    for (uint64_t round = 0;; round++) {
        Value holds;
        flat_trace_round(e, s, round);
        if (!exec_block(e, s->loop.cond, &holds))
            return false;
        e->stmt = s;
        if (!holds.host.bits)
            return true;
        if (!exec_into(e, s, s->loop.body, s->loop.params, s->loop.nparams))
            return false;
    }
}

static bool exec_loop(Eval *e, const FlatStmt *s)
{
    uint32_t n = s->loop.nparams;
    Value *values = scratch_alloc(e, n, sizeof *values);
    take_values(e, s->loop.inits, n, NULL, 0, values);
    bind_values(e, s->loop.params, n, values);
    bool ok = s->loop.index == FLAT_NO_VAR ? loop_while(e, s) : loop_for(e, s);
    if (ok) {
        take_values(e, s->loop.params, n, s->loop.params, n, values);
        unbind(e, s->loop.params, n);
        bind_values(e, s->outs, n, values);
    }
    free(values);
    return ok;
}

/* ---- lifted loops (docs/flattening.md, 5) ---- */

typedef struct Lifted {
    Eval *e;
    const FlatStmt *s;
    Ctx *whole, *active;
    uint32_t n;
    Value *state; /* columns of active; behind them the outs, columns of whole, and active itself: roots */
    Value *outs;  /* filled where instances have stopped; allocated with the first of them */
    bool retired;
} Lifted;

static bool retire_alloc(Lifted *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        CoreType t = l->state[i].type;
        Stored *s = stored_new(l->e, t, l->whole->n);
        if (!s)
            return false;
        l->outs[i] = (Value){.kind = FLAT_COL, .type = t, .col = {l->whole, t, s->data}};
    }
    l->retired = true;
    return true;
}

/* Writes the state of the instances idx of active to where they belong in the whole. */
static bool retire(Lifted *l, const Index *idx, uint64_t n)
{
    Eval *e = l->e;
    if (!l->retired && n == l->whole->n) { /* all at once: the state is the result */
        for (uint32_t i = 0; i < l->n; i++) {
            l->outs[i] = l->state[i];
            l->outs[i].col.ctx = l->whole;
        }
        return true;
    }
    if (!l->retired && !retire_alloc(l))
        return false;
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t bytes = elem_bytes(l->state[k].type);
        for (uint64_t i = 0; i < n; i++)
            memcpy(l->outs[k].col.data + path_at(l->active->map ? l->active->map->at : NULL, idx->at[i]) * bytes,
                   l->state[k].col.data + idx->at[i] * bytes, bytes);
        e->counts.moved += n;
        e->counts.work += n;
    }
    return true;
}

/* The state of the instances idx of active goes on, in a context selected from the whole: paths stay one link long. */
static bool go_on(Lifted *l, const Index *idx, uint64_t n)
{
    Index *map = index_new(l->e, n);
    if (!map)
        return false;
    for (uint64_t i = 0; i < n; i++)
        map->at[i] = path_at(l->active->map ? l->active->map->at : NULL, idx->at[i]);
    Ctx *active = ctx_select(l->e, l->whole, map, n);
    for (uint32_t k = 0; k < l->n; k++) {
        char *data = gather_col(l->e, l->state[k].type, l->state[k].col.data, idx, n);
        if (!data)
            return false;
        l->state[k].col.ctx = active;
        l->state[k].col.data = data;
    }
    l->active = active;
    return true;
}

static void bind_state(Lifted *l)
{
    l->outs[l->n] = (Value){.kind = FLAT_CTX, .ctx = l->active};
    bind_ctx(l->e, l->s->loop_lifted.active, l->active);
    bind_values(l->e, l->s->loop_lifted.params, l->n, l->state);
}

/* Evaluates the condition, and retires those for which it fails. *running is how many go on. */
static bool lifted_cond(Lifted *l, uint64_t round, uint64_t *running)
{
    Eval *e = l->e;
    Value cond;
    bind_state(l);
    flat_trace_round(e, l->s, round);
    if (!exec_block(e, l->s->loop_lifted.cond, &cond))
        return false;
    e->stmt = l->s;
    FLAT_ASSERT(e, cond.col.ctx == l->active, "a condition of another context");
    uint64_t n = l->active->n;
    Index *yes = index_new(e, n), *no = yes ? index_new(e, n) : NULL;
    if (!no)
        return false;
    *running = ref_partition((const uint8_t *)cond.col.data, n, yes->at, no->at);
    e->counts.launches++;
    e->counts.readbacks++;
    e->counts.work += n;
    if (*running < n && !retire(l, no, n - *running))
        return false;
    return *running == n || *running == 0 || go_on(l, yes, *running);
}

static bool lifted_rounds(Lifted *l)
{
    Eval *e = l->e;
    for (uint64_t round = 0;; round++) {
        uint64_t running;
        if (!lifted_cond(l, round, &running))
            return false;
        if (running == 0)
            return true;
        bind_state(l);
        if (!exec_block(e, l->s->loop_lifted.body, l->state))
            return false;
        e->stmt = l->s;
        for (uint32_t i = 0; i < l->n; i++)
            FLAT_ASSERT(e, l->state[i].col.ctx == l->active, "state of another context");
    }
}

static void bind_empty(Eval *e, const FlatVar *vars, uint32_t n, Ctx *ctx)
{
    for (uint32_t i = 0; i < n; i++)
        bind_col(e, vars[i], ctx, no_elements());
}

static bool exec_loop_lifted(Eval *e, const FlatStmt *s)
{
    Ctx *whole = var_ctx(e, s->ctx);
    if (whole->n == 0) {
        bind_empty(e, s->outs, s->nouts, whole);
        return true;
    }
    uint32_t n = s->loop_lifted.nparams;
    Lifted l = {.e = e, .s = s, .whole = whole, .n = n};
    l.active = eval_ctx_new(e, CTX_SELECTED, whole, whole->n);
    Roots roots = {scratch_alloc(e, 2 * n + 1u, sizeof(Value)), 2 * n + 1u, e->roots};
    l.state = roots.values;
    l.outs = roots.values + n;
    e->roots = &roots;
    take_values(e, s->loop_lifted.inits, n, NULL, 0, l.state);
    for (uint32_t i = 0; i < n; i++) {
        (void)var_col(e, s->loop_lifted.inits[i], whole);
        l.state[i].col.ctx = l.active;
    }
    bool ok = lifted_rounds(&l);
    if (ok)
        bind_values(e, s->outs, n, l.outs);
    e->roots = roots.outer;
    free(roots.values);
    return ok;
}

/* ---- calls ---- */

static void frame_close(Eval *e, const Frame *f, uint64_t bytes)
{
    e->budget.live -= bytes;
    e->budget.frames -= bytes;
    free(f->vars);
    free(f->bound);
}

static bool frame_open(Eval *e, Frame *f, uint64_t bytes)
{
    f->vars = elements_alloc(e, f->fn->vars.n, sizeof(Value));
    f->bound = f->vars ? elements_alloc(e, f->fn->vars.n, 1) : NULL;
    budget_take(&e->budget, bytes);
    e->budget.frames += bytes;
    if (!f->bound)
        frame_close(e, f, bytes);
    return f->bound != NULL;
}

static void fetch_bytes(void *data, uint64_t address, uint64_t bytes, void *to)
{
    (void)data;
    memcpy(to, (const void *)(uintptr_t)address, bytes);
}

/* Of an element of an array; 0: a scalar has none. */
static uint32_t element_bytes(CoreType t) { return t.rank ? elem_bytes(core_element(t)) : 0; }

/* Is a lifted function called for just what it was called for at the level above? */
static bool is_stuck(Eval *e, const FlatFn *fn, uint32_t level, const Ctx *ctx, const Value *args)
{
    if (!fn->lifted || !fn->recursive || !dp_progress_due(&e->progress, fn, level, ctx->n))
        return false;
    DpArguments *arguments = scratch_alloc(e, fn->nparams, sizeof *arguments);
    for (uint32_t i = 0; i < fn->nparams; i++)
        arguments[i] = (DpArguments){args[i].col.data, elem_bytes(args[i].type), element_bytes(args[i].type)};
    e->progress.fetch = fetch_bytes;
    bool stuck = dp_progress_stuck(&e->progress, fn, level, arguments, fn->nparams, ctx->n);
    free(arguments);
    return stuck;
}

/* Runs a function on values; `ctx` is its context if it is lifted. */
static bool exec_fn(Eval *e, const FlatFn *fn, Ctx *ctx, const Value *args, Value *results)
{
    const uint32_t run = e->frame && e->frame->fn == fn ? e->frame->run + 1 : 1;
    if (e->depth >= DP_MAX_LEVELS || dp_stack_is_full(e->stack_end) || is_stuck(e, fn, run, ctx, args))
        return flat_eval_fail_text(e, EVAL_TOO_DEEP, DP_TOO_DEEP);
    const FlatStmt *call = e->stmt;
    const uint64_t bytes = fn->vars.n * (sizeof(Value) + sizeof(bool));
    Frame frame = {.fn = fn, .caller = e->frame, .run = run};
    if (!frame_open(e, &frame, bytes))
        return false;
    e->frame = &frame;
    if (++e->depth > e->counts.max_depth)
        e->counts.max_depth = e->depth;
    if (fn->lifted)
        bind_ctx(e, fn->ctx, ctx);
    bind_values(e, fn->params, fn->nparams, args);
    flat_trace_call(e, call);
    bool ok = exec_block(e, fn->body, results);
    if (ok)
        flat_trace_return(e, results);
    e->depth--;
    e->frame = frame.caller;
    if (ok)
        e->stmt = call;
    frame_close(e, &frame, bytes);
    return ok;
}

static bool exec_call(Eval *e, const FlatStmt *s)
{
    uint32_t n = s->call.nargs;
    Value *values = scratch_alloc(e, (uint64_t)n + s->nouts, sizeof *values);
    take_values(e, s->call.args, n, s->dies, s->ndies, values);
    bool ok = exec_fn(e, s->call.fn, NULL, values, values + n);
    if (ok)
        bind_values(e, s->outs, s->nouts, values + n);
    free(values);
    return ok;
}

/* The joined context is the sites' instances, one site behind the other (docs/flattening.md, 6). */
static bool join_arg(Eval *e, const FlatStmt *s, uint32_t k, Ctx *joined, Value *out)
{
    CoreType t = s->call_lifted.fn->vars.at[s->call_lifted.fn->params[k]].type;
    *out = (Value){.kind = FLAT_COL, .type = t, .col = {joined, t, NULL}};
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) { /* all instances at one site: nothing moves */
        const FlatSite *site = &s->call_lifted.sites[i];
        const Col *col = var_col(e, site->args[k], var_ctx(e, site->ctx));
        if (col->ctx->n == joined->n)
            out->col.data = col->data;
    }
    if (out->col.data)
        return true;
    Stored *all = stored_new(e, t, joined->n);
    if (!all)
        return false;
    char *to = out->col.data = all->data;
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        const FlatSite *site = &s->call_lifted.sites[i];
        const Col *col = var_col(e, site->args[k], var_ctx(e, site->ctx));
        uint64_t bytes = col->ctx->n * elem_bytes(t);
        if (bytes)
            memcpy(to, col->data, bytes);
        to += bytes;
    }
    e->counts.moved += joined->n;
    e->counts.work += joined->n;
    return true;
}

/* Each site gets its slice of the results. */
static void bind_sites(Eval *e, const FlatStmt *s, const Value *results)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        const FlatSite *site = &s->call_lifted.sites[i];
        Ctx *ctx = var_ctx(e, site->ctx);
        for (uint32_t k = 0; k < s->call_lifted.nresults; k++)
            bind_col(e, site->outs[k], ctx,
                     ctx->n ? results[k].col.data + at * elem_bytes(results[k].type) : no_elements());
        at += ctx->n;
    }
}

static bool exec_call_lifted(Eval *e, const FlatStmt *s)
{
    uint32_t nargs = s->call_lifted.nargs, nresults = s->call_lifted.nresults, busy = 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        n += var_ctx(e, s->call_lifted.sites[i].ctx)->n;
        busy += var_ctx(e, s->call_lifted.sites[i].ctx)->n > 0;
    }
    if (n == 0) { /* ends a recursion that else would not end */
        bind_sites(e, s, NULL);
        return true;
    }
    Ctx *joined = eval_ctx_new(e, CTX_FN, NULL, n);
    Value *values = scratch_alloc(e, (uint64_t)nargs + nresults, sizeof *values);
    bool ok = true;
    for (uint32_t k = 0; k < nargs && ok; k++)
        ok = join_arg(e, s, k, joined, &values[k]);
    e->counts.lifted_calls++;
    e->counts.launches += busy > 1;
    ok = ok && exec_fn(e, s->call_lifted.fn, joined, values, values + nargs);
    for (uint32_t k = 0; k < nresults && ok; k++)
        FLAT_ASSERT(e, values[nargs + k].col.ctx == joined, "a result of another context");
    if (ok)
        bind_sites(e, s, values + nargs);
    free(values);
    return ok;
}

/* ---- statements ---- */

static bool exec_kind(Eval *e, const FlatStmt *s)
{
    switch (s->kind) {
    case FLAT_S_HOST: return exec_host(e, s);
    case FLAT_S_KERNEL: return exec_kernel(e, s);
    case FLAT_S_ARRAY: return exec_array(e, s);
    case FLAT_S_NESTED: return exec_nested(e, s);
    case FLAT_S_PACK: return exec_pack(e, s);
    case FLAT_S_SPLIT: return exec_split(e, s);
    case FLAT_S_MANY:
        bind_host(e, s->outs[0], (Elem){.bits = var_ctx(e, s->ctx)->n >= FLAT_EVAL_MANY}, true);
        return true;
    case FLAT_S_MEMORY: /* the interpreter's lanes have their own */
        bind_host(e, s->outs[0], (Elem){.view = view_of(NULL, 0)}, true);
        return true;
    case FLAT_S_PARAM: bind_host(e, s->outs[0], (Elem){.bits = EVAL_PARAM}, true); return true;
    case FLAT_S_FEW:
        bind_host(e, s->outs[0], (Elem){.bits = var_elem(e, s->few.work, NULL, 0).bits <= FLAT_EVAL_FEW}, true);
        return true;
    case FLAT_S_FITTED:
        bind_host(e, s->outs[0], (Elem){.bits = !e->gave_up}, true);
        e->gave_up = false;
        return true;
    case FLAT_S_NOTHING: return exec_nothing(e, s);
    case FLAT_S_ELEMS: return exec_elems(e, s);
    case FLAT_S_SELECT: return exec_select(e, s);
    case FLAT_S_VIEWS: return exec_views(e, s);
    case FLAT_S_MERGE: return exec_merge(e, s);
    case FLAT_S_REDUCE: return exec_reduce(e, s);
    case FLAT_S_SCAN: return exec_scan(e, s);
    case FLAT_S_HIST: return exec_hist(e, s);
    case FLAT_S_SCATTER: return exec_scatter(e, s);
    case FLAT_S_ARGSORT: return exec_argsort(e, s);
    case FLAT_S_FLATTEN: return exec_flatten(e, s);
    case FLAT_S_UPDATE: return exec_update(e, s);
    case FLAT_S_IF: return exec_if(e, s);
    case FLAT_S_LOOP: return exec_loop(e, s);
    case FLAT_S_LOOP_LIFTED: return exec_loop_lifted(e, s);
    case FLAT_S_CALL: return exec_call(e, s);
    case FLAT_S_CALL_LIFTED: return exec_call_lifted(e, s);
    }
    return false;
}

/* What the recursion's next level needs at least, in an empty memory. */
static bool has_room_for_level(Eval *e, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        const FlatVarInfo *info = &e->frame->fn->vars.at[s->outs[i]];
        uint64_t n = info->least_bytes ? e->frame->vars[s->outs[i]].ctx->n : 0;
        if (dp_size_mul(n, info->least_bytes) <= e->budget.limit)
            continue;
        e->stmt = info->least_call;
        return flat_eval_fail_memory(e, n, info->least_bytes);
    }
    return true;
}

static void check_read(void *ctx, FlatVar v) { (void)var_read(ctx, v); }

static bool exec_stmt(Eval *e, const FlatStmt *s)
{
    e->stmt = s;
    if (!e->reserve)
        return flat_eval_fail_memory(e, 1, sizeof(Value));
    collect_if_due(e);
    flat_stmt_reads(s, check_read, e);
    if (may_capture(e->frame->fn, s))
        flat_stmt_reads(s, share, e);
    if (!exec_kind(e, s) || !has_room_for_level(e, s))
        return false;
    e->stmt = s;
    flat_trace_step(e, s);
    unbind(e, s->dies, s->ndies);
    return true;
}

/* ---- the entry, on a stack of its own ---- */

typedef struct Job {
    Eval eval;
    const FlatFn *fn;
    Arena *arena;
    const CoreValue *args;
    CoreValue *results;
    bool ok;
} Job;

static bool run_entry(Job *job)
{
    Eval *e = &job->eval;
    const FlatFn *fn = job->fn;
    uint32_t nargs = fn->nparams, nresults = fn->body->nresults;
    Value *values = scratch_alloc(e, (uint64_t)nargs + nresults, sizeof *values);
    bool ok = true;
    flat_trace_program(e);
    for (uint32_t i = 0; i < nargs && ok; i++)
        ok = value_from_core(e, &job->args[i], &values[i]);
    ok = ok && exec_fn(e, fn, NULL, values, values + nargs);
    for (uint32_t i = 0; i < nresults && ok; i++)
        job->results[i] = value_to_core(e, job->arena, values[nargs + i].type, values[nargs + i].host);
    if (ok)
        flat_trace_result(e, values + nargs);
    else
        flat_trace_failure(e);
    free(values);
    return ok;
}

static void run_job(void *arg, uintptr_t stack_end)
{
    Job *job = arg;
    job->eval.stack_end = stack_end;
    job->ok = run_entry(job);
}

/* Bodies do not nest, so one environment does for all. */
static Elem *env_new(Eval *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->program->fns.n; i++)
        if (e->program->fns.at[i]->scope->vars.n > n)
            n = e->program->fns.at[i]->scope->vars.n;
    return scratch_alloc(e, n, sizeof(Elem));
}

bool flat_eval(const FlatProgram *p, const FlatFn *fn, Arena *arena, const CoreValue *args, CoreValue *results,
               const EvalLimits *limits, EvalError *error, FlatCounts *counts)
{
    Job job = {.fn = fn, .arena = arena, .args = args, .results = results};
    job.eval = (Eval){.program = p, .entry = fn, .error = error, .random = 1, .trace = limits ? limits->trace : NULL};
    memory_begin(&job.eval, limits);
    job.eval.env = env_new(&job.eval);
    if (!dp_stack_run(run_job, &job))
        flat_eval_fail_text(&job.eval, EVAL_INTERNAL, "internal: no thread for the interpreter");
    memory_free_all(&job.eval);
    free(job.eval.env);
    job.eval.counts.live_bytes_max = job.eval.budget.most;
    if (counts)
        *counts = job.eval.counts;
    return job.ok;
}
