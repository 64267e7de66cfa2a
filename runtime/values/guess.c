/* Guesses at what was meant: see dp_guess.h. */
#include "dp_guess.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 40 };

/* Levenshtein's distance with transpositions of neighbours counted as one. */
static uint32_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    uint32_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= na; i++) {
        uint32_t *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= nb; j++) {
            uint32_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[na % 3][nb];
}

DpGuess dp_guess_start(const char *wanted)
{
    size_t n = strlen(wanted);
    uint32_t limit = n <= 2 ? 1 : n <= 5 ? 2 : 3; /* one more than the largest distance accepted */
    return (DpGuess){wanted, NULL, limit};
}

void dp_guess_consider(DpGuess *g, const char *candidate)
{
    size_t na = strlen(g->wanted), nb = strlen(candidate);
    if (na > LONGEST || nb > LONGEST || nb == 0 || strcmp(candidate, g->wanted) == 0)
        return;
    uint32_t d = edit_distance(g->wanted, na, candidate, nb);
    if (d < g->distance || (d == g->distance && g->best && strcmp(candidate, g->best) < 0)) {
        g->best = candidate;
        g->distance = d;
    }
}
