/* Invariant operations: a reduction, a scan, a sort, a histogram or a map that only checks in the body of a parallel
 * operation or of a counted loop that does not depend on what the body is evaluated for is computed once, in front of
 * it, with all that it needs.
 *
 *     map n (x <- xs) { s = reduce n (y <- xs) { y } …; x / s }
 *   ==>
 *     s = reduce n (y <- xs) { y } …;  map n (x <- xs) { x / s }
 *
 * So `{ x / sum xs : x in xs }` takes linear work. It moves only from where each evaluation of the body comes by: from
 * the body itself, and from those of operations and counted loops in it; not out of branches and guards.
 *
 * Work and failures stay what they were, also where the body is not evaluated at all. Either everything that moves
 * cannot fail and goes over as many elements as the operation itself (then elements at known places are only looked at
 * where there are any); or all domains on the way are known in front, and it stands behind a condition that they are
 * not empty. What may fail, or is not checked because a check stands in front of it, takes these checks along.
 *
 * Behind fusion also a map that makes rows of rows moves, a transpose, say: it would be stored for each instance. */
#include "core/build.h"
#include "core/passes.h"

typedef enum VarState {
    VAR_OUTSIDE,  /* bound in front of the operation */
    VAR_VARIANT,  /* bound in it */
    VAR_INVARIANT /* bound in it, but as well in front of it */
} VarState;

typedef struct Move {
    CoreProgram *p;
    CoreFn *fn;
    Arena *scratch;
    VEC(uint8_t) state; /* by variable: VarState */
    VEC(CoreVar) known; /* those that have been given one, so that all are forgotten in no more time than that took */
    bool fused;         /* behind fusion */
    CoreStmt *from;     /* the operation whose body is looked at */
    bool equal_rows;    /* supposing that the sequences it goes over have elements of one length */
    /* Of the statement looked for: */
    VEC(CoreAtom) domains;    /* on the way to it, the operation's first */
    VEC(CoreStmt *) before;   /* the invariant statements on the way, and */
    uint32_t checks, variant; /* checks on the way; those that are not invariant */
    bool found, guarded;
    VEC(CoreStmt *) chain; /* what moves, in order */
} Move;

static void set_state(Move *m, CoreVar v, VarState state)
{
    while (m->state.n <= v)
        vec_push(m->scratch, &m->state, VAR_OUTSIDE);
    m->state.at[v] = (uint8_t)state;
    vec_push(m->scratch, &m->known, v);
}

static VarState state_of(const Move *m, CoreVar v) { return v < m->state.n ? (VarState)m->state.at[v] : VAR_OUTSIDE; }

/* ---- what is bound in a statement, and read by it ---- */

typedef struct Marking {
    Move *m;
    VarState state;
} Marking;

static void mark_binder(void *ctx, CoreVar *v)
{
    Marking *marking = ctx;
    if (*v != CORE_NO_VAR)
        set_state(marking->m, *v, marking->state);
}

static void mark_inside(void *ctx, CoreBlock *b);
static void mark_stmt_inside(Marking *marking, CoreStmt *s)
{
    core_stmt_binders(s, mark_binder, marking);
    core_stmt_blocks(s, mark_inside, marking);
}

static void mark_inside(void *ctx, CoreBlock *b)
{
    Marking *marking = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        for (uint32_t k = 0; k < b->stmts.at[i]->nvars; k++)
            set_state(marking->m, b->stmts.at[i]->vars[k], marking->state);
        mark_stmt_inside(marking, b->stmts.at[i]);
    }
}

static bool is_variant(void *move, CoreAtom a) { return state_of(move, a.var) == VAR_VARIANT; }

/* The length of one of the elements that the body is evaluated for. */
static bool is_row_length(const Move *m, const CoreStmt *s)
{
    const CoreSoac *soac = core_stmt_soac(m->from);
    if (s->kind != CORE_LENGTH)
        return false;
    for (uint32_t i = 0; soac && i < soac->ninputs; i++)
        if (s->length.array.var == soac->elements[i])
            return true;
    return false;
}

/* If so, what it binds is marked, too. */
static bool is_invariant(Move *m, CoreStmt *s)
{
    Marking marking = {m, VAR_OUTSIDE};
    if (m->equal_rows && is_row_length(m, s)) {
        set_state(m, s->vars[0], VAR_OUTSIDE);
        return false;
    }
    mark_stmt_inside(&marking, s);
    if (core_stmt_reads(s, is_variant, m)) {
        marking.state = VAR_VARIANT;
        mark_stmt_inside(&marking, s);
        return false;
    }
    for (uint32_t k = 0; k < s->nvars; k++)
        set_state(m, s->vars[k], VAR_INVARIANT);
    return true;
}

/* ---- what kind of statement it is ---- */

typedef struct Contents {
    const CoreFn *fn;
    bool fused;
    bool expensive, endless, unchecked;
} Contents;

/* Is there a root, a sine or the like in it? A table of these is worth storing. */
typedef struct Dear {
    const CoreFn *fn;
    bool found;
} Dear;

static void find_dear(void *ctx, CoreBlock *b)
{
    Dear *d = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !d->found; i++) {
        CoreStmt *s = b->stmts.at[i];
        d->found = s->kind == CORE_PRIM &&
                   core_prim_cost(s->prim.op, core_atom_type(d->fn, s->prim.args[0]).scalar) > CORE_MODERATE;
        core_stmt_blocks(s, find_dear, d);
    }
}

static bool makes_rows(const CoreFn *fn, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (core_var_type(fn, s->vars[i]).rank > 1)
            return true;
    return false;
}

static bool is_expensive(const CoreFn *fn, CoreStmt *s, bool fused)
{
    Dear dear = {fn, false};
    switch (s->kind) {
    case CORE_REDUCE:
    case CORE_SCAN:
    case CORE_HIST:
    case CORE_ARGSORT: return true;
    case CORE_MAP: find_dear(&dear, s->soac.body); return s->nvars == 0 || dear.found || (fused && makes_rows(fn, s));
    default: return false;
    }
}

static void look_block(void *ctx, CoreBlock *b);
static void look_stmt(Contents *c, CoreStmt *s)
{
    bool checked = s->site != CORE_NO_SITE;
    c->expensive |= is_expensive(c->fn, s, c->fused);
    c->endless |= s->kind == CORE_CALL || (s->kind == CORE_LOOP && s->loop.cond);
    c->unchecked |= !checked && (s->kind == CORE_INDEX || s->kind == CORE_SLICE || s->kind == CORE_UPDATE);
    core_stmt_blocks(s, look_block, c);
}

static void look_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        look_stmt(ctx, b->stmts.at[i]);
}

static Contents contents_of(const Move *m, CoreStmt *s)
{
    Contents c = {.fn = m->fn, .fused = m->fused};
    look_stmt(&c, s);
    return c;
}

/* The body that is evaluated as often as the domain says, or NULL. */
static CoreBlock *repeated_body(CoreStmt *s, CoreAtom *domain)
{
    CoreSoac *soac = core_stmt_soac(s);
    if (soac && !soac->guard) {
        *domain = soac->domain;
        return soac->body;
    }
    *domain = s->kind == CORE_LOOP ? s->loop.count : core_i64(0);
    return s->kind == CORE_LOOP && !s->loop.cond ? s->loop.body : NULL;
}

/* ---- what moves ---- */

typedef struct Needs {
    Move *m;
    bool *needed; /* by number in `before` */
} Needs;

static void note_needed(void *ctx, CoreAtom *a)
{
    Needs *needs = ctx;
    for (uint32_t i = 0; !a->is_const && i < needs->m->before.n; i++)
        needs->needed[i] |= core_stmt_binds(needs->m->before.at[i], a->var);
}

/* The last of the statements in `before` and what it needs of them; with `checks`, also all checks. */
static void choose_chain(Move *m, bool checks)
{
    uint32_t n = m->before.n;
    Needs needs = {m, arena_array(m->scratch, bool, n + 1)};
    m->chain.n = 0;
    needs.needed[n - 1] = true;
    for (uint32_t i = n; i-- > 0;) {
        CoreStmt *s = m->before.at[i];
        needs.needed[i] |= checks && s->kind == CORE_CHECK;
        if (needs.needed[i])
            core_stmt_all_atoms(s, note_needed, &needs);
    }
    for (uint32_t i = 0; i < n; i++)
        if (needs.needed[i])
            vec_push(m->scratch, &m->chain, m->before.at[i]);
}

/* May something of it depend on a check in front: what is not checked itself, or fails behind an assertion? */
static bool chain_leans_on_checks(const Move *m)
{
    bool leans = false;
    for (uint32_t i = 0; i < m->chain.n; i++)
        leans |= contents_of(m, m->chain.at[i]).unchecked || core_stmt_fallible(m->p, m->fn, m->chain.at[i]);
    return leans;
}

/* An element at the beginning of what the chain goes over, all of whose length is the domain. */
static bool is_first_element(const Move *m, const CoreStmt *s)
{
    if (s->kind != CORE_INDEX || s->site != CORE_NO_SITE || !s->index.index.is_const || s->index.index.bits != 0 ||
        core_var_type(m->fn, s->vars[0]).rank > 0)
        return false;
    for (uint32_t i = 0; i < m->chain.n; i++) {
        const CoreSoac *soac = core_stmt_soac(m->chain.at[i]);
        for (uint32_t k = 0; soac && k < soac->ninputs; k++)
            if (core_atom_equal(soac->inputs[k], s->index.array))
                return true;
    }
    return false;
}

/* No failure, and no more work than the operation's own, even if the body is never evaluated. */
static bool is_free(const Move *m)
{
    for (uint32_t i = 0; i < m->chain.n; i++) {
        CoreStmt *s = m->chain.at[i];
        const CoreSoac *soac = core_stmt_soac(s);
        bool first = is_first_element(m, s);
        if (core_stmt_fallible(m->p, m->fn, s) || (contents_of(m, s).unchecked && (m->checks > 0 || !first)))
            return false;
        if (soac && (s->kind == CORE_HIST || !core_atom_equal(soac->domain, m->domains.at[0]) ||
                     !core_block_is_scalar(soac->body)))
            return false;
        if (!soac && !core_stmt_is_scalar(s))
            return false;
    }
    return true;
}

static bool domains_known(const Move *m)
{
    for (uint32_t i = 0; i < m->domains.n; i++)
        if (!m->domains.at[i].is_const && state_of(m, m->domains.at[i].var) != VAR_OUTSIDE)
            return false;
    return true;
}

/* May the last of `before` move? Then the chain is chosen. */
static bool may_move(Move *m)
{
    Contents c = contents_of(m, m->before.at[m->before.n - 1]);
    if (!c.expensive || c.endless)
        return false;
    choose_chain(m, false);
    for (uint32_t i = 0; i < m->chain.n; i++)
        if (contents_of(m, m->chain.at[i]).endless)
            return false;
    m->guarded = false;
    if (is_free(m))
        return true;
    bool leans = chain_leans_on_checks(m);
    m->guarded = true;
    if (leans)
        choose_chain(m, true);
    return domains_known(m) && !(leans && m->variant > 0);
}

/* ---- looking for it ---- */

static void look_for(Move *m, CoreStmt *s)
{
    CoreAtom domain;
    CoreBlock *body = repeated_body(s, &domain);
    uint32_t before = m->before.n, checks = m->checks, variant = m->variant;
    if (!body)
        return;
    vec_push(m->scratch, &m->domains, domain);
    for (uint32_t i = 0; i < body->stmts.n && !m->found; i++) {
        CoreStmt *t = body->stmts.at[i];
        bool invariant = is_invariant(m, t);
        m->checks += t->kind == CORE_CHECK;
        m->variant += t->kind == CORE_CHECK && !invariant;
        if (invariant)
            vec_push(m->scratch, &m->before, t);
        if (invariant && may_move(m))
            m->found = true;
        else if (!invariant)
            look_for(m, t);
    }
    if (m->found)
        return;
    m->domains.n--;
    m->before.n = before;
    m->checks = checks;
    m->variant = variant;
}

/* ---- moving it ---- */

static bool is_moved(const Move *m, const CoreStmt *s)
{
    for (uint32_t i = 0; i < m->chain.n; i++)
        if (m->chain.at[i] == s)
            return true;
    return false;
}

static void remove_moved(void *ctx, CoreBlock *b)
{
    Move *m = ctx;
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        if (is_moved(m, b->stmts.at[i]))
            continue;
        b->stmts.at[n++] = b->stmts.at[i];
        core_stmt_blocks(b->stmts.at[i], remove_moved, m);
    }
    b->stmts.n = n;
}

static CoreAtom domain_positive(CoreBuilder *b, CoreAtom domain)
{
    return build_prim2(b, PRIM_LT, core_i64(0), domain);
}

/* x = if 0 < n then xs[0] else 0 */
static void emit_first_element(Move *m, CoreBuilder *b, CoreStmt *s)
{
    CoreAtom cond = domain_positive(b, m->domains.at[0]);
    CoreStmt *whole = build_stmt_into(b, CORE_IF, 1, s->vars);
    CoreType type = core_var_type(m->fn, s->vars[0]);
    CoreBlock *outer = build_begin(b);
    CoreAtom element = build_index(b, s->index.array, s->index.index, CORE_NO_SITE);
    whole->if_.cond = cond;
    whole->if_.then_b = build_end(b, outer, &element, 1);
    outer = build_begin(b);
    CoreAtom nothing = build_nothing(b, type);
    whole->if_.else_b = build_end(b, outer, &nothing, 1);
    build_emit(b, whole);
}

static void emit_free(Move *m, CoreBuilder *b)
{
    for (uint32_t i = 0; i < m->chain.n; i++)
        if (is_first_element(m, m->chain.at[i]))
            emit_first_element(m, b, m->chain.at[i]);
        else
            build_emit(b, m->chain.at[i]);
}

typedef struct Wanted {
    Move *m;
    VEC(CoreAtom) atoms; /* variables of the chain that are read by what stays */
} Wanted;

static void note_wanted(void *ctx, CoreAtom *a)
{
    Wanted *w = ctx;
    bool bound = false;
    for (uint32_t i = 0; !a->is_const && i < w->m->chain.n; i++)
        bound |= core_stmt_binds(w->m->chain.at[i], a->var);
    for (uint32_t i = 0; bound && i < w->atoms.n; i++)
        bound = w->atoms.at[i].var != a->var;
    if (bound)
        vec_push(w->m->scratch, &w->atoms, *a);
}

typedef struct Renaming {
    const CoreAtom *from, *to;
    uint32_t n;
} Renaming;

static void rename_atom(void *ctx, CoreAtom *a)
{
    const Renaming *r = ctx;
    for (uint32_t i = 0; !a->is_const && i < r->n; i++)
        if (a->var == r->from[i].var) {
            *a = r->to[i];
            return;
        }
}

static void emit_guarded(Move *m, CoreBuilder *b)
{
    Wanted w = {.m = m};
    core_stmt_all_atoms(m->from, note_wanted, &w);
    CoreAtom cond = domain_positive(b, m->domains.at[0]);
    for (uint32_t i = 1; i < m->domains.n; i++)
        cond = build_prim2(b, PRIM_AND, cond, domain_positive(b, m->domains.at[i]));
    CoreBlock *outer = build_begin(b);
    for (uint32_t i = 0; i < m->chain.n; i++)
        build_emit(b, m->chain.at[i]);
    CoreBlock *then_b = build_end(b, outer, w.atoms.at, w.atoms.n);
    CoreAtom *nothing = arena_array(m->scratch, CoreAtom, w.atoms.n + 1);
    outer = build_begin(b);
    for (uint32_t i = 0; i < w.atoms.n; i++)
        nothing[i] = build_nothing(b, core_atom_type(m->fn, w.atoms.at[i]));
    CoreBlock *else_b = build_end(b, outer, nothing, w.atoms.n);
    Renaming r = {w.atoms.at, build_if(b, cond, then_b, else_b), w.atoms.n};
    core_stmt_all_atoms(m->from, rename_atom, &r);
}

/* Finds an operation in the statement's bodies that may move out of it. */
static bool find_one(Move *m, CoreStmt *s)
{
    CoreAtom domain;
    Marking marking = {m, VAR_VARIANT};
    if (!repeated_body(s, &domain))
        return false;
    m->from = s;
    m->domains.n = m->before.n = m->checks = m->variant = 0;
    m->found = false;
    mark_stmt_inside(&marking, s);
    look_for(m, s);
    return m->found;
}

static void forget_states(Move *m)
{
    while (m->known.n > 0)
        m->state.at[m->known.at[--m->known.n]] = VAR_OUTSIDE;
}

/* Once: moves one operation out of the statement's bodies, to the end of `out`. */
static bool move_one(Move *m, CoreStmt *s, CoreBlock *out)
{
    CoreBuilder b = {.p = m->p, .fn = m->fn, .out = out, .span = s->span};
    const bool found = find_one(m, s);
    if (found) {
        core_stmt_blocks(s, remove_moved, m);
        if (m->guarded)
            emit_guarded(m, &b);
        else
            emit_free(m, &b);
    }
    forget_states(m);
    return found;
}

static void move_in_block(void *ctx, CoreBlock *b)
{
    Move *m = ctx;
    CoreBlock old = core_take_stmts(b);
    for (uint32_t i = 0; i < old.stmts.n; i++) {
        while (move_one(m, old.stmts.at[i], b))
            ;
        core_stmt_blocks(old.stmts.at[i], move_in_block, m);
        core_push(m->p, b, old.stmts.at[i]);
    }
}

void core_hoist_operations(CoreProgram *p, bool fused)
{
    for (uint32_t i = 0; i < p->fns.n; i++) {
        Move m = {.p = p, .fn = p->fns.at[i], .scratch = arena_create(), .fused = fused};
        move_in_block(&m, m.fn->body);
        arena_destroy(m.scratch);
    }
}

/* ---- would more of it move? ---- */

static void look_in_block(void *ctx, CoreBlock *b)
{
    Move *m = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !m->found; i++) {
        const bool found = find_one(m, b->stmts.at[i]);
        forget_states(m);
        if (!found)
            core_stmt_blocks(b->stmts.at[i], look_in_block, m);
    }
}

bool core_hoists_of_equal_rows(CoreProgram *p, CoreFn *fn)
{
    Move m = {.p = p, .fn = fn, .scratch = arena_create(), .equal_rows = true};
    look_in_block(&m, fn->body);
    arena_destroy(m.scratch);
    return m.found;
}
