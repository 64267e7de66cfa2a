/* A program that others call (dpc.h): one that dpc_compile has made, or the table in the C file of `dpc library`. */
#ifndef DP_EMBED_H
#define DP_EMBED_H

#include "dp_rt.h"

struct DpcEntry;
struct DpcProgram {
    const DpProgram *made;
    const struct DpcEntry *entries; /* as many as it has */
    bool recurses;                  /* may: it has functions that are called */
    /* Calls `run`; false where it could not be finished for lack of memory. NULL: it never runs into that. */
    bool (*guard)(void (*run)(void *), void *data);
    void *compilation; /* what made it; NULL: C code */
};

#endif
