/* Comma-separated values (.csv), as in RFC 4180:
 *
 *     name,size,"is it ""big""?"
 *     mouse,0.07,false
 *     "elephant, grey",3.3,true
 *
 * A sequence of tuples has a line for each, of scalars and texts ([u8]); of records also a header line that names the
 * fields, in any order and among others; of scalars or texts a single column; a matrix has a line for each row. Lines
 * end with LF or CR LF; empty ones do not count, as an empty text alone on its line stands in quotes: but they do in a
 * single column of options, where what is missing is #none. */
#include "csv.h"

#include <stdlib.h>
#include <string.h>

enum { IGNORED = UINT32_MAX, MOST_NOTES = 8, SHOWN_BYTES = 64 };

typedef struct Csv {
    const char *path;
    DpError error;
    const char *text;
    size_t n, at;
    uint32_t line;
    char delimiter;  /* 0: to be recognised */
    bool stops[256]; /* the bytes that may end a field, or must not stand in it */
    CsvTable table;
    uint32_t *order; /* the file's columns among the type's, or IGNORED */
    uint32_t width;  /* how many of them */
    bool empty_lines_count;
    DpBuilder *builders; /* of each leaf */
} Csv;

typedef struct Field {
    const char *at; /* without the quotes around it; those inside are still doubled */
    size_t n;
    bool quoted;
    uint32_t line, column; /* from 1 */
} Field;

/* ---- fields ---- */

static bool fail(const Csv *c, const Field *f, const char *what)
{
    return dp_error(c->error, "%s:%u: column %u: %s", c->path, (unsigned)f->line, (unsigned)f->column, what);
}

static bool fail_field(const Csv *c, const Field *f, const char *what)
{
    char found[DP_FOUND_BYTES];
    dp_describe(found, f->at, f->n);
    return dp_error(c->error, "%s:%u: column %u: expected %s, found %s", c->path, (unsigned)f->line,
                    (unsigned)f->column, what, f->n ? found : "nothing");
}

/* The length of the line end at the reader: LF, CR LF, the end of the file with or without CR. */
static bool at_line_end(const Csv *c, size_t *length)
{
    size_t cr = c->at < c->n && c->text[c->at] == '\r';
    bool lf = c->at + cr < c->n && c->text[c->at + cr] == '\n';
    *length = cr + lf;
    return lf || c->at + cr >= c->n;
}

static bool take_quoted(Csv *c, Field *f)
{
    c->at++;
    f->quoted = true;
    f->at = c->text + c->at;
    for (; c->at < c->n; c->at++) {
        bool quote = c->text[c->at] == '"';
        if (quote && (c->at + 1 >= c->n || c->text[c->at + 1] != '"'))
            break;
        c->at += quote;
        c->line += c->text[c->at] == '\n';
    }
    f->n = (size_t)(c->text + c->at - f->at);
    if (c->at >= c->n)
        return fail(c, f, "the closing quote is missing");
    c->at++;
    return true;
}

static bool take_bare(Csv *c, Field *f)
{
    size_t end;
    f->at = c->text + c->at;
    for (; c->at < c->n; c->at++) {
        char byte = c->text[c->at];
        if (!c->stops[(uint8_t)byte])
            continue;
        if (byte == '"')
            return fail(c, f, "a quote stands inside a field that does not begin with one");
        if (byte != '\r' || at_line_end(c, &end))
            break;
    }
    f->n = (size_t)(c->text + c->at - f->at);
    return true;
}

static bool take_field(Csv *c, Field *f, uint32_t column)
{
    *f = (Field){.line = c->line, .column = column};
    return c->at < c->n && c->text[c->at] == '"' ? take_quoted(c, f) : take_bare(c, f);
}

/* Behind a field: a delimiter, or the line's end behind the last one. */
static bool take_separator(Csv *c, const Field *f, bool last)
{
    size_t end;
    if (c->at < c->n && c->text[c->at] == c->delimiter) {
        c->at++;
        return !last || dp_error(c->error, "%s:%u: more than %u column%s", c->path, (unsigned)f->line,
                                 (unsigned)c->width, c->width == 1 ? "" : "s");
    }
    if (!at_line_end(c, &end))
        return fail(c, f,
                    c->delimiter == ',' ? "expected a comma or the end of the line behind the closing quote"
                                        : "expected the delimiter or the end of the line behind the closing quote");
    if (!last)
        return dp_error(c->error, "%s:%u: the line ends after %u of %u columns", c->path, (unsigned)f->line,
                        (unsigned)f->column, (unsigned)c->width);
    c->at += end;
    c->line++;
    return true;
}

/* Is there another field on the line? Where its number is not known. */
static bool take_delimiter(Csv *c, const Field *f, bool *more)
{
    *more = c->at < c->n && c->text[c->at] == c->delimiter;
    c->at += *more;
    return *more || take_separator(c, f, true);
}

static void skip_empty_lines(Csv *c)
{
    size_t end;
    for (; c->at < c->n && at_line_end(c, &end); c->at += end)
        c->line++;
}

/* Numbers may have blanks around them. */
static void trim(Field *f)
{
    while (f->n > 0 && (f->at[0] == ' ' || f->at[0] == '\t'))
        f->at++, f->n--;
    while (f->n > 0 && (f->at[f->n - 1] == ' ' || f->at[f->n - 1] == '\t'))
        f->n--;
}

/* ---- the delimiter ---- */

/* How often it stands outside quotes on the line at hand. */
static uint32_t count_on_line(const Csv *c, char delimiter)
{
    uint32_t count = 0;
    bool quoted = false;
    for (size_t i = c->at; i < c->n && (quoted || c->text[i] != '\n'); i++) {
        quoted = quoted != (c->text[i] == '"');
        count += !quoted && c->text[i] == delimiter;
    }
    return count;
}

/* Tuples say how often it stands on a line, and a line of one text may have any of them; else it is the most frequent.
 */
static char recognise_delimiter(const Csv *c)
{
    static const char delimiters[] = DP_CSV_DELIMITERS;
    bool counted = !c->table.is_matrix && !c->table.columns[0].name;
    uint32_t most = 0;
    char found = ',';
    for (const char *d = delimiters; *d && !(counted && c->table.n == 1); d++) {
        uint32_t count = count_on_line(c, *d);
        if (counted && count + 1 == c->table.n)
            return *d;
        if (!counted && count > most) {
            most = count;
            found = *d;
        }
    }
    return found;
}

static void begin_line_format(Csv *c)
{
    if (!c->delimiter)
        c->delimiter = recognise_delimiter(c);
    const char stops[] = {c->delimiter, '"', '\r', '\n'};
    for (size_t i = 0; i < sizeof stops; i++)
        c->stops[(uint8_t)stops[i]] = true;
}

/* ---- values ---- */

static bool field_is(const Field *f, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < n && i < f->n; i++)
        if ((f->at[i] >= 'A' && f->at[i] <= 'Z' ? f->at[i] + 32 : f->at[i]) != word[i])
            return false;
    return f->n == n;
}

static bool bool_bits(const Csv *c, const Field *f, uint64_t *bits)
{
    *bits = field_is(f, "true") || field_is(f, "1");
    return *bits || field_is(f, "false") || field_is(f, "0") || fail_field(c, f, "true or false");
}

static bool number_bits(const Csv *c, const Field *f, DpScalar s, uint64_t *bits)
{
    bool negative = f->n > 0 && f->at[0] == '-';
    size_t sign = negative || (f->n > 0 && f->at[0] == '+');
    DpLiteral status = dp_parse_number(f->at + sign, f->n - sign, negative, s, bits);
    char what[48];
    if (status == DP_LIT_OK)
        return true;
    if (status == DP_LIT_MEMORY)
        return dp_error_memory(c->error, c->path);
    if (status == DP_LIT_RANGE) {
        snprintf(what, sizeof what, "the number is out of the range of %s", dp_scalar_name(s));
        return fail(c, f, what);
    }
    snprintf(what, sizeof what, "a number of type %s", dp_scalar_name(s));
    return fail_field(c, f, what);
}

static bool add_bytes(Csv *c, const char *bytes, size_t n, DpBuilder *b)
{
    return dp_build_bytes(b, bytes, n) || dp_error_memory(c->error, c->path);
}

static bool add_text(Csv *c, const Field *f, DpBuilder *b)
{
    uint64_t before = b->leaf->ndata;
    const char *at = f->at, *end = f->at + f->n;
    for (const char *quote; f->quoted && (quote = memchr(at, '"', (size_t)(end - at))); at = quote + 2) /* doubled */
        if (!add_bytes(c, at, (size_t)(quote + 1 - at), b))
            return false;
    if (!add_bytes(c, at, (size_t)(end - at), b))
        return false;
    return dp_build_length(b, b->leaf->rank - 1u, b->leaf->ndata - before) || dp_error_memory(c->error, c->path);
}

static bool add_value(Csv *c, Field *f, const CsvColumn *column, DpBuilder *b)
{
    uint64_t bits;
    if (column->is_text)
        return add_text(c, f, b);
    trim(f);
    if (!(column->scalar == DP_BOOL ? bool_bits(c, f, &bits) : number_bits(c, f, column->scalar, &bits)))
        return false;
    return dp_build_scalar(b, bits) || dp_error_memory(c->error, c->path);
}

static bool add_missing(Csv *c, const CsvColumn *column)
{
    DpBuilder *b = &c->builders[column->leaf];
    bool ok = dp_build_scalar(b, column->none) &&
              (column->is_text ? dp_build_length(b + 1, 1, 0) : dp_build_scalar(b + 1, 0));
    return ok || dp_error_memory(c->error, c->path);
}

static bool add_field(Csv *c, Field *f, uint32_t index)
{
    if (index == IGNORED)
        return true;
    const CsvColumn *column = &c->table.columns[index];
    DpBuilder *b = &c->builders[column->leaf];
    if (!column->is_option)
        return add_value(c, f, column, b);
    if (!column->is_text)
        trim(f);
    if (f->n == 0 && !f->quoted)
        return add_missing(c, column);
    if (!dp_build_scalar(b, column->some))
        return dp_error_memory(c->error, c->path);
    return add_value(c, f, column, b + 1);
}

/* ---- the header ---- */

static bool find_column(Csv *c, Field *f, uint32_t *index)
{
    trim(f);
    for (*index = 0; *index < c->table.n; ++*index) {
        CsvColumn *column = &c->table.columns[*index];
        if (strlen(column->name) != f->n || memcmp(column->name, f->at, f->n) != 0)
            continue;
        if (column->seen)
            return fail(c, f, "the field stands twice");
        column->seen = true;
        return true;
    }
    *index = IGNORED;
    return true;
}

static void note_ignored(Csv *c, const Field *f, uint32_t *notes)
{
    if (++*notes <= MOST_NOTES)
        dp_note(c->error, c->path, "the column %.*s is not read", f->n > SHOWN_BYTES ? SHOWN_BYTES : (int)f->n, f->at);
    else if (*notes == MOST_NOTES + 1)
        dp_note(c->error, c->path, "nor are more columns");
}

static bool check_header(Csv *c, uint32_t line)
{
    for (uint32_t i = 0; i < c->table.n; i++) {
        const CsvColumn *column = &c->table.columns[i];
        if (column->seen)
            continue;
        if (!column->is_option)
            return dp_error(c->error, "%s:%u: there is no column %s", c->path, (unsigned)line, column->name);
        dp_note(c->error, c->path, "there is no column %s: it is #none everywhere", column->name);
    }
    return true;
}

static bool read_header(Csv *c)
{
    uint32_t line = c->line, notes = 0, room = 0;
    if (c->at >= c->n)
        return dp_error(c->error, "%s:%u: the header line is missing", c->path, (unsigned)c->line);
    for (bool more = true; more; c->width++) {
        Field f;
        if (c->width == room) {
            uint32_t *grown = realloc(c->order, (room = 2 * room + 8) * sizeof *grown);
            if (!grown)
                return dp_error_memory(c->error, c->path);
            c->order = grown;
        }
        if (!take_field(c, &f, c->width + 1) || !find_column(c, &f, &c->order[c->width]))
            return false;
        if (c->order[c->width] == IGNORED)
            note_ignored(c, &f, &notes);
        if (!take_delimiter(c, &f, &more))
            return false;
    }
    return check_header(c, line);
}

static bool plain_order(Csv *c)
{
    c->width = c->table.n;
    c->order = malloc(c->width * sizeof *c->order);
    for (uint32_t i = 0; c->order && i < c->width; i++)
        c->order[i] = i;
    return c->order || dp_error_memory(c->error, c->path);
}

/* ---- lines ---- */

static bool read_row(Csv *c)
{
    for (uint32_t i = 0; i < c->width; i++) {
        Field f;
        if (!take_field(c, &f, i + 1) || !add_field(c, &f, c->order[i]) || !take_separator(c, &f, i + 1 == c->width))
            return false;
    }
    for (uint32_t i = 0; c->table.columns[0].name && i < c->table.n; i++)
        if (!c->table.columns[i].seen && !add_missing(c, &c->table.columns[i]))
            return false;
    return true;
}

static bool read_matrix_row(Csv *c)
{
    uint32_t width = 0;
    for (bool more = true; more; width++) {
        Field f;
        if (!take_field(c, &f, width + 1) || !add_field(c, &f, 0) || !take_delimiter(c, &f, &more))
            return false;
    }
    return dp_build_length(&c->builders[0], 1, width) || dp_error_memory(c->error, c->path);
}

static bool read_lines(Csv *c, uint32_t nleaves)
{
    uint64_t count = 0;
    if (!dp_text_begin(c->path, c->text, c->n, &c->at, c->error))
        return false;
    bool has_header = c->table.columns[0].name != NULL;
    c->empty_lines_count = !has_header && c->table.n == 1 && c->table.columns[0].is_option;
    if (!c->empty_lines_count)
        skip_empty_lines(c);
    begin_line_format(c);
    if (!(has_header ? read_header(c) : plain_order(c)))
        return false;
    c->empty_lines_count = c->width == 1 && c->order[0] != IGNORED && c->table.columns[c->order[0]].is_option;
    for (;; count++) {
        if (!c->empty_lines_count)
            skip_empty_lines(c);
        if (c->at >= c->n)
            break;
        if (!(c->table.is_matrix ? read_matrix_row(c) : read_row(c)))
            return false;
    }
    for (uint32_t i = 0; i < nleaves; i++)
        if (!dp_build_length(&c->builders[i], 0, count))
            return dp_error_memory(c->error, c->path);
    return true;
}

static bool read_table(Csv *c, const DpType *t, DpLeaf *leaves)
{
    uint32_t nleaves = dp_type_leaves(t);
    if (!dp_csv_table(&c->table, t, c->path, c->error))
        return false;
    dp_leaves_init(leaves, t);
    c->line = 1;
    c->builders = calloc(nleaves, sizeof *c->builders);
    for (uint32_t i = 0; c->builders && i < nleaves; i++)
        c->builders[i].leaf = &leaves[i];
    bool ok = c->builders ? read_lines(c, nleaves) : dp_error_memory(c->error, c->path);
    if (!ok)
        dp_leaves_free(leaves, nleaves);
    free(c->table.columns);
    free(c->order);
    free(c->builders);
    return ok;
}

bool dp_read_csv(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    return read_table(&(Csv){.path = path, .error = e, .text = bytes, .n = n, .delimiter = 0}, t, leaves);
}

bool dp_read_csv_comma(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    return read_table(&(Csv){.path = path, .error = e, .text = bytes, .n = n, .delimiter = ','}, t, leaves);
}

bool dp_read_csv_semicolon(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    return read_table(&(Csv){.path = path, .error = e, .text = bytes, .n = n, .delimiter = ';'}, t, leaves);
}

bool dp_read_csv_bar(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    return read_table(&(Csv){.path = path, .error = e, .text = bytes, .n = n, .delimiter = '|'}, t, leaves);
}

bool dp_read_tsv(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    return read_table(&(Csv){.path = path, .error = e, .text = bytes, .n = n, .delimiter = '\t'}, t, leaves);
}
