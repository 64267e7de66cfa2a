/* Matrix Market files (.mtx): a banner, comments, a line of sizes, one line an entry.
 *
 *     %%MatrixMarket matrix coordinate real symmetric
 *     % comment
 *     4253 4253 16542
 *     2 1 -1.5
 *
 * A coordinate file becomes rows [[(i, t)]] of 0-based column and value, columns ascending (entries that stand twice
 * stay twice, in the file's order); an array file (column by column) becomes [[t]]. The other half of symmetric and
 * skew-symmetric matrices is filled in. */
#include "values.h"

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
    size_t n, at, word; /* word: where the last one begins */
    DpError error;
    bool coordinate;
    Field field;
    Symmetry symmetry;
    DpScalar scalar;            /* of the values */
    uint64_t rows, cols, count; /* count: coordinate entries in the file */
    size_t sizes_at;
} Mtx;

static bool fail(Mtx *m, const char *what) { return dp_error_at(m->error, m->path, m->text, m->word, "%s", what); }

/* ---- words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

static bool at_line_end(const Mtx *m) { return m->at >= m->n || m->text[m->at] == '\n'; }

static void skip_blanks(Mtx *m)
{
    while (m->at < m->n && is_blank(m->text[m->at]))
        m->at++;
}

static void next_line(Mtx *m)
{
    while (!at_line_end(m))
        m->at++;
    m->at += m->at < m->n;
}

/* Takes the next word of the line; its length, 0 at the line's end. */
static size_t take_word(Mtx *m)
{
    skip_blanks(m);
    m->word = m->at;
    while (!at_line_end(m) && !is_blank(m->text[m->at]))
        m->at++;
    return m->at - m->word;
}

/* To the next line that is neither blank nor a comment. */
static void skip_comments(Mtx *m)
{
    for (skip_blanks(m); m->at < m->n && (m->text[m->at] == '%' || m->text[m->at] == '\n'); skip_blanks(m))
        next_line(m);
    m->word = m->at;
}

/* About the word that has been taken. */
static bool fail_expected(Mtx *m, const char *what)
{
    char found[DP_FOUND_BYTES];
    dp_describe(found, m->text + m->word, m->at - m->word);
    return dp_error_at(m->error, m->path, m->text, m->word, "expected %s, found %s", what,
                       m->at > m->word ? found : "the end of the line");
}

static bool fail_number(Mtx *m, DpLiteral status, const char *what, DpScalar s)
{
    char found[DP_FOUND_BYTES];
    if (status == DP_LIT_MEMORY)
        return dp_error_memory(m->error, m->path);
    if (status != DP_LIT_RANGE)
        return fail_expected(m, what);
    dp_describe(found, m->text + m->word, m->at - m->word);
    return dp_error_at(m->error, m->path, m->text, m->word, "%s is out of the range of %s", found, dp_scalar_name(s));
}

static bool take_size(Mtx *m, uint64_t *size)
{
    size_t n = take_word(m);
    DpLiteral status = dp_parse_size(m->text + m->word, n, size);
    return status == DP_LIT_OK || fail_number(m, status, "a number", DP_U64);
}

static bool take_line_end(Mtx *m)
{
    if (take_word(m) && m->text[m->word] != '%')
        return fail_expected(m, "the end of the line");
    next_line(m);
    return true;
}

/* ---- values ---- */

static bool take_value(Mtx *m, uint64_t *bits)
{
    if (m->field == FIELD_PATTERN) {
        *bits = dp_scalar_is_float(m->scalar) ? dp_bits_of_double(m->scalar, 1.0) : 1;
        return true;
    }
    size_t n = take_word(m);
    const char *word = m->text + m->word;
    if (dp_scalar_is_float(m->scalar)) {
        DpLiteral status = dp_parse_real(word, n, m->scalar, bits);
        return status == DP_LIT_OK || fail_number(m, status, "a number", m->scalar);
    }
    bool negative = n > 0 && word[0] == '-';
    size_t sign = negative || (n > 0 && word[0] == '+');
    DpLiteral status = dp_parse_number(word + sign, n - sign, negative, m->scalar, bits);
    return status == DP_LIT_OK || fail_number(m, status, "an integer", m->scalar);
}

/* What stands on the other side of the diagonal. */
static bool mirror(Mtx *m, uint64_t *bits)
{
    if (m->symmetry != SYM_SKEW)
        return true;
    if (dp_scalar_is_float(m->scalar)) {
        *bits ^= (uint64_t)1 << (8 * dp_scalar_bytes(m->scalar) - 1);
        return true;
    }
    bool negative = dp_scalar_limit(m->scalar, true) > 0 && (int64_t)*bits < 0;
    if ((negative ? 0 - *bits : *bits) > dp_scalar_limit(m->scalar, !negative))
        return dp_error_at(m->error, m->path, m->text, m->word, "the number's negative is out of the range of %s",
                           dp_scalar_name(m->scalar));
    *bits = 0 - *bits;
    return true;
}

/* ---- banner and sizes ---- */

/* Is the word that has been taken this one, in any case? */
static bool word_is(const Mtx *m, const char *wanted)
{
    size_t n = m->at - m->word;
    if (n != strlen(wanted))
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = m->text[m->word + i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != wanted[i])
            return false;
    }
    return true;
}

static bool read_field(Mtx *m)
{
    take_word(m);
    if (word_is(m, "real") || word_is(m, "double"))
        m->field = FIELD_REAL;
    else if (word_is(m, "integer"))
        m->field = FIELD_INTEGER;
    else if (word_is(m, "pattern") && m->coordinate)
        m->field = FIELD_PATTERN;
    else
        return fail_expected(m, "real, integer or pattern");
    return true;
}

static bool read_symmetry(Mtx *m)
{
    take_word(m);
    if (word_is(m, "general"))
        m->symmetry = SYM_GENERAL;
    else if (word_is(m, "symmetric"))
        m->symmetry = SYM_SYMMETRIC;
    else if (word_is(m, "skew-symmetric"))
        m->symmetry = SYM_SKEW;
    else
        return fail_expected(m, "general, symmetric or skew-symmetric");
    return true;
}

static bool read_banner(Mtx *m)
{
    if (!dp_text_begin(m->path, m->text, m->n, &m->at, m->error))
        return false;
    take_word(m);
    if (!word_is(m, "%%matrixmarket"))
        return fail(m, "not a Matrix Market file: it does not begin with %%MatrixMarket");
    take_word(m);
    if (!word_is(m, "matrix"))
        return fail_expected(m, "matrix");
    take_word(m);
    m->coordinate = word_is(m, "coordinate");
    if (!m->coordinate && !word_is(m, "array"))
        return fail_expected(m, "coordinate or array");
    return read_field(m) && read_symmetry(m) && take_line_end(m);
}

static bool read_sizes(Mtx *m)
{
    skip_comments(m);
    m->sizes_at = m->at;
    if (!take_size(m, &m->rows) || !take_size(m, &m->cols))
        return false;
    if (m->coordinate && !take_size(m, &m->count))
        return false;
    if (m->symmetry != SYM_GENERAL && m->rows != m->cols)
        return fail(m, "a symmetric matrix must be square");
    return take_line_end(m);
}

static bool fail_sizes(Mtx *m)
{
    return dp_error_at(m->error, m->path, m->text, m->sizes_at, "the sizes are larger than the file");
}

/* Is the number of entries possible, if each takes so many bytes? The last line may lack its newline. */
static bool fits_file(const Mtx *m, uint64_t count, uint64_t bytes_each)
{
    return count <= (m->n - m->at + 1) / bytes_each;
}

/* ---- coordinate format ---- */

/* *other: what a symmetric matrix has on the other side of the diagonal. */
static bool read_entry(Mtx *m, Entry *e, Entry *other)
{
    uint64_t row, col, bits;
    skip_comments(m);
    if (m->at >= m->n)
        return dp_error_at(m->error, m->path, m->text, m->at, "the file ends early: it promises %llu entries",
                           (unsigned long long)m->count);
    if (!take_size(m, &row) || !take_size(m, &col))
        return false;
    if (row < 1 || row > m->rows || col < 1 || col > m->cols)
        return dp_error_at(m->error, m->path, m->text, m->word,
                           "entry (%llu, %llu) lies outside the matrix of %llu by %llu", (unsigned long long)row,
                           (unsigned long long)col, (unsigned long long)m->rows, (unsigned long long)m->cols);
    if (!take_value(m, &bits))
        return false;
    if (m->symmetry == SYM_SKEW && row == col)
        return fail(m, "a skew-symmetric matrix has no entries on its diagonal");
    *e = (Entry){row - 1, col - 1, bits};
    *other = (Entry){col - 1, row - 1, bits};
    return mirror(m, &other->bits) && take_line_end(m);
}

/* All entries, the mirrored ones included; *n of them. */
static Entry *read_entries(Mtx *m, uint64_t *n)
{
    bool both = m->symmetry != SYM_GENERAL;
    Entry *entries = dp_alloc_array(m->count, sizeof(Entry) * (both ? 2 : 1));
    if (!entries) {
        dp_error_memory(m->error, m->path);
        return NULL;
    }
    *n = 0;
    for (uint64_t i = 0; i < m->count; i++) {
        Entry e, other;
        if (!read_entry(m, &e, &other)) {
            free(entries);
            return NULL;
        }
        entries[(*n)++] = e;
        if (both && e.row != e.col)
            entries[(*n)++] = other;
    }
    return entries;
}

static int compare_columns(const void *left, const void *right)
{
    const Entry *a = left, *b = right;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row); /* `row` has become the position in the file */
}

/* Sorts by row (counting), then each row by column; `row` becomes the entry's position. starts: rows + 1 places. */
static void sort_entries(const Entry *entries, uint64_t n, uint64_t rows, uint64_t *starts, Entry *sorted)
{
    for (uint64_t i = 0; i < n; i++)
        starts[entries[i].row + 1]++;
    for (uint64_t r = 0; r < rows; r++)
        starts[r + 1] += starts[r];
    for (uint64_t i = n; i-- > 0;) {
        /* from behind, so that starts[row + 1] moves from the row's end to its beginning */
        uint64_t at = --starts[entries[i].row + 1];
        sorted[at] = (Entry){i, entries[i].col, entries[i].bits};
    }
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t from = starts[r + 1], to = r + 1 < rows ? starts[r + 2] : n;
        bool ascending = true;
        for (uint64_t i = from + 1; i < to; i++)
            ascending = ascending && sorted[i - 1].col <= sorted[i].col;
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
    for (uint64_t r = 0; r < rows; r++)
        leaf->lens[1][r] = (r + 1 < rows ? starts[r + 2] : n) - starts[r + 1];
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
        return dp_error_at(m->error, m->path, m->text, m->sizes_at, "%llu columns are too many for indices of type %s",
                           (unsigned long long)m->cols, dp_scalar_name(leaves[0].scalar));
    uint64_t n, rows[] = {m->rows, 0};
    if (!dp_shape_plausible(rows, 2, 2, m->n, 0, &n) || !fits_file(m, m->count, m->field == FIELD_PATTERN ? 4 : 6))
        return fail_sizes(m);
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
    if (!take_value(m, &bits))
        return false;
    dp_scalar_store(leaf->scalar, leaf->data, row * m->cols + col, bits);
    if (m->symmetry == SYM_GENERAL || row == col)
        return take_line_end(m);
    if (!mirror(m, &bits))
        return false;
    dp_scalar_store(leaf->scalar, leaf->data, col * m->cols + row, bits);
    return take_line_end(m);
}

/* A value takes two bytes at least. Of a symmetric matrix the file has the lower triangle, and a skew-symmetric one has
 * zeros on its diagonal. */
static bool check_sizes(Mtx *m, uint64_t *shape)
{
    uint64_t count, rows = shape[0];
    if (!dp_shape_plausible(shape, 2, 1, m->n, UINT64_MAX, &count))
        return fail_sizes(m);
    if (m->symmetry == SYM_SYMMETRIC)
        count = count / 2 + rows / 2 + rows % 2; /* rows * (rows + 1) / 2 */
    else if (m->symmetry == SYM_SKEW)
        count = (count - rows) / 2;
    return fits_file(m, count, 2) || fail_sizes(m);
}

static bool read_array(Mtx *m, DpLeaf *leaf)
{
    uint64_t shape[] = {m->rows, m->cols};
    if (!check_sizes(m, shape))
        return false;
    if (!dp_leaf_make(leaf, shape))
        return dp_error_memory(m->error, m->path);
    if (m->symmetry == SYM_SKEW)
        for (uint64_t r = 0; r < m->rows; r++)
            dp_scalar_store(leaf->scalar, leaf->data, r * m->cols + r, 0);
    uint64_t cols = m->rows ? m->cols : 0; /* a matrix without rows may promise any number of columns */
    for (uint64_t c = 0; c < cols; c++)
        for (uint64_t r = m->symmetry == SYM_GENERAL ? 0 : m->symmetry == SYM_SKEW ? c + 1 : c; r < m->rows; r++)
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
    Mtx m = {.path = path, .text = text, .n = n, .error = e};
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
