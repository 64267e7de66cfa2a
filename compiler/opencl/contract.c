/* Which kernels may be contracted (`--param contract=1`): a product and a sum become one operation there, rounded once.
 *
 * OpenCL's compiler does so where it likes, so that two kernels that compute the same value may give other last bits.
 * That must not show in anything but floats: the kernel that counts what a filter keeps and the one that stores it have
 * to agree, and so have a check and the index that relies on it. So a kernel in which a bool or an integer is made of a
 * float is only contracted where nothing else hangs on that than which floats it gives: it fails nowhere, reads nothing
 * by an index of its own, and has no other results. */
#include "opencl/emit_kernel.h"
#include "opencl/emit_scalar.h"

typedef struct Contents {
    const CoreFn *fn;
    bool multiplies; /* floats */
    bool decides;    /* makes a bool or an integer of a float */
} Contents;

static bool is_float(const CoreFn *fn, CoreAtom a)
{
    const CoreType t = core_atom_type(fn, a);
    return t.rank == 0 && scalar_is_float(t.scalar);
}

static void note_block(void *ctx, CoreBlock *b)
{
    Contents *c = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        bool floats = false;
        for (uint32_t k = 0; s->kind == CORE_PRIM && k < s->prim.nargs; k++)
            floats |= is_float(c->fn, s->prim.args[k]);
        c->multiplies |= floats && s->prim.op == PRIM_MUL;
        c->decides |= floats && !scalar_is_float(core_var_type(c->fn, s->vars[0]).scalar);
        core_stmt_blocks(s, note_block, c);
    }
}

/* Of all of a kernel's blocks: how, and is it good for floats only? */
static bool note_all(Contents *c, const PlanKernel *k)
{
    CoreBlock *const blocks[] = {k->stmt->body.block, plan_has_op(k) ? k->stmt->reduce.op.op.body : NULL,
                                 plan_maps(k) ? k->stmt->reduce.then.block : NULL};
    bool only = true;
    for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        if (!blocks[i])
            continue;
        note_block(c, blocks[i]);
        const ScalarFacts facts = scalar_facts(c->fn, NULL, blocks[i]);
        only &= !facts.fallible && !facts.unchecked && !facts.writes && !facts.makes;
        for (uint32_t r = 0; r < blocks[i]->nresults; r++)
            only &= is_float(c->fn, blocks[i]->results[r]);
    }
    return only;
}

bool emit_contracts(const PlanKernel *k)
{
    Contents c = {.fn = k->fn->scope};
    const bool only_floats = note_all(&c, k);
    return c.multiplies && (!c.decides || only_floats);
}
