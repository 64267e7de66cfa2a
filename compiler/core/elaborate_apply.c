/* Application. Arguments are gathered until a function has all of its own; then it is expanded in place,
 * or called if it must stay a function (see `stays_function`). */
#include "core/elaborate_internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

/* Budgets of what grows when functions are expanded where they are applied. Beyond those of the program it is refused;
 * beyond the constants', definitions without parameters are called. */
enum {
    MOST_STEPS = 200000,    /* applications */
    MOST_EXPANDED = 400000, /* statements made by applications expanded in place */
    MOST_IN_CONSTANTS =
        20000 /* statements and applications by definitions without parameters where these are mentioned */
};

void elab_give_up(Elab *e, DiagCode code, const char *format, ...)
{
    if (e->gave_up)
        return;
    e->gave_up = true;
    char text[400];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    diag_error(e->s, e->at, code, "%s", text);
}

/* ---- arity ---- */

static bool is_recursive(const Elab *e, const Value *f)
{
    if (f->fun.kind == FUN_DEF)
        return e->checked->defs[f->fun.def->index].recursive;
    return f->fun.kind == FUN_LOCAL && f->fun.env->recursive;
}

/* Recursive functions take all arguments their type has, so that a call's result is never a function. */
uint32_t elab_fun_arity(Elab *e, const Value *f)
{
    switch (f->fun.kind) {
    case FUN_LAMBDA: return f->fun.expr->lambda.nparams;
    case FUN_LOCAL: return is_recursive(e, f) ? ty_arity(f->fun.base) : f->fun.env->let_fun->let_fun.def->nparams;
    case FUN_DEF: return is_recursive(e, f) ? ty_arity(f->fun.base) : f->fun.def->nparams;
    case FUN_BUILTIN: return elab_builtin_arity(f->fun.builtin);
    case FUN_OP: return 2;
    case FUN_POISON: return ty_arity(f->fun.base);
    }
    return 0;
}

/* ---- expanding in place ---- */

static Value *inline_params(Elab *e, Scope sc, Pat *const *params, uint32_t n, Value **args, Expr *body,
                            const TypeExpr *result)
{
    for (uint32_t i = 0; i < n; i++)
        elab_bind_pattern(e, &sc, params[i], args[i]);
    e->sizes_hold = false;
    Value *v = elab_expr(e, &sc, body);
    if (result) {
        Span outer = e->at;
        e->at = elab_place(e, &sc, result->span);
        elab_sizes(e, &sc, result, v);
        e->at = outer;
    }
    return v;
}

Scope elab_scope_of(Elab *e, const Value *f)
{
    Scope sc = {f->fun.env, f->fun.targs, f->fun.ntargs, f->fun.user};
    if (f->fun.kind != FUN_LAMBDA)
        sc.env = f->fun.kind == FUN_LOCAL ? env_of_local(e, f->fun.env) : NULL;
    if (f->fun.kind == FUN_DEF)
        sc.user = e->at; /* places in the library are its caller's */
    return sc;
}

Value *elab_inline(Elab *e, const Value *f, Value **args, uint32_t n)
{
    Scope sc = elab_scope_of(e, f);
    const Def *def = f->fun.kind == FUN_LOCAL ? f->fun.env->let_fun->let_fun.def : f->fun.def;
    if (f->fun.kind == FUN_LAMBDA) {
        const Expr *x = f->fun.expr;
        return inline_params(e, sc, x->lambda.params, n, args, x->lambda.body, NULL);
    }
    uint32_t own = def->nparams < n ? def->nparams : n;
    Value *v = inline_params(e, sc, def->params, own, args, def->body, def->result);
    return n > own ? elab_apply(e, v, args + own, n - own) : v; /* eta-expanded recursive functions */
}

/* Core functions take and return data. The user's own first-order functions stay functions, to be
 * inlined later if that pays; recursive ones must. */
static bool stays_function(Elab *e, const Value *f, Value **args, uint32_t n)
{
    if (is_recursive(e, f))
        return true;
    if (f->fun.kind != FUN_DEF || e->checked->defs[f->fun.def->index].is_library)
        return false;
    if (n == 0 && e->in_constants < MOST_IN_CONSTANTS)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (val_has_function(args[i]))
            return false;
    return !ty_has_function(ty_after(f->fun.base, n));
}

static Value *expand(Elab *e, const Value *f, Value **args, uint32_t n)
{
    bool constant = n == 0;
    e->expansions_open++;
    e->constants_open += constant;
    e->in_constants += e->constants_open > 0;
    Value *v = elab_inline(e, f, args, n);
    e->constants_open -= constant;
    e->expansions_open--;
    return v;
}

static Value *call(Elab *e, const Value *f, Value **args, uint32_t n)
{
    switch (f->fun.kind) {
    case FUN_LAMBDA:
    case FUN_LOCAL:
    case FUN_DEF: return stays_function(e, f, args, n) ? elab_call(e, f, args, n) : expand(e, f, args, n);
    case FUN_BUILTIN: return elab_builtin(e, f->fun.builtin, f->fun.base, args);
    case FUN_OP: return elab_binary_values(e, f->fun.op, args[f->fun.flip ? 1 : 0], args[f->fun.flip ? 0 : 1]);
    case FUN_POISON: break;
    }
    return val_default(e, ty_after(f->fun.base, n));
}

Value *elab_apply(Elab *e, const Value *f, Value **args, uint32_t n)
{
    assert(f->kind == VALUE_FUN && "elaborate: only functions are applied");
    uint32_t have = f->fun.nargs, arity = elab_fun_arity(e, f);
    Value **all = arena_array(e->arena, Value *, have + n);
    for (uint32_t i = 0; i < have; i++)
        all[i] = f->fun.args[i];
    for (uint32_t i = 0; i < n; i++)
        all[have + i] = args[i];
    if (have + n < arity) {
        Value *partial = arena_new(e->arena, Value);
        *partial = *f;
        partial->fun.args = all;
        partial->fun.nargs = have + n;
        partial->type = ty_after(f->type, n);
        return partial;
    }
    if (++e->steps > MOST_STEPS || e->in_expansions > MOST_EXPANDED)
        elab_give_up(e, DIAG_EXPANSION, "the program becomes too big when its higher-order functions are expanded");
    if (e->gave_up)
        return val_default(e, ty_after(f->type, n));
    Value *v = call(e, f, all, arity);
    return have + n > arity ? elab_apply(e, v, all + arity, have + n - arity) : v;
}

/* ---- application expressions ---- */

typedef VEC(Expr *) Exprs;

/* `x |> f a` and `f a <| x` are `f a x`: one head and all of its arguments. */
static Expr *spine(Elab *e, Expr *x, Exprs *args)
{
    if (x->kind == E_APPLY) {
        Expr *head = spine(e, x->apply.fn, args);
        for (uint32_t i = 0; i < x->apply.nargs; i++)
            vec_push(e->arena, args, x->apply.args[i]);
        return head;
    }
    if (x->kind == E_PIPE) {
        Expr *head = spine(e, x->pipe.fn, args);
        vec_push(e->arena, args, x->pipe.value);
        return head;
    }
    return x;
}

/* `assert c x` checks before x is evaluated; so do the library's own checks. */
static Value *guarding_builtin(Elab *e, const Scope *sc, const Ref *ref, const Exprs *args)
{
    if (ref->kind != REF_PRIM)
        return NULL;
    if (ref->builtin == BI_assert && args->n >= 2) {
        anf_check(e, elab_scalar(e, sc, args->at[0]), ERR_ASSERT, NULL, NULL, 0);
        return elab_expr(e, sc, args->at[1]);
    }
    if (ref->builtin == BI_check_lengths__ && args->n >= 3) {
        CoreAtom n = elab_scalar(e, sc, args->at[0]);
        anf_check_lengths(e, n, elab_scalar(e, sc, args->at[1]));
        return elab_expr(e, sc, args->at[2]);
    }
    if (ref->builtin == BI_check_nonempty__ && args->n >= 2 && args->at[0]->kind == E_STRING) {
        const Expr *text = args->at[0];
        Value *xs = elab_expr(e, sc, args->at[1]);
        CoreAtom some = anf_compare(e, PRIM_GT, anf_length(e, xs), core_i64(0));
        const char *what = arena_strndup(e->arena, (const char *)text->string.bytes, text->string.n);
        anf_check(e, some, ERR_EMPTY, what, NULL, 0);
        return xs;
    }
    return NULL;
}

Value *elab_application(Elab *e, const Scope *sc, Expr *x)
{
    Exprs exprs = {0};
    Expr *head = spine(e, x, &exprs);
    uint32_t first = 0;
    Value *f = NULL;
    if (head->kind == E_NAME || head->kind == E_FIELD)
        f = guarding_builtin(e, sc, &e->checked->refs[head->id], &exprs);
    if (f)
        first = elab_builtin_arity(e->checked->refs[head->id].builtin);
    else
        f = elab_expr(e, sc, head);
    Value **args = arena_array(e->arena, Value *, exprs.n);
    for (uint32_t i = first; i < exprs.n; i++)
        args[i] = elab_expr(e, sc, exprs.at[i]);
    return first == exprs.n && first > 0 ? f : elab_apply(e, f, args + first, exprs.n - first);
}
