/* Flat: segmented operations over contexts. What flattening makes of core, what the flat interpreter
 * runs, and what the OpenCL back end turns into kernels and a host program.
 *
 * Host control (if, loops, calls) is structured; everything inside parallel code has become straight
 * lines of statements over *contexts*. See docs/flattening.md for the rules.
 *
 * VALUES. Three kinds of variables (FlatVar):
 *   HOST  a value at depth 0: a scalar, or an array (rank > 0) as one *view* {length, address}.
 *   COL   a column in a context: one element per instance. A scalar type: that scalar. An array type
 *         (rank > 0): a view of 16 bytes {u64 length, u64 address} per instance.
 *   CTX   a context: a set of N instances (0 <= N < 2^32 where anything is stored per instance).
 * The elements of a stored array of rank r are scalars (r = 1) or views (r > 1), side by side: so an array
 * of arrays and a column of views in a context have the same representation, and a view is just an
 * address into the heap: indexing, slicing, selecting and merging branches move 16 bytes and never elements.
 * The address of an empty view is meaningless. bool is stored as one byte 0 or 1.
 *
 * CONTEXTS.
 *   FN        the instance set of a lifted function: it has no `parent`.
 *   NESTED    one instance per element of a sequence, for every instance of `parent` (or of depth 0, when parent ==
 *             FLAT_ROOT: then there is one segment). The instances of one segment are consecutive.
 *   SELECTED  some instances of `parent`, each once, in ascending order (pack, split, the active set of a loop).
 * Every context with a chain of ups leads to an FN context or to depth 0. For instance i of context C,
 * at(C -> D) is the instance of the ancestor-or-self D it comes from. Nothing is ever done for N = 0, and
 * every statement is harmless then.
 *
 * BODIES. FlatBody is scalar code evaluated once per instance of a context (or once, on the host, if ctx is
 * FLAT_ROOT): a core block in which only CORE_ATOM, PRIM, LENGTH, INDEX, SLICE, CHECK, IF and LOOP occur
 * (their blocks likewise); array-typed core variables are views. Its free core variables are its inputs:
 *   IN_HOST  the value of a HOST variable
 *   IN_COL   element at(body ctx -> column's ctx) of a COL variable
 *   IN_ELEM  `ctx` is a NESTED context, body ctx or an ancestor of it; `var` is an array in parent(ctx), a COL, or HOST
 * if parent(ctx) is FLAT_ROOT: the element of that array at the position of the instance: arr[seg][pos], j = at(body
 * ctx -> ctx), seg = at(.. -> parent(ctx)), pos = j - offset[seg] IN_POS   pos as above (i64) A failing check (or index
 * …) records the error and goes on with a harmless value; the program stops at the next point where the host looks
 * (every read-back, and the end).
 *
 * Worked example: { sum { v * x[j] : (j, v) in row } : row in rows }
 *     c1 = nested root (rows_j)                       -- N = number of rows
 *     r_j = elems rows_j in c1; r_v = …                -- aliases: the stored views themselves
 *     c2 = nested c1 (r_j)                             -- N = number of non-zeros; offsets known to the block
 *     s = reduce c2 { j = elem r_j; v = elem r_v; t = index x j; m = mul v t; -> m } op add neutral 0.0
 *     out = views c1 (s)                               -- the host array of the results
 */
#ifndef DPC_FLAT_H
#define DPC_FLAT_H

#include "core/core.h"

typedef uint32_t FlatVar;
#define FLAT_NO_VAR UINT32_MAX
/* Stands for depth 0 wherever a context is named. */
#define FLAT_ROOT (UINT32_MAX - 1)

/* Most contexts of a PACK, and columns. */
enum { FLAT_MAX_WAYS = 4, FLAT_MAX_PACKED = 24 };

typedef enum FlatVarKind { FLAT_HOST, FLAT_COL, FLAT_CTX } FlatVarKind;
typedef enum FlatCtxKind { CTX_FN, CTX_NESTED, CTX_SELECTED } FlatCtxKind;

typedef struct FlatVarInfo {
    FlatVarKind kind;
    CoreType type; /* HOST, COL */
    FlatVar ctx;   /* COL: the context it belongs to; CTX: its parent (FLAT_ROOT for depth 0, FLAT_NO_VAR for CTX_FN) */
    FlatCtxKind ctx_kind;
    const char *hint;
    uint32_t least_bytes; /* CTX: what the recursion's next level needs for each instance at least (flat_demand), */
    const struct FlatStmt *least_call; /* for this call */
} FlatVarInfo;

typedef enum FlatInputKind { IN_HOST, IN_COL, IN_ELEM, IN_POS } FlatInputKind;
typedef struct FlatInput {
    FlatInputKind kind;
    CoreVar as;  /* the core variable it binds in the body */
    FlatVar var; /* HOST, COL: the variable; ELEM: the array; POS: unused */
    FlatVar ctx; /* ELEM, POS: the nested context */
} FlatInput;

typedef VEC(FlatInput) FlatInputs;

typedef struct FlatBody {
    FlatVar ctx; /* or FLAT_ROOT */
    FlatInputs inputs;
    CoreBlock *block;
} FlatBody;

/* An associative operator: block over params (2k) -> k. Its inputs, and those of the neutral element, belong to
 * parent(c) of the reduction's context c, or above: the instance the segment belongs to. */
typedef struct FlatOp {
    FlatInputs inputs;
    CoreLambda op;
    FlatInputs neutral_inputs; /* IN_HOST or IN_COL, so that `neutral` atoms are constants or inputs */
    CoreAtom *neutral;         /* of REDUCE, SCAN, HIST */
    uint32_t k;                /* 0: there is none */
    bool commutative;
} FlatOp;

typedef struct FlatBlock FlatBlock;
typedef struct FlatStmt FlatStmt;
typedef struct FlatFn FlatFn;

typedef enum FlatKind { /* see kinds.def */
#define KIND(NAME, ...) FLAT_S_##NAME,
#include "flat/kinds.def"
#undef KIND
} FlatKind;

struct FlatBlock {
    VEC(FlatStmt *) stmts;
    FlatVar *results;
    uint32_t nresults;
    FlatVar *dies;
    uint32_t ndies; /* filled by flat_liveness: dead at entry of this block (used by a sibling only) */
    FlatVar *ends;
    uint32_t nends; /* likewise: results that die with the block, so that their ownership moves to what the
                       statement binds; any other result (needed after the statement too) is copied */
};

typedef struct FlatSite { /* one place of a joined call */
    FlatVar ctx;          /* whose instances call */
    FlatVar *args;        /* COLs of ctx */
    FlatVar *outs;        /* COLs of ctx */
} FlatSite;

typedef struct FlatPart {
    FlatVar ctx;
    FlatVar *cols;
} FlatPart;

/* Which positions of a kernel that writes over what it reads stay as they are: how, a MapStays (runtime/params.h), by a
 * bound, */
typedef struct FlatStays {
    uint32_t how;
    FlatVar bound; /* HOST i64; FLAT_NO_VAR: */
    int64_t at;
} FlatStays;
/* What a kernel may write over (in_place.c). */
typedef struct FlatOver {
    FlatVar rows; /* a column of rows, whose elements these are, or FLAT_NO_VAR */
    FlatVar
        array; /* HOST: the rows' array, or that of the elements; FLAT_NO_VAR: rows are none of an array's at depth 0 */
    FlatStays stays, in_rows; /* rows, or elements where there are none; places in each row */
} FlatOver;

struct FlatStmt {
    FlatKind kind;
    Span span;
    FlatVar *outs;
    uint32_t nouts;
    FlatVar ctx;   /* where the kind says so */
    FlatBody body; /* likewise */
    union {
        struct {
            const FlatOver *over; /* or NULL */
        } kernel;
        struct {
            FlatVar source;
        } nested;
        struct {
            uint32_t nways;
        } pack;
        struct {
            uint32_t of;           /* what the flattened code would be: NestOf */
            FlatVar cells, length; /* of reductions that share what they read (HOST i64), or FLAT_NO_VAR */
        } many;
        struct {
            bool gives;  /* arrays that the lanes make */
            uint32_t of; /* LaneOf (runtime/params.h) */
        } memory;
        struct {
            FlatVar work, wide;
            uint32_t launches, on_gpu;
        } few;
        struct {
            uint32_t of; /* DpTuning (runtime/params.h) */
        } param;
        struct {
            FlatVar cond;
        } split;
        struct {
            FlatVar *arrays, *ends; /* ends: ARGSORT, HOST i64 */
            uint32_t n, nkeys, nends;
        } arrays; /* ELEMS ARGSORT FLATTEN, VIEWS (columns) */
        struct {
            FlatPart *parts;
            uint32_t nparts;
        } merge;
        struct {
            FlatOp op;
            bool exclusive;
            bool stays; /* REDUCE over root: outs are arrays of one, which the host does not wait for */
            FlatVar size;
            FlatVar *dests;
            uint32_t ndests;
            FlatBody
                then; /* SCAN: what is stored of each instance, code over its prefixes. No block: these themselves */
            CoreVar *prefixes; /* op.k of them */
        } reduce;              /* REDUCE SCAN SCATTER HIST */
        struct {
            FlatVar array, index, value;
            bool masked;
        } update; /* all in ctx (COL), or HOST if root. Out of range nothing changes;
            masked: that is usual */
        struct {
            FlatVar cond;
            FlatBlock *then_b, *else_b;
        } if_;
        struct {
            FlatVar *params, *inits;
            uint32_t nparams;
            FlatVar index, count; /* for loop: HOST i64; while: FLAT_NO_VAR */
            FlatBlock *cond;      /* while: one HOST bool */
            FlatBlock *body;
            bool looks_ahead; /* while: as in core */
        } loop;               /* LOOP */
        struct {
            /* ctx: the context of the whole; active: CTX, SELECTED from ctx, the running instances, new each round;
             * params: COLs of active; inits: COLs of ctx; cond: one bool COL of active; body: next state, COLs of
             * active. outs: COLs of ctx: each instance's state when its cond first failed. */
            FlatVar active;
            FlatVar *params, *inits;
            uint32_t nparams;
            FlatBlock *cond, *body;
        } loop_lifted;
        struct {
            FlatFn *fn;
            FlatVar *args;
            uint32_t nargs;
        } call;
        struct {
            FlatFn *fn;
            FlatSite *sites;
            uint32_t nsites;
            uint32_t nargs, nresults;
        } call_lifted;
    };
    FlatVar *dies;
    uint32_t ndies; /* filled by flat_liveness: variables whose last use is this statement */
};

struct FlatFn {
    const char *name; /* the core function's; lifted versions end in "_lifted" */
    uint32_t index;   /* in FlatProgram.fns */
    bool lifted;
    bool recursive;
    FlatVar ctx; /* lifted: the parameter CTX_FN; else FLAT_NO_VAR */
    FlatVar *params;
    uint32_t nparams;
    FlatBlock *body;
    VEC(FlatVarInfo) vars;
    /* The scope of the scalar code in bodies: the core function's head, with a table of variables that is this
     * function's own. It begins with the core function's variables. */
    CoreFn *scope;
};

typedef struct FlatEntry {
    const CoreEntry *entry;
    FlatFn *fn;
} FlatEntry;

typedef struct FlatProgram {
    Arena *arena;
    const CoreProgram *core; /* sites, session, entries */
    VEC(FlatFn *) fns;
    VEC(FlatEntry) entries;
} FlatProgram;

/* ---- flattening ---- */
/* Of a checked program whose parallel operators and counted loops are lowered (core/passes.h). Core stays as it is, but
 * bodies share its statements, so that it must outlive flat and not change. */
FlatProgram *flatten(const CoreProgram *core);

void flat_print(StrBuf *out, const FlatProgram *p);
void flat_print_var(StrBuf *out, const FlatFn *fn, FlatVar v); /* "%c3" */
/* A statement as in flat_print; one with blocks (if, loops) goes on over several lines. */
void flat_print_stmt(StrBuf *out, const FlatProgram *p, const FlatFn *fn, const FlatStmt *s);
/* Static invariants: every variable bound once and before use; kinds, types and contexts as said above;
 * inputs only from the body's context or its ancestors; only scalar code in bodies. */
bool flat_check(const FlatProgram *p, StrBuf *why);
/* Of a body over a nested context: are there more loads that lie side by side for neighbouring segments than for
 * neighbours in a segment? (loads.c) */
bool flat_loads_go_across(const FlatFn *fn, const FlatStmt *s);
/* Scans of columns that are only wanted as columns store them so (turn_scans.c). */
void flat_turn_scans(FlatProgram *p);
/* Takes columns that nobody reads out of the kernels that make them. */
void flat_drop_dead_columns(FlatProgram *p);
/* Kernels over one context become one, and small ones part of those over few instances of theirs that alone read what
 * they make (join_kernels.c). */
void flat_join_kernels(FlatProgram *p);
/* Kernels over a scan's context that read its prefixes become what the scan stores (scan_maps.c). */
void flat_join_scans(FlatProgram *p);
/* What a reduction goes over is stored by it, if others read it as well, and so is what is made of the same elements
 * (keep_columns.c). */
void flat_keep_columns(FlatProgram *p);
/* Fills `dies` everywhere. Parameters of functions are owned by the callee: an unused one is in body->dies. */
void flat_liveness(FlatProgram *p);
/* Kernels in loops that may write over what they read, behind it (in_place.c). */
void flat_write_in_place(FlatProgram *p);
/* Fills `least_bytes` of contexts in recursive lifted functions. */
void flat_demand(FlatProgram *p);

/* ---- traversal ---- */
/* Every variable a statement reads itself, not in its blocks (inputs of bodies and ops, contexts included). */
void flat_stmt_reads(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx);
/* Calls f on the statement's blocks (branches, cond, body), on the variables that it binds for what follows (outs,
 * the outs of call sites), and on those that it binds for its own blocks (loop params, index, active). */
void flat_stmt_blocks(const FlatStmt *s, void (*f)(void *ctx, FlatBlock *b), void *ctx);

/* How often each variable is read: `reads` is a uint32_t *, by variable; of a statement by flat_stmt_reads, of a block
 * with all in it. */
void flat_count_read(void *reads, FlatVar v);
void flat_uncount_read(void *reads, FlatVar v);
void flat_count_block(void *reads, FlatBlock *b);
void flat_stmt_binds(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx);
void flat_stmt_params(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx);

/* ---- bodies ---- */
/* The core variable that the body has for the input, or CORE_NO_VAR. */
CoreVar flat_body_input(const FlatBody *body, const FlatInput *in);
/* The code of `more`, its results apart, becomes part of *to, but for what that computes already: an element that both
 * index. Both may be of different contexts, if the inputs of `more` may be inputs of *to. */
void flat_body_add(const CoreProgram *core, CoreFn *scope, FlatBody *to, const FlatBody *more);
/* Does the body bind the variable, as an input or by a statement? */
bool flat_body_binds(const FlatBody *body, CoreVar v);

/* ---- what the kinds have, from kinds.def ---- */
typedef enum FlatFieldKind {
    FLAT_FIELD_END,
    FLAT_FIELD_VAR,
    FLAT_FIELD_VARS,
    FLAT_FIELD_BODY,
    FLAT_FIELD_OP,
    FLAT_FIELD_THEN,
    FLAT_FIELD_PARAM,
    FLAT_FIELD_PARAMS,
    FLAT_FIELD_BLOCK,
    FLAT_FIELD_PARTS,
    FLAT_FIELD_SITES
} FlatFieldKind;
typedef struct FlatField {
    FlatFieldKind kind;
    uint16_t at, count; /* offsets in FlatStmt; BODY: `count` is flat_kind_places */
} FlatField;
enum { FLAT_MOST_FIELDS = 8, FLAT_CAPTURES_NEVER = 255 };
typedef struct FlatKindInfo {
    const char *word;
    uint8_t captures;
    FlatField fields[FLAT_MOST_FIELDS]; /* the last is FLAT_FIELD_END */
} FlatKindInfo;
const FlatKindInfo *flat_kind(FlatKind kind);
bool flat_kind_has_body(FlatKind kind);
bool flat_kind_has_op(FlatKind kind);
/* How many positions (i64) its body gives in front of the values: 1 if these go somewhere. */
uint32_t flat_kind_places(FlatKind kind);
/* Is d the context c itself or one of its ancestors (FLAT_ROOT is above everything)? */
bool flat_ctx_is_below(const FlatFn *fn, FlatVar c, FlatVar d);
/* SCAN: does it store prefixes where they are in its rectangle of segments turned? */
static inline bool flat_scan_turns(const FlatFn *fn, const FlatStmt *s)
{
    return fn->vars.at[s->outs[0]].ctx != s->body.ctx;
}
/* SCAN: does it store what code makes of its prefixes? */
static inline bool flat_scan_maps(const FlatStmt *s) { return s->reduce.then.block != NULL; }
/* REDUCE: how many columns of the elements' context it stores, the last of its outs; the body gives them behind the
 * values. */
static inline uint32_t flat_kept(const FlatStmt *s) { return s->kind == FLAT_S_REDUCE ? s->nouts - s->reduce.op.k : 0; }
/* REDUCE: are its values what the outs' arrays have? */
static inline bool flat_reduce_stays(const FlatStmt *s) { return s->kind == FLAT_S_REDUCE && s->reduce.stays; }
/* The context of a COL of function fn; the parent of a CTX. */
static inline FlatVar flat_ctx(const FlatFn *fn, FlatVar v) { return fn->vars.at[v].ctx; }

#endif
