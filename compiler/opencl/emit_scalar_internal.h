/* Inside the printer of scalar code: emit_scalar.c has the code itself, emit_lane.c the parallel operations that a lane
 * executes one element after the other, and its private arrays; emit_vector.c prints the code for several instances. */
#ifndef DPC_OPENCL_EMIT_SCALAR_INTERNAL_H
#define DPC_OPENCL_EMIT_SCALAR_INTERNAL_H

#include "opencl/emit_scalar.h"

/* ---- emit_scalar.c ---- */
void emit_indent(ScalarEmitter *e);
void emit_line(ScalarEmitter *e, const char *text);
/* v = a; with its type in front if it is to be declared. */
void emit_assign(ScalarEmitter *e, CoreVar v, CoreAtom a, bool declare);
/* The values become the variables', all at once: a loop's next state. */
void emit_parallel_assign(ScalarEmitter *e, const CoreVar *vars, const CoreAtom *values, uint32_t n);
/* What the statement binds, unless it is declared. `zero`: with a value. */
void emit_declaration(ScalarEmitter *e, CoreVar v, bool zero);
/* Records that index i is not one of the array's. */
void emit_index_failure(ScalarEmitter *e, uint32_t site, CoreAtom array, CoreAtom index);
/* "DP_LEN(x)", or a number. */
void emit_array_length(ScalarEmitter *e, CoreAtom array);
/* Element `index` of an array. */
void emit_element_read(ScalarEmitter *e, CoreAtom array, CoreAtom index);
/* The part of a sequence, unchecked. */
void emit_slice_read(ScalarEmitter *e, const CoreStmt *s);
/* "dp_add_i32" */
void emit_prim_name(ScalarEmitter *e, const CoreStmt *s);
/* A division whose divisor has to be looked at. */
bool scalar_prim_fallible(const CoreFn *fn, const CoreStmt *s);
/* A remainder by what is no constant: most often an index that wraps. */
bool scalar_wraps(const CoreFn *fn, const CoreStmt *s);
/* A loop that does not look at its index counts all the same; nothing inside says `round` but loops of their own. */
void emit_loop_counter(ScalarEmitter *e, const CoreStmt *s);
/* In front of a loop of so many rounds: where they are many statements, it stays a loop on NVIDIA's, too. */
void emit_rolled(ScalarEmitter *e, CoreAtom rounds, uint32_t statements);
/* May they be assigned one after the other? Not if a value is the variable that an earlier one overwrites. */
bool emit_in_order(const ScalarEmitter *e, const CoreVar *vars, const CoreAtom *values, uint32_t n);
/* How a loop heeds failures: `test` in each round, or `guard` before it. */
typedef struct LoopCare {
    bool test, guard;
} LoopCare;
LoopCare emit_loop_care(const ScalarEmitter *e, const CoreStmt *s, ScalarFacts inside);
/* Where a round begins nothing has failed: the loop has seen to that. Returns what is to be given to the end. */
bool emit_round_begin(ScalarEmitter *e);
void emit_round_end(ScalarEmitter *e, bool before, LoopCare care);
void scalar_facts_add(ScalarFacts *f, ScalarFacts behind);

/* ---- emit_straight.c ---- */
/* A square root or a quotient of f32. */
bool emit_is_root(const CoreFn *fn, const CoreStmt *s);
/* Its value by the functions of kernels/roots.cl, to the end of the line. */
void emit_straight(ScalarEmitter *e, const CoreStmt *s);

/* ---- emit_lane.c ---- */
static inline bool emit_is_private(const ScalarEmitter *e, CoreVar v)
{
    return e->lane && lane_var(e->lane, v)->rank > 0;
}
static inline bool emit_atom_is_private(const ScalarEmitter *e, CoreAtom a)
{
    return !a.is_const && emit_is_private(e, a.var);
}
/* "T x[8];" or "T *x;" */
void emit_private_declaration(ScalarEmitter *e, CoreVar v);
/* The elements of `a` become those of v; or v is another name for them. */
void emit_private_assign(ScalarEmitter *e, CoreVar v, CoreAtom a, bool declare);
/* SLICE: another name for a part, which is there. */
void emit_private_slice(ScalarEmitter *e, const CoreStmt *s);
/* A loop's next state, put aside; and taken. */
void emit_private_next(ScalarEmitter *e, CoreVar v, CoreAtom a);
void emit_private_take_next(ScalarEmitter *e, CoreVar v);
/* A loop's state that rounds update where it is becomes the lane's own; where the memory ends of which nothing that a
 * round makes stays but the state: 0 if it makes nothing. The beginning of a round, and its end. */
uint32_t emit_strip_state(ScalarEmitter *e, const CoreStmt *s, ScalarFacts inside);
/* May the lane find in the loop's rounds, or the operation's elements, that it has too much to do? */
bool emit_lane_looks(const ScalarEmitter *e, const CoreStmt *s);
void emit_lane_round(ScalarEmitter *e, const CoreStmt *loop);
void emit_strip_round(ScalarEmitter *e, const CoreStmt *s, uint32_t mark);
/* Where the lane's memory is free; and it is again from there on. */
uint32_t emit_mark(ScalarEmitter *e);
void emit_drop(ScalarEmitter *e, uint32_t mark);
/* The same for a loop's state, and how far its rounds may go until it moves; anew, when it has moved. */
uint32_t emit_state_mark(ScalarEmitter *e);
void emit_limit(ScalarEmitter *e, uint32_t mark);
/* Is what an element's code makes gone behind it? Not if it is a row of the result. inside: what it contains. */
bool emit_drops(const ScalarEmitter *e, const CoreStmt *s, ScalarFacts inside);
/* What a lane that counts spends on the operation, `at_once` of whose elements cost as much as one; and what it has to
 * spend from the block's statement `at` on: on loops behind it whose rounds are known there for the first time;
 * `rounds` prints how many. */
void emit_spent(ScalarEmitter *e, const CoreStmt *s, uint32_t at_once, void (*elements)(void *ctx, CoreAtom n),
                void *ctx);
void emit_lane_credit(ScalarEmitter *e, const CoreBlock *b, uint32_t at, void (*rounds)(void *ctx, CoreAtom n),
                      void *ctx);
/* The statement of a lane that is no scalar code, or LANE itself. */
void emit_lane_stmt(ScalarEmitter *e, const CoreStmt *s);

#endif
