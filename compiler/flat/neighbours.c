#include "flat/neighbours.h"

void flat_each_body(FlatProgram *p, void (*block)(void *neighbours, FlatBlock *b))
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        FlatFn *fn = p->fns.at[i];
        Arena *scratch = arena_create();
        FlatNeighbours n = {p, fn, arena_array(scratch, uint32_t, fn->vars.n + 1),
                            arena_array(scratch, const FlatStmt *, fn->vars.n + 1)};
        flat_count_block(n.reads, fn->body);
        block(&n, fn->body);
        arena_destroy(scratch);
    }
}

void flat_note_defs(FlatNeighbours *near, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        near->def[s->outs[i]] = s;
}

const FlatStmt *flat_def(const FlatNeighbours *near, FlatVar v, FlatKind kind)
{
    const FlatStmt *s = v < near->fn->vars.n ? near->def[v] : NULL;
    return s && s->kind == kind ? s : NULL;
}

/* Of what column of the context these are the views. */
static FlatVar column_of(const FlatNeighbours *near, FlatVar ctx, FlatVar v)
{
    const FlatStmt *views = flat_def(near, v, FLAT_S_VIEWS);
    for (uint32_t i = 0; views && views->ctx == ctx && i < views->nouts; i++)
        if (views->outs[i] == v)
            return views->arrays.arrays[i];
    return FLAT_NO_VAR;
}

/* The rows that are the elements of the array that they were made into. */
static FlatVar row_of(const FlatNeighbours *near, FlatVar v)
{
    const FlatStmt *elems = flat_def(near, v, FLAT_S_ELEMS);
    for (uint32_t i = 0; elems && i < elems->nouts; i++) {
        const FlatVar rows = elems->outs[i] == v ? column_of(near, elems->ctx, elems->arrays.arrays[i]) : FLAT_NO_VAR;
        if (rows != FLAT_NO_VAR)
            return rows;
    }
    return v;
}

FlatVar flat_column_read(const FlatNeighbours *near, const FlatBody *body, const FlatInput *in)
{
    if (in->kind == IN_COL)
        return flat_ctx(near->fn, in->var) == body->ctx ? in->var : FLAT_NO_VAR;
    return in->kind == IN_ELEM && in->ctx == body->ctx ? column_of(near, in->ctx, row_of(near, in->var)) : FLAT_NO_VAR;
}

bool flat_body_fallible(const FlatNeighbours *near, const CoreBlock *b)
{
    return core_block_fallible(near->p->core, near->fn->scope, b);
}

bool flat_stmt_fallible(const FlatNeighbours *near, const FlatStmt *s)
{
    switch (s->kind) {
    case FLAT_S_VIEWS:
    case FLAT_S_NESTED:
    case FLAT_S_SELECT:
    case FLAT_S_SPLIT:
    case FLAT_S_MERGE:
    case FLAT_S_ELEMS:
    case FLAT_S_FLATTEN: return false;
    case FLAT_S_PACK:
    case FLAT_S_HOST:
    case FLAT_S_KERNEL: return flat_body_fallible(near, s->body.block);
    case FLAT_S_REDUCE:
    case FLAT_S_SCAN:
        return flat_body_fallible(near, s->body.block) || flat_body_fallible(near, s->reduce.op.op.body) ||
               flat_body_fallible(near, s->reduce.then.block);
    default: return true;
    }
}

bool flat_is_short(const CoreBlock *b, uint32_t kinds, uint32_t *count)
{
    kinds |= 1u << CORE_ATOM | 1u << CORE_PRIM | 1u << CORE_INDEX | 1u << CORE_CHECK;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (!(kinds >> s->kind & 1))
            return false;
        if (s->kind == CORE_IF &&
            (!flat_is_short(s->if_.then_b, kinds, count) || !flat_is_short(s->if_.else_b, kinds, count)))
            return false;
    }
    *count += b->stmts.n;
    return *count <= FLAT_SHORT;
}
