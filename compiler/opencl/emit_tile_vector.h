/* The body of a tile (emit_tile.h) for several columns side by side: the vector holes of kernels/tile.cl. */
#ifndef DPC_OPENCL_EMIT_TILE_VECTOR_H
#define DPC_OPENCL_EMIT_TILE_VECTOR_H

#include "opencl/emit_vector_internal.h"

/* Of body and operator. refused, too, if there are no tiles. */
SpreadFacts emit_tile_vector_facts(VectorEmitter *v);
/* The body, after its facts have been found. */
void emit_tile_vector(VectorEmitter *v);

#endif
