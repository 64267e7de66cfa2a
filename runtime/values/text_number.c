/* Literals: from the text of a number or character to its value. The rules are the language's. */
#include "values.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BYTES = 128 }; /* of a number; others are copied to the heap */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/* ---- integers ---- */

static DpLiteral parse_digits(const char *text, size_t n, uint32_t base, uint64_t *value)
{
    bool any = false, fits = true;
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '_')
            continue;
        uint64_t digit = (uint64_t)digit_value(text[i]);
        if (digit >= base)
            return DP_LIT_MALFORMED;
        if (*value > (UINT64_MAX - digit) / base)
            fits = false;
        *value = *value * base + digit;
        any = true;
    }
    return !any ? DP_LIT_MALFORMED : fits ? DP_LIT_OK : DP_LIT_RANGE;
}

static DpLiteral finish_integer(uint64_t magnitude, bool negative, DpScalar s, uint64_t *bits)
{
    if (dp_scalar_is_float(s)) {
        /* an integer of 64 bits goes to f32 in one rounding */
        double x = s == DP_F32 ? (double)(float)magnitude : (double)magnitude;
        *bits = dp_bits_of_double(s, negative ? -x : x);
        return DP_LIT_OK;
    }
    if (magnitude > dp_scalar_limit(s, negative))
        return DP_LIT_RANGE;
    *bits = negative ? 0 - magnitude : magnitude;
    return DP_LIT_OK;
}

/* ---- floats ---- */

static size_t skip_digits(const char *text, size_t at)
{
    while (is_digit(text[at]))
        at++;
    return at;
}

/* digits [. digits] [e [sign] digits], and nothing else? *integral: only digits. A digit is in front, and a NUL behind
 * the n bytes. */
static bool is_decimal(const char *text, size_t n, bool *integral)
{
    size_t at = skip_digits(text, 0);
    bool ok = true;
    *integral = at == n;
    if (text[at] == '.') {
        size_t end = skip_digits(text, at + 1);
        ok = end > at + 1;
        at = end;
    }
    if (ok && (text[at] | 0x20) == 'e') {
        size_t start = at + 1 + (text[at + 1] == '+' || text[at + 1] == '-');
        at = skip_digits(text, start);
        ok = at > start;
    }
    return ok && at == n;
}

static DpLiteral finish_float(const char *text, bool negative, DpScalar s, uint64_t *bits)
{
    double x = s == DP_F32 ? (double)strtof(text, NULL) : strtod(text, NULL);
    if (isinf(x))
        return DP_LIT_RANGE;
    *bits = dp_bits_of_double(s, negative ? -x : x);
    return DP_LIT_OK;
}

/* digits: NUL-terminated, n bytes. */
static DpLiteral parse_digits_or_float(const char *digits, size_t n, bool negative, DpScalar s, uint64_t *bits)
{
    bool integral;
    if (!is_decimal(digits, n, &integral))
        return DP_LIT_MALFORMED;
    if (dp_scalar_is_float(s))
        return finish_float(digits, negative, s, bits);
    if (!integral)
        return DP_LIT_KIND;
    uint64_t magnitude;
    DpLiteral status = parse_digits(digits, n, 10, &magnitude);
    return status ? status : finish_integer(magnitude, negative, s, bits);
}

static DpLiteral parse_decimal(const char *text, size_t n, bool negative, DpScalar s, uint64_t *bits)
{
    char usual[USUAL_BYTES], *digits = n < sizeof usual ? usual : malloc(n + 1);
    size_t length = 0;
    if (!digits)
        return DP_LIT_MEMORY;
    for (size_t i = 0; i < n; i++)
        if (text[i] != '_')
            digits[length++] = text[i];
    digits[length] = '\0';
    DpLiteral status = parse_digits_or_float(digits, length, negative, s, bits);
    if (digits != usual)
        free(digits);
    return status;
}

DpLiteral dp_parse_size(const char *text, size_t n, uint64_t *size)
{
    return n > 0 && !memchr(text, '_', n) ? parse_digits(text, n, 10, size) : DP_LIT_MALFORMED;
}

/* strtod knows more forms: hexadecimal ones, and payloads of nans. */
static bool is_real(const char *text, size_t n)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    size_t sign = n > 0 && (text[0] == '-' || text[0] == '+');
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t length = strlen(words[w]), same = 0;
        while (n - sign == length && same < length && (text[sign + same] | 0x20) == words[w][same])
            same++;
        if (same == length)
            return true;
    }
    for (size_t i = 0; i < n; i++)
        if (!is_digit(text[i]) && (!text[i] || !strchr("+-.eE", text[i])))
            return false;
    return n > 0;
}

DpLiteral dp_parse_real(const char *text, size_t n, DpScalar s, uint64_t *bits)
{
    if (!is_real(text, n))
        return DP_LIT_MALFORMED;
    char usual[USUAL_BYTES], *copy = n < sizeof usual ? usual : malloc(n + 1), *end;
    if (!copy)
        return DP_LIT_MEMORY;
    memcpy(copy, text, n);
    copy[n] = '\0';
    double x = s == DP_F32 ? (double)strtof(copy, &end) : strtod(copy, &end);
    DpLiteral status = *end ? DP_LIT_MALFORMED : isinf(x) && !strpbrk(copy, "iI") ? DP_LIT_RANGE : DP_LIT_OK;
    if (copy != usual)
        free(copy);
    *bits = dp_bits_of_double(s, x);
    return status;
}

/* ---- numbers ---- */

/* Takes a suffix (i32, u8, f64 …) off the end. Hexadecimal numbers have f as a digit, and no float suffixes. */
static bool take_suffix(const char *text, size_t *n, bool is_hexadecimal, DpScalar *suffix)
{
    for (int s = DP_I8; s <= (is_hexadecimal ? DP_U64 : DP_F64); s++) {
        const char *name = dp_scalar_name((DpScalar)s);
        size_t length = strlen(name);
        if (*n > length && memcmp(text + *n - length, name, length) == 0) {
            *n -= length;
            *suffix = (DpScalar)s;
            return true;
        }
    }
    return false;
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

/* Most numbers: up to 18 digits, perhaps with a point among them. Those whose digits and power of ten are exact are
 * divided, which rounds once (where the machine computes as precisely as it stores). False: the general way decides,
 * also on what is wrong. */
static bool parse_plain(const char *text, size_t n, bool negative, DpScalar s, uint64_t *bits)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    uint64_t digits = 0;
    size_t point = n;
    if (n == 0 || n > 18 || !is_digit(text[0]) || !is_digit(text[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (is_digit(text[i]))
            digits = digits * 10 + (uint64_t)(text[i] - '0');
        else if (text[i] == '.' && point == n)
            point = i;
        else
            return false;
    }
    if (point == n)
        return finish_integer(digits, negative, s, bits) == DP_LIT_OK;
    size_t places = n - point - 1;
    double x = (double)digits / powers[places];
    if (FLT_EVAL_METHOD != 0 || s != DP_F64 || digits > (uint64_t)1 << 53)
        return false;
    *bits = dp_bits_of_double(s, negative ? -x : x);
    return true;
}

DpLiteral dp_parse_number(const char *text, size_t n, bool negative, DpScalar s, uint64_t *bits)
{
    if (parse_plain(text, n, negative, s, bits))
        return DP_LIT_OK;
    if (is_word(text, n, "nan") || is_word(text, n, "inf")) {
        double x = text[0] == 'n' ? (double)NAN : (double)INFINITY;
        if (!dp_scalar_is_float(s))
            return DP_LIT_KIND;
        *bits = dp_bits_of_double(s, negative && text[0] == 'i' ? -x : x);
        return DP_LIT_OK;
    }
    if (n == 0 || !is_digit(text[0]))
        return DP_LIT_MALFORMED;
    bool has_base = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'b');
    bool is_hexadecimal = has_base && text[1] == 'x';
    DpScalar suffix;
    if (take_suffix(text, &n, is_hexadecimal, &suffix) && suffix != s)
        return DP_LIT_SUFFIX;
    if (!has_base)
        return parse_decimal(text, n, negative, s, bits);
    uint64_t magnitude;
    DpLiteral status = n > 2 ? parse_digits(text + 2, n - 2, is_hexadecimal ? 16 : 2, &magnitude) : DP_LIT_MALFORMED;
    return status ? status : finish_integer(magnitude, negative, s, bits);
}

/* ---- characters ---- */

static bool is_octal(char c) { return c >= '0' && c <= '7'; }

static const char *parse_octal(const char *text, size_t n, size_t *at, uint8_t *byte)
{
    uint32_t value = 0;
    for (uint32_t digits = 0; digits < 3 && *at < n && is_octal(text[*at]); digits++)
        value = value * 8 + (uint32_t)(text[(*at)++] - '0');
    *byte = (uint8_t)value;
    return value > 255 ? "the escape is larger than a byte" : NULL;
}

static const char *parse_escape(const char *text, size_t n, size_t *at, uint8_t *byte)
{
    static const char letters[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
    char c = *at < n ? text[*at] : '\0';
    if (is_octal(c))
        return parse_octal(text, n, at, byte);
    if (c == 'x') {
        int high = *at + 1 < n ? digit_value(text[*at + 1]) : 99, low = *at + 2 < n ? digit_value(text[*at + 2]) : 99;
        if (high > 15 || low > 15)
            return "`\\x` takes two hexadecimal digits";
        *byte = (uint8_t)(high * 16 + low);
        *at += 3;
        return NULL;
    }
    const char *found = c ? strchr(letters, c) : NULL;
    if (!found)
        return "unknown escape";
    *byte = (uint8_t)values[found - letters];
    ++*at;
    return NULL;
}

const char *dp_parse_character(const char *text, size_t n, size_t *at, uint8_t *byte)
{
    if (*at >= n || text[*at] == '\n')
        return "the closing quote is missing";
    char c = text[(*at)++];
    *byte = (uint8_t)c;
    return c == '\\' ? parse_escape(text, n, at, byte) : NULL;
}
