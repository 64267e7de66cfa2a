/* Tables in the code of a lane with memory: rows of rows that are all of one length become one array, and so all that
 * lanes make of them, so that they can go side by side, and write elements where they are:
 *
 *     t' = map n at i (row <- t) {               fs = room for n * w;  f' = loop (g = fs) for i < n do {
 *         … y = map w at j { … x … } -> y }  ==>     … loop (g = g) for j < w do { … x … -> update g (i * w + j) x } }
 *
 * An instance's tables from in front of the lane begin as copies (CORE_TABLE), for which the lane gives up where rows
 * differ. So the code must have checked that they are as long as something else: lists of neighbours are no tables.
 * What updates, loops and branches do with tables is rewritten as in loops that are not in lanes (flat_tables.c). If
 * something else is done with one, the lane's code stays as it is. */
#include "core/choose_lanes_internal.h"
#include "core/flat_tables_internal.h"

enum { MOST_TABLES = 16, MOST_BLOCKS = 6 };

/* ---- what is checked ---- */

static CheckedRows *rows_of_length(Tables *t, CoreAtom length)
{
    for (uint32_t i = 0; i < t->checked.n; i++)
        if (core_atom_equal(t->checked.at[i].length, length))
            return &t->checked.at[i];
    return NULL;
}

void lane_tables_equal(Tables *t, CoreAtom x, CoreAtom y)
{
    CoreAtom a = tables_renamed(t, x), b = tables_renamed(t, y);
    CheckedRows *of_a = rows_of_length(t, a), *of_b = rows_of_length(t, b);
    if (core_atom_equal(a, b))
        return;
    if (of_a && !of_b) /* rows of two tables may be as long as one another, each of a length of its own */
        of_a->checked = true;
    if (of_b && !of_a)
        of_b->checked = true;
    if (a.is_const || (!b.is_const && b.var > a.var)) {
        const CoreAtom swap = a;
        a = b;
        b = swap;
    }
    vec_push(t->scratch, &t->same, ((Same){.var = a.var, .as = b}));
}

void lane_tables_learn(Tables *t, CoreAtom cond, uint32_t depth)
{
    const CoreStmt *s = tables_maker(t, tables_renamed(t, cond));
    if (depth == 0 || !s)
        return;
    if (s->kind == CORE_REDUCE && s->nvars == 1 && core_op_part(&s->soac.op, 0) == PRIM_AND) {
        lane_tables_learn(t, s->soac.body->results[0], depth - 1); /* or there are no rows, of any length */
        return;
    }
    if (s->kind != CORE_PRIM || (s->prim.op != PRIM_AND && s->prim.op != PRIM_EQ))
        return;
    if (s->prim.op == PRIM_AND) {
        lane_tables_learn(t, s->prim.args[0], depth - 1);
        lane_tables_learn(t, s->prim.args[1], depth - 1);
        return;
    }
    if (core_atom_type(t->b.fn, s->prim.args[0]).scalar == SC_I64)
        lane_tables_equal(t, s->prim.args[0], s->prim.args[1]);
}

void lane_tables_leave(Tables *t, uint32_t same, const CoreSoac *soac)
{
    const uint32_t n = t->same.n;
    t->same.n = same;
    const CoreAtom rows = tables_renamed(t, soac->domain);
    for (uint32_t i = same; i < n; i++) {
        Same s = t->same.at[i];
        const CoreAtom var = core_var_atom(s.var, core_scalar(SC_I64));
        if (s.of_rows || s.var == soac->index || core_block_def(soac->body, var) || core_block_def(soac->body, s.as) ||
            (!s.as.is_const && s.as.var == soac->index))
            continue;
        s.of_rows = true;
        s.rows = rows;
        t->same.at[t->same.n++] = s;
    }
}

/* ---- lengths of rows that are still to be made ---- */

/* The map, and the blocks in it around what is looked at. */
typedef struct Inside {
    const CoreStmt *map;
    const CoreBlock *blocks[MOST_BLOCKS];
    uint32_t n;
} Inside;

static const CoreStmt *made_inside(const Inside *in, CoreAtom a)
{
    for (uint32_t i = in->n; i-- > 0;) {
        const CoreStmt *s = core_block_def(in->blocks[i], a);
        if (s)
            return s;
    }
    return NULL;
}

/* In the lane's code or in front of it. */
static const CoreStmt *maker_anywhere(Tables *t, CoreAtom a)
{
    const CoreStmt *s = tables_maker(t, a);
    return s || a.is_const || a.var >= t->first ? s : core_fn_def(t->b.fn, a);
}

/* The input whose element it is; or a constant. */
static CoreAtom input_of(const Inside *in, CoreAtom a)
{
    for (uint32_t i = 0; i < in->map->soac.ninputs; i++)
        if (!a.is_const && in->map->soac.elements[i] == a.var)
            return in->map->soac.inputs[i];
    return core_i64(0);
}

static bool length_outside(Tables *t, const Inside *in, CoreAtom array, CoreAtom *n);

/* As an atom from outside of the map. */
static bool number_outside(Tables *t, const Inside *in, CoreAtom a, CoreAtom *n)
{
    const CoreStmt *s = made_inside(in, a);
    *n = a;
    if (a.is_const)
        return true;
    if (!s) /* of a block inside of these it is not, since it is read by them */
        return a.var != in->map->soac.index && input_of(in, a).is_const && !core_soac_binds(in->map, a);
    if (s->kind == CORE_ATOM)
        return number_outside(t, in, s->atom, n);
    if (s->kind == CORE_LENGTH)
        return length_outside(t, in, s->length.array, n);
    CoreAtom args[3];
    if (s->kind != CORE_PRIM || core_prim_fallible(s->prim.op, core_atom_type(t->b.fn, s->prim.args[0]).scalar))
        return false;
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        if (!number_outside(t, in, s->prim.args[i], &args[i]))
            return false;
    *n = build_prim(&t->b, s->prim.op, core_var_type(t->b.fn, s->vars[0]).scalar, args);
    return true;
}

static bool length_of_branch(Tables *t, const Inside *in, const CoreBlock *branch, uint32_t result, CoreAtom *n)
{
    Inside deeper = *in;
    if (in->n == MOST_BLOCKS)
        return false;
    deeper.blocks[deeper.n++] = branch;
    return length_outside(t, &deeper, branch->results[result], n);
}

/* Of an array, or of a table: how many rows. */
static bool length_outside(Tables *t, const Inside *in, CoreAtom array, CoreAtom *n)
{
    const CoreStmt *s = made_inside(in, array);
    const CoreAtom input = input_of(in, array);
    const Part of = tables_part(t, s ? core_i64(0) : input.is_const ? array : input);
    if (!s && of.kind == TABLE) {
        *n = input.is_const ? of.shape->rows : of.shape->stride;
        return true;
    }
    if (!s && input.is_const && !core_soac_binds(in->map, array)) {
        if (of.kind == ROW)
            *n = of.length;
        else if (!tables_known_length(t, array, n))
            *n = build_length(&t->b, array);
        return true;
    }
    if (!s)
        return false;
    const uint32_t k = core_stmt_result(s, array);
    switch (s->kind) {
    case CORE_ATOM: return length_outside(t, in, s->atom, n);
    case CORE_MAP:
    case CORE_SCAN: return !s->soac.guard && number_outside(t, in, s->soac.domain, n);
    case CORE_SCATTER: return length_outside(t, in, s->soac.dests[k], n);
    case CORE_UPDATE: return length_outside(t, in, s->update.array, n);
    case CORE_ARRAY: *n = core_i64(s->array.n); return true;
    case CORE_SLICE: {
        const CoreStmt *to = made_inside(in, s->slice.to);
        return core_length_of_piece(s, to ? to : maker_anywhere(t, s->slice.to), n) && number_outside(t, in, *n, n);
    }
    case CORE_INDEX: {
        const Part table = tables_part(t, s->index.array);
        *n = table.kind == TABLE ? table.shape->stride : *n;
        return table.kind == TABLE;
    }
    case CORE_IF: return length_of_branch(t, in, s->if_.then_b, k, n) || length_of_branch(t, in, s->if_.else_b, k, n);
    default: return false;
    }
}

/* ---- loops that store ---- */

static CoreAtom emit_stored(Tables *t, CoreAtom array, CoreAtom at, CoreAtom x)
{
    const CoreType type = core_atom_type(t->b.fn, array);
    CoreStmt *s = build_stmt(&t->b, CORE_UPDATE, 1, &type);
    s->update.array = array;
    s->update.index = at;
    s->update.value = x;
    s->update.holds = true;
    build_emit(&t->b, s);
    return build_atom(&t->b, s->vars[0]);
}

static CoreVar new_like(Tables *t, CoreAtom array)
{
    return build_var(&t->b, core_atom_type(t->b.fn, array), NULL).var;
}

/* A loop of n rounds over these arrays; what its body is, is still missing. */
static CoreStmt *new_loop(Tables *t, CoreAtom n, CoreVar index, const CoreAtom *inits, uint32_t count)
{
    const CoreProgram *p = t->b.p;
    CoreVar *vars = arena_array(p->arena, CoreVar, count + 1), *params = arena_array(p->arena, CoreVar, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = new_like(t, inits[i]);
        params[i] = new_like(t, inits[i]);
    }
    CoreStmt *s = build_stmt_into(&t->b, CORE_LOOP, count, vars);
    s->loop.params = params;
    s->loop.inits = build_atoms_copy(&t->b, inits, count, count);
    s->loop.nparams = count;
    s->loop.index = index;
    s->loop.count = n;
    return s;
}

/* Element j of the row that is stored into `into`, which has it, too, if the row is of the array that this was: rows
 * are the same, or apart. */
static CoreAtom element_to_store(Tables *t, const RowPlace *place, const Part *part, CoreAtom into, CoreAtom j)
{
    Part row = *part;
    if (core_atom_equal(row.flat, place->flat) && !row.copied) {
        row.flat = into;
        row.bound = CURRENT;
    }
    return tables_element_of_row(t, &row, j);
}

/* The row's elements into the place: it is a row of a table, or an array. */
static void store_row(Tables *t, RowPlace *place, CoreAtom row)
{
    CoreBuilder *b = &t->b;
    const Part part = tables_part(t, row);
    CoreAtom n = part.length;
    t->failed |= part.kind == TABLE || (part.kind == NO_PART && !tables_known_length(t, row, &n));
    if (t->failed || !tables_same_number(t, n, place->length, SAME_DEPTH)) {
        t->failed = true;
        return;
    }
    const CoreAtom j = build_var(b, core_scalar(SC_I64), NULL);
    CoreStmt *loop = new_loop(t, place->length, j.var, &place->flat, 1);
    CoreBlock *outer = build_begin(b);
    const CoreAtom into = build_atom(b, loop->loop.params[0]);
    const CoreAtom x =
        part.kind == ROW ? element_to_store(t, place, &part, into, j) : build_index(b, row, j, CORE_NO_SITE);
    const CoreAtom next = emit_stored(t, into, build_prim2(b, PRIM_ADD, place->base, j), x);
    loop->loop.body = build_end(b, outer, &next, 1);
    build_emit(b, loop);
    place->flat = build_atom(b, loop->vars[0]);
    place->stored = true;
}

void lane_tables_replace_row(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    Part table = tables_part(t, s->update.array);
    CoreAtom value = s->update.value;
    const Part from = tables_part(t, value);
    build_check_bounds(b, s->site, s->update.index, table.shape->rows);
    t->failed |= s->site == CORE_NO_SITE && !s->update.holds;
    if (t->failed)
        return;
    if (from.kind == ROW && !core_atom_equal(from.flat, table.flat)) /* perhaps of what the table was before */
        value = tables_copy_of_row(t, &from);
    const Part row = tables_row_at(t, &table, s->update.index);
    RowPlace place = {.flat = table.flat, .base = row.base, .length = row.length};
    store_row(t, &place, value);
    tables_grow_older(t, table.flat, UPDATED);
    table.flat = place.flat;
    *tables_part_of(t, s->vars[0]) = table;
    t->updates++;
}

/* ---- places of rows ---- */

static RowPlace *place_of(Tables *t, CoreVar v)
{
    for (uint32_t i = t->places.n; i-- > 0;)
        if (t->places.at[i].row == v)
            return &t->places.at[i];
    return NULL;
}

/* Does the block make it, for nobody but itself to give? */
static bool made_for_result(CoreBlock *block, CoreAtom a)
{
    CoreUses uses = {a.is_const ? CORE_NO_VAR : a.var, 0};
    if (a.is_const || !core_block_def(block, a))
        return false;
    core_block_atoms(block, core_count_use, &uses);
    return uses.n == 1;
}

/* The block's result, once that is rewritten: where it has been stored. The place was the last one to be pushed. */
static CoreAtom stored_result(Tables *t, CoreBlock *block, uint32_t i, RowPlace place)
{
    CoreBlock *outer = t->b.out;
    t->b.out = block;
    if (!place.stored)
        store_row(t, &place, block->results[i]);
    t->b.out = outer;
    return place.flat;
}

/* The elements that the loop's body begins with. */
static CoreBlock read_elements(Tables *t, CoreSoac *soac)
{
    CoreBlock front = {0}, *outer = t->b.out;
    if (soac->index == CORE_NO_VAR)
        soac->index = build_var(&t->b, core_scalar(SC_I64), NULL).var;
    t->b.out = &front;
    tables_rewrite_inputs(t, soac, false);
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        CoreStmt *s = build_stmt_into(&t->b, CORE_INDEX, 1, &soac->elements[i]);
        s->index.array = soac->inputs[i];
        s->index.index = build_atom(&t->b, soac->index);
        build_emit(&t->b, s);
    }
    t->b.out = outer;
    return front;
}

/* A map whose results are rows with places: stores them there. */
static bool store_map(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    const uint32_t n = s->nvars, outer = t->repetition, same = t->same.n;
    CoreBlock *body = s->soac.body, *around = b->out;
    RowPlace *places[MOST_TABLES];
    CoreAtom flats[MOST_TABLES], next[MOST_TABLES];
    if (s->soac.guard || n > MOST_TABLES)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        places[i] = place_of(t, s->vars[i]);
        if (!places[i] || core_var_type(b->fn, s->vars[i]).rank != 1 ||
            !tables_same_number(t, s->soac.domain, places[i]->length, SAME_DEPTH))
            return false;
        flats[i] = places[i]->flat;
    }
    t->repetition = ++t->repetitions;
    const CoreBlock front = read_elements(t, &s->soac);
    CoreStmt *loop = new_loop(t, s->soac.domain, s->soac.index, flats, n);
    tables_rewrite_block(t, body);
    core_put_in_front(t->b.p, body, &front);
    tables_settle_results(t, body);
    b->out = body;
    for (uint32_t i = 0; i < n; i++) {
        const CoreAtom at = build_prim2(b, PRIM_ADD, place_of(t, s->vars[i])->base, build_atom(b, s->soac.index));
        next[i] = emit_stored(t, build_atom(b, loop->loop.params[i]), at, body->results[i]);
    }
    b->out = around;
    build_results(b, body, next, n);
    loop->loop.body = body;
    build_emit(b, loop);
    for (uint32_t i = 0; i < n; i++) {
        RowPlace *place = place_of(t, s->vars[i]);
        place->flat = build_atom(b, loop->vars[i]);
        place->stored = true;
    }
    t->repetition = outer;
    lane_tables_leave(t, same, &s->soac);
    return true;
}

/* A branch whose result i is the row of the place, if it has one. */
static void store_branch(Tables *t, CoreBlock *branch, const CoreVar *rows, uint32_t n)
{
    const uint32_t first = t->places.n, same = t->same.n;
    for (uint32_t i = 0; i < n; i++) {
        const RowPlace *outer = place_of(t, rows[i]);
        RowPlace place = outer ? *outer : (RowPlace){.row = CORE_NO_VAR};
        place.row = outer && made_for_result(branch, branch->results[i]) ? branch->results[i].var : CORE_NO_VAR;
        vec_push(t->scratch, &t->places, place);
    }
    tables_rewrite_block(t, branch);
    for (uint32_t i = 0; i < n && !t->failed; i++)
        if (place_of(t, rows[i]))
            branch->results[i] = stored_result(t, branch, i, t->places.at[first + i]);
    t->places.n = first;
    t->same.n = same;
    tables_settle_results(t, branch);
}

static bool store_if(Tables *t, CoreStmt *s)
{
    bool any = false, tables = false;
    for (uint32_t i = 0; i < s->nvars; i++) {
        any |= place_of(t, s->vars[i]) != NULL;
        tables |= core_var_type(t->b.fn, s->vars[i]).rank > 1;
    }
    if (!any)
        return false;
    t->failed |= tables;
    store_branch(t, s->if_.then_b, s->vars, s->nvars);
    store_branch(t, s->if_.else_b, s->vars, s->nvars);
    for (uint32_t i = 0; i < s->nvars && !t->failed; i++) {
        RowPlace *place = place_of(t, s->vars[i]);
        if (!place)
            continue;
        s->vars[i] = new_like(t, place->flat);
        place->flat = build_atom(&t->b, s->vars[i]);
        place->stored = true;
    }
    build_emit(&t->b, s);
    return true;
}

/* ---- maps that make rows ---- */

/* Are all rows that it gives elements of its tables, perhaps updated? */
static bool gives_elements(Tables *t, const CoreStmt *map)
{
    const CoreBlock *body = map->soac.body;
    const Inside in = {.map = map};
    for (uint32_t i = 0; i < map->nvars; i++) {
        CoreAtom a = body->results[i];
        if (core_atom_type(t->b.fn, a).rank == 0)
            continue;
        for (const CoreStmt *s = core_block_def(body, a); s && s->kind == CORE_UPDATE; s = core_block_def(body, a))
            a = s->update.array;
        if (tables_part(t, input_of(&in, a)).kind != TABLE)
            return false;
    }
    return true;
}

static void rows_map(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    const uint32_t n = s->nvars, outer = t->repetition, same = t->same.n, first = t->places.n;
    CoreBlock *body = s->soac.body, *around = b->out;
    const CoreAtom domain = s->soac.domain;
    Shape *shapes[MOST_TABLES] = {NULL};
    CoreAtom rooms[MOST_TABLES], next[MOST_TABLES];
    t->failed |= s->soac.guard || n > MOST_TABLES;
    for (uint32_t i = 0; i < n && !t->failed; i++) {
        const CoreType row = core_atom_type(b->fn, body->results[i]);
        const Inside in = {.map = s, .blocks = {body}, .n = 1};
        CoreAtom size = domain;
        if (row.rank == 1) {
            shapes[i] = arena_new(t->scratch, Shape);
            *shapes[i] = (Shape){.rows = domain, .regular = true};
            t->failed |= !length_outside(t, &in, body->results[i], &shapes[i]->stride);
            size = t->failed ? size : build_prim2(b, PRIM_SIZE_MUL, domain, shapes[i]->stride);
        }
        t->failed |= row.rank > 1;
        rooms[i] = t->failed ? size : build_room(b, size, core_scalar(row.scalar));
    }
    if (t->failed)
        return;
    t->repetition = ++t->repetitions;
    CoreBlock front = read_elements(t, &s->soac);
    CoreStmt *loop = new_loop(t, domain, s->soac.index, rooms, n);
    b->out = &front;
    for (uint32_t i = 0; i < n; i++) {
        RowPlace place = {.row = CORE_NO_VAR, .flat = build_atom(b, loop->loop.params[i])};
        if (shapes[i]) {
            place.row = made_for_result(body, body->results[i]) ? body->results[i].var : CORE_NO_VAR;
            place.length = shapes[i]->stride;
            place.base = build_prim2(b, PRIM_MUL, build_atom(b, s->soac.index), place.length);
        }
        vec_push(t->scratch, &t->places, place);
    }
    b->out = around;
    tables_rewrite_block(t, body);
    core_put_in_front(t->b.p, body, &front);
    for (uint32_t i = 0; i < n && !t->failed; i++)
        if (shapes[i])
            next[i] = stored_result(t, body, i, t->places.at[first + i]);
    t->places.n = first;
    if (t->failed)
        return;
    for (uint32_t i = 0; i < n; i++)
        body->results[i] = shapes[i] ? next[i] : body->results[i];
    tables_settle_results(t, body);
    b->out = body;
    for (uint32_t i = 0; i < n; i++)
        if (!shapes[i])
            body->results[i] =
                emit_stored(t, build_atom(b, loop->loop.params[i]), build_atom(b, s->soac.index), body->results[i]);
    b->out = around;
    loop->loop.body = body;
    for (uint32_t i = 0; i < n; i++) {
        if (shapes[i])
            tables_bind(t, s->vars[i], build_atom(b, loop->vars[i]), shapes[i]);
        else
            loop->vars[i] = s->vars[i];
    }
    build_emit(b, loop);
    for (uint32_t i = 0; i < n; i++)
        if (shapes[i])
            tables_part_of(t, loop->vars[i])->repetition = outer;
    t->repetition = outer;
    lane_tables_leave(t, same, &s->soac);
}

/* ---- other statements ---- */

/* The variable is a table that begins as these rows, which lie in front of the lane. */
/* The literal that it is, perhaps one in front of the lane; or NULL. */
static const CoreStmt *literal_row(Tables *t, CoreAtom row)
{
    const CoreStmt *s = maker_anywhere(t, tables_renamed(t, row));
    return s && s->kind == CORE_ARRAY ? s : NULL;
}

/* Rows from in front of the lane that have one length, as they are written so: how many, and their length. */
static bool literal_shape(Tables *t, CoreAtom rows, Shape *shape)
{
    const CoreStmt *s = core_fn_def(t->b.fn, rows);
    bool equal = s && s->kind == CORE_ARRAY && s->array.n > 0;
    for (uint32_t i = 0; equal && i < s->array.n; i++) {
        const CoreStmt *row = literal_row(t, s->array.items[i]);
        equal = row && (i == 0 || core_atom_equal(shape->stride, core_i64(row->array.n)));
        if (equal)
            *shape = (Shape){.rows = core_i64(s->array.n), .stride = core_i64(row->array.n)};
    }
    return equal;
}

/* Likewise, as they are made by maps, or as checks in front say. */
static bool known_shape(Tables *t, CoreAtom rows, Shape *shape)
{
    const CoreStmt *part = tables_maker(t, rows);
    if (part && part->kind == CORE_INDEX)
        return core_checked_length(t->b.fn, part->index.array, 1, &shape->rows) &&
               core_checked_length(t->b.fn, part->index.array, 2, &shape->stride);
    if (!core_checked_length(t->b.fn, rows, 0, &shape->rows))
        shape->rows = build_length(&t->b, rows);
    return core_checked_length(t->b.fn, rows, 1, &shape->stride);
}

static void take_table(Tables *t, CoreVar table, CoreAtom rows)
{
    CoreBuilder *b = &t->b;
    const CoreType element = core_element(core_atom_type(b->fn, rows));
    CoreStmt *s = build_stmt(b, CORE_TABLE, 2, (CoreType[]){element, core_scalar(SC_I64)});
    s->length.array = rows;
    build_emit(b, s);
    Shape *shape = arena_new(t->scratch, Shape);
    const bool made = literal_shape(t, rows, shape) || known_shape(t, rows, shape);
    if (!made)
        *shape = (Shape){.rows = build_length(b, rows), .stride = build_atom(b, s->vars[1])};
    shape->regular = true;
    tables_part_of(t, s->vars[0])->repetition = t->repetition;
    tables_bind(t, table, build_atom(b, s->vars[0]), shape);
    vec_push(t->scratch, &t->checked, ((CheckedRows){shape->stride, made, rows.var}));
}

/* Of tables that lie in front of the lane, once. */
static bool take_indexed(Tables *t, CoreStmt *s)
{
    const CoreAtom all = s->index.array;
    if (t->repetition > 0 || all.is_const || all.var >= t->first || core_var_type(t->b.fn, s->vars[0]).rank != 2)
        return false;
    CoreStmt *index = build_stmt(&t->b, CORE_INDEX, 1, (CoreType[]){core_var_type(t->b.fn, s->vars[0])});
    index->site = s->site;
    index->index = s->index;
    build_emit(&t->b, index);
    take_table(t, s->vars[0], build_atom(&t->b, index->vars[0]));
    return true;
}

static void slice_table(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    Part p = tables_part(t, s->slice.array);
    build_check_slice(b, s->site, s->slice.from, s->slice.to, p.kind == TABLE ? p.shape->rows : p.length);
    CoreAtom n;
    if (!core_length_of_piece(s, maker_anywhere(t, s->slice.to), &n))
        n = build_prim2(b, PRIM_SUB, s->slice.to, s->slice.from);
    if (p.kind == ROW) {
        t->failed |= p.pending != NULL;
        if (p.copied)
            p.copy = build_piece(b, p.copy, s->slice.from, n);
        else
            p.base = build_prim2(b, PRIM_ADD, p.base, s->slice.from);
        p.length = n;
        p.element_of = 0;
        *tables_part_of(t, s->vars[0]) = p;
        return;
    }
    Shape *shape = arena_new(t->scratch, Shape);
    *shape = *p.shape;
    shape->rows = n;
    p.first = p.slice ? build_prim2(b, PRIM_ADD, p.first, s->slice.from) : s->slice.from;
    p.slice = true;
    p.shape = shape;
    *tables_part_of(t, s->vars[0]) = p;
}

/* [[a, b], [c, d]] */
static void literal_table(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    uint32_t n = 0, width = 0;
    CoreAtom *all = NULL;
    for (uint32_t i = 0; i < s->array.n && !t->failed; i++) {
        const CoreStmt *row = literal_row(t, s->array.items[i]);
        t->failed |= !row || (i > 0 && row->array.n != width);
        if (t->failed)
            return;
        width = row->array.n;
        if (!all)
            all = arena_array(b->p->arena, CoreAtom, (size_t)width * s->array.n + 1);
        for (uint32_t k = 0; k < width; k++)
            all[n++] = row->array.items[k];
    }
    Shape *shape = arena_new(t->scratch, Shape);
    *shape = (Shape){.rows = core_i64(s->array.n), .stride = core_i64(width), .regular = true};
    tables_bind(t, s->vars[0], build_array(b, core_element(core_var_type(b->fn, s->vars[0])), all, n), shape);
}

/* What an operation goes over is as long as it is. */
static void learn_inputs(Tables *t, const CoreSoac *soac)
{
    for (uint32_t i = 0; soac && i < soac->ninputs; i++) {
        const Part p = tables_part(t, soac->inputs[i]);
        if (p.kind != NO_PART)
            lane_tables_equal(t, soac->domain, p.kind == TABLE ? p.shape->rows : p.length);
    }
}

static void note_counter(Tables *t, const CoreStmt *s)
{
    const CoreSoac *soac = core_stmt_soac(s);
    if (s->kind == CORE_LOOP && s->loop.index != CORE_NO_VAR)
        vec_push(t->scratch, &t->counters, ((Counter){s->loop.index, s->loop.count}));
    if (soac && soac->index != CORE_NO_VAR)
        vec_push(t->scratch, &t->counters, ((Counter){soac->index, soac->domain}));
}

/* A row that is known to have an element there: where that is a position in something else, rows are of a known length.
 */
static void learn_index(Tables *t, const CoreStmt *s)
{
    const Part row = tables_part(t, s->index.array);
    CheckedRows *rows =
        row.kind == ROW && s->site == CORE_NO_SITE ? rows_of_length(t, tables_renamed(t, row.length)) : NULL;
    for (uint32_t i = 0; rows && !s->index.index.is_const && i < t->counters.n; i++)
        rows->checked |=
            t->counters.at[i].var == s->index.index.var && !rows_of_length(t, tables_renamed(t, t->counters.at[i].end));
}

/* One of two tables of the same shape, where an array is chosen. */
static bool choose_table(Tables *t, CoreStmt *s)
{
    CoreBuilder *b = &t->b;
    if (s->prim.op != PRIM_SELECT || core_var_type(b->fn, s->vars[0]).rank != 2)
        return false;
    CoreBlock *branches[2];
    for (uint32_t i = 0; i < 2; i++) {
        CoreBlock *outer = build_begin(b);
        branches[i] = build_end(b, outer, &s->prim.args[i + 1], 1);
    }
    CoreStmt *choice = build_stmt_into(b, CORE_IF, 1, s->vars);
    choice->if_.cond = s->prim.args[0];
    choice->if_.then_b = branches[0];
    choice->if_.else_b = branches[1];
    tables_rewrite_if(t, choice);
    return true;
}

bool lane_tables_stmt(Tables *t, CoreStmt *s)
{
    const uint32_t rank = s->nvars ? core_var_type(t->b.fn, s->vars[0]).rank : 0;
    bool rows = false;
    learn_inputs(t, core_stmt_soac(s));
    note_counter(t, s);
    switch (s->kind) {
    case CORE_MAP:
        for (uint32_t i = 0; i < s->nvars; i++)
            rows |= core_var_type(t->b.fn, s->vars[i]).rank > 1;
        if (!rows)
            return place_of(t, s->vars[0]) && store_map(t, s);
        if (gives_elements(t, s))
            return false;
        rows_map(t, s);
        return true;
    case CORE_IF: return store_if(t, s);
    case CORE_PRIM: return choose_table(t, s);
    case CORE_INDEX: learn_index(t, s); return take_indexed(t, s);
    case CORE_SLICE:
        if (tables_part(t, s->slice.array).kind == NO_PART)
            return false;
        slice_table(t, s);
        return true;
    case CORE_FLATTEN: {
        const Part p = tables_part(t, s->length.array);
        if (p.kind != TABLE)
            return false;
        build_named(&t->b, s->vars[0], tables_whole(t, &p));
        return true;
    }
    case CORE_ARRAY:
        if (rank != 2)
            return false;
        literal_table(t, s);
        return true;
    default: return false;
    }
}

/* ---- the lane's code ---- */

typedef struct Sources {
    Tables *t;
    const CoreStmt *around;
    CoreBlock *front;
    CoreVar from[MOST_TABLES], to[MOST_TABLES];
    uint32_t n;
    bool inits; /* of loops: a copy is made in any case */
} Sources;

static void begin_source(Sources *c, CoreVar m)
{
    Tables *t = c->t;
    const CoreType rows = core_var_type(t->b.fn, m);
    CoreBlock *outer = t->b.out;
    t->b.out = c->front;
    const CoreAtom table = build_var(&t->b, rows, NULL);
    take_table(t, table.var, core_var_atom(m, rows));
    t->b.out = outer;
    c->from[c->n] = m;
    c->to[c->n++] = table.var;
}

static bool is_left(const Tables *t, CoreVar rows)
{
    for (uint32_t i = 0; i < t->left.n; i++)
        if (t->left.at[i] == rows)
            return true;
    return false;
}

/* Each instance's own tables from in front of the lane, and what loops begin with. */
static void find_source(void *ctx, CoreAtom *a)
{
    Sources *c = ctx;
    uint32_t i = 0;
    if (a->is_const || a->var >= c->t->first || core_atom_type(c->t->b.fn, *a).rank < 2 ||
        (!c->inits && !core_soac_binds(c->around, *a)) || is_left(c->t, a->var))
        return;
    while (i < c->n && c->from[i] != a->var)
        i++;
    c->t->failed |= core_atom_type(c->t->b.fn, *a).rank > 2 || (i == c->n && c->n == MOST_TABLES);
    if (c->t->failed)
        return;
    if (i == c->n)
        begin_source(c, a->var);
    a->var = c->to[i];
}

static void find_inits(void *ctx, CoreBlock *block)
{
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        for (uint32_t k = 0; s->kind == CORE_LOOP && k < s->loop.nparams; k++)
            find_source(ctx, &s->loop.inits[k]);
        core_stmt_blocks(s, find_inits, ctx);
    }
}

/* Tables that are left. Those that a lane without neighbours only reads, where they lie in front of it, may stay. */
typedef struct Ranks {
    const CoreFn *fn;
    CoreVar first; /* of the code's variables */
    bool alone, deep;
    VEC(CoreVar) read; /* parts of tables from in front */
    Arena *scratch;
} Ranks;

static bool lies_in_front(const Ranks *r, CoreAtom rows)
{
    bool part = !rows.is_const && rows.var < r->first;
    for (uint32_t i = 0; !rows.is_const && !part && i < r->read.n; i++)
        part = r->read.at[i] == rows.var;
    return part;
}

/* The variable is an element of these rows; of others if it is no constant. */
static void look_at_part(Ranks *r, CoreVar v, CoreAtom of)
{
    if (core_var_type(r->fn, v).rank < 2)
        return;
    if (r->alone && lies_in_front(r, of))
        vec_push(r->scratch, &r->read, v);
    else
        r->deep = true;
}

/* What lies in front of the lane, and is taken. */
static bool is_taken(const CoreBlock *block, const CoreStmt *s)
{
    CoreUses uses = {s->vars[0], 0};
    for (uint32_t i = 0; i < block->stmts.n; i++)
        if (block->stmts.at[i]->kind == CORE_TABLE)
            core_stmt_atoms(block->stmts.at[i], core_count_use, &uses);
    return s->kind == CORE_INDEX && uses.n > 0;
}

static void look_at_ranks(void *ctx, CoreBlock *block)
{
    Ranks *r = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        const CoreAtom part = s->kind == CORE_INDEX ? s->index.array : core_i64(0);
        for (uint32_t k = 0; k < s->nvars && !is_taken(block, s); k++)
            look_at_part(r, s->vars[k], part);
        for (uint32_t k = 0; soac && k < soac->ninputs; k++)
            look_at_part(r, soac->elements[k], soac->inputs[k]);
        for (uint32_t k = 0; s->kind == CORE_LOOP && k < s->loop.nparams; k++)
            look_at_part(r, s->loop.params[k], core_i64(0));
        core_stmt_blocks(s, look_at_ranks, r);
    }
}

static bool has_tables(const Tables *t, CoreBlock *code, bool alone)
{
    Ranks r = {.fn = t->b.fn, .first = t->first, .alone = alone, .scratch = t->scratch};
    look_at_ranks(&r, code);
    return r.deep;
}

/* Results that are tables: their elements and, behind all results, the lengths of their rows. */
static GivenRows *give_tables(Tables *t, CoreBlock *code)
{
    CoreBuilder *b = &t->b;
    const uint32_t n = code->nresults;
    GivenRows *given = arena_array(b->p->arena, GivenRows, n + 1);
    CoreAtom *results = arena_array(b->p->arena, CoreAtom, 2 * (size_t)n + 1);
    uint32_t all = n;
    b->out = code;
    for (uint32_t i = 0; i < n; i++) {
        const Part p = tables_part(t, code->results[i]);
        results[i] = code->results[i];
        if (p.kind != TABLE)
            continue;
        results[i] = tables_whole(t, &p);
        CoreBlock *outer = build_begin(b);
        CoreSoac soac = {.domain = p.shape->rows, .index = CORE_NO_VAR};
        soac.body = build_end(b, outer, &p.shape->stride, 1);
        given[i] = (GivenRows){.parted = true, .lengths = all};
        results[all++] = build_map(b, soac)[0];
    }
    code->results = results;
    code->nresults = all;
    tables_settle_results(t, code);
    return given;
}

/* NULL: it failed; `again` says whether another try may do. */
static CoreBlock *try_code(Tables *t, CoreBlock *code, const CoreStmt *around, bool alone, Arena *scratch,
                           CoreCopyMap *map, GivenRows **given)
{
    CoreFn *fn = t->b.fn;
    *t = (Tables){.b = t->b, .scratch = t->scratch, .copied = t->copied, .left = t->left};
    t->first = fn->vars.n;
    t->lane = true;
    CoreBlock *copy = core_copy_within(t->b.p, fn, code, scratch, map);
    CoreBlock front = {0};
    lane_fills(&t->b, copy, around, t->first, scratch, map);
    Sources sources = {.t = t, .around = around, .front = &front};
    t->b.emit = tables_emit;
    t->b.ctx = t;
    core_block_atoms(copy, find_source, &sources);
    sources.inits = true;
    find_inits(&sources, copy);
    if (t->failed)
        return NULL;
    tables_rewrite_block(t, copy);
    if (t->failed || t->unstored > 0 || t->again)
        return NULL;
    *given = give_tables(t, copy);
    core_put_in_front(t->b.p, copy, &front);
    for (uint32_t i = 0; i < t->checked.n; i++)
        if (!t->checked.at[i].checked) {
            t->again |= !is_left(t, t->checked.at[i].rows);
            t->failed = true;
            vec_push(t->scratch, &t->left, t->checked.at[i].rows);
        }
    return t->failed || t->again || has_tables(t, copy, alone) ? NULL : copy;
}

static bool is_table(void *fn, CoreAtom a) { return core_atom_type(fn, a).rank > 1; }

CoreBlock *lane_tables(CoreBuilder *b, CoreBlock *code, const CoreStmt *around, bool alone, Arena *copies,
                       CoreCopyMap *map, GivenRows **given)
{
    CoreBlock *made = NULL;
    if (!around || !core_stmt_soac(around) || !core_block_reads(code, is_table, b->fn))
        return NULL;
    Arena *scratch = arena_create();
    Tables t = {.b = *b, .scratch = scratch, .again = true};
    for (uint32_t tries = 0; tries < MOST_TRIES && t.again && !made; tries++)
        made = try_code(&t, code, around, alone, copies, map, given);
    arena_destroy(scratch);
    return made;
}
