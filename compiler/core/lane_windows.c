/* Do neighbouring instances of a nest read neighbouring elements? Then lanes side by side load what lies side by side,
 * and nothing is gained by making segments of what the instances read.
 *
 *     map n at i () { reduce k at j () { index xs, i + j } }          windows of a sequence
 *     map n at i () { ys = slice xs, i, i + k; reduce k (y <- ys) … }     likewise
 *     map n at i () { reduce k (row <- rows) { index row, i } }         columns of a matrix
 *
 * The last are read side by side by flattened code, too, where n is an operation outside all others: by tiles. */
#include "core/lane.h"

/* What a value is to the instances. SAME: one for all of them, as long as the operations inside are at the same
 * position; NEXT: an i64 that is greater by one, or a sequence that begins one element further, for each next instance.
 */
typedef enum Step { SAME, NEXT, OTHER } Step;

typedef struct Walk {
    const CoreFn *fn;
    PagedTable steps;             /* Step by variable, as a byte; what comes from outside is SAME */
    uint32_t inside;              /* so many operations */
    bool windows, columns, apart; /* are there reads inside them, side by side, of what is bound outside of them, of
                                   * what is bound inside; and others? */
    PagedTable inner;             /* bool by variable: bound inside of them */
} Walk;

static Step step_of(const Walk *w, CoreAtom a) { return a.is_const ? SAME : *(uint8_t *)paged_at(&w->steps, a.var); }

static void bind(const Walk *w, CoreVar v, Step step)
{
    if (v == CORE_NO_VAR)
        return;
    *(uint8_t *)paged_at(&w->steps, v) = (uint8_t)step;
    *(bool *)paged_at(&w->inner, v) = w->inside > 0;
}

/* What is read of a sequence at a place. */
static Step read_at(Walk *w, CoreAtom array, Step place)
{
    const Step from = step_of(w, array);
    const bool same = from == SAME && place == SAME;
    const bool beside =
        core_atom_type(w->fn, array).rank == 1 && ((from == SAME && place == NEXT) || (from == NEXT && place == SAME));
    const bool column = place == NEXT && *(const bool *)paged_at(&w->inner, array.var);
    w->columns |= w->inside > 0 && beside && column;
    w->windows |= w->inside > 0 && beside && !column;
    w->apart |= w->inside > 0 && !same && !beside;
    return same ? SAME : OTHER;
}

static Step worst(const Walk *w, const CoreAtom *atoms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (step_of(w, atoms[i]) != SAME)
            return OTHER;
    return SAME;
}

static Step step_of_prim(const Walk *w, const CoreStmt *s)
{
    const CoreAtom *args = s->prim.args;
    if (worst(w, args, s->prim.nargs) == SAME)
        return SAME;
    const Step x = step_of(w, args[0]), y = s->prim.nargs > 1 ? step_of(w, args[1]) : OTHER;
    switch (s->prim.op) {
    case PRIM_MIN:
    case PRIM_MAX: /* only at edges */
    case PRIM_ADD: return (x == NEXT && y == SAME) || (x == SAME && y == NEXT) ? NEXT : OTHER;
    case PRIM_SUB: return x == NEXT && y == SAME ? NEXT : x == NEXT && y == NEXT ? SAME : OTHER;
    default: return OTHER;
    }
}

static Step step_of_slice(const Walk *w, const CoreStmt *s)
{
    const Step of = step_of(w, s->slice.array), from = step_of(w, s->slice.from);
    return from == SAME ? of : of == SAME ? from : OTHER;
}

static void walk_block(void *ctx, CoreBlock *b);

static void bind_other(void *ctx, CoreVar *v) { bind(ctx, *v, OTHER); }

static void walk_stmt(Walk *w, CoreStmt *s)
{
    const CoreSoac *soac = core_stmt_soac(s);
    Step step = OTHER;
    switch (s->kind) {
    case CORE_ATOM: step = step_of(w, s->atom); break;
    case CORE_PRIM: step = step_of_prim(w, s); break;
    case CORE_LENGTH: step = step_of(w, s->length.array) == SAME ? SAME : OTHER; break;
    case CORE_INDEX: step = read_at(w, s->index.array, step_of(w, s->index.index)); break;
    case CORE_SLICE: step = step_of_slice(w, s); break;
    default: core_stmt_binders(s, bind_other, w);
    }
    if (soac) {
        w->inside++;
        w->apart |= step_of(w, soac->domain) != SAME;
        bind(w, soac->index, SAME);
        for (uint32_t i = 0; i < soac->ninputs; i++)
            bind(w, soac->elements[i], read_at(w, soac->inputs[i], SAME));
    }
    core_stmt_blocks(s, walk_block, w);
    w->inside -= soac != NULL;
    for (uint32_t i = 0; i < s->nvars; i++)
        bind(w, s->vars[i], step);
}

static void walk_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        walk_stmt(ctx, b->stmts.at[i]);
}

LaneBeside lane_reads_beside(const CoreFn *fn, const CoreSoac *around, CoreBlock *b)
{
    Arena *arena = arena_create();
    Walk w = {.fn = fn, .steps = paged_create(arena, fn->vars.n, sizeof(uint8_t))};
    w.inner = paged_create(arena, fn->vars.n, sizeof(bool));
    bind(&w, around->index, NEXT);
    for (uint32_t i = 0; i < around->ninputs; i++)
        bind(&w, around->elements[i], OTHER);
    walk_block(&w, b);
    arena_destroy(arena);
    return w.apart ? LANE_APART : w.windows ? LANE_WINDOWS : w.columns ? LANE_COLUMNS : LANE_APART;
}
