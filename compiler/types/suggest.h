/* "Did you mean": the candidate at the smallest edit distance from a name, if that is small for its length. */
#ifndef DPC_SUGGEST_H
#define DPC_SUGGEST_H

#include "support/session.h"

typedef struct Suggestion {
    Name wanted, best;
    uint32_t distance;
} Suggestion;
Suggestion suggest_start(Name wanted);
void suggest_consider(Suggestion *g, Name candidate);
void suggest_note(Session *s, Span at, const Suggestion *g); /* if there is one */

#endif
