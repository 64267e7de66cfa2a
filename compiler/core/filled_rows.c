/* Tables as the state of loops that only append to rows, such as lists of neighbours or buckets:
 *
 *     t' = loop (t = n empty rows) … { … row = index t v; t1 = update t v (row ++ [x]) … -> t1 }
 *   ==>
 *     keys, ranks, xs, counts = loop (… = [], [], [], n zeros) … {
 *         check 0 <= v < n;  c = index counts v
 *         … keys ++ [v], ranks ++ [c], xs ++ [x], update counts v (c + 1) … }
 *     starts = exclusive scan of counts
 *     flat = scatter (j) { -> starts[keys[j]] + ranks[j], xs[j] };  t' = map n at i { the next counts[i] of flat }
 *
 * So a row is not copied when it gets an element, and what grows is lists (growing_lists.c). Nobody may look at
 * elements of rows in the loop; how many there are is counts[v]. */
#include "core/append.h"
#include "core/passes.h"
#include "core/split_state.h"

#include <string.h>

enum { MOST_PARAMS = 32 };

/* What a version of a table is in the rewritten loop: the parts of its variable (split_state.h). */
typedef struct Log {
    CoreAtom keys, ranks, values, counts;
} Log;

/* Row `at` of a version, or that with elements behind it. */
typedef struct Row {
    CoreVar table;
    CoreAtom at;
    CoreVar of;           /* appended: the row without them, else CORE_NO_VAR */
    CoreAtom items, more; /* appended: elements, and how many */
} Row;

typedef struct Filled {
    CoreBuilder b;
    Arena *scratch;
    SplitState split;
    CoreMakers makers;
    uint32_t nvars;
    uint32_t *root; /* by variable: 1 + which table of the loop it is a version of */
    Row **row;      /* by variable */
    Row **last;     /* by version that an update makes: what it stores */
    Log *log;       /* by variable */
    bool bad[MOST_PARAMS], appended[MOST_PARAMS];
    bool any;
} Filled;

static uint32_t root_of(const Filled *f, CoreAtom a) { return a.is_const || a.var >= f->nvars ? 0 : f->root[a.var]; }
static Row *row_of(const Filled *f, CoreAtom a) { return a.is_const || a.var >= f->nvars ? NULL : f->row[a.var]; }

/* ---- which tables ---- */

static void note_bad(void *ctx, CoreAtom *a)
{
    Filled *f = ctx;
    const Row *row = row_of(f, *a);
    const uint32_t root = row ? f->root[row->table] : root_of(f, *a);
    if (root)
        f->bad[root - 1] = true;
}

static void note_bad_both(Filled *f, CoreAtom x, CoreAtom y)
{
    note_bad(f, &x);
    note_bad(f, &y);
}

static void note_row(Filled *f, CoreVar v, Row row)
{
    f->row[v] = arena_new(f->scratch, Row);
    *f->row[v] = row;
}

typedef struct RowUses {
    const Filled *f;
    uint32_t n;
} RowUses;

static void count_rows(void *ctx, CoreAtom *a)
{
    RowUses *uses = ctx;
    uses->n += row_of(uses->f, *a) || root_of(uses->f, *a);
}

/* All that it gives are rows with something behind them, and it reads of tables these rows alone. */
static bool note_appends(Filled *f, CoreStmt *s)
{
    RowUses uses = {.f = f};
    core_stmt_all_atoms(s, count_rows, &uses);
    if (uses.n != s->nvars)
        return false;
    for (uint32_t k = 0; k < s->nvars; k++) {
        CoreAppend append;
        CoreAtom more;
        const Row *left = core_as_append(s, k, &append) ? row_of(f, append.left) : NULL;
        if (!left || left->of != CORE_NO_VAR || !core_is_length(&f->makers, append.left, append.length) ||
            !core_append_more(&f->makers, s->soac.domain, append.length, &more))
            return false;
        note_row(f, s->vars[k], (Row){left->table, left->at, append.left.var, append.right, more});
    }
    return true;
}

/* The row of what is changed there, or of the version before it: t with [u] = t[u] ++ xs with [v] = t[v] ++ ys. */
static bool is_stored_row(const Filled *f, const CoreStmt *s)
{
    const Row *row = row_of(f, s->update.value);
    if (!row || row->of == CORE_NO_VAR || s->update.array.is_const || !core_atom_equal(row->at, s->update.index))
        return false;
    const Row *last = f->last[s->update.array.var];
    return row->table == s->update.array.var || (last && row->table == last->table);
}

static void look_at_block(Filled *f, CoreBlock *b);

static void look_at_loop(Filled *f, CoreStmt *s)
{
    for (uint32_t k = 0; k < s->loop.nparams; k++)
        f->root[s->loop.params[k]] = root_of(f, s->loop.inits[k]);
    if (s->loop.cond)
        look_at_block(f, s->loop.cond);
    look_at_block(f, s->loop.body);
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        const CoreAtom result = s->loop.body->results[k];
        f->root[s->vars[k]] = f->root[s->loop.params[k]];
        if (root_of(f, result) != f->root[s->vars[k]])
            note_bad_both(f, result, s->loop.inits[k]);
    }
}

static void look_at_if(Filled *f, CoreStmt *s)
{
    look_at_block(f, s->if_.then_b);
    look_at_block(f, s->if_.else_b);
    for (uint32_t k = 0; k < s->nvars; k++) {
        const CoreAtom x = s->if_.then_b->results[k], y = s->if_.else_b->results[k];
        f->root[s->vars[k]] = root_of(f, x);
        if (root_of(f, x) != root_of(f, y))
            note_bad_both(f, x, y);
    }
}

static void look_at_stmt(Filled *f, CoreStmt *s)
{
    const bool table = s->kind == CORE_UPDATE  ? root_of(f, s->update.array)
                       : s->kind == CORE_INDEX ? root_of(f, s->index.array)
                                               : false;
    if (s->kind == CORE_LOOP) {
        look_at_loop(f, s);
    } else if (s->kind == CORE_IF) {
        look_at_if(f, s);
    } else if (s->kind == CORE_ATOM) {
        const Row *row = row_of(f, s->atom);
        f->root[s->vars[0]] = root_of(f, s->atom);
        if (row)
            note_row(f, s->vars[0], *row);
    } else if (s->kind == CORE_INDEX && table) {
        note_row(f, s->vars[0], (Row){.table = s->index.array.var, .at = s->index.index, .of = CORE_NO_VAR});
    } else if (s->kind == CORE_UPDATE && table && is_stored_row(f, s)) {
        f->root[s->vars[0]] = root_of(f, s->update.array);
        f->appended[f->root[s->vars[0]] - 1] = true;
        f->last[s->vars[0]] = row_of(f, s->update.value);
    } else if (s->kind == CORE_LENGTH || (s->kind == CORE_MAP && note_appends(f, s))) {
        const Row *row = s->kind == CORE_LENGTH ? row_of(f, s->length.array) : NULL;
        if (row && row->of != CORE_NO_VAR)
            note_bad(f, &s->length.array);
    } else {
        core_stmt_all_atoms(s, note_bad, f);
    }
}

/* Results that are versions are the statement's, whose block it is, to look at. */
static void look_at_block(Filled *f, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        look_at_stmt(f, b->stmts.at[i]);
    for (uint32_t i = 0; i < b->nresults; i++)
        if (row_of(f, b->results[i]))
            note_bad(f, &b->results[i]);
}

static void forget_block(void *ctx, CoreBlock *b)
{
    Filled *f = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        for (uint32_t k = 0; k < s->nvars; k++) {
            f->root[s->vars[k]] = 0;
            f->row[s->vars[k]] = f->last[s->vars[k]] = NULL;
        }
        for (uint32_t k = 0; s->kind == CORE_LOOP && k < s->loop.nparams; k++)
            f->root[s->loop.params[k]] = 0;
        core_stmt_blocks(s, forget_block, f);
    }
}

/* n rows of nothing. */
static bool begins_empty(const Filled *f, CoreAtom init)
{
    const CoreStmt *s = core_maker(&f->makers, init);
    if (!s || s->kind != CORE_MAP || s->soac.guard)
        return false;
    const CoreStmt *row = core_maker(&f->makers, s->soac.body->results[core_stmt_result(s, init)]);
    return row && ((row->kind == CORE_ARRAY && row->array.n == 0) ||
                   (row->kind == CORE_MAP && row->soac.domain.is_const && row->soac.domain.bits == 0));
}

static bool find_tables(Filled *f, CoreStmt *s)
{
    bool any = false, again = true;
    const uint32_t n = s->loop.nparams;
    for (uint32_t k = 0; k < n && n <= MOST_PARAMS; k++) {
        f->bad[k] = core_var_type(f->b.fn, s->loop.params[k]).rank != 2 || !begins_empty(f, s->loop.inits[k]);
        any |= !f->bad[k];
    }
    while (any && again) {
        bool before[MOST_PARAMS];
        memcpy(before, f->bad, sizeof before);
        memset(f->appended, 0, sizeof f->appended);
        forget_block(f, s->loop.body);
        if (s->loop.cond)
            forget_block(f, s->loop.cond);
        for (uint32_t k = 0; k < n; k++)
            f->root[s->loop.params[k]] = f->bad[k] ? 0 : k + 1;
        if (s->loop.cond)
            look_at_block(f, s->loop.cond);
        look_at_block(f, s->loop.body);
        again = any = false;
        for (uint32_t k = 0; k < n; k++) {
            const CoreAtom result = s->loop.body->results[k];
            if (root_of(f, result) != f->root[s->loop.params[k]])
                note_bad_both(f, result, core_var_atom(s->loop.params[k], core_var_type(f->b.fn, s->loop.params[k])));
            f->bad[k] |= !f->appended[k];
            again |= f->bad[k] != before[k];
            any |= !f->bad[k];
        }
    }
    for (uint32_t k = 0; k < n && !any; k++) /* loops inside are looked at next */
        f->root[s->loop.params[k]] = 0;
    if (!any)
        core_stmt_blocks(s, forget_block, f);
    return any;
}

/* ---- rewriting ---- */

static bool is_table(void *ctx, CoreVar v)
{
    const Filled *f = ctx;
    return v < f->nvars && f->root[v];
}

static void make_log(void *ctx, CoreVar v, CoreVar *parts)
{
    Filled *f = ctx;
    const CoreType numbers = {SC_I64, 1}, values = core_element(core_var_type(f->b.fn, v));
    const Log log = {build_var(&f->b, numbers, "keys"), build_var(&f->b, numbers, "ranks"),
                     build_var(&f->b, values, "values"), build_var(&f->b, numbers, "counts")};
    f->log[v] = log;
    parts[0] = log.keys.var;
    parts[1] = log.ranks.var;
    parts[2] = log.values.var;
    parts[3] = log.counts.var;
}

static void log_parts(void *ctx, CoreVar v, CoreAtom a, CoreAtom *parts)
{
    (void)v;
    const Log log = ((Filled *)ctx)->log[a.var];
    parts[0] = log.keys;
    parts[1] = log.ranks;
    parts[2] = log.values;
    parts[3] = log.counts;
}

/* `more` of these, a literal where `items` is one. */
static CoreAtom repeated(Filled *f, const CoreStmt *items, CoreAtom more, CoreAtom first, bool counts)
{
    CoreBuilder *b = &f->b;
    const CoreType type = {SC_I64, 1};
    if (items) {
        CoreAtom *each = arena_array(f->scratch, CoreAtom, items->array.n + 1);
        for (uint32_t i = 0; i < items->array.n; i++)
            each[i] = counts && i > 0 ? build_prim2(b, PRIM_ADD, first, core_i64(i)) : first;
        return build_array(b, type, each, items->array.n);
    }
    if (!counts)
        return build_repeated(b, first, more);
    CoreSoac soac = {.domain = more, .index = build_var(b, core_scalar(SC_I64), NULL).var};
    CoreBlock *outer = build_begin(b);
    const CoreAtom x = build_prim2(b, PRIM_ADD, first, build_atom(b, soac.index));
    soac.body = build_end(b, outer, &x, 1);
    return build_map(b, soac)[0];
}

/* Without what went to the same row last. */
static Log without_last(Filled *f, Log log, const Row *last, CoreAtom at)
{
    CoreBuilder *b = &f->b;
    const CoreAtom same = build_prim2(b, PRIM_EQ, last->at, at), drop = build_select(b, same, last->more, core_i64(0)),
                   n = build_prim2(b, PRIM_SUB, build_length(b, log.keys), drop), none = core_i64(0);
    return (Log){build_piece(b, log.keys, none, n), build_piece(b, log.ranks, none, n),
                 build_piece(b, log.values, none, n), log.counts};
}

static void rewrite_update(Filled *f, const CoreStmt *s)
{
    CoreBuilder *b = &f->b;
    const Row *row = row_of(f, s->update.value);
    const CoreAtom n = build_index(b, f->log[row->table].counts, row->at, CORE_NO_SITE);
    Log old = f->log[s->update.array.var];
    if (row->table != s->update.array.var)
        old = without_last(f, old, f->last[s->update.array.var], row->at);
    const CoreStmt *items = core_maker(&f->makers, row->items);
    const bool literal = items && items->kind == CORE_ARRAY && row->more.is_const && row->more.bits == items->array.n;
    const CoreStmt *few = literal ? items : NULL;
    Log log = {.keys = build_appended(b, old.keys, repeated(f, few, row->more, row->at, false), row->more),
               .ranks = build_appended(b, old.ranks, repeated(f, few, row->more, n, true), row->more),
               .values = build_appended(b, old.values, row->items, row->more)};
    log.counts = build_changed(b, old.counts, row->at, build_prim2(b, PRIM_ADD, n, row->more));
    f->log[s->vars[0]] = log;
}

static void rewrite_stmt(void *ctx, CoreStmt *s)
{
    Filled *f = ctx;
    f->b.span = s->span;
    const Row *row = s->nvars == 1 && s->vars[0] < f->nvars ? f->row[s->vars[0]] : NULL;
    if (s->kind == CORE_IF) {
        split_if(&f->split, s);
    } else if (s->kind == CORE_LOOP) {
        split_loop(&f->split, s, split_atoms(&f->split, s->loop.params, s->loop.inits, s->loop.nparams));
    } else if (s->kind == CORE_ATOM && root_of(f, s->atom)) {
        f->log[s->vars[0]] = f->log[s->atom.var];
    } else if (s->kind == CORE_UPDATE && root_of(f, s->update.array)) {
        rewrite_update(f, s);
    } else if (s->kind == CORE_LENGTH && root_of(f, s->length.array)) {
        build_named(&f->b, s->vars[0], build_length(&f->b, f->log[s->length.array.var].counts));
    } else if (s->kind == CORE_LENGTH && row_of(f, s->length.array)) {
        const Row *of = row_of(f, s->length.array);
        build_named(&f->b, s->vars[0], build_index(&f->b, f->log[of->table].counts, of->at, CORE_NO_SITE));
    } else if (row && s->kind == CORE_INDEX) {
        build_check_bounds(&f->b, s->site, row->at, build_length(&f->b, f->log[row->table].counts));
    } else if (row || (s->kind == CORE_MAP && s->nvars > 0 && s->vars[0] < f->nvars && f->row[s->vars[0]])) {
        return; /* it is read nowhere else */
    } else {
        core_push(f->b.p, f->b.out, s);
    }
}

static CoreAtom *begin_logs(Filled *f, CoreStmt *s)
{
    CoreBuilder *b = &f->b;
    CoreAtom *inits = arena_array(b->p->arena, CoreAtom, MOST_PARTS * s->loop.nparams + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        if (!is_table(f, s->loop.params[k])) {
            inits[n++] = s->loop.inits[k];
            continue;
        }
        inits[n++] = build_nothing(b, (CoreType){SC_I64, 1});
        inits[n++] = build_nothing(b, (CoreType){SC_I64, 1});
        inits[n++] = build_nothing(b, core_element(core_var_type(b->fn, s->loop.params[k])));
        inits[n++] = build_repeated(b, core_i64(0), build_length(b, s->loop.inits[k]));
    }
    return inits;
}

/* v, from what has been appended. */
static void end_log(Filled *f, CoreVar v, const Log *log)
{
    CoreBuilder *b = &f->b;
    const CoreType values = core_element(core_var_type(b->fn, v));
    const CoreAtom n = build_length(b, log->counts), all = build_length(b, log->keys),
                   starts = build_row_starts(b, log->counts, n), room = build_room(b, all, core_element(values)),
                   j = build_var(b, core_scalar(SC_I64), NULL);
    CoreStmt *s = build_stmt(b, CORE_SCATTER, 1, &values);
    CoreBlock *outer = build_begin(b);
    const CoreAtom start = build_index(b, starts, build_index(b, log->keys, j, CORE_NO_SITE), CORE_NO_SITE);
    const CoreAtom to[] = {build_prim2(b, PRIM_ADD, start, build_index(b, log->ranks, j, CORE_NO_SITE)),
                           build_index(b, log->values, j, CORE_NO_SITE)};
    s->soac = (CoreSoac){.domain = all, .index = j.var, .body = build_end(b, outer, to, 2)};
    s->soac.dests = build_atoms_copy(b, &room, 1, 1);
    build_emit(b, s);
    build_named(b, v, build_rows(b, build_atom(b, s->vars[0]), starts, log->counts, n));
}

static void fill_in_block(void *ctx, CoreBlock *b)
{
    Filled *f = ctx;
    CoreBlock *out = f->b.out, old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (s->kind != CORE_LOOP || !find_tables(f, s)) {
            core_stmt_blocks(s, fill_in_block, f);
            core_push(f->b.p, b, s);
            continue;
        }
        const CoreVar *vars = s->vars;
        const uint32_t n = s->nvars;
        f->any = true;
        f->b.out = b;
        f->b.span = s->span;
        for (uint32_t k = 0; k < n; k++)
            f->root[vars[k]] = f->root[s->loop.params[k]];
        split_loop(&f->split, s, begin_logs(f, s));
        for (uint32_t k = 0; k < n; k++)
            if (f->root[vars[k]]) {
                end_log(f, vars[k], &f->log[vars[k]]);
                f->root[vars[k]] = 0;
            }
    }
    f->b.out = out;
}

static bool fill_in_function(CoreProgram *p, CoreFn *fn)
{
    Arena *scratch = arena_create();
    const uint32_t n = fn->vars.n + 1;
    Filled f = {.b = {.p = p, .fn = fn}, .scratch = scratch, .nvars = fn->vars.n};
    f.split = (SplitState){&f.b, &f, MOST_PARTS, is_table, make_log, log_parts, NULL, rewrite_stmt};
    f.makers = core_makers_of(fn, scratch);
    f.root = arena_array(scratch, uint32_t, n);
    f.row = arena_array(scratch, Row *, n);
    f.last = arena_array(scratch, Row *, n);
    f.log = arena_array(scratch, Log, n);
    fill_in_block(&f, fn->body);
    arena_destroy(scratch);
    return f.any;
}

bool core_filled_rows(CoreProgram *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->fns.n; i++)
        any |= fill_in_function(p, p->fns.at[i]);
    return any;
}
