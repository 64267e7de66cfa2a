/* The body of a segmented reduction once more, in parts by what their values vary with (plan/access.h): the holes of
 * kernels/tile.cl. */
#ifndef DPC_OPENCL_EMIT_TILE_H
#define DPC_OPENCL_EMIT_TILE_H

#include "dp_rt.h"
#include "opencl/emit_internal.h"

/* Nothing, if instances share nothing. */
void emit_tile(KernelEmitter *ke);
DpTile emit_tile_facts(const Plan *plan, const PlanKernel *k);

#endif
