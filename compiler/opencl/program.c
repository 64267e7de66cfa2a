#include "opencl/program.h"

#include "opencl/emit_internal.h"
#include "opencl/emit_kernel.h"
#include "opencl/emit_vector.h"
#include "opencl/same_kernels.h"
#include "plan/emit_text.h"

#include <string.h>

/* ---- texts ---- */

static const char *keep(Arena *arena, StrBuf *text)
{
    const char *kept = arena_strndup(arena, text->text ? text->text : "", text->n);
    strbuf_free(text);
    return kept;
}

/* ---- kernels ---- */

static DpKernelKind runtime_kind(PlanKernelKind kind)
{
    static const DpKernelKind kinds[] = {DP_K_MAP,  DP_K_MAP,     DP_K_PACK, DP_K_REDUCE,
                                         DP_K_SCAN, DP_K_SCATTER, DP_K_HIST};
    return kinds[kind];
}

static uint32_t out_bytes(const PlanKernel *k, uint32_t i)
{
    if (k->kind == PLAN_ARRAY)
        return emit_element_bytes(k->fn->vars.at[k->stmt->outs[0]].type);
    if (k->kind == PLAN_PACK) /* positions and offsets of each context, then the columns */
        return i < 2 * k->stmt->pack.nways ? (i % 2 ? 8 : 4) : emit_bytes(k->values[i - k->stmt->pack.nways]);
    return emit_bytes(k->stored[i]);
}

/* Of what is read of the array: rows are found without their views where all have one length. */
static uint32_t element_bytes(const PlanKernel *k, const PlanWord *w)
{
    const CoreType t = k->fn->vars.at[w->var].type;
    const bool rows = w->kind == WORD_ADDRESS && t.rank > 1 && plan_row_word(k, w->var, 0) != UINT32_MAX;
    return rows ? scalar_bytes(t.scalar) : emit_element_bytes(t);
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
            bytes += element_bytes(k, w);
    }
    return bytes;
}

/* Of the columns that a reduction stores beside. */
static uint32_t kept_bytes(const PlanKernel *k)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < flat_kept(k->stmt); i++)
        bytes += emit_bytes(k->fn->vars.at[plan_kept(k, i)].type);
    return bytes;
}

/* Those of them that are found by the segment, not by the instance. */
static uint32_t segment_bytes(const PlanKernel *k)
{
    const FlatInputs *inputs = &k->stmt->body.inputs;
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        if (in->kind != IN_COL && in->kind != IN_ELEM)
            continue;
        const CoreType type = k->fn->vars.at[in->var].type;
        const Place at = plan_place(k, emit_input_context(k, in));
        if (at.kind == PLACE_S || (at.kind == PLACE_PATH && at.from_segment))
            bytes += in->kind == IN_COL ? emit_bytes(type) : emit_element_bytes(type);
    }
    const uint32_t all = in_bytes(k);
    return bytes < all ? bytes : all;
}

static DpPlace program_place(const Plan *plan, const PlanPlace *place)
{
    if (!place->file)
        return (DpPlace){0};
    return (DpPlace){diag_visible(plan->arena, place->file), place->line, place->function};
}

/* The places that it shares its kernel with; up to MOST_FUSED of them. */
static void set_fused(DpKernel *made, Plan *plan, const PlanKernel *k)
{
    enum { MOST_FUSED = 32 };
    const PlanContents contents = plan_contents(plan, k);
    const uint32_t n = contents.fused.n < MOST_FUSED ? contents.fused.n : MOST_FUSED;
    DpPlace *places = arena_array(plan->arena, DpPlace, n + 1);
    for (uint32_t i = 0; i < n; i++)
        places[i] = program_place(plan, &contents.fused.at[i]);
    made->fused = places;
    made->nfused = n;
}

static DpKernel program_kernel(Plan *plan, const PlanKernel *k)
{
    StrBuf source = {0}, vector = {0};
    emit_kernel_source(&source, plan, k);
    const VectorFacts lanes = emit_kernel_vector(&vector, plan, k);
    DpKernel made = {.kind = runtime_kind(k->kind),
                     .name = k->name,
                     .place = program_place(plan, &k->place),
                     .library = program_place(plan, &k->library),
                     .in_bytes = in_bytes(k),
                     .segment_bytes = segment_bytes(k),
                     .kept_bytes = kept_bytes(k),
                     .source = keep(plan->arena, &source),
                     .vector = vector.n ? keep(plan->arena, &vector) : NULL,
                     .lanes = (uint8_t)lanes.lanes,
                     .spills = lanes.spills,
                     .nwords = k->words.n,
                     .nouts = k->nouts,
                     .val_size = k->val_size,
                     .val_bytes = k->val_bytes};
    const uint32_t statements = emit_kernel_facts(&made, plan, k);
    made.vector_pays = lanes.pays && (statements <= EMIT_MANY_IN_VECTORS || lanes.memory || lanes.inside);
    made.vector_inside = lanes.inside;
    set_fused(&made, plan, k);
    made.tile.lanes = (uint8_t)lanes.tile_lanes;
    made.tile.vector_pays = lanes.tile_pays;
    made.tile.near = lanes.tile_near;
    made.tile.batch_lanes = (uint8_t)lanes.batch_lanes;
    for (uint32_t i = 0; i < k->nouts && i < DP_MAX_OUTS; i++)
        made.out_bytes[i] = (uint8_t)out_bytes(k, i);
    return made;
}

static const DpKernel *program_kernels(Plan *plan)
{
    DpKernel *kernels = arena_array(plan->arena, DpKernel, plan->kernels.n + 1);
    for (uint32_t i = 0; i < plan->kernels.n; i++)
        kernels[i] = program_kernel(plan, plan->kernels.at[i]);
    same_kernels(plan, kernels, plan->kernels.n);
    return kernels;
}

/* ---- sites ---- */

static DpSite program_site(const Plan *plan, uint8_t kind, const char *text, Span span)
{
    Session *session = plan->program->core->session;
    const LineCol at = source_linecol(session, span.file, span.start);
    return (DpSite){kind,    text,   diag_visible(plan->arena, session->files.at[span.file]->path),
                    at.line, at.col, diag_quote(plan->arena, session, span)};
}

static const DpSite *program_sites(const Plan *plan)
{
    const CoreProgram *core = plan->program->core;
    DpSite *sites = arena_array(plan->arena, DpSite, core->sites.n + plan->places.n + 1);
    for (uint32_t i = 0; i < core->sites.n; i++) {
        const CoreSite *site = &core->sites.at[i];
        sites[i] = program_site(plan, (uint8_t)site->kind, site->text, site->span);
    }
    for (uint32_t i = 0; i < plan->places.n; i++)
        sites[core->sites.n + i] = program_site(plan, DP_SITE_PLACE, NULL, plan->places.at[i]);
    return sites;
}

/* ---- entries ---- */

static void run_entry(DpRt *rt, const DpEntry *entry, DpArg *args, DpArg *results)
{
    plan_run(entry->plan, rt, args, results);
}

static const DpEntry *program_entries(const Plan *plan)
{
    const FlatProgram *p = plan->program;
    DpEntry *entries = arena_array(plan->arena, DpEntry, p->entries.n + 1);
    for (uint32_t i = 0; i < p->entries.n; i++) {
        const CoreEntry *e = p->entries.at[i].entry;
        const PlanFn *fn = plan->fns.at[p->entries.at[i].fn->index];
        entries[i] = (DpEntry){.name = e->name,
                               .signature = e->signature ? e->signature : e->name,
                               .param_names = e->param_names,
                               .param_types = e->param_texts,
                               .nparams = e->nparams,
                               .result_type = e->result_text,
                               .nargs = fn->nparams,
                               .nresults = fn->nresults,
                               .run = run_entry,
                               .plan = fn};
    }
    return entries;
}

const DpProgram *opencl_program(Plan *plan, const char *dp_path)
{
    DpProgram *made = arena_new(plan->arena, DpProgram);
    *made = (DpProgram){.version = DP_RT_VERSION,
                        .file = dp_path,
                        .kernels = program_kernels(plan),
                        .nkernels = plan->kernels.n,
                        .sites = program_sites(plan),
                        .nsites = plan->program->core->sites.n + plan->places.n,
                        .entries = program_entries(plan),
                        .nentries = plan->program->entries.n};
    return made;
}
