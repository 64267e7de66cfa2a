/* Sizes in types: `[n][m]f32`. The first type that mentions a name binds it to the length found there,
 * every other mention is compared with it, as are literals and earlier integer parameters.
 *
 * A sized dimension under others is compared in every row: a leaf of the sequence, at some depth, has
 * all its lengths there equal. That is one CORE_CHECK_ROWS per dimension, and a check that it finds none. Where the
 * callers check, the function only says that it holds: checks without a site.
 *
 * What stands in a constructor's payload counts where the value has that constructor; it binds no name. The
 * names in an abbreviation are its own: each use of it binds them anew. */
#include "core/elaborate_internal.h"

/* The constructors around a payload that stand at the same depth: their tags, each with the wanted one. */
typedef struct Tags {
    const struct Tags *outer;
    CoreAtom tag;
    uint32_t wanted;
} Tags;

/* A place in a nested sequence: the lengths at `depth` below `leaf`. With `tags`, beside leaf, only where they
 * are the wanted ones. */
typedef struct Dimension {
    CoreAtom leaf;
    uint32_t depth;
    const Tags *tags;
} Dimension;

static CoreAtom length_of(Elab *e, CoreAtom leaf)
{
    CoreBuilder b = anf_builder(e);
    return build_length(&b, leaf);
}

/* The first length at that depth, or 0 where there is no row to ask. */
static CoreAtom first_length(Elab *e, CoreAtom leaf, uint32_t depth)
{
    CoreAtom n = length_of(e, leaf);
    if (depth == 0)
        return n;
    CoreAtom zero = core_i64(0);
    CoreAtom some = anf_compare(e, PRIM_GT, n, zero);
    if (some.is_const)
        return some.bits ? first_length(e, anf_index(e, leaf, zero, CORE_NO_SITE), depth - 1) : zero;
    CoreBlock *outer = anf_block_open(e);
    CoreAtom inner = first_length(e, anf_index(e, leaf, zero, CORE_NO_SITE), depth - 1);
    CoreBlock *then_b = anf_block_close(e, outer, &inner, 1);
    outer = anf_block_open(e);
    CoreBlock *else_b = anf_block_close(e, outer, &zero, 1);
    return val_atom(elab_if_parts(e, some, then_b, else_b, type_scalar(e->arena, SC_I64)));
}

static void check_length(Elab *e, CoreAtom leaf, CoreAtom size, const char *text)
{
    CoreAtom n = length_of(e, leaf);
    CoreAtom values[] = {size, n};
    if (!core_atom_equal(size, n))
        anf_check(e, anf_compare(e, PRIM_EQ, size, n), ERR_SIZE, text, values, 2);
}

/* The largest length at this place that is not `size`, or -1. */
static CoreAtom wrong_length(Elab *e, Dimension d, CoreAtom size)
{
    CoreStmt *s = anf_stmt(e, CORE_CHECK_ROWS);
    CoreType i64 = core_scalar(SC_I64);
    Atoms args = {0};
    vec_push(e->arena, &args, d.leaf);
    vec_push(e->arena, &args, size);
    for (const Tags *t = d.tags; t; t = t->outer) {
        vec_push(e->arena, &args, t->tag);
        vec_push(e->arena, &args, core_const(t->tag.type.scalar, t->wanted));
    }
    s->rows.args = args.at;
    s->rows.nargs = args.n;
    s->rows.depth = d.depth;
    CoreAtom wrong = anf_bind(e, s, &i64, 1)[0];
    anf_push(e, s);
    return wrong;
}

static void check_dimension(Elab *e, Dimension d, CoreAtom size, const char *text)
{
    if (d.depth == 0 && !d.tags) {
        check_length(e, d.leaf, size, text);
        return;
    }
    CoreAtom wrong = wrong_length(e, d, size), values[] = {size, wrong};
    anf_check(e, anf_compare(e, PRIM_LT, wrong, core_i64(0)), ERR_SIZE, text, values, 2);
}

static void sized_array(Elab *e, Scope *sc, const TypeExpr *te, Dimension d)
{
    if (te->array.size_kind == SIZE_LITERAL) {
        check_dimension(e, d, core_i64(te->array.size), "the size");
        return;
    }
    Def *constant = checked_size_def(e->checked, te);
    if (constant) {
        check_dimension(e, d, anf_convert(e, val_atom(elab_constant(e, sc, constant)), SC_I64), te->array.size_name);
        return;
    }
    Env *known = env_find_size(sc->env, te->array.size_name);
    if (known) {
        check_dimension(e, d, anf_convert(e, val_atom(known->value), SC_I64), te->array.size_name);
        return;
    }
    if (d.tags) /* the checker allows known names only, but an abbreviation has its own */
        return;
    CoreAtom size = first_length(e, d.leaf, d.depth);
    if (!size.is_const && !e->fn->vars.at[size.var].hint)
        e->fn->vars.at[size.var].hint = te->array.size_name;
    env_bind_size(e, sc, te->array.size_name, size);
    if (d.depth > 0)
        check_dimension(e, d, size, te->array.size_name);
}

/* ---- abbreviations ---- */

/* The use of an abbreviation, whose arguments are in force in its definition. `names`: the sizes known where it stands.
 */
typedef struct Use {
    const struct Use *outer;
    const Def *def;
    const TypeExpr *te;
    Scope *names;
    Scope own;
} Use;

/* A type expression and what its names stand for. */
typedef struct Sized {
    const TypeExpr *te;
    const Use *use;
    Scope *names;
} Sized;

/* What a type's name stands for; te is NULL if nothing with sizes. `fresh` is filled for an abbreviation. */
static Sized resolve(const Elab *e, Sized s, Use *fresh)
{
    const Use *u = s.use;
    if (u && s.te->name.nargs == 0 && !s.te->name.module)
        for (uint32_t i = 0; i < u->def->ntype_params && i < u->te->name.nargs; i++)
            if (u->def->type_params[i] == s.te->name.name)
                return (Sized){u->te->name.args[i], u->outer, u->names};
    const Def *def = checked_type_def(e->checked, s.te);
    if (!def)
        return (Sized){0};
    *fresh = (Use){.outer = u, .def = def, .te = s.te, .names = s.names};
    if (s.names)
        fresh->own = (Scope){NULL, s.names->targs, s.names->ntargs, s.names->user};
    return (Sized){def->result, fresh, &fresh->own};
}

static Sized part(Sized s, const TypeExpr *te) { return (Sized){te, s.use, s.names}; }

static bool has_sizes(const Elab *e, Sized s, uint32_t depth)
{
    Use fresh;
    const TypeExpr *te = s.te;
    if (!te || depth > 64)
        return false;
    switch (te->kind) {
    case TE_NAME: return has_sizes(e, resolve(e, s, &fresh), depth + 1);
    case TE_TUPLE:
        for (uint32_t i = 0; i < te->tuple.n; i++)
            if (has_sizes(e, part(s, te->tuple.items[i]), depth + 1))
                return true;
        return false;
    case TE_RECORD:
    case TE_SUM:
        for (uint32_t i = 0; i < te->record.n; i++)
            if (has_sizes(e, part(s, te->record.fields[i].type), depth + 1))
                return true;
        return false;
    case TE_ARRAY: return te->array.size_kind != SIZE_NONE || has_sizes(e, part(s, te->array.element), depth + 1);
    case TE_FUN: return false;
    }
    return false;
}

bool elab_type_has_sizes(const Elab *e, const TypeExpr *te) { return has_sizes(e, (Sized){.te = te}, 0); }

/* ---- the walk ---- */

/* The place of the components that stand side by side in `atoms`. */
typedef struct Place {
    const CoreAtom *atoms;
    uint32_t depth;
    const Tags *tags;
} Place;

static void walk(Elab *e, Sized s, Type *t, Place p);

static void walk_tuple(Elab *e, Sized s, Type *t, Place p)
{
    for (uint32_t i = 0; i < s.te->tuple.n && i < t->tuple.n; i++) {
        walk(e, part(s, s.te->tuple.items[i]), t->tuple.items[i], p);
        p.atoms += ty_leaf_count(e, t->tuple.items[i]);
    }
}

static void walk_field(Elab *e, Sized s, Name name, Type *t, Place p)
{
    for (uint32_t i = 0; i < s.te->record.n; i++)
        if (s.te->record.fields[i].name == name && s.te->record.fields[i].type)
            walk(e, part(s, s.te->record.fields[i].type), t, p);
}

static void walk_record(Elab *e, Sized s, Type *t, Place p)
{
    for (uint32_t i = 0; i < t->record.n; i++) {
        walk_field(e, s, t->record.names[i], t->record.items[i], p);
        p.atoms += ty_leaf_count(e, t->record.items[i]);
    }
}

static void walk_sum(Elab *e, Sized s, Type *t, Place p)
{
    Tags tags = {p.tags, p.atoms[0], 0};
    p.atoms++;
    p.tags = &tags;
    for (uint32_t i = 0; i < t->record.n; i++) {
        if (!t->record.items[i])
            continue;
        tags.wanted = i;
        walk_field(e, s, t->record.names[i], t->record.items[i], p);
        p.atoms += ty_leaf_count(e, t->record.items[i]);
    }
}

static void walk(Elab *e, Sized s, Type *t, Place p)
{
    Use fresh;
    if (!has_sizes(e, s, 0))
        return;
    t = type_prune(t);
    switch (s.te->kind) {
    case TE_NAME: walk(e, resolve(e, s, &fresh), t, p); return;
    case TE_TUPLE:
        if (t->kind == TY_TUPLE)
            walk_tuple(e, s, t, p);
        return;
    case TE_RECORD:
        if (t->kind == TY_RECORD)
            walk_record(e, s, t, p);
        return;
    case TE_SUM:
        if (t->kind == TY_SUM)
            walk_sum(e, s, t, p);
        return;
    case TE_ARRAY:
        if (t->kind != TY_ARRAY)
            return;
        if (s.te->array.size_kind != SIZE_NONE)
            sized_array(e, s.names, s.te, (Dimension){p.atoms[0], p.depth, p.tags});
        /* Where a tag is another one the payload is empty, so that below it every element counts. */
        walk(e, part(s, s.te->array.element), t->element, (Place){p.atoms, p.depth + 1, NULL});
        return;
    case TE_FUN: return;
    }
}

void elab_sizes(Elab *e, Scope *sc, const TypeExpr *te, const Value *v)
{
    if (!elab_type_has_sizes(e, te))
        return;
    if (val_has_function(v)) { /* sizes beside functions: only components without them */
        if (te->kind == TE_TUPLE && v->kind == VALUE_PRODUCT)
            for (uint32_t i = 0; i < te->tuple.n && i < v->product.n; i++)
                elab_sizes(e, sc, te->tuple.items[i], v->product.items[i]);
        return;
    }
    Atoms atoms = {0};
    val_atoms(e, v, &atoms);
    walk(e, (Sized){te, NULL, sc}, v->type, (Place){atoms.at, 0, NULL});
}
