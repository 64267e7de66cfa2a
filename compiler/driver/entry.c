/* Entries as the interpreters run them: values from outside in, result out. */
#include "driver/entry.h"

#include "driver/values.h"
#include "support/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool make_types(EntryTypes *t)
{
    const CoreEntry *entry = t->entry;
    t->params = memory_alloc((size_t)entry->nparams + 1, sizeof(DpType *));
    bool ok = true;
    for (uint32_t i = 0; ok && i < entry->nparams; i++)
        ok = (t->params[i] = dp_type_parse(entry->param_texts[i])) != NULL;
    return ok && (t->result = dp_type_parse(entry->result_text)) != NULL;
}

bool entry_types_make(EntryTypes *t, const Compilation *c, const char *name)
{
    *t = (EntryTypes){.entry = compilation_entry(c, name)};
    errno = 0;
    if (!t->entry) {
        report_error(c->session, "there is no entry %s", name);
        return false;
    }
    if (make_types(t))
        return true;
    if (errno == ENOMEM)
        memory_out();
    report_error(c->session, "the types of the entry %s are too large for values outside the program", name);
    entry_types_free(t);
    return false;
}

void entry_types_free(EntryTypes *t)
{
    for (uint32_t i = 0; t->params && i < t->entry->nparams; i++)
        dp_type_free(t->params[i]);
    free(t->params);
    dp_type_free(t->result);
    *t = (EntryTypes){0};
}

uint32_t entry_arg_leaves(const EntryTypes *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->entry->nparams; i++)
        n += dp_type_leaves(t->params[i]);
    return n;
}

bool entry_eval(const Compilation *c, const EntryTypes *t, const DpLeaf *args, DpLeaf *result, EvalError *error)
{
    Arena *arena = arena_create();
    uint32_t nargs = entry_arg_leaves(t), nresults = dp_type_leaves(t->result);
    CoreValue *in = arena_array(arena, CoreValue, nargs + 1), *out = arena_array(arena, CoreValue, nresults);
    for (uint32_t i = 0; i < nargs; i++)
        in[i] = value_of_leaf(arena, &args[i]);
    *error = (EvalError){.site = CORE_NO_SITE};
    bool ok = compilation_eval(c, t->entry, arena, in, out, error);
    for (uint32_t i = 0; ok && i < nresults; i++)
        leaf_of_value(&out[i], &result[i]);
    arena_destroy(arena);
    return ok;
}
