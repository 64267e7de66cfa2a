/* Writing Matrix Market files: rows [[(i, t)]] of 0-based column and value in coordinate format, rows [[t]] of one
 * length in array format. How many columns a sparse matrix has is not part of the value: the file says one more than
 * the last column that occurs. */
#include "values.h"

#include <string.h>

static void write_value(FILE *out, const DpLeaf *leaf, uint64_t at)
{
    char text[DP_SCALAR_TEXT];
    size_t n = dp_print_scalar(text, leaf, at);
    text[n++] = '\n';
    fwrite(text, 1, n, out);
}

static void write_banner(FILE *out, const char *format, DpScalar s)
{
    fprintf(out, "%%%%MatrixMarket matrix %s %s general\n", format, dp_scalar_is_float(s) ? "real" : "integer");
}

static bool write_coordinate(FILE *out, const DpLeaf *columns, const DpLeaf *values, DpError e)
{
    uint64_t rows = columns->nlens[1], ncolumns = 0, at = 0;
    bool is_signed = dp_scalar_limit(columns->scalar, true) > 0;
    for (uint64_t i = 0; i < columns->ndata; i++) {
        uint64_t column = dp_scalar_load(columns->scalar, columns->data, i);
        if ((is_signed && (int64_t)column < 0) || column == UINT64_MAX)
            return dp_error(e, "a .mtx file cannot hold the column %s",
                            is_signed ? "with a negative number" : "2^64 - 1");
        ncolumns = column < ncolumns ? ncolumns : column + 1;
    }
    const uint64_t shape[] = {rows, 0};
    if (!dp_shape_writable(shape, 2, 2, 6 * columns->ndata, "a .mtx file", e))
        return false;
    write_banner(out, "coordinate", values->scalar);
    fprintf(out, "%llu %llu %llu\n", (unsigned long long)rows, (unsigned long long)ncolumns,
            (unsigned long long)columns->ndata);
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t i = 0; i < columns->lens[1][row]; i++, at++) {
            uint64_t column = dp_scalar_load(columns->scalar, columns->data, at);
            fprintf(out, "%llu %llu ", (unsigned long long)(row + 1), (unsigned long long)(column + 1));
            write_value(out, values, at);
        }
    return true;
}

static bool write_array(FILE *out, const DpLeaf *leaf, DpError e)
{
    uint64_t shape[2];
    if (!dp_leaf_shape(leaf, shape))
        return dp_error(e, "a .mtx file in array format holds regular arrays, but rows of the result differ in length");
    if (!dp_shape_writable(shape, 2, 1, 2 * leaf->ndata, "a .mtx file", e))
        return false;
    write_banner(out, "array", leaf->scalar);
    fprintf(out, "%llu %llu\n", (unsigned long long)shape[0], (unsigned long long)shape[1]);
    for (uint64_t column = 0; column < shape[1]; column++)
        for (uint64_t row = 0; row < shape[0]; row++)
            write_value(out, leaf, row * shape[1] + column);
    return true;
}

bool dp_write_mtx(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    bool coordinate;
    if (!dp_mtx_type(t, &coordinate))
        return dp_error(
            e, "a .mtx file holds rows [[(i, t)]] of column and number, or a matrix [[t]] of numbers, which the "
               "result is not");
    return coordinate ? write_coordinate(out, &leaves[0], &leaves[1], e) : write_array(out, &leaves[0], e);
}
