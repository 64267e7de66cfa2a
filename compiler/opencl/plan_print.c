/* `dump --stage=plan`:
 *
 *     fn main
 *       c1 = nested root                                     line 2
 *       launch 0: main_0_reduce over c2                      line 2
 *         w0 elems v3_r in c2 (bit 0)   w1 views   w2 offsets c2 unless 0   w3 length v1_x   w4 address v1_x
 *         out v7_s : f32 in c1
 *         free v3_r c2
 *       update v9 v8 v1 in place v9                            line 3
 */
#include "opencl/emit_plan.h"
#include "opencl/emit_text.h"

typedef struct PlanPrinter {
    StrBuf *out;
    const Plan *plan;
    const FlatFn *fn;
    int depth;
    uint32_t next_kernel;
} PlanPrinter;

static void print_var(PlanPrinter *pr, FlatVar v)
{
    if (v == FLAT_ROOT)
        strbuf_add(pr->out, "root");
    else
        emit_name(pr->out, pr->fn->vars.at[v].kind == FLAT_CTX ? "c" : "v", v, pr->fn->vars.at[v].hint);
}

static void print_type(PlanPrinter *pr, CoreType t)
{
    for (uint32_t i = 0; i < t.rank; i++)
        strbuf_add(pr->out, "[");
    strbuf_add(pr->out, scalar_name(t.scalar));
    for (uint32_t i = 0; i < t.rank; i++)
        strbuf_add(pr->out, "]");
}

static void print_typed(PlanPrinter *pr, FlatVar v)
{
    const FlatVarInfo *info = &pr->fn->vars.at[v];
    print_var(pr, v);
    if (info->kind == FLAT_CTX)
        return;
    strbuf_add(pr->out, " : ");
    print_type(pr, info->type);
    if (info->kind == FLAT_HOST)
        return;
    strbuf_add(pr->out, " in ");
    print_var(pr, info->ctx);
}

/* ---- words ---- */

static void print_word_target(PlanPrinter *pr, const PlanWord *w)
{
    static const char *const names[] = {"scalar", "length", "address", "column", "elems", "views", "offsets", "path"};
    strbuf_printf(pr->out, "%s ", names[w->kind]);
    if (w->var != FLAT_NO_VAR)
        print_var(pr, w->var);
    if (w->kind == WORD_ELEMS || w->kind == WORD_VIEWS)
        strbuf_add(pr->out, " in ");
    if (w->kind == WORD_PATH) {
        print_var(pr, w->from);
        strbuf_add(pr->out, " to ");
    }
    if (w->to != FLAT_NO_VAR)
        print_var(pr, w->to);
}

static void print_word(PlanPrinter *pr, const PlanKernel *k, uint32_t i)
{
    const PlanWord *w = &k->words.at[i];
    strbuf_indent(pr->out, pr->depth);
    strbuf_printf(pr->out, "w%u ", i);
    print_word_target(pr, w);
    if (w->bit != PLAN_NO_BIT)
        strbuf_printf(pr->out, " (bit %u)", w->bit);
    bool conditional = !w->always && w->elems.n > 0;
    for (uint32_t j = 0; conditional && j < w->elems.n; j++)
        strbuf_printf(pr->out, "%s %u", j ? "" : " unless contiguous: bit", k->words.at[w->elems.at[j]].bit);
    strbuf_add(pr->out, "\n");
}

/* ---- statements ---- */

static void print_dead(PlanPrinter *pr, const FlatVar *dies, uint32_t n, const char *word)
{
    if (n == 0)
        return;
    strbuf_indent(pr->out, pr->depth);
    strbuf_add(pr->out, word);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(pr->out, " ");
        print_var(pr, dies[i]);
    }
    strbuf_add(pr->out, "\n");
}

static void print_out(void *ctx, FlatVar v)
{
    PlanPrinter *pr = ctx;
    strbuf_indent(pr->out, pr->depth);
    strbuf_add(pr->out, "out ");
    print_typed(pr, v);
    strbuf_add(pr->out, "\n");
}

static void print_read(void *ctx, FlatVar v)
{
    PlanPrinter *pr = ctx;
    strbuf_add(pr->out, " ");
    print_var(pr, v);
}

static uint32_t line_of(const PlanPrinter *pr, const FlatStmt *s)
{
    return source_linecol(pr->plan->program->core->session, s->span.file, s->span.start).line;
}

static void print_launch(PlanPrinter *pr, const PlanKernel *k)
{
    strbuf_indent(pr->out, pr->depth);
    strbuf_printf(pr->out, "launch %u: %s over ", k->index, k->name);
    print_var(pr, k->stmt->body.ctx);
    strbuf_printf(pr->out, " -- line %u, %u words, %u bits, values of %u bytes\n", k->line, k->words.n, k->nbits,
                  k->val_bytes);
    pr->depth++;
    for (uint32_t i = 0; i < k->words.n; i++)
        print_word(pr, k, i);
    pr->depth--;
}

/* What becomes of an array that is made anew with some elements changed: written to, where nobody else holds it, or
 * copied. */
static void print_changed(PlanPrinter *pr, const FlatStmt *s, FlatVar array)
{
    strbuf_add(pr->out, plan_in_place(s, array) ? " in place " : " copies ");
    print_var(pr, array);
}

static void print_dests(PlanPrinter *pr, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->scatter.n; i++) {
        strbuf_indent(pr->out, pr->depth + 1);
        strbuf_add(pr->out, "dest");
        print_changed(pr, s, s->scatter.dests[i]);
        strbuf_add(pr->out, "\n");
    }
}

static void print_kernels(PlanPrinter *pr, const FlatStmt *s)
{
    const PlanKernel *k = plan_first(pr->plan, s, &pr->next_kernel);
    for (uint32_t i = k->index; i < pr->plan->kernels.n && pr->plan->kernels.at[i]->stmt == s; i++)
        print_launch(pr, pr->plan->kernels.at[i]);
    if (s->kind == FLAT_S_SCATTER)
        print_dests(pr, s);
}

/* A nested context of segments of one length: a stride, no offsets. */
static bool is_regular(const PlanPrinter *pr, const FlatStmt *s)
{
    return s->kind == FLAT_S_NESTED && plan_up(pr->fn, s->outs[0]) != FLAT_ROOT &&
           pr->fn->vars.at[s->nested.source].kind == FLAT_HOST;
}

static void print_other(PlanPrinter *pr, const FlatStmt *s)
{
    strbuf_indent(pr->out, pr->depth);
    if (is_regular(pr, s))
        strbuf_add(pr->out, "regular ");
    strbuf_add(pr->out, flat_kind_name(s->kind));
    if (s->kind == FLAT_S_CALL)
        strbuf_printf(pr->out, " %s", s->call.fn->name);
    if (s->kind == FLAT_S_CALL_LIFTED)
        strbuf_printf(pr->out, " %s", s->call_lifted.fn->name);
    flat_stmt_reads(s, print_read, pr);
    if (s->kind == FLAT_S_UPDATE)
        print_changed(pr, s, s->update.array);
    strbuf_printf(pr->out, " -- line %u\n", line_of(pr, s));
}

static void print_block(void *ctx, FlatBlock *b);

static void print_stmt(PlanPrinter *pr, const FlatStmt *s)
{
    if (plan_has_kernel(s))
        print_kernels(pr, s);
    else
        print_other(pr, s);
    pr->depth++;
    flat_stmt_blocks(s, print_block, pr);
    flat_stmt_binds(s, print_out, pr);
    print_dead(pr, s->dies, s->ndies, "free");
    pr->depth--;
}

static void print_block(void *ctx, FlatBlock *b)
{
    PlanPrinter *pr = ctx;
    strbuf_indent(pr->out, pr->depth);
    strbuf_add(pr->out, "block\n");
    pr->depth++;
    print_dead(pr, b->dies, b->ndies, "free");
    for (uint32_t i = 0; i < b->stmts.n; i++)
        print_stmt(pr, b->stmts.at[i]);
    print_dead(pr, b->results, b->nresults, "->");
    pr->depth--;
}

void plan_print(StrBuf *out, const FlatProgram *p)
{
    PlanPrinter pr = {.out = out, .plan = plan_make(p)};
    for (uint32_t i = 0; i < p->fns.n; i++) {
        pr.fn = p->fns.at[i];
        strbuf_printf(out, "%sfn %s\n", i ? "\n" : "", pr.fn->name);
        pr.depth = 1;
        print_block(&pr, pr.fn->body);
    }
}
