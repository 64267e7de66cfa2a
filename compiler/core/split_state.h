/* Variables that become several each, such as a list its buffer and how much of it is used: what blocks, branches and
 * loops do with them. Who rewrites code says which they are, what each becomes, and what becomes of a statement. */
#ifndef DPC_SPLIT_STATE_H
#define DPC_SPLIT_STATE_H

#include "core/build.h"

enum { MOST_PARTS = 5 };

typedef struct SplitState {
    CoreBuilder *b;
    void *ctx;
    bool (*is_split)(void *ctx, CoreVar v);
    /* New variables for v, at most MOST_PARTS; what a is, where it becomes v. They return how many. */
    uint32_t (*make)(void *ctx, CoreVar v, CoreVar *parts);
    uint32_t (*parts)(void *ctx, CoreVar v, CoreAtom a, CoreAtom *parts);
    CoreAtom (*other)(void *ctx, CoreAtom a); /* a, where it becomes what is not split */
    void (*rewrite)(void *ctx, CoreStmt *s);  /* appends to b->out */
} SplitState;

/* The variables, in place of `vars`; *count of them. */
CoreVar *split_vars(const SplitState *s, const CoreVar *vars, uint32_t n, uint32_t *count);
/* What they are given, in place of `atoms`; likewise. */
CoreAtom *split_atoms(const SplitState *s, const CoreVar *vars, const CoreAtom *atoms, uint32_t n, uint32_t *count);
/* The block, rewritten; its results are those of the n variables, or, where these are NULL, stay. */
void split_block(const SplitState *s, CoreBlock *block, const CoreVar *vars, uint32_t n);
/* Appends the `if`, or the loop, rewritten; the loop begins with these, which are split already; NULL: with its own. */
void split_if(const SplitState *s, CoreStmt *branch);
void split_loop(const SplitState *s, CoreStmt *loop, CoreAtom *inits);

#endif
