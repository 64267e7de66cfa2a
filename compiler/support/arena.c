#include "support/arena.h"

#include "support/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN 16u
#define ARENA_FIRST_CHUNK ((size_t)16 * 1024)
#define ARENA_LARGEST_CHUNK ((size_t)4 * 1024 * 1024)

/* The memory of a chunk follows its header. */
typedef struct Chunk {
    struct Chunk *next;
    size_t used, size;
} Chunk;

struct Arena {
    Chunk *chunks; /* the newest first; only it is allocated from */
    size_t next_size;
};

#define CHUNK_HEADER ((sizeof(Chunk) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN)

static Chunk *chunk_create(size_t size)
{
    if (size > SIZE_MAX - CHUNK_HEADER)
        memory_out();
    Chunk *chunk = memory_alloc(1, CHUNK_HEADER + size);
    chunk->size = size;
    return chunk;
}

Arena *arena_create(void)
{
    Arena *arena = memory_alloc(1, sizeof *arena);
    arena->next_size = ARENA_FIRST_CHUNK;
    return arena;
}

void arena_destroy(Arena *arena)
{
    if (!arena)
        return;
    for (Chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

/* A request that would waste a fresh chunk gets one of its own, behind the current one. */
static void *alloc_large(Arena *arena, size_t bytes)
{
    Chunk *chunk = chunk_create(bytes);
    chunk->used = bytes;
    if (arena->chunks) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        arena->chunks = chunk;
    }
    return (char *)chunk + CHUNK_HEADER;
}

void *arena_alloc(Arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - ARENA_ALIGN)
        memory_out();
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    Chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) {
        if (bytes > arena->next_size / 4)
            return alloc_large(arena, bytes);
        chunk = chunk_create(arena->next_size);
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        if (arena->next_size < ARENA_LARGEST_CHUNK)
            arena->next_size *= 2;
    }
    void *result = (char *)chunk + CHUNK_HEADER + chunk->used;
    chunk->used += bytes;
    return result;
}

char *arena_strndup(Arena *arena, const char *s, size_t n)
{
    char *copy = arena_alloc(arena, n + 1);
    if (n)
        memcpy(copy, s, n);
    return copy;
}

char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        n = 0;
    char *text = arena_alloc(arena, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

void *arena_grow(Arena *arena, void *at, uint32_t *cap, size_t element_bytes)
{
    if (*cap > UINT32_MAX / 2)
        memory_out();
    uint32_t grown = *cap ? *cap * 2 : 8;
    if (element_bytes > SIZE_MAX / grown)
        memory_out();
    void *copy = arena_alloc(arena, element_bytes * grown);
    if (*cap)
        memcpy(copy, at, element_bytes * *cap);
    *cap = grown;
    return copy;
}
