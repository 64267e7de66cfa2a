/* Maps in rounds of loops that may write their results over what they read, where that ends with them.
 *
 *     y = kernel c { x <- elem a in c; … -> f x }    dies (a)    ==>    y = kernel c over a { … }
 *
 * For each instance the array's element is read that its result takes the place of, and else only what stays as it is:
 * what the body hands on for some positions (`if i <= k then x else …`: all rows up to k stay, so that row k may be
 * read by all). One result, and nothing that fails: who computes an element does so once. Where the elements are those
 * of rows, the array of rows ends there, too. Whether others hold any of it is known when it runs (runtime/map_over.c);
 * in place, what stays is not looked at. */
#include "flat/neighbours.h"
#include "params.h"

#include <string.h>

enum { MOST_STATEMENTS = 64, MOST_INPUTS = 64, MOST_KEEPS = 16 };

/* What a variable of the body is to the array. Elements of others are none of it. */
typedef enum Part {
    PART_NONE,
    PART_ARRAY,
    PART_OWN_ROW,
    PART_OTHER_ROW,
    PART_OWN,   /* the element at the instance's own place */
    PART_ROWS,  /* the position of the instance's row; without rows, that of the element */
    PART_PLACES /* in its row */
} Part;

/* How a position may be to a bound: a comparison is a set of these. */
enum { LESS = 1, EQUAL = 2, GREATER = 4 };

/* Where the position of this kind is so to the bound, the element stays. */
typedef struct Keep {
    Part position;
    uint32_t how; /* of LESS .. */
    CoreAtom bound;
} Keep;

typedef struct Search {
    FlatNeighbours near;
    uint32_t loops;         /* around the statement at hand */
    const FlatStmt *s;      /* the kernel, */
    FlatVar column, array;  /* and what it may write over; see FlatOver */
    Part *part;             /* by variable of the scope */
    const CoreStmt **maker; /* likewise */
    VEC(CoreVar) touched;   /* of these */
    Arena *scratch;
    Keep keeps[MOST_KEEPS];
    uint32_t nkeeps;
} Search;

/* ---- the body's variables ---- */

static Part part_of(const Search *q, CoreAtom a) { return a.is_const ? PART_NONE : q->part[a.var]; }

static void set_part(Search *q, CoreVar v, Part part)
{
    q->part[v] = part;
    vec_push(q->scratch, &q->touched, v);
}

static bool is_rows(const Search *q) { return q->near.fn->vars.at[q->column].kind == FLAT_COL; }

static Part part_of_input(const Search *q, const FlatInput *in)
{
    const FlatVar ctx = q->s->body.ctx, up = q->near.fn->vars.at[ctx].ctx;
    const Part inner = is_rows(q) ? PART_PLACES : PART_ROWS;
    if (in->kind == IN_POS)
        return in->ctx == ctx ? inner : is_rows(q) && in->ctx == up ? PART_ROWS : PART_NONE;
    if (in->kind == IN_ELEM && in->var == q->column && in->ctx == ctx)
        return PART_OWN;
    if (in->var != q->column && in->var != q->array)
        return PART_NONE;
    if (in->kind == IN_COL || (in->kind == IN_ELEM && in->var == q->array && in->ctx == up))
        return PART_OWN_ROW;
    return in->kind == IN_HOST ? PART_ARRAY : PART_OTHER_ROW;
}

static Part part_of_element(const Search *q, const CoreStmt *s)
{
    const Part array = part_of(q, s->index.array), at = part_of(q, s->index.index);
    if (array == PART_ARRAY && is_rows(q))
        return at == PART_ROWS ? PART_OWN_ROW : PART_OTHER_ROW;
    const bool own = (array == PART_ARRAY && at == PART_ROWS) || (array == PART_OWN_ROW && at == PART_PLACES);
    return own ? PART_OWN : PART_NONE;
}

/* No more than so many statements, of simple kinds? */
static bool learn_block(Search *q, const CoreBlock *b, uint32_t *count)
{
    *count += b->stmts.n;
    for (uint32_t i = 0; *count <= MOST_STATEMENTS && i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_IF) {
            if (!learn_block(q, s->if_.then_b, count) || !learn_block(q, s->if_.else_b, count))
                return false;
        } else if (s->kind != CORE_PRIM && s->kind != CORE_INDEX && s->kind != CORE_LENGTH && s->kind != CORE_ATOM) {
            return false;
        }
        for (uint32_t v = 0; v < s->nvars; v++) {
            set_part(q, s->vars[v], s->kind == CORE_INDEX ? part_of_element(q, s) : PART_NONE);
            q->maker[s->vars[v]] = s;
        }
    }
    return *count <= MOST_STATEMENTS;
}

static void forget_body(Search *q)
{
    for (; q->touched.n; q->touched.n--) {
        q->part[q->touched.at[q->touched.n - 1]] = PART_NONE;
        q->maker[q->touched.at[q->touched.n - 1]] = NULL;
    }
}

/* ---- what stays ---- */

/* No comparison: 0. */
static uint32_t how_of(CorePrim op)
{
    switch (op) {
    case PRIM_LT: return LESS;
    case PRIM_LE: return LESS | EQUAL;
    case PRIM_EQ: return EQUAL;
    case PRIM_GE: return GREATER | EQUAL;
    case PRIM_GT: return GREATER;
    case PRIM_NE: return LESS | GREATER;
    default: return 0;
    }
}

static bool is_the_same_for_all(const Search *q, CoreAtom a)
{
    bool host = a.is_const;
    for (uint32_t i = 0; !host && i < q->s->body.inputs.n; i++)
        host = q->s->body.inputs.at[i].kind == IN_HOST && q->s->body.inputs.at[i].as == a.var;
    return host;
}

/* A position and what is the same for all, compared; none: no `how`. */
static Keep comparison_of(const Search *q, const CoreStmt *s)
{
    const Keep none = {PART_NONE, 0, core_i64(0)};
    const uint32_t how = s->kind == CORE_PRIM && s->prim.nargs == 2 ? how_of(s->prim.op) : 0;
    for (uint32_t i = 0; how && i < 2; i++) {
        const Part part = part_of(q, s->prim.args[i]);
        const uint32_t turned = (how & EQUAL) | (how & LESS ? GREATER : 0) | (how & GREATER ? LESS : 0);
        if ((part == PART_ROWS || part == PART_PLACES) && is_the_same_for_all(q, s->prim.args[1 - i]))
            return (Keep){part, i == 0 ? how : turned, s->prim.args[1 - i]};
    }
    return none;
}

/* Where k holds, is it known that the condition is as said? */
static bool implies(const Search *q, const Keep *k, CoreAtom cond, bool holds)
{
    const CoreStmt *s = cond.is_const ? NULL : q->maker[cond.var];
    if (!s || s->kind != CORE_PRIM)
        return false;
    const CoreAtom *args = s->prim.args;
    if (s->prim.op == PRIM_NOT)
        return implies(q, k, args[0], !holds);
    if (s->prim.op == PRIM_AND || s->prim.op == PRIM_OR) {
        const bool one = implies(q, k, args[0], holds), other = implies(q, k, args[1], holds);
        return (s->prim.op == PRIM_AND) == holds ? one && other : one || other;
    }
    const Keep c = comparison_of(q, s);
    return c.how && c.position == k->position && core_atom_equal(c.bound, k->bound) &&
           !(k->how & (holds ? ~c.how : c.how));
}

/* Where k holds, is the value the element that was there? */
static bool stays_where(const Search *q, const Keep *k, CoreAtom value)
{
    const CoreStmt *s = value.is_const ? NULL : q->maker[value.var];
    CoreAtom cond, yes, no;
    if (part_of(q, value) == PART_OWN)
        return true;
    if (s && s->kind == CORE_IF) {
        const uint32_t i = core_stmt_result(s, value);
        cond = s->if_.cond;
        yes = s->if_.then_b->results[i];
        no = s->if_.else_b->results[i];
    } else if (s && core_as_prim(s, PRIM_SELECT)) {
        cond = s->prim.args[0];
        yes = s->prim.args[1];
        no = s->prim.args[2];
    } else {
        return false;
    }
    return (implies(q, k, cond, false) || stays_where(q, k, yes)) &&
           (implies(q, k, cond, true) || stays_where(q, k, no));
}

/* Every way to be to a bound that the body compares with, the widest first. */
static void find_keeps(Search *q, const CoreBlock *b, CoreAtom result)
{
    static const uint32_t ways[] = {LESS | EQUAL, LESS, GREATER | EQUAL, GREATER, EQUAL};
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        const CoreStmt *s = b->stmts.at[i];
        Keep k = comparison_of(q, s);
        for (uint32_t w = 0; k.how && w < sizeof ways / sizeof *ways; w++) {
            k.how = ways[w];
            if (q->nkeeps < MOST_KEEPS && stays_where(q, &k, result))
                q->keeps[q->nkeeps++] = k;
        }
        if (s->kind == CORE_IF) {
            find_keeps(q, s->if_.then_b, result);
            find_keeps(q, s->if_.else_b, result);
        }
    }
}

static bool stays_at(const Search *q, Part position, CoreAtom at)
{
    for (uint32_t i = 0; i < q->nkeeps; i++) {
        const Keep *k = &q->keeps[i];
        if (k->position == position && (k->how & EQUAL) && core_atom_equal(k->bound, at))
            return true;
    }
    return false;
}

/* ---- what is read ---- */

static void note_whole(void *ctx, CoreAtom *a)
{
    Search *q = ctx;
    const Part part = part_of(q, *a);
    if (part == PART_ARRAY || part == PART_OWN_ROW || part == PART_OTHER_ROW)
        q->s = NULL;
}

/* Of a row that stays all may be read. */
static bool row_stays(const Search *q, CoreAtom row)
{
    const CoreStmt *s = q->maker[row.var];
    return s && s->kind == CORE_INDEX && stays_at(q, PART_ROWS, s->index.index);
}

static bool may_read(const Search *q, const CoreStmt *s)
{
    const CoreAtom array = s->index.array, at = s->index.index;
    switch (part_of(q, array)) {
    case PART_ARRAY: return is_rows(q) || part_of(q, at) == PART_ROWS || stays_at(q, PART_ROWS, at);
    case PART_OWN_ROW: return part_of(q, at) == PART_PLACES || stays_at(q, PART_PLACES, at);
    case PART_OTHER_ROW: return row_stays(q, array) || stays_at(q, PART_PLACES, at);
    default: return true;
    }
}

static bool may_read_all(Search *q, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind == CORE_INDEX && !may_read(q, s))
            return false;
        if (s->kind == CORE_IF && (!may_read_all(q, s->if_.then_b) || !may_read_all(q, s->if_.else_b)))
            return false;
    }
    return true;
}

/* Rows and the array itself are only indexed, or their lengths asked for. */
static bool is_indexed_only(Search *q, const CoreBlock *b)
{
    const FlatStmt *kernel = q->s;
    for (uint32_t i = 0; i < b->stmts.n && q->s; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (s->kind != CORE_INDEX && s->kind != CORE_LENGTH)
            core_stmt_atoms(s, note_whole, q);
        if (s->kind == CORE_IF && q->s && (!is_indexed_only(q, s->if_.then_b) || !is_indexed_only(q, s->if_.else_b)))
            q->s = NULL;
    }
    for (uint32_t i = 0; i < b->nresults && q->s; i++)
        note_whole(q, &b->results[i]);
    const bool only = q->s != NULL;
    q->s = kernel;
    return only;
}

/* ---- kernels ---- */

static FlatStays bound_of(const Search *q, const Keep *k, uint32_t how)
{
    FlatStays stays = {.how = how, .bound = FLAT_NO_VAR, .at = (int64_t)k->bound.bits};
    for (uint32_t i = 0; !k->bound.is_const && i < q->s->body.inputs.n; i++)
        if (q->s->body.inputs.at[i].as == k->bound.var)
            stays.bound = q->s->body.inputs.at[i].var;
    return stays;
}

/* Those whose position is the place in what is written over: of rows, all of which stand at depth 0. */
static FlatStays stays_of(const Search *q, Part position)
{
    const FlatStays none = {STAYS_NONE, FLAT_NO_VAR, 0};
    const FlatFn *fn = q->near.fn;
    const FlatVar rows = is_rows(q) ? fn->vars.at[q->s->body.ctx].ctx : q->s->body.ctx;
    if (position == PART_ROWS && (fn->vars.at[rows].ctx_kind != CTX_NESTED || fn->vars.at[rows].ctx != FLAT_ROOT))
        return none;
    for (uint32_t i = 0; i < q->nkeeps; i++) {
        const Keep *k = &q->keeps[i];
        static const uint32_t stays[] = {[LESS] = STAYS_BELOW,
                                         [LESS | EQUAL] = STAYS_UP_TO,
                                         [GREATER | EQUAL] = STAYS_FROM,
                                         [GREATER] = STAYS_ABOVE,
                                         [EQUAL] = STAYS_NONE};
        const uint32_t how = stays[k->how];
        if (k->position == position && how != STAYS_NONE)
            return bound_of(q, k, how);
    }
    return none;
}

/* May it write over this? */
static bool may_write_over(Search *q)
{
    const CoreBlock *b = q->s->body.block;
    uint32_t count = 0;
    q->nkeeps = 0;
    for (uint32_t i = 0; i < q->s->body.inputs.n; i++)
        set_part(q, q->s->body.inputs.at[i].as, part_of_input(q, &q->s->body.inputs.at[i]));
    bool may = learn_block(q, b, &count) && is_indexed_only(q, b);
    if (may)
        find_keeps(q, b, b->results[0]);
    return may && may_read_all(q, b);
}

static bool dies_at(const FlatStmt *s, FlatVar v)
{
    for (uint32_t i = 0; i < s->ndies; i++)
        if (s->dies[i] == v)
            return true;
    return false;
}

/* What the column's views are elements of, if that is an array at depth 0. */
static FlatVar array_of(const Search *q, FlatVar column)
{
    const FlatStmt *elems = flat_def(&q->near, column, FLAT_S_ELEMS);
    for (uint32_t i = 0; elems && i < elems->nouts; i++)
        if (elems->outs[i] == column && q->near.fn->vars.at[elems->arrays.arrays[i]].kind == FLAT_HOST)
            return elems->arrays.arrays[i];
    return FLAT_NO_VAR;
}

static void note_over(Search *q, FlatStmt *s)
{
    FlatOver *over = arena_new(q->near.p->arena, FlatOver);
    *over = (FlatOver){.rows = is_rows(q) ? q->column : FLAT_NO_VAR,
                       .array = is_rows(q) ? q->array : q->column,
                       .stays = stays_of(q, PART_ROWS),
                       .in_rows = stays_of(q, PART_PLACES)};
    s->kernel.over = over;
}

static void try_kernel(Search *q, FlatStmt *s)
{
    if (s->nouts != 1 || s->body.inputs.n > MOST_INPUTS || flat_body_fallible(&q->near, s->body.block))
        return;
    const CoreType type = q->near.fn->vars.at[s->outs[0]].type;
    for (uint32_t i = 0; i < s->body.inputs.n && !s->kernel.over; i++) {
        const FlatInput *in = &s->body.inputs.at[i];
        if (type.rank > 0 || in->kind != IN_ELEM || in->ctx != s->body.ctx || !dies_at(s, in->var) ||
            !core_type_equal(core_var_type(q->near.fn->scope, in->as), type))
            continue;
        q->s = s;
        q->column = in->var;
        q->array = is_rows(q) ? array_of(q, in->var) : FLAT_NO_VAR;
        if (may_write_over(q))
            note_over(q, s);
        forget_body(q);
    }
}

static void search_block(void *ctx, FlatBlock *b)
{
    Search *q = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        FlatStmt *s = b->stmts.at[i];
        const bool loop = s->kind == FLAT_S_LOOP || s->kind == FLAT_S_LOOP_LIFTED;
        q->loops += loop;
        flat_stmt_blocks(s, search_block, q);
        q->loops -= loop;
        if (s->kind == FLAT_S_KERNEL && q->loops > 0)
            try_kernel(q, s);
        flat_note_defs(&q->near, s);
    }
}

void flat_write_in_place(FlatProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        FlatFn *fn = p->fns.at[i];
        Arena *scratch = arena_create();
        Search q = {.near = {.p = p, .fn = fn}, .scratch = scratch};
        q.near.def = arena_array(scratch, const FlatStmt *, fn->vars.n + 1);
        q.part = arena_array(scratch, Part, fn->scope->vars.n + 1);
        q.maker = arena_array(scratch, const CoreStmt *, fn->scope->vars.n + 1);
        search_block(&q, fn->body);
        arena_destroy(scratch);
    }
}
