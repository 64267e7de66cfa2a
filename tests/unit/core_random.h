/* Random core programs: well typed, terminating, with some failures, for tests that compare two ways to run one.
 *
 *     Gen g;
 *     CoreFn *fn = gen_program(&g, seed);       -- the entry `main`, beside a helper and a recursive function
 *     CoreValue args[MAIN_PARAMS];
 *     random_args(&g, args);
 *     Run r = run_main(&g, fn, args);
 *     b_close(&g.b);                                                                           */
#ifndef DPC_TEST_CORE_RANDOM_H
#define DPC_TEST_CORE_RANDOM_H

#include "core_builder.h"

#include <stdlib.h>

typedef struct Value {
    CoreAtom atom;
    uint32_t length_class;
} Value; /* equal classes, equal lengths; 0: a scalar */

typedef struct Gen {
    B b;
    uint64_t state;
    Value scope[512];
    uint32_t nscope;
    uint32_t next_class;
    uint32_t fuel;      /* statements left */
    uint32_t ncallable; /* functions that may be called: those finished */
} Gen;

static inline uint32_t rnd(Gen *g, uint32_t n)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)(g->state >> 32) % n;
}

static inline void add(Gen *g, CoreAtom a, uint32_t length_class)
{
    if (g->nscope < 512)
        g->scope[g->nscope++] = (Value){a, length_class};
}

static inline CoreType type_of(Gen *g, CoreAtom a) { return core_atom_type(g->b.fn, a); }

/* A random variable of the type; returns false if there is none. */
static inline bool pick_value(Gen *g, CoreType t, Value *out)
{
    uint32_t start = g->nscope ? rnd(g, g->nscope) : 0;
    for (uint32_t i = 0; i < g->nscope; i++) {
        const Value *v = &g->scope[(start + i) % g->nscope];
        if (core_type_equal(type_of(g, v->atom), t)) {
            *out = *v;
            return true;
        }
    }
    return false;
}

static inline CoreAtom pick_i64(Gen *g)
{
    Value v;
    if (rnd(g, 4) == 0 || !pick_value(g, T_I64, &v))
        return core_i64((int64_t)rnd(g, 7) - 2);
    return v.atom;
}

static inline CoreAtom pick_bool(Gen *g)
{
    Value v;
    if (rnd(g, 8) == 0 || !pick_value(g, T_BOOL, &v))
        return core_const(SC_BOOL, rnd(g, 2));
    return v.atom;
}

static inline CoreAtom pick(Gen *g, CoreType t, uint32_t *length_class)
{
    Value v;
    *length_class = 0;
    if (core_type_equal(t, T_I64))
        return pick_i64(g);
    if (core_type_equal(t, T_BOOL))
        return pick_bool(g);
    if (pick_value(g, t, &v)) {
        *length_class = v.length_class;
        return v.atom;
    }
    *length_class = g->next_class++;
    return b_array(&g->b, t, 0, NULL);
}

static inline CoreType random_type(Gen *g)
{
    static const CoreType types[] = {{SC_I64, 0}, {SC_I64, 0}, {SC_BOOL, 0}, {SC_I64, 1}, {SC_I64, 1}, {SC_I64, 2}};
    return types[rnd(g, 6)];
}

static inline void gen_stmt(Gen *g, uint32_t depth);

/* A block with these results: random statements, then random variables. Its own variables leave the scope. */
static inline void gen_block(Gen *g, CoreBlock *block, uint32_t depth, uint32_t n, const CoreType *types)
{
    CoreBlock *outer = g->b.b;
    uint32_t scope = g->nscope, length_class;
    CoreAtom results[8];
    g->b.b = block;
    for (uint32_t i = rnd(g, 5); i > 0; i--)
        gen_stmt(g, depth + 1);
    for (uint32_t i = 0; i < n; i++)
        results[i] = pick(g, types[i], &length_class);
    b_results(&g->b, block, n, results);
    g->b.b = outer;
    g->nscope = scope;
}

static inline void gen_prim(Gen *g)
{
    static const CorePrim ops[] = {PRIM_ADD, PRIM_SUB, PRIM_MUL, PRIM_MIN, PRIM_MAX, PRIM_AND, PRIM_XOR, PRIM_EQ,
                                   PRIM_NE,  PRIM_LT,  PRIM_LE,  PRIM_GT,  PRIM_GE,  PRIM_DIV, PRIM_MOD, PRIM_SHR};
    CorePrim op = ops[rnd(g, 16)];
    CoreAtom y = pick_i64(g);
    if ((op == PRIM_DIV || op == PRIM_MOD) && rnd(g, 20))
        y = core_i64(1 + (int64_t)rnd(g, 3));
    add(g, b_prim(&g->b, op, pick_i64(g), y), 0);
}

static inline void gen_bool_prim(Gen *g)
{
    static const CorePrim ops[] = {PRIM_AND, PRIM_OR, PRIM_XOR, PRIM_EQ, PRIM_NE};
    if (rnd(g, 4) == 0)
        add(g, b_prim_as(&g->b, T_BOOL, PRIM_NOT, 1, (CoreAtom[]){pick_bool(g)}), 0);
    else
        add(g, b_prim(&g->b, ops[rnd(g, 5)], pick_bool(g), pick_bool(g)), 0);
}

static inline void gen_select(Gen *g)
{
    CoreAtom x = pick_i64(g), y = pick_i64(g), c = pick_bool(g);
    add(g, b_prim_as(&g->b, T_I64, PRIM_SELECT, 3, (CoreAtom[]){c, x, y}), 0);
}

static inline CoreAtom gen_length(Gen *g, CoreAtom xs) { return b_length(&g->b, xs); }

static inline CoreType random_seq(Gen *g) { return rnd(g, 4) ? T_SEQ : T_SEQ2; }

/* if 0 < length xs then `index` or `update` there else something else: most accesses do not fail. */
static inline void gen_access(Gen *g, bool updates)
{
    uint32_t length_class, result_class;
    CoreType t = random_seq(g), result = updates ? t : core_element(t);
    CoreAtom xs = pick(g, t, &length_class), i = pick_i64(g), v = pick(g, core_element(t), &result_class);
    if (rnd(g, 12) == 0) {
        CoreAtom x = updates ? b_update(&g->b, xs, i, v) : b_index(&g->b, xs, i);
        add(g, x, updates ? length_class : result.rank ? g->next_class++ : 0);
        return;
    }
    CoreAtom n = gen_length(g, xs);
    CoreStmt *s = b_stmt(&g->b, CORE_IF, 1, &result);
    CoreBlock *outer = g->b.b;
    s->if_.cond = b_prim(&g->b, PRIM_LT, core_i64(0), n);
    g->b.b = s->if_.then_b = core_new_block(g->b.p);
    CoreAtom j = rnd(g, 3) ? b_prim(&g->b, PRIM_MOD, b_prim(&g->b, PRIM_AND, i, core_i64(1023)), n) : core_i64(0);
    b_results(&g->b, g->b.b, 1, (CoreAtom[]){updates ? b_update(&g->b, xs, j, v) : b_index(&g->b, xs, j)});
    g->b.b = s->if_.else_b = core_new_block(g->b.p);
    b_results(&g->b, g->b.b, 1, (CoreAtom[]){updates ? xs : v});
    g->b.b = outer;
    add(g, b_push(&g->b, s), updates ? length_class : result.rank ? g->next_class++ : 0);
}

static inline void gen_slice(Gen *g)
{
    uint32_t length_class;
    CoreType t = random_seq(g);
    CoreAtom xs = pick(g, t, &length_class), n = gen_length(g, xs);
    CoreAtom to = b_prim(&g->b, PRIM_MIN, b_prim(&g->b, PRIM_AND, pick_i64(g), core_i64(7)), n);
    CoreAtom from = b_prim(&g->b, PRIM_MIN, core_i64((int64_t)rnd(g, 3)), to);
    CoreStmt *s = b_stmt(&g->b, CORE_SLICE, 1, &t);
    s->slice.array = xs;
    s->slice.from = from;
    s->slice.to = rnd(g, 8) ? to : n;
    s->site = core_new_site(g->b.p, ERR_SLICE, no_span, NULL);
    add(g, b_push(&g->b, s), g->next_class++);
}

static inline void gen_array(Gen *g)
{
    CoreAtom items[3];
    uint32_t n = rnd(g, 4), length_class;
    CoreType t = random_seq(g);
    for (uint32_t i = 0; i < n; i++)
        items[i] = pick(g, core_element(t), &length_class);
    add(g, b_array(&g->b, t, n, items), g->next_class++);
}

static inline void gen_check(Gen *g)
{
    CoreAtom c = pick_bool(g);
    for (uint32_t i = 0; i < 3; i++) /* rarely false */
        c = b_prim(&g->b, PRIM_OR, c, b_prim(&g->b, PRIM_NE, pick_i64(g), core_i64((int64_t)rnd(g, 40))));
    b_check(&g->b, c, ERR_ASSERT, 0, NULL);
}

/* Two sequences made equally long by a check. */
static inline void gen_equal_lengths(Gen *g)
{
    Value x, y;
    if (!pick_value(g, T_SEQ, &x) || !pick_value(g, T_SEQ, &y) || x.length_class == y.length_class)
        return;
    CoreAtom n = gen_length(g, x.atom), m = gen_length(g, y.atom);
    CoreAtom k = b_prim(&g->b, PRIM_MIN, n, m);
    CoreType t = T_SEQ;
    uint32_t length_class = g->next_class++;
    for (uint32_t i = 0; i < 2; i++) {
        CoreStmt *s = b_stmt(&g->b, CORE_SLICE, 1, &t);
        s->slice.array = i ? y.atom : x.atom;
        s->slice.from = core_i64(0);
        s->slice.to = k;
        s->site = core_new_site(g->b.p, ERR_SLICE, no_span, NULL);
        add(g, b_push(&g->b, s), length_class);
    }
    if (rnd(g, 12) == 0)
        b_check(&g->b, b_prim(&g->b, PRIM_EQ, n, m), ERR_LENGTHS, 2, (CoreAtom[]){n, m});
}

static inline void gen_if(Gen *g, uint32_t depth)
{
    CoreType types[3];
    uint32_t n = 1 + rnd(g, 3);
    for (uint32_t i = 0; i < n; i++)
        types[i] = random_type(g);
    CoreStmt *s = b_stmt(&g->b, CORE_IF, n, types);
    s->if_.cond = pick_bool(g);
    gen_block(g, s->if_.then_b = core_new_block(g->b.p), depth, n, types);
    gen_block(g, s->if_.else_b = core_new_block(g->b.p), depth, n, types);
    b_push(&g->b, s);
    for (uint32_t i = 0; i < n; i++)
        add(g, b_result(&g->b, s, i), types[i].rank ? g->next_class++ : 0);
}

/* A while loop counts its first parameter down. */
static inline void gen_while_parts(Gen *g, CoreStmt *s)
{
    CoreBlock *outer = g->b.b;
    CoreAtom counter = core_var_atom(s->loop.params[0], T_I64);
    g->b.b = s->loop.cond = core_new_block(g->b.p);
    b_results(&g->b, g->b.b, 1, (CoreAtom[]){b_prim(&g->b, PRIM_LT, core_i64(0), counter)});
    g->b.b = s->loop.body;
    s->loop.body->results[0] = b_prim(&g->b, PRIM_SUB, counter, core_i64(1));
    g->b.b = outer;
}

static inline void gen_loop(Gen *g, uint32_t depth)
{
    CoreType types[4] = {T_I64};
    uint32_t n = 1 + rnd(g, 3), scope = g->nscope, length_class;
    bool is_while = rnd(g, 2);
    for (uint32_t i = is_while; i < n; i++)
        types[i] = random_type(g);
    CoreStmt *s = b_stmt(&g->b, CORE_LOOP, n, types);
    s->loop.nparams = n;
    s->loop.params = arena_array(g->b.p->arena, CoreVar, n);
    s->loop.inits = arena_array(g->b.p->arena, CoreAtom, n);
    for (uint32_t i = 0; i < n; i++)
        s->loop.inits[i] = pick(g, types[i], &length_class);
    if (is_while)
        s->loop.inits[0] = core_i64((int64_t)rnd(g, 5));
    for (uint32_t i = 0; i < n; i++) {
        s->loop.params[i] = b_var(&g->b, types[i]).var;
        add(g, core_var_atom(s->loop.params[i], types[i]), types[i].rank ? g->next_class++ : 0);
    }
    s->loop.index = CORE_NO_VAR;
    s->loop.count = core_i64((int64_t)rnd(g, 4));
    if (!is_while && rnd(g, 2)) {
        s->loop.index = b_var(&g->b, T_I64).var;
        add(g, core_var_atom(s->loop.index, T_I64), 0);
    }
    gen_block(g, s->loop.body = core_new_block(g->b.p), depth, n, types);
    if (is_while)
        gen_while_parts(g, s);
    g->nscope = scope;
    b_push(&g->b, s);
    for (uint32_t i = 0; i < n; i++)
        add(g, b_result(&g->b, s, i), types[i].rank ? g->next_class++ : 0);
}

/* ---- parallel operations ---- */

/* Inputs of one length, or a small range. The binders come into scope. */
static inline CoreSoac gen_soac(Gen *g, uint32_t *length_class)
{
    CoreAtom inputs[3];
    uint32_t n = 0;
    Value first, next;
    *length_class = g->next_class++;
    CoreAtom domain = core_i64((int64_t)rnd(g, 4));
    if (rnd(g, 5) && pick_value(g, random_seq(g), &first)) {
        inputs[n++] = first.atom;
        *length_class = first.length_class;
        domain = gen_length(g, first.atom);
        for (uint32_t tries = 0; tries < 4 && n < 3; tries++)
            if (pick_value(g, random_seq(g), &next) && next.length_class == first.length_class)
                inputs[n++] = next.atom;
    } else if (rnd(g, 2)) {
        domain = b_prim(&g->b, PRIM_AND, pick_i64(g), core_i64(3));
    }
    CoreSoac soac = b_soac(&g->b, domain, rnd(g, 2), n, inputs);
    for (uint32_t i = 0; i < n; i++) {
        CoreAtom e = b_element(&g->b, &soac, i);
        add(g, e, type_of(g, e).rank ? g->next_class++ : 0);
    }
    if (soac.index != CORE_NO_VAR)
        add(g, b_position(&soac), 0);
    return soac;
}

static inline void gen_map(Gen *g, uint32_t depth)
{
    CoreType elements[2], types[2];
    uint32_t n = 1 + rnd(g, 2), length_class, scope;
    bool guarded = rnd(g, 3) == 0;
    for (uint32_t i = 0; i < n; i++) {
        elements[i] = rnd(g, 5) ? T_I64 : T_SEQ;
        types[i] = core_seq(elements[i]);
    }
    scope = g->nscope;
    CoreSoac soac = gen_soac(g, &length_class);
    CoreStmt *s = b_stmt(&g->b, CORE_MAP, n, types);
    s->soac = soac;
    if (guarded)
        gen_block(g, s->soac.guard = core_new_block(g->b.p), depth, 1, &T_BOOL);
    gen_block(g, s->soac.body, depth, n, elements);
    g->nscope = scope;
    b_push(&g->b, s);
    if (guarded)
        length_class = g->next_class++;
    for (uint32_t i = 0; i < n; i++)
        add(g, b_result(&g->b, s, i), length_class);
}

static inline CorePrim random_operator(Gen *g, CoreAtom *neutral)
{
    static const struct {
        CorePrim op;
        int64_t neutral;
    } ops[] = {{PRIM_ADD, 0}, {PRIM_MAX, INT64_MIN}, {PRIM_MIN, INT64_MAX}, {PRIM_XOR, 0}, {PRIM_MUL, 1}};
    uint32_t i = rnd(g, 5);
    *neutral = core_i64(ops[i].neutral);
    return ops[i].op;
}

static inline void gen_fold(Gen *g, uint32_t depth)
{
    uint32_t length_class, scope = g->nscope;
    CoreAtom neutral;
    CoreSoac soac = gen_soac(g, &length_class);
    bool is_scan = rnd(g, 3) == 0;
    CoreStmt *s = b_stmt(&g->b, is_scan ? CORE_SCAN : CORE_REDUCE, 1, is_scan ? &T_SEQ : &T_I64);
    s->soac = soac;
    gen_block(g, s->soac.body, depth, 1, &T_I64);
    s->soac.op = b_operator(&g->b, random_operator(g, &neutral), T_I64);
    s->soac.neutral = b_atoms(&g->b, 1, &neutral);
    s->soac.exclusive = is_scan && rnd(g, 2);
    g->nscope = scope;
    add(g, b_push(&g->b, s), is_scan ? length_class : 0);
}

/* A scatter, or one that combines. */
static inline void gen_scatter(Gen *g, uint32_t depth)
{
    uint32_t length_class, dest_class, scope = g->nscope;
    CoreAtom dest = pick(g, T_SEQ, &dest_class);
    CoreSoac soac = gen_soac(g, &length_class);
    CoreAtom neutral;
    bool combines = rnd(g, 2);
    CoreStmt *s = b_stmt(&g->b, combines ? CORE_ACCUMULATE : CORE_SCATTER, 1, &T_SEQ);
    s->soac = soac;
    s->soac.dests = b_atoms(&g->b, 1, &dest);
    gen_block(g, s->soac.body, depth, 2, (CoreType[]){T_I64, T_I64});
    if (combines)
        s->soac.op = b_operator(&g->b, random_operator(g, &neutral), T_I64);
    g->nscope = scope;
    add(g, b_push(&g->b, s), dest_class);
}

static inline void gen_hist(Gen *g, uint32_t depth)
{
    uint32_t length_class, scope = g->nscope;
    CoreAtom neutral;
    CoreSoac soac = gen_soac(g, &length_class);
    CoreStmt *s = b_stmt(&g->b, CORE_HIST, 1, &T_SEQ);
    s->soac = soac;
    s->soac.size = core_i64((int64_t)rnd(g, 4));
    gen_block(g, s->soac.body, depth, 2, (CoreType[]){T_I64, T_I64});
    s->soac.op = b_operator(&g->b, random_operator(g, &neutral), T_I64);
    s->soac.neutral = b_atoms(&g->b, 1, &neutral);
    g->nscope = scope;
    add(g, b_push(&g->b, s), g->next_class++);
}

static inline void gen_argsort(Gen *g)
{
    uint32_t length_class;
    CoreAtom keys = pick(g, T_SEQ, &length_class);
    CoreStmt *s = b_stmt(&g->b, CORE_ARGSORT, 1, &T_SEQ);
    s->argsort.nkeys = 1;
    s->argsort.keys = b_atoms(&g->b, 1, &keys);
    add(g, b_push(&g->b, s), length_class);
}

static inline void gen_flatten(Gen *g)
{
    uint32_t length_class;
    CoreStmt *s = b_stmt(&g->b, CORE_FLATTEN, 1, &T_SEQ);
    s->length.array = pick(g, T_SEQ2, &length_class);
    add(g, b_push(&g->b, s), g->next_class++);
}

/* Of rows and a size; sometimes all have to have it. */
static inline void gen_check_rows(Gen *g)
{
    uint32_t length_class;
    CoreAtom args[] = {pick(g, T_SEQ2, &length_class), rnd(g, 2) ? core_i64((int64_t)rnd(g, 4)) : pick_i64(g)};
    CoreStmt *s = b_stmt(&g->b, CORE_CHECK_ROWS, 1, &T_I64);
    s->rows.nargs = 2;
    s->rows.args = b_atoms(&g->b, 2, args);
    s->rows.depth = 1;
    CoreAtom wrong = b_push(&g->b, s);
    add(g, wrong, 0);
    if (rnd(g, 4) == 0)
        b_check(&g->b, b_prim(&g->b, PRIM_LT, wrong, core_i64(0)), ERR_SIZE, 2, (CoreAtom[]){args[1], wrong});
}

static inline void gen_call(Gen *g)
{
    uint32_t length_class;
    if (g->ncallable == 0)
        return;
    CoreFn *fn = g->b.p->fns.at[rnd(g, g->ncallable)];
    CoreAtom args[8];
    for (uint32_t i = 0; i < fn->nparams; i++)
        args[i] = pick(g, core_var_type(fn, fn->params[i]), &length_class);
    if (fn->recursive) /* counts its first parameter down */
        args[0] = core_i64((int64_t)rnd(g, 4));
    CoreStmt *s = b_stmt(&g->b, CORE_CALL, fn->nresults, fn->results);
    s->call.fn = fn;
    s->call.nargs = fn->nparams;
    s->call.args = b_atoms(&g->b, fn->nparams, args);
    b_push(&g->b, s);
    for (uint32_t i = 0; i < fn->nresults; i++)
        add(g, b_result(&g->b, s, i), fn->results[i].rank ? g->next_class++ : 0);
}

static inline void gen_stmt(Gen *g, uint32_t depth)
{
    if (g->fuel == 0)
        return;
    g->fuel--;
    switch (rnd(g, depth < 4 ? 26 : 16)) {
    case 0:
    case 1:
    case 2:
    case 3: gen_prim(g); break;
    case 4:
    case 5: gen_bool_prim(g); break;
    case 6: gen_select(g); break;
    case 7: add(g, gen_length(g, pick(g, random_seq(g), &(uint32_t){0})), 0); break;
    case 8:
    case 9: gen_access(g, false); break;
    case 10: gen_slice(g); break;
    case 11: gen_access(g, true); break;
    case 12: gen_array(g); break;
    case 13: gen_check(g); break;
    case 14: gen_equal_lengths(g); break;
    case 15:
        if (rnd(g, 3) == 0)
            gen_check_rows(g);
        else
            rnd(g, 2) ? gen_argsort(g) : gen_flatten(g);
        break;
    case 16:
    case 17: gen_if(g, depth); break;
    case 18: gen_loop(g, depth); break;
    case 19:
    case 20:
    case 21: gen_map(g, depth); break;
    case 22:
    case 23: gen_fold(g, depth); break;
    case 24: rnd(g, 2) ? gen_scatter(g, depth) : gen_hist(g, depth); break;
    default: gen_call(g); break;
    }
}

/* ---- functions ---- */

static inline void begin_fn(Gen *g, const char *name, uint32_t nparams, const CoreType *types)
{
    b_fn(&g->b, name);
    g->nscope = 0;
    g->fuel = 25;
    for (uint32_t i = 0; i < nparams; i++)
        add(g, b_param(&g->b, types[i]), types[i].rank ? g->next_class++ : 0);
}

static inline void end_fn(Gen *g, uint32_t nresults, const CoreType *types)
{
    CoreAtom results[4];
    uint32_t length_class;
    for (uint32_t i = 0; i < nresults; i++)
        results[i] = pick(g, types[i], &length_class);
    b_return(&g->b, nresults, results);
    g->ncallable = g->b.p->fns.n;
}

static inline void gen_helper(Gen *g)
{
    CoreType types[3], result = random_type(g);
    for (uint32_t i = 0; i < 3; i++)
        types[i] = random_type(g);
    begin_fn(g, "helper", 3, types);
    for (uint32_t i = 0; i < 6; i++)
        gen_stmt(g, 2);
    end_fn(g, 1, &result);
}

/* rec f (n, x, xs) = S; if n <= 0 then T else U; f (n - 1, …), the call in tail position or not */
static inline void gen_recursive(Gen *g)
{
    const CoreType types[] = {T_I64, T_I64, T_SEQ};
    begin_fn(g, "rec", 3, types);
    CoreFn *fn = g->b.fn;
    fn->recursive = true;
    CoreAtom n = g->scope[0].atom;
    uint32_t length_class;
    bool tail = rnd(g, 2);
    for (uint32_t i = rnd(g, 3); i > 0; i--)
        gen_stmt(g, 3);
    CoreStmt *s = b_stmt(&g->b, CORE_IF, 2, &types[1]);
    s->if_.cond = b_prim(&g->b, PRIM_LE, n, core_i64(0));
    gen_block(g, s->if_.then_b = core_new_block(g->b.p), 3, 2, &types[1]);
    CoreBlock *outer = g->b.b;
    uint32_t scope = g->nscope;
    g->b.b = s->if_.else_b = core_new_block(g->b.p);
    for (uint32_t i = rnd(g, 3); i > 0; i--)
        gen_stmt(g, 3);
    CoreStmt *call = b_stmt(&g->b, CORE_CALL, 2, &types[1]);
    CoreAtom args[] = {b_prim(&g->b, PRIM_SUB, n, core_i64(1)), pick_i64(g), pick(g, T_SEQ, &length_class)};
    call->call.fn = fn;
    call->call.nargs = 3;
    call->call.args = b_atoms(&g->b, 3, args);
    b_push(&g->b, call);
    CoreAtom results[] = {b_result(&g->b, call, 0), b_result(&g->b, call, 1)};
    if (!tail)
        results[0] = b_prim(&g->b, PRIM_ADD, results[0], pick_i64(g));
    b_results(&g->b, s->if_.else_b, 2, results);
    g->b.b = outer;
    g->nscope = scope;
    b_push(&g->b, s);
    b_return(&g->b, 2, (CoreAtom[]){b_result(&g->b, s, 0), b_result(&g->b, s, 1)});
    g->ncallable = g->b.p->fns.n;
}

static const CoreType main_types[] = {{SC_I64, 0}, {SC_BOOL, 0}, {SC_I64, 1}, {SC_I64, 1}, {SC_I64, 2}};
enum { MAIN_PARAMS = 5, MAIN_RESULTS = 4, RUNS = 3 };

static inline CoreFn *gen_program(Gen *g, uint64_t seed)
{
    const CoreType results[MAIN_RESULTS] = {T_I64, T_BOOL, T_SEQ, T_SEQ2};
    *g = (Gen){.b = b_open(), .state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1, .next_class = 1};
    for (uint32_t i = 0; i < 8; i++)
        rnd(g, 2);
    gen_helper(g);
    gen_recursive(g);
    begin_fn(g, "main", MAIN_PARAMS, main_types);
    CoreFn *fn = g->b.fn;
    g->fuel = 60;
    for (uint32_t i = 0; i < 14; i++)
        gen_stmt(g, 0);
    end_fn(g, MAIN_RESULTS, results);
    b_entry(&g->b, fn);
    return fn;
}

/* ---- comparing ---- */

static inline CoreValue random_seq_value(Gen *g, uint32_t n)
{
    CoreValue v = {.type = T_SEQ, .n = n, .scalars = arena_array(g->b.p->arena, uint64_t, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        v.scalars[i] = (uint64_t)((int64_t)rnd(g, 9) - 3);
    return v;
}

static inline void random_args(Gen *g, CoreValue *args)
{
    args[0] = v_i64((int64_t)rnd(g, 9) - 3);
    args[1] = (CoreValue){.type = T_BOOL, .bits = rnd(g, 2)};
    args[2] = random_seq_value(g, rnd(g, 6));
    args[3] = random_seq_value(g, rnd(g, 6));
    args[4] = (CoreValue){.type = T_SEQ2, .n = rnd(g, 4)};
    args[4].items = arena_array(g->b.p->arena, CoreValue, args[4].n + 1);
    for (uint64_t i = 0; i < args[4].n; i++)
        args[4].items[i] = random_seq_value(g, rnd(g, 4));
}

static inline bool same_value(const CoreValue *x, const CoreValue *y)
{
    if (!core_type_equal(x->type, y->type) || (x->type.rank == 0 && x->bits != y->bits))
        return false;
    if (x->type.rank == 0)
        return true;
    bool same = x->n == y->n;
    for (uint64_t i = 0; same && i < x->n; i++)
        same = x->type.rank == 1 ? x->scalars[i] == y->scalars[i] : same_value(&x->items[i], &y->items[i]);
    return same;
}

typedef struct Run {
    bool ok, internal;
    CoreValue results[MAIN_RESULTS];
    EvalError error;
} Run;

static inline Run run_main(Gen *g, const CoreFn *fn, const CoreValue *args)
{
    Run r = {0};
    r.ok = core_eval(g->b.p, fn, g->b.p->arena, args, r.results, NULL, NULL, &r.error, NULL);
    r.internal = !r.ok && r.error.kind != EVAL_AT_SITE;
    return r;
}

static inline bool same_run(const Run *a, const Run *b)
{
    if (a->ok != b->ok || b->internal)
        return false;
    for (uint32_t i = 0; a->ok && i < MAIN_RESULTS; i++)
        if (!same_value(&a->results[i], &b->results[i]))
            return false;
    return true;
}

/* ---- settings ---- */

static inline uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Both ways through the passes, for many programs. */
static inline void run_random_programs(void (*run_seed)(uint64_t seed, bool flag), uint64_t count)
{
    uint64_t n = setting("DPC_RANDOM_PROGRAMS", count), first = setting("DPC_RANDOM_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        run_seed(seed, false);
        run_seed(seed, true);
    }
}

#endif
