/* Images as .png files, through libspng, where the build has found it (DPC_HAVE_PNG).
 *
 * Any kind of PNG is read as three channels of eight bits: palettes are looked up, gray is repeated, of 16 bits the
 * upper half stays, transparency is dropped. As [h][w]u8 a coloured image gives its luma, which of gray is gray. The
 * chunks are walked through before libspng sees them, so that damage is found with its place. */
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef DPC_HAVE_PNG
#include <spng.h>

typedef struct Png {
    const char *path;
    DpError error;
    const uint8_t *bytes;
    size_t n, data; /* data: where the first IDAT chunk begins */
} Png;

static bool fail(const Png *p, size_t at, const char *what)
{
    return dp_error(p->error, "%s: at byte %llu: %s", p->path, (unsigned long long)at, what);
}

/* ---- chunks: length, name, data, checksum of name and data ---- */

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool check_chunk(const Png *p, DpCrc *crc, size_t at)
{
    size_t left = p->n - at;
    if (left < 12)
        return fail(p, at, "the file is cut off");
    uint32_t length = big_endian(p->bytes + at);
    if (length > left - 12)
        return fail(p, at, "the chunk is larger than the file");
    dp_crc_add(crc, p->bytes + at + 4, (size_t)length + 4);
    if (dp_crc_end(crc) != big_endian(p->bytes + at + 8 + length))
        return fail(p, at, "the chunk is damaged: its checksum is wrong");
    return true;
}

static bool check_chunks(Png *p)
{
    DpCrc crc;
    if (p->n < 8 || memcmp(p->bytes, "\x89PNG\r\n\x1a\n", 8) != 0)
        return fail(p, 0, "not a PNG file: it does not begin as one");
    dp_crc_begin(&crc);
    for (size_t at = 8;; at += (size_t)big_endian(p->bytes + at) + 12) {
        if (!check_chunk(p, &crc, at))
            return false;
        const uint8_t *name = p->bytes + at + 4;
        if (at == 8 && (memcmp(name, "IHDR", 4) != 0 || big_endian(p->bytes + at) != 13))
            return fail(p, at, "the header is missing");
        if (memcmp(name, "IDAT", 4) == 0 && !p->data)
            p->data = at;
        if (memcmp(name, "IEND", 4) == 0)
            return p->data != 0 || fail(p, at, "the image is missing");
    }
}

/* ---- reading ---- */

/* Deflate makes at most DP_DEFLATE_MOST bytes of one, but the value has up to 24 bytes for a pixel of one bit, and more
 * for a short row: it is bounded, too. */
static bool check_sizes(const Png *p, const struct spng_ihdr *h, uint32_t channels)
{
    static const uint8_t samples[8] = {1, 0, 3, 1, 2, 0, 4};
    uint64_t bits = (uint64_t)samples[h->color_type & 7] * h->bit_depth; /* libspng has checked the header */
    uint64_t row = (h->width * bits + 7) / 8, result = (h->width + sizeof(uint64_t)) * channels;
    uint64_t fits = DP_DEFLATE_MOST * (uint64_t)p->n;
    if (h->height > fits / row)
        return fail(p, 8, "the sizes are larger than the file can hold");
    if (h->height > (fits + DP_FREE_IMAGE_BYTES) / result)
        return fail(p, 8, "the image is too large for so short a file");
    return true;
}

/* What zlib lacks memory for, libspng calls a wrong stream; but malloc has left word. errno was 0 before libspng began.
 */
static bool is_memory(int status) { return status == SPNG_EMEM || errno == ENOMEM; }

static bool fail_spng(const Png *p, int status)
{
    return is_memory(status) ? dp_error_memory(p->error, p->path) : fail(p, p->data, spng_strerror(status));
}

/* One of the file's rows, three samples a pixel, goes to its place in the leaves. An interlaced image has seven passes
 * with rows of every so many pixels; libspng leaves room for the others. As luma, gray is the sample itself. */
static void store_row(const uint8_t *row, const struct spng_row_info *info, bool interlaced, uint64_t width,
                      uint32_t channels, const DpLeaf *leaves)
{
    static const uint8_t starts[] = {0, 4, 0, 2, 0, 1, 0}, steps[] = {8, 8, 4, 4, 2, 2, 1};
    uint64_t at = info->row_num * width;
    for (uint64_t x = interlaced ? starts[info->pass] : 0; x < width; x += interlaced ? steps[info->pass] : 1) {
        const uint8_t *s = row + 3 * x;
        for (uint32_t k = 0; k < channels; k++)
            ((uint8_t *)leaves[k].data)[at + x] =
                channels == 3 ? s[k] : (uint8_t)((299u * s[0] + 587u * s[1] + 114u * s[2] + 500u) / 1000u);
    }
}

/* Row by row, so that what is not there takes no memory. */
static int decode_rows(spng_ctx *ctx, const struct spng_ihdr *h, uint8_t *row, size_t bytes, uint32_t channels,
                       const DpLeaf *leaves)
{
    int status = spng_decode_image(ctx, NULL, 0, SPNG_FMT_RGB8, SPNG_DECODE_PROGRESSIVE);
    while (!status) {
        struct spng_row_info info;
        status = spng_get_row_info(ctx, &info);
        if (status)
            break;
        status = spng_decode_row(ctx, row, bytes);
        if (!status || status == SPNG_EOI)
            store_row(row, &info, h->interlace_method != 0, h->width, channels, leaves);
    }
    return status == SPNG_EOI ? 0 : status;
}

static bool decode(const Png *p, spng_ctx *ctx, uint32_t channels, DpLeaf *leaves)
{
    struct spng_ihdr h;
    size_t memory = p->n + ((size_t)16 << 20); /* for texts and profiles, which nobody looks at */
    errno = 0;
    size_t largest = memory < 0x7fffffff ? memory : 0x7fffffff; /* GCOVR_EXCL_BR_LINE: no test has 2 GB */
    spng_set_chunk_limits(ctx, largest, memory);
    spng_set_png_buffer(ctx, p->bytes, p->n);
    int status = spng_get_ihdr(ctx, &h);
    if (status)
        return fail_spng(p, status);
    if (!check_sizes(p, &h, channels))
        return false;
    size_t bytes = (size_t)3 * h.width;
    uint8_t *row = dp_alloc_array(bytes, 1);
    bool ok = row && dp_image_make(h.height, h.width, channels, leaves);
    if (ok) {
        status = decode_rows(ctx, &h, row, bytes, channels, leaves);
        ok = !status || fail_spng(p, status);
        if (!ok)
            dp_leaves_free(leaves, channels);
    } else {
        dp_error_memory(p->error, p->path);
    }
    free(row);
    return ok;
}

bool dp_read_png(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    Png p = {.path = path, .error = e, .bytes = (const uint8_t *)bytes, .n = n};
    uint32_t channels;
    if (!dp_image_type(t, &channels))
        return dp_error(e, "%s: an image gives [h][w]u8 or [h][w](u8, u8, u8), which is not this parameter's type",
                        path);
    if (!check_chunks(&p))
        return false;
    spng_ctx *ctx = spng_ctx_new(0);
    bool ok = ctx ? decode(&p, ctx, channels, leaves) : dp_error_memory(e, path);
    spng_ctx_free(ctx);
    return ok;
}

/* ---- writing ---- */

static bool encode(FILE *out, spng_ctx *ctx, uint32_t channels, const uint8_t *samples, uint32_t h, uint32_t w,
                   DpError e)
{
    struct spng_ihdr header = {.width = w,
                               .height = h,
                               .bit_depth = 8,
                               .color_type = channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR};
    errno = 0;
    spng_set_png_file(ctx, out);
    spng_set_ihdr(ctx, &header);
    int status = spng_encode_image(ctx, samples, (size_t)h * w * channels, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    if (status == 0 || ferror(out)) /* which says so at its end */
        return true;
    if (is_memory(status)) /* GCOVR_EXCL_BR_LINE: libspng has no other reason, it seems */
        return dp_error_memory(e, "");
    return dp_error(e, "the .png file cannot be written: %s", spng_strerror(status)); /* GCOVR_EXCL_LINE: as above */
}

bool dp_write_png(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    uint32_t channels;
    uint64_t h, w;
    if (!dp_image_type(t, &channels))
        return dp_error(e, "a .png file holds [h][w]u8 or [h][w](u8, u8, u8), which the result is not");
    uint8_t *samples = dp_image_load(leaves, channels, &h, &w, e);
    if (!samples)
        return false;
    bool fits = h - 1 < 0x7fffffff && w - 1 < 0x7fffffff; /* at least 1, too */
    spng_ctx *ctx = fits ? spng_ctx_new(SPNG_CTX_ENCODER) : NULL;
    bool ok = ctx    ? encode(out, ctx, channels, samples, (uint32_t)h, (uint32_t)w, e)
              : fits ? dp_error_memory(e, "")
                     : dp_error(e, "a .png file cannot hold an image of %llu by %llu", (unsigned long long)w,
                                (unsigned long long)h);
    spng_ctx_free(ctx);
    free(samples);
    return ok;
}

#else

bool dp_read_png(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    (void)bytes, (void)n, (void)t, (void)leaves;
    return dp_error(e, "%s: .png files cannot be read: dpc was built without libspng", path);
}

bool dp_write_png(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    (void)out, (void)t, (void)leaves;
    return dp_error(e, ".png files cannot be written: dpc was built without libspng");
}

#endif
