/* dpc test: the cases in a program's comments, on every evaluator.
 *
 * The compilation goes forward through the stages; at each one that is wanted all cases are run. The device
 * comes last, with one executable for all cases of a file. */
#include "commands.h"
#include "dp_args.h"
#include "toolchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Floats may be re-associated. */
#define TOLERANCE_F32 1e-4
#define TOLERANCE_F64 1e-9

enum { EVALUATORS = STAGE_FLAT - STAGE_CORE + 2, DEVICE = EVALUATORS - 1, ERROR_BYTES = 512 };
enum { CASE_SECONDS = 120, MORE_SECONDS = 5 }; /* for a program on the device: the first of its cases, each further one */
enum { LONGEST_SHOWN = 600 }; /* bytes of a value or message in a report */

typedef struct Tests {
    Compilation *c;
    DpTestCase *cases;
    int ncases;
    bool wanted[EVALUATORS]; /* core, fused, flat, device */
    uint32_t passed, failed;
    TempFolder folder;
    int failed_case, failed_status; /* of the last batch on the device: the case that ended it; -1: none */
    StrBuf failed_error;
} Tests;

/* What an evaluator made of a case. */
typedef struct Outcome {
    bool ok;
    DpLeaf *leaves; /* ok: the result's, owned */
    StrBuf error;   /* else: the message */
} Outcome;

static const char *evaluator_name(int e) { return e == DEVICE ? "device" : stage_name((Stage)(STAGE_CORE + e)); }

/* ---- judging ---- */

static bool same_leaves(const DpType *t, const DpLeaf *a, const DpLeaf *b)
{
    uint32_t n = dp_type_leaves(t);
    for (uint32_t i = 0; i < n; i++)
        if (!dp_leaf_equal(&a[i], &b[i], a[i].scalar == DP_F32 ? TOLERANCE_F32 : TOLERANCE_F64))
            return false;
    return true;
}

/* The value as text, shortened if it is long. Freed by the caller. */
static char *shown_value(const DpType *t, const DpLeaf *leaves)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return NULL;
    dp_write_text(out, t, leaves);
    fclose(out);
    if (n > LONGEST_SHOWN + 3)
        memcpy(text + LONGEST_SHOWN, "...", 4);
    return text;
}

static void report(Tests *t, const DpTestCase *test, const char *where, const char *got, const char *expected)
{
    t->failed++;
    printf("%s:%u: failed: %s on %s: got %s, expected %s\n", t->c->path, test->line, test->entry, where, got, expected);
}

static void judge_value(Tests *t, const DpTestCase *test, const char *where, const DpType *type, const DpLeaf *got,
                        const DpLeaf *expected)
{
    if (same_leaves(type, got, expected)) {
        t->passed++;
        return;
    }
    char *left = shown_value(type, got), *right = shown_value(type, expected);
    report(t, test, where, left ? left : "?", right ? right : "?");
    free(left);
    free(right);
}

static void judge_error(Tests *t, const DpTestCase *test, const char *where, const char *message)
{
    if (test->error && strstr(message, test->error)) {
        t->passed++;
        return;
    }
    StrBuf got = {0}, expected = {0};
    strbuf_printf(&got, "the error \"%s\"", message);
    strbuf_printf(&expected, test->error ? "an error with \"%s\"" : "%s", test->error ? test->error : test->output);
    report(t, test, where, got.text, expected.text);
    strbuf_free(&got);
    strbuf_free(&expected);
}

/* `expected`: the leaves of the expected output, or NULL where an error is expected. */
static void judge(Tests *t, const DpTestCase *test, const char *where, const DpType *type, const Outcome *o,
                  const DpLeaf *expected)
{
    if (!o->ok) {
        judge_error(t, test, where, o->error.text ? o->error.text : "");
    } else if (expected) {
        judge_value(t, test, where, type, o->leaves, expected);
    } else {
        char *got = shown_value(type, o->leaves);
        report(t, test, where, got ? got : "?", "an error");
        free(got);
    }
}

/* ---- evaluating ---- */

static Outcome run_interpreter(const Compilation *c, const EntryTypes *types, const DpLeaf *args)
{
    Outcome o = {.leaves = calloc(dp_type_leaves(types->result), sizeof(DpLeaf))};
    EvalError error;
    EvalStatus status = o.leaves ? entry_eval(c, types, args, o.leaves, &error) : EVAL_MEMORY;
    o.ok = status == EVAL_OK;
    if (status == EVAL_FAILED)
        compilation_error_text(&o.error, c, &error);
    else if (status == EVAL_MEMORY)
        strbuf_add(&o.error, "out of memory");
    return o;
}

static bool write_text_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return false;
    bool ok = fputs(text, out) >= 0;
    return fclose(out) == 0 && ok;
}

/* A file's text into the message, on one line, and cut where it is long. */
static void add_file(StrBuf *out, const char *path)
{
    size_t n = 0;
    char *text = dp_slurp(path, &n);
    if (n > LONGEST_SHOWN)
        n = LONGEST_SHOWN;
    while (n > 0 && text[n - 1] == '\n') n--;
    for (size_t i = 0; i < n; i++) strbuf_addn(out, text[i] == '\n' ? " " : &text[i], 1);
    free(text);
}

static void read_device_result(Outcome *o, const DpType *type, const char *path)
{
    char error[ERROR_BYTES];
    o->leaves = calloc(dp_type_leaves(type), sizeof(DpLeaf));
    o->ok = o->leaves && dp_read_file(path, type, o->leaves, error, sizeof error);
    if (!o->ok)
        strbuf_printf(&o->error, "the program's output is no value of its type: %s", o->leaves ? error : "out of memory");
}

static void case_file(const Tests *t, const char *kind, int i, char *out, size_t bytes)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d.txt", kind, i);
    temp_folder_file(&t->folder, name, out, bytes);
}

enum { PATH_ROOM = sizeof((TempFolder *)0)->path + 32 };

/* The list of the cases from `first` on, and their inputs. */
static bool write_batch(const Tests *t, int first, const char *list)
{
    FILE *out = fopen(list, "w");
    bool ok = out != NULL;
    for (int i = first; ok && i < t->ncases; i++) {
        char in[PATH_ROOM], result[PATH_ROOM];
        case_file(t, "in", i, in, sizeof in);
        case_file(t, "out", i, result, sizeof result);
        ok = write_text_file(in, t->cases[i].input) && fprintf(out, "%s\t%s\t%s\n", t->cases[i].entry, in, result) > 0;
    }
    return out && fclose(out) == 0 && ok;
}

static bool file_exists(const char *path)
{
    FILE *f = fopen(path, "r");
    if (f)
        fclose(f);
    return f != NULL;
}

/* Runs all cases from `first` on in one process. Those that succeed leave an output file; the first that does not
 * has ended the process. */
static void run_batch(Tests *t, int first)
{
    char program[PATH_ROOM], list[PATH_ROOM], err[PATH_ROOM], out[PATH_ROOM];
    temp_folder_file(&t->folder, "program", program, sizeof program);
    temp_folder_file(&t->folder, "list", list, sizeof list);
    temp_folder_file(&t->folder, "err", err, sizeof err);
    char *words[] = {program, (char[]){"--batch"}, list, NULL};
    unsigned seconds = CASE_SECONDS + MORE_SECONDS * (unsigned)(t->ncases - first);
    strbuf_free(&t->failed_error);
    t->failed_status = write_batch(t, first, list) ? process_run(words, (ProcessStreams){NULL, NULL, err, seconds}) : -1;
    t->failed_case = first;
    for (; t->failed_status && t->failed_case < t->ncases; t->failed_case++) {
        case_file(t, "out", t->failed_case, out, sizeof out);
        if (!file_exists(out))
            break;
    }
    if (t->failed_status < 0)
        strbuf_printf(&t->failed_error, "cannot run the program: %s", strerror(errno));
    else if (t->failed_status > 4)
        strbuf_printf(&t->failed_error, "(the program ended with status %d) ", t->failed_status);
    if (t->failed_status > 0)
        add_file(&t->failed_error, err);
}

static Outcome run_device(Tests *t, const DpTestCase *test, const EntryTypes *types)
{
    Outcome o = {0};
    int i = (int)(test - t->cases);
    char out[PATH_ROOM];
    case_file(t, "out", i, out, sizeof out);
    if (!file_exists(out) && t->failed_case != i)
        run_batch(t, i);
    if (file_exists(out))
        read_device_result(&o, types->result, out);
    else if (t->failed_error.n)
        strbuf_add(&o.error, t->failed_error.text);
    else
        strbuf_add(&o.error, "the program left no result");
    return o;
}

static void free_outcome(Outcome *o, const DpType *type)
{
    if (o->ok)
        dp_leaves_free(o->leaves, dp_type_leaves(type));
    free(o->leaves);
    strbuf_free(&o->error);
}

/* ---- cases ---- */

/* Values of a test's text, one after another: false, and the case has failed, if it is malformed. */
static bool read_values(Tests *t, const DpTestCase *test, const char *text, DpType *const *types, uint32_t n,
                        DpLeaf *leaves)
{
    char error[ERROR_BYTES] = "more values than the entry has parameters", where[] = "its own text";
    DpReader r = {t->c->path, text, strlen(text), 0, test->line};
    DpLeaf *at = leaves;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = dp_read_text(&r, types[i], at, error, sizeof error);
        at += dp_type_leaves(types[i]);
    }
    if (ok && dp_reader_done(&r))
        return true;
    report(t, test, where, error, "values of the entry's types");
    dp_leaves_free(leaves, (uint32_t)(at - leaves));
    return false;
}

static void run_case_with(Tests *t, const DpTestCase *test, int e, const EntryTypes *types, const DpLeaf *args,
                          const DpLeaf *expected)
{
    Outcome o = e == DEVICE ? run_device(t, test, types) : run_interpreter(t->c, types, args);
    judge(t, test, evaluator_name(e), types->result, &o, expected);
    free_outcome(&o, types->result);
}

static void run_case(Tests *t, const DpTestCase *test, int e)
{
    EntryTypes types;
    if (!entry_types_make(&types, t->c, test->entry)) {
        t->failed++;
        return;
    }
    uint32_t nargs = entry_arg_leaves(&types), nresults = dp_type_leaves(types.result);
    DpLeaf *args = calloc((size_t)nargs + 1, sizeof *args), *expected = calloc(nresults, sizeof *expected);
    bool ok = args && expected && read_values(t, test, test->input, types.params, types.entry->nparams, args);
    if (ok && test->output)
        ok = read_values(t, test, test->output, &types.result, 1, expected);
    if (ok)
        run_case_with(t, test, e, &types, args, test->output ? expected : NULL);
    if (args)
        dp_leaves_free(args, nargs);
    if (expected)
        dp_leaves_free(expected, nresults);
    free(args);
    free(expected);
    entry_types_free(&types);
}

/* ---- files ---- */

static void fail_all(Tests *t) { t->failed += (uint32_t)t->ncases; }

/* Before the cases of an evaluator can run. */
static bool prepare(Tests *t, int e)
{
    if (e != DEVICE)
        return compile_to(t->c, (Stage)(STAGE_CORE + e));
    char program[sizeof t->folder.path + 16];
    temp_folder_file(&t->folder, "program", program, sizeof program);
    return compile_to(t->c, STAGE_FLAT) && toolchain_build(t->c, &t->folder, program);
}

/* False after a compile error: no further evaluator will do. */
static bool run_evaluator(Tests *t, int e)
{
    if (!prepare(t, e)) {
        fail_all(t);
        return false;
    }
    for (int i = 0; i < t->ncases; i++) run_case(t, &t->cases[i], e);
    return true;
}

static int test_cases(Tests *t)
{
    if (t->ncases == 0)
        return compile_to(t->c, STAGE_FLAT) ? EXIT_OK : EXIT_USAGE;
    bool ok = true;
    for (int e = 0; ok && e < EVALUATORS; e++)
        if (t->wanted[e])
            ok = run_evaluator(t, e);
    return !ok ? EXIT_USAGE : t->failed ? EXIT_PROGRAM : EXIT_OK;
}

static bool find_cases(Tests *t, const char *path)
{
    char error[ERROR_BYTES];
    size_t n;
    char *source = dp_slurp(path, &n);
    if (!source) {
        report_error(t->c->session, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    t->ncases = dp_find_tests(source, &t->cases, error, sizeof error);
    free(source);
    if (t->ncases < 0)
        report_error(t->c->session, "%s: %s", path, error);
    return t->ncases >= 0;
}

/* Adds the file's numbers to the totals. */
static int test_file(const char *path, MessageOptions messages, const bool *wanted, uint32_t *passed, uint32_t *failed)
{
    Tests t = {.c = compilation_create(path), .failed_case = -1};
    int status = EXIT_USAGE;
    memcpy(t.wanted, wanted, sizeof t.wanted);
    t.c->check = true;
    set_messages(t.c->session, messages);
    if (find_cases(&t, path)) {
        if (temp_folder_create(&t.folder)) {
            status = test_cases(&t);
            temp_folder_remove(&t.folder);
            strbuf_free(&t.failed_error);
        } else {
            report_error(t.c->session, "cannot make a temporary folder: %s", strerror(errno));
        }
        dp_tests_free(t.cases, t.ncases);
    }
    compilation_destroy(t.c);
    *passed += t.passed;
    *failed += t.failed;
    return status;
}

/* ---- the command ---- */

/* "core,flat" */
static bool read_evaluators(const char *text, bool *wanted)
{
    memset(wanted, 0, EVALUATORS * sizeof *wanted);
    for (;; text++) {
        size_t n = strcspn(text, ",");
        Stage stage = evaluator_stage(text, n);
        bool device = n == 6 && memcmp(text, "device", 6) == 0;
        if (!stage && !device)
            return false;
        wanted[device ? DEVICE : (int)(stage - STAGE_CORE)] = true;
        text += n;
        if (!*text)
            return true;
    }
}

int command_test(int argc, char **argv)
{
    bool wanted[EVALUATORS] = {true, true, true, true};
    MessageOptions messages = {0};
    int i = 0, status = EXIT_OK;
    for (; i < argc && dp_arg_is_option(argv[i]) && status == EXIT_OK; i++) {
        if (diagnostics_option(argv[i], &messages, &status))
            continue;
        const char *names = option_value(argv[i], "--eval");
        if (!names)
            return usage_error("dpc test has no option %s", argv[i]);
        if (!read_evaluators(names, wanted))
            return usage_error("--eval takes a list of core, fused, flat and device");
    }
    if (status)
        return status;
    if (i == argc)
        return usage_error("dpc test takes the names of .dp files");
    uint32_t passed = 0, failed = 0;
    for (; i < argc; i++) {
        int of_file = test_file(argv[i], messages, wanted, &passed, &failed);
        status = of_file > status ? of_file : status;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return status;
}
