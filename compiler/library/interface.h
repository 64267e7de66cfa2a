/* The types of entries in C: which parameters a function has for a value of DP, and which fields a result.
 *
 *     k: f32            float k
 *     xs: [f32]         const float *xs, uint64_t xs_length
 *     m: [n][k]f32      const float *m, uint64_t m_length, uint64_t m_length1
 *     m: [[f32]]        const float *m, uint64_t m_length, const uint64_t *m_offsets1
 *     p: (f32, [i64])   float p_0, const int64_t *p_1, uint64_t p_1_length
 *     ps: [{x: f32}]    const float *ps_x, uint64_t ps_length
 *
 * What has a sum or a unit in it has no such form: it is one DpcValue. */
#ifndef DPC_LIBRARY_INTERFACE_H
#define DPC_LIBRARY_INTERFACE_H

#include "support/strbuf.h"
#include "types/sized_type.h"

typedef enum SlotKind { SLOT_SCALAR, SLOT_DATA, SLOT_LENGTH, SLOT_OFFSETS, SLOT_VALUE } SlotKind;

/* A parameter, or a field. */
typedef struct Slot {
    SlotKind kind;
    const char *name;
    DpScalar scalar;      /* SCALAR, DATA */
    uint32_t leaf, level; /* LENGTH, OFFSETS: of the first leaf that has it */
} Slot;
/* A leaf: its numbers, and of each level the slot that says how long its sequences are. */
typedef struct LeafSlots {
    uint32_t data, rank;
    uint32_t levels[DP_MAX_RANK];
} LeafSlots;
typedef struct Interface {
    VEC(Slot) slots;
    VEC(LeafSlots) leaves; /* none: it is a VALUE */
} Interface;

/* Of a value called `name`; "": of fields. */
Interface interface_of(Arena *arena, const SizedType *t, const char *name);
/* "const float *xs", without an end; results: without const, but for what a value keeps. */
void interface_print_slot(StrBuf *out, const Slot *slot);
/* A text as a name of C: letters, digits and _; no word of C's, none that begins with dpc_. */
const char *interface_name(Arena *arena, const char *text);

#endif
