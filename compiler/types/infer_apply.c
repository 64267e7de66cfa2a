#include "types/check_internal.h"

/* Names, application, pipes, operators and sections. */

/* ---- names ---- */

static void use_poly(Checker *c, const Expr *e, const Poly *p, Type **type)
{
    Ref *ref = &c->out->refs[e->id];
    ref->nargs = p->n;
    ref->args = arena_array(c->arena, Type *, p->n);
    *type = instantiate(c, p, ref->args);
    RefUse use = {e, p->rigids, false};
    if (p->n)
        vec_push(c->arena, &c->refs, use);
}

static Type *infer_global(Checker *c, const Expr *e, const Def *def)
{
    Type *t = c->monos[def->index];
    if (t) { /* inside its own component: one type, no instances */
        RefUse use = {e, NULL, true};
        vec_push(c->arena, &c->refs, use);
        return t;
    }
    use_poly(c, e, &c->polys[def->index], &t);
    return t;
}

Type *infer_name(Checker *c, Expr *e)
{
    Ref *ref = &c->out->refs[e->id];
    Type *t = c->error;
    switch (ref->kind) {
    case REF_NONE: return c->error; /* reported when resolving */
    case REF_LOCAL:
        t = c->out->pat_types[ref->pat_id];
        return t ? t : c->error;
    case REF_DEF: return infer_global(c, e, ref->def);
    case REF_LOCAL_FUN: {
        const LocalFun *f = ptrmap_get(&c->local_funs, ref->def);
        if (f)
            use_poly(c, e, &f->poly, &t);
        return t;
    }
    case REF_PRIM: use_poly(c, e, &c->builtins[ref->builtin], &t); return t;
    case REF_SIZE: return c->scalars[SC_I64];
    }
    return t;
}

/* ---- application ---- */

/* What is applied, for messages. */
static const Def *called_def(const Checker *c, const Expr *fn)
{
    if (fn->kind != E_NAME && fn->kind != E_FIELD)
        return NULL;
    const Ref *ref = &c->out->refs[fn->id];
    bool named = ref->kind == REF_DEF || ref->kind == REF_LOCAL_FUN;
    return named ? ref->def : NULL;
}

static Why param_why(const Checker *c, const Expr *fn, uint32_t i)
{
    const Def *def = called_def(c, fn);
    bool library = def && c->out->refs[fn->id].kind == REF_DEF && c->out->defs[def->index].is_library;
    if (!def || library || i >= def->nparams)
        return (Why){WHY_NONE, fn->span, NULL};
    return (Why){WHY_PARAM, def->params[i]->span, NULL};
}

/* An application: f, its arguments and, for pipes, the type of one more behind them. */
typedef struct Call {
    Expr *fn;
    Expr **args;
    uint32_t nargs;
    Type *last; /* or NULL */
    Span last_span;
} Call;

static void too_many_arguments(Checker *c, const Call *call, Type *ft, uint32_t takes)
{
    const Expr *fn = call->fn;
    Span extra = takes < call->nargs ? call->args[takes]->span : call->last_span;
    if (takes == 0) {
        diag_error(c->s, fn->span, DIAG_NOT_A_FUNCTION, "this is applied like a function, but is %s", describe_type(c, ft));
    } else if (fn->kind == E_NAME || called_def(c, fn)) {
        Name name = fn->kind == E_NAME ? fn->name : fn->field.name;
        diag_error(c->s, extra, DIAG_TOO_MANY_ARGUMENTS, "too many arguments: `%s` takes %u", name, takes);
        const Def *def = called_def(c, fn);
        if (def && !(c->out->refs[fn->id].kind == REF_DEF && c->out->defs[def->index].is_library))
            diag_note(c->s, def->name_span, "it is defined here");
    } else {
        diag_error(c->s, extra, DIAG_TOO_MANY_ARGUMENTS, "too many arguments: this function takes %u", takes);
    }
}

/* Splits up to `most` parameters off a function's type; returns how many there were. An unknown type
 * becomes a function of one. */
static uint32_t take_params(Checker *c, Type **type, Type **params, uint32_t most)
{
    Type *t = type_prune(*type);
    if (t->kind == TY_VAR && !t->var.declared && t->var.cls == CLASS_ANY) {
        unify(c, t, type_fun(c->arena, new_var(c, CLASS_ANY), new_var(c, CLASS_ANY)));
        t = type_prune(t);
    }
    uint32_t n = 0;
    for (; n < most && t->kind == TY_FUN; n++) {
        params[n] = t->fun.from;
        t = type_prune(t->fun.to);
    }
    *type = t;
    return n;
}

/* Lambdas come last: by then the other arguments have said what their parameters are. */
static void check_args(Checker *c, const Call *call, Type **params, uint32_t first, uint32_t n)
{
    if (call->last && first + n > call->nargs) {
        Why why = param_why(c, call->fn, call->nargs);
        expect(c, call->last_span, params[call->nargs - first], call->last, &why);
    }
    for (int lambdas = 0; lambdas < 2; lambdas++) {
        for (uint32_t i = first; i < first + n && i < call->nargs; i++) {
            if ((call->args[i]->kind == E_LAMBDA) != (lambdas == 1))
                continue;
            if (lambdas)
                solve_deferred(c);
            Why why = param_why(c, call->fn, i);
            check(c, call->args[i], params[i - first], &why);
        }
    }
}

/* In batches: what `f x y` is, is known only behind f's own parameters, as in `id f x y`. */
static Type *apply(Checker *c, const Call *call)
{
    Type *ft = infer(c, call->fn, NULL), *t = ft;
    uint32_t n = call->nargs + (call->last ? 1 : 0), done = 0;
    Type **params = arena_array(c->arena, Type *, n);
    while (done < n) {
        uint32_t batch = take_params(c, &t, params, n - done);
        if (batch == 0) {
            if (!has_error(t))
                too_many_arguments(c, call, ft, done);
            for (; done < call->nargs; done++)
                infer(c, call->args[done], NULL);
            return c->error;
        }
        check_args(c, call, params, done, batch);
        done += batch;
    }
    return too_large(c, call->fn->span, t) ? c->error : t;
}

Type *infer_apply(Checker *c, Expr *e)
{
    Call call = {e->apply.fn, e->apply.args, e->apply.nargs, NULL, e->span};
    return apply(c, &call);
}

/* `xs |> map f` is checked like `map f xs`, so that xs says what f's parameter is. */
static Type *pipe_into(Checker *c, Expr *fn, Type *value, Span span)
{
    if (fn->kind == E_LAMBDA) {
        Type *fun = type_fun(c->arena, value, new_var(c, CLASS_ANY));
        check(c, fn, fun, NULL);
        return fun->fun.to;
    }
    if (fn->kind != E_APPLY) {
        Call call = {fn, NULL, 0, value, span};
        return apply(c, &call);
    }
    Call call = {fn->apply.fn, fn->apply.args, fn->apply.nargs, value, span};
    Type *t = apply(c, &call);
    c->out->expr_types[fn->id] = has_error(t) ? c->error : type_fun(c->arena, value, t);
    return t;
}

Type *infer_pipe(Checker *c, Expr *e)
{
    Expr *fn = e->pipe.fn, *value = e->pipe.value;
    if (value->kind == E_LAMBDA) { /* the function says what its parameters are */
        Call call = {fn, &value, 1, NULL, e->span};
        return apply(c, &call);
    }
    Type *t = infer(c, value, NULL);
    return pipe_into(c, fn, t, value->span);
}

/* ---- operators ---- */

typedef struct OpTypes { Type *left, *right, *result; } OpTypes;

static OpTypes same(Type *t, Type *result)
{
    return (OpTypes){t, t, result};
}

static OpTypes op_types(Checker *c, BinaryOp op)
{
    Type *boolean = c->scalars[SC_BOOL];
    switch (op) {
    case BIN_OR:
    case BIN_AND: return same(boolean, boolean);
    case BIN_EQ:
    case BIN_NE: return same(new_var(c, CLASS_EQ), boolean);
    case BIN_LT:
    case BIN_LE:
    case BIN_GT:
    case BIN_GE: return same(new_var(c, CLASS_SCALAR), boolean);
    case BIN_BITOR:
    case BIN_BITXOR:
    case BIN_BITAND: {
        Type *t = new_var(c, CLASS_INT);
        return same(t, t);
    }
    case BIN_SHL:
    case BIN_SHR: { /* the count is of any integer type */
        Type *t = new_var(c, CLASS_INT);
        return (OpTypes){t, new_var(c, CLASS_INT), t};
    }
    case BIN_APPEND: {
        Type *t = type_array(c->arena, new_var(c, CLASS_ANY));
        return same(t, t);
    }
    case BIN_ADD:
    case BIN_SUB:
    case BIN_MUL:
    case BIN_DIV:
    case BIN_MOD:
    case BIN_POW: {
        Type *t = new_var(c, CLASS_NUM);
        return same(t, t);
    }
    }
    return same(c->error, c->error);
}

static bool is_open_literal(Type *t)
{
    t = type_prune(t);
    return t->kind == TY_VAR && t->var.is_literal;
}

static bool is_shift(BinaryOp op)
{
    return op == BIN_SHL || op == BIN_SHR;
}

static Type *infer_binary_node(Checker *c, Expr *e, Type *left, OpTypes op)
{
    if (!expect(c, e->binary.left->span, op.left, left, NULL)) { /* no second message about the right side */
        infer(c, e->binary.right, NULL);
        return op.result == op.left ? c->error : op.result;
    }
    Why why = {is_shift(e->binary.op) ? WHY_NONE : WHY_OPERAND, e->binary.left->span, op.left};
    check(c, e->binary.right, op.right, &why);
    if (is_shift(e->binary.op) && is_open_literal(op.right))
        unify(c, op.left, op.right);
    return op.result;
}

/* A chain a + b + c + … leans to the left: walked without recursion. */
Type *infer_binary(Checker *c, Expr *e)
{
    VEC(Expr *) chain = {0};
    Expr *left = e;
    for (; left->kind == E_BINARY; left = left->binary.left)
        vec_push(c->arena, &chain, left);
    Type *t = NULL;
    for (uint32_t i = chain.n; i-- > 0;) {
        Expr *node = chain.at[i];
        OpTypes op = op_types(c, node->binary.op);
        if (!t)
            t = infer(c, left, op.left);
        t = infer_binary_node(c, node, t, op);
        c->out->expr_types[node->id] = t;
    }
    return t;
}

Type *infer_section(Checker *c, Expr *e)
{
    OpTypes op = op_types(c, e->binary.op);
    if (e->kind == E_LEFT_SECTION) {
        check(c, e->binary.left, op.left, NULL);
        return type_fun(c->arena, op.right, op.result);
    }
    if (e->kind == E_RIGHT_SECTION) {
        check(c, e->binary.right, op.right, NULL);
        return type_fun(c->arena, op.left, op.result);
    }
    return type_fun(c->arena, op.left, type_fun(c->arena, op.right, op.result));
}

Type *infer_unary(Checker *c, Expr *e, Type *hint)
{
    Expr *arg = e->unary.arg;
    if (e->unary.op == UN_NOT) {
        check(c, arg, c->scalars[SC_BOOL], NULL);
        return c->scalars[SC_BOOL];
    }
    Type *t = infer(c, arg, hint);
    TypeClass cls = e->unary.op == UN_NEG ? CLASS_NUM : CLASS_INT;
    return expect_class(c, arg->span, cls, t) ? t : c->error;
}
