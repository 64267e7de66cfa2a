/* A long chain that compares one integer with constants becomes a balanced tree of comparisons:
 *
 *     if x == 0 then A else if x == 1 then B else … else D
 *  ==>
 *     r, hit = if x < 8 then (if x < 4 then … ) else (…), with leaves like  if x == 0 then A, true else 0, false
 *     if hit then r else D
 *
 * A leaf that only one value can reach needs no comparison: that is the rule for the constructors of a `match`. If
 * just one leaf can miss, D goes there. So an element takes few comparisons instead of hundreds, and compilers of
 * kernels, which are quadratic in the length of a chain, a fifth of the time. */
#include "core/passes.h"
#include "core/tail.h"

#include <stdlib.h>

#define LEAST_LINKS 16u

typedef struct Link {
    uint64_t key;
    uint32_t position;
    CoreBlock *taken;
} Link;

typedef struct Chain {
    CoreProgram *p;
    CoreFn *fn;
    CoreStmt *first; /* the first `if` */
    CoreAtom subject;
    VEC(Link) links; /* sorted by key */
    CoreBlock *otherwise;
    uint32_t misses; /* leaves that other values may reach */
    uint32_t ntypes;
    CoreType *types; /* of what the `if`s give; one more, of `hit` */
} Chain;

static bool is_signed(const Chain *c) { return scalar_is_signed(c->subject.type.scalar); }

/* x == constant, of an integer */
static bool is_comparison(const CoreFn *fn, const CoreStmt *s, CoreAtom *subject, uint64_t *key)
{
    if (s->kind != CORE_PRIM || s->prim.op != PRIM_EQ || s->prim.args[0].is_const == s->prim.args[1].is_const)
        return false;
    bool swapped = s->prim.args[0].is_const;
    CoreVar v = s->prim.args[swapped].var;
    *subject = core_var_atom(v, core_var_type(fn, v));
    *key = s->prim.args[!swapped].bits;
    return scalar_is_int(subject->type.scalar);
}

/* The `if` at i of the block, whose condition is a comparison right before it. */
static CoreStmt *link_at(const CoreFn *fn, const CoreBlock *b, uint32_t i, CoreAtom *subject, uint64_t *key)
{
    CoreStmt *s = i > 0 && i < b->stmts.n ? b->stmts.at[i] : NULL;
    const CoreStmt *test = s ? b->stmts.at[i - 1] : NULL;
    bool is_link = s && s->kind == CORE_IF && !s->if_.cond.is_const && is_comparison(fn, test, subject, key) &&
                   s->if_.cond.var == test->vars[0];
    return is_link ? s : NULL;
}

static void follow(Chain *c, Arena *scratch, CoreStmt *s, uint64_t key)
{
    CoreAtom subject;
    for (CoreStmt *next = s; next; s = next) {
        vec_push(scratch, &c->links, ((Link){key, c->links.n, s->if_.then_b}));
        const CoreBlock *b = c->otherwise = s->if_.else_b;
        next = b->stmts.n == 2 && tail_stmt(b) == b->stmts.at[1] ? link_at(c->fn, b, 1, &subject, &key) : NULL;
        if (next && subject.var != c->subject.var)
            next = NULL;
    }
}

static int by_key(const void *a, const void *b)
{
    const Link *x = a, *y = b;
    if (x->key == y->key)
        return x->position < y->position ? -1 : 1;
    return x->key < y->key ? -1 : 1;
}

/* The first of equal keys counts. Adding 2^63 makes the order of signed integers that of unsigned ones. */
static void sort_links(Chain *c)
{
    uint64_t shift = is_signed(c) ? UINT64_C(1) << 63 : 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->links.n; i++)
        c->links.at[i].key += shift;
    qsort(c->links.at, c->links.n, sizeof *c->links.at, by_key);
    for (uint32_t i = 0; i < c->links.n; i++)
        if (n == 0 || c->links.at[n - 1].key != c->links.at[i].key)
            c->links.at[n++] = c->links.at[i];
    c->links.n = n;
    for (uint32_t i = 0; i < n; i++)
        c->links.at[i].key -= shift;
}

/* Leaf i is reached by what is not less than its key (the first: by all) and less than the next one's. */
static bool may_miss(const Chain *c, uint32_t i)
{
    bool from_least = i > 0 || (!is_signed(c) && c->links.at[0].key == 0);
    return !from_least || i + 1 == c->links.n || c->links.at[i + 1].key != c->links.at[i].key + 1;
}

static void add_hit(const Chain *c, CoreBlock *b, bool hit)
{
    CoreAtom *results = arena_array(c->p->arena, CoreAtom, c->ntypes + 1);
    for (uint32_t i = 0; i < c->ntypes; i++)
        results[i] = b->results[i];
    results[c->ntypes] = core_const(SC_BOOL, hit);
    b->results = results;
    b->nresults = c->ntypes + 1;
}

static CoreBlock *missed(const Chain *c)
{
    if (c->misses == 1)
        return c->otherwise;
    CoreBlock *b = core_new_block(c->p);
    CoreBuilder builder = {.p = c->p, .fn = c->fn, .out = b, .span = c->first->span};
    b->results = arena_array(c->p->arena, CoreAtom, c->ntypes + 1);
    for (uint32_t i = 0; i < c->ntypes; i++)
        b->results[i] = build_nothing(&builder, c->types[i]);
    add_hit(c, b, false);
    return b;
}

static CoreBlock *choose(const Chain *c, CorePrim op, uint64_t key, CoreBlock *then_b, CoreBlock *else_b)
{
    CoreAtom constant = core_const(c->subject.type.scalar, key);
    CoreBuilder b = {.p = c->p, .fn = c->fn, .span = c->first->span};
    return tail_choose(&b, op, c->subject, constant, then_b, else_b);
}

static CoreBlock *tree(const Chain *c, uint32_t first, uint32_t n)
{
    if (n == 1) {
        CoreBlock *b = c->links.at[first].taken;
        if (c->misses > 1)
            add_hit(c, b, true);
        return may_miss(c, first) ? choose(c, PRIM_EQ, c->links.at[first].key, b, missed(c)) : b;
    }
    uint32_t middle = first + n / 2;
    CoreBlock *low = tree(c, first, middle - first), *high = tree(c, middle, first + n - middle);
    return choose(c, PRIM_LT, c->links.at[middle].key, low, high);
}

/* To the end of `out`, instead of the chain. */
static void push_tree(Chain *c, CoreBlock *out)
{
    CoreStmt *s = c->first;
    c->ntypes = s->nvars;
    c->types = arena_array(c->p->arena, CoreType, s->nvars + 1);
    for (uint32_t i = 0; i < s->nvars; i++)
        c->types[i] = core_var_type(c->fn, s->vars[i]);
    for (uint32_t i = 0; i < c->links.n; i++)
        c->misses += may_miss(c, i);
    CoreBlock *b = tree(c, 0, c->links.n);
    core_push(c->p, out, b->stmts.at[0]);
    CoreStmt *root = b->stmts.at[1];
    if (c->misses == 1) {
        root->vars = s->vars;
        core_push(c->p, out, root);
        return;
    }
    core_push(c->p, out, root);
    CoreBlock *hit = core_new_block(c->p);
    hit->results = b->results;
    hit->nresults = c->ntypes;
    s->if_.cond = b->results[c->ntypes];
    s->if_.then_b = hit;
    s->if_.else_b = c->otherwise;
    core_push(c->p, out, s);
}

typedef struct Walk {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
} Walk;

static void balance_block(void *ctx, CoreBlock *b)
{
    const Walk *w = ctx;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        Chain c = {.p = w->p, .fn = w->fn};
        uint64_t key;
        c.first = link_at(w->fn, &old, i, &c.subject, &key);
        if (c.first) {
            follow(&c, w->scratch, c.first, key);
            sort_links(&c);
        }
        if (c.links.n >= LEAST_LINKS)
            push_tree(&c, b);
        else
            core_push(w->p, b, old.stmts.at[i]);
    }
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_stmt_blocks(b->stmts.at[i], balance_block, ctx);
}

void core_balance_dispatch(CoreProgram *p)
{
    Arena *scratch = arena_create();
    for (uint32_t i = 0; i < p->fns.n; i++)
        balance_block(&(Walk){p, p->fns.at[i], scratch}, p->fns.at[i]->body);
    arena_destroy(scratch);
}
