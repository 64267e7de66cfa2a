/* Rows of rows that lanes with memory give leave them as one array and, beside it, the lengths of the rows:
 *
 *     x = lane in t { B -> rows }
 *   ==>
 *     xs, ns = lane in t { B; xs = flatten rows; ns = lengths of rows -> xs, ns };  x = map over ns { the next n of xs
 * }
 *
 * Where all rows of all instances are known to be of one length, and as many, the lengths need not be given. */
#include "core/choose_lanes_internal.h"

enum { GIVEN_RANK = 2 };

bool lane_rows_can_be_given(const CoreFn *fn, const CoreBlock *code)
{
    for (uint32_t i = 0; i < code->nresults; i++)
        if (core_atom_type(fn, code->results[i]).rank > GIVEN_RANK)
            return false;
    return true;
}

static bool is_outside(const CoreBlock *code, CoreAtom a) { return !core_block_def(code, a); }

/* Is this the row that the map makes, of a length known outside of the code? */
static bool makes_rows(const CoreBlock *code, const CoreStmt *map, CoreAtom *length)
{
    const CoreStmt *row = core_block_def(map->soac.body, map->soac.body->results[0]);
    if (!row || row->kind != CORE_MAP || row->soac.guard || core_soac_binds(map, row->soac.domain))
        return false;
    *length = row->soac.domain;
    return is_outside(code, row->soac.domain);
}

/* Has the code found out that all rows are of a length that is known outside of it? */
static bool has_checked_rows(const CoreBlock *code, CoreAtom rows, CoreAtom *length)
{
    for (uint32_t i = 0; i < code->stmts.n; i++) {
        const CoreStmt *check = code->stmts.at[i], *wrong = NULL, *holds = NULL;
        if (check->kind == CORE_CHECK)
            holds = core_as_prim(core_block_def(code, check->check.cond), PRIM_LT);
        if (holds)
            wrong = core_block_def(code, holds->prim.args[0]);
        if (wrong && wrong->kind == CORE_CHECK_ROWS && wrong->rows.depth == 1 && wrong->rows.nargs == 2 &&
            core_atom_equal(holds->prim.args[1], core_i64(0)) && core_atom_equal(wrong->rows.args[0], rows) &&
            is_outside(code, wrong->rows.args[1])) {
            *length = wrong->rows.args[1];
            return true;
        }
    }
    return false;
}

/* The number of rows and their length, if both are known outside of the code. */
static bool find_shape(const CoreBlock *code, CoreAtom rows, GivenRows *g)
{
    const CoreStmt *map = core_block_def(code, rows);
    if (!map || map->kind != CORE_MAP || map->soac.guard || !is_outside(code, map->soac.domain))
        return false;
    g->rows = map->soac.domain;
    return makes_rows(code, map, &g->length) || has_checked_rows(code, rows, &g->length);
}

GivenRows *lane_rows_part(CoreBuilder *b, CoreBlock *code)
{
    const uint32_t n = code->nresults;
    GivenRows *given = arena_array(b->p->arena, GivenRows, n + 1);
    CoreAtom *results = arena_array(b->p->arena, CoreAtom, 2 * (size_t)n + 1);
    CoreBlock *outer = b->out;
    uint32_t all = n;
    b->out = code;
    for (uint32_t i = 0; i < n; i++) {
        const CoreAtom a = results[i] = code->results[i];
        if (core_atom_type(b->fn, a).rank < GIVEN_RANK)
            continue;
        given[i].parted = true;
        given[i].regular = find_shape(code, a, &given[i]);
        results[i] = build_flatten(b, a);
        if (given[i].regular)
            continue;
        given[i].lengths = all;
        results[all++] = build_row_lengths(b, a, build_length(b, a));
    }
    b->out = outer;
    code->results = results;
    code->nresults = all;
    return given;
}

CoreAtom lane_rows_join(CoreBuilder *b, const GivenRows *g, CoreAtom xs, const CoreAtom *results)
{
    if (!g->parted)
        return xs;
    CoreAtom n = g->rows, starts = {0};
    if (!g->regular) {
        n = build_length(b, results[g->lengths]);
        starts = build_row_starts(b, results[g->lengths], n);
    }
    const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL);
    CoreBlock *outer = build_begin(b);
    const CoreAtom from = g->regular ? build_prim2(b, PRIM_MUL, i, g->length) : build_index(b, starts, i, CORE_NO_SITE);
    const CoreAtom length = g->regular ? g->length : build_index(b, results[g->lengths], i, CORE_NO_SITE);
    const CoreAtom row = build_piece(b, xs, from, length);
    CoreSoac soac = {.domain = n, .index = i.var, .body = build_end(b, outer, &row, 1)};
    return build_map(b, soac)[0];
}
