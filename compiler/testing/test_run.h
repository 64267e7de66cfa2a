/* `dpc test` of one file: what is run, and what came of it.
 *
 * The compilation goes forward through the stages; at each evaluator that is wanted, all cases are run. Values in
 * comments are read once, before. The same failure on several evaluators is one failure. */
#ifndef DPC_TEST_RUN_H
#define DPC_TEST_RUN_H

#include "driver/entry.h"
#include "testing/test_device.h"
#include "testing/test_watch.h"
#include "types/sized_type.h"
#include "testing/test_comments.h"

/* Those from PLAN on need a device: the plan, executed in process, and the executable made of it. */
enum { CORE, FUSED, FLAT, PLAN, DEVICE, EVALUATORS };
/* The stage that an evaluator runs. */
static inline Stage evaluator_runs(int e)
{
    return e == CORE ? STAGE_CORE : e == FUSED ? STAGE_FUSED : e == FLAT ? STAGE_FLAT : STAGE_PLAN;
}
static inline int evaluator_of(Stage s)
{
    return s == STAGE_CORE ? CORE : s == STAGE_FUSED ? FUSED : s == STAGE_FLAT ? FLAT : PLAN;
}

typedef struct TestOptions {
    bool wanted[EVALUATORS]; /* core, fused, flat, plan, device */
    uint64_t seed;           /* of random inputs */
    uint32_t cases;          /* of each property */
    const char *only;        /* the entry or property to test; NULL: all */
    RunLimits limits;        /* of each input */
    const char *params;      /* of what runs on the device, as given by --param; or NULL */
    bool flat_nests;         /* of the compilation */
    bool exercise;           /* a student's: failures do not tell the answer */
    MessageOptions messages;
} TestOptions;

/* What went wrong, and where. */
typedef struct Failure {
    bool on[EVALUATORS];
    const char *text; /* lines, indented, each with its newline */
} Failure;
typedef VEC(Failure) Failures;

/* One input of a test or property, read from its comment. */
typedef struct Input {
    const TestCase *from;
    DpLeaf *args, *expected; /* expected: NULL where an error is, and of properties */
    uint32_t job;            /* on the device, of the evaluator at hand */
    Failures failures;
} Input;

/* What a block of comments asks for. */
typedef struct Subject {
    const TestBlock *block;
    EntryTypes types;
    Signature signature;
    Input *inputs;
    uint32_t ninputs;
    uint32_t nargs, nresults; /* leaves */
    Failures failures;        /* of a property */
    uint32_t first_job;       /* of its random cases */
} Subject;

typedef struct TestRun {
    const TestOptions *options;
    Compilation *c;
    Arena *arena;
    Subject *subjects;
    uint32_t n;
    DeviceBatch device;
    Watch *watch;
    int status;    /* of what failed outside of the program; EXIT_OK */
    uint32_t jobs; /* planned on the device; what comes behind is added by the way */
} TestRun;

const char *evaluator_name(int e);
/* Runs the input on an interpreter, at the stage that the compilation has reached. */
Outcome run_interpreter(const TestRun *t, const Subject *s, const DpLeaf *args);
/* Without its place: what `-- error` is looked for in. */
const char *outcome_message(const Outcome *o);
void add_failure(TestRun *t, Failures *to, int evaluator, const char *text);
/* "[1, 2] 3", cut to `most` bytes; 0: whole. */
void print_arguments(StrBuf *out, const Subject *s, const DpLeaf *args, size_t most);
void print_result(StrBuf *out, const Subject *s, const DpLeaf *leaves, size_t most);

/* test_property.c */
uint32_t property_cases(const TestRun *t, const Subject *s);
void plan_property(TestRun *t, Subject *s);
void run_property(TestRun *t, Subject *s, int evaluator);

typedef struct TestCounts {
    uint32_t passed, failed;
} TestCounts;
/* All of it. *counts: of this file. Returns an ExitStatus. */
int test_file(const char *path, const TestOptions *options, TestCounts *counts);

/* test_exercise.c */
/* For --exercise: what is wrong, and where, but not what would be right. */
void judge_exercise(TestRun *t, Subject *s, Input *input, int evaluator, const Outcome *o);
/* How many cases are right; of the first that is not, what is wrong with it, and its hint. */
void report_exercise(const TestRun *t, const Subject *s, TestCounts *counts);

/* test_report.c */
/* Prints what failed, and counts. */
void report_subject(const TestRun *t, const Subject *s, TestCounts *counts);
void report_summary(TestCounts counts, const TestOptions *options, double seconds, uint32_t broken);
void report_file(const char *path, TestCounts counts, int status);

#endif
