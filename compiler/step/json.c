#include "step/json.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NESTED = 600 }; /* values are nested as deep as their types, at most 255 */

typedef struct Reader {
    Arena *arena;
    const char *at;
    int depth;
} Reader;

static Json *read_value(Reader *r);

static void skip_blanks(Reader *r) { r->at += strspn(r->at, " \t\r\n"); }

static bool take(Reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

/* Four hexadecimal digits; UINT32_MAX: there are none. */
static uint32_t read_unit(Reader *r)
{
    uint32_t unit = 0;
    if (strspn(r->at, "0123456789abcdefABCDEF") < 4)
        return UINT32_MAX;
    for (int i = 0; i < 4; i++, r->at++)
        unit = unit * 16 + (uint32_t)(*r->at <= '9' ? *r->at - '0' : (*r->at | 32) - 'a' + 10);
    return unit;
}

enum { REPLACEMENT = 0xfffd }; /* for what is no character, and NUL, which texts cannot have */

/* Behind \u; two such may be one character. */
static uint32_t read_code(Reader *r)
{
    uint32_t code = read_unit(r);
    if (code >= 0xd800 && code < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
        const char *second = r->at;
        r->at += 2;
        const uint32_t low = read_unit(r);
        if (low >= 0xdc00 && low < 0xe000)
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        r->at = second;
    }
    if (code == UINT32_MAX)
        return '?';
    return code == 0 || (code >= 0xd800 && code < 0xe000) ? REPLACEMENT : code;
}

static char *put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    static const uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (char)(leads[more] | code >> (6 * more));
    for (int i = more - 1; i >= 0; i--)
        *to++ = (char)(0x80 | (code >> (6 * i) & 0x3f));
    return to;
}

/* The character behind a backslash; it takes no more room than what stands for it. */
static char *put_escaped(Reader *r, char *to)
{
    static const char from[] = "nrtbf", codes[] = "\n\r\t\b\f";
    const char c = *r->at++;
    const char *known = c ? strchr(from, c) : NULL;
    if (c == 'u')
        return put_code(to, read_code(r));
    *to = known ? codes[known - from] : c;
    return to + 1;
}

/* NULL if it does not end. */
static const char *read_text(Reader *r)
{
    const char *end = r->at;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    char *text = arena_alloc(r->arena, (size_t)(end - r->at) + 1), *to = text;
    while (r->at < end) {
        if (*r->at == '\\')
            r->at++, to = put_escaped(r, to);
        else
            *to++ = *r->at++;
    }
    r->at = end + (*end == '"');
    return *end ? text : NULL;
}

static bool read_members(Reader *r, Json *json, char end)
{
    Json **last = &json->first;
    if (take(r, end))
        return true;
    do {
        const char *key = NULL;
        if (json->kind == JSON_OBJECT && (!take(r, '"') || !(key = read_text(r)) || !take(r, ':')))
            return false;
        *last = read_value(r);
        if (!*last)
            return false;
        (*last)->key = key;
        last = &(*last)->next;
    } while (take(r, ','));
    return take(r, end);
}

static Json *new_json(Reader *r, JsonKind kind)
{
    Json *json = arena_new(r->arena, Json);
    json->kind = kind;
    return json;
}

static Json *read_word(Reader *r)
{
    const size_t n = strspn(r->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    const char *word = arena_strndup(r->arena, r->at, n);
    Json *json = new_json(r, strcmp(word, "null") == 0                                 ? JSON_NULL
                             : strcmp(word, "true") == 0 || strcmp(word, "false") == 0 ? JSON_BOOL
                                                                                       : JSON_NUMBER);
    json->text = word;
    r->at += n;
    return n ? json : NULL;
}

static Json *read_value(Reader *r)
{
    Json *json = NULL;
    bool good = true;
    skip_blanks(r);
    if (++r->depth > MOST_NESTED)
        return NULL;
    if (take(r, '"')) {
        json = new_json(r, JSON_TEXT);
        good = (json->text = read_text(r)) != NULL;
    } else if (take(r, '[')) {
        json = new_json(r, JSON_LIST);
        good = read_members(r, json, ']');
    } else if (take(r, '{')) {
        json = new_json(r, JSON_OBJECT);
        good = read_members(r, json, '}');
    } else {
        json = read_word(r);
    }
    r->depth--;
    return good ? json : NULL;
}

const Json *json_read(Arena *arena, const char *text)
{
    Reader r = {arena, text, 0};
    return read_value(&r);
}

const Json *json_get(const Json *object, const char *key)
{
    const Json *member = object ? object->first : NULL;
    while (member && !(member->key && strcmp(member->key, key) == 0))
        member = member->next;
    return member;
}

const char *json_text(const Json *object, const char *key)
{
    const Json *member = json_get(object, key);
    return member && member->kind == JSON_TEXT ? member->text : "";
}

uint64_t json_number(const Json *object, const char *key, uint64_t otherwise)
{
    const Json *member = json_get(object, key);
    return member && member->kind == JSON_NUMBER ? strtoull(member->text, NULL, 10) : otherwise;
}
