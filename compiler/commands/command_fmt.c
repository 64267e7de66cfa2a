/* dpc fmt: formats programs in place. */
#include "commands/commands.h"
#include "dp_output.h"
#include "fmt/fmt.h"

#include <errno.h>
#include <string.h>

static bool is_standard_input(const char *path) { return strcmp(path, "-") == 0; }

static uint32_t read_source(Session *s, const char *path, const char **why)
{
    return is_standard_input(path) ? source_add_stream(s, "<stdin>", stdin, why) : source_add_file(s, path, why);
}

static int replace_file(const char *path, const StrBuf *text)
{
    DpOutput out;
    if (dp_output_open(&out, path, 0666)) {
        fwrite(text->text ? text->text : "", 1, text->n, out.file);
        if (dp_output_close(&out))
            return EXIT_OK;
    }
    int status = (int)dp_write_status();
    fprintf(stderr, "dpc: error: %s: cannot write: %s\n", path, strerror(errno));
    return status;
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
    return same ? EXIT_OK : replace_file(path, text);
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

int command_fmt(const CommandLine *a)
{
    int status = EXIT_OK;
    for (int i = 0; i < a->n; i++) {
        int result = format_file(a->words[i], a->values[OPTION_CHECK] != NULL);
        status = result > status ? result : status;
    }
    return status;
}
