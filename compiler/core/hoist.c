/* Invariant code: a scalar operation that cannot fail, all of whose operands are bound further out, moves out of
 * loops and of parallel operations' bodies.
 *
 *     map n (row <- rows) { map k at j () { c = mul a b; … } }
 *   ==>
 *     c = mul a b;  map n (row <- rows) { map k at j () { … } }
 *
 * Out of parallel bodies it moves only if it gets out of all of them, where it is computed once, on the host: an
 * operation per row would otherwise be stored for the elements' sake, and recomputing is cheaper than loading.
 * `length` always moves: the inner space's extent is then known outside, and may be seen to be regular.
 * An `if` is left only together with something that repeats it, and by what is cheap, or is an array of constants: its
 * branch may be rare.
 *
 * Tables move likewise: an array of constants, or a map over a constant space whose body is not cheap and that reads no
 * variable from outside (`def table : [256]u32 = …`, whose definition stands wherever it is used). They are made
 * once, not for each element, and a scalar loop that looks into one stays a scalar loop. So do checks of rows' lengths
 * (elaborate_sizes.c): a function with a parameter `[n][m]t` may be called for each element of a map. */
#include "core/simplify_internal.h"

typedef enum LevelKind { LEVEL_TOP, LEVEL_REPEATED, LEVEL_PARALLEL, LEVEL_BRANCH } LevelKind;

/* The blocks around the current point, outermost first. */
typedef struct Level {
    LevelKind kind;   /* how the block is entered from the one around it */
    bool in_parallel; /* it, or one around it, is LEVEL_PARALLEL */
    CoreBlock *out;   /* where the block's statements go */
} Level;

typedef struct Hoist {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    VEC(Level) levels;
    uint32_t *bound_at; /* by variable: the level of its binder; NOT_YET for what is bound further on */
    uint32_t needs;     /* the innermost level the statement at hand reads from */
    bool reads;         /* does it read variables from outside of it? */
    bool changed;
} Hoist;

enum { NOT_YET = UINT32_MAX };

static uint32_t here(const Hoist *h) { return h->levels.n - 1; }

static void note_binder(void *ctx, CoreVar *v)
{
    Hoist *h = ctx;
    h->bound_at[*v] = here(h);
}

static void note_need(void *ctx, CoreAtom *a)
{
    Hoist *h = ctx;
    if (a->is_const || h->bound_at[a->var] == NOT_YET)
        return;
    h->reads = true;
    if (h->bound_at[a->var] > h->needs)
        h->needs = h->bound_at[a->var];
}

static bool costs(const Hoist *h, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!simplify_is_cheap(h->p, h->fn, b->stmts.at[i]))
            return true;
    return false;
}

/* A table that does not depend on anything. */
static bool is_table(Hoist *h, CoreStmt *s)
{
    bool made_by_map = s->kind == CORE_MAP && s->nvars > 0 && s->soac.domain.is_const && costs(h, s->soac.body) &&
                       !core_stmt_fallible(h->p, h->fn, s);
    if (s->kind != CORE_ARRAY && !made_by_map)
        return false;
    h->needs = 0;
    h->reads = false;
    core_stmt_all_atoms(s, note_need, h);
    return !h->reads;
}

static uint32_t outermost_level(const Hoist *h, const CoreStmt *s)
{
    uint32_t target = here(h);
    bool leaves_branches = s->kind == CORE_LENGTH || s->kind == CORE_ARRAY || simplify_is_cheap(h->p, h->fn, s);
    while (target > h->needs && (leaves_branches || h->levels.at[target].kind != LEVEL_BRANCH))
        target--;
    /* Not just from one parallel body to another … */
    if (s->kind != CORE_LENGTH && h->levels.at[target].in_parallel)
        for (target = here(h); target > h->needs && h->levels.at[target].kind != LEVEL_PARALLEL &&
                               (leaves_branches || h->levels.at[target].kind != LEVEL_BRANCH);)
            target--;
    /* … nor just out of branches. */
    while (target < here(h) && h->levels.at[target + 1].kind == LEVEL_BRANCH)
        target++;
    return target;
}

static bool asks_length(const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.at[i]->kind == CORE_LENGTH)
            return true;
    return false;
}

static bool all_lengths(const Hoist *h, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind != CORE_LENGTH && s->kind != CORE_INDEX && !simplify_is_cheap(h->p, h->fn, s))
            return false;
    }
    return true;
}

/* The check of a size of rows: the first row's length if there is one, and the look at the others. */
static bool looks_at_rows(Hoist *h, CoreStmt *s)
{
    bool found = s->kind == CORE_CHECK_ROWS || (s->kind == CORE_IF && asks_length(s->if_.then_b) &&
                                                all_lengths(h, s->if_.then_b) && all_lengths(h, s->if_.else_b));
    for (uint32_t i = 0; found && i < s->nvars; i++)
        found = core_var_type(h->fn, s->vars[i]).rank == 0;
    if (!found || core_stmt_fallible(h->p, h->fn, s))
        return false;
    h->needs = 0;
    core_stmt_all_atoms(s, note_need, h);
    return true;
}

static void hoist_block(Hoist *h, CoreBlock *b, LevelKind kind, CoreStmt *binders);

static void hoist_parts(Hoist *h, CoreStmt *s)
{
    CoreSoac *soac = core_stmt_soac(s);
    if (soac) {
        if (soac->guard)
            hoist_block(h, soac->guard, LEVEL_PARALLEL, s);
        hoist_block(h, soac->body, LEVEL_PARALLEL, s);
    }
    const CoreLambda *op = core_stmt_operator(s);
    if (op) {
        hoist_block(h, op->body, LEVEL_PARALLEL, s);
    } else if (s->kind == CORE_IF) {
        hoist_block(h, s->if_.then_b, LEVEL_BRANCH, s);
        hoist_block(h, s->if_.else_b, LEVEL_BRANCH, s);
    } else if (s->kind == CORE_LOOP) {
        if (s->loop.cond)
            hoist_block(h, s->loop.cond, LEVEL_REPEATED, s);
        hoist_block(h, s->loop.body, LEVEL_REPEATED, s);
    }
}

static void hoist_stmt(Hoist *h, CoreStmt *s)
{
    uint32_t target = here(h);
    bool movable = s->kind == CORE_LENGTH || (s->kind == CORE_PRIM && !core_stmt_fallible(h->p, h->fn, s) &&
                                              core_var_type(h->fn, s->vars[0]).rank == 0);
    if (movable || is_table(h, s) || looks_at_rows(h, s)) {
        h->needs = 0;
        core_stmt_all_atoms(s, note_need, h);
        target = outermost_level(h, s);
        h->changed |= target != here(h);
    }
    hoist_parts(h, s);
    for (uint32_t i = 0; i < s->nvars; i++)
        h->bound_at[s->vars[i]] = target;
    core_push(h->p, h->levels.at[target].out, s);
}

/* The block gets a new list of statements; `binders` is the statement it belongs to. */
static void hoist_block(Hoist *h, CoreBlock *b, LevelKind kind, CoreStmt *binders)
{
    CoreBlock old = core_take_stmts(b);
    bool in_parallel = kind == LEVEL_PARALLEL || (h->levels.n && h->levels.at[here(h)].in_parallel);
    vec_push(h->scratch, &h->levels, ((Level){kind, in_parallel, b}));
    if (binders)
        core_stmt_binders(binders, note_binder, h);
    for (uint32_t i = 0; i < old.stmts.n; i++)
        hoist_stmt(h, old.stmts.at[i]);
    h->levels.n--;
}

bool hoist_invariants(CoreProgram *p)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Hoist h = {.p = p, .fn = fn, .scratch = arena_create()};
        h.bound_at = arena_array(h.scratch, uint32_t, fn->vars.n + 1);
        for (uint32_t v = 0; v < fn->vars.n; v++)
            h.bound_at[v] = NOT_YET;
        for (uint32_t v = 0; v < fn->nparams; v++)
            h.bound_at[fn->params[v]] = 0;
        hoist_block(&h, fn->body, LEVEL_TOP, NULL);
        changed |= h.changed;
        arena_destroy(h.scratch);
    }
    return changed;
}
