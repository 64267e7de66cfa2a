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
#include "flat/flat.h"

enum {
    MOST_STATEMENTS = 24, /* of what is made of the prefixes: it should not keep a scan from going by vectors */
    MOST_COLUMNS = 48,    /* that are read and written: arguments of a kernel are few on some devices */
    NEAR = 16             /* statements between both */
};

typedef struct ScanMaps {
    FlatProgram *p;
    FlatFn *fn;
    uint32_t *reads;      /* by variable */
    const FlatStmt **def; /* likewise: of the block at hand, and of those around it */
} ScanMaps;

static const FlatStmt *def_of(const ScanMaps *m, FlatVar v, FlatKind kind)
{
    const FlatStmt *s = v < m->fn->vars.n ? m->def[v] : NULL;
    return s && s->kind == kind ? s : NULL;
}

/* ---- which scan, which kernel ---- */

static bool are_numbers(const ScanMaps *m, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        if (m->fn->vars.at[s->outs[i]].type.rank > 0)
            return false;
    return s->nouts > 0;
}

/* The column of the body's own context that the input reads at each instance's own place. */
static FlatVar column_read(const ScanMaps *m, const FlatStmt *kernel, const FlatInput *in)
{
    if (in->kind == IN_COL)
        return in->var;
    const FlatStmt *views = in->kind == IN_ELEM ? def_of(m, in->var, FLAT_S_VIEWS) : NULL;
    if (!views || in->ctx != kernel->body.ctx || views->ctx != in->ctx)
        return FLAT_NO_VAR;
    for (uint32_t i = 0; i < views->nouts; i++)
        if (views->outs[i] == in->var)
            return views->arrays.arrays[i];
    return FLAT_NO_VAR;
}

static const FlatStmt *scan_read(const ScanMaps *m, const FlatStmt *kernel, const FlatInput *in)
{
    const FlatVar column = column_read(m, kernel, in);
    const FlatStmt *scan = column == FLAT_NO_VAR ? NULL : def_of(m, column, FLAT_S_SCAN);
    return scan && scan->body.ctx == kernel->body.ctx && flat_ctx(m->fn, column) == kernel->body.ctx ? scan : NULL;
}

static bool block_fails(const ScanMaps *m, const CoreBlock *b)
{
    for (uint32_t i = 0; b && i < b->stmts.n; i++)
        if (core_stmt_fallible(m->p->core, m->fn->scope, b->stmts.at[i]))
            return true;
    return false;
}

static bool scan_fails(const ScanMaps *m, const FlatStmt *scan)
{
    return block_fails(m, scan->body.block) || block_fails(m, scan->reduce.op.op.body) ||
           block_fails(m, scan->reduce.then.block);
}

static bool may_fail(const ScanMaps *m, const FlatStmt *s)
{
    if (s->kind == FLAT_S_HOST || s->kind == FLAT_S_KERNEL || s->kind == FLAT_S_PACK)
        return block_fails(m, s->body.block);
    return s->kind != FLAT_S_VIEWS && s->kind != FLAT_S_ELEMS && s->kind != FLAT_S_SELECT;
}

/* Running sums of lengths whose sum and least are taken beside them (plan/lower_lengths.c) stay what they are. */
static bool is_of_lengths(const ScanMaps *m, const FlatBlock *b, uint32_t j)
{
    const FlatStmt *scan = b->stmts.at[j];
    for (uint32_t k = 0; scan->reduce.exclusive && scan->body.block->stmts.n == 0 && k < j; k++) {
        const FlatStmt *s = b->stmts.at[k];
        if (s->kind == FLAT_S_REDUCE && s->body.ctx == scan->body.ctx && s->nouts == 2 &&
            flat_ctx(m->fn, s->body.ctx) == FLAT_ROOT)
            return true;
    }
    return false;
}

static bool is_short(const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreKind kind = b->stmts.at[i]->kind;
        if (kind != CORE_ATOM && kind != CORE_PRIM && kind != CORE_LENGTH && kind != CORE_INDEX && kind != CORE_CHECK)
            return false;
    }
    return b->stmts.n <= MOST_STATEMENTS;
}

typedef struct Reading {
    const ScanMaps *m;
    const FlatStmt *scan;
    bool found;
} Reading;

/* What the scan stores, or views of that. */
static void note_read(void *ctx, FlatVar v)
{
    Reading *r = ctx;
    const FlatStmt *views = def_of(r->m, v, FLAT_S_VIEWS);
    r->found |= def_of(r->m, v, FLAT_S_SCAN) == r->scan;
    for (uint32_t i = 0; views && i < views->arrays.n; i++)
        r->found |= def_of(r->m, views->arrays.arrays[i], FLAT_S_SCAN) == r->scan;
}

/* Does the kernel read what the scan stores elsewhere than at its own places? */
static bool reads_elsewhere(const ScanMaps *m, const FlatStmt *scan, const FlatStmt *kernel)
{
    Reading r = {m, scan, false};
    for (uint32_t i = 0; i < kernel->body.inputs.n; i++) {
        const FlatInput *in = &kernel->body.inputs.at[i];
        if (in->kind != IN_POS && scan_read(m, kernel, in) != scan)
            note_read(&r, in->var);
    }
    return r.found;
}

static bool goes_into(const ScanMaps *m, const FlatStmt *scan, const FlatStmt *kernel)
{
    const FlatBody *then = &scan->reduce.then;
    const uint32_t columns = scan->body.inputs.n + scan->reduce.op.inputs.n + scan->reduce.op.neutral_inputs.n +
                             then->inputs.n + scan->nouts + kernel->body.inputs.n + kernel->nouts;
    const uint32_t before = then->block ? then->block->stmts.n : 0;
    return !flat_scan_turns(m->fn, scan) && are_numbers(m, scan) && are_numbers(m, kernel) &&
           is_short(kernel->body.block) && before + kernel->body.block->stmts.n <= MOST_STATEMENTS &&
           columns <= MOST_COLUMNS && !reads_elsewhere(m, scan, kernel) &&
           !(scan_fails(m, scan) && block_fails(m, kernel->body.block));
}

/* ---- what stands between ---- */

static void note_block(void *ctx, FlatBlock *b) { ((Reading *)ctx)->found |= b->stmts.n > 0; }

static bool is_view_of(const ScanMaps *m, const FlatStmt *s, const FlatStmt *scan)
{
    if (s->kind != FLAT_S_VIEWS || s->ctx != scan->body.ctx)
        return false;
    for (uint32_t i = 0; i < s->arrays.n; i++)
        if (def_of(m, s->arrays.arrays[i], FLAT_S_SCAN) != scan)
            return false;
    return true;
}

static bool may_pass(const ScanMaps *m, const FlatStmt *scan, const FlatStmt *s)
{
    if (is_view_of(m, s, scan))
        return true;
    Reading r = {m, scan, false};
    flat_stmt_reads(s, note_read, &r);
    flat_stmt_blocks(s, note_block, &r);
    return !r.found && !(may_fail(m, s) && scan_fails(m, scan));
}

/* Where in front of kernel i stands a scan that the kernel may become part of; i if there is none. */
static uint32_t find_scan(const ScanMaps *m, const FlatBlock *b, uint32_t i)
{
    const FlatStmt *kernel = b->stmts.at[i];
    for (uint32_t k = 0; kernel->kind == FLAT_S_KERNEL && k < kernel->body.inputs.n; k++) {
        const FlatStmt *scan = scan_read(m, kernel, &kernel->body.inputs.at[k]);
        if (!scan || !goes_into(m, scan, kernel))
            continue;
        uint32_t j = i;
        while (j > 0 && i - j < NEAR && b->stmts.at[j] != scan && (j == i || may_pass(m, scan, b->stmts.at[j])))
            j--;
        if (b->stmts.at[j] == scan && !is_of_lengths(m, b, j))
            return j;
    }
    return i;
}

/* ---- joining ---- */

static CoreAtom var_atom(const ScanMaps *m, CoreVar v) { return core_var_atom(v, core_var_type(m->fn->scope, v)); }

/* A scan that stores its prefixes, said in other words. */
static void begin_code(ScanMaps *m, FlatStmt *scan)
{
    const uint32_t k = scan->reduce.op.k;
    FlatBody *then = &scan->reduce.then;
    *then = (FlatBody){scan->body.ctx, {0}, core_new_block(m->p->core)};
    scan->reduce.prefixes = arena_array(m->p->arena, CoreVar, k);
    then->block->results = arena_array(m->p->arena, CoreAtom, k);
    then->block->nresults = k;
    for (uint32_t i = 0; i < k; i++) {
        scan->reduce.prefixes[i] = core_new_var(m->p->core, m->fn->scope, m->fn->vars.at[scan->outs[i]].type,
                                                m->fn->vars.at[scan->outs[i]].hint);
        then->block->results[i] = var_atom(m, scan->reduce.prefixes[i]);
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
static void add_code(ScanMaps *m, FlatStmt *scan, const FlatStmt *kernel)
{
    CoreBuilder b = {.p = m->p->core, .fn = m->fn->scope, .out = scan->reduce.then.block};
    FlatBody rest = {kernel->body.ctx, {0}, kernel->body.block};
    for (uint32_t i = 0; i < kernel->body.inputs.n; i++) {
        FlatInput in = kernel->body.inputs.at[i];
        const FlatVar column = scan_read(m, kernel, &in) == scan ? column_read(m, kernel, &in) : FLAT_NO_VAR;
        const uint32_t at = position_of(scan, column);
        if (at == scan->nouts) {
            vec_push(m->p->arena, &rest.inputs, in);
        } else if (!flat_body_binds(&scan->reduce.then, in.as)) {
            CoreStmt *same = build_stmt_into(&b, CORE_ATOM, 1, &in.as);
            same->atom = scan->reduce.then.block->results[at];
            build_emit(&b, same);
        }
    }
    flat_body_add(m->p->core, m->fn->scope, &scan->reduce.then, &rest);
}

/* What others read of what the scan has stored, then the kernel's results. */
static void set_results(ScanMaps *m, FlatStmt *scan, const FlatStmt *kernel)
{
    CoreBlock *b = scan->reduce.then.block;
    FlatVar *outs = arena_array(m->p->arena, FlatVar, scan->nouts + kernel->nouts);
    CoreAtom *results = arena_array(m->p->arena, CoreAtom, scan->nouts + kernel->nouts);
    uint32_t n = 0;
    for (uint32_t i = 0; i < scan->nouts; i++)
        if (m->reads[scan->outs[i]] > 0) {
            outs[n] = scan->outs[i];
            results[n++] = b->results[i];
        }
    for (uint32_t i = 0; i < kernel->nouts; i++) {
        outs[n] = kernel->outs[i];
        results[n++] = kernel->body.block->results[i];
        m->def[kernel->outs[i]] = scan;
    }
    scan->outs = outs;
    b->results = results;
    scan->nouts = b->nresults = n;
}

static bool is_read(const ScanMaps *m, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        if (m->reads[s->outs[i]] > 0)
            return true;
    return false;
}

/* Scan j and the views of it take the place of kernel i; the number of the first statement behind them. */
static uint32_t move_scan(const ScanMaps *m, FlatBlock *b, uint32_t j, uint32_t i)
{
    FlatStmt *scan = b->stmts.at[j], *views[NEAR];
    uint32_t kept = j, nviews = 0;
    for (uint32_t k = j + 1; k < i; k++) {
        FlatStmt *s = b->stmts.at[k];
        if (!is_view_of(m, s, scan))
            b->stmts.at[kept++] = s;
        else if (is_read(m, s))
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

static uint32_t join(ScanMaps *m, FlatBlock *b, uint32_t j, uint32_t i)
{
    FlatStmt *scan = b->stmts.at[j], *kernel = b->stmts.at[i];
    flat_stmt_reads(kernel, flat_uncount_read, m->reads);
    flat_stmt_reads(scan, flat_uncount_read, m->reads);
    if (!flat_scan_maps(scan))
        begin_code(m, scan);
    add_code(m, scan, kernel);
    flat_stmt_reads(scan, flat_count_read, m->reads);
    for (uint32_t k = j + 1; k < i; k++)
        if (is_view_of(m, b->stmts.at[k], scan) && !is_read(m, b->stmts.at[k]))
            flat_stmt_reads(b->stmts.at[k], flat_uncount_read, m->reads);
    const uint32_t behind = move_scan(m, b, j, i);
    set_results(m, scan, kernel);
    return behind;
}

/* ---- blocks ---- */

static void join_block(void *ctx, FlatBlock *b)
{
    ScanMaps *m = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        FlatStmt *s = b->stmts.at[i];
        flat_stmt_blocks(s, join_block, m);
        for (uint32_t k = 0; k < s->nouts; k++)
            m->def[s->outs[k]] = s;
        const uint32_t j = find_scan(m, b, i);
        if (j < i)
            i = join(m, b, j, i) - 1;
    }
}

void flat_join_scans(FlatProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        FlatFn *fn = p->fns.at[i];
        Arena *scratch = arena_create();
        ScanMaps m = {p, fn, arena_array(scratch, uint32_t, fn->vars.n + 1),
                      arena_array(scratch, const FlatStmt *, fn->vars.n + 1)};
        flat_count_block(m.reads, fn->body);
        join_block(&m, fn->body);
        arena_destroy(scratch);
    }
}
