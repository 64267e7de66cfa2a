#include "opencl/emit_vector.h"

#include "opencl/emit_internal.h"
#include "opencl/emit_scalar_internal.h"
#include "opencl/spread.h"
#include "plan/emit_text.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct VectorEmitter {
    KernelEmitter ke;
    ScalarEmitter e;
    Spread *spread;    /* of the function's variables */
    const char *again; /* what the function returns where a lane fails */
    uint32_t mask;     /* the lanes that are on: variable on1 …; 0: all */
    uint32_t nmasks;   /* so far */
} VectorEmitter;

/* ---- pieces ---- */

static const char *type_name(const VectorEmitter *v, CoreVar x)
{
    return scalar_name(core_var_type(v->e.fn, x).scalar);
}

static bool varies(const VectorEmitter *v, CoreVar x) { return v->spread[x] == SPREAD_VARYING; }

/* An atom as a vector. */
static void operand(VectorEmitter *v, CoreAtom a)
{
    Spread spread = spread_of(v->spread, a);
    if (spread == SPREAD_NEAR)
        strbuf_add(v->e.out, "dp_spread(");
    else if (spread == SPREAD_UNIFORM)
        strbuf_printf(v->e.out, "dp_wide_%s(", scalar_name(core_atom_type(v->e.fn, a).scalar));
    emit_atom(&v->e, a);
    strbuf_add(v->e.out, spread == SPREAD_VARYING ? "" : ")");
}

/* "dp_f32_w" or "dp_f32" */
static void value_type(VectorEmitter *v, CoreVar x)
{
    if (varies(v, x))
        strbuf_printf(v->e.out, "dp_%s_w", type_name(v, x));
    else
        strbuf_add(v->e.out, emit_value_type(core_var_type(v->e.fn, x)));
}

/* "T x = " */
static void bind_open(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    value_type(v, x);
    strbuf_add(v->e.out, " ");
    emit_var(&v->e, x);
    strbuf_add(v->e.out, " = ");
}

/* The atom as what x is. */
static void value_for(VectorEmitter *v, CoreVar x, CoreAtom a)
{
    if (varies(v, x))
        operand(v, a);
    else
        emit_atom(&v->e, a);
}

static void bind(VectorEmitter *v, CoreVar x, CoreAtom a)
{
    bind_open(v, x);
    value_for(v, x, a);
    strbuf_add(v->e.out, ";\n");
}

/* "T x = 0;" for what branches assign. */
static void declare(VectorEmitter *v, CoreVar x)
{
    emit_indent(&v->e);
    value_type(v, x);
    strbuf_add(v->e.out, " ");
    emit_var(&v->e, x);
    if (varies(v, x))
        strbuf_printf(v->e.out, " = dp_wide_%s(0)", type_name(v, x));
    strbuf_add(v->e.out, ";\n");
}

static void mask_name(VectorEmitter *v)
{
    if (v->mask)
        strbuf_printf(v->e.out, "on%u", v->mask);
    else
        strbuf_add(v->e.out, "DP_ALL");
}

static void return_again(VectorEmitter *v) { strbuf_printf(v->e.out, "return %s;\n", v->again); }

/* "if (dp_any(on & " … ")) return …;" around a mask of lanes that fail. */
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
    return_again(v);
}

/* ---- primitive operations ---- */

static void zero_divisor(VectorEmitter *v, const CoreStmt *s)
{
    CoreAtom divisor = s->prim.args[1];
    const char *type = scalar_name(core_atom_type(v->e.fn, divisor).scalar);
    if (spread_of(v->spread, divisor) == SPREAD_UNIFORM) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if (");
        emit_atom(&v->e, divisor);
        strbuf_add(v->e.out, " == 0) ");
        return_again(v);
        return;
    }
    failing_open(v);
    strbuf_printf(v->e.out, "dp_eq_%s_w(", type);
    operand(v, divisor);
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
        strbuf_printf(v->e.out, "dp_near_convert_%s(", type_name(v, s->vars[0]));
        emit_atom(&v->e, args[0]);
        strbuf_add(v->e.out, ");\n");
        return;
    }
    bool first = spread_of(v->spread, args[0]) == SPREAD_NEAR;
    strbuf_printf(v->e.out, "dp_near_%s(", core_prim_name(first ? s->prim.op : mirrored(s->prim.op)));
    emit_atom(&v->e, args[!first]);
    strbuf_add(v->e.out, ", ");
    emit_atom(&v->e, args[first]);
    strbuf_add(v->e.out, ");\n");
}

static void emit_prim(VectorEmitter *v, const CoreStmt *s)
{
    bool vector = varies(v, s->vars[0]);
    if (scalar_prim_fallible(v->e.fn, s))
        zero_divisor(v, s);
    bind_open(v, s->vars[0]);
    if (vector && spread_near_prim(v->spread, s)) {
        near_prim(v, s);
        return;
    }
    emit_prim_name(&v->e, s);
    strbuf_add(v->e.out, vector ? "_w" : "");
    for (uint32_t i = 0; i < s->prim.nargs; i++) {
        strbuf_add(v->e.out, i ? ", " : "(");
        if (vector)
            operand(v, s->prim.args[i]);
        else
            emit_atom(&v->e, s->prim.args[i]);
    }
    strbuf_add(v->e.out, ");\n");
}

/* ---- sequences ---- */

static void emit_length(VectorEmitter *v, const CoreStmt *s)
{
    bind_open(v, s->vars[0]);
    strbuf_add(v->e.out, "(dp_i64)DP_LEN(");
    emit_atom(&v->e, s->length.array);
    strbuf_add(v->e.out, ");\n");
}

static void uniform_index(VectorEmitter *v, const CoreStmt *s)
{
    if (s->site != CORE_NO_SITE) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if ((dp_u64)");
        emit_atom(&v->e, s->index.index);
        strbuf_add(v->e.out, " >= DP_LEN(");
        emit_atom(&v->e, s->index.array);
        strbuf_add(v->e.out, ")) ");
        return_again(v);
    }
    bind_open(v, s->vars[0]);
    emit_element_read(&v->e, s->index.array, s->index.index);
    strbuf_add(v->e.out, ";\n");
}

static void near_index(VectorEmitter *v, const CoreStmt *s)
{
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "dp_bool_w out%u = (dp_bool_w)(0);\n", s->vars[0]);
    bind_open(v, s->vars[0]);
    strbuf_printf(v->e.out, "dp_near_load_%s_w(heap, ", type_name(v, s->vars[0]));
    emit_atom(&v->e, s->index.array);
    strbuf_add(v->e.out, ", ");
    emit_atom(&v->e, s->index.index);
    strbuf_add(v->e.out, ", ");
    mask_name(v);
    strbuf_printf(v->e.out, ", &out%u);\n", s->vars[0]);
    if (s->site == CORE_NO_SITE)
        return;
    emit_indent(&v->e);
    strbuf_printf(v->e.out, "if (dp_any(out%u", s->vars[0]);
    failing_close(v);
}

static void varying_index(VectorEmitter *v, const CoreStmt *s)
{
    if (s->site != CORE_NO_SITE) {
        failing_open(v);
        strbuf_add(v->e.out, "dp_ge_u64_w(dp_convert_i64_u64_w(");
        operand(v, s->index.index);
        strbuf_add(v->e.out, "), dp_wide_u64(DP_LEN(");
        emit_atom(&v->e, s->index.array);
        strbuf_add(v->e.out, ")))");
        failing_close(v);
    }
    bind_open(v, s->vars[0]);
    strbuf_printf(v->e.out, "dp_gather_%s_w(heap, ", type_name(v, s->vars[0]));
    emit_atom(&v->e, s->index.array);
    strbuf_add(v->e.out, ", ");
    operand(v, s->index.index);
    strbuf_add(v->e.out, ", ");
    mask_name(v);
    strbuf_add(v->e.out, ");\n");
}

static void emit_index(VectorEmitter *v, const CoreStmt *s)
{
    switch (spread_of(v->spread, s->index.index)) {
    case SPREAD_UNIFORM: uniform_index(v, s); break;
    case SPREAD_NEAR: near_index(v, s); break;
    case SPREAD_VARYING: varying_index(v, s); break;
    }
}

static void emit_slice(VectorEmitter *v, const CoreStmt *s)
{
    if (s->site != CORE_NO_SITE) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if (");
        emit_atom(&v->e, s->slice.from);
        strbuf_add(v->e.out, " < 0 || ");
        emit_atom(&v->e, s->slice.to);
        strbuf_add(v->e.out, " < ");
        emit_atom(&v->e, s->slice.from);
        strbuf_add(v->e.out, " || (dp_u64)");
        emit_atom(&v->e, s->slice.to);
        strbuf_add(v->e.out, " > DP_LEN(");
        emit_atom(&v->e, s->slice.array);
        strbuf_add(v->e.out, ")) ");
        return_again(v);
    }
    bind_open(v, s->vars[0]);
    emit_slice_read(&v->e, s);
    strbuf_add(v->e.out, ";\n");
}

/* ---- control ---- */

static void emit_block(VectorEmitter *v, const CoreBlock *b);

static void emit_check(VectorEmitter *v, const CoreStmt *s)
{
    if (spread_of(v->spread, s->check.cond) == SPREAD_UNIFORM) {
        emit_indent(&v->e);
        strbuf_add(v->e.out, "if (!");
        emit_atom(&v->e, s->check.cond);
        strbuf_add(v->e.out, ") ");
        return_again(v);
        return;
    }
    failing_open(v);
    strbuf_add(v->e.out, "~");
    operand(v, s->check.cond);
    failing_close(v);
}

/* A branch: its statements, then what the `if` binds. chosen: only where the condition holds not, for which the other
 * branch has written all. */
static void emit_branch(VectorEmitter *v, const CoreStmt *s, const CoreBlock *b, bool chosen)
{
    v->e.depth++;
    emit_block(v, b);
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreVar x = s->vars[i];
        emit_indent(&v->e);
        emit_var(&v->e, x);
        strbuf_add(v->e.out, " = ");
        if (chosen) {
            strbuf_printf(v->e.out, "dp_select_%s_w(", type_name(v, x));
            emit_atom(&v->e, s->if_.cond);
            strbuf_add(v->e.out, ", ");
            emit_var(&v->e, x);
            strbuf_add(v->e.out, ", ");
        }
        value_for(v, x, b->results[i]);
        strbuf_add(v->e.out, chosen ? ");\n" : ";\n");
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
    operand(v, cond);
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
        declare(v, s->vars[i]);
    if (spread_of(v->spread, s->if_.cond) != SPREAD_UNIFORM) {
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
    bool chosen = diverges && varies(v, x);
    if (chosen) {
        strbuf_printf(v->e.out, "dp_select_%s_w(on%u, ", type_name(v, x), v->mask);
        operand(v, value);
        strbuf_add(v->e.out, ", ");
        emit_var(&v->e, x);
        strbuf_add(v->e.out, ")");
    } else {
        value_for(v, x, value);
    }
    strbuf_add(v->e.out, ";\n");
}

static void next_state(VectorEmitter *v, const CoreStmt *s, bool diverges)
{
    bool direct = emit_in_order(&v->e, s->loop.params, s->loop.body->results, s->loop.nparams);
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        CoreVar x = s->loop.params[i];
        CoreAtom a = s->loop.body->results[i];
        if (direct && !a.is_const && a.var == x)
            continue;
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
        operand(v, s->loop.cond->results[0]);
    } else {
        strbuf_add(v->e.out, "dp_gt_i64_w(");
        operand(v, s->loop.count);
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

static void emit_loop(VectorEmitter *v, const CoreStmt *s)
{
    bool diverges = spread_loop_diverges(v->spread, s);
    uint32_t outer = v->mask;
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        bind(v, s->loop.params[i], s->loop.inits[i]);
    if (diverges) {
        uint32_t inner = ++v->nmasks;
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_bool_w on%u = ", inner);
        mask_name(v);
        strbuf_add(v->e.out, ";\n");
        v->mask = inner;
    }
    loop_head(v, s);
    v->e.depth++;
    if (s->loop.cond)
        emit_block(v, s->loop.cond);
    if (diverges)
        narrow_loop(v, s);
    else
        uniform_exit(v, s);
    emit_block(v, s->loop.body);
    next_state(v, s, diverges);
    v->e.depth--;
    emit_line(&v->e, "}");
    v->mask = outer;
    for (uint32_t i = 0; i < s->nvars; i++)
        bind(v, s->vars[i], core_var_atom(s->loop.params[i], core_var_type(v->e.fn, s->loop.params[i])));
}

static void emit_stmt(VectorEmitter *v, const CoreStmt *s)
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
    case CORE_PARALLEL: break; /* refused */
    }
}

static void emit_block(VectorEmitter *v, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        emit_stmt(v, b->stmts.at[i]);
}

/* ---- inputs ---- */

static Spread input_spread(const PlanKernel *k, const FlatInput *in)
{
    if (in->kind == IN_HOST)
        return SPREAD_UNIFORM;
    Place place = plan_place(k, emit_input_context(k, in));
    if (place.kind == PLACE_S || (place.kind == PLACE_PATH && place.from_segment))
        return SPREAD_UNIFORM;
    return place.kind == PLACE_I && in->kind == IN_POS ? SPREAD_NEAR : SPREAD_VARYING;
}

/* Through a path each lane has its own place. */
static void input_by_lane(VectorEmitter *v, const FlatInput *in)
{
    const char *type = type_name(v, in->as);
    StrBuf *out = v->e.out;
    emit_indent(&v->e);
    strbuf_printf(out, "dp_%s_w ", type);
    emit_var(&v->e, in->as);
    strbuf_add(out, ";\n");
    emit_line(&v->e, "DP_EACH_LANE(l) { const ulong i = first + l;");
    emit_indent(&v->e);
    strbuf_add(out, "    ");
    emit_var(&v->e, in->as);
    strbuf_add(out, core_var_type(v->e.fn, in->as).scalar == SC_BOOL ? "[l] = -(int)" : "[l] = ");
    emit_input_value(&v->ke, out, in);
    strbuf_add(out, "; }\n");
}

static void emit_vector_input(VectorEmitter *v, const FlatInput *in)
{
    if (!varies(v, in->as)) {
        emit_input(&v->ke, &v->e, in);
        return;
    }
    if (plan_place(v->ke.k, emit_input_context(v->ke.k, in)).kind != PLACE_I) {
        input_by_lane(v, in);
        return;
    }
    bind_open(v, in->as);
    strbuf_printf(v->e.out, "dp_load_%s_w(heap, ", type_name(v, in->as));
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
static void emit_guard(VectorEmitter *v, const CoreBlock *b)
{
    if (!scalar_facts(v->e.fn, b).while_loop)
        return;
    emit_indent(&v->e);
    strbuf_add(v->e.out, "if (*DP_AT(int, 0) != 0) ");
    return_again(v);
}

static void emit_results(VectorEmitter *v, const CoreAtom *results)
{
    emit_line(&v->e, "dp_vec r;");
    for (uint32_t i = 0; i < v->ke.k->nvalues; i++) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "r.v%u = ", i);
        operand(v, results[i]);
        strbuf_add(v->e.out, ";\n");
    }
    strbuf_add(v->e.out, "    return r;\n}\n");
}

static void emit_body(VectorEmitter *v)
{
    const FlatBody *body = &v->ke.k->stmt->body;
    strbuf_add(v->e.out, "static inline dp_vec dp_body_lanes(" HEAP ", ulong i, ulong s DP_WORDS)\n{\n"
                         "    dp_vec r;\n"
                         "    DP_IN_TURN(l) dp_set_lane(&r, l, dp_body(heap, i + l, s DP_PASS));\n"
                         "    return r;\n}\n");
    emit_line_directive(&v->ke);
    strbuf_add(v->e.out, "static inline dp_vec dp_body_w(" HEAP ", ulong i, ulong s DP_WORDS)\n{\n"
                         "    const ulong first = i;\n");
    v->again = "dp_body_lanes(heap, i, s DP_PASS)";
    emit_guard(v, body->block);
    emit_vector_inputs(v, &body->inputs);
    emit_block(v, body->block);
    emit_results(v, body->block->results + v->ke.k->first);
}

static void emit_op(VectorEmitter *v)
{
    const FlatOp *op = &v->ke.k->stmt->reduce.op;
    strbuf_add(v->e.out, "static inline dp_vec dp_op_lanes(" HEAP ", ulong s, dp_vec a, dp_vec b DP_WORDS)\n{\n"
                         "    dp_vec r;\n"
                         "    DP_IN_TURN(l) dp_set_lane(&r, l, dp_op(heap, s, dp_lane(a, l), dp_lane(b, l) DP_PASS));\n"
                         "    return r;\n}\n");
    emit_line_directive(&v->ke);
    strbuf_add(v->e.out, "static inline dp_vec dp_op_w(" HEAP ", ulong s, dp_vec a, dp_vec b DP_WORDS)\n{\n");
    v->again = "dp_op_lanes(heap, s, a, b DP_PASS)";
    emit_guard(v, op->op.body);
    emit_vector_inputs(v, &op->inputs);
    for (uint32_t i = 0; i < 2 * op->k; i++) {
        emit_indent(&v->e);
        strbuf_printf(v->e.out, "dp_%s_w ", type_name(v, op->op.params[i]));
        emit_var(&v->e, op->op.params[i]);
        strbuf_printf(v->e.out, " = %c.v%u;\n", i < op->k ? 'a' : 'b', i % op->k);
    }
    emit_block(v, op->op.body);
    emit_results(v, op->op.body->results);
}

/* ---- values ---- */

static void emit_values(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    StrBuf *out = v->e.out;
    strbuf_add(out, "typedef struct dp_vec {");
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(out, " dp_%s_w v%u;", scalar_name(k->values[i].scalar), i);
    strbuf_add(out, " } dp_vec;\n#define DP_VEC_FIELDS(F)");
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(out, " F(dp_%s_w, v%u)", scalar_name(k->values[i].scalar), i);
    strbuf_add(out, "\nstatic inline dp_vec dp_wide(dp_val v)\n{\n    dp_vec r;\n");
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(out, "    r.v%u = dp_wide_%s(v.v%u);\n", i, scalar_name(k->values[i].scalar), i);
    strbuf_add(out, "    return r;\n}\nstatic inline dp_val dp_lane(dp_vec v, uint l)\n{\n    dp_val r;\n");
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(out, "    r.v%u = dp_lane_%s(v.v%u, l);\n", i, scalar_name(k->values[i].scalar), i);
    strbuf_add(out, "    return r;\n}\nstatic inline void dp_set_lane(dp_vec *r, uint l, dp_val v)\n{\n");
    for (uint32_t i = 0; i < k->nvalues; i++)
        strbuf_printf(out, "    r->v%u[l] = %sv.v%u;\n", i, k->values[i].scalar == SC_BOOL ? "-(int)" : "", i);
    strbuf_add(out, "}\n");
}

static void emit_store(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    strbuf_add(v->e.out, "static inline void dp_store_w(" HEAP ", ulong i, dp_vec v DP_OUTS)\n{\n");
    for (uint32_t i = 0; i < k->nvalues; i++) {
        strbuf_printf(v->e.out, "    dp_store_%s_w(heap, ", scalar_name(k->values[i].scalar));
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
        Spread spread = v->spread[in->as] = input_spread(v->ke.k, in);
        if (spread != SPREAD_VARYING)
            continue;
        bool by_lane = plan_place(v->ke.k, emit_input_context(v->ke.k, in)).kind != PLACE_I;
        facts->refused |= t.rank > 0;
        facts->wide |= scalar_bytes(t.scalar) == 8;
        facts->lanes += by_lane ? 4 : 0;
        facts->vectors += by_lane ? 0 : 1;
    }
}

static void note_results(VectorEmitter *v, const CoreAtom *results, SpreadFacts *facts)
{
    for (uint32_t i = 0; i < v->ke.k->nvalues; i++) {
        spread_as_vector(v->spread, results[i], facts);
        facts->refused |= v->ke.k->values[i].rank > 0;
        facts->wide |= scalar_bytes(v->ke.k->values[i].scalar) == 8;
    }
}

static SpreadFacts find_facts(VectorEmitter *v)
{
    const PlanKernel *k = v->ke.k;
    const FlatBody *body = &k->stmt->body;
    SpreadFacts facts = {0};
    note_inputs(v, &body->inputs, &facts);
    if (!facts.refused)
        spread_block(v->e.fn, body->block, v->spread, &facts);
    if (!facts.refused)
        note_results(v, body->block->results + k->first, &facts);
    if (!plan_has_op(k) || facts.refused)
        return facts;
    const FlatOp *op = &k->stmt->reduce.op;
    note_inputs(v, &op->inputs, &facts);
    for (uint32_t i = 0; i < 2 * op->k; i++)
        v->spread[op->op.params[i]] = SPREAD_VARYING;
    if (!facts.refused)
        spread_block(v->e.fn, op->op.body, v->spread, &facts);
    if (!facts.refused)
        note_results(v, op->op.body->results, &facts);
    return facts;
}

static bool has_vector_template(const PlanKernel *k) { return k->kind == PLAN_MAP || k->kind == PLAN_REDUCE; }

VectorFacts emit_kernel_vector(StrBuf *out, const Plan *plan, const PlanKernel *k)
{
    if (!has_vector_template(k) || k->nvalues == 0)
        return (VectorFacts){0};
    VectorEmitter v = {.ke = {out, plan, k, false}};
    v.e = emit_scalar_emitter(&v.ke);
    v.spread = memory_alloc(v.e.fn->vars.n, sizeof *v.spread);
    SpreadFacts facts = find_facts(&v);
    if (!facts.refused) {
        emit_values(&v);
        emit_body(&v);
        if (plan_has_op(k))
            emit_op(&v);
        if (k->kind == PLAN_MAP)
            emit_store(&v);
    }
    free(v.spread);
    return facts.refused ? (VectorFacts){0} : (VectorFacts){facts.wide ? 8 : 16, facts.vectors >= facts.lanes};
}
