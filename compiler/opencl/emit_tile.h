/* The body of a segmented reduction once more, in parts by what their values vary with (plan/access.h): the holes of
 * kernels/tile.cl. */
#ifndef DPC_OPENCL_EMIT_TILE_H
#define DPC_OPENCL_EMIT_TILE_H

#include "dp_rt.h"
#include "opencl/emit_internal.h"
#include "plan/access.h"

/* What the template calls a part: its struct, its function, a value of it. */
typedef struct TileText {
    const char *type, *name, *value, *fields, *parameters;
} TileText;
extern const TileText tile_texts[ACCESS_PARTS];

/* The parts of the kernel's body, or NULL if instances share nothing. */
const Access *emit_tile_access(const Plan *plan, const PlanKernel *k);
/* The statements that a part evaluates. */
CoreBlock emit_tile_statements(const Plan *plan, const Access *a, const AccessPart *part);
/* Nothing, if instances share nothing. */
void emit_tile(KernelEmitter *ke);
DpTile emit_tile_facts(const Plan *plan, const PlanKernel *k);

#endif
