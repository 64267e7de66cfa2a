/* Inside the printer of vector code: emit_vector_block.c has the statements, emit_vector.c the kernel's functions. */
#ifndef DPC_OPENCL_EMIT_VECTOR_INTERNAL_H
#define DPC_OPENCL_EMIT_VECTOR_INTERNAL_H

#include "opencl/emit_internal.h"
#include "opencl/packs.h"
#include "opencl/spread.h"

typedef struct VectorEmitter {
    KernelEmitter ke;
    ScalarEmitter e;
    SpreadTable table;  /* of the function's variables */
    bool across;        /* lanes are neighbouring segments, at the same place in each: scans of columns */
    bool batches;       /* of a tile: lanes are neighbouring batches, at the same row and column of each */
    bool apart;         /* and so far apart, at stride m: reductions of short rows of one length */
    bool near_columns;  /* of a tile: lanes must be neighbouring columns, whose positions are near */
    const char *again;  /* what the function returns where a lane fails, or what is assumed inside does not hold */
    bool gives_up;      /* it does so somewhere: `goto again` */
    uint32_t label;     /* `again1` …, of several in a function; 0: `again` */
    uint32_t mask;      /* the lanes that are on: variable on1 …; 0: all */
    uint32_t nmasks;    /* so far */
    const Packs *packs; /* of the lane whose code it is, or NULL */
} VectorEmitter;

/* "f32" */
const char *vector_type_name(const VectorEmitter *v, CoreVar x);
bool vector_varies(const VectorEmitter *v, CoreVar x);
/* An atom as a vector. */
void emit_vector_operand(VectorEmitter *v, CoreAtom a);
/* "T x = " */
void emit_vector_bind(VectorEmitter *v, CoreVar x);
/* "goto again;" */
void emit_vector_again(VectorEmitter *v);
/* "if ((dp_u64)at >= DP_LEN(x)) goto again;": of a place that all lanes have in common. */
void emit_vector_bounds(VectorEmitter *v, CoreAtom array, CoreAtom at);
/* "from < 0 || to < from || …": of SLICE, that there is no such part. */
void emit_vector_bad_slice(VectorEmitter *v, const CoreStmt *s);
/* Where a function is begun by which loops with nonsense could be entered. */
void emit_vector_guard(VectorEmitter *v, const CoreBlock *b);
/* The values as a dp_vec, and the end of the function. */
void emit_vector_results(VectorEmitter *v, const CoreAtom *results);
/* Facts of what is returned, and of the operator. */
void vector_note_results(VectorEmitter *v, const CoreAtom *results, SpreadFacts *facts);
void vector_note_op(VectorEmitter *v, SpreadFacts *facts);
/* "T x = 0;" for what branches assign. */
void emit_vector_declaration(VectorEmitter *v, CoreVar x);
/* The atom as what x is. */
void emit_vector_value_for(VectorEmitter *v, CoreVar x, CoreAtom a);
/* "on1", or "DP_ALL". */
void emit_vector_mask(VectorEmitter *v);
/* ---- emit_vector_lane.c ---- */
/* A private array is one of vectors. x becomes a's elements, or another name for them. */
void emit_vector_private(VectorEmitter *v, CoreVar x, CoreAtom a);
void emit_vector_private_index(VectorEmitter *v, const CoreStmt *s);
/* Array x of a loop's next state, put aside or not; and taken. diverges: by the lanes that are on. */
void emit_vector_private_next(VectorEmitter *v, CoreVar x, CoreAtom a, bool aside, bool diverges);
void emit_vector_private_take(VectorEmitter *v, CoreVar x, bool diverges);
/* The statement of a lane that is no scalar code, or LANE itself. */
void emit_vector_lane_stmt(VectorEmitter *v, const CoreStmt *s);

/* ---- emit_vector_memory.c ---- */
/* Is it the code of lanes with memory? */
static inline bool vector_has_memory(const VectorEmitter *v) { return v->e.lane && v->e.lane->strip; }
/* An array that the lanes make in memory: a view of vectors. */
bool vector_is_shared(const VectorEmitter *v, CoreAtom a);
/* Of an array in memory: has each lane a length of its own? That, as a vector. */
bool vector_is_ragged(const VectorEmitter *v, CoreAtom array);
void emit_vector_ragged_length(VectorEmitter *v, CoreAtom array);
/* All lanes' number, or the most that one has. vector: the VectorEmitter. */
void emit_vector_most(void *vector, CoreAtom n);
/* x: n elements with nothing in them; the elements of an array that lies anywhere. */
void emit_vector_shared_made(VectorEmitter *v, CoreVar x, CoreAtom n);
void emit_vector_shared_copy(VectorEmitter *v, CoreVar x, CoreAtom from);
void emit_vector_shared_read(VectorEmitter *v, CoreVar x, CoreAtom array, CoreAtom at, uint32_t site);
void emit_vector_shared_store(VectorEmitter *v, CoreVar array, CoreAtom at, CoreAtom value, bool chosen);
/* SLICE, unchecked; UPDATE; what SCATTER changes, and the stores of one element. */
void emit_vector_shared_slice(VectorEmitter *v, const CoreStmt *s);
void emit_vector_shared_update(VectorEmitter *v, const CoreStmt *s);
void emit_vector_shared_table(VectorEmitter *v, const CoreStmt *s);
void emit_vector_shared_begin_scatter(VectorEmitter *v, const CoreStmt *s);
void emit_vector_shared_scatter(VectorEmitter *v, const CoreStmt *s);
/* A loop's next state, where lanes leave it at different times. */
void emit_vector_shared_mix(VectorEmitter *v, const CoreStmt *s);
/* The end of a loop's round, behind which nothing of what it made stays but the state; 0: it makes nothing. */
void emit_vector_shared_round(VectorEmitter *v, const CoreStmt *s, uint32_t mark);
/* A lane's memory; and its result i, an array. */
void emit_vector_memory_open(VectorEmitter *v, const CoreStmt *s);
void emit_vector_memory_give(VectorEmitter *v, const CoreStmt *s, uint32_t i);

/* ---- emit_vector_views.c ---- */
/* Does each lane have a view of its own, of an array that is not private? */
bool vector_is_views(const VectorEmitter *v, CoreAtom a);
void emit_vector_views_input(VectorEmitter *v, const FlatInput *in);
void emit_vector_views_name(VectorEmitter *v, CoreVar x);
void emit_vector_views_declare(VectorEmitter *v, CoreVar x);
/* LENGTH: of each lane's, or one that all have in common. */
void emit_vector_views_length(VectorEmitter *v, const CoreStmt *s);
/* SLICE, of each lane's, or with bounds of its own. */
void emit_vector_views_slice(VectorEmitter *v, const CoreStmt *s);
/* x, a scalar or a view for each lane, is element `at` of each lane's array; checked, if there is a site. */
void emit_vector_views_read(VectorEmitter *v, CoreVar x, CoreAtom array, CoreAtom at, uint32_t site);
/* In front of the lane's code. */
void emit_vector_packs(VectorEmitter *v);

void emit_vector_block(VectorEmitter *v, const CoreBlock *b);
void emit_vector_stmt(VectorEmitter *v, const CoreStmt *s);

#endif
