/* Tune files: what `dpc tune` has found to be fast for a program and its data on a device.
 *
 *     # dpc tune rows.dp: 812.4 us, 1203.0 us without these
 *     device=Portable Computing Language, pthread-haswell
 *     # driver: 3.1
 *     nest=lane # 1203.0 -> 812.4 us
 *
 * "#" begins a comment. The device comes first; then each line is a setting as of --param. They hold on that device
 * only, and where nothing else is asked for. */
#ifndef DP_TUNE_H
#define DP_TUNE_H

#include <stdbool.h>
#include <stddef.h>

/* name: of the file, for messages. text: NULL: there is none. */
typedef struct DpTune {
    const char *name, *text;
} DpTune;

/* Is it one? Else false and a message, "f.tune:3: there is no parameter …". */
bool dp_tune_check(const DpTune *t, char *error, size_t error_bytes);
/* Reads the file and checks it: its text, malloc'd; NULL and a message. */
char *dp_tune_load(const char *name, char *error, size_t error_bytes);

#endif
