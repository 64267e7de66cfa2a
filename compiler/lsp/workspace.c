#include "lsp/workspace.h"

#include "support/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 10000, MOST_FOLDERS = 2000, LARGEST_FILE = 4 << 20 };

static void add_root(Documents *ds, const char *uri)
{
    if (!*uri)
        return;
    ds->roots = memory_resize(ds->roots, (size_t)ds->nroots + 1, sizeof(char *));
    ds->roots[ds->nroots++] = path_of_uri(uri);
}

void workspace_set_roots(Documents *ds, const Json *params)
{
    const Json *folders = json_get(params, "workspaceFolders");
    const Json *first = folders && folders->kind == JSON_LIST ? folders->first : NULL;
    for (const Json *folder = first; folder; folder = folder->next)
        add_root(ds, json_text(folder, "uri"));
    if (!first)
        add_root(ds, json_text(params, "rootUri"));
}

typedef struct Search {
    Arena *arena;
    const char *word;
    PathList *out;
    PathList folders; /* to be looked into */
    uint32_t files;   /* looked into */
} Search;

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '\''; }

static bool has_word(const char *path, size_t size, const char *word)
{
    FILE *in = fopen(path, "rb");
    char *text = memory_alloc(size + 1, 1);
    const size_t n = in ? fread(text, 1, size, in) : 0, length = strlen(word);
    bool found = false;
    text[n] = '\0';
    for (const char *at = text; !found && (at = strstr(at, word)); at++)
        found = (at == text || !is_word_char(at[-1])) && !is_word_char(at[length]);
    free(text);
    if (in)
        fclose(in);
    return found;
}

static void look_at(Search *s, const char *path, const char *name)
{
    struct stat st;
    const size_t n = strlen(name);
    if (lstat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode) && s->folders.n < MOST_FOLDERS)
        vec_push(s->arena, &s->folders, path);
    if (!S_ISREG(st.st_mode) || n < 4 || strcmp(name + n - 3, ".dp") != 0 || st.st_size > LARGEST_FILE)
        return;
    if (s->files++ < MOST_FILES && has_word(path, (size_t)st.st_size, s->word))
        vec_push(s->arena, s->out, path);
}

void workspace_files_with(Arena *arena, const Documents *ds, const char *word, PathList *out)
{
    Search s = {.arena = arena, .word = word, .out = out};
    for (uint32_t i = 0; i < ds->nroots; i++)
        vec_push(arena, &s.folders, ds->roots[i]);
    for (uint32_t i = 0; i < s.folders.n; i++) {
        DIR *folder = opendir(s.folders.at[i]);
        for (struct dirent *e; folder && (e = readdir(folder));)
            if (e->d_name[0] != '.')
                look_at(&s, arena_printf(arena, "%s/%s", s.folders.at[i], e->d_name), e->d_name);
        if (folder)
            closedir(folder);
    }
}
