/* dpc FILE: parses a file and prints its syntax tree or the errors. */
#include "syntax/ast.h"

#include <stdlib.h>
#include <unistd.h>

enum { STATUS_OK = 0, STATUS_USAGE = 2 };

static int print_tree(const char *path) {
    Session *s = session_create();
    AstIds ids = {0};
    const char *why = NULL;
    uint32_t file = source_add_file(s, path, &why);
    if (file == UINT32_MAX) {
        fprintf(stderr, "dpc: error: %s: %s\n", path, why);
        session_destroy(s);
        return STATUS_USAGE;
    }
    Module *module = parse_module(s, file, &ids);
    bool ok = s->error_count == 0;
    diag_print(s, stderr, isatty(STDERR_FILENO) && !getenv("NO_COLOR"));
    if (ok) {
        StrBuf out = {0};
        ast_print(&out, module);
        fwrite(out.text, 1, out.n, stdout);
        strbuf_free(&out);
    }
    session_destroy(s);
    return ok ? STATUS_OK : STATUS_USAGE;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: dpc FILE\n");
        return STATUS_USAGE;
    }
    return print_tree(argv[1]);
}
