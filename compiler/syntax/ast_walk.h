/* A walk over all expressions and types below a definition, in no particular order.
 *
 * Only patterns and types are walked by recursion: their depth is bounded (MAX_SYNTAX_DEPTH), the length of a
 * chain of lets or operators is not. */
#ifndef DPC_AST_WALK_H
#define DPC_AST_WALK_H

#include "syntax/ast.h"

typedef struct AstVisitor {
    void *context;
    void (*expr)(void *context, Expr *e);           /* or NULL */
    void (*pat)(void *context, const Pat *p);       /* or NULL */
    void (*type)(void *context, const TypeExpr *t); /* or NULL */
} AstVisitor;

/* The definition's parameters, declared type and body; its local functions' too. */
void ast_walk(const Def *def, const AstVisitor *v);
void ast_walk_expr(Expr *e, const AstVisitor *v);

#endif
