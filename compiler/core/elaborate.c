/* The driver of the elaborator: entries are specialised first, and every call met on the way asks for
 * further specialisations, until none is left. */
#include "core/elaborate_internal.h"

#include <assert.h>

/* ---- function bodies ---- */

static void start_function(Elab *e, const Spec *spec)
{
    e->fn = spec->fn;
    e->at = spec->user;
    e->used.n = 0;
    for (uint32_t i = 0; i < spec->fn->vars.n; i++)
        vec_push(e->arena, &e->used, 0);
    e->block = NULL;
}

static void elaborate_spec(Elab *e, const Spec *spec)
{
    start_function(e, spec);
    CoreBlock *outer = anf_block_open(e);
    e->sizes_hold = spec->sizes_hold;
    Value *v = elab_inline(e, spec->callee, spec->args, spec->nargs);
    spec->fn->body = anf_block_close_value(e, outer, v);
}

/* ---- entries ---- */

static const char *param_name(const Pat *p)
{
    while (p->kind == PAT_ASCRIBE)
        p = p->ascribe.pat;
    return p->kind == PAT_NAME ? p->name : "_";
}

/* The text of a type outside the program. What is only inferred is no promise about files: there `text` is [u8]. */
static const char *outside_text(Elab *e, Type *t, bool declared)
{
    StrBuf text = {0};
    (declared ? type_print_declared : type_print)(&text, t);
    const char *copy = arena_strndup(e->arena, text.text, text.n);
    strbuf_free(&text);
    return copy;
}

static const char *signature(Elab *e, const CoreEntry *entry)
{
    StrBuf text = {0};
    strbuf_add(&text, entry->name);
    for (uint32_t i = 0; i < entry->nparams; i++)
        strbuf_printf(&text, " (%s: %s)", entry->param_names[i], entry->param_texts[i]);
    strbuf_printf(&text, " : %s", entry->result_text);
    const char *copy = arena_strndup(e->arena, text.text, text.n);
    strbuf_free(&text);
    return copy;
}

static bool is_ascribed(const Def *def, uint32_t param)
{
    return param < def->nparams && def->params[param]->kind == PAT_ASCRIBE;
}

/* The entry's arguments before its function exists: only their types count. */
static Value *placeholder(Elab *e, Type *t)
{
    CoreTypes types = ty_leaves(e, t);
    CoreAtom *atoms = arena_array(e->arena, CoreAtom, types.n);
    for (uint32_t i = 0; i < types.n; i++)
        atoms[i] = core_var_atom(CORE_NO_VAR, types.at[i]);
    return val_from_atoms(e, t, atoms);
}

static void add_entry(Elab *e, const DefInfo *info)
{
    Def *def = info->def;
    Type *t = type_prune(info->scheme.type);
    uint32_t n = ty_arity(t);
    CoreEntry entry = {.name = def->name, .nparams = n};
    entry.param_names = arena_array(e->arena, const char *, n);
    entry.param_types = arena_array(e->arena, Type *, n);
    entry.param_texts = arena_array(e->arena, const char *, n);
    Value **args = arena_array(e->arena, Value *, n);
    Value *f = val_fun(e, FUN_DEF, t, NULL);
    f->fun.def = def;
    e->fn = NULL;
    e->at = def->span;
    for (uint32_t i = 0; i < n; i++, t = type_prune(t->fun.to)) {
        entry.param_names[i] = i < def->nparams ? param_name(def->params[i]) : "_";
        entry.param_types[i] = type_prune(t->fun.from);
        entry.param_texts[i] = outside_text(e, t->fun.from, is_ascribed(def, i));
        if (ty_has_function(t->fun.from))
            elab_give_up(e, DIAG_ENTRY_TYPE, "an entry cannot take functions");
        args[i] = placeholder(e, t->fun.from);
    }
    entry.result_type = t;
    entry.result_text = outside_text(e, t, def->result != NULL);
    if (ty_has_function(t))
        elab_give_up(e, DIAG_ENTRY_TYPE, "an entry cannot return functions");
    Spec *spec = e->gave_up ? NULL : elab_specialise(e, f, args, n);
    if (!spec)
        return;
    entry.fn = spec->fn;
    entry.signature = signature(e, &entry);
    vec_push(e->arena, &e->p->entries, entry);
}

/* The entries of the program's own file, and its properties; imported files' are only functions here. */
static void add_entries(Elab *e)
{
    const Checked *c = e->checked;
    uint32_t main_file = UINT32_MAX;
    for (uint32_t m = 0; m < c->nmodules && main_file == UINT32_MAX; m++)
        if (!e->s->files.at[c->modules[m]->file]->is_stdlib)
            main_file = c->modules[m]->file;
    for (uint32_t i = 0; i < c->ndefs; i++)
        if ((c->defs[i].def->is_entry || c->defs[i].def->is_property) && c->defs[i].def->span.file == main_file)
            add_entry(e, &c->defs[i]);
}

CoreProgram *elaborate(Session *s, const Checked *checked)
{
    CoreProgram *p = arena_new(s->arena, CoreProgram);
    p->session = s;
    p->arena = s->arena;
    Elab e = {.s = s, .checked = checked, .arena = s->arena, .p = p};
    e.latest = arena_array(s->arena, Env *, checked->npats);
    add_entries(&e);
    while (e.specs_done < e.specs.n && !e.gave_up)
        elaborate_spec(&e, e.specs.at[e.specs_done++]);
    return s->error_count > 0 || e.gave_up ? NULL : p;
}
