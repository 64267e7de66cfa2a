/* The formatter: what it has formatted, it leaves alone. */
#include "fuzz.h"

#include "fmt/fmt.h"

#include <string.h>

typedef struct Text {
    const char *at;
    size_t n;
} Text;

static FmtStatus format(Text text, StrBuf *out)
{
    Session *s = session_create();
    FmtStatus status = fmt_file(s, source_add_text(s, "a.dp", text.at, text.n, false), out);
    session_destroy(s);
    return status;
}

static void *run(void *argument)
{
    StrBuf once = {0}, twice = {0};
    FmtStatus status = format(*(Text *)argument, &once);
    FUZZ_CHECK(status != FMT_INTERNAL, "the formatter would change the meaning");
    if (status == FMT_OK) {
        Text formatted = {once.text ? once.text : "", once.n};
        FUZZ_CHECK(format(formatted, &twice) == FMT_OK, "the result is no program:\n%s", formatted.at);
        FUZZ_CHECK(once.n == twice.n && (once.n == 0 || memcmp(once.text, twice.text, once.n) == 0),
                   "formatted once:\n%s\ntwice:\n%s", formatted.at, twice.text ? twice.text : "");
    }
    strbuf_free(&once);
    strbuf_free(&twice);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Text text = {(const char *)bytes, n};
    fuzz_on_big_stack(run, &text);
    return 0;
}
