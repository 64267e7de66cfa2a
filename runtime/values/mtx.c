/* Matrix Market files (.mtx): a banner, comments, a line of sizes, one line an entry.
 *
 *     %%MatrixMarket matrix coordinate real symmetric
 *     % comment
 *     4253 4253 16542
 *     2 1 -1.5
 *
 * A coordinate file becomes rows [[(i, t)]] of 0-based column and value, columns ascending (entries that stand twice stay
 * twice, in the file's order); an array file (column by column) becomes [[t]]. The other half of symmetric and
 * skew-symmetric matrices is filled in. */
#include "values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Field { FIELD_REAL, FIELD_INTEGER, FIELD_PATTERN } Field;
typedef enum Symmetry { SYM_GENERAL, SYM_SYMMETRIC, SYM_SKEW } Symmetry;

typedef struct Entry {
    uint64_t row, col, bits;
} Entry;

typedef struct Mtx {
    const char *path;
    const char *text;
    size_t n, at;
    uint32_t line;
    DpError error;
    bool coordinate;
    Field field;
    Symmetry symmetry;
    DpScalar scalar; /* of the values */
    uint64_t rows, cols, count; /* count: coordinate entries in the file */
    uint32_t sizes_line;
} Mtx;

static bool fail(Mtx *m, const char *what) { return dp_error(m->error, "%s:%u: %s", m->path, (unsigned)m->line, what); }

/* ---- words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

static bool at_line_end(const Mtx *m) { return m->at >= m->n || m->text[m->at] == '\n'; }

static void skip_blanks(Mtx *m)
{
    while (m->at < m->n && is_blank(m->text[m->at])) m->at++;
}

static void next_line(Mtx *m)
{
    while (!at_line_end(m)) m->at++;
    if (m->at < m->n) {
        m->at++;
        m->line++;
    }
}

/* Copies the next word of the line; empty at its end. */
enum { WORD_BYTES = 128 };
static void take_word(Mtx *m, char word[WORD_BYTES])
{
    size_t length = 0;
    skip_blanks(m);
    while (!at_line_end(m) && !is_blank(m->text[m->at])) {
        if (length + 1 < WORD_BYTES)
            word[length++] = m->text[m->at];
        m->at++;
    }
    word[length] = '\0';
}

/* To the next line that is neither blank nor a comment. */
static void skip_comments(Mtx *m)
{
    for (skip_blanks(m); m->at < m->n && (m->text[m->at] == '%' || m->text[m->at] == '\n'); skip_blanks(m)) next_line(m);
}

static bool fail_expected(Mtx *m, const char *what, const char *found)
{
    char text[DP_FOUND_BYTES];
    dp_describe(text, found, strlen(found));
    return dp_error(m->error, "%s:%u: expected %s, found %s", m->path, (unsigned)m->line, what,
                    *found ? text : "the end of the line");
}

static bool take_size(Mtx *m, uint64_t *size)
{
    char word[WORD_BYTES];
    take_word(m, word);
    char *end;
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end || errno)
        return fail_expected(m, "a number", word);
    *size = value;
    return true;
}

static bool take_line_end(Mtx *m)
{
    char word[WORD_BYTES];
    take_word(m, word);
    if (word[0] && word[0] != '%')
        return fail_expected(m, "the end of the line", word);
    next_line(m);
    return true;
}

/* ---- values ---- */

static bool integer_bits(Mtx *m, const char *word, uint64_t *bits)
{
    bool negative = word[0] == '-';
    const char *digits = word + (negative || word[0] == '+');
    DpLiteral status = dp_parse_number(digits, strlen(digits), negative, m->scalar, bits);
    if (status == DP_LIT_RANGE)
        return dp_error(m->error, "%s:%u: %s is out of the range of %s", m->path, (unsigned)m->line, word,
                        dp_scalar_name(m->scalar));
    return status == DP_LIT_OK || fail_expected(m, "an integer", word);
}

static bool real_bits(Mtx *m, const char *word, uint64_t *bits)
{
    char *end;
    double x = m->scalar == DP_F32 ? (double)strtof(word, &end) : strtod(word, &end);
    if (!*word || *end)
        return fail_expected(m, "a number", word);
    *bits = dp_bits_of_double(m->scalar, x);
    return true;
}

static bool take_value(Mtx *m, uint64_t *bits)
{
    if (m->field == FIELD_PATTERN) {
        *bits = dp_scalar_is_float(m->scalar) ? dp_bits_of_double(m->scalar, 1.0) : 1;
        return true;
    }
    char word[WORD_BYTES];
    take_word(m, word);
    return dp_scalar_is_float(m->scalar) ? real_bits(m, word, bits) : integer_bits(m, word, bits);
}

static uint64_t negated(DpScalar s, uint64_t bits)
{
    if (s == DP_F32)
        return bits ^ 0x80000000u;
    return s == DP_F64 ? bits ^ (uint64_t)1 << 63 : 0 - bits;
}

/* ---- banner and sizes ---- */

static bool word_is(const char *word, const char *wanted)
{
    for (; *word && *wanted; word++, wanted++)
        if ((*word >= 'A' && *word <= 'Z' ? *word + 32 : *word) != *wanted)
            return false;
    return *word == *wanted;
}

static bool read_field(Mtx *m, const char *word)
{
    if (word_is(word, "real") || word_is(word, "double"))
        m->field = FIELD_REAL;
    else if (word_is(word, "integer"))
        m->field = FIELD_INTEGER;
    else if (word_is(word, "pattern") && m->coordinate)
        m->field = FIELD_PATTERN;
    else
        return fail_expected(m, "real, integer or pattern", word);
    return true;
}

static bool read_symmetry(Mtx *m, const char *word)
{
    if (word_is(word, "general"))
        m->symmetry = SYM_GENERAL;
    else if (word_is(word, "symmetric"))
        m->symmetry = SYM_SYMMETRIC;
    else if (word_is(word, "skew-symmetric"))
        m->symmetry = SYM_SKEW;
    else
        return fail_expected(m, "general, symmetric or skew-symmetric", word);
    return true;
}

static bool read_banner(Mtx *m)
{
    char banner[WORD_BYTES], object[WORD_BYTES], format[WORD_BYTES], field[WORD_BYTES], symmetry[WORD_BYTES];
    take_word(m, banner);
    take_word(m, object);
    take_word(m, format);
    take_word(m, field);
    take_word(m, symmetry);
    if (!word_is(banner, "%%matrixmarket"))
        return fail(m, "not a Matrix Market file: it does not begin with %%MatrixMarket");
    if (!word_is(object, "matrix"))
        return fail_expected(m, "matrix", object);
    m->coordinate = word_is(format, "coordinate");
    if (!m->coordinate && !word_is(format, "array"))
        return fail_expected(m, "coordinate or array", format);
    return read_field(m, field) && read_symmetry(m, symmetry) && take_line_end(m);
}

static bool read_sizes(Mtx *m)
{
    skip_comments(m);
    if (!take_size(m, &m->rows) || !take_size(m, &m->cols))
        return false;
    if (m->coordinate && !take_size(m, &m->count))
        return false;
    if (m->symmetry != SYM_GENERAL && m->rows != m->cols)
        return fail(m, "a symmetric matrix must be square");
    m->sizes_line = m->line;
    return take_line_end(m);
}

static bool fail_sizes(Mtx *m)
{
    return dp_error(m->error, "%s:%u: the sizes are larger than the file", m->path, (unsigned)m->sizes_line);
}

/* Is the number of entries possible, if each takes so many bytes? The last line may lack its newline. */
static bool fits_file(const Mtx *m, uint64_t count, uint64_t bytes_each)
{
    return count <= (m->n - m->at + 1) / bytes_each;
}

/* ---- coordinate format ---- */

static bool read_entry(Mtx *m, Entry *e)
{
    uint64_t row, col, bits;
    skip_comments(m);
    if (m->at >= m->n)
        return dp_error(m->error, "%s:%u: the file ends early: it promises %llu entries", m->path, (unsigned)m->line,
                        (unsigned long long)m->count);
    if (!take_size(m, &row) || !take_size(m, &col) || !take_value(m, &bits))
        return false;
    if (row < 1 || row > m->rows || col < 1 || col > m->cols)
        return dp_error(m->error, "%s:%u: entry (%llu, %llu) lies outside the matrix of %llu by %llu", m->path,
                        (unsigned)m->line, (unsigned long long)row, (unsigned long long)col,
                        (unsigned long long)m->rows, (unsigned long long)m->cols);
    if (m->symmetry == SYM_SKEW && row == col)
        return fail(m, "a skew-symmetric matrix has no entries on its diagonal");
    *e = (Entry){row - 1, col - 1, bits};
    return take_line_end(m);
}

/* All entries, the mirrored ones included; *n of them. */
static Entry *read_entries(Mtx *m, uint64_t *n)
{
    bool mirror = m->symmetry != SYM_GENERAL;
    Entry *entries = dp_alloc_array(m->count, sizeof(Entry) * (mirror ? 2 : 1));
    if (!entries) {
        dp_error_memory(m->error, m->path);
        return NULL;
    }
    *n = 0;
    for (uint64_t i = 0; i < m->count; i++) {
        Entry e;
        if (!read_entry(m, &e)) {
            free(entries);
            return NULL;
        }
        entries[(*n)++] = e;
        if (mirror && e.row != e.col)
            entries[(*n)++] = (Entry){e.col, e.row, m->symmetry == SYM_SKEW ? negated(m->scalar, e.bits) : e.bits};
    }
    return entries;
}

static int compare_columns(const void *left, const void *right)
{
    const Entry *a = left, *b = right;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row; /* `row` has become the position in the file */
}

/* Sorts by row (counting), then each row by column; `row` becomes the entry's position. starts: rows + 1 places. */
static void sort_entries(const Entry *entries, uint64_t n, uint64_t rows, uint64_t *starts, Entry *sorted)
{
    for (uint64_t i = 0; i < n; i++) starts[entries[i].row + 1]++;
    for (uint64_t r = 0; r < rows; r++) starts[r + 1] += starts[r];
    for (uint64_t i = n; i-- > 0;) {
        /* from behind, so that starts[row + 1] moves from the row's end to its beginning */
        uint64_t at = --starts[entries[i].row + 1];
        sorted[at] = (Entry){i, entries[i].col, entries[i].bits};
    }
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t from = starts[r + 1], to = r + 1 < rows ? starts[r + 2] : n;
        bool ascending = true;
        for (uint64_t i = from + 1; i < to; i++) ascending = ascending && sorted[i - 1].col <= sorted[i].col;
        if (!ascending)
            qsort(sorted + from, (size_t)(to - from), sizeof(Entry), compare_columns);
    }
}

/* One leaf of rank 2 for the rows: the lengths. starts[r + 1] is where row r begins. */
static bool make_rows(DpLeaf *leaf, uint64_t rows, const uint64_t *starts, uint64_t n)
{
    leaf->lens[0] = dp_alloc_array(1, sizeof(uint64_t));
    leaf->lens[1] = dp_alloc_array(rows, sizeof(uint64_t));
    leaf->data = dp_alloc_array(n, dp_scalar_bytes(leaf->scalar));
    if (!leaf->lens[0] || !leaf->lens[1] || !leaf->data)
        return false;
    leaf->nlens[0] = 1;
    leaf->lens[0][0] = rows;
    leaf->nlens[1] = rows;
    leaf->ndata = n;
    for (uint64_t r = 0; r < rows; r++) leaf->lens[1][r] = (r + 1 < rows ? starts[r + 2] : n) - starts[r + 1];
    return true;
}

static bool store_entries(Mtx *m, const Entry *entries, uint64_t n, DpLeaf *leaves)
{
    uint64_t *starts = calloc((size_t)m->rows + 1, sizeof *starts);
    Entry *sorted = dp_alloc_array(n, sizeof *sorted);
    bool ok = starts && sorted;
    if (ok) {
        sort_entries(entries, n, m->rows, starts, sorted);
        ok = make_rows(&leaves[0], m->rows, starts, n) && make_rows(&leaves[1], m->rows, starts, n);
    }
    for (uint64_t i = 0; ok && i < n; i++) {
        dp_scalar_store(leaves[0].scalar, leaves[0].data, i, sorted[i].col);
        dp_scalar_store(leaves[1].scalar, leaves[1].data, i, sorted[i].bits);
    }
    free(starts);
    free(sorted);
    return ok || dp_error_memory(m->error, m->path);
}

static bool read_coordinate(Mtx *m, DpLeaf *leaves)
{
    if (m->cols && m->cols - 1 > dp_scalar_limit(leaves[0].scalar, false))
        return dp_error(m->error, "%s:%u: %llu columns are too many for indices of type %s", m->path,
                        (unsigned)m->sizes_line, (unsigned long long)m->cols, dp_scalar_name(leaves[0].scalar));
    if (!dp_count_plausible(m->rows, m->n) || !fits_file(m, m->count, m->field == FIELD_PATTERN ? 4 : 6))
        return fail_sizes(m);
    uint64_t n;
    Entry *entries = read_entries(m, &n);
    bool ok = entries && store_entries(m, entries, n, leaves);
    free(entries);
    return ok;
}

/* ---- array format ---- */

static bool store_value(Mtx *m, DpLeaf *leaf, uint64_t row, uint64_t col)
{
    uint64_t bits;
    skip_comments(m);
    if (m->at >= m->n)
        return fail(m, "the file ends early");
    if (!take_value(m, &bits) || !take_line_end(m))
        return false;
    dp_scalar_store(leaf->scalar, leaf->data, row * m->cols + col, bits);
    if (m->symmetry != SYM_GENERAL && row != col)
        dp_scalar_store(leaf->scalar, leaf->data, col * m->cols + row,
                        m->symmetry == SYM_SKEW ? negated(m->scalar, bits) : bits);
    return true;
}

static bool make_matrix(DpLeaf *leaf, uint64_t rows, uint64_t cols)
{
    leaf->lens[0] = dp_alloc_array(1, sizeof(uint64_t));
    leaf->lens[1] = dp_alloc_array(rows, sizeof(uint64_t));
    leaf->data = calloc((size_t)(rows * cols) + 1, dp_scalar_bytes(leaf->scalar));
    if (!leaf->lens[0] || !leaf->lens[1] || !leaf->data)
        return false;
    leaf->nlens[0] = 1;
    leaf->lens[0][0] = rows;
    leaf->nlens[1] = rows;
    leaf->ndata = rows * cols;
    for (uint64_t r = 0; r < rows; r++) leaf->lens[1][r] = cols;
    return true;
}

/* A value takes two bytes at least. Of a symmetric matrix the file has the lower triangle, so that
 * rows * rows is bounded by twice its entries and one row. */
static bool read_array(Mtx *m, DpLeaf *leaf)
{
    uint64_t rows = m->rows, cols = m->cols;
    bool triangle = m->symmetry != SYM_GENERAL;
    bool fits = dp_count_plausible(rows, m->n) && (cols == 0 || rows <= UINT64_MAX / 4 / cols);
    if (fits && triangle) {
        uint64_t below = rows ? rows * (rows - 1) / 2 : 0;
        fits = fits_file(m, m->symmetry == SYM_SKEW ? below : below + rows, 2);
    } else if (fits) {
        fits = fits_file(m, rows * cols, 2);
    }
    if (!fits)
        return fail_sizes(m);
    if (!make_matrix(leaf, rows, cols))
        return dp_error_memory(m->error, m->path);
    for (uint64_t c = 0; c < cols; c++)
        for (uint64_t r = !triangle ? 0 : m->symmetry == SYM_SKEW ? c + 1 : c; r < rows; r++)
            if (!store_value(m, leaf, r, c))
                return false;
    return true;
}

/* ---- files ---- */

bool dp_mtx_type(const DpType *t, bool *coordinate)
{
    const DpType *item = t->kind == DP_T_ARRAY && t->element->kind == DP_T_ARRAY ? t->element->element : NULL;
    *coordinate = item && item->kind == DP_T_TUPLE && item->n == 2 && item->items[0]->kind == DP_T_SCALAR &&
                  item->items[0]->scalar != DP_BOOL && !dp_scalar_is_float(item->items[0]->scalar);
    const DpType *value = *coordinate ? item->items[1] : item;
    return value && value->kind == DP_T_SCALAR && value->scalar != DP_BOOL;
}

static bool check_type(Mtx *m, const DpType *t)
{
    bool coordinate;
    if (!dp_mtx_type(t, &coordinate) || coordinate != m->coordinate)
        return dp_error(m->error, "%s: a Matrix Market file in %s format gives %s, which is not this parameter's type",
                        m->path, m->coordinate ? "coordinate" : "array",
                        m->coordinate ? "rows [[(i, t)]] of column and number" : "[[t]] of numbers");
    const DpType *item = t->element->element;
    m->scalar = coordinate ? item->items[1]->scalar : item->scalar;
    if (m->field == FIELD_REAL && !dp_scalar_is_float(m->scalar))
        return dp_error(m->error, "%s: the file holds real numbers, but %s are wanted", m->path,
                        dp_scalar_name(m->scalar));
    return true;
}

bool dp_read_mtx(const char *path, const char *text, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    Mtx m = {.path = path, .text = text, .n = n, .line = 1, .error = e};
    if (!read_banner(&m) || !check_type(&m, t) || !read_sizes(&m))
        return false;
    dp_leaves_init(leaves, t);
    bool ok = m.coordinate ? read_coordinate(&m, leaves) : read_array(&m, leaves);
    skip_comments(&m);
    if (ok && m.at < m.n)
        ok = fail(&m, "there are more entries than promised");
    if (!ok)
        dp_leaves_free(leaves, m.coordinate ? 2 : 1);
    return ok;
}
