/* Types during and after inference. Hash-consed where ground; unification variables are mutable
 * cells, resolved by `type_prune`.
 *
 * Sizes do not take part in unification: `[n]t` and `[t]` are the same Type. The size annotations
 * that have to be checked at run time stay in the syntax tree, and the elaborator emits checks.
 *
 * A type variable carries a class: the set of types it may stand for.
 *     CLASS_ANY      everything but functions is not implied: any type
 *     CLASS_NUM      i8..u64 f32 f64          CLASS_INT    i8..u64
 *     CLASS_FLOAT    f32 f64                  CLASS_SCALAR scalars, bool included
 *     CLASS_ORD      what can be compared: all but functions and what contains them
 * Unifying two variables meets their classes; unifying a NUM variable with a tuple is an error. At
 * the end of a definition, unresolved NUM and INT variables that came from literals default to i64,
 * FLOAT ones to f64. */
#ifndef DPC_TYPE_H
#define DPC_TYPE_H

#include "support/session.h"
#include "support/strbuf.h"

typedef enum Scalar {
    SC_BOOL,
    SC_I8,
    SC_I16,
    SC_I32,
    SC_I64,
    SC_U8,
    SC_U16,
    SC_U32,
    SC_U64,
    SC_F32,
    SC_F64,
    SCALAR_COUNT
} Scalar;

const char *scalar_name(Scalar s); /* "i32" */
static inline bool scalar_is_float(Scalar s) { return s >= SC_F32; }
static inline bool scalar_is_int(Scalar s) { return s >= SC_I8 && s <= SC_U64; }
static inline bool scalar_is_signed(Scalar s) { return s >= SC_I8 && s <= SC_I64; }
static inline uint32_t scalar_bytes(Scalar s)
{
    static const uint8_t bytes[SCALAR_COUNT] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    return bytes[s];
}

typedef enum TypeClass { CLASS_ANY, CLASS_ORD, CLASS_SCALAR, CLASS_NUM, CLASS_INT, CLASS_FLOAT } TypeClass;

typedef enum TypeKind { TY_SCALAR, TY_TUPLE, TY_RECORD, TY_SUM, TY_ARRAY, TY_FUN, TY_VAR, TY_RIGID, TY_ERROR } TypeKind;

typedef struct Type Type;
/* The declared type that a type was written as: messages show it by that name. Equality and unification do
 * not look at it. */
typedef struct TypeAlias {
    const struct Def *def;
    Type **args;
    uint32_t n;
} TypeAlias;
struct Type {
    TypeKind kind;
    const TypeAlias *alias; /* or NULL */
    bool is_text; /* the library's `text`, a [u8] whose files are raw bytes; equality does not look at it either */
    union {
        Scalar scalar;
        struct {
            Type **items;
            uint32_t n;
        } tuple; /* n = 0: unit */
        struct {
            Name *names;
            Type **items;
            uint32_t n; /* TY_RECORD, fields sorted by name text; */
            const uint32_t *order;
        } record;      /*   the fields in declared order, NULL: by name;
                          TY_SUM, constructors sorted by name text, item NULL: no payload */
        Type *element; /* TY_ARRAY */
        struct {
            Type *from, *to;
        } fun;
        struct {
            Type *link;
            TypeClass cls;
            uint32_t level, id;
            bool is_literal;
            Name declared; /* a declared 'a while its definition is checked, else NULL: stays a variable */
        } var;             /* TY_VAR */
        struct {
            Name name;
            TypeClass cls;
            uint32_t index;
            bool is_data; /* never a function: the element of an array or the result of a choice */
        } rigid;          /* TY_RIGID: a quantified variable of the
                             definition at hand; `index` counts within its scheme */
    };
};

/* A scheme: `type` mentions TY_RIGID 0..nvars-1. */
typedef struct Scheme {
    Type *type;
    uint32_t nvars;
    TypeClass *classes;
    Name *names; /* of the variables, as type_print shows them */
} Scheme;

/* Construction. Arrays given are kept, not copied; names must be sorted by text. */
Type *type_scalar(Arena *a, Scalar s);
Type *type_tuple(Arena *a, Type **items, uint32_t n);
Type *type_named(Arena *a, TypeKind record_or_sum, Name *names, Type **items, uint32_t n);
Type *type_array(Arena *a, Type *element);
Type *type_fun(Arena *a, Type *from, Type *to);

Type *type_prune(Type *t);             /* follows links of the outermost node */
void type_print(StrBuf *out, Type *t); /* as users write it: (i32, [f64]) -> bool */
/* For values outside the program: with `text` where it is declared so, and fields in declared order. */
void type_print_declared(StrBuf *out, Type *t);
const char *type_text(Arena *a, Type *t);
/* "num", "int", …; "any" for CLASS_ANY. */
const char *type_class_name(TypeClass c);
/* Replaces TY_RIGID i by args[i], everywhere, following links. */
Type *type_substitute(Arena *a, Type *t, Type *const *args, uint32_t nargs);

#endif
