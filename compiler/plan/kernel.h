/* Which statements of a flat program become kernels, and what each kernel is given. opencl/emit_kernel writes the
 * kernels' side from it, and launches (plan.h) are the calls' side, so that the two cannot disagree.
 *
 * WORDS. A kernel's body gets 64-bit argument words w0, w1, …:
 *
 *   SCALAR           the bits of a HOST scalar
 *   LENGTH, ADDRESS  a HOST array's view. (An element of it in a nested context over depth 0 needs only the ADDRESS.)
 *   ROWS, ROW_LENGTH two words side by side, filled by dp_row_words: where the rows of a HOST array of arrays lie if
 * they are equally long and one behind the other, and how long each is, else DP_NO_ROWS. At level 0 its own elements;
 * at level l what is found by l + 1 indexings of it (rows.c) COLUMN           the address of a column ELEMS, VIEWS two
 * words side by side, filled by dp_elem_words: the elements in the nested context `to` of a column of views in its up.
 * ELEMS is their common start where the views are contiguous, else 0; VIEWS the views OFFSETS          the offsets of
 * the nested context `to`; only needed for positions, and for elements not contiguous PATH             u32 indices from
 * instances of `from` to those of its ancestor `to`; 0 stands for the identity
 *
 * An input is found at instance i of the body's context B. If B is NESTED and not over depth 0, the template also knows
 * the segment s, an instance of up(B). So the index into a context D is i  where D is B;     s  where D is up(B);
 * path(up(B) -> D)[s]  or, where there is no s,  path(B -> D)[i]. Operators and neutral elements belong to a segment
 * and only have s.
 *
 * VARIANTS. A kernel is compiled for the case at hand: bit k of DP_VARIANT says that a certain ELEMS is contiguous, or
 * that a certain PATH is the identity, or that certain ROWS are regular: then no view of theirs is loaded. Words beyond
 * the last bit are looked at when the kernel runs.
 *
 * Example: { sum { v * x[j] : (j, v) in row } : row in rows } reduces over c2, nested in c1:
 *     w0 ELEMS r_j in c2 (bit 0)   w1 VIEWS   w2 OFFSETS c2   w3 ELEMS r_v in c2 (bit 1)   w4 VIEWS   w5 LENGTH x   w6
 * ADDRESS x and in variant 3 neither w1, w2, w4 nor the segment are looked at. */
#ifndef DPC_PLAN_KERNEL_H
#define DPC_PLAN_KERNEL_H

#include "flat/flat.h"

typedef enum PlanWordKind {
    WORD_SCALAR,
    WORD_LENGTH,
    WORD_ADDRESS,
    WORD_ROWS,
    WORD_ROW_LENGTH,
    WORD_COLUMN,
    WORD_KEPT,
    WORD_ELEMS,
    WORD_VIEWS,
    WORD_OFFSETS,
    WORD_PATH
} PlanWordKind;

#define PLAN_NO_BIT UINT32_MAX
#define PLAN_MAX_BITS 30

typedef struct PlanWord {
    PlanWordKind kind;
    FlatVar var;         /* SCALAR … VIEWS: the variable */
    FlatVar from, to;    /* contexts; PATH: both; ELEMS, VIEWS, OFFSETS: `to` */
    uint32_t level;      /* ROWS */
    uint32_t bit;        /* ELEMS, PATH, ROWS: its bit in the variant, or PLAN_NO_BIT */
    bool always;         /* OFFSETS, PATH: needed in every variant; ADDRESS: so are the views there, if it has any */
    VEC(uint32_t) elems; /* else: needed unless the bits of all these words are set */
} PlanWord;

typedef enum PlanKernelKind {
    PLAN_MAP,
    PLAN_ARRAY,
    PLAN_PACK,
    PLAN_REDUCE,
    PLAN_SCAN,
    PLAN_SCATTER,
    PLAN_HIST
} PlanKernelKind;

/* The elements of this variable of the body are rows that a ROWS word tells of. */
typedef struct PlanRows {
    CoreVar array;
    uint32_t word;
} PlanRows;

typedef struct PlanPlace {
    const char *file;
    uint32_t line;
    const char *function; /* the definition there */
} PlanPlace;

typedef struct PlanKernel {
    uint32_t index; /* in the program's table */
    PlanKernelKind kind;
    const char *name;  /* "main_3_reduce" */
    PlanPlace place;   /* in the .dp source */
    PlanPlace library; /* where the library has it, if the place only calls that; else file is NULL */
    const FlatFn *fn;
    const FlatStmt *stmt;
    uint32_t first;   /* computes the body's results first .. first + nvalues; a reduction's kept columns follow */
    CoreType *values; /* the fields of dp_val */
    uint32_t nvalues;
    CoreType *stored; /* what dp_store stores: the values, but of a SCAN with code behind it */
    uint32_t nstored;
    uint32_t nouts; /* output columns or arrays */
    uint32_t val_size, val_bytes;
    VEC(PlanWord) words;
    VEC(PlanRows) rows;
    bool trusting;  /* its code has loops, which may not end, or indexes without a check: had earlier checks failed */
    uint32_t nbits; /* of the variant */
    uint32_t positions; /* PACK: bit i says that the positions of context i's instances are stored */
} PlanKernel;

typedef struct Plan Plan;
/* Bytes [from, to) of a file belong to the definition of that name. */
typedef struct PlanAround {
    uint32_t from, to;
    const char *name;
} PlanAround;

PlanPlace plan_place_of(Plan *plan, Span at);
bool plan_same_place(const PlanPlace *a, const PlanPlace *b);
static inline bool plan_has_place(Span at) { return at.end > 0 && at.file != SPAN_NONE.file; }

/* What a kernel is made of. */
typedef struct PlanContents {
    VEC(PlanPlace) fused; /* other places of the program whose code is in it, beside its own */
    bool by_lanes;        /* each instance is code of one lane, with what is parallel in it */
} PlanContents;
PlanContents plan_contents(Plan *plan, const PlanKernel *k);

/* Most outputs of one kernel: DP_MAX_OUTS of the runtime. A MAP with more becomes several. */
#define PLAN_MAX_OUTS 64

/* Adds those of a statement, side by side; how many. number: of the next kernel in its function. */
uint32_t plan_add_kernels(Plan *plan, const FlatFn *fn, const FlatStmt *s, uint32_t *number);

/* The context's up, or FLAT_ROOT. */
FlatVar plan_up(const FlatFn *fn, FlatVar ctx);

/* Where the index into a context comes from. */
typedef enum PlaceKind { PLACE_I, PLACE_S, PLACE_PATH } PlaceKind;
typedef struct Place {
    PlaceKind kind;
    bool from_segment; /* PATH: indexed by s, else by i */
    FlatVar from;      /* PATH: its start */
} Place;
Place plan_place(const PlanKernel *k, FlatVar ctx);
/* The word ROWS of the array at this level, which is added if it is new. */
uint32_t plan_add_rows(Plan *plan, PlanKernel *k, FlatVar host, uint32_t level);
/* Adds them all, and k->rows. */
void plan_find_rows(Plan *plan, PlanKernel *k);
/* A reduction that asks whether all rows of a HOST array have this length: -1 if so, else the greatest one. */
typedef struct PlanRowCheck {
    FlatVar rows;
    CoreAtom size;     /* as the body has it: a constant, */
    FlatVar host_size; /* or this; else FLAT_NO_VAR */
} PlanRowCheck;
bool plan_is_row_check(const PlanKernel *k, PlanRowCheck *check);
/* UINT32_MAX: there is none. */
uint32_t plan_row_word(const PlanKernel *k, FlatVar host, uint32_t level);
/* The word of this kind; it must be there. var for SCALAR … VIEWS, to for the others. */
uint32_t plan_word(const PlanKernel *k, PlanWordKind kind, FlatVar var, FlatVar to);
/* UINT32_MAX: there is none. */
uint32_t plan_find_word(const PlanKernel *k, PlanWordKind kind, FlatVar var, FlatVar to);
/* The ELEMS word, with a bit, of a column of views that the kernel reads, too: UINT32_MAX if there is none. */
uint32_t plan_column_elems(const PlanKernel *k, FlatVar column);

/* When a kernel looks at its segment: never, always, or unless certain ELEMS are contiguous. */
typedef struct SegmentUse {
    bool always;
    VEC(uint32_t) elems;
} SegmentUse;
SegmentUse plan_segment_use(const Plan *plan, const PlanKernel *k);

const char *plan_kind_name(PlanKernelKind kind);
/* Does the kernel combine values by an operator? */
bool plan_has_op(const PlanKernel *k);
/* Is it a scan that stores what code makes of its prefixes? */
bool plan_maps(const PlanKernel *k);
/* Column i of those that a reduction keeps (flat_kept). */
FlatVar plan_kept(const PlanKernel *k, uint32_t i);
/* Is its output j stored? Not where it is of a scan, and a number or bool that nobody reads. */
bool plan_stores(const PlanKernel *k, uint32_t j);

#endif
