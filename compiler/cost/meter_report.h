/* What a meter has counted, for people and for programs (docs/tools.md, "dpc cost"). */
#ifndef DPC_METER_REPORT_H
#define DPC_METER_REPORT_H

#include "cost/meter.h"
#include "support/strbuf.h"

/* A table of definitions, and one of lines with their text. */
void meter_print(StrBuf *out, Session *s, Meter *m, const char *entry);
/* The same as an object of JSON, and a newline. */
void meter_print_json(StrBuf *out, Session *s, Meter *m, const char *entry);

#endif
