/* Launches of little work, which the host executes itself (calls.c). */
#ifndef DP_CALLS_H
#define DP_CALLS_H

#include "device.h"
#include "dp_rt.h"

/* What calls of a kernel took. */
typedef struct CallTimes {
    uint32_t calls;
    bool longer;       /* the last one took longer than was expected */
    double each_ns;    /* an element's share */
    double stretch_ns; /* of the last stretch that began with it; 0: of none */
} CallTimes;
/* What is launched from one time that the host waits to the next. */
typedef struct Stretch {
    CallTimes *first; /* NULL: nothing yet */
    double ns;        /* what its launches take by one core, as far as is known */
    bool by_host;
} Stretch;
typedef struct CallWork {
    uint64_t elements;
    uint32_t groups, cost; /* cost: of an element, in statements; 0: not known */
} CallWork;
void dp_stretch_ends(DpRt *rt); /* the host waits */
/* Executes the launch, if the host had better do it. */
bool dp_call(DpRt *rt, CallTimes *times, const CallWork *work, DpDeviceKernel *kernel, const DpLaunch *launch);

#endif
