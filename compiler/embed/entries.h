/* What callers are told about the entries of a program. Private to the library. */
#ifndef DPC_EMBED_ENTRIES_H
#define DPC_EMBED_ENTRIES_H

#include "driver/driver.h"
#include "embed/dpc.h"

/* In the order of the program's entries; they live as long as the compilation. NULL after a message: a type is
 * too large. */
const DpcEntry *dpc_entries(Compilation *c);

#endif
