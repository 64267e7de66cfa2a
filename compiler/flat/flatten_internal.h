/* Inside the flattener: the state of one function being flattened, and what its files offer each other.
 *
 *   flatten.c   the program: which functions are wanted in which version
 *   frame.c     frames and scheduling: statements in order, pending calls joined
 *   region.c    runs of scalar code: what becomes one kernel, and its inputs
 *   rules.c     one rule per construct (FLATTENING.md section 3)
 *   expand.c    reductions whose operator is itself parallel, as rounds
 *
 * A *frame* is a core block being flattened in a context. Its scalar statements are collected in the
 * frame's *open region* and are emitted, as one kernel, when something needs one of their values stored; what
 * cannot fail and is not needed yet stays open. */
#ifndef DPC_FLATTEN_INTERNAL_H
#define DPC_FLATTEN_INTERNAL_H

#include "flat/flat.h"

typedef struct Frame Frame;

/* Where the value of a core variable is. */
typedef enum ValKind {
    VAL_NONE, /* not known yet: its statement has not run, or waits for a call */
    VAL_HOST, /* var: a HOST variable */
    VAL_COL,  /* var: a column */
    VAL_ELEM, /* element of `var` (array in up(ctx)) in the nested context ctx: a delayed load */
    VAL_AT,   /* element of the core array `array`, of a context above up(ctx), at the position in ctx */
    VAL_POS,  /* the position in the nested context ctx */
    VAL_OPEN  /* computed by a statement in `frame`'s open region */
} ValKind;

typedef struct Val {
    ValKind kind;
    FlatVar var;
    FlatVar ctx;
    CoreVar array;
    Frame *frame;
} Val;

typedef struct VarState {
    Val val;
    bool declared;  /* its frame has started */
    uint32_t uses;  /* occurrences in statements not emitted yet */
    uint32_t stamp; /* scratch mark, see new_stamp */
} VarState;

/* A statement whose child frames wait for calls. */
typedef struct Progress {
    CoreStmt *stmt;
    FlatVar ctx[2];  /* map: nested, packed; if: the branches' */
    Frame *child[2]; /* map: guard or body; if: the branches */
    int stage;       /* call: 1 when it has been made */
    bool pending;    /* a call that waits to be joined */
} Progress;

struct Frame {
    FlatVar ctx; /* FLAT_ROOT: host code */
    CoreBlock *block;
    VEC(CoreStmt *) todo;
    VEC(CoreStmt *) open;
    VEC(Progress *) progress;
};

typedef struct Pending {
    Frame *frame;
    CoreStmt *stmt;
} Pending;
typedef VEC(Pending) PendingList;
typedef struct Memo {
    FlatVar up, source;
    CoreVar domain;
    FlatVar ctx;
} Memo;
typedef struct Selected {
    FlatVar ctx;
    CoreVar array;
    FlatVar col;
} Selected;
typedef struct Undo {
    CoreVar var;
    Val val;
} Undo;

typedef struct Flattener {
    FlatProgram *program;
    CoreProgram *core;
    Arena *arena;
    FlatFn ***versions; /* [lifted][core index] */
} Flattener;

typedef struct Fl { /* one function version */
    Flattener *all;
    Arena *arena;
    CoreProgram *core;
    CoreFn *cf;
    FlatFn *fn;
    VEC(VarState) vars;     /* by CoreVar */
    FlatBlock *block;       /* where statements go now */
    VEC(Memo) memos;        /* nested contexts made, valid in the current block */
    VEC(Selected) selected; /* arrays of outer contexts whose views were selected into one of their branches */
    VEC(Undo) undo;         /* values forced inside a nested block, to be forgotten at its end */
    uint32_t block_depth;
    PendingList pending;
    uint32_t stamp;
} Fl;

/* ---- flatten.c ---- */
FlatFn *want_function(Flattener *all, CoreFn *fn, bool lifted);
/* Most calls of recursive functions that one activation makes on one path; those in an apply-to-each count once. */
uint32_t calls_in_sequence(const CoreBlock *b);

/* ---- variables and statements ---- */
FlatVar new_host(Fl *f, CoreType type, const char *hint);
FlatVar new_col(Fl *f, FlatVar ctx, CoreType type, const char *hint);
FlatVar new_ctx(Fl *f, FlatCtxKind kind, FlatVar up);
FlatVar new_value(Fl *f, FlatVar ctx, CoreType type, const char *hint); /* HOST if ctx is FLAT_ROOT, else COL */
FlatVar ctx_up(const Fl *f, FlatVar ctx);
FlatStmt *emit(Fl *f, FlatKind kind, Span span, uint32_t nouts);
CoreType atom_type(const Fl *f, CoreAtom a);
CoreVar fresh_core_var(Fl *f, CoreType type, const char *hint);
VarState *var_state(Fl *f, CoreVar v);
void set_val(Fl *f, CoreVar v,
             Val val); /* binding, or forcing: undone at the end of the block if it was bound outside */
void bind_value(Fl *f, CoreVar v, FlatVar x); /* VAL_HOST or VAL_COL by x's kind */
typedef struct BlockMark {
    FlatBlock *saved;
    uint32_t undo, memos, selected;
} BlockMark;
FlatBlock *block_begin(Fl *f, BlockMark *mark);
void block_end(Fl *f, const BlockMark *mark);

/* ---- region.c ---- */
bool scalar_stmt(const CoreStmt *s); /* may stand in a kernel */
bool scalar_block(const CoreBlock *b);
bool loops_over_memory(const CoreStmt *s); /* scalar, but with an `index` inside a loop: not for the host */
/* Is `outer` reached from `ctx` by selections only? Then it has at least as many instances. */
bool selected_from(const Fl *f, FlatVar ctx, FlatVar outer);
/* Emits what `stmt`'s free variables need of the frame's open region, and all of it that can fail. */
void barrier(Fl *f, Frame *fr, CoreStmt *stmt);
/* Values of atoms stored in the frame's context: HOST or COL variables. */
void finish(Fl *f, Frame *fr, const CoreAtom *atoms, uint32_t n, FlatVar *out, Span span);
FlatVar finish1(Fl *f, Frame *fr, CoreAtom atom, Span span);
/* A body in the frame's context that computes the atoms, taking over its open region. */
FlatBody absorb(Fl *f, Frame *fr, const CoreAtom *atoms, uint32_t n);
/* Does the open code that `atoms` need serve nothing else than `stmt`? Then absorb may take it. */
bool absorbable(Fl *f, Frame *fr, const CoreAtom *atoms, uint32_t n);
/* Stores a delayed value in its own context, so that it is a HOST or COL variable. */
void force(Fl *f, CoreVar v, Span span);
FlatOp make_op(Fl *f, const CoreLambda *op, const CoreAtom *neutral, uint32_t k, bool commutative, Span span);
void uses_add_direct(Fl *f, CoreStmt *s);
void uses_drop_direct(Fl *f, CoreStmt *s);
void uses_drop_deep(Fl *f, CoreStmt *s);
void uses_drop_lambda(Fl *f, const CoreLambda *l);
void uses_drop_results(Fl *f, const CoreBlock *b);
void count_uses(Fl *f, CoreBlock *b);

/* ---- frame.c ---- */
Frame *frame_new(Fl *f, FlatVar ctx, CoreBlock *b);
bool frame_run(Fl *f, Frame *fr); /* as far as possible; true when all is done */
void drive(Fl *f, Frame *fr);     /* to the end, joining pending calls */
/* The block's results, stored in the frame's context. */
FlatVar *frame_results(Fl *f, Frame *fr, Span span);
Progress *progress_of(Fl *f, Frame *fr, CoreStmt *s);

/* ---- rules.c ---- */
/* Runs a statement that is not scalar code. False: it waits for a call. */
bool step(Fl *f, Frame *fr, CoreStmt *s);

/* ---- expand.c ---- */
void expand_parallel_operators(CoreProgram *p);
/* Updates behind conditions, in parallel code, become masked ones. */
void mask_updates(CoreProgram *p);

#endif
