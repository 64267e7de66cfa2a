/* Printing flat programs, for people and for golden tests:
 *
 *     fn main (%xs0 : [[i64]])
 *       %c1 = nested root (%xs0)
 *       %r2 : [i64] in %c1 = elems %xs0
 *       %c3 = nested %c1 (%r2)
 *       %s4 : i64 in %c1 = reduce %c3 {
 *         x : i64 <- elem %r2 in %c3
 *         -> x }
 *         op (a, b) { … } neutral (0)
 */
#include "flat/flat.h"
#include "params.h"
#include "support/marks.h"

#include <inttypes.h>

typedef struct Printer {
    StrBuf *out;
    const FlatProgram *p;
    const FlatFn *fn;
} Printer;

/* ---- variables ---- */

static void print_var(const Printer *pr, FlatVar v)
{
    if (v == FLAT_ROOT) {
        strbuf_add(pr->out, "root");
    } else if (v == FLAT_NO_VAR || v >= pr->fn->vars.n) {
        strbuf_add(pr->out, "none");
    } else {
        const FlatVarInfo *info = &pr->fn->vars.at[v];
        const char *prefix = info->hint ? info->hint : info->kind == FLAT_CTX ? "c" : "";
        strbuf_printf(pr->out, "%%%s%u", prefix, v);
    }
}

static void print_vars(const Printer *pr, const FlatVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_add(pr->out, ", ");
        print_var(pr, vars[i]);
    }
}

static void print_type(StrBuf *out, CoreType t)
{
    for (int i = 0; i < t.rank; i++)
        strbuf_add(out, "[");
    strbuf_add(out, scalar_name(t.scalar));
    for (int i = 0; i < t.rank; i++)
        strbuf_add(out, "]");
}

static void print_ctx_info(const Printer *pr, const FlatVarInfo *info)
{
    switch (info->ctx_kind) {
    case CTX_FN: strbuf_add(pr->out, " : instances"); break;
    case CTX_NESTED: strbuf_add(pr->out, " : nested"); break;
    case CTX_SELECTED: strbuf_add(pr->out, " : selected"); break;
    }
    if (info->ctx_kind == CTX_FN)
        return;
    strbuf_add(pr->out, " of ");
    print_var(pr, info->ctx);
}

/* A variable where it is bound: with its type and context. */
static void print_binder(const Printer *pr, FlatVar v)
{
    print_var(pr, v);
    if (v >= pr->fn->vars.n)
        return;
    const FlatVarInfo *info = &pr->fn->vars.at[v];
    if (info->kind == FLAT_CTX) {
        print_ctx_info(pr, info);
        return;
    }
    strbuf_add(pr->out, " : ");
    print_type(pr->out, info->type);
    if (info->kind == FLAT_COL) {
        strbuf_add(pr->out, " in ");
        print_var(pr, info->ctx);
    }
}

static void print_binders(const Printer *pr, const FlatVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_add(pr->out, ", ");
        print_binder(pr, vars[i]);
    }
}

static void print_group(const Printer *pr, const char *before, const FlatVar *vars, uint32_t n)
{
    strbuf_printf(pr->out, "%s(", before);
    print_vars(pr, vars, n);
    strbuf_add(pr->out, ")");
}

/* ---- core code in bodies ---- */

static void print_core_var(const Printer *pr, CoreVar v)
{
    const char *hint = v < pr->fn->scope->vars.n ? pr->fn->scope->vars.at[v].hint : NULL;
    strbuf_printf(pr->out, "%%%s%s%u", hint ? hint : "", hint ? "_" : "", v);
}

static void print_atom(const Printer *pr, CoreAtom a)
{
    if (!a.is_const)
        print_core_var(pr, a.var);
    else if (scalar_is_float(a.type.scalar))
        strbuf_printf(pr->out, "%s:0x%llx", scalar_name(a.type.scalar), (unsigned long long)a.bits);
    else if (a.type.scalar == SC_BOOL)
        strbuf_add(pr->out, a.bits ? "true" : "false");
    else
        strbuf_printf(pr->out, "%lld", (long long)(int64_t)a.bits);
}

static void print_input(const Printer *pr, const FlatInput *in)
{
    print_core_var(pr, in->as);
    strbuf_add(pr->out, " <- ");
    switch (in->kind) {
    case IN_HOST:
        strbuf_add(pr->out, "host ");
        print_var(pr, in->var);
        break;
    case IN_COL:
        strbuf_add(pr->out, "col ");
        print_var(pr, in->var);
        break;
    case IN_ELEM:
        strbuf_add(pr->out, "elem ");
        print_var(pr, in->var);
        strbuf_add(pr->out, " in ");
        print_var(pr, in->ctx);
        break;
    case IN_POS:
        strbuf_add(pr->out, "pos in ");
        print_var(pr, in->ctx);
        break;
    }
}

static void print_inputs(const Printer *pr, const FlatInputs *inputs, int depth)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        strbuf_indent(pr->out, depth);
        print_input(pr, &inputs->at[i]);
        strbuf_add(pr->out, "\n");
    }
}

static void print_body(const Printer *pr, const FlatBody *body, int depth)
{
    strbuf_add(pr->out, " ");
    print_var(pr, body->ctx);
    strbuf_add(pr->out, " {\n");
    print_inputs(pr, &body->inputs, depth + 1);
    core_print_block(pr->out, pr->p->core, pr->fn->scope, body->block, depth + 1);
    strbuf_indent(pr->out, depth);
    strbuf_add(pr->out, "}");
}

static void print_op(const Printer *pr, const FlatOp *op, int depth)
{
    strbuf_add(pr->out, op->commutative ? " commutative op (" : " op (");
    for (uint32_t i = 0; i < op->op.nparams; i++) {
        if (i)
            strbuf_add(pr->out, ", ");
        print_core_var(pr, op->op.params[i]);
    }
    strbuf_add(pr->out, ") {\n");
    print_inputs(pr, &op->inputs, depth + 1);
    core_print_block(pr->out, pr->p->core, pr->fn->scope, op->op.body, depth + 1);
    strbuf_indent(pr->out, depth);
    strbuf_add(pr->out, "}");
    if (!op->neutral)
        return;
    strbuf_add(pr->out, " neutral (");
    for (uint32_t i = 0; i < op->k; i++) {
        if (i)
            strbuf_add(pr->out, ", ");
        print_atom(pr, op->neutral[i]);
    }
    strbuf_add(pr->out, ")");
    for (uint32_t i = 0; i < op->neutral_inputs.n; i++) {
        strbuf_add(pr->out, i ? ", " : " where ");
        print_input(pr, &op->neutral_inputs.at[i]);
    }
}

/* What is made of a scan's prefixes. */
static void print_then(const Printer *pr, const FlatStmt *s, int depth)
{
    strbuf_add(pr->out, " then (");
    for (uint32_t i = 0; i < s->reduce.op.k; i++) {
        if (i)
            strbuf_add(pr->out, ", ");
        print_core_var(pr, s->reduce.prefixes[i]);
    }
    strbuf_add(pr->out, ") {\n");
    print_inputs(pr, &s->reduce.then.inputs, depth + 1);
    core_print_block(pr->out, pr->p->core, pr->fn->scope, s->reduce.then.block, depth + 1);
    strbuf_indent(pr->out, depth);
    strbuf_add(pr->out, "}");
}

/* ---- statements ---- */

static void print_block(const Printer *pr, const FlatBlock *b, int depth);

static void print_braced(const Printer *pr, const char *before, const FlatBlock *b, int depth)
{
    strbuf_printf(pr->out, "%s{\n", before);
    print_block(pr, b, depth + 1);
    strbuf_indent(pr->out, depth);
    strbuf_add(pr->out, "}");
}

static void print_in_ctx(const Printer *pr, FlatVar ctx, const char *before, const FlatVar *vars, uint32_t n)
{
    strbuf_add(pr->out, " ");
    print_var(pr, ctx);
    print_group(pr, before, vars, n);
}

static void print_argsort(const Printer *pr, const FlatStmt *s)
{
    const uint32_t nkeys = s->arrays.nkeys, ncolumns = s->arrays.n - nkeys;
    print_in_ctx(pr, s->ctx, " ", s->arrays.arrays, nkeys);
    if (ncolumns)
        print_group(pr, s->nouts > ncolumns ? " with " : " of ", s->arrays.arrays + nkeys, ncolumns);
    if (s->arrays.nends)
        print_group(pr, " ends ", s->arrays.ends, s->arrays.nends);
}

static void print_merge(const Printer *pr, const FlatStmt *s)
{
    strbuf_add(pr->out, " ");
    print_var(pr, s->ctx);
    for (uint32_t i = 0; i < s->merge.nparts; i++) {
        strbuf_add(pr->out, i ? " | " : " ");
        print_var(pr, s->merge.parts[i].ctx);
        print_group(pr, " ", s->merge.parts[i].cols, s->nouts);
    }
}

static void print_state(const Printer *pr, const FlatVar *params, const FlatVar *inits, uint32_t n)
{
    strbuf_add(pr->out, " (");
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_add(pr->out, ", ");
        print_binder(pr, params[i]);
        strbuf_add(pr->out, " = ");
        print_var(pr, inits[i]);
    }
    strbuf_add(pr->out, ")");
}

static void print_loop(const Printer *pr, const FlatStmt *s, int depth)
{
    print_state(pr, s->loop.params, s->loop.inits, s->loop.nparams);
    if (s->loop.index == FLAT_NO_VAR) {
        print_braced(pr, " while ", s->loop.cond, depth);
    } else {
        strbuf_add(pr->out, " for ");
        print_var(pr, s->loop.index);
        strbuf_add(pr->out, " < ");
        print_var(pr, s->loop.count);
    }
    print_braced(pr, " do ", s->loop.body, depth);
}

static void print_loop_lifted(const Printer *pr, const FlatStmt *s, int depth)
{
    strbuf_add(pr->out, " ");
    print_var(pr, s->ctx);
    strbuf_add(pr->out, " active ");
    print_var(pr, s->loop_lifted.active);
    print_state(pr, s->loop_lifted.params, s->loop_lifted.inits, s->loop_lifted.nparams);
    print_braced(pr, " while ", s->loop_lifted.cond, depth);
    print_braced(pr, " do ", s->loop_lifted.body, depth);
}

static void print_call_lifted(const Printer *pr, const FlatStmt *s, int depth)
{
    strbuf_printf(pr->out, " %s", s->call_lifted.fn->name);
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        const FlatSite *site = &s->call_lifted.sites[i];
        strbuf_add(pr->out, "\n");
        strbuf_indent(pr->out, depth + 1);
        print_binders(pr, site->outs, s->call_lifted.nresults);
        strbuf_add(pr->out, " <- ");
        print_var(pr, site->ctx);
        print_group(pr, " ", site->args, s->call_lifted.nargs);
    }
}

static void print_segmented(const Printer *pr, const FlatStmt *s, int depth)
{
    if (s->reduce.exclusive)
        strbuf_add(pr->out, " exclusive");
    if (s->reduce.stays)
        strbuf_add(pr->out, " stays");
    if (s->kind == FLAT_S_SCAN && flat_scan_turns(pr->fn, s)) {
        strbuf_add(pr->out, " turned to ");
        print_var(pr, flat_ctx(pr->fn, s->outs[0]));
    }
    if (s->kind == FLAT_S_HIST)
        print_group(pr, " size ", &s->reduce.size, 1);
    if (s->reduce.ndests)
        print_group(pr, " ", s->reduce.dests, s->reduce.ndests);
    print_body(pr, &s->body, depth);
    if (s->reduce.op.k)
        print_op(pr, &s->reduce.op, depth);
    if (s->kind == FLAT_S_SCAN && flat_scan_maps(s))
        print_then(pr, s, depth);
}

static void print_stays(const Printer *pr, const FlatStays *stays, const char *what)
{
    static const char *const words[] = {
        [STAYS_BELOW] = "below", [STAYS_UP_TO] = "up to", [STAYS_FROM] = "from", [STAYS_ABOVE] = "above"};
    if (stays->how == STAYS_NONE)
        return;
    strbuf_printf(pr->out, ", %s %s ", what, words[stays->how]);
    if (stays->bound == FLAT_NO_VAR)
        strbuf_printf(pr->out, "%" PRId64, stays->at);
    else
        print_var(pr, stays->bound);
    strbuf_add(pr->out, " stay");
}

/* " over %row3, rows up to %k stay" */
static void print_over(const Printer *pr, const FlatOver *over)
{
    const bool rows = over->rows != FLAT_NO_VAR;
    strbuf_add(pr->out, " over ");
    print_var(pr, rows ? over->rows : over->array);
    print_stays(pr, &over->stays, rows ? "rows" : "places");
    print_stays(pr, &over->in_rows, "places");
}

/* Everything behind the statement's name. */
static void print_operands(const Printer *pr, const FlatStmt *s, int depth)
{
    switch (s->kind) {
    case FLAT_S_KERNEL:
        if (s->kernel.over)
            print_over(pr, s->kernel.over);
        print_body(pr, &s->body, depth);
        break;
    case FLAT_S_HOST:
    case FLAT_S_ARRAY:
    case FLAT_S_PACK: print_body(pr, &s->body, depth); break;
    case FLAT_S_NESTED: {
        FlatVar parent = s->nouts ? flat_ctx(pr->fn, s->outs[0]) : FLAT_NO_VAR;
        print_in_ctx(pr, parent, " ", &s->nested.source, 1);
        break;
    }
    case FLAT_S_PARAM: strbuf_printf(pr->out, " %s", dp_params_name(s->param.of)); break;
    case FLAT_S_FEW:
        strbuf_add(pr->out, " ");
        print_var(pr, s->few.work);
        strbuf_add(pr->out, ", ");
        print_var(pr, s->few.wide);
        break;
    case FLAT_S_MANY:
    case FLAT_S_MEMORY:
    case FLAT_S_NOTHING:
        if (s->kind == FLAT_S_MANY)
            strbuf_add(pr->out, core_many_words(s->many.of));
        if (s->kind == FLAT_S_MEMORY)
            strbuf_printf(pr->out, "%s%s", core_lane_words(s->memory.of), s->memory.gives ? " gives" : "");
        strbuf_add(pr->out, " ");
        print_var(pr, s->ctx);
        if (s->kind == FLAT_S_MANY && s->many.length != FLAT_NO_VAR)
            print_group(pr, " sharing ", (FlatVar[]){s->many.cells, s->many.length}, 2);
        break;
    case FLAT_S_FITTED:
    case FLAT_S_SPLIT: print_in_ctx(pr, s->ctx, " ", &s->split.cond, 1); break;
    case FLAT_S_ELEMS:
    case FLAT_S_SELECT:
    case FLAT_S_VIEWS:
    case FLAT_S_FLATTEN: print_in_ctx(pr, s->ctx, " ", s->arrays.arrays, s->arrays.n); break;
    case FLAT_S_ARGSORT: print_argsort(pr, s); break;
    case FLAT_S_MERGE: print_merge(pr, s); break;
    case FLAT_S_REDUCE:
    case FLAT_S_SCAN:
    case FLAT_S_HIST:
    case FLAT_S_SCATTER: print_segmented(pr, s, depth); break;
    case FLAT_S_UPDATE:
        print_in_ctx(pr, s->ctx, s->update.masked ? " masked " : " ", &s->update.array, 1);
        strbuf_add(pr->out, " [");
        print_var(pr, s->update.index);
        strbuf_add(pr->out, "] = ");
        print_var(pr, s->update.value);
        break;
    case FLAT_S_IF:
        print_group(pr, " ", &s->if_.cond, 1);
        print_braced(pr, " then ", s->if_.then_b, depth);
        print_braced(pr, " else ", s->if_.else_b, depth);
        break;
    case FLAT_S_LOOP: print_loop(pr, s, depth); break;
    case FLAT_S_LOOP_LIFTED: print_loop_lifted(pr, s, depth); break;
    case FLAT_S_CALL:
        strbuf_printf(pr->out, " %s", s->call.fn->name);
        print_group(pr, " ", s->call.args, s->call.nargs);
        break;
    case FLAT_S_CALL_LIFTED: print_call_lifted(pr, s, depth); break;
    }
}

static void print_dead(const Printer *pr, const char *before, const FlatVar *vars, uint32_t n)
{
    if (n)
        print_group(pr, before, vars, n);
}

static void print_stmt(const Printer *pr, const FlatStmt *s, int depth)
{
    strbuf_indent(pr->out, depth);
    marks_begin(pr->out, s->span, s);
    if (s->kind != FLAT_S_CALL_LIFTED && s->nouts) {
        print_binders(pr, s->outs, s->nouts);
        strbuf_add(pr->out, " = ");
    }
    strbuf_add(pr->out, flat_kind(s->kind)->word);
    print_operands(pr, s, depth);
    print_dead(pr, " dies ", s->dies, s->ndies);
    marks_end(pr->out);
    strbuf_add(pr->out, "\n");
}

static void print_block(const Printer *pr, const FlatBlock *b, int depth)
{
    if (b->ndies) {
        strbuf_indent(pr->out, depth);
        print_dead(pr, "dies ", b->dies, b->ndies);
        strbuf_add(pr->out, "\n");
    }
    for (uint32_t i = 0; i < b->stmts.n; i++)
        print_stmt(pr, b->stmts.at[i], depth);
    strbuf_indent(pr->out, depth);
    strbuf_add(pr->out, "-> ");
    print_vars(pr, b->results, b->nresults);
    print_dead(pr, " moves ", b->ends, b->nends);
    strbuf_add(pr->out, "\n");
}

static void print_fn(const Printer *pr)
{
    const FlatFn *fn = pr->fn;
    marks_begin(pr->out, fn->scope->span, fn);
    strbuf_printf(pr->out, "fn %s (", fn->name);
    if (fn->lifted) {
        print_binder(pr, fn->ctx);
        if (fn->nparams)
            strbuf_add(pr->out, ", ");
    }
    print_binders(pr, fn->params, fn->nparams);
    strbuf_printf(pr->out, ")%s\n", fn->recursive ? " recursive" : "");
    print_block(pr, fn->body, 1);
    marks_end(pr->out);
}

void flat_print_var(StrBuf *out, const FlatFn *fn, FlatVar v) { print_var(&(Printer){out, NULL, fn}, v); }

void flat_print_stmt(StrBuf *out, const FlatProgram *p, const FlatFn *fn, const FlatStmt *s)
{
    print_stmt(&(Printer){out, p, fn}, s, 0);
}

void flat_print(StrBuf *out, const FlatProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Printer pr = {out, p, p->fns.at[i]};
        if (i)
            strbuf_add(out, "\n");
        print_fn(&pr);
    }
}
