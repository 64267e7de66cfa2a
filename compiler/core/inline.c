#include "core/callgraph.h"
#include "core/passes.h"

#define SMALL_SIZE 300u           /* statements: inlined wherever it is called, while MOST_GROWTH_IN_ALL lasts */
#define MOST_GROWTH 2000u         /* statements that the copies of one function that is not small may add in all */
#define MOST_GROWTH_IN_ALL 10000u /* … and of all functions, beside as many as the program has */
#define MOST_DEPTH 10000u         /* of the blocks that inlining nests: passes recurse over them */

typedef struct Inliner {
    CoreProgram *p;
    CallGraph *g;
    bool *chosen;                 /* by function: to be inlined */
    uint64_t growth, most_growth; /* of the program by copies, in statements */
} Inliner;

static bool is_chosen(void *ctx, const CoreFn *callee)
{
    const Inliner *in = ctx;
    return in->chosen[callee->index];
}

/* What the body will be when the chosen calls in it are expanded: its callees' numbers are final. */
static void measure(const Inliner *in, CallGraphNode *node)
{
    uint64_t size = node->size;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < node->callees.n; i++) {
        const CallGraphNode *callee = &in->g->nodes[node->callees.at[i]];
        if (!in->chosen[callee->fn->index])
            continue;
        size = size - 1 + callee->size; /* less the call */
        deepest = callee->depth > deepest ? callee->depth : deepest;
    }
    node->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    node->depth += deepest;
}

/* Calls are counted in bodies as they were: a caller that is expanded itself brings the callee's copy along, not
 * another call. */
static bool should_inline(Inliner *in, const CallGraphNode *node)
{
    if (callgraph_recursive(node) || node->calls == 0 || node->depth > MOST_DEPTH)
        return false;
    uint32_t copies = node->is_entry ? node->calls : node->calls - 1;
    uint64_t growth = (uint64_t)node->size * copies;
    if ((node->size >= SMALL_SIZE && growth > MOST_GROWTH) || in->growth + growth > in->most_growth)
        return false;
    in->growth += growth;
    return true;
}

/* Callees first, to choose. What is chosen and no entry disappears: expanding its own calls would be wasted. */
void core_inline(CoreProgram *p)
{
    Arena *scratch = arena_create();
    core_drop_unreachable(p);
    core_refresh(p);
    Inliner in = {.p = p, .g = callgraph_of(p, scratch)};
    in.chosen = arena_array(scratch, bool, p->fns.n + 1);
    in.most_growth = MOST_GROWTH_IN_ALL;
    for (uint32_t i = 0; i < in.g->n; i++)
        in.most_growth += in.g->nodes[i].size;
    for (uint32_t i = 0; i < in.g->n; i++) {
        CallGraphNode *node = &in.g->nodes[in.g->order[i]];
        measure(&in, node);
        in.chosen[node->fn->index] = should_inline(&in, node);
    }
    for (uint32_t i = 0; i < in.g->n; i++) {
        const CallGraphNode *node = &in.g->nodes[in.g->order[i]];
        if (node->is_entry || !in.chosen[node->fn->index])
            core_expand_calls(p, node->fn, EXPAND_ALL, is_chosen, &in);
    }
    callgraph_set_recursive(in.g);
    core_drop_unreachable(p);
    arena_destroy(scratch);
}
