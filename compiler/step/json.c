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

/* The character behind a backslash. \u is only written for control characters. */
static char escaped(Reader *r)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    const char c = *r->at++;
    const char *known = c ? strchr(from, c) : NULL;
    if (known)
        return to[known - from];
    if (c == 'u' && strlen(r->at) >= 4) {
        char digits[5] = {0};
        memcpy(digits, r->at, 4);
        r->at += 4;
        return (char)strtol(digits, NULL, 16);
    }
    return c;
}

/* NULL if it does not end. */
static const char *read_text(Reader *r)
{
    const char *end = r->at;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    char *text = arena_alloc(r->arena, (size_t)(end - r->at) + 1), *to = text;
    while (r->at < end) {
        const char c = *r->at++;
        *to++ = c == '\\' ? escaped(r) : c;
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
