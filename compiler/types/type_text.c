#include "types/check_internal.h"

#include <string.h>

/* Types as messages show them: by their declared names where they are long, cut where they are very long,
 * and two that differ below each other, with marks:
 *
 *     expected (i64, [f64], bool)
 *        found (i64, [f32], bool)
 *                     ^^^
 */

enum {
    LONG_NAMED = 24, /* columns from which on a declared type is shown by its name */
    LONG_TYPE = 64,  /* from which on a pair of types is shown around its difference only */
    LONGEST = 60,    /* from which on the rest of a type is left out */
    LONG_PART = 12,  /* of a part that does not differ, where parts are left out */
    DEEPEST = 30     /* what is nested more deeply is left out */
};

/* ---- one type ---- */

typedef struct Show {
    StrBuf *out;
    bool full;        /* nothing is left out, and no names */
    bool signature;   /* variables of a scheme as the documentation writes them: 'a, num */
    const Poly *poly; /* with `signature` */
    Type **letters;   /* variables that are shown as a, b, …; or NULL */
    uint32_t nletters;
    uint32_t depth;
} Show;

enum { MOST_LETTERS = 26 };

static void show(const Show *w, Type *t);

static bool is_cut(const Show *w) { return !w->full && w->out->n > LONGEST; }

/* A type that binds more loosely than what stands around it. */
static void show_closed(const Show *w, Type *t, bool around_functions)
{
    TypeKind kind = type_prune(t)->kind;
    bool parens = kind == TY_SUM || (kind == TY_FUN && around_functions);
    StrBuf text = {0};
    Show inner = *w;
    inner.out = &text;
    show(&inner, t);
    if (parens && !strchr(text.text, ' '))
        parens = false; /* by its name */
    strbuf_printf(w->out, parens ? "(%s)" : "%s", text.text);
    strbuf_free(&text);
}

/* Letters go to variables in the order in which they are met. */
static void show_letter(const Show *w, const Type *t)
{
    for (uint32_t i = 0; i < w->nletters; i++)
        if (w->letters[i] == t) {
            strbuf_printf(w->out, "%c", (char)('a' + i));
            return;
        }
    strbuf_add(w->out, "_");
}

static void show_var(const Show *w, const Type *t)
{
    if (t->var.declared)
        strbuf_add(w->out, t->var.declared);
    else if (w->letters)
        show_letter(w, t);
    else
        type_print(w->out, (Type *)t);
}

/* `num` where one variable of the scheme is a number, but letters where there are two. */
static void show_rigid(const Show *w, const Type *t)
{
    uint32_t same = 0;
    for (uint32_t i = 0; w->signature && i < w->poly->n; i++)
        same += w->poly->rigids[i]->rigid.cls == t->rigid.cls;
    if (w->signature && t->rigid.cls != CLASS_ANY && same == 1)
        strbuf_add(w->out, type_class_name(t->rigid.cls));
    else
        strbuf_printf(w->out, w->signature ? "'%s" : "%s", t->rigid.name);
}

static void show_items(const Show *w, const Type *t)
{
    for (uint32_t i = 0; i < t->record.n; i++) {
        strbuf_add(w->out, !i ? "" : t->kind == TY_SUM ? " | " : ", ");
        if (is_cut(w)) {
            strbuf_add(w->out, "...");
            return;
        }
        if (t->kind == TY_RECORD)
            strbuf_printf(w->out, "%s: ", t->record.names[i]);
        if (t->kind == TY_SUM)
            strbuf_printf(w->out, t->record.items[i] ? "#%s " : "#%s", t->record.names[i]);
        if (t->kind == TY_SUM && t->record.items[i])
            show_closed(w, t->record.items[i], true);
        else if (t->record.items[i])
            show(w, t->record.items[i]);
    }
}

static void show_tuple(const Show *w, const Type *t)
{
    strbuf_add(w->out, "(");
    for (uint32_t i = 0; i < t->tuple.n; i++) {
        strbuf_add(w->out, i ? ", " : "");
        if (is_cut(w)) {
            strbuf_add(w->out, "...");
            break;
        }
        show(w, t->tuple.items[i]);
    }
    strbuf_add(w->out, ")");
}

static void show_structure(const Show *w, Type *t)
{
    switch (t->kind) {
    case TY_TUPLE: show_tuple(w, t); return;
    case TY_RECORD:
        strbuf_add(w->out, "{");
        show_items(w, t);
        strbuf_add(w->out, "}");
        return;
    case TY_SUM: show_items(w, t); return;
    case TY_ARRAY:
        strbuf_add(w->out, "[");
        show(w, t->element);
        strbuf_add(w->out, "]");
        return;
    case TY_FUN:
        show_closed(w, t->fun.from, true);
        strbuf_add(w->out, " -> ");
        show_closed(w, t->fun.to, false);
        return;
    case TY_VAR: show_var(w, t); return;
    case TY_RIGID: show_rigid(w, t); return;
    case TY_SCALAR:
    case TY_ERROR: type_print(w->out, t); return;
    }
}

static void show_name(const Show *w, const TypeAlias *alias)
{
    strbuf_add(w->out, alias->def->name);
    for (uint32_t i = 0; i < alias->n; i++) {
        TypeKind kind = type_prune(alias->args[i])->kind;
        bool parens = kind == TY_FUN || kind == TY_SUM;
        strbuf_add(w->out, parens ? " (" : " ");
        show(w, alias->args[i]);
        strbuf_add(w->out, parens ? ")" : "");
    }
}

static void show(const Show *w, Type *t)
{
    t = type_prune(t);
    Show inner = *w;
    inner.depth++;
    if (inner.depth > DEEPEST && !w->full) {
        strbuf_add(w->out, "...");
        return;
    }
    if (!t->alias || w->full) {
        show_structure(&inner, t);
        return;
    }
    StrBuf text = {0};
    inner.out = &text;
    show_structure(&inner, t);
    if (text.n > LONG_NAMED)
        show_name(w, t->alias);
    else
        strbuf_add(w->out, text.text);
    strbuf_free(&text);
}

static const char *shown(Checker *c, Show w, Type *t)
{
    StrBuf b = {0};
    w.out = &b;
    show(&w, t);
    const char *text = arena_strndup(c->arena, b.text, b.n);
    strbuf_free(&b);
    return text;
}

const char *describe_class(TypeClass cls)
{
    switch (cls) {
    case CLASS_NUM: return "a number";
    case CLASS_INT: return "an integer";
    case CLASS_FLOAT: return "a float";
    case CLASS_SCALAR: return "a scalar";
    case CLASS_ORD: return "a value that can be compared";
    case CLASS_ANY: return "_";
    }
    return "";
}

const char *describe_type(Checker *c, Type *t)
{
    t = type_prune(t);
    if (t->kind == TY_VAR && !t->var.declared)
        return describe_class(t->var.cls);
    return shown(c, (Show){0}, t);
}

const char *describe_structure(Checker *c, Type *t) { return shown(c, (Show){.full = true}, t); }

static void collect_letters(Show *w, Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_VAR:
        for (uint32_t i = 0; i < w->nletters; i++)
            if (w->letters[i] == t)
                return;
        if (w->nletters < MOST_LETTERS)
            w->letters[w->nletters++] = t;
        return;
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            collect_letters(w, t->tuple.items[i]);
        return;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++)
            if (t->record.items[i])
                collect_letters(w, t->record.items[i]);
        return;
    case TY_ARRAY: collect_letters(w, t->element); return;
    case TY_FUN:
        collect_letters(w, t->fun.from);
        collect_letters(w, t->fun.to);
        return;
    case TY_SCALAR:
    case TY_RIGID:
    case TY_ERROR: return;
    }
}

void describe_with_letters(Checker *c, Type *a, Type *b, const char **a_text, const char **b_text)
{
    Show w = {.letters = arena_array(c->arena, Type *, MOST_LETTERS)};
    collect_letters(&w, a);
    collect_letters(&w, b);
    *a_text = shown(c, w, a);
    *b_text = shown(c, w, b);
}

const char *describe_signature(Checker *c, const Poly *p)
{
    StrBuf b = {0};
    Show w = {.out = &b, .full = true, .signature = true, .poly = p};
    show(&w, p->type);
    const char *separator = " where ";
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t same = 0;
        TypeClass cls = p->rigids[i]->rigid.cls;
        for (uint32_t j = 0; j < p->n; j++)
            same += p->rigids[j]->rigid.cls == cls;
        if (cls == CLASS_ANY || same == 1)
            continue;
        strbuf_printf(&b, "%s'%s %s", separator, p->rigids[i]->rigid.name, type_class_name(cls));
        separator = ", ";
    }
    const char *text = arena_strndup(c->arena, b.text, b.n);
    strbuf_free(&b);
    return text;
}

/* ---- where two types differ ---- */

static bool items_compatible(Type **a, Type **b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i] && !types_compatible(a[i], b[i]))
            return false;
    }
    return true;
}

static bool var_may_be(const Type *var, Type *t)
{
    if (t->kind == TY_VAR)
        return !var->var.declared || !t->var.declared;
    if (var->var.declared)
        return false;
    if (t->kind == TY_SCALAR)
        return class_has_scalar(var->var.cls, t->scalar);
    return var->var.cls == CLASS_ANY || (var->var.cls == CLASS_ORD && t->kind != TY_FUN);
}

/* Of the same form on the outside? */
static bool same_shape(const Type *a, const Type *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TY_TUPLE: return a->tuple.n == b->tuple.n;
    case TY_RECORD:
    case TY_SUM:
        if (a->record.n != b->record.n)
            return false;
        for (uint32_t i = 0; i < a->record.n; i++) {
            if (a->record.names[i] != b->record.names[i] || !a->record.items[i] != !b->record.items[i])
                return false;
        }
        return true;
    case TY_ARRAY:
    case TY_FUN: return true;
    case TY_SCALAR:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: return false;
    }
    return false;
}

bool types_compatible(Type *a, Type *b)
{
    a = type_prune(a);
    b = type_prune(b);
    if (a == b || a->kind == TY_ERROR || b->kind == TY_ERROR)
        return true;
    if (a->kind == TY_VAR)
        return var_may_be(a, b);
    if (b->kind == TY_VAR)
        return var_may_be(b, a);
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR)
        return a->scalar == b->scalar;
    if (!same_shape(a, b))
        return false;
    if (a->kind == TY_ARRAY)
        return types_compatible(a->element, b->element);
    if (a->kind == TY_FUN)
        return types_compatible(a->fun.from, b->fun.from) && types_compatible(a->fun.to, b->fun.to);
    if (a->kind == TY_TUPLE)
        return items_compatible(a->tuple.items, b->tuple.items, a->tuple.n);
    return items_compatible(a->record.items, b->record.items, a->record.n);
}

Difference types_difference(Type *a, Type *b)
{
    Difference d = {type_prune(a), type_prune(b), 0, false};
    for (; d.depth <= DEEPEST && same_shape(d.a, d.b); d.depth++) {
        Type *left = d.a, *right = d.b, **as = left->tuple.items, **bs = right->tuple.items;
        uint32_t n = left->tuple.n;
        Type *from[2], *to[2];
        if (left->kind == TY_ARRAY) {
            as = &left->element;
            bs = &right->element;
            n = 1;
        } else if (left->kind == TY_FUN) {
            from[0] = left->fun.from, from[1] = left->fun.to;
            to[0] = right->fun.from, to[1] = right->fun.to;
            as = from;
            bs = to;
            n = 2;
        } else if (left->kind != TY_TUPLE) {
            as = left->record.items;
            bs = right->record.items;
            n = left->record.n;
        }
        uint32_t i = 0;
        while (i < n && (!as[i] || types_compatible(as[i], bs[i])))
            i++;
        if (i == n)
            return d; /* not a difference of structure */
        d.has_parts = d.has_parts || n > 1;
        d.a = type_prune(as[i]);
        d.b = type_prune(bs[i]);
    }
    return d;
}

/* ---- two types, one below the other ---- */

typedef struct Pair {
    StrBuf a, b, marks;
    bool aligned; /* else only the texts are wanted */
    bool shortened;
} Pair;

static void pad(StrBuf *out, size_t to, const char *with)
{
    while (out->n < to)
        strbuf_add(out, with);
}

static void put(Pair *p, const char *a, const char *b, bool differs)
{
    strbuf_add(&p->a, a);
    strbuf_add(&p->b, b);
    if (!p->aligned)
        return;
    size_t end = p->a.n > p->b.n ? p->a.n : p->b.n;
    pad(&p->marks, end, differs ? "^" : " ");
    pad(&p->a, end, " ");
    pad(&p->b, end, " ");
}

static void put_both(Pair *p, const char *text) { put(p, text, text, false); }

static void put_pair(Checker *c, Pair *p, Type *a, Type *b);

/* Neighbours that do not differ are left out together. */
static bool put_omitted(Pair *p, bool differs, bool *omitted)
{
    if (differs || !p->shortened)
        return *omitted = false;
    if (!*omitted)
        put_both(p, "...");
    return *omitted = true;
}

/* A function or a sum stands in parentheses behind a constructor, unless it has a name. */
static bool needs_parens(Checker *c, Type *t)
{
    TypeKind kind = type_prune(t)->kind;
    return (kind == TY_SUM || kind == TY_FUN) && strchr(shown(c, (Show){0}, t), ' ') != NULL;
}

static void put_item(Checker *c, Pair *p, Type *a, Type *b, bool in_sum)
{
    bool parens = in_sum && (needs_parens(c, a) || needs_parens(c, b));
    put_both(p, parens ? "(" : "");
    put_pair(c, p, a, b);
    put_both(p, parens ? ")" : "");
}

static void put_items(Checker *c, Pair *p, Type *a, Type *b)
{
    bool omitted = false;
    for (uint32_t i = 0; i < a->record.n; i++) {
        Type *left = a->record.items[i], *right = b->record.items[i];
        bool differs = left && !types_compatible(left, right);
        if (i && !(omitted && !differs))
            put_both(p, a->kind == TY_SUM ? " | " : ", ");
        if (put_omitted(p, differs, &omitted))
            continue;
        put_both(p, a->kind == TY_SUM ? "#" : "");
        put_both(p, a->record.names[i]);
        if (left) {
            put_both(p, a->kind == TY_SUM ? " " : ": ");
            put_item(c, p, left, right, a->kind == TY_SUM);
        }
    }
}

static void put_tuple(Checker *c, Pair *p, Type *a, Type *b)
{
    bool omitted = false;
    put_both(p, "(");
    for (uint32_t i = 0; i < a->tuple.n; i++) {
        bool differs = !types_compatible(a->tuple.items[i], b->tuple.items[i]);
        if (i && !(omitted && !differs))
            put_both(p, ", ");
        if (!put_omitted(p, differs, &omitted))
            put_pair(c, p, a->tuple.items[i], b->tuple.items[i]);
    }
    put_both(p, ")");
}

static void put_fun(Checker *c, Pair *p, Type *a, Type *b)
{
    bool parens = type_prune(a->fun.from)->kind == TY_FUN || type_prune(b->fun.from)->kind == TY_FUN;
    put_both(p, parens ? "(" : "");
    put_pair(c, p, a->fun.from, b->fun.from);
    put_both(p, parens ? ") -> " : " -> ");
    put_pair(c, p, a->fun.to, b->fun.to);
}

static void put_pair(Checker *c, Pair *p, Type *a, Type *b)
{
    a = type_prune(a);
    b = type_prune(b);
    bool differs = !types_compatible(a, b);
    if (!differs || !same_shape(a, b)) {
        const char *left = shown(c, (Show){0}, a), *right = shown(c, (Show){0}, b);
        bool is_long = strlen(left) > LONG_PART || strlen(right) > LONG_PART;
        if (!differs && p->shortened && is_long)
            left = right = "...";
        put(p, left, right, differs);
        return;
    }
    switch (a->kind) {
    case TY_TUPLE: put_tuple(c, p, a, b); return;
    case TY_RECORD:
        put_both(p, "{");
        put_items(c, p, a, b);
        put_both(p, "}");
        return;
    case TY_SUM: put_items(c, p, a, b); return;
    case TY_ARRAY:
        put_both(p, "[");
        put_pair(c, p, a->element, b->element);
        put_both(p, "]");
        return;
    case TY_FUN: put_fun(c, p, a, b); return;
    case TY_SCALAR:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: return; /* have no shape */
    }
}

static void free_pair(Pair *p)
{
    strbuf_free(&p->a);
    strbuf_free(&p->b);
    strbuf_free(&p->marks);
}

/* Without the blanks behind. */
static const char *trimmed(Checker *c, const StrBuf *b)
{
    size_t n = b->n;
    while (n > 0 && b->text[n - 1] == ' ')
        n--;
    return arena_strndup(c->arena, b->text, n);
}

void describe_pair(Checker *c, Type *a, Type *b, const char **a_text, const char **b_text)
{
    *a_text = describe_type(c, a);
    *b_text = describe_type(c, b);
    bool same = strcmp(*a_text, *b_text) == 0; /* two declared types of one name */
    if (same && types_difference(a, b).depth <= DEEPEST) {
        *a_text = describe_structure(c, a);
        *b_text = describe_structure(c, b);
    }
    if ((strlen(*a_text) <= LONG_TYPE && strlen(*b_text) <= LONG_TYPE) || types_compatible(a, b))
        return;
    if (!same_shape(type_prune(a), type_prune(b)) || types_difference(a, b).depth > DEEPEST)
        return;
    Pair p = {.shortened = true};
    put_pair(c, &p, a, b);
    if (strlen(*a_text) > LONG_TYPE) /* a declared name stays */
        *a_text = trimmed(c, &p.a);
    if (strlen(*b_text) > LONG_TYPE)
        *b_text = trimmed(c, &p.b);
    free_pair(&p);
}

void note_difference(Checker *c, Type *expected, Type *found)
{
    Difference d = types_difference(expected, found);
    if (types_compatible(expected, found) || !d.has_parts || d.depth > DEEPEST)
        return;
    Pair p = {.aligned = true};
    put_pair(c, &p, expected, found);
    if (p.a.n > LONG_TYPE) {
        free_pair(&p);
        p = (Pair){.aligned = true, .shortened = true};
        put_pair(c, &p, expected, found);
    }
    diag_note_text(c->s, "they differ here\nexpected %s\n   found %s\n         %s", trimmed(c, &p.a), trimmed(c, &p.b),
                   trimmed(c, &p.marks));
    free_pair(&p);
}
