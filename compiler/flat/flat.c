#include "flat/flat.h"

#include <stddef.h>

/* ---- tables ---- */

static const FlatKindInfo kinds[] = {
#define AT(member) (uint16_t) offsetof(FlatStmt, member)
#define VAR(member) {FLAT_FIELD_VAR, AT(member), 0},
#define VARS(array, n) {FLAT_FIELD_VARS, AT(array), AT(n)},
#define PARAM(member) {FLAT_FIELD_PARAM, AT(member), 0},
#define PARAMS(array, n) {FLAT_FIELD_PARAMS, AT(array), AT(n)},
#define BLOCK(member) {FLAT_FIELD_BLOCK, AT(member), 0},
#define BODY(places) {FLAT_FIELD_BODY, AT(body), places},
#define OP {FLAT_FIELD_OP, AT(reduce.op), 0},
#define THEN {FLAT_FIELD_THEN, AT(reduce.then), 0},
#define PARTS {FLAT_FIELD_PARTS, AT(merge), 0},
#define SITES {FLAT_FIELD_SITES, AT(call_lifted), 0},
#define NEVER FLAT_CAPTURES_NEVER
#define KIND(NAME, text, kernel, captures, ...) [FLAT_S_##NAME] = {text, captures, {__VA_ARGS__{FLAT_FIELD_END, 0, 0}}},
#include "flat/kinds.def"
#undef AT
#undef VAR
#undef VARS
#undef PARAM
#undef PARAMS
#undef BLOCK
#undef BODY
#undef OP
#undef THEN
#undef PARTS
#undef SITES
#undef NEVER
#undef KIND
};

const FlatKindInfo *flat_kind(FlatKind kind) { return &kinds[kind]; }

static const FlatField *find_field(FlatKind kind, FlatFieldKind wanted)
{
    const FlatField *f = kinds[kind].fields;
    while (f->kind && f->kind != wanted)
        f++;
    return f;
}

bool flat_kind_has_body(FlatKind kind) { return find_field(kind, FLAT_FIELD_BODY)->kind; }
bool flat_kind_has_op(FlatKind kind) { return find_field(kind, FLAT_FIELD_OP)->kind; }
uint32_t flat_kind_places(FlatKind kind) { return find_field(kind, FLAT_FIELD_BODY)->count; }

static const void *member(const FlatStmt *s, uint16_t at) { return (const char *)s + at; }

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

static void read_parts(const Reader *r, const FlatStmt *s)
{
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

static void read_field(const Reader *r, const FlatStmt *s, const FlatField *f)
{
    switch (f->kind) {
    case FLAT_FIELD_VAR: read_var(r, *(const FlatVar *)member(s, f->at)); break;
    case FLAT_FIELD_VARS:
        read_vars(r, *(FlatVar *const *)member(s, f->at), *(const uint32_t *)member(s, f->count));
        break;
    case FLAT_FIELD_BODY: read_body(r, &s->body); break;
    case FLAT_FIELD_OP: read_op(r, &s->reduce.op); break;
    case FLAT_FIELD_THEN: read_inputs(r, &s->reduce.then.inputs); break;
    case FLAT_FIELD_PARTS: read_parts(r, s); break;
    case FLAT_FIELD_SITES: read_sites(r, s); break;
    case FLAT_FIELD_PARAM:
    case FLAT_FIELD_PARAMS:
    case FLAT_FIELD_BLOCK:
    case FLAT_FIELD_END: break;
    }
}

void flat_stmt_reads(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx)
{
    Reader r = {f, ctx};
    for (const FlatField *field = kinds[s->kind].fields; field->kind; field++)
        read_field(&r, s, field);
}

/* ---- blocks and binders ---- */

void flat_stmt_blocks(const FlatStmt *s, void (*f)(void *ctx, FlatBlock *b), void *ctx)
{
    for (const FlatField *field = kinds[s->kind].fields; field->kind; field++) {
        FlatBlock *b = field->kind == FLAT_FIELD_BLOCK ? *(FlatBlock *const *)member(s, field->at) : NULL;
        if (b)
            f(ctx, b);
    }
}

void flat_stmt_binds(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx)
{
    Reader r = {f, ctx};
    read_vars(&r, s->outs, s->nouts);
    for (uint32_t i = 0; s->kind == FLAT_S_CALL_LIFTED && i < s->call_lifted.nsites; i++)
        read_vars(&r, s->call_lifted.sites[i].outs, s->call_lifted.nresults);
}

void flat_stmt_params(const FlatStmt *s, void (*f)(void *ctx, FlatVar v), void *ctx)
{
    Reader r = {f, ctx};
    for (const FlatField *field = kinds[s->kind].fields; field->kind; field++)
        if (field->kind == FLAT_FIELD_PARAM)
            read_var(&r, *(const FlatVar *)member(s, field->at));
        else if (field->kind == FLAT_FIELD_PARAMS)
            read_vars(&r, *(FlatVar *const *)member(s, field->at), *(const uint32_t *)member(s, field->count));
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

void flat_count_read(void *reads, FlatVar v) { ((uint32_t *)reads)[v]++; }
void flat_uncount_read(void *reads, FlatVar v) { ((uint32_t *)reads)[v]--; }

void flat_count_block(void *reads, FlatBlock *b)
{
    for (uint32_t i = 0; i < b->nresults; i++)
        flat_count_read(reads, b->results[i]);
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        flat_stmt_reads(b->stmts.at[i], flat_count_read, reads);
        flat_stmt_blocks(b->stmts.at[i], flat_count_block, reads);
    }
}
