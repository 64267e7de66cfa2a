/* Who calls whom: for the passes that move functions into each other. */
#ifndef DPC_CALLGRAPH_H
#define DPC_CALLGRAPH_H

#include "core/core.h"

typedef struct CallGraphNode {
    CoreFn *fn;
    uint32_t calls;      /* statements anywhere in the program that call it */
    uint32_t self_calls; /* … among them, in its own body */
    uint32_t size;       /* statements, nested ones included */
    uint32_t depth;      /* of the blocks nested in its body */
    uint32_t group;      /* number of its strongly connected component; callees' groups have lower numbers */
    uint32_t group_size;
    bool is_entry;
    bool reachable;        /* from an entry */
    VEC(uint32_t) callees; /* one for each call */
} CallGraphNode;

typedef struct CallGraph {
    CallGraphNode *nodes; /* by CoreFn.index */
    uint32_t n;
    uint32_t *order; /* indices, callees before callers (within a group: any) */
} CallGraph;

CallGraph *callgraph_of(const CoreProgram *p, Arena *arena);
static inline bool callgraph_recursive(const CallGraphNode *n) { return n->group_size > 1 || n->self_calls > 0; }
/* Sets CoreFn.recursive. */
void callgraph_set_recursive(const CallGraph *g);
/* Removes functions that no entry reaches; without entries, all stay. */
void core_drop_unreachable(CoreProgram *p);

/* Most calls of recursive functions that one activation makes on one path; those in a parallel operation count once. */
uint32_t core_calls_in_sequence(const CoreBlock *b);
/* Does one activation make several recursive calls in a row? At depth 0 the lifted version is called then, for one
 * instance: there they are joined. */
static inline bool core_joins_calls(const CoreFn *fn) { return fn->recursive && core_calls_in_sequence(fn->body) > 1; }
/* Are recursive calls of one activation made together, whether in a row or in a parallel operation? Then calls at depth
 * 0 that do not need each other are joined, too. */
bool core_recurs_together(const CoreFn *fn);

/* By CoreFn.index: is it called in parallel code? */
const bool *core_lifted_functions(const CoreProgram *p, Arena *scratch);
/* Is it called outside of parallel code? Calls that are joined count as parallel. */
const bool *core_host_functions(const CoreProgram *p, Arena *scratch);
/* Calls f for each that is not called in parallel code. */
void core_each_host_function(CoreProgram *p, void (*f)(CoreProgram *p, CoreFn *fn, Arena *scratch));

/* How a call is to be treated by core_expand_calls. */
typedef bool ExpandCall(void *ctx, const CoreFn *callee);
/* Replaces each call in fn that `expand` accepts by a copy of the callee's body as it is now. Calls inside the
 * copies are left alone, or treated in the same way (`expand` may then accept no recursive function). */
typedef enum ExpandDepth { EXPAND_ONCE, EXPAND_ALL } ExpandDepth;
void core_expand_calls(CoreProgram *p, CoreFn *fn, ExpandDepth depth, ExpandCall *expand, void *ctx);

#endif
