#include "opencl/abreast.h"

#include "params.h"

typedef struct Search {
    const CoreFn *fn;
    Lane *lane;
    const SpreadTable *table;
    PagedTable parts; /* by variable: the array from in front of the lane that it is a part of, plus 1; or 0 */
    uint32_t repeats; /* operations and loops around */
    bool slices;      /* what it looks for now: of which arrays there are parts */
    bool known;       /* whether places are the same in all lanes */
} Search;

static uint32_t *part_at(const Search *s, CoreVar v) { return paged_at(&s->parts, v); }

/* The array from in front of the lane that this is, or a part of; or CORE_NO_VAR. */
static CoreVar outside(const Search *s, CoreAtom a)
{
    if (a.is_const)
        return CORE_NO_VAR;
    if (lane_var(s->lane, a.var)->repetition == 0)
        return a.var;
    return *part_at(s, a.var) ? *part_at(s, a.var) - 1 : CORE_NO_VAR;
}

static void take(Search *s, CoreAtom array)
{
    const CoreVar v = outside(s, array);
    if (v == CORE_NO_VAR || core_var_type(s->fn, v).rank != 1 || lane_var(s->lane, v)->taken ||
        lane_var(s->lane, v)->parted || spread_var(s->table, v)->spread != SPREAD_VARYING)
        return;
    lane_var(s->lane, v)->taken = true;
    vec_push(s->lane->vars.arena, &s->lane->taken, v);
}

/* What a branch hands on may lie in the heap, or not: then it is to be known which. */
static void take_handed_on(Search *s, const CoreStmt *stmt)
{
    for (uint32_t i = 0; stmt->kind == CORE_IF && i < stmt->nvars; i++) {
        take(s, stmt->if_.then_b->results[i]);
        take(s, stmt->if_.else_b->results[i]);
    }
}

/* Of what the lane changes it must know the lengths: it knows those of what it takes. */
static void take_changed(Search *s, const CoreStmt *stmt)
{
    for (uint32_t i = 0; stmt->kind == CORE_LOOP && i < stmt->loop.nparams; i++)
        take(s, stmt->loop.inits[i]);
    for (uint32_t i = 0; stmt->kind == CORE_SCATTER && i < stmt->nvars; i++)
        take(s, stmt->soac.dests[i]);
    if (stmt->kind == CORE_UPDATE)
        take(s, stmt->update.array);
    if (stmt->kind == CORE_ATOM)
        take(s, stmt->atom);
}

static void take_read(Search *s, const CoreStmt *stmt)
{
    const CoreSoac *soac = core_stmt_soac((CoreStmt *)stmt);
    for (uint32_t j = 0; soac && j < soac->ninputs; j++)
        take(s, soac->inputs[j]);
    if (stmt->kind == CORE_INDEX && s->repeats > 0 && spread_of(s->table, stmt->index.index) == SPREAD_UNIFORM)
        take(s, stmt->index.array);
}

static void note_part(Search *s, const CoreStmt *stmt)
{
    if (stmt->kind != CORE_SLICE && stmt->kind != CORE_ATOM)
        return;
    const CoreVar of = outside(s, stmt->kind == CORE_SLICE ? stmt->slice.array : stmt->atom);
    *part_at(s, stmt->vars[0]) = of == CORE_NO_VAR ? 0 : of + 1;
}

static void search_block(void *ctx, CoreBlock *b);

static void search_stmt(Search *s, CoreStmt *stmt)
{
    take_handed_on(s, stmt);
    if (s->known)
        take_read(s, stmt);
    if (s->table->ragged)
        take_changed(s, stmt);
    else
        note_part(s, stmt);
}

static void search_block(void *ctx, CoreBlock *b)
{
    Search *s = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *stmt = b->stmts.at[i];
        const bool repeats = core_stmt_soac(stmt) || stmt->kind == CORE_LOOP;
        if (!s->slices)
            search_stmt(s, stmt);
        else if (stmt->kind == CORE_SLICE && !stmt->slice.array.is_const)
            lane_var(s->lane, stmt->slice.array.var)->parted = true;
        s->repeats += repeats;
        core_stmt_blocks(stmt, search_block, s);
        s->repeats -= repeats;
    }
}

bool abreast_open(Lane *lane, const CoreFn *fn, const CoreStmt *s, const SpreadTable *table, bool known)
{
    const bool memory = !s->lane.memory.is_const;
    *lane = lane_open(fn, memory);
    lane->abreast = memory;
    if ((memory && s->lane.of == LANE_OF_LOOP) || !lane_analyse(lane, s->lane.block))
        return false; /* a lane that does all the work there is has no neighbours */
    if (memory) {
        Search search = {.fn = fn, .lane = lane, .table = table, .known = known, .slices = table->ragged};
        search.parts = paged_create(lane->vars.arena, fn->vars.n, sizeof(uint32_t));
        if (table->ragged) /* there are no parts of ragged arrays */
            search_block(&search, s->lane.block);
        search.slices = false;
        search_block(&search, s->lane.block);
        lane_find_places(lane, s->lane.block);
    }
    return true;
}
