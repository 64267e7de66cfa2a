/* A document, parsed and checked, with every name in its files. */
#ifndef DPC_LSP_ANALYSIS_H
#define DPC_LSP_ANALYSIS_H

#include "core/core.h"
#include "syntax/load.h"
#include "types/check.h"

/* What a name stands for: the Def, or the Pat of kind PAT_NAME; of primitives NULL. */
typedef struct Occurrence {
    Span span;
    const Def *def;
    const Pat *pat;
    const Expr *expr; /* E_NAME or a qualified E_FIELD; NULL elsewhere */
    bool defines;
    bool is_pun; /* {x}: the name of a field as well */
} Occurrence;

typedef struct Analysis {
    Session *s;
    AstIds ids;
    ModuleList modules;
    const Module *own; /* the document's; NULL: it could not be read */
    uint32_t file;
    Checked *checked;  /* NULL: the file cannot be read */
    CoreProgram *core; /* NULL where there are errors */
    uint32_t ndiags;   /* those that are the document's: the session may have more */
    bool is_parsed;    /* without errors of grammar */
    VEC(Occurrence) names;
} Analysis;

Analysis *analysis_make(const char *path, const SourceOverlay *overlay);
/* The same, and the definition of that name is compiled as if it were an entry. */
Analysis *analysis_make_with_entry(const char *path, const SourceOverlay *overlay, const char *name);
void analysis_free(Analysis *a);
/* The name at the place, also directly behind it; NULL: none. */
const Occurrence *analysis_name_at(const Analysis *a, uint32_t offset);
/* The innermost expression there, or NULL. */
const Expr *analysis_expr_at(const Analysis *a, uint32_t offset);
/* The definition of the document that the place is in, or the last before it; or NULL. */
Def *analysis_def_at(const Analysis *a, uint32_t offset);
bool is_users(const Analysis *a, Span at);
/* Where the name is defined. False: nowhere in DP. */
bool definition_of(const Occurrence *o, Span *at);
/* "xs : [f64]", "def f : i64 -> i64"; empty where nothing is known. */
void add_signature(StrBuf *out, const Analysis *a, const Occurrence *o);
void print_known_type(StrBuf *out, Type *t); /* nothing where there is an error in it */

typedef struct BuiltinText {
    const char *name, *parameters, *type;
} BuiltinText;
extern const BuiltinText builtin_texts[BUILTIN_COUNT];

#endif
