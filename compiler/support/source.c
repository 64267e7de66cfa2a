#include "support/memory.h"
#include "support/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Offsets are 32 bits wide, and the scanner counts in `int`; a program of 64 MB is none that anybody wrote. */
#define MAX_SOURCE_BYTES ((size_t)64 << 20)
#define TOO_LARGE "a program's text is at most 64 MB"

/* Of the files so far, with a place behind the last byte of each. */
static uint32_t library_bytes(const Session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->files.n; i++)
        n += s->files.at[i]->is_stdlib ? s->files.at[i]->length + 1 : 0;
    return n;
}

uint32_t source_add_text(Session *s, const char *path, const char *text, size_t n, bool is_stdlib)
{
    SourceFile *file = arena_new(s->arena, SourceFile);
    file->path = arena_strndup(s->arena, path, strlen(path));
    file->text = arena_strndup(s->arena, text, n);
    file->length = (uint32_t)n;
    file->is_stdlib = is_stdlib;
    file->first_origin = is_stdlib ? 1 + library_bytes(s) : 0;
    vec_push(s->arena, &s->files, file);
    return s->files.n - 1;
}

/* Reads all of `in` (which may be a pipe, or without an end) into heap memory; NULL and *why on failure. */
static char *read_all(FILE *in, size_t *n, const char **why)
{
    size_t cap = (size_t)64 * 1024, used = 0;
    char *text = memory_alloc(cap, 1);
    while ((used += fread(text + used, 1, cap - used, in)) == cap && cap < MAX_SOURCE_BYTES)
        text = memory_resize(text, cap *= 2, 1);
    *why = ferror(in) ? strerror(errno) : TOO_LARGE;
    if (!ferror(in) && (used < cap || fgetc(in) == EOF)) {
        *n = used;
        return text;
    }
    free(text);
    return NULL;
}

uint32_t source_add_stream(Session *s, const char *path, FILE *in, const char **why)
{
    size_t n = 0;
    char *text = read_all(in, &n, why);
    if (!text)
        return UINT32_MAX;
    uint32_t file = source_add_text(s, path, text, n, false);
    free(text);
    return file;
}

uint32_t source_add_file(Session *s, const char *path, const char **why)
{
    size_t n = 0;
    const char *text = s->overlay && s->overlay->text ? s->overlay->text(s->overlay, path, &n) : NULL;
    if (text)
        return source_add_text(s, path, text, n, false);
    FILE *in = fopen(path, "rb");
    if (!in && errno == ENOMEM)
        memory_out();
    if (!in) {
        *why = strerror(errno);
        return UINT32_MAX;
    }
    uint32_t file = source_add_stream(s, path, in, why);
    fclose(in);
    return file;
}

uint32_t source_origin(const Session *s, Span in_library)
{
    return s->files.at[in_library.file]->first_origin + in_library.start;
}

Span source_of_origin(const Session *s, uint32_t origin)
{
    uint32_t file = 0;
    for (uint32_t i = 0; i < s->files.n; i++)
        if (s->files.at[i]->is_stdlib && s->files.at[i]->first_origin <= origin)
            file = i;
    uint32_t at = origin - s->files.at[file]->first_origin;
    return span_make(file, at, at);
}

static SourceFile *file_with_lines(Session *s, uint32_t index)
{
    SourceFile *file = s->files.at[index];
    if (file->lines)
        return file;
    uint32_t count = 1;
    for (uint32_t i = 0; i < file->length; i++)
        count += file->text[i] == '\n';
    file->lines = arena_array(s->arena, uint32_t, count);
    file->nlines = 1;
    for (uint32_t i = 0; i < file->length; i++)
        if (file->text[i] == '\n')
            file->lines[file->nlines++] = i + 1;
    return file;
}

LineCol source_linecol(Session *s, uint32_t index, uint32_t offset)
{
    const SourceFile *file = file_with_lines(s, index);
    if (offset > file->length)
        offset = file->length;
    uint32_t low = 0, high = file->nlines; /* lines[low] <= offset < lines[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (file->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return (LineCol){file->lines_before + low + 1, offset - file->lines[low] + 1};
}

const char *source_line(Session *s, uint32_t index, uint32_t line, uint32_t *n)
{
    const SourceFile *file = file_with_lines(s, index);
    *n = 0;
    if (line <= file->lines_before || line - file->lines_before > file->nlines)
        return "";
    line -= file->lines_before;
    uint32_t start = file->lines[line - 1];
    uint32_t end = line < file->nlines ? file->lines[line] - 1 : file->length;
    if (end > start && file->text[end - 1] == '\r')
        end--;
    *n = end - start;
    return file->text + start;
}
