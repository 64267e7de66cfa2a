/* Files as they are: all bytes of a file are a text, or its lines are texts. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

static bool make_text(DpLeaf *leaf, const char *bytes, size_t n)
{
    const uint64_t shape[] = {n};
    if (!dp_leaf_make(leaf, shape))
        return false;
    memcpy(leaf->data, bytes, n);
    return true;
}

bool dp_read_raw(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    if (!dp_type_is_string(t))
        return dp_error(e, "%s: the bytes of a file are a text, which is not this parameter's type", path);
    dp_leaves_init(leaves, t);
    if (make_text(leaves, bytes, n))
        return true;
    dp_leaves_free(leaves, 1);
    return dp_error_memory(e, path);
}

bool dp_write_raw(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    if (!dp_type_is_string(t))
        return dp_error(e, "a raw file holds a text, which the result is not");
    if (leaves->ndata)
        fwrite(leaves->data, 1, (size_t)leaves->ndata, out);
    return true;
}

/* ---- lines ---- */

/* The next line, without its end: LF or CR LF, which the last line may lack. False behind the last one. */
static bool next_line(const char *bytes, size_t n, size_t *at, size_t *length)
{
    if (*at >= n)
        return false;
    const char *end = memchr(bytes + *at, '\n', n - *at);
    size_t next = end ? (size_t)(end - bytes) + 1 : n;
    *length = next - *at - (end != NULL);
    if (end && *length > 0 && end[-1] == '\r')
        --*length;
    *at = next;
    return true;
}

static bool make_lines(DpLeaf *leaf, const char *bytes, size_t n)
{
    uint64_t lines = 0;
    size_t length, total = 0;
    for (size_t at = 0; next_line(bytes, n, &at, &length); lines++)
        total += length;
    leaf->lens[0] = dp_alloc_array(1, sizeof(uint64_t));
    leaf->lens[1] = dp_alloc_array(lines, sizeof(uint64_t));
    leaf->data = dp_alloc_array(total, 1);
    if (!leaf->lens[0] || !leaf->lens[1] || !leaf->data)
        return false;
    leaf->nlens[0] = 1;
    leaf->lens[0][0] = lines;
    for (size_t at = 0, start = 0; next_line(bytes, n, &at, &length); start = at) {
        memcpy((char *)leaf->data + leaf->ndata, bytes + start, length);
        leaf->ndata += length;
        leaf->lens[1][leaf->nlens[1]++] = length;
    }
    return true;
}

bool dp_read_lines(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    if (!dp_type_is_strings(t))
        return dp_error(e, "%s: the lines of a file are a sequence of texts, which is not this parameter's type", path);
    dp_leaves_init(leaves, t);
    if (make_lines(leaves, bytes, n))
        return true;
    dp_leaves_free(leaves, 1);
    return dp_error_memory(e, path);
}

/* Would it be read as another line, or as more than one? */
static bool is_line(const char *text, uint64_t n)
{
    return n == 0 || (!memchr(text, '\n', (size_t)n) && text[n - 1] != '\r');
}

bool dp_write_lines(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    if (!dp_type_is_strings(t))
        return dp_error(e, "a file of lines holds a sequence of texts, which the result is not");
    const char *start = leaves->data ? leaves->data : "", *text = start;
    for (uint64_t i = 0; i < leaves->nlens[1]; text += leaves->lens[1][i++])
        if (!is_line(text, leaves->lens[1][i]))
            return dp_error(
                e,
                "the text %llu of the result has a line's end in it, and cannot be a line of a file: the format "
                "`text:` has literals instead",
                (unsigned long long)i);
    text = start;
    for (uint64_t i = 0; i < leaves->nlens[1]; text += leaves->lens[1][i++]) {
        fwrite(text, 1, (size_t)leaves->lens[1][i], out);
        fputc('\n', out);
    }
    return true;
}
