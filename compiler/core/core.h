/* Core: first-order, monomorphic, in administrative normal form, with parallel operations (SOACs).
 *
 * Types. There are no tuples, records, sums or functions left. A value is a scalar or a sequence
 * nested `rank` deep over scalars: CoreType {SC_F32, 2} is [[f32]]. Products are dissolved into
 * several variables everywhere (structure of arrays): [(a, [b])] is a pair of sequences [a], [[b]] of
 * equal length; unit is one bool (false); a sum `#a t | #b` is a tag (core_tag_type, the constructor's position in
 * the sorted list) followed by all payloads' components, where the ones of other tags are zero or empty.
 *
 * Variables are numbered per function; every variable is bound exactly once in its function
 * (parameters included), and its type is in CoreFn.vars. A block is a list of statements in order, and
 * result atoms. Statements that may fail (checks, `index`, division …) take effect in that order: a
 * statement must not be moved above an assertion or out of the block that guards it unless it cannot fail.
 *
 * Example: `{ sum { v * x[j] : (j, v) in row } : row in rows }` is, after fusion,
 *     %6 : [f32] = map %n (row_j : [i64] <- %rows_j, row_v : [f32] <- %rows_v) {
 *         %7 : i64 = length row_j
 *         %8 : f32 = reduce %7 (j <- row_j, v <- row_v) { %9 = index %x j; %10 = mul v %9; -> %10 }
 *                    neutral (0.0) op (a, b) { %11 = add a b; -> %11 }
 *         -> %8 }
 *
 * SOACs share one shape, CoreSoac: a `domain` (i64 length), input sequences of that length (which the
 * elaborator has checked), the position variable `index` (or CORE_NO_VAR), an element variable per input,
 * an optional guard (map only), and the body: what is computed for each element. Bodies may contain
 * anything, other SOACs and calls included, and may use all variables in scope. */
#ifndef DPC_CORE_H
#define DPC_CORE_H

#include "support/session.h"
#include "support/strbuf.h"
#include "types/type.h"

typedef struct CoreType {
    Scalar scalar;
    uint8_t rank;
} CoreType;
static inline bool core_type_equal(CoreType a, CoreType b) { return a.scalar == b.scalar && a.rank == b.rank; }
static inline CoreType core_scalar(Scalar s) { return (CoreType){s, 0}; }
static inline CoreType core_seq(CoreType t) { return (CoreType){t.scalar, (uint8_t)(t.rank + 1)}; }
static inline CoreType core_element(CoreType t) { return (CoreType){t.scalar, (uint8_t)(t.rank - 1)}; }

typedef uint32_t CoreVar;
#define CORE_NO_VAR UINT32_MAX

/* A constant's bits: integers sign- or zero-extended to 64 bits, bool 0/1, f32 and f64 by their own
 * bits (f32 in the low half). */
typedef struct CoreAtom {
    bool is_const;
    CoreType type; /* of a constant: rank 0 */
    union {
        CoreVar var;
        uint64_t bits;
    };
} CoreAtom;

static inline CoreAtom core_var_atom(CoreVar v, CoreType t)
{
    CoreAtom a = {false, t, {.var = v}};
    return a;
}
static inline CoreAtom core_const(Scalar s, uint64_t bits)
{
    CoreAtom a = {true, {s, 0}, {.bits = bits}};
    return a;
}
static inline CoreAtom core_i64(int64_t x) { return core_const(SC_I64, (uint64_t)x); }

/* The same variable, or the same constant of the same type. */
static inline bool core_atom_equal(CoreAtom a, CoreAtom b)
{
    if (a.is_const != b.is_const)
        return false;
    return a.is_const ? a.bits == b.bits && core_type_equal(a.type, b.type) : a.var == b.var;
}

typedef enum CorePrim {
#define PRIM(NAME, ...) PRIM_##NAME,
#include "core/prims.def"
#undef PRIM
    PRIM_COUNT
} CorePrim;
const char *core_prim_name(CorePrim p);
uint32_t core_prim_arity(CorePrim p);
bool core_prim_takes(CorePrim p, Scalar operand);
/* In additions. What costs no more than CORE_CHEAP is worth computing for nothing; no more than CORE_MODERATE, rather
 * than storing the result. */
enum { CORE_CHEAP = 2, CORE_MODERATE = 8 };
uint32_t core_prim_cost(CorePrim p, Scalar operand);
bool core_prim_gives_bool(CorePrim p); /* comparisons; the others give their operand's type, but for CONVERT */
bool core_prim_commutes(CorePrim p, Scalar operand); /* may its operands change places? */
/* May it fail? Only DIV and MOD on integers. */
bool core_prim_fallible(CorePrim p, Scalar operand);
/* The one definition of scalar semantics on the host (all evaluators and constant folding use it).
 * Arguments and result as constant bits. The caller has excluded a zero divisor. */
uint64_t core_prim_apply(CorePrim p, Scalar operand, Scalar result, const uint64_t *args);

/* What went wrong, where: a site per fallible operation. Values v0, v1 depend on the kind. */
typedef enum ErrorKind {
    ERR_INDEX,    /* index v0 out of bounds for length v1 */
    ERR_SLICE,    /* slice v0:v1 out of bounds for length v2 */
    ERR_LENGTHS,  /* unequal lengths: v0 and v1 */
    ERR_SIZE,     /* size mismatch: TEXT is v0, but this length is v1 */
    ERR_DIVISION, /* division by zero */
    ERR_ASSERT,   /* assertion failed */
    ERR_MATCH,    /* no case matches */
    ERR_EMPTY,    /* TEXT of an empty sequence */
    ERR_NEGATIVE, /* negative length v0 (iota, replicate, nest) */
    ERR_NEST,     /* lengths add up to v0 (the largest i64: or more), but the sequence has v1 */
    ERR_DEPTH     /* recursion too deep, where it is a loop */
} ErrorKind;
typedef struct CoreSite {
    ErrorKind kind;
    Span span;
    const char *text; /* or NULL */
} CoreSite;
#define CORE_NO_SITE UINT32_MAX
/* The message of a failure, e.g. "index 12 out of bounds for length 10". */
void core_error_text(StrBuf *out, const CoreSite *site, const int64_t *values);

typedef struct CoreBlock CoreBlock;
typedef struct CoreStmt CoreStmt;
typedef struct CoreFn CoreFn;

struct CoreBlock {
    VEC(CoreStmt *) stmts;
    CoreAtom *results;
    uint32_t nresults;
};

/* (params) -> block; used for operators. */
typedef struct CoreLambda {
    CoreVar *params;
    uint32_t nparams;
    CoreBlock *body;
} CoreLambda;

typedef struct CoreSoac {
    CoreAtom domain;   /* i64, never negative */
    CoreVar index;     /* i64 position, or CORE_NO_VAR */
    CoreAtom *inputs;  /* sequences of length `domain` (variables) */
    CoreVar *elements; /* one per input */
    uint32_t ninputs;
    CoreBlock *guard; /* one bool; MAP only, else NULL */
    CoreBlock *body;
    CoreAtom *neutral;           /* REDUCE, SCAN, HIST: of the operator */
    CoreAtom *dests;             /* SCATTER, ACCUMULATE: what the results start as */
    CoreLambda op;               /* REDUCE, SCAN, ACCUMULATE, HIST */
    CoreAtom size;               /* HIST: of each result */
    bool exclusive, commutative; /* SCAN; REDUCE */
    bool stays; /* REDUCE: each result is an array of one, which the host does not wait for (sink_loads.c) */
    bool grows; /* MAP: of a list that is full with room for as many more (growing_lists.c): it takes no longer than the
                   rounds that filled it */
} CoreSoac;

/* What a MAP has of another kind's. */
static inline CoreSoac core_soac_of_map(CoreSoac s)
{
    return (CoreSoac){s.domain, s.index, s.inputs, s.elements, s.ninputs, s.guard, s.body, .grows = s.grows};
}

typedef enum CoreKind { /* see kinds.def */
#define KIND(NAME, ...) CORE_##NAME,
#include "core/kinds.def"
#undef KIND
} CoreKind;
/* `case CORE_SOAC:` names all kinds with a CoreSoac, `case CORE_PARALLEL:` all of CODE_PARALLEL, for switches. */
#define CORE_SOAC                                                                                                      \
    CORE_MAP:                                                                                                          \
    case CORE_REDUCE:                                                                                                  \
    case CORE_SCAN:                                                                                                    \
    case CORE_SCATTER:                                                                                                 \
    case CORE_ACCUMULATE:                                                                                              \
    case CORE_HIST
#define CORE_PARALLEL                                                                                                  \
    CORE_SOAC:                                                                                                         \
    case CORE_UPDATE:                                                                                                  \
    case CORE_ARRAY:                                                                                                   \
    case CORE_CHECK_ROWS:                                                                                              \
    case CORE_CALL:                                                                                                    \
    case CORE_MANY:                                                                                                    \
    case CORE_PARAM:                                                                                                   \
    case CORE_FEW:                                                                                                     \
    case CORE_MEMORY:                                                                                                  \
    case CORE_FITTED:                                                                                                  \
    case CORE_NOTHING:                                                                                                 \
    case CORE_ARGSORT:                                                                                                 \
    case CORE_FLATTEN:                                                                                                 \
    case CORE_TABLE

struct CoreStmt {
    CoreKind kind;
    Span span;
    uint32_t site; /* into CoreProgram.sites, or CORE_NO_SITE */
    CoreVar *vars; /* what it binds */
    uint32_t nvars;
    uint32_t mark; /* for the pass at hand; means nothing between passes */
    union {
        CoreAtom atom; /* CORE_ATOM */
        struct {
            CorePrim op;
            CoreAtom *args;
            uint32_t nargs;
        } prim; /* CORE_PRIM */
        struct {
            CoreAtom array;
        } length; /* CORE_LENGTH, CORE_FLATTEN, CORE_TABLE */
        struct {
            CoreAtom array, index;
        } index; /* CORE_INDEX */
        struct {
            CoreAtom array, from, to;
        } slice; /* CORE_SLICE */
        struct {
            CoreAtom array, index, value;
            bool holds; /* the index is known to be one of the array's; without a site */
        } update;       /* CORE_UPDATE */
        struct {
            CoreAtom *items;
            uint32_t n;
        } array; /* CORE_ARRAY */
        struct {
            CoreAtom cond;
            CoreAtom values[3];
            uint32_t nvalues;
        } check; /* CORE_CHECK */
        struct {
            CoreAtom *args;
            uint32_t nargs, depth;
        } rows; /* CORE_CHECK_ROWS */
        struct {
            CoreAtom cond;
            CoreBlock *then_b, *else_b;
        } if_;   /* CORE_IF */
        struct { /* CORE_LOOP */
            CoreVar *params;
            CoreAtom *inits;
            uint32_t nparams; /* state; the body's results are the next state */
            CoreVar index;
            CoreAtom count;  /* for: index < count, i64; while: 0 */
            CoreBlock *cond; /* while: one bool over the params; for: NULL */
            CoreBlock *body;
            bool looks_ahead; /* while: rounds may be begun before it is known that there are any (look_ahead.c) */
            bool long_rows;   /* goes on where rows are too long to be copied (growing_rows.c) */
        } loop;
        struct {
            CoreFn *fn;
            CoreAtom *args;
            uint32_t nargs;
        } call; /* CORE_CALL */
        struct {
            CoreAtom memory;
            CoreBlock *block;
            uint32_t of; /* LaneOf (runtime/params.h); all but LANE_OF_NEST give up where a round has too much to do */
        } lane;          /* CORE_LANE */
        struct {
            CoreAtom *results;
            uint32_t n;
        } fitted; /* CORE_FITTED */
        struct {
            bool gives;  /* do the lanes give arrays that they make? */
            uint32_t of; /* LaneOf */
        } memory;        /* CORE_MEMORY */
        struct {
            CoreAtom work, wide;
            uint32_t launches, on_gpu; /* on_gpu: what they come to there (RoundCost) */
        } few;                         /* CORE_FEW */
        struct {
            uint32_t of; /* DpTuning (runtime/params.h) */
        } param;         /* CORE_PARAM */
        struct {
            uint32_t of; /* what flattened code would be: NestOf (runtime/params.h) */
            /* Where instances share what their reductions read: how many of these an instance has, how long they are;
             * or constants, 0. */
            CoreAtom cells, length;
        } many;        /* CORE_MANY */
        CoreSoac soac; /* CORE_SOAC */
        struct {
            CoreAtom *keys, *columns, *ends;
            uint32_t nkeys, ncolumns, nends; /* nends: 0, or 2, how many of the first and of the last anybody reads */
        } argsort;                           /* CORE_ARGSORT; see core_argsort_positions */
    };
};

typedef struct CoreVarInfo {
    CoreType type;
    const char *hint; /* name for printing, or NULL */
} CoreVarInfo;

struct CoreFn {
    const char *name; /* unique in the program; printable */
    const char *of;   /* the function whose copy it is, as messages call it; or NULL */
    uint32_t index;   /* in CoreProgram.fns */
    bool recursive;   /* member of a recursive group */
    CoreVar *params;
    uint32_t nparams;
    CoreType *results; /* = types of body's results */
    uint32_t nresults;
    CoreBlock *body;
    VEC(CoreVarInfo) vars;
    Span span;
};

static inline const char *core_fn_called(const CoreFn *fn) { return fn->of ? fn->of : fn->name; }

/* An entry: the outside types, from which values are read and printed. Each parameter of type T takes
 * core_leaves(T) parameters of fn, in order; likewise the result. */
typedef struct CoreEntry {
    Name name;
    CoreFn *fn;
    const char **param_names; /* as written, or "_" */
    Type **param_types;
    uint32_t nparams;
    Type *result_type;
    const char **param_texts; /* the types as declared, which dp_type_parse reads: "text", "{b: i32, a: f32}" */
    const char *result_text;
    const char *signature; /* for --help: "main (xs: [i32]) : i32" */
} CoreEntry;

typedef struct CoreProgram {
    Session *session;
    Arena *arena;
    VEC(CoreFn *) fns;
    VEC(CoreEntry) entries;
    VEC(CoreSite) sites;
} CoreProgram;

/* The leaves of a source type in core order: (i32, [(f64, [u8])]) has i32, [f64], [[u8]]. Appends to
 * `out` (any VEC of CoreType): returns how many. Unit is one bool; a sum is its tag, then the payloads. */
typedef VEC(CoreType) CoreTypes;
void core_leaves(Arena *a, Type *t, CoreTypes *out);
/* The smallest unsigned type that tells n alternatives apart: a sum's constructors, a merged group's members. */
Scalar core_tag_type(uint32_t n);

/* ---- construction ---- */
CoreVar core_new_var(const CoreProgram *p, CoreFn *fn, CoreType type, const char *hint);
CoreBlock *core_new_block(const CoreProgram *p);
CoreStmt *core_new_stmt(const CoreProgram *p, CoreKind kind, Span span); /* site = CORE_NO_SITE */
uint32_t core_new_site(CoreProgram *p, ErrorKind kind, Span span, const char *text);
void core_push(const CoreProgram *p, CoreBlock *b, CoreStmt *s);
/* Leaves the block without statements, to be filled anew, and returns it as it was. */
CoreBlock core_take_stmts(CoreBlock *b);
/* Appends b's statements and results to those of `to`. */
void core_append_block(const CoreProgram *p, CoreBlock *to, const CoreBlock *b);
/* a's n elements, then b's m, as one array. */
void *core_joined(const CoreProgram *p, const void *a, uint32_t n, const void *b, uint32_t m, size_t bytes);
#define CORE_JOIN(p, a, n, b, m) ((a) = core_joined((p), (a), (n), (b), (m), sizeof *(a)))
static inline CoreType core_var_type(const CoreFn *fn, CoreVar v) { return fn->vars.at[v].type; }
static inline CoreType core_atom_type(const CoreFn *fn, CoreAtom a)
{
    return a.is_const ? a.type : fn->vars.at[a.var].type;
}

/* ---- what the kinds have, from kinds.def ---- */
typedef enum CoreFieldKind {
    FIELD_END,
    FIELD_ATOM,
    FIELD_ATOMS,
    FIELD_VALUES,
    FIELD_BINDER,
    FIELD_BINDERS,
    FIELD_BLOCK,
    FIELD_SOAC,    /* the CoreSoac, whose parts follow as fields of their own; `count` is core_stmt_places */
    FIELD_OPERATOR /* a CoreLambda, likewise */
} CoreFieldKind;
typedef struct CoreField {
    CoreFieldKind kind;
    uint16_t at, count; /* offsets in CoreStmt */
} CoreField;
typedef enum CoreResults { RESULTS_NO, RESULTS_ONE, RESULTS_MANY } CoreResults;
typedef enum CoreCode { CODE_SCALAR, CODE_PARALLEL } CoreCode;
typedef enum CoreFails { FAILS_NEVER, FAILS_AT_SITE, FAILS_INSIDE, FAILS_ALWAYS, FAILS_SPECIALLY } CoreFails;
typedef enum CoreSame { SAME_NOT, SAME_OPERANDS, SAME_WHOLE } CoreSame;
typedef enum CoreLength {
    LENGTH_UNKNOWN,
    LENGTH_DOMAIN,
    LENGTH_SIZE,
    LENGTH_ITEMS,
    LENGTH_OPERAND,
    LENGTH_DESTS,
    LENGTH_SLICE
} CoreLength;
enum { CORE_MOST_FIELDS = 13 };
typedef struct CoreKindInfo {
    const char *word;
    CoreResults results;
    CoreCode code;
    CoreFails fails;
    CoreSame same;
    CoreLength length;
    CoreField fields[CORE_MOST_FIELDS]; /* the last is FIELD_END */
} CoreKindInfo;
const CoreKindInfo *core_kind(CoreKind kind);
/* What a field of the statement has, *n of them; none if it is of another kind. */
CoreAtom *core_field_atoms(const CoreStmt *s, const CoreField *f, uint32_t *n);
CoreVar *core_field_binders(const CoreStmt *s, const CoreField *f, uint32_t *n);
CoreBlock **core_field_block(const CoreStmt *s, const CoreField *f); /* or NULL */

/* ---- traversal, so that passes need not know every kind ---- */
/* Calls f on every atom the statement itself reads (not inside its blocks); f may change it. */
void core_stmt_atoms(CoreStmt *s, void (*f)(void *ctx, CoreAtom *a), void *ctx);
/* Calls f on every block of the statement (guard, body, cond, branches, operator). */
void core_stmt_blocks(CoreStmt *s, void (*f)(void *ctx, CoreBlock *b), void *ctx);
/* Calls f on every atom that the block reads, its results and the blocks inside included. */
void core_block_atoms(CoreBlock *b, void (*f)(void *ctx, CoreAtom *a), void *ctx);
/* The same of a statement: what it reads, and what its blocks read. */
void core_stmt_all_atoms(CoreStmt *s, void (*f)(void *ctx, CoreAtom *a), void *ctx);
/* Is there such a variable among these atoms? */
bool core_block_reads(CoreBlock *b, bool (*is)(void *ctx, CoreAtom a), void *ctx);
bool core_stmt_reads(CoreStmt *s, bool (*is)(void *ctx, CoreAtom a), void *ctx);
/* For the functions above: counts how often the variable is read, with a CoreUses *. */
typedef struct CoreUses {
    CoreVar var;
    uint32_t n;
} CoreUses;
void core_count_use(void *uses, CoreAtom *a);
/* Is it the statement that binds v? The statement of the block that binds the atom, not inside of others; or NULL. */
bool core_stmt_binds(const CoreStmt *s, CoreVar v);
/* Which of the statement's results it is; or nvars. */
uint32_t core_stmt_result(const CoreStmt *s, CoreAtom a);
CoreStmt *core_block_def(const CoreBlock *b, CoreAtom a);
/* The statements of `front` become the block's first ones. */
void core_put_in_front(const CoreProgram *p, CoreBlock *b, const CoreBlock *front);
/* The statement anywhere in the function that binds it; or NULL. */
CoreStmt *core_fn_def(const CoreFn *fn, CoreAtom a);
/* Is it the operation's position, one of its elements, or bound by its body itself? */
bool core_soac_binds(const CoreStmt *s, CoreAtom a);
/* Is the slice n elements from one on? `to`: what makes its end, or NULL. */
bool core_length_of_piece(const CoreStmt *slice, const CoreStmt *to, CoreAtom *n);
/* own_places.c. Is it `from` plus the operation's position? */
bool core_is_place(const CoreStmt *s, CoreAtom at, CoreAtom from);
/* Does the block read of the array nothing but the element `at`? */
bool core_reads_only_at(CoreBlock *b, CoreVar array, CoreAtom at);
/* Does the scatter store at places of which no two are the same, and read of this destination no other element than the
 * one that it stores? Then it may change it where it is. */
bool core_reads_own_place(const CoreStmt *s, CoreAtom dest);
/* Calls f on every variable the statement binds inside for its blocks (elements, index, params). */
void core_stmt_binders(CoreStmt *s, void (*f)(void *ctx, CoreVar *v), void *ctx);
/* A deep copy of a block of `from` into function `to`, with fresh variables for all it binds;
 * `map[v]`, an array of from->vars.n atoms, holds the replacement of free variables (and receives those of
 * the bound ones). */
CoreBlock *core_copy_block(const CoreProgram *p, CoreFn *to, const CoreFn *from, const CoreBlock *b, CoreAtom *map);
/* Of a whole function, with its name and index; it is none of the program's yet. */
CoreFn *core_copy_fn(const CoreProgram *p, const CoreFn *fn, Arena *scratch);
/* ARGSORT: how many of its variables are positions, 0 or 1. */
static inline uint32_t core_argsort_positions(const CoreStmt *s) { return s->nvars - s->argsort.ncolumns; }
/* Can evaluating the statement fail (its blocks included)? Calls count as fallible; loops (while) too. Any of the
 * block's (NULL: none)? */
bool core_stmt_fallible(const CoreProgram *p, const CoreFn *fn, const CoreStmt *s);
bool core_block_fallible(const CoreProgram *p, const CoreFn *fn, const CoreBlock *b);
/* The soac of a statement of a kind that has one, else NULL. Its operator, if it has one. How many positions (i64) its
 * body gives in front of the values: 1 if these go somewhere. */
CoreSoac *core_stmt_soac(const CoreStmt *s);
CoreLambda *core_stmt_operator(const CoreStmt *s);
/* The array that an update, or a scatter to one array, changes; else a constant. */
CoreAtom core_stmt_changes(const CoreStmt *s);
uint32_t core_stmt_places(const CoreStmt *s);
/* Code that may stand in a kernel and, but for CORE_LANE, on the host: it makes no sequences that others see, and calls
 * nothing. */
bool core_stmt_is_scalar(const CoreStmt *s);
bool core_block_is_scalar(const CoreBlock *b);
/* s, if it is this operation, else NULL (s may be, too); is it this operation on these two, in this order? */
const CoreStmt *core_as_prim(const CoreStmt *s, CorePrim op);
bool core_is_prim2(const CoreStmt *s, CorePrim op, CoreAtom x, CoreAtom y);
/* Result i, where it is one operation on the same part of both sides; else PRIM_COUNT. */
CorePrim core_op_part(const CoreLambda *op, uint32_t i);
/* Does the operator combine each part of both sides by itself, by an operation in which they may change places? */
bool core_op_commutes(const CoreFn *fn, const CoreLambda *op);
/* Is there a combination that nothing can change any more: of and a false, of or a true? */
bool core_op_settles(const CoreFn *fn, const CoreLambda *op);
/* Replaces every function's body by a copy in which no two statements share an array and the variables are
 * numbered without gaps, in the order of their binders. */
void core_refresh(CoreProgram *p);
/* A map for core_copy_block in which every variable of fn stands for itself. */
CoreAtom *core_identity_map(Arena *a, const CoreFn *fn);
/* Such a map, begun as {0}, serves many copies: one each would be quadratic. Before copies new variables of fn have to
 * be noted, and behind them what the copied statement, or code in it, binds is to be forgotten: it stands for itself
 * again. A copy of a block of fn in it, so. */
typedef VEC(CoreAtom) CoreCopyMap;
void core_copy_map_note(CoreCopyMap *map, const CoreFn *fn, Arena *scratch);
void core_copy_map_forget(CoreCopyMap *map, const CoreFn *fn, CoreStmt *s);
CoreBlock *core_copy_within(const CoreProgram *p, CoreFn *fn, CoreBlock *b, Arena *scratch, CoreCopyMap *map);

const char *core_many_words(uint32_t of); /* " loops" */
const char *core_lane_words(uint32_t of); /* " whole" */
void core_print(StrBuf *out, const CoreProgram *p);
void core_print_fn(StrBuf *out, const CoreProgram *p, const CoreFn *fn);
/* A block's statements and results of function fn, a line each, indented by `depth`. */
void core_print_block(StrBuf *out, const CoreProgram *p, const CoreFn *fn, const CoreBlock *b, int depth);
void core_print_stmt(StrBuf *out, const CoreProgram *p, const CoreFn *fn, const CoreStmt *s);
void core_print_var(StrBuf *out, const CoreFn *fn, CoreVar v); /* "%12.xs" */
/* Scoping, single binding, types of every operation, arity of blocks. Prints the first problem into
 * `why` and returns false. */
bool core_check(const CoreProgram *p, StrBuf *why);

#endif
