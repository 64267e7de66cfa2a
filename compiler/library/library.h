/* `dpc library`: a program as functions of C. Two texts: a header with a function for each entry, and C code with the
 * host program, its tables and these functions, which goes with the runtime. */
#ifndef DPC_LIBRARY_H
#define DPC_LIBRARY_H

#include "driver/driver.h"

typedef struct LibraryTexts {
    StrBuf header, source;
} LibraryTexts;

/* The compilation is at STAGE_PLAN; name: what all names begin with, as the files do, a name of C. False after a
 * message. */
bool library_emit(LibraryTexts *to, Compilation *c, const char *name);

#endif
