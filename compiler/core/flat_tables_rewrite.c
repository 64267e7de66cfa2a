/* The rewriting of a loop whose state is a table into one whose state is an array (flat_tables.c). */
#include "core/flat_tables_internal.h"

/* MOST_PENDING: updates of an element of a map, each of which takes two columns and a scatter, and is looked at by
 * every read behind it. */
enum { MOST_PENDING = 16 };

/* ---- what variables are ---- */

Part *tables_part_of(Tables *t, CoreVar v)
{
    while (t->parts.n <= v - t->first)
        vec_push(t->scratch, &t->parts, ((Part){.before = CORE_NO_VAR, .after = CORE_NO_VAR}));
    return &t->parts.at[v - t->first];
}

/* A copy: the table of parts may move. */
Part tables_part(Tables *t, CoreAtom a)
{
    return a.is_const || a.var < t->first ? (Part){.before = CORE_NO_VAR, .after = CORE_NO_VAR}
                                          : *tables_part_of(t, a.var);
}

static PartKind kind_of(Tables *t, CoreAtom a) { return tables_part(t, a).kind; }

void tables_grow_older(Tables *t, CoreAtom flat, Age age)
{
    if (flat.is_const || flat.var < t->first)
        return;
    Part *p = tables_part_of(t, flat.var);
    if (p->age == CURRENT)
        vec_push(t->scratch, &t->aged, flat.var);
    p->age = p->age > age ? p->age : age;
}

/* The variable was a table, or another name for one: what it is from now on is the array `flat`. */
void tables_bind(Tables *t, CoreVar v, CoreAtom flat, const Shape *shape)
{
    Part *p = tables_part_of(t, v);
    p->kind = TABLE;
    p->flat = flat;
    p->shape = shape;
}

CoreAtom tables_new_flat(Tables *t, CoreVar like)
{
    const CoreVarInfo info = t->b.fn->vars.at[like];
    const CoreAtom flat = build_var(&t->b, core_element(info.type), info.hint);
    tables_part_of(t, flat.var)->repetition = t->repetition;
    return flat;
}

const CoreStmt *tables_maker(Tables *t, CoreAtom a)
{
    if (a.is_const)
        return NULL;
    return a.var >= t->first ? tables_part(t, a).maker : a.var < t->noutside ? t->outside[a.var].stmt : NULL;
}

static const CoreAtom *known_as(const Tables *t, CoreAtom a)
{
    for (uint32_t i = t->same.n; !a.is_const && i-- > 0;) {
        const Same *s = &t->same.at[i];
        if (s->var == a.var && (!s->of_rows || (t->rows && core_atom_equal(*t->rows, s->rows))))
            return &s->as;
    }
    return NULL;
}

CoreAtom tables_renamed(Tables *t, CoreAtom a)
{
    for (;;) {
        const CoreStmt *s = tables_maker(t, a);
        const CoreAtom *known = known_as(t, a);
        if (known)
            a = *known;
        else if (s && s->kind == CORE_ATOM)
            a = s->atom;
        else
            return a;
    }
}

/* Are they the same number, as far as that shows? */
bool tables_same_number(Tables *t, CoreAtom a, CoreAtom b, uint32_t depth)
{
    a = tables_renamed(t, a);
    b = tables_renamed(t, b);
    if (core_atom_equal(a, b))
        return true;
    const CoreStmt *x = tables_maker(t, a), *y = tables_maker(t, b);
    if (depth == 0 || !x || !y || x->kind != y->kind ||
        !core_type_equal(core_atom_type(t->b.fn, a), core_atom_type(t->b.fn, b)))
        return false;
    if (x->kind == CORE_INDEX)
        return core_atom_equal(x->index.array, y->index.array) &&
               tables_same_number(t, x->index.index, y->index.index, depth - 1);
    if (x->kind == CORE_LENGTH)
        return core_atom_equal(x->length.array, y->length.array);
    if (x->kind != CORE_PRIM || x->prim.op != y->prim.op || x->prim.nargs != y->prim.nargs)
        return false;
    for (uint32_t i = 0; i < x->prim.nargs; i++)
        if (!tables_same_number(t, x->prim.args[i], y->prim.args[i], depth - 1))
            return false;
    return true;
}

/* x = *base + the result: k, k + 1 and 3, for example. */
static int64_t offset_from(Tables *t, CoreAtom x, CoreAtom *base)
{
    const CoreStmt *s = core_as_prim(tables_maker(t, tables_renamed(t, x)), PRIM_ADD);
    *base = x.is_const ? core_i64(0) : tables_renamed(t, x);
    if (x.is_const)
        return (int64_t)x.bits;
    if (!s || !s->prim.args[1].is_const)
        return 0;
    *base = tables_renamed(t, s->prim.args[0]);
    return (int64_t)s->prim.args[1].bits;
}

static bool are_different(Tables *t, CoreAtom a, CoreAtom b)
{
    CoreAtom x, y;
    const int64_t m = offset_from(t, a, &x), n = offset_from(t, b, &y);
    return m != n && core_atom_equal(x, y);
}

static CoreAtom changed_by(const CoreStmt *s, CoreAtom array);

/* What the array is as long as, of what stands in front of the block. */
static CoreAtom changed_in(const CoreBlock *b, CoreAtom array)
{
    for (const CoreStmt *s = core_block_def(b, array); s; s = core_block_def(b, array)) {
        const CoreAtom of = changed_by(s, array);
        if (core_atom_equal(of, array))
            break;
        array = of;
    }
    return array;
}

/* What the array is as long as: what it changes, or what both branches do, or what the state of a loop begins as whose
 * rounds change it; or itself. */
static CoreAtom changed_by(const CoreStmt *s, CoreAtom array)
{
    if (!core_stmt_changes(s).is_const)
        return core_stmt_changes(s);
    if (s->kind != CORE_LOOP && s->kind != CORE_IF)
        return array;
    const uint32_t k = core_stmt_result(s, array);
    if (s->kind == CORE_IF) {
        const CoreAtom x = changed_in(s->if_.then_b, s->if_.then_b->results[k]);
        return core_atom_equal(x, changed_in(s->if_.else_b, s->if_.else_b->results[k])) ? x : array;
    }
    const CoreAtom next = changed_in(s->loop.body, s->loop.body->results[k]);
    return !next.is_const && next.var == s->loop.params[k] ? s->loop.inits[k] : array;
}

/* The array's length, as far as that shows. */
bool tables_known_length(Tables *t, CoreAtom array, CoreAtom *n)
{
    array = tables_renamed(t, array);
    const CoreStmt *s = tables_maker(t, array);
    for (CoreAtom of; s && !core_atom_equal(of = changed_by(s, array), array);) {
        array = tables_renamed(t, of);
        s = tables_maker(t, array);
    }
    if (s && s->kind == CORE_ARRAY) {
        *n = core_i64(s->array.n);
        return true;
    }
    if (s && s->kind == CORE_SLICE)
        return core_length_of_piece(s, tables_maker(t, s->slice.to), n);
    const CoreStmt *row = s && s->kind == CORE_INDEX ? tables_row_map(tables_maker(t, s->index.array)) : NULL;
    if (row) {
        *n = row->soac.domain;
        return true;
    }
    if (!s || (s->kind != CORE_MAP && s->kind != CORE_SCAN) || s->soac.guard)
        return false;
    *n = s->soac.domain;
    return true;
}

/* ---- pieces ---- */

static void emit(Tables *t, CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (s->vars[i] >= t->first)
            tables_part_of(t, s->vars[i])->maker = s;
    core_push(t->b.p, t->b.out, s);
}

void tables_emit(void *tables, CoreBlock *out, CoreStmt *s)
{
    (void)out; /* it is the builder's */
    emit(tables, s);
}

static void emit_into(Tables *t, CoreVar v, CoreStmt *s)
{
    s->vars = build_vars_copy(&t->b, &v, 1, 1);
    s->nvars = 1;
    emit(t, s);
}

static void emit_atom_into(Tables *t, CoreVar v, CoreAtom a)
{
    CoreStmt *s = build_stmt_into(&t->b, CORE_ATOM, 1, &v);
    s->atom = a;
    emit(t, s);
}

/* The table's row i, which is known to be there. */
Part tables_row_at(Tables *t, const Part *table, CoreAtom i)
{
    const Shape *s = table->shape;
    i = table->slice ? build_prim2(&t->b, PRIM_ADD, table->first, i) : i;
    Part p = {.kind = ROW, .flat = table->flat, .shape = s, .row = i, .before = CORE_NO_VAR, .after = CORE_NO_VAR};
    p.bound = tables_part(t, table->flat).age;
    p.base = s->regular ? build_prim2(&t->b, PRIM_MUL, i, s->stride) : build_index(&t->b, s->offsets, i, CORE_NO_SITE);
    p.length = s->regular ? s->stride : build_index(&t->b, s->lengths, i, CORE_NO_SITE);
    p.number = t->numbered++;
    return p;
}

static CoreAtom with_pending(Tables *t, const Pending *p, CoreAtom j, CoreAtom x)
{
    if (!p)
        return x;
    x = with_pending(t, p->before, j, x);
    return build_select(&t->b, build_prim2(&t->b, PRIM_EQ, p->index, j), p->value, x);
}

/* The row where it is now, if only others have been updated since it was bound. */
static Part current_row(Tables *t, Part row)
{
    while (!row.copied && tables_part(t, row.flat).age == UPDATED) {
        const CoreVar after = tables_part(t, row.flat).after;
        if (after == CORE_NO_VAR)
            break;
        const Part next = tables_part(t, build_atom(&t->b, after));
        if (next.in != t->b.out || !are_different(t, next.row, row.row))
            break;
        row.flat = build_atom(&t->b, after);
        row.bound = next.age == UPDATED ? CURRENT : next.age;
    }
    return row;
}

/* Element j of the row, which is known to be there. A row whose table has changed meanwhile is to be copied where it is
 * bound: the next try does that. */
CoreAtom tables_element_of_row(Tables *t, const Part *bound, CoreAtom j)
{
    const Part now = current_row(t, *bound), *row = &now;
    if (!row->copied && tables_part(t, row->flat).age > row->bound) {
        vec_push(t->scratch, &t->copied, row->number);
        t->again = true;
    }
    const CoreAtom at = row->copied ? j : build_prim2(&t->b, PRIM_ADD, row->base, j);
    const CoreAtom x = build_index(&t->b, row->copied ? row->copy : row->flat, at, CORE_NO_SITE);
    return with_pending(t, row->pending, j, x);
}

CoreAtom tables_copy_of_row(Tables *t, const Part *row)
{
    const CoreAtom j = build_var(&t->b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(&t->b);
    const CoreAtom x = tables_element_of_row(t, row, j);
    CoreSoac soac = {.domain = row->length, .index = j.var, .body = build_end(&t->b, outer, &x, 1)};
    return build_map(&t->b, soac)[0];
}

void tables_bind_row(Tables *t, CoreVar v, Part p)
{
    for (uint32_t i = 0; i < t->copied.n; i++)
        p.copied |= t->copied.at[i] == p.number;
    if (p.copied) {
        p.copied = false;
        p.copy = tables_copy_of_row(t, &p);
        p.copied = true;
    }
    *tables_part_of(t, v) = p;
}

/* ---- statements ---- */

/* What is no part: of a lane's code, a row becomes an array of its own. */
static void settle(void *ctx, CoreAtom *a)
{
    Tables *t = ctx;
    const Part p = tables_part(t, *a);
    if (t->lane && p.kind == ROW)
        *a = tables_copy_of_row(t, &p);
    else
        t->failed |= p.kind != NO_PART;
}

void tables_settle_results(Tables *t, CoreBlock *block)
{
    CoreBlock *outer = t->b.out;
    t->b.out = block;
    for (uint32_t i = 0; i < block->nresults; i++)
        settle(t, &block->results[i]);
    t->b.out = outer;
}

static void rewrite_inner(void *ctx, CoreBlock *block)
{
    Tables *t = ctx;
    const uint32_t same = t->same.n;
    tables_rewrite_block(t, block);
    tables_settle_results(t, block);
    t->same.n = same;
}

static void rewrite_index(Tables *t, CoreStmt *s)
{
    const Part p = tables_part(t, s->index.array);
    build_check_bounds(&t->b, s->site, s->index.index, p.kind == TABLE ? p.shape->rows : p.length);
    if (p.kind == ROW) {
        emit_atom_into(t, s->vars[0], tables_element_of_row(t, &p, s->index.index));
        return;
    }
    const Part row = current_row(t, tables_row_at(t, &p, s->index.index));
    t->failed |= tables_part(t, row.flat).age == UPDATED;
    tables_bind_row(t, s->vars[0], row);
}

/* An index out of range leaves the row as it is, where that is no failure. */
static CoreAtom place_in(Tables *t, const Part *row, const CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    const CoreAtom j = s->update.index;
    build_check_bounds(b, s->site, j, row->length);
    const CoreAtom at = build_prim2(b, PRIM_ADD, row->base, j);
    if (s->site != CORE_NO_SITE || s->update.holds)
        return at;
    const CoreAtom low = build_prim2(b, PRIM_LE, core_i64(0), j), high = build_prim2(b, PRIM_LT, j, row->length);
    return build_select(b, build_prim2(b, PRIM_AND, low, high), at, core_i64(-1));
}

static bool has_scalars(Tables *t, CoreAtom flat) { return core_atom_type(t->b.fn, flat).rank == 1; }

static uint32_t count_pending(const Pending *p)
{
    uint32_t n = 0;
    for (; p; p = p->before)
        n++;
    return n;
}

/* Of an element of the map at work: what changes is stored behind the map. */
static void rewrite_element_update(Tables *t, CoreStmt *s, Part row)
{
    Pending *p = arena_new(t->scratch, Pending);
    t->failed |= !has_scalars(t, row.flat) || row.copied || count_pending(row.pending) == MOST_PENDING;
    *p = (Pending){row.pending, s->update.index, place_in(t, &row, s), s->update.value};
    row.pending = p;
    *tables_part_of(t, s->vars[0]) = row;
}

static void rewrite_row_update(Tables *t, CoreStmt *s)
{
    Part row = current_row(t, tables_part(t, s->update.array));
    if (row.element_of && row.element_of == t->repetition) {
        rewrite_element_update(t, s, row);
        return;
    }
    const Part old = tables_part(t, row.flat);
    t->failed |= row.pending != NULL;
    t->failed |=
        kind_of(t, s->update.value) != NO_PART || old.age != CURRENT || (!t->lane && old.repetition != t->repetition);
    const CoreVar before = row.flat.var;
    CoreStmt *u = build_stmt(&t->b, CORE_UPDATE, 1, &(CoreType){0});
    u->update.array = row.flat;
    u->update.index = place_in(t, &row, s);
    u->update.holds = s->site != CORE_NO_SITE || s->update.holds;
    u->update.value = s->update.value;
    const CoreAtom flat = tables_new_flat(t, s->update.array.var);
    t->b.fn->vars.at[flat.var].type = core_atom_type(t->b.fn, row.flat);
    emit_into(t, flat.var, u);
    tables_grow_older(t, row.flat, UPDATED);
    Part *made = tables_part_of(t, flat.var);
    made->before = before;
    made->in = t->b.out;
    if (before >= t->first)
        tables_part_of(t, before)->after = flat.var;
    made->row = row.row;
    t->updates++;
    t->unstored++;
    row.flat = flat;
    row.bound = CURRENT;
    row.copied = false;
    row.number = t->numbered++;
    *tables_part_of(t, s->vars[0]) = row;
}

/* The row is the table's row i, updated? Then all these updates have been put back. */
static bool is_updated_row(Tables *t, const Part *row, CoreAtom table, CoreAtom i)
{
    if (row->kind != ROW || row->flat.is_const || row->pending || !tables_same_number(t, row->row, i, SAME_DEPTH))
        return false;
    for (CoreAtom flat = row->flat; flat.var != table.var;) {
        const Part p = tables_part(t, flat);
        if (p.before == CORE_NO_VAR || !tables_same_number(t, p.row, i, SAME_DEPTH))
            return false;
        flat = build_atom(&t->b, p.before);
    }
    return true;
}

static void note_stored(Tables *t, CoreAtom flat, CoreAtom table)
{
    while (flat.var != table.var) {
        Part *p = tables_part_of(t, flat.var);
        t->unstored -= !p->stored;
        p->stored = true;
        flat = build_atom(&t->b, p->before);
    }
}

/* flat with scalars stored at places: results of the body are where, and what. It must be this repetition's, and not be
 * read afterwards. */
static CoreAtom emit_scatter(Tables *t, CoreAtom flat, CoreSoac soac)
{
    const Part old = tables_part(t, flat);
    const CoreType type = core_atom_type(t->b.fn, flat);
    t->failed |= old.age != CURRENT || (!t->lane && old.repetition != t->repetition);
    CoreStmt *s = build_stmt(&t->b, CORE_SCATTER, 1, &type);
    s->soac = soac;
    s->soac.dests = build_atoms_copy(&t->b, &flat, 1, 1);
    emit(t, s);
    tables_grow_older(t, flat, UPDATED);
    tables_part_of(t, s->vars[0])->repetition = t->repetition;
    t->updates++;
    return build_atom(&t->b, s->vars[0]);
}

/* The n elements of ys from `base` on, unless they are not there. */
static CoreAtom store_at(Tables *t, CoreAtom flat, CoreAtom base, CoreAtom n, CoreAtom there, CoreAtom ys)
{
    CoreBuilder *b = &t->b;
    const CoreAtom j = build_var(b, core_scalar(SC_I64), NULL),
                   y = build_var(b, core_element(core_atom_type(b->fn, ys)), NULL);
    CoreBlock *outer = build_begin(b);
    CoreAtom at = build_prim2(b, PRIM_ADD, base, j);
    at = there.is_const ? at : build_select(b, there, at, core_i64(-1));
    CoreSoac soac = {.domain = n, .index = j.var, .ninputs = 1};
    soac.body = build_end(b, outer, (CoreAtom[]){at, y}, 2);
    soac.inputs = build_atoms_copy(b, &ys, 1, 1);
    soac.elements = build_vars_copy(b, &y.var, 1, 1);
    return emit_scatter(t, flat, soac);
}

/* What an operation makes of rows' elements is as long as these rows. */
static void note_lengths(Tables *t, const CoreStmt *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->soac.ninputs && n < 2; i++) {
        const Part p = tables_part(t, s->soac.inputs[i]);
        for (uint32_t k = 0; p.kind == ROW && k < s->nvars; k++) {
            tables_part_of(t, s->vars[k])->like[n].shape = p.shape;
            tables_part_of(t, s->vars[k])->like[n].row = p.row;
        }
        n += p.kind == ROW;
    }
}

static bool is_as_long(Tables *t, const Part *made, const Part *row)
{
    bool same = false;
    for (uint32_t i = 0; i < 2 && made->kind == NO_PART && made->like[i].shape; i++)
        same |= made->like[i].shape == row->shape && tables_same_number(t, made->like[i].row, row->row, SAME_DEPTH);
    return same;
}

/* Another row, of the same length. */
static void replace_row(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    const Part table = tables_part(t, s->update.array), from = tables_part(t, s->update.value);
    const CoreAtom flat = table.flat, i = s->update.index;
    CoreAtom n = from.length;
    const bool outside = s->site == CORE_NO_SITE && !s->update.holds; /* it may be */
    build_check_bounds(b, s->site, i, table.shape->rows);
    t->replaces = true;
    t->failed |= from.kind == TABLE || (outside && (!table.shape->regular || !has_scalars(t, flat)));
    t->failed |= !has_scalars(t, flat) && !tables_row_map(tables_maker(t, s->update.value)); /* for the next level */
    if (t->failed || (from.kind == NO_PART && !tables_known_length(t, s->update.value, &n))) {
        t->failed = true;
        return;
    }
    const Part row = tables_row_at(t, &table, i);
    t->failed |= !tables_same_number(t, n, row.length, SAME_DEPTH) && !is_as_long(t, &from, &row);
    CoreAtom there = core_const(SC_BOOL, 1);
    if (outside)
        there = build_prim2(b, PRIM_AND, build_prim2(b, PRIM_LE, core_i64(0), i),
                            build_prim2(b, PRIM_LT, i, table.shape->rows));
    const CoreAtom ys = from.kind == ROW ? tables_copy_of_row(t, &from) : s->update.value;
    const CoreAtom stored = store_at(t, flat, row.base, row.length, there, ys);
    tables_bind(t, s->vars[0], stored, table.shape);
}

/* Rows that a map makes, into a table from row `base` on: another level's replace_row(). */
static void rewrite_scatter(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    const Part table = tables_part(t, s->soac.dests[0]);
    const CoreAtom at = s->soac.body->results[0], ys = s->soac.ninputs == 1 ? s->soac.inputs[0] : core_i64(0);
    const CoreStmt *sum = core_as_prim(core_block_def(s->soac.body, at), PRIM_ADD);
    const CoreStmt *rows = tables_maker(t, ys), *row = tables_row_map(rows);
    t->replaces = true;
    t->failed |= s->nvars != 1 || s->soac.guard || !sum || s->soac.body->stmts.n != 1 || !row ||
                 !has_scalars(t, table.flat) || !table.shape->regular || table.slice;
    if (t->failed)
        return;
    const CoreAtom base = sum->prim.args[0], j = sum->prim.args[1], y = s->soac.body->results[1];
    t->failed |= j.is_const || j.var != s->soac.index || core_soac_binds(s, base) || y.is_const ||
                 y.var != s->soac.elements[0] ||
                 !tables_same_number(t, s->soac.domain, rows->soac.domain, SAME_DEPTH) ||
                 !tables_same_number(t, row->soac.domain, table.shape->stride, SAME_DEPTH);
    if (t->failed)
        return;
    const CoreAtom width = table.shape->stride, all = build_flatten(b, ys);
    const CoreAtom n = build_prim2(b, PRIM_SIZE_MUL, s->soac.domain, width);
    const CoreAtom from = build_prim2(b, PRIM_MUL, base, width);
    const CoreAtom flat = store_at(t, table.flat, from, n, core_const(SC_BOOL, 1), all);
    tables_bind(t, s->vars[0], flat, table.shape);
}

/* Of an updated row the array has all of the table. */
static void rewrite_table_update(Tables *t, CoreStmt *s)
{
    const Part table = tables_part(t, s->update.array), row = tables_part(t, s->update.value);
    if (!is_updated_row(t, &row, table.flat, s->update.index)) {
        t->lane ? lane_tables_replace_row(t, s) : replace_row(t, s);
        return;
    }
    note_stored(t, row.flat, table.flat);
    tables_bind(t, s->vars[0], row.flat, table.shape);
}

static void rewrite_update(Tables *t, CoreStmt *s)
{
    if (kind_of(t, s->update.array) == TABLE)
        rewrite_table_update(t, s);
    else
        rewrite_row_update(t, s);
}

static void rewrite_length(Tables *t, CoreStmt *s)
{
    const Part p = tables_part(t, s->length.array);
    emit_atom_into(t, s->vars[0], p.kind == TABLE ? p.shape->rows : p.length);
}

static bool same_shape(Tables *t, const Shape *a, const Shape *b)
{
    if (a == b)
        return true;
    if (!a->regular || !b->regular || !tables_same_number(t, a->rows, b->rows, SAME_DEPTH))
        return false;
    const CoreAtom rows = tables_renamed(t, a->rows);
    t->rows = &rows;
    const bool same = tables_same_number(t, a->stride, b->stride, SAME_DEPTH);
    t->rows = NULL;
    return same;
}

/* One that only a part of the statements is for leaves the others as they were. */
static void rewrite_branches(Tables *t, CoreStmt *s)
{
    const uint32_t before = t->aged.n, same = t->same.n;
    tables_rewrite_block(t, s->if_.then_b);
    t->same.n = same;
    const uint32_t n = t->aged.n;
    Age *ages = arena_array(t->scratch, Age, n + 1);
    for (uint32_t i = before; i < n; i++) {
        ages[i] = tables_part_of(t, t->aged.at[i])->age;
        tables_part_of(t, t->aged.at[i])->age = CURRENT;
    }
    tables_rewrite_block(t, s->if_.else_b);
    for (uint32_t i = 0; i < s->nvars; i++) {
        const Part a = tables_part(t, s->if_.then_b->results[i]), b = tables_part(t, s->if_.else_b->results[i]);
        t->failed |= a.kind == TABLE && b.kind == TABLE && !same_shape(t, a.shape, b.shape);
    }
    t->same.n = same;
    for (uint32_t i = before; i < n; i++)
        tables_grow_older(t, build_atom(&t->b, t->aged.at[i]), ages[i]);
}

/* The table's rows as an array of their own. */
CoreAtom tables_whole(Tables *t, const Part *table)
{
    CoreBuilder *b = &t->b;
    if (!table->slice)
        return table->flat;
    const CoreAtom from = build_prim2(b, PRIM_MUL, table->first, table->shape->stride);
    return build_piece(b, table->flat, from, build_prim2(b, PRIM_MUL, table->shape->rows, table->shape->stride));
}

static CoreAtom whole_in(Tables *t, CoreBlock *block, const Part *table)
{
    CoreBlock *outer = t->b.out;
    t->b.out = block;
    const CoreAtom whole = tables_whole(t, table);
    t->b.out = outer;
    return whole;
}

static void settle_rows(Tables *t, CoreBlock *block)
{
    CoreBlock *outer = t->b.out;
    t->b.out = block;
    for (uint32_t i = 0; i < block->nresults; i++)
        if (kind_of(t, block->results[i]) == ROW)
            settle(t, &block->results[i]);
    t->b.out = outer;
}

void tables_rewrite_if(Tables *t, CoreStmt *s)
{
    rewrite_branches(t, s);
    if (t->lane) {
        settle_rows(t, s->if_.then_b);
        settle_rows(t, s->if_.else_b);
    }
    for (uint32_t i = 0; i < s->nvars && !t->failed; i++) {
        CoreAtom *x = &s->if_.then_b->results[i], *y = &s->if_.else_b->results[i];
        const Part a = tables_part(t, *x), b = tables_part(t, *y);
        t->failed |= a.kind != b.kind || a.kind == ROW;
        if (t->failed || a.kind == NO_PART)
            continue;
        *x = whole_in(t, s->if_.then_b, &a);
        *y = whole_in(t, s->if_.else_b, &b);
        tables_grow_older(t, *x, UPDATED);
        tables_grow_older(t, *y, UPDATED);
        const CoreAtom flat = tables_new_flat(t, s->vars[i]);
        tables_bind(t, s->vars[i], flat, a.shape);
        s->vars[i] = flat.var;
    }
    emit(t, s);
}

static void begin_with_table(Tables *t, CoreStmt *s, uint32_t i)
{
    const Part table = tables_part(t, s->loop.inits[i]);
    const CoreAtom from = tables_whole(t, &table);
    const Part old = tables_part(t, from);
    t->failed |=
        old.age == UPDATED || (!t->lane && !from.is_const && from.var >= t->first && old.repetition != t->repetition);
    tables_grow_older(t, from, LOOPED);
    s->loop.inits[i] = from;
}

void tables_rewrite_loop(Tables *t, CoreStmt *s)
{
    const uint32_t n = s->loop.nparams, outer = t->repetition;
    const Shape **tables = arena_array(t->scratch, const Shape *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const Part init = tables_part(t, s->loop.inits[i]);
        if (init.kind == ROW)
            s->loop.inits[i] = tables_copy_of_row(t, &init);
        tables[i] = init.kind == TABLE ? init.shape : NULL;
        if (tables[i])
            begin_with_table(t, s, i);
    }
    t->repetition = ++t->repetitions;
    for (uint32_t i = 0; i < n && !t->failed; i++)
        if (tables[i]) {
            const CoreAtom flat = tables_new_flat(t, s->loop.params[i]);
            tables_bind(t, s->loop.params[i], flat, tables[i]);
            s->loop.params[i] = flat.var;
        }
    const uint32_t same = t->same.n;
    if (s->loop.cond)
        rewrite_inner(t, s->loop.cond);
    tables_rewrite_block(t, s->loop.body);
    if (t->lane)
        settle_rows(t, s->loop.body);
    t->repetition = outer;
    for (uint32_t i = 0; i < n && !t->failed; i++) {
        CoreAtom *next = &s->loop.body->results[i];
        const Part made = tables_part(t, *next);
        t->failed |= made.kind != (tables[i] ? TABLE : NO_PART) || (tables[i] && !same_shape(t, made.shape, tables[i]));
        if (!tables[i] || t->failed)
            continue;
        *next = whole_in(t, s->loop.body, &made);
        const CoreAtom flat = tables_new_flat(t, s->vars[i]);
        tables_bind(t, s->vars[i], flat, tables[i]);
        s->vars[i] = flat.var;
    }
    t->same.n = same;
    emit(t, s);
}

/* Rows and elements that the operation goes over are read by position. */
void tables_rewrite_inputs(Tables *t, CoreSoac *soac, bool map)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        const Part p = tables_part(t, soac->inputs[i]);
        if (p.kind == NO_PART) {
            soac->inputs[kept] = soac->inputs[i];
            soac->elements[kept++] = soac->elements[i];
            continue;
        }
        if (soac->index == CORE_NO_VAR)
            soac->index = build_var(&t->b, core_scalar(SC_I64), NULL).var;
        const CoreAtom at = build_atom(&t->b, soac->index);
        t->failed |= soac->guard || (p.kind == TABLE && tables_part(t, p.flat).age == UPDATED);
        if (p.kind == TABLE) {
            Part row = tables_row_at(t, &p, at);
            row.element_of = map ? t->repetition : 0;
            tables_bind_row(t, soac->elements[i], row);
        } else
            emit_atom_into(t, soac->elements[i], tables_element_of_row(t, &p, at));
    }
    soac->ninputs = kept;
}

/* Is it an element of this map's table, perhaps updated? */
static Part row_result(Tables *t, CoreAtom a, uint32_t repetition)
{
    const Part p = tables_part(t, a);
    return p.kind == ROW && p.element_of == repetition && !p.copied ? p : (Part){0};
}

/* Instead of rows, the map gives where they change, and what to: columns, the oldest first. */
static void give_pending(Tables *t, CoreStmt *s, const Part *rows)
{
    CoreBlock *body = s->soac.body;
    uint32_t n = 0, most = s->nvars;
    for (uint32_t i = 0; i < s->nvars; i++)
        most += 2 * count_pending(rows[i].pending);
    CoreAtom *results = arena_array(t->b.p->arena, CoreAtom, most + 1);
    CoreVar *vars = arena_array(t->b.p->arena, CoreVar, most + 1);
    for (uint32_t i = 0; i < s->nvars; i++) {
        if (rows[i].kind != ROW) {
            vars[n] = s->vars[i];
            results[n++] = body->results[i];
            continue;
        }
        const uint32_t count = count_pending(rows[i].pending);
        uint32_t at = n += 2 * count;
        for (const Pending *p = rows[i].pending; p; p = p->before) {
            results[--at] = p->value;
            results[--at] = p->place;
            vars[at] = build_var(&t->b, core_seq(core_scalar(SC_I64)), NULL).var;
            vars[at + 1] = build_var(&t->b, core_atom_type(t->b.fn, rows[i].flat), NULL).var;
        }
    }
    body->results = results;
    s->vars = vars;
    body->nresults = s->nvars = n;
}

/* The columns that map has from *at on, stored in flat. */
static CoreAtom store_pending(Tables *t, const CoreStmt *map, uint32_t *at, const Pending *pending, CoreAtom flat)
{
    CoreBuilder *b = &t->b;
    for (uint32_t k = count_pending(pending); k > 0; k--, *at += 2) {
        const CoreAtom columns[] = {build_atom(b, map->vars[*at]), build_atom(b, map->vars[*at + 1])};
        const CoreAtom values[] = {build_var(b, core_scalar(SC_I64), NULL),
                                   build_var(b, core_element(columns[1].type), NULL)};
        CoreSoac soac = {.domain = map->soac.domain, .index = CORE_NO_VAR, .ninputs = 2};
        soac.inputs = build_atoms_copy(b, columns, 2, 2);
        soac.elements = build_vars_copy(b, (CoreVar[]){values[0].var, values[1].var}, 2, 2);
        CoreBlock *outer = build_begin(b);
        soac.body = build_end(b, outer, values, 2);
        flat = emit_scatter(t, flat, soac);
    }
    return flat;
}

static void rewrite_soac(Tables *t, CoreStmt *s)
{
    const uint32_t outer = t->repetition, same = t->same.n;
    CoreLambda *op = core_stmt_operator(s);
    CoreBlock *around = t->b.out, *body = s->soac.body;
    t->repetition = ++t->repetitions;
    if (s->soac.guard)
        rewrite_inner(t, s->soac.guard);
    CoreBlock front = {0}, old = core_take_stmts(body);
    t->b.out = &front;
    if (s->kind == CORE_MAP && !s->soac.guard)
        note_lengths(t, s);
    tables_rewrite_inputs(t, &s->soac, s->kind == CORE_MAP);
    t->b.out = around;
    body->stmts = old.stmts;
    const CoreVar *made = s->vars;
    const uint32_t nmade = s->nvars, repetition = t->repetition;
    Part *rows = arena_array(t->scratch, Part, nmade + 1);
    tables_rewrite_block(t, body);
    for (uint32_t i = 0; s->kind == CORE_MAP && i < nmade; i++)
        rows[i] = row_result(t, body->results[i], repetition);
    if (s->kind == CORE_MAP)
        give_pending(t, s, rows);
    tables_settle_results(t, body);
    lane_tables_leave(t, same, &s->soac);
    core_put_in_front(t->b.p, body, &front);
    if (op)
        rewrite_inner(t, op->body);
    t->repetition = outer;
    core_stmt_atoms(s, settle, t);
    emit(t, s);
    for (uint32_t i = 0, at = 0; i < nmade && !t->failed; i++) {
        if (rows[i].kind == ROW)
            tables_bind(t, made[i], store_pending(t, s, &at, rows[i].pending, rows[i].flat), rows[i].shape);
        else
            at++;
    }
}

static bool is_of_part(Tables *t, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_INDEX: return kind_of(t, s->index.array) != NO_PART;
    case CORE_LENGTH: return kind_of(t, s->length.array) != NO_PART;
    case CORE_UPDATE: return kind_of(t, s->update.array) != NO_PART;
    default: return false;
    }
}

static void rewrite_stmt(Tables *t, CoreStmt *s)
{
    t->b.span = s->span;
    if (t->lane && lane_tables_stmt(t, s))
        return;
    if (s->kind == CORE_LOOP) {
        tables_rewrite_loop(t, s);
    } else if (s->kind == CORE_IF) {
        tables_rewrite_if(t, s);
    } else if (s->kind == CORE_SCATTER && kind_of(t, s->soac.dests[0]) == TABLE) {
        rewrite_scatter(t, s);
    } else if (core_stmt_soac(s)) {
        rewrite_soac(t, s);
    } else if (s->kind == CORE_ATOM && kind_of(t, s->atom) != NO_PART) {
        *tables_part_of(t, s->vars[0]) = tables_part(t, s->atom);
    } else if (!is_of_part(t, s)) {
        core_stmt_blocks(s, rewrite_inner, t);
        core_stmt_atoms(s, settle, t);
        emit(t, s);
        if (t->lane && s->kind == CORE_CHECK)
            lane_tables_learn(t, s->check.cond, LEARNT_DEPTH);
    } else if (s->kind == CORE_INDEX) {
        rewrite_index(t, s);
    } else if (s->kind == CORE_LENGTH) {
        rewrite_length(t, s);
    } else {
        rewrite_update(t, s);
    }
}

void tables_rewrite_block(Tables *t, CoreBlock *block)
{
    CoreBlock *outer = t->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n && !t->failed; i++) {
        t->b.out = block;
        rewrite_stmt(t, old.stmts.at[i]);
    }
    t->b.out = outer;
}
