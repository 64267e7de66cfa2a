#include "embed/entries.h"

#include "driver/entry.h"
#include "types/sized_type.h"

static const char *sized_text(Compilation *c, const Signature *s, const SizedType *t)
{
    StrBuf text = {0};
    signature_print_type(&text, s, t);
    const char *copy = arena_strndup(c->session->arena, text.text, text.n);
    strbuf_free(&text);
    return copy;
}

static bool describe(Compilation *c, const CoreEntry *entry, DpcEntry *to)
{
    Arena *arena = c->session->arena;
    const Def *def = checked_find(c->checked, entry->name)->def;
    const char **sized = arena_array(arena, const char *, entry->nparams + 1);
    EntryTypes types;
    if (!entry_types_make(&types, c, entry->name))
        return false;
    const Signature s = signature_of(arena, c->checked, def, types.params, entry->nparams, types.result);
    for (uint32_t i = 0; i < entry->nparams; i++)
        sized[i] = sized_text(c, &s, &s.params[i]);
    *to = (DpcEntry){.name = entry->name,
                     .params = entry->nparams,
                     .param_names = entry->param_names,
                     .param_types = entry->param_texts,
                     .result_type = entry->result_text,
                     .sized_params = sized,
                     .sized_result = sized_text(c, &s, &s.result),
                     .doc = def->doc};
    entry_types_free(&types);
    return true;
}

const DpcEntry *dpc_entries(Compilation *c)
{
    const FlatProgram *p = c->plan->program;
    DpcEntry *entries = arena_array(c->session->arena, DpcEntry, p->entries.n + 1);
    for (uint32_t i = 0; i < p->entries.n; i++)
        if (!describe(c, p->entries.at[i].entry, &entries[i]))
            return NULL;
    return entries;
}
