/* What the C file of `dpc library` and the library of programs that others call (dpc.h) share: private to them, as
 * dp_rt.h is. */
#ifndef DP_EMBED_H
#define DP_EMBED_H

#include "dp_rt.h"

#include <dpc.h>

/* A program: one that dpc_compile has made, or the table in a C file. */
struct DpcProgram {
    const DpProgram *made;
    const DpcEntry *entries; /* as many as it has */
    bool recurses;           /* may: it has functions that are called */
    /* Calls `run`; false where it could not be finished for lack of memory. NULL: it never runs into that. */
    bool (*guard)(void (*run)(void *), void *data);
    void *compilation; /* what made it; NULL: C code */
    char *warnings;    /* of the compilation */
};

/* ---- typed functions ---- */
/* The sequences of a level: all of one length, or as offsets say, one more than they are. */
typedef struct DpcLevel {
    uint64_t length;
    const uint64_t *offsets; /* from 0 on, or NULL */
} DpcLevel;
typedef struct DpcPart {
    const void *data;
    DpcLevel levels[DPC_MAX_RANK];
} DpcPart;
/* As dpc_value, by its leaves. NULL: out of memory, or offsets that go down. */
DpcValue *dpc_of_parts(const char *type, const DpcPart *parts);
/* Of the level's sequences, to be freed; NULL, and why. */
uint64_t *dpc_new_offsets(const DpcLeaf *leaf, unsigned level, DpcError *error);
uint64_t dpc_first_length(const DpcLeaf *leaf, unsigned level); /* 0 where there is no sequence */

#endif
