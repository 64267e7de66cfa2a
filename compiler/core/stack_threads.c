#include "core/append.h"
#include "core/stack_loops_internal.h"

/* Arrays that go through a recursion: a call is given one, and gives what it has become.
 *
 *     rec fn dfs (g, seen, v) = { … seen1 = update seen, v, true … seen2 = call dfs (g, seen1, w); … -> seen2 }
 *
 * Its *versions* are the parameter, what updates, appends, loops and branches make of it, and what calls give for it.
 * As only one of them is read from any point on, one variable of the loop's state holds it, and frames do not. */

static void note_version(Machine *m, CoreVar v, uint32_t thread) { m->thread[v] = thread; }

static uint32_t thread_of(const Machine *m, CoreAtom a) { return a.is_const ? 0 : m->thread[a.var]; }

static void note_block(void *ctx, CoreBlock *b);

static void note_call(Machine *m, const CoreStmt *s)
{
    for (uint32_t t = 0; t < m->nthreads; t++) {
        m->impossible |= thread_of(m, s->call.args[m->threads[t].param]) != t + 1;
        note_version(m, s->vars[m->threads[t].result], t + 1);
    }
}

static void note_loop(Machine *m, CoreStmt *s)
{
    for (uint32_t k = 0; k < s->loop.nparams; k++)
        note_version(m, s->loop.params[k], thread_of(m, s->loop.inits[k]));
    core_stmt_blocks(s, note_block, m);
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        const uint32_t thread = m->thread[s->loop.params[k]];
        m->impossible |= thread && thread_of(m, s->loop.body->results[k]) != thread;
        note_version(m, s->vars[k], thread);
    }
}

static void note_block(void *ctx, CoreBlock *b)
{
    Machine *m = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_LOOP) {
            note_loop(m, s);
            continue;
        }
        core_stmt_blocks(s, note_block, m);
        if (s->kind == CORE_CALL)
            note_call(m, s);
        else if (s->kind == CORE_ATOM)
            note_version(m, s->vars[0], thread_of(m, s->atom));
        else if (s->kind == CORE_UPDATE)
            note_version(m, s->vars[0], thread_of(m, s->update.array));
        CoreAppend append;
        for (uint32_t k = 0; s->kind == CORE_MAP && k < s->nvars; k++)
            if (core_as_append(s, k, &append))
                note_version(m, s->vars[k], thread_of(m, append.left));
        if (s->kind == CORE_SCATTER && s->nvars == 1)
            note_version(m, s->vars[0], thread_of(m, s->soac.dests[0]));
        for (uint32_t k = 0; s->kind == CORE_IF && k < s->nvars; k++)
            if (thread_of(m, s->if_.then_b->results[k]) == thread_of(m, s->if_.else_b->results[k]))
                note_version(m, s->vars[k], thread_of(m, s->if_.then_b->results[k]));
    }
}

uint32_t stack_find_param(const CoreFn *fn, uint32_t result, const bool *fixed, const bool *taken, Arena *scratch)
{
    const uint32_t origin = core_param_behind(fn, fn->body->results[result], scratch);
    if (origin < fn->nparams && !taken[origin] &&
        core_type_equal(core_var_type(fn, fn->params[origin]), fn->results[result]))
        return origin;
    for (uint32_t stays = 0; stays < 2; stays++) /* those that calls change first */
        for (uint32_t i = 0; i < fn->nparams; i++)
            if (!taken[i] && fixed[fn->params[i]] == stays &&
                core_type_equal(core_var_type(fn, fn->params[i]), fn->results[result]))
                return i;
    return fn->nparams;
}

static void add_thread(Machine *m, uint32_t result, bool *taken)
{
    const CoreFn *from = m->from;
    const uint32_t i = stack_find_param(from, result, m->fixed, taken, m->scratch);
    m->impossible = m->nthreads == MOST_THREADS || i == from->nparams;
    if (m->impossible)
        return;
    m->threads[m->nthreads] = (Thread){i, result, CORE_NO_VAR};
    m->thread[from->params[i]] = ++m->nthreads;
    m->fixed[from->params[i]] = false;
    taken[i] = true;
}

void stack_find_threads(Machine *m)
{
    const CoreFn *from = m->from;
    bool *taken = arena_array(m->scratch, bool, from->nparams + 1);
    for (uint32_t j = m->held; j < from->nresults && !m->impossible; j++)
        if (from->results[j].rank > 0)
            add_thread(m, j, taken);
    if (m->impossible || m->nthreads == 0)
        return;
    note_block(m, from->body);
    for (uint32_t t = 0; t < m->nthreads; t++) {
        const Thread *thread = &m->threads[t];
        m->impossible |= thread_of(m, from->body->results[thread->result]) != t + 1;
        m->threads[t].now = core_new_var(m->p, m->fn, from->results[thread->result], "array");
    }
}
