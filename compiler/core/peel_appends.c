/* A reduction of an append with a few elements that are known: these are combined with what the reduction of the others
 * gives.
 *
 *     reduce op over [a] ++ xs     ==>     op a (reduce op over xs)
 *     reduce op over xs ++ [a]     ==>     op (reduce op over xs) a
 *
 * The append is a map that asks for each element which side it is of; without it the reduction goes over xs itself, and
 * over what makes these. Only where op is a primitive, and on floats in front only one whose order does not show: sums
 * keep their order. */
#include "core/append.h"
#include "core/passes.h"

enum { MOST_PEELED = 4, MOST_REPEATED = 8 }; /* elements; statements of a body that is repeated for each */

typedef struct Peeler {
    CoreBuilder b;
    Arena *scratch;
    CoreCopyMap map;
    CoreMakers makers;
} Peeler;

/* left ++ right, of which `items` are known. */
typedef struct Append {
    CoreAtom rest, length; /* the other side */
    const CoreStmt *items;
    bool in_front;
} Append;

static const CoreStmt *maker(const Peeler *p, CoreAtom a) { return core_maker(&p->makers, a); }

static const CoreStmt *few_items(const Peeler *p, CoreAtom array)
{
    const CoreStmt *s = maker(p, array);
    return s && s->kind == CORE_ARRAY && s->array.n > 0 && s->array.n <= MOST_PEELED ? s : NULL;
}

/* Of the whole, n elements more are known beside those of `rest`: how many are these? */
static CoreAtom rest_length(Peeler *p, CoreAtom whole, CoreAtom rest, uint32_t n)
{
    const CoreStmt *sum = core_as_prim(maker(p, whole), PRIM_SIZE_ADD);
    const CoreStmt *made = maker(p, rest);
    if (sum && core_atom_equal(sum->prim.args[1], core_i64(n)))
        return sum->prim.args[0];
    return made && made->kind == CORE_MAP && !made->soac.guard ? made->soac.domain : build_length(&p->b, rest);
}

static bool find_append(Peeler *p, CoreAtom array, Append *a)
{
    const CoreStmt *map = maker(p, array);
    CoreAppend append;
    if (!map || map->nvars != 1 || !core_as_append(map, 0, &append))
        return false;
    const CoreAtom left = append.left, right = append.right;
    a->in_front = few_items(p, left) != NULL;
    a->items = a->in_front ? few_items(p, left) : few_items(p, right);
    a->rest = a->in_front ? right : left;
    a->length = append.length;
    return a->items != NULL;
}

static bool may_peel(const Peeler *p, CoreStmt *s, bool in_front)
{
    const bool floats = scalar_is_float(core_var_type(p->b.fn, s->vars[0]).scalar);
    switch (core_op_part(core_stmt_operator(s), 0)) {
    case PRIM_MIN:
    case PRIM_MAX:
    case PRIM_AND:
    case PRIM_OR: return true;
    case PRIM_ADD:
    case PRIM_MUL: return !floats || !in_front;
    default: return false;
    }
}

static bool is_plain(const Peeler *p, const CoreStmt *s)
{
    return s->kind == CORE_REDUCE && s->nvars == 1 && s->soac.ninputs == 1 && s->soac.index == CORE_NO_VAR &&
           !s->soac.guard && s->soac.body->stmts.n <= MOST_REPEATED && core_block_is_scalar(s->soac.body) &&
           core_var_type(p->b.fn, s->vars[0]).rank == 0;
}

/* What the reduction's body makes of an element. */
static CoreAtom emit_element(Peeler *p, CoreStmt *s, CoreAtom item)
{
    core_copy_map_note(&p->map, p->b.fn, p->scratch);
    p->map.at[s->soac.elements[0]] = item;
    const CoreAtom x = build_copy(&p->b, p->b.fn, s->soac.body, p->map.at)[0];
    core_copy_map_forget(&p->map, p->b.fn, s);
    return x;
}

static void place(Peeler *p, CoreStmt *s);

/* The reduction goes over the rest, as a variable of its own; what it bound is made of that and of the items. */
static void peel(Peeler *p, CoreStmt *s, const Append *a)
{
    CoreBuilder *b = &p->b;
    const CorePrim op = core_op_part(core_stmt_operator(s), 0);
    const CoreVar whole = s->vars[0];
    const CoreType type = core_var_type(b->fn, whole);
    const uint32_t n = a->items->array.n;
    CoreAtom items[MOST_PEELED];
    b->span = s->span;
    for (uint32_t i = 0; i < n; i++)
        items[i] = emit_element(p, s, a->items->array.items[i]);
    s->soac.domain = a->in_front ? rest_length(p, s->soac.domain, a->rest, n) : a->length;
    CoreAtom rest = a->rest;
    if (!core_is_length(&p->makers, rest, s->soac.domain)) /* of a list with room, say */
        rest = build_piece(b, rest, core_i64(0), s->soac.domain);
    s->soac.inputs = build_atoms_copy(b, &rest, 1, 1);
    build_fresh(b, s, 1, &type);
    CoreAtom all = build_atom(b, s->vars[0]);
    place(p, s);
    for (uint32_t i = 0; i < n; i++)
        all = a->in_front ? build_prim2(b, op, items[n - 1 - i], all) : build_prim2(b, op, all, items[i]);
    build_named(b, whole, all);
}

static void place(Peeler *p, CoreStmt *s)
{
    Append a;
    if (is_plain(p, s) && find_append(p, s->soac.inputs[0], &a) && may_peel(p, s, a.in_front))
        peel(p, s, &a);
    else
        core_push(p->b.p, p->b.out, s);
}

static void peel_in_block(void *ctx, CoreBlock *block)
{
    Peeler *p = ctx;
    CoreBlock *outer = p->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        core_stmt_blocks(old.stmts.at[i], peel_in_block, p);
        p->b.out = block;
        place(p, old.stmts.at[i]);
    }
    p->b.out = outer;
}

void core_peel_appends(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Peeler peeler = {.b = {.p = p, .fn = p->fns.at[i]}, .scratch = arena_create()};
        peeler.makers = core_makers_of(p->fns.at[i], peeler.scratch);
        peel_in_block(&peeler, p->fns.at[i]->body);
        arena_destroy(peeler.scratch);
    }
}
