/* The passes over core. Each takes a program and returns a new one or changes blocks it owns; after
 * each, core_check holds and core_eval gives the same results (the oracle law). */
#ifndef DPC_CORE_PASSES_H
#define DPC_CORE_PASSES_H

#include "core/core.h"
#include "types/check.h"

/* AST to core: desugars, specialises polymorphic and higher-order functions, dissolves products.
 * NULL after diagnostics. */
CoreProgram *elaborate(Session *s, const Checked *checked);

/* Bounds and sizes are not checked, but known to hold: to measure what checks cost. */
void core_drop_checks(CoreProgram *p);

/* Copy propagation, constant folding, dead code (what cannot fail), common subexpressions, known
 * branches, removal of checks that hold, invariant code. In place, to a fixed point. Results, parameters, loop
 * state and inputs that nothing needs go; a parallel operation that may fail but whose results nobody needs
 * is left as a map without results. See simplify_internal.h. */
void core_simplify(CoreProgram *p);

/* Long chains that compare one integer with constants, as `match` and `else if` make them, become balanced trees. */
void core_balance_dispatch(CoreProgram *p);

/* Calls of small, or once-called, non-recursive functions are replaced by their bodies. A function whose
 * body is big and that is called from several places stays a function, and so does what would make the program
 * grow beyond the pass's budget (inline.c). Unreachable functions go. */
void core_inline(CoreProgram *p);

/* Mutually recursive groups become one function with a tag parameter (core_tag_type, which member; members
 * share parameters and results of equal types, the rest is zero or empty). Then functions that add something to what
 * their self calls give, or the like, get accumulators; functions with one self call whose parameters change by
 * constants become two loops, and functions all of whose self calls are tail calls become while loops; they cease to be
 * recursive. */
void core_merge_recursion(CoreProgram *p);
void core_accumulators(CoreProgram *p);
void core_linear_loops(CoreProgram *p);
void core_tail_loops(CoreProgram *p);

/* Recursive functions that hand an array on from call to call, and give what it has become (stack_threads.c) or undo
 * what they change for a call (stack_undo.c), and do little else, become loops with a stack; where they go over arrays,
 * calls outside parallel code become calls of such a loop if there are few elements. */
void core_stack_recursion(CoreProgram *p);

/* Entries that had better know that the rows of their parameters are equally long have a version for that. True if
 * there were any: what is known there is to be simplified. */
bool core_regular_versions(CoreProgram *p);

/* Reductions, scans and histograms of rows by operators that go element by element are of columns, where all rows are
 * equally long, outside parallel code. True if there were any. */
bool core_column_operators(CoreProgram *p);

/* The same of one reduction, whose rows and neutral ones have n elements: it goes to the block's end, if its operator
 * goes element by element. */
bool core_of_columns(CoreProgram *p, CoreFn *fn, CoreStmt *s, CoreAtom n, CoreBlock *to);

/* Checks of positions go in front of the parallel operations that count these, where they get out of all parallel code;
 * windows are read where they lie. True if there were any: what that leaves is to be simplified. */
bool core_hoist_checks(CoreProgram *p);

/* Reductions, scans, sorts, histograms and tables of dear elements that do not change in the bodies they stand in go in
 * front of these; behind fusion maps that make rows of rows, too. Would more do if all rows that such bodies are
 * evaluated for were equally long? */
void core_hoist_operations(CoreProgram *p, bool fused);
bool core_hoists_of_equal_rows(CoreProgram *p, CoreFn *fn);

/* Reductions of appends with a few known elements go over the other side alone (peel_appends.c). */
void core_peel_appends(CoreProgram *p);
/* Parallel operations go in front of branches that only keep them from going over nothing. */
void core_open_branches(CoreProgram *p);

/* Reductions go in front of branches that take one position out of a nest. True if any did. */
bool core_open_diagonals(CoreProgram *p);

/* Producer into consumer: a map whose results are used by one operation over the same domain, as inputs
 * only, moves into that consumer's body, at every depth, or is copied into several if it is cheap. A filter (a map
 * with a guard) goes into a consumer that does not ask for positions; one of which only the length is wanted
 * becomes a count. An `index` into a map that is cheap, or of which each element is read at most once, is replaced by
 * its body; a map of which only a piece is wanted becomes one over pieces. Maps, and reductions, over the same input
 * become one. See fuse_internal.h. */
void core_fuse(CoreProgram *p);

/* Branches of parallel code that are maps over equally many elements become maps of branches; where one is a row that
 * stays, in a version for few of these. True if anything changed: it is to be simplified. */
bool core_merge_branches(CoreProgram *p);

/* Counted loops whose rounds are one map over their state go into that map. True if there were any: simplify. */
bool core_loops_inside(CoreProgram *p);
/* Arrays of few numbers that parallel code makes anew are their elements. True if there were any: simplify. */
bool core_few_elements(CoreProgram *p);

/* Groups by integer keys that are only reduced become histograms, where the program's run finds the keys' range small.
 * True if there were any: their code is to be fused and simplified. */
bool core_group_bins(CoreProgram *p);

/* What flattening has no rule for, as code that it has rules for.
 * Reductions and scans whose operator is parallel code, or whose elements are sequences, become rounds (true if there
 * were any: functions for scans are recursive, so that core_merge_recursion is due, and the rest may be simplified). */
bool core_lower_operators(CoreProgram *p);
/* Checks of rows' lengths become reductions. True if there were any. */
bool core_lower_rows(CoreProgram *p);
/* Are they combined in rounds? */
bool core_combines_in_rounds(const CoreFn *fn, const CoreLambda *op);
/* Rows of rows that a loop's rounds update element by element become one array. True if there were any: they are to be
 * simplified. */
bool core_flat_tables(CoreProgram *p);
/* Updates behind conditions, in parallel code, become updates behind the `if`, masked by their index. */
void core_mask_updates(CoreProgram *p);
/* Scatters read elements of what they change where they store them, if they may. True if there are any: simplify
 * (own_places.c). */
bool core_own_places(CoreProgram *p);
/* What scatters begin with that are read only where they store (scatter_room.c). */
void core_scatter_room(CoreProgram *p);
/* Values of scatters and accumulations that read what these change are computed first, where they are fewer than its
 * elements (values_apart.c). */
void core_values_apart(CoreProgram *p);
/* Conditions of filters that have loops, or parallel operations, are asked once, by a map (long_conditions.c). */
void core_long_conditions(CoreProgram *p);
/* Recursive functions that are called in parallel code and elsewhere become two (lifted_copies.c). */
void core_lifted_copies(CoreProgram *p);
/* Sorts of few elements are networks of comparisons (small_sorts.c). True: there are any; then the program is to be
 * simplified. */
bool core_small_sorts(CoreProgram *p);
/* What is accumulated in new arrays is a histogram (fresh_bins.c). */
void core_fresh_bins(CoreProgram *p);
/* Tables whose rows grow, get shorter and are looked at in a loop: in one array, each with room (row_buffers.c).
 * Returns which functions have any, by number; then the program is to be simplified. NULL: none. all: also tables of
 * which rows are replaced by some of any length. */
const bool *core_row_buffers(CoreProgram *p, bool all);
/* Lists that rounds of a loop append to become buffers with room for more (growing_lists.c). True: there are any; then
 * the program is to be simplified. */
bool core_growing_lists(CoreProgram *p, const bool *only);
/* Rows that are needed after their array has changed are copied, so that it can change in place (rows_apart.c). */
void core_rows_apart(CoreProgram *p);
/* Of sorts of which only the first elements are read, or the last, how many these are (sort_ends.c). */
void core_sort_ends(CoreProgram *p);
/* Loops of numbers outside parallel code that are long, and calls that branch, become the device's where the host would
 * interpret them (long_loops.c). */
void core_long_loops(CoreProgram *p);

/* Loops outside parallel code whose rounds may be small get a version that one lane executes from beginning to end. */
void core_choose_loops(CoreProgram *p);
/* Parallel code that one lane had better execute by itself becomes such code, or gets such a version. */
void core_choose_lanes(CoreProgram *p);
/* In innermost counted loops of lanes: what does not change, and checks, go in front of the loop. */
void core_lane_loops(CoreProgram *p);
/* Conditions of while loops read what rounds reduce, and nothing else that the host would wait for. */
void core_look_ahead(CoreProgram *p);
/* Elements that the host would wait for only to hand them to parallel operations are loaded there. */
void core_sink_loads(CoreProgram *p);
/* Cheap scalars of positions are computed in the parallel operations that read them, instead of stored for these. */
void core_sink(CoreProgram *p);
/* Counted loops in parallel code become while loops, unless all instances have the same count. */
void core_lower_loops(CoreProgram *p);

#endif
