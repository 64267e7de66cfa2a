/* Reads programs by the grammar of editors/tree-sitter-dp. tree_sitter [-p | -t | -q QUERIES] FILE...
 *
 * Without an option: a line `FILE:line:column: …` for the first mistake of each file that the grammar finds. -p: each
 * file is rewritten with parentheses around all that the tree has for an expression, a pattern or a type, so that
 * another parser can say whether it groups them in the same way. -t: the tree. -q: what the queries of a file find, a
 * line `line:column @name text` each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_dp(void);

static char *read_file(const char *path, size_t *n)
{
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        return NULL;
    *n = (size_t)ftell(in);
    rewind(in);
    char *text = malloc(*n + 1);
    if (text && fread(text, 1, *n, in) != *n)
        *n = 0;
    fclose(in);
    return text;
}

/* The first node that is a mistake, in the order of the text. */
static TSNode first_mistake(TSNode node)
{
    for (uint32_t i = 0;
         !ts_node_is_missing(node) && strcmp(ts_node_type(node), "ERROR") != 0 && i < ts_node_child_count(node); i++)
        if (ts_node_has_error(ts_node_child(node, i)) || ts_node_is_missing(ts_node_child(node, i)))
            return first_mistake(ts_node_child(node, i));
    return node;
}

static void print_mistake(const char *path, TSNode root)
{
    if (!ts_node_has_error(root))
        return;
    const TSNode at = first_mistake(root);
    const TSPoint place = ts_node_start_point(at);
    printf("%s:%u:%u: %s %s\n", path, place.row + 1, place.column + 1,
           ts_node_is_missing(at) ? "missing" : "unexpected", ts_node_type(at));
}

static bool is_one_of(const char *kind, const char *const *kinds)
{
    for (; *kinds; kinds++)
        if (strcmp(kind, *kinds) == 0)
            return true;
    return false;
}

/* May parentheses stand around it? Names and numbers are left as they are: some places take nothing else. */
static bool is_group(TSNode node)
{
    static const char *const groups[] = {"application",
                                         "binary_expression",
                                         "unary_expression",
                                         "if_expression",
                                         "let_expression",
                                         "match_expression",
                                         "lambda",
                                         "loop_expression",
                                         "pipe_expression",
                                         "update_expression",
                                         "range_expression",
                                         "index_expression",
                                         "field_expression",
                                         "section",
                                         "accessor",
                                         "array",
                                         "record",
                                         "each",
                                         "tuple",
                                         "parenthesized_expression",
                                         "sum_type",
                                         "function_type",
                                         "type_application",
                                         "sized_array_type",
                                         "array_type",
                                         "record_type",
                                         "tuple_type",
                                         "constructor_pattern",
                                         "negative_pattern",
                                         "tuple_pattern",
                                         "record_pattern",
                                         "typed_pattern",
                                         NULL};
    return ts_node_is_named(node) && is_one_of(ts_node_type(node), groups);
}

static void print_groups(FILE *out, const char *text, TSNode node)
{
    const bool is = is_group(node);
    uint32_t at = ts_node_start_byte(node);
    fputs(is ? "(" : "", out);
    for (uint32_t i = 0; i < ts_node_child_count(node); i++) {
        const TSNode child = ts_node_child(node, i);
        fwrite(text + at, 1, ts_node_start_byte(child) - at, out);
        print_groups(out, text, child);
        at = ts_node_end_byte(child);
    }
    fwrite(text + at, 1, ts_node_end_byte(node) - at, out);
    fputs(is ? ")" : "", out);
}

static void rewrite(const char *path, const char *text, TSNode root)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return;
    fwrite(text, 1, ts_node_start_byte(root), out);
    print_groups(out, text, root);
    fclose(out);
}

static void print_tree(TSNode root)
{
    char *tree = ts_node_string(root);
    puts(tree);
    free(tree);
}

static TSQuery *read_queries(const char *path)
{
    size_t n = 0;
    uint32_t at = 0;
    TSQueryError error = TSQueryErrorNone;
    char *text = read_file(path, &n);
    TSQuery *query = text ? ts_query_new(tree_sitter_dp(), text, (uint32_t)n, &at, &error) : NULL;
    if (!query)
        fprintf(stderr, "%s: mistake %d at byte %u: %.30s\n", path, error, at, text ? text + at : "");
    free(text);
    return query;
}

static void print_found(const TSQuery *query, const char *text, TSNode root)
{
    TSQueryCursor *cursor = ts_query_cursor_new();
    TSQueryMatch match;
    uint32_t k = 0;
    ts_query_cursor_exec(cursor, query, root);
    while (ts_query_cursor_next_capture(cursor, &match, &k)) {
        const TSNode node = match.captures[k].node;
        const TSPoint place = ts_node_start_point(node);
        const uint32_t from = ts_node_start_byte(node);
        uint32_t n = 0;
        const char *name = ts_query_capture_name_for_id(query, match.captures[k].index, &n);
        printf("%u:%u @%.*s %.*s\n", place.row + 1, place.column + 1, (int)n, name,
               (int)(ts_node_end_byte(node) - from), text + from);
    }
    ts_query_cursor_delete(cursor);
}

static bool take_file(TSParser *parser, const char *option, const TSQuery *query, const char *path)
{
    size_t n = 0;
    char *text = read_file(path, &n);
    if (!text)
        return perror(path), false;
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)n);
    const TSNode root = ts_tree_root_node(tree);
    if (query)
        print_found(query, text, root);
    else if (strcmp(option, "-t") == 0)
        print_tree(root);
    else if (strcmp(option, "-p") == 0)
        rewrite(path, text, root);
    else
        print_mistake(path, root);
    ts_tree_delete(tree);
    free(text);
    return true;
}

int main(int argc, char **argv)
{
    TSParser *parser = ts_parser_new();
    const char *option = argc > 1 && argv[1][0] == '-' ? argv[1] : "";
    int i = *option ? 2 : 1;
    bool good = ts_parser_set_language(parser, tree_sitter_dp());
    TSQuery *query = good && strcmp(option, "-q") == 0 && i < argc ? read_queries(argv[i++]) : NULL;
    if (!good)
        fputs("the library cannot read this grammar's tables\n", stderr);
    good = good && (query || strcmp(option, "-q") != 0);
    for (; good && i < argc; i++)
        good = take_file(parser, option, query, argv[i]);
    if (query)
        ts_query_delete(query);
    ts_parser_delete(parser);
    return good ? 0 : 2;
}
