#include "step/step.h"

#include "step/show.h"

#include <stdlib.h>
#include <string.h>

typedef struct Walk {
    Session *session;
    const Record *record;
    FILE *out;
    uint32_t at;
    Lines breaks;
    bool quit;
} Walk;

/* ---- moving ---- */

static void go(Walk *w, uint32_t to)
{
    if (to == w->at)
        fprintf(w->out, "there is nothing %s\n", to == 0 ? "before" : "behind");
    w->at = to;
    show_event(w->out, w->record, w->at);
}

/* Where the line is entered: from another one, or by a call. */
static bool stops_at(const Walk *w, uint32_t event)
{
    const uint32_t line = record_line(w->record, event);
    bool stops = false;
    for (uint32_t i = 0; line && i < w->breaks.n; i++)
        stops |= w->breaks.at[i] == line;
    return stops && (event == 0 || record_line(w->record, event - 1) != line || record_is_call(w->record, event - 1));
}

static void run_next(Walk *w, const char *word) { (void)word, go(w, record_next(w->record, w->at)); }
static void run_back(Walk *w, const char *word) { (void)word, go(w, record_back(w->record, w->at)); }
static void run_step(Walk *w, const char *word) { (void)word, go(w, record_inner(w->record, w->at)); }
static void run_before(Walk *w, const char *word) { (void)word, go(w, record_before(w->record, w->at)); }
static void run_out(Walk *w, const char *word) { (void)word, go(w, record_out(w->record, w->at)); }

/* To where a line with a breakpoint is entered, or the end. */
static void run_continue(Walk *w, const char *word)
{
    uint32_t i = record_inner(w->record, w->at);
    (void)word;
    while (i + 1 < w->record->events.n && !stops_at(w, i))
        i++;
    go(w, i);
}

static void run_reverse(Walk *w, const char *word)
{
    uint32_t i = record_before(w->record, w->at);
    (void)word;
    while (i > 0 && !stops_at(w, i))
        i--;
    go(w, i);
}

static bool read_number(const char *word, uint32_t *n)
{
    char *end;
    const unsigned long x = strtoul(word, &end, 10);
    *n = (uint32_t)x;
    return *word >= '0' && *word <= '9' && *end == '\0' && x < UINT32_MAX;
}

static void run_goto(Walk *w, const char *word)
{
    uint32_t to;
    if (!read_number(word, &to) || to >= w->record->events.n)
        fprintf(w->out, "goto takes the number of an event: 0 to %u\n", w->record->events.n - 1);
    else
        go(w, to);
}

/* ---- breakpoints ---- */

static bool line_is_reached(const Walk *w, uint32_t line)
{
    bool reached = false;
    for (uint32_t i = 0; i < w->record->events.n; i++)
        reached |= record_line(w->record, i) == line;
    return reached;
}

static void list_breaks(const Walk *w)
{
    for (uint32_t i = 0; i < w->breaks.n; i++)
        fprintf(w->out, "breakpoint at line %u\n", w->breaks.at[i]);
    if (w->breaks.n == 0)
        fprintf(w->out, "there are no breakpoints\n");
}

static void run_break(Walk *w, const char *word)
{
    uint32_t line;
    if (*word == '\0') {
        list_breaks(w);
    } else if (!read_number(word, &line)) {
        fprintf(w->out, "break takes the number of a line, not %s\n", word);
    } else {
        vec_push(w->record->arena, &w->breaks, line);
        fprintf(w->out,
                line_is_reached(w, line) ? "breakpoint at line %u\n"
                                         : "breakpoint at line %u, of which this run executes nothing\n",
                line);
    }
}

static void run_delete(Walk *w, const char *word)
{
    uint32_t line, n = 0;
    if (*word && !read_number(word, &line)) {
        fprintf(w->out, "delete takes the number of a line, not %s\n", word);
        return;
    }
    for (uint32_t i = 0; *word && i < w->breaks.n; i++)
        if (w->breaks.at[i] != line)
            w->breaks.at[n++] = w->breaks.at[i];
    w->breaks.n = n;
    list_breaks(w);
}

/* ---- looking ---- */

static void run_print(Walk *w, const char *word)
{
    Arena *scratch = arena_create();
    if (*word == '\0') {
        show_event(w->out, w->record, w->at);
    } else {
        const Json *value = record_value(w->record, scratch, w->at, word);
        if (value)
            show_value(w->out, value);
        else
            fprintf(w->out, "no variable %s has a value here\n", word);
    }
    arena_destroy(scratch);
}

static void run_where(Walk *w, const char *word) { (void)word, show_where(w->out, w->record, w->at); }

static void run_list(Walk *w, const char *word)
{
    (void)word;
    show_source(w->out, w->session, w->record, w->at, &w->breaks);
}

static void run_quit(Walk *w, const char *word) { (void)word, w->quit = true; }

/* ---- commands ---- */

static void run_help(Walk *w, const char *word);

static const struct {
    const char *name, *word, *text;
    void (*run)(Walk *w, const char *word);
} commands[] = {
    {"next", "", "goes on, over calls and what is inside of the statement", run_next},
    {"step", "", "goes on by one event: into calls, instances, rounds and branches", run_step},
    {"back", "", "goes back, over calls and what is inside", run_back},
    {"before", "", "goes back by one event", run_before},
    {"out", "", "goes on to where the call, instance, round or branch is over", run_out},
    {"continue", "", "goes on to the next breakpoint, or to the end", run_continue},
    {"reverse", "", "goes back to the last breakpoint, or to the beginning", run_reverse},
    {"goto", " N", "goes to event N", run_goto},
    {"break", " LINE", "stops where the line is entered; without a line: lists the breakpoints", run_break},
    {"delete", " LINE", "takes a breakpoint away; without a line: all", run_delete},
    {"print", " NAME", "shows the value of a variable: xs, %4 or %4.xs; without a name: the event again", run_print},
    {"where", "", "shows the calls under way, with their instances, rounds and branches", run_where},
    {"list", "", "shows the program around the line", run_list},
    {"help", "", "shows this", run_help},
    {"quit", "", "ends", run_quit},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void run_help(Walk *w, const char *word)
{
    (void)word;
    for (int i = 0; i < COMMANDS; i++)
        fprintf(w->out, "%s%-*s %s\n", commands[i].name, 14 - (int)strlen(commands[i].name), commands[i].word,
                commands[i].text);
    fprintf(w->out, "A command may be shortened; the first in this list that begins so is meant.\n");
}

static void run_line(Walk *w, char *line)
{
    char *name = line + strspn(line, " \t"), *word = name + strcspn(name, " \t");
    if (*word)
        *word++ = '\0';
    word += strspn(word, " \t");
    word[strcspn(word, " \t\r")] = '\0';
    int i = 0;
    while (i < COMMANDS && strncmp(commands[i].name, name, strlen(name)) != 0)
        i++;
    if (i < COMMANDS)
        commands[i].run(w, word);
    else
        fprintf(w->out, "%s is no command; help lists them\n", name);
}

void step_through(Session *s, const Record *r, FILE *out, ReadCommand *read, void *ctx)
{
    Walk w = {.session = s, .record = r, .out = out};
    char *line;
    show_event(out, r, 0);
    fflush(out);
    while (!w.quit && (line = read(ctx))) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[strspn(line, " \t")])
            run_line(&w, line);
        fflush(out);
    }
}
