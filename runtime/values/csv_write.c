/* Writing comma-separated values: see csv.c. */
#include "csv.h"

#include <stdlib.h>
#include <string.h>

typedef struct CsvOut {
    FILE *file;
    char delimiter;
    const DpLeaf *leaves;
    uint64_t *starts; /* of each column: the next text's first byte */
    bool alone;       /* a line has one field */
} CsvOut;

/* Quotes where they are needed: also for what could be taken for the mark of an encoding, and where nothing would be no
 * field or no text. */
static void write_text(CsvOut *out, const char *text, uint64_t n, bool is_option)
{
    bool quotes = n == 0 ? out->alone || is_option : (uint8_t)text[0] >= 0xef || !text[0];
    for (uint64_t i = 0; i < n && !quotes; i++)
        quotes = text[i] && strchr(DP_CSV_DELIMITERS "\"\r\n", text[i]);
    if (!quotes) {
        fwrite(text, 1, (size_t)n, out->file);
        return;
    }
    fputc('"', out->file);
    for (uint64_t i = 0; i < n; i++) {
        if (text[i] == '"')
            fputc('"', out->file);
        fputc(text[i], out->file);
    }
    fputc('"', out->file);
}

/* Element `at` of the column, on whatever level. */
static void write_field(CsvOut *out, const CsvColumn *column, uint64_t *start, uint64_t at)
{
    const DpLeaf *leaf = &out->leaves[column->leaf];
    char text[DP_SCALAR_TEXT];
    bool missing = column->is_option && dp_scalar_load(leaf->scalar, leaf->data, at) == column->none;
    leaf += column->is_option;
    if (column->is_text) {
        uint64_t length = leaf->lens[leaf->rank - 1][at];
        if (!missing)
            write_text(out, length ? (const char *)leaf->data + *start : "", length, column->is_option);
        *start += length;
    } else if (!missing) {
        fwrite(text, 1, dp_print_scalar(text, leaf, at), out->file);
    }
}

static void write_rows(CsvOut *out, const CsvTable *table)
{
    for (uint64_t row = 0; row < out->leaves[0].lens[0][0]; row++)
        for (uint32_t i = 0; i < table->n; i++) {
            write_field(out, &table->columns[i], &out->starts[i], row);
            fputc(i + 1 < table->n ? out->delimiter : '\n', out->file);
        }
}

static bool write_matrix(CsvOut *out, const CsvColumn *column, DpError e)
{
    const DpLeaf *leaf = &out->leaves[0];
    for (uint64_t row = 0; row < leaf->nlens[1]; row++)
        if (leaf->lens[1][row] == 0)
            return dp_error(e, "a .csv file cannot hold an empty row, as row %llu of the result is",
                            (unsigned long long)row);
    for (uint64_t row = 0, at = 0; row < leaf->nlens[1]; row++) {
        uint64_t width = leaf->lens[1][row];
        out->alone = width == 1;
        for (uint64_t i = 0; i < width; i++) {
            write_field(out, column, &out->starts[0], at++);
            fputc(i + 1 < width ? out->delimiter : '\n', out->file);
        }
    }
    return true;
}

static bool write_table(FILE *file, const DpType *t, const DpLeaf *leaves, char delimiter, DpError e)
{
    CsvTable table;
    if (!dp_csv_table(&table, t, "", e))
        return false;
    CsvOut out = {file, delimiter, leaves, calloc(table.n, sizeof(uint64_t)), table.n == 1};
    bool ok = out.starts || dp_error_memory(e, "");
    for (uint32_t i = 0; ok && i < table.n && table.columns[i].name; i++)
        fprintf(file, "%s%c", table.columns[i].name, i + 1 < table.n ? delimiter : '\n');
    if (ok && table.is_matrix)
        ok = write_matrix(&out, &table.columns[0], e);
    else if (ok)
        write_rows(&out, &table);
    free(table.columns);
    free(out.starts);
    return ok;
}

bool dp_write_csv(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    return write_table(out, t, leaves, ',', e);
}
bool dp_write_csv_semicolon(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    return write_table(out, t, leaves, ';', e);
}
bool dp_write_csv_bar(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    return write_table(out, t, leaves, '|', e);
}
bool dp_write_tsv(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    return write_table(out, t, leaves, '\t', e);
}
