/* Values of callers, and of calls. Private to the library. */
#ifndef DPC_EMBED_VALUES_H
#define DPC_EMBED_VALUES_H

#include "dp_rt.h"
#include "dpc.h"

/* What of a value stays on the device. */
typedef struct DpcKept {
    struct DpcKept *next; /* of those that have been freed, until the context is used again */
    DpcContext *home;     /* lives as long */
    uint32_t n;
    DpArg *results;
    DpCol *numbers; /* of each, one behind the other */
    bool shown;     /* no results are there: the numbers are the device's and the host's, which has them as data */
} DpcKept;

struct DpcValue {
    DpType *type;
    char *text; /* the type */
    DpLeaf *leaves;
    uint32_t n;
    bool borrowed;                /* the numbers are the caller's */
    DpOutside *outside;           /* of each leaf: the buffer that they are in, if they are; NULL: none is */
    DpcKept *kept;                /* or NULL */
    void (*release)(void *owner); /* of what it refers to; or NULL */
    void *owner;
};

/* An empty value of the type; NULL: malformed, or out of memory. */
DpcValue *dpc_value_new(const char *type);
/* Is it of this type, but for names: with the same leaves in the same arrays? */
bool dpc_value_is(const DpcValue *value, const char *type);

/* calls.c: the value is freed; the heap of its context. */
void dpc_kept_drop(DpcKept *kept);
struct _cl_mem *dpc_kept_buffer(const DpcKept *kept);

/* Writes the error, if there is one to be written. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void dpc_fail(DpcError *error, int status, const char *format, ...);

#endif
