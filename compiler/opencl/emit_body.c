/* A kernel's body as a function: dp_body; for bins with their place, dp_body_at; where elements wait for their turn in
 * two, dp_fetch and dp_make; on a GPU also dp_body_try, which tells no failure. */
#include "opencl/emit_internal.h"
#include "plan/emit_text.h"

/* ---- bodies in two: what is loaded, and the values made of it ---- */
static bool is_loaded(const FlatInput *in) { return in->kind == IN_ELEM || in->kind == IN_COL; }

/* A reduction in order keeps elements until their turn: what is loaded, if that is less than the values. */
static bool keeps_loads(const PlanKernel *k)
{
    const FlatInputs *inputs = &k->stmt->body.inputs;
    uint32_t loaded = 0, values = 0;
    for (uint32_t i = 0; i < inputs->n; i++)
        loaded += is_loaded(&inputs->at[i]) ? emit_bytes(core_var_type(k->fn->scope, inputs->at[i].as)) : 0;
    for (uint32_t i = 0; i < k->nvalues; i++)
        values += emit_bytes(k->values[i]);
    return k->kind == PLAN_REDUCE && !k->stmt->reduce.op.commutative && loaded && loaded < values &&
           !flat_kept(k->stmt);
}

/* Does it lie in memory as the elements do that the kernel goes over, words of 4 bytes one behind the other? Then this
 * is where it begins. */
static uint32_t wide_word(const PlanKernel *k, const FlatInput *in)
{
    const FlatVar over = k->stmt->body.ctx;
    if (plan_up(k->fn, over) != FLAT_ROOT || emit_bytes(core_var_type(k->fn->scope, in->as)) != 4)
        return UINT32_MAX;
    if (in->kind == IN_COL)
        return flat_ctx(k->fn, in->var) == over ? plan_word(k, WORD_COLUMN, in->var, FLAT_NO_VAR) : UINT32_MAX;
    return in->ctx == over && k->fn->vars.at[in->var].kind == FLAT_HOST
               ? plan_word(k, WORD_ADDRESS, in->var, FLAT_NO_VAR)
               : UINT32_MAX;
}

/* DP_WIDE_LOADS, where all that is loaded lies so. */
static void emit_wide_loads(KernelEmitter *ke, const FlatInputs *inputs)
{
    StrBuf loads = {0};
    bool wide = true;
    for (uint32_t i = 0, p = 0; i < inputs->n; i++)
        if (is_loaded(&inputs->at[i])) {
            const uint32_t word = wide_word(ke->k, &inputs->at[i]);
            wide &= word != UINT32_MAX;
            strbuf_printf(&loads, " F(%u, w%u)", p++, word);
        }
    if (wide)
        strbuf_printf(ke->out, "#define DP_WIDE_LOADS(F)%s\n", loads.text);
    strbuf_free(&loads);
}

/* dp_loads, dp_fetch. */
static void emit_fetch(KernelEmitter *ke, const FlatInputs *inputs)
{
    strbuf_add(ke->out, "#define DP_KEEPS_LOADS 1\ntypedef struct dp_loads {");
    for (uint32_t i = 0; i < inputs->n; i++)
        if (is_loaded(&inputs->at[i]))
            strbuf_printf(ke->out, " %s x%u;", emit_memory_type(core_var_type(ke->k->fn->scope, inputs->at[i].as)), i);
    strbuf_add(ke->out, " } dp_loads;\nstatic inline dp_loads dp_fetch(" HEAP ", ulong i, ulong s DP_WORDS)\n{\n"
                        "    dp_loads r;\n");
    for (uint32_t i = 0; i < inputs->n; i++)
        if (is_loaded(&inputs->at[i])) {
            strbuf_printf(ke->out, "    r.x%u = ", i);
            emit_input_value(ke, ke->out, &inputs->at[i]);
            strbuf_add(ke->out, ";\n");
        }
    strbuf_add(ke->out, "    return r;\n}\n");
    emit_wide_loads(ke, inputs);
}

static void emit_made_inputs(KernelEmitter *ke, ScalarEmitter *e, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        if (!is_loaded(&inputs->at[i])) {
            emit_input(ke, e, &inputs->at[i]);
            continue;
        }
        strbuf_indent(e->out, 2 * e->depth);
        strbuf_printf(e->out, "%s ", emit_value_type(core_var_type(e->fn, inputs->at[i].as)));
        emit_var(e, inputs->at[i].as);
        strbuf_printf(e->out, " = loads.x%u;\n", i);
    }
}

void emit_kept_place(KernelEmitter *ke, uint32_t i)
{
    const FlatVar v = plan_kept(ke->k, i);
    strbuf_printf(ke->out, "w%u + i * %u", plan_word(ke->k, WORD_KEPT, v, FLAT_NO_VAR),
                  emit_bytes(ke->k->fn->vars.at[v].type));
}

/* What a reduction stores of each element. */
static void emit_kept_columns(KernelEmitter *ke, ScalarEmitter *e)
{
    for (uint32_t i = 0; i < flat_kept(ke->k->stmt); i++) {
        strbuf_indent(ke->out, 2 * e->depth);
        strbuf_printf(ke->out, "*DP_AT(%s, ", emit_memory_type(ke->k->fn->vars.at[plan_kept(ke->k, i)].type));
        emit_kept_place(ke, i);
        strbuf_add(ke->out, ") = ");
        emit_atom(e, ke->k->stmt->body.block->results[ke->k->nvalues + i]);
        strbuf_add(ke->out, ";\n");
    }
}

/* What the body's statements are, behind its head. */
static void emit_body_statements(KernelEmitter *ke, ScalarEmitter *e)
{
    const FlatBody *body = &ke->k->stmt->body;
    if (keeps_loads(ke->k))
        emit_made_inputs(ke, e, &body->inputs);
    else
        emit_inputs(ke, e, &body->inputs);
    emit_scalar_flag(e, body->block);
    emit_scalar_block(e, body->block);
    if (emit_has_place(ke->k)) {
        strbuf_indent(ke->out, 2 * e->depth);
        strbuf_add(ke->out, "*index = ");
        emit_atom(e, body->block->results[0]);
        strbuf_add(ke->out, ";\n");
    }
    emit_kept_columns(ke, e);
    emit_return(e, body->block->results + ke->k->first, ke->k->nvalues);
}

/* Those of longer bodies are hidden by what these compute. */
enum { TRY_STATEMENTS = 40 };

/* On a GPU: the body once more, where a failure is no more than *odd = 1. A failure that is told keeps the next
 * element's loads from being under way together with this one's. Not of bodies in which more than the values hangs on
 * whether they fail. */
static void emit_try(KernelEmitter *ke)
{
    const ScalarFacts facts = scalar_facts(ke->k->fn->scope, NULL, ke->k->stmt->body.block);
    ScalarEmitter e = emit_scalar_emitter(ke);
    if (!facts.fallible || facts.loop || facts.writes || facts.makes || facts.statements > TRY_STATEMENTS ||
        emit_has_place(ke->k) || keeps_loads(ke->k) || flat_kept(ke->k->stmt))
        return;
    e.tries = true;
    strbuf_add(ke->out, "#if DP_GPU && !DP_ANY_VARIANT\n#undef DP_BODIES\n#define DP_BODIES DP_BODIES_TRIED\n");
    emit_line_directive(ke);
    strbuf_add(ke->out, "static inline dp_val dp_body_try(" HEAP ", ulong i, ulong s, uint *odd DP_WORDS)\n{\n");
    emit_body_statements(ke, &e);
    strbuf_add(ke->out, "#endif\n");
}

void emit_wide_body(KernelEmitter *ke, uint32_t lanes)
{
    ScalarEmitter e = emit_scalar_emitter(ke);
    e.wide = lanes;
    emit_line_directive(ke);
    strbuf_add(ke->out, "static inline dp_val dp_body_wide(" HEAP ", ulong i, ulong s DP_WORDS)\n{\n");
    emit_body_statements(ke, &e);
    strbuf_add(ke->out, "#define dp_body dp_body_wide\n#undef DP_W\n#define DP_W 0\n");
}

void emit_body_functions(KernelEmitter *ke)
{
    const bool two = keeps_loads(ke->k);
    ScalarEmitter e = emit_scalar_emitter(ke);
    if (two)
        emit_fetch(ke, &ke->k->stmt->body.inputs);
    emit_line_directive(ke);
    if (emit_has_place(ke->k))
        strbuf_add(ke->out, "DP_INLINE dp_val dp_body_at(" HEAP ", ulong i, ulong s, long *index DP_WORDS)\n{\n");
    else if (two)
        strbuf_add(ke->out, "DP_INLINE dp_val dp_make(" HEAP ", dp_loads loads, ulong i, ulong s DP_WORDS)\n{\n");
    else
        strbuf_add(ke->out, "DP_INLINE dp_val dp_body(" HEAP ", ulong i, ulong s DP_WORDS)\n{\n");
    emit_body_statements(ke, &e);
    if (two)
        strbuf_add(ke->out, "DP_INLINE dp_val dp_body(" HEAP ", ulong i, ulong s DP_WORDS)\n{\n"
                            "    return dp_make(heap, dp_fetch(heap, i, s DP_PASS), i, s DP_PASS);\n}\n");
    emit_try(ke);
}
