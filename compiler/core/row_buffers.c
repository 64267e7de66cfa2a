/* Tables as the state of loops whose rounds append to rows, shorten them and look at them, such as stacks, or the
 * chains of a hash table: all rows lie in one array, each with room to grow.
 *
 *     t' = loop (t = xss) … { … row = index t i; … t1 = update t i (row ++ [x]) … -> t1 }
 *   ==>
 *     pool, starts, counts, rooms = loop (… = flatten xss, where rows begin, their lengths, and these again) … {
 *         c = index counts i;  … index pool (starts[i] + k) for row[k] …
 *         pool1, starts1, rooms1 = if c + 1 <= rooms[i] then { -> pool, starts, rooms } else {
 *             -> pool ++ row ++ twice as many zeros, update starts i (length pool), update rooms i 2 (c + 1) }
 *         pool2 = update pool1 (starts1[i] + c) x;  counts2 = update counts i (c + 1) … }
 *     t' = map n at i { the next counts[i] of pool from starts[i] on }
 *
 * So a row is not copied when it gets an element or loses its last ones. The pool is a list that grows
 * (growing_lists.c). What needs a row as a whole gets a copy of it. Behind `t with [i] = init t[i]`, t[j] is still
 * where it was; so rounds may move an element from one row to another. Of a table whose rows' elements are arrays, such
 * as lists of texts, the pool has their numbers in one list of all that was appended. */
#include "core/append.h"
#include "core/passes.h"
#include "core/split_state.h"

#include <string.h>

enum { MOST_PARAMS = 32, LEAST_ROOM = 4, MOST_STEPS = 8 };

/* What a version of a table is in the rewritten loop: the parts of its variable (split_state.h). */
typedef struct Buffer {
    CoreAtom pool, starts, counts, rooms;
    CoreAtom items; /* elements that are arrays */
} Buffer;

/* The first `n` elements of row `at` of a version, or all; or that with elements behind it. */
typedef struct Row {
    CoreVar table;
    CoreAtom at;
    bool cut, appended;
    bool beside; /* cut: to the length of a row beside it that gets elements at once, as in tables of records */
    CoreAtom n;  /* cut */
    CoreAtom items, more; /* appended: elements, and how many */
} Row;

/* How an update makes a version of the one before. PUSH, CUT: a row of the older version `of` with elements behind it,
 * or its first ones. CHANGE: an element. REPLACE: another row. */
typedef enum Kind { PUSH, CUT, CHANGE, REPLACE } Kind;
typedef struct Made {
    Kind kind;
    CoreVar before, of;
    bool shorter; /* PUSH: of a row that is cut */
} Made;

typedef struct Rows {
    CoreBuilder b;
    Arena *scratch;
    SplitState split;
    CoreMakers makers;
    uint32_t nvars;
    uint32_t *uses; /* by variable: how often it is read */
    uint32_t *root; /* by variable: 1 + which table of the loop it is a version of */
    Row **row;      /* by variable */
    Made **made;    /* by version that an update makes */
    Buffer *buffer; /* by version */
    bool *whole;    /* by variable: is it? */
    bool bad[MOST_PARAMS], pushed[MOST_PARAMS];
    bool again, any, parallel;
    uint32_t *seen;  /* by variable: in which of the loops that were looked at */
    uint32_t looked; /* how many of these there were */
    bool all;        /* tables of which rows are only replaced, too */
    uint32_t around; /* loops around */
} Rows;

static uint32_t root_of(const Rows *r, CoreAtom a) { return a.is_const || a.var >= r->nvars ? 0 : r->root[a.var]; }
static Row *row_of(const Rows *r, CoreAtom a) { return a.is_const || a.var >= r->nvars ? NULL : r->row[a.var]; }

/* ---- t with [i] = (if c then t[i] ++ [x] else t[i]) ==> if c then t with [i] = t[i] ++ [x] else t ---- */

/* Is it the row that the update is of? */
static bool is_row_of(const Rows *r, const CoreStmt *update, CoreAtom a)
{
    const CoreStmt *row = core_maker(&r->makers, a);
    return row && row->kind == CORE_INDEX && core_atom_equal(row->index.array, update->update.array) &&
           core_atom_equal(row->index.index, update->update.index);
}

/* … with elements behind it, or without its last ones? */
static bool is_longer_or_shorter(const Rows *r, const CoreStmt *update, CoreAtom a)
{
    const CoreStmt *s = core_maker(&r->makers, a);
    CoreAppend append;
    if (!s)
        return false;
    if (s->kind == CORE_SLICE)
        return is_row_of(r, update, s->slice.array);
    return s->kind == CORE_MAP && core_as_append(s, core_stmt_result(s, a), &append) &&
           is_row_of(r, update, append.left);
}

/* The `if` of block b that gives what the update stores, if that could stand in its branches; at: of the update. */
static CoreStmt *branches_of(const Rows *r, const CoreBlock *b, const CoreStmt *update, uint32_t at)
{
    const CoreAtom v = update->update.value, t = update->update.array, i = update->update.index;
    const CoreStmt *made = core_maker(&r->makers, v);
    if (!made || made->kind != CORE_IF || t.is_const || r->uses[v.var] != 1)
        return NULL;
    const uint32_t k = core_stmt_result(made, v);
    if (!is_longer_or_shorter(r, update, made->if_.then_b->results[k]) &&
        !is_longer_or_shorter(r, update, made->if_.else_b->results[k]))
        return NULL;
    while (at-- > 0) {
        CoreStmt *s = b->stmts.at[at];
        if (s == made)
            return s;
        if (core_stmt_binds(s, t.var) || (!i.is_const && core_stmt_binds(s, i.var)) ||
            core_stmt_fallible(r->b.p, r->b.fn, s))
            return NULL;
    }
    return NULL;
}

static void put_into_branch(Rows *r, const CoreStmt *update, CoreBlock *branch, uint32_t k)
{
    if (is_row_of(r, update, branch->results[k])) {
        branch->results[k] = update->update.array;
        return;
    }
    CoreBlock *outer = r->b.out;
    const CoreType type = core_atom_type(r->b.fn, update->update.array);
    CoreStmt *s = build_stmt(&r->b, CORE_UPDATE, 1, &type);
    s->site = update->site;
    s->update = update->update;
    s->update.value = branch->results[k];
    r->b.out = branch;
    build_emit(&r->b, s);
    r->b.out = outer;
    branch->results[k] = build_atom(&r->b, s->vars[0]);
}

static void sink_in_block(void *ctx, CoreBlock *b)
{
    Rows *r = ctx;
    uint32_t left = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        CoreStmt *branch =
            s->kind == CORE_UPDATE && core_var_type(r->b.fn, s->vars[0]).rank == 2 ? branches_of(r, b, s, left) : NULL;
        core_stmt_blocks(s, sink_in_block, r);
        b->stmts.at[left++] = s;
        if (!branch)
            continue;
        const uint32_t k = core_stmt_result(branch, s->update.value);
        r->b.span = s->span;
        put_into_branch(r, s, branch->if_.then_b, k);
        put_into_branch(r, s, branch->if_.else_b, k);
        branch->vars[k] = s->vars[0];
        left--;
    }
    b->stmts.n = left;
}

/* ---- which tables ---- */

/* Are its rows' elements arrays? */
static bool has_items(const Rows *r, CoreVar table) { return core_var_type(r->b.fn, table).rank > 2; }

/* A row is needed as a whole; a table had better not be. */
static void need_whole(void *ctx, CoreAtom *a)
{
    Rows *r = ctx;
    if (row_of(r, *a)) {
        r->again |= !r->whole[a->var];
        r->whole[a->var] = true;
    } else if (root_of(r, *a)) {
        r->bad[root_of(r, *a) - 1] = true;
    }
}

static void note_row(Rows *r, CoreVar v, Row row)
{
    r->row[v] = arena_new(r->scratch, Row);
    *r->row[v] = row;
}

/* Is n the length of a row that s appends to? */
static bool is_length_beside(const Rows *r, const CoreStmt *s, CoreAtom n)
{
    for (uint32_t k = 0; k < s->nvars; k++) {
        CoreAppend append;
        if (core_as_append(s, k, &append) && core_is_length(&r->makers, append.left, n))
            return true;
    }
    return false;
}

/* All that it gives are rows with something behind them, for updates. */
static bool note_appends(Rows *r, CoreStmt *s)
{
    Row rows[MOST_PARAMS];
    for (uint32_t k = 0; k < s->nvars; k++) {
        CoreAppend append;
        const Row *left = k < MOST_PARAMS && core_as_append(s, k, &append) ? row_of(r, append.left) : NULL;
        if (!left || left->appended || r->whole[s->vars[k]] || r->uses[s->vars[k]] != 1)
            return false;
        rows[k] = *left;
        rows[k].appended = true;
        if (!core_is_length(&r->makers, append.left, append.length)) {
            rows[k].cut = true;
            rows[k].n = append.length;
            rows[k].beside = is_length_beside(r, s, append.length);
        }
        rows[k].items = append.right;
        if (!core_append_more(&r->makers, s->soac.domain, append.length, &rows[k].more))
            return false;
        need_whole(r, &append.right);
    }
    for (uint32_t k = 0; k < s->nvars; k++)
        note_row(r, s->vars[k], rows[k]);
    return true;
}

/* Does the row still begin, in version v, as it was in the one that it is of? Elements are behind it, or it is cut. */
static bool is_there(const Rows *r, const Row *row, CoreVar v)
{
    for (uint32_t steps = 0; v != row->table; steps++) {
        const Made *made = r->made[v];
        if (!made || steps == MOST_STEPS || made->kind > CUT ||
            (made->kind == PUSH && (made->of != row->table || made->shorter)))
            return false;
        v = made->before;
    }
    return true;
}

/* The update of an element of row s->update.index, if the update s stores that row again; or NULL. */
static const CoreStmt *row_change(const Rows *r, const CoreStmt *s)
{
    const CoreStmt *change = core_maker(&r->makers, s->update.value);
    if (!change || change->kind != CORE_UPDATE || r->uses[change->vars[0]] != 1 || r->whole[change->vars[0]])
        return NULL;
    const Row *row = row_of(r, change->update.array);
    return row && !row->appended && !row->cut && row->table == s->update.array.var &&
                   core_atom_equal(row->at, s->update.index)
               ? change
               : NULL;
}

/* May the row that the update stores be known to be as long as the one before? Not what is filtered, what a loop makes,
 * a row of something else, or what a round makes of as many elements as it finds out, unless that is a row's length. */
static bool shows_length(const Rows *r, const CoreStmt *s)
{
    const CoreStmt *made = core_maker(&r->makers, s->update.value);
    if (!made || made->kind == CORE_LOOP || made->kind == CORE_FLATTEN)
        return !made;
    if (made->kind == CORE_INDEX)
        return root_of(r, made->index.array) > 0;
    if (made->kind != CORE_MAP || made->soac.guard)
        return made->kind != CORE_MAP;
    const CoreAtom n = made->soac.domain;
    const CoreStmt *length = core_maker(&r->makers, n);
    return n.is_const || n.var >= r->nvars || r->seen[n.var] != r->looked ||
           (length && length->kind == CORE_LENGTH && row_of(r, length->length.array));
}

static void look_at_update(Rows *r, CoreStmt *s)
{
    const uint32_t root = root_of(r, s->update.array);
    const Row *row = row_of(r, s->update.value);
    Made *made = r->made[s->vars[0]] = arena_new(r->scratch, Made);
    *made = (Made){.kind = REPLACE, .before = s->update.array.var};
    r->pushed[root - 1] |= r->all && !shows_length(r, s);
    r->root[s->vars[0]] = root;
    if (r->parallel)
        r->bad[root - 1] = true;
    if (row && core_atom_equal(row->at, s->update.index) && is_there(r, row, s->update.array.var)) {
        made->kind = row->appended ? PUSH : CUT;
        made->of = row->table;
        made->shorter = row->cut;
        r->pushed[root - 1] |= row->appended;
    } else if (row_change(r, s)) {
        made->kind = CHANGE;
    } else {
        need_whole(r, &s->update.value);
    }
    if (has_items(r, s->vars[0]) &&
        (made->kind != PUSH || (made->shorter && !row->beside))) /* items would be more and more */
        r->bad[root - 1] = true;
}

static void look_at_block(void *ctx, CoreBlock *b);

static void look_at_loop(Rows *r, CoreStmt *s)
{
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        r->root[s->loop.params[k]] = root_of(r, s->loop.inits[k]);
        if (row_of(r, s->loop.inits[k]))
            need_whole(r, &s->loop.inits[k]);
    }
    core_stmt_blocks(s, look_at_block, r);
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        CoreAtom result = s->loop.body->results[k], init = s->loop.inits[k];
        r->root[s->vars[k]] = r->root[s->loop.params[k]];
        if (root_of(r, result) != r->root[s->vars[k]]) {
            need_whole(r, &result);
            need_whole(r, &init);
        }
    }
}

static void look_at_if(Rows *r, CoreStmt *s)
{
    core_stmt_blocks(s, look_at_block, r);
    for (uint32_t k = 0; k < s->nvars; k++) {
        CoreAtom x = s->if_.then_b->results[k], y = s->if_.else_b->results[k];
        r->root[s->vars[k]] = root_of(r, x);
        if (root_of(r, x) != root_of(r, y)) {
            need_whole(r, &x);
            need_whole(r, &y);
        }
    }
}

/* Is it read element by element, or asked for its length? */
static bool is_looked_at(const Rows *r, const CoreStmt *s)
{
    const Row *row = s->kind == CORE_LENGTH  ? row_of(r, s->length.array)
                     : s->kind == CORE_INDEX ? row_of(r, s->index.array)
                                             : NULL;
    return row ? !row->appended : s->kind == CORE_LENGTH && root_of(r, s->length.array);
}

static void look_at_stmt(Rows *r, CoreStmt *s)
{
    const Row *sliced = s->kind == CORE_SLICE ? row_of(r, s->slice.array) : NULL;
    if (s->kind == CORE_LOOP) {
        look_at_loop(r, s);
    } else if (s->kind == CORE_IF) {
        look_at_if(r, s);
    } else if (s->kind == CORE_ATOM && (row_of(r, s->atom) ? !row_of(r, s->atom)->appended : root_of(r, s->atom) > 0)) {
        r->root[s->vars[0]] = root_of(r, s->atom);
        if (r->root[s->vars[0]])
            r->made[s->vars[0]] = r->made[s->atom.var];
        if (row_of(r, s->atom))
            note_row(r, s->vars[0], *row_of(r, s->atom));
    } else if (s->kind == CORE_INDEX && root_of(r, s->index.array)) {
        note_row(r, s->vars[0], (Row){.table = s->index.array.var, .at = s->index.index});
    } else if (sliced && !sliced->appended && s->slice.from.is_const && s->slice.from.bits == 0) {
        Row row = *sliced;
        row.cut = true;
        row.n = s->slice.to;
        note_row(r, s->vars[0], row);
    } else if (s->kind == CORE_UPDATE && root_of(r, s->update.array)) {
        look_at_update(r, s);
    } else if (s->kind == CORE_UPDATE && row_of(r, s->update.array) && r->uses[s->vars[0]] == 1 &&
               !r->whole[s->vars[0]] && !row_of(r, s->update.array)->appended) {
        note_row(r, s->vars[0], *row_of(r, s->update.array)); /* if its update is one of the table's */
        r->row[s->vars[0]]->appended = true;
        r->row[s->vars[0]]->table = CORE_NO_VAR;
    } else if (!is_looked_at(r, s) && !(s->kind == CORE_MAP && note_appends(r, s))) {
        const bool outer = r->parallel;
        core_stmt_atoms(s, need_whole, r);
        r->parallel |= core_stmt_soac(s) != NULL;
        core_stmt_blocks(s, look_at_block, r);
        r->parallel = outer;
    }
}

/* Results that are versions are the statement's, whose block it is, to look at. */
static void look_at_block(void *ctx, CoreBlock *b)
{
    Rows *r = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        look_at_stmt(r, b->stmts.at[i]);
    for (uint32_t i = 0; i < b->nresults; i++)
        if (row_of(r, b->results[i]) || r->parallel)
            need_whole(r, &b->results[i]);
}

static void forget_var(void *ctx, CoreVar *v)
{
    Rows *r = ctx;
    if (*v >= r->nvars)
        return;
    r->seen[*v] = r->looked;
    r->root[*v] = 0;
    r->row[*v] = NULL;
    r->made[*v] = NULL;
}

static void forget_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        for (uint32_t k = 0; k < s->nvars; k++)
            forget_var(ctx, &s->vars[k]);
        core_stmt_binders(s, forget_var, ctx);
        core_stmt_blocks(s, forget_block, ctx);
    }
}

/* Does it begin once, or as what each round around makes? Else all of it would be copied in each. */
static bool begins_here(const Rows *r, CoreAtom init)
{
    const CoreStmt *s = core_maker(&r->makers, init);
    return r->around == 0 || (s && (s->kind == CORE_MAP || s->kind == CORE_ARRAY));
}

static bool find_tables(Rows *r, CoreStmt *s)
{
    const uint32_t n = s->loop.nparams;
    bool any = false;
    for (uint32_t k = 0; k < n && n <= MOST_PARAMS; k++) {
        r->bad[k] = core_var_type(r->b.fn, s->loop.params[k]).rank < 2 || !begins_here(r, s->loop.inits[k]);
        any |= !r->bad[k];
    }
    r->looked++;
    for (r->again = true; any && r->again;) {
        bool before[MOST_PARAMS];
        r->again = any = false;
        memcpy(before, r->bad, sizeof before);
        memset(r->pushed, 0, sizeof r->pushed);
        core_stmt_blocks(s, forget_block, r);
        for (uint32_t k = 0; k < n; k++)
            r->root[s->loop.params[k]] = r->bad[k] ? 0 : k + 1;
        core_stmt_blocks(s, look_at_block, r);
        for (uint32_t k = 0; k < n; k++) {
            CoreAtom result = s->loop.body->results[k];
            if (root_of(r, result) != r->root[s->loop.params[k]]) {
                need_whole(r, &result);
                r->bad[k] = true;
            }
            r->bad[k] |= !r->pushed[k];
            r->again |= r->bad[k] != before[k];
            any |= !r->bad[k];
        }
    }
    if (!any) { /* loops inside are looked at next */
        core_stmt_blocks(s, forget_block, r);
        core_stmt_binders(s, forget_var, r);
    }
    return any;
}

/* ---- rewriting ---- */

static bool is_table(void *ctx, CoreVar v)
{
    const Rows *r = ctx;
    return v < r->nvars && r->root[v];
}

/* Returns how many there are. */
static uint32_t parts_of(const Rows *r, CoreVar v, const Buffer *buffer, CoreAtom *parts)
{
    parts[0] = buffer->pool;
    parts[1] = buffer->starts;
    parts[2] = buffer->counts;
    parts[3] = buffer->rooms;
    parts[4] = buffer->items;
    return has_items(r, v) ? 5 : 4;
}

static uint32_t make_buffer(void *ctx, CoreVar v, CoreVar *vars)
{
    Rows *r = ctx;
    const CoreType numbers = {SC_I64, 1}, elements = core_element(core_var_type(r->b.fn, v));
    Buffer *buffer = &r->buffer[v];
    buffer->pool = build_var(&r->b, has_items(r, v) ? numbers : elements, "pool");
    buffer->starts = build_var(&r->b, numbers, "starts");
    buffer->counts = build_var(&r->b, numbers, "counts");
    buffer->rooms = build_var(&r->b, numbers, "rooms");
    if (has_items(r, v))
        buffer->items = build_var(&r->b, elements, "items");
    CoreAtom parts[MOST_PARTS];
    const uint32_t n = parts_of(r, v, buffer, parts);
    for (uint32_t k = 0; k < n; k++)
        vars[k] = parts[k].var;
    return n;
}

static uint32_t buffer_parts(void *ctx, CoreVar v, CoreAtom a, CoreAtom *parts)
{
    const Rows *r = ctx;
    return parts_of(r, v, &r->buffer[a.var], parts);
}

static CoreAtom count_of(Rows *r, const Row *row)
{
    return row->cut ? row->n : build_index(&r->b, r->buffer[row->table].counts, row->at, CORE_NO_SITE);
}

static CoreAtom place_of(Rows *r, const Row *row, CoreAtom k)
{
    CoreBuilder *b = &r->b;
    return build_prim2(b, PRIM_ADD, build_index(b, r->buffer[row->table].starts, row->at, CORE_NO_SITE), k);
}

/* What the pool has there. */
static CoreAtom element_of(Rows *r, CoreVar table, CoreAtom place)
{
    const CoreAtom x = build_index(&r->b, r->buffer[table].pool, place, CORE_NO_SITE);
    return has_items(r, table) ? build_index(&r->b, r->buffer[table].items, x, CORE_NO_SITE) : x;
}

/* What `items` has at these numbers, n of them. */
static CoreAtom items_of(CoreBuilder *b, CoreAtom items, CoreAtom numbers, CoreAtom n)
{
    const CoreAtom j = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = j.var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom x = build_index(b, items, build_index(b, numbers, j, CORE_NO_SITE), CORE_NO_SITE);
    soac.body = build_end(b, outer, &x, 1);
    return build_map(b, soac)[0];
}

/* So many elements of the pool from one on, and then, up to n, zeros. */
static CoreAtom copy_of(Rows *r, CoreAtom pool, CoreAtom from, CoreAtom count, CoreAtom n)
{
    CoreBuilder *b = &r->b;
    const CoreAtom j = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = j.var};
    CoreBlock *outer = build_begin(b);
    CoreAtom x;
    if (core_atom_equal(count, n)) {
        x = build_index(b, pool, build_prim2(b, PRIM_ADD, from, j), CORE_NO_SITE);
    } else {
        const CoreAtom there = build_prim2(b, PRIM_LT, j, count),
                       zero = core_const(core_atom_type(b->fn, pool).scalar, 0);
        CoreBlock *body = build_begin(b);
        x = build_index(b, pool, build_prim2(b, PRIM_ADD, from, j), CORE_NO_SITE);
        CoreBlock *old = build_end(b, body, &x, 1);
        (void)build_begin(b);
        CoreBlock *none = build_end(b, body, &zero, 1);
        x = build_if(b, there, old, none)[0];
    }
    soac.body = build_end(b, outer, &x, 1);
    return build_map(b, soac)[0];
}

/* The row is copied where it is named, if it is needed as a whole: what comes behind may change the pool. */
static void name_row(Rows *r, CoreVar v)
{
    const Row *row = r->row[v];
    if (!r->whole[v])
        return;
    const CoreAtom n = count_of(r, row);
    const Buffer *buffer = &r->buffer[row->table];
    const CoreAtom copy = copy_of(r, buffer->pool, place_of(r, row, core_i64(0)), n, n);
    build_named(&r->b, v, has_items(r, row->table) ? items_of(&r->b, buffer->items, copy, n) : copy);
}

/* Room for `needed` elements in row `at`, of which the first `count` stay; else the row moves to the pool's end. */
static Buffer with_room(Rows *r, const Buffer *old, CoreAtom at, CoreAtom count, CoreAtom needed)
{
    CoreBuilder *b = &r->b;
    const CoreAtom fits = build_prim2(b, PRIM_LE, needed, build_index(b, old->rooms, at, CORE_NO_SITE));
    const CoreAtom same[] = {old->pool, old->starts, old->rooms};
    CoreBlock *outer = build_begin(b), *stays = build_end(b, outer, same, 3);
    (void)build_begin(b);
    const CoreAtom twice = build_prim2(b, PRIM_ADD, needed, needed);
    const CoreAtom room = build_prim2(b, PRIM_MAX, twice, core_i64(LEAST_ROOM));
    const CoreAtom from = build_index(b, old->starts, at, CORE_NO_SITE), end = build_length(b, old->pool);
    const CoreAtom moved = copy_of(r, old->pool, from, count, room);
    const CoreAtom parts[] = {build_appended(b, old->pool, moved, room), build_changed(b, old->starts, at, end),
                              build_changed(b, old->rooms, at, room)};
    const CoreAtom *now = build_if(b, fits, stays, build_end(b, outer, parts, 3));
    return (Buffer){now[0], now[1], old->counts, now[2], old->items};
}

/* n numbers from one on. */
static CoreAtom numbers_from(CoreBuilder *b, CoreAtom from, CoreAtom n)
{
    const CoreAtom j = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = j.var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom x = build_prim2(b, PRIM_ADD, from, j);
    soac.body = build_end(b, outer, &x, 1);
    return build_map(b, soac)[0];
}

/* The elements of `xs`, `more` of them, behind the first `count` of row `at`. */
static Buffer with_elements(Rows *r, const Buffer *old, CoreAtom at, CoreAtom count, CoreAtom xs, CoreAtom more)
{
    CoreBuilder *b = &r->b;
    const CoreAtom needed = build_prim2(b, PRIM_ADD, count, more);
    if (core_atom_type(b->fn, xs).rank > 1) {
        Buffer numbered = *old;
        const CoreAtom numbers = numbers_from(b, build_length(b, old->items), more);
        numbered.items = build_appended(b, old->items, xs, more);
        return with_elements(r, &numbered, at, count, numbers, more);
    }
    const CoreStmt *items = core_maker(&r->makers, xs);
    const bool literal = items && items->kind == CORE_ARRAY && more.is_const && more.bits == items->array.n;
    Buffer now = with_room(r, old, at, count, needed);
    const CoreAtom to = build_prim2(b, PRIM_ADD, build_index(b, now.starts, at, CORE_NO_SITE), count);
    if (!literal)
        now.pool = build_stored(b, now.pool, to, xs, more);
    for (uint32_t k = 0; literal && k < items->array.n; k++)
        now.pool = build_changed(b, now.pool, build_prim2(b, PRIM_ADD, to, core_i64(k)), items->array.items[k]);
    now.counts = build_changed(b, old->counts, at, needed);
    return now;
}

static void rewrite_update(Rows *r, const CoreStmt *s)
{
    CoreBuilder *b = &r->b;
    const Buffer old = r->buffer[s->update.array.var];
    const CoreAtom at = s->update.index;
    const Row *row = row_of(r, s->update.value);
    Buffer now = old;
    build_check_bounds(b, s->site, at, build_length(b, old.counts));
    switch (r->made[s->vars[0]]->kind) {
    case PUSH: now = with_elements(r, &old, at, count_of(r, row), row->items, row->more); break;
    case CUT: now.counts = build_changed(b, old.counts, at, count_of(r, row)); break;
    case CHANGE: {
        const CoreStmt *change = row_change(r, s);
        const Row *of = row_of(r, change->update.array);
        build_check_bounds(b, change->site, change->update.index, count_of(r, of));
        now.pool = build_changed(b, old.pool, place_of(r, of, change->update.index), change->update.value);
        break;
    }
    case REPLACE:
        now = with_elements(r, &old, at, core_i64(0), s->update.value, build_length(b, s->update.value));
        break;
    }
    r->buffer[s->vars[0]] = now;
}

static void rewrite_inside(void *ctx, CoreBlock *b);

/* An element of a row, or how many it has, or the table. False: it is another statement. */
static bool rewrite_look(Rows *r, CoreStmt *s)
{
    CoreBuilder *b = &r->b;
    if (s->kind == CORE_INDEX && root_of(r, s->index.array)) {
        build_check_bounds(b, s->site, s->index.index, build_length(b, r->buffer[s->index.array.var].counts));
        name_row(r, s->vars[0]);
        return true;
    }
    if (!is_looked_at(r, s))
        return false;
    const Row *row = row_of(r, s->kind == CORE_LENGTH ? s->length.array : s->index.array);
    if (s->kind == CORE_LENGTH) {
        build_named(&r->b, s->vars[0], row ? count_of(r, row) : build_length(b, r->buffer[s->length.array.var].counts));
        return true;
    }
    build_check_bounds(b, s->site, s->index.index, count_of(r, row));
    build_named(&r->b, s->vars[0], element_of(r, row->table, place_of(r, row, s->index.index)));
    return true;
}

static void rewrite_stmt(void *ctx, CoreStmt *s)
{
    Rows *r = ctx;
    r->b.span = s->span;
    const Row *row = s->nvars > 0 && s->vars[0] < r->nvars ? r->row[s->vars[0]] : NULL;
    if (s->kind == CORE_IF) {
        split_if(&r->split, s);
    } else if (s->kind == CORE_LOOP) {
        split_loop(&r->split, s, NULL);
    } else if (s->kind == CORE_ATOM && root_of(r, s->atom)) {
        r->buffer[s->vars[0]] = r->buffer[s->atom.var];
    } else if (s->kind == CORE_UPDATE && root_of(r, s->update.array)) {
        rewrite_update(r, s);
    } else if (row && (s->kind == CORE_SLICE || s->kind == CORE_ATOM)) {
        if (s->kind == CORE_SLICE)
            build_check_slice(&r->b, s->site, s->slice.from, s->slice.to, count_of(r, row_of(r, s->slice.array)));
        name_row(r, s->vars[0]);
    } else if (!rewrite_look(r, s) && !(row && row->appended)) {
        core_stmt_blocks(s, rewrite_inside, r);
        core_push(r->b.p, r->b.out, s);
    }
}

/* In parallel operations, which change no table. */
static void rewrite_inside(void *ctx, CoreBlock *b) { split_block(&((Rows *)ctx)->split, b, NULL, 0); }

static Buffer buffer_of(Rows *r, CoreAtom table)
{
    CoreBuilder *b = &r->b;
    const CoreAtom rows = build_length(b, table), counts = build_row_lengths(b, table, rows);
    const CoreAtom elements = build_flatten(b, table), starts = build_row_starts(b, counts, rows);
    if (!has_items(r, table.var))
        return (Buffer){elements, starts, counts, counts, elements};
    const CoreAtom numbers = numbers_from(b, core_i64(0), build_length(b, elements));
    return (Buffer){numbers, starts, counts, counts, elements};
}

/* n rows of nothing. */
static bool rows_are_empty(const Rows *r, CoreAtom table)
{
    const CoreStmt *s = core_maker(&r->makers, table);
    if (!s || s->kind != CORE_MAP || s->soac.guard)
        return false;
    const CoreStmt *row = core_maker(&r->makers, s->soac.body->results[core_stmt_result(s, table)]);
    return row && ((row->kind == CORE_ARRAY && row->array.n == 0) ||
                   (row->kind == CORE_MAP && row->soac.domain.is_const && row->soac.domain.bits == 0));
}

/* With room for the first elements of each. */
static Buffer empty_buffer(Rows *r, CoreAtom table)
{
    CoreBuilder *b = &r->b;
    const CoreType elements = core_element(core_var_type(b->fn, table.var));
    const CoreAtom rows = build_length(b, table), room = core_i64(LEAST_ROOM);
    const CoreAtom at = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = rows, .index = at.var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom start = build_prim2(b, PRIM_MUL, at, room);
    soac.body = build_end(b, outer, &start, 1);
    const CoreAtom zero = core_const(has_items(r, table.var) ? SC_I64 : elements.scalar, 0);
    Buffer buffer = {.pool = build_repeated(b, zero, build_prim2(b, PRIM_MUL, rows, room)),
                     .starts = build_map(b, soac)[0],
                     .counts = build_repeated(b, core_i64(0), rows),
                     .rooms = build_repeated(b, room, rows)};
    buffer.items = build_array(b, elements, NULL, 0);
    return buffer;
}

static CoreAtom *begin_buffers(Rows *r, CoreStmt *s)
{
    CoreBuilder *b = &r->b;
    CoreAtom *inits = arena_array(b->p->arena, CoreAtom, MOST_PARTS * s->loop.nparams + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        const CoreAtom init = s->loop.inits[k];
        if (!is_table(r, s->loop.params[k])) {
            inits[n++] = init;
            continue;
        }
        const Buffer buffer = rows_are_empty(r, init) ? empty_buffer(r, init) : buffer_of(r, init);
        n += parts_of(r, s->loop.params[k], &buffer, inits + n);
    }
    return inits;
}

/* The table again, as v. */
static void end_buffer(Rows *r, CoreVar v, const Buffer *buffer)
{
    CoreBuilder *b = &r->b;
    const CoreAtom n = build_length(b, buffer->counts);
    CoreAtom rows = build_rows(b, buffer->pool, buffer->starts, buffer->counts, n);
    if (has_items(r, v)) {
        const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
        CoreSoac soac = {.domain = n, .index = i.var};
        CoreBlock *outer = build_begin(b);
        const CoreAtom count = build_index(b, buffer->counts, i, CORE_NO_SITE);
        const CoreAtom row = items_of(b, buffer->items, build_index(b, rows, i, CORE_NO_SITE), count);
        soac.body = build_end(b, outer, &row, 1);
        rows = build_map(b, soac)[0];
    }
    build_named(b, v, rows);
}

static void find_in_block(void *ctx, CoreBlock *b)
{
    Rows *r = ctx;
    CoreBlock *out = r->b.out, old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (s->kind != CORE_LOOP || !find_tables(r, s)) {
            r->around += s->kind == CORE_LOOP;
            core_stmt_blocks(s, find_in_block, r);
            r->around -= s->kind == CORE_LOOP;
            core_push(r->b.p, b, s);
            continue;
        }
        const CoreVar *vars = s->vars;
        const uint32_t n = s->nvars;
        r->any = true;
        r->b.out = b;
        r->b.span = s->span;
        for (uint32_t k = 0; k < n; k++)
            r->root[vars[k]] = r->root[s->loop.params[k]];
        split_loop(&r->split, s, begin_buffers(r, s));
        for (uint32_t k = 0; k < n; k++)
            if (r->root[vars[k]]) {
                end_buffer(r, vars[k], &r->buffer[vars[k]]);
                r->root[vars[k]] = 0;
            }
    }
    r->b.out = out;
}

static void count_use(void *ctx, CoreAtom *a)
{
    Rows *r = ctx;
    if (!a->is_const)
        r->uses[a->var]++;
}

static void note_function(Rows *r)
{
    CoreFn *fn = r->b.fn;
    r->nvars = fn->vars.n;
    r->makers = core_makers_of(fn, r->scratch);
    r->uses = arena_array(r->scratch, uint32_t, fn->vars.n + 1);
    core_block_atoms(fn->body, count_use, r);
}

static bool buffers_in_function(CoreProgram *p, CoreFn *fn, bool all)
{
    Arena *scratch = arena_create();
    Rows r = {.b = {.p = p, .fn = fn}, .scratch = scratch, .all = all};
    note_function(&r);
    sink_in_block(&r, fn->body);
    note_function(&r);
    const uint32_t n = fn->vars.n + 1;
    r.split = (SplitState){&r.b, &r, is_table, make_buffer, buffer_parts, NULL, rewrite_stmt};
    r.root = arena_array(scratch, uint32_t, n);
    r.row = arena_array(scratch, Row *, n);
    r.made = arena_array(scratch, Made *, n);
    r.buffer = arena_array(scratch, Buffer, n);
    r.whole = arena_array(scratch, bool, n);
    r.seen = arena_array(scratch, uint32_t, n);
    find_in_block(&r, fn->body);
    arena_destroy(scratch);
    return r.any;
}

const bool *core_row_buffers(CoreProgram *p, bool all)
{
    bool *found = arena_array(p->arena, bool, p->fns.n + 1), any = false;
    for (uint32_t i = 0; i < p->fns.n; i++)
        any |= found[i] = buffers_in_function(p, p->fns.at[i], all);
    return any ? found : NULL;
}
