/* Shared by the files of the elaborator (elaborate*.c); no other pass includes this.
 *
 * Elaboration is a symbolic evaluation of the typed tree. An expression's result is a `Value`: products
 * are trees, scalars, sequences and sums are lists of core atoms (their leaves), functions are closures
 * that exist only here. Applying a closure elaborates its body again, in the closure's environment: that
 * is how higher-order code disappears. Functions of the program that must stay functions (recursive ones,
 * and the user's first-order ones) become core functions, one per `Spec`.
 *
 * Environments are persistent lists, so a closure's environment is a pointer. Core statements are
 * appended to `Elab.block`, the innermost open block of the function being built. */
#ifndef DPC_ELABORATE_INTERNAL_H
#define DPC_ELABORATE_INTERNAL_H

#include "core/build.h"
#include "core/passes.h"
#include "support/lineage.h"
#include "support/ptrmap.h"
#include "types/check.h"

typedef struct Value Value;
typedef struct Env Env;
typedef VEC(CoreAtom) Atoms;
typedef VEC(Value *) Values;

typedef enum ValueKind { VALUE_LEAVES, VALUE_PRODUCT, VALUE_FUN } ValueKind;

typedef enum FunKind {
    FUN_LAMBDA, /* `expr` in `env` */
    FUN_LOCAL,  /* a local function; `env` is its own entry */
    FUN_DEF,    /* a top-level function with parameters, or a recursive one */
    FUN_BUILTIN,
    FUN_OP,    /* an operator section; `flip`: (op e), whose first argument is e */
    FUN_POISON /* stands for any function after an error */
} FunKind;

struct Value {
    ValueKind kind;
    Type *type; /* ground */
    union {
        struct {
            CoreAtom *atoms;
            uint32_t n;
            bool length_known; /* of a sequence: from how it is made. The rest is for core_simplify to find out */
            CoreAtom length;
        } leaves; /* VALUE_LEAVES: scalar, sequence, sum, unit */
        struct {
            Value **items;
            uint32_t n;
        } product; /* VALUE_PRODUCT: tuple or record with components */
        struct {   /* VALUE_FUN */
            FunKind kind;
            bool flip;
            BinaryOp op;
            Builtin builtin;
            Expr *expr;
            Def *def;
            Env *env;
            Type *base; /* the type before any argument was given */
            Type **targs;
            uint32_t ntargs;
            Value **args;
            uint32_t nargs; /* given so far */
            Span user;      /* for library lambdas: the user's place they belong to */
        } fun;
    };
};

typedef enum EnvKind { ENV_VALUE /* of a pattern's name */, ENV_SIZE, ENV_FUN } EnvKind;

struct Env {
    Env *next;
    Lineage lineage; /* of the list; its depth is the order of binding */
    EnvKind kind;
    uint32_t pat_id; /* ENV_VALUE */
    Name name;
    Value *value;   /* ENV_VALUE, ENV_SIZE */
    Expr *let_fun;  /* ENV_FUN: the E_LET_FUN */
    bool recursive; /* ENV_FUN */
    Env *home;      /* ENV_FUN: where it was defined */
    Type **targs;
    uint32_t ntargs; /* ENV_FUN: the types of the enclosing definitions */
    Span user;       /* ENV_FUN */
};

typedef struct Scope {
    Env *env;
    Type **targs;
    uint32_t ntargs; /* for TY_RIGID */
    Span user;       /* reported instead of places in the library */
} Scope;

/* A core function and what its body is elaborated from. */
typedef struct Spec {
    Name key;
    CoreFn *fn;
    const Value *callee; /* FUN_DEF or FUN_LOCAL, over fn's variables */
    Value **args;
    uint32_t nargs;
    Span user;
    bool sizes_hold; /* its callers check the sizes in its parameters */
} Spec;

typedef struct Elab {
    Session *s;
    const Checked *checked;
    Arena *arena;
    CoreProgram *p;
    VEC(Spec *) specs;
    uint32_t specs_done;
    PtrMap specs_by_key;      /* Spec.key -> Spec */
    PtrMap specs_of_def;      /* Def -> how many */
    Env **latest;             /* by Pat.id: the last entry of a variable */
    PtrMap fn_names;          /* Name -> the number to try next behind it */
    uint64_t steps;           /* applications elaborated: stops exponential inlining */
    uint32_t constants_open;  /* definitions without parameters that are being expanded */
    uint32_t in_constants;    /* applications in such expansions, and statements that they have made */
    uint32_t expansions_open; /* applications that are being expanded in place */
    uint64_t in_expansions;   /* statements that those have made */
    uint32_t depth;           /* of nested expressions, inlined bodies included */
    bool gave_up;             /* a limit was reported */
    bool sizes_hold;          /* parameters are being bound whose sizes the caller has checked */
    /* the function being built */
    CoreFn *fn;
    CoreBlock *block;
    Span at;           /* place of the operation at hand, never in the library */
    VEC(uint8_t) used; /* by CoreVar: some statement or result reads it */
} Elab;

/* ---- types (elaborate_types.c) ---- */
Type *elab_type(Elab *e, const Scope *sc, Type *t); /* ground */
Type *elab_expr_type(Elab *e, const Scope *sc, const Expr *x);
Type **elab_types(Elab *e, const Scope *sc, Type *const *ts, uint32_t n);
CoreTypes ty_leaves(Elab *e, Type *t);
uint32_t ty_leaf_count(Elab *e, Type *t);
bool ty_has_function(Type *t);
uint32_t ty_arity(Type *t);
Type *ty_after(Type *t, uint32_t nargs);
bool ty_is_scalar(Type *t);
Scalar ty_scalar(Type *t);
bool ty_leaves_all_scalar(Elab *e, Type *t);
uint32_t ty_field(Type *t, Name name); /* position in a record or sum; UINT32_MAX */
/* The type that a pattern's rigid variable stands for; the pattern is that variable, or sequences of it. */
void ty_match(Type *pattern, Type *ground, Type **args);

/* ---- values (elaborate_values.c) ---- */
Value *val_leaves(Elab *e, Type *t, const CoreAtom *atoms, uint32_t n);
/* Sequences that are made so long, or as long as xs. */
Value *val_sequence(Elab *e, Type *t, const CoreAtom *atoms, uint32_t n, CoreAtom length);
Value *val_as_long(Elab *e, Type *t, const CoreAtom *atoms, uint32_t n, const Value *xs);
Value *val_scalar(Elab *e, CoreAtom a);
Value *val_from_atoms(Elab *e, Type *t, const CoreAtom *atoms);
Value *val_product(Elab *e, Type *t, Value **items);
Value *val_fun(Elab *e, FunKind kind, Type *t, const Scope *sc);
Value *val_default(Elab *e, Type *t); /* zeros, empty sequences */
Value *val_unit(Elab *e, Type *t);
void val_atoms(Elab *e, const Value *v, Atoms *out); /* data only: an error is reported for functions */
CoreAtom val_atom(const Value *v);                   /* of a scalar or a one-leaf value */
CoreAtom val_first_leaf(const Value *v);
bool val_has_function(const Value *v);

/* ---- environments and closures (elaborate_env.c) ---- */
void env_bind_value(Elab *e, Scope *sc, uint32_t pat_id, Name name, Value *v);
void env_bind_size(Elab *e, Scope *sc, Name name, CoreAtom n);
void env_bind_fun(Elab *e, Scope *sc, Expr *let_fun);
Env *env_find_pat(const Elab *e, Env *env, uint32_t pat_id);
Env *env_find_size(Env *env, Name name); /* a size or an integer variable of that name */
Env *env_find_fun(Env *env, const Def *def);
/* Where a local function's body is elaborated: it sees itself exactly when it is recursive. */
Env *env_of_local(Elab *e, const Env *entry);
/* Everything in core that a value depends on: its leaves, or the leaves its closure captured. */
void closure_atoms(Elab *e, const Value *v, Atoms *out, uint32_t *fuel);
/* Tells apart what must be specialised apart: closures by their code, types and captured functions. */
void closure_key(Elab *e, const Value *v, StrBuf *out, uint32_t *fuel);
/* The same value over other atoms, taken in closure_atoms' order from *atoms on. */
Value *closure_rebase(Elab *e, const Value *v, const CoreAtom **atoms);

/* ---- emission (elaborate_anf.c) ---- */
Span elab_place(const Elab *e, const Scope *sc, Span span);
CoreAtom anf_prim(Elab *e, CorePrim op, Scalar result, const CoreAtom *args, uint32_t n);
CoreAtom anf_unary(Elab *e, CorePrim op, CoreAtom a);
CoreAtom anf_binary(Elab *e, CorePrim op, CoreAtom a, CoreAtom b);
CoreAtom anf_compare(Elab *e, CorePrim op, CoreAtom a, CoreAtom b);
CoreAtom anf_and(Elab *e, CoreAtom a, CoreAtom b);
CoreAtom anf_select(Elab *e, CoreAtom c, CoreAtom x, CoreAtom y);
CoreAtom anf_convert(Elab *e, CoreAtom a, Scalar to);
CoreAtom anf_max0(Elab *e, CoreAtom n);
CoreAtom anf_length(Elab *e, const Value *xs);
CoreAtom anf_index(Elab *e, CoreAtom array, CoreAtom i, uint32_t site);
CoreAtom anf_slice(Elab *e, CoreAtom array, CoreAtom from, CoreAtom to, uint32_t site);
CoreAtom anf_array(Elab *e, CoreType type, const CoreAtom *items, uint32_t n);
void anf_check(Elab *e, CoreAtom cond, ErrorKind kind, const char *text, const CoreAtom *values, uint32_t n);
void anf_check_lengths(Elab *e, CoreAtom n, CoreAtom m);
void anf_check_same_length(Elab *e, const Value *xs, const Value *ys);
void anf_check_not_negative(Elab *e, CoreAtom n);
uint32_t anf_site(Elab *e, ErrorKind kind, const char *text);
CoreBuilder anf_builder(Elab *e);           /* of the open block; notes what statements read */
CoreStmt *anf_stmt(Elab *e, CoreKind kind); /* not yet pushed */
void anf_push(Elab *e, CoreStmt *s);        /* into the open block; notes what it reads */
/* Gives the statement one new variable per type; the variables as atoms. */
CoreAtom *anf_bind(Elab *e, CoreStmt *s, const CoreType *types, uint32_t n);
CoreVar anf_var(Elab *e, CoreType type, const char *hint);
bool anf_atom_is_int(CoreAtom a, uint64_t bits);

/* Statements go into a new block from here on; returns the one they went into, for the call that closes it. */
CoreBlock *anf_block_open(Elab *e);
CoreBlock *anf_block_close(Elab *e, CoreBlock *outer, const CoreAtom *results, uint32_t n);
CoreBlock *anf_block_close_value(Elab *e, CoreBlock *outer, const Value *v);

/* A parallel operation being built: inputs are added, then guard and body are elaborated over the
 * elements, then the inputs that nothing reads are left out. */
typedef struct Soac {
    CoreAtom domain;
    CoreVar index;
    Atoms inputs;
    VEC(CoreVar) elements;
    CoreBlock *guard;
} Soac;
Soac anf_soac_over(CoreAtom domain);
Value *anf_soac_input(Elab *e, Soac *b, const Value *array); /* the element */
CoreAtom anf_soac_index(Elab *e, Soac *b);
CoreSoac anf_soac_finish(Elab *e, const Soac *b, CoreBlock *body);
/* Closes the body, whose result is `element`: the sequence of them. */
Value *anf_soac_map(Elab *e, Soac *b, CoreBlock *outer, const Value *element);
CoreLambda anf_soac_operator(Elab *e, const Value *op, Type *t);
CoreAtom *anf_soac_reduce(Elab *e, const Soac *b, CoreBlock *body, CoreKind kind, CoreLambda op,
                          const CoreAtom *neutral, uint32_t k);
/* The reduction of one i64 per element by a primitive. */
CoreAtom anf_soac_reduce_prim(Elab *e, const Soac *b, CoreBlock *body, CorePrim op, CoreAtom neutral);

/* ---- expressions (elaborate_expr.c, elaborate_ops.c, elaborate_match.c, elaborate_each.c) ---- */
Value *elab_expr(Elab *e, const Scope *sc, Expr *x);
CoreAtom elab_scalar(Elab *e, const Scope *sc, Expr *x);
Value *elab_constant(Elab *e, const Scope *sc, Def *def);
Value *elab_name(Elab *e, const Scope *sc, Expr *x);
Value *elab_if_parts(Elab *e, CoreAtom cond, CoreBlock *then_b, CoreBlock *else_b, Type *t);
Value *elab_loop(Elab *e, const Scope *sc, Expr *x);
Value *elab_each(Elab *e, const Scope *sc, Expr *x);
Value *elab_match(Elab *e, const Scope *sc, Expr *x);
Value *elab_ctor(Elab *e, const Scope *sc, Expr *x);
Value *elab_sum_payload(Elab *e, const Value *sum, uint32_t ctor); /* zeros where it has another constructor */
void elab_bind_pattern(Elab *e, Scope *sc, const Pat *p, Value *v);
/* Checks the sizes written in `te` against v's lengths; unknown names become sizes. */
void elab_sizes(Elab *e, Scope *sc, const TypeExpr *te, const Value *v);
bool elab_type_has_sizes(const Elab *e, const TypeExpr *te);

Value *elab_binary(Elab *e, const Scope *sc, Expr *x); /* but && and || */
Value *elab_binary_values(Elab *e, BinaryOp op, Value *l, Value *r);
Value *elab_short_circuit(Elab *e, const Scope *sc, Expr *x);
Value *elab_unary(Elab *e, const Scope *sc, Expr *x);
CoreAtom elab_index_i64(Elab *e, const Value *index); /* any integer as i64, an index or a size */
Value *elab_index_value(Elab *e, const Value *array, CoreAtom i, bool checked);
Value *elab_slice_value(Elab *e, const Value *array, CoreAtom from, CoreAtom to, bool checked);
Value *elab_update_value(Elab *e, const Value *array, CoreAtom i, const Value *v);
Value *elab_append(Elab *e, const Value *l, const Value *r);
typedef struct Range {
    CoreAtom from, step, length;
} Range;
Range elab_range_parts(Elab *e, const Scope *sc, Expr *x);
CoreAtom elab_range_element(Elab *e, Range r, CoreAtom i);

/* ---- equality and order (elaborate_order.c) ---- */
CoreAtom elab_equal(Elab *e, const Value *l, const Value *r);
CoreAtom elab_equal_text(Elab *e, const Scope *sc, const Value *v, Expr *text); /* an E_STRING */
CoreAtom elab_less(Elab *e, const Value *l, const Value *r);                    /* in the order of sorting */
CoreAtom elab_compare(Elab *e, const Value *l, const Value *r); /* -1, 0 or 1 as i8, in the order of sorting */
CoreAtom elab_ordered(Elab *e, CorePrim op, const Value *l, const Value *r); /* < <= > >= */
CoreAtom elab_order_bits(Elab *e, CoreAtom a);
Value *elab_argsort(Elab *e, Value *xs);
/* The keys, xs, and whether each key is equal to the one before it, all in the order of the keys. */
Value *elab_sort_with(Elab *e, Value *keys, Value *xs, Type *result);

/* ---- rows that are pieces of a sequence (elaborate_pieces.c) ---- */
Value *elab_indices_i64(Elab *e, Value *is); /* any integers as [i64] */
CoreAtom elab_total_length(Elab *e, Value *lengths);
Value *elab_nest(Elab *e, const Value *xs, Value *lengths);
Value *elab_unflatten(Elab *e, CoreAtom n, CoreAtom m, const Value *xs);

/* ---- application (elaborate_apply.c, elaborate_builtin.c, elaborate_spec.c) ---- */
Value *elab_application(Elab *e, const Scope *sc, Expr *x);
Value *elab_apply(Elab *e, const Value *f, Value **args, uint32_t n);
Scope elab_scope_of(Elab *e, const Value *f); /* what parameters and body of a function are elaborated in */
Value *elab_inline(Elab *e, const Value *f, Value **args, uint32_t n);
Value *elab_builtin(Elab *e, Builtin b, Type *type, Value **args);
uint32_t elab_builtin_arity(Builtin b);
/* Calls a function of the prelude, the general case of a builtin. */
Value *elab_library_call(Elab *e, const char *name, Value **args, uint32_t n);
Value *elab_builtin_constant(Elab *e, Builtin b, Type *type);
bool elab_builtin_is_scalar(Builtin b);
uint32_t elab_fun_arity(Elab *e, const Value *f);
/* A call of the core function that `f` specialises to for these arguments. */
Value *elab_call(Elab *e, const Value *f, Value **args, uint32_t n);
Spec *elab_specialise(Elab *e, const Value *f, Value **args, uint32_t n);
/* Reports a limit of the compiler; from then on elaboration only comes to its end. */
void elab_give_up(Elab *e, DiagCode code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
