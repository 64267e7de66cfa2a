/* "Did you mean" of names in programs. */
#ifndef DPC_SUGGEST_H
#define DPC_SUGGEST_H

#include "dp_guess.h"
#include "support/session.h"

typedef DpGuess Suggestion;
void suggest_consider(Suggestion *g, Name candidate);
void suggest_note(Session *s, Span at, const Suggestion *g); /* if there is one */

#endif
