/* dpc doc: the definitions of modules, as a page. */
#include "commands/commands.h"
#include "doc/doc.h"
#include "dp_output.h"

#include <errno.h>
#include <string.h>

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

/* False after a message. */
static bool add_file(StrBuf *page, const CommandLine *a, const char *path)
{
    Compilation *c = compilation_create(path);
    set_messages(c->session, (MessageOptions){.json = a->messages.json, .warnings = WARNINGS_HIDDEN});
    bool ok = compile_to(c, STAGE_ELABORATED);
    if (ok)
        doc_module(page, c);
    ok = ok && c->session->error_count == 0; /* of tests */
    report_diagnostics(c->session);
    compilation_destroy(c);
    return ok;
}

int command_doc(const CommandLine *a)
{
    const char *title = a->values[OPTION_TITLE], *output = a->values[OPTION_DOC_PAGE];
    StrBuf page = {0};
    bool ok = true;
    doc_begin(&page, title ? title : a->words[0]);
    for (int i = 0; i < a->n; i++)
        ok = add_file(&page, a, a->words[i]) && ok;
    doc_end(&page);
    const int status = ok ? write_page(output, &page) : EXIT_USAGE;
    strbuf_free(&page);
    return status;
}
