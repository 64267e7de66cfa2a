/* Shared by flat_tables.c, which finds tables and says what they begin and end as, and flat_tables_rewrite.c, which
 * rewrites the loop's copy. */
#ifndef DPC_FLAT_TABLES_INTERNAL_H
#define DPC_FLAT_TABLES_INTERNAL_H

#include "core/build.h"

/* SAME_DEPTH: of sums and products that are compared. MOST_TRIES: of one loop, or one lane. LEARNT_DEPTH: of a
 * conjunction. */
enum { SAME_DEPTH = 4, MOST_TRIES = 3, LEARNT_DEPTH = 8 };

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

/* How many rows a table has, and their length or, where they are not `regular`, lengths and where they begin. */
typedef struct Shape {
    CoreAtom rows, stride, offsets, lengths;
    bool regular;
} Shape;

typedef struct Part { /* by variable of the copy */
    PartKind kind;
    CoreAtom flat;      /* what has its elements */
    const Shape *shape; /* TABLE */
    CoreAtom first;     /* TABLE: row of `flat` that it begins with, if it is a `slice` */
    bool slice;
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
    CoreVar after;  /* what an update has made of it, in block `in`; or CORE_NO_VAR */
    const CoreBlock *in;
    bool stored; /* an update's: its row has been put back into the table */
    CoreStmt *maker;
    /* of an array that is made of rows: as long as that row of a table of this shape, for the first rows of some */
    struct {
        const Shape *shape;
        CoreAtom row;
    } like[2];
} Part;

/* Where a table has a row that is still to be made: variable `row`. flat: the table's array, with it once it is stored.
 */
typedef struct RowPlace {
    CoreVar row;
    CoreAtom flat, base, length;
    bool stored;
} RowPlace;

/* A number that has been checked to be the same as another one. of_rows: in a map over so many rows, so that nobody has
 * if there are none; but then any number is the length of all. */
typedef struct Same {
    CoreVar var;
    CoreAtom as, rows;
    bool of_rows;
} Same;

/* A position, which is below `end`. */
typedef struct Counter {
    CoreVar var;
    CoreAtom end;
} Counter;

/* The length of rows of a lane's table; is it checked to be that of something else? rows: where they lie. */
typedef struct CheckedRows {
    CoreAtom length;
    bool checked;
    CoreVar rows;
} CheckedRows;

typedef struct Tables {
    CoreBuilder b;
    Arena *scratch;
    CoreVar first; /* of the copy's variables */
    VEC(Part) parts;
    const Maker *outside; /* by variable */
    uint32_t noutside;
    VEC(uint32_t) copied;     /* numbers of rows that are read when the table has changed */
    VEC(CoreVar) aged;        /* what is not CURRENT any more, oldest first */
    bool lane;                /* all tables of a lane's code (lane_tables.c): the rest is for these */
    VEC(Same) same;           /* by checks in front of what is at work */
    const CoreAtom *rows;     /* lengths of so many rows are compared; or NULL */
    VEC(RowPlace) places;     /* of rows that are still to be made */
    VEC(CheckedRows) checked; /* of tables from in front of the lane */
    VEC(CoreVar) left;        /* rows from there that are no table, as far as is known: they stay as they are */
    VEC(Counter) counters;    /* of loops and operations */
    const Shape *state;       /* of the loop's table */
    uint32_t numbered, updates, unstored, repetition, repetitions;
    bool replaces; /* rows as a whole */
    bool failed, again;
} Tables;

/* The rows of what the statement makes are what this map makes, of one length that is known outside; or NULL. */
const CoreStmt *tables_row_map(const CoreStmt *s);
Part *tables_part_of(Tables *t, CoreVar v);
/* The variable was a table, or another name for one: what it is from now on is the array `flat`. */
void tables_bind(Tables *t, CoreVar v, CoreAtom flat, const Shape *shape);
/* Appends it; as CoreBuilder's `emit`, too. */
void tables_emit(void *tables, CoreBlock *out, CoreStmt *s);
/* The table's row i, which is known to be there. */
Part tables_row_at(Tables *t, const Part *table, CoreAtom i);
/* The copy of a loop; `failed` and `again` say whether that was possible. */
void tables_rewrite_loop(Tables *t, CoreStmt *s);
/* Statements of the copy, in place. */
void tables_rewrite_block(Tables *t, CoreBlock *block);
/* What the block gives are no parts. */
void tables_settle_results(Tables *t, CoreBlock *block);

/* For lane_tables.c. */
void tables_rewrite_if(Tables *t, CoreStmt *s);
Part tables_part(Tables *t, CoreAtom a);
const CoreStmt *tables_maker(Tables *t, CoreAtom a);
CoreAtom tables_renamed(Tables *t, CoreAtom a);
bool tables_same_number(Tables *t, CoreAtom a, CoreAtom b, uint32_t depth);
bool tables_known_length(Tables *t, CoreAtom array, CoreAtom *n);
CoreAtom tables_new_flat(Tables *t, CoreVar like);
void tables_grow_older(Tables *t, CoreAtom flat, Age age);
CoreAtom tables_whole(Tables *t, const Part *table);
CoreAtom tables_element_of_row(Tables *t, const Part *row, CoreAtom j);
CoreAtom tables_copy_of_row(Tables *t, const Part *row);
void tables_bind_row(Tables *t, CoreVar v, Part row);
/* Elements are read by position; `map`: of a map's inputs. */
void tables_rewrite_inputs(Tables *t, CoreSoac *soac, bool map);

/* lane_tables.c */
/* Of a lane's code, what only that has. False: it is no such statement. */
bool lane_tables_stmt(Tables *t, CoreStmt *s);
void lane_tables_replace_row(Tables *t, CoreStmt *s);
/* From here on they are the same number, or the condition holds. */
void lane_tables_equal(Tables *t, CoreAtom x, CoreAtom y);
void lane_tables_learn(Tables *t, CoreAtom cond, uint32_t depth);
/* The body of a parallel operation ends: what of the last facts, from number `same` on, holds behind it. */
void lane_tables_leave(Tables *t, uint32_t same, const CoreSoac *soac);

#endif
