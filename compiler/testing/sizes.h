/* Do values have the sizes that a signature says? */
#ifndef DPC_SIZES_H
#define DPC_SIZES_H

#include "testing/value_tree.h"
#include "types/sized_type.h"

/* May the function be called with these, as far as sizes go? The first place that mentions a name binds it; in a
 * sequence without elements its rows' names are 0. */
bool sizes_hold(const Signature *s, const Tree *args);

enum { SIZE_UNBOUND = -1 };
/* Sets the names that occur below t and are not yet bound to 0. */
void sizes_bind_empty(const SizedType *t, int64_t *sizes);

#endif
