/* dpc bench: times of the benches in programs' comments, and what has become slower. */
#include "commands/commands.h"
#include "dp_args.h"
#include "dp_output.h"
#include "driver/in_process.h"
#include "step/json.h"
#include "support/memory.h"
#include "testing/test_comments.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 10000, LEAST_PERCENT = 3 }; /* a smaller change is none */

typedef struct Times {
    double median, low, high; /* us; the bounds are the median's, with 95 % certainty */
} Times;

typedef struct Bench {
    const CommandLine *a;
    unsigned runs;
    TempFolder folder;
    FILE *save;            /* or NULL */
    const Json **old;      /* nold rows of --against */
    uint32_t nold, slower; /* slower: how many */
    uint32_t timed;
    Compilation *c; /* the file's */
} Bench;

/* ---- statistics ---- */

static int compare_times(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* By the order of the times: how many of n lie below the median is binomial, whatever they are spread like. */
static Times times_of(double *us, unsigned n)
{
    qsort(us, n, sizeof *us, compare_times);
    const double half = n / 2.0, reach = 1.96 * sqrt((double)n) / 2;
    const double below = floor(half - reach), above = ceil(half + reach);
    return (Times){.median = n % 2 ? us[n / 2] : (us[n / 2 - 1] + us[n / 2]) / 2,
                   .low = us[below < 1 ? 0 : (unsigned)below - 1],
                   .high = us[above >= n ? n - 1 : (unsigned)above]};
}

static const char *text_of_us(char text[32], double us)
{
    if (us < 1000)
        snprintf(text, 32, "%.1f us", us);
    else if (us < 1e6)
        snprintf(text, 32, "%.2f ms", us / 1e3);
    else
        snprintf(text, 32, "%.3f s", us / 1e6);
    return text;
}

/* ---- what was before ---- */

static double number_of(const Json *row, const char *key)
{
    const Json *member = json_get(row, key);
    return member && member->kind == JSON_NUMBER ? strtod(member->text, NULL) : 0;
}

static const Json *old_row(const Bench *b, const char *entry, uint32_t number)
{
    for (uint32_t i = 0; i < b->nold; i++)
        if (strcmp(json_text(b->old[i], "file"), b->c->path) == 0 &&
            strcmp(json_text(b->old[i], "entry"), entry) == 0 && json_number(b->old[i], "case", 0) == number)
            return b->old[i];
    return NULL;
}

/* Slower or faster is what lies apart, and is some percent. */
static void compare(Bench *b, const Times *t, const Json *row)
{
    char text[32];
    const double was = number_of(row, "median_us"), low = number_of(row, "low_us"), high = number_of(row, "high_us");
    const double percent = was > 0 ? 100 * (t->median - was) / was : 0;
    const bool slower = t->low > high && percent >= LEAST_PERCENT, faster = t->high < low && percent <= -LEAST_PERCENT;
    printf("  %s, was %s", slower ? "SLOWER" : faster ? "faster" : "as before", text_of_us(text, was));
    if (slower || faster)
        printf(" (%+.0f %%)", percent);
    b->slower += slower;
}

static void report(Bench *b, const char *entry, uint32_t number, const Times *t)
{
    char median[32], low[32], high[32];
    const Json *row = old_row(b, entry, number);
    printf("%s %s %u: %s (%s to %s)", b->c->path, entry, number, text_of_us(median, t->median), text_of_us(low, t->low),
           text_of_us(high, t->high));
    if (row)
        compare(b, t, row);
    else if (b->a->values[OPTION_AGAINST])
        printf("  new");
    printf("\n");
    fflush(stdout);
    b->timed++;
    if (!b->save)
        return;
    StrBuf line = {0};
    strbuf_add(&line, "{\"file\":");
    diag_json_string(&line, b->c->path);
    strbuf_printf(&line,
                  ",\"entry\":\"%s\",\"case\":%u,\"median_us\":%.3f,\"low_us\":%.3f,\"high_us\":%.3f,\"runs\":%u}\n",
                  entry, number, t->median, t->low, t->high, b->runs);
    fwrite(line.text, 1, line.n, b->save);
    strbuf_free(&line);
}

/* ---- arguments, as files ---- */

static char *argument_path(const Bench *b, uint32_t i)
{
    char name[32], path[sizeof b->folder.path + 32];
    snprintf(name, sizeof name, "%u.dpv", i);
    temp_folder_file(&b->folder, name, path, sizeof path);
    return arena_printf(b->c->session->arena, "%s", path);
}

/* The words of a program's command line that dpc bench passes on, from *n on. */
static void add_device_words(const Bench *b, char **words, int *n)
{
    static const int passed[] = {DP_OPTION_DEVICE, DP_OPTION_PARAM};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (b->a->values[passed[i]])
            words[(*n)++] =
                arena_printf(b->c->session->arena, "--%s=%s", option_table[passed[i]].name, b->a->values[passed[i]]);
}

/* The value of one of the expressions behind `=`, of which the text has so many; they may use the program's names. */
static int evaluate(const Bench *b, const EntryTypes *t, const TestText *text, uint32_t i)
{
    Session *s = b->c->session;
    const SourceFile *file = s->files.at[text->file];
    const LineCol at = source_linecol(s, text->file, text->start);
    const char *expression = text->text + 1;
    const uint32_t n = t->entry->nparams;
    const char *types = t->entry->param_texts[0];
    for (uint32_t k = 1; k < n; k++)
        types = arena_printf(s->arena, "%s, %s", types, t->entry->param_texts[k]);
    /* The columns are those of the comment; it may end in another one. */
    const char *whole =
        n == 1 ? arena_printf(s->arena, "%*s(%s\n: %s)", (int)at.col - 1, "", expression, types)
               : arena_printf(s->arena, "%*s((%s\n) : (%s)).%u", (int)at.col - 2, "", expression, types, i);
    const SourcePart parts[] = {{.path = file->path, .text = file->text, .bytes = file->length, .is_quiet = true},
                                {.path = file->path,
                                 .text = whole,
                                 .bytes = strlen(whole),
                                 .lines_before = at.line - 1,
                                 .is_expression = true}};
    Compilation *c = compilation_create(b->c->path);
    c->parts = parts;
    c->nparts = sizeof parts / sizeof *parts;
    char *words[8] = {arena_printf(s->arena, "input"), arena_printf(s->arena, "--output=%s", argument_path(b, i))};
    int count = 2;
    add_device_words(b, words, &count);
    const int status = compile_to(c, STAGE_PLAN) ? run_in_process(c, words, (ProcessOptions){0}) : EXIT_USAGE;
    compilation_destroy(c);
    return status;
}

/* Values, and files of them. */
static int write_values(const Bench *b, const EntryTypes *t, const TestText *text)
{
    Session *s = b->c->session;
    const uint32_t n = t->entry->nparams, all = entry_arg_leaves(t);
    DpLeaf *leaves = memory_alloc((size_t)all + 1, sizeof *leaves), *at = leaves;
    char error[512];
    int status = EXIT_OK;
    if (!read_test_values(s, text, t->params, t->entry->param_names, n, leaves)) {
        report_diagnostics(s);
        free(leaves);
        return EXIT_USAGE;
    }
    for (uint32_t i = 0; i < n && status == EXIT_OK; i++) {
        if (!dp_write_file(argument_path(b, i), t->params[i], at, error, sizeof error)) {
            status = (int)dp_write_status();
            report_error(s, "%s", error);
        }
        at += dp_type_leaves(t->params[i]);
    }
    dp_leaves_free(leaves, all);
    free(leaves);
    return status;
}

static int write_arguments(const Bench *b, const EntryTypes *t, const TestText *text)
{
    int status = EXIT_OK;
    if (text->n == 0 || text->text[0] != '=' || t->entry->nparams == 0)
        return write_values(b, t, text);
    for (uint32_t i = 0; i < t->entry->nparams && status == EXIT_OK; i++)
        status = evaluate(b, t, text, i);
    return status;
}

/* ---- runs ---- */

static bool read_times(const char *path, unsigned runs, Times *t)
{
    double *us = memory_alloc((size_t)runs + 1, sizeof *us);
    unsigned n = 0;
    FILE *in = fopen(path, "r");
    while (in && n < runs && fscanf(in, "%lf", &us[n]) == 1)
        n++;
    if (in)
        fclose(in);
    if (n)
        *t = times_of(us, n);
    free(us);
    return n > 0;
}

static int run_case(Bench *b, const EntryTypes *t, uint32_t number)
{
    Arena *arena = b->c->session->arena;
    char times[sizeof b->folder.path + 16];
    char **words = arena_array(arena, char *, t->entry->nparams + 12);
    int n = 0;
    Times found;
    temp_folder_file(&b->folder, "times", times, sizeof times);
    words[n++] = arena_printf(arena, "%s", b->c->path);
    words[n++] = arena_printf(arena, "--entry=%s", t->entry->name);
    words[n++] = arena_printf(arena, "--runs=%u", b->runs);
    words[n++] = arena_printf(arena, "--times=%s", times);
    words[n++] = arena_printf(arena, "--output=dpv:/dev/null");
    add_device_words(b, words, &n);
    words[n++] = arena_printf(arena, "--");
    for (uint32_t i = 0; i < t->entry->nparams; i++)
        words[n++] = argument_path(b, i);
    const int status = run_in_process(b->c, words, (ProcessOptions){0});
    if (status == EXIT_OK && read_times(times, b->runs, &found))
        report(b, t->entry->name, number, &found);
    return status < 0 ? EXIT_USAGE : status;
}

static int bench_block(Bench *b, const TestBlock *block)
{
    EntryTypes t;
    int status = EXIT_OK;
    const char *only = b->a->values[OPTION_BENCH_ONLY];
    if (only && strcmp(only, block->name) != 0)
        return EXIT_OK;
    if (!entry_types_make(&t, b->c, block->name))
        return EXIT_USAGE;
    const TestCase none = {.input = {"", 0, block->span.file, block->span.start}};
    for (uint32_t i = 0; i < block->cases.n || i == 0; i++) {
        const TestCase *x = block->cases.n ? &block->cases.at[i] : &none;
        int of_case = write_arguments(b, &t, &x->input);
        if (of_case == EXIT_OK)
            of_case = run_case(b, &t, i + 1);
        status = of_case > status ? of_case : status;
    }
    entry_types_free(&t);
    return status;
}

static int bench_compiled(Bench *b, const TestFile *tests)
{
    int status = EXIT_OK;
    for (uint32_t i = 0; i < tests->benches.n; i++) {
        const int of_block = bench_block(b, tests->benches.at[i]);
        status = of_block > status ? of_block : status;
    }
    return status;
}

static int bench_file(Bench *b, const char *path)
{
    int status = EXIT_USAGE;
    Compilation *c = b->c = compilation_create(path);
    set_messages(c->session, b->a->messages);
    c->flat_nests = wants_flat_nests(b->a->values[DP_OPTION_PARAM]);
    if (compile_to(c, STAGE_AST)) {
        const TestFile *tests = find_tests(c->session, c->modules.list.at[1]);
        if (tests->benches.n == 0 && c->session->error_count == 0)
            fprintf(stderr, "%s: no benches\n", path), status = EXIT_OK;
        else if (compile_to(c, STAGE_PLAN))
            status = bench_compiled(b, tests);
    }
    compilation_destroy(c);
    return status;
}

/* ---- the command ---- */

static bool read_old(Bench *b, Session *s, const char *path)
{
    const char *why = "";
    const uint32_t file = source_add_file(s, path, &why);
    if (file == UINT32_MAX) {
        fprintf(stderr, "dpc: error: cannot read %s: %s\n", path, why);
        return false;
    }
    const char *text = s->files.at[file]->text;
    b->old = arena_array(s->arena, const Json *, s->files.at[file]->length + 1);
    for (uint32_t line = 1; *text; line++) {
        const size_t n = strcspn(text, "\n");
        const Json *row = n ? json_read(s->arena, arena_strndup(s->arena, text, n)) : NULL;
        if (n && (!row || row->kind != JSON_OBJECT)) {
            fprintf(stderr, "dpc: error: %s:%u: this is no line of dpc bench --save\n", path, line);
            return false;
        }
        if (n)
            b->old[b->nold++] = row;
        text += n + (text[n] == '\n');
    }
    return true;
}

static int bench_files(Bench *b)
{
    int status = EXIT_OK;
    if (!temp_folder_create(&b->folder)) {
        const int failed = (int)dp_write_status();
        fprintf(stderr, "dpc: error: cannot make a temporary folder in %s: %s\n", temp_folder_base(), strerror(errno));
        return failed;
    }
    for (int i = 0; i < b->a->n; i++) {
        const int of_file = bench_file(b, b->a->words[i]);
        status = of_file > status ? of_file : status;
    }
    temp_folder_remove(&b->folder);
    if (b->slower)
        printf("%u of %u slower\n", b->slower, b->timed);
    if (status == EXIT_OK && b->timed == 0 && b->a->values[OPTION_BENCH_ONLY])
        return usage_error("there is no bench of %s", b->a->values[OPTION_BENCH_ONLY]);
    return status ? status : b->slower ? EXIT_PROGRAM : EXIT_OK;
}

static int bench_saving(Bench *b, const char *path)
{
    DpOutput out;
    if (!path)
        return bench_files(b);
    if (dp_output_open(&out, path, 0666)) {
        b->save = out.file;
        const int status = bench_files(b);
        if (status > EXIT_PROGRAM) {
            dp_output_discard(&out);
            return status;
        }
        if (dp_output_close(&out))
            return status;
    }
    const int status = (int)dp_write_status();
    fprintf(stderr, "dpc: error: %s: cannot write: %s\n", path, strerror(errno));
    return status;
}

int command_bench(const CommandLine *a)
{
    const char *runs = a->values[OPTION_BENCH_RUNS], *against = a->values[OPTION_AGAINST];
    uint64_t n = 20;
    if (runs && (!dp_parse_count(runs, MOST_RUNS, &n) || n == 0))
        return usage_error("--runs takes a number from 1 to %d, not %s", (int)MOST_RUNS, runs);
    Bench b = {.a = a, .runs = (unsigned)n};
    Session *s = session_create();
    const int status = against && !read_old(&b, s, against) ? EXIT_USAGE : bench_saving(&b, a->values[OPTION_SAVE]);
    session_destroy(s);
    return status;
}
