/* What tree-sitter's library and a grammar's tables agree on, version 14 of it: the layout of the tables, what a lexer may ask
 * for, and the words in which `tree-sitter generate` writes src/parser.c. Written for this grammar: it has what src/parser.c and
 * src/scanner.c use, and stands where the generator puts a header of its own (./generate keeps this one).
 *
 * The library reads these tables from memory: names, order and widths of all members are its own. */
#ifndef TREE_SITTER_PARSER_H_
#define TREE_SITTER_PARSER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* tree_sitter/api.h, where it comes first, defines these four. */
#ifndef TREE_SITTER_API_H_
typedef uint16_t TSStateId, TSSymbol, TSFieldId;
typedef struct TSLanguage TSLanguage;
#endif

enum { ts_builtin_sym_end = 0 };

/* ---- the text, as the lexers see it: the next character, and what they found ---- */
typedef struct TSLexer TSLexer;
struct TSLexer {
    int32_t lookahead;
    TSSymbol result_symbol;
    void (*advance)(TSLexer *, bool skip);
    void (*mark_end)(TSLexer *);
    uint32_t (*get_column)(TSLexer *);
    bool (*is_at_included_range_start)(const TSLexer *);
    bool (*eof)(const TSLexer *);
};

/* ---- the tables ---- */
typedef struct {
    bool visible, named, supertype;
} TSSymbolMetadata;

/* The fields of a production's children: entries [index, index + length) */
typedef struct {
    uint16_t index, length;
} TSFieldMapSlice;

typedef struct {
    TSFieldId field_id;
    uint8_t child_index;
    bool inherited;
} TSFieldMapEntry;

typedef struct {
    uint16_t lex_state, external_lex_state;
} TSLexMode;

typedef enum {
    TSParseActionTypeShift,
    TSParseActionTypeReduce,
    TSParseActionTypeAccept,
    TSParseActionTypeRecover
} TSParseActionType;

typedef union {
    uint8_t type; /* TSParseActionType, the first byte of all */
    struct {
        uint8_t type;
        TSStateId state;
        bool extra, repetition;
    } shift;
    struct {
        uint8_t type, child_count;
        TSSymbol symbol;
        int16_t dynamic_precedence;
        uint16_t production_id;
    } reduce;
} TSParseAction;

/* An entry, and behind it as many actions as it counts */
typedef union {
    TSParseAction action;
    struct {
        uint8_t count;
        bool reusable;
    } entry;
} TSParseActionEntry;

struct TSLanguage {
    uint32_t version, symbol_count, alias_count, token_count, external_token_count;
    uint32_t state_count, large_state_count, production_id_count, field_count;
    uint16_t max_alias_sequence_length;
    const uint16_t *parse_table, *small_parse_table;
    const uint32_t *small_parse_table_map;
    const TSParseActionEntry *parse_actions;
    const char *const *symbol_names, *const *field_names;
    const TSFieldMapSlice *field_map_slices;
    const TSFieldMapEntry *field_map_entries;
    const TSSymbolMetadata *symbol_metadata;
    const TSSymbol *public_symbol_map;
    const uint16_t *alias_map;
    const TSSymbol *alias_sequences;
    const TSLexMode *lex_modes;
    bool (*lex_fn)(TSLexer *, TSStateId), (*keyword_lex_fn)(TSLexer *, TSStateId);
    TSSymbol keyword_capture_token;
    struct {
        const bool *states;
        const TSSymbol *symbol_map;
        void *(*create)(void);
        void (*destroy)(void *);
        bool (*scan)(void *, TSLexer *, const bool *valid);
        unsigned (*serialize)(void *, char *);
        void (*deserialize)(void *, const char *, unsigned);
    } external_scanner;
    const TSStateId *primary_state_ids;
};

/* ---- the words of src/parser.c: tables ---- */
#define STATE(number) number
#define SMALL_STATE(number) ((number)-LARGE_STATE_COUNT)
#define ACTIONS(index) index
#define ACTION(member, ...) {{.member = {__VA_ARGS__}}}
#define SHIFT(to) ACTION(shift, .type = TSParseActionTypeShift, .state = (to))
#define SHIFT_REPEAT(to) ACTION(shift, .type = TSParseActionTypeShift, .state = (to), .repetition = true)
#define SHIFT_EXTRA() ACTION(shift, .type = TSParseActionTypeShift, .extra = true)
#define REDUCE(made, children, precedence, production) \
    ACTION(reduce, .type = TSParseActionTypeReduce, .child_count = children, .symbol = made, .dynamic_precedence = precedence, \
           .production_id = production)
#define ACCEPT_INPUT() {{.type = TSParseActionTypeAccept}}
#define RECOVER() {{.type = TSParseActionTypeRecover}}

/* ---- and its lexers: functions of (lexer, state), states as cases of a switch, between which these go ---- */
#define START_LEXER() \
    bool result = false, skip = false, eof = false; \
    int32_t lookahead; \
    goto first; \
next_state: \
    lexer->advance(lexer, skip); \
first: \
    skip = false; \
    lookahead = lexer->lookahead; \
    (void)eof
#define GO(to, skipped) \
    { \
        skip = skipped; \
        state = (to); \
        goto next_state; \
    }
#define ADVANCE(to) GO(to, false)
#define SKIP(to) GO(to, true)
/* Pairs of a character and the state behind it */
#define ADVANCE_MAP(...) \
    { \
        static const uint16_t pairs[] = {__VA_ARGS__}; \
        for (unsigned p = 0; p < sizeof pairs / sizeof pairs[0]; p += 2) \
            if (pairs[p] == lookahead) \
                ADVANCE(pairs[p + 1]) \
    }
#define ACCEPT_TOKEN(symbol) \
    result = true; \
    lexer->result_symbol = symbol; \
    lexer->mark_end(lexer)
#define END_STATE() return result

#ifdef __cplusplus
}
#endif

#endif
