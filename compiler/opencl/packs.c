#include "opencl/packs.h"

#include "opencl/emit_scalar.h"

enum { MOST_PACKS = 16, MOST_CELLS = 256, MOST_TIMES = 1 << 20 };

typedef struct PackSearch {
    const CoreFn *fn;
    const Lane *lane;
    const SpreadTable *table;
    Packs *packs;
    uint64_t times;       /* an instance is here */
    uint32_t conditional; /* so many branches and loops are around */
} PackSearch;

uint32_t packs_size(const Packs *p, CoreAtom at) { return at.is_const ? 1 : *(uint32_t *)paged_at(&p->sizes, at.var); }

/* Is the same box read? */
static bool same_box(const Packs *p, CoreVar a, CoreVar b)
{
    const PackRead *x = packs_at(p, a), *y = packs_at(p, b);
    for (; x->there && y->there; x = packs_at(p, a = x->from), y = packs_at(p, b = y->from))
        if (x->at.is_const ? !core_atom_equal(x->at, y->at)
                           : y->at.is_const || packs_size(p, x->at) != packs_size(p, y->at))
            return false;
    return a == b && x->there == y->there;
}

static bool recurs(const Packs *p, CoreVar x, CoreAtom at)
{
    for (const PackRead *r = packs_at(p, x); r->there; r = packs_at(p, r->from))
        if (core_atom_equal(r->at, at))
            return true;
    return false;
}

/* The cells of the box that is read for x; 0: it is none, or of what is not there in front of the lane. */
static uint64_t cells_of(const PackSearch *s, CoreVar x)
{
    uint64_t cells = 1;
    const PackRead *r = packs_at(s->packs, x);
    for (; r->there; r = packs_at(s->packs, r->from)) {
        const uint32_t size = packs_size(s->packs, r->at);
        if (size == 0 || size > MOST_CELLS || (!r->at.is_const && recurs(s->packs, r->from, r->at)))
            return 0;
        cells *= size;
    }
    return cells <= MOST_CELLS && !r->inside ? cells : 0;
}

static void add_read(PackSearch *s, CoreVar x, CoreAtom from, CoreAtom at)
{
    Packs *p = s->packs;
    PackRead *r = packs_at(p, x);
    r->inside = true;
    if (lane_is_private(s->lane, from) || spread_of(s->table, from) != SPREAD_VARYING || s->conditional > 0)
        return;
    *r = (PackRead){.there = true, .from = from.var, .at = at};
    const uint64_t cells = core_var_type(s->fn, x).rank == 0 ? cells_of(s, x) : 0;
    if (cells == 0)
        return;
    for (uint32_t i = 0; i < p->n && !r->pack; i++)
        r->pack = same_box(p, p->at[i].read, x) ? (uint8_t)(i + 1) : 0;
    if (!r->pack && p->n < MOST_PACKS) {
        p->at[p->n++] = (Pack){x, cells, 0};
        r->pack = (uint8_t)p->n;
    }
    if (r->pack)
        p->at[r->pack - 1].times += s->times;
}

static void search_block(void *ctx, CoreBlock *b);

static void search_soac(PackSearch *s, CoreStmt *stmt)
{
    const CoreSoac *soac = &stmt->soac;
    const uint64_t times = s->times;
    const uint32_t conditional = s->conditional;
    int64_t n;
    if (lane_constant(s->lane, soac->domain, &n) && n > 0 && n <= MOST_CELLS) {
        *(uint32_t *)paged_at(&s->packs->sizes, soac->index) = (uint32_t)n;
        s->times = times * (uint64_t)n < MOST_TIMES ? times * (uint64_t)n : MOST_TIMES;
    } else {
        s->conditional++;
    }
    for (uint32_t i = 0; i < soac->ninputs; i++)
        add_read(s, soac->elements[i], soac->inputs[i], core_var_atom(soac->index, core_scalar(SC_I64)));
    core_stmt_blocks(stmt, search_block, s);
    s->conditional = conditional;
    s->times = times;
}

static void search_block(void *ctx, CoreBlock *b)
{
    PackSearch *s = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *stmt = b->stmts.at[i];
        for (uint32_t j = 0; j < stmt->nvars; j++)
            packs_at(s->packs, stmt->vars[j])->inside = true;
        if (core_stmt_soac(stmt)) {
            search_soac(s, stmt);
            continue;
        }
        if (stmt->kind == CORE_INDEX && !stmt->index.array.is_const)
            add_read(s, stmt->vars[0], stmt->index.array, stmt->index.index);
        s->conditional += stmt->kind == CORE_IF || stmt->kind == CORE_LOOP;
        core_stmt_blocks(stmt, search_block, s);
        s->conditional -= stmt->kind == CORE_IF || stmt->kind == CORE_LOOP;
    }
}

Packs packs_find(const CoreFn *fn, const Lane *lane, const SpreadTable *table, const CoreBlock *b)
{
    Packs p = {.arena = arena_create()};
    p.reads = paged_create(p.arena, fn->vars.n, sizeof(PackRead));
    p.sizes = paged_create(p.arena, fn->vars.n, sizeof(uint32_t));
    PackSearch s = {fn, lane, table, &p, 1, 0};
    if (!scalar_facts(fn, lane, b).fallible)
        search_block(&s, (CoreBlock *)b);
    for (uint32_t i = 0; i < p.n; i++)
        p.at[i].cells = p.at[i].times > p.at[i].cells ? p.at[i].cells : 0;
    return p;
}

const Pack *packs_of(const Packs *p, CoreVar x)
{
    const uint8_t pack = packs_at(p, x)->pack;
    return pack && p->at[pack - 1].cells ? &p->at[pack - 1] : NULL;
}

void packs_close(const Packs *p) { arena_destroy(p->arena); }
