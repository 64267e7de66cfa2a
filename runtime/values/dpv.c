/* The project's binary form (.dpv), for values of any type. All numbers are little endian:
 *
 *     0   8  89 44 50 56 0d 0a 1a 0a   ("\x89DPV\r\n\x1a\n")
 *     8   4  version: 1
 *    12   4  T, the length of the type's text
 *    16   T  the type's text, and zeros up to a multiple of 8
 *            each leaf in turn: its lengths, level by level, 8 bytes each; its elements; zeros up to a multiple of 8
 *         4  CRC-32 of all bytes before
 *
 * How many lengths and elements there are follows from the type and the lengths before: level 0 has one length, each
 * further level and the elements as many as the lengths before add up to. */
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'\x89', 'D', 'P', 'V', '\r', '\n', '\x1a', '\n'};
enum { VERSION = 1, HEADER_BYTES = 16, CRC_BYTES = 4 };

/* ---- reading ---- */

typedef struct DpvIn {
    const char *path;
    DpError error;
    const char *bytes;
    size_t n, at; /* n: without the checksum */
} DpvIn;

static bool fail(const DpvIn *in, size_t at, const char *what)
{
    return dp_error(in->error, "%s: at byte %llu: %s", in->path, (unsigned long long)at, what);
}

static uint32_t load_u32(const char *bytes)
{
    const uint8_t *b = (const uint8_t *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Zeros up to a multiple of 8, which may not be all there. */
static bool take_padding(DpvIn *in)
{
    for (; in->at % 8 != 0; in->at++) {
        if (in->at >= in->n)
            return fail(in, in->at, "the file is cut off");
        if (in->bytes[in->at] != 0)
            return fail(in, in->at, "expected a zero between two parts of the file");
    }
    return true;
}

static bool fail_type(DpvIn *in, const DpType *found, const DpType *wanted)
{
    if (!found && errno == ENOMEM)
        return dp_error_memory(in->error, in->path);
    char *is = found ? dp_type_print(found, false) : NULL, *want = dp_type_print(wanted, false);
    if (!found)
        fail(in, HEADER_BYTES, "malformed type");
    else
        dp_error(in->error, "%s: at byte %d: expected a value of type %.80s, found one of type %.80s", in->path,
                 HEADER_BYTES, want ? want : "?", is ? is : "?");
    free(is);
    free(want);
    return false;
}

static bool take_type(DpvIn *in, const DpType *wanted)
{
    uint32_t length = load_u32(in->bytes + 12);
    if (length > in->n - HEADER_BYTES)
        return fail(in, 12, "the type's text is larger than the file");
    char *text = dp_alloc_array((uint64_t)length + 1, 1);
    if (!text)
        return dp_error_memory(in->error, in->path);
    memcpy(text, in->bytes + HEADER_BYTES, length);
    text[length] = '\0';
    errno = 0;
    DpType *found = memchr(text, '\0', length) ? NULL : dp_type_parse(text);
    bool ok = (found && dp_type_equal(found, wanted)) || fail_type(in, found, wanted);
    free(text);
    dp_type_free(found);
    in->at = HEADER_BYTES + (size_t)length;
    return ok && take_padding(in);
}

/* The next n elements, copied, after a look at whether they are there. */
static void *take_elements(DpvIn *in, uint64_t n, size_t bytes)
{
    if (n > (in->n - in->at) / bytes) {
        fail(in, in->at, "the file is cut off: it holds fewer elements than its lengths promise");
        return NULL;
    }
    void *copy = dp_alloc_array(n, bytes);
    if (!copy) {
        dp_error_memory(in->error, in->path);
        return NULL;
    }
    memcpy(copy, in->bytes + in->at, (size_t)n * bytes);
    if (!dp_host_is_little())          /* GCOVR_EXCL_BR_LINE: the tests' machines are */
        dp_swap_bytes(copy, n, bytes); /* GCOVR_EXCL_LINE: as above */
    in->at += (size_t)n * bytes;
    return copy;
}

/* Lengths, the sum of which becomes *total. Whatever they count takes a byte at least. */
static bool take_lengths(DpvIn *in, DpLeaf *leaf, uint32_t level, uint64_t n, uint64_t *total)
{
    size_t start = in->at;
    uint64_t *lengths = take_elements(in, n, sizeof *lengths), sum = 0;
    if (!lengths)
        return false;
    leaf->lens[level] = lengths;
    leaf->nlens[level] = n;
    for (uint64_t i = 0; i < n; i++) {
        if (lengths[i] > in->n - sum)
            return fail(in, start + (size_t)i * 8, "the length is larger than the file");
        sum += lengths[i];
    }
    *total = sum;
    return true;
}

static bool take_leaf(DpvIn *in, DpLeaf *leaf)
{
    uint64_t n = 1;
    for (uint32_t level = 0; level < leaf->rank; level++)
        if (!take_lengths(in, leaf, level, n, &n))
            return false;
    size_t start = in->at;
    leaf->data = take_elements(in, n, dp_scalar_bytes(leaf->scalar));
    if (!leaf->data)
        return false;
    leaf->ndata = n;
    const uint8_t *bools = leaf->data;
    for (uint64_t i = 0; leaf->scalar == DP_BOOL && i < n; i++)
        if (bools[i] > 1)
            return fail(in, start + (size_t)i, "a bool is neither 0 nor 1");
    return take_padding(in);
}

/* The payload of a constructor has zeros and empty arrays where the tag is another one. `leaf`: its first leaf. */
static bool check_absent(DpvIn *in, const DpLeaf *tags, uint32_t tag, const DpLeaf *leaves, uint32_t leaf, uint32_t end)
{
    for (uint32_t k = leaf; k < end; k++) {
        const DpLeaf *l = &leaves[k];
        bool is_array = l->rank > tags->rank;
        for (uint64_t i = 0; i < tags->ndata; i++)
            if (dp_scalar_load(tags->scalar, tags->data, i) != tag &&
                (is_array ? l->lens[tags->rank][i] : dp_scalar_load(l->scalar, l->data, i)) != 0)
                return dp_error(in->error, "%s: leaf %u: element %llu belongs to a constructor that it does not have",
                                in->path, (unsigned)k, (unsigned long long)i);
    }
    return true;
}

/* Do the leaves fit together? Those of one array have the same lengths, tags are less than the number of constructors,
 * and payloads are there where the tag says so. *leaf moves on. */
static bool check_together(DpvIn *in, const DpType *t, const DpLeaf *leaves, uint32_t *leaf, uint32_t level)
{
    const DpLeaf *first = &leaves[*leaf];
    uint32_t end = *leaf + dp_type_leaves(t);
    switch (t->kind) {
    case DP_T_ARRAY:
        for (uint32_t i = *leaf + 1; i < end; i++)
            /* They are as many: so many as the lengths above add up to, which are the same. */
            if (memcmp(leaves[i].lens[level], first->lens[level], (size_t)first->nlens[level] * 8) != 0)
                return dp_error(in->error, "%s: leaves %u and %u differ in their lengths of level %u", in->path,
                                (unsigned)*leaf, (unsigned)i, (unsigned)level);
        return check_together(in, t->element, leaves, leaf, level + 1);
    case DP_T_SUM:
        for (uint64_t i = 0; i < first->ndata; i++)
            if (dp_scalar_load(first->scalar, first->data, i) >= t->n)
                return dp_error(in->error, "%s: leaf %u: a constructor's number is too large", in->path,
                                (unsigned)*leaf);
        ++*leaf;
        break;
    case DP_T_SCALAR: ++*leaf; break;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        for (uint64_t i = 0; t->n == 0 && i < first->ndata; i++)
            if (dp_scalar_load(first->scalar, first->data, i) != 0)
                return dp_error(in->error, "%s: leaf %u: a unit is not 0", in->path, (unsigned)*leaf);
        break;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t start = *leaf;
        if (t->items[i] && !check_together(in, t->items[i], leaves, leaf, level))
            return false;
        if (t->kind == DP_T_SUM && !check_absent(in, first, i, leaves, start, *leaf))
            return false;
    }
    *leaf = end;
    return true;
}

static bool check_sum(DpvIn *in)
{
    DpCrc crc;
    if (in->at != in->n)
        return fail(in, in->at, "the file is larger than its lengths");
    dp_crc_begin(&crc);
    dp_crc_add(&crc, in->bytes, in->n);
    return dp_crc_end(&crc) == load_u32(in->bytes + in->n) ||
           fail(in, in->n, "the file is damaged: its checksum is wrong");
}

bool dp_read_dpv(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    DpvIn in = {path, e, bytes, n, 0};
    uint32_t nleaves = dp_type_leaves(t), leaf = 0;
    if (n < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return fail(&in, 0, "not a .dpv file: it does not begin as one");
    if (n < HEADER_BYTES + CRC_BYTES)
        return fail(&in, n, "the file is cut off");
    in.n = n - CRC_BYTES;
    if (load_u32(bytes + 8) != VERSION)
        return fail(&in, 8, "unknown version");
    if (!take_type(&in, t))
        return false;
    dp_leaves_init(leaves, t);
    bool ok = true;
    for (uint32_t i = 0; ok && i < nleaves; i++)
        ok = take_leaf(&in, &leaves[i]);
    ok = ok && check_sum(&in) && check_together(&in, t, leaves, &leaf, 0);
    if (!ok)
        dp_leaves_free(leaves, nleaves);
    return ok;
}

/* ---- writing ---- */

typedef struct DpvOut {
    FILE *file;
    uint64_t at;
    DpCrc crc;
} DpvOut;

static void put(DpvOut *out, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    fwrite(bytes, 1, n, out->file);
    dp_crc_add(&out->crc, bytes, n);
    out->at += n;
}

static void put_elements(DpvOut *out, const void *data, uint64_t n, size_t bytes)
{
    if (dp_host_is_little()) { /* GCOVR_EXCL_BR_LINE: the tests' machines are */
        put(out, data, (size_t)n * bytes);
        return;
    }
    /* GCOVR_EXCL_START: as above */
    for (uint64_t i = 0; i < n; i++) {
        char element[8];
        memcpy(element, (const char *)data + i * bytes, bytes);
        dp_swap_bytes(element, 1, bytes);
        put(out, element, bytes);
    }
    /* GCOVR_EXCL_STOP */
}

static void put_u32(DpvOut *out, uint32_t x) { put_elements(out, &x, 1, sizeof x); }

static void put_padding(DpvOut *out) { put(out, "\0\0\0\0\0\0\0", (size_t)(-out->at % 8)); }

bool dp_write_dpv(FILE *file, const DpType *t, const DpLeaf *leaves, DpError e)
{
    DpvOut out = {.file = file};
    char *text = dp_type_print(t, false);
    if (!text)
        return dp_error_memory(e, "");
    dp_crc_begin(&out.crc);
    put(&out, magic, sizeof magic);
    put_u32(&out, VERSION);
    put_u32(&out, (uint32_t)strlen(text));
    put(&out, text, strlen(text));
    put_padding(&out);
    free(text);
    for (uint32_t i = 0; i < dp_type_leaves(t); i++) {
        for (uint32_t level = 0; level < leaves[i].rank; level++)
            put_elements(&out, leaves[i].lens[level], leaves[i].nlens[level], sizeof(uint64_t));
        put_elements(&out, leaves[i].data, leaves[i].ndata, dp_scalar_bytes(leaves[i].scalar));
        put_padding(&out);
    }
    put_u32(&out, dp_crc_end(&out.crc));
    return true;
}
