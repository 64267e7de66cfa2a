/* What the files that write the host program share. */
#ifndef DPC_OPENCL_EMIT_HOST_INTERNAL_H
#define DPC_OPENCL_EMIT_HOST_INTERNAL_H

#include "opencl/emit_host.h"

typedef struct HostEmitter {
    StrBuf *out;
    const Plan *plan;
    const FlatProgram *program;
    const FlatFn *fn;
    int depth;
    uint32_t next_kernel; /* where plan_first begins to look */
    uint32_t file, line;  /* of the last comment */
    const char **names;   /* by core variable: the HOST variable that it stands for, in a HOST statement */
    VEC(FlatVar) moved;   /* by the statement at hand */
    uint32_t here;        /* the place last named in these straight-line statements, plus 1, or 0 */
    VEC(Span) places;     /* of statements, behind core's sites in the table */
} HostEmitter;

/* ---- pieces (emit_host.c) ---- */
const FlatVarInfo *host_info(const HostEmitter *h, FlatVar v);
bool host_owns(const HostEmitter *h, FlatVar v);
void host_var(HostEmitter *h, FlatVar v); /* its name */
void host_indent(HostEmitter *h);
void host_line(HostEmitter *h, const char *text); /* indented, with a newline */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void host_printf(HostEmitter *h, const char *format, ...);
void host_open(HostEmitter *h);               /* "{" */
void host_close(HostEmitter *h);              /* "}" */
void host_type(HostEmitter *h, FlatVar v);    /* "DpCtx *", with what stands before a name */
void host_declare(HostEmitter *h, FlatVar v); /* "DpCol v3 = {0};" */
void host_release(HostEmitter *h, FlatVar v);
/* "dp_col_move(&v3)" or "dp_col_retain(v3)"; a scalar's name. */
void host_take(HostEmitter *h, FlatVar v, bool move);
/* "{v1, v2}" */
void host_list(HostEmitter *h, const FlatVar *vars, uint32_t n);
void host_fn_name(HostEmitter *h, const FlatFn *fn);

/* ---- ownership ---- */
bool host_dies(const FlatStmt *s, FlatVar v);
/* Does v, one of n variables that the statement takes, move? Then it is noted as moved. */
bool host_moves(HostEmitter *h, const FlatStmt *s, const FlatVar *taken, uint32_t n, FlatVar v);
void host_release_dead(HostEmitter *h, const FlatStmt *s);

/* ---- blocks (emit_host_control.c) ---- */
/* Declarations, what dies at the entry, statements; the results are taken by the caller with host_take_result. */
void host_block(HostEmitter *h, const FlatBlock *b);
void host_take_result(HostEmitter *h, const FlatBlock *b, uint32_t i);
void host_control(HostEmitter *h, const FlatStmt *s); /* IF LOOP LOOP_LIFTED CALL CALL_LIFTED */

/* ---- statements ---- */
void host_kernel_stmt(
    HostEmitter *h,
    const FlatStmt *s); /* emit_host_kernel.c: KERNEL ARRAY PACK REDUCE SCAN SCATTER HIST in a context */
void host_move_stmt(HostEmitter *h,
                    const FlatStmt *s); /* emit_host_moves.c: HOST, ARRAY at depth 0, contexts, columns, whole arrays */

/* Appends code that sets `name`, a DpRefs *, to what views of rank `rank` and the scalar made by the body may point
 * into. */
void host_body_refs(HostEmitter *h, const char *name, const FlatBody *body, CoreType view);

/* ---- tables (emit_host_tables.c) ---- */
void host_tables(HostEmitter *h, const char *dp_path);

#endif
