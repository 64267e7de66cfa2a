/* dpc fmt: formats programs in place. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "commands.h"
#include "fmt/fmt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard_input(const char *path) { return strcmp(path, "-") == 0; }

static uint32_t read_source(Session *s, const char *path, const char **why)
{
    if (!is_standard_input(path))
        return source_add_file(s, path, why);
    StrBuf text = {0};
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, stdin)) > 0;) strbuf_addn(&text, part, n);
    uint32_t file = source_add_text(s, "<stdin>", text.text ? text.text : "", text.n, false);
    strbuf_free(&text);
    return file;
}

static bool write_all(int fd, const StrBuf *text, mode_t mode)
{
    FILE *out = fdopen(fd, "wb");
    if (!out)
        return false;
    bool ok = fwrite(text->text ? text->text : "", 1, text->n, out) == text->n && fchmod(fd, mode) == 0;
    return fclose(out) == 0 && ok;
}

/* A file beside the old one takes its place, so that nothing is lost when the disk is full. */
static bool replace_file(const char *path, const StrBuf *text)
{
    struct stat old;
    char *target = realpath(path, NULL);
    StrBuf name = {0};
    bool ok = target && stat(target, &old) == 0;
    if (ok) {
        strbuf_printf(&name, "%s.XXXXXX", target);
        int fd = mkstemp(name.text);
        ok = fd >= 0 && write_all(fd, text, old.st_mode & 07777) && rename(name.text, target) == 0;
        if (!ok && fd >= 0) {
            int why = errno;
            unlink(name.text);
            errno = why;
        }
    }
    if (!ok)
        fprintf(stderr, "dpc: error: cannot write %s: %s\n", path, strerror(errno));
    strbuf_free(&name);
    free(target);
    return ok;
}

static int put_result(const char *path, const SourceFile *source, const StrBuf *text, bool check)
{
    bool same = text->n == source->length && (text->n == 0 || memcmp(text->text, source->text, text->n) == 0);
    if (check) {
        if (!same)
            printf("%s\n", path);
        return same ? EXIT_OK : EXIT_PROGRAM;
    }
    if (is_standard_input(path)) {
        fwrite(text->text ? text->text : "", 1, text->n, stdout);
        return EXIT_OK;
    }
    return same || replace_file(path, text) ? EXIT_OK : EXIT_USAGE;
}

static int format_file(const char *path, bool check)
{
    const char *why = "";
    int status = EXIT_USAGE;
    StrBuf text = {0};
    Session *s = session_create();
    uint32_t file = read_source(s, path, &why);
    if (file == UINT32_MAX) {
        fprintf(stderr, "dpc: error: cannot read %s: %s\n", path, why);
    } else {
        FmtStatus result = fmt_file(s, file, &text);
        diag_print(s, stderr, use_colour());
        if (result == FMT_OK)
            status = put_result(path, s->files.at[file], &text, check);
        else if (result == FMT_INTERNAL)
            fprintf(stderr, "dpc: internal error: formatting would change the meaning of %s; it stays as it is\n",
                    path);
    }
    strbuf_free(&text);
    session_destroy(s);
    return status;
}

int command_fmt(int argc, char **argv)
{
    bool check = false;
    int status = EXIT_OK, nfiles = 0;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            check = true;
        else if (argv[i][0] == '-' && !is_standard_input(argv[i]))
            return usage_error("dpc fmt has no option %s", argv[i]);
        else
            nfiles++;
    }
    if (nfiles == 0)
        return usage_error("dpc fmt takes the names of .dp files, or - for standard input");
    for (int i = 0; i < argc; i++) {
        int result = strcmp(argv[i], "--check") == 0 ? EXIT_OK : format_file(argv[i], check);
        if (result > status)
            status = result;
    }
    return status;
}
