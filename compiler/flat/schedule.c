#include "core/callgraph.h"
#include "flat/flatten_internal.h"

#include <assert.h>

/* Block tasks and scheduling.
 *
 * In code under a context, a call is *pending* where it is met, and everything that does not depend on it
 * goes on: the rest of the task, other branches, other nested bodies. When nothing more can be done, all pending calls
 * of one function, in whatever contexts below, become one joined call (docs/flattening.md, 6). The order is fixed
 * here, at compile time: at run time a context without instances makes its part harmless. */

BlockTask *task_new(FlattenFn *f, FlatVar ctx, CoreBlock *b)
{
    BlockTask *task = arena_new(f->arena, BlockTask);
    task->ctx = ctx;
    task->block = b;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        vec_push(f->arena, &task->todo, ((Todo){b->stmts.at[i], CORE_NO_VAR}));
        for (uint32_t j = 0; j < b->stmts.at[i]->nvars; j++)
            var_state(f, b->stmts.at[i]->vars[j])->declared = true;
    }
    return task;
}

Progress *progress_of(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    Progress *p = ptrmap_get(&task->progress, s);
    if (p)
        return p;
    p = arena_new(f->arena, Progress);
    p->stmt = s;
    ptrmap_put(f->arena, &task->progress, s, p);
    return p;
}

static bool started(const BlockTask *task, const CoreStmt *s) { return ptrmap_get(&task->progress, s) != NULL; }

/* ---- what a statement waits for ---- */

static bool is_awaited(FlattenFn *f, CoreVar v)
{
    const VarState *state = var_state(f, v);
    return state->declared && state->val.kind == VAL_NONE;
}

typedef struct WaitWalk {
    FlattenFn *f;
    CoreVar found;
} WaitWalk;

static bool is_waited_for(void *ctx, CoreAtom a)
{
    WaitWalk *w = ctx;
    if (is_awaited(w->f, a.var))
        w->found = a.var;
    return w->found != CORE_NO_VAR;
}

/* Remembers one variable, so that a statement that goes on waiting is not gone through again. */
static bool waits(FlattenFn *f, Todo *todo)
{
    if (todo->waits_for != CORE_NO_VAR && is_awaited(f, todo->waits_for))
        return true;
    WaitWalk w = {f, CORE_NO_VAR};
    const bool found = core_stmt_reads(todo->stmt, is_waited_for, &w);
    todo->waits_for = w.found;
    return found;
}

static void diverge_block(void *ctx, CoreBlock *b);
static bool may_diverge(const CoreStmt *s)
{
    bool result = s->kind == CORE_CALL || s->kind == CORE_LOOP;
    if (!result)
        core_stmt_blocks((CoreStmt *)s, diverge_block, &result);
    return result;
}
static void diverge_block(void *ctx, CoreBlock *b)
{
    bool *result = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !*result; i++)
        *result = may_diverge(b->stmts.at[i]);
}

/* ---- running ---- */

void task_open(FlattenFn *f, BlockTask *task, CoreStmt *s)
{
    vec_push(f->arena, &task->open, s);
    for (uint32_t i = 0; i < s->nvars; i++)
        set_val(f, s->vars[i], (Val){.kind = VAL_IN_REGION, .task = task, .var = FLAT_NO_VAR});
}

static bool opens(const BlockTask *task, const CoreStmt *s)
{
    return core_stmt_is_scalar(s) && !(task->ctx == FLAT_ROOT && loops_over_memory(s));
}

static void join_calls(FlattenFn *f);

/* Host code goes in order, but for calls to be joined, and what neither fails nor needs them. */
static bool passes_calls(FlattenFn *f, Todo *todo)
{
    const CoreStmt *s = todo->stmt;
    if (waits(f, todo))
        return false;
    return s->kind == CORE_CALL ? core_recurs_together(s->call.fn)
                                : !may_diverge(s) && !core_stmt_fallible(f->core, f->scope, s);
}

bool task_run(FlattenFn *f, BlockTask *task)
{
    uint32_t kept = 0;
    bool check_waits = false;  /* a check has not been made yet: what may run for ever must not pass it */
    bool behind_calls = false; /* at depth 0: it comes after those that are to be joined now */
    for (uint32_t i = 0; i < task->todo.n; i++) {
        Todo *todo = &task->todo.at[i];
        CoreStmt *s = todo->stmt;
        bool done;
        behind_calls = behind_calls || (task->ctx == FLAT_ROOT && f->pending.n && !passes_calls(f, todo));
        if (behind_calls) {
            task->todo.at[kept++] = *todo;
            continue;
        }
        if (!started(task, s) && (waits(f, todo) || (check_waits && may_diverge(s)))) {
            done = false;
        } else if (opens(task, s)) {
            task_open(f, task, s);
            done = true;
        } else {
            done = flatten_stmt(f, task, s);
            while (!done && task->ctx == FLAT_ROOT && s->kind != CORE_CALL) { /* host code goes in order */
                join_calls(f);
                done = flatten_stmt(f, task, s);
            }
        }
        if (!done) {
            check_waits = check_waits || s->kind == CORE_CHECK;
            task->todo.at[kept++] = *todo;
        }
    }
    task->todo.n = kept;
    return kept == 0;
}

/* Which function to join first: one of another recursive group before the own (its results may free further
 * calls of the own), then the one with most pending calls. */
static const CoreFn *choose_callee(const FlattenFn *f)
{
    const CoreFn *best = NULL;
    uint32_t *calls = f->all->calls, best_calls = 0;
    for (uint32_t i = 0; i < f->pending.n; i++)
        calls[f->pending.at[i].stmt->call.fn->index]++;
    for (uint32_t i = 0; i < f->pending.n; i++) {
        const CoreFn *fn = f->pending.at[i].stmt->call.fn;
        const bool own = fn->index == f->scope->index, best_own = best && best->index == f->scope->index;
        if (!best || (best_own && !own) || (best_own == own && calls[fn->index] > best_calls)) {
            best = fn;
            best_calls = calls[fn->index];
        }
    }
    for (uint32_t i = 0; i < f->pending.n; i++)
        calls[f->pending.at[i].stmt->call.fn->index] = 0;
    return best;
}

/* A call at depth 0 is one instance. */
static void join_site(FlattenFn *f, FlatSite *site, Pending p)
{
    CoreStmt *s = p.stmt;
    BlockTask single = {.ctx = FLAT_ROOT}, *task = p.task;
    if (task->ctx == FLAT_ROOT) {
        single.ctx = single_ctx(f, s->span);
        task = &single;
    }
    site->ctx = task->ctx;
    site->args = arena_array(f->arena, FlatVar, s->call.nargs ? s->call.nargs : 1);
    region_store(f, task, s->call.args, s->call.nargs, site->args, s->span);
    uses_drop_direct(f, s);
    site->outs = arena_array(f->arena, FlatVar, s->nvars ? s->nvars : 1);
}

static void bind_site(FlattenFn *f, FlatSite *site, Pending p)
{
    const CoreStmt *s = p.stmt;
    progress_of(f, p.task, p.stmt)->stage = 1;
    for (uint32_t j = 0; j < s->nvars; j++) {
        CoreVar v = s->vars[j];
        site->outs[j] = new_col(f, site->ctx, core_var_type(f->scope, v), f->scope->vars.at[v].hint);
        if (p.task->ctx != FLAT_ROOT)
            bind_value(f, v, site->outs[j]);
    }
    if (p.task->ctx == FLAT_ROOT)
        bind_single(f, p.stmt, site->ctx, site->outs);
}

/* Alone at depth 0, without calls in a row in its callee: there the host can do more. */
static bool call_alone(FlattenFn *f, Pending p)
{
    if (p.task->ctx != FLAT_ROOT || core_joins_calls(p.stmt->call.fn))
        return false;
    flatten_call_host(f, p.task, p.stmt);
    progress_of(f, p.task, p.stmt)->stage = 1;
    return true;
}

static void join_calls(FlattenFn *f)
{
    assert(f->pending.n && "flatten: statements wait, but no call is pending");
    const CoreFn *fn = choose_callee(f);
    VEC(FlatSite) sites = {0};
    PendingList joined = {0};
    uint32_t rest = 0;
    for (uint32_t i = 0; i < f->pending.n; i++) {
        if (f->pending.at[i].stmt->call.fn == fn)
            vec_push(f->arena, &joined, f->pending.at[i]);
        else
            f->pending.at[rest++] = f->pending.at[i];
    }
    f->pending.n = rest;
    if (joined.n == 1 && call_alone(f, joined.at[0]))
        return;
    for (uint32_t i = 0; i < joined.n; i++) {
        FlatSite site = {0};
        join_site(f, &site, joined.at[i]);
        vec_push(f->arena, &sites, site);
    }
    FlatStmt *call = flat_emit(f, FLAT_S_CALL_LIFTED, joined.at[0].stmt->span, 0);
    call->call_lifted.fn = want_function(f->all, fn, true);
    call->call_lifted.sites = sites.at;
    call->call_lifted.nsites = sites.n;
    call->call_lifted.nargs = fn->nparams;
    call->call_lifted.nresults = fn->nresults;
    for (uint32_t i = 0; i < joined.n; i++)
        bind_site(f, &sites.at[i], joined.at[i]);
}

void schedule_run(FlattenFn *f, BlockTask *task)
{
    while (!task_run(f, task))
        join_calls(f);
}

FlatVar *task_results(FlattenFn *f, BlockTask *task, Span span)
{
    uint32_t n = task->block->nresults;
    FlatVar *out = arena_array(f->arena, FlatVar, n ? n : 1);
    region_store(f, task, task->block->results, n, out, span);
    uses_drop_results(f, task->block);
    return out;
}
