/* What is made of a scan's prefixes is made where they are stored.
 *
 *     p = scan c { … } op …                        y = scan c { … } op … then (q) { x <- elem a in c; -> f q x }
 *     a = views c (p)
 *     y = kernel c { q <- elem a in c; … f q x }   ==>
 *
 * The prefixes themselves are only stored where others read them, too: beside the rest. The scan moves to the kernel's
 * place, and so do the views of what is still read: nothing between may read them, or fail where the scan may. Not both
 * of the scan and the kernel may fail, as the scan of all elements is done before the kernel of any. */
#include "core/build.h"
#include "flat/neighbours.h"

enum {
    MOST_COLUMNS = 48, /* that are read and written: arguments of a kernel are few on some devices */
    NEAR = 16          /* statements between both */
};

/* ---- which scan, which kernel ---- */

static bool are_numbers(const FlatNeighbours *near, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        if (near->fn->vars.at[s->outs[i]].type.rank > 0)
            return false;
    return s->nouts > 0;
}

static const FlatStmt *scan_read(const FlatNeighbours *near, const FlatStmt *kernel, const FlatInput *in)
{
    const FlatVar column = flat_column_read(near, &kernel->body, in);
    const FlatStmt *scan = column == FLAT_NO_VAR ? NULL : flat_def(near, column, FLAT_S_SCAN);
    return scan && scan->body.ctx == kernel->body.ctx && flat_ctx(near->fn, column) == kernel->body.ctx ? scan : NULL;
}

/* Running sums of lengths whose sum and least are taken beside them (plan/lower_lengths.c) stay what they are. */
static bool is_of_lengths(const FlatNeighbours *near, const FlatBlock *b, uint32_t j)
{
    const FlatStmt *scan = b->stmts.at[j];
    for (uint32_t k = 0; scan->reduce.exclusive && scan->body.block->stmts.n == 0 && k < j; k++) {
        const FlatStmt *s = b->stmts.at[k];
        if (s->kind == FLAT_S_REDUCE && s->body.ctx == scan->body.ctx && s->nouts == 2 &&
            flat_ctx(near->fn, s->body.ctx) == FLAT_ROOT)
            return true;
    }
    return false;
}

typedef struct Reading {
    const FlatNeighbours *near;
    const FlatStmt *scan;
    bool found;
} Reading;

/* What the scan stores, or views of that. */
static void note_read(void *ctx, FlatVar v)
{
    Reading *r = ctx;
    const FlatStmt *views = flat_def(r->near, v, FLAT_S_VIEWS);
    r->found |= flat_def(r->near, v, FLAT_S_SCAN) == r->scan;
    for (uint32_t i = 0; views && i < views->arrays.n; i++)
        r->found |= flat_def(r->near, views->arrays.arrays[i], FLAT_S_SCAN) == r->scan;
}

/* Does the kernel read what the scan stores elsewhere than at its own places? */
static bool reads_elsewhere(const FlatNeighbours *near, const FlatStmt *scan, const FlatStmt *kernel)
{
    Reading r = {near, scan, false};
    for (uint32_t i = 0; i < kernel->body.inputs.n; i++) {
        const FlatInput *in = &kernel->body.inputs.at[i];
        if (in->kind != IN_POS && scan_read(near, kernel, in) != scan)
            note_read(&r, in->var);
    }
    return r.found;
}

static bool goes_into(const FlatNeighbours *near, const FlatStmt *scan, const FlatStmt *kernel)
{
    const FlatBody *then = &scan->reduce.then;
    const uint32_t columns = scan->body.inputs.n + scan->reduce.op.inputs.n + scan->reduce.op.neutral_inputs.n +
                             then->inputs.n + scan->nouts + kernel->body.inputs.n + kernel->nouts;
    uint32_t statements = then->block ? then->block->stmts.n : 0;
    return !flat_scan_turns(near->fn, scan) && are_numbers(near, scan) && are_numbers(near, kernel) &&
           flat_is_short(kernel->body.block, FLAT_SHORT_LENGTHS, &statements) && columns <= MOST_COLUMNS &&
           !reads_elsewhere(near, scan, kernel) &&
           !(flat_stmt_fallible(near, scan) && flat_body_fallible(near, kernel->body.block));
}

/* ---- what stands between ---- */

static void note_block(void *ctx, FlatBlock *b) { ((Reading *)ctx)->found |= b->stmts.n > 0; }

static bool is_view_of(const FlatNeighbours *near, const FlatStmt *s, const FlatStmt *scan)
{
    if (s->kind != FLAT_S_VIEWS || s->ctx != scan->body.ctx)
        return false;
    for (uint32_t i = 0; i < s->arrays.n; i++)
        if (flat_def(near, s->arrays.arrays[i], FLAT_S_SCAN) != scan)
            return false;
    return true;
}

static bool may_pass(const FlatNeighbours *near, const FlatStmt *scan, const FlatStmt *s)
{
    if (is_view_of(near, s, scan))
        return true;
    Reading r = {near, scan, false};
    flat_stmt_reads(s, note_read, &r);
    flat_stmt_blocks(s, note_block, &r);
    return !r.found && !(flat_stmt_fallible(near, s) && flat_stmt_fallible(near, scan));
}

/* Where in front of kernel i stands a scan that the kernel may become part of; i if there is none. */
static uint32_t find_scan(const FlatNeighbours *near, const FlatBlock *b, uint32_t i)
{
    const FlatStmt *kernel = b->stmts.at[i];
    for (uint32_t k = 0; kernel->kind == FLAT_S_KERNEL && k < kernel->body.inputs.n; k++) {
        const FlatStmt *scan = scan_read(near, kernel, &kernel->body.inputs.at[k]);
        if (!scan || !goes_into(near, scan, kernel))
            continue;
        uint32_t j = i;
        while (j > 0 && i - j < NEAR && b->stmts.at[j] != scan && (j == i || may_pass(near, scan, b->stmts.at[j])))
            j--;
        if (b->stmts.at[j] == scan && !is_of_lengths(near, b, j))
            return j;
    }
    return i;
}

/* ---- joining ---- */

static CoreAtom var_atom(const FlatNeighbours *near, CoreVar v)
{
    return core_var_atom(v, core_var_type(near->fn->scope, v));
}

/* A scan that stores its prefixes, said in other words. */
static void begin_code(FlatNeighbours *near, FlatStmt *scan)
{
    const uint32_t k = scan->reduce.op.k;
    FlatBody *then = &scan->reduce.then;
    *then = (FlatBody){scan->body.ctx, {0}, core_new_block(near->p->core)};
    scan->reduce.prefixes = arena_array(near->p->arena, CoreVar, k);
    then->block->results = arena_array(near->p->arena, CoreAtom, k);
    then->block->nresults = k;
    for (uint32_t i = 0; i < k; i++) {
        scan->reduce.prefixes[i] = core_new_var(near->p->core, near->fn->scope, near->fn->vars.at[scan->outs[i]].type,
                                                near->fn->vars.at[scan->outs[i]].hint);
        then->block->results[i] = var_atom(near, scan->reduce.prefixes[i]);
    }
}

static uint32_t position_of(const FlatStmt *s, FlatVar v)
{
    uint32_t i = 0;
    while (i < s->nouts && s->outs[i] != v)
        i++;
    return i;
}

/* The kernel's statements behind the scan's own code: its inputs that are what the scan stores get these values. */
static void add_code(FlatNeighbours *near, FlatStmt *scan, const FlatStmt *kernel)
{
    CoreBuilder b = {.p = near->p->core, .fn = near->fn->scope, .out = scan->reduce.then.block};
    FlatBody rest = {kernel->body.ctx, {0}, kernel->body.block};
    for (uint32_t i = 0; i < kernel->body.inputs.n; i++) {
        FlatInput in = kernel->body.inputs.at[i];
        const FlatVar column =
            scan_read(near, kernel, &in) == scan ? flat_column_read(near, &kernel->body, &in) : FLAT_NO_VAR;
        const uint32_t at = position_of(scan, column);
        if (at == scan->nouts) {
            vec_push(near->p->arena, &rest.inputs, in);
        } else if (!flat_body_binds(&scan->reduce.then, in.as)) {
            CoreStmt *same = build_stmt_into(&b, CORE_ATOM, 1, &in.as);
            same->atom = scan->reduce.then.block->results[at];
            build_emit(&b, same);
        }
    }
    flat_body_add(near->p->core, near->fn->scope, &scan->reduce.then, &rest);
}

/* What others read of what the scan has stored, then the kernel's results. */
static void set_results(FlatNeighbours *near, FlatStmt *scan, const FlatStmt *kernel)
{
    CoreBlock *b = scan->reduce.then.block;
    FlatVar *outs = arena_array(near->p->arena, FlatVar, scan->nouts + kernel->nouts);
    CoreAtom *results = arena_array(near->p->arena, CoreAtom, scan->nouts + kernel->nouts);
    uint32_t n = 0;
    for (uint32_t i = 0; i < scan->nouts; i++)
        if (near->reads[scan->outs[i]] > 0) {
            outs[n] = scan->outs[i];
            results[n++] = b->results[i];
        }
    for (uint32_t i = 0; i < kernel->nouts; i++) {
        outs[n] = kernel->outs[i];
        results[n++] = kernel->body.block->results[i];
        near->def[kernel->outs[i]] = scan;
    }
    scan->outs = outs;
    b->results = results;
    scan->nouts = b->nresults = n;
}

static bool is_read(const FlatNeighbours *near, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        if (near->reads[s->outs[i]] > 0)
            return true;
    return false;
}

/* Scan j and the views of it take the place of kernel i; the number of the first statement behind them. */
static uint32_t move_scan(const FlatNeighbours *near, FlatBlock *b, uint32_t j, uint32_t i)
{
    FlatStmt *scan = b->stmts.at[j], *views[NEAR];
    uint32_t kept = j, nviews = 0;
    for (uint32_t k = j + 1; k < i; k++) {
        FlatStmt *s = b->stmts.at[k];
        if (!is_view_of(near, s, scan))
            b->stmts.at[kept++] = s;
        else if (is_read(near, s))
            views[nviews++] = s;
    }
    b->stmts.at[kept++] = scan;
    for (uint32_t k = 0; k < nviews; k++)
        b->stmts.at[kept++] = views[k];
    const uint32_t behind = kept;
    for (uint32_t k = i + 1; k < b->stmts.n; k++)
        b->stmts.at[kept++] = b->stmts.at[k];
    b->stmts.n = kept;
    return behind;
}

static uint32_t join(FlatNeighbours *near, FlatBlock *b, uint32_t j, uint32_t i)
{
    FlatStmt *scan = b->stmts.at[j], *kernel = b->stmts.at[i];
    flat_stmt_reads(kernel, flat_uncount_read, near->reads);
    flat_stmt_reads(scan, flat_uncount_read, near->reads);
    if (!flat_scan_maps(scan))
        begin_code(near, scan);
    add_code(near, scan, kernel);
    flat_stmt_reads(scan, flat_count_read, near->reads);
    for (uint32_t k = j + 1; k < i; k++)
        if (is_view_of(near, b->stmts.at[k], scan) && !is_read(near, b->stmts.at[k]))
            flat_stmt_reads(b->stmts.at[k], flat_uncount_read, near->reads);
    const uint32_t behind = move_scan(near, b, j, i);
    set_results(near, scan, kernel);
    return behind;
}

/* ---- blocks ---- */

static void join_block(void *ctx, FlatBlock *b)
{
    FlatNeighbours *near = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        FlatStmt *s = b->stmts.at[i];
        flat_stmt_blocks(s, join_block, near);
        flat_note_defs(near, s);
        const uint32_t j = find_scan(near, b, i);
        if (j < i)
            i = join(near, b, j, i) - 1;
    }
}

void flat_join_scans(FlatProgram *p) { flat_each_body(p, join_block); }
