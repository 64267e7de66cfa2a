/* dpc doc: what modules define, as a page of HTML: types, comments, costs, examples, and a search. */
#ifndef DPC_DOC_H
#define DPC_DOC_H

#include "driver/driver.h"

void doc_begin(StrBuf *out, const char *title);
/* The definitions of a program's own file, which has been compiled to STAGE_ELABORATED. */
void doc_module(StrBuf *out, Compilation *c);
void doc_end(StrBuf *out);

#endif
