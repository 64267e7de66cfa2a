/* dpc library. */
#include "commands/commands.h"
#include "driver/toolchain.h"
#include "library/interface.h"
#include "library/library.h"

#include <string.h>

/* NAME.h, NAME.c, libNAME.a or .so, in one folder. */
typedef struct LibraryFiles {
    const char *name; /* without the folder */
    char *header, *source, *library;
} LibraryFiles;

static bool name_files(LibraryFiles *f, Arena *arena, const char *stem, bool shared)
{
    const char *slash = strrchr(stem, '/');
    f->name = slash ? slash + 1 : stem;
    if (!*f->name || strcmp(interface_name(arena, f->name), f->name) != 0) {
        usage_error("%s is no name for C: name the library with -o", *f->name ? f->name : stem);
        return false;
    }
    f->header = arena_printf(arena, "%s.h", stem);
    f->source = arena_printf(arena, "%s.c", stem);
    f->library = arena_printf(arena, "%.*slib%s.%s", (int)(f->name - stem), stem, f->name, shared ? "so" : "a");
    return true;
}

static int write_texts(Compilation *c, const LibraryFiles *f)
{
    LibraryTexts texts = {{0}, {0}};
    int status = library_emit(&texts, c, f->name) ? EXIT_OK : EXIT_USAGE;
    status = status ? status : toolchain_write(c, &texts.header, f->header, 0666);
    status = status ? status : toolchain_write(c, &texts.source, f->source, 0666);
    strbuf_free(&texts.header);
    strbuf_free(&texts.source);
    return status;
}

static int make_library(Compilation *c, const LibraryFiles *f, bool shared)
{
    TempFolder folder;
    ToolchainLibrary library = {.source = f->source, .name = f->name, .shared = shared};
    int status = write_texts(c, f);
    if (status)
        return status;
    if (!temp_folder_create(&folder))
        return temporary_failed(c);
    status = toolchain_library(c, &folder, &library);
    status = status ? status : install_file(c, library.file, f->library, shared ? 0777 : 0666);
    temp_folder_remove(&folder);
    return status;
}

int command_library(const CommandLine *a)
{
    const char *file = a->words[0], *stem = a->values[OPTION_LIBRARY_NAME];
    const bool shared = a->values[OPTION_SHARED] != NULL;
    int status = EXIT_USAGE;
    LibraryFiles files;
    Compilation *c = compilation_create(file);
    set_messages(c->session, a->messages);
    if (!stem)
        stem = name_without_ending(c->session->arena, file);
    if (!stem)
        usage_error("%s does not end in .dp: name the library with -o", file);
    else if (name_files(&files, c->session->arena, stem, shared) && compile_to(c, STAGE_PLAN) && has_entry(c) &&
             (a->values[OPTION_BUILD_NO_TUNE] || take_tune(c, a->values[OPTION_BUILD_TUNE])))
        status = make_library(c, &files, shared);
    compilation_destroy(c);
    return status;
}
