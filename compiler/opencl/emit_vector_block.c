#include "opencl/emit_scalar_internal.h"
#include "opencl/emit_vector_internal.h"
#include "plan/emit_text.h"

/* ---- pieces ---- */

const char *vector_type_name(const VectorEmitter *v, CoreVar x)
{
    return scalar_name(core_var_type(v->e.fn, x).scalar);
}

bool vector_varies(const VectorEmitter *v, CoreVar x) { return spread_var(&v->table, x)->spread == SPREAD_VARYING; }

/* An atom as a vector. */
void emit_vector_operand(VectorEmitter *v, CoreAtom a)
{
    Spread spread = spread_of(&v->table, a);
    if (spread == SPREAD_NEAR || spread == SPREAD_SECOND)
        strbuf_add(v->e.out, spread == SPREAD_NEAR ? "dp_spread(" : "dp_spread_second(");
    else if (spread == SPREAD_UNIFORM)
        strbuf_printf(v->e.out, "dp_wide_%s(", scalar_name(core_atom_type(v->e.fn, a).scalar));
    emit_atom(&v->e, a);
    strbuf_add(v->e.out, spread == SPREAD_VARYING ? "" : ")");
}

/* "dp_f32_w" or "dp_f32" */
static void value_type(VectorEmitter *v, CoreVar x)
{
    if (vector_varies(v, x))
        strbuf_printf(v->e.out, "dp_%s_w", vector_type_name(v, x));
    else
        strbuf_add(v->e.out, emit_value_type(core_var_type(v->e.fn, x)));
}

/* "T x = " */
void emit_vector_bind(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    value_type(v, x);
    strbuf_add(v->e.out, " ");
    emit_var(&v->e, x);
    strbuf_add(v->e.out, " = ");
}

void emit_vector_value_for(VectorEmitter *v, CoreVar x, CoreAtom a)
{
    if (vector_varies(v, x))
        emit_vector_operand(v, a);
    else
        emit_atom(&v->e, a);
}

static void bind(VectorEmitter *v, CoreVar x, CoreAtom a)
{
    if (emit_is_private(&v->e, x)) {
        emit_vector_private(v, x, a);
        return;
    }
    if (vector_is_views(v, a)) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "const dp_views ");
        emit_vector_views_name(v, x);
        strbuf_add(v->e.out, " = ");
        emit_vector_views_name(v, a.var);
        strbuf_add(v->e.out, ";\n");
        return;
    }
    emit_vector_bind(v, x);
    emit_vector_value_for(v, x, a);
    strbuf_add(v->e.out, ";\n");
}

void emit_vector_declaration(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    value_type(v, x);
    strbuf_add(v->e.out, " ");
    emit_var(&v->e, x);
    if (vector_varies(v, x))
        strbuf_printf(v->e.out, " = dp_wide_%s(0)", vector_type_name(v, x));
    strbuf_add(v->e.out, ";\n");
}

void emit_vector_mask(VectorEmitter *v)
{
    if (v->mask)
        strbuf_printf(v->e.out, "on%u", v->mask);
    else
        strbuf_add(v->e.out, "DP_ALL");
}

void emit_vector_again(VectorEmitter *v)
{
    v->gives_up = true;
    if (v->label)
        strbuf_printf(v->e.out, "goto again%u;\n", v->label);
    else
        strbuf_add(v->e.out, "goto again;\n");
}

/* "if (dp_any(on & " … ")) goto again;" around a mask of lanes that fail. */
static void failing_open(VectorEmitter *v)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (dp_any(");
    if (v->mask)
        strbuf_printf(v->e.out, "on%u & ", v->mask);
}

static void failing_close(VectorEmitter *v)
{
    strbuf_add(v->e.out, ")) ");
    emit_vector_again(v);
}

/* ---- primitive operations ---- */

static void zero_divisor(VectorEmitter *v, const CoreStmt *s)
{
    CoreAtom divisor = s->prim.args[1];
    const char *type = scalar_name(core_atom_type(v->e.fn, divisor).scalar);
    if (spread_of(&v->table, divisor) == SPREAD_UNIFORM) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if (");
        emit_atom(&v->e, divisor);
        strbuf_add(v->e.out, " == 0) ");
        emit_vector_again(v);
        return;
    }
    failing_open(v);
    strbuf_printf(v->e.out, "dp_eq_%s_w(", type);
    emit_vector_operand(v, divisor);
    strbuf_printf(v->e.out, ", dp_wide_%s(0))", type);
    failing_close(v);
}

static CorePrim mirrored(CorePrim op)
{
    switch (op) {
    case PRIM_LT: return PRIM_GT;
    case PRIM_LE: return PRIM_GE;
    case PRIM_GT: return PRIM_LT;
    case PRIM_GE: return PRIM_LE;
    default: return op;
    }
}

static void near_prim(VectorEmitter *v, const CoreStmt *s)
{
    const CoreAtom *args = s->prim.args;
    if (s->prim.op == PRIM_CONVERT) {
        strbuf_printf(v->e.out, "dp_near_convert_%s(", vector_type_name(v, s->vars[0]));
        emit_atom(&v->e, args[0]);
        strbuf_add(v->e.out, ");\n");
        return;
    }
    bool first = spread_of(&v->table, args[0]) == SPREAD_NEAR;
    strbuf_printf(v->e.out, "dp_near_%s(", core_prim_name(first ? s->prim.op : mirrored(s->prim.op)));
    emit_atom(&v->e, args[!first]);
    strbuf_add(v->e.out, ", ");
    emit_atom(&v->e, args[first]);
    strbuf_add(v->e.out, ");\n");
}

/* Inside: "if (dp_parts_lt(position, bound)) goto again;", for a bound that lies among the lanes. */
static void inside_guard(VectorEmitter *v, const CoreStmt *s)
{
    const CoreAtom *args = s->prim.args;
    Spread x = spread_of(&v->table, args[0]), y = spread_of(&v->table, args[1]);
    const Spread result = (Spread)spread_var(&v->table, s->vars[0])->spread;
    if (s->prim.op == PRIM_ADD || s->prim.op == PRIM_SUB || result == SPREAD_SECOND ||
        (x != SPREAD_NEAR && y != SPREAD_NEAR))
        return;
    const bool low = s->prim.op == PRIM_AND && result == SPREAD_NEAR;
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "if (dp_parts_%s(",
                  low ? "low" : core_prim_name(x == SPREAD_NEAR ? s->prim.op : mirrored(s->prim.op)));
    emit_atom(&v->e, args[x != SPREAD_NEAR]);
    strbuf_add(v->e.out, ", ");
    emit_atom(&v->e, args[x == SPREAD_NEAR]);
    strbuf_add(v->e.out, ")) ");
    emit_vector_again(v);
}

/* Inside: of what an edge chooses between, the position is what is wanted. */
static void choice_guard(VectorEmitter *v, const CoreStmt *s)
{
    const CoreAtom *args = s->prim.args;
    if (spread_of(&v->table, args[1]) == spread_of(&v->table, args[2]))
        return;
    emit_indent(&v->e);
    strbuf_add(v->e.out, spread_of(&v->table, args[1]) == SPREAD_NEAR ? "if (!" : "if (");
    emit_atom(&v->e, args[0]);
    strbuf_add(v->e.out, ") ");
    emit_vector_again(v);
}

/* "dp_mod_by_power_i64_w(x, 8L, 3);", or "dp_mod_by_i64_w(x, 10L, 0xcccccccccccccccd, 3);": the least power of two 2^l
 * that is no less than d, and 2^(63 + l) / d, rounded up. */
static void constant_divisor(VectorEmitter *v, const CoreStmt *s)
{
    const uint64_t d = s->prim.args[1].bits;
    uint32_t l = 1;
    while (l < 63 && (UINT64_C(1) << l) < d)
        l++;
    if (d == UINT64_C(1) << l) {
        strbuf_printf(v->e.out, "dp_%s_by_power_i64_w(", core_prim_name(s->prim.op));
        emit_vector_operand(v, s->prim.args[0]);
        strbuf_printf(v->e.out, ", %lluL, %u);\n", (unsigned long long)d, l);
        return;
    }
    uint64_t quotient = 0, rest = 0;
    for (uint32_t bit = 64 + l; bit-- > 0;) { /* of 2^(63 + l) */
        rest = 2 * rest + (bit == 63 + l);
        quotient = 2 * quotient + (rest >= d);
        rest -= rest >= d ? d : 0;
    }
    strbuf_printf(v->e.out, "dp_%s_by_i64_w(", core_prim_name(s->prim.op));
    emit_vector_operand(v, s->prim.args[0]);
    strbuf_printf(v->e.out, ", %lluL, %lluUL, %u);\n", (unsigned long long)d,
                  (unsigned long long)(quotient + (rest > 0)), l - 1);
}

static void emit_prim(VectorEmitter *v, const CoreStmt *s)
{
    bool vector = vector_varies(v, s->vars[0]);
    if (scalar_prim_fallible(v->e.fn, s))
        zero_divisor(v, s);
    if (v->table.inside && !vector && s->prim.nargs == 2)
        inside_guard(v, s);
    if (v->table.inside && !vector && s->prim.op == PRIM_SELECT)
        choice_guard(v, s);
    emit_vector_bind(v, s->vars[0]);
    if (vector && spread_near_prim(&v->table, s)) {
        near_prim(v, s);
        return;
    }
    if (vector && spread_divides(v->e.fn, s)) {
        constant_divisor(v, s);
        return;
    }
    emit_prim_name(&v->e, s);
    strbuf_add(v->e.out, vector ? "_w" : "");
    for (uint32_t i = 0; i < s->prim.nargs; i++) {
        strbuf_add(v->e.out, i ? ", " : "(");
        if (vector)
            emit_vector_operand(v, s->prim.args[i]);
        else
            emit_atom(&v->e, s->prim.args[i]);
    }
    strbuf_add(v->e.out, ");\n");
}

/* ---- sequences ---- */

static void emit_length(VectorEmitter *v, const CoreStmt *s)
{
    if (vector_is_views(v, s->length.array)) {
        emit_vector_views_length(v, s);
        return;
    }
    emit_vector_bind(v, s->vars[0]);
    if (vector_varies(v, s->vars[0])) { /* of a ragged array */
        emit_vector_ragged_length(v, s->length.array);
        strbuf_add(v->e.out, ";\n");
        return;
    }
    strbuf_add(v->e.out, "(dp_i64)");
    emit_array_length(&v->e, s->length.array);
    strbuf_add(v->e.out, ";\n");
}

void emit_vector_bounds(VectorEmitter *v, CoreAtom array, CoreAtom at)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if ((dp_u64)");
    emit_atom(&v->e, at);
    strbuf_add(v->e.out, " >= ");
    emit_array_length(&v->e, array);
    strbuf_add(v->e.out, ") ");
    emit_vector_again(v);
}

static void uniform_index(VectorEmitter *v, const CoreStmt *s)
{
    if (s->site != CORE_NO_SITE)
        emit_vector_bounds(v, s->index.array, s->index.index);
    emit_vector_bind(v, s->vars[0]);
    emit_element_read(&v->e, s->index.array, s->index.index);
    strbuf_add(v->e.out, ";\n");
}

/* All lanes are on, and so have elements there: side by side, or every second one. */
static void whole_index(VectorEmitter *v, const CoreStmt *s)
{
    const char *places = spread_of(&v->table, s->index.index) == SPREAD_NEAR ? "near" : "second";
    if (s->site != CORE_NO_SITE) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "if (!dp_%s_there(", places);
        emit_atom(&v->e, s->index.array);
        strbuf_add(v->e.out, ", ");
        emit_atom(&v->e, s->index.index);
        strbuf_add(v->e.out, ")) ");
        emit_vector_again(v);
    }
    const char *type = vector_type_name(v, s->vars[0]);
    emit_vector_bind(v, s->vars[0]);
    strbuf_printf(v->e.out, "dp_load_%s%s_w(heap, DP_ADDR(", *places == 's' ? "second_" : "", type);
    emit_atom(&v->e, s->index.array);
    strbuf_add(v->e.out, ") + (ulong)");
    emit_atom(&v->e, s->index.index);
    strbuf_printf(v->e.out, " * %u);\n", scalar_bytes(core_var_type(v->e.fn, s->vars[0]).scalar));
}

static void near_index(VectorEmitter *v, const CoreStmt *s)
{
    if (!v->mask) {
        whole_index(v, s);
        return;
    }
    if (s->site != CORE_NO_SITE) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_bool_w out%u = (dp_bool_w)(0);\n", s->vars[0]);
    }
    emit_vector_bind(v, s->vars[0]);
    strbuf_printf(v->e.out, "dp_near_load_%s_w(heap, ", vector_type_name(v, s->vars[0]));
    emit_atom(&v->e, s->index.array);
    strbuf_add(v->e.out, ", ");
    emit_atom(&v->e, s->index.index);
    strbuf_add(v->e.out, ", ");
    emit_vector_mask(v);
    if (s->site == CORE_NO_SITE) {
        strbuf_add(v->e.out, ", 0);\n");
        return;
    }
    strbuf_printf(v->e.out, ", &out%u);\n", s->vars[0]);
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "if (dp_any(out%u", s->vars[0]);
    failing_close(v);
}

static void varying_index(VectorEmitter *v, const CoreStmt *s)
{
    if (s->site != CORE_NO_SITE) {
        failing_open(v);
        strbuf_add(v->e.out, "dp_ge_u64_w(dp_convert_i64_u64_w(");
        emit_vector_operand(v, s->index.index);
        strbuf_add(v->e.out, "), dp_wide_u64(DP_LEN(");
        emit_atom(&v->e, s->index.array);
        strbuf_add(v->e.out, ")))");
        failing_close(v);
    }
    emit_vector_bind(v, s->vars[0]);
    strbuf_printf(v->e.out, "dp_gather_%s_w(heap, ", vector_type_name(v, s->vars[0]));
    emit_atom(&v->e, s->index.array);
    strbuf_add(v->e.out, ", ");
    emit_vector_operand(v, s->index.index);
    strbuf_add(v->e.out, ", ");
    emit_vector_mask(v);
    strbuf_add(v->e.out, ");\n");
}

static void emit_index(VectorEmitter *v, const CoreStmt *s)
{
    if (emit_atom_is_private(&v->e, s->index.array)) {
        emit_vector_private_index(v, s);
        return;
    }
    if (vector_is_shared(v, s->index.array)) {
        emit_vector_shared_read(v, s->vars[0], s->index.array, s->index.index, s->site);
        return;
    }
    if (vector_is_views(v, s->index.array) ||
        vector_is_views(v, core_var_atom(s->vars[0], core_var_type(v->e.fn, s->vars[0])))) {
        emit_vector_views_read(v, s->vars[0], s->index.array, s->index.index, s->site);
        return;
    }
    switch (spread_of(&v->table, s->index.index)) {
    case SPREAD_UNIFORM: uniform_index(v, s); break;
    case SPREAD_NEAR: near_index(v, s); break;
    case SPREAD_SECOND:
        if (v->mask)
            varying_index(v, s);
        else
            whole_index(v, s);
        break;
    case SPREAD_VARYING: varying_index(v, s); break;
    }
}

void emit_vector_bad_slice(VectorEmitter *v, const CoreStmt *s)
{
    emit_atom(&v->e, s->slice.from);
    strbuf_add(v->e.out, " < 0 || ");
    emit_atom(&v->e, s->slice.to);
    strbuf_add(v->e.out, " < ");
    emit_atom(&v->e, s->slice.from);
    strbuf_add(v->e.out, " || (dp_u64)");
    emit_atom(&v->e, s->slice.to);
    strbuf_add(v->e.out, " > DP_LEN(");
    emit_atom(&v->e, s->slice.array);
    strbuf_add(v->e.out, ")");
}

static void emit_slice(VectorEmitter *v, const CoreStmt *s)
{
    if (vector_is_views(v, core_var_atom(s->vars[0], core_var_type(v->e.fn, s->vars[0])))) {
        emit_vector_views_slice(v, s);
        return;
    }
    if (s->site != CORE_NO_SITE) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if (");
        emit_vector_bad_slice(v, s);
        strbuf_add(v->e.out, ") ");
        emit_vector_again(v);
    }
    if (vector_is_shared(v, s->slice.array)) {
        emit_vector_shared_slice(v, s);
        return;
    }
    emit_vector_bind(v, s->vars[0]);
    emit_slice_read(&v->e, s);
    strbuf_add(v->e.out, ";\n");
}

/* ---- control ---- */

static void emit_check(VectorEmitter *v, const CoreStmt *s)
{
    if (spread_of(&v->table, s->check.cond) == SPREAD_UNIFORM) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if (!");
        emit_atom(&v->e, s->check.cond);
        strbuf_add(v->e.out, ") ");
        emit_vector_again(v);
        return;
    }
    failing_open(v);
    strbuf_add(v->e.out, "~");
    emit_vector_operand(v, s->check.cond);
    failing_close(v);
}

/* A branch: its statements, then what the `if` binds. chosen: only where the condition holds not, for which the other
 * branch has written all. */
static void emit_branch(VectorEmitter *v, const CoreStmt *s, const CoreBlock *b, bool chosen)
{
    v->e.depth++;
    emit_vector_block(v, b);
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreVar x = s->vars[i];
        emit_indent(&v->e);
        if (spread_var(&v->table, x)->spread == SPREAD_NEAR && spread_of(&v->table, b->results[i]) == SPREAD_UNIFORM) {
            emit_vector_again(v); /* inside, no edge's value is wanted */
            break;
        }
        emit_var(&v->e, x);
        strbuf_add(v->e.out, " = ");
        const bool select = chosen && vector_varies(v, x); /* else it is an array of either's */
        if (select) {
            strbuf_printf(v->e.out, "dp_select_%s_w(", vector_type_name(v, x));
            emit_atom(&v->e, s->if_.cond);
            strbuf_add(v->e.out, ", ");
            emit_var(&v->e, x);
            strbuf_add(v->e.out, ", ");
        }
        emit_vector_value_for(v, x, b->results[i]);
        strbuf_add(v->e.out, select ? ");\n" : ";\n");
    }
    v->e.depth--;
    emit_line(&v->e, "}");
}

/* A mask of those lanes that are on and for which the condition holds, or does not. */
static void narrow_mask(VectorEmitter *v, CoreAtom cond, bool holds)
{
    uint32_t inner = ++v->nmasks;
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "dp_bool_w on%u = ", inner);
    if (v->mask)
        strbuf_printf(v->e.out, "on%u & ", v->mask);
    strbuf_add(v->e.out, holds ? "" : "~");
    emit_vector_operand(v, cond);
    strbuf_add(v->e.out, ";\n");
    v->mask = inner;
}

static void masked_branch(VectorEmitter *v, const CoreStmt *s, const CoreBlock *b, bool holds)
{
    uint32_t outer = v->mask;
    if (s->nvars == 0 && b->stmts.n == 0)
        return;
    if (spread_is_cheap(v->e.fn, b)) {
        emit_line(&v->e, "{");
    } else {
        narrow_mask(v, s->if_.cond, holds);
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "if (dp_any(on%u)) {\n", v->mask);
    }
    emit_branch(v, s, b, !holds);
    v->mask = outer;
}

static void emit_if(VectorEmitter *v, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_vector_declaration(v, s->vars[i]);
    if (spread_of(&v->table, s->if_.cond) != SPREAD_UNIFORM) {
        masked_branch(v, s, s->if_.then_b, true);
        masked_branch(v, s, s->if_.else_b, false);
        return;
    }
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (");
    emit_atom(&v->e, s->if_.cond);
    strbuf_add(v->e.out, ") {\n");
    emit_branch(v, s, s->if_.then_b, false);
    emit_line(&v->e, "else {");
    emit_branch(v, s, s->if_.else_b, false);
}

/* ---- loops ---- */

static void state_prefix(VectorEmitter *v, bool next, CoreVar x)
{
    strbuf_add(v->e.out, next ? "next_" : "");
    emit_var(&v->e, x);
}

/* "x = value;", in a loop of which lanes leave: only where they are on. */
static void assign_state(VectorEmitter *v, CoreVar x, CoreAtom value, bool diverges)
{
    bool chosen = diverges && vector_varies(v, x);
    if (chosen) {
        strbuf_printf(v->e.out, "dp_select_%s_w(on%u, ", vector_type_name(v, x), v->mask);
        emit_vector_operand(v, value);
        strbuf_add(v->e.out, ", ");
        emit_var(&v->e, x);
        strbuf_add(v->e.out, ")");
    } else {
        emit_vector_value_for(v, x, value);
    }
    strbuf_add(v->e.out, ";\n");
}

static void next_state(VectorEmitter *v, const CoreStmt *s, bool diverges)
{
    if (diverges)
        emit_vector_shared_mix(v, s);
    bool direct = emit_in_order(&v->e, s->loop.params, s->loop.body->results, s->loop.nparams);
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        CoreVar x = s->loop.params[i];
        CoreAtom a = s->loop.body->results[i];
        if (direct && !a.is_const && a.var == x)
            continue;
        if (emit_is_private(&v->e, x)) {
            emit_vector_private_next(v, x, a, !direct, diverges);
            continue;
        }
        emit_indent(&v->e);
        if (!direct) {
            value_type(v, x);
            strbuf_add(v->e.out, " ");
        }
        state_prefix(v, !direct, x);
        strbuf_add(v->e.out, " = ");
        assign_state(v, x, a, diverges);
    }
    for (uint32_t i = 0; !direct && i < s->loop.nparams; i++) {
        if (emit_is_private(&v->e, s->loop.params[i])) {
            emit_vector_private_take(v, s->loop.params[i], diverges);
            continue;
        }
        emit_indent(&v->e);
        state_prefix(v, false, s->loop.params[i]);
        strbuf_add(v->e.out, " = ");
        state_prefix(v, true, s->loop.params[i]);
        strbuf_add(v->e.out, ";\n");
    }
}

/* The lanes that go on, in a loop that they leave at different times. */
static void narrow_loop(VectorEmitter *v, const CoreStmt *s)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "on%u &= ", v->mask);
    if (s->loop.cond) {
        emit_vector_operand(v, s->loop.cond->results[0]);
    } else {
        strbuf_add(v->e.out, "dp_gt_i64_w(");
        emit_vector_operand(v, s->loop.count);
        strbuf_add(v->e.out, ", dp_wide_i64(");
        emit_loop_counter(&v->e, s);
        strbuf_add(v->e.out, "))");
    }
    strbuf_add(v->e.out, ";\n");
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "if (!dp_any(on%u)) break;\n", v->mask);
}

static void uniform_exit(VectorEmitter *v, const CoreStmt *s)
{
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (!");
    if (s->loop.cond) {
        emit_atom(&v->e, s->loop.cond->results[0]);
    } else {
        strbuf_add(v->e.out, "(");
        emit_loop_counter(&v->e, s);
        strbuf_add(v->e.out, " < ");
        emit_atom(&v->e, s->loop.count);
        strbuf_add(v->e.out, ")");
    }
    strbuf_add(v->e.out, ") break;\n");
}

static void loop_head(VectorEmitter *v, const CoreStmt *s)
{
    if (s->loop.cond) {
        emit_line(&v->e, "for (;;) {");
        return;
    }
    emit_indent(&v->e);
    strbuf_add(v->e.out, "for (dp_i64 ");
    emit_loop_counter(&v->e, s);
    strbuf_add(v->e.out, " = 0;; ");
    emit_loop_counter(&v->e, s);
    strbuf_add(v->e.out, "++) {\n");
}

static void bind_state(VectorEmitter *v, const CoreStmt *s, uint32_t i)
{
    if (vector_has_memory(v) && lane_copies_state(v->e.lane, s, i))
        emit_vector_shared_copy(v, s->loop.params[i], s->loop.inits[i]);
    else
        bind(v, s->loop.params[i], s->loop.inits[i]);
}

/* Arrays, in the lanes' memory, that later rounds have no use for? */
static bool vector_loop_makes(const VectorEmitter *v, const CoreStmt *s)
{
    return vector_has_memory(v) && ((s->loop.cond && scalar_facts(v->e.fn, v->e.lane, s->loop.cond).makes) ||
                                    scalar_facts(v->e.fn, v->e.lane, s->loop.body).makes);
}

static void emit_loop(VectorEmitter *v, const CoreStmt *s)
{
    bool diverges = spread_loop_diverges(&v->table, s);
    uint32_t outer = v->mask;
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        bind_state(v, s, i);
    const uint32_t mark = vector_loop_makes(v, s) ? emit_state_mark(&v->e) : 0;
    if (diverges) {
        uint32_t inner = ++v->nmasks;
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_bool_w on%u = ", inner);
        emit_vector_mask(v);
        strbuf_add(v->e.out, ";\n");
        v->mask = inner;
    }
    loop_head(v, s);
    v->e.depth++;
    if (s->loop.cond)
        emit_vector_block(v, s->loop.cond);
    if (diverges)
        narrow_loop(v, s);
    else
        uniform_exit(v, s);
    emit_lane_round(&v->e, s);
    emit_vector_block(v, s->loop.body);
    next_state(v, s, diverges);
    emit_vector_shared_round(v, s, mark);
    v->e.depth--;
    emit_line(&v->e, "}");
    v->mask = outer;
    for (uint32_t i = 0; i < s->nvars; i++)
        bind(v, s->vars[i], core_var_atom(s->loop.params[i], core_var_type(v->e.fn, s->loop.params[i])));
}

void emit_vector_stmt(VectorEmitter *v, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: bind(v, s->vars[0], s->atom); break;
    case CORE_PRIM: emit_prim(v, s); break;
    case CORE_LENGTH: emit_length(v, s); break;
    case CORE_INDEX: emit_index(v, s); break;
    case CORE_SLICE: emit_slice(v, s); break;
    case CORE_CHECK: emit_check(v, s); break;
    case CORE_IF: emit_if(v, s); break;
    case CORE_LOOP: emit_loop(v, s); break;
    case CORE_LANE:
    case CORE_PARALLEL: emit_vector_lane_stmt(v, s); break;
    }
}

void emit_vector_block(VectorEmitter *v, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        emit_vector_stmt(v, b->stmts.at[i]);
}
