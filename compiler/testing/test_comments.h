/* A program's tests and properties, in its comments:
 *
 *     -- test main
 *     -- input  [1, 2]
 *     --        [3, 4]            -- continued; what stands behind a second `--` is a comment
 *     -- output [4, 6]
 *     -- input  @large.npy [3, 4] -- from a file beside the program
 *     -- error  "unequal lengths"
 *     -- expect launches 3        -- behind an output: what the run on the device takes (TestFact)
 *     -- hint   Which lengths?    -- what `dpc test --exercise` says of this case if it is not right; may be continued
 *
 *     -- property reverse_twice   -- a function with a bool as its result, to be true for all arguments
 *     -- input  []                -- these always; then random ones
 *
 *     -- bench main               -- for dpc bench: what is timed
 *     -- input  @large.npy [3, 4]
 *     -- input  = { f64 i : i in 1000000 }, [3, 4]     -- expressions, one for each parameter
 *
 * A test block goes up to the first line that is no comment, or an empty one. In it everything must make sense;
 * elsewhere `-- input` counts only where an `-- output` or `-- error` follows it, as prose may begin with that word.
 * Such a case belongs to the entry of the last `-- test`, or to main. A block's header with further words behind the
 * name is prose, too. */
#ifndef DPC_TEST_COMMENTS_H
#define DPC_TEST_COMMENTS_H

#include "dp_value.h"
#include "syntax/ast.h"

/* A part of a comment: the source from `start` on, with blanks for the dashes of its further lines, so that text[i]
 * stands at start + i. */
typedef struct TestText {
    const char *text;
    uint32_t n, file, start;
} TestText;

/* What a run on the device takes: `-- expect kernels 2, readbacks 1, stored <= 4, launches 3, gpu launches 5`. Behind
 * `cpu` or `gpu` it is said of that shape of the kernels only. */
typedef enum TestFactKind {
    FACT_KERNELS,   /* of the program, made for it by the compiler */
    FACT_LAUNCHES,  /* of kernels, those of the runtime's own included */
    FACT_READBACKS, /* waits for the device, with which sizes and scalars come back; one at the end */
    FACT_STORED,    /* blocks taken from the heap: results, intermediate arrays, offsets */
    FACT_COUNT
} TestFactKind;
extern const char *const test_fact_names[FACT_COUNT];

enum { SHAPE_CPU, SHAPE_GPU, SHAPES };

typedef struct TestFact {
    bool stated, at_most;
    uint64_t n;
} TestFact;

typedef struct TestCase {
    Span span;       /* of its first keyword */
    TestText input;  /* empty if there is no such line */
    TestText output; /* of a test: this, if error is NULL */
    const char *error;
    const char *hint; /* one line; or NULL */
    TestFact facts[SHAPES][FACT_COUNT];
} TestCase;

typedef struct TestBlock {
    Name name;
    Def *def;                   /* what is tested */
    Span span;                  /* of its name; of the case, where no block names main */
    bool is_property, is_bench; /* these have inputs only */
    VEC(TestCase) cases;
} TestBlock;

typedef struct TestFile {
    VEC(TestBlock *) blocks; /* those of tests have cases */
    VEC(TestBlock *) benches;
} TestFile;

/* Mistakes are reported; what can be understood is in the result. Definitions that are properties are marked so. */
TestFile *find_tests(Session *s, Module *m);
/* The first case that they test the entry with, or NULL. */
const TestCase *find_first_case(Session *s, Module *m, const char *entry);

/* The n values of the text. Mistakes are reported at their place, and nothing is left in the leaves. names: of the
 * parameters, for messages, or NULL. */
bool read_test_values(Session *s, const TestText *text, DpType *const *types, const char *const *names, uint32_t n,
                      DpLeaf *leaves);

#endif
