/* From flat to the plan: one function for each flat function, and for each statement the instructions it stands for, in
 * order. Nothing is said of ownership: see lifetime.c. */
#include "plan/lower_internal.h"

#include "plan/emit_text.h"

#include <string.h>

/* ---- operands ---- */

PlanOperand lower_reg(Lower *w, PlanType type, CoreType core, const char *hint)
{
    PlanRegInfo info = {type, core, hint};
    PlanReg r = w->fn->regs.n;
    vec_push(w->plan->arena, &w->fn->regs, info);
    vec_push(w->plan->arena, &w->block->regs, r);
    return (PlanOperand){.reg = r};
}

PlanOperand lower_scalar(Lower *w, Scalar s, const char *hint)
{
    return lower_reg(w, PLAN_SCALAR, core_scalar(s), hint);
}

PlanOperand lower_like(Lower *w, PlanOperand o)
{
    if (o.kind == OPERAND_CONST)
        return lower_scalar(w, o.scalar, NULL);
    PlanRegInfo info = w->fn->regs.at[o.reg];
    return lower_reg(w, info.type, info.core, info.hint);
}

PlanOperand lower_new_var(Lower *w, FlatVar v)
{
    const FlatVarInfo *info = lower_info(w, v);
    PlanType type = info->kind == FLAT_COL   ? PLAN_COL
                    : info->kind == FLAT_CTX ? PLAN_CTX
                    : info->type.rank > 0    ? PLAN_ARR
                                             : PLAN_SCALAR;
    return w->vars[v] = lower_reg(w, type, info->type, info->hint);
}

PlanOperand lower_list(Lower *w, uint32_t n)
{
    return (PlanOperand){.kind = OPERAND_LIST, .list = {arena_array(w->plan->arena, PlanOperand, n + 1), n}};
}

PlanOperand lower_vars(Lower *w, const FlatVar *vars, uint32_t n)
{
    PlanOperand list = lower_list(w, n);
    for (uint32_t i = 0; i < n; i++)
        list.list.at[i] = w->vars[vars[i]];
    return list;
}

PlanOperand lower_new_vars(Lower *w, const FlatVar *vars, uint32_t n)
{
    PlanOperand list = lower_list(w, n);
    for (uint32_t i = 0; i < n; i++)
        list.list.at[i] = lower_new_var(w, vars[i]);
    return list;
}

PlanType lower_type(const Lower *w, PlanOperand o)
{
    return o.kind == OPERAND_CONST ? PLAN_SCALAR : w->fn->regs.at[o.reg].type;
}

/* ---- instructions ---- */

PlanInstr *lower_emit(Lower *w, PlanOp op, uint32_t n, const PlanOperand *args)
{
    PlanInstr *in = arena_new(w->plan->arena, PlanInstr);
    in->op = op;
    in->span = w->span;
    in->nargs = n;
    in->args = arena_array(w->plan->arena, PlanOperand, n + 1);
    memcpy(in->args, args, n * sizeof *args);
    vec_push(w->plan->arena, &w->block->instrs, in);
    return in;
}

void lower_copy(Lower *w, PlanOperand to, PlanOperand from)
{
    switch (lower_type(w, to)) {
    case PLAN_SCALAR: EMIT(w, SET, to, from); break;
    case PLAN_ARR: EMIT(w, RETAIN_ARR, to, from); break;
    case PLAN_COL: EMIT(w, RETAIN_COL, to, from); break;
    case PLAN_CTX: EMIT(w, RETAIN_CTX, to, from); break;
    case PLAN_REFS:
    case PLAN_LIMIT:
    case PLAN_LEVEL:
    case PLAN_PENDING: break; /* are never state */
    }
}

void lower_prim(Lower *w, PlanOperand to, CorePrim op, PlanOperand a, PlanOperand b)
{
    PlanOperand list = lower_list(w, 2);
    list.list.at[0] = a;
    list.list.at[1] = b;
    EMIT(w, PRIM, to, list)->prim = op;
}

PlanBlock *lower_begin(Lower *w)
{
    PlanBlock *outer = w->block;
    w->block = arena_new(w->plan->arena, PlanBlock);
    w->here = 0;
    return outer;
}

void lower_end(Lower *w, PlanBlock *outer)
{
    w->block = outer;
    w->here = 0;
}

/* May the values be assigned one after the other? Not if one is what an earlier assignment overwrites. */
static bool in_order(uint32_t n, const PlanOperand *params, const PlanOperand *values)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (values[i].kind == OPERAND_REG && values[i].reg == params[j].reg)
                return false;
    return true;
}

void lower_next_state(Lower *w, uint32_t n, const PlanOperand *params, const PlanOperand *values)
{
    PlanOperand *next = arena_array(w->plan->arena, PlanOperand, n + 1);
    bool directly = in_order(n, params, values);
    for (uint32_t i = 0; i < n; i++) {
        next[i] = values[i];
        if (directly || values[i].kind == OPERAND_CONST)
            continue;
        next[i] = lower_like(w, values[i]);
        lower_copy(w, next[i], values[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        if (next[i].kind != OPERAND_REG || next[i].reg != params[i].reg)
            lower_copy(w, params[i], next[i]);
}

PlanOperand lower_pending(Lower *w) { return lower_reg(w, PLAN_PENDING, core_scalar(SC_BOOL), NULL); }

/* ---- contexts and columns ---- */

void lower_split(Lower *w, PlanOperand ctx, PlanOperand cond, PlanOperand sums, PlanOperand yes, PlanOperand no)
{
    PlanOperand p = lower_pending(w);
    EMIT(w, SPLIT, p, ctx, cond, sums);
    EMIT(w, AWAIT_SPLIT, yes, no, p);
}

static void lower_nested(Lower *w, const FlatStmt *s)
{
    FlatVar source = s->nested.source, up = plan_up(w->flat, s->outs[0]);
    PlanOperand from = w->vars[source], n = from;
    bool host = lower_info(w, source)->kind == FLAT_HOST, array = lower_info(w, source)->type.rank > 0;
    if (up == FLAT_ROOT && array)
        EMIT(w, LENGTH, n = lower_scalar(w, SC_I64, "n"), from);
    if (up == FLAT_ROOT) {
        w->single[s->outs[0]] = n.kind == OPERAND_CONST && n.bits == 1;
        EMIT(w, NESTED_ROOT, lower_new_var(w, s->outs[0]), n);
    } else if (host) {
        EMIT(w, NESTED_REGULAR, lower_new_var(w, s->outs[0]), w->vars[up], from);
    } else {
        PlanOperand p = lower_pending(w);
        if (array)
            EMIT(w, NESTED_VIEWS, p, w->vars[up], from);
        else
            EMIT(w, NESTED_LENS, p, w->vars[up], from);
        EMIT(w, AWAIT_CTX, lower_new_var(w, s->outs[0]), p);
    }
}

static void lower_nothing(Lower *w, const FlatStmt *s)
{
    PlanOperand out = lower_new_var(w, s->outs[0]), n;
    if (s->ctx == FLAT_ROOT) {
        EMIT(w, SET, out, lower_const(lower_info(w, s->outs[0])->type.scalar, 0));
        return;
    }
    EMIT(w, CTX_N, n = lower_scalar(w, SC_I64, "n"), w->vars[s->ctx]);
    EMIT(w, NEW_COL, out, n, lower_number(emit_bytes(lower_info(w, s->outs[0])->type)));
}

static void lower_elems(Lower *w, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        FlatVar array = s->arrays.arrays[i];
        PlanOperand bytes = lower_number(emit_element_bytes(lower_info(w, array)->type));
        PlanOperand out = lower_new_var(w, s->outs[i]);
        if (lower_info(w, array)->kind == FLAT_HOST)
            EMIT(w, ELEMS_ROOT, out, w->vars[array], w->vars[s->ctx], bytes);
        else
            EMIT(w, ELEMS, out, w->vars[array], w->vars[s->ctx], bytes);
    }
}

static void lower_select(Lower *w, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        FlatVar col = s->arrays.arrays[i];
        PlanOperand from = w->vars[lower_info(w, col)->ctx];
        EMIT(w, SELECT, lower_new_var(w, s->outs[i]), w->vars[col], from, w->vars[s->ctx]);
    }
}

static void lower_views(Lower *w, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        PlanOperand col = w->vars[s->arrays.arrays[i]], out = lower_new_var(w, s->outs[i]);
        if (lower_type(w, out) == PLAN_ARR)
            EMIT(w, VIEWS_ROOT, out, w->vars[s->ctx], col);
        else
            EMIT(w, VIEWS, out, w->vars[s->ctx], col);
    }
}

static void lower_merge(Lower *w, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        PlanOperand contexts = lower_list(w, s->merge.nparts), cols = lower_list(w, s->merge.nparts);
        for (uint32_t j = 0; j < s->merge.nparts; j++) {
            contexts.list.at[j] = w->vars[s->merge.parts[j].ctx];
            cols.list.at[j] = w->vars[s->merge.parts[j].cols[i]];
        }
        EMIT(w, MERGE, lower_new_var(w, s->outs[i]), w->vars[s->ctx], contexts, cols);
    }
}

/* ---- whole arrays ---- */

static void lower_argsort(Lower *w, const FlatStmt *s)
{
    const uint32_t nkeys = s->arrays.nkeys, ncolumns = s->arrays.n - nkeys;
    PlanOperand keys = lower_vars(w, s->arrays.arrays, nkeys);
    PlanOperand columns = lower_vars(w, s->arrays.arrays + nkeys, ncolumns);
    PlanOperand positions = lower_number(s->nouts - ncolumns), outs = lower_new_vars(w, s->outs, s->nouts);
    const bool ends = s->arrays.nends > 0;
    PlanOperand first = ends ? w->vars[s->arrays.ends[0]] : lower_const(SC_I64, 0);
    PlanOperand last = ends ? w->vars[s->arrays.ends[1]] : lower_const(SC_I64, 0);
    if (s->ctx == FLAT_ROOT)
        EMIT(w, ARGSORT_ROOT, positions, keys, outs, columns, first, last);
    else
        EMIT(w, ARGSORT, positions, w->vars[s->ctx], outs, keys, columns, first, last);
}

static void lower_flatten(Lower *w, const FlatStmt *s)
{
    PlanOperand from = w->vars[s->arrays.arrays[0]], out = lower_new_var(w, s->outs[0]);
    PlanOperand bytes = lower_number(emit_element_bytes(lower_info(w, s->outs[0])->type));
    if (s->ctx == FLAT_ROOT)
        EMIT(w, FLATTEN_ROOT, out, from, bytes);
    else
        EMIT(w, FLATTEN, out, w->vars[s->ctx], from, bytes);
}

static void lower_update(Lower *w, const FlatStmt *s)
{
    PlanOperand array = w->vars[s->update.array], index = w->vars[s->update.index], value = w->vars[s->update.value];
    if (s->ctx != FLAT_ROOT) {
        PlanOperand masked = lower_number(s->update.masked);
        EMIT(w, UPDATE, lower_new_var(w, s->outs[0]), w->vars[s->ctx], array, masked, index, value);
        return;
    }
    CoreType t = lower_info(w, s->update.value)->type;
    if (t.rank == 0) {
        EMIT(w, UPDATE_ROOT, lower_new_var(w, s->outs[0]), array, index, value, lower_number(emit_bytes(t)));
        return;
    }
    PlanOperand refs = lower_refs_add(w, lower_refs_none(w), value, 0);
    EMIT(w, UPDATE_ROOT_VIEW, lower_new_var(w, s->outs[0]), array, index, value, refs);
}

/* ---- statements ---- */

typedef struct NamedPlace {
    uint32_t number, end;
    struct NamedPlace *next; /* that begins there as well */
} NamedPlace;

/* Found by where they begin in the text. */
static uint32_t place_number(Lower *w, Span span)
{
    Plan *plan = w->plan;
    const char *start = plan->program->core->session->files.at[span.file]->text + span.start;
    NamedPlace *first = ptrmap_get(w->places, start);
    for (const NamedPlace *p = first; p; p = p->next)
        if (p->end == span.end)
            return p->number;
    NamedPlace *place = arena_new(plan->arena, NamedPlace);
    *place = (NamedPlace){plan->places.n, span.end, first};
    ptrmap_put(plan->arena, w->places, start, place);
    vec_push(plan->arena, &plan->places, span);
    return place->number;
}

/* As a site. */
static PlanOperand place_operand(Lower *w, Span span)
{
    return lower_number(w->plan->program->core->sites.n + place_number(w, span));
}

/* What needs memory or calls functions says where it is. */
static void lower_at(Lower *w, const FlatStmt *s)
{
    if (s->kind == FLAT_S_HOST || s->kind == FLAT_S_IF || s->kind == FLAT_S_MANY || s->kind == FLAT_S_PARAM ||
        s->kind == FLAT_S_FEW)
        return;
    uint32_t place = place_number(w, s->span);
    if (w->here == place + 1)
        return;
    w->here = place + 1;
    EMIT(w, AT, lower_number(w->plan->program->core->sites.n + place));
}

/* A level of a recursion that cannot be complete is not begun. */
static void lower_demand(Lower *w, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        const FlatVarInfo *info = lower_info(w, s->outs[i]);
        if (info->kind != FLAT_CTX || info->least_bytes == 0)
            continue;
        lower_at(w, info->least_call);
        EMIT(w, NEED, w->vars[s->outs[i]], lower_number(info->least_bytes));
    }
}

/* Of reductions that share what they read, for MANY. */
static PlanOperand shared_size(const Lower *w, FlatVar v)
{
    return v == FLAT_NO_VAR ? lower_const(SC_I64, 0) : w->vars[v];
}

void lower_stmt(Lower *w, const FlatBlock *b, uint32_t i)
{
    const FlatStmt *s = b->stmts.at[i];
    w->span = s->span;
    lower_at(w, s);
    if (lower_lengths(w, b, i))
        return;
    switch (s->kind) {
    case FLAT_S_HOST: lower_host(w, s); break;
    case FLAT_S_ARRAY:
        if (s->body.ctx == FLAT_ROOT)
            lower_array_root(w, s);
        else
            lower_launches(w, s);
        break;
    case FLAT_S_KERNEL:
    case FLAT_S_PACK:
    case FLAT_S_REDUCE:
    case FLAT_S_SCAN:
    case FLAT_S_SCATTER:
    case FLAT_S_HIST: lower_launches(w, s); break;
    case FLAT_S_NESTED: lower_nested(w, s); break;
    case FLAT_S_SPLIT: {
        PlanOperand ctx = w->vars[s->ctx], cond = w->vars[s->split.cond], sums = lower_sums_of_split(w, b, i);
        PlanOperand yes = lower_new_var(w, s->outs[0]);
        lower_split(w, ctx, cond, sums, yes, lower_new_var(w, s->outs[1]));
        break;
    }
    case FLAT_S_MANY:
        EMIT(w, MANY, lower_new_var(w, s->outs[0]), w->vars[s->ctx], place_operand(w, s->span),
             lower_number(s->many.of), shared_size(w, s->many.cells), shared_size(w, s->many.length));
        break;
    case FLAT_S_PARAM: EMIT(w, PARAM, lower_new_var(w, s->outs[0]), lower_number(s->param.of)); break;
    case FLAT_S_FEW:
        EMIT(w, FEW, lower_new_var(w, s->outs[0]), w->vars[s->few.work], w->vars[s->few.wide],
             lower_number(s->few.launches), lower_number(s->few.on_gpu), place_operand(w, s->span));
        break;
    case FLAT_S_MEMORY:
        EMIT(w, LANE_MEMORY, lower_new_var(w, s->outs[0]), w->vars[s->ctx], lower_number(s->memory.gives),
             lower_number(s->memory.of));
        break;
    case FLAT_S_FITTED:
        EMIT(w, LANES_FITTED, lower_new_var(w, s->outs[0]), lower_vars(w, s->arrays.arrays, s->arrays.n),
             place_operand(w, s->span));
        break;
    case FLAT_S_NOTHING: lower_nothing(w, s); break;
    case FLAT_S_ELEMS: lower_elems(w, s); break;
    case FLAT_S_SELECT: lower_select(w, s); break;
    case FLAT_S_VIEWS: lower_views(w, s); break;
    case FLAT_S_MERGE: lower_merge(w, s); break;
    case FLAT_S_ARGSORT: lower_argsort(w, s); break;
    case FLAT_S_FLATTEN: lower_flatten(w, s); break;
    case FLAT_S_UPDATE: lower_update(w, s); break;
    case FLAT_S_IF: lower_if(w, s); break;
    case FLAT_S_LOOP: lower_loop(w, s); break;
    case FLAT_S_LOOP_LIFTED: lower_lifted_loop(w, s); break;
    case FLAT_S_CALL: lower_call(w, s); break;
    case FLAT_S_CALL_LIFTED: lower_call_lifted(w, s); break;
    }
    lower_totals(w, s);
    lower_demand(w, s);
}

/* ---- functions ---- */

static PlanReg *reg_array(Lower *w, uint32_t n, const PlanOperand *from)
{
    PlanReg *regs = arena_array(w->plan->arena, PlanReg, n + 1);
    for (uint32_t i = 0; i < n; i++)
        regs[i] = from[i].reg;
    return regs;
}

static void set_params(Lower *w)
{
    const FlatFn *flat = w->flat;
    PlanOperand *params = arena_array(w->plan->arena, PlanOperand, flat->nparams + 1);
    uint32_t n = 0;
    if (flat->lifted)
        params[n++] = lower_new_var(w, flat->ctx);
    for (uint32_t i = 0; i < flat->nparams; i++)
        params[n++] = lower_new_var(w, flat->params[i]);
    w->fn->nparams = n;
    w->fn->params = reg_array(w, n, params);
    w->block->regs.n = 0; /* they are declared by the function */
}

/* What a lifted function is called for shows whether its recursion gets anywhere. */
static PlanOperand lower_enter(Lower *w)
{
    const FlatFn *flat = w->flat;
    PlanOperand level = lower_reg(w, PLAN_LEVEL, core_scalar(SC_I64), NULL);
    PlanOperand name = {.kind = OPERAND_TEXT, .text = core_fn_called(flat->scope)};
    if (!flat->lifted) {
        EMIT(w, ENTER, level, name);
        return level;
    }
    PlanOperand bytes = lower_list(w, flat->nparams);
    for (uint32_t i = 0; i < flat->nparams; i++) {
        CoreType t = lower_info(w, flat->params[i])->type;
        bytes.list.at[i] = lower_number(t.rank > 0 ? emit_element_bytes(t) : 0);
    }
    EMIT(w, ENTER_LIFTED, level, name, w->vars[flat->ctx], lower_vars(w, flat->params, flat->nparams), bytes);
    return level;
}

static void lower_body(Lower *w, const PlanOperand *results)
{
    PlanOperand level = {0};
    if (w->flat->recursive)
        level = lower_enter(w);
    lower_block(w, w->flat->body);
    for (uint32_t i = 0; i < w->fn->nresults; i++)
        lower_copy(w, results[i], w->vars[w->flat->body->results[i]]);
    if (w->flat->recursive)
        EMIT(w, LEAVE, level);
}

static void lower_empty(Lower *w, PlanOperand result)
{
    PlanRegInfo info = w->fn->regs.at[result.reg];
    if (info.type == PLAN_COL)
        EMIT(w, NEW_COL, result, lower_const(SC_I64, 0), lower_number(emit_bytes(info.core)));
    else if (info.type == PLAN_ARR)
        EMIT(w, ARRAY_ROOT, result, lower_list(w, 0), lower_number(emit_element_bytes(info.core)));
    else
        EMIT(w, SET, result, lower_const(info.core.scalar, 0));
}

/* Without instances, or after a failure, the results are empty, and a recursion goes no deeper. */
static void lower_guarded_body(Lower *w, const PlanOperand *results)
{
    PlanOperand some = lower_scalar(w, SC_BOOL, "some"), n = {0};
    if (w->flat->lifted) {
        EMIT(w, CTX_N, n = lower_scalar(w, SC_I64, "n"), w->vars[w->flat->ctx]);
        lower_prim(w, some, PRIM_NE, n, lower_const(SC_I64, 0));
    }
    if (w->flat->recursive && w->flat->lifted)
        lower_prim(w, some, PRIM_AND, some, lower_running(w));
    else if (w->flat->recursive)
        EMIT(w, RUNNING, some);
    PlanInstr *in = EMIT(w, IF, some);
    PlanBlock *outer = lower_begin(w);
    in->blocks[0] = w->block;
    lower_body(w, results);
    lower_end(w, outer);
    lower_begin(w);
    in->blocks[1] = w->block;
    for (uint32_t i = 0; i < w->fn->nresults; i++)
        lower_empty(w, results[i]);
    lower_end(w, outer);
}

static PlanOperand result_like(Lower *w, FlatVar v)
{
    PlanOperand kept = w->vars[v], out = lower_new_var(w, v);
    w->vars[v] = kept;
    return out;
}

static void lower_fn(Lower *w)
{
    const FlatFn *flat = w->flat;
    uint32_t n = flat->body->nresults;
    PlanOperand *results = arena_array(w->plan->arena, PlanOperand, n + 1);
    w->vars = arena_array(w->plan->arena, PlanOperand, flat->vars.n + 1);
    w->single = arena_array(w->plan->arena, bool, flat->vars.n + 1);
    w->positions = lower_positions(w->plan->arena, flat);
    lower_find_totals(w);
    w->cores = arena_array(w->plan->arena, PlanOperand, flat->scope->vars.n + 1);
    lower_begin(w);
    w->fn->body = w->block;
    set_params(w);
    for (uint32_t i = 0; i < n; i++)
        results[i] = result_like(w, flat->body->results[i]);
    w->fn->nresults = n;
    w->fn->results = reg_array(w, n, results);
    if (flat->lifted || flat->recursive)
        lower_guarded_body(w, results);
    else
        lower_body(w, results);
}

/* All but maps could need more outputs than a kernel may have. */
static bool check_limits(const Plan *plan)
{
    bool ok = true;
    for (uint32_t i = 0; i < plan->kernels.n; i++) {
        const PlanKernel *k = plan->kernels.at[i];
        if (k->nouts <= PLAN_MAX_OUTS)
            continue;
        diag_error(plan->program->core->session, k->stmt->span, DIAG_VALUE_PARTS,
                   "this %s works on values of %u parts; at most %d are supported", plan_kind_name(k->kind), k->nouts,
                   PLAN_MAX_OUTS);
        ok = false;
    }
    return ok;
}

Plan *plan_lower(const FlatProgram *p)
{
    Plan *plan = arena_new(p->arena, Plan);
    plan->arena = p->arena;
    plan->program = p;
    plan->around = arena_array(p->arena, PlanAround, p->core->session->files.n);
    for (uint32_t i = 0; i < p->fns.n; i++) {
        PlanFn *fn = arena_new(p->arena, PlanFn);
        fn->plan = plan;
        fn->name = p->fns.at[i]->name;
        fn->index = i;
        vec_push(p->arena, &plan->fns, fn);
    }
    PtrMap places = {0};
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Lower w = {.plan = plan, .places = &places, .fn = plan->fns.at[i], .flat = p->fns.at[i]};
        lower_fn(&w);
    }
    return check_limits(plan) ? plan : NULL;
}
