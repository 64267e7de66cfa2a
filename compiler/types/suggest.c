/* Guesses at names: see suggest.h. */
#include "types/check_internal.h"

#include <string.h>

void suggest_consider(Suggestion *g, Name candidate)
{
    size_t n = strlen(candidate);
    if (n < 2 || strcmp(candidate + n - 2, "__") != 0) /* else the library's own */
        dp_guess_consider(g, candidate);
}

void suggest_consider_map(Suggestion *g, const PtrMap *names)
{
    for (uint32_t i = 0; i < names->cap; i++) {
        if (names->keys[i])
            suggest_consider(g, (Name)names->keys[i]);
    }
}

void suggest_note(Session *s, Span at, const Suggestion *g)
{
    if (g->best)
        diag_note(s, at, "did you mean `%s`?", g->best);
}
