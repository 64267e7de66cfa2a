/* What reading and writing of .csv files share. Private to runtime/values. */
#ifndef DP_CSV_H
#define DP_CSV_H

#include "values.h"

/* The columns of a table: a sequence of tuples or records has one for each item, in declared order; of scalars or
 * texts, one; a matrix, which is a sequence of sequences of them, has one that stands for all. */
typedef struct CsvColumn {
    const char *name; /* of a record's field, or NULL */
    uint32_t leaf;    /* the first of its leaves */
    DpScalar scalar;
    bool is_text;
    bool
        is_option; /* #none | #c t: the tag is the first leaf, the value stands in the next; what is missing is #none */
    uint32_t none, some;
    bool seen; /* in the header */
} CsvColumn;
typedef struct CsvTable {
    CsvColumn *columns;
    uint32_t n;
    bool is_matrix;
} CsvTable;

/* False and a message where the type is no table; path: "" for writers. Free `columns`. */
bool dp_csv_table(CsvTable *table, const DpType *t, const char *path, DpError e);

/* Between fields; those that are recognised where none is named. */
#define DP_CSV_DELIMITERS ",;\t|"

#endif
