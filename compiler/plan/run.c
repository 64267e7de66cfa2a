/* Plans, executed: the calls of plan_ops.def, compiled, over an array of registers for each call of a function. What
 * the C host program does, this does in the same order. */
#include "plan/plan.h"

#include "dp_rt.h"
#include "support/memory.h"
#include "trace/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(PLAN_MOST_PENDING == (int)DP_MOST_PENDING, "words of the mailbox");
_Static_assert(PLAN_PENDING_LENGTHS == (int)DP_PENDING_LENGTHS, "words of a nested context");

typedef union PlanValue {
    uint64_t bits; /* of a scalar, as core's constants */
    DpArr arr;
    DpCol col;
    DpCtx *ctx;
    DpRefs *refs;
    DpLimit limit;
    DpLevel level;
    DpPending pending;
} PlanValue;

enum { MOST_LISTS = 6 };   /* of an instruction, a launch's words and outputs included */
enum { LIST_ROOM = 2048 }; /* bytes for them; longer ones are allocated */

/* Of the instruction at hand; there is one for all functions. */
typedef struct Lists {
    size_t used; /* of the room */
    void *allocated[MOST_LISTS];
    uint32_t nallocated;
    uint32_t depth; /* calls under way */
    _Alignas(16) unsigned char room[LIST_ROOM];
} Lists;

typedef struct Run {
    DpRt *rt;
    const PlanFn *fn;
    PlanValue *regs;
    const PlanInstr *in; /* at hand */
    Lists *lists;
    uint32_t variant; /* of a launch */
    uint64_t *words;
    void *outs; /* DpCol, DpArr or uint64_t, side by side */
} Run;

/* ---- operands ---- */

static uint64_t *scalar(const Run *r, PlanOperand *o)
{
    return o->kind == OPERAND_REG ? &r->regs[o->reg].bits : &o->bits;
}

static CoreType core_type(const Run *r, const PlanOperand *o)
{
    return o->kind == OPERAND_CONST ? core_scalar(o->scalar) : r->fn->regs.at[o->reg].core;
}

/* Bits from memory, as core's constants have them. */
static uint64_t extended(Scalar s, uint64_t bits)
{
    uint32_t unused = 64 - 8 * scalar_bytes(s);
    return scalar_is_signed(s) && !scalar_is_float(s) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* Room for a list of items, until the instruction is done. */
static void *new_list(Run *r, uint32_t n, size_t bytes)
{
    Lists *l = r->lists;
    size_t all = (((size_t)n + 1) * bytes + 15) / 16 * 16;
    if (all <= LIST_ROOM - l->used) {
        l->used += all;
        return l->room + l->used - all;
    }
    assert(l->nallocated < MOST_LISTS);
    return l->allocated[l->nallocated++] = memory_alloc((size_t)n + 1, bytes);
}

static void free_lists(Run *r)
{
    r->lists->used = 0;
    while (r->lists->nallocated > 0)
        free(r->lists->allocated[--r->lists->nallocated]);
}

#define LIST_OF(name, T, item)                                                                                         \
    static const T *name(Run *r, PlanOperand *list)                                                                    \
    {                                                                                                                  \
        T *at = new_list(r, list->list.n, sizeof *at);                                                                 \
        for (uint32_t i = 0; i < list->list.n; i++) {                                                                  \
            PlanOperand *o = &list->list.at[i];                                                                        \
            at[i] = (item);                                                                                            \
        }                                                                                                              \
        return at;                                                                                                     \
    }
typedef DpCtx *ContextPointer;
typedef struct View {
    uint64_t len, addr;
} View;
LIST_OF(list_of_arrays, DpArr, r->regs[o->reg].arr)
LIST_OF(list_of_columns, DpCol, r->regs[o->reg].col)
LIST_OF(list_of_contexts, ContextPointer, r->regs[o->reg].ctx)
typedef DpCtx **ContextPlace;
LIST_OF(list_of_context_places, ContextPlace, &r->regs[o->reg].ctx)
LIST_OF(list_of_numbers, uint8_t, (uint8_t)o->bits)
LIST_OF(list_of_tags, uint8_t, (uint8_t)core_type(r, o).scalar)
LIST_OF(list_of_given, bool, o->given)
LIST_OF(list_of_views, View, ((View){r->regs[o->reg].arr.len, r->regs[o->reg].arr.addr}))

/* Scalars side by side, as they lie in memory. Hosts are little endian, as devices are. */
static const void *list_of_items(Run *r, PlanOperand *list, uint32_t bytes)
{
    unsigned char *at = new_list(r, list->list.n, bytes);
    for (uint32_t i = 0; i < list->list.n; i++)
        memcpy(at + (size_t)i * bytes, scalar(r, &list->list.at[i]), bytes);
    return at;
}

/* The value of a PRIM. */
static uint64_t prim_value(Run *r, PlanOperand *args)
{
    Scalar operand = core_type(r, &args->list.at[0]).scalar, result = core_type(r, &r->in->args[0]).scalar;
    uint64_t bits[3] = {0};
    for (uint32_t i = 0; i < args->list.n; i++)
        bits[i] = *scalar(r, &args->list.at[i]);
    if (core_prim_fallible(r->in->prim, operand) && bits[1] == 0)
        return 0; /* its check has failed */
    return core_prim_apply(r->in->prim, operand, result, bits);
}

/* ---- launches ---- */

static uint64_t word_value(Run *r, PlanArgument *w)
{
    const PlanValue *value = w->value.kind == OPERAND_REG ? &r->regs[w->value.reg] : NULL;
    switch (w->kind) {
    case WORD_SCALAR: return *scalar(r, &w->value);
    case WORD_LENGTH: return value->arr.len;
    case WORD_ADDRESS: return value->arr.addr;
    case WORD_COLUMN:
        return core_type(r, &w->value).rank > 0 && !w->unless ? dp_col_addr(r->rt, &value->col) : value->col.addr;
    case WORD_KEPT: return value->col.addr;
    case WORD_ROWS:
    case WORD_ROW_LENGTH:
    case WORD_ELEMS:
    case WORD_VIEWS:
    case WORD_OFFSETS:
    case WORD_PATH: break;
    }
    return 0;
}

static void set_bit(Run *r, const PlanArgument *w, bool holds)
{
    if (holds && w->bit != PLAN_NO_BIT)
        r->variant |= UINT32_C(1) << w->bit;
}

/* ELEMS and ROWS come first: what they find says which others are needed. */
static void fill_words(Run *r)
{
    uint32_t n = r->in->nwords;
    uint64_t *words = r->words = new_list(r, n, sizeof *words);
    r->variant = 0;
    for (uint32_t i = 0; i < n; i++)
        words[i] = word_value(r, &r->in->words[i]);
    for (uint32_t i = 0; i < n; i++) {
        const PlanArgument *w = &r->in->words[i];
        if (w->kind == WORD_ELEMS)
            set_bit(r, w, dp_elem_words_of(r->rt, &r->regs[w->value.reg].col, r->regs[w->to].ctx, w->bytes, &words[i]));
        if (w->kind == WORD_ROWS)
            set_bit(r, w, dp_row_words(r->rt, &r->regs[w->value.reg].arr, w->level, &words[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        const PlanArgument *w = &r->in->words[i];
        bool needed = !w->unless || (r->variant & w->unless) != w->unless;
        if (w->kind == WORD_ADDRESS && core_type(r, &w->value).rank > 1 && needed)
            words[i] = dp_arr_addr(r->rt, &r->regs[w->value.reg].arr);
        if (w->kind == WORD_COLUMN && w->unless && needed)
            words[i] = dp_col_addr(r->rt, &r->regs[w->value.reg].col);
        if (w->kind == WORD_OFFSETS && needed)
            words[i] = dp_ctx_offsets(r->rt, r->regs[w->to].ctx);
        if (w->kind == WORD_PATH && needed)
            words[i] = dp_path(r->rt, r->regs[w->from].ctx, r->regs[w->to].ctx);
        if (w->kind == WORD_PATH)
            set_bit(r, w, words[i] == 0);
    }
}

/* In the registers. */
static void keep_outs(Run *r)
{
    const PlanOperand *outs = plan_outs(r->in);
    for (uint32_t i = 0; i < outs->list.n; i++) {
        PlanReg to = outs->list.at[i].reg;
        const PlanRegInfo *info = &r->fn->regs.at[to];
        if (info->type == PLAN_COL)
            r->regs[to].col = ((DpCol *)r->outs)[i];
        else if (info->type == PLAN_ARR)
            r->regs[to].arr = ((DpArr *)r->outs)[i];
        else
            r->regs[to].bits = extended(info->core.scalar, ((uint64_t *)r->outs)[i]);
    }
}

/* ---- traces (docs/traces.md): what is on the device is not read for them ---- */

static void list_block(Trace *t, const PlanFn *fn, const PlanBlock *b, const PlanInstr *within)
{
    for (uint32_t i = 0; b && i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if (in->op == PLAN_OP_AT)
            continue;
        StrBuf text = {0};
        plan_print_instr(&text, fn->plan, fn, in);
        text.text[strcspn(text.text, "\n")] = '\0';
        trace_statement(t, in, within, plan_ops[in->op].name, in->span);
        trace_text(t, "function", fn->name);
        trace_text(t, "text", text.text);
        trace_end(t);
        strbuf_free(&text);
        for (uint32_t k = 0; k < 2; k++)
            list_block(t, fn, in->blocks[k], in);
    }
}

static void trace_start_run(Trace *t, const PlanFn *entry)
{
    const Plan *plan = entry->plan;
    const FlatProgram *p = plan->program;
    const char *name = entry->name;
    for (uint32_t i = 0; i < p->entries.n; i++)
        if (p->entries.at[i].fn->index == entry->index)
            name = p->entries.at[i].entry->name;
    trace_head(t, p->core->session->files.at[p->core->entries.at[0].fn->span.file]->path, name, "plan");
    for (uint32_t i = 0; i < plan->fns.n; i++)
        list_block(t, plan->fns.at[i], plan->fns.at[i]->body, NULL);
}

static void put_counts(Trace *t, const DpRt *rt, uint32_t depth)
{
    const DpCounts c = dp_counts(rt);
    trace_count(t, "depth", depth);
    trace_key(t, "counts");
    strbuf_printf(&t->text, "{\"launches\":%llu,\"read_backs\":%llu,\"blocks\":%llu}", (unsigned long long)c.launches,
                  (unsigned long long)c.read_backs, (unsigned long long)c.blocks);
}

static bool begin_event(const Run *r, const char *event, const PlanInstr *in)
{
    Trace *t = r->fn->plan->trace;
    if (!trace_event(t, event))
        return false;
    if (in)
        trace_count(t, "statement", trace_number(t, in));
    put_counts(t, r->rt, r->lists->depth);
    return true;
}

/* What the host knows of it: scalars, lengths. */
static void put_register(const Run *r, PlanReg reg, bool *any)
{
    static const char *const kinds[] = {
        [PLAN_SCALAR] = "host", [PLAN_ARR] = "host", [PLAN_COL] = "column", [PLAN_CTX] = "context"};
    Trace *t = r->fn->plan->trace;
    const PlanRegInfo *info = &r->fn->regs.at[reg];
    if (info->type > PLAN_CTX)
        return;
    StrBuf name = {0};
    plan_reg_name(&name, r->fn, reg);
    strbuf_printf(&t->text, "%s{\"name\":\"%s\"", *any ? "," : "", name.text);
    strbuf_free(&name);
    *any = true;
    trace_text(t, "kind", kinds[info->type]);
    if (info->type != PLAN_CTX)
        trace_type(t, info->core);
    if (info->type == PLAN_ARR)
        trace_count(t, "length", r->regs[reg].arr.len);
    if (info->type == PLAN_CTX)
        trace_count(t, "length", r->regs[reg].ctx ? dp_ctx_n(r->regs[reg].ctx) : 0);
    if (info->type == PLAN_SCALAR) {
        trace_key(t, "value");
        trace_scalar(t, info->core.scalar, r->regs[reg].bits);
    }
    strbuf_add(&t->text, "}");
}

static void trace_step(const Run *r, const PlanInstr *in)
{
    bool any = false;
    if (in->op == PLAN_OP_AT || !begin_event(r, "step", in))
        return;
    Trace *t = r->fn->plan->trace;
    trace_key(t, "outs");
    strbuf_add(&t->text, "[");
    const char *at = plan_ops[in->op].operands;
    for (uint32_t i = 0; i < in->nargs; at += at[2] == '*' ? 4 : 3, i++) {
        const PlanOperand *o = &in->args[i];
        if (*at != '=')
            continue;
        for (uint32_t k = 0; o->kind == OPERAND_LIST && k < o->list.n; k++)
            put_register(r, o->list.at[k].reg, &any);
        if (o->kind == OPERAND_REG)
            put_register(r, o->reg, &any);
    }
    strbuf_add(&t->text, "]");
    trace_end(t);
}

static void trace_block(const Run *r, const PlanInstr *in, const char *event, const char *key, uint64_t number)
{
    if (!begin_event(r, event, in))
        return;
    if (in->op == PLAN_OP_IF)
        trace_text(r->fn->plan->trace, key, number ? "then" : "else");
    else
        trace_count(r->fn->plan->trace, key, number);
    trace_end(r->fn->plan->trace);
}

/* "call" with the parameters, or "return". */
static void trace_call(const Run *r, const char *event, const PlanReg *regs, uint32_t n)
{
    bool any = false;
    if (!begin_event(r, event, NULL))
        return;
    Trace *t = r->fn->plan->trace;
    trace_text(t, "function", r->fn->name);
    trace_key(t, regs == r->fn->params ? "params" : "results");
    strbuf_add(&t->text, "[");
    for (uint32_t i = 0; i < n; i++)
        put_register(r, regs[i], &any);
    strbuf_add(&t->text, "]");
    trace_end(t);
}

/* One run is traced. The host looks once more, as it does behind every run: kernels may have failed. */
static void trace_end_run(Plan *plan, DpRt *rt)
{
    Trace *t = plan->trace;
    if (t)
        dp_check(rt);
    if (!trace_last_event(t, dp_failed(rt) ? "failure" : "result"))
        return;
    put_counts(t, rt, 0);
    if (dp_failed(rt))
        trace_text(t, "message", dp_failure(rt).message);
    trace_end(t);
    plan->trace = NULL;
}

/* ---- timelines ---- */

/* Does it do more than the host's arithmetic? */
static bool is_work(const PlanInstr *in)
{
    return (plan_ops[in->op].effects & (PLAN_ALLOCATES | PLAN_READS_BACK | PLAN_LAUNCHES)) != 0;
}

static bool has_work(const PlanBlock *b)
{
    for (uint32_t i = 0; b && i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if (in->op == PLAN_OP_CALL || is_work(in) || has_work(in->blocks[0]) || has_work(in->blocks[1]))
            return true;
    }
    return false;
}

/* The instruction, or the loop; or a round of it. */
static void begin_span(const Run *r, const PlanInstr *in, const char *name, const uint64_t *round)
{
    DpSpan span = {.name = name, .numbered = round, .number = round ? *round : 0};
    if (plan_has_place(in->span)) {
        const PlanPlace at = plan_place_of(r->fn->plan, in->span);
        span.file = at.file;
        span.line = at.line;
    }
    dp_span_begin(r->rt, &span);
}

/* ---- instructions ---- */

#define OPERAND(i) (&r->in->args[i])
#define REGISTER(i) r->regs[r->in->args[i].reg]
#define SCALAR(i) (*scalar(r, OPERAND(i)))
#define ARR(i) REGISTER(i).arr
#define COL(i) REGISTER(i).col
#define CTX(i) REGISTER(i).ctx
#define REFS(i) REGISTER(i).refs
#define LIMIT(i) REGISTER(i).limit
#define LEVEL(i) REGISTER(i).level
#define PENDING(i) REGISTER(i).pending
#define NUM(i) ((uint32_t)OPERAND(i)->bits)
#define TEXT(i) OPERAND(i)->text
#define PRIM_VALUE(i) prim_value(r, OPERAND(i))
#define VALUE(i) scalar(r, OPERAND(i))
#define VIEW(i) (&(View){ARR(i).len, ARR(i).addr})
#define TAG(i) ((DpScalar)core_type(r, OPERAND(i)).scalar)
#define GIVEN(i) OPERAND(i)->given
#define COUNT(i) OPERAND(i)->list.n
#define ARRS(i) list_of_arrays(r, OPERAND(i))
#define COLS(i) list_of_columns(r, OPERAND(i))
#define CTXS(i) list_of_contexts(r, OPERAND(i))
#define CTX_PLACES(i) list_of_context_places(r, OPERAND(i))
#define NUMS(i) list_of_numbers(r, OPERAND(i))
#define TAGS(i) list_of_tags(r, OPERAND(i))
#define GIVENS(i) list_of_given(r, OPERAND(i))
#define VIEWS(i) list_of_views(r, OPERAND(i))
#define ITEMS(i) list_of_items(r, OPERAND(i), scalar_bytes(core_type(r, OPERAND(0)).scalar))
#define VARIANT r->variant
#define WORDS r->words
#define OUTS(i) (r->outs = new_list(r, COUNT(i), sizeof(PlanValue)))

static void run_call(Run *r)
{
    DpRt *rt = r->rt;
    switch (r->in->op) {
#define PLAN_OP(NAME, text, operands, effects, ...)                                                                    \
    case PLAN_OP_##NAME:                                                                                               \
        __VA_ARGS__;                                                                                                   \
        break;
#include "plan/plan_ops.def"
#undef PLAN_OP
    case PLAN_OP_COUNT: break;
    }
}

static void run_fn(const PlanFn *fn, DpRt *rt, Lists *lists, const PlanValue *args, PlanValue *results);

static void run_function_call(Run *r, const PlanInstr *in)
{
    const PlanOperand *args = &in->args[0], *outs = &in->args[1];
    PlanValue *values = memory_alloc((size_t)args->list.n + outs->list.n + 1, sizeof *values);
    PlanValue *results = values + args->list.n;
    for (uint32_t i = 0; i < args->list.n; i++) {
        PlanOperand *o = &args->list.at[i];
        if (o->kind == OPERAND_REG)
            values[i] = r->regs[o->reg];
        else
            values[i].bits = o->bits;
    }
    run_fn(in->fn, r->rt, r->lists, values, results);
    for (uint32_t i = 0; i < outs->list.n; i++)
        r->regs[outs->list.at[i].reg] = results[i];
    free(values);
}

static void run_block(Run *r, const PlanBlock *b);

static void run_instr(Run *r, const PlanInstr *in)
{
    const bool launches = plan_ops[in->op].effects & PLAN_LAUNCHES, traced = is_work(in) && dp_traces(r->rt);
    if (traced)
        begin_span(r, in, plan_ops[in->op].name, NULL);
    r->in = in;
    r->outs = NULL;
    if (launches)
        fill_words(r);
    run_call(r);
    if (r->outs)
        keep_outs(r);
    free_lists(r);
    if (traced)
        dp_span_end(r->rt);
    if (r->fn->plan->trace)
        trace_step(r, in);
}

static void run_loop(Run *r, const PlanInstr *in)
{
    const bool traced = dp_traces(r->rt) && (has_work(in->blocks[0]) || has_work(in->blocks[1]));
    if (traced)
        begin_span(r, in, "loop", NULL);
    run_block(r, in->blocks[0]);
    for (uint64_t round = 0; *scalar(r, &in->args[0]); round++) {
        trace_block(r, in, "round", "round", round);
        if (traced)
            begin_span(r, in, "round", &round);
        run_block(r, in->blocks[1]);
        run_block(r, in->blocks[0]);
        if (traced)
            dp_span_end(r->rt);
    }
    if (traced)
        dp_span_end(r->rt);
}

static void run_block(Run *r, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if (in->op == PLAN_OP_CALL) {
            run_function_call(r, in);
        } else if (in->op == PLAN_OP_IF) {
            trace_block(r, in, "branch", "taken", *scalar(r, &in->args[0]));
            run_block(r, in->blocks[*scalar(r, &in->args[0]) ? 0 : 1]);
        } else if (in->op == PLAN_OP_LOOP) {
            run_loop(r, in);
        } else {
            run_instr(r, in);
        }
    }
}

/* The registers are on the stack, whose end is the end of a recursion (dp_enter). */
static void run_fn(const PlanFn *fn, DpRt *rt, Lists *lists, const PlanValue *args, PlanValue *results)
{
    PlanValue regs[fn->regs.n + 1];
    Run r = {.rt = rt, .fn = fn, .regs = regs, .lists = lists};
    for (uint32_t i = 0; i < fn->nparams; i++)
        regs[fn->params[i]] = args[i];
    lists->depth++;
    trace_call(&r, "call", fn->params, fn->nparams);
    run_block(&r, fn->body);
    trace_call(&r, "return", fn->results, fn->nresults);
    lists->depth--;
    for (uint32_t i = 0; i < fn->nresults; i++)
        results[i] = regs[fn->results[i]];
}

void plan_run(const PlanFn *fn, DpRt *rt, DpArg *args, DpArg *results)
{
    PlanValue *values = memory_alloc((size_t)fn->nparams + fn->nresults + 1, sizeof *values);
    PlanValue *made = values + fn->nparams;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        if (fn->regs.at[fn->params[i]].type == PLAN_ARR)
            values[i].arr = args[i].arr;
        else
            values[i].bits = args[i].bits;
    }
    Lists lists;
    lists.used = lists.nallocated = lists.depth = 0;
    dp_rt_interpreted(rt);
    if (fn->plan->trace)
        trace_start_run(fn->plan->trace, fn);
    run_fn(fn, rt, &lists, values, made);
    trace_end_run(fn->plan, rt);
    for (uint32_t i = 0; i < fn->nresults; i++) {
        if (fn->regs.at[fn->results[i]].type == PLAN_ARR)
            results[i].arr = made[i].arr;
        else
            results[i].bits = made[i].bits;
    }
    free(values);
}
