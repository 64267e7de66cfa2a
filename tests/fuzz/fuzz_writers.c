/* Values made from the input's bytes, of a type that it chooses, are written in every format that takes them, and have
 * to be the same when they are read. */
#include "fuzz.h"

#include "../../runtime/values/values.h"

#include <string.h>

static const char *const endings[] = {".txt", ".dpv", ".npy", ".npz", ".mtx", ".csv", ".json", ".pgm", ".ppm", ".png"};
static const char *const scalars[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};
enum { MAX_DEPTH = 4, MAX_PARTS = 3, MAX_LENGTH = 6, MAX_ELEMENTS = 5000, ERROR_BYTES = 512 };

typedef struct Input {
    const uint8_t *at;
    size_t n;
    uint32_t elements; /* so far: sequences in sequences grow fast */
} Input;

static uint8_t take(Input *in)
{
    if (in->n == 0)
        return 0;
    in->n--;
    return *in->at++;
}

/* ---- types ---- */

static void put_type(Input *in, FILE *out, int depth)
{
    int kind = take(in) % (depth ? 8 : 2);
    int parts = kind >= 5 ? take(in) % (MAX_PARTS + 1) : 0;
    if (kind < 2) {
        fputs(scalars[take(in) % (sizeof scalars / sizeof *scalars)], out);
    } else if (kind < 5) {
        fputc('[', out);
        put_type(in, out, depth - 1);
        fputc(']', out);
    } else if (kind < 7) {
        fputc(kind == 5 ? '(' : '{', out);
        for (int i = 0; i < parts; i++) {
            if (kind == 6)
                fprintf(out, "f%d: ", i);
            put_type(in, out, depth - 1);
            fputs(", ", out);
        }
        fputc(kind == 5 ? ')' : '}', out);
    } else {
        for (int i = 0; i <= parts; i++) {
            fprintf(out, "%s#c%d", i ? " | " : "(", i);
            if (take(in) % 2) {
                fputs(" (", out);
                put_type(in, out, depth - 1);
                fputc(')', out);
            }
        }
        fputc(')', out);
    }
}

/* ---- values, in the language's syntax ---- */

static void put_scalar(Input *in, FILE *out, DpScalar s)
{
    uint64_t bits = 0;
    char text[DP_SCALAR_TEXT];
    for (uint32_t i = 0; i < dp_scalar_bytes(s); i++)
        bits = bits << 8 | take(in);
    DpLeaf leaf = {.scalar = s, .data = malloc(8), .ndata = 1};
    dp_scalar_store(s, leaf.data, 0, s == DP_BOOL ? bits % 2 : bits);
    fwrite(text, 1, dp_print_scalar(text, &leaf, 0), out);
    free(leaf.data);
}

static void put_value(Input *in, FILE *out, const DpType *t)
{
    uint32_t n = t->n;
    switch (t->kind) {
    case DP_T_SCALAR: put_scalar(in, out, t->scalar); return;
    case DP_T_ARRAY:
        n = in->elements < MAX_ELEMENTS ? take(in) % MAX_LENGTH : 0;
        in->elements += n;
        fputc('[', out);
        for (uint32_t i = 0; i < n; i++) {
            put_value(in, out, t->element);
            fputs(", ", out);
        }
        fputc(']', out);
        return;
    case DP_T_TUPLE:
    case DP_T_RECORD:
        fputc(t->kind == DP_T_TUPLE ? '(' : '{', out);
        for (uint32_t i = 0; i < n; i++) {
            if (t->kind == DP_T_RECORD)
                fprintf(out, "%s = ", t->names[i]);
            put_value(in, out, t->items[i]);
            fputs(i + 1 < n || n == 1 ? ", " : "", out);
        }
        fputc(t->kind == DP_T_TUPLE ? ')' : '}', out);
        return;
    case DP_T_SUM:
        n = take(in) % n;
        fprintf(out, "#%s ", t->names[n]);
        if (t->items[n]) {
            bool parentheses = t->items[n]->kind != DP_T_TUPLE; /* a tuple has its own */
            fputs(parentheses ? "(" : "", out);
            put_value(in, out, t->items[n]);
            fputs(parentheses ? ")" : "", out);
        }
        return;
    }
}

/* ---- there and back ---- */

/* A sparse matrix comes back with the columns of each row ascending, equal ones in their order. */
static void sort_columns(const DpType *t, DpLeaf *leaves)
{
    bool sparse;
    if (!dp_mtx_type(t, &sparse) || !sparse)
        return;
    DpLeaf *cols = &leaves[0], *values = &leaves[1];
    for (uint64_t row = 0, start = 0; row < cols->nlens[1]; start += cols->lens[1][row++])
        for (uint64_t end = start + cols->lens[1][row], i = start + 1; i < end; i++)
            for (uint64_t k = i; k > start; k--) {
                uint64_t a = dp_scalar_load(cols->scalar, cols->data, k - 1),
                         b = dp_scalar_load(cols->scalar, cols->data, k);
                uint64_t x = dp_scalar_load(values->scalar, values->data, k - 1),
                         y = dp_scalar_load(values->scalar, values->data, k);
                if (a <= b)
                    break;
                dp_scalar_store(cols->scalar, cols->data, k - 1, b);
                dp_scalar_store(cols->scalar, cols->data, k, a);
                dp_scalar_store(values->scalar, values->data, k - 1, y);
                dp_scalar_store(values->scalar, values->data, k, x);
            }
}

static void check_format(const char *ending, const DpType *t, DpLeaf *leaves, const char *text)
{
    bool known;
    char name[16], error[ERROR_BYTES] = "", *bytes = NULL;
    size_t n = 0;
    DpError e = {error, sizeof error, NULL};
    snprintf(name, sizeof name, "a%s", ending);
    const DpFormat *format = dp_format_of(name, &known);
    FILE *out = open_memstream(&bytes, &n);
    bool written = format->write(out, t, leaves, e);
    fclose(out);
    FUZZ_CHECK(written || error[0], "%s: refused without a message", name);
    if (written) {
        DpLeaf *back = calloc(dp_type_leaves(t), sizeof *back);
        FUZZ_CHECK(format->read(name, bytes, n, t, back, e), "%s: %.300s is not read again: %s", name, text, error);
        if (strcmp(ending, ".mtx") == 0)
            sort_columns(t, leaves);
        FUZZ_CHECK(dp_leaves_equal(t, leaves, back, 0), "%s: %.300s comes back as another value", name, text);
        dp_leaves_free(back, dp_type_leaves(t));
        free(back);
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Input in = {bytes, n, 0};
    char *type = NULL, *text = NULL, error[ERROR_BYTES];
    size_t length;
    FILE *out = open_memstream(&type, &length);
    put_type(&in, out, MAX_DEPTH);
    fclose(out);
    DpType *t = dp_type_parse(type);
    FUZZ_CHECK(t, "no type: %s", type);
    char *printed = dp_type_print(t, false);
    DpType *again = dp_type_parse(printed);
    FUZZ_CHECK(again && dp_type_equal(t, again), "%s is printed as %s", type, printed);
    out = open_memstream(&text, &length);
    put_value(&in, out, t);
    fclose(out);
    DpReader r = {"a", text, length, 0};
    DpLeaf *leaves = calloc(dp_type_leaves(t), sizeof *leaves);
    FUZZ_CHECK(dp_read_text(&r, t, leaves, error, sizeof error) && dp_reader_done(&r), "%s: %.300s: %s", type, text,
               error);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        check_format(endings[i], t, leaves, text);
    dp_leaves_free(leaves, dp_type_leaves(t));
    free(leaves);
    dp_type_free(t);
    dp_type_free(again);
    free(printed);
    free(type);
    free(text);
    return 0;
}
