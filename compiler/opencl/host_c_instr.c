/* Instructions: the text of the table's call, with the operands put in. */
#include "opencl/host_c_internal.h"

#include "plan/emit_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- operands ---- */

void host_operand(HostPrinter *h, const PlanOperand *o)
{
    switch (o->kind) {
    case OPERAND_REG: plan_reg_name(h->out, h->fn, o->reg); break;
    case OPERAND_CONST: emit_literal(h->out, o->scalar, o->bits); break;
    case OPERAND_NUMBER: strbuf_printf(h->out, "%" PRIu64, o->bits); break;
    case OPERAND_TEXT: emit_string(h->out, o->text, strlen(o->text)); break;
    case OPERAND_LIST: host_list(h, o); break;
    }
}

void host_list(HostPrinter *h, const PlanOperand *o)
{
    strbuf_add(h->out, "{");
    for (uint32_t i = 0; i < o->list.n; i++) {
        strbuf_add(h->out, i ? ", " : "");
        host_operand(h, &o->list.at[i]);
    }
    strbuf_add(h->out, "}");
}

static CoreType core_type(const HostPrinter *h, const PlanOperand *o)
{
    return o->kind == OPERAND_CONST ? core_scalar(o->scalar) : h->fn->regs.at[o->reg].core;
}

/* "(const DpCol[]){c1, c2}", or NULL. */
static void print_array(HostPrinter *h, const char *type, const PlanOperand *list,
                        void (*item)(HostPrinter *h, const PlanOperand *o))
{
    if (list->list.n == 0) {
        strbuf_add(h->out, "NULL");
        return;
    }
    strbuf_printf(h->out, "(%s[]){", type);
    for (uint32_t i = 0; i < list->list.n; i++) {
        strbuf_add(h->out, i ? ", " : "");
        item(h, &list->list.at[i]);
    }
    strbuf_add(h->out, "}");
}

static void print_view(HostPrinter *h, const PlanOperand *o)
{
    strbuf_add(h->out, "{");
    host_operand(h, o);
    strbuf_add(h->out, ".len, ");
    host_operand(h, o);
    strbuf_add(h->out, ".addr}");
}

static void print_place(HostPrinter *h, const PlanOperand *o)
{
    strbuf_add(h->out, "&");
    host_operand(h, o);
}

static void print_tag(HostPrinter *h, const PlanOperand *o)
{
    strbuf_add(h->out, emit_scalar_tag(core_type(h, o).scalar));
}
static void print_given(HostPrinter *h, const PlanOperand *o) { strbuf_add(h->out, o->given ? "true" : "false"); }

static void print_value(HostPrinter *h, const PlanOperand *o)
{
    strbuf_printf(h->out, "&(%s){", emit_type_name(core_type(h, o).scalar));
    host_operand(h, o);
    strbuf_add(h->out, "}");
}

static void print_view_pointer(HostPrinter *h, const PlanOperand *o)
{
    strbuf_add(h->out, "&(dp_view)");
    print_view(h, o);
}

/* "dp_add_i32(s1, s2)" */
static void print_prim(HostPrinter *h, const PlanInstr *in)
{
    const PlanOperand *args = &in->args[1];
    const char *operand = scalar_name(core_type(h, &args->list.at[0]).scalar);
    const char *result = scalar_name(core_type(h, &in->args[0]).scalar);
    if (in->prim == PRIM_CONVERT)
        strbuf_printf(h->out, "dp_convert_%s_%s(", operand, result);
    else
        strbuf_printf(h->out, "dp_%s_%s(", core_prim_name(in->prim), in->prim == PRIM_SELECT ? result : operand);
    for (uint32_t i = 0; i < args->list.n; i++) {
        strbuf_add(h->out, i ? ", " : "");
        host_operand(h, &args->list.at[i]);
    }
    strbuf_add(h->out, ")");
}

/* ---- the call ---- */

typedef struct Placeholder {
    const char *name;
    void (*print)(HostPrinter *h, const PlanOperand *o);
} Placeholder;
static const Placeholder single[] = {
    {"SCALAR", host_operand}, {"ARR", host_operand},     {"COL", host_operand},   {"CTX", host_operand},
    {"REFS", host_operand},   {"LIMIT", host_operand},   {"LEVEL", host_operand}, {"NUM", host_operand},
    {"TEXT", host_operand},   {"PENDING", host_operand}, {"VALUE", print_value},  {"VIEW", print_view_pointer},
    {"TAG", print_tag},       {"GIVEN", print_given},
};
typedef struct ListPlaceholder {
    const char *name, *type;
    void (*item)(HostPrinter *h, const PlanOperand *o);
} ListPlaceholder;
static const ListPlaceholder lists[] = {
    {"ARRS", "const DpArr", host_operand},        {"COLS", "const DpCol", host_operand},
    {"CTXS", "DpCtx *const", host_operand},       {"NUMS", "const uint8_t", host_operand},
    {"TAGS", "const uint8_t", print_tag},         {"GIVENS", "const bool", print_given},
    {"VIEWS", "const dp_view", print_view},       {"ITEMS", NULL, host_operand},
    {"CTX_PLACES", "DpCtx **const", print_place},
};

static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

/* A placeholder with its operand. */
static void print_placeholder(HostPrinter *h, const PlanInstr *in, const char *name, size_t n, const PlanOperand *o)
{
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (is_word(name, n, single[i].name))
            single[i].print(h, o);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!is_word(name, n, lists[i].name))
            continue;
        char items[32];
        snprintf(items, sizeof items, "const %s",
                 lists[i].type ? "" : emit_type_name(h->fn->regs.at[in->args[0].reg].core.scalar));
        print_array(h, lists[i].type ? lists[i].type : items, o, lists[i].item);
    }
    if (is_word(name, n, "COUNT"))
        strbuf_printf(h->out, "%u", o->list.n);
    if (is_word(name, n, "OUTS"))
        strbuf_add(h->out, "out");
    if (is_word(name, n, "PRIM_VALUE"))
        print_prim(h, in);
}

/* The placeholder that begins at `at`; what is behind it. */
static const char *print_part(HostPrinter *h, const PlanInstr *in, const char *at, bool variants)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    if (at[n] == '(' && isdigit((unsigned char)at[n + 1]) && isupper((unsigned char)at[0])) {
        char *end;
        unsigned long i = strtoul(at + n + 1, &end, 10);
        print_placeholder(h, in, at, n, &in->args[i]);
        return end + 1;
    }
    if (is_word(at, n, "VARIANT"))
        strbuf_add(h->out, variants ? "variant" : "0");
    else if (is_word(at, n, "WORDS"))
        strbuf_add(h->out, in->nwords > 0 ? "w" : "NULL");
    else
        strbuf_addn(h->out, at, n);
    return at + n;
}

static void print_call(HostPrinter *h, const PlanInstr *in, bool variants)
{
    strbuf_indent(h->out, 2 * h->depth);
    for (const char *at = plan_ops[in->op].call; *at;) {
        if (isalpha((unsigned char)*at)) {
            at = print_part(h, in, at, variants);
        } else {
            strbuf_addn(h->out, at, 1);
            at++;
        }
    }
    strbuf_add(h->out, ";\n");
}

/* ---- launches ---- */

/* Views (an array of rank `views` or more has them) are written when a kernel is about to read them. */
static void print_address(HostPrinter *h, const PlanOperand *o, const char *function, uint8_t views)
{
    bool call = core_type(h, o).rank >= views;
    if (call)
        strbuf_printf(h->out, "%s(rt, &", function);
    host_operand(h, o);
    strbuf_add(h->out, call ? ")" : ".addr");
}

/* The value of a word that stands for itself; 0 for the others. */
static void print_word_value(HostPrinter *h, const PlanArgument *w)
{
    switch (w->kind) {
    case WORD_SCALAR:
        strbuf_printf(h->out, "dp_to_bits_%s(", scalar_name(core_type(h, &w->value).scalar));
        host_operand(h, &w->value);
        strbuf_add(h->out, ")");
        break;
    case WORD_LENGTH:
        host_operand(h, &w->value);
        strbuf_add(h->out, ".len");
        break;
    case WORD_ADDRESS: print_address(h, &w->value, "dp_arr_addr", w->unless ? UINT8_MAX : 2); break;
    case WORD_COLUMN: print_address(h, &w->value, "dp_col_addr", w->unless ? UINT8_MAX : 1); break;
    case WORD_KEPT:
        host_operand(h, &w->value);
        strbuf_add(h->out, ".addr");
        break;
    case WORD_ROWS:
    case WORD_ROW_LENGTH:
    case WORD_ELEMS:
    case WORD_VIEWS:
    case WORD_OFFSETS:
    case WORD_PATH: strbuf_add(h->out, "0"); break;
    }
}

static void print_elems_word(HostPrinter *h, const PlanArgument *w, uint32_t i)
{
    strbuf_indent(h->out, 2 * h->depth);
    strbuf_add(h->out, w->bit != PLAN_NO_BIT ? "if (dp_elem_words_of(rt, &" : "dp_elem_words_of(rt, &");
    host_operand(h, &w->value);
    strbuf_add(h->out, ", ");
    plan_reg_name(h->out, h->fn, w->to);
    strbuf_printf(h->out, ", %u, &w[%u])", w->bytes, i);
    if (w->bit != PLAN_NO_BIT)
        strbuf_printf(h->out, ") variant |= 1U << %u", w->bit);
    strbuf_add(h->out, ";\n");
}

static void print_rows_word(HostPrinter *h, const PlanArgument *w, uint32_t i)
{
    strbuf_indent(h->out, 2 * h->depth);
    strbuf_add(h->out, w->bit != PLAN_NO_BIT ? "if (dp_row_words(rt, &" : "dp_row_words(rt, &");
    host_operand(h, &w->value);
    strbuf_printf(h->out, ", %u, &w[%u])", w->level, i);
    if (w->bit != PLAN_NO_BIT)
        strbuf_printf(h->out, ") variant |= 1U << %u", w->bit);
    strbuf_add(h->out, ";\n");
}

static void print_unless(HostPrinter *h, const PlanArgument *w)
{
    strbuf_indent(h->out, 2 * h->depth);
    if (w->unless)
        strbuf_printf(h->out, "if ((variant & 0x%xU) != 0x%xU) ", w->unless, w->unless);
}

/* Offsets and paths that only serve what is not contiguous are not asked for where all of it is. */
static void print_context_word(HostPrinter *h, const PlanArgument *w, uint32_t i)
{
    print_unless(h, w);
    strbuf_printf(h->out, "w[%u] = %s(rt, ", i, w->kind == WORD_PATH ? "dp_path" : "dp_ctx_offsets");
    if (w->kind == WORD_PATH) {
        plan_reg_name(h->out, h->fn, w->from);
        strbuf_add(h->out, ", ");
    }
    plan_reg_name(h->out, h->fn, w->to);
    strbuf_add(h->out, ");\n");
    if (w->kind != WORD_PATH || w->bit == PLAN_NO_BIT)
        return;
    strbuf_indent(h->out, 2 * h->depth);
    strbuf_printf(h->out, "if (!w[%u]) variant |= 1U << %u;\n", i, w->bit);
}

/* The address stands there already. */
static void print_written_views(HostPrinter *h, const PlanArgument *w, uint32_t i)
{
    print_unless(h, w);
    strbuf_printf(h->out, "w[%u] = ", i);
    if (w->kind == WORD_COLUMN)
        print_address(h, &w->value, "dp_col_addr", 1);
    else
        print_address(h, &w->value, "dp_arr_addr", 2);
    strbuf_add(h->out, ";\n");
}

/* "uint64_t w[n] = …; uint32_t variant = …;" ELEMS and ROWS come first: what they find says which others are needed. */
static void print_words(HostPrinter *h, const PlanInstr *in, bool variants)
{
    if (in->nwords > 0) {
        strbuf_indent(h->out, 2 * h->depth);
        strbuf_printf(h->out, "uint64_t w[%u] = {", in->nwords);
        for (uint32_t i = 0; i < in->nwords; i++) {
            strbuf_add(h->out, i ? ", " : "");
            print_word_value(h, &in->words[i]);
        }
        strbuf_add(h->out, "};\n");
    }
    if (variants) {
        strbuf_indent(h->out, 2 * h->depth);
        strbuf_add(h->out, "uint32_t variant = 0;\n");
    }
    for (uint32_t i = 0; i < in->nwords; i++)
        if (in->words[i].kind == WORD_ELEMS)
            print_elems_word(h, &in->words[i], i);
        else if (in->words[i].kind == WORD_ROWS)
            print_rows_word(h, &in->words[i], i);
    for (uint32_t i = 0; i < in->nwords; i++)
        if (in->words[i].kind == WORD_OFFSETS || in->words[i].kind == WORD_PATH)
            print_context_word(h, &in->words[i], i);
        else if ((in->words[i].kind == WORD_ADDRESS || in->words[i].kind == WORD_COLUMN) && in->words[i].unless)
            print_written_views(h, &in->words[i], i);
}

/* "c7 = out[0];" */
static void print_out(HostPrinter *h, const PlanOperand *o, uint32_t i)
{
    PlanRegInfo info = h->fn->regs.at[o->reg];
    strbuf_indent(h->out, 2 * h->depth);
    plan_reg_name(h->out, h->fn, o->reg);
    if (info.type == PLAN_SCALAR)
        strbuf_printf(h->out, " = dp_from_bits_%s(out[%u]);\n", scalar_name(info.core.scalar), i);
    else
        strbuf_printf(h->out, " = out[%u];\n", i);
}

static void print_room(HostPrinter *h, const PlanOperand *outs)
{
    static const char *const types[] = {[PLAN_SCALAR] = "uint64_t", [PLAN_ARR] = "DpArr", [PLAN_COL] = "DpCol"};
    uint32_t n = outs->list.n;
    strbuf_indent(h->out, 2 * h->depth);
    strbuf_printf(h->out, "%s out[%u];\n", types[n > 0 ? h->fn->regs.at[outs->list.at[0].reg].type : PLAN_COL],
                  n > 0 ? n : 1);
}

/* What has words or room for outputs, in a block. */
static void print_with_room(HostPrinter *h, const PlanInstr *in, const PlanOperand *outs)
{
    bool launches = plan_ops[in->op].effects & PLAN_LAUNCHES;
    bool variants = launches && h->plan->kernels.at[in->args[0].bits]->nbits > 0;
    strbuf_indent(h->out, 2 * h->depth);
    strbuf_add(h->out, "{\n");
    h->depth++;
    print_words(h, in, variants);
    if (outs)
        print_room(h, outs);
    print_call(h, in, variants);
    for (uint32_t i = 0; outs && i < outs->list.n; i++)
        print_out(h, &outs->list.at[i], i);
    h->depth--;
    strbuf_indent(h->out, 2 * h->depth);
    strbuf_add(h->out, "}\n");
}

void host_instr(HostPrinter *h, const PlanInstr *in)
{
    const PlanOperand *outs = plan_outs(in);
    if (outs || plan_ops[in->op].effects & PLAN_LAUNCHES)
        print_with_room(h, in, outs);
    else
        print_call(h, in, false);
}
