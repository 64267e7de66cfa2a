/* Reading JSON (.json, RFC 8259), directed by the wanted type and straight into leaves: no tree of the file is made, so
 * numbers keep all their digits and messages their places. The recursion is as deep as the type; values that are not
 * wanted are skipped with a stack of bits. text_write.c writes it.
 *
 *     {"name": "mouse", "size": 0.07, "tags": ["small", "grey"], "owner": "#none", "shape": {"#box": [2, 3]}}
 */
#include "values.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 256, MOST_IGNORED = 8, IGNORED_BYTES = 64, MOST_DEPTH = 4096 };

typedef struct Json {
    const char *path, *text;
    size_t n, at;
    DpBuilder *builders;
    DpError error;
    char ignored[MOST_IGNORED][IGNORED_BYTES]; /* the names of fields that the type does not have */
    uint32_t nignored;
} Json;

/* ---- characters ---- */

static void skip_space(Json *j)
{
    while (j->at < j->n && memchr(" \t\r\n", j->text[j->at], 4))
        j->at++;
}

/* Behind white space; -1 at the end. */
static int peek(Json *j)
{
    skip_space(j);
    return j->at < j->n ? (unsigned char)j->text[j->at] : -1;
}

static bool take(Json *j, char c)
{
    if (peek(j) != (unsigned char)c)
        return false;
    j->at++;
    return true;
}

static bool fail_at(Json *j, size_t at, const char *what)
{
    return dp_error_at(j->error, j->path, j->text, at, "%s", what);
}

static bool fail_expected(Json *j, const char *what)
{
    char found[DP_FOUND_BYTES];
    skip_space(j);
    dp_describe(found, j->text + j->at, j->n - j->at);
    return dp_error_at(j->error, j->path, j->text, j->at, "expected %s, found %s", what, found);
}

static bool fail_memory(Json *j) { return dp_error_memory(j->error, j->path); }

static bool expect(Json *j, char c)
{
    char what[2] = {c, '\0'};
    return take(j, c) || fail_expected(j, what);
}

static bool take_word(Json *j, const char *word)
{
    size_t n = strlen(word);
    skip_space(j);
    if (j->n - j->at < n || memcmp(j->text + j->at, word, n) != 0)
        return false;
    j->at += n;
    return true;
}

/* ---- strings ---- */

static bool take_hexadecimal(Json *j, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        char c = j->at < j->n ? j->text[j->at] : '\0', lower = (char)(c | 0x20);
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(lower >= 'a' && lower <= 'f'))
            return fail_at(j, j->at, "`\\u` takes four hexadecimal digits");
        *code = *code * 16 + (uint32_t)(digit ? c - '0' : lower - 'a' + 10);
    }
    return true;
}

/* Behind `\u`. Characters beyond 16 bits are pairs of surrogates. */
static bool take_code(Json *j, uint32_t *code)
{
    size_t start = j->at - 2;
    uint32_t low;
    if (!take_hexadecimal(j, code))
        return false;
    if (*code < 0xd800 || *code > 0xdfff)
        return true;
    bool pair = *code < 0xdc00 && j->n - j->at >= 2 && memcmp(j->text + j->at, "\\u", 2) == 0;
    j->at += pair ? 2 : 0;
    if (pair && !take_hexadecimal(j, &low))
        return false;
    if (!pair || low < 0xdc00 || low > 0xdfff)
        return fail_at(j, start, "half of a pair of surrogates stands alone");
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static size_t encode_utf8(uint32_t code, uint8_t out[4])
{
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (uint8_t)(0x80 | (code & 0x3f));
    out[0] = (uint8_t)(marks[n] | code);
    return n;
}

/* One character of a string, as 1 to 4 bytes. */
static bool take_character(Json *j, uint8_t out[4], size_t *n)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    size_t start = j->at;
    char c = j->at < j->n ? j->text[j->at++] : '\0';
    *n = 1;
    out[0] = (uint8_t)c;
    if (c != '\\' && (uint8_t)c < 0x20)
        return fail_at(j, start,
                       start == j->n ? "the closing quote is missing"
                                     : "a control character in a string has to be an escape");
    if (c != '\\')
        return true;
    c = j->at < j->n ? j->text[j->at++] : '\0';
    const char *found = c ? strchr(letters, c) : NULL;
    uint32_t code = 0;
    if (found)
        out[0] = (uint8_t)values[found - letters];
    else if (c != 'u')
        return fail_at(j, start, "unknown escape");
    else if (!take_code(j, &code))
        return false;
    else
        *n = encode_utf8(code, out);
    return true;
}

/* A string's bytes go to the builder, or nowhere if that is NULL. */
static bool read_string(Json *j, DpBuilder *to, uint64_t *count)
{
    j->at++;
    while (j->at >= j->n || j->text[j->at] != '"') {
        uint8_t bytes[4];
        size_t n;
        if (!take_character(j, bytes, &n))
            return false;
        for (size_t i = 0; to && i < n; i++)
            if (!dp_build_scalar(to, bytes[i]))
                return fail_memory(j);
        *count += n;
    }
    j->at++;
    return true;
}

/* A string as a word of the type; those that are too long for one are cut. */
static bool read_key(Json *j, char key[KEY_BYTES])
{
    size_t used = 0;
    if (peek(j) != '"')
        return fail_expected(j, "a string in double quotes");
    j->at++;
    while (j->at >= j->n || j->text[j->at] != '"') {
        uint8_t bytes[4];
        size_t n;
        if (!take_character(j, bytes, &n))
            return false;
        for (size_t i = 0; i < n && used < KEY_BYTES - 1; i++)
            key[used++] = (char)(bytes[i] ? bytes[i] : 0xff); /* no name has a 0 */
    }
    j->at++;
    key[used] = '\0';
    return true;
}

static uint32_t find_name(const DpType *t, const char *name)
{
    uint32_t i = 0;
    while (i < t->n && strcmp(t->names[i], name) != 0)
        i++;
    return i;
}

/* ---- scalars ---- */

static size_t skip_digits(const Json *j, size_t at)
{
    while (at < j->n && j->text[at] >= '0' && j->text[at] <= '9')
        at++;
    return at;
}

/* The length of the number behind the reader: RFC 8259's, 0 if there is none. */
static size_t number_length(const Json *j)
{
    size_t start = j->at + (j->at < j->n && j->text[j->at] == '-'), at = skip_digits(j, start);
    if (at == start || (j->text[start] == '0' && at > start + 1))
        return 0;
    if (at < j->n && j->text[at] == '.') {
        size_t end = skip_digits(j, at + 1);
        if (end == at + 1)
            return 0;
        at = end;
    }
    if (at < j->n && (j->text[at] | 0x20) == 'e') {
        size_t digits = at + 1 + (at + 1 < j->n && (j->text[at + 1] == '+' || j->text[at + 1] == '-'));
        size_t end = skip_digits(j, digits);
        if (end == digits)
            return 0;
        at = end;
    }
    return at - j->at;
}

/* JSON has no such numbers: "nan", "inf" and "-inf" are this language's way to write them, the others Python's. */
static bool take_special(Json *j, uint64_t *bits, DpScalar s)
{
    static const struct {
        const char *text, *literal;
        bool negative;
    } words[] = {{"\"nan\"", "nan", false}, {"\"inf\"", "inf", false},  {"\"-inf\"", "inf", true},
                 {"NaN", "nan", false},     {"Infinity", "inf", false}, {"-Infinity", "inf", true}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take_word(j, words[i].text))
            return dp_parse_number(words[i].literal, 3, words[i].negative, s, bits) == DP_LIT_OK;
    return false;
}

static bool read_number(Json *j, DpScalar s, uint64_t *bits)
{
    char what[32], found[DP_FOUND_BYTES];
    snprintf(what, sizeof what, "a number of type %s", dp_scalar_name(s));
    skip_space(j);
    if (dp_scalar_is_float(s) && take_special(j, bits, s))
        return true;
    size_t n = number_length(j), sign = n > 0 && j->text[j->at] == '-';
    DpLiteral status = n ? dp_parse_number(j->text + j->at + sign, n - sign, sign, s, bits) : DP_LIT_MALFORMED;
    if (status == DP_LIT_MEMORY)
        return fail_memory(j);
    if (status == DP_LIT_RANGE) {
        dp_describe(found, j->text + j->at, n);
        return dp_error_at(j->error, j->path, j->text, j->at, "%s is out of the range of %s", found, dp_scalar_name(s));
    }
    if (status != DP_LIT_OK)
        return fail_expected(j, what);
    j->at += n;
    return true;
}

static bool read_scalar(Json *j, DpScalar s, uint32_t leaf)
{
    uint64_t bits;
    if (s == DP_BOOL) {
        bits = take_word(j, "true");
        if (!bits && !take_word(j, "false"))
            return fail_expected(j, "true or false");
    } else if (!read_number(j, s, &bits)) {
        return false;
    }
    return dp_build_scalar(&j->builders[leaf], bits) || fail_memory(j);
}

/* ---- what is not wanted ---- */

static bool skip_scalar(Json *j)
{
    uint64_t count = 0;
    if (peek(j) == '"')
        return read_string(j, NULL, &count);
    if (take_word(j, "true") || take_word(j, "false") || take_word(j, "null") || take_word(j, "NaN") ||
        take_word(j, "Infinity") || take_word(j, "-Infinity"))
        return true;
    size_t n = number_length(j);
    j->at += n;
    return n > 0 || fail_expected(j, "a value");
}

typedef struct Open {
    uint8_t is_object[MOST_DEPTH / 8];
    uint32_t n;
} Open;

/* Something is open. */
static bool in_object(const Open *o) { return o->is_object[(o->n - 1) / 8] >> (o->n - 1) % 8 & 1; }

static bool skip_key(Json *j, const Open *o)
{
    char key[KEY_BYTES];
    return !in_object(o) || (read_key(j, key) && expect(j, ':'));
}

/* An opening bracket, and the key behind it; *closed if nothing stands in it. */
static bool skip_open(Json *j, Open *o, bool *closed)
{
    bool object = j->text[j->at] == '{';
    if (o->n == MOST_DEPTH)
        return fail_at(j, j->at, "the values are nested too deep");
    uint8_t bit = (uint8_t)(1u << o->n % 8), *byte = &o->is_object[o->n / 8];
    *byte = (uint8_t)(object ? *byte | bit : *byte & ~bit);
    j->at++;
    o->n++;
    *closed = take(j, object ? '}' : ']');
    if (*closed)
        o->n--;
    return *closed || skip_key(j, o);
}

/* Behind a value: commas and closing brackets. *done: the outermost one is closed. */
static bool skip_behind(Json *j, Open *o, bool *done)
{
    while (o->n > 0) {
        if (take(j, ','))
            return skip_key(j, o);
        if (!expect(j, in_object(o) ? '}' : ']'))
            return false;
        o->n--;
    }
    *done = true;
    return true;
}

static bool skip_value(Json *j)
{
    Open open = {.n = 0};
    bool done = false;
    while (!done) {
        int c = peek(j);
        bool complete = c != '{' && c != '[';
        if (!(complete ? skip_scalar(j) : skip_open(j, &open, &complete)) ||
            (complete && !skip_behind(j, &open, &done)))
            return false;
    }
    return true;
}

static void note_ignored(Json *j, const char *key)
{
    for (uint32_t i = 0; i < j->nignored; i++)
        if (strncmp(j->ignored[i], key, IGNORED_BYTES - 1) == 0)
            return;
    if (j->nignored < MOST_IGNORED) /* a note names the first few */
        snprintf(j->ignored[j->nignored++], IGNORED_BYTES, "%.*s", IGNORED_BYTES - 1, key);
}

static void write_notes(Json *j)
{
    for (uint32_t i = 0; i < j->nignored; i++)
        dp_note(j->error, j->path, "the field %s is not read", j->ignored[i]);
}

/* ---- composite values: `leaf` and `level` as in text_read.c ---- */

static bool read_value(Json *j, const DpType *t, uint32_t *leaf, uint32_t level);

static bool read_tuple(Json *j, const DpType *t, uint32_t *leaf, uint32_t level)
{
    if (!expect(j, '['))
        return false;
    if (t->n == 0 && !dp_build_scalar(&j->builders[(*leaf)++], 0))
        return fail_memory(j);
    for (uint32_t i = 0; i < t->n; i++)
        if ((i > 0 && !expect(j, ',')) || !read_value(j, t->items[i], leaf, level))
            return false;
    return expect(j, ']');
}

static bool read_field(Json *j, const DpType *t, bool *seen, uint32_t first, uint32_t level)
{
    char key[KEY_BYTES];
    skip_space(j);
    size_t start = j->at;
    if (!read_key(j, key) || !expect(j, ':'))
        return false;
    uint32_t i = find_name(t, key);
    if (i == t->n) {
        note_ignored(j, key);
        return skip_value(j);
    }
    if (seen[i])
        return dp_error_at(j->error, j->path, j->text, start, "the field %s stands twice", t->names[i]);
    seen[i] = true;
    uint32_t leaf = first + dp_type_leaves_before(t, i);
    return read_value(j, t->items[i], &leaf, level);
}

static bool read_payloads(Json *j, const DpType *t, uint32_t tag, uint32_t *leaf, uint32_t level);

static bool read_fields(Json *j, const DpType *t, bool *seen, uint32_t first, uint32_t level)
{
    bool closed = take(j, '}');
    while (!closed) {
        if (!read_field(j, t, seen, first, level))
            return false;
        closed = take(j, '}');
        if (!closed && !take(j, ','))
            return fail_expected(j, "} or a comma");
    }
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t none, some, leaf = first + dp_type_leaves_before(t, i);
        if (seen[i])
            continue;
        if (!dp_type_is_option(t->items[i], &none, &some))
            return dp_error_at(j->error, j->path, j->text, j->at - 1, "the field %s is missing", t->names[i]);
        if (!read_payloads(j, t->items[i], none, &leaf, level))
            return false;
    }
    return true;
}

static bool read_record(Json *j, const DpType *t, uint32_t *leaf, uint32_t level)
{
    if (!expect(j, '{'))
        return false;
    bool *seen = calloc((size_t)t->n + 1, sizeof *seen);
    bool ok = seen ? read_fields(j, t, seen, *leaf, level) : fail_memory(j);
    free(seen);
    if (ok && t->n == 0 && !dp_build_scalar(&j->builders[*leaf], 0))
        return fail_memory(j);
    *leaf += dp_type_leaves(t);
    return ok;
}

/* The tag, and the payloads: that of the constructor is read, the others are not there. */
static bool read_payloads(Json *j, const DpType *t, uint32_t tag, uint32_t *leaf, uint32_t level)
{
    if (!dp_build_scalar(&j->builders[(*leaf)++], tag))
        return fail_memory(j);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->items[i])
            continue;
        if (i == tag ? !read_value(j, t->items[i], leaf, level)
                     : !dp_build_nothing(j->builders, t->items[i], leaf, level) && !fail_memory(j))
            return false;
    }
    return true;
}

/* "#name" at the reader, a constructor with a payload or without? Else the reader stays. */
static bool take_constructor(Json *j, const DpType *t, bool payload, uint32_t *tag)
{
    char key[KEY_BYTES];
    size_t start = j->at;
    if (peek(j) != '"' || j->n - j->at < 2 || j->text[j->at + 1] != '#')
        return false;
    if (read_key(j, key) && (*tag = find_name(t, key + 1)) < t->n && !t->items[*tag] == !payload)
        return true;
    j->at = start;
    return false;
}

static bool take_tagged(Json *j, const DpType *t, uint32_t *tag)
{
    size_t start = j->at;
    if (take(j, '{') && take_constructor(j, t, true, tag) && take(j, ':'))
        return true;
    j->at = start;
    return false;
}

static bool read_sum(Json *j, const DpType *t, uint32_t *leaf, uint32_t level)
{
    uint32_t tag, none, some;
    skip_space(j);
    if (take_constructor(j, t, false, &tag))
        return read_payloads(j, t, tag, leaf, level);
    if (take_tagged(j, t, &tag))
        return read_payloads(j, t, tag, leaf, level) && expect(j, '}');
    if (!dp_type_is_option(t, &none, &some))
        return fail_expected(j, "a constructor of the type: \"#name\", or {\"#name\": …} with its payload");
    return read_payloads(j, t, take_word(j, "null") ? none : some, leaf, level);
}

static bool read_elements(Json *j, const DpType *element, uint32_t first, uint32_t level, uint64_t *count)
{
    if (!expect(j, '['))
        return false;
    if (take(j, ']'))
        return true;
    do {
        uint32_t leaf = first;
        if (!read_value(j, element, &leaf, level))
            return false;
        ++*count;
    } while (take(j, ','));
    return take(j, ']') || fail_expected(j, "] or a comma");
}

static bool read_array(Json *j, const DpType *t, uint32_t *leaf, uint32_t level)
{
    uint32_t first = *leaf;
    uint64_t slot, count = 0;
    if (!dp_build_begin_array(j->builders, t, first, level, &slot))
        return fail_memory(j);
    bool is_string = dp_type_is_string(t) && peek(j) == '"';
    if (!(is_string ? read_string(j, &j->builders[first], &count)
                    : read_elements(j, t->element, first, level + 1, &count)))
        return false;
    dp_build_end_array(j->builders, t, first, level, slot, count);
    *leaf = first + dp_type_leaves(t);
    return true;
}

static bool read_value(Json *j, const DpType *t, uint32_t *leaf, uint32_t level)
{
    switch (t->kind) {
    case DP_T_SCALAR: return read_scalar(j, t->scalar, (*leaf)++);
    case DP_T_TUPLE: return read_tuple(j, t, leaf, level);
    case DP_T_RECORD: return read_record(j, t, leaf, level);
    case DP_T_SUM: return read_sum(j, t, leaf, level);
    case DP_T_ARRAY: return read_array(j, t, leaf, level);
    }
    return false;
}

bool dp_read_json(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    uint32_t nleaves = dp_type_leaves(t), leaf = 0;
    Json j = {.path = path, .text = bytes, .n = n, .error = e};
    if (!dp_text_begin(path, bytes, n, &j.at, e))
        return false;
    dp_leaves_init(leaves, t);
    j.builders = calloc(nleaves, sizeof *j.builders);
    for (uint32_t i = 0; j.builders && i < nleaves; i++)
        j.builders[i].leaf = &leaves[i];
    bool ok = j.builders ? read_value(&j, t, &leaf, 0) : fail_memory(&j);
    ok = ok && (peek(&j) < 0 || fail_expected(&j, "the end of the input"));
    free(j.builders);
    if (ok)
        write_notes(&j);
    else
        dp_leaves_free(leaves, nleaves);
    return ok;
}
