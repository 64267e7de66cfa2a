/* Binaries of built programs on disk: finding the folder, loading, storing. How large the folder gets is in
 * cache_trim.c.
 *
 * A file opens with a header: magic, the digest that names it, the length and the digest of what follows; a file that
 * does not check is not used, for drivers may crash on a corrupt binary. */
#include "cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { HEADER_WORDS = 6 };
static const uint64_t MAGIC = UINT64_C(0x3262706463706f64); /* changes with the format */

/* Two independent multiplicative hashes, 128 bits in all: against accidents, not against an enemy, who has no access.
 */
static CacheKey mix(CacheKey k, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        k.a = (k.a ^ bytes[i]) * UINT64_C(0x100000001b3);
        k.b = (k.b + bytes[i] + 1) * UINT64_C(0x9e3779b97f4a7c15);
        k.b ^= k.b >> 29;
    }
    return k;
}

static const CacheKey START = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x2545f4914f6cdd1d)};

CacheKey dp_cache_key_more(CacheKey key, const char *text)
{
    return mix(key, (const unsigned char *)text, strlen(text) + 1);
}

CacheKey dp_cache_key(const char *const *texts, uint32_t n)
{
    CacheKey k = START;
    for (uint32_t i = 0; i < n; i++)
        k = dp_cache_key_more(k, texts[i]);
    return k;
}

/* ---- the folder ---- */
/* Ours, a directory and no link, and closed to others. */
static bool is_private(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

/* On a full disk PoCL would not start. */
#define LEAST_ROOM (UINT64_C(4) << 20)
static bool has_room(const char *path)
{
    struct statvfs fs = {0};
    statvfs(path, &fs);
    return access(path, W_OK | X_OK) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize >= LEAST_ROOM;
}

/* Makes it if it is not there. */
static bool is_usable(const char *path)
{
    mkdir(path, 0700); /* may exist */
    return is_private(path) && has_room(path);
}

enum { PATH_ROOM = 4096 };
static bool find_directory(char path[PATH_ROOM])
{
    const char *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME"), *tmp = getenv("TMPDIR");
    if (xdg && xdg[0] == '/') {
        mkdir(xdg, 0700);
        snprintf(path, PATH_ROOM, "%s/dpc", xdg);
        if (is_usable(path))
            return true;
    }
    if (home && home[0] == '/') {
        snprintf(path, PATH_ROOM, "%s/.cache", home);
        mkdir(path, 0700);
        snprintf(path, PATH_ROOM, "%s/.cache/dpc", home);
        if (is_usable(path))
            return true;
    }
    snprintf(path, PATH_ROOM, "%s/dpc-%ld", tmp && tmp[0] == '/' ? tmp : "/tmp", (long)geteuid());
    return is_usable(path);
}

char *dp_cache_directory(void)
{
    char path[PATH_ROOM];
    return find_directory(path) ? strdup(path) : NULL;
}

/* ---- files ---- */
static void file_name(char *to, size_t room, const char *dir, CacheKey key)
{
    snprintf(to, room, "%s/%016llx%016llx.bin", dir, (unsigned long long)key.a, (unsigned long long)key.b);
}

static bool read_all(int fd, void *to, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = read(fd, (char *)to + at, n - at);
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t put = write(fd, (const char *)from + at, n - at);
        if (put <= 0)
            return false;
        at += (size_t)put;
    }
    return true;
}

/* The body of a file that is one of ours and whole. */
static unsigned char *load_body(int fd, CacheKey key, size_t *n)
{
    uint64_t header[HEADER_WORDS];
    struct stat st = {0};
    fstat(fd, &st); /* an open file tells */
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || !read_all(fd, header, sizeof header))
        return NULL;
    if (header[0] != MAGIC || header[1] != key.a || header[2] != key.b ||
        (uint64_t)st.st_size != sizeof header + header[3])
        return NULL;
    *n = (size_t)header[3];
    unsigned char *bytes = malloc(*n + 1);
    if (bytes && read_all(fd, bytes, *n)) { /* GCOVR_EXCL_BR_LINE: it is that long, but a disk may be broken */
        CacheKey sum = mix(START, bytes, *n);
        if (sum.a == header[4] && sum.b == header[5])
            return bytes;
    }
    free(bytes);
    return NULL;
}

unsigned char *dp_cache_load(const char *dir, CacheKey key, size_t *n)
{
    char path[4200];
    file_name(path, sizeof path, dir, key);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC); /* not to wait for a pipe's writer */
    if (fd < 0)
        return NULL;
    unsigned char *bytes = load_body(fd, key, n);
    if (bytes)
        futimens(fd, NULL); /* its last use */
    close(fd);
    return bytes;
}

/* Written aside and renamed: readers see the whole file or none. */
void dp_cache_store(const char *dir, CacheKey key, const unsigned char *bytes, size_t n)
{
    char path[4200], aside[4300];
    CacheKey sum = mix(START, bytes, n);
    const uint64_t header[HEADER_WORDS] = {MAGIC, key.a, key.b, n, sum.a, sum.b};
    file_name(path, sizeof path, dir, key);
    snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    int fd = mkstemp(aside);
    if (fd < 0)
        return;
    bool good = write_all(fd, header, sizeof header) && write_all(fd, bytes, n);
    good = close(fd) == 0 && good; /* GCOVR_EXCL_BR_LINE: fails on file systems of other machines alone */
    if (!good || rename(aside, path) != 0)
        unlink(aside);
}
