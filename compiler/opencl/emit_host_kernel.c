/* Statements that launch kernels: their words, the call, and what the new columns' views may point into. */
#include "opencl/emit_host_internal.h"

#include "opencl/emit_text.h"

/* ---- words ---- */

/* Views (an array of rank views or more has them) are written when a kernel is about to read them. */
static void emit_address(HostEmitter *h, const PlanWord *w, const char *function, uint8_t views)
{
    bool call = host_info(h, w->var)->type.rank >= views;
    if (call)
        strbuf_printf(h->out, "%s(rt, &", function);
    host_var(h, w->var);
    strbuf_add(h->out, call ? ")" : ".addr");
}

/* The value of a word that stands for itself; 0 for the others. */
static void emit_word_value(HostEmitter *h, const PlanWord *w)
{
    switch (w->kind) {
    case WORD_SCALAR:
        strbuf_printf(h->out, "dp_to_bits_%s(", scalar_name(host_info(h, w->var)->type.scalar));
        host_var(h, w->var);
        strbuf_add(h->out, ")");
        break;
    case WORD_LENGTH:
        host_var(h, w->var);
        strbuf_add(h->out, ".len");
        break;
    case WORD_ADDRESS: emit_address(h, w, "dp_arr_addr", 2); break;
    case WORD_COLUMN: emit_address(h, w, "dp_col_addr", 1); break;
    case WORD_ELEMS:
    case WORD_VIEWS:
    case WORD_OFFSETS:
    case WORD_PATH: strbuf_add(h->out, "0"); break;
    }
}

static void emit_elems_word(HostEmitter *h, const PlanWord *w, uint32_t i)
{
    host_indent(h);
    if (w->bit != PLAN_NO_BIT)
        strbuf_add(h->out, "if (");
    strbuf_add(h->out, "dp_elem_words_of(rt, &");
    host_var(h, w->var);
    strbuf_add(h->out, ", ");
    host_var(h, w->to);
    strbuf_printf(h->out, ", %u, &w[%u])", emit_element_bytes(host_info(h, w->var)->type), i);
    if (w->bit != PLAN_NO_BIT)
        strbuf_printf(h->out, ") variant |= 1U << %u", w->bit);
    strbuf_add(h->out, ";\n");
}

/* Offsets and paths that only serve what is not contiguous are not asked for where all of it is. */
static void emit_need(HostEmitter *h, const PlanKernel *k, const PlanWord *w)
{
    host_indent(h);
    if (w->always || w->elems.n == 0)
        return;
    uint32_t mask = 0;
    for (uint32_t i = 0; i < w->elems.n; i++)
        mask |= (uint32_t)1 << k->words.at[w->elems.at[i]].bit;
    strbuf_printf(h->out, "if ((variant & 0x%xU) != 0x%xU) ", mask, mask);
}

static void emit_offsets_word(HostEmitter *h, const PlanKernel *k, const PlanWord *w, uint32_t i)
{
    emit_need(h, k, w);
    strbuf_printf(h->out, "w[%u] = dp_ctx_offsets(rt, ", i);
    host_var(h, w->to);
    strbuf_add(h->out, ");\n");
}

static void emit_path_word(HostEmitter *h, const PlanKernel *k, const PlanWord *w, uint32_t i)
{
    emit_need(h, k, w);
    strbuf_printf(h->out, "w[%u] = dp_path(rt, ", i);
    host_var(h, w->from);
    strbuf_add(h->out, ", ");
    host_var(h, w->to);
    strbuf_add(h->out, ");\n");
    if (w->bit == PLAN_NO_BIT)
        return;
    host_indent(h);
    strbuf_printf(h->out, "if (!w[%u]) variant |= 1U << %u;\n", i, w->bit);
}

/* "uint64_t w[n] = …; uint32_t variant = …;" ELEMS come first: what they find says which others are needed. */
static void emit_words(HostEmitter *h, const PlanKernel *k)
{
    if (k->words.n > 0) {
        host_indent(h);
        strbuf_printf(h->out, "uint64_t w[%u] = {", k->words.n);
        for (uint32_t i = 0; i < k->words.n; i++) {
            if (i)
                strbuf_add(h->out, ", ");
            emit_word_value(h, &k->words.at[i]);
        }
        strbuf_add(h->out, "};\n");
    }
    if (k->nbits > 0)
        host_line(h, "uint32_t variant = 0;");
    for (uint32_t i = 0; i < k->words.n; i++)
        if (k->words.at[i].kind == WORD_ELEMS)
            emit_elems_word(h, &k->words.at[i], i);
    for (uint32_t i = 0; i < k->words.n; i++) {
        if (k->words.at[i].kind == WORD_OFFSETS)
            emit_offsets_word(h, k, &k->words.at[i], i);
        if (k->words.at[i].kind == WORD_PATH)
            emit_path_word(h, k, &k->words.at[i], i);
    }
}

/* "rt, kernel, variant, ctx, words": the arguments that all launches begin with. */
static void emit_launch_args(HostEmitter *h, const PlanKernel *k)
{
    strbuf_printf(h->out, "(rt, %u, %s, ", k->index, k->nbits > 0 ? "variant" : "0");
    host_var(h, k->stmt->body.ctx);
    strbuf_add(h->out, k->words.n > 0 ? ", w" : ", NULL");
}

/* ---- what views may point into ---- */

static void emit_refs_of(HostEmitter *h, FlatVar v, uint32_t depth)
{
    strbuf_printf(h->out, "dp_refs_of_%s(rt, &", host_info(h, v)->kind == FLAT_COL ? "col" : "arr");
    host_var(h, v);
    strbuf_printf(h->out, ", %u)", depth);
}

/* May a view of this type stem from the input? Then *depth says how many indexings of the variable lead to it. */
static bool may_stem_from(const HostEmitter *h, const FlatInput *in, CoreType view, uint32_t *depth)
{
    if (in->kind == IN_POS)
        return false;
    CoreType t = host_info(h, in->var)->type;
    uint32_t least = view.rank + (in->kind == IN_ELEM ? 1U : 0U); /* an element is one indexing further */
    if (t.scalar != view.scalar || t.rank < least)
        return false;
    *depth = (uint32_t)t.rank - view.rank;
    return true;
}

/* Has an earlier input of the same variable been counted? */
static bool counted_before(const HostEmitter *h, const FlatInputs *inputs, uint32_t i, CoreType view)
{
    uint32_t depth;
    for (uint32_t j = 0; j < i; j++)
        if (may_stem_from(h, &inputs->at[j], view, &depth) && inputs->at[j].var == inputs->at[i].var)
            return true;
    return false;
}

/* Adds to the DpRefs * `name`, which is declared. */
static void add_body_refs(HostEmitter *h, const char *name, const FlatBody *body, CoreType view)
{
    for (uint32_t i = 0; i < body->inputs.n; i++) {
        uint32_t depth;
        if (!may_stem_from(h, &body->inputs.at[i], view, &depth) || counted_before(h, &body->inputs, i, view))
            continue;
        host_indent(h);
        strbuf_printf(h->out, "%s = dp_refs_union(rt, %s, ", name, name);
        emit_refs_of(h, body->inputs.at[i].var, depth);
        strbuf_add(h->out, ");\n");
    }
}

void host_body_refs(HostEmitter *h, const char *name, const FlatBody *body, CoreType view)
{
    host_indent(h);
    strbuf_printf(h->out, "DpRefs *%s = NULL;\n", name);
    add_body_refs(h, name, body, view);
}

/* ---- outputs ---- */

/* "v7 = out[0]; …", with their views' references. */
static void emit_column_outs(HostEmitter *h, const PlanKernel *k)
{
    for (uint32_t i = 0; i < k->nouts; i++) {
        FlatVar v = k->stmt->outs[k->first + i];
        host_indent(h);
        host_var(h, v);
        strbuf_printf(h->out, " = out[%u];\n", i);
        if (host_info(h, v)->type.rank == 0)
            continue;
        host_open(h);
        host_body_refs(h, "refs", &k->stmt->body, host_info(h, v)->type);
        host_indent(h);
        strbuf_add(h->out, "dp_col_set_refs(rt, &");
        host_var(h, v);
        strbuf_add(h->out, ", refs);\n");
        host_close(h);
    }
}

static void emit_out_array(HostEmitter *h, const char *type, uint32_t n)
{
    host_indent(h);
    strbuf_printf(h->out, "%s out[%u];\n", type, n > 0 ? n : 1);
}

static void emit_map(HostEmitter *h, const PlanKernel *k)
{
    emit_out_array(h, "DpCol", k->nouts);
    host_indent(h);
    strbuf_add(h->out, "dp_map");
    emit_launch_args(h, k);
    strbuf_add(h->out, ", out);\n");
    emit_column_outs(h, k);
}

static void emit_array(HostEmitter *h, const PlanKernel *k)
{
    CoreType element = core_element(host_info(h, k->stmt->outs[0])->type);
    if (element.rank > 0)
        host_body_refs(h, "refs", &k->stmt->body, element);
    host_indent(h);
    host_var(h, k->stmt->outs[0]);
    strbuf_add(h->out, " = dp_array");
    emit_launch_args(h, k);
    strbuf_printf(h->out, ", %u, %s);\n", k->nvalues, element.rank > 0 ? "refs" : "NULL");
}

static void emit_pack(HostEmitter *h, const PlanKernel *k)
{
    host_indent(h);
    host_var(h, k->stmt->outs[0]);
    strbuf_add(h->out, " = dp_pack");
    emit_launch_args(h, k);
    strbuf_add(h->out, ");\n");
}

static bool over_root(const PlanKernel *k) { return plan_up(k->fn, k->stmt->body.ctx) == FLAT_ROOT; }

static void emit_reduce_root(HostEmitter *h, const PlanKernel *k)
{
    emit_out_array(h, "uint64_t", k->nouts);
    host_indent(h);
    strbuf_add(h->out, "dp_reduce_root");
    emit_launch_args(h, k);
    strbuf_add(h->out, ", out);\n");
    for (uint32_t i = 0; i < k->nouts; i++) {
        host_indent(h);
        host_var(h, k->stmt->outs[i]);
        strbuf_printf(h->out, " = dp_from_bits_%s(out[%u]);\n", scalar_name(k->values[i].scalar), i);
    }
}

static void emit_columns(HostEmitter *h, const PlanKernel *k, const char *function)
{
    emit_out_array(h, "DpCol", k->nouts);
    host_indent(h);
    strbuf_add(h->out, function);
    emit_launch_args(h, k);
    strbuf_add(h->out, ", out);\n");
    emit_column_outs(h, k);
}

/* "v7 = out[0]; …" of arrays whose elements hold no views. */
static void emit_plain_outs(HostEmitter *h, const PlanKernel *k)
{
    for (uint32_t i = 0; i < k->nouts; i++) {
        host_indent(h);
        host_var(h, k->stmt->outs[i]);
        strbuf_printf(h->out, " = out[%u];\n", i);
    }
}

/* ---- scatter ---- */

/* Rows moved as views: the new arrays' elements may point where the old ones' and the values do. */
static void emit_scatter_refs(HostEmitter *h, const PlanKernel *k, uint32_t i)
{
    FlatVar v = k->stmt->outs[i];
    CoreType element = core_element(host_info(h, v)->type);
    if (element.rank == 0)
        return;
    host_open(h);
    host_indent(h);
    strbuf_add(h->out, "DpRefs *refs = ");
    emit_refs_of(h, k->stmt->scatter.dests[i], 1);
    strbuf_add(h->out, ";\n");
    add_body_refs(h, "refs", &k->stmt->body, element);
    host_indent(h);
    strbuf_add(h->out, over_root(k) ? "dp_arr_set_element_refs(rt, &" : "dp_col_set_refs(rt, &");
    host_var(h, v);
    strbuf_add(h->out, ", refs);\n");
    host_close(h);
}

static void emit_scatter(HostEmitter *h, const PlanKernel *k)
{
    const FlatStmt *s = k->stmt;
    const char *type = over_root(k) ? "DpArr" : "DpCol";
    emit_out_array(h, type, k->nouts);
    host_indent(h);
    strbuf_printf(h->out, "const %s dests[%u] = ", type, s->scatter.n);
    host_list(h, s->scatter.dests, s->scatter.n);
    strbuf_add(h->out, ";\n");
    host_indent(h);
    strbuf_printf(h->out, "const bool consume[%u] = {", s->scatter.n);
    for (uint32_t i = 0; i < s->scatter.n; i++)
        strbuf_printf(h->out, "%s%s", i ? ", " : "", plan_in_place(s, s->scatter.dests[i]) ? "true" : "false");
    strbuf_add(h->out, "};\n");
    host_indent(h);
    strbuf_add(h->out, over_root(k) ? "dp_scatter_root" : "dp_scatter");
    emit_launch_args(h, k);
    strbuf_add(h->out, ", dests, consume, out);\n");
    emit_plain_outs(h, k);
    for (uint32_t i = 0; i < k->nouts; i++)
        emit_scatter_refs(h, k, i);
}

static void emit_hist(HostEmitter *h, const PlanKernel *k)
{
    emit_out_array(h, over_root(k) ? "DpArr" : "DpCol", k->nouts);
    host_indent(h);
    strbuf_add(h->out, over_root(k) ? "dp_hist_root" : "dp_hist");
    emit_launch_args(h, k);
    strbuf_add(h->out, over_root(k) ? ", " : ", &");
    host_var(h, k->stmt->reduce.size);
    strbuf_add(h->out, ", out);\n");
    emit_plain_outs(h, k);
}

/* ---- statements ---- */

static void emit_kernel(HostEmitter *h, const PlanKernel *k)
{
    host_open(h);
    emit_words(h, k);
    switch (k->kind) {
    case PLAN_MAP: emit_map(h, k); break;
    case PLAN_ARRAY: emit_array(h, k); break;
    case PLAN_PACK: emit_pack(h, k); break;
    case PLAN_REDUCE:
        if (over_root(k))
            emit_reduce_root(h, k);
        else
            emit_columns(h, k, "dp_reduce");
        break;
    case PLAN_SCAN: emit_columns(h, k, "dp_scan"); break;
    case PLAN_SCATTER: emit_scatter(h, k); break;
    case PLAN_HIST: emit_hist(h, k); break;
    }
    host_close(h);
}

void host_kernel_stmt(HostEmitter *h, const FlatStmt *s)
{
    const PlanKernel *k = plan_first(h->plan, s, &h->next_kernel);
    for (uint32_t i = k->index; i < h->plan->kernels.n && h->plan->kernels.at[i]->stmt == s; i++)
        emit_kernel(h, h->plan->kernels.at[i]);
}
