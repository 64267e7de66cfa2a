/* Updates that only one branch of an `if` makes, in parallel code:
 *
 *     ys = if c then { … ; y = update xs i v; -> y } else { -> xs }
 *   ==>
 *     j, w = if c then { … ; check 0 <= i < length xs; -> i, v } else { -> -1, 0 }
 *     ys = update xs j w                                        -- masked: nothing changes where j is out of range
 *
 * A split of the instances and a merge of their arrays would let two columns hold the elements, so that a loop with
 * such a body copied its arrays again and again; and what is left of the `if` is often scalar code. Likewise where both
 * branches update the same array, one several times, and in nested ifs, inner ones first. */
#include "core/build.h"
#include "core/passes.h"

enum { MOST_UPDATES = 4 };

typedef struct Masker {
    CoreProgram *p;
    CoreFn *fn;
    bool parallel; /* inside a parallel operation */
} Masker;

/* The updates, first to last, that lead from `base` to a block's result. */
typedef struct Chain {
    CoreStmt *updates[MOST_UPDATES];
    uint32_t n;
    CoreAtom base;
} Chain;

/* ---- finding them ---- */

static CoreStmt *update_of(const CoreBlock *b, CoreAtom a)
{
    for (uint32_t i = 0; !a.is_const && i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_UPDATE && s->vars[0] == a.var)
            return s;
    }
    return NULL;
}

static bool used_once(CoreBlock *b, CoreVar v)
{
    CoreUses uses = {v, 0};
    core_block_atoms(b, core_count_use, &uses);
    return uses.n == 1;
}

static bool find_chain(CoreBlock *b, CoreAtom result, Chain *c)
{
    CoreStmt *found[MOST_UPDATES], *s;
    c->n = 0;
    for (c->base = result; (s = update_of(b, c->base)); c->base = s->update.array) {
        if (c->n == MOST_UPDATES || !used_once(b, s->vars[0]))
            return false;
        found[c->n++] = s;
    }
    for (uint32_t i = 0; i < c->n; i++)
        c->updates[i] = found[c->n - 1 - i];
    return !c->base.is_const;
}

/* What is bound in one branch cannot be named by the other: a common base comes from outside. */
static bool find_chains(CoreStmt *s, uint32_t r, Chain both[2])
{
    return find_chain(s->if_.then_b, s->if_.then_b->results[r], &both[0]) &&
           find_chain(s->if_.else_b, s->if_.else_b->results[r], &both[1]) && both[0].base.var == both[1].base.var &&
           both[0].n + both[1].n > 0;
}

/* ---- rewriting ---- */

static CoreBuilder builder(const Masker *m, CoreBlock *out, Span span)
{
    return (CoreBuilder){.p = m->p, .fn = m->fn, .out = out, .span = span};
}

/* The block without the chain's updates, whose arrays are all of the base's length. */
static void remove_updates(Masker *m, CoreBlock *b, const Chain *c)
{
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        bool removed = false;
        for (uint32_t j = 0; j < c->n; j++)
            removed = removed || c->updates[j] == s;
        if (!removed) {
            core_push(m->p, b, s);
            continue;
        }
        CoreBuilder at = builder(m, b, s->span); /* in the update's place: its check */
        if (s->site != CORE_NO_SITE)
            build_check_bounds(&at, s->site, s->update.index, build_length(&at, c->base));
    }
}

/* The last result becomes k pairs of index and value. */
static void add_pairs(Masker *m, CoreBlock *block, const Chain *c, uint32_t k, CoreType element, Span span)
{
    uint32_t n = block->nresults;
    CoreBuilder b = builder(m, block, span);
    block->results = build_atoms_copy(&b, block->results, n + 2 * k, n);
    for (uint32_t j = 0; j < k; j++) {
        block->results[n + 2 * j] = j < c->n ? c->updates[j]->update.index : core_i64(-1);
        block->results[n + 2 * j + 1] = j < c->n ? c->updates[j]->update.value : build_nothing(&b, element);
    }
    block->nresults = n + 2 * k;
}

static void drop_result(CoreStmt *s, uint32_t r)
{
    CoreBlock *branches[] = {s->if_.then_b, s->if_.else_b};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = r + 1; i < branches[k]->nresults; i++)
            branches[k]->results[i - 1] = branches[k]->results[i];
        branches[k]->nresults--;
    }
    for (uint32_t i = r + 1; i < s->nvars; i++)
        s->vars[i - 1] = s->vars[i];
    s->nvars--;
}

/* The k updates, to stand behind the `if`. */
static void push_updates(Masker *m, CoreBlock *after, const CoreStmt *s, CoreAtom base, CoreVar result, uint32_t k)
{
    CoreType type = core_var_type(m->fn, result);
    CoreBuilder b = builder(m, after, s->span);
    for (uint32_t j = 0; j < k; j++) {
        const CoreVar *pair = s->vars + s->nvars - 2 * k + 2 * j;
        CoreStmt *u = j + 1 < k ? build_stmt(&b, CORE_UPDATE, 1, &type) : build_stmt_into(&b, CORE_UPDATE, 1, &result);
        u->update.array = base;
        u->update.index = build_atom(&b, pair[0]);
        u->update.value = build_atom(&b, pair[1]);
        build_emit(&b, u);
        base = build_atom(&b, u->vars[0]);
    }
}

static void mask_result(Masker *m, CoreStmt *s, uint32_t r, const Chain both[2], CoreBlock *after)
{
    uint32_t k = both[0].n > both[1].n ? both[0].n : both[1].n, n = s->nvars;
    CoreVar result = s->vars[r];
    CoreBuilder b = builder(m, after, s->span);
    CoreType element = core_element(core_var_type(m->fn, result));
    remove_updates(m, s->if_.then_b, &both[0]);
    remove_updates(m, s->if_.else_b, &both[1]);
    add_pairs(m, s->if_.then_b, &both[0], k, element, s->span);
    add_pairs(m, s->if_.else_b, &both[1], k, element, s->span);
    s->vars = build_vars_copy(&b, s->vars, n + 2 * k, n);
    for (uint32_t j = 0; j < k; j++) {
        s->vars[n + 2 * j] = build_var(&b, core_scalar(SC_I64), NULL).var;
        s->vars[n + 2 * j + 1] = build_var(&b, element, NULL).var;
    }
    s->nvars += 2 * k;
    drop_result(s, r);
    push_updates(m, after, s, both[0].base, result, k);
}

static void mask_if(Masker *m, CoreStmt *s, CoreBlock *after)
{
    Chain both[2];
    for (uint32_t r = 0; r < s->nvars;) {
        if (core_var_type(m->fn, s->vars[r]).rank > 0 && find_chains(s, r, both))
            mask_result(m, s, r, both, after);
        else
            r++;
    }
}

static void mask_block(void *ctx, CoreBlock *b);

static void mask_stmt(Masker *m, CoreBlock *out, CoreStmt *s)
{
    bool outer = m->parallel;
    m->parallel = outer || core_stmt_soac(s);
    core_stmt_blocks(s, mask_block, m);
    m->parallel = outer;
    CoreBlock after = {0};
    if (s->kind == CORE_IF && m->parallel)
        mask_if(m, s, &after);
    core_push(m->p, out, s);
    for (uint32_t i = 0; i < after.stmts.n; i++)
        core_push(m->p, out, after.stmts.at[i]);
}

static void mask_block(void *ctx, CoreBlock *b)
{
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++)
        mask_stmt(ctx, b, old.stmts.at[i]);
}

void core_mask_updates(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Masker m = {.p = p, .fn = p->fns.at[i]};
        mask_block(&m, p->fns.at[i]->body);
    }
}
