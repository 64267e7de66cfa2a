/* Shared by growing_lists.c, which finds lists that grow and rewrites what loops and branches do with them, and
 * growing_rows.c, which says what a list of rows is made of. */
#ifndef DPC_GROWING_LISTS_INTERNAL_H
#define DPC_GROWING_LISTS_INTERNAL_H

#include "core/append.h"
#include "core/split_state.h"

enum { MOST_LISTS = 64 }; /* state of a loop */

/* A variable that is a list, by number. Of numbers: a buffer, and how many of its elements are the list's. Of rows: all
 * elements of its rows, one behind the other; and where each row begins and the last one ends, or, where all rows have
 * one known length, how many there are. */
typedef struct List {
    uint32_t root; /* 1 + which of the loop's parameters it grows from; 0: none */
    CoreAtom buffer, length;
} List;

typedef struct Lists {
    CoreBuilder b;
    SplitState split; /* lists become two variables */
    uint32_t nvars;   /* of the function, before anything was rewritten */
    bool found;
    bool rows; /* lists of rows are looked for, not of numbers */
    List *lists;
    CoreMakers makers;
    bool parallel;
    bool *inside;    /* by variable: of an instance */
    uint32_t *bound; /* by variable: in which of the loops that were looked at it was seen last */
    uint32_t looked; /* how many of these there were */
    Arena *scratch;
    CoreCopyMap copies;
    /* Where a question has been: its number, by variable, and of two arrays the other one. */
    struct Visits {
        uint32_t now, *at;
        CoreVar *with;
    } * visits;
    uint32_t *alike; /* by variable, of the state of the loop at hand: which are equally long in each round, or 0 */
    uint32_t around; /* loops around that which is looked at */
    uint32_t rounds; /* loops around the statement at hand, in that which is looked at */
    /* Of the loop at hand, by parameter: how many elements all appends have, each round at most, or UNKNOWN; for how
     * many there is room from the beginning, or 0. */
    uint32_t most[MOST_LISTS], each[MOST_LISTS];
    bool mixed[MOST_LISTS]; /* a list of it may be another array, which has no such room */
    /* Of rows: do all have one length, known in front of the loop? */
    bool regular[MOST_LISTS], has_width[MOST_LISTS];
    bool replaced[MOST_LISTS]; /* rows are, as a whole: then all must have one length */
    CoreAtom width[MOST_LISTS];
} Lists;

/* Column k of list ++ right: behind `length` elements of the list, `more`. */
typedef struct Append {
    bool is;
    const CoreStmt *items; /* a literal of a few */
    CoreAtom list, right, length, more;
} Append;

static inline CoreStmt *list_maker(const Lists *l, CoreAtom a) { return core_maker(&l->makers, a); }

/* The literal that it is, or NULL. */
static inline const CoreStmt *list_literal(const Lists *l, CoreAtom a)
{
    const CoreStmt *s = list_maker(l, a);
    return s && s->kind == CORE_ARRAY ? s : NULL;
}

/* ---- of rows ---- */

/* The list with root `root` that these rows are. */
List rows_as_list(Lists *l, uint32_t root, CoreAtom rows);
/* The rows again. */
CoreAtom rows_of(Lists *l, const List *list);
CoreAtom rows_count(Lists *l, const List *list);
/* Row i, which is there. */
CoreAtom rows_at(Lists *l, const List *list, CoreAtom i);
/* The first n rows, which are there. */
List rows_front(Lists *l, const List *list, CoreAtom n);
/* The list with what `a` appends, the first of `piece`. */
List rows_with(Lists *l, const List *list, const Append *a, CoreAtom piece);
/* Loops whose rows may be long stop when these are, on average, and another one goes on with rows as they are, as
 * copying these costs more than to append their views. rows_go_on: that one, whose inits and variables are still to be
 * said; s becomes a `while`. rows_stop: s, rewritten, of what were these parameters, stops. */
bool rows_may_be_long(const Lists *l, const CoreStmt *s);
CoreStmt *rows_go_on(Lists *l, CoreStmt *s);
void rows_stop(Lists *l, CoreStmt *s, const CoreVar *params, const CoreStmt *late);
/* What list `root` begins as, or appends: are its rows as long as those before? */
void rows_note_begin(Lists *l, uint32_t root, CoreAtom rows);
void rows_note_append(Lists *l, uint32_t root, const Append *a);
/* The update of a list of rows: another row, or xs with [i] = xs[i] with [j] = x; and the list with that. rows_change:
 * the update of the row, or NULL. */
void rows_note_update(Lists *l, uint32_t root, const CoreStmt *s);
const CoreStmt *rows_change(const Lists *l, const CoreStmt *s);
List rows_updated(Lists *l, const List *list, const CoreStmt *s);

#endif
