/* Checks of rows' lengths that simplify has not decided become reductions:
 *
 *     w = check_rows 1 below xs, n     ==>     w = reduce (row <- xs) { m = length row; -> if m == n then -1 else m }
 * max -1 w = check_rows 2 below xss, n    ==>     xs = flatten xss; w = check_rows 1 below xs, n
 *
 * Outside parallel code all rows are looked at as one sequence, of which the runtime may know how long they are
 * (plan/row_checks.c), and which it finds without a look where arrays lie one behind the other. */
#include "core/build.h"
#include "core/passes.h"

/* A length that has been taken: of neighbours over one sequence, fusion makes one. */
typedef struct Length {
    CoreVar xs;
    CoreAtom n;
} Length;

typedef struct Lowering {
    CoreProgram *p;
    CoreFn *fn;
    VEC(Length) lengths; /* in scope */
    uint32_t inside;     /* so many parallel operations */
    bool changed;
} Lowering;

static CoreAtom length_of(Lowering *l, CoreBuilder *b, CoreAtom xs)
{
    for (uint32_t i = l->lengths.n; i-- > 0;)
        if (l->lengths.at[i].xs == xs.var)
            return l->lengths.at[i].n;
    vec_push(l->p->arena, &l->lengths, ((Length){xs.var, build_length(b, xs)}));
    return l->lengths.at[l->lengths.n - 1].n;
}

/* args: as of CORE_CHECK_ROWS, `depth` levels above the lengths that are asked. */
static CoreAtom wrong_length(Lowering *l, CoreBuilder *b, const CoreAtom *args, uint32_t nargs, uint32_t depth)
{
    CoreAtom n = length_of(l, b, args[0]), none = core_i64(-1);
    if (depth == 0) {
        CoreAtom wrong = build_select(b, build_prim2(b, PRIM_EQ, args[1], n), none, n);
        for (uint32_t i = 2; i < nargs; i += 2)
            wrong = build_select(b, build_prim2(b, PRIM_EQ, args[i], args[i + 1]), wrong, none);
        return wrong;
    }
    CoreSoac soac = {.domain = n, .index = CORE_NO_VAR};
    CoreAtom *inner = build_atoms_copy(b, args, nargs, nargs);
    soac.inputs = arena_array(b->p->arena, CoreAtom, nargs);
    soac.elements = arena_array(b->p->arena, CoreVar, nargs);
    for (uint32_t i = 0; i < nargs; i++) {
        if (i % 2)
            continue;
        inner[i] = build_var(b, core_element(core_atom_type(b->fn, args[i])), NULL);
        soac.inputs[soac.ninputs] = args[i];
        soac.elements[soac.ninputs++] = inner[i].var;
    }
    CoreBlock *outer = build_begin(b);
    CoreAtom wrong = wrong_length(l, b, inner, nargs, depth - 1);
    soac.body = build_end(b, outer, &wrong, 1);
    return build_fold(b, CORE_REDUCE, soac, PRIM_MAX, none, false);
}

/* Those of the levels between as one. */
static CoreAtom wrong_length_outside(Lowering *l, CoreBuilder *b, const CoreStmt *s)
{
    CoreAtom args[] = {s->rows.args[0], s->rows.args[1]};
    for (uint32_t depth = s->rows.depth; depth > 1; depth--) {
        args[0] = build_flatten(b, args[0]);
    }
    return wrong_length(l, b, args, 2, 1);
}

static void lower_block(void *ctx, CoreBlock *block)
{
    Lowering *l = ctx;
    CoreBlock old = core_take_stmts(block);
    uint32_t lengths = l->lengths.n;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        CoreBuilder b = {.p = l->p, .fn = l->fn, .out = block, .span = s->span};
        l->inside += core_stmt_soac(s) != NULL;
        core_stmt_blocks(s, lower_block, l);
        l->inside -= core_stmt_soac(s) != NULL;
        if (s->kind == CORE_CHECK_ROWS) {
            const bool outside = l->inside == 0 && s->rows.depth > 1 && s->rows.nargs == 2;
            CoreAtom wrong = outside ? wrong_length_outside(l, &b, s)
                                     : wrong_length(l, &b, s->rows.args, s->rows.nargs, s->rows.depth);
            s->kind = CORE_ATOM;
            s->atom = wrong;
            l->changed = true;
        }
        core_push(l->p, block, s);
        if (s->kind == CORE_LENGTH)
            vec_push(l->p->arena, &l->lengths, ((Length){s->length.array.var, build_atom(&b, s->vars[0])}));
    }
    l->lengths.n = lengths;
}

bool core_lower_rows(CoreProgram *p)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Lowering l = {.p = p, .fn = p->fns.at[i]};
        lower_block(&l, l.fn->body);
        changed |= l.changed;
    }
    return changed;
}
