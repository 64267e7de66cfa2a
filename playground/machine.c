/* What a browser has in place of threads and of a device. */
#include "dp_stack.h"

#include "plan/plan.h"

#include <stdlib.h>

#define STACK_BYTES ((uintptr_t)PLAYGROUND_STACK_BYTES)
#define RESERVE ((uintptr_t)1 << 18) /* dp_stack.h: for what runs between two looks */

/* The highest address at which work was begun: all runs on the one stack that the page was linked with. */
static uintptr_t stack_begin;

bool dp_stack_run(DpStackWork *work, void *data)
{
    char here;
    if ((uintptr_t)&here > stack_begin)
        stack_begin = (uintptr_t)&here;
    work(data, stack_begin - STACK_BYTES + RESERVE);
    return true;
}

void dp_stack_prepare(void) {}

uint64_t dp_address_space_left(void) { return UINT64_MAX; }

/* Plans are shown; only a device runs them. */
void plan_run(const PlanFn *fn, struct DpRt *rt, union DpArg *args, union DpArg *results)
{
    (void)fn, (void)rt, (void)args, (void)results;
    abort();
}
