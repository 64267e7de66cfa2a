/* Which reads of arrays are the last, in code of a lane: an update, a loop, or an `if` that only hands an array on may
 * take it over then. Found backwards; of two branches one is executed, so that neither sees what the other reads:
 *
 *     ys = if c then { y = update xs i v; -> y } else { -> xs }        -- both are the last to read xs
 *
 * A part of an array of which only elements are read (`peeks`) counts as the array while it is read, and not any more
 * behind that. Likewise a map's result may take the place of an array of which it reads only elements from its own
 * position on: { a[j] + a[j + 1] : j in n - 1 }. What is read again in the next round of a repetition is left to
 * lane_analyse(), which knows where arrays are bound. */
#include "core/lane.h"

/* ---- parts of which only elements are read ---- */

typedef struct Parts {
    const Lane *l;
    VEC(const CoreStmt *) slices; /* in order */
} Parts;

static void count_read(void *ctx, CoreAtom *a)
{
    const Parts *p = ctx;
    if (!a->is_const)
        lane_var(p->l, a->var)->nreads++;
}

static void count_peek(const Parts *p, CoreAtom array)
{
    if (!array.is_const)
        lane_var(p->l, array.var)->npeeks++;
}

static void look_for_peeks(void *ctx, CoreBlock *b)
{
    Parts *p = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        if (s->kind == CORE_SLICE)
            vec_push(p->l->vars.arena, &p->slices, s);
        if (s->kind == CORE_SLICE)
            count_peek(p, s->slice.array);
        else if (s->kind == CORE_LENGTH)
            count_peek(p, s->length.array);
        else if (s->kind == CORE_INDEX && core_var_type(p->l->fn, s->vars[0]).rank == 0)
            count_peek(p, s->index.array);
        for (uint32_t k = 0; soac && k < soac->ninputs; k++)
            if (core_var_type(p->l->fn, soac->elements[k]).rank == 0)
                count_peek(p, soac->inputs[k]);
        core_stmt_blocks(s, look_for_peeks, p);
    }
}

/* A part that is handed on as an array is another name for the array for good. */
static void find_peeks(const Lane *l, const CoreBlock *block)
{
    Parts p = {.l = l};
    core_block_atoms((CoreBlock *)block, count_read, &p);
    look_for_peeks(&p, (CoreBlock *)block);
    for (uint32_t i = p.slices.n; i-- > 0;) {
        const CoreStmt *s = p.slices.at[i];
        LaneVar *part = lane_var(l, s->vars[0]);
        part->peeks = !s->slice.array.is_const && part->nreads == part->npeeks;
        part->of_part = s->slice.array.var;
        if (!part->peeks && !s->slice.array.is_const)
            lane_var(l, s->slice.array.var)->npeeks--;
    }
}

/* ---- reads ---- */

typedef struct Backwards {
    const Lane *l;
    VEC(CoreVar) marked; /* what is read behind the current point, oldest first */
} Backwards;

static bool is_read_later(const Backwards *b, CoreAtom a) { return a.is_const || lane_var(b->l, a.var)->read_later; }

static void mark_var(Backwards *b, CoreVar v)
{
    LaneVar *info = lane_var(b->l, v);
    if (!info->read_later) {
        info->read_later = true;
        vec_push(b->l->vars.arena, &b->marked, v);
    }
    if (info->peeks)
        mark_var(b, info->of_part);
}

static void mark(void *ctx, CoreAtom *a)
{
    if (!a->is_const)
        mark_var(ctx, a->var);
}

static void go_over(Backwards *b, const CoreBlock *block);

/* The results are the last to read what they are, if both branches' are. */
static void go_over_branch(Backwards *b, const CoreStmt *s, const CoreBlock *branch)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (is_read_later(b, branch->results[i]))
            lane_var(b->l, s->vars[i])->reads_last = false;
    go_over(b, branch);
}

static void go_over_if(Backwards *b, const CoreStmt *s)
{
    const uint32_t before = b->marked.n;
    for (uint32_t i = 0; i < s->nvars; i++)
        lane_var(b->l, s->vars[i])->reads_last = true;
    go_over_branch(b, s, s->if_.else_b);
    const uint32_t n = b->marked.n - before;
    CoreAtom *by_else = arena_array(b->l->vars.arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const CoreVar v = b->marked.at[before + i];
        by_else[i] = core_var_atom(v, core_var_type(b->l->fn, v));
        lane_var(b->l, v)->read_later = false;
    }
    b->marked.n = before;
    go_over_branch(b, s, s->if_.then_b);
    for (uint32_t i = 0; i < n; i++)
        mark(b, &by_else[i]);
}

/* After the last condition the parameters are the results. */
static void go_over_loop(Backwards *b, const CoreStmt *s)
{
    go_over(b, s->loop.body);
    for (uint32_t i = 0; s->loop.cond && i < s->loop.nparams; i++) {
        CoreAtom a = core_var_atom(s->loop.params[i], core_var_type(b->l->fn, s->loop.params[i]));
        mark(b, &a);
    }
    if (s->loop.cond)
        go_over(b, s->loop.cond);
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        lane_var(b->l, s->loop.params[i])->reads_last = !is_read_later(b, s->loop.inits[i]);
}

/* The array that it is a part of; itself, if it is none. */
static CoreVar whole_of(const Lane *l, CoreVar v)
{
    while (lane_var(l, v)->peeks)
        v = lane_var(l, v)->of_part;
    return v;
}

/* Or a part of it. */
static bool is_input(const Backwards *b, const CoreStmt *s, CoreAtom array)
{
    const CoreSoac *soac = core_stmt_soac(s);
    for (uint32_t i = 0; soac && i < soac->ninputs; i++)
        if (!soac->inputs[i].is_const && whole_of(b->l, soac->inputs[i].var) == array.var)
            return true;
    return false;
}

/* Scatters: the old elements that the body reads are not those that others' values have taken the place of. */
static bool reads_own_place(const CoreStmt *s, CoreAtom changed)
{
    return s->kind == CORE_SCATTER && core_reads_own_place(s, changed);
}

/* ---- maps ---- */

/* Uses of an array, and of parts of it, in a map's body, and how many of these are elements from the map's own position
 * on. */
typedef struct OnwardReads {
    const Lane *l;
    const CoreStmt *map;
    CoreVar array;
    uint32_t uses, onward;
} OnwardReads;

static void count_array(void *ctx, CoreAtom *a)
{
    OnwardReads *r = ctx;
    r->uses += !a->is_const && whole_of(r->l, a->var) == r->array;
}

static bool is_onward(const CoreStmt *map, const CoreBlock *b, CoreAtom at)
{
    if (at.is_const || map->soac.index == CORE_NO_VAR)
        return false;
    const CoreAtom position = core_var_atom(map->soac.index, core_scalar(SC_I64));
    const CoreStmt *sum = core_as_prim(core_block_def(b, at), PRIM_ADD);
    for (uint32_t i = 0; sum && i < 2; i++)
        if (core_atom_equal(sum->prim.args[i], position) && sum->prim.args[1 - i].is_const &&
            (int64_t)sum->prim.args[1 - i].bits >= 0)
            return true;
    return core_atom_equal(at, position);
}

static void count_onward(void *ctx, CoreBlock *b)
{
    OnwardReads *r = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        r->onward += s->kind == CORE_INDEX && !s->index.array.is_const &&
                     whole_of(r->l, s->index.array.var) == r->array &&
                     (is_onward(r->map, b, s->index.index) || is_onward(r->map, r->map->soac.body, s->index.index));
        core_stmt_blocks(s, count_onward, r);
    }
}

/* Is each element of the array read, if at all, before a result is stored there, and none behind the map? */
static bool makes_way(const Backwards *b, const CoreStmt *s, CoreVar result, CoreAtom input)
{
    if (input.is_const || core_atom_type(b->l->fn, input).rank != 1)
        return false;
    const CoreVar array = whole_of(b->l, input.var);
    const CoreType type = core_var_type(b->l->fn, array);
    if (!core_type_equal(type, core_var_type(b->l->fn, result)) || lane_var(b->l, array)->read_later)
        return false;
    for (uint32_t i = 0; i < s->nvars; i++)
        if (s->vars[i] != result && lane_var(b->l, s->vars[i])->over == array + 1)
            return false;
    OnwardReads reads = {.l = b->l, .map = s, .array = array};
    CoreBlock *const blocks[] = {s->soac.body, s->soac.guard};
    for (uint32_t i = 0; i < 2 && blocks[i]; i++) {
        core_block_atoms(blocks[i], count_array, &reads);
        count_onward(&reads, blocks[i]);
    }
    return reads.uses == reads.onward;
}

static void find_over(Backwards *b, const CoreStmt *s)
{
    const CoreBlock *body = s->soac.body;
    for (uint32_t i = 0; i < s->nvars; i++)
        lane_var(b->l, s->vars[i])->over = 0;
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreVar *over = &lane_var(b->l, s->vars[i])->over;
        for (uint32_t k = 0; !*over && k < s->soac.ninputs; k++)
            if (makes_way(b, s, s->vars[i], s->soac.inputs[k]))
                *over = whole_of(b->l, s->soac.inputs[k].var) + 1;
        for (uint32_t k = 0; !*over && k < body->stmts.n; k++)
            if (body->stmts.at[k]->kind == CORE_INDEX && makes_way(b, s, s->vars[i], body->stmts.at[k]->index.array))
                *over = whole_of(b->l, body->stmts.at[k]->index.array.var) + 1;
    }
}

static void go_over_inner(void *ctx, CoreBlock *block) { go_over(ctx, block); }

static void go_over_stmt(Backwards *b, CoreStmt *s)
{
    const CoreAtom changed = core_stmt_changes(s);
    const bool own = !changed.is_const && !is_read_later(b, changed) && reads_own_place(s, changed);
    if (s->kind == CORE_MAP)
        find_over(b, s);
    if (s->kind == CORE_IF)
        go_over_if(b, s);
    else if (s->kind == CORE_LOOP)
        go_over_loop(b, s);
    else
        core_stmt_blocks(s, go_over_inner, b);
    if (!changed.is_const)
        lane_var(b->l, s->vars[0])->reads_last = (own || !is_read_later(b, changed)) && !is_input(b, s, changed);
    if (s->kind != CORE_LENGTH) /* what takes an array over leaves its length to who asks for it */
        core_stmt_atoms(s, mark, b);
}

static void go_over(Backwards *b, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->nresults; i++)
        mark(b, &block->results[i]);
    for (uint32_t i = block->stmts.n; i-- > 0;)
        go_over_stmt(b, block->stmts.at[i]);
}

void lane_find_last_reads(Lane *l, const CoreBlock *block)
{
    Backwards b = {.l = l};
    find_peeks(l, block);
    go_over(&b, block);
}
