/* What the OpenCL back end makes of flat programs by hand (flat_builder.h), compiled: the C program, and
 * every kernel in every shape and in several variants (where clang is installed). */
#ifndef DPC_TEST_EMIT_PROGRAMS_H
#define DPC_TEST_EMIT_PROGRAMS_H

#include "flat_builder.h"

#include "opencl/emit_kernel.h"
#include "opencl/host_c.h"
#include "support/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- flat programs by hand ---- */

static const CoreType T_F32 = {SC_F32, 0}, T_F32S = {SC_F32, 1}, T_F32SS = {SC_F32, 2};

/* A program whose file, lines and variables have names that would end texts and comments of C. */
static inline F emit_open(void)
{
    static const char text[] = "entry main (xs: [f32]) : f32 =\n  xs /* not the end */ ? \"x\"\n";
    F f = f_open();
    source_add_text(f.b.session, "dir\\odd \"name\".dp", text, sizeof text - 1, false);
    f.span = span_make(0, 33, 35);
    f.hint = "it's";
    return f;
}

static inline void emit_entry(F *f)
{
    Arena *a = f->p->arena;
    CoreEntry *entry = arena_new(a, CoreEntry);
    entry->name = "main";
    entry->result_type = type_scalar(a, SC_F32);
    entry->result_text = "f32";
    entry->signature = "main";
    vec_push(a, &f->p->entries, ((FlatEntry){entry, f->p->fns.at[0]}));
}

/* ---- compiling what was emitted ---- */

static char directory[] = "/tmp/dpc-test-emit-XXXXXX";

static inline int open_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static inline int close_directory(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static inline void write_file(const char *name, const StrBuf *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text->text, 1, text->n, out), text->n);
    assert_int_equal(fclose(out), 0);
}

/* Runs a command in which %s is the directory. */
static inline bool run(const char *format)
{
    char command[1024];
    snprintf(command, sizeof command, format, directory, directory);
    return system(command) == 0;
}

static inline void compile_host(const StrBuf *text)
{
    write_file("host.c", text);
    if (!run("${CC:-cc} -std=c11 -fsyntax-only -Wall -Wextra -Werror -I runtime/include %s/host.c"))
        fail_msg("the host program does not compile:\n%s", text->text);
}

static inline void add_template(StrBuf *out, const char *name)
{
    const EmbeddedFile *file = embedded_find(name);
    assert_non_null(file);
    strbuf_printf(out, "\n#line 1 \"%s\"\n", name);
    strbuf_add(out, file->text);
}

static inline void add_kernel_templates(StrBuf *out, PlanKernelKind kind)
{
    static const char *const names[] = {"map", "map", "pack", "reduce", "scan", "scatter", "histogram"};
    static const PlanKernelKind kinds[] = {PLAN_MAP,  PLAN_ARRAY,   PLAN_PACK, PLAN_REDUCE,
                                           PLAN_SCAN, PLAN_SCATTER, PLAN_HIST};
    if (kind == PLAN_REDUCE || kind == PLAN_SCAN)
        add_template(out, "kernels/carry.cl");
    if (kind == PLAN_SCAN)
        add_template(out, "kernels/scan_run.cl");
    if (kind == PLAN_SCATTER || kind == PLAN_HIST)
        add_template(out, "kernels/combine.cl");
    char name[64];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == kind) {
            snprintf(name, sizeof name, "kernels/%s.cl", names[i]);
            add_template(out, name);
        }
}

/* What the runtime is told says the same as the text. */
static inline void check_facts(const Plan *plan, const PlanKernel *k, const char *text)
{
    DpKernel facts = {0};
    emit_kernel_facts(&facts, plan, k);
    assert_int_equal(strstr(text, "#define DP_USES_SEG 0") != NULL, facts.segment_free == DP_SEGMENT_NEVER);
    assert_int_equal(strstr(text, "#define DP_USES_SEG 1") != NULL, facts.segment_free == 0);
    assert_int_equal(strstr(text, "#define DP_HIST_BYTES 4") != NULL, facts.swap_bytes == 4);
    assert_int_equal(strstr(text, "#define DP_HIST_BYTES 8") != NULL, facts.swap_bytes == 8);
    assert_true(facts.cost <= 120 || facts.long_body);
}

static inline void add_holes(StrBuf *text, const Plan *plan, const PlanKernel *k)
{
    strbuf_add(text, "#include \"dp_size.h\"\n#include \"dp_scalar.h\"\n");
    add_template(text, "kernels/common.cl");
    add_template(text, "kernels/segments.cl");
    emit_kernel_source(text, plan, k);
    if (k->kind == PLAN_REDUCE || k->kind == PLAN_SCAN || k->kind == PLAN_HIST)
        strbuf_printf(text, "typedef char dp_is_of_this_size[sizeof(dp_val) == %u ? 1 : -1];\n", k->val_size);
}

static inline bool run_clang(const PlanKernel *k, const StrBuf *text, const char *option, const char *then)
{
    char command[640];
    write_file("k.cl", text);
    snprintf(command, sizeof command,
             "clang -x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header "
             "-Werror -I runtime/include -DDP_KERNEL=__kernel -DDP_WG=128 -DDP_LANES=0 -DDP_AT_ONCE=4 "
             "-DDP_VAL_BYTES=%u %s %%s/k.cl %s",
             k->val_bytes, option, then);
    return run(command);
}

static inline void compile_text(const PlanKernel *k, const StrBuf *text, const char *const *options, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!run_clang(k, text, options[i], "-fsyntax-only"))
            fail_msg("kernel %s does not compile with %s:\n%s", k->name, options[i], text->text);
}

static inline void compile_kernel(const Plan *plan, const PlanKernel *k)
{
    static const char *const options[] = {
        "-DDP_WAY=0 -DDP_CPU=1 -DDP_SEGMENTED=0 -DDP_VARIANT=0",
        "-DDP_WAY=0 -DDP_CPU=1 -DDP_SEGMENTED=1 -DDP_VARIANT=5",
        "-DDP_WAY=0 -DDP_CPU=1 -DDP_SEGMENTED=1 -DDP_VARIANT=0 -DDP_ANY_VARIANT=1",
        "-DDP_WAY=0 -DDP_GPU=1 -DDP_BY_TURNS=1 -DDP_SEGMENTED=1 -DDP_VARIANT=0",
        "-DDP_WAY=0 -DDP_GPU=1 -DDP_BY_TURNS=1 -DDP_SEGMENTED=0 -DDP_VARIANT=1073741823"};
    StrBuf text = {0};
    add_holes(&text, plan, k);
    check_facts(plan, k, strstr(text.text, "#ifndef DP_WORDS"));
    add_kernel_templates(&text, k->kind);
    compile_text(k, &text, options, sizeof options / sizeof *options);
    strbuf_free(&text);
}

/* Does the map's kernel say that its pointers do not alias? */
static inline bool kernel_promises(const Plan *plan, const PlanKernel *k, const char *shape)
{
    char option[128];
    StrBuf text = {0};
    add_holes(&text, plan, k);
    add_kernel_templates(&text, k->kind);
    snprintf(option, sizeof option, "-DDP_SEGMENTED=1 -DDP_VARIANT=0 %s", shape);
    const bool promises = run_clang(k, &text, option, "-E -P | grep -q 'dp_map(.*restrict heap.*restrict out'");
    strbuf_free(&text);
    return promises;
}

/* A segmented reduction in which instances share something has holes for kernels/tile.cl, too. */
static inline void compile_tile(const Plan *plan, const PlanKernel *k)
{
#define TILE_OPTIONS " -DDP_WAY=5 -DDP_SEGMENTED=1 -DDP_VARIANT=0 -DDP_TM=4 -DDP_TN=2 -DDP_BK=8 -DDP_UNROLL= "
    static const char *const options[] = {"-DDP_CPU=1 -DDP_PIECES=1" TILE_OPTIONS,
                                          "-DDP_GPU=1 -DDP_PIECES=1" TILE_OPTIONS,
                                          "-DDP_GPU=1 -DDP_PIECES=4" TILE_OPTIONS};
    DpKernel facts = {0};
    StrBuf text = {0};
    emit_kernel_facts(&facts, plan, k);
    add_holes(&text, plan, k);
    assert_int_equal(strstr(text.text, "#define DP_SHAPE") != NULL, facts.tile.shape != 0);
    if (facts.tile.shape) {
        add_template(&text, "kernels/carry.cl");
        add_template(&text, "kernels/tile.cl");
        compile_text(k, &text, options, sizeof options / sizeof *options);
    }
    strbuf_free(&text);
}

static inline bool has_clang(void) { return system("clang --version > /dev/null 2>&1") == 0; }

/* The program's plan, which is in order. */
static inline Plan *plan_of(F *f)
{
    StrBuf why = {0};
    if (!flat_check(f->p, &why))
        fail_msg("%s", why.text);
    Plan *plan = plan_lower(f->p);
    assert_non_null(plan);
    plan_batch_reads(plan);
    plan_lifetimes(plan);
    if (!plan_check(plan, &why))
        fail_msg("%s", why.text);
    strbuf_free(&why);
    return plan;
}

/* Everything that can be made of the program; returns the kernels' text. */
static inline StrBuf compile_all(F *f)
{
    StrBuf host = {0}, plan_text = {0}, kernels = {0};
    Plan *plan = plan_of(f);
    emit_host_c(&host, plan, "odd */ name.dp", (DpTune){0}, true);
    compile_host(&host);
    plan_print(&plan_text, plan);
    assert_non_null(plan_text.text);
    emit_kernels_text(&kernels, plan);
    for (uint32_t i = 0; i < plan->kernels.n && has_clang(); i++) {
        compile_kernel(plan, plan->kernels.at[i]);
        compile_tile(plan, plan->kernels.at[i]);
    }
    strbuf_free(&host);
    strbuf_free(&plan_text);
    return kernels;
}

static inline void assert_has(const StrBuf *text, const char *part)
{
    if (!strstr(text->text, part))
        fail_msg("not found: %s\nin:\n%s", part, text->text);
}

static inline void emit_close(F *f, StrBuf *text)
{
    strbuf_free(text);
    f_close(f);
}

#endif
