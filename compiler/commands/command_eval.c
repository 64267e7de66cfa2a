/* dpc eval: the value of an expression. */
#include "commands/commands.h"

#include <string.h>

/* `import "linalg"` for each name of the list. */
static void add_imports(StrBuf *out, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        strbuf_add(out, "import \"");
        for (size_t i = 0; i < n; i++) {
            if (list[i] == '"' || list[i] == '\\')
                strbuf_add(out, "\\");
            strbuf_addn(out, list + i, 1);
        }
        strbuf_add(out, "\"\n");
    }
}

int command_eval(const CommandLine *a)
{
    StrBuf imports = {0};
    if (a->values[OPTION_IMPORT])
        add_imports(&imports, a->values[OPTION_IMPORT]);
    const SourcePart parts[] = {
        {.path = "--import", .text = imports.text ? imports.text : "", .bytes = imports.n, .is_quiet = true},
        {.path = "expression", .text = a->words[0], .bytes = strlen(a->words[0]), .is_expression = true},
    };
    CommandLine run = *a;
    run.parts = parts;
    run.nparts = sizeof parts / sizeof *parts;
    const int status = command_run(&run);
    strbuf_free(&imports);
    return status;
}
