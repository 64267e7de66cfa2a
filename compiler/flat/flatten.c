#include "flat/flatten_internal.h"

#include <assert.h>

/* ---- variables ---- */

static FlatVar new_var(FlattenFn *f, FlatVarInfo info)
{
    vec_push(f->arena, &f->fn->vars, info);
    return f->fn->vars.n - 1;
}

FlatVar new_host(FlattenFn *f, CoreType type, const char *hint)
{
    return new_var(f, (FlatVarInfo){FLAT_HOST, type, FLAT_NO_VAR, CTX_FN, hint, 0, NULL});
}

FlatVar new_col(FlattenFn *f, FlatVar ctx, CoreType type, const char *hint)
{
    assert(ctx != FLAT_ROOT);
    return new_var(f, (FlatVarInfo){FLAT_COL, type, ctx, CTX_FN, hint, 0, NULL});
}

FlatVar new_ctx(FlattenFn *f, FlatCtxKind kind, FlatVar parent)
{
    return new_var(f, (FlatVarInfo){FLAT_CTX, {SC_I64, 0}, parent, kind, NULL, 0, NULL});
}

FlatVar new_value(FlattenFn *f, FlatVar ctx, CoreType type, const char *hint)
{
    return ctx == FLAT_ROOT ? new_host(f, type, hint) : new_col(f, ctx, type, hint);
}

FlatVar ctx_parent(const FlattenFn *f, FlatVar ctx) { return f->fn->vars.at[ctx].ctx; }

FlatStmt *flat_emit(FlattenFn *f, FlatKind kind, Span span, uint32_t nouts)
{
    FlatStmt *s = arena_new(f->arena, FlatStmt);
    s->kind = kind;
    s->span = span;
    s->ctx = FLAT_NO_VAR;
    s->nouts = nouts;
    s->outs = arena_array(f->arena, FlatVar, nouts ? nouts : 1);
    for (uint32_t i = 0; i < nouts; i++)
        s->outs[i] = FLAT_NO_VAR;
    vec_push(f->arena, &f->block->stmts, s);
    return s;
}

CoreType atom_type(const FlattenFn *f, CoreAtom a) { return a.is_const ? a.type : core_var_type(f->scope, a.var); }

CoreVar fresh_core_var(FlattenFn *f, CoreType type, const char *hint)
{
    return core_new_var(f->core, f->scope, type, hint);
}

VarState *var_state(FlattenFn *f, CoreVar v)
{
    while (f->vars.n <= v) {
        VarState none = {0};
        vec_push(f->arena, &f->vars, none);
    }
    return &f->vars.at[v];
}

void set_val(FlattenFn *f, CoreVar v, Val val)
{
    VarState *state = var_state(f, v);
    if (f->block_depth)
        vec_push(f->arena, &f->undo, ((Undo){v, state->val}));
    state->val = val;
}

void bind_value(FlattenFn *f, CoreVar v, FlatVar x)
{
    ValKind kind = f->fn->vars.at[x].kind == FLAT_HOST ? VAL_HOST : VAL_COL;
    set_val(f, v, (Val){.kind = kind, .var = x, .ctx = f->fn->vars.at[x].ctx});
}

FlatBlock *block_begin(FlattenFn *f, BlockMark *mark)
{
    *mark = (BlockMark){f->block, f->undo.n, f->memos.n, f->selected.n};
    f->block = arena_new(f->arena, FlatBlock);
    f->block_depth++;
    return f->block;
}

void block_end(FlattenFn *f, const BlockMark *mark)
{
    while (f->undo.n > mark->undo) {
        Undo u = f->undo.at[--f->undo.n];
        var_state(f, u.var)->val = u.val;
    }
    f->memos.n = mark->memos;
    f->selected.n = mark->selected;
    f->block = mark->saved;
    f->block_depth--;
}

/* ---- functions ---- */

/* The core function's head over a copy of its variables. */
static CoreFn *new_scope(Arena *a, const CoreFn *core_fn)
{
    CoreFn *scope = arena_new(a, CoreFn);
    *scope = *core_fn;
    scope->vars.at = NULL;
    scope->vars.n = scope->vars.cap = 0;
    for (uint32_t v = 0; v < core_fn->vars.n; v++)
        vec_push(a, &scope->vars, core_fn->vars.at[v]);
    return scope;
}

static FlatFn *new_function(Flattener *all, const CoreFn *core_fn, bool lifted)
{
    FlatFn *fn = arena_new(all->arena, FlatFn);
    fn->name = lifted ? arena_printf(all->arena, "%s_lifted", core_fn->name) : core_fn->name;
    fn->index = all->program->fns.n;
    fn->lifted = lifted;
    fn->recursive = core_fn->recursive;
    fn->ctx = FLAT_NO_VAR;
    fn->scope = new_scope(all->arena, core_fn);
    vec_push(all->arena, &all->program->fns, fn);
    return fn;
}

FlatFn *want_function(Flattener *all, const CoreFn *core_fn, bool lifted)
{
    FlatFn **version = &all->versions[lifted][core_fn->index];
    if (!*version)
        *version = new_function(all, core_fn, lifted);
    return *version;
}

static void flatten_function(Flattener *all, FlatFn *fn)
{
    CoreFn *scope = fn->scope;
    FlattenFn f = {.all = all, .arena = all->arena, .core = all->core, .scope = scope, .fn = fn};
    f.host.ctx = FLAT_ROOT;
    count_uses(&f, scope->body);
    fn->body = f.block = arena_new(all->arena, FlatBlock);
    FlatVar ctx = FLAT_ROOT;
    if (fn->lifted)
        ctx = fn->ctx = new_ctx(&f, CTX_FN, FLAT_NO_VAR);
    fn->nparams = scope->nparams;
    fn->params = arena_array(all->arena, FlatVar, scope->nparams ? scope->nparams : 1);
    for (uint32_t i = 0; i < scope->nparams; i++) {
        CoreVar v = scope->params[i];
        fn->params[i] = new_value(&f, ctx, core_var_type(scope, v), scope->vars.at[v].hint);
        bind_value(&f, v, fn->params[i]);
    }
    BlockTask *task = task_new(&f, ctx, scope->body);
    schedule_run(&f, task);
    fn->body->results = task_results(&f, task, scope->span);
    fn->body->nresults = scope->body->nresults;
}

FlatProgram *flatten(const CoreProgram *core)
{
    Flattener all = {.core = core, .arena = core->arena};
    all.program = arena_new(all.arena, FlatProgram);
    all.program->arena = all.arena;
    all.program->core = core;
    FlatFn **tables[2];
    for (int i = 0; i < 2; i++)
        tables[i] = arena_array(all.arena, FlatFn *, core->fns.n ? core->fns.n : 1);
    all.versions = tables;
    all.calls = arena_array(all.arena, uint32_t, core->fns.n + 1);
    for (uint32_t i = 0; i < core->entries.n; i++) {
        FlatEntry e = {&core->entries.at[i], want_function(&all, core->entries.at[i].fn, false)};
        vec_push(all.arena, &all.program->entries, e);
    }
    for (uint32_t i = 0; i < all.program->fns.n; i++) /* grows while functions are wanted */
        flatten_function(&all, all.program->fns.at[i]);
    return all.program;
}
