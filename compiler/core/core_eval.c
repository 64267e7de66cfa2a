#include "core/core_eval.h"
#include "core/eval_internal.h"

#include "dp_limits.h"
#include "dp_stack.h"

#include <stdlib.h>
#include <string.h>

/* ---- failures ---- */

bool eval_fail(Eval *e, uint32_t site, Span span, int64_t v0, int64_t v1, int64_t v2)
{
    if (site == CORE_NO_SITE)
        return eval_fail_text(e, EVAL_INTERNAL, span, "internal: an operation without a site failed");
    *e->error = (EvalError){.kind = EVAL_AT_SITE, .site = site, .values = {v0, v1, v2}, .span = span};
    return false;
}

bool eval_fail_text(Eval *e, EvalErrorKind kind, Span span, const char *text)
{
    eval_error_set(e->error, kind, span, text);
    return false;
}

/* The innermost recursion, and its level. */
static uint32_t recursion_level(const Frame *f, const char **function)
{
    uint32_t level = 0;
    while (f && !f->fn->recursive)
        f = f->caller;
    *function = f ? core_fn_called(f->fn) : NULL;
    for (const Frame *g = f; g; g = g->caller)
        level += g->fn == f->fn;
    return level;
}

bool eval_fail_memory(Eval *e, Span span, uint64_t bytes)
{
    const char *function;
    uint32_t level = recursion_level(e->frame, &function);
    budget_fail_memory(&e->budget, e->error, span, bytes, level, function);
    return false;
}

/* ---- values ---- */

CoreValue eval_peek(const Frame *f, CoreAtom a)
{
    if (a.is_const)
        return (CoreValue){.type = a.type, .bits = a.bits};
    return f->vars[a.var];
}

CoreValue eval_take(Eval *e, Frame *f, const CoreAtom *a)
{
    if (a->is_const)
        return eval_peek(f, *a);
    CoreValue *v = &f->vars[a->var];
    if (v->type.rank > 0 && !last_use_is(e->uses, a))
        v->owned = false; /* from now on there are two */
    return *v;
}

bool eval_make_owned(Eval *e, Span span, CoreValue *seq)
{
    CoreValue copy;
    if (seq->owned)
        return true;
    if (!eval_new_seq(e, span, seq->type, seq->n, &copy))
        return false;
    if (seq->n && seq->type.rank == 1)
        memcpy(copy.scalars, seq->scalars, seq->n * sizeof *seq->scalars);
    else if (seq->n)
        memcpy(copy.items, seq->items, seq->n * sizeof *seq->items);
    e->copied += seq->n;
    *seq = copy;
    return true;
}

CoreValue eval_load(const CoreValue *seq, uint64_t i)
{
    if (seq->type.rank == 1)
        return (CoreValue){.type = core_element(seq->type), .bits = seq->scalars[i]};
    CoreValue item = seq->items[i];
    item.owned = false; /* the sequence goes on holding it */
    return item;
}

void eval_store(CoreValue *seq, uint64_t i, CoreValue value)
{
    value.owned = false;
    if (seq->type.rank == 1)
        seq->scalars[i] = value.bits;
    else
        seq->items[i] = value;
}

static void define(Frame *f, const CoreStmt *s, CoreValue value) { f->vars[s->vars[0]] = value; }

static void define_scalar(Frame *f, const CoreStmt *s, uint64_t bits)
{
    CoreValue *v = &f->vars[s->vars[0]]; /* the rest of a scalar stays as it is, which is zero */
    v->type = core_var_type(f->fn, s->vars[0]);
    v->bits = bits;
}

/* ---- scalars ---- */

static bool eval_prim(Eval *e, Frame *f, const CoreStmt *s)
{
    uint64_t args[3] = {0, 0, 0};
    e->work++;
    if (s->prim.op == PRIM_SELECT) { /* of any type */
        CoreValue a = eval_take(e, f, &s->prim.args[1]), b = eval_take(e, f, &s->prim.args[2]);
        define(f, s, eval_peek(f, s->prim.args[0]).bits ? a : b);
        return true;
    }
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        args[i] = eval_peek(f, s->prim.args[i]).bits;
    Scalar operand = core_atom_type(f->fn, s->prim.args[0]).scalar;
    if (core_prim_fallible(s->prim.op, operand) && args[1] == 0)
        return eval_fail(e, s->site, s->span, 0, 0, 0);
    Scalar result = core_var_type(f->fn, s->vars[0]).scalar;
    define_scalar(f, s, core_prim_apply(s->prim.op, operand, result, args));
    return true;
}

static bool eval_check(Eval *e, Frame *f, const CoreStmt *s)
{
    int64_t values[3] = {0, 0, 0};
    if (eval_peek(f, s->check.cond).bits)
        return true;
    if (s->site == CORE_NO_SITE)
        return eval_fail_text(e, EVAL_INTERNAL, s->span, "internal: what is known to hold does not");
    for (uint32_t i = 0; i < s->check.nvalues; i++)
        values[i] = (int64_t)eval_peek(f, s->check.values[i]).bits;
    return eval_fail(e, s->site, s->span, values[0], values[1], values[2]);
}

/* ---- sequences ---- */

static bool eval_index(Eval *e, Frame *f, const CoreStmt *s)
{
    CoreValue array = eval_peek(f, s->index.array);
    uint64_t i = eval_peek(f, s->index.index).bits; /* negative: huge */
    if (i >= array.n)
        return eval_fail(e, s->site, s->span, (int64_t)i, (int64_t)array.n, 0);
    e->work++;
    define(f, s, eval_load(&array, i));
    return true;
}

static bool eval_slice(Eval *e, Frame *f, const CoreStmt *s)
{
    CoreValue array = eval_take(e, f, &s->slice.array);
    uint64_t from = eval_peek(f, s->slice.from).bits, to = eval_peek(f, s->slice.to).bits;
    if (from > to || to > array.n)
        return eval_fail(e, s->site, s->span, (int64_t)from, (int64_t)to, (int64_t)array.n);
    e->work++;
    if (array.n && array.type.rank == 1)
        array.scalars += from;
    else if (array.n)
        array.items += from;
    array.n = to - from;
    define(f, s, array);
    return true;
}

static bool eval_update(Eval *e, Frame *f, const CoreStmt *s)
{
    CoreValue array = eval_take(e, f, &s->update.array);
    uint64_t i = eval_peek(f, s->update.index).bits;
    CoreValue value = eval_take(e, f, &s->update.value);
    if (i >= array.n && s->site == CORE_NO_SITE && !s->update.holds) {
        define(f, s, array);
        return true;
    }
    if (i >= array.n)
        return eval_fail(e, s->site, s->span, (int64_t)i, (int64_t)array.n, 0);
    if (!eval_make_owned(e, s->span, &array))
        return false;
    e->work++;
    eval_store(&array, i, value);
    define(f, s, array);
    return true;
}

static bool eval_array(Eval *e, Frame *f, const CoreStmt *s)
{
    CoreValue array;
    if (!eval_new_seq(e, s->span, core_var_type(f->fn, s->vars[0]), s->array.n, &array))
        return false;
    for (uint32_t i = 0; i < s->array.n; i++)
        eval_store(&array, i, eval_take(e, f, &s->array.items[i]));
    e->work += s->array.n;
    define(f, s, array);
    return true;
}

/* MEMORY, NOTHING: zero; what has no elements. */
static bool eval_nothing(Eval *e, Frame *f, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreValue none = {.type = core_var_type(f->fn, s->vars[i])};
        if (none.type.rank > 0 && !eval_new_seq(e, s->span, none.type, 0, &none))
            return false;
        f->vars[s->vars[i]] = none;
    }
    return true;
}

static bool eval_flatten(Eval *e, Frame *f, const CoreStmt *s)
{
    CoreValue outer = eval_peek(f, s->length.array), out;
    uint64_t total = 0, at = 0;
    for (uint64_t i = 0; i < outer.n; i++)
        total += outer.items[i].n;
    if (!eval_new_seq(e, s->span, core_var_type(f->fn, s->vars[0]), total, &out))
        return false;
    for (uint64_t i = 0; i < outer.n; i++)
        for (uint64_t j = 0; j < outer.items[i].n; j++)
            eval_store(&out, at++, eval_load(&outer.items[i], j));
    e->work += total;
    define(f, s, out);
    return true;
}

static bool eval_table(Eval *e, Frame *f, const CoreStmt *s)
{
    const CoreValue rows = eval_peek(f, s->length.array);
    const uint64_t n = rows.n ? rows.items[0].n : 0;
    for (uint64_t i = 1; i < rows.n && !e->gave_up; i++)
        e->gave_up = rows.items[i].n != n;
    if (e->gave_up || !eval_flatten(e, f, s))
        return false;
    CoreValue *length = &f->vars[s->vars[1]];
    length->type = core_scalar(SC_I64);
    length->bits = n;
    return true;
}

static bool eval_fitted(Eval *e, Frame *f, const CoreStmt *s)
{
    define_scalar(f, s, !e->gave_up);
    e->gave_up = false;
    return true;
}

/* values: xs, size, then pairs of tag and constant, `depth` levels above what is asked; behind them, room for the
 * others. */
static int64_t wrong_length(Eval *e, CoreValue *values, uint32_t n, uint32_t depth)
{
    int64_t wrong = -1;
    CoreValue *inner = values + n;
    e->work += depth ? values[0].n : 1;
    for (uint32_t i = 2; i < n && depth == 0; i += 2)
        if (values[i].bits != values[i + 1].bits)
            return -1;
    if (depth == 0)
        return values[0].n == values[1].bits ? -1 : (int64_t)values[0].n;
    for (uint64_t i = 0; i < values[0].n; i++) {
        for (uint32_t j = 0; j < n; j++)
            inner[j] = j % 2 ? values[j] : eval_load(&values[j], i);
        int64_t w = wrong_length(e, inner, n, depth - 1);
        wrong = w > wrong ? w : wrong;
    }
    return wrong;
}

static bool eval_check_rows(Eval *e, Frame *f, const CoreStmt *s)
{
    size_t bytes = sizeof(CoreValue) * s->rows.nargs * (s->rows.depth + 1u);
    CoreValue *values = malloc(bytes);
    if (!values)
        return eval_fail_memory(e, s->span, bytes);
    for (uint32_t i = 0; i < s->rows.nargs; i++)
        values[i] = eval_peek(f, s->rows.args[i]);
    define_scalar(f, s, (uint64_t)wrong_length(e, values, s->rows.nargs, s->rows.depth));
    free(values);
    return eval_tick(e);
}

/* ---- control ---- */

/* The statement binds what the block gives. */
static bool eval_inside(Eval *e, Frame *f, const CoreStmt *s, uint64_t index, const CoreBlock *b)
{
    CoreValue few[4], *results = s->nvars <= 4 ? few : malloc(sizeof *results * s->nvars);
    if (!results)
        return eval_fail_memory(e, s->span, sizeof *results * s->nvars);
    bool ok = eval_part(e, f, s, PART_BRANCH, index, b, results);
    for (uint32_t i = 0; ok && i < s->nvars; i++)
        f->vars[s->vars[i]] = results[i];
    if (results != few)
        free(results);
    return ok;
}

/* One that gives up gives what nobody looks at. */
static bool eval_lane(Eval *e, Frame *f, const CoreStmt *s)
{
    const Roots *roots = e->roots;
    Frame *frame = e->frame;
    const uint32_t depth = e->depth;
    if (eval_inside(e, f, s, 0, s->lane.block))
        return true;
    e->roots = roots;
    e->frame = frame;
    e->depth = depth;
    return e->gave_up && eval_nothing(e, f, s);
}

static bool eval_if(Eval *e, Frame *f, const CoreStmt *s)
{
    const bool holds = eval_peek(f, s->if_.cond).bits != 0;
    return eval_inside(e, f, s, !holds, holds ? s->if_.then_b : s->if_.else_b);
}

/* One round: the body's results become the parameters, all at once. */
static bool eval_round(Eval *e, Frame *f, const CoreStmt *s, uint64_t round, CoreValue *state)
{
    if (!eval_part(e, f, s, PART_ROUND, round, s->loop.body, state))
        return false;
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        f->vars[s->loop.params[i]] = state[i];
    return true;
}

static bool eval_for(Eval *e, Frame *f, const CoreStmt *s, CoreValue *state)
{
    int64_t count = (int64_t)eval_peek(f, s->loop.count).bits;
    for (int64_t i = 0; i < count; i++) {
        if (s->loop.index != CORE_NO_VAR)
            f->vars[s->loop.index] = (CoreValue){.type = {SC_I64, 0}, .bits = (uint64_t)i};
        if (!eval_round(e, f, s, (uint64_t)i, state))
            return false;
    }
    return true;
}

static bool eval_while(Eval *e, Frame *f, const CoreStmt *s, CoreValue *state)
{
    for (uint64_t round = 0;; round++) {
        CoreValue holds;
        if (!eval_part(e, f, s, PART_CONDITION, round, s->loop.cond, &holds))
            return false;
        if (!holds.bits)
            return true;
        if (!eval_round(e, f, s, round, state))
            return false;
    }
}

static bool eval_loop(Eval *e, Frame *f, const CoreStmt *s)
{
    CoreValue *state = malloc(sizeof *state * (s->loop.nparams + 1u));
    if (!state)
        return eval_fail_memory(e, s->span, sizeof *state * (s->loop.nparams + 1u));
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        state[i] = eval_take(e, f, &s->loop.inits[i]);
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        f->vars[s->loop.params[i]] = state[i];
    bool ok = s->loop.cond ? eval_while(e, f, s, state) : eval_for(e, f, s, state);
    for (uint32_t i = 0; ok && i < s->nvars; i++)
        f->vars[s->vars[i]] = f->vars[s->loop.params[i]];
    free(state);
    return ok;
}

/* Room for the variables of a call; NULL and an error where there is none. */
static CoreValue *new_vars(Eval *e, Span span, uint64_t bytes)
{
    CoreValue *vars = budget_has_room(&e->budget, bytes) ? eval_zeroed(bytes) : NULL;
    if (!vars) {
        eval_fail_memory(e, span, bytes);
        return NULL;
    }
    budget_take(&e->budget, bytes);
    e->budget.frames += bytes;
    return vars;
}

/* call: the statement that calls it, or NULL. */
static bool eval_fn(Eval *e, const CoreFn *fn, const CoreStmt *call, Span span, const CoreValue *args,
                    CoreValue *results)
{
    if (e->depth >= DP_MAX_LEVELS || dp_stack_is_full(e->stack_end))
        return eval_fail_text(e, EVAL_TOO_DEEP, span, DP_TOO_DEEP);
    uint64_t bytes = sizeof(CoreValue) * (fn->vars.n + 1u);
    Frame frame = {fn, new_vars(e, span, bytes), e->frame};
    if (!frame.vars)
        return false;
    for (uint32_t i = 0; i < fn->nparams; i++)
        frame.vars[fn->params[i]] = args[i];
    e->depth++;
    e->frame = &frame;
    bool ok = eval_part(e, &frame, call, PART_CALL, 0, fn->body, results);
    e->frame = frame.caller;
    e->depth--;
    e->budget.live -= bytes;
    e->budget.frames -= bytes;
    free(frame.vars);
    return ok;
}

static bool eval_call(Eval *e, Frame *f, const CoreStmt *s)
{
    uint32_t nargs = s->call.nargs;
    CoreValue *values = malloc(sizeof *values * (nargs + s->nvars + 1u)), *results = values + nargs;
    if (!values)
        return eval_fail_memory(e, s->span, sizeof *values * (nargs + s->nvars + 1u));
    for (uint32_t i = 0; i < nargs; i++)
        values[i] = eval_take(e, f, &s->call.args[i]);
    bool ok = eval_fn(e, s->call.fn, s, s->span, values, results);
    for (uint32_t i = 0; ok && i < s->nvars; i++)
        f->vars[s->vars[i]] = results[i];
    free(values);
    return ok;
}

/* ---- statements and blocks ---- */

static bool eval_kind(Eval *e, Frame *f, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: define(f, s, eval_take(e, f, &s->atom)); return true;
    case CORE_PRIM: return eval_prim(e, f, s);
    case CORE_LENGTH: define_scalar(f, s, eval_peek(f, s->length.array).n); return true;
    case CORE_INDEX: return eval_index(e, f, s);
    case CORE_SLICE: return eval_slice(e, f, s);
    case CORE_UPDATE: return eval_update(e, f, s);
    case CORE_ARRAY: return eval_array(e, f, s);
    case CORE_CHECK: return eval_check(e, f, s);
    case CORE_CHECK_ROWS: return eval_check_rows(e, f, s);
    case CORE_IF: return eval_if(e, f, s);
    case CORE_MANY:
    case CORE_FEW: define_scalar(f, s, 1); return true;
    case CORE_FITTED: return eval_fitted(e, f, s);
    case CORE_PARAM: define_scalar(f, s, EVAL_PARAM); return true;
    case CORE_MEMORY:
    case CORE_NOTHING: return eval_nothing(e, f, s);
    case CORE_LANE: return eval_lane(e, f, s);
    case CORE_LOOP: return eval_loop(e, f, s);
    case CORE_CALL: return eval_call(e, f, s);
    case CORE_SOAC: return eval_soac(e, f, s);
    case CORE_ARGSORT: return eval_argsort(e, f, s);
    case CORE_FLATTEN: return eval_flatten(e, f, s);
    case CORE_TABLE: return eval_table(e, f, s);
    }
    return false;
}

static bool eval_stmt(Eval *e, Frame *f, const CoreStmt *s)
{
    const EvalObserver *o = e->observer;
    if (!o)
        return eval_kind(e, f, s);
    o->start(o->ctx, f->fn, s, f->vars);
    e->copied = 0;
    if (!eval_kind(e, f, s))
        return false;
    o->done(o->ctx, f->fn, s, f->vars, e->copied);
    return true;
}

bool eval_tick(Eval *e)
{
    if (budget_tick(&e->budget))
        return true;
    budget_fail_time(&e->budget, e->error, SPAN_NONE);
    return false;
}

/* The time is up at the innermost statement under way. */
static bool place_failure(Eval *e, const CoreStmt *s)
{
    if (e->error->kind == EVAL_NO_TIME && e->error->span.end == 0)
        e->error->span = s->span;
    return false;
}

bool eval_block(Eval *e, Frame *f, const CoreBlock *b, CoreValue *results)
{
    if (!eval_tick(e))
        return false;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!eval_stmt(e, f, b->stmts.at[i]))
            return place_failure(e, b->stmts.at[i]);
    for (uint32_t i = 0; i < b->nresults; i++)
        results[i] = eval_take(e, f, &b->results[i]);
    return true;
}

bool eval_part(Eval *e, Frame *f, const CoreStmt *s, EvalPart part, uint64_t index, const CoreBlock *b,
               CoreValue *results)
{
    const EvalObserver *o = e->observer;
    if (!o)
        return eval_block(e, f, b, results);
    const uint64_t copied = e->copied;
    o->enter(o->ctx, f->fn, s, part, index, f->vars);
    if (!eval_block(e, f, b, results))
        return false;
    o->leave(o->ctx, f->fn, s, part);
    e->copied = copied;
    return true;
}

/* ---- the entry, on a stack of its own ---- */

typedef struct Job {
    Eval eval;
    const CoreFn *fn;
    const CoreValue *args;
    CoreValue *results;
    bool ok;
} Job;

static void run_job(void *arg, uintptr_t stack_end)
{
    Job *job = arg;
    job->eval.stack_end = stack_end;
    job->ok = eval_fn(&job->eval, job->fn, NULL, job->fn->span, job->args, job->results);
}

/* Values from outside are shared with it. */
static CoreValue *disowned(Arena *scratch, const CoreValue *values, uint32_t n)
{
    CoreValue *copy = arena_array(scratch, CoreValue, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = values[i];
        copy[i].owned = false;
    }
    return copy;
}

bool core_eval(const CoreProgram *p, const CoreFn *fn, Arena *arena, const CoreValue *args, CoreValue *results,
               const EvalLimits *limits, const EvalObserver *observer, EvalError *error, uint64_t *work)
{
    Arena *scratch = arena_create();
    Job job = {.fn = fn, .results = results};
    job.eval = (Eval){.program = p, .error = error, .observer = observer, .trace = limits ? limits->trace : NULL};
    const EvalObserver tracer = eval_trace_observer(&job.eval);
    if (job.eval.trace)
        job.eval.observer = &tracer;
    storage_begin(&job.eval, limits);
    job.eval.uses = last_use_of_program(p, scratch);
    job.args = disowned(scratch, args, fn->nparams);
    eval_trace_program(&job.eval);
    if (!dp_stack_run(run_job, &job))
        eval_fail_text(&job.eval, EVAL_INTERNAL, fn->span, "internal: no thread for the interpreter");
    eval_trace_end(&job.eval, job.ok, results, fn->nresults);
    for (uint32_t i = 0; job.ok && i < fn->nresults; i++)
        results[i] = eval_copy_out(arena, &results[i]);
    storage_free_all(&job.eval);
    arena_destroy(scratch);
    if (work)
        *work = job.eval.work;
    return job.ok;
}
