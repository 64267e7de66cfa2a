/* Where the arrays of a lane with memory lie: in the heap, in the lane's share, or in either, which only the run tells.
 * What stands in front of the lane lies in the heap, with its rows; what the lane makes lies in its share, and its rows
 * where the values do that became rows:
 *
 *     ys = map n (r <- rows) { s = slice r 1 n; -> s }        -- ys in the share, its rows in the heap
 *     zs = if c then { -> rows } else { -> ys }               -- zs in either, its rows in the heap
 *
 * Begins with "nowhere" and goes over the block until nothing is added: a loop's state is what its rounds give, too. */
#include "core/lane.h"

typedef struct Placing {
    Lane *l;
    bool changed;
} Placing;

static const LanePlaces IN_HEAP = {.heap = UINT8_MAX}, IN_SHARE = {.share = 1};

static LanePlaces places_of(const Lane *l, CoreAtom a)
{
    if (a.is_const)
        return (LanePlaces){0};
    const LaneVar *v = lane_var(l, a.var);
    if (v->taken)
        return IN_SHARE;
    return v->repetition == 0 ? IN_HEAP : v->places; /* 0: bound in front of the lane */
}

static LanePlaces join(LanePlaces a, LanePlaces b) { return (LanePlaces){a.heap | b.heap, a.share | b.share}; }

static LanePlaces row_of(LanePlaces p) { return (LanePlaces){p.heap >> 1 | (p.heap & 0x80), p.share >> 1}; }

/* Of an array in the share with such rows. */
static LanePlaces made_of(LanePlaces row)
{
    return (LanePlaces){(uint8_t)(row.heap << 1), (uint8_t)(row.share << 1 | 1)};
}

static LanePlaces copy_of(LanePlaces p) { return (LanePlaces){(uint8_t)(p.heap & ~1U), p.share | 1}; }

static void add(Placing *p, CoreVar v, LanePlaces places)
{
    LaneVar *info = lane_var(p->l, v);
    const LanePlaces all = join(info->places, places);
    p->changed |= all.heap != info->places.heap || all.share != info->places.share;
    info->places = all;
}

static void place_block(void *ctx, CoreBlock *b);

static void place_if(Placing *p, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        add(p, s->vars[i], places_of(p->l, s->if_.then_b->results[i]));
        add(p, s->vars[i], places_of(p->l, s->if_.else_b->results[i]));
    }
}

/* In front of its blocks and, where they have been seen, behind them. */
static void place_loop(Placing *p, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        const LanePlaces begin = places_of(p->l, s->loop.inits[i]);
        add(p, s->loop.params[i], lane_copies_state(p->l, s, i) ? copy_of(begin) : begin);
        add(p, s->loop.params[i], places_of(p->l, s->loop.body->results[i]));
        add(p, s->vars[i], lane_var(p->l, s->loop.params[i])->places);
    }
}

static void place_elements(Placing *p, const CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs; i++)
        add(p, soac->elements[i], row_of(places_of(p->l, soac->inputs[i])));
}

static void place_made(Placing *p, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        add(p, s->vars[i], made_of(s->kind == CORE_MAP ? places_of(p->l, s->soac.body->results[i]) : (LanePlaces){0}));
}

static void place_literal(Placing *p, const CoreStmt *s)
{
    LanePlaces rows = {0};
    for (uint32_t i = 0; i < s->array.n; i++)
        rows = join(rows, places_of(p->l, s->array.items[i]));
    add(p, s->vars[0], made_of(rows));
}

static void place_choice(Placing *p, const CoreStmt *s)
{
    for (uint32_t i = 0; core_var_type(p->l->fn, s->vars[0]).rank > 0 && i < s->prim.nargs; i++)
        if (core_atom_type(p->l->fn, s->prim.args[i]).rank > 0)
            add(p, s->vars[0], places_of(p->l, s->prim.args[i]));
}

static void place_stmt(Placing *p, CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: add(p, s->vars[0], places_of(p->l, s->atom)); break;
    case CORE_PRIM: place_choice(p, s); break;
    case CORE_INDEX: add(p, s->vars[0], row_of(places_of(p->l, s->index.array))); break;
    case CORE_SLICE: add(p, s->vars[0], places_of(p->l, s->slice.array)); break;
    case CORE_IF: place_if(p, s); break;
    case CORE_LOOP: place_loop(p, s); break;
    case CORE_MAP:
    case CORE_SCAN:
    case CORE_SCATTER: place_made(p, s); break;
    case CORE_ARRAY: place_literal(p, s); break;
    case CORE_UPDATE:
        add(p, s->vars[0], copy_of(places_of(p->l, s->update.array)));
        add(p, s->vars[0], made_of(places_of(p->l, s->update.value)));
        break;
    case CORE_TABLE: add(p, s->vars[0], made_of((LanePlaces){0})); break;
    case CORE_FLATTEN: add(p, s->vars[0], copy_of(row_of(places_of(p->l, s->length.array)))); break;
    default: break; /* scalars, and what no lane has */
    }
}

static void place_block(void *ctx, CoreBlock *b)
{
    Placing *p = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_LOOP)
            place_loop(p, s);
        if (core_stmt_soac(s))
            place_elements(p, core_stmt_soac(s));
        core_stmt_blocks(s, place_block, p);
        place_stmt(p, s);
    }
}

void lane_find_places(Lane *l, CoreBlock *b)
{
    Placing p = {.l = l};
    do {
        p.changed = false;
        place_block(&p, b);
    } while (p.changed);
}

bool lane_may_be_outside(const Lane *l, CoreAtom array) { return places_of(l, array).heap & 1; }

LanePlace lane_place(const Lane *l, CoreAtom array)
{
    const LanePlaces p = places_of(l, array);
    return p.heap & 1 ? p.share & 1 ? LANE_IN_EITHER : LANE_IN_HEAP : p.share & 1 ? LANE_IN_SHARE : LANE_IN_EITHER;
}
