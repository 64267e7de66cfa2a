#include "opencl/emit_scalar_internal.h"

#include "opencl/emit_wide.h"
#include "params.h"
#include "plan/emit_text.h"
#include "support/memory.h"

#include <assert.h>
#include <stdlib.h>

/* What a lane executes from beginning to end (core/lane.h):
 *
 *     ys : [i64] = map 8 at k (x <- xs) { … -> v }      dp_i64 ys[8];
 *                                                       for (dp_i64 k = 0; k < 8; k++) { dp_i64 x = xs[k]; … ys[k] = v;
 * } s : i64 = reduce n (x <- xs) { … -> v } op add    dp_i64 a = 0; for (…) { … dp_i64 b = v; … a = …; }
 *
 * An array of arrays is one of all its scalars; a row is a pointer into it. */

/* UNROLLED: statements that a loop becomes at most. Arrays whose indices are all constants then are registers. ROUNDS:
 * that loops inside a loop are taken to have, where a lane counts before it begins. */
enum { UNROLLED = 128, ROUNDS = 16 };

/* ---- private arrays ---- */

static const char *scalar_type(const ScalarEmitter *e, CoreVar v)
{
    return emit_type_name(core_var_type(e->fn, v).scalar);
}

/* Rows of arrays without rows are pointers to something all the same. */
static unsigned memory_elements(const LaneVar *v)
{
    unsigned n = 1;
    for (uint32_t i = 0; i < v->rank; i++)
        n *= v->dims[i] ? v->dims[i] : 1;
    return n;
}

static void emit_memory(ScalarEmitter *e, const char *prefix, CoreVar v)
{
    emit_indent(e);
    strbuf_printf(e->out, "%s %s", scalar_type(e, v), prefix);
    emit_var(e, v);
    strbuf_printf(e->out, "[%u];\n", memory_elements(lane_var(e->lane, v)));
}

/* "DP_COPY(to, from, 8);": all scalars of v. */
static void emit_copy(ScalarEmitter *e, const char *to_prefix, CoreVar v, const char *from_prefix, CoreVar from)
{
    emit_indent(e);
    strbuf_printf(e->out, "DP_COPY(%s", to_prefix);
    emit_var(e, v);
    strbuf_printf(e->out, ", %s", from_prefix);
    emit_var(e, from);
    strbuf_printf(e->out, ", %u);\n", (unsigned)lane_elements(lane_var(e->lane, v)));
}

void emit_private_declaration(ScalarEmitter *e, CoreVar v)
{
    if (lane_owns(e->lane, v)) {
        emit_memory(e, "", v);
        return;
    }
    emit_indent(e);
    strbuf_printf(e->out, "%s *", scalar_type(e, v));
    emit_var(e, v);
    strbuf_add(e->out, ";\n");
}

void emit_private_assign(ScalarEmitter *e, CoreVar v, CoreAtom a, bool declare)
{
    if (declare)
        emit_private_declaration(e, v);
    if (lane_owns(e->lane, v)) {
        emit_copy(e, "", v, "", a.var);
        return;
    }
    emit_indent(e);
    emit_var(e, v);
    strbuf_add(e->out, " = ");
    emit_var(e, a.var);
    strbuf_add(e->out, ";\n");
}

void emit_private_next(ScalarEmitter *e, CoreVar v, CoreAtom a)
{
    emit_memory(e, "next_", v);
    emit_copy(e, "next_", v, "", a.var);
}

void emit_private_take_next(ScalarEmitter *e, CoreVar v) { emit_copy(e, "", v, "next_", v); }

void emit_private_slice(ScalarEmitter *e, const CoreStmt *s)
{
    emit_declaration(e, s->vars[0], false);
    emit_indent(e);
    emit_var(e, s->vars[0]);
    strbuf_add(e->out, " = ");
    emit_var(e, s->slice.array.var);
    strbuf_add(e->out, " + ");
    emit_atom(e, s->slice.from);
    strbuf_printf(e->out, " * %u;\n", (unsigned)lane_stride(lane_var(e->lane, s->slice.array.var)));
}

/* "*DP_SHARE_AT(dp_i32_any, DP_ADDR(x) + 4 * (dp_u64)(": in the lane's memory. */
static void open_strip_store(ScalarEmitter *e, CoreVar array)
{
    const CoreType element = core_element(core_var_type(e->fn, array));
    emit_indent(e);
    strbuf_printf(e->out, "*DP_SHARE_AT(%s_any, DP_ADDR(", emit_value_type(element));
    emit_var(e, array);
    strbuf_printf(e->out, ") + %u * (dp_u64)(", emit_bytes(element));
}

static void close_strip_store(ScalarEmitter *e, CoreAtom a)
{
    strbuf_add(e->out, ")) = ");
    emit_atom(e, a);
    strbuf_add(e->out, ";\n");
}

static void emit_strip_store(ScalarEmitter *e, CoreVar array, CoreAtom at, CoreAtom a)
{
    open_strip_store(e, array);
    emit_atom(e, at);
    close_strip_store(e, a);
}

/* array[at] = a, of scalars, or of a row. */
static void emit_store(ScalarEmitter *e, CoreVar array, CoreAtom at, CoreAtom a)
{
    if (e->lane->strip) {
        emit_strip_store(e, array, at, a);
        return;
    }
    const LaneVar *info = lane_var(e->lane, array);
    unsigned stride = (unsigned)lane_stride(info);
    emit_indent(e);
    strbuf_add(e->out, info->rank == 1 ? "" : "DP_COPY((");
    emit_var(e, array);
    strbuf_add(e->out, info->rank == 1 ? "[" : " + ");
    emit_atom(e, at);
    if (info->rank == 1)
        strbuf_add(e->out, "] = ");
    else
        strbuf_printf(e->out, " * %u), ", stride);
    emit_atom(e, a);
    if (info->rank == 1)
        strbuf_add(e->out, ";\n");
    else
        strbuf_printf(e->out, ", %u);\n", stride);
}

/* ---- arrays in memory ---- */

static unsigned element_bytes(const ScalarEmitter *e, CoreVar array)
{
    return emit_bytes(core_element(core_var_type(e->fn, array)));
}

/* "x = dp_lane_make(heap, &dp_top, dp_own, n, 4, &failed);", of what is declared. `what`: the function; a: n, or an
 * array */
static void emit_made(ScalarEmitter *e, CoreVar v, const char *what, CoreAtom a)
{
    emit_indent(e);
    emit_var(e, v);
    strbuf_printf(e->out, " = dp_lane_%s(heap, &dp_top, dp_own, ", what);
    emit_atom(e, a);
    strbuf_printf(e->out, ", %u, &failed);\n", element_bytes(e, v));
    e->may_have_failed = true;
}

/* "dp_left -= DP_LEN(x) / 8;": elements that are copied, where a loop's lane counts what it does. */
static void emit_copied(ScalarEmitter *e, CoreVar v, const char *what, CoreAtom from)
{
    emit_made(e, v, what, from);
    if (!e->spends)
        return;
    emit_indent(e);
    strbuf_add(e->out, "dp_left -= DP_LEN(");
    emit_var(e, v);
    strbuf_printf(e->out, ") / %u;\n", LANE_FILLED);
}

/* "x = dp_lane_over(heap, &dp_top, dp_own, xs, n, 4, &failed);" */
static void emit_over(ScalarEmitter *e, CoreVar v, CoreAtom n)
{
    const CoreVar array = lane_var(e->lane, v)->over - 1;
    emit_indent(e);
    emit_var(e, v);
    strbuf_add(e->out, " = dp_lane_over(heap, &dp_top, dp_own, ");
    emit_var(e, array);
    strbuf_add(e->out, ", ");
    emit_atom(e, n);
    strbuf_printf(e->out, ", %u, &failed);\n", element_bytes(e, v));
    e->may_have_failed = true;
}

static void emit_made_all(ScalarEmitter *e, const CoreStmt *s, CoreAtom n)
{
    for (uint32_t i = 0; e->lane->strip && i < s->nvars; i++)
        if (s->kind == CORE_MAP && !lane_owns(e->lane, s->vars[i]))
            emit_over(e, s->vars[i], n);
        else
            emit_made(e, s->vars[i], "make", n);
}

/* What an element's code makes is gone behind it, unless it is a row of the result. */
bool emit_drops(const ScalarEmitter *e, const CoreStmt *s, ScalarFacts inside)
{
    if (!e->lane->strip || !inside.makes)
        return false;
    for (uint32_t i = 0; i < s->nvars; i++)
        if (core_var_type(e->fn, s->vars[i]).rank > (s->kind != CORE_REDUCE))
            return false;
    return true;
}

uint32_t emit_mark(ScalarEmitter *e)
{
    emit_indent(e);
    strbuf_printf(e->out, "const dp_u64 dp_mark%u = dp_top;\n", ++e->nmarks);
    return e->nmarks;
}

uint32_t emit_state_mark(ScalarEmitter *e)
{
    const uint32_t mark = emit_mark(e);
    emit_indent(e);
    strbuf_printf(e->out, "dp_u64 dp_limit%u = dp_mark%u + dp_slack;\n", mark, mark);
    return mark;
}

void emit_drop(ScalarEmitter *e, uint32_t mark)
{
    emit_indent(e);
    strbuf_printf(e->out, "dp_top = dp_mark%u;\n", mark);
}

static bool keeps_arrays(const ScalarEmitter *e, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        if (core_var_type(e->fn, s->loop.params[i]).rank > 0)
            return true;
    return false;
}

/* "x = dp_lane_begin(heap, memory, &dp_top, dp_own, xs, 4, &failed);" */
static void emit_begin(ScalarEmitter *e, const CoreStmt *s, uint32_t i)
{
    emit_indent(e);
    emit_var(e, s->loop.params[i]);
    strbuf_add(e->out, " = dp_lane_begin(heap, ");
    emit_atom(e, e->memory);
    strbuf_add(e->out, ", &dp_top, dp_own, ");
    emit_atom(e, s->loop.inits[i]);
    strbuf_printf(e->out, ", %u, &failed);\n", element_bytes(e, s->loop.params[i]));
    e->may_have_failed = true;
}

uint32_t emit_strip_state(ScalarEmitter *e, const CoreStmt *s, ScalarFacts inside)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        if (e->one_lane && lane_begins_outside(e->lane, s, i))
            emit_begin(e, s, i);
        else if (lane_copies_state(e->lane, s, i))
            emit_made(e, s->loop.params[i], "copy", s->loop.inits[i]);
    return inside.makes ? emit_state_mark(e) : 0;
}

void emit_limit(ScalarEmitter *e, uint32_t mark)
{
    emit_indent(e);
    strbuf_printf(e->out, "dp_limit%u = dp_lane_limit(dp_own, dp_mark%u, dp_top, dp_slack);\n", mark, mark);
}

/* "x = dp_lane_move1(heap, &dp_top, dp_own, x, 4, from, dp_kept, &failed);" for all arrays of the state. */
static void emit_moves(ScalarEmitter *e, const CoreStmt *s, uint32_t mark)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        const CoreVar v = s->loop.params[i];
        const CoreType t = core_var_type(e->fn, v);
        if (t.rank == 0)
            continue;
        emit_indent(e);
        emit_var(e, v);
        strbuf_printf(e->out, " = dp_lane_move%u(heap, &dp_top, dp_own, ", t.rank);
        emit_var(e, v);
        strbuf_printf(e->out, ", %u, dp_mark%u, dp_kept, &failed);\n", emit_bytes(core_scalar(t.scalar)), mark);
    }
}

/* Where rounds have left much behind, all of that goes but for the state, which is put aside and back. */
void emit_strip_round(ScalarEmitter *e, const CoreStmt *s, uint32_t mark)
{
    if (mark == 0)
        return;
    e->may_have_failed = true;
    emit_indent(e);
    strbuf_printf(e->out, "if (dp_top > dp_limit%u) {\n", mark);
    e->depth++;
    if (keeps_arrays(e, s)) {
        emit_line(e, "dp_u64 dp_kept = dp_top;");
        emit_moves(e, s, mark);
        emit_line(e, "dp_kept = dp_top;");
        emit_drop(e, mark);
        emit_moves(e, s, mark);
        emit_limit(e, mark);
    } else {
        emit_drop(e, mark);
    }
    e->depth--;
    emit_line(e, "}");
}

/* ---- parallel operations ---- */

static CoreAtom position_of(const CoreSoac *soac) { return core_var_atom(soac->index, (CoreType){SC_I64, 0}); }

static void emit_elements(ScalarEmitter *e, const CoreSoac *soac)
{
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        CoreVar v = soac->elements[i];
        if (emit_is_private(e, v)) { /* a row */
            emit_private_declaration(e, v);
            emit_indent(e);
        } else {
            emit_indent(e);
            strbuf_printf(e->out, "%s ", emit_value_type(core_var_type(e->fn, v)));
        }
        emit_var(e, v);
        strbuf_add(e->out, " = ");
        emit_element_read(e, soac->inputs[i], position_of(soac));
        strbuf_add(e->out, ";\n");
    }
}

static bool is_unrolled(const ScalarEmitter *e, const CoreSoac *soac, ScalarFacts inside, LoopCare care)
{
    int64_t n;
    return !care.test && lane_constant(e->lane, soac->domain, &n) && n * (inside.statements + 1) <= UNROLLED;
}

/* "DP_LAUNCHES(2, 4)": of a round. Loops in it have rounds of their own. The host reads nothing where there are several
 * instances. */
static void emit_launches(const ScalarEmitter *e, const CoreStmt *loop, uint32_t more)
{
    RoundCost round = round_cost(loop, false);
    round.reads = e->one_lane ? round.reads : 0;
    strbuf_printf(e->out, "DP_LAUNCHES(%u, %u)", round.launches + more, round_on_gpu(round) + more);
}

static void find_operations(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n && !*(bool *)ctx; i++) {
        *(bool *)ctx = core_stmt_soac(b->stmts.at[i]);
        core_stmt_blocks(b->stmts.at[i], find_operations, ctx);
    }
}

static bool has_operations(const CoreStmt *s)
{
    bool operations = false;
    core_stmt_blocks((CoreStmt *)s, find_operations, &operations);
    return operations;
}

/* Is this a place where a lane that counts looks at what is left to be spent? */
static bool looks_here(const ScalarEmitter *e) { return e->spends && e->inside < 2; }

bool emit_lane_looks(const ScalarEmitter *e, const CoreStmt *s)
{
    return looks_here(e) && (s->kind == CORE_LOOP || !e->inside) && has_operations(s);
}

/* Vector code goes to its end where there is too much to do. */
static bool emit_gives_up(const ScalarEmitter *e)
{
    if (e->gives_up)
        *e->gives_up = true;
    return e->gives_up;
}

void emit_lane_round(ScalarEmitter *e, const CoreStmt *loop)
{
    if (!e->spends || e->inside || !has_operations(loop))
        return;
    emit_indent(e);
    strbuf_printf(e->out, "DP_LANE_ROUND%s(", emit_gives_up(e) ? "_W" : "");
    emit_launches(e, loop, 0);
    strbuf_add(e->out, ")\n");
    e->may_have_failed = true;
}

static void count_loops(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        *(uint32_t *)ctx += s->kind == CORE_LOOP && !core_stmt_is_scalar(s);
        core_stmt_blocks(s, count_loops, ctx);
    }
}

void emit_lane_credit(ScalarEmitter *e, const CoreBlock *b, uint32_t at, void (*rounds)(void *ctx, CoreAtom n),
                      void *ctx)
{
    const CoreStmt *maker = at ? b->stmts.at[at - 1] : NULL;
    for (uint32_t i = at; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind != CORE_LOOP || s->loop.cond || core_stmt_is_scalar(s) || core_block_def(b, s->loop.count) != maker)
            continue;
        uint32_t loops = 0;
        core_stmt_blocks((CoreStmt *)s, count_loops, &loops);
        emit_indent(e);
        strbuf_add(e->out, "DP_LANE_CREDIT(");
        emit_launches(e, s, ROUNDS * loops);
        strbuf_add(e->out, ", ");
        rounds(ctx, s->loop.count);
        strbuf_add(e->out, ")\n");
    }
}

static void scalar_number(void *ctx, CoreAtom n) { emit_atom(ctx, n); }

/* The statements of a lane's block, and what its loops may spend. */
static void emit_lane_block(ScalarEmitter *e, const CoreBlock *b, bool credit)
{
    for (uint32_t i = 0; i <= b->stmts.n; i++) {
        if (credit)
            emit_lane_credit(e, b, i, scalar_number, e);
        if (i < b->stmts.n)
            emit_scalar_stmt(e, b->stmts.at[i]);
    }
}

/* "DP_LANE_SPEND(n * 3 / 1)": statements of a lane that counts; outer operations are not begun if these are too many,
 * and do not go on if inner ones' are. */
void emit_spent(ScalarEmitter *e, const CoreStmt *s, uint32_t at_once, void (*elements)(void *ctx, CoreAtom n),
                void *ctx)
{
    const LaneCost cost = lane_cost(s);
    const bool looks = looks_here(e);
    if (!e->spends || s->soac.grows)
        return;
    emit_indent(e);
    strbuf_add(e->out, !looks ? "dp_left -= (" : emit_gives_up(e) ? "DP_LANE_SPEND_W(" : "DP_LANE_SPEND(");
    elements(ctx, s->soac.domain);
    strbuf_printf(e->out, looks ? " * %u / %u)\n" : " * %u / %u);\n", cost.statements, cost.elements * at_once);
    e->may_have_failed |= looks;
}

/* Of an operation at work. wide: its elements go side by side, as far as they can. */
typedef struct SoacLoop {
    ScalarFacts inside;
    LoopCare care;
    bool before, wide;
    uint32_t mark; /* of the lane's memory; 0: there is none */
} SoacLoop;

/* "for (dp_i64 k = 0; k < n; k++) {", of all elements; or of as many as would go side by side, behind which these do.
 */
static void emit_soac_head(ScalarEmitter *e, const CoreSoac *soac, LoopCare care, bool wide)
{
    const uint32_t number = e->nmarks;
    emit_indent(e);
    strbuf_add(e->out, wide ? "for (const dp_i64 " : "for (dp_i64 ");
    if (wide) {
        strbuf_printf(e->out, "dp_to%u = min(", number);
        emit_var(e, soac->index);
        strbuf_printf(e->out, " + %u, ", e->wide);
        emit_atom(e, soac->domain);
        strbuf_add(e->out, ")");
    } else {
        emit_var(e, soac->index);
        strbuf_add(e->out, " = 0");
    }
    strbuf_add(e->out, "; ");
    emit_var(e, soac->index);
    strbuf_add(e->out, " < ");
    if (wide)
        strbuf_printf(e->out, "dp_to%u", number);
    else
        emit_atom(e, soac->domain);
    strbuf_add(e->out, care.test ? " && !failed; " : "; ");
    emit_var(e, soac->index);
    strbuf_add(e->out, "++) {\n");
    e->depth++;
}

static void emit_wide_head(ScalarEmitter *e, const CoreStmt *s, LoopCare care)
{
    emit_line(e, "{");
    e->depth++;
    emit_wide_begin(e, s);
    emit_indent(e);
    strbuf_add(e->out, "dp_i64 ");
    emit_var(e, s->soac.index);
    strbuf_add(e->out, " = 0;\n");
    emit_indent(e);
    strbuf_add(e->out, "while (");
    emit_var(e, s->soac.index);
    strbuf_add(e->out, " < ");
    emit_atom(e, s->soac.domain);
    strbuf_add(e->out, care.test ? " && !failed) {\n" : ") {\n");
    e->depth++;
    emit_wide_elements(e, s);
}

/* The loop's head, the elements, and the body, or the guard in front of it. inside: what it contains. */
static SoacLoop emit_soac_begin(ScalarEmitter *e, const CoreStmt *s, ScalarFacts inside)
{
    const CoreSoac *soac = &s->soac;
    SoacLoop loop = {inside, .care = emit_loop_care(e, s, inside), .mark = emit_drops(e, s, inside) ? emit_mark(e) : 0};
    const bool unrolled = is_unrolled(e, soac, inside, loop.care);
    loop.wide = !unrolled && emit_goes_wide(e, s);
    emit_spent(e, s, loop.wide ? DP_LANE_WIDE : 1, scalar_number, e);
    if (loop.care.guard)
        emit_line(e, "if (!failed)");
    e->depth += loop.care.guard;
    e->inside++;
    if (unrolled)
        strbuf_add(e->out, "#pragma unroll\n");
    else if (!loop.wide)
        emit_rolled(e, soac->domain, inside.statements);
    if (loop.wide)
        emit_wide_head(e, s, loop.care);
    emit_soac_head(e, soac, loop.care, loop.wide);
    loop.before = emit_round_begin(e);
    emit_elements(e, soac);
    emit_scalar_block(e, soac->guard ? soac->guard : soac->body);
    return loop;
}

/* any and all end early, where nothing that follows could fail: "if (!a && b) break;" */
static void emit_early_end(ScalarEmitter *e, const CoreStmt *s, SoacLoop loop)
{
    if (s->kind != CORE_REDUCE || loop.inside.fallible || !core_op_settles(e->fn, &s->soac.op) ||
        is_unrolled(e, &s->soac, loop.inside, loop.care))
        return;
    emit_indent(e);
    strbuf_add(e->out, "if (");
    for (uint32_t i = 0; i < s->nvars; i++) {
        strbuf_add(e->out, i ? " && " : "");
        strbuf_add(e->out, core_op_part(&s->soac.op, i) == PRIM_AND ? "!" : "");
        emit_var(e, s->soac.op.params[i]);
    }
    strbuf_add(e->out, ") break;\n");
}

static void emit_soac_end(ScalarEmitter *e, const CoreStmt *s, SoacLoop loop)
{
    if (loop.mark)
        emit_drop(e, loop.mark);
    emit_early_end(e, s, loop);
    emit_round_end(e, loop.before, loop.care);
    e->inside--;
    e->depth--;
    emit_line(e, "}");
    if (loop.wide) {
        e->depth--;
        emit_line(e, "}");
        emit_wide_end(e, s);
        e->depth--;
        emit_line(e, "}");
    }
    e->depth -= loop.care.guard;
}

static void emit_stores(ScalarEmitter *e, const CoreStmt *s, const CoreAtom *values)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_store(e, s->vars[i], position_of(&s->soac), values[i]);
}

/* "if (holds) { … xs[dp_kept1++] = v; }" */
static void emit_kept(ScalarEmitter *e, const CoreStmt *s, uint32_t kept)
{
    emit_indent(e);
    strbuf_add(e->out, "if (");
    emit_atom(e, s->soac.guard->results[0]);
    strbuf_add(e->out, ") {\n");
    e->depth++;
    emit_scalar_block(e, s->soac.body);
    for (uint32_t i = 0; i < s->nvars; i++) {
        open_strip_store(e, s->vars[i]);
        strbuf_printf(e->out, "dp_kept%u", kept);
        close_strip_store(e, s->soac.body->results[i]);
    }
    emit_indent(e);
    strbuf_printf(e->out, "dp_kept%u++;\n", kept);
    e->depth--;
    emit_line(e, "}");
}

/* "xs = dp_make_view(dp_kept1, DP_ADDR(xs));" */
static void emit_shortened(ScalarEmitter *e, const CoreStmt *s, uint32_t kept)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        emit_indent(e);
        emit_var(e, s->vars[i]);
        strbuf_printf(e->out, " = dp_make_view(dp_kept%u, DP_ADDR(", kept);
        emit_var(e, s->vars[i]);
        strbuf_add(e->out, "));\n");
    }
}

static void emit_filter(ScalarEmitter *e, const CoreStmt *s)
{
    ScalarFacts inside = scalar_facts(e->fn, e->lane, s->soac.guard);
    scalar_facts_add(&inside, scalar_facts(e->fn, e->lane, s->soac.body));
    emit_made_all(e, s, s->soac.domain);
    const uint32_t kept = ++e->nmarks;
    emit_indent(e);
    strbuf_printf(e->out, "dp_u64 dp_kept%u = 0;\n", kept);
    const SoacLoop loop = emit_soac_begin(e, s, inside);
    emit_kept(e, s, kept);
    emit_soac_end(e, s, loop);
    emit_shortened(e, s, kept);
}

static void emit_map(ScalarEmitter *e, const CoreStmt *s)
{
    ScalarFacts inside = scalar_facts(e->fn, e->lane, s->soac.body);
    emit_made_all(e, s, s->soac.domain);
    if (lane_is_room(s))
        return;
    const SoacLoop loop = emit_soac_begin(e, s, inside);
    emit_stores(e, s, s->soac.body->results);
    emit_soac_end(e, s, loop);
}

/* What v begins as: the array's own memory, or a copy. */
static void emit_copy_or_take(ScalarEmitter *e, CoreVar v, CoreAtom array)
{
    if (e->lane->strip && lane_owns(e->lane, v))
        emit_copied(e, v, "copy", array);
    else
        emit_assign(e, v, array, false);
}

/* The body's first result is where; out of range is ignored. */
static void emit_scatter(ScalarEmitter *e, const CoreStmt *s)
{
    ScalarFacts inside = scalar_facts(e->fn, e->lane, s->soac.body);
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_copy_or_take(e, s->vars[i], s->soac.dests[i]);
    const SoacLoop loop = emit_soac_begin(e, s, inside);
    for (uint32_t i = 0; i < s->nvars; i++) {
        emit_indent(e);
        strbuf_add(e->out, "if ((dp_u64)");
        emit_atom(e, s->soac.body->results[0]);
        strbuf_add(e->out, " < ");
        emit_array_length(e, core_var_atom(s->vars[i], core_var_type(e->fn, s->vars[i])));
        strbuf_add(e->out, ")\n");
        e->depth++;
        emit_store(e, s->vars[i], s->soac.body->results[0], s->soac.body->results[i + 1]);
        e->depth--;
    }
    emit_soac_end(e, s, loop);
}

/* The operator's first parameters are what has been combined so far; then come the element's values. */
static void emit_combine(ScalarEmitter *e, const CoreStmt *s)
{
    const CoreLambda *op = &s->soac.op;
    const uint32_t k = s->nvars;
    for (uint32_t i = 0; i < k; i++)
        emit_assign(e, op->params[k + i], s->soac.body->results[i], true);
    emit_scalar_block(e, op->body);
    emit_parallel_assign(e, op->params, op->body->results, k);
}

static void emit_fold(ScalarEmitter *e, const CoreStmt *s)
{
    const CoreLambda *op = &s->soac.op;
    const uint32_t k = s->nvars;
    ScalarFacts inside = scalar_facts(e->fn, e->lane, s->soac.body);
    scalar_facts_add(&inside, scalar_facts(e->fn, e->lane, op->body));
    if (s->kind == CORE_SCAN)
        emit_made_all(e, s, s->soac.domain);
    CoreAtom *acc = malloc((k + 1) * sizeof *acc);
    if (!acc)
        memory_out();
    for (uint32_t i = 0; i < k; i++) {
        acc[i] = core_var_atom(op->params[i], core_var_type(e->fn, op->params[i]));
        emit_assign(e, op->params[i], s->soac.neutral[i], true);
    }
    const SoacLoop loop = emit_soac_begin(e, s, inside);
    if (s->kind == CORE_SCAN && s->soac.exclusive)
        emit_stores(e, s, acc);
    emit_combine(e, s);
    if (s->kind == CORE_SCAN && !s->soac.exclusive)
        emit_stores(e, s, acc);
    emit_soac_end(e, s, loop);
    for (uint32_t i = 0; s->kind == CORE_REDUCE && i < k; i++)
        emit_assign(e, s->vars[i], acc[i], !e->declared);
    free(acc);
}

/* ---- arrays ---- */

/* Where its check may have failed, what it is made of may be no array that is there. */
static void emit_update_test(ScalarEmitter *e, const CoreStmt *s)
{
    if (e->lane->strip && s->update.holds) {
        strbuf_add(e->out, "if (!failed) {\n");
        return;
    }
    strbuf_add(e->out, "if ((dp_u64)");
    emit_atom(e, s->update.index);
    strbuf_add(e->out, " < ");
    emit_array_length(e, core_var_atom(s->vars[0], core_var_type(e->fn, s->vars[0])));
    strbuf_add(e->out, ") {\n");
}

static void emit_update(ScalarEmitter *e, const CoreStmt *s)
{
    emit_copy_or_take(e, s->vars[0], s->update.array);
    const bool inside = lane_index_holds(e->lane, s->update.array, s->update.index);
    const bool trusted = e->lane->strip && s->update.holds;
    const bool holds = inside || (trusted && !(e->has_flag && e->may_have_failed));
    if (!holds) {
        emit_indent(e);
        emit_update_test(e, s);
        e->depth++;
    }
    emit_store(e, s->vars[0], s->update.index, s->update.value);
    if (holds)
        return;
    e->depth--;
    if (s->site != CORE_NO_SITE) {
        emit_line(e, "} else {");
        e->depth++;
        emit_index_failure(e, s->site, s->update.array, s->update.index);
        e->depth--;
    }
    emit_line(e, "}");
}

static void emit_array(ScalarEmitter *e, const CoreStmt *s)
{
    const bool strip = e->lane->strip && s->array.n > 0;
    emit_made_all(e, s, core_i64(s->array.n));
    if (strip)
        emit_line(e, "if (!failed) {");
    e->depth += strip;
    for (uint32_t i = 0; i < s->array.n; i++)
        emit_store(e, s->vars[0], core_i64(i), s->array.items[i]);
    e->depth -= strip;
    if (strip)
        emit_line(e, "}");
}

/* ---- statements ---- */

/* Result i; an array that lies in memory is put where it stays. */
static void emit_given(ScalarEmitter *e, const CoreStmt *s, uint32_t i)
{
    if (s->lane.memory.is_const || core_var_type(e->fn, s->vars[i]).rank == 0) {
        emit_assign(e, s->vars[i], s->lane.block->results[i], false);
        return;
    }
    emit_indent(e);
    emit_var(e, s->vars[i]);
    strbuf_add(e->out, " = dp_lane_give(heap, ");
    emit_atom(e, s->lane.memory);
    strbuf_add(e->out, ", ");
    emit_atom(e, s->lane.block->results[i]);
    strbuf_printf(e->out, ", %u, dp_own, &failed);\n", element_bytes(e, s->vars[i]));
}

static void emit_lane(ScalarEmitter *e, const CoreStmt *s)
{
    const bool strip = !s->lane.memory.is_const;
    Lane lane = lane_open(e->fn, strip);
    bool known = lane_analyse(&lane, s->lane.block);
    assert(known && "flat_check has seen to that");
    (void)known;
    if (strip)
        lane_find_places(&lane, s->lane.block);
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_declaration(e, s->vars[i], true);
    emit_line(e, "{");
    e->depth++;
    if (strip) {
        emit_indent(e);
        strbuf_add(e->out, s->lane.of == LANE_OF_LOOP ? "DP_LANE_OPEN_WHOLE(" : "DP_LANE_OPEN(");
        emit_atom(e, s->lane.memory);
        strbuf_add(e->out, ")\n");
    }
    if (strip && dp_lane_counts(s->lane.of)) {
        emit_indent(e);
        strbuf_add(e->out, "DP_LANE_COUNT(");
        emit_atom(e, s->lane.memory);
        strbuf_add(e->out, ", DP_LANE_KEPT)\n");
    }
    e->lane = &lane;
    e->spends = s->lane.of != LANE_OF_NEST;
    e->one_lane = s->lane.of == LANE_OF_LOOP;
    e->memory = s->lane.memory;
    emit_lane_block(e, s->lane.block, dp_lane_counts(s->lane.of));
    e->spends = false;
    e->lane = NULL;
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_given(e, s, i);
    e->depth--;
    emit_line(e, "}");
    lane_close(&lane);
}

/* "n = dp_lane_row(heap, dp_own, xs, &failed);", which nobody may ask for (lane_tables.c), and the elements. */
static void emit_table(ScalarEmitter *e, const CoreStmt *s)
{
    emit_indent(e);
    emit_var(e, s->vars[1]);
    strbuf_add(e->out, " = dp_lane_row(heap, dp_own, ");
    emit_atom(e, s->length.array);
    strbuf_add(e->out, ", &failed);\n");
    emit_indent(e);
    strbuf_add(e->out, "(void)");
    emit_var(e, s->vars[1]);
    strbuf_add(e->out, ";\n");
    emit_copied(e, s->vars[0], "flatten", s->length.array);
}

void emit_lane_stmt(ScalarEmitter *e, const CoreStmt *s)
{
    if (s->kind == CORE_LANE) {
        emit_lane(e, s);
        return;
    }
    for (uint32_t i = 0; s->kind != CORE_REDUCE && i < s->nvars; i++)
        emit_declaration(e, s->vars[i], true);
    switch (s->kind) {
    case CORE_MAP: s->soac.guard ? emit_filter(e, s) : emit_map(e, s); break;
    case CORE_SCATTER: emit_scatter(e, s); break;
    case CORE_REDUCE:
    case CORE_SCAN: emit_fold(e, s); break;
    case CORE_UPDATE: emit_update(e, s); break;
    case CORE_ARRAY: emit_array(e, s); break;
    case CORE_FLATTEN:
        if (e->lane->strip)
            emit_copied(e, s->vars[0], "flatten", s->length.array);
        else
            emit_assign(e, s->vars[0], s->length.array, false);
        break;
    case CORE_TABLE: emit_table(e, s); break;
    default: assert(false && "flat_check has excluded it");
    }
}
