/* The runtime that generated host programs call. Internal to dpc: the generated C and this library are
 * made for each other (DP_RT_VERSION).
 *
 * MEMORY. One buffer of the device, the heap; an address is a byte offset into it (0 is never an element's address).
 * Blocks are sub-ranges of it, 256-byte aligned, reference counted on the host, and reused as soon as they are free:
 * the queue is in order, so a block freed after a launch may be handed out for the next one. The first 256 bytes of the
 * heap hold the error record {i32 state, u32 site, i64 values[3]}.
 *
 * A view is 16 bytes on the device, {u64 len, u64 addr}. The host cannot see which blocks a stored view points
 * into; so every block that holds views has a set of blocks they may point into (DpRefs, immutable, shared, counted),
 * and so does every host array value.
 *
 * OWNERSHIP. DpArr, DpCol and DpCtx* values own a reference. Functions borrow their arguments and return owned
 * results, unless said otherwise. dp_*_release on a zeroed value is harmless.
 *
 * FAILURES. The library neither exits nor prints. The first failure stays in the runtime (dp_failure: a status as in
 * dp_status.h, a message with the place in the program), and from there on nothing is done any more: operations give
 * empty results (zeros, empty contexts), leave the device alone, and still take over what they take ownership of. So a
 * caller may look once, behind several operations; but it must not loop or recurse on what it got without looking.
 * Whatever operations gave, before or after, is released as always, and is good for nothing else once one has failed;
 * what was whole before stays so, and may be used again after dp_clear_failure. */
#ifndef DP_RT_H
#define DP_RT_H

#include "dp_tune.h"
#include "dp_value.h"

/* A program's tables are read as the library's own: the number is raised when what they mean changes, and follows their
 * sizes by itself. */
#define DP_RT_VERSION                                                                                                  \
    ((uint32_t)((8 << 16) + sizeof(DpSite) + sizeof(DpKernel) + 2 * sizeof(DpEntry) + 4 * sizeof(DpProgram)))

typedef struct DpRt DpRt;
typedef struct DpBlock DpBlock;
typedef struct DpRefs DpRefs;
typedef struct DpCtx DpCtx;

typedef struct DpArr {
    uint64_t len, addr;
    DpRefs *refs;
} DpArr; /* an array at depth 0 */
typedef struct DpCol {
    DpBlock *block;
    uint64_t addr, n;
    uint32_t bytes;
} DpCol; /* a column: n elements of `bytes` (1,2,4,8,16) */

/* A number that the device makes and the host waits for: the size of a context, results at depth 0, an element.
 * dp_begin_… has it made and left in the mailbox; dp_await_… takes what that gave, and waits, if it must, for all that
 * was begun before: one read-back brings them together. Each is awaited once, in a failed state too. What has been
 * begun and not awaited takes at most DP_MOST_PENDING words: a nested context DP_PENDING_LENGTHS, results one each,
 * others one. */
enum { DP_MOST_PENDING = 208, DP_PENDING_LENGTHS = 3 };
typedef uint32_t DpPending;

/* A place that can fail; the table is part of the generated program (kinds as in the compiler's ErrorKind;
 * DP_SITE_PLACE: only for dp_at). */
enum { DP_SITE_PLACE = 255 };
typedef struct DpSite {
    uint8_t kind;
    const char *text;
    const char *file;
    uint32_t line, col;
    const char *quote; /* the line, and carets below it, as the compiler quotes it; or NULL */
} DpSite;

/* ---- kernels ---- */
typedef enum DpKernelKind { DP_K_MAP, DP_K_REDUCE, DP_K_SCAN, DP_K_PACK, DP_K_SCATTER, DP_K_HIST } DpKernelKind;
enum { DP_MAX_OUTS = 64 };
typedef struct DpPlace {
    const char *file;
    uint32_t line;
    const char *function; /* the definition there */
} DpPlace;
/* What instances of a regular nest share in a segmented reduction (compiler/plan/access.h), and the bytes of an element
 * of it. shape: how many dimensions matter, and one more for rows' streams; 0: nothing is shared. */
enum { DP_TILE_FLAT = 1, DP_TILE_ROWS, DP_TILE_BLOCKS };
typedef struct DpTile {
    uint8_t shape;
    bool own_rows; /* instances load from rows of their own */
    bool batched;  /* only instances of one instance above the rows share columns */
    uint16_t stream_bytes, row_bytes, column_bytes;
    uint8_t lanes; /* of the vector form; 0: there is none */
    bool vector_pays;
    bool near;           /* its lanes must be neighbouring columns: there must be as many */
    uint8_t batch_lanes; /* of the form whose lanes are batches; 0: there is none, or it does not pay */
} DpTile;
/* How a histogram's values come to those in their bins, where a value is one word: by turns, or by one instruction, of
 * f64 only on some devices. */
typedef enum DpCombining { DP_BY_SWAPS, DP_BY_ATOMIC, DP_ADDS_F64 } DpCombining;
typedef struct DpKernel {
    DpKernelKind kind;
    const char *name; /* "main_3_reduce": names the function, number and kind */
    DpPlace place;
    uint32_t in_bytes;      /* of the elements that an instance reads from columns and arrays: an estimate */
    uint32_t segment_bytes; /* those of them that it shares with all of its segment */
    uint32_t kept_bytes;    /* REDUCE: of the columns that it stores beside, of each element */
    const char *source; /* the holes, see runtime/kernels/README.md; the runtime puts kernels/common.cl before and the
                           template behind */
    uint32_t same;      /* 1 + the number of a kernel before that is the same, and built for both; 0: there is none */
    uint32_t nwords;    /* argument words */
    uint32_t nouts;     /* output columns (SCATTER, HIST: arrays) */
    uint8_t out_bytes[DP_MAX_OUTS]; /* element sizes of the outputs; a MAP with more is split by the compiler */
    uint32_t val_size;              /* sizeof(dp_val) */
    uint32_t val_bytes;             /* the same, up to a multiple of 16 */
    uint32_t cost;                  /* of an element, in statements; 0: not known, there are loops */
    DpPlace library;                /* if the place calls the library: where that has it; else file is NULL */
    const DpPlace *fused;           /* nfused other places whose code is in it */
    uint32_t nfused;
    uint32_t segment_free; /* an element does not look at its segment in variants that have all of these bits; 0: it
                              does in every variant, DP_SEGMENT_NEVER: in none */
    bool fallible;         /* an element may record a failure */
    bool contracts;        /* products and sums may be one operation, rounded once (compiler/opencl/contract.c) */
    bool long_body;        /* several elements side by side would take too long to compile */
    bool across;           /* MAP: most of its loads lie side by side for neighbouring segments */
    bool combines;         /* SCATTER: with what is there, by an operator */
    uint8_t
        swap_bytes;    /* HIST, and SCATTER that combines: of a value that one compare-and-swap holds; 0: it does not */
    uint8_t combining; /* likewise: DpCombining */
    const char *vector; /* the holes once more, for several instances side by side; NULL: there are none */
    uint8_t lanes;      /* how many these are for */
    bool vector_pays;   /* it is probably faster */
    bool vector_inside; /* MAP: operations of each instance's lane go by vectors, not instances side by side */
    uint32_t spills; /* MAP: a vector may go beyond the end of its segment in variants that have all of these bits; 0:
                        in none, DP_SPILLS_ALWAYS: in all */
    DpTile tile;     /* REDUCE; of a MAP the vector form for turned squares */
} DpKernel;
#define DP_SEGMENT_NEVER UINT32_MAX
#define DP_SPILLS_ALWAYS UINT32_MAX

/* ---- the program ---- */
typedef union DpArg {
    uint64_t bits;
    DpArr arr;
} DpArg; /* one leaf: scalar bits, or array */
typedef struct DpEntry {
    const char *name, *signature;
    const char *const *param_names;
    const char *const *param_types; /* texts for dp_type_parse */
    uint32_t nparams;
    const char *result_type;
    uint32_t nargs, nresults;                                                        /* leaves */
    void (*run)(DpRt *rt, const struct DpEntry *entry, DpArg *args, DpArg *results); /* takes ownership of args */
    const void *plan; /* for `run` of programs that are not compiled; else NULL */
} DpEntry;
typedef struct DpProgram {
    uint32_t version; /* DP_RT_VERSION */
    const char *file; /* the .dp file's name */
    const DpKernel *kernels;
    uint32_t nkernels;
    const DpSite *sites;
    uint32_t nsites;
    const DpEntry *entries;
    uint32_t nentries;
    DpTune tune; /* what it has been made with; or none */
} DpProgram;
/* ---- opening and closing ----
 * A process may have several runtimes, one after the other and at once; each is used by one thread at a time. What they
 * share is locked, or set once: the folder where PoCL keeps its kernels is an environment variable, set before the
 * first is opened. */
typedef struct DpOpenOptions {
    const char *device, *platform; /* as given by --device, --platform; or NULL */
    bool profile;
    bool optimised;                  /* all kernels from the start: times are taken */
    uint64_t memory;                 /* bytes that the heap may have at most; 0: as many as there are */
    const char *params;              /* tuning parameters, "NAME=VALUE,..."; or NULL */
    DpTune tune;                     /* for those that `params` leaves; or none */
    bool tune_required;              /* it has to be for this device, else opening fails */
    bool *asked;                     /* of each parameter of params.h, to be set when it is asked for; or NULL */
    const struct DpBackend *backend; /* the one that devices are from (runtime/device.h); NULL: any */
    void *
        queue; /* a cl_command_queue of the caller's, whose device it is, instead of `device` and `platform`; or NULL */
} DpOpenOptions;

/* Are the tuning parameters so? False and a message if not. All are printed, with what holds without them, by the other
 * one. */
bool dp_params_check(const char *text, char *error, size_t error_bytes);
void dp_params_print(FILE *out);

/* Why the runtime could not be opened. */
typedef struct DpOpenError {
    int status; /* as in dp_status.h */
    char text[512];
} DpOpenError;
/* The program has to live as long. NULL, and why, on failure. */
DpRt *dp_rt_open(const DpProgram *program, const DpOpenOptions *options, DpOpenError *error);
/* Why the tune file is not used: "f.tune:2: not used: ..."; NULL: there is none, or it is. */
const char *dp_tune_note(const DpRt *rt);
bool dp_has_gpu_shape(const DpRt *rt); /* are its kernels those for GPUs? */
/* The device's name as tune files have it, and its driver's. */
void dp_device_title(const DpRt *rt, char *text, size_t bytes);
void dp_device_driver(const DpRt *rt, char *text, size_t bytes);
void dp_rt_close(DpRt *rt); /* in any state; arrays, columns and contexts have been released */
/* At the process's end, when all runtimes are closed. What is left behind without it is removed a little later. */
void dp_process_end(void);
/* Everything main does: options, arguments, runs, result, exit status. */
int dp_main(int argc, char **argv, const DpProgram *program);
/* The same where the profile is what is wanted: that goes to standard output, the result only to --output. */
int dp_profile_main(int argc, char **argv, const DpProgram *program);
/* What --profile=TEXT asks for, "json", "trace:FILE", both with a comma between, or nothing: the table. *trace: the
 * file's name, in the text, or NULL. False: it is none of these. */
bool dp_profile_form(const char *text, bool *json, const char **trace);

typedef struct DpFailure {
    int status; /* 0: none */
    const char *message;
    const char *log; /* NULL, or what the device's compiler said about a kernel */
} DpFailure;
bool dp_failed(const DpRt *rt);
/* What the run under way has taken so far: launches, waits for the device, blocks of the heap. */
typedef struct DpCounts {
    uint64_t launches, read_backs, blocks;
} DpCounts;
DpCounts dp_counts(const DpRt *rt);
DpFailure dp_failure(const DpRt *rt); /* the texts are the runtime's, until dp_clear_failure */
/* Between runs of entries: goes on after a failure of the program or of memory. False after one of the device, which
 * cannot be trusted any more: dp_rt_close is all that is left. */
bool dp_clear_failure(DpRt *rt);
/* The program's own failure at a site, on the host. */
void dp_fail(DpRt *rt, uint32_t site, int64_t v0, int64_t v1, int64_t v2);
/* Where the program is now, a site: the place of failures that may happen anywhere, memory and levels. */
void dp_at(DpRt *rt, uint32_t site);
/* Levels of recursive functions; dp_enter fails with "recursion too deep" beyond the limit. `level` is the caller's,
 * until dp_leave. */
typedef struct DpLevel DpLevel;
struct DpLevel {
    DpLevel *outer;
    const char *function;
    uint32_t
        run; /* of a lifted function: how many of its levels lie directly one in the other, this included; else 0 */
    uint64_t held; /* of a lifted function: bytes of the heap that stay taken until it returns, at least */
};
void dp_enter(DpRt *rt, DpLevel *level, const char *function);
void dp_leave(DpRt *rt);
/* A level of a lifted function launches kernels: a hundred times as slow, and as much less deep. n instances of these
 * arguments: fails as well when the function is called as it was at the level above (dp_progress.h). */
void dp_enter_lifted(DpRt *rt, DpLevel *level, const char *function, uint64_t n, uint32_t count, const DpCol *cols,
                     const uint8_t *element_bytes /* 0 of scalars; DP_VIEW_BYTES where elements are arrays */);

/* Of the lifted function at hand: before its next level is complete, it takes so many bytes for each instance of c. */
void dp_need(DpRt *rt, const DpCtx *c, uint32_t bytes);

/* Timelines: what the host does until dp_span_end belongs to this; they nest. Texts stay. */
typedef struct DpSpan {
    const char *name;
    const char *file; /* NULL: no line */
    uint32_t line;
    bool numbered; /* by `number`, which stands behind the name */
    uint64_t number;
} DpSpan;
bool dp_traces(const DpRt *rt); /* else spans are nothing */
void dp_span_begin(DpRt *rt, const DpSpan *span);
void dp_span_end(DpRt *rt);

/* ---- references ---- */
DpArr dp_arr_retain(DpArr a);
void dp_arr_release(DpRt *rt, DpArr *a); /* and zeroes it; likewise below */
DpCol dp_col_retain(DpCol c);
void dp_col_release(DpRt *rt, DpCol *c);
DpCtx *dp_ctx_retain(DpCtx *c);
void dp_ctx_release(DpRt *rt, DpCtx **c);
/* The part of length `len` that begins `bytes` behind the start. */
static inline DpArr dp_arr_part(DpArr a, uint64_t len, uint64_t bytes)
{
    DpArr part = dp_arr_retain(a);
    part.len = len;
    part.addr += bytes;
    return part;
}

/* Reference sets. `dp_refs_of_*(…, depth)`: the blocks where the elements reached after `depth` further indexings
 * lie: depth 0 of an array [[f32]] is the blocks holding its rows' views, depth 1 those holding the rows' numbers. For
 * a column of views, depth 0 is what its views point into. NULL is the empty set. All return owned sets. */
DpRefs *dp_refs_of_arr(DpRt *rt, const DpArr *a, uint32_t depth);
DpRefs *dp_refs_of_col(DpRt *rt, const DpCol *c, uint32_t depth);
DpRefs *dp_refs_union(DpRt *rt, DpRefs *a, DpRefs *b); /* takes ownership of both */
void dp_refs_release(DpRt *rt, DpRefs *r);
/* What the views of a fresh column (or of a fresh array's elements) may point into. Takes ownership of refs. The views
 * that dp_scatter returns point into known blocks; for its columns dp_col_set_refs speaks of the elements there. */
void dp_col_set_refs(DpRt *rt, DpCol *c, DpRefs *refs);
void dp_arr_set_element_refs(DpRt *rt, DpArr *a, DpRefs *refs);

/* Views that lie one behind the other are known by their base and offsets, and are only written when a kernel will read
 * them. The address of a column, or of an array whose elements are views, for a kernel: */
uint64_t dp_col_addr(DpRt *rt, const DpCol *c);
uint64_t dp_arr_addr(DpRt *rt, const DpArr *a);

/* ---- contexts ---- */
DpCtx *dp_ctx_fn(DpRt *rt, uint64_t n);
DpCtx *dp_nested_root(DpRt *rt, uint64_t n); /* one segment of n elements at depth 0 */
/* The least of the lengths, or 0, their sum as a size, and for each where it begins: running sums, for dp_pieces. */
DpCol dp_lengths(DpRt *rt, DpCtx *c, const DpArr *lengths, int64_t *least, int64_t *total);
/* The same, for pieces of an array of `total` elements: where one is negative, or the sum another, this is failure
 * `negative` or `nest` of the program's. On a GPU they are made when something is first done with them, and the host
 * may not wait to know; until it does the pieces fit. */
DpCol dp_starts(DpRt *rt, DpCtx *c, const DpArr *lengths, int64_t total, uint32_t negative, uint32_t nest);
/* Views of the array's pieces, which together are all of it. starts: of these two. */
DpCol dp_pieces(DpRt *rt, DpCtx *c, const DpCol *starts, const DpArr *of, uint32_t bytes);
DpPending dp_begin_nested_views(DpRt *rt, DpCtx *up, const DpCol *views); /* lengths of the views */
DpCtx *dp_nested_regular(DpRt *rt, DpCtx *up,
                         uint64_t length); /* all of one length, which the host knows: nothing is stored or read back */
DpPending dp_begin_nested_lens(DpRt *rt, DpCtx *up, const DpCol *lens); /* i64 lengths */
/* cols: of views or lengths, whose totals on each side the host shall know if the instances are few (at most 4 of
 * them). */
DpPending dp_begin_split(DpRt *rt, DpCtx *ctx, const DpCol *cond, uint32_t nsums, const DpCol *cols);
/* The lengths in column `out` of ctx (views', or numbers) come to what those of the columns do over ctx's instances,
 * and `each` for each instance. from: of each column, ctx or above. */
void dp_col_set_total(DpRt *rt, DpCol *out, DpCtx *ctx, uint32_t n, const DpCol *cols, DpCtx *const *from,
                      uint64_t each);
DpCtx *dp_await_ctx(DpRt *rt, DpPending p);
void dp_await_split(DpRt *rt, DpPending p, DpCtx **yes, DpCtx **no);
uint64_t dp_ctx_n(const DpCtx *c);
/* Are its instances so many that each had better be executed by one lane? site: where the two versions are; of: what
 * the flattened one is (params.h). cells: of reductions in an instance, each of `length` elements, that share what they
 * read; length 0: there are none. */
uint64_t dp_many(DpRt *rt, const DpCtx *c, uint32_t site, uint32_t of, uint64_t cells, uint64_t length);
/* The plan is interpreted: a CPU goes on with long loops of numbers (host-rounds). */
void dp_rt_interpreted(DpRt *rt);
/* A tuning parameter: which, as a DpTuning (params.h). */
uint64_t dp_tuning(const DpRt *rt, uint32_t of);
/* Has a round of a loop, so many statements of work, `wide` of them in operations that may go by vectors, so little to
 * do that one lane had better do all of them instead of so many launches in each? on_gpu: what these come to there. */
uint64_t dp_few(DpRt *rt, uint64_t work, uint64_t wide, uint32_t launches, uint32_t on_gpu, uint32_t site);
/* Memory for the lanes that execute them; nothing is in it. gives: they give arrays, which stay there. of: a LaneOf
 * (params.h). If a lane found it too small, what its kernel gave means nothing: dp_lanes_fitted,
 * asked directly behind the kernel, says so, and forgets that. */
DpArr dp_lane_memory(DpRt *rt, const DpCtx *c, bool gives, uint32_t of);
/* Of the memory of one lane that executes a loop, directly in front of the launch: the loop's state begins as this
 * array, whose elements have so many bytes. A long one is copied there by the device, which is faster than the lane. */
void dp_lane_begins(DpRt *rt, const DpArr *memory, const DpArr *array, uint32_t bytes);
uint64_t dp_lanes_fitted(DpRt *rt, uint32_t n, const DpCol *results, uint32_t site);
/* The instances of c as a context SELECTED directly from `ancestor`, which is c or above it (paths are composed, so
 * that the contexts between need not live on). A loop's active set hangs on the loop's context, however many rounds
 * there were. */
DpCtx *dp_ctx_below(DpRt *rt, DpCtx *c, DpCtx *ancestor);
/* Words for bodies, see below. */
uint64_t dp_ctx_offsets(DpRt *rt,
                        DpCtx *nested); /* n_up+1 u64 offsets, as a word of kernels/common.cl; 0 where up is depth 0 */
uint64_t dp_path(DpRt *rt, DpCtx *from,
                 DpCtx *to); /* indices into `to`, as a word of kernels/common.cl; 0: the identity. Cached in `from`.
                                For NESTED from with up == to: the segment of each element */
/* Elements of `views` (a column of up(c)) in c: word[0] = base address if contiguous, else 0; word[1] = address of
 * views. Returns 1 if contiguous. */
uint32_t dp_elem_words(DpRt *rt, const DpCol *views, DpCtx *c, uint64_t word[2]);
/* The same, for elements of so many bytes: views that a kernel computed are looked at once, whether they are
 * contiguous. */
uint32_t dp_elem_words_of(DpRt *rt, const DpCol *views, DpCtx *c, uint32_t element_bytes, uint64_t word[2]);

/* The elements of `a` that are arrays (level 0), or what is found by `level` + 1 indexings: where a view is that lies
 * at `address`, if all are equally long and lie one behind the other. Returns 1 if so: then view k of a's own is
 * {word[1], word[0] + k * word[1] * bytes}, and at deeper levels the one at `address`, k being address / 16. Else
 * word[1] = DP_NO_ROWS. */
#define DP_NO_ROWS UINT64_MAX
uint32_t dp_row_words(DpRt *rt, const DpArr *a, uint32_t level, uint64_t word[2]);

/* ---- loops whose rounds are begun before the host looks (looks.c) ----
 * Before the loop dp_looks, with the number of the state's variables. In front of each round dp_look; what the state
 * is, by dp_keep and dp_keep_arr; then, as long as dp_look_next says so, dp_looked for the scalars of the next state
 * that is to be looked at, from which the condition is computed that dp_look_next is told; dp_looked_arr for all
 * arrays; and dp_look_goes: is the round to be executed? In rounds dp_late: which state what is pending becomes, as
 * pairs of the state's number and the word's. */
void dp_looks(DpRt *rt, uint32_t nstate);
void dp_late(DpRt *rt, DpPending p, uint32_t n, const uint8_t *states);
bool dp_look(DpRt *rt);
void dp_keep(DpRt *rt, uint32_t i, DpScalar scalar, const void *value);
void dp_keep_arr(DpRt *rt, uint32_t i, const DpArr *a);
bool dp_look_next(DpRt *rt, bool goes);
void dp_looked(DpRt *rt, uint32_t n, const uint8_t *scalars, const uint8_t *states, uint64_t *bits);
void dp_looked_arr(DpRt *rt, uint32_t i, DpArr *a);
bool dp_look_goes(DpRt *rt);

/* ---- kernels over contexts ----
 * words: nwords argument words of the body, in the compiler's order (the scheme is documented in emit_kernel.h).
 * variant: bits that select compiled variants (-DDP_VARIANT=bits). Outputs are allocated here; columns that hold views
 * need dp_col_set_refs afterwards. */
void dp_map(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, DpCol *outs);
/* The same, of one column of numbers, that is written over these rows' elements, or over the array's where there are no
 * rows, if these operands are given (they end here) and nobody else holds what is changed. The array may be what the
 * rows are of. stays: which instances (with rows: rows), stays_in_rows: which places of each row are known to stay as
 * they are: a MapStays (params.h), by a bound. */
void dp_map_over(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, DpCol *outs,
                 uint32_t nrows, const DpCol *rows, const bool *rows_given, uint32_t narrays, const DpArr *arrays,
                 const bool *arrays_given, uint32_t stays, int64_t bound, uint32_t stays_in_rows,
                 int64_t bound_in_rows);
/* The same over one instance or n at depth 0 is never needed: the host does it. [results of body] for each instance,
 * `count` each: outs[0] is a column of views. */
DpCol dp_array(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *ctx, const uint64_t *words, uint32_t count,
               DpRefs *element_refs);
DpArr dp_array_root(DpRt *rt, const void *elements, uint32_t bytes, uint64_t count,
                    DpRefs *element_refs); /* copies host memory; views as {len, addr}; takes the refs */
/* `ways` contexts; positions: bit w says that the way from context w to c is asked for. Then cols[j] of context of[j].
 */
DpPending dp_begin_pack(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, uint32_t ways,
                        uint32_t positions);
void dp_await_pack(DpRt *rt, DpPending p, uint32_t ncols, const uint8_t *of, DpCol *cols, uint32_t ways,
                   DpCtx **const *contexts);
/* Instead of dp_await_pack: the columns, of scalars, as arrays of the segments that were packed. The host does not
 * wait. */
void dp_packed_views(DpRt *rt, DpPending p, uint32_t ncols, const uint8_t *of, DpCol *views, uint32_t ways);
void dp_reduce(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words,
               DpCol *outs); /* columns of up(c) */
DpPending dp_begin_reduce_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words);
/* Its results as arrays of one. */
void dp_reduce_stays(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpArr *outs);
/* Such a reduction over rows gives -1 if all are that long, else the greatest length. Nothing is launched where that is
 * known. */
DpPending dp_begin_check_rows(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words,
                              const DpArr *rows, int64_t size);
void dp_scan(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words,
             DpCol *outs); /* columns of c */
/* c is nested by one length in a context over depth 0: columns of the same turned, element k of segment s being element
 * s of segment k. */
void dp_scan_turned(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, DpCol *outs);
/* dests (borrowed): columns of views of up(c), or with up at depth 0 the arrays. consume[i]: the caller drops dests[i]
 * right after, and the body does not read it: if nobody else holds it (it has one reference) it is updated in place and
 * outs[i] is a retained dests[i]. */
void dp_scatter(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpCol *dests,
                const bool *consume, DpCol *outs);
void dp_scatter_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpArr *dests,
                     const bool *consume, DpArr *outs);
void dp_hist(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, const DpCol *size,
             DpCol *outs);
/* The same number of bins for all segments. */
void dp_hist_regular(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, int64_t size,
                     DpCol *outs);
void dp_hist_root(DpRt *rt, uint32_t kernel, uint32_t variant, DpCtx *c, const uint64_t *words, int64_t size,
                  DpArr *outs);

/* ---- moves, no user code ---- */
DpCol dp_elems(DpRt *rt, const DpCol *views, DpCtx *c, uint32_t bytes);  /* alias where contiguous; refs follow */
DpCol dp_elems_root(DpRt *rt, const DpArr *a, DpCtx *c, uint32_t bytes); /* always an alias */
DpCol dp_views(DpRt *rt, DpCtx *c,
               const DpCol *data); /* c nested over a context, or packed from one: a column of its views, in up */
DpArr dp_views_root(DpRt *rt, DpCtx *c, const DpCol *data); /* likewise over depth 0 */
DpCol dp_select(DpRt *rt, const DpCol *col, DpCtx *from,
                DpCtx *to); /* `to` is SELECTED below `from`: the column for its instances (alias if identity) */
DpCol dp_merge(DpRt *rt, DpCtx *ctx, uint32_t nparts, DpCtx *const *parts,
               const DpCol *cols);                      /* as FLAT_S_MERGE, one column */
DpCol dp_new_col(DpRt *rt, uint64_t n, uint32_t bytes); /* uninitialised */
/* out[at(part -> ctx)] = values; refs of `values` are added to out's. */
void dp_put(DpRt *rt, DpCol *out, DpCtx *ctx, DpCtx *part, const DpCol *values);
/* In a loop: the state of the instances `no` of `active`, which stop, goes into the loop's result (a column of ctx);
 * that of `yes` becomes the state. Arrays of the two do not overlap, so that the running ones can go on changing theirs
 * in place. crowded: those that stop are stored anew if that may free blocks (dp_select_apart). rank, bytes: as for
 * dp_compact; rank 0: scalars. */
void dp_retire(DpRt *rt, DpCol *state, DpCtx *active, DpCtx *no, DpCtx *yes, DpCol *result, DpCtx *ctx, bool crowded,
               uint32_t rank, uint32_t bytes);
DpCol dp_concat(DpRt *rt, uint32_t n, const DpCol *cols); /* one behind the other; refs united */
DpCol dp_slice_col(DpRt *rt, const DpCol *col, uint64_t from, uint64_t n);
DpCol dp_flatten(DpRt *rt, DpCtx *ctx, const DpCol *views,
                 uint32_t element_bytes); /* column of [[t]] views to column of [t] views */
DpArr dp_flatten_root(DpRt *rt, const DpArr *a, uint32_t element_bytes);
/* Of the keys' and columns' elements: DpScalar. first, last: if one of them is above 0, only so many of the first
 * elements and of the last have to be in their places; the others are any. */
typedef struct DpSortTypes {
    uint32_t nkeys;
    const uint8_t *keys;
    uint32_t ncolumns;
    const uint8_t *columns;
    int64_t first, last;
} DpSortTypes;
/* Within each instance the columns in the order of the keys, the first most significant, stable; all are equally long.
 * outs: with `positions` (1, else 0) the i64 that they come from, then a result for each column. */
void dp_argsort(DpRt *rt, uint32_t positions, DpCtx *ctx, const DpSortTypes *types, const DpCol *keys,
                const DpCol *columns, DpCol *outs);
void dp_argsort_root(DpRt *rt, uint32_t positions, const DpSortTypes *types, const DpArr *keys, const DpArr *columns,
                     DpArr *outs);
/* `consume`: the caller drops arrays right after; those that nobody else holds are changed in place. `masked`: where
 * the index is out of range nothing is changed, and nothing copied. */
DpCol dp_update(DpRt *rt, DpCtx *ctx, const DpCol *arrays, bool consume, bool masked, const DpCol *index,
                const DpCol *values);
DpArr dp_update_root(DpRt *rt, const DpArr *a, bool consume, int64_t index, const void *value, uint32_t bytes,
                     DpRefs *value_refs);

/* ---- compaction ----
 * A loop takes its limit before it begins. Between two rounds in which dp_heap_pressure says so, the arrays of its
 * state are stored anew if that frees more than it copies, and the limit is taken again. rank: of the arrays, at least
 * 1; bytes: of a scalar. */
typedef struct DpLimit {
    uint64_t bytes, blocks;
} DpLimit;
DpLimit dp_limit(const DpRt *rt);
bool dp_heap_pressure(const DpRt *rt, const DpLimit *limit);
void dp_compact(DpRt *rt, DpCol *views, uint32_t rank, uint32_t bytes);
/* As dp_select, for arrays that stay when the other instances' go on: their elements may be stored anew. */
DpCol dp_select_apart(DpRt *rt, const DpCol *views, DpCtx *from, DpCtx *to, uint32_t rank, uint32_t bytes);
void dp_compact_root(DpRt *rt, DpArr *a, uint32_t rank, uint32_t bytes);

/* ---- the host looks ---- */
/* Element `index` of an array at depth 0. */
DpPending dp_begin_read(DpRt *rt, const DpArr *a, uint64_t index, DpScalar scalar);
DpPending dp_begin_read_view(DpRt *rt, const DpArr *a, uint64_t index);
/* The n results of a reduction, or the element; bits as in core constants. */
void dp_await_scalars(DpRt *rt, DpPending p, uint32_t n, const uint8_t *scalars /* DpScalar */, uint64_t *bits);
DpArr dp_await_view(DpRt *rt, DpPending p);
/* Waits for what was launched, and reports a failure recorded by a kernel. */
void dp_check(DpRt *rt);

/* ---- host scalar semantics, the same as core_prim_apply: static inline functions for generated code are in
 * dp_scalar.h ---- */

/* ---- entries: values in and out ---- */
/* A call: its arguments to the device, the entry, which takes them over, its results to the host. `leaves`: as many as
 * the entry has, with their scalars and ranks (dp_leaves_init); those of results are filled, by malloc. */
void dp_upload_args(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves, DpArg *args);
/* For several calls with the same arguments: a device with memory of its own keeps their numbers beside the heap, from
 * where dp_upload_args copies them, until dp_forget_args. */
void dp_keep_args(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves);
void dp_forget_args(DpRt *rt);
/* Between the upload and a run that is timed: the device waits for work, and its driver has had some. (The first launch
 * behind 400 MB takes 27 us on an NVIDIA GPU, behind this 9.) */
void dp_settle(DpRt *rt);
/* A failure of the program is known when it returns; what cannot fail may still run (dp_check). */
void dp_run(DpRt *rt, const DpEntry *entry, DpArg *args, DpArg *results);
void dp_download_results(DpRt *rt, const DpEntry *entry, const DpArg *results, DpLeaf *leaves);
void dp_scalar_result(DpRt *rt, uint64_t bits, DpLeaf *leaf);
void dp_release_results(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves, DpArg *results);
/* Where the stack of the thread that runs entries ends (dp_stack.h): as deep a program may recurse. 0: not known, then
 * levels are counted. */
void dp_set_stack(DpRt *rt, uintptr_t stack_end);
DpArr dp_upload(DpRt *rt, const DpLeaf *leaf); /* rank >= 1; nested ones are contiguous, offsets kept */

/* ---- memory of others (outside.c) ----
 * A call's arguments can be read where their owner has them: in a buffer of the same context, or, where the device
 * shares the host's memory, there. What is lent is never written, and given back before the call returns. */
typedef struct DpOutside {
    void *buffer;            /* a cl_mem; NULL: the numbers are the host's, DpLeaf.data */
    uint64_t at;             /* bytes in front of the numbers there */
    uint64_t heap, distance; /* the runtime's, zeros at first: where it was found, and for which heap */
} DpOutside;
/* rank >= 1; as dp_upload, but its numbers are where they are, if they can be; else they are copied. outside: NULL for
 * the host's. */
DpArr dp_lend(DpRt *rt, const DpLeaf *leaf, DpOutside *outside);
/* Whatever of the arrays, results of an entry, lies in what is lent is stored anew. */
void dp_own_results(DpRt *rt, const DpEntry *entry, const DpLeaf *leaves, DpArg *results);
/* Nothing that has been computed holds what was lent any more. */
void dp_give_back(DpRt *rt);
/* In a failed state: has the call failed because the heap has to grow, which it cannot while something is lent? Then
 * the failure is cleared, the heap grown, and the call is to be made once more. False: the failure stays. */
bool dp_grow_for_lent(DpRt *rt);
/* An array whose numbers lie one behind the other, in the heap: what dp_download would bring to the host, but for
 * these. The column is owned. */
DpCol dp_lay_out(DpRt *rt, const DpArr *a, DpLeaf *leaf);
void dp_fetch(DpRt *rt, const DpCol *numbers, DpLeaf *leaf); /* to the leaf */
/* Is the heap in the host's memory, where it stays? Then dp_show is where the numbers of a column lie there, if nobody
 * else holds them and they are worth it, else NULL; they stay as they are as long as the column is held. */
bool dp_shows_heap(const DpRt *rt);
void *dp_show(DpRt *rt, const DpCol *numbers);
/* No entry is called any more: the program may go; columns that are held stay. */
void dp_rt_end_calls(DpRt *rt);
/* The buffer that is the heap: it may be another one after a call. */
void *dp_heap_object(const DpRt *rt);
/* Events of callers: waits for them, false and why if that fails; new ones, NULL if there is none. */
bool dp_wait_for(DpRt *rt, uint32_t n, void *const *events, char error[96]);
void *dp_event_new(const DpRt *rt);
void dp_event_end(const DpRt *rt, void *event, bool well);
void dp_event_release(const DpRt *rt, void *event);
/* To a caller's buffer, which has `bytes` behind `at`: enqueued. */
void dp_copy_out(DpRt *rt, const DpCol *numbers, void *buffer, uint64_t at);
void dp_download(DpRt *rt, const DpArr *a, DpLeaf *leaf); /* scalar and rank are set; fills the rest */

#endif
