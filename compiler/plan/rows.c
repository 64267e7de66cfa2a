/* Which views of a kernel's body are rows of a host array: they need not be loaded where all its rows have one length.
 *
 *     host u : [[[f32]]]           a = u[i]      b = a[j]
 *     level 0: u's own elements    level 1       (numbers)
 *
 * a is view number i of u's, b one of the views that these point to. Words ROWS of u at level 0 and 1 say where such
 * views would point and how long all are, if they are regular. Then the kernel loads none of them. */
#include "plan/plan.h"

typedef struct Origin {
    CoreVar array; /* is the host array, or found by so many indexings of it */
    FlatVar host;
    uint32_t level;
} Origin;

typedef struct RowSearch {
    Plan *plan;
    PlanKernel *k;
    const CoreSoac *inputs; /* are no use of the array as a whole */
    VEC(Origin) origins;
} RowSearch;

static const Origin *origin_of(const RowSearch *r, CoreAtom a)
{
    for (uint32_t i = 0; !a.is_const && i < r->origins.n; i++)
        if (r->origins.at[i].array == a.var)
            return &r->origins.at[i];
    return NULL;
}

/* Elements of v are views, too. */
static void add_origin(RowSearch *r, CoreVar v, FlatVar host, uint32_t level)
{
    if (core_var_type(r->k->fn->scope, v).rank > 1)
        vec_push(r->plan->arena, &r->origins, ((Origin){v, host, level}));
}

/* ---- uses ---- */

static void note_escape(void *ctx, CoreAtom *a)
{
    RowSearch *r = ctx;
    const bool is_input =
        r->inputs && r->inputs->ninputs > 0 && a >= r->inputs->inputs && a < r->inputs->inputs + r->inputs->ninputs;
    const Origin *o = is_input ? NULL : origin_of(r, *a);
    for (uint32_t i = 0; o && i < r->k->words.n; i++)
        if (r->k->words.at[i].kind == WORD_ADDRESS && r->k->words.at[i].var == o->host)
            r->k->words.at[i].always = true;
}

/* v is an element of the array, by its view. Returns whether that is known. */
static bool note_element(RowSearch *r, CoreAtom array, CoreVar v)
{
    const Origin *found = origin_of(r, array);
    if (!found)
        return false;
    const Origin o = *found;
    PlanRows use = {array.var, plan_add_rows(r->plan, r->k, o.host, o.level)};
    vec_push(r->plan->arena, &r->k->rows, use);
    add_origin(r, v, o.host, o.level + 1);
    return true;
}

static void search_block(void *ctx, CoreBlock *b);

/* Parallel operations in a lane read their arrays element by element. */
static void search_stmt(RowSearch *r, CoreStmt *s)
{
    const CoreSoac *soac = core_stmt_soac(s);
    for (uint32_t i = 0; soac && i < soac->ninputs; i++)
        note_element(r, soac->inputs[i], soac->elements[i]);
    r->inputs = soac;
    if (s->kind != CORE_LENGTH && !(s->kind == CORE_INDEX && note_element(r, s->index.array, s->vars[0])))
        core_stmt_atoms(s, note_escape, r);
    r->inputs = NULL;
    core_stmt_blocks(s, search_block, r);
}

static void search_block(void *ctx, CoreBlock *b)
{
    RowSearch *r = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        search_stmt(r, b->stmts.at[i]);
    for (uint32_t i = 0; i < b->nresults; i++)
        note_escape(r, &b->results[i]);
}

/* ---- inputs ---- */

static void add_inputs(RowSearch *r, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        if (in->kind == IN_POS || r->k->fn->vars.at[in->var].kind != FLAT_HOST)
            continue;
        if (in->kind == IN_HOST)
            add_origin(r, in->as, in->var, 0);
        if (in->kind != IN_ELEM || core_var_type(r->k->fn->scope, in->as).rank == 0)
            continue;
        plan_add_rows(r->plan, r->k, in->var, 0);
        add_origin(r, in->as, in->var, 1);
    }
}

void plan_find_rows(Plan *plan, PlanKernel *k)
{
    RowSearch r = {.plan = plan, .k = k};
    add_inputs(&r, &k->stmt->body.inputs);
    if (plan_has_op(k)) {
        add_inputs(&r, &k->stmt->reduce.op.inputs);
        add_inputs(&r, &k->stmt->reduce.op.neutral_inputs);
    }
    if (plan_maps(k))
        add_inputs(&r, &k->stmt->reduce.then.inputs);
    search_block(&r, k->stmt->body.block);
    if (plan_has_op(k))
        search_block(&r, k->stmt->reduce.op.op.body);
    if (plan_maps(k))
        search_block(&r, k->stmt->reduce.then.block);
}
