/* The files of the workspace's folders. */
#ifndef DPC_LSP_WORKSPACE_H
#define DPC_LSP_WORKSPACE_H

#include "lsp/document.h"

typedef VEC(const char *) PathList;

/* The folders of `initialize`. */
void workspace_set_roots(Documents *ds, const Json *params);
/* The programs in them that have the word, 10,000 at most; without those of hidden folders, and links. */
void workspace_files_with(Arena *arena, const Documents *ds, const char *word, PathList *out);

#endif
