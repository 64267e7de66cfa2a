#include "flat/flatten_internal.h"

#include <assert.h>

/* Frames and scheduling.
 *
 * In code under a context, a call is *pending* where it is met, and everything that does not depend on it
 * goes on: the rest of the frame, other branches, other nested bodies. When nothing more can be done, all pending calls
 * of one function, in whatever contexts below, become one joined call (FLATTENING.md section 6). The order is fixed
 * here, at compile time: at run time a context without instances makes its part harmless. */

Frame *frame_new(Fl *f, FlatVar ctx, CoreBlock *b)
{
    Frame *fr = arena_new(f->arena, Frame);
    fr->ctx = ctx;
    fr->block = b;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        vec_push(f->arena, &fr->todo, b->stmts.at[i]);
        for (uint32_t j = 0; j < b->stmts.at[i]->nvars; j++)
            var_state(f, b->stmts.at[i]->vars[j])->declared = true;
    }
    return fr;
}

Progress *progress_of(Fl *f, Frame *fr, CoreStmt *s)
{
    for (uint32_t i = 0; i < fr->progress.n; i++)
        if (fr->progress.at[i]->stmt == s)
            return fr->progress.at[i];
    Progress *p = arena_new(f->arena, Progress);
    p->stmt = s;
    vec_push(f->arena, &fr->progress, p);
    return p;
}

static bool started(const Frame *fr, const CoreStmt *s)
{
    for (uint32_t i = 0; i < fr->progress.n; i++)
        if (fr->progress.at[i]->stmt == s)
            return true;
    return false;
}

/* ---- what a statement waits for ---- */

typedef struct WaitWalk {
    Fl *f;
    bool waits;
} WaitWalk;

static void wait_atom(void *ctx, CoreAtom *a)
{
    WaitWalk *w = ctx;
    if (a->is_const)
        return;
    VarState *v = var_state(w->f, a->var);
    if (v->declared && v->val.kind == VAL_NONE)
        w->waits = true;
}

static void wait_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        core_stmt_atoms(b->stmts.at[i], wait_atom, ctx);
        core_stmt_blocks(b->stmts.at[i], wait_block, ctx);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        wait_atom(ctx, &b->results[i]);
}

static bool waits(Fl *f, CoreStmt *s)
{
    WaitWalk w = {f, false};
    core_stmt_atoms(s, wait_atom, &w);
    core_stmt_blocks(s, wait_block, &w);
    return w.waits;
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

static void open_stmt(Fl *f, Frame *fr, CoreStmt *s)
{
    vec_push(f->arena, &fr->open, s);
    for (uint32_t i = 0; i < s->nvars; i++)
        set_val(f, s->vars[i], (Val){.kind = VAL_OPEN, .frame = fr, .var = FLAT_NO_VAR});
}

static bool opens(const Frame *fr, const CoreStmt *s)
{
    return scalar_stmt(s) && !(fr->ctx == FLAT_ROOT && loops_over_memory(s));
}

static void join_calls(Fl *f);

bool frame_run(Fl *f, Frame *fr)
{
    uint32_t kept = 0;
    bool check_waits = false; /* a check has not been made yet: what may run for ever must not pass it */
    for (uint32_t i = 0; i < fr->todo.n; i++) {
        CoreStmt *s = fr->todo.at[i];
        bool done;
        if (!started(fr, s) && (waits(f, s) || (check_waits && may_diverge(s)))) {
            done = false;
        } else if (opens(fr, s)) {
            open_stmt(f, fr, s);
            done = true;
        } else {
            done = step(f, fr, s);
            while (!done && fr->ctx == FLAT_ROOT) { /* host code goes in order */
                join_calls(f);
                done = step(f, fr, s);
            }
        }
        if (!done) {
            check_waits = check_waits || s->kind == CORE_CHECK;
            fr->todo.at[kept++] = s;
        }
    }
    fr->todo.n = kept;
    return kept == 0;
}

/* Which function to join first: one of another recursive group before the own (its results may free further
 * calls of the own), then the one with most pending calls. */
static CoreFn *choose_callee(const Fl *f)
{
    CoreFn *best = NULL;
    uint32_t best_count = 0;
    for (uint32_t i = 0; i < f->pending.n; i++) {
        CoreFn *fn = f->pending.at[i].stmt->call.fn;
        uint32_t count = 0;
        for (uint32_t j = 0; j < f->pending.n; j++)
            count += f->pending.at[j].stmt->call.fn == fn;
        bool own = fn == f->cf, best_own = best == f->cf;
        if (!best || (best_own && !own) || (best_own == own && count > best_count)) {
            best = fn;
            best_count = count;
        }
    }
    return best;
}

static void join_site(Fl *f, FlatSite *site, Pending p)
{
    CoreStmt *s = p.stmt;
    site->ctx = p.frame->ctx;
    site->args = arena_array(f->arena, FlatVar, s->call.nargs ? s->call.nargs : 1);
    finish(f, p.frame, s->call.args, s->call.nargs, site->args, s->span);
    uses_drop_direct(f, s);
    site->outs = arena_array(f->arena, FlatVar, s->nvars ? s->nvars : 1);
}

static void join_calls(Fl *f)
{
    assert(f->pending.n && "flatten: statements wait, but no call is pending");
    CoreFn *fn = choose_callee(f);
    VEC(FlatSite) sites = {0};
    PendingList joined = {0}, rest = {0};
    for (uint32_t i = 0; i < f->pending.n; i++) {
        if (f->pending.at[i].stmt->call.fn == fn)
            vec_push(f->arena, &joined, f->pending.at[i]);
        else
            vec_push(f->arena, &rest, f->pending.at[i]);
    }
    f->pending = rest;
    for (uint32_t i = 0; i < joined.n; i++) {
        FlatSite site = {0};
        join_site(f, &site, joined.at[i]);
        vec_push(f->arena, &sites, site);
    }
    FlatStmt *call = emit(f, FLAT_S_CALL_LIFTED, joined.at[0].stmt->span, 0);
    call->call_lifted.fn = want_function(f->all, fn, true);
    call->call_lifted.sites = sites.at;
    call->call_lifted.nsites = sites.n;
    call->call_lifted.nargs = fn->nparams;
    call->call_lifted.nresults = fn->nresults;
    for (uint32_t i = 0; i < joined.n; i++) {
        CoreStmt *s = joined.at[i].stmt;
        progress_of(f, joined.at[i].frame, s)->stage = 1;
        for (uint32_t j = 0; j < s->nvars; j++) {
            FlatVar out =
                new_col(f, joined.at[i].frame->ctx, core_var_type(f->cf, s->vars[j]), f->cf->vars.at[s->vars[j]].hint);
            sites.at[i].outs[j] = out;
            bind_value(f, s->vars[j], out);
        }
    }
}

void drive(Fl *f, Frame *fr)
{
    while (!frame_run(f, fr))
        join_calls(f);
}

FlatVar *frame_results(Fl *f, Frame *fr, Span span)
{
    uint32_t n = fr->block->nresults;
    FlatVar *out = arena_array(f->arena, FlatVar, n ? n : 1);
    finish(f, fr, fr->block->results, n, out, span);
    uses_drop_results(f, fr->block);
    return out;
}
