#include "core/callgraph.h"
#include "core/passes.h"

#define SMALL_SIZE 300u      /* statements: inlined wherever it is called */
#define MOST_GROWTH 20000u   /* statements that the copies of one function may add in all */

typedef struct Inliner {
    CoreProgram *p;
    CallGraph *g;
    bool *chosen; /* by function: to be inlined */
} Inliner;

static bool is_chosen(void *ctx, const CoreFn *callee)
{
    const Inliner *in = ctx;
    return in->chosen[callee->index];
}

static void count_stmts(void *ctx, CoreBlock *b)
{
    uint32_t *size = ctx;
    *size += b->stmts.n;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_stmt_blocks(b->stmts.at[i], count_stmts, size);
}

/* `node->size` is that of the finished body. Calls are counted in bodies as they were: a caller that was
 * inlined itself brings the callee's copy along, not another call. */
static bool should_inline(const CallGraphNode *node)
{
    if (callgraph_recursive(node) || node->calls == 0)
        return false;
    uint32_t copies = node->is_entry ? node->calls : node->calls - 1;
    return copies == 0 || node->size < SMALL_SIZE || (uint64_t)node->size * copies <= MOST_GROWTH;
}

/* Callees first, so that a body is final before it is copied. */
void core_inline(CoreProgram *p)
{
    Arena *scratch = arena_create();
    core_drop_unreachable(p);
    core_refresh(p);
    Inliner in = {.p = p, .g = callgraph_of(p, scratch)};
    in.chosen = arena_array(scratch, bool, p->fns.n + 1);
    for (uint32_t i = 0; i < in.g->n; i++) {
        CallGraphNode *node = &in.g->nodes[in.g->order[i]];
        if (core_expand_calls(p, node->fn, is_chosen, &in)) {
            node->size = 0;
            count_stmts(&node->size, node->fn->body);
        }
        in.chosen[node->fn->index] = should_inline(node);
    }
    callgraph_set_recursive(in.g);
    core_drop_unreachable(p);
    arena_destroy(scratch);
}
