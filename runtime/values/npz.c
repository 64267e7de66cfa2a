/* NumPy's .npz files: zip archives of .npy files, stored or deflated.
 *
 * The directory at the archive's end says where the members are; those that are not wanted are not looked at. Written
 * are stored members. */
#include "dp_output.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

enum {
    END_BYTES = 22,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    NAME_BYTES = 80,
    STORED = 0,
    DEFLATED = 8,
    MESSAGE_BYTES = 512
};

typedef struct Member {
    const char *name; /* not terminated, without .npy */
    size_t name_bytes;
    uint32_t method, crc, packed, unpacked, local;
} Member;

typedef struct Zip {
    DpArchive archive; /* first */
    const uint8_t *bytes;
    size_t n, directory;
    Member member; /* found last */
} Zip;

static uint32_t load16(const uint8_t *b) { return (uint32_t)(b[0] | b[1] << 8); }
static uint32_t load32(const uint8_t *b) { return load16(b) | load16(b + 2) << 16; }

static bool fail(const Zip *z, size_t at, const char *what)
{
    return dp_error(z->archive.error, "%s: at byte %llu: not a valid .npz file: %s", z->archive.path,
                    (unsigned long long)at, what);
}

/* ---- the directory ---- */

/* The record at the end has a comment of up to 64 kB behind it. */
static bool find_directory(Zip *z)
{
    size_t least = z->n > END_BYTES + 0xffff ? z->n - END_BYTES - 0xffff : 0;
    for (size_t at = z->n >= END_BYTES ? z->n - END_BYTES + 1 : 0; at-- > least;) {
        const uint8_t *b = z->bytes + at;
        if (memcmp(b, "PK\5\6", 4) != 0 || load16(b + 20) != z->n - at - END_BYTES)
            continue;
        z->archive.members = load16(b + 10);
        z->directory = load32(b + 16);
        if (z->archive.members == 0xffff || z->directory == 0xffffffff)
            return fail(z, at, "archives of zip64 are not read");
        return z->directory <= at || fail(z, at, "the directory stands behind its end");
    }
    return fail(z, 0, "the directory of the archive is missing");
}

/* The entry at *at, which moves behind it. */
static bool next_member(const Zip *z, size_t *at, Member *m)
{
    const uint8_t *b = z->bytes + *at;
    if (z->n - *at < ENTRY_BYTES || memcmp(b, "PK\1\2", 4) != 0)
        return fail(z, *at, "the directory is damaged");
    *m = (Member){(const char *)b + ENTRY_BYTES,
                  load16(b + 28),
                  load16(b + 10),
                  load32(b + 16),
                  load32(b + 20),
                  load32(b + 24),
                  load32(b + 42)};
    size_t bytes = ENTRY_BYTES + m->name_bytes + load16(b + 30) + load16(b + 32);
    if (bytes > z->n - *at)
        return fail(z, *at, "the directory is cut off");
    if (m->packed == 0xffffffff || m->unpacked == 0xffffffff || m->local == 0xffffffff)
        return fail(z, *at, "members of 4 GB and more (zip64) are not read");
    if (load16(b + 8) & 1)
        return fail(z, *at, "the member is encrypted");
    if (m->name_bytes > 4 && memcmp(m->name + m->name_bytes - 4, ".npy", 4) == 0)
        m->name_bytes -= 4;
    *at += bytes;
    return true;
}

static bool find_member(DpArchive *a, const char *name, uint32_t index, bool *found)
{
    Zip *z = (Zip *)a;
    Member *m = &z->member;
    size_t at = z->directory;
    *found = false;
    for (uint32_t i = 0; !*found && i < a->members; i++) {
        if (!next_member(z, &at, m))
            return false;
        *found = name ? strlen(name) == m->name_bytes && memcmp(name, m->name, m->name_bytes) == 0 : i == index;
    }
    return true;
}

/* ---- members ---- */

static bool find_data(const Zip *z, const Member *m, const char **data)
{
    const uint8_t *b = z->bytes + m->local;
    if (m->local > z->n || z->n - m->local < LOCAL_BYTES || memcmp(b, "PK\3\4", 4) != 0)
        return fail(z, m->local, "a member is not where the directory says");
    size_t before = LOCAL_BYTES + load16(b + 26) + load16(b + 28), left = z->n - m->local;
    if (before > left || m->packed > left - before)
        return fail(z, m->local, "a member is cut off");
    if (m->method == STORED ? m->packed != m->unpacked : m->unpacked / DP_DEFLATE_MOST > m->packed)
        return fail(z, m->local, "a member cannot have so many bytes");
    *data = (const char *)b + before;
    return true;
}

static bool check_sum(const char *bytes, size_t n, uint32_t wanted)
{
    DpCrc crc;
    dp_crc_begin(&crc);
    dp_crc_add(&crc, bytes, n);
    return dp_crc_end(&crc) == wanted;
}

static bool read_member(DpArchive *a, const DpType *t, DpLeaf *leaf)
{
    const Zip *z = (const Zip *)a;
    const Member *m = &z->member;
    const char *data = NULL;
    char path[MESSAGE_BYTES];
    if (!find_data(z, m, &data))
        return false;
    if (m->method != STORED && m->method != DEFLATED)
        return fail(z, m->local, "a member is packed in an unknown way");
    snprintf(path, sizeof path, "%.400s: member %.*s", z->archive.path,
             m->name_bytes > NAME_BYTES ? NAME_BYTES : (int)m->name_bytes, m->name);
    char *unpacked = m->method == DEFLATED ? dp_alloc_array(m->unpacked, 1) : NULL;
    if (m->method == DEFLATED && !unpacked)
        return dp_error_memory(z->archive.error, z->archive.path);
    bool ok = !unpacked || dp_inflate(data, m->packed, unpacked, m->unpacked, path, z->archive.error);
    const char *bytes = unpacked ? unpacked : data;
    ok = ok &&
         (check_sum(bytes, m->unpacked, m->crc) || fail(z, m->local, "a member is damaged: its checksum is wrong"));
    ok = ok && dp_read_npy(path, bytes, m->unpacked, t, leaf, z->archive.error);
    free(unpacked);
    return ok;
}

bool dp_read_npz(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    Zip z = {.archive = {.path = path, .kind = ".npz", .error = e, .find = find_member, .read = read_member},
             .bytes = (const uint8_t *)bytes,
             .n = n};
    return dp_archive_takes(&z.archive, t, false) && find_directory(&z) && dp_archive_read(&z.archive, t, leaves);
}

/* ---- writing ---- */

typedef struct ZipOut {
    DpArchive archive;      /* first */
    FILE *file, *directory; /* the directory is collected */
    uint64_t at;
} ZipOut;

static void put(FILE *out, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(x >> 8 * i & 0xff), out);
}

/* What the header of a member and its entry in the directory share. The date is the first one that zip has. */
static void put_header(FILE *out, const char *name, uint32_t crc, size_t n)
{
    put(out, 20, 2);
    put(out, 0, 2);
    put(out, STORED, 2);
    put(out, 0, 2);
    put(out, 1 << 5 | 1, 2);
    put(out, crc, 4);
    put(out, n, 4);
    put(out, n, 4);
    put(out, strlen(name) + 4, 2);
    put(out, 0, 2);
}

static bool put_member(ZipOut *out, const char *name, const char *bytes, size_t n)
{
    DpCrc crc;
    if (n > 0xffffffff - LOCAL_BYTES - strlen(name) - 4 - out->at) /* GCOVR_EXCL_BR_LINE: too much for a test */
        return dp_error(out->archive.error,
                        "a .npz file of 4 GB or more is not written"); /* GCOVR_EXCL_LINE: as above */
    dp_crc_begin(&crc);
    dp_crc_add(&crc, bytes, n);
    uint32_t sum = dp_crc_end(&crc);
    fputs("PK\3\4", out->file);
    put_header(out->file, name, sum, n);
    fprintf(out->file, "%s.npy", name);
    fwrite(bytes, 1, n, out->file);
    fputs("PK\1\2", out->directory);
    put(out->directory, 20, 2);
    put_header(out->directory, name, sum, n);
    put(out->directory, 0, 6); /* comment, disk, attributes */
    put(out->directory, 0, 4);
    put(out->directory, out->at, 4);
    fprintf(out->directory, "%s.npy", name);
    out->at += LOCAL_BYTES + strlen(name) + 4 + n;
    out->archive.members++;
    return true;
}

static bool write_member(DpArchive *a, const char *name, const DpType *t, const DpLeaf *leaf)
{
    size_t n;
    char *bytes = dp_write_memory(dp_write_npy, t, leaf, &n, a->error);
    bool ok = bytes && put_member((ZipOut *)a, name, bytes, n); /* GCOVR_EXCL_BR_LINE: fails with 4 GB alone */
    free(bytes);
    return ok;
}

bool dp_write_npz(FILE *file, const DpType *t, const DpLeaf *leaves, DpError e)
{
    DpMemoryFile entries;
    ZipOut out = {.archive = {.kind = ".npz", .error = e, .write = write_member}, .file = file};
    if (!dp_archive_takes(&out.archive, t, true))
        return false;
    if (!dp_memory_open(&entries))
        return dp_error_memory(e, "");
    out.directory = entries.file;
    bool ok = dp_archive_write(&out.archive, t, leaves);
    char *directory = dp_memory_close(&entries);
    if (!directory)
        ok = dp_error_memory(e, "");
    if (ok) {
        fwrite(directory, 1, entries.n, file);
        fputs("PK\5\6", file);
        put(file, 0, 4);
        put(file, out.archive.members, 2);
        put(file, out.archive.members, 2);
        put(file, entries.n, 4);
        put(file, out.at, 4);
        put(file, 0, 2);
    }
    free(directory);
    return ok;
}
