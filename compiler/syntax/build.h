/* Constructors of the syntax tree, for the parser's actions. Private to compiler/syntax. */
#ifndef DPC_BUILD_H
#define DPC_BUILD_H

#include "syntax/parse_state.h"

/* A name and where it stands. */
typedef struct NamePlace {
    Name name;
    Span span;
} NamePlace;

/* Lists under construction. Adding to NULL begins one; NULL is also the empty list. */
#define DECLARE_LIST(List, Item, add)                                                                                  \
    typedef struct List {                                                                                              \
        VEC(Item) v;                                                                                                   \
    } List;                                                                                                            \
    List *add(ParseState *p, List *list, Item item);
DECLARE_LIST(NameList, NamePlace, add_name)
DECLARE_LIST(TypeList, TypeExpr *, add_type)
DECLARE_LIST(TypeFieldList, TypeField, add_type_field)
DECLARE_LIST(PatList, Pat *, add_pat)
DECLARE_LIST(PatFieldList, PatField, add_pat_field)
DECLARE_LIST(ExprList, Expr *, add_expr)
DECLARE_LIST(ExprFieldList, ExprField, add_expr_field)
DECLARE_LIST(BinderList, Binder, add_binder)
DECLARE_LIST(CaseList, MatchCase, add_case)
#undef DECLARE_LIST

/* The two fields of a node that hold a list, which is not the empty one. */
#define LIST_OF(list) (list)->v.at, (list)->v.n

/* These copy `content`, number it and compute its depth. Where that would exceed MAX_SYNTAX_DEPTH, the
 * error is reported and a leaf takes the place of the node. */
Expr *build_expr(ParseState *p, Span at, Expr content);
Pat *build_pat(ParseState *p, Span at, Pat content);
TypeExpr *build_type(ParseState *p, Span at, TypeExpr content);

/* ---- expressions with a rule of their own ---- */
/* `operand_at` is where the operand stands with its parentheses: -1 is a literal, -(1) is not. */
Expr *build_unary(ParseState *p, Span at, UnaryOp op, Expr *operand, Span operand_at);
/* Comparisons do not chain, nor do ranges, unless parentheses stand around the left operand. */
Expr *build_binary(ParseState *p, Span at, BinaryOp op, Span op_at, Expr *left, Span left_at, Expr *right);
/* `(.x)` is a lambda, whose body takes parts of what build_accessed gives. */
Expr *build_accessed(ParseState *p, Span at);
Expr *build_accessor(ParseState *p, Span at, Expr *body);
ExprList *join_exprs(ParseState *p, ExprList *list, const ExprList *more);
/* `whole with steps = value`; the steps are taken of each other, in order. */
Expr *build_update(ParseState *p, Span at, Expr *whole, ExprList *steps, Expr *value);
Expr *build_project(ParseState *p, Span at, Expr *value,
                    uint32_t index); /* 0x1.5 is reported: it looks like a number */
Expr *build_range_start(ParseState *p, Span at, Expr *from, Span from_at, Expr *second); /* a..b of a..b..<c */
Expr *build_range(ParseState *p, Span at, Expr *from, Span from_at, Expr *to, bool inclusive);
Expr *build_section(ParseState *p, Span at, BinaryOp op, Span op_at, Expr *left, Span left_at, Expr *right);
Expr *build_apply(ParseState *p, Span at, Expr *fn, Span fn_at, ExprList *args);
/* (a), (a, b), (a, b,) */
Expr *build_tuple(ParseState *p, Span at, ExprList *items, bool ends_in_comma);
Expr *build_wildcard(ParseState *p, Span at);
Expr *build_loop_for_count(ParseState *p, Span at, Pat *state, Expr *init, Pat *counter, Expr *count, Expr *body);

/* ---- patterns ---- */
Pat *build_negative_pat(ParseState *p, Span at, Expr *number);
Pat *build_tuple_pat(ParseState *p, Span at, PatList *items, bool ends_in_comma);
/* Reports literals and constructors, which only `match` may have. Returns the pattern. */
Pat *require_irrefutable(ParseState *p, Pat *pat);
/* { (x, _) in ps | ... }: what was read as an expression turns out to be a pattern. */
Pat *pat_from_expr(ParseState *p, Expr *e);

/* ---- types ---- */
TypeExpr *build_tuple_type(ParseState *p, Span at, TypeList *items, bool ends_in_comma);
TypeExpr *build_type_variable(ParseState *p, Span at, Name name);
TypeExpr *build_sized_by_literal(ParseState *p, Span at, Expr *size, TypeExpr *element);
TypeExpr *build_sized_by_name(ParseState *p, Span at, TypeExpr *size, TypeExpr *element);

/* ---- definitions ---- */
/* The part behind `def`, `entry` or a local function's `let`. */
Def *build_value(ParseState *p, Span at, Name name, Span name_at, NameList *type_params, PatList *params,
                 TypeExpr *result, Expr *body);
/* See parse_expression. */
Def *build_expression_entry(ParseState *p, Expr *e);
Def *build_import(ParseState *p, Span at, Expr *path, Name as, Span as_at, Name alias, Span alias_at);

/* What can only be judged when all has been read: ranges of integers, stray `_`. */
void check_leaves(ParseState *p);

#endif
