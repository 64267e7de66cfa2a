/* The tokens of a file, for tools that work on its text. The kinds are the parser's (parser.h, generated). */
#ifndef DPC_TOKENS_H
#define DPC_TOKENS_H

#include "support/session.h"

typedef struct Token {
    int kind;
    Span span;
} Token;

typedef VEC(Token) TokenList;

/* All tokens of a file, T_END at the end. What is no token is reported, as when parsing. */
void scan_tokens(Session *s, uint32_t file, TokenList *out);

#endif
