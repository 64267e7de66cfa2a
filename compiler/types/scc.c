#include "types/check_internal.h"

/* Tarjan's algorithm with its own stack, since chains of definitions may be long. A component is
 * finished only after all it calls, so they come out callees first. */

typedef struct Frame {
    uint32_t node, next;
} Frame;
typedef struct Tarjan {
    const struct CallList *calls;
    uint32_t *number, *low; /* 0: not yet seen */
    bool *on_stack;
    uint32_t *stack, nstack;
    Frame *frames;
    uint32_t nframes, counter, norder;
    Components out;
} Tarjan;

static void enter(Tarjan *t, uint32_t v)
{
    t->number[v] = t->low[v] = ++t->counter;
    t->stack[t->nstack++] = v;
    t->on_stack[v] = true;
    t->frames[t->nframes++] = (Frame){v, 0};
}

static void finish_component(Tarjan *t, uint32_t root)
{
    uint32_t v;
    do {
        v = t->stack[--t->nstack];
        t->on_stack[v] = false;
        t->out.order[t->norder++] = v;
    } while (v != root);
    t->out.starts[++t->out.n] = t->norder;
}

static void leave(Tarjan *t, uint32_t v)
{
    if (t->low[v] == t->number[v])
        finish_component(t, v);
    t->nframes--;
    if (t->nframes) {
        uint32_t parent = t->frames[t->nframes - 1].node;
        if (t->low[v] < t->low[parent])
            t->low[parent] = t->low[v];
    }
}

static void visit(Tarjan *t, uint32_t root)
{
    enter(t, root);
    while (t->nframes) {
        Frame *f = &t->frames[t->nframes - 1];
        if (f->next == t->calls[f->node].to.n) {
            leave(t, f->node);
            continue;
        }
        uint32_t w = t->calls[f->node].to.at[f->next++];
        if (!t->number[w])
            enter(t, w);
        else if (t->on_stack[w] && t->number[w] < t->low[f->node])
            t->low[f->node] = t->number[w];
    }
}

Components components_of(Arena *a, const struct CallList *calls, uint32_t n)
{
    Tarjan t = {.calls = calls,
                .number = arena_array(a, uint32_t, n),
                .low = arena_array(a, uint32_t, n),
                .on_stack = arena_array(a, bool, n),
                .stack = arena_array(a, uint32_t, n),
                .frames = arena_array(a, Frame, n),
                .out = {arena_array(a, uint32_t, n), arena_array(a, uint32_t, n + 1), 0}};
    for (uint32_t v = 0; v < n; v++) {
        if (!t.number[v])
            visit(&t, v);
    }
    return t.out;
}
