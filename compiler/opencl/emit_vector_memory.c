#include "opencl/emit_scalar_internal.h"
#include "opencl/emit_vector_internal.h"
#include "plan/emit_text.h"

#include "params.h"

/* Arrays that several lanes make in memory (core/lane.h), all at one place: `x` is a view whose elements are vectors.
 * Where there is no room, or a lane fails, all of it is left to the scalar code. A ragged array, of which each lane has
 * a length of its own, is as long as the longest.
 *
 *     dp_view ys; if (!dp_wide_make(&ys, &dp_top, dp_own, n, 4)) goto again;
 *     for (dp_i64 k = 0; k < n; k++) { dp_f32_w x = DP_WIDE_LOAD(f32, xs, k); … DP_WIDE_STORE(f32, ys, k, v); } */

bool vector_is_shared(const VectorEmitter *v, CoreAtom a) { return spread_is_shared(v->e.fn, v->e.lane, a); }

static CoreAtom atom_of(const VectorEmitter *v, CoreVar x) { return core_var_atom(x, core_var_type(v->e.fn, x)); }

static unsigned element_bytes(const VectorEmitter *v, CoreVar array)
{
    return emit_bytes(core_element(core_var_type(v->e.fn, array)));
}

/* "if (!" … ") goto again;" */
static void unless_open(VectorEmitter *v)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (!");
}

static void unless_close(VectorEmitter *v)
{
    strbuf_add(v->e.out, ") ");
    emit_vector_again(v);
}

/* ---- making them ---- */

static void declare(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "dp_view ");
    emit_var(&v->e, x);
    strbuf_add(v->e.out, ";\n");
}

void emit_vector_most(void *vector, CoreAtom n)
{
    VectorEmitter *v = vector;
    const bool same = spread_of(&v->table, n) == SPREAD_UNIFORM;
    strbuf_add(v->e.out, same ? "" : "dp_most(");
    if (same)
        emit_atom(&v->e, n);
    else
        emit_vector_operand(v, n);
    strbuf_add(v->e.out, same ? "" : ")");
}

bool vector_is_ragged(const VectorEmitter *v, CoreAtom array)
{
    return v->table.ragged && (lane_var(v->e.lane, array.var)->taken || spread_var(&v->table, array.var)->ragged);
}

/* "dp_length_x" of what is taken, or a number. */
void emit_vector_ragged_length(VectorEmitter *v, CoreAtom array)
{
    const CoreVar n = lane_var(v->e.lane, array.var)->taken ? array.var : spread_var(&v->table, array.var)->length;
    if (core_var_type(v->e.fn, n).rank > 0)
        strbuf_add(v->e.out, "dp_length_");
    emit_var(&v->e, n);
}

/* "if (!dp_wide_make(&x, &dp_top, dp_own, " n ", 4)) goto again;" */
static void make_open(VectorEmitter *v, CoreVar x)
{
    unless_open(v);
    strbuf_add(v->e.out, "dp_wide_make(&");
    emit_var(&v->e, x);
    strbuf_add(v->e.out, ", &dp_top, dp_own, ");
}

static void make_close(VectorEmitter *v, CoreVar x)
{
    strbuf_printf(v->e.out, ", %u)", element_bytes(v, x));
    unless_close(v);
}

void emit_vector_shared_made(VectorEmitter *v, CoreVar x, CoreAtom n)
{
    declare(v, x);
    make_open(v, x);
    emit_vector_most(v, n);
    make_close(v, x);
}

/* "DP_WIDE_TAKE" what "(f32, x, from)": from is what lanes have views of, or an array of all of them. */
static void take_elements(VectorEmitter *v, const char *what, CoreVar x, CoreAtom from, bool views)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "DP_WIDE_TAKE%s(%s, ", what, vector_type_name(v, x));
    emit_var(&v->e, x);
    strbuf_add(v->e.out, ", ");
    if (views)
        emit_vector_views_name(v, from.var);
    else
        emit_atom(&v->e, from);
    strbuf_add(v->e.out, ")\n");
}

/* Of an array of the heap that all lanes have in common. */
static void take_common(VectorEmitter *v, CoreVar x, CoreAtom from)
{
    make_open(v, x);
    strbuf_add(v->e.out, "DP_LEN(");
    emit_atom(&v->e, from);
    strbuf_add(v->e.out, ")");
    make_close(v, x);
    take_elements(v, "", x, from, false);
}

/* Of one for each, of one length. */
static void take_views(VectorEmitter *v, CoreVar x, CoreAtom from)
{
    unless_open(v);
    strbuf_add(v->e.out, "dp_views_alike(&");
    emit_vector_views_name(v, from.var);
    strbuf_add(v->e.out, ")");
    unless_close(v);
    make_open(v, x);
    strbuf_add(v->e.out, "DP_LEN(");
    emit_vector_views_name(v, from.var);
    strbuf_add(v->e.out, ".at[0])");
    make_close(v, x);
    take_elements(v, "_VIEWS", x, from, true);
}

/* "const dp_i64_w dp_length_x = dp_lengths_of(&views_x);", and as many elements as the most of them. */
static void take_ragged(VectorEmitter *v, CoreVar x)
{
    StrBuf *const out = v->e.out;
    emit_indent(&v->e);
    strbuf_add(out, "const dp_i64_w dp_length_");
    emit_var(&v->e, x);
    strbuf_add(out, " = dp_lengths_of(&");
    emit_vector_views_name(v, x);
    strbuf_add(out, ");\n");
    make_open(v, x);
    strbuf_add(out, "dp_most(dp_length_");
    emit_var(&v->e, x);
    strbuf_add(out, ")");
    make_close(v, x);
    take_elements(v, "_RAGGED", x, atom_of(v, x), true);
}

void emit_vector_shared_copy(VectorEmitter *v, CoreVar x, CoreAtom from)
{
    declare(v, x);
    if (!vector_is_shared(v, from)) {
        if (!from.is_const && vector_varies(v, from.var))
            take_views(v, x, from);
        else
            take_common(v, x, from);
        return;
    }
    unless_open(v);
    strbuf_add(v->e.out, "dp_wide_copy(heap, &");
    emit_var(&v->e, x);
    strbuf_add(v->e.out, ", &dp_top, dp_own, ");
    emit_atom(&v->e, from);
    strbuf_printf(v->e.out, ", %u)", element_bytes(v, x));
    unless_close(v);
}

/* What is changed begins as the array itself, or as a copy. */
static void begin_changed(VectorEmitter *v, CoreVar x, CoreAtom from)
{
    if (lane_owns(v->e.lane, x)) {
        emit_vector_shared_copy(v, x, from);
        return;
    }
    emit_vector_bind(v, x);
    emit_atom(&v->e, from);
    strbuf_add(v->e.out, ";\n");
}

/* ---- elements ---- */

/* "DP_WIDE_" what "(f32, x, k" */
static void open_element(VectorEmitter *v, const char *what, CoreAtom array, CoreAtom at)
{
    strbuf_printf(v->e.out, "DP_WIDE_%s(%s, ", what, vector_type_name(v, array.var));
    emit_atom(&v->e, array);
    strbuf_add(v->e.out, ", ");
    if (spread_of(&v->table, at) == SPREAD_UNIFORM)
        emit_atom(&v->e, at);
    else
        emit_vector_operand(v, at);
}

/* "dp_lt_u64_w(at, length)": which lanes' arrays have such an element? Negative places are too large. */
static void there(VectorEmitter *v, const char *compares, CoreAtom array, CoreAtom at)
{
    strbuf_printf(v->e.out, "dp_%s_u64_w(dp_convert_i64_u64_w(", compares);
    emit_vector_operand(v, at);
    strbuf_add(v->e.out, "), ");
    if (vector_is_ragged(v, array)) {
        strbuf_add(v->e.out, "dp_convert_i64_u64_w(");
        emit_vector_ragged_length(v, array);
        strbuf_add(v->e.out, ")");
    } else {
        strbuf_add(v->e.out, "dp_wide_u64(DP_LEN(");
        emit_atom(&v->e, array);
        strbuf_add(v->e.out, "))");
    }
    strbuf_add(v->e.out, ")");
}

static void check_place(VectorEmitter *v, CoreAtom array, CoreAtom at)
{
    if (spread_of(&v->table, at) == SPREAD_UNIFORM && !vector_is_ragged(v, array)) {
        emit_vector_bounds(v, array, at);
        return;
    }
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (dp_any(");
    emit_vector_mask(v);
    strbuf_add(v->e.out, " & ");
    there(v, "ge", array, at);
    strbuf_add(v->e.out, ")) ");
    emit_vector_again(v);
}

void emit_vector_shared_read(VectorEmitter *v, CoreVar x, CoreAtom array, CoreAtom at, uint32_t site)
{
    const bool same = spread_of(&v->table, at) == SPREAD_UNIFORM;
    if (site != CORE_NO_SITE)
        check_place(v, array, at);
    emit_vector_bind(v, x);
    open_element(v, same ? "LOAD" : "GATHER", array, at);
    if (!same) {
        strbuf_add(v->e.out, ", ");
        emit_vector_mask(v);
    }
    strbuf_add(v->e.out, ");\n");
}

/* chosen: only lanes that are on get something. */
void emit_vector_shared_store(VectorEmitter *v, CoreVar array, CoreAtom at, CoreAtom value, bool chosen)
{
    const bool same = spread_of(&v->table, at) == SPREAD_UNIFORM;
    emit_indent(&v->e);
    open_element(v, !same ? "SCATTER" : chosen ? "STORE_ON" : "STORE", atom_of(v, array), at);
    strbuf_add(v->e.out, ", ");
    emit_vector_operand(v, value);
    if (!same || chosen) {
        strbuf_add(v->e.out, ", ");
        emit_vector_mask(v);
    }
    strbuf_add(v->e.out, ");\n");
}

void emit_vector_shared_slice(VectorEmitter *v, const CoreStmt *s)
{
    emit_vector_bind(v, s->vars[0]);
    strbuf_add(v->e.out, "dp_make_view((dp_u64)(");
    emit_atom(&v->e, s->slice.to);
    strbuf_add(v->e.out, " - ");
    emit_atom(&v->e, s->slice.from);
    strbuf_add(v->e.out, "), DP_WIDE_AT(");
    emit_atom(&v->e, s->slice.array);
    strbuf_add(v->e.out, ", ");
    emit_atom(&v->e, s->slice.from);
    strbuf_printf(v->e.out, ", %u));\n", element_bytes(v, s->slice.array.var));
}

/* At one place, by the lanes that want it. */
static void store_chosen(VectorEmitter *v, const CoreStmt *s, const SpreadVar *place)
{
    const uint32_t outside = v->mask, inside = ++v->nmasks;
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "const dp_bool_w on%u = ", inside);
    emit_vector_mask(v);
    strbuf_add(v->e.out, place->unless ? " & ~" : " & ");
    emit_vector_operand(v, core_var_atom(place->when, core_scalar(SC_BOOL)));
    strbuf_add(v->e.out, ";\n");
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if ((dp_u64)");
    emit_atom(&v->e, place->there);
    strbuf_add(v->e.out, " < ");
    emit_array_length(&v->e, atom_of(v, s->vars[0]));
    strbuf_add(v->e.out, ") {\n");
    v->e.depth++;
    v->mask = inside;
    emit_vector_shared_store(v, s->vars[0], place->there, s->update.value, true);
    v->mask = outside;
    v->e.depth--;
    emit_line(&v->e, "}");
}

void emit_vector_shared_update(VectorEmitter *v, const CoreStmt *s)
{
    begin_changed(v, s->vars[0], s->update.array);
    const SpreadVar *place = s->update.index.is_const ? NULL : spread_var(&v->table, s->update.index.var);
    if (place && place->chosen && s->site == CORE_NO_SITE && !vector_is_ragged(v, atom_of(v, s->vars[0]))) {
        store_chosen(v, s, place);
        return;
    }
    if (!s->update.holds)
        check_place(v, atom_of(v, s->vars[0]), s->update.index);
    emit_vector_shared_store(v, s->vars[0], s->update.index, s->update.value, v->mask != 0);
}

void emit_vector_shared_begin_scatter(VectorEmitter *v, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        begin_changed(v, s->vars[i], s->soac.dests[i]);
}

/* The body's first result is where; out of range is ignored. */
void emit_vector_shared_scatter(VectorEmitter *v, const CoreStmt *s)
{
    const CoreAtom at = s->soac.body->results[0];
    const uint32_t outside = v->mask;
    for (uint32_t i = 0; i < s->nvars; i++) {
        const CoreAtom array = atom_of(v, s->vars[i]);
        const uint32_t inside = ++v->nmasks;
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "const dp_bool_w on%u = ", inside);
        emit_vector_mask(v);
        strbuf_add(v->e.out, " & ");
        there(v, "lt", array, at);
        strbuf_add(v->e.out, ";\n");
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "if (dp_any(on%u)) {\n", inside);
        v->e.depth++;
        v->mask = inside;
        emit_vector_shared_store(v, s->vars[i], at, s->soac.body->results[i + 1], true);
        v->mask = outside;
        v->e.depth--;
        emit_line(&v->e, "}");
    }
}

/* ---- loops ---- */

static void move_state(VectorEmitter *v, const CoreStmt *s, uint32_t mark)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        if (!vector_is_shared(v, atom_of(v, s->loop.params[i])))
            continue;
        unless_open(v);
        strbuf_add(v->e.out, "dp_wide_move(heap, &");
        emit_var(&v->e, s->loop.params[i]);
        strbuf_printf(v->e.out, ", &dp_top, dp_own, %u, dp_mark%u, dp_kept)", element_bytes(v, s->loop.params[i]),
                      mark);
        unless_close(v);
    }
}

/* Lanes that have left the loop keep what they have: what a round has made gets that. */
void emit_vector_shared_mix(VectorEmitter *v, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        const CoreAtom old = atom_of(v, s->loop.params[i]), next = s->loop.body->results[i];
        if (!vector_is_shared(v, old) || core_atom_equal(old, next))
            continue;
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "DP_WIDE_MIX(%s, ", vector_type_name(v, old.var));
        emit_atom(&v->e, next);
        strbuf_add(v->e.out, ", ");
        emit_atom(&v->e, old);
        strbuf_add(v->e.out, ", ");
        emit_vector_mask(v);
        strbuf_add(v->e.out, ")\n");
        v->gives_up = true;
    }
}

/* As emit_strip_round: a single array moves down at once. */
void emit_vector_shared_round(VectorEmitter *v, const CoreStmt *s, uint32_t mark)
{
    uint32_t arrays = 0;
    if (mark == 0)
        return;
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        arrays += vector_is_shared(v, atom_of(v, s->loop.params[i]));
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "if (dp_top > dp_limit%u) {\n", mark);
    v->e.depth++;
    emit_line(&v->e, "dp_u64 dp_kept = dp_top;");
    if (arrays > 1) {
        move_state(v, s, mark);
        emit_line(&v->e, "dp_kept = dp_top;");
    }
    emit_drop(&v->e, mark);
    move_state(v, s, mark);
    emit_limit(&v->e, mark);
    v->e.depth--;
    emit_line(&v->e, "}");
}

/* "dp_i64 n = dp_wide_row(heap, &views_xs); if (n < 0) goto again; … DP_WIDE_TABLE(f64, ys, views_xs, n)" */
void emit_vector_shared_table(VectorEmitter *v, const CoreStmt *s)
{
    const CoreVar ys = s->vars[0], n = s->vars[1], xs = s->length.array.var;
    if (!vector_is_views(v, s->length.array)) { /* one for all lanes */
        emit_indent(&v->e);
        strbuf_add(v->e.out, "dp_views ");
        emit_vector_views_name(v, xs);
        strbuf_add(v->e.out, "; DP_EACH_LANE(l) ");
        emit_vector_views_name(v, xs);
        strbuf_add(v->e.out, ".at[l] = ");
        emit_var(&v->e, xs);
        strbuf_add(v->e.out, ";\n");
    }
    emit_vector_bind(v, n);
    strbuf_add(v->e.out, "dp_wide_row(heap, &");
    emit_vector_views_name(v, xs);
    strbuf_add(v->e.out, ");\n");
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (");
    emit_var(&v->e, n);
    strbuf_add(v->e.out, " < 0) ");
    emit_vector_again(v);
    declare(v, ys);
    make_open(v, ys);
    strbuf_add(v->e.out, "DP_LEN(");
    emit_vector_views_name(v, xs);
    strbuf_add(v->e.out, ".at[0]) * (dp_u64)");
    emit_var(&v->e, n);
    make_close(v, ys);
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "DP_WIDE_TABLE(%s, ", vector_type_name(v, ys));
    emit_var(&v->e, ys);
    strbuf_add(v->e.out, ", ");
    emit_vector_views_name(v, xs);
    strbuf_add(v->e.out, ", ");
    emit_var(&v->e, n);
    strbuf_add(v->e.out, ")\n");
}

/* ---- the lane ---- */

void emit_vector_memory_open(VectorEmitter *v, const CoreStmt *s)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "DP_LANE_OPEN_W(");
    emit_atom(&v->e, s->lane.memory);
    strbuf_add(v->e.out, ")\n");
    if (dp_lane_counts(s->lane.of)) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "DP_LANE_COUNT(");
        emit_atom(&v->e, s->lane.memory);
        strbuf_add(v->e.out, ", DP_LANE_KEPT)\n");
    }
    for (uint32_t i = 0; i < v->e.lane->taken.n; i++) {
        const CoreVar x = v->e.lane->taken.at[i];
        declare(v, x);
        if (v->table.ragged)
            take_ragged(v, x);
        else
            take_views(v, x, atom_of(v, x));
    }
}

/* An array of the heap is given as it is, others where they stay. */
void emit_vector_memory_give(VectorEmitter *v, const CoreStmt *s, uint32_t i)
{
    const CoreAtom given = s->lane.block->results[i];
    StrBuf *out = v->e.out;
    if (!vector_is_shared(v, given)) {
        emit_indent(&v->e);
        strbuf_add(out, "DP_EACH_LANE(l) ");
        emit_vector_views_name(v, s->vars[i]);
        strbuf_add(out, ".at[l] = ");
        if (vector_is_views(v, given)) {
            emit_vector_views_name(v, given.var);
            strbuf_add(out, ".at[l];\n");
        } else if (given.is_const) {
            strbuf_add(out, "dp_make_view(0, 0);\n");
        } else {
            emit_atom(&v->e, given);
            strbuf_add(out, ";\n");
        }
        return;
    }
    const bool ragged = vector_is_ragged(v, given);
    unless_open(v);
    strbuf_printf(out, "dp_wide_room%s(heap, ", ragged ? "s" : "");
    emit_atom(&v->e, s->lane.memory);
    strbuf_add(out, ragged ? ", " : ", DP_LEN(");
    if (ragged)
        emit_vector_ragged_length(v, given);
    else
        emit_atom(&v->e, given);
    strbuf_printf(out, "%s, %u, &", ragged ? "" : ")", element_bytes(v, given.var));
    emit_vector_views_name(v, s->vars[i]);
    strbuf_add(out, ")");
    unless_close(v);
    emit_indent(&v->e);
    strbuf_printf(out, "DP_WIDE_GIVE%s(%s, ", ragged ? "_RAGGED" : "", vector_type_name(v, given.var));
    emit_atom(&v->e, given);
    strbuf_add(out, ", ");
    emit_vector_views_name(v, s->vars[i]);
    strbuf_add(out, ")\n");
}
