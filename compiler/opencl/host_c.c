/* Functions, blocks, branches, loops and calls of the host program, and the file as a whole. */
#include "opencl/host_c_internal.h"

#include "plan/emit_text.h"

#include <string.h>

static void indent(HostPrinter *h) { strbuf_indent(h->out, 2 * h->depth); }

static void line(HostPrinter *h, const char *text)
{
    indent(h);
    strbuf_add(h->out, text);
    strbuf_add(h->out, "\n");
}

void host_fn_name(HostPrinter *h, const PlanFn *fn) { emit_name(h->out, "fn_", fn->index, fn->name); }

void host_type(HostPrinter *h, const PlanRegInfo *info)
{
    static const char *const names[] = {"",         "DpArr ",   "DpCol ",   "DpCtx *",
                                        "DpRefs *", "DpLimit ", "DpLevel ", "DpPending "};
    if (info->type == PLAN_SCALAR)
        strbuf_printf(h->out, "%s ", emit_type_name(info->core.scalar));
    else
        strbuf_add(h->out, names[info->type]);
}

/* ---- where instructions come from ---- */

enum { MOST_QUOTED = 200 }; /* bytes: a line that a program wrote may be long, and is quoted often */

/* The line of .dp that an instruction comes from, once for all of its instructions. */
static void print_place(HostPrinter *h, const PlanInstr *in)
{
    Session *session = h->plan->program->core->session;
    uint32_t number = plan_line(h->plan, in), n;
    if (number == 0 || (number == h->line && in->span.file == h->file))
        return;
    h->file = in->span.file;
    h->line = number;
    const char *text = source_line(session, in->span.file, number, &n);
    while (n > 0 && (*text == ' ' || *text == '\t'))
        text++, n--;
    if (n > MOST_QUOTED)
        n = MOST_QUOTED;
    indent(h);
    strbuf_printf(h->out, "/* %u: ", number);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_addn(h->out, &text[i], 1);
        if (text[i] == '*' || text[i] == '/')
            strbuf_add(h->out, i + 1 < n && (text[i + 1] == '/' || text[i + 1] == '*') ? " " : "");
    }
    strbuf_add(h->out, " */\n");
}

/* ---- blocks ---- */

/* Deeper blocks have no brackets: compilers limit how deep these nest. */
enum { MOST_NESTED = 60 };

static void print_block(HostPrinter *h, const PlanBlock *b);

static void print_if(HostPrinter *h, const PlanInstr *in)
{
    indent(h);
    strbuf_add(h->out, "if (");
    host_operand(h, &in->args[0]);
    strbuf_add(h->out, ") {\n");
    print_block(h, in->blocks[0]);
    if (in->blocks[1]->instrs.n > 0) {
        line(h, "} else {");
        print_block(h, in->blocks[1]);
    }
    line(h, "}");
}

static void print_loop(HostPrinter *h, const PlanInstr *in)
{
    line(h, "for (;;) {");
    print_block(h, in->blocks[0]);
    h->depth++;
    indent(h);
    strbuf_add(h->out, "if (!");
    host_operand(h, &in->args[0]);
    strbuf_add(h->out, ") break;\n");
    h->depth--;
    print_block(h, in->blocks[1]);
    line(h, "}");
}

/* "if (!s3) goto not_7;" */
static void print_jump(HostPrinter *h, const PlanOperand *unless, const char *label, uint32_t number)
{
    indent(h);
    if (unless) {
        strbuf_add(h->out, "if (!");
        host_operand(h, unless);
        strbuf_add(h->out, ") ");
    }
    strbuf_printf(h->out, "goto %s_%u;\n", label, number);
}

static void print_label(HostPrinter *h, const char *label, uint32_t number)
{
    indent(h);
    strbuf_printf(h->out, "%s_%u:;\n", label, number);
}

static void print_flat_control(HostPrinter *h, const PlanInstr *in)
{
    uint32_t number = h->labels++;
    bool loop = in->op == PLAN_OP_LOOP;
    if (loop) {
        print_label(h, "again", number);
        print_block(h, in->blocks[0]);
    }
    print_jump(h, &in->args[0], "not", number);
    print_block(h, in->blocks[loop ? 1 : 0]);
    print_jump(h, NULL, loop ? "again" : "end", number);
    print_label(h, "not", number);
    if (loop)
        return;
    print_block(h, in->blocks[1]);
    print_label(h, "end", number);
}

static void print_call(HostPrinter *h, const PlanInstr *in)
{
    indent(h);
    host_fn_name(h, in->fn);
    strbuf_add(h->out, "(rt");
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < in->args[k].list.n; i++) {
            strbuf_add(h->out, k ? ", &" : ", ");
            host_operand(h, &in->args[k].list.at[i]);
        }
    strbuf_add(h->out, ");\n");
}

static void print_instr(HostPrinter *h, const PlanInstr *in)
{
    print_place(h, in);
    if (in->op == PLAN_OP_CALL)
        print_call(h, in);
    else if (in->blocks[0] && h->depth > MOST_NESTED)
        print_flat_control(h, in);
    else if (in->op == PLAN_OP_IF)
        print_if(h, in);
    else if (in->op == PLAN_OP_LOOP)
        print_loop(h, in);
    else
        host_instr(h, in);
}

static void print_block(HostPrinter *h, const PlanBlock *b)
{
    int inner = h->depth > MOST_NESTED ? 0 : 1;
    h->depth += inner;
    for (uint32_t i = 0; i < b->regs.n; i++) {
        indent(h);
        host_type(h, &h->fn->regs.at[b->regs.at[i]]);
        plan_reg_name(h->out, h->fn, b->regs.at[i]);
        strbuf_add(h->out, ";\n");
    }
    for (uint32_t i = 0; i < b->instrs.n; i++)
        print_instr(h, b->instrs.at[i]);
    h->depth -= inner;
}

/* ---- functions ---- */

static void print_signature(HostPrinter *h, const PlanFn *fn)
{
    h->fn = fn;
    strbuf_add(h->out, "static void ");
    host_fn_name(h, fn);
    strbuf_add(h->out, "(DpRt *rt");
    for (uint32_t i = 0; i < fn->nparams; i++) {
        strbuf_add(h->out, ", ");
        host_type(h, &fn->regs.at[fn->params[i]]);
        plan_reg_name(h->out, fn, fn->params[i]);
    }
    for (uint32_t i = 0; i < fn->nresults; i++) {
        strbuf_add(h->out, ", ");
        host_type(h, &fn->regs.at[fn->results[i]]);
        strbuf_printf(h->out, "*out%u", i);
    }
    strbuf_add(h->out, ")");
}

static void print_function(HostPrinter *h, const PlanFn *fn)
{
    strbuf_add(h->out, "\n");
    print_signature(h, fn);
    strbuf_add(h->out, "\n{\n");
    h->line = h->labels = 0;
    print_block(h, fn->body);
    h->depth++;
    for (uint32_t i = 0; i < fn->nresults; i++) {
        indent(h);
        strbuf_printf(h->out, "*out%u = ", i);
        plan_reg_name(h->out, fn, fn->results[i]);
        strbuf_add(h->out, ";\n");
    }
    h->depth--;
    strbuf_add(h->out, "}\n");
}

/* ---- the file ---- */

static const char prologue[] = "#include \"dp_scalar.h\" /* before anything defines `bool` as a macro */\n"
                               "#include \"dp_rt.h\"\n"
                               "\n"
                               "/* Generated code names more than it uses. */\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
                               "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\" /* plan_check has looked */\n";

/* A comment must not end early. */
static void print_comment_text(StrBuf *out, const char *text)
{
    for (; *text; text++) {
        bool ends = text[0] == '*' && text[1] == '/';
        strbuf_addn(out, text, 1);
        if (ends)
            strbuf_add(out, " ");
    }
}

void emit_host_c(StrBuf *out, Plan *plan, const char *dp_path, DpTune tune, bool main)
{
    HostPrinter h = {.out = out, .plan = plan};
    strbuf_add(out, "/* Made by dpc from ");
    print_comment_text(out, dp_path);
    strbuf_add(out, ". */\n");
    strbuf_add(out, prologue);
    strbuf_add(out, "\n");
    for (uint32_t i = 0; i < plan->fns.n; i++) {
        print_signature(&h, plan->fns.at[i]);
        strbuf_add(out, ";\n");
    }
    for (uint32_t i = 0; i < plan->fns.n; i++)
        print_function(&h, plan->fns.at[i]);
    DpProgram program = *opencl_program(plan, dp_path);
    program.tune = tune;
    host_tables(&h, &program);
    if (main)
        strbuf_add(out, "\nint main(int argc, char **argv) { return dp_main(argc, argv, &program); }\n");
}
