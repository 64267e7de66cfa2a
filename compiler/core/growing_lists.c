/* Lists that a loop's rounds append to are a buffer and how many elements of it there are:
 *
 *     rs = loop (rs = xs) … { … y = if c then { a = rs ++ [x]; -> a } else { u = update rs, i, z; -> u }; -> y }
 *   ==>
 *     buf, n = loop (buf = xs, n = length xs) … { … buf', n' = if c then {
 *                  room = if n + 1 > length buf then twice as much, with what there is, else buf
 *                  b = update room, n, x; -> b, n + 1 } else { u = update buf, i, z; -> u, n }; -> buf', n' }
 *     rs = slice buf, 0, n
 *
 * Without its last elements a list is the same buffer, also where nothing is appended. An append is a map over all of
 * the list; an update happens in place, so n appends take n and not n² steps. What is more than a few elements is
 * stored by a scatter, which may read the list that it is made of. Where each round of a counted loop appends as many,
 * the buffer has room for all of them from the beginning; in parallel code also where a loop has a round for each
 * element of an array of the instance's. What needs a list as a whole gets the slice. */
#include "core/callgraph.h"
#include "core/growing_lists_internal.h"
#include "core/passes.h"

enum { MOST_ITEMS = 4, MOST_TURNS = 4 };
#define UNKNOWN UINT32_MAX

static List *list_of(const Lists *l, CoreAtom a)
{
    return !a.is_const && a.var < l->nvars && l->lists[a.var].root ? &l->lists[a.var] : NULL;
}

static void note_vars(void *ctx, CoreBlock *b)
{
    Lists *l = ctx;
    const bool outer = l->parallel;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        for (uint32_t k = 0; k < s->nvars; k++)
            l->inside[s->vars[k]] = outer;
        for (uint32_t k = 0; soac && k < soac->ninputs; k++)
            l->inside[soac->elements[k]] = true;
        l->parallel = outer || soac;
        core_stmt_blocks(s, note_vars, l);
        l->parallel = outer;
    }
}

/* ---- appends ---- */

/* Behind updates. */
static CoreAtom before_updates(const Lists *l, CoreAtom a)
{
    const CoreStmt *s = list_maker(l, a);
    for (; s && (s->kind == CORE_UPDATE || s->kind == CORE_ATOM); s = list_maker(l, a))
        a = s->kind == CORE_UPDATE ? s->update.array : s->atom;
    return a;
}

/* Has this question been here? */
static bool visited(const Lists *l, CoreAtom x, CoreVar with)
{
    struct Visits *v = l->visits;
    const bool before = v->at[x.var] == v->now && v->with[x.var] == with;
    v->at[x.var] = v->now;
    v->with[x.var] = with;
    return before;
}

static bool alike_from(const Lists *l, CoreAtom x, CoreAtom y)
{
    x = before_updates(l, x);
    y = before_updates(l, y);
    if (x.is_const || y.is_const)
        return false;
    const CoreStmt *a = list_maker(l, x), *b = list_maker(l, y);
    if (x.var < l->nvars && y.var < l->nvars && l->alike[x.var] && l->alike[x.var] == l->alike[y.var])
        return true;
    if (!a || !b || a->kind != b->kind)
        return false;
    if (a->kind == CORE_ARRAY)
        return a->array.n == b->array.n;
    if (a->kind == CORE_MAP)
        return !a->soac.guard && !b->soac.guard && core_atom_equal(a->soac.domain, b->soac.domain);
    if (a->kind != CORE_IF || a != b)
        return false;
    const uint32_t i = core_stmt_result(a, x), j = core_stmt_result(a, y);
    return visited(l, x, y.var) || (alike_from(l, a->if_.then_b->results[i], a->if_.then_b->results[j]) &&
                                    alike_from(l, a->if_.else_b->results[i], a->if_.else_b->results[j]));
}

/* Do both have one length, as sequences that are made for so many, or the state of a loop that keeps them alike? */
static bool are_alike(const Lists *l, CoreAtom x, CoreAtom y)
{
    l->visits->now++;
    return alike_from(l, x, y);
}

/* What the loop's state has in common: it is taken to be so, and rounds are asked. */
static void note_alike(Lists *l, const CoreStmt *s)
{
    const uint32_t n = s->loop.nparams;
    for (uint32_t k = 0; k < n; k++) {
        l->alike[s->loop.params[k]] = 0;
        if (core_var_type(l->b.fn, s->loop.params[k]).rank == 0)
            continue;
        l->alike[s->loop.params[k]] = k + 1;
        for (uint32_t m = 0; m < k; m++)
            if (l->alike[s->loop.params[m]] == m + 1 && are_alike(l, s->loop.inits[k], s->loop.inits[m]))
                l->alike[s->loop.params[k]] = m + 1;
    }
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t with = l->alike[s->loop.params[k]];
            if (with == 0 || with == k + 1 || are_alike(l, s->loop.body->results[k], s->loop.body->results[with - 1]))
                continue;
            l->alike[s->loop.params[k]] = k + 1;
            again = true;
        }
    }
}

/* Is n the length of all of it? */
static bool is_whole_length(const Lists *l, CoreAtom xs, CoreAtom n)
{
    const CoreStmt *length = list_maker(l, n);
    return core_is_length(&l->makers, xs, n) ||
           (length && length->kind == CORE_LENGTH && are_alike(l, xs, length->length.array));
}

static Append append_of(const Lists *l, const CoreStmt *map, uint32_t k)
{
    CoreAppend append;
    if (!core_as_append(map, k, &append))
        return (Append){.is = false};
    const CoreStmt *items = list_literal(l, append.right);
    CoreAtom more;
    if ((l->rows && !is_whole_length(l, append.left, append.length)) ||
        !core_append_more(&l->makers, map->soac.domain, append.length, &more) ||
        core_atom_equal(more, append.length)) /* a list that doubles is copied even so */
        return (Append){.is = false};
    const bool few =
        items && items->array.n > 0 && items->array.n <= MOST_ITEMS && core_atom_equal(more, core_i64(items->array.n));
    return (Append){true, few ? items : NULL, append.left, append.right, append.length, more};
}

/* ---- which ---- */

/* Are such variables looked at? */
static bool grows(const Lists *l, CoreVar v)
{
    const uint8_t rank = core_var_type(l->b.fn, v).rank;
    return l->rows ? rank > 1 : rank == 1;
}

static void mark(Lists *l, CoreVar v, uint32_t root) { l->lists[v].root = grows(l, v) ? root : 0; }

static uint32_t root_of(const Lists *l, CoreAtom a)
{
    const List *list = list_of(l, a);
    return list ? list->root : 0;
}

static void mark_block(void *ctx, CoreBlock *b);

/* One of both. */
static void mark_either(Lists *l, CoreVar v, uint32_t root, uint32_t other)
{
    if (root != other && root > 0)
        l->mixed[root - 1] = true;
    if (root != other && other > 0)
        l->mixed[other - 1] = true;
    mark(l, v, root ? root : other);
}

static void mark_append(Lists *l, CoreStmt *s)
{
    Append appends[MOST_LISTS];
    if (s->nvars > MOST_LISTS)
        return;
    for (uint32_t k = 0; k < s->nvars; k++) {
        appends[k] = append_of(l, s, k);
        if (!appends[k].is || !root_of(l, appends[k].list))
            return;
    }
    for (uint32_t k = 0; k < s->nvars; k++) {
        const uint32_t root = root_of(l, appends[k].list);
        const CoreStmt *items = appends[k].items;
        uint32_t *most = &l->most[root - 1];
        mark(l, s->vars[k], root);
        if (l->rows)
            rows_note_append(l, root, &appends[k]);
        *most = !items || l->rounds > 0 || *most == UNKNOWN ? UNKNOWN : *most + items->array.n;
    }
}

/* A list without its last elements is one. */
static bool is_front(const CoreStmt *s)
{
    return s->kind == CORE_SLICE && s->slice.from.is_const && s->slice.from.bits == 0;
}

static void mark_stmt(Lists *l, CoreStmt *s)
{
    switch (s->kind) {
    case CORE_UPDATE:
        mark(l, s->vars[0], root_of(l, s->update.array));
        if (l->rows && l->lists[s->vars[0]].root)
            rows_note_update(l, l->lists[s->vars[0]].root, s);
        break;
    case CORE_SLICE: mark(l, s->vars[0], is_front(s) ? root_of(l, s->slice.array) : 0); break;
    case CORE_MAP: mark_append(l, s); break;
    case CORE_IF:
        core_stmt_blocks(s, mark_block, l);
        for (uint32_t k = 0; k < s->nvars; k++)
            mark_either(l, s->vars[k], root_of(l, s->if_.then_b->results[k]), root_of(l, s->if_.else_b->results[k]));
        break;
    case CORE_LOOP:
        for (uint32_t k = 0; k < s->loop.nparams; k++)
            mark(l, s->loop.params[k], root_of(l, s->loop.inits[k]));
        l->rounds++;
        core_stmt_blocks(s, mark_block, l);
        l->rounds--;
        for (uint32_t k = 0; k < s->nvars; k++) {
            const uint32_t root = l->lists[s->loop.params[k]].root;
            mark_either(l, s->vars[k], root, root_of(l, s->loop.body->results[k]));
            mark(l, s->vars[k], root); /* what the state is */
        }
        break;
    default: break;
    }
}

/* s, which appends to a list what its body computes of the position behind that, appends an array instead, which is
 * made in front of it. */
static void make_piece(Lists *l, CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    CoreAppend append;
    CoreAtom more;
    if (core_as_append(s, 0, &append))
        return;
    CoreBlock *behind = core_as_open_append(s, &append);
    if (!behind || !root_of(l, append.left) || !core_append_more(&l->makers, s->soac.domain, append.length, &more))
        return;
    CoreStmt *position = behind->stmts.at[0];
    CoreSoac soac = {.domain = more, .index = position->vars[0], .body = core_new_block(b->p)};
    for (uint32_t i = 1; i < behind->stmts.n; i++)
        core_push(b->p, soac.body, behind->stmts.at[i]);
    build_results(b, soac.body, behind->results, behind->nresults);
    b->span = s->span;
    const CoreAtom *pieces = build_map(b, soac);
    CoreBlock *outer = build_begin(b);
    const CoreAtom at = build_prim2(b, PRIM_SUB, position->prim.args[0], append.length);
    CoreAtom *elements = build_atoms_copy(b, behind->results, behind->nresults, behind->nresults);
    for (uint32_t k = 0; k < behind->nresults; k++)
        elements[k] = build_index(b, pieces[k], at, CORE_NO_SITE);
    s->soac.body->stmts.at[1]->if_.else_b = build_end(b, outer, elements, behind->nresults);
}

static void mark_block(void *ctx, CoreBlock *b)
{
    Lists *l = ctx;
    CoreBlock *outer = l->b.out, old = core_take_stmts(b);
    l->b.out = b;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        make_piece(l, old.stmts.at[i]);
        core_push(l->b.p, b, old.stmts.at[i]);
        mark_stmt(l, old.stmts.at[i]);
    }
    l->b.out = outer;
}

/* Does every round append all that parameter k may get? */
static bool always_appends(const Lists *l, const CoreStmt *loop, uint32_t k)
{
    CoreAtom a = loop->loop.body->results[k];
    uint32_t n = 0;
    while (!a.is_const && a.var != loop->loop.params[k]) {
        const CoreStmt *s = core_block_def(loop->loop.body, a);
        const Append append =
            s && s->kind == CORE_MAP ? append_of(l, s, core_stmt_result(s, a)) : (Append){.is = false};
        if ((append.is && !append.items) || (!append.is && !(s && s->kind == CORE_UPDATE)))
            return false;
        n += append.items ? append.items->array.n : 0;
        a = append.items ? append.list : s->update.array;
    }
    return n == l->most[k];
}

/* For how many elements a round there had better be room from the beginning: for all, if they come, or if there are as
 * many rounds as elements of something that the instance has. */
static uint32_t room_for_each(const Lists *l, const CoreStmt *loop, uint32_t k)
{
    const CoreStmt *count = list_maker(l, loop->loop.count);
    const bool by_element = l->parallel && count && count->kind == CORE_LENGTH && l->inside[count->length.array.var];
    const bool known =
        !loop->loop.cond && l->most[k] != UNKNOWN && !l->mixed[k] && (by_element || always_appends(l, loop, k));
    return known ? l->most[k] : 0;
}

static void note_bound(void *ctx, CoreVar *v)
{
    Lists *l = ctx;
    if (*v < l->nvars)
        l->bound[*v] = l->looked;
}

static void forget_block(void *ctx, CoreBlock *b)
{
    Lists *l = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        core_stmt_binders(s, note_bound, l);
        for (uint32_t k = 0; k < s->nvars; k++) {
            note_bound(l, &s->vars[k]);
            if (s->vars[k] < l->nvars)
                l->lists[s->vars[k]].root = 0;
        }
        for (uint32_t k = 0; s->kind == CORE_LOOP && k < s->loop.nparams; k++)
            if (s->loop.params[k] < l->nvars)
                l->lists[s->loop.params[k]].root = 0;
        core_stmt_blocks(s, forget_block, l);
    }
}

static bool shorter_from(const Lists *l, CoreAtom a)
{
    const CoreStmt *s = root_of(l, a) ? list_maker(l, a) : NULL;
    CoreAppend append;
    if (!s || visited(l, a, CORE_NO_VAR))
        return false;
    const uint32_t k = core_stmt_result(s, a);
    switch (s->kind) {
    case CORE_SLICE: return true;
    case CORE_ATOM: return shorter_from(l, s->atom);
    case CORE_UPDATE: return shorter_from(l, s->update.array);
    case CORE_MAP: return core_as_append(s, k, &append) && shorter_from(l, append.left);
    case CORE_LOOP: return shorter_from(l, s->loop.body->results[k]);
    case CORE_IF: return shorter_from(l, s->if_.then_b->results[k]) || shorter_from(l, s->if_.else_b->results[k]);
    default: return false;
    }
}

/* Is the list made of one without its last elements? */
static bool gets_shorter(const Lists *l, CoreAtom a)
{
    l->visits->now++;
    return shorter_from(l, a);
}

/* Marks what is a list; false: nothing grows. */
static bool find_lists(Lists *l, CoreStmt *s)
{
    bool keep[MOST_LISTS], any = true, changed = true;
    if (s->loop.nparams > MOST_LISTS || (l->rows && (l->parallel || s->loop.long_rows)))
        return false;
    l->looked++;
    core_stmt_binders(s, note_bound, l);
    note_alike(l, s);
    for (uint32_t k = 0; k < s->loop.nparams; k++) { /* other rows would be taken apart in each round around */
        const bool once = l->around == 0 || list_literal(l, s->loop.inits[k]);
        keep[k] = grows(l, s->loop.params[k]) && (once || !l->rows);
    }
    while (changed && any) {
        changed = any = false;
        forget_block(l, s->loop.body);
        for (uint32_t k = 0; k < s->loop.nparams; k++) {
            l->most[k] = 0;
            l->mixed[k] = false;
            rows_note_begin(l, k + 1, s->loop.inits[k]);
            mark(l, s->loop.params[k], keep[k] ? k + 1 : 0);
        }
        mark_block(l, s->loop.body);
        for (uint32_t k = 0; k < s->loop.nparams; k++)
            if (root_of(l, s->loop.body->results[k]) != k + 1)
                l->mixed[k] = true;
        for (uint32_t k = 0; k < s->loop.nparams; k++)
            l->regular[k] &= !l->mixed[k];
        for (uint32_t k = 0; k < s->loop.nparams; k++) {
            l->each[k] = keep[k] && !l->rows ? room_for_each(l, s, k) : 0;
            const bool stays = keep[k] && (l->most[k] > 0 || gets_shorter(l, s->loop.body->results[k])) &&
                               root_of(l, s->loop.body->results[k]) > 0 && !(l->replaced[k] && !l->regular[k]);
            changed |= stays != keep[k];
            any |= stays;
            keep[k] = stays;
        }
    }
    return any;
}

/* ---- rewriting ---- */

static void set_list(Lists *l, CoreVar v, CoreAtom buffer, CoreAtom length)
{
    l->lists[v].buffer = buffer;
    l->lists[v].length = length;
}

static CoreAtom whole(Lists *l, CoreAtom a)
{
    const List *list = list_of(l, a);
    if (list && l->rows)
        return rows_of(l, list);
    return list ? build_piece(&l->b, list->buffer, core_i64(0), list->length) : a;
}

static void use_whole(void *ctx, CoreAtom *a) { *a = whole(ctx, *a); }

/* An array as a buffer that is full, of a list with this root. */
static List as_list(Lists *l, uint32_t root, CoreAtom a)
{
    const List *list = list_of(l, a);
    if (!list && l->rows)
        return rows_as_list(l, root, a);
    return list ? *list : (List){0, a, build_length(&l->b, a)};
}

/* A buffer with room for n elements more. */
static CoreAtom room_for(Lists *l, const List *list, CoreAtom n)
{
    CoreBuilder *b = &l->b;
    if (l->each[list->root - 1] > 0) /* from the beginning */
        return list->buffer;
    const CoreAtom needed = build_prim2(b, PRIM_ADD, list->length, n);
    const CoreAtom buffer = build_room_for(b, list->buffer, list->length, needed);
    (void)build_length(b, buffer); /* if anybody asks later: then that need not be kept */
    return buffer;
}

static void rewrite_append(Lists *l, const CoreStmt *s, uint32_t k)
{
    const Append a = append_of(l, s, k);
    const List *list = list_of(l, a.list);
    if (l->rows) {
        const List grown = rows_with(l, list, &a, a.items ? a.right : whole(l, a.right));
        set_list(l, s->vars[k], grown.buffer, grown.length);
        return;
    }
    const List old = {list->root, list->buffer, a.length};
    CoreAtom buffer = room_for(l, &old, a.more), length = a.length;
    for (uint32_t i = 0; a.items && i < a.items->array.n; i++) {
        buffer = build_changed(&l->b, buffer, length, a.items->array.items[i]);
        length = build_prim2(&l->b, PRIM_ADD, length, core_i64(1));
    }
    if (!a.items) {
        buffer = build_stored(&l->b, buffer, a.length, whole(l, a.right), a.more);
        length = build_prim2(&l->b, PRIM_ADD, length, a.more);
    }
    set_list(l, s->vars[k], buffer, length);
}

static void rewrite_update(Lists *l, const CoreStmt *s)
{
    const List *list = list_of(l, s->update.array);
    build_check_bounds(&l->b, s->site, s->update.index, l->rows ? rows_count(l, list) : list->length);
    if (l->rows) {
        const List updated = rows_updated(l, list, s);
        set_list(l, s->vars[0], updated.buffer, updated.length);
        return;
    }
    set_list(l, s->vars[0], build_changed(&l->b, list->buffer, s->update.index, s->update.value), list->length);
}

/* In the same buffer. */
static void rewrite_front(Lists *l, const CoreStmt *s)
{
    const List *list = list_of(l, s->slice.array);
    build_check_slice(&l->b, s->site, s->slice.from, s->slice.to, l->rows ? rows_count(l, list) : list->length);
    const List front = l->rows ? rows_front(l, list, s->slice.to) : (List){list->root, list->buffer, s->slice.to};
    set_list(l, s->vars[0], front.buffer, front.length);
}

static bool is_list(void *ctx, CoreVar v)
{
    const Lists *l = ctx;
    return v < l->nvars && l->lists[v].root;
}

static uint32_t make_list(void *ctx, CoreVar v, CoreVar *parts)
{
    Lists *l = ctx;
    const CoreType type = core_var_type(l->b.fn, v);
    const bool ends = l->rows && !l->regular[l->lists[v].root - 1];
    const CoreAtom buffer = build_var(&l->b, l->rows ? core_element(type) : type, NULL);
    const CoreAtom length = build_var(&l->b, (CoreType){.scalar = SC_I64, .rank = ends ? 1 : 0}, NULL);
    set_list(l, v, buffer, length);
    parts[0] = buffer.var;
    parts[1] = length.var;
    return 2;
}

static uint32_t list_parts(void *ctx, CoreVar v, CoreAtom a, CoreAtom *parts)
{
    Lists *l = ctx;
    const List list = as_list(l, l->lists[v].root, a);
    parts[0] = list.buffer;
    parts[1] = list.length;
    return 2;
}

static CoreAtom whole_of(void *ctx, CoreAtom a) { return whole(ctx, a); }

/* An element of a list, or its length; false: it is another statement. */
static bool rewrite_access(Lists *l, CoreStmt *s)
{
    const List *list = s->kind == CORE_LENGTH  ? list_of(l, s->length.array)
                       : s->kind == CORE_INDEX ? list_of(l, s->index.array)
                                               : NULL;
    if (!list)
        return false;
    const CoreAtom n = l->rows ? rows_count(l, list) : list->length;
    if (s->kind == CORE_LENGTH) {
        build_named(&l->b, s->vars[0], n);
        return true;
    }
    build_check_bounds(&l->b, s->site, s->index.index, n);
    s->site = CORE_NO_SITE;
    if (l->rows) {
        build_named(&l->b, s->vars[0], rows_at(l, list, s->index.index));
        return true;
    }
    s->index.array = list->buffer;
    core_push(l->b.p, l->b.out, s);
    return true;
}

/* What parallel operations read of lists of rows. */
static void rewrite_inside(void *ctx, CoreBlock *b)
{
    Lists *l = ctx;
    CoreBlock *outer = l->b.out, old = core_take_stmts(b);
    l->b.out = b;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        l->b.span = old.stmts.at[i]->span;
        if (rewrite_access(l, old.stmts.at[i]))
            continue;
        core_stmt_blocks(old.stmts.at[i], rewrite_inside, l);
        core_push(l->b.p, b, old.stmts.at[i]);
    }
    l->b.out = outer;
}

/* xs[i] with [j] = x, of a list of rows. */
static bool is_change_of_row(const Lists *l, const CoreStmt *s)
{
    const CoreStmt *row = s->kind == CORE_UPDATE ? list_maker(l, s->update.array) : NULL;
    return row && row->kind == CORE_INDEX && list_of(l, row->index.array);
}

static void rewrite_stmt(void *ctx, CoreStmt *s)
{
    Lists *l = ctx;
    l->b.span = s->span;
    if (rewrite_access(l, s))
        return;
    if (s->kind == CORE_MAP && s->nvars > 0 && is_list(l, s->vars[0])) {
        for (uint32_t k = 0; k < s->nvars; k++)
            rewrite_append(l, s, k);
    } else if (s->kind == CORE_UPDATE && list_of(l, s->update.array)) {
        rewrite_update(l, s);
    } else if (is_front(s) && list_of(l, s->slice.array)) {
        rewrite_front(l, s);
    } else if (s->kind == CORE_IF) {
        split_if(&l->split, s);
    } else if (s->kind == CORE_LOOP) {
        split_loop(&l->split, s, NULL);
    } else {
        if (l->rows && is_change_of_row(l, s)) { /* nobody may want it as a whole */
            build_check_bounds(&l->b, s->site, s->update.index, build_length(&l->b, s->update.array));
            s->site = CORE_NO_SITE;
        }
        if (l->rows)
            core_stmt_blocks(s, rewrite_inside, l);
        l->b.span = s->span;
        core_stmt_all_atoms(s, use_whole, l);
        core_push(l->b.p, l->b.out, s);
    }
}

/* What the loop's lists begin as, with room for all that its rounds append, where that is known. */
static CoreAtom *begin_lists(Lists *l, CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    uint32_t count;
    CoreAtom *inits = split_atoms(&l->split, s->loop.params, s->loop.inits, s->loop.nparams, &count);
    for (uint32_t k = 0, at = 0; k < s->loop.nparams; at += is_list(l, s->loop.params[k++]) ? 2 : 1) {
        if (!is_list(l, s->loop.params[k]) || l->each[k] == 0)
            continue;
        const CoreAtom rounds = build_prim2(b, PRIM_MAX, s->loop.count, core_i64(0));
        const CoreAtom more = build_prim2(b, PRIM_MUL, rounds, core_i64(l->each[k]));
        const CoreAtom room = build_prim2(b, PRIM_SIZE_ADD, inits[at + 1], more);
        inits[at] = build_append(b, room, inits[at], inits[at + 1], NULL);
    }
    return inits;
}

static void grow_in_block(void *ctx, CoreBlock *b);

/* Behind s, `late` goes on with the rows that there are; it binds vars. */
static void continue_loop(Lists *l, CoreStmt *s, CoreStmt *late, const CoreVar *vars, uint32_t n)
{
    for (uint32_t k = 0, at = 0; k < n; k++) {
        if (is_list(l, vars[k])) {
            late->loop.inits[k] = rows_of(l, &l->lists[vars[k]]);
            l->lists[vars[k]].root = 0;
            at += 2;
        } else {
            const CoreAtom left = build_var(&l->b, core_var_type(l->b.fn, vars[k]), NULL);
            s->vars[at++] = left.var;
            late->loop.inits[k] = left;
        }
        late->vars[k] = vars[k];
    }
    if (!late->loop.cond)
        late->loop.count = build_prim2(&l->b, PRIM_SUB, late->loop.count, build_atom(&l->b, s->vars[s->nvars - 1]));
    core_push(l->b.p, l->b.out, late);
}

static void grow_loop(Lists *l, CoreBlock *block, CoreStmt *s)
{
    const CoreVar *vars = s->vars;
    const uint32_t n = s->nvars;
    if (!find_lists(l, s)) {
        forget_block(l, s->loop.body);
        for (uint32_t k = 0; k < s->loop.nparams; k++)
            l->lists[s->loop.params[k]].root = 0;
        l->around++;
        core_stmt_blocks(s, grow_in_block, l);
        l->around--;
        core_push(l->b.p, block, s);
        return;
    }
    l->found = true;
    for (uint32_t k = 0; k < n; k++)
        l->lists[vars[k]].root = l->lists[s->loop.params[k]].root;
    l->b.out = block;
    l->b.span = s->span;
    CoreStmt *late = l->rows && rows_may_be_long(l, s) ? rows_go_on(l, s) : NULL;
    const CoreVar *params = s->loop.params;
    split_loop(&l->split, s, begin_lists(l, s));
    if (late) {
        rows_stop(l, s, params, late);
        continue_loop(l, s, late, vars, n);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        const CoreAtom v = core_var_atom(vars[k], core_var_type(l->b.fn, vars[k]));
        if (!list_of(l, v))
            continue;
        build_named(&l->b, vars[k], whole(l, v));
        l->lists[vars[k]].root = 0;
    }
}

static void grow_in_block(void *ctx, CoreBlock *b)
{
    Lists *l = ctx;
    const bool outer = l->parallel;
    CoreBlock *out = l->b.out, old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (s->kind == CORE_LOOP) {
            grow_loop(l, b, s);
            continue;
        }
        l->parallel = outer || core_stmt_soac(s);
        core_stmt_blocks(s, grow_in_block, l);
        l->parallel = outer;
        core_push(l->b.p, b, s);
    }
    l->b.out = out;
}

/* In loops, appends to lists of rows and of numbers by one map become one each. */
static void apart_in_block(void *ctx, CoreBlock *b)
{
    Lists *l = ctx;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        CoreAppend append;
        bool mixed = false, all = s->kind == CORE_MAP && s->nvars > 1;
        for (uint32_t k = 0; all && k < s->nvars; k++) {
            all = core_as_append(s, k, &append);
            mixed |= core_var_type(l->b.fn, s->vars[k]).rank != core_var_type(l->b.fn, s->vars[0]).rank;
        }
        l->around += s->kind == CORE_LOOP;
        core_stmt_blocks(s, apart_in_block, l);
        l->around -= s->kind == CORE_LOOP;
        const bool apart = all && mixed && l->around > 0;
        l->b.out = b;
        l->b.span = s->span;
        for (uint32_t k = 0; apart && k < s->nvars; k++) {
            (void)core_as_append(s, k, &append);
            (void)build_append(&l->b, s->soac.domain, append.left, append.length, &append.right);
            b->stmts.at[b->stmts.n - 1]->vars[0] = s->vars[k];
        }
        if (!apart)
            core_push(l->b.p, b, s);
    }
}

static bool grow_in_function(CoreProgram *p, CoreFn *fn, bool lifted, bool rows)
{
    Arena *scratch = arena_create();
    Lists l = {.b = {.p = p, .fn = fn}, .rows = rows, .parallel = lifted, .scratch = scratch};
    l.split = (SplitState){&l.b, &l, is_list, make_list, list_parts, whole_of, rewrite_stmt};
    apart_in_block(&l, fn->body);
    l.nvars = fn->vars.n;
    l.lists = arena_array(scratch, List, fn->vars.n + 1);
    l.alike = arena_array(scratch, uint32_t, fn->vars.n + 1);
    l.visits = arena_new(scratch, struct Visits);
    l.visits->at = arena_array(scratch, uint32_t, fn->vars.n + 1);
    l.visits->with = arena_array(scratch, CoreVar, fn->vars.n + 1);
    l.makers = core_makers_of(fn, scratch);
    l.inside = arena_array(scratch, bool, fn->vars.n + 1);
    l.bound = arena_array(scratch, uint32_t, fn->vars.n + 1);
    for (uint32_t i = 0; lifted && i < fn->nparams; i++)
        l.inside[fn->params[i]] = true;
    note_vars(&l, fn->body);
    grow_in_block(&l, fn->body);
    arena_destroy(scratch);
    return l.found;
}

/* Loops inside of loops that have become others are looked at again. */
bool core_growing_lists(CoreProgram *p, const bool *only)
{
    Arena *scratch = arena_create();
    const bool *lifted = core_lifted_functions(p, scratch);
    bool any = false;
    for (uint32_t i = 0; i < p->fns.n; i++)
        for (uint32_t rows = only && !only[i] ? 0 : 2; rows-- > 0;)
            for (uint32_t turn = 0; turn < MOST_TURNS && grow_in_function(p, p->fns.at[i], lifted[i], rows); turn++)
                any = true;
    arena_destroy(scratch);
    return any;
}
