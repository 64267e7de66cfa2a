/* Formulas of sizes: sums of products, as `3 n log n + 2 m + 5`.
 *
 * A formula is a sum of terms, a term a number times factors. A factor is a size with a name (a symbol), or something
 * of formulas that is no sum of products: a logarithm, a maximum, a sum over what is different for each element, the
 * cost of a recursive call. Formulas are kept in one form, so that equal ones are equal term by term, and are never
 * changed. Symbols stand for numbers that are not negative, but for those that say so. Numbers stop at the largest i64.
 *
 * A scope is an operation whose instances or rounds have sizes of their own: these symbols are the scope's, and nothing
 * outside of it speaks of them but under a sum or maximum over it. */
#ifndef DPC_FORMULA_H
#define DPC_FORMULA_H

#include "core/core.h"

typedef struct Formula Formula;
typedef struct Symbol Symbol;

typedef struct Scope Scope;
struct Scope {
    const Scope *outer;
    const Formula *count; /* of instances, or rounds */
};

typedef enum SymbolKind {
    SYMBOL_LENGTH,   /* of a parameter */
    SYMBOL_TOTAL,    /* of its rows */
    SYMBOL_LONGEST,  /* of its rows */
    SYMBOL_NUMBER,   /* a parameter */
    SYMBOL_INDEX,    /* of an instance or round */
    SYMBOL_ROW,      /* the length of an element */
    SYMBOL_KEPT,     /* by a filter */
    SYMBOL_ROUNDS,   /* of a loop */
    SYMBOL_COMPUTED, /* what the program computes from its data */
    SYMBOL_STATE,    /* of a loop */
    SYMBOL_RESULT    /* of a recursive call */
} SymbolKind;

struct Symbol {
    uint32_t id;
    SymbolKind kind;
    const Scope *scope;
    const char *hint; /* a variable's name, or NULL */
    Span span;
    uint32_t depth;           /* SYMBOL_TOTAL, SYMBOL_LONGEST: how many levels below the parameter */
    bool negative;            /* it may be */
    bool all, most;           /* of several: their sum, their maximum */
    const Formula *sum, *max; /* over the scope, if they are known */
    const Formula *alias;     /* what it is known to be, or NULL */
    const char *name;         /* once it has one */
};

typedef enum FactorKind {
    FACTOR_SYMBOL,
    FACTOR_LOG,
    FACTOR_MAX,
    FACTOR_MIN,
    FACTOR_HALVES,
    FACTOR_SUM,
    FACTOR_CALL
} FactorKind;

typedef struct Factor {
    FactorKind kind;
    const char *key;      /* equal for equal ones */
    Symbol *symbol;       /* FACTOR_SYMBOL */
    const Formula *a, *b; /* of LOG a; of MAX, MIN both; a / divisor rounded down; SUM of a */
    int64_t divisor;
    const Scope *scope; /* FACTOR_SUM: over its instances */
    const CoreFn *fn;   /* FACTOR_CALL, of `nargs` sizes */
    bool span;          /* the call's span, else its work */
    const Formula **args;
    uint32_t nargs;
} Factor;

typedef struct Term {
    int64_t number;         /* never 0 */
    const Factor **factors; /* by key */
    uint32_t n;
} Term;

struct Formula {
    Term *terms; /* by degree, then by their factors' keys */
    uint32_t n;  /* 0: the number 0 */
};

const Formula *formula_number(Arena *a, int64_t x);
const Formula *formula_symbol(Arena *a, Symbol *s);
const Formula *formula_add(Arena *a, const Formula *x, const Formula *y);
const Formula *formula_sub(Arena *a, const Formula *x, const Formula *y);
const Formula *formula_mul(Arena *a, const Formula *x, const Formula *y);
const Formula *formula_log(Arena *a, const Formula *x); /* rounded up; of 0 and 1 it is 0 */
const Formula *formula_max(Arena *a, const Formula *x, const Formula *y);
const Formula *formula_min(Arena *a, const Formula *x, const Formula *y);
const Formula *formula_div(Arena *a, const Formula *x, int64_t divisor); /* rounded down; x is not negative */
const Formula *formula_call(Arena *a, const CoreFn *fn, bool span, const Formula **args, uint32_t nargs);

bool formula_equal(const Formula *x, const Formula *y);
/* Is it sure that x <= y, or that x is not negative? */
bool formula_at_most(Arena *a, const Formula *x, const Formula *y);
bool formula_not_negative(const Formula *x);
bool formula_is_number(const Formula *x, int64_t *number);
Symbol *formula_is_symbol(const Formula *x); /* or NULL */
bool formula_mentions(const Formula *x, const Symbol *s);
bool formula_varies(const Formula *x, const Scope *scope);

/* Each symbol replaced by what `f` gives for it; NULL: it stays. */
typedef const Formula *ReplaceSymbol(void *ctx, Symbol *s);
const Formula *formula_replace(Arena *a, const Formula *x, ReplaceSymbol *f, void *ctx);
/* Calls f on each symbol, those inside of factors included; `in_call`: in the sizes of a recursive call. */
typedef void VisitSymbol(void *ctx, Symbol *s);
void formula_symbols(const Formula *x, VisitSymbol *f, void *ctx);

/* Over all instances of the scope: the sum, exact; the largest, or a bound of it. `fresh` makes the symbol that stands
 * for the sum (or maximum, `most`) of one that has none. */
typedef Symbol *FreshSymbol(void *ctx, const Symbol *of, bool most);
const Formula *formula_sum_over(Arena *a, const Formula *x, const Scope *scope, FreshSymbol *fresh, void *ctx);
const Formula *formula_max_over(Arena *a, const Formula *x, const Scope *scope, FreshSymbol *fresh, void *ctx);

/* For people, `3 n log n + 2`; or for programs, `3*n*log(n) + 2`. `show` says which sizes of a call are shown; or NULL.
 */
typedef bool ShowArgument(void *ctx, const CoreFn *fn, uint32_t arg);
void formula_print(StrBuf *out, const Formula *x, bool for_programs, ShowArgument *show, void *ctx);

#endif
