/* What is kept on disk between runs, in one folder that only its owner can enter:
 *
 *   NAME.bin              the binary of a built program; NAME is the digest of all that went into the build
 *   NAME.bin.XXXXXX       one that is being written
 *   pocl/XX/NAME/…        PoCL's own (POCL_CACHE_DIR): an entry is the folder of a program
 *   trimmed               its time says when the folder was last looked through
 *
 * Everything here is best effort: what cannot be kept is built again, and no function fails the program. */
#ifndef DP_CACHE_H
#define DP_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first of $XDG_CACHE_HOME/dpc, $HOME/.cache/dpc and $TMPDIR/dpc-UID (or /tmp/dpc-UID) that is ours, closed to
 * others and can be written; malloc'd, or NULL. */
char *dp_cache_directory(void);

typedef struct CacheKey {
    uint64_t a, b;
} CacheKey;
CacheKey dp_cache_key(const char *const *texts, uint32_t n);
CacheKey dp_cache_key_more(CacheKey key, const char *text);             /* of one more text */
unsigned char *dp_cache_load(const char *dir, CacheKey key, size_t *n); /* malloc'd, or NULL */
void dp_cache_store(const char *dir, CacheKey key, const unsigned char *bytes, size_t n);

/* How much the folder holds: entries and their bytes on disk. */
typedef struct CacheUse {
    uint64_t entries, bytes;
} CacheUse;
CacheUse dp_cache_use(const char *dir);
uint64_t dp_cache_limit(void); /* bytes: DP_CACHE_BYTES, or 1 GiB */
/* Every ten minutes at most: removes what writers left behind, and the entries whose last use is longest ago until the
 * rest is within the limit. What was used in the last hour stays: PoCL may still be using it. */
void dp_cache_trim(const char *dir);
void dp_cache_clear(const char *dir); /* removes all entries */

/* Removes a folder and what is in it, without following links. */
void dp_folder_remove(const char *path);

#endif
