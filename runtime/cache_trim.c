/* How much the cache's folder holds, and keeping it within its limit. */
#include "cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_LIMIT (UINT64_C(1) << 30)
enum { TRIM_SECONDS = 600, GRACE_SECONDS = 3600 };
enum { MAX_ENTRIES = 16384 }; /* looked at in one go; half of them may stay */
enum { MAX_DEPTH = 8, NAME_ROOM = 96 };

typedef struct Entry {
    char name[NAME_ROOM]; /* from the cache's folder on */
    uint64_t bytes;
    time_t used;
    bool leftover; /* of a writer that did not finish */
} Entry;
typedef struct Entries {
    Entry *at;
    uint32_t n;
    uint64_t bytes;
} Entries;

/* ---- trees ---- */
static DIR *open_folder(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static const char *next_name(DIR *d)
{
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            return e->d_name;
    return NULL;
}

/* The bytes on disk of a file or folder; removes it, too, if told. */
static uint64_t visit_tree(int at, const char *name, bool removing, unsigned depth)
{
    struct stat st = {0}; /* for what another process has just removed */
    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW);
    uint64_t bytes = (uint64_t)st.st_blocks * 512;
    bool folder = S_ISDIR(st.st_mode);
    DIR *d = folder && depth < MAX_DEPTH ? open_folder(at, name) : NULL;
    if (d) {
        for (const char *below; (below = next_name(d)) != NULL;)
            bytes += visit_tree(dirfd(d), below, removing, depth + 1);
        closedir(d);
    }
    if (removing)
        unlinkat(at, name, folder ? AT_REMOVEDIR : 0);
    return bytes;
}

void dp_folder_remove(const char *path) { visit_tree(AT_FDCWD, path, true, 0); }

/* ---- entries ---- */
/* PoCL touches the file last_accessed in a program's folder; else the entry's own time counts. */
static time_t last_use(int at, const char *name)
{
    char path[NAME_ROOM + 16];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/last_accessed", name);
    if (fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW);
    return st.st_mtime;
}

static void add_entry(Entries *all, int at, const char *name, bool leftover)
{
    if (strlen(name) >= NAME_ROOM)
        return;
    Entry *e = &all->at[all->n++];
    *e = (Entry){.bytes = visit_tree(at, name, false, 0), .used = last_use(at, name), .leftover = leftover};
    strcpy(e->name, name);
    all->bytes += e->bytes;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);
    return n >= k && strcmp(name + n - k, ending) == 0;
}

/* The programs in one of PoCL's folders XX, or a file that it is writing. */
static void add_pocl(Entries *all, int at, const char *name)
{
    char path[NAME_ROOM];
    DIR *d = NULL;
    if (snprintf(path, sizeof path, "pocl/%s", name) >= (int)sizeof path)
        return;
    if (strlen(name) == 2 && (d = open_folder(at, path)) != NULL) {
        for (const char *below; all->n < MAX_ENTRIES && (below = next_name(d)) != NULL;)
            if (snprintf(path, sizeof path, "pocl/%s/%s", name, below) < (int)sizeof path)
                add_entry(all, at, path, false);
        closedir(d);
    } else {
        add_entry(all, at, path, true);
    }
}

static Entries list_entries(DIR *top)
{
    Entries all = {malloc(MAX_ENTRIES * sizeof(Entry)), 0, 0};
    int at = dirfd(top);
    if (!all.at)
        return all;
    for (const char *name; all.n < MAX_ENTRIES && (name = next_name(top)) != NULL;)
        if (ends_in(name, ".bin") || strstr(name, ".bin."))
            add_entry(&all, at, name, !ends_in(name, ".bin"));
    DIR *pocl = open_folder(at, "pocl");
    for (const char *name; pocl && all.n < MAX_ENTRIES && (name = next_name(pocl)) != NULL;)
        add_pocl(&all, at, name);
    if (pocl)
        closedir(pocl);
    return all;
}

static int by_use(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    return x->used < y->used ? -1 : x->used > y->used ? 1 : strcmp(x->name, y->name);
}

/* Leftovers, then the entries longest unused, up to the limits; none used since `grace`. */
static void remove_oldest(int at, Entries *all, uint64_t limit, uint32_t most, time_t grace)
{
    uint32_t left = all->n;
    qsort(all->at, all->n, sizeof *all->at, by_use);
    for (uint32_t i = 0; i < all->n && all->at[i].used < grace; i++) {
        const Entry *e = &all->at[i];
        if (!e->leftover && all->bytes <= limit && left <= most)
            continue;
        visit_tree(at, e->name, true, 0);
        all->bytes -= e->bytes;
        left--;
    }
}

/* ---- what others call ---- */
uint64_t dp_cache_limit(void)
{
    const char *limit = getenv("DP_CACHE_BYTES");
    char *end = NULL;
    uint64_t bytes = limit && *limit ? strtoull(limit, &end, 10) : 0;
    return end && !*end ? bytes : DEFAULT_LIMIT;
}

CacheUse dp_cache_use(const char *dir)
{
    CacheUse use = {0, 0};
    DIR *top = open_folder(AT_FDCWD, dir);
    if (!top)
        return use;
    Entries all = list_entries(top);
    use = (CacheUse){all.n, all.bytes};
    free(all.at);
    closedir(top);
    return use;
}

static void trim(const char *dir, uint64_t limit, uint32_t most, time_t grace)
{
    DIR *top = open_folder(AT_FDCWD, dir);
    if (!top) /* no memory */
        return;
    Entries all = list_entries(top);
    if (all.at)
        remove_oldest(dirfd(top), &all, limit, most, grace);
    free(all.at);
    closedir(top);
}

void dp_cache_trim(const char *dir)
{
    char stamp[4200];
    struct stat st;
    time_t now = time(NULL);
    snprintf(stamp, sizeof stamp, "%s/trimmed", dir);
    bool known = lstat(stamp, &st) == 0;
    if (known && st.st_mtime <= now && now - st.st_mtime < TRIM_SECONDS)
        return;
    int fd = open(stamp, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    futimens(fd, NULL);
    close(fd);
    trim(dir, dp_cache_limit(), MAX_ENTRIES / 2, now - GRACE_SECONDS);
}

void dp_cache_clear(const char *dir)
{
    /* as often as it takes, and no longer than anything goes */
    for (uint64_t before = UINT64_MAX, left; (left = dp_cache_use(dir).entries) > 0 && left < before; before = left)
        trim(dir, 0, 0, time(NULL) + GRACE_SECONDS);
}
