/* NumPy's .npy files: "\x93NUMPY", version, length of the header, the header (a Python dictionary), data.
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }
 *
 * A file holds one regular array of one scalar type, in either order of bytes. Nothing is allocated before the
 * shape has been found to agree with the size of the file. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

typedef struct Npy {
    const char *path;
    DpError error;
    const char *text;    /* the header */
    size_t n, at, start; /* start: where it begins in the file */
    char descr[8];
    bool has_descr, has_shape, has_order, fortran, swapped;
    uint64_t shape[DP_MAX_RANK];
    uint32_t rank;
} Npy;

/* Behind the order of bytes: < little endian, > big endian, = the machine's, | where it means nothing. */
static const char *const type_codes[DP_SCALAR_COUNT] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                                        "u2", "u4", "u8", "f4", "f8"};

static char host_order(DpScalar s)
{
    const char order = dp_host_is_little() ? '<' : '>'; /* GCOVR_EXCL_BR_LINE: the tests' machines are */
    return dp_scalar_bytes(s) == 1 ? '|' : order;
}

/* ---- the header ---- */

static bool bad_header(Npy *f, const char *what)
{
    return dp_error(f->error, "%s: at byte %llu: not a valid .npy file: %s", f->path,
                    (unsigned long long)(f->start + f->at), what);
}

static void skip_blanks(Npy *f)
{
    while (f->at < f->n && strchr(" \t\r\n", f->text[f->at]) && f->text[f->at])
        f->at++;
}

static bool take(Npy *f, char c)
{
    skip_blanks(f);
    if (f->at >= f->n || f->text[f->at] != c)
        return false;
    f->at++;
    return true;
}

static bool take_word(Npy *f, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(f);
    if (f->n - f->at < n || memcmp(f->text + f->at, word, n) != 0)
        return false;
    f->at += n;
    return true;
}

static bool take_string(Npy *f, char *out, size_t bytes)
{
    skip_blanks(f);
    char quote = f->at < f->n ? f->text[f->at] : '\0';
    if (quote != '\'' && quote != '"')
        return bad_header(f, "a string is missing in the header");
    const char *start = f->text + f->at + 1;
    const char *end = memchr(start, quote, f->n - f->at - 1);
    if (!end || (size_t)(end - start) >= bytes)
        return bad_header(f, end ? "unknown type of elements" : "unterminated string in the header");
    for (const char *c = start; c < end; c++)
        if (*c < ' ' || *c > '~')
            return bad_header(f, "a byte that is no text in the header");
    memcpy(out, start, (size_t)(end - start));
    out[end - start] = '\0';
    f->at += (size_t)(end - start) + 2;
    return true;
}

static bool take_size(Npy *f, uint64_t *size)
{
    skip_blanks(f);
    size_t start = f->at;
    *size = 0;
    for (; f->at < f->n && f->text[f->at] >= '0' && f->text[f->at] <= '9'; f->at++) {
        uint64_t digit = (uint64_t)(f->text[f->at] - '0');
        if (*size > (UINT64_MAX / 2 - digit) / 10)
            return bad_header(f, "a size is too large");
        *size = *size * 10 + digit;
    }
    return f->at > start || bad_header(f, "a size is missing");
}

static bool take_shape(Npy *f)
{
    f->has_shape = true;
    f->rank = 0;
    if (!take(f, '('))
        return bad_header(f, "the shape is missing");
    bool comma = true;
    while (!take(f, ')')) {
        if (!comma || f->rank == DP_MAX_RANK)
            return bad_header(f, comma ? "too many dimensions" : "malformed shape");
        if (!take_size(f, &f->shape[f->rank++]))
            return false;
        comma = take(f, ',');
    }
    return true;
}

static bool take_order(Npy *f)
{
    f->has_order = true;
    f->fortran = take_word(f, "True");
    return f->fortran || take_word(f, "False") || bad_header(f, "fortran_order is neither True nor False");
}

static bool take_entry(Npy *f)
{
    char key[24];
    if (!take_string(f, key, sizeof key))
        return false;
    if (!take(f, ':'))
        return bad_header(f, "malformed header");
    if (strcmp(key, "descr") == 0) {
        f->has_descr = true;
        return take_string(f, f->descr, sizeof f->descr);
    }
    if (strcmp(key, "fortran_order") == 0)
        return take_order(f);
    if (strcmp(key, "shape") == 0)
        return take_shape(f);
    return bad_header(f, "unknown key in the header");
}

static bool read_dictionary(Npy *f)
{
    bool comma = true;
    if (!take(f, '{'))
        return bad_header(f, "malformed header");
    while (!take(f, '}')) {
        if (!comma)
            return bad_header(f, "malformed header");
        if (!take_entry(f))
            return false;
        comma = take(f, ',');
    }
    return (f->has_descr && f->has_order && f->has_shape) || bad_header(f, "the header is incomplete");
}

/* Finds the header; *data is where the elements begin. */
static bool read_header(Npy *f, const char *bytes, size_t n, size_t *data)
{
    const uint8_t *b = (const uint8_t *)bytes;
    if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return bad_header(f, "it does not begin as one");
    f->start = 6;
    if (b[6] < 1 || b[6] > 3)
        return bad_header(f, "unknown version");
    size_t start = b[6] == 1 ? 10 : 12;
    f->start = 8;
    if (n < start)
        return bad_header(f, "it is cut off");
    uint64_t length = b[8] | (uint64_t)b[9] << 8;
    if (b[6] > 1)
        length |= (uint64_t)b[10] << 16 | (uint64_t)b[11] << 24;
    if (length > n - start)
        return bad_header(f, "it is cut off");
    f->start = start;
    f->text = bytes + start;
    f->n = (size_t)length;
    *data = start + (size_t)length;
    return read_dictionary(f);
}

/* ---- reading ---- */

static bool check_type(Npy *f, DpScalar scalar, uint32_t rank)
{
    const char *want = type_codes[scalar];
    bool one_byte = dp_scalar_bytes(scalar) == 1;
    char order = f->descr[0], host = host_order(scalar);
    bool known = order == '<' || order == '>' || order == '=' || (order == '|' && one_byte);
    if (!known || strcmp(f->descr + 1, want) != 0)
        return dp_error(f->error, "%s: expected elements of type %s ('%c%s'), found '%s'", f->path,
                        dp_scalar_name(scalar), host, want, f->descr);
    f->swapped = !one_byte && order != '=' && order != host;
    if (f->rank != rank)
        return dp_error(f->error, "%s: expected %u dimension%s, found %u", f->path, rank, rank == 1 ? "" : "s",
                        f->rank);
    return true;
}

/* Do all sizes agree with the bytes there are? */
static bool check_sizes(Npy *f, uint64_t file_bytes, uint64_t data_bytes, uint32_t element_bytes)
{
    uint64_t count;
    if (!dp_shape_plausible(f->shape, f->rank, 1, file_bytes, data_bytes / element_bytes, &count))
        return bad_header(f, "the shape is larger than the file");
    return count * element_bytes == data_bytes || bad_header(f, "the file is larger than the shape");
}

/* Elements in the order of the last index (C), from a file in the order of the first (Fortran). */
static void copy_fortran(const Npy *f, DpLeaf *leaf, const char *data)
{
    size_t bytes = dp_scalar_bytes(leaf->scalar);
    uint64_t index[DP_MAX_RANK] = {0}, stride[DP_MAX_RANK], from = 0;
    for (uint32_t i = 0; i < f->rank; i++)
        stride[i] = i ? stride[i - 1] * f->shape[i - 1] : 1;
    for (uint64_t at = 0; at < leaf->ndata; at++) {
        memcpy((char *)leaf->data + at * bytes, data + from * bytes, bytes);
        for (uint32_t i = f->rank; i-- > 0;) {
            from += stride[i];
            if (++index[i] < f->shape[i])
                break;
            from -= index[i] * stride[i];
            index[i] = 0;
        }
    }
}

static void copy_elements(const Npy *f, DpLeaf *leaf, const char *data)
{
    if (f->fortran && f->rank > 1)
        copy_fortran(f, leaf, data);
    else if (leaf->ndata)
        memcpy(leaf->data, data, (size_t)leaf->ndata * dp_scalar_bytes(leaf->scalar));
    if (f->swapped)
        dp_swap_bytes(leaf->data, leaf->ndata, dp_scalar_bytes(leaf->scalar));
    if (leaf->scalar == DP_BOOL)
        for (uint64_t i = 0; i < leaf->ndata; i++)
            ((uint8_t *)leaf->data)[i] = ((uint8_t *)leaf->data)[i] != 0;
}

bool dp_read_npy(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    Npy f = {.path = path, .error = e};
    DpScalar scalar;
    uint32_t rank;
    size_t data = 0;
    if (!dp_type_is_regular(t, &scalar, &rank))
        return dp_error(e, "%s: a .npy file holds an array of scalars, which is not this parameter's type", path);
    if (!read_header(&f, bytes, n, &data) || !check_type(&f, scalar, rank) ||
        !check_sizes(&f, n, n - data, dp_scalar_bytes(scalar)))
        return false;
    dp_leaves_init(leaves, t);
    if (!dp_leaf_make(leaves, f.shape)) {
        dp_leaves_free(leaves, 1);
        return dp_error_memory(e, path);
    }
    copy_elements(&f, leaves, bytes + data);
    return true;
}

/* ---- writing ---- */

/* The header is padded with blanks, so that the data begin at a multiple of 64. */
static void write_header(FILE *out, const DpLeaf *leaf, const uint64_t *shape)
{
    char text[512], padded[640];
    size_t n = (size_t)snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                                host_order(leaf->scalar), type_codes[leaf->scalar]);
    for (uint32_t i = 0; i < leaf->rank; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu%s", i ? ", " : "", (unsigned long long)shape[i],
                              leaf->rank == 1 ? "," : "");
    n += (size_t)snprintf(text + n, sizeof text - n, "), }");
    size_t total = (10 + n + 1 + 63) / 64 * 64, length = total - 10;
    memcpy(padded, "\x93NUMPY\x01\x00", 8);
    padded[8] = (char)(length & 0xff);
    padded[9] = (char)(length >> 8);
    memcpy(padded + 10, text, n);
    memset(padded + 10 + n, ' ', length - n);
    padded[total - 1] = '\n';
    fwrite(padded, 1, total, out);
}

bool dp_write_npy(FILE *out, const DpType *t, const DpLeaf *leaf, DpError e)
{
    uint64_t shape[DP_MAX_RANK];
    DpScalar scalar;
    uint32_t rank;
    if (!dp_type_is_regular(t, &scalar, &rank))
        return dp_error(e, "a .npy file holds an array of scalars, which the result is not");
    if (!dp_leaf_shape(leaf, shape))
        return dp_error(e, "a .npy file holds regular arrays, but rows of the result differ in length");
    if (!dp_shape_writable(shape, rank, 1, leaf->ndata, "a .npy file", e))
        return false;
    write_header(out, leaf, shape);
    if (leaf->ndata)
        fwrite(leaf->data, dp_scalar_bytes(scalar), (size_t)leaf->ndata, out);
    return true;
}
