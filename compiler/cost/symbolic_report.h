/* The formulas of work and span, for people and for programs (docs/tools.md, "dpc cost"). */
#ifndef DPC_SYMBOLIC_REPORT_H
#define DPC_SYMBOLIC_REPORT_H

#include "cost/symbolic.h"

void symbolic_print(StrBuf *out, const CoreProgram *p, FnCost *costs, Arena *arena);
void symbolic_print_one(StrBuf *out, const CoreProgram *p, FnCost *costs, uint32_t fn, Arena *arena);
/* An array of JSON, and a newline. */
void symbolic_print_json(StrBuf *out, const CoreProgram *p, FnCost *costs, Arena *arena);

#endif
