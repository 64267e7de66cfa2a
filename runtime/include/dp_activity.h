/* What the process is doing, in one line on the terminal: "reading trades.csv", "compiling kernels 12/57".
 *
 * Only where standard error is a terminal, and not before half a second. Other text may only be written while nothing
 * is shown: whoever begins an activity ends it by dp_activity_end, and what is written in the middle of one comes after
 * that, too. Without dp_activity_start nothing is ever shown. */
#ifndef DP_ACTIVITY_H
#define DP_ACTIVITY_H

/* Once in a process, by the program and not by a library; from now the half second is counted. */
void dp_activity_start(void);

/* From now on this is going on. */
void dp_activity(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Nothing is; the line is erased. */
void dp_activity_end(void);

/* What erases the line, or "": for a handler of signals, which ends the process. */
const char *dp_activity_eraser(void);

#endif
