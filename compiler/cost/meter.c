#include "cost/meter.h"

#include "support/memory.h"
#include "support/ptrmap.h"

#include <stdlib.h>
#include <string.h>

/* ---- chains: how much of a span is whose ---- */

typedef struct Link {
    uint32_t line; /* into Meter.lines */
    uint64_t span;
} Link;

typedef struct Chain {
    Link *links;
    size_t n, cap;
} Chain;

static void chain_add(Chain *c, size_t from, uint32_t line, uint64_t span)
{
    if (c->n > from && c->links[c->n - 1].line == line) {
        c->links[c->n - 1].span += span;
        return;
    }
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 64;
        c->links = memory_resize(c->links, c->cap, sizeof *c->links);
    }
    c->links[c->n++] = (Link){line, span};
}

static int by_line(const void *a, const void *b)
{
    const Link *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

/* The links behind `from` become one for each line. */
static void chain_compress(Chain *c, size_t from)
{
    size_t n = from;
    qsort(c->links + from, c->n - from, sizeof *c->links, by_line);
    for (size_t i = from; i < c->n; i++) {
        if (n > from && c->links[n - 1].line == c->links[i].line)
            c->links[n - 1].span += c->links[i].span;
        else
            c->links[n++] = c->links[i];
    }
    c->n = n;
}

/* ---- what is under way ---- */

/* The longest of the instances that one part of a parallel operation has had. */
typedef struct Longest {
    uint64_t span;
    Chain chain;
} Longest;

enum { PARALLEL_PARTS = PART_OPERATOR + 1 };

/* A strand is a chain of statements that wait for each other: that of the run, or of an instance. */
typedef struct Strand {
    uint64_t span;
    size_t from; /* of the chain */
} Strand;

typedef struct Region { /* a parallel operation */
    Strand outer;
    Longest longest[PARALLEL_PARTS];
} Region;

typedef struct Call {
    const CoreFn *fn;
    uint64_t work, span; /* before it */
} Call;

typedef struct StmtCount {
    uint32_t line;
    uint64_t times;
} StmtCount;

struct Meter {
    const CoreProgram *program;
    Arena *arena;
    PtrMap stmts; /* CoreStmt -> StmtCount */
    VEC(StmtCount *) counts;
    VEC(MeterLine) lines;
    MeterLine *sorted;
    MeterDef *defs;   /* ndefs of them */
    uint32_t *def_of; /* by CoreFn.index */
    uint32_t *active; /* by definition: calls under way */
    uint32_t ndefs;
    uint64_t work;
    Strand strand;
    Chain chain; /* of all strands under way, one behind the other */
    size_t compress_at;
    VEC(Region *) regions; /* the first `depth` are under way; the others' memory is used again */
    uint32_t depth;
    VEC(Call) calls;
};

enum { COMPRESS_FROM = 1024 };

uint32_t meter_log(uint64_t n)
{
    uint32_t k = 0;
    while (k < 64 && ((uint64_t)1 << k) < n)
        k++;
    return k;
}

/* ---- lines and definitions ---- */

static uint32_t line_of(Meter *m, Span span)
{
    const uint32_t line = source_linecol(m->program->session, span.file, span.start).line;
    for (uint32_t i = m->lines.n; i > 0; i--) /* mostly one of the last */
        if (m->lines.at[i - 1].line == line && m->lines.at[i - 1].file == span.file)
            return i - 1;
    vec_push(m->arena, &m->lines, ((MeterLine){.file = span.file, .line = line}));
    return m->lines.n - 1;
}

static void add_block(void *ctx, CoreBlock *b)
{
    Meter *m = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        StmtCount *count = arena_new(m->arena, StmtCount);
        count->line = line_of(m, b->stmts.at[i]->span);
        vec_push(m->arena, &m->counts, count);
        ptrmap_put(m->arena, &m->stmts, b->stmts.at[i], count);
        core_stmt_blocks(b->stmts.at[i], add_block, m);
    }
}

static bool same_span(Span a, Span b)
{
    return a.file == b.file && a.start == b.start && a.end == b.end && a.origin == b.origin;
}

static uint32_t def_of(Meter *m, const CoreFn *fn)
{
    for (uint32_t d = 0; d < m->ndefs; d++)
        if (same_span(m->defs[d].fn->span, fn->span))
            return d;
    m->defs[m->ndefs++] = (MeterDef){.fn = fn};
    return m->ndefs - 1;
}

Meter *meter_create(const CoreProgram *p)
{
    Arena *arena = arena_create();
    Meter *m = arena_new(arena, Meter);
    m->arena = arena;
    m->program = p;
    m->defs = arena_array(arena, MeterDef, p->fns.n);
    m->def_of = arena_array(arena, uint32_t, p->fns.n);
    m->active = arena_array(arena, uint32_t, p->fns.n);
    m->compress_at = COMPRESS_FROM;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        m->def_of[i] = def_of(m, p->fns.at[i]);
        add_block(m, p->fns.at[i]->body);
    }
    return m;
}

void meter_destroy(Meter *m)
{
    for (uint32_t i = 0; i < m->regions.n; i++)
        for (int part = 0; part < PARALLEL_PARTS; part++)
            free(m->regions.at[i]->longest[part].chain.links);
    free(m->chain.links);
    arena_destroy(m->arena);
}

/* ---- the cost of a statement itself ---- */

typedef struct Cost {
    uint64_t work, span;
} Cost;

static uint64_t length_of(const CoreValue *vars, CoreAtom a) { return vars[a.var].n; }

static uint64_t number_of(const CoreValue *vars, CoreAtom a) { return a.is_const ? a.bits : vars[a.var].bits; }

static uint64_t rows_below(const CoreValue *v, uint32_t depth)
{
    uint64_t n = 0;
    if (depth <= 1)
        return depth ? v->n : 1;
    for (uint64_t i = 0; i < v->n; i++)
        n += rows_below(&v->items[i], depth - 1);
    return n;
}

static Cost soac_cost(const CoreStmt *s, const CoreValue *vars, uint64_t copied)
{
    const CoreSoac *soac = &s->soac;
    const uint64_t n = number_of(vars, soac->domain);
    const uint64_t size = s->kind == CORE_HIST ? number_of(vars, soac->size) : 0;
    switch (s->kind) {
    case CORE_REDUCE:
    case CORE_SCAN: return (Cost){1, 1};
    case CORE_MAP: return (Cost){1 + n, 1 + (soac->guard ? meter_log(n) : 0)};
    case CORE_HIST: return (Cost){1 + n + ((int64_t)size > 0 ? size : 0), 1};
    default: return (Cost){1 + n + copied, 1};
    }
}

static Cost own_cost(const CoreStmt *s, const CoreValue *vars, uint64_t copied)
{
    uint64_t n;
    switch (s->kind) {
    case CORE_PRIM:
    case CORE_INDEX:
    case CORE_SLICE: return (Cost){1, 1};
    case CORE_ATOM:
    case CORE_LENGTH:
    case CORE_CHECK:
    case CORE_IF:
    case CORE_LOOP:
    case CORE_CALL:
    case CORE_LANE:
    case CORE_MANY:
    case CORE_PARAM:
    case CORE_FEW:
    case CORE_MEMORY:
    case CORE_TABLE:
    case CORE_FITTED:
    case CORE_NOTHING: return (Cost){0, 0};
    case CORE_UPDATE: return (Cost){1 + copied, 1};
    case CORE_ARRAY: return (Cost){1 + s->array.n, 1};
    case CORE_FLATTEN: return (Cost){1 + vars[s->vars[0]].n, 1};
    case CORE_CHECK_ROWS:
        n = rows_below(&vars[s->rows.args[0].var], s->rows.depth);
        return (Cost){1 + n, 1 + meter_log(n)};
    case CORE_ARGSORT:
        n = length_of(vars, s->argsort.keys[0]);
        return (Cost){1 + n * meter_log(n) * s->argsort.nkeys + n * s->argsort.ncolumns, 1 + meter_log(n)};
    case CORE_SOAC: return soac_cost(s, vars, copied);
    }
    return (Cost){0, 0};
}

/* ---- looking on ---- */

static Region *open_region(Meter *m)
{
    if (m->depth == m->regions.n)
        vec_push(m->arena, &m->regions, arena_new(m->arena, Region));
    Region *r = m->regions.at[m->depth++];
    for (int part = 0; part < PARALLEL_PARTS; part++) {
        r->longest[part].span = 0;
        r->longest[part].chain.n = 0;
    }
    r->outer = m->strand;
    return r;
}

static void add_span(Meter *m, uint32_t line, uint64_t span)
{
    if (!span)
        return;
    m->strand.span += span;
    chain_add(&m->chain, m->strand.from, line, span);
    if (m->chain.n - m->strand.from >= m->compress_at) {
        chain_compress(&m->chain, m->strand.from);
        const size_t kept = 2 * (m->chain.n - m->strand.from);
        m->compress_at = kept > COMPRESS_FROM ? kept : COMPRESS_FROM;
    }
}

/* The operation goes on where its longest instances end; an operator is applied once a level of a tree. */
static void close_region(Meter *m, const CoreStmt *s, const CoreValue *vars)
{
    Region *r = m->regions.at[--m->depth];
    const uint64_t levels = meter_log(number_of(vars, s->soac.domain));
    m->strand = r->outer;
    for (int part = 0; part < PARALLEL_PARTS; part++) {
        const Chain *c = &r->longest[part].chain;
        for (size_t i = 0; i < c->n; i++)
            add_span(m, c->links[i].line, c->links[i].span * (part == PART_OPERATOR ? levels : 1));
    }
}

static void meter_start(void *ctx, const CoreFn *fn, const CoreStmt *s, const CoreValue *vars)
{
    (void)fn, (void)vars;
    if (core_stmt_soac(s))
        open_region(ctx);
}

static void meter_done(void *ctx, const CoreFn *fn, const CoreStmt *s, const CoreValue *vars, uint64_t copied)
{
    Meter *m = ctx;
    StmtCount *count = ptrmap_get(&m->stmts, s);
    const Cost own = own_cost(s, vars, copied);
    if (core_stmt_soac(s))
        close_region(m, s, vars);
    add_span(m, count->line, own.span);
    count->times++;
    m->work += own.work;
    m->lines.at[count->line].work += own.work;
    m->defs[m->def_of[fn->index]].own_work += own.work;
}

static void begin_call(Meter *m, const CoreFn *fn)
{
    const uint32_t def = m->def_of[fn->index];
    vec_push(m->arena, &m->calls, ((Call){fn, m->work, m->strand.span}));
    m->defs[def].calls++;
    m->active[def]++;
}

static void end_call(Meter *m)
{
    const Call call = m->calls.at[--m->calls.n];
    const uint32_t index = m->def_of[call.fn->index];
    MeterDef *def = &m->defs[index];
    const uint64_t span = m->strand.span - call.span;
    if (--m->active[index] == 0)
        def->work += m->work - call.work;
    def->span = span > def->span ? span : def->span;
}

static void meter_enter(void *ctx, const CoreFn *fn, const CoreStmt *s, EvalPart part, uint64_t index,
                        const CoreValue *vars)
{
    Meter *m = ctx;
    (void)s, (void)index, (void)vars;
    if (part == PART_CALL)
        begin_call(m, fn);
    else if (part <= PART_OPERATOR)
        m->strand = (Strand){0, m->chain.n};
}

/* An instance ends: it is kept if it is the longest so far. */
static void end_instance(Meter *m, Longest *longest)
{
    if (m->strand.span > longest->span) {
        chain_compress(&m->chain, m->strand.from);
        longest->span = m->strand.span;
        longest->chain.n = 0;
        for (size_t i = m->strand.from; i < m->chain.n; i++)
            chain_add(&longest->chain, 0, m->chain.links[i].line, m->chain.links[i].span);
    }
    m->chain.n = m->strand.from;
}

static void meter_leave(void *ctx, const CoreFn *fn, const CoreStmt *s, EvalPart part)
{
    Meter *m = ctx;
    (void)fn, (void)s;
    if (part == PART_CALL)
        end_call(m);
    else if (part <= PART_OPERATOR)
        end_instance(m, &m->regions.at[m->depth - 1]->longest[part]);
}

EvalObserver meter_observer(Meter *m) { return (EvalObserver){m, meter_start, meter_enter, meter_leave, meter_done}; }

/* ---- results ---- */

uint64_t meter_work(const Meter *m) { return m->work; }
uint64_t meter_span(const Meter *m) { return m->strand.span; }

static int by_place(const void *a, const void *b)
{
    const MeterLine *x = a, *y = b;
    return x->file != y->file ? (x->file > y->file) - (x->file < y->file) : (x->line > y->line) - (x->line < y->line);
}

const MeterLine *meter_lines(Meter *m, uint32_t *n)
{
    uint32_t reached = 0;
    m->sorted = arena_array(m->arena, MeterLine, m->lines.n + 1);
    for (uint32_t i = 0; i < m->lines.n; i++)
        m->lines.at[i].span = 0;
    for (size_t i = 0; i < m->chain.n; i++)
        m->lines.at[m->chain.links[i].line].span += m->chain.links[i].span;
    for (uint32_t i = 0; i < m->counts.n; i++) {
        MeterLine *line = &m->lines.at[m->counts.at[i]->line];
        line->times = m->counts.at[i]->times > line->times ? m->counts.at[i]->times : line->times;
    }
    for (uint32_t i = 0; i < m->lines.n; i++)
        if (m->lines.at[i].times)
            m->sorted[reached++] = m->lines.at[i];
    qsort(m->sorted, reached, sizeof *m->sorted, by_place);
    *n = reached;
    return m->sorted;
}

const MeterDef *meter_defs(Meter *m, uint32_t *n)
{
    uint32_t reached = 0;
    MeterDef *defs = arena_array(m->arena, MeterDef, m->ndefs + 1);
    for (uint32_t d = 0; d < m->ndefs; d++)
        if (m->defs[d].calls)
            defs[reached++] = m->defs[d];
    *n = reached;
    return defs;
}
