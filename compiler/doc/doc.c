#include "doc/doc.h"

#include "cost/symbolic_report.h"
#include "testing/test_comments.h"

#include <string.h>

enum { MOST_EXAMPLES = 3 };

static void add_html(StrBuf *out, const char *text) { strbuf_add_html(out, text, strlen(text)); }

/* Prose, with code between backticks. */
static void add_prose(StrBuf *out, const char *text)
{
    for (bool code = false; *text; code = !code) {
        const size_t n = strcspn(text, "`");
        strbuf_add(out, code ? "<code>" : "");
        strbuf_add_html(out, text, n);
        strbuf_add(out, code ? "</code>" : "");
        text += n + (text[n] == '`');
    }
}

/* ---- a definition ---- */

/* As it is written, up to the `=`; of a type all of it. */
static void add_head(StrBuf *out, const Compilation *c, const Def *def)
{
    const char *text = c->session->files.at[def->span.file]->text;
    const uint32_t last = def->nparams ? def->params[def->nparams - 1]->span.end : def->name_span.end;
    uint32_t end = def->kind == DEF_TYPE ? def->span.end : def->result ? def->result->span.end : last;
    for (; def->kind == DEF_VALUE && !def->result && text[end] == ')'; end++) { /* of the last parameter */
    }
    strbuf_add_html(out, text + def->span.start, end - def->span.start);
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

/* Of what an entry uses; formulas without the line that names the definition. */
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

static void add_definition(StrBuf *out, const Compilation *c, FnCost *costs, const TestFile *tests, const Def *def)
{
    strbuf_add(out, "<section class=def data-name=\"");
    add_html(out, def->name);
    strbuf_add(out, "\" id=\"");
    add_html(out, c->path);
    strbuf_add(out, "-");
    add_html(out, def->name);
    strbuf_add(out, "\">\n<pre class=head>");
    add_head(out, c, def);
    strbuf_add(out, "</pre>\n");
    if (def->kind == DEF_VALUE)
        add_type(out, c, def);
    if (def->doc) {
        strbuf_add(out, "<p>");
        add_prose(out, def->doc);
        strbuf_add(out, "</p>\n");
    }
    add_cost(out, c, costs, def);
    add_examples(out, tests, def);
    strbuf_add(out, "</section>\n");
}

/* ---- a module ---- */

/* The comment that the file begins with. */
static void add_introduction(StrBuf *out, const char *text)
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
        strbuf_add(out, "<p>");
        add_prose(out, prose.text);
        strbuf_add(out, "</p>\n");
    }
    strbuf_free(&prose);
}

/* Names that begin or end in `_` so are the module's own. */
static bool is_own(const Def *def)
{
    const size_t n = def->name ? strlen(def->name) : 0;
    return def->kind == DEF_IMPORT || def->is_property || def->name[0] == '_' ||
           (n > 2 && strcmp(def->name + n - 2, "__") == 0);
}

void doc_module(StrBuf *out, Compilation *c)
{
    const Module *m = c->modules.list.at[1];
    const TestFile *tests = find_tests(c->session, c->modules.list.at[1]);
    FnCost *costs = c->core && c->core->entries.n ? symbolic_costs(c->core, c->session->arena) : NULL;
    strbuf_add(out, "<section class=module>\n<h2>");
    add_html(out, c->path);
    strbuf_add(out, "</h2>\n");
    add_introduction(out, c->session->files.at[m->file]->text);
    for (uint32_t i = 0; i < m->ndefs; i++)
        if (!is_own(m->defs[i]))
            add_definition(out, c, costs, tests, m->defs[i]);
    strbuf_add(out, "</section>\n");
}

/* ---- the page ---- */

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "pre,code,.type{font-family:ui-monospace,monospace;font-size:.9em}"
    "pre{margin:.3em 0;white-space:pre-wrap}.def{border-top:1px solid #ddd;padding:.6em 0}"
    ".head{font-weight:bold}.type{color:#555;margin:.2em 0}.cost{color:#357}.example{background:#f4f4f4;padding:.4em}"
    "#search{width:100%;padding:.5em;font:inherit;box-sizing:border-box}[hidden]{display:none}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#1c1c1c}.def{border-color:#444}.type{color:#aaa}"
    ".cost{color:#8bd}.example{background:#2a2a2a}}";

/* Shows the definitions whose names or types have all the words. Without a script all are there. */
static const char script[] =
    "const box=document.getElementById('search');box.hidden=false;"
    "box.addEventListener('input',()=>{const words=box.value.toLowerCase().split(/\\s+/);"
    "for(const d of document.querySelectorAll('.def')){const type=d.querySelector('.type');"
    "const text=(d.dataset.name+' '+(type?type.textContent:'')).toLowerCase();"
    "d.hidden=!words.every(w=>text.includes(w));}"
    "for(const m of "
    "document.querySelectorAll('.module'))m.hidden=!m.querySelector('.def:not([hidden])')&&box.value!=='';});";

void doc_begin(StrBuf *out, const char *title)
{
    strbuf_add(out, "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n"
                    "<meta name=viewport content=\"width=device-width\">\n<title>");
    add_html(out, title);
    strbuf_printf(out, "</title>\n<style>%s</style>\n<h1>", style);
    add_html(out, title);
    strbuf_add(
        out,
        "</h1>\n<input id=search type=search hidden placeholder=\"a name, or parts of a type\" aria-label=search>\n");
}

void doc_end(StrBuf *out) { strbuf_printf(out, "<script>%s</script>\n</html>\n", script); }
