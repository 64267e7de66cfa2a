/* The tables at the end of the host program: kernels, sites, entries, and main. */
#include "opencl/emit_host_internal.h"

#include "opencl/emit_text.h"
#include "support/utf8.h"

#include <stdio.h>
#include <string.h>

static void add_string(HostEmitter *h, const char *text) { emit_string(h->out, text, strlen(text)); }

/* ---- texts ---- */

/* Text of the program that an executable shows: what is not for terminals is a ? a byte, so that carets still line up.
 */
static void emit_shown(HostEmitter *h, const char *text, size_t n)
{
    StrBuf shown = {0};
    uint32_t code;
    for (size_t i = 0, length; i < n; i += length) {
        length = utf8_decode(text + i, n - i, &code);
        bool visible = length > 0 && (code == '\t' || utf8_is_printable(code));
        if (length == 0)
            length = 1;
        for (size_t k = 0; k < length; k++)
            strbuf_addn(&shown, visible ? text + i + k : "?", 1);
    }
    emit_string(h->out, shown.text ? shown.text : "", shown.n);
    strbuf_free(&shown);
}

/* ---- kernels ---- */

static const char *runtime_kind(PlanKernelKind kind)
{
    static const char *const names[] = {"DP_K_MAP",  "DP_K_MAP",     "DP_K_PACK", "DP_K_REDUCE",
                                        "DP_K_SCAN", "DP_K_SCATTER", "DP_K_HIST"};
    return names[kind];
}

static void emit_source(HostEmitter *h, const PlanKernel *k)
{
    StrBuf source = {0};
    emit_kernel_source(&source, h->plan, k);
    strbuf_printf(h->out, "\nstatic const char source_%u[] = /* %s */", k->index, k->name);
    emit_string_lines(h->out, source.text ? source.text : "", source.n, 2);
    strbuf_add(h->out, ";\n");
    strbuf_free(&source);
}

static uint32_t out_bytes(const PlanKernel *k, uint32_t i)
{
    if (k->kind == PLAN_ARRAY)
        return emit_element_bytes(k->fn->vars.at[k->stmt->outs[0]].type);
    return emit_bytes(k->values[i]);
}

/* Of an element of each column that the body reads. */
static uint32_t in_bytes(const PlanKernel *k)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < k->words.n; i++) {
        const PlanWord *w = &k->words.at[i];
        if (w->kind == WORD_COLUMN)
            bytes += emit_bytes(k->fn->vars.at[w->var].type);
        if (w->kind == WORD_ELEMS || w->kind == WORD_ADDRESS)
            bytes += emit_element_bytes(k->fn->vars.at[w->var].type);
    }
    return bytes;
}

static void emit_kernel_row(HostEmitter *h, const PlanKernel *k)
{
    strbuf_printf(h->out, "    {%s, \"%s\", ", runtime_kind(k->kind), k->name);
    emit_shown(h, k->file, strlen(k->file));
    strbuf_printf(h->out, ", %u, \"%s\", %u, source_%u, %u, %u, {", k->line, k->function, in_bytes(k), k->index,
                  k->words.n, k->nouts);
    for (uint32_t i = 0; i < k->nouts; i++)
        strbuf_printf(h->out, "%s%u", i ? ", " : "", out_bytes(k, i));
    strbuf_printf(h->out, "%s}, %u, %u},\n", k->nouts > 0 ? "" : "0", k->val_bytes, emit_kernel_cost(k));
}

static void emit_kernels(HostEmitter *h)
{
    const Plan *plan = h->plan;
    if (plan->kernels.n == 0)
        return;
    for (uint32_t i = 0; i < plan->kernels.n; i++)
        emit_source(h, plan->kernels.at[i]);
    strbuf_add(h->out, "\nstatic const DpKernel kernels[] = {\n");
    for (uint32_t i = 0; i < plan->kernels.n; i++)
        emit_kernel_row(h, plan->kernels.at[i]);
    strbuf_add(h->out, "};\n");
}

/* ---- sites ---- */

enum { MOST_QUOTED = 1000 };

static void emit_site(HostEmitter *h, const char *kind, const char *text, Span span)
{
    Session *session = h->program->core->session;
    LineCol at = source_linecol(session, span.file, span.start);
    uint32_t n, width = span.end > span.start ? span.end - span.start : 1;
    const char *line = source_line(session, span.file, at.line, &n);
    uint32_t rest = at.col <= n ? n - (at.col - 1) : 1; /* what spans lines is underlined to the first one's end */
    strbuf_printf(h->out, "    {%s, ", kind);
    if (text)
        add_string(h, text);
    else
        strbuf_add(h->out, "NULL");
    strbuf_add(h->out, ", ");
    emit_shown(h, session->files.at[span.file]->path, strlen(session->files.at[span.file]->path));
    strbuf_printf(h->out, ", %u, %u, ", at.line, at.col);
    if (n <= MOST_QUOTED)
        emit_shown(h, line, n);
    else
        strbuf_add(h->out, "NULL"); /* no line for people: the place is enough */
    strbuf_printf(h->out, ", %u},\n", width < rest ? width : rest);
}

static uint32_t count_sites(const HostEmitter *h) { return h->program->core->sites.n + h->places.n; }

static void emit_sites(HostEmitter *h)
{
    const CoreProgram *core = h->program->core;
    if (count_sites(h) == 0)
        return;
    strbuf_add(h->out, "\nstatic const DpSite sites[] = {\n");
    for (uint32_t i = 0; i < core->sites.n; i++) {
        char kind[16];
        snprintf(kind, sizeof kind, "%d", (int)core->sites.at[i].kind);
        emit_site(h, kind, core->sites.at[i].text, core->sites.at[i].span);
    }
    for (uint32_t i = 0; i < h->places.n; i++)
        emit_site(h, "DP_SITE_PLACE", NULL, h->places.at[i]);
    strbuf_add(h->out, "};\n");
}

/* ---- entries ---- */

static void emit_run_results(HostEmitter *h, const FlatFn *fn, bool declare)
{
    for (uint32_t i = 0; i < fn->body->nresults; i++) {
        CoreType t = fn->vars.at[fn->body->results[i]].type;
        if (declare && t.rank > 0)
            strbuf_printf(h->out, "    DpArr r%u = {0};\n", i);
        else if (declare)
            strbuf_printf(h->out, "    %s r%u = 0;\n", emit_type_name(t.scalar), i);
        else if (t.rank > 0)
            strbuf_printf(h->out, "    results[%u].arr = r%u;\n", i, i);
        else
            strbuf_printf(h->out, "    results[%u].bits = dp_to_bits_%s(r%u);\n", i, scalar_name(t.scalar), i);
    }
}

/* From the runtime's leaves to the function's parameters and back. */
static void emit_run(HostEmitter *h, uint32_t e)
{
    const FlatFn *fn = h->program->entries.at[e].fn;
    strbuf_printf(h->out, "\nstatic void run_%u(DpRt *rt, DpArg *args, DpArg *results)\n{\n", e);
    emit_run_results(h, fn, true);
    strbuf_add(h->out, "    ");
    host_fn_name(h, fn);
    strbuf_add(h->out, "(rt");
    for (uint32_t i = 0; i < fn->nparams; i++) {
        CoreType t = fn->vars.at[fn->params[i]].type;
        if (t.rank > 0)
            strbuf_printf(h->out, ", args[%u].arr", i);
        else
            strbuf_printf(h->out, ", dp_from_bits_%s(args[%u].bits)", scalar_name(t.scalar), i);
    }
    for (uint32_t i = 0; i < fn->body->nresults; i++)
        strbuf_printf(h->out, ", &r%u", i);
    strbuf_add(h->out, ");\n");
    emit_run_results(h, fn, false);
    strbuf_add(h->out, "}\n");
}

static void emit_param_tables(HostEmitter *h, uint32_t e)
{
    const CoreEntry *entry = h->program->entries.at[e].entry;
    if (entry->nparams == 0)
        return;
    strbuf_printf(h->out, "static const char *const names_%u[] = {", e);
    for (uint32_t i = 0; i < entry->nparams; i++) {
        if (i)
            strbuf_add(h->out, ", ");
        add_string(h, entry->param_names[i]);
    }
    strbuf_printf(h->out, "};\nstatic const char *const types_%u[] = {", e);
    for (uint32_t i = 0; i < entry->nparams; i++) {
        if (i)
            strbuf_add(h->out, ", ");
        add_string(h, entry->param_texts[i]);
    }
    strbuf_add(h->out, "};\n");
}

static void emit_entry_row(HostEmitter *h, uint32_t e)
{
    const FlatEntry *entry = &h->program->entries.at[e];
    strbuf_add(h->out, "    {");
    add_string(h, entry->entry->name);
    strbuf_add(h->out, ", ");
    add_string(h, entry->entry->signature ? entry->entry->signature : entry->entry->name);
    if (entry->entry->nparams > 0)
        strbuf_printf(h->out, ", names_%u, types_%u, %u, ", e, e, entry->entry->nparams);
    else
        strbuf_add(h->out, ", NULL, NULL, 0, ");
    add_string(h, entry->entry->result_text);
    strbuf_printf(h->out, ", %u, %u, run_%u},\n", entry->fn->nparams, entry->fn->body->nresults, e);
}

static void emit_entries(HostEmitter *h)
{
    uint32_t n = h->program->entries.n;
    for (uint32_t e = 0; e < n; e++) {
        emit_run(h, e);
        emit_param_tables(h, e);
    }
    if (n == 0)
        return;
    strbuf_add(h->out, "\nstatic const DpEntry entries[] = {\n");
    for (uint32_t e = 0; e < n; e++)
        emit_entry_row(h, e);
    strbuf_add(h->out, "};\n");
}

/* ---- all ---- */

static void emit_table_ref(HostEmitter *h, const char *name, uint32_t n)
{
    strbuf_printf(h->out, ", %s, %u", n > 0 ? name : "NULL", n);
}

void host_tables(HostEmitter *h, const char *dp_path)
{
    emit_kernels(h);
    emit_sites(h);
    emit_entries(h);
    strbuf_add(h->out, "\nstatic const DpProgram program = {DP_RT_VERSION, ");
    add_string(h, dp_path);
    emit_table_ref(h, "kernels", h->plan->kernels.n);
    emit_table_ref(h, "sites", count_sites(h));
    emit_table_ref(h, "entries", h->program->entries.n);
    strbuf_add(h->out, "};\n\nint main(int argc, char **argv) { return dp_main(argc, argv, &program); }\n");
}
