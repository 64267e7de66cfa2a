/* Rows of given lengths at depth 0, as `nest` makes them: what the lengths come to, their running sums, and views of
 * the pieces. One pass over the lengths gives the first two, and pieces that begin at running sums need no views in
 * memory.
 *
 * Flat code says it in statements of its own: a reduction by minimum and size_add, an exclusive scan by addition, both
 * of the same array, and a kernel that slices arrays from a running sum up to that plus the length. */
#include "plan/lower_internal.h"

#include "plan/emit_text.h"
#include "plan/kernel.h"

/* ---- what bodies and operators do ---- */

static bool is_var(CoreAtom a, CoreVar v) { return !a.is_const && a.var == v; }

static bool all_zero(const CoreAtom *atoms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!atoms[i].is_const || atoms[i].bits != 0)
            return false;
    return true;
}

/* Is this a op b, in either order? */
static bool is_prim_of(const CoreStmt *s, CorePrim op, CoreVar a, CoreVar b)
{
    if (!s || s->kind != CORE_PRIM || s->prim.op != op || s->prim.nargs != 2)
        return false;
    const CoreAtom *x = s->prim.args;
    return (is_var(x[0], a) && is_var(x[1], b)) || (is_var(x[0], b) && is_var(x[1], a));
}

/* Component k of the operator: this operation on the two of its parameters. */
static bool component_is(const FlatOp *op, uint32_t k, CorePrim prim)
{
    const CoreBlock *b = op->op.body;
    return is_prim_of(core_block_def(b, b->results[k]), prim, op->op.params[k], op->op.params[op->k + k]);
}

/* The i64 array at depth 0 whose elements, and nothing else, the body gives k times; or FLAT_NO_VAR. */
static FlatVar elements_of(const Lower *w, const FlatStmt *s, uint32_t k)
{
    const FlatBody *b = &s->body;
    const FlatInput *in = b->inputs.at;
    if (b->inputs.n != 1 || in->kind != IN_ELEM || in->ctx != b->ctx || plan_up(w->flat, b->ctx) != FLAT_ROOT)
        return FLAT_NO_VAR;
    const FlatVarInfo *array = lower_info(w, in->var);
    if (array->kind != FLAT_HOST || array->type.rank != 1 || array->type.scalar != SC_I64 || b->block->stmts.n > 0)
        return FLAT_NO_VAR;
    for (uint32_t i = 0; i < k; i++)
        if (!is_var(b->block->results[i], in->as))
            return FLAT_NO_VAR;
    return in->var;
}

/* The lengths of which this is the least one (or 0) and the sum. */
static FlatVar lengths_reduced(const Lower *w, const FlatStmt *s)
{
    const FlatOp *op = &s->reduce.op;
    bool ok = s->kind == FLAT_S_REDUCE && !s->reduce.stays && op->k == 2 && s->nouts == 2 &&
              op->op.body->stmts.n == 2 && op->inputs.n == 0 && all_zero(op->neutral, 2) &&
              component_is(op, 0, PRIM_MIN) && component_is(op, 1, PRIM_SIZE_ADD);
    return ok ? elements_of(w, s, 2) : FLAT_NO_VAR;
}

/* The lengths of which these are the running sums. */
static FlatVar lengths_scanned(const Lower *w, const FlatStmt *s)
{
    const FlatOp *op = &s->reduce.op;
    bool ok = s->kind == FLAT_S_SCAN && s->reduce.exclusive && op->k == 1 && !flat_scan_maps(s) &&
              op->op.body->stmts.n == 1 && op->inputs.n == 0 && all_zero(op->neutral, 1) &&
              component_is(op, 0, PRIM_ADD);
    return ok ? elements_of(w, s, 1) : FLAT_NO_VAR;
}

/* ---- lengths ---- */

/* Behind statement i of the block: the running sums of the same lengths over the same context. */
static const FlatStmt *find_scan(const Lower *w, const FlatBlock *b, uint32_t i, FlatVar lengths)
{
    for (uint32_t k = i + 1; k < b->stmts.n; k++)
        if (b->stmts.at[k]->body.ctx == b->stmts.at[i]->body.ctx && lengths_scanned(w, b->stmts.at[k]) == lengths)
            return b->stmts.at[k];
    return NULL;
}

static bool lower_reduced(Lower *w, const FlatBlock *b, uint32_t i)
{
    const FlatStmt *s = b->stmts.at[i], *scan;
    FlatVar lengths = s->kind == FLAT_S_REDUCE ? lengths_reduced(w, s) : FLAT_NO_VAR;
    if (lengths == FLAT_NO_VAR || !(scan = find_scan(w, b, i, lengths)))
        return false;
    PlanOperand least = lower_new_var(w, s->outs[0]), sum = lower_new_var(w, s->outs[1]);
    EMIT(w, LENGTHS, least, sum, lower_new_var(w, scan->outs[0]), w->vars[s->body.ctx], w->vars[lengths]);
    return true;
}

/* Has an earlier reduction left the running sums? */
static bool is_scanned_already(const Lower *w, const FlatBlock *b, uint32_t i)
{
    FlatVar lengths = b->stmts.at[i]->kind == FLAT_S_SCAN ? lengths_scanned(w, b->stmts.at[i]) : FLAT_NO_VAR;
    for (uint32_t k = 0; lengths != FLAT_NO_VAR && k < i; k++)
        if (b->stmts.at[k]->kind == FLAT_S_REDUCE && lengths_reduced(w, b->stmts.at[k]) == lengths &&
            find_scan(w, b, k, lengths) == b->stmts.at[i])
            return true;
    return false;
}

/* ---- pieces ---- */

/* The statement before i that binds the variable; NULL: it is elsewhere. */
static uint32_t find_binding(const FlatBlock *b, uint32_t i, FlatVar v)
{
    while (i-- > 0)
        for (uint32_t k = 0; k < b->stmts.at[i]->nouts; k++)
            if (b->stmts.at[i]->outs[k] == v)
                return i;
    return UINT32_MAX;
}

/* The input: an element of the running sums that a reduction has left, of these lengths? They are stored as an array's
 * views of a column. */
static bool is_running_sum(const Lower *w, const FlatBlock *b, uint32_t i, const FlatInput *in, FlatVar *sums)
{
    uint32_t views = in->kind == IN_ELEM ? find_binding(b, i, in->var) : UINT32_MAX;
    if (views == UINT32_MAX || b->stmts.at[views]->kind != FLAT_S_VIEWS || b->stmts.at[views]->arrays.n != 1)
        return false;
    *sums = b->stmts.at[views]->arrays.arrays[0];
    uint32_t scan = find_binding(b, views, *sums);
    return scan != UINT32_MAX && is_scanned_already(w, b, scan) && b->stmts.at[scan]->body.ctx == in->ctx;
}

/* What a kernel that only cuts pieces needs. */
typedef struct Pieces {
    FlatVar sums;             /* COL */
    CoreVar start, length;    /* in the body */
    const FlatInputs *inputs; /* the arrays are among them */
} Pieces;

static bool find_pieces(const Lower *w, const FlatBlock *b, uint32_t i, Pieces *p)
{
    const FlatBody *body = &b->stmts.at[i]->body;
    bool start = false, length = false;
    p->inputs = &body->inputs;
    for (uint32_t k = 0; k < body->inputs.n; k++) {
        const FlatInput *in = &body->inputs.at[k];
        if (in->kind == IN_HOST)
            continue;
        if (in->ctx != body->ctx || plan_up(w->flat, body->ctx) != FLAT_ROOT)
            return false;
        if (!start && is_running_sum(w, b, i, in, &p->sums)) {
            p->start = in->as;
            start = true;
        } else {
            p->length = in->as;
            length = !length && in->kind == IN_ELEM;
        }
    }
    if (!start || !length)
        return false;
    const FlatStmt *scan = b->stmts.at[find_binding(b, i, p->sums)];
    for (uint32_t k = 0; k < body->inputs.n; k++)
        if (body->inputs.at[k].as == p->length && body->inputs.at[k].kind == IN_ELEM)
            return body->inputs.at[k].var == lengths_scanned(w, scan);
    return false;
}

/* The array at depth 0 that result k is a piece of, from the running sum to that plus the length; or FLAT_NO_VAR. */
static FlatVar array_of_piece(const Lower *w, const Pieces *p, const CoreBlock *body, uint32_t k)
{
    const CoreStmt *s = core_block_def(body, body->results[k]);
    if (!s || s->kind != CORE_SLICE || s->site != CORE_NO_SITE || !is_var(s->slice.from, p->start) ||
        !is_prim_of(core_block_def(body, s->slice.to), PRIM_ADD, p->start, p->length))
        return FLAT_NO_VAR;
    for (uint32_t i = 0; i < p->inputs->n; i++) {
        const FlatInput *in = &p->inputs->at[i];
        if (in->kind == IN_HOST && is_var(s->slice.array, in->as) && lower_info(w, in->var)->type.rank > 0)
            return in->var;
    }
    return FLAT_NO_VAR;
}

static bool lower_pieces(Lower *w, const FlatBlock *b, uint32_t i)
{
    const FlatStmt *s = b->stmts.at[i];
    const CoreBlock *body = s->kind == FLAT_S_KERNEL ? s->body.block : NULL;
    Pieces p;
    if (!body || s->nouts == 0 || !find_pieces(w, b, i, &p))
        return false;
    for (uint32_t k = 0; k < body->stmts.n; k++)
        if (body->stmts.at[k]->kind != CORE_SLICE && body->stmts.at[k]->kind != CORE_PRIM)
            return false;
    for (uint32_t k = 0; k < s->nouts; k++)
        if (array_of_piece(w, &p, body, k) == FLAT_NO_VAR)
            return false;
    for (uint32_t k = 0; k < s->nouts; k++) {
        PlanOperand array = w->vars[array_of_piece(w, &p, body, k)], out = lower_new_var(w, s->outs[k]);
        EMIT(w, PIECES, out, w->vars[s->body.ctx], w->vars[p.sums], array,
             lower_number(emit_element_bytes(lower_info(w, s->outs[k])->type)));
        EMIT(w, COL_SET_REFS, out, lower_refs_add(w, lower_refs_none(w), array, 0));
    }
    return true;
}

bool lower_lengths(Lower *w, const FlatBlock *b, uint32_t i)
{
    return lower_reduced(w, b, i) || is_scanned_already(w, b, i) || lower_pieces(w, b, i);
}
