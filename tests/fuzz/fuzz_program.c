/* A program's text through all passes, up to the kernels and the host program; nothing is run. The checkers look at
 * what each pass makes. Equal texts give equal output: of some inputs that is tested. */
#include "fuzz.h"

#include "driver/driver.h"

#include <string.h>

typedef struct Text {
    const char *at;
    size_t n;
    StrBuf out; /* messages, and the texts of all stages */
} Text;

static void *compile(void *argument)
{
    Text *text = argument;
    char *messages = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&messages, &length);
    Compilation *c = compilation_create("a.dp");
    c->session->messages = to;
    c->check = true;
    c->text = text->at;
    c->text_bytes = text->n;
    for (Stage stage = STAGE_AST; stage < STAGE_COUNT && compile_to(c, stage); stage++)
        compilation_print(&text->out, c, stage);
    compilation_destroy(c);
    fclose(to);
    /* Lines of the program are shown indented. */
    const char *internal = strstr(messages, "dpc: error: internal compiler error");
    FUZZ_CHECK(!internal || (internal > messages && internal[-1] != '\n'), "%s", messages);
    strbuf_addn(&text->out, messages, length);
    free(messages);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Text first = {.at = (const char *)bytes, .n = n};
    fuzz_on_big_stack(compile, &first);
    if (n % 8 == 0) {
        Text second = {.at = (const char *)bytes, .n = n};
        fuzz_on_big_stack(compile, &second);
        FUZZ_CHECK(first.out.n == second.out.n &&
                       (first.out.n == 0 || memcmp(first.out.text, second.out.text, first.out.n) == 0),
                   "the same program gives another result");
        strbuf_free(&second.out);
    }
    strbuf_free(&first.out);
    return 0;
}
