/* Programs that run without being compiled to an executable: the plan is executed by a child process of dpc, which does
 * all that an executable does (runtime/include/dp_rt.h: dp_main). */
#ifndef DPC_IN_PROCESS_H
#define DPC_IN_PROCESS_H

#include "driver/driver.h"
#include "driver/process.h"

/* Runs the compilation, at STAGE_PLAN, with the words of its command line; argv ends with NULL. As process_run. */
int run_in_process(const Compilation *c, char **argv, ProcessOptions options);
/* Its profile is on standard output, its result only where the words say (dp_profile_main). */
int profile_in_process(const Compilation *c, char **argv);

#endif
