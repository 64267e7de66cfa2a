/* Lists of rows that a loop's rounds append to, as two lists, of numbers or of shorter rows:
 *
 *     rs = loop (rs = []) … { … a = rs ++ [row]; -> a }
 *   ==>
 *     xs, ends = loop (xs = [], ends = [0]) … { … xs' = xs ++ row; ends' = ends ++ [length xs']; -> xs', ends' }
 *     rs = map (length ends - 1) at i { slice xs, ends[i], ends[i + 1] }
 *
 * These grow as growing_lists.c says; the first rows of such a list are the first of both. Where all rows have one
 * length that is known in front of the loop, `rs` has a count for `ends`. That copies rows. Where these are long, views
 * of them are cheaper, however many there are; so such a loop ends when rows are long, and another one, as the program
 * has it, goes on. */
#include "core/growing_lists_internal.h"

enum { LONG_ROWS = 1024, FIRST_ROWS = 16 }; /* elements on average; rows that a list is taken to have more */

static CoreAtom append_one(CoreBuilder *b, CoreAtom xs, CoreAtom x)
{
    return build_appended(b, xs, build_array(b, core_atom_type(b->fn, xs), &x, 1), core_i64(1));
}

/* Where n rows of these lengths end, if the first begins at `from`. */
static CoreAtom ends_from(CoreBuilder *b, CoreAtom rows, CoreAtom from)
{
    const CoreAtom n = build_length(b, rows), lengths = build_row_lengths(b, rows, n);
    const CoreAtom starts = build_row_starts(b, lengths, n), i = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = i.var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom start = build_prim2(b, PRIM_ADD, from, build_index(b, starts, i, CORE_NO_SITE));
    const CoreAtom end = build_prim2(b, PRIM_ADD, start, build_index(b, lengths, i, CORE_NO_SITE));
    soac.body = build_end(b, outer, &end, 1);
    return build_map(b, soac)[0];
}

List rows_as_list(Lists *l, uint32_t root, CoreAtom rows)
{
    CoreBuilder *b = &l->b;
    const CoreType row = core_element(core_atom_type(b->fn, rows));
    const CoreStmt *literal = list_literal(l, rows);
    const bool empty = literal && literal->array.n == 0;
    const CoreAtom values = empty ? build_nothing(b, row) : build_flatten(b, rows), zero = core_i64(0);
    if (l->regular[root - 1])
        return (List){root, values, build_length(b, rows)};
    const CoreAtom first = build_array(b, (CoreType){.scalar = SC_I64, .rank = 1}, &zero, 1);
    return (List){root, values,
                  empty ? first : build_appended(b, first, ends_from(b, rows, zero), build_length(b, rows))};
}

CoreAtom rows_count(Lists *l, const List *list)
{
    if (l->regular[list->root - 1])
        return list->length;
    return build_prim2(&l->b, PRIM_SUB, build_length(&l->b, list->length), core_i64(1));
}

CoreAtom rows_at(Lists *l, const List *list, CoreAtom i)
{
    CoreBuilder *b = &l->b;
    if (l->regular[list->root - 1]) {
        const CoreAtom width = l->width[list->root - 1];
        return build_piece(b, list->buffer, build_prim2(b, PRIM_MUL, i, width), width);
    }
    const CoreAtom from = build_index(b, list->length, i, CORE_NO_SITE);
    const CoreAtom next = build_prim2(b, PRIM_ADD, i, core_i64(1));
    const CoreAtom to = build_index(b, list->length, next, CORE_NO_SITE);
    return build_piece(b, list->buffer, from, build_prim2(b, PRIM_SUB, to, from));
}

CoreAtom rows_of(Lists *l, const List *list)
{
    CoreBuilder *b = &l->b;
    const CoreAtom n = rows_count(l, list), i = build_var(b, core_scalar(SC_I64), NULL);
    CoreSoac soac = {.domain = n, .index = i.var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom row = rows_at(l, list, i);
    soac.body = build_end(b, outer, &row, 1);
    return build_map(b, soac)[0];
}

List rows_front(Lists *l, const List *list, CoreAtom n)
{
    CoreBuilder *b = &l->b;
    const CoreAtom zero = core_i64(0);
    if (l->regular[list->root - 1]) {
        const CoreAtom end = build_prim2(b, PRIM_MUL, n, l->width[list->root - 1]);
        return (List){list->root, build_piece(b, list->buffer, zero, end), n};
    }
    const CoreAtom end = build_index(b, list->length, n, CORE_NO_SITE);
    return (List){list->root, build_piece(b, list->buffer, zero, end),
                  build_piece(b, list->length, zero, build_prim2(b, PRIM_ADD, n, core_i64(1)))};
}

List rows_with(Lists *l, const List *list, const Append *a, CoreAtom piece)
{
    CoreBuilder *b = &l->b;
    List r = *list;
    if (!a->items) {
        piece = build_piece(b, piece, core_i64(0), a->more);
        const CoreAtom values = build_flatten(b, piece);
        r.length = build_appended(b, r.length, ends_from(b, piece, build_length(b, r.buffer)), a->more);
        r.buffer = build_appended(b, r.buffer, values, build_length(b, values));
        return r;
    }
    for (uint32_t k = 0; k < a->items->array.n; k++) {
        const CoreAtom row = a->items->array.items[k];
        const CoreStmt *literal = list_literal(l, row);
        r.buffer = build_appended(b, r.buffer, row, literal ? core_i64(literal->array.n) : build_length(b, row));
        r.length = l->regular[list->root - 1] ? build_prim2(b, PRIM_ADD, r.length, core_i64(1))
                                              : append_one(b, r.length, build_length(b, r.buffer));
    }
    return r;
}

/* The row's length, if that is known in front of the loop that was looked at last. */
static bool known_width(const Lists *l, CoreAtom row, CoreAtom *width)
{
    if (!core_shown_length(list_maker(l, row), width))
        return false;
    return width->is_const || l->bound[width->var] != l->looked;
}

/* One more row of the list. */
static void note_row(Lists *l, uint32_t root, CoreAtom row)
{
    CoreAtom width;
    const bool known = known_width(l, row, &width);
    if (known && !l->has_width[root - 1])
        l->width[root - 1] = width;
    l->has_width[root - 1] = true;
    l->regular[root - 1] &= known && core_atom_equal(l->width[root - 1], width);
}

void rows_note_begin(Lists *l, uint32_t root, CoreAtom rows)
{
    const CoreStmt *s = list_literal(l, rows);
    l->has_width[root - 1] = l->replaced[root - 1] = false;
    l->regular[root - 1] = s != NULL;
    for (uint32_t i = 0; l->regular[root - 1] && i < s->array.n; i++)
        note_row(l, root, s->array.items[i]);
}

void rows_note_append(Lists *l, uint32_t root, const Append *a)
{
    for (uint32_t k = 0; a->items && k < a->items->array.n; k++)
        note_row(l, root, a->items->array.items[k]);
    l->regular[root - 1] &= a->items != NULL;
}

const CoreStmt *rows_change(const Lists *l, const CoreStmt *s)
{
    const CoreStmt *change = list_maker(l, s->update.value), *row = NULL;
    if (change && change->kind == CORE_UPDATE && core_atom_type(l->b.fn, change->update.value).rank == 0)
        row = list_maker(l, change->update.array);
    const bool own = row && row->kind == CORE_INDEX && core_atom_equal(row->index.array, s->update.array) &&
                     core_atom_equal(row->index.index, s->update.index);
    return own ? change : NULL;
}

void rows_note_update(Lists *l, uint32_t root, const CoreStmt *s)
{
    if (rows_change(l, s))
        return;
    note_row(l, root, s->update.value);
    l->replaced[root - 1] = true;
}

List rows_updated(Lists *l, const List *list, const CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    const CoreStmt *change = rows_change(l, s);
    const bool regular = l->regular[list->root - 1];
    const CoreAtom width = l->width[list->root - 1],
                   from = regular ? build_prim2(b, PRIM_MUL, s->update.index, width)
                                  : build_index(b, list->length, s->update.index, CORE_NO_SITE);
    List r = *list;
    if (change) {
        r.buffer =
            build_changed(b, list->buffer, build_prim2(b, PRIM_ADD, from, change->update.index), change->update.value);
        return r;
    }
    r.buffer = build_stored(b, list->buffer, from, s->update.value, width);
    return r;
}

bool rows_may_be_long(const Lists *l, const CoreStmt *s)
{
    for (uint32_t k = 0; k < s->loop.nparams; k++)
        if (l->lists[s->loop.params[k]].root &&
            !(l->regular[k] && l->width[k].is_const && l->width[k].bits <= LONG_ROWS))
            return true;
    return false;
}

CoreStmt *rows_go_on(Lists *l, CoreStmt *s)
{
    CoreBuilder *b = &l->b;
    CoreBlock *alone = core_new_block(b->p);
    core_push(b->p, alone, s);
    CoreStmt *late = core_copy_within(b->p, b->fn, alone, l->scratch, &l->copies)->stmts.at[0];
    late->loop.long_rows = true;
    if (s->loop.cond)
        return late;
    /* s counts rounds in its state, late those that are left */
    const uint32_t n = s->loop.nparams;
    CoreBlock *outer = b->out;
    if (s->loop.index == CORE_NO_VAR)
        s->loop.index = build_var(b, core_scalar(SC_I64), NULL).var;
    b->out = s->loop.body;
    CoreAtom *results = build_atoms_copy(b, s->loop.body->results, n + 1, n);
    results[n] = build_prim2(b, PRIM_ADD, core_var_atom(s->loop.index, core_scalar(SC_I64)), core_i64(1));
    build_results(b, s->loop.body, results, n + 1);
    b->out = outer;
    s->loop.params = build_vars_copy(b, s->loop.params, n + 1, n);
    s->loop.params[n] = s->loop.index;
    s->loop.inits = build_atoms_copy(b, s->loop.inits, n + 1, n);
    s->loop.inits[n] = core_i64(0);
    s->loop.nparams = n + 1;
    s->loop.index = CORE_NO_VAR;
    const CoreAtom done = build_var(b, core_scalar(SC_I64), NULL);
    s->vars = build_vars_copy(b, s->vars, n + 1, n);
    s->vars[n] = done.var;
    s->nvars = n + 1;
    if (late->loop.index == CORE_NO_VAR)
        return late;
    const CoreAtom round = build_var(b, core_scalar(SC_I64), NULL);
    CoreBlock *front = core_new_block(b->p);
    CoreStmt *index = build_stmt_into(b, CORE_PRIM, 1, &late->loop.index);
    const CoreAtom sum[] = {done, round};
    index->prim.op = PRIM_ADD;
    index->prim.nargs = 2;
    index->prim.args = build_atoms_copy(b, sum, 2, 2);
    core_push(b->p, front, index);
    core_put_in_front(b->p, late->loop.body, front);
    late->loop.index = round.var;
    return late;
}

void rows_stop(Lists *l, CoreStmt *s, const CoreVar *params, const CoreStmt *late)
{
    CoreBuilder *b = &l->b;
    CoreBlock *outer = b->out;
    const bool counted = !s->loop.cond;
    if (counted)
        s->loop.cond = core_new_block(b->p);
    b->out = s->loop.cond;
    CoreAtom goes_on = counted ? build_prim2(b, PRIM_LT, build_atom(b, params[late->loop.nparams]), s->loop.count)
                               : s->loop.cond->results[0];
    for (uint32_t k = 0; k < late->loop.nparams; k++) {
        const List *list = &l->lists[params[k]];
        if (!list->root)
            continue;
        const CoreAtom rows = build_prim2(b, PRIM_ADD, rows_count(l, list), core_i64(FIRST_ROWS));
        const CoreAtom most = build_prim2(b, PRIM_MUL, rows, core_i64(LONG_ROWS));
        goes_on = build_prim2(b, PRIM_AND, goes_on, build_prim2(b, PRIM_LE, build_length(b, list->buffer), most));
    }
    build_results(b, s->loop.cond, &goes_on, 1);
    b->out = outer;
    s->loop.count = core_i64(0);
}
