/* What the values in the body of a segmented reduction vary with, where instances form a regular nest: with the
 * position k in the segment, with the instance's own position j, with that of its row i, or with what lies further out,
 * b. So a template can load once what many instances share, and keep what does not vary with k:
 *
 *     { { sum { x * y : x in row; y in column } : column in columns } : row in rows }
 *
 *     ROW       the view `row`            ROW_K     x, found by it and k: shared by all columns
 *     COLUMN    the view `column`         COLUMN_K  y: shared by all rows
 *     CELL      what varies with i and j  STREAM    what varies with k only: shared by all instances
 *     BODY      the rest: x * y
 *
 * Each part is a function of the kernel: what it evaluates (items), what it is given by others, what it hands on. */
#ifndef DPC_PLAN_ACCESS_H
#define DPC_PLAN_ACCESS_H

#include "plan/plan.h"

enum { ACCESS_K = 1, ACCESS_J = 2, ACCESS_I = 4, ACCESS_B = 8 };

typedef enum AccessPartKind {
    PART_ROW,
    PART_COLUMN,
    PART_CELL,
    PART_STREAM,
    PART_ROW_K,
    PART_COLUMN_K,
    PART_BODY,
    ACCESS_PARTS
} AccessPartKind;

/* FLAT: a stream, whatever the instances are. ROWS: what is shared is shared by the instances of a row. BLOCKS: by
 * rows, and by columns. */
typedef enum AccessShape { ACCESS_FLAT = 1, ACCESS_ROWS, ACCESS_BLOCKS } AccessShape;

/* An input or a statement of the body, in their order. */
typedef struct AccessItem {
    const FlatInput *input; /* or NULL */
    CoreStmt *stmt;
    uint8_t dims;  /* ACCESS_K … */
    uint32_t cost; /* of it and of what it is made of, as far as that varies with k */
    bool position; /* it is k itself */
} AccessItem;

typedef struct AccessGiven {
    AccessPartKind from;
    CoreVar var;
} AccessGiven;

typedef struct AccessPart {
    VEC(CoreVar) fields; /* handed on */
    VEC(AccessGiven) given;
    bool *items; /* evaluated */
} AccessPart;

typedef struct Access {
    AccessShape shape;
    bool batched;  /* something varies with b and is shared by rows: these must be of one batch */
    bool own_rows; /* the body loads elements of rows that each instance has for itself: neighbours in memory differ in
                      k */
    bool column_by_k; /* neighbours in memory of what COLUMN_K loads differ in k, not in j */
    const AccessItem *items;
    uint32_t nitems;
    AccessPart parts[ACCESS_PARTS];
} Access;

/* NULL if instances share nothing, or the kernel is no such reduction. In the plan's arena. */
const Access *plan_access(const Plan *plan, const PlanKernel *k);
/* Bytes of the part's fields as a struct. */
uint32_t plan_access_bytes(const PlanKernel *k, const AccessPart *part);

#endif
