/* Images as portable graymaps and pixmaps (.pgm, .ppm): the magic number, comments, width, height, the largest
 * sample, then samples row by row.
 *
 *     P2  gray, samples as decimal numbers        P5  gray, a byte a sample, or two, the high one first
 *     P3  red, green, blue, as numbers            P6  red, green, blue, likewise
 *
 * Where the largest sample is not 255, all are scaled to that. P5 and P6 are written, to 255. */
#include "values.h"

#include <stdlib.h>

typedef struct Pnm {
    const char *path;
    DpError error;
    const uint8_t *bytes;
    size_t n, at;
    bool plain; /* numbers, and so errors name the line */
    uint32_t channels;
    uint64_t width, height, largest;
} Pnm;

static bool fail(Pnm *p, const char *what)
{
    return p->plain ? dp_error_at(p->error, p->path, (const char *)p->bytes, p->at, "%s", what)
                    : dp_error(p->error, "%s: at byte %llu: %s", p->path, (unsigned long long)p->at, what);
}

/* ---- numbers ---- */

static bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_space(Pnm *p)
{
    for (; p->at < p->n; p->at++) {
        if (p->bytes[p->at] == '#')
            while (p->at + 1 < p->n && p->bytes[p->at] != '\n')
                p->at++;
        else if (!is_space(p->bytes[p->at]))
            return;
    }
}

/* A number up to `most`; what: as which it is wanted. */
static bool take_number(Pnm *p, const char *what, uint64_t most, uint64_t *number)
{
    skip_space(p);
    char message[160];
    size_t start = p->at;
    *number = 0;
    for (; p->at < p->n && p->bytes[p->at] >= '0' && p->bytes[p->at] <= '9'; p->at++) {
        *number = *number * 10 + (uint64_t)(p->bytes[p->at] - '0');
        if (*number > most) {
            p->at = start;
            snprintf(message, sizeof message, "%s is larger than %llu", what, (unsigned long long)most);
            return fail(p, message);
        }
    }
    if (p->at > start)
        return true;
    char found[DP_FOUND_BYTES];
    dp_describe(found, (const char *)p->bytes + p->at, p->n - p->at);
    snprintf(message, sizeof message, "expected %s, found %s", what, found);
    return fail(p, message);
}

/* ---- reading ---- */

static bool read_header(Pnm *p)
{
    char kind = p->n > 1 && p->bytes[0] == 'P' ? (char)p->bytes[1] : '\0';
    const uint64_t most = UINT32_MAX;
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
        return fail(p, "not an image: it does not begin with P2, P3, P5 or P6");
    p->plain = kind == '2' || kind == '3';
    p->channels = kind == '2' || kind == '5' ? 1 : 3;
    p->at = 2;
    if (p->at < p->n && !is_space(p->bytes[p->at]) && p->bytes[p->at] != '#')
        return fail(p, "white space is missing");
    if (!take_number(p, "the width", most, &p->width) || !take_number(p, "the height", most, &p->height) ||
        !take_number(p, "the largest sample", 65535, &p->largest))
        return false;
    if (p->largest == 0)
        return fail(p, "the largest sample is 0");
    if (!p->plain && (p->at >= p->n || !is_space(p->bytes[p->at++])))
        return fail(p, "white space is missing before the samples");
    return true;
}

/* Of a sample that is no number. */
static uint64_t sample_bytes(const Pnm *p) { return p->largest > 255 ? 2 : 1; }

/* The number of samples: bytes, or numbers of two bytes at least, but for the last one. */
static bool check_sizes(Pnm *p, uint64_t *count)
{
    uint64_t left = p->n - p->at,
             fits = p->plain ? left / 2 : left / sample_bytes(p); /* a separator stands before the first one */
    uint64_t shape[] = {p->height, p->width * p->channels};
    if (!dp_shape_plausible(shape, 2, p->channels, p->n, fits, count))
        return fail(p, "the sizes are larger than the file");
    return p->plain || *count * sample_bytes(p) == left || fail(p, "the file is larger than its sizes");
}

static bool take_sample(Pnm *p, uint64_t *sample)
{
    if (p->plain)
        return take_number(p, "a sample", p->largest, sample);
    *sample = p->bytes[p->at];
    if (sample_bytes(p) == 2)
        *sample = *sample << 8 | p->bytes[p->at + 1];
    if (*sample > p->largest)
        return fail(p, "a sample is larger than the largest one");
    p->at += sample_bytes(p);
    return true;
}

static bool read_samples(Pnm *p, uint8_t *samples, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t sample;
        if (!take_sample(p, &sample))
            return false;
        samples[i] = (uint8_t)((sample * 255 + p->largest / 2) / p->largest);
    }
    if (p->plain)
        skip_space(p);
    return p->at == p->n || fail(p, "there is more than the samples");
}

/* Numbers, or samples that have to be scaled. */
static bool read_converted(Pnm *p, uint64_t count, DpLeaf *leaves)
{
    uint8_t *samples = dp_alloc_array(count, 1);
    if (!samples)
        return dp_error_memory(p->error, p->path);
    bool ok = read_samples(p, samples, count) &&
              dp_image_store(p->path, samples, p->height, p->width, p->channels, leaves, p->error);
    free(samples);
    return ok;
}

bool dp_read_pnm(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    Pnm p = {.path = path, .error = e, .bytes = (const uint8_t *)bytes, .n = n};
    uint32_t channels;
    uint64_t count = 0;
    if (!read_header(&p))
        return false;
    if (!dp_image_type(t, &channels) || channels != p.channels)
        return dp_error(e, "%s: the image gives %s, which is not this parameter's type", path,
                        p.channels == 1 ? "[h][w]u8" : "[h][w](u8, u8, u8)");
    if (!check_sizes(&p, &count))
        return false;
    return p.plain || p.largest != 255 ? read_converted(&p, count, leaves)
                                       : dp_image_store(path, p.bytes + p.at, p.height, p.width, channels, leaves, e);
}

/* ---- writing ---- */

static bool write_image(FILE *out, const DpType *t, const DpLeaf *leaves, uint32_t channels, DpError e)
{
    uint32_t found;
    uint64_t h = 0, w = 0;
    if (!dp_image_type(t, &found) || found != channels)
        return dp_error(e, channels == 1 ? "a .pgm file holds [h][w]u8, which the result is not"
                                         : "a .ppm file holds [h][w](u8, u8, u8), which the result is not");
    uint8_t *samples = dp_image_load(leaves, channels, &h, &w, e);
    uint64_t shape[] = {h, w};
    if (!samples || !dp_shape_writable(shape, 2, channels, h * w, channels == 1 ? "a .pgm file" : "a .ppm file", e)) {
        free(samples);
        return false;
    }
    fprintf(out, "P%d\n%llu %llu\n255\n", channels == 1 ? 5 : 6, (unsigned long long)w, (unsigned long long)h);
    fwrite(samples, channels, (size_t)leaves[0].ndata, out);
    free(samples);
    return true;
}

bool dp_write_pgm(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    return write_image(out, t, leaves, 1, e);
}
bool dp_write_ppm(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    return write_image(out, t, leaves, 3, e);
}
