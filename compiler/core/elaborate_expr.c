/* Expressions: the dispatch, and the forms that need no file of their own. */
#include "core/elaborate_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- literals ---- */

static uint64_t float_bits(Scalar s, double x)
{
    uint64_t bits = 0;
    if (s == SC_F32) {
        float f = (float)x;
        memcpy(&bits, &f, sizeof f);
        uint32_t low;
        memcpy(&low, &f, sizeof low);
        return low;
    }
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Constants are kept extended to 64 bits by their signedness. */
static uint64_t int_bits(Scalar s, uint64_t bits)
{
    uint32_t width = 8 * scalar_bytes(s);
    if (width == 64)
        return bits;
    uint64_t mask = ((uint64_t)1 << width) - 1;
    bits &= mask;
    bool negative = scalar_is_signed(s) && (bits >> (width - 1)) & 1;
    return negative ? bits | ~mask : bits;
}

static CoreAtom int_literal(Scalar s, uint64_t magnitude, bool negative)
{
    if (scalar_is_float(s)) {
        double x = s == SC_F32 ? (double)(float)magnitude : (double)magnitude;
        return core_const(s, float_bits(s, negative ? -x : x));
    }
    return core_const(s, int_bits(s, negative ? (uint64_t)0 - magnitude : magnitude));
}

/* f32 is read from the text: by way of f64 it would be rounded twice. */
static CoreAtom float_literal(Scalar s, const Expr *x)
{
    double value = x->floating.value;
    if (s == SC_F32 && x->floating.text) {
        float f = fabsf(strtof(x->floating.text, NULL));
        value = signbit(value) ? -(double)f : (double)f;
    }
    return core_const(s, float_bits(s, value));
}

static Value *string_literal(Elab *e, const Scope *sc, const Expr *x)
{
    CoreAtom *items = arena_array(e->arena, CoreAtom, x->string.n);
    for (uint32_t i = 0; i < x->string.n; i++)
        items[i] = core_const(SC_U8, x->string.bytes[i]);
    CoreAtom array = anf_array(e, (CoreType){SC_U8, 1}, items, x->string.n);
    return val_sequence(e, elab_expr_type(e, sc, x), &array, 1, core_i64(x->string.n));
}

static Value *literal(Elab *e, const Scope *sc, const Expr *x)
{
    Scalar s = ty_scalar(elab_expr_type(e, sc, x));
    switch (x->kind) {
    case E_INT: return val_scalar(e, int_literal(s, x->integer.magnitude, x->integer.negative));
    case E_FLOAT: return val_scalar(e, float_literal(s, x));
    case E_BOOL: return val_scalar(e, core_const(SC_BOOL, x->boolean));
    case E_CHAR: return val_scalar(e, core_const(SC_U8, x->character));
    default: return string_literal(e, sc, x);
    }
}

CoreAtom elab_scalar(Elab *e, const Scope *sc, Expr *x) { return val_atom(elab_expr(e, sc, x)); }

/* ---- names ---- */

static Value *local_fun(Elab *e, const Scope *sc, const Ref *ref)
{
    Env *entry = env_find_fun(sc->env, ref->def);
    assert(entry && "elaborate: local function out of scope");
    const Scheme *scheme = &e->checked->local_schemes[entry->let_fun->id];
    uint32_t outer = e->checked->let_fun_outer[entry->let_fun->id];
    uint32_t n = outer + ref->nargs;
    Type **targs = arena_array(e->arena, Type *, n);
    for (uint32_t i = 0; i < outer && i < entry->ntargs; i++)
        targs[i] = entry->targs[i];
    for (uint32_t i = 0; i < ref->nargs; i++)
        targs[outer + i] = elab_type(e, sc, ref->args[i]);
    Type *type = type_prune(type_substitute(e->arena, scheme->type, targs, n));
    Value *f = val_fun(e, FUN_LOCAL, type, NULL);
    f->fun.env = entry;
    f->fun.targs = targs;
    f->fun.ntargs = n;
    f->fun.user = entry->user;
    return f;
}

/* A definition without parameters is its body; a recursive one stays a function. */
static Value *top_level(Elab *e, const Scope *sc, const Ref *ref)
{
    const DefInfo *info = &e->checked->defs[ref->def->index];
    Type **targs = elab_types(e, sc, ref->args, ref->nargs);
    Type *type = type_prune(type_substitute(e->arena, info->scheme.type, targs, ref->nargs));
    Value *f = val_fun(e, FUN_DEF, type, NULL);
    f->fun.def = ref->def;
    f->fun.targs = targs;
    f->fun.ntargs = ref->nargs;
    f->fun.user = sc->user;
    if (elab_fun_arity(e, f) == 0)
        return elab_apply(e, f, NULL, 0);
    return f;
}

Value *elab_constant(Elab *e, const Scope *sc, Def *def)
{
    Ref ref = {.kind = REF_DEF, .def = def};
    return top_level(e, sc, &ref);
}

Value *elab_name(Elab *e, const Scope *sc, Expr *x)
{
    const Ref *ref = &e->checked->refs[x->id];
    switch (ref->kind) {
    case REF_LOCAL: {
        Env *entry = env_find_pat(e, sc->env, ref->pat_id);
        assert(entry && "elaborate: variable out of scope");
        return entry->value;
    }
    case REF_SIZE: {
        Env *entry = env_find_size(sc->env, ref->size_name);
        assert(entry && "elaborate: size out of scope");
        return val_scalar(e, anf_convert(e, val_atom(entry->value), SC_I64));
    }
    case REF_LOCAL_FUN: return local_fun(e, sc, ref);
    case REF_DEF: return top_level(e, sc, ref);
    case REF_PRIM: {
        Type *type = elab_expr_type(e, sc, x);
        if (elab_builtin_arity(ref->builtin) == 0)
            return elab_builtin_constant(e, ref->builtin, type);
        Value *f = val_fun(e, FUN_BUILTIN, type, NULL);
        f->fun.builtin = ref->builtin;
        return f;
    }
    case REF_NONE: break;
    }
    assert(0 && "elaborate: unresolved name");
    return NULL;
}

/* ---- products ---- */

static Value *tuple(Elab *e, const Scope *sc, const Expr *x)
{
    Value **items = arena_array(e->arena, Value *, x->items.n);
    for (uint32_t i = 0; i < x->items.n; i++)
        items[i] = elab_expr(e, sc, x->items.items[i]);
    return val_product(e, elab_expr_type(e, sc, x), items);
}

static Value *record(Elab *e, const Scope *sc, const Expr *x)
{
    Type *type = elab_expr_type(e, sc, x);
    Value **items = arena_array(e->arena, Value *, x->record.n);
    for (uint32_t i = 0; i < x->record.n; i++)
        items[ty_field(type, x->record.fields[i].name)] = elab_expr(e, sc, x->record.fields[i].value);
    return val_product(e, type, items);
}

static Value *array(Elab *e, const Scope *sc, const Expr *x)
{
    Type *type = elab_expr_type(e, sc, x);
    CoreTypes types = ty_leaves(e, type);
    uint32_t n = x->items.n, k = types.n;
    CoreAtom *columns = arena_array(e->arena, CoreAtom, (size_t)n * k);
    for (uint32_t i = 0; i < n; i++) {
        Atoms atoms = {0};
        val_atoms(e, elab_expr(e, sc, x->items.items[i]), &atoms);
        for (uint32_t j = 0; j < k && j < atoms.n; j++)
            columns[(size_t)j * n + i] = atoms.at[j];
    }
    CoreAtom *leaves = arena_array(e->arena, CoreAtom, k);
    for (uint32_t j = 0; j < k; j++)
        leaves[j] = anf_array(e, types.at[j], columns + (size_t)j * n, n);
    return val_sequence(e, type, leaves, k, core_i64(n));
}

static Value *field(Elab *e, const Scope *sc, Expr *x)
{
    if (e->checked->refs[x->id].kind != REF_NONE)
        return elab_name(e, sc, x);
    Value *v = elab_expr(e, sc, x->field.value);
    return v->product.items[ty_field(v->type, x->field.name)];
}

static Value *project(Elab *e, const Scope *sc, const Expr *x)
{
    return elab_expr(e, sc, x->project.value)->product.items[x->project.index];
}

static Value *update_field(Elab *e, const Scope *sc, const Expr *x)
{
    Value *v = elab_expr(e, sc, x->update_field.record);
    Value **items = arena_array(e->arena, Value *, v->product.n);
    for (uint32_t i = 0; i < v->product.n; i++)
        items[i] = v->product.items[i];
    items[ty_field(v->type, x->update_field.name)] = elab_expr(e, sc, x->update_field.value);
    return val_product(e, v->type, items);
}

/* ---- sequences ---- */

/* The place of an operation written behind its sequence, `[…]` or `with …`: several may follow each other
 * (`xs[i][j]`), so where the whole expression starts would not tell which one failed. */
static Span behind(Elab *e, const Scope *sc, Span whole, Span sequence)
{
    const SourceFile *f = e->s->files.at[whole.file];
    uint32_t at = sequence.end;
    while (at < whole.end && f->text[at] != '[' && f->text[at] != 'w') {
        if (f->text[at] == '-') /* a comment */
            while (at < whole.end && f->text[at] != '\n')
                at++;
        else
            at++;
    }
    return elab_place(e, sc, at < whole.end ? span_make(whole.file, at, whole.end) : whole);
}

static Value *index_expr(Elab *e, const Scope *sc, const Expr *x)
{
    Value *xs = elab_expr(e, sc, x->index.array);
    CoreAtom i = elab_index_i64(e, elab_expr(e, sc, x->index.index));
    e->at = behind(e, sc, x->span, x->index.array->span);
    return elab_index_value(e, xs, i, true);
}

static Value *slice_expr(Elab *e, const Scope *sc, const Expr *x)
{
    Value *xs = elab_expr(e, sc, x->slice.array);
    if (!x->slice.from && !x->slice.to)
        return xs;
    CoreAtom from = x->slice.from ? elab_index_i64(e, elab_expr(e, sc, x->slice.from)) : core_i64(0);
    CoreAtom to = x->slice.to ? elab_index_i64(e, elab_expr(e, sc, x->slice.to)) : anf_length(e, xs);
    e->at = behind(e, sc, x->span, x->slice.array->span);
    return elab_slice_value(e, xs, from, to, true);
}

/* Index and value come before the array: in `xs with [i] = xs[j] with [j] = xs[i]` xs is read before it changes, so
 * that it may change in place. */
static Value *update_index(Elab *e, const Scope *sc, const Expr *x)
{
    CoreAtom i = elab_index_i64(e, elab_expr(e, sc, x->update_index.index));
    Value *v = elab_expr(e, sc, x->update_index.value);
    Value *xs = elab_expr(e, sc, x->update_index.array);
    e->at = behind(e, sc, x->span, x->update_index.array->span);
    return elab_update_value(e, xs, i, v);
}

/* One step from a value to a part of it. */
typedef struct Step {
    const Expr *x;
    CoreAtom from, to;
} Step;
typedef VEC(Step) Steps;

static Step step_of(Elab *e, const Scope *sc, const Expr *x)
{
    Step s = {.x = x, .from = core_i64(0)};
    Expr *from = x->kind == E_INDEX ? x->index.index : x->kind == E_SLICE ? x->slice.from : NULL;
    if (from)
        s.from = elab_index_i64(e, elab_expr(e, sc, from));
    if (x->kind == E_SLICE && x->slice.to)
        s.to = elab_index_i64(e, elab_expr(e, sc, x->slice.to));
    return s;
}

static const Expr *taken_from(const Expr *part)
{
    switch (part->kind) {
    case E_INDEX: return part->index.array;
    case E_SLICE: return part->slice.array;
    case E_FIELD: return part->field.value;
    default: return part->project.value;
    }
}

/* The steps from the outermost to x. */
static void add_steps(Elab *e, const Scope *sc, const Expr *whole, const Expr *x, Steps *out)
{
    if (x == whole)
        return;
    add_steps(e, sc, whole, taken_from(x), out);
    vec_push(e->arena, out, step_of(e, sc, x));
}

/* v with its part at the steps replaced. */
static Value *replaced(Elab *e, const Value *v, const Step *steps, uint32_t n, Value *part)
{
    if (n == 0)
        return part;
    const Expr *x = steps->x;
    if (x->kind == E_INDEX) {
        Value *old = n > 1 ? elab_index_value(e, v, steps->from, true) : NULL;
        return elab_update_value(e, v, steps->from, replaced(e, old, steps + 1, n - 1, part));
    }
    if (x->kind == E_SLICE) {
        CoreAtom to = x->slice.to ? steps->to : anf_length(e, v);
        Value *args[] = {(Value *)v, val_scalar(e, steps->from), val_scalar(e, to), part};
        return elab_library_call(e, "update_slice__", args, 4);
    }
    uint32_t k = x->kind == E_FIELD ? ty_field(v->type, x->field.name) : x->project.index;
    Value **items = arena_array(e->arena, Value *, v->product.n);
    for (uint32_t i = 0; i < v->product.n; i++)
        items[i] = i == k ? replaced(e, v->product.items[i], steps + 1, n - 1, part) : v->product.items[i];
    return val_product(e, v->type, items);
}

static Value *update_part(Elab *e, const Scope *sc, const Expr *x)
{
    Steps steps = {0};
    add_steps(e, sc, x->update_part.whole, x->update_part.part, &steps);
    Value *part = elab_expr(e, sc, x->update_part.value);
    Value *whole = elab_expr(e, sc, x->update_part.whole);
    e->at = behind(e, sc, x->span, x->update_part.whole->span);
    return replaced(e, whole, steps.at, steps.n, part);
}

static Value *range(Elab *e, const Scope *sc, Expr *x)
{
    Range r = elab_range_parts(e, sc, x);
    Soac b = anf_soac_over(r.length);
    CoreAtom i = anf_soac_index(e, &b);
    CoreBlock *outer = anf_block_open(e);
    return anf_soac_map(e, &b, outer, val_scalar(e, elab_range_element(e, r, i)));
}

/* ---- sections and lambdas ---- */

static Value *section(Elab *e, const Scope *sc, const Expr *x)
{
    Expr *operand = x->kind == E_LEFT_SECTION ? x->binary.left : x->kind == E_RIGHT_SECTION ? x->binary.right : NULL;
    Value *f = val_fun(e, FUN_OP, elab_expr_type(e, sc, x), NULL);
    f->fun.op = x->binary.op;
    f->fun.flip = x->kind == E_RIGHT_SECTION;
    if (operand) {
        f->fun.nargs = 1;
        f->fun.args = arena_array(e->arena, Value *, 1);
        f->fun.args[0] = elab_expr(e, sc, operand);
    }
    return f;
}

static Value *lambda(Elab *e, const Scope *sc, Expr *x)
{
    Value *f = val_fun(e, FUN_LAMBDA, elab_expr_type(e, sc, x), sc);
    f->fun.expr = x;
    return f;
}

/* ---- control ---- */

Value *elab_if_parts(Elab *e, CoreAtom cond, CoreBlock *then_b, CoreBlock *else_b, Type *t)
{
    CoreStmt *s = anf_stmt(e, CORE_IF);
    s->if_.cond = cond;
    s->if_.then_b = then_b;
    s->if_.else_b = else_b;
    CoreTypes types = ty_leaves(e, t);
    CoreAtom *out = anf_bind(e, s, types.at, types.n);
    anf_push(e, s);
    return val_from_atoms(e, t, out);
}

static CoreBlock *branch(Elab *e, const Scope *sc, Expr *x)
{
    CoreBlock *outer = anf_block_open(e);
    return anf_block_close_value(e, outer, elab_expr(e, sc, x));
}

static Value *if_expr(Elab *e, const Scope *sc, const Expr *x)
{
    CoreAtom cond = elab_scalar(e, sc, x->if_.cond);
    if (cond.is_const)
        return elab_expr(e, sc, cond.bits ? x->if_.then_e : x->if_.else_e);
    CoreBlock *then_b = branch(e, sc, x->if_.then_e);
    CoreBlock *else_b = branch(e, sc, x->if_.else_e);
    return elab_if_parts(e, cond, then_b, else_b, elab_expr_type(e, sc, x));
}

static Value *ascribe(Elab *e, const Scope *sc, const Expr *x)
{
    Value *v = elab_expr(e, sc, x->ascribe.value);
    Scope inner = *sc;
    elab_sizes(e, &inner, x->ascribe.type, v);
    return v;
}

/* Chains of lets are followed without recursion: they may be long. */
static Value *lets(Elab *e, const Scope *outer, Expr *x)
{
    Scope sc = *outer;
    for (;;) {
        if (x->kind == E_LET) {
            elab_bind_pattern(e, &sc, x->let.pat, elab_expr(e, &sc, x->let.value));
            x = x->let.body;
        } else if (x->kind == E_LET_FUN) {
            env_bind_fun(e, &sc, x);
            x = x->let_fun.body;
        } else {
            return elab_expr(e, &sc, x);
        }
    }
}

/* ---- loops ---- */

typedef struct LoopParts {
    Type *type;
    CoreTypes types;
    CoreStmt *stmt;
    Value *state; /* over the loop's parameters */
} LoopParts;

static LoopParts loop_start(Elab *e, const Scope *sc, const Expr *x)
{
    Value *init = elab_expr(e, sc, x->loop.init);
    LoopParts l = {.type = elab_expr_type(e, sc, x->loop.init)};
    l.types = ty_leaves(e, l.type);
    l.stmt = anf_stmt(e, CORE_LOOP);
    Atoms inits = {0};
    val_atoms(e, init, &inits);
    l.stmt->loop.inits = inits.at;
    l.stmt->loop.nparams = l.types.n;
    l.stmt->loop.index = CORE_NO_VAR;
    l.stmt->loop.count = core_i64(0);
    return l;
}

static void loop_params(Elab *e, LoopParts *l)
{
    uint32_t n = l->types.n;
    l->stmt->loop.params = arena_array(e->arena, CoreVar, n);
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, n);
    for (uint32_t i = 0; i < n; i++) {
        l->stmt->loop.params[i] = anf_var(e, l->types.at[i], NULL);
        atoms[i] = core_var_atom(l->stmt->loop.params[i], l->types.at[i]);
    }
    l->state = val_from_atoms(e, l->type, atoms);
}

static void loop_counter(Elab *e, LoopParts *l, CoreAtom count)
{
    l->stmt->loop.count = count;
    l->stmt->loop.index = anf_var(e, core_scalar(SC_I64), NULL);
}

static CoreAtom loop_index(const LoopParts *l) { return core_var_atom(l->stmt->loop.index, core_scalar(SC_I64)); }

static Value *loop_end(Elab *e, LoopParts *l)
{
    CoreAtom *out = anf_bind(e, l->stmt, l->types.at, l->types.n);
    anf_push(e, l->stmt);
    return val_from_atoms(e, l->type, out);
}

/* Sizes in the state's pattern hold for every state: the body checks those that it starts from, this the last one. (The
 * condition of a while loop has seen all.) */
static Value *counted_loop_end(Elab *e, const Scope *sc, const Expr *x, LoopParts *l)
{
    Value *last = loop_end(e, l);
    Scope inner = *sc;
    elab_bind_pattern(e, &inner, x->loop.state, last);
    return last;
}

static Value *while_loop(Elab *e, const Scope *sc, const Expr *x, LoopParts *l)
{
    loop_params(e, l);
    Scope inner = *sc;
    CoreBlock *outer = anf_block_open(e);
    elab_bind_pattern(e, &inner, x->loop.state, l->state);
    l->stmt->loop.cond = anf_block_close_value(e, outer, elab_expr(e, &inner, x->loop.domain));
    inner = *sc;
    outer = anf_block_open(e);
    elab_bind_pattern(e, &inner, x->loop.state, l->state);
    l->stmt->loop.body = anf_block_close_value(e, outer, elab_expr(e, &inner, x->loop.body));
    return loop_end(e, l);
}

Value *elab_loop(Elab *e, const Scope *sc, Expr *x)
{
    LoopParts l = loop_start(e, sc, x);
    if (x->loop.kind == LOOP_WHILE)
        return while_loop(e, sc, x, &l);
    bool each = x->loop.kind == LOOP_FOR_EACH;
    Value *domain = elab_expr(e, sc, x->loop.domain);
    CoreAtom count = each ? anf_length(e, domain) : elab_index_i64(e, domain);
    loop_counter(e, &l, count);
    loop_params(e, &l);
    Scope inner = *sc;
    CoreBlock *outer = anf_block_open(e);
    elab_bind_pattern(e, &inner, x->loop.state, l.state);
    if (each)
        elab_bind_pattern(e, &inner, x->loop.binder, elab_index_value(e, domain, loop_index(&l), false));
    else if (x->loop.binder && x->loop.binder->kind != PAT_WILD) {
        CoreAtom i = anf_convert(e, loop_index(&l), ty_scalar(domain->type));
        elab_bind_pattern(e, &inner, x->loop.binder, val_scalar(e, i));
    }
    l.stmt->loop.body = anf_block_close_value(e, outer, elab_expr(e, &inner, x->loop.body));
    return counted_loop_end(e, sc, x, &l);
}

/* ---- dispatch ---- */

static Value *dispatch(Elab *e, const Scope *sc, Expr *x)
{
    switch (x->kind) {
    case E_INT:
    case E_FLOAT:
    case E_BOOL:
    case E_CHAR:
    case E_STRING: return literal(e, sc, x);
    case E_NAME: return elab_name(e, sc, x);
    case E_TUPLE: return tuple(e, sc, x);
    case E_RECORD: return record(e, sc, x);
    case E_ARRAY: return array(e, sc, x);
    case E_APPLY:
    case E_PIPE: return elab_application(e, sc, x);
    case E_CTOR: return elab_ctor(e, sc, x);
    case E_UNARY: return elab_unary(e, sc, x);
    case E_BINARY:
        if (x->binary.op == BIN_AND || x->binary.op == BIN_OR)
            return elab_short_circuit(e, sc, x);
        return elab_binary(e, sc, x);
    case E_RANGE: return range(e, sc, x);
    case E_OP_SECTION:
    case E_LEFT_SECTION:
    case E_RIGHT_SECTION: return section(e, sc, x);
    case E_INDEX: return index_expr(e, sc, x);
    case E_SLICE: return slice_expr(e, sc, x);
    case E_FIELD: return field(e, sc, x);
    case E_PROJECT: return project(e, sc, x);
    case E_UPDATE_INDEX: return update_index(e, sc, x);
    case E_UPDATE_FIELD: return update_field(e, sc, x);
    case E_UPDATE_PART: return update_part(e, sc, x);
    case E_LET:
    case E_LET_FUN: return lets(e, sc, x);
    case E_IF: return if_expr(e, sc, x);
    case E_MATCH: return elab_match(e, sc, x);
    case E_LAMBDA: return lambda(e, sc, x);
    case E_LOOP: return elab_loop(e, sc, x);
    case E_ASCRIBE: return ascribe(e, sc, x);
    case E_EACH: return elab_each(e, sc, x);
    }
    assert(0 && "elaborate: unknown expression");
    return NULL;
}

enum { MAX_DEPTH = 30000 };

Value *elab_expr(Elab *e, const Scope *sc, Expr *x)
{
    Span outer = e->at;
    e->at = elab_place(e, sc, x->span);
    if (e->depth >= MAX_DEPTH)
        elab_give_up(e, DIAG_EXPANSION, "expressions and the functions expanded in them are nested too deeply here");
    if (e->gave_up) { /* anything of the right type: the program is refused */
        Value *v = val_default(e, elab_type(e, sc, e->checked->expr_types[x->id]));
        e->at = outer;
        return v;
    }
    e->depth++;
    Value *v = dispatch(e, sc, x);
    e->depth--;
    e->at = outer;
    return v;
}
