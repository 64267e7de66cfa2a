/* The driver: which passes there are, and in which order they run.
 *
 * All of them stand in one table of {name, stage, run, check, print} rows (driver.c). A *stage* is a point
 * between passes that has a name for the user: `dpc dump --stage=S` runs the passes up to the row with that
 * stage and prints, and the interpreters run the program as it is at "core", "fused" or "flat".
 *
 *     Compilation *c = compilation_create("f.dp");
 *     if (compile_to(c, STAGE_CORE)) … c->core …      -- as elaborated and simplified
 *     if (compile_to(c, STAGE_FLAT)) … c->flat …      -- goes on from there
 *     compilation_destroy(c);
 *
 * As the passes over core work in place, a compilation only goes forward: what is wanted of an earlier stage
 * has to be done before going on.
 *
 * With c->check, the IR's checker runs after every pass; what it finds is a bug of that pass. */
#ifndef DPC_DRIVER_H
#define DPC_DRIVER_H

#include "core/core_eval.h"
#include "dp_status.h"
#include "dp_tune.h"
#include "flat/flat.h"
#include "plan/plan.h"
#include "syntax/load.h"
#include "types/check.h"

typedef enum Stage {
    STAGE_NONE,
    STAGE_AST,
    STAGE_TYPES,
    STAGE_ELABORATED, /* core as the program is written: nothing is simplified, its definitions are functions */
    STAGE_CORE,
    STAGE_FUSED,
    STAGE_LOWERED, /* what is flattened; no evaluator of its own */
    STAGE_FLAT,
    STAGE_PLAN,
    STAGE_OPENCL,
    STAGE_HOST,
    STAGE_COUNT
} Stage;
const char *stage_name(Stage s);    /* "core" */
Stage stage_find(const char *name); /* STAGE_NONE if there is none */

typedef struct Compilation {
    Session *session;
    const char *path; /* the user's file */
    const char *text; /* its text_bytes bytes; NULL: they are read from the file */
    size_t text_bytes;
    const SourcePart *parts; /* what the program is put together from, instead of a file; or NULL */
    uint32_t nparts;
    bool check;                   /* run the checkers */
    bool unchecked;               /* programs do not check bounds and sizes (DPC_UNCHECKED, for measurements) */
    bool flat_nests;              /* all that is nested is flattened, nothing is left to a lane (--param nest=flat) */
    EvalLimits limits;            /* of the interpreters; zero: the defaults */
    const EvalObserver *observer; /* of the core interpreter, where it writes no trace; or NULL */
    uint32_t next_pass;           /* in the table */
    AstIds ids;
    ModuleList modules; /* the prelude, the user's file, and what it imports */
    Checked *checked;   /* from STAGE_TYPES */
    CoreProgram *core;  /* from STAGE_CORE */
    bool hoisted;       /* checks were, or windows are read where they lie: it is simplified again */
    bool lowered;       /* something was: it is fused and simplified again */
    FlatProgram *flat;  /* from STAGE_FLAT */
    Plan *plan;         /* from STAGE_PLAN */
    DpTune tune;        /* what the program is made with; or none */
} Compilation;

Compilation *compilation_create(const char *path);
void compilation_destroy(Compilation *c);

/* Runs the passes up to the stage. False after errors (session->warnings: warnings may be some), which have been
 * printed to standard error, with the warnings so far. */
bool compile_to(Compilation *c, Stage stage);
/* The same, for those who look at the program behind each pass: `seen` is told its name, and says whether to go on. */
typedef bool PassSeen(void *ctx, const char *pass);
bool compile_seen(Compilation *c, Stage stage, PassSeen *seen, void *ctx);
bool pass_exists(const char *name);
void pass_names(StrBuf *out);                  /* a line each, in order */
Stage compilation_stage(const Compilation *c); /* that the last pass has reached, or STAGE_NONE */
/* The program as it is now: types, core, flat or the plan. */
void compilation_print_now(StrBuf *out, const Compilation *c);
/* The text of the stage, which has been reached and not been left. */
void compilation_print(StrBuf *out, const Compilation *c, Stage stage);

/* The entry of that name, or NULL. From STAGE_CORE on. */
const CoreEntry *compilation_entry(const Compilation *c, const char *name);
/* Runs an entry on the interpreter for the stage reached: flat_eval at STAGE_FLAT, core_eval before. */
bool compilation_eval(const Compilation *c, const CoreEntry *entry, Arena *arena, const CoreValue *args,
                      CoreValue *results, EvalError *error);
/* The message of a run-time failure, without its place. */
void compilation_error_text(StrBuf *out, const Compilation *c, const EvalError *error);
/* Reports it as a diagnostic at its place, on standard error. */
void compilation_report(Compilation *c, const EvalError *error);

/* How a compilation reports: --diagnostics, --no-warnings, --werror. */
typedef struct MessageOptions {
    bool json;
    WarningMode warnings;
} MessageOptions;
void set_messages(Session *s, MessageOptions messages);

/* What a run may take: --timeout and --memory. */
typedef struct RunLimits {
    const char *timeout, *memory; /* as given, for executables; or NULL */
    EvalLimits eval;              /* for interpreters */
} RunLimits;

/* Are messages on standard error to be coloured? */
bool use_colour(void);
/* Prints the diagnostics to standard error, coloured or as JSON. */
void report_diagnostics(Session *s);
/* An error that belongs to no place, "dpc: error: …", behind what else there is to report. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void report_error(Session *s, const char *format, ...);

#endif
