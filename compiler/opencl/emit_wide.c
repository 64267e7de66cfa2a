#include "opencl/emit_wide.h"

#include "opencl/emit_vector_internal.h"
#include "plan/emit_text.h"
#include "support/arena.h"

/* ---- which operations ---- */

/* An operation's vectors: of its elements, of what its body and operator bind. */
typedef struct Wide {
    VectorEmitter v;
    Arena *arena;
    SpreadFacts facts;
} Wide;

static void bind_varying(Wide *w, CoreVar x)
{
    *spread_var(&w->v.table, x) = (SpreadVar){.spread = SPREAD_VARYING};
    w->facts.wide |= scalar_bytes(core_var_type(w->v.e.fn, x).scalar) == 8;
}

static void note_values(Wide *w, const CoreAtom *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        spread_as_vector(&w->v.table, values[i], &w->facts);
        w->facts.wide |= scalar_bytes(core_atom_type(w->v.e.fn, values[i]).scalar) == 8;
    }
}

static void note_block(Wide *w, const CoreBlock *b)
{
    if (!w->facts.refused)
        spread_block(w->v.e.fn, b, &w->v.table, &w->facts);
}

/* What the operation's variables are in vectors, from what stands in front of it, which all have in common. */
static Wide wide_open(const ScalarEmitter *e, const CoreStmt *s)
{
    Wide w = {.v = {.e = *e}, .arena = arena_create()};
    const CoreSoac *soac = &s->soac;
    const CoreLambda *op = core_stmt_operator(s);
    w.v.e.lane = NULL; /* arrays of one lane lie as others do */
    w.v.e.spends = w.v.e.declared = false;
    w.v.table = (SpreadTable){.vars = paged_create(w.arena, e->fn->vars.n, sizeof(SpreadVar)), .inside = true};
    spread_var(&w.v.table, soac->index)->spread = SPREAD_NEAR;
    for (uint32_t i = 0; i < soac->ninputs; i++)
        bind_varying(&w, soac->elements[i]);
    note_block(&w, soac->body);
    w.facts.refused |= op && scalar_facts(e->fn, NULL, op->body).fallible;
    for (uint32_t i = 0; op && i < op->nparams; i++)
        bind_varying(&w, op->params[i]);
    if (op)
        note_block(&w, op->body);
    if (w.facts.refused)
        return w;
    note_values(&w, soac->body->results, soac->body->nresults);
    if (op)
        note_values(&w, op->body->results, op->body->nresults);
    w.facts.refused = s->kind == CORE_SCATTER && spread_of(&w.v.table, soac->body->results[0]) == SPREAD_UNIFORM;
    return w;
}

static void wide_close(Wide *w) { arena_destroy(w->arena); }

static bool is_worth_it(const Wide *w) { return !w->facts.refused && w->facts.vectors >= w->facts.lanes; }

typedef struct Finder {
    const CoreFn *fn;
    bool memory;     /* in a lane that has some */
    bool any, eight; /* of eight bytes */
} Finder;

static void look_at(Finder *f, const CoreStmt *s)
{
    if (!f->memory || !lane_goes_wide(f->fn, s))
        return;
    const ScalarEmitter e = {.fn = f->fn};
    Wide w = wide_open(&e, s);
    const bool pays = is_worth_it(&w);
    f->any |= pays;
    f->eight |= pays && w.facts.wide;
    wide_close(&w);
}

static void find_wide(void *ctx, CoreBlock *b)
{
    Finder *f = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const bool outer = f->memory;
        look_at(f, s);
        f->memory |= s->kind == CORE_LANE && !s->lane.memory.is_const;
        core_stmt_blocks(s, find_wide, f);
        f->memory = outer;
    }
}

uint32_t emit_wide_lanes(const CoreFn *fn, const CoreBlock *b)
{
    Finder f = {.fn = fn};
    find_wide(&f, (CoreBlock *)b);
    return !f.any ? 0 : f.eight ? 8 : 16;
}

bool emit_goes_wide(const ScalarEmitter *e, const CoreStmt *s)
{
    if (!e->wide || !e->lane || !e->lane->strip || !lane_goes_wide(e->fn, s))
        return false;
    Wide w = wide_open(e, s);
    const bool goes = is_worth_it(&w);
    wide_close(&w);
    return goes;
}

/* ---- vectors ---- */

static void combined_so_far(const ScalarEmitter *e, CoreVar x)
{
    strbuf_add(e->out, "wide_");
    emit_var((ScalarEmitter *)e, x);
}

/* "dp_f64_w wide_x7 = dp_wide_f64(0.0);" */
void emit_wide_begin(ScalarEmitter *e, const CoreStmt *s)
{
    for (uint32_t i = 0; s->kind == CORE_REDUCE && i < s->nvars; i++) {
        const CoreVar x = s->soac.op.params[i];
        const char *type = scalar_name(core_var_type(e->fn, x).scalar);
        emit_indent(e);
        strbuf_printf(e->out, "dp_%s_w ", type);
        combined_so_far(e, x);
        strbuf_printf(e->out, " = dp_wide_%s(", type);
        emit_atom(e, s->soac.neutral[i]);
        strbuf_add(e->out, ");\n");
    }
}

static uint32_t bytes_of(const VectorEmitter *v, CoreAtom array)
{
    return emit_bytes(core_element(core_atom_type(v->e.fn, array)));
}

/* ", DP_ADDR(xs) + (ulong)k * 8" */
static void add_place(VectorEmitter *v, CoreAtom array, CoreAtom at)
{
    strbuf_add(v->e.out, ", DP_ADDR(");
    emit_atom(&v->e, array);
    strbuf_add(v->e.out, ") + (ulong)");
    emit_atom(&v->e, at);
    strbuf_printf(v->e.out, " * %u", bytes_of(v, array));
}

static CoreAtom position_of(const CoreSoac *soac) { return core_var_atom(soac->index, (CoreType){SC_I64, 0}); }

static void load_elements(VectorEmitter *v, const CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        emit_vector_bind(v, soac->elements[i]);
        strbuf_printf(v->e.out, "dp_load_%s_w(heap", vector_type_name(v, soac->elements[i]));
        add_place(v, soac->inputs[i], position_of(soac));
        strbuf_add(v->e.out, ");\n");
    }
}

static CoreAtom made(const VectorEmitter *v, const CoreStmt *s, uint32_t i)
{
    return core_var_atom(s->vars[i], core_var_type(v->e.fn, s->vars[i]));
}

/* At neighbouring places. */
static void store_near(VectorEmitter *v, CoreAtom array, CoreAtom at, CoreAtom value)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "dp_store_%s_w(heap", scalar_name(core_atom_type(v->e.fn, value).scalar));
    add_place(v, array, at);
    strbuf_add(v->e.out, ", ");
    emit_vector_operand(v, value);
    strbuf_add(v->e.out, ");\n");
}

/* Anywhere, or nowhere. */
static void store_apart(VectorEmitter *v, CoreAtom array, CoreAtom at, CoreAtom value)
{
    const CoreType element = core_element(core_atom_type(v->e.fn, array));
    emit_line(&v->e, "{");
    v->e.depth++;
    emit_indent(&v->e);
    strbuf_add(v->e.out, "const dp_i64_w dp_places = ");
    emit_vector_operand(v, at);
    strbuf_add(v->e.out, ";\n");
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "const dp_%s_w dp_values = ", scalar_name(element.scalar));
    emit_vector_operand(v, value);
    strbuf_add(v->e.out, ";\n");
    emit_indent(&v->e);
    strbuf_add(v->e.out, "DP_EACH_LANE(l) if ((dp_u64)dp_places[l] < DP_LEN(");
    emit_atom(&v->e, array);
    strbuf_printf(v->e.out, ")) *DP_SHARE_AT(%s_any, DP_ADDR(", emit_value_type(element));
    emit_atom(&v->e, array);
    strbuf_printf(v->e.out, ") + (ulong)dp_places[l] * %u) = dp_lane_%s(dp_values, l);\n", bytes_of(v, array),
                  scalar_name(element.scalar));
    v->e.depth--;
    emit_line(&v->e, "}");
}

static void scatter_elements(VectorEmitter *v, const CoreStmt *s)
{
    const CoreAtom *values = s->soac.body->results, at = values[0];
    const bool near = spread_of(&v->table, at) == SPREAD_NEAR;
    for (uint32_t i = 0; near && i < s->nvars; i++) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if (!dp_near_there(");
        emit_var(&v->e, s->vars[i]);
        strbuf_add(v->e.out, ", ");
        emit_atom(&v->e, at);
        strbuf_add(v->e.out, ")) ");
        emit_vector_again(v);
    }
    for (uint32_t i = 0; i < s->nvars; i++)
        (near ? store_near : store_apart)(v, made(v, s, i), at, values[i + 1]);
}

static void bind_parameter(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "dp_%s_w ", vector_type_name(v, x));
    emit_var(&v->e, x);
    strbuf_add(v->e.out, " = ");
}

static void combine_elements(VectorEmitter *v, const CoreStmt *s)
{
    const CoreLambda *op = &s->soac.op;
    for (uint32_t i = 0; i < s->nvars; i++) {
        bind_parameter(v, op->params[s->nvars + i]);
        emit_vector_operand(v, s->soac.body->results[i]);
        strbuf_add(v->e.out, ";\n");
    }
    for (uint32_t i = 0; i < s->nvars; i++) {
        bind_parameter(v, op->params[i]);
        combined_so_far(&v->e, op->params[i]);
        strbuf_add(v->e.out, ";\n");
    }
    emit_vector_block(v, op->body);
    for (uint32_t i = 0; i < s->nvars; i++) {
        emit_indent(&v->e);
        combined_so_far(&v->e, op->params[i]);
        strbuf_add(v->e.out, " = ");
        emit_vector_operand(v, op->body->results[i]);
        strbuf_add(v->e.out, ";\n");
    }
}

static void keep_elements(VectorEmitter *v, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_SCATTER: scatter_elements(v, s); break;
    case CORE_REDUCE: combine_elements(v, s); break;
    default:
        for (uint32_t i = 0; i < s->nvars; i++)
            store_near(v, made(v, s, i), position_of(&s->soac), s->soac.body->results[i]);
    }
}

void emit_wide_elements(ScalarEmitter *e, const CoreStmt *s)
{
    Wide w = wide_open(e, s);
    VectorEmitter *v = &w.v;
    emit_indent(e);
    strbuf_add(e->out, "if (");
    emit_atom(e, s->soac.domain);
    strbuf_add(e->out, " - ");
    emit_var(e, s->soac.index);
    strbuf_printf(e->out, " >= %u) {\n", e->wide);
    v->e.depth++;
    v->label = ++e->nmarks;
    v->e.nmarks = e->nmarks;
    load_elements(v, &s->soac);
    emit_vector_block(v, s->soac.body);
    keep_elements(v, s);
    emit_indent(&v->e);
    emit_var(&v->e, s->soac.index);
    strbuf_printf(e->out, " += %u;\n", e->wide);
    emit_line(&v->e, "continue;");
    if (v->gives_up) {
        emit_indent(e);
        strbuf_printf(e->out, "again%u:;\n", v->label);
    }
    e->nmarks = v->e.nmarks;
    emit_line(e, "}");
    wide_close(&w);
}

/* "for (uint dp_l = 0; …) { x8 = dp_lane_f64(wide_x7, dp_l); … x7 = …; }" */
void emit_wide_end(ScalarEmitter *e, const CoreStmt *s)
{
    const CoreLambda *op = &s->soac.op;
    if (s->kind != CORE_REDUCE)
        return;
    emit_indent(e);
    strbuf_printf(e->out, "for (uint dp_l = 0; dp_l < %u; dp_l++) {\n", e->wide);
    e->depth++;
    for (uint32_t i = 0; i < s->nvars; i++) {
        const CoreVar x = op->params[s->nvars + i];
        emit_indent(e);
        strbuf_printf(e->out, "%s ", emit_value_type(core_var_type(e->fn, x)));
        emit_var(e, x);
        strbuf_printf(e->out, " = dp_lane_%s(", scalar_name(core_var_type(e->fn, x).scalar));
        combined_so_far(e, op->params[i]);
        strbuf_add(e->out, ", dp_l);\n");
    }
    emit_scalar_block(e, op->body);
    emit_parallel_assign(e, op->params, op->body->results, s->nvars);
    e->depth--;
    emit_line(e, "}");
}
