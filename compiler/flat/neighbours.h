/* What the passes that join statements of a flat function with others near by know of it: turn_scans.c,
 * join_kernels.c, scan_maps.c, keep_columns.c. */
#ifndef DPC_FLAT_NEIGHBOURS_H
#define DPC_FLAT_NEIGHBOURS_H

#include "flat/flat.h"

typedef struct FlatNeighbours {
    FlatProgram *p;
    FlatFn *fn;
    uint32_t *reads;      /* by variable: how often it is read */
    const FlatStmt **def; /* by variable: what binds it, of the block at hand and of those around it */
} FlatNeighbours;

/* Calls `block` (with a FlatNeighbours *) on each function's body: reads are counted, definitions not yet known. */
void flat_each_body(FlatProgram *p, void (*block)(void *neighbours, FlatBlock *b));
/* The statement is known from here on as what binds its variables. */
void flat_note_defs(FlatNeighbours *near, const FlatStmt *s);
/* What binds the variable, if it is of the kind and known; or NULL. */
const FlatStmt *flat_def(const FlatNeighbours *near, FlatVar v, FlatKind kind);
/* The column of the body's own context that the input reads at each instance's own place; or FLAT_NO_VAR. */
FlatVar flat_column_read(const FlatNeighbours *near, const FlatBody *body, const FlatInput *in);
/* Can executing the statement fail? */
bool flat_stmt_fallible(const FlatNeighbours *near, const FlatStmt *s);
bool flat_body_fallible(const FlatNeighbours *near, const CoreBlock *b);

/* Code that still goes by vectors when it is joined with other such code. */
enum {
    FLAT_SHORT = 24, /* statements */
    FLAT_SHORT_BRANCHES = 1u << CORE_IF /* which other kinds of statements than scalar ones there may be */,
    FLAT_SHORT_LENGTHS = 1u << CORE_LENGTH
};
/* Adds the block's statements to *count: no more than FLAT_SHORT, and of the kinds? */
bool flat_is_short(const CoreBlock *b, uint32_t kinds, uint32_t *count);
#endif
