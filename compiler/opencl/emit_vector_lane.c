#include "core/lane.h"
#include "opencl/emit_scalar_internal.h"
#include "opencl/emit_vector_internal.h"
#include "opencl/abreast.h"
#include "params.h"
#include "plan/emit_text.h"

#include <assert.h>

/* What emit_lane.c prints for one instance, for several: a private array is one of vectors, and all lanes are at the
 * same place of it. Lanes that are off compute along; what they had stays in the state of loops and in what is updated.
 *
 *     dp_i64_w ys[8];
 *     for (dp_i64 k = 0; k < 8; k++) { dp_i64_w x = xs[k]; … ys[k] = v; } */

enum { UNROLLED = 128 }; /* statements that a loop becomes at most */

/* ---- private arrays ---- */

static unsigned elements(const VectorEmitter *v, CoreVar x)
{
    const uint64_t n = lane_elements(lane_var(v->e.lane, x));
    return n ? (unsigned)n : 1;
}

static void private_memory(VectorEmitter *v, const char *prefix, CoreVar x)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "dp_%s_w %s", vector_type_name(v, x), prefix);
    emit_var(&v->e, x);
    strbuf_printf(v->e.out, "[%u];\n", elements(v, x));
}

static void private_pointer(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "dp_%s_w *", vector_type_name(v, x));
    emit_var(&v->e, x);
    strbuf_add(v->e.out, " = ");
}

/* ");\n", or ", on1, i64);\n" where only lanes that are on get something. */
static void close_chosen(VectorEmitter *v, CoreVar x, bool chosen)
{
    if (chosen) {
        strbuf_add(v->e.out, ", ");
        emit_vector_mask(v);
        strbuf_printf(v->e.out, ", %s", vector_type_name(v, x));
    }
    strbuf_add(v->e.out, ");\n");
}

/* "DP_COPY(x, y, 8);", chosen: "DP_COPY_ON(x, y, 8, on1, i64);" */
static void private_copy(VectorEmitter *v, const char *to, CoreVar x, const char *from, CoreVar y, bool chosen)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "%s(%s", chosen ? "DP_COPY_ON" : "DP_COPY", to);
    emit_var(&v->e, x);
    strbuf_printf(v->e.out, ", %s", from);
    emit_var(&v->e, y);
    strbuf_printf(v->e.out, ", %u", (unsigned)lane_elements(lane_var(v->e.lane, x)));
    close_chosen(v, x, chosen);
}

void emit_vector_private(VectorEmitter *v, CoreVar x, CoreAtom a)
{
    if (lane_owns(v->e.lane, x)) {
        private_memory(v, "", x);
        private_copy(v, "", x, "", a.var, false);
        return;
    }
    private_pointer(v, x);
    emit_var(&v->e, a.var);
    strbuf_add(v->e.out, ";\n");
}

static void private_bounds(VectorEmitter *v, CoreAtom array, CoreAtom index)
{
    if (!lane_index_holds(v->e.lane, array, index))
        emit_vector_bounds(v, array, index);
}

void emit_vector_private_index(VectorEmitter *v, const CoreStmt *s)
{
    if (s->site != CORE_NO_SITE)
        private_bounds(v, s->index.array, s->index.index);
    if (emit_is_private(&v->e, s->vars[0]))
        private_pointer(v, s->vars[0]);
    else
        emit_vector_bind(v, s->vars[0]);
    emit_element_read(&v->e, s->index.array, s->index.index);
    strbuf_add(v->e.out, ";\n");
}

/* array[at] = a, of scalars, or of a row: "DP_SET_ON(x[k], y, on1, i64);", where only lanes that are on get something.
 */
static void private_store(VectorEmitter *v, CoreVar array, CoreAtom at, CoreAtom a, bool chosen)
{
    const LaneVar *info = lane_var(v->e.lane, array);
    emit_indent(&v->e);
    strbuf_add(v->e.out, info->rank > 1 ? "DP_COPY" : "DP_SET");
    strbuf_add(v->e.out, chosen ? "_ON((" : "((");
    emit_element_read(&v->e, core_var_atom(array, core_var_type(v->e.fn, array)), at);
    strbuf_add(v->e.out, "), ");
    if (info->rank > 1) {
        emit_atom(&v->e, a);
        strbuf_printf(v->e.out, ", %u", (unsigned)lane_stride(info));
    } else {
        emit_vector_operand(v, a);
    }
    close_chosen(v, array, chosen);
}

void emit_vector_private_next(VectorEmitter *v, CoreVar x, CoreAtom a, bool aside, bool diverges)
{
    if (aside) {
        private_memory(v, "next_", x);
        private_copy(v, "next_", x, "", a.var, false);
    } else if (lane_memory(v->e.lane, a.var) != x) { /* else it has been updated there */
        private_copy(v, "", x, "", a.var, diverges);
    }
}

void emit_vector_private_take(VectorEmitter *v, CoreVar x, bool diverges)
{
    private_copy(v, "", x, "next_", x, diverges);
}

/* ---- parallel operations ---- */

static void store(VectorEmitter *v, CoreVar array, CoreAtom at, CoreAtom a)
{
    if (vector_has_memory(v))
        emit_vector_shared_store(v, array, at, a, false);
    else
        private_store(v, array, at, a, false);
}

static CoreAtom position_of(const CoreSoac *soac) { return core_var_atom(soac->index, core_scalar(SC_I64)); }

static void bind_vector(VectorEmitter *v, CoreVar x, CoreAtom a)
{
    emit_vector_bind(v, x);
    emit_vector_operand(v, a);
    strbuf_add(v->e.out, ";\n");
}

static void emit_elements(VectorEmitter *v, const CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        if (vector_is_shared(v, soac->inputs[i])) {
            emit_vector_shared_read(v, soac->elements[i], soac->inputs[i], position_of(soac), CORE_NO_SITE);
            continue;
        }
        if (vector_is_views(v, soac->inputs[i])) {
            emit_vector_views_read(v, soac->elements[i], soac->inputs[i], position_of(soac), CORE_NO_SITE);
            continue;
        }
        if (emit_is_private(&v->e, soac->elements[i]))
            private_pointer(v, soac->elements[i]);
        else
            emit_vector_bind(v, soac->elements[i]);
        emit_element_read(&v->e, soac->inputs[i], position_of(soac));
        strbuf_add(v->e.out, ";\n");
    }
}

/* Lanes that have no more elements are off: "const dp_bool_w on2 = on1 & k < n; if (!dp_any(on2)) break;" */
static void narrow_to_elements(VectorEmitter *v, const CoreSoac *soac)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "const dp_bool_w on%u = ", v->nmasks + 1);
    emit_vector_mask(v);
    strbuf_add(v->e.out, " & dp_gt_i64_w(");
    emit_vector_operand(v, soac->domain);
    strbuf_add(v->e.out, ", dp_wide_i64(");
    emit_var(&v->e, soac->index);
    strbuf_add(v->e.out, "));\n");
    v->mask = ++v->nmasks;
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "if (!dp_any(on%u)) break;\n", v->mask);
}

/* "for (dp_i64 k = 0; k < n; k++) {", or without an end where lanes have different numbers of elements. */
static void loop_over(VectorEmitter *v, const CoreSoac *soac)
{
    const bool ragged = spread_of(&v->table, soac->domain) != SPREAD_UNIFORM;
    emit_indent(&v->e);
    strbuf_add(v->e.out, "for (dp_i64 ");
    emit_var(&v->e, soac->index);
    strbuf_add(v->e.out, " = 0;");
    if (!ragged) {
        strbuf_add(v->e.out, " ");
        emit_var(&v->e, soac->index);
        strbuf_add(v->e.out, " < ");
        emit_atom(&v->e, soac->domain);
    }
    strbuf_add(v->e.out, "; ");
    emit_var(&v->e, soac->index);
    strbuf_add(v->e.out, "++) {\n");
    v->e.depth++;
    if (ragged)
        narrow_to_elements(v, soac);
}

/* What an operation's beginning leaves for its end. */
typedef struct Inside {
    uint32_t mark; /* where memory ends that is free behind an element; 0: it is none */
    uint32_t mask; /* outside */
} Inside;

/* The loop's head, the elements, and the body. */
static Inside emit_soac_begin(VectorEmitter *v, const CoreStmt *s)
{
    const CoreSoac *soac = &s->soac;
    const uint32_t outside = v->mask;
    const uint32_t mark = vector_has_memory(v) && emit_drops(&v->e, s, scalar_facts(v->e.fn, v->e.lane, soac->body))
                              ? emit_mark(&v->e)
                              : 0;
    int64_t n;
    emit_spent(&v->e, s, 1, emit_vector_most, v);
    v->e.inside++;
    if (lane_constant(v->e.lane, soac->domain, &n) &&
        n * (scalar_facts(v->e.fn, NULL, soac->body).statements + 1) <= UNROLLED)
        strbuf_add(v->e.out, "#pragma unroll\n");
    loop_over(v, soac);
    emit_elements(v, soac);
    emit_vector_block(v, soac->body);
    return (Inside){mark, outside};
}

static void emit_soac_end(VectorEmitter *v, Inside inside)
{
    if (inside.mark)
        emit_drop(&v->e, inside.mark);
    v->mask = inside.mask;
    v->e.inside--;
    v->e.depth--;
    emit_line(&v->e, "}");
}

static void emit_stores(VectorEmitter *v, const CoreStmt *s, const CoreAtom *values)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        store(v, s->vars[i], position_of(&s->soac), values[i]);
}

static void emit_map(VectorEmitter *v, const CoreStmt *s)
{
    if (lane_is_room(s))
        return;
    const Inside inside = emit_soac_begin(v, s);
    emit_stores(v, s, s->soac.body->results);
    emit_soac_end(v, inside);
}

static void emit_scatter(VectorEmitter *v, const CoreStmt *s)
{
    emit_vector_shared_begin_scatter(v, s);
    const Inside inside = emit_soac_begin(v, s);
    emit_vector_shared_scatter(v, s);
    emit_soac_end(v, inside);
}

/* The operator's first parameters are what has been combined so far; then come the element's values. */
static void emit_combine(VectorEmitter *v, const CoreStmt *s)
{
    const CoreLambda *op = &s->soac.op;
    const uint32_t k = s->nvars;
    const bool ragged = spread_of(&v->table, s->soac.domain) != SPREAD_UNIFORM;
    for (uint32_t i = 0; i < k; i++)
        bind_vector(v, op->params[k + i], s->soac.body->results[i]);
    emit_vector_block(v, op->body);
    for (uint32_t i = 0; i < k; i++) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "const dp_%s_w next_", vector_type_name(v, op->params[i]));
        emit_var(&v->e, op->params[i]);
        strbuf_add(v->e.out, " = ");
        if (ragged)
            strbuf_printf(v->e.out, "dp_select_%s_w(on%u, ", vector_type_name(v, op->params[i]), v->mask);
        emit_vector_operand(v, op->body->results[i]);
        if (ragged) {
            strbuf_add(v->e.out, ", ");
            emit_var(&v->e, op->params[i]);
            strbuf_add(v->e.out, ")");
        }
        strbuf_add(v->e.out, ";\n");
    }
    for (uint32_t i = 0; i < k; i++) {
        emit_indent(&v->e);
        emit_var(&v->e, op->params[i]);
        strbuf_add(v->e.out, " = next_");
        emit_var(&v->e, op->params[i]);
        strbuf_add(v->e.out, ";\n");
    }
}

static void store_combined(VectorEmitter *v, const CoreStmt *s)
{
    const CoreVar *so_far = s->soac.op.params;
    for (uint32_t i = 0; i < s->nvars; i++)
        store(v, s->vars[i], position_of(&s->soac), core_var_atom(so_far[i], core_var_type(v->e.fn, so_far[i])));
}

static void emit_fold(VectorEmitter *v, const CoreStmt *s)
{
    const CoreVar *so_far = s->soac.op.params;
    for (uint32_t i = 0; i < s->nvars; i++)
        bind_vector(v, so_far[i], s->soac.neutral[i]);
    const Inside inside = emit_soac_begin(v, s);
    if (s->kind == CORE_SCAN && s->soac.exclusive)
        store_combined(v, s);
    emit_combine(v, s);
    if (s->kind == CORE_SCAN && !s->soac.exclusive)
        store_combined(v, s);
    emit_soac_end(v, inside);
    for (uint32_t i = 0; s->kind == CORE_REDUCE && i < s->nvars; i++)
        bind_vector(v, s->vars[i], core_var_atom(so_far[i], core_var_type(v->e.fn, so_far[i])));
}

/* ---- statements ---- */

static void emit_update(VectorEmitter *v, const CoreStmt *s)
{
    if (vector_has_memory(v)) {
        emit_vector_shared_update(v, s);
        return;
    }
    private_bounds(v, s->update.array, s->update.index);
    emit_vector_private(v, s->vars[0], s->update.array);
    private_store(v, s->vars[0], s->update.index, s->update.value, v->mask != 0);
}

static void memory_block(VectorEmitter *v, const CoreStmt *s)
{
    const CoreBlock *b = s->lane.block;
    emit_vector_memory_open(v, s);
    v->e.spends = s->lane.of != LANE_OF_NEST;
    for (uint32_t i = 0; i <= b->stmts.n; i++) {
        if (v->e.spends)
            emit_lane_credit(&v->e, b, i, emit_vector_most, v);
        if (i < b->stmts.n)
            emit_vector_stmt(v, b->stmts.at[i]);
    }
    v->e.spends = false;
}

static void emit_lane(VectorEmitter *v, const CoreStmt *s)
{
    const bool memory = !s->lane.memory.is_const;
    Lane lane;
    bool known = abreast_open(&lane, v->e.fn, s, &v->table, true);
    assert(known && "spread.c has seen to that");
    (void)known;
    for (uint32_t i = 0; i < s->nvars; i++)
        if (core_var_type(v->e.fn, s->vars[i]).rank > 0 && memory)
            emit_vector_views_declare(v, s->vars[i]);
        else
            emit_vector_declaration(v, s->vars[i]);
    emit_line(&v->e, "{");
    v->e.depth++;
    v->e.lane = &lane;
    if (memory) {
        memory_block(v, s);
    } else {
        const Packs packs = packs_find(v->e.fn, &lane, &v->table, s->lane.block);
        v->packs = v->mask ? NULL : &packs;
        emit_vector_packs(v);
        emit_vector_block(v, s->lane.block);
        v->packs = NULL;
        packs_close(&packs);
    }
    for (uint32_t i = 0; i < s->nvars; i++) {
        if (core_var_type(v->e.fn, s->vars[i]).rank > 0 && memory) {
            emit_vector_memory_give(v, s, i);
            continue;
        }
        emit_indent(&v->e);
        emit_var(&v->e, s->vars[i]);
        strbuf_add(v->e.out, " = ");
        emit_vector_value_for(v, s->vars[i], s->lane.block->results[i]);
        strbuf_add(v->e.out, ";\n");
    }
    v->e.lane = NULL;
    v->e.depth--;
    emit_line(&v->e, "}");
    lane_close(&lane);
}

void emit_vector_lane_stmt(VectorEmitter *v, const CoreStmt *s)
{
    for (uint32_t i = 0; (s->kind == CORE_MAP || s->kind == CORE_SCAN || s->kind == CORE_ARRAY) && i < s->nvars; i++)
        if (vector_has_memory(v))
            emit_vector_shared_made(v, s->vars[i], s->kind == CORE_ARRAY ? core_i64(s->array.n) : s->soac.domain);
        else
            private_memory(v, "", s->vars[i]);
    switch (s->kind) {
    case CORE_LANE: emit_lane(v, s); break;
    case CORE_MAP: emit_map(v, s); break;
    case CORE_REDUCE:
    case CORE_SCAN: emit_fold(v, s); break;
    case CORE_SCATTER: emit_scatter(v, s); break;
    case CORE_UPDATE: emit_update(v, s); break;
    case CORE_TABLE: emit_vector_shared_table(v, s); break;
    case CORE_ARRAY:
        for (uint32_t i = 0; i < s->array.n; i++)
            store(v, s->vars[0], core_i64(i), s->array.items[i]);
        break;
    default: assert(false && "spread.c refuses it");
    }
}
