#include "testing/test_device.h"

#include "driver/entry.h"
#include "driver/in_process.h"
#include "driver/toolchain.h"
#include "support/memory.h"

#include "dp_output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SECONDS = 240,
    MORE_SECONDS = 5,
    MOST_SECONDS = 1000000000
}; /* for a run: the first job, each further one */
enum { LONGEST_ERROR = 600, MOST_JOBS_A_RUN = 4000 };
enum { PATH_ROOM = sizeof((TempFolder *)0)->path + 32 };

void outcome_free(Outcome *o, const DpType *type)
{
    if (o->ok)
        dp_leaves_free(o->leaves, dp_type_leaves(type));
    free(o->leaves);
    strbuf_free(&o->error);
}

/* ---- files ---- */

static void batch_file(const DeviceBatch *b, const char *name, char out[PATH_ROOM])
{
    temp_folder_file(&b->folder, name, out, PATH_ROOM);
}

static void job_file(const DeviceBatch *b, const char *kind, uint32_t job, char out[PATH_ROOM])
{
    char name[32];
    snprintf(name, sizeof name, "%s%u.txt", kind, job);
    batch_file(b, name, out);
}

static bool file_exists(const char *path)
{
    FILE *f = fopen(path, "r");
    if (f)
        fclose(f);
    return f != NULL;
}

static bool write_text_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return false;
    bool ok = fputs(text, out) >= 0;
    return fclose(out) == 0 && ok;
}

/* ---- jobs ---- */

int device_open(DeviceBatch *b, Compilation *c, RunLimits limits, const char *params, bool executable)
{
    char program[PATH_ROOM];
    *b = (DeviceBatch){.failed_job = UINT32_MAX, .limits = limits, .params = params};
    if (!temp_folder_create(&b->folder)) {
        fprintf(stderr, "dpc: error: cannot make a temporary folder in %s: %s\n", temp_folder_base(), strerror(errno));
        b->folder.path[0] = '\0';
        return EXIT_OUTPUT;
    }
    b->compilation = executable ? NULL : c;
    batch_file(b, "program", program);
    return executable ? toolchain_build(c, &b->folder, program) : EXIT_OK;
}

void device_close(DeviceBatch *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        free(b->jobs[i].input);
    free(b->jobs);
    strbuf_free(&b->failed_error);
    if (b->folder.path[0])
        temp_folder_remove(&b->folder);
    *b = (DeviceBatch){0};
}

static char *input_text(DpType *const *types, uint32_t ntypes, const DpLeaf *leaves)
{
    DpMemoryFile out;
    bool ok = dp_memory_open(&out);
    for (uint32_t i = 0; ok && i < ntypes; i++) {
        ok = dp_write_text(out.file, types[i], leaves);
        fputc('\n', out.file);
        leaves += dp_type_leaves(types[i]);
    }
    char *text = ok ? dp_memory_close(&out) : NULL;
    if (!text)
        memory_out();
    return text;
}

uint32_t device_add(DeviceBatch *b, const char *entry, DpType *const *types, uint32_t ntypes, const DpLeaf *leaves)
{
    if (b->n == b->cap) {
        b->cap = b->cap ? 2 * b->cap : 64;
        b->jobs = memory_resize(b->jobs, b->cap, sizeof *b->jobs);
    }
    b->jobs[b->n] = (DeviceJob){entry, input_text(types, ntypes, leaves)};
    return b->n++;
}

/* ---- runs ---- */

/* The list of the jobs, and their inputs. */
static bool write_batch(const DeviceBatch *b, uint32_t first, uint32_t end, const char *list)
{
    FILE *out = fopen(list, "w");
    bool ok = out != NULL;
    for (uint32_t i = first; ok && i < end; i++) {
        char in[PATH_ROOM], result[PATH_ROOM], facts[PATH_ROOM];
        job_file(b, "in", i, in);
        job_file(b, "out", i, result);
        job_file(b, "facts", i, facts);
        ok = write_text_file(in, b->jobs[i].input) && fprintf(out, "%s\t%s\ttext:%s\t%s\n", b->jobs[i].entry, in,
                                                              result, facts) > 0; /* literals, also of a `text` */
    }
    return out && fclose(out) == 0 && ok;
}

/* The first line of what the program said; all of it, on one line, if it crashed. */
static void add_message(StrBuf *out, const char *path, bool all)
{
    size_t n = 0;
    char *text = dp_slurp(path, &n);
    if (!all && text && memchr(text, '\n', n))
        n = (size_t)((char *)memchr(text, '\n', n) - text);
    if (n > LONGEST_ERROR)
        n = LONGEST_ERROR;
    while (n > 0 && text[n - 1] == '\n')
        n--;
    for (size_t i = 0; i < n; i++)
        strbuf_addn(out, text[i] == '\n' ? " " : &text[i], 1);
    free(text);
}

/* Behind what is there, if there is a value. */
static void add_option(char **words, char *name, const char *value)
{
    while (*words)
        words++;
    words[0] = value ? name : NULL;
    words[1] = (char *)value;
}

static void run_batch_unwritten(DeviceBatch *b, uint32_t first)
{
    strbuf_printf(&b->failed_error, "cannot write to %s: %s", b->folder.path, strerror(errno));
    b->failed_job = first;
    b->failed_itself = false;
    b->unusable = EXIT_OUTPUT;
}

/* Jobs that succeed leave an output file; the first that does not has ended the process. */
static void run_batch(DeviceBatch *b, uint32_t first, uint32_t end)
{
    char program[PATH_ROOM], list[PATH_ROOM], err[PATH_ROOM], out[PATH_ROOM];
    batch_file(b, "program", program);
    batch_file(b, "list", list);
    batch_file(b, "err", err);
    if (end - first > MOST_JOBS_A_RUN)
        end = first + MOST_JOBS_A_RUN;
    char *words[10] = {program, (char[]){"--batch"}, list};
    add_option(words, (char[]){"--timeout"}, b->limits.timeout);
    add_option(words, (char[]){"--memory"}, b->limits.memory);
    add_option(words, (char[]){"--param"}, b->params);
    double each = b->limits.eval.seconds > MORE_SECONDS ? b->limits.eval.seconds + 1 : MORE_SECONDS;
    unsigned seconds = FIRST_SECONDS + (unsigned)fmin(each * (end - first), MOST_SECONDS);
    strbuf_free(&b->failed_error);
    b->failed_job = UINT32_MAX;
    if (!write_batch(b, first, end, list)) {
        run_batch_unwritten(b, first);
        return;
    }
    const ProcessOptions options = {.err = err, .seconds = seconds, .own_group = true};
    int status = b->compilation ? run_in_process(b->compilation, words, options) : process_run(words, options);
    b->failed_itself = status == EXIT_PROGRAM || status == EXIT_MEMORY || status == EXIT_TIME;
    b->works = b->works || status == 0 || b->failed_itself;
    if (status == 0)
        return;
    for (b->failed_job = first; b->failed_job < end; b->failed_job++) {
        job_file(b, "out", b->failed_job, out);
        if (!file_exists(out))
            break;
    }
    b->works = b->works || b->failed_job > first;
    b->unusable = !b->works && status <= EXIT_TIME ? EXIT_DEVICE : EXIT_OK;
    if (status < 0)
        strbuf_printf(&b->failed_error, "cannot run the program: %s", strerror(errno));
    else if (status == PROCESS_LATE)
        strbuf_printf(&b->failed_error, "(ended after %u seconds, the time to build its kernels included) ", seconds);
    else if (status > EXIT_TIME)
        strbuf_printf(&b->failed_error, "(the program ended with status %d) ", status);
    if (status > 0)
        add_message(&b->failed_error, err, status > EXIT_TIME);
    if (b->failed_error.n == 0)
        strbuf_printf(&b->failed_error, "(the program ended with status %d and said nothing)", status);
}

static void read_result(Outcome *o, const DpType *type, const char *path)
{
    char error[512], literals[PATH_ROOM + 8];
    snprintf(literals, sizeof literals, "text:%s", path);
    o->leaves = memory_alloc(dp_type_leaves(type), sizeof(DpLeaf));
    o->ok = dp_read_file(literals, type, o->leaves, error, sizeof error);
    if (!o->ok && errno == ENOMEM)
        memory_out();
    if (!o->ok)
        strbuf_printf(&o->error, "the program's output is no value of its type: %s", error);
}

static void read_run_facts(Outcome *o, const DpType *type, const char *path)
{
    FILE *in = fopen(path, "r");
    bool ok = in && fscanf(in, "%u", &o->shape) == 1 && o->shape < SHAPES;
    for (int i = 0; ok && i < FACT_COUNT; i++)
        ok = fscanf(in, "%" SCNu64, &o->facts[i]) == 1;
    if (!ok && o->ok) {
        dp_leaves_free(o->leaves, dp_type_leaves(type));
        o->ok = false;
        strbuf_add(&o->error, "the program left no numbers of its run");
    }
    if (in)
        fclose(in);
}

Outcome device_result(DeviceBatch *b, uint32_t job, uint32_t end, const DpType *type)
{
    Outcome o = {0};
    char out[PATH_ROOM];
    if (job == UINT32_MAX) {
        strbuf_add(&o.error, "out of memory");
        return o;
    }
    job_file(b, "out", job, out);
    if (!file_exists(out) && b->failed_job != job)
        run_batch(b, job, end);
    if (file_exists(out)) {
        read_result(&o, type, out);
        job_file(b, "facts", job, out);
        read_run_facts(&o, type, out);
    } else if (b->failed_job == job && b->failed_error.n) {
        strbuf_add(&o.error, b->failed_error.text);
        o.expectable = b->failed_itself;
    } else
        strbuf_add(&o.error, "the program left no result");
    return o;
}
