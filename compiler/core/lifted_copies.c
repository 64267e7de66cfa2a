/* A recursive function that calls itself in parallel code, and that the host calls, too, becomes two:
 *
 *     rec fn f (x) { … map at i { … f y … } … loop … }    ==>    fn f (x) { … map at i { … f_each y … } … loop … }
 *                                                           rec fn f_each (x) { … map at i { … f_each y … } … loop … }
 *
 * so that passes may do what is good where all calls are made in parallel code, such as lanes for the loop
 * (choose_lanes.c). Flattening makes two versions anyway. Where the host calls it at several places, these calls may be
 * joined, in parallel code (flat/schedule.c): it stays one. A function with loops that both call becomes two, too. */
#include "core/build.h"
#include "core/callgraph.h"
#include "core/passes.h"

#include <stdio.h>
#include <string.h>

typedef struct Copies {
    CoreProgram *p;
    Arena *scratch;
    CoreFn **copies; /* by CoreFn.index: for calls in parallel code; or NULL */
    uint32_t *calls; /* likewise: in code of the host */
    bool parallel;
} Copies;

static const char *copy_name(const Copies *c, const CoreFn *fn)
{
    static const char end[] = "_each";
    char *name = arena_alloc(c->p->arena, strlen(fn->name) + sizeof end + 11);
    sprintf(name, "%s%s", fn->name, end);
    for (uint32_t i = 0, k = 2; i < c->p->fns.n; i++)
        if (strcmp(c->p->fns.at[i]->name, name) == 0) {
            sprintf(name, "%s%s%u", fn->name, end, k++);
            i = UINT32_MAX;
        }
    return name;
}

static CoreFn *copy_of(Copies *c, const CoreFn *fn)
{
    CoreFn *copy = core_copy_fn(c->p, fn, c->scratch);
    copy->of = core_fn_called(fn);
    copy->name = copy_name(c, fn);
    copy->index = c->p->fns.n;
    vec_push(c->p->arena, &c->p->fns, copy);
    return copy;
}

static void redirect(void *ctx, CoreBlock *b)
{
    Copies *c = ctx;
    const bool outer = c->parallel;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_CALL && c->parallel && c->copies[s->call.fn->index])
            s->call.fn = c->copies[s->call.fn->index];
        c->parallel = outer || core_stmt_soac(s);
        core_stmt_blocks(s, redirect, c);
        c->parallel = outer;
    }
}

static void count_host_calls(void *ctx, CoreBlock *b)
{
    Copies *c = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_CALL)
            c->calls[s->call.fn->index]++;
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, count_host_calls, c);
    }
}

static void find_loop(void *ctx, CoreBlock *b)
{
    bool *found = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !*found; i++) {
        *found = b->stmts.at[i]->kind == CORE_LOOP && !core_stmt_is_scalar(b->stmts.at[i]);
        if (!core_stmt_soac(b->stmts.at[i]))
            core_stmt_blocks(b->stmts.at[i], find_loop, ctx);
    }
}

static bool had_better_be_two(const Copies *c, const CoreFn *fn)
{
    bool loops = false;
    if (fn->recursive)
        return !core_joins_calls(fn) && c->calls[fn->index] < 2;
    find_loop(&loops, fn->body);
    return loops;
}

void core_lifted_copies(CoreProgram *p)
{
    Arena *scratch = arena_create();
    const uint32_t n = p->fns.n;
    const bool *lifted = core_lifted_functions(p, scratch), *host = core_host_functions(p, scratch);
    Copies c = {.p = p, .scratch = scratch};
    bool any = false;
    c.copies = arena_array(scratch, CoreFn *, 2 * (size_t)n + 1);
    c.calls = arena_array(scratch, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (host[i])
            count_host_calls(&c, p->fns.at[i]->body);
    for (uint32_t i = 0; i < n; i++) {
        const CoreFn *fn = p->fns.at[i];
        if (lifted[i] && host[i] && had_better_be_two(&c, fn)) {
            c.copies[i] = copy_of(&c, fn);
            any = true;
        }
    }
    for (uint32_t i = 0; any && i < p->fns.n; i++) {
        c.parallel = i >= n || (lifted[i] && !host[i]);
        redirect(&c, p->fns.at[i]->body);
    }
    if (any)
        callgraph_set_recursive(callgraph_of(p, scratch));
    arena_destroy(scratch);
}
