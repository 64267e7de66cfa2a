#include "core/append.h"
#include "core/stack_loops_internal.h"

#include "dp_limits.h"

#include <assert.h>

/* Points become rounds of a loop, in a loop that makes the stack larger. */

/* ---- frames ---- */

static void size_frames(Machine *m)
{
    m->sizes[PART_INTEGERS] = 1;
    for (uint32_t i = 0; i < m->points.n; i++) {
        uint32_t sizes[PART_COUNT] = {1, 0};
        const Point *point = m->points.at[i];
        for (uint32_t k = 0; point->framed && k < point->read.n; k++)
            sizes[stack_part(core_var_type(m->from, point->read.at[k]))]++;
        for (int part = 0; part < PART_COUNT; part++)
            if (sizes[part] > m->sizes[part])
                m->sizes[part] = sizes[part];
    }
}

static CoreAtom slot_at(Machine *m, CoreAtom frame, StackPart part, uint32_t k)
{
    const CoreAtom first = build_prim2(&m->b, PRIM_MUL, frame, core_i64(m->sizes[part]));
    return k ? build_prim2(&m->b, PRIM_ADD, first, core_i64(k)) : first;
}

/* In front of a point's code: what lies in the topmost frame. */
static void emit_loads(Machine *m, Point *point)
{
    CoreBlock *code = point->code;
    uint32_t used[PART_COUNT] = {1, 0};
    if (!point->framed)
        return;
    m->b.out = core_new_block(m->p);
    const CoreAtom frame = build_prim2(&m->b, PRIM_SUB, var_atom(m, m->depth), core_i64(1));
    for (uint32_t i = 0; i < point->read.n; i++) {
        const StackPart part = stack_part(core_var_type(m->from, point->read.at[i]));
        CoreStmt *load = build_stmt_into(&m->b, CORE_INDEX, 1, &point->slots.at[i]);
        load->index.array = var_atom(m, m->stacks[part]);
        load->index.index = slot_at(m, frame, part, used[part]++);
        build_emit(&m->b, load);
    }
    core_append_block(m->p, m->b.out, code);
    point->code = m->b.out;
}

/* ---- the rounds' state: point, depth, registers, arrays that are kept, threads, stacks ---- */

static uint32_t stacks_of(const Machine *m) { return m->sizes[PART_FLOATS] ? 2 : 1; }

static CoreVars state_of(const Machine *m)
{
    CoreVars vars = {0};
    vec_push(m->scratch, &vars, m->pc);
    vec_push(m->scratch, &vars, m->depth);
    for (uint32_t f = 0; f < REGISTER_FILES; f++)
        for (uint32_t i = 0; i < m->registers[f].n; i++)
            vec_push(m->scratch, &vars, m->registers[f].at[i]);
    for (int k = 0; k < SCALAR_COUNT; k++)
        if (m->keeps[k]) {
            vec_push(m->scratch, &vars, m->used[k]);
            vec_push(m->scratch, &vars, m->kept[k]);
        }
    for (uint32_t t = 0; t < m->nthreads; t++)
        vec_push(m->scratch, &vars, m->threads[t].now);
    for (uint32_t part = 0; part < stacks_of(m); part++)
        vec_push(m->scratch, &vars, m->stacks[part]);
    return vars;
}

static CoreType *types_of(const Machine *m, const CoreVars *vars)
{
    CoreType *types = arena_array(m->scratch, CoreType, vars->n + 1);
    for (uint32_t i = 0; i < vars->n; i++)
        types[i] = core_var_type(m->fn, vars->at[i]);
    return types;
}

/* Where the registers of a type begin in the state. */
static uint32_t first_register(const Machine *m, CoreType type)
{
    uint32_t n = 2;
    for (uint32_t f = 0; f < file_of(type); f++)
        n += m->registers[f].n;
    return n;
}

/* The stacks, with the exit's frame as number `depth`, if it pushes one. */
static void push_frame(Machine *m, CoreAtom *out, const Exit *e, CoreAtom depth)
{
    CoreAtom stacks[PART_COUNT];
    uint32_t used[PART_COUNT] = {0, 0};
    for (uint32_t part = 0; part < stacks_of(m); part++)
        stacks[part] = var_atom(m, m->stacks[part]);
    for (uint32_t i = 0; e->frame && i <= e->frame->read.n; i++) {
        CoreAtom value = core_i64(e->frame->number);
        StackPart part = PART_INTEGERS;
        if (i > 0) {
            const CoreType type = core_atom_type(m->fn, e->saved[i - 1]);
            part = stack_part(type);
            value = type.rank > 0 ? build_length(&m->b, e->saved[i - 1])
                                  : stack_convert(m, e->saved[i - 1], part_scalar(m, part));
        }
        stacks[part] = build_changed(&m->b, stacks[part], slot_at(m, depth, part, used[part]++), value);
    }
    for (uint32_t part = 0; part < stacks_of(m); part++)
        out[part] = stacks[part];
}

/* ---- arrays of frames ---- */

/* The array goes behind those that are kept. */
static CoreAtom push_array(Machine *m, CoreAtom kept, CoreAtom *top, CoreAtom xs)
{
    const CoreAtom n = build_length(&m->b, xs), end = build_prim2(&m->b, PRIM_ADD, *top, n);
    kept = build_stored(&m->b, build_room_for(&m->b, kept, *top, end), *top, xs, n);
    *top = end;
    return kept;
}

static uint32_t fill_kept(Machine *m, CoreAtom *out, const Exit *e)
{
    uint32_t n = 0;
    for (int k = 0; k < SCALAR_COUNT; k++) {
        CoreAtom top = e->top[k], kept = var_atom(m, m->kept[k]);
        if (!m->keeps[k])
            continue;
        for (uint32_t i = 0; e->frame && i < e->frame->read.n; i++)
            if (core_type_equal(core_atom_type(m->fn, e->saved[i]), (CoreType){(Scalar)k, 1}))
                kept = push_array(m, kept, &top, e->saved[i]);
        out[n++] = top;
        out[n++] = kept;
    }
    return n;
}

static void finish_exit(Machine *m, const Exit *e, uint32_t nstate)
{
    CoreAtom *out = arena_array(m->p->arena, CoreAtom, nstate + 1);
    Registers r = {0};
    m->b.out = e->block;
    CoreAtom depth = var_atom(m, m->depth);
    if (e->popped)
        depth = build_prim2(&m->b, PRIM_SUB, depth, core_i64(1));
    if (e->to) {
        out[0] = core_i64(e->to->number);
    } else {
        const CoreAtom top = build_prim2(&m->b, PRIM_SUB, depth, core_i64(1));
        out[0] =
            build_index(&m->b, var_atom(m, m->stacks[PART_INTEGERS]), slot_at(m, top, PART_INTEGERS, 0), CORE_NO_SITE);
    }
    out[1] = e->frame ? build_prim2(&m->b, PRIM_ADD, depth, core_i64(1)) : depth;
    uint32_t n = 2;
    for (uint32_t f = 0; f < REGISTER_FILES; f++)
        for (uint32_t i = 0; i < m->registers[f].n; i++)
            out[n++] = var_atom(m, m->registers[f].at[i]);
    for (uint32_t i = 0; i < e->nvalues; i++) {
        const CoreType type = core_atom_type(m->fn, e->values[i]);
        out[first_register(m, type) + r.used[file_of(type)]++] = e->values[i];
    }
    n += fill_kept(m, out + n, e);
    for (uint32_t t = 0; t < m->nthreads; t++)
        out[n++] = e->versions[t];
    push_frame(m, out + n, e, depth);
    e->block->results = out;
    e->block->nresults = nstate;
}

static void finish_branch(Machine *m, const Exit *e, const CoreType *types, uint32_t nstate)
{
    build_fresh(&m->b, e->branch, nstate, types);
    build_return(&m->b, e->block, e->branch);
}

/* One of these points, by their numbers. */
static CoreBlock *dispatch(Machine *m, uint32_t from, uint32_t to)
{
    const uint32_t middle = from + (to - from + 1) / 2;
    if (to - from == 1)
        return m->points.at[from]->code;
    CoreBlock *outer = build_begin(&m->b);
    const CoreAtom below = build_prim2(&m->b, PRIM_LT, var_atom(m, m->pc), core_i64(middle));
    CoreBlock *low = dispatch(m, from, middle), *high = dispatch(m, middle, to);
    return build_end(&m->b, outer, build_if(&m->b, below, low, high), low->nresults);
}

/* ---- the loops ---- */

/* Builds a loop over these variables, which begin as inits; the body is `round`. Returns what they are behind it. */
static CoreAtom *build_while(Machine *m, CoreVars vars, const CoreAtom *inits, CoreBlock *cond, CoreBlock *round)
{
    CoreStmt *s = build_stmt(&m->b, CORE_LOOP, vars.n, types_of(m, &vars));
    s->loop.params = build_vars_copy(&m->b, vars.at, vars.n, vars.n);
    s->loop.inits = build_atoms_copy(&m->b, inits, vars.n, vars.n);
    s->loop.nparams = vars.n;
    s->loop.index = CORE_NO_VAR;
    s->loop.count = core_i64(0);
    s->loop.cond = cond;
    s->loop.body = round;
    build_emit(&m->b, s);
    return build_atoms(&m->b, s->vars, s->nvars);
}

static CoreAtom running(Machine *m, CoreAtom pc) { return build_prim2(&m->b, PRIM_NE, pc, core_i64(m->points.n)); }

/* A stack of so many frames; `old` or, where there is none, frames of END. */
static CoreAtom build_stack(Machine *m, StackPart part, CoreAtom frames, const CoreAtom *old, CoreAtom old_frames)
{
    CoreSoac soac = {.index = build_var(&m->b, core_scalar(SC_I64), NULL).var};
    soac.domain = build_prim2(&m->b, PRIM_MUL, frames, core_i64(m->sizes[part]));
    CoreAtom value = part == PART_FLOATS ? core_const(m->floats, 0) : core_i64(m->points.n);
    CoreAtom last = {0};
    if (old) {
        last = build_prim2(&m->b, PRIM_MUL, old_frames, core_i64(m->sizes[part]));
        last = build_prim2(&m->b, PRIM_SUB, last, core_i64(1));
    }
    CoreBlock *outer = build_begin(&m->b);
    if (old) /* what lies behind the old one does not matter */
        value = build_index(&m->b, *old, build_prim2(&m->b, PRIM_MIN, var_atom(m, soac.index), last), CORE_NO_SITE);
    soac.body = build_end(&m->b, outer, &value, 1);
    return build_map(&m->b, soac)[0];
}

/* A round of the loop around: rounds until all is done, or the stack is full; a stack of twice its size, or none. */
static CoreBlock *grow(Machine *m, const CoreVars *around, CoreVars inside, CoreBlock *round)
{
    const uint32_t nstacks = stacks_of(m), scalars = inside.n - nstacks;
    const CoreAtom room = var_atom(m, around->at[inside.n]);
    CoreBlock *outer = build_begin(&m->b), *body = build_begin(&m->b);
    const CoreAtom more = running(m, var_atom(m, m->pc)),
                   fits = build_prim2(&m->b, PRIM_LT, var_atom(m, m->depth), room);
    const CoreAtom go_on = build_prim2(&m->b, PRIM_AND, more, fits);
    CoreBlock *cond = build_end(&m->b, body, &go_on, 1);
    CoreAtom *next = build_while(m, inside, build_atoms(&m->b, around->at, inside.n), cond, round);
    CoreAtom *state = build_atoms_copy(&m->b, next, inside.n + 1, inside.n);
    const int64_t most = m->by_value ? DP_MOST_FRAMES / FRAMES_BY_VALUE : DP_MOST_FRAMES;
    if (m->nthreads > 0 || m->by_value) /* for others, levels say so */
        build_check(&m->b, core_new_site(m->p, ERR_DEPTH, m->self->span, NULL),
                    build_prim2(&m->b, PRIM_LT, room, core_i64(most)), NULL, 0);
    state[inside.n] = build_prim2(&m->b, PRIM_MUL, room, core_i64(2));
    const CoreAtom frames = build_select(&m->b, running(m, next[0]), state[inside.n], core_i64(0));
    for (uint32_t part = 0; part < nstacks; part++)
        state[scalars + part] = build_stack(m, (StackPart)part, frames, &next[scalars + part], room);
    return build_end(&m->b, outer, state, inside.n + 1);
}

static uint32_t first_thread(const Machine *m, const CoreVars *inside)
{
    return inside->n - stacks_of(m) - m->nthreads;
}

/* The values begin in registers, as those of the first point. */
static CoreAtom *begin_state(Machine *m, const CoreVars *inside, CoreAtom room)
{
    CoreAtom *inits = arena_array(m->p->arena, CoreAtom, inside->n + 2);
    const Point *begin = m->points.at[0];
    Registers r = {0};
    inits[0] = core_i64(0);
    inits[1] = core_i64(1);
    for (uint32_t i = 2; i < inside->n - stacks_of(m); i++)
        inits[i] = build_nothing(&m->b, core_var_type(m->fn, inside->at[i]));
    for (uint32_t i = 0, k = 0; i < m->from->nparams; i++) {
        const CoreVar v = m->from->params[i];
        if (m->fixed[v])
            continue;
        assert(begin->given[k] == v);
        k++;
        const CoreType type = core_var_type(m->from, v);
        if (m->thread[v])
            continue;
        inits[first_register(m, type) + r.used[file_of(type)]++] = var_atom(m, m->fn->params[i]);
    }
    for (uint32_t i = 0; i < inside->n; i++)
        for (int k = 0; k < SCALAR_COUNT; k++)
            if (m->keeps[k] && inside->at[i] == m->kept[k])
                inits[i] = build_room(&m->b, core_i64(FIRST_KEPT), core_scalar((Scalar)k));
    for (uint32_t t = 0; t < m->nthreads; t++)
        inits[first_thread(m, inside) + t] = var_atom(m, m->fn->params[m->threads[t].param]);
    for (uint32_t part = 0; part < stacks_of(m); part++)
        inits[inside->n - stacks_of(m) + part] = build_stack(m, (StackPart)part, room, NULL, room);
    inits[inside->n] = room;
    return inits;
}

void stack_build_loops(Machine *m)
{
    size_frames(m);
    CoreVars inside = state_of(m), around = {0};
    const CoreType *types = types_of(m, &inside);
    Registers r = {0};
    for (uint32_t i = 0; i < m->exits.n; i++) {
        const Exit *e = &m->exits.at[i];
        if (e->branch)
            finish_branch(m, e, types, inside.n);
        else
            finish_exit(m, e, inside.n);
    }
    for (uint32_t i = 0; i < m->points.n; i++)
        emit_loads(m, m->points.at[i]);
    CoreBlock *round = dispatch(m, 0, m->points.n);
    CoreBlock *outer = m->fn->body = m->b.out = core_new_block(m->p);
    const CoreAtom *inits = begin_state(m, &inside, core_i64(FIRST_FRAMES));
    for (uint32_t i = 0; i < inside.n; i++)
        vec_push(m->scratch, &around, core_new_var(m->p, m->fn, core_var_type(m->fn, inside.at[i]), NULL));
    vec_push(m->scratch, &around, core_new_var(m->p, m->fn, core_scalar(SC_I64), "frames"));
    CoreBlock *body = grow(m, &around, inside, round), *before = build_begin(&m->b);
    const CoreAtom more = running(m, var_atom(m, around.at[0]));
    CoreBlock *cond = build_end(&m->b, before, &more, 1);
    const CoreAtom *end = build_while(m, around, inits, cond, body);
    CoreAtom *results = arena_array(m->p->arena, CoreAtom, m->fn->nresults + 1);
    for (uint32_t i = 0; i < m->fn->nresults; i++) {
        const CoreType type = m->fn->results[i];
        if (stack_in_register(m, i))
            results[i] = end[first_register(m, type) + r.used[file_of(type)]++];
    }
    for (uint32_t t = 0; t < m->nthreads; t++)
        results[m->threads[t].result] = end[first_thread(m, &inside) + t];
    build_results(&m->b, outer, results, m->fn->nresults);
}
