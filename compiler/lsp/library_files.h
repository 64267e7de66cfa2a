/* The library as files that an editor can open. */
#ifndef DPC_LSP_LIBRARY_FILES_H
#define DPC_LSP_LIBRARY_FILES_H

#include <stdbool.h>

/* Of a library's file as it is named in messages ("stdlib/stats.dp"): the path of a file with its text, the heap's. It
 * and all others of the library are written into the folder `library` of the cache, which only its owner can enter,
 * unless they are there. NULL: there is no such folder, or it cannot be written. */
char *library_file_path(const char *name);

/* Is it one of these copies? */
bool library_has_file(const char *path);

#endif
