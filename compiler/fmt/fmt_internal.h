/* What the parts of the formatter share. */
#ifndef DPC_FMT_INTERNAL_H
#define DPC_FMT_INTERNAL_H

#include "fmt/fmt.h"
#include "syntax/ast.h"
#include "syntax/tokens.h"

/* A column: `delta` to the right of where `token` stands in the result. NOWHERE is the left margin. */
typedef struct Place {
    uint32_t token;
    int delta;
} Place;
#define NOWHERE UINT32_MAX

typedef struct FmtComment {
    const char *text;
    uint32_t n;
    uint32_t column;   /* in the source */
    bool trailing;     /* behind a token, on its line */
    bool blank_before; /* a blank line stands in front of it */
} FmtComment;

enum { MOST_PLACES = 4 };

typedef struct FmtToken {
    int kind;
    const char *text;
    uint32_t n, width; /* bytes, characters */
    uint32_t start, end;
    uint32_t partner; /* brackets: the other one */
    /* ---- as the author wrote it ---- */
    uint32_t first_comment, ncomments; /* between the token before and this one */
    uint32_t column;
    bool adjacent; /* no white space in front */
    bool blank_before;
    bool newline; /* begins a line; the formatter adds some */
    bool added;   /* such a one */
    /* ---- decided by the layout ---- */
    uint8_t gap;
    uint8_t nplaces;
    Place places[MOST_PLACES]; /* the author's column is kept if it is one of these; else it is the first */
    uint32_t level;            /* of nesting: long lines are broken at the outermost; UINT32_MAX: never here */
    uint32_t node;             /* tokens that break a line for the same reason have one number */
    bool break_all;            /* of these tokens, not only as many as needed */
    uint32_t align_head;       /* 1 + the token from which an aligned token's distance is measured */
    uint32_t align_next;       /* 1 + the next token aligned with this one, if the author aligned them */
    /* ---- in the result ---- */
    uint32_t pad, line, at;
} FmtToken;

typedef struct Formatter {
    Session *session;
    uint32_t file;
    const Module *module;
    FmtToken *tokens;
    uint32_t n; /* without the last one, the end */
    VEC(FmtComment) comments;
    uint32_t depth, nodes;
} Formatter;

void fmt_read(Formatter *f);
void fmt_layout(Formatter *f);
void fmt_write(Formatter *f, StrBuf *out);

uint32_t fmt_width(const char *text, uint32_t n); /* in characters */

/* ---- fmt_place.c: tokens ---- */
Place fmt_at(uint32_t token, int delta);
/* The token that begins at or behind an offset. */
uint32_t fmt_token_at(const Formatter *f, uint32_t start);
/* The last token that begins before an offset. */
uint32_t fmt_token_before(const Formatter *f, uint32_t end);
/* The next token of that kind, from `from` on. */
uint32_t fmt_find_token(const Formatter *f, uint32_t from, int kind);
/* Of an expression whose first token, parentheses with it, is `first` */
uint32_t fmt_last_token(const Formatter *f, const Expr *e, uint32_t first);
bool fmt_has_parentheses(const Formatter *f, const Expr *e, uint32_t first);
bool fmt_is_opening(int kind);
bool fmt_is_closing(int kind);

/* ---- fmt_place.c: decisions ---- */
void fmt_place(Formatter *f, uint32_t token, Place first);
void fmt_or_place(Formatter *f, uint32_t token, Place other);
/* A long line may be broken in front of the token. `rank` orders the places of one node. */
enum { RANKS = 4, LAST_RESORT = 1 << 20 };
void fmt_may_break(Formatter *f, uint32_t token, uint32_t node, uint32_t rank, bool all);
uint32_t fmt_new_node(Formatter *f);
Place fmt_base(const Formatter *f, uint32_t first, Place base);
Place fmt_indented(Place p, int by);
/* Between two tokens of an operator's or range's operand there are no blanks. */
bool fmt_is_dense(const Formatter *f, uint32_t first, uint32_t last);
/* An operator that begins a line, perhaps by the formatter's own break, has a blank behind it. */
bool fmt_was_dense(const Formatter *f, uint32_t op);
void fmt_make_dense(Formatter *f, uint32_t op);
/* Tokens that the author put below each other stay so, at the least possible column. */
void fmt_align_pair(Formatter *f, uint32_t above, uint32_t above_head, uint32_t below, uint32_t below_head);

#endif
