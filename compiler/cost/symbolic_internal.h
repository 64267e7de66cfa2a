/* Shared by the files of the symbolic analysis: symbolic.c (statements and functions), symbolic_soac.c (parallel
 * operations) and symbolic_sizes.c (symbols, shapes, what is known to be equal). */
#ifndef DPC_SYMBOLIC_INTERNAL_H
#define DPC_SYMBOLIC_INTERNAL_H

#include "core/last_use.h"
#include "cost/symbolic.h"

typedef struct Costs {
    const Formula *work, *span;
} Costs;

typedef struct Symbolic {
    const CoreProgram *p;
    Arena *arena;
    const LastUse *uses;
    FnCost *fns;
    uint32_t next_symbol;
    const Formula *zero, *one;
    /* of the function at hand */
    FnCost *cost;
    Known *vars;
    const Scope *scope;
    VEC(Symbol *) equated; /* those that have an alias, in order */
    uint32_t conditions;   /* branches and bodies around */
    int64_t fuel;          /* statements until nothing is looked at twice any more */
} Symbolic;

/* ---- symbolic_sizes.c ---- */
const Formula *size_fresh(Symbolic *x, SymbolKind kind, const char *hint, Span span);
const Shape *shape_fresh(Symbolic *x, uint32_t rank, SymbolKind kind, const char *hint, Span span);
Known known_fresh(Symbolic *x, CoreType t, SymbolKind kind, const char *hint, Span span);
const Shape *shape_of_length(Symbolic *x, const Formula *n); /* rank 1 */
/* A sequence of n elements (or so many of them as `kept`, if it is not NULL), each as `element` in the scope. */
const Shape *shape_over(Symbolic *x, const Scope *scope, const Formula *kept, const Known *element, uint32_t rank,
                        Span span);
/* The element of an instance of the scope at hand; or one somewhere. */
Known shape_element(Symbolic *x, const Shape *s, CoreType t, const char *hint, Span span);
Known shape_some_element(Symbolic *x, const Shape *s, CoreType t, const char *hint, Span span);
bool shape_equal(Symbolic *x, const Shape *a, const Shape *b);
const Formula *size_resolve(Symbolic *x, const Formula *f);
Known known_resolve(Symbolic *x, Known k);
/* What a check has shown. */
void size_equate(Symbolic *x, const Formula *a, const Formula *b);
void size_forget(Symbolic *x, uint32_t from); /* what was shown since there were so many */
const Formula *sum_over(Symbolic *x, const Formula *f, const Scope *scope);
const Formula *max_over(Symbolic *x, const Formula *f, const Scope *scope);
/* Is the largest of the instances given by the largest of each symbol? */
bool max_is_exact(const Formula *f, const Scope *scope);

/* ---- symbolic.c ---- */
Costs cost_of(Symbolic *x, int64_t work, int64_t span);
Costs cost_add(Symbolic *x, Costs a, Costs b);
Known known_atom(const Symbolic *x, CoreAtom a);
Known known_take(Symbolic *x, const CoreAtom *a);
void known_bind(Symbolic *x, CoreVar v, Known k);
const char *var_hint(const Symbolic *x, CoreVar v);
/* The elements that have to be copied before it is written: none, or its length. */
const Formula *copied(Symbolic *x, Known k);
/* The size, or 0 where it is negative. */
const Formula *size_positive(Symbolic *x, const Formula *f);
/* The array of n elements with these shapes. */
const Shape *shape_of_items(Symbolic *x, const Shape **items, uint32_t n, uint32_t rank);
/* A block of a branch, an instance or a round, whose results go to `results`: what it shows is forgotten. */
Costs cost_inside(Symbolic *x, const CoreBlock *b, Known *results);

/* ---- symbolic_soac.c ---- */
Costs cost_soac(Symbolic *x, const CoreStmt *s);

#endif
