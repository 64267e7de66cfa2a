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
    case REF_LOCAL: t = c->out->pat_types[ref->pat_id]; return t ? t : c->error;
    case REF_DEF: return infer_global(c, e, ref->def);
    case REF_LOCAL_FUN: {
        LocalFun *f = ptrmap_get(&c->local_funs, ref->def);
        if (!f)
            return t;
        if (!f->mono) {
            use_poly(c, e, &f->poly, &t);
            return t;
        }
        vec_push(c->arena, &f->own_refs, ref);
        return f->mono;
    }
    case REF_PRIM: use_poly(c, e, &c->builtins[ref->builtin], &t); return t;
    case REF_SIZE: return c->scalars[SC_I64];
    }
    return t;
}

/* ---- application ---- */

static void too_many_arguments(Checker *c, const Call *call, uint32_t takes)
{
    const Expr *fn = call->fn;
    Span extra = takes < call->nargs ? call->args[takes]->span : call->last_value->span;
    if (takes == 0) {
        diag_error(c->s, fn->span, DIAG_NOT_A_FUNCTION, "this is applied like a function, but is %s",
                   describe_type(c, call->type));
        note_not_a_function(c, call, call->type);
        return;
    }
    if (fn->kind == E_NAME || called_def(c, fn)) {
        Name name = fn->kind == E_NAME ? fn->name : fn->field.name;
        diag_error(c->s, extra, DIAG_TOO_MANY_ARGUMENTS, "too many arguments: `%s` takes %u", name, takes);
    } else {
        diag_error(c->s, extra, DIAG_TOO_MANY_ARGUMENTS, "too many arguments: this function takes %u", takes);
    }
    note_extra_argument(c, call, takes);
    note_function(c, fn);
}

/* Behind all parameters: `types` is for the arguments that are too many. They are inferred first, as an
 * error in one of them is reason enough. */
static void apply_too_many(Checker *c, const Call *call, Type *result, uint32_t takes, Type **types)
{
    uint32_t errors = c->s->error_count;
    bool good = !has_error(result) && !mentions_error(call->type);
    for (uint32_t i = takes; i < call->nargs; i++) {
        types[i] = infer(c, call->args[i], NULL);
        good = good && !has_error(types[i]);
    }
    if (good && c->s->error_count == errors)
        too_many_arguments(c, call, takes);
    for (uint32_t i = takes; i < call->nargs; i++)
        unify(c, types[i], c->error); /* a constructor of no known type is no second error */
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

/* Lambdas come last: by then the other arguments have said what their parameters are. After an error
 * nothing is expected of the others. */
static void check_args(Checker *c, const Call *call, Type **params, uint32_t first, uint32_t n)
{
    uint32_t errors = c->s->error_count;
    if (call->last && first + n > call->nargs) {
        Type *param = params[call->nargs - first];
        Why why = {.kind = WHY_PARAM, .type = param, .call = call, .arg = call->nargs};
        if (!expect(c, call->last_value->span, param, call->last, &why) && c->s->error_count != errors)
            note_value(c, call->last_value, param, call->last);
    }
    for (int lambdas = 0; lambdas < 2; lambdas++) {
        for (uint32_t i = first; i < first + n && i < call->nargs; i++) {
            if ((call->args[i]->kind == E_LAMBDA) != (lambdas == 1))
                continue;
            if (lambdas)
                solve_deferred(c);
            Type *param = c->s->error_count == errors ? params[i - first] : c->error;
            Why why = {.kind = WHY_PARAM, .type = param, .call = call, .arg = i};
            check(c, call->args[i], param, &why);
        }
    }
}

/* In batches: what `f x y` is, is known only behind f's own parameters, as in `id f x y`. After an error
 * in the arguments nothing more is said of the result. */
static Type *apply(Checker *c, Call *call)
{
    Type *t = infer(c, call->fn, NULL);
    call->type = type_prune(t);
    uint32_t errors = c->s->error_count;
    uint32_t n = call->nargs + (call->last ? 1 : 0), done = 0;
    Type **params = arena_array(c->arena, Type *, n);
    while (done < n) {
        uint32_t batch = take_params(c, &t, params, n - done);
        if (batch == 0) {
            if (c->s->error_count == errors)
                apply_too_many(c, call, t, done, params);
            return c->error;
        }
        check_args(c, call, params, done, batch);
        done += batch;
    }
    return c->s->error_count != errors || too_large(c, call->fn->span, t) ? c->error : t;
}

Type *infer_apply(Checker *c, Expr *e)
{
    Call call = {.fn = e->apply.fn, .args = e->apply.args, .nargs = e->apply.nargs};
    return apply(c, &call);
}

/* `xs |> map f` is checked like `map f xs`, so that xs says what f's parameter is. */
static Type *pipe_into(Checker *c, Expr *fn, Type *value, const Expr *written)
{
    if (fn->kind == E_LAMBDA) {
        Type *fun = type_fun(c->arena, value, new_var(c, CLASS_ANY));
        check(c, fn, fun, NULL);
        return fun->fun.to;
    }
    if (fn->kind != E_APPLY) {
        Call call = {.fn = fn, .last = value, .last_value = written};
        return apply(c, &call);
    }
    Call call = {
        .fn = fn->apply.fn, .args = fn->apply.args, .nargs = fn->apply.nargs, .last = value, .last_value = written};
    Type *t = apply(c, &call);
    c->out->expr_types[fn->id] = has_error(t) ? c->error : type_fun(c->arena, value, t);
    return t;
}

Type *infer_pipe(Checker *c, Expr *e)
{
    Expr *fn = e->pipe.fn, *value = e->pipe.value;
    if (value->kind == E_LAMBDA) { /* the function says what its parameters are */
        Call call = {.fn = fn, .args = &value, .nargs = 1};
        return apply(c, &call);
    }
    Type *t = infer(c, value, NULL);
    return pipe_into(c, fn, t, value);
}

/* ---- operators ---- */

typedef struct OpTypes {
    Type *left, *right, *result;
} OpTypes;

static OpTypes same(Type *t, Type *result) { return (OpTypes){t, t, result}; }

static OpTypes op_types(Checker *c, BinaryOp op)
{
    Type *boolean = c->scalars[SC_BOOL];
    switch (op) {
    case BIN_OR:
    case BIN_AND: return same(boolean, boolean);
    case BIN_EQ:
    case BIN_NE:
    case BIN_LT:
    case BIN_LE:
    case BIN_GT:
    case BIN_GE: return same(new_var(c, CLASS_ORD), boolean);
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

static bool is_shift(BinaryOp op) { return op == BIN_SHL || op == BIN_SHR; }

static Type *infer_binary_node(Checker *c, Expr *e, Type *left, OpTypes op)
{
    uint32_t errors = c->s->error_count;
    if (!expect(c, e->binary.left->span, op.left, left, NULL)) {
        if (c->s->error_count != errors) {
            note_operator(c, e, left, true);
            note_origin(c, e->binary.left);
        }
        return c->error; /* no second message about the right side: in `reduce + 0 xs` it is none */
    }
    Why why = {.kind = is_shift(e->binary.op) ? WHY_NONE : WHY_OPERAND,
               .span = e->binary.left->span,
               .type = op.left,
               .expr = e};
    check(c, e->binary.right, op.right, &why);
    if (c->s->error_count != errors || has_error(left) || has_error(op.right))
        return c->error;
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
    uint32_t errors = c->s->error_count;
    Type *missing = NULL;
    if (e->kind == E_LEFT_SECTION) {
        check(c, e->binary.left, op.left, NULL);
        missing = op.right;
    } else if (e->kind == E_RIGHT_SECTION) {
        check(c, e->binary.right, op.right, NULL);
        missing = op.left;
    }
    if (c->s->error_count != errors)
        return c->error;
    if (missing)
        return type_fun(c->arena, missing, op.result);
    return type_fun(c->arena, op.left, type_fun(c->arena, op.right, op.result));
}

Type *infer_unary(Checker *c, Expr *e, Type *hint)
{
    Expr *arg = e->unary.arg;
    if (e->unary.op == UN_NOT) {
        check(c, arg, c->scalars[SC_BOOL], &(Why){.kind = WHY_CONDITION});
        return c->scalars[SC_BOOL];
    }
    Type *t = infer(c, arg, hint);
    TypeClass cls = e->unary.op == UN_NEG ? CLASS_NUM : CLASS_INT;
    return expect_class(c, arg->span, cls, t) ? t : c->error;
}
