/* Binaries of built programs on disk, in a directory that only its owner can enter.
 *
 * A file is named by the digest of everything that went into the build. It opens with a header: magic, the digest, the length and the
 * digest of what follows; a file that does not check is not used, for drivers may crash on a corrupt binary. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_WORDS = 6 };
static const uint64_t MAGIC = UINT64_C(0x3162706463706f64); /* changes with the format */

/* Two independent multiplicative hashes, 128 bits in all: against accidents, not against an enemy, who has no access. */
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

CacheKey cache_key(const char *const *texts, uint32_t n)
{
    CacheKey k = START;
    for (uint32_t i = 0; i < n; i++)
        k = mix(k, (const unsigned char *)texts[i], strlen(texts[i]) + 1);
    return k;
}

/* Ours, a directory and no link, and closed to others. */
static bool is_private(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

static bool make_private(const char *path)
{
    mkdir(path, 0700); /* may exist */
    return is_private(path);
}

char *cache_directory(void)
{
    char path[4096];
    const char *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && xdg[0] == '/') {
        snprintf(path, sizeof path, "%s/dpc", xdg);
        mkdir(xdg, 0700);
    } else if (home && home[0] == '/') {
        snprintf(path, sizeof path, "%s/.cache", home);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%s/.cache/dpc", home);
    } else {
        snprintf(path, sizeof path, "/tmp/dpc-%ld", (long)geteuid());
    }
    return make_private(path) ? strdup(path) : NULL;
}

static void file_name(char *to, size_t room, const char *dir, CacheKey key, const char *ending)
{
    snprintf(to, room, "%s/%016llx%016llx%s", dir, (unsigned long long)key.a, (unsigned long long)key.b, ending);
}

unsigned char *cache_load(const char *dir, CacheKey key, size_t *n)
{
    char path[4200];
    file_name(path, sizeof path, dir, key, ".bin");
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    uint64_t header[HEADER_WORDS];
    unsigned char *bytes = NULL;
    struct stat st;
    bool good = fread(header, sizeof header, 1, f) == 1 && header[0] == MAGIC && header[1] == key.a && header[2] == key.b;
    good = good && fstat(fileno(f), &st) == 0 && (uint64_t)st.st_size == sizeof header + header[3];
    if (good && (bytes = malloc(header[3] + 1)) && fread(bytes, 1, header[3], f) == header[3]) {
        CacheKey sum = mix(START, bytes, header[3]);
        good = sum.a == header[4] && sum.b == header[5];
        *n = header[3];
    } else {
        good = false;
    }
    fclose(f);
    if (!good) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* Written aside and renamed: readers see the whole file or none. Failures are harmless. */
void cache_store(const char *dir, CacheKey key, const unsigned char *bytes, size_t n)
{
    char path[4200], aside[4300];
    CacheKey sum = mix(START, bytes, n);
    const uint64_t header[HEADER_WORDS] = {MAGIC, key.a, key.b, n, sum.a, sum.b};
    file_name(path, sizeof path, dir, key, ".bin");
    snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    int fd = mkstemp(aside);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f)
        return;
    bool good = fwrite(header, sizeof header, 1, f) == 1 && fwrite(bytes, 1, n, f) == n;
    good = fclose(f) == 0 && good;
    if (!good || rename(aside, path) != 0)
        unlink(aside);
}
