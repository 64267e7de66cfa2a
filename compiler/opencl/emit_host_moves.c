/* Statements without kernels of the program's own: scalar code on the host, contexts, columns and whole arrays. */
#include "opencl/emit_host_internal.h"

#include "opencl/emit_scalar.h"
#include "opencl/emit_text.h"

/* ---- host code ---- */

/* Within the body, an input's core variable is the HOST variable itself. */
static void name_inputs(HostEmitter *h, const FlatBody *body)
{
    for (uint32_t i = 0; i < body->inputs.n; i++) {
        const FlatInput *in = &body->inputs.at[i];
        StrBuf name = {0};
        emit_name(&name, "v", in->var, host_info(h, in->var)->hint);
        h->names[in->as] = arena_strndup(h->plan->arena, name.text, name.n);
        strbuf_free(&name);
    }
}

static void forget_inputs(HostEmitter *h, const FlatBody *body)
{
    for (uint32_t i = 0; i < body->inputs.n; i++)
        h->names[body->inputs.at[i].as] = NULL;
}

static ScalarEmitter host_scalars(HostEmitter *h)
{
    return (ScalarEmitter){
        .out = h->out, .fn = h->fn->scope, .dialect = &host_dialect, .names = h->names, .depth = h->depth};
}

static void emit_host_results(HostEmitter *h, ScalarEmitter *e, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        bool counted = host_info(h, s->outs[i])->type.rank > 0;
        host_indent(h);
        host_var(h, s->outs[i]);
        strbuf_add(h->out, counted ? " = dp_arr_retain(" : " = ");
        emit_atom(e, s->body.block->results[i]);
        strbuf_add(h->out, counted ? ");\n" : ";\n");
    }
}

static void emit_host(HostEmitter *h, const FlatStmt *s)
{
    host_open(h);
    name_inputs(h, &s->body);
    ScalarEmitter e = host_scalars(h);
    emit_scalar_locals(&e, s->body.block);
    emit_scalar_block(&e, s->body.block);
    emit_host_results(h, &e, s);
    emit_scalar_releases(&e, s->body.block);
    forget_inputs(h, &s->body);
    host_close(h);
}

/* ---- array literals at depth 0 ---- */

static void emit_item(ScalarEmitter *e, CoreAtom item, bool view)
{
    if (view)
        strbuf_add(e->out, "{");
    emit_atom(e, item);
    if (!view)
        return;
    strbuf_add(e->out, ".len, ");
    emit_atom(e, item);
    strbuf_add(e->out, ".addr}");
}

/* The array's elements are views: the blocks they point into live on. */
static void emit_item_refs(HostEmitter *h, ScalarEmitter *e, const CoreBlock *b)
{
    host_line(h, "DpRefs *refs = NULL;");
    for (uint32_t i = 0; i < b->nresults; i++) {
        host_indent(h);
        strbuf_add(h->out, "refs = dp_refs_union(rt, refs, dp_refs_of_arr(rt, &");
        emit_atom(e, b->results[i]);
        strbuf_add(h->out, ", 0));\n");
    }
}

static void emit_items(HostEmitter *h, ScalarEmitter *e, const CoreBlock *b, CoreType element)
{
    host_indent(h);
    strbuf_printf(h->out, "const %s items[%u] = {", element.rank > 0 ? "dp_view" : emit_type_name(element.scalar),
                  b->nresults);
    for (uint32_t i = 0; i < b->nresults; i++) {
        if (i)
            strbuf_add(h->out, ", ");
        emit_item(e, b->results[i], element.rank > 0);
    }
    strbuf_add(h->out, "};\n");
}

static void emit_array_root(HostEmitter *h, const FlatStmt *s)
{
    const CoreBlock *b = s->body.block;
    CoreType element = core_element(host_info(h, s->outs[0])->type);
    host_open(h);
    name_inputs(h, &s->body);
    ScalarEmitter e = host_scalars(h);
    emit_scalar_locals(&e, b);
    emit_scalar_block(&e, b);
    if (element.rank > 0)
        emit_item_refs(h, &e, b);
    if (b->nresults > 0)
        emit_items(h, &e, b, element);
    host_indent(h);
    host_var(h, s->outs[0]);
    strbuf_printf(h->out, " = dp_array_root(rt, %s, %u, %u, %s);\n", b->nresults > 0 ? "items" : "NULL",
                  emit_bytes(element), b->nresults, element.rank > 0 ? "refs" : "NULL");
    emit_scalar_releases(&e, b);
    forget_inputs(h, &s->body);
    host_close(h);
}

/* ---- contexts ---- */

static void assign_open(HostEmitter *h, FlatVar v, const char *function)
{
    host_indent(h);
    host_var(h, v);
    strbuf_printf(h->out, " = %s(rt, ", function);
}

static void emit_nested(HostEmitter *h, const FlatStmt *s)
{
    FlatVar source = s->nested.source, up = plan_up(h->fn, s->outs[0]);
    bool array = host_info(h, source)->type.rank > 0;
    if (up == FLAT_ROOT) {
        assign_open(h, s->outs[0], "dp_nested_root");
        strbuf_add(h->out, array ? "" : "(uint64_t)");
        host_var(h, source);
        strbuf_add(h->out, array ? ".len);\n" : ");\n");
        return;
    }
    bool regular = host_info(h, source)->kind == FLAT_HOST;
    assign_open(h, s->outs[0], regular ? "dp_nested_regular" : array ? "dp_nested_views" : "dp_nested_lens");
    host_var(h, up);
    if (regular) {
        strbuf_add(h->out, ", (uint64_t)");
        host_var(h, source);
        strbuf_add(h->out, ");\n");
        return;
    }
    strbuf_add(h->out, ", &");
    host_var(h, source);
    strbuf_add(h->out, ");\n");
}

static void emit_split(HostEmitter *h, const FlatStmt *s)
{
    host_indent(h);
    strbuf_add(h->out, "dp_split(rt, ");
    host_var(h, s->ctx);
    strbuf_add(h->out, ", &");
    host_var(h, s->split.cond);
    strbuf_add(h->out, ", &");
    host_var(h, s->outs[0]);
    strbuf_add(h->out, ", &");
    host_var(h, s->outs[1]);
    strbuf_add(h->out, ");\n");
}

/* ---- columns ---- */

static void emit_elems(HostEmitter *h, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        FlatVar array = s->arrays.arrays[i];
        bool root = host_info(h, array)->kind == FLAT_HOST;
        assign_open(h, s->outs[i], root ? "dp_elems_root" : "dp_elems");
        strbuf_add(h->out, "&");
        host_var(h, array);
        strbuf_add(h->out, ", ");
        host_var(h, s->ctx);
        strbuf_printf(h->out, ", %u);\n", emit_element_bytes(host_info(h, array)->type));
    }
}

static void emit_select(HostEmitter *h, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        FlatVar col = s->arrays.arrays[i];
        assign_open(h, s->outs[i], "dp_select");
        strbuf_add(h->out, "&");
        host_var(h, col);
        strbuf_add(h->out, ", ");
        host_var(h, host_info(h, col)->ctx);
        strbuf_add(h->out, ", ");
        host_var(h, s->ctx);
        strbuf_add(h->out, ");\n");
    }
}

static void emit_views(HostEmitter *h, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        bool root = host_info(h, s->outs[i])->kind == FLAT_HOST;
        assign_open(h, s->outs[i], root ? "dp_views_root" : "dp_views");
        host_var(h, s->ctx);
        strbuf_add(h->out, ", &");
        host_var(h, s->arrays.arrays[i]);
        strbuf_add(h->out, ");\n");
    }
}

static void emit_merge_column(HostEmitter *h, const FlatStmt *s, uint32_t i)
{
    assign_open(h, s->outs[i], "dp_merge");
    host_var(h, s->ctx);
    strbuf_printf(h->out, ", %u, parts, (const DpCol[]){", s->merge.nparts);
    for (uint32_t j = 0; j < s->merge.nparts; j++) {
        if (j)
            strbuf_add(h->out, ", ");
        host_var(h, s->merge.parts[j].cols[i]);
    }
    strbuf_add(h->out, "});\n");
}

static void emit_merge(HostEmitter *h, const FlatStmt *s)
{
    if (s->nouts == 0)
        return;
    host_open(h);
    host_indent(h);
    strbuf_add(h->out, "DpCtx *const parts[] = {");
    for (uint32_t j = 0; j < s->merge.nparts; j++) {
        if (j)
            strbuf_add(h->out, ", ");
        host_var(h, s->merge.parts[j].ctx);
    }
    strbuf_add(h->out, "};\n");
    for (uint32_t i = 0; i < s->nouts; i++)
        emit_merge_column(h, s, i);
    host_close(h);
}

/* ---- whole arrays ---- */

static void emit_ctx_argument(HostEmitter *h, FlatVar ctx)
{
    if (ctx == FLAT_ROOT)
        return;
    host_var(h, ctx);
    strbuf_add(h->out, ", ");
}

static void emit_argsort(HostEmitter *h, const FlatStmt *s)
{
    bool root = s->ctx == FLAT_ROOT;
    assign_open(h, s->outs[0], root ? "dp_argsort_root" : "dp_argsort");
    emit_ctx_argument(h, s->ctx);
    strbuf_printf(h->out, "%u, (const %s[])", s->arrays.n, root ? "DpArr" : "DpCol");
    host_list(h, s->arrays.arrays, s->arrays.n);
    strbuf_add(h->out, ", (const uint8_t[]){");
    for (uint32_t i = 0; i < s->arrays.n; i++)
        strbuf_printf(h->out, "%s%s", i ? ", " : "", emit_scalar_tag(host_info(h, s->arrays.arrays[i])->type.scalar));
    strbuf_add(h->out, "});\n");
}

static void emit_flatten(HostEmitter *h, const FlatStmt *s)
{
    assign_open(h, s->outs[0], s->ctx == FLAT_ROOT ? "dp_flatten_root" : "dp_flatten");
    emit_ctx_argument(h, s->ctx);
    strbuf_add(h->out, "&");
    host_var(h, s->arrays.arrays[0]);
    strbuf_printf(h->out, ", %u);\n", emit_element_bytes(host_info(h, s->outs[0])->type));
}

static void emit_update_in_context(HostEmitter *h, const FlatStmt *s)
{
    assign_open(h, s->outs[0], "dp_update");
    host_var(h, s->ctx);
    strbuf_add(h->out, ", &");
    host_var(h, s->update.array);
    strbuf_printf(h->out, ", %s, %s, &", plan_in_place(s, s->update.array) ? "true" : "false",
                  s->update.masked ? "true" : "false");
    host_var(h, s->update.index);
    strbuf_add(h->out, ", &");
    host_var(h, s->update.value);
    strbuf_add(h->out, ");\n");
}

/* The new element: a pointer to it, its size, and what it refers to. */
static void emit_update_value(HostEmitter *h, FlatVar value)
{
    CoreType t = host_info(h, value)->type;
    if (t.rank == 0) {
        strbuf_add(h->out, "&");
        host_var(h, value);
        strbuf_printf(h->out, ", %u, NULL);\n", emit_bytes(t));
        return;
    }
    strbuf_add(h->out, "&(dp_view){");
    host_var(h, value);
    strbuf_add(h->out, ".len, ");
    host_var(h, value);
    strbuf_add(h->out, ".addr}, 16, dp_refs_of_arr(rt, &");
    host_var(h, value);
    strbuf_add(h->out, ", 0));\n");
}

static void emit_update_root(HostEmitter *h, const FlatStmt *s)
{
    bool consume = plan_in_place(s, s->update.array) && host_moves(h, s, &s->update.array, 1, s->update.array);
    host_open(h);
    host_indent(h);
    strbuf_add(h->out, "DpArr array = ");
    if (consume)
        host_take(h, s->update.array, true);
    else
        host_var(h, s->update.array);
    strbuf_add(h->out, ";\n");
    assign_open(h, s->outs[0], "dp_update_root");
    strbuf_printf(h->out, "&array, %s, ", consume ? "true" : "false");
    host_var(h, s->update.index);
    strbuf_add(h->out, ", ");
    emit_update_value(h, s->update.value);
    host_close(h);
}

void host_move_stmt(HostEmitter *h, const FlatStmt *s)
{
    switch ((int)s->kind) {
    case FLAT_S_HOST: emit_host(h, s); break;
    case FLAT_S_ARRAY: emit_array_root(h, s); break;
    case FLAT_S_NESTED: emit_nested(h, s); break;
    case FLAT_S_SPLIT: emit_split(h, s); break;
    case FLAT_S_ELEMS: emit_elems(h, s); break;
    case FLAT_S_SELECT: emit_select(h, s); break;
    case FLAT_S_VIEWS: emit_views(h, s); break;
    case FLAT_S_MERGE: emit_merge(h, s); break;
    case FLAT_S_ARGSORT: emit_argsort(h, s); break;
    case FLAT_S_FLATTEN: emit_flatten(h, s); break;
    case FLAT_S_UPDATE:
        if (s->ctx == FLAT_ROOT)
            emit_update_root(h, s);
        else
            emit_update_in_context(h, s);
        break;
    }
}
