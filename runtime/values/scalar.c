#include "dp_activity.h"
#include "values.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

bool dp_error(DpError e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(e.text, e.bytes, format, args);
    va_end(args);
    errno = EINVAL;
    return false;
}

void dp_note(DpError e, const char *path, const char *format, ...)
{
    va_list args;
    if (!e.notes)
        return;
    dp_activity_end();
    fprintf(e.notes, "note: %s: ", path);
    va_start(args, format);
    vfprintf(e.notes, format, args);
    va_end(args);
    fputc('\n', e.notes);
}

bool dp_error_at(DpError e, const char *path, const char *text, size_t at, const char *format, ...)
{
    uint64_t line = 1, start = 0;
    char what[512];
    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return dp_error(e, "%s:%llu:%llu: %s", path, (unsigned long long)line, (unsigned long long)(at - start + 1), what);
}

bool dp_error_memory(DpError e, const char *path)
{
    dp_error(e, "%s%sout of memory", path, *path ? ": " : "");
    errno = ENOMEM;
    return false;
}

static bool is_word_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '#' || c == '-' || c == '+';
}

void dp_describe(char out[DP_FOUND_BYTES], const char *text, size_t n)
{
    enum { SHOWN = 24 };
    if (n == 0) {
        snprintf(out, DP_FOUND_BYTES, "the end of the input");
        return;
    }
    unsigned char c = (unsigned char)text[0];
    size_t length = 1;
    while (is_word_byte(c) && length < n && length < SHOWN && is_word_byte((unsigned char)text[length]))
        length++;
    if (c < 0x20 || c >= 0x7f)
        snprintf(out, DP_FOUND_BYTES, "the byte 0x%02x", (unsigned)c);
    else
        snprintf(out, DP_FOUND_BYTES, "%.*s%s", (int)length, text, length == SHOWN ? "..." : "");
}

/* ---- memory ---- */

void *dp_alloc_array(uint64_t n, size_t bytes)
{
    if (n > (SIZE_MAX / 2) / bytes)
        return NULL;
    size_t total = (size_t)n * bytes;
    return malloc(total ? total : 1);
}

/* Lengths that the file has no bytes for are counted in all levels and leaves. The first level has one length, a
 * further one as many as the sizes before it multiply to. */
bool dp_shape_plausible(const uint64_t *shape, uint32_t rank, uint32_t leaves, uint64_t file_bytes, uint64_t most,
                        uint64_t *count)
{
    uint64_t n = 1, left = DP_FREE_LENGTHS;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] && n > UINT64_MAX / shape[i])
            return false;
        n *= shape[i];
        uint64_t unbacked = i + 1 < rank && n > file_bytes ? n - file_bytes : 0;
        if (unbacked > left / leaves)
            return false;
        left -= unbacked * leaves;
    }
    *count = n;
    return n <= most;
}

bool dp_shape_writable(const uint64_t *shape, uint32_t rank, uint32_t leaves, uint64_t least_bytes, const char *format,
                       DpError e)
{
    uint64_t count;
    return dp_shape_plausible(shape, rank, leaves, least_bytes, UINT64_MAX, &count) ||
           dp_error(e, "%s cannot hold so many empty rows", format);
}

/* ---- scalars ---- */

static const struct {
    const char *name;
    uint8_t bytes;
    bool is_signed;
} scalars[DP_SCALAR_COUNT] = {
    [DP_BOOL] = {"bool", 1, false}, [DP_I8] = {"i8", 1, true},    [DP_I16] = {"i16", 2, true},
    [DP_I32] = {"i32", 4, true},    [DP_I64] = {"i64", 8, true},  [DP_U8] = {"u8", 1, false},
    [DP_U16] = {"u16", 2, false},   [DP_U32] = {"u32", 4, false}, [DP_U64] = {"u64", 8, false},
    [DP_F32] = {"f32", 4, true},    [DP_F64] = {"f64", 8, true},
};

const char *dp_scalar_name(DpScalar s) { return scalars[s].name; }
uint32_t dp_scalar_bytes(DpScalar s) { return scalars[s].bytes; }

uint64_t dp_scalar_limit(DpScalar s, bool negative)
{
    uint32_t bits = 8u * scalars[s].bytes;
    if (!scalars[s].is_signed)
        return negative ? 0 : UINT64_MAX >> (64 - bits);
    uint64_t half = (uint64_t)1 << (bits - 1);
    return negative ? half : half - 1;
}

/* Two's complement and little endian or big: the value goes through an integer of the right width. */
void dp_scalar_store(DpScalar s, void *data, uint64_t at, uint64_t bits)
{
    switch (scalars[s].bytes) {
    case 1: ((uint8_t *)data)[at] = (uint8_t)bits; break;
    case 2: ((uint16_t *)data)[at] = (uint16_t)bits; break;
    case 4: ((uint32_t *)data)[at] = (uint32_t)bits; break;
    default: ((uint64_t *)data)[at] = bits; break;
    }
}

uint64_t dp_scalar_load(DpScalar s, const void *data, uint64_t at)
{
    switch (s) { /* GCOVR_EXCL_BR_LINE: all scalars, and what is none */
    case DP_I8: return (uint64_t)(int64_t)((const int8_t *)data)[at];
    case DP_I16: return (uint64_t)(int64_t)((const int16_t *)data)[at];
    case DP_I32: return (uint64_t)(int64_t)((const int32_t *)data)[at];
    case DP_BOOL:
    case DP_U8: return ((const uint8_t *)data)[at];
    case DP_U16: return ((const uint16_t *)data)[at];
    case DP_U32:
    case DP_F32: return ((const uint32_t *)data)[at];
    case DP_I64:
    case DP_U64:
    case DP_F64: return ((const uint64_t *)data)[at];
    case DP_SCALAR_COUNT: break; /* GCOVR_EXCL_LINE: no scalar */
    }
    return 0;
}

uint64_t dp_bits_of_double(DpScalar s, double x)
{
    uint64_t bits = 0;
    if (s == DP_F32) {
        float f = (float)x;
        uint32_t half;
        memcpy(&half, &f, sizeof half);
        return half;
    }
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- the order of bytes ---- */

bool dp_host_is_little(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

void dp_swap_bytes(void *data, uint64_t n, size_t bytes)
{
    uint8_t *at = data;
    for (uint64_t i = 0; i < n; i++, at += bytes)
        for (size_t k = 0; k < bytes / 2; k++) {
            uint8_t byte = at[k];
            at[k] = at[bytes - 1 - k];
            at[bytes - 1 - k] = byte;
        }
}
