/* Inside the flattener: the state of one function being flattened, and what its files offer each other.
 *
 *   flatten.c   the program: which functions are wanted in which version
 *   schedule.c     block tasks and their order: statements in order, pending calls joined
 *   region.c    runs of scalar code: what becomes one kernel, and its inputs
 *   packing.c   what packs store, and which of them are one
 *   rules.c     one rule per construct (docs/flattening.md, 3)
 *
 * A *block task* is a core block being flattened in a context. Its scalar statements are collected in the
 * task's *open region* and are emitted, as one kernel, when something needs one of their values stored; what
 * cannot fail and is not needed yet stays open. */
#ifndef DPC_FLATTEN_INTERNAL_H
#define DPC_FLATTEN_INTERNAL_H

#include "flat/flat.h"
#include "support/ptrmap.h"

typedef struct BlockTask BlockTask;

/* Where the value of a core variable is. */
typedef enum ValKind {
    VAL_NONE,          /* not known yet: its statement has not run, or waits for a call */
    VAL_HOST,          /* var: a HOST variable */
    VAL_COL,           /* var: a column */
    VAL_ELEM,          /* element of `var` (array in parent(ctx)) in the nested context ctx: a delayed load */
    VAL_DELAYED_INDEX, /* element of the core array `array`, of a context above parent(ctx), at the position in ctx */
    VAL_POSITION,      /* the position in the nested context ctx */
    VAL_IN_REGION      /* computed by a statement in `task`'s open region */
} ValKind;

typedef struct Val {
    ValKind kind;
    FlatVar var;
    FlatVar ctx;
    CoreVar array;
    BlockTask *task;
    bool viewed; /* VAL_ELEM: its views are also a column, for what goes over them, */
    FlatVar column;
} Val;

typedef struct VarState {
    Val val;
    bool declared;  /* its task has started */
    uint32_t uses;  /* occurrences in statements not emitted yet */
    uint32_t stamp; /* scratch mark, see new_stamp */
} VarState;

/* A statement whose child tasks wait for calls. */
typedef struct Progress {
    CoreStmt *stmt;
    FlatVar ctx[2];      /* map: nested, packed; if: the branches' */
    BlockTask *child[2]; /* map: guard or body; if: the branches */
    int stage;           /* call: 1 when it has been made */
    bool pending;        /* a call that waits to be joined */
} Progress;

typedef struct Todo {
    CoreStmt *stmt;
    CoreVar waits_for; /* a variable that was not known when the statement was looked at, or CORE_NO_VAR */
} Todo;

struct BlockTask {
    FlatVar ctx; /* FLAT_ROOT: host code */
    CoreBlock *block;
    VEC(Todo) todo;
    VEC(CoreStmt *) open;
    PtrMap progress; /* statement -> Progress, once it has begun */
};

typedef struct Pending {
    BlockTask *task;
    CoreStmt *stmt;
} Pending;
typedef VEC(Pending) PendingList;
typedef struct Memo {
    FlatVar parent, source;
    CoreVar domain;
    FlatVar ctx;
} Memo;
typedef struct Selected {
    FlatVar ctx;
    CoreVar array;
    FlatVar col;
} Selected;
typedef struct Packing {
    FlatStmt *stmt;
    FlatBlock *block; /* where it stands */
} Packing;
typedef struct Undo {
    CoreVar var;
    Val val;
} Undo;

typedef struct Flattener {
    FlatProgram *program;
    const CoreProgram *core;
    Arena *arena;
    FlatFn ***versions; /* [lifted][core index] */
    uint32_t *calls;    /* [core index]; zero but while they are counted */
} Flattener;

typedef struct FlattenFn { /* one function version */
    Flattener *all;
    Arena *arena;
    const CoreProgram *core;
    CoreFn *scope; /* fn's */
    FlatFn *fn;
    BlockTask host;         /* for what the host computes by itself: no statements, at depth 0 */
    VEC(VarState) vars;     /* by CoreVar */
    FlatBlock *block;       /* where statements go now */
    VEC(Memo) memos;        /* nested contexts made, valid in the current block */
    VEC(Selected) selected; /* arrays of outer contexts whose views were selected into one of their branches */
    VEC(Packing) packings;  /* PACKs made */
    VEC(Undo) undo;         /* values forced inside a nested block, to be forgotten at its end */
    uint32_t block_depth;
    PendingList pending;
    uint32_t stamp;
} FlattenFn;

/* ---- flatten.c ---- */
FlatFn *want_function(Flattener *all, const CoreFn *fn, bool lifted);

/* ---- variables and statements ---- */
FlatVar new_host(FlattenFn *f, CoreType type, const char *hint);
FlatVar new_col(FlattenFn *f, FlatVar ctx, CoreType type, const char *hint);
FlatVar new_ctx(FlattenFn *f, FlatCtxKind kind, FlatVar parent);
FlatVar new_value(FlattenFn *f, FlatVar ctx, CoreType type, const char *hint); /* HOST if ctx is FLAT_ROOT, else COL */
FlatVar ctx_parent(const FlattenFn *f, FlatVar ctx);
FlatStmt *flat_emit(FlattenFn *f, FlatKind kind, Span span, uint32_t nouts);
CoreType atom_type(const FlattenFn *f, CoreAtom a);
CoreVar fresh_core_var(FlattenFn *f, CoreType type, const char *hint);
VarState *var_state(FlattenFn *f, CoreVar v);
void set_val(FlattenFn *f, CoreVar v,
             Val val); /* binding, or forcing: undone at the end of the block if it was bound outside */
void bind_value(FlattenFn *f, CoreVar v, FlatVar x); /* VAL_HOST or VAL_COL by x's kind */
typedef struct BlockMark {
    FlatBlock *saved;
    uint32_t undo, memos, selected;
} BlockMark;
FlatBlock *block_begin(FlattenFn *f, BlockMark *mark);
void block_end(FlattenFn *f, const BlockMark *mark);

/* ---- region.c ---- */
bool loops_over_memory(const CoreStmt *s); /* scalar, but with an `index` inside a loop: not for the host */
/* Is `outer` reached from `ctx` by selections only? Then it has at least as many instances. */
bool selected_from(const FlattenFn *f, FlatVar ctx, FlatVar outer);
/* Emits what `stmt`'s free variables need of the task's open region, and all of it that can fail. */
void region_flush_for(FlattenFn *f, BlockTask *task, CoreStmt *stmt);
/* Values of atoms stored in the task's context: HOST or COL variables. */
void region_store(FlattenFn *f, BlockTask *task, const CoreAtom *atoms, uint32_t n, FlatVar *out, Span span);
FlatVar region_store1(FlattenFn *f, BlockTask *task, CoreAtom atom, Span span);
/* A body in the task's context that computes the atoms, taking over its open region. */
FlatBody region_fuse_into(FlattenFn *f, BlockTask *task, const CoreAtom *atoms, uint32_t n);
/* Does the open code that `atoms` need serve nothing else than `stmt`? Then region_fuse_into may take it. */
bool region_fusible(FlattenFn *f, BlockTask *task, const CoreAtom *atoms, uint32_t n);
/* Stores a delayed value in its own context, so that it is a HOST or COL variable. */
void materialise(FlattenFn *f, CoreVar v, Span span);
/* The views of a VAL_ELEM as a column. Of rows of an array that the host knows the value stays an element: kernels that
 * read places of a row do so by its number. */
FlatVar element_column(FlattenFn *f, CoreVar v, Span span);
FlatOp make_op(FlattenFn *f, const CoreLambda *op, const CoreAtom *neutral, uint32_t k, bool commutative, Span span);
void uses_add_direct(FlattenFn *f, CoreStmt *s);
void uses_drop_direct(FlattenFn *f, CoreStmt *s);
void uses_drop_deep(FlattenFn *f, CoreStmt *s);
void uses_drop_lambda(FlattenFn *f, const CoreLambda *l);
void uses_drop_results(FlattenFn *f, const CoreBlock *b);
void count_uses(FlattenFn *f, CoreBlock *b);

/* ---- packing.c ---- */
/* A context of the instances of body.ctx for which the body holds: a new PACK, or a way of one that stands already in
 * this block. Takes the body. */
FlatVar packing_add(FlattenFn *f, FlatBody body, Span span);
/* What a body in `ctx` reads of the instances that a PACK has kept is read from a column that the PACK stores. */
void packing_input(FlattenFn *f, FlatVar ctx, FlatInput *in);
/* The value as such a column of `ctx`, if it is one of the instances that ctx was packed from. */
bool packing_value(FlattenFn *f, FlatVar ctx, CoreAtom a, FlatVar *out);
/* If `ctx` was packed: the context that it was packed from, else FLAT_NO_VAR. */
FlatVar packing_source(const FlattenFn *f, FlatVar ctx);
/* May this be computed by a PACK, for what is not kept too? It cannot fail, reads no memory, and *cost, to which its
 * own is added, stays small. */
bool packing_may_compute(const FlattenFn *f, const CoreStmt *s, uint32_t *cost);
/* The PACK of `ctx` stores the results of the body, in the context that ctx was packed from, as new columns outs[] of
 * ctx. False: it cannot, nothing has changed. */
bool packing_store(FlattenFn *f, FlatVar ctx, const FlatBody *body, FlatVar *outs);

/* ---- schedule.c ---- */
BlockTask *task_new(FlattenFn *f, FlatVar ctx, CoreBlock *b);
/* A scalar statement goes into the task's open region. */
void task_open(FlattenFn *f, BlockTask *task, CoreStmt *s);
bool task_run(FlattenFn *f, BlockTask *task);     /* as far as possible; true when all is done */
void schedule_run(FlattenFn *f, BlockTask *task); /* to the end, joining pending calls */
/* The block's results, stored in the task's context. */
FlatVar *task_results(FlattenFn *f, BlockTask *task, Span span);
Progress *progress_of(FlattenFn *f, BlockTask *task, CoreStmt *s);

/* ---- rules.c ---- */
/* Runs a statement that is not scalar code. False: it waits for a call. */
bool flatten_stmt(FlattenFn *f, BlockTask *task, CoreStmt *s);
/* A call from host code of the version that is host code. */
void flatten_call_host(FlattenFn *f, BlockTask *task, CoreStmt *s);
/* A context of one instance below depth 0: for what the device had better do than the host. */
FlatVar single_ctx(FlattenFn *f, Span span);
/* Binds a statement's variables to the values of the single instance of `ctx`: its columns are arrays of length 1. */
void bind_single(FlattenFn *f, CoreStmt *s, FlatVar ctx, FlatVar *cols);

#endif
