#include "step/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static void add_statement(Record *r, const Json *line)
{
    RecordStatement s = {.json = line, .within = (uint32_t)json_number(line, "within", RECORD_NONE)};
    const Json *place = json_get(line, "place");
    if (s.within < r->statements.n)
        s.level = r->statements.at[s.within].level + 1;
    if (place && strcmp(json_text(place, "file"), json_text(r->head, "program")) == 0)
        s.line = (uint32_t)json_number(place, "line", 0);
    vec_push(r->arena, &r->statements, s);
}

/* These belong to no call: they are where the run has got. */
static bool is_end(const char *kind)
{
    return strcmp(kind, "result") == 0 || strcmp(kind, "failure") == 0 || strcmp(kind, "cut") == 0;
}

/* Of an event's line only what walking needs; the rest is read when it is looked at. */
static bool add_event(Record *r, const char *text)
{
    Arena *scratch = arena_create();
    const Json *line = json_read(scratch, text);
    if (line) {
        const char *kind = json_text(line, "event");
        RecordEvent e = {text, arena_strndup(r->arena, kind, strlen(kind)),
                         (uint32_t)json_number(line, "statement", RECORD_NONE), (uint32_t)json_number(line, "depth", 0),
                         0};
        const bool call = strcmp(kind, "call") == 0 || strcmp(kind, "return") == 0;
        if (e.statement >= r->statements.n)
            e.statement = RECORD_NONE;
        if (e.statement != RECORD_NONE && !call) /* parts are inside of their statement */
            e.level = r->statements.at[e.statement].level + (strcmp(kind, "step") != 0);
        if (r->events.n > 0 && is_end(kind)) {
            e.depth = r->events.at[r->events.n - 1].depth;
            e.level = r->events.at[r->events.n - 1].level;
        }
        vec_push(r->arena, &r->events, e);
    }
    arena_destroy(scratch);
    return line != NULL;
}

bool record_read(Record *r, Arena *arena, char *text)
{
    *r = (Record){.arena = arena};
    bool good = true;
    for (char *line = text, *end; good && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        if (strncmp(line, "{\"event\":\"trace\"", 16) == 0)
            r->head = json_read(arena, line);
        else if (strncmp(line, "{\"event\":\"statement\"", 20) == 0)
            add_statement(r, json_read(arena, line));
        else
            good = add_event(r, line);
    }
    return good && r->head && r->events.n > 0;
}

const Json *record_event(const Record *r, Arena *arena, uint32_t event)
{
    return json_read(arena, r->events.at[event].text);
}

bool record_is_call(const Record *r, uint32_t event) { return strcmp(r->events.at[event].kind, "call") == 0; }

uint32_t record_line(const Record *r, uint32_t event)
{
    const uint32_t s = r->events.at[event].statement;
    return s == RECORD_NONE ? 0 : r->statements.at[s].line;
}

/* ---- walking ---- */

static bool is(const Record *r, uint32_t event, const char *kind)
{
    return strcmp(r->events.at[event].kind, kind) == 0;
}

/* Is event i deeper inside than j? */
static bool deeper(const Record *r, uint32_t i, uint32_t j)
{
    const RecordEvent *x = &r->events.at[i], *y = &r->events.at[j];
    return x->depth != y->depth ? x->depth > y->depth : x->level > y->level;
}

uint32_t record_inner(const Record *r, uint32_t at) { return at + 1 < r->events.n ? at + 1 : at; }
uint32_t record_before(const Record *r, uint32_t at)
{
    (void)r;
    return at > 0 ? at - 1 : at;
}

uint32_t record_next(const Record *r, uint32_t at)
{
    uint32_t i = record_inner(r, at);
    while (i + 1 < r->events.n && deeper(r, i, at))
        i++;
    return i;
}

uint32_t record_back(const Record *r, uint32_t at)
{
    uint32_t i = record_before(r, at);
    while (i > 0 && deeper(r, i, at))
        i--;
    return i;
}

uint32_t record_out(const Record *r, uint32_t at)
{
    uint32_t i = record_inner(r, at);
    while (i + 1 < r->events.n && !deeper(r, at, i))
        i++;
    return i;
}

uint32_t record_call(const Record *r, uint32_t at)
{
    const uint32_t depth = r->events.at[at].depth;
    for (uint32_t i = at + 1; i-- > 0;)
        if (r->events.at[i].depth == depth && record_is_call(r, i))
            return i;
    return RECORD_NONE;
}

uint32_t record_part(const Record *r, uint32_t at, uint32_t statement)
{
    const uint32_t depth = r->events.at[at].depth, call = record_call(r, at);
    for (uint32_t i = at + 1; i-- > 0 && (call == RECORD_NONE || i > call);)
        if (r->events.at[i].depth == depth && r->events.at[i].statement == statement &&
            (is(r, i, "instance") || is(r, i, "round") || is(r, i, "branch")))
            return i;
    return RECORD_NONE;
}

/* ---- values ---- */

static bool is_digits(const char *text) { return *text && text[strspn(text, "0123456789")] == '\0'; }

/* Variables are called "%4.xs" on core, "%xs4" on flat, or "%4". */
static bool has_name(const char *variable, const char *name)
{
    const char *bare = *variable == '%' ? variable + 1 : variable;
    const char *dot = strchr(bare, '.');
    const size_t n = strlen(name);
    if (*name == '%')
        return strncmp(variable, name, n) == 0 && (variable[n] == '\0' || variable[n] == '.');
    if (dot)
        return strcmp(dot + 1, name) == 0;
    return strcmp(bare, name) == 0 || (strncmp(bare, name, n) == 0 && is_digits(bare + n));
}

static const Json *value_in(const Json *event, const char *key, const char *name)
{
    const Json *list = json_get(event, key), *found = NULL;
    for (const Json *v = list ? list->first : NULL; v; v = v->next)
        if (has_name(json_text(v, "name"), name))
            found = v;
    return found;
}

const Json *record_value(const Record *r, Arena *arena, uint32_t at, const char *name)
{
    const uint32_t depth = r->events.at[at].depth, call = record_call(r, at);
    for (uint32_t i = at + 1; i-- > 0 && (call == RECORD_NONE || i >= call);) {
        if (r->events.at[i].depth != depth)
            continue;
        const Json *event = record_event(r, arena, i), *value = value_in(event, "outs", name);
        value = value ? value : value_in(event, "params", name);
        if (value)
            return value;
    }
    return NULL;
}
