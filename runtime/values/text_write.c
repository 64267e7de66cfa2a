/* Writing values as text: as the language's literals, the inverse of text_read.c, and as JSON, that of json.c. */
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- output, collected in a buffer ---- */

enum { OUT_BYTES = 1 << 14 };

typedef struct TextOut {
    FILE *file;
    const DpLeaf *leaves;
    bool json;
    uint64_t (*at)[DP_MAX_RANK + 1]; /* per leaf: the next length of each level, and in [rank] the next element */
    size_t n;
    char buffer[OUT_BYTES];
} TextOut;

static void flush(TextOut *out)
{
    fwrite(out->buffer, 1, out->n, out->file);
    out->n = 0;
}

static void put(TextOut *out, const char *text, size_t n)
{
    if (out->n + n > OUT_BYTES)
        flush(out);
    if (n > OUT_BYTES) {
        fwrite(text, 1, n, out->file);
        return;
    }
    memcpy(out->buffer + out->n, text, n);
    out->n += n;
}

static void put_text(TextOut *out, const char *text) { put(out, text, strlen(text)); }

/* ---- scalars ---- */

static size_t print_integer(char *text, uint64_t magnitude, bool negative)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + magnitude % 10);
    while ((magnitude /= 10) > 0);
    if (negative)
        digits[--at] = '-';
    memcpy(text, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

static bool reads_back(const char *text, double x, bool single)
{
    return single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
}

/* "d.ddde±x" with the fewest digits that read back as x. Numbers with at most 6 (f32) or 15 (f64) digits survive
 * the way through a normal float, so that the search may begin there and the zeros be dropped. */
static void shortest(char *text, size_t bytes, double x, bool single)
{
    int least = single ? 6 : 15, most = single ? 9 : 17;
    bool normal = fabs(x) >= (single ? (double)0x1p-126f : 0x1p-1022);
    for (int digits = normal ? least : 1;; digits++) {
        snprintf(text, bytes, "%.*e", digits - 1, x);
        if (digits == most || reads_back(text, x, single))
            return;
    }
}

/* Lays the digits out: 0.001, 1.0, 1234.5, 1e20, 1.5e-7. */
static size_t print_digits(char *text, size_t bytes, const char *digits, size_t n, int exponent)
{
    size_t at = 0;
    bool positional = exponent >= -5 && exponent < 16;
    int point = positional ? exponent + 1 : 1; /* digits before the point */
    if (point <= 0) {
        at += (size_t)snprintf(text, bytes, "0.%.*s%s", -point, "00000", digits);
    } else {
        for (int i = 0; i < point; i++)
            text[at++] = (size_t)i < n ? digits[i] : '0';
        if ((size_t)point < n || positional)
            at += (size_t)snprintf(text + at, bytes - at, ".%s", (size_t)point < n ? digits + point : "0");
    }
    if (!positional)
        at += (size_t)snprintf(text + at, bytes - at, "e%d", exponent);
    return at;
}

static size_t print_float(char *text, size_t bytes, double x, bool single)
{
    if (isnan(x) || isinf(x))
        return (size_t)snprintf(text, bytes, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
    char shown[DP_SCALAR_TEXT], digits[DP_SCALAR_TEXT];
    size_t n = 0, sign = signbit(x) != 0;
    shortest(shown, sizeof shown, fabs(x), single);
    const char *s = shown;
    for (; *s != 'e'; s++)
        if (*s != '.')
            digits[n++] = *s;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    text[0] = '-';
    return sign + print_digits(text + sign, bytes - sign, digits, n, atoi(s + 1));
}

size_t dp_print_scalar(char text[DP_SCALAR_TEXT], const DpLeaf *leaf, uint64_t at)
{
    DpScalar s = leaf->scalar;
    if (s == DP_F32)
        return print_float(text, DP_SCALAR_TEXT, (double)((const float *)leaf->data)[at], true);
    if (s == DP_F64)
        return print_float(text, DP_SCALAR_TEXT, ((const double *)leaf->data)[at], false);
    uint64_t bits = dp_scalar_load(s, leaf->data, at);
    if (s == DP_BOOL)
        return (size_t)snprintf(text, DP_SCALAR_TEXT, "%s", bits ? "true" : "false");
    bool negative = dp_scalar_limit(s, true) > 0 && (int64_t)bits < 0;
    return print_integer(text, negative ? 0 - bits : bits, negative);
}

static void put_scalar(TextOut *out, const DpLeaf *leaf, uint64_t at)
{
    char text[DP_SCALAR_TEXT];
    size_t n = dp_print_scalar(text, leaf, at);
    bool quoted = out->json && dp_scalar_is_float(leaf->scalar) && memchr(text, 'n', n); /* nan, inf, -inf */
    put(out, "\"", quoted);
    put(out, text, n);
    put(out, "\"", quoted);
}

/* ---- strings ---- */

/* The length of the valid UTF-8 sequence of two bytes or more at s, 0 if there is none. */
static size_t utf8_sequence(const uint8_t *s, uint64_t n, uint32_t *code)
{
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < length)
        return 0;
    *code = s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool overlong = *code < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return overlong || surrogate || *code > 0x10ffff ? 0 : length;
}

/* Likewise, but 0 also for a control character (U+0080..9F) and one that turns the direction of text around. */
static size_t printable_sequence(const uint8_t *s, uint64_t n)
{
    uint32_t code = 0;
    size_t length = utf8_sequence(s, n, &code);
    bool invisible = code < 0xa0 || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                     (code >= 0x200b && code <= 0x200f) || code == 0x061c || code == 0xfeff;
    return invisible ? 0 : length;
}

static void put_byte(TextOut *out, uint8_t c)
{
    static const char letters[] = "abfnrtv\\\"", values[] = "\a\b\f\n\r\t\v\\\"";
    const char *found = c ? strchr(values, c) : NULL;
    char text[8] = {(char)c};
    if (found)
        snprintf(text, sizeof text, "\\%c", letters[found - values]);
    else if (c < 0x20 || c >= 0x7f)
        snprintf(text, sizeof text, "\\x%02x", (unsigned)c);
    put_text(out, text);
}

static void put_string(TextOut *out, const uint8_t *bytes, uint64_t from, uint64_t n)
{
    put(out, "\"", 1);
    for (uint64_t i = from; i < from + n;) {
        size_t length = bytes[i] >= 0x80 ? printable_sequence(bytes + i, from + n - i) : 0;
        if (length)
            put(out, (const char *)bytes + i, length);
        else
            put_byte(out, bytes[i]);
        i += length ? length : 1;
    }
    put(out, "\"", 1);
}

static void put_json_string(TextOut *out, const uint8_t *bytes, uint64_t n)
{
    put(out, "\"", 1);
    for (uint64_t i = 0; i < n; i++) {
        char text[8];
        if (bytes[i] >= 0x20 && bytes[i] != '"' && bytes[i] != '\\')
            put(out, (const char *)bytes + i, 1);
        else if (bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\t')
            put(out, text, (size_t)snprintf(text, sizeof text, "\\u%04x", (unsigned)bytes[i]));
        else
            put(out, bytes[i] == '\n' ? "\\n" : bytes[i] == '\t' ? "\\t" : bytes[i] == '"' ? "\\\"" : "\\\\", 2);
    }
    put(out, "\"", 1);
}

static bool is_utf8(const uint8_t *bytes, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        uint32_t code;
        size_t length = bytes[i] < 0x80 ? 1 : utf8_sequence(bytes + i, n - i, &code);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

/* Strings of JSON are Unicode; other bytes are numbers. */
static void put_json_bytes(TextOut *out, const DpLeaf *leaf, uint64_t from, uint64_t n)
{
    const uint8_t *bytes = n ? (const uint8_t *)leaf->data + from : (const uint8_t *)"";
    if (is_utf8(bytes, n)) {
        put_json_string(out, bytes, n);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        put_text(out, i ? ", " : "[");
        put_scalar(out, leaf, from + i);
    }
    put_text(out, "]");
}

/* ---- values. `leaf` and `level` as in text_read.c; `shown`: false to move past the payload of another constructor
 * ---- */

static void put_value(TextOut *out, const DpType *t, uint32_t *leaf, uint32_t level, bool shown);

static uint64_t next_element(TextOut *out, uint32_t leaf) { return out->at[leaf][out->leaves[leaf].rank]++; }

/* The length of the array at hand, the same in all its leaves. */
static uint64_t next_length(TextOut *out, uint32_t first, uint32_t n, uint32_t level)
{
    uint64_t length = out->leaves[first].lens[level][out->at[first][level]];
    for (uint32_t i = 0; i < n; i++)
        out->at[first + i][level]++;
    return length;
}

static void show(TextOut *out, bool shown, const char *text)
{
    if (shown)
        put_text(out, text);
}

static void put_array(TextOut *out, const DpType *t, uint32_t *leaf, uint32_t level, bool shown)
{
    uint32_t first = *leaf, nleaves = dp_type_leaves(t);
    uint64_t n = next_length(out, first, nleaves, level);
    const DpLeaf *l = &out->leaves[first];
    if (t->element->kind == DP_T_SCALAR && t->element->scalar == DP_U8) {
        uint64_t *at = &out->at[first][l->rank];
        if (shown && out->json)
            put_json_bytes(out, l, *at, n);
        else if (shown)
            put_string(out, l->data, *at, n);
        *at += n;
    } else {
        show(out, shown, "[");
        for (uint64_t i = 0; i < n; i++) {
            show(out, shown && i > 0, ", ");
            *leaf = first;
            put_value(out, t->element, leaf, level + 1, shown);
        }
        show(out, shown, "]");
    }
    *leaf = first + nleaves;
}

/* Fields in JSON have the order in which they were declared. */
static void put_record(TextOut *out, const DpType *t, uint32_t *leaf, uint32_t level, bool shown)
{
    uint32_t first = *leaf;
    show(out, shown, "{");
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t item = out->json ? t->order[i] : i;
        show(out, shown && i > 0, ", ");
        show(out, shown && out->json, "\"");
        show(out, shown, t->names[item]);
        show(out, shown, out->json ? "\": " : " = ");
        *leaf = first + dp_type_leaves_before(t, item);
        put_value(out, t->items[item], leaf, level, shown);
    }
    show(out, shown, "}");
    *leaf = first;
    if (t->n == 0)
        next_element(out, first);
    *leaf += dp_type_leaves(t);
}

static void put_tuple(TextOut *out, const DpType *t, uint32_t *leaf, uint32_t level, bool shown)
{
    show(out, shown, out->json ? "[" : "(");
    if (t->n == 0)
        next_element(out, (*leaf)++);
    for (uint32_t i = 0; i < t->n; i++) {
        show(out, shown && i > 0, ", ");
        put_value(out, t->items[i], leaf, level, shown);
    }
    show(out, shown && t->n == 1 && !out->json, ",");
    show(out, shown, out->json ? "]" : ")");
}

/* #name, and a payload behind it; in JSON "#name", or {"#name": payload}. */
static void put_sum(TextOut *out, const DpType *t, uint32_t *leaf, uint32_t level, bool shown)
{
    const DpLeaf *l = &out->leaves[*leaf];
    uint64_t tag = dp_scalar_load(l->scalar, l->data, next_element(out, *leaf));
    bool named = shown && tag < t->n, object = named && out->json && t->items[tag];
    ++*leaf;
    show(out, named, object ? "{\"#" : out->json ? "\"#" : "#");
    show(out, named, named ? t->names[tag] : "");
    show(out, named && out->json, object ? "\": " : "\"");
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->items[i])
            continue;
        show(out, shown && i == tag && !out->json, " ");
        put_value(out, t->items[i], leaf, level, shown && i == tag);
    }
    show(out, object, "}");
}

static void put_value(TextOut *out, const DpType *t, uint32_t *leaf, uint32_t level, bool shown)
{
    switch (t->kind) {
    case DP_T_SCALAR: {
        uint64_t at = next_element(out, *leaf);
        if (shown)
            put_scalar(out, &out->leaves[*leaf], at);
        ++*leaf;
        break;
    }
    case DP_T_TUPLE: put_tuple(out, t, leaf, level, shown); break;
    case DP_T_RECORD: put_record(out, t, leaf, level, shown); break;
    case DP_T_SUM: put_sum(out, t, leaf, level, shown); break;
    case DP_T_ARRAY: put_array(out, t, leaf, level, shown); break;
    }
}

static bool write_value(FILE *file, const DpType *t, const DpLeaf *leaves, bool json)
{
    TextOut *out = calloc(1, sizeof *out);
    if (out)
        out->at = calloc(dp_type_leaves(t), sizeof *out->at);
    bool ok = out && out->at;
    if (ok) {
        uint32_t leaf = 0;
        out->file = file;
        out->leaves = leaves;
        out->json = json;
        put_value(out, t, &leaf, 0, true);
        flush(out);
        free(out->at);
    }
    free(out);
    return ok;
}

bool dp_write_text(FILE *file, const DpType *t, const DpLeaf *leaves) { return write_value(file, t, leaves, false); }

bool dp_write_json(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    if (!write_value(out, t, leaves, true))
        return dp_error_memory(e, "");
    fputc('\n', out);
    return true;
}
