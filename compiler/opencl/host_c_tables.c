/* The tables at the end of the host program, as program.h makes them. */
#include "opencl/host_c_internal.h"

#include "plan/emit_text.h"

#include <string.h>

static void add_string(HostPrinter *h, const char *text)
{
    if (text)
        emit_string(h->out, text, strlen(text));
    else
        strbuf_add(h->out, "NULL");
}

/* ---- kernels ---- */

static void add_place(HostPrinter *h, const DpPlace *place)
{
    strbuf_add(h->out, "{");
    add_string(h, place->file);
    strbuf_printf(h->out, ", %u, \"%s\"}", place->line, place->function);
}

void host_kernel_facts(StrBuf *out, const DpKernel *k)
{
    static const char *const kinds[] = {[DP_K_MAP] = "MAP",   [DP_K_REDUCE] = "REDUCE",   [DP_K_SCAN] = "SCAN",
                                        [DP_K_PACK] = "PACK", [DP_K_SCATTER] = "SCATTER", [DP_K_HIST] = "HIST"};
    strbuf_printf(out, ".kind = DP_K_%s, ", kinds[k->kind]);
    if (k->segment_bytes)
        strbuf_printf(out, ".segment_bytes = %u, ", k->segment_bytes);
    if (k->kept_bytes)
        strbuf_printf(out, ".kept_bytes = %u, ", k->kept_bytes);
    if (k->contracts)
        strbuf_add(out, ".contracts = 1, ");
    if (k->combining)
        strbuf_printf(out, ".combining = %u, ", k->combining);
    if (k->vector)
        strbuf_printf(out, ".lanes = %u, .vector_pays = %d, ", k->lanes, k->vector_pays);
    if (k->vector_inside)
        strbuf_add(out, ".vector_inside = 1, ");
    if (k->spills)
        strbuf_printf(out, ".spills = 0x%xU, ", k->spills);
    strbuf_printf(
        out, ".in_bytes = %u, .nwords = %u, .nouts = %u, .val_size = %u, .val_bytes = %u, .cost = %u, .out_bytes = {",
        k->in_bytes, k->nwords, k->nouts, k->val_size, k->val_bytes, k->cost);
    for (uint32_t j = 0; j < k->nouts || j == 0; j++)
        strbuf_printf(out, "%s%u", j ? ", " : "", k->out_bytes[j]);
    strbuf_printf(out,
                  "},\n     .segment_free = 0x%xU, .fallible = %d, .long_body = %d, .across = %d, .combines = %d, "
                  ".swap_bytes = %u,\n",
                  k->segment_free, k->fallible, k->long_body, k->across, k->combines, k->swap_bytes);
    strbuf_printf(out, "     .tile = {%u, %d, %d, %u, %u, %u, %u, %d, %d, %u}", k->tile.shape, k->tile.own_rows,
                  k->tile.batched, k->tile.stream_bytes, k->tile.row_bytes, k->tile.column_bytes, k->tile.lanes,
                  k->tile.vector_pays, k->tile.near, k->tile.batch_lanes);
}

static void print_kernel(HostPrinter *h, const DpKernel *k, uint32_t i)
{
    strbuf_printf(h->out, "    {.name = \"%s\", .place = ", k->name);
    add_place(h, &k->place);
    const uint32_t code = k->same ? k->same - 1 : i;
    strbuf_printf(h->out, ", .source = source_%u,\n     ", code);
    if (k->same)
        strbuf_printf(h->out, ".same = %u, ", k->same);
    if (k->library.file) {
        strbuf_add(h->out, ".library = ");
        add_place(h, &k->library);
        strbuf_add(h->out, ", ");
    }
    if (k->nfused)
        strbuf_printf(h->out, ".fused = fused_%u, .nfused = %u, ", i, k->nfused);
    if (k->vector)
        strbuf_printf(h->out, ".vector = vector_%u, ", code);
    host_kernel_facts(h->out, k);
    strbuf_add(h->out, "},\n");
}

static void print_text(HostPrinter *h, const char *variable, uint32_t i, const DpKernel *k, const char *text)
{
    strbuf_printf(h->out, "\nstatic const char %s_%u[] = /* %s */", variable, i, k->name);
    emit_string_lines(h->out, text, strlen(text), 2);
    strbuf_add(h->out, ";\n");
}

static void print_fused(HostPrinter *h, uint32_t i, const DpKernel *k)
{
    strbuf_printf(h->out, "\nstatic const DpPlace fused_%u[] = {", i);
    for (uint32_t j = 0; j < k->nfused; j++) {
        strbuf_add(h->out, j ? ", " : "");
        add_place(h, &k->fused[j]);
    }
    strbuf_add(h->out, "};\n");
}

static void print_kernels(HostPrinter *h, const DpProgram *p)
{
    for (uint32_t i = 0; i < p->nkernels; i++) {
        const DpKernel *k = &p->kernels[i];
        if (!k->same)
            print_text(h, "source", i, k, k->source);
        if (!k->same && k->vector)
            print_text(h, "vector", i, k, k->vector);
        if (k->nfused)
            print_fused(h, i, k);
    }
    if (p->nkernels == 0)
        return;
    strbuf_add(h->out, "\nstatic const DpKernel kernels[] = {\n");
    for (uint32_t i = 0; i < p->nkernels; i++)
        print_kernel(h, &p->kernels[i], i);
    strbuf_add(h->out, "};\n");
}

/* ---- sites ---- */

static void print_sites(HostPrinter *h, const DpProgram *p)
{
    if (p->nsites == 0)
        return;
    strbuf_add(h->out, "\nstatic const DpSite sites[] = {\n");
    for (uint32_t i = 0; i < p->nsites; i++) {
        const DpSite *s = &p->sites[i];
        if (s->kind == DP_SITE_PLACE)
            strbuf_add(h->out, "    {DP_SITE_PLACE, ");
        else
            strbuf_printf(h->out, "    {%u, ", s->kind);
        add_string(h, s->text);
        strbuf_add(h->out, ", ");
        add_string(h, s->file);
        strbuf_printf(h->out, ", %u, %u, ", s->line, s->col);
        add_string(h, s->quote);
        strbuf_add(h->out, "},\n");
    }
    strbuf_add(h->out, "};\n");
}

/* ---- entries ---- */

static void print_run_results(HostPrinter *h, const PlanFn *fn, bool declare)
{
    for (uint32_t i = 0; i < fn->nresults; i++) {
        const PlanRegInfo *info = &fn->regs.at[fn->results[i]];
        if (declare) {
            strbuf_add(h->out, "    ");
            host_type(h, info);
            strbuf_printf(h->out, "r%u;\n", i);
        } else if (info->type == PLAN_ARR) {
            strbuf_printf(h->out, "    results[%u].arr = r%u;\n", i, i);
        } else {
            strbuf_printf(h->out, "    results[%u].bits = dp_to_bits_%s(r%u);\n", i, scalar_name(info->core.scalar), i);
        }
    }
}

/* From the runtime's leaves to the function's parameters and back. */
static void print_run(HostPrinter *h, const PlanFn *fn, uint32_t e)
{
    strbuf_printf(h->out, "\nstatic void run_%u(DpRt *rt, const DpEntry *entry, DpArg *args, DpArg *results)\n{\n", e);
    print_run_results(h, fn, true);
    strbuf_add(h->out, "    ");
    host_fn_name(h, fn);
    strbuf_add(h->out, "(rt");
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const PlanRegInfo *info = &fn->regs.at[fn->params[i]];
        if (info->type == PLAN_ARR)
            strbuf_printf(h->out, ", args[%u].arr", i);
        else
            strbuf_printf(h->out, ", dp_from_bits_%s(args[%u].bits)", scalar_name(info->core.scalar), i);
    }
    for (uint32_t i = 0; i < fn->nresults; i++)
        strbuf_printf(h->out, ", &r%u", i);
    strbuf_add(h->out, ");\n");
    print_run_results(h, fn, false);
    strbuf_add(h->out, "}\n");
}

static void print_texts(HostPrinter *h, const char *name, uint32_t e, const char *const *texts, uint32_t n)
{
    strbuf_printf(h->out, "static const char *const %s_%u[] = {", name, e);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(h->out, i ? ", " : "");
        add_string(h, texts[i]);
    }
    strbuf_add(h->out, "};\n");
}

static void print_entry(HostPrinter *h, const DpEntry *entry, uint32_t e)
{
    strbuf_add(h->out, "    {.name = ");
    add_string(h, entry->name);
    strbuf_add(h->out, ", .signature = ");
    add_string(h, entry->signature);
    if (entry->nparams > 0)
        strbuf_printf(h->out, ",\n     .param_names = names_%u, .param_types = types_%u, .nparams = %u", e, e,
                      entry->nparams);
    strbuf_add(h->out, ",\n     .result_type = ");
    add_string(h, entry->result_type);
    strbuf_printf(h->out, ", .nargs = %u, .nresults = %u, .run = run_%u},\n", entry->nargs, entry->nresults, e);
}

static void print_entries(HostPrinter *h, const DpProgram *p)
{
    for (uint32_t e = 0; e < p->nentries; e++) {
        const DpEntry *entry = &p->entries[e];
        print_run(h, entry->plan, e);
        if (entry->nparams == 0)
            continue;
        print_texts(h, "names", e, entry->param_names, entry->nparams);
        print_texts(h, "types", e, entry->param_types, entry->nparams);
    }
    if (p->nentries == 0)
        return;
    strbuf_add(h->out, "\nstatic const DpEntry entries[] = {\n");
    for (uint32_t e = 0; e < p->nentries; e++)
        print_entry(h, &p->entries[e], e);
    strbuf_add(h->out, "};\n");
}

/* ---- all ---- */

static void print_table_ref(HostPrinter *h, const char *name, uint32_t n)
{
    strbuf_printf(h->out, ", %s, %u", n > 0 ? name : "NULL", n);
}

void host_tables(HostPrinter *h, const DpProgram *p)
{
    print_kernels(h, p);
    print_sites(h, p);
    print_entries(h, p);
    strbuf_add(h->out, "\nstatic const DpProgram program = {DP_RT_VERSION, ");
    add_string(h, p->file);
    print_table_ref(h, "kernels", p->nkernels);
    print_table_ref(h, "sites", p->nsites);
    print_table_ref(h, "entries", p->nentries);
    strbuf_add(h->out, p->tune.text ? ",\n    {" : ", {NULL, NULL");
    if (p->tune.text) {
        add_string(h, p->tune.name);
        strbuf_add(h->out, ", ");
        add_string(h, p->tune.text);
    }
    strbuf_add(h->out, "}};\n");
}
