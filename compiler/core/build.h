/* How passes make core: a builder appends statements to a block and returns what they bind.
 *
 *     CoreBuilder b = {.p = p, .fn = fn, .out = block, .span = span};
 *     CoreAtom n = build_length(&b, xs), last = build_prim2(&b, PRIM_SUB, n, core_i64(1));
 *     CoreAtom x = build_index(&b, xs, last, CORE_NO_SITE);
 *
 * Blocks inside statements are built between build_begin and build_end:
 *
 *     CoreBlock *outer = build_begin(&b);
 *     … statements of the body …
 *     CoreBlock *body = build_end(&b, outer, results, n);
 *
 * Variables are new ones of `fn`, their types follow from the operands'. Everything lies in the program's arena. A pass
 * that has more to do with a statement than to append it (to count uses, to simplify it) sets `emit`. */
#ifndef DPC_BUILD_H
#define DPC_BUILD_H

#include "core/core.h"

typedef struct CoreBuilder {
    const CoreProgram *p;
    CoreFn *fn;
    CoreBlock *out;                                       /* where statements go */
    Span span;                                            /* of what is made */
    void (*emit)(void *ctx, CoreBlock *out, CoreStmt *s); /* or NULL: to the end of `out` */
    void *ctx;
} CoreBuilder;

/* ---- variables and atoms ---- */
CoreAtom build_var(CoreBuilder *b, CoreType type, const char *hint);
static inline CoreAtom build_atom(const CoreBuilder *b, CoreVar v) { return core_var_atom(v, core_var_type(b->fn, v)); }
/* Variables as atoms, with room for one more. */
CoreAtom *build_atoms(const CoreBuilder *b, const CoreVar *vars, uint32_t n);
/* Copies of the first n, with room for `room`. */
CoreVar *build_vars_copy(const CoreBuilder *b, const CoreVar *vars, uint32_t room, uint32_t n);
CoreAtom *build_atoms_copy(const CoreBuilder *b, const CoreAtom *atoms, uint32_t room, uint32_t n);

/* ---- statements ---- */
/* Not emitted yet; binds these variables, of which it has a copy. */
CoreStmt *build_stmt_into(CoreBuilder *b, CoreKind kind, uint32_t n, const CoreVar *vars);
/* Gives the statement n new variables, of these types, instead of those that it binds. */
void build_fresh(CoreBuilder *b, CoreStmt *s, uint32_t n, const CoreType *types);
/* Not emitted yet; binds n new variables of these types. */
CoreStmt *build_stmt(CoreBuilder *b, CoreKind kind, uint32_t n, const CoreType *types);
void build_emit(CoreBuilder *b, CoreStmt *s);
CoreAtom build_prim(CoreBuilder *b, CorePrim op, Scalar result, const CoreAtom *args);
/* The result is bool for a comparison, else of the first operand's type. */
CoreAtom build_prim1(CoreBuilder *b, CorePrim op, CoreAtom x);
CoreAtom build_prim2(CoreBuilder *b, CorePrim op, CoreAtom x, CoreAtom y);
CoreAtom build_select(CoreBuilder *b, CoreAtom cond, CoreAtom x, CoreAtom y);
CoreAtom build_length(CoreBuilder *b, CoreAtom xs);
CoreAtom build_index(CoreBuilder *b, CoreAtom xs, CoreAtom i, uint32_t site);
/* v = a */
void build_named(CoreBuilder *b, CoreVar v, CoreAtom a);
/* The value of a tuning parameter, as a DpTuning (params.h). */
CoreAtom build_param(CoreBuilder *b, uint32_t of);
/* xs with [i] = value; where i is none of xs' places, xs, as elements of the result's own. */
CoreAtom build_changed(CoreBuilder *b, CoreAtom xs, CoreAtom i, CoreAtom value);
/* xs[from : from + length], which is known to be there. */
CoreAtom build_piece(CoreBuilder *b, CoreAtom xs, CoreAtom from, CoreAtom length);
CoreAtom build_flatten(CoreBuilder *b, CoreAtom rows);
CoreAtom build_array(CoreBuilder *b, CoreType type, const CoreAtom *items, uint32_t n);
/* A zero or an empty sequence. */
CoreAtom build_nothing(CoreBuilder *b, CoreType type);
void build_check(CoreBuilder *b, uint32_t site, CoreAtom cond, const CoreAtom *values, uint32_t n);
/* 0 <= i < n; nothing without a site. */
void build_check_bounds(CoreBuilder *b, uint32_t site, CoreAtom i, CoreAtom n);
/* 0 <= from <= to <= n; nothing without a site. */
void build_check_slice(CoreBuilder *b, uint32_t site, CoreAtom from, CoreAtom to, CoreAtom n);

/* ---- blocks ---- */
/* Statements go into a new block from here on; returns the one they went into. */
CoreBlock *build_begin(CoreBuilder *b);
/* The open block, with these results; statements go into `outer` again. */
CoreBlock *build_end(CoreBuilder *b, CoreBlock *outer, const CoreAtom *results, uint32_t n);
void build_results(const CoreBuilder *b, CoreBlock *block, const CoreAtom *results, uint32_t n);
/* The block's results are what s binds. */
void build_return(const CoreBuilder *b, CoreBlock *block, const CoreStmt *s);
/* For one of two versions of s. Not emitted yet: an `if` that binds what s has bound; s binds new variables, of the
 * same types. And a block of s alone, whose results these are. */
CoreStmt *build_instead(CoreBuilder *b, CoreStmt *s, CoreAtom cond);
CoreBlock *build_alone(CoreBuilder *b, CoreStmt *s);
/* Calls f on every atom that the block reads; what f builds goes to the block's front. */
void build_in_front(CoreBuilder *b, CoreBlock *block, void (*f)(void *ctx, CoreAtom *a), void *ctx);
/* Appends a copy of a block of `from`, with fresh variables; `map` as for core_copy_block. Returns its results. */
const CoreAtom *build_copy(CoreBuilder *b, const CoreFn *from, const CoreBlock *block, CoreAtom *map);

/* For build_copy of an operation's body at this position: the body's variables stand for it, and the elements there. */
void build_enter(CoreBuilder *b, const CoreSoac *soac, CoreAtom position, CoreAtom *map);

/* A copy of a while loop's condition, of this state; `map` as for core_copy_within. */
CoreAtom build_condition(CoreBuilder *b, const CoreStmt *s, const CoreAtom *state, Arena *scratch, CoreCopyMap *map);

/* ---- control and parallel operations; each returns what is bound ---- */
CoreAtom *build_if(CoreBuilder *b, CoreAtom cond, CoreBlock *then_b, CoreBlock *else_b);
CoreAtom *build_call(CoreBuilder *b, CoreFn *fn, const CoreAtom *args);
CoreAtom *build_map(CoreBuilder *b, CoreSoac soac);
/* What the block gives, of scalars and sequences, as one instance of parallel code: xs = map 1 { block }; xs[0]. */
CoreAtom *build_once(CoreBuilder *b, CoreBlock *block);
/* An array of n times x. */
CoreAtom build_repeated(CoreBuilder *b, CoreAtom x, CoreAtom n);
/* An array of n such elements with nothing in them (lane_is_room). */
CoreAtom build_room(CoreBuilder *b, CoreAtom n, CoreType element);
/* op as an operator on values of this type */
CoreLambda build_operator(CoreBuilder *b, CorePrim op, CoreType type);
/* CORE_REDUCE or CORE_SCAN by one primitive. */
CoreAtom build_fold(CoreBuilder *b, CoreKind kind, CoreSoac soac, CorePrim op, CoreAtom neutral, bool exclusive);
/* The lengths of n rows; where rows of n such lengths begin, one behind the other. */
CoreAtom build_row_lengths(CoreBuilder *b, CoreAtom rows, CoreAtom n);
CoreAtom build_row_starts(CoreBuilder *b, CoreAtom lengths, CoreAtom n);
/* n rows of such lengths, which begin there in xs. */
CoreAtom build_rows(CoreBuilder *b, CoreAtom xs, CoreAtom starts, CoreAtom lengths, CoreAtom n);

#endif
