/* The passes over core. Each takes a program and returns a new one or changes blocks it owns; after
 * each, core_check holds and core_eval gives the same results (the oracle law). */
#ifndef DPC_CORE_PASSES_H
#define DPC_CORE_PASSES_H

#include "core/core.h"
#include "types/check.h"

/* AST to core: desugars, specialises polymorphic and higher-order functions, dissolves products.
 * NULL after diagnostics. */
CoreProgram *elaborate(Session *s, const Checked *checked);

/* Copy propagation, constant folding, dead code (what cannot fail), common subexpressions, known
 * branches, removal of checks that hold. In place, to a fixed point. */
void core_simplify(CoreProgram *p);

/* Calls of small, or once-called, non-recursive functions are replaced by their bodies. A function whose
 * body is big and that is called from several places stays a function. Unreachable functions go. */
void core_inline(CoreProgram *p);

/* Mutually recursive groups become one function with a tag parameter (u8, which member; parameters
 * and results side by side, the others' zero or empty). Then functions all of whose self calls are tail
 * calls become while loops and cease to be recursive. */
void core_merge_groups(CoreProgram *p);
void core_tail_loops(CoreProgram *p);

/* Producer into consumer: a map without guard whose results are used by exactly one SOAC over the same
 * domain, as inputs only, moves into that consumer's body, at every depth; index functions too: an
 * `index` into, or a `length` of, a map that is cheap is replaced by its body or domain. */
void core_fuse(CoreProgram *p);

#endif
