/* Inside the flat interpreter. Its files:
 *     flat_eval.c      entry, blocks, if, loops, calls
 *     eval_memory.c    stored blocks, views, contexts, paths, the collector, values in and out
 *     eval_body.c      scalar code and its inputs
 *     eval_lane.c      code that a lane executes from beginning to end
 *     eval_columns.c   contexts and columns: kernel, array, nested, pack, split, elems, views, merge
 *     eval_segments.c  reduce, scan, hist, scatter, and whole arrays: argsort, flatten, update
 *     eval_trace.c     what is done, written down (docs/traces.md)
 *
 * MEMORY. A view's address is a real pointer. Everything that a statement stores is a Stored block of its own malloc,
 * so that the address sanitizer sees overruns, and a search tree of the blocks tells for every view that is followed
 * whether it lies inside a block of the right element type. Blocks, contexts and index vectors are garbage collected,
 * between statements: the roots are the variables of the calls under way.
 *
 * FAILURES. A failing check ends the evaluation at once: what other instances would still have computed in the same
 * round cannot be seen from outside. Functions return false then; the error is in Eval.error. Broken invariants are
 * assertions: they name the statement and abort. */
#ifndef DPC_FLAT_EVAL_INTERNAL_H
#define DPC_FLAT_EVAL_INTERNAL_H

#include "core/eval_budget.h"
#include "dp_progress.h"
#include "flat/flat_eval.h"
#include "trace/trace.h"

typedef struct View {
    uint64_t len, addr;
} View;
/* One element: scalar bits, or a view. */
typedef struct Elem {
    uint64_t bits;
    View view;
} Elem;

/* Offsets, maps, paths. */
typedef struct Index Index;
struct Index {
    Index *next;
    bool marked;
    uint64_t n;
    uint64_t at[];
};

typedef struct Stored Stored;
struct Stored {
    CoreType type; /* of an element */
    uint64_t n;
    uint32_t number; /* in the order in which they are made, for traces */
    char *data;
    /* The fact `contig`, for elements that are views: element k is {offsets[k+1] - offsets[k], base + offsets[k]
     * elements}. */
    Index *offsets; /* or NULL: not known to be contiguous */
    char *base;
    Stored *left, *right, *next;
    uint32_t priority; /* of the search tree */
    bool marked;
};

typedef struct Ctx Ctx;
typedef struct Path {
    const Ctx *to;
    Index *map; /* NULL: the identity */
} Path;
struct Ctx {
    FlatCtxKind kind;
    uint64_t n;
    Ctx *parent;    /* NULL: depth 0, or CTX_FN */
    Index *offsets; /* NESTED */
    Index *map;     /* SELECTED; NULL: all of parent, nothing was selected */
    Path *paths;    /* those computed so far */
    uint32_t npaths;
    Ctx *next;
    bool marked;
};

typedef struct Col {
    Ctx *ctx;
    CoreType type;
    char *data;
} Col; /* ctx->n elements */

typedef struct Value {
    FlatVarKind kind;
    CoreType type;
    bool owned; /* HOST arrays: nothing else refers to the block, so that UPDATE may write in place */
    Elem host;
    Col col;
    Ctx *ctx;
} Value;

/* Arrays that only one instance sees: a stack of chunks. */
typedef struct LaneChunk LaneChunk;
typedef struct LaneMark {
    LaneChunk *top;
    size_t used;
} LaneMark;

/* A call under way. */
typedef struct Frame Frame;
struct Frame {
    const FlatFn *fn;
    Value *vars;
    bool *bound;
    Frame *caller;
    uint32_t run; /* how many levels of this function lie directly one in the other, this included */
};

/* Values that only C code holds while blocks run. */
typedef struct Roots Roots;
struct Roots {
    Value *values;
    uint32_t n;
    Roots *outer;
};

typedef struct Eval {
    const FlatProgram *program;
    const FlatFn *entry; /* what fails before its first statement is at its definition */
    EvalError *error;
    EvalBudget budget;
    DpProgress progress; /* of the innermost recursion in parallel code */
    void *reserve;       /* what scratch_alloc gives parent when the machine has no more memory; then NULL */
    FlatCounts counts;
    Frame *frame;
    Roots *roots;
    const FlatStmt *stmt; /* for assertions */
    Elem *env;            /* core variables of the body at hand */
    uint32_t depth;
    uintptr_t stack_end; /* the C stack must not grow below this address */
    Stored *tree, *blocks;
    Ctx *ctxs;
    Index *indices;
    uint32_t random;
    uint32_t nstored; /* blocks made so far */
    LaneChunk *lane;
    bool gave_up; /* a lane, since FITTED was asked */
    Trace *trace; /* or NULL */
} Eval;

/* ---- assertions and failures ---- */
#define FLAT_ASSERT(e, cond, what) ((cond) ? (void)0 : flat_eval_broken((e), (what)))
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void flat_eval_broken(const Eval *e, const char *what);
bool flat_eval_fail(Eval *e, uint32_t site, Span span, int64_t v0, int64_t v1, int64_t v2);
bool flat_eval_fail_text(Eval *e, EvalErrorKind kind, const char *text);
bool flat_eval_fail_memory(Eval *e, uint64_t n, uint64_t bytes); /* n elements of so many bytes */
/* Counts a step of work; false when the time is up. */
bool flat_eval_tick(Eval *e);

/* ---- eval_memory.c ---- */
static inline uint32_t elem_bytes(CoreType t) { return t.rank ? (uint32_t)sizeof(View) : scalar_bytes(t.scalar); }
/* NULL and an error when there is not enough memory. */
Stored *stored_new(Eval *e, CoreType element, uint64_t n);
Stored *stored_at(const Eval *e, uint64_t addr); /* the block that holds the address, or NULL */
void stored_set_contig(Stored *s, Index *offsets, char *base);
Index *index_new(Eval *e, uint64_t n); /* likewise */
/* Room for n elements, zeroed, to be freed by the caller; likewise. */
void *elements_alloc(Eval *e, uint64_t n, size_t bytes);
Ctx *eval_ctx_new(Eval *e, FlatCtxKind kind, Ctx *parent, uint64_t n);
/* idx: n instances of `parent`, which this call takes; all of them: the identity. */
Ctx *ctx_select(Eval *e, Ctx *parent, Index *idx, uint64_t n);
/* at(from -> to) by instance, or NULL for the identity. `to` is from itself or an ancestor. False and an error when
 * there is not enough memory. */
bool ctx_path(Eval *e, Ctx *from, const Ctx *to, const uint64_t **path);
static inline uint64_t ctx_segments(const Ctx *c) { return c->parent ? c->parent->n : 1; }
static inline uint64_t path_at(const uint64_t *path, uint64_t i) { return path ? path[i] : i; }

Elem elem_load(CoreType t, const char *at);
void elem_store(CoreType t, char *at, Elem x);
/* Where element i of a view of the given array type lies; asserts that it exists. */
char *view_at(const Eval *e, CoreType array, View v, uint64_t i);
/* Copies all elements of a view to `to`. */
void view_copy(const Eval *e, CoreType array, View v, char *to);
View view_of(const char *data, uint64_t len);
char *no_elements(void); /* the data of a column without elements: any address, but not NULL */

void memory_begin(Eval *e, const EvalLimits *limits);
void collect_if_due(Eval *e);
void memory_free_all(Eval *e);
bool value_from_core(Eval *e, const CoreValue *v, Value *out);
CoreValue value_to_core(const Eval *e, Arena *arena, CoreType t, Elem x);

/* ---- variables ---- */
Value *var_read(Eval *e, FlatVar v);
void var_bind(Eval *e, FlatVar v, Value x);
void var_share(Eval *e, FlatVar v);               /* its array is no longer owned */
Ctx *var_ctx(Eval *e, FlatVar v);                 /* FLAT_ROOT: NULL */
Col *var_col(Eval *e, FlatVar v, const Ctx *ctx); /* a column of exactly ctx */
/* Element i of variable v of a context, or of a HOST variable if ctx is NULL. */
Elem var_elem(Eval *e, FlatVar v, const Ctx *ctx, uint64_t i);
void bind_col(Eval *e, FlatVar v, Ctx *ctx, char *data);
void bind_ctx(Eval *e, FlatVar v, Ctx *ctx);
void bind_host(Eval *e, FlatVar v, Elem x, bool owned);
/* Binds arrays, one per segment of context `parent` (or one at depth 0): contiguous, over `data`. */
bool bind_arrays(Eval *e, FlatVar v, Ctx *parent, Index *offsets, char *data, bool owned);
/* New columns of ctx for all outs. */
bool new_cols(Eval *e, const FlatVar *vars, uint32_t n, Ctx *ctx, char **data);

/* ---- eval_body.c ---- */
/* The inputs of a body in a context, resolved. */
typedef struct Inputs {
    struct Input *at;
    uint32_t n;
} Inputs;
/* False and an error when there is not enough memory; to be closed all the same. */
bool inputs_open(Eval *e, Inputs *in, const FlatInputs *inputs, Ctx *ctx);
void inputs_load(Eval *e, const Inputs *in, uint64_t instance);
void inputs_close(Inputs *in);
Elem atom_value(const Eval *e, CoreAtom a);
bool body_run(Eval *e, const CoreBlock *b, Elem *results);

/* ---- eval_lane.c ---- */
bool lane_run(Eval *e, const CoreStmt *s);          /* CORE_LANE */
bool lane_run_parallel(Eval *e, const CoreStmt *s); /* in it */
/* Does the address lie in the lane's memory? */
bool lane_holds(const Eval *e, uint64_t addr);
LaneMark lane_mark(const Eval *e);
/* Drops what was stored since then, but for these variables' values, if it is much. */
void lane_tidy(Eval *e, LaneMark m, const CoreVar *state, uint32_t n);
void lane_free_all(Eval *e);

/* ---- eval_trace.c: each of these does nothing where there is no trace ---- */
void flat_trace_program(Eval *e);                    /* what its statements are */
void flat_trace_call(Eval *e, const FlatStmt *call); /* of the innermost frame's function; NULL: of the entry */
void flat_trace_return(Eval *e, const Value *results);
/* A block of a statement begins: the branch taken, the round of a loop. */
void flat_trace_branch(Eval *e, const FlatStmt *s, bool holds);
void flat_trace_round(Eval *e, const FlatStmt *s, uint64_t round);
/* What the body under way has given for an instance; goes with the statement. */
void flat_trace_body(Eval *e, uint64_t instance, const Elem *results);
/* The statement is done, and nothing of it has died. */
void flat_trace_step(Eval *e, const FlatStmt *s);
void flat_trace_result(Eval *e, const Value *results); /* of the entry */
void flat_trace_failure(Eval *e);

/* ---- statements ---- */
bool exec_host(Eval *e, const FlatStmt *s);
bool exec_nothing(Eval *e, const FlatStmt *s);
bool exec_kernel(Eval *e, const FlatStmt *s);
bool exec_array(Eval *e, const FlatStmt *s);
bool exec_nested(Eval *e, const FlatStmt *s);
bool exec_pack(Eval *e, const FlatStmt *s);
bool exec_split(Eval *e, const FlatStmt *s);
bool exec_elems(Eval *e, const FlatStmt *s);
bool exec_select(Eval *e, const FlatStmt *s);
bool exec_views(Eval *e, const FlatStmt *s);
bool exec_merge(Eval *e, const FlatStmt *s);
bool exec_reduce(Eval *e, const FlatStmt *s);
bool exec_scan(Eval *e, const FlatStmt *s);
bool exec_hist(Eval *e, const FlatStmt *s);
bool exec_scatter(Eval *e, const FlatStmt *s);
bool exec_argsort(Eval *e, const FlatStmt *s);
bool exec_flatten(Eval *e, const FlatStmt *s);
bool exec_update(Eval *e, const FlatStmt *s);
/* A column's elements at idx[0..n-1], as new data (type t). */
char *gather_col(Eval *e, CoreType t, const char *data, const Index *idx, uint64_t n);

/* For tables by variable, not by instance: zeroed, never NULL. Where the machine has no more memory they come from a
 * reserve, and the evaluation fails at its next statement. */
void *scratch_alloc(Eval *e, uint64_t n, size_t bytes);

#endif
