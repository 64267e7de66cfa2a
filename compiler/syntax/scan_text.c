/* The scanner's helpers: literals, documentation comments, the stack of open brackets. */
#include "support/utf8.h"
#include "syntax/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static const char *const suffix_names[] = {"", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};

/* The suffix at the end of a number, and its length in *n reduced by it. Digits of hexadecimal
 * numbers are letters too, so `f32` is none of theirs. */
static Suffix take_suffix(const char *text, uint32_t *n, bool is_hexadecimal)
{
    for (Suffix s = SUFFIX_I8; s <= SUFFIX_F64; s++) {
        uint32_t length = (uint32_t)strlen(suffix_names[s]);
        if (is_hexadecimal && s >= SUFFIX_F32)
            continue;
        if (*n > length && memcmp(text + *n - length, suffix_names[s], length) == 0) {
            *n -= length;
            return s;
        }
    }
    return SUFFIX_NONE;
}

static uint64_t digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (uint64_t)(c - '0');
    return (uint64_t)((c | 0x20) - 'a') + 10;
}

Expr *scan_integer(ParseState *p, Span at, const char *text, uint32_t n)
{
    bool has_base = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b');
    uint64_t base = !has_base ? 10 : text[1] == 'x' ? 16 : 2;
    Suffix suffix = take_suffix(text, &n, base == 16);
    uint64_t value = 0;
    bool fits = true;
    for (uint32_t i = has_base ? 2 : 0; i < n; i++) {
        if (text[i] == '_')
            continue;
        uint64_t digit = digit_value(text[i]);
        if (value > (UINT64_MAX - digit) / base)
            fits = false;
        value = value * base + digit;
    }
    if (!fits) {
        diag_error(p->session, at, DIAG_LITERAL_RANGE,
                   "the literal is larger than every integer type: u64 goes to 18446744073709551615");
        value = 0;
    }
    Expr *e = build_expr(p, at, (Expr){.kind = E_INT, .integer = {value, false, suffix}});
    vec_push(p->session->arena, &p->literals, e);
    return e;
}

Expr *scan_float(ParseState *p, Span at, const char *text, uint32_t n)
{
    Suffix suffix = take_suffix(text, &n, false);
    char *digits = arena_alloc(p->session->arena, (size_t)n + 1);
    uint32_t length = 0;
    for (uint32_t i = 0; i < n; i++)
        if (text[i] != '_')
            digits[length++] = text[i];
    double value = strtod(digits, NULL);
    if (isinf(value) || (suffix == SUFFIX_F32 && isinf(strtof(digits, NULL))))
        diag_error(p->session, at, DIAG_LITERAL_RANGE, "the literal is larger than every number of type %s",
                   suffix == SUFFIX_F32 ? "f32" : "f64");
    return build_expr(p, at, (Expr){.kind = E_FLOAT, .floating = {value, digits, suffix}});
}

/* What stands in for a token that was reported; `text` and `n` make the three alike for the scanner. */
Expr *scan_malformed(ParseState *p, Span at, const char *text, uint32_t n)
{
    (void)text, (void)n;
    return build_expr(p, at, (Expr){.kind = E_INT});
}

Expr *scan_malformed_string(ParseState *p, Span at, const char *text, uint32_t n)
{
    const uint8_t *copy = (const uint8_t *)arena_strndup(p->session->arena, text, n);
    return build_expr(p, at, (Expr){.kind = E_STRING, .string = {copy, n}});
}

uint32_t scan_projection(ParseState *p, Span at, const char *text, uint32_t n)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < n; i++) {
        index = index * 10 + (uint32_t)digit_value(text[i]);
        if (index < 1000000)
            continue;
        diag_error(p->session, at, DIAG_TUPLE_ARITY, "there is no tuple with so many components");
        return 0;
    }
    return index;
}

/* ---- characters and strings ---- */

static Span part_of(Span at, uint32_t from, uint32_t to) { return span_make(at.file, at.start + from, at.start + to); }

static bool is_octal(char c) { return c >= '0' && c <= '7'; }
static bool is_hexadecimal(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int simple_escape(char c)
{
    static const char letters[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
    const char *found = c ? strchr(letters, c) : NULL;
    return found ? values[found - letters] : -1;
}

/* \101: one to three octal digits, as in C. */
static uint8_t octal_escape(ParseState *p, Span at, const char *text, uint32_t n, uint32_t *i)
{
    uint32_t from = *i, value = 0;
    for ((*i)++; *i < n && *i < from + 4 && is_octal(text[*i]); (*i)++)
        value = value * 8 + (uint32_t)digit_value(text[*i]);
    if (value > 255)
        diag_error(p->session, part_of(at, from, *i), DIAG_ESCAPE, "the escape is larger than a byte");
    return (uint8_t)value;
}

/* The byte that the escape at text[*i] stands for; moves *i behind it. */
static uint8_t read_escape(ParseState *p, Span at, const char *text, uint32_t n, uint32_t *i)
{
    uint32_t from = *i;
    char c = from + 1 < n ? text[from + 1] : '\0';
    if (is_octal(c))
        return octal_escape(p, at, text, n, i);
    if (c == 'x') {
        *i = from + 2;
        while (*i < n && *i < from + 4 && is_hexadecimal(text[*i]))
            (*i)++;
        if (*i == from + 4)
            return (uint8_t)(digit_value(text[from + 2]) * 16 + digit_value(text[from + 3]));
        diag_error(p->session, part_of(at, from, *i), DIAG_ESCAPE, "`\\x` takes two hexadecimal digits");
        return 0;
    }
    *i = from + 2 < n ? from + 2 : n;
    int value = simple_escape(c);
    if (value < 0)
        diag_error(p->session, part_of(at, from, *i), DIAG_ESCAPE, "unknown escape");
    return value < 0 ? 0 : (uint8_t)value;
}

/* Source text is UTF-8; other bytes, and control characters, are written as escapes. */
static uint32_t check_plain(ParseState *p, Span at, const char *text, uint32_t n, uint32_t i)
{
    uint32_t code = 0;
    uint32_t length = (uint32_t)utf8_decode(text + i, n - i, &code);
    if (length && (code >= 0x20 || code == '\t'))
        return length;
    diag_error(p->session, part_of(at, i, i + 1), DIAG_CHARACTER, "a byte that is no text: write `\\x%02x`",
               (unsigned)(unsigned char)text[i]);
    return 1;
}

Expr *scan_string(ParseState *p, Span at, const char *text, uint32_t n)
{
    uint8_t *bytes = arena_alloc(p->session->arena, n);
    uint32_t length = 0, end = n - 1;
    for (uint32_t i = 1; i < end;) {
        if (text[i] == '\\') {
            bytes[length++] = read_escape(p, at, text, end, &i);
            continue;
        }
        uint32_t step = check_plain(p, at, text, end, i);
        memcpy(bytes + length, text + i, step);
        length += step;
        i += step;
    }
    return build_expr(p, at, (Expr){.kind = E_STRING, .string = {bytes, length}});
}

Expr *scan_character(ParseState *p, Span at, const char *text, uint32_t n)
{
    uint32_t i = 1, end = n - 1;
    uint8_t value = (uint8_t)text[1];
    if (n == 2) {
        diag_error(p->session, at, DIAG_CHAR_TOO_LONG, "a character is missing between the quotes");
        return build_expr(p, at, (Expr){.kind = E_CHAR});
    }
    if (text[1] == '\\')
        value = read_escape(p, at, text, end, &i);
    else
        i += check_plain(p, at, text, end, i);
    bool is_one_byte = i == end && (text[1] == '\\' || i == 2);
    if (!is_one_byte)
        diag_error(p->session, at, DIAG_CHAR_TOO_LONG, "a character is one byte (u8); a string has room for more");
    if (!is_one_byte && !memchr(text, '"', n))
        diag_note(p->session, at, "a string stands between double quotes: `\"%.*s\"`", (int)(n - 2), text + 1);
    return build_expr(p, at, (Expr){.kind = E_CHAR, .character = value});
}

/* ---- documentation ---- */

static void add_doc_line(ParseState *p, const char *text, uint32_t n)
{
    while (n && (text[n - 1] == '\r' || text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    if (n && text[0] == ' ')
        text++, n--;
    if (p->has_doc)
        strbuf_add(&p->doc, "\n");
    strbuf_addn(&p->doc, text, n);
    p->has_doc = true;
}

/* Whether only the end of a line and blanks separate a comment from the documentation above. */
static bool continues_doc(ParseState *p, Span at)
{
    if (!p->has_doc || p->doc_closed)
        return false;
    const char *text = p->session->files.at[at.file]->text;
    uint32_t newlines = 0;
    for (uint32_t i = p->doc_line_end; i < at.start; i++)
        newlines += text[i] == '\n';
    p->doc_closed = newlines != 1;
    return !p->doc_closed;
}

void scan_comment(ParseState *p, Span at, const char *text, uint32_t n)
{
    bool continues = continues_doc(p, at);
    bool is_doc = n > 2 && text[2] == '|';
    if (!is_doc && !continues)
        return;
    if (!continues)
        scan_forget_doc(p);
    uint32_t skip = is_doc ? 3 : 2;
    add_doc_line(p, text + skip, n - skip);
    p->doc_line_end = at.end;
}

const char *scan_take_doc(ParseState *p)
{
    if (!p->has_doc)
        return NULL;
    const char *doc = arena_strndup(p->session->arena, p->doc.text, p->doc.n);
    scan_forget_doc(p);
    return doc;
}

void scan_forget_doc(ParseState *p)
{
    p->has_doc = false;
    p->doc_closed = false;
    p->doc.n = 0;
}

/* ---- brackets ---- */

static uint32_t *open_count(ParseState *p, char open) { return &p->open_counts[open == '(' ? 0 : open == '[' ? 1 : 2]; }

void scan_open(ParseState *p, char open, uint32_t at)
{
    vec_push(p->session->arena, &p->brackets, ((Bracket){open, at, p->words.n}));
    ++*open_count(p, open);
}

/* A bracket that closes nothing is the parser's to report. Where it closes an outer one, what is open
 * inside is forgotten, so that the text behind is read in the right state. */
void scan_close(ParseState *p, char open)
{
    p->mismatched = p->brackets.n && p->brackets.at[p->brackets.n - 1].open != open;
    p->closed_nothing = p->brackets.n == 0;
    if (p->mismatched)
        p->unclosed = p->brackets.at[p->brackets.n - 1];
    if (*open_count(p, open) == 0)
        return;
    for (char top = '\0'; top != open;) {
        top = p->brackets.at[--p->brackets.n].open;
        p->words.n = p->brackets.at[p->brackets.n].open_words;
        --*open_count(p, top);
    }
}

/* Not between a `let` and its `in`, an `if` and its `else`, a `loop` and its `do`, behind which the braces go on. */
bool scan_inside_braces(const ParseState *p)
{
    const Bracket *top = p->brackets.n ? &p->brackets.at[p->brackets.n - 1] : NULL;
    return top && top->open == '{' && p->words.n == top->open_words;
}

/* `def` and its like are reserved and stand at top level only. */
void scan_begin_definition(ParseState *p)
{
    p->has_unclosed = p->brackets.n > 0;
    if (p->has_unclosed)
        p->unclosed = p->brackets.at[p->brackets.n - 1];
    p->brackets.n = 0;
    memset(p->open_counts, 0, sizeof p->open_counts);
}

/* ---- what is no token ---- */

/* Characters that mean something in other languages, and what word processors make of ASCII. */
static const char *stray_advice(uint32_t code)
{
    switch (code) {
    case '?': return "a choice is written `if c then a else b`";
    case '$': return "`f <| x` applies a function to all that follows";
    case '@': return "there is no `@`: sequences are joined by `++`, and no pattern names the whole";
    case '`': return "functions stand in front of their arguments: `f x y`";
    case '#': return "a comment begins with `--`";
    case 0xa0: return "this looks like a space, but is another character: write a plain space";
    case 0x201c:
    case 0x201d: return "a string stands between plain quotes: `\"`";
    case 0x2018:
    case 0x2019: return "a character stands between plain quotes: `'`";
    case 0x2212:
    case 0x2013:
    case 0x2014: return "write `-`";
    case 0x2192: return "write `->`";
    case 0x2190: return "write `=` in a `let`, `in` in an apply-to-each";
    case 0x3bb: return "a function is written `\\x -> e`";
    case 0xd7: return "write `*`";
    case 0xf7: return "write `/`";
    case 0x2264: return "write `<=`";
    case 0x2265: return "write `>=`";
    case 0x2260: return "write `!=`";
    default: return NULL;
    }
}

static void report_malformed_number(ParseState *p, Span at)
{
    diag_error(p->session, at, DIAG_MALFORMED_NUMBER, "malformed number");
    diag_note(p->session, at, "numbers look like `42`, `0xff`, `0b101`, `1.5e-3`, with a type `3u8`, `2f32`");
}

/* In one definition, the partner of a quote that was reported, and more of foreign writing, is no new mistake. */
static bool is_consequence(const ParseState *p, unsigned first)
{
    return p->has_stray && (first == '`' || first == '"' || first >= 0x80);
}

void scan_stray(ParseState *p, Span at, const char *text, uint32_t n)
{
    unsigned first = (unsigned char)text[0];
    uint32_t code = 0;
    if (is_consequence(p, first))
        return;
    p->has_stray = true;
    if (first == '"')
        diag_error(p->session, at, DIAG_UNTERMINATED, "unterminated string: `\"` is missing at the end");
    else if (first == '\'')
        diag_error(p->session, at, DIAG_UNTERMINATED, "unterminated character: `'` is missing at the end");
    else if (first == '#')
        diag_error(p->session, at, DIAG_CONSTRUCTOR_SYNTAX, "the name of a constructor is missing directly behind `#`");
    else if (first >= '0' && first <= '9')
        report_malformed_number(p, at);
    else if (!utf8_decode(text, n, &code))
        diag_error(p->session, at, DIAG_CHARACTER, "unexpected byte 0x%02x: this is not UTF-8 text", first);
    else if (utf8_is_printable(code))
        diag_error(p->session, at, DIAG_CHARACTER, "unexpected character `%.*s`", (int)utf8_decode(text, n, &code),
                   text);
    else
        diag_error(p->session, at, DIAG_CHARACTER, "unexpected character U+%04X", (unsigned)code);
    if (first < 0x80)
        code = first;
    bool advises = stray_advice(code) && (code != '#' || n == 1);
    if (advises)
        diag_note(p->session, at, "%s", stray_advice(code));
}
