/* Everything that dpc and its executables write goes through here: no partial file, no output lost in silence.
 *
 *     DpOutput o;
 *     if (!dp_output_open(&o, path, 0666)) … errno …
 *     fputs("text", o.file);                    -- failures are noticed at the end
 *     if (!dp_output_close(&o)) … errno …       -- or dp_output_discard(&o)
 *
 * A regular file is written under another name in the same folder and renamed when it is complete. Symbolic links are
 * followed, also to files that are not there yet; an old file's mode and owner are kept. Written in place are
 * devices, pipes, open streams (/dev/stdout, /dev/fd/N), and files that cannot be replaced: in a folder that is not
 * writable, or of another owner.
 *
 * While such a file is open, signals that end the process remove it first. One thread opens and closes outputs. */
#ifndef DP_OUTPUT_H
#define DP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct DpOutput {
    FILE *file;
    char *target, *temporary; /* owned; NULL: in place */
    int slot;                 /* among those that signals remove; -1: none */
} DpOutput;

/* mode: of a new file, less the umask; its execute bits are added to those of an old file, too. On failure false and
 * errno. */
bool dp_output_open(DpOutput *o, const char *path, mode_t mode);
/* The file takes its name, if all has been written; else false and errno, and the old file is as it was. */
bool dp_output_close(DpOutput *o);
/* Closes and removes what has been written. Keeps errno. */
void dp_output_discard(DpOutput *o);
/* Removes the temporary files of all open outputs: for a process that ends. May be called in a signal's handler. */
void dp_outputs_remove(void);

/* Would two outputs of these names replace each other? Devices, pipes and streams do not. */
bool dp_output_same(const char *a, const char *b);
/* Would an output of this name replace the (existing) file, be it under another name? */
bool dp_output_replaces(const char *output, const char *file);

/* Has everything reached the stream's file? False and errno otherwise. To be asked at the end of what carries a result.
 */
bool dp_stream_done(FILE *stream);

/* What is written to `file` is collected in memory. */
typedef struct DpMemoryFile {
    FILE *file;
    char *bytes;
    size_t n, room; /* bytes written; and that there is room for */
    bool failed;
} DpMemoryFile;
/* False and errno: out of memory. *m must stay where it is until it is closed. */
bool dp_memory_open(DpMemoryFile *m);
/* Returns m->n bytes and a NUL behind them, malloc'd; NULL and errno if memory has run out. */
char *dp_memory_close(DpMemoryFile *m);

/* To be called first: standard streams that are closed must not become the next files that are opened. */
void dp_streams_guard(void);

#endif
