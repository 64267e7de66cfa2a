/* Shared by flat_tables.c, which finds tables and says what they begin and end as, and flat_tables_rewrite.c, which
 * rewrites the loop's copy. */
#ifndef DPC_FLAT_TABLES_INTERNAL_H
#define DPC_FLAT_TABLES_INTERNAL_H

#include "core/build.h"

typedef enum PartKind { NO_PART, TABLE, ROW } PartKind;
/* What has become of an array that somebody still reads? A loop began with it, which copies it once; an update would
 * have to copy it each time. */
typedef enum Age { CURRENT, LOOPED, UPDATED } Age;

/* What binds a variable, and where. */
typedef struct Maker {
    const CoreStmt *stmt;
    const CoreBlock *in;
} Maker;

/* An element of a row, the latest first. */
typedef struct Pending Pending;
struct Pending {
    const Pending *before;
    CoreAtom index, place, value; /* in the row; in the array of the table */
};

typedef struct Part { /* by variable of the copy */
    PartKind kind;
    CoreAtom flat;         /* what has its elements */
    CoreAtom row, base;    /* ROW: which of the table's, where it begins; an update of one: likewise */
    CoreAtom length, copy; /* ROW; copy: where its elements are read from, if `copied` */
    bool copied;
    uint32_t number;        /* ROW: in the order in which they are bound */
    Age bound;              /* ROW: of `flat`, when it was bound */
    uint32_t element_of;    /* ROW: the repetition of the map whose element it is; or 0 */
    const Pending *pending; /* … and what its updates are to become behind that map */
    /* of an array that is `flat` of others */
    Age age;
    uint32_t repetition;
    CoreVar before; /* an update's: the array that it changes; else CORE_NO_VAR */
    bool stored;    /* an update's: its row has been put back into the table */
    CoreStmt *maker;
} Part;

typedef struct Tables {
    CoreBuilder b;
    Arena *scratch;
    CoreVar first; /* of the copy's variables */
    VEC(Part) parts;
    const Maker *outside; /* by variable */
    uint32_t noutside;
    CoreAtom rows, stride, offsets, lengths; /* of the table: how many rows; their length, or these two */
    bool regular;
    VEC(uint32_t) copied; /* numbers of rows that are read when the table has changed */
    VEC(CoreVar) aged;    /* what is not CURRENT any more, oldest first */
    uint32_t numbered, updates, unstored, repetition, repetitions;
    bool replaces; /* rows as a whole */
    bool failed, again;
} Tables;

Part *tables_part_of(Tables *t, CoreVar v);
/* The variable was a table, or another name for one: what it is from now on is the array `flat`. */
void tables_bind(Tables *t, CoreVar v, CoreAtom flat);
/* Appends it; as CoreBuilder's `emit`, too. */
void tables_emit(void *tables, CoreBlock *out, CoreStmt *s);
/* The table's row i, which is known to be there. */
Part tables_row_at(Tables *t, CoreAtom flat, CoreAtom i);
/* The copy of a loop; `failed` and `again` say whether that was possible. */
void tables_rewrite_loop(Tables *t, CoreStmt *s);

#endif
