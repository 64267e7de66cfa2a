/* Whole files: reading, and writing so that no partial result is ever seen. */
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        return dp_error(e, "%s: %s", path, strerror(errno));
    bool ok = format->read(path, bytes, n, t, leaves, e);
    free(bytes);
    return ok;
}

/* ---- writing ---- */

static bool write_line(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    (void)e;
    dp_write_text(out, t, leaves);
    fputc('\n', out);
    return true;
}

/* Closes the file; any failure on the way, also of earlier writes, is reported. */
static bool finish(FILE *out, bool ok, const char *path, DpError e)
{
    bool failed = ferror(out) != 0;
    int why = errno;
    if (fclose(out) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    return ok && (!failed || dp_error(e, "%s: cannot write: %s", path, strerror(why)));
}

/* A device or a pipe (/dev/stdout) is written to as it is; a rename would replace it. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static FILE *open_temporary(char *name)
{
    int fd = mkstemp(name);
    if (fd < 0)
        return NULL;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask); /* mkstemp's files are for the owner only */
    FILE *out = fdopen(fd, "wb");
    if (!out) {
        close(fd);
        unlink(name);
    }
    return out;
}

static bool write_renamed(const char *path, char *temporary, const DpFormat *format, const DpType *t, const DpLeaf *leaves,
                          DpError e)
{
    FILE *out = open_temporary(temporary);
    if (!out)
        return dp_error(e, "%s: cannot write: %s", path, strerror(errno));
    bool ok = finish(out, format->write(out, t, leaves, e), path, e);
    if (ok && rename(temporary, path) != 0)
        ok = dp_error(e, "%s: cannot write: %s", path, strerror(errno));
    if (!ok)
        unlink(temporary);
    return ok;
}

bool dp_write_file(const char *path, const DpType *t, const DpLeaf *leaves, char *error, size_t error_bytes)
{
    DpError e = {error, error_bytes};
    bool known;
    const DpFormat *format = dp_format_of(path, &known);
    if (is_special(path)) {
        FILE *out = fopen(path, "wb");
        if (!out)
            return dp_error(e, "%s: cannot write: %s", path, strerror(errno));
        return finish(out, format->write(out, t, leaves, e), path, e);
    }
    size_t n = strlen(path) + 8;
    char *temporary = malloc(n);
    if (!temporary)
        return dp_error_memory(e, path);
    snprintf(temporary, n, "%s.XXXXXX", path);
    bool ok = write_renamed(path, temporary, format, t, leaves, e);
    free(temporary);
    return ok;
}
