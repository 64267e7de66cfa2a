/* The arguments of an entry, from the command line and standard input: shared by `dpc run` and the
 * executables that `dpc build` makes, so that both behave the same.
 *
 * Every ARG is one value: a literal in the language's syntax, or the name of a file, perhaps behind a format
 * (`csv:data`). Parameters that the command line leaves out are read from standard input, literals one after another;
 * in another format ("csv:-", or where the type says `text`) one parameter takes all of it. */
#ifndef DP_ARGS_H
#define DP_ARGS_H

#include "dp_value.h"

typedef struct DpParam {
    const char *name; /* for messages */
    const DpType *type;
    DpLeaf *leaves;  /* dp_type_leaves(type) of them; filled by dp_read_args */
    bool is_literal; /* standard input holds literals, also where the type says `text` */
} DpParam;

/* Is the ARG the name of a file? It is unless it can only be a literal: what begins like a literal and has neither a
 * known ending, the prefix of a format, nor a slash. "./1" is always a file; "-" is one value from standard input. */
bool dp_arg_is_file(const char *arg);
/* Is it an option of the program ("-o", "--entry"), not a value such as -3 or -inf, nor "-" or "--"? */
bool dp_arg_is_option(const char *arg);

/* Reads the values of all parameters: argv[0..argc) holds the ARGs alone. On failure false, a message
 * in error (without a newline), and no leaves to free. */
bool dp_read_args(int argc, char *const *argv, const DpParam *params, uint32_t nparams, char *error,
                  size_t error_bytes);

#endif
