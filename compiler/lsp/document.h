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
    char **roots; /* paths of the workspace's folders */
    uint32_t nroots;
} Documents;

void documents_free(Documents *ds);
Document *document_find(const Documents *ds, const char *uri); /* or NULL */
Document *document_of_path(const Documents *ds, const char *path);
void document_put(Documents *ds, const char *uri, const char *text);
/* One of the changes of didChange: of a range, or of everything. */
void document_change(Documents *ds, const char *uri, const Json *change);
/* Is it as on disk? */
bool document_is_saved(const Document *d);
void document_drop(Documents *ds, const char *uri);
/* What is known of it, made anew if it has changed. */
const Analysis *document_analysis(Documents *ds, Document *d);
/* "file:///a%20b.dp" gives "/a b.dp", what is no such URI itself. The heap's. */
char *path_of_uri(const char *uri);
void add_uri_of_path(StrBuf *out, const char *path);
/* Also where it is reached by different paths. */
bool is_same_file(const char *a, const char *b);

/* {"line":…,"character":…} of an offset, and back; beyond the text is its end. */
void add_position(StrBuf *out, Session *s, uint32_t file, uint32_t offset);
void add_range(StrBuf *out, Session *s, Span at);
/* "key":"text" */
void add_text_member(StrBuf *out, const char *key, const char *text);
/* {"uri":…,"range":…}; of a file of the library, that of its copy. */
void add_location(StrBuf *out, const Analysis *a, Span at);
uint32_t offset_of_position(Session *s, uint32_t file, const Json *position);

#endif
