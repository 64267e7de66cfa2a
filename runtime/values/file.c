/* Whole files: reading, and writing by the format that the name says. */
#include "dp_activity.h"
#include "dp_output.h"
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names ---- */

static DpReadFormat read_literals;
static DpWriteFormat write_literals;

static const DpFormat formats[] = {
    {"text", ".txt", read_literals, write_literals},
    {"text", ".in", read_literals, write_literals},
    {"raw", NULL, dp_read_raw, dp_write_raw},
    {"lines", NULL, dp_read_lines, dp_write_lines},
    {"json", ".json", dp_read_json, dp_write_json},
    {"csv", ".csv", dp_read_csv, dp_write_csv},
    {"tsv", ".tsv", dp_read_tsv, dp_write_tsv},
    {"csv,", NULL, dp_read_csv_comma, dp_write_csv},
    {"csv;", NULL, dp_read_csv_semicolon, dp_write_csv_semicolon},
    {"csv|", NULL, dp_read_csv_bar, dp_write_csv_bar},
    {"npy", ".npy", dp_read_npy, dp_write_npy},
    {"npz", ".npz", dp_read_npz, dp_write_npz},
    {"h5", ".h5", dp_read_hdf5, dp_write_hdf5},
    {"hdf5", ".hdf5", dp_read_hdf5, dp_write_hdf5},
    {"jpg", ".jpg", dp_read_jpeg, NULL},
    {"jpeg", ".jpeg", dp_read_jpeg, NULL},
    {"mtx", ".mtx", dp_read_mtx, dp_write_mtx},
    {"dpv", ".dpv", dp_read_dpv, dp_write_dpv},
    {"pgm", ".pgm", dp_read_pnm, dp_write_pgm},
    {"ppm", ".ppm", dp_read_pnm, dp_write_ppm},
    {"png", ".png", dp_read_png, dp_write_png},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* The last ending within path[0..n), point included, or NULL. A point in front is no ending. */
static const char *ending_before(const char *path, size_t n)
{
    for (size_t i = n; i-- > 1 && path[i] != '/' && path[i - 1] != '/';)
        if (path[i] == '.')
            return i + 1 < n ? path + i : NULL;
    return NULL;
}

static const char *ending_of(const char *path) { return ending_before(path, strlen(path)); }

static const DpFormat *format_by_ending(const char *path, size_t n, bool *known)
{
    const char *ending = ending_before(path, n);
    size_t length = ending ? (size_t)(path + n - ending) : 0;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].ending && length == strlen(formats[i].ending) &&
            memcmp(ending, formats[i].ending, length) == 0) {
            *known = true;
            return &formats[i];
        }
    *known = false;
    return &formats[0];
}

const DpFormat *dp_format_of(const char *path, bool *known) { return format_by_ending(path, strlen(path), known); }

static const DpFormat *format_by_prefix(const char *name)
{
    const char *colon = strchr(name, ':');
    for (size_t i = 0; colon && i < FORMATS; i++)
        if (strlen(formats[i].name) == (size_t)(colon - name) &&
            memcmp(formats[i].name, name, (size_t)(colon - name)) == 0)
            return &formats[i];
    return NULL;
}

static const DpFormat *format_named(const char *name)
{
    size_t i = 0;
    while (strcmp(formats[i].name, name) != 0)
        i++;
    return &formats[i];
}

const char *dp_file_path(const char *name) { return format_by_prefix(name) ? strchr(name, ':') + 1 : name; }

bool dp_place_is_literals(const DpPlace *p) { return p->format->read == read_literals; }

DpPlace dp_place_of(const char *name, const DpType *t)
{
    DpPlace p = {.format = format_by_prefix(name), .path = dp_file_path(name)};
    p.is_prefixed = p.is_known = p.format != NULL;
    const char *ending = ending_of(p.path);
    p.has_ending = ending != NULL;
    p.is_packed = ending && strcmp(ending, ".gz") == 0;
    if (p.is_prefixed)
        return p;
    p.format = format_by_ending(p.path, p.is_packed ? (size_t)(ending - p.path) : strlen(p.path), &p.is_known);
    if (t && t->is_text)
        p.format = format_named("raw");
    else if (t && t->kind == DP_T_ARRAY && t->element->is_text && dp_place_is_literals(&p))
        p.format = format_named("lines");
    return p;
}

/* ---- reading ---- */

/* How much there probably is to read: a file says so. *most: a device may never end. */
static size_t expected_bytes(FILE *in, size_t *most)
{
    struct stat info = {0};
    long at = ftell(in);
    fstat(fileno(in), &info);
    size_t least = (size_t)64 * 1024, n = least;
    if (S_ISREG(info.st_mode) && info.st_size > at)
        n = (size_t)(info.st_size - at) + 1; /* one more shows the end */
    *most = SIZE_MAX;
    if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) /* GCOVR_EXCL_BR_LINE: tests have no device of blocks */
        *most = (size_t)1 << 28;
    return n < least ? least : n;
}

static char *read_all(FILE *in, size_t *n)
{
    size_t most, cap = expected_bytes(in, &most), used = 0;
    char *text = malloc(cap + 1);
    while (text) {
        size_t got = fread(text + used, 1, cap - used, in);
        used += got;
        if (used < cap)
            break;
        if (used >= most) {
            free(text);
            errno = EFBIG;
            return NULL;
        }
        char *grown = realloc(text, 2 * cap + 1);
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

static bool read_literals(const char *path, const char *text, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    DpReader r = {path, text, n, 0};
    if (!dp_text_begin(path, text, n, &r.at, e) || !dp_read_text(&r, t, leaves, e.text, e.bytes))
        return false;
    if (dp_reader_done(&r))
        return true;
    dp_leaves_free(leaves, dp_type_leaves(t));
    return dp_expected(&r, "the end of the input", e);
}

bool dp_place_read(const DpPlace *p, const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves,
                   DpError e)
{
    if (!p->is_packed)
        return p->format->read(path, bytes, n, t, leaves, e);
    size_t length;
    char *unpacked = dp_gunzip(path, bytes, n, &length, e);
    bool ok = unpacked && p->format->read(path, unpacked, length, t, leaves, e);
    int why = errno;
    free(unpacked);
    errno = why;
    return ok;
}

bool dp_read_file(const char *name, const DpType *t, DpLeaf *leaves, char *error, size_t error_bytes)
{
    DpError e = {error, error_bytes, stderr};
    DpPlace p = dp_place_of(name, t);
    const char *path = strcmp(p.path, "-") == 0 ? "standard input" : p.path;
    const char *ending = ending_of(p.path);
    size_t n;
    if (!p.is_known && ending && strcmp(ending, ".parquet") == 0 && dp_place_is_literals(&p))
        return dp_error(e, "%s: Parquet is not read: .csv, .npz and .json are", path);
    dp_activity("reading %s", path);
    char *bytes = dp_slurp(p.path, &n);
    bool ok = bytes             ? dp_place_read(&p, path, bytes, n, t, leaves, e)
              : errno == ENOMEM ? dp_error_memory(e, path)
                                : dp_error(e, "%s: %s", path, strerror(errno));
    int why = errno;
    dp_activity_end();
    free(bytes);
    errno = why;
    return ok;
}

/* ---- writing ---- */

static bool write_literals(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
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

char *dp_write_memory(DpWriteFormat *write, const DpType *t, const DpLeaf *leaves, size_t *n, DpError e)
{
    DpMemoryFile out;
    if (!dp_memory_open(&out)) {
        dp_error_memory(e, "");
        return NULL;
    }
    bool ok = write(out.file, t, leaves, e);
    int why = errno;
    char *bytes = dp_memory_close(&out);
    *n = out.n;
    if (ok && !bytes)
        dp_error_memory(e, "");
    if (ok)
        return bytes;
    free(bytes);
    errno = why;
    return NULL;
}

static bool write_packed(DpWriteFormat *write, FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    size_t n;
    char *bytes = dp_write_memory(write, t, leaves, &n, e);
    bool ok = bytes && dp_gzip(out, bytes, n, e);
    int why = errno;
    free(bytes);
    errno = why;
    return ok;
}

bool dp_place_write(const DpPlace *p, FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    if (!p->format->write)
        return dp_error(e, "files of the format %s are only read", p->format->name);
    return p->is_packed ? write_packed(p->format->write, out, t, leaves, e) : p->format->write(out, t, leaves, e);
}

bool dp_write_file(const char *name, const DpType *t, const DpLeaf *leaves, char *error, size_t error_bytes)
{
    DpError e = {error, error_bytes, NULL};
    DpPlace p = dp_place_of(name, t);
    DpOutput out;
    if (strcmp(p.path, "-") == 0)
        return dp_place_write(&p, stdout, t, leaves, e);
    if (!dp_output_open(&out, p.path, 0666))
        return fail_writing(e, p.path);
    dp_activity("writing %s", p.path);
    bool ok = dp_place_write(&p, out.file, t, leaves, e);
    int why = errno;
    dp_activity_end();
    errno = why;
    if (!ok) {
        dp_output_discard(&out);
        return false;
    }
    return dp_output_close(&out) || fail_writing(e, p.path);
}

/* All endings that are written, in the order of the table. */
static bool fail_ending(DpError e, const char *path)
{
    char known[256];
    size_t n = 0;
    if (strcmp(ending_of(path), ".parquet") == 0)
        return dp_error(e, "%s: Parquet is not written: .csv, .npz and .json are", path);
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].ending && formats[i].write)
            n += (size_t)snprintf(known + n, sizeof known - n, " %s", formats[i].ending);
    return dp_error(e, "%s: no format has the ending %s; there are%s, and .gz behind each", path, ending_of(path),
                    known);
}

bool dp_output_format_known(const char *name, const DpType *t, char *error, size_t error_bytes)
{
    DpError e = {error, error_bytes, NULL};
    DpPlace p = dp_place_of(name, t);
    if (!p.format->write)
        return dp_error(e, "%s: files of the format %s are only read", p.path, p.format->name);
    return p.is_known || !p.has_ending || !dp_place_is_literals(&p) || fail_ending(e, p.path);
}
