/* A trace: what an evaluator does, statement by statement, with the values that it makes, as lines of JSON. The format
 * is docs/traces.md; the interpreters write it (core/eval_trace.c, flat/eval_trace.c), the page of `dpc explain` and
 * tests read it.
 *
 * A trace has a budget, as a run may be long and its values large: of an array `most_items` elements are written, of a
 * run `most_events` events and about `most_bytes` bytes; what is left out is counted. */
#ifndef DPC_TRACE_H
#define DPC_TRACE_H

#include "core/core_eval.h"
#include "support/ptrmap.h"

enum { TRACE_ITEMS = 64, TRACE_EVENTS = 100000, TRACE_BYTES = 64 << 20 };
enum { TRACE_SCALARS = 4 }; /* times most_items: how many scalars of a value are written */

typedef struct Trace {
    Session *session;
    FILE *out;   /* where each line goes; NULL: all stay in `text` */
    StrBuf text; /* the line being written, or all */
    uint32_t most_items;
    uint64_t most_events, most_bytes;
    uint64_t events, bytes; /* written */
    bool cut;               /* the budget was over: no more events but the last */
    uint32_t left;          /* how many scalars of the value being written may follow */
    StrBuf body;            /* what the body of the statement under way has given, by instance */
    Arena *arena;
    PtrMap numbers; /* of statements: number + 1 */
    uint32_t nstatements;
} Trace;

/* Everything is in memory until trace_free, or goes to `out`. */
void trace_start(Trace *t, Session *session, FILE *out);
void trace_free(Trace *t);

/* ---- what is written before the run ---- */
void trace_head(Trace *t, const char *program, const char *entry, const char *evaluator);
/* Gives the statement its number, in the order of these calls, and begins its line: "statement", "id", "kind", "place".
 * within: the statement whose block it is in, or NULL. */
void trace_statement(Trace *t, const void *statement, const void *within, const char *kind, Span at);
uint32_t trace_number(const Trace *t, const void *statement); /* UINT32_MAX: it has none */

/* ---- events ---- */
/* Begins the line of an event; false when nothing is to be written: there is no trace, or its budget is over. */
bool trace_event(Trace *t, const char *event);
/* Likewise for the last event, which is always written: "result" or "failure". */
bool trace_last_event(Trace *t, const char *event);
void trace_key(Trace *t, const char *key);
void trace_count(Trace *t, const char *key, uint64_t n);
void trace_text(Trace *t, const char *key, const char *text); /* NULL: null */
void trace_place(Trace *t, const char *key, Span at);
void trace_end(Trace *t); /* of the line */
/* "message" and "place" of what has failed. */
void trace_failure(Trace *t, const CoreProgram *p, const EvalError *error);
/* What a body gives for an instance, between the two as items of a list: kept for the next trace_body. */
void trace_body_begin(Trace *t, uint64_t instance);
void trace_body_end(Trace *t);
void trace_body(Trace *t); /* "body", if there is any */

/* ---- values ---- */
void trace_scalar(Trace *t, Scalar s, uint64_t bits);
/* Lists: `trace_item` before each of n items. False ends the list: the rest is only counted. */
void trace_list(Trace *t);
bool trace_item(Trace *t, uint64_t i, uint64_t n);
void trace_list_end(Trace *t);
void trace_numbers(Trace *t, const char *key, const uint64_t *numbers, uint64_t n);
void trace_type(Trace *t, CoreType type);

#endif
