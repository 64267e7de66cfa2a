/* Tables as the state of loops: rows of rows that rounds update element by element become one array.
 *
 *     t' = loop (t = init) … {                       fs = flatten init
 *         … row = index t i; x = index row j …       f' = loop (f = fs) … {
 *         row = index t i                    ==>         … x = index f (at i + j) …
 *         row' = update row j y                          f'' = update f (at i + j) y
 *         t'' = update t i row'; -> t'' }                -> f'' }
 *                                                    t' = map n at i { slice f' (at i) (at i + length of row i) }
 *
 * Rows may be replaced as a whole, too, if the new one is known to be as long as the old one, and maps over the table
 * may update a few elements of each row:
 *
 *     t' = update t i ys                    ==>      f' = scatter (f) n at j (y <- ys) { -> at i + j, y }
 *     t' = map (row <- t) { … -> update row j y }    ps, ys = map … { -> at i + j, y }; f' = scatter (f) (ps, ys)
 *
 * All lengths stay as they are. Where all rows of init have one length that is known, `at i` is a
 * product; else offsets are kept beside. So an update writes one element, where a row would be copied, and a lane can
 * have the state as its own (core/lane.h). Of deeper nests the outermost level goes first, then the next.
 *
 * Tables that rounds exchange, (a, b) = (b, a), are rewritten together, if they are of one shape; where that does not
 * show, outside of parallel code, the run asks.
 *
 * A loop is rewritten as a copy, which is dropped if something in it does anything else with a table or its rows. */
#include "core/flat_tables_internal.h"

#include "core/append.h"
#include "core/choose_lanes_internal.h"

#include <string.h>

/* MOST_TRIED: statements of all copies. SHORT: elements of a row. MOST_FILLED: of a table that was one row in the
 * beginning. */
enum { MOST_TRIED = 20000, SHORT = 64, MOST_FILLED = 1 << 24 };

/* ---- what the state begins as ---- */

/* All rows `depth` levels below xs have this length. */
typedef struct RowsLength {
    CoreVar xs;
    uint32_t depth;
    CoreAtom length;
} RowsLength;

typedef struct Finder {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    CoreCopyMap map;
    uint32_t tried, repeated; /* loops and parallel operations around */
    CoreBlock *out;
    uint32_t noted;        /* of its statements, in `makers` */
    VEC(Maker) makers;     /* by variable */
    VEC(RowsLength) known; /* in scope */
    VEC(CoreVar) states;   /* of the loops around, which stay as they are */
} Finder;

static void note_makers(Finder *f)
{
    for (; f->noted < f->out->stmts.n; f->noted++) {
        const CoreStmt *s = f->out->stmts.at[f->noted];
        if (s->nvars != 1)
            continue;
        while (f->makers.n <= s->vars[0])
            vec_push(f->scratch, &f->makers, ((Maker){0}));
        f->makers.at[s->vars[0]] = (Maker){s, f->out};
    }
}

static const CoreStmt *maker_around(Finder *f, CoreAtom a)
{
    note_makers(f);
    return !a.is_const && a.var < f->makers.n ? f->makers.at[a.var].stmt : NULL;
}

/* It holds from here on: check_rows 1 below xs, n < 0, for example. */
static void learn(Finder *f, CoreAtom cond, uint32_t depth)
{
    const CoreStmt *s = maker_around(f, cond);
    if (depth == 0 || !s || s->kind != CORE_PRIM)
        return;
    if (s->prim.op == PRIM_AND) {
        learn(f, s->prim.args[0], depth - 1);
        learn(f, s->prim.args[1], depth - 1);
        return;
    }
    const CoreStmt *rows = s->prim.op == PRIM_LT ? maker_around(f, s->prim.args[0]) : NULL;
    if (rows && rows->kind == CORE_CHECK_ROWS && rows->rows.nargs == 2 && core_atom_equal(s->prim.args[1], core_i64(0)))
        vec_push(f->scratch, &f->known, ((RowsLength){rows->rows.args[0].var, rows->rows.depth, rows->rows.args[1]}));
}

static bool rows_length(Finder *f, CoreAtom xs, CoreAtom *n)
{
    uint32_t depth = 1;
    for (const CoreStmt *s = maker_around(f, xs); s && s->kind == CORE_FLATTEN; s = maker_around(f, xs)) {
        xs = s->length.array;
        depth++;
    }
    for (uint32_t i = f->known.n; i-- > 0;)
        if (f->known.at[i].xs == xs.var && f->known.at[i].depth == depth) {
            *n = f->known.at[i].length;
            return true;
        }
    return depth > 1 && core_made_length(maker_around(f, xs), xs, depth, n);
}

/* The statement of the block at hand that makes it, or NULL. */
static const CoreStmt *maker_of(Finder *f, CoreAtom a)
{
    note_makers(f);
    return !a.is_const && a.var < f->makers.n && f->makers.at[a.var].in == f->out ? f->makers.at[a.var].stmt : NULL;
}

const CoreStmt *tables_row_map(const CoreStmt *s)
{
    if (!s || s->kind != CORE_MAP || s->soac.guard)
        return NULL;
    const CoreBlock *body = s->soac.body;
    const CoreStmt *last = body->stmts.n ? body->stmts.at[body->stmts.n - 1] : NULL;
    const CoreAtom row = body->results[0];
    const bool made = last && last->kind == CORE_MAP && last->nvars == 1 && !last->soac.guard && !row.is_const &&
                      row.var == last->vars[0];
    return made && !core_soac_binds(s, last->soac.domain) ? last : NULL;
}

/* Likewise, of what is made in the block at hand. */
static const CoreStmt *row_maker(Finder *f, CoreAtom init) { return tables_row_map(maker_of(f, init)); }

/* Do the rows of the loop's state i begin with one length, and rounds make them anew of the same? Then they keep it. */
static bool keeps_length(Finder *f, const CoreStmt *s, uint32_t i, CoreAtom *n)
{
    const CoreStmt *first = tables_row_map(maker_around(f, s->loop.inits[i]));
    const CoreStmt *next = tables_row_map(core_block_def(s->loop.body, s->loop.body->results[i]));
    if (core_var_type(f->fn, s->loop.params[i]).rank < 2 || !next)
        return false;
    *n = next->soac.domain;
    CoreAtom begins = core_i64(-1);
    if (first)
        begins = first->soac.domain;
    else if (!rows_length(f, s->loop.inits[i], &begins))
        return false;
    return core_atom_equal(begins, *n);
}

/* All rows are the same value again and again, from outside. */
static bool is_filled(const CoreStmt *row, const CoreStmt *around)
{
    const CoreBlock *body = row->soac.body;
    return body->stmts.n == 0 && !core_soac_binds(row, body->results[0]) && !core_soac_binds(around, body->results[0]);
}

/* Does the array's length show? */
static bool made_length(Finder *f, CoreAtom a, CoreAtom *n)
{
    const CoreStmt *s = maker_around(f, a);
    while (s && s->kind == CORE_UPDATE)
        s = maker_around(f, s->update.array);
    return core_shown_length(s, n);
}

/* The state begins as one array again and again, whose length shows: replicate n (replicate m x). */
static bool repeats_row(Finder *f, CoreAtom init, CoreAtom *n)
{
    const CoreStmt *s = maker_of(f, init);
    if (!s || s->kind != CORE_MAP || s->soac.guard || core_soac_binds(s, s->soac.body->results[0]))
        return false;
    return made_length(f, s->soac.body->results[0], n);
}

/* All its rows have one length, also those that stand for others: replicate n xs with [i] = ys. */
static bool begins_regular(Finder *f, CoreAtom init, CoreAtom *n)
{
    const CoreStmt *s = maker_of(f, init), *row = row_maker(f, init);
    CoreAtom m;
    if (s && s->kind == CORE_UPDATE)
        return begins_regular(f, s->update.array, n) && made_length(f, s->update.value, &m) && core_atom_equal(*n, m);
    if (row)
        *n = row->soac.domain;
    return row || rows_length(f, init, n) || repeats_row(f, init, n);
}

/* What the state begins as, as one array; and where its rows are. */
static CoreAtom emit_begin(Finder *f, Tables *t, Shape *shape, CoreAtom init)
{
    const CoreStmt *row = row_maker(f, init);
    shape->regular = begins_regular(f, init, &shape->stride);
    shape->rows = build_length(&t->b, init);
    if (!shape->regular) {
        shape->lengths = build_row_lengths(&t->b, init, shape->rows);
        shape->offsets = build_row_starts(&t->b, shape->lengths, shape->rows);
    }
    if (row && is_filled(row, maker_of(f, init)))
        return build_repeated(&t->b, row->soac.body->results[0],
                              build_prim2(&t->b, PRIM_SIZE_MUL, shape->rows, shape->stride));
    return build_flatten(&t->b, init);
}

/* The table again, as v. */
static void emit_end(Tables *t, CoreVar v, const Part *table)
{
    CoreBuilder *b = &t->b;
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(b);
    const Part row = tables_row_at(t, table, i);
    const CoreAtom slice = build_piece(b, table->flat, row.base, row.length);
    CoreStmt *map = build_stmt_into(b, CORE_MAP, 1, &v);
    map->soac = (CoreSoac){.domain = table->shape->rows, .index = i.var, .body = build_end(b, outer, &slice, 1)};
    build_emit(&t->b, map);
}

/* ---- finding them ---- */

typedef struct Glance {
    const CoreFn *fn;
    CoreType type;
    bool found;
} Glance;

/* It, or rows of it. */
static bool changes_table(const Glance *g, CoreType t)
{
    return core_type_equal(t, g->type) || core_type_equal(t, core_element(g->type));
}

static void look_for_update(void *ctx, CoreBlock *block)
{
    Glance *g = ctx;
    for (uint32_t i = 0; i < block->stmts.n && !g->found; i++) {
        CoreStmt *s = block->stmts.at[i];
        const CoreAtom changed = core_stmt_changes(s);
        g->found = !changed.is_const && changes_table(g, core_atom_type(g->fn, changed));
        core_stmt_blocks(s, look_for_update, g);
    }
}

/* What begins the state is made for it, or begins it once; or it was made by a map around, or is the state of a loop
 * around, whose rounds make another one by a map: then these have as much to do as to copy it. */
static bool is_fresh(Finder *f, CoreAtom init)
{
    const CoreStmt *s = maker_around(f, init);
    bool state = false;
    for (uint32_t i = 0; i < f->states.n; i++)
        state |= f->states.at[i] == init.var;
    return (f->repeated == 0 && !f->fn->recursive) || state ||
           (s && (s->kind == CORE_MAP || s->kind == CORE_FLATTEN || s->kind == CORE_IF || s->kind == CORE_UPDATE));
}

static bool is_candidate(Finder *f, CoreStmt *s, uint32_t i)
{
    Glance g = {f->fn, core_var_type(f->fn, s->loop.params[i]), false};
    if (g.type.rank < 2 || !is_fresh(f, s->loop.inits[i]))
        return false;
    look_for_update(&g, s->loop.body);
    return g.found;
}

/* Which of the loop's states the value of block b begins as, by updates, branches and loops; or how many there are. */
static uint32_t state_behind(const CoreStmt *loop, const CoreBlock *b, CoreAtom a)
{
    while (!a.is_const) {
        for (uint32_t k = 0; k < loop->loop.nparams; k++)
            if (loop->loop.params[k] == a.var)
                return k;
        const CoreStmt *s = core_block_def(b, a);
        s = s ? s : core_block_def(loop->loop.body, a);
        uint32_t k = 0;
        while (s && s->vars[k] != a.var)
            k++;
        if (s && s->kind == CORE_IF)
            return state_behind(loop, s->if_.then_b, s->if_.then_b->results[k]);
        if (!s || (s->kind != CORE_UPDATE && s->kind != CORE_LOOP && s->kind != CORE_ATOM))
            break;
        a = s->kind == CORE_UPDATE ? s->update.array : s->kind == CORE_LOOP ? s->loop.inits[k] : s->atom;
    }
    return loop->loop.nparams;
}

/* The states that rounds exchange with state i: (a, b) = (b, a). False: with none. */
static bool find_exchanged(Finder *f, const CoreStmt *s, uint32_t i, bool *together)
{
    const uint32_t n = s->loop.nparams;
    uint32_t found = 0;
    together[i] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t from = state_behind(s, s->loop.body, s->loop.body->results[k]);
            if (from == n || together[k] == together[from])
                continue;
            const uint32_t joins = together[k] ? from : k;
            if (!core_type_equal(core_var_type(f->fn, s->loop.params[joins]),
                                 core_var_type(f->fn, s->loop.params[i])) ||
                !is_fresh(f, s->loop.inits[joins]))
                return false;
            together[joins] = more = true;
            found++;
        }
    }
    return found > 0;
}

/* Is the table one row again and again, and not a short one? As views that takes no memory but for the rows that are
 * replaced. */
static bool is_long(Finder *f, CoreAtom init)
{
    const CoreStmt *s = maker_of(f, init);
    for (; s && s->kind == CORE_UPDATE; s = maker_of(f, init))
        init = s->update.array;
    CoreAtom n;
    const bool repeats = s && s->kind == CORE_MAP && !core_soac_binds(s, s->soac.body->results[0]);
    return repeats && !(repeats_row(f, init, &n) && n.is_const && n.bits <= SHORT);
}

static bool are_long(Finder *f, const CoreStmt *s, const bool *together)
{
    bool any = false;
    for (uint32_t k = 0; k < s->loop.nparams; k++)
        any |= together[k] && is_long(f, s->loop.inits[k]);
    return any;
}

/* Do other tables than the first, which begin as these, show to be of its shape? */
static bool is_alike(const Shape *a, const Shape *b)
{
    return a->regular && b->regular && core_atom_equal(a->rows, b->rows) && core_atom_equal(a->stride, b->stride);
}

/* What the loop's states `together` begin as, each as one array of the same shape; `asked`: if that is so, which does
 * not show. */
static Shape *begin_tables(Finder *f, Tables *t, CoreStmt *loop, const CoreStmt *s, const bool *together, bool *asked)
{
    Shape *shape = NULL;
    CoreAtom first = core_i64(0);
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        if (!together[k])
            continue;
        const CoreAtom init = s->loop.inits[k];
        Shape *own = arena_new(f->scratch, Shape);
        const CoreAtom flat = emit_begin(f, t, own, init);
        *asked |= shape && !core_atom_equal(init, first) && !is_alike(own, shape);
        first = shape ? first : init;
        shape = shape ? shape : own;
        const CoreAtom table = build_var(&t->b, core_atom_type(f->fn, init), NULL);
        tables_bind(t, table.var, flat, shape);
        loop->loop.inits[k] = table;
    }
    return shape;
}

/* A copy of the loop, whose states `together` are one array each; where they are. NULL if that cannot be. */
static CoreStmt *try_loop(Finder *f, Tables *t, CoreStmt *s, const bool *together, bool *asked)
{
    CoreBlock *alone = core_new_block(f->p);
    core_push(f->p, alone, s);
    *t = (Tables){.b = {.p = f->p, .fn = f->fn, .span = s->span}, .scratch = f->scratch, .copied = t->copied};
    t->first = f->fn->vars.n;
    note_makers(f);
    t->outside = f->makers.at;
    t->noutside = f->makers.n;
    CoreBlock *copy = core_copy_within(f->p, f->fn, alone, f->scratch, &f->map);
    CoreStmt *loop = copy->stmts.at[0];
    t->b.emit = tables_emit;
    t->b.ctx = t;
    t->b.out = core_new_block(f->p);
    *asked = false;
    t->state = begin_tables(f, t, loop, s, together, asked);
    tables_rewrite_loop(t, loop);
    const bool large = t->replaces && are_long(f, s, together);
    *asked |= large;
    const bool possible = !*asked || (f->repeated == 0 && (t->state->regular || !large));
    return t->failed || t->updates == 0 || t->unstored > 0 || !possible ? NULL : loop;
}

static bool place_loop(Finder *f, CoreStmt *s);
static bool find_in_stmt(Finder *f, CoreStmt *s);

/* The loop, which is the last of t's statements, with those in front; vars: the tables. */
static void place_tables(Finder *f, Tables *t, CoreStmt *loop, const bool *together, const CoreVar *vars)
{
    const CoreAtom *flat = build_atoms(&t->b, loop->vars, loop->nvars);
    for (uint32_t k = 0; k < loop->nvars; k++)
        loop->vars[k] = together[k] ? loop->vars[k] : vars[k];
    for (uint32_t k = 0; k + 1 < t->b.out->stmts.n; k++)
        core_push(f->p, f->out, t->b.out->stmts.at[k]);
    (void)place_loop(f, loop);
    t->b.out = f->out;
    for (uint32_t k = 0; k < loop->nvars; k++)
        if (together[k])
            emit_end(t, vars[k], &(Part){.kind = TABLE, .flat = flat[k], .shape = t->state});
}

/* Have both tables rows of the same lengths? They have equally many. */
static CoreAtom emit_same_lengths(Finder *f, CoreBuilder *b, CoreAtom x, CoreAtom y, CoreAtom rows)
{
    CoreAtom strides[2];
    if (begins_regular(f, x, &strides[0]) && begins_regular(f, y, &strides[1]))
        return build_prim2(b, PRIM_EQ, strides[0], strides[1]);
    const CoreAtom both[] = {build_row_lengths(b, x, rows), build_row_lengths(b, y, rows)};
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(b);
    const CoreAtom same =
        build_prim2(b, PRIM_EQ, build_index(b, both[0], i, CORE_NO_SITE), build_index(b, both[1], i, CORE_NO_SITE));
    CoreSoac soac = {.domain = rows, .index = i.var, .body = build_end(b, outer, &same, 1)};
    return build_fold(b, CORE_REDUCE, soac, PRIM_AND, core_const(SC_BOOL, 1), false);
}

/* Are the tables that the loop's states begin as of one shape, and not too large for what was one row? */
static CoreAtom emit_asked(Finder *f, CoreBuilder *b, const Tables *t, const CoreStmt *s, const bool *together)
{
    uint32_t first = 0;
    while (!together[first])
        first++;
    const CoreAtom init = s->loop.inits[first], rows = build_length(b, init), most = core_i64(MOST_FILLED);
    CoreAtom holds = core_const(SC_BOOL, 1);
    if (t->replaces && are_long(f, s, together))
        holds = build_prim2(b, PRIM_LE, build_prim2(b, PRIM_SIZE_MUL, rows, t->state->stride), most);
    for (uint32_t k = first + 1; k < s->loop.nparams; k++) {
        if (!together[k] || core_atom_equal(s->loop.inits[k], init))
            continue;
        const CoreAtom as_many = build_prim2(b, PRIM_EQ, build_length(b, s->loop.inits[k]), rows);
        CoreBlock *outer = build_begin(b);
        const CoreAtom same = emit_same_lengths(f, b, s->loop.inits[k], init, rows), no = core_const(SC_BOOL, 0);
        CoreBlock *alike = build_end(b, outer, &same, 1);
        build_begin(b);
        CoreBlock *others = build_end(b, outer, &no, 1);
        holds = build_prim2(b, PRIM_AND, holds, build_if(b, as_many, alike, others)[0]);
    }
    return holds;
}

/* The same if that is asked at run time; else the loop s, as it was. */
static void place_both(Finder *f, Tables *t, CoreStmt *loop, CoreStmt *s, const bool *together)
{
    CoreBuilder b = {.p = f->p, .fn = f->fn, .out = f->out, .span = s->span};
    const CoreAtom asked = emit_asked(f, &b, t, s, together);
    CoreStmt *choice = build_stmt_into(&b, CORE_IF, s->nvars, s->vars);
    CoreType *types = arena_array(f->scratch, CoreType, s->nvars);
    for (uint32_t k = 0; k < s->nvars; k++)
        types[k] = core_var_type(f->fn, s->vars[k]);
    choice->if_.cond = asked;
    CoreBlock *outer = f->out;
    f->out = choice->if_.then_b = core_new_block(f->p);
    const uint32_t noted = f->noted;
    f->noted = 0;
    CoreVar *vars = arena_array(f->scratch, CoreVar, s->nvars);
    for (uint32_t k = 0; k < s->nvars; k++)
        vars[k] = together[k] ? build_var(&b, types[k], NULL).var : loop->vars[k];
    place_tables(f, t, loop, together, vars);
    build_results(&b, f->out, build_atoms(&b, vars, s->nvars), s->nvars);
    f->out = choice->if_.else_b = core_new_block(f->p);
    f->noted = 0;
    build_fresh(&b, s, s->nvars, types);
    (void)find_in_stmt(f, s);
    build_return(&b, f->out, s);
    f->out = outer;
    f->noted = noted;
    core_push(f->p, f->out, choice);
}

static bool place_with_tables(Finder *f, CoreStmt *s, const bool *together)
{
    Tables t = {0};
    CoreStmt *loop = NULL;
    uint32_t statements = 1;
    bool asked = false;
    choose_count(&statements, s->loop.body);
    for (uint32_t tries = 0; tries < MOST_TRIES && (tries == 0 || t.again); tries++) {
        f->tried += statements;
        loop = f->tried <= MOST_TRIED ? try_loop(f, &t, s, together, &asked) : NULL;
        if (!loop)
            return false;
    }
    if (t.again)
        return false;
    if (asked)
        place_both(f, &t, loop, s, together);
    else
        place_tables(f, &t, loop, together, s->vars);
    return true;
}

/* With state i as one array, or those, too, that rounds exchange with it. */
static bool place_with_table(Finder *f, CoreStmt *s, uint32_t i)
{
    bool *together = arena_array(f->scratch, bool, s->loop.nparams);
    memset(together, 0, s->loop.nparams * sizeof *together);
    if (!find_exchanged(f, s, i, together))
        for (uint32_t k = 0; k < s->loop.nparams; k++)
            together[k] = k == i;
    return place_with_tables(f, s, together);
}

static bool find_in_block(Finder *f, CoreBlock *block);

typedef struct Finding {
    Finder *f;
    bool found;
} Finding;

static void find_inside(void *ctx, CoreBlock *block)
{
    Finding *inside = ctx;
    inside->found |= find_in_block(inside->f, block);
}

static void find_in_branches(Finder *f, CoreStmt *s, Finding *inside)
{
    const uint32_t known = f->known.n;
    learn(f, s->if_.cond, LEARNT_DEPTH);
    find_inside(inside, s->if_.then_b);
    f->known.n = known;
    find_inside(inside, s->if_.else_b);
}

static bool find_in_stmt(Finder *f, CoreStmt *s)
{
    const bool repeats = s->kind == CORE_LOOP || core_stmt_soac(s);
    Finding inside = {f, false};
    const uint32_t states = f->states.n, known = f->known.n;
    f->repeated += repeats;
    note_makers(f);
    for (uint32_t i = 0; s->kind == CORE_LOOP && i < s->loop.nparams; i++) {
        const CoreStmt *next = core_block_def(s->loop.body, s->loop.body->results[i]);
        CoreAtom length;
        if (next && next->kind == CORE_MAP)
            vec_push(f->scratch, &f->states, s->loop.params[i]);
        if (keeps_length(f, s, i, &length))
            vec_push(f->scratch, &f->known, ((RowsLength){s->loop.params[i], 1, length}));
    }
    if (s->kind == CORE_IF)
        find_in_branches(f, s, &inside);
    else
        core_stmt_blocks(s, find_inside, &inside);
    f->repeated -= repeats;
    f->known.n = known;
    f->states.n = states;
    core_push(f->p, f->out, s);
    return inside.found;
}

/* Appends the loop, as far as possible with arrays for tables. True if there are any, inside of it, too. */
static bool place_loop(Finder *f, CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        if (is_candidate(f, s, i) && place_with_table(f, s, i))
            return true;
    return find_in_stmt(f, s);
}

static bool find_in_block(Finder *f, CoreBlock *block)
{
    CoreBlock *outer = f->out, old = core_take_stmts(block);
    const uint32_t noted = f->noted, known = f->known.n;
    bool found = false;
    f->out = block;
    f->noted = 0;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        found |= s->kind == CORE_LOOP ? place_loop(f, s) : find_in_stmt(f, s);
        if (s->kind == CORE_CHECK)
            learn(f, s->check.cond, LEARNT_DEPTH);
    }
    f->known.n = known;
    f->out = outer;
    f->noted = noted;
    return found;
}

bool core_flat_tables(CoreProgram *p)
{
    bool found = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Finder f = {.p = p, .fn = p->fns.at[i], .scratch = arena_create()};
        found |= find_in_block(&f, p->fns.at[i]->body);
        arena_destroy(f.scratch);
    }
    return found;
}
