/* Tables as the state of loops: rows of rows that rounds update element by element become one array.
 *
 *     t' = loop (t = init) … {                       fs = flatten init
 *         … row = index t i; x = index row j …       f' = loop (f = fs) … {
 *         row = index t i                    ==>         … x = index f (at i + j) …
 *         row' = update row j y                          f'' = update f (at i + j) y
 *         t'' = update t i row'; -> t'' }                -> f'' }
 *                                                    t' = map n at i { slice f' (at i) (at i + length of row i) }
 *
 * Updates of elements leave all lengths as they are. Where all rows of init have one length that is known, `at i` is a
 * product; else offsets are kept beside. So an update writes one element, where a row would be copied, and a lane can
 * have the state as its own (core/lane.h). Of deeper nests the outermost level goes first, then the next.
 *
 * A loop is rewritten as a copy, which is dropped if something in it does anything else with a table or its rows. */
#include "core/build.h"
#include "core/choose_lanes_internal.h"

/* MOST_TRIED: statements of all copies. MOST_TRIES: of one loop. SAME_DEPTH: of sums and products that are compared. */
enum { MOST_TRIED = 20000, MOST_TRIES = 3, SAME_DEPTH = 4 };

typedef enum PartKind { NO_PART, TABLE, ROW } PartKind;
/* What has become of an array that somebody still reads? A loop began with it, which copies it once; an update would
 * have to copy it each time. */
typedef enum Age { CURRENT, LOOPED, UPDATED } Age;

typedef struct Part { /* by variable of the copy */
    PartKind kind;
    CoreAtom flat;         /* what has its elements */
    CoreAtom row, base;    /* ROW: which of the table's, where it begins; an update of one: likewise */
    CoreAtom length, copy; /* ROW; copy: where its elements are read from, if `copied` */
    bool copied;
    uint32_t number; /* ROW: in the order in which they are bound */
    Age bound;       /* ROW: of `flat`, when it was bound */
    /* of an array that is `flat` of others */
    Age age;
    uint32_t repetition;
    CoreVar before; /* an update's: the array that it changes; else CORE_NO_VAR */
    bool stored;    /* an update's: its row has been put back into the table */
    CoreStmt *maker;
} Part;

typedef struct Tables {
    CoreBuilder b;
    Arena *scratch;
    CoreVar first; /* of the copy's variables */
    VEC(Part) parts;
    CoreAtom rows, stride, offsets, lengths; /* of the table: how many rows; their length, or these two */
    bool regular;
    VEC(uint32_t) copied; /* numbers of rows that are read when the table has changed */
    VEC(CoreVar) aged;    /* what is not CURRENT any more, oldest first */
    uint32_t numbered, updates, unstored, repetition, repetitions;
    bool failed, again;
} Tables;

/* ---- what variables are ---- */

static Part *part_of(Tables *t, CoreVar v)
{
    while (t->parts.n <= v - t->first)
        vec_push(t->scratch, &t->parts, ((Part){.before = CORE_NO_VAR}));
    return &t->parts.at[v - t->first];
}

/* A copy: the table of parts may move. */
static Part part(Tables *t, CoreAtom a)
{
    return a.is_const || a.var < t->first ? (Part){.before = CORE_NO_VAR} : *part_of(t, a.var);
}

static PartKind kind_of(Tables *t, CoreAtom a) { return part(t, a).kind; }

static void fail_if_part(void *ctx, CoreAtom *a)
{
    Tables *t = ctx;
    t->failed |= kind_of(t, *a) != NO_PART;
}

static void fail_if_parts(Tables *t, const CoreAtom *atoms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        t->failed |= kind_of(t, atoms[i]) != NO_PART;
}

static void grow_older(Tables *t, CoreAtom flat, Age age)
{
    if (flat.is_const || flat.var < t->first)
        return;
    Part *p = part_of(t, flat.var);
    if (p->age == CURRENT)
        vec_push(t->scratch, &t->aged, flat.var);
    p->age = p->age > age ? p->age : age;
}

/* The variable was a table, or another name for one: what it is from now on is the array `flat`. */
static void bind_table(Tables *t, CoreVar v, CoreAtom flat)
{
    Part *p = part_of(t, v);
    p->kind = TABLE;
    p->flat = flat;
}

static CoreAtom new_flat(Tables *t, CoreVar like)
{
    const CoreVarInfo info = t->b.fn->vars.at[like];
    const CoreAtom flat = build_var(&t->b, core_element(info.type), info.hint);
    part_of(t, flat.var)->repetition = t->repetition;
    return flat;
}

/* Are they the same number, as far as that shows? */
static bool same_number(Tables *t, CoreAtom a, CoreAtom b, uint32_t depth)
{
    if (core_atom_equal(a, b))
        return true;
    const CoreStmt *x = part(t, a).maker, *y = part(t, b).maker;
    if (depth == 0 || a.is_const || b.is_const || !x || !y || x->prim.op != y->prim.op ||
        x->prim.nargs != y->prim.nargs || !core_type_equal(core_atom_type(t->b.fn, a), core_atom_type(t->b.fn, b)))
        return false;
    for (uint32_t i = 0; i < x->prim.nargs; i++)
        if (!same_number(t, x->prim.args[i], y->prim.args[i], depth - 1))
            return false;
    return true;
}

/* ---- pieces ---- */

static void emit(Tables *t, CoreStmt *s)
{
    if (s->kind == CORE_PRIM && s->vars[0] >= t->first)
        part_of(t, s->vars[0])->maker = s;
    core_push(t->b.p, t->b.out, s);
}

static void on_emit(void *ctx, CoreBlock *out, CoreStmt *s)
{
    (void)out;
    emit(ctx, s);
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
static Part row_at(Tables *t, CoreAtom flat, CoreAtom i)
{
    Part p = {.kind = ROW, .flat = flat, .row = i, .before = CORE_NO_VAR, .bound = part(t, flat).age};
    p.base = t->regular ? build_prim2(&t->b, PRIM_MUL, i, t->stride) : build_index(&t->b, t->offsets, i, CORE_NO_SITE);
    p.length = t->regular ? t->stride : build_index(&t->b, t->lengths, i, CORE_NO_SITE);
    p.number = t->numbered++;
    return p;
}

static CoreAtom copy_of_row(Tables *t, Part p)
{
    const CoreAtom j = build_var(&t->b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(&t->b);
    const CoreAtom x = build_index(&t->b, p.flat, build_prim2(&t->b, PRIM_ADD, p.base, j), CORE_NO_SITE);
    CoreSoac soac = {.domain = p.length, .index = j.var, .body = build_end(&t->b, outer, &x, 1)};
    return build_map(&t->b, soac)[0];
}

static void bind_row(Tables *t, CoreVar v, Part p)
{
    for (uint32_t i = 0; i < t->copied.n; i++)
        p.copied |= t->copied.at[i] == p.number;
    if (p.copied)
        p.copy = copy_of_row(t, p);
    *part_of(t, v) = p;
}

/* Element j of the row, which is known to be there, as v. A row whose table has changed meanwhile is to be copied where
 * it is bound: the next try does that. */
static void emit_element(Tables *t, CoreVar v, const Part *row, CoreAtom j)
{
    CoreStmt *s = build_stmt_into(&t->b, CORE_INDEX, 1, &v);
    if (!row->copied && part(t, row->flat).age > row->bound) {
        vec_push(t->scratch, &t->copied, row->number);
        t->again = true;
    }
    s->index.array = row->copied ? row->copy : row->flat;
    s->index.index = row->copied ? j : build_prim2(&t->b, PRIM_ADD, row->base, j);
    emit(t, s);
}

/* ---- statements ---- */

static void rewrite_block(Tables *t, CoreBlock *block);

static void rewrite_inner(void *ctx, CoreBlock *block)
{
    Tables *t = ctx;
    rewrite_block(t, block);
    fail_if_parts(t, block->results, block->nresults);
}

static void rewrite_index(Tables *t, CoreStmt *s)
{
    const Part p = part(t, s->index.array);
    build_check_bounds(&t->b, s->site, s->index.index, p.kind == TABLE ? t->rows : p.length);
    if (p.kind == ROW) {
        emit_element(t, s->vars[0], &p, s->index.index);
        return;
    }
    t->failed |= part(t, p.flat).age == UPDATED;
    bind_row(t, s->vars[0], row_at(t, p.flat, s->index.index));
}

/* An index out of range leaves the row as it is, where that is no failure. */
static CoreAtom place_in(Tables *t, const Part *row, CoreAtom j, uint32_t site)
{
    CoreBuilder *b = &t->b;
    build_check_bounds(b, site, j, row->length);
    const CoreAtom at = build_prim2(b, PRIM_ADD, row->base, j);
    if (site != CORE_NO_SITE)
        return at;
    const CoreAtom low = build_prim2(b, PRIM_LE, core_i64(0), j), high = build_prim2(b, PRIM_LT, j, row->length);
    return build_select(b, build_prim2(b, PRIM_AND, low, high), at, core_i64(-1));
}

static void rewrite_row_update(Tables *t, CoreStmt *s)
{
    Part row = part(t, s->update.array);
    const Part old = part(t, row.flat);
    t->failed |= kind_of(t, s->update.value) != NO_PART || old.age != CURRENT || old.repetition != t->repetition;
    const CoreVar before = row.flat.var;
    CoreStmt *u = build_stmt(&t->b, CORE_UPDATE, 1, &(CoreType){0});
    u->update.array = row.flat;
    u->update.index = place_in(t, &row, s->update.index, s->site);
    u->update.value = s->update.value;
    const CoreAtom flat = new_flat(t, s->update.array.var);
    t->b.fn->vars.at[flat.var].type = core_atom_type(t->b.fn, row.flat);
    emit_into(t, flat.var, u);
    grow_older(t, row.flat, UPDATED);
    Part *made = part_of(t, flat.var);
    made->before = before;
    made->row = row.row;
    t->updates++;
    t->unstored++;
    row.flat = flat;
    row.bound = CURRENT;
    row.copied = false;
    row.number = t->numbered++;
    *part_of(t, s->vars[0]) = row;
}

/* The row is the table's row i, updated: the array that has it now has all of the table. */
static void rewrite_table_update(Tables *t, CoreStmt *s)
{
    const Part table = part(t, s->update.array), row = part(t, s->update.value);
    t->failed |= row.kind != ROW || row.flat.is_const || !same_number(t, row.row, s->update.index, SAME_DEPTH);
    for (CoreAtom flat = row.flat; !t->failed && flat.var != table.flat.var;) {
        Part *p = flat.var < t->first ? NULL : part_of(t, flat.var);
        if (!p || p->before == CORE_NO_VAR || !same_number(t, p->row, s->update.index, SAME_DEPTH)) {
            t->failed = true;
            break;
        }
        t->unstored -= !p->stored;
        p = part_of(t, flat.var);
        p->stored = true;
        flat = build_atom(&t->b, p->before);
    }
    bind_table(t, s->vars[0], row.flat);
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
    const Part p = part(t, s->length.array);
    emit_atom_into(t, s->vars[0], p.kind == TABLE ? t->rows : p.length);
}

/* One that only a part of the statements is for leaves the others as they were. */
static void rewrite_branches(Tables *t, CoreStmt *s)
{
    const uint32_t before = t->aged.n;
    rewrite_block(t, s->if_.then_b);
    const uint32_t n = t->aged.n;
    Age *ages = arena_array(t->scratch, Age, n + 1);
    for (uint32_t i = before; i < n; i++) {
        ages[i] = part_of(t, t->aged.at[i])->age;
        part_of(t, t->aged.at[i])->age = CURRENT;
    }
    rewrite_block(t, s->if_.else_b);
    for (uint32_t i = before; i < n; i++)
        grow_older(t, build_atom(&t->b, t->aged.at[i]), ages[i]);
}

static void rewrite_if(Tables *t, CoreStmt *s)
{
    rewrite_branches(t, s);
    for (uint32_t i = 0; i < s->nvars && !t->failed; i++) {
        CoreAtom *x = &s->if_.then_b->results[i], *y = &s->if_.else_b->results[i];
        t->failed |= kind_of(t, *x) != kind_of(t, *y) || kind_of(t, *x) == ROW;
        if (t->failed || kind_of(t, *x) == NO_PART)
            continue;
        *x = part(t, *x).flat;
        *y = part(t, *y).flat;
        grow_older(t, *x, UPDATED);
        grow_older(t, *y, UPDATED);
        const CoreAtom flat = new_flat(t, s->vars[i]);
        bind_table(t, s->vars[i], flat);
        s->vars[i] = flat.var;
    }
    emit(t, s);
}

static void begin_with_table(Tables *t, CoreStmt *s, uint32_t i)
{
    const CoreAtom from = part(t, s->loop.inits[i]).flat;
    const Part old = part(t, from);
    t->failed |= old.age == UPDATED || (!from.is_const && from.var >= t->first && old.repetition != t->repetition);
    grow_older(t, from, LOOPED);
    s->loop.inits[i] = from;
}

static void rewrite_loop(Tables *t, CoreStmt *s)
{
    const uint32_t n = s->loop.nparams, outer = t->repetition;
    bool *tables = arena_array(t->scratch, bool, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const PartKind kind = kind_of(t, s->loop.inits[i]);
        t->failed |= kind == ROW;
        tables[i] = kind == TABLE;
        if (tables[i])
            begin_with_table(t, s, i);
    }
    t->repetition = ++t->repetitions;
    for (uint32_t i = 0; i < n && !t->failed; i++)
        if (tables[i]) {
            const CoreAtom flat = new_flat(t, s->loop.params[i]);
            bind_table(t, s->loop.params[i], flat);
            s->loop.params[i] = flat.var;
        }
    if (s->loop.cond)
        rewrite_inner(t, s->loop.cond);
    rewrite_block(t, s->loop.body);
    t->repetition = outer;
    for (uint32_t i = 0; i < n && !t->failed; i++) {
        CoreAtom *next = &s->loop.body->results[i];
        t->failed |= kind_of(t, *next) != (tables[i] ? TABLE : NO_PART);
        if (!tables[i] || t->failed)
            continue;
        *next = part(t, *next).flat;
        const CoreAtom flat = new_flat(t, s->vars[i]);
        bind_table(t, s->vars[i], flat);
        s->vars[i] = flat.var;
    }
    emit(t, s);
}

/* Rows and elements that the operation goes over are read by position. */
static void rewrite_inputs(Tables *t, CoreSoac *soac)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        const Part p = part(t, soac->inputs[i]);
        if (p.kind == NO_PART) {
            soac->inputs[kept] = soac->inputs[i];
            soac->elements[kept++] = soac->elements[i];
            continue;
        }
        if (soac->index == CORE_NO_VAR)
            soac->index = build_var(&t->b, core_scalar(SC_I64), NULL).var;
        const CoreAtom at = build_atom(&t->b, soac->index);
        t->failed |= soac->guard || (p.kind == TABLE && part(t, p.flat).age == UPDATED);
        if (p.kind == TABLE)
            bind_row(t, soac->elements[i], row_at(t, p.flat, at));
        else
            emit_element(t, soac->elements[i], &p, at);
    }
    soac->ninputs = kept;
}

static void rewrite_soac(Tables *t, CoreStmt *s)
{
    const uint32_t outer = t->repetition;
    CoreLambda *op = core_stmt_operator(s);
    CoreBlock *around = t->b.out, *body = s->soac.body;
    t->repetition = ++t->repetitions;
    if (s->soac.guard)
        rewrite_inner(t, s->soac.guard);
    CoreBlock front = {0}, old = core_take_stmts(body);
    t->b.out = &front;
    rewrite_inputs(t, &s->soac);
    t->b.out = around;
    body->stmts = old.stmts;
    rewrite_inner(t, body);
    CoreBlock rest = core_take_stmts(body);
    for (uint32_t i = 0; i < front.stmts.n; i++)
        core_push(t->b.p, body, front.stmts.at[i]);
    for (uint32_t i = 0; i < rest.stmts.n; i++)
        core_push(t->b.p, body, rest.stmts.at[i]);
    if (op)
        rewrite_inner(t, op->body);
    t->repetition = outer;
    core_stmt_atoms(s, fail_if_part, t);
    emit(t, s);
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
    if (s->kind == CORE_LOOP) {
        rewrite_loop(t, s);
    } else if (s->kind == CORE_IF) {
        rewrite_if(t, s);
    } else if (core_stmt_soac(s)) {
        rewrite_soac(t, s);
    } else if (s->kind == CORE_ATOM && kind_of(t, s->atom) != NO_PART) {
        *part_of(t, s->vars[0]) = part(t, s->atom);
    } else if (!is_of_part(t, s)) {
        core_stmt_blocks(s, rewrite_inner, t);
        core_stmt_atoms(s, fail_if_part, t);
        emit(t, s);
    } else if (s->kind == CORE_INDEX) {
        rewrite_index(t, s);
    } else if (s->kind == CORE_LENGTH) {
        rewrite_length(t, s);
    } else {
        rewrite_update(t, s);
    }
}

static void rewrite_block(Tables *t, CoreBlock *block)
{
    CoreBlock *outer = t->b.out, old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n && !t->failed; i++) {
        t->b.out = block;
        rewrite_stmt(t, old.stmts.at[i]);
    }
    t->b.out = outer;
}

/* ---- what the state begins as ---- */

typedef struct Maker {
    const CoreStmt *stmt;
    const CoreBlock *in;
} Maker;

typedef struct Finder {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    CoreCopyMap map;
    uint32_t tried, repeated; /* loops and parallel operations around */
    CoreBlock *out;
    uint32_t noted;    /* of its statements, in `makers` */
    VEC(Maker) makers; /* by variable */
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

/* The statement of the block at hand that makes it, or NULL. */
static const CoreStmt *maker_of(Finder *f, CoreAtom a)
{
    note_makers(f);
    return !a.is_const && a.var < f->makers.n && f->makers.at[a.var].in == f->out ? f->makers.at[a.var].stmt : NULL;
}

static bool is_inside(const CoreStmt *map, CoreAtom a)
{
    bool inside = !a.is_const && map->soac.index == a.var;
    for (uint32_t i = 0; i < map->soac.ninputs && !a.is_const; i++)
        inside |= map->soac.elements[i] == a.var;
    return inside || core_block_def(map->soac.body, a);
}

/* init's rows are what this map makes, of one length that is known outside; or NULL. */
static const CoreStmt *row_maker(Finder *f, CoreAtom init)
{
    const CoreStmt *s = maker_of(f, init);
    if (!s || s->kind != CORE_MAP || s->soac.guard)
        return NULL;
    const CoreBlock *body = s->soac.body;
    const CoreStmt *last = body->stmts.n ? body->stmts.at[body->stmts.n - 1] : NULL;
    const CoreAtom row = body->results[0];
    const bool made = last && last->kind == CORE_MAP && last->nvars == 1 && !last->soac.guard && !row.is_const &&
                      row.var == last->vars[0];
    return made && !is_inside(s, last->soac.domain) ? last : NULL;
}

/* All rows are the same value again and again, from outside. */
static bool is_filled(const CoreStmt *row, const CoreStmt *around)
{
    const CoreBlock *body = row->soac.body;
    return body->stmts.n == 0 && !is_inside(row, body->results[0]) && !is_inside(around, body->results[0]);
}

static CoreAtom filled(Tables *t, CoreAtom x, CoreAtom n)
{
    CoreBlock *outer = build_begin(&t->b);
    CoreSoac soac = {.domain = n, .index = CORE_NO_VAR, .body = build_end(&t->b, outer, &x, 1)};
    return build_map(&t->b, soac)[0];
}

static CoreAtom emit_lengths(Tables *t, CoreAtom init)
{
    const CoreAtom i = build_var(&t->b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(&t->b);
    const CoreAtom n = build_length(&t->b, build_index(&t->b, init, i, CORE_NO_SITE));
    CoreSoac soac = {.domain = t->rows, .index = i.var, .body = build_end(&t->b, outer, &n, 1)};
    return build_map(&t->b, soac)[0];
}

static CoreAtom emit_offsets(Tables *t)
{
    const CoreAtom i = build_var(&t->b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(&t->b);
    const CoreAtom n = build_index(&t->b, t->lengths, i, CORE_NO_SITE);
    CoreSoac soac = {.domain = t->rows, .index = i.var, .body = build_end(&t->b, outer, &n, 1)};
    return build_fold(&t->b, CORE_SCAN, soac, PRIM_ADD, core_i64(0), true);
}

/* What the state begins as, as one array; and where its rows are. */
static CoreAtom emit_begin(Finder *f, Tables *t, CoreAtom init)
{
    const CoreStmt *row = row_maker(f, init);
    t->regular = row != NULL;
    t->rows = build_length(&t->b, init);
    if (row) {
        t->stride = row->soac.domain;
    } else {
        t->lengths = emit_lengths(t, init);
        t->offsets = emit_offsets(t);
    }
    if (row && is_filled(row, maker_of(f, init)))
        return filled(t, row->soac.body->results[0], build_prim2(&t->b, PRIM_SIZE_MUL, t->rows, t->stride));
    const CoreType type = core_element(core_atom_type(t->b.fn, init));
    CoreStmt *s = build_stmt(&t->b, CORE_FLATTEN, 1, &type);
    s->length.array = init;
    emit(t, s);
    return build_atom(&t->b, s->vars[0]);
}

/* The table again, as v. */
static void emit_end(Tables *t, CoreVar v, CoreAtom flat)
{
    CoreBuilder *b = &t->b;
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    const CoreType type = core_atom_type(b->fn, flat);
    CoreBlock *outer = build_begin(b);
    const Part row = row_at(t, flat, i);
    CoreStmt *s = build_stmt(b, CORE_SLICE, 1, &type);
    s->slice.array = flat;
    s->slice.from = row.base;
    s->slice.to = build_prim2(b, PRIM_ADD, row.base, row.length);
    emit(t, s);
    const CoreAtom slice = build_atom(b, s->vars[0]);
    CoreStmt *map = build_stmt_into(b, CORE_MAP, 1, &v);
    map->soac = (CoreSoac){.domain = t->rows, .index = i.var, .body = build_end(b, outer, &slice, 1)};
    emit(t, map);
}

/* ---- finding them ---- */

typedef struct Glance {
    const CoreFn *fn;
    CoreType type;
    bool found;
} Glance;

static void look_for_update(void *ctx, CoreBlock *block)
{
    Glance *g = ctx;
    for (uint32_t i = 0; i < block->stmts.n && !g->found; i++) {
        CoreStmt *s = block->stmts.at[i];
        g->found = s->kind == CORE_UPDATE && core_type_equal(core_atom_type(g->fn, s->update.array), g->type);
        core_stmt_blocks(s, look_for_update, g);
    }
}

/* What begins the state is made for it, or begins it once. */
static bool is_fresh(Finder *f, CoreAtom init)
{
    const CoreStmt *s = maker_of(f, init);
    return (f->repeated == 0 && !f->fn->recursive) || (s && (s->kind == CORE_MAP || s->kind == CORE_FLATTEN));
}

static bool is_candidate(Finder *f, CoreStmt *s, uint32_t i)
{
    Glance g = {f->fn, core_var_type(f->fn, s->loop.params[i]), false};
    if (g.type.rank < 2 || !is_fresh(f, s->loop.inits[i]))
        return false;
    look_for_update(&g, s->loop.body);
    return g.found;
}

/* A copy of the loop, whose state i is one array; where it is. NULL if that cannot be. */
static CoreStmt *try_loop(Finder *f, Tables *t, CoreStmt *s, uint32_t i)
{
    CoreBlock *alone = core_new_block(f->p);
    core_push(f->p, alone, s);
    *t = (Tables){.b = {.p = f->p, .fn = f->fn, .span = s->span}, .scratch = f->scratch, .copied = t->copied};
    t->first = f->fn->vars.n;
    CoreBlock *copy = core_copy_within(f->p, f->fn, alone, f->scratch, &f->map);
    CoreStmt *loop = copy->stmts.at[0];
    t->b.emit = on_emit;
    t->b.ctx = t;
    t->b.out = core_new_block(f->p);
    const CoreAtom flat = emit_begin(f, t, s->loop.inits[i]);
    const CoreAtom table = build_var(&t->b, core_atom_type(f->fn, s->loop.inits[i]), NULL);
    bind_table(t, table.var, flat);
    loop->loop.inits[i] = table;
    rewrite_loop(t, loop);
    return t->failed || t->updates == 0 || t->unstored > 0 ? NULL : loop;
}

static bool place_loop(Finder *f, CoreStmt *s);

static bool place_with_table(Finder *f, CoreStmt *s, uint32_t i)
{
    Tables t = {0};
    CoreStmt *loop = NULL;
    uint32_t statements = 1;
    choose_count(&statements, s->loop.body);
    for (uint32_t tries = 0; tries < MOST_TRIES && (tries == 0 || t.again); tries++) {
        f->tried += statements;
        loop = f->tried <= MOST_TRIED ? try_loop(f, &t, s, i) : NULL;
        if (!loop)
            return false;
    }
    if (t.again)
        return false;
    const CoreAtom flat = build_atom(&t.b, loop->vars[i]);
    for (uint32_t k = 0; k < s->nvars; k++)
        loop->vars[k] = k == i ? loop->vars[k] : s->vars[k];
    for (uint32_t k = 0; k + 1 < t.b.out->stmts.n; k++)
        core_push(f->p, f->out, t.b.out->stmts.at[k]);
    (void)place_loop(f, loop);
    t.b.out = f->out;
    emit_end(&t, s->vars[i], flat);
    return true;
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

static bool find_in_stmt(Finder *f, CoreStmt *s)
{
    const bool repeats = s->kind == CORE_LOOP || core_stmt_soac(s);
    Finding inside = {f, false};
    f->repeated += repeats;
    core_stmt_blocks(s, find_inside, &inside);
    f->repeated -= repeats;
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
    const uint32_t noted = f->noted;
    bool found = false;
    f->out = block;
    f->noted = 0;
    for (uint32_t i = 0; i < old.stmts.n; i++)
        found |= old.stmts.at[i]->kind == CORE_LOOP ? place_loop(f, old.stmts.at[i]) : find_in_stmt(f, old.stmts.at[i]);
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
