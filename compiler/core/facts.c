#include "core/simplify_internal.h"

#include <string.h>

/* ---- available operations: a hash table with chains, the newest first, so that it can be undone ---- */

#define MOST_WORDS 4096 /* of a key */

typedef VEC(uint64_t) Words;

typedef struct Entry {
    uint64_t hash;
    uint64_t *words;
    uint32_t nwords;
    uint32_t next; /* index + 1 of an older entry in the chain */
    const CoreAtom *results;
} Entry;

struct Available {
    VEC(Entry) entries;
    uint32_t *chains; /* index + 1 */
    uint32_t nchains; /* a power of two */
    Words key;
    VEC(uint32_t) numbers; /* of variables bound in the statement at hand, by order of binding, from 1; else 0 */
    VEC(CoreVar) bound;
};

static uint64_t hash_words(const Words *words)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < words->n; i++) {
        h = (h ^ words->at[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}

static void chain_entry(Available *t, uint32_t i)
{
    uint32_t *head = &t->chains[t->entries.at[i].hash & (t->nchains - 1)];
    t->entries.at[i].next = *head;
    *head = i + 1;
}

static void available_add(Simplifier *s, const CoreAtom *results)
{
    Available *t = s->available;
    Entry e = {.hash = hash_words(&t->key), .nwords = t->key.n, .results = results};
    e.words = arena_array(s->scratch, uint64_t, t->key.n);
    memcpy(e.words, t->key.at, t->key.n * sizeof *e.words);
    vec_push(s->scratch, &t->entries, e);
    if (t->entries.n > t->nchains) {
        t->nchains *= 2;
        t->chains = arena_array(s->scratch, uint32_t, t->nchains);
        for (uint32_t i = 0; i < t->entries.n; i++) /* oldest first: heads are the newest again */
            chain_entry(t, i);
    } else {
        chain_entry(t, t->entries.n - 1);
    }
    vec_push(s->scratch, &s->undo, ((Undo){.var = CORE_NO_VAR}));
}

static void available_pop(Available *t)
{
    Entry *e = &t->entries.at[--t->entries.n];
    t->chains[e->hash & (t->nchains - 1)] = e->next;
}

static const CoreAtom *available_find(const Available *t)
{
    uint64_t hash = hash_words(&t->key);
    for (uint32_t i = t->chains[hash & (t->nchains - 1)]; i; i = t->entries.at[i - 1].next) {
        const Entry *e = &t->entries.at[i - 1];
        if (e->hash == hash && e->nwords == t->key.n && memcmp(e->words, t->key.at, e->nwords * sizeof *e->words) == 0)
            return e->results;
    }
    return NULL;
}

/* ---- keys: what makes two operations the same; the site does not count ---- */

static void key_word(Simplifier *s, uint64_t w) { vec_push(s->scratch, &s->available->key, w); }

static void key_atom(Simplifier *s, CoreAtom a)
{
    const Available *t = s->available;
    if (!a.is_const && a.var < t->numbers.n && t->numbers.at[a.var]) {
        key_word(s, UINT64_MAX);
        key_word(s, t->numbers.at[a.var]);
        return;
    }
    key_word(s, a.is_const ? 1u + (uint64_t)a.type.scalar : 0);
    key_word(s, a.is_const ? a.bits : a.var);
}

static void key_stmt_atom(void *ctx, CoreAtom *a) { key_atom(ctx, *a); }

static void key_prim(Simplifier *s, CorePrim op, uint32_t n, const CoreAtom *args, Scalar result)
{
    s->available->key.n = 0;
    key_word(s, CORE_PRIM | (uint64_t)op << 8 | (uint64_t)result << 32);
    for (uint32_t i = 0; i < n; i++)
        key_atom(s, args[i]);
}

/* iota and replicate: no inputs, no statements. The position is written as a variable of its own kind. */
static bool key_index_map(Simplifier *s, const CoreSoac *m)
{
    if (m->guard || m->ninputs || m->body->stmts.n)
        return false;
    key_word(s, CORE_MAP);
    key_atom(s, m->domain);
    for (uint32_t i = 0; i < m->body->nresults; i++) {
        CoreAtom r = m->body->results[i];
        if (!r.is_const && r.var == m->index)
            key_word(s, UINT64_MAX);
        else
            key_atom(s, r);
    }
    return true;
}

/* ---- keys of statements with blocks: variables bound in them count by the order of their binding ---- */

static void key_bind(Simplifier *s, const CoreVar *vars, uint32_t n)
{
    Available *t = s->available;
    for (uint32_t i = 0; i < n; i++) {
        if (vars[i] == CORE_NO_VAR)
            continue;
        while (t->numbers.n <= vars[i])
            vec_push(s->scratch, &t->numbers, 0);
        vec_push(s->scratch, &t->bound, vars[i]);
        t->numbers.at[vars[i]] = t->bound.n;
        CoreType type = core_var_type(s->fn, vars[i]);
        key_word(s, (uint64_t)type.scalar << 8 | type.rank);
    }
}

static void key_inside(Simplifier *s, CoreStmt *stmt);

static void key_block(Simplifier *s, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n && s->available->key.n <= MOST_WORDS; i++) {
        key_inside(s, b->stmts.at[i]);
        key_bind(s, b->stmts.at[i]->vars, b->stmts.at[i]->nvars);
    }
    key_word(s, b->nresults);
    for (uint32_t i = 0; i < b->nresults; i++)
        key_atom(s, b->results[i]);
}

/* What tells statements of a kind apart, beside their fields. */
static uint64_t detail_of(const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_PRIM: return s->prim.op;
    case CORE_CALL: return s->call.fn->index;
    case CORE_CHECK_ROWS: return s->rows.depth;
    default:
        return core_stmt_soac(s) ? (uint64_t)s->soac.stays << 2 | (uint64_t)s->soac.exclusive << 1 | s->soac.commutative
                                 : 0;
    }
}

/* The words of a statement that is bound elsewhere: all that it does, but for the place where it fails. Of what may be
 * missing, whether it is there. */
static void key_inside(Simplifier *s, CoreStmt *stmt)
{
    const CoreField *fields = core_kind(stmt->kind)->fields;
    uint32_t n;
    key_word(s, (uint64_t)stmt->kind | (uint64_t)stmt->nvars << 8 | detail_of(stmt) << 32);
    core_stmt_atoms(stmt, key_stmt_atom, s);
    for (const CoreField *f = fields; f->kind; f++) {
        const CoreVar *vars = core_field_binders(stmt, f, &n);
        key_word(s, n);
        key_bind(s, vars, n);
    }
    for (const CoreField *f = fields; f->kind; f++) {
        CoreBlock **b = core_field_block(stmt, f);
        key_word(s, b != NULL);
        if (b)
            key_block(s, *b);
    }
}

/* False where the statement is too large to be compared. */
static bool key_combination(Simplifier *s, CoreStmt *stmt)
{
    Available *t = s->available;
    key_inside(s, stmt);
    while (t->bound.n)
        t->numbers.at[t->bound.at[--t->bound.n]] = 0;
    return t->key.n <= MOST_WORDS;
}

/* False: operations of this kind are not looked up. */
static bool key_of(Simplifier *s, const CoreStmt *stmt)
{
    s->available->key.n = 0;
    CoreStmt *m = (CoreStmt *)(uintptr_t)stmt; /* the traversal below only reads */
    CoreType t = stmt->nvars ? core_var_type(s->fn, stmt->vars[0]) : core_scalar(SC_BOOL);
    if (stmt->kind == CORE_PRIM) {
        key_prim(s, stmt->prim.op, stmt->prim.nargs, stmt->prim.args, t.scalar);
        return true;
    }
    if (stmt->kind == CORE_MAP)
        return key_index_map(s, &stmt->soac);
    switch (core_kind(stmt->kind)->same) {
    case SAME_OPERANDS:
        key_word(s, stmt->kind | (uint64_t)t.scalar << 8 | (uint64_t)t.rank << 16);
        key_word(s, detail_of(stmt));
        core_stmt_atoms(m, key_stmt_atom, s);
        return true;
    case SAME_WHOLE: return key_combination(s, m); /* nothing else is fused into what uses it */
    case SAME_NOT: return false;
    }
    return false;
}

const CoreAtom *facts_find(Simplifier *s, const CoreStmt *stmt)
{
    return key_of(s, stmt) ? available_find(s->available) : NULL;
}

void facts_add(Simplifier *s, const CoreStmt *stmt)
{
    if (!key_of(s, stmt))
        return;
    CoreAtom *results = arena_array(s->scratch, CoreAtom, stmt->nvars + 1);
    for (uint32_t i = 0; i < stmt->nvars; i++)
        results[i] = core_var_atom(stmt->vars[i], core_var_type(s->fn, stmt->vars[i]));
    available_add(s, results);
}

/* ---- variables ---- */

void facts_begin(Simplifier *s, CoreFn *fn)
{
    s->fn = fn;
    s->vars.n = s->undo.n = s->next_order = 0;
    s->available = arena_new(s->scratch, Available);
    s->available->nchains = 256;
    s->available->chains = arena_array(s->scratch, uint32_t, s->available->nchains);
    for (uint32_t i = 0; i < fn->nparams; i++)
        facts_bind(s, fn->params[i], NULL);
}

VarFacts *facts_of(Simplifier *s, CoreVar v)
{
    while (s->vars.n <= v)
        vec_push(s->scratch, &s->vars, ((VarFacts){0}));
    return &s->vars.at[v];
}

uint32_t facts_mark(const Simplifier *s) { return s->undo.n; }

void facts_undo(Simplifier *s, uint32_t mark)
{
    while (s->undo.n > mark) {
        Undo *u = &s->undo.at[--s->undo.n];
        if (u->var == CORE_NO_VAR)
            available_pop(s->available);
        else
            s->vars.at[u->var] = u->before;
    }
}

VarFacts *facts_touch(Simplifier *s, CoreVar v)
{
    VarFacts *f = facts_of(s, v);
    vec_push(s->scratch, &s->undo, ((Undo){v, *f}));
    return f;
}

/* One step from a variable to what it is known to be: its replacement, or the choice a select makes. */
static bool resolve_step(Simplifier *s, CoreAtom *a)
{
    const VarFacts *f = facts_of(s, a->var);
    if (f->replaced) {
        *a = f->by;
        return true;
    }
    const CoreStmt *def = f->def;
    if (!def || def->kind != CORE_PRIM || def->prim.op != PRIM_SELECT)
        return false;
    CoreAtom cond = facts_resolve(s, def->prim.args[0]);
    if (cond.is_const)
        *a = def->prim.args[cond.bits ? 1 : 2];
    return cond.is_const;
}

CoreAtom facts_resolve(Simplifier *s, CoreAtom a)
{
    while (!a.is_const && resolve_step(s, &a))
        continue;
    return a;
}

void facts_bind(Simplifier *s, CoreVar v, const CoreStmt *def)
{
    VarFacts *f = facts_of(s, v);
    *f = (VarFacts){.def = def, .order = s->next_order++};
}

void facts_replace(Simplifier *s, CoreVar v, CoreAtom by)
{
    VarFacts *f = facts_of(s, v);
    f->replaced = true;
    f->by = by;
    s->changed = true;
    if (!by.is_const && !s->fn->vars.at[by.var].hint)
        s->fn->vars.at[by.var].hint = s->fn->vars.at[v].hint;
}

const CoreStmt *facts_def(Simplifier *s, CoreAtom a) { return a.is_const ? NULL : facts_of(s, a.var)->def; }

/* ---- learning ---- */

static void learn_value(Simplifier *s, CoreAtom x, CoreAtom value)
{
    VarFacts *f = facts_touch(s, x.var);
    f->replaced = true;
    f->by = value;
}

void facts_learn_value(Simplifier *s, CoreVar v, CoreAtom value)
{
    learn_value(s, core_var_atom(v, core_scalar(SC_BOOL)), value);
}

/* x = y, as bits. Of two variables the one bound first stays. */
static void learn_equal(Simplifier *s, CoreAtom x, CoreAtom y)
{
    if (core_atom_equal(x, y) || (x.is_const && y.is_const))
        return;
    if (x.is_const || (!y.is_const && facts_of(s, x.var)->order < facts_of(s, y.var)->order))
        learn_value(s, y, x);
    else
        learn_value(s, x, y);
}

/* If it was computed before, the variable that holds it is known from here on, too. */
static void learn_comparison(Simplifier *s, CorePrim op, CoreAtom x, CoreAtom y, bool holds)
{
    if (holds && (op == PRIM_LE || op == PRIM_LT))
        order_learn(s, x, y, op == PRIM_LT);
    key_prim(s, op, 2, (CoreAtom[]){x, y}, SC_BOOL);
    const CoreAtom *before = available_find(s->available);
    if (before) {
        facts_learn(s, facts_resolve(s, *before), holds);
        return;
    }
    CoreAtom *truth = arena_new(s->scratch, CoreAtom);
    *truth = core_const(SC_BOOL, holds);
    key_prim(s, op, 2, (CoreAtom[]){x, y}, SC_BOOL);
    available_add(s, truth);
}

/* x < y: also x <= y, not y < x, not y <= x. Not x < y: y <= x, except with nan. */
static void learn_less(Simplifier *s, CoreAtom x, CoreAtom y, bool holds, bool is_float)
{
    if (holds) {
        order_learn(s, x, y, true);
        learn_comparison(s, PRIM_LE, x, y, true);
        learn_comparison(s, PRIM_LT, y, x, false);
        learn_comparison(s, PRIM_LE, y, x, false);
    } else if (!is_float) {
        learn_comparison(s, PRIM_LE, y, x, true);
    }
}

static void learn_from(Simplifier *s, const CoreStmt *def, bool holds)
{
    CoreAtom x = facts_resolve(s, def->prim.args[0]);
    CoreAtom y = def->prim.nargs > 1 ? facts_resolve(s, def->prim.args[1]) : x;
    bool is_float = scalar_is_float(core_atom_type(s->fn, x).scalar);
    CorePrim op = def->prim.op;
    if (op == PRIM_NOT) {
        facts_learn(s, x, !holds);
    } else if ((op == PRIM_AND && holds) || (op == PRIM_OR && !holds)) {
        facts_learn(s, x, holds);
        facts_learn(s, facts_resolve(s, y), holds);
    } else if (((op == PRIM_EQ && holds) || (op == PRIM_NE && !holds)) && !is_float) {
        learn_equal(s, x, y);
    } else if (op == PRIM_EQ || op == PRIM_NE) {
        order_learn_different(s, x, y);
    } else if (op == PRIM_LT) {
        learn_less(s, x, y, holds, is_float);
    } else if (op == PRIM_LE && !is_float) { /* not x <= y: y < x */
        if (holds)
            order_learn(s, x, y, false);
        learn_comparison(s, PRIM_LT, y, x, !holds);
    }
}

void facts_learn(Simplifier *s, CoreAtom cond, bool holds)
{
    if (cond.is_const)
        return;
    const CoreStmt *def = facts_def(s, cond);
    learn_value(s, cond, core_const(SC_BOOL, holds));
    if (holds)
        rows_learn_check(s, cond);
    if (def && def->kind == CORE_PRIM)
        learn_from(s, def, holds);
}

void facts_learn_length(Simplifier *s, CoreAtom xs, CoreAtom n)
{
    VarFacts *f = facts_touch(s, xs.var);
    f->has_length = true;
    f->length = n;
}

void facts_learn_rows(Simplifier *s, CoreVar xs, const RowFacts *rows) { facts_touch(s, xs)->rows = rows; }

void facts_learn_slice(Simplifier *s, CoreAtom from, CoreAtom to)
{
    learn_comparison(s, PRIM_LE, core_i64(0), from, true);
    learn_comparison(s, PRIM_LE, from, to, true);
}

bool facts_length(Simplifier *s, CoreAtom xs, CoreAtom *n)
{
    if (xs.is_const || !facts_of(s, xs.var)->has_length)
        return false;
    *n = facts_resolve(s, s->vars.at[xs.var].length);
    return true;
}

void facts_learn_positive(Simplifier *s, CoreAtom n)
{
    if (n.is_const)
        return;
    const CoreStmt *def = facts_def(s, n);
    if (core_as_prim(def, PRIM_MAX) && atom_is(facts_resolve(s, def->prim.args[1]), 0))
        order_learn(s, n, facts_resolve(s, def->prim.args[0]), false); /* the length of `iota m`: m itself */
    learn_comparison(s, PRIM_LT, core_i64(0), n, true);
    learn_less(s, core_i64(0), n, true, false);
    learn_comparison(s, PRIM_EQ, n, core_i64(0), false);
    learn_comparison(s, PRIM_NE, n, core_i64(0), true);
}
