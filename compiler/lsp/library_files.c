#include "lsp/library_files.h"

#include "cache.h"
#include "dp_output.h"
#include "support/embedded.h"
#include "support/memory.h"
#include "support/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char folder_of_names[] = "stdlib/";

static bool has_text(const char *path, const EmbeddedFile *f)
{
    FILE *in = fopen(path, "rb");
    char *text = memory_alloc((size_t)f->length + 2, 1);
    const size_t n = in ? fread(text, 1, (size_t)f->length + 1, in) : 0;
    const bool same = in && n == f->length && memcmp(text, f->text, n) == 0;
    free(text);
    if (in)
        fclose(in);
    return same;
}

/* Nobody is to edit it: it is part of the compiler. */
static bool write_file(const char *path, const EmbeddedFile *f)
{
    enum { READ_ONLY = 0444 };
    DpOutput out;
    if (has_text(path, f))
        return true;
    remove(path); /* it has no permission to write, which dp_output respects */
    if (!dp_output_open(&out, path, READ_ONLY))
        return false;
    fwrite(f->text, 1, f->length, out.file);
    return dp_output_close(&out);
}

char *library_file_path(const char *name)
{
    char *cache = dp_cache_directory();
    StrBuf folder = {0}, path = {0};
    bool good = cache && embedded_find(name);
    if (good) {
        strbuf_printf(&folder, "%s/library", cache);
        mkdir(folder.text, 0700);
    }
    for (const EmbeddedFile *f = embedded_files; good && f->name; f++) {
        StrBuf file = {0};
        if (strncmp(f->name, folder_of_names, sizeof folder_of_names - 1) != 0)
            continue;
        strbuf_printf(&file, "%s/%s", folder.text, f->name + sizeof folder_of_names - 1);
        good = write_file(file.text, f);
        strbuf_free(&file);
    }
    if (good)
        strbuf_printf(&path, "%s/%s", folder.text, name + sizeof folder_of_names - 1);
    strbuf_free(&folder);
    free(cache);
    return path.text;
}

bool library_has_file(const char *path)
{
    char *cache = dp_cache_directory();
    const size_t n = cache ? strlen(cache) : 0;
    const bool has = cache && strncmp(path, cache, n) == 0 && strncmp(path + n, "/library/", 9) == 0;
    free(cache);
    return has;
}
