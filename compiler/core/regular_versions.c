/* Entries whose parameters have rows of unknown lengths, `[[f32]]`, and that had better know that all rows of each are
 * equally long: two versions of the body, of which the run takes one.
 *
 *     main (xss : [[f32]]) { B }
 *   ==>
 *     main (xss : [[f32]]) {
 *         n = the first row's length; regular = check_rows 1 below xss, n < 0
 *         if regular then { B, knowing that } else { B' }
 *     }
 *
 * So what is written without sizes is as fast as `[n][m]f32` where the data have them: nests become regular (tiles,
 * strides instead of offsets). The runtime mostly knows how long rows are. That pays where reductions share what they
 * read (lane_shares.c), each row makes for itself what depends on its length only (hoist_operations.c), or a loop
 * outside parallel code goes over rows in each round. Bodies have to be small, for the program's size. */
#include "core/choose_lanes_internal.h"
#include "core/lane.h"

/* MOST_STATEMENTS: of a body, to be there twice. MOST_RANK: of what is asked about. */
enum { MOST_STATEMENTS = 400, MOST_RANK = 4 };

/* ---- does it pay? ---- */

typedef struct Look {
    const CoreFn *fn;
    uint32_t nest; /* parallel operations around */
    bool in_loop;  /* of rows */
    bool pays;
} Look;

static bool keeps_rows(const CoreFn *fn, const CoreStmt *s)
{
    for (uint32_t i = 0; s->kind == CORE_LOOP && i < s->loop.nparams; i++)
        if (core_var_type(fn, s->loop.params[i]).rank > 1)
            return true;
    return false;
}

static void look_at_block(void *ctx, CoreBlock *b)
{
    Look *l = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !l->pays; i++) {
        CoreStmt *s = b->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        const Look before = *l;
        l->pays = soac && ((l->in_loop && l->nest > 0) || lane_shares(l->fn, soac, soac->body, true).any);
        l->nest += soac != NULL;
        l->in_loop |= l->nest == 0 && keeps_rows(l->fn, s);
        core_stmt_blocks(s, look_at_block, l);
        l->nest = before.nest;
        l->in_loop = before.in_loop;
    }
}

static bool pays(CoreProgram *p, CoreFn *fn)
{
    Look l = {.fn = fn};
    uint32_t statements = 0;
    choose_count(&statements, fn->body);
    if (statements > MOST_STATEMENTS)
        return false;
    look_at_block(&l, fn->body);
    return l.pays || core_hoists_of_equal_rows(p, fn);
}

/* ---- asking ---- */

/* x = if 0 < length xs then (the first length in xs[0]) else 0 */
static CoreAtom first_length(CoreBuilder *b, CoreAtom xs, uint32_t depth)
{
    const CoreAtom n = build_length(b, xs), zero = core_i64(0);
    if (depth == 0)
        return n;
    const CoreAtom some = build_prim2(b, PRIM_LT, zero, n);
    CoreBlock *outer = build_begin(b);
    const CoreAtom inner = first_length(b, build_index(b, xs, zero, CORE_NO_SITE), depth - 1);
    CoreBlock *then_b = build_end(b, outer, &inner, 1);
    outer = build_begin(b);
    return build_if(b, some, then_b, build_end(b, outer, &zero, 1))[0];
}

/* Have all sequences `depth` below xs one length? */
static CoreAtom is_regular(CoreBuilder *b, CoreAtom xs, uint32_t depth)
{
    const CoreType i64 = core_scalar(SC_I64);
    const CoreAtom args[] = {xs, first_length(b, xs, depth)};
    CoreStmt *s = build_stmt(b, CORE_CHECK_ROWS, 1, &i64);
    s->rows.args = build_atoms_copy(b, args, 2, 2);
    s->rows.nargs = 2;
    s->rows.depth = depth;
    build_emit(b, s);
    return build_prim2(b, PRIM_LT, build_atom(b, s->vars[0]), core_i64(0));
}

/* Does the body ask that itself, as the parameter's type has sizes? */
static bool has_size(const CoreBlock *body, CoreVar xs, uint32_t depth)
{
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        const CoreStmt *s = body->stmts.at[i];
        if (s->kind == CORE_CHECK_ROWS && s->rows.nargs == 2 && s->rows.depth == depth && s->rows.args[0].var == xs)
            return true;
    }
    return false;
}

/* A constant: there is nothing to be asked. */
static CoreAtom are_regular(CoreBuilder *b, const CoreBlock *body)
{
    CoreAtom all = core_const(SC_BOOL, 1);
    for (uint32_t i = 0; i < b->fn->nparams; i++) {
        const CoreAtom xs = build_atom(b, b->fn->params[i]);
        const uint32_t rank = core_atom_type(b->fn, xs).rank;
        for (uint32_t depth = 1; depth < rank && depth < MOST_RANK; depth++) {
            if (has_size(body, xs.var, depth))
                continue;
            const CoreAtom regular = is_regular(b, xs, depth);
            all = all.is_const ? regular : build_prim2(b, PRIM_AND, all, regular);
        }
    }
    return all;
}

/* False: all is known. */
static bool make_versions(CoreProgram *p, CoreFn *fn)
{
    CoreBlock *body = fn->body, *all = core_new_block(p);
    CoreBuilder b = {.p = p, .fn = fn, .out = all, .span = fn->span};
    const CoreAtom regular = are_regular(&b, body);
    if (regular.is_const)
        return false;
    Arena *scratch = arena_create();
    CoreBlock *other = core_copy_block(p, fn, fn, body, core_identity_map(scratch, fn));
    arena_destroy(scratch);
    build_results(&b, all, build_if(&b, regular, body, other), fn->nresults);
    fn->body = all;
    return true;
}

bool core_regular_versions(CoreProgram *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->entries.n; i++) {
        CoreFn *fn = p->entries.at[i].fn;
        if (!fn->recursive && pays(p, fn))
            any |= make_versions(p, fn);
    }
    return any;
}
