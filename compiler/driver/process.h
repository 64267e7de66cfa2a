/* Other programs, temporary folders, and what becomes of both when a signal ends dpc.
 *
 * Programs are started with an argument vector, never through a shell. Signals that end dpc are held back in all
 * threads but one, which waits for them, stops the program that runs, removes the temporary folder and files, and lets
 * dpc die by the signal. */
#ifndef DPC_PROCESS_H
#define DPC_PROCESS_H

#include <stdbool.h>

/* ---- signals ---- */

/* In main, before other threads are started. Signals that are ignored stay so; SIGPIPE and SIGXFSZ become errors of
 * writing. */
void signals_start(void);
/* From here on SIGINT ends what runs for dpc, and not dpc itself. */
void signals_spare_interrupt(void);
/* How many have come since then while nothing ran. */
unsigned signals_interrupts(void);
/* At the end: a reader that has gone away ends dpc now, by SIGPIPE. Returns if that is not what has happened. */
void signals_end_by_pipe(void);

/* ---- processes ---- */

typedef struct ProcessOptions {
    const char *in, *out, *err; /* files for the standard streams; NULL: the same as dpc's */
    const char *tmp;            /* its TMPDIR; NULL: the same as dpc's */
    unsigned seconds;           /* it is killed when it takes longer; 0: no limit */
    bool own_group;             /* it has processes of its own, and does not read the terminal */
} ProcessOptions;

enum { PROCESS_LATE = 256 };

/* Runs the program (found in PATH) and waits for it: its exit status, 128 + the signal that ended it, PROCESS_LATE if
 * it was killed for taking too long, or -1 with errno if it could not be started. argv ends with NULL. */
int process_run(char *const *argv, ProcessOptions options);

/* The same for a function: it is called in a child process, whose exit status is what it returns. Nothing that it
 * changes is seen here. */
int process_call(int (*work)(void *data), void *data, ProcessOptions options);

/* ---- temporary folders ---- */

/* A folder that only its owner can enter, below TMPDIR or /tmp; one at a time. It is removed, too, when dpc exits or is
 * ended. */
typedef struct TempFolder {
    char path[4096]; /* absolute */
} TempFolder;
const char *temp_folder_base(void);     /* the folder that it is made in, for messages */
bool temp_folder_create(TempFolder *f); /* false and errno on failure */
/* "folder/name", into out. */
void temp_folder_file(const TempFolder *f, const char *name, char *out, unsigned long bytes);
/* Removes the folder and the files in it. */
void temp_folder_remove(const TempFolder *f);

#endif
