/* Inside the runtime library.
 *
 *   device.h   what it computes on     device_opencl.c  OpenCL, behind it
 *   runtime.c  opening and closing     device.c   which device
 *   heap.c     blocks of the heap      heap_buffer.c  the one buffer that it is: its size and growth
 *   refs.c     reference sets, columns, arrays          ownership.c  states of blocks, what may be changed in place
 *   launch.c   kernels, launching      build.c    programs         source.c   their texts
 *   cache*.c   binaries on disk        quick.c    kernels that are not worth an optimising compiler yet
 *   context.c  contexts and paths      ops.c      kernels with user code
 *   starts.c     offsets of lengths
 *   looks.c    rounds of loops before the host looks
 *   scatter.c    scatters
 *   segreduce.c  ways of segmented reductions           histogram.c  of histograms
 *   pack.c     packs and splits        lookback.c words between work-groups
 *   totals.c   sums of lengths that are known without looking
 *   moves.c    operations without      move_queue.c  their moves, several in a launch
 *   sort.c     argsort                segment_sort.c  of short segments
 *   compact.c  a loop's state without dead data
 *   transfer.c values in and out       arguments.c those of calls, and what the next call finds
 *   outside.c  arguments that stay where their owner has them
 *   pending.c  numbers that the host waits for          mailbox.c  where kernels leave them
 *   error.c    failures and their messages
 *   profile*.c where the time goes     process.c  what is the process's
 *   program.c  dp_main            params.c   tuning parameters
 *
 * The heap's first bytes are not a block: the error record at 0, and from DP_MAILBOX on words that kernels leave for
 * the host. One look brings both (dp_rt_look), so that every read-back also reports failures. */
#ifndef DP_INTERNAL_H
#define DP_INTERNAL_H

#include "cache.h"
#include "calls.h"
#include "device.h"
#include "profile.h"
#include "dp_activity.h"
#include "dp_progress.h"
#include "dp_rt.h"
#include "dp_size.h"
#include "dp_stack.h"
#include "dp_status.h"
#include "params.h"

/* The same numbers as in kernels/common.cl. */
enum {
    DP_POSTED = 32, /* u64: the address of the host's mailbox (mailbox.c), or 0; in front of it is the error record */
    DP_MAILBOX = 64,
    DP_OWN_WORDS = 24,       /* the first: of operations that look at once */
    DP_UNSETTLED_WORDS = 16, /* of packs whose sizes nobody waits for */
    DP_MAILBOX_WORDS = DP_OWN_WORDS + DP_UNSETTLED_WORDS + DP_MOST_PENDING,
    DP_LOOK_BYTES = DP_MAILBOX + 8 * DP_MAILBOX_WORDS,
    DP_BIN_INSTANCES = DP_LOOK_BYTES,
    DP_LIST_COUNTS = DP_LOOK_BYTES + 32,  /* of the list in kernels/rows.cl: three u32, 0 between kernels */
    DP_REDUCE_COUNT = DP_LOOK_BYTES + 64, /* u32, 0 between kernels */
    DP_HEAP_START = 2304,
    DP_BLOCK_ALIGN = 256
};
/* Instances are numbered by u32. */
#define DP_MAX_INSTANCES UINT64_C(0xffffffff)

/* Where n consecutive segments begin and the last one ends: n + 1 numbers, stored or, where all segments have the same
 * length (regular dimensions), k * stride. Kernels get one word (kernels/common.cl). */
#define DP_REGULAR (UINT64_C(1) << 63)
#define DP_NO_ROOM UINT32_MAX /* as in common.cl: a lane's memory was too small */
typedef struct Offsets {
    DpBlock *block;  /* n + 1 u64; owned */
    uint64_t stride; /* or DP_REGULAR and the length; both 0: not known, or not needed */
} Offsets;
static inline bool offsets_known(Offsets o) { return o.block || o.stride; }
static inline Offsets offsets_regular(uint64_t length) { return (Offsets){NULL, DP_REGULAR | length}; }
static inline uint64_t offsets_length(Offsets o) { return o.stride & ~DP_REGULAR; } /* if regular */

/* What is known of the lengths of a context's segments, where its offsets were made: then all of it. The same numbers
 * as in kernels/lengths.cl. */
enum { DP_LENGTHS_WORDS = 3 };
_Static_assert(DP_LENGTHS_WORDS == (int)DP_PENDING_LENGTHS, "what is pending of a nested context");
typedef struct DpLengths {
    bool known, stored; /* stored: behind the offsets, as DP_LENGTHS_WORDS words */
    bool worth_a_look;  /* by reductions, if they are not known */
    uint64_t longest;
} DpLengths;

/* What lengths come to: their sum, and what none exceeds. */
#define DP_ANY_LENGTH UINT64_MAX /* that is not known */
typedef struct DpSum {
    uint64_t sum, longest;
} DpSum;
/* Of the first n views or lengths in a block. */
typedef struct DpTotal {
    bool known;
    uint64_t n;
    DpSum of;
} DpTotal;

/* What is known of a block of views that lie one behind the other: view k is {offsets[k+1] - offsets[k], base +
 * offsets[k] * bytes of an element}. */
typedef struct DpContig {
    Offsets offsets; /* owned; not known: nothing is known */
    uint64_t base, n, total;
    uint32_t bytes; /* of an element */
} DpContig;

/* What is known of a block's contents. ownership.c has the transitions. A block of views has a set of the blocks that
 * they point into, `refs`; whether it is one block's views or another's is all that the host knows of them beside: */
typedef enum BlockState {
    BLOCK_FREE,           /* in the ledger of free stretches */
    BLOCK_PLAIN,          /* scalars; or views of which nothing is known: any of them may overlap */
    BLOCK_LAYOUT_UNKNOWN, /* likewise, but a kernel has computed these views, slices perhaps: worth a look (and then
                             CONTIGUOUS or PLAIN) when they are first iterated over */
    BLOCK_LAZY,           /* views that lie one behind the other as `contig` says, and are not written: dp_write_views
                             does when they are to be read. A block that is written and holds views points into blocks
                             that are */
    BLOCK_CONTIGUOUS,     /* likewise, and written */
    BLOCK_DISJOINT, /* views of which no two overlap in a block that nobody holds but this one and `retired`, whose
                       views do not overlap with these either */
    BLOCK_RELEASED, /* nobody holds it; waits to be freed (refs.c) */
    BLOCK_STATES
} BlockState;

/* Segments that are split by length (kernels/teams.cl): a group takes `rows` neighbours; `groups` are enough for the
 * device. Those of more than `most` elements go in pieces of 2^piece_log: how many they are, and their pieces, at most;
 * likewise ranges of tiles of more than `heavy` elements. */
typedef struct Splits {
    uint64_t rows, groups, most, longs, npieces, piece_log, heavy, nranges;
} Splits;

/* The list of these, which stays with the segments' offsets. */
typedef struct SplitsKept {
    DpBlock *list; /* owned; NULL: there is none */
    Splits of;
    uint64_t rows, offset, contents; /* of so many segments, whose offsets begin there in the block */
} SplitsKept;

/* A stretch of the heap, live or free. All are in one list by address; free ones also in a list by size class. */
struct DpBlock {
    uint64_t addr, bytes;
    uint32_t count; /* references; 0: free */
    BlockState state;
    bool unsettled;             /* in DpRt.unsettled */
    bool argument;              /* of the first of several calls (arguments.c) */
    bool refs_are_element_refs; /* made by scatter or hist: dp_col_set_refs speaks of the arrays' elements */
    DpRefs *refs;               /* where the views in it point to; owned */
    DpContig contig;            /* LAZY, CONTIGUOUS; owned */
    DpBlock *retired;           /* DISJOINT: of a loop's stopped instances (dp_retire); owned, or NULL */
    DpRefs *shared;           /* DISJOINT: blocks in which these views may overlap (dp_update), or NULL; owned, which is
                                 what keeps them from being held by this column only */
    DpLengths lengths;        /* of a block of offsets */
    SplitsKept splits;        /* likewise */
    DpTotal total;            /* see totals.c */
    uint64_t contents;        /* a number of what is in it: another one when that is changed */
    DpBlock *before, *behind; /* neighbours */
    DpBlock *next_free, **link_free; /* also links blocks waiting to be freed */
};

/* Blocks in order of their addresses. */
struct DpRefs {
    uint32_t count, n;
    DpBlock *blocks[];
};

typedef enum CtxKind { CTX_FN, CTX_NESTED, CTX_SELECTED } CtxKind;

/* Instance i comes from instance indices[i] or, through regular contexts only, i / stride. */
typedef struct CtxPath {
    struct CtxPath *next;
    DpCtx *to;
    DpBlock *indices; /* u32 */
    uint64_t stride;  /* or DP_REGULAR and the stride; neither: the identity */
} CtxPath;

/* The sum of a column's views or lengths over one side of a split. */
enum { DP_MOST_SUMS = 4 };
typedef struct SideSum {
    uint64_t contents, addr; /* of the column's block; where it begins */
    DpSum of;
} SideSum;

struct DpCtx {
    uint32_t count;
    CtxKind kind;
    uint64_t n;
    DpCtx *up;        /* owned; NULL: depth 0, or none for FN */
    Offsets offsets;  /* NESTED over a context: of the n_up segments */
    DpBlock *indices; /* SELECTED: n u32; NULL if n == up->n, the identity, or n == 0 */
    bool pathless;    /* SELECTED: its indices are not stored, nobody asks for them */
    Offsets packed;   /* SELECTED from NESTED by a pack: offsets of what was kept per segment */
    uint32_t nsums;   /* SELECTED by a split: of columns of up */
    SideSum sums[DP_MOST_SUMS];
    CtxPath *paths; /* to contexts further up, and for NESTED to its up */
};

enum { HEAP_CLASSES = 256 };
typedef struct Heap {
    DpBuffer buffer;
    uint64_t used, most_used;
    uint64_t limit;      /* it may grow so far */
    bool refused;        /* the device did not grant the last growth */
    uint64_t live;       /* blocks in use */
    bool always_compact; /* for tests: DP_COMPACT */
    uint64_t number;     /* of its buffer, unlike any other's in the process */
    uint64_t wanted;     /* bytes of a block that did not fit, while something was lent; or 0 */
    bool poisoned;       /* DP_POISON: blocks are filled with a pattern when they begin and when they end */
    DpBlock *blocks;     /* all, by address */
    DpBlock *classes[HEAP_CLASSES];
    uint64_t occupied[HEAP_CLASSES / 64]; /* bit per non-empty class */
} Heap;

/* ---- launching ---- */
typedef struct Program Program;
typedef struct Built Built;
typedef struct Kernel Kernel;
/* The runtime's own programs, then the templates of user kernels by DpKernelKind. */
typedef enum OwnProgram { OWN_MOVE, OWN_LENGTHS, OWN_TRUTH, OWN_SORT, OWN_COUNT } OwnProgram;
/* Bits of how a program is built. MODE_QUICK: its kernels are functions, for any variant, that quick.c puts into one
 * kernel. */
enum { MODE_SEGMENTED = 1, MODE_HIST_SORTED = 2, MODE_QUICK = 4, MODE_WAY = 8 /* and its multiples: DP_WAY */ };

/* When kernels are compiled quickly, see quick.c. */
typedef enum QuickUse { QUICK_NEVER, QUICK_BY_WORK, QUICK_ALWAYS } QuickUse;
typedef struct QuickPart QuickPart;
typedef struct WorkRecord {
    char kernel[64];
    uint64_t work;
} WorkRecord;
typedef struct Quick {
    QuickUse use;
    bool unoptimised; /* whatever is built */
    QuickPart *parts;
    uint32_t nparts;
    WorkRecord *records;
    uint32_t nrecords, records_room;
    bool loaded;        /* the records */
    uint64_t most_work; /* of a kernel, in statements: then it is optimised */
    uint64_t unstored;  /* work since they were stored */
} Quick;

/* See lookback.c. */
typedef struct LookBack {
    bool use;
    DpBlock *block;          /* or NULL: not yet needed */
    uint64_t words;          /* it has room for */
    uint32_t epoch, tickets; /* of the last launch; taken so far */
} LookBack;

typedef struct Words {
    uint64_t most_bytes; /* of arguments that the device takes */
    DpBlock *block;      /* or NULL: not yet needed */
    uint64_t *written;   /* what the block holds */
    uint32_t nwritten;
} Words;

/* A move along paths (kernels/moves.cl): what waits in move_queue.c. */
typedef enum MoveKind { MOVE_ELEMENTS, MOVE_VIEWS, MOVE_NUMBERS, MOVE_OFFSETS } MoveKind;
enum { MOVE_WORDS = 8, MOST_MOVES = 8 };
typedef struct Move {
    MoveKind kind;
    uint32_t bytes; /* of an element */
    uint64_t n, dst, to, then, src, from, offsets;
    uint64_t written, read; /* the bytes that `dst` and, of ELEMENTS, `src` may range over */
} Move;
typedef struct MoveQueue {
    uint32_t n;
    Move at[MOST_MOVES];
    uint32_t place; /* of dp_at, where the first one was */
    DpBlock *freed; /* blocks that these use and nobody holds any more, by next_free */
} MoveQueue;

enum { DP_MOST_WAYS = 4 }; /* contexts of one pack */

/* What has been begun and not awaited, see pending.c. */
typedef struct Pending {
    uint64_t begun;               /* in the order of launches; 0: it is known */
    uint64_t known[DP_MOST_WAYS]; /* then the number or numbers, or the view */
    DpCtx *ctx[DP_MOST_WAYS];     /* being made: their sizes are missing */
    DpCol *cols;                  /* of a pack, likewise; malloc'd, or NULL */
    uint32_t kernel;              /* of a pack: the program's that writes these */
    DpArr array;                  /* of an element */
    bool is_element;              /* that is somewhere, and no result */
    uint64_t addr;                /* there; 0: nowhere */
} Pending;
/* The mailbox in the host's memory, see mailbox.c. */
typedef struct Posted {
    DpBuffer buffer;   /* laid out like the heap's first DP_LOOK_BYTES; its first word: something has failed */
    uint64_t distance; /* from the heap, modulo 2^64; 0: it is not used */
} Posted;
typedef struct Mail {
    Posted posted;
    uint64_t begun, arrived;      /* numbers of Pending.begun: the last given, the last that was read back */
    uint32_t open;                /* not awaited */
    uint32_t used;                /* words of the mailbox */
    Pending at[DP_MAILBOX_WORDS]; /* by a DpPending: its first word there; 0: in a failed state */
} Mail;

/* Columns of packs (dp_packed_views) whose sizes arrive when the host looks next: dp_settle_packs. */
enum { DP_MOST_UNSETTLED = 16 };
#define DP_TOTAL_UNSETTLED UINT64_MAX /* DpContig.total of their views until then */
typedef struct Unsettled {
    uint32_t n, packs;
    struct {
        uint32_t word;         /* of the mailbox */
        uint32_t bytes;        /* of an element */
        uint32_t kernel;       /* that writes it */
        DpBlock *views, *data; /* not owned; NULL when they have been freed */
    } at[DP_MOST_UNSETTLED];
} Unsettled;

/* Pieces of an array whose lengths nobody has looked at, see starts.c. */
typedef struct Starts {
    DpBlock *offsets; /* of n + 1 u64 and DP_LENGTHS_WORDS words, not written; owned. NULL: there are none */
    DpArr lengths;    /* owned */
    uint64_t n;
    int64_t total;           /* what the lengths have to add up to */
    uint32_t negative, nest; /* sites of the failures, if they are not so */
    uint32_t place;          /* of dp_at */
    DpBlock *sums, *list;    /* for DP_ROWS of kernels/teams.cl; owned, or NULL */
    Splits splits;           /* what the list is for */
    uint64_t alike;          /* elements, which the sums say whether one is beyond */
    bool checked, summed;    /* are they right? do sums and list stand there? */
    bool are_alike;          /* the host knows that none has more than `alike` */
} Starts;

/* A loop's states, see looks.c. Of one loop at a time: in its rounds there are no other ones. */
typedef struct Looked Looked;
typedef struct Looks {
    uint32_t nstate;
    uint64_t most, budget; /* rounds between two looks: ever, now */
    uint64_t begun;        /* since the last look */
    uint64_t executed;     /* until then */
    uint64_t used;         /* of the heap, then */
    bool known;            /* the first state that is kept has been looked at */
    bool looking, asked;   /* at states; at one, whose condition has been computed since */
    bool goes, restores;   /* restores: the state that was looked at last */
    uint32_t nkept, next;  /* states that are kept, the next to be looked at */
    Looked *kept;          /* nkept times nstate; room for one more than `most`, and what is late of the next */
} Looks;

/* Arguments of several calls (arguments.c); zeros: none are kept. */
typedef struct KeptArgs {
    DpBuffer buffer;  /* what a device with memory of its own has of them */
    DpBlock **blocks; /* where that is the host's: their numbers, owned, or NULL each */
    uint32_t n, calls;
    bool changed; /* the first call has changed numbers in place */
} KeptArgs;

/* What a loop's lane begins with, in front of what it may give: so many bytes of so many, so many arrays. */
typedef struct DpBegins {
    uint64_t used, room;
    uint32_t n;
} DpBegins;

struct DpRt {
    const DpProgram *program;
    DpDevice *device;
    bool gpu; /* which shape of the templates */
    DpTunings params;
    bool *asked;         /* DpOpenOptions.asked */
    char tune_note[640]; /* dp_tune_note; empty: there is none */
    Heap heap;
    uint64_t memory_limit; /* of the heap, in bytes; 0: none */
    Program **programs;
    uint32_t nprograms; /* chains: OWN_COUNT, then one per user kernel */
    Built *built;
    bool *announced; /* of each chain: has it been said that one of its programs is compiled? */
    bool compiling;  /* that is what was said last */
    Quick quick;
    LookBack lookback;
    Words words;          /* of kernels that have too many for arguments */
    char *cache_dir;      /* NULL: no cache */
    const char *dump_dir; /* DP_DUMP_KERNELS */
    Profile profile;
    uint64_t look[DP_LOOK_BYTES / 8];
    bool runs;               /* launched, and not waited for */
    uint32_t small_launches; /* in a row, of those that were not called (calls.c) */
    Stretch stretch;         /* likewise */
    bool unlooked;           /* launched since the host looked, and may have recorded a failure */
    bool lanes_lacked;       /* the record said DP_NO_ROOM: for dp_lanes_fitted */
    DpBegins begins;         /* of the memory that was asked for last (dp_lane_begins) */
    DpBlock *lanes_gave;     /* the memory of lanes that give arrays; likewise */
    KeptArgs kept;
    Mail mail;
    Unsettled unsettled;
    Looks looks;
    uint64_t work;     /* in statements, of what was launched since looks.c set it to 0 */
    DpBlock *lent;     /* what is in use of others' memory, by `behind`: outside.c holds each once */
    uint64_t contents; /* the last number of DpBlock.contents */
    MoveQueue moves;
    Starts starts;
    uint32_t at; /* the site of dp_at, plus 1; 0: outside of the program */
    uint32_t level, lifted_level;
    DpLevel *levels;       /* the innermost */
    DpProgress progress;   /* of the innermost recursion in parallel code */
    uintptr_t stack_limit; /* the lowest address a level may start at; 0: only levels are counted */
    int status;            /* of the first failure; 0: none */
    char message[1024];
    char *build_log; /* what the device's compiler said last; or NULL */
    DpCtx nothing;   /* the context that operations give in a failed state */
};

/* runtime.c */
bool dp_open_fails(DpOpenError *error, ExitStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* false */

/* params.h: of this device. */
static inline uint64_t dp_param(const DpRt *rt, DpTuning id)
{
    if (rt->asked)
        rt->asked[id] = true;
    return dp_params_value(&rt->params, id, rt->gpu);
}

/* May work-groups wait for what those before them leave? */
static inline bool dp_rt_looks_back(const DpRt *rt)
{
    enum { DEVICE, ALWAYS };
    const uint64_t choice = dp_param(rt, PARAM_LOOK_BACK);
    return rt->gpu && (choice == DEVICE ? rt->device->facts.kind == DEVICE_GPU : choice == ALWAYS);
}

/* tune.c */
/* What the options' tune file says for this device, where nothing else is set. False: it cannot be used. */
bool dp_tune_apply(DpRt *rt, const DpOpenOptions *options, DpOpenError *error);

/* device.c */
bool dp_device_open(DpRt *rt, const DpOpenOptions *options, DpOpenError *error);
bool dp_device_list(FILE *out, const char **why); /* false, and why: there are none, or not all answer */

/* process.c */
/* Before the first OpenCL call of the process, whose environment it sets; later calls do nothing. False if built
 * kernels will not be there for the next process. */
bool dp_process_prepare(void);

/* error.c. They return: the failure is recorded, and what comes after does nothing (dp_rt.h, FAILURES). */
void dp_rt_fail(DpRt *rt, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dp_rt_fail_here(DpRt *rt, int status, const char *text); /* at the place of dp_at */
/* Of the heap, of the host. Of the heap what a kernel has reported comes first: the size may be what it went on with.
 */
void dp_rt_fail_memory(DpRt *rt, dp_size bytes);
void dp_rt_fail_need(DpRt *rt, dp_size bytes, uint64_t held); /* beside what others hold; likewise */
void dp_rt_fail_host_memory(DpRt *rt, dp_size bytes);
/* As dp_clear_failure, but the host's recursion goes on. */
bool dp_rt_recover(DpRt *rt);
void dp_rt_fail_elements(DpRt *rt, uint64_t n, uint32_t bytes); /* more of so many bytes than are numbered; likewise */
/* What is gone through without being stored: fails where that would take days. */
void dp_rt_check_countable(DpRt *rt, uint64_t n);
void dp_rt_check_device(DpRt *rt, DpDeviceStatus done); /* fails where the device has not done what it was asked */
/* mailbox.c */
void dp_mailbox_open(DpRt *rt);
void dp_mailbox_place(DpRt *rt); /* the heap has another buffer */
void dp_mailbox_close(DpRt *rt);
DpDeviceStatus dp_mailbox_clear_record(DpRt *rt);
DpDeviceStatus dp_mailbox_touch(DpRt *rt); /* writes to the heap's first word of it, by a launch if that can be */
/* Waits, sees what has failed and what was posted, reports a failure; the mailbox's words. */
const uint64_t *dp_rt_look(DpRt *rt);
/* With the first DP_OWN_WORDS words as kernels have left them in the heap. */
const uint64_t *dp_rt_look_at_heap(DpRt *rt);
/* Looks where a kernel may have recorded a failure since, or a pack's size has not arrived. Has it looked? */
bool dp_rt_see(DpRt *rt);
/* Reports the failure that is in rt->look. */
void dp_rt_report(DpRt *rt);

/* levels.c: ", in level 25 of the recursion of f", or nothing */
void dp_rt_level_text(const DpRt *rt, char *to /* DP_LEVEL_TEXT */);

/* heap_buffer.c */
/* What PoCL takes of it, and ends the process where it does not get it: to open a device and build kernels; beside the
 * heap, once the device is open; to build one more program. And what the linker that it starts takes of stack. */
#define OPEN_SPACE (UINT64_C(680) << 20)
#define SPACE_BESIDE_HEAP (UINT64_C(320) << 20)
#define BUILD_SPACE (UINT64_C(128) << 20)
#define OPEN_STACK (UINT64_C(64) << 10)
bool dp_buffer_open(DpRt *rt, DpOpenError *error);
/* To at least so many bytes, of which the first `contents` are kept. False: the heap is as it was. */
bool dp_buffer_grow(DpRt *rt, uint64_t least, uint64_t contents);
void dp_buffer_close(DpRt *rt);

/* heap.c */
bool dp_heap_open(DpRt *rt, DpOpenError *error);
bool dp_heap_grow(DpRt *rt, uint64_t bytes); /* so that a block of so many fits behind the last one */
/* Is there a place of so many, or may there be? No: they lie apart, or the device gives no more. */
bool dp_heap_has(DpRt *rt, uint64_t bytes);
void dp_heap_close(DpRt *rt);
/* For n elements, one reference; NULL for 0 bytes, and in a failed state. */
DpBlock *dp_block_new(DpRt *rt, uint64_t n, uint64_t element_bytes);
static inline uint64_t dp_block_addr(const DpBlock *b) { return b ? b->addr : 0; }
void dp_block_shrink(DpRt *rt, DpBlock *b, uint64_t bytes);
DpBlock *dp_block_retain(DpBlock *b); /* NULL is harmless, likewise below */
void dp_block_release(DpRt *rt, DpBlock *b);
void dp_heap_free(DpRt *rt, DpBlock *b); /* the stretch itself; for refs.c */
bool dp_heap_check(const Heap *h);       /* for tests: the ledger's invariants */

/* refs.c */
DpRefs *dp_refs_one(DpRt *rt, DpBlock *b); /* takes the reference; NULL gives the empty set */
DpRefs *dp_refs_retain(DpRefs *r);
DpBlock *dp_refs_find(const DpRefs *r, uint64_t addr);      /* borrowed; NULL if none holds the address */
DpRefs *dp_refs_of_refs(DpRt *rt, const DpRefs *r);         /* union of the blocks' own sets */
void dp_block_add_refs(DpRt *rt, DpBlock *b, DpRefs *refs); /* takes refs */
DpArr dp_arr_of_block(DpRt *rt, DpBlock *b, uint64_t n);    /* takes the reference; n elements */
void dp_write_views(DpRt *rt,
                    DpBlock *b); /* before they are read: theirs, and those that they point to; NULL is harmless */
void dp_write_views_of(DpRt *rt, const DpRefs *r); /* of all these blocks */

/* ownership.c */
bool dp_block_may_become(BlockState from, BlockState to);
bool dp_block_is_sound(const DpBlock *b); /* does it have what goes with its state, and nothing else? */
void dp_block_become(DpBlock *b, BlockState to);
void dp_block_be_lazy(DpBlock *b, DpContig contig);                      /* takes the offsets */
void dp_block_be_disjoint(DpBlock *b, DpBlock *retired, DpRefs *shared); /* takes both */
void dp_block_forget_contig(DpRt *rt, DpBlock *b); /* its views no longer lie one behind the other */
void dp_block_forget_layout(DpRt *rt, DpBlock *b); /* its views are about to be changed: nothing is known of them */
/* The block where elements lie, borrowed. An array without one would see its memory reused: NULL, and a failure. */
DpBlock *dp_refs_owner(DpRt *rt, const DpRefs *r, uint64_t addr);
/* The contiguous layout of the column's views, if it is a whole block of such; else NULL. */
const DpContig *dp_col_contig(const DpCol *c);
bool dp_col_disjoint(const DpCol *views); /* as BLOCK_DISJOINT says, or one behind the other */
/* The block of the elements of the arrays that the column's views describe, if these lie one behind the other and may
 * be changed where they are: nobody else holds the views or the elements. */
DpBlock *dp_sole_elements(const DpCol *views);
/* Does the column hold this one of its blocks of elements alone, but for what its loop has retired? */
bool dp_holds_alone(const DpCol *views, const DpBlock *elements);
bool dp_arr_solely_held(const DpArr *a); /* nobody else holds the array or its block */

/* totals.c */
/* The sum of the lengths that a column of views or of lengths holds, if the host knows it. */
bool dp_col_total(const DpCol *c, DpSum *total);
void dp_col_know_total(DpCol *c, DpSum total);
/* Both lengths' sums. */
DpSum dp_sum_of_both(DpSum a, DpSum b);
/* The contents change: nothing is known of their total. */
void dp_block_forget_total(DpRt *rt, DpBlock *b);
/* Of the column, of context `from`, over the instances of `to`, which is `from` or below. */
bool dp_total_below(const DpCol *col, const DpCtx *from, const DpCtx *to, DpSum *total);

/* source.c */
typedef struct Text {
    char *at;
    size_t n, room;
    bool lost; /* there was no memory for a part of it */
} Text;        /* malloc'd, NUL-terminated */
typedef struct Instance {
    uint32_t kernel, variant, mode;
} Instance;
enum { SIGN_BYTES = 20 };
void dp_text_add(DpRt *rt, Text *t, const char *s, size_t n);
bool dp_source_declares_builtins(const DpRt *rt);
bool dp_source_has_fence(const DpRt *rt); /* DP_FENCE of kernels/common.cl: may the group that comes last go on? */
void dp_source_begin(DpRt *rt, Text *t, bool contract);
/* Where the host calls kernels: their names, with `suffix` behind them, end in a digest of the text, `sign`; else that
 * is empty. quick: the one kernel of quick.c. */
void dp_source_sign(DpRt *rt, Text *t, const char *suffix, bool quick, char sign[SIGN_BYTES]);
/* only: of its kernels this one; NULL: all of them. */
void dp_source_instance(DpRt *rt, Text *t, const Instance *i, const char *suffix, const char *only);
/* One of the runtime's own programs; mode: MODE_QUICK or 0. */
void dp_source_own(DpRt *rt, Text *t, OwnProgram own, uint32_t mode, const char *only);
extern const char *const dp_own_suffix[OWN_COUNT];
uint32_t dp_source_mode(const DpRt *rt, uint32_t kernel, uint32_t variant, uint32_t mode);

/* build.c */
/* first, end: of which chains of rt->programs. quickly: without optimisation. number, mode: tell the texts of
 * DP_DUMP_KERNELS apart. */
typedef struct BuildTask {
    const char *name, *suffix; /* suffix: of its kernels; NULL: their names stay as they are */
    const char *only;          /* the one kernel in it; NULL: all of them */
    bool quickly;
    uint32_t first, end, number, mode;
} BuildTask;
/* Takes the text. NULL in a failed state, likewise below. */
Built *dp_program_build(DpRt *rt, Text *t, const BuildTask *task);
DpDeviceKernel *dp_program_kernel(DpRt *rt, const Built *b, const char *name); /* to be released */
void dp_build_close(DpRt *rt);

/* quick.c */
enum { QUICK_ARGS = 96 };
/* A kernel's place there, and what it has done. */
typedef struct QuickCase {
    bool there;      /* may it be compiled quickly? */
    QuickPart *part; /* in the CPU's shape; NULL in the GPU's */
    uint32_t which, record, cost, counts;
} QuickCase;
void dp_quick_open(DpRt *rt, const DpOpenOptions *options); /* the device is chosen */
/* program: its number in rt->programs. */
void dp_quick_find(DpRt *rt, QuickCase *c, uint32_t program, const Instance *i, const char *name);
/* Is this launch better done by quickly built code? The numbers are the kernel's arguments. It counts as done. */
bool dp_quick_serves(DpRt *rt, const QuickCase *c, const uint64_t *numbers);
/* In the CPU's shape. Borrowed. nargs: of numbers behind `which`. */
DpDeviceKernel *dp_quick_kernel(DpRt *rt, const QuickCase *c, uint32_t *nargs);
void dp_quick_close(DpRt *rt);

/* histogram.c */
bool dp_rt_atomic_bins(const DpRt *rt, const DpKernel *k); /* HIST: does one compare-and-swap hold a value? */

/* launch.c */
uint32_t dp_rt_group_size(const DpRt *rt, uint32_t kernel);               /* lanes of its work-groups */
uint32_t dp_rt_way_group(const DpRt *rt, uint32_t kernel, uint32_t mode); /* in this mode */
/* Elements of a lane in a scan of one pass (lookback.c). */
uint32_t dp_rt_scan_items(const DpRt *rt, uint32_t kernel);
/* Is the kernel built in the GPU's shape? Values too large for local memory take the other one everywhere. */
bool dp_rt_group_shape(const DpRt *rt, uint32_t kernel);
/* How much of the device a kernel over n elements should occupy: work-groups (GPU), chunks (CPU). */
uint32_t dp_rt_chunks(const DpRt *rt, bool groups, uint64_t n); /* each leaves a carry: few */
uint32_t dp_rt_map_groups(const DpRt *rt, uint64_t n);
uint32_t dp_rt_loop_groups(const DpRt *rt, uint64_t n); /* of a map whose elements have loops */
Kernel *dp_rt_kernel(DpRt *rt, uint32_t kernel, uint32_t variant, uint32_t mode, const char *name);
Kernel *dp_rt_own_kernel(DpRt *rt, OwnProgram program, const char *name);
enum { MAX_ARGS = 512 };
typedef struct Args {
    uint32_t n;
    uint64_t elements; /* that the launch goes over, where that is not the first argument; else 0 */
    uint64_t at[MAX_ARGS];
    uint32_t nposted, posted[DP_MAX_OUTS + 1]; /* which of them are words of the mailbox */
} Args;
void dp_args_add(Args *a, uint64_t x); /* what does not fit is counted, and refused at the launch */
void dp_args_words(Args *a, const uint64_t *words, uint32_t n);
void dp_args_columns(Args *a, const DpCol *columns, uint32_t n);
/* Where a kernel stores and does not read, a word of the mailbox for dp_rt_look or something else; 0: nowhere. */
void dp_args_posted(Args *a, uint64_t address);
void dp_args_place(const DpRt *rt, Args *a); /* before the launch: nothing makes the heap grow any more */
/* words.c: a kernel's own words, as arguments or, where they are too many, as the address of where they are. */
void dp_args_kernel_words(DpRt *rt, Args *a, uint32_t kernel, const uint64_t *words);
bool dp_words_in_heap(const DpRt *rt, const DpKernel *k);
void dp_words_define(DpRt *rt, Text *t, const DpKernel *k); /* DP_WORDS, DP_PASS, w0 … in the second form */
void dp_words_open(DpRt *rt);                               /* the device is chosen */
void dp_words_close(DpRt *rt);
/* heaps: how many leading parameters are the heap (2 where the template has `out`). */
void dp_rt_launch(DpRt *rt, Kernel *k, uint32_t heaps, uint32_t groups, const Args *args);
/* Optimised, with another buffer for the heap, and neither counted nor timed. */
DpDeviceStatus dp_rt_launch_on(DpRt *rt, const DpBuffer *heap, Kernel *k, uint32_t heaps, uint32_t groups,
                               const Args *args);
void dp_rt_move(DpRt *rt, const char *name, uint64_t n, const Args *args); /* OWN_MOVE over n elements */
void dp_launch_close(DpRt *rt);
const char *dp_kernel_text(const char *name); /* generated: the files of runtime/kernels, and dp_scalar.h */

/* lookback.c */
void dp_lookback_open(DpRt *rt); /* the device is chosen */
void dp_lookback_close(DpRt *rt);
/* Adds the three arguments of a launch of that many groups, each of which publishes `words` words. */
void dp_lookback_args(DpRt *rt, Args *a, uint64_t tiles, uint64_t words);

/* starts.c */
/* mail: the address of the mailbox's DP_LENGTHS_WORDS words that get what is known of the lengths; 0: it is stored
 * behind the offsets, for dp_ctx_look_at_lengths. */
DpBlock *dp_offsets_of_lengths(DpRt *rt, uint64_t address, uint64_t stride, uint64_t n, uint64_t mail);
/* When these have arrived: the total. */
uint64_t dp_offsets_said(DpRt *rt, DpBlock *offsets, const uint64_t *said);
/* What waits in rt->starts is made, and its failures are found: before anything else happens on the device. */
void dp_starts_settle(DpRt *rt);
/* Likewise, but the next thing are c's segments, and the host does not ask how long they are. */
void dp_starts_settle_unasked(DpRt *rt, const DpCtx *c);
void dp_starts_forget(DpRt *rt);
/* They wait no more, and are the caller's. */
Starts dp_starts_take(DpRt *rt);
/* How to, and the parts of their list, which is as kernels/common.cl has it. */
Splits dp_splits(const DpRt *rt, uint64_t elements, uint64_t rows, uint64_t most, DpLengths lengths);
uint64_t dp_splits_entries(const Splits *l, uint64_t list);
uint64_t dp_splits_pieces(const Splits *l, uint64_t list);
/* The list for segments whose offsets are there, in a block of offsets or, NULL, somewhere else. To be released. NULL:
 * none is needed. */
DpBlock *dp_splits_list(DpRt *rt, const Splits *l, uint64_t rows, uint64_t offsets, DpBlock *keeper);
/* Do c's segments wait, and are they all there is? */
bool dp_starts_wait_for(const DpRt *rt, const DpCtx *c);
/* Memory for sums, which say whether a segment has more than `alike` elements, and a list of those of more than `most`
 * (0: none). False: nothing waits any more. */
bool dp_starts_add_sums(DpRt *rt, uint64_t most, uint64_t alike);
/* Has them made, and the lengths checked, if they are not there; then a word at `mail`, or 0, is not 0 if one has more
 * than `alike`. */
void dp_starts_sum(DpRt *rt, Starts *s, uint64_t mail);

/* context.c */
/* Begun and awaited at once: one read-back. */
DpCtx *dp_nested_views(DpRt *rt, DpCtx *up, const DpCol *views);
DpCtx *dp_nested_lens(DpRt *rt, DpCtx *up, const DpCol *lens);
/* Of the context's segments (dp_ctx_segments), of which there are not more than 2^32: the longest is exact where
 * offsets were made of lengths that the host has read back, and for regular ones, an upper bound where their total was
 * known before (totals.c), not known where they come from elsewhere. Its number of segments is s.nseg, of elements
 * c->n. */
DpLengths dp_ctx_lengths(const DpCtx *c);
DpLengths dp_ctx_look_at_lengths(DpRt *rt, const DpCtx *c); /* known, if they are stored: reads them back */
/* Offsets of the data of a NESTED context, or of one packed from a NESTED context, per instance of its up. Borrowed. */
Offsets dp_ctx_data_offsets(const DpCtx *c);
uint64_t dp_path_indices(DpRt *rt, DpCtx *from, DpCtx *to); /* dp_path, always as u32 in memory (or 0) */
DpCtx *dp_ctx_nothing(DpRt *rt);                            /* in a failed state all contexts are this one */
void dp_rt_check_numbered(DpRt *rt, const DpCtx *c); /* a failure if it has more instances than can be numbered */
/* Retains up, takes the offsets (of NESTED) and the indices (of SELECTED). */
DpCtx *dp_ctx_new(DpRt *rt, CtxKind kind, DpCtx *up, uint64_t n, Offsets offsets, DpBlock *indices);
uint64_t dp_offsets_word(Offsets o);
Offsets dp_offsets_retain(Offsets o);
void dp_offsets_release(DpRt *rt, Offsets *o);
/* A kernel over c: segmented or not, number of segments, the offsets' word (or 0). */
typedef struct Segments {
    uint32_t mode;
    uint64_t nseg, offsets;
} Segments;
Segments dp_ctx_segments(const DpCtx *c);

/* The values of DP_WAY; TILE: kernels/tile.cl, the others: kernels/reduce.cl. */
typedef enum WayKind {
    WAY_PATH,
    WAY_LANE,
    WAY_TEAM,
    WAY_SPLIT,
    WAY_ROWS,
    WAY_TILE,
    WAY_SMALL_TILE,
    WAY_LEAST_TILE,
    WAY_BATCHES /* on a CPU */
} WayKind;
enum { WAY_COLUMNS = WAY_TEAM };                              /* of scans: kernels/scan_columns.cl */
enum { WAY_IN_PLACE = 1, WAY_TURNED, WAY_EIGHTS, WAY_FOURS }; /* of maps: kernels/map.cl; in place: on a CPU */
uint32_t dp_map_width(uint32_t way, uint32_t lanes);          /* how many of these */
bool dp_map_spills(const DpKernel *k, uint32_t variant);

/* segreduce.c: a segmented reduction, in one of these. */
typedef struct SegReduce {
    uint32_t kernel, variant, mode;
    uint64_t n;
    Segments segments;
    DpLengths lengths;  /* of these */
    uint64_t vals, pos; /* for sorted histograms */
    const uint64_t *words;
    const DpCol *outs;
    const DpCtx *nest; /* of the elements; NULL: nothing is known of instances above the segments */
} SegReduce;
void dp_segreduce(DpRt *rt, const SegReduce *r);
/* If its segments are those of rt->starts, and that pays: else false, and nothing is done. */
bool dp_segreduce_by_rows(DpRt *rt, const SegReduce *r);
/* What kernels/tile.cl takes: for a work-item, and for a work-group. */
typedef struct TileSize {
    uint32_t item_rows, item_columns; /* CPU: vectors, and a work-group is one strip of its */
    uint32_t depth, pieces, unroll;   /* GPU; depth: of BLOCKS, of the others what a lane loads of a step; pieces: of a
                                         segment, of the others */
    uint32_t rows, columns;
} TileSize;
/* How many instances of the kernel go side by side, once it is optimised; 0: one. Of what has no ways of its own. */
uint32_t dp_rt_vector_width(const DpRt *rt, uint32_t kernel);
uint32_t dp_tile_lanes(const DpRt *rt, uint32_t kernel);  /* of its vectors on a CPU; 0: there are none */
uint32_t dp_batch_lanes(const DpRt *rt, uint32_t kernel); /* likewise, of batches */
TileSize dp_tile_size(const DpRt *rt, uint32_t kernel, WayKind tile);
/* Does a scan of them go in a way that depends on how long they are? */
bool dp_segscan_asks_lengths(const DpRt *rt, const SegReduce *r);
/* A scan, if segments are so short that an item should take a whole one; else false, and nothing is done. */
bool dp_segscan_short(DpRt *rt, const SegReduce *r);

/* ops.c */
uint64_t dp_rt_carry_bytes(const DpRt *rt, uint32_t kernel); /* of what a chunk leaves (kernels/carry.cl) */
static inline const DpKernel *dp_rt_info(const DpRt *rt, uint32_t kernel) { return &rt->program->kernels[kernel]; }
/* Which instances a map is of: from `from` on, before `end`, and of each segment without the first `skip`. */
typedef struct MapRange {
    uint64_t from, end, skip;
    bool in_place; /* on a CPU: an element may be stored before its neighbours are read */
} MapRange;
void dp_run_map(DpRt *rt, uint32_t kernel, uint32_t variant, const DpCtx *c, const uint64_t *words, const DpCol *outs,
                const MapRange *range);
uint64_t dp_rt_columns_bytes(const DpCol *cols, uint32_t n);                /* all of them hold */
void dp_rt_new_columns(DpRt *rt, uint32_t kernel, uint64_t n, DpCol *outs); /* the kernel's outputs */
Args dp_args_context(const DpCtx *c, const Segments *s); /* n, nseg, offsets: how every template's arguments begin */

/* moves.c */
/* The column itself if nobody else holds it, else a copy; takes the reference. */
DpCol dp_fresh_copy(DpRt *rt, DpCol col);
DpCol dp_views_of_offsets(DpRt *rt, Offsets offsets, uint64_t n, uint64_t base, uint64_t total, uint32_t bytes,
                          DpBlock *data);

/* move_queue.c: moves wait for others that may go with them, until something else happens on the device that could
 * depend on them. */
void dp_move_add(DpRt *rt, const Move *m);
void dp_move_copy(DpRt *rt, uint64_t dst, uint64_t src, uint64_t n, uint32_t bytes);
/* dst[then(to(i))] = row from(i) of the column, for i < n; `dst` has `rows` rows. Views that are not written are
 * computed. The paths are words as dp_path gives them. */
typedef struct Route {
    uint64_t from, to, then;
} Route;
void dp_move_rows(DpRt *rt, const DpCol *col, uint64_t n, Route route, uint64_t dst, uint64_t rows);
void dp_moves_flush(DpRt *rt);
/* The block, which nobody holds any more, is freed later: one of them uses it. */
bool dp_moves_keep(DpRt *rt, DpBlock *b);

/* sort.c */
/* Sorted keys, and what moved along: positions or another column; owned. */
typedef struct Sorted {
    DpBlock *keys, *along;
} Sorted;
/* The values of a column of u32, i32, u64 or i64 in order, and as u32 the positions that they come from. n > 0. */
Sorted dp_sort_by(DpRt *rt, uint64_t n, uint64_t column, DpScalar scalar);

/* Zeroes `bytes` (a multiple of 8) at `at`, and the mailbox's first words. */
void dp_sort_begin(DpRt *rt, uint64_t bytes, uint64_t at);

/* segment_sort.c */
/* What is sorted in segments: where these are, and the most that one has. While `waiting`, which has sums of lengths
 * instead of offsets, these are thought to be all short, until dp_sort_segments finds out. */
typedef struct Segmented {
    uint64_t n, nseg, offsets, longest;
    const DpCtx *of; /* if waiting */
    Starts *waiting; /* or NULL */
    bool keys_only;  /* are keys all that is sorted (segment_sort.c)? */
} Segmented;
/* How many of the first and of the last elements of each segment are wanted; both 0: all. */
typedef struct SortEnds {
    uint64_t first, last;
} SortEnds;
static inline bool sort_ends_only(SortEnds e) { return e.first || e.last; }
/* What one key column makes in segments: places, values, or both (kernels/segment_sort.cl). */
typedef struct SegmentSort {
    const DpCol *key;
    DpScalar scalar;
    const DpBlock *from;
    DpBlock *places, *values;
    SortEnds ends;
} SegmentSort;
/* Do keys give back their values (DP_SORT_GIVES_BACK of kernels/segment_sort.cl)? */
bool dp_sort_key_is_value(DpScalar t);
bool dp_segments_are_short(const DpRt *rt, const Segmented *s); /* may each be sorted by itself? */
/* Not those that it finds to be too long. */
void dp_sort_segments(DpRt *rt, Segmented *s, const SegmentSort *k);
/* The segments of c, if their offsets need not be made for it. Then these are taken, and the caller's, as long as *s
 * waits. */
bool dp_sort_begins_with_lengths(DpRt *rt, const DpCtx *c, Segmented *s, Starts *waiting);
/* What is wanted of segments, as far as it is found faster than by sorting all. */
SortEnds dp_sort_ends(const DpRt *rt, const Segmented *s, const DpSortTypes *t);
/* The places of the ends of all n elements, as a segment of *count of them; owned. NULL where sorting is as well. */
DpBlock *dp_sort_root_ends(DpRt *rt, uint64_t n, const DpCol *key, DpScalar scalar, SortEnds ends, uint64_t *count);
/* A column's elements at the places of the ends, which is all that the result has, or positions within the segments
 * (NULL). from: offsets of the segments among the places. */
DpCol dp_sort_end_elements(DpRt *rt, const Segmented *s, uint64_t from, SortEnds ends, const DpBlock *places,
                           const DpCol *column);

/* pending.c */
/* Of so many words. In a failed state nothing is begun: 0. */
/* What has arrived of packs is said to their blocks; in a failed state: nothing has. Whenever the host has looked. */
void dp_settle_packs(DpRt *rt);
/* The block is freed. */
void dp_unsettled_forget(DpRt *rt, const DpBlock *b);
/* The host looks, if it does not know. */
uint64_t dp_contig_total(DpRt *rt, const DpContig *c);
DpPending dp_pending_begin(DpRt *rt, uint32_t words);
/* All that writes its words has been launched. */
void dp_pending_launched(DpRt *rt, DpPending p);
DpPending dp_pending_known(DpRt *rt, uint64_t number);
/* Where the device leaves it; 0 if it is known, or nothing was begun. */
uint64_t dp_pending_mail(const DpRt *rt, DpPending p);
/* The words, or the known number; waits where they have not arrived. Zeros in a failed state. */
const uint64_t *dp_pending_await(DpRt *rt, DpPending p);
/* The same in two steps. */
const uint64_t *dp_pending_read(DpRt *rt, DpPending p);
void dp_pending_end(DpRt *rt, DpPending p);

/* looks.c */
void dp_looks_close(DpRt *rt);

/* compact.c: as dp_compact_root, whatever that frees; what has no elements, or more than are numbered, stays. */
void dp_store_anew(DpRt *rt, DpArr *a, uint32_t rank, uint32_t bytes);

/* outside.c */
/* Does it lie in what is lent? Then it is read from there. */
bool dp_lent_read(DpRt *rt, uint64_t addr, void *to, uint64_t bytes);

/* arguments.c */
void dp_argument_changes(DpRt *rt, const DpBlock *b); /* if it is one: what is in it is about to be changed */

/* transfer.c */
/* Numbers that are there, as an array with the lengths of the leaf. Takes the reference. */
DpArr dp_arr_over(DpRt *rt, const DpLeaf *leaf, DpBlock *numbers);
void dp_rt_read(DpRt *rt, uint64_t addr, void *to, uint64_t bytes);  /* waits; reports failures */
void dp_rt_fetch(DpRt *rt, uint64_t addr, void *to, uint64_t bytes); /* what is there since the host last looked */
void dp_rt_write(DpRt *rt, uint64_t addr, const void *from, uint64_t bytes); /* waits until `from` may be reused */
/* So many bytes of a buffer, from `at` on, to the heap; if that is the heap's own, they do not overlap. */
void dp_rt_copy(DpRt *rt, const DpBuffer *from, uint64_t at, uint64_t to, uint64_t bytes);

#endif
