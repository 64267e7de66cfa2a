/* Arrays of values that are cheap to make, and that a lane is to change, as its own:
 *
 *     rows = map n { -> map m { -> 0 } }                           map k (x <- xs) {
 *     map k (x <- xs) { … update rows i row … }    ==>                 rows = map n { -> map m { -> 0 } }
 *                                                                      … update rows i row … }
 *
 * They were hoisted, as all instances have them in common (hoist.c), but each would begin with a copy. As its own, a
 * table's rows are known to be of one length. */
#include "core/choose_lanes_internal.h"

enum { MOST_STATEMENTS = 8 }; /* for an element */

typedef struct Fills {
    CoreBuilder *b;
    CoreVar first;      /* of the code's variables */
    VEC(CoreAtom) some; /* what is more than 0 where code is at work: operations and loops around it go so far */
    CoreBlock front;
    VEC(const CoreStmt *) from;
    VEC(CoreAtom) to;
    Arena *scratch;
    CoreCopyMap *map;
} Fills;

/* Where a fill is made: in a block that is not in scope, or in front of all. */
typedef struct Made {
    CoreStmt *map;
    const CoreBlock *block; /* NULL: in front */
} Made;

static Made made_in(const Fills *f, const CoreBlock *block, CoreAtom a)
{
    CoreStmt *s = block ? core_block_def(block, a) : NULL;
    return s ? (Made){s, block} : (Made){core_fn_def(f->b->fn, a), NULL};
}

/* "0 < n" of the n instances that there are, or of a loop's n rounds: it holds in each. */
static bool holds_inside(const Fills *f, CoreAtom cond)
{
    const CoreStmt *s = core_fn_def(f->b->fn, cond);
    if (core_as_prim(s, PRIM_AND))
        return holds_inside(f, s->prim.args[0]) && holds_inside(f, s->prim.args[1]);
    for (uint32_t i = 0; s && i < f->some.n; i++)
        if (core_is_prim2(s, PRIM_LT, core_i64(0), f->some.at[i]))
            return true;
    return false;
}

static Made maker_of(const Fills *f, CoreAtom a)
{
    const Made made = made_in(f, NULL, a);
    const CoreStmt *s = made.map;
    if (!s || s->kind != CORE_IF || !holds_inside(f, s->if_.cond))
        return made;
    return made_in(f, s->if_.then_b, s->if_.then_b->results[core_stmt_result(s, a)]);
}

typedef struct Scope {
    const CoreBlock *block; /* what this binds is not in scope */
    bool out;
} Scope;

static void note_scope(void *ctx, CoreAtom *a)
{
    Scope *scope = ctx;
    scope->out |= scope->block && core_block_def(scope->block, *a);
}

/* Arithmetic on positions and numbers, perhaps for each row: no more to do than for a copy, nearly. */
static bool is_arithmetic(const Fills *f, CoreBlock *body, CoreAtom row)
{
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        const CoreStmt *s = body->stmts.at[i];
        if (s != core_block_def(body, row) && (s->kind != CORE_PRIM || core_stmt_fallible(f->b->p, f->b->fn, s)))
            return false;
    }
    return body->stmts.n <= MOST_STATEMENTS;
}

static bool is_fill(const Fills *f, Made made, uint32_t rank)
{
    CoreStmt *s = made.map;
    if (!s || s->kind != CORE_MAP || s->soac.guard || s->soac.ninputs || s->nvars != 1)
        return false;
    CoreBlock *body = s->soac.body;
    const CoreAtom x = body->results[0];
    Scope scope = {made.block, false};
    const bool shared = rank > 1 && !core_block_def(body, x); /* all rows are the same */
    if (!shared)
        core_stmt_all_atoms(s, note_scope, &scope);
    else
        note_scope(&scope, &s->soac.domain);
    if (scope.out || !is_arithmetic(f, body, rank > 1 ? x : core_i64(0)))
        return false;
    if (shared)
        return !core_soac_binds(s, x) && is_fill(f, made_in(f, made.block, x), rank - 1);
    return rank == 1 || is_fill(f, (Made){core_block_def(body, x), made.block}, rank - 1);
}

static CoreAtom emit_fill(Fills *f, Made made, uint32_t rank)
{
    CoreBuilder *b = f->b;
    const CoreBlock *body = made.map->soac.body;
    const CoreAtom x = body->results[0];
    if (rank == 1 || core_block_def(body, x)) {
        CoreBlock *alone = core_new_block(b->p);
        core_push(b->p, alone, made.map);
        const CoreBlock *copy = core_copy_within(b->p, b->fn, alone, f->scratch, f->map);
        build_emit(b, copy->stmts.at[0]);
        return build_atom(b, copy->stmts.at[0]->vars[0]);
    }
    CoreBlock *outer = build_begin(b);
    const CoreAtom row = emit_fill(f, made_in(f, made.block, x), rank - 1);
    CoreSoac soac = {.domain = made.map->soac.domain, .index = CORE_NO_VAR, .body = build_end(b, outer, &row, 1)};
    return build_map(b, soac)[0];
}

/* What it is says its maker here: behind a branch it may be something else elsewhere. */
static void fill_again(Fills *f, CoreAtom *a)
{
    const uint32_t rank = core_atom_type(f->b->fn, *a).rank;
    if (a->is_const || a->var >= f->first || rank == 0 || rank > 2)
        return;
    const Made made = maker_of(f, *a);
    uint32_t i = 0;
    while (i < f->from.n && f->from.at[i] != made.map)
        i++;
    if (i == f->from.n) {
        if (!is_fill(f, made, rank))
            return;
        CoreBlock *outer = f->b->out;
        f->b->out = &f->front;
        vec_push(f->scratch, &f->from, made.map);
        vec_push(f->scratch, &f->to, emit_fill(f, made, rank));
        f->b->out = outer;
    }
    *a = f->to.at[i];
}

static void look_for_changes(void *ctx, CoreBlock *block)
{
    Fills *f = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        if (s->kind == CORE_UPDATE)
            fill_again(f, &s->update.array);
        for (uint32_t k = 0; s->kind == CORE_LOOP && k < s->loop.nparams; k++)
            fill_again(f, &s->loop.inits[k]);
        const uint32_t around = f->some.n;
        if (s->kind == CORE_LOOP && !s->loop.cond)
            vec_push(f->scratch, &f->some, s->loop.count);
        if (core_stmt_soac(s))
            vec_push(f->scratch, &f->some, s->soac.domain);
        core_stmt_blocks(s, look_for_changes, f);
        f->some.n = around;
    }
}

void lane_fills(CoreBuilder *b, CoreBlock *code, const CoreStmt *around, CoreVar first, Arena *scratch,
                CoreCopyMap *map)
{
    Fills f = {.b = b, .first = first, .scratch = scratch, .map = map};
    vec_push(scratch, &f.some, around->soac.domain);
    look_for_changes(&f, code);
    core_put_in_front(b->p, code, &f.front);
}
