/* Totals of lengths that the host shall know without reading them back (runtime/totals.c).
 *
 *     c5 = map … x0                      p8 = split x0 c6 (c3)           -- c3's lengths are summed on both sides
 *     p8 = split x0 c6                   x9, x10 = await p8
 *     x9, x10 = await p8          ->     c11 = map … x10                 -- length of c3, and 1
 *     c11 = map … x10                    set total c11 x10 (c3) (x0) 1
 *     p12 = nested lengths x10 c11       p12 = nested lengths x10 c11    -- is known at once
 *
 * Wanted are the totals of what nested contexts are made of, here or in the lifted function that a column is handed to,
 * of the arrays that a lifted function gives, and of what these are selected, merged or copied from. A kernel's column
 * has a form, if it copies views, or if its lengths are those of other columns and constants, added up, and no lane can
 * fail: a lane that fails goes on with any number. */
#include "plan/lower_internal.h"

enum { MOST_COLUMNS = 4, MOST_EACH = 1000000 };

struct LengthForm {
    FlatVar cols[MOST_COLUMNS]; /* of the kernel's context or one above it */
    uint32_t n;
    uint64_t each;
};

/* ---- forms ---- */

static const FlatInput *input_of(const FlatBody *body, CoreVar v)
{
    for (uint32_t i = 0; i < body->inputs.n; i++)
        if (body->inputs.at[i].as == v)
            return &body->inputs.at[i];
    return NULL;
}

static const CoreStmt *definition(const CoreBlock *b, CoreVar v)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        for (uint32_t k = 0; k < b->stmts.at[i]->nvars; k++)
            if (b->stmts.at[i]->vars[k] == v)
                return b->stmts.at[i];
    return NULL;
}

static bool add_form(LengthForm *to, const LengthForm *more)
{
    for (uint32_t i = 0; i < more->n; i++) {
        if (to->n == MOST_COLUMNS)
            return false;
        to->cols[to->n++] = more->cols[i];
    }
    to->each += more->each;
    return to->each <= MOST_EACH;
}

static bool add_column(LengthForm *to, FlatVar col)
{
    const LengthForm one = {{col}, 1, 0};
    return add_form(to, &one);
}

static bool add_view(const Lower *w, const FlatBody *body, CoreAtom a, LengthForm *to)
{
    const FlatInput *in = a.is_const ? NULL : input_of(body, a.var);
    return in && in->kind == IN_COL && lower_info(w, in->var)->type.rank > 0 && add_column(to, in->var);
}

/* Adds the number's form. Recurses as deep as sums are nested. */
static bool add_number(const Lower *w, const FlatBody *body, CoreAtom a, LengthForm *to)
{
    if (a.is_const) {
        const LengthForm constant = {{0}, 0, a.bits};
        return a.bits <= MOST_EACH && add_form(to, &constant);
    }
    const FlatInput *in = input_of(body, a.var);
    if (in)
        return in->kind == IN_COL && w->forms[in->var] && add_form(to, w->forms[in->var]);
    const CoreStmt *s = definition(body->block, a.var);
    if (s && s->kind == CORE_ATOM)
        return add_number(w, body, s->atom, to);
    if (s && s->kind == CORE_LENGTH)
        return add_view(w, body, s->length.array, to);
    return core_as_prim(s, PRIM_SIZE_ADD) && add_number(w, body, s->prim.args[0], to) &&
           add_number(w, body, s->prim.args[1], to);
}

static void find_forms(Lower *w, const FlatStmt *s)
{
    if (s->kind != FLAT_S_KERNEL || s->body.ctx == FLAT_ROOT)
        return;
    const bool fails = core_block_fallible(w->plan->program->core, w->flat->scope, s->body.block);
    for (uint32_t i = 0; i < s->nouts; i++) {
        CoreType t = lower_info(w, s->outs[i])->type;
        CoreAtom result = s->body.block->results[i];
        LengthForm form = {.n = 0};
        bool found = t.rank > 0                     ? add_view(w, &s->body, result, &form)
                     : t.scalar == SC_I64 && !fails ? add_number(w, &s->body, result, &form)
                                                    : false;
        if (!found)
            continue;
        w->forms[s->outs[i]] = arena_new(w->plan->arena, LengthForm);
        *w->forms[s->outs[i]] = form;
    }
}

/* ---- what is wanted ---- */

/* Does the lifted function make a nested context of its parameter, first of all? */
static bool nests_parameter(const FlatFn *fn, uint32_t j)
{
    for (uint32_t i = 0; i < fn->body->stmts.n; i++) {
        const FlatStmt *s = fn->body->stmts.at[i];
        if (s->kind == FLAT_S_NESTED && s->nested.source == fn->params[j])
            return true;
    }
    return false;
}

static void want(Lower *w, FlatVar v)
{
    if (lower_info(w, v)->kind == FLAT_COL)
        w->wanted[v] = true;
}

static void want_arguments(Lower *w, const FlatStmt *s)
{
    for (uint32_t j = 0; j < s->call_lifted.nargs; j++)
        for (uint32_t i = 0; i < s->call_lifted.nsites && nests_parameter(s->call_lifted.fn, j); i++)
            want(w, s->call_lifted.sites[i].args[j]);
}

static void want_state(Lower *w, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->loop_lifted.nparams; i++)
        if (w->wanted[s->loop_lifted.params[i]]) {
            want(w, s->loop_lifted.inits[i]);
            want(w, s->loop_lifted.body->results[i]);
        }
}

/* Statements come in order, blocks behind what they are part of. */
static void want_sources(Lower *w, const FlatStmt *s)
{
    if (s->kind == FLAT_S_NESTED)
        want(w, s->nested.source);
    if (s->kind == FLAT_S_CALL_LIFTED)
        want_arguments(w, s);
    if (s->kind == FLAT_S_LOOP_LIFTED)
        want_state(w, s);
    for (uint32_t i = 0; i < s->nouts; i++) {
        if (!w->wanted[s->outs[i]])
            continue;
        const LengthForm *form = w->forms[s->outs[i]];
        for (uint32_t k = 0; form && k < form->n; k++)
            want(w, form->cols[k]);
        if (s->kind == FLAT_S_SELECT)
            want(w, s->arrays.arrays[i]);
        for (uint32_t k = 0; s->kind == FLAT_S_MERGE && k < s->merge.nparts; k++)
            want(w, s->merge.parts[k].cols[i]);
    }
}

typedef struct Walk {
    Lower *w;
    void (*visit)(Lower *w, const FlatStmt *s);
    bool backwards;
} Walk;

static void walk_block(void *ctx, FlatBlock *b)
{
    const Walk *walk = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const FlatStmt *s = b->stmts.at[walk->backwards ? b->stmts.n - 1 - i : i];
        if (walk->backwards)
            flat_stmt_blocks(s, walk_block, ctx);
        walk->visit(walk->w, s);
        if (!walk->backwards)
            flat_stmt_blocks(s, walk_block, ctx);
    }
}

void lower_find_totals(Lower *w)
{
    const FlatFn *flat = w->flat;
    Walk forms = {w, find_forms, false}, wants = {w, want_sources, true};
    w->forms = arena_array(w->plan->arena, LengthForm *, flat->vars.n + 1);
    w->wanted = arena_array(w->plan->arena, bool, flat->vars.n + 1);
    w->ended = arena_array(w->plan->arena, bool, flat->vars.n + 1);
    walk_block(&forms, flat->body);
    for (uint32_t i = 0; flat->lifted && i < flat->body->nresults; i++)
        if (lower_info(w, flat->body->results[i])->type.rank > 0)
            want(w, flat->body->results[i]);
    walk_block(&wants, flat->body);
    walk_block(&wants, flat->body); /* once more, for the state of loops */
}

/* ---- instructions ---- */

/* Of the form's columns: a column that has ended is not kept for this. */
static bool form_is_there(const Lower *w, const LengthForm *form)
{
    for (uint32_t k = 0; k < form->n; k++)
        if (w->ended[form->cols[k]])
            return false;
    return true;
}

static void set_total(Lower *w, PlanOperand out, FlatVar ctx, const LengthForm *form)
{
    PlanOperand cols = lower_list(w, form->n), from = lower_list(w, form->n);
    for (uint32_t k = 0; k < form->n; k++) {
        cols.list.at[k] = w->vars[form->cols[k]];
        from.list.at[k] = w->vars[flat_ctx(w->flat, form->cols[k])];
    }
    EMIT(w, COL_SET_TOTAL, out, w->vars[ctx], cols, from, lower_number(form->each));
}

void lower_totals(Lower *w, const FlatStmt *s)
{
    for (uint32_t i = 0; s->kind == FLAT_S_KERNEL && i < s->nouts; i++) {
        const LengthForm *form = w->wanted[s->outs[i]] ? w->forms[s->outs[i]] : NULL;
        if (form && form_is_there(w, form))
            set_total(w, w->vars[s->outs[i]], s->body.ctx, form);
    }
    for (uint32_t i = 0; i < s->ndies; i++)
        w->ended[s->dies[i]] = true;
}

/* ---- splits ---- */

typedef struct Sums {
    Lower *w;
    const FlatStmt *split;
    FlatVar cols[MOST_COLUMNS];
    uint32_t n;
} Sums;

/* The column, if it is there before the split and is asked for over one of its sides. */
static void sum_over_side(Sums *s, FlatVar col, FlatVar ctx)
{
    const FlatFn *fn = s->w->flat;
    const bool below = flat_ctx_is_below(fn, ctx, s->split->outs[0]) || flat_ctx_is_below(fn, ctx, s->split->outs[1]);
    if (!below || flat_ctx(fn, col) != s->split->ctx || col > s->split->outs[0] || s->n == MOST_COLUMNS)
        return;
    for (uint32_t k = 0; k < s->n; k++)
        if (s->cols[k] == col)
            return;
    s->cols[s->n++] = col;
}

static void sum_for_block(void *ctx, FlatBlock *b);
static void sum_for(Sums *s, const FlatStmt *at)
{
    for (uint32_t i = 0; i < at->nouts; i++) {
        const LengthForm *form = s->w->forms[at->outs[i]];
        if (!s->w->wanted[at->outs[i]])
            continue;
        if (at->kind == FLAT_S_SELECT)
            sum_over_side(s, at->arrays.arrays[i], at->ctx);
        for (uint32_t k = 0; at->kind == FLAT_S_KERNEL && form && k < form->n; k++)
            sum_over_side(s, form->cols[k], at->body.ctx);
    }
    flat_stmt_blocks(at, sum_for_block, s);
}

static void sum_for_block(void *ctx, FlatBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        sum_for(ctx, b->stmts.at[i]);
}

static uint32_t sides_that_die(const FlatStmt *split, const FlatStmt *at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < at->ndies; i++)
        n += at->dies[i] == split->outs[0] || at->dies[i] == split->outs[1];
    return n;
}

/* Nothing is asked for over a side that has ended. */
PlanOperand lower_sums_of_split(Lower *w, const FlatBlock *b, uint32_t i)
{
    Sums s = {w, b->stmts.at[i], {0}, 0};
    for (uint32_t k = i + 1, dead = 0; k < b->stmts.n && dead < 2; k++) {
        sum_for(&s, b->stmts.at[k]);
        dead += sides_that_die(s.split, b->stmts.at[k]);
    }
    return lower_vars(w, s.cols, s.n);
}

PlanOperand lower_sums_of_state(Lower *w, const FlatStmt *loop)
{
    FlatVar cols[MOST_COLUMNS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < loop->loop_lifted.nparams && n < MOST_COLUMNS; i++)
        if (w->wanted[loop->loop_lifted.params[i]])
            cols[n++] = loop->loop_lifted.params[i];
    return lower_vars(w, cols, n);
}
