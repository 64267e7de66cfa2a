#include "library/interface.h"

#include <ctype.h>
#include <string.h>

/* ---- names ---- */

static bool is_taken(const char *name)
{
    static const char *const words[] = {
        "auto",     "break",    "case",      "char",     "const",    "continue", "default",  "do",        "double",
        "else",     "enum",     "extern",    "float",    "for",      "goto",     "if",       "inline",    "int",
        "long",     "register", "restrict",  "return",   "short",    "signed",   "sizeof",   "static",    "struct",
        "switch",   "typedef",  "union",     "unsigned", "void",     "volatile", "while",    "context",   "result",
        "error",    "asm",      "bool",      "catch",    "class",    "delete",   "explicit", "export",    "false",
        "friend",   "mutable",  "namespace", "new",      "operator", "private",  "public",   "template",  "this",
        "throw",    "true",     "try",       "typename", "using",    "virtual",  "value",    "and",       "or",
        "not",      "xor",      "decltype",  "nullptr",  "noexcept", "alignas",  "alignof",  "protected", "concept",
        "requires", "typeof",   "constexpr"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return strncmp(name, "dpc_", 4) == 0;
}

const char *interface_name(Arena *arena, const char *text)
{
    char *name = arena_printf(arena, "%s%s", isdigit((unsigned char)*text) ? "_" : "", text);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = '_';
    return is_taken(name) ? arena_printf(arena, "%s_", name) : name;
}

/* ---- slots ---- */

typedef struct Walk {
    Arena *arena;
    Interface *to;
    uint32_t rank;
    VEC(Slot) levels; /* of the outermost array at hand: they stand behind its numbers */
    bool ragged;      /* a level around is */
} Walk;

static bool has_form(const DpType *t)
{
    if (t->kind == DP_T_ARRAY)
        return has_form(t->element);
    for (uint32_t i = 0; t->kind != DP_T_SCALAR && i < t->n; i++)
        if (t->kind == DP_T_SUM || !has_form(t->items[i]))
            return false;
    return t->kind == DP_T_SCALAR || (t->kind != DP_T_SUM && t->n > 0);
}

static uint32_t add_slot(Walk *w, Slot slot)
{
    vec_push(w->arena, &w->to->slots, slot);
    return w->to->slots.n - 1;
}

static const char *joined(Walk *w, const char *name, const char *part)
{
    return *name ? arena_printf(w->arena, "%s_%s", name, part) : interface_name(w->arena, part);
}

static void walk(Walk *w, const SizedType *t, const char *name);

/* Levels of leaves are numbers in w->levels, until these have become slots. */
static void place_levels(Walk *w, uint32_t first)
{
    const uint32_t base = w->to->slots.n;
    for (uint32_t i = 0; i < w->levels.n; i++)
        add_slot(w, w->levels.at[i]);
    w->levels.n = 0;
    for (uint32_t i = first; i < w->to->leaves.n; i++)
        for (uint32_t level = 0; level < w->to->leaves.at[i].rank; level++)
            w->to->leaves.at[i].levels[level] += base;
}

static void walk_array(Walk *w, const SizedType *t, const char *name)
{
    const bool was_ragged = w->ragged, regular = w->rank == 0 || (t->rule != SIZED_FREE && !was_ragged);
    const uint32_t level = w->rank++, first = w->to->leaves.n, slot = w->levels.n;
    const char *what = regular ? "length" : "offsets";
    const char *full = level ? arena_printf(w->arena, "%s%u", what, level) : what;
    vec_push(w->arena, &w->levels,
             ((Slot){regular ? SLOT_LENGTH : SLOT_OFFSETS, joined(w, name, full), DP_U64, first, level}));
    w->ragged = !regular;
    walk(w, &t->items[0], name);
    w->ragged = was_ragged;
    w->rank--;
    for (uint32_t i = first; i < w->to->leaves.n; i++)
        w->to->leaves.at[i].levels[level] = slot;
    if (level == 0)
        place_levels(w, first);
}

static void walk(Walk *w, const SizedType *t, const char *name)
{
    if (t->type->kind == DP_T_ARRAY) {
        walk_array(w, t, name);
        return;
    }
    for (uint32_t i = 0; t->type->kind != DP_T_SCALAR && i < t->type->n; i++) {
        const char *part = t->type->kind == DP_T_RECORD ? t->type->names[i]
                           : *name                      ? arena_printf(w->arena, "%u", i)
                                                        : arena_printf(w->arena, "item%u", i);
        walk(w, &t->items[i], joined(w, name, part));
    }
    if (t->type->kind != DP_T_SCALAR)
        return;
    const SlotKind kind = w->rank ? SLOT_DATA : SLOT_SCALAR;
    const LeafSlots leaf = {
        .data = add_slot(w, (Slot){kind, *name ? name : "data", t->type->scalar, w->to->leaves.n, 0}), .rank = w->rank};
    vec_push(w->arena, &w->to->leaves, leaf);
}

Interface interface_of(Arena *arena, const SizedType *t, const char *name)
{
    Interface made = {0};
    Walk w = {.arena = arena, .to = &made};
    const char *base = *name ? interface_name(arena, name) : name;
    if (has_form(t->type))
        walk(&w, t, base);
    else
        add_slot(&w, (Slot){SLOT_VALUE, *base ? base : "data", DP_U8, 0, 0});
    return made;
}

void interface_print_slot(StrBuf *out, const Slot *slot)
{
    static const char *const types[DP_SCALAR_COUNT] = {
        [DP_BOOL] = "uint8_t", [DP_I8] = "int8_t",  [DP_I16] = "int16_t",  [DP_I32] = "int32_t",
        [DP_I64] = "int64_t",  [DP_U8] = "uint8_t", [DP_U16] = "uint16_t", [DP_U32] = "uint32_t",
        [DP_U64] = "uint64_t", [DP_F32] = "float",  [DP_F64] = "double"};
    switch (slot->kind) {
    case SLOT_SCALAR: strbuf_printf(out, "%s %s", types[slot->scalar], slot->name); break;
    case SLOT_DATA: strbuf_printf(out, "const %s *%s", types[slot->scalar], slot->name); break;
    case SLOT_LENGTH: strbuf_printf(out, "uint64_t %s", slot->name); break;
    case SLOT_OFFSETS: strbuf_printf(out, "const uint64_t *%s", slot->name); break;
    case SLOT_VALUE: strbuf_printf(out, "const DpcValue *%s", slot->name); break;
    }
}
