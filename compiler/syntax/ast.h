/* The syntax tree, as parsed: nothing is desugared and nothing is resolved. The checker puts its
 * results into side tables indexed by `Expr.id` and `Pat.id` (dense from 0 over one Module set).
 *
 * Every node has a Span. Nodes live in the session's arena and are made only by the parser.
 */
#ifndef DPC_AST_H
#define DPC_AST_H

#include "support/session.h"

typedef struct Expr Expr;
typedef struct Pat Pat;
typedef struct TypeExpr TypeExpr;
typedef struct Def Def;

/* ---- types as written ---- */
typedef enum TypeExprKind {
    TE_NAME,   /* i32, point, 'a used as a, pair i32, M.t */
    TE_TUPLE,  /* (t1, t2); () has n = 0 */
    TE_RECORD, /* {x: t1, y: t2} */
    TE_ARRAY,  /* [t], [n]t, [3]t */
    TE_FUN,    /* t1 -> t2 */
    TE_SUM     /* #a t | #b */
} TypeExprKind;

typedef struct TypeField {
    Name name;
    Span span;
    TypeExpr *type; /* NULL: constructor without payload */
} TypeField;

typedef enum SizeKind { SIZE_NONE, SIZE_LITERAL, SIZE_NAME } SizeKind;

/* `depth` of a type, pattern or expression is the height of its tree. The parser keeps it below
 * MAX_SYNTAX_DEPTH, so that passes may recurse over the tree. */
#define MAX_SYNTAX_DEPTH 20000

struct TypeExpr {
    TypeExprKind kind;
    Span span;
    uint32_t depth;
    union {
        struct {
            Name module; /* or NULL */
            Name name;
            TypeExpr **args;
            uint32_t nargs;
        } name; /* TE_NAME */
        struct {
            TypeExpr **items;
            uint32_t n;
        } tuple; /* TE_TUPLE */
        struct {
            TypeField *fields;
            uint32_t n;
        } record; /* TE_RECORD, TE_SUM */
        struct {
            SizeKind size_kind;
            int64_t size;
            Name size_name;
            Span size_span;
            TypeExpr *element;
        } array; /* TE_ARRAY */
        struct {
            TypeExpr *from, *to;
        } fun; /* TE_FUN */
    };
};

/* ---- patterns ---- */
typedef enum PatKind {
    PAT_NAME,
    PAT_WILD,
    PAT_TUPLE /* () has n = 0 */,
    PAT_RECORD,
    PAT_ASCRIBE,
    PAT_LITERAL, /* match only: an Expr of kind E_INT, E_FLOAT, E_CHAR, E_BOOL or E_STRING, sign folded in */
    PAT_CTOR     /* match only */
} PatKind;

typedef struct PatField {
    Name name;
    Span span;
    Pat *pat;
} PatField;

struct Pat {
    PatKind kind;
    Span span;
    uint32_t id, depth;
    union {
        Name name; /* PAT_NAME */
        struct {
            Pat **items;
            uint32_t n;
        } tuple; /* PAT_TUPLE */
        struct {
            PatField *fields;
            uint32_t n;
        } record; /* PAT_RECORD; {y} has pat = PAT_NAME y */
        struct {
            Pat *pat;
            TypeExpr *type;
        } ascribe;     /* PAT_ASCRIBE */
        Expr *literal; /* PAT_LITERAL */
        struct {
            Name name;
            Pat *arg; /* or NULL */
        } ctor;       /* PAT_CTOR */
    };
};

/* ---- expressions ---- */
typedef enum ExprKind {
    E_INT,
    E_FLOAT,
    E_BOOL,
    E_CHAR,
    E_STRING,
    E_NAME,          /* x; M.x is E_FIELD of E_NAME M and is resolved by the checker */
    E_TUPLE,         /* (a, b); () has n = 0 */
    E_RECORD,        /* {x = 1, y} */
    E_ARRAY,         /* [a, b] */
    E_APPLY,         /* f x y */
    E_CTOR,          /* #name, #name e */
    E_UNARY,         /* -e !e ~e */
    E_BINARY,        /* a + b, also ++ && || and comparisons */
    E_PIPE,          /* e |> f (backward = false), f <| e (backward = true) */
    E_RANGE,         /* a..<b, a...b, a..b..<c, a..b...c */
    E_OP_SECTION,    /* (+) */
    E_LEFT_SECTION,  /* (e +) */
    E_RIGHT_SECTION, /* (+ e) */
    E_INDEX,         /* xs[i] */
    E_SLICE,         /* xs[a:b], either may be missing */
    E_FIELD,         /* e.x */
    E_PROJECT,       /* e.0 */
    E_UPDATE_INDEX,  /* xs with [i] = v */
    E_UPDATE_FIELD,  /* r with x = v */
    E_UPDATE_PART,   /* m with [i, j] = v, r with a.b = v, xs with [a:b] = ys: more than one step, or a slice */
    E_LET,           /* let p = e in body */
    E_LET_FUN,       /* let f x y = e in body */
    E_IF,
    E_MATCH,
    E_LAMBDA,
    E_LOOP,    /* three forms, see LoopKind */
    E_ASCRIBE, /* (e : t) */
    E_EACH     /* { e : p in xs; ... | c } */
} ExprKind;

typedef enum UnaryOp { UN_NEG, UN_NOT, UN_COMPLEMENT } UnaryOp;
typedef enum BinaryOp {
    BIN_OR,
    BIN_AND,
    BIN_EQ,
    BIN_NE,
    BIN_LT,
    BIN_LE,
    BIN_GT,
    BIN_GE,
    BIN_BITOR,
    BIN_BITXOR,
    BIN_BITAND,
    BIN_SHL,
    BIN_SHR,
    BIN_APPEND,
    BIN_ADD,
    BIN_SUB,
    BIN_MUL,
    BIN_DIV,
    BIN_MOD,
    BIN_POW
} BinaryOp;
/* "+" etc., as written. */
const char *binary_op_text(BinaryOp op);
const char *unary_op_text(UnaryOp op);

/* A literal's suffix; SUFFIX_NONE where the type comes from the context. Same order as Scalar. */
typedef enum Suffix {
    SUFFIX_NONE,
    SUFFIX_I8,
    SUFFIX_I16,
    SUFFIX_I32,
    SUFFIX_I64,
    SUFFIX_U8,
    SUFFIX_U16,
    SUFFIX_U32,
    SUFFIX_U64,
    SUFFIX_F32,
    SUFFIX_F64
} Suffix;

typedef struct ExprField {
    Name name;
    Span span;
    Expr *value;
} ExprField;
typedef struct Binder {
    Pat *pat;
    Expr *sequence;
} Binder;
typedef struct MatchCase {
    Pat *pat;
    Expr *body;
} MatchCase;
typedef enum LoopKind { LOOP_FOR_COUNT, LOOP_FOR_EACH, LOOP_WHILE } LoopKind;

struct Expr {
    ExprKind kind;
    Span span;
    uint32_t id, depth;
    union {
        struct {
            uint64_t magnitude;
            bool negative;
            Suffix suffix;
        } integer; /* E_INT; `-128i8` folds the sign in */
        struct {
            double value;
            const char *text;
            Suffix suffix;
        } floating;        /* E_FLOAT; text without suffix and '_'; sign folded in too */
        bool boolean;      /* E_BOOL */
        uint8_t character; /* E_CHAR */
        struct {
            const uint8_t *bytes;
            uint32_t n;
        } string;  /* E_STRING, escapes resolved */
        Name name; /* E_NAME */
        struct {
            Expr **items;
            uint32_t n;
        } items; /* E_TUPLE, E_ARRAY */
        struct {
            ExprField *fields;
            uint32_t n;
        } record; /* E_RECORD */
        struct {
            Expr *fn;
            Expr **args;
            uint32_t nargs;
        } apply; /* E_APPLY */
        struct {
            Name name;
            Expr *arg; /* or NULL */
        } ctor;        /* E_CTOR */
        struct {
            UnaryOp op;
            Expr *arg;
        } unary; /* E_UNARY */
        struct {
            BinaryOp op;
            Expr *left, *right;
            Span op_span;
        } binary; /* E_BINARY; sections: the absent side NULL */
        struct {
            Expr *value, *fn;
            bool backward;
        } pipe; /* E_PIPE */
        /* E_RANGE. `second` is NULL without a step; `to` where the end is missing, which the checker reports */
        struct {
            Expr *from, *second, *to;
            bool inclusive;
        } range;
        struct {
            Expr *array, *index;
        } index; /* E_INDEX */
        struct {
            Expr *array, *from, *to; /* NULL when absent */
        } slice;                     /* E_SLICE */
        struct {
            Expr *value;
            Name name;
            Span name_span;
        } field; /* E_FIELD */
        struct {
            Expr *value;
            uint32_t index;
        } project; /* E_PROJECT */
        struct {
            Expr *array, *index, *value;
        } update_index; /* E_UPDATE_INDEX */
        struct {
            Expr *record;
            Name name;
            Span name_span;
            Expr *value;
        } update_field; /* E_UPDATE_FIELD */
        /* E_UPDATE_PART: `part` is what is replaced, as E_INDEX, E_SLICE, E_FIELD and E_PROJECT of `whole` */
        struct {
            Expr *whole, *part, *value;
        } update_part;
        struct {
            Pat *pat;
            Expr *value, *body;
        } let; /* E_LET */
        struct {
            Def *def;
            Expr *body;
        } let_fun; /* E_LET_FUN */
        struct {
            Expr *cond, *then_e, *else_e;
        } if_; /* E_IF */
        struct {
            Expr *subject;
            MatchCase *cases;
            uint32_t n;
        } match; /* E_MATCH */
        struct {
            Pat **params;
            uint32_t nparams;
            Expr *body;
            bool is_accessor; /* (.x), (.0.y) */
        } lambda;             /* E_LAMBDA */
        struct {              /* E_LOOP */
            LoopKind kind;
            Pat *state;
            Expr *init;
            Pat *binder;  /* LOOP_FOR_COUNT: PAT_NAME or PAT_WILD; LOOP_FOR_EACH: any; else NULL */
            Expr *domain; /* count, sequence or condition */
            Expr *body;
        } loop;
        struct {
            Expr *value;
            TypeExpr *type;
        } ascribe; /* E_ASCRIBE */
        struct {
            Expr *body; /* or NULL */
            Binder *binders;
            uint32_t nbinders;
            Expr *guard; /* or NULL */
        } each;          /* E_EACH */
    };
};

/* ---- definitions ---- */
typedef enum DefKind { DEF_VALUE, DEF_TYPE, DEF_IMPORT } DefKind;

struct Def {
    DefKind kind;
    Span span; /* the whole definition */
    Name name; /* DEF_IMPORT: the alias or NULL */
    Span name_span;
    const char *doc;  /* text of the --| comment, or NULL */
    bool is_entry;    /* DEF_VALUE */
    bool is_property; /* DEF_VALUE: named by `-- property`; set by `dpc test`, which compiles it as an entry */
    Name *type_params;
    uint32_t ntype_params; /* 'a 'b, without the quote */
    Span *type_param_spans;
    Pat **params;
    uint32_t nparams;      /* DEF_VALUE and local functions */
    TypeExpr *result;      /* or NULL; DEF_TYPE: the type */
    Expr *body;            /* DEF_VALUE */
    const char *path;      /* DEF_IMPORT */
    struct Module *module; /* DEF_IMPORT: set when it is loaded; NULL after an error */
    uint32_t index;        /* DEF_VALUE at top level: set by the checker */
};

typedef struct Module {
    uint32_t file;
    Def **defs;
    uint32_t ndefs;
    bool is_open; /* more definitions may follow, which use what nothing uses yet */
} Module;

/* Ids are handed out from these counters, shared by all modules of one compilation. */
typedef struct AstIds {
    uint32_t expr_count, pat_count;
} AstIds;

/* Parses a source file. Always returns a module (with the definitions that could be read); errors
 * are in the session's diagnostics. Deep nesting ends in a diagnostic, not in a crash. */
Module *parse_module(Session *s, uint32_t file, AstIds *ids);
/* A file that is one expression: the body of the module's entry EXPRESSION_ENTRY, whose parameters are those of a
 * lambda. */
#define EXPRESSION_ENTRY "expression__"
Module *parse_expression(Session *s, uint32_t file, AstIds *ids);
/* Parses a type alone ("'a -> ['a]"), for the table of primitives. */
TypeExpr *parse_type_text(Session *s, const char *text, AstIds *ids);

#include "support/strbuf.h"
void ast_print(StrBuf *out, const Module *m); /* the `ast` dump: an indented tree */

#endif
