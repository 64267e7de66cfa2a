#include "support/session.h"

#include <stdlib.h>
#include <string.h>

/* An open-addressing hash table, at most half full. */
typedef struct Entry {
    Name text;
    size_t n;
    uint64_t hash;
} Entry;

struct Interner {
    Entry *slots;
    uint32_t count, size; /* size is a power of two */
};

static uint64_t hash_bytes(const char *text, size_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h ^ (h >> 32);
}

static Entry *find_slot(const struct Interner *in, const char *text, size_t n, uint64_t hash)
{
    for (uint32_t i = (uint32_t)hash & (in->size - 1);; i = (i + 1) & (in->size - 1)) {
        Entry *e = &in->slots[i];
        if (!e->text || (e->hash == hash && e->n == n && memcmp(e->text, text, n) == 0))
            return e;
    }
}

static void interner_resize(Session *s, uint32_t size)
{
    struct Interner *in = s->interner;
    struct Interner old = *in;
    in->slots = arena_array(s->arena, Entry, size);
    in->size = size;
    for (uint32_t i = 0; i < old.size; i++) {
        const Entry *e = &old.slots[i];
        if (e->text)
            *find_slot(in, e->text, e->n, e->hash) = *e;
    }
}

Name intern(Session *s, const char *text, size_t n)
{
    struct Interner *in = s->interner;
    if (2 * (in->count + 1) > in->size)
        interner_resize(s, in->size * 2);
    uint64_t hash = hash_bytes(text, n);
    Entry *e = find_slot(in, text, n, hash);
    if (!e->text) {
        *e = (Entry){arena_strndup(s->arena, text, n), n, hash};
        in->count++;
    }
    return e->text;
}

Name intern_cstr(Session *s, const char *text) { return intern(s, text, strlen(text)); }

Session *session_create(void)
{
    Arena *arena = arena_create();
    Session *s = arena_new(arena, Session);
    s->arena = arena;
    s->interner = arena_new(arena, struct Interner);
    interner_resize(s, 256);
    return s;
}

void session_destroy(Session *s)
{
    if (s)
        arena_destroy(s->arena); /* the session itself lives there */
}
