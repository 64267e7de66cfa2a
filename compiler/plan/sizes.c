#include "plan/sizes.h"

#include <inttypes.h>
#include <string.h>

/* Formulas of formulas: deeper and longer ones are cut off. */
enum { MOST_DEPTH = 8, MOST_LENGTH = 60 };

/* ---- where variables are bound ---- */

typedef struct Binding {
    Sizes *z;
    const FlatStmt *stmt;
} Binding;

static void note_bound(void *ctx, FlatVar v)
{
    Binding *b = ctx;
    b->z->def[v] = b->stmt;
}

static void note_block(void *ctx, FlatBlock *b)
{
    Sizes *z = ctx;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        Binding binding = {z, b->stmts.at[i]};
        flat_stmt_binds(binding.stmt, note_bound, &binding);
        flat_stmt_blocks(binding.stmt, note_block, z);
    }
}

Sizes sizes_of(Arena *arena, const FlatFn *fn)
{
    Sizes z = {arena, fn, arena_array(arena, const FlatStmt *, fn->vars.n + 1)};
    note_block(&z, fn->body);
    return z;
}

static uint32_t out_number(const FlatStmt *s, FlatVar v)
{
    for (uint32_t i = 0; i < s->nouts; i++)
        if (s->outs[i] == v)
            return i;
    return UINT32_MAX;
}

/* ---- scalar code ---- */

/* A body, or a block of it. */
typedef struct Scope {
    const Sizes *z;
    const FlatInputs *inputs;
    const CoreBlock *block;
    const struct Scope *around;
    int depth;
} Scope;

static const char *atom_text(const Scope *s, CoreAtom a);
static const char *host_text(const Sizes *z, FlatVar v, int depth);

static const CoreStmt *find_stmt(const Scope *s, CoreVar v, const Scope **found)
{
    const CoreStmt *def = NULL;
    for (; s && !def; s = s->around) {
        *found = s;
        def = core_block_def(s->block, (CoreAtom){.var = v});
    }
    return def;
}

static const FlatInput *find_input(const Scope *s, CoreVar v)
{
    for (uint32_t i = 0; i < s->inputs->n; i++)
        if (s->inputs->at[i].as == v)
            return &s->inputs->at[i];
    return NULL;
}

static const char *hint_text(const Scope *s, CoreVar v)
{
    const char *hint = s->z->fn->scope->vars.at[v].hint;
    return hint ? hint : "?";
}

static bool is_zero(CoreAtom a) { return a.is_const && a.bits == 0; }

static const char *prim_text(const Scope *s, const CoreStmt *p, CoreVar v)
{
    const char *sign = p->prim.op == PRIM_ADD ? "+" : p->prim.op == PRIM_SUB ? "-" : NULL;
    if (p->prim.op == PRIM_CONVERT)
        return atom_text(s, p->prim.args[0]);
    if (p->prim.op == PRIM_MAX && is_zero(p->prim.args[1])) /* lengths are not negative */
        return atom_text(s, p->prim.args[0]);
    if (p->prim.op == PRIM_SELECT && is_zero(p->prim.args[1])) /* the size of no rows is 0 */
        return atom_text(s, p->prim.args[2]);
    if (p->prim.op == PRIM_MUL)
        return sizes_product(s->z, atom_text(s, p->prim.args[0]), atom_text(s, p->prim.args[1]));
    return sign ? arena_printf(s->z->arena, "(%s %s %s)", atom_text(s, p->prim.args[0]), sign,
                               atom_text(s, p->prim.args[1]))
                : hint_text(s, v);
}

/* Where one side is 0, there is nothing to be counted there. */
static const char *if_text(const Scope *s, const CoreStmt *p, CoreVar v)
{
    uint32_t k = 0;
    while (p->vars[k] != v)
        k++;
    bool no_then = is_zero(p->if_.then_b->results[k]);
    if (!no_then && !is_zero(p->if_.else_b->results[k]))
        return hint_text(s, v);
    const CoreBlock *b = no_then ? p->if_.else_b : p->if_.then_b;
    Scope inner = {s->z, s->inputs, b, s, s->depth};
    return atom_text(&inner, b->results[k]);
}

static const char *stmt_text(const Scope *s, const CoreStmt *p, CoreVar v)
{
    switch (p->kind) {
    case CORE_ATOM: return atom_text(s, p->atom);
    case CORE_LENGTH: return arena_printf(s->z->arena, "length(%s)", atom_text(s, p->length.array));
    case CORE_INDEX:
        return arena_printf(s->z->arena, "%s[%s]", atom_text(s, p->index.array),
                            p->index.index.is_const ? atom_text(s, p->index.index) : "...");
    case CORE_PRIM: return prim_text(s, p, v);
    case CORE_IF: return if_text(s, p, v);
    default: return hint_text(s, v);
    }
}

static const char *atom_text(const Scope *s, CoreAtom a)
{
    if (a.is_const)
        return arena_printf(s->z->arena, "%" PRId64, (int64_t)a.bits);
    const FlatInput *in = find_input(s, a.var);
    if (in && in->kind == IN_HOST)
        return host_text(s->z, in->var, s->depth + 1);
    const Scope *found = s;
    const CoreStmt *p = in || s->depth > MOST_DEPTH ? NULL : find_stmt(s, a.var, &found);
    if (!p)
        return hint_text(s, a.var);
    Scope at = *found;
    at.depth = s->depth + 1;
    const char *text = stmt_text(&at, p, a.var);
    return strlen(text) > MOST_LENGTH ? hint_text(s, a.var) : text;
}

/* ---- variables of flat ---- */

static const char *host_text(const Sizes *z, FlatVar v, int depth)
{
    const FlatStmt *s = z->def[v];
    const FlatVarInfo *info = &z->fn->vars.at[v];
    uint32_t k = s ? out_number(s, v) : UINT32_MAX;
    if (depth > MOST_DEPTH || info->type.rank > 0 || k == UINT32_MAX || s->kind != FLAT_S_HOST)
        return info->hint ? info->hint : "?";
    Scope scope = {z, &s->body.inputs, s->body.block, NULL, depth};
    return atom_text(&scope, s->body.block->results[k]);
}

const char *sizes_scalar(const Sizes *z, FlatVar v) { return host_text(z, v, 0); }

static const char *each_text(const Sizes *z, FlatVar ctx, int depth);

/* The length of an array, or of each one of a column: "length(xs)". */
static const char *length_text(const Sizes *z, FlatVar v, int depth)
{
    const FlatStmt *s = z->def[v];
    const char *hint = z->fn->vars.at[v].hint;
    if (!hint && s && depth < MOST_DEPTH && s->kind == FLAT_S_VIEWS)
        return each_text(z, s->ctx, depth + 1);
    uint32_t k = !hint && s && s->kind == FLAT_S_ELEMS ? out_number(s, v) : UINT32_MAX;
    const char *whole = k == UINT32_MAX ? NULL : z->fn->vars.at[s->arrays.arrays[k]].hint;
    if (whole)
        return arena_printf(z->arena, "length(%s[...])", whole);
    if (!hint && s && s->kind == FLAT_S_HIST && z->fn->vars.at[s->reduce.size].kind == FLAT_HOST)
        return sizes_scalar(z, s->reduce.size);
    return arena_printf(z->arena, "length(%s)", hint ? hint : "?");
}

/* What the column of lengths says. */
static const char *lengths_text(const Sizes *z, FlatVar v, int depth)
{
    const char *hint = z->fn->vars.at[v].hint;
    const FlatStmt *s = z->def[v];
    uint32_t k = s ? out_number(s, v) : UINT32_MAX;
    if (k == UINT32_MAX || s->kind != FLAT_S_KERNEL)
        return hint ? hint : "?";
    Scope scope = {z, &s->body.inputs, s->body.block, NULL, depth};
    return atom_text(&scope, s->body.block->results[k]);
}

/* How many instances a segment of the context has. */
static const char *each_text(const Sizes *z, FlatVar ctx, int depth)
{
    const FlatStmt *s = z->def[ctx];
    if (!s || s->kind != FLAT_S_NESTED)
        return "?";
    FlatVar source = s->nested.source;
    if (z->fn->vars.at[source].type.rank > 0)
        return length_text(z, source, depth);
    return z->fn->vars.at[source].kind == FLAT_HOST ? sizes_scalar(z, source) : lengths_text(z, source, depth);
}

const char *sizes_product(const Sizes *z, const char *a, const char *b)
{
    if (strcmp(a, "1") == 0)
        return b;
    return strcmp(b, "1") == 0 ? a : arena_printf(z->arena, "%s * %s", a, b);
}

static bool is_regular(const Sizes *z, FlatVar ctx)
{
    const FlatStmt *s = z->def[ctx];
    return s && s->kind == FLAT_S_NESTED && z->fn->vars.at[s->nested.source].kind == FLAT_HOST;
}

bool sizes_regular(const Sizes *z, FlatVar ctx)
{
    for (; ctx != FLAT_ROOT && ctx != FLAT_NO_VAR; ctx = z->fn->vars.at[ctx].ctx)
        if (z->fn->vars.at[ctx].ctx_kind == CTX_NESTED && !is_regular(z, ctx))
            return false;
    return true;
}

static const char *nested_text(const Sizes *z, FlatVar ctx)
{
    const char *each = each_text(z, ctx, 0);
    bool host = z->fn->vars.at[z->def[ctx]->nested.source].kind == FLAT_HOST;
    return host ? sizes_product(z, sizes_context(z, z->fn->vars.at[ctx].ctx), each)
                : arena_printf(z->arena, "sum(%s)", each);
}

/* The part of some context: what each selection leaves is not known. */
static const char *selected_text(const Sizes *z, FlatVar ctx)
{
    const char *all = sizes_context(z, z->fn->vars.at[ctx].ctx);
    return strncmp(all, "at most ", 8) == 0 ? all : arena_printf(z->arena, "at most %s", all);
}

const char *sizes_context(const Sizes *z, FlatVar ctx)
{
    if (ctx == FLAT_ROOT)
        return "1";
    const FlatVarInfo *info = &z->fn->vars.at[ctx];
    if (info->ctx_kind == CTX_FN)
        return arena_printf(z->arena, "calls(%s)", z->fn->name);
    if (info->ctx_kind == CTX_SELECTED)
        return selected_text(z, ctx);
    return z->def[ctx] && z->def[ctx]->kind == FLAT_S_NESTED ? nested_text(z, ctx) : "?";
}
