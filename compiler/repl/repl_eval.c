#include "repl/repl_internal.h"

#include "dp_args.h"
#include "dp_output.h"
#include "dp_rt.h"
#include "driver/entry.h"
#include "driver/in_process.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 64 };

/* ---- times ---- */

static int compare_times(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void print_time(const char *label, double us)
{
    if (us < 1000)
        printf("%s %.1f us", label, us);
    else if (us < 1e6)
        printf("%s %.2f ms", label, us / 1e3);
    else
        printf("%s %.3f s", label, us / 1e6);
}

static void print_times(double *us, unsigned n)
{
    qsort(us, n, sizeof *us, compare_times);
    print_time("least", us[0]);
    print_time(", median", us[n / 2]);
    printf(", of %u runs\n", n);
}

/* ---- on the device ---- */

static void print_times_of(const char *path)
{
    double us[MOST_RUNS];
    unsigned n = 0;
    FILE *in = fopen(path, "r");
    while (in && n < MOST_RUNS && fscanf(in, "%lf", &us[n]) == 1)
        n++;
    if (in)
        fclose(in);
    if (n)
        print_times(us, n);
}

/* The words of its command line; times: the file for them, or NULL. */
static char **device_words(const Repl *r, Arena *arena, unsigned runs, const char *times)
{
    const char *device = r->device ? r->device : r->options.device;
    char **words = arena_array(arena, char *, 8);
    int n = 0;
    words[n++] = arena_printf(arena, "input");
    if (device)
        words[n++] = arena_printf(arena, "--device=%s", device);
    if (r->options.params)
        words[n++] = arena_printf(arena, "--param=%s", r->options.params);
    if (times) {
        words[n++] = arena_printf(arena, "--runs=%u", runs);
        words[n++] = arena_printf(arena, "--times=%s", times);
    }
    return words;
}

static int run_child(Compilation *c, char **words)
{
    const int status = run_in_process(c, words, (ProcessOptions){0});
    if (status > 128)
        fprintf(stderr, "ended by signal %d\n", status - 128);
    return status;
}

static void run_plan(const Repl *r, Compilation *c, unsigned runs)
{
    Arena *arena = c->session->arena;
    TempFolder folder;
    char times[sizeof folder.path + 16];
    if (!runs) {
        run_child(c, device_words(r, arena, 0, NULL));
    } else if (temp_folder_create(&folder)) {
        temp_folder_file(&folder, "times", times, sizeof times);
        if (run_child(c, device_words(r, arena, runs, times)) == EXIT_OK)
            print_times_of(times);
        temp_folder_remove(&folder);
    } else {
        fprintf(stderr, "error: cannot make a temporary folder in %s\n", temp_folder_base());
    }
}

/* ---- on an interpreter, in a process of its own too ---- */

typedef struct Work {
    Compilation *c;
    const EntryTypes *t;
    unsigned runs;
} Work;

static bool eval_once(Work *w, DpLeaf *result)
{
    EvalError error;
    const bool ok = entry_eval(w->c, w->t, NULL, result, &error);
    if (!ok)
        compilation_report(w->c, &error);
    return ok;
}

static double clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int interpret_in_child(void *data)
{
    Work *w = data;
    const uint32_t n = dp_type_leaves(w->t->result);
    DpLeaf *result = memory_alloc((size_t)n + 1, sizeof *result);
    double us[MOST_RUNS];
    for (unsigned i = 0; i == 0 || i < w->runs; i++) {
        if (i)
            dp_leaves_free(result, n);
        us[i] = clock_us();
        if (!eval_once(w, result))
            return EXIT_PROGRAM;
        us[i] = clock_us() - us[i];
    }
    char error[512];
    if (!dp_write_file("-", w->t->result, result, error, sizeof error)) {
        fprintf(stderr, "error: %s\n", error);
        return EXIT_OUTPUT;
    }
    if (w->runs)
        print_times(us, w->runs);
    return EXIT_OK;
}

static void interpret(Compilation *c, unsigned runs)
{
    EntryTypes t;
    if (!entry_types_make(&t, c, EXPRESSION_ENTRY))
        return;
    Work work = {c, &t, runs};
    const int status = process_call(interpret_in_child, &work, (ProcessOptions){0});
    if (status > 128)
        fprintf(stderr, "ended by signal %d\n", status - 128);
    entry_types_free(&t);
}

void repl_evaluate(const Repl *r, Compilation *c, unsigned runs)
{
    const CoreEntry *entry = compilation_entry(c, EXPRESSION_ENTRY);
    if (entry->nparams)
        fprintf(stderr, "error: a function; its type is %s\n", strchr(entry->signature, ' '));
    else if (r->options.stage == STAGE_PLAN)
        run_plan(r, c, runs);
    else
        interpret(c, runs);
}

static int list_devices(void *data)
{
    (void)data;
    static const DpProgram nothing = {.version = DP_RT_VERSION, .file = "dpc"};
    char *words[] = {(char[]){"dpc"}, (char[]){"--list-devices"}, NULL};
    return dp_main(2, words, &nothing);
}

void repl_list_devices(const Repl *r)
{
    const char *device = r->device ? r->device : r->options.device;
    process_call(list_devices, NULL, (ProcessOptions){0});
    if (device)
        printf("chosen: %s\n", device);
}
