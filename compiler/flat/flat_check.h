/* Inside the checker: statements and contexts are checked in flat_check.c, the scalar core code of bodies in
 * flat_check_body.c. */
#ifndef DPC_FLAT_CHECK_H
#define DPC_FLAT_CHECK_H

#include "flat/flat.h"

typedef struct FlatChecker {
    const FlatProgram *program;
    const FlatFn *fn;
    const FlatStmt *stmt;
    StrBuf *why;
    bool ok;
    bool *bound, *in_scope; /* by variable of fn */
    VEC(FlatVar) scope;     /* those in scope, innermost last */
    /* By core variable: the body in which it is in scope; bodies are numbered. */
    uint32_t *core_scope;
    uint32_t core_round;
    Arena *arena;
} FlatChecker;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void flat_check_fail(FlatChecker *c, const char *format, ...);

/* Starts a body: no core variable is in scope. */
void flat_check_core_begin(FlatChecker *c);
/* Binds an input or parameter of type t. */
void flat_check_core_bind(FlatChecker *c, CoreVar v, CoreType t);
CoreType flat_check_core_atom(FlatChecker *c, CoreAtom a);
/* Scalar code only; its n results are of the given types. */
void flat_check_core_block(FlatChecker *c, const CoreBlock *b, const CoreType *types, uint32_t n);

#endif
