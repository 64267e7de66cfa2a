/* NumPy's .npz files: zip archives of .npy files, stored or deflated.
 *
 * The members go to the fields of a record by their names, or, where no member has one of them, by order, as to the
 * items of a tuple; a single array is a single member. The directory at the archive's end says where they are; those
 * that are not wanted are not looked at. Written are stored members. */
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

typedef struct Zip {
    const char *path;
    DpError error;
    const uint8_t *bytes;
    size_t n, directory;
    uint32_t members;
} Zip;

typedef struct Member {
    const char *name; /* not terminated, without .npy */
    size_t name_bytes;
    uint32_t method, crc, packed, unpacked, local;
} Member;

static uint32_t load16(const uint8_t *b) { return (uint32_t)(b[0] | b[1] << 8); }
static uint32_t load32(const uint8_t *b) { return load16(b) | load16(b + 2) << 16; }

static bool fail(const Zip *z, size_t at, const char *what)
{
    return dp_error(z->error, "%s: at byte %llu: not a valid .npz file: %s", z->path, (unsigned long long)at, what);
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
        z->members = load16(b + 10);
        z->directory = load32(b + 16);
        if (z->members == 0xffff || z->directory == 0xffffffff)
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

/* The member of this name, or with NULL the one at `index`. *found: is there one? */
static bool find_member(const Zip *z, const char *name, uint32_t index, Member *m, bool *found)
{
    size_t at = z->directory;
    *found = false;
    for (uint32_t i = 0; !*found && i < z->members; i++) {
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

static bool read_member(const Zip *z, const Member *m, const DpType *t, DpLeaf *leaf)
{
    const char *data = NULL;
    char path[MESSAGE_BYTES];
    if (!find_data(z, m, &data))
        return false;
    if (m->method != STORED && m->method != DEFLATED)
        return fail(z, m->local, "a member is packed in an unknown way");
    snprintf(path, sizeof path, "%.400s: member %.*s", z->path,
             m->name_bytes > NAME_BYTES ? NAME_BYTES : (int)m->name_bytes, m->name);
    char *unpacked = m->method == DEFLATED ? dp_alloc_array(m->unpacked, 1) : NULL;
    if (m->method == DEFLATED && !unpacked)
        return dp_error_memory(z->error, z->path);
    bool ok = !unpacked || dp_inflate(data, m->packed, unpacked, m->unpacked, path, z->error);
    const char *bytes = unpacked ? unpacked : data;
    ok = ok &&
         (check_sum(bytes, m->unpacked, m->crc) || fail(z, m->local, "a member is damaged: its checksum is wrong"));
    ok = ok && dp_read_npy(path, bytes, m->unpacked, t, leaf, z->error);
    free(unpacked);
    return ok;
}

/* ---- reading ---- */

static bool any_named(const Zip *z, const DpType *t, bool *any)
{
    Member m;
    *any = false;
    for (uint32_t i = 0; t->kind == DP_T_RECORD && !*any && i < t->n; i++)
        if (!find_member(z, t->names[i], 0, &m, any))
            return false;
    return true;
}

static bool read_items(const Zip *z, const DpType *t, DpLeaf *leaves)
{
    bool named, found;
    if (!any_named(z, t, &named))
        return false;
    if (!named && z->members != t->n)
        return dp_error(z->error, "%s: expected %u arrays, found %u", z->path, (unsigned)t->n, (unsigned)z->members);
    for (uint32_t i = 0; i < t->n; i++) {
        Member m;
        uint32_t item = t->order ? t->order[i] : i;
        if (!find_member(z, named ? t->names[item] : NULL, i, &m, &found))
            return false;
        if (!found) /* by its name */
            return dp_error(z->error, "%s: there is no array %s", z->path, t->names[item]);
        if (!read_member(z, &m, t->items[item], &leaves[item]))
            return false;
    }
    return true;
}

/* Arrays have one leaf each. */
static bool holds_arrays(const DpType *t)
{
    DpScalar scalar;
    uint32_t rank;
    bool many = (t->kind == DP_T_TUPLE || t->kind == DP_T_RECORD) && t->n > 0;
    for (uint32_t i = 0; many && i < t->n; i++)
        if (!dp_type_is_regular(t->items[i], &scalar, &rank))
            return false;
    return many || dp_type_is_regular(t, &scalar, &rank);
}

bool dp_read_npz(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    Zip z = {.path = path, .error = e, .bytes = (const uint8_t *)bytes, .n = n};
    Member m;
    bool found, single = t->kind != DP_T_TUPLE && t->kind != DP_T_RECORD;
    if (!holds_arrays(t))
        return dp_error(
            e, "%s: a .npz file holds arrays of scalars, for the fields of a record or the items of a tuple", path);
    if (!find_directory(&z))
        return false;
    if (single && z.members != 1)
        return dp_error(e, "%s: expected one array, found %u", path, (unsigned)z.members);
    dp_leaves_init(leaves, t);
    bool ok =
        single ? find_member(&z, NULL, 0, &m, &found) && read_member(&z, &m, t, leaves) : read_items(&z, t, leaves);
    if (!ok)
        dp_leaves_free(leaves, dp_type_leaves(t));
    return ok;
}

/* ---- writing ---- */

typedef struct ZipOut {
    FILE *file, *directory; /* the directory is collected */
    uint64_t at;
    uint32_t members;
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

static bool put_member(ZipOut *out, const char *name, const char *bytes, size_t n, DpError e)
{
    DpCrc crc;
    if (n > 0xffffffff - LOCAL_BYTES - strlen(name) - 4 - out->at)        /* GCOVR_EXCL_BR_LINE: too much for a test */
        return dp_error(e, "a .npz file of 4 GB or more is not written"); /* GCOVR_EXCL_LINE: as above */
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
    out->members++;
    return true;
}

static bool write_array(ZipOut *out, const char *name, const DpType *t, const DpLeaf *leaf, DpError e)
{
    size_t n;
    char *bytes = dp_write_memory(dp_write_npy, t, leaf, &n, e);
    bool ok = bytes && put_member(out, name, bytes, n, e); /* GCOVR_EXCL_BR_LINE: fails with 4 GB alone */
    free(bytes);
    return ok;
}

static bool write_arrays(ZipOut *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    if (t->kind != DP_T_TUPLE && t->kind != DP_T_RECORD)
        return write_array(out, "arr_0", t, leaves, e);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t item = t->order ? t->order[i] : i;
        char number[32];
        snprintf(number, sizeof number, "arr_%u", (unsigned)i);
        if (!write_array(out, t->kind == DP_T_RECORD ? t->names[item] : number, t->items[item], &leaves[item], e))
            return false;
    }
    return true;
}

bool dp_write_npz(FILE *file, const DpType *t, const DpLeaf *leaves, DpError e)
{
    DpMemoryFile entries;
    if (!holds_arrays(t))
        return dp_error(e, "a .npz file holds arrays of scalars, in a record or a tuple, which the result is not");
    if (!dp_memory_open(&entries))
        return dp_error_memory(e, "");
    ZipOut out = {.file = file, .directory = entries.file};
    bool ok = write_arrays(&out, t, leaves, e);
    char *directory = dp_memory_close(&entries);
    if (!directory)
        ok = dp_error_memory(e, "");
    if (ok) {
        fwrite(directory, 1, entries.n, file);
        fputs("PK\5\6", file);
        put(file, 0, 4);
        put(file, out.members, 2);
        put(file, out.members, 2);
        put(file, entries.n, 4);
        put(file, out.at, 4);
        put(file, 0, 2);
    }
    free(directory);
    return ok;
}
