#include "plan/access.h"

#include "plan/emit_text.h"

enum { MOST_ITEMS = 256 }; /* of a body; what is looked for is looked for in all */

typedef struct Finder {
    const Plan *plan;
    const PlanKernel *k;
    Access *access;
    AccessItem *items;
    FlatVar segments, row, batch; /* contexts: of the segments, above, and above that; or FLAT_ROOT */
} Finder;

/* ---- dimensions ---- */
static FlatVar nested_up(const FlatFn *fn, FlatVar ctx)
{
    return ctx != FLAT_ROOT && fn->vars.at[ctx].ctx_kind == CTX_NESTED ? plan_up(fn, ctx) : FLAT_ROOT;
}

/* What the index into the context varies with. Above contexts that are not nested everything counts as one. */
static uint8_t index_dims(const Finder *f, FlatVar ctx)
{
    const uint8_t above = f->row == FLAT_ROOT ? ACCESS_J : f->batch == FLAT_ROOT ? ACCESS_I : ACCESS_B;
    const uint8_t row = f->row == FLAT_ROOT ? ACCESS_J : f->batch == FLAT_ROOT ? ACCESS_I : ACCESS_I | ACCESS_B;
    if (ctx == f->k->stmt->body.ctx)
        return ACCESS_K | ACCESS_J | row;
    if (ctx == f->segments)
        return ACCESS_J | row;
    return ctx == f->row ? row : above;
}

static uint8_t position_dims(const Finder *f, FlatVar nested)
{
    if (nested == f->k->stmt->body.ctx)
        return ACCESS_K;
    if (nested == f->segments)
        return ACCESS_J;
    return nested == f->row ? ACCESS_I : index_dims(f, nested);
}

static uint8_t input_dims(const Finder *f, const FlatInput *in)
{
    switch (in->kind) {
    case IN_HOST: return 0;
    case IN_COL: return index_dims(f, flat_ctx(f->k->fn, in->var));
    case IN_ELEM: return index_dims(f, in->ctx);
    case IN_POS: return position_dims(f, in->ctx);
    }
    return 0;
}

static bool binds(const AccessItem *item, CoreVar v)
{
    return item->input ? item->input->as == v : core_stmt_binds(item->stmt, v);
}

/* The item that binds it, or NULL: one bound inside of a statement. */
static AccessItem *find_item(const Finder *f, CoreVar v)
{
    for (uint32_t i = 0; i < f->access->nitems; i++)
        if (binds(&f->items[i], v))
            return &f->items[i];
    return NULL;
}

typedef struct Reader {
    const Finder *finder;
    void (*seen)(struct Reader *r, AccessItem *read);
    AccessItem *item;
    AccessPartKind part;
} Reader;

static void read_atom(void *ctx, CoreAtom *a)
{
    Reader *r = ctx;
    AccessItem *read = a->is_const ? NULL : find_item(r->finder, a->var);
    if (read && read != r->item)
        r->seen(r, read);
}

static void each_read(Reader *r)
{
    if (!r->item->input)
        core_stmt_all_atoms(r->item->stmt, read_atom, r);
}

static void join_dims(Reader *r, AccessItem *read)
{
    r->item->dims |= read->dims;
    r->item->cost += read->dims & ACCESS_K ? read->cost : 0;
}

enum { LOAD_COST = CORE_MODERATE + 1 };

/* As prims.def counts; what has blocks is worth sharing whatever is inside. */
static uint32_t stmt_cost(const Finder *f, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_PRIM: return core_prim_cost(s->prim.op, core_atom_type(f->k->fn->scope, s->prim.args[0]).scalar);
    case CORE_INDEX:
    case CORE_IF:
    case CORE_LANE:
    case CORE_LOOP: return LOAD_COST;
    default: return 0;
    }
}

static void find_dims(Finder *f)
{
    for (uint32_t i = 0; i < f->access->nitems; i++) {
        AccessItem *item = &f->items[i];
        if (item->input) {
            item->dims = input_dims(f, item->input);
            item->cost = item->dims & ACCESS_K && item->input->kind != IN_POS ? LOAD_COST : 0;
            item->position = item->input->kind == IN_POS && item->dims == ACCESS_K;
            continue;
        }
        Reader r = {f, join_dims, item, PART_BODY};
        each_read(&r);
        item->cost += item->dims & ACCESS_K ? stmt_cost(f, item->stmt) : 0;
        item->cost = item->cost > LOAD_COST ? LOAD_COST : item->cost;
    }
}

/* ---- the shape ---- */
static bool is_row_k(uint8_t dims) { return dims & ACCESS_K && dims & (ACCESS_I | ACCESS_B) && !(dims & ACCESS_J); }
static bool is_column_k(uint8_t dims) { return dims & ACCESS_K && dims & ACCESS_J && !(dims & ACCESS_I); }

static bool is_worth_sharing(const AccessItem *item) { return item->cost > CORE_CHEAP; }

/* What does not matter in the shape is joined: FLAT knows instances only, ROWS shares nothing by columns. */
static void choose_shape(Finder *f)
{
    bool rows = false, columns = false;
    for (uint32_t i = 0; i < f->access->nitems; i++) {
        const AccessItem *item = &f->items[i];
        rows |= is_worth_sharing(item) && is_row_k(item->dims);
        columns |= is_worth_sharing(item) && is_column_k(item->dims) && f->row != FLAT_ROOT;
    }
    f->access->shape = columns ? ACCESS_BLOCKS : rows ? ACCESS_ROWS : ACCESS_FLAT;
    for (uint32_t i = 0; i < f->access->nitems; i++) {
        AccessItem *item = &f->items[i];
        if (f->access->shape == ACCESS_FLAT && item->dims & (ACCESS_I | ACCESS_B))
            item->dims = (uint8_t)((item->dims & ACCESS_K) | ACCESS_J);
        f->access->batched |= columns && (item->dims & (ACCESS_J | ACCESS_I | ACCESS_B)) == (ACCESS_J | ACCESS_B);
    }
}

/* ---- parts ---- */
static AccessPartKind part_of(const Finder *f, const AccessItem *item)
{
    const uint8_t dims = item->dims;
    if (dims & ACCESS_K) {
        if (dims == ACCESS_K)
            return PART_STREAM;
        return is_row_k(dims)                                           ? PART_ROW_K
               : is_column_k(dims) && f->access->shape == ACCESS_BLOCKS ? PART_COLUMN_K
                                                                        : PART_BODY;
    }
    if (!(dims & ACCESS_J))
        return dims ? PART_ROW : PART_BODY; /* what does not vary at all is evaluated wherever it is needed */
    return dims & ACCESS_I ? PART_CELL : PART_COLUMN;
}

/* Does one part have the other's fields as a parameter? */
static bool may_be_given(AccessPartKind to, AccessPartKind from)
{
    return to == PART_BODY || (to == PART_ROW_K && from == PART_ROW) || (to == PART_COLUMN_K && from == PART_COLUMN);
}

static bool is_before(AccessPartKind part) { return part <= PART_CELL; } /* not varying with k */

static void need_items(Finder *f, AccessPartKind part, AccessItem *item);

static bool has_field(const AccessPart *p, CoreVar v)
{
    for (uint32_t i = 0; i < p->fields.n; i++)
        if (p->fields.at[i] == v)
            return true;
    return false;
}

static bool is_given(const AccessPart *p, CoreVar v)
{
    for (uint32_t i = 0; i < p->given.n; i++)
        if (p->given.at[i].var == v)
            return true;
    return false;
}

/* The part needs this variable of the item. */
static void need(Finder *f, AccessPartKind part, AccessItem *item, CoreVar v)
{
    const AccessPartKind home = part_of(f, item);
    AccessPart *to = &f->access->parts[part], *from = &f->access->parts[home];
    if (home == part || item->position || !may_be_given(part, home) || home == PART_BODY ||
        (!is_before(home) && !is_worth_sharing(item))) {
        need_items(f, part, item);
        return;
    }
    if (!is_given(to, v))
        vec_push(f->plan->arena, &to->given, ((AccessGiven){home, v}));
    if (!has_field(from, v))
        vec_push(f->plan->arena, &from->fields, v);
    need_items(f, home, item);
}

typedef struct Needs {
    Finder *f;
    AccessPartKind part;
} Needs;

static void need_atom(void *ctx, CoreAtom *a)
{
    Needs *n = ctx;
    AccessItem *item = a->is_const ? NULL : find_item(n->f, a->var);
    if (item)
        need(n->f, n->part, item, a->var);
}

/* The part evaluates the item, and needs what that reads. */
static void need_items(Finder *f, AccessPartKind part, AccessItem *item)
{
    bool *there = &f->access->parts[part].items[item - f->items];
    if (*there)
        return;
    *there = true;
    if (item->input)
        return;
    Needs n = {f, part};
    core_stmt_all_atoms(item->stmt, need_atom, &n);
}

/* What may fail is evaluated, whether needed or not: in its own part, if that is ever evaluated. */
static void need_effects(Finder *f)
{
    for (uint32_t i = 0; i < f->access->nitems; i++) {
        AccessItem *item = &f->items[i];
        if (item->input || !core_stmt_fallible(f->plan->program->core, f->k->fn->scope, item->stmt))
            continue;
        const AccessPartKind home = part_of(f, item);
        need_items(f, f->access->parts[home].fields.n ? home : PART_BODY, item);
    }
}

static void find_column_order(Finder *f)
{
    const AccessPart *p = &f->access->parts[PART_COLUMN_K];
    for (uint32_t i = 0; i < f->access->nitems; i++) {
        const CoreStmt *s = p->items[i] ? f->items[i].stmt : NULL;
        if (!s || s->kind != CORE_INDEX || s->index.index.is_const || f->items[i].dims & ACCESS_I)
            continue;
        const AccessItem *index = find_item(f, s->index.index.var);
        f->access->column_by_k = index && index->dims & ACCESS_K; /* of the last one: an element, behind its row */
    }
}

/* Elements of the segments themselves, or of rows that are found by the instance. */
static bool is_own_row(const Finder *f, const AccessItem *item)
{
    if ((item->dims & (ACCESS_K | ACCESS_J)) != (ACCESS_K | ACCESS_J))
        return false;
    if (item->input)
        return item->input->kind != IN_POS;
    const CoreStmt *s = item->stmt;
    const AccessItem *array = s->kind == CORE_INDEX ? find_item(f, s->index.array.var) : NULL;
    const AccessItem *index = array && !s->index.index.is_const ? find_item(f, s->index.index.var) : NULL;
    return index && array->dims & ACCESS_J && !(array->dims & ACCESS_K) && index->dims & ACCESS_K;
}

static void find_own_rows(Finder *f)
{
    const AccessPart *body = &f->access->parts[PART_BODY];
    for (uint32_t i = 0; i < f->access->nitems; i++)
        f->access->own_rows |= body->items[i] && is_own_row(f, &f->items[i]);
}

static void find_parts(Finder *f)
{
    const CoreBlock *b = f->k->stmt->body.block;
    for (int part = 0; part < ACCESS_PARTS; part++)
        f->access->parts[part].items = arena_array(f->plan->arena, bool, f->access->nitems + 1);
    Needs n = {f, PART_BODY};
    for (uint32_t i = 0; i < b->nresults; i++)
        need_atom(&n, &b->results[i]);
    need_effects(f);
    find_column_order(f);
    find_own_rows(f);
}

static void collect_items(Finder *f)
{
    const FlatBody *body = &f->k->stmt->body;
    uint32_t n = 0;
    for (uint32_t i = 0; i < body->inputs.n; i++)
        f->items[n++].input = &body->inputs.at[i];
    for (uint32_t i = 0; i < body->block->stmts.n; i++)
        f->items[n++].stmt = body->block->stmts.at[i];
    f->access->nitems = n;
}

const Access *plan_access(const Plan *plan, const PlanKernel *k)
{
    const FlatBody *body = &k->stmt->body;
    const FlatVar segments = k->kind == PLAN_REDUCE ? nested_up(k->fn, body->ctx) : FLAT_ROOT;
    const uint32_t n = body->inputs.n + body->block->stmts.n;
    if (segments == FLAT_ROOT || n > MOST_ITEMS || !plan_has_op(k))
        return NULL;
    Access *access = arena_new(plan->arena, Access);
    const FlatVar row = nested_up(k->fn, segments);
    Finder f = {plan, k, access, arena_array(plan->arena, AccessItem, n + 1), segments, row, nested_up(k->fn, row)};
    access->items = f.items;
    collect_items(&f);
    find_dims(&f);
    choose_shape(&f);
    find_parts(&f);
    const AccessPart *p = access->parts;
    const bool shared = p[PART_STREAM].fields.n || p[PART_ROW_K].fields.n || p[PART_COLUMN_K].fields.n;
    return shared ? access : NULL;
}

uint32_t plan_access_bytes(const PlanKernel *k, const AccessPart *part)
{
    uint32_t at = 0, widest = 1;
    for (uint32_t i = 0; i < part->fields.n; i++) {
        const uint32_t bytes = emit_bytes(core_var_type(k->fn->scope, part->fields.at[i]));
        widest = bytes > widest ? bytes : widest;
        at = (at + bytes - 1) / bytes * bytes + bytes;
    }
    return (at + widest - 1) / widest * widest;
}
