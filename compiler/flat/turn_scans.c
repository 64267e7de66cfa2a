/* Scans of columns that are only wanted as columns: transpose { scan op z c : c in transpose u }.
 *
 *     c1 = nested root (m)      c2 = nested c1 (n)        m columns of n elements
 *     d = scan c2 { … }         a = views c1 (views c2 (d))
 *     c3 = nested root (n)      c4 = nested c3 (m)        n rows of m elements
 *     e = kernel c4 { row = a[pos in c4]; -> row[pos in c3] }
 * ==>
 *     e = scan c2 turned to c4 { … }
 *
 * Where the loads of the scan's body lie side by side for neighbouring columns, so do then its stores, and neither the
 * prefixes nor their views are stored once more. n is 0 in c3 where m is 0, which comes to the same. The scan moves to
 * the kernel's place: nothing between may fail. */
#include "flat/neighbours.h"

/* ---- lengths ---- */

/* The length, a HOST number, by which the context is nested; or FLAT_NO_VAR. */
static FlatVar length_of(const FlatNeighbours *near, FlatVar ctx)
{
    const FlatStmt *s = flat_def(near, ctx, FLAT_S_NESTED);
    if (!s || near->fn->vars.at[s->nested.source].kind != FLAT_HOST ||
        near->fn->vars.at[s->nested.source].type.rank > 0)
        return FLAT_NO_VAR;
    return s->nested.source;
}

/* Is the atom of the host body the variable? */
static bool is_host_var(const FlatStmt *host, CoreAtom a, FlatVar v)
{
    for (uint32_t i = 0; !a.is_const && i < host->body.inputs.n; i++)
        if (host->body.inputs.at[i].as == a.var)
            return host->body.inputs.at[i].var == v;
    for (uint32_t i = 0; !a.is_const && i < host->nouts; i++)
        if (host->outs[i] == v && !host->body.block->results[i].is_const && host->body.block->results[i].var == a.var)
            return true;
    return false;
}

static const CoreStmt *prim_of(const FlatStmt *host, CoreAtom a, CorePrim op)
{
    return core_as_prim(core_block_def(host->body.block, a), op);
}

static bool is_zero(CoreAtom a) { return a.is_const && a.bits == 0; }

/* Is `length` n, or 0 where m is 0? */
static bool is_length_unless(const FlatNeighbours *near, FlatVar length, FlatVar n, FlatVar m)
{
    const FlatStmt *host = flat_def(near, length, FLAT_S_HOST);
    if (length == n || !host)
        return length == n;
    uint32_t which = 0;
    while (host->outs[which] != length)
        which++;
    const CoreStmt *s = prim_of(host, host->body.block->results[which], PRIM_SELECT);
    const CoreStmt *is = s ? prim_of(host, s->prim.args[0], PRIM_EQ) : NULL;
    if (!is || !is_zero(s->prim.args[1]) || !is_host_var(host, s->prim.args[2], n))
        return false;
    return is_host_var(host, is->prim.args[!is_zero(is->prim.args[1])], m) &&
           (is_zero(is->prim.args[0]) || is_zero(is->prim.args[1]));
}

/* ---- the kernel that turns ---- */

static const FlatInput *input_of(const FlatStmt *s, CoreAtom a, FlatInputKind kind)
{
    for (uint32_t i = 0; !a.is_const && i < s->body.inputs.n; i++)
        if (s->body.inputs.at[i].as == a.var && s->body.inputs.at[i].kind == kind)
            return &s->body.inputs.at[i];
    return NULL;
}

static bool is_position(const FlatStmt *s, CoreAtom a, FlatVar ctx)
{
    const FlatInput *in = input_of(s, a, IN_POS);
    return in && in->ctx == ctx;
}

/* The array that the kernel turns: its only result is a[pos in c4][pos in c3]. */
static FlatVar turned_array(const FlatNeighbours *near, const FlatStmt *s)
{
    const CoreBlock *b = s->body.block;
    if (s->kind != FLAT_S_KERNEL || s->nouts != 1 || b->stmts.n != 2 || b->results[0].is_const)
        return FLAT_NO_VAR;
    const CoreStmt *row = b->stmts.at[0], *element = b->stmts.at[1];
    if (row->kind != CORE_INDEX || element->kind != CORE_INDEX || row->site != CORE_NO_SITE ||
        element->site != CORE_NO_SITE || element->vars[0] != b->results[0].var)
        return FLAT_NO_VAR;
    if (element->index.array.is_const || element->index.array.var != row->vars[0])
        return FLAT_NO_VAR;
    const FlatInput *array = input_of(s, row->index.array, IN_HOST);
    const bool turns = is_position(s, row->index.index, s->body.ctx) &&
                       is_position(s, element->index.index, flat_ctx(near->fn, s->body.ctx));
    return array && turns ? array->var : FLAT_NO_VAR;
}

/* Of an array that only one statement reads, made of views of the column: that column, which nobody else reads. */
static FlatVar column_of(const FlatNeighbours *near, FlatVar array)
{
    const FlatStmt *s = array == FLAT_NO_VAR ? NULL : flat_def(near, array, FLAT_S_VIEWS);
    if (!s || s->nouts != 1 || near->reads[array] != 1 || near->reads[s->arrays.arrays[0]] != 1)
        return FLAT_NO_VAR;
    return s->arrays.arrays[0];
}

static bool is_rectangle(const FlatNeighbours *near, FlatVar ctx)
{
    FlatVar up = ctx == FLAT_ROOT ? FLAT_ROOT : flat_ctx(near->fn, ctx);
    return up != FLAT_ROOT && up != FLAT_NO_VAR && flat_ctx(near->fn, up) == FLAT_ROOT &&
           length_of(near, ctx) != FLAT_NO_VAR && length_of(near, up) != FLAT_NO_VAR;
}

/* The scan whose prefixes the kernel turns, and nothing else reads; or NULL. */
static const FlatStmt *turned_scan(const FlatNeighbours *near, const FlatStmt *kernel)
{
    const FlatVar prefixes = column_of(near, column_of(near, turned_array(near, kernel)));
    const FlatStmt *scan = prefixes == FLAT_NO_VAR ? NULL : flat_def(near, prefixes, FLAT_S_SCAN);
    if (!scan || scan->nouts != 1 || !is_rectangle(near, scan->body.ctx) || !is_rectangle(near, kernel->body.ctx))
        return NULL;
    FlatVar c1 = flat_ctx(near->fn, scan->body.ctx), c3 = flat_ctx(near->fn, kernel->body.ctx);
    const FlatVar m = length_of(near, c1), n = length_of(near, scan->body.ctx);
    const bool same = length_of(near, kernel->body.ctx) == m && is_length_unless(near, length_of(near, c3), n, m);
    return same && flat_loads_go_across(near->fn, scan) ? scan : NULL;
}

/* ---- blocks ---- */

/* The scan, statement j, takes the place of kernel i. */
static void turn(FlatNeighbours *near, FlatBlock *b, uint32_t j, uint32_t i)
{
    FlatStmt *scan = b->stmts.at[j], *kernel = b->stmts.at[i];
    const FlatVar array = turned_array(near, kernel), column = column_of(near, array);
    scan->outs[0] = kernel->outs[0];
    uint32_t kept = j;
    for (uint32_t k = j + 1; k < i; k++)
        if (b->stmts.at[k]->outs[0] != array && b->stmts.at[k]->outs[0] != column)
            b->stmts.at[kept++] = b->stmts.at[k];
    b->stmts.at[kept++] = scan;
    for (uint32_t k = i + 1; k < b->stmts.n; k++)
        b->stmts.at[kept++] = b->stmts.at[k];
    b->stmts.n = kept;
}

static void turn_block(void *ctx, FlatBlock *b)
{
    FlatNeighbours *near = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        FlatStmt *s = b->stmts.at[i];
        flat_stmt_blocks(s, turn_block, near);
        flat_note_defs(near, s);
        const FlatStmt *scan = turned_scan(near, s);
        uint32_t j = i;
        while (scan && j > 0 && b->stmts.at[j] != scan && (j == i || !flat_stmt_fallible(near, b->stmts.at[j])))
            j--;
        if (!scan || b->stmts.at[j] != scan)
            continue;
        turn(near, b, j, i);
        flat_note_defs(near, scan);
        i -= 3; /* the scan's old place and both views have gone in front of the new one */
    }
}

void flat_turn_scans(FlatProgram *p) { flat_each_body(p, turn_block); }
