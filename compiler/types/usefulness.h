/* What the cases of a `match` cover: which values none of them takes, and which cases can never be reached.
 *
 * The algorithm is usefulness over a pattern matrix (L. Maranget, "Warnings for pattern matching", JFP 17, 2007).
 * The rows of a matrix are cases, its columns are the parts of the value that are still to be looked at; a pattern
 * is *useful* behind a matrix when it takes a value that no row takes. Step by step the first column goes away:
 *
 *     specialised by a constructor   the rows that may take it, with its arguments as columns in place of the first
 *     default                        the rows that begin with a variable or `_`, without that
 *
 *     match e                      (_, _) is useful behind these two rows, for #node (_, #leaf) is missed:
 *     case #leaf -> …              column 1 has both constructors, so there are two matrices to look at:
 *     case #node (_, #node _) -> … by #leaf one row without columns (covered); by #node (_, #node _), where `_`
 *                                  leads to #node _, and the second column lacks #leaf
 *
 * Constructors are those of sums, `true` and `false`, the one of tuples and records, and literals. All values of
 * 8- and 16-bit integers can be written down; other numbers, and texts, always leave some over.
 *
 * Deciding this takes exponential time in bad cases. The work is bounded; beyond it nothing is known. */
#ifndef DPC_USEFULNESS_H
#define DPC_USEFULNESS_H

#include "syntax/ast.h"
#include "types/type.h"

enum { MOST_MISSED = 3 };

typedef struct MatchFacts {
    bool known; /* false: the bound was reached, and the rest says nothing */
    bool exhaustive;
    const char *missed[MOST_MISSED]; /* patterns for values that no case takes, as a user would write them */
    uint32_t nmissed;
    bool more_missed;     /* these are not all */
    bool *redundant;      /* by case: the earlier ones take all its values */
    uint32_t *covered_by; /* by case: the earlier case that does so alone, or UINT32_MAX */
} MatchFacts;

/* Steps that one match, and all of a program, may take. */
enum { MATCH_WORK = 1 << 24, PROGRAM_WORK = 1 << 27 };

/* `subject` is the type of the value, free of unification variables; the patterns have been checked against it.
 * Results are in `a`. What was done is taken off *work. */
MatchFacts usefulness_of_cases(Arena *a, Type *subject, const MatchCase *cases, uint32_t n, uint64_t *work);

#endif
