/* Tuning parameters: see params.h. */
#include "params.h"

#include "dp_guess.h"
#include "dp_options.h"
#include "dp_rt.h"

#include <inttypes.h>
#include <string.h>

typedef struct Row {
    const char *name;
    const char *words; /* NULL: a number */
    uint64_t cpu, gpu, least, most;
    const char *tries, *unit, *text;
} Row;

static const Row rows[PARAM_COUNT] = {
#define NUMBER(id, name, ...) [PARAM_##id] = {name, NULL, __VA_ARGS__},
#define CHOICE(id, name, words, tries, text) [PARAM_##id] = {name, words, 0, 0, 0, 0, tries, "", text},
#include "params.def"
};

const char *dp_params_word(DpTuning id, uint64_t value, size_t *length)
{
    const char *word = rows[id].words;
    for (uint64_t i = 0; word && i < value; i++)
        word += strcspn(word, " ") + 1;
    *length = word ? strcspn(word, " ") : 0;
    return word;
}

const char *dp_params_name(DpTuning id) { return rows[id].name; }

const char *dp_params_tries(DpTuning id) { return rows[id].tries; }

void dp_params_print_setting(DpTuning id, uint64_t value, char *text, size_t bytes)
{
    size_t length;
    const char *word = dp_params_word(id, value, &length);
    if (word)
        snprintf(text, bytes, "%s=%.*s", rows[id].name, (int)length, word);
    else
        snprintf(text, bytes, "%s=%" PRIu64, rows[id].name, value);
}

/* The number of the word; false if it is none of the row's. */
static bool read_word(DpTuning id, const char *text, uint64_t *value)
{
    size_t n = strlen(text), length;
    for (uint64_t i = 0;; i++) {
        const char *word = dp_params_word(id, i, &length);
        if (length == n && memcmp(word, text, n) == 0) {
            *value = i;
            return true;
        }
        if (word[length] == '\0')
            return false;
    }
}

/* The row of that name, or PARAM_COUNT and a message. */
static DpTuning find_row(const char *name, char *error, size_t error_bytes)
{
    DpGuess g = dp_guess_start(name);
    for (DpTuning i = 0; i < PARAM_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return i;
        dp_guess_consider(&g, rows[i].name);
    }
    snprintf(error, error_bytes, "there is no parameter %s%s%s%s", name, g.best ? "; did you mean " : "",
             g.best ? g.best : "", g.best ? "?" : "; --param help lists them");
    return PARAM_COUNT;
}

/* "NAME=VALUE" */
static bool read_setting(DpTunings *p, char *setting, char *error, size_t error_bytes)
{
    char *value = strchr(setting, '=');
    if (value)
        *value++ = '\0';
    DpTuning id = find_row(setting, error, error_bytes);
    if (id == PARAM_COUNT)
        return false;
    const Row *r = &rows[id];
    bool ok = value && (r->words ? read_word(id, value, &p->value[id])
                                 : dp_parse_count(value, r->most, &p->value[id]) && p->value[id] >= r->least);
    p->set[id] = true;
    if (ok)
        return true;
    int n = snprintf(error, error_bytes, "the parameter %s takes ", r->name);
    char *rest = error + n;
    if (r->words)
        snprintf(rest, error_bytes - (size_t)n, "one of these: %s", r->words);
    else
        snprintf(rest, error_bytes - (size_t)n, "a number from %" PRIu64 " to %" PRIu64, r->least, r->most);
    return false;
}

bool dp_params_read(DpTunings *p, const char *text, char *error, size_t error_bytes)
{
    char setting[128];
    for (; text && *text; text += *text == ',') {
        size_t n = strcspn(text, ",");
        snprintf(setting, sizeof setting, "%.*s", (int)(n < sizeof setting ? n : sizeof setting - 1), text);
        if (!read_setting(p, setting, error, error_bytes))
            return false;
        text += n;
    }
    return true;
}

uint64_t dp_params_value(const DpTunings *p, DpTuning id, bool gpu)
{
    return p->set[id] ? p->value[id] : gpu ? rows[id].gpu : rows[id].cpu;
}

bool dp_params_check(const char *text, char *error, size_t error_bytes)
{
    DpTunings p = {{false}, {0}};
    return dp_params_read(&p, text, error, error_bytes);
}

void dp_params_print(FILE *out)
{
    enum { COLUMN = 26 };
    char text[512];
    fprintf(out, "Parameters, for --param NAME=VALUE:\n");
    for (const Row *r = rows; r < rows + PARAM_COUNT; r++) {
        if (r->words)
            snprintf(text, sizeof text, "%s: one of %s", r->text, r->words);
        else
            snprintf(text, sizeof text, "%s (%s; default: %" PRIu64 " on a CPU, %" PRIu64 " on a GPU)", r->text,
                     r->unit, r->cpu, r->gpu);
        dp_print_wrapped(out, text, COLUMN, fprintf(out, "  %s", r->name));
    }
}
