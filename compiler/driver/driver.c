#include "driver/driver.h"

#include "core/passes.h"
#include "flat/flat_eval.h"
#include "opencl/emit_kernel.h"
#include "opencl/host_c.h"
#include "trace/trace.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the passes, as functions of the compilation; false after an error ---- */

static bool run_parse(Compilation *c)
{
    const char *why = "unknown error";
    if (c->parts) {
        load_program_parts(c->session, c->parts, c->nparts, &c->ids, &c->modules);
        return true;
    }
    if (c->text) {
        load_program_text(c->session, c->path, c->text, c->text_bytes, &c->ids, &c->modules);
        return true;
    }
    if (load_program(c->session, c->path, &c->ids, &c->modules, &why))
        return true;
    report_error(c->session, "cannot read %s: %s", c->path, why);
    return false;
}

static bool run_types(Compilation *c)
{
    c->checked = check_program(c->session, c->modules.list.at, c->modules.list.n, &c->ids);
    return c->checked != NULL;
}

static bool run_elaborate(Compilation *c)
{
    c->core = elaborate(c->session, c->checked);
    return c->core != NULL;
}

static bool run_drop_checks(Compilation *c)
{
    if (c->unchecked)
        core_drop_checks(c->core);
    return true;
}

static bool run_balance_dispatch(Compilation *c) { return core_balance_dispatch(c->core), true; }
static bool run_simplify(Compilation *c) { return core_simplify(c->core), true; }
static bool run_inline(Compilation *c) { return core_inline(c->core), true; }
static bool run_merge_recursion(Compilation *c) { return core_merge_recursion(c->core), true; }
static bool run_accumulators(Compilation *c) { return core_accumulators(c->core), true; }
static bool run_stack_recursion(Compilation *c) { return core_stack_recursion(c->core), true; }
static bool run_linear_loops(Compilation *c) { return core_linear_loops(c->core), true; }
static bool run_tail_loops(Compilation *c) { return core_tail_loops(c->core), true; }
static bool run_regular_versions(Compilation *c) { return c->lowered |= core_regular_versions(c->core), true; }
static bool run_column_operators(Compilation *c) { return !core_column_operators(c->core) || run_simplify(c); }
static bool run_hoist_checks(Compilation *c) { return c->hoisted = core_hoist_checks(c->core), true; }
static bool run_simplify_hoisted(Compilation *c) { return !c->hoisted || run_simplify(c); }
static bool run_hoist_operations(Compilation *c) { return core_hoist_operations(c->core, false), true; }
static bool run_hoist_fused(Compilation *c) { return core_hoist_operations(c->core, true), true; }
static bool run_open_branches(Compilation *c) { return core_open_branches(c->core), true; }
static bool run_open_diagonals(Compilation *c) { return c->lowered |= core_open_diagonals(c->core), true; }
static bool run_peel_appends(Compilation *c) { return core_peel_appends(c->core), true; }
static bool run_fuse(Compilation *c) { return core_fuse(c->core), true; }

static bool run_merge_branches(Compilation *c) { return c->lowered |= core_merge_branches(c->core), true; }
static bool simplify_changed(Compilation *c, bool changed)
{
    c->lowered |= changed;
    return !changed || run_simplify(c);
}

static bool run_loops_inside(Compilation *c) { return simplify_changed(c, core_loops_inside(c->core)); }
static bool run_own_places(Compilation *c) { return simplify_changed(c, core_own_places(c->core)); }
static bool run_few_elements(Compilation *c) { return simplify_changed(c, core_few_elements(c->core)); }

static bool run_group_bins(Compilation *c) { return c->lowered |= core_group_bins(c->core), true; }
static bool run_lower_rows(Compilation *c) { return c->lowered |= core_lower_rows(c->core), true; }
static bool run_lower_operators(Compilation *c) { return c->lowered |= core_lower_operators(c->core), true; }
static bool run_flat_tables(Compilation *c) { return c->lowered |= core_flat_tables(c->core), true; }
static bool run_merge_lowered(Compilation *c) { return !c->lowered || run_merge_recursion(c); }
static bool run_fuse_lowered(Compilation *c) { return !c->lowered || run_fuse(c); }
static bool run_simplify_lowered(Compilation *c) { return !c->lowered || run_simplify(c); }
static bool run_mask_updates(Compilation *c) { return core_mask_updates(c->core), true; }
static bool run_scatter_room(Compilation *c) { return core_scatter_room(c->core), true; }
static bool run_look_ahead(Compilation *c) { return core_look_ahead(c->core), true; }
static bool run_long_conditions(Compilation *c) { return core_long_conditions(c->core), true; }
static bool run_lifted_copies(Compilation *c) { return core_lifted_copies(c->core), true; }
static bool run_small_sorts(Compilation *c)
{
    if (core_small_sorts(c->core))
        core_simplify(c->core);
    return true;
}
static bool run_fresh_bins(Compilation *c) { return core_fresh_bins(c->core), true; }
static bool run_row_buffers(Compilation *c)
{
    if (core_row_buffers(c->core, false))
        core_simplify(c->core);
    return true;
}
static bool run_replaced_rows(Compilation *c)
{
    const bool *found = core_row_buffers(c->core, true);
    c->lowered |= found != NULL;
    if (found)
        core_simplify(c->core);
    if (found && core_growing_lists(c->core, found))
        core_simplify(c->core);
    return true;
}
static bool run_growing_lists(Compilation *c)
{
    if (core_growing_lists(c->core, NULL))
        core_simplify(c->core);
    return true;
}
static bool run_rows_apart(Compilation *c) { return core_rows_apart(c->core), true; }
static bool run_sort_ends(Compilation *c) { return core_sort_ends(c->core), true; }
static bool run_values_apart(Compilation *c) { return core_values_apart(c->core), true; }
static bool run_sink_loads(Compilation *c) { return core_sink_loads(c->core), true; }
static bool run_sink(Compilation *c) { return core_sink(c->core), true; }
static bool run_choose_loops(Compilation *c)
{
    if (!c->flat_nests)
        core_choose_loops(c->core);
    return true;
}

static bool run_choose_lanes(Compilation *c)
{
    if (!c->flat_nests)
        core_choose_lanes(c->core);
    return true;
}

static bool run_lane_loops(Compilation *c) { return core_lane_loops(c->core), true; }
static bool run_long_loops(Compilation *c) { return core_long_loops(c->core), true; }
static bool run_lower_loops(Compilation *c) { return core_lower_loops(c->core), true; }

static bool run_flatten(Compilation *c)
{
    c->flat = flatten(c->core);
    return c->flat != NULL;
}

static bool run_turn_scans(Compilation *c) { return flat_turn_scans(c->flat), true; }
static bool run_dead_columns(Compilation *c) { return flat_drop_dead_columns(c->flat), true; }
static bool run_join_kernels(Compilation *c) { return flat_join_kernels(c->flat), true; }
static bool run_join_scans(Compilation *c) { return flat_join_scans(c->flat), true; }
static bool run_keep_columns(Compilation *c) { return flat_keep_columns(c->flat), true; }
static bool run_liveness(Compilation *c) { return flat_liveness(c->flat), true; }
static bool run_write_in_place(Compilation *c) { return flat_write_in_place(c->flat), true; }
static bool run_demand(Compilation *c) { return flat_demand(c->flat), true; }

static bool run_plan(Compilation *c)
{
    c->plan = plan_lower(c->flat);
    return c->plan != NULL;
}

static bool run_device_checks(Compilation *c) { return plan_check_on_device(c->plan), true; }
static bool run_pack_views(Compilation *c) { return plan_pack_views(c->plan), true; }
static bool run_batch_reads(Compilation *c) { return plan_batch_reads(c->plan), true; }
static bool run_lifetimes(Compilation *c) { return plan_lifetimes(c->plan), true; }

/* ---- checks and prints ---- */

static bool check_core(const Compilation *c, StrBuf *why) { return core_check(c->core, why); }
static bool check_flat(const Compilation *c, StrBuf *why) { return flat_check(c->flat, why); }
static bool check_plan(const Compilation *c, StrBuf *why) { return plan_check(c->plan, why); }

static void print_ast(StrBuf *out, const Compilation *c) { ast_print(out, c->modules.list.at[1]); }
static void print_types(StrBuf *out, const Compilation *c) { checked_print(out, c->checked); }
static void print_core(StrBuf *out, const Compilation *c) { core_print(out, c->core); }
static void print_flat(StrBuf *out, const Compilation *c) { flat_print(out, c->flat); }
static void print_plan(StrBuf *out, const Compilation *c) { plan_print(out, c->plan); }
static void print_opencl(StrBuf *out, const Compilation *c) { emit_kernels_text(out, c->plan); }
static void print_host(StrBuf *out, const Compilation *c) { emit_host_c(out, c->plan, c->path, c->tune, true); }

/* ---- the table ---- */

typedef struct Pass {
    const char *name;
    Stage stage;                                      /* reached after it, or STAGE_NONE */
    bool (*run)(Compilation *c);                      /* NULL: the stage only has a text */
    bool (*check)(const Compilation *c, StrBuf *why); /* or NULL */
    void (*print)(StrBuf *out, const Compilation *c); /* of a stage */
} Pass;

static const Pass passes[] = {
    {"parse", STAGE_AST, run_parse, NULL, print_ast},
    {"types", STAGE_TYPES, run_types, NULL, print_types},
    {"elaborate", STAGE_ELABORATED, run_elaborate, check_core, print_core},
    {"drop checks, for measurements", STAGE_NONE, run_drop_checks, check_core, NULL},
    {"balance dispatch", STAGE_NONE, run_balance_dispatch, check_core, NULL},
    {"simplify", STAGE_NONE, run_simplify, check_core, NULL},
    {"inline", STAGE_NONE, run_inline, check_core, NULL},
    {"merge recursion", STAGE_NONE, run_merge_recursion, check_core, NULL},
    {"accumulators", STAGE_NONE, run_accumulators, check_core, NULL},
    {"linear loops", STAGE_NONE, run_linear_loops, check_core, NULL},
    {"tail loops", STAGE_NONE, run_tail_loops, check_core, NULL},
    {"inline, again", STAGE_NONE, run_inline, check_core, NULL},
    {"simplify, again", STAGE_CORE, run_simplify, check_core, print_core},
    {"arrays through recursion", STAGE_NONE, run_stack_recursion, check_core, NULL},
    {"inline, of what was recursion", STAGE_NONE, run_inline, check_core, NULL},
    {"lifted copies", STAGE_NONE, run_lifted_copies, check_core, NULL},
    {"small sorts", STAGE_NONE, run_small_sorts, check_core, NULL},
    {"fresh bins", STAGE_NONE, run_fresh_bins, check_core, NULL},
    {"row buffers", STAGE_NONE, run_row_buffers, check_core, NULL},
    {"growing lists", STAGE_NONE, run_growing_lists, check_core, NULL},
    {"column operators", STAGE_NONE, run_column_operators, check_core, NULL},
    {"hoist operations", STAGE_NONE, run_hoist_operations, check_core, NULL},
    {"open branches", STAGE_NONE, run_open_branches, check_core, NULL},
    {"peel appends", STAGE_NONE, run_peel_appends, check_core, NULL},
    {"fuse", STAGE_NONE, run_fuse, check_core, NULL},
    {"regular versions", STAGE_NONE, run_regular_versions, check_core, NULL},
    {"simplify, after fusion", STAGE_NONE, run_simplify, check_core, NULL},
    {"small sorts, after fusion", STAGE_NONE, run_small_sorts, check_core, NULL},
    {"hoist operations, after regular versions", STAGE_NONE, run_hoist_fused, check_core, NULL},
    {"hoist checks", STAGE_NONE, run_hoist_checks, check_core, NULL},
    {"simplify, after checks", STAGE_FUSED, run_simplify_hoisted, check_core, print_core},
    {"open diagonals", STAGE_NONE, run_open_diagonals, check_core, NULL},
    {"merge branches", STAGE_NONE, run_merge_branches, check_core, NULL},
    {"loops inside of maps", STAGE_NONE, run_loops_inside, check_core, NULL},
    {"few elements", STAGE_NONE, run_few_elements, check_core, NULL},
    {"own places", STAGE_NONE, run_own_places, check_core, NULL},
    {"groups as bins", STAGE_NONE, run_group_bins, check_core, NULL},
    {"flat tables", STAGE_NONE, run_flat_tables, check_core, NULL},
    {"rows replaced", STAGE_NONE, run_replaced_rows, check_core, NULL},
    {"lower rows", STAGE_NONE, run_lower_rows, check_core, NULL},
    {"lower operators", STAGE_NONE, run_lower_operators, check_core, NULL},
    {"merge recursion, of what was lowered", STAGE_NONE, run_merge_lowered, check_core, NULL},
    {"fuse, what was lowered", STAGE_NONE, run_fuse_lowered, check_core, NULL},
    {"simplify, what was lowered", STAGE_NONE, run_simplify_lowered, check_core, NULL},
    {"mask updates", STAGE_NONE, run_mask_updates, check_core, NULL},
    {"room for scatters", STAGE_NONE, run_scatter_room, check_core, NULL},
    {"long conditions", STAGE_NONE, run_long_conditions, check_core, NULL},
    {"rows apart", STAGE_NONE, run_rows_apart, check_core, NULL},
    {"ends of sorts", STAGE_NONE, run_sort_ends, check_core, NULL},
    {"choose loops", STAGE_NONE, run_choose_loops, check_core, NULL},
    {"long loops", STAGE_NONE, run_long_loops, check_core, NULL},
    {"choose lanes", STAGE_NONE, run_choose_lanes, check_core, NULL},
    {"loops in lanes", STAGE_NONE, run_lane_loops, check_core, NULL},
    {"values apart", STAGE_NONE, run_values_apart, check_core, NULL},
    {"look ahead", STAGE_NONE, run_look_ahead, check_core, NULL},
    {"sink loads", STAGE_NONE, run_sink_loads, check_core, NULL},
    {"sink scalars", STAGE_NONE, run_sink, check_core, NULL},
    {"lower loops", STAGE_LOWERED, run_lower_loops, check_core, print_core},
    {"flatten", STAGE_NONE, run_flatten, check_flat, NULL},
    {"turn scans", STAGE_NONE, run_turn_scans, check_flat, NULL},
    {"dead columns", STAGE_NONE, run_dead_columns, check_flat, NULL},
    {"joined kernels", STAGE_NONE, run_join_kernels, check_flat, NULL},
    {"maps of scans", STAGE_NONE, run_join_scans, check_flat, NULL},
    {"kept columns", STAGE_NONE, run_keep_columns, check_flat, NULL},
    {"demand", STAGE_NONE, run_demand, NULL, NULL},
    {"liveness", STAGE_NONE, run_liveness, check_flat, NULL},
    {"maps in place", STAGE_FLAT, run_write_in_place, check_flat, print_flat},
    {"plan", STAGE_NONE, run_plan, NULL, NULL},
    {"checks on the device", STAGE_NONE, run_device_checks, NULL, NULL},
    {"views of packs", STAGE_NONE, run_pack_views, NULL, NULL},
    {"batch read-backs", STAGE_NONE, run_batch_reads, NULL, NULL},
    {"lifetimes", STAGE_PLAN, run_lifetimes, check_plan, print_plan},
    {"kernels", STAGE_OPENCL, NULL, NULL, print_opencl},
    {"host", STAGE_HOST, NULL, NULL, print_host},
};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

const char *stage_name(Stage s)
{
    static const char *const names[STAGE_COUNT] = {"",        "ast",  "types", "elaborated", "core", "fused",
                                                   "lowered", "flat", "plan",  "opencl",     "host"};
    return names[s];
}

Stage stage_find(const char *name)
{
    for (Stage s = STAGE_AST; s < STAGE_COUNT; s++)
        if (strcmp(name, stage_name(s)) == 0)
            return s;
    return STAGE_NONE;
}

/* ---- running ---- */

void set_messages(Session *s, MessageOptions messages)
{
    s->diag_json = messages.json;
    s->warnings = messages.warnings;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") != 0;
}

/* Debug builds always check; others with DPC_CHECK=1. */
static bool wants_checks(void)
{
#ifdef NDEBUG
    return is_set("DPC_CHECK");
#else
    return true;
#endif
}

bool use_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !(no_colour && *no_colour);
}

void report_diagnostics(Session *s) { diag_print(s, s->messages ? s->messages : stderr, !s->messages && use_colour()); }

void report_error(Session *s, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(s->arena, (size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, again);
    va_end(again);
    va_end(args);
    report_diagnostics(s);
    diag_error(s, SPAN_NONE, DIAG_NONE, "%s", text);
    report_diagnostics(s);
}

Compilation *compilation_create(const char *path)
{
    Session *s = session_create();
    Compilation *c = arena_new(s->arena, Compilation);
    c->session = s;
    c->path = path;
    c->check = wants_checks();
    c->unchecked = is_set("DPC_UNCHECKED");
    return c;
}

void compilation_destroy(Compilation *c)
{
    if (!c)
        return;
    if (c->flat && c->flat->arena != c->session->arena && (!c->core || c->flat->arena != c->core->arena))
        arena_destroy(c->flat->arena);
    if (c->core && c->core->arena != c->session->arena)
        arena_destroy(c->core->arena);
    session_destroy(c->session); /* and c with it */
}

static bool check_after(const Compilation *c, const Pass *pass)
{
    StrBuf why = {0};
    bool ok = !c->check || !pass->check || pass->check(c, &why);
    if (!ok)
        report_error(c->session, "internal compiler error: after the pass `%s` on %s: %s", pass->name, c->path,
                     why.text ? why.text : "");
    strbuf_free(&why);
    return ok;
}

static bool has_errors(const Session *s)
{
    return s->error_count > 0 || (s->warnings == WARNINGS_AS_ERRORS && s->warning_count > 0);
}

static bool run_pass(Compilation *c, const Pass *pass)
{
    if (!pass->run)
        return true;
    return pass->run(c) && !has_errors(c->session) && check_after(c, pass);
}

bool compile_seen(Compilation *c, Stage stage, PassSeen *seen, void *ctx)
{
    bool ok = true, done = c->next_pass > 0 && passes[c->next_pass - 1].stage >= stage;
    while (ok && !done && c->next_pass < PASS_COUNT) {
        const Pass *pass = &passes[c->next_pass++];
        ok = run_pass(c, pass);
        done = (ok && seen && !seen(ctx, pass->name)) || pass->stage == stage;
    }
    report_diagnostics(c->session);
    return ok;
}

bool compile_to(Compilation *c, Stage stage) { return compile_seen(c, stage, NULL, NULL); }

bool pass_exists(const char *name)
{
    bool exists = false;
    for (uint32_t i = 0; i < PASS_COUNT; i++)
        exists |= strcmp(passes[i].name, name) == 0;
    return exists;
}

void pass_names(StrBuf *out)
{
    for (uint32_t i = 0; i < PASS_COUNT; i++)
        strbuf_printf(out, "%s\n", passes[i].name);
}

Stage compilation_stage(const Compilation *c) { return c->next_pass ? passes[c->next_pass - 1].stage : STAGE_NONE; }

void compilation_print_now(StrBuf *out, const Compilation *c)
{
    if (c->plan)
        print_plan(out, c);
    else if (c->flat)
        print_flat(out, c);
    else if (c->core)
        print_core(out, c);
    else if (c->checked)
        print_types(out, c);
}

void compilation_print(StrBuf *out, const Compilation *c, Stage stage)
{
    for (uint32_t i = 0; i < PASS_COUNT; i++)
        if (passes[i].stage == stage && passes[i].print)
            passes[i].print(out, c);
}

/* ---- evaluation ---- */

const CoreEntry *compilation_entry(const Compilation *c, const char *name)
{
    for (uint32_t i = 0; i < c->core->entries.n; i++)
        if (strcmp(c->core->entries.at[i].name, name) == 0)
            return &c->core->entries.at[i];
    return NULL;
}

static const FlatFn *flat_entry(const FlatProgram *p, const CoreEntry *entry)
{
    for (uint32_t i = 0; i < p->entries.n; i++)
        if (p->entries.at[i].entry->name == entry->name)
            return p->entries.at[i].fn;
    return NULL;
}

static Stage stage_reached(const Compilation *c)
{
    uint32_t i = c->next_pass;
    while (i > 0 && passes[i - 1].stage == STAGE_NONE)
        i--;
    return i ? passes[i - 1].stage : STAGE_NONE;
}

bool compilation_eval(const Compilation *c, const CoreEntry *entry, Arena *arena, const CoreValue *args,
                      CoreValue *results, EvalError *error)
{
    if (c->limits.trace)
        trace_head(c->limits.trace, c->path, entry->name, stage_name(stage_reached(c)));
    if (!c->flat)
        return core_eval(c->core, entry->fn, arena, args, results, &c->limits, c->observer, error, NULL);
    return flat_eval(c->flat, flat_entry(c->flat, entry), arena, args, results, &c->limits, error, NULL);
}

void compilation_error_text(StrBuf *out, const Compilation *c, const EvalError *error)
{
    if (error->site == CORE_NO_SITE)
        strbuf_add(out, error->text);
    else
        core_error_text(out, &c->core->sites.at[error->site], error->values);
}

void compilation_report(Compilation *c, const EvalError *error)
{
    StrBuf text = {0};
    compilation_error_text(&text, c, error);
    Span at = error->site == CORE_NO_SITE ? error->span : c->core->sites.at[error->site].span;
    if (at.end == 0)
        at = SPAN_NONE;
    diag_error(c->session, at, DIAG_NONE, "%s", text.text);
    report_diagnostics(c->session);
    strbuf_free(&text);
}
