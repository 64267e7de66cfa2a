/* What the readers of Arrow's arrays share: fields of all chunks, and runs of their slots. Private to the library.
 *
 * The type and the schema are walked together, over all chunks of a column at once. Which slots of a field stand in the
 * value is a list of *runs*: so many slots of a chunk, or so many that are not there. A struct hands its runs on to its
 * children, a list makes new ones of its offsets, a null, a dictionary and a union cut them; neighbours are joined. In
 * the end numbers are one run of one chunk, which is not copied, or they are copied run by run. */
#ifndef DPC_EMBED_ARROW_IMPORT_H
#define DPC_EMBED_ARROW_IMPORT_H

#include "arrow.h"
#include "dp_size.h"

typedef struct ArrowBlocks {
    struct ArrowBlocks *next;
} ArrowBlocks;

/* What a value refers to: the arrays, and what had to be copied. */
typedef struct ArrowHold {
    struct ArrowArray *arrays;
    uint32_t n;
    ArrowBlocks *copies;
} ArrowHold;

typedef struct ArrowImport {
    DpLeaf *leaves;
    ArrowHold *hold;
    ArrowBlocks *scratch;
    DpcError *error;
} ArrowImport;

/* A field of all chunks. */
typedef struct ArrowNode {
    const struct ArrowNode *above;
    const struct ArrowSchema *schema;
    ArrowFormat format;
    const struct ArrowArray **chunks;
    uint32_t n;
} ArrowNode;

enum { ARROW_ABSENT = UINT32_MAX };
typedef struct ArrowRun {
    int64_t at, n; /* at: the first slot */
    uint32_t chunk;
} ArrowRun;
typedef struct ArrowRuns {
    ArrowRun *at;
    uint64_t n, room;
} ArrowRuns;

typedef struct ArrowMissing {
    uint64_t n, first; /* among the slots */
} ArrowMissing;

/* All functions that can fail give false or NULL, and say why in the error. */
/* Memory until the blocks are freed. */
void *dpc_arrow_alloc(ArrowImport *im, ArrowBlocks **blocks, uint64_t n, uint64_t bytes);
void dpc_arrow_free_blocks(ArrowBlocks *b);
bool dpc_arrow_fail_memory(ArrowImport *im);
/* "column prices.low: …" */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool dpc_arrow_fail(ArrowImport *im, const ArrowNode *node, const char *format, ...);

/* A node of n chunks, which are filled in by the caller; it is opened when these are there. */
bool dpc_arrow_new_node(ArrowImport *im, ArrowNode *node, const ArrowNode *above, const struct ArrowSchema *schema,
                        uint32_t n);
bool dpc_arrow_open_node(ArrowImport *im, ArrowNode *node);
bool dpc_arrow_child_node(ArrowImport *im, const ArrowNode *of, int64_t index, ArrowNode *child);
/* The runs' memory is freed by free(runs->at). */
bool dpc_arrow_add_run(ArrowImport *im, ArrowRuns *r, uint32_t chunk, int64_t at, int64_t n);
/* Of slots that the array may lack. */
bool dpc_arrow_add_slots(ArrowImport *im, const ArrowNode *node, ArrowRuns *r, uint32_t chunk, int64_t at, int64_t n);
uint64_t dpc_arrow_total(const ArrowRuns *r);
/* The runs of children that have a slot beside each of theirs. */
bool dpc_arrow_runs_beside(ArrowImport *im, const ArrowNode *node, const ArrowRuns *runs, ArrowRuns *to);
/* The slots that are there, in what the indices of dictionaries stand for, if there are some: then node becomes that.
 */
bool dpc_arrow_find_present(ArrowImport *im, ArrowNode *node, const ArrowRuns *runs, ArrowRuns *to,
                            ArrowMissing *missing);

#endif
