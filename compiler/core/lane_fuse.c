/* What a lane would have to store, computed where it is read:
 *
 *     xs = map n at i () { B -> v }                             x0 = B at 0
 *     x0 = index xs 0                                    ==>    m = reduce n at i () { B -> v } neutral (x0) op …
 *     m = reduce n (x <- xs) { … } neutral (x0) op …
 *
 * Such an array is read by one parallel operation over all of it, and at single places. (minimum and maximum are that:
 * fusion does not compute an element twice, but here it spares an array whose length nobody knows.) */
#include "core/build.h"
#include "core/lane.h"
#include "support/paged.h"

enum { MOST_PLACES = 2 };

typedef struct Delayed {
    CoreBuilder b;
    Arena *scratch;
    CoreCopyMap *copies;
    CoreBlock *block; /* where the map stands */
    CoreStmt *map, *reader, *places[MOST_PLACES];
    uint32_t nplaces, uses, known; /* occurrences in all; those by reader and places */
} Delayed;

static bool is_result(const Delayed *d, CoreAtom a, uint32_t *which)
{
    for (*which = 0; !a.is_const && *which < d->map->nvars; ++*which)
        if (d->map->vars[*which] == a.var)
            return true;
    return false;
}

static void count_atom(void *ctx, CoreAtom *a)
{
    Delayed *d = ctx;
    uint32_t which;
    d->uses += is_result(d, *a, &which);
}

static bool is_array(void *fn, CoreAtom a) { return core_atom_type(fn, a).rank > 0; }

/* A scatter whose body reads arrays may not change these where they are: perhaps they are what it changes. */
static bool may_take(const Delayed *d, const CoreStmt *reader)
{
    return reader->kind != CORE_SCATTER || !core_block_reads(d->map->soac.body, is_array, d->b.fn);
}

static void look_at_reader(Delayed *d, CoreStmt *s)
{
    uint32_t which, inputs = 0;
    const CoreSoac *soac = core_stmt_soac(s);
    if (s->kind == CORE_INDEX && is_result(d, s->index.array, &which) && d->nplaces < MOST_PLACES) {
        d->places[d->nplaces++] = s;
        d->known++;
        return;
    }
    for (uint32_t i = 0; soac && i < soac->ninputs; i++)
        inputs += is_result(d, soac->inputs[i], &which);
    if (inputs == 0 || d->reader || !core_atom_equal(soac->domain, d->map->soac.domain) || soac->guard ||
        !may_take(d, s))
        return;
    d->reader = s;
    d->known += inputs;
}

/* The map's body at a position; what it gives. */
static const CoreAtom *body_at(Delayed *d, CoreAtom position)
{
    const CoreSoac *soac = &d->map->soac;
    core_copy_map_note(d->copies, d->b.fn, d->scratch);
    CoreAtom *map = d->copies->at;
    if (soac->index != CORE_NO_VAR)
        map[soac->index] = position;
    for (uint32_t i = 0; i < soac->ninputs; i++)
        map[soac->elements[i]] = build_index(&d->b, soac->inputs[i], position, CORE_NO_SITE);
    const CoreAtom *results = build_copy(&d->b, d->b.fn, soac->body, map);
    core_copy_map_forget(d->copies, d->b.fn, d->map);
    return results;
}

/* The body in front of the reader's, instead of the elements. */
static void into_reader(Delayed *d)
{
    CoreSoac *soac = core_stmt_soac(d->reader);
    CoreBlock old = core_take_stmts(soac->body);
    uint32_t kept = 0, which;
    d->b.out = soac->body;
    if (soac->index == CORE_NO_VAR)
        soac->index = build_var(&d->b, core_scalar(SC_I64), NULL).var;
    const CoreAtom *values = body_at(d, build_atom(&d->b, soac->index));
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        if (is_result(d, soac->inputs[i], &which)) {
            build_named(&d->b, soac->elements[i], values[which]);
            continue;
        }
        soac->inputs[kept] = soac->inputs[i];
        soac->elements[kept++] = soac->elements[i];
    }
    soac->ninputs = kept;
    for (uint32_t i = 0; i < old.stmts.n; i++)
        core_push(d->b.p, soac->body, old.stmts.at[i]);
}

static void rewrite(Delayed *d)
{
    CoreBlock old = core_take_stmts(d->block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        bool place = false;
        uint32_t which = 0;
        for (uint32_t j = 0; j < d->nplaces; j++)
            place |= s == d->places[j];
        if (s == d->map)
            continue;
        if (s == d->reader)
            into_reader(d);
        d->b.out = d->block;
        if (!place) {
            core_push(d->b.p, d->block, s);
        } else if (is_result(d, s->index.array, &which)) {
            const CoreAtom *values = body_at(d, s->index.index);
            build_named(&d->b, s->vars[0], values[which]);
        }
    }
}

/* Uses by variable, but for inputs of operations and indexed arrays. Copies make no others than there are. */
typedef struct Others {
    PagedTable uses;
    uint32_t nvars;
} Others;

static void add_use(const Others *o, CoreAtom a, int32_t n)
{
    if (!a.is_const)
        *(int32_t *)paged_at(&o->uses, a.var) += n;
}

static void count_other(void *ctx, CoreAtom *a) { add_use(ctx, *a, 1); }

static void except_reads(void *ctx, CoreBlock *block)
{
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        if (s->kind == CORE_INDEX)
            add_use(ctx, s->index.array, -1);
        for (uint32_t k = 0; soac && k < soac->ninputs; k++)
            add_use(ctx, soac->inputs[k], -1);
        core_stmt_blocks(s, except_reads, ctx);
    }
}

static bool is_only_read(const Others *o, const CoreStmt *map)
{
    for (uint32_t i = 0; i < map->nvars; i++) {
        const CoreVar v = map->vars[i];
        if (v<o->nvars &&*(const int32_t *)paged_at(&o->uses, v)> 0)
            return false;
    }
    return true;
}

static bool is_variable(void *var, CoreAtom a) { return a.var == *(const CoreVar *)var; }

/* Is an array that the map reads changed on the way to the reader, or by it? That could not be in place then. */
static bool crosses_change(const Delayed *d)
{
    bool between = false;
    for (uint32_t i = 0; i < d->block->stmts.n; i++) {
        const CoreStmt *s = d->block->stmts.at[i];
        CoreAtom changed = core_stmt_changes(s);
        between |= s == d->map;
        if (between && !changed.is_const && core_stmt_reads(d->map, is_variable, &changed.var))
            return true;
        if (s == d->reader)
            return false;
    }
    return false;
}

/* A checked place is left alone: what it reads might not be there. */
static bool is_delayed(Delayed *d, const Others *others)
{
    const CoreSoac *soac = &d->map->soac;
    if (d->map->kind != CORE_MAP || soac->guard || soac->domain.is_const || d->map->nvars == 0 ||
        !is_only_read(others, d->map))
        return false;
    for (uint32_t i = 0; i < d->block->stmts.n; i++)
        look_at_reader(d, d->block->stmts.at[i]);
    if (!d->reader || crosses_change(d))
        return false;
    core_block_atoms(d->block, count_atom, d);
    for (uint32_t i = 0; i < d->nplaces; i++)
        if (d->places[i]->site != CORE_NO_SITE)
            return false;
    return d->uses == d->known;
}

typedef struct LaneFuser {
    CoreBuilder b;
    Arena *scratch;
    CoreCopyMap copies;
    Others others;
} LaneFuser;

static void fuse_inside(void *ctx, CoreBlock *block)
{
    LaneFuser *f = ctx;
    for (uint32_t i = 0; i < block->stmts.n;) {
        CoreStmt *s = block->stmts.at[i];
        Delayed d = {.b = f->b, .scratch = f->scratch, .copies = &f->copies, .block = block, .map = s};
        d.b.span = s->span;
        if (is_delayed(&d, &f->others)) {
            rewrite(&d);
            i = 0;
        } else {
            core_stmt_blocks(s, fuse_inside, ctx);
            i++;
        }
    }
}

void lane_fuse(const CoreProgram *p, CoreFn *fn, CoreBlock *block)
{
    Arena *scratch = arena_create();
    LaneFuser f = {.b = {.p = p, .fn = fn},
                   .scratch = scratch,
                   .others = {paged_create(scratch, fn->vars.n, sizeof(int32_t)), fn->vars.n}};
    core_block_atoms(block, count_other, &f.others);
    except_reads(&f.others, block);
    fuse_inside(&f, block);
    arena_destroy(scratch);
}
