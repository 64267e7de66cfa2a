/* Values of callers, and of calls. Private to the library. */
#ifndef DPC_EMBED_VALUES_H
#define DPC_EMBED_VALUES_H

#include "dp_value.h"
#include "embed/dpc.h"

struct DpcValue {
    DpType *type;
    char *text; /* the type */
    DpLeaf *leaves;
    uint32_t n;
    bool borrowed; /* the numbers are the caller's */
};

/* An empty value of the type; NULL: malformed, or out of memory. */
DpcValue *dpc_value_new(const char *type);
/* Is it of this type, but for names: with the same leaves in the same arrays? */
bool dpc_value_is(const DpcValue *value, const char *type);

/* Writes the error, if there is one to be written. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void dpc_fail(DpcError *error, int status, const char *format, ...);

#endif
