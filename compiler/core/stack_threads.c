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

/* The first parameter of the result's type that is no thread yet, of those that calls change or of the others. */
static bool find_param(Machine *m, uint32_t result, bool fixed)
{
    const CoreFn *from = m->from;
    for (uint32_t i = 0; i < from->nparams; i++) {
        const CoreVar v = from->params[i];
        if (m->thread[v] || m->fixed[v] != fixed || !core_type_equal(core_var_type(from, v), from->results[result]))
            continue;
        m->threads[m->nthreads] = (Thread){i, result, CORE_NO_VAR};
        m->thread[v] = ++m->nthreads;
        m->fixed[v] = false;
        return true;
    }
    return false;
}

void stack_find_threads(Machine *m)
{
    const CoreFn *from = m->from;
    for (uint32_t j = m->held; j < from->nresults && !m->impossible; j++)
        if (from->results[j].rank > 0)
            m->impossible = m->nthreads == MOST_THREADS || (!find_param(m, j, false) && !find_param(m, j, true));
    if (m->impossible || m->nthreads == 0)
        return;
    note_block(m, from->body);
    for (uint32_t t = 0; t < m->nthreads; t++) {
        const Thread *thread = &m->threads[t];
        m->impossible |= thread_of(m, from->body->results[thread->result]) != t + 1;
        m->threads[t].now = core_new_var(m->p, m->fn, from->results[thread->result], "array");
    }
}
