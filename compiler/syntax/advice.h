/* Advice behind a syntax error. Private to compiler/syntax: the scanner tells about every token, the parser asks. */
#ifndef DPC_ADVICE_H
#define DPC_ADVICE_H

#include "syntax/parse_state.h"

/* What could stand in the place of the token found. */
typedef struct Wanted {
    bool in, then, else_, do_, case_, arrow, assign, colon, semicolon, comma, bracket_close, name;
    bool expression, pattern, type, definition; /* the beginning of one */
    bool behind_expression;                     /* how one goes on */
} Wanted;

/* Called with each token, its brackets being open or closed already. */
void advice_note_token(ParseState *p, int kind, Span at);
/* One line for the user, or NULL. */
const char *advice_for(const ParseState *p, const Wanted *w);
/* The same for the place of an unfinished `let`, `if` or `loop`. */
const char *advice_unfinished(const ParseState *p, const Wanted *w, Span *at);

#endif
