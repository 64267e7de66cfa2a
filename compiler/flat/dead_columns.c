/* Columns that nobody reads are not stored: what a kernel made for all its readers, as they were when it was made, may
 * have lost them since. A column of lengths, for instance, whose nested context found an array to take them from.
 *
 * From the end of each block to its beginning, so that what only dead columns were made of is dead in turn. Dropping
 * takes the result, the statements of the body that only it needed, and the inputs that only these read. What can fail
 * stays, with all it reads. Nobody makes arrays of columns for nobody either: a scan's prefixes, of which only some are
 * wanted, are then read by none, and the kernel does not store them (plan_stores). */
#include "flat/flat.h"

typedef struct DeadColumns {
    FlatProgram *p;
    FlatFn *fn;
    uint32_t *reads; /* by variable of flat */
    bool *needed;    /* by variable of core, in the body at hand */
} DeadColumns;

/* ---- reads of columns ---- */

/* ---- what a body needs ---- */
static void need_atom(void *ctx, CoreAtom *a)
{
    if (!a->is_const)
        ((DeadColumns *)ctx)->needed[a->var] = true;
}

static bool is_needed(const DeadColumns *d, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (d->needed[s->vars[i]])
            return true;
    return core_stmt_fallible(d->p->core, d->fn->scope, s);
}

/* The body without the statements that neither its results nor what can fail need. They are shared, the list is its
 * own. */
static void drop_statements(DeadColumns *d, CoreBlock *b)
{
    for (CoreVar v = 0; v < d->fn->scope->vars.n; v++)
        d->needed[v] = false;
    for (uint32_t i = 0; i < b->nresults; i++)
        need_atom(d, &b->results[i]);
    uint32_t first = b->stmts.n;
    for (uint32_t i = b->stmts.n; i-- > 0;) {
        CoreStmt *s = b->stmts.at[i];
        if (!is_needed(d, s))
            continue;
        core_stmt_all_atoms(s, need_atom, d);
        b->stmts.at[--first] = s;
    }
    b->stmts.n -= first;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        b->stmts.at[i] = b->stmts.at[first + i];
}

static void drop_inputs(const DeadColumns *d, FlatInputs *inputs)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < inputs->n; i++)
        if (d->needed[inputs->at[i].as])
            inputs->at[kept++] = inputs->at[i];
    inputs->n = kept;
}

/* ---- kernels ---- */
static void drop_columns(DeadColumns *d, FlatStmt *s)
{
    CoreBlock *b = s->body.block;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->nouts; i++) {
        if (d->reads[s->outs[i]] == 0)
            continue;
        s->outs[kept] = s->outs[i];
        b->results[kept++] = b->results[i];
    }
    if (kept == s->nouts)
        return;
    flat_stmt_reads(s, flat_uncount_read, d->reads);
    s->nouts = b->nresults = kept;
    drop_statements(d, b);
    drop_inputs(d, &s->body.inputs);
    flat_stmt_reads(s, flat_count_read, d->reads);
}

/* The columns may be a list that is also the scan's. */
static void drop_views(DeadColumns *d, FlatStmt *s)
{
    FlatVar *columns = arena_array(d->p->arena, FlatVar, s->nouts + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->nouts; i++) {
        if (d->reads[s->outs[i]] == 0) {
            d->reads[s->arrays.arrays[i]]--;
            continue;
        }
        s->outs[kept] = s->outs[i];
        columns[kept++] = s->arrays.arrays[i];
    }
    s->arrays.arrays = columns;
    s->nouts = s->arrays.n = kept;
}

static void drop_in_block(void *ctx, FlatBlock *b)
{
    DeadColumns *d = ctx;
    uint32_t first = b->stmts.n;
    for (uint32_t i = b->stmts.n; i-- > 0;) {
        FlatStmt *s = b->stmts.at[i];
        flat_stmt_blocks(s, drop_in_block, d);
        if (s->kind == FLAT_S_KERNEL)
            drop_columns(d, s);
        if (s->kind == FLAT_S_VIEWS)
            drop_views(d, s);
        const bool empty = s->kind == FLAT_S_KERNEL && s->body.block->stmts.n == 0;
        if (s->nouts == 0 && (empty || s->kind == FLAT_S_VIEWS))
            flat_stmt_reads(s, flat_uncount_read, d->reads);
        else
            b->stmts.at[--first] = s;
    }
    b->stmts.n -= first;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        b->stmts.at[i] = b->stmts.at[first + i];
}

void flat_drop_dead_columns(FlatProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        FlatFn *fn = p->fns.at[i];
        Arena *scratch = arena_create();
        DeadColumns d = {p, fn, arena_array(scratch, uint32_t, fn->vars.n + 1),
                         arena_array(scratch, bool, fn->scope->vars.n + 1)};
        flat_count_block(d.reads, fn->body);
        drop_in_block(&d, fn->body);
        arena_destroy(scratch);
    }
}
