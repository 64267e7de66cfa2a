#include "opencl/emit_tile_vector.h"

#include "opencl/emit_tile.h"
#include "plan/emit_text.h"

/* What is not the same for neighbouring columns; or batches. */
static bool is_across(const VectorEmitter *v, AccessPartKind part)
{
    return v->batches ? part != PART_STREAM : part == PART_COLUMN || part == PART_CELL || part == PART_COLUMN_K;
}

/* ---- whether ---- */

/* Of what columns compute: positions of neighbours are so, too. FLAT: those of all segments, which may be of several
 * rows. */
static void note_columns(VectorEmitter *v, const Access *a)
{
    const FlatFn *fn = v->ke.k->fn;
    const FlatVar segments = plan_up(fn, v->ke.k->stmt->body.ctx);
    const bool neighbours = !v->batches && (a->shape != ACCESS_FLAT || plan_up(fn, segments) == FLAT_ROOT);
    const CoreBlock block = emit_tile_statements(v->ke.plan, a, &a->parts[PART_COLUMN]);
    SpreadFacts facts = {0};
    for (uint32_t i = 0; i < a->nitems; i++) {
        const FlatInput *in = a->parts[PART_COLUMN].items[i] ? a->items[i].input : NULL;
        if (!in)
            continue;
        const bool near = neighbours && in->kind == IN_POS && in->ctx == segments;
        *spread_var(&v->table, in->as) = (SpreadVar){.spread = in->kind == IN_HOST ? SPREAD_UNIFORM
                                                               : near              ? SPREAD_NEAR
                                                                                   : SPREAD_VARYING};
    }
    spread_block(v->e.fn, &block, &v->table, &facts);
}

static Spread given_spread(const VectorEmitter *v, const AccessGiven *g)
{
    if (!is_across(v, g->from))
        return SPREAD_UNIFORM;
    return g->from == PART_COLUMN && spread_var(&v->table, g->var)->spread == SPREAD_NEAR ? SPREAD_NEAR
                                                                                          : SPREAD_VARYING;
}

static void note_given(VectorEmitter *v, const Access *a, SpreadFacts *facts)
{
    const AccessPart *body = &a->parts[PART_BODY];
    note_columns(v, a);
    v->near_columns = false;
    for (uint32_t i = 0; i < body->given.n; i++) {
        const AccessGiven *g = &body->given.at[i];
        const CoreType t = core_var_type(v->e.fn, g->var);
        const Spread spread = given_spread(v, g);
        const bool across = spread == SPREAD_VARYING;
        v->near_columns |= spread == SPREAD_NEAR;
        *spread_var(&v->table, g->var) = (SpreadVar){.spread = (uint8_t)spread};
        facts->refused |= across && t.rank > 0;
        facts->wide |= across && scalar_bytes(t.scalar) == 8;
    }
}

/* Inputs that differ from lane to lane are not loaded here: they would lie far apart. */
static void note_inputs(VectorEmitter *v, const Access *a, SpreadFacts *facts)
{
    const uint8_t differ = v->batches ? ACCESS_J | ACCESS_I | ACCESS_B : ACCESS_J;
    for (uint32_t i = 0; i < a->nitems; i++) {
        const FlatInput *in = a->parts[PART_BODY].items[i] ? a->items[i].input : NULL;
        if (!in)
            continue;
        facts->refused |= (a->items[i].dims & differ) != 0;
        *spread_var(&v->table, in->as) = (SpreadVar){.spread = SPREAD_UNIFORM};
    }
}

/* Its lanes are segments: what the operator looks at must be the same for all. */
static bool is_same(const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++)
        if (inputs->at[i].kind != IN_HOST)
            return false;
    return true;
}

SpreadFacts emit_tile_vector_facts(VectorEmitter *v)
{
    const Access *a = emit_tile_access(v->ke.plan, v->ke.k);
    SpreadFacts facts = {.refused = !a};
    if (!a)
        return facts;
    const FlatOp *op = &v->ke.k->stmt->reduce.op;
    const CoreBlock block = emit_tile_statements(v->ke.plan, a, &a->parts[PART_BODY]);
    facts.refused = !is_same(&op->inputs) || !is_same(&op->neutral_inputs);
    v->table.inside = false;
    note_given(v, a, &facts);
    note_inputs(v, a, &facts);
    if (!facts.refused)
        spread_block(v->e.fn, &block, &v->table, &facts);
    if (!facts.refused)
        vector_note_results(v, v->ke.k->stmt->body.block->results, &facts);
    if (!facts.refused)
        vector_note_op(v, &facts);
    return facts;
}

/* ---- its text ---- */

static void emit_lane_of(VectorEmitter *v, const TileText *t, const AccessPart *body, AccessPartKind kind)
{
    StrBuf *out = v->e.out;
    strbuf_printf(out, "static inline %s %s_lane(%s_w v, uint l)\n{\n    %s r = {0};\n", t->type, t->type, t->type,
                  t->type);
    for (uint32_t i = 0; i < body->given.n; i++) {
        const CoreVar x = body->given.at[i].var;
        if (body->given.at[i].from != kind)
            continue;
        strbuf_add(out, "    r.");
        emit_var(&v->e, x);
        strbuf_printf(out, " = dp_lane_%s(v.", vector_type_name(v, x));
        emit_var(&v->e, x);
        strbuf_add(out, ", l);\n");
    }
    strbuf_add(out, "    return r;\n}\n");
}

/* The struct's fields that the body wants of several columns. */
static void emit_struct(VectorEmitter *v, const AccessPart *body, AccessPartKind kind, const char *fields)
{
    const TileText *t = &tile_texts[kind];
    StrBuf *out = v->e.out;
    StrBuf list = {0};
    ScalarEmitter e = v->e;
    e.out = &list;
    strbuf_printf(out, "typedef struct %s_w {", t->type);
    for (uint32_t i = 0; i < body->given.n; i++) {
        const CoreVar x = body->given.at[i].var;
        if (body->given.at[i].from != kind)
            continue;
        strbuf_printf(out, " dp_%s_w ", vector_type_name(v, x));
        emit_var(&v->e, x);
        strbuf_add(out, ";");
        strbuf_printf(&list, " F(%s, ", vector_type_name(v, x));
        emit_var(&e, x);
        strbuf_add(&list, ")");
    }
    strbuf_printf(out, "%s } %s_w;\n#define %s(F)%s\n", list.n ? "" : " uchar none;", t->type, fields,
                  list.n ? list.text : "");
    strbuf_free(&list);
    emit_lane_of(v, t, body, kind);
}

static void emit_given(VectorEmitter *v, const AccessPart *body)
{
    for (uint32_t i = 0; i < body->given.n; i++) {
        const AccessGiven *g = &body->given.at[i];
        emit_vector_bind(v, g->var);
        strbuf_printf(v->e.out, "%s.", tile_texts[g->from].value);
        emit_var(&v->e, g->var);
        strbuf_add(v->e.out, spread_var(&v->table, g->var)->spread == SPREAD_NEAR ? "[0];\n" : ";\n");
    }
}

#define PARAMETERS(W)                                                                                                  \
    HEAP ", ulong i, ulong s, ulong k, dp_row" W " row, dp_column_w column, dp_cell_w cell, dp_stream stream, "        \
         "dp_row_k" W " row_k, dp_column_k_w column_k DP_WORDS)\n{\n"
#define LANES(ROW, ROW_K)                                                                                              \
    "    dp_vec r;\n"                                                                                                  \
    "    DP_IN_TURN(l) dp_set_lane(&r, l, dp_tile_body(heap, i, s, k, " ROW ", dp_column_lane(column, l), "            \
    "dp_cell_lane(cell, l), stream, " ROW_K ", dp_column_k_lane(column_k, l) DP_PASS));\n"                             \
    "    return r;\n}\n"

void emit_tile_vector(VectorEmitter *v)
{
    const Access *a = emit_tile_access(v->ke.plan, v->ke.k);
    const AccessPart *body = &a->parts[PART_BODY];
    const CoreBlock block = emit_tile_statements(v->ke.plan, a, &a->parts[PART_BODY]);
    emit_struct(v, body, PART_COLUMN, "DP_COLUMN_W");
    emit_struct(v, body, PART_CELL, "DP_CELL_W");
    emit_struct(v, body, PART_COLUMN_K, "DP_COLUMN_K_W");
    const char *parameters = v->batches ? PARAMETERS("_w") : PARAMETERS("");
    if (v->batches) {
        emit_struct(v, body, PART_ROW, "DP_ROW_W");
        emit_struct(v, body, PART_ROW_K, "DP_ROW_K_W");
    }
    if (v->near_columns)
        strbuf_add(v->e.out, "#define DP_NEAR_COLUMNS 1\n");
    strbuf_printf(v->e.out, "static inline dp_vec dp_tile_lanes(%s%s", parameters,
                  v->batches ? LANES("dp_row_lane(row, l)", "dp_row_k_lane(row_k, l)") : LANES("row", "row_k"));
    emit_line_directive(&v->ke);
    strbuf_printf(v->e.out, "static inline dp_vec dp_tile_body_w(%s", parameters);
    v->again = "dp_tile_lanes(heap, i, s, k, row, column, cell, stream, row_k, column_k DP_PASS)";
    v->ke.tiled = true;
    emit_vector_guard(v, &block);
    emit_given(v, body);
    for (uint32_t i = 0; i < a->nitems; i++)
        if (body->items[i] && a->items[i].input)
            emit_input(&v->ke, &v->e, a->items[i].input);
    emit_vector_block(v, &block);
    emit_vector_results(v, v->ke.k->stmt->body.block->results);
    v->ke.tiled = false;
}
