#include "opencl/emit_tile.h"

#include "plan/emit_text.h"

const TileText tile_texts[ACCESS_PARTS] = {
    [PART_ROW] = {"dp_row", "dp_tile_row", "row", "DP_ROW_FIELDS", "ulong s"},
    [PART_COLUMN] = {"dp_column", "dp_tile_column", "column", "DP_COLUMN_FIELDS", "ulong s"},
    [PART_CELL] = {"dp_cell", "dp_tile_cell", "cell", "DP_CELL_FIELDS", "ulong s"},
    [PART_STREAM] = {"dp_stream", "dp_tile_stream", "stream", "DP_STREAM_FIELDS", "ulong k"},
    [PART_ROW_K] = {"dp_row_k", "dp_tile_row_k", "row_k", "DP_ROW_K_FIELDS", "ulong k, dp_row row"},
    [PART_COLUMN_K] = {"dp_column_k", "dp_tile_column_k", "column_k", "DP_COLUMN_K_FIELDS",
                       "ulong k, dp_column column"},
    [PART_BODY] = {"dp_val", "dp_tile_body", "", "",
                   "ulong i, ulong s, ulong k, dp_row row, dp_column column, dp_cell cell, dp_stream stream, "
                   "dp_row_k row_k, dp_column_k column_k"},
};

/* An index that relies on a check must stay behind it. */
const Access *emit_tile_access(const Plan *plan, const PlanKernel *k)
{
    if (k->kind != PLAN_REDUCE || !k->stmt->reduce.op.neutral || flat_kept(k->stmt) > 0 ||
        scalar_facts(k->fn->scope, NULL, k->stmt->body.block).relies)
        return NULL;
    return plan_access(plan, k);
}

static CoreType field_type(const KernelEmitter *ke, CoreVar v) { return core_var_type(ke->k->fn->scope, v); }

/* Structs of 8 and 16 bytes are aligned to these, so that they are loaded at once. */
static void emit_struct(KernelEmitter *ke, const AccessPart *part, const TileText *t)
{
    const uint32_t bytes = plan_access_bytes(ke->k, part);
    ScalarEmitter e = emit_scalar_emitter(ke);
    strbuf_add(ke->out, "typedef struct ");
    if (bytes == 8 || bytes == 16)
        strbuf_printf(ke->out, "__attribute__((aligned(%u))) ", bytes);
    strbuf_printf(ke->out, "%s {", t->type);
    for (uint32_t i = 0; i < part->fields.n; i++) {
        strbuf_printf(ke->out, " %s ", emit_value_type(field_type(ke, part->fields.at[i])));
        emit_var(&e, part->fields.at[i]);
        strbuf_add(ke->out, ";");
    }
    if (part->fields.n == 0)
        strbuf_add(ke->out, " uchar none;");
    strbuf_printf(ke->out, " } %s;\n#define %s(F)", t->type, t->fields);
    for (uint32_t i = 0; i < part->fields.n; i++) {
        strbuf_printf(ke->out, " F(%s, ", emit_value_type(field_type(ke, part->fields.at[i])));
        emit_var(&e, part->fields.at[i]);
        strbuf_add(ke->out, ")");
    }
    strbuf_add(ke->out, "\n");
}

/* "T x = row.x;" */
static void emit_given(KernelEmitter *ke, ScalarEmitter *e, const AccessPart *part)
{
    for (uint32_t i = 0; i < part->given.n; i++) {
        const AccessGiven *g = &part->given.at[i];
        strbuf_printf(ke->out, "    %s ", emit_value_type(field_type(ke, g->var)));
        emit_var(e, g->var);
        strbuf_printf(ke->out, " = %s.", tile_texts[g->from].value);
        emit_var(e, g->var);
        strbuf_add(ke->out, ";\n");
    }
}

CoreBlock emit_tile_statements(const Plan *plan, const Access *a, const AccessPart *part)
{
    CoreBlock block = {0};
    for (uint32_t i = 0; i < a->nitems; i++)
        if (part->items[i] && a->items[i].stmt)
            vec_push(plan->arena, &block.stmts, a->items[i].stmt);
    return block;
}

static void emit_items(KernelEmitter *ke, ScalarEmitter *e, const Access *a, const AccessPart *part, bool straight)
{
    const CoreBlock block = emit_tile_statements(ke->plan, a, part);
    for (uint32_t i = 0; i < a->nitems; i++)
        if (part->items[i] && a->items[i].input)
            emit_input(ke, e, a->items[i].input);
    e->straight = straight ? &block : NULL;
    emit_scalar_flag(e, &block);
    emit_scalar_block(e, &block);
}

static void emit_fields_return(KernelEmitter *ke, ScalarEmitter *e, const AccessPart *part, const TileText *t)
{
    strbuf_printf(ke->out, "    %s r;\n", t->type);
    for (uint32_t i = 0; i < part->fields.n; i++) {
        strbuf_add(ke->out, "    r.");
        emit_var(e, part->fields.at[i]);
        strbuf_add(ke->out, " = ");
        emit_var(e, part->fields.at[i]);
        strbuf_add(ke->out, ";\n");
    }
    strbuf_printf(ke->out, "    %sreturn r;\n}\n", part->fields.n ? "" : "r.none = 0; ");
}

static void emit_part(KernelEmitter *ke, const Access *a, AccessPartKind kind, bool straight)
{
    const TileText *t = &tile_texts[kind];
    const AccessPart *part = &a->parts[kind];
    ScalarEmitter e = emit_scalar_emitter(ke);
    emit_line_directive(ke);
    strbuf_printf(ke->out, "static inline %s %s%s(" HEAP ", %s%s DP_WORDS)\n{\n", t->type, t->name,
                  straight ? "_straight" : "", t->parameters, straight ? ", uint *odd" : "");
    emit_given(ke, &e, part);
    emit_items(ke, &e, a, part, straight);
    if (kind == PART_BODY)
        emit_return(&e, ke->k->stmt->body.block->results, ke->k->nvalues);
    else
        emit_fields_return(ke, &e, part, t);
}

/* Are there roots or quotients in the body, and nothing that wrong ones of theirs could lead astray? */
static bool has_straight_body(const KernelEmitter *ke, const Access *a)
{
    const CoreBlock body = emit_tile_statements(ke->plan, a, &a->parts[PART_BODY]);
    bool roots = false, in_op = false;
    return a->shape != ACCESS_BLOCKS && emit_is_arithmetic(ke->k->fn->scope, &body, &roots) && roots &&
           emit_is_arithmetic(ke->k->fn->scope, ke->k->stmt->reduce.op.op.body, &in_op);
}

void emit_tile(KernelEmitter *ke)
{
    const Access *a = emit_tile_access(ke->plan, ke->k);
    if (!a)
        return;
    ke->tiled = true;
    strbuf_printf(ke->out, "#if DP_WAY >= 5\n#define DP_SHAPE %d\n#define DP_COLUMN_BY_K %d\n", a->shape,
                  a->column_by_k);
    strbuf_printf(ke->out, "#define DP_HAS_STREAM %d\n#define DP_HAS_ROW_K %d\n#define DP_HAS_COLUMN_K %d\n",
                  a->parts[PART_STREAM].fields.n > 0, a->parts[PART_ROW_K].fields.n > 0,
                  a->parts[PART_COLUMN_K].fields.n > 0);
    for (AccessPartKind kind = 0; kind < PART_BODY; kind++)
        emit_struct(ke, &a->parts[kind], &tile_texts[kind]);
    for (AccessPartKind kind = 0; kind < ACCESS_PARTS; kind++)
        emit_part(ke, a, kind, false);
    if (has_straight_body(ke, a)) {
        strbuf_add(ke->out, "#if DP_STRAIGHT\n#define DP_STRAIGHT_BODY 1\n");
        emit_part(ke, a, PART_BODY, true);
        strbuf_add(ke->out, "#endif\n");
    }
    strbuf_add(ke->out, "#endif\n");
    ke->tiled = false;
}

DpTile emit_tile_facts(const Plan *plan, const PlanKernel *k)
{
    const Access *a = emit_tile_access(plan, k);
    if (!a)
        return (DpTile){0};
    return (DpTile){.shape = (uint8_t)a->shape,
                    .own_rows = a->own_rows,
                    .batched = a->batched,
                    .stream_bytes = (uint16_t)plan_access_bytes(k, &a->parts[PART_STREAM]),
                    .row_bytes = (uint16_t)plan_access_bytes(k, &a->parts[PART_ROW_K]),
                    .column_bytes = (uint16_t)plan_access_bytes(k, &a->parts[PART_COLUMN_K])};
}
