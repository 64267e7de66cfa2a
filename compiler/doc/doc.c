#include "doc/doc.h"

#include "cost/symbolic_report.h"
#include "syntax/ast_walk.h"
#include "testing/test_comments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EXAMPLES = 3 };

static void add_html(StrBuf *out, const char *text) { strbuf_add_html(out, text, strlen(text)); }

/* ---- links ---- */

/* Names that begin or end in `_` are the module's own. */
static bool doc_shows(const Def *def)
{
    const size_t n = def->name ? strlen(def->name) : 0;
    return def->kind != DEF_IMPORT && !def->is_property && def->name[0] != '_' &&
           (n <= 2 || strcmp(def->name + n - 2, "__") != 0);
}

typedef struct Page {
    StrBuf *out;
    Compilation *const *modules;
    uint32_t n;
    const Compilation *c; /* the module at hand */
} Page;

/* "stats" of "/a/stats.dp". */
static void module_name(const Compilation *c, const char **name, size_t *n)
{
    const char *slash = strrchr(c->path, '/');
    *name = slash ? slash + 1 : c->path;
    *n = strlen(*name);
    *n -= *n > 3 && strcmp(*name + *n - 3, ".dp") == 0 ? 3 : 0;
}

/* The same in each version of a page, so that others can lead there. Modules of one name have the path in it. */
static void add_anchor(const Page *p, const Compilation *c, const char *name)
{
    const char *text, *other;
    size_t n, m;
    bool is_only = true;
    module_name(c, &text, &n);
    for (uint32_t i = 0; i < p->n; i++) {
        module_name(p->modules[i], &other, &m);
        is_only = is_only && (p->modules[i] == c || n != m || memcmp(text, other, n) != 0);
    }
    text = is_only ? text : c->path;
    for (n = is_only ? n : strlen(text); n > 0; n--, text++)
        strbuf_addn(p->out, isalnum((unsigned char)*text) || strchr("_-./", *text) ? text : "-", 1);
    if (!name)
        return;
    strbuf_add(p->out, ".");
    add_html(p->out, name);
}

/* The module whose own file it is; or NULL. */
static const Compilation *file_on_page(const Page *p, uint32_t file)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (strcmp(p->modules[i]->path, p->c->session->files.at[file]->path) == 0)
            return p->modules[i];
    return NULL;
}

/* c: where the definition is; NULL: not on the page. */
static void add_link(const Page *p, const Compilation *c, const Def *def, const char *text, size_t n)
{
    const bool leads = c && doc_shows(def);
    if (leads) {
        strbuf_add(p->out, "<a href=\"#");
        add_anchor(p, c, def->name);
        strbuf_add(p->out, "\">");
    }
    strbuf_add_html(p->out, text, n);
    strbuf_add(p->out, leads ? "</a>" : "");
}

static bool is_name(const char *name, const char *text, size_t n)
{
    return name && strlen(name) == n && memcmp(name, text, n) == 0;
}

static const Def *find_in(const Module *m, const char *name, size_t n)
{
    for (uint32_t i = 0; m && i < m->ndefs; i++)
        if (m->defs[i]->kind != DEF_IMPORT && is_name(m->defs[i]->name, name, n))
            return m->defs[i];
    return NULL;
}

/* What `name` or `M.name` means in the module at hand; or NULL. */
static const Def *find_meant(const Page *p, const char *text, size_t n)
{
    const char *dot = memchr(text, '.', n);
    const Module *own = p->c->modules.list.at[1];
    const Def *found = dot ? NULL : find_in(own, text, n);
    for (uint32_t i = 0; !found && i < own->ndefs; i++) {
        const Def *import = own->defs[i];
        if (import->kind != DEF_IMPORT || !dot != !import->name)
            continue;
        if (!dot)
            found = find_in(import->module, text, n);
        else if (is_name(import->name, text, (size_t)(dot - text)))
            found = find_in(import->module, dot + 1, n - (size_t)(dot + 1 - text));
    }
    return found;
}

/* The name of a type in the text, and what it means. */
typedef struct TypeName {
    Span at;
    const Def *def;
} TypeName;
typedef struct TypeNames {
    const Compilation *c;
    VEC(TypeName) list;
} TypeNames;

static void find_type_name(void *context, const TypeExpr *t)
{
    TypeNames *names = context;
    const Def *def = t->kind == TE_NAME ? checked_type_def(names->c->checked, t) : NULL;
    TypeName name = {t->span, def};
    if (!def)
        return;
    name.at.end = t->span.start + (uint32_t)(strlen(t->name.name) + (t->name.module ? strlen(t->name.module) + 1 : 0));
    vec_push(names->c->session->arena, &names->list, name);
}

static int compare_type_names(const void *left, const void *right)
{
    const TypeName *a = left, *b = right;
    return a->at.start < b->at.start ? -1 : a->at.start > b->at.start;
}

/* The text of the definition from one place to another, in which the names of types lead to them. */
static void add_code(const Page *p, const Def *def, uint32_t from, uint32_t to)
{
    const char *text = p->c->session->files.at[def->span.file]->text;
    TypeNames names = {.c = p->c};
    ast_walk(def, &(AstVisitor){.context = &names, .type = find_type_name});
    if (names.list.n)
        qsort(names.list.at, names.list.n, sizeof *names.list.at, compare_type_names);
    for (uint32_t i = 0; i < names.list.n; i++) {
        const TypeName *name = &names.list.at[i];
        if (name->at.start < from || name->at.end > to)
            continue;
        strbuf_add_html(p->out, text + from, name->at.start - from);
        add_link(p, file_on_page(p, name->def->span.file), name->def, text + name->at.start,
                 name->at.end - name->at.start);
        from = name->at.end;
    }
    strbuf_add_html(p->out, text + from, to - from);
}

/* Prose, with code between backticks; that is a link where it is the name of a definition. */
static void add_prose(const Page *p, const char *text)
{
    for (bool code = false; *text; code = !code) {
        const size_t n = strcspn(text, "`");
        const Def *meant = code ? find_meant(p, text, n) : NULL;
        strbuf_add(p->out, code ? "<code>" : "");
        if (meant)
            add_link(p, file_on_page(p, meant->span.file), meant, text, n);
        else
            strbuf_add_html(p->out, text, n);
        strbuf_add(p->out, code ? "</code>" : "");
        text += n + (text[n] == '`');
    }
}

/* ---- a definition ---- */

/* As it is written, up to the `=`; of a type all of it. Its own name leads to itself, so that the place can be copied.
 */
static void add_head(const Page *p, const Def *def)
{
    const char *text = p->c->session->files.at[def->span.file]->text;
    const uint32_t last = def->nparams ? def->params[def->nparams - 1]->span.end : def->name_span.end;
    uint32_t end = def->kind == DEF_TYPE ? def->span.end : def->result ? def->result->span.end : last;
    for (; def->kind == DEF_VALUE && !def->result && text[end] == ')'; end++) { /* of the last parameter */
    }
    strbuf_add_html(p->out, text + def->span.start, def->name_span.start - def->span.start);
    strbuf_add(p->out, "<a class=name href=\"#");
    add_anchor(p, p->c, def->name);
    strbuf_add(p->out, "\">");
    add_html(p->out, def->name);
    strbuf_add(p->out, "</a>");
    add_code(p, def, def->name_span.end, end);
}

static void add_type(StrBuf *out, const Compilation *c, const Def *def)
{
    StrBuf type = {0};
    scheme_print(&type, &c->checked->defs[def->index].scheme);
    strbuf_add(out, "<p class=type>");
    add_html(out, type.text);
    strbuf_add(out, "</p>\n");
    strbuf_free(&type);
}

/* Of what the program has as a function; formulas without the line that names the definition. */
static void add_cost(StrBuf *out, const Compilation *c, FnCost *costs, const Def *def)
{
    for (uint32_t i = 0; costs && i < c->core->fns.n; i++) {
        const CoreFn *fn = c->core->fns.at[i];
        if (strcmp(fn->name, def->name) != 0 || fn->span.file != def->span.file || fn->span.start < def->span.start ||
            fn->span.end > def->span.end)
            continue;
        StrBuf text = {0};
        symbolic_print_one(&text, c->core, costs, i, c->session->arena);
        strbuf_add(out, "<pre class=cost>");
        add_html(out, text.text + strcspn(text.text, "\n") + 1);
        strbuf_add(out, "</pre>\n");
        strbuf_free(&text);
        return;
    }
}

static void add_case(StrBuf *out, const Def *def, const TestCase *x)
{
    strbuf_add(out, "<pre class=example>");
    add_html(out, def->name);
    strbuf_add(out, " ");
    strbuf_add_html(out, x->input.text, x->input.n);
    strbuf_add(out, "\n");
    if (x->error) {
        strbuf_add(out, "error: ");
        add_html(out, x->error);
    } else {
        strbuf_add_html(out, x->output.text, x->output.n);
    }
    strbuf_add(out, "</pre>\n");
}

static void add_examples(StrBuf *out, const TestFile *tests, const Def *def)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < tests->blocks.n; i++) {
        const TestBlock *b = tests->blocks.at[i];
        for (uint32_t k = 0; !b->is_property && b->def == def && k < b->cases.n && shown < MOST_EXAMPLES; k++, shown++)
            add_case(out, def, &b->cases.at[k]);
    }
}

typedef struct Uses {
    const Compilation *c;
    const Def *def;
    bool found;
} Uses;

static void find_use(void *context, Expr *e)
{
    Uses *u = context;
    if (e->kind == E_NAME || e->kind == E_FIELD)
        u->found = u->found || u->c->checked->refs[e->id].def == u->def;
}

/* Properties that are said of it: `dpc test` tries them. */
static void add_properties(const Page *p, const TestFile *tests, const Def *def)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < tests->blocks.n && shown < MOST_EXAMPLES; i++) {
        const TestBlock *b = tests->blocks.at[i];
        Uses uses = {p->c, def, false};
        if (b->is_property && b->def)
            ast_walk(b->def, &(AstVisitor){.context = &uses, .expr = find_use});
        if (!uses.found)
            continue;
        strbuf_add(p->out, shown++ ? "" : "<p class=holds>It holds:</p>\n");
        strbuf_add(p->out, "<pre class=example>");
        add_code(p, b->def, b->def->span.start, b->def->span.end);
        strbuf_add(p->out, "</pre>\n");
    }
}

static void add_definition(const Page *p, FnCost *costs, const TestFile *tests, const Def *def)
{
    strbuf_add(p->out, "<section class=def data-name=\"");
    add_html(p->out, def->name);
    strbuf_add(p->out, "\" id=\"");
    add_anchor(p, p->c, def->name);
    strbuf_add(p->out, "\">\n<pre class=head>");
    add_head(p, def);
    strbuf_add(p->out, "</pre>\n");
    if (def->kind == DEF_VALUE)
        add_type(p->out, p->c, def);
    if (def->doc) {
        strbuf_add(p->out, "<p>");
        add_prose(p, def->doc);
        strbuf_add(p->out, "</p>\n");
    }
    add_cost(p->out, p->c, costs, def);
    add_examples(p->out, tests, def);
    add_properties(p, tests, def);
    strbuf_add(p->out, "</section>\n");
}

/* ---- a module ---- */

/* The comment that the file begins with. */
static void add_introduction(const Page *p, const char *text)
{
    StrBuf prose = {0};
    while (strncmp(text, "--", 2) == 0 && text[2] != '|') {
        text += 2;
        const size_t n = strcspn(text, "\n");
        strbuf_addn(&prose, text, n);
        strbuf_add(&prose, "\n");
        text += n + (text[n] == '\n');
    }
    if (prose.n) {
        strbuf_add(p->out, "<p>");
        add_prose(p, prose.text);
        strbuf_add(p->out, "</p>\n");
    }
    strbuf_free(&prose);
}

static void add_module_name(const Page *p, const Compilation *c)
{
    const char *name;
    size_t n;
    module_name(c, &name, &n);
    strbuf_add_html(p->out, name, n);
}

static void add_module(const Page *p)
{
    const Module *m = p->c->modules.list.at[1];
    const TestFile *tests = find_tests(p->c->session, p->c->modules.list.at[1]);
    FnCost *costs = p->c->core && p->c->core->entries.n ? symbolic_costs(p->c->core, p->c->session->arena) : NULL;
    strbuf_add(p->out, "<section class=module>\n<h2 id=\"");
    add_anchor(p, p->c, NULL);
    strbuf_add(p->out, "\">");
    add_module_name(p, p->c);
    strbuf_add(p->out, "</h2>\n");
    add_introduction(p, p->c->session->files.at[m->file]->text);
    for (uint32_t i = 0; i < m->ndefs; i++)
        if (doc_shows(m->defs[i]))
            add_definition(p, costs, tests, m->defs[i]);
    strbuf_add(p->out, "</section>\n");
}

/* ---- what is compiled ---- */

/* Of values that a program could take or give. */
static bool is_data(Type *t)
{
    t = type_prune(t);
    switch (t->kind) {
    case TY_SCALAR: return true;
    case TY_ARRAY: return is_data(t->element);
    case TY_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            if (!is_data(t->tuple.items[i]))
                return false;
        return true;
    case TY_RECORD:
    case TY_SUM:
        for (uint32_t i = 0; i < t->record.n; i++)
            if (t->record.items[i] && !is_data(t->record.items[i]))
                return false;
        return true;
    case TY_FUN:
    case TY_VAR:
    case TY_RIGID:
    case TY_ERROR: return false;
    }
    return false;
}

static bool could_be_entry(const Scheme *scheme, uint32_t nparams)
{
    Type *t = type_prune(scheme->type);
    for (; nparams > 0 && t->kind == TY_FUN && is_data(t->fun.from); nparams--)
        t = type_prune(t->fun.to);
    return scheme->nvars == 0 && nparams == 0 && is_data(t);
}

bool doc_compile(Compilation *c)
{
    if (!compile_to(c, STAGE_TYPES))
        return false;
    for (uint32_t i = 0; i < c->checked->ndefs; i++) {
        const DefInfo *info = &c->checked->defs[i];
        if (info->module == c->modules.list.at[1] && could_be_entry(&info->scheme, info->def->nparams))
            info->def->is_entry = true; /* so that its cost is known */
    }
    return compile_to(c, STAGE_ELABORATED);
}

/* ---- the page ---- */

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "pre,code,.type{font-family:ui-monospace,monospace;font-size:.9em}"
    "pre{margin:.3em 0;white-space:pre-wrap;overflow-wrap:anywhere}.def{border-top:1px solid #ddd;padding:.6em 0}"
    ".head{font-weight:bold}.type{color:#555;margin:.2em 0}.cost{color:#357}.example{background:#f4f4f4;padding:.4em}"
    "#search{width:100%;padding:.5em;font:inherit;box-sizing:border-box}[hidden]{display:none}"
    "nav{display:flex;flex-wrap:wrap;gap:.2em 1em;margin:1em 0}a{color:#05a}.name{color:inherit;text-decoration:none}"
    ".name:hover{text-decoration:underline}.def:target{background:#ffd}.holds{margin:.3em 0}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#1c1c1c}.def{border-color:#444}.type{color:#aaa}"
    ".cost{color:#8bd}.example{background:#2a2a2a}"
    "a{color:#8bf}.def:target{background:#332}}";

/* Shows the definitions whose names or types have all the words. Without a script all are there. `/` goes to the box,
 * Enter from there to the first definition, Escape empties it. */
static const char script[] =
    "const box=document.getElementById('search'),count=document.getElementById('count');box.hidden=false;"
    "const defs=[...document.querySelectorAll('.def')];"
    "const find=()=>{const words=box.value.toLowerCase().split(/\\s+/);let n=0;"
    "for(const d of defs){const type=d.querySelector('.type');"
    "const text=(d.dataset.name+' '+(type?type.textContent:'')).toLowerCase();"
    "d.hidden=!words.every(w=>text.includes(w));n+=!d.hidden;}"
    "for(const m of document.querySelectorAll('.module'))"
    "m.hidden=!m.querySelector('.def:not([hidden])')&&box.value!=='';"
    "count.textContent=box.value?n+(n===1?' definition':' definitions'):'';};"
    "box.addEventListener('input',find);"
    "addEventListener('hashchange',()=>{box.value='';find();const d=document.getElementById("
    "decodeURIComponent(location.hash.slice(1)));if(d)d.scrollIntoView();});"
    "addEventListener('keydown',e=>{if(e.key==='/'&&e.target!==box){box.focus();e.preventDefault();}"
    "else if(e.target===box&&e.key==='Escape'){box.value='';find();}"
    "else if(e.target===box&&e.key==='Enter'){const d=defs.find(d=>!d.hidden);"
    "if(d)d.querySelector('a').focus();}});";

static void begin_page(const Page *p, const char *title)
{
    strbuf_add(p->out, "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n"
                       "<meta name=viewport content=\"width=device-width\">\n<title>");
    add_html(p->out, title);
    strbuf_printf(p->out, "</title>\n<style>%s</style>\n<header><h1>", style);
    add_html(p->out, title);
    strbuf_add(p->out, "</h1>\n<input id=search type=search hidden placeholder=\"a name, or parts of a type\" "
                       "aria-label=search aria-keyshortcuts=\"/\">\n<p id=count role=status></p>\n</header>\n");
    if (p->n < 2)
        return;
    strbuf_add(p->out, "<nav aria-label=modules>");
    for (uint32_t i = 0; i < p->n; i++) {
        strbuf_add(p->out, i ? "\n<a href=\"#" : "<a href=\"#");
        add_anchor(p, p->modules[i], NULL);
        strbuf_add(p->out, "\">");
        add_module_name(p, p->modules[i]);
        strbuf_add(p->out, "</a>");
    }
    strbuf_add(p->out, "</nav>\n");
}

void doc_page(StrBuf *out, const char *title, Compilation *const *modules, uint32_t n)
{
    Page p = {out, modules, n, NULL};
    begin_page(&p, title);
    strbuf_add(out, "<main>\n");
    for (uint32_t i = 0; i < n; i++) {
        p.c = modules[i];
        add_module(&p);
    }
    strbuf_printf(out, "</main>\n<script>%s</script>\n</html>\n", script);
}
