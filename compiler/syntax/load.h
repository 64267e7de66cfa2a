/* Loading a program: its file, and the modules that it imports, directly or through others.
 *
 *     import "geo/shapes"        geo/shapes.dp beside the importing file, else of the standard library
 *
 * Each file is read once, however often and under whatever path it is imported. A file of the standard
 * library imports only others of it. Circles and missing files are errors at the import, whose
 * `Def.module` then stays NULL. */
#ifndef DPC_LOAD_H
#define DPC_LOAD_H

#include "syntax/ast.h"

/* [0] is the prelude, [1] the program's own file, and then come the imported ones. */
typedef struct ModuleList {
    VEC(Module *) list;
} ModuleList;

/* False, with *why, if the program's own file cannot be read. All else is in the session's diagnostics. */
bool load_program(Session *s, const char *path, AstIds *ids, ModuleList *out, const char **why);
/* A program whose text is given; what it imports lies beside `path`, or in the library. */
void load_program_text(Session *s, const char *path, const char *text, size_t n, AstIds *ids, ModuleList *out);

/* A program put together from several texts: dpc eval, dpc repl. Each may define anew what those before it define.
 * Files are imported from beside a part's path. */
typedef struct SourcePart {
    const char *path, *text; /* of `bytes` bytes */
    size_t bytes;
    uint32_t lines_before; /* SourceFile */
    bool is_expression;    /* the others have definitions, which are no entries */
    bool is_quiet;         /* SourceFile */
} SourcePart;
void load_program_parts(Session *s, const SourcePart *parts, uint32_t n, AstIds *ids, ModuleList *out);

#endif
