/* Which device: --device NAME (part of its name) or #K (number in the list), --platform NAME, else DP_DEVICE, else the
 * first GPU, else the first CPU. */
#include "internal.h"
#include "dp_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64 };
typedef struct Found {
    cl_platform_id platform;
    cl_device_id device;
    cl_device_type type;
    char name[256], platform_name[256];
} Found;

/* A device that does not even tell its name is none. */
static bool can_describe(Found *f)
{
    return clGetDeviceInfo(f->device, CL_DEVICE_TYPE, sizeof f->type, &f->type, NULL) == CL_SUCCESS &&
           clGetDeviceInfo(f->device, CL_DEVICE_NAME, sizeof f->name - 1, f->name, NULL) == CL_SUCCESS &&
           clGetPlatformInfo(f->platform, CL_PLATFORM_NAME, sizeof f->platform_name - 1, f->platform_name, NULL) ==
               CL_SUCCESS;
}

static uint32_t find_devices(Found *found)
{
    cl_platform_id platforms[16];
    cl_uint np = 0;
    uint32_t n = 0;
    if (clGetPlatformIDs(16, platforms, &np) != CL_SUCCESS)
        return 0;
    for (cl_uint p = 0; p < np && p < 16; p++) {
        cl_device_id devices[16];
        cl_uint nd = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &nd) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < nd && d < 16 && n < MAX_DEVICES; d++) {
            Found *f = &found[n];
            memset(f, 0, sizeof *f);
            f->platform = platforms[p];
            f->device = devices[d];
            n += can_describe(f);
        }
    }
    return n;
}

const char dp_device_none[] =
    "no OpenCL device; for the CPU install PoCL (Debian, Ubuntu: apt install pocl-opencl-icd), "
    "or run without one: dpc run --eval=core";

uint32_t dp_device_list(FILE *out)
{
    Found found[MAX_DEVICES];
    uint32_t n = find_devices(found);
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "#%u %s: %s (%s)\n", i, found[i].platform_name, found[i].name,
                found[i].type & CL_DEVICE_TYPE_GPU   ? "GPU"
                : found[i].type & CL_DEVICE_TYPE_CPU ? "CPU"
                                                     : "accelerator");
    return n;
}

/* Is `part` somewhere in `text`, whatever the case? */
static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; strlen(text) >= n; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static const Found *pick(const Found *found, uint32_t n, const char *device, const char *platform, cl_device_type type)
{
    uint64_t number = 0;
    bool by_number = device && (device[0] == '#' || (dp_parse_count(device, n, &number) && number < n));
    if (by_number && device[0] == '#' && !dp_parse_count(device + 1, n, &number))
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const Found *f = &found[i];
        if (platform && !contains(f->platform_name, platform))
            continue;
        if (by_number ? i != number : device && !contains(f->name, device))
            continue;
        if (f->type & type)
            return f;
    }
    return NULL;
}

/* Everything that a binary depends on. */
static void identify(DpRt *rt, const Found *f)
{
    char version[128] = "", driver[128] = "";
    clGetDeviceInfo(f->device, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    clGetDeviceInfo(f->device, CL_DRIVER_VERSION, sizeof driver - 1, driver, NULL);
    snprintf(rt->device_id, sizeof rt->device_id, "%.100s\n%.150s\n%.120s\n%.120s", f->platform_name, f->name, version,
             driver);
}

static void query(DpRt *rt, const Found *f)
{
    cl_uint units = 1;
    cl_device_fp_config fp = 0;
    char extensions[8192] = "";
    clGetDeviceInfo(f->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    clGetDeviceInfo(f->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof fp, &fp, NULL);
    clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    rt->units = units;
    rt->fp_options = fp & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? "-cl-fp32-correctly-rounded-divide-sqrt " : "";
    rt->atomics64 = strstr(extensions, "cl_khr_int64_base_atomics") != NULL;
    rt->pocl = strcmp(f->platform_name, "Portable Computing Language") == 0;
    const char *shape = getenv("DP_SHAPE"); /* for tests of the other shape */
    rt->gpu = !(f->type & CL_DEVICE_TYPE_CPU);
    if (shape && strcmp(shape, "gpu") == 0)
        rt->gpu = true;
    if (shape && strcmp(shape, "cpu") == 0)
        rt->gpu = false;
}

bool dp_device_choose(DpRt *rt, const DpOpenOptions *options, DpOpenError *error)
{
    Found found[MAX_DEVICES];
    uint32_t n = find_devices(found);
    const char *name = options->device ? options->device : getenv("DP_DEVICE");
    const Found *f = NULL;
    const cl_device_type order[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_ALL};
    for (size_t i = 0; i < sizeof order / sizeof order[0] && !f; i++)
        f = pick(found, n, name, options->platform, order[i]);
    if (!f)
        return dp_open_fails(error, EXIT_DEVICE, "%s",
                             n == 0 ? dp_device_none : "no such device; --list-devices shows them");
    rt->platform = f->platform;
    rt->device = f->device;
    identify(rt, f);
    query(rt, f);
    return true;
}
