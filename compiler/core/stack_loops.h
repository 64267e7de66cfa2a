/* Recursion as a loop with a stack, for one lane (stack_loops.c). */
#ifndef DPC_STACK_LOOPS_H
#define DPC_STACK_LOOPS_H

#include "core/core.h"

/* The functions of a program as they are when this is begun; stack_loops_of(…) makes the loops when they are asked for.
 */
typedef struct StackLoops {
    CoreProgram *p;
    Arena *scratch;
    struct StackLoop *loops; /* by CoreFn.index */
    uint32_t n;
} StackLoops;

StackLoops stack_loops_open(CoreProgram *p, Arena *scratch);
/* Code without calls that does what the function does: of a recursive function, a loop with a stack. It is no function
 * of the program: its body is there to be copied. NULL: there is none, or it would be too large. */
const CoreFn *stack_loops_of(StackLoops *l, const CoreFn *fn);
/* How many statements it has. */
uint32_t stack_loops_size(StackLoops *l, const CoreFn *fn);
/* Is all that a call does scalar code, but for calls, and operations of few elements? */
bool stack_loops_scalar(StackLoops *l, const CoreFn *fn);
/* Do its calls wait for others: in rounds of a loop, for what another gives, or behind a branch that does? Flattened,
 * such a recursion has more levels than it is deep. */
bool stack_loops_chain(StackLoops *l, const CoreFn *fn);
/* Replaces all calls in a block of fn, of functions that stack_loops_of has something for. */
void stack_loops_expand(StackLoops *l, CoreFn *fn, CoreBlock *b);

#endif
