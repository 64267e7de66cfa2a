/* From a compilation to an executable: the generated C goes through the C compiler and is linked with the
 * runtime library. */
#ifndef DPC_TOOLCHAIN_H
#define DPC_TOOLCHAIN_H

#include "driver/driver.h"
#include "driver/process.h"

/* Builds `output`, using the folder for temporary files. The compilation is at STAGE_FLAT. EXIT_OK, or another
 * status after a message. */
int toolchain_build(Compilation *c, const TempFolder *folder, const char *output);

#endif
