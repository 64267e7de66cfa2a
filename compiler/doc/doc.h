/* dpc doc: what modules define, as a page of HTML: types, comments, costs, examples, and a search. Types lead to where
 * they are defined, if that is on the page. */
#ifndef DPC_DOC_H
#define DPC_DOC_H

#include "driver/driver.h"

/* To STAGE_ELABORATED, with all definitions as entries that could be, for their costs. */
bool doc_compile(Compilation *c);
/* The definitions of the modules' own files. Mistakes in their tests are reported to their sessions. */
void doc_page(StrBuf *out, const char *title, Compilation *const *modules, uint32_t n);

#endif
