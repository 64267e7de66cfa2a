#include "library/library.h"

#include "driver/entry.h"
#include "library/interface.h"
#include "opencl/host_c.h"
#include "opencl/program.h"
#include "plan/emit_text.h"

#include <string.h>

/* An entry with its interface in C. */
typedef struct Function {
    const CoreEntry *entry;
    const char *doc;
    const char *name; /* in C, with the library's */
    EntryTypes types;
    Signature signature;
    Interface *params, result;
    bool plain; /* the result is one scalar */
} Function;

typedef struct Emitter {
    Compilation *c;
    Arena *arena;
    const char *name;
    Function *functions;
    uint32_t n;
} Emitter;

/* ---- what there is ---- */

static bool is_slot_name(const Function *f, uint32_t params, const char *name)
{
    for (uint32_t i = 0; i < params; i++)
        for (uint32_t k = 0; k < f->params[i].slots.n; k++)
            if (strcmp(f->params[i].slots.at[k].name, name) == 0)
                return true;
    return false;
}

/* A parameter's length may have the name of another parameter. */
static void tell_apart(Arena *arena, const Function *f, uint32_t param)
{
    for (uint32_t k = 0; k < f->params[param].slots.n; k++) {
        Slot *slot = &f->params[param].slots.at[k];
        while (is_slot_name(f, param, slot->name))
            slot->name = arena_printf(arena, "%s_", slot->name);
    }
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Unlike the names that come with every library and every function. */
static const char *function_name(const Emitter *em, const char *entry)
{
    const bool other = strcmp(entry, "program") == 0 || ends_in(entry, "_result") || ends_in(entry, "_free");
    char *name = arena_printf(em->arena, "%s_%s%s", em->name, entry, other ? "_" : "");
    for (char *c = strchr(name, '\''); c; c = strchr(c, '\''))
        *c = '_';
    return name;
}

static bool describe(Emitter *em, const CoreEntry *entry, Function *to)
{
    const Def *def = checked_find(em->c->checked, entry->name)->def;
    *to = (Function){.entry = entry, .doc = def->doc};
    to->name = function_name(em, entry->name);
    if (!entry_types_make(&to->types, em->c, entry->name))
        return false;
    to->signature = signature_of(em->arena, em->c->checked, def, to->types.params, entry->nparams, to->types.result);
    to->params = arena_array(em->arena, Interface, entry->nparams + 1);
    for (uint32_t i = 0; i < entry->nparams; i++) {
        to->params[i] = interface_of(em->arena, &to->signature.params[i], entry->param_names[i]);
        tell_apart(em->arena, to, i);
    }
    to->result = interface_of(em->arena, &to->signature.result, "");
    to->plain = to->result.slots.n == 1 && to->result.slots.at[0].kind == SLOT_SCALAR;
    return true;
}

/* ---- the header ---- */

/* Text of the program inside of a comment. */
static void add_comment_text(StrBuf *out, const char *text)
{
    for (; *text; text++) {
        bool ends = text[0] == '*' && text[1] == '/';
        strbuf_addn(out, text, 1);
        strbuf_add(out, ends ? " " : *text == '\n' ? " * " : "");
    }
}

static void print_types(StrBuf *out, const Function *f)
{
    strbuf_printf(out, "entry %s", f->entry->name);
    for (uint32_t i = 0; i < f->entry->nparams; i++) {
        strbuf_printf(out, " (%s: ", f->entry->param_names[i]);
        signature_print_type(out, &f->signature, &f->signature.params[i]);
        strbuf_add(out, ")");
    }
    strbuf_add(out, " : ");
    signature_print_type(out, &f->signature, &f->signature.result);
}

static bool is_value(const Interface *i) { return i->leaves.n == 0; }

static void print_prototype(StrBuf *out, const Function *f)
{
    strbuf_printf(out, "int %s(DpcContext *context", f->name);
    for (uint32_t i = 0; i < f->entry->nparams; i++)
        for (uint32_t k = 0; k < f->params[i].slots.n; k++) {
            strbuf_add(out, ", ");
            interface_print_slot(out, &f->params[i].slots.at[k]);
        }
    strbuf_add(out, ", ");
    if (f->plain) {
        Slot slot = f->result.slots.at[0];
        slot.name = "*result";
        interface_print_slot(out, &slot);
    } else if (is_value(&f->result)) {
        strbuf_add(out, "DpcValue **result");
    } else {
        strbuf_printf(out, "%s_result *result", f->name);
    }
    strbuf_add(out, ", DpcError *error)");
}

static void print_declarations(StrBuf *out, const Function *f)
{
    strbuf_add(out, "\n/* ");
    print_types(out, f);
    if (f->doc) {
        strbuf_add(out, "\n * ");
        add_comment_text(out, f->doc);
    }
    strbuf_add(out, " */\n");
    if (!f->plain && !is_value(&f->result)) {
        strbuf_printf(out, "typedef struct %s_result {\n    DpcValue *value; /* what holds the rest */\n", f->name);
        for (uint32_t k = 0; k < f->result.slots.n; k++) {
            strbuf_add(out, "    ");
            interface_print_slot(out, &f->result.slots.at[k]);
            strbuf_add(out, ";\n");
        }
        strbuf_printf(out, "} %s_result;\n", f->name);
    }
    print_prototype(out, f);
    strbuf_add(out, ";\n");
    if (!f->plain && !is_value(&f->result))
        strbuf_printf(out, "void %s_free(%s_result *result);\n", f->name, f->name);
}

static const char conventions[] =
    " *\n"
    " * A function returns 1, or 0 and why in *error (dpc.h; dpc_error_clear frees it): an error of the program, with "
    "its\n"
    " * place in the .dp file, wrong arguments, too little memory, a failure of the device. A result that is a struct "
    "or a\n"
    " * DpcValue is the caller's: free it with ..._free or dpc_value_free. Arguments are only read, and only until "
    "the\n"
    " * function returns. A context is used by one thread at a time; there may be any number of them.\n"
    " *\n"
    " * Arrays lie in C's order, the last index fastest. xs_length: elements; m_length1, m_length2: of each sequence "
    "inside,\n"
    " * where the type says that all are equally long; m_offsets1: where each begins and the last one ends, one more "
    "than\n"
    " * there are, from 0 on, in elements. A bool is a byte, 0 or 1. With arguments and results on the device, and "
    "for\n"
    " * whatever has a sum type: dpc_call and dpc_call_device, by the entry's name. */\n";

static void emit_header(StrBuf *out, const Emitter *em)
{
    strbuf_printf(out, "/* %s: functions of ", em->name);
    add_comment_text(out, em->c->path);
    strbuf_printf(out,
                  ", made by dpc library.\n *\n"
                  " *     DpcContext *context = dpc_open(%s_program(), NULL, &error);\n",
                  em->name);
    strbuf_add(out, conventions);
    strbuf_printf(out,
                  "#ifndef DPC_LIBRARY_%s_H\n#define DPC_LIBRARY_%s_H\n\n#include <dpc.h>\n\n"
                  "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                  "/* For dpc_open and dpc_open_queue; it is never freed. */\nconst DpcProgram *%s_program(void);\n",
                  em->name, em->name, em->name);
    for (uint32_t i = 0; i < em->n; i++)
        print_declarations(out, &em->functions[i]);
    strbuf_add(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* ---- the functions ---- */

static void print_part(StrBuf *out, const Interface *in, const LeafSlots *leaf)
{
    const Slot *data = &in->slots.at[leaf->data];
    strbuf_printf(out, "{%s%s, {", data->kind == SLOT_SCALAR ? "&" : "", data->name);
    for (uint32_t level = 0; level < leaf->rank; level++) {
        const Slot *slot = &in->slots.at[leaf->levels[level]];
        strbuf_printf(out, slot->kind == SLOT_LENGTH ? "%s{%s, NULL}" : "%s{0, %s}", level ? ", " : "", slot->name);
    }
    strbuf_add(out, leaf->rank ? "}}" : "{0, NULL}}}");
}

static void print_argument(StrBuf *out, const Function *f, uint32_t param)
{
    const Interface *in = &f->params[param];
    if (is_value(in))
        return;
    strbuf_printf(out, "    const DpcPart dpc_parts%u[] = {", param);
    for (uint32_t i = 0; i < in->leaves.n; i++) {
        strbuf_add(out, i ? ", " : "");
        print_part(out, in, &in->leaves.at[i]);
    }
    strbuf_printf(out, "};\n    DpcValue *dpc_value%u = dpc_of_parts(", param);
    emit_string(out, f->entry->param_texts[param], strlen(f->entry->param_texts[param]));
    strbuf_printf(out, ", dpc_parts%u);\n", param);
}

static void print_call(StrBuf *out, const Function *f)
{
    const uint32_t n = f->entry->nparams;
    for (uint32_t i = 0; i < n; i++)
        print_argument(out, f, i);
    strbuf_add(out, "    const DpcValue *const dpc_args[] = {");
    for (uint32_t i = 0; i < n; i++)
        if (is_value(&f->params[i]))
            strbuf_printf(out, "%s, ", f->params[i].slots.at[0].name);
        else
            strbuf_printf(out, "dpc_value%u, ", i);
    strbuf_printf(out, "NULL};\n    DpcValue *dpc_made = dpc_call(context, \"%s\", dpc_args, %u, error);\n",
                  f->entry->name, n);
    for (uint32_t i = 0; i < n; i++)
        if (!is_value(&f->params[i]))
            strbuf_printf(out, "    dpc_value_free(dpc_value%u);\n", i);
}

/* From the value's leaves into the struct; offsets are made. */
static void print_fields(StrBuf *out, const Function *f)
{
    strbuf_printf(out, "    *result = (%s_result){.value = dpc_made};\n    int dpc_done = 1;\n", f->name);
    for (uint32_t i = 0; i < f->result.leaves.n; i++) {
        strbuf_printf(out, "    const DpcLeaf dpc_leaf%u = dpc_leaf(dpc_made, %u);\n", i, i);
        const Slot *data = &f->result.slots.at[f->result.leaves.at[i].data];
        if (data->kind == SLOT_DATA)
            strbuf_printf(out, "    result->%s = dpc_leaf%u.data;\n", data->name, i);
        else
            strbuf_printf(out, "    memcpy(&result->%s, dpc_leaf%u.data, sizeof result->%s);\n", data->name, i,
                          data->name);
    }
    for (uint32_t k = 0; k < f->result.slots.n; k++) {
        const Slot *s = &f->result.slots.at[k];
        if (s->kind == SLOT_LENGTH)
            strbuf_printf(out, "    result->%s = dpc_first_length(&dpc_leaf%u, %u);\n", s->name, s->leaf, s->level);
        else if (s->kind == SLOT_OFFSETS)
            strbuf_printf(out,
                          "    result->%s = dpc_done ? dpc_new_offsets(&dpc_leaf%u, %u, error) : NULL;\n"
                          "    dpc_done = dpc_done && result->%s;\n",
                          s->name, s->leaf, s->level, s->name);
    }
    strbuf_printf(out, "    if (!dpc_done)\n        %s_free(result);\n    return dpc_done;\n", f->name);
}

static void print_free(StrBuf *out, const Function *f)
{
    strbuf_printf(out, "\nvoid %s_free(%s_result *result)\n{\n    dpc_value_free(result->value);\n", f->name, f->name);
    for (uint32_t k = 0; k < f->result.slots.n; k++)
        if (f->result.slots.at[k].kind == SLOT_OFFSETS)
            strbuf_printf(out, "    free((void *)result->%s);\n", f->result.slots.at[k].name);
    strbuf_printf(out, "    *result = (%s_result){.value = NULL};\n}\n", f->name);
}

static void print_function(StrBuf *out, const Function *f)
{
    const bool fields = !f->plain && !is_value(&f->result);
    if (fields)
        print_free(out, f);
    strbuf_add(out, "\n");
    print_prototype(out, f);
    strbuf_add(out, "\n{\n");
    print_call(out, f);
    if (fields)
        strbuf_printf(out, "    *result = (%s_result){.value = NULL};\n", f->name);
    if (is_value(&f->result))
        strbuf_add(out, "    *result = dpc_made;\n    return dpc_made != NULL;\n");
    else
        strbuf_add(out, "    if (!dpc_made)\n        return 0;\n");
    if (f->plain)
        strbuf_add(out, "    memcpy(result, dpc_leaf(dpc_made, 0).data, sizeof *result);\n"
                        "    dpc_value_free(dpc_made);\n    return 1;\n");
    else if (fields)
        print_fields(out, f);
    strbuf_add(out, "}\n");
}

/* ---- what dpc_entry says ---- */

static void add_text(StrBuf *out, const char *text)
{
    if (text)
        emit_string(out, text, strlen(text));
    else
        strbuf_add(out, "NULL");
}

static void print_sized(StrBuf *out, const Function *f, const SizedType *t)
{
    StrBuf text = {0};
    signature_print_type(&text, &f->signature, t);
    add_text(out, text.text);
    strbuf_free(&text);
}

static void print_entries(StrBuf *out, const Emitter *em)
{
    for (uint32_t i = 0; i < em->n; i++) {
        const Function *f = &em->functions[i];
        strbuf_printf(out, "\nstatic const char *const sized_%u[] = {", i);
        for (uint32_t k = 0; k < f->entry->nparams; k++) {
            print_sized(out, f, &f->signature.params[k]);
            strbuf_add(out, ", ");
        }
        strbuf_add(out, "NULL};\n");
    }
    strbuf_add(out, "\nstatic const DpcEntry described[] = {\n");
    for (uint32_t i = 0; i < em->n; i++) {
        const Function *f = &em->functions[i];
        const bool has = f->entry->nparams > 0;
        strbuf_printf(out, "    {\"%s\", %u, ", f->entry->name, f->entry->nparams);
        strbuf_printf(out, has ? "names_%u, types_%u, " : "NULL, NULL, ", i, i);
        add_text(out, f->entry->result_text);
        strbuf_printf(out, ", sized_%u, ", i);
        print_sized(out, f, &f->signature.result);
        strbuf_add(out, ", ");
        add_text(out, f->doc);
        strbuf_add(out, "},\n");
    }
    strbuf_add(out, "};\n");
}

static void emit_source(StrBuf *out, const Emitter *em)
{
    Plan *plan = em->c->plan;
    const bool recurses = plan->fns.n > em->n;
    emit_host_c(out, plan, em->c->path, em->c->tune, false);
    strbuf_printf(out,
                  "\n/* ---- functions of C ---- */\n#include \"dp_embed.h\"\n#include \"%s.h\"\n"
                  "#include <stdlib.h>\n#include <string.h>\n",
                  em->name);
    print_entries(out, em);
    strbuf_printf(out,
                  "\nconst DpcProgram *%s_program(void)\n{\n"
                  "    static const DpcProgram made = {&program, described, %d, NULL, NULL};\n    return &made;\n}\n",
                  em->name, recurses);
    for (uint32_t i = 0; i < em->n; i++)
        print_function(out, &em->functions[i]);
}

bool library_emit(LibraryTexts *to, Compilation *c, const char *name)
{
    const FlatProgram *p = c->plan->program;
    Emitter em = {.c = c, .arena = c->session->arena, .name = name, .n = p->entries.n};
    em.functions = arena_array(em.arena, Function, em.n + 1);
    bool ok = true;
    for (uint32_t i = 0; ok && i < em.n; i++)
        ok = describe(&em, p->entries.at[i].entry, &em.functions[i]);
    if (ok) {
        emit_header(&to->header, &em);
        emit_source(&to->source, &em);
    }
    for (uint32_t i = 0; i < em.n; i++)
        if (em.functions[i].types.entry)
            entry_types_free(&em.functions[i].types);
    return ok;
}
