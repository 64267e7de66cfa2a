/* A definition, and all places that mean it: in open documents, what they import, and the other files of the workspace.
 */
#ifndef DPC_LSP_REFERENCES_H
#define DPC_LSP_REFERENCES_H

#include "lsp/document.h"

/* The same definition in whatever analysis: a place in a file. */
typedef struct Target {
    const char *path, *name;
    uint32_t start;
    bool is_library;
} Target;

/* A program with all its files. */
typedef struct View {
    const char *path; /* of its own file */
    const Analysis *a;
    Analysis *owned; /* `a`, if it is no open document's */
    uint32_t target; /* the number of the target's file; UINT32_MAX: the program has not got it */
    bool *is_first;  /* by the number of a file: no view before this one has it */
} View;
typedef struct Views {
    Arena *arena;
    const Documents *documents;
    VEC(View) list;
} Views;

/* False: the name is of a primitive, or there is none. */
bool target_of(const Analysis *a, const Occurrence *o, Target *t);
/* The programs that may have the target's name. */
void views_open(Views *v, Documents *ds, const Target *t);
void views_close(Views *v);
bool view_has_target(const View *view, const Occurrence *o, const Target *t);
/* Calls `visit` for each place, once. */
void views_visit(const Views *v, const Target *t, void (*visit)(void *context, const Analysis *a, const Occurrence *o),
                 void *context);

#endif
