/* Type inference: resolves names, infers types (Hindley–Milner with overloaded numerics), and puts
 * the results into side tables. The tree stays as parsed.
 *
 * Top-level definitions are checked in order of their strongly connected components; each is
 * generalised. Local functions (`let f x = …`) are generalised too; local values are not.
 * Type variables left over get their default (see type.h), so that after a successful check every
 * type in the tables consists of known types and TY_RIGID of the enclosing definition(s).
 *
 * Rigid numbering: a local function inside a polymorphic definition quantifies over *additional*
 * variables. Their rigid indices continue behind the enclosing definition's: the enclosing def has
 * rigids 0..k-1, the local one k..k+m-1. An instance of the local function carries only the m own
 * arguments; to specialise, extend the environment of the enclosing definition by them.
 * The variables of a builtin are numbered as they first appear in its type. Definitions of one component
 * share their variables, so that references among them carry the rigids themselves.
 *
 * Names resolve to
 *     REF_LOCAL    a pattern variable: `pat_id` of its PAT_NAME (record punning included), or a
 *                  size name, see below
 *     REF_DEF      a top-level definition (user's or library's): `def`, and `args`, the types of
 *                  its scheme's variables
 *     REF_LOCAL_FUN  a local function: `def`, and `args`
 *     REF_PRIM     a primitive of prims.def: `prim`, and `args`
 *     REF_SIZE     a size name `n` of a sized parameter type, used as an i64: `size_name` */
#ifndef DPC_CHECK_H
#define DPC_CHECK_H

#include "syntax/ast.h"
#include "types/type.h"

/* Functions known to the compiler, with their types: see builtins.def. */
typedef enum Builtin {
#define BUILTIN(name, ...) BI_##name,
#include "types/builtins.def"
#undef BUILTIN
    BUILTIN_COUNT
} Builtin;

typedef enum RefKind { REF_NONE, REF_LOCAL, REF_DEF, REF_LOCAL_FUN, REF_PRIM, REF_SIZE } RefKind;

typedef struct Ref {
    RefKind kind;
    union {
        uint32_t pat_id;
        Def *def;
        Builtin builtin;
        Name size_name;
    };
    Type **args;
    uint32_t nargs;
} Ref;

typedef struct DefInfo {
    Def *def;
    const Module *module;
    Scheme scheme;   /* of a value: its type; of a function: curried over its parameters */
    uint32_t scc;    /* number of its strongly connected component of calls */
    bool recursive;  /* calls itself, directly or through its component */
    bool is_library; /* of the prelude or another module of the standard library */
} DefInfo;

typedef struct Checked {
    Module **modules;
    uint32_t nmodules; /* [0] is the prelude, [1] the program's file; then imported ones */
    Type **expr_types; /* by Expr.id: the type of the expression */
    Type **pat_types;  /* by Pat.id */
    uint32_t npats;
    Ref *refs; /* by Expr.id: for E_NAME, and for E_FIELD that is a qualified name */
    DefInfo *defs;
    uint32_t ndefs;           /* by Def.index, top-level values only */
    Scheme *local_schemes;    /* by the Expr.id of the E_LET_FUN: only the own variables */
    uint32_t *let_fun_outer;  /* by the Expr.id of the E_LET_FUN: number of rigids of the enclosing definitions */
    struct PtrMap *type_defs; /* see checked_type_def */
    struct PtrMap *size_defs; /* see checked_size_def */
    bool *exhaustive;         /* by the Expr.id of the E_MATCH: its cases are known to take every value */
    bool *let_fun_recursive;  /* by the Expr.id of the E_LET_FUN: it calls itself */
} Checked;

/* Checks the modules together. On errors the session's error_count grows and the result must not be
 * used further. */
Checked *check_program(Session *s, Module **modules, uint32_t nmodules, const AstIds *ids);

/* "'a -> 'a where a num" */
void scheme_print(StrBuf *out, const Scheme *s);
/* For the `types` dump: every definition with its inferred type. */
void checked_print(StrBuf *out, const Checked *c);
/* The abbreviation that a TE_NAME means, or NULL: a scalar or a type parameter. */
const Def *checked_type_def(const Checked *c, const TypeExpr *te);
/* The constant that a TE_ARRAY's size name means, or NULL: something local. */
Def *checked_size_def(const Checked *c, const TypeExpr *te);
/* The value of that name: the program's own file's, else an imported one's, else the prelude's. */
DefInfo *checked_find(const Checked *c, Name name);
/* The prelude's own, whatever the program defines. */
DefInfo *checked_find_prelude(const Checked *c, Name name);

#endif
