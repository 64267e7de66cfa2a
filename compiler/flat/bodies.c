/* Code added to a body. */
#include "core/build.h"
#include "flat/flat.h"

static bool same_input(const FlatInput *a, const FlatInput *b)
{
    return a->kind == b->kind && a->var == b->var && a->ctx == b->ctx;
}

CoreVar flat_body_input(const FlatBody *body, const FlatInput *in)
{
    for (uint32_t i = 0; i < body->inputs.n; i++)
        if (same_input(&body->inputs.at[i], in))
            return body->inputs.at[i].as;
    return CORE_NO_VAR;
}

bool flat_body_binds(const FlatBody *body, CoreVar v)
{
    for (uint32_t i = 0; i < body->inputs.n; i++)
        if (body->inputs.at[i].as == v)
            return true;
    for (uint32_t i = 0; i < body->block->stmts.n; i++)
        for (uint32_t j = 0; j < body->block->stmts.at[i]->nvars; j++)
            if (body->block->stmts.at[i]->vars[j] == v)
                return true;
    return false;
}

static void add_input(const CoreProgram *core, CoreFn *scope, FlatBody *to, FlatInput in)
{
    if (flat_body_binds(to, in.as))
        return;
    CoreVar there = flat_body_input(to, &in);
    if (there == CORE_NO_VAR) {
        vec_push(core->arena, &to->inputs, in);
        return;
    }
    CoreBuilder b = {.p = core, .fn = scope, .out = to->block};
    CoreStmt *same = build_stmt_into(&b, CORE_ATOM, 1, &in.as);
    same->atom = build_atom(&b, there);
    build_emit(&b, same);
}

void flat_body_add(const CoreProgram *core, CoreFn *scope, FlatBody *to, const FlatBody *more)
{
    for (uint32_t i = 0; i < more->inputs.n; i++)
        add_input(core, scope, to, more->inputs.at[i]);
    for (uint32_t i = 0; i < more->block->stmts.n; i++) {
        CoreStmt *stmt = more->block->stmts.at[i];
        if (stmt->nvars == 0 || !flat_body_binds(to, stmt->vars[0]))
            core_push(core, to->block, stmt);
    }
}
