#include "opencl/emit_vector.h"

#include "dp_rt.h"
#include "opencl/emit_scalar_internal.h"
#include "opencl/emit_tile_vector.h"
#include "opencl/emit_vector_internal.h"
#include "opencl/emit_wide.h"
#include "plan/emit_text.h"
#include "params.h"
#include "support/arena.h"

enum { MOST_ITEMS = 64 }; /* of a literal that is stored by vectors */

/* ---- inputs ---- */

/* And not its position in a segment that it is of itself, of which there are several. */
static bool is_number_of_segment(const VectorEmitter *v, const FlatInput *in)
{
    return plan_place(v->ke.k, in->ctx).kind == PLACE_S && plan_up(v->ke.k->fn, in->ctx) == FLAT_ROOT;
}

static Spread input_spread(const VectorEmitter *v, const FlatInput *in)
{
    if (in->kind == IN_HOST)
        return SPREAD_UNIFORM;
    Place place = plan_place(v->ke.k, emit_input_context(v->ke.k, in));
    if (v->apart && in->kind == IN_POS && place.kind != PLACE_I) /* segments may be of several rows of theirs */
        return SPREAD_VARYING;
    if (v->across && in->kind == IN_POS && place.kind != PLACE_I)
        return is_number_of_segment(v, in) ? SPREAD_NEAR : SPREAD_VARYING;
    if (v->across && in->kind == IN_POS)
        return SPREAD_UNIFORM;
    if (v->across)
        return SPREAD_VARYING;
    if (place.kind == PLACE_S || (place.kind == PLACE_PATH && place.from_segment))
        return SPREAD_UNIFORM;
    return place.kind == PLACE_I && in->kind == IN_POS ? SPREAD_NEAR : SPREAD_VARYING;
}

/* Do the elements for neighbouring lanes lie side by side? Rows of arrays may lie anywhere, and positions nowhere. */
static bool is_side_by_side(const VectorEmitter *v, const FlatInput *in)
{
    if (in->kind == IN_POS || (v->apart && in->kind != IN_COL))
        return false;
    return plan_place(v->ke.k, emit_input_context(v->ke.k, in)).kind == (v->across ? PLACE_S : PLACE_I);
}

/* Through a path each lane has its own place. */
static void input_by_lane(VectorEmitter *v, const FlatInput *in)
{
    const char *type = vector_type_name(v, in->as);
    StrBuf *out = v->e.out;
    emit_indent(&v->e);
    strbuf_printf(out, "dp_%s_w ", type);
    emit_var(&v->e, in->as);
    strbuf_add(out, ";\n");
    emit_line(&v->e, v->apart ? "DP_EACH_LANE(l) { const ulong i = first + l * m, s = segment + l;"
                              : "DP_EACH_LANE(l) { const ulong i = first + l;");
    emit_indent(&v->e);
    strbuf_add(out, "    ");
    emit_var(&v->e, in->as);
    strbuf_add(out, core_var_type(v->e.fn, in->as).scalar == SC_BOOL ? "[l] = -(int)" : "[l] = ");
    emit_input_value(&v->ke, out, in);
    strbuf_add(out, "; }\n");
}

static void emit_vector_input(VectorEmitter *v, const FlatInput *in)
{
    if (!vector_varies(v, in->as)) {
        emit_input(&v->ke, &v->e, in);
        return;
    }
    if (core_var_type(v->e.fn, in->as).rank > 0) {
        emit_vector_views_input(v, in);
        return;
    }
    if (!is_side_by_side(v, in)) {
        input_by_lane(v, in);
        return;
    }
    emit_vector_bind(v, in->as);
    strbuf_printf(v->e.out, "dp_load_%s_w(heap, ", vector_type_name(v, in->as));
    emit_input_address(&v->ke, v->e.out, in);
    strbuf_add(v->e.out, ");\n");
}

static void emit_vector_inputs(VectorEmitter *v, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++)
        emit_vector_input(v, &inputs->at[i]);
}

/* ---- functions ---- */

/* Loops might have been handed nonsense by an earlier kernel whose failure nobody has seen yet. */
void emit_vector_guard(VectorEmitter *v, const CoreBlock *b)
{
    if (!scalar_facts(v->e.fn, NULL, b).while_loop)
        return;
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (*DP_AT(volatile int, 0) != 0) ");
    emit_vector_again(v);
}

static void emit_results_as(VectorEmitter *v, const char *type, const CoreAtom *results, uint32_t n)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "%s r;\n", type);
    for (uint32_t i = 0; i < n; i++) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "r.v%u = ", i);
        if (vector_is_views(v, results[i]))
            emit_vector_views_name(v, results[i].var);
        else
            emit_vector_operand(v, results[i]);
        strbuf_add(v->e.out, ";\n");
    }
    strbuf_add(v->e.out, "    return r;\n");
    if (v->gives_up)
        strbuf_printf(v->e.out, "again:\n    return %s;\n", v->again);
    strbuf_add(v->e.out, "}\n");
    v->gives_up = false;
}

void emit_vector_results(VectorEmitter *v, const CoreAtom *results)
{
    emit_results_as(v, "dp_vec", results, v->ke.k->nvalues);
}

static void emit_apart_store(VectorEmitter *v, uint32_t i, CoreAtom value)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "DP_EACH_LANE(l) { const ulong i = first + l * m; *DP_AT(%s, ",
                  emit_memory_type(v->ke.k->fn->vars.at[plan_kept(v->ke.k, i)].type));
    emit_kept_place(&v->ke, i);
    strbuf_printf(v->e.out, ") = dp_lane_%s(", scalar_name(v->ke.k->fn->vars.at[plan_kept(v->ke.k, i)].type.scalar));
    emit_vector_operand(v, value);
    strbuf_add(v->e.out, ", l); }\n");
}

static CoreType kept_type(const PlanKernel *k, uint32_t i) { return k->fn->vars.at[plan_kept(k, i)].type; }

/* name: the function's; again: what does the lanes if it cannot. */
static void emit_body(VectorEmitter *v, const char *name, const char *again)
{
    const FlatBody *body = &v->ke.k->stmt->body;
    emit_line_directive(&v->ke);
    strbuf_printf(v->e.out,
                  "static inline dp_vec %s(" HEAP ", ulong i, ulong s%s DP_WORDS)\n{\n"
                  "    const ulong first = i%s;\n",
                  name, v->across ? ", ulong m" : "", v->apart ? ", segment = s" : "");
    v->again = again;
    emit_vector_guard(v, body->block);
    emit_vector_inputs(v, &body->inputs);
    emit_vector_block(v, body->block);
    for (uint32_t i = 0; i < flat_kept(v->ke.k->stmt); i++) {
        if (v->apart) {
            emit_apart_store(v, i, body->block->results[v->ke.k->nvalues + i]);
            continue;
        }
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_store_%s_w(heap, ", scalar_name(kept_type(v->ke.k, i).scalar));
        emit_kept_place(&v->ke, i);
        strbuf_add(v->e.out, ", ");
        emit_vector_operand(v, body->block->results[v->ke.k->nvalues + i]);
        strbuf_add(v->e.out, ");\n");
    }
    emit_vector_results(v, body->block->results + v->ke.k->first);
}

static void emit_op(VectorEmitter *v)
{
    const FlatOp *op = &v->ke.k->stmt->reduce.op;
    strbuf_printf(v->e.out,
                  "static inline dp_vec dp_op_lanes(" HEAP ", ulong s, dp_vec a, dp_vec b DP_WORDS)\n{\n"
                  "    dp_vec r;\n"
                  "    DP_IN_TURN(l) dp_set_lane(&r, l, dp_op(heap, s%s, dp_lane(a, l), dp_lane(b, l) DP_PASS));\n"
                  "    return r;\n}\n",
                  v->across ? " + l" : "");
    emit_line_directive(&v->ke);
    strbuf_add(v->e.out, "static inline dp_vec dp_op_w(" HEAP ", ulong s, dp_vec a, dp_vec b DP_WORDS)\n{\n");
    v->again = "dp_op_lanes(heap, s, a, b DP_PASS)";
    emit_vector_guard(v, op->op.body);
    emit_vector_inputs(v, &op->inputs);
    for (uint32_t i = 0; i < 2 * op->k; i++) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_%s_w ", vector_type_name(v, op->op.params[i]));
        emit_var(&v->e, op->op.params[i]);
        strbuf_printf(v->e.out, " = %c.v%u;\n", i < op->k ? 'a' : 'b', i % op->k);
    }
    emit_vector_block(v, op->op.body);
    emit_vector_results(v, op->op.body->results);
}

/* ---- values ---- */

/* "dp_f32_w", or "dp_views" */
static void add_values_type(StrBuf *out, CoreType t)
{
    if (t.rank > 0)
        strbuf_add(out, "dp_views");
    else
        strbuf_printf(out, "dp_%s_w", scalar_name(t.scalar));
}

/* Each value's type and name, with this around them. */
static void add_fields(const VectorEmitter *v, const char *before, const char *between, const char *behind)
{
    const PlanKernel *k = v->ke.k;
    for (uint32_t i = 0; i < k->nvalues; i++) {
        strbuf_add(v->ke.out, before);
        add_values_type(v->ke.out, k->values[i]);
        strbuf_printf(v->ke.out, "%sv%u%s", between, i, behind);
    }
}

static void emit_values(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    StrBuf *out = v->ke.out;
    strbuf_add(out, "typedef struct dp_vec {");
    add_fields(v, " ", " ", ";");
    strbuf_add(out, " } dp_vec;\n#define DP_VEC_FIELDS(F)");
    add_fields(v, " F(", ", ", ")");
    strbuf_add(out, "\n#define DP_VEC_NAMES(F)");
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(out, " F(%s, v%u)", scalar_name(k->values[i].scalar), i);
    strbuf_add(out, "\nstatic inline dp_vec dp_wide(dp_val v)\n{\n    dp_vec r;\n");
    for (uint32_t i = 0; i < k->nvalues; i++)
        if (k->values[i].rank > 0)
            strbuf_printf(out, "    DP_EACH_LANE(l) r.v%u.at[l] = v.v%u;\n", i, i);
        else
            strbuf_printf(out, "    r.v%u = dp_wide_%s(v.v%u);\n", i, scalar_name(k->values[i].scalar), i);
    strbuf_add(out, "    return r;\n}\nstatic inline dp_val dp_lane(dp_vec v, uint l)\n{\n    dp_val r;\n");
    for (uint32_t i = 0; i < k->nvalues; i++)
        if (k->values[i].rank > 0)
            strbuf_printf(out, "    r.v%u = v.v%u.at[l];\n", i, i);
        else
            strbuf_printf(out, "    r.v%u = dp_lane_%s(v.v%u, l);\n", i, scalar_name(k->values[i].scalar), i);
    strbuf_add(out,
               "    return r;\n}\nstatic inline dp_vec dp_choose(dp_bool_w c, dp_vec a, dp_vec b)\n{\n    dp_vec r;\n");
    for (uint32_t i = 0; i < k->nvalues; i++)
        if (k->values[i].rank > 0)
            strbuf_printf(out, "    DP_EACH_LANE(l) r.v%u.at[l] = c[l] ? a.v%u.at[l] : b.v%u.at[l];\n", i, i, i);
        else
            strbuf_printf(out, "    r.v%u = dp_select_%s_w(c, a.v%u, b.v%u);\n", i, scalar_name(k->values[i].scalar), i,
                          i);
    strbuf_add(out, "    return r;\n}\nstatic inline void dp_set_lane(dp_vec *r, uint l, dp_val v)\n{\n");
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(out, "    r->v%u%s[l] = %sv.v%u;\n", i, k->values[i].rank > 0 ? ".at" : "",
                      k->values[i].rank == 0 && k->values[i].scalar == SC_BOOL ? "-(int)" : "", i);
    strbuf_add(out, "}\n");
}

/* A literal's items lie side by side for each lane, and are turned, four at a time: "{ dp_f32_w items[6]; …
 * dp_store_rows_f32_w(heap, o0 + i * 24, items, 6); }"; fewer one by one. */
static void emit_array_store(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    const CoreType element = k->values[0];
    const char *name = scalar_name(element.scalar), *memory = emit_memory_type(element);
    const uint32_t bytes = emit_bytes(element);
    strbuf_printf(v->e.out,
                  "static inline void dp_store_w(" HEAP ", ulong i, dp_vec v DP_OUTS)\n{\n    dp_%s_v items[%u];\n",
                  name, k->nvalues);
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(v->e.out, "    items[%u] = dp_to_memory_%s(v.v%u);\n", i, name, i);
    if (k->nvalues >= 4)
        strbuf_printf(v->e.out, "    dp_store_rows_%s_w(heap, o0 + i * %u, items, %u);\n}\n", name, k->nvalues * bytes,
                      k->nvalues);
    else
        strbuf_printf(v->e.out,
                      "    DP_IN_TURN(l) for (uint j = 0; j < %u; j++) *DP_AT(%s, o0 + ((i + l) * %u + j) * %u) = "
                      "items[j][l];\n}\n",
                      k->nvalues, memory, k->nvalues, bytes);
}

static void emit_store(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    if (k->kind == PLAN_ARRAY) {
        emit_array_store(v);
        return;
    }
    strbuf_printf(v->e.out, "static inline void dp_store_w(" HEAP ", ulong i, %s v DP_OUTS)\n{\n",
                  plan_maps(k) ? "dp_made_vec" : "dp_vec");
    for (uint32_t i = 0; i < k->nstored; i++) {
        if (!plan_stores(k, i))
            continue;
        if (k->stored[i].rank > 0) {
            strbuf_add(v->e.out, "    dp_store_views(heap, ");
            emit_out_address(&v->ke, i);
            strbuf_printf(v->e.out, ", &v.v%u);\n", i);
            continue;
        }
        strbuf_printf(v->e.out, "    dp_store_%s_w(heap, ", scalar_name(k->stored[i].scalar));
        emit_out_address(&v->ke, i);
        strbuf_printf(v->e.out, ", v.v%u);\n", i);
    }
    strbuf_add(v->e.out, "}\n");
}

/* ---- which kernels ---- */

static void note_inputs(VectorEmitter *v, const FlatInputs *inputs, SpreadFacts *facts)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        CoreType t = core_var_type(v->e.fn, in->as);
        Spread spread = input_spread(v, in);
        *spread_var(&v->table, in->as) = (SpreadVar){.spread = (uint8_t)spread};
        if (spread != SPREAD_VARYING)
            continue;
        bool by_lane = !is_side_by_side(v, in);
        facts->refused |= v->across && (t.rank > 0 || (!v->apart && by_lane));
        if (t.rank > 0)
            continue;
        facts->wide |= scalar_bytes(t.scalar) == 8;
        facts->lanes += by_lane ? 4 : 0;
        facts->vectors += by_lane ? 0 : 1;
    }
}

/* What a lane with memory gives: a view for each lane. */
static bool gives_views(const VectorEmitter *v, CoreAtom a)
{
    return !v->across && !a.is_const && spread_var(&v->table, a.var)->spread == SPREAD_VARYING;
}

static void note_results_as(VectorEmitter *v, const CoreAtom *results, const CoreType *types, uint32_t n,
                            SpreadFacts *facts)
{
    for (uint32_t i = 0; i < n; i++) {
        spread_as_vector(&v->table, results[i], facts);
        facts->refused |= types[i].rank > 0 && !(v->ke.k->kind == PLAN_MAP && gives_views(v, results[i]));
        facts->wide |= types[i].rank == 0 && scalar_bytes(types[i].scalar) == 8;
    }
}

void vector_note_results(VectorEmitter *v, const CoreAtom *results, SpreadFacts *facts)
{
    note_results_as(v, results, v->ke.k->values, v->ke.k->nvalues, facts);
}

/* Of what a scan makes of its prefixes, which is done lane by lane where it is refused or does not pay. */
static SpreadFacts note_then(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    const CoreBlock *block = k->stmt->reduce.then.block;
    SpreadFacts facts = {0};
    v->table.inside = true;
    note_inputs(v, &k->stmt->reduce.then.inputs, &facts);
    for (uint32_t i = 0; i < k->nvalues; i++)
        *spread_var(&v->table, k->stmt->reduce.prefixes[i]) = (SpreadVar){.spread = SPREAD_VARYING};
    if (!facts.refused)
        spread_block(v->e.fn, block, &v->table, &facts);
    if (!facts.refused)
        note_results_as(v, block->results, k->stored, k->nstored, &facts);
    return facts;
}

void vector_note_op(VectorEmitter *v, SpreadFacts *facts)
{
    const FlatOp *op = &v->ke.k->stmt->reduce.op;
    note_inputs(v, &op->inputs, facts);
    for (uint32_t i = 0; i < 2 * op->k; i++)
        *spread_var(&v->table, op->op.params[i]) = (SpreadVar){.spread = SPREAD_VARYING};
    if (!facts->refused)
        spread_block(v->e.fn, op->op.body, &v->table, facts);
    if (!facts->refused)
        vector_note_results(v, op->op.body->results, facts);
}

static SpreadFacts find_facts(VectorEmitter *v, bool inside)
{
    const PlanKernel *k = v->ke.k;
    const FlatBody *body = &k->stmt->body;
    SpreadFacts facts = {0};
    v->table.inside = inside;
    note_inputs(v, &body->inputs, &facts);
    if (!facts.refused)
        spread_block(v->e.fn, body->block, &v->table, &facts);
    if (!facts.refused)
        vector_note_results(v, body->block->results + k->first, &facts);
    for (uint32_t i = 0; i < flat_kept(k->stmt) && !facts.refused; i++) {
        const CoreType t = kept_type(k, i);
        note_results_as(v, &body->block->results[k->nvalues + i], &t, 1, &facts);
    }
    if (plan_has_op(k) && !facts.refused)
        vector_note_op(v, &facts);
    return facts;
}

/* Of a map in turned squares (kernels/map.cl). */
static SpreadFacts turned_facts(VectorEmitter *v)
{
    SpreadFacts facts = {.refused = true};
    if (v->ke.k->kind != PLAN_MAP || !flat_loads_go_across(v->ke.k->fn, v->ke.k->stmt))
        return facts;
    v->across = true;
    facts = find_facts(v, true);
    v->across = false;
    return facts;
}

static bool goes_across(const PlanKernel *k) { return k->kind == PLAN_SCAN && flat_scan_turns(k->fn, k->stmt); }

/* Of the template map.cl. */
static bool is_map(const PlanKernel *k) { return k->kind == PLAN_MAP || k->kind == PLAN_ARRAY; }

static bool has_vector_template(const PlanKernel *k)
{
    if (k->kind == PLAN_ARRAY && k->nvalues > MOST_ITEMS)
        return false;
    return is_map(k) || k->kind == PLAN_REDUCE || k->kind == PLAN_SCAN;
}

static bool pays(SpreadFacts facts) { return facts.vectors >= facts.lanes; }

/* The body of all lanes in turn. */
static void emit_lanes(VectorEmitter *v, const char *name)
{
    strbuf_printf(v->e.out,
                  "static inline dp_vec %s(" HEAP ", ulong i, ulong s%s DP_WORDS)\n{\n"
                  "    dp_vec r;\n"
                  "    DP_IN_TURN(l) dp_set_lane(&r, l, dp_body(heap, %s DP_PASS));\n"
                  "    return r;\n}\n",
                  name, v->across ? ", ulong m" : "", v->across ? "i + l * m, s + l" : "i + l, s");
}

/* Where something is assumed inside, there is a second body for edges, if that is faster than one lane after the other.
 */
static void emit_bodies(VectorEmitter *v)
{
    emit_lanes(v, "dp_body_lanes");
    const char *again = v->across ? "dp_body_lanes(heap, i, s, m DP_PASS)" : "dp_body_lanes(heap, i, s DP_PASS)";
    const SpreadFacts facts = find_facts(v, true);
    if (facts.agrees) {
        v->table.ragged = true;
        const SpreadFacts ragged = find_facts(v, false);
        if (!ragged.refused && (pays(ragged) || !pays(facts))) { /* where neither pays both are forced */
            emit_body(v, "dp_body_ragged", again);
            again = "dp_body_ragged(heap, i, s DP_PASS)";
        }
        v->table.ragged = false;
    }
    if (facts.assumes) {
        SpreadFacts edges = find_facts(v, false);
        if (!edges.refused && pays(edges)) {
            emit_body(v, "dp_body_edges", again);
            again = v->across ? "dp_body_edges(heap, i, s, m DP_PASS)" : "dp_body_edges(heap, i, s DP_PASS)";
        }
    }
    find_facts(v, true);
    emit_body(v, v->across ? "dp_body_across" : "dp_body_w", again);
}

/* Of a reduction: whose lanes are segments of length m, if the operator does not look at them. */
static void emit_apart(VectorEmitter *v)
{
    const FlatInputs *inputs = &v->ke.k->stmt->reduce.op.inputs;
    for (uint32_t i = 0; i < inputs->n; i++)
        if (inputs->at[i].kind != IN_HOST)
            return;
    v->across = v->apart = true;
    if (!find_facts(v, false).refused) {
        strbuf_add(v->e.out, "#if DP_SEGMENTED\n");
        emit_lanes(v, "dp_apart_lanes");
        emit_body(v, "dp_body_apart", "dp_apart_lanes(heap, i, s, m DP_PASS)");
        v->across = v->apart = false;
        emit_store(v);
        strbuf_add(v->e.out, "#define DP_APART 1\n#endif\n");
    }
    v->across = v->apart = false;
    find_facts(v, true);
}

/* ---- what a scan makes of its prefixes ---- */

static void emit_then_lanes(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    strbuf_add(v->e.out, "typedef struct dp_made_vec {");
    for (uint32_t i = 0; i < k->nstored; i++)
        strbuf_printf(v->e.out, " dp_%s_w v%u;", scalar_name(k->stored[i].scalar), i);
    strbuf_add(v->e.out, " } dp_made_vec;\n"
                         "static inline dp_made_vec dp_then_lanes(" HEAP ", ulong i, ulong s, dp_vec v DP_WORDS)\n{\n"
                         "    dp_made_vec r;\n"
                         "    DP_IN_TURN(l) {\n"
                         "        const dp_made made = dp_then(heap, i + l, s, dp_lane(v, l) DP_PASS);\n");
    for (uint32_t i = 0; i < k->nstored; i++)
        strbuf_printf(v->e.out, "        r.v%u[l] = %smade.v%u;\n", i, k->stored[i].scalar == SC_BOOL ? "-(int)" : "",
                      i);
    strbuf_add(v->e.out, "    }\n    return r;\n}\n");
}

static void emit_then_vector(VectorEmitter *v)
{
    const FlatStmt *s = v->ke.k->stmt;
    emit_line_directive(&v->ke);
    strbuf_add(v->e.out, "static inline dp_made_vec dp_then_w(" HEAP ", ulong i, ulong s, dp_vec v DP_WORDS)\n{\n"
                         "    const ulong first = i;\n");
    v->again = "dp_then_lanes(heap, i, s, v DP_PASS)";
    emit_vector_guard(v, s->reduce.then.block);
    emit_vector_inputs(v, &s->reduce.then.inputs);
    for (uint32_t i = 0; i < v->ke.k->nvalues; i++) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_%s_w ", vector_type_name(v, s->reduce.prefixes[i]));
        emit_var(&v->e, s->reduce.prefixes[i]);
        strbuf_printf(v->e.out, " = v.v%u;\n", i);
    }
    emit_vector_block(v, s->reduce.then.block);
    emit_results_as(v, "dp_made_vec", s->reduce.then.block->results, v->ke.k->nstored);
}

static bool then_pays(SpreadFacts facts) { return !facts.refused && pays(facts); }

static void emit_then(VectorEmitter *v)
{
    const bool vector = then_pays(note_then(v));
    emit_then_lanes(v);
    if (vector)
        emit_then_vector(v);
    emit_store(v);
    strbuf_printf(v->e.out,
                  "static inline void dp_then_store_w(" HEAP ", __global uchar *out, ulong i, ulong s, dp_vec v "
                  "DP_WORDS DP_OUTS)\n{\n"
                  "    dp_store_w(out, i, dp_then_%s(heap, i, s, v DP_PASS) DP_PASS_OUTS);\n}\n",
                  vector ? "w" : "lanes");
}

/* In which variants may a map's vector go beyond the end of its segment? Where what is behind it is loaded from
 * columns, which have elements there, and is only computed with. */
static uint32_t spills_of(const VectorEmitter *v, SpreadFacts facts)
{
    const PlanKernel *k = v->ke.k;
    const FlatInputs *inputs = &k->stmt->body.inputs;
    uint32_t bits = 0;
    bool roots = false, spills = !facts.assumes && emit_is_arithmetic(v->e.fn, k->stmt->body.block, &roots);
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        if (in->kind != IN_ELEM || input_spread(v, in) == SPREAD_UNIFORM || k->fn->vars.at[in->var].kind == FLAT_HOST)
            continue;
        const uint32_t bit = k->words.at[plan_word(k, WORD_ELEMS, in->var, in->ctx)].bit;
        spills &= bit != PLAN_NO_BIT;
        bits |= bit != PLAN_NO_BIT ? UINT32_C(1) << bit : 0;
    }
    return !spills ? 0 : bits ? bits : DP_SPILLS_ALWAYS;
}

/* The map's body of neighbouring segments. */
static void emit_turned(VectorEmitter *v)
{
    strbuf_add(v->e.out, "#if DP_WAY == 2\n");
    v->across = true;
    emit_bodies(v);
    v->across = false;
    strbuf_add(v->e.out, "#endif\n");
}

static uint32_t lanes_of(SpreadFacts facts) { return facts.refused ? 0 : facts.wide ? 8 : 16; }

static SpreadFacts batch_facts(VectorEmitter *v)
{
    v->batches = true;
    const SpreadFacts facts = emit_tile_vector_facts(v);
    v->batches = false;
    return facts;
}

/* ways: the values of DP_WAY that it is for. */
static void emit_tile(VectorEmitter *v, bool batches, const char *ways)
{
    v->batches = batches;
    emit_tile_vector_facts(v);
    strbuf_printf(v->e.out, "#if %s\n", ways);
    emit_tile_vector(v);
    emit_store(v);
    strbuf_add(v->e.out, "#endif\n");
    v->batches = false;
}

/* Is it all of a loop, for which there is one lane? */
static bool is_one_lane(const PlanKernel *k)
{
    const CoreBlock *b = k->stmt->body.block;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind == CORE_LANE && b->stmts.at[i]->lane.of == LANE_OF_LOOP)
            return true;
    return false;
}

/* Of a map whose lanes do not go side by side: may their operations' elements? */
static VectorFacts emit_inside(KernelEmitter ke)
{
    const PlanKernel *k = ke.k;
    const uint32_t lanes = k->kind == PLAN_MAP ? emit_wide_lanes(k->fn->scope, k->stmt->body.block) : 0;
    if (lanes)
        emit_wide_body(&ke, lanes);
    return (VectorFacts){.lanes = lanes, .pays = lanes > 0, .inside = lanes > 0};
}

VectorFacts emit_kernel_vector(StrBuf *out, const Plan *plan, const PlanKernel *k)
{
    if (!has_vector_template(k) || k->nvalues == 0)
        return (VectorFacts){0};
    VectorEmitter v = {.ke = {out, plan, k, false}, .across = goes_across(k)};
    if (is_one_lane(k))
        return emit_inside(v.ke);
    Arena *arena = arena_create();
    v.e = emit_scalar_emitter(&v.ke);
    v.e.gives_up = &v.gives_up;
    v.table.vars = paged_create(arena, v.e.fn->vars.n, sizeof(SpreadVar));
    const SpreadFacts tile = is_map(k) ? turned_facts(&v) : emit_tile_vector_facts(&v);
    const bool near = v.near_columns;
    SpreadFacts facts = find_facts(&v, true);
    if (plan_maps(k)) {
        const SpreadFacts then = note_then(&v);
        facts.wide |= then_pays(then) && then.wide;
    }
    const SpreadFacts batch = is_map(k) ? (SpreadFacts){.refused = true} : batch_facts(&v);
    const uint32_t spills = is_map(k) ? spills_of(&v, facts) : 0;
    const VectorFacts r = {.lanes = lanes_of(facts),
                           .pays = pays(facts),
                           .memory = facts.memory,
                           .tile_lanes = lanes_of(tile),
                           .tile_pays = pays(tile),
                           .tile_near = near,
                           .batch_lanes = pays(batch) ? lanes_of(batch) : 0,
                           .spills = spills};
    if (!r.lanes && !r.tile_lanes && !r.batch_lanes) {
        arena_destroy(arena);
        return emit_inside(v.ke);
    }
    emit_values(&v);
    if (r.lanes) {
        const bool computes = k->stmt->body.block->stmts.n > 0 && facts.lanes == 0;
        if (facts.memory)
            strbuf_add(out, "DP_WIDE_COPIES\n");
        strbuf_printf(out, "#define DP_COMPUTES %d\n#if %s\n", computes, is_map(k) ? "DP_WAY != 2" : "DP_WAY < 5");
        emit_bodies(&v);
        if (k->kind == PLAN_REDUCE)
            emit_apart(&v);
        strbuf_add(out, "#endif\n");
    }
    if (r.tile_lanes && is_map(k))
        emit_turned(&v);
    else if (r.tile_lanes)
        emit_tile(&v, false, "DP_WAY >= 5 && DP_WAY < 8");
    if (r.batch_lanes)
        emit_tile(&v, true, "DP_WAY == 8");
    if ((r.lanes || r.tile_lanes || r.batch_lanes) && plan_has_op(k))
        emit_op(&v);
    if (r.lanes && plan_maps(k))
        emit_then(&v);
    else if ((r.lanes || r.tile_lanes) && k->kind != PLAN_REDUCE)
        emit_store(&v);
    arena_destroy(arena);
    return r;
}
