#include "opencl/emit_scalar_internal.h"

static bool is_f32_prim(const CoreFn *fn, const CoreStmt *s, CorePrim op)
{
    return s->kind == CORE_PRIM && s->prim.op == op && core_var_type(fn, s->vars[0]).scalar == SC_F32;
}

bool emit_is_root(const CoreFn *fn, const CoreStmt *s)
{
    return is_f32_prim(fn, s, PRIM_SQRT) || is_f32_prim(fn, s, PRIM_DIV);
}

bool emit_is_arithmetic(const CoreFn *fn, const CoreBlock *b, bool *roots)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_IF) {
            if (!emit_is_arithmetic(fn, s->if_.then_b, roots) || !emit_is_arithmetic(fn, s->if_.else_b, roots))
                return false;
        } else if (s->kind != CORE_ATOM && (s->kind != CORE_PRIM || scalar_prim_fallible(fn, s))) {
            return false;
        }
        *roots |= emit_is_root(fn, s);
    }
    return true;
}

/* A square root that the block itself has: what is odd has been noted, and the rest is in range. */
static bool is_straight_root(const ScalarEmitter *e, CoreAtom a)
{
    for (uint32_t i = 0; i < e->straight->stmts.n && !a.is_const; i++) {
        const CoreStmt *s = e->straight->stmts.at[i];
        if (is_f32_prim(e->fn, s, PRIM_SQRT) && s->vars[0] == a.var)
            return true;
    }
    return false;
}

void emit_straight(ScalarEmitter *e, const CoreStmt *s)
{
    const CoreAtom *args = s->prim.args;
    const bool one = s->prim.op == PRIM_DIV && core_atom_equal(args[0], core_const(SC_F32, 0x3f800000));
    const bool root = one && is_straight_root(e, args[1]);
    strbuf_add(e->out, s->prim.op == PRIM_SQRT ? "dp_straight_sqrt("
                       : root                  ? "dp_straight_root_reciprocal("
                       : one                   ? "dp_straight_reciprocal("
                                               : "dp_straight_div(");
    for (uint32_t i = one; i < s->prim.nargs; i++) {
        emit_atom(e, args[i]);
        strbuf_add(e->out, i + 1 < s->prim.nargs ? ", " : root ? "" : ", odd");
    }
    strbuf_add(e->out, ");\n");
}
