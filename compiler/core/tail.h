/* Tail positions: the last statement of a block whose results are exactly what that statement binds; and so on
 * into the branches of an if.
 *
 *     { %1 = eq n 0
 *       %2, %3 = if %1 then { -> a, b }                       a return
 *                else { %4, %5 = call f (x, y); -> %4, %5 }   a tail call
 *       -> %2, %3 }                                                                        */
#ifndef DPC_TAIL_H
#define DPC_TAIL_H

#include "core/build.h"

/* The statement in tail position, or NULL. */
CoreStmt *tail_stmt(const CoreBlock *b);
/* How many calls of fn are in tail position. */
uint32_t tail_calls(const CoreFn *fn, const CoreBlock *b);
/* { c = op x constant; r = if c then then_b else else_b; -> r }, for branches that give the same types */
CoreBlock *tail_choose(CoreBuilder *b, CorePrim op, CoreAtom x, CoreAtom constant, CoreBlock *then_b,
                       CoreBlock *else_b);

#endif
