#include "repl/repl.h"

#include "driver/process.h"
#include "repl/repl_internal.h"
#include "support/embedded.h"
#include "support/memory.h"
#include "syntax/load.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

Repl *repl_create(const ReplOptions *options)
{
    Repl *r = memory_alloc(1, sizeof *r);
    r->options = *options;
    return r;
}

void repl_destroy(Repl *r)
{
    repl_forget(r);
    if (r->words)
        arena_destroy(r->words);
    free(r->parts);
    free(r->device);
    free(r);
}

bool repl_load(Repl *r, const char *path)
{
    char *text = repl_read_file(path);
    const bool ok = text && repl_keep(r, REPL_FILE, path, text, 0);
    free(text);
    return ok;
}

/* ---- what is asked of an expression ---- */

typedef struct Asked {
    Repl *r;
    const char *text;
    uint32_t lines_before;
    Stage stage;   /* to be shown */
    unsigned runs; /* to be timed */
} Asked;

static Compilation *compile_expression(const Asked *a, Stage stage)
{
    Compilation *c = repl_compilation(a->r, REPL_EXPRESSION, "input", a->text, a->lines_before);
    if (compile_to(c, stage))
        return c;
    compilation_destroy(c);
    return NULL;
}

static void evaluate(const Asked *a)
{
    Compilation *c = compile_expression(a, a->r->options.stage);
    if (c)
        repl_evaluate(a->r, c, a->runs);
    compilation_destroy(c);
}

/* It may be a function, and of many types. */
static void show_type(const Asked *a)
{
    StrBuf out = {0};
    Compilation *c = compile_expression(a, STAGE_AST);
    if (!c)
        return;
    const Module *own = c->modules.list.at[1];
    Def *def = own->defs[own->ndefs - 1];
    def->is_entry = false;
    if (compile_to(c, STAGE_TYPES)) {
        scheme_print(&out, &c->checked->defs[def->index].scheme);
        puts(out.text);
    }
    strbuf_free(&out);
    compilation_destroy(c);
}

static void show_stage(const Asked *a)
{
    StrBuf out = {0};
    Compilation *c = compile_expression(a, a->stage);
    if (c) {
        compilation_print(&out, c, a->stage);
        fputs(out.n ? out.text : "", stdout);
    }
    strbuf_free(&out);
    compilation_destroy(c);
}

static void explain(const Asked *a)
{
    StrBuf out = {0};
    Compilation *c = compile_expression(a, STAGE_PLAN);
    if (c) {
        plan_remarks(&out, c->plan, false);
        fputs(out.n ? out.text : "no kernel, no loop and no read-back\n", stdout);
    }
    strbuf_free(&out);
    compilation_destroy(c);
}

/* ---- commands ---- */

typedef enum ReplCommand {
#define COMMAND(name, ...) REPL_##name,
#include "repl/repl_commands.def"
#undef COMMAND
    REPL_COMMANDS
} ReplCommand;

static const struct {
    const char *name, *arguments, *text;
} commands[REPL_COMMANDS] = {
#define COMMAND(name, ...) {#name, __VA_ARGS__},
#include "repl/repl_commands.def"
#undef COMMAND
};

static void list_commands(void)
{
    puts("An expression is evaluated; def, type and import define. Input goes on while something is missing, up to an\n"
         "empty line; :{ and :} stand around several lines.");
    for (ReplCommand i = 0; i < REPL_COMMANDS; i++)
        printf("  :%s%s%-*s  %s\n", commands[i].name, *commands[i].arguments ? " " : "",
               (int)(32 - strlen(commands[i].name) - (*commands[i].arguments != '\0')), commands[i].arguments,
               commands[i].text);
    printf("  :");
    for (Stage s = STAGE_TYPES; s < STAGE_COUNT; s++)
        printf("%s%s", s > STAGE_TYPES ? "|" : "", stage_name(s));
    printf(" EXPR\n%36s%s\n", "", "the program at that stage");
}

static void choose_evaluator(Repl *r, const char *name)
{
    const Stage s = stage_find(name);
    if (s == STAGE_CORE || s == STAGE_FUSED || s == STAGE_FLAT || s == STAGE_PLAN)
        r->options.stage = s;
    else if (*name)
        fprintf(stderr, "error: %s is none of plan, core, fused and flat\n", name);
    if (!*name)
        puts(stage_name(r->options.stage));
}

static void choose_device(Repl *r, const char *name)
{
    if (!*name) {
        repl_list_devices(r);
        return;
    }
    free(r->device);
    r->device = memory_alloc(strlen(name) + 1, 1);
    memcpy(r->device, name, strlen(name));
}

static void reload(Repl *r)
{
    const uint32_t n = r->nparts;
    for (uint32_t i = 0, at = 0; i < n; i++) { /* those that can be read move behind the others */
        char *path = r->parts[at].is_file ? strdup(r->parts[at].path) : NULL;
        at += !path || !repl_load(r, path);
        free(path);
    }
}

static void list_definitions(const Repl *r)
{
    Compilation *c = repl_compilation(r, REPL_NOTHING, NULL, NULL, 0);
    if (compile_to(c, STAGE_TYPES))
        repl_print_definitions(c, true);
    compilation_destroy(c);
}

static void run_command(Asked *a, ReplCommand command)
{
    switch (command) {
    case REPL_type: show_type(a); return;
    case REPL_load: repl_load(a->r, a->text); return;
    case REPL_reload: reload(a->r); return;
    case REPL_defs: list_definitions(a->r); return;
    case REPL_clear: repl_forget(a->r); return;
    case REPL_time: a->runs = 5, evaluate(a); return;
    case REPL_explain: explain(a); return;
    case REPL_eval: choose_evaluator(a->r, a->text); return;
    case REPL_device: choose_device(a->r, a->text); return;
    case REPL_help: list_commands(); return;
    case REPL_quit: a->r->quit = true; return;
    case REPL_COMMANDS: return;
    }
}

/* The one of that name, or the only one that begins so. */
static ReplCommand find_command(const char *name, size_t n)
{
    ReplCommand found = REPL_COMMANDS;
    for (ReplCommand i = 0; i < REPL_COMMANDS; i++) {
        if (strncmp(commands[i].name, name, n) != 0)
            continue;
        if (commands[i].name[n] == '\0')
            return i;
        found = found == REPL_COMMANDS ? i : found;
    }
    return n ? found : REPL_COMMANDS;
}

static Stage stage_of(const char *name, size_t n)
{
    for (Stage s = STAGE_TYPES; s < STAGE_COUNT; s++)
        if (n == strlen(stage_name(s)) && memcmp(name, stage_name(s), n) == 0)
            return s;
    return STAGE_NONE;
}

/* What stands behind the command keeps its column, for messages. */
static void do_command(Repl *r, char *line, uint32_t lines_before)
{
    const char *name = line + 1;
    const size_t n = strcspn(name, " \t\r\n");
    const ReplCommand command = find_command(name, n);
    Asked a = {.r = r, .text = line, .lines_before = lines_before, .stage = stage_of(name, n)};
    const bool takes_expression = a.stage || command == REPL_type || command == REPL_time || command == REPL_explain;
    if (!a.stage && command == REPL_COMMANDS) {
        fprintf(stderr, "error: :%.*s is no command; :help lists them\n", (int)n, name);
        return;
    }
    if (takes_expression) {
        memset(line, ' ', n + 1);
        if (repl_kind(line) != REPL_EXPRESSION)
            fprintf(stderr, "error: an expression is wanted\n");
        else if (a.stage)
            show_stage(&a);
        else
            run_command(&a, command);
        return;
    }
    a.text = name + n + strspn(name + n, " \t\r\n");
    for (size_t end = strlen(a.text); end > 0 && strchr(" \t\r\n", a.text[end - 1]); end--)
        line[(size_t)(a.text - line) + end - 1] = '\0';
    run_command(&a, command);
}

/* ---- input ---- */

static const char *read_line(Repl *r, const char *prompt, StrBuf *text)
{
    const char *line = r->options.read(r->options.ctx, prompt);
    if (!line)
        return NULL;
    const unsigned interrupts = signals_interrupts();
    r->gave_up = interrupts != r->interrupts;
    r->interrupts = interrupts;
    text->n = r->gave_up ? 0 : text->n;
    r->lines++;
    const size_t at = text->n;
    strbuf_printf(text, "%s\n", line);
    return text->text + at;
}

static bool is_line(const char *line, const char *mark)
{
    line += strspn(line, " \t");
    const size_t n = strlen(mark);
    return strncmp(line, mark, n) == 0 && line[n + strspn(line + n, " \t\r\n")] == '\0';
}

/* The lines up to :}, with the one that begins them. */
static void read_block(Repl *r, StrBuf *text)
{
    for (const char *line; (line = read_line(r, "   | ", text)) && !r->gave_up;) {
        if (!is_line(line, ":}"))
            continue;
        text->n = (size_t)(line - text->text);
        text->text[text->n] = '\0';
        return;
    }
}

/* What goes on behind the first line. */
static void read_rest(Repl *r, StrBuf *text)
{
    const char *line = text->text;
    const size_t blanks = strspn(line, " \t");
    if (is_line(line, ":{")) {
        text->n = 0;
        strbuf_add(text, "\n");
        read_block(r, text);
    } else if (line[blanks] != ':' && repl_kind(line) != REPL_NOTHING) {
        while (repl_is_incomplete(text->text) && (line = read_line(r, "   | ", text)) && !is_line(line, "") &&
               !r->gave_up) {
        }
    }
}

/* One thing to do, of one or more lines. False at the end. */
static bool read_input(Repl *r, StrBuf *text, uint32_t *lines_before)
{
    if (!read_line(r, "dp> ", text))
        return false;
    do {
        r->gave_up = false;
        *lines_before = r->lines - 1;
        read_rest(r, text);
    } while (r->gave_up);
    return true;
}

typedef struct Step {
    Repl *r;
    StrBuf text;
    uint32_t lines_before;
} Step;

static void do_input(void *data)
{
    Step *step = data;
    char *text = step->text.text;
    const size_t blanks = strspn(text, " \t");
    const Asked a = {.r = step->r, .text = text, .lines_before = step->lines_before};
    if (text[blanks] == ':') {
        do_command(step->r, text + blanks, step->lines_before);
        return;
    }
    switch (repl_kind(text)) {
    case REPL_EXPRESSION: evaluate(&a); return;
    case REPL_DEFINITIONS: repl_keep(step->r, REPL_DEFINITIONS, "input", text, step->lines_before); return;
    case REPL_NOTHING:
    case REPL_FILE: return;
    }
}

void repl_run(Repl *r)
{
    if (r->options.prompts)
        puts("dpc repl: an expression, a definition or a command; :help lists the commands");
    while (!r->quit) {
        Step step = {.r = r};
        if (!read_input(r, &step.text, &step.lines_before)) {
            strbuf_free(&step.text);
            break;
        }
        if (!memory_guard(do_input, &step))
            fprintf(stderr, "error: out of memory\n");
        fflush(stdout);
        strbuf_free(&step.text);
    }
}

/* ---- completion ---- */

typedef VEC(const char *) Words;

static void add_word(Repl *r, Words *words, const char *text)
{
    const char *word = arena_strndup(r->words, text, strlen(text));
    vec_push(r->words, words, word);
}

static void add_names(Repl *r, Words *words, const Compilation *c)
{
    for (uint32_t i = 0; i < c->checked->ndefs; i++) {
        const char *name = c->checked->defs[i].def->name;
        const size_t n = strlen(name);
        if (n < 2 || strcmp(name + n - 2, "__") != 0)
            add_word(r, words, name);
    }
}

/* Of x in `x.`: the type of the expression x, without messages; NULL where there is none. */
static Compilation *compile_quietly(Repl *r, const char *text)
{
    FILE *nowhere = fopen("/dev/null", "w");
    Compilation *c = repl_compilation(r, REPL_EXPRESSION, "input", text, 0);
    c->session->messages = nowhere;
    const bool ok = nowhere && compile_to(c, STAGE_TYPES);
    if (nowhere)
        fclose(nowhere);
    if (ok)
        return c;
    compilation_destroy(c);
    return NULL;
}

static void add_fields(Repl *r, Words *words, const char *text)
{
    Compilation *c = compile_quietly(r, text);
    const Module *own = c ? c->modules.list.at[1] : NULL;
    const Type *t = own ? type_prune(c->checked->defs[own->defs[own->ndefs - 1]->index].scheme.type) : NULL;
    for (uint32_t i = 0; t && t->kind == TY_RECORD && i < t->record.n; i++)
        add_word(r, words, t->record.names[i]);
    compilation_destroy(c);
}

static bool add_module(Repl *r, Words *words, const char *alias)
{
    Compilation *c = repl_compilation(r, REPL_NOTHING, NULL, NULL, 0);
    const Module *own = compile_to(c, STAGE_TYPES) ? c->modules.list.at[1] : NULL, *found = NULL;
    for (uint32_t i = 0; own && i < own->ndefs; i++)
        if (own->defs[i]->kind == DEF_IMPORT && own->defs[i]->name && strcmp(own->defs[i]->name, alias) == 0)
            found = own->defs[i]->module;
    for (uint32_t i = 0; found && i < found->ndefs; i++) {
        const Def *def = found->defs[i];
        const size_t n = def->kind == DEF_VALUE ? strlen(def->name) : 0;
        if (n > 2 ? strcmp(def->name + n - 2, "__") != 0 : n > 0)
            add_word(r, words, def->name);
    }
    compilation_destroy(c);
    return found != NULL;
}

/* What stands before the dot that the line ends in: x, x.y, M. */
static const char *chain_before(Arena *arena, const char *line)
{
    size_t n = strlen(line), start;
    if (n == 0 || line[n - 1] != '.')
        return NULL;
    for (start = --n; start > 0 && (isalnum((unsigned char)line[start - 1]) || strchr("_'.", line[start - 1]));
         start--) {
    }
    return start < n ? arena_strndup(arena, line + start, n - start) : NULL;
}

const char *const *repl_words(Repl *r, const char *before)
{
    static const char *const keywords[] = {"def",   "entry", "type", "import", "let",   "in", "if",   "then", "else",
                                           "match", "case",  "loop", "for",    "while", "do", "with", "true", "false"};
    Words words = {0};
    if (r->words)
        arena_destroy(r->words);
    r->words = arena_create();
    const char *end = NULL, *chain = chain_before(r->words, before);
    if (chain) {
        if (!add_module(r, &words, chain))
            add_fields(r, &words, chain);
        vec_push(r->words, &words, end);
        return words.at;
    }
    for (ReplCommand i = 0; i < REPL_COMMANDS; i++)
        add_word(r, &words, arena_printf(r->words, ":%s", commands[i].name));
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        add_word(r, &words, keywords[i]);
    Compilation *c = repl_compilation(r, REPL_NOTHING, NULL, NULL, 0);
    if (compile_to(c, STAGE_TYPES))
        add_names(r, &words, c);
    compilation_destroy(c);
    vec_push(r->words, &words, end);
    return words.at;
}
