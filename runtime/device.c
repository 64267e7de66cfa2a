/* Which device: --device NAME (part of its name) or #K (number in the list), --platform NAME, else DP_DEVICE, else the
 * first GPU, else the first CPU. */
#include "internal.h"
#include "dp_options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_DEVICES = 64 };
typedef struct Found {
    cl_platform_id platform;
    cl_device_id device;
    cl_device_type type;
    char name[256], platform_name[256];
} Found;

/* A folder that ends with the process. */
static bool make_own(DeviceFolder *folder)
{
    const char *tmp = getenv("TMPDIR");
    const char *const parents[] = {tmp && tmp[0] == '/' ? tmp : "/tmp", "/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        int n = snprintf(folder->path, sizeof folder->path, "%s/dpc-XXXXXX", parents[i]);
        if (n < (int)sizeof folder->path && mkdtemp(folder->path))
            return true;
    }
    folder->path[0] = 0;
    return false;
}

/* The end of a process that was made to clean up: its one open file is the pipe, which ends with the process that
 * writes to it. */
static _Noreturn void clean_later(int pipe_end, const char *path)
{
    enum { MOST_FILES = 1024 };
    char byte;
    setsid(); /* a terminal's signals, and those to the group, are not meant for it */
    dup2(pipe_end, STDIN_FILENO);
    for (int fd = STDIN_FILENO + 1; fd < MOST_FILES; fd++)
        close(fd);
    while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
    }
    folder_remove(path);
    _exit(0);
}

/* A process of its own removes the folder when this one has ended, in whatever way. Without it device_clean does. */
static void start_cleaner(DeviceFolder *folder)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    folder->cleaner = fork();
    if (folder->cleaner == 0)
        clean_later(ends[0], folder->path);
    close(ends[0]);
    folder->alive = ends[1];
}

/* PoCL hides itself where it cannot make a folder for its kernels, and loads what it finds there: so it gets one that
 * others cannot enter. POCL_CACHE_DIR is the user's to set. */
void device_prepare(DeviceFolder *folder)
{
    *folder = (DeviceFolder){.alive = -1};
    if (getenv("POCL_CACHE_DIR"))
        return;
    char *lasting = cache_directory(), path[4200];
    if (lasting) {
        snprintf(path, sizeof path, "%s/pocl", lasting);
        setenv("POCL_CACHE_DIR", path, 1);
    } else if (make_own(folder)) {
        fprintf(stderr, "note: no folder for built kernels in HOME, XDG_CACHE_HOME or TMPDIR can be used: each run "
                        "builds its own\n");
        setenv("POCL_CACHE_DIR", folder->path, 1);
        start_cleaner(folder);
    }
    free(lasting);
}

void device_clean(DeviceFolder *folder)
{
    if (!folder->path[0])
        return;
    if (folder->alive >= 0)
        close(folder->alive);
    if (folder->cleaner <= 0 || waitpid(folder->cleaner, NULL, 0) != folder->cleaner)
        folder_remove(folder->path);
    unsetenv("POCL_CACHE_DIR");
    *folder = (DeviceFolder){.alive = -1};
}

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

static const char no_device[] =
    "no OpenCL device; for the CPU install PoCL (Debian, Ubuntu: apt install pocl-opencl-icd), "
    "or run without one: dpc run --eval=core";

uint32_t device_list(FILE *out)
{
    Found found[MAX_DEVICES];
    uint32_t n = find_devices(found);
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "#%u %s: %s (%s)\n", i, found[i].platform_name, found[i].name,
                found[i].type & CL_DEVICE_TYPE_GPU   ? "GPU"
                : found[i].type & CL_DEVICE_TYPE_CPU ? "CPU"
                                                     : "accelerator");
    if (n == 0)
        fprintf(stderr, "error: %s\n", no_device);
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

bool device_choose(DpRt *rt, const OpenOptions *options, OpenError *error)
{
    Found found[MAX_DEVICES];
    uint32_t n = find_devices(found);
    const char *name = options->device ? options->device : getenv("DP_DEVICE");
    const Found *f = NULL;
    const cl_device_type order[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_ALL};
    for (size_t i = 0; i < sizeof order / sizeof order[0] && !f; i++)
        f = pick(found, n, name, options->platform, order[i]);
    if (!f)
        return open_fails(error, EXIT_DEVICE, "%s", n == 0 ? no_device : "no such device; --list-devices shows them");
    rt->platform = f->platform;
    rt->device = f->device;
    identify(rt, f);
    query(rt, f);
    return true;
}
