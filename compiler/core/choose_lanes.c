/* Parallel code inside parallel code that one lane had better execute from beginning to end (docs/flattening.md, 12).
 *
 *     map n at i () { B -> x }     ==>     map n at i () { x' = lane { B -> x }; -> x' }
 *
 * where what is in B is small for certain; where that is not known there are two versions, and the number of instances
 * decides when the program runs:
 *
 *     map n at i () { B -> x }     ==>     map n at i () { m = many; x' = if m then { lane { B' -> x } } else { B -> x
 * } }
 *
 * B' is a copy. Copies have a budget; in B, further in, there may be versions again. Where B' makes arrays whose size
 * only the run tells, or large ones, it gets memory for them; if a lane needs more, the other version does the work:
 *
 *     m = many; x1, f = if m then { t = memory; y = lane in t { B' -> x }; f = fitted y; -> y, f } else { -> nothing,
 * false } x' = if f then { -> x1 } else { B -> x } */
#include "core/choose_lanes_internal.h"

#include "core/callgraph.h"
#include "core/lane.h"
#include "dp_size.h"
#include "params.h"

#include <assert.h>

/* SMALL_NEST: elements of parallel operations in a body that are not worth a version of their own; SMALL_FOLD: of one
 * that has nothing but one. MOST_GIVEN: scalars of the sequences that a lane gives; WORTH_GIVING: elements to be gone
 * over for each of these, if there are no loops; TILED: elements of reductions that go by tiles (nest-shared). */
enum { SMALL_NEST = 64, SMALL_FOLD = 16, MOST_GIVEN = 64, WORTH_GIVING = 2, TILED = 8 };

typedef struct Chooser {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    uint32_t budget; /* of statements */
    CoreCopyMap map;
    const CoreStmt *around; /* the parallel operation whose body this is; NULL: what stands in none */
    bool loops;             /* those of this block may be worth lanes by themselves */
    bool nested;            /* that operation stands in others, or may do so */
    StackLoops *stacks;
} Chooser;

/* ---- is it worth it? ---- */

typedef struct Nest {
    const Lane *lane;
    uint64_t width, widest;          /* elements of the parallel operations around, multiplied; the most of these */
    uint32_t depth, rounds;          /* of parallel operations, and of loops over arrays, around */
    uint32_t statements, operations; /* in all; those that make or combine arrays */
    bool loops, nests;               /* a loop that is not scalar code; two levels of parallel operations */
    bool filters;
    bool steps;   /* such loops go on for as long as the instance's data say, or update single elements */
    bool wide;    /* parallel operations in such loops */
    bool unknown; /* there is a length that only the program's run tells */
} Nest;

static void look_at_block(void *ctx, CoreBlock *b);

static bool differs_by_instance(const Nest *n, const CoreStmt *loop)
{
    return loop->loop.cond || (!loop->loop.count.is_const && lane_var(n->lane, loop->loop.count.var)->repetition > 0);
}

static void look_at_stmt(Nest *n, CoreStmt *s)
{
    uint64_t width = n->width;
    int64_t domain = 1;
    bool soac = core_stmt_soac(s);
    n->statements++;
    n->operations += core_kind(s->kind)->code == CODE_PARALLEL;
    bool loop = s->kind == CORE_LOOP && !core_stmt_is_scalar(s);
    n->loops |= loop;
    n->steps |= (loop && differs_by_instance(n, s)) || (s->kind == CORE_UPDATE && n->rounds > 0);
    if (soac) {
        n->unknown |= !lane_constant(n->lane, s->soac.domain, &domain);
        n->width = dp_size_mul(width, domain > 0 ? (uint64_t)domain : 0);
        n->widest = n->width > n->widest ? n->width : n->widest;
        n->nests |= n->depth > 0;
        n->filters |= s->soac.guard != NULL;
        n->wide |= n->rounds > 0;
    }
    n->depth += soac;
    n->rounds += loop;
    core_stmt_blocks(s, look_at_block, n);
    n->rounds -= loop;
    n->depth -= soac;
    n->width = width;
}

static void look_at_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        look_at_stmt(ctx, b->stmts.at[i]);
}

/* What a second version costs; are there loops that are not scalar code? Have these, and what stands beside them,
 * little to do but for the number of their rounds? */
typedef struct Cost {
    uint32_t statements;
    bool loops, steps, nests;
    bool fixed, gives; /* all lengths are constants; there are arrays among the results */
    bool rounds;       /* the loops' rounds are operations, as many for all instances: launches do much of each */
} Cost;

/* IN_MEMORY: two versions, and the lane's arrays lie in memory. */
typedef enum Verdict { STAYS_FLAT, ONE_VERSION, TWO_VERSIONS, IN_MEMORY } Verdict;

/* Scalars of private arrays among the results; more than MOST_GIVEN: it cannot give them. */
static uint64_t scalars_given(const Lane *l, const CoreBlock *code)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < code->nresults; i++) {
        if (!lane_is_private(l, code->results[i]))
            continue;
        const LaneVar *v = lane_var(l, code->results[i].var);
        n += v->rank > 2 || lane_elements(v) == 0 ? MOST_GIVEN + 1 : lane_elements(v);
    }
    return n;
}

static bool gives_arrays(const CoreFn *fn, const CoreBlock *code)
{
    for (uint32_t i = 0; i < code->nresults; i++)
        if (core_atom_type(fn, code->results[i]).rank > 0)
            return true;
    return false;
}

static Verdict verdict(const Lane *lane, CoreBlock *code, const CoreStmt *around, Cost *cost)
{
    Nest n = {.lane = lane, .width = 1};
    look_at_block(&n, code);
    const bool gives = gives_arrays(lane->fn, code);
    *cost = (Cost){.statements = n.statements,
                   .loops = n.loops,
                   .steps = n.loops && !n.wide && !n.unknown && n.widest <= SMALL_NEST,
                   .nests = n.nests,
                   .fixed = !n.loops && !n.unknown,
                   .gives = gives,
                   .rounds = n.loops && n.wide && !n.steps};
    const bool pays = gives ? n.steps || cost->rounds : n.loops || (n.nests && !n.filters);
    if (lane->strip)
        return lane_rows_can_be_given(lane->fn, code) && pays ? IN_MEMORY : STAYS_FLAT;
    uint64_t given = scalars_given(lane, code);
    if (given > MOST_GIVEN)
        return STAYS_FLAT;
    if (given > 0 && !n.loops) /* to make arrays is what flattening does well, if they are all that is made */
        return cost->fixed && n.widest >= WORTH_GIVING * given ? TWO_VERSIONS : STAYS_FLAT;
    if (!n.unknown && n.widest <= (n.operations > 1 ? SMALL_NEST : SMALL_FOLD))
        return ONE_VERSION;
    const bool beside = around && lane_reads_beside(lane->fn, core_stmt_soac(around), code) != LANE_APART;
    return n.loops || n.nests || beside ? TWO_VERSIONS : STAYS_FLAT;
}

static Verdict judge(const Chooser *c, CoreBlock *code, Cost *cost)
{
    Verdict v = STAYS_FLAT;
    for (int strip = 0; strip < 2 && v == STAYS_FLAT; strip++) {
        Lane lane = lane_open(c->fn, strip);
        v = lane_analyse(&lane, code) ? verdict(&lane, code, c->around, cost) : STAYS_FLAT;
        lane_close(&lane);
    }
    return v;
}

/* ---- is it possible? A look before a copy is made ---- */

typedef struct Glance {
    StackLoops *stacks;          /* or NULL: no calls */
    uint32_t operations, budget; /* of statements that loops for calls have */
    bool impossible;
} Glance;

static bool lane_calls(Glance *g, const CoreFn *fn)
{
    if (!g->stacks || !fn->recursive || !stack_loops_of(g->stacks, fn) || stack_loops_size(g->stacks, fn) > g->budget)
        return false;
    g->budget -= stack_loops_size(g->stacks, fn);
    return true;
}

static void glance_at(void *ctx, CoreBlock *b)
{
    Glance *g = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !g->impossible; i++) {
        CoreStmt *s = b->stmts.at[i];
        g->operations += core_kind(s->kind)->code == CODE_PARALLEL;
        g->impossible = s->kind == CORE_ARGSORT || s->kind == CORE_ACCUMULATE || s->kind == CORE_HIST ||
                        (s->kind == CORE_CALL && !lane_calls(g, s->call.fn));
        core_stmt_blocks(s, glance_at, g);
    }
}

bool choose_is_possible(StackLoops *stacks, uint32_t budget, CoreBlock *b)
{
    Glance g = {.stacks = stacks, .budget = budget};
    glance_at(&g, b);
    return g.operations > 0 && !g.impossible;
}

/* ---- rewriting ---- */

/* The block's statements, and those results that it binds itself: which[] are the places of these. */
static CoreBlock *inner_block(const Chooser *c, const CoreBlock *b, uint32_t *which)
{
    CoreBlock *inner = core_new_block(c->p);
    inner->results = arena_array(c->p->arena, CoreAtom, b->nresults + 1);
    for (uint32_t i = 0; i < b->nresults; i++)
        if (core_block_def(b, b->results[i])) {
            which[inner->nresults] = i;
            inner->results[inner->nresults++] = b->results[i];
        }
    inner->stmts = b->stmts;
    return inner;
}

/* Who prints loops needs something that counts. */
static void give_positions(void *ctx, CoreBlock *block)
{
    CoreBuilder *b = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreSoac *soac = core_stmt_soac(block->stmts.at[i]);
        if (soac && soac->index == CORE_NO_VAR)
            soac->index = build_var(b, core_scalar(SC_I64), NULL).var;
        core_stmt_blocks(block->stmts.at[i], give_positions, b);
    }
}

/* With lengths that are constants, many an index is one of the array's for certain. */
static void drop_checks(void *ctx, CoreBlock *block)
{
    const Lane *lane = ctx;
    for (uint32_t i = 0; i < block->stmts.n; i++) {
        CoreStmt *s = block->stmts.at[i];
        if ((s->kind == CORE_INDEX && lane_index_holds(lane, s->index.array, s->index.index)) ||
            (s->kind == CORE_UPDATE && lane_index_holds(lane, s->update.array, s->update.index)))
            s->site = CORE_NO_SITE;
        if (s->kind == CORE_SLICE && lane_is_private(lane, s->slice.array)) /* its place is known */
            s->site = CORE_NO_SITE;
        core_stmt_blocks(s, drop_checks, ctx);
    }
}

/* A lane's sequences leave it as scalars, row by row. */
typedef struct Given {
    uint32_t rows, length; /* length 0: it is no private array; rows 0: not one of rows */
    CoreType type;
} Given;

/* Replaces the results; what they were. */
static Given *spread_results(CoreBuilder *b, CoreBlock *code, const Lane *lane)
{
    Given *given = arena_array(b->p->arena, Given, code->nresults + 1);
    CoreAtom *results = arena_array(b->p->arena, CoreAtom, code->nresults + MOST_GIVEN + 1);
    uint32_t n = 0;
    CoreBlock *outer = b->out;
    b->out = code;
    for (uint32_t i = 0; i < code->nresults; i++) {
        CoreAtom a = code->results[i];
        if (!lane_is_private(lane, a)) {
            results[n++] = a;
            continue;
        }
        const LaneVar *v = lane_var(lane, a.var);
        bool nested = v->rank == 2;
        given[i] = (Given){nested ? v->dims[0] : 0, v->dims[nested], core_var_type(b->fn, a.var)};
        for (uint32_t r = 0; r < (nested ? v->dims[0] : 1); r++) {
            CoreAtom row = nested ? build_index(b, a, core_i64(r), CORE_NO_SITE) : a;
            for (uint32_t k = 0; k < given[i].length; k++)
                results[n++] = build_index(b, row, core_i64(k), CORE_NO_SITE);
        }
    }
    b->out = outer;
    code->results = results;
    code->nresults = n;
    return given;
}

static Given *prepare(CoreBuilder *b, CoreBlock *code, bool strip)
{
    give_positions(b, code);
    Lane lane = lane_open(b->fn, strip);
    bool possible = lane_analyse(&lane, code);
    assert(possible && "judged before");
    (void)possible;
    drop_checks(&lane, code);
    Given *given = spread_results(b, code, &lane);
    lane_close(&lane);
    return given;
}

/* The sequence of these scalars: one of them all, of which rows are slices. */
static CoreAtom gather(CoreBuilder *b, Given g, const CoreAtom *scalars)
{
    CoreType flat = {g.type.scalar, 1};
    CoreAtom all = build_array(b, flat, scalars, g.length * (g.rows ? g.rows : 1));
    if (!g.rows)
        return all;
    CoreAtom r = build_var(b, core_scalar(SC_I64), "r");
    CoreBlock *outer = build_begin(b);
    CoreStmt *row = build_stmt(b, CORE_SLICE, 1, &flat);
    row->slice.array = all;
    row->slice.from = build_prim2(b, PRIM_MUL, r, core_i64(g.length));
    row->slice.to = build_prim2(b, PRIM_ADD, row->slice.from, core_i64(g.length));
    build_emit(b, row);
    CoreAtom slice = build_atom(b, row->vars[0]);
    CoreSoac soac = {.domain = core_i64(g.rows), .index = r.var, .body = build_end(b, outer, &slice, 1)};
    return build_map(b, soac)[0];
}

const CoreAtom *choose_emit_lane(CoreBuilder *b, CoreBlock *code, CoreAtom memory, LaneOf of)
{
    uint32_t n = code->nresults;
    const Given *given = prepare(b, code, !memory.is_const);
    CoreType *types = arena_array(b->p->arena, CoreType, code->nresults + 1);
    for (uint32_t i = 0; i < code->nresults; i++)
        types[i] = core_atom_type(b->fn, code->results[i]);
    CoreStmt *lane = build_stmt(b, CORE_LANE, code->nresults, types);
    lane->lane.memory = memory;
    lane->lane.of = of;
    lane->lane.block = code;
    build_emit(b, lane);
    const CoreAtom *scalars = build_atoms(b, lane->vars, lane->nvars);
    CoreAtom *results = arena_array(b->p->arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        results[i] = given[i].length ? gather(b, given[i], scalars) : scalars[0];
        scalars += given[i].length ? given[i].length * (given[i].rows ? given[i].rows : 1) : 1;
    }
    return results;
}

static CoreStmt *emit_one_stmt(CoreBuilder *b, CoreKind kind, CoreType type)
{
    CoreStmt *s = build_stmt(b, kind, 1, &type);
    build_emit(b, s);
    return s;
}

static CoreAtom emit_one(CoreBuilder *b, CoreKind kind, CoreType type)
{
    return build_atom(b, emit_one_stmt(b, kind, type)->vars[0]);
}

/* What decides between two versions, beside the number of instances. */
typedef struct Question {
    NestOf of;
    bool apart;             /* flattened, all but the loops: these go by lanes there, too */
    bool rounds;            /* those of Cost */
    CoreAtom cells, length; /* of reductions that share what they read; or constants */
} Question;

static CoreAtom emit_many(CoreBuilder *b, Question q)
{
    CoreStmt *many = emit_one_stmt(b, CORE_MANY, core_scalar(SC_BOOL));
    many->many.of = q.of;
    many->many.cells = q.cells;
    many->many.length = q.length;
    return build_atom(b, many->vars[0]);
}

/* Returns what the versions give. */
static const CoreAtom *two_versions(CoreBuilder *b, CoreBlock *code, CoreBlock *flat, Question q)
{
    CoreAtom many = emit_many(b, q);
    CoreBlock *outer = build_begin(b);
    const CoreAtom *results = choose_emit_lane(b, code, core_i64(0), LANE_OF_NEST);
    CoreBlock *lane = build_end(b, outer, results, flat->nresults);
    return build_if(b, many, lane, flat);
}

CoreBlock *choose_in_memory(CoreBuilder *b, CoreBlock *code, LaneOf of)
{
    CoreBlock *outer = build_begin(b);
    CoreStmt *asked = emit_one_stmt(b, CORE_MEMORY, (CoreType){SC_U64, 1});
    asked->memory.gives = gives_arrays(b->fn, code);
    asked->memory.of = of;
    const CoreAtom memory = build_atom(b, asked->vars[0]);
    const uint32_t n = code->nresults;
    CoreAtom *given = arena_array(b->p->arena, CoreAtom, n + 1);
    const CoreAtom *results = choose_emit_lane(b, code, memory, of);
    for (uint32_t i = 0; i < n; i++)
        given[i] = results[i];
    CoreType type_bool = core_scalar(SC_BOOL);
    CoreStmt *fitted = build_stmt(b, CORE_FITTED, 1, &type_bool);
    fitted->fitted.results = given;
    fitted->fitted.n = n;
    build_emit(b, fitted);
    CoreAtom *all = arena_array(b->p->arena, CoreAtom, n + 1);
    for (uint32_t i = 0; i < n; i++)
        all[i] = given[i];
    all[n] = build_atom(b, fitted->vars[0]);
    return build_end(b, outer, all, n + 1);
}

static CoreBlock *nothing_like(CoreBuilder *b, const CoreBlock *code)
{
    CoreBlock *outer = build_begin(b);
    CoreAtom *all = arena_array(b->p->arena, CoreAtom, code->nresults + 1);
    for (uint32_t i = 0; i < code->nresults; i++)
        all[i] = emit_one(b, CORE_NOTHING, core_atom_type(b->fn, code->results[i]));
    all[code->nresults] = core_const(SC_BOOL, 0);
    return build_end(b, outer, all, code->nresults + 1);
}

/* With memory the lane's code has no other results than it gives. */
static const CoreAtom *version_in_memory(Chooser *c, CoreBuilder *b, CoreBlock *code, CoreBlock *flat, Question q)
{
    GivenRows *rows = NULL;
    CoreBlock *tables = lane_tables(b, code, c->around, false, c->scratch, &c->map, &rows);
    if (tables)
        code = tables;
    else
        rows = lane_rows_part(b, code);
    const uint32_t n = code->nresults;
    CoreAtom many = emit_many(b, q);
    const LaneOf counted = q.rounds ? LANE_OF_ROUNDS : LANE_OF_TRY;
    CoreBlock *lanes = choose_in_memory(b, code, q.of == NEST_OF_TRIES ? counted : LANE_OF_NEST);
    const CoreAtom *tried = build_if(b, many, lanes, nothing_like(b, code));
    CoreBlock *outer = build_begin(b);
    CoreAtom *joined = arena_array(b->p->arena, CoreAtom, flat->nresults + 1);
    for (uint32_t i = 0; i < flat->nresults; i++)
        joined[i] = lane_rows_join(b, &rows[i], tried[i], tried);
    CoreBlock *taken = build_end(b, outer, joined, flat->nresults);
    return build_if(b, tried[n], taken, flat);
}

/* ---- finding them ---- */

static void choose_in_block(void *ctx, CoreBlock *b);

/* Is each of the block's loops over arrays worth a lane by itself? */
static bool loops_stand_alone(const Chooser *c, const CoreBlock *code)
{
    for (uint32_t i = 0; i < code->stmts.n; i++) {
        CoreStmt *s = code->stmts.at[i];
        Cost cost = {0};
        CoreBlock alone = {0};
        CoreBuilder b = {.p = c->p, .fn = c->fn};
        if (core_stmt_is_scalar(s) || (s->kind != CORE_LOOP && s->kind != CORE_IF))
            continue;
        core_push(c->p, &alone, s);
        build_return(&b, &alone, s);
        if (s->kind != CORE_LOOP || judge(c, &alone, &cost) == STAYS_FLAT)
            return false;
    }
    return true;
}

/* What would flattened code be? */
typedef struct CallSearch {
    StackLoops *stacks;
    bool scalar, wide, inside,
        chain; /* calls of scalar functions, of others; in parallel operations; one after another */
    uint32_t depth, rounds;
} CallSearch;

static void find_calls(void *ctx, CoreBlock *b)
{
    CallSearch *search = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        const bool soac = core_stmt_soac(s), call = s->kind == CORE_CALL;
        const bool scalar = call && stack_loops_scalar(search->stacks, s->call.fn);
        search->scalar |= scalar;
        search->wide |= call && !scalar;
        search->inside |= call && search->depth > 0;
        search->chain |= scalar && (search->rounds > 0 || stack_loops_chain(search->stacks, s->call.fn));
        search->depth += soac;
        search->rounds += s->kind == CORE_LOOP;
        core_stmt_blocks(s, find_calls, search);
        search->rounds -= s->kind == CORE_LOOP;
        search->depth -= soac;
    }
}

static bool reduces_columns(const Chooser *c, CoreBlock *body, const Cost *cost)
{
    return c->around && !c->nested && !cost->nests &&
           lane_reads_beside(c->fn, core_stmt_soac(c->around), body) == LANE_COLUMNS;
}

static NestOf nest_of(const Chooser *c, CoreBlock *body, const Cost *cost, Verdict v)
{
    CallSearch search = {.stacks = c->stacks};
    find_calls(&search, body);
    if (search.inside)
        return NEST_OF_OPERATIONS;
    if (search.scalar && !search.wide)
        return search.chain ? NEST_OF_CHAINS : NEST_OF_CALLS;
    if (cost->fixed && cost->gives)
        return NEST_OF_VECTORS;
    if (!cost->loops)
        return reduces_columns(c, body, cost) ? NEST_OF_COLUMNS : NEST_OF_OPERATIONS;
    if (cost->steps)
        return NEST_OF_STEPS;
    return v == IN_MEMORY ? NEST_OF_TRIES : NEST_OF_LOOPS;
}

static Question question(const Chooser *c, const CoreStmt *around, CoreBlock *body, const Cost *cost, Verdict v)
{
    Question q = {.of = nest_of(c, body, cost, v), .rounds = cost->rounds, .cells = core_i64(0), .length = core_i64(0)};
    const LaneShared shared = around ? lane_shares(c->fn, core_stmt_soac(around), body, false) : (LaneShared){0};
    if (shared.any && (!cost->loops || (!shared.in_loop && loops_stand_alone(c, body)))) {
        q.cells = shared.cells;
        q.length = shared.length;
        q.apart = cost->loops;
    }
    if (v == TWO_VERSIONS && q.of == NEST_OF_OPERATIONS && cost->fixed && q.cells.is_const && q.length.is_const &&
        q.length.bits >= TILED)
        q.of = NEST_OF_VECTORS;
    if (q.of == NEST_OF_VECTORS)
        q.cells = q.length = core_i64(0);
    return q;
}

/* What a lane that executes the block gives, or two versions of it, of which one is the block itself; NULL: it had
 * better be flattened. Left in c->loops: may the block's loops be worth lanes by themselves? */
static const CoreAtom *lane_or_flat(Chooser *c, CoreBuilder *b, CoreBlock *block, Verdict *v)
{
    Cost cost = {0};
    CoreBlock *code = core_copy_within(c->p, c->fn, block, c->scratch, &c->map);
    if (core_calls_in_sequence(code) > 0)
        stack_loops_expand(c->stacks, c->fn, code);
    lane_fuse(c->p, c->fn, code);
    *v = judge(c, code, &cost);
    if (*v == STAYS_FLAT || (*v != ONE_VERSION && cost.statements > c->budget))
        return NULL;
    const Question q = question(c, c->around, block, &cost, *v);
    c->loops = q.apart;
    c->budget -= *v == ONE_VERSION ? 0 : cost.statements;
    return *v == ONE_VERSION    ? choose_emit_lane(b, code, core_i64(0), LANE_OF_NEST)
           : *v == TWO_VERSIONS ? two_versions(b, code, block, q)
                                : version_in_memory(c, b, code, block, q);
}

/* Calls of the recursion that this is a part of are joined. */
static bool is_possible(const Chooser *c, CoreBlock *block)
{
    return choose_is_possible(c->fn->recursive ? NULL : c->stacks, c->budget, block);
}

/* The body of a parallel operation, or its guard. Returns what is left to be flattened, or NULL. */
static CoreBlock *choose_for_body(Chooser *c, CoreBlock *block)
{
    CoreBlock *chosen = core_new_block(c->p);
    CoreBuilder b = {.p = c->p, .fn = c->fn, .out = chosen, .span = c->around->span};
    uint32_t *which = arena_array(c->scratch, uint32_t, block->nresults + 1);
    Verdict v;
    if (!is_possible(c, block))
        return block;
    CoreBlock *flat = inner_block(c, block, which);
    const CoreAtom *results = lane_or_flat(c, &b, flat, &v);
    if (!results)
        return block;
    block->stmts = chosen->stmts;
    for (uint32_t i = 0; i < flat->nresults; i++)
        block->results[which[i]] = results[i];
    return v == ONE_VERSION ? NULL : flat;
}

static void choose_inside(Chooser *c, CoreBlock *block, const CoreStmt *around)
{
    const Chooser outer = *c;
    c->nested |= c->around != NULL;
    c->around = around;
    c->loops = true;
    CoreBlock *flat = choose_for_body(c, block);
    if (flat)
        choose_in_block(c, flat);
    c->around = outer.around;
    c->nested = outer.nested;
    c->loops = outer.loops;
}

/* What the block's statements bind as `from`, which nothing reads yet, is bound as `to`. */
static void bind_as(CoreBlock *b, CoreVar from, CoreVar to)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        for (uint32_t j = 0; j < b->stmts.at[i]->nvars; j++)
            if (b->stmts.at[i]->vars[j] == from)
                b->stmts.at[i]->vars[j] = to;
}

/* A lane for a loop in a body that no lane executes as a whole, as it also sorts, say:
 *
 *     map n at i () { A; ys = loop … { B }; C }   ==>   map n at i () { A; ys = lane { loop … { B } }; C }
 *
 * or two versions. Appends them, or the loop as it is. */
static void choose_for_loop(Chooser *c, CoreBlock *block, CoreStmt *loop)
{
    const bool loops = c->loops;
    const uint32_t n = loop->nvars;
    CoreVar *vars = loop->vars;
    CoreBlock *flat = core_new_block(c->p), *chosen = core_new_block(c->p);
    CoreBuilder b = {.p = c->p, .fn = c->fn, .out = chosen, .span = loop->span};
    CoreType *types = arena_array(c->scratch, CoreType, n + 1);
    Verdict v = STAYS_FLAT;
    for (uint32_t i = 0; i < n; i++)
        types[i] = core_var_type(c->fn, vars[i]);
    core_push(c->p, flat, loop);
    build_fresh(&b, loop, n, types);
    build_return(&b, flat, loop);
    const CoreAtom *results = is_possible(c, flat) ? lane_or_flat(c, &b, flat, &v) : NULL;
    for (uint32_t i = 0; results && i < n; i++)
        bind_as(chosen, results[i].var, vars[i]);
    if (!results) {
        loop->vars = vars;
        core_push(c->p, chosen, loop);
    }
    for (uint32_t i = 0; i < chosen->stmts.n; i++)
        core_push(c->p, block, chosen->stmts.at[i]);
    if (v != ONE_VERSION)
        core_stmt_blocks(loop, choose_in_block, c);
    c->loops = loops;
}

static void choose_in_block(void *ctx, CoreBlock *b)
{
    Chooser *c = ctx;
    const CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        CoreSoac *soac = core_stmt_soac(s);
        if (s->kind == CORE_LOOP && c->loops && !core_stmt_is_scalar(s)) {
            choose_for_loop(c, b, s);
            continue;
        }
        core_push(c->p, b, s);
        if (s->kind == CORE_LANE) /* a loop's (choose_loops.c) */
            continue;
        if (!soac) {
            core_stmt_blocks(s, choose_in_block, c);
            continue;
        }
        if (soac->guard)
            choose_inside(c, soac->guard, s);
        choose_inside(c, soac->body, s);
    }
}

/* ---- calls outside parallel code ---- */

/* x = call f (e)     ==>     xs = map 1 { x' = call f (e); -> x' };  x = index xs 0 */
static void wrap_call(Chooser *c, CoreBlock *block, CoreStmt *s)
{
    CoreBuilder b = {.p = c->p, .fn = c->fn, .out = block, .span = s->span};
    const uint32_t n = s->nvars;
    const CoreVar *vars = s->vars;
    CoreType *types = arena_array(c->p->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        types[i] = core_var_type(c->fn, vars[i]);
    build_fresh(&b, s, n, types);
    const CoreAtom *results = build_once(&b, build_alone(&b, s));
    for (uint32_t i = 0; i < n; i++)
        build_named(&b, vars[i], results[i]);
}

/* A call that would be levels for one instance anyway is parallel code over one. */
static void wrap_calls(void *ctx, CoreBlock *block)
{
    Chooser *c = ctx;
    CoreBlock old = core_take_stmts(block);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        CoreStmt *s = old.stmts.at[i];
        if (s->kind == CORE_CALL && core_recurs_together(s->call.fn) && stack_loops_scalar(c->stacks, s->call.fn)) {
            wrap_call(c, block, s);
            continue;
        }
        if (!core_stmt_soac(s))
            core_stmt_blocks(s, wrap_calls, c);
        core_push(c->p, block, s);
    }
}

void choose_count(void *ctx, CoreBlock *b)
{
    *(uint32_t *)ctx += b->stmts.n;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_stmt_blocks(b->stmts.at[i], choose_count, ctx);
}

void core_choose_lanes(CoreProgram *p)
{
    Arena *arena = arena_create();
    StackLoops stacks = stack_loops_open(p, arena);
    const bool *lifted = core_lifted_functions(p, arena), *host = core_host_functions(p, arena);
    Chooser c = {.p = p, .budget = CHOOSE_COPIED, .stacks = &stacks};
    for (uint32_t i = 0; i < p->fns.n; i++) {
        const CoreFn *fn = p->fns.at[i], *loop = fn->recursive ? stack_loops_of(&stacks, fn) : NULL;
        choose_count(&c.budget, fn->body);
        if (loop) /* counts as the program's */
            choose_count(&c.budget, loop->body);
    }
    for (uint32_t i = 0; i < p->fns.n; i++) {
        c.fn = p->fns.at[i];
        c.scratch = arena_create();
        c.map = (CoreCopyMap){0};
        c.nested = lifted[i];
        if (!lifted[i] && !c.fn->recursive)
            wrap_calls(&c, c.fn->body);
        c.loops = lifted[i] && !host[i];
        choose_in_block(&c, c.fn->body);
        arena_destroy(c.scratch);
    }
    arena_destroy(arena);
}
