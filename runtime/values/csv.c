/* Comma-separated values (.csv), as in RFC 4180:
 *
 *     name,size,"is it ""big""?"
 *     mouse,0.07,false
 *     "elephant, grey",3.3,true
 *
 * A sequence of tuples has a line for each, of scalars and texts ([u8]); of records also a header line that
 * names the fields, in any order; of scalars or texts a single column. Lines end with LF or CR LF; empty ones do not count,
 * as an empty text alone on its line stands in quotes. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

typedef struct Column {
    const char *name; /* of a record's field, or NULL */
    DpScalar scalar;
    bool is_text;
    bool seen;
} Column;

/* One column for each leaf of the elements; NULL where the type is another, *n = 0, or out of memory. */
static Column *columns_of(const DpType *t, uint32_t *n)
{
    const DpType *element = t->kind == DP_T_ARRAY ? t->element : NULL;
    bool many = element && (element->kind == DP_T_TUPLE || element->kind == DP_T_RECORD);
    uint32_t count = many ? element->n : element ? 1 : 0;
    *n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const DpType *item = many ? element->items[i] : element;
        if (item->kind != DP_T_SCALAR && !dp_type_is_string(item))
            return NULL;
    }
    Column *columns = count ? calloc(count, sizeof *columns) : NULL;
    *n = count;
    for (uint32_t i = 0; columns && i < count; i++) {
        const DpType *item = many ? element->items[i] : element;
        columns[i].is_text = item->kind == DP_T_ARRAY;
        columns[i].scalar = columns[i].is_text ? DP_U8 : item->scalar;
        columns[i].name = element->kind == DP_T_RECORD ? element->names[i] : NULL;
    }
    return columns;
}

static bool fail_columns(uint32_t n, const char *path, DpError e)
{
    const char *colon = *path ? ": " : "";
    return n ? dp_error_memory(e, path)
             : dp_error(e, "%s%sa .csv file holds a sequence of scalars, texts, tuples or records of them, which is not the "
                           "type here", path, colon);
}

/* ---- fields ---- */

typedef struct Csv {
    const char *path;
    DpError error;
    const char *text;
    size_t n, at;
    uint32_t line;
    Column *columns;
    uint32_t ncolumns;
    uint32_t *order; /* the file's columns among the type's */
    DpBuilder *builders;
} Csv;

typedef struct Field {
    const char *at; /* without the quotes around it; those inside are still doubled */
    size_t n;
    bool quoted;
    uint32_t line, column; /* from 1 */
} Field;

static bool fail(const Csv *c, const Field *f, const char *what)
{
    return dp_error(c->error, "%s:%u: column %u: %s", c->path, (unsigned)f->line, (unsigned)f->column, what);
}

static bool fail_field(const Csv *c, const Field *f, const char *what)
{
    char found[DP_FOUND_BYTES];
    dp_describe(found, f->at, f->n);
    return dp_error(c->error, "%s:%u: column %u: expected %s, found %s", c->path, (unsigned)f->line, (unsigned)f->column, what,
                    f->n ? found : "nothing");
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
    for (; c->at < c->n && c->text[c->at] != ',' && !at_line_end(c, &end); c->at++)
        if (c->text[c->at] == '"')
            return fail(c, f, "a quote stands inside a field that does not begin with one");
    f->n = (size_t)(c->text + c->at - f->at);
    return true;
}

static bool take_field(Csv *c, Field *f, uint32_t column)
{
    *f = (Field){.line = c->line, .column = column};
    return c->at < c->n && c->text[c->at] == '"' ? take_quoted(c, f) : take_bare(c, f);
}

/* Behind a field: a comma, or the line's end behind the last one. */
static bool take_separator(Csv *c, const Field *f, bool last)
{
    size_t end;
    if (c->at < c->n && c->text[c->at] == ',') {
        c->at++;
        return !last || dp_error(c->error, "%s:%u: more than %u column%s", c->path, (unsigned)f->line, (unsigned)c->ncolumns,
                                 c->ncolumns == 1 ? "" : "s");
    }
    if (!at_line_end(c, &end))
        return fail(c, f, "expected a comma or the end of the line behind the closing quote");
    if (!last)
        return dp_error(c->error, "%s:%u: the line ends after %u of %u columns", c->path, (unsigned)f->line,
                        (unsigned)f->column, (unsigned)c->ncolumns);
    c->at += end;
    c->line++;
    return true;
}

static void skip_empty_lines(Csv *c)
{
    size_t end;
    for (; c->at < c->n && at_line_end(c, &end); c->at += end) c->line++;
}

/* Numbers may have blanks around them. */
static void trim(Field *f)
{
    while (f->n > 0 && (f->at[0] == ' ' || f->at[0] == '\t')) f->at++, f->n--;
    while (f->n > 0 && (f->at[f->n - 1] == ' ' || f->at[f->n - 1] == '\t')) f->n--;
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
    if (status == DP_LIT_MEMORY)
        return dp_error_memory(c->error, c->path);
    if (status == DP_LIT_RANGE) {
        snprintf(what, sizeof what, "the number is out of the range of %s", dp_scalar_name(s));
        return fail(c, f, what);
    }
    snprintf(what, sizeof what, "a number of type %s", dp_scalar_name(s));
    return status == DP_LIT_OK || fail_field(c, f, what);
}

static bool add_text(Csv *c, const Field *f, DpBuilder *b)
{
    uint64_t length = 0;
    for (size_t i = 0; i < f->n; i++, length++) {
        if (!dp_build_scalar(b, (uint8_t)f->at[i]))
            return dp_error_memory(c->error, c->path);
        i += f->quoted && f->at[i] == '"'; /* doubled */
    }
    return dp_build_length(b, 1, length) || dp_error_memory(c->error, c->path);
}

static bool add_field(Csv *c, Field *f, uint32_t column)
{
    const Column *to = &c->columns[column];
    DpBuilder *b = &c->builders[column];
    uint64_t bits;
    if (to->is_text)
        return add_text(c, f, b);
    trim(f);
    if (!(to->scalar == DP_BOOL ? bool_bits(c, f, &bits) : number_bits(c, f, to->scalar, &bits)))
        return false;
    return dp_build_scalar(b, bits) || dp_error_memory(c->error, c->path);
}

/* ---- lines ---- */

static bool take_name(Csv *c, Field *f, uint32_t *column)
{
    trim(f);
    for (*column = 0; *column < c->ncolumns; ++*column) {
        Column *to = &c->columns[*column];
        if (strlen(to->name) != f->n || memcmp(to->name, f->at, f->n) != 0)
            continue;
        if (to->seen)
            return fail(c, f, "the field stands twice");
        to->seen = true;
        return true;
    }
    return fail_field(c, f, "the name of a field");
}

static bool read_header(Csv *c)
{
    if (c->at >= c->n)
        return dp_error(c->error, "%s:%u: the header line is missing", c->path, (unsigned)c->line);
    for (uint32_t i = 0; i < c->ncolumns; i++) {
        Field f;
        if (!take_field(c, &f, i + 1) || !take_name(c, &f, &c->order[i]) || !take_separator(c, &f, i + 1 == c->ncolumns))
            return false;
    }
    return true;
}

static bool read_line(Csv *c)
{
    for (uint32_t i = 0; i < c->ncolumns; i++) {
        Field f;
        if (!take_field(c, &f, i + 1) || !add_field(c, &f, c->order[i]) || !take_separator(c, &f, i + 1 == c->ncolumns))
            return false;
    }
    return true;
}

static bool read_lines(Csv *c)
{
    uint64_t count = 0;
    if (!dp_text_begin(c->path, c->text, c->n, &c->at, c->error))
        return false;
    skip_empty_lines(c);
    if (c->columns[0].name && !read_header(c))
        return false;
    for (skip_empty_lines(c); c->at < c->n; skip_empty_lines(c), count++)
        if (!read_line(c))
            return false;
    for (uint32_t i = 0; i < c->ncolumns; i++)
        if (!dp_build_length(&c->builders[i], 0, count))
            return dp_error_memory(c->error, c->path);
    return true;
}

bool dp_read_csv(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    Csv c = {.path = path, .error = e, .text = bytes, .n = n, .line = 1};
    c.columns = columns_of(t, &c.ncolumns);
    if (!c.columns)
        return fail_columns(c.ncolumns, path, e);
    dp_leaves_init(leaves, t);
    c.order = calloc(c.ncolumns, sizeof *c.order);
    c.builders = calloc(c.ncolumns, sizeof *c.builders);
    bool ok = c.order && c.builders;
    for (uint32_t i = 0; ok && i < c.ncolumns; i++) {
        c.order[i] = i;
        c.builders[i].leaf = &leaves[i];
    }
    ok = ok ? read_lines(&c) : dp_error_memory(e, path);
    if (!ok)
        dp_leaves_free(leaves, c.ncolumns);
    free(c.columns);
    free(c.order);
    free(c.builders);
    return ok;
}

/* ---- writing ---- */

/* Quotes where they are needed: also for an empty line, and for what could be taken for the mark of an encoding. */
static void write_text(FILE *out, const char *text, uint64_t n, bool alone)
{
    bool quotes = n == 0 ? alone : (uint8_t)text[0] >= 0xef || !text[0];
    for (uint64_t i = 0; i < n && !quotes; i++) quotes = strchr(",\"\r\n", text[i]) && text[i];
    if (!quotes) {
        fwrite(text, 1, (size_t)n, out);
        return;
    }
    fputc('"', out);
    for (uint64_t i = 0; i < n; i++) {
        if (text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    fputc('"', out);
}

static void write_lines(FILE *out, const Column *columns, uint32_t n, const DpLeaf *leaves, uint64_t *starts)
{
    for (uint64_t row = 0; row < leaves[0].lens[0][0]; row++) {
        for (uint32_t i = 0; i < n; i++) {
            char text[DP_SCALAR_TEXT];
            if (i > 0)
                fputc(',', out);
            if (columns[i].is_text) {
                uint64_t length = leaves[i].lens[1][row];
                write_text(out, length ? (const char *)leaves[i].data + starts[i] : "", length, n == 1);
                starts[i] += length;
            } else {
                fwrite(text, 1, dp_print_scalar(text, &leaves[i], row), out);
            }
        }
        fputc('\n', out);
    }
}

bool dp_write_csv(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    uint32_t n;
    Column *columns = columns_of(t, &n);
    uint64_t *starts = columns ? calloc(n, sizeof *starts) : NULL;
    if (!starts) {
        free(columns);
        return fail_columns(n, "", e);
    }
    for (uint32_t i = 0; i < n && columns[i].name; i++)
        fprintf(out, "%s%s%s", i ? "," : "", columns[i].name, i + 1 == n ? "\n" : "");
    write_lines(out, columns, n, leaves, starts);
    free(columns);
    free(starts);
    return true;
}
