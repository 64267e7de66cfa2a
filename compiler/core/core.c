#include "core/core.h"
#include "dp_limits.h"

#include <stddef.h>
#include <string.h>

/* ---- tables ---- */

typedef enum Operands {
    OPERANDS_NUMBERS,
    OPERANDS_INTEGERS,
    OPERANDS_FLOATS,
    OPERANDS_BITS,
    OPERANDS_BOOLS,
    OPERANDS_SIZES,
    OPERANDS_ANY
} Operands;
typedef enum Gives { GIVES_SAME, GIVES_BOOL, GIVES_OTHER } Gives;

typedef struct PrimInfo {
    const char *name;
    uint8_t arity;
    Operands operands;
    Gives gives;
    uint8_t cost, cost_on_floats;
} PrimInfo;

static const PrimInfo prims[PRIM_COUNT] = {
#define PRIM(NAME, arity, text, operands, result, cost, cost_on_floats)                                                \
    {text, arity, OPERANDS_##operands, GIVES_##result, cost, cost_on_floats},
#include "core/prims.def"
#undef PRIM
};

const char *core_prim_name(CorePrim p) { return prims[p].name; }
uint32_t core_prim_arity(CorePrim p) { return prims[p].arity; }
bool core_prim_commutes(CorePrim p, Scalar operand)
{
    switch (p) {
    case PRIM_ADD:
    case PRIM_MUL:
    case PRIM_AND:
    case PRIM_OR:
    case PRIM_XOR:
    case PRIM_EQ:
    case PRIM_NE:
    case PRIM_SIZE_ADD:
    case PRIM_SIZE_MUL: return true;
    case PRIM_MIN:
    case PRIM_MAX: return !scalar_is_float(operand); /* min 0.0 -0.0 */
    default: return false;
    }
}

bool core_prim_gives_bool(CorePrim p) { return prims[p].gives == GIVES_BOOL; }

uint32_t core_prim_cost(CorePrim p, Scalar operand)
{
    return scalar_is_float(operand) ? prims[p].cost_on_floats : prims[p].cost;
}

bool core_prim_takes(CorePrim p, Scalar operand)
{
    switch (prims[p].operands) {
    case OPERANDS_NUMBERS: return operand != SC_BOOL;
    case OPERANDS_INTEGERS: return scalar_is_int(operand);
    case OPERANDS_FLOATS: return scalar_is_float(operand);
    case OPERANDS_BITS: return !scalar_is_float(operand);
    case OPERANDS_BOOLS: return operand == SC_BOOL;
    case OPERANDS_SIZES: return operand == SC_I64;
    case OPERANDS_ANY: return true;
    }
    return false;
}

bool core_prim_fallible(CorePrim p, Scalar operand)
{
    return (p == PRIM_DIV || p == PRIM_MOD) && scalar_is_int(operand);
}

void core_error_text(StrBuf *out, const CoreSite *site, const int64_t *v)
{
    const char *text = site->text ? site->text : "";
    long long v0 = v[0], v1 = v[1], v2 = v[2];
    switch (site->kind) {
    case ERR_INDEX: strbuf_printf(out, "index %lld out of bounds for length %lld", v0, v1); break;
    case ERR_SLICE: strbuf_printf(out, "slice %lld:%lld out of bounds for length %lld", v0, v1, v2); break;
    case ERR_LENGTHS: strbuf_printf(out, "unequal lengths: %lld and %lld", v0, v1); break;
    case ERR_SIZE: strbuf_printf(out, "size mismatch: %s is %lld, but this length is %lld", text, v0, v1); break;
    case ERR_DIVISION: strbuf_add(out, "division by zero"); break;
    case ERR_ASSERT: strbuf_add(out, "assertion failed"); break;
    case ERR_MATCH: strbuf_add(out, "no case matches"); break;
    case ERR_EMPTY: strbuf_printf(out, "%s of an empty sequence", text); break;
    case ERR_NEGATIVE: strbuf_printf(out, "negative length %lld", v0); break;
    case ERR_NEST:
        strbuf_printf(out, "lengths add up to %lld%s, but the sequence has %lld", v0, v0 == INT64_MAX ? " or more" : "",
                      v1);
        break;
    case ERR_DEPTH: strbuf_add(out, DP_TOO_DEEP); break;
    }
}

/* ---- leaves of source types ---- */

static void add_leaves(Arena *a, Type *t, uint8_t rank, CoreTypes *out);

static void add_item_leaves(Arena *a, Type **items, uint32_t n, uint8_t rank, CoreTypes *out)
{
    for (uint32_t i = 0; i < n; i++)
        if (items[i])
            add_leaves(a, items[i], rank, out);
}

Scalar core_tag_type(uint32_t n) { return n <= 1u << 8 ? SC_U8 : n <= 1u << 16 ? SC_U16 : SC_U32; }

static void add_leaves(Arena *a, Type *t, uint8_t rank, CoreTypes *out)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_SCALAR: vec_push(a, out, ((CoreType){t->scalar, rank})); break;
    case TY_TUPLE:
        if (t->tuple.n == 0)
            vec_push(a, out, ((CoreType){SC_BOOL, rank}));
        add_item_leaves(a, t->tuple.items, t->tuple.n, rank, out);
        break;
    case TY_RECORD:
        if (t->record.n == 0)
            vec_push(a, out, ((CoreType){SC_BOOL, rank}));
        add_item_leaves(a, t->record.items, t->record.n, rank, out);
        break;
    case TY_SUM:
        vec_push(a, out, ((CoreType){core_tag_type(t->record.n), rank}));
        add_item_leaves(a, t->record.items, t->record.n, rank, out);
        break;
    case TY_ARRAY: add_leaves(a, t->element, (uint8_t)(rank + 1), out); break;
    case TY_FUN:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: /* no values of these reach core */ break;
    }
}

void core_leaves(Arena *a, Type *t, CoreTypes *out) { add_leaves(a, t, 0, out); }

/* ---- construction ---- */

CoreVar core_new_var(const CoreProgram *p, CoreFn *fn, CoreType type, const char *hint)
{
    vec_push(p->arena, &fn->vars, ((CoreVarInfo){type, hint}));
    return fn->vars.n - 1;
}

CoreBlock *core_new_block(const CoreProgram *p) { return arena_new(p->arena, CoreBlock); }

CoreStmt *core_new_stmt(const CoreProgram *p, CoreKind kind, Span span)
{
    CoreStmt *s = arena_new(p->arena, CoreStmt);
    s->kind = kind;
    s->span = span;
    s->site = CORE_NO_SITE;
    if (kind == CORE_LOOP)
        s->loop.count = core_i64(0);
    return s;
}

uint32_t core_new_site(CoreProgram *p, ErrorKind kind, Span span, const char *text)
{
    vec_push(p->arena, &p->sites, ((CoreSite){kind, span, text}));
    return p->sites.n - 1;
}

void core_push(const CoreProgram *p, CoreBlock *b, CoreStmt *s) { vec_push(p->arena, &b->stmts, s); }

CoreBlock core_take_stmts(CoreBlock *b)
{
    CoreBlock old = *b;
    b->stmts.at = NULL;
    b->stmts.n = b->stmts.cap = 0;
    return old;
}

void *core_joined(const CoreProgram *p, const void *a, uint32_t n, const void *b, uint32_t m, size_t bytes)
{
    char *both = arena_alloc(p->arena, (n + m + 1u) * bytes);
    if (n)
        memcpy(both, a, n * bytes);
    if (m)
        memcpy(both + n * bytes, b, m * bytes);
    return both;
}

void core_append_block(const CoreProgram *p, CoreBlock *to, const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_push(p, to, b->stmts.at[i]);
    CORE_JOIN(p, to->results, to->nresults, b->results, b->nresults);
    to->nresults += b->nresults;
}

CoreAtom *core_identity_map(Arena *a, const CoreFn *fn)
{
    CoreAtom *map = arena_array(a, CoreAtom, fn->vars.n + 1);
    for (uint32_t v = 0; v < fn->vars.n; v++)
        map[v] = core_var_atom(v, fn->vars.at[v].type);
    return map;
}

static CoreAtom itself(const CoreFn *fn, CoreVar v) { return core_var_atom(v, core_var_type(fn, v)); }

typedef struct Forgetting {
    const CoreFn *fn;
    CoreCopyMap *map;
} Forgetting;

static void forget_binder(void *ctx, CoreVar *v)
{
    const Forgetting *f = ctx;
    if (*v != CORE_NO_VAR)
        f->map->at[*v] = itself(f->fn, *v);
}

static void forget_block(void *ctx, CoreBlock *b);

static void forget_stmt(void *ctx, CoreStmt *s)
{
    for (uint32_t k = 0; k < s->nvars; k++)
        forget_binder(ctx, &s->vars[k]);
    core_stmt_binders(s, forget_binder, ctx);
    core_stmt_blocks(s, forget_block, ctx);
}

static void forget_block(void *ctx, CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        forget_stmt(ctx, b->stmts.at[i]);
}

void core_copy_map_note(CoreCopyMap *map, const CoreFn *fn, Arena *scratch)
{
    for (uint32_t v = map->n; v < fn->vars.n; v++)
        vec_push(scratch, map, itself(fn, v));
}

void core_copy_map_forget(CoreCopyMap *map, const CoreFn *fn, CoreStmt *s)
{
    Forgetting f = {fn, map};
    forget_stmt(&f, s);
}

CoreFn *core_copy_fn(const CoreProgram *p, const CoreFn *fn, Arena *scratch)
{
    CoreFn *copy = arena_new(p->arena, CoreFn);
    CoreAtom *map = arena_array(scratch, CoreAtom, fn->vars.n + 1);
    *copy = *fn;
    copy->vars.at = NULL;
    copy->vars.n = copy->vars.cap = 0;
    copy->params = arena_array(p->arena, CoreVar, fn->nparams + 1);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const CoreVarInfo info = fn->vars.at[fn->params[i]];
        copy->params[i] = core_new_var(p, copy, info.type, info.hint);
        map[fn->params[i]] = core_var_atom(copy->params[i], info.type);
    }
    copy->body = core_copy_block(p, copy, fn, fn->body, map);
    return copy;
}

CoreBlock *core_copy_within(const CoreProgram *p, CoreFn *fn, CoreBlock *b, Arena *scratch, CoreCopyMap *map)
{
    Forgetting f = {fn, map};
    core_copy_map_note(map, fn, scratch);
    CoreBlock *copy = core_copy_block(p, fn, fn, b, map->at);
    forget_block(&f, b);
    return copy;
}

/* ---- traversal ---- */

static const CoreKindInfo kinds[] = {
#define AT(member) (uint16_t) offsetof(CoreStmt, member)
#define ATOM(member) {FIELD_ATOM, AT(member), 0},
#define ATOMS(array, n) {FIELD_ATOMS, AT(array), AT(n)},
#define VALUES(array, n) {FIELD_VALUES, AT(array), AT(n)},
#define BINDER(member) {FIELD_BINDER, AT(member), 0},
#define BINDERS(array, n) {FIELD_BINDERS, AT(array), AT(n)},
#define BLOCK(member) {FIELD_BLOCK, AT(member), 0},
#define SOAC(places)                                                                                                   \
    {FIELD_SOAC, AT(soac), places}, ATOM(soac.domain) ATOMS(soac.inputs, soac.ninputs) BINDER(soac.index)              \
                                        BINDERS(soac.elements, soac.ninputs) BLOCK(soac.guard) BLOCK(soac.body)
#define OPERATOR {FIELD_OPERATOR, AT(soac.op), 0}, BINDERS(soac.op.params, soac.op.nparams) BLOCK(soac.op.body)
#define KIND(NAME, text, n, runs, may_fail, equal, long_as, ...)                                                       \
    [CORE_##NAME] = {text,                                                                                             \
                     RESULTS_##n,                                                                                      \
                     CODE_##runs,                                                                                      \
                     FAILS_##may_fail,                                                                                 \
                     SAME_##equal,                                                                                     \
                     LENGTH_##long_as,                                                                                 \
                     {__VA_ARGS__{FIELD_END, 0, 0}}},
#include "core/kinds.def"
#undef AT
#undef ATOM
#undef ATOMS
#undef VALUES
#undef BINDER
#undef BINDERS
#undef BLOCK
#undef SOAC
#undef OPERATOR
#undef KIND
};

const CoreKindInfo *core_kind(CoreKind kind) { return &kinds[kind]; }

/* Statements are owned by the program; constness follows the caller. */
static void *member(const CoreStmt *s, uint16_t at) { return (char *)(uintptr_t)s + at; }

CoreAtom *core_field_atoms(const CoreStmt *s, const CoreField *f, uint32_t *n)
{
    *n = f->kind == FIELD_ATOM                               ? 1
         : f->kind == FIELD_ATOMS || f->kind == FIELD_VALUES ? *(uint32_t *)member(s, f->count)
                                                             : 0;
    return f->kind == FIELD_ATOMS ? *(CoreAtom **)member(s, f->at) : *n ? member(s, f->at) : NULL;
}

CoreVar *core_field_binders(const CoreStmt *s, const CoreField *f, uint32_t *n)
{
    *n = f->kind == FIELD_BINDERS ? *(uint32_t *)member(s, f->count)
                                  : f->kind == FIELD_BINDER && *(CoreVar *)member(s, f->at) != CORE_NO_VAR;
    return f->kind == FIELD_BINDERS ? *(CoreVar **)member(s, f->at) : *n ? member(s, f->at) : NULL;
}

CoreBlock **core_field_block(const CoreStmt *s, const CoreField *f)
{
    CoreBlock **b = f->kind == FIELD_BLOCK ? member(s, f->at) : NULL;
    return b && *b ? b : NULL;
}

static const CoreField *fields_of(const CoreStmt *s) { return kinds[s->kind].fields; }

static const CoreField *find_field(const CoreStmt *s, CoreFieldKind kind)
{
    for (const CoreField *f = fields_of(s); f->kind; f++)
        if (f->kind == kind)
            return f;
    return NULL;
}

static void *find_member(const CoreStmt *s, CoreFieldKind kind)
{
    const CoreField *f = find_field(s, kind);
    return f ? member(s, f->at) : NULL;
}

CoreSoac *core_stmt_soac(const CoreStmt *s) { return find_member(s, FIELD_SOAC); }
CoreLambda *core_stmt_operator(const CoreStmt *s) { return find_member(s, FIELD_OPERATOR); }

CoreAtom core_stmt_changes(const CoreStmt *s)
{
    if (s->kind == CORE_UPDATE)
        return s->update.array;
    return s->kind == CORE_SCATTER && s->nvars == 1 ? s->soac.dests[0] : core_const(SC_BOOL, 0);
}

uint32_t core_stmt_places(const CoreStmt *s)
{
    const CoreField *f = find_field(s, FIELD_SOAC);
    return f ? f->count : 0;
}

bool core_block_is_scalar(const CoreBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        if (!core_stmt_is_scalar(b->stmts.at[i]))
            return false;
    return true;
}

static void and_scalar(void *ctx, CoreBlock *b)
{
    bool *all = ctx;
    *all = *all && core_block_is_scalar(b);
}

bool core_stmt_is_scalar(const CoreStmt *s)
{
    bool all = kinds[s->kind].code == CODE_SCALAR;
    if (all && s->kind != CORE_LANE)
        core_stmt_blocks((CoreStmt *)(uintptr_t)s, and_scalar, &all); /* reads only */
    return all;
}

uint32_t core_stmt_result(const CoreStmt *s, CoreAtom a)
{
    uint32_t k = 0;
    while (k < s->nvars && (a.is_const || s->vars[k] != a.var))
        k++;
    return k;
}

void core_put_in_front(const CoreProgram *p, CoreBlock *b, const CoreBlock *front)
{
    const CoreBlock rest = core_take_stmts(b);
    for (uint32_t i = 0; i < front->stmts.n; i++)
        core_push(p, b, front->stmts.at[i]);
    for (uint32_t i = 0; i < rest.stmts.n; i++)
        core_push(p, b, rest.stmts.at[i]);
}

typedef struct Def {
    CoreAtom a;
    CoreStmt *found;
} Def;

static void look_for_def(void *ctx, CoreBlock *b)
{
    Def *d = ctx;
    d->found = d->found ? d->found : core_block_def(b, d->a);
    for (uint32_t i = 0; i < b->stmts.n && !d->found; i++)
        core_stmt_blocks(b->stmts.at[i], look_for_def, d);
}

CoreStmt *core_fn_def(const CoreFn *fn, CoreAtom a)
{
    Def d = {a, NULL};
    look_for_def(&d, fn->body);
    return d.found;
}

bool core_length_of_piece(const CoreStmt *slice, const CoreStmt *to, CoreAtom *n)
{
    const CoreStmt *size = core_as_prim(to, PRIM_SIZE_ADD), *sum = size ? size : core_as_prim(to, PRIM_ADD);
    const uint32_t from = sum && !core_atom_equal(sum->prim.args[0], slice->slice.from);
    if (!sum || !core_atom_equal(sum->prim.args[from], slice->slice.from))
        return false;
    *n = sum->prim.args[1 - from];
    return true;
}

const CoreStmt *core_as_prim(const CoreStmt *s, CorePrim op)
{
    return s && s->kind == CORE_PRIM && s->prim.op == op ? s : NULL;
}

bool core_is_prim2(const CoreStmt *s, CorePrim op, CoreAtom x, CoreAtom y)
{
    return core_as_prim(s, op) && core_atom_equal(s->prim.args[0], x) && core_atom_equal(s->prim.args[1], y);
}

void core_stmt_atoms(CoreStmt *s, void (*f)(void *ctx, CoreAtom *a), void *ctx)
{
    uint32_t n;
    for (const CoreField *field = fields_of(s); field->kind; field++) {
        CoreAtom *atoms = core_field_atoms(s, field, &n);
        for (uint32_t i = 0; i < n; i++)
            f(ctx, &atoms[i]);
    }
}

void core_stmt_blocks(CoreStmt *s, void (*f)(void *ctx, CoreBlock *b), void *ctx)
{
    for (const CoreField *field = fields_of(s); field->kind; field++) {
        CoreBlock **b = core_field_block(s, field);
        if (b)
            f(ctx, *b);
    }
}

void core_stmt_binders(CoreStmt *s, void (*f)(void *ctx, CoreVar *v), void *ctx)
{
    uint32_t n;
    for (const CoreField *field = fields_of(s); field->kind; field++) {
        CoreVar *vars = core_field_binders(s, field, &n);
        for (uint32_t i = 0; i < n; i++)
            f(ctx, &vars[i]);
    }
}

typedef struct DeepAtoms {
    void (*f)(void *ctx, CoreAtom *a);
    void *ctx;
} DeepAtoms;

static void deep_atoms(void *ctx, CoreBlock *b)
{
    const DeepAtoms *d = ctx;
    core_block_atoms(b, d->f, d->ctx);
}

void core_stmt_all_atoms(CoreStmt *s, void (*f)(void *ctx, CoreAtom *a), void *ctx)
{
    DeepAtoms d = {f, ctx};
    core_stmt_atoms(s, f, ctx);
    core_stmt_blocks(s, deep_atoms, &d);
}

void core_block_atoms(CoreBlock *b, void (*f)(void *ctx, CoreAtom *a), void *ctx)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_stmt_all_atoms(b->stmts.at[i], f, ctx);
    for (uint32_t i = 0; i < b->nresults; i++)
        f(ctx, &b->results[i]);
}

typedef struct Search {
    bool (*is)(void *ctx, CoreAtom a);
    void *ctx;
    bool found;
} Search;

static void search_atom(void *ctx, CoreAtom *a)
{
    Search *search = ctx;
    search->found = search->found || (!a->is_const && search->is(search->ctx, *a));
}

static void search_block(void *ctx, CoreBlock *b)
{
    const Search *search = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !search->found; i++) {
        core_stmt_atoms(b->stmts.at[i], search_atom, ctx);
        core_stmt_blocks(b->stmts.at[i], search_block, ctx);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        search_atom(ctx, &b->results[i]);
}

bool core_stmt_reads(CoreStmt *s, bool (*is)(void *ctx, CoreAtom a), void *ctx)
{
    Search search = {is, ctx, false};
    core_stmt_atoms(s, search_atom, &search);
    core_stmt_blocks(s, search_block, &search);
    return search.found;
}

bool core_block_reads(CoreBlock *b, bool (*is)(void *ctx, CoreAtom a), void *ctx)
{
    Search search = {is, ctx, false};
    search_block(&search, b);
    return search.found;
}

void core_count_use(void *uses, CoreAtom *a)
{
    CoreUses *u = uses;
    u->n += !a->is_const && a->var == u->var;
}

bool core_stmt_binds(const CoreStmt *s, CoreVar v)
{
    for (uint32_t i = 0; i < s->nvars; i++)
        if (s->vars[i] == v)
            return true;
    return false;
}

CoreStmt *core_block_def(const CoreBlock *b, CoreAtom a)
{
    for (uint32_t i = 0; i < b->stmts.n && !a.is_const; i++)
        if (core_stmt_binds(b->stmts.at[i], a.var))
            return b->stmts.at[i];
    return NULL;
}

bool core_soac_binds(const CoreStmt *s, CoreAtom a)
{
    bool binds = !a.is_const && s->soac.index == a.var;
    for (uint32_t i = 0; i < s->soac.ninputs && !a.is_const; i++)
        binds |= s->soac.elements[i] == a.var;
    return binds || core_block_def(s->soac.body, a);
}

/* ---- copying ---- */

typedef struct Copier {
    const CoreProgram *program;
    CoreFn *to;
    const CoreFn *from;
    CoreAtom *map;
} Copier;

static void copy_atom(void *ctx, CoreAtom *a)
{
    Copier *c = ctx;
    if (!a->is_const)
        *a = c->map[a->var];
}

static void copy_binder(void *ctx, CoreVar *v)
{
    Copier *c = ctx;
    CoreVarInfo info = c->from->vars.at[*v]; /* by value: `to` may be `from` and grow */
    CoreVar fresh = core_new_var(c->program, c->to, info.type, info.hint);
    c->map[*v] = core_var_atom(fresh, info.type);
    *v = fresh;
}

static void *copy_bytes(const Copier *c, const void *at, size_t bytes)
{
    void *copy = arena_alloc(c->program->arena, bytes);
    if (bytes)
        memcpy(copy, at, bytes);
    return copy;
}

/* Gives the copied node arrays of its own. Blocks are still the old ones. */
static void copy_arrays(const Copier *c, CoreStmt *s)
{
    uint32_t n;
    s->vars = copy_bytes(c, s->vars, s->nvars * sizeof *s->vars);
    for (const CoreField *f = fields_of(s); f->kind; f++) {
        if (f->kind == FIELD_ATOMS) {
            CoreAtom *atoms = core_field_atoms(s, f, &n);
            *(CoreAtom **)member(s, f->at) = copy_bytes(c, atoms, n * sizeof *atoms);
        } else if (f->kind == FIELD_BINDERS) {
            CoreVar *vars = core_field_binders(s, f, &n);
            *(CoreVar **)member(s, f->at) = copy_bytes(c, vars, n * sizeof *vars);
        }
    }
}

static CoreBlock *copy_block(Copier *c, const CoreBlock *b);

static CoreStmt *copy_stmt(Copier *c, const CoreStmt *old)
{
    CoreStmt *s = arena_new(c->program->arena, CoreStmt);
    *s = *old;
    copy_arrays(c, s);
    core_stmt_atoms(s, copy_atom, c); /* before the binders: what the statement reads is bound outside it */
    core_stmt_binders(s, copy_binder, c);
    for (const CoreField *f = fields_of(s); f->kind; f++) {
        CoreBlock **b = core_field_block(s, f);
        if (b)
            *b = copy_block(c, *b);
    }
    for (uint32_t i = 0; i < s->nvars; i++)
        copy_binder(c, &s->vars[i]);
    return s;
}

static CoreBlock *copy_block(Copier *c, const CoreBlock *b)
{
    CoreBlock *copy = core_new_block(c->program);
    for (uint32_t i = 0; i < b->stmts.n; i++)
        core_push(c->program, copy, copy_stmt(c, b->stmts.at[i]));
    copy->nresults = b->nresults;
    copy->results = copy_bytes(c, b->results, b->nresults * sizeof *b->results);
    for (uint32_t i = 0; i < b->nresults; i++)
        copy_atom(c, &copy->results[i]);
    return copy;
}

CoreBlock *core_copy_block(const CoreProgram *p, CoreFn *to, const CoreFn *from, const CoreBlock *b, CoreAtom *map)
{
    Copier c = {p, to, from, map};
    return copy_block(&c, b);
}

static void refresh_fn(CoreProgram *p, CoreFn *fn)
{
    Arena *scratch = arena_create();
    CoreFn old = *fn;
    Copier c = {p, fn, &old, arena_array(scratch, CoreAtom, old.vars.n + 1)};
    fn->vars.at = NULL;
    fn->vars.n = fn->vars.cap = 0;
    fn->params = copy_bytes(&c, fn->params, fn->nparams * sizeof *fn->params);
    for (uint32_t i = 0; i < fn->nparams; i++)
        copy_binder(&c, &fn->params[i]);
    fn->body = copy_block(&c, old.body);
    arena_destroy(scratch);
}

void core_refresh(CoreProgram *p)
{
    for (uint32_t i = 0; i < p->fns.n; i++)
        refresh_fn(p, p->fns.at[i]);
}

/* ---- may it fail? ---- */

typedef struct Fallibility {
    const CoreProgram *program;
    const CoreFn *fn;
    bool found;
} Fallibility;

static void block_fallible(void *ctx, CoreBlock *b)
{
    Fallibility *f = ctx;
    f->found = f->found || core_block_fallible(f->program, f->fn, b);
}

static bool prim_stmt_fallible(const CoreFn *fn, const CoreStmt *s)
{
    if (!core_prim_fallible(s->prim.op, core_atom_type(fn, s->prim.args[0]).scalar))
        return false;
    return !s->prim.args[1].is_const || s->prim.args[1].bits == 0;
}

bool core_stmt_fallible(const CoreProgram *p, const CoreFn *fn, const CoreStmt *s)
{
    switch (kinds[s->kind].fails) {
    case FAILS_NEVER: return false;
    case FAILS_AT_SITE: return s->site != CORE_NO_SITE;
    case FAILS_ALWAYS: return true;
    case FAILS_SPECIALLY:
        if (s->kind == CORE_PRIM)
            return prim_stmt_fallible(fn, s);
        if (s->loop.cond) /* it may not end */
            return true;
        break;
    case FAILS_INSIDE: break;
    }
    Fallibility f = {p, fn, false};
    core_stmt_blocks((CoreStmt *)(uintptr_t)s, block_fallible, &f); /* reads only */
    return f.found;
}

bool core_block_fallible(const CoreProgram *p, const CoreFn *fn, const CoreBlock *b)
{
    for (uint32_t i = 0; b && i < b->stmts.n; i++)
        if (core_stmt_fallible(p, fn, b->stmts.at[i]))
            return true;
    return false;
}

CorePrim core_op_part(const CoreLambda *op, uint32_t i)
{
    const CoreAtom result = op->body->results[i];
    const CoreVar a = op->params[i], b = op->params[op->nparams / 2 + i];
    for (uint32_t j = 0; j < op->body->stmts.n; j++) {
        const CoreStmt *s = op->body->stmts.at[j];
        if (s->kind != CORE_PRIM || result.is_const || s->vars[0] != result.var)
            continue;
        const CoreAtom *x = s->prim.args;
        const bool both = s->prim.nargs == 2 && !x[0].is_const && !x[1].is_const &&
                          ((x[0].var == a && x[1].var == b) || (x[0].var == b && x[1].var == a));
        return both ? s->prim.op : PRIM_COUNT;
    }
    return PRIM_COUNT;
}

bool core_op_commutes(const CoreFn *fn, const CoreLambda *op)
{
    for (uint32_t i = 0; i < op->nparams / 2; i++) {
        const CorePrim prim = core_op_part(op, i);
        if (prim == PRIM_COUNT || !core_prim_commutes(prim, core_var_type(fn, op->params[i]).scalar))
            return false;
    }
    return op->nparams > 0;
}

bool core_op_settles(const CoreFn *fn, const CoreLambda *op)
{
    for (uint32_t i = 0; i < op->nparams / 2; i++) {
        const CorePrim prim = core_op_part(op, i);
        const CoreType t = core_var_type(fn, op->params[i]);
        if (t.rank > 0 || t.scalar != SC_BOOL || (prim != PRIM_AND && prim != PRIM_OR))
            return false;
    }
    return op->nparams > 0;
}
