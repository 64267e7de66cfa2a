/* A scatter into an array of which only the places that it stores to are read needs no array to begin with:
 *
 *     owner = scatter into (d) n at k (i <- is) { -> i, k }            room = map m () { x = nothing; -> x }   -- m =
 * length d … map n at k (i <- is) guard { o = index owner i; … } { … }   ==>   owner = scatter into (room) n at k (i <-
 * is) …
 *
 * So of several that are equal one is chosen with as much work as there are of them, not as there are places. */
#include "core/build.h"
#include "core/passes.h"
#include "support/paged.h"

typedef struct RoomVar {
    uint32_t uses,
        reads; /* occurrences; those as an indexed array at an element of `keys`, or where its length is asked */
    CoreVar element_of; /* + 1: it is an element of this array in an operation over it */
    CoreVar keys;       /* + 1: it is a scatter's result, stored at these */
    CoreStmt *maker;    /* its mark: nobody needs it any more */
} RoomVar;

typedef struct Rooms {
    CoreBuilder b;
    PagedTable vars; /* RoomVar */
} Rooms;

static RoomVar *room_var(const Rooms *r, CoreVar v) { return paged_at(&r->vars, v); }

/* ---- what is what ---- */

static void count_use(void *ctx, CoreAtom *a)
{
    const Rooms *r = ctx;
    if (!a->is_const)
        room_var(r, a->var)->uses++;
}

static void note_soac(Rooms *r, const CoreStmt *s)
{
    CoreVar keys = 0;
    for (uint32_t i = 0; i < s->soac.ninputs; i++) {
        const CoreVar element = s->soac.elements[i];
        room_var(r, element)->element_of = s->soac.inputs[i].var + 1;
        if (s->kind == CORE_SCATTER && !s->soac.body->results[0].is_const && s->soac.body->results[0].var == element)
            keys = s->soac.inputs[i].var + 1;
    }
    for (uint32_t i = 0; keys && i < s->nvars; i++)
        if (core_var_type(r->b.fn, s->vars[i]).rank == 1)
            room_var(r, s->vars[i])->keys = keys;
}

static void note_read(Rooms *r, const CoreStmt *s)
{
    if (s->kind == CORE_LENGTH)
        room_var(r, s->length.array.var)->reads++;
    if (s->kind != CORE_INDEX || s->index.index.is_const)
        return;
    RoomVar *array = room_var(r, s->index.array.var);
    array->reads += array->keys && array->keys == room_var(r, s->index.index.var)->element_of;
}

static void note_block(void *ctx, CoreBlock *block)
{
    Rooms *r = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        s->mark = 0;
        for (uint32_t k = 0; k < s->nvars; k++)
            room_var(r, s->vars[k])->maker = s;
        if (core_stmt_soac(s))
            note_soac(r, s);
        note_read(r, s);
        core_stmt_blocks(s, note_block, r);
    }
}

/* ---- rewriting ---- */

/* An array like this one, of anything. */
static CoreAtom emit_room(Rooms *r, CoreAtom like)
{
    CoreBuilder *b = &r->b;
    const CoreStmt *maker = room_var(r, like.var)->maker;
    const bool map = maker && maker->kind == CORE_MAP && !maker->soac.guard;
    const CoreAtom n = map ? maker->soac.domain : build_length(b, like);
    return build_room(b, n, core_element(core_atom_type(b->fn, like)));
}

static void give_room(Rooms *r, CoreStmt *scatter)
{
    for (uint32_t i = 0; i < scatter->nvars; i++) {
        const RoomVar *v = room_var(r, scatter->vars[i]);
        const CoreAtom old = scatter->soac.dests[i];
        if (v->keys == 0 || v->uses != v->reads)
            continue;
        r->b.span = scatter->span;
        scatter->soac.dests[i] = emit_room(r, old);
        RoomVar *dest = room_var(r, old.var);
        CoreStmt *maker = dest->maker;
        if (--dest->uses == 0 && maker && maker->kind == CORE_MAP && maker->nvars == 1)
            maker->mark = !core_stmt_fallible(r->b.p, r->b.fn, maker);
    }
}

static void rewrite_block(void *ctx, CoreBlock *block)
{
    Rooms *r = ctx;
    CoreBlock *outer = r->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        core_stmt_blocks(s, rewrite_block, r);
        r->b.out = block;
        if (s->kind == CORE_SCATTER)
            give_room(r, s);
        core_push(r->b.p, block, s);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->stmts.n; i++)
        if (!block->stmts.at[i]->mark)
            block->stmts.at[kept++] = block->stmts.at[i];
    block->stmts.n = kept;
    r->b.out = outer;
}

void core_scatter_room(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Arena *scratch = arena_create();
        Rooms r = {.b = {.p = p, .fn = fn}, .vars = paged_create(scratch, fn->vars.n, sizeof(RoomVar))};
        core_block_atoms(fn->body, count_use, &r);
        note_block(&r, fn->body);
        rewrite_block(&r, fn->body);
        arena_destroy(scratch);
    }
}
