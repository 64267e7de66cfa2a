/* Entries as the interpreters run them: values from outside in, result out. */
#ifndef DPC_ENTRY_H
#define DPC_ENTRY_H

#include "driver/driver.h"

/* An entry's types as values outside see them, and room for its arguments and result. */
typedef struct EntryTypes {
    const CoreEntry *entry;
    struct DpType **params;
    struct DpType *result;
} EntryTypes;
/* False after a message: no such entry, or a type too large. */
bool entry_types_make(EntryTypes *t, const Compilation *c, const char *name);
void entry_types_free(EntryTypes *t);

struct DpLeaf;
/* Runs the entry at the stage reached. args: the leaves of all parameters; result: the result's leaves, to be freed.
 * False if the program fails, with *error. */
bool entry_eval(const Compilation *c, const EntryTypes *t, const struct DpLeaf *args, struct DpLeaf *result,
                EvalError *error);
uint32_t entry_arg_leaves(const EntryTypes *t);

#endif
