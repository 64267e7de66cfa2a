/* What `dpc step` shows of a recorded run: an event, a value beside its representation, where one is, the program's
 * lines. */
#ifndef DPC_SHOW_H
#define DPC_SHOW_H

#include "step/record.h"
#include "support/session.h"

#include <stdio.h>

typedef VEC(uint32_t) Lines;

void show_event(FILE *out, const Record *r, uint32_t at);
void show_value(FILE *out, const Json *value);
/* Calls under way, and the instances, rounds and branches in each, the innermost first. */
void show_where(FILE *out, const Record *r, uint32_t at);
/* The lines around the event's, which is marked ">", those of `breaks` with "*". */
void show_source(FILE *out, Session *s, const Record *r, uint32_t at, const Lines *breaks);

#endif
