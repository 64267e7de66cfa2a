#include "lsp/features.h"
#include "support/embedded.h"
#include "support/ptrmap.h"
#include "syntax/ast_walk.h"
#include "syntax/build.h"
#include "syntax/tokens.h"

#include <ctype.h>
#include <dirent.h>
#include <string.h>

#include "parser.h"

/* The protocol's numbers. */
enum {
    ITEM_FUNCTION = 3,
    ITEM_FIELD = 5,
    ITEM_VARIABLE = 6,
    ITEM_MODULE = 9,
    ITEM_KEYWORD = 14,
    ITEM_CONSTRUCTOR = 20,
    ITEM_TYPE = 22
};

/* What is known: of the last text without mistakes in its grammar. */
typedef struct Items {
    Request *r;
    const Analysis *a;
    PtrMap seen; /* names */
    const char *separator;
    const Def *def; /* what the place is in; or NULL */
    uint32_t offset;
} Items;

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '\''; }

static bool is_internal_name(const char *name)
{
    const size_t n = strlen(name);
    return n > 2 && strcmp(name + n - 2, "__") == 0;
}

static void add_item(Items *x, const char *label, int kind, const char *detail, const char *doc)
{
    StrBuf *out = x->r->out;
    const Name name = intern_cstr(x->a->s, label);
    if (ptrmap_get(&x->seen, name) || is_internal_name(label))
        return;
    ptrmap_put(x->a->s->arena, &x->seen, name, x);
    strbuf_printf(out, "%s{\"label\":", x->separator);
    diag_json_string(out, label);
    strbuf_printf(out, ",\"kind\":%d", kind);
    if (detail && *detail) {
        strbuf_add(out, ",\"detail\":");
        diag_json_string(out, detail);
    }
    if (doc) {
        strbuf_add(out, ",\"documentation\":");
        diag_json_string(out, doc);
    }
    strbuf_add(out, "}");
    x->separator = ",";
}

static void add_typed_item(Items *x, const char *label, int kind, Type *t)
{
    StrBuf type = {0};
    print_known_type(&type, t);
    add_item(x, label, kind, type.text, NULL);
    strbuf_free(&type);
}

/* ---- definitions ---- */

static void add_def(Items *x, const Def *def)
{
    if (def->kind == DEF_IMPORT) {
        if (def->name)
            add_item(x, def->name, ITEM_MODULE, def->path, NULL);
        return;
    }
    StrBuf text = {0};
    add_signature(&text, x->a, &(Occurrence){.def = def});
    add_item(x, def->name,
             def->kind == DEF_TYPE ? ITEM_TYPE
             : def->nparams        ? ITEM_FUNCTION
                                   : ITEM_VARIABLE,
             text.text, def->doc);
    strbuf_free(&text);
}

static void add_module(Items *x, const Module *m)
{
    for (uint32_t i = 0; m && i < m->ndefs; i++)
        if (m == x->a->own || m->defs[i]->kind != DEF_IMPORT)
            add_def(x, m->defs[i]);
}

static void add_local(void *context, const Pat *p)
{
    Items *x = context;
    if (p->kind == PAT_NAME && p->span.start < x->offset)
        add_typed_item(x, p->name, ITEM_VARIABLE, x->a->checked->pat_types[p->id]);
}

static void add_local_function(void *context, Expr *e)
{
    Items *x = context;
    if (e->kind == E_LET_FUN && e->span.start < x->offset)
        add_def(x, e->let_fun.def);
}

static void add_everything(Items *x)
{
    static const char *const keywords[] = {"def",   "entry", "type", "import", "let",   "in", "if",   "then", "else",
                                           "match", "case",  "loop", "for",    "while", "do", "with", "true", "false"};
    if (x->def)
        ast_walk(x->def, &(AstVisitor){.context = x, .pat = add_local, .expr = add_local_function});
    add_module(x, x->a->own);
    for (uint32_t i = 0; x->a->own && i < x->a->own->ndefs; i++)
        if (x->a->own->defs[i]->kind == DEF_IMPORT && !x->a->own->defs[i]->name)
            add_module(x, x->a->own->defs[i]->module);
    add_module(x, x->a->modules.list.n ? x->a->modules.list.at[0] : NULL);
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
        add_item(x, builtin_texts[i].name, ITEM_FUNCTION, builtin_texts[i].type, NULL);
    for (Scalar s = 0; s < SCALAR_COUNT; s++)
        add_item(x, scalar_name(s), ITEM_TYPE, NULL, NULL);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        add_item(x, keywords[i], ITEM_KEYWORD, NULL, NULL);
}

/* ---- behind a dot ---- */

typedef struct Find {
    const Analysis *a;
    const char *name;
    size_t n;
    uint32_t offset;
    const Pat *found; /* the last before the offset */
} Find;

static bool is_name(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && memcmp(name, text, n) == 0;
}

static void find_local(void *context, const Pat *p)
{
    Find *f = context;
    if (p->kind == PAT_NAME && is_name(p->name, f->name, f->n) && (!f->found || p->span.start < f->offset))
        f->found = p;
}

static Type *type_of_name(const Items *x, const char *name, size_t n)
{
    Find f = {x->a, name, n, x->offset, NULL};
    if (x->def)
        ast_walk(x->def, &(AstVisitor){.context = &f, .pat = find_local});
    if (f.found)
        return x->a->checked->pat_types[f.found->id];
    for (uint32_t i = 0; i < x->a->checked->ndefs; i++)
        if (is_name(x->a->checked->defs[i].def->name, name, n))
            return x->a->checked->defs[i].scheme.type;
    return NULL;
}

static Type *type_of_field(Type *t, const char *name, size_t n)
{
    t = t ? type_prune(t) : NULL;
    for (uint32_t i = 0; t && t->kind == TY_RECORD && i < t->record.n; i++)
        if (is_name(t->record.names[i], name, n))
            return t->record.items[i];
    return NULL;
}

/* `chain` is what stands before the dot: x, x.y, M. */
static void add_members(Items *x, const char *chain, size_t n)
{
    size_t length = 0;
    while (length < n && chain[length] != '.')
        length++;
    for (uint32_t i = 0; length == n && i < x->a->own->ndefs; i++) {
        const Def *def = x->a->own->defs[i];
        if (def->kind == DEF_IMPORT && def->name && is_name(def->name, chain, n)) {
            add_module(x, def->module);
            return;
        }
    }
    Type *t = type_of_name(x, chain, length);
    while (t && length < n) {
        const char *field = chain + length + 1;
        size_t m = 0;
        while (length + 1 + m < n && field[m] != '.')
            m++;
        t = type_of_field(t, field, m);
        length += 1 + m;
    }
    t = t ? type_prune(t) : NULL;
    for (uint32_t i = 0; t && t->kind == TY_RECORD && i < t->record.n; i++)
        add_typed_item(x, t->record.names[i], ITEM_FIELD, t->record.items[i]);
}

/* ---- constructors, modules ---- */

static void add_constructors_of(void *context, const TypeExpr *t)
{
    for (uint32_t i = 0; t->kind == TE_SUM && i < t->record.n; i++)
        add_item(context, t->record.fields[i].name, ITEM_CONSTRUCTOR, NULL, NULL);
}

static void add_constructors(Items *x)
{
    for (uint32_t m = 0; m < x->a->modules.list.n; m++)
        for (uint32_t i = 0; i < x->a->modules.list.at[m]->ndefs; i++)
            ast_walk(x->a->modules.list.at[m]->defs[i], &(AstVisitor){.context = x, .type = add_constructors_of});
}

/* A file `name` of a folder, as an import says it. */
static void add_file(Items *x, const char *name, const char *own)
{
    const size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, ".dp") == 0 && strcmp(name, own) != 0)
        add_item(x, arena_strndup(x->a->s->arena, name, n - 3), ITEM_MODULE, NULL, NULL);
}

/* The files beside the document, or in the folder that is typed already: `typed` begins behind the quote. */
static void add_files(Items *x, const char *typed, size_t n)
{
    const char *path = x->r->document->path, *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
    while (n > 0 && typed[n - 1] != '/')
        n--;
    const char *folder = arena_printf(x->a->s->arena, "%.*s%.*s", (int)(own - path), path, (int)n, typed);
    DIR *dir = *path == '/' ? opendir(folder) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        add_file(x, e->d_name, n ? "" : own);
    if (dir)
        closedir(dir);
}

static void add_modules(Items *x)
{
    for (const EmbeddedFile *f = embedded_files; f->name; f++) {
        const char *name = embedded_module(f);
        if (name)
            add_item(x, arena_strndup(x->a->s->arena, name, strlen(name) - 3), ITEM_MODULE, NULL, NULL);
    }
}

/* The import's path that is being typed, from behind its quote on; NULL: this is none. */
static const char *path_typed(const char *text, uint32_t offset)
{
    uint32_t start = offset;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    const char *line = text + start + strspn(text + start, " \t");
    const size_t n = (size_t)(text + offset - line);
    const char *quote = line <= text + offset && n > 6 && strncmp(line, "import", 6) == 0 ? memchr(line, '"', n) : NULL;
    return quote && !memchr(quote + 1, '"', (size_t)(text + offset - quote - 1)) ? quote + 1 : NULL;
}

void lsp_completion(Request *r)
{
    const Analysis *good = r->document->good;
    const char *text = r->a->s->files.at[r->a->file]->text;
    uint32_t start = r->offset;
    while (start > 0 && is_name_char(text[start - 1]))
        start--;
    strbuf_add(r->out, "{\"isIncomplete\":false,\"items\":[");
    if (good && good->checked && good->own) {
        Items x = {.r = r, .a = good, .separator = "", .def = analysis_def_at(good, r->offset), .offset = r->offset};
        uint32_t chain = start;
        while (chain > 0 && (is_name_char(text[chain - 1]) || text[chain - 1] == '.'))
            chain--;
        const char *typed = path_typed(text, r->offset);
        if (typed) {
            add_files(&x, typed, (size_t)(text + r->offset - typed));
            add_modules(&x);
        } else if (start > 0 && text[start - 1] == '#') {
            add_constructors(&x);
        } else if (start > chain) {
            add_members(&x, text + chain, start - 1 - chain);
        } else {
            add_everything(&x);
        }
    }
    strbuf_add(r->out, "]}");
}

/* ---- signatures ---- */

typedef struct Call {
    Span name;
    uint32_t arg; /* at the place */
} Call;

static bool is_opening(int kind)
{
    return kind == T_PAREN_OPEN || kind == T_ARRAY_OPEN || kind == T_BRACE_OPEN || kind == T_INDEX_OPEN;
}
static bool is_closing(int kind) { return kind == T_PAREN_CLOSE || kind == T_BRACKET_CLOSE || kind == T_BRACE_CLOSE; }

static bool is_atom(int kind)
{
    return kind == T_NAME || kind == T_INT || kind == T_FLOAT || kind == T_CHAR || kind == T_STRING || kind == T_TRUE ||
           kind == T_FALSE || kind == T_CTOR || kind == T_PROJECTION;
}

/* The token that the one at i closes, or -1. */
static int64_t opening_of(const TokenList *tokens, int64_t i)
{
    uint32_t depth = 0;
    for (; i >= 0; i--) {
        depth += is_closing(tokens->at[i].kind);
        depth -= is_opening(tokens->at[i].kind);
        if (depth == 0)
            return i;
    }
    return -1;
}

/* Where the operand that ends at token i begins: x, x.y, x[i], (…). */
static int64_t operand_start(const TokenList *tokens, int64_t i)
{
    while (i >= 0) {
        if (is_closing(tokens->at[i].kind)) {
            i = opening_of(tokens, i);
            if (i > 0 && tokens->at[i].kind == T_INDEX_OPEN) {
                i--;
                continue;
            }
        }
        if (i < 2 || tokens->at[i - 1].kind != T_DOT)
            return i;
        i -= 2;
    }
    return i;
}

/* The application around the place: operands side by side, the first of them a name. */
static bool call_at(const TokenList *tokens, uint32_t offset, Call *call)
{
    int64_t i = 0;
    while (i < tokens->n && tokens->at[i].kind != T_END && tokens->at[i].span.end <= offset)
        i++;
    const bool inside = i < tokens->n && tokens->at[i].span.start < offset && is_atom(tokens->at[i].kind);
    i -= !inside;
    for (uint32_t operands = 0;; operands++) {
        const bool goes_on = i >= 0 && (is_atom(tokens->at[i].kind) || is_closing(tokens->at[i].kind));
        const int64_t start = goes_on ? operand_start(tokens, i) : -1;
        if (!goes_on) {
            const Span at = call->name;
            if (operands && at.end > at.start) {
                const bool behind = !inside && tokens->at[0].span.start < offset;
                call->arg = operands - 1 - (behind ? 0 : 1);
                return operands > 1 || behind;
            }
            return false;
        }
        if (start < 0)
            return false;
        call->name = tokens->at[i].kind == T_NAME ? tokens->at[i].span : SPAN_NONE;
        i = start - 1;
    }
}

static const Def *find_def(const Analysis *a, const char *name, size_t n)
{
    const Def *found = NULL;
    for (uint32_t i = 0; i < a->checked->ndefs; i++) {
        const DefInfo *info = &a->checked->defs[i];
        if (is_name(info->def->name, name, n) && (!found || info->module == a->own))
            found = info->def;
    }
    return found;
}

static void add_signature_json(StrBuf *out, const char *label, uint32_t arg, uint32_t nparams, const uint32_t *spans,
                               const char *doc)
{
    strbuf_add(out, "{\"signatures\":[{\"label\":");
    diag_json_string(out, label);
    if (doc) {
        strbuf_add(out, ",\"documentation\":");
        diag_json_string(out, doc);
    }
    strbuf_add(out, ",\"parameters\":[");
    for (uint32_t i = 0; i < nparams; i++)
        strbuf_printf(out, "%s{\"label\":[%u,%u]}", i ? "," : "", spans[2 * i], spans[2 * i + 1]);
    strbuf_printf(out, "]}],\"activeSignature\":0,\"activeParameter\":%u}", arg);
}

static void show_def(Request *r, const Analysis *a, const Def *def, uint32_t arg)
{
    StrBuf label = {0};
    uint32_t *spans = arena_array(a->s->arena, uint32_t, 2 * def->nparams + 2);
    strbuf_add(&label, def->name);
    for (uint32_t i = 0; i < def->nparams; i++) {
        const Pat *p = def->params[i];
        const SourceFile *file = a->s->files.at[p->span.file];
        StrBuf type = {0};
        strbuf_add(&label, " ");
        spans[2 * i] = (uint32_t)label.n;
        if (p->kind == PAT_NAME)
            print_known_type(&type, a->checked->pat_types[p->id]);
        if (type.n)
            strbuf_printf(&label, "(%s: %s)", p->name, type.text);
        else
            strbuf_addn(&label, file->text + p->span.start, p->span.end - p->span.start);
        spans[2 * i + 1] = (uint32_t)label.n;
        strbuf_free(&type);
    }
    Type *result = a->checked->expr_types[def->body->id];
    strbuf_add(&label, result ? " : " : "");
    print_known_type(&label, result);
    add_signature_json(r->out, label.text, arg, def->nparams, spans, def->doc);
    strbuf_free(&label);
}

static bool show_builtin(Request *r, const char *name, size_t n, uint32_t arg)
{
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
        const BuiltinText *b = &builtin_texts[i];
        if (!is_name(b->name, name, n))
            continue;
        uint32_t spans[16], count = 0;
        StrBuf label = {0};
        strbuf_add(&label, b->name);
        for (const char *p = b->parameters; *p && count < 8; p += strspn(p, " "), count++) {
            const size_t length = strcspn(p, " ");
            strbuf_add(&label, " ");
            spans[2 * count] = (uint32_t)label.n;
            strbuf_addn(&label, p, length);
            spans[2 * count + 1] = (uint32_t)label.n;
            p += length;
        }
        strbuf_printf(&label, " : %s", b->type);
        add_signature_json(r->out, label.text, arg, count, spans, NULL);
        strbuf_free(&label);
        return true;
    }
    return false;
}

void lsp_signature_help(Request *r)
{
    const Analysis *good = r->document->good;
    TokenList tokens = {0};
    Call call = {SPAN_NONE, 0};
    Session *s = session_create();
    const uint32_t file = source_add_text(s, "text", r->document->text, r->document->n, false);
    scan_tokens(s, file, &tokens);
    bool shown = false;
    if (good && good->checked && tokens.n && call_at(&tokens, r->offset, &call)) {
        const char *name = r->document->text + call.name.start;
        const size_t n = call.name.end - call.name.start;
        const Def *def = find_def(good, name, n);
        shown = def && def->kind == DEF_VALUE && def->nparams;
        if (shown)
            show_def(r, good, def, call.arg);
        else
            shown = show_builtin(r, name, n, call.arg);
    }
    if (!shown)
        strbuf_add(r->out, "null");
    session_destroy(s);
}
