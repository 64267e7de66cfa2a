/* Whole files: reading, and writing by the format that the name says. */
#include "dp_output.h"
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names ---- */

static DpReadFormat read_single_text;
static DpWriteFormat write_line;

static const DpFormat formats[] = {
    {".txt", read_single_text, write_line}, {".in", read_single_text, write_line}, {".npy", dp_read_npy, dp_write_npy},
    {".mtx", dp_read_mtx, dp_write_mtx},    {".csv", dp_read_csv, dp_write_csv},   {".pgm", dp_read_pnm, dp_write_pgm},
    {".ppm", dp_read_pnm, dp_write_ppm},    {".png", dp_read_png, dp_write_png},   {".dpv", dp_read_dpv, dp_write_dpv},
};

const DpFormat *dp_format_of(const char *path, bool *known)
{
    const char *slash = strrchr(path, '/');
    const char *ending = strrchr(slash ? slash : path, '.');
    *known = false;
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(ending, formats[i].ending) == 0) {
            *known = true;
            return &formats[i];
        }
    return &formats[0];
}

/* ---- reading ---- */

/* A device may never end. */
static bool too_long(FILE *in, size_t n)
{
    struct stat info;
    return n >= (size_t)1 << 28 && fstat(fileno(in), &info) == 0 && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode));
}

static char *read_all(FILE *in, size_t *n)
{
    size_t cap = (size_t)64 * 1024, used = 0;
    char *text = malloc(cap + 1);
    while (text) {
        size_t got = fread(text + used, 1, cap - used, in);
        used += got;
        if (used < cap)
            break;
        if (too_long(in, used)) {
            free(text);
            errno = EFBIG;
            return NULL;
        }
        char *grown = cap < SIZE_MAX / 4 ? realloc(text, 2 * cap + 1) : NULL;
        if (!grown)
            free(text);
        text = grown;
        cap *= 2;
    }
    if (!text) {
        errno = ENOMEM;
        return NULL;
    }
    if (ferror(in)) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *n = used;
    return text;
}

char *dp_slurp(const char *path, size_t *n)
{
    if (strcmp(path, "-") == 0)
        return read_all(stdin, n);
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    char *text = read_all(in, n);
    int why = errno;
    fclose(in);
    errno = why;
    return text;
}

static bool read_single_text(const char *path, const char *text, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    DpReader r = {path, text, n, 0};
    if (!dp_text_begin(path, text, n, &r.at, e) || !dp_read_text(&r, t, leaves, e.text, e.bytes))
        return false;
    if (dp_reader_done(&r))
        return true;
    dp_leaves_free(leaves, dp_type_leaves(t));
    return dp_expected(&r, "the end of the input", e);
}

bool dp_read_file(const char *path, const DpType *t, DpLeaf *leaves, char *error, size_t error_bytes)
{
    DpError e = {error, error_bytes};
    bool known;
    const DpFormat *format = dp_format_of(path, &known);
    size_t n;
    char *bytes = dp_slurp(path, &n);
    if (!bytes)
        return errno == ENOMEM ? dp_error_memory(e, path) : dp_error(e, "%s: %s", path, strerror(errno));
    bool ok = format->read(path, bytes, n, t, leaves, e);
    int why = errno;
    free(bytes);
    errno = why;
    return ok;
}

/* ---- writing ---- */

static bool write_line(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    if (!dp_write_text(out, t, leaves))
        return dp_error_memory(e, "");
    fputc('\n', out);
    return true;
}

/* The system's reason, which stays in errno; EINVAL would say that the value does not suit the format. */
static bool fail_writing(DpError e, const char *path)
{
    int why = errno == EINVAL ? EIO : errno;
    if (why == ENOMEM)
        return dp_error_memory(e, path);
    dp_error(e, "%s: cannot write: %s", path, strerror(why));
    errno = why;
    return false;
}

bool dp_write_file(const char *path, const DpType *t, const DpLeaf *leaves, char *error, size_t error_bytes)
{
    DpError e = {error, error_bytes};
    bool known;
    const DpFormat *format = dp_format_of(path, &known);
    DpOutput out;
    if (!dp_output_open(&out, path, 0666))
        return fail_writing(e, path);
    if (!format->write(out.file, t, leaves, e)) {
        dp_output_discard(&out);
        return false;
    }
    return dp_output_close(&out) || fail_writing(e, path);
}
