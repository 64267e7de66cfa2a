#include "types/usefulness.h"

#include <string.h>

/* A row is a list of patterns, so that rows share their tails; a NULL pattern takes every value. */
typedef struct Row {
    const Pat *pat;
    const struct Row *next;
} Row;
typedef struct Matrix {
    const Row **rows;
    uint32_t n;
} Matrix;
/* The types of the columns. */
typedef struct Columns {
    Type *type;
    const struct Columns *next;
} Columns;

typedef enum ConstructorKind { CON_PRODUCT, CON_SUM, CON_BOOL, CON_INT, CON_FLOAT, CON_TEXT } ConstructorKind;
typedef struct Constructor {
    ConstructorKind kind;
    bool negative, is_char; /* CON_INT */
    union {
        uint32_t index;     /* CON_SUM: among the type's; CON_BOOL: 0, 1 */
        uint64_t magnitude; /* CON_INT */
        double value;       /* CON_FLOAT */
        struct {
            const uint8_t *bytes;
            uint32_t n;
        } text; /* CON_TEXT */
    };
} Constructor;

/* A value that is missed, as far as it matters: `any` stands for all. */
typedef struct Example {
    bool any;
    Type *type;
    Constructor con;
    const struct Example **args;
} Example;
static const Example anything = {.any = true};
/* One for each column; where the list ends early, the rest are any. */
typedef struct Examples {
    const Example *head;
    const struct Examples *next;
} Examples;

enum { MOST_FOUND = MOST_MISSED + 1 };
typedef struct Missed {
    const Examples *at[MOST_FOUND];
    uint32_t n;
    bool more;
} Missed;

/* What one list of patterns costs against the work bound; looking at one costs 1. */
enum { CELL_WORK = 16, DEEPEST = 10000 };

typedef struct Search {
    Arena *scratch;
    uint64_t left;
    uint32_t depth;
    bool gave_up;
} Search;

static bool spend(Search *s, uint64_t work)
{
    if (s->left < work)
        s->gave_up = true;
    else
        s->left -= work;
    return !s->gave_up;
}

static bool go_down(Search *s)
{
    if (++s->depth > DEEPEST)
        s->gave_up = true;
    return spend(s, CELL_WORK);
}

/* ---- constructors of a type ---- */

static uint32_t name_index(const Type *t, Name name)
{
    uint32_t i = 0;
    while (i < t->record.n && t->record.names[i] != name)
        i++;
    return i;
}

/* The pattern that decides: NULL where every value is taken. */
static const Pat *head_of(const Pat *p)
{
    while (p && p->kind == PAT_ASCRIBE)
        p = p->ascribe.pat;
    return p && p->kind != PAT_NAME && p->kind != PAT_WILD ? p : NULL;
}

/* As f32 a literal is what it is rounded to. */
static Constructor float_constructor(const Type *t, double value)
{
    if (t->kind == TY_SCALAR && t->scalar == SC_F32)
        value = (double)(float)value;
    return (Constructor){.kind = CON_FLOAT, .value = value};
}

static bool is_float(const Type *t)
{
    return (t->kind == TY_SCALAR && scalar_is_float(t->scalar)) || (t->kind == TY_RIGID && t->rigid.cls == CLASS_FLOAT);
}

static Constructor literal_constructor(const Type *t, const Expr *e)
{
    switch (e->kind) {
    case E_BOOL: return (Constructor){.kind = CON_BOOL, .index = e->boolean};
    case E_CHAR: return (Constructor){.kind = CON_INT, .is_char = true, .magnitude = e->character};
    case E_FLOAT: return float_constructor(t, e->floating.value);
    case E_STRING: return (Constructor){.kind = CON_TEXT, .text = {e->string.bytes, e->string.n}};
    default: break;
    }
    uint64_t magnitude = e->integer.magnitude;
    bool negative = e->integer.negative && magnitude > 0;
    if (is_float(t))
        return float_constructor(t, negative ? -(double)magnitude : (double)magnitude);
    return (Constructor){.kind = CON_INT, .negative = negative, .magnitude = magnitude};
}

/* Of a pattern that is a head. */
static Constructor constructor_of(const Pat *p, const Type *t)
{
    if (p->kind == PAT_LITERAL)
        return literal_constructor(t, p->literal);
    if (p->kind == PAT_CTOR)
        return (Constructor){.kind = CON_SUM, .index = name_index(t, p->ctor.name)};
    return (Constructor){.kind = CON_PRODUCT};
}

static bool same_constructor(const Constructor *a, const Constructor *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CON_PRODUCT: return true;
    case CON_SUM:
    case CON_BOOL: return a->index == b->index;
    case CON_INT: return a->negative == b->negative && a->magnitude == b->magnitude;
    case CON_FLOAT: return a->value == b->value;
    case CON_TEXT: return a->text.n == b->text.n && memcmp(a->text.bytes, b->text.bytes, a->text.n) == 0;
    }
    return false;
}

/* How many constructors the type has; 0 where there are too many to count them. */
static uint32_t constructor_count(const Type *t)
{
    if (t->kind == TY_TUPLE || t->kind == TY_RECORD)
        return 1;
    if (t->kind == TY_SUM)
        return t->record.n;
    if (t->kind != TY_SCALAR)
        return 0;
    if (t->scalar == SC_BOOL)
        return 2;
    uint32_t bytes = scalar_bytes(t->scalar);
    return bytes <= 2 ? 1u << 8 * bytes : 0;
}

static bool is_small_int(const Type *t)
{
    return t->kind == TY_SCALAR && scalar_is_int(t->scalar) && constructor_count(t) > 0;
}

/* The number of a constructor, where they are counted: 0, 1, …, and behind these -1, -2, … */
static uint32_t constructor_index(const Constructor *k, uint32_t count)
{
    if (k->kind == CON_PRODUCT)
        return 0;
    if (k->kind == CON_INT) /* of a literal out of range nothing else is said */
        return (uint32_t)((k->negative ? count - k->magnitude : k->magnitude) & (count - 1));
    return k->index;
}

static Constructor indexed_constructor(const Type *t, uint32_t index, uint32_t count)
{
    if (t->kind == TY_TUPLE || t->kind == TY_RECORD)
        return (Constructor){.kind = CON_PRODUCT};
    if (t->kind == TY_SUM)
        return (Constructor){.kind = CON_SUM, .index = index};
    if (t->scalar == SC_BOOL)
        return (Constructor){.kind = CON_BOOL, .index = index};
    bool negative = scalar_is_signed(t->scalar) && index >= count / 2;
    return (Constructor){.kind = CON_INT, .negative = negative, .magnitude = negative ? count - index : index};
}

/* The types of a constructor's arguments. */
static Type **argument_types(Type *t, const Constructor *k, uint32_t *n)
{
    *n = 0;
    if (k->kind == CON_SUM) {
        *n = t->record.items[k->index] != NULL;
        return &t->record.items[k->index];
    }
    if (k->kind != CON_PRODUCT)
        return NULL;
    *n = t->kind == TY_TUPLE ? t->tuple.n : t->record.n;
    return t->kind == TY_TUPLE ? t->tuple.items : t->record.items;
}

/* ---- matrices ---- */

static const Row *push_row(Search *s, const Pat *p, const Row *next)
{
    spend(s, CELL_WORK);
    Row *row = arena_new(s->scratch, Row);
    *row = (Row){p, next};
    return row;
}

static const Pat *field_pattern(const Pat *p, Name name)
{
    for (uint32_t i = 0; i < p->record.n; i++)
        if (p->record.fields[i].name == name)
            return p->record.fields[i].pat;
    return NULL;
}

/* Argument i of the head p, which may be NULL. */
static const Pat *argument_pattern(const Pat *p, const Type *t, uint32_t i)
{
    if (!p)
        return NULL;
    if (p->kind == PAT_CTOR)
        return p->ctor.arg;
    return p->kind == PAT_TUPLE ? p->tuple.items[i] : field_pattern(p, t->record.names[i]);
}

/* May the row take values of that constructor? */
static bool takes(const Row *row, const Type *t, const Constructor *k)
{
    const Pat *p = head_of(row->pat);
    if (!p)
        return true;
    Constructor own = constructor_of(p, t);
    return same_constructor(&own, k);
}

static const Row *specialise_row(Search *s, const Row *row, const Type *t, uint32_t nargs)
{
    const Pat *p = head_of(row->pat);
    const Row *out = row->next;
    if (t->kind == TY_RECORD)
        spend(s, (uint64_t)nargs * nargs);
    for (uint32_t i = nargs; i-- > 0 && !s->gave_up;)
        out = push_row(s, argument_pattern(p, t, i), out);
    return out;
}

/* Room for n rows, none when the work is spent. */
static Matrix new_matrix(Search *s, uint32_t n)
{
    Matrix m = {0};
    if (spend(s, (uint64_t)n * sizeof *m.rows / 2))
        m.rows = arena_array(s->scratch, const Row *, n);
    return m;
}

static Matrix specialise(Search *s, const Matrix *m, Type *t, const Constructor *k, uint32_t nargs)
{
    uint32_t n = 0;
    spend(s, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        n += takes(m->rows[i], t, k);
    Matrix out = new_matrix(s, n);
    for (uint32_t i = 0; i < m->n && !s->gave_up; i++)
        if (takes(m->rows[i], t, k))
            out.rows[out.n++] = specialise_row(s, m->rows[i], t, nargs);
    return out;
}

static Matrix default_matrix(Search *s, const Matrix *m)
{
    uint32_t n = 0;
    spend(s, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        n += !head_of(m->rows[i]->pat);
    Matrix out = new_matrix(s, n);
    for (uint32_t i = 0; i < m->n && !s->gave_up; i++)
        if (!head_of(m->rows[i]->pat))
            out.rows[out.n++] = m->rows[i]->next;
    return out;
}

static const Columns *argument_columns(Search *s, Type **types, uint32_t n, const Columns *next)
{
    for (uint32_t i = n; i-- > 0;) {
        Columns *c = arena_new(s->scratch, Columns);
        *c = (Columns){type_prune(types[i]), next};
        next = c;
    }
    return next;
}

/* What the first column has: `heads` patterns that decide; which of `count` constructors, where these are counted. */
typedef struct Seen {
    bool *at;
    uint32_t count, distinct, heads;
} Seen;

static Seen seen_constructors(Search *s, const Matrix *m, Type *t)
{
    Seen seen = {0};
    spend(s, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        seen.heads += head_of(m->rows[i]->pat) != NULL;
    uint32_t count = seen.heads ? constructor_count(t) : 0;
    if (!spend(s, count / 2))
        return seen;
    seen.count = count;
    seen.at = arena_array(s->scratch, bool, count);
    for (uint32_t i = 0; count > 0 && i < m->n; i++) {
        const Pat *p = head_of(m->rows[i]->pat);
        if (!p)
            continue;
        Constructor k = constructor_of(p, t);
        uint32_t index = constructor_index(&k, count);
        seen.distinct += !seen.at[index];
        seen.at[index] = true;
    }
    return seen;
}

static bool complete(const Seen *seen) { return seen->count > 0 && seen->distinct == seen->count; }

/* ---- is a row useful? ---- */

static bool useful(Search *s, const Matrix *m, const Row *row, const Columns *columns);

/* `row` takes values of k. */
static bool useful_by(Search *s, const Matrix *m, const Row *row, const Columns *columns, const Constructor *k)
{
    uint32_t n;
    Type **types = argument_types(columns->type, k, &n);
    Matrix rest = specialise(s, m, columns->type, k, n);
    return useful(s, &rest, specialise_row(s, row, columns->type, n), argument_columns(s, types, n, columns->next));
}

static bool useful_any(Search *s, const Matrix *m, const Row *row, const Columns *columns)
{
    Seen seen = seen_constructors(s, m, columns->type);
    if (!complete(&seen)) {
        Matrix rest = default_matrix(s, m);
        return useful(s, &rest, row->next, columns->next);
    }
    for (uint32_t i = 0; i < seen.count && !s->gave_up; i++) {
        Constructor k = indexed_constructor(columns->type, i, seen.count);
        if (useful_by(s, m, row, columns, &k))
            return true;
    }
    return false;
}

static bool useful(Search *s, const Matrix *m, const Row *row, const Columns *columns)
{
    if (s->gave_up || m->n == 0 || !columns || !go_down(s))
        return m->n == 0;
    const Pat *p = head_of(row->pat);
    bool found;
    if (p) {
        Constructor k = constructor_of(p, columns->type);
        found = useful_by(s, m, row, columns, &k);
    } else {
        found = useful_any(s, m, row, columns);
    }
    s->depth--;
    return found;
}

/* ---- what is missed ---- */

static void missed(Search *s, const Matrix *m, const Columns *columns, Missed *out);

static Example *example_of(Search *s, Type *t, const Constructor *k)
{
    uint32_t n;
    Example *x = arena_new(s->scratch, Example);
    argument_types(t, k, &n);
    spend(s, CELL_WORK + n);
    *x = (Example){.type = t, .con = *k, .args = arena_array(s->scratch, const Example *, n)};
    for (uint32_t i = 0; i < n; i++)
        x->args[i] = &anything;
    return x;
}

static const Examples *push_example(Search *s, const Example *head, const Examples *next)
{
    spend(s, CELL_WORK);
    Examples *x = arena_new(s->scratch, Examples);
    *x = (Examples){head, next};
    return x;
}

static void add_missed(Missed *out, const Examples *x)
{
    if (out->n < MOST_FOUND)
        out->at[out->n++] = x;
}

/* What is missed among the values of one constructor. */
static void missed_by(Search *s, const Matrix *m, const Columns *columns, const Constructor *k, Missed *out)
{
    uint32_t n;
    Missed rest = {0};
    Type **types = argument_types(columns->type, k, &n);
    Matrix by = specialise(s, m, columns->type, k, n);
    missed(s, &by, argument_columns(s, types, n, columns->next), &rest);
    for (uint32_t i = 0; i < rest.n; i++) {
        const Examples *tail = rest.at[i];
        Example *x = example_of(s, columns->type, k);
        for (uint32_t j = 0; j < n && tail; j++, tail = tail->next)
            x->args[j] = tail->head;
        add_missed(out, push_example(s, x, tail));
    }
    out->more = out->more || rest.more;
}

static void missed_counted(Search *s, const Matrix *m, const Columns *columns, const Seen *seen, Missed *out)
{
    Missed rest = {0};
    Matrix others = default_matrix(s, m);
    if (!complete(seen))
        missed(s, &others, columns->next, &rest);
    out->more = rest.more;
    for (uint32_t i = 0; i < seen->count && out->n < MOST_FOUND && !s->gave_up; i++) {
        Constructor k = indexed_constructor(columns->type, i, seen->count);
        if (seen->at[i]) {
            missed_by(s, m, columns, &k, out);
            continue;
        }
        for (uint32_t j = 0; j < rest.n; j++)
            add_missed(out, push_example(s, example_of(s, columns->type, &k), rest.at[j]));
    }
}

static bool has_chars(const Matrix *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const Pat *p = head_of(m->rows[i]->pat);
        if (p && p->kind == PAT_LITERAL && p->literal->kind == E_CHAR)
            return true;
    }
    return false;
}

/* The shortest text of letters a that the column does not have. */
static Constructor new_text(Search *s, const Matrix *m, const Type *t)
{
    uint8_t *letters = arena_array(s->scratch, uint8_t, m->n);
    bool *taken = arena_array(s->scratch, bool, m->n + 1);
    memset(letters, 'a', m->n);
    Constructor k = {.kind = CON_TEXT, .text = {letters, 0}};
    for (uint32_t i = 0; i < m->n; i++) {
        const Pat *p = head_of(m->rows[i]->pat);
        k.text.n = p && p->literal->string.n < m->n ? p->literal->string.n : m->n;
        Constructor own = p ? constructor_of(p, t) : k;
        taken[k.text.n] = taken[k.text.n] || (p && same_constructor(&own, &k));
    }
    for (k.text.n = 0; taken[k.text.n];)
        k.text.n++;
    return k;
}

/* A small number, character or text that the column does not have. */
static Constructor new_literal(Search *s, const Matrix *m, Type *t, const Seen *seen)
{
    if (t->kind == TY_ARRAY)
        return new_text(s, m, t);
    bool *taken = seen->at;
    uint32_t n = seen->count;
    if (n == 0) { /* one of 0…m->n is free */
        n = m->n + 1;
        taken = arena_array(s->scratch, bool, n);
        for (uint32_t i = 0; i < m->n; i++) {
            const Pat *p = head_of(m->rows[i]->pat);
            Constructor k = p ? constructor_of(p, t) : (Constructor){.kind = CON_INT, .magnitude = n};
            if (k.kind == CON_INT && !k.negative && k.magnitude < n)
                taken[k.magnitude] = true;
            else if (k.kind == CON_FLOAT && k.value >= 0 && k.value < n && k.value == (double)(uint32_t)k.value)
                taken[(uint32_t)k.value] = true;
        }
    }
    bool chars = has_chars(m);
    uint32_t start = chars ? 'a' : 0, i = 0;
    while (taken[(start + i) % n])
        i++;
    i = (start + i) % n;
    if (seen->count) {
        Constructor k = indexed_constructor(t, i, n);
        k.is_char = chars;
        return k;
    }
    return is_float(t) ? float_constructor(t, i) : (Constructor){.kind = CON_INT, .magnitude = i};
}

/* Where another literal is missed, one stands for them all. Where none is, the default rows cover everything. */
static void missed_literals(Search *s, const Matrix *m, const Columns *columns, const Seen *seen, Missed *out)
{
    Missed rest = {0};
    Matrix others = default_matrix(s, m);
    missed(s, &others, columns->next, &rest);
    if (rest.n == 0 || s->gave_up)
        return;
    Constructor k = new_literal(s, m, columns->type, seen);
    for (uint32_t i = 0; i < rest.n; i++)
        add_missed(out, push_example(s, example_of(s, columns->type, &k), rest.at[i]));
    out->more = rest.more || !seen->count || seen->distinct + 1 < seen->count;
}

static void missed_first(Search *s, const Matrix *m, const Columns *columns, Missed *out)
{
    Seen seen = seen_constructors(s, m, columns->type);
    if (seen.heads == 0) {
        Missed rest = {0};
        Matrix others = default_matrix(s, m);
        missed(s, &others, columns->next, &rest);
        for (uint32_t i = 0; i < rest.n; i++)
            add_missed(out, push_example(s, &anything, rest.at[i]));
        out->more = rest.more;
    } else if (seen.count == 0 || (is_small_int(columns->type) && !complete(&seen))) {
        missed_literals(s, m, columns, &seen, out);
    } else {
        missed_counted(s, m, columns, &seen, out);
    }
}

static void missed(Search *s, const Matrix *m, const Columns *columns, Missed *out)
{
    if (s->gave_up || !go_down(s))
        return;
    if (m->n == 0)
        add_missed(out, NULL); /* everything */
    else if (columns)
        missed_first(s, m, columns, out);
    s->depth--;
}

/* ---- examples as text ---- */

static void print_example(StrBuf *out, const Example *x);

static void print_argument(StrBuf *out, const Example *x)
{
    uint32_t n = 0;
    if (!x->any)
        argument_types(x->type, &x->con, &n);
    bool parens = !x->any && (x->con.kind == CON_SUM ? n > 0 : x->con.kind == CON_INT && x->con.negative);
    strbuf_add(out, parens ? " (" : " ");
    print_example(out, x);
    strbuf_add(out, parens ? ")" : "");
}

static void print_product(StrBuf *out, const Example *x)
{
    uint32_t n;
    argument_types(x->type, &x->con, &n);
    bool record = x->type->kind == TY_RECORD;
    strbuf_add(out, record ? "{" : "(");
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(out, i ? ", " : "");
        if (record)
            strbuf_printf(out, "%s = ", x->type->record.names[i]);
        print_example(out, x->args[i]);
    }
    strbuf_add(out, record ? "}" : ")");
}

static void print_int(StrBuf *out, const Constructor *k)
{
    if (!k->is_char)
        strbuf_printf(out, "%s%llu", k->negative ? "-" : "", (unsigned long long)k->magnitude);
    else if (k->magnitude < ' ' || k->magnitude > '~' || k->magnitude == '\'' || k->magnitude == '\\')
        strbuf_printf(out, "'\\x%02x'", (unsigned)k->magnitude);
    else
        strbuf_printf(out, "'%c'", (char)k->magnitude);
}

static void print_example(StrBuf *out, const Example *x)
{
    if (x->any) {
        strbuf_add(out, "_");
        return;
    }
    switch (x->con.kind) {
    case CON_PRODUCT: print_product(out, x); return;
    case CON_SUM:
        strbuf_printf(out, "#%s", x->type->record.names[x->con.index]);
        if (x->type->record.items[x->con.index])
            print_argument(out, x->args[0]);
        return;
    case CON_BOOL: strbuf_add(out, x->con.index ? "true" : "false"); return;
    case CON_INT: print_int(out, &x->con); return;
    case CON_FLOAT: strbuf_printf(out, "%.1f", x->con.value); return; /* a small whole number */
    case CON_TEXT: strbuf_printf(out, "\"%.*s\"", (int)x->con.text.n, (const char *)x->con.text.bytes); return;
    }
}

/* ---- the cases of a match ---- */

static void find_missed(Arena *a, Search *s, const Matrix *m, const Columns *columns, MatchFacts *facts)
{
    Missed out = {0};
    missed(s, m, columns, &out);
    facts->exhaustive = out.n == 0;
    facts->nmissed = out.n < MOST_MISSED ? out.n : MOST_MISSED;
    facts->more_missed = out.more || out.n > MOST_MISSED;
    for (uint32_t i = 0; i < facts->nmissed && !s->gave_up; i++) {
        StrBuf text = {0};
        print_example(&text, out.at[i]->head); /* there are rows */
        facts->missed[i] = arena_strndup(a, text.text, text.n);
        strbuf_free(&text);
    }
}

static void find_redundant(Search *s, const Matrix *m, const Columns *columns, MatchFacts *facts)
{
    for (uint32_t i = 1; i < m->n && !s->gave_up; i++) {
        Matrix before = {m->rows, i};
        facts->redundant[i] = !useful(s, &before, m->rows[i], columns);
        for (uint32_t j = 0; facts->redundant[i] && j < i && facts->covered_by[i] == UINT32_MAX && !s->gave_up; j++) {
            Matrix one = {&m->rows[j], 1};
            if (!useful(s, &one, m->rows[i], columns))
                facts->covered_by[i] = j;
        }
    }
}

MatchFacts usefulness_of_cases(Arena *a, Type *subject, const MatchCase *cases, uint32_t n, uint64_t *work)
{
    Search s = {.scratch = arena_create(), .left = *work < MATCH_WORK ? *work : MATCH_WORK};
    uint64_t before = s.left;
    MatchFacts facts = {.redundant = arena_array(a, bool, n), .covered_by = arena_array(a, uint32_t, n)};
    Matrix m = {arena_array(s.scratch, const Row *, n), n};
    for (uint32_t i = 0; i < n; i++) {
        m.rows[i] = push_row(&s, cases[i].pat, NULL);
        facts.covered_by[i] = UINT32_MAX;
    }
    Columns column = {type_prune(subject), NULL};
    find_missed(a, &s, &m, &column, &facts);
    find_redundant(&s, &m, &column, &facts);
    facts.known = !s.gave_up;
    facts.exhaustive = facts.known && facts.exhaustive;
    *work -= before - s.left;
    arena_destroy(s.scratch);
    return facts;
}
