/* dpc doc: the definitions of modules, as a page. */
#include "commands/commands.h"
#include "doc/doc.h"
#include "dp_output.h"
#include "lsp/library_files.h"
#include "support/embedded.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int write_page(const char *path, const StrBuf *page)
{
    DpOutput out;
    if (!path) {
        fwrite(page->text, 1, page->n, stdout);
        return EXIT_OK;
    }
    if (dp_output_open(&out, path, 0666)) {
        fwrite(page->text, 1, page->n, out.file);
        if (dp_output_close(&out))
            return EXIT_OK;
    }
    const int status = (int)dp_write_status();
    fprintf(stderr, "dpc: error: %s: cannot write: %s\n", path, strerror(errno));
    return status;
}

typedef struct Sources {
    Arena *arena;
    VEC(const char *) paths;
    VEC(Compilation *) modules;
} Sources;

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void add_path(Sources *x, const char *path);

/* Its programs and those of the folders in it, in the order of their paths; hidden ones are left out. */
static void add_folder(Sources *x, const char *path)
{
    VEC(const char *) found = {0};
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        const size_t n = strlen(e->d_name);
        struct stat st;
        const char *inside = arena_printf(x->arena, "%s/%s", path, e->d_name);
        const bool is_program = n > 3 && strcmp(e->d_name + n - 3, ".dp") == 0;
        if (e->d_name[0] != '.' && lstat(inside, &st) == 0 && (S_ISDIR(st.st_mode) || is_program))
            vec_push(x->arena, &found, inside);
    }
    if (folder)
        closedir(folder);
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, compare_paths);
    for (uint32_t i = 0; i < found.n; i++)
        add_path(x, found.at[i]);
}

static void add_path(Sources *x, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        add_folder(x, path);
    else
        vec_push(x->arena, &x->paths, path);
}

/* Copies of the library's files, of which each one says what it imports. False: there is no place for them. */
static bool add_library(Sources *x)
{
    for (const EmbeddedFile *f = embedded_files; f->name; f++) {
        char *path =
            embedded_module(f) || strcmp(f->name, "stdlib/prelude.dp") == 0 ? library_file_path(f->name) : NULL;
        if (path)
            vec_push(x->arena, &x->paths, arena_strndup(x->arena, path, strlen(path)));
        free(path);
    }
    return x->paths.n > 0;
}

static bool compile_all(Sources *x, const CommandLine *a)
{
    bool ok = true;
    for (uint32_t i = 0; i < x->paths.n; i++) {
        Compilation *c = compilation_create(x->paths.at[i]);
        set_messages(c->session, (MessageOptions){.json = a->messages.json, .warnings = WARNINGS_HIDDEN});
        vec_push(x->arena, &x->modules, c);
        ok = doc_compile(c) && ok;
    }
    return ok;
}

static bool report_all(const Sources *x)
{
    bool ok = true;
    for (uint32_t i = 0; i < x->modules.n; i++) {
        ok = ok && x->modules.at[i]->session->error_count == 0; /* of tests */
        report_diagnostics(x->modules.at[i]->session);
        compilation_destroy(x->modules.at[i]);
    }
    return ok;
}

static int find_sources(Sources *x, const CommandLine *a)
{
    if (a->values[OPTION_DOC_LIBRARY] && !add_library(x)) {
        fprintf(stderr,
                "dpc: error: there is no folder for copies of the library; dpc cache shows where it would be\n");
        return EXIT_USAGE;
    }
    for (int i = 0; i < a->n; i++)
        add_path(x, a->words[i]);
    if (x->paths.n)
        return EXIT_OK;
    fprintf(stderr, "dpc: error: dpc doc: %s\n",
            a->n ? "there are no .dp files" : "a file, a folder or --library is wanted");
    return EXIT_USAGE;
}

int command_doc(const CommandLine *a)
{
    const char *title = a->values[OPTION_TITLE], *output = a->values[OPTION_DOC_PAGE];
    Sources x = {.arena = arena_create()};
    StrBuf page = {0};
    int status = find_sources(&x, a);
    if (!title)
        title = a->n ? a->words[0] : "The library of DP";
    if (status == EXIT_OK) {
        const bool ok = compile_all(&x, a);
        if (ok)
            doc_page(&page, title, x.modules.at, x.modules.n);
        status = report_all(&x) && ok ? write_page(output, &page) : EXIT_USAGE;
    }
    strbuf_free(&page);
    arena_destroy(x.arena);
    return status;
}
