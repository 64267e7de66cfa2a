/* Shared by the two files of core_group_bins: group_bins.c finds groups that are only reduced, group_versions.c makes
 * the two versions of them. */
#ifndef DPC_GROUP_BINS_INTERNAL_H
#define DPC_GROUP_BINS_INTERNAL_H

#include "core/build.h"
#include "core/passes.h"

/* What the consumer wants of a group, as an element: its key, its length, or a reduction of it, number `which` of those
 * that one statement computes. */
typedef enum WantKind { WANT_KEY, WANT_LENGTH, WANT_REDUCTION } WantKind;
typedef struct Want {
    WantKind kind;
    CoreVar element;
    CoreStmt *stmt;
    uint32_t which;
    CorePrim op;
    CoreAtom neutral;
} Want;

/* A statement of the consumer that makes it; `stays` in the consumer, too. */
typedef struct Part {
    CoreStmt *stmt;
    bool stays;
} Part;

typedef struct GroupPass {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    CoreStmt **defs; /* by variable */
    uint32_t *uses;  /* likewise */
    uint32_t nvars;  /* those of later are not known: they wait for the next round */
    bool *bound;     /* by variable; all false */
    CoreCopyMap copies;
    VEC(CoreStmt *) versions; /* made: in one of them groups are as before */
    bool changed;
} GroupPass;

/* The statements, in this order; one does the work of the last two where what consumes groups makes them. */
typedef struct Grouping {
    GroupPass *pass;
    CoreStmt *sort, *starts, *length, *groups, *consumer;
    CoreAtom n, sorted_keys;
    CoreVar start, number; /* of a group, in what makes them */
    bool counts;           /* lengths are wanted */
    bool floats;           /* are reduced */
    VEC(Part) parts;
    VEC(Want) wants;
} Grouping;

CoreAtom group_var(const GroupPass *p, CoreVar v);
/* What is asked of an atom of the consumer, or of the groups' map: is it a group, a slice of the sort's column? */
bool group_is_slice(const Grouping *g, CoreAtom a, uint32_t *column);
/* A group's length? */
bool group_is_length(const Grouping *g, CoreAtom a);
/* `0 < length`, of a group? None is empty. */
bool group_asks_whether_empty(const Grouping *g, const CoreStmt *s);
/* Of an operator on numbers of 4 or 8 bytes: what changes nothing. */
CoreAtom group_identity(CorePrim op, Scalar t);
/* The two versions, to the end of `out`, where the consumer is next; this goes over what they give from here on. */
void group_emit_versions(Grouping *g, CoreBlock *out);

#endif
