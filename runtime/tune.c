/* Tune files: see dp_tune.h. */
#include "dp_tune.h"

#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512 };
#define DEVICE "device="

typedef struct Reader {
    const DpTune *tune;
    const char *at;
    uint32_t line;         /* at hand, from 1 on */
    char text[LINE_BYTES]; /* its text, without its comment */
    char device[LINE_BYTES];
    uint32_t device_line; /* 0: it has not been said */
    DpTunings found;
    char *error;
    size_t error_bytes;
} Reader;

static bool fail(Reader *r, const char *what)
{
    snprintf(r->error, r->error_bytes, "%s:%u: %s", r->tune->name, r->line, what);
    return false;
}

/* Without the blanks at both ends. */
static void trim(char *text)
{
    size_t from = strspn(text, " \t\r"), n = strlen(text);
    while (n > from && strchr(" \t\r", text[n - 1]))
        n--;
    memmove(text, text + from, n - from);
    text[n - from] = '\0';
}

/* The names of devices may have any character. */
static bool read_line(Reader *r)
{
    size_t n = strcspn(r->at, "\n");
    if (n >= LINE_BYTES)
        return fail(r, "the line is too long");
    memcpy(r->text, r->at, n);
    r->text[n] = '\0';
    r->at += n + (r->at[n] == '\n');
    trim(r->text);
    if (strncmp(r->text, DEVICE, strlen(DEVICE)) == 0) {
        if (r->device_line)
            return fail(r, "a second device");
        r->device_line = r->line;
        memcpy(r->device, r->text + strlen(DEVICE), strlen(r->text) + 1 - strlen(DEVICE));
        trim(r->device);
        return true;
    }
    r->text[strcspn(r->text, "#")] = '\0';
    trim(r->text);
    if (*r->text && !r->device_line)
        return fail(r, "no line \"device=NAME\" before it: this is no file of dpc tune");
    char why[256];
    bool ok = !strchr(r->text, ',') && dp_params_read(&r->found, r->text, why, sizeof why);
    return ok || fail(r, strchr(r->text, ',') ? "one setting a line" : why);
}

static bool read_all(Reader *r, const DpTune *t, char *error, size_t error_bytes)
{
    *r = (Reader){.tune = t, .at = t->text, .error = error, .error_bytes = error_bytes};
    while (*r->at) {
        r->line++;
        if (!read_line(r))
            return false;
    }
    r->line += r->line == 0;
    return r->device_line || fail(r, "no line \"device=NAME\": this is no file of dpc tune");
}

bool dp_tune_check(const DpTune *t, char *error, size_t error_bytes)
{
    Reader r;
    return read_all(&r, t, error, error_bytes);
}

char *dp_tune_load(const char *name, char *error, size_t error_bytes)
{
    size_t n;
    char *text = dp_slurp(name, &n);
    if (!text) {
        snprintf(error, error_bytes, "%s: cannot read: %s", name, strerror(errno));
        return NULL;
    }
    if (dp_tune_check(&(DpTune){name, text}, error, error_bytes))
        return text;
    free(text);
    return NULL;
}

bool dp_has_gpu_shape(const DpRt *rt) { return rt->gpu; }

/* The identity's lines are the platform, the device, its version, the driver, and how kernels are built. */
void dp_device_title(const DpRt *rt, char *text, size_t bytes)
{
    const char *platform = rt->device->facts.identity;
    size_t n = strcspn(platform, "\n");
    const char *name = platform + n + (platform[n] == '\n');
    snprintf(text, bytes, "%.*s%s%.*s", (int)n, platform, *name ? ", " : "", (int)strcspn(name, "\n"), name);
}

void dp_device_driver(const DpRt *rt, char *text, size_t bytes)
{
    const char *line = rt->device->facts.identity;
    for (int i = 0; i < 3 && *line; i++) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    snprintf(text, bytes, "%.*s", (int)strcspn(line, "\n"), line);
}

bool dp_tune_apply(DpRt *rt, const DpOpenOptions *options, DpOpenError *error)
{
    Reader r;
    char text[LINE_BYTES], title[LINE_BYTES];
    if (!options->tune.text)
        return true;
    if (!read_all(&r, &options->tune, text, sizeof text))
        return dp_open_fails(error, EXIT_USAGE, "%s", text);
    dp_device_title(rt, title, sizeof title);
    if (strcmp(title, r.device) != 0) {
        snprintf(rt->tune_note, sizeof rt->tune_note, "%.100s:%u: %s for the device %.200s, and this is %.200s",
                 options->tune.name, r.device_line, options->tune_required ? "it is" : "not used: it is", r.device,
                 title);
        return !options->tune_required || dp_open_fails(error, EXIT_USAGE, "%.500s", rt->tune_note);
    }
    for (DpTuning i = 0; i < PARAM_COUNT; i++)
        if (r.found.set[i] && !rt->params.set[i]) {
            rt->params.set[i] = true;
            rt->params.value[i] = r.found.value[i];
        }
    return true;
}

const char *dp_tune_note(const DpRt *rt) { return *rt->tune_note ? rt->tune_note : NULL; }
