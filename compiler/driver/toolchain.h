/* From a compilation to an executable: the generated C goes through the C compiler and is linked with the
 * runtime library. */
#ifndef DPC_TOOLCHAIN_H
#define DPC_TOOLCHAIN_H

#include "driver/driver.h"
#include "driver/process.h"

/* Builds `output`, using the folder for temporary files. The compilation is at STAGE_FLAT. EXIT_OK, or another
 * status after a message. */
int toolchain_build(Compilation *c, const TempFolder *folder, const char *output);

/* A library, which is made in the folder: of one C file that is there. */
typedef struct ToolchainLibrary {
    const char *source;
    const char *name;                              /* what the names begin with that it exports */
    bool shared;                                   /* with the runtime in it; else it is linked with that later */
    char file[sizeof((TempFolder *)0)->path + 16]; /* which it has become */
} ToolchainLibrary;
int toolchain_library(Compilation *c, const TempFolder *folder, ToolchainLibrary *library);

/* Writes a file, or says why not. EXIT_OK, or another status. */
int toolchain_write(Compilation *c, const StrBuf *text, const char *path, unsigned mode);

#endif
