/* dpc new: a project to begin with. */
#include "commands/commands.h"
#include "dp_output.h"
#include "support/embedded.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Of the project's files; names in the compiler are compiler/commands/template's. */
static const struct {
    const char *template, *name; /* NULL: NAME.dp */
} files[] = {{"new/program.dp", NULL},
             {"new/CMakeLists.txt", "CMakeLists.txt"},
             {"new/README.md", "README.md"},
             {"new/gitignore", ".gitignore"}};
enum { FILES = sizeof files / sizeof *files };

static void write_text(FILE *out, const char *text, const char *name)
{
    static const char mark[] = "@NAME@";
    for (const char *at; (at = strstr(text, mark)); text = at + sizeof mark - 1) {
        fwrite(text, 1, (size_t)(at - text), out);
        fputs(name, out);
    }
    fputs(text, out);
}

static int failed(const char *path)
{
    const int status = (int)dp_write_status();
    fprintf(stderr, "dpc: error: %s: cannot write: %s\n", path, strerror(errno));
    return status;
}

static int write_files(Arena *arena, const char *folder, const char *name)
{
    for (int i = 0; i < FILES; i++) {
        DpOutput out;
        const char *path = files[i].name ? arena_printf(arena, "%s/%s", folder, files[i].name)
                                         : arena_printf(arena, "%s/%s.dp", folder, name);
        if (!dp_output_open(&out, path, 0666))
            return failed(path);
        write_text(out.file, embedded_find(files[i].template)->text, name);
        if (!dp_output_close(&out))
            return failed(path);
        printf("%s\n", path);
    }
    return EXIT_OK;
}

/* What targets of CMake and files may be called. */
static bool is_project_name(const char *name)
{
    const char *at = name;
    while (isalnum((unsigned char)*at) || *at == '_' || (*at == '-' && at > name))
        at++;
    return at > name && *at == '\0';
}

int command_new(const CommandLine *a)
{
    const char *folder = a->words[0], *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    if (!is_project_name(name))
        return usage_error("%s is no name of a project: letters, digits, _ and -", *name ? name : folder);
    if (mkdir(folder, 0777) != 0) {
        if (errno == EEXIST)
            return usage_error("%s is there already", folder);
        return failed(folder);
    }
    Arena *arena = arena_create();
    const int status = write_files(arena, folder, name);
    arena_destroy(arena);
    return status;
}
