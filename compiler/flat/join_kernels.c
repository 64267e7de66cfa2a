/* Fewer kernels: a launch over few instances costs what it starts with.
 *
 *     x, y = kernel c { … }                        x, y, z = kernel c { … }
 *     z = kernel c { … }                     ==>
 *
 *     x = kernel c { … }
 *     d = nested c (2)                             d = nested c (2)
 *     y = kernel d { x <- col x … }          ==>   y = kernel d { … }       -- where nobody else reads x
 *
 * The second is computed where the first one is, or the first one where the second one is, in each of its few
 * instances: so nothing between them may fail, and both are short and without loops. */
#include "core/build.h"
#include "flat/neighbours.h"

enum {
    MOST_COLUMNS = 48, /* that are read and written: arguments of a kernel are few on some devices */
    MOST_AGAIN = 8,    /* statements that are computed several times */
    FEW = 4,           /* times */
    NEAR = 6           /* statements between both */
};

/* ---- what may be joined ---- */
enum { KINDS = FLAT_SHORT_BRANCHES | FLAT_SHORT_LENGTHS };

static uint32_t columns_of(const FlatStmt *s) { return s->body.inputs.n + s->nouts; }

/* Together. */
static bool are_short(const FlatStmt *first, const FlatStmt *second)
{
    uint32_t n = 0, m = 0;
    return flat_is_short(first->body.block, KINDS, &n) && flat_is_short(second->body.block, KINDS, &m) &&
           columns_of(first) + columns_of(second) <= MOST_COLUMNS;
}

static bool is_joinable(const FlatStmt *s)
{
    uint32_t n = 0;
    return s->kind == FLAT_S_KERNEL && s->nouts > 0 && flat_is_short(s->body.block, KINDS, &n);
}

/* ---- over one context ---- */
/* Variables are numbered as they are bound. */
static bool input_is_there(const FlatStmt *first, const FlatInput *in)
{
    const bool made = in->kind == IN_COL && in->var >= first->outs[0] && in->var < first->outs[0] + first->nouts;
    const bool var = in->kind == IN_POS || in->var < first->outs[0] || made;
    const bool ctx = in->kind == IN_HOST || in->kind == IN_COL || in->ctx < first->outs[0];
    return var && ctx;
}

static bool go_together(const FlatNeighbours *near, const FlatStmt *first, const FlatStmt *second)
{
    if (first->body.ctx != second->body.ctx || !are_short(first, second))
        return false;
    for (uint32_t i = 0; i < first->nouts; i++) /* some have gone, or come from elsewhere */
        if (first->outs[i] != first->outs[0] + i)
            return false;
    for (uint32_t i = 0; i < second->body.inputs.n; i++)
        if (!input_is_there(first, &second->body.inputs.at[i]))
            return false;
    return flat_loads_go_across(near->fn, first) == flat_loads_go_across(near->fn, second);
}

/* What `from` makes is known in the body by its own names: those that the other one reads it by become the same. */
static void add_names(FlatNeighbours *near, FlatBody *to, const FlatStmt *from, const FlatBody *reader)
{
    CoreBuilder b = {.p = near->p->core, .fn = near->fn->scope, .out = to->block};
    for (uint32_t i = 0; i < reader->inputs.n; i++) {
        const FlatInput *in = &reader->inputs.at[i];
        for (uint32_t k = 0; k < from->nouts && in->kind == IN_COL; k++) {
            if (from->outs[k] != in->var || flat_body_binds(to, in->as))
                continue;
            CoreStmt *same = build_stmt_into(&b, CORE_ATOM, 1, &in->as);
            same->atom = from->body.block->results[k];
            build_emit(&b, same);
        }
    }
}

static void append_results(const FlatNeighbours *near, FlatStmt *to, const FlatStmt *more)
{
    const uint32_t n = to->nouts + more->nouts;
    FlatVar *outs = arena_array(near->p->arena, FlatVar, n);
    CoreAtom *results = arena_array(near->p->arena, CoreAtom, n);
    for (uint32_t i = 0; i < n; i++) {
        const FlatStmt *of = i < to->nouts ? to : more;
        const uint32_t k = i < to->nouts ? i : i - to->nouts;
        outs[i] = of->outs[k];
        results[i] = of->body.block->results[k];
    }
    to->outs = outs;
    to->body.block->results = results;
    to->nouts = to->body.block->nresults = n;
}

static void join(FlatNeighbours *near, FlatStmt *first, const FlatStmt *second)
{
    flat_stmt_reads(first, flat_uncount_read, near->reads);
    flat_stmt_reads(second, flat_uncount_read, near->reads);
    add_names(near, &first->body, first, &second->body);
    flat_body_add(near->p->core, near->fn->scope, &first->body, &second->body);
    append_results(near, first, second);
    flat_stmt_reads(first, flat_count_read, near->reads);
}

/* ---- over few instances each ---- */
/* Has each instance of the context's parent the same few of it, at least one? */
static bool is_few(const FlatNeighbours *near, FlatVar ctx)
{
    const FlatStmt *nested = flat_def(near, ctx, FLAT_S_NESTED);
    const FlatStmt *host = nested ? flat_def(near, nested->nested.source, FLAT_S_HOST) : NULL;
    for (uint32_t i = 0; host && i < host->nouts; i++)
        if (host->outs[i] == nested->nested.source) {
            const CoreAtom n = host->body.block->results[i];
            return n.is_const && n.bits >= 1 && n.bits <= FEW;
        }
    return false;
}

static uint32_t reads_of(const FlatBody *body, FlatVar v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < body->inputs.n; i++)
        n += body->inputs.at[i].kind == IN_COL && body->inputs.at[i].var == v;
    return n;
}

static bool goes_into(const FlatNeighbours *near, const FlatStmt *first, const FlatStmt *second)
{
    uint32_t again = 0;
    if (flat_ctx(near->fn, second->body.ctx) != first->body.ctx || !is_few(near, second->body.ctx) ||
        !flat_is_short(first->body.block, KINDS, &again) || again > MOST_AGAIN || !are_short(first, second))
        return false;
    for (uint32_t i = 0; i < first->body.inputs.n; i++)
        if (first->body.inputs.at[i].kind != IN_COL && first->body.inputs.at[i].kind != IN_HOST)
            return false;
    for (uint32_t i = 0; i < first->nouts; i++)
        if (near->reads[first->outs[i]] != reads_of(&second->body, first->outs[i]))
            return false;
    return true;
}

static bool is_made_by(const FlatStmt *s, const FlatInput *in)
{
    for (uint32_t k = 0; k < s->nouts && in->kind == IN_COL; k++)
        if (s->outs[k] == in->var)
            return true;
    return false;
}

static void compute_again(FlatNeighbours *near, const FlatStmt *first, FlatStmt *second)
{
    FlatBody body = {second->body.ctx, {0}, core_new_block(near->p->core)}, rest = second->body;
    flat_stmt_reads(first, flat_uncount_read, near->reads);
    flat_stmt_reads(second, flat_uncount_read, near->reads);
    flat_body_add(near->p->core, near->fn->scope, &body, &first->body);
    add_names(near, &body, first, &second->body);
    rest.inputs.n = 0;
    for (uint32_t i = 0; i < second->body.inputs.n; i++)
        if (!is_made_by(first, &second->body.inputs.at[i]))
            rest.inputs.at[rest.inputs.n++] = second->body.inputs.at[i];
    flat_body_add(near->p->core, near->fn->scope, &body, &rest);
    body.block->results = second->body.block->results;
    body.block->nresults = second->body.block->nresults;
    second->body = body;
    flat_stmt_reads(second, flat_count_read, near->reads);
}

/* ---- blocks ---- */
static void remove_statement(FlatBlock *b, uint32_t i)
{
    for (b->stmts.n--; i < b->stmts.n; i++)
        b->stmts.at[i] = b->stmts.at[i + 1];
}

/* Joins statement i with one before it; says which of both goes, or b->stmts.n. */
static uint32_t join_with_earlier(FlatNeighbours *near, FlatBlock *b, uint32_t i)
{
    FlatStmt *second = b->stmts.at[i];
    for (uint32_t k = i; k-- > 0 && i - k <= NEAR && is_joinable(second);) {
        FlatStmt *first = b->stmts.at[k];
        const bool kernel = is_joinable(first);
        if (kernel && go_together(near, first, second)) {
            join(near, first, second);
            flat_note_defs(near, first);
            return i;
        }
        if (kernel && goes_into(near, first, second)) {
            compute_again(near, first, second);
            return k;
        }
        if (flat_stmt_fallible(near, first))
            break;
    }
    return b->stmts.n;
}

static void join_block(void *ctx, FlatBlock *b)
{
    FlatNeighbours *near = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        FlatStmt *s = b->stmts.at[i];
        flat_stmt_blocks(s, join_block, near);
        flat_note_defs(near, s);
        for (uint32_t gone; (gone = join_with_earlier(near, b, i)) < b->stmts.n;) {
            remove_statement(b, gone);
            i--;
            if (gone > i) /* it has become part of an earlier one */
                break;
        }
    }
}

void flat_join_kernels(FlatProgram *p) { flat_each_body(p, join_block); }
