/* Building parallel operations over sequences of products: one input per leaf, only those that are read. */
#include "core/elaborate_internal.h"

#include <assert.h>

Soac anf_soac_over(CoreAtom domain)
{
    Soac b = {0};
    b.domain = domain;
    b.index = CORE_NO_VAR;
    return b;
}

Value *anf_soac_input(Elab *e, Soac *b, const Value *array)
{
    Type *element = type_prune(type_prune(array->type)->element);
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, array->leaves.n);
    for (uint32_t i = 0; i < array->leaves.n; i++) {
        CoreAtom input = array->leaves.atoms[i];
        CoreVar v = anf_var(e, core_element(input.type), NULL);
        vec_push(e->arena, &b->inputs, input);
        vec_push(e->arena, &b->elements, v);
        atoms[i] = core_var_atom(v, core_element(input.type));
    }
    return val_from_atoms(e, element, atoms);
}

CoreAtom anf_soac_index(Elab *e, Soac *b)
{
    if (b->index == CORE_NO_VAR)
        b->index = anf_var(e, core_scalar(SC_I64), NULL);
    return core_var_atom(b->index, core_scalar(SC_I64));
}

CoreSoac anf_soac_finish(Elab *e, const Soac *b, CoreBlock *body)
{
    CoreSoac soac = {.domain = b->domain, .index = b->index, .guard = b->guard, .body = body};
    soac.inputs = arena_array(e->arena, CoreAtom, b->inputs.n);
    soac.elements = arena_array(e->arena, CoreVar, b->inputs.n);
    for (uint32_t i = 0; i < b->inputs.n; i++) {
        if (!e->used.at[b->elements.at[i]])
            continue;
        soac.inputs[soac.ninputs] = b->inputs.at[i];
        soac.elements[soac.ninputs++] = b->elements.at[i];
    }
    return soac;
}

/* The input whose element the atom is, or UINT32_MAX. */
static uint32_t input_of(const Soac *b, CoreAtom a)
{
    for (uint32_t i = 0; i < b->elements.n; i++)
        if (!a.is_const && b->elements.at[i] == a.var)
            return i;
    return UINT32_MAX;
}

/* `{ x : (x, _) in ps }` is a component of ps: results that are elements need no map, and if nothing is
 * left to compute, there is none. Fills in whole[k] for those; returns whether a map remains. */
static bool split_identities(const Soac *b, const CoreBlock *body, CoreAtom *whole, bool *is_whole)
{
    uint32_t left = 0;
    for (uint32_t k = 0; k < body->nresults; k++) {
        uint32_t i = b->guard ? UINT32_MAX : input_of(b, body->results[k]);
        is_whole[k] = i != UINT32_MAX;
        if (is_whole[k])
            whole[k] = b->inputs.at[i];
        else
            left++;
    }
    if (left > 0)
        return true;
    if (body->stmts.n == 0 && body->nresults > 0)
        return false;
    is_whole[0] = false; /* something inside may fail: keep the map and one result */
    return true;
}

static void push_map(Elab *e, Soac *b, CoreBlock *body, CoreAtom *whole, const bool *is_whole)
{
    uint32_t n = body->nresults, left = 0;
    CoreAtom *results = arena_array(e->arena, CoreAtom, n);
    CoreType *types = arena_array(e->arena, CoreType, n);
    for (uint32_t k = 0; k < n; k++) {
        if (is_whole[k])
            continue;
        types[left] = core_seq(body->results[k].type);
        results[left++] = body->results[k];
    }
    body->results = results;
    body->nresults = left;
    CoreStmt *s = anf_stmt(e, CORE_MAP);
    s->soac = anf_soac_finish(e, b, body);
    CoreAtom *out = anf_bind(e, s, types, left);
    anf_push(e, s);
    for (uint32_t k = 0, j = 0; k < n; k++)
        if (!is_whole[k])
            whole[k] = out[j++];
}

Value *anf_soac_map(Elab *e, Soac *b, CoreBlock *outer, const Value *element)
{
    Atoms atoms = {0};
    val_atoms(e, element, &atoms);
    uint32_t n = atoms.n;
    CoreBlock *body = anf_block_close(e, outer, atoms.at, n);
    CoreAtom *whole = arena_array(e->arena, CoreAtom, n);
    bool *is_whole = arena_array(e->arena, bool, n);
    if (split_identities(b, body, whole, is_whole))
        push_map(e, b, body, whole, is_whole);
    Type *t = type_array(e->arena, element->type);
    return b->guard ? val_leaves(e, t, whole, n) : val_sequence(e, t, whole, n, b->domain);
}

CoreLambda anf_soac_operator(Elab *e, const Value *op, Type *t)
{
    CoreTypes types = ty_leaves(e, t);
    uint32_t k = types.n;
    CoreLambda f = {arena_array(e->arena, CoreVar, 2 * k), 2 * k, NULL};
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, 2 * k);
    for (uint32_t i = 0; i < 2 * k; i++) {
        f.params[i] = anf_var(e, types.at[i % k], NULL);
        atoms[i] = core_var_atom(f.params[i], types.at[i % k]);
    }
    CoreBlock *outer = anf_block_open(e);
    Value *args[] = {val_from_atoms(e, t, atoms), val_from_atoms(e, t, atoms + k)};
    f.body = anf_block_close_value(e, outer, elab_apply(e, op, args, 2));
    return f;
}

CoreAtom *anf_soac_reduce(Elab *e, const Soac *b, CoreBlock *body, CoreKind kind, CoreLambda op,
                          const CoreAtom *neutral, uint32_t k)
{
    assert((kind == CORE_REDUCE || kind == CORE_SCAN) && body->nresults == k && "elaborate: reduction");
    CoreStmt *s = anf_stmt(e, kind);
    s->soac = anf_soac_finish(e, b, body);
    s->soac.op = op;
    s->soac.neutral = arena_array(e->arena, CoreAtom, k);
    CoreType *types = arena_array(e->arena, CoreType, k);
    for (uint32_t i = 0; i < k; i++) {
        s->soac.neutral[i] = neutral[i];
        types[i] = kind == CORE_SCAN ? core_seq(neutral[i].type) : neutral[i].type;
    }
    CoreAtom *out = anf_bind(e, s, types, k);
    anf_push(e, s);
    return out;
}

CoreAtom anf_soac_reduce_prim(Elab *e, const Soac *b, CoreBlock *body, CorePrim op, CoreAtom neutral)
{
    CoreBuilder builder = anf_builder(e);
    CoreLambda f = build_operator(&builder, op, neutral.type);
    return anf_soac_reduce(e, b, body, CORE_REDUCE, f, &neutral, 1)[0];
}
