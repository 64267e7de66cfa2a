/* What is accumulated in a new array, all of whose elements are the operator's neutral one, is a histogram:
 *
 *     xs = map n () { -> 0 };  ys = accumulate into (xs) m … { … -> i, v } op (add)
 *   ==>
 *     ys = hist n m … { … -> i, v } neutral (0) op (add)
 *
 * whose bins may have copies near the units, where an accumulation changes the array itself, element by element. Of
 * operators like max any element does: it may be combined with several times. To sums it is added behind. */
#include "core/append.h"
#include "core/passes.h"

/* How bins may begin that are combined with this: as it is, as it may be so any number of times; or with zeros, to
 * which it is added in the end. */
typedef enum Begin { NOT_ALIKE, AS_THEY_ARE, WITH_ZEROS } Begin;

static Begin begin_of(CorePrim op, CoreAtom from)
{
    switch (op) {
    case PRIM_MIN:
    case PRIM_MAX:
    case PRIM_AND:
    case PRIM_OR: return AS_THEY_ARE;
    case PRIM_ADD:
    case PRIM_XOR: return from.is_const && from.bits == 0 ? AS_THEY_ARE : WITH_ZEROS;
    default: return NOT_ALIKE;
    }
}

/* What changes nothing that it is added to. */
static CoreAtom zero_of(Scalar type)
{
    return core_const(type, type == SC_F32 ? UINT64_C(1) << 31 : type == SC_F64 ? UINT64_C(1) << 63 : 0);
}

typedef struct Bins {
    CoreBuilder b;
    CoreMakers makers;
} Bins;

/* The value of all elements of the new array, if s accumulates in such a one. */
static const CoreStmt *fresh_array(const Bins *bins, const CoreStmt *s, CoreAtom *from)
{
    const bool single = s->kind == CORE_ACCUMULATE && s->nvars == 1;
    const CoreStmt *made = single ? core_maker(&bins->makers, s->soac.dests[0]) : NULL;
    if (!made || made->kind != CORE_MAP || made->soac.guard || made->soac.body->stmts.n > 0)
        return NULL;
    *from = made->soac.body->results[core_stmt_result(made, s->soac.dests[0])];
    return core_soac_binds(made, *from) ? NULL : made;
}

static void make_bins(Bins *bins, CoreStmt *s, CoreAtom size, CoreAtom neutral)
{
    s->kind = CORE_HIST;
    s->soac.size = size;
    s->soac.neutral = build_atoms_copy(&bins->b, &neutral, 1, 1);
    s->soac.dests = NULL;
}

/* ys = map n at i { x = index bins i;  y = op from x;  -> y } */
static void emit_added(Bins *bins, CoreVar ys, CoreAtom sums, CorePrim op, CoreAtom from, CoreAtom n)
{
    CoreBuilder *b = &bins->b;
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = i.var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom y = build_prim2(b, op, from, build_index(b, sums, i, CORE_NO_SITE));
    soac.body = build_end(b, outer, &y, 1);
    build_named(b, ys, build_map(b, soac)[0]);
}

static void look_in_block(void *ctx, CoreBlock *block)
{
    Bins *bins = ctx;
    CoreBlock *outer = bins->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        CoreAtom from;
        core_stmt_blocks(s, look_in_block, ctx);
        bins->b.out = block;
        bins->b.span = s->span;
        const CoreStmt *made = fresh_array(bins, s, &from);
        const CorePrim op = made ? core_op_part(&s->soac.op, 0) : PRIM_COUNT;
        const Begin begin = made ? begin_of(op, from) : NOT_ALIKE;
        const CoreVar result = s->nvars > 0 ? s->vars[0] : CORE_NO_VAR;
        if (begin == WITH_ZEROS) {
            const CoreType type = core_var_type(bins->b.fn, result);
            build_fresh(&bins->b, s, 1, &type);
        }
        if (begin != NOT_ALIKE)
            make_bins(bins, s, made->soac.domain,
                      begin == AS_THEY_ARE ? from : zero_of(core_atom_type(bins->b.fn, from).scalar));
        core_push(bins->b.p, block, s);
        if (begin == WITH_ZEROS)
            emit_added(bins, result, build_atom(&bins->b, s->vars[0]), op, from, made->soac.domain);
    }
    bins->b.out = outer;
}

void core_fresh_bins(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Arena *scratch = arena_create();
        CoreFn *fn = p->fns.at[i];
        Bins bins = {.b = {.p = p, .fn = fn}, .makers = core_makers_of(fn, scratch)};
        look_in_block(&bins, fn->body);
        arena_destroy(scratch);
    }
}
