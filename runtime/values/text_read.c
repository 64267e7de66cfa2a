/* Reading values from text: the language's literal syntax, directed by the wanted type. The recursion is
 * as deep as the type; parentheses around a value are counted, not recursed into. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

typedef struct TextIn {
    DpReader *r;
    DpBuilder *builders; /* one per leaf */
    DpError error;
} TextIn;

/* ---- characters ---- */

static int peek(const DpReader *r) { return r->at < r->n ? (unsigned char)r->text[r->at] : -1; }

static bool at_comment(const DpReader *r)
{
    return r->at + 1 < r->n && r->text[r->at] == '-' && r->text[r->at + 1] == '-';
}

bool dp_text_begin(const char *path, const char *text, size_t n, size_t *at, DpError e)
{
    bool utf16 = n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    bool utf32 = n >= 4 && (memcmp(text, "\xff\xfe\0", 4) == 0 || memcmp(text, "\0\0\xfe\xff", 4) == 0);
    if (utf16 || utf32)
        return dp_error(e, "%s: at byte 0: the text is in UTF-%d; it has to be in UTF-8", path, utf32 ? 32 : 16);
    *at = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return true;
}

void dp_skip_space(DpReader *r)
{
    for (; r->at < r->n; r->at++) {
        char c = r->text[r->at];
        if (at_comment(r)) {
            const char *end = memchr(r->text + r->at, '\n', r->n - r->at);
            r->at = end ? (size_t)(end - r->text) : r->n;
            if (!end)
                return;
        } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v') {
            return;
        }
    }
}

bool dp_reader_done(DpReader *r)
{
    dp_skip_space(r);
    return r->at >= r->n;
}

static bool take(TextIn *in, char c)
{
    dp_skip_space(in->r);
    if (peek(in->r) != (unsigned char)c)
        return false;
    in->r->at++;
    return true;
}

static bool fail(TextIn *in, const char *what)
{
    return dp_error_at(in->error, in->r->path, in->r->text, in->r->at, "%s", what);
}

bool dp_expected(DpReader *r, const char *what, DpError e)
{
    char found[DP_FOUND_BYTES];
    dp_skip_space(r);
    dp_describe(found, r->text + r->at, r->n - r->at);
    return dp_error_at(e, r->path, r->text, r->at, "expected %s, found %s", what, found);
}

static bool fail_expected(TextIn *in, const char *what) { return dp_expected(in->r, what, in->error); }

static bool fail_memory(TextIn *in) { return dp_error_memory(in->error, in->r->path); }

static bool expect(TextIn *in, char c)
{
    char what[2] = {c, '\0'};
    return take(in, c) || fail_expected(in, what);
}

static bool is_word_byte(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '\'';
}

/* The length of the word at the reader. */
static size_t word_length(const DpReader *r)
{
    size_t n = 0;
    while (r->at + n < r->n && is_word_byte((unsigned char)r->text[r->at + n]))
        n++;
    return n;
}

static bool take_word(TextIn *in, const char *word)
{
    size_t n = word_length(in->r);
    if (n != strlen(word) || memcmp(in->r->text + in->r->at, word, n) != 0)
        return false;
    in->r->at += n;
    return true;
}

/* ---- scalars ---- */

static const char *what_is(DpScalar s)
{
    static const char *const names[DP_SCALAR_COUNT] = {"true or false", "an i8", "an i16", "an i32", "an i64", "a u8",
                                                       "a u16",         "a u32", "a u64",  "an f32", "an f64"};
    return names[s];
}

/* The length of a number: letters, digits, points, and the sign behind an exponent's e. */
static size_t number_length(const DpReader *r)
{
    const char *s = r->text + r->at;
    size_t n = 0, left = r->n - r->at;
    bool based = left > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'b');
    for (; n < left; n++) {
        bool exponent_sign = (s[n] == '-' || s[n] == '+') && n > 0 && (s[n - 1] | 0x20) == 'e' && !based;
        if (!is_word_byte((unsigned char)s[n]) && s[n] != '.' && !exponent_sign)
            break;
    }
    return n;
}

static bool fail_number(TextIn *in, DpLiteral status, DpScalar s, size_t start)
{
    char found[DP_FOUND_BYTES];
    if (status == DP_LIT_MEMORY)
        return fail_memory(in);
    in->r->at = start;
    if (status != DP_LIT_RANGE)
        return fail_expected(in, what_is(s));
    dp_describe(found, in->r->text + start, in->r->n - start);
    return dp_error_at(in->error, in->r->path, in->r->text, start, "%s is out of the range of %s", found,
                       dp_scalar_name(s));
}

/* 'c' as a u8. */
static bool read_character(TextIn *in, uint64_t *bits)
{
    DpReader *r = in->r;
    size_t at = r->at + 1;
    uint8_t byte = 0;
    const char *wrong = at < r->n && r->text[at] == '\'' ? "a character is missing between the quotes"
                                                         : dp_parse_character(r->text, r->n, &at, &byte);
    if (!wrong && (at >= r->n || r->text[at] != '\''))
        wrong = "a character is one byte (u8); a string has room for more";
    if (wrong)
        return fail(in, wrong);
    r->at = at + 1;
    *bits = byte;
    return true;
}

static bool read_number(TextIn *in, DpScalar s, uint64_t *bits)
{
    size_t start = in->r->at;
    bool negative = take(in, '-');
    if (negative)
        dp_skip_space(in->r);
    size_t n = number_length(in->r);
    DpLiteral status = dp_parse_number(in->r->text + in->r->at, n, negative, s, bits);
    if (status)
        return fail_number(in, status, s, start);
    in->r->at += n;
    return true;
}

static bool read_bits(TextIn *in, DpScalar s, uint64_t *bits)
{
    if (s == DP_BOOL) {
        *bits = take_word(in, "true");
        return *bits || take_word(in, "false") || fail_expected(in, what_is(s));
    }
    if (s == DP_U8 && peek(in->r) == '\'')
        return read_character(in, bits);
    return read_number(in, s, bits);
}

static bool add_bits(TextIn *in, uint32_t leaf, uint64_t bits)
{
    return dp_build_scalar(&in->builders[leaf], bits) || fail_memory(in);
}

/* ---- composite values. `leaf` is the first leaf of the value and moves behind its last one; `level` is how
 * many sequences are open around it ---- */

static bool read_value(TextIn *in, const DpType *t, uint32_t *leaf, uint32_t level);

static bool read_tuple(TextIn *in, const DpType *t, uint32_t *leaf, uint32_t level)
{
    if (!expect(in, '('))
        return false;
    if (t->n == 0)
        return expect(in, ')') && add_bits(in, (*leaf)++, 0);
    for (uint32_t i = 0; i < t->n; i++) {
        if (i > 0 && !expect(in, ','))
            return false;
        if (!read_value(in, t->items[i], leaf, level))
            return false;
    }
    take(in, ',');
    return expect(in, ')');
}

/* The position of the name at the reader among t's; t->n if it is none of them. */
static uint32_t take_item_name(TextIn *in, const DpType *t)
{
    uint32_t i = 0;
    while (i < t->n && !take_word(in, t->names[i]))
        i++;
    return i;
}

static bool read_field(TextIn *in, const DpType *t, bool *seen, uint32_t first, uint32_t level)
{
    dp_skip_space(in->r);
    size_t start = in->r->at;
    uint32_t i = take_item_name(in, t);
    if (i == t->n)
        return fail_expected(in, "the name of a field");
    if (seen[i])
        return dp_error_at(in->error, in->r->path, in->r->text, start, "the field %s stands twice", t->names[i]);
    seen[i] = true;
    uint32_t leaf = first + dp_type_leaves_before(t, i);
    return expect(in, '=') && read_value(in, t->items[i], &leaf, level);
}

static bool read_fields(TextIn *in, const DpType *t, bool *seen, uint32_t first, uint32_t level)
{
    bool comma = true;
    while (!take(in, '}')) {
        if (!comma)
            return fail_expected(in, "}");
        if (!read_field(in, t, seen, first, level))
            return false;
        comma = take(in, ',');
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (!seen[i])
            return dp_error_at(in->error, in->r->path, in->r->text, in->r->at - 1, "the field %s is missing",
                               t->names[i]);
    return true;
}

static bool read_record(TextIn *in, const DpType *t, uint32_t *leaf, uint32_t level)
{
    if (!expect(in, '{'))
        return false;
    bool *seen = calloc((size_t)t->n + 1, sizeof *seen);
    bool ok = seen ? read_fields(in, t, seen, *leaf, level) : fail_memory(in);
    free(seen);
    if (t->n == 0)
        return ok && add_bits(in, (*leaf)++, 0);
    *leaf += dp_type_leaves(t);
    return ok;
}

static bool read_sum(TextIn *in, const DpType *t, uint32_t *leaf, uint32_t level)
{
    if (peek(in->r) != '#')
        return fail_expected(in, "a constructor");
    size_t start = in->r->at++;
    uint32_t tag = take_item_name(in, t);
    if (tag == t->n) {
        in->r->at = start;
        return fail_expected(in, "a constructor of the type");
    }
    if (!add_bits(in, (*leaf)++, tag))
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->items[i])
            continue;
        if (i == tag ? !read_value(in, t->items[i], leaf, level)
                     : !dp_build_nothing(in->builders, t->items[i], leaf, level) && !fail_memory(in))
            return false;
    }
    return true;
}

static bool read_string(TextIn *in, uint32_t leaf, uint64_t *count)
{
    DpReader *r = in->r;
    r->at++;
    while (peek(r) != '"') {
        uint8_t byte = 0;
        const char *wrong = dp_parse_character(r->text, r->n, &r->at, &byte);
        if (wrong)
            return fail(in, wrong);
        if (!add_bits(in, leaf, byte))
            return false;
        ++*count;
    }
    r->at++;
    return true;
}

static bool read_elements(TextIn *in, const DpType *element, uint32_t first, uint32_t level, uint64_t *count)
{
    if (!expect(in, '['))
        return false;
    while (!take(in, ']')) {
        uint32_t leaf = first;
        if (!read_value(in, element, &leaf, level))
            return false;
        ++*count;
        if (take(in, ','))
            continue;
        return take(in, ']') || fail_expected(in, "]");
    }
    return true;
}

static bool read_array(TextIn *in, const DpType *t, uint32_t *leaf, uint32_t level)
{
    uint32_t first = *leaf;
    uint64_t slot, count = 0;
    if (!dp_build_begin_array(in->builders, t, first, level, &slot))
        return fail_memory(in);
    bool is_string = dp_type_is_string(t) && peek(in->r) == '"';
    if (!(is_string ? read_string(in, first, &count) : read_elements(in, t->element, first, level + 1, &count)))
        return false;
    dp_build_end_array(in->builders, t, first, level, slot, count);
    *leaf = first + dp_type_leaves(t);
    return true;
}

static bool read_bare(TextIn *in, const DpType *t, uint32_t *leaf, uint32_t level)
{
    uint64_t bits;
    switch (t->kind) {
    case DP_T_SCALAR: return read_bits(in, t->scalar, &bits) && add_bits(in, (*leaf)++, bits);
    case DP_T_TUPLE: return read_tuple(in, t, leaf, level);
    case DP_T_RECORD: return read_record(in, t, leaf, level);
    case DP_T_SUM: return read_sum(in, t, leaf, level);
    case DP_T_ARRAY: return read_array(in, t, leaf, level);
    }
    return false;
}

/* A value, perhaps in parentheses: `#some (-3)` is how the language writes it. Tuples stand in their own only. */
static bool read_value(TextIn *in, const DpType *t, uint32_t *leaf, uint32_t level)
{
    uint64_t parens = 0;
    if (t->kind != DP_T_TUPLE)
        while (take(in, '('))
            parens++;
    dp_skip_space(in->r);
    if (!read_bare(in, t, leaf, level))
        return false;
    for (; parens > 0; parens--)
        if (!expect(in, ')'))
            return false;
    return true;
}

/* Values stand apart: `12` is one value, never `1` and `2`, nor is `1"a"` two. */
static bool ends_cleanly(TextIn *in)
{
    int c = peek(in->r);
    bool adjacent = is_word_byte(c) || c == '.' || c == '"';
    return !adjacent || fail_expected(in, "white space behind the value");
}

bool dp_read_text(DpReader *r, const DpType *t, DpLeaf *leaves, char *error, size_t error_bytes)
{
    uint32_t n = dp_type_leaves(t), leaf = 0;
    TextIn in = {r, calloc(n, sizeof(DpBuilder)), {error, error_bytes, NULL}};
    dp_leaves_init(leaves, t);
    for (uint32_t i = 0; in.builders && i < n; i++)
        in.builders[i].leaf = &leaves[i];
    dp_skip_space(r);
    bool ok = in.builders ? read_value(&in, t, &leaf, 0) && ends_cleanly(&in) : fail_memory(&in);
    free(in.builders);
    if (!ok)
        dp_leaves_free(leaves, n);
    return ok;
}
