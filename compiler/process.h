/* Other programs: started with an argument vector, never through a shell. */
#ifndef DPC_PROCESS_H
#define DPC_PROCESS_H

#include <stdbool.h>

/* Files for the standard streams; NULL: the same as dpc's. */
typedef struct ProcessStreams {
    const char *in, *out, *err;
    unsigned seconds; /* the process is killed when it takes longer; 0: no limit */
} ProcessStreams;

enum { PROCESS_LATE = 256 };

/* Runs the program (found in PATH) and waits for it: its exit status, 128 + the signal that ended it, PROCESS_LATE if it was killed
 * for taking too long, or -1 with errno if it could not be started. argv ends with NULL. */
int process_run(char *const *argv, ProcessStreams streams);

/* A private folder for temporary files (program.c, program, in, out, err), one at a time. It is removed, too, when a
 * signal ends dpc. */
typedef struct TempFolder {
    char path[4096];
} TempFolder;
bool temp_folder_create(TempFolder *f); /* false and errno on failure */
/* "folder/name", into out. */
void temp_folder_file(const TempFolder *f, const char *name, char *out, unsigned long bytes);
/* Removes the folder and the files in it. */
void temp_folder_remove(const TempFolder *f);

#endif
