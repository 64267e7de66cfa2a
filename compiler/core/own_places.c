/* A scatter that reads no more of the array that it changes than the element whose place its own value takes can change
 * it where it is. A part of the array that it goes over in the same order is read so:
 *
 *     old = slice xs from to                               check 0 <= from <= to <= length xs
 *     scatter into (xs) n at k (x <- old, y <- ys)   ==>   scatter into (xs) n at k (y <- ys) { at = add from k;
 *         { … x … -> add from k, v }                           x = index xs at; … x … -> at, v }
 *
 * So `xs with [a:b] = map2 (+) xs[a:b] ys` copies nothing. Lanes (lane_last.c) and the plan (plan/lower_launch.c) ask
 * core_reads_own_place().
 *
 * Likewise, what reads the array behind a change stands in front of it: (xs with [i] = y, xs[i]), or
 * (xs with [i] = x, ys with [i] = f xs), or what a loop makes of xs, and another one reads. */
#include "core/build.h"
#include "core/passes.h"
#include "support/paged.h"

#include <string.h>

/* MOST_BEHIND: statements; MOST_NAMES: of an array; MOST_ASKED: updates of a function whose check stands alone then,
 * by CHECK_VARS variables. */
enum { MOST_BEHIND = 32, MOST_NAMES = 3, MOST_ASKED = 256, CHECK_VARS = 4 };

/* ---- what is asked ---- */

bool core_is_place(const CoreStmt *s, CoreAtom at, CoreAtom from)
{
    if (at.is_const || s->soac.index == CORE_NO_VAR)
        return false;
    const CoreAtom position = core_var_atom(s->soac.index, core_scalar(SC_I64));
    const CoreStmt *sum = core_as_prim(core_block_def(s->soac.body, at), PRIM_ADD);
    return sum ? core_is_prim2(sum, PRIM_ADD, from, position) || core_is_prim2(sum, PRIM_ADD, position, from)
               : at.var == position.var && from.is_const && from.bits == 0;
}

typedef struct OwnReads {
    CoreVar array;
    CoreAtom at;
    uint32_t n;
} OwnReads;

static void count_own_reads(void *ctx, CoreBlock *b)
{
    OwnReads *own = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        own->n += s->kind == CORE_INDEX && !s->index.array.is_const && s->index.array.var == own->array &&
                  core_atom_equal(s->index.index, own->at);
        core_stmt_blocks(s, count_own_reads, own);
    }
}

bool core_reads_only_at(CoreBlock *b, CoreVar array, CoreAtom at)
{
    OwnReads own = {array, at, 0};
    CoreUses uses = {array, 0};
    count_own_reads(&own, b);
    core_block_atoms(b, core_count_use, &uses);
    return uses.n == own.n;
}

bool core_reads_own_place(const CoreStmt *s, CoreAtom dest)
{
    const CoreAtom at = s->soac.body->results[0];
    const CoreStmt *sum = at.is_const ? NULL : core_as_prim(core_block_def(s->soac.body, at), PRIM_ADD);
    bool own = core_is_place(s, at, core_i64(0));
    for (uint32_t i = 0; sum && !own && i < 2; i++)
        own = core_is_place(s, at, sum->prim.args[i]) && !core_soac_binds(s, sum->prim.args[i]);
    return own && !dest.is_const && core_reads_only_at(s->soac.body, dest.var, at);
}

/* ---- rewriting ---- */

typedef struct Places {
    CoreBuilder b;
    PagedTable makers; /* CoreStmt * by variable */
    uint32_t asked;
    bool any;
} Places;

static CoreStmt **maker(const Places *p, CoreVar v) { return paged_at(&p->makers, v); }

/* The part of the destination that begins where the scatter stores its first value, or all of it; `from`: where. */
static bool is_own_part(const Places *p, const CoreStmt *s, CoreAtom input, CoreAtom *array, CoreAtom *from)
{
    const CoreStmt *slice = input.is_const ? NULL : *maker(p, input.var);
    const bool part = slice && slice->kind == CORE_SLICE;
    *array = part ? slice->slice.array : input;
    *from = part ? slice->slice.from : core_i64(0);
    bool dest = false;
    for (uint32_t i = 0; i < s->nvars; i++)
        dest |= core_atom_equal(s->soac.dests[i], *array);
    return dest && core_is_place(s, s->soac.body->results[0], *from);
}

/* Element `at` of the array, in front of the body, instead of an input's. */
static void read_there(Places *p, CoreVar element, CoreAtom array, CoreAtom at)
{
    CoreStmt *read = build_stmt_into(&p->b, CORE_INDEX, 1, &element);
    read->index.array = array;
    read->index.index = at;
    build_emit(&p->b, read);
}

/* Where the scatter stores, in front of its body. */
static CoreAtom emit_place(Places *p, const CoreSoac *soac, CoreAtom from)
{
    const CoreAtom position = build_atom(&p->b, soac->index);
    return from.is_const && from.bits == 0 ? position : build_prim2(&p->b, PRIM_ADD, from, position);
}

static void read_own(Places *p, CoreStmt *s)
{
    CoreSoac *soac = &s->soac;
    CoreBlock front = {0}, *outer = p->b.out;
    CoreAtom array, from, at = core_i64(0);
    uint32_t kept = 0;
    p->b.out = &front;
    p->b.span = s->span;
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        const CoreVar element = soac->elements[i];
        if (!is_own_part(p, s, soac->inputs[i], &array, &from)) {
            soac->inputs[kept] = soac->inputs[i];
            soac->elements[kept++] = element;
            continue;
        }
        at = at.is_const ? emit_place(p, soac, from) : at;
        read_there(p, element, array, at);
    }
    p->b.out = outer;
    p->any |= kept < soac->ninputs;
    soac->ninputs = kept;
    if (at.is_const)
        return;
    core_put_in_front(p->b.p, soac->body, &front);
    soac->body->results[0] = at;
}

/* ---- reads behind changes ---- */

/* Statements of a block from a change on that are to stand in front of it. */
typedef struct Moved {
    CoreStmt *stmts[MOST_BEHIND + 1];
    uint32_t n; /* the last of the block first */
} Moved;

static bool is_bound(void *by, CoreAtom a) { return !a.is_const && core_stmt_binds(by, a.var); }

static bool is_needed(const Moved *m, CoreStmt *s)
{
    for (uint32_t k = 0; k < m->n; k++)
        if (core_stmt_reads(m->stmts[k], is_bound, s))
            return true;
    return false;
}

/* Statement `at` and what it needs, with all checks or none, if none of that is made of the change. */
static bool find_needed(Moved *m, const CoreBlock *b, uint32_t change, uint32_t at, bool checks)
{
    *m = (Moved){.stmts = {b->stmts.at[at]}, .n = 1};
    for (uint32_t i = at; i-- > change;)
        if ((checks && b->stmts.at[i]->kind == CORE_CHECK) || is_needed(m, b->stmts.at[i]))
            m->stmts[m->n++] = b->stmts.at[i];
    return m->stmts[m->n - 1] != b->stmts.at[change];
}

/* An element that is read is there if the change is of the same place, which is looked at. */
static bool is_same_place(const CoreStmt *s, const CoreStmt *change)
{
    return change->kind == CORE_UPDATE && s->kind == CORE_INDEX && s->site != CORE_NO_SITE &&
           core_atom_equal(change->update.index, s->index.index) &&
           core_atom_equal(change->update.array, s->index.array);
}

/* Is what moves a call, with the numbers that it is given? */
static bool is_call_alone(const Moved *m)
{
    bool alone = m->stmts[0]->kind == CORE_CALL;
    for (uint32_t k = 1; k < m->n; k++)
        alone &= m->stmts[k]->kind == CORE_PRIM;
    return alone;
}

/* What fails first fails first: what can fail does not move in front of what can. And elements that are read there
 * without a look may be known to be there because of a check that stays behind; nothing is known because of what a
 * loop's body or a function checks, or because of the change, if that is of the same place. */
static bool fails_in_order(const Places *p, const CoreBlock *b, uint32_t change, uint32_t at, const Moved *m)
{
    const bool same = is_same_place(b->stmts.at[at], b->stmts.at[change]), apart = is_call_alone(m) || same;
    bool stays = false, checks = false;
    uint32_t next = m->n;
    for (uint32_t i = change; i <= at; i++) {
        const CoreStmt *s = b->stmts.at[i];
        const bool moves = next > 0 && m->stmts[next - 1] == s, fails = core_stmt_fallible(p->b.p, p->b.fn, s);
        next -= moves;
        if (moves && (checks || (stays && fails)))
            return false;
        stays |= !moves && fails && !(i == change && same);
        checks |= !moves && fails && s->kind != CORE_LOOP && !(i == change && apart);
    }
    return true;
}

static void move_before(const CoreBlock *b, uint32_t change, uint32_t at, const Moved *m)
{
    uint32_t to = at, next = 0;
    for (uint32_t i = at + 1; i-- > change;) {
        if (next < m->n && m->stmts[next] == b->stmts.at[i])
            next++;
        else
            b->stmts.at[to--] = b->stmts.at[i];
    }
    for (uint32_t k = 0; k < m->n; k++)
        b->stmts.at[to--] = m->stmts[k];
}

typedef struct PartOf {
    Places *p;
    CoreAtom array;
} PartOf;

static bool is_part_of(void *ctx, CoreAtom a)
{
    const PartOf *of = ctx;
    while (!core_atom_equal(a, of->array)) {
        const CoreStmt *s = a.is_const || core_atom_type(of->p->b.fn, a).rank == 0 ? NULL : *maker(of->p, a.var);
        if (!s || (s->kind != CORE_INDEX && s->kind != CORE_SLICE && s->kind != CORE_ATOM))
            return false;
        a = s->kind == CORE_INDEX ? s->index.array : s->kind == CORE_SLICE ? s->slice.array : s->atom;
    }
    return true;
}

/* The k-th array that it changes: as its state, if it is a loop; or that one of its branches hands on, of which the
 * other one makes something else. False: there are not so many. */
static bool changes_at(const CoreStmt *s, uint32_t k, CoreAtom *array)
{
    uint32_t n = 1;
    if (s->kind == CORE_LOOP) {
        n = s->loop.nparams;
        *array = k < n ? s->loop.inits[k] : core_i64(0);
    } else if (s->kind == CORE_IF) {
        n = 2 * s->nvars;
        const CoreAtom *results = k % 2 ? s->if_.else_b->results : s->if_.then_b->results;
        const bool either = k < n && !core_atom_equal(s->if_.then_b->results[k / 2], s->if_.else_b->results[k / 2]);
        *array = either ? results[k / 2] : core_i64(0);
    } else {
        *array = core_stmt_changes(s);
    }
    return k < n;
}

static bool is_changed(const CoreStmt *s, CoreAtom array)
{
    CoreAtom changed;
    for (uint32_t k = 0; changes_at(s, k, &changed); k++)
        if (core_atom_equal(changed, array))
            return true;
    return false;
}

/* Does s read, and not change, the array, or one that branches hand on as that? */
static bool reads_array(Places *p, CoreAtom array, CoreStmt *s, uint32_t depth)
{
    if (array.is_const || core_atom_type(p->b.fn, array).rank == 0 || is_changed(s, array))
        return false;
    if (core_stmt_reads(s, is_part_of, &(PartOf){p, array}))
        return true;
    const CoreStmt *either = *maker(p, array.var);
    if (!either || either->kind != CORE_IF || depth == 0)
        return false;
    const uint32_t k = core_stmt_result(either, array);
    return reads_array(p, either->if_.then_b->results[k], s, depth - 1) ||
           reads_array(p, either->if_.else_b->results[k], s, depth - 1);
}

/* Does s read, and not change, what the change is of? */
static bool reads_changed(Places *p, const CoreStmt *change, CoreStmt *s)
{
    CoreAtom array;
    for (uint32_t k = 0; changes_at(change, k, &array); k++)
        if (reads_array(p, array, s, MOST_NAMES))
            return true;
    return false;
}

/* What has to stand in front of the change that statement `at` may; false: it has to stay. */
static bool may_move(const Places *p, const CoreBlock *b, uint32_t change, uint32_t at, Moved *m)
{
    for (uint32_t checks = 0; checks < 2; checks++)
        if (find_needed(m, b, change, at, checks) && fails_in_order(p, b, change, at, m))
            return true;
    return false;
}

/* The same if the update's check stands alone, in front of both; then *at and *change are where they have got to. */
static bool may_move_behind_check(Places *p, CoreBlock *b, uint32_t *change, uint32_t *at, Moved *m)
{
    CoreStmt *s = b->stmts.at[*change];
    const uint32_t site = s->site;
    if (s->kind != CORE_UPDATE || site == CORE_NO_SITE || p->asked == MOST_ASKED)
        return false;
    s->site = CORE_NO_SITE;
    if (!may_move(p, b, *change, *at, m)) {
        s->site = site;
        return false;
    }
    CoreBlock check = {0}, *outer = p->b.out;
    p->b.out = &check;
    p->b.span = s->span;
    build_check_bounds(&p->b, site, s->update.index, build_length(&p->b, s->update.array));
    p->b.out = outer;
    p->asked++;
    const uint32_t n = check.stmts.n;
    for (uint32_t k = 0; k < n; k++)
        core_push(p->b.p, b, check.stmts.at[k]);
    memmove(b->stmts.at + *change + n, b->stmts.at + *change, (b->stmts.n - n - *change) * sizeof *b->stmts.at);
    memcpy(b->stmts.at + *change, check.stmts.at, n * sizeof *b->stmts.at);
    *change += n;
    *at += n;
    return true;
}

/* In front of the first change of what it reads, or has a part of, with what it needs. */
static void read_before(Places *p, CoreBlock *b, uint32_t at)
{
    CoreStmt *s = b->stmts.at[at];
    Moved moved;
    for (uint32_t i = at > MOST_BEHIND ? at - MOST_BEHIND : 0; i < at; i++) {
        if (!reads_changed(p, b->stmts.at[i], s))
            continue;
        if (may_move(p, b, i, at, &moved) || may_move_behind_check(p, b, &i, &at, &moved)) {
            if (is_same_place(s, b->stmts.at[i]))
                s->site = b->stmts.at[i]->site;
            move_before(b, i, at, &moved);
            return;
        }
    }
}

static void look_in_block(void *ctx, CoreBlock *b)
{
    Places *p = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        for (uint32_t k = 0; k < s->nvars; k++)
            *maker(p, s->vars[k]) = s;
        read_before(p, b, i);
    }
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        core_stmt_blocks(s, look_in_block, p);
        if (s->kind == CORE_SCATTER && s->soac.index != CORE_NO_VAR)
            read_own(p, s);
    }
}

bool core_own_places(CoreProgram *program)
{
    bool any = false;
    for (uint32_t i = 0; i < program->fns.n; i++) {
        CoreFn *fn = program->fns.at[i];
        Arena *scratch = arena_create();
        Places p = {.b = {.p = program, .fn = fn},
                    .makers = paged_create(scratch, fn->vars.n + 1 + MOST_ASKED * CHECK_VARS, sizeof(CoreStmt *))};
        look_in_block(&p, fn->body);
        any |= p.any;
        arena_destroy(scratch);
    }
    return any;
}
