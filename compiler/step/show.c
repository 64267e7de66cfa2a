#include "step/show.h"

#include <inttypes.h>
#include <string.h>

enum { LINES_AROUND = 4 };

/* ---- values ---- */

/* {"more": N} stands for those that the trace left out. */
static void show_items(FILE *out, const Json *list, void show(FILE *, const Json *), const char *between)
{
    for (const Json *item = list->first; item; item = item->next) {
        if (item->kind == JSON_OBJECT)
            fprintf(out, "… %" PRIu64 " more", json_number(item, "more", 0));
        else
            show(out, item);
        fputs(item->next ? between : "", out);
    }
}

static void show_json(FILE *out, const Json *v)
{
    if (v->kind != JSON_LIST) {
        fputs(v->text ? v->text : "?", out);
        return;
    }
    fputc('[', out);
    show_items(out, v, show_json, ", ");
    fputc(']', out);
}

/* "[2, 5, 0]" is two elements from element 0 of block 5 on. */
static void show_view(FILE *out, const Json *view)
{
    const Json *length = view->first, *block = length ? length->next : NULL;
    if (!length)
        return;
    fputs(length->text ? length->text : "?", out);
    if (block && block->next)
        fprintf(out, " at %s of block %s", block->next->text, block->text);
}

static void show_views(FILE *out, const Json *views)
{
    fputs("\n      views: ", out);
    show_items(out, views, show_view, "; ");
}

static void show_context(FILE *out, const Json *v)
{
    const uint64_t n = json_number(v, "length", 0);
    const char *parent = json_text(v, "parent");
    fprintf(out, ": context, %s%s%s, %" PRIu64 " instance%s", json_text(v, "form"), *parent ? " of " : "", parent, n,
            n == 1 ? "" : "s");
    static const char *const lists[] = {"offsets", "stride", "map"};
    for (int i = 0; i < 3; i++)
        if (json_get(v, lists[i])) {
            fprintf(out, ", %s ", lists[i]);
            show_json(out, json_get(v, lists[i]));
        }
}

/* How it is stored: of a column its block, of arrays their views. */
static void show_storage(FILE *out, const Json *v)
{
    const Json *block = json_get(v, "block"), *view = json_get(v, "view"), *views = json_get(v, "views");
    if (block && block->kind == JSON_NUMBER)
        fprintf(out, "\n      block %s, from element %" PRIu64, block->text, json_number(v, "at", 0));
    if (view && view->kind == JSON_LIST) {
        fputs("\n      view: ", out);
        show_view(out, view);
    }
    if (views && views->kind == JSON_LIST)
        show_views(out, views);
}

void show_value(FILE *out, const Json *v)
{
    const Json *value = json_get(v, "value");
    fputs(json_text(v, "name"), out);
    if (strcmp(json_text(v, "kind"), "context") == 0) {
        show_context(out, v);
    } else {
        const char *context = json_text(v, "context");
        fprintf(out, " : %s%s%s = ", json_text(v, "type"), *context ? " in " : "", context);
        if (value)
            show_json(out, value);
        show_storage(out, v);
    }
    fputc('\n', out);
}

static void show_values(FILE *out, const Json *event, const char *key)
{
    const Json *list = json_get(event, key);
    for (const Json *v = list ? list->first : NULL; v; v = v->next) {
        fputs("    ", out);
        show_value(out, v);
    }
}

/* ---- events ---- */

static void show_place(FILE *out, const Json *place)
{
    if (place && place->kind == JSON_OBJECT)
        fprintf(out, "%s:%" PRIu64, json_text(place, "file"), json_number(place, "line", 0));
    else
        fputs("(no place)", out);
}

static void show_statement(FILE *out, const Record *r, uint32_t statement)
{
    const Json *s = r->statements.at[statement].json;
    const char *text = json_text(s, "text");
    show_place(out, json_get(s, "place"));
    fprintf(out, " in %s: %.*s", json_text(s, "function"), (int)strcspn(text, "\n"), text);
}

static void show_failure(FILE *out, const Json *e)
{
    const Json *place = json_get(e, "place");
    fputs("failure: ", out);
    show_place(out, place);
    fprintf(out, ":%" PRIu64 ": error: %s\n", json_number(place, "column", 0), json_text(e, "message"));
}

/* Events of the run as a whole. */
static void show_end(FILE *out, const Json *e, const char *kind)
{
    if (strcmp(kind, "failure") == 0) {
        show_failure(out, e);
    } else if (strcmp(kind, "cut") == 0) {
        fprintf(out, "the record ends here, at its limit of %" PRIu64 " %s; the run goes on\n",
                json_number(e, "limit", 0), json_text(e, "at"));
    } else {
        fputs("result\n", out);
        const Json *list = json_get(e, "results");
        for (const Json *v = list ? list->first : NULL; v; v = v->next) {
            fprintf(out, "    %" PRIu64, json_number(v, "index", 0));
            show_value(out, v);
        }
    }
}

void show_event(FILE *out, const Record *r, uint32_t at)
{
    Arena *scratch = arena_create();
    const Json *e = record_event(r, scratch, at);
    const RecordEvent *event = &r->events.at[at];
    const char *kind = event->kind;
    fprintf(out, "#%u ", at);
    if (strcmp(kind, "call") == 0 || strcmp(kind, "return") == 0) {
        fprintf(out, "%s %s\n", kind, json_text(e, "function"));
    } else if (event->statement == RECORD_NONE || strcmp(kind, "failure") == 0) {
        show_end(out, e, kind);
    } else {
        if (strcmp(kind, "branch") == 0)
            fprintf(out, "%s of ", json_text(e, "taken"));
        else if (strcmp(kind, "step") != 0)
            fprintf(out, "%s %" PRIu64 " of ", kind, json_number(e, kind, 0));
        show_statement(out, r, event->statement);
        fputc('\n', out);
    }
    show_values(out, e, "params");
    show_values(out, e, "outs");
    arena_destroy(scratch);
}

/* ---- where ---- */

/* The blocks around the statement, innermost first; `at` may be one of their beginnings. */
static void show_parts(FILE *out, const Record *r, uint32_t at, uint32_t statement)
{
    const bool begins = statement == r->events.at[at].statement && strcmp(r->events.at[at].kind, "step") != 0 &&
                        strcmp(r->events.at[at].kind, "call") != 0;
    if (statement == RECORD_NONE)
        return;
    uint32_t s = begins ? statement : r->statements.at[statement].within;
    for (; s != RECORD_NONE; s = r->statements.at[s].within) {
        const uint32_t part = record_part(r, at, s);
        if (part == RECORD_NONE)
            continue;
        Arena *scratch = arena_create();
        const Json *json = record_event(r, scratch, part);
        const char *kind = r->events.at[part].kind;
        fputs("    ", out);
        if (strcmp(kind, "branch") == 0)
            fprintf(out, "%s of ", json_text(json, "taken"));
        else
            fprintf(out, "%s %" PRIu64 " of ", kind, json_number(json, kind, 0));
        show_statement(out, r, s);
        fputc('\n', out);
        arena_destroy(scratch);
    }
}

/* One call; `statement` is where it has got. */
static void show_call(FILE *out, const Record *r, uint32_t call, uint32_t statement)
{
    Arena *scratch = arena_create();
    const Json *json = call == RECORD_NONE ? NULL : record_event(r, scratch, call);
    fprintf(out, "  %s", json ? json_text(json, "function") : "(no call)");
    if (json && json_get(json, "level"))
        fprintf(out, ", level %" PRIu64, json_number(json, "level", 0));
    if (statement != RECORD_NONE) {
        fputs(", ", out);
        show_place(out, json_get(r->statements.at[statement].json, "place"));
    }
    fputc('\n', out);
    arena_destroy(scratch);
}

/* Of an event that is a call the statement is its caller's. */
static uint32_t own_statement(const Record *r, uint32_t at)
{
    const bool call = strcmp(r->events.at[at].kind, "call") == 0 || strcmp(r->events.at[at].kind, "return") == 0;
    return call ? RECORD_NONE : r->events.at[at].statement;
}

void show_where(FILE *out, const Record *r, uint32_t at)
{
    uint32_t statement = own_statement(r, at);
    while (at != RECORD_NONE) {
        const uint32_t call = record_call(r, at);
        show_call(out, r, call, statement);
        show_parts(out, r, at, statement);
        statement = call == RECORD_NONE ? RECORD_NONE : r->events.at[call].statement;
        at = call == RECORD_NONE || call == 0 ? RECORD_NONE : call - 1;
    }
}

/* ---- the program ---- */

static bool has_line(const Lines *lines, uint32_t line)
{
    bool found = false;
    for (uint32_t i = 0; i < lines->n; i++)
        found |= lines->at[i] == line;
    return found;
}

void show_source(FILE *out, Session *s, const Record *r, uint32_t at, const Lines *breaks)
{
    const char *path = json_text(r->head, "program");
    uint32_t file = 0, line = record_line(r, at);
    while (file < s->files.n && strcmp(s->files.at[file]->path, path) != 0)
        file++;
    if (file == s->files.n)
        return;
    const uint32_t last = source_linecol(s, file, s->files.at[file]->length).line;
    for (uint32_t i = line > LINES_AROUND ? line - LINES_AROUND : 1; i <= line + LINES_AROUND && i <= last; i++) {
        uint32_t n = 0;
        const char *text = source_line(s, file, i, &n);
        fprintf(out, "%s%s%4u  %.*s\n", i == line ? ">" : " ", has_line(breaks, i) ? "*" : " ", i, (int)n, text);
    }
}
