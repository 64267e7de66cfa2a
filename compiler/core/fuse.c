/* Fusion: producer into consumer.
 *
 *     ys = map n (x <- xs) { -> f x }                        s = reduce n (x <- xs) { y = f x; -> g y } …
 *     s  = reduce n (y <- ys) { -> g y } …            ==>
 *
 * The producer must be a map without guard in the same block. If its results are read by this consumer only, its
 * body moves; if by others too, it is copied, provided recomputing is no dearer than storing. Producers in
 * outer blocks stay: moving them inward would repeat their work.
 *
 * Moving down is always allowed: the producer's inputs are still in scope, checks above it are still above
 * it, and of several failures any one may be reported. A failure must not come under a condition, though: in
 * a consumer with a guard, what may fail goes into the guard, which runs for every element. */
#include "core/fuse_internal.h"

#include <assert.h>
#include <string.h>

/* Changes of arrays that a map is compared with, at most. */
/* MOST_NAMES: parts of parts, branches inside of branches, that are followed. */
enum { MOST_CHANGES = 16, MOST_NAMES = 4 };

/* ---- variables ---- */

VarUses *fuse_var(Fuser *f, CoreVar v)
{
    while (f->vars.n <= v)
        vec_push(f->scratch, &f->vars, ((VarUses){0}));
    return &f->vars.at[v];
}

CoreAtom fuse_resolve(Fuser *f, CoreAtom a)
{
    while (!a.is_const && fuse_var(f, a.var)->replaced)
        a = f->vars.at[a.var].by;
    return a;
}

bool fuse_is_sought(void *sought, CoreAtom a)
{
    const FuseSought *s = sought;
    a = fuse_resolve(s->f, a);
    return !a.is_const && a.var == s->v;
}

/* v's occurrences are `by`'s from now on. They are rewritten when their block is reached. */
void fuse_replace(Fuser *f, CoreVar v, CoreAtom by)
{
    by = fuse_resolve(f, by);
    VarUses old = *fuse_var(f, v);
    if (!by.is_const) {
        VarUses *to = fuse_var(f, by.var);
        to->all += old.all;
        to->indexed += old.indexed;
        to->lengths += old.lengths;
    }
    f->vars.at[v].replaced = true;
    f->vars.at[v].by = by;
}

CoreStmt *fuse_def(Fuser *f, CoreAtom a) { return a.is_const ? NULL : fuse_var(f, a.var)->def; }

static void add(uint32_t *count, int sign) { *count = sign > 0 ? *count + 1 : *count - 1; }

void fuse_count_atom(Fuser *f, CoreAtom a, int sign)
{
    a = fuse_resolve(f, a);
    if (!a.is_const)
        add(&fuse_var(f, a.var)->all, sign);
}

typedef struct Counting {
    Fuser *f;
    int sign;
} Counting;

static void count_atom(void *ctx, CoreAtom *a)
{
    Counting *c = ctx;
    fuse_count_atom(c->f, *a, c->sign);
}

static void count_block(void *ctx, CoreBlock *b)
{
    Counting *c = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        core_stmt_atoms(s, count_atom, c);
        if (s->kind == CORE_INDEX)
            add(&fuse_var(c->f, fuse_resolve(c->f, s->index.array).var)->indexed, c->sign);
        else if (s->kind == CORE_LENGTH)
            add(&fuse_var(c->f, fuse_resolve(c->f, s->length.array).var)->lengths, c->sign);
        core_stmt_blocks(s, count_block, c);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        count_atom(c, &b->results[i]);
}

void fuse_count_block(Fuser *f, CoreBlock *b, int sign)
{
    Counting c = {f, sign};
    count_block(&c, b);
}

/* ---- building ---- */

static void resolve_atom(void *ctx, CoreAtom *a) { *a = fuse_resolve(ctx, *a); }

static void cover_variables(Fuser *f)
{
    while (f->map.n < f->fn->vars.n) {
        CoreVar v = f->map.n;
        vec_push(f->scratch, &f->map, core_var_atom(v, f->fn->vars.at[v].type));
    }
}

void fuse_set_copy(Fuser *f, CoreVar v, CoreAtom by)
{
    cover_variables(f);
    f->map.at[v] = by;
}

static void reset_binder(void *ctx, CoreVar *v)
{
    Fuser *f = ctx;
    fuse_set_copy(f, *v, core_var_atom(*v, f->fn->vars.at[*v].type));
}

static void reset_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        core_stmt_binders(s, reset_binder, ctx);
        core_stmt_blocks(s, reset_block, ctx);
        for (uint32_t j = 0; j < s->nvars; j++)
            reset_binder(ctx, &s->vars[j]);
    }
}

/* Replacements are carried out first: they may lead to variables that the block binds. Afterwards the map is the
 * identity again, so that a later copy of a part sees no stale names. */
CoreBlock *fuse_copy_block(Fuser *f, CoreBlock *b)
{
    core_block_atoms(b, resolve_atom, f);
    cover_variables(f);
    CoreBlock *copy = core_copy_block(f->p, f->fn, f->fn, b, f->map.at);
    reset_block(f, b);
    fuse_count_block(f, copy, 1);
    return copy;
}

/* Counts what a statement that is made reads. */
static void emit_counted(void *ctx, CoreBlock *out, CoreStmt *s)
{
    Counting c = {ctx, 1};
    core_stmt_atoms(s, count_atom, &c);
    core_push(c.f->p, out, s);
}

CoreBuilder fuse_builder(Fuser *f, CoreBlock *out, Span span)
{
    return (CoreBuilder){.p = f->p, .fn = f->fn, .out = out, .span = span, .emit = emit_counted, .ctx = f};
}

/* In a long chain of maps `front` is what has been fused so far: its list is extended, not copied. */
void fuse_prepend(Fuser *f, CoreBlock *b, CoreBlock *front)
{
    CoreBlock joined = {.stmts = front->stmts};
    front->stmts.cap = front->stmts.n; /* the room behind is taken */
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_push(f->p, &joined, b->stmts.at[i]);
    b->stmts.at = joined.stmts.at;
    b->stmts.n = joined.stmts.n;
    b->stmts.cap = joined.stmts.cap;
}

/* ---- what a body costs ---- */

/* What a block costs along its longest path; UINT32_MAX operations: too much, or it may fail. */
typedef struct Cost {
    uint32_t operations, reads;
} Cost;
static const Cost too_much = {UINT32_MAX, 0};

static Cost block_cost(const Fuser *f, const CoreBlock *b);

static Cost if_cost(const Fuser *f, const CoreStmt *s)
{
    Cost t = block_cost(f, s->if_.then_b), e = block_cost(f, s->if_.else_b);
    if (t.operations == UINT32_MAX || e.operations == UINT32_MAX)
        return too_much;
    uint32_t operations = t.operations > e.operations ? t.operations : e.operations;
    return (Cost){1 + operations, t.reads > e.reads ? t.reads : e.reads};
}

static Cost stmt_cost(const Fuser *f, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_IF: return if_cost(f, s);
    case CORE_ATOM: return (Cost){0, 0};
    case CORE_LENGTH: return (Cost){1, 1};
    case CORE_INDEX: return s->site == CORE_NO_SITE ? (Cost){1, 1} : too_much;
    case CORE_PRIM:
        if (core_stmt_fallible(f->p, f->fn, s) ||
            core_prim_cost(s->prim.op, core_atom_type(f->fn, s->prim.args[0]).scalar) > CORE_MODERATE)
            return too_much;
        return (Cost){1, 0};
    default: return too_much; /* parallel code, and what may fail or repeat */
    }
}

static Cost block_cost(const Fuser *f, const CoreBlock *b)
{
    Cost sum = {0, 0};
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        Cost c = stmt_cost(f, b->stmts.at[i]);
        if (c.operations == UINT32_MAX)
            return too_much;
        sum.operations += c.operations;
        sum.reads += c.reads;
    }
    return sum;
}

bool fuse_is_cheap(const Fuser *f, const CoreBlock *b, uint32_t most, uint32_t reads)
{
    Cost c = block_cost(f, b);
    return c.operations <= most && c.reads <= reads;
}

/* iota, replicate and the like: nothing is read, little is computed. */
bool fuse_is_index_function(const Fuser *f, const CoreStmt *producer)
{
    return producer->soac.ninputs == 0 && fuse_is_cheap(f, producer->soac.body, 4, 0);
}

/* ---- a map into its consumer ---- */

uint32_t fuse_times_input(Fuser *f, const CoreSoac *c, CoreVar v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->ninputs; i++)
        n += fuse_resolve(f, c->inputs[i]).var == v;
    return n;
}

/* Is the producer read by this consumer and nothing else? */
static bool is_only_consumer(Fuser *f, const CoreStmt *producer, const CoreSoac *c)
{
    for (uint32_t i = 0; i < producer->nvars; i++)
        if (fuse_var(f, producer->vars[i])->all != fuse_times_input(f, c, producer->vars[i]))
            return false;
    return true;
}

/* Is every result read only as an input, in this block? Then copies in all consumers save storing it. */
static bool is_only_input(Fuser *f, const CoreStmt *producer)
{
    for (uint32_t i = 0; i < producer->nvars; i++) {
        const VarUses *v = fuse_var(f, producer->vars[i]);
        if (v->all != v->inputs)
            return false;
    }
    return true;
}

/* Worth computing in each consumer: a consumer then reads the inputs instead of the result. */
static bool is_worth_copying(Fuser *f, const CoreStmt *producer)
{
    const CoreSoac *m = &producer->soac;
    return fuse_is_index_function(f, producer) ||
           (is_only_input(f, producer) && m->ninputs <= 2 && fuse_is_cheap(f, m->body, 8, 1));
}

/* Does the block read an element that comes from the producer? */
typedef struct Reading {
    Fuser *f;
    const CoreSoac *c;
    const CoreStmt *producer;
} Reading;

bool fuse_is_result_of(Fuser *f, const CoreStmt *producer, CoreAtom a, uint32_t *which)
{
    a = fuse_resolve(f, a);
    for (uint32_t i = 0; i < producer->nvars && !a.is_const; i++)
        if (producer->vars[i] == a.var) {
            *which = i;
            return true;
        }
    return false;
}

static bool is_element_of_producer(void *ctx, CoreAtom a)
{
    const Reading *r = ctx;
    const CoreAtom x = fuse_resolve(r->f, a);
    uint32_t which;
    for (uint32_t i = 0; i < r->c->ninputs && !x.is_const; i++)
        if (x.var == r->c->elements[i] && fuse_is_result_of(r->f, r->producer, r->c->inputs[i], &which))
            return true;
    return false;
}

static bool reads_producer(Fuser *f, const CoreSoac *c, const CoreStmt *producer, CoreBlock *b)
{
    return core_block_reads(b, is_element_of_producer, &(Reading){f, c, producer});
}

/* Where the producer's body goes in a consumer with a guard. */
typedef enum Place { PLACE_NONE, PLACE_BODY, PLACE_GUARD, PLACE_BOTH } Place;

static Place choose_place(Fuser *f, const CoreSoac *c, const CoreStmt *producer)
{
    if (!c->guard)
        return PLACE_BODY;
    bool fallible = core_block_fallible(f->p, f->fn, producer->soac.body);
    bool in_guard = reads_producer(f, c, producer, c->guard), in_body = reads_producer(f, c, producer, c->body);
    if (!in_guard && !fallible)
        return PLACE_BODY;
    if (!in_body)
        return PLACE_GUARD;
    return !fallible && fuse_is_cheap(f, producer->soac.body, 8, 1) ? PLACE_BOTH : PLACE_NONE;
}

CoreSoac fuse_copy_soac(Fuser *f, const CoreSoac *m)
{
    CoreSoac copy = *m;
    CoreVar old_index = m->index;
    if (m->index != CORE_NO_VAR) {
        copy.index = core_new_var(f->p, f->fn, core_scalar(SC_I64), f->fn->vars.at[m->index].hint);
        fuse_set_copy(f, m->index, core_var_atom(copy.index, core_scalar(SC_I64)));
    }
    copy.inputs = arena_array(f->p->arena, CoreAtom, m->ninputs + 1);
    copy.elements = arena_array(f->p->arena, CoreVar, m->ninputs + 1);
    for (uint32_t i = 0; i < m->ninputs; i++) {
        CoreVarInfo info = f->fn->vars.at[m->elements[i]];
        copy.inputs[i] = fuse_resolve(f, m->inputs[i]);
        copy.elements[i] = core_new_var(f->p, f->fn, info.type, info.hint);
        fuse_set_copy(f, m->elements[i], core_var_atom(copy.elements[i], info.type));
        fuse_count_atom(f, copy.inputs[i], 1);
        fuse_var(f, copy.inputs[i].var)->inputs++;
    }
    copy.body = fuse_copy_block(f, m->body);
    if (m->guard)
        copy.guard = fuse_copy_block(f, m->guard);
    if (m->index != CORE_NO_VAR)
        reset_binder(f, &old_index);
    for (uint32_t i = 0; i < m->ninputs; i++)
        reset_binder(f, &m->elements[i]);
    return copy;
}

/* The consumer's inputs that the producer makes are replaced by the producer's own inputs. `m` is the producer's
 * soac or a copy of it, and is used up. */
void fuse_join_inputs(Fuser *f, CoreSoac *c, const CoreStmt *producer, const CoreSoac *m)
{
    CoreAtom *inputs = arena_array(f->p->arena, CoreAtom, c->ninputs + m->ninputs + 1);
    CoreVar *elements = arena_array(f->p->arena, CoreVar, c->ninputs + m->ninputs + 1);
    uint32_t n = 0, which;
    for (uint32_t i = 0; i < c->ninputs; i++) {
        if (fuse_is_result_of(f, producer, c->inputs[i], &which)) {
            VarUses *used = fuse_var(f, producer->vars[which]);
            used->all--;
            used->inputs--;
            fuse_replace(f, c->elements[i], m->body->results[which]);
            continue;
        }
        inputs[n] = c->inputs[i];
        elements[n++] = c->elements[i];
    }
    for (uint32_t i = 0; i < m->ninputs; i++) {
        inputs[n] = m->inputs[i];
        elements[n++] = m->elements[i];
    }
    c->inputs = inputs;
    c->elements = elements;
    c->ninputs = n;
    if (c->index == CORE_NO_VAR)
        c->index = m->index;
    else if (m->index != CORE_NO_VAR)
        fuse_replace(f, m->index, core_var_atom(c->index, core_scalar(SC_I64)));
    for (uint32_t i = 0; i < m->body->nresults; i++) /* the block they were results of is no block any more */
        fuse_count_atom(f, m->body->results[i], -1);
}

/* In the guard and in the body: the body gets a copy of the producer's statements, and is itself copied with
 * that copy's results for the elements; the guard then gets the statements themselves. */
static void place_in_both(Fuser *f, CoreSoac *c, const CoreStmt *producer, const CoreSoac *m)
{
    CoreBlock *again = fuse_copy_block(f, m->body);
    uint32_t which;
    for (uint32_t i = 0; i < c->ninputs; i++)
        if (fuse_is_result_of(f, producer, c->inputs[i], &which))
            fuse_set_copy(f, c->elements[i], again->results[which]);
    CoreBlock *body = fuse_copy_block(f, c->body);
    for (uint32_t i = 0; i < c->ninputs; i++)
        reset_binder(f, &c->elements[i]);
    fuse_count_block(f, c->body, -1);
    for (uint32_t i = 0; i < again->nresults; i++)
        fuse_count_atom(f, again->results[i], -1);
    c->body = body;
    fuse_prepend(f, c->body, again);
    fuse_join_inputs(f, c, producer, m);
    fuse_prepend(f, c->guard, m->body);
}

static void fuse_map(Fuser *f, CoreSoac *c, const CoreStmt *producer, Place place, bool move)
{
    CoreSoac m = move ? producer->soac : fuse_copy_soac(f, &producer->soac);
    if (place == PLACE_BOTH) {
        place_in_both(f, c, producer, &m);
    } else {
        fuse_join_inputs(f, c, producer, &m);
        fuse_prepend(f, place == PLACE_GUARD ? c->guard : c->body, m.body);
    }
    if (move)
        fuse_count_atom(f, m.domain, -1);
}

/* ---- the walk ---- */

/* A map in this block, or an index function in any block around. */
static bool is_producer(const Fuser *f, const CoreStmt *s, const CoreBlock *b)
{
    return s && s->kind == CORE_MAP && !s->soac.guard &&
           (f->vars.at[s->vars[0]].block == b || fuse_is_index_function(f, s));
}

void fuse_forget(CoreStmt **stmts, uint32_t n, const CoreStmt *s)
{
    for (uint32_t i = n; i-- > 0;)
        if (stmts[i] == s) {
            stmts[i] = NULL;
            return;
        }
}

/* Is the array read by the consumer anyway, so that a change in front of it, or its own, is none in place? */
static bool reads_anyway(CoreStmt *consumer, bool changes, FuseSought *array)
{
    const CoreSoac *c = core_stmt_soac(consumer);
    if (!changes)
        return core_stmt_reads(consumer, fuse_is_sought, array);
    for (uint32_t i = 0; i < c->ninputs; i++)
        if (fuse_is_sought(array, c->inputs[i]))
            return true;
    return false;
}

/* May it lie where the sought array does: a part of it, or of what a branch hands on as it? */
static bool may_be(Fuser *f, CoreAtom a, CoreAtom array, uint32_t depth)
{
    a = fuse_resolve(f, a);
    array = fuse_resolve(f, array);
    if (core_atom_equal(a, array) || depth == 0)
        return core_atom_equal(a, array);
    const CoreStmt *part = fuse_def(f, a), *either = fuse_def(f, array);
    if (part && part->kind == CORE_SLICE)
        return may_be(f, part->slice.array, array, depth - 1);
    if (!either || either->kind != CORE_IF)
        return false;
    const uint32_t i = core_stmt_result(either, array);
    return may_be(f, a, either->if_.then_b->results[i], depth - 1) ||
           may_be(f, a, either->if_.else_b->results[i], depth - 1);
}

static bool is_where_sought(void *sought, CoreAtom a)
{
    const FuseSought *s = sought;
    return !a.is_const && may_be(s->f, a, core_var_atom(s->v, core_atom_type(s->f->fn, a)), MOST_NAMES);
}

/* Does it go over parts of the array, none of which is where the scatter stores its own values (own_places.c)? If one
 * is, as in a stencil, others are most of the array likewise, and a copy of it costs no more than what is stored
 * between. */
static bool takes_other_parts(Fuser *f, const CoreStmt *producer, const CoreStmt *scatter, const FuseSought *array)
{
    bool any = false;
    for (uint32_t i = 0; scatter->kind == CORE_SCATTER && i < producer->soac.ninputs; i++) {
        const CoreAtom input = fuse_resolve(f, producer->soac.inputs[i]);
        const CoreStmt *part = fuse_def(f, input);
        if (!part || part->kind != CORE_SLICE ||
            !may_be(f, input, core_var_atom(array->v, core_atom_type(f->fn, input)), MOST_NAMES))
            continue;
        if (core_is_place(scatter, fuse_resolve(f, scatter->soac.body->results[0]), fuse_resolve(f, part->slice.from)))
            return false;
        any = true;
    }
    return any;
}

/* Would the producer, down at the consumer, read an array that has been changed in place, or is, by the consumer
 * itself? Then that could not be in place. */
static bool crosses_change(Fuser *f, CoreStmt *producer, CoreStmt **stmts, uint32_t at)
{
    uint32_t looks = MOST_CHANGES;
    for (uint32_t i = f->changes.n; i-- > 0 && f->changes.at[i] > producer->mark;) {
        if (f->changes.at[i] > at || !stmts[f->changes.at[i]])
            continue;
        if (looks-- == 0)
            return true;
        CoreStmt *change = stmts[f->changes.at[i]];
        FuseSought array = {f, fuse_resolve(f, core_stmt_changes(change)).var};
        const bool own = change == stmts[at];
        if ((core_stmt_reads(producer, fuse_is_sought, &array) ||
             (own && (core_block_reads(producer->soac.body, is_where_sought, &array) ||
                      takes_other_parts(f, producer, change, &array)))) &&
            !reads_anyway(stmts[at], own, &array))
            return true;
    }
    return false;
}

/* One producer into stmts[at]. */
static bool fuse_one(Fuser *f, const CoreBlock *b, CoreStmt **stmts, uint32_t at)
{
    CoreSoac *c = core_stmt_soac(stmts[at]);
    for (uint32_t i = 0; i < c->ninputs; i++) {
        CoreStmt *producer = fuse_def(f, fuse_resolve(f, c->inputs[i]));
        if (!is_producer(f, producer, b))
            continue;
        bool is_here = f->vars.at[producer->vars[0]].block == b;
        bool move = is_here && is_only_consumer(f, producer, c);
        if (!move && (core_block_fallible(f->p, f->fn, producer->soac.body) || !is_worth_copying(f, producer)))
            continue;
        Place place = choose_place(f, c, producer);
        if (place == PLACE_NONE || (is_here && crosses_change(f, producer, stmts, at)))
            continue;
        fuse_map(f, c, producer, place, move);
        if (move)
            fuse_forget(stmts, at, producer);
        return true;
    }
    return false;
}

static void fuse_block(void *ctx, CoreBlock *b);

void fuse_note_def(Fuser *f, const CoreBlock *b, CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        VarUses *v = fuse_var(f, s->vars[i]);
        v->def = s;
        v->block = b;
        v->level = f->level;
    }
}

/* How often the block's sequences are inputs right here. */
static void count_inputs(Fuser *f, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreSoac *soac = core_stmt_soac(b->stmts.at[i]);
        for (uint32_t j = 0; soac && j < soac->ninputs; j++)
            fuse_var(f, fuse_resolve(f, soac->inputs[j]).var)->inputs++;
    }
}

/* The guard, in which the item is chosen by itself for the element. */
static CoreBlock *guard_of_item(Fuser *f, CoreSoac *c, const CoreStmt *array, CoreVar element, Span span)
{
    CoreBlock front = {0};
    CoreAtom item = fuse_choose_item(f, &front, array, core_var_atom(c->index, core_scalar(SC_I64)), span);
    fuse_set_copy(f, element, item);
    CoreBlock *guard = fuse_copy_block(f, c->guard);
    reset_binder(f, &element);
    fuse_count_block(f, c->guard, -1);
    fuse_prepend(f, guard, &front);
    return guard;
}

/* Input i of the map, an array of a few scalars that only maps go through: its element is chosen in the body, and in
 * the guard. */
static bool fuse_few_scalars(Fuser *f, CoreStmt *map, uint32_t i)
{
    CoreSoac *c = &map->soac;
    const CoreStmt *array = fuse_def(f, fuse_resolve(f, c->inputs[i]));
    if (!fuse_is_few_scalars(f, array) || fuse_times_input(f, c, array->vars[0]) != fuse_var(f, array->vars[0])->all)
        return false;
    CoreBlock front = {0};
    if (c->index == CORE_NO_VAR)
        c->index = core_new_var(f->p, f->fn, core_scalar(SC_I64), NULL);
    if (c->guard)
        c->guard = guard_of_item(f, c, array, c->elements[i], map->span);
    CoreAtom item = fuse_choose_item(f, &front, array, core_var_atom(c->index, core_scalar(SC_I64)), map->span);
    fuse_prepend(f, c->body, &front);
    fuse_replace(f, c->elements[i], item);
    VarUses *used = fuse_var(f, array->vars[0]);
    used->all--;
    used->inputs--;
    c->ninputs--;
    for (uint32_t j = i; j < c->ninputs; j++) {
        c->inputs[j] = c->inputs[j + 1];
        c->elements[j] = c->elements[j + 1];
    }
    return true;
}

static void fuse_stmt(Fuser *f, CoreBlock *b, CoreStmt **stmts, uint32_t at)
{
    if (!core_stmt_soac(stmts[at]))
        return;
    for (uint32_t i = stmts[at]->kind == CORE_MAP ? stmts[at]->soac.ninputs : 0; i-- > 0;)
        fuse_few_scalars(f, stmts[at], i);
    while (fuse_one(f, b, stmts, at))
        continue;
}

/* The length of a map's result is its domain. Fusion around may have brought the map here, and where its length is
 * taken the map would have to be stored. */
static bool fuse_length(Fuser *f, const CoreStmt *s)
{
    const CoreStmt *map = fuse_def(f, s->length.array);
    if (!map || map->kind != CORE_MAP || map->soac.guard)
        return false;
    VarUses *array = fuse_var(f, s->length.array.var);
    array->all--;
    array->lengths--;
    fuse_replace(f, s->vars[0], map->soac.domain);
    return true;
}

void fuse_emit(Fuser *f, CoreBlock *b, CoreStmt *s)
{
    core_stmt_atoms(s, resolve_atom, f);
    if (s->kind == CORE_LENGTH && fuse_length(f, s))
        return;
    if (s->kind == CORE_INDEX && fuse_index(f, b, s))
        return;
    if (s->kind == CORE_SLICE && fuse_slice(f, b, s))
        return;
    fuse_note_def(f, b, s);
    core_push(f->p, b, s);
}

/* Elements and pieces of maps that need not be stored: before the rest, as it makes new statements. */
static void fuse_parts(Fuser *f, CoreBlock *b)
{
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        f->rest = old.stmts.at + i + 1;
        f->nrest = old.stmts.n - i - 1;
        if (old.stmts.at[i])
            fuse_emit(f, b, old.stmts.at[i]);
    }
}

/* The blocks of s, a statement of b, by fuse_block or parts_of_block. */
static void fuse_inside(Fuser *f, const CoreBlock *b, CoreStmt *s, void (*fuse)(void *ctx, CoreBlock *b))
{
    vec_push(f->scratch, &f->around, ((FuseAround){b, s}));
    if (s->kind == CORE_IF) { /* as often as the block around */
        core_stmt_blocks(s, fuse, f);
        f->around.n--;
        return;
    }
    const CoreSoac *soac = core_stmt_soac(s);
    const CoreBlock *outer = f->soac_beside;
    const CoreVar position = f->position;
    const bool in_rounds = f->in_rounds;
    f->in_rounds = s->kind == CORE_LOOP && !s->loop.cond && f->nest > 0;
    f->soac_beside = soac || f->in_rounds ? b : NULL;
    f->position = soac ? soac->index : f->in_rounds ? s->loop.index : CORE_NO_VAR;
    f->level++;
    f->nest += soac != NULL;
    core_stmt_blocks(s, fuse, f);
    f->nest -= soac != NULL;
    f->level--;
    f->around.n--;
    f->soac_beside = outer;
    f->position = position;
    f->in_rounds = in_rounds;
}

/* Only what is computed where it is read: maps that it leaves without readers are not joined with others. */
static void parts_of_block(void *ctx, CoreBlock *b)
{
    fuse_parts(ctx, b);
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind == CORE_IF)
            core_stmt_blocks(b->stmts.at[i], parts_of_block, ctx);
}

/* Numbers the statements, and lists those that change an array. */
static void note_changes(Fuser *f, CoreStmt **stmts, uint32_t n)
{
    f->changes.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!stmts[i])
            continue;
        stmts[i]->mark = i;
        if (!core_stmt_changes(stmts[i]).is_const)
            vec_push(f->scratch, &f->changes, i);
    }
}

static void fuse_block(void *ctx, CoreBlock *b)
{
    Fuser *f = ctx;
    fuse_parts(f, b);
    count_inputs(f, b);
    CoreStmt **stmts = b->stmts.at;
    uint32_t n = b->stmts.n, left = 0;
    note_changes(f, stmts, n);
    for (uint32_t i = 0; i < n; i++)
        if (stmts[i])
            fuse_stmt(f, b, stmts, i);
    for (uint32_t i = 0; i < n; i++) /* filters last: by now each chain of maps is one consumer */
        while (stmts[i] && fuse_filter(f, b, stmts, i, n))
            continue;
    for (uint32_t i = 0; i < n; i++)
        if (stmts[i])
            fuse_count(f, b, stmts, i, n);
    for (uint32_t i = 0; i < n; i++)
        if (stmts[i] && core_stmt_soac(stmts[i]))
            fuse_inside(f, b, stmts[i], parts_of_block);
    fuse_horizontal(f, b, stmts, n);
    for (uint32_t i = 0; i < n; i++)
        if (stmts[i])
            fuse_flatten(f, b, stmts, i);
    for (uint32_t i = 0; i < n; i++)
        if (stmts[i])
            stmts[left++] = stmts[i];
    b->stmts.n = left;
    for (uint32_t i = 0; i < left; i++) {
        core_stmt_atoms(stmts[i], resolve_atom, f);
        fuse_inside(f, b, stmts[i], fuse_block);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        b->results[i] = fuse_resolve(f, b->results[i]);
}

/* The counts that fusion keeps up to date are those of the function as it now is. */
static bool counts_hold(Fuser *f)
{
    Fuser fresh = {.p = f->p, .fn = f->fn, .scratch = f->scratch};
    fuse_count_block(&fresh, f->fn->body, 1);
    for (CoreVar v = 0; v < f->fn->vars.n; v++) {
        const VarUses *kept = fuse_var(f, v), *now = fuse_var(&fresh, v);
        if (!kept->replaced &&
            (kept->all != now->all || kept->indexed != now->indexed || kept->lengths != now->lengths))
            return false;
    }
    return true;
}

static void fuse_fn(CoreProgram *p, CoreFn *fn)
{
    Fuser f = {.p = p, .fn = fn, .scratch = arena_create(), .position = CORE_NO_VAR};
    fuse_count_block(&f, fn->body, 1);
    fuse_block(&f, fn->body);
    assert(counts_hold(&f) && "fuse: the uses of a variable are not those counted");
    arena_destroy(f.scratch);
}

void core_fuse(CoreProgram *p)
{
    core_refresh(p);
    for (uint32_t i = 0; i < p->fns.n; i++)
        fuse_fn(p, p->fns.at[i]);
}
