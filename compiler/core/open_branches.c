/* Branches in parallel code that only keep operations from going over nothing:
 *
 *     n = length row;  c = eq n 0
 *     m = if c then { -> 0 } else { s = argsort row; k = div n 2; x = index s k; -> x }
 *   ==>
 *     s = argsort row
 *     m = if c then { -> 0 } else { k = div n 2; x = index s k; -> x }
 *
 * Where there is no element the operation does nothing, so it may as well stand in front; and what is left of the `if`
 * is scalar code: flattening neither splits the instances nor merges what they have. So operations only move where
 * none is left in either branch.
 *
 * What moves cannot fail and goes over the n elements, or over as many as another operation that moves. It takes along
 * the scalar operations that it needs, which cannot fail either and look at no element: `row[0]` needs no check where n
 * is not 0. Nothing moves past what may fail. */
#include "core/open_branches.h"

#include "core/build.h"
#include "core/passes.h"

typedef enum VarState {
    VAR_OUTSIDE, /* bound in front of the branch, or in what moves */
    VAR_STAYS,   /* bound in the branch, by what does not move */
    VAR_MOVES,   /* by what may */
    VAR_SPANS    /* likewise, and a sequence that is empty wherever the branch is not taken, or its length */
} VarState;

typedef struct Opener {
    CoreProgram *p;
    CoreFn *fn;
    CoreStmt **defs; /* by variable: what binds it, or NULL */
    uint8_t *states; /* by variable: VarState, of the branch looked at */
    bool parallel;   /* inside a parallel operation */
} Opener;

/* ---- does the condition ask whether there are elements? ---- */

static const CoreStmt *def_of(const Opener *o, CoreAtom a) { return a.is_const ? NULL : o->defs[a.var]; }

static bool is_number(CoreAtom a, uint64_t n) { return a.is_const && a.bits == n; }

/* xs of `length xs`, or a constant. */
static CoreAtom measured(const Opener *o, CoreAtom n)
{
    const CoreStmt *s = def_of(o, n);
    return s && s->kind == CORE_LENGTH ? s->length.array : core_i64(0);
}

typedef struct Question {
    CoreAtom length, array; /* of what? array: a constant, if it asks something else */
    bool some;              /* it holds where there are elements; else where there is none */
} Question;

static Question question(const Opener *o, CoreAtom cond)
{
    const CoreStmt *s = def_of(o, cond);
    Question q = {.array = core_i64(0)};
    if (!s || s->kind != CORE_PRIM || s->prim.nargs > 2)
        return q;
    const CoreAtom *x = s->prim.args;
    if (s->prim.op == PRIM_NOT) {
        q = question(o, x[0]);
        q.some = !q.some;
        return q;
    }
    const bool against = s->prim.nargs == 2 && x[0].is_const; /* 0 < n, 1 <= n */
    q.length = x[against];
    if (against)
        q.some = (s->prim.op == PRIM_LT && is_number(x[0], 0)) || (s->prim.op == PRIM_LE && is_number(x[0], 1)) ||
                 (s->prim.op == PRIM_NE && is_number(x[0], 0));
    else if (s->prim.nargs == 2)
        q.some = (s->prim.op == PRIM_GT || s->prim.op == PRIM_NE) && is_number(x[1], 0);
    const CoreAtom limit = s->prim.nargs == 2 ? x[!against] : core_i64(-1);
    const bool none = (s->prim.op == PRIM_EQ && is_number(limit, 0)) ||
                      (!against && s->prim.op == PRIM_LT && is_number(limit, 1)) ||
                      (!against && s->prim.op == PRIM_LE && is_number(limit, 0));
    if (q.some || none)
        q.array = measured(o, q.length);
    return q;
}

/* ---- what may move ---- */

static bool stays(void *opener, CoreAtom a) { return ((const Opener *)opener)->states[a.var] == VAR_STAYS; }

static bool spans(const Opener *o, const Question *q, CoreAtom a)
{
    return core_atom_equal(a, q->length) || core_atom_equal(a, q->array) ||
           (!a.is_const && o->states[a.var] == VAR_SPANS);
}

/* A parallel operation that does nothing where the question's sequence is empty. */
static bool is_idle(const Opener *o, const Question *q, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_MAP:
    case CORE_REDUCE:
    case CORE_SCAN: return spans(o, q, s->soac.domain);
    case CORE_ARGSORT: return spans(o, q, s->argsort.keys[0]);
    case CORE_FLATTEN: return spans(o, q, s->length.array);
    case CORE_ARRAY: return s->array.n == 0;
    default: return false;
    }
}

static bool is_scalar_operation(const CoreStmt *s) { return s->kind == CORE_PRIM || s->kind == CORE_LENGTH; }

static VarState state_of_results(Opener *o, const Question *q, CoreStmt *s)
{
    const bool moves = (is_scalar_operation(s) || is_idle(o, q, s)) && !core_stmt_fallible(o->p, o->fn, s) &&
                       !core_stmt_reads(s, stays, o);
    if (!moves)
        return VAR_STAYS;
    if (s->kind == CORE_LENGTH)
        return spans(o, q, s->length.array) ? VAR_SPANS : VAR_MOVES;
    return s->kind == CORE_REDUCE || s->kind == CORE_PRIM ? VAR_MOVES : VAR_SPANS;
}

/* Marks what the branch binds. False: something parallel has to stay. */
static bool look_at_branch(Opener *o, const Question *q, const CoreBlock *b)
{
    bool fallible = false;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const VarState state = state_of_results(o, q, s);
        if (!core_stmt_is_scalar(s) && (state == VAR_STAYS || fallible))
            return false;
        fallible |= core_stmt_fallible(o->p, o->fn, s);
        for (uint32_t k = 0; k < s->nvars; k++)
            o->states[s->vars[k]] = (uint8_t)state;
    }
    return true;
}

static void forget_branch(Opener *o, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        for (uint32_t k = 0; k < b->stmts.at[i]->nvars; k++)
            o->states[b->stmts.at[i]->vars[k]] = VAR_OUTSIDE;
}

/* ---- moving it ---- */

static void note_needed(void *defs, CoreAtom *a)
{
    CoreStmt *const *at = defs;
    if (!a->is_const && at[a->var])
        at[a->var]->mark = 1;
}

void open_move_out(const CoreProgram *p, CoreStmt **defs, CoreBlock *b, CoreBlock *out)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        b->stmts.at[i]->mark = !core_stmt_is_scalar(b->stmts.at[i]);
    for (uint32_t i = b->stmts.n; i-- > 0;)
        if (b->stmts.at[i]->mark)
            core_stmt_all_atoms(b->stmts.at[i], note_needed, defs);
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++)
        core_push(p, old.stmts.at[i]->mark ? out : b, old.stmts.at[i]);
}

/* `out`: the statements in front of s. */
static void open_if(Opener *o, CoreStmt *s, CoreBlock *out)
{
    const Question q = question(o, s->if_.cond);
    const Question nothing = {.length = core_i64(-1), .array = core_i64(-1)};
    CoreBlock *some = q.some ? s->if_.then_b : s->if_.else_b, *none = q.some ? s->if_.else_b : s->if_.then_b;
    if (q.array.is_const || core_stmt_is_scalar(s))
        return;
    const bool opens = look_at_branch(o, &q, some) && look_at_branch(o, &nothing, none);
    forget_branch(o, some);
    forget_branch(o, none);
    if (!opens)
        return;
    open_move_out(o->p, o->defs, some, out);
    open_move_out(o->p, o->defs, none, out);
}

static void open_in_block(void *ctx, CoreBlock *b)
{
    Opener *o = ctx;
    CoreBlock old = core_take_stmts(b);
    const bool outer = o->parallel;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        o->parallel = outer || core_stmt_soac(s);
        core_stmt_blocks(s, open_in_block, o);
        o->parallel = outer;
        if (s->kind == CORE_IF && o->parallel)
            open_if(o, s, b);
        for (uint32_t k = 0; k < s->nvars; k++)
            o->defs[s->vars[k]] = s;
        core_push(o->p, b, s);
    }
}

void core_open_branches(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Arena *scratch = arena_create();
        Opener o = {.p = p, .fn = p->fns.at[i]};
        o.defs = arena_array(scratch, CoreStmt *, o.fn->vars.n + 1);
        o.states = arena_array(scratch, uint8_t, o.fn->vars.n + 1);
        open_in_block(&o, o.fn->body);
        arena_destroy(scratch);
    }
}
