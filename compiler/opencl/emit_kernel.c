#include "opencl/emit_kernel.h"

#include "opencl/emit_internal.h"
#include "opencl/emit_tile.h"
#include "opencl/emit_vector.h"
#include "plan/emit_text.h"
#include "support/marks.h"

#include <string.h>

const char *emit_memory_type(CoreType t) { return t.rank > 0 ? "dp_view" : emit_type_name(t.scalar); }

/* ---- words and outputs as parameters ---- */

static void emit_list(StrBuf *out, const char *macro, const char *type, const char *letter, uint32_t n)
{
    strbuf_printf(out, "#define %s", macro);
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(out, " , %s%s%u", type, letter, i);
    strbuf_add(out, "\n");
}

static void emit_parameters(KernelEmitter *ke)
{
    strbuf_add(ke->out, "#ifndef DP_WORDS\n"); /* the runtime may have put them into the heap */
    emit_list(ke->out, "DP_WORDS", "ulong ", "w", ke->k->words.n);
    emit_list(ke->out, "DP_PASS", "", "w", ke->k->words.n);
    strbuf_add(ke->out, "#endif\n");
    emit_list(ke->out, "DP_OUTS", "ulong ", "o", ke->k->nouts);
    emit_list(ke->out, "DP_PASS_OUTS", "", "o", ke->k->nouts);
}

/* The bits of variants in which an element does not look at its segment: see DpKernel. */
static uint32_t segment_free(const Plan *plan, const PlanKernel *k)
{
    SegmentUse use = plan_segment_use(plan, k);
    uint32_t mask = 0;
    for (uint32_t i = 0; !use.always && i < use.elems.n; i++)
        mask |= UINT32_C(1) << k->words.at[use.elems.at[i]].bit;
    return use.always || mask ? mask : DP_SEGMENT_NEVER;
}

static void emit_uses_seg(KernelEmitter *ke)
{
    uint32_t mask = segment_free(ke->plan, ke->k);
    strbuf_add(ke->out, "#define DP_USES_SEG ");
    if (mask == 0 || mask == DP_SEGMENT_NEVER)
        strbuf_add(ke->out, mask ? "0\n" : "1\n");
    else
        strbuf_printf(ke->out, "((DP_VARIANT & 0x%xU) != 0x%xU)\n", mask, mask);
}

/* ---- dp_val ---- */

static void emit_struct(KernelEmitter *ke, const char *name, const CoreType *types, uint32_t n)
{
    strbuf_printf(ke->out, "typedef struct %s {", name);
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(ke->out, " %s v%u;", emit_memory_type(types[i]), i);
    if (n == 0)
        strbuf_add(ke->out, " uchar none;"); /* C has no empty structs */
    strbuf_printf(ke->out, " } %s;\n", name);
}

static void emit_val(KernelEmitter *ke)
{
    emit_struct(ke, "dp_val", ke->k->values, ke->k->nvalues);
    if (ke->k->nvalues == 0)
        return;
    strbuf_add(ke->out,
               "#define DP_FIELDS(F)"); /* reductions on CPUs hold several values side by side, field by field */
    for (uint32_t i = 0; i < ke->k->nvalues; i++)
        strbuf_printf(ke->out, " F(%s, v%u)", emit_memory_type(ke->k->values[i]), i);
    strbuf_add(ke->out, "\n");
}

/* ---- indices into contexts ---- */

static void emit_place(KernelEmitter *ke, StrBuf *out, FlatVar ctx)
{
    Place place = plan_place(ke->k, ctx);
    switch (place.kind) {
    case PLACE_I: strbuf_add(out, "i"); break;
    case PLACE_S: strbuf_add(out, "s"); break;
    case PLACE_PATH: strbuf_printf(out, "DP_PATH%u", plan_word(ke->k, WORD_PATH, FLAT_NO_VAR, ctx)); break;
    }
}

/* The macro DP_PATHw: the index that path word w leads to. */
static void emit_path_macro(KernelEmitter *ke, uint32_t w)
{
    const PlanWord *word = &ke->k->words.at[w];
    const char *start = plan_place(ke->k, word->to).from_segment ? "s" : "i";
    if (word->bit == PLAN_NO_BIT) {
        strbuf_printf(ke->out, "#define DP_PATH%u dp_at(heap, w%u, %s)\n", w, w, start);
        return;
    }
    strbuf_printf(ke->out, "#if (DP_VARIANT >> %u) & 1\n#define DP_PATH%u %s\n", word->bit, w, start);
    strbuf_printf(ke->out, "#else\n#define DP_PATH%u dp_at(heap, w%u, %s)\n#endif\n", w, w, start);
}

/* The position within its segment of the element of the nested context. */
static void emit_position(KernelEmitter *ke, StrBuf *out, FlatVar nested)
{
    FlatVar up = plan_up(ke->k->fn, nested);
    if (up == FLAT_ROOT) {
        emit_place(ke, out, nested);
        return;
    }
    if (ke->tiled && nested == ke->k->stmt->body.ctx) {
        strbuf_add(out, "k");
        return;
    }
    strbuf_add(out, "(");
    emit_place(ke, out, nested);
    strbuf_printf(out, " - DP_OFFSET(w%u, ", plan_word(ke->k, WORD_OFFSETS, FLAT_NO_VAR, nested));
    emit_place(ke, out, up);
    strbuf_add(out, "))");
}

static void emit_elem_contiguous(KernelEmitter *ke, StrBuf *out, uint32_t w, uint32_t bytes)
{
    strbuf_printf(out, "(w%u + ", w);
    emit_place(ke, out, ke->k->words.at[w].to);
    strbuf_printf(out, " * %u)", bytes);
}

static void emit_elem_by_view(KernelEmitter *ke, StrBuf *out, uint32_t w, uint32_t bytes)
{
    FlatVar nested = ke->k->words.at[w].to;
    strbuf_printf(out, "(DP_ADDR(*DP_AT(dp_view, w%u + ", w + 1);
    emit_place(ke, out, plan_up(ke->k->fn, nested));
    strbuf_add(out, " * 16)) + ");
    emit_position(ke, out, nested);
    strbuf_printf(out, " * %u)", bytes);
}

/* The same, where the word says at run time whether elements are contiguous. */
static void emit_elem_tested(KernelEmitter *ke, uint32_t w, uint32_t bytes)
{
    strbuf_printf(ke->out, "#define DP_ELEM%u (w%u ? ", w, w);
    emit_elem_contiguous(ke, ke->out, w, bytes);
    strbuf_add(ke->out, " : ");
    emit_elem_by_view(ke, ke->out, w, bytes);
    strbuf_add(ke->out, ")\n");
}

/* The macro DP_ELEMw: the address of the element that ELEMS word w stands for. */
static void emit_elem_macro(KernelEmitter *ke, uint32_t w)
{
    const PlanWord *word = &ke->k->words.at[w];
    uint32_t bytes = emit_element_bytes(ke->k->fn->vars.at[word->var].type);
    if (word->bit == PLAN_NO_BIT) {
        emit_elem_tested(ke, w, bytes);
        return;
    }
    strbuf_printf(ke->out, "#if (DP_VARIANT >> %u) & 1\n#define DP_ELEM%u ", word->bit, w);
    emit_elem_contiguous(ke, ke->out, w, bytes);
    strbuf_add(ke->out, "\n#elif DP_ANY_VARIANT\n");
    emit_elem_tested(ke, w, bytes);
    strbuf_printf(ke->out, "#else\n#define DP_ELEM%u ", w);
    emit_elem_by_view(ke, ke->out, w, bytes);
    strbuf_add(ke->out, "\n#endif\n");
}

/* The macro DP_SEGMENTw: view i of the column whose elements are those of ELEMS word w. */
static void emit_segment_macro(KernelEmitter *ke, uint32_t w)
{
    const PlanWord *word = &ke->k->words.at[w];
    const uint32_t column = plan_find_word(ke->k, WORD_COLUMN, word->var, FLAT_NO_VAR);
    if (word->bit == PLAN_NO_BIT || column == UINT32_MAX || plan_column_elems(ke->k, word->var) != w)
        return;
    const uint32_t offsets = plan_word(ke->k, WORD_OFFSETS, FLAT_NO_VAR, word->to);
    const uint32_t bytes = emit_element_bytes(ke->k->fn->vars.at[word->var].type);
    StrBuf segment = {0}, loaded = {0};
    strbuf_printf(&segment, "dp_make_view(DP_OFFSET(w%u, (i) + 1) - DP_OFFSET(w%u, i), w%u + DP_OFFSET(w%u, i) * %u)",
                  offsets, offsets, w, offsets, bytes);
    strbuf_printf(&loaded, "*DP_AT(dp_view, w%u + (i) * 16)", column);
    strbuf_printf(ke->out, "#if (DP_VARIANT >> %u) & 1\n#define DP_SEGMENT%u(i) %s\n#elif DP_ANY_VARIANT\n", word->bit,
                  w, segment.text);
    strbuf_printf(ke->out, "#define DP_SEGMENT%u(i) (w%u ? %s : %s)\n#else\n#define DP_SEGMENT%u(i) %s\n#endif\n", w, w,
                  segment.text, loaded.text, w, loaded.text);
    strbuf_free(&segment);
    strbuf_free(&loaded);
}

/* The macro DP_ROWw: view i of those from `address` on. */
static void emit_row_macro(KernelEmitter *ke, uint32_t w)
{
    static const char loaded[] = "*DP_AT(dp_view, (address) + (i) * 16)";
    const PlanWord *word = &ke->k->words.at[w];
    CoreType t = ke->k->fn->vars.at[word->var].type;
    t.rank = (uint8_t)(t.rank - 1 - word->level);
    StrBuf made = {0};
    strbuf_printf(&made, "dp_make_view(w%u, w%u + %s(i)%s * w%u * %u)", w + 1, w,
                  word->level ? "((address) / 16 + " : "", word->level ? ")" : "", w + 1, emit_element_bytes(t));
    strbuf_printf(ke->out, "#if DP_ANY_VARIANT%s\n", word->bit == PLAN_NO_BIT ? " || 1" : "");
    strbuf_printf(ke->out, "#define DP_ROW%u(address, i) (w%u != ~0UL ? %s : %s)\n", w, w + 1, made.text, loaded);
    if (word->bit != PLAN_NO_BIT) {
        strbuf_printf(ke->out, "#elif (DP_VARIANT >> %u) & 1\n#define DP_ROW%u(address, i) %s\n", word->bit, w,
                      made.text);
        strbuf_printf(ke->out, "#else\n#define DP_ROW%u(address, i) %s\n", w, loaded);
    }
    strbuf_add(ke->out, "#endif\n");
    strbuf_free(&made);
}

static void emit_word_macros(KernelEmitter *ke)
{
    for (uint32_t w = 0; w < ke->k->words.n; w++) {
        if (ke->k->words.at[w].kind == WORD_PATH)
            emit_path_macro(ke, w);
        else if (ke->k->words.at[w].kind == WORD_ELEMS) {
            emit_elem_macro(ke, w);
            emit_segment_macro(ke, w);
        } else if (ke->k->words.at[w].kind == WORD_ROWS)
            emit_row_macro(ke, w);
    }
}

/* ---- inputs ---- */

static void emit_host_input(KernelEmitter *ke, StrBuf *out, FlatVar v)
{
    CoreType t = ke->k->fn->vars.at[v].type;
    if (t.rank == 0)
        strbuf_printf(out, "dp_from_bits_%s(w%u)", scalar_name(t.scalar),
                      plan_word(ke->k, WORD_SCALAR, v, FLAT_NO_VAR));
    else
        strbuf_printf(out, "dp_make_view(w%u, w%u)", plan_word(ke->k, WORD_LENGTH, v, FLAT_NO_VAR),
                      plan_word(ke->k, WORD_ADDRESS, v, FLAT_NO_VAR));
}

static void emit_elem_address(KernelEmitter *ke, StrBuf *out, const FlatInput *in)
{
    if (ke->k->fn->vars.at[in->var].kind == FLAT_HOST) {
        strbuf_printf(out, "w%u + ", plan_word(ke->k, WORD_ADDRESS, in->var, FLAT_NO_VAR));
        emit_place(ke, out, in->ctx);
        strbuf_printf(out, " * %u", emit_element_bytes(ke->k->fn->vars.at[in->var].type));
    } else {
        strbuf_printf(out, "DP_ELEM%u", plan_word(ke->k, WORD_ELEMS, in->var, in->ctx));
    }
}

static void emit_col_address(KernelEmitter *ke, StrBuf *out, FlatVar v)
{
    strbuf_printf(out, "w%u + ", plan_word(ke->k, WORD_COLUMN, v, FLAT_NO_VAR));
    emit_place(ke, out, flat_ctx(ke->k->fn, v));
    strbuf_printf(out, " * %u", emit_bytes(ke->k->fn->vars.at[v].type));
}

void emit_input_address(KernelEmitter *ke, StrBuf *out, const FlatInput *in)
{
    if (in->kind == IN_COL)
        emit_col_address(ke, out, in->var);
    else
        emit_elem_address(ke, out, in);
}

FlatVar emit_input_context(const PlanKernel *k, const FlatInput *in)
{
    return in->kind == IN_COL ? flat_ctx(k->fn, in->var) : in->ctx;
}

/* Rows of a host array need not be loaded. */
static bool emit_row_input(KernelEmitter *ke, StrBuf *out, const FlatInput *in)
{
    uint32_t rows = in->kind == IN_ELEM ? plan_row_word(ke->k, in->var, 0) : UINT32_MAX;
    if (rows == UINT32_MAX)
        return false;
    strbuf_printf(out, "DP_ROW%u(w%u, ", rows, plan_word(ke->k, WORD_ADDRESS, in->var, FLAT_NO_VAR));
    emit_place(ke, out, in->ctx);
    strbuf_add(out, ")");
    return true;
}

/* Views of a column whose elements the kernel goes over need not be loaded where these are contiguous. */
static bool emit_segment_input(KernelEmitter *ke, StrBuf *out, const FlatInput *in)
{
    const bool views = in->kind == IN_COL && ke->k->fn->vars.at[in->var].type.rank == 1;
    const uint32_t elems = views ? plan_column_elems(ke->k, in->var) : UINT32_MAX;
    if (elems == UINT32_MAX)
        return false;
    strbuf_printf(out, "DP_SEGMENT%u(", elems);
    emit_place(ke, out, flat_ctx(ke->k->fn, in->var));
    strbuf_add(out, ")");
    return true;
}

void emit_input_value(KernelEmitter *ke, StrBuf *out, const FlatInput *in)
{
    if (emit_row_input(ke, out, in) || emit_segment_input(ke, out, in))
        return;
    switch (in->kind) {
    case IN_HOST: emit_host_input(ke, out, in->var); break;
    case IN_COL:
    case IN_ELEM:
        strbuf_printf(out, "*DP_AT(%s, ", emit_memory_type(core_var_type(ke->k->fn->scope, in->as)));
        emit_input_address(ke, out, in);
        strbuf_add(out, ")");
        break;
    case IN_POS:
        strbuf_add(out, "(dp_i64)");
        emit_position(ke, out, in->ctx);
        break;
    }
}

void emit_input(KernelEmitter *ke, ScalarEmitter *e, const FlatInput *in)
{
    strbuf_indent(e->out, 2 * e->depth);
    strbuf_printf(e->out, "%s ", emit_value_type(core_var_type(e->fn, in->as)));
    emit_var(e, in->as);
    strbuf_add(e->out, " = ");
    emit_input_value(ke, e->out, in);
    strbuf_add(e->out, ";\n");
}

void emit_inputs(KernelEmitter *ke, ScalarEmitter *e, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++)
        emit_input(ke, e, &inputs->at[i]);
}

/* ---- functions ---- */

ScalarEmitter emit_scalar_emitter(const KernelEmitter *ke)
{
    return (ScalarEmitter){
        .out = ke->out, .fn = ke->k->fn->scope, .depth = 1, .rows = ke->k->rows.at, .nrows = ke->k->rows.n};
}

void emit_line_directive(KernelEmitter *ke)
{
    strbuf_printf(ke->out, "#line %u ", ke->k->place.line);
    emit_string(ke->out, ke->k->place.file, strlen(ke->k->place.file));
    strbuf_add(ke->out, "\n");
}

static void emit_return_as(ScalarEmitter *e, const char *type, const CoreAtom *results, uint32_t n)
{
    strbuf_indent(e->out, 2 * e->depth);
    strbuf_printf(e->out, "%s r;\n", type);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_indent(e->out, 2 * e->depth);
        strbuf_printf(e->out, "r.v%u = ", i);
        emit_atom(e, results[i]);
        strbuf_add(e->out, ";\n");
    }
    strbuf_indent(e->out, 2 * e->depth);
    if (n == 0)
        strbuf_add(e->out, "r.none = 0; ");
    strbuf_add(e->out, "return r;\n");
    strbuf_add(e->out, "}\n");
}

void emit_return(ScalarEmitter *e, const CoreAtom *results, uint32_t n) { emit_return_as(e, "dp_val", results, n); }

/* The operator's parameters are a's fields, then b's. */
static void emit_op_parameters(KernelEmitter *ke, ScalarEmitter *e, const FlatOp *op)
{
    for (uint32_t i = 0; i < 2 * op->k; i++) {
        strbuf_indent(ke->out, 2 * e->depth);
        strbuf_printf(ke->out, "%s ", emit_value_type(core_var_type(e->fn, op->op.params[i])));
        emit_var(e, op->op.params[i]);
        strbuf_printf(ke->out, " = %c.v%u;\n", i < op->k ? 'a' : 'b', i % op->k);
    }
}

static void emit_op(KernelEmitter *ke)
{
    const FlatOp *op = &ke->k->stmt->reduce.op;
    ScalarEmitter e = emit_scalar_emitter(ke);
    emit_line_directive(ke);
    strbuf_add(ke->out, "static inline dp_val dp_op(" HEAP ", ulong s, dp_val a, dp_val b DP_WORDS)\n{\n");
    emit_inputs(ke, &e, &op->inputs);
    emit_op_parameters(ke, &e, op);
    emit_scalar_flag(&e, op->op.body);
    emit_scalar_block(&e, op->op.body);
    emit_return(&e, op->op.body->results, op->k);
}

static void emit_neutral(KernelEmitter *ke)
{
    const FlatOp *op = &ke->k->stmt->reduce.op;
    ScalarEmitter e = emit_scalar_emitter(ke);
    emit_line_directive(ke);
    strbuf_add(ke->out, "static inline dp_val dp_neutral(" HEAP ", ulong s DP_WORDS)\n{\n");
    emit_inputs(ke, &e, &op->neutral_inputs);
    emit_return(&e, op->neutral, op->k);
}

/* What a scan stores, dp_made, of the prefixes. */
static void emit_then(KernelEmitter *ke)
{
    const FlatBody *then = &ke->k->stmt->reduce.then;
    ScalarEmitter e = emit_scalar_emitter(ke);
    emit_struct(ke, "dp_made", ke->k->stored, ke->k->nstored);
    emit_line_directive(ke);
    strbuf_add(ke->out, "#define DP_MAPS 1\n"
                        "static inline dp_made dp_then(" HEAP ", ulong i, ulong s, dp_val v DP_WORDS)\n{\n");
    emit_inputs(ke, &e, &then->inputs);
    for (uint32_t i = 0; i < ke->k->nvalues; i++) {
        strbuf_indent(ke->out, 2 * e.depth);
        strbuf_printf(ke->out, "%s ", emit_value_type(ke->k->values[i]));
        emit_var(&e, ke->k->stmt->reduce.prefixes[i]);
        strbuf_printf(ke->out, " = v.v%u;\n", i);
    }
    emit_scalar_flag(&e, then->block);
    emit_scalar_block(&e, then->block);
    emit_return_as(&e, "dp_made", then->block->results, ke->k->nstored);
}

/* ---- stores and loads ---- */

void emit_out_address(KernelEmitter *ke, uint32_t j)
{
    uint32_t bytes = emit_bytes(ke->k->stored[j]);
    if (ke->k->kind == PLAN_ARRAY)
        strbuf_printf(ke->out, "o0 + (i * %u + %u) * %u", ke->k->nvalues, j, bytes);
    else
        strbuf_printf(ke->out, "o%u + i * %u", j, bytes);
}

/* "*DP_AT(T, o0 + i * 4)" */
static void emit_out_place(KernelEmitter *ke, uint32_t j)
{
    strbuf_printf(ke->out, "*DP_AT(%s, ", emit_memory_type(ke->k->stored[j]));
    emit_out_address(ke, j);
    strbuf_add(ke->out, ")");
}

static void emit_store(KernelEmitter *ke)
{
    strbuf_printf(ke->out, "static inline void dp_store(" HEAP ", ulong i, %s v DP_OUTS)\n{\n",
                  plan_maps(ke->k) ? "dp_made" : "dp_val");
    for (uint32_t j = 0; j < ke->k->nstored; j++) {
        if (!plan_stores(ke->k, j))
            continue;
        strbuf_add(ke->out, "    ");
        emit_out_place(ke, j);
        strbuf_printf(ke->out, " = v.v%u;\n", j);
    }
    strbuf_add(ke->out, "}\n");
}

/* Which of the contexts has the instance, a bit each. */
static void emit_ways(KernelEmitter *ke)
{
    strbuf_printf(ke->out,
                  "#define DP_WAYS %u\n#define DP_POSITIONS %u\nstatic inline uint dp_ways(dp_val v)\n{\n    return ",
                  ke->k->stmt->pack.nways, ke->k->positions);
    for (uint32_t i = 0; i < ke->k->stmt->pack.nways; i++)
        strbuf_printf(ke->out, "%s(uint)v.v%u << %u", i ? " | " : "", i, i);
    strbuf_add(ke->out, ";\n}\n");
}

/* One thing that is stored of what is kept; the first one stands by itself. */
static void emit_kept_column(KernelEmitter *ke, uint32_t *count, uint32_t way, CoreType t, uint32_t out)
{
    if ((*count)++ == 1)
        strbuf_add(ke->out, "\n#define DP_KEPT_REST(F)");
    strbuf_printf(ke->out, " F(%u, %u, %s, o%u, ", way, emit_bytes(t), emit_memory_type(t), out);
}

/* What is stored of instance i where context `way` has it: its position, values. */
static void emit_kept(KernelEmitter *ke)
{
    const FlatStmt *s = ke->k->stmt;
    const uint32_t ways = s->pack.nways;
    uint32_t count = 0, widest = 4;
    strbuf_add(ke->out, "#define DP_KEPT_FIRST(F)");
    for (uint32_t w = 0; w < ways; w++) {
        if (ke->k->positions >> w & 1) {
            emit_kept_column(ke, &count, w, core_scalar(SC_U32), 2 * w);
            strbuf_add(ke->out, "(uint)i)");
        }
        for (uint32_t j = ways; j < s->nouts; j++) {
            CoreType t = ke->k->values[j];
            if (ke->k->fn->vars.at[s->outs[j]].ctx != s->outs[w])
                continue;
            emit_kept_column(ke, &count, w, t, ways + j);
            strbuf_printf(ke->out, "v.v%u)", j);
            widest = emit_bytes(t) == 8 ? 8 : widest;
        }
    }
    strbuf_add(ke->out, count < 2 ? "\n#define DP_KEPT_REST(F)\n" : "\n");
    strbuf_printf(ke->out, "#define DP_KEPT_BYTES %u\n", widest);
}

static void emit_load(KernelEmitter *ke)
{
    strbuf_add(ke->out, "static inline dp_val dp_load(" HEAP ", ulong i DP_OUTS)\n{\n    dp_val v;\n");
    for (uint32_t j = 0; j < ke->k->nvalues; j++) {
        strbuf_printf(ke->out, "    v.v%u = ", j);
        emit_out_place(ke, j);
        strbuf_add(ke->out, ";\n");
    }
    strbuf_add(ke->out, "    return v;\n}\n");
}

/* ---- histograms ---- */

/* Several instances may have one place for their values. */
static bool combines_where_it_is(const PlanKernel *k) { return plan_has_op(k) && emit_has_place(k); }

/* Bins of one value of 4 or 8 bytes are updated by compare-and-swap on its bits. */
static uint32_t hist_bytes(const PlanKernel *k)
{
    if (k->nvalues != 1)
        return 0;
    uint32_t bytes = emit_bytes(k->values[0]);
    return bytes == 4 || bytes == 8 ? bytes : 0;
}

static void emit_hist_bits(KernelEmitter *ke, uint32_t bytes)
{
    Scalar t = ke->k->values[0].scalar;
    const char *word = bytes == 4 ? "uint" : "ulong";
    strbuf_printf(ke->out, "static inline %s dp_bits(dp_val v) { return (%s)dp_to_bits_%s(v.v0); }\n", word, word,
                  scalar_name(t));
    strbuf_printf(ke->out,
                  "static inline dp_val dp_from_bits(%s x) { dp_val v; v.v0 = dp_from_bits_%s(x); return v; }\n", word,
                  scalar_name(t));
}

/* The operator's one primitive operation on its two parameters, or PRIM_COUNT. */
static CorePrim single_prim(const FlatOp *op)
{
    return op->k == 1 && op->op.body->stmts.n == 1 ? core_op_part(&op->op, 0) : PRIM_COUNT;
}

static const char *atomic_name(CorePrim op)
{
    static const char *const names[PRIM_COUNT + 1] = {[PRIM_ADD] = "add", [PRIM_MIN] = "min", [PRIM_MAX] = "max",
                                                      [PRIM_AND] = "and", [PRIM_OR] = "or",   [PRIM_XOR] = "xor"};
    return names[op];
}

/* The operator as an atomic function of integers, "add"; or NULL. */
static const char *atomic_function(const PlanKernel *k)
{
    return scalar_is_float(k->values[0].scalar) ? NULL : atomic_name(single_prim(&k->stmt->reduce.op));
}

static DpCombining combining(const PlanKernel *k)
{
    const uint32_t bytes = hist_bytes(k);
    const char *name = bytes ? atomic_function(k) : NULL;
    if (bytes && k->values[0].scalar == SC_F64 && single_prim(&k->stmt->reduce.op) == PRIM_ADD)
        return DP_ADDS_F64;
    /* Of the 64-bit atomics only these are in the base extension. */
    return name && (bytes == 4 || strcmp(name, "add") == 0) ? DP_BY_ATOMIC : DP_BY_SWAPS;
}

static void emit_hist_atomic(KernelEmitter *ke, uint32_t bytes)
{
    if (combining(ke->k) == DP_ADDS_F64)
        strbuf_add(ke->out, "#define DP_HIST_ADDS_F64 1\n");
    const char *name = atomic_function(ke->k);
    bool is_signed = scalar_is_signed(ke->k->values[0].scalar);
    if (name && strcmp(name, "add") != 0 && strcmp(name, "xor") != 0) /* a value once more changes nothing */
        strbuf_add(ke->out, "#define DP_HIST_SETTLES 1\n");
    if (name && bytes == 4)
        strbuf_printf(ke->out, "#define DP_HIST_ATOMIC(space, p, v) atomic_%s((volatile space %s *)(p), (v).v0)\n",
                      name, is_signed ? "int" : "uint");
    if (bytes == 8 && combining(ke->k) == DP_BY_ATOMIC)
        strbuf_printf(ke->out,
                      "#ifdef DP_HAS_ATOMICS64\n#define DP_HIST_ATOMIC(space, p, v) atom_add((volatile space %s *)(p), "
                      "(v).v0)\n#endif\n",
                      is_signed ? "long" : "ulong");
}

/* A scatter of one value of 4 bytes may store it by an atomic exchange. */
static void emit_exchange(KernelEmitter *ke)
{
    if (hist_bytes(ke->k) != 4)
        return;
    strbuf_add(ke->out, "#define DP_EXCHANGES 1\n");
    emit_hist_bits(ke, 4);
}

static void emit_hist(KernelEmitter *ke)
{
    uint32_t bytes = hist_bytes(ke->k);
    strbuf_printf(ke->out, "#define DP_HIST_BYTES %u\n", bytes);
    if (bytes == 0)
        return;
    emit_hist_bits(ke, bytes);
    emit_hist_atomic(ke, bytes);
}

/* ---- kernels ---- */

/* "#define DP_SETTLED(v) (!(v).v0 && (v).v1)": nothing that follows changes it, and it need not be computed, unless it
 * is kept. */
static void emit_settled(KernelEmitter *ke)
{
    const FlatOp *op = &ke->k->stmt->reduce.op;
    if (ke->k->kind != PLAN_REDUCE || flat_kept(ke->k->stmt) || !core_op_settles(ke->k->fn->scope, &op->op) ||
        scalar_facts(ke->k->fn->scope, NULL, ke->k->stmt->body.block).fallible)
        return;
    strbuf_add(ke->out, "#define DP_SETTLED(v) (");
    for (uint32_t i = 0; i < op->k; i++)
        strbuf_printf(ke->out, "%s%s(v).v%u", i ? " && " : "", core_op_part(&op->op, i) == PRIM_AND ? "!" : "", i);
    strbuf_add(ke->out, ")\n");
}

static void emit_switches(KernelEmitter *ke)
{
    emit_uses_seg(ke);
    emit_settled(ke);
    if (ke->k->stmt->kind == FLAT_S_KERNEL && ke->k->stmt->kernel.over)
        strbuf_add(ke->out, "#define DP_OVER 1\n");
    if (plan_has_op(ke->k))
        strbuf_printf(ke->out, "#define DP_COMMUTATIVE %d\n", ke->k->stmt->reduce.op.commutative);
    if (ke->k->kind == PLAN_SCAN)
        strbuf_printf(ke->out, "#define DP_EXCLUSIVE %d\n", ke->k->stmt->reduce.exclusive);
}

void emit_kernel_source(StrBuf *out, const Plan *plan, const PlanKernel *k)
{
    KernelEmitter ke = {out, plan, k, false};
    emit_parameters(&ke);
    emit_switches(&ke);
    emit_val(&ke);
    emit_word_macros(&ke);
    emit_body_functions(&ke);
    if (plan_has_op(k))
        emit_op(&ke);
    if (plan_has_op(k) && k->stmt->reduce.op.neutral)
        emit_neutral(&ke);
    if (plan_maps(k))
        emit_then(&ke);
    if (k->kind == PLAN_PACK) {
        emit_ways(&ke);
        emit_kept(&ke);
    } else {
        emit_store(&ke);
    }
    if ((plan_has_op(k) && k->kind != PLAN_SCAN) || k->kind == PLAN_SCATTER)
        emit_load(&ke);
    if (combines_where_it_is(k))
        emit_hist(&ke);
    else if (k->kind == PLAN_SCATTER)
        emit_exchange(&ke);
    emit_tile(&ke);
}

uint32_t emit_kernel_facts(DpKernel *to, const Plan *plan, const PlanKernel *k)
{
    ScalarFacts body = scalar_facts(k->fn->scope, NULL, k->stmt->body.block), op = {0}, then = {0};
    if (plan_has_op(k))
        op = scalar_facts(k->fn->scope, NULL, k->stmt->reduce.op.op.body);
    if (plan_maps(k))
        then = scalar_facts(k->fn->scope, NULL, k->stmt->reduce.then.block);
    uint32_t statements = body.statements + op.statements + then.statements + k->nvalues + k->words.n + 1;
    to->cost = body.loop || op.loop || then.loop ? 0 : statements;
    to->fallible = body.fallible || op.fallible || then.fallible;
    to->contracts = emit_contracts(k);
    to->long_body = statements > EMIT_MANY_STATEMENTS;
    to->segment_free = segment_free(plan, k);
    to->tile = emit_tile_facts(plan, k);
    to->across = k->kind == PLAN_MAP && flat_loads_go_across(k->fn, k->stmt);
    if (combines_where_it_is(k)) {
        to->combines = k->kind == PLAN_SCATTER;
        to->swap_bytes = (uint8_t)hist_bytes(k);
        to->combining = (uint8_t)combining(k);
    }
    return statements;
}

void emit_kernels_text(StrBuf *out, const Plan *plan)
{
    for (uint32_t i = 0; i < plan->kernels.n; i++) {
        const PlanKernel *k = plan->kernels.at[i];
        strbuf_add(out, i ? "\n" : "");
        marks_begin(out, k->stmt->span, k->stmt);
        strbuf_printf(out, "/* %u: %s, %s:%u */\n", i, k->name, k->place.file, k->place.line);
        emit_kernel_source(out, plan, k);
        marks_end(out);
    }
}
