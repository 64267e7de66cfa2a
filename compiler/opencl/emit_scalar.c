#include "opencl/emit_scalar_internal.h"

#include "plan/emit_text.h"
#include "support/marks.h"

/* ---- facts ---- */

static bool divides(const CoreFn *fn, const CoreStmt *s)
{
    return core_prim_fallible(s->prim.op, core_atom_type(fn, s->prim.args[0]).scalar);
}

bool scalar_prim_fallible(const CoreFn *fn, const CoreStmt *s)
{
    if (s->site == CORE_NO_SITE || !divides(fn, s))
        return false;
    return !s->prim.args[1].is_const || s->prim.args[1].bits == 0;
}

/* What follows f. */
void scalar_facts_add(ScalarFacts *f, ScalarFacts g)
{
    f->relies |= g.relies || (f->fallible && g.unchecked);
    f->fallible |= g.fallible;
    f->loop |= g.loop;
    f->while_loop |= g.while_loop;
    f->unchecked |= g.unchecked;
    f->makes |= g.makes;
    f->writes |= g.writes;
    f->statements += g.statements;
}

static void facts_loop(ScalarFacts *f, const CoreFn *fn, const Lane *lane, const CoreStmt *s)
{
    f->loop = true;
    if (s->loop.cond) {
        f->while_loop = true;
        scalar_facts_add(f, scalar_facts(fn, lane, s->loop.cond));
    }
    scalar_facts_add(f, scalar_facts(fn, lane, s->loop.body));
}

/* Does it make arrays? What an update or a scatter changes where it is, it does not. */
static bool makes(const Lane *lane, const CoreStmt *s)
{
    bool owns = !lane || !lane->strip || (s->kind != CORE_UPDATE && s->kind != CORE_SCATTER);
    for (uint32_t i = 0; !owns && i < s->nvars; i++)
        owns = lane_owns(lane, s->vars[i]);
    return owns && s->kind != CORE_REDUCE;
}

/* What a lane repeats reads its elements without a check. */
static void facts_parallel(ScalarFacts *f, const CoreFn *fn, const Lane *lane, const CoreStmt *s)
{
    ScalarFacts inside = {.fallible = s->site != CORE_NO_SITE, .makes = makes(lane, s)};
    const CoreLambda *op = core_stmt_operator(s);
    inside.writes = s->kind == CORE_UPDATE && s->update.holds;
    if (core_stmt_soac(s)) {
        inside.loop = inside.unchecked = true;
        if (s->soac.guard)
            scalar_facts_add(&inside, scalar_facts(fn, lane, s->soac.guard));
        scalar_facts_add(&inside, scalar_facts(fn, lane, s->soac.body));
    }
    if (op)
        scalar_facts_add(&inside, scalar_facts(fn, lane, op->body));
    scalar_facts_add(f, inside);
}

static void facts_stmt(ScalarFacts *f, const CoreFn *fn, const Lane *lane, const CoreStmt *s)
{
    f->statements++;
    switch (s->kind) {
    case CORE_PRIM: f->fallible |= scalar_prim_fallible(fn, s); break;
    case CORE_INDEX:
        if (s->site == CORE_NO_SITE)
            scalar_facts_add(f, (ScalarFacts){.unchecked = true});
        else
            f->fallible = true;
        break;
    case CORE_SLICE: f->fallible |= s->site != CORE_NO_SITE; break;
    case CORE_CHECK: f->fallible = true; break;
    case CORE_IF:
        scalar_facts_add(f, scalar_facts(fn, lane, s->if_.then_b));
        scalar_facts_add(f, scalar_facts(fn, lane, s->if_.else_b));
        break;
    case CORE_LOOP:
        facts_loop(f, fn, lane, s);
        for (uint32_t i = 0; lane && lane->strip && i < s->loop.nparams; i++)
            f->makes |= lane_copies_state(lane, s, i);
        break;
    case CORE_LANE: {
        ScalarFacts inside = scalar_facts(fn, NULL, s->lane.block);
        inside.writes &= !s->lane.memory.is_const;
        scalar_facts_add(f, inside);
        f->fallible |= !s->lane.memory.is_const; /* there may be too little */
        f->relies |= !s->lane.memory.is_const;
        break;
    }
    case CORE_ATOM:
    case CORE_LENGTH: break;
    case CORE_PARALLEL: facts_parallel(f, fn, lane, s); break;
    }
}

ScalarFacts scalar_facts(const CoreFn *fn, const Lane *lane, const CoreBlock *b)
{
    ScalarFacts f = {0};
    for (uint32_t i = 0; i < b->stmts.n; i++)
        facts_stmt(&f, fn, lane, b->stmts.at[i]);
    return f;
}

/* ---- pieces ---- */

void emit_indent(ScalarEmitter *e) { strbuf_indent(e->out, 2 * e->depth); }

const char *emit_value_type(CoreType t) { return t.rank > 0 ? "dp_view" : emit_type_name(t.scalar); }

void emit_var(ScalarEmitter *e, CoreVar v) { emit_name(e->out, "x", v, e->fn->vars.at[v].hint); }

void emit_atom(ScalarEmitter *e, CoreAtom a)
{
    if (a.is_const)
        emit_literal(e->out, a.type.scalar, a.bits);
    else
        emit_var(e, a.var);
}

static CoreType var_type(const ScalarEmitter *e, CoreVar v) { return core_var_type(e->fn, v); }

/* An atom's text, for the values of a failure. */
static const char *atom_text(ScalarEmitter *e, StrBuf *scratch, CoreAtom a)
{
    StrBuf *out = e->out;
    scratch->n = 0;
    e->out = scratch;
    emit_atom(e, a);
    e->out = out;
    return scratch->text;
}

/* "T x = ", or without the type. */
static void bind_open(ScalarEmitter *e, CoreVar v, bool declare)
{
    emit_indent(e);
    if (declare)
        strbuf_printf(e->out, "%s ", emit_value_type(var_type(e, v)));
    emit_var(e, v);
    strbuf_add(e->out, " = ");
}

void emit_assign(ScalarEmitter *e, CoreVar v, CoreAtom a, bool declare)
{
    if (emit_is_private(e, v)) {
        emit_private_assign(e, v, a, declare);
        return;
    }
    bind_open(e, v, declare);
    emit_atom(e, a);
    strbuf_add(e->out, ";\n");
}

/* "T x;" for what branches assign. */
void emit_declaration(ScalarEmitter *e, CoreVar v, bool zero)
{
    CoreType t = var_type(e, v);
    if (e->declared)
        return;
    if (emit_is_private(e, v)) {
        emit_private_declaration(e, v);
        return;
    }
    emit_indent(e);
    strbuf_printf(e->out, "%s ", emit_value_type(t));
    emit_var(e, v);
    strbuf_add(e->out, !zero ? ";\n" : t.rank > 0 ? " = dp_make_view(0, 0);\n" : " = 0;\n");
}

void emit_line(ScalarEmitter *e, const char *text)
{
    emit_indent(e);
    strbuf_add(e->out, text);
    strbuf_add(e->out, "\n");
}

/* ---- memory ---- */

static CoreType element_type(const ScalarEmitter *e, CoreAtom array)
{
    return core_element(core_atom_type(e->fn, array));
}

void emit_array_length(ScalarEmitter *e, CoreAtom array)
{
    if (emit_atom_is_private(e, array)) {
        strbuf_printf(e->out, "%uU", lane_var(e->lane, array.var)->dims[0]);
        return;
    }
    strbuf_add(e->out, "DP_LEN(");
    emit_atom(e, array);
    strbuf_add(e->out, ")");
}

/* The address of element `index`. */
static void emit_element_address(ScalarEmitter *e, CoreAtom array, CoreAtom index)
{
    strbuf_add(e->out, "DP_ADDR(");
    emit_atom(e, array);
    strbuf_add(e->out, ") + (dp_u64)");
    emit_atom(e, index);
    strbuf_printf(e->out, " * %u", emit_bytes(element_type(e, array)));
}

/* "x[i]", or where a row begins. */
static void emit_private_read(ScalarEmitter *e, CoreAtom array, CoreAtom index)
{
    const LaneVar *v = lane_var(e->lane, array.var);
    emit_atom(e, array);
    strbuf_add(e->out, v->rank == 1 ? "[" : " + ");
    emit_atom(e, index);
    if (v->rank == 1)
        strbuf_add(e->out, "]");
    else
        strbuf_printf(e->out, " * %u", (unsigned)lane_stride(v));
}

static const PlanRows *rows_of(const ScalarEmitter *e, CoreAtom array)
{
    for (uint32_t i = 0; i < e->nrows; i++)
        if (e->rows[i].array == array.var)
            return &e->rows[i];
    return NULL;
}

void emit_element_read(ScalarEmitter *e, CoreAtom array, CoreAtom index)
{
    if (emit_atom_is_private(e, array)) {
        emit_private_read(e, array, index);
        return;
    }
    const PlanRows *rows = rows_of(e, array);
    if (rows) {
        strbuf_printf(e->out, "DP_ROW%u(DP_ADDR(", rows->word);
        emit_atom(e, array);
        strbuf_add(e->out, "), (dp_u64)");
        emit_atom(e, index);
        strbuf_add(e->out, ")");
        return;
    }
    static const char *const places[] = {[LANE_IN_EITHER] = "LANE_", [LANE_IN_HEAP] = "", [LANE_IN_SHARE] = "SHARE_"};
    const bool strip = e->lane && e->lane->strip;
    strbuf_printf(e->out, "*DP_%sAT(%s%s, ", strip ? places[lane_place(e->lane, array)] : "",
                  emit_value_type(element_type(e, array)), strip ? "_any" : "");
    emit_element_address(e, array, index);
    strbuf_add(e->out, ")");
}

/* The text "to - from", of type dp_u64. */
static void emit_slice_length(ScalarEmitter *e, const CoreStmt *s)
{
    strbuf_add(e->out, "(dp_u64)(");
    emit_atom(e, s->slice.to);
    strbuf_add(e->out, " - ");
    emit_atom(e, s->slice.from);
    strbuf_add(e->out, ")");
}

void emit_slice_read(ScalarEmitter *e, const CoreStmt *s)
{
    strbuf_add(e->out, "dp_make_view(");
    emit_slice_length(e, s);
    strbuf_add(e->out, ", ");
    emit_element_address(e, s->slice.array, s->slice.from);
    strbuf_add(e->out, ")");
}

/* ---- failures ---- */

static void emit_error(ScalarEmitter *e, uint32_t site, const char *const values[3])
{
    strbuf_indent(e->out, 2 * e->depth);
    if (e->tries)
        strbuf_add(e->out, "*odd = 1;\n");
    else
        strbuf_printf(e->out, "dp_error(heap, %uU, %s, %s, %s);\n", site, values[0], values[1], values[2]);
    if (!e->has_flag)
        return;
    strbuf_indent(e->out, 2 * e->depth);
    strbuf_add(e->out, "failed = 1;\n");
}

static void emit_failure(ScalarEmitter *e, uint32_t site, const char *const values[3])
{
    emit_error(e, site, values);
    e->may_have_failed = true;
}

/* ---- primitive operations ---- */

void emit_prim_name(ScalarEmitter *e, const CoreStmt *s)
{
    const CoreAtom *args = s->prim.args;
    CoreType operand = core_atom_type(e->fn, args[0]), result = var_type(e, s->vars[0]);
    const char *name = core_prim_name(s->prim.op);
    if (s->prim.op == PRIM_CONVERT)
        strbuf_printf(e->out, "dp_convert_%s_%s", scalar_name(operand.scalar), scalar_name(result.scalar));
    else if (s->prim.op == PRIM_SELECT)
        strbuf_printf(e->out, "dp_select_%s", result.rank > 0 ? "view" : scalar_name(result.scalar));
    else
        strbuf_printf(e->out, "dp_%s_%s", scalar_wraps(e->fn, s) ? "wrap" : name, scalar_name(operand.scalar));
}

bool scalar_wraps(const CoreFn *fn, const CoreStmt *s)
{
    return s->prim.op == PRIM_MOD && !s->prim.args[1].is_const && core_atom_type(fn, s->prim.args[0]).scalar == SC_I64;
}

/* The divisor becomes 1 where it is 0. */
static void emit_divisor_check(ScalarEmitter *e, const CoreStmt *s)
{
    Scalar t = core_atom_type(e->fn, s->prim.args[1]).scalar;
    emit_indent(e);
    strbuf_printf(e->out, "%s d", emit_type_name(t));
    emit_var(e, s->vars[0]);
    strbuf_add(e->out, " = ");
    emit_atom(e, s->prim.args[1]);
    strbuf_add(e->out, ";\n");
    emit_indent(e);
    strbuf_add(e->out, "if (d");
    emit_var(e, s->vars[0]);
    strbuf_add(e->out, " == 0) {\n");
    e->depth++;
    emit_failure(e, s->site, (const char *const[3]){"0", "0", "0"});
    emit_indent(e);
    strbuf_add(e->out, "d");
    emit_var(e, s->vars[0]);
    strbuf_add(e->out, " = 1;\n");
    e->depth--;
    emit_line(e, "}");
}

/* What is chosen where the loop goes on, by a branch: the next round does not wait for what is asked. */
static void emit_next_value(ScalarEmitter *e, const CoreStmt *s)
{
    emit_assign(e, s->vars[0], s->prim.args[2], !e->declared);
    emit_indent(e);
    strbuf_add(e->out, "if (");
    emit_atom(e, s->prim.args[0]);
    strbuf_add(e->out, ") {\n");
    e->depth++;
    emit_line(e, "DP_GOES_ON;");
    emit_assign(e, s->vars[0], s->prim.args[1], false);
    e->depth--;
    emit_line(e, "}");
}

static void emit_prim(ScalarEmitter *e, const CoreStmt *s)
{
    if (e->straight && emit_is_root(e->fn, s)) {
        bind_open(e, s->vars[0], !e->declared);
        emit_straight(e, s);
        return;
    }
    bool checked = scalar_prim_fallible(e->fn, s);
    if (checked)
        emit_divisor_check(e, s);
    if (s->prim.op == PRIM_SELECT && !s->prim.args[0].is_const && s->prim.args[0].var + 1 == e->says) {
        emit_next_value(e, s);
        return;
    }
    bind_open(e, s->vars[0], !e->declared);
    emit_prim_name(e, s);
    for (uint32_t i = 0; i < s->prim.nargs; i++) {
        strbuf_add(e->out, i ? ", " : "(");
        if (checked && i == 1) {
            strbuf_add(e->out, "d");
            emit_var(e, s->vars[0]);
        } else {
            emit_atom(e, s->prim.args[i]);
        }
    }
    strbuf_add(e->out, ")");
    strbuf_add(e->out, ";\n");
}

/* ---- sequences ---- */

static void emit_length(ScalarEmitter *e, const CoreStmt *s)
{
    bind_open(e, s->vars[0], !e->declared);
    strbuf_add(e->out, "(dp_i64)");
    emit_array_length(e, s->length.array);
    strbuf_add(e->out, ";\n");
}

/* "(dp_i64)length", as a value of a failure. */
static const char *length_text(ScalarEmitter *e, StrBuf *scratch, CoreAtom array)
{
    StrBuf *out = e->out;
    scratch->n = 0;
    e->out = scratch;
    strbuf_add(scratch, "(dp_i64)");
    emit_array_length(e, array);
    e->out = out;
    return scratch->text;
}

void emit_index_failure(ScalarEmitter *e, uint32_t site, CoreAtom array, CoreAtom at)
{
    StrBuf index = {0}, length = {0};
    const char *values[3] = {atom_text(e, &index, at), length_text(e, &length, array), "0"};
    emit_failure(e, site, values);
    strbuf_free(&index);
    strbuf_free(&length);
}

static void emit_element(ScalarEmitter *e, const CoreStmt *s, bool declare)
{
    if (declare && emit_is_private(e, s->vars[0]))
        emit_private_declaration(e, s->vars[0]);
    bind_open(e, s->vars[0], declare && !emit_is_private(e, s->vars[0]));
    emit_element_read(e, s->index.array, s->index.index);
    strbuf_add(e->out, ";\n");
}

static void emit_index(ScalarEmitter *e, const CoreStmt *s)
{
    bool holds = e->lane && lane_index_holds(e->lane, s->index.array, s->index.index);
    bool checked = s->site != CORE_NO_SITE && !holds;
    if (holds || (!checked && !(e->has_flag && e->may_have_failed))) {
        emit_element(e, s, !e->declared);
        return;
    }
    emit_declaration(e, s->vars[0], true);
    if (emit_is_private(e, s->vars[0])) /* a row that is there */
        emit_assign(e, s->vars[0], s->index.array, false);
    emit_indent(e);
    if (checked) {
        strbuf_add(e->out, "if ((dp_u64)");
        emit_atom(e, s->index.index);
        strbuf_add(e->out, " < ");
        emit_array_length(e, s->index.array);
        strbuf_add(e->out, ") {\n");
    } else {
        strbuf_add(e->out, "if (!failed) {\n"); /* its check has failed perhaps */
    }
    e->depth++;
    emit_element(e, s, false);
    if (checked) {
        strbuf_indent(e->out, 2 * (e->depth - 1));
        strbuf_add(e->out, "} else {\n");
        emit_index_failure(e, s->site, s->index.array, s->index.index);
    }
    e->depth--;
    emit_line(e, "}");
}

static void emit_slice_value(ScalarEmitter *e, const CoreStmt *s, bool declare)
{
    bind_open(e, s->vars[0], declare);
    emit_slice_read(e, s);
    strbuf_add(e->out, ";\n");
}

static void slice_failure(ScalarEmitter *e, const CoreStmt *s)
{
    StrBuf from = {0}, to = {0}, length = {0};
    const char *values[3] = {atom_text(e, &from, s->slice.from), atom_text(e, &to, s->slice.to),
                             length_text(e, &length, s->slice.array)};
    emit_failure(e, s->site, values);
    strbuf_free(&from);
    strbuf_free(&to);
    strbuf_free(&length);
}

static void emit_slice(ScalarEmitter *e, const CoreStmt *s)
{
    if (emit_is_private(e, s->vars[0])) {
        emit_private_slice(e, s);
        return;
    }
    if (s->site == CORE_NO_SITE) {
        emit_slice_value(e, s, !e->declared);
        return;
    }
    emit_declaration(e, s->vars[0], true);
    emit_indent(e);
    strbuf_add(e->out, "if (0 <= ");
    emit_atom(e, s->slice.from);
    strbuf_add(e->out, " && ");
    emit_atom(e, s->slice.from);
    strbuf_add(e->out, " <= ");
    emit_atom(e, s->slice.to);
    strbuf_add(e->out, " && (dp_u64)");
    emit_atom(e, s->slice.to);
    strbuf_add(e->out, " <= ");
    emit_array_length(e, s->slice.array);
    strbuf_add(e->out, ") {\n");
    e->depth++;
    emit_slice_value(e, s, false);
    strbuf_indent(e->out, 2 * (e->depth - 1));
    strbuf_add(e->out, "} else {\n");
    slice_failure(e, s);
    e->depth--;
    emit_line(e, "}");
}

/* ---- control ---- */

static void emit_stmt(ScalarEmitter *e, const CoreStmt *s);

static void emit_check(ScalarEmitter *e, const CoreStmt *s)
{
    StrBuf text[3] = {{0}, {0}, {0}};
    const char *values[3] = {"0", "0", "0"};
    for (uint32_t i = 0; i < s->check.nvalues && i < 3; i++)
        values[i] = atom_text(e, &text[i], s->check.values[i]);
    emit_indent(e);
    strbuf_add(e->out, "if (!");
    emit_atom(e, s->check.cond);
    strbuf_add(e->out, ") {\n");
    e->depth++;
    emit_failure(e, s->site, values);
    e->depth--;
    emit_line(e, "}");
    for (uint32_t i = 0; i < 3; i++)
        strbuf_free(&text[i]);
}

/* A branch: its statements, then what the `if` binds. */
static void emit_branch(ScalarEmitter *e, const CoreStmt *s, const CoreBlock *b)
{
    e->depth++;
    emit_scalar_block(e, b);
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_assign(e, s->vars[i], b->results[i], false);
    e->depth--;
}

/* ---- what is nested deeply ---- */

/* Compilers limit how deep brackets nest (clang: 256). Branches beyond this depth stand one behind the other, each
 * part under the condition of the path that leads to it:
 *
 *     if (c) { A; if (d) { B } C } else { D }     ==>     dp_bool p1 = c;        if (p1) { A }
 *                                                         dp_bool p2 = p1 & d;   if (p2) { B }  if (p1) { C }
 *                                                         dp_bool p3 = !c;       if (p3) { D }
 *
 * where what A, B, C and D bind is declared in front. */
enum { MOST_NESTED = 64 };

/* The condition's number. 0 stands for the path that is always taken. */
static uint32_t emit_path_condition(ScalarEmitter *e, uint32_t outer, CoreAtom cond, bool holds)
{
    uint32_t path = ++e->nconditions;
    emit_indent(e);
    strbuf_printf(e->out, "dp_bool dp_path%u = ", path);
    if (outer)
        strbuf_printf(e->out, "dp_path%u & ", outer);
    if (!holds)
        strbuf_add(e->out, "!");
    emit_atom(e, cond);
    strbuf_add(e->out, ";\n");
    return path;
}

static void emit_path_open(ScalarEmitter *e, uint32_t path)
{
    emit_indent(e);
    strbuf_printf(e->out, "if (dp_path%u) {\n", path);
    e->depth++;
    e->declared = true;
}

static void emit_path_close(ScalarEmitter *e)
{
    e->depth--;
    e->declared = false;
    emit_line(e, "}");
}

static void emit_path_block(ScalarEmitter *e, const CoreBlock *b, uint32_t path);

/* Both branches; what the `if` binds is declared here. */
static void emit_path_if(ScalarEmitter *e, const CoreStmt *s, uint32_t outer)
{
    const CoreBlock *const branches[2] = {s->if_.else_b, s->if_.then_b};
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_declaration(e, s->vars[i], true);
    for (uint32_t holds = 2; holds-- > 0;) {
        const CoreBlock *b = branches[holds];
        if (s->nvars == 0 && b->stmts.n == 0)
            continue;
        uint32_t path = emit_path_condition(e, outer, s->if_.cond, holds);
        emit_path_block(e, b, path);
        if (s->nvars == 0)
            continue;
        emit_path_open(e, path);
        for (uint32_t i = 0; i < s->nvars; i++)
            emit_assign(e, s->vars[i], b->results[i], false);
        emit_path_close(e);
    }
}

/* From one `if` to the next, statements stand under one condition. */
static void emit_path_block(ScalarEmitter *e, const CoreBlock *b, uint32_t path)
{
    for (uint32_t i = 0, end; i < b->stmts.n; i = end) {
        const CoreStmt *s = b->stmts.at[i];
        end = i + 1;
        if (s->kind == CORE_IF) {
            emit_path_if(e, s, path);
            continue;
        }
        while (end < b->stmts.n && b->stmts.at[end]->kind != CORE_IF)
            end++;
        for (uint32_t j = i; j < end; j++)
            for (uint32_t k = 0; k < b->stmts.at[j]->nvars; k++)
                emit_declaration(e, b->stmts.at[j]->vars[k], true);
        emit_path_open(e, path);
        for (uint32_t j = i; j < end; j++)
            emit_stmt(e, b->stmts.at[j]);
        emit_path_close(e);
    }
}

static void emit_if(ScalarEmitter *e, const CoreStmt *s)
{
    if (e->depth >= MOST_NESTED) {
        emit_path_if(e, s, 0);
        return;
    }
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_declaration(e, s->vars[i], false);
    emit_indent(e);
    strbuf_add(e->out, "if (");
    emit_atom(e, s->if_.cond);
    strbuf_add(e->out, ") {\n");
    for (uint32_t i = 0; i < s->nvars; i++)
        if (s->vars[i] + 1 == e->says)
            emit_line(e, "    DP_GOES_ON;");
    emit_branch(e, s, s->if_.then_b);
    if (s->nvars > 0 || s->if_.else_b->stmts.n > 0) {
        emit_line(e, "} else {");
        emit_branch(e, s, s->if_.else_b);
    }
    emit_line(e, "}");
}

/* Where a value is: the variable itself, or the one whose memory a private array lies in. */
static bool lies_in(const ScalarEmitter *e, CoreAtom a, CoreVar v)
{
    return !a.is_const && (emit_is_private(e, a.var) ? lane_memory(e->lane, a.var) : a.var) == v;
}

bool emit_in_order(const ScalarEmitter *e, const CoreVar *vars, const CoreAtom *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (lies_in(e, values[i], vars[j]))
                return false;
    return true;
}

static void emit_put_aside(ScalarEmitter *e, CoreVar v, CoreAtom a)
{
    if (emit_is_private(e, v)) {
        emit_private_next(e, v, a);
        return;
    }
    emit_indent(e);
    strbuf_printf(e->out, "%s next_", emit_value_type(var_type(e, v)));
    emit_var(e, v);
    strbuf_add(e->out, " = ");
    emit_atom(e, a);
    strbuf_add(e->out, ";\n");
}

static void emit_take_next(ScalarEmitter *e, CoreVar v)
{
    if (emit_is_private(e, v)) {
        emit_private_take_next(e, v);
        return;
    }
    bind_open(e, v, false);
    strbuf_add(e->out, "next_");
    emit_var(e, v);
    strbuf_add(e->out, ";\n");
}

void emit_parallel_assign(ScalarEmitter *e, const CoreVar *vars, const CoreAtom *values, uint32_t n)
{
    if (emit_in_order(e, vars, values, n)) {
        for (uint32_t i = 0; i < n; i++)
            if (!lies_in(e, values[i], vars[i]))
                emit_assign(e, vars[i], values[i], false);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        emit_put_aside(e, vars[i], values[i]);
    for (uint32_t i = 0; i < n; i++)
        emit_take_next(e, vars[i]);
}

void emit_loop_counter(ScalarEmitter *e, const CoreStmt *s)
{
    if (s->loop.index == CORE_NO_VAR)
        strbuf_add(e->out, "round");
    else
        emit_var(e, s->loop.index);
}

void emit_rolled(ScalarEmitter *e, CoreAtom rounds, uint32_t statements)
{
    enum { MOST_UNROLLED = 2048 };
    if (rounds.is_const && rounds.bits > MOST_UNROLLED / (statements + 1))
        emit_line(e, "DP_ROLLED");
}

static void emit_for_head(ScalarEmitter *e, const CoreStmt *s, bool test)
{
    emit_indent(e);
    strbuf_add(e->out, "for (dp_i64 ");
    emit_loop_counter(e, s);
    strbuf_add(e->out, " = 0; ");
    emit_loop_counter(e, s);
    strbuf_add(e->out, " < ");
    emit_atom(e, s->loop.count);
    strbuf_add(e->out, test ? " && !failed; " : "; ");
    emit_loop_counter(e, s);
    strbuf_add(e->out, "++) {\n");
}

/* The variable of the body that says whether there is another round, plus 1, if the state does; else 0. */
static uint32_t says_more(const CoreStmt *loop)
{
    const CoreAtom cond = loop->loop.cond ? loop->loop.cond->results[0] : core_i64(0);
    for (uint32_t i = 0; i < loop->loop.nparams && !cond.is_const; i++) {
        const CoreAtom next = loop->loop.body->results[i];
        if (loop->loop.params[i] == cond.var && !next.is_const)
            return next.var + 1;
    }
    return 0;
}

/* Is more asked than a comparison of numbers? */
static bool is_found_out(const CoreBlock *cond)
{
    const CoreStmt *last = core_block_def(cond, cond->results[0]);
    for (uint32_t i = 0; i < cond->stmts.n; i++)
        if (cond->stmts.at[i]->kind == CORE_INDEX)
            return true;
    return last && (last->kind == CORE_IF || core_as_prim(last, PRIM_AND) || core_as_prim(last, PRIM_OR));
}

static void emit_while_head(ScalarEmitter *e, const CoreStmt *s, bool test)
{
    emit_line(e, "for (;;) {");
    e->depth++;
    e->may_have_failed |= test; /* in the round before */
    emit_scalar_block(e, s->loop.cond);
    emit_indent(e);
    strbuf_add(e->out, test ? "if (failed || !" : "if (!");
    emit_atom(e, s->loop.cond->results[0]);
    strbuf_add(e->out, ") break;\n");
    if (is_found_out(s->loop.cond))
        emit_line(e, "DP_GOES_ON;");
    e->depth--;
}

LoopCare emit_loop_care(const ScalarEmitter *e, const CoreStmt *s, ScalarFacts inside)
{
    const bool lacks =
        e->lane && e->lane->strip && (inside.makes || emit_lane_looks(e, s)); /* memory, or time, perhaps */
    const bool spends = e->spends && s->kind != CORE_LOOP && e->inside < 2;
    LoopCare care = {.test = e->has_flag && (inside.fallible || lacks)};
    /* What cannot fail itself need not look each time, but must not start from nonsense. */
    care.guard = e->has_flag && !care.test && (inside.while_loop || e->may_have_failed || spends);
    return care;
}

bool emit_round_begin(ScalarEmitter *e)
{
    const bool before = e->may_have_failed;
    e->may_have_failed = false;
    return before;
}

void emit_round_end(ScalarEmitter *e, bool before, LoopCare care) { e->may_have_failed |= before || care.test; }

static void emit_loop(ScalarEmitter *e, const CoreStmt *s)
{
    ScalarFacts facts = {0};
    facts_loop(&facts, e->fn, e->lane, s);
    LoopCare care = emit_loop_care(e, s, facts);
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        emit_assign(e, s->loop.params[i], s->loop.inits[i], true);
    const uint32_t mark = e->lane && e->lane->strip ? emit_strip_state(e, s, facts) : 0;
    if (care.guard)
        emit_line(e, "if (!failed)");
    e->depth += care.guard;
    if (!s->loop.cond)
        emit_rolled(e, s->loop.count, facts.statements);
    if (s->loop.cond)
        emit_while_head(e, s, care.test);
    else
        emit_for_head(e, s, care.test);
    e->depth++;
    const bool before = emit_round_begin(e);
    const uint32_t says = e->says;
    e->says = says_more(s);
    emit_lane_round(e, s);
    emit_scalar_block(e, s->loop.body);
    e->says = says;
    emit_parallel_assign(e, s->loop.params, s->loop.body->results, s->loop.nparams);
    emit_strip_round(e, s, mark);
    emit_round_end(e, before, care);
    e->depth--;
    emit_line(e, "}");
    e->depth -= care.guard;
    for (uint32_t i = 0; i < s->nvars; i++)
        emit_assign(e, s->vars[i], core_var_atom(s->loop.params[i], var_type(e, s->loop.params[i])), !e->declared);
}

/* ---- blocks ---- */

static void emit_stmt(ScalarEmitter *e, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: emit_assign(e, s->vars[0], s->atom, !e->declared); break;
    case CORE_PRIM: emit_prim(e, s); break;
    case CORE_LENGTH: emit_length(e, s); break;
    case CORE_INDEX: emit_index(e, s); break;
    case CORE_SLICE: emit_slice(e, s); break;
    case CORE_CHECK: emit_check(e, s); break;
    case CORE_IF: emit_if(e, s); break;
    case CORE_LOOP: emit_loop(e, s); break;
    case CORE_LANE:
    case CORE_PARALLEL: emit_lane_stmt(e, s); break;
    }
}

void emit_scalar_stmt(ScalarEmitter *e, const CoreStmt *s)
{
    marks_begin(e->out, s->span, s);
    emit_stmt(e, s);
    marks_end(e->out);
}

void emit_scalar_block(ScalarEmitter *e, const CoreBlock *b)
{
    bool declared = e->declared;
    e->declared = false;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        emit_scalar_stmt(e, b->stmts.at[i]);
    e->declared = declared;
}

void emit_scalar_flag(ScalarEmitter *e, const CoreBlock *b)
{
    ScalarFacts facts = scalar_facts(e->fn, NULL, b);
    e->has_flag = facts.while_loop || (facts.fallible && (facts.loop || facts.relies));
    e->may_have_failed = e->has_flag && facts.writes;
    if (!e->has_flag)
        return;
    emit_line(e, facts.while_loop || facts.writes ? "dp_bool failed = *DP_AT(volatile int, 0) != 0;"
                                                  : "dp_bool failed = 0;");
}
