/* dpc explain-error: the sections of docs/errors.md, by code. */
#include "commands/commands.h"
#include "support/embedded.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_BYTES = 5, NEAREST = 3 }; /* "E0301"; how many codes stand in for a wrong one */

/* Lists the codes and what they are about. */
static int list_codes(void)
{
    for (int i = DIAG_NONE + 1; i < DIAG_CODE_COUNT; i++)
        printf("%s  %s\n", diag_codes[i].code, diag_codes[i].title);
    return EXIT_OK;
}

/* "e0301" and "e301" as "E0301"; false if it is no code by its form. */
static bool read_code(const char *word, char *code)
{
    int letter = toupper((unsigned char)word[0]);
    size_t digits = letter ? strspn(word + 1, "0123456789") : 0;
    if ((letter != 'E' && letter != 'W') || digits == 0 || digits >= CODE_BYTES || word[1 + digits])
        return false;
    snprintf(code, CODE_BYTES + 1, "%c%04d", letter, (int)strtol(word + 1, NULL, 10));
    return true;
}

/* The section under "## CODE …", up to the next heading of its rank or above; NULL if there is none. */
static const char *find_section(const char *text, const char *code, size_t *n)
{
    const char *start = NULL;
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        const char *next = end ? end + 1 : line + strlen(line);
        bool heading = strncmp(line, "# ", 2) == 0 || strncmp(line, "## ", 3) == 0;
        if (start && heading) {
            *n = (size_t)(line - start);
            return start;
        }
        if (heading && strncmp(line, "## ", 3) == 0 && strncmp(line + 3, code, CODE_BYTES) == 0)
            start = line;
        line = next;
    }
    *n = start ? strlen(start) : 0;
    return start;
}

/* How far two codes lie apart: those of the other letter behind all of its own. */
static long code_distance(const char *a, const char *b)
{
    return labs(strtol(a + 1, NULL, 10) - strtol(b + 1, NULL, 10)) + (a[0] == b[0] ? 0 : 100000);
}

/* The nearest code that is not taken yet. */
static int nearest_code(const char *code, const bool *taken)
{
    int best = -1;
    for (int i = DIAG_NONE + 1; i < DIAG_CODE_COUNT; i++) {
        long distance = code_distance(diag_codes[i].code, code);
        if (!taken[i] && (best < 0 || distance < code_distance(diag_codes[best].code, code)))
            best = i;
    }
    return best;
}

static int unknown_code(const char *code)
{
    StrBuf list = {0};
    bool taken[DIAG_CODE_COUNT] = {false};
    for (int i = 0; i < NEAREST; i++) {
        int best = nearest_code(code, taken);
        taken[best] = true;
        strbuf_printf(&list, "\n  %s  %s", diag_codes[best].code, diag_codes[best].title);
    }
    fprintf(stderr, "dpc: error: there is no code %s; the nearest are%s\n", code, list.text);
    strbuf_free(&list);
    return EXIT_USAGE;
}

int command_explain_error(const CommandLine *a)
{
    char code[CODE_BYTES + 1];
    size_t n = 0;
    if (a->n == 0)
        return list_codes();
    if (!read_code(a->words[0], code))
        return usage_error("%s is no code of an error: they look like E0301", a->words[0]);
    const EmbeddedFile *file = embedded_find("docs/errors.md");
    const char *section = file ? find_section(file->text, code, &n) : NULL;
    if (!section)
        return unknown_code(code);
    while (n > 0 && section[n - 1] == '\n')
        n--;
    fwrite(section, 1, n, stdout);
    putchar('\n');
    return EXIT_OK;
}
