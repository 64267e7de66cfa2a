/* Shared by fusion's files: fuse.c (the walk, a map into its consumer), fuse_filter.c (a filter into its
 * consumer), fuse_index.c (an element of a map that need not be stored), fuse_slice.c (a piece of a map),
 * fuse_horizontal.c (neighbours over the same input), fuse_flatten.c (a flattened nest into its reduction). */
#ifndef DPC_FUSE_INTERNAL_H
#define DPC_FUSE_INTERNAL_H

#include "core/build.h"
#include "core/passes.h"

typedef struct VarUses {
    uint32_t all;           /* occurrences */
    uint32_t inputs;        /* … as inputs of parallel operations in the block that binds it */
    uint32_t indexed;       /* … as the sequence of an `index`, at any depth */
    uint32_t lengths;       /* … of a `length` */
    CoreStmt *def;          /* the statement that binds it, once its block was reached */
    const CoreBlock *block; /* … and the block */
    uint32_t level;         /* … in so many bodies of loops and parallel operations */
    bool replaced;          /* stands for `by`; follow with fuse_resolve */
    CoreAtom by;
} VarUses;

/* A statement whose blocks are at hand, and the block that it stands in. */
typedef struct FuseAround {
    const CoreBlock *block;
    CoreStmt *stmt;
} FuseAround;

typedef struct Fuser {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    VEC(VarUses) vars;
    uint32_t level; /* in so many bodies of loops and parallel operations is the walk */
    uint32_t nest;  /* … in parallel operations */
    const CoreBlock
        *soac_beside;       /* the block of the parallel operation in whose body it is, but for branches; or NULL */
    VEC(FuseAround) around; /* what is at hand, outermost first */
    bool in_rounds;         /* that is a counted loop, which stands in parallel code */
    CoreVar position;       /* … that operation's index */
    CoreStmt **rest;        /* what the block at hand has behind the statement at hand; NULL where one is gone */
    uint32_t nrest;
    VEC(uint32_t) changes; /* which statements of the block at hand change an array */
    struct {
        const CoreStmt *producer;
        const CoreBlock *block;
        CoreAtom index;
        const CoreAtom *results;
    } element;         /* the last one that was computed instead of loaded */
    VEC(CoreAtom) map; /* for copies: every variable stands for itself, but for those being copied */
} Fuser;

VarUses *fuse_var(Fuser *f, CoreVar v);
CoreAtom fuse_resolve(Fuser *f, CoreAtom a);
void fuse_replace(Fuser *f, CoreVar v, CoreAtom by);
/* For core_stmt_reads and core_block_reads: does the atom, resolved, stand for v? */
typedef struct FuseSought {
    Fuser *f;
    CoreVar v;
} FuseSought;
bool fuse_is_sought(void *sought, CoreAtom a);
/* The statement that binds the atom, or NULL. */
CoreStmt *fuse_def(Fuser *f, CoreAtom a);
/* Adds (sign 1) or takes away (-1) the occurrences in a block; those in its results, too. */
void fuse_count_block(Fuser *f, CoreBlock *b, int sign);
void fuse_count_atom(Fuser *f, CoreAtom a, int sign);
CoreBlock *fuse_copy_block(Fuser *f, CoreBlock *b);
/* What `v` is replaced by in the copies to come. */
void fuse_set_copy(Fuser *f, CoreVar v, CoreAtom by);
/* Says that s, in b, binds its variables. */
void fuse_note_def(Fuser *f, const CoreBlock *b, CoreStmt *s);
/* Appends the statement, or what replaces it, to b. */
void fuse_emit(Fuser *f, CoreBlock *b, CoreStmt *s);
/* Makes statements at the end of the block, and counts what they read. */
CoreBuilder fuse_builder(Fuser *f, CoreBlock *out, Span span);
/* `front`'s statements, then b's. */
void fuse_prepend(Fuser *f, CoreBlock *b, CoreBlock *front);
/* Takes s out of the list of n. */
void fuse_forget(CoreStmt **stmts, uint32_t n, const CoreStmt *s);
/* On every path at most `most` cheap scalar operations, none of which can fail, `reads` of them an unchecked index. */
bool fuse_is_cheap(const Fuser *f, const CoreBlock *b, uint32_t most, uint32_t reads);
bool fuse_is_index_function(const Fuser *f, const CoreStmt *producer);

/* How often v is an input of c. Is the atom a result of the producer? which? */
uint32_t fuse_times_input(Fuser *f, const CoreSoac *c, CoreVar v);
bool fuse_is_result_of(Fuser *f, const CoreStmt *producer, CoreAtom a, uint32_t *which);
/* A copy with binders of its own. */
CoreSoac fuse_copy_soac(Fuser *f, const CoreSoac *m);
/* The consumer's inputs that the producer makes give way to the inputs of m, which is the producer's soac or a
 * copy of it, and is used up; elements become m's results. The body's statements are for the caller to place. */
void fuse_join_inputs(Fuser *f, CoreSoac *c, const CoreStmt *producer, const CoreSoac *m);

/* `stmt` is an `index` into a map: is it better computed here? True if it was replaced by statements appended to b. */
bool fuse_index(Fuser *f, CoreBlock *b, const CoreStmt *stmt);
/* `stmt` takes a piece of a map of block b: if only that piece is wanted, it becomes a map over pieces, at the end of
 * b. */
bool fuse_slice(Fuser *f, CoreBlock *b, const CoreStmt *stmt);
/* Is it an array of so few scalars that one of them is better chosen than loaded? */
bool fuse_is_few_scalars(Fuser *f, const CoreStmt *producer);
/* Item i of it: statements at the end of b. */
CoreAtom fuse_choose_item(Fuser *f, CoreBlock *b, const CoreStmt *array, CoreAtom i, Span span);
/* stmts[at] consumes what a filter in the same block b produces: true if the filter went into it. `stmts` are b's n
 * statements, NULL where one is gone. */
bool fuse_filter(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at, uint32_t n);
/* A filter of which only the length is wanted becomes a count. */
void fuse_count(Fuser *f, CoreBlock *b, CoreStmt **stmts, uint32_t at, uint32_t n);
/* Maps, and reductions, that share an input become one. The statements' marks are their numbers afterwards. */
void fuse_horizontal(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t n);
/* Is everything that s reads bound in front of the statement that has the mark `above`? */
bool fuse_reads_only_above(Fuser *f, const CoreBlock *b, CoreStmt *s, uint32_t above);
/* The operator `op` of m values beside *to of n. */
void fuse_join_operator(Fuser *f, CoreLambda *to, const CoreLambda *op, uint32_t n, uint32_t m);
/* A `length` goes, or asks something else. */
void fuse_uncount_length(Fuser *f, const CoreStmt *length);
/* May the reduction go up to where `length`, its domain, is taken? The length as one more result of s, whose body gives
 * it; and stmts[at], which gives it, where it was taken. */
bool fuse_may_move_up(Fuser *f, const CoreBlock *b, CoreStmt *s, const CoreStmt *length);
void fuse_add_length(Fuser *f, CoreStmt *s, CoreVar length);
void fuse_move_up(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at, const CoreStmt *length);
/* stmts[at] reduces a flattened nest, or asks for its length: true if it goes row by row now. Behind fuse_horizontal.
 */
bool fuse_flatten(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at);

#endif
