/* Appending core statements to the block at hand. Only what costs nothing to see is simplified here:
 * operations on constants, conversions to the same type, lengths already known. */
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

/* The tables have all variables of the function. */
static void cover_variables(Elab *e)
{
    while (e->used.n < e->fn->vars.n)
        vec_push(e->arena, &e->used, 0);
    while (e->facts.n < e->fn->vars.n)
        vec_push(e->arena, &e->facts, ((VarFacts){.same_length = CORE_NO_VAR}));
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

CoreAtom anf_max0(Elab *e, CoreAtom n)
{
    if (!n.is_const && e->facts.at[n.var].not_negative)
        return n;
    CoreAtom max = anf_binary(e, PRIM_MAX, n, core_i64(0));
    anf_know_not_negative(e, max);
    return max;
}

/* ---- facts ---- */

/* Holds until the open block closes. */
static VarFacts *learn(Elab *e, CoreVar v)
{
    vec_push(e->arena, &e->facts_log, ((OldFacts){v, e->facts.at[v]}));
    return &e->facts.at[v];
}

static CoreVar length_root(const Elab *e, CoreVar v)
{
    while (e->facts.at[v].same_length != CORE_NO_VAR)
        v = e->facts.at[v].same_length;
    return v;
}

void anf_know_not_negative(Elab *e, CoreAtom n)
{
    if (!n.is_const)
        e->facts.at[n.var].not_negative = true;
}

/* The latest fact wins: after a check, that is what the length was compared with. */
void anf_know_length(Elab *e, CoreAtom array, CoreAtom n)
{
    if (array.is_const)
        return;
    VarFacts *f = learn(e, length_root(e, array.var));
    f->length_known = true;
    f->length = n;
}

/* Links go from newer to older variables, so what they lead to is in scope. */
void anf_know_same_lengths(Elab *e, const CoreAtom *arrays, uint32_t n)
{
    if (!e->fn)
        return; /* outside functions: placeholders */
    for (uint32_t i = 1; i < n; i++) {
        CoreVar a = length_root(e, arrays[0].var), b = length_root(e, arrays[i].var);
        CoreVar newer = a > b ? a : b, older = a > b ? b : a;
        if (a == b)
            continue;
        if (e->facts.at[newer].length_known && !e->facts.at[older].length_known)
            anf_know_length(e, arrays[a > b ? i : 0], e->facts.at[newer].length);
        learn(e, newer)->same_length = older;
    }
}

/* ---- sequences ---- */

CoreAtom anf_length(Elab *e, CoreAtom array)
{
    assert(!array.is_const && array.type.rank > 0 && "elaborate: length of a scalar");
    array.var = length_root(e, array.var);
    if (e->facts.at[array.var].length_known)
        return e->facts.at[array.var].length;
    CoreBuilder b = anf_builder(e);
    CoreAtom n = build_length(&b, build_atom(&b, array.var));
    anf_know_not_negative(e, n);
    anf_know_length(e, array, n);
    return n;
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
    CoreAtom slice = push_one(e, s, array.type);
    if (anf_atom_is_int(from, 0))
        anf_know_length(e, slice, to);
    return slice;
}

CoreAtom anf_array(Elab *e, CoreType type, const CoreAtom *items, uint32_t n)
{
    CoreBuilder b = anf_builder(e);
    CoreAtom array = build_array(&b, type, items, n);
    anf_know_length(e, array, core_i64(n));
    return array;
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

void anf_check_same_length(Elab *e, CoreAtom xs, CoreAtom ys)
{
    CoreAtom n = anf_length(e, xs);
    anf_check_lengths(e, n, anf_length(e, ys));
    anf_know_length(e, ys, n);
}

void anf_check_not_negative(Elab *e, CoreAtom n)
{
    anf_check(e, anf_compare(e, PRIM_GE, n, core_i64(0)), ERR_NEGATIVE, NULL, &n, 1);
}

/* ---- blocks ---- */

OpenBlock anf_block_open(Elab *e)
{
    OpenBlock o = {e->block, e->facts_log.n};
    e->block = core_new_block(e->p);
    return o;
}

CoreBlock *anf_block_close(Elab *e, OpenBlock o, const CoreAtom *results, uint32_t n)
{
    CoreBlock *b = e->block;
    b->nresults = n;
    b->results = arena_array(e->arena, CoreAtom, n);
    for (uint32_t i = 0; i < n; i++) {
        b->results[i] = results[i];
        note_read(e, &b->results[i]);
    }
    while (e->facts_log.n > o.log) { /* statements inside are not in scope behind the block */
        OldFacts old = e->facts_log.at[--e->facts_log.n];
        e->facts.at[old.var] = old.facts;
    }
    e->block = o.outer;
    return b;
}

CoreBlock *anf_block_close_value(Elab *e, OpenBlock o, const Value *v)
{
    Atoms atoms = {0};
    val_atoms(e, v, &atoms);
    return anf_block_close(e, o, atoms.at, atoms.n);
}
