#include "flat/flat.h"

/* ---- what a statement reads ---- */

typedef struct Reader {
    void (*f)(void *ctx, FlatVar v);
    void *ctx;
} Reader;

static void read_var(const Reader *r, FlatVar v)
{
    if (v != FLAT_NO_VAR && v != FLAT_ROOT)
        r->f(r->ctx, v);
}

static void read_vars(const Reader *r, const FlatVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        read_var(r, vars[i]);
}

static void read_inputs(const Reader *r, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        if (in->kind != IN_POS)
            read_var(r, in->var);
        if (in->kind == IN_ELEM || in->kind == IN_POS)
            read_var(r, in->ctx);
    }
}

static void read_body(const Reader *r, const FlatBody *body)
{
    read_var(r, body->ctx);
    read_inputs(r, &body->inputs);
}

static void read_op(const Reader *r, const FlatOp *op)
{
    read_inputs(r, &op->inputs);
    read_inputs(r, &op->neutral_inputs);
}

static void read_merge(const Reader *r, const FlatStmt *s)
{
    read_var(r, s->ctx);
    for (uint32_t i = 0; i < s->merge.nparts; i++) {
        read_var(r, s->merge.parts[i].ctx);
        read_vars(r, s->merge.parts[i].cols, s->nouts);
    }
}

static void read_sites(const Reader *r, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        read_var(r, s->call_lifted.sites[i].ctx);
        read_vars(r, s->call_lifted.sites[i].args, s->call_lifted.nargs);
    }
}

void flat_stmt_reads(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx)
{
    Reader r = {f, ctx};
    if (flat_kind_has_body(s->kind))
        read_body(&r, &s->body);
    switch (s->kind) {
    case FLAT_S_HOST:
    case FLAT_S_KERNEL:
    case FLAT_S_ARRAY:
    case FLAT_S_PACK: break;
    case FLAT_S_NESTED: read_var(&r, s->nested.source); break;
    case FLAT_S_SPLIT:
        read_var(&r, s->ctx);
        read_var(&r, s->split.cond);
        break;
    case FLAT_S_ELEMS:
    case FLAT_S_SELECT:
    case FLAT_S_VIEWS:
    case FLAT_S_ARGSORT:
    case FLAT_S_FLATTEN:
        read_var(&r, s->ctx);
        read_vars(&r, s->arrays.arrays, s->arrays.n);
        break;
    case FLAT_S_MERGE: read_merge(&r, s); break;
    case FLAT_S_REDUCE:
    case FLAT_S_SCAN: read_op(&r, &s->reduce.op); break;
    case FLAT_S_HIST:
        read_op(&r, &s->reduce.op);
        read_var(&r, s->reduce.size);
        break;
    case FLAT_S_SCATTER: read_vars(&r, s->scatter.dests, s->scatter.n); break;
    case FLAT_S_UPDATE:
        read_var(&r, s->ctx);
        read_var(&r, s->update.array);
        read_var(&r, s->update.index);
        read_var(&r, s->update.value);
        break;
    case FLAT_S_IF: read_var(&r, s->if_.cond); break;
    case FLAT_S_LOOP:
        read_vars(&r, s->loop.inits, s->loop.nparams);
        if (s->loop.index != FLAT_NO_VAR)
            read_var(&r, s->loop.count);
        break;
    case FLAT_S_LOOP_LIFTED:
        read_var(&r, s->ctx);
        read_vars(&r, s->loop_lifted.inits, s->loop_lifted.nparams);
        break;
    case FLAT_S_CALL: read_vars(&r, s->call.args, s->call.nargs); break;
    case FLAT_S_CALL_LIFTED: read_sites(&r, s); break;
    }
}

/* ---- blocks and binders ---- */

void flat_stmt_blocks(const FlatStmt *s, void (*f)(void *ctx, FlatBlock *b), void *ctx)
{
    if (s->kind == FLAT_S_IF) {
        f(ctx, s->if_.then_b);
        f(ctx, s->if_.else_b);
    } else if (s->kind == FLAT_S_LOOP) {
        if (s->loop.index == FLAT_NO_VAR)
            f(ctx, s->loop.cond);
        f(ctx, s->loop.body);
    } else if (s->kind == FLAT_S_LOOP_LIFTED) {
        f(ctx, s->loop_lifted.cond);
        f(ctx, s->loop_lifted.body);
    }
}

void flat_stmt_binds(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx)
{
    Reader r = {f, ctx};
    if (s->kind == FLAT_S_CALL_LIFTED) {
        for (uint32_t i = 0; i < s->call_lifted.nsites; i++)
            read_vars(&r, s->call_lifted.sites[i].outs, s->call_lifted.nresults);
    } else {
        read_vars(&r, s->outs, s->nouts);
    }
}

void flat_stmt_params(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx)
{
    Reader r = {f, ctx};
    if (s->kind == FLAT_S_LOOP) {
        read_vars(&r, s->loop.params, s->loop.nparams);
        read_var(&r, s->loop.index);
    } else if (s->kind == FLAT_S_LOOP_LIFTED) {
        read_var(&r, s->loop_lifted.active);
        read_vars(&r, s->loop_lifted.params, s->loop_lifted.nparams);
    }
}

/* ---- tables ---- */

bool flat_kind_has_body(FlatKind kind)
{
    switch (kind) {
    case FLAT_S_HOST:
    case FLAT_S_KERNEL:
    case FLAT_S_ARRAY:
    case FLAT_S_PACK:
    case FLAT_S_REDUCE:
    case FLAT_S_SCAN:
    case FLAT_S_SCATTER:
    case FLAT_S_HIST: return true;
    case FLAT_S_NESTED:
    case FLAT_S_SPLIT:
    case FLAT_S_ELEMS:
    case FLAT_S_SELECT:
    case FLAT_S_VIEWS:
    case FLAT_S_MERGE:
    case FLAT_S_ARGSORT:
    case FLAT_S_FLATTEN:
    case FLAT_S_UPDATE:
    case FLAT_S_IF:
    case FLAT_S_LOOP:
    case FLAT_S_LOOP_LIFTED:
    case FLAT_S_CALL:
    case FLAT_S_CALL_LIFTED: return false;
    }
    return false;
}

const char *flat_kind_name(FlatKind kind)
{
    switch (kind) {
    case FLAT_S_HOST: return "host";
    case FLAT_S_KERNEL: return "kernel";
    case FLAT_S_ARRAY: return "array";
    case FLAT_S_NESTED: return "nested";
    case FLAT_S_PACK: return "pack";
    case FLAT_S_SPLIT: return "split";
    case FLAT_S_ELEMS: return "elems";
    case FLAT_S_SELECT: return "select";
    case FLAT_S_VIEWS: return "views";
    case FLAT_S_MERGE: return "merge";
    case FLAT_S_REDUCE: return "reduce";
    case FLAT_S_SCAN: return "scan";
    case FLAT_S_SCATTER: return "scatter";
    case FLAT_S_HIST: return "hist";
    case FLAT_S_ARGSORT: return "argsort";
    case FLAT_S_FLATTEN: return "flatten";
    case FLAT_S_UPDATE: return "update";
    case FLAT_S_IF: return "if";
    case FLAT_S_LOOP: return "loop";
    case FLAT_S_LOOP_LIFTED: return "loop_lifted";
    case FLAT_S_CALL: return "call";
    case FLAT_S_CALL_LIFTED: return "call_lifted";
    }
    return "?";
}

bool flat_ctx_is_below(const FlatFn *fn, FlatVar c, FlatVar d)
{
    if (d == FLAT_ROOT)
        return true;
    while (c != FLAT_ROOT && c != FLAT_NO_VAR) {
        if (c == d)
            return true;
        if (c >= fn->vars.n)
            return false;
        c = fn->vars.at[c].ctx;
    }
    return false;
}
