/* The tokens that depend on what stands around them; grammar.js says which. Nothing is kept between two calls. */
#include <tree_sitter/parser.h>

enum { CONDITION_BAR, BAR, POWER_SECTION };

void *tree_sitter_dp_external_scanner_create(void) { return 0; }
void tree_sitter_dp_external_scanner_destroy(void *scanner) { (void)scanner; }
unsigned tree_sitter_dp_external_scanner_serialize(void *scanner, char *buffer)
{
    (void)scanner, (void)buffer;
    return 0;
}
void tree_sitter_dp_external_scanner_deserialize(void *scanner, const char *buffer, unsigned length)
{
    (void)scanner, (void)buffer, (void)length;
}

static bool is_blank(int32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Directly inside the braces of an apply-to-each, where a condition may follow, each `|` begins it. */
static bool scan_bar(TSLexer *lexer, const bool *valid)
{
    lexer->advance(lexer, false);
    if (lexer->lookahead == '|' || lexer->lookahead == '>')
        return false;
    lexer->result_symbol = valid[CONDITION_BAR] ? CONDITION_BAR : BAR;
    return valid[CONDITION_BAR] || valid[BAR];
}

/* Do only blanks and comments stand before a `)`? */
static bool is_before_parenthesis(TSLexer *lexer)
{
    while (is_blank(lexer->lookahead) || lexer->lookahead == '-') {
        if (lexer->lookahead == '-') {
            lexer->advance(lexer, false);
            if (lexer->lookahead != '-')
                return false;
            while (lexer->lookahead != '\n' && !lexer->eof(lexer))
                lexer->advance(lexer, false);
        } else {
            lexer->advance(lexer, false);
        }
    }
    return lexer->lookahead == ')';
}

static bool scan_power(TSLexer *lexer)
{
    lexer->advance(lexer, false);
    if (lexer->lookahead != '*')
        return false;
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
    lexer->result_symbol = POWER_SECTION;
    return is_before_parenthesis(lexer);
}

bool tree_sitter_dp_external_scanner_scan(void *scanner, TSLexer *lexer, const bool *valid)
{
    (void)scanner;
    while (is_blank(lexer->lookahead))
        lexer->advance(lexer, true);
    if (lexer->lookahead == '|' && (valid[BAR] || valid[CONDITION_BAR]))
        return scan_bar(lexer, valid);
    return lexer->lookahead == '*' && valid[POWER_SECTION] && scan_power(lexer);
}
