#include "syntax/ast_walk.h"

typedef struct Walk {
    const AstVisitor *v;
    Arena *scratch;
    VEC(Expr *) todo;
    Expr *first[32]; /* the room of `todo` until it needs more: a program has thousands of small definitions */
} Walk;

static void walk_type(Walk *w, const TypeExpr *t)
{
    if (!t)
        return;
    if (w->v->type)
        w->v->type(w->v->context, t);
    switch (t->kind) {
    case TE_NAME:
        for (uint32_t i = 0; i < t->name.nargs; i++)
            walk_type(w, t->name.args[i]);
        return;
    case TE_TUPLE:
        for (uint32_t i = 0; i < t->tuple.n; i++)
            walk_type(w, t->tuple.items[i]);
        return;
    case TE_RECORD:
    case TE_SUM:
        for (uint32_t i = 0; i < t->record.n; i++)
            walk_type(w, t->record.fields[i].type);
        return;
    case TE_ARRAY: walk_type(w, t->array.element); return;
    case TE_FUN:
        walk_type(w, t->fun.from);
        walk_type(w, t->fun.to);
        return;
    }
}

static void walk_pat(Walk *w, const Pat *p)
{
    if (!p)
        return;
    if (w->v->pat)
        w->v->pat(w->v->context, p);
    switch (p->kind) {
    case PAT_NAME:
    case PAT_WILD:
    case PAT_LITERAL: return;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            walk_pat(w, p->tuple.items[i]);
        return;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++)
            walk_pat(w, p->record.fields[i].pat);
        return;
    case PAT_ASCRIBE:
        walk_pat(w, p->ascribe.pat);
        walk_type(w, p->ascribe.type);
        return;
    case PAT_CTOR: walk_pat(w, p->ctor.arg); return;
    }
}

static void walk_pats(Walk *w, Pat *const *pats, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        walk_pat(w, pats[i]);
}

/* Expressions wait for their turn. */
static void add(Walk *w, Expr *e)
{
    if (e)
        vec_push(w->scratch, &w->todo, e);
}

static void add_all(Walk *w, Expr *const *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add(w, items[i]);
}

static void walk_def(Walk *w, const Def *def)
{
    walk_pats(w, def->params, def->nparams);
    walk_type(w, def->result);
    add(w, def->body);
}

static void walk_match(Walk *w, const Expr *e)
{
    add(w, e->match.subject);
    for (uint32_t i = 0; i < e->match.n; i++) {
        walk_pat(w, e->match.cases[i].pat);
        add(w, e->match.cases[i].body);
    }
}

static void walk_loop(Walk *w, const Expr *e)
{
    walk_pat(w, e->loop.state);
    walk_pat(w, e->loop.binder);
    add(w, e->loop.init);
    add(w, e->loop.domain);
    add(w, e->loop.body);
}

static void walk_each(Walk *w, const Expr *e)
{
    for (uint32_t i = 0; i < e->each.nbinders; i++) {
        walk_pat(w, e->each.binders[i].pat);
        add(w, e->each.binders[i].sequence);
    }
    add(w, e->each.guard);
    add(w, e->each.body);
}

static void add_two(Walk *w, Expr *a, Expr *b)
{
    add(w, a);
    add(w, b);
}

static void add_three(Walk *w, Expr *a, Expr *b, Expr *c)
{
    add_two(w, a, b);
    add(w, c);
}

static void walk_parts(Walk *w, const Expr *e)
{
    switch (e->kind) {
    case E_INT:
    case E_FLOAT:
    case E_BOOL:
    case E_CHAR:
    case E_STRING:
    case E_NAME:
    case E_OP_SECTION: return;
    case E_TUPLE:
    case E_ARRAY: add_all(w, e->items.items, e->items.n); return;
    case E_RECORD:
        for (uint32_t i = 0; i < e->record.n; i++)
            add(w, e->record.fields[i].value);
        return;
    case E_APPLY:
        add(w, e->apply.fn);
        add_all(w, e->apply.args, e->apply.nargs);
        return;
    case E_CTOR: add(w, e->ctor.arg); return;
    case E_UNARY: add(w, e->unary.arg); return;
    case E_BINARY:
    case E_LEFT_SECTION:
    case E_RIGHT_SECTION: add_two(w, e->binary.left, e->binary.right); return;
    case E_PIPE: add_two(w, e->pipe.value, e->pipe.fn); return;
    case E_RANGE: add_three(w, e->range.from, e->range.second, e->range.to); return;
    case E_INDEX: add_two(w, e->index.array, e->index.index); return;
    case E_SLICE: add_three(w, e->slice.array, e->slice.from, e->slice.to); return;
    case E_FIELD: add(w, e->field.value); return;
    case E_PROJECT: add(w, e->project.value); return;
    case E_UPDATE_INDEX: add_three(w, e->update_index.array, e->update_index.index, e->update_index.value); return;
    case E_UPDATE_FIELD: add_two(w, e->update_field.record, e->update_field.value); return;
    case E_UPDATE_PART: add_two(w, e->update_part.part, e->update_part.value); return;
    case E_LET:
        walk_pat(w, e->let.pat);
        add_two(w, e->let.value, e->let.body);
        return;
    case E_LET_FUN:
        walk_def(w, e->let_fun.def);
        add(w, e->let_fun.body);
        return;
    case E_IF: add_three(w, e->if_.cond, e->if_.then_e, e->if_.else_e); return;
    case E_MATCH: walk_match(w, e); return;
    case E_LAMBDA:
        walk_pats(w, e->lambda.params, e->lambda.nparams);
        add(w, e->lambda.body);
        return;
    case E_LOOP: walk_loop(w, e); return;
    case E_ASCRIBE:
        walk_type(w, e->ascribe.type);
        add(w, e->ascribe.value);
        return;
    case E_EACH: walk_each(w, e); return;
    }
}

static void walk_begin(Walk *w, const AstVisitor *v)
{
    w->v = v;
    w->scratch = arena_create();
    w->todo.at = w->first;
    w->todo.n = 0;
    w->todo.cap = sizeof w->first / sizeof *w->first;
}

static void walk_waiting(Walk *w)
{
    while (w->todo.n > 0) {
        Expr *e = w->todo.at[--w->todo.n];
        if (w->v->expr)
            w->v->expr(w->v->context, e);
        walk_parts(w, e);
    }
    arena_destroy(w->scratch);
}

void ast_walk(const Def *def, const AstVisitor *v)
{
    Walk w;
    walk_begin(&w, v);
    walk_def(&w, def);
    walk_waiting(&w);
}

void ast_walk_expr(Expr *e, const AstVisitor *v)
{
    Walk w;
    walk_begin(&w, v);
    add(&w, e);
    walk_waiting(&w);
}
