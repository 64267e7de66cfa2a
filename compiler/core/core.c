#include "core/core.h"

#include <string.h>

/* ---- tables ---- */

const char *core_prim_name(CorePrim p)
{
    static const char *const names[PRIM_COUNT] = {
#define PRIM(NAME, arity, text) text,
#include "core/prims.def"
#undef PRIM
    };
    return names[p];
}

uint32_t core_prim_arity(CorePrim p)
{
    static const uint8_t arities[PRIM_COUNT] = {
#define PRIM(NAME, arity, text) arity,
#include "core/prims.def"
#undef PRIM
    };
    return arities[p];
}

bool core_prim_gives_bool(CorePrim op)
{
    return (op >= PRIM_EQ && op <= PRIM_LESS_NAN_LAST) || op == PRIM_ISNAN || op == PRIM_ISINF;
}

bool core_prim_fallible(CorePrim p, Scalar operand)
{
    return (p == PRIM_DIV || p == PRIM_MOD) && scalar_is_int(operand);
}

void core_error_text(StrBuf *out, const CoreSite *site, const int64_t *v)
{
    const char *text = site->text ? site->text : "";
    long long v0 = v[0], v1 = v[1], v2 = v[2];
    switch (site->kind) {
    case ERR_INDEX: strbuf_printf(out, "index %lld out of bounds for length %lld", v0, v1); break;
    case ERR_SLICE: strbuf_printf(out, "slice %lld:%lld out of bounds for length %lld", v0, v1, v2); break;
    case ERR_LENGTHS: strbuf_printf(out, "unequal lengths: %lld and %lld", v0, v1); break;
    case ERR_SIZE: strbuf_printf(out, "size mismatch: %s is %lld, but this length is %lld", text, v0, v1); break;
    case ERR_DIVISION: strbuf_add(out, "division by zero"); break;
    case ERR_ASSERT: strbuf_add(out, "assertion failed"); break;
    case ERR_MATCH: strbuf_add(out, "no case matches"); break;
    case ERR_EMPTY: strbuf_printf(out, "%s of an empty sequence", text); break;
    case ERR_NEGATIVE: strbuf_printf(out, "negative length %lld", v0); break;
    case ERR_NEST:
        strbuf_printf(out, "lengths add up to %lld%s, but the sequence has %lld", v0, v0 == INT64_MAX ? " or more" : "",
                      v1);
        break;
    }
}

/* ---- leaves of source types ---- */

static void add_leaves(Arena *a, Type *t, uint8_t rank, CoreTypes *out);

static void add_item_leaves(Arena *a, Type **items, uint32_t n, uint8_t rank, CoreTypes *out)
{
    for (uint32_t i = 0; i < n; i++)
        if (items[i])
            add_leaves(a, items[i], rank, out);
}

Scalar core_tag_type(uint32_t n) { return n <= 1u << 8 ? SC_U8 : n <= 1u << 16 ? SC_U16 : SC_U32; }

static void add_leaves(Arena *a, Type *t, uint8_t rank, CoreTypes *out)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_SCALAR: vec_push(a, out, ((CoreType){t->scalar, rank})); break;
    case TY_TUPLE:
        if (t->tuple.n == 0)
            vec_push(a, out, ((CoreType){SC_BOOL, rank}));
        add_item_leaves(a, t->tuple.items, t->tuple.n, rank, out);
        break;
    case TY_RECORD:
        if (t->record.n == 0)
            vec_push(a, out, ((CoreType){SC_BOOL, rank}));
        add_item_leaves(a, t->record.items, t->record.n, rank, out);
        break;
    case TY_SUM:
        vec_push(a, out, ((CoreType){core_tag_type(t->record.n), rank}));
        add_item_leaves(a, t->record.items, t->record.n, rank, out);
        break;
    case TY_ARRAY: add_leaves(a, t->element, (uint8_t)(rank + 1), out); break;
    case TY_FUN:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: /* no values of these reach core */ break;
    }
}

void core_leaves(Arena *a, Type *t, CoreTypes *out) { add_leaves(a, t, 0, out); }

/* ---- construction ---- */

CoreVar core_new_var(const CoreProgram *p, CoreFn *fn, CoreType type, const char *hint)
{
    vec_push(p->arena, &fn->vars, ((CoreVarInfo){type, hint}));
    return fn->vars.n - 1;
}

CoreBlock *core_new_block(const CoreProgram *p) { return arena_new(p->arena, CoreBlock); }

CoreStmt *core_new_stmt(const CoreProgram *p, CoreKind kind, Span span)
{
    CoreStmt *s = arena_new(p->arena, CoreStmt);
    s->kind = kind;
    s->span = span;
    s->site = CORE_NO_SITE;
    return s;
}

uint32_t core_new_site(CoreProgram *p, ErrorKind kind, Span span, const char *text)
{
    vec_push(p->arena, &p->sites, ((CoreSite){kind, span, text}));
    return p->sites.n - 1;
}

void core_push(const CoreProgram *p, CoreBlock *b, CoreStmt *s) { vec_push(p->arena, &b->stmts, s); }

CoreAtom *core_identity_map(Arena *a, const CoreFn *fn)
{
    CoreAtom *map = arena_array(a, CoreAtom, fn->vars.n + 1);
    for (uint32_t v = 0; v < fn->vars.n; v++)
        map[v] = core_var_atom(v, fn->vars.at[v].type);
    return map;
}

/* ---- traversal ---- */

CoreSoac *core_stmt_soac(const CoreStmt *s)
{
    CoreStmt *m = (CoreStmt *)(uintptr_t)s; /* statements are owned by the program; constness follows the caller */
    switch (s->kind) {
    case CORE_MAP: return &m->map;
    case CORE_REDUCE:
    case CORE_SCAN: return &m->reduce.soac;
    case CORE_SCATTER: return &m->scatter.soac;
    case CORE_HIST: return &m->hist.soac;
    case CORE_ATOM:
    case CORE_PRIM:
    case CORE_LENGTH:
    case CORE_INDEX:
    case CORE_SLICE:
    case CORE_UPDATE:
    case CORE_ARRAY:
    case CORE_CHECK:
    case CORE_IF:
    case CORE_LOOP:
    case CORE_CALL:
    case CORE_ARGSORT:
    case CORE_FLATTEN: return NULL;
    }
    return NULL;
}

CoreLambda *core_stmt_operator(const CoreStmt *s)
{
    CoreStmt *m = (CoreStmt *)(uintptr_t)s;
    if (s->kind == CORE_REDUCE || s->kind == CORE_SCAN)
        return &m->reduce.op;
    return s->kind == CORE_HIST ? &m->hist.op : NULL;
}

bool core_block_is_scalar(const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!core_stmt_is_scalar(b->stmts.at[i]))
            return false;
    return true;
}

bool core_stmt_is_scalar(const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM:
    case CORE_PRIM:
    case CORE_LENGTH:
    case CORE_INDEX:
    case CORE_SLICE:
    case CORE_CHECK: return true;
    case CORE_IF: return core_block_is_scalar(s->if_.then_b) && core_block_is_scalar(s->if_.else_b);
    case CORE_LOOP: return (!s->loop.cond || core_block_is_scalar(s->loop.cond)) && core_block_is_scalar(s->loop.body);
    case CORE_UPDATE:
    case CORE_ARRAY:
    case CORE_CALL:
    case CORE_MAP:
    case CORE_REDUCE:
    case CORE_SCAN:
    case CORE_SCATTER:
    case CORE_HIST:
    case CORE_ARGSORT:
    case CORE_FLATTEN: return false;
    }
    return false;
}

typedef void AtomFn(void *ctx, CoreAtom *a);

static void each_atom(CoreAtom *atoms, uint32_t n, AtomFn *f, void *ctx)
{
    for (uint32_t i = 0; i < n; i++)
        f(ctx, &atoms[i]);
}

static void soac_atoms(CoreSoac *soac, AtomFn *f, void *ctx)
{
    f(ctx, &soac->domain);
    each_atom(soac->inputs, soac->ninputs, f, ctx);
}

void core_stmt_atoms(CoreStmt *s, AtomFn *f, void *ctx)
{
    switch (s->kind) {
    case CORE_ATOM: f(ctx, &s->atom); break;
    case CORE_PRIM: each_atom(s->prim.args, s->prim.nargs, f, ctx); break;
    case CORE_LENGTH:
    case CORE_FLATTEN: f(ctx, &s->length.array); break;
    case CORE_INDEX:
        f(ctx, &s->index.array);
        f(ctx, &s->index.index);
        break;
    case CORE_SLICE:
        f(ctx, &s->slice.array);
        f(ctx, &s->slice.from);
        f(ctx, &s->slice.to);
        break;
    case CORE_UPDATE:
        f(ctx, &s->update.array);
        f(ctx, &s->update.index);
        f(ctx, &s->update.value);
        break;
    case CORE_ARRAY: each_atom(s->array.items, s->array.n, f, ctx); break;
    case CORE_CHECK:
        f(ctx, &s->check.cond);
        each_atom(s->check.values, s->check.nvalues, f, ctx);
        break;
    case CORE_IF: f(ctx, &s->if_.cond); break;
    case CORE_LOOP:
        each_atom(s->loop.inits, s->loop.nparams, f, ctx);
        if (!s->loop.cond)
            f(ctx, &s->loop.count);
        break;
    case CORE_CALL: each_atom(s->call.args, s->call.nargs, f, ctx); break;
    case CORE_MAP: soac_atoms(&s->map, f, ctx); break;
    case CORE_REDUCE:
    case CORE_SCAN:
        soac_atoms(&s->reduce.soac, f, ctx);
        each_atom(s->reduce.neutral, s->nvars, f, ctx);
        break;
    case CORE_SCATTER:
        soac_atoms(&s->scatter.soac, f, ctx);
        each_atom(s->scatter.dests, s->scatter.ndests, f, ctx);
        break;
    case CORE_HIST:
        soac_atoms(&s->hist.soac, f, ctx);
        f(ctx, &s->hist.size);
        each_atom(s->hist.neutral, s->nvars, f, ctx);
        break;
    case CORE_ARGSORT: each_atom(s->argsort.keys, s->argsort.nkeys, f, ctx); break;
    }
}

typedef void BlockFn(void *ctx, CoreBlock *b);

static void soac_blocks(CoreSoac *soac, BlockFn *f, void *ctx)
{
    if (soac->guard)
        f(ctx, soac->guard);
    f(ctx, soac->body);
}

void core_stmt_blocks(CoreStmt *s, BlockFn *f, void *ctx)
{
    CoreSoac *soac = core_stmt_soac(s);
    if (soac)
        soac_blocks(soac, f, ctx);
    if (s->kind == CORE_REDUCE || s->kind == CORE_SCAN) {
        f(ctx, s->reduce.op.body);
    } else if (s->kind == CORE_HIST) {
        f(ctx, s->hist.op.body);
    } else if (s->kind == CORE_IF) {
        f(ctx, s->if_.then_b);
        f(ctx, s->if_.else_b);
    } else if (s->kind == CORE_LOOP) {
        if (s->loop.cond)
            f(ctx, s->loop.cond);
        f(ctx, s->loop.body);
    }
}

typedef struct DeepAtoms {
    void (*f)(void *ctx, CoreAtom *a);
    void *ctx;
} DeepAtoms;

static void deep_atoms(void *ctx, CoreBlock *b)
{
    const DeepAtoms *d = ctx;
    core_block_atoms(b, d->f, d->ctx);
}

void core_block_atoms(CoreBlock *b, void (*f)(void *ctx, CoreAtom *a), void *ctx)
{
    DeepAtoms d = {f, ctx};
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        core_stmt_atoms(b->stmts.at[i], f, ctx);
        core_stmt_blocks(b->stmts.at[i], deep_atoms, &d);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        f(ctx, &b->results[i]);
}

typedef void BinderFn(void *ctx, CoreVar *v);

static void each_binder(CoreVar *vars, uint32_t n, BinderFn *f, void *ctx)
{
    for (uint32_t i = 0; i < n; i++)
        f(ctx, &vars[i]);
}

void core_stmt_binders(CoreStmt *s, BinderFn *f, void *ctx)
{
    CoreSoac *soac = core_stmt_soac(s);
    if (soac) {
        if (soac->index != CORE_NO_VAR)
            f(ctx, &soac->index);
        each_binder(soac->elements, soac->ninputs, f, ctx);
    }
    if (s->kind == CORE_REDUCE || s->kind == CORE_SCAN) {
        each_binder(s->reduce.op.params, s->reduce.op.nparams, f, ctx);
    } else if (s->kind == CORE_HIST) {
        each_binder(s->hist.op.params, s->hist.op.nparams, f, ctx);
    } else if (s->kind == CORE_LOOP) {
        if (s->loop.index != CORE_NO_VAR)
            f(ctx, &s->loop.index);
        each_binder(s->loop.params, s->loop.nparams, f, ctx);
    }
}

/* ---- copying ---- */

typedef struct Copier {
    const CoreProgram *program;
    CoreFn *to;
    const CoreFn *from;
    CoreAtom *map;
} Copier;

static void copy_atom(void *ctx, CoreAtom *a)
{
    Copier *c = ctx;
    if (!a->is_const)
        *a = c->map[a->var];
}

static void copy_binder(void *ctx, CoreVar *v)
{
    Copier *c = ctx;
    CoreVarInfo info = c->from->vars.at[*v]; /* by value: `to` may be `from` and grow */
    CoreVar fresh = core_new_var(c->program, c->to, info.type, info.hint);
    c->map[*v] = core_var_atom(fresh, info.type);
    *v = fresh;
}

static void *copy_bytes(Copier *c, const void *at, size_t bytes)
{
    void *copy = arena_alloc(c->program->arena, bytes);
    if (bytes)
        memcpy(copy, at, bytes);
    return copy;
}
#define COPY_ARRAY(c, at, n) ((at) = copy_bytes((c), (at), (n) * sizeof *(at)))

static void copy_soac_arrays(Copier *c, CoreSoac *soac)
{
    COPY_ARRAY(c, soac->inputs, soac->ninputs);
    COPY_ARRAY(c, soac->elements, soac->ninputs);
}

/* Gives the copied node arrays of its own. Blocks are still the old ones. */
static void copy_arrays(Copier *c, CoreStmt *s)
{
    CoreSoac *soac = core_stmt_soac(s);
    if (soac)
        copy_soac_arrays(c, soac);
    COPY_ARRAY(c, s->vars, s->nvars);
    switch (s->kind) {
    case CORE_PRIM: COPY_ARRAY(c, s->prim.args, s->prim.nargs); break;
    case CORE_ARRAY: COPY_ARRAY(c, s->array.items, s->array.n); break;
    case CORE_LOOP:
        COPY_ARRAY(c, s->loop.params, s->loop.nparams);
        COPY_ARRAY(c, s->loop.inits, s->loop.nparams);
        break;
    case CORE_CALL: COPY_ARRAY(c, s->call.args, s->call.nargs); break;
    case CORE_REDUCE:
    case CORE_SCAN:
        COPY_ARRAY(c, s->reduce.neutral, s->nvars);
        COPY_ARRAY(c, s->reduce.op.params, s->reduce.op.nparams);
        break;
    case CORE_SCATTER: COPY_ARRAY(c, s->scatter.dests, s->scatter.ndests); break;
    case CORE_HIST:
        COPY_ARRAY(c, s->hist.neutral, s->nvars);
        COPY_ARRAY(c, s->hist.op.params, s->hist.op.nparams);
        break;
    case CORE_ARGSORT: COPY_ARRAY(c, s->argsort.keys, s->argsort.nkeys); break;
    case CORE_ATOM:
    case CORE_LENGTH:
    case CORE_INDEX:
    case CORE_SLICE:
    case CORE_UPDATE:
    case CORE_CHECK:
    case CORE_IF:
    case CORE_MAP:
    case CORE_FLATTEN: break;
    }
}

static CoreBlock *copy_block(Copier *c, const CoreBlock *b);

static void copy_blocks(Copier *c, CoreStmt *s)
{
    CoreSoac *soac = core_stmt_soac(s);
    if (soac) {
        if (soac->guard)
            soac->guard = copy_block(c, soac->guard);
        soac->body = copy_block(c, soac->body);
    }
    if (s->kind == CORE_REDUCE || s->kind == CORE_SCAN) {
        s->reduce.op.body = copy_block(c, s->reduce.op.body);
    } else if (s->kind == CORE_HIST) {
        s->hist.op.body = copy_block(c, s->hist.op.body);
    } else if (s->kind == CORE_IF) {
        s->if_.then_b = copy_block(c, s->if_.then_b);
        s->if_.else_b = copy_block(c, s->if_.else_b);
    } else if (s->kind == CORE_LOOP) {
        if (s->loop.cond)
            s->loop.cond = copy_block(c, s->loop.cond);
        s->loop.body = copy_block(c, s->loop.body);
    }
}

static CoreStmt *copy_stmt(Copier *c, const CoreStmt *old)
{
    CoreStmt *s = arena_new(c->program->arena, CoreStmt);
    *s = *old;
    copy_arrays(c, s);
    core_stmt_atoms(s, copy_atom, c); /* before the binders: what the statement reads is bound outside it */
    core_stmt_binders(s, copy_binder, c);
    copy_blocks(c, s);
    each_binder(s->vars, s->nvars, copy_binder, c);
    return s;
}

static CoreBlock *copy_block(Copier *c, const CoreBlock *b)
{
    CoreBlock *copy = core_new_block(c->program);
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_push(c->program, copy, copy_stmt(c, b->stmts.at[i]));
    copy->nresults = b->nresults;
    copy->results = copy_bytes(c, b->results, b->nresults * sizeof *b->results);
    each_atom(copy->results, copy->nresults, copy_atom, c);
    return copy;
}

CoreBlock *core_copy_block(const CoreProgram *p, CoreFn *to, const CoreFn *from, const CoreBlock *b, CoreAtom *map)
{
    Copier c = {p, to, from, map};
    return copy_block(&c, b);
}

static void refresh_fn(CoreProgram *p, CoreFn *fn)
{
    Arena *scratch = arena_create();
    CoreFn old = *fn;
    Copier c = {p, fn, &old, arena_array(scratch, CoreAtom, old.vars.n + 1)};
    fn->vars.at = NULL;
    fn->vars.n = fn->vars.cap = 0;
    COPY_ARRAY(&c, fn->params, fn->nparams);
    each_binder(fn->params, fn->nparams, copy_binder, &c);
    fn->body = copy_block(&c, old.body);
    arena_destroy(scratch);
}

void core_refresh(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++)
        refresh_fn(p, p->fns.at[i]);
}

/* ---- may it fail? ---- */

typedef struct Fallibility {
    const CoreProgram *program;
    const CoreFn *fn;
    bool found;
} Fallibility;

static void block_fallible(void *ctx, CoreBlock *b)
{
    Fallibility *f = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !f->found; i++)
        f->found = core_stmt_fallible(f->program, f->fn, b->stmts.at[i]);
}

static bool prim_stmt_fallible(const CoreFn *fn, const CoreStmt *s)
{
    if (!core_prim_fallible(s->prim.op, core_atom_type(fn, s->prim.args[0]).scalar))
        return false;
    return !s->prim.args[1].is_const || s->prim.args[1].bits == 0;
}

bool core_stmt_fallible(const CoreProgram *p, const CoreFn *fn, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM:
    case CORE_LENGTH:
    case CORE_ARRAY:
    case CORE_ARGSORT:
    case CORE_FLATTEN: return false;
    case CORE_PRIM: return prim_stmt_fallible(fn, s);
    case CORE_INDEX:
    case CORE_SLICE:
    case CORE_UPDATE: return s->site != CORE_NO_SITE;
    case CORE_CHECK:
    case CORE_CALL: return true;
    case CORE_LOOP:
        if (s->loop.cond) /* it may not end */
            return true;
        break;
    case CORE_IF:
    case CORE_MAP:
    case CORE_REDUCE:
    case CORE_SCAN:
    case CORE_SCATTER:
    case CORE_HIST: break;
    }
    Fallibility f = {p, fn, false};
    core_stmt_blocks((CoreStmt *)(uintptr_t)s, block_fallible, &f); /* reads only */
    return f.found;
}
