#include "syntax/ast.h"

const char *binary_op_text(BinaryOp op)
{
    static const char *const texts[] = {
        [BIN_OR] = "||",    [BIN_AND] = "&&", [BIN_EQ] = "==",  [BIN_NE] = "!=",     [BIN_LT] = "<",
        [BIN_LE] = "<=",    [BIN_GT] = ">",   [BIN_GE] = ">=",  [BIN_BITOR] = "|",   [BIN_BITXOR] = "^",
        [BIN_BITAND] = "&", [BIN_SHL] = "<<", [BIN_SHR] = ">>", [BIN_APPEND] = "++", [BIN_ADD] = "+",
        [BIN_SUB] = "-",    [BIN_MUL] = "*",  [BIN_DIV] = "/",  [BIN_MOD] = "%",     [BIN_POW] = "**",
    };
    return texts[op];
}

const char *unary_op_text(UnaryOp op)
{
    static const char *const texts[] = {[UN_NEG] = "-", [UN_NOT] = "!", [UN_COMPLEMENT] = "~"};
    return texts[op];
}
