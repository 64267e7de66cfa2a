#include "types/type.h"

#include <string.h>

const char *scalar_name(Scalar s)
{
    static const char *const names[SCALAR_COUNT] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                                    "u16",  "u32", "u64", "f32", "f64"};
    return names[s];
}

const char *type_class_name(TypeClass c)
{
    static const char *const names[] = {"any", "ord", "scalar", "num", "int", "float"};
    return names[c];
}

/* ---- construction ---- */

static Type *new_type(Arena *a, TypeKind kind)
{
    Type *t = arena_new(a, Type);
    t->kind = kind;
    return t;
}

Type *type_scalar(Arena *a, Scalar s)
{
    Type *t = new_type(a, TY_SCALAR);
    t->scalar = s;
    return t;
}

Type *type_tuple(Arena *a, Type **items, uint32_t n)
{
    Type *t = new_type(a, TY_TUPLE);
    t->tuple.items = items;
    t->tuple.n = n;
    return t;
}

Type *type_named(Arena *a, TypeKind record_or_sum, Name *names, Type **items, uint32_t n)
{
    Type *t = new_type(a, record_or_sum);
    t->record.names = names;
    t->record.items = items;
    t->record.n = n;
    return t;
}

Type *type_array(Arena *a, Type *element)
{
    Type *t = new_type(a, TY_ARRAY);
    t->element = element;
    return t;
}

Type *type_fun(Arena *a, Type *from, Type *to)
{
    Type *t = new_type(a, TY_FUN);
    t->fun.from = from;
    t->fun.to = to;
    return t;
}

Type *type_prune(Type *t)
{
    while (t->kind == TY_VAR && t->var.link) {
        Type *next = t->var.link;
        if (next->kind == TY_VAR && next->var.link)
            t->var.link = next->var.link; /* the next walk is half as long */
        t = next;
    }
    return t;
}

/* ---- printing ---- */

static void print_var(StrBuf *out, const Type *t)
{
    if (t->var.declared) {
        strbuf_add(out, t->var.declared);
        return;
    }
    switch (t->var.cls) {
    case CLASS_NUM: strbuf_add(out, "number"); return;
    case CLASS_INT: strbuf_add(out, "integer"); return;
    case CLASS_FLOAT: strbuf_add(out, "float"); return;
    case CLASS_SCALAR: strbuf_add(out, "scalar"); return;
    case CLASS_ANY:
    case CLASS_ORD: strbuf_add(out, "_"); return;
    }
}

static void print(StrBuf *out, Type *t, bool declared);

/* Types that bind more loosely than what stands around them. */
static void print_closed(StrBuf *out, Type *t, bool declared)
{
    TypeKind kind = type_prune(t)->kind;
    bool parens = kind == TY_FUN || kind == TY_SUM;
    strbuf_add(out, parens ? "(" : "");
    print(out, t, declared);
    strbuf_add(out, parens ? ")" : "");
}

static void print_tuple(StrBuf *out, const Type *t, bool declared)
{
    strbuf_add(out, "(");
    for (uint32_t i = 0; i < t->tuple.n; i++) {
        strbuf_add(out, i ? ", " : "");
        print(out, t->tuple.items[i], declared);
    }
    strbuf_add(out, ")");
}

static void print_record(StrBuf *out, const Type *t, bool declared)
{
    strbuf_add(out, "{");
    for (uint32_t i = 0; i < t->record.n; i++) {
        uint32_t field = declared && t->record.order ? t->record.order[i] : i;
        strbuf_printf(out, "%s%s: ", i ? ", " : "", t->record.names[field]);
        print(out, t->record.items[field], declared);
    }
    strbuf_add(out, "}");
}

static void print_sum(StrBuf *out, const Type *t, bool declared)
{
    for (uint32_t i = 0; i < t->record.n; i++) {
        strbuf_printf(out, "%s#%s", i ? " | " : "", t->record.names[i]);
        if (t->record.items[i]) {
            strbuf_add(out, " ");
            print_closed(out, t->record.items[i], declared);
        }
    }
}

static void print_array(StrBuf *out, const Type *t, bool declared)
{
    if (declared && t->is_text) {
        strbuf_add(out, "text");
        return;
    }
    strbuf_add(out, "[");
    print(out, t->element, declared);
    strbuf_add(out, "]");
}

static void print_fun(StrBuf *out, Type *t, bool declared)
{
    print_closed(out, t->fun.from, declared);
    strbuf_add(out, " -> ");
    if (type_prune(t->fun.to)->kind == TY_SUM)
        print_closed(out, t->fun.to, declared);
    else
        print(out, t->fun.to, declared);
}

static void print(StrBuf *out, Type *t, bool declared)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_SCALAR: strbuf_add(out, scalar_name(t->scalar)); return;
    case TY_TUPLE: print_tuple(out, t, declared); return;
    case TY_RECORD: print_record(out, t, declared); return;
    case TY_SUM: print_sum(out, t, declared); return;
    case TY_ARRAY: print_array(out, t, declared); return;
    case TY_FUN: print_fun(out, t, declared); return;
    case TY_VAR: print_var(out, t); return;
    case TY_RIGID: strbuf_add(out, t->rigid.name); return;
    case TY_ERROR: strbuf_add(out, "?"); return;
    }
}

void type_print(StrBuf *out, Type *t) { print(out, t, false); }
void type_print_declared(StrBuf *out, Type *t) { print(out, t, true); }

const char *type_text(Arena *a, Type *t)
{
    StrBuf b = {0};
    type_print(&b, t);
    const char *text = arena_strndup(a, b.text, b.n);
    strbuf_free(&b);
    return text;
}

/* ---- substitution ---- */

/* Returns `items` itself when nothing changes, so that ground types are shared. */
static Type **substitute_items(Arena *a, Type **items, uint32_t n, Type *const *args, uint32_t nargs)
{
    Type **result = items;
    for (uint32_t i = 0; i < n; i++) {
        Type *t = items[i] ? type_substitute(a, items[i], args, nargs) : NULL;
        if (t != items[i] && result == items) {
            result = arena_array(a, Type *, n);
            memcpy(result, items, n * sizeof *items);
        }
        if (result != items)
            result[i] = t;
    }
    return result;
}

Type *type_substitute(Arena *a, Type *t, Type *const *args, uint32_t nargs)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_RIGID: return t->rigid.index < nargs ? args[t->rigid.index] : t;
    case TY_TUPLE: {
        Type **items = substitute_items(a, t->tuple.items, t->tuple.n, args, nargs);
        return items == t->tuple.items ? t : type_tuple(a, items, t->tuple.n);
    }
    case TY_RECORD:
    case TY_SUM: {
        Type **items = substitute_items(a, t->record.items, t->record.n, args, nargs);
        if (items == t->record.items)
            return t;
        Type *named = type_named(a, t->kind, t->record.names, items, t->record.n);
        named->record.order = t->record.order;
        return named;
    }
    case TY_ARRAY: {
        Type *element = type_substitute(a, t->element, args, nargs);
        return element == t->element ? t : type_array(a, element);
    }
    case TY_FUN: {
        Type *from = type_substitute(a, t->fun.from, args, nargs);
        Type *to = type_substitute(a, t->fun.to, args, nargs);
        return from == t->fun.from && to == t->fun.to ? t : type_fun(a, from, to);
    }
    case TY_SCALAR:
    case TY_VAR:
    case TY_ERROR: return t;
    }
    return t;
}
