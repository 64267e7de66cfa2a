#include "core/lane.h"

#include <string.h>

/* LEAST_WIDE: elements of an operation whose number is known. */
enum { LEAST_WIDE = 16 };

Lane lane_open(const CoreFn *fn, bool strip)
{
    return (Lane){.fn = fn, .strip = strip, .vars = paged_create(arena_create(), fn->vars.n, sizeof(LaneVar))};
}

void lane_close(Lane *l) { arena_destroy(l->vars.arena); }

/* ---- what is known ---- */

bool lane_constant(const Lane *l, CoreAtom a, int64_t *value)
{
    if (a.is_const)
        *value = (int64_t)a.bits;
    else
        *value = lane_var(l, a.var)->value;
    return a.is_const || lane_var(l, a.var)->known;
}

uint64_t lane_elements(const LaneVar *v)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < v->rank; i++)
        n *= v->dims[i];
    return n;
}

uint64_t lane_stride(const LaneVar *v)
{
    uint64_t n = 1;
    for (uint32_t i = 1; i < v->rank; i++)
        n *= v->dims[i];
    return n;
}

static uint32_t atom_below(const Lane *l, CoreAtom a)
{
    int64_t value;
    if (lane_constant(l, a, &value))
        return value >= 0 && value < UINT32_MAX ? (uint32_t)value + 1 : 0;
    return lane_var(l, a.var)->below;
}

bool lane_index_holds(const Lane *l, CoreAtom array, CoreAtom index)
{
    uint32_t below = atom_below(l, index);
    return below > 0 && lane_is_private(l, array) && below <= lane_var(l, array.var)->dims[0];
}

CoreVar lane_memory(const Lane *l, CoreVar v)
{
    while (lane_var(l, v)->of != v)
        v = lane_var(l, v)->of;
    return v;
}

/* May it be made in the array's own memory? */
static bool in_place(const Lane *l, const CoreStmt *s)
{
    const CoreAtom changed = core_stmt_changes(s);
    if (changed.is_const)
        return false;
    const LaneVar *array = lane_var(l, changed.var), *out = lane_var(l, s->vars[0]);
    const bool last = l->strip ? array->owned && out->reads_last : array->rank == 1 && array->last_use == out->bound_at;
    return last && !array->shared && array->repetition == out->repetition;
}

/* ---- binding and using ---- */

static LaneVar *bind(Lane *l, CoreVar v)
{
    LaneVar *info = lane_var(l, v);
    *info = (LaneVar){.of = v,
                      .repetition = l->repetition,
                      .bound_at = l->position,
                      .last_use = l->position,
                      .reads_last = info->reads_last,
                      .peeks = info->peeks,
                      .over = info->over,
                      .of_part = info->of_part};
    return info;
}

/* A private array: n of what `element` is, NULL for scalars. False if it is too large. */
static bool bind_private(Lane *l, CoreVar v, uint64_t n, const LaneVar *element)
{
    uint32_t rank = element ? element->rank : 0;
    if (!l->strip && (rank + 1 > LANE_MOST_RANK || n > LANE_BYTES || core_var_type(l->fn, v).rank != rank + 1))
        return false;
    LaneVar *info = bind(l, v);
    info->owned = l->strip;
    if (l->strip)
        return true;
    info->rank = (uint8_t)(rank + 1);
    info->dims[0] = (uint32_t)n;
    for (uint32_t i = 0; i < rank; i++)
        info->dims[i + 1] = element->dims[i];
    l->bytes += lane_elements(info) * scalar_bytes(core_var_type(l->fn, v).scalar);
    return l->bytes <= LANE_BYTES;
}

/* Another name for a private array, or for one of its elements. */
static void bind_part(Lane *l, CoreVar v, CoreVar of, uint32_t skip)
{
    LaneVar *info = bind(l, v), *whole = lane_var(l, of);
    info->of = of;
    info->rank = (uint8_t)(whole->rank - skip);
    memcpy(info->dims, whole->dims + skip, info->rank * sizeof info->dims[0]);
    info->shared = info->rank > 0;
    whole->shared |= info->rank > 0;
}

/* From now on there is another name for it, or it is an element of another. */
static void share(Lane *l, CoreAtom a)
{
    if (!a.is_const)
        lane_var(l, a.var)->shared = true;
}

static void share_all(Lane *l, const CoreAtom *atoms, uint32_t n)
{
    for (uint32_t i = 0; i < n && l->strip; i++)
        share(l, atoms[i]);
}

/* What reads a part's elements reads the array's. */
static void use_var(Lane *l, CoreVar v)
{
    for (; lane_var(l, v)->peeks; v = lane_var(l, v)->of_part)
        lane_var(l, v)->last_use = l->position;
    lane_var(l, v)->last_use = l->position;
}

static void use(void *ctx, CoreAtom *a)
{
    if (!a->is_const)
        use_var(ctx, a->var);
}

/* What comes from outside of a repetition is used until that ends. */
typedef struct Outside {
    Lane *l;
    uint32_t repetition;
} Outside;

static void use_outside(void *ctx, CoreAtom *a)
{
    const Outside *o = ctx;
    if (!a->is_const && lane_var(o->l, a->var)->repetition < o->repetition)
        use_var(o->l, a->var);
}

static bool lane_block(Lane *l, const CoreBlock *b);

static uint32_t begin_repetition(Lane *l)
{
    uint32_t outer = l->repetition;
    l->repetition = ++l->repetitions;
    return outer;
}

static void end_repetition(Lane *l, uint32_t outer, CoreBlock *const *blocks, uint32_t n)
{
    Outside o = {l, l->repetition};
    l->position++;
    for (uint32_t i = 0; i < n; i++)
        if (blocks[i])
            core_block_atoms(blocks[i], use_outside, &o);
    l->repetition = outer;
}

/* ---- scalar code ---- */

static bool same_shape(const LaneVar *a, const LaneVar *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

static const LaneVar *shape_of(const Lane *l, CoreAtom a)
{
    static const LaneVar scalar;
    return a.is_const ? &scalar : lane_var(l, a.var);
}

static LaneVar element_of(const LaneVar *array)
{
    LaneVar element = {.rank = (uint8_t)(array->rank - 1)};
    memcpy(element.dims, array->dims + 1, element.rank * sizeof element.dims[0]);
    return element;
}

/* If the value is a private array, one of its shape, with elements of its own. */
static bool bind_like(Lane *l, CoreVar v, CoreAtom like)
{
    if (!lane_is_private(l, like)) {
        bind(l, v);
        return true;
    }
    LaneVar element = element_of(shape_of(l, like));
    return bind_private(l, v, shape_of(l, like)->dims[0], &element);
}

static void fold_prim(Lane *l, const CoreStmt *s, LaneVar *out)
{
    uint64_t args[3];
    int64_t value;
    Scalar operand = core_atom_type(l->fn, s->prim.args[0]).scalar;
    if (operand != SC_I64 || core_var_type(l->fn, s->vars[0]).scalar != SC_I64)
        return;
    uint32_t a = atom_below(l, s->prim.args[0]), b = s->prim.nargs > 1 ? atom_below(l, s->prim.args[1]) : 0;
    if (s->prim.op == PRIM_ADD && a > 0 && b > 0 && a < UINT32_MAX / 2 && b < UINT32_MAX / 2)
        out->below = a + b - 1;
    if (s->prim.op == PRIM_MOD && a > 0 && b > 1) /* of what is not negative; a known divisor is b - 1 */
        out->below = lane_constant(l, s->prim.args[1], &value) ? b - 1 : 0;
    for (uint32_t i = 0; i < s->prim.nargs; i++) {
        if (!lane_constant(l, s->prim.args[i], &value))
            return;
        args[i] = (uint64_t)value;
    }
    if (core_prim_fallible(s->prim.op, operand) && args[1] == 0)
        return;
    out->known = true;
    out->value = (int64_t)core_prim_apply(s->prim.op, operand, SC_I64, args);
}

static bool lane_prim(Lane *l, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->prim.nargs; i++)
        if (lane_is_private(l, s->prim.args[i]))
            return false;
    share_all(l, s->prim.args, s->prim.nargs);
    fold_prim(l, s, bind(l, s->vars[0]));
    return true;
}

static bool lane_atom(Lane *l, const CoreStmt *s)
{
    if (lane_is_private(l, s->atom)) {
        bind_part(l, s->vars[0], s->atom.var, 0);
        return true;
    }
    share_all(l, &s->atom, 1);
    LaneVar *out = bind(l, s->vars[0]);
    if (core_var_type(l->fn, s->vars[0]).rank == 0 && core_var_type(l->fn, s->vars[0]).scalar == SC_I64) {
        out->known = lane_constant(l, s->atom, &out->value);
        out->below = atom_below(l, s->atom);
    }
    return true;
}

static bool lane_length(Lane *l, const CoreStmt *s)
{
    LaneVar *out = bind(l, s->vars[0]);
    out->known = lane_is_private(l, s->length.array);
    out->value = out->known ? lane_var(l, s->length.array.var)->dims[0] : 0;
    return true;
}

static bool lane_index(Lane *l, const CoreStmt *s)
{
    if (lane_is_private(l, s->index.array))
        bind_part(l, s->vars[0], s->index.array.var, 1);
    else
        bind(l, s->vars[0]);
    return true;
}

/* Of a private array, a part whose place is known. */
static bool lane_slice(Lane *l, const CoreStmt *s)
{
    int64_t from, to;
    if (!lane_is_private(l, s->slice.array)) {
        if (!lane_var(l, s->vars[0])->peeks)
            share_all(l, &s->slice.array, 1);
        bind(l, s->vars[0]);
        return true;
    }
    if (!lane_constant(l, s->slice.from, &from) || !lane_constant(l, s->slice.to, &to) || from < 0 || to < from ||
        to > lane_var(l, s->slice.array.var)->dims[0])
        return false;
    bind_part(l, s->vars[0], s->slice.array.var, 0);
    lane_var(l, s->vars[0])->dims[0] = (uint32_t)(to - from);
    return true;
}

static bool occurs_once(const CoreAtom *atoms, uint32_t n, CoreAtom a)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < n; i++)
        times += core_atom_equal(atoms[i], a);
    return times == 1;
}

/* Is the branch's result i an array of the lane's own that nobody else has? */
static bool hands_on(const Lane *l, const CoreBlock *branch, uint32_t i)
{
    const CoreAtom a = branch->results[i];
    const LaneVar *v = a.is_const ? NULL : lane_var(l, a.var);
    return v && v->owned && !v->shared && v->repetition == l->repetition &&
           occurs_once(branch->results, branch->nresults, a);
}

static bool lane_if(Lane *l, const CoreStmt *s)
{
    if (!lane_block(l, s->if_.then_b) || !lane_block(l, s->if_.else_b))
        return false;
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreAtom a = s->if_.then_b->results[i], b = s->if_.else_b->results[i];
        const bool owned =
            lane_var(l, s->vars[i])->reads_last && hands_on(l, s->if_.then_b, i) && hands_on(l, s->if_.else_b, i);
        if (!owned)
            share_all(l, (CoreAtom[]){a, b}, 2);
        if (!same_shape(shape_of(l, a), shape_of(l, b)) || !bind_like(l, s->vars[i], a))
            return false;
        lane_var(l, s->vars[i])->owned = owned;
    }
    return true;
}

/* ---- loops ---- */

static bool is_alien(const Lane *l, CoreVar v)
{
    for (uint32_t i = 0; i < l->alien.n; i++)
        if (l->alien.at[i] == v)
            return true;
    return false;
}

/* Is the next state an array that a round makes or hands on, and nobody else's? Then it is the lane's own in every
 * round. That was supposed of it; if not, all is looked at again. */
static void look_at_state(Lane *l, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        const CoreAtom next = s->loop.body->results[i];
        if (!lane_var(l, s->loop.params[i])->owned)
            continue;
        const LaneVar *v = next.is_const ? NULL : lane_var(l, next.var);
        if (v && v->owned && !v->shared && v->repetition == l->repetition && v->last_use == l->position &&
            occurs_once(s->loop.body->results, s->loop.nparams, next))
            continue;
        vec_push(l->vars.arena, &l->alien, s->loop.params[i]);
        l->surprised = true;
    }
}

static void own_state(Lane *l, CoreVar v)
{
    lane_var(l, v)->owned = l->strip && core_var_type(l->fn, v).rank > 0 && !is_alien(l, v);
}

/* Does the state begin as an array of the lane's own that nobody looks at afterwards? */
static bool takes_over(const Lane *l, const CoreStmt *s, uint32_t i)
{
    const CoreAtom from = s->loop.inits[i];
    const LaneVar *state = lane_var(l, s->loop.params[i]), *v = from.is_const ? NULL : lane_var(l, from.var);
    return state->owned && v && v->owned && !v->shared && state->reads_last &&
           v->repetition == lane_var(l, s->vars[i])->repetition && occurs_once(s->loop.inits, s->loop.nparams, from);
}

bool lane_copies_state(const Lane *l, const CoreStmt *s, uint32_t i)
{
    const LaneVar *state = lane_var(l, s->loop.params[i]);
    bool written = false; /* arrays of the state may change places */
    if (l->abreast && state->owned && lane_may_be_outside(l, s->loop.inits[i]))
        return true;
    for (uint32_t k = 0; k < s->loop.nparams; k++)
        written |= lane_var(l, lane_memory(l, s->loop.params[k]))->written;
    return state->owned && written && state->of == s->loop.params[i];
}

bool lane_begins_outside(const Lane *l, const CoreStmt *s, uint32_t i)
{
    const CoreAtom from = s->loop.inits[i];
    return !from.is_const && core_var_type(l->fn, from.var).rank == 1 && lane_var(l, from.var)->repetition == 0 &&
           lane_copies_state(l, s, i);
}

/* With memory, what the state is another name for afterwards: what it begins as, if that is looked at later, and what a
 * round hands on from outside. */
static void share_state(Lane *l, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        const CoreAtom next = s->loop.body->results[i];
        if (!lane_var(l, s->loop.params[i])->reads_last)
            share_all(l, &s->loop.inits[i], 1);
        if (!next.is_const && lane_var(l, next.var)->repetition != l->repetition)
            share_all(l, &next, 1);
    }
}

static bool lane_loop_blocks(Lane *l, const CoreStmt *s)
{
    int64_t count;
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        const bool deep = l->strip && core_var_type(l->fn, s->loop.params[i]).rank > LANE_STATE_RANK;
        if (deep || !bind_like(l, s->loop.params[i], s->loop.inits[i]))
            return false;
    }
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        own_state(l, s->loop.params[i]);
    if (s->loop.cond && !lane_block(l, s->loop.cond))
        return false;
    if (s->loop.index != CORE_NO_VAR) {
        LaneVar *index = bind(l, s->loop.index);
        if (lane_constant(l, s->loop.count, &count) && count > 0 && count < UINT32_MAX)
            index->below = (uint32_t)count;
    }
    if (!lane_block(l, s->loop.body))
        return false;
    look_at_state(l, s);
    share_state(l, s);
    for (uint32_t i = 0; i < s->loop.nparams; i++)
        if (!same_shape(lane_var(l, s->loop.params[i]), shape_of(l, s->loop.body->results[i])))
            return false;
    return true;
}

static bool lane_loop(Lane *l, const CoreStmt *s)
{
    CoreBlock *const blocks[] = {s->loop.cond, s->loop.body};
    uint32_t outer = begin_repetition(l);
    if (!lane_loop_blocks(l, s))
        return false;
    end_repetition(l, outer, blocks, 2);
    for (uint32_t i = 0; i < s->nvars; i++) {
        const bool owned = lane_var(l, s->loop.params[i])->owned;
        if (lane_var(l, s->loop.params[i])->rank == 0) {
            LaneVar *out = bind(l, s->vars[i]);
            out->owned = owned;
            out->of = owned ? s->loop.params[i] : s->vars[i];
            continue;
        }
        bool shared = lane_var(l, s->loop.params[i])->shared;
        bind_part(l, s->vars[i], s->loop.params[i], 0);
        lane_var(l, s->loop.params[i])->shared = lane_var(l, s->vars[i])->shared = shared; /* the loop has ended */
    }
    return true;
}

/* Of the branches of an `if`, one is executed: the first one's loops stand for both, as they are most often versions of
 * one. */
void lane_each_begin(const Lane *l, CoreBlock *b, void (*each)(void *ctx, CoreAtom array), void *ctx)
{
    for (uint32_t k = 0; k < b->stmts.n; k++) {
        const CoreStmt *s = b->stmts.at[k];
        for (uint32_t i = 0; s->kind == CORE_LOOP && i < s->loop.nparams; i++)
            if (lane_begins_outside(l, s, i))
                each(ctx, s->loop.inits[i]);
        if (s->kind == CORE_IF)
            lane_each_begin(l, s->if_.then_b, each, ctx);
    }
}

/* ---- parallel operations ---- */

static bool bind_elements(Lane *l, const CoreSoac *soac, int64_t domain)
{
    for (uint32_t i = 0; i < soac->ninputs; i++) {
        if (!lane_is_private(l, soac->inputs[i])) {
            bind(l, soac->elements[i]);
            continue;
        }
        if (domain != lane_var(l, soac->inputs[i].var)->dims[0])
            return false;
        bind_part(l, soac->elements[i], soac->inputs[i].var, 1);
    }
    if (soac->index != CORE_NO_VAR)
        bind(l, soac->index)->below = domain > 0 && domain < UINT32_MAX ? (uint32_t)domain : 0;
    return true;
}

/* Results of a MAP: what they are, by the body's results of one element. */
static bool bind_map(Lane *l, const CoreStmt *s, int64_t domain)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        CoreAtom result = s->soac.body->results[i];
        bool row = lane_is_private(l, result);
        LaneVar element = *shape_of(l, result);
        share_all(l, &result, 1);
        if (!l->strip && (domain < 0 || (core_atom_type(l->fn, result).rank > 0 && !row)))
            return false;
        if (!bind_private(l, s->vars[i], (uint64_t)domain, row ? &element : NULL))
            return false;
    }
    return true;
}

static bool lane_operator(Lane *l, const CoreStmt *s)
{
    const CoreLambda *op = &s->soac.op;
    for (uint32_t i = 0; i < op->nparams; i++) {
        if (core_var_type(l->fn, op->params[i]).rank > 0)
            return false;
        bind(l, op->params[i]);
    }
    return lane_block(l, op->body);
}

static bool bind_fold(Lane *l, const CoreStmt *s, int64_t domain)
{
    for (uint32_t i = 0; i < s->nvars; i++) {
        if (s->kind == CORE_REDUCE)
            bind(l, s->vars[i]);
        else if ((domain < 0 && !l->strip) || !bind_private(l, s->vars[i], (uint64_t)domain, NULL))
            return false;
    }
    return true;
}

/* With memory, of scalars: the result begins as a copy, unless the array can be written where it is. */
static bool bind_scattered(Lane *l, const CoreStmt *s)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (!l->strip || core_var_type(l->fn, s->vars[i]).rank > 1 || !bind_private(l, s->vars[i], 0, NULL))
            return false;
    return true;
}

static bool lane_soac(Lane *l, const CoreStmt *s)
{
    const CoreLambda *op = core_stmt_operator(s);
    CoreBlock *const blocks[] = {s->soac.guard, s->soac.body, op ? op->body : NULL};
    int64_t domain;
    if (s->soac.guard && !l->strip) /* how many are kept only the run knows */
        return false;
    if (!lane_constant(l, s->soac.domain, &domain))
        domain = -1;
    uint32_t outer = begin_repetition(l);
    if (lane_is_room(s) && l->strip) {
        bind(l, s->soac.body->stmts.at[0]->vars[0]);
        l->repetition = outer;
        return bind_map(l, s, domain);
    }
    if (!bind_elements(l, &s->soac, domain) || (s->soac.guard && !lane_block(l, s->soac.guard)) ||
        !lane_block(l, s->soac.body))
        return false;
    if (op && !lane_operator(l, s))
        return false;
    end_repetition(l, outer, blocks, 3);
    if (s->kind == CORE_SCATTER)
        return bind_scattered(l, s);
    return s->kind == CORE_MAP ? bind_map(l, s, domain) : bind_fold(l, s, domain);
}

/* ---- arrays ---- */

static bool lane_array(Lane *l, const CoreStmt *s)
{
    const LaneVar *first = s->array.n ? shape_of(l, s->array.items[0]) : NULL;
    share_all(l, s->array.items, s->array.n);
    if (!l->strip && core_var_type(l->fn, s->vars[0]).rank > 1 && (!first || first->rank == 0))
        return false;
    for (uint32_t i = 1; i < s->array.n; i++)
        if (!same_shape(first, shape_of(l, s->array.items[i])))
            return false;
    LaneVar element = first ? *first : (LaneVar){0};
    return bind_private(l, s->vars[0], s->array.n, &element);
}

static bool lane_update(Lane *l, const CoreStmt *s)
{
    share_all(l, &s->update.value, 1);
    if (l->strip)
        return bind_private(l, s->vars[0], 0, NULL);
    if (!lane_is_private(l, s->update.array))
        return false;
    LaneVar row = element_of(shape_of(l, s->update.array));
    if (!same_shape(&row, shape_of(l, s->update.value)))
        return false;
    return bind_like(l, s->vars[0], s->update.array);
}

static bool lane_flatten(Lane *l, const CoreStmt *s)
{
    if (l->strip)
        return bind_private(l, s->vars[0], 0, NULL);
    if (!lane_is_private(l, s->length.array))
        return false;
    const LaneVar *whole = lane_var(l, s->length.array.var);
    uint32_t n = whole->dims[0] * whole->dims[1];
    bind_part(l, s->vars[0], s->length.array.var, 1);
    lane_var(l, s->vars[0])->dims[0] = n;
    return true;
}

static bool lane_table(Lane *l, const CoreStmt *s)
{
    if (!l->strip)
        return false;
    bind(l, s->vars[1]);
    return bind_private(l, s->vars[0], 0, NULL);
}

/* ---- statements ---- */

static bool lane_stmt(Lane *l, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: return lane_atom(l, s);
    case CORE_PRIM: return lane_prim(l, s);
    case CORE_LENGTH: return lane_length(l, s);
    case CORE_INDEX: return lane_index(l, s);
    case CORE_SLICE: return lane_slice(l, s);
    case CORE_CHECK: return true;
    case CORE_IF: return lane_if(l, s);
    case CORE_LOOP: return lane_loop(l, s);
    case CORE_MAP:
    case CORE_REDUCE:
    case CORE_SCATTER:
    case CORE_SCAN: return lane_soac(l, s);
    case CORE_ARRAY: return lane_array(l, s);
    case CORE_UPDATE: return lane_update(l, s);
    case CORE_FLATTEN: return lane_flatten(l, s);
    case CORE_TABLE: return lane_table(l, s);
    case CORE_ACCUMULATE:
    case CORE_HIST:
    case CORE_ARGSORT:
    case CORE_CALL:
    case CORE_CHECK_ROWS:
    case CORE_MANY:
    case CORE_PARAM:
    case CORE_FEW:
    case CORE_MEMORY:
    case CORE_FITTED:
    case CORE_NOTHING:
    case CORE_LANE: return false;
    }
    return false;
}

static bool lane_block(Lane *l, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        l->position++;
        core_stmt_atoms(b->stmts.at[i], use, l);
        if (!lane_stmt(l, b->stmts.at[i]))
            return false;
    }
    l->position++;
    for (uint32_t i = 0; i < b->nresults; i++)
        use(l, &b->results[i]);
    return true;
}

/* A map's results take the places of arrays that it reads from the same place on, and nobody behind it. */
static void settle_map(Lane *l, const CoreStmt *s)
{
    for (uint32_t i = 0; s->kind == CORE_MAP && l->strip && !l->abreast && i < s->nvars; i++) {
        LaneVar *out = lane_var(l, s->vars[i]);
        const LaneVar *array = out->over ? lane_var(l, out->over - 1) : NULL;
        if (!array || !array->owned || array->shared || array->repetition != out->repetition)
            continue;
        out->of = lane_memory(l, out->over - 1);
        lane_var(l, out->of)->written = true;
    }
}

/* When all is known of who looks at what. */
static void settle_updates(void *ctx, CoreBlock *b)
{
    Lane *l = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        CoreStmt *s = b->stmts.at[i];
        if (in_place(l, s)) {
            const CoreVar memory = lane_memory(l, core_stmt_changes(s).var);
            lane_var(l, s->vars[0])->of = memory;
            lane_var(l, memory)->written = true;
        }
        settle_map(l, s);
        for (uint32_t k = 0; s->kind == CORE_LOOP && l->strip && k < s->loop.nparams; k++)
            if (takes_over(l, s, k))
                lane_var(l, s->loop.params[k])->of = s->loop.inits[k].var;
        core_stmt_blocks(s, settle_updates, l);
    }
}

static bool mark_written(Lane *l, CoreAtom a)
{
    LaneVar *v = lane_var(l, lane_memory(l, a.var));
    const bool changed = !v->written;
    v->written = true;
    return changed;
}

typedef struct Spreading {
    Lane *l;
    bool changed;
} Spreading;

/* What rounds of the loop hand on, where the next one, or what stands behind the loop, writes into it. */
static void spread_handed_on(Spreading *w, const CoreStmt *s)
{
    for (uint32_t k = 0; k < s->loop.nparams; k++) {
        const CoreAtom next = s->loop.body->results[k];
        const LaneVar *state = lane_var(w->l, s->loop.params[k]);
        if (state->owned && !next.is_const && lane_var(w->l, next.var)->owned &&
            lane_var(w->l, lane_memory(w->l, s->loop.params[k]))->written)
            w->changed |= mark_written(w->l, next);
    }
}

/* What is written to the result of an `if` is written to what its branches hand on. */
static void spread_written(void *ctx, CoreBlock *b)
{
    Spreading *w = ctx;
    for (uint32_t i = b->stmts.n; i-- > 0;) {
        CoreStmt *s = b->stmts.at[i];
        for (uint32_t k = 0; s->kind == CORE_IF && k < s->nvars; k++) {
            const LaneVar *v = lane_var(w->l, s->vars[k]);
            if (!v->owned || !v->written)
                continue;
            w->changed |= mark_written(w->l, s->if_.then_b->results[k]);
            w->changed |= mark_written(w->l, s->if_.else_b->results[k]);
        }
        if (s->kind == CORE_LOOP && w->l->strip)
            spread_handed_on(w, s);
        core_stmt_blocks(s, spread_written, w);
    }
}

bool lane_analyse(Lane *l, CoreBlock *b)
{
    Spreading written = {.l = l};
    if (l->strip)
        lane_find_last_reads(l, b);
    do {
        l->surprised = false;
        l->bytes = l->position = 0;
        l->repetition = l->repetitions = 1; /* what stands in front is of repetition 0 */
        if (!lane_block(l, b))
            return false;
    } while (l->surprised);
    settle_updates(l, b);
    do {
        written.changed = false;
        spread_written(&written, b);
    } while (written.changed);
    return true;
}

bool lane_keeps_arrays(const Lane *l, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->nresults; i++)
        if (l->strip ? core_atom_type(l->fn, b->results[i]).rank > 1 : lane_is_private(l, b->results[i]))
            return false;
    return true;
}

static bool have_rank(const CoreFn *fn, const CoreVar *vars, uint32_t n, uint32_t rank)
{
    for (uint32_t i = 0; i < n; i++)
        if (core_var_type(fn, vars[i]).rank != rank)
            return false;
    return true;
}

bool lane_goes_wide(const CoreFn *fn, const CoreStmt *s)
{
    const CoreSoac *soac = &s->soac;
    const bool reduces = s->kind == CORE_REDUCE;
    if ((s->kind != CORE_MAP && s->kind != CORE_SCATTER && !reduces) || soac->guard || lane_is_room(s) ||
        (soac->domain.is_const && soac->domain.bits < LEAST_WIDE))
        return false;
    if (!core_block_is_scalar(soac->body) || !have_rank(fn, soac->elements, soac->ninputs, 0) ||
        !have_rank(fn, s->vars, s->nvars, reduces ? 0 : 1))
        return false;
    return !reduces || ((soac->commutative || core_op_commutes(fn, &soac->op)) && !core_op_settles(fn, &soac->op) &&
                        core_block_is_scalar(soac->op.body));
}
