#include "lsp/lsp.h"

#include "lsp/features.h"
#include "lsp/run_test.h"
#include "lsp/workspace.h"
#include "support/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    METHOD_NOT_FOUND = -32601,
    INVALID_PARAMS = -32602,
    INTERNAL_ERROR = -32603,
    REQUEST_CANCELLED = -32800,
    REQUEST_FAILED = -32803
};
enum { MOST_HEADER = 4096 };
#define MOST_CONTENT ((size_t)256 << 20)

typedef struct Server {
    int in, out;
    StrBuf input; /* read, and not yet taken */
    size_t taken; /* of it */
    Documents documents;
    TestRun test;
    bool shut_down, ended;
} Server;

static void end_test(Server *s);

/* ---- streams ---- */

/* Waits for input, and ends the test that has ended in the meantime. */
static void wait_for_input(Server *s)
{
    for (;;) {
        struct pollfd p[] = {{.fd = s->in, .events = POLLIN}, {.fd = s->test.done, .events = POLLIN}};
        if (poll(p, s->test.is_running ? 2 : 1, -1) < 0 && errno == EINTR)
            continue;
        if (s->test.is_running && p[1].revents)
            end_test(s);
        if (p[0].revents)
            return;
    }
}

static bool read_more(Server *s)
{
    char part[1 << 16];
    ssize_t n;
    wait_for_input(s);
    do
        n = read(s->in, part, sizeof part);
    while (n < 0 && errno == EINTR);
    if (n > 0 && s->taken) { /* what has been taken goes */
        memmove(s->input.text, s->input.text + s->taken, s->input.n - s->taken);
        s->input.n -= s->taken;
        s->input.text[s->input.n] = '\0';
        s->taken = 0;
    }
    if (n > 0)
        strbuf_addn(&s->input, part, (size_t)n);
    return n > 0;
}

static bool has_input(const Server *s)
{
    struct pollfd p = {.fd = s->in, .events = POLLIN};
    return s->input.n > s->taken || poll(&p, 1, 0) > 0;
}

static const char *unread(const Server *s) { return s->input.text ? s->input.text + s->taken : ""; }
static size_t unread_bytes(const Server *s) { return s->input.n - s->taken; }

/* Of the content, by the header's lines; SIZE_MAX: they do not say. */
static size_t content_bytes(const char *header, const char *end)
{
    static const char key[] = "content-length:";
    size_t length = SIZE_MAX;
    for (const char *line = header; line < end; line = strstr(line, "\r\n") + 2)
        if (strncasecmp(line, key, sizeof key - 1) == 0)
            length = strtoull(line + sizeof key - 1, NULL, 10);
    return length;
}

/* The bytes of the content, behind the header; SIZE_MAX at the end, and where the header is none. */
static size_t read_header(Server *s)
{
    const char *end;
    while (!(end = unread_bytes(s) ? strstr(unread(s), "\r\n\r\n") : NULL))
        if (unread_bytes(s) > MOST_HEADER || !read_more(s))
            return SIZE_MAX;
    const size_t length = content_bytes(unread(s), end);
    s->taken = (size_t)(end + 4 - s->input.text);
    return length;
}

/* The next message's content, the heap's; NULL at the end. */
static char *read_message(Server *s)
{
    const size_t n = read_header(s);
    if (n > MOST_CONTENT)
        return NULL;
    while (unread_bytes(s) < n)
        if (!read_more(s))
            return NULL;
    char *text = memory_alloc(n + 1, 1);
    if (n)
        memcpy(text, unread(s), n);
    s->taken += n;
    return text;
}

static void write_all(Server *s, const char *text, size_t n)
{
    while (n > 0) {
        const ssize_t written = write(s->out, text, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) { /* nobody listens */
            s->ended = true;
            return;
        }
        text += written;
        n -= (size_t)written;
    }
}

static void send_message(Server *s, const StrBuf *content)
{
    char header[64];
    const int n = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", content->n);
    write_all(s, header, (size_t)n);
    write_all(s, content->text, content->n);
}

/* ---- answers ---- */

static void add_id(StrBuf *out, const Json *id)
{
    strbuf_add(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id && id->kind == JSON_TEXT)
        diag_json_string(out, id->text);
    else
        strbuf_add(out, id && id->kind == JSON_NUMBER ? id->text : "null");
}

static void send_result(Server *s, const Json *id, const StrBuf *result)
{
    StrBuf out = {0};
    add_id(&out, id);
    strbuf_printf(&out, ",\"result\":%s}", result->n ? result->text : "null");
    send_message(s, &out);
    strbuf_free(&out);
}

static void send_error(Server *s, const Json *id, int code, const char *text)
{
    StrBuf out = {0};
    add_id(&out, id);
    strbuf_printf(&out, ",\"error\":{\"code\":%d,\"message\":", code);
    diag_json_string(&out, text);
    strbuf_add(&out, "}}");
    send_message(s, &out);
    strbuf_free(&out);
}

static void publish(Server *s, const Document *d, const Analysis *a)
{
    StrBuf out = {0};
    strbuf_add(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":");
    add_diagnostics(&out, d, a);
    strbuf_add(&out, "}");
    send_message(s, &out);
    strbuf_free(&out);
}

/* What has changed is analysed, and its diagnostics are sent. */
static const Analysis *analyse(Server *s, Document *d)
{
    const bool is_new = d->changed || !d->now;
    const Analysis *a = document_analysis(&s->documents, d);
    if (is_new)
        publish(s, d, a);
    return a;
}

static void analyse_all(void *data)
{
    Server *s = data;
    for (uint32_t i = 0; i < s->documents.n; i++)
        analyse(s, s->documents.at[i]);
}

/* ---- what the server can do ---- */

static void initialize(StrBuf *out)
{
    strbuf_add(out, "{\"capabilities\":{\"textDocumentSync\":{\"openClose\":true,\"change\":2,\"save\":true},"
                    "\"hoverProvider\":true,\"definitionProvider\":true,\"referencesProvider\":true,"
                    "\"documentHighlightProvider\":true,\"documentSymbolProvider\":true,"
                    "\"renameProvider\":{\"prepareProvider\":true},"
                    "\"completionProvider\":{\"triggerCharacters\":[\".\",\"#\",\"\\\"\"]},"
                    "\"signatureHelpProvider\":{\"triggerCharacters\":[\" \"]},"
                    "\"documentFormattingProvider\":true,\"documentRangeFormattingProvider\":true,"
                    "\"executeCommandProvider\":{\"commands\":[\"dpc.runTest\"]},"
                    "\"inlayHintProvider\":true,"
                    "\"codeLensProvider\":{\"resolveProvider\":false}},"
                    "\"serverInfo\":{\"name\":\"dpc\",\"version\":\"" DPC_VERSION "\"}}");
}

static const struct {
    const char *method;
    void (*answer)(Request *r);
} answers[] = {
    {"textDocument/hover", lsp_hover},
    {"textDocument/definition", lsp_definition},
    {"textDocument/references", lsp_references},
    {"textDocument/documentHighlight", lsp_highlights},
    {"textDocument/documentSymbol", lsp_symbols},
    {"textDocument/prepareRename", lsp_prepare_rename},
    {"textDocument/rename", lsp_rename},
    {"textDocument/completion", lsp_completion},
    {"textDocument/signatureHelp", lsp_signature_help},
    {"textDocument/formatting", lsp_format},
    {"textDocument/rangeFormatting", lsp_format},
    {"textDocument/inlayHint", lsp_inlay_hints},
    {"textDocument/codeLens", lsp_code_lenses},
};

static void answer_about_document(Server *s, const Json *id, const Json *params, void (*answer)(Request *r))
{
    Document *d = document_find(&s->documents, json_text(json_get(params, "textDocument"), "uri"));
    StrBuf result = {0};
    const Analysis *a = d ? analyse(s, d) : NULL;
    if (!d) {
        send_error(s, id, REQUEST_FAILED, "this document is not open");
        return;
    }
    if (a->own) {
        Request r = {.documents = &s->documents, .document = d, .a = a, .params = params, .out = &result};
        r.offset = offset_of_position(a->s, a->file, json_get(params, "position"));
        answer(&r);
        if (r.error)
            send_error(s, id, REQUEST_FAILED, r.error);
        else
            send_result(s, id, &result);
    } else {
        send_result(s, id, &result);
    }
    strbuf_free(&result);
}

/* ---- tests ---- */

static void execute(Server *s, const Json *id, const Json *params)
{
    const Json *words = json_get(params, "arguments"), *path = words ? words->first : NULL;
    const Json *name = path ? path->next : NULL;
    if (strcmp(json_text(params, "command"), "dpc.runTest") != 0 || !name || path->kind != JSON_TEXT ||
        name->kind != JSON_TEXT) {
        send_error(s, id, INVALID_PARAMS, "dpc.runTest has a file and a name");
        return;
    }
    const Document *d = document_of_path(&s->documents, path->text);
    StrBuf as_json = {0};
    add_id(&as_json, id);
    if (s->test.is_running)
        send_error(s, id, REQUEST_FAILED, "a test is running");
    else if (d && !document_is_saved(d))
        send_error(s, id, REQUEST_FAILED, "the file has changes that are not saved");
    else if (!test_run_start(&s->test, as_json.text, path->text, name->text))
        send_error(s, id, REQUEST_FAILED, "the test cannot be started");
    strbuf_free(&as_json);
}

/* The editor shows what was printed; the result has it, too. */
static void end_test(Server *s)
{
    enum { MESSAGE_ERROR = 1, MESSAGE_INFO = 3 };
    StrBuf output = {0}, out = {0}, text = {0};
    char *head = s->test.id, *name = s->test.name;
    strbuf_printf(&out, "%s,\"result\":{\"output\":", head);
    strbuf_printf(&text, "%s: ", name);
    const int status = test_run_finish(&s->test, &output);
    diag_json_string(&out, output.n ? output.text : "");
    strbuf_printf(&out, ",\"status\":%d}}", status);
    send_message(s, &out);
    strbuf_free(&out);
    strbuf_add(&text, output.n ? output.text : "it cannot be started");
    strbuf_printf(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"window/showMessage\",\"params\":{\"type\":%d,\"message\":",
                  status ? MESSAGE_ERROR : MESSAGE_INFO);
    diag_json_string(&out, text.text);
    strbuf_add(&out, "}}");
    send_message(s, &out);
    strbuf_free(&out);
    strbuf_free(&text);
    strbuf_free(&output);
}

/* ---- requests and notifications ---- */

static void answer_request(Server *s, const Json *id, const char *method, const Json *params)
{
    StrBuf result = {0};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strcmp(method, answers[i].method) == 0) {
            answer_about_document(s, id, params, answers[i].answer);
            return;
        }
    if (strcmp(method, "initialize") == 0) {
        workspace_set_roots(&s->documents, params);
        initialize(&result);
        send_result(s, id, &result);
    } else if (strcmp(method, "shutdown") == 0) {
        s->shut_down = true;
        send_result(s, id, &result);
    } else if (strcmp(method, "workspace/executeCommand") == 0) {
        execute(s, id, params);
    } else {
        send_error(s, id, *method ? METHOD_NOT_FOUND : INVALID_REQUEST, "there is no such method");
    }
    strbuf_free(&result);
}

static void change_document(Server *s, const char *uri, const Json *changes)
{
    for (const Json *c = changes && changes->kind == JSON_LIST ? changes->first : NULL; c; c = c->next)
        document_change(&s->documents, uri, c);
}

static void close_document(Server *s, const char *uri)
{
    StrBuf out = {0};
    if (!document_find(&s->documents, uri))
        return;
    document_drop(&s->documents, uri);
    strbuf_add(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":{\"uri\":");
    diag_json_string(&out, uri);
    strbuf_add(&out, ",\"diagnostics\":[]}}");
    send_message(s, &out);
    strbuf_free(&out);
}

static void take_notification(Server *s, const char *method, const Json *params)
{
    const Json *document = json_get(params, "textDocument");
    const char *uri = json_text(document, "uri");
    if (strcmp(method, "exit") == 0)
        s->ended = true;
    else if (strcmp(method, "textDocument/didOpen") == 0 && *uri)
        document_put(&s->documents, uri, json_text(document, "text"));
    else if (strcmp(method, "textDocument/didChange") == 0 && document_find(&s->documents, uri))
        change_document(s, uri, json_get(params, "contentChanges"));
    else if (strcmp(method, "textDocument/didClose") == 0)
        close_document(s, uri);
}

/* ---- cancelled requests ---- */

static bool same_id(const Json *a, const Json *b)
{
    return a && b && a->kind == b->kind && (a->kind == JSON_TEXT || a->kind == JSON_NUMBER) &&
           strcmp(a->text, b->text) == 0;
}

/* Has a message that waits taken the request back? */
static bool is_cancelled(Server *s, Arena *arena, const Json *id)
{
    static const char method[] = "$/cancelRequest";
    struct pollfd p = {.fd = s->in, .events = POLLIN};
    while (poll(&p, 1, 0) > 0 && (p.revents & POLLIN) && read_more(s))
        ;
    const char *at = unread(s), *all = at + unread_bytes(s);
    for (const char *end; at < all && (end = strstr(at, "\r\n\r\n"));) {
        const char *content = end + 4, *found = strstr(content, method);
        const size_t n = content_bytes(at, end);
        if (!found || n > (size_t)(all - content))
            return false;
        const Json *json = found < content + n ? json_read(arena, content) : NULL;
        if (json && strcmp(json_text(json, "method"), method) == 0 &&
            same_id(json_get(json_get(json, "params"), "id"), id))
            return true;
        at = content + n;
    }
    return false;
}

typedef struct Message {
    Server *s;
    const char *text;
    Arena *arena;
    const Json *id;
} Message;

static void take_message(void *data)
{
    Message *m = data;
    const Json *json = json_read(m->arena, m->text);
    if (!json || json->kind != JSON_OBJECT) {
        send_error(m->s, NULL, json ? INVALID_REQUEST : PARSE_ERROR, "this is no message");
        return;
    }
    m->id = json_get(json, "id");
    if (m->id && is_cancelled(m->s, m->arena, m->id))
        send_error(m->s, m->id, REQUEST_CANCELLED, "cancelled");
    else if (m->id)
        answer_request(m->s, m->id, json_text(json, "method"), json_get(json, "params"));
    else
        take_notification(m->s, json_text(json, "method"), json_get(json, "params"));
}

int lsp_serve(int in, int out)
{
    Server s = {.in = in, .out = out};
    while (!s.ended) {
        if (!has_input(&s) && !memory_guard(analyse_all, &s))
            fprintf(stderr, "dpc lsp: out of memory\n");
        char *text = read_message(&s);
        if (!text)
            break;
        Message m = {.s = &s, .text = text, .arena = arena_create()};
        if (!memory_guard(take_message, &m))
            send_error(&s, m.id, INTERNAL_ERROR, "out of memory");
        arena_destroy(m.arena);
        free(text);
    }
    documents_free(&s.documents);
    strbuf_free(&s.input);
    return s.shut_down ? 0 : 1;
}
