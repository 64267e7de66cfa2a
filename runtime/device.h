/* The seam between the runtime and what it computes on. Nothing above this header names OpenCL.
 *
 * A back end is a table of functions. device_opencl.c is one; tests bring another (tests/unit/recording_device.h),
 * which records the calls and lets one of them fail. device.c picks a device among those that the back ends list.
 *
 * ORDER. A device does what it is asked in the order of the calls. `fill`, `copy` and `launch` return before it is
 * done; read, write and finish wait for everything before them. FAILURES. A function returns a status, or NULL for what
 * it should have made; then device->error says why, in the back end's words ("CL_OUT_OF_RESOURCES in clFinish"), until
 * the next failure. A device is used by one thread. OWNERSHIP. Buffers, programs and kernels are given back to their
 * device before it is closed; kernels before their program. */
#ifndef DP_DEVICE_H
#define DP_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct DpBackend DpBackend;
typedef struct DpDevice DpDevice;
typedef struct DpDeviceProgram DpDeviceProgram; /* the back end's, likewise below */
typedef struct DpDeviceKernel DpDeviceKernel;

typedef enum DpDeviceKind { DEVICE_GPU, DEVICE_CPU, DEVICE_OTHER } DpDeviceKind;
typedef enum DpDeviceStatus {
    DEVICE_OK,
    DEVICE_TOO_LARGE, /* the device has no buffers of that size, whatever is free */
    DEVICE_FAILED
} DpDeviceStatus;

/* One that could be opened. */
typedef struct DpDeviceEntry {
    const DpBackend *backend;
    DpDeviceKind kind;
    char platform[256], name[256];
    bool silent;      /* it does not say what it is: nothing else is known, and it cannot be opened */
    void *handles[2]; /* the back end's */
    void *queue;      /* a caller's, on which the device is to work; or NULL */
} DpDeviceEntry;

/* What the runtime goes by. */
typedef struct DpDeviceFacts {
    char identity[640]; /* all that a built program depends on: part of the cache's keys */
    DpDeviceKind kind;
    uint32_t units;          /* that compute side by side: cores, multiprocessors */
    uint64_t memory;         /* bytes; 0: it does not say */
    uint64_t largest_buffer; /* that it promises; it may grant larger ones */
    uint64_t argument_bytes; /* of a kernel, at most */
    bool shares_memory;      /* buffers are the host's pages: zeros, taken when they are touched */
    bool one_space;          /* a kernel that has the heap reaches other buffers, too (`reach`) */
    bool posts;              /* also the host's memory, which it writes directly (`host_buffer_create`) */
    bool atomics64;
    bool keeps_built;   /* has a cache of built programs itself: nothing is gained by asking for binaries */
    bool compiles_late; /* each kernel when it first runs; else all of a program when it is built */
    /* "#define DP_POCL 1\n": how kernels may say what OpenCL C has no word for, fences (common.cl); NULL: not at all */
    const char *dialect;
    /* Square roots and quotients of f32 come from the steps of roots.cl, with branches for what these do not do. */
    bool straight_roots;
    bool adds_f64;    /* by one atomic instruction (combine.cl) */
    bool vectors;     /* its compiler knows clang's vector types (vector.cl) */
    bool calls;       /* the host can execute launches itself (`call`) */
    bool long_header; /* reads long declarations of built-in functions unless a text brings its own (builtins.cl) */
} DpDeviceFacts;

struct DpDevice {
    const DpBackend *backend;
    DpDeviceFacts facts;
    char error[96];
};

typedef struct DpBuffer {
    void *object; /* the back end's; NULL: there is no buffer */
    void *memory; /* where the host has it, if they share memory */
    uint64_t bytes;
} DpBuffer;

/* A text in OpenCL C. */
typedef struct DpBuild {
    const char *text;
    bool optimised;       /* else: as quickly as it can be compiled, where that makes a difference */
    bool brings_builtins; /* the text declares the built-in functions that it uses, as far as it knows */
} DpBuild;

/* The kernel's parameters are `heaps` times the heap and then numbers of 64 bits. */
typedef struct DpLaunch {
    const DpBuffer *heap;
    uint32_t heaps, n, groups, lanes; /* lanes: of a group */
    const uint64_t *numbers;
} DpLaunch;
/* When it was asked for, given to the device, begun and ended: nanoseconds of the device's clock. */
typedef struct DpLaunchTimes {
    uint64_t queued, submitted, begun, ended; /* ended: 0, it does not say */
} DpLaunchTimes;

struct DpBackend {
    /* How many devices there are; `room` of them are described. */
    uint32_t (*list)(DpDeviceEntry *to, uint32_t room);
    /* The one of a caller's queue (a cl_command_queue), whose commands run in order. False, and why. */
    bool (*of_queue)(void *queue, DpDeviceEntry *to, char error[96]);
    /* NULL, and the device's words, on failure; no words: the host has no memory. timed: launches may be asked for
     * their time. */
    DpDevice *(*open)(const DpDeviceEntry *entry, bool timed, char error[96]);
    void (*close)(DpDevice *d);
    DpDeviceStatus (*finish)(DpDevice *d);

    DpDeviceStatus (*buffer_create)(DpDevice *d, uint64_t bytes, DpBuffer *made);
    /* In the host's memory, which it sees what kernels have written to when it has waited for these. Only where
     * facts.posts or facts.shares_memory says so. */
    DpDeviceStatus (*host_buffer_create)(DpDevice *d, uint64_t bytes, DpBuffer *made);
    void (*buffer_release)(DpDevice *d, DpBuffer *b); /* harmless where there is none */
    DpDeviceStatus (*fill)(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, unsigned char with);
    DpDeviceStatus (*copy)(DpDevice *d, const DpBuffer *from, uint64_t at, const DpBuffer *to, uint64_t to_at,
                           uint64_t bytes);
    /* Where a caller's buffer (a cl_mem, of the same context) begins, in bytes from the heap, modulo 2^64: a kernel
     * writes that into the heap's word at `at`, as for anything else that gets both. */
    DpDeviceStatus (*reach)(DpDevice *d, const DpBuffer *heap, uint64_t at, void *object);
    /* Reads so many bytes of a buffer, so that they are what the device's caches have; the heap's word at `at` may get
     * any number. */
    DpDeviceStatus (*sweep)(DpDevice *d, const DpBuffer *heap, uint64_t at, const DpBuffer *from, uint64_t bytes);
    /* How many bytes it has; 0: it is no buffer of this context. */
    uint64_t (*object_bytes)(const DpDevice *d, void *object);
    /* Events of callers (cl_event). Any thread may ask for one, NULL: it cannot be made; it is ended once. */
    DpDeviceStatus (*wait)(DpDevice *d, uint32_t n, void *const *events);
    void *(*event_create)(const DpDevice *d);
    void (*event_end)(void *event, bool well);
    void (*event_release)(void *event);
    DpDeviceStatus (*read)(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, void *to);
    DpDeviceStatus (*write)(DpDevice *d, const DpBuffer *b, uint64_t at, uint64_t bytes, const void *from);

    /* *log: malloc'd, what the compiler said, or NULL; only where it fails. */
    DpDeviceProgram *(*build)(DpDevice *d, const DpBuild *build, char **log);
    DpDeviceProgram *(*load)(DpDevice *d, const DpBuild *as, const unsigned char *binary, size_t n);
    unsigned char *(*binary)(DpDevice *d, DpDeviceProgram *p, size_t *n); /* malloc'd; NULL: it gives none */
    void (*program_release)(DpDevice *d, DpDeviceProgram *p);
    /* NULL without an error: the host has no memory for it. */
    DpDeviceKernel *(*kernel)(DpDevice *d, DpDeviceProgram *p, const char *name);
    void (*kernel_release)(DpDevice *d, DpDeviceKernel *k); /* NULL is harmless */
    /* times: NULL, or waits for the launch and tells them. */
    DpDeviceStatus (*launch)(DpDevice *d, DpDeviceKernel *k, const DpLaunch *launch, DpLaunchTimes *times);
    /* Executes a launch in the calling thread, one work-group after the other. False: nothing was done, as something is
     * under way, or the kernel has not run before. Only where facts.calls says so. */
    bool (*call)(DpDevice *d, DpDeviceKernel *k, const DpLaunch *launch);
};

extern const DpBackend dp_opencl;

#endif
