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
 * number of contexts and threads at once; a context by one thread at a time, and several contexts by several threads,
 * on one queue, too.
 *
 * MISTAKES of callers are errors (status 2) where they can be told: NULL, types, shapes, buffers that are too short or
 * of another cl_context. They cannot where something is used that has been freed or closed, or memory is shorter than
 * was said. A process that was forked cannot use contexts of its parent: calls fail with status 4, dpc_close and values
 * that stay on the device do nothing there.
 *
 * VALUES are sequences of arrays: a type of DP has a scalar or an array of scalars for each of its parts, its *leaves*,
 * from left to right: `[(i32, f64)]` has two, an array of i32 and an array of f64 of the same length; a sum type has
 * the tag, a u8, first. What an array of rank r holds is its numbers, one behind the other, and for each level the
 * lengths of its sequences: on level 0 the one length of the array, on level 1 those of its elements, and so on.
 *
 * BUFFERS. A context can work on a queue of the caller's, in the caller's cl_context: then arguments can lie in buffers
 * of that context, and results stay on the device (dpc_call_device). Arguments are read where they are, without a copy,
 * on PoCL and NVIDIA's OpenCL; others copy them on the device. So are arrays of the host where the device is the CPU.
 * dpc never writes what an argument refers to, and never releases it. Its commands go to the queue in order with the
 * caller's: no events are needed between them. Handles are those of CL/cl.h, which this header does not need:
 * cl_command_queue is struct _cl_command_queue *, cl_mem is struct _cl_mem *. */
#ifndef DPC_H
#define DPC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_command_queue;
struct _cl_mem;
struct _cl_event;

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

/* What the compiler has to say about a program that it has compiled, as dpc would print it; "" if nothing. Lives as
 * long as the program. */
const char *dpc_warnings(const DpcProgram *program);

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

/* The page of `dpc explain`, HTML that needs nothing else: free() it. source NULL: the file `name`. entry NULL: main,
 * or the first one. args NULL: no run is shown; else one on the flat interpreter with these. NULL on failure. */
char *dpc_explain(const char *name, const char *source, const char *entry, const DpcValue *const *args, unsigned count,
                  DpcError *error);

/* ---- contexts: a program on a device ---- */
typedef struct DpcOptions {
    const char *device, *platform; /* as --device, --platform; NULL: the first one */
    uint64_t memory;               /* bytes of the device that may be used at most; 0: all */
    const char *params;            /* tuning parameters, "NAME=VALUE,..."; or NULL */
    const char *tune;              /* a file that dpc tune wrote for this device: for other parameters; or NULL */
} DpcOptions;
DpcContext *dpc_open(const DpcProgram *program, const DpcOptions *options, DpcError *error);
/* On the caller's queue, of an OpenCL context with any devices, whose commands run in order; the options' device and
 * platform are not asked. The queue is retained until the context is closed. Others may use the queue between calls.
 * Calls that need more than the context has taken of the device's memory (256 MB at first) take more. */
DpcContext *dpc_open_queue(const DpcProgram *program, struct _cl_command_queue *queue, const DpcOptions *options,
                           DpcError *error);
void dpc_close(DpcContext *context); /* values that stay on the device live on */

/* Calls an entry. Arguments are only read; the result is the caller's. NULL on failure: of the program (an index out of
 * bounds, with its place) or of memory, after which the context can be used again; of the device, after which all its
 * calls fail. */
DpcValue *dpc_call(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count,
                   DpcError *error);

/* The same, but the result stays on the device until it is freed: as an argument of other calls of this context it is
 * not copied, dpc_leaf says in which buffer its numbers lie, dpc_copy brings them into another one, dpc_fetch to the
 * host. Returns when the call is done: failures are found as ever. */
DpcValue *dpc_call_device(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count,
                          DpcError *error);

/* ---- calls that go on meanwhile ---- */
/* Begins a call and returns; the arguments stay until it is finished. A context's calls run one after the other, in a
 * thread of its own, which handles no signals; other functions of the context wait until all are done. The call begins
 * when the events (of the context's cl_context) are complete; an event that has failed fails it (status 4). */
typedef struct DpcTask DpcTask;
typedef struct DpcStart {
    int on_device;  /* as dpc_call_device; else as dpc_call */
    unsigned waits; /* events to wait for */
    struct _cl_event *const *events;
} DpcStart;
DpcTask *dpc_start(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count,
                   const DpcStart *how /* or NULL: all zeros */, DpcError *error);
/* Waits; the result, or NULL and why; the task is no more. Every task is finished once, before or after its context is
 * closed. */
DpcValue *dpc_finish(DpcTask *task, DpcError *error);
int dpc_is_done(const DpcTask *task); /* dpc_finish would not wait */
/* A user event that is complete when the call is, all its commands with it, or has a negative status when it has
 * failed: for commands of other queues. It lives as long as the task, unless it is retained. */
struct _cl_event *dpc_event(const DpcTask *task);

/* ---- values ---- */
enum { DPC_MAX_RANK = 16 };
typedef struct DpcLeaf {
    const char *scalar;                    /* "bool" (a byte, 0 or 1), "i8" … "i64", "u8" … "u64", "f32", "f64" */
    unsigned rank;                         /* 0: a scalar */
    const uint64_t *lengths[DPC_MAX_RANK]; /* of the sequences of each level */
    uint64_t sequences[DPC_MAX_RANK];      /* how many they are: 1, then the sum of the level before */
    const void *data;                      /* NULL: the numbers are in a buffer, below, and not on the host */
    uint64_t count;                        /* of numbers in data: the sum of the last level's lengths; 1 of a scalar */
    struct _cl_mem *buffer; /* NULL: none. Of a value that stays on the device: to be read only, and asked for anew
                               after each call of the context, which may have moved it */
    uint64_t offset;        /* bytes of the buffer in front of the numbers; a multiple of a number's */
} DpcLeaf;

/* All return NULL where memory ends or the type is wrong; a call with NULL among its arguments fails, so that is the
 * place to look. Data is not copied: it has to stay until the value is freed; lengths and shapes are copied. */
DpcValue *dpc_scalar(const char *scalar, const void *number);
/* A regular array: shape[rank], the last index changes fastest. */
DpcValue *dpc_array(const char *scalar, const void *data, unsigned rank, const uint64_t *shape);
/* Likewise in a buffer of the caller's, which stays as it is until the value is freed, but for what is in it. The value
 * is used by one thread at a time. */
DpcValue *dpc_buffer(const char *scalar, struct _cl_mem *buffer, uint64_t offset, unsigned rank, const uint64_t *shape);
/* Of any type, by its leaves, as many as it has; each in data or in a buffer, which scalars and the tags of sums cannot
 * be in. NULL also where lengths and counts do not add up. */
DpcValue *dpc_value(const char *type, const DpcLeaf *leaves);
/* A literal of DP, "[(1, 2.5)]". */
DpcValue *dpc_literal(const char *type, const char *text, DpcError *error);
void dpc_value_free(DpcValue *value);

unsigned dpc_leaf_count(const DpcValue *value);
DpcLeaf dpc_leaf(const DpcValue *value, unsigned index); /* lives as long as the value */
/* As a literal; free() it. NULL where memory ends, or numbers are in buffers. */
char *dpc_text(const DpcValue *value);

/* Of a value that dpc_call_device has given; by the thread that uses its context. Brings all its numbers to the host,
 * as data of its leaves. 0 on failure, else 1; likewise below. */
int dpc_fetch(DpcValue *value, DpcError *error);
/* The numbers of a leaf into a buffer of the caller's, at an offset in bytes: a command of the queue, which may not be
 * done yet. */
int dpc_copy(const DpcValue *value, unsigned index, struct _cl_mem *buffer, uint64_t offset, DpcError *error);

/* Calls release(owner) when the value is freed, which is when nobody looks at what it refers to any more; in the thread
 * that frees it. Once for a value. */
void dpc_value_own(DpcValue *value, void (*release)(void *owner), void *owner);

/* ---- Arrow ---- */
/* Columns of other programs, by Arrow's C data interface; docs/values.md says which of Arrow's types stand for which of
 * DP's, and what is copied. `type` is that of the value: "[t]" of an array, a column of t; a tuple or record of such
 * types of a struct, a table. Missing values are #none where the type is #none | #c t, and an error elsewhere.
 *
 * The structs are those of the interface's specification; the guards are its own. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* The value takes the array over (array->release is NULL then) and releases it when it is freed. The schema is only
 * read. NULL on failure, and the array is the caller's as before: status 2 and the column's name, or 3. What the
 * array's buffers hold is checked, but not how long they are: nobody says that. */
DpcValue *dpc_from_arrow(const char *type, const struct ArrowSchema *schema, struct ArrowArray *array, DpcError *error);
/* All arrays of the stream, one behind the other: copied where they are several. Releasing the stream is left to the
 * caller. */
DpcValue *dpc_from_arrow_stream(const char *type, struct ArrowArrayStream *stream, DpcError *error);
/* The other way: fills both structs, which their owner releases, as the specification says, in any thread. The array
 * takes the value over, which must not be used any more: it is freed when all of the array has been released. 0 on
 * failure, and the value is the caller's as before: its type is not of the kind above, or its numbers are on a device.
 */
int dpc_to_arrow(DpcValue *value, struct ArrowSchema *schema, struct ArrowArray *array, DpcError *error);

#ifdef __cplusplus
}
#endif
#endif
