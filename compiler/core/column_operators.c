/* Reductions, scans and histograms of rows whose operator goes element by element are reductions, scans and histograms
 * of columns, where all rows are as long as the neutral one:
 *
 *     reduce n (r <- rows) … neutral (zs) op (a, b) { map (length a) (x <- a, y <- b) { f x y } }
 *   ==>
 *     w = check_rows 1 below rows, length zs
 *     if w < 0 then map (length zs) at j () { reduce n at i () { rows[i][j] } neutral (zs[j]) op f }
 *     else the reduction as it was
 *
 * One operation, where rounds over whole rows make each sum of two rows (lower_operators.c). Operators on several rows
 * at once likewise. Outside parallel code: in it, both versions would be executed, each for some of the instances;
 * there it has to be known how long rows are (few_elements.c). */
#include "core/build.h"
#include "core/passes.h"
#include "core/simplify_internal.h"

/* Of an operator. */
enum { MOST_STATEMENTS = 32, MOST_PARTS = 16 };

typedef struct Columns {
    CoreProgram *p;
    CoreFn *fn;
    CoreBuilder b;
    VEC(CoreAtom) map; /* by variable: itself, but for those being copied */
    bool changed;
} Columns;

static const CoreType i64 = {SC_I64, 0};

/* ---- the operator ---- */

/* Which operand of the operator it is, or nparams. */
static uint32_t operand(const CoreLambda *op, CoreAtom a)
{
    uint32_t i = 0;
    while (i < op->nparams && (a.is_const || op->params[i] != a.var))
        i++;
    return i;
}

static bool is_length(const CoreLambda *op, CoreAtom a)
{
    const CoreStmt *s = core_block_def(op->body, a);
    return s && s->kind == CORE_LENGTH && operand(op, s->length.array) < op->nparams;
}

/* A comparison of lengths, which are all the same here. */
static bool compares_lengths(const CoreLambda *op, const CoreStmt *s)
{
    return core_as_prim(s, PRIM_EQ) && is_length(op, s->prim.args[0]) && is_length(op, s->prim.args[1]);
}

/* A body reads elements, lengths, and what stands outside of the operator; not operands, or what is made of them. */
static bool is_of_rows(void *operator_, CoreAtom a)
{
    const CoreLambda *op = operator_;
    return operand(op, a) < op->nparams || (core_block_def(op->body, a) && !is_length(op, a));
}

static bool goes_by_elements(CoreLambda *op, const CoreStmt *s)
{
    if (s->soac.guard || (core_block_def(op->body, s->soac.domain) && !is_length(op, s->soac.domain)))
        return false;
    for (uint32_t i = 0; i < s->soac.ninputs; i++)
        if (operand(op, s->soac.inputs[i]) == op->nparams)
            return false;
    return !core_block_reads(s->soac.body, is_of_rows, op);
}

static bool is_columnwise(const CoreFn *fn, CoreLambda *op, uint32_t rank)
{
    const CoreBlock *b = op->body;
    bool ok = b->stmts.n <= MOST_STATEMENTS && b->nresults <= MOST_PARTS;
    for (uint32_t i = 0; i < op->nparams && ok; i++)
        ok = core_var_type(fn, op->params[i]).rank >= 1 && core_var_type(fn, op->params[i]).rank <= rank;
    for (uint32_t i = 0; i < b->stmts.n && ok; i++) {
        const CoreStmt *s = b->stmts.at[i];
        ok = s->kind == CORE_MAP ? goes_by_elements(op, s)
             : s->kind == CORE_CHECK
                 ? compares_lengths(op, core_block_def(b, s->check.cond))
                 : (s->nvars == 1 && is_length(op, core_var_atom(s->vars[0], i64))) || compares_lengths(op, s);
    }
    for (uint32_t i = 0; i < b->nresults && ok; i++) {
        const CoreStmt *s = core_block_def(b, b->results[i]);
        ok = s && s->kind == CORE_MAP;
    }
    return ok;
}

/* ---- columns ---- */

static void cover(Columns *c)
{
    for (CoreVar v = c->map.n; v < c->fn->vars.n; v++)
        vec_push(c->p->arena, &c->map, build_atom(&c->b, v));
}

static void set_copy(Columns *c, CoreVar v, CoreAtom by)
{
    cover(c);
    c->map.at[v] = by;
}

/* What the operator does with elements, at this column of `n`. */
static CoreLambda of_elements(Columns *c, const CoreLambda *op, CoreAtom column, CoreAtom n)
{
    CoreBuilder *b = &c->b;
    CoreLambda to = {.params = arena_array(c->p->arena, CoreVar, op->nparams + 1), .nparams = op->nparams};
    CoreAtom *results = arena_array(c->p->arena, CoreAtom, op->body->nresults + 1);
    for (uint32_t i = 0; i < op->nparams; i++)
        to.params[i] = build_var(b, core_element(core_var_type(c->fn, op->params[i])), NULL).var;
    CoreBlock *outer = build_begin(b);
    for (uint32_t i = 0; i < op->body->stmts.n; i++) {
        const CoreStmt *s = op->body->stmts.at[i];
        if (s->kind == CORE_LENGTH)
            set_copy(c, s->vars[0], n);
        if (s->kind != CORE_MAP)
            continue;
        cover(c);
        if (s->soac.index != CORE_NO_VAR)
            set_copy(c, s->soac.index, column);
        for (uint32_t j = 0; j < s->soac.ninputs; j++)
            set_copy(c, s->soac.elements[j], build_atom(b, to.params[operand(op, s->soac.inputs[j])]));
        const CoreAtom *made = build_copy(b, c->fn, s->soac.body, c->map.at);
        for (uint32_t j = 0; j < op->body->nresults; j++)
            for (uint32_t k = 0; k < s->nvars; k++)
                if (op->body->results[j].var == s->vars[k])
                    results[j] = made[k];
    }
    to.body = build_end(b, outer, results, op->body->nresults);
    return to;
}

/* What goes into the operation, element by element: bins, if it has any, then rows. */
static const CoreAtom *made_rows(CoreBuilder *b, const CoreSoac *soac)
{
    CoreAtom *inputs = arena_array(b->p->arena, CoreAtom, soac->body->nresults + 1);
    bool plain = soac->body->stmts.n == 0;
    for (uint32_t i = 0; i < soac->body->nresults && plain; i++) {
        uint32_t j = 0;
        const CoreAtom a = soac->body->results[i];
        while (j < soac->ninputs && (a.is_const || soac->elements[j] != a.var))
            j++;
        plain = j < soac->ninputs;
        inputs[i] = plain ? soac->inputs[j] : a;
    }
    return plain ? inputs : build_map(b, core_soac_of_map(*soac));
}

static CoreAtom both(CoreBuilder *b, CoreAtom x, CoreAtom y) { return build_prim2(b, PRIM_AND, x, y); }

/* Are all rows as long as the neutral ones? */
static CoreAtom are_regular(CoreBuilder *b, const CoreStmt *s, const CoreAtom *rows, CoreAtom n)
{
    CoreAtom all = core_const(SC_BOOL, 1);
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreStmt *ask = build_stmt(b, CORE_CHECK_ROWS, 1, &i64);
        ask->rows.args = build_atoms_copy(b, (CoreAtom[]){rows[i], n}, 2, 2);
        ask->rows.nargs = 2;
        ask->rows.depth = 1;
        build_emit(b, ask);
        const CoreAtom none = build_prim2(b, PRIM_LT, build_atom(b, ask->vars[0]), core_i64(0));
        all = i ? both(b, all, none) : none;
        if (i)
            all = both(b, all, build_prim2(b, PRIM_EQ, build_length(b, s->soac.neutral[i]), n));
    }
    return all;
}

static CoreStmt *like(CoreBuilder *b, const CoreStmt *s, int rank)
{
    CoreType *types = arena_array(b->p->arena, CoreType, s->nvars + 1);
    for (uint32_t i = 0; i < s->nvars; i++) {
        types[i] = core_var_type(b->fn, s->vars[i]);
        types[i].rank = (uint8_t)(types[i].rank + rank);
    }
    CoreStmt *to = build_stmt(b, s->kind, s->nvars, types);
    to->site = s->site;
    to->soac = s->soac;
    return to;
}

/* The statement of the body that makes all rows of a result. */
static CoreStmt *row_map(const CoreSoac *soac, CoreAtom row)
{
    CoreStmt *s = core_block_def(soac->body, row);
    return s && s->kind == CORE_MAP && !s->soac.guard ? s : NULL;
}

/* Does the statement make the rows of a result? */
static bool makes_rows(const CoreSoac *soac, const CoreStmt *s)
{
    for (uint32_t i = 0; i < soac->body->nresults; i++)
        if (row_map(soac, soac->body->results[i]) == s)
            return true;
    return false;
}

static bool is_of_result(void *soac_, CoreAtom a)
{
    const CoreSoac *soac = soac_;
    const CoreStmt *s = core_block_def(soac->body, a);
    return s && makes_rows(soac, s);
}

/* Does the body do nothing dear but to make rows by maps, none of which is read by the others? Then each element is
 * made where it is combined. */
static bool makes_by_maps(const Columns *c, CoreSoac *soac)
{
    const CoreBlock *body = soac->body;
    for (uint32_t i = 0; i < body->nresults; i++)
        if (!row_map(soac, body->results[i]))
            return false;
    for (uint32_t i = 0; i < body->stmts.n; i++) {
        CoreStmt *s = body->stmts.at[i];
        if ((!makes_rows(soac, s) && !simplify_is_light(c->p, c->fn, s)) || core_stmt_reads(s, is_of_result, soac))
            return false;
    }
    return true;
}

/* Element j of what the body gives at i. */
static void made_values(Columns *c, const CoreSoac *soac, CoreAtom i, CoreAtom j, CoreAtom *values)
{
    const CoreBlock *body = soac->body;
    CoreBlock beside = {0};
    for (uint32_t k = 0; k < body->stmts.n; k++)
        if (!makes_rows(soac, body->stmts.at[k]))
            core_push(c->p, &beside, body->stmts.at[k]);
    cover(c);
    build_enter(&c->b, soac, i, c->map.at);
    build_copy(&c->b, c->fn, &beside, c->map.at);
    for (uint32_t k = 0; k < body->nresults; k++) {
        const CoreStmt *map = row_map(soac, body->results[k]);
        cover(c);
        build_enter(&c->b, &map->soac, j, c->map.at);
        values[k] = build_copy(&c->b, c->fn, map->soac.body, c->map.at)[core_stmt_result(map, body->results[k])];
    }
}

/* The operation on column j; of rows that have been made, or without. */
static const CoreAtom *of_column(Columns *c, const CoreStmt *s, const CoreAtom *all, CoreAtom j, CoreAtom n)
{
    CoreBuilder *b = &c->b;
    const uint32_t places = core_stmt_places(s);
    CoreStmt *to = like(b, s, -1);
    CoreAtom *values = arena_array(c->p->arena, CoreAtom, s->nvars + places + 1);
    const CoreAtom i = build_var(b, i64, "i");
    CoreBlock *outer = build_begin(b);
    if (!all)
        made_values(c, &s->soac, i, j, values);
    if (places)
        values[0] = build_index(b, all[0], i, CORE_NO_SITE);
    for (uint32_t k = 0; k < s->nvars && all; k++)
        values[places + k] = build_index(b, build_index(b, all[places + k], i, CORE_NO_SITE), j, CORE_NO_SITE);
    to->soac.body = build_end(b, outer, values, s->nvars + places);
    to->soac.index = i.var;
    to->soac.inputs = NULL;
    to->soac.elements = NULL;
    to->soac.ninputs = 0;
    to->soac.neutral = arena_array(c->p->arena, CoreAtom, s->nvars + 1);
    for (uint32_t k = 0; k < s->nvars; k++)
        to->soac.neutral[k] = build_index(b, s->soac.neutral[k], j, CORE_NO_SITE);
    to->soac.op = of_elements(c, &s->soac.op, j, n);
    build_emit(b, to);
    return build_atoms(b, to->vars, to->nvars);
}

/* columns[j][i] at i, j */
static const CoreAtom *transposed(CoreBuilder *b, const CoreAtom *columns, uint32_t k, CoreAtom rows, CoreAtom n)
{
    const CoreAtom i = build_var(b, i64, "i"), j = build_var(b, i64, "j");
    CoreAtom *elements = arena_array(b->p->arena, CoreAtom, k + 1);
    CoreBlock *outer = build_begin(b), *inner = build_begin(b);
    for (uint32_t l = 0; l < k; l++)
        elements[l] = build_index(b, build_index(b, columns[l], j, CORE_NO_SITE), i, CORE_NO_SITE);
    CoreSoac row = {.domain = n, .index = j.var, .body = build_end(b, inner, elements, k)};
    const CoreAtom *made = build_map(b, row);
    CoreSoac all = {.domain = rows, .index = i.var, .body = build_end(b, outer, made, k)};
    return build_map(b, all);
}

static CoreBlock *by_columns(Columns *c, const CoreStmt *s, const CoreAtom *all, CoreAtom n)
{
    CoreBuilder *b = &c->b;
    CoreBlock *outer = build_begin(b);
    const CoreAtom j = build_var(b, i64, "j");
    CoreBlock *around = build_begin(b);
    const CoreAtom *results = of_column(c, s, all, j, n);
    CoreSoac soac = {.domain = n, .index = j.var, .body = build_end(b, around, results, s->nvars)};
    const CoreAtom *columns = build_map(b, soac);
    if (s->kind == CORE_SCAN)
        columns = transposed(b, columns, s->nvars, s->soac.domain, n);
    if (s->kind == CORE_HIST)
        columns = transposed(b, columns, s->nvars, s->soac.size, n);
    return build_end(b, outer, columns, s->nvars);
}

/* As it was, of rows that have been made. */
static CoreBlock *by_rows(CoreBuilder *b, const CoreStmt *s, const CoreAtom *all)
{
    const uint32_t count = s->nvars + core_stmt_places(s);
    CoreBlock *outer = build_begin(b);
    CoreStmt *to = like(b, s, 0);
    CoreAtom *elements = arena_array(b->p->arena, CoreAtom, count + 1);
    to->soac.inputs = build_atoms_copy(b, all, count, count);
    to->soac.elements = arena_array(b->p->arena, CoreVar, count + 1);
    to->soac.ninputs = count;
    to->soac.index = CORE_NO_VAR;
    for (uint32_t i = 0; i < count; i++) {
        elements[i] = build_var(b, core_element(core_atom_type(b->fn, all[i])), NULL);
        to->soac.elements[i] = elements[i].var;
    }
    CoreBlock *around = build_begin(b);
    to->soac.body = build_end(b, around, elements, count);
    build_emit(b, to);
    return build_end(b, outer, build_atoms(b, to->vars, to->nvars), s->nvars);
}

static void give(CoreBuilder *b, const CoreStmt *s, const CoreAtom *results)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        build_named(b, s->vars[i], results[i]);
}

static void rewrite(Columns *c, const CoreStmt *s)
{
    CoreBuilder *b = &c->b;
    b->span = s->span;
    const CoreAtom *all = made_rows(b, &s->soac);
    const CoreAtom n = build_length(b, s->soac.neutral[0]);
    const CoreAtom regular = are_regular(b, s, all + core_stmt_places(s), n);
    CoreBlock *columns = by_columns(c, s, all, n);
    give(b, s, build_if(b, regular, columns, by_rows(b, s, all)));
    c->changed = true;
}

bool core_of_columns(CoreProgram *p, CoreFn *fn, CoreStmt *s, CoreAtom n, CoreBlock *to)
{
    enum { MOST_RANK = 3 };
    Columns c = {.p = p, .fn = fn, .b = {.p = p, .fn = fn, .out = to, .span = s->span}};
    if (!is_columnwise(fn, &s->soac.op, MOST_RANK))
        return false;
    const CoreAtom *all = makes_by_maps(&c, &s->soac) ? NULL : made_rows(&c.b, &s->soac);
    const CoreBlock *columns = by_columns(&c, s, all, n);
    for (uint32_t i = 0; i < columns->stmts.n; i++)
        core_push(p, to, columns->stmts.at[i]);
    give(&c.b, s, columns->results);
    return true;
}

/* ---- all of it ---- */

static void look_at_block(void *ctx, CoreBlock *block)
{
    Columns *c = ctx;
    CoreBlock *outer = c->b.out, old = core_take_stmts(block);
    c->b.out = block;
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        const bool kind = s->kind == CORE_REDUCE || s->kind == CORE_SCAN || s->kind == CORE_HIST;
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, look_at_block, c);
        if (kind && is_columnwise(c->fn, &s->soac.op, 1))
            rewrite(c, s);
        else
            core_push(c->p, block, s);
    }
    c->b.out = outer;
}

bool core_column_operators(CoreProgram *p)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->fns.n; i++) {
        CoreFn *fn = p->fns.at[i];
        Columns c = {.p = p, .fn = fn, .b = {.p = p, .fn = fn}};
        if (!fn->recursive)
            look_at_block(&c, fn->body);
        changed |= c.changed;
    }
    return changed;
}
