/* JPEG images (.jpg, .jpeg), read with libjpeg, where dpc was built with it. What libjpeg only warns of is an error
 * here: a damaged file is refused. Time and memory are bounded as those of .png files, by the size that the header
 * promises and by the number of scans, each of which costs the whole image. */
#include "values.h"

#ifdef DPC_HAVE_JPEG

#include <jpeglib.h>
#include <jerror.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SCANS = 100 };

/* libjpeg has no other way back from its errors than a jump. */
typedef struct Jpeg {
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
    bool no_memory;
    uint8_t *samples;
} Jpeg;

static void give_up(j_common_ptr common)
{
    Jpeg *j = common->client_data;
    j->no_memory = common->err->msg_code == JERR_OUT_OF_MEMORY;
    common->err->format_message(common, j->message);
    longjmp(j->back, 1);
}

static void on_message(j_common_ptr common, int level)
{
    if (level < 0) /* a warning */
        give_up(common);
}

static void on_progress(j_common_ptr common)
{
    Jpeg *j = common->client_data;
    if (j->d.input_scan_number <= MOST_SCANS)
        return;
    snprintf(j->message, sizeof j->message, "the image has more than %d scans", MOST_SCANS);
    longjmp(j->back, 1);
}

static void begin(Jpeg *j)
{
    j->d.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = give_up;
    j->errors.emit_message = on_message;
    j->d.client_data = j;
}

static bool fail(const Jpeg *j, const char *path, DpError e)
{
    return j->no_memory ? dp_error_memory(e, path) : dp_error(e, "%s: not a valid JPEG file: %s", path, j->message);
}

/* May the file hold so large an image? */
static bool size_plausible(const Jpeg *j, size_t file_bytes, uint32_t channels)
{
    uint64_t bytes = (uint64_t)j->d.image_width * j->d.image_height * channels;
    return bytes <= DP_FREE_IMAGE_BYTES && bytes / DP_DEFLATE_MOST <= file_bytes;
}

/* The samples, pixel by pixel, to j->samples. */
static bool decode(Jpeg *j, const char *path, const char *bytes, size_t n, uint32_t channels, DpError e)
{
    if (setjmp(j->back))
        return fail(j, path, e);
    jpeg_create_decompress(&j->d);
    j->d.client_data = j;
    j->progress.progress_monitor = on_progress;
    j->d.progress = &j->progress;
    jpeg_mem_src(&j->d, (const unsigned char *)bytes, (unsigned long)n);
    jpeg_read_header(&j->d, TRUE);
    if (!size_plausible(j, n, channels))
        return dp_error(e, "%s: the image of %u by %u is larger than the file may hold", path,
                        (unsigned)j->d.image_width, (unsigned)j->d.image_height);
    j->d.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&j->d);
    j->samples = dp_alloc_array((uint64_t)j->d.image_width * j->d.image_height, channels);
    if (!j->samples)
        return dp_error_memory(e, path);
    while (j->d.output_scanline < j->d.output_height) {
        JSAMPROW row = j->samples + (size_t)j->d.output_scanline * j->d.output_width * channels;
        jpeg_read_scanlines(&j->d, &row, 1);
    }
    jpeg_finish_decompress(&j->d);
    return true;
}

bool dp_read_jpeg(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    uint32_t channels;
    if (!dp_image_type(t, &channels))
        return dp_error(e, "%s: a JPEG file holds [h][w]u8 or [h][w](u8, u8, u8), which is not this parameter's type",
                        path);
    Jpeg *j = calloc(1, sizeof *j);
    if (!j)
        return dp_error_memory(e, path);
    begin(j);
    bool ok = decode(j, path, bytes, n, channels, e) &&
              dp_image_store(path, j->samples, j->d.output_height, j->d.output_width, channels, leaves, e);
    jpeg_destroy_decompress(&j->d);
    free(j->samples);
    free(j);
    return ok;
}

#else

bool dp_read_jpeg(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    (void)bytes, (void)n, (void)t, (void)leaves;
    return dp_error(e, "%s: JPEG files cannot be read: dpc was built without libjpeg", path);
}

#endif
