/* Answers: each appends the result's JSON. `params` are the request's. */
#ifndef DPC_LSP_FEATURES_H
#define DPC_LSP_FEATURES_H

#include "lsp/document.h"

typedef struct Request {
    Documents *documents;
    Document *document;
    const Analysis *a; /* of the document as it is; it could be read */
    uint32_t offset;   /* of the request's position, if it has one */
    const Json *params;
    StrBuf *out;
    const char *error; /* set instead of a result: why there is none; the analysis' arena, or constant */
} Request;

void lsp_hover(Request *r);
void lsp_definition(Request *r);
void lsp_references(Request *r);
void lsp_highlights(Request *r);
void lsp_prepare_rename(Request *r);
void lsp_rename(Request *r);
void lsp_format(Request *r);
void lsp_inlay_hints(Request *r);
void lsp_code_lenses(Request *r);
void lsp_symbols(Request *r);
void lsp_completion(Request *r);
void lsp_signature_help(Request *r);

/* The result of textDocument/publishDiagnostics. */
void add_diagnostics(StrBuf *out, const Document *d, const Analysis *a);

#endif
