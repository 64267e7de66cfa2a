/* Arrow's formats, and what an array of one must have. */
#include "arrow.h"

#include <stdlib.h>
#include <string.h>

/* ---- formats ---- */
typedef struct FormatRow {
    const char *text; /* the format, or with what it begins */
    ArrowFormat means;
} FormatRow;

/* Times are the numbers that they are stored as. */
static const FormatRow whole[] = {
    {"n", {.layout = ARROW_NOTHING, .name = "nothing"}},
    {"b", {.layout = ARROW_BITS, .scalar = DP_BOOL, .name = "bool"}},
    {"c", {.scalar = DP_I8, .name = "i8"}},
    {"C", {.scalar = DP_U8, .name = "u8"}},
    {"s", {.scalar = DP_I16, .name = "i16"}},
    {"S", {.scalar = DP_U16, .name = "u16"}},
    {"i", {.scalar = DP_I32, .name = "i32"}},
    {"I", {.scalar = DP_U32, .name = "u32"}},
    {"l", {.scalar = DP_I64, .name = "i64"}},
    {"L", {.scalar = DP_U64, .name = "u64"}},
    {"f", {.scalar = DP_F32, .name = "f32"}},
    {"g", {.scalar = DP_F64, .name = "f64"}},
    {"tdD", {.scalar = DP_I32, .name = "dates"}},
    {"tdm", {.scalar = DP_I64, .name = "dates"}},
    {"tts", {.scalar = DP_I32, .name = "times"}},
    {"ttm", {.scalar = DP_I32, .name = "times"}},
    {"ttu", {.scalar = DP_I64, .name = "times"}},
    {"ttn", {.scalar = DP_I64, .name = "times"}},
    {"tDs", {.scalar = DP_I64, .name = "durations"}},
    {"tDm", {.scalar = DP_I64, .name = "durations"}},
    {"tDu", {.scalar = DP_I64, .name = "durations"}},
    {"tDn", {.scalar = DP_I64, .name = "durations"}},
    {"u", {.layout = ARROW_TEXT, .scalar = DP_U8, .name = "texts"}},
    {"z", {.layout = ARROW_TEXT, .scalar = DP_U8, .name = "bytes"}},
    {"U", {.layout = ARROW_BIG_TEXT, .scalar = DP_U8, .name = "texts"}},
    {"Z", {.layout = ARROW_BIG_TEXT, .scalar = DP_U8, .name = "bytes"}},
    {"vu", {.layout = ARROW_TEXT_VIEW, .scalar = DP_U8, .name = "texts"}},
    {"vz", {.layout = ARROW_TEXT_VIEW, .scalar = DP_U8, .name = "bytes"}},
    {"+l", {.layout = ARROW_LIST, .name = "lists"}},
    {"+L", {.layout = ARROW_LARGE, .name = "lists"}},
    {"+m", {.layout = ARROW_LIST, .name = "maps"}},
    {"+vl", {.layout = ARROW_VIEWS, .name = "lists"}},
    {"+vL", {.layout = ARROW_BIG_VIEWS, .name = "lists"}},
    {"+s", {.layout = ARROW_STRUCT, .name = "structs"}},
};
static const FormatRow beginnings[] = {
    {"tss:", {.scalar = DP_I64, .name = "timestamps"}},
    {"tsm:", {.scalar = DP_I64, .name = "timestamps"}},
    {"tsu:", {.scalar = DP_I64, .name = "timestamps"}},
    {"tsn:", {.scalar = DP_I64, .name = "timestamps"}},
    {"w:", {.layout = ARROW_BYTES, .scalar = DP_U8, .name = "bytes"}},
    {"+w:", {.layout = ARROW_FIXED, .name = "lists"}},
    {"+us:", {.layout = ARROW_SPARSE, .scalar = DP_I8, .name = "a union"}},
    {"+ud:", {.layout = ARROW_DENSE, .scalar = DP_I8, .name = "a union"}},
};
enum { WHOLE = sizeof whole / sizeof *whole, BEGINNINGS = sizeof beginnings / sizeof *beginnings };

/* A number of decimal digits up to the end. */
static bool read_size(const char *text, int64_t *size)
{
    char *end;
    *size = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && *size <= INT32_MAX;
}

bool dpc_arrow_format(const char *text, ArrowFormat *format)
{
    for (size_t i = 0; text && i < WHOLE; i++)
        if (strcmp(text, whole[i].text) == 0) {
            *format = whole[i].means;
            return true;
        }
    for (size_t i = 0; text && i < BEGINNINGS; i++) {
        const size_t n = strlen(beginnings[i].text);
        if (strncmp(text, beginnings[i].text, n) != 0)
            continue;
        *format = beginnings[i].means;
        format->ids = text + n;
        return (format->layout != ARROW_BYTES && format->layout != ARROW_FIXED) || read_size(text + n, &format->size);
    }
    return false;
}

/* ---- what there must be ---- */
static int64_t buffers_of(ArrowLayout layout)
{
    switch (layout) {
    case ARROW_NOTHING: return 0;
    case ARROW_FIXED:
    case ARROW_STRUCT:
    case ARROW_SPARSE: return 1;
    case ARROW_NUMBERS:
    case ARROW_BITS:
    case ARROW_LIST:
    case ARROW_LARGE:
    case ARROW_BYTES:
    case ARROW_DENSE: return 2;
    case ARROW_VIEWS:
    case ARROW_BIG_VIEWS:
    case ARROW_TEXT:
    case ARROW_BIG_TEXT:
    case ARROW_TEXT_VIEW: return 3; /* at least */
    }
    return 0;
}

/* The bytes of texts may be missing where these are empty: they are looked at slot by slot. */
static const char *check_buffers(const ArrowFormat *f, const struct ArrowArray *a)
{
    const int64_t n = buffers_of(f->layout);
    const bool views = f->layout == ARROW_TEXT_VIEW, bytes = f->layout == ARROW_TEXT || f->layout == ARROW_BIG_TEXT;
    if (views ? a->n_buffers < n : a->n_buffers != n)
        return "the number of buffers is wrong";
    if (n && !a->buffers)
        return "the buffers are NULL";
    const bool starts = dpc_arrow_is_union(f);
    for (int64_t i = starts ? 0 : 1; i < n - (bytes || views) && a->length; i++)
        if (!a->buffers[i])
            return "a buffer is NULL";
    if (views && a->n_buffers > n && !a->buffers[a->n_buffers - 1])
        return "a buffer is NULL";
    return !starts && n && a->null_count > 0 && !a->buffers[0] ? "the bitmap of validity is NULL" : NULL;
}

static bool has_one_child(ArrowLayout l)
{
    return l == ARROW_LIST || l == ARROW_LARGE || l == ARROW_VIEWS || l == ARROW_BIG_VIEWS || l == ARROW_FIXED;
}

const char *dpc_arrow_check_schema(const ArrowFormat *f, const struct ArrowSchema *schema)
{
    const ArrowLayout l = f->layout;
    const int64_t n = schema->n_children;
    if (has_one_child(l) ? n != 1 : l == ARROW_STRUCT || dpc_arrow_is_union(f) ? n < 0 : n != 0)
        return "the number of children is wrong";
    for (int64_t i = 0; i < n; i++)
        if (!schema->children || !schema->children[i])
            return "a child is NULL";
    return NULL;
}

/* Those of structs and sparse unions have a slot for each of theirs. */
static const char *check_children(const ArrowFormat *f, const struct ArrowSchema *schema, const struct ArrowArray *a)
{
    const bool beside = f->layout == ARROW_STRUCT || f->layout == ARROW_SPARSE;
    if (schema->n_children != a->n_children)
        return "the number of children is wrong";
    for (int64_t i = 0; i < a->n_children; i++) {
        if (!a->children || !a->children[i])
            return "a child is NULL";
        if (beside && a->children[i]->length < a->offset + a->length)
            return "a child is shorter";
    }
    return !schema->dictionary != !a->dictionary ? "the dictionary is missing" : NULL;
}

const char *dpc_arrow_check(const ArrowFormat *f, const struct ArrowSchema *schema, const struct ArrowArray *a)
{
    enum { MOST = 48 }; /* bits of a number of slots: their bytes are numbers, too */
    if (a->length < 0 || a->offset < 0 || a->length >> MOST || a->offset >> MOST)
        return "the length or offset is wrong";
    if (f->size && a->offset + a->length > INT64_MAX / f->size)
        return "the length or offset is wrong";
    if (a->null_count < -1 || a->null_count > a->length)
        return "the number of nulls is wrong";
    const char *wrong = check_buffers(f, a);
    return wrong ? wrong : check_children(f, schema, a);
}

/* ---- lists and texts ---- */
static int64_t load32(const void *data, int64_t i)
{
    int32_t x;
    memcpy(&x, (const char *)data + i * 4, sizeof x);
    return x;
}

static int64_t load64(const void *data, int64_t i)
{
    int64_t x;
    memcpy(&x, (const char *)data + i * 8, sizeof x);
    return x;
}

static const char *view_extent(const struct ArrowArray *a, int64_t i, ArrowExtent *to)
{
    enum { BYTES = 16, INSIDE = 12 }; /* a view: its length; up to 12 bytes, or 4, and where all are */
    const char *view = (const char *)a->buffers[1] + i * BYTES;
    const int64_t others = a->n_buffers - 3;
    to->n = load32(view, 0);
    if (to->n >= 0 && to->n <= INSIDE) {
        to->buffer = -1;
        to->at = i * BYTES + 4;
        return NULL;
    }
    to->buffer = load32(view, 2);
    to->at = load32(view, 3);
    if (to->buffer < 0 || to->buffer >= others)
        return "a view is of no buffer";
    const int64_t bytes = load64(a->buffers[a->n_buffers - 1], to->buffer);
    return to->at < 0 || to->n < 0 || to->at > bytes || to->n > bytes - to->at ? "a view leaves its buffer" : NULL;
}

const char *dpc_arrow_extent(const ArrowFormat *f, const struct ArrowArray *a, int64_t slot, ArrowExtent *to)
{
    const int64_t i = a->offset + slot;
    to->buffer = 0;
    switch (f->layout) {
    case ARROW_LIST:
    case ARROW_TEXT:
        to->at = load32(a->buffers[1], i);
        to->n = load32(a->buffers[1], i + 1) - to->at;
        break;
    case ARROW_LARGE:
    case ARROW_BIG_TEXT:
        to->at = load64(a->buffers[1], i);
        to->n = load64(a->buffers[1], i + 1);
        to->n = to->at < 0 || to->n < to->at ? -1 : to->n - to->at;
        break;
    case ARROW_VIEWS:
        to->at = load32(a->buffers[1], i);
        to->n = load32(a->buffers[2], i);
        break;
    case ARROW_BIG_VIEWS:
        to->at = load64(a->buffers[1], i);
        to->n = load64(a->buffers[2], i);
        break;
    case ARROW_TEXT_VIEW: return view_extent(a, i, to);
    case ARROW_FIXED:
    case ARROW_BYTES:
        to->at = i * f->size;
        to->n = f->size;
        break;
    case ARROW_NUMBERS:
    case ARROW_BITS:
    case ARROW_NOTHING:
    case ARROW_STRUCT:
    case ARROW_SPARSE:
    case ARROW_DENSE: return "it has no lists";
    }
    return to->at < 0 || to->n < 0 ? "the offsets go down" : NULL;
}
