/* Appending core statements to the block at hand. Only what costs nothing to see is simplified here:
 * operations on constants, conversions to the same type, lengths that a value brings along. What follows from what is
 * for facts.c to find out. */
#include "core/elaborate_internal.h"

#include <assert.h>

Span elab_place(const Elab *e, const Scope *sc, Span span)
{
    if (!e->s->files.at[span.file]->is_stdlib)
        return span;
    Span at = sc->user;
    at.origin = source_origin(e->s, span);
    return at;
}

bool anf_atom_is_int(CoreAtom a, uint64_t bits)
{
    return a.is_const && !scalar_is_float(a.type.scalar) && a.bits == bits;
}

/* ---- statements ---- */

static void note_read(void *ctx, CoreAtom *a)
{
    Elab *e = ctx;
    if (!a->is_const)
        e->used.at[a->var] = 1;
}

/* The table has all variables of the function. */
static void cover_variables(Elab *e)
{
    while (e->used.n < e->fn->vars.n)
        vec_push(e->arena, &e->used, 0);
}

CoreVar anf_var(Elab *e, CoreType type, const char *hint)
{
    CoreVar v = core_new_var(e->p, e->fn, type, hint);
    cover_variables(e);
    return v;
}

static void push_into(void *ctx, CoreBlock *out, CoreStmt *s)
{
    Elab *e = ctx;
    cover_variables(e);
    if (s->kind == CORE_PRIM && core_prim_fallible(s->prim.op, s->prim.args[0].type.scalar))
        s->site = anf_site(e, ERR_DIVISION, NULL);
    core_stmt_atoms(s, note_read, e);
    core_push(e->p, out, s);
    e->in_constants += e->constants_open > 0;
    e->in_expansions += e->expansions_open > 0;
}

CoreBuilder anf_builder(Elab *e)
{
    return (CoreBuilder){.p = e->p, .fn = e->fn, .out = e->block, .span = e->at, .emit = push_into, .ctx = e};
}

CoreStmt *anf_stmt(Elab *e, CoreKind kind) { return core_new_stmt(e->p, kind, e->at); }

void anf_push(Elab *e, CoreStmt *s) { push_into(e, e->block, s); }

CoreAtom *anf_bind(Elab *e, CoreStmt *s, const CoreType *types, uint32_t n)
{
    CoreBuilder b = anf_builder(e);
    build_fresh(&b, s, n, types);
    cover_variables(e);
    return build_atoms(&b, s->vars, n);
}

static CoreAtom push_one(Elab *e, CoreStmt *s, CoreType type)
{
    CoreAtom a = anf_bind(e, s, &type, 1)[0];
    anf_push(e, s);
    return a;
}

uint32_t anf_site(Elab *e, ErrorKind kind, const char *text) { return core_new_site(e->p, kind, e->at, text); }

/* ---- scalars ---- */

static bool fold(CorePrim op, Scalar result, const CoreAtom *args, uint32_t n, CoreAtom *out)
{
    uint64_t bits[3];
    for (uint32_t i = 0; i < n; i++) {
        if (!args[i].is_const)
            return false;
        bits[i] = args[i].bits;
    }
    Scalar operand = args[n - 1].type.scalar;
    if (scalar_is_float(operand) || core_prim_fallible(op, operand))
        return false;
    *out = core_const(result, core_prim_apply(op, operand, result, bits));
    return true;
}

CoreAtom anf_prim(Elab *e, CorePrim op, Scalar result, const CoreAtom *args, uint32_t n)
{
    CoreAtom folded;
    if (fold(op, result, args, n, &folded))
        return folded;
    CoreBuilder b = anf_builder(e);
    return build_prim(&b, op, result, args);
}

CoreAtom anf_unary(Elab *e, CorePrim op, CoreAtom a) { return anf_prim(e, op, a.type.scalar, &a, 1); }

CoreAtom anf_binary(Elab *e, CorePrim op, CoreAtom a, CoreAtom b)
{
    CoreAtom args[] = {a, b};
    bool is_i64 = a.type.scalar == SC_I64;
    if (is_i64 && anf_atom_is_int(b, 0) && (op == PRIM_ADD || op == PRIM_SUB))
        return a;
    if (is_i64 && anf_atom_is_int(a, 0) && op == PRIM_ADD)
        return b;
    return anf_prim(e, op, a.type.scalar, args, 2);
}

CoreAtom anf_compare(Elab *e, CorePrim op, CoreAtom a, CoreAtom b)
{
    CoreAtom args[] = {a, b};
    return anf_prim(e, op, SC_BOOL, args, 2);
}

CoreAtom anf_and(Elab *e, CoreAtom a, CoreAtom b)
{
    if (anf_atom_is_int(a, 1))
        return b;
    if (anf_atom_is_int(b, 1))
        return a;
    return anf_binary(e, PRIM_AND, a, b);
}

CoreAtom anf_select(Elab *e, CoreAtom c, CoreAtom x, CoreAtom y)
{
    if (c.is_const)
        return c.bits ? x : y;
    CoreBuilder b = anf_builder(e);
    return build_select(&b, c, x, y);
}

CoreAtom anf_convert(Elab *e, CoreAtom a, Scalar to)
{
    if (a.type.scalar == to)
        return a;
    return anf_prim(e, PRIM_CONVERT, to, &a, 1);
}

CoreAtom anf_max0(Elab *e, CoreAtom n) { return anf_binary(e, PRIM_MAX, n, core_i64(0)); }

/* ---- sequences ---- */

/* All components are equally long: it is asked of the first. */
CoreAtom anf_length(Elab *e, const Value *xs)
{
    assert(type_prune(xs->type)->kind == TY_ARRAY && "elaborate: length of a scalar");
    if (xs->leaves.length_known)
        return xs->leaves.length;
    CoreBuilder b = anf_builder(e);
    return build_length(&b, xs->leaves.atoms[0]);
}

CoreAtom anf_index(Elab *e, CoreAtom array, CoreAtom i, uint32_t site)
{
    CoreBuilder b = anf_builder(e);
    return build_index(&b, array, i, site);
}

CoreAtom anf_slice(Elab *e, CoreAtom array, CoreAtom from, CoreAtom to, uint32_t site)
{
    CoreStmt *s = anf_stmt(e, CORE_SLICE);
    s->site = site;
    s->slice.array = array;
    s->slice.from = from;
    s->slice.to = to;
    return push_one(e, s, array.type);
}

CoreAtom anf_array(Elab *e, CoreType type, const CoreAtom *items, uint32_t n)
{
    CoreBuilder b = anf_builder(e);
    return build_array(&b, type, items, n);
}

/* ---- checks ---- */

void anf_check(Elab *e, CoreAtom cond, ErrorKind kind, const char *text, const CoreAtom *values, uint32_t n)
{
    if (anf_atom_is_int(cond, 1))
        return;
    bool known = kind == ERR_SIZE && e->sizes_hold;
    CoreBuilder b = anf_builder(e);
    build_check(&b, known ? CORE_NO_SITE : anf_site(e, kind, text), cond, values, n);
}

void anf_check_lengths(Elab *e, CoreAtom n, CoreAtom m)
{
    if (core_atom_equal(n, m))
        return;
    CoreAtom values[] = {n, m};
    anf_check(e, anf_compare(e, PRIM_EQ, n, m), ERR_LENGTHS, NULL, values, 2);
}

void anf_check_same_length(Elab *e, const Value *xs, const Value *ys)
{
    CoreAtom n = anf_length(e, xs);
    anf_check_lengths(e, n, anf_length(e, ys));
}

void anf_check_not_negative(Elab *e, CoreAtom n)
{
    anf_check(e, anf_compare(e, PRIM_GE, n, core_i64(0)), ERR_NEGATIVE, NULL, &n, 1);
}

/* ---- blocks ---- */

CoreBlock *anf_block_open(Elab *e)
{
    CoreBlock *outer = e->block;
    e->block = core_new_block(e->p);
    return outer;
}

CoreBlock *anf_block_close(Elab *e, CoreBlock *outer, const CoreAtom *results, uint32_t n)
{
    CoreBlock *b = e->block;
    b->nresults = n;
    b->results = arena_array(e->arena, CoreAtom, n);
    for (uint32_t i = 0; i < n; i++) {
        b->results[i] = results[i];
        note_read(e, &b->results[i]);
    }
    e->block = outer;
    return b;
}

CoreBlock *anf_block_close_value(Elab *e, CoreBlock *outer, const Value *v)
{
    Atoms atoms = {0};
    val_atoms(e, v, &atoms);
    return anf_block_close(e, outer, atoms.at, atoms.n);
}
