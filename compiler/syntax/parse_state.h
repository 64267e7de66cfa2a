/* What the scanner and the parser share. Private to compiler/syntax.
 *
 * The scanner settles everything that depends on characters rather than on grammar:
 *
 *     xs[i]     `[` directly behind a value is INDEX_OPEN, any other `[` is ARRAY_OPEN
 *     {e | c}   `|` is FILTER_BAR where the innermost open bracket is `{`, else BAR
 *     t.0.1     digits behind a `.` are PROJECTION, never a float literal
 *     (a **)    `**` before `)` is POW_SECTION, which lets `**` associate to the right
 *     --| text  collected, and handed over with the `def`, `entry`, `type` or `import` that follows */
#ifndef DPC_PARSE_STATE_H
#define DPC_PARSE_STATE_H

#include "support/strbuf.h"
#include "syntax/ast.h"

typedef struct Bracket {
    char open;
    uint32_t at;
    uint32_t open_words; /* how many were open around it */
} Bracket;

/* For advice.c: the last tokens, and the words whose other part is to come. */
enum { RECENT_TOKENS = 32 };
typedef struct RecentToken {
    int kind;
    Span at;
} RecentToken;
typedef struct OpenWord {
    int kind; /* T_LET, T_IF, T_LOOP */
    Span at;
} OpenWord;

typedef struct ParseState {
    Session *session;
    AstIds *ids;
    uint32_t file;
    bool in_type_text; /* 'a is allowed inside types */

    /* ---- scanner ---- */
    int start_token;                 /* sent before the first token: chooses the grammar's start symbol */
    uint32_t offset;                 /* of the next character */
    uint32_t token_end;              /* where the previous token ends: the place of the end of the file */
    uint32_t value_end;              /* where the previous token ends if `[` behind it indexes; else UINT32_MAX */
    VEC(Bracket) brackets;           /* open ones */
    uint32_t open_counts[3];         /* of ( [ { among them */
    bool has_unclosed;               /* a definition began while brackets were open: the innermost of them */
    bool mismatched, closed_nothing; /* the last bracket closed another one than the innermost; none */
    Bracket unclosed;
    bool has_stray; /* in this definition, or no definition: errors of the grammar may be consequences */
    RecentToken recent[RECENT_TOKENS]; /* a ring */
    uint32_t recent_count;
    VEC(OpenWord) words;
    bool has_closed; /* by the last token */
    OpenWord closed;
    StrBuf doc;
    bool has_doc, doc_closed; /* closed: the lines directly below have ended */
    uint32_t doc_line_end;    /* where the last line of the documentation ends */

    /* ---- parser ---- */
    VEC(Expr *) literals;  /* integers, whose range is checked when their sign is known */
    VEC(Expr *) wildcards; /* `_` read as an expression; those that become patterns lose their name */
    bool too_deep;         /* has been reported */
    bool has_quoted_use;   /* of a type variable, reported in this definition */
    Module *module;
    uint32_t def_capacity; /* of module->defs */
    TypeExpr *type;
} ParseState;

#ifndef YY_TYPEDEF_YY_SCANNER_T
#define YY_TYPEDEF_YY_SCANNER_T
typedef void *yyscan_t;
#endif

/* ---- scan_text.c: from the text of a token to its value ---- */
Expr *scan_integer(ParseState *p, Span at, const char *text, uint32_t n);
Expr *scan_float(ParseState *p, Span at, const char *text, uint32_t n);
Expr *scan_character(ParseState *p, Span at, const char *text, uint32_t n); /* with its quotes */
Expr *scan_string(ParseState *p, Span at, const char *text, uint32_t n);
Expr *scan_malformed(ParseState *p, Span at, const char *text, uint32_t n); /* reported already */
Expr *scan_malformed_string(ParseState *p, Span at, const char *text, uint32_t n);
uint32_t scan_projection(ParseState *p, Span at, const char *text, uint32_t n);
void scan_comment(ParseState *p, Span at, const char *text, uint32_t n);
const char *scan_take_doc(ParseState *p); /* or NULL */
void scan_forget_doc(ParseState *p);
void scan_open(ParseState *p, char open, uint32_t at);
void scan_close(ParseState *p, char open); /* the opening partner of what was read */
bool scan_inside_braces(const ParseState *p);
void scan_begin_definition(ParseState *p); /* no bracket is open from here on */
void scan_stray(ParseState *p, Span at, const char *text, uint32_t n);

/* Reports, once, that the input is nested too deeply. */
void report_too_deep(ParseState *p, Span at);

#endif
