/* Types from their text, as the compiler prints them. */
#include "dp_output.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TYPE_DEPTH = 200, MAX_ITEMS = DP_MAX_CONSTRUCTORS, MAX_LEAVES = 1 << 16 };

typedef struct Parser {
    const char *at;
    uint32_t depth;
} Parser;

static void skip_blanks(Parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static bool take(Parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name_byte(char c) { return is_name_start(c) || (c >= '0' && c <= '9') || c == '\''; }

/* A name, copied; NULL if there is none. */
static char *take_name(Parser *p)
{
    skip_blanks(p);
    size_t n = 0;
    if (is_name_start(*p->at))
        while (is_name_byte(p->at[n]))
            n++;
    if (n == 0)
        return NULL;
    char *name = malloc(n + 1);
    if (name) {
        memcpy(name, p->at, n);
        name[n] = '\0';
        p->at += n;
    }
    return name;
}

static DpType *new_type(DpTypeKind kind)
{
    DpType *t = calloc(1, sizeof *t);
    if (t)
        t->kind = kind;
    return t;
}

void dp_type_free(DpType *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->names)
            free(t->names[i]);
        dp_type_free(t->items[i]);
    }
    free(t->names);
    free(t->items);
    free(t->order);
    dp_type_free(t->element);
    free(t);
}

static DpType *discard(DpType *t)
{
    dp_type_free(t);
    return NULL;
}

/* Takes ownership of name and item, also when it fails. */
static bool add_item(DpType *t, char *name, DpType *item)
{
    DpType **items = t->n < MAX_ITEMS ? realloc(t->items, (t->n + 1) * sizeof *items) : NULL;
    if (items)
        t->items = items;
    char **names = items && t->kind != DP_T_TUPLE ? realloc(t->names, (t->n + 1) * sizeof *names) : NULL;
    if (names)
        t->names = names;
    if (!items || (t->kind != DP_T_TUPLE && !names)) {
        free(name);
        dp_type_free(item);
        return false;
    }
    if (names)
        names[t->n] = name;
    items[t->n++] = item;
    return true;
}

typedef struct Item {
    char *name;
    DpType *type;
    uint32_t written; /* its place */
} Item;

static int compare_items(const void *a, const void *b)
{
    return strcmp(((const Item *)a)->name, ((const Item *)b)->name);
}

/* By name. False if a name stands twice, or memory runs out. */
static bool sort_items(DpType *t)
{
    Item *items = malloc(((size_t)t->n + 1) * sizeof *items);
    t->order = malloc(((size_t)t->n + 1) * sizeof *t->order);
    if (!items || !t->order) {
        free(items);
        return false;
    }
    for (uint32_t i = 0; i < t->n; i++)
        items[i] = (Item){t->names[i], t->items[i], i};
    qsort(items, t->n, sizeof *items, compare_items);
    bool ok = true;
    for (uint32_t i = 0; i < t->n; i++) {
        t->names[i] = items[i].name;
        t->items[i] = items[i].type;
        t->order[items[i].written] = i;
        ok = ok && (i == 0 || strcmp(t->names[i - 1], t->names[i]) != 0);
    }
    free(items);
    return ok;
}

static DpType *parse_type(Parser *p);

/* `(` is read: unit, a type in parentheses, or a tuple. */
static DpType *parse_tuple(Parser *p)
{
    DpType *t = new_type(DP_T_TUPLE);
    bool comma = false;
    while (t && !take(p, ')')) {
        DpType *item = t->n == 0 || comma ? parse_type(p) : NULL;
        if (!item || !add_item(t, NULL, item))
            return discard(t);
        comma = take(p, ',');
    }
    if (t && t->n == 1 && !comma) {
        DpType *inner = t->items[0];
        t->items[0] = NULL;
        dp_type_free(t);
        return inner;
    }
    return t;
}

static DpType *parse_record(Parser *p)
{
    DpType *t = new_type(DP_T_RECORD);
    bool comma = true;
    while (t && !take(p, '}')) {
        char *name = comma ? take_name(p) : NULL;
        DpType *item = name && take(p, ':') ? parse_type(p) : NULL;
        if (!item) {
            free(name);
            return discard(t);
        }
        if (!add_item(t, name, item))
            return discard(t);
        comma = take(p, ',');
    }
    return t && sort_items(t) ? t : discard(t);
}

static DpType *array_of(DpType *element)
{
    DpType *t = element ? new_type(DP_T_ARRAY) : NULL;
    if (!t)
        return discard(element);
    t->element = element;
    return t;
}

static DpType *parse_atom(Parser *p);

/* `[` is read: [t], or [n]t with a size, which makes no difference outside the program. */
static DpType *parse_array(Parser *p)
{
    Parser start = *p;
    skip_blanks(p);
    while (is_name_byte(*p->at))
        p->at++;
    if (p->at != start.at && take(p, ']')) {
        skip_blanks(p);
        if (*p->at == '[' || *p->at == '(' || *p->at == '{' || is_name_start(*p->at))
            return array_of(parse_atom(p));
    }
    *p = start;
    DpType *element = parse_type(p);
    if (element && !take(p, ']'))
        return discard(element);
    return array_of(element);
}

static DpType *scalar_type(DpScalar s)
{
    DpType *t = new_type(DP_T_SCALAR);
    if (t)
        t->scalar = s;
    return t;
}

/* A scalar, or `text`. */
static DpType *parse_name(Parser *p)
{
    char *name = take_name(p);
    DpType *t = NULL;
    for (int s = 0; name && s < DP_SCALAR_COUNT; s++)
        if (strcmp(name, dp_scalar_name((DpScalar)s)) == 0)
            t = scalar_type((DpScalar)s);
    if (name && strcmp(name, "text") == 0 && (t = array_of(scalar_type(DP_U8))))
        t->is_text = true;
    free(name);
    return t;
}

static DpType *parse_atom(Parser *p)
{
    if (++p->depth > MAX_TYPE_DEPTH)
        return NULL;
    DpType *t = take(p, '(')   ? parse_tuple(p)
                : take(p, '{') ? parse_record(p)
                : take(p, '[') ? parse_array(p)
                               : parse_name(p);
    p->depth--;
    return t;
}

/* #a t | #b */
static DpType *parse_sum(Parser *p)
{
    DpType *t = new_type(DP_T_SUM);
    do {
        char *name = t && take(p, '#') ? take_name(p) : NULL;
        if (!name)
            return discard(t);
        skip_blanks(p);
        bool has_payload = *p->at && !strchr("|,)]}", *p->at);
        DpType *item = has_payload ? parse_atom(p) : NULL;
        if (has_payload && !item) {
            free(name);
            return discard(t);
        }
        if (!add_item(t, name, item))
            return discard(t);
    } while (take(p, '|'));
    return sort_items(t) ? t : discard(t);
}

static DpType *parse_type(Parser *p)
{
    skip_blanks(p);
    return *p->at == '#' ? parse_sum(p) : parse_atom(p);
}

static uint64_t count_leaves(const DpType *t)
{
    uint64_t n = t->kind == DP_T_SUM;
    switch (t->kind) {
    case DP_T_SCALAR: return 1;
    case DP_T_ARRAY: return count_leaves(t->element);
    case DP_T_TUPLE:
    case DP_T_RECORD:
        if (t->n == 0)
            return 1;
        break;
    case DP_T_SUM: break;
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i])
            n += count_leaves(t->items[i]);
    return n;
}

DpScalar dp_tag_scalar(uint32_t n) { return n <= 1u << 8 ? DP_U8 : n <= 1u << 16 ? DP_U16 : DP_U32; }

uint32_t dp_type_leaves(const DpType *t) { return (uint32_t)count_leaves(t); }

uint32_t dp_type_leaves_before(const DpType *t, uint32_t item)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < item; i++)
        if (t->items[i])
            n += dp_type_leaves(t->items[i]);
    return n;
}

bool dp_type_is_option(const DpType *t, uint32_t *none, uint32_t *some)
{
    if (t->kind != DP_T_SUM || t->n != 2)
        return false;
    *none = strcmp(t->names[0], "none") == 0 ? 0 : 1;
    *some = 1 - *none;
    return strcmp(t->names[*none], "none") == 0 && !t->items[*none] && t->items[*some];
}

static uint32_t max_rank(const DpType *t)
{
    if (t->kind == DP_T_ARRAY)
        return 1 + max_rank(t->element);
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t rank = t->items[i] ? max_rank(t->items[i]) : 0;
        most = rank > most ? rank : most;
    }
    return most;
}

DpType *dp_type_parse(const char *text)
{
    Parser p = {text, 0};
    DpType *t = parse_type(&p);
    skip_blanks(&p);
    if (t && (*p.at || max_rank(t) > DP_MAX_RANK || count_leaves(t) > MAX_LEAVES))
        return discard(t);
    return t;
}

/* ---- comparing and printing ---- */

bool dp_type_equal(const DpType *a, const DpType *b)
{
    if (a->kind != b->kind || a->n != b->n || (a->kind == DP_T_SCALAR && a->scalar != b->scalar))
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->names && strcmp(a->names[i], b->names[i]) != 0)
            return false;
        if (!a->items[i] != !b->items[i] || (a->items[i] && !dp_type_equal(a->items[i], b->items[i])))
            return false;
    }
    return a->kind != DP_T_ARRAY || dp_type_equal(a->element, b->element);
}

static void print_type(FILE *out, const DpType *t, bool declared);

/* A payload: a sum in parentheses. */
static void print_payload(FILE *out, const DpType *t, bool declared)
{
    bool is_sum = t->kind == DP_T_SUM;
    fputs(is_sum ? " (" : " ", out);
    print_type(out, t, declared);
    fputs(is_sum ? ")" : "", out);
}

static void print_items(FILE *out, const DpType *t, bool declared)
{
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t item = declared && t->order ? t->order[i] : i;
        fputs(i ? ", " : "", out);
        if (t->kind == DP_T_RECORD)
            fprintf(out, "%s: ", t->names[item]);
        print_type(out, t->items[item], declared);
    }
    fputs(t->kind == DP_T_TUPLE && t->n == 1 ? "," : "", out);
}

static void print_type(FILE *out, const DpType *t, bool declared)
{
    switch (t->kind) {
    case DP_T_SCALAR: fputs(dp_scalar_name(t->scalar), out); break;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        fputs(t->kind == DP_T_TUPLE ? "(" : "{", out);
        print_items(out, t, declared);
        fputs(t->kind == DP_T_TUPLE ? ")" : "}", out);
        break;
    case DP_T_SUM:
        for (uint32_t i = 0; i < t->n; i++) {
            fprintf(out, "%s#%s", i ? " | " : "", t->names[i]);
            if (t->items[i])
                print_payload(out, t->items[i], declared);
        }
        break;
    case DP_T_ARRAY:
        if (declared && t->is_text) {
            fputs("text", out);
            break;
        }
        fputc('[', out);
        print_type(out, t->element, declared);
        fputc(']', out);
        break;
    }
}

char *dp_type_print(const DpType *t, bool declared)
{
    DpMemoryFile out;
    if (!dp_memory_open(&out))
        return NULL;
    print_type(out.file, t, declared);
    return dp_memory_close(&out);
}
