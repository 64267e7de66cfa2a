/* Where the runtime library and its headers are:
 *
 *     $DPC_HOME    DPC_HOME/lib/dpc/libdpruntime.a    DPC_HOME/include/dpc    (or as in a build tree)
 *     installed    EXE/../lib/dpc/libdpruntime.a      EXE/../include/dpc
 *     build tree   EXE/libdpruntime.a                 EXE/include/dpc
 *
 * EXE being the folder of the dpc executable. */
#include "driver/toolchain.h"

#include "dp_activity.h"
#include "dp_output.h"
#include "opencl/host_c.h"
#include "support/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* Set by the build where the library needs more, as a sanitized one does. */
#ifndef DPC_LINK_FLAGS
#define DPC_LINK_FLAGS ""
#endif

typedef struct Runtime {
    char library[PATH_BYTES + 64], include[PATH_BYTES + 64];
} Runtime;

/* ---- the runtime ---- */

static bool exists(const char *path) { return access(path, R_OK) == 0; }

static bool try_runtime(Runtime *r, const char *base, const char *library, const char *include)
{
    int n = snprintf(r->library, sizeof r->library, "%s/%s", base, library);
    int m = snprintf(r->include, sizeof r->include, "%s/%s", base, include);
    char header[sizeof r->include + 16];
    snprintf(header, sizeof header, "%s/dp_rt.h", r->include);
    return n > 0 && (size_t)n < sizeof r->library && m > 0 && (size_t)m < sizeof r->include && exists(r->library) &&
           exists(header);
}

/* The folder of the executable, without a slash at its end. */
static bool executable_folder(char folder[PATH_BYTES])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_BYTES - 1);
    if (n <= 0)
        return false;
    folder[n] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

static bool find_runtime(Runtime *r)
{
    const char *home = getenv("DPC_HOME");
    if (home && *home)
        return try_runtime(r, home, "lib/dpc/libdpruntime.a", "include/dpc") ||
               try_runtime(r, home, "libdpruntime.a", "include/dpc");
    char folder[PATH_BYTES];
    return executable_folder(folder) && (try_runtime(r, folder, "libdpruntime.a", "include/dpc") ||
                                         try_runtime(r, folder, "../lib/dpc/libdpruntime.a", "../include/dpc"));
}

/* ---- the C compiler ---- */

typedef struct Arguments {
    Arena *arena;
    VEC(char *) list;
} Arguments;

static void add(Arguments *a, const char *word)
{
    vec_push(a->arena, &a->list, arena_strndup(a->arena, word, strlen(word)));
}

/* The words of `text`, split at blanks. */
static void add_words(Arguments *a, const char *text)
{
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        size_t n = strcspn(text, " \t\n");
        vec_push(a->arena, &a->list, arena_strndup(a->arena, text, n));
        text += n;
    }
}

static const char *from_environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && value[strspn(value, " \t\n")] ? value : otherwise;
}

/* Bytes of host code from which on it is optimised less, and not at all: functions of megabytes take optimisers
 * minutes. */
enum { LARGE_TEXT = 1000000, HUGE_TEXT = 4000000 };

/* The C compiler, with the headers of the runtime. */
static void begin_compiler(Arguments *a, const Runtime *r, size_t text_bytes)
{
    add_words(a, from_environment("CC", "cc"));
    add_words(a, text_bytes > HUGE_TEXT    ? "-std=c11 -O0 -w"
                 : text_bytes > LARGE_TEXT ? "-std=c11 -O1 -w"
                                           : "-std=c11 -O2 -w");
    add_words(a, from_environment("CFLAGS", ""));
    add(a, "-I");
    add(a, r->include);
    add(a, "-I");
    add(a, arena_strndup(a->arena, r->include, strlen(r->include) - strlen("/dpc"))); /* dpc.h */
}

static void add_runtime(Arguments *a, const Runtime *r)
{
    add(a, r->library);
    add_words(a, DPC_LINK_FLAGS " -lm -ldl -lpthread");
}

/* what: of the messages. EXIT_OK, or another status after one. */
static int run_tool(Compilation *c, Arguments *a, const TempFolder *folder, const char *what)
{
    vec_push(a->arena, &a->list, NULL);
    dp_activity("compiling the host program");
    int status = process_run(a->list.at, (ProcessOptions){.tmp = folder->path, .own_group = true});
    int why = errno;
    dp_activity_end();
    errno = why;
    if (status < 0)
        report_error(c->session, "cannot run the %s %s: %s", what, a->list.at[0], strerror(errno));
    else if (status > 0)
        report_error(c->session, "the %s %s failed with status %d", what, a->list.at[0], status);
    return status == 0 ? EXIT_OK : EXIT_USAGE;
}

int toolchain_write(Compilation *c, const StrBuf *text, const char *path, unsigned mode)
{
    DpOutput out;
    bool opened = dp_output_open(&out, path, mode);
    if (opened)
        fwrite(text->text, 1, text->n, out.file);
    if (opened && dp_output_close(&out))
        return EXIT_OK;
    int status = (int)dp_write_status();
    if (status == EXIT_MEMORY)
        memory_out();
    report_error(c->session, "%s: cannot write: %s", path, strerror(errno));
    return status;
}

static bool has_runtime(Compilation *c, Runtime *r)
{
    if (find_runtime(r))
        return true;
    report_error(c->session, "the runtime library was not found; DPC_HOME names the folder where dpc is installed");
    return false;
}

int toolchain_build(Compilation *c, const TempFolder *folder, const char *output)
{
    Runtime runtime;
    char source[sizeof folder->path + 16];
    StrBuf text = {0};
    if (!has_runtime(c, &runtime) || !compile_to(c, STAGE_PLAN))
        return EXIT_USAGE;
    emit_host_c(&text, c->plan, c->path, c->tune, true);
    temp_folder_file(folder, "program.c", source, sizeof source);
    const size_t bytes = text.n;
    int status = toolchain_write(c, &text, source, 0600);
    strbuf_free(&text);
    if (status)
        return status;
    Arguments a = {.arena = c->session->arena};
    begin_compiler(&a, &runtime, bytes);
    add(&a, "-o");
    add(&a, output);
    add(&a, source);
    add_runtime(&a, &runtime);
    return run_tool(c, &a, folder, "C compiler");
}

/* ---- libraries ---- */

static int make_archive(Compilation *c, const TempFolder *folder, const char *object, const char *output)
{
    Arguments a = {.arena = c->session->arena};
    add_words(&a, from_environment("AR", "ar"));
    add(&a, "rcs");
    add(&a, output);
    add(&a, object);
    return run_tool(c, &a, folder, "archiver");
}

/* Of all names only its own, and those of dpc.h, are seen. */
static int make_shared(Compilation *c, const TempFolder *folder, const Runtime *r, const ToolchainLibrary *library,
                       const char *object)
{
    Arguments a = {.arena = c->session->arena};
    char map[sizeof folder->path + 16];
    StrBuf names = {0};
    strbuf_printf(&names, "{ global: %s_*; dpc_*; local: *; };\n", library->name);
    temp_folder_file(folder, "names.map", map, sizeof map);
    int status = toolchain_write(c, &names, map, 0600);
    strbuf_free(&names);
    add_words(&a, from_environment("CC", "cc"));
    add_words(&a, from_environment("CFLAGS", ""));
    add_words(&a, "-shared -fPIC -o");
    add(&a, library->file);
    add(&a, arena_printf(a.arena, "-Wl,-soname,lib%s.so", library->name));
    add(&a, arena_printf(a.arena, "-Wl,--version-script=%s", map));
    add(&a, object);
    add_runtime(&a, r);
    return status ? status : run_tool(c, &a, folder, "C compiler");
}

int toolchain_library(Compilation *c, const TempFolder *folder, ToolchainLibrary *library)
{
    Runtime runtime;
    char object[sizeof folder->path + 16];
    if (!has_runtime(c, &runtime))
        return EXIT_USAGE;
    Arguments a = {.arena = c->session->arena};
    temp_folder_file(folder, "object.o", object, sizeof object);
    temp_folder_file(folder, library->shared ? "library.so" : "library.a", library->file, sizeof library->file);
    begin_compiler(&a, &runtime, 0);
    add_words(&a, "-fPIC -c -o");
    add(&a, object);
    add(&a, library->source);
    int status = run_tool(c, &a, folder, "C compiler");
    if (status)
        return status;
    return library->shared ? make_shared(c, folder, &runtime, library, object)
                           : make_archive(c, folder, object, library->file);
}
