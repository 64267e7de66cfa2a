#include "core/last_use.h"

/* An atom's address and whether it is a last use. Should two statements share an atom's storage, it is
 * one only if it is for both. */
typedef struct Slot {
    const CoreAtom *atom;
    bool is_last;
} Slot;

struct LastUse {
    Slot *slots; /* open addressing, a power of two */
    uint64_t mask, count;
    Arena *arena;
};

typedef struct Scan {
    LastUse *uses;
    Arena *scratch;
    const CoreFn *fn;
    uint32_t *bound_at;    /* by variable: how many repeating blocks enclose its binder */
    bool *used_later;      /* by variable: read behind the current point */
    uint32_t depth;        /* repeating blocks around the current point */
    VEC(CoreVar) marked;   /* variables whose used_later was set, oldest first */
    VEC(CoreAtom *) atoms; /* of the statement at hand */
} Scan;

/* ---- the table ---- */

static uint64_t slot_of(const Slot *slots, uint64_t mask, const CoreAtom *a)
{
    uint64_t i = ((uint64_t)(uintptr_t)a >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & mask;
    while (slots[i].atom && slots[i].atom != a)
        i = (i + 1) & mask;
    return i;
}

static void table_grow(LastUse *t)
{
    uint64_t mask = t->slots ? t->mask * 2 + 1 : 255;
    Slot *slots = arena_array(t->arena, Slot, mask + 1);
    for (uint64_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].atom)
            slots[slot_of(slots, mask, t->slots[i].atom)] = t->slots[i];
    t->slots = slots;
    t->mask = mask;
}

static void table_add(LastUse *t, const CoreAtom *a, bool is_last)
{
    if (!t->slots || t->count * 2 > t->mask)
        table_grow(t);
    Slot *slot = &t->slots[slot_of(t->slots, t->mask, a)];
    if (slot->atom) {
        slot->is_last = slot->is_last && is_last;
        return;
    }
    *slot = (Slot){a, is_last};
    t->count++;
}

bool last_use_is(const LastUse *t, const CoreAtom *a)
{
    return t->slots && t->slots[slot_of(t->slots, t->mask, a)].is_last;
}

/* ---- marking, backwards ---- */

static void mark(Scan *s, CoreVar v)
{
    if (s->used_later[v])
        return;
    s->used_later[v] = true;
    vec_push(s->scratch, &s->marked, v);
}

static void use(Scan *s, const CoreAtom *a)
{
    if (a->is_const || core_var_type(s->fn, a->var).rank == 0)
        return;
    table_add(s->uses, a, !s->used_later[a->var] && s->bound_at[a->var] == s->depth);
    mark(s, a->var);
}

static void note_binder(void *ctx, CoreVar *v)
{
    Scan *s = ctx;
    s->bound_at[*v] = s->depth;
}

static void scan_block(Scan *s, const CoreBlock *b);

static void scan_repeated(Scan *s, CoreStmt *stmt, const CoreBlock *b)
{
    s->depth++;
    core_stmt_binders(stmt, note_binder, s);
    scan_block(s, b);
    s->depth--;
}

/* The branches exclude each other: the second scanned does not see the marks of the first. */
static void scan_if(Scan *s, const CoreStmt *stmt)
{
    uint32_t before = s->marked.n;
    scan_block(s, stmt->if_.else_b);
    uint32_t n = s->marked.n - before;
    CoreVar *by_else = arena_array(s->scratch, CoreVar, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        by_else[i] = s->marked.at[before + i];
        s->used_later[by_else[i]] = false;
    }
    s->marked.n = before;
    scan_block(s, stmt->if_.then_b);
    for (uint32_t i = 0; i < n; i++)
        mark(s, by_else[i]);
}

/* A round is: the condition, then the body; after the last condition the parameters are the results. */
static void scan_loop(Scan *s, CoreStmt *stmt)
{
    scan_repeated(s, stmt, stmt->loop.body);
    if (!stmt->loop.cond)
        return;
    for (uint32_t i = 0; i < stmt->loop.nparams; i++)
        mark(s, stmt->loop.params[i]);
    scan_repeated(s, stmt, stmt->loop.cond);
}

static void scan_operator(Scan *s, CoreStmt *stmt)
{
    const CoreLambda *op = core_stmt_operator(stmt);
    if (op)
        scan_repeated(s, stmt, op->body);
}

/* Inputs are read all the while the statement runs: later than its other operands. */
static void scan_soac(Scan *s, CoreStmt *stmt, const CoreSoac *soac)
{
    scan_operator(s, stmt);
    scan_repeated(s, stmt, soac->body);
    if (soac->guard)
        scan_repeated(s, stmt, soac->guard);
    for (uint32_t i = 0; i < soac->ninputs; i++)
        use(s, &soac->inputs[i]);
}

static void collect(void *ctx, CoreAtom *a)
{
    Scan *s = ctx;
    vec_push(s->scratch, &s->atoms, a);
}

/* The blocks run after the operands were read, so backwards they come first. */
static void scan_stmt(Scan *s, CoreStmt *stmt)
{
    const CoreSoac *soac = core_stmt_soac(stmt);
    if (soac)
        scan_soac(s, stmt, soac);
    else if (stmt->kind == CORE_IF)
        scan_if(s, stmt);
    else if (stmt->kind == CORE_LOOP)
        scan_loop(s, stmt);
    s->atoms.n = 0;
    core_stmt_atoms(stmt, collect, s);
    for (uint32_t i = s->atoms.n; i-- > 0;)
        use(s, s->atoms.at[i]);
}

static void scan_block(Scan *s, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        for (uint32_t j = 0; j < b->stmts.at[i]->nvars; j++)
            s->bound_at[b->stmts.at[i]->vars[j]] = s->depth;
    for (uint32_t i = b->nresults; i-- > 0;)
        use(s, &b->results[i]);
    for (uint32_t i = b->stmts.n; i-- > 0;)
        scan_stmt(s, b->stmts.at[i]);
}

LastUse *last_use_of_program(const CoreProgram *p, Arena *arena)
{
    LastUse *uses = arena_new(arena, LastUse);
    uses->arena = arena;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        const CoreFn *fn = p->fns.at[i];
        Arena *scratch = arena_create();
        Scan s = {.uses = uses, .scratch = scratch, .fn = fn};
        s.bound_at = arena_array(scratch, uint32_t, fn->vars.n + 1);
        s.used_later = arena_array(scratch, bool, fn->vars.n + 1);
        scan_block(&s, fn->body);
        arena_destroy(scratch);
    }
    return uses;
}
