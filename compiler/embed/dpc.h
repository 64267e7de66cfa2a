/* DP programs, compiled and called from C: link with -ldpc (pkg-config dpc).
 *
 *     DpcError error = {0};
 *     DpcProgram *program = dpc_compile("rows.dp", "entry main (m: [[f32]]) : [f32] = map sum m", &error);
 *     DpcContext *context = program ? dpc_open(program, NULL, &error) : NULL;
 *     DpcValue *m = dpc_array("f32", numbers, 2, (const uint64_t[]){rows, columns});
 *     DpcValue *sums = context ? dpc_call(context, "main", (const DpcValue *[]){m}, 1, &error) : NULL;
 *     if (!sums)
 *         fprintf(stderr, "%s\n", error.text);
 *
 * The library ends no process, prints nothing, and leaves signals and the locale alone. A program may be used by any
 * number of contexts and threads at once; a context by one thread at a time, and several contexts by several threads.
 *
 * VALUES are sequences of arrays: a type of DP has a scalar or an array of scalars for each of its parts, its *leaves*,
 * from left to right: `[(i32, f64)]` has two, an array of i32 and an array of f64 of the same length; a sum type has
 * the tag, a u8, first. What an array of rank r holds is its numbers, one behind the other, and for each level the
 * lengths of its sequences: on level 0 the one length of the array, on level 1 those of its elements, and so on. */
#ifndef DPC_H
#define DPC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DpcProgram DpcProgram;
typedef struct DpcContext DpcContext;
typedef struct DpcValue DpcValue;

/* Why something failed: an exit status of dpc (docs/tools.md: 1 the program's own error, 2 wrong program or arguments,
 * 3 memory, 4 device), and what dpc would print, a line or several. Functions write it when they fail, over what it
 * held. */
typedef struct DpcError {
    int status;
    char *text; /* NULL where memory ended; dpc_error_clear frees it */
} DpcError;
void dpc_error_clear(DpcError *error);

/* ---- programs ---- */
/* The source, NUL-terminated; name: for messages and, as a path, for `import`s of other files. NULL on failure, with
 * the compiler's messages. */
DpcProgram *dpc_compile(const char *name, const char *source, DpcError *error);
DpcProgram *dpc_compile_file(const char *path, DpcError *error);
void dpc_program_free(DpcProgram *program); /* its contexts are closed */

/* An entry of the program; its texts live as long as that. */
typedef struct DpcEntry {
    const char *name;
    unsigned params;
    const char *const *param_names;
    const char *const *param_types; /* as in DP, "[(i32, f64)]" */
    const char *result_type;
    const char *const *sized_params; /* the types with the sizes that are written, "[n][m]f32" for "[[f32]]" */
    const char *sized_result;
    const char *doc; /* the --| comment in front of it, or NULL */
} DpcEntry;
unsigned dpc_entry_count(const DpcProgram *program);
DpcEntry dpc_entry(const DpcProgram *program, unsigned index);

/* ---- contexts: a program on a device ---- */
typedef struct DpcOptions {
    const char *device, *platform; /* as --device, --platform; NULL: the first one */
    uint64_t memory;               /* bytes of the device that may be used at most; 0: all */
    const char *params;            /* tuning parameters, "NAME=VALUE,..."; or NULL */
    const char *tune;              /* a file that dpc tune wrote for this device: for other parameters; or NULL */
} DpcOptions;
DpcContext *dpc_open(const DpcProgram *program, const DpcOptions *options, DpcError *error);
void dpc_close(DpcContext *context);

/* Calls an entry. Arguments are only read; the result is the caller's. NULL on failure: of the program (an index out of
 * bounds, with its place) or of memory, after which the context can be used again; of the device, after which all its
 * calls fail. */
DpcValue *dpc_call(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count,
                   DpcError *error);

/* ---- values ---- */
enum { DPC_MAX_RANK = 16 };
typedef struct DpcLeaf {
    const char *scalar;                    /* "bool" (a byte, 0 or 1), "i8" … "i64", "u8" … "u64", "f32", "f64" */
    unsigned rank;                         /* 0: a scalar */
    const uint64_t *lengths[DPC_MAX_RANK]; /* of the sequences of each level */
    uint64_t sequences[DPC_MAX_RANK];      /* how many they are: 1, then the sum of the level before */
    const void *data;
    uint64_t count; /* of numbers in data: the sum of the last level's lengths; 1 of a scalar */
} DpcLeaf;

/* All return NULL where memory ends or the type is wrong; a call with NULL among its arguments fails, so that is the
 * place to look. Data is not copied: it has to stay until the value is freed; lengths and shapes are copied. */
DpcValue *dpc_scalar(const char *scalar, const void *number);
/* A regular array: shape[rank], the last index changes fastest. */
DpcValue *dpc_array(const char *scalar, const void *data, unsigned rank, const uint64_t *shape);
/* Of any type, by its leaves, as many as it has. NULL also where lengths and counts do not add up. */
DpcValue *dpc_value(const char *type, const DpcLeaf *leaves);
/* A literal of DP, "[(1, 2.5)]". */
DpcValue *dpc_literal(const char *type, const char *text, DpcError *error);
void dpc_value_free(DpcValue *value);

unsigned dpc_leaf_count(const DpcValue *value);
DpcLeaf dpc_leaf(const DpcValue *value, unsigned index); /* lives as long as the value */
/* As a literal; free() it. NULL where memory ends. */
char *dpc_text(const DpcValue *value);

#ifdef __cplusplus
}
#endif
#endif
