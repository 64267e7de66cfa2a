/* The options of executables and of dpc: tables, from which come parsing, help, manual pages and completion.
 *
 * dp_options.def has the options of executables; compiler/commands/options.def has dpc's. Both hold rows
 *
 *     OPTION(ID, name, letter, value, choices, fallback, variable, scope, help)
 *
 * of which a table of DpOption is made. An option has values, of its row's number: NULL where it is not given. */
#ifndef DP_OPTIONS_H
#define DP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct DpOption {
    const char *name;    /* the long form, without its dashes */
    char letter;         /* the short form; 0: none */
    const char *value;   /* what help calls its value; "[=json]": it may have one, behind the "="; "NAME=VALUE,...": and
                            it may be repeated; NULL: it takes none */
    const char *choices; /* the words that it may be, with blanks between; for a value "E,...": a list of them */
    const char *fallback; /* what holds without it, for help; NULL: nothing to say */
    const char *variable; /* the variable of the environment that is asked without it; or NULL */
    unsigned scope;       /* where it is one: bits */
    const char *help;
} DpOption;

/* Scopes: options of executables, those of them that an interpreter cannot serve, those that dpc tune takes, too,
 * those that commands take which only interpret, and those of dpc repl; dpc's commands have others. */
enum {
    DP_IN_PROGRAM = 1,
    DP_FIRST_COMMAND = 2,
    DP_EVERYWHERE = 0x7ffffff,
    DP_ON_DEVICE = 0x10000000,
    DP_IN_TUNING = 0x20000000,
    DP_IN_INTERPRETING = 0x40000000,
    DP_IN_SESSIONS = 0x8000000
};

enum {
#define OPTION(id, ...) DP_OPTION_##id,
#include "dp_options.def"
#undef OPTION
    DP_OPTIONS
};
extern const DpOption dp_program_options[DP_OPTIONS];

/* Reads the options of the scope among argv[1..argc) into values[0..n). What is none is moved, in its order, to
 * argv[1..]: values such as -3, "-", and all behind "--". Returns how many these are, or -1 and a message without a
 * newline. Long options may be shortened, as far as they stay clear. */
int dp_options_parse(const DpOption *rows, uint32_t n, unsigned scope, int argc, char **argv, const char **values,
                     char *error, size_t error_bytes);

/* Two columns: the options of the scope, and what they do. */
void dp_options_print(FILE *out, const DpOption *rows, uint32_t n, unsigned scope);
/* The text and a newline, in lines of at most 100 bytes that begin at the column; the first one is at `at`. */
void dp_print_wrapped(FILE *out, const char *text, int column, int at);
/* The help of one, with its fallback and variable: "the seed (default: 1)". */
void dp_option_help(const DpOption *o, char *text, size_t bytes);

/* --timeout and --memory: "2.5" seconds, more than 0; "4096", "100M" bytes, in k, M, G or T of 1000. A text that is
 * NULL leaves 0. False and a message if a text is another. */
bool dp_parse_limits(const char *timeout, const char *memory, double *seconds, uint64_t *bytes, char *error,
                     size_t error_bytes);
bool dp_parse_seconds(const char *text, double *seconds);
/* A number in decimal digits, at most `most`. */
bool dp_parse_count(const char *text, uint64_t most, uint64_t *value);

#endif
