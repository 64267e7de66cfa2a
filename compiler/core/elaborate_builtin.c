/* The functions of builtins.def. */
#include "core/elaborate_internal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- tables ---- */

/* The number of arguments: the words of the builtin's parameters. */
uint32_t elab_builtin_arity(Builtin b)
{
    static const char *const parameters[BUILTIN_COUNT] = {
#define BUILTIN(name, names, ...) [BI_##name] = names,
#include "types/builtins.def"
#undef BUILTIN
    };
    uint32_t arity = parameters[b][0] != '\0';
    for (const char *s = parameters[b]; *s; s++)
        arity += *s == ' ';
    return arity;
}

/* Builtins that are one scalar primitive; min and max are on scalars. */
static CorePrim scalar_prim(Builtin b)
{
    static const uint8_t prims[BUILTIN_COUNT] = {
#define BUILTIN(name, names, type, ...) [BI_##name] = 0 __VA_ARGS__,
#define PRIMITIVE(op) +1 + PRIM_##op
#include "types/builtins.def"
#undef BUILTIN
#undef PRIMITIVE
    };
    return prims[b] ? (CorePrim)(prims[b] - 1) : PRIM_COUNT;
}

bool elab_builtin_is_scalar(Builtin b) { return scalar_prim(b) != PRIM_COUNT; }

/* ---- constants ---- */

static CoreAtom float_const(Scalar s, double x)
{
    uint64_t bits = 0;
    if (s == SC_F32) {
        float f = (float)x;
        uint32_t low;
        memcpy(&low, &f, sizeof low);
        bits = low;
    } else {
        memcpy(&bits, &x, sizeof bits);
    }
    return core_const(s, bits);
}

static CoreAtom int_const(Scalar s, int64_t x) { return core_const(s, (uint64_t)x); }

Value *elab_builtin_constant(Elab *e, Builtin b, Type *type)
{
    Scalar s = ty_scalar(type);
    CoreAtom a = core_const(s, 0);
    switch (b) {
    case BI_pi: a = float_const(s, 3.14159265358979323846); break;
    case BI_inf: a = float_const(s, (double)INFINITY); break;
    case BI_nan: a = float_const(s, (double)NAN); break;
    case BI_max_i8: a = int_const(s, INT8_MAX); break;
    case BI_max_i16: a = int_const(s, INT16_MAX); break;
    case BI_max_i32: a = int_const(s, INT32_MAX); break;
    case BI_max_i64: a = int_const(s, INT64_MAX); break;
    case BI_max_u8: a = int_const(s, UINT8_MAX); break;
    case BI_max_u16: a = int_const(s, UINT16_MAX); break;
    case BI_max_u32: a = int_const(s, UINT32_MAX); break;
    case BI_max_u64: a = core_const(s, UINT64_MAX); break;
    case BI_max_f32: a = float_const(s, (double)FLT_MAX); break;
    case BI_max_f64: a = float_const(s, DBL_MAX); break;
    case BI_min_i8: a = int_const(s, INT8_MIN); break;
    case BI_min_i16: a = int_const(s, INT16_MIN); break;
    case BI_min_i32: a = int_const(s, INT32_MIN); break;
    case BI_min_i64: a = int_const(s, INT64_MIN); break;
    case BI_min_f32: a = float_const(s, -(double)FLT_MAX); break;
    case BI_min_f64: a = float_const(s, -DBL_MAX); break;
    default: break; /* min_u8 … min_u64 */
    }
    return val_scalar(e, a);
}

/* ---- small helpers ---- */

static Type *element_type(const Value *xs) { return type_prune(type_prune(xs->type)->element); }

Value *elab_library_call(Elab *e, const char *name, Value **args, uint32_t n)
{
    const DefInfo *info = checked_find_prelude(e->checked, intern_cstr(e->s, name));
    Type *result = type_prune(args[n - 1]->type);
    if (!info) {
        elab_give_up(e, DIAG_UNDEFINED_NAME, "this needs `%s`, which the library does not define", name);
        return val_default(e, result);
    }
    Type **targs = arena_array(e->arena, Type *, info->scheme.nvars);
    for (uint32_t i = 0; i < info->scheme.nvars; i++)
        targs[i] = type_tuple(e->arena, NULL, 0);
    Type *t = type_prune(info->scheme.type);
    for (uint32_t i = 0; i < n && t->kind == TY_FUN; i++, t = type_prune(t->fun.to))
        if (args[i]->kind != VALUE_FUN)
            ty_match(t->fun.from, args[i]->type, targs);
    Value *f =
        val_fun(e, FUN_DEF, type_prune(type_substitute(e->arena, info->scheme.type, targs, info->scheme.nvars)), NULL);
    f->fun.def = info->def;
    f->fun.targs = targs;
    f->fun.ntargs = info->scheme.nvars;
    return elab_apply(e, f, args, n);
}

/* ---- map, zip, filter ---- */

static Value *map(Elab *e, const Value *f, Value **arrays, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        anf_check_same_length(e, arrays[0], arrays[i]);
    Soac b = anf_soac_over(anf_length(e, arrays[0]));
    Value *elements[4];
    for (uint32_t i = 0; i < n; i++)
        elements[i] = anf_soac_input(e, &b, arrays[i]);
    CoreBlock *outer = anf_block_open(e);
    return anf_soac_map(e, &b, outer, elab_apply(e, f, elements, n));
}

/* Sequences of tuples are tuples of sequences already. */
static Value *zip(Elab *e, Value **arrays, uint32_t n, Type *result)
{
    for (uint32_t i = 1; i < n; i++)
        anf_check_same_length(e, arrays[0], arrays[i]);
    Atoms atoms = {0};
    for (uint32_t i = 0; i < n; i++)
        val_atoms(e, arrays[i], &atoms);
    return val_as_long(e, result, atoms.at, atoms.n, arrays[0]);
}

static Value *unzip(Elab *e, const Value *xs, Type *result)
{
    Value **items = arena_array(e->arena, Value *, result->tuple.n);
    const CoreAtom *at = xs->leaves.atoms;
    CoreAtom n = anf_length(e, xs);
    for (uint32_t i = 0; i < result->tuple.n; i++) {
        uint32_t k = ty_leaf_count(e, result->tuple.items[i]);
        items[i] = val_sequence(e, type_prune(result->tuple.items[i]), at, k, n);
        at += k;
    }
    return val_product(e, result, items);
}

static Value *filter(Elab *e, const Value *f, const Value *xs)
{
    Soac b = anf_soac_over(anf_length(e, xs));
    Value *x = anf_soac_input(e, &b, xs);
    CoreBlock *outer = anf_block_open(e);
    b.guard = anf_block_close_value(e, outer, elab_apply(e, f, &x, 1));
    outer = anf_block_open(e);
    return anf_soac_map(e, &b, outer, x);
}

static Value *iota(Elab *e, CoreAtom n)
{
    anf_check_not_negative(e, n);
    Soac b = anf_soac_over(n);
    CoreAtom i = anf_soac_index(e, &b);
    CoreBlock *outer = anf_block_open(e);
    return anf_soac_map(e, &b, outer, val_scalar(e, i));
}

static Value *replicate(Elab *e, CoreAtom n, const Value *x)
{
    anf_check_not_negative(e, n);
    Soac b = anf_soac_over(n);
    CoreBlock *outer = anf_block_open(e);
    return anf_soac_map(e, &b, outer, x);
}

/* ---- reductions ---- */

static CoreAtom *atoms_of(Elab *e, const Value *v)
{
    Atoms atoms = {0};
    val_atoms(e, v, &atoms);
    return atoms.at;
}

static CoreStmt *last_stmt(const Elab *e) { return e->block->stmts.at[e->block->stmts.n - 1]; }

static Value *reduction(Elab *e, Builtin b, Value **args)
{
    Value *xs = args[2];
    Type *t = element_type(xs);
    bool scans = b == BI_scan || b == BI_scanx;
    CoreLambda op = anf_soac_operator(e, args[0], t);
    Soac soac = anf_soac_over(anf_length(e, xs));
    Value *x = anf_soac_input(e, &soac, xs);
    CoreBlock *outer = anf_block_open(e);
    CoreBlock *body = anf_block_close_value(e, outer, x);
    CoreKind kind = scans ? CORE_SCAN : CORE_REDUCE;
    uint32_t k = body->nresults;
    CoreAtom *out = anf_soac_reduce(e, &soac, body, kind, op, atoms_of(e, args[1]), k);
    last_stmt(e)->soac.exclusive = b == BI_scanx;
    last_stmt(e)->soac.commutative = b == BI_reduce_comm;
    return scans ? val_sequence(e, xs->type, out, k, soac.domain) : val_from_atoms(e, t, out);
}

/* The body of a scatter or histogram: (index, values) of one pair. */
static CoreBlock *indexed_body(Elab *e, Soac *b, const Value *is, const Value *vs)
{
    Value *i = anf_soac_input(e, b, is);
    Value *v = anf_soac_input(e, b, vs);
    CoreBlock *outer = anf_block_open(e);
    Atoms atoms = {0};
    vec_push(e->arena, &atoms, elab_index_i64(e, i));
    val_atoms(e, v, &atoms);
    return anf_block_close(e, outer, atoms.at, atoms.n);
}

static Value *reduce_by_index(Elab *e, Value **args)
{
    Value *is = args[3], *vs = args[4];
    CoreAtom size = val_atom(args[2]);
    anf_check_not_negative(e, size);
    anf_check_same_length(e, is, vs);
    Type *t = element_type(vs);
    CoreLambda op = anf_soac_operator(e, args[0], t);
    Soac b = anf_soac_over(anf_length(e, is));
    CoreBlock *body = indexed_body(e, &b, is, vs);
    CoreStmt *s = anf_stmt(e, CORE_HIST);
    s->soac = anf_soac_finish(e, &b, body);
    s->soac.size = size;
    s->soac.neutral = atoms_of(e, args[1]);
    s->soac.op = op;
    CoreTypes types = ty_leaves(e, vs->type);
    CoreAtom *out = anf_bind(e, s, types.at, types.n);
    anf_push(e, s);
    return val_sequence(e, vs->type, out, types.n, size);
}

/* SCATTER or ACCUMULATE of (destination, indices, values). */
static Value *put_into(Elab *e, CoreKind kind, CoreLambda op, Value **args)
{
    Value *dest = args[0], *is = args[1], *vs = args[2];
    anf_check_same_length(e, is, vs);
    Soac b = anf_soac_over(anf_length(e, is));
    CoreBlock *body = indexed_body(e, &b, is, vs);
    CoreStmt *s = anf_stmt(e, kind);
    s->soac = anf_soac_finish(e, &b, body);
    s->soac.dests = atoms_of(e, dest);
    s->soac.op = op;
    CoreTypes types = ty_leaves(e, dest->type);
    CoreAtom *out = anf_bind(e, s, types.at, types.n);
    anf_push(e, s);
    return val_as_long(e, dest->type, out, types.n, dest);
}

static Value *accumulate(Elab *e, Value **args)
{
    Type *t = element_type(args[1]);
    if (!ty_is_scalar(t) || scalar_bytes(ty_scalar(t)) < 4)
        return elab_library_call(e, "accumulate_parts__", args, 4);
    return put_into(e, CORE_ACCUMULATE, anf_soac_operator(e, args[0], t), args + 1);
}

/* ---- structure ---- */

static Value *flatten(Elab *e, const Value *xss, Type *result)
{
    CoreAtom *out = arena_array(e->arena, CoreAtom, xss->leaves.n);
    for (uint32_t i = 0; i < xss->leaves.n; i++) {
        CoreStmt *s = anf_stmt(e, CORE_FLATTEN);
        s->length.array = xss->leaves.atoms[i];
        CoreType type = core_element(xss->leaves.atoms[i].type);
        out[i] = anf_bind(e, s, &type, 1)[0];
        anf_push(e, s);
    }
    return val_leaves(e, result, out, xss->leaves.n);
}

/* ---- places ---- */

/* u64 by its own remainder: the larger half are no i64. */
static CoreAtom place(Elab *e, CoreAtom n, const Value *k)
{
    CoreAtom m = anf_binary(e, PRIM_MAX, n, core_i64(1));
    if (val_atom(k).type.scalar == SC_U64)
        return anf_convert(e, anf_binary(e, PRIM_MOD, val_atom(k), anf_convert(e, m, SC_U64)), SC_I64);
    CoreAtom r = anf_binary(e, PRIM_MOD, elab_index_i64(e, k), m);
    return anf_binary(e, PRIM_MOD, anf_binary(e, PRIM_ADD, r, m), m);
}

/* ---- what reductions begin with ---- */

/* The greatest or the least value of the type: nan for floats, as a number wins over nan in both. */
static CoreAtom losing_scalar(Scalar s, bool greatest)
{
    if (s == SC_F32)
        return core_const(s, UINT64_C(0x7fc00000));
    if (s == SC_F64)
        return core_const(s, UINT64_C(0x7ff8000000000000));
    if (s == SC_BOOL)
        return core_const(s, greatest);
    const uint32_t bits = 8 * scalar_bytes(s);
    if (!scalar_is_signed(s))
        return core_const(s, greatest ? UINT64_MAX >> (64 - bits) : 0);
    const int64_t most = INT64_MAX >> (64 - bits);
    return core_const(s, (uint64_t)(greatest ? most : -most - 1));
}

static Value *losing_element(Elab *e, Value *xs, bool greatest)
{
    Type *t = element_type(xs);
    if (ty_is_scalar(t))
        return val_scalar(e, losing_scalar(ty_scalar(t), greatest));
    return elab_index_value(e, xs, core_i64(0), false);
}

/* ---- dispatch ---- */

static Value *scalar_builtin(Elab *e, Builtin b, Value **args, Type *result)
{
    CorePrim op = scalar_prim(b);
    CoreAtom atoms[3];
    uint32_t n = core_prim_arity(op);
    for (uint32_t i = 0; i < n; i++)
        atoms[i] = val_atom(args[i]);
    if (op == PRIM_CONVERT)
        return val_scalar(e, anf_convert(e, atoms[0], ty_scalar(result)));
    return val_scalar(e, anf_prim(e, op, ty_scalar(result), atoms, n));
}

/* Reached when these are passed as functions or given by pieces; see guarding_builtin for direct calls. */
static Value *checking_builtin(Elab *e, Builtin b, Value **args)
{
    if (b == BI_assert) {
        anf_check(e, val_atom(args[0]), ERR_ASSERT, NULL, NULL, 0);
        return args[1];
    }
    if (b == BI_check_lengths__) {
        anf_check_lengths(e, val_atom(args[0]), val_atom(args[1]));
        return args[2];
    }
    CoreAtom some = anf_compare(e, PRIM_GT, anf_length(e, args[1]), core_i64(0));
    anf_check(e, some, ERR_EMPTY, "element", NULL, 0);
    return args[1];
}

Value *elab_builtin(Elab *e, Builtin b, Type *type, Value **args)
{
    Type *result = ty_after(type, elab_builtin_arity(b));
    if (elab_builtin_is_scalar(b) && ty_is_scalar(result))
        return scalar_builtin(e, b, args, result);
    switch (b) {
    case BI_map: return map(e, args[0], args + 1, 1);
    case BI_map2: return map(e, args[0], args + 1, 2);
    case BI_map3: return map(e, args[0], args + 1, 3);
    case BI_map4: return map(e, args[0], args + 1, 4);
    case BI_zip: return zip(e, args, 2, result);
    case BI_zip3: return zip(e, args, 3, result);
    case BI_unzip:
    case BI_unzip3: return unzip(e, args[0], result);
    case BI_reduce:
    case BI_reduce_comm:
    case BI_scan:
    case BI_scanx: return reduction(e, b, args);
    case BI_filter: return filter(e, args[0], args[1]);
    case BI_scatter: return put_into(e, CORE_SCATTER, (CoreLambda){0}, args);
    case BI_accumulate: return accumulate(e, args);
    case BI_reduce_by_index: return reduce_by_index(e, args);
    case BI_iota: return iota(e, val_atom(args[0]));
    case BI_replicate: return replicate(e, val_atom(args[0]), args[1]);
    case BI_length: return val_scalar(e, anf_length(e, args[0]));
    case BI_flatten: return flatten(e, args[0], result);
    case BI_argsort: return elab_argsort(e, args[0]);
    case BI_sort_with__: return elab_sort_with(e, args[0], args[1], result);
    case BI_zero_element__: return val_default(e, element_type(args[0]));
    case BI_before_minimum__: return losing_element(e, args[0], true);
    case BI_before_maximum__: return losing_element(e, args[0], false);
    case BI_index: return elab_index_value(e, args[0], elab_index_i64(e, args[1]), true);
    case BI_update: return elab_update_value(e, args[0], elab_index_i64(e, args[1]), args[2]);
    case BI_nest: return elab_nest(e, args[0], args[1]);
    case BI_unflatten: return elab_unflatten(e, val_atom(args[0]), val_atom(args[1]), args[2]);
    case BI_total_length__: return val_scalar(e, elab_total_length(e, args[0]));
    case BI_take: return elab_slice_value(e, args[1], core_i64(0), val_atom(args[0]), true);
    case BI_drop: return elab_slice_value(e, args[1], val_atom(args[0]), anf_length(e, args[1]), true);
    case BI_assert:
    case BI_check_nonempty__:
    case BI_check_lengths__: return checking_builtin(e, b, args);
    case BI_unsafe_index__: return elab_index_value(e, args[0], val_atom(args[1]), false);
    case BI_place__: return val_scalar(e, place(e, val_atom(args[0]), args[1]));
    case BI_int__: return val_scalar(e, elab_index_i64(e, args[0]));
    case BI_less__: return val_scalar(e, elab_less(e, args[0], args[1]));
    case BI_compare__: return val_scalar(e, elab_compare(e, args[0], args[1]));
    case BI_order_bits__: return val_scalar(e, elab_order_bits(e, val_atom(args[0])));
    case BI_min: return elab_library_call(e, "min_by_parts__", args, 2);
    case BI_max: return elab_library_call(e, "max_by_parts__", args, 2);
    default: break;
    }
    assert(0 && "elaborate: builtin without a rule");
    return val_default(e, result);
}
