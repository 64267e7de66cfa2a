/* Recurrences of simple shapes solved: how fast the cost of a definition grows, where its formula says it.
 *
 *     T(n) <= a T(n/b) + f(n)       divide and conquer, also of parts that differ: T(n/3) + T(n - n/3) + f(n)
 *     T(n) <= a T(n - c) + f(n)     a recursion that takes so many off; several: T(n - 1) + T(n - 2) + f(n)
 *
 * f is made of the size n alone, and the calls differ in the parameter whose size it is, in nothing else: so that it is
 * n that ends the recursion. A maximum of such sums is bounded by whichever grows faster. What is found is an upper
 * bound, of sizes n that are not negative, and of a program whose recursion ends at some number: a formula does not say
 * at which. All else, such as parts that a filter makes, stays a recurrence. */
#ifndef DPC_RECURRENCE_H
#define DPC_RECURRENCE_H

#include "cost/formula.h"

/* In O(base^n n^power log^logs n). */
typedef struct Growth {
    double base, power; /* base >= 1 */
    uint32_t logs;
} Growth;

/* How a cost grows. Unknown unless `size` is set, or it is bounded by a number (`constant`). */
typedef struct Order {
    const Symbol *size;
    bool constant;
    Growth growth;
    const struct Way *recurrence; /* that was solved; or NULL */
} Order;

/* What is known of the definitions so far. */
typedef struct Solved {
    const CoreFn *fn;
    Symbol **sizes; /* of its parameters, in order */
    uint32_t nsizes;
    Order work, span;
} Solved;

/* The order of the formula, of fn's work or span. `of` gives what is known of another definition, or NULL. */
typedef const Solved *FindSolved(void *ctx, const CoreFn *fn);
Order recurrence_solve(Arena *a, const Formula *x, const Solved *fn, FindSolved *of, void *ctx);
/* "n log n", or "1". The size has a name. */
void order_print(StrBuf *out, const Order *o);
/* "T(n) = 2 T(n/2) + O(n)". */
void recurrence_print(StrBuf *out, const Order *o);
/* Does it speak of a recursive call? */
bool formula_has_call(const Formula *x);

#endif
