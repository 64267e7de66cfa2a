/* Which occurrence of a variable is its last? For the interpreter: a sequence that is read for the last
 * time may be handed over, and then updated in place.
 *
 *     ys = update xs 0 1        last use of xs: no one will look at xs again
 *     zs = update ys 1 2        not the last use of ys …
 *     n  = index ys 3           … this one is
 *
 * Inside a block that runs repeatedly (a loop's body, a parallel operation's), an occurrence of a variable
 * from outside is never the last: the next round reads it again. */
#ifndef DPC_LAST_USE_H
#define DPC_LAST_USE_H

#include "core/core.h"

typedef struct LastUse LastUse;

LastUse *last_use_of_program(const CoreProgram *p, Arena *arena);
/* `a` is the address of an atom inside the program. */
bool last_use_is(const LastUse *uses, const CoreAtom *a);

#endif
