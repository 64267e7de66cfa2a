/* The `ast` dump. Types and patterns stand on one line, in the source's notation; an expression is a line
 * with what it is, its parts below and one step further in, or behind it where all of them are leaves.
 * The body of a `let` follows on its level, so that chains of them stay flat:
 *
 *     entry main (xs: [i32]) : i64
 *       let n
 *         apply length xs
 *       binary +
 *         n
 *         index xs 0 */
#include "syntax/ast.h"

#include <stdio.h>
#include <string.h>

static void print_type(StrBuf *out, const TypeExpr *t);
static void print_pat(StrBuf *out, const Pat *pat);
static void print_expr(StrBuf *out, const Expr *e, int depth);
static void print_part(StrBuf *out, const Expr *e, int depth); /* may be NULL */

/* ---- types ---- */

static void print_types(StrBuf *out, TypeExpr *const *types, uint32_t n, const char *separator)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_add(out, separator);
        print_type(out, types[i]);
    }
}

static void print_type_fields(StrBuf *out, const TypeExpr *t)
{
    bool is_sum = t->kind == TE_SUM;
    strbuf_add(out, is_sum ? "(" : "{");
    for (uint32_t i = 0; i < t->record.n; i++) {
        const TypeField *f = &t->record.fields[i];
        strbuf_printf(out, "%s%s%s", i == 0 ? "" : is_sum ? " | " : ", ", is_sum ? "#" : "", f->name);
        if (f->type)
            strbuf_add(out, is_sum ? " " : ": ");
        if (f->type)
            print_type(out, f->type);
    }
    strbuf_add(out, is_sum ? ")" : "}");
}

static void print_type_name(StrBuf *out, const TypeExpr *t)
{
    if (t->name.nargs)
        strbuf_add(out, "(");
    if (t->name.module)
        strbuf_printf(out, "%s.", t->name.module);
    strbuf_add(out, t->name.name);
    if (!t->name.nargs)
        return;
    strbuf_add(out, " ");
    print_types(out, t->name.args, t->name.nargs, " ");
    strbuf_add(out, ")");
}

static void print_array_type(StrBuf *out, const TypeExpr *t)
{
    switch (t->array.size_kind) {
    case SIZE_NONE:
        strbuf_add(out, "[");
        print_type(out, t->array.element);
        strbuf_add(out, "]");
        return;
    case SIZE_LITERAL: strbuf_printf(out, "[%lld]", (long long)t->array.size); break;
    case SIZE_NAME: strbuf_printf(out, "[%s]", t->array.size_name); break;
    }
    print_type(out, t->array.element);
}

static void print_type(StrBuf *out, const TypeExpr *t)
{
    switch (t->kind) {
    case TE_NAME: print_type_name(out, t); break;
    case TE_TUPLE:
        strbuf_add(out, "(");
        print_types(out, t->tuple.items, t->tuple.n, ", ");
        strbuf_add(out, ")");
        break;
    case TE_RECORD:
    case TE_SUM: print_type_fields(out, t); break;
    case TE_ARRAY: print_array_type(out, t); break;
    case TE_FUN:
        strbuf_add(out, "(");
        print_type(out, t->fun.from);
        strbuf_add(out, " -> ");
        print_type(out, t->fun.to);
        strbuf_add(out, ")");
        break;
    }
}

/* ---- literals ---- */

static const char *suffix_text(Suffix suffix)
{
    static const char *const texts[] = {"", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};
    return texts[suffix];
}

static void print_escaped(StrBuf *out, uint8_t byte, char quote)
{
    if (byte == '\n')
        strbuf_add(out, "\\n");
    else if (byte < ' ' || byte >= 0x7f)
        strbuf_printf(out, "\\x%02x", (unsigned)byte);
    else
        strbuf_printf(out, "%s%c", byte == (uint8_t)quote || byte == '\\' ? "\\" : "", byte);
}

static void print_string(StrBuf *out, const Expr *e)
{
    strbuf_add(out, "\"");
    for (uint32_t i = 0; i < e->string.n; i++)
        print_escaped(out, e->string.bytes[i], '"');
    strbuf_add(out, "\"");
}

static void print_character(StrBuf *out, const Expr *e)
{
    strbuf_add(out, "'");
    print_escaped(out, e->character, '\'');
    strbuf_add(out, "'");
}

/* Returns whether `e` was a leaf; prints nothing otherwise. The absent end of a slice is one too. */
static bool print_leaf(StrBuf *out, const Expr *e)
{
    if (!e)
        strbuf_add(out, "nothing");
    else if (e->kind == E_INT)
        strbuf_printf(out, "%s%llu%s", e->integer.negative ? "-" : "", (unsigned long long)e->integer.magnitude,
                      suffix_text(e->integer.suffix));
    else if (e->kind == E_FLOAT)
        strbuf_printf(out, "%s%s%s", e->floating.text, e->floating.suffix == SUFFIX_NONE ? "" : ":",
                      suffix_text(e->floating.suffix));
    else if (e->kind == E_BOOL)
        strbuf_add(out, e->boolean ? "true" : "false");
    else if (e->kind == E_CHAR)
        print_character(out, e);
    else if (e->kind == E_STRING)
        print_string(out, e);
    else if (e->kind == E_NAME)
        strbuf_add(out, e->name ? e->name : "_");
    else if (e->kind == E_CTOR && !e->ctor.arg)
        strbuf_printf(out, "#%s", e->ctor.name);
    else
        return false;
    return true;
}

/* ---- patterns ---- */

static void print_record_pat(StrBuf *out, const Pat *pat)
{
    strbuf_add(out, "{");
    for (uint32_t i = 0; i < pat->record.n; i++) {
        strbuf_printf(out, "%s%s = ", i ? ", " : "", pat->record.fields[i].name);
        print_pat(out, pat->record.fields[i].pat);
    }
    strbuf_add(out, "}");
}

static void print_tuple_pat(StrBuf *out, const Pat *pat)
{
    strbuf_add(out, "(");
    for (uint32_t i = 0; i < pat->tuple.n; i++) {
        if (i)
            strbuf_add(out, ", ");
        print_pat(out, pat->tuple.items[i]);
    }
    strbuf_add(out, ")");
}

static void print_ctor_pat(StrBuf *out, const Pat *pat)
{
    strbuf_printf(out, "%s#%s", pat->ctor.arg ? "(" : "", pat->ctor.name);
    if (!pat->ctor.arg)
        return;
    strbuf_add(out, " ");
    print_pat(out, pat->ctor.arg);
    strbuf_add(out, ")");
}

static void print_pat(StrBuf *out, const Pat *pat)
{
    switch (pat->kind) {
    case PAT_NAME: strbuf_add(out, pat->name); break;
    case PAT_WILD: strbuf_add(out, "_"); break;
    case PAT_TUPLE: print_tuple_pat(out, pat); break;
    case PAT_RECORD: print_record_pat(out, pat); break;
    case PAT_ASCRIBE:
        strbuf_add(out, "(");
        print_pat(out, pat->ascribe.pat);
        strbuf_add(out, ": ");
        print_type(out, pat->ascribe.type);
        strbuf_add(out, ")");
        break;
    case PAT_LITERAL: print_leaf(out, pat->literal); break;
    case PAT_CTOR: print_ctor_pat(out, pat); break;
    }
}

/* ---- expressions ---- */

static void begin(StrBuf *out, int depth, const char *what)
{
    strbuf_indent(out, depth);
    strbuf_add(out, what);
}

static void line(StrBuf *out, int depth, const char *what)
{
    begin(out, depth, what);
    strbuf_add(out, "\n");
}

static void line_pat(StrBuf *out, int depth, const char *what, const Pat *pat)
{
    begin(out, depth, what);
    print_pat(out, pat);
    strbuf_add(out, "\n");
}

static void line_name(StrBuf *out, int depth, const char *what, Name name)
{
    begin(out, depth, what);
    strbuf_printf(out, "%s\n", name);
}

static bool is_leaf(const Expr *e) { return !e || (e->kind <= E_NAME) || (e->kind == E_CTOR && !e->ctor.arg); }

/* A node and its parts, on one line if they are few and small. */
static void print_node(StrBuf *out, int depth, const char *what, const Expr *const *parts, uint32_t n)
{
    bool on_one_line = n <= 8;
    for (uint32_t i = 0; on_one_line && i < n; i++)
        on_one_line = is_leaf(parts[i]);
    begin(out, depth, what);
    for (uint32_t i = 0; on_one_line && i < n; i++) {
        strbuf_add(out, " ");
        print_leaf(out, parts[i]);
    }
    strbuf_add(out, "\n");
    for (uint32_t i = 0; !on_one_line && i < n; i++)
        print_part(out, parts[i], depth + 1);
}

/* Items, behind `first` unless that is NULL. */
static void print_list(StrBuf *out, int depth, const char *what, const Expr *first, Expr *const *items, uint32_t n)
{
    const Expr *parts[9];
    uint32_t count = 0;
    if (first)
        parts[count++] = first;
    if (n <= 8) {
        for (uint32_t i = 0; i < n; i++)
            parts[count++] = items[i];
        print_node(out, depth, what, parts, count);
        return;
    }
    line(out, depth, what);
    if (first)
        print_part(out, first, depth + 1);
    for (uint32_t i = 0; i < n; i++)
        print_part(out, items[i], depth + 1);
}

/* A node with a fixed number of parts; `detail` follows `what`. */
#define NODE(what, detail, ...)                                                                                        \
    print_detailed(out, depth, what, detail, (const Expr *[]){__VA_ARGS__},                                            \
                   sizeof((const Expr *[]){__VA_ARGS__}) / sizeof(const Expr *))

static void print_detailed(StrBuf *out, int depth, const char *what, const char *detail, const Expr *const *parts,
                           uint32_t n)
{
    StrBuf head = {0};
    strbuf_add(&head, what);
    strbuf_add(&head, detail);
    print_node(out, depth, head.text, parts, n);
    strbuf_free(&head);
}

static void print_signature(StrBuf *out, const Def *def)
{
    strbuf_add(out, def->name);
    for (uint32_t i = 0; i < def->ntype_params; i++)
        strbuf_printf(out, " '%s", def->type_params[i]);
    for (uint32_t i = 0; i < def->nparams; i++) {
        strbuf_add(out, " ");
        print_pat(out, def->params[i]);
    }
    if (def->result && def->kind == DEF_VALUE) {
        strbuf_add(out, " : ");
        print_type(out, def->result);
    }
}

static void print_record(StrBuf *out, const Expr *e, int depth)
{
    line(out, depth, "record");
    for (uint32_t i = 0; i < e->record.n; i++) {
        line_name(out, depth + 1, "field ", e->record.fields[i].name);
        print_expr(out, e->record.fields[i].value, depth + 2);
    }
}

static void print_let(StrBuf *out, const Expr *e, int depth)
{
    line_pat(out, depth, "let ", e->let.pat);
    print_expr(out, e->let.value, depth + 1);
    print_expr(out, e->let.body, depth);
}

static void print_let_fun(StrBuf *out, const Expr *e, int depth)
{
    begin(out, depth, "let function ");
    print_signature(out, e->let_fun.def);
    strbuf_add(out, "\n");
    print_expr(out, e->let_fun.def->body, depth + 1);
    print_expr(out, e->let_fun.body, depth);
}

static void print_match(StrBuf *out, const Expr *e, int depth)
{
    line(out, depth, "match");
    print_expr(out, e->match.subject, depth + 1);
    for (uint32_t i = 0; i < e->match.n; i++) {
        line_pat(out, depth, "case ", e->match.cases[i].pat);
        print_expr(out, e->match.cases[i].body, depth + 1);
    }
}

static void print_lambda(StrBuf *out, const Expr *e, int depth)
{
    begin(out, depth, e->lambda.is_accessor ? "accessor" : "lambda");
    for (uint32_t i = 0; i < e->lambda.nparams; i++) {
        strbuf_add(out, " ");
        print_pat(out, e->lambda.params[i]);
    }
    strbuf_add(out, "\n");
    print_expr(out, e->lambda.body, depth + 1);
}

static void print_loop(StrBuf *out, const Expr *e, int depth)
{
    line_pat(out, depth, "loop ", e->loop.state);
    print_expr(out, e->loop.init, depth + 1);
    switch (e->loop.kind) {
    case LOOP_FOR_COUNT: line_pat(out, depth, "for below ", e->loop.binder); break;
    case LOOP_FOR_EACH: line_pat(out, depth, "for in ", e->loop.binder); break;
    case LOOP_WHILE: line(out, depth, "while"); break;
    }
    print_expr(out, e->loop.domain, depth + 1);
    line(out, depth, "do");
    print_expr(out, e->loop.body, depth + 1);
}

static void print_each(StrBuf *out, const Expr *e, int depth)
{
    line(out, depth, "each");
    if (e->each.body)
        print_expr(out, e->each.body, depth + 1);
    for (uint32_t i = 0; i < e->each.nbinders; i++) {
        line_pat(out, depth, "in ", e->each.binders[i].pat);
        print_expr(out, e->each.binders[i].sequence, depth + 1);
    }
    if (e->each.guard) {
        line(out, depth, "where");
        print_expr(out, e->each.guard, depth + 1);
    }
}

static void print_ascribe(StrBuf *out, const Expr *e, int depth)
{
    begin(out, depth, "ascribe ");
    print_type(out, e->ascribe.type);
    strbuf_add(out, "\n");
    print_expr(out, e->ascribe.value, depth + 1);
}

static void print_if(StrBuf *out, const Expr *e, int depth)
{
    line(out, depth, "if");
    print_expr(out, e->if_.cond, depth + 1);
    line(out, depth, "then");
    print_expr(out, e->if_.then_e, depth + 1);
    line(out, depth, "else");
    print_expr(out, e->if_.else_e, depth + 1);
}

static void print_binary(StrBuf *out, const Expr *e, int depth)
{
    const char *op = binary_op_text(e->binary.op);
    switch (e->kind) {
    case E_OP_SECTION: line_name(out, depth, "section ", op); break;
    case E_LEFT_SECTION: NODE("left section ", op, e->binary.left); break;
    case E_RIGHT_SECTION: NODE("right section ", op, e->binary.right); break;
    default: NODE("binary ", op, e->binary.left, e->binary.right); break;
    }
}

static void print_project(StrBuf *out, const Expr *e, int depth)
{
    char index[16];
    snprintf(index, sizeof index, "%u", (unsigned)e->project.index);
    NODE("project ", index, e->project.value);
}

static void print_part(StrBuf *out, const Expr *e, int depth)
{
    if (!is_leaf(e)) {
        print_expr(out, e, depth);
        return;
    }
    strbuf_indent(out, depth);
    print_leaf(out, e);
    strbuf_add(out, "\n");
}

static void print_expr(StrBuf *out, const Expr *e, int depth)
{
    switch (e->kind) {
    case E_INT:
    case E_FLOAT:
    case E_BOOL:
    case E_CHAR:
    case E_STRING:
    case E_NAME: print_part(out, e, depth); break;
    case E_TUPLE: print_list(out, depth, "tuple", NULL, e->items.items, e->items.n); break;
    case E_ARRAY: print_list(out, depth, "array", NULL, e->items.items, e->items.n); break;
    case E_APPLY: print_list(out, depth, "apply", e->apply.fn, e->apply.args, e->apply.nargs); break;
    case E_RECORD: print_record(out, e, depth); break;
    case E_CTOR:
        if (e->ctor.arg)
            NODE("#", e->ctor.name, e->ctor.arg);
        else
            print_part(out, e, depth);
        break;
    case E_UNARY: NODE("unary ", unary_op_text(e->unary.op), e->unary.arg); break;
    case E_BINARY:
    case E_OP_SECTION:
    case E_LEFT_SECTION:
    case E_RIGHT_SECTION: print_binary(out, e, depth); break;
    case E_PIPE: NODE("pipe ", e->pipe.backward ? "<|" : "|>", e->pipe.value, e->pipe.fn); break;
    case E_RANGE:
        if (e->range.second)
            NODE("range .. ", e->range.inclusive ? "..." : "..<", e->range.from, e->range.second, e->range.to);
        else
            NODE("range ", e->range.inclusive ? "..." : "..<", e->range.from, e->range.to);
        break;
    case E_INDEX: NODE("index", "", e->index.array, e->index.index); break;
    case E_SLICE: NODE("slice", "", e->slice.array, e->slice.from, e->slice.to); break;
    case E_FIELD: NODE("field ", e->field.name, e->field.value); break;
    case E_PROJECT: print_project(out, e, depth); break;
    case E_UPDATE_INDEX:
        NODE("update index", "", e->update_index.array, e->update_index.index, e->update_index.value);
        break;
    case E_UPDATE_FIELD:
        NODE("update field ", e->update_field.name, e->update_field.record, e->update_field.value);
        break;
    case E_UPDATE_PART: NODE("update part", "", e->update_part.part, e->update_part.value); break;
    case E_LET: print_let(out, e, depth); break;
    case E_LET_FUN: print_let_fun(out, e, depth); break;
    case E_IF: print_if(out, e, depth); break;
    case E_MATCH: print_match(out, e, depth); break;
    case E_LAMBDA: print_lambda(out, e, depth); break;
    case E_LOOP: print_loop(out, e, depth); break;
    case E_ASCRIBE: print_ascribe(out, e, depth); break;
    case E_EACH: print_each(out, e, depth); break;
    }
}

/* ---- definitions ---- */

static void print_doc(StrBuf *out, const char *doc)
{
    for (const char *end; doc; doc = end ? end + 1 : NULL) {
        end = strchr(doc, '\n');
        strbuf_add(out, "--| ");
        strbuf_addn(out, doc, end ? (size_t)(end - doc) : strlen(doc));
        strbuf_add(out, "\n");
    }
}

static void print_import(StrBuf *out, const Def *def)
{
    strbuf_printf(out, "import \"%s\"", def->path);
    if (def->name)
        strbuf_printf(out, " as %s", def->name);
    strbuf_add(out, "\n");
}

static void print_value(StrBuf *out, const Def *def)
{
    strbuf_add(out, def->is_entry ? "entry " : "def ");
    print_signature(out, def);
    strbuf_add(out, "\n");
    print_expr(out, def->body, 1);
}

static void print_type_definition(StrBuf *out, const Def *def)
{
    strbuf_add(out, "type ");
    print_signature(out, def);
    strbuf_add(out, " = ");
    print_type(out, def->result);
    strbuf_add(out, "\n");
}

void ast_print(StrBuf *out, const Module *m)
{
    for (uint32_t i = 0; i < m->ndefs; i++) {
        const Def *def = m->defs[i];
        print_doc(out, def->doc);
        switch (def->kind) {
        case DEF_VALUE: print_value(out, def); break;
        case DEF_TYPE: print_type_definition(out, def); break;
        case DEF_IMPORT: print_import(out, def); break;
        }
    }
}
