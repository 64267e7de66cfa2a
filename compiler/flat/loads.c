/* Which way the loads of a map or scan over a nested context go: what their addresses differ by from one element of a
 * segment to the next, and from one segment to the next.
 *
 *     { { row[j] : row in rows } : j in m }      positions s = j of the segment, p of the element in it
 *     a = rows[p]                                another row for each element
 *     a[s]                                       side by side across segments: a transpose
 *
 * Where most loads are of that kind the map is better gone through in square tiles, across segments first (map.cl). */
#include "flat/flat.h"
#include "support/paged.h"

/* How often the two positions are in a number, if it is a sum of these and what does not change. */
typedef struct Steps {
    bool known;
    int64_t element, segment;
} Steps;

typedef struct Loads {
    const FlatFn *fn;
    const FlatStmt *s;
    PagedTable of; /* Steps by core variable; an array's: of where its elements lie */
    int64_t along, across;
} Loads;

static const Steps changes_somehow = {false, 0, 0}, stays = {true, 0, 0};

static void set_steps(Loads *l, CoreVar v, Steps steps) { *(Steps *)paged_at(&l->of, v) = steps; }

static Steps steps_of(const Loads *l, CoreAtom a)
{
    return a.is_const ? stays : *(const Steps *)paged_at(&l->of, a.var);
}

static Steps input_steps(const Loads *l, const FlatInput *in)
{
    FlatVar body = l->s->body.ctx;
    switch (in->kind) {
    case IN_HOST: return stays;
    case IN_POS: return (Steps){in->ctx == body || in->ctx == flat_ctx(l->fn, body), in->ctx == body, in->ctx != body};
    case IN_COL:
    case IN_ELEM: return changes_somehow;
    }
    return changes_somehow;
}

static Steps sum(Steps a, Steps b, int64_t sign)
{
    return (Steps){a.known && b.known, a.element + sign * b.element, a.segment + sign * b.segment};
}

static void note_load(Loads *l, CoreAtom array, CoreAtom index)
{
    Steps a = steps_of(l, array), i = steps_of(l, index);
    bool row_stays = a.known && a.element == 0;
    l->along += i.known && i.segment == 0 && i.element == 1 && row_stays;
    l->across += i.known && i.segment == 1 && i.element == 0 && !row_stays;
}

static void note_block(void *ctx, CoreBlock *b);

static void note_stmt(Loads *l, CoreStmt *s)
{
    Steps steps = changes_somehow;
    if (s->kind == CORE_ATOM)
        steps = steps_of(l, s->atom);
    if (s->kind == CORE_PRIM && (s->prim.op == PRIM_ADD || s->prim.op == PRIM_SUB))
        steps = sum(steps_of(l, s->prim.args[0]), steps_of(l, s->prim.args[1]), s->prim.op == PRIM_ADD ? 1 : -1);
    if (s->kind == CORE_INDEX && core_var_type(l->fn->scope, s->vars[0]).rank == 0)
        note_load(l, s->index.array, s->index.index);
    else if (s->kind == CORE_INDEX && steps_of(l, s->index.array).known)
        steps = steps_of(l, s->index.index); /* another row as often as its number changes */
    for (uint32_t i = 0; i < s->nvars; i++)
        set_steps(l, s->vars[i], steps);
    core_stmt_blocks(s, note_block, l);
}

static void note_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        note_stmt(ctx, b->stmts.at[i]);
}

static void note_inputs(Loads *l)
{
    const FlatBody *body = &l->s->body;
    for (uint32_t i = 0; i < body->inputs.n; i++) {
        const FlatInput *in = &body->inputs.at[i];
        set_steps(l, in->as, input_steps(l, in));
        if (in->kind == IN_ELEM && in->ctx == body->ctx)
            l->along += core_var_type(l->fn->scope, in->as).rank == 0;
        if (in->kind == IN_COL && flat_ctx(l->fn, in->var) == body->ctx)
            l->along++;
    }
}

bool flat_loads_go_across(const FlatFn *fn, const FlatStmt *s)
{
    if (flat_ctx(fn, s->body.ctx) == FLAT_ROOT)
        return false;
    Loads l = {.fn = fn, .s = s, .of = paged_create(arena_create(), fn->scope->vars.n, sizeof(Steps))};
    note_inputs(&l);
    note_block(&l, s->body.block);
    arena_destroy(l.of.arena);
    return l.across > l.along;
}
