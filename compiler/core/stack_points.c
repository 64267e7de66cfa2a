#include "core/stack_loops_internal.h"

#include "core/choose_lanes_internal.h"

#include <string.h>

/* A function with self calls is cut into points. What stands behind a call, or where ways meet, reads variables of
 * before: these are found, and saved in the frame or handed on. */

/* ---- values ---- */

/* The k-th register of the type. */
static CoreAtom register_at(Machine *m, CoreType type, uint32_t k)
{
    CoreVars *file = &m->registers[file_of(type)];
    while (file->n <= k)
        vec_push(m->scratch, file, core_new_var(m->p, m->fn, type, NULL));
    return var_atom(m, file->at[k]);
}

static CoreAtom next_register(Machine *m, Registers *r, CoreType type)
{
    return register_at(m, type, r->used[file_of(type)]++);
}

CoreAtom stack_convert(Machine *m, CoreAtom a, Scalar to)
{
    const Scalar from = core_atom_type(m->fn, a).scalar;
    if (from == to)
        return a;
    if (to == SC_BOOL)
        return build_prim2(&m->b, PRIM_NE, a, core_i64(0));
    return build_prim(&m->b, PRIM_CONVERT, to, &a);
}

bool stack_in_register(const Machine *m, uint32_t result)
{
    for (uint32_t t = 0; t < m->nthreads; t++)
        if (m->threads[t].result == result)
            return false;
    return true;
}

/* ---- calls, and what there is of them ---- */

static bool calls_inside(const CoreFn *fn, const CoreBlock *b);

typedef struct CallSearch {
    const CoreFn *fn;
    bool found;
} CallSearch;

static void find_call(void *ctx, CoreBlock *b)
{
    CallSearch *search = ctx;
    search->found = search->found || calls_inside(search->fn, b);
}

bool stack_calls(const CoreFn *fn, const CoreStmt *s)
{
    CallSearch search = {fn, s->kind == CORE_CALL && s->call.fn == fn};
    core_stmt_blocks((CoreStmt *)s, find_call, &search);
    return search.found;
}

static bool calls_inside(const CoreFn *fn, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (stack_calls(fn, b->stmts.at[i]))
            return true;
    return false;
}

/* ---- what the rest reads of before ---- */

typedef struct Reads {
    Machine *m;
    Point *point;
} Reads;

static void note_bound(void *ctx, CoreVar *v)
{
    Machine *m = ctx;
    m->bound[*v] = m->stamp;
}

static void note_bound_in(void *ctx, CoreBlock *b);

static void note_bound_by(Machine *m, CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        note_bound(m, &s->vars[i]);
    core_stmt_binders(s, note_bound, m);
    core_stmt_blocks(s, note_bound_in, m);
}

static void note_bound_in(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        note_bound_by(ctx, b->stmts.at[i]);
}

static void note_read(void *ctx, CoreAtom *a)
{
    const Reads *r = ctx;
    Machine *m = r->m;
    if (a->is_const || m->fixed[a->var] || m->seen[a->var] == m->stamp)
        return;
    m->seen[a->var] = m->stamp;
    CoreStmt *part = m->parts[a->var];
    if (part) /* behind what it is a part of */
        core_stmt_atoms(part, note_read, ctx);
    vec_push(m->scratch, part ? &r->point->parts : &r->point->read, a->var);
}

static void note_rest(Reads *r, const Rest *rest)
{
    for (; rest; rest = rest->behind) {
        for (uint32_t i = rest->from; i < rest->block->stmts.n; i++) {
            CoreStmt *s = rest->block->stmts.at[i];
            core_stmt_all_atoms(s, note_read, r);
            note_bound_by(r->m, s);
        }
        for (uint32_t i = 0; i < rest->block->nresults; i++)
            note_read(r, &rest->block->results[i]);
        for (uint32_t i = 0; rest->vars && rest->meets == NULL && i < rest->block->nresults; i++)
            note_bound(r->m, (CoreVar *)&rest->vars[i]);
        for (uint32_t i = 0; rest->meets && i < rest->meets->read.n; i++)
            note_read(r, &(CoreAtom){.var = rest->meets->read.at[i]});
        if (rest->meets && rest->meets->loop && rest->meets->loop->loop.index != CORE_NO_VAR)
            note_read(r, &(CoreAtom){.var = rest->meets->loop->loop.index}); /* the next round counts on */
    }
}

/* Begins a set of what is read; what `given` has is none of it. */
static Reads begin_reads(Machine *m, Point *point)
{
    m->stamp++;
    return (Reads){m, point};
}

static void drop_bound(const Machine *m, CoreVars *vars)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < vars->n; i++)
        if (m->bound[vars->at[i]] != m->stamp)
            vars->at[kept++] = vars->at[i];
    vars->n = kept;
}

/* Is it a version? Then no other one of the thread is read there. Other arrays lie in registers; in frames, where these
 * have arrays. */
static bool note_live(Machine *m, Point *point, CoreVar v, bool framed)
{
    const uint32_t thread = m->thread[v];
    const CoreType type = core_var_type(m->from, v);
    m->impossible |= thread == 0 && type.rank > (framed ? m->by_value : MOST_RANK);
    m->keeps[type.scalar] |= framed && thread == 0 && type.rank > 0;
    if (thread == 0)
        return false;
    m->impossible |= point->versions[thread - 1] != 0;
    point->versions[thread - 1] = v + 1;
    return true;
}

static bool is_part_of_thread(const Machine *m, CoreAtom a)
{
    const CoreStmt *part = a.is_const ? NULL : m->parts[a.var];
    if (!part)
        return !a.is_const && m->thread[a.var];
    bool found = false;
    for (uint32_t i = 0; part->kind == CORE_ARRAY && i < part->array.n; i++)
        found |= is_part_of_thread(m, part->array.items[i]);
    switch (part->kind) {
    case CORE_ARRAY: return found;
    case CORE_ATOM: return is_part_of_thread(m, part->atom);
    case CORE_INDEX: return is_part_of_thread(m, part->index.array);
    default: return is_part_of_thread(m, part->slice.array);
    }
}

static void end_reads(const Reads *r)
{
    Machine *m = r->m;
    Point *point = r->point;
    for (uint32_t i = 0; i < point->ngiven; i++)
        note_bound(m, (CoreVar *)&point->given[i]);
    drop_bound(m, &point->read);
    drop_bound(m, &point->parts);
    for (uint32_t i = 0; i < point->ngiven; i++)
        note_live(m, point, point->given[i], false);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < point->read.n; i++)
        if (!note_live(m, point, point->read.at[i], point->framed))
            point->read.at[kept++] = point->read.at[i];
    point->read.n = kept;
    for (uint32_t i = 0; i < point->parts.n; i++) /* the array may be another one by then */
        m->impossible |= is_part_of_thread(m, (CoreAtom){.var = point->parts.at[i]});
}

/* ---- points ---- */

static Point *new_point(Machine *m, const CoreVar *given, uint32_t ngiven, Rest rest)
{
    Point *point = arena_new(m->scratch, Point);
    *point = (Point){.number = m->points.n, .given = given, .ngiven = ngiven, .rest = rest};
    vec_push(m->scratch, &m->points, point);
    m->impossible |= m->points.n > MOST_POINTS;
    return point;
}

static Point *point_behind(Machine *m, const CoreStmt *s, bool framed, const Rest *rest)
{
    Point *point = new_point(m, s->vars, s->nvars, *rest);
    Reads r = begin_reads(m, point);
    point->framed = framed;
    note_rest(&r, rest);
    end_reads(&r);
    return point;
}

/* Its rounds are given the state, and the number of the round. */
static Point *point_of_loop(Machine *m, CoreStmt *s, const Rest *rest)
{
    const uint32_t n = s->loop.nparams, counted = s->loop.index != CORE_NO_VAR;
    CoreVar *given = arena_array(m->scratch, CoreVar, n + 1);
    for (uint32_t i = 0; i < n; i++)
        given[i] = s->loop.params[i];
    given[n] = s->loop.index;
    Point *point = new_point(m, given, n + counted, *rest);
    Reads r = begin_reads(m, point);
    point->loop = s;
    note_read(&r, &s->loop.count);
    if (s->loop.cond)
        core_block_atoms(s->loop.cond, note_read, &r);
    core_block_atoms(s->loop.body, note_read, &r);
    note_bound_by(m, s);
    note_rest(&r, rest);
    end_reads(&r);
    return point;
}

/* ---- how a point ends ---- */

static CoreAtom mapped(const Machine *m, CoreAtom a) { return a.is_const ? a : m->map[a.var]; }

static CoreAtom *mapped_vars(const Machine *m, CoreAtom *out, const CoreVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = m->map[vars[i]];
    return out;
}

static Exit *exit_to(Machine *m, const Point *to, uint32_t room)
{
    Exit e = {.block = m->b.out,
              .to = to,
              .popped = m->popped,
              .values = arena_array(m->scratch, CoreAtom, room + 1),
              .versions = arena_array(m->scratch, CoreAtom, MOST_THREADS)};
    for (uint32_t t = 0; t < m->nthreads; t++)
        e.versions[t] = var_atom(m, m->threads[t].now);
    memcpy(e.top, m->top, sizeof e.top);
    vec_push(m->scratch, &m->exits, e);
    return &m->exits.at[m->exits.n - 1];
}

/* What it is given stands for the point's own variables already. */
static void exit_meeting(Machine *m, const Point *to)
{
    Exit *e = exit_to(m, to, to->ngiven + to->read.n);
    for (uint32_t i = 0; i < to->ngiven; i++)
        if (m->thread[to->given[i]] == 0)
            e->values[e->nvalues++] = m->map[to->given[i]];
    mapped_vars(m, e->values + e->nvalues, to->read.at, to->read.n);
    e->nvalues += to->read.n;
    for (uint32_t t = 0; t < m->nthreads; t++)
        if (to->versions[t])
            e->versions[t] = m->map[to->versions[t] - 1];
}

static void bind_all(Machine *m, const CoreVar *vars, const CoreAtom *atoms, uint32_t n)
{
    CoreAtom *values = arena_array(m->scratch, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++)
        values[i] = mapped(m, atoms[i]);
    for (uint32_t i = 0; i < n; i++)
        m->map[vars[i]] = values[i];
}

static void emit_rest(Machine *m, const Rest *rest);

/* At the end of a block. */
static void emit_end(Machine *m, const Rest *rest)
{
    const CoreBlock *block = rest->block;
    if (!rest->vars) {
        Exit *e = exit_to(m, NULL, block->nresults);
        for (uint32_t i = 0; i < block->nresults; i++)
            if (stack_in_register(m, i))
                e->values[e->nvalues++] = mapped(m, block->results[i]);
        for (uint32_t t = 0; t < m->nthreads; t++)
            e->versions[t] = mapped(m, block->results[m->threads[t].result]);
        return;
    }
    bind_all(m, rest->vars, block->results, block->nresults);
    if (!rest->meets) {
        emit_rest(m, rest->behind);
        return;
    }
    const CoreStmt *loop = rest->meets->loop;
    if (loop && loop->loop.index != CORE_NO_VAR)
        m->map[loop->loop.index] = build_prim2(&m->b, PRIM_ADD, m->map[loop->loop.index], core_i64(1));
    exit_meeting(m, rest->meets);
}

static void copy_stmt(Machine *m, CoreStmt *s)
{
    CoreBlock one = {.stmts = {.at = &s, .n = 1, .cap = 1}};
    choose_count(&m->statements, &one);
    m->impossible |= m->statements > MOST_STATEMENTS;
    build_copy(&m->b, m->from, &one, m->map);
}

/* Do results of a call go out of the function as they are? */
static bool is_tail(const Rest *rest, const CoreVar *vars, uint32_t n)
{
    for (; rest; rest = rest->behind) {
        if (rest->from < rest->block->stmts.n || rest->block->nresults != n || rest->meets)
            return false;
        for (uint32_t i = 0; i < n; i++)
            if (rest->block->results[i].is_const || rest->block->results[i].var != vars[i])
                return false;
        vars = rest->vars;
    }
    return true;
}

static void emit_call(Machine *m, const CoreStmt *s, const Rest *rest)
{
    const Point *begin = m->points.at[0],
                *frame = is_tail(rest, s->vars, s->nvars) ? NULL : point_behind(m, s, true, rest);
    Exit *e = exit_to(m, begin, s->call.nargs);
    for (uint32_t i = 0; i < s->call.nargs; i++)
        if (!m->fixed[m->from->params[i]] && m->thread[m->from->params[i]] == 0)
            e->values[e->nvalues++] = mapped(m, s->call.args[i]);
    for (uint32_t t = 0; t < m->nthreads; t++)
        e->versions[t] = mapped(m, s->call.args[m->threads[t].param]);
    e->frame = frame;
    if (frame)
        e->saved = mapped_vars(m, arena_array(m->scratch, CoreAtom, frame->read.n + 1), frame->read.at, frame->read.n);
}

/* What the branches go on with is repeated, or they meet there. */
static bool is_repeated(const Machine *m, const Rest *rest)
{
    uint32_t n = 0;
    for (; rest; rest = rest->behind)
        for (uint32_t i = rest->from; i < rest->block->stmts.n; i++) {
            n++;
            if (stack_calls(m->self, rest->block->stmts.at[i]) || n > MOST_REPEATED)
                return false;
        }
    return true;
}

/* "if cond then …": both branches end points. */
static void emit_branch(Machine *m, CoreAtom cond, const Rest *then_rest, const Rest *else_rest)
{
    CoreStmt *s = build_stmt(&m->b, CORE_IF, 0, NULL);
    CoreBlock *outer = m->b.out;
    CoreAtom *before = arena_array(m->scratch, CoreAtom, m->from->vars.n + 1);
    build_emit(&m->b, s);
    vec_push(m->scratch, &m->exits, ((Exit){.block = outer, .branch = s}));
    s->if_.cond = cond;
    memcpy(before, m->map, m->from->vars.n * sizeof *before);
    m->b.out = s->if_.then_b = core_new_block(m->p);
    emit_rest(m, then_rest);
    memcpy(m->map, before, m->from->vars.n * sizeof *before);
    m->b.out = s->if_.else_b = core_new_block(m->p);
    emit_rest(m, else_rest);
    m->b.out = outer;
}

static void emit_if(Machine *m, CoreStmt *s, const Rest *rest)
{
    Point *meets = is_repeated(m, rest) ? NULL : point_behind(m, s, false, rest);
    const Rest *behind = meets ? NULL : rest;
    const Rest then_rest = {s->if_.then_b, 0, s->vars, behind, meets},
               else_rest = {s->if_.else_b, 0, s->vars, behind, meets};
    Rest *ways = arena_array(m->scratch, Rest, 2); /* points keep them */
    ways[0] = then_rest;
    ways[1] = else_rest;
    emit_branch(m, mapped(m, s->if_.cond), &ways[0], &ways[1]);
}

static void emit_loop(Machine *m, CoreStmt *s, const Rest *rest)
{
    const Point *point = point_of_loop(m, s, rest);
    m->impossible |= s->loop.cond && calls_inside(m->self, s->loop.cond);
    bind_all(m, s->loop.params, s->loop.inits, s->loop.nparams);
    if (s->loop.index != CORE_NO_VAR)
        m->map[s->loop.index] = core_i64(0);
    exit_meeting(m, point);
}

static void emit_rest(Machine *m, const Rest *rest)
{
    for (uint32_t i = rest->from; i < rest->block->stmts.n && !m->impossible; i++) {
        CoreStmt *s = rest->block->stmts.at[i];
        if (!stack_calls(m->self, s)) {
            copy_stmt(m, s);
            continue;
        }
        Rest *behind = arena_new(m->scratch, Rest);
        *behind = *rest;
        behind->from = i + 1;
        m->b.span = s->span;
        switch (s->kind) {
        case CORE_CALL: emit_call(m, s, behind); return;
        case CORE_IF: emit_if(m, s, behind); return;
        case CORE_LOOP: emit_loop(m, s, behind); return;
        default: m->impossible = true; return;
        }
    }
    if (!m->impossible)
        emit_end(m, rest);
}

/* A round of a loop around calls, or its end. */
static void emit_round(Machine *m, Point *point)
{
    const CoreStmt *s = point->loop;
    Rest *ways = arena_array(m->scratch, Rest, 2);
    CoreAtom more = {0};
    ways[0] = (Rest){s->loop.body, 0, s->loop.params, NULL, point};
    ways[1] = point->rest;
    if (s->loop.cond) {
        for (uint32_t i = 0; i < s->loop.cond->stmts.n; i++)
            copy_stmt(m, s->loop.cond->stmts.at[i]);
        more = mapped(m, s->loop.cond->results[0]);
    } else {
        more = build_prim2(&m->b, PRIM_LT, m->map[s->loop.index], mapped(m, s->loop.count));
    }
    for (uint32_t i = 0; i < s->nvars; i++)
        m->map[s->vars[i]] = m->map[s->loop.params[i]];
    emit_branch(m, more, &ways[0], &ways[1]);
}

/* The last `length` elements that are kept, as an array of its own. */
static CoreAtom pop_array(Machine *m, Scalar scalar, CoreAtom length)
{
    CoreSoac soac = {.index = build_var(&m->b, core_scalar(SC_I64), NULL).var, .domain = length};
    m->top[scalar] = build_prim2(&m->b, PRIM_SUB, m->top[scalar], length);
    CoreBlock *outer = build_begin(&m->b);
    const CoreAtom at = build_prim2(&m->b, PRIM_ADD, m->top[scalar], var_atom(m, soac.index)),
                   x = build_index(&m->b, var_atom(m, m->kept[scalar]), at, CORE_NO_SITE);
    soac.body = build_end(&m->b, outer, &x, 1);
    return build_map(&m->b, soac)[0];
}

/* Where the point's values are. */
static void enter_point(Machine *m, Point *point)
{
    Registers r = {0};
    for (int k = 0; k < SCALAR_COUNT; k++)
        m->top[k] = var_atom(m, m->used[k]);
    for (uint32_t i = 0; i < point->ngiven; i++)
        if (m->thread[point->given[i]] == 0)
            m->map[point->given[i]] = next_register(m, &r, core_var_type(m->from, point->given[i]));
    for (uint32_t t = 0; t < m->nthreads; t++)
        if (point->versions[t])
            m->map[point->versions[t] - 1] = var_atom(m, m->threads[t].now);
    for (uint32_t i = 0; i < point->read.n; i++) {
        const CoreType type = core_var_type(m->from, point->read.at[i]);
        if (point->framed) {
            const CoreAtom slot = build_var(&m->b, core_scalar(part_scalar(m, stack_part(type))), NULL);
            vec_push(m->scratch, &point->slots, slot.var);
            m->map[point->read.at[i]] = type.rank > 0 ? slot : stack_convert(m, slot, type.scalar);
        } else {
            m->map[point->read.at[i]] = next_register(m, &r, type);
        }
    }
    for (uint32_t i = point->framed ? point->read.n : 0; i-- > 0;)
        if (core_var_type(m->from, point->read.at[i]).rank > 0)
            m->map[point->read.at[i]] =
                pop_array(m, core_var_type(m->from, point->read.at[i]).scalar, m->map[point->read.at[i]]);
    for (uint32_t i = 0; i < point->parts.n; i++) {
        CoreStmt part = *m->parts[point->parts.at[i]];
        part.site = CORE_NO_SITE; /* it has been checked */
        copy_stmt(m, &part);
    }
}

static void emit_point(Machine *m, Point *point)
{
    point->code = m->b.out = core_new_block(m->p);
    m->popped = point->framed;
    enter_point(m, point);
    if (m->impossible)
        return;
    if (point->loop)
        emit_round(m, point);
    else
        emit_rest(m, &point->rest);
}

void stack_first_point(Machine *m, const CoreVar *given, uint32_t ngiven)
{
    Point *point = new_point(m, given, ngiven, (Rest){.block = m->from->body});
    for (uint32_t i = 0; i < ngiven && !m->impossible; i++)
        if (m->by_value)
            m->impossible |= core_var_type(m->from, given[i]).rank > MOST_RANK;
        else
            note_live(m, point, given[i], true);
}

void stack_emit_points(Machine *m)
{
    Registers r = {0};
    for (uint32_t i = 0; i < m->from->nresults; i++)
        m->impossible |= stack_in_register(m, i) && m->from->results[i].rank > MOST_RANK;
    if (m->impossible)
        return;
    for (uint32_t i = 0; i < m->from->nresults; i++) /* what it returns, even if no call is given that */
        if (stack_in_register(m, i))
            next_register(m, &r, m->from->results[i]);
    for (uint32_t i = 0; i < m->points.n && !m->impossible; i++)
        emit_point(m, m->points.at[i]);
}
