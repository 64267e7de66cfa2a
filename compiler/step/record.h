/* A run that has been written down (docs/traces.md), to be walked through forwards and backwards: events with their
 * statements. Where one is, is the number of an event, which has just happened.
 *
 * How deep an event is, is a pair: calls under way, then blocks of statements around it. */
#ifndef DPC_RECORD_H
#define DPC_RECORD_H

#include "step/json.h"

#include <stddef.h>

typedef struct RecordStatement {
    const Json *json;
    uint32_t within; /* a statement, or RECORD_NONE */
    uint32_t level;  /* blocks around it */
    uint32_t line;   /* of the program's file that was run; 0: it is in another */
} RecordStatement;
#define RECORD_NONE UINT32_MAX

typedef struct RecordEvent {
    const char *text;   /* its line */
    const char *kind;   /* "step" */
    uint32_t statement; /* or RECORD_NONE */
    uint32_t depth, level;
} RecordEvent;

typedef struct Record {
    Arena *arena;
    const Json *head;
    VEC(RecordStatement) statements;
    VEC(RecordEvent) events;
} Record;

/* Reads a trace, whose text has to stay. False if it is none. */
bool record_read(Record *r, Arena *arena, char *text);
/* The event as it was written, in the arena. */
const Json *record_event(const Record *r, Arena *arena, uint32_t event);
bool record_is_call(const Record *r, uint32_t event);
uint32_t record_line(const Record *r, uint32_t event); /* of its statement; 0: it has none in the program's file */

/* Where one is after a step from there; the same place where there is nothing further. */
uint32_t record_next(const Record *r, uint32_t at);   /* over calls and instances */
uint32_t record_back(const Record *r, uint32_t at);   /* likewise */
uint32_t record_inner(const Record *r, uint32_t at);  /* the next event of all */
uint32_t record_before(const Record *r, uint32_t at); /* the one before it of all */
uint32_t record_out(const Record *r, uint32_t at);    /* where the call or block is over */
/* The call that the event is in, or the event itself if it is one; RECORD_NONE: there is none. */
uint32_t record_call(const Record *r, uint32_t at);
/* The last event of the kinds instance, round and branch of the statement, before `at` and in its call. */
uint32_t record_part(const Record *r, uint32_t at, uint32_t statement);
/* The latest event at `at` or before it, in its call, that has bound the name ("xs", "%4" or "%4.xs"): the value. NULL:
 * there is none. In the arena. */
const Json *record_value(const Record *r, Arena *arena, uint32_t at, const char *name);

#endif
