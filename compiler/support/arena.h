/* Arenas: memory that is freed all at once.
 *
 * A function that takes an `Arena *` puts its result there. Passes free nothing; the owner of the
 * arena (the session, one IR, or one pass) frees it as a whole. Memory is zeroed and suitably
 * aligned for every type. Running out of memory ends the process with a message: there is
 * nothing a compiler can do about it. */
#ifndef DPC_ARENA_H
#define DPC_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

Arena *arena_create(void);
void arena_destroy(Arena *arena); /* NULL is fine */

void *arena_alloc(Arena *arena, size_t bytes); /* zeroed; 16-byte aligned */
char *arena_strndup(Arena *arena, const char *s, size_t n);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
char *
arena_printf(Arena *arena, const char *format, ...);

/* One object, or an array of n objects, of type T. */
#define arena_new(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define arena_array(arena, T, n) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(n)))

/* Growing arrays inside an arena. `VEC(T)` declares { T *at; uint32_t n, cap; }, zero is empty. */
#define VEC(T)                                                                                                         \
    struct {                                                                                                           \
        T *at;                                                                                                         \
        uint32_t n, cap;                                                                                               \
    }
#define vec_push(arena, v, x)                                                                                          \
    do {                                                                                                               \
        if ((v)->n == (v)->cap)                                                                                        \
            (v)->at = arena_grow((arena), (v)->at, &(v)->cap, sizeof *(v)->at);                                        \
        (v)->at[(v)->n++] = (x);                                                                                       \
    } while (0)
/* Doubles *cap (from 8) and returns a copy of the `*cap` old elements in the new space. */
void *arena_grow(Arena *arena, void *at, uint32_t *cap, size_t element_bytes);

#endif
