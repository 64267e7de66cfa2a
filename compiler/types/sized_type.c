#include "types/sized_type.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_ABBREVIATIONS = 64 };

/* ---- from the syntax tree ---- */

typedef struct SizeName {
    Name name;
    SizedType *integer; /* the parameter of that name, or NULL */
    bool used;          /* as a length */
    uint32_t depth;
} SizeName;

typedef struct Builder {
    Arena *arena;
    const Checked *checked;
    VEC(SizeName) names;
} Builder;

/* The arguments of an abbreviation, for the names of its parameters. */
typedef struct TypeArgs {
    const struct TypeArgs *outer;
    const Def *def;
    const TypeExpr *use;
} TypeArgs;

static uint32_t name_index(Builder *b, Name name)
{
    for (uint32_t i = 0; i < b->names.n; i++)
        if (b->names.at[i].name == name)
            return i;
    vec_push(b->arena, &b->names, ((SizeName){.name = name}));
    return b->names.n - 1;
}

/* The type that an abbreviation or a type parameter stands for; NULL if the name is a scalar's. */
static const TypeExpr *expand(Builder *b, const TypeExpr *te, const TypeArgs **args)
{
    const TypeArgs *a = *args;
    for (uint32_t i = 0; a && !te->name.module && te->name.nargs == 0 && i < a->def->ntype_params; i++)
        if (a->def->type_params[i] == te->name.name && i < a->use->name.nargs) {
            *args = a->outer;
            return a->use->name.args[i];
        }
    const Def *def = checked_type_def(b->checked, te);
    if (!def)
        return NULL;
    TypeArgs *inner = arena_new(b->arena, TypeArgs);
    *inner = (TypeArgs){a, def, te};
    *args = inner;
    return def->result;
}

static SizedType convert(Builder *b, const DpType *t, const TypeExpr *te, const TypeArgs *args, uint32_t depth);

static void convert_array(Builder *b, SizedType *s, const TypeExpr *te, const TypeArgs *args, uint32_t depth)
{
    bool sized = te && te->kind == TE_ARRAY;
    if (sized && te->array.size_kind == SIZE_LITERAL) {
        s->rule = SIZED_LITERAL;
        s->literal = te->array.size;
    } else if (sized && te->array.size_kind == SIZE_NAME) {
        s->rule = SIZED_NAME;
        s->name = name_index(b, te->array.size_name);
        SizeName *name = &b->names.at[s->name];
        name->used = true;
        name->depth = depth > name->depth ? depth : name->depth;
    }
    s->items = arena_new(b->arena, SizedType);
    s->items[0] = convert(b, s->type->element, sized ? te->array.element : NULL, args, depth + 1);
}

static const TypeExpr *written_item(const DpType *t, const TypeExpr *te, uint32_t i)
{
    if (te && te->kind == TE_TUPLE && t->kind == DP_T_TUPLE && i < te->tuple.n)
        return te->tuple.items[i];
    for (uint32_t k = 0; te && te->kind == TE_RECORD && t->kind == DP_T_RECORD && k < te->record.n; k++)
        if (strcmp(te->record.fields[k].name, t->names[i]) == 0)
            return te->record.fields[k].type;
    return NULL;
}

/* te: as written, or NULL where nothing is. */
static SizedType convert(Builder *b, const DpType *t, const TypeExpr *te, const TypeArgs *args, uint32_t depth)
{
    SizedType s = {.type = t};
    for (int k = 0; te && te->kind == TE_NAME; k++)
        te = k < MAX_ABBREVIATIONS ? expand(b, te, &args) : NULL;
    switch (t->kind) {
    case DP_T_SCALAR: return s;
    case DP_T_ARRAY: convert_array(b, &s, te, args, depth); return s;
    case DP_T_TUPLE:
    case DP_T_RECORD:
    case DP_T_SUM: break;
    }
    s.items = arena_array(b->arena, SizedType, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i])
            s.items[i] = convert(b, t->items[i], written_item(t, te, i), args, depth);
    return s;
}

/* ---- parameters ---- */

static bool is_integer(const DpType *t) { return t->kind == DP_T_SCALAR && t->scalar >= DP_I8 && t->scalar <= DP_U64; }

static const Pat *field_pattern(const Pat *p, const char *name)
{
    for (uint32_t i = 0; i < p->record.n; i++)
        if (strcmp(p->record.fields[i].name, name) == 0)
            return p->record.fields[i].pat;
    return NULL;
}

/* Integers with names may be sizes of what stands behind them. */
static void name_integers(Builder *b, const Pat *p, SizedType *s)
{
    while (p && p->kind == PAT_ASCRIBE)
        p = p->ascribe.pat;
    if (!p)
        return;
    if (p->kind == PAT_NAME && is_integer(s->type)) {
        uint32_t i = name_index(b, p->name);
        SizeName *name = &b->names.at[i];
        if (!name->used && !name->integer)
            name->integer = s;
    }
    for (uint32_t i = 0; p->kind == PAT_TUPLE && s->type->kind == DP_T_TUPLE && i < p->tuple.n && i < s->type->n; i++)
        name_integers(b, p->tuple.items[i], &s->items[i]);
    for (uint32_t i = 0; p->kind == PAT_RECORD && s->type->kind == DP_T_RECORD && i < s->type->n; i++)
        name_integers(b, field_pattern(p, s->type->names[i]), &s->items[i]);
}

/* Types may stand at the parameter or at the parts of its pattern. */
static SizedType convert_param(Builder *b, const DpType *t, const Pat *p)
{
    if (p && p->kind == PAT_ASCRIBE)
        return convert(b, t, p->ascribe.type, NULL, 0);
    if (!p || p->kind != PAT_TUPLE || t->kind != DP_T_TUPLE)
        return convert(b, t, NULL, NULL, 0);
    SizedType s = {.type = t, .items = arena_array(b->arena, SizedType, t->n)};
    for (uint32_t i = 0; i < t->n; i++)
        s.items[i] = convert_param(b, t->items[i], i < p->tuple.n ? p->tuple.items[i] : NULL);
    return s;
}

Signature signature_of(Arena *arena, const Checked *checked, const Def *def, DpType *const *types, uint32_t n,
                       const DpType *result)
{
    Builder b = {.arena = arena, .checked = checked};
    Signature s = {.params = arena_array(arena, SizedType, n), .nparams = n};
    for (uint32_t i = 0; i < n; i++) {
        const Pat *p = def && i < def->nparams ? def->params[i] : NULL;
        s.params[i] = convert_param(&b, types[i], p);
        name_integers(&b, p, &s.params[i]);
    }
    if (result)
        s.result = convert(&b, result, def ? def->result : NULL, NULL, 0);
    s.nsizes = b.names.n;
    s.size_depths = arena_array(arena, uint32_t, b.names.n);
    s.size_names = arena_array(arena, Name, b.names.n);
    for (uint32_t i = 0; i < b.names.n; i++) {
        s.size_names[i] = b.names.at[i].name;
        s.size_depths[i] = b.names.at[i].depth;
        if (b.names.at[i].used && b.names.at[i].integer) {
            b.names.at[i].integer->rule = SIZED_NAME;
            b.names.at[i].integer->name = i;
        }
    }
    return s;
}

Signature signature_plain(Arena *arena, DpType *const *types, uint32_t n)
{
    return signature_of(arena, NULL, NULL, types, n, NULL);
}

/* ---- as text ---- */

static void print_items(StrBuf *out, const Signature *s, const SizedType *t)
{
    const DpType *type = t->type;
    for (uint32_t i = 0; i < type->n; i++) {
        const uint32_t item = type->order ? type->order[i] : i;
        strbuf_add(out, i ? ", " : "");
        if (type->kind == DP_T_RECORD)
            strbuf_printf(out, "%s: ", type->names[item]);
        signature_print_type(out, s, &t->items[item]);
    }
}

static void print_constructors(StrBuf *out, const Signature *s, const SizedType *t)
{
    for (uint32_t i = 0; i < t->type->n; i++) {
        const bool payload = t->type->items[i] != NULL;
        const bool is_sum = payload && t->type->items[i]->kind == DP_T_SUM;
        strbuf_printf(out, "%s#%s%s", i ? " | " : "", t->type->names[i], is_sum ? " (" : payload ? " " : "");
        if (payload)
            signature_print_type(out, s, &t->items[i]);
        strbuf_add(out, is_sum ? ")" : "");
    }
}

static void print_array(StrBuf *out, const Signature *s, const SizedType *t)
{
    const bool is_free = t->rule == SIZED_FREE, in_parens = !is_free && t->type->element->kind == DP_T_SUM;
    if (is_free && t->type->is_text) {
        strbuf_add(out, "text");
        return;
    }
    if (t->rule == SIZED_LITERAL)
        strbuf_printf(out, "[%" PRIi64 "]", t->literal);
    else
        strbuf_printf(out, "[%s%s", is_free ? "" : s->size_names[t->name], is_free ? "" : "]");
    strbuf_add(out, in_parens ? "(" : "");
    signature_print_type(out, s, t->items);
    strbuf_add(out, is_free ? "]" : in_parens ? ")" : "");
}

void signature_print_type(StrBuf *out, const Signature *s, const SizedType *t)
{
    switch (t->type->kind) {
    case DP_T_SCALAR: strbuf_add(out, dp_scalar_name(t->type->scalar)); break;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        strbuf_add(out, t->type->kind == DP_T_TUPLE ? "(" : "{");
        print_items(out, s, t);
        strbuf_add(out, t->type->kind == DP_T_TUPLE ? ")" : "}");
        break;
    case DP_T_SUM: print_constructors(out, s, t); break;
    case DP_T_ARRAY: print_array(out, s, t); break;
    }
}
