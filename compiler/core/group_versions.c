/* The two versions of groups that are only reduced: as a histogram, and by sorting, as the program has them. */
#include "core/group_bins_internal.h"
#include "params.h"

/* ---- rewriting: as a histogram ---- */

static const CoreType i64 = {SC_I64, 0};

static CoreAtom converted(CoreBuilder *b, Scalar to, CoreAtom x)
{
    return core_atom_type(b->fn, x).scalar == to ? x : build_prim(b, PRIM_CONVERT, to, &x);
}

static CoreAtom keys_of(const Grouping *g) { return g->sort->argsort.keys[0]; }

/* Over the elements of these sequences; what stands for one of each. */
static CoreSoac over(CoreBuilder *b, CoreAtom domain, const CoreAtom *inputs, uint32_t n, CoreAtom *elements)
{
    CoreSoac soac = {.domain = domain, .index = CORE_NO_VAR, .ninputs = n};
    soac.inputs = build_atoms_copy(b, inputs, n + 1, n);
    soac.elements = arena_array(b->p->arena, CoreVar, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        elements[i] = build_var(b, core_element(core_atom_type(b->fn, inputs[i])), NULL);
        soac.elements[i] = elements[i].var;
    }
    return soac;
}

static CoreAtom extreme_key(CoreBuilder *b, const Grouping *g, CorePrim op)
{
    CoreAtom key, keys = keys_of(g);
    CoreSoac soac = over(b, g->n, &keys, 1, &key);
    CoreBlock *outer = build_begin(b);
    soac.body = build_end(b, outer, &key, 1);
    soac.commutative = true;
    return converted(
        b, SC_U64, build_fold(b, CORE_REDUCE, soac, op, group_identity(op, core_atom_type(b->fn, key).scalar), false));
}

/* The keys' least one and how many bins there are, less one; as u64, where differences are right for all types. */
typedef struct Range {
    CoreAtom low, span, size;
} Range;

/* Is it small for so many elements? Of no elements it is huge. */
static CoreAtom is_dense(CoreBuilder *b, const Grouping *g, Range *range)
{
    range->low = extreme_key(b, g, PRIM_MIN);
    range->span = build_prim2(b, PRIM_SUB, extreme_key(b, g, PRIM_MAX), range->low);
    CoreAtom most =
        build_prim2(b, PRIM_MUL, g->n, build_param(b, g->floats ? PARAM_GROUP_BINS_FLOATS : PARAM_GROUP_BINS));
    most = build_prim2(b, PRIM_DIV, most, core_i64(100));
    return build_prim2(b, PRIM_LT, range->span, converted(b, SC_U64, most));
}

/* Of n elements: value(s) and, first, the keys. r: or NULL, they are only counted, or noted. */
static CoreAtom histogram(CoreBuilder *b, const Grouping *g, const Range *range, const Want *r)
{
    const uint32_t n = r ? r->stmt->soac.ninputs : 0;
    CoreAtom *inputs = arena_array(b->p->arena, CoreAtom, n + 1), *x = arena_array(b->p->arena, CoreAtom, n + 1);
    inputs[0] = keys_of(g);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t column = 0;
        (void)group_is_slice(g, r->stmt->soac.inputs[i], &column);
        inputs[i + 1] = g->sort->argsort.columns[column];
    }
    CoreSoac soac = over(b, g->n, inputs, n + 1, x);
    CoreCopyMap *copies = &g->pass->copies;
    CoreAtom results[2];
    core_copy_map_note(copies, b->fn, g->pass->scratch);
    CoreBlock *outer = build_begin(b);
    results[0] = converted(b, SC_I64, build_prim2(b, PRIM_SUB, converted(b, SC_U64, x[0]), range->low));
    results[1] = core_const(SC_U32, 1);
    for (uint32_t i = 0; i < n; i++)
        copies->at[r->stmt->soac.elements[i]] = x[i + 1];
    if (r) {
        results[1] = build_copy(b, b->fn, r->stmt->soac.body, copies->at)[r->which];
        core_copy_map_forget(copies, b->fn, r->stmt);
    }
    soac.body = build_end(b, outer, results, 2);
    const CoreType element = core_atom_type(b->fn, results[1]), type = core_seq(element);
    const CorePrim op = r ? r->op : g->counts ? PRIM_ADD : PRIM_MAX;
    const CoreAtom neutral = r ? r->neutral : core_const(SC_U32, 0);
    CoreStmt *s = build_stmt(b, CORE_HIST, 1, &type);
    s->soac = soac;
    s->soac.size = range->size;
    s->soac.neutral = build_atoms_copy(b, &neutral, 1, 1);
    s->soac.op = build_operator(b, op, element);
    build_emit(b, s);
    return build_atom(b, s->vars[0]);
}

/* Of the bins that have elements their keys, their lengths if these are wanted, and the reductions that are wanted. */
static CoreAtom *kept_bins(CoreBuilder *b, const Grouping *g, const Range *range)
{
    CoreAtom *bins = arena_array(b->p->arena, CoreAtom, g->wants.n + 1), zero = core_const(SC_U32, 0);
    CoreAtom *x = arena_array(b->p->arena, CoreAtom, g->wants.n + 1);
    CoreAtom *kept = arena_array(b->p->arena, CoreAtom, g->wants.n + 2);
    uint32_t n = 0, k = 0;
    bins[n++] = histogram(b, g, range, NULL);
    for (uint32_t i = 0; i < g->wants.n; i++)
        if (g->wants.at[i].kind == WANT_REDUCTION)
            bins[n++] = histogram(b, g, range, &g->wants.at[i]);
    CoreSoac soac = over(b, range->size, bins, n, x);
    CoreAtom at = build_var(b, i64, "bin");
    soac.index = at.var;
    CoreBlock *outer = build_begin(b);
    CoreAtom some = build_prim2(b, PRIM_LT, zero, x[0]);
    soac.guard = build_end(b, outer, &some, 1);
    outer = build_begin(b);
    kept[k++] = converted(b, core_atom_type(b->fn, keys_of(g)).scalar,
                          build_prim2(b, PRIM_ADD, range->low, converted(b, SC_U64, at)));
    if (g->counts)
        kept[k++] = converted(b, SC_I64, x[0]);
    for (uint32_t i = 1; i < n; i++)
        kept[k++] = x[i];
    soac.body = build_end(b, outer, kept, k);
    return build_map(b, soac);
}

/* What both versions give: how many groups; what the groups' map gives of them besides, where it is another statement;
 * what the consumer wants. */
static CoreAtom *results_for(CoreBuilder *b, const Grouping *g)
{
    return arena_array(b->p->arena, CoreAtom, g->groups->nvars + g->wants.n + 2);
}

static CoreBlock *as_histogram(CoreBuilder *b, const Grouping *g, Range *range)
{
    CoreBlock *outer = build_begin(b);
    CoreAtom *results = results_for(b, g);
    range->size = build_prim2(b, PRIM_ADD, converted(b, SC_I64, range->span), core_i64(1));
    const CoreAtom *kept = kept_bins(b, g, range), *reduced = kept + 1 + g->counts;
    uint32_t n = 0, column;
    results[n++] = build_length(b, kept[0]);
    for (uint32_t i = 0; i < g->groups->nvars && g->consumer != g->groups; i++) {
        CoreAtom a = g->groups->soac.body->results[i];
        if (!group_is_slice(g, a, &column))
            results[n++] = kept[group_is_length(g, a)];
    }
    for (uint32_t i = 0; i < g->wants.n; i++)
        results[n++] = g->wants.at[i].kind == WANT_REDUCTION ? *reduced++ : kept[g->wants.at[i].kind == WANT_LENGTH];
    return build_end(b, outer, results, n);
}

/* ---- rewriting: by sorting, as before ---- */

/* What the consumer wants, of each group: the parts, for the elements that they read. */
static CoreStmt *wanted_of_groups(CoreBuilder *b, const Grouping *g)
{
    const CoreSoac *c = &g->consumer->soac;
    CoreSoac soac = {.domain = c->domain, .index = g->consumer == g->groups ? g->number : CORE_NO_VAR};
    uint32_t column;
    soac.inputs = arena_array(b->p->arena, CoreAtom, c->ninputs + 1);
    soac.elements = arena_array(b->p->arena, CoreVar, c->ninputs + 1);
    for (uint32_t i = 0; i < c->ninputs; i++)
        if (group_is_slice(g, group_var(g->pass, c->elements[i]), &column) || c->elements[i] == g->start) {
            soac.inputs[soac.ninputs] = c->inputs[i];
            soac.elements[soac.ninputs++] = c->elements[i];
        }
    soac.body = core_new_block(b->p);
    for (uint32_t i = 0; i < g->parts.n; i++)
        core_push(b->p, soac.body, g->parts.at[i].stmt);
    CoreAtom *results = results_for(b, g);
    CoreType *types = arena_array(b->p->arena, CoreType, g->wants.n + 1);
    for (uint32_t i = 0; i < g->wants.n; i++) {
        results[i] = group_var(g->pass, g->wants.at[i].element);
        types[i] = core_seq(core_atom_type(b->fn, results[i]));
    }
    build_results(b, soac.body, results, g->wants.n);
    CoreStmt *s = build_stmt(b, CORE_MAP, g->wants.n, types);
    s->soac = soac;
    return s;
}

static CoreBlock *by_sorting(CoreBuilder *b, const Grouping *g)
{
    CoreBlock *code = core_new_block(b->p);
    CoreStmt *wanted = wanted_of_groups(b, g);
    CoreAtom *results = results_for(b, g);
    uint32_t n = 0, column;
    core_push(b->p, code, g->sort);
    core_push(b->p, code, g->starts);
    core_push(b->p, code, g->length);
    if (g->consumer != g->groups)
        core_push(b->p, code, g->groups);
    core_push(b->p, code, wanted);
    results[n++] = build_atom(b, g->length->vars[0]);
    for (uint32_t i = 0; i < g->groups->nvars && g->consumer != g->groups; i++)
        if (!group_is_slice(g, g->groups->soac.body->results[i], &column))
            results[n++] = build_atom(b, g->groups->vars[i]);
    for (uint32_t i = 0; i < g->wants.n; i++)
        results[n++] = build_atom(b, wanted->vars[i]);
    build_results(b, code, results, n);
    return core_copy_within(b->p, b->fn, code, g->pass->scratch, &g->pass->copies);
}

/* ---- rewriting: what consumes them ---- */

/* The variables that the versions bind: the old ones, and for what is wanted new ones, which the consumer goes over
 * instead of the groups. */
static CoreVar *bind_versions(CoreBuilder *b, Grouping *g, uint32_t *n)
{
    CoreSoac *c = &g->consumer->soac;
    CoreVar *vars = arena_array(b->p->arena, CoreVar, g->groups->nvars + g->wants.n + 2);
    CoreAtom *inputs = arena_array(b->p->arena, CoreAtom, c->ninputs + g->wants.n + 1);
    CoreVar *elements = arena_array(b->p->arena, CoreVar, c->ninputs + g->wants.n + 1);
    uint32_t nvars = 0, ninputs = 0, column;
    vars[nvars++] = g->length->vars[0];
    for (uint32_t i = 0; i < g->groups->nvars && g->consumer != g->groups; i++)
        if (!group_is_slice(g, g->groups->soac.body->results[i], &column))
            vars[nvars++] = g->groups->vars[i];
    for (uint32_t i = 0; i < c->ninputs; i++)
        if (!group_is_slice(g, group_var(g->pass, c->elements[i]), &column) && c->elements[i] != g->start) {
            inputs[ninputs] = c->inputs[i];
            elements[ninputs++] = c->elements[i];
        }
    for (uint32_t i = 0; i < g->wants.n; i++) {
        elements[ninputs] = g->wants.at[i].element;
        inputs[ninputs] = build_var(b, core_seq(core_var_type(b->fn, elements[ninputs])), NULL);
        vars[nvars++] = inputs[ninputs++].var;
    }
    c->inputs = inputs;
    c->elements = elements;
    c->ninputs = ninputs;
    *n = nvars;
    return vars;
}

static bool goes(const Grouping *g, const CoreStmt *s)
{
    for (uint32_t k = 0; k < g->parts.n; k++)
        if (g->parts.at[k].stmt == s)
            return !g->parts.at[k].stays;
    return false;
}

static void drop_parts(const Grouping *g, CoreBlock *block)
{
    uint32_t left = 0;
    for (uint32_t i = 0; block && i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        if (group_asks_whether_empty(g, s)) {
            s->kind = CORE_ATOM;
            s->atom = core_const(SC_BOOL, 1);
        }
        if (!goes(g, s))
            block->stmts.at[left++] = s;
    }
    if (block)
        block->stmts.n = left;
}

/* To the end of `out`, where the consumer is next. */
void group_emit_versions(Grouping *g, CoreBlock *out)
{
    CoreBuilder b = {.p = g->pass->p, .fn = g->pass->fn, .out = out, .span = g->sort->span};
    Range range;
    uint32_t n;
    CoreAtom dense = is_dense(&b, g, &range);
    CoreBlock *histogram_b = as_histogram(&b, g, &range), *sort_b = by_sorting(&b, g);
    drop_parts(g, g->consumer->soac.guard);
    drop_parts(g, g->consumer->soac.body);
    const CoreVar *vars = bind_versions(&b, g, &n);
    CoreStmt *versions = build_stmt_into(&b, CORE_IF, n, vars);
    versions->if_.cond = dense;
    versions->if_.then_b = histogram_b;
    versions->if_.else_b = sort_b;
    vec_push(b.p->arena, &g->pass->versions, versions);
    build_emit(&b, versions);
}
