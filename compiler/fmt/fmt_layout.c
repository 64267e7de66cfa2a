/* The layout: a walk over the syntax tree that decides, for each token, the blanks in front of it, where it stands
 * when it begins a line, and whether a long line may be broken there.
 *
 * A node's span leaves out the parentheses around it, so the walk carries along the node's `first` token with them.
 * `base` is what the lines inside a construct are indented from where the construct itself does not begin a line:
 * the `let` whose value it is, the `in` or `else` in front of it. */
#include "fmt/fmt_internal.h"

#include "syntax/build.h"

#include "parser.h"

static void expr(Formatter *f, const Expr *e, uint32_t first, Place base);
static uint32_t value_definition(Formatter *f, const Def *def, uint32_t head);

/* ---- types and patterns ---- */

static void sizes(Formatter *f, const TypeExpr *t)
{
    switch (t->kind) {
    case TE_NAME:
        for (uint32_t i = 0; i < t->name.nargs; i++)
            sizes(f, t->name.args[i]);
        return;
    case TE_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            sizes(f, t->tuple.items[i]);
        return;
    case TE_RECORD:
    case TE_SUM:
        for (uint32_t i = 0; i < t->record.n; i++)
            if (t->record.fields[i].type)
                sizes(f, t->record.fields[i].type);
        return;
    case TE_ARRAY:
        sizes(f, t->array.element);
        if (t->array.size_kind != SIZE_NONE)
            f->tokens[f->tokens[fmt_token_at(f, t->span.start)].partner + 1].gap = 0;
        return;
    case TE_FUN:
        sizes(f, t->fun.from);
        sizes(f, t->fun.to);
        return;
    }
}

/* `xs: t` inside brackets, [n]t without a blank; a `[` is never an indexing. */
static void type(Formatter *f, const TypeExpr *t)
{
    uint32_t last = fmt_token_before(f, t->span.end);
    for (uint32_t i = fmt_token_at(f, t->span.start); i <= last; i++) {
        int before = i > 0 ? f->tokens[i - 1].kind : T_END;
        if (f->tokens[i].kind == T_INDEX_OPEN && !fmt_is_opening(before))
            f->tokens[i].gap = 1;
        if (f->tokens[i].kind == T_COLON)
            f->tokens[i].gap = 0;
    }
    sizes(f, t);
}

static void pattern(Formatter *f, const Pat *p)
{
    switch (p->kind) {
    case PAT_NAME:
    case PAT_WILD: return;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            pattern(f, p->tuple.items[i]);
        return;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++)
            pattern(f, p->record.fields[i].pat);
        return;
    case PAT_ASCRIBE:
        pattern(f, p->ascribe.pat);
        f->tokens[fmt_find_token(f, fmt_token_before(f, p->ascribe.pat->span.end) + 1, T_COLON)].gap = 0;
        type(f, p->ascribe.type);
        return;
    case PAT_LITERAL:
        if (f->tokens[fmt_token_at(f, p->span.start)].kind == T_MINUS)
            f->tokens[fmt_token_at(f, p->span.start) + 1].gap = 0;
        return;
    case PAT_CTOR:
        if (p->ctor.arg)
            pattern(f, p->ctor.arg);
        return;
    }
}

/* Patterns without brackets around them: `let x : t = e`, as a definition has its result. */
static void bound_pattern(Formatter *f, const Pat *p, uint32_t first)
{
    pattern(f, p);
    if (p->kind != PAT_ASCRIBE || f->tokens[first].start < p->span.start)
        return;
    f->tokens[fmt_find_token(f, fmt_token_before(f, p->ascribe.pat->span.end) + 1, T_COLON)].gap = 1;
}

/* ---- brackets ---- */

/* The first item of a bracket, and its end, when they begin lines: [⏎ a, b ⏎] hangs from the base. Returns the
 * base for the items. */
static Place bracket(Formatter *f, uint32_t open, Place base)
{
    uint32_t inner = open + 1, close = f->tokens[open].partner;
    bool hangs = f->tokens[inner].newline;
    fmt_place(f, close, hangs ? base : fmt_at(open, 0));
    if (inner != close)
        fmt_place(f, inner, hangs ? fmt_indented(base, 2) : fmt_at(open, 2));
    return fmt_at(inner, 0);
}

/* The next item of a list whose items stand below each other. */
static void item_place(Formatter *f, uint32_t open, uint32_t separator, uint32_t item, uint32_t node)
{
    fmt_place(f, separator, fmt_at(open, 0));
    fmt_place(f, item, f->tokens[separator].newline ? fmt_at(separator, 2) : fmt_at(open + 1, 0));
    if (!f->tokens[separator].newline)
        fmt_may_break(f, item, node, 0, false);
}

static void items(Formatter *f, Expr *const *list, uint32_t n, uint32_t open, Place base)
{
    uint32_t node = fmt_new_node(f), first = open + 1;
    bracket(f, open, base);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            item_place(f, open, first - 1, first, node);
        expr(f, list[i], first, fmt_at(first, 0));
        first = fmt_last_token(f, list[i], first) + 2;
    }
}

static void record(Formatter *f, const Expr *e, uint32_t open, Place base)
{
    uint32_t node = fmt_new_node(f);
    bracket(f, open, base);
    for (uint32_t i = 0; i < e->record.n; i++) {
        const ExprField *field = &e->record.fields[i];
        uint32_t first = fmt_token_at(f, field->span.start);
        if (i > 0)
            item_place(f, open, first - 1, first, node);
        if (f->tokens[first + 1].kind != T_ASSIGN)
            continue;
        fmt_place(f, first + 2, fmt_at(first, 2));
        expr(f, field->value, first + 2, fmt_at(first, 0));
    }
}

/* ---- operators ---- */

static bool is_arithmetic(BinaryOp op) { return op >= BIN_BITOR && op != BIN_APPEND; }

/* A chain a + b - c: its operators stand below its start, indented or not, below the first of them, or in the
 * construct's indentation. */
static void operator_place(Formatter *f, uint32_t op, uint32_t first, uint32_t leftmost, int delta, Place base)
{
    fmt_place(f, op, fmt_at(first, delta));
    fmt_or_place(f, op, fmt_at(first, 2 - delta));
    fmt_or_place(f, op, fmt_indented(base, 2));
    if (op != leftmost)
        fmt_or_place(f, op, fmt_at(leftmost, 0));
    fmt_place(f, op + 1, f->tokens[op].newline ? fmt_at(op, 2) : fmt_at(first, 0));
    fmt_or_place(f, op + 1, fmt_at(first, 2));
}

/* One step of the ladder of precedences: such operators break a long line alike. */
static int precedence(BinaryOp op)
{
    switch (op) {
    case BIN_SUB: return BIN_ADD;
    case BIN_DIV:
    case BIN_MOD: return BIN_MUL;
    default: return (int)op;
    }
}

/* (a + b) - c without the parentheses: one chain, whose operators stand alike. */
static bool is_alike_chain(const Formatter *f, const Expr *e, uint32_t first)
{
    const Expr *left = e->binary.left;
    return left->kind == E_BINARY && !fmt_has_parentheses(f, left, first) &&
           precedence(left->binary.op) == precedence(e->binary.op);
}

static void binary(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    const Expr *left = e->binary.left;
    const Expr *bottom = e;
    while (is_alike_chain(f, bottom, first))
        bottom = bottom->binary.left;
    uint32_t op = fmt_token_at(f, e->binary.op_span.start), leftmost = fmt_token_at(f, bottom->binary.op_span.start);
    operator_place(f, op, first, leftmost, 2, base);
    fmt_may_break(f, op, first, 0, false);
    if (is_alike_chain(f, e, first))
        binary(f, left, first, base);
    else
        expr(f, left, first, base);
    expr(f, e->binary.right, op + 1, base);
    bool dense = is_arithmetic(e->binary.op) && fmt_was_dense(f, op) && fmt_is_dense(f, first, op - 1) &&
                 fmt_is_dense(f, op + 1, fmt_last_token(f, e->binary.right, op + 1));
    if (dense)
        fmt_make_dense(f, op);
}

static void pipe(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    const Expr *left = e->pipe.backward ? e->pipe.fn : e->pipe.value;
    const Expr *right = e->pipe.backward ? e->pipe.value : e->pipe.fn;
    uint32_t op = fmt_last_token(f, left, first) + 1;
    expr(f, left, first, base);
    operator_place(f, op, first, op, 0, base);
    fmt_may_break(f, op, first, 1, true);
    expr(f, right, op + 1, base);
}

static void range(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    const Expr *parts[] = {e->range.second, e->range.to};
    uint32_t op = fmt_last_token(f, e->range.from, first) + 1;
    expr(f, e->range.from, first, base);
    for (int i = 0; i < 2; i++) {
        if (!parts[i])
            continue;
        expr(f, parts[i], op + 1, base);
        uint32_t behind = fmt_last_token(f, parts[i], op + 1) + 1;
        if (fmt_was_dense(f, op) && !f->tokens[op + 1].newline)
            fmt_make_dense(f, op);
        op = behind;
    }
}

static void update(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    bool by_index = e->kind == E_UPDATE_INDEX;
    const Expr *from = by_index ? e->update_index.array : e->update_field.record;
    const Expr *value = by_index ? e->update_index.value : e->update_field.value;
    uint32_t with = fmt_last_token(f, from, first) + 1;
    uint32_t assign = by_index ? f->tokens[with + 1].partner + 1 : with + 2;
    expr(f, from, first, base);
    operator_place(f, with, first, with, 2, base);
    fmt_may_break(f, with, first, 2, false);
    if (by_index)
        expr(f, e->update_index.index, with + 2, fmt_at(with + 2, 0));
    fmt_place(f, assign + 1, fmt_at(with, 2));
    expr(f, value, assign + 1, base);
}

static void unary(Formatter *f, const Expr *e, uint32_t op, Place base)
{
    bool is_comment = f->tokens[op].kind == T_MINUS && f->tokens[op + 1].kind == T_MINUS;
    f->tokens[op + 1].gap = is_comment ? 1 : 0;
    expr(f, e->unary.arg, op + 1, base);
}

/* Arguments stand below the first one, or indented from the function. */
static void arguments(Formatter *f, const Expr *fn, uint32_t first, Expr *const *args, uint32_t n, Place base)
{
    uint32_t node = fmt_new_node(f);
    uint32_t arg = (fn ? fmt_last_token(f, fn, first) : first) + 1, first_arg = arg;
    if (fn)
        expr(f, fn, first, base);
    for (uint32_t i = 0; i < n; i++) {
        bool below_first = i > 0 && !f->tokens[first_arg].newline;
        fmt_place(f, arg, below_first ? fmt_at(first_arg, 0) : fmt_at(first, 2));
        fmt_or_place(f, arg, fmt_at(first, 2));
        fmt_or_place(f, arg, fmt_indented(base, 2));
        fmt_may_break(f, arg, node, 0, false);
        if (i == 0) /* rather break inside it */
            f->tokens[arg].level = LAST_RESORT;
        expr(f, args[i], arg, base);
        arg = fmt_last_token(f, args[i], arg) + 1;
    }
}

/* a:b from the token `first` on: the token behind it. */
static uint32_t bounds(Formatter *f, const Expr *from, const Expr *to, uint32_t first)
{
    uint32_t colon = from ? fmt_last_token(f, from, first) + 1 : first;
    uint32_t end = to ? fmt_last_token(f, to, colon + 1) + 1 : colon + 1;
    if (from)
        expr(f, from, first, fmt_at(first, 0));
    if (to)
        expr(f, to, colon + 1, fmt_at(colon + 1, 0));
    bool spaced = from && to && !(fmt_is_dense(f, first, colon - 1) && fmt_is_dense(f, colon + 1, end - 1));
    f->tokens[colon].gap = spaced ? 1 : 0;
    f->tokens[colon + 1].gap = spaced ? 1 : 0;
    return end;
}

static void slice(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    uint32_t open = fmt_last_token(f, e->slice.array, first) + 1;
    expr(f, e->slice.array, first, base);
    bracket(f, open, base);
    bounds(f, e->slice.from, e->slice.to, open + 1);
}

/* The steps of an update stand behind each other, those that share brackets behind commas: the token behind x's. */
static uint32_t update_steps(Formatter *f, const Expr *whole, const Expr *x, uint32_t start)
{
    if (x == whole)
        return start;
    const Expr *of = x->kind == E_INDEX   ? x->index.array
                     : x->kind == E_SLICE ? x->slice.array
                     : x->kind == E_FIELD ? x->field.value
                                          : x->project.value;
    uint32_t t = update_steps(f, whole, of, start), end = t + 1;
    if (x->kind == E_FIELD || x->kind == E_PROJECT)
        return f->tokens[t].kind == T_DOT ? t + 2 : end;
    if (x->kind == E_SLICE) { /* behind [ or a comma */
        end = bounds(f, x->slice.from, x->slice.to, t + 1);
    } else {
        expr(f, x->index.index, t + 1, fmt_at(t + 1, 0));
        end = fmt_last_token(f, x->index.index, t + 1) + 1;
    }
    return f->tokens[end].kind == T_COMMA ? end : end + 1;
}

static void update_part(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    const Expr *whole = e->update_part.whole;
    uint32_t with = fmt_last_token(f, whole, first) + 1;
    uint32_t assign = update_steps(f, whole, e->update_part.part, with + 1);
    expr(f, whole, first, base);
    operator_place(f, with, first, with, 2, base);
    fmt_may_break(f, with, first, 2, false);
    fmt_place(f, assign + 1, fmt_at(with, 2));
    expr(f, e->update_part.value, assign + 1, base);
}

static void section(Formatter *f, const Expr *e, uint32_t open, Place base)
{
    uint32_t op = fmt_token_at(f, e->binary.op_span.start);
    bracket(f, open, base);
    if (e->binary.left)
        expr(f, e->binary.left, open + 1, fmt_at(open + 1, 0));
    if (e->binary.right)
        expr(f, e->binary.right, op + 1, fmt_at(open + 1, 0));
}

/* ---- forms with words ---- */

/* let … let … in body: one chain, whose words stand below the first `let`. */
static uint32_t let_binding(Formatter *f, const Expr *e, uint32_t let)
{
    if (e->kind == E_LET_FUN)
        return value_definition(f, e->let_fun.def, let);
    const Pat *p = e->let.pat;
    uint32_t assign = fmt_find_token(f, fmt_token_before(f, p->span.end) + 1, T_ASSIGN);
    bound_pattern(f, p, let + 1);
    fmt_place(f, assign + 1, fmt_at(let, 2));
    fmt_or_place(f, assign + 1, fmt_at(let, 4));
    fmt_may_break(f, assign + 1, LAST_RESORT, 0, false);
    f->tokens[assign + 1].level = LAST_RESORT;
    expr(f, e->let.value, assign + 1, fmt_at(let, 0));
    return assign;
}

static void let(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    uint32_t node = fmt_new_node(f), word = first, above = 0, above_head = 0;
    for (;;) {
        const Expr *value = e->kind == E_LET ? e->let.value : e->let_fun.def->body;
        const Expr *body = e->kind == E_LET ? e->let.body : e->let_fun.body;
        f->depth++;
        uint32_t assign = let_binding(f, e, word);
        f->depth--;
        if (word != first)
            fmt_align_pair(f, above, above_head, assign, word);
        above = assign;
        above_head = word;
        uint32_t next = fmt_last_token(f, value, assign + 1) + 1;
        fmt_place(f, next, fmt_at(first, 0));
        fmt_may_break(f, next, node, 0, true);
        e = body;
        if (f->tokens[next].kind == T_LET) {
            word = next;
            continue;
        }
        bool leads = f->tokens[next].newline;
        fmt_place(f, next + 1, leads ? fmt_at(next, 2) : fmt_at(first, 0));
        fmt_or_place(f, next + 1, leads ? fmt_at(next, 3) : fmt_at(first, 2));
        expr(f, body, next + 1, leads ? fmt_at(next, 0) : f->tokens[first].newline ? fmt_at(first, 0) : base);
        return;
    }
}

static void branch(Formatter *f, const Expr *e, uint32_t word, uint32_t head, Place base)
{
    bool leads = f->tokens[word].newline;
    fmt_place(f, word, fmt_at(head, 0));
    fmt_place(f, word + 1, leads ? fmt_at(word, 2) : fmt_at(head, 2));
    expr(f, e, word + 1, leads ? fmt_at(word, 0) : base);
}

/* The `else`s of a chain stand below its first `if`. */
static void if_else(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    uint32_t head = first, node = fmt_new_node(f);
    for (uint32_t word = first;;) {
        expr(f, e->if_.cond, word + 1, fmt_at(word, 0));
        uint32_t then = fmt_last_token(f, e->if_.cond, word + 1) + 1;
        branch(f, e->if_.then_e, then, head, base);
        fmt_may_break(f, then, node, 1, false);
        uint32_t otherwise = fmt_last_token(f, e->if_.then_e, then + 1) + 1;
        const Expr *last = e->if_.else_e;
        fmt_may_break(f, otherwise, node, 0, true);
        bool goes_on =
            last->kind == E_IF && !fmt_has_parentheses(f, last, otherwise + 1) && !f->tokens[otherwise + 1].newline;
        if (!goes_on) {
            branch(f, last, otherwise, head, base);
            return;
        }
        fmt_place(f, otherwise, fmt_at(head, 0));
        e = last;
        word = otherwise + 1;
    }
}

static void match(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    uint32_t node = fmt_new_node(f), above = 0, above_head = 0;
    uint32_t word = fmt_last_token(f, e->match.subject, first + 1) + 1;
    expr(f, e->match.subject, first + 1, fmt_at(first, 0));
    for (uint32_t i = 0; i < e->match.n; i++) {
        const MatchCase *c = &e->match.cases[i];
        uint32_t arrow = fmt_find_token(f, fmt_token_before(f, c->pat->span.end) + 1, T_ARROW);
        bool leads = f->tokens[word].newline;
        pattern(f, c->pat);
        fmt_place(f, word, fmt_at(first, 0));
        fmt_or_place(f, word, fmt_at(first, 2));
        fmt_or_place(f, word, fmt_indented(base, 2));
        fmt_may_break(f, word, node, 0, true);
        fmt_place(f, arrow + 1, leads ? fmt_at(word, 2) : fmt_indented(base, 2));
        fmt_or_place(f, arrow + 1, fmt_at(word, 4));
        expr(f, c->body, arrow + 1, leads ? fmt_at(word, 0) : base);
        if (i > 0)
            fmt_align_pair(f, above, above_head, arrow, word);
        above = arrow;
        above_head = word;
        word = fmt_last_token(f, c->body, arrow + 1) + 1;
    }
}

static void lambda(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    if (e->lambda.is_accessor)
        return; /* (.x): no blanks, no breaks */
    const Pat *last = e->lambda.params[e->lambda.nparams - 1];
    uint32_t arrow = fmt_find_token(f, fmt_token_before(f, last->span.end) + 1, T_ARROW);
    f->tokens[first + 1].gap = 0;
    for (uint32_t i = 0; i < e->lambda.nparams; i++)
        pattern(f, e->lambda.params[i]);
    fmt_place(f, arrow + 1, fmt_indented(base, 2));
    fmt_or_place(f, arrow + 1, fmt_at(first, 2));
    fmt_may_break(f, arrow + 1, fmt_new_node(f), 0, false);
    expr(f, e->lambda.body, arrow + 1, base);
}

/* loop p = e for x in xs do ⏎ body: the body is indented from the line's construct, from the `loop`, or from a `for`
 * that begins a line. */
static void loop(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    uint32_t node = fmt_new_node(f);
    uint32_t assign = fmt_find_token(f, fmt_token_before(f, e->loop.state->span.end) + 1, T_ASSIGN);
    bound_pattern(f, e->loop.state, first + 1);
    fmt_place(f, assign + 1, fmt_at(first, 2));
    expr(f, e->loop.init, assign + 1, base);
    uint32_t word = fmt_last_token(f, e->loop.init, assign + 1) + 1, domain = word + 1;
    fmt_place(f, word, fmt_indented(base, 2));
    fmt_or_place(f, word, fmt_at(first, 0));
    fmt_or_place(f, word, fmt_at(first, 2));
    fmt_may_break(f, word, node, 1, false);
    bool leads = f->tokens[word].newline;
    if (e->loop.binder) {
        pattern(f, e->loop.binder);
        domain = fmt_token_before(f, e->loop.binder->span.end) + 1;
        while (f->tokens[domain].kind != T_IN && f->tokens[domain].kind != T_LT)
            domain++;
        domain++;
    }
    expr(f, e->loop.domain, domain, fmt_at(word, 0));
    uint32_t body = fmt_last_token(f, e->loop.domain, domain) + 2;
    fmt_place(f, body - 1, fmt_at(first, 2));
    fmt_place(f, body, leads ? fmt_at(word, 2) : fmt_indented(base, 2));
    fmt_or_place(f, body, fmt_at(first, 2));
    fmt_may_break(f, body, node, 0, false);
    expr(f, e->loop.body, body, leads ? fmt_at(word, 0) : base);
}

/* ---- apply-to-each ---- */

static void part(Formatter *f, uint32_t open, uint32_t word, uint32_t node)
{
    fmt_place(f, word, fmt_at(open, 0));
    fmt_or_place(f, word, fmt_at(open, 2));
    fmt_may_break(f, word, node, 0, true);
}

static void each(Formatter *f, const Expr *e, uint32_t open, Place base)
{
    uint32_t node = fmt_new_node(f), word = open, first_binder = 0;
    f->tokens[open + 1].gap = f->tokens[f->tokens[open].partner].gap = 1;
    bracket(f, open, base);
    if (e->each.body) {
        expr(f, e->each.body, open + 1, fmt_at(open + 1, 0));
        word = fmt_last_token(f, e->each.body, open + 1) + 1;
        part(f, open, word, node);
    }
    for (uint32_t i = 0; i < e->each.nbinders; i++) {
        const Binder *b = &e->each.binders[i];
        uint32_t binder = word + 1, in = fmt_find_token(f, fmt_token_before(f, b->pat->span.end) + 1, T_IN);
        if (i == 0)
            first_binder = binder;
        if (i > 0) {
            fmt_place(f, word, fmt_at(open, 0));
            fmt_place(f, binder, f->tokens[word].newline ? fmt_at(word, 2) : fmt_at(first_binder, 0));
            fmt_may_break(f, binder, node, 1, false);
        } else if (word != open) {
            fmt_place(f, binder, fmt_at(open, 2));
        }
        bound_pattern(f, b->pat, binder);
        expr(f, b->sequence, in + 1, fmt_at(in + 1, 0));
        word = fmt_last_token(f, b->sequence, in + 1) + 1;
    }
    if (!e->each.guard)
        return;
    part(f, open, word, node);
    fmt_place(f, word + 1, fmt_at(open, 2));
    expr(f, e->each.guard, word + 1, fmt_at(word + 1, 0));
}

/* ---- all expressions ---- */

/* Parentheses around an expression: its own base is the inside if they begin the line. */
static uint32_t open_parentheses(Formatter *f, const Expr *e, uint32_t first, Place *base)
{
    while (f->tokens[first].start < e->span.start) {
        bool leads = f->tokens[first].newline;
        bracket(f, first, *base);
        if (!f->tokens[first + 1].newline)
            fmt_place(f, first + 1, fmt_at(first, 1));
        if (leads || f->tokens[first + 1].newline)
            *base = fmt_at(first + 1, 0);
        first++;
    }
    return first;
}

static void plain_expr(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    switch (e->kind) {
    case E_INT:
    case E_FLOAT:
    case E_BOOL:
    case E_CHAR:
        if (f->tokens[first].kind == T_MINUS)
            f->tokens[first + 1].gap = 0;
        return;
    case E_STRING:
    case E_NAME: return;
    case E_TUPLE:
    case E_ARRAY: items(f, e->items.items, e->items.n, first, base); return;
    case E_RECORD: record(f, e, first, base); return;
    case E_APPLY: arguments(f, e->apply.fn, first, e->apply.args, e->apply.nargs, base); return;
    case E_CTOR:
        if (e->ctor.arg)
            arguments(f, NULL, first, (Expr *const[]){e->ctor.arg}, 1, base);
        return;
    case E_UNARY: unary(f, e, first, base); return;
    case E_BINARY: binary(f, e, first, base); return;
    case E_PIPE: pipe(f, e, first, base); return;
    case E_RANGE: range(f, e, first, base); return;
    case E_OP_SECTION:
    case E_LEFT_SECTION:
    case E_RIGHT_SECTION: section(f, e, first, base); return;
    case E_INDEX: {
        uint32_t open = fmt_last_token(f, e->index.array, first) + 1;
        expr(f, e->index.array, first, base);
        bracket(f, open, base);
        expr(f, e->index.index, open + 1, fmt_at(open + 1, 0));
        return;
    }
    case E_SLICE: slice(f, e, first, base); return;
    case E_FIELD: expr(f, e->field.value, first, base); return;
    case E_PROJECT: expr(f, e->project.value, first, base); return;
    case E_UPDATE_INDEX:
    case E_UPDATE_FIELD: update(f, e, first, base); return;
    case E_UPDATE_PART: update_part(f, e, first, base); return;
    case E_LET:
    case E_LET_FUN: let(f, e, first, base); return;
    case E_IF: if_else(f, e, first, base); return;
    case E_MATCH: match(f, e, first, base); return;
    case E_LAMBDA: lambda(f, e, first, base); return;
    case E_LOOP: loop(f, e, first, base); return;
    case E_ASCRIBE:
        expr(f, e->ascribe.value, first, base);
        fmt_place(f, fmt_last_token(f, e->ascribe.value, first) + 1, fmt_at(first, 2));
        type(f, e->ascribe.type);
        return;
    case E_EACH: each(f, e, first, base); return;
    }
}

static void expr(Formatter *f, const Expr *e, uint32_t first, Place base)
{
    base = fmt_base(f, first, base);
    f->depth++;
    first = open_parentheses(f, e, first, &base);
    plain_expr(f, e, first, fmt_base(f, first, base));
    f->depth--;
}

/* ---- definitions ---- */

/* From `head` on: def f (x: t) : r = e. Returns where its `=` stands. */
static uint32_t value_definition(Formatter *f, const Def *def, uint32_t head)
{
    uint32_t behind = fmt_token_at(f, def->name_span.end), node = fmt_new_node(f);
    for (uint32_t i = 0; i < def->nparams; i++) {
        const Pat *p = def->params[i];
        uint32_t first = behind + (i == 0 ? def->ntype_params : 0);
        pattern(f, p);
        bool in_parentheses = f->tokens[first].start < p->span.start;
        behind = in_parentheses ? f->tokens[first].partner + 1 : fmt_token_before(f, p->span.end) + 1;
        fmt_place(f, first, fmt_at(head, 4));
        fmt_may_break(f, first, node, 1, false);
    }
    if (def->result) {
        type(f, def->result);
        behind = fmt_token_before(f, def->result->span.end);
    }
    uint32_t assign = fmt_find_token(f, behind, T_ASSIGN);
    fmt_place(f, assign, fmt_at(head, 2));
    fmt_place(f, assign + 1, fmt_at(head, 2));
    fmt_or_place(f, assign + 1, fmt_at(head, 4));
    fmt_may_break(f, assign + 1, node, 0, false);
    expr(f, def->body, assign + 1, fmt_at(head, 0));
    return assign;
}

static uint32_t type_definition(Formatter *f, const Def *def, uint32_t head)
{
    uint32_t assign = fmt_find_token(f, head, T_ASSIGN), last = fmt_token_before(f, def->result->span.end), depth = 0;
    type(f, def->result);
    for (uint32_t i = assign; i <= last; i++) {
        int kind = f->tokens[i].kind;
        if (fmt_is_closing(kind))
            depth--;
        if (depth == 0)
            fmt_place(f, i, fmt_at(head, 2));
        if (depth == 0 && (kind == T_BAR || kind == T_FILTER_BAR))
            fmt_may_break(f, i, NOWHERE / RANKS, 0, true);
        if (fmt_is_opening(kind))
            depth++;
    }
    return assign;
}

/* Definitions of one line each, directly below each other, may have their `=` aligned. */
static void definition(Formatter *f, const Def *def, uint32_t *above, uint32_t *above_head)
{
    uint32_t head = fmt_token_at(f, def->span.start), assign = head;
    fmt_place(f, head, fmt_at(NOWHERE, 0));
    switch (def->kind) {
    case DEF_VALUE: assign = value_definition(f, def, head); break;
    case DEF_TYPE: assign = type_definition(f, def, head); break;
    case DEF_IMPORT: return;
    }
    bool neighbours = *above != assign && !f->tokens[head].blank_before && f->tokens[head].ncomments == 0;
    for (uint32_t i = *above_head + 1; neighbours && i < head; i++)
        neighbours = !f->tokens[i].newline;
    if (neighbours && head > 0)
        fmt_align_pair(f, *above, *above_head, assign, head);
    *above = assign;
    *above_head = head;
}

/* ---- what holds for any token ---- */

static uint8_t usual_gap(int before, int kind)
{
    if (before == T_PAREN_OPEN || before == T_ARRAY_OPEN || before == T_INDEX_OPEN || before == T_BRACE_OPEN)
        return 0;
    if (fmt_is_closing(kind) || kind == T_COMMA || kind == T_SEMICOLON || kind == T_INDEX_OPEN || kind == T_PROJECTION)
        return 0;
    if (kind == T_DOT) /* 1 .0 is no number */
        return before == T_INT || before == T_FLOAT;
    return before != T_DOT;
}

/* Words that never stand alone at the end of a line, unless a comment follows. */
static bool takes_next(int before)
{
    switch (before) {
    case T_DEF:
    case T_ENTRY:
    case T_TYPE:
    case T_IMPORT:
    case T_LET:
    case T_IF:
    case T_MATCH:
    case T_CASE:
    case T_LOOP:
    case T_LAMBDA:
    case T_DOT:
    case T_NOT:
    case T_TILDE: return true;
    default: return false;
    }
}

static void usual_layout(Formatter *f)
{
    uint32_t head = 0;
    VEC(uint32_t) open = {0};
    for (uint32_t i = 0; i <= f->n; i++) {
        FmtToken *t = &f->tokens[i];
        int before = i > 0 ? f->tokens[i - 1].kind : T_END;
        if (t->kind == T_DEF || t->kind == T_ENTRY || t->kind == T_TYPE || t->kind == T_IMPORT) {
            head = i;
            t->newline = true;
        }
        if (fmt_is_closing(t->kind))
            open.n--;
        if (t->ncomments == 0 && takes_next(before))
            t->newline = false;
        t->gap = usual_gap(before, t->kind);
        t->level = UINT32_MAX;
        t->align_head = t->align_next = 0;
        fmt_place(f, i, open.n ? fmt_at(open.at[open.n - 1], fmt_is_closing(t->kind) ? 0 : 2) : fmt_at(head, 4));
        if (i == f->n)
            fmt_place(f, i, fmt_at(NOWHERE, 0));
        if (fmt_is_opening(t->kind))
            vec_push(f->session->arena, &open, i);
    }
}

void fmt_layout(Formatter *f)
{
    uint32_t above = 0, above_head = 0;
    f->depth = 0;
    f->nodes = f->n; /* the nodes of operators are their first tokens */
    usual_layout(f);
    for (uint32_t i = 0; i < f->module->ndefs; i++)
        definition(f, f->module->defs[i], &above, &above_head);
}
