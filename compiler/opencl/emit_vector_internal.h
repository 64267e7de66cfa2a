/* Inside the printer of vector code: emit_vector_block.c has the statements, emit_vector.c the kernel's functions. */
#ifndef DPC_OPENCL_EMIT_VECTOR_INTERNAL_H
#define DPC_OPENCL_EMIT_VECTOR_INTERNAL_H

#include "opencl/emit_internal.h"
#include "opencl/spread.h"

typedef struct VectorEmitter {
    KernelEmitter ke;
    ScalarEmitter e;
    SpreadTable table; /* of the function's variables */
    const char *again; /* what the function returns where a lane fails, or what is assumed inside does not hold */
    uint32_t mask;     /* the lanes that are on: variable on1 …; 0: all */
    uint32_t nmasks;   /* so far */
} VectorEmitter;

/* "f32" */
const char *vector_type_name(const VectorEmitter *v, CoreVar x);
bool vector_varies(const VectorEmitter *v, CoreVar x);
/* An atom as a vector. */
void emit_vector_operand(VectorEmitter *v, CoreAtom a);
/* "T x = " */
void emit_vector_bind(VectorEmitter *v, CoreVar x);
/* "return …;" */
void emit_vector_again(VectorEmitter *v);
void emit_vector_block(VectorEmitter *v, const CoreBlock *b);

#endif
