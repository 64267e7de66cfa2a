/* Reading JSON: what a trace consists of (docs/traces.md), a line at a time. */
#ifndef DPC_JSON_H
#define DPC_JSON_H

#include "support/arena.h"

#include <stdbool.h>

typedef enum JsonKind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct Json Json;
struct Json {
    JsonKind kind;
    const char *key;  /* of a member of an object */
    const char *text; /* of a text; of a number and a bool as written */
    Json *first;      /* of a list's items or an object's members */
    Json *next;
};

/* The value that begins at the text; NULL if it is no JSON. In the arena. */
const Json *json_read(Arena *arena, const char *text);
/* The member, or NULL; `object` may be NULL. */
const Json *json_get(const Json *object, const char *key);
/* Its text, or "" where it is none. */
const char *json_text(const Json *object, const char *key);
/* Its number, or `otherwise`. */
uint64_t json_number(const Json *object, const char *key, uint64_t otherwise);

#endif
