#include "types/check_internal.h"

#include "syntax/ast_walk.h"

/* Operators that mean something else than what they look like, and comparisons that are always the same. */

static bool is_number(const Expr *e, uint64_t number)
{
    return e->kind == E_INT && !e->integer.negative && e->integer.magnitude == number;
}

/* `2^10`, `10^n`: who flips bits writes the literal behind. */
static void warn_power(Checker *c, const Expr *e)
{
    const Expr *left = e->binary.left;
    if (!is_number(left, 2) && !is_number(left, 10))
        return;
    diag_warning(c->s, e->binary.op_span, DIAG_XOR_AS_POWER, "`^` is exclusive or");
    diag_note_text(c->s, "a power is written `%u ** …`", (unsigned)left->integer.magnitude);
}

static bool is_unsigned(Checker *c, const Expr *e)
{
    const Type *t = type_prune(c->out->expr_types[e->id]);
    return t->kind == TY_SCALAR && scalar_is_int(t->scalar) && !scalar_is_signed(t->scalar);
}

/* `x >= 0`, `0 <= x`, `x < 0`, `0 > x` of what has no negative numbers. */
static void warn_unsigned(Checker *c, const Expr *e)
{
    const Expr *left = e->binary.left, *right = e->binary.right;
    const BinaryOp op = e->binary.op;
    const bool behind = is_number(right, 0) && is_unsigned(c, left);
    const bool before = is_number(left, 0) && is_unsigned(c, right);
    const bool always = (behind && op == BIN_GE) || (before && op == BIN_LE);
    const bool never = (behind && op == BIN_LT) || (before && op == BIN_GT);
    if (!always && !never)
        return;
    const Type *t = type_prune(c->out->expr_types[(behind ? left : right)->id]);
    diag_warning(c->s, e->span, DIAG_SAME_COMPARISON, "this is always %s", always ? "true" : "false");
    diag_note_text(c->s, "%s has no negative numbers", scalar_name(t->scalar));
}

static void check_operator(void *context, Expr *e)
{
    Checker *c = context;
    if (e->kind == E_BINARY && e->binary.op == BIN_BITXOR)
        warn_power(c, e);
    else if (e->kind == E_BINARY)
        warn_unsigned(c, e);
}

/* Of programs without errors: all expressions have types. */
void warn_operators(Checker *c)
{
    AstVisitor visitor = {.context = c, .expr = check_operator};
    for (uint32_t i = 0; i < c->out->ndefs; i++) {
        const Def *def = c->out->defs[i].def;
        if (is_program(c, scope_of(c, def)))
            ast_walk(def, &visitor);
    }
}
