/* Demand: what the next level of a recursion in parallel code will need at least, known one level ahead.
 *
 * A context of n instances all of which call the function again decides how much the next level takes: the columns of
 * the calls' arguments, which kernels make for these instances, and, where several calls are joined, their copies one
 * behind the other. All of that is there at once. So a recursion that grows without an end is refused before memory is
 * filled with a level that cannot be complete.
 *
 * In t (t (x+1) y z) (t (y-1) z x) (t (z-1) x y), under `if`: nine columns of eight bytes for the three calls, and as
 * much again when they are joined: 144 bytes for each instance of the branch. */
#include "flat/flat.h"

/* Of a context, at the joined call at hand. */
typedef struct Sites {
    uint32_t count, made, joined; /* bytes for each instance */
} Sites;

typedef struct Demand {
    FlatFn *fn;
    bool *fresh;    /* by variable: a column that a kernel makes */
    uint32_t *call; /* by variable: the call that has counted it */
    Sites *sites;   /* by variable: of contexts */
    uint32_t ncalls;
} Demand;

static uint32_t column_bytes(CoreType t) { return t.rank > 0 ? 16 : scalar_bytes(t.scalar); }

static void add_site(Demand *d, const FlatStmt *s, const FlatSite *site)
{
    Sites *of_ctx = &d->sites[site->ctx];
    if (d->call[site->ctx] != d->ncalls)
        *of_ctx = (Sites){0, 0, 0};
    d->call[site->ctx] = d->ncalls;
    of_ctx->count++;
    for (uint32_t k = 0; k < s->call_lifted.nargs; k++) {
        FlatVar arg = site->args[k];
        uint32_t bytes = column_bytes(d->fn->vars.at[arg].type);
        of_ctx->joined += bytes;
        if (d->fresh[arg] && d->call[arg] != d->ncalls)
            of_ctx->made += bytes;
        d->call[arg] = d->ncalls;
    }
}

/* Copies are made where two sites or more have instances: here they have the same. */
static void demand_call(Demand *d, const FlatStmt *s)
{
    d->ncalls++;
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++)
        add_site(d, s, &s->call_lifted.sites[i]);
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        FlatVarInfo *ctx = &d->fn->vars.at[s->call_lifted.sites[i].ctx];
        const Sites *sites = &d->sites[s->call_lifted.sites[i].ctx];
        uint32_t bytes = sites->count > 1 ? sites->made + sites->joined : sites->made;
        if (ctx->ctx_kind == CTX_FN || bytes <= ctx->least_bytes)
            continue;
        ctx->least_bytes = bytes;
        ctx->least_call = s;
    }
}

/* Straight lines only: what a loop's rounds do is not sure to happen. */
static void demand_fn(Arena *arena, FlatFn *fn)
{
    const uint32_t n = fn->vars.n;
    Demand d = {fn, arena_array(arena, bool, n), arena_array(arena, uint32_t, n), arena_array(arena, Sites, n), 0};
    for (uint32_t i = 0; i < fn->body->stmts.n; i++) {
        const FlatStmt *s = fn->body->stmts.at[i];
        bool makes = s->kind == FLAT_S_KERNEL || s->kind == FLAT_S_PACK;
        for (uint32_t k = 0; makes && k < s->nouts; k++)
            d.fresh[s->outs[k]] = true;
        if (s->kind == FLAT_S_CALL_LIFTED && s->call_lifted.fn == fn)
            demand_call(&d, s);
    }
}

void flat_demand(FlatProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++)
        if (p->fns.at[i]->lifted && p->fns.at[i]->recursive)
            demand_fn(p->arena, p->fns.at[i]);
}
