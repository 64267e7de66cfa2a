#include "csv.h"

#include <stdlib.h>

/* What stands in a field? */
static bool describe_field(CsvColumn *column, const DpType *t)
{
    column->is_option = dp_type_is_option(t, &column->none, &column->some);
    const DpType *value = column->is_option ? t->items[column->some] : t;
    column->is_text = dp_type_is_string(value);
    column->scalar = column->is_text ? DP_U8 : value->scalar;
    return column->is_text || value->kind == DP_T_SCALAR;
}

static bool describe_columns(CsvTable *table, const DpType *element, bool many)
{
    for (uint32_t i = 0; i < table->n; i++) {
        uint32_t item = many && element->order ? element->order[i] : i;
        CsvColumn *column = &table->columns[i];
        column->leaf = many ? dp_type_leaves_before(element, item) : 0;
        column->name = many && element->kind == DP_T_RECORD ? element->names[item] : NULL;
        if (!describe_field(column, many ? element->items[item] : element))
            return false;
    }
    return table->n > 0;
}

bool dp_csv_table(CsvTable *table, const DpType *t, const char *path, DpError e)
{
    const DpType *element = t->kind == DP_T_ARRAY ? t->element : NULL;
    *table = (CsvTable){.is_matrix = element && element->kind == DP_T_ARRAY && !dp_type_is_string(element)};
    if (table->is_matrix)
        element = element->element;
    bool many = element && !table->is_matrix && (element->kind == DP_T_TUPLE || element->kind == DP_T_RECORD);
    table->n = many ? element->n : element ? 1 : 0;
    table->columns = calloc((size_t)table->n + 1, sizeof *table->columns);
    if (!table->columns)
        return dp_error_memory(e, path);
    if (describe_columns(table, element, many) && !(table->is_matrix && table->columns[0].is_option))
        return true;
    free(table->columns);
    return dp_error(
        e,
        "%s%sa .csv file holds a sequence of scalars, texts, tuples or records of them, or a matrix, which is not the "
        "type here",
        path, *path ? ": " : "");
}
