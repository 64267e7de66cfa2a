/* Shared by simplify's files. One forward walk over each function, blocks in order:
 *
 *   simplify.c        the walk, control, parallel operations
 *   simplify_seq.c    rules for operations on sequences
 *   simplify_flatten.c   small nests that are flattened
 *   fold.c            rules for scalar operations
 *   regular_dims.c    what is known of the lengths of rows
 *   loop_shapes.c     what of that a loop keeps
 *   branch_maps.c     maps of branches instead of branches that are maps
 *   few_elements.c    arrays of few numbers as their elements
 *   facts.c           what is known at a point: replacements, lengths, available operations
 *   order.c           which of two numbers is the smaller one
 *   dead_code.c       afterwards, over the whole program: what nothing needs
 *   hoist.c           at the end: what does not change goes out of what repeats
 *
 * Facts hold from where they are learnt to the end of the enclosing block: `facts_mark` and `facts_undo`
 * bracket a block. After `check c`, c is true; in the else branch of `if c`, c is false; after
 * `check (eq n m)`, m is n — so that two sequences of equal lengths get one domain, and fusion sees it. */
#ifndef DPC_SIMPLIFY_INTERNAL_H
#define DPC_SIMPLIFY_INTERNAL_H

#include "core/build.h"
#include "core/passes.h"

typedef struct RowFacts RowFacts; /* regular_dims.c */
typedef struct Relation Relation; /* order.c */
typedef struct Stays Stays;       /* branch_maps.c */

/* What is known of a variable. */
typedef struct VarFacts {
    bool replaced; /* stands for `by`; follow with facts_resolve */
    CoreAtom by;
    const CoreStmt *def; /* its statement, or NULL: parameter, element … */
    uint32_t order;      /* of binding; of two equal variables the earlier stays */
    bool has_length;     /* a sequence: its length is `length` */
    CoreAtom length;
    bool has_bound; /* a position: 0 <= it < bound */
    CoreAtom bound;
    bool not_negative;
    bool is_size;              /* at most a sequence's length and a small constant */
    const Relation *relations; /* of an i64: to others */
    const RowFacts *rows;      /* a sequence: what is known of its elements' lengths, or NULL */
    const RowFacts *as_rows;   /* the result of a map's body: what is known of the map's rows, outside */
} VarFacts;

typedef struct Available Available; /* an operation computed before */

typedef struct Simplifier {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    CoreBlock *out; /* where statements go */
    bool changed;
    uint32_t next_order;
    VEC(VarFacts) vars;
    VEC(struct Undo) undo;
    Available *available;
    uint32_t tried;         /* statements of copies that were simplified to see what they give */
    CoreCopyMap copied;     /* for copies */
    bool merges;            /* branches that are maps become maps of branches */
    bool few;               /* arrays of few numbers become their elements */
    bool rewritten;         /* one of both has */
    uint32_t nest;          /* so many parallel operations are around */
    const CoreSoac *around; /* … the innermost, or NULL */
    Stays *stays;           /* in an operation of which there may be two versions, or NULL */
    uint32_t doubled;       /* statements of such operations */
} Simplifier;

typedef struct Undo {
    CoreVar var; /* CORE_NO_VAR: the newest entry of the table of available operations */
    VarFacts before;
} Undo;

/* ---- facts.c ---- */
void facts_begin(Simplifier *s, CoreFn *fn);
uint32_t facts_mark(const Simplifier *s);
void facts_undo(Simplifier *s, uint32_t mark);
VarFacts *facts_of(Simplifier *s, CoreVar v);
CoreAtom facts_resolve(Simplifier *s, CoreAtom a);
static inline bool atom_is(CoreAtom a, uint64_t bits) { return a.is_const && a.bits == bits; }
/* To be called before changing facts that end with the block. */
VarFacts *facts_touch(Simplifier *s, CoreVar v);
void facts_bind(Simplifier *s, CoreVar v, const CoreStmt *def);
/* For good: v's uses become `by`. */
void facts_replace(Simplifier *s, CoreVar v, CoreAtom by);
/* Here on: the bool atom has this value, with all that follows from it. */
void facts_learn(Simplifier *s, CoreAtom cond, bool holds);
/* Here on: v is this value. */
void facts_learn_value(Simplifier *s, CoreVar v, CoreAtom value);
/* Here on: n > 0, as in the body of what goes over n elements. */
void facts_learn_positive(Simplifier *s, CoreAtom n);
/* Here on: xs has length n. */
void facts_learn_length(Simplifier *s, CoreAtom xs, CoreAtom n);
bool facts_length(Simplifier *s, CoreAtom xs, CoreAtom *n);
/* Here on: 0 <= from <= to, as something has been taken from there. */
void facts_learn_slice(Simplifier *s, CoreAtom from, CoreAtom to);
/* Here on: this is known of xs's rows. */
void facts_learn_rows(Simplifier *s, CoreVar xs, const RowFacts *rows);
/* The statement that computed the atom, NULL if unknown. */
const CoreStmt *facts_def(Simplifier *s, CoreAtom a);
/* Was the same operation computed before? Then its results. */
const CoreAtom *facts_find(Simplifier *s, const CoreStmt *stmt);
void facts_add(Simplifier *s, const CoreStmt *stmt);

/* ---- order.c ---- */
/* Here on: x <= y, or x < y; x != y. Of numbers that are not i64 nothing is kept. */
void order_learn(Simplifier *s, CoreAtom x, CoreAtom y, bool less);
void order_learn_different(Simplifier *s, CoreAtom x, CoreAtom y);
/* Of i64: is it known that x >= 0? that x <= n? x < n? that 0 <= i < n? that x is about as small as
 * a sequence's length? that x != y? */
bool order_not_negative(Simplifier *s, CoreAtom x);
bool order_at_most(Simplifier *s, CoreAtom x, CoreAtom n);
bool order_less(Simplifier *s, CoreAtom x, CoreAtom n);
bool order_in_bounds(Simplifier *s, CoreAtom i, CoreAtom n);
bool order_is_size(Simplifier *s, CoreAtom x);
bool order_different(Simplifier *s, CoreAtom x, CoreAtom y);

/* ---- regular_dims.c ---- */
/* An element of xs, or the results of a statement, have just been bound. */
void rows_bind_element(Simplifier *s, CoreVar element, CoreAtom xs);
void rows_bind_results(Simplifier *s, const CoreStmt *stmt);
/* What a value is known to be as an element; what is known of both; is of x known whatever is known of y? From here on:
 * v is such. NULL: nothing is known. */
const RowFacts *rows_shape(Simplifier *s, CoreAtom xs);
const RowFacts *rows_common(Simplifier *s, const RowFacts *x, const RowFacts *y);
bool rows_know_as_much(const RowFacts *x, const RowFacts *y);
void rows_learn_shape(Simplifier *s, CoreVar v, const RowFacts *shape);
bool rows_shape_length(Simplifier *s, const RowFacts *shape, CoreAtom *n);
/* Before what was learnt in a block is forgotten, and after: the shapes of its results. `first`: the number of the
 * first variable bound in it. */
typedef const RowFacts **RowsLeaving;
RowsLeaving rows_leave(Simplifier *s, const CoreBlock *body, uint32_t first);
void rows_left(Simplifier *s, const CoreBlock *body, RowsLeaving rows);
/* The condition, which holds here on, may be that a CORE_CHECK_ROWS has found nothing. */
void rows_learn_check(Simplifier *s, CoreAtom cond);
/* A CORE_CHECK_ROWS of rows whose lengths are known needs no look at them: it is *out. */
bool rows_simplify_check(Simplifier *s, const CoreStmt *stmt, CoreAtom *out);

/* ---- loop_shapes.c ---- */
/* The shapes that a loop's state begins with and has in each round, by parameter. */
RowsLeaving loop_shapes(Simplifier *s, const CoreStmt *stmt);

/* ---- branch_maps.c ---- */
/* An if whose branches give sequences of known lengths: true if it became a map. */
bool branch_maps(Simplifier *s, CoreStmt *stmt, RowsLeaving shapes);
/* An operation in which rows may stay, while others are made: true if it has got a version in which all are made. */
bool branch_versions(Simplifier *s, CoreStmt *stmt);

/* ---- few_elements.c ---- */
enum { MOST_FEW = 8 };
/* Into a block that is simplified when it is complete. */
static inline CoreBuilder few_builder(const Simplifier *s, CoreBlock *out, Span span)
{
    return (CoreBuilder){.p = s->p, .fn = s->fn, .out = out, .span = span};
}
bool few_is(CoreAtom n, uint32_t *count); /* a constant, no more than MOST_FEW */
bool few_is_numbers(const Simplifier *s, CoreVar v);
/* v = array of these items; not emitted. */
CoreStmt *few_array_into(CoreBuilder *b, CoreVar v, const CoreAtom *items, uint32_t n);
/* What a block of the operation, its body or guard, gives at this position. */
const CoreAtom *few_at_position(Simplifier *s, CoreBuilder *b, CoreStmt *map, const CoreBlock *block,
                                CoreAtom position);
/* A map over few elements, of which some are known: true if it became its elements, simplified. */
bool few_map(Simplifier *s, CoreStmt *stmt);
/* A list of few numbers, or a map that makes them: how many? Its elements. */
bool few_known(Simplifier *s, CoreAtom xs, uint32_t *count);
void few_elements_of(Simplifier *s, CoreBuilder *b, CoreAtom xs, uint32_t count, CoreAtom *to);
/* A sort of few numbers: true if it became exchanges (few_sorts.c). */
bool few_sort(Simplifier *s, CoreStmt *stmt);
/* State of a loop, or results of an if, that are arrays of few numbers become these; `after` gets the arrays, which are
 * to be simplified behind the statement. */
void few_loop(Simplifier *s, CoreStmt *stmt, CoreBlock *after);
void few_if(Simplifier *s, CoreStmt *stmt, CoreBlock *after);
/* The same of reductions; before their operators are simplified, how many elements the operands have is learnt. */
void few_operands(Simplifier *s, const CoreStmt *stmt);
void few_reduce(Simplifier *s, CoreStmt *stmt, CoreBlock *after);
/* A reduction of rows that are known to be as long as the neutral one: true if it became one of columns. */
bool few_columns(Simplifier *s, CoreStmt *stmt);

/* ---- written_rounds.c ---- */
/* Each true if nothing is left of the statement: a reduction over few known positions, a loop of few rounds, in
 * parallel code; a filter of constants. */
bool written_fold(Simplifier *s, CoreStmt *stmt);
bool written_loop(Simplifier *s, CoreStmt *stmt);
bool written_filter(Simplifier *s, CoreStmt *stmt);

/* ---- fold.c ---- */
/* Rewrites a CORE_PRIM in place; true if it is just *out. */
bool fold_prim(Simplifier *s, CoreStmt *stmt, CoreAtom *out);

/* ---- simplify_seq.c ---- */
/* The same for operations on sequences; may emit statements in front. */
bool simplify_seq(Simplifier *s, CoreStmt *stmt, CoreAtom *out);
/* The length of what the statement binds to v, if it follows from its operands. */
bool result_length(Simplifier *s, const CoreStmt *stmt, CoreVar v, CoreAtom *n);

/* ---- simplify_flatten.c ---- */
/* A flattened nest of maps over few elements is one map: emitted, and *out. */
bool simplify_small_nest(Simplifier *s, const CoreStmt *flatten, CoreAtom *out);

/* ---- simplify.c ---- */
/* In place: the block gets a new list of statements. What is learnt inside ends with it; the shapes of its results, as
 * far as variables with numbers less than `first` tell them, are returned. */
RowsLeaving simplify_rows_block(Simplifier *s, CoreBlock *b, uint32_t first);
void simplify_emit(Simplifier *s, CoreStmt *stmt);
/* Statements that were made, in turn. */
void simplify_again(Simplifier *s, const CoreBlock *made);
CoreAtom simplify_emit_index(Simplifier *s, Span span, CoreAtom xs, CoreAtom i);
/* Emits x = op a b, simplified. */
CoreAtom simplify_emit_prim(Simplifier *s, Span span, CorePrim op, CoreAtom x, CoreAtom y);
CoreAtom simplify_emit_select(Simplifier *s, Span span, CoreAtom cond, CoreAtom x, CoreAtom y);
/* A loop's body or condition, where the state has these shapes; those of what it gives. */
RowsLeaving simplify_round(Simplifier *s, const CoreStmt *loop, RowsLeaving shapes, CoreBlock *block);

/* A scalar operation that cannot fail and costs about as much as an addition. */
bool simplify_is_cheap(const CoreProgram *p, const CoreFn *fn, const CoreStmt *stmt);
/* … or an element, a length or a piece of an array, which is there. */
bool simplify_is_light(const CoreProgram *p, const CoreFn *fn, const CoreStmt *stmt);

/* ---- hoist.c ---- */
/* Moves invariant scalar operations out of loops and parallel bodies. True if any moved. */
bool hoist_invariants(CoreProgram *p);

/* ---- dead_code.c ---- */
/* Removes what no result and no failure depends on: statements, positions of loops, branches, parallel
 * operations, parameters and results of functions that are no entries. */
bool dead_code(CoreProgram *p);

#endif
