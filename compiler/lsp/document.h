/* Open documents, and the places of the protocol. */
#ifndef DPC_LSP_DOCUMENT_H
#define DPC_LSP_DOCUMENT_H

#include "lsp/analysis.h"
#include "step/json.h"

/* Texts are the heap's. */
typedef struct Document {
    char *uri, *path, *text;
    size_t n;
    bool changed;         /* since `now` was made */
    Analysis *now, *good; /* of the text; of the last one that could be parsed, perhaps the same; or NULL */
} Document;

typedef struct Documents {
    SourceOverlay overlay; /* their texts stand for those of the files */
    Document **at;
    uint32_t n;
} Documents;

void documents_free(Documents *ds);
Document *document_find(const Documents *ds, const char *uri); /* or NULL */
Document *document_of_path(const Documents *ds, const char *path);
void document_put(Documents *ds, const char *uri, const char *text);
void document_drop(Documents *ds, const char *uri);
/* What is known of it, made anew if it has changed. */
const Analysis *document_analysis(Documents *ds, Document *d);
/* "file:///a%20b.dp" gives "/a b.dp", what is no such URI itself. The heap's. */
char *path_of_uri(const char *uri);
void add_uri_of_path(StrBuf *out, const char *path);

/* {"line":…,"character":…} of an offset, and back; beyond the text is its end. */
void add_position(StrBuf *out, Session *s, uint32_t file, uint32_t offset);
void add_range(StrBuf *out, Session *s, Span at);
uint32_t offset_of_position(Session *s, uint32_t file, const Json *position);

#endif
