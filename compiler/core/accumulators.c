/* Functions that do a little with what their self calls give become tail recursive, by accumulators:
 *
 *     rec fn f (p) = { if c then { -> r } else { q = call f (e); s = add a q; -> s } }
 *
 *     fn f (p)          = { x = call f' (p, 0); -> x }
 *     rec fn f' (p, t)  = { if c then { u = add t r; -> u } else { t' = add t a; x = call f' (e, t'); -> x } }
 *
 * which tail_loops.c makes a loop of. An accumulator stands for what is still to be done with the call's result q:
 *   add, sub, mul, neg       factor · q + term, in the ring of the integers of the type; factor only where it is
 *                            not always 1
 *
 *   min, max, and, or, xor   op term q
 *
 *   ++                       term ++ q ++ reverse factor: both are lists that only get elements at their ends
 *
 * The order changes, so floats are left alone. Each result of a function that has several goes by itself, by one of
 * these ways or as it is. What stands behind the call and does not need it goes in front of it. */
#include "core/append.h"
#include "core/callgraph.h"
#include "core/passes.h"

/* PRIM_ADD: all of the ring */
#define APPENDED PRIM_SIZE_ADD
#define NOTHING_DONE PRIM_COUNT

/* What is done with one result. */
typedef struct Way {
    CorePrim op;   /* or APPENDED, NOTHING_DONE */
    bool scaled;   /* has a factor */
    CoreAtom term; /* of the function's new version: the parameters */
    CoreAtom factor;
} Way;

typedef struct Accumulators {
    CoreProgram *p;
    const CoreFn *fn; /* whose calls these are */
    CoreFn *worker;   /* its new version */
    uint32_t calls;   /* found in the places that can be rewritten */
    Way *ways;        /* one for each result */
    uint32_t *part;   /* by variable: 1 + the result that it is a stage of, or LENGTH; 0: it needs no call */
    bool *used;       /* by variable: by the next stage */
    CoreMakers makers;
} Accumulators;

/* Of what a call gives, from which lengths of appends follow. */
#define LENGTH UINT32_MAX

/* ---- what needs the call ---- */

static bool is_part(void *part, CoreAtom a) { return ((const uint32_t *)part)[a.var] != 0; }

static bool needs_call(const Accumulators *a, CoreStmt *s) { return core_stmt_reads(s, is_part, a->part); }

typedef struct Search {
    const Accumulators *a;
    uint32_t found;
} Search;

static void count_calls(void *ctx, CoreBlock *b)
{
    Search *search = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        search->found += s->kind == CORE_CALL && s->call.fn == search->a->fn;
        core_stmt_blocks(s, count_calls, search);
    }
}

/* The one statement with self calls; NULL: there is none, or, where *several is set, more. */
static CoreStmt *calling_stmt(const Accumulators *a, const CoreBlock *b, bool *several)
{
    CoreStmt *calling = NULL;
    for (uint32_t i = 0; i < b->stmts.n && !*several; i++) {
        CoreStmt *s = b->stmts.at[i];
        Search search = {a, s->kind == CORE_CALL && s->call.fn == a->fn};
        core_stmt_blocks(s, count_calls, &search);
        *several = search.found > 0 && calling;
        calling = search.found > 0 ? s : calling;
    }
    return *several ? NULL : calling;
}

/* ---- may it be rewritten? ---- */

static bool is_result(const Accumulators *a, CoreAtom x)
{
    return !x.is_const && a->part[x.var] != 0 && a->part[x.var] != LENGTH;
}

static bool is_length(const Accumulators *a, CoreAtom x) { return !x.is_const && a->part[x.var] == LENGTH; }

/* Variable k of a stage that appends: to the call's result, or that to something else. */
typedef struct ListStage {
    bool in_front;                  /* of the result */
    CoreAtom result, piece, length; /* of the piece so many elements, the first ones */
    bool whole;                     /* and all of the result */
} ListStage;

static bool as_list_stage(const Accumulators *a, const CoreStmt *s, uint32_t k, ListStage *stage)
{
    CoreAppend append;
    CoreAtom more;
    if (!core_as_append(s, k, &append) || is_result(a, append.left) == is_result(a, append.right) ||
        !core_append_more(&a->makers, s->soac.domain, append.length, &more))
        return false;
    const bool in_front = is_result(a, append.right);
    *stage = in_front ? (ListStage){true, append.right, append.left, append.length, false}
                      : (ListStage){false, append.left, append.right, more, false};
    stage->whole = core_is_length(&a->makers, stage->result, in_front ? more : append.length);
    return !is_length(a, stage->length);
}

/* All columns of a list, which are as long as one of them. */
static bool note_append(const Accumulators *a, const CoreStmt *s)
{
    const CoreStmt *list = NULL;
    bool whole = false;
    for (uint32_t k = 0; k < s->nvars; k++) {
        ListStage stage;
        if (!as_list_stage(a, s, k, &stage) || a->used[stage.result.var])
            return false;
        const CoreStmt *made = core_maker(&a->makers, stage.result);
        Way *way = &a->ways[a->part[stage.result.var] - 1];
        if ((list && list != made) || (way->op != NOTHING_DONE && way->op != APPENDED))
            return false;
        list = made;
        whole |= stage.whole;
        way->op = APPENDED;
        way->scaled |= !stage.in_front;
        a->part[s->vars[k]] = a->part[stage.result.var];
        a->used[stage.result.var] = true;
    }
    return whole;
}

/* It is the length of a result, or that and more. */
static bool note_length(const Accumulators *a, const CoreStmt *s)
{
    const bool sum = core_as_prim(s, PRIM_SIZE_ADD) || core_as_prim(s, PRIM_ADD);
    const bool length =
        s->kind == CORE_LENGTH || (sum && (is_length(a, s->prim.args[0]) || is_length(a, s->prim.args[1])));
    if (length)
        a->part[s->vars[0]] = LENGTH;
    return length;
}

/* The operand that needs the call, 0 or 1. */
static uint32_t inner_operand(const Accumulators *a, const CoreStmt *s)
{
    CoreAtom first = s->prim.args[0];
    return !first.is_const && a->part[first.var] != 0 ? 0 : 1;
}

/* s is a stage between a call's result and the block's: notes which. */
static bool note_stage(const Accumulators *a, const CoreStmt *s)
{
    if (s->kind == CORE_MAP)
        return note_append(a, s);
    if (note_length(a, s))
        return true;
    if (s->kind != CORE_PRIM || s->prim.nargs > 2)
        return false;
    const Scalar type = core_atom_type(a->fn, s->prim.args[0]).scalar;
    const uint32_t inner = inner_operand(a, s);
    const CoreVar v = s->prim.args[inner].var;
    if (a->part[v] == LENGTH)
        return false;
    CorePrim op = s->prim.op;
    bool bits = (op == PRIM_AND || op == PRIM_OR || op == PRIM_XOR) && (type == SC_BOOL || scalar_is_int(type));
    bool ring = (op == PRIM_ADD || op == PRIM_SUB || op == PRIM_MUL || op == PRIM_NEG) && scalar_is_int(type);
    bool order = (op == PRIM_MIN || op == PRIM_MAX) && scalar_is_int(type);
    bool twice = s->prim.nargs == 2 && inner == 0 && !s->prim.args[1].is_const && a->part[s->prim.args[1].var] != 0;
    if (!(bits || ring || order) || twice || a->used[v])
        return false;
    Way *way = &a->ways[a->part[v] - 1];
    op = ring ? PRIM_ADD : op;
    if (way->op != NOTHING_DONE && way->op != op)
        return false;
    way->op = op;
    way->scaled |= ring && s->prim.op != PRIM_ADD && !(s->prim.op == PRIM_SUB && inner == 0);
    a->part[s->vars[0]] = a->part[v];
    a->used[v] = true;
    return true;
}

/* Its results are, stage by stage, those of a self call, or of such branches; or it has none. */
static bool note_block(Accumulators *a, const CoreBlock *b)
{
    bool several = false;
    const CoreStmt *calling = calling_stmt(a, b, &several);
    if (!calling)
        return !several;
    if (calling->nvars != a->fn->nresults || b->nresults != a->fn->nresults)
        return false;
    if (calling->kind == CORE_CALL)
        a->calls++;
    else if (calling->kind != CORE_IF || !note_block(a, calling->if_.then_b) || !note_block(a, calling->if_.else_b))
        return false;
    for (uint32_t i = 0; i < calling->nvars; i++)
        a->part[calling->vars[i]] = 1 + i;
    bool behind = false;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (behind && needs_call(a, s) && !note_stage(a, s))
            return false;
        behind |= s == calling;
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        if (b->results[i].is_const || a->part[b->results[i].var] != 1 + i || a->used[b->results[i].var])
            return false;
    return true;
}

/* ---- rewriting ---- */

/* xs ++ the first m of ys, in reverse order or not. */
static CoreAtom appended(CoreBuilder *b, CoreAtom xs, CoreAtom ys, CoreAtom m, bool reversed)
{
    if (reversed && !core_atom_equal(m, core_i64(1))) {
        const CoreAtom i = build_var(b, core_scalar(SC_I64), NULL), last = build_prim2(b, PRIM_SUB, m, core_i64(1));
        CoreBlock *outer = build_begin(b);
        const CoreAtom y = build_index(b, ys, build_prim2(b, PRIM_SUB, last, i), CORE_NO_SITE);
        ys = build_map(b, (CoreSoac){.domain = m, .index = i.var, .body = build_end(b, outer, &y, 1)})[0];
    }
    return build_appended(b, xs, ys, m);
}

static void take_appends(const Accumulators *a, CoreBuilder *b, Way *ways, const CoreStmt *s)
{
    for (uint32_t k = 0; k < s->nvars; k++) {
        ListStage stage;
        (void)as_list_stage(a, s, k, &stage); /* it is one: note_append */
        Way *way = &ways[a->part[s->vars[k]] - 1];
        CoreAtom *list = stage.in_front ? &way->term : &way->factor;
        *list = appended(b, *list, stage.piece, stage.length, !stage.in_front);
    }
}

/* What is to be done with the result is to be done with what s makes of its inner operand: now with that. */
static void take_prim(const Accumulators *a, CoreBuilder *b, Way *way, const CoreStmt *s)
{
    const uint32_t inner = inner_operand(a, s);
    CoreAtom x = s->prim.nargs == 2 ? s->prim.args[1 - inner] : way->term;
    if (way->op != PRIM_ADD) {
        way->term = build_prim2(b, way->op, way->term, x);
        return;
    }
    if (s->prim.op == PRIM_MUL) {
        way->factor = build_prim2(b, PRIM_MUL, way->factor, x);
        return;
    }
    if (s->prim.nargs == 2) {
        x = way->scaled ? build_prim2(b, PRIM_MUL, way->factor, x) : x;
        way->term = build_prim2(b, s->prim.op == PRIM_SUB && inner == 0 ? PRIM_SUB : PRIM_ADD, way->term, x);
    }
    if (s->prim.nargs == 1 || (s->prim.op == PRIM_SUB && inner == 1))
        way->factor = build_prim1(b, PRIM_NEG, way->factor);
}

static void take_stage(const Accumulators *a, CoreBuilder *b, Way *ways, const CoreStmt *s)
{
    const uint32_t part = a->part[s->vars[0]];
    if (s->kind == CORE_MAP)
        take_appends(a, b, ways, s);
    else if (part != LENGTH)
        take_prim(a, b, &ways[part - 1], s);
}

/* All that is to be done, with a result that needs no call. */
static CoreAtom finish(CoreBuilder *b, const Way *way, CoreAtom result)
{
    if (way->op == NOTHING_DONE)
        return result;
    if (way->op == APPENDED) {
        result = appended(b, way->term, result, build_length(b, result), false);
        return way->scaled ? appended(b, result, way->factor, build_length(b, way->factor), true) : result;
    }
    result = way->scaled ? build_prim2(b, PRIM_MUL, way->factor, result) : result;
    return build_prim2(b, way->op, way->term, result);
}

static void add_accumulators(const Accumulators *a, CoreStmt *call, const Way *ways)
{
    uint32_t n = call->call.nargs;
    CoreAtom *args = arena_array(a->p->arena, CoreAtom, n + 2 * (size_t)a->fn->nresults + 1);
    for (uint32_t i = 0; i < n; i++)
        args[i] = call->call.args[i];
    for (uint32_t i = 0; i < a->fn->nresults; i++) {
        if (ways[i].op != NOTHING_DONE)
            args[n++] = ways[i].term;
        if (ways[i].scaled)
            args[n++] = ways[i].factor;
    }
    call->call.fn = a->worker;
    call->call.args = args;
    call->call.nargs = n;
}

/* The block of the new version, where `before` is to be done with its results. */
static void rewrite_block(const Accumulators *a, CoreBlock *b, const Way *before)
{
    const uint32_t n = a->fn->nresults;
    CoreBuilder build = {.p = a->p, .fn = a->worker, .out = b, .span = a->fn->span};
    bool several = false;
    CoreStmt *calling = calling_stmt(a, b, &several);
    if (!calling) {
        CoreAtom *results = arena_array(a->p->arena, CoreAtom, n + 1);
        for (uint32_t i = 0; i < n; i++)
            results[i] = finish(&build, &before[i], b->results[i]);
        build_results(&build, b, results, n);
        return;
    }
    Way *ways = arena_array(a->p->arena, Way, n + 1);
    for (uint32_t i = 0; i < n; i++)
        ways[i] = before[i];
    const CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++)
        if (old.stmts.at[i] != calling && !needs_call(a, old.stmts.at[i]))
            build_emit(&build, old.stmts.at[i]);
    for (uint32_t i = old.stmts.n; i-- > 0 && old.stmts.at[i] != calling;) /* the last stage first */
        if (needs_call(a, old.stmts.at[i]))
            take_stage(a, &build, ways, old.stmts.at[i]);
    if (calling->kind == CORE_CALL) {
        add_accumulators(a, calling, ways);
    } else {
        rewrite_block(a, calling->if_.then_b, ways);
        rewrite_block(a, calling->if_.else_b, ways);
    }
    build_emit(&build, calling);
    build_return(&build, b, calling);
}

/* ---- the two functions ---- */

/* What changes nothing: op neutral x is x. */
static CoreAtom neutral_of(CorePrim op, Scalar type)
{
    const uint64_t zero = 0, lowest_bit[] = {1, 8u * scalar_bytes(type) - 1};
    const CorePrim invert = type == SC_BOOL ? PRIM_NOT : PRIM_COMPLEMENT;
    const uint64_t ones = core_prim_apply(invert, type, type, &zero);
    if (op == PRIM_AND)
        return core_const(type, ones);
    if (op != PRIM_MIN && op != PRIM_MAX)
        return core_const(type, 0);
    const uint64_t least = scalar_is_signed(type) ? core_prim_apply(PRIM_SHL, type, type, lowest_bit) : 0;
    return core_const(type, op == PRIM_MAX ? least : core_prim_apply(PRIM_COMPLEMENT, type, type, &least));
}

/* The worker's parameters behind those of the function. */
static void new_parameters(Accumulators *a)
{
    CoreFn *w = a->worker;
    const size_t room = w->nparams + 2 * (size_t)w->nresults + 1;
    w->params = build_vars_copy(&(CoreBuilder){.p = a->p, .fn = w}, w->params, (uint32_t)room, w->nparams);
    uint32_t n = w->nparams;
    for (uint32_t i = 0; i < w->nresults; i++) {
        Way *way = &a->ways[i];
        if (way->op == NOTHING_DONE)
            continue;
        w->params[n] = core_new_var(a->p, w, w->results[i], "term");
        way->term = core_var_atom(w->params[n++], w->results[i]);
        if (!way->scaled)
            continue;
        w->params[n] = core_new_var(a->p, w, w->results[i], "factor");
        way->factor = core_var_atom(w->params[n++], w->results[i]);
    }
    w->nparams = n;
}

/* What these parameters are in the beginning, behind the n others. */
static void begin(const Accumulators *a, CoreBuilder *b, CoreAtom *args, uint32_t n)
{
    for (uint32_t i = 0; i < a->fn->nresults; i++) {
        const Way *way = &a->ways[i];
        const CoreType type = a->fn->results[i];
        if (way->op == NOTHING_DONE)
            continue;
        args[n++] = way->op == APPENDED ? build_nothing(b, type) : neutral_of(way->op, type.scalar);
        if (way->scaled)
            args[n++] = way->op == APPENDED ? build_nothing(b, type) : core_const(type.scalar, 1);
    }
}

static void rewrite_fn(Accumulators *a, CoreFn *fn)
{
    const uint32_t nparams = fn->nparams;
    CoreFn *w = a->worker = arena_new(a->p->arena, CoreFn);
    *w = *fn;
    w->name = arena_printf(a->p->arena, "%s_accumulating", fn->name);
    w->index = a->p->fns.n;
    vec_push(a->p->arena, &a->p->fns, w);
    new_parameters(a);
    CoreAtom *args = arena_array(a->p->arena, CoreAtom, w->nparams + 1);
    rewrite_block(a, w->body, a->ways);
    fn->vars.at = NULL;
    fn->vars.n = fn->vars.cap = 0;
    fn->params = arena_array(a->p->arena, CoreVar, nparams + 1);
    for (uint32_t i = 0; i < nparams; i++) {
        CoreVarInfo info = w->vars.at[w->params[i]];
        fn->params[i] = core_new_var(a->p, fn, info.type, info.hint);
        args[i] = core_var_atom(fn->params[i], info.type);
    }
    CoreBuilder b = {.p = a->p, .fn = fn, .span = fn->span};
    CoreBlock *none = build_begin(&b);
    begin(a, &b, args, nparams);
    const CoreAtom *results = build_call(&b, w, args);
    fn->body = build_end(&b, none, results, fn->nresults);
    fn->recursive = false;
}

static void try_fn(CoreProgram *p, CoreFn *fn, uint32_t self_calls, Arena *scratch)
{
    Accumulators a = {.p = p, .fn = fn, .ways = arena_array(scratch, Way, fn->nresults + 1)};
    a.part = arena_array(scratch, uint32_t, fn->vars.n + 1);
    a.used = arena_array(scratch, bool, fn->vars.n + 1);
    a.makers = core_makers_of(fn, scratch);
    for (uint32_t i = 0; i < fn->nresults; i++)
        a.ways[i].op = NOTHING_DONE;
    bool any = false, fits = note_block(&a, fn->body) && a.calls == self_calls;
    for (uint32_t i = 0; i < fn->nresults; i++)
        any |= a.ways[i].op != NOTHING_DONE;
    if (fits && any)
        rewrite_fn(&a, fn);
}

void core_accumulators(CoreProgram *p)
{
    Arena *scratch = arena_create();
    core_refresh(p);
    const CallGraph *g = callgraph_of(p, scratch);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->nodes[i].self_calls > 0 && g->nodes[i].group_size == 1)
            try_fn(p, g->nodes[i].fn, g->nodes[i].self_calls, scratch);
    arena_destroy(scratch);
}
