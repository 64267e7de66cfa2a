/* Do the instances of a nest share what they read? Then it is better flattened than executed by lanes, as its
 * reductions go by tiles (kernels/tile.cl): what one of them loads serves many.
 *
 *     map n (p <- points) { reduce k (c <- centres) { reduce d (x <- p, y <- c) { … } … } … }
 *
 * x is found by the instance and the position, y by the cell (which centre) and the position. */
#include "core/lane.h"

/* What a value varies with. IS_LENGTH: it is that of a sequence. IS_INSIDE: it is made inside of the nest. */
enum { BY_INSTANCE = 1, BY_CELL = 2, BY_POSITION = 4, BY_ALL = 7, IS_LENGTH = 8, IS_INSIDE = 16 };

typedef struct Sharing {
    PagedTable by; /* by variable; 0: it comes from outside */
    bool rows;     /* lengths of sequences count as if they came from outside */
    const CoreSoac *cells;
    bool position;  /* within the reduction of a cell */
    bool in_loop;   /* within a loop over arrays */
    uint8_t inside; /* what all operands so far vary with */
    uint8_t found;  /* BY_INSTANCE, BY_CELL: something is read by it and by the position, but not by the other */
    LaneShared shared;
} Sharing;

static uint8_t entry_of(const Sharing *s, CoreAtom a) { return a.is_const ? 0 : *(uint8_t *)paged_at(&s->by, a.var); }
static uint8_t by_of(const Sharing *s, CoreAtom a) { return entry_of(s, a) & BY_ALL; }

static bool is_regular(const Sharing *s, const CoreSoac *soac)
{
    return !soac->guard && (by_of(s, soac->domain) == 0 || (s->rows && (entry_of(s, soac->domain) & IS_LENGTH)));
}

/* Is it not there in front of the nest? */
static bool is_unknown(const Sharing *s, CoreAtom a) { return !s->rows && (entry_of(s, a) & IS_INSIDE); }

static void bind(const Sharing *s, CoreVar v, uint8_t by)
{
    if (v != CORE_NO_VAR)
        *(uint8_t *)paged_at(&s->by, v) = by | IS_INSIDE;
}

static void bind_elements(const Sharing *s, const CoreSoac *soac, uint8_t level)
{
    bind(s, soac->index, level);
    for (uint32_t i = 0; i < soac->ninputs; i++)
        bind(s, soac->elements[i], by_of(s, soac->inputs[i]) | level);
}

static void note_read(Sharing *s, uint8_t by)
{
    const uint8_t which = by & (BY_INSTANCE | BY_CELL);
    if (s->position && (by & BY_POSITION) && which != (BY_INSTANCE | BY_CELL))
        s->found |= which;
}

static void look_at_block(void *ctx, CoreBlock *b);

static void look_at_soac(Sharing *s, CoreStmt *stmt, CoreSoac *soac)
{
    const Sharing outer = *s;
    const uint8_t level = s->cells ? BY_POSITION : BY_CELL;
    s->position =
        s->cells && !s->position && stmt->kind == CORE_REDUCE && is_regular(s, soac) && is_regular(s, s->cells);
    s->cells = s->cells ? s->cells : soac;
    s->found = 0;
    bind_elements(s, soac, level);
    for (uint32_t i = 0; i < soac->ninputs; i++)
        note_read(s, by_of(s, soac->inputs[i]) | level);
    core_stmt_blocks(stmt, look_at_block, s);
    if (s->position && s->found == (BY_INSTANCE | BY_CELL) && !is_unknown(s, soac->domain)) {
        const bool inside = is_unknown(s, s->cells->domain); /* then they are as many as positions, say */
        s->shared = (LaneShared){true, s->in_loop, inside ? soac->domain : s->cells->domain, soac->domain};
    }
    s->inside &= (uint8_t)~level;
    s->cells = outer.cells;
    s->position = outer.position;
    s->found = outer.found;
}

static void bind_all(void *ctx, CoreVar *v) { bind(ctx, *v, BY_ALL); }

static void add_operand(void *ctx, CoreAtom *a)
{
    Sharing *s = ctx;
    s->inside |= by_of(s, *a);
}

static void look_at_stmt(Sharing *s, CoreStmt *stmt)
{
    CoreSoac *soac = core_stmt_soac(stmt);
    const uint8_t before = s->inside;
    s->inside = 0;
    core_stmt_atoms(stmt, add_operand, s);
    if (stmt->kind == CORE_INDEX)
        note_read(s, s->inside);
    if (soac) {
        look_at_soac(s, stmt, soac);
    } else {
        const bool outer = s->in_loop;
        s->in_loop |= stmt->kind == CORE_LOOP && !core_stmt_is_scalar(stmt);
        core_stmt_binders(stmt, bind_all, s);
        core_stmt_blocks(stmt, look_at_block, s);
        s->in_loop = outer;
    }
    for (uint32_t i = 0; i < stmt->nvars; i++)
        bind(s, stmt->vars[i], stmt->kind == CORE_LENGTH ? s->inside | IS_LENGTH : s->inside);
    s->inside |= before;
}

static void look_at_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        look_at_stmt(ctx, b->stmts.at[i]);
}

LaneShared lane_shares(const CoreFn *fn, const CoreSoac *around, CoreBlock *b, bool rows)
{
    Arena *arena = arena_create();
    Sharing s = {.by = paged_create(arena, fn->vars.n, sizeof(uint8_t)), .rows = rows};
    bind_elements(&s, around, BY_INSTANCE);
    look_at_block(&s, b);
    arena_destroy(arena);
    return s.shared;
}
