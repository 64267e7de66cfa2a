#include "opencl/emit_scalar_internal.h"
#include "opencl/emit_vector_internal.h"
#include "plan/emit_text.h"

/* Arrays of the heap of which each lane has its own: a view for each.
 *
 *     dp_views views_x5;                                                   x5, of DP_W lanes
 *     dp_f32_w x7; DP_EACH_LANE(l) { const dp_view x5 = views_x5.at[l]; x7[l] = *DP_AT(dp_f32, DP_ADDR(x5) + k * 4); }
 *
 * What is read again and again is put side by side first (packs.h): x7 = dp_pack1[k]. */

bool vector_is_views(const VectorEmitter *v, CoreAtom a)
{
    return !a.is_const && core_atom_type(v->e.fn, a).rank > 0 && !emit_atom_is_private(&v->e, a) &&
           vector_varies(v, a.var) && !vector_is_shared(v, a);
}

void emit_vector_views_name(VectorEmitter *v, CoreVar x)
{
    strbuf_add(v->e.out, "views_");
    emit_var(&v->e, x);
}

void emit_vector_views_declare(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "dp_views ");
    emit_vector_views_name(v, x);
    strbuf_add(v->e.out, ";\n");
}

void emit_vector_views_input(VectorEmitter *v, const FlatInput *in)
{
    emit_vector_views_declare(v, in->as);
    emit_indent(&v->e);
    strbuf_add(v->e.out, "DP_EACH_LANE(l) { const ulong i = first + l; ");
    emit_vector_views_name(v, in->as);
    strbuf_add(v->e.out, ".at[l] = ");
    emit_input_value(&v->ke, v->e.out, in);
    strbuf_add(v->e.out, "; }\n");
}

/* "DP_EACH_LANE(l) { const dp_view x5 = views_x5.at[l]; ", if each lane has a view of its own. */
static void open_each(VectorEmitter *v, CoreAtom array)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "DP_EACH_LANE(l) { ");
    if (!vector_is_views(v, array))
        return;
    strbuf_add(v->e.out, "const dp_view ");
    emit_atom(&v->e, array);
    strbuf_add(v->e.out, " = ");
    emit_vector_views_name(v, array.var);
    strbuf_add(v->e.out, ".at[l]; ");
}

/* The lane's place, under the name that is all lanes': "const dp_i64 dp_place = x7 + l; { const dp_i64 x7 = dp_place; "
 */
static void open_place(VectorEmitter *v, CoreAtom at)
{
    static const char *const lanes[] = {[SPREAD_NEAR] = " + l", [SPREAD_SECOND] = " + 2 * l", [SPREAD_VARYING] = "[l]"};
    const Spread spread = spread_of(&v->table, at);
    strbuf_add(v->e.out, spread == SPREAD_UNIFORM ? "{ " : "const dp_i64 dp_place = ");
    if (spread == SPREAD_UNIFORM)
        return;
    emit_atom(&v->e, at);
    strbuf_printf(v->e.out, "%s; { const dp_i64 ", lanes[spread]);
    emit_atom(&v->e, at);
    strbuf_add(v->e.out, " = dp_place; ");
}

/* Lanes that go on together in memory (spread.c): "if (!dp_views_alike(&views_x)) goto again; dp_i64 n = DP_LEN(…);" */
static void common_length(VectorEmitter *v, const CoreStmt *s)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (!dp_views_alike(&");
    emit_vector_views_name(v, s->length.array.var);
    strbuf_add(v->e.out, ")) ");
    emit_vector_again(v);
    emit_vector_bind(v, s->vars[0]);
    strbuf_add(v->e.out, "(dp_i64)DP_LEN(");
    emit_vector_views_name(v, s->length.array.var);
    strbuf_add(v->e.out, ".at[0]);\n");
}

void emit_vector_views_length(VectorEmitter *v, const CoreStmt *s)
{
    if (!vector_varies(v, s->vars[0])) {
        common_length(v, s);
        return;
    }
    emit_vector_declaration(v, s->vars[0]);
    open_each(v, s->length.array);
    emit_var(&v->e, s->vars[0]);
    strbuf_add(v->e.out, "[l] = (dp_i64)");
    emit_array_length(&v->e, s->length.array);
    strbuf_add(v->e.out, "; }\n");
}

/* "const dp_i64 dp_1 = x7[l]; { const dp_i64 x7 = dp_1; ": each lane's, under the name that is all lanes'. Returns
 * whether it is one. */
static bool open_bound(VectorEmitter *v, CoreAtom a, uint32_t number)
{
    if (spread_of(&v->table, a) != SPREAD_VARYING)
        return false;
    strbuf_printf(v->e.out, "const dp_i64 dp_%u = ", number);
    emit_atom(&v->e, a);
    strbuf_add(v->e.out, "[l]; { const dp_i64 ");
    emit_atom(&v->e, a);
    strbuf_printf(v->e.out, " = dp_%u; ", number);
    return true;
}

/* A lane that is off may have no such part. */
void emit_vector_views_slice(VectorEmitter *v, const CoreStmt *s)
{
    emit_vector_views_declare(v, s->vars[0]);
    open_each(v, s->slice.array);
    uint32_t bounds = open_bound(v, s->slice.from, 1);
    if (!core_atom_equal(s->slice.from, s->slice.to))
        bounds += open_bound(v, s->slice.to, 2);
    if (s->site != CORE_NO_SITE) {
        strbuf_add(v->e.out, "if (");
        if (v->mask)
            strbuf_printf(v->e.out, "on%u[l] && ", v->mask);
        strbuf_add(v->e.out, "(");
        emit_vector_bad_slice(v, s);
        strbuf_add(v->e.out, ")) ");
        emit_vector_again(v);
        emit_indent(&v->e);
        strbuf_add(v->e.out, "    ");
    }
    emit_vector_views_name(v, s->vars[0]);
    strbuf_add(v->e.out, ".at[l] = ");
    emit_slice_read(&v->e, s);
    strbuf_add(v->e.out, "; ");
    for (uint32_t i = 0; i < bounds; i++)
        strbuf_add(v->e.out, "} ");
    strbuf_add(v->e.out, "}\n");
}

/* ---- reads ---- */

static void check_place(VectorEmitter *v, CoreAtom array, CoreAtom at)
{
    open_each(v, array);
    open_place(v, at);
    strbuf_add(v->e.out, "if (");
    if (v->mask)
        strbuf_printf(v->e.out, "on%u[l] && ", v->mask);
    strbuf_add(v->e.out, "(dp_u64)");
    emit_atom(&v->e, at);
    strbuf_add(v->e.out, " >= ");
    emit_array_length(&v->e, array);
    strbuf_add(v->e.out, ") ");
    emit_vector_again(v);
    emit_line(&v->e, "} }");
}

/* "dp_pack1[k * 8 + j]" */
static void pack_place(VectorEmitter *v, CoreVar x)
{
    const Packs *p = v->packs;
    CoreAtom at[PACKS_MOST_RANK];
    uint32_t n = 0;
    strbuf_printf(v->e.out, "dp_pack%u[", packs_at(p, x)->pack);
    for (const PackRead *r = packs_at(p, x); r->there; r = packs_at(p, r->from))
        at[n++] = r->at;
    for (uint32_t i = n; i-- > 0;) {
        uint64_t stride = 1;
        for (uint32_t j = 0; j < i; j++)
            stride *= packs_size(p, at[j]);
        if (at[i].is_const)
            continue;
        emit_atom(&v->e, at[i]);
        strbuf_printf(v->e.out, " * %u + ", (unsigned)stride);
    }
    strbuf_add(v->e.out, "0]");
}

static void read_each(VectorEmitter *v, CoreVar x, CoreAtom array, CoreAtom at)
{
    const CoreType t = core_var_type(v->e.fn, x);
    if (t.rank > 0)
        emit_vector_views_declare(v, x);
    else
        emit_vector_declaration(v, x);
    open_each(v, array);
    open_place(v, at);
    if (t.rank > 0)
        emit_vector_views_name(v, x);
    else
        emit_var(&v->e, x);
    strbuf_add(v->e.out, t.rank > 0 ? ".at[l] = " : "[l] = ");
    if (v->mask)
        strbuf_printf(v->e.out, "!on%u[l] ? %s : ", v->mask, t.rank > 0 ? "dp_make_view(0, 0)" : "0");
    strbuf_add(v->e.out, t.rank == 0 && t.scalar == SC_BOOL ? "-(int)" : "");
    emit_element_read(&v->e, array, at);
    strbuf_add(v->e.out, "; } }\n");
}

void emit_vector_views_read(VectorEmitter *v, CoreVar x, CoreAtom array, CoreAtom at, uint32_t site)
{
    if (v->packs && packs_of(v->packs, x)) {
        emit_vector_bind(v, x);
        pack_place(v, x);
        strbuf_add(v->e.out, ";\n");
        return;
    }
    if (site != CORE_NO_SITE)
        check_place(v, array, at);
    read_each(v, x, array, at);
}

/* ---- packs ---- */

/* for (k < 8) { row = b[k]; for (j < 8) dp_pack1[k * 8 + j] = row[j]; }, from the outermost index on. Returns how deep
 * it is. */
static uint32_t open_box(VectorEmitter *v, CoreVar x)
{
    const PackRead *r = packs_at(v->packs, x);
    if (!r->there)
        return 0;
    const uint32_t outer = open_box(v, r->from);
    if (r->at.is_const) {
        emit_line(&v->e, "{");
    } else {
        if (core_var_type(v->e.fn, x).rank == 0)
            emit_line(&v->e, "#pragma unroll");
        emit_indent(&v->e);
        strbuf_add(v->e.out, "for (dp_i64 ");
        emit_atom(&v->e, r->at);
        strbuf_add(v->e.out, " = 0; ");
        emit_atom(&v->e, r->at);
        strbuf_printf(v->e.out, " < %uL; ", packs_size(v->packs, r->at));
        emit_atom(&v->e, r->at);
        strbuf_add(v->e.out, "++) {\n");
    }
    v->e.depth++;
    read_each(v, x, core_var_atom(r->from, core_var_type(v->e.fn, r->from)), r->at);
    return outer + 1;
}

/* Rows of four elements or more: "for (k < 8) { row = b[k]; const dp_i64 j = 0; dp_load_rows_f32_w(heap, &views_row,
 * &dp_pack1[k * 8 + j], 8); }" */
static uint32_t pack_rows(VectorEmitter *v, CoreVar x)
{
    const PackRead *r = packs_at(v->packs, x);
    const uint32_t depth = open_box(v, r->from);
    emit_line(&v->e, "{");
    v->e.depth++;
    emit_indent(&v->e);
    strbuf_add(v->e.out, "const dp_i64 ");
    emit_atom(&v->e, r->at);
    strbuf_add(v->e.out, " = 0;\n");
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "dp_load_rows_%s_w(heap, &", vector_type_name(v, x));
    emit_vector_views_name(v, r->from);
    strbuf_add(v->e.out, ", &");
    pack_place(v, x);
    strbuf_printf(v->e.out, ", %u);\n", packs_size(v->packs, r->at));
    return depth + 1;
}

static uint32_t pack_elements(VectorEmitter *v, CoreVar x)
{
    const uint32_t depth = open_box(v, x);
    emit_indent(&v->e);
    pack_place(v, x);
    strbuf_add(v->e.out, " = ");
    emit_var(&v->e, x);
    strbuf_add(v->e.out, ";\n");
    return depth;
}

void emit_vector_packs(VectorEmitter *v)
{
    for (uint32_t i = 0; v->packs && i < v->packs->n; i++) {
        const CoreVar x = v->packs->at[i].read;
        if (!packs_of(v->packs, x))
            continue;
        const bool rows = packs_size(v->packs, packs_at(v->packs, x)->at) >= 4;
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_%s_w dp_pack%u[%u];\n", vector_type_name(v, x), i + 1,
                      (unsigned)v->packs->at[i].cells);
        for (uint32_t depth = rows ? pack_rows(v, x) : pack_elements(v, x); depth > 0; depth--) {
            v->e.depth--;
            emit_line(&v->e, "}");
        }
    }
}
