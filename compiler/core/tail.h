/* Tail positions: the last statement of a block whose results are exactly what that statement binds; and so on
 * into the branches of an if.
 *
 *     { %1 = eq n 0
 *       %2, %3 = if %1 then { -> a, b }                       a return
 *                else { %4, %5 = call f (x, y); -> %4, %5 }   a tail call
 *       -> %2, %3 }                                                                        */
#ifndef DPC_TAIL_H
#define DPC_TAIL_H

#include "core/core.h"

/* The statement in tail position, or NULL. */
CoreStmt *tail_stmt(const CoreBlock *b);
/* A zero or an empty sequence: statements needed go to the end of b. */
CoreAtom tail_dummy(CoreProgram *p, CoreFn *fn, CoreBlock *b, Span span, CoreType type);
/* Results that are fresh variables, bound by s. */
void tail_bind_fresh(CoreProgram *p, CoreFn *fn, CoreStmt *s, uint32_t n, const CoreType *types);
/* { c = op x constant; r = if c then then_b else else_b; -> r }, for branches that give the same types */
CoreBlock *tail_choose(CoreProgram *p, CoreFn *fn, Span span, CorePrim op, CoreAtom x, CoreAtom constant,
                       CoreBlock *then_b, CoreBlock *else_b);
/* Makes the block's results what s binds. */
void tail_return_vars(CoreProgram *p, const CoreFn *fn, CoreBlock *b, const CoreStmt *s);

#endif
