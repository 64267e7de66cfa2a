/* What the files of the checker share. One check goes through these steps:
 *
 *     scope.c       what the top-level names of each module mean
 *     resolve.c     every name gets its Ref; unbound and duplicate names; who calls whom
 *     scc.c         strongly connected components of calls, callees first
 *     infer_*.c     types of one component at a time, over unification variables (unify.c)
 *     deferred.c    what waits until a type is known better: e.x, e.0, #a, `p in n`
 *     generalise.c  free variables of the component become TY_RIGID; the rest gets its default
 *     warn_match.c  cases that are missing or never reached (usefulness.c)
 *     warn_unused.c names that nothing uses
 *     warn_operators.c  operators that look like others, comparisons that are always the same
 *     check.c       the driver, entries, and the final tables
 *     type_text.c   types as messages show them
 *     type_error_notes.c  errors about types, with where the types came from
 *     foreign_names.c  names and types of other languages
 *     library_names.c  names of the library's modules
 *
 * Levels: a variable made inside k functions (local ones counted) has level k or less; generalising
 * at level k takes the variables above k. */
#ifndef DPC_CHECK_INTERNAL_H
#define DPC_CHECK_INTERNAL_H

#include "support/ptrmap.h"
#include "types/check.h"
#include "types/suggest.h"

/* ---- why a type is expected somewhere; becomes a note ---- */
typedef enum WhyKind {
    WHY_NONE,
    WHY_RESULT,
    WHY_BRANCH,
    WHY_CASE,
    WHY_ELEMENT,
    WHY_PARAM,
    WHY_OPERAND,
    WHY_RANGE,
    WHY_PATTERN,
    WHY_STATE,
    WHY_CONDITION,
    WHY_LAMBDA
} WhyKind;
typedef struct Why {
    WhyKind kind;
    Span span;               /* what the note points at */
    Type *type;              /* what it names; WHY_PARAM: the parameter's */
    const Expr *expr;        /* WHY_OPERAND: the operation */
    const struct Call *call; /* WHY_PARAM */
    uint32_t arg;            /* WHY_PARAM: which one */
    uint32_t given, wanted;  /* WHY_LAMBDA: parameters */
    const struct Why *outer; /* WHY_LAMBDA: why the function is expected */
} Why;

/* An application: f, its arguments and, for pipes, the type of one more behind them. */
typedef struct Call {
    Expr *fn;
    Expr **args;
    uint32_t nargs;
    Type *last; /* or NULL */
    const Expr *last_value;
    Type *type; /* of fn */
} Call;

/* A type with its quantified variables, known by their pointers (a local function's have no final
 * index before the enclosing definition is done). */
typedef struct Poly {
    Type *type;
    Type **rigids;
    uint32_t n;
} Poly;

/* A local function. */
typedef struct LocalFun {
    Def *def;
    uint32_t expr_id;
    struct LocalFun *outer; /* the local function around it, or NULL */
    Type *mono;             /* while it is checked: its calls of itself have this type; then NULL */
    VEC(Ref *) own_refs;    /* these calls */
    Poly poly;
    uint32_t first; /* index of its first rigid, known at the end */
} LocalFun;

/* Type parameters in scope: 'a and the parameters of abbreviations. */
typedef struct TypeEnv {
    const Name *names;
    Type **types;
    uint32_t n;
    const struct TypeEnv *outer;
} TypeEnv;

/* A declared type parameter while its definition is checked. */
typedef struct Declared {
    Type *var;
    Name name;
    Def *owner;
} Declared;

typedef enum DeferredKind { DEFER_FIELD, DEFER_SET_FIELD, DEFER_PROJECT, DEFER_EACH, DEFER_CTOR } DeferredKind;
typedef struct Deferred {
    DeferredKind kind;
    Span span;         /* of the field's name, the sequence, the constructor */
    Span subject_span; /* fields and components: of what they are taken from */
    Span value_span;   /* DEFER_SET_FIELD */
    const Expr *from;  /* fields and components: what they are taken from; DEFER_EACH: the sequence; or NULL */
    Type *subject;     /* what has to be known: record, tuple, sequence or integer, sum */
    Type *result;      /* field, component, element, payload (NULL: constructor without) */
    Name name;         /* fields and constructors */
    uint32_t index;    /* DEFER_PROJECT */
} Deferred;

/* A type that may not contain functions, and where it arose. */
typedef enum DataKind { DATA_ELEMENT, DATA_IF, DATA_MATCH, DATA_LOOP } DataKind;
typedef struct DataUse {
    DataKind kind;
    Span span;
    Type *type;
} DataUse;

typedef struct LiteralUse {
    const Expr *e;
    Type *type;
} LiteralUse;
/* A reference that instantiates a scheme, or (own_group) one inside the component itself. */
typedef struct RefUse {
    const Expr *e;
    Type *const *rigids;
    bool own_group;
} RefUse;

/* A top-level name from an unqualified import; `other` if a second import gives it too. */
typedef struct Imported {
    Def *def, *other;
    const Def *import, *other_import; /* the DEF_IMPORTs */
} Imported;

typedef struct ModuleScope {
    const Module *module;
    bool is_library;
    bool may_use_internals;                 /* builtin names that end in two underscores */
    PtrMap values, types;                   /* its own: Name -> Def */
    PtrMap imported_values, imported_types; /* Name -> Imported */
    PtrMap aliases;                         /* Name -> ModuleScope */
    VEC(struct ModuleScope *) imports;      /* each once */
} ModuleScope;

typedef enum UnifyFailure { FAIL_MISMATCH, FAIL_INFINITE, FAIL_DECLARED } UnifyFailure;

typedef struct Checker {
    Session *s;
    Arena *arena;
    Checked *out;
    Type *scalars[SCALAR_COUNT], *unit, *error;
    Name scalar_names[SCALAR_COUNT];
    Poly builtins[BUILTIN_COUNT];
    PtrMap builtin_names; /* Name -> Builtin + 1 */
    uint32_t npats;       /* Pat.ids */
    ModuleScope *scopes;  /* of the modules; [0] is the prelude's */
    ModuleScope **scope_of_file;
    ModuleScope *scope;  /* the one of the definition at hand */
    PtrMap type_states;  /* Def of a type -> TypeState */
    PtrMap known_sizes;  /* TypeExpr with a size name -> pat_id + 1 of the variable it names */
    PtrMap local_funs;   /* Def -> LocalFun */
    const Pat **binders; /* by the Pat.id of a PAT_NAME: it, or the PAT_ASCRIBE around it */
    /* by Def.index */
    Poly *polys;  /* set once generalised */
    Type **monos; /* while its component is checked, else NULL */
    struct CallList {
        VEC(uint32_t) to;
    } * calls;
    bool *failed; /* it has errors */
    /* of the component at hand */
    uint32_t level, next_var;
    const TypeEnv *tenv;
    LocalFun *fun;          /* the innermost local function being checked */
    PtrMap undefined_types; /* names that have been reported */
    VEC(Declared) declared;
    VEC(Deferred) deferred;
    VEC(DataUse) data;
    VEC(LiteralUse) literals;
    VEC(RefUse) refs;
    VEC(LocalFun *) funs; /* enclosing ones before inner ones */
    UnifyFailure failure;
    Type *failed_declared;
} Checker;

/* ---- scope.c ---- */
void declare_all(Checker *c);
ModuleScope *scope_of(const Checker *c, const Def *def);
/* Is it the program's own file, which warnings are about? */
bool is_program(const Checker *c, const ModuleScope *m);
/* Names of the library that end in two underscores are its own. */
bool is_internal(Name name);
/* What the name means at top level in c->scope. False if nothing; where it is ambiguous, that has been
 * reported, and *def is NULL. */
bool scope_find_value(Checker *c, Name name, Span at, Def **def);
bool scope_find_type(Checker *c, Name name, Span at, Def **def);
/* The module of that alias in c->scope, or NULL. */
const ModuleScope *scope_find_module(const Checker *c, Name name);
/* The definition `M.name` means, `names` being m's values or its types, or NULL. */
Def *scope_exported(const ModuleScope *m, const PtrMap *names, Name name);
void no_such_member(Checker *c, Span at, Name module, const PtrMap *names, Name name);

/* ---- resolve.c, scc.c, suggest.c, foreign_names.c ---- */
void resolve_definition(Checker *c, Def *def);
/* The constants that a type definition's sizes name. */
void resolve_type_sizes(Checker *c, ModuleScope *scope, const Def *type);
/* Components in order, callees first: order[starts[i] .. starts[i+1]) are the Def.index of component i. */
typedef struct Components {
    uint32_t *order, *starts;
    uint32_t n;
} Components;
Components components_of(Arena *a, const struct CallList *calls, uint32_t n);

void suggest_consider_map(Suggestion *g, const PtrMap *names);
/* What a name or a type of another language is called here, as a note; false if it is none. */
bool note_foreign_name(Session *s, Name name);
bool note_foreign_type(Session *s, Name name);

/* ---- library_names.c: notes that name the import to write; false if there is none ---- */
bool note_library_value(Checker *c, Span at, Name name);
bool note_library_type(Checker *c, Span at, Name name);
/* Behind `qualifier.member`, where no module is called so. */
bool note_unknown_module(Checker *c, Span at, Name qualifier, Name member, bool is_type);
/* Behind `i64.member`. */
bool note_type_as_module(Checker *c, Name scalar, Name member);
bool is_prelude_name(const Checker *c, Name name);

/* ---- unify.c ---- */
Type *new_var(Checker *c, TypeClass cls);
bool unify(Checker *c, Type *a, Type *b);
/* Narrows t to a class. */
bool constrain(Checker *c, Type *t, TypeClass cls);
bool class_has_scalar(TypeClass cls, Scalar s);
/* Lowers the levels of t's variables to at most `level`. */
void lower_levels(Type *t, uint32_t level);
bool has_error(Type *t);
/* Is there an error in any part of it? Then one message is enough. */
bool mentions_error(Type *t);

/* ---- type_text.c ---- */
/* "[i64]", "a number", "point": for messages. */
const char *describe_type(Checker *c, Type *t);
const char *describe_class(TypeClass cls);
const char *describe_structure(Checker *c, Type *t); /* whole, and without declared names */
/* "('a -> num) -> ['a] -> num" */
const char *describe_signature(Checker *c, const Poly *p);
/* Two types that differ: where they are long, around the difference only. */
void describe_pair(Checker *c, Type *a, Type *b, const char **a_text, const char **b_text);
/* Two types whose variables are told apart. */
void describe_with_letters(Checker *c, Type *a, Type *b, const char **a_text, const char **b_text);
/* Shows them one below the other, where that helps. */
void note_difference(Checker *c, Type *expected, Type *found);
/* Could they be unified, as far as can be seen without doing it? */
bool types_compatible(Type *a, Type *b);
/* The outermost parts that differ, how deep they are, and whether that is inside something of several parts. */
typedef struct Difference {
    Type *a, *b;
    uint32_t depth;
    bool has_parts;
} Difference;
Difference types_difference(Type *a, Type *b);

/* ---- type_error_notes.c ---- */
/* Unify or report at `span`. */
bool expect(Checker *c, Span span, Type *expected, Type *found, const Why *why);
bool expect_class(Checker *c, Span span, TypeClass cls, Type *found);
/* The definition that is applied, or NULL. */
const Def *called_def(const Checker *c, const Expr *fn);
/* Notes on the error reported just before: where e's type came from; how e could become `expected`; … */
void note_origin(Checker *c, const Expr *e);
void note_value(Checker *c, const Expr *e, Type *expected, Type *found);
void note_names(Checker *c, Type *expected, Type *found);
void note_alias(Checker *c, Type *t, Type *other);
void note_known_names(Checker *c, Type *t, Name wanted); /* of a record or sum */
void note_update_of_whole(Checker *c, const Expr *first, Name field);
void note_no_fields(Checker *c, Type *t, const Expr *from, Name field);
void note_set_in_sequence(Checker *c, Type *t, Name field);
void note_no_sequence(Checker *c, const Expr *e, Type *t);
void note_counting(Checker *c, Type *t); /* `for x in n` */
void note_function(Checker *c, const Expr *fn);
void note_operator(Checker *c, const Expr *node, Type *found, bool of_left);
void note_index_conversion(Checker *c, const Expr *index, Type *found);
/* Of a lambda whose pattern does not fit the first parameter of `fun`; that has too many parameters. */
void note_lambda_pattern(Checker *c, const Expr *lambda, Type *fun);
void note_too_many_params(Checker *c, const Expr *lambda, Type *expected, const Why *why);
void note_not_a_function(Checker *c, const Call *call, Type *t);
void note_extra_argument(Checker *c, const Call *call, uint32_t takes);

/* ---- type_expr.c ---- */
void check_type_definition(Checker *c, Def *def);
Type *convert_type(Checker *c, const TypeExpr *te);
Type *convert_builtin(Checker *c, const TypeExpr *te, Poly *out);
/* The one sum type declared with this constructor, with fresh arguments; NULL if none or several. */
Type *sum_with_ctor(Checker *c, Name ctor);
/* Does a type in scope declare it? The nearest that is declared. */
bool is_ctor(const Checker *c, Name name);
/* The type of that name if it is one of the scalars, or NULL. */
Type *find_scalar(const Checker *c, Name name);
Suggestion suggest_ctor(const Checker *c, Name wanted);
/* Builds a record or sum type, sorting by name; reports duplicates at the spans. */
Type *named_type(Checker *c, TypeKind kind, Name *names, const Span *spans, Type **items, uint32_t n);
/* Is the type too large to work with (as by repeated doubling)? Reports it. */
bool too_large(Checker *c, Span span, Type *t);

/* ---- infer_pat.c ---- */
void infer_pat(Checker *c, Pat *p, Type *expected);
bool pat_has_type(const Pat *p);

/* ---- infer_expr.c, infer_apply.c, infer_data.c ---- */
Type *infer(Checker *c, Expr *e, Type *hint);
void check(Checker *c, Expr *e, Type *expected, const Why *why);
Type *infer_apply(Checker *c, Expr *e);
Type *infer_pipe(Checker *c, Expr *e);
Type *infer_binary(Checker *c, Expr *e);
Type *infer_section(Checker *c, Expr *e);
Type *infer_unary(Checker *c, Expr *e, Type *hint);
Type *infer_name(Checker *c, Expr *e);
Type *infer_tuple(Checker *c, Expr *e, Type *hint);
Type *infer_record(Checker *c, Expr *e, Type *hint);
Type *infer_array(Checker *c, Expr *e, Type *hint);
Type *infer_ctor(Checker *c, Expr *e, Type *hint);
Type *infer_index(Checker *c, Expr *e);
Type *infer_slice(Checker *c, Expr *e);
Type *infer_field(Checker *c, Expr *e);
Type *infer_project(Checker *c, Expr *e);
Type *infer_update_index(Checker *c, Expr *e, Type *hint);
Type *infer_update_field(Checker *c, Expr *e, Type *hint);
Type *infer_update_part(Checker *c, Expr *e);
/* Of a record or sum; NULL if it has none of that name, or the constructor no value. */
Type *field_type(const Type *record, Name name);
/* The expression that gives a let's value; where mismatches are best shown. */
Span result_span(const Expr *e);
/* The element type of what has to be a sequence; the error type after a message. */
Type *element_of(Checker *c, const Expr *array, Type *t);
void add_data_use(Checker *c, DataKind kind, Span span, Type *t);

/* A function definition's types, local or not. */
typedef struct Signature {
    TypeEnv env;
    Type *result, *type;
} Signature;
Signature *infer_signature(Checker *c, Def *def);
bool is_library(const Checker *c, const Def *def); /* of the standard library? */
void infer_body(Checker *c, Def *def, const Signature *sig);

/* ---- deferred.c ---- */
void defer(Checker *c, Deferred d);
void solve_deferred(Checker *c);
/* Decides all whose subject would be generalised at `level`, by the rules for unknown types. */
void force_deferred(Checker *c, uint32_t level);

/* ---- generalise.c ---- */
void generalise_local(Checker *c, LocalFun *f, Type *t);
void generalise_group(Checker *c, const uint32_t *defs, uint32_t n, Signature *const *sigs);
Type *instantiate(Checker *c, const Poly *p, Type **args);
/* The type without variables: those left get their defaults. */
Type *resolve_type(Checker *c, Type *t);
/* ---- obligations.c: what is known only at the end of a component ---- */
void check_literals(Checker *c);
void check_data_uses(Checker *c);
/* Marks the quantified variables that stand inside sequences in t: they are no functions. */
void mark_elements(Type *t);
bool contains_function(Type *t);

/* ---- warnings, about the program's own file: warn_match.c, warn_unused.c, warn_operators.c ---- */
/* Finds out which matches are exhaustive, in all files. */
void check_matches(Checker *c);
void warn_unused(Checker *c);
void warn_operators(Checker *c);

#endif
