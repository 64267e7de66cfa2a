/* Options by tables: see dp_options.h. */
#include "dp_options.h"

#include "dp_args.h"
#include "dp_guess.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const DpOption dp_program_options[DP_OPTIONS] = {
#define OPTION(id, ...) [DP_OPTION_##id] = {__VA_ARGS__},
#include "dp_options.def"
#undef OPTION
};

/* ---- parsing ---- */

enum { MOST = 96, LONG = 256 }; /* rows of a table; what getopt_long returns for row i is LONG + i */

typedef struct Parser {
    const DpOption *rows;
    uint32_t n;
    unsigned scope;
    const char **values;
    char *error;
    size_t error_bytes;
    char shorts[2 + 2 * MOST + 1];
    struct option longs[MOST + 1];
} Parser;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
fail(Parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->error, p->error_bytes, format, args);
    va_end(args);
    return false;
}

/* What getopt_long wants: "+", as words are taken out before it sees them; ":", as messages are written here. */
static void describe(Parser *p)
{
    char *letter = p->shorts;
    uint32_t n = 0;
    *letter++ = '+';
    *letter++ = ':';
    for (uint32_t i = 0; i < p->n && i < MOST; i++) {
        const DpOption *o = &p->rows[i];
        if (!(o->scope & p->scope))
            continue;
        int takes = !o->value ? no_argument : o->value[0] == '[' ? optional_argument : required_argument;
        p->longs[n++] = (struct option){o->name, takes, NULL, LONG + (int)i};
        if (o->letter)
            *letter++ = o->letter;
        if (o->letter && o->value)
            *letter++ = ':';
    }
    *letter = '\0';
}

static bool is_choice(const char *choices, const char *word, size_t n)
{
    for (const char *c = choices; *c; c += strspn(c, " ")) {
        size_t length = strcspn(c, " ");
        if (length == n && memcmp(c, word, n) == 0)
            return true;
        c += length;
    }
    return false;
}

static bool is_list(const DpOption *o) { return o->value && strchr(o->value, ',') != NULL; }

static bool is_allowed(const DpOption *o, const char *value)
{
    if (!o->choices)
        return true;
    for (bool list = is_list(o);; value++) {
        size_t n = list ? strcspn(value, ",") : strlen(value);
        if (!is_choice(o->choices, value, n))
            return false;
        value += n;
        if (!*value)
            return true;
    }
}

static bool fail_choice(Parser *p, const DpOption *o, const char *word, const char *value)
{
    char choices[128];
    size_t n = 0;
    for (const char *c = o->choices; *c && n + 3 < sizeof choices; c++) {
        if (*c == ' ')
            choices[n++] = ',';
        choices[n++] = *c;
    }
    choices[n] = '\0';
    return fail(p, "%.*s takes %s: %s, not %s", (int)strcspn(word, "="), word,
                is_list(o) ? "a list of these" : "one of these", choices, value);
}

/* Settings: options that may be repeated, which adds to the list. */
static bool is_settings(const DpOption *o) { return o->value && strcmp(o->value, "NAME=VALUE,...") == 0; }

/* Both lists as one, which stays for the process: words of its command line do, too. */
static bool join_lists(Parser *p, int row, const char *more)
{
    static char lists[4096];
    static size_t used;
    int n = snprintf(lists + used, sizeof lists - used, "%s,%s", p->values[row], more);
    if ((size_t)n >= sizeof lists - used)
        return fail(p, "--%s is given too often", p->rows[row].name);
    p->values[row] = lists + used;
    used += (size_t)n + 1;
    return true;
}

/* `word` is the option as it stands there. */
static bool put_value(Parser *p, int row, const char *word, const char *value)
{
    const DpOption *o = &p->rows[row];
    int n = (int)strcspn(word, "=");
    if (value && *value && p->values[row] && is_settings(o))
        return join_lists(p, row, value);
    if (value && p->values[row])
        return fail(p, "%.*s is given twice", n, word);
    if (value && !*value)
        return fail(p, "%.*s takes a value, %s", n, word, o->value);
    if (value && !is_allowed(o, value))
        return fail_choice(p, o, word, value);
    p->values[row] = value ? value : "";
    return true;
}

static bool fail_unknown(Parser *p, const char *word)
{
    int n = (int)strcspn(word, "=");
    char name[64];
    snprintf(name, sizeof name, "%.*s", n, word);
    DpGuess g = dp_guess_start(name + strspn(name, "-"));
    for (struct option *o = p->longs; word[1] == '-' && o->name; o++) {
        if (strncmp(o->name, g.wanted, strlen(g.wanted)) == 0) { /* short for several */
            g.best = o->name;
            break;
        }
        dp_guess_consider(&g, o->name);
    }
    return fail(p, "there is no option %.*s%s%s%s", n, word, g.best ? "; did you mean --" : "", g.best ? g.best : "",
                g.best ? "?" : "");
}

static int row_of(const Parser *p, int found)
{
    for (uint32_t i = 0; found < LONG && i < p->n; i++)
        if (p->rows[i].letter == found && p->rows[i].scope & p->scope)
            return (int)i;
    return found - LONG;
}

/* One option, at words[1], or several letters behind one dash. Returns how many words it takes, or 0 on failure. */
static int read_option(Parser *p, int nwords, char **words)
{
    const char *word = words[1];
    optind = 0; /* starts anew */
    opterr = 0;
    do {
        int found = getopt_long(nwords, words, p->shorts, p->longs, NULL);
        int row = row_of(p, found == ':' || (found == '?' && optopt >= LONG) ? optopt : found);
        if (found == ':')
            return fail(p, "%.*s takes a value, %s", (int)strcspn(word, "="), word, p->rows[row].value);
        if (found == '?')
            return optopt >= LONG ? fail(p, "--%s takes no value", p->rows[row].name) : fail_unknown(p, word);
        if (!put_value(p, row, word, optarg))
            return 0;
    } while (optind == 1);
    return optind - 1;
}

int dp_options_parse(const DpOption *rows, uint32_t n, unsigned scope, int argc, char **argv, const char **values,
                     char *error, size_t error_bytes)
{
    Parser p = {rows, n, scope, values, error, error_bytes, "", {{0}}};
    int nwords = 0;
    bool options = true;
    describe(&p);
    for (int at = 1; at < argc;) {
        if (options && strcmp(argv[at], "--") == 0) {
            options = false;
            at++;
        } else if (options && dp_arg_is_option(argv[at])) {
            int taken = read_option(&p, argc - at + 1, argv + at - 1);
            if (!taken)
                return -1;
            at += taken;
        } else {
            argv[1 + nwords++] = argv[at++];
        }
    }
    return nwords;
}

/* ---- help ---- */

enum { COLUMN = 26, WIDTH = 100 };

void dp_option_help(const DpOption *o, char *text, size_t bytes)
{
    int n = snprintf(text, bytes, "%s", o->help);
    if (o->variable)
        snprintf(text + n, bytes - (size_t)n, " (default: the variable %s, else %s)", o->variable, o->fallback);
    else if (o->fallback)
        snprintf(text + n, bytes - (size_t)n, " (default: %s)", o->fallback);
}

void dp_print_wrapped(FILE *out, const char *text, int column, int at)
{
    fprintf(out, "%*s", at < column ? column - at : 0, "");
    at = at < column ? column : at;
    for (bool first = true; *text; first = false) {
        int n = (int)strcspn(text, " ");
        if (!first && at + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", column, "");
            at = column;
            first = true;
        }
        at += fprintf(out, "%s%.*s", first ? "" : " ", n, text);
        text += n + (text[n] == ' ');
    }
    fputc('\n', out);
}

void dp_options_print(FILE *out, const DpOption *rows, uint32_t n, unsigned scope)
{
    char text[512];
    for (uint32_t i = 0; i < n; i++) {
        const DpOption *o = &rows[i];
        if (!(o->scope & scope))
            continue;
        dp_option_help(o, text, sizeof text);
        int at = o->letter ? fprintf(out, "  -%c, --%s", o->letter, o->name) : fprintf(out, "      --%s", o->name);
        if (o->value)
            at += fprintf(out, "%s%s", o->value[0] == '[' ? "" : " ", o->value);
        if (at >= COLUMN)
            at = fprintf(out, "\n") - 1;
        dp_print_wrapped(out, text, COLUMN, at);
    }
}

/* ---- values ---- */

bool dp_parse_count(const char *text, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *value <= most;
}

bool dp_parse_seconds(const char *text, double *seconds)
{
    static const double most = 1e9; /* thirty years */
    char *end;
    *seconds = strtod(text, &end);
    bool decimal = *text && text[strspn(text, "0123456789.")] == '\0';
    return decimal && *end == '\0' && *seconds > 0 && *seconds <= most;
}

static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "kMGT";
    char *end;
    errno = 0;
    *bytes = strtoull(text, &end, 10);
    bool ok = *text >= '0' && *text <= '9' && errno == 0 && *bytes > 0;
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    for (const char *u = units; ok && unit && u <= unit; u++) {
        ok = *bytes <= UINT64_MAX / 1000;
        *bytes *= 1000;
    }
    return ok && (unit ? end[1] == '\0' : *end == '\0');
}

bool dp_parse_limits(const char *timeout, const char *memory, double *seconds, uint64_t *bytes, char *error,
                     size_t error_bytes)
{
    *seconds = 0;
    *bytes = 0;
    if (timeout && !dp_parse_seconds(timeout, seconds))
        snprintf(error, error_bytes, "--timeout takes a number of seconds, not %s", timeout);
    else if (memory && !parse_bytes(memory, bytes))
        snprintf(error, error_bytes, "--memory takes a number of bytes such as 100M or 2G, not %s", memory);
    else
        return true;
    return false;
}
