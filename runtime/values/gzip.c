/* Packed bytes: gzip'd files (.gz behind any ending), and raw deflate for members of .npz. With zlib, where dpc was
 * built with it. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

#ifdef DPC_HAVE_ZLIB

#include <zlib.h>

enum { GZIP = 15 + 16, RAW = -15, LEAST_BYTES = 1 << 16, PART_BYTES = 1 << 20 };

typedef struct Unpack {
    z_stream z;
    const char *bytes; /* packed */
    size_t n, at;
    char *out;
    size_t used, cap;
} Unpack;

static uInt part_of(size_t n) { return n < PART_BYTES ? (uInt)n : PART_BYTES; }

/* Fills what there is room for, part by part, as zlib counts in unsigned ints. Z_BUF_ERROR: it needs more, of what is
 * packed or of room, and has none. */
static int inflate_some(Unpack *u)
{
    uInt in = part_of(u->n - u->at), room = part_of(u->cap - u->used);
    u->z.next_in = (Bytef *)(uintptr_t)(u->bytes + u->at);
    u->z.avail_in = in;
    u->z.next_out = (Bytef *)u->out + u->used;
    u->z.avail_out = room;
    int status = inflate(&u->z, Z_NO_FLUSH);
    u->at += in - u->z.avail_in;
    u->used += room - u->z.avail_out;
    return status;
}

static bool grow(Unpack *u)
{
    char *grown = realloc(u->out, 2 * u->cap);
    if (!grown)
        return false;
    u->out = grown;
    u->cap *= 2;
    return true;
}

static bool fail_packed(const Unpack *u, int status, const char *path, DpError e)
{
    if (status == Z_MEM_ERROR)
        return dp_error_memory(e, path);
    return dp_error(e, "%s: at byte %llu: the gzip'd file is %s", path, (unsigned long long)u->at,
                    status == Z_BUF_ERROR ? "cut off" : "damaged");
}

/* Members stand one behind the other. */
static bool unpack_members(Unpack *u, const char *path, DpError e)
{
    int status = Z_OK;
    while (status == Z_OK) {
        if (u->used == u->cap && !grow(u))
            return dp_error_memory(e, path);
        status = inflate_some(u);
        if (status == Z_STREAM_END && u->at < u->n)
            status = inflateReset(&u->z);
    }
    return status == Z_STREAM_END || fail_packed(u, status, path, e);
}

char *dp_gunzip(const char *path, const char *bytes, size_t n, size_t *unpacked, DpError e)
{
    Unpack u = {.bytes = bytes, .n = n, .cap = LEAST_BYTES, .out = malloc(LEAST_BYTES)};
    bool ok = u.out && inflateInit2(&u.z, GZIP) == Z_OK;
    if (!ok)
        dp_error_memory(e, path);
    else {
        ok = unpack_members(&u, path, e);
        inflateEnd(&u.z);
    }
    if (!ok) {
        free(u.out);
        return NULL;
    }
    *unpacked = u.used;
    return u.out;
}

bool dp_gzip(FILE *out, const char *bytes, size_t n, DpError e)
{
    Bytef part[1 << 14];
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return dp_error_memory(e, "");
    for (int status = Z_OK; status != Z_STREAM_END;) {
        if (z.avail_in == 0) {
            z.next_in = (Bytef *)(uintptr_t)bytes;
            z.avail_in = part_of(n);
            bytes += z.avail_in;
            n -= z.avail_in;
        }
        z.next_out = part;
        z.avail_out = sizeof part;
        status = deflate(&z, n == 0 ? Z_FINISH : Z_NO_FLUSH);
        fwrite(part, 1, sizeof part - z.avail_out, out);
    }
    deflateEnd(&z);
    return true;
}

bool dp_inflate(const char *bytes, size_t n, char *out, size_t unpacked, const char *path, DpError e)
{
    Unpack u = {.bytes = bytes, .n = n, .out = out, .cap = unpacked};
    if (inflateInit2(&u.z, RAW) != Z_OK)
        return dp_error_memory(e, path);
    int status = Z_OK;
    while (status == Z_OK)
        status = inflate_some(&u);
    inflateEnd(&u.z);
    if (status == Z_MEM_ERROR)
        return dp_error_memory(e, path);
    return (status == Z_STREAM_END && u.used == unpacked) || dp_error(e, "%s: the packed bytes are damaged", path);
}

#else

char *dp_gunzip(const char *path, const char *bytes, size_t n, size_t *unpacked, DpError e)
{
    (void)bytes, (void)n, (void)unpacked;
    dp_error(e, "%s: gzip'd files cannot be read: dpc was built without zlib", path);
    return NULL;
}

bool dp_gzip(FILE *out, const char *bytes, size_t n, DpError e)
{
    (void)out, (void)bytes, (void)n;
    return dp_error(e, "gzip'd files cannot be written: dpc was built without zlib");
}

bool dp_inflate(const char *bytes, size_t n, char *out, size_t unpacked, const char *path, DpError e)
{
    (void)bytes, (void)n, (void)out, (void)unpacked;
    return dp_error(e, "%s: packed members cannot be read: dpc was built without zlib", path);
}

#endif
