#include "types/check_internal.h"

#include "support/lineage.h"
#include "syntax/ast_walk.h"

#include <string.h>

/* Scoping: gives every name its Ref (without the types), and collects which top-level definitions call
 * which. After this, inference looks nothing up by name: a local variable's type is that of its pattern.
 *
 * Size names. In the type of a parameter, a size `n` is the variable or size of that name in scope, else the constant
 * of that name (the file's own or imported), else it is bound there, as an i64 for the rest of the definition. Anywhere
 * else it has to be one of the first two. Inside a function type nothing is bound, and an unknown size means any
 * length. */

typedef struct Binding {
    Lineage lineage; /* of the scope that begins with it */
    Name name;
    RefKind kind; /* REF_LOCAL, REF_LOCAL_FUN, REF_SIZE */
    uint32_t pat_id;
    Def *def;
    Span span;
    const struct Binding *next;
} Binding;

/* Local functions whose bodies are being resolved. */
typedef struct Pending {
    const Expr *let_fun;
    const struct Pending *next;
} Pending;

/* Apply-to-each whose sequences are being resolved: for a better message. */
typedef struct PendingEach {
    const Expr *each;
    const struct PendingEach *next;
} PendingEach;

typedef struct Resolver {
    Checker *c;
    const Binding *scope;
    const Pending *pending;
    const PendingEach *pending_each;
    struct CallList *calls;
    const Expr *field; /* the innermost e.x whose e is being resolved */
    PtrMap undefined;  /* names that have been reported in this definition */
    PtrMap latest;     /* the last binding of each name */
} Resolver;

static void resolve_expr(Resolver *r, Expr *e);
static void add_call(Resolver *r, const Def *def);

/* ---- scopes ---- */

static const Binding *find(const Binding *scope, const Binding *end, Name name)
{
    for (; scope != end; scope = scope->next) {
        if (scope->name == name)
            return scope;
    }
    return NULL;
}

static const Binding *find_in_scope(const Resolver *r, Name name)
{
    const Binding *latest = ptrmap_get(&r->latest, name);
    if (!latest || (r->scope && lineage_has(&r->scope->lineage, &latest->lineage)))
        return latest;
    return find(r->scope, NULL, name);
}

static Binding *push(Resolver *r, RefKind kind, Name name, Span span)
{
    Binding *b = arena_new(r->c->arena, Binding);
    b->name = name;
    b->kind = kind;
    b->span = span;
    b->next = r->scope;
    b->lineage = lineage_before(r->scope ? &r->scope->lineage : NULL);
    ptrmap_put(r->c->arena, &r->latest, name, b);
    r->scope = b;
    return b;
}

/* `group`: the scope before the patterns that stand side by side; among them a name occurs once. */
static void bind_variable(Resolver *r, const Pat *p, const Binding *group)
{
    const Binding *old = find(r->scope, group, p->name);
    if (old && old->kind == REF_SIZE) {
        diag_error(r->c->s, p->span, DIAG_SIZE_ORDER, "`%s` is already the size bound by an earlier parameter",
                   p->name);
        diag_note(r->c->s, old->span, "put `%s` before this to make it that size", p->name);
    } else if (old) {
        diag_error(r->c->s, p->span, DIAG_BOUND_TWICE, "`%s` is bound twice", p->name);
        diag_note(r->c->s, old->span, "it is already bound here");
    }
    push(r, REF_LOCAL, p->name, p->span)->pat_id = p->id;
    r->c->binders[p->id] = p;
}

/* ---- sizes ---- */

typedef enum SizeMode { SIZES_BIND, SIZES_KNOWN, SIZES_FREE } SizeMode;

/* A definition without parameters that the file, or one that it imports, has under that name; not the prelude's. */
static Def *find_constant(const ModuleScope *scope, Name name)
{
    const Imported *imported = ptrmap_get(&scope->imported_values, name);
    Def *def = ptrmap_get(&scope->values, name);
    if (!def && imported && !imported->other)
        def = imported->def;
    return def && def->nparams == 0 ? def : NULL;
}

static void size_is_constant(Resolver *r, TypeExpr *te, Def *constant)
{
    ptrmap_put(r->c->arena, r->c->out->size_defs, te, constant);
    add_call(r, constant);
}

static void resolve_size(Resolver *r, TypeExpr *te, SizeMode mode)
{
    Name name = te->array.size_name;
    const Binding *b = find_in_scope(r, name);
    if (b && b->kind == REF_LOCAL) {
        ptrmap_put(r->c->arena, &r->c->known_sizes, te, (void *)((uintptr_t)b->pat_id + 1));
    } else if (!b || b->kind == REF_LOCAL_FUN) {
        Def *constant = b ? NULL : find_constant(r->c->scope, name);
        if (constant && mode != SIZES_FREE)
            size_is_constant(r, te, constant);
        else if (mode == SIZES_BIND)
            push(r, REF_SIZE, name, te->array.size_span);
        else if (mode == SIZES_KNOWN)
            diag_error(r->c->s, te->array.size_span, DIAG_UNDEFINED_SIZE, "size `%s` is not known here", name);
    }
}

static void resolve_sizes(Resolver *r, TypeExpr *te, SizeMode mode)
{
    switch (te->kind) {
    case TE_NAME:
        for (uint32_t i = 0; i < te->name.nargs; i++)
            resolve_sizes(r, te->name.args[i], mode);
        return;
    case TE_TUPLE:
        for (uint32_t i = 0; i < te->tuple.n; i++)
            resolve_sizes(r, te->tuple.items[i], mode);
        return;
    case TE_RECORD:
        for (uint32_t i = 0; i < te->record.n; i++)
            resolve_sizes(r, te->record.fields[i].type, mode);
        return;
    case TE_SUM: /* a value may have another constructor, and no length to bind a name to */
        for (uint32_t i = 0; i < te->record.n; i++) {
            if (te->record.fields[i].type)
                resolve_sizes(r, te->record.fields[i].type, mode == SIZES_BIND ? SIZES_KNOWN : mode);
        }
        return;
    case TE_ARRAY:
        if (te->array.size_kind == SIZE_NAME)
            resolve_size(r, te, mode);
        resolve_sizes(r, te->array.element, mode);
        return;
    case TE_FUN: {
        SizeMode inner = mode == SIZES_BIND ? SIZES_FREE : mode;
        resolve_sizes(r, te->fun.from, inner);
        resolve_sizes(r, te->fun.to, inner);
        return;
    }
    }
}

/* ---- patterns ---- */

static void resolve_pat(Resolver *r, Pat *p, const Binding *group, SizeMode mode)
{
    switch (p->kind) {
    case PAT_NAME: bind_variable(r, p, group); return;
    case PAT_WILD:
    case PAT_LITERAL: return;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++)
            resolve_pat(r, p->tuple.items[i], group, mode);
        return;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++)
            resolve_pat(r, p->record.fields[i].pat, group, mode);
        return;
    case PAT_ASCRIBE:
        resolve_pat(r, p->ascribe.pat, group, mode);
        if (p->ascribe.pat->kind == PAT_NAME)
            r->c->binders[p->ascribe.pat->id] = p;
        resolve_sizes(r, p->ascribe.type, mode);
        return;
    case PAT_CTOR:
        if (p->ctor.arg)
            resolve_pat(r, p->ctor.arg, group, mode);
        return;
    }
}

static void resolve_params(Resolver *r, Pat **params, uint32_t n)
{
    const Binding *group = r->scope;
    for (uint32_t i = 0; i < n; i++)
        resolve_pat(r, params[i], group, SIZES_BIND);
}

/* ---- names ---- */

/* Notes for an unknown name that has to do with a qualified import. */
static bool is_module_name(Resolver *r, const Expr *e)
{
    const PtrMap *aliases = &r->c->scope->aliases;
    if (ptrmap_get(aliases, e->name)) {
        diag_note(r->c->s, e->span, "it is a module: its definitions are written `%s.name`", e->name);
        return true;
    }
    for (uint32_t i = 0; i < aliases->cap; i++) {
        const ModuleScope *m = aliases->values[i];
        if (!aliases->keys[i] || !scope_exported(m, &m->values, e->name))
            continue;
        diag_note(r->c->s, e->span, "did you mean `%s.%s`?", (Name)aliases->keys[i], e->name);
        return true;
    }
    return false;
}

/* `let rec f x = …` has made a function `rec` with a parameter `f`. */
static bool note_let_rec(Resolver *r, const Expr *e)
{
    for (const Binding *b = r->scope; b; b = b->next) {
        const Pat *first = b->kind == REF_LOCAL_FUN && b->def->nparams > 0 ? b->def->params[0] : NULL;
        if (!first || strcmp(b->name, "rec") != 0 || first->kind != PAT_NAME || first->name != e->name)
            continue;
        diag_note(r->c->s, b->span,
                  "this is a function called `rec`; a function may call itself without that word: `let %s ...`",
                  e->name);
        return true;
    }
    return false;
}

static bool pattern_binds(const Pat *p, Name name)
{
    bool found = p->kind == PAT_NAME && p->name == name;
    for (uint32_t i = 0; p->kind == PAT_TUPLE && i < p->tuple.n; i++)
        found = found || pattern_binds(p->tuple.items[i], name);
    return found;
}

/* A name of a binder, used in another binder's sequence. */
static bool note_other_binder(Resolver *r, const Expr *e)
{
    for (const PendingEach *p = r->pending_each; p; p = p->next) {
        for (uint32_t i = 0; i < p->each->each.nbinders; i++) {
            if (!pattern_binds(p->each->each.binders[i].pat, e->name))
                continue;
            diag_note(r->c->s, p->each->each.binders[i].pat->span,
                      "this binder stands beside the other; "
                      "one inside another is `flatten { { e : x in %s } : %s in ... }`",
                      e->name, e->name);
            return true;
        }
    }
    return false;
}

/* `map (|x| x + 1) xs` is a section of `|`. */
static bool note_bars(Resolver *r, const Expr *e)
{
    Checker *c = r->c;
    const char *text = c->s->files.at[e->span.file]->text, *bars = arena_printf(c->arena, "(|%s|", e->name);
    size_t n = strlen(bars);
    uint32_t start = e->span.end;
    while (start > 0 && text[start - 1] != '\n' && strncmp(text + start, bars, n) != 0)
        start--;
    if (strncmp(text + start, bars, n) != 0)
        return false;
    diag_note_text(c->s, "a function without a name is `\\%s -> e`", e->name);
    return true;
}

static void suggest_name(Resolver *r, const Expr *e)
{
    Checker *c = r->c;
    Suggestion g = dp_guess_start(e->name);
    for (const Binding *b = r->scope; b; b = b->next)
        suggest_consider(&g, b->name);
    suggest_consider_map(&g, &c->scope->values);
    suggest_consider_map(&g, &c->scope->imported_values);
    suggest_consider_map(&g, &c->scopes[0].values);
    suggest_consider_map(&g, &c->builtin_names);
    suggest_note(c->s, e->span, &g);
}

static void not_defined(Resolver *r, const Expr *e)
{
    Checker *c = r->c;
    if (ptrmap_get(&r->undefined, e->name)) /* once is enough */
        return;
    ptrmap_put(c->arena, &r->undefined, e->name, (void *)e);
    diag_error(c->s, e->span, DIAG_UNDEFINED_NAME, "`%s` is not defined", e->name);
    if (note_let_rec(r, e) || note_other_binder(r, e) || note_bars(r, e))
        return;
    if (is_ctor(c, e->name)) {
        diag_note_text(c->s, "the constructor is written `#%s`", e->name);
        return;
    }
    bool qualifies = r->field && r->field->field.value == e;
    if (is_module_name(r, e) || (qualifies && note_unknown_module(c, e->span, e->name, r->field->field.name, false)))
        return;
    if (!note_library_value(c, e->span, e->name) && !note_foreign_name(c->s, e->name))
        suggest_name(r, e);
}

static void add_call(Resolver *r, const Def *def)
{
    for (uint32_t i = 0; i < r->calls->to.n; i++) {
        if (r->calls->to.at[i] == def->index)
            return;
    }
    vec_push(r->c->arena, &r->calls->to, def->index);
}

static void refer_to(Resolver *r, Ref *ref, Def *def)
{
    ref->kind = REF_DEF;
    ref->def = def;
    add_call(r, def);
}

static void resolve_global(Resolver *r, Expr *e, Ref *ref)
{
    Checker *c = r->c;
    Def *def = NULL;
    bool found = scope_find_value(c, e->name, e->span, &def);
    uintptr_t builtin = found ? 0 : (uintptr_t)ptrmap_get(&c->builtin_names, e->name);
    if (def) {
        refer_to(r, ref, def);
    } else if (found) {
        return; /* reported */
    } else if (builtin && (c->scope->may_use_internals || !is_internal(e->name))) {
        ref->kind = REF_PRIM;
        ref->builtin = (Builtin)(builtin - 1);
    } else {
        not_defined(r, e);
    }
}

/* A local function, in whose own body this perhaps is. */
static void refer_to_local(Resolver *r, Ref *ref, Def *def)
{
    ref->def = def;
    for (const Pending *p = r->pending; p; p = p->next)
        if (p->let_fun->let_fun.def == def)
            r->c->out->let_fun_recursive[p->let_fun->id] = true;
}

static void resolve_name(Resolver *r, Expr *e)
{
    Ref *ref = &r->c->out->refs[e->id];
    const Binding *b = find_in_scope(r, e->name);
    if (!b) {
        resolve_global(r, e, ref);
        return;
    }
    ref->kind = b->kind;
    if (b->kind == REF_LOCAL)
        ref->pat_id = b->pat_id;
    else if (b->kind == REF_LOCAL_FUN)
        refer_to_local(r, ref, b->def);
    else
        ref->size_name = b->name;
}

/* `M.x`: the module that M means here. A value of that name hides it; those of the prelude have no fields,
 * and so are no reason to doubt what is meant. */
static const ModuleScope *module_named(const Resolver *r, const Expr *e)
{
    const ModuleScope *m = e->kind == E_NAME ? scope_find_module(r->c, e->name) : NULL;
    if (!m || find_in_scope(r, e->name))
        return NULL;
    const ModuleScope *here = r->c->scope;
    bool hidden = ptrmap_get(&here->values, e->name) || ptrmap_get(&here->imported_values, e->name);
    return hidden ? NULL : m;
}

/* The part of e.x that is still to be resolved. */
static Expr *resolve_field(Resolver *r, Expr *e)
{
    const ModuleScope *m = module_named(r, e->field.value);
    if (!m) {
        r->field = e;
        return e->field.value;
    }
    Def *def = scope_exported(m, &m->values, e->field.name);
    if (def)
        refer_to(r, &r->c->out->refs[e->id], def);
    else
        no_such_member(r->c, e->field.name_span, e->field.value->name, &m->values, e->field.name);
    return NULL;
}

/* ---- expressions ---- */

static void resolve_function(Resolver *r, Def *def)
{
    const Binding *saved = r->scope;
    resolve_params(r, def->params, def->nparams);
    if (def->result)
        resolve_sizes(r, def->result, SIZES_KNOWN);
    resolve_expr(r, def->body);
    r->scope = saved;
}

static void resolve_let(Resolver *r, Expr *e)
{
    resolve_expr(r, e->let.value);
    resolve_pat(r, e->let.pat, r->scope, SIZES_KNOWN);
}

static void resolve_let_fun(Resolver *r, Expr *e)
{
    Def *def = e->let_fun.def;
    Pending pending = {e, r->pending};
    r->pending = &pending;
    push(r, REF_LOCAL_FUN, def->name, def->name_span)->def = def;
    resolve_function(r, def);
    r->pending = pending.next;
}

static void resolve_match(Resolver *r, Expr *e)
{
    const Binding *saved = r->scope;
    resolve_expr(r, e->match.subject);
    for (uint32_t i = 0; i < e->match.n; i++) {
        resolve_pat(r, e->match.cases[i].pat, saved, SIZES_KNOWN);
        resolve_expr(r, e->match.cases[i].body);
        r->scope = saved;
    }
}

static void resolve_lambda(Resolver *r, Expr *e)
{
    const Binding *saved = r->scope;
    resolve_params(r, e->lambda.params, e->lambda.nparams);
    resolve_expr(r, e->lambda.body);
    r->scope = saved;
}

/* A count or sequence is computed once, outside; a condition sees the state. */
static void resolve_loop(Resolver *r, Expr *e)
{
    const Binding *saved = r->scope;
    resolve_expr(r, e->loop.init);
    if (e->loop.kind != LOOP_WHILE)
        resolve_expr(r, e->loop.domain);
    resolve_pat(r, e->loop.state, saved, SIZES_KNOWN);
    if (e->loop.kind == LOOP_WHILE)
        resolve_expr(r, e->loop.domain);
    else
        resolve_pat(r, e->loop.binder, saved, SIZES_KNOWN);
    resolve_expr(r, e->loop.body);
    r->scope = saved;
}

static void resolve_each(Resolver *r, Expr *e)
{
    const Binding *saved = r->scope;
    PendingEach pending = {e, r->pending_each};
    r->pending_each = &pending;
    for (uint32_t i = 0; i < e->each.nbinders; i++)
        resolve_expr(r, e->each.binders[i].sequence);
    r->pending_each = pending.next;
    for (uint32_t i = 0; i < e->each.nbinders; i++)
        resolve_pat(r, e->each.binders[i].pat, saved, SIZES_KNOWN);
    if (e->each.guard)
        resolve_expr(r, e->each.guard);
    if (e->each.body)
        resolve_expr(r, e->each.body);
    r->scope = saved;
}

static void resolve_optional(Resolver *r, Expr *e)
{
    if (e)
        resolve_expr(r, e);
}

static void resolve_items(Resolver *r, Expr **items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        resolve_expr(r, items[i]);
}

/* Resolves all but one part, which it returns, so that long chains (of lets, of operators) cost no
 * stack. */
static Expr *resolve_step(Resolver *r, Expr *e)
{
    switch (e->kind) {
    case E_INT:
    case E_FLOAT:
    case E_BOOL:
    case E_CHAR:
    case E_STRING:
    case E_OP_SECTION: return NULL;
    case E_NAME: resolve_name(r, e); return NULL;
    case E_TUPLE:
    case E_ARRAY: resolve_items(r, e->items.items, e->items.n); return NULL;
    case E_RECORD:
        for (uint32_t i = 0; i < e->record.n; i++)
            resolve_expr(r, e->record.fields[i].value);
        return NULL;
    case E_APPLY: resolve_items(r, e->apply.args, e->apply.nargs); return e->apply.fn;
    case E_CTOR: return e->ctor.arg;
    case E_UNARY: return e->unary.arg;
    case E_BINARY: resolve_expr(r, e->binary.right); return e->binary.left;
    case E_LEFT_SECTION: return e->binary.left;
    case E_RIGHT_SECTION: return e->binary.right;
    case E_PIPE:
        resolve_expr(r, e->pipe.backward ? e->pipe.value : e->pipe.fn);
        return e->pipe.backward ? e->pipe.fn : e->pipe.value;
    case E_RANGE:
        resolve_expr(r, e->range.from);
        resolve_optional(r, e->range.second);
        return e->range.to;
    case E_INDEX: resolve_expr(r, e->index.index); return e->index.array;
    case E_SLICE:
        resolve_optional(r, e->slice.from);
        resolve_optional(r, e->slice.to);
        return e->slice.array;
    case E_FIELD: return resolve_field(r, e);
    case E_PROJECT: return e->project.value;
    case E_UPDATE_INDEX:
        resolve_expr(r, e->update_index.index);
        resolve_expr(r, e->update_index.value);
        return e->update_index.array;
    case E_UPDATE_FIELD: resolve_expr(r, e->update_field.value); return e->update_field.record;
    case E_UPDATE_PART: resolve_expr(r, e->update_part.value); return e->update_part.part;
    case E_LET: resolve_let(r, e); return e->let.body;
    case E_LET_FUN: resolve_let_fun(r, e); return e->let_fun.body;
    case E_IF:
        resolve_expr(r, e->if_.cond);
        resolve_expr(r, e->if_.then_e);
        return e->if_.else_e;
    case E_MATCH: resolve_match(r, e); return NULL;
    case E_LAMBDA: resolve_lambda(r, e); return NULL;
    case E_LOOP: resolve_loop(r, e); return NULL;
    case E_ASCRIBE: resolve_sizes(r, e->ascribe.type, SIZES_KNOWN); return e->ascribe.value;
    case E_EACH: resolve_each(r, e); return NULL;
    }
    return NULL;
}

static void resolve_expr(Resolver *r, Expr *e)
{
    const Binding *saved = r->scope;
    while (e)
        e = resolve_step(r, e);
    r->scope = saved;
}

void resolve_definition(Checker *c, Def *def)
{
    Resolver r = {.c = c, .calls = &c->calls[def->index]};
    c->scope = scope_of(c, def);
    resolve_function(&r, def);
}

/* An abbreviation's own names of sizes stand for any length, one for each use; those of constants for these. */
static void visit_type_size(void *context, const TypeExpr *te)
{
    Checker *c = context;
    Def *constant =
        te->kind == TE_ARRAY && te->array.size_kind == SIZE_NAME ? find_constant(c->scope, te->array.size_name) : NULL;
    if (constant)
        ptrmap_put(c->arena, c->out->size_defs, te, constant);
}

void resolve_type_sizes(Checker *c, ModuleScope *scope, const Def *type)
{
    AstVisitor visitor = {.context = c, .type = visit_type_size};
    c->scope = scope;
    ast_walk(type, &visitor);
}
