/* The way into scanner and parser. */
#include "support/memory.h"
#include "syntax/build.h"
#include "syntax/tokens.h"

#include "parser.h"

#include <stdlib.h>
#include <string.h>

/* Generated from lexer.l. */
struct yy_buffer_state;
int dp_yylex_init_extra(ParseState *extra, yyscan_t *scanner);
int dp_yylex_destroy(yyscan_t scanner);
struct yy_buffer_state *dp_yy_scan_bytes(const char *bytes, int n, yyscan_t scanner);
void *dp_yyalloc(size_t bytes, yyscan_t scanner);
void *dp_yyrealloc(void *at, size_t bytes, yyscan_t scanner);
void dp_yyfree(void *at, yyscan_t scanner);
int dp_yylex(DP_YYSTYPE *value, Span *at, yyscan_t scanner);

/* The scanner's memory: it never fails, for what to do with half of the tokens? */
void *dp_yyalloc(size_t bytes, yyscan_t scanner)
{
    (void)scanner;
    return memory_alloc(bytes, 1);
}

void *dp_yyrealloc(void *at, size_t bytes, yyscan_t scanner)
{
    (void)scanner;
    return memory_resize(at, bytes, 1);
}

void dp_yyfree(void *at, yyscan_t scanner)
{
    (void)scanner;
    free(at);
}

/* A NUL byte means that this is no text; the generated scanner would be slow on many of them. */
static bool reject_binary(ParseState *p, const SourceFile *file)
{
    bool is_utf16 =
        file->length >= 2 && (memcmp(file->text, "\xff\xfe", 2) == 0 || memcmp(file->text, "\xfe\xff", 2) == 0);
    if (is_utf16) {
        diag_error(p->session, span_make(p->file, 0, 1), DIAG_CHARACTER,
                   "this file is in UTF-16; programs are in UTF-8");
        return true;
    }
    const char *nul = memchr(file->text, 0, file->length);
    if (!nul)
        return false;
    uint32_t at = (uint32_t)(nul - file->text);
    diag_error(p->session, span_make(p->file, at, at + 1), DIAG_CHARACTER, "a NUL byte: this is not a text file");
    return true;
}

static bool open_scanner(ParseState *p, yyscan_t *scanner)
{
    const SourceFile *file = p->session->files.at[p->file];
    if (reject_binary(p, file))
        return false;
    bool has_byte_order_mark = file->length >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0;
    p->offset = has_byte_order_mark ? 3 : 0;
    p->value_end = UINT32_MAX;
    dp_yylex_init_extra(p, scanner);
    dp_yy_scan_bytes(file->text + p->offset, (int)(file->length - p->offset), *scanner);
    return true;
}

static void run_parser(ParseState *p)
{
    yyscan_t scanner;
    if (!open_scanner(p, &scanner))
        return;
    dp_yyparse(p, scanner);
    check_leaves(p);
    dp_yylex_destroy(scanner);
    strbuf_free(&p->doc);
}

static Module *parse_from(Session *s, uint32_t file, AstIds *ids, int start_token)
{
    Module *module = arena_new(s->arena, Module);
    module->file = file;
    ParseState p = {.session = s, .ids = ids, .file = file, .module = module, .start_token = start_token};
    run_parser(&p);
    return module;
}

Module *parse_module(Session *s, uint32_t file, AstIds *ids) { return parse_from(s, file, ids, T_START_MODULE); }

Module *parse_expression(Session *s, uint32_t file, AstIds *ids)
{
    return parse_from(s, file, ids, T_START_EXPRESSION);
}

TypeExpr *parse_type_text(Session *s, const char *text, AstIds *ids)
{
    uint32_t file = source_add_text(s, "<type>", text, strlen(text), true);
    ParseState p = {.session = s, .ids = ids, .file = file, .in_type_text = true, .start_token = T_START_TYPE};
    run_parser(&p);
    if (!p.type)
        p.type = build_type(&p, span_make(file, 0, 0), (TypeExpr){.kind = TE_TUPLE});
    return p.type;
}

void scan_tokens(Session *s, uint32_t file, TokenList *out)
{
    AstIds ids = {0, 0};
    ParseState p = {.session = s, .ids = &ids, .file = file};
    yyscan_t scanner;
    if (!open_scanner(&p, &scanner))
        return;
    Token token;
    DP_YYSTYPE value;
    do {
        token.kind = dp_yylex(&value, &token.span, scanner);
        vec_push(s->arena, out, token);
    } while (token.kind != T_END);
    dp_yylex_destroy(scanner);
    strbuf_free(&p.doc);
}
