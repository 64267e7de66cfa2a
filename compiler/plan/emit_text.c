#include "plan/emit_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *emit_type_name(Scalar s)
{
    static const char *const names[SCALAR_COUNT] = {"dp_bool", "dp_i8",  "dp_i16", "dp_i32", "dp_i64", "dp_u8",
                                                    "dp_u16",  "dp_u32", "dp_u64", "dp_f32", "dp_f64"};
    return names[s];
}

const char *emit_scalar_tag(Scalar s)
{
    static const char *const names[SCALAR_COUNT] = {"DP_BOOL", "DP_I8",  "DP_I16", "DP_I32", "DP_I64", "DP_U8",
                                                    "DP_U16",  "DP_U32", "DP_U64", "DP_F32", "DP_F64"};
    return names[s];
}

uint32_t emit_bytes(CoreType t) { return t.rank > 0 ? 16 : scalar_bytes(t.scalar); }

uint32_t emit_element_bytes(CoreType array) { return emit_bytes(core_element(array)); }

/* ---- constants ---- */

static void emit_signed(StrBuf *out, Scalar s, int64_t x)
{
    if (s == SC_I64) {
        if (x == INT64_MIN)
            strbuf_add(out, "(-9223372036854775807L - 1)"); /* C has no negative literals */
        else
            strbuf_printf(out, "%" PRId64 "L", x);
    } else if (s == SC_I32 && x > INT32_MIN) {
        strbuf_printf(out, "%" PRId64, x);
    } else {
        strbuf_printf(out, "(%s)%" PRId64, emit_type_name(s), x);
    }
}

static void emit_unsigned(StrBuf *out, Scalar s, uint64_t x)
{
    if (s == SC_U64)
        strbuf_printf(out, "%" PRIu64 "UL", x);
    else if (s == SC_U32)
        strbuf_printf(out, "%" PRIu64 "U", x);
    else
        strbuf_printf(out, "(%s)%" PRIu64, emit_type_name(s), x);
}

/* Small whole numbers in decimal, for readers; all others in hexadecimal, which is exact. */
static void emit_finite(StrBuf *out, double x, const char *suffix)
{
    if (fabs(x) < 1e6 && rint(x) >= x && rint(x) <= x)
        strbuf_printf(out, "%.1f%s", x, suffix);
    else
        strbuf_printf(out, "%a%s", x, suffix);
}

static void emit_float(StrBuf *out, Scalar s, uint64_t bits)
{
    double x;
    if (s == SC_F32) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        x = (double)f;
    } else {
        memcpy(&x, &bits, sizeof x);
    }
    const char *suffix = s == SC_F32 ? "f" : "";
    if (isfinite(x))
        emit_finite(out, x, suffix);
    else
        strbuf_printf(out, "dp_from_bits_%s(0x%" PRIx64 "UL)", scalar_name(s), bits);
}

void emit_literal(StrBuf *out, Scalar s, uint64_t bits)
{
    if (scalar_is_float(s))
        emit_float(out, s, bits);
    else if (scalar_is_signed(s))
        emit_signed(out, s, (int64_t)bits);
    else if (s == SC_BOOL)
        strbuf_printf(out, "(dp_bool)%d", bits != 0);
    else
        emit_unsigned(out, s, bits);
}

/* ---- names ---- */

void emit_identifier(StrBuf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        char c = isalnum((unsigned char)*p) && (unsigned char)*p < 128 ? *p : '_';
        strbuf_addn(out, &c, 1);
    }
}

void emit_name(StrBuf *out, const char *prefix, uint32_t number, const char *hint)
{
    strbuf_printf(out, "%s%u", prefix, number);
    if (!hint || !*hint)
        return;
    strbuf_add(out, "_");
    emit_identifier(out, hint);
}

/* ---- strings ---- */

static void emit_char(StrBuf *out, unsigned char c)
{
    switch (c) {
    case '\n': strbuf_add(out, "\\n"); return;
    case '\t': strbuf_add(out, "\\t"); return;
    case '"': strbuf_add(out, "\\\""); return;
    case '\\': strbuf_add(out, "\\\\"); return;
    case '?': strbuf_add(out, "\\?"); return;
    }
    if (c < 32 || c == 127)
        strbuf_printf(out, "\\%03o", c); /* three digits always: nothing can run into them */
    else
        strbuf_addn(out, (const char *)&c, 1);
}

void emit_string(StrBuf *out, const char *text, size_t n)
{
    strbuf_add(out, "\"");
    for (size_t i = 0; i < n; i++)
        emit_char(out, (unsigned char)text[i]);
    strbuf_add(out, "\"");
}

/* A line that is longer is continued in the next literal. */
enum { LONGEST_LITERAL = 2000 };

void emit_string_lines(StrBuf *out, const char *text, size_t n, int depth)
{
    for (size_t start = 0; start < n;) {
        const char *newline = memchr(text + start, '\n', n - start);
        size_t end = newline ? (size_t)(newline - text) + 1 : n;
        if (end - start > LONGEST_LITERAL)
            end = start + LONGEST_LITERAL;
        strbuf_add(out, "\n");
        strbuf_indent(out, depth);
        emit_string(out, text + start, end - start);
        start = end;
    }
    if (n == 0)
        strbuf_add(out, "\"\"");
}
