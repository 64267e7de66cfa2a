/* The host program: pieces shared by its emitters, functions, and the file as a whole. */
#include "opencl/emit_host_internal.h"

#include "opencl/emit_text.h"

#include <stdarg.h>
#include <string.h>

/* ---- text ---- */

void host_indent(HostEmitter *h) { strbuf_indent(h->out, 2 * h->depth); }

void host_line(HostEmitter *h, const char *text)
{
    host_indent(h);
    strbuf_add(h->out, text);
    strbuf_add(h->out, "\n");
}

void host_printf(HostEmitter *h, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_add(h->out, text);
}

void host_open(HostEmitter *h)
{
    host_line(h, "{");
    h->depth++;
}

void host_close(HostEmitter *h)
{
    h->depth--;
    host_line(h, "}");
}

/* ---- variables ---- */

const FlatVarInfo *host_info(const HostEmitter *h, FlatVar v) { return &h->fn->vars.at[v]; }

bool host_owns(const HostEmitter *h, FlatVar v)
{
    const FlatVarInfo *info = host_info(h, v);
    return info->kind != FLAT_HOST || info->type.rank > 0;
}

void host_var(HostEmitter *h, FlatVar v)
{
    const FlatVarInfo *info = host_info(h, v);
    emit_name(h->out, info->kind == FLAT_CTX ? "c" : "v", v, info->hint);
}

/* "arr", "col", "ctx": in the names of the runtime's functions. */
static const char *family(const HostEmitter *h, FlatVar v)
{
    switch (host_info(h, v)->kind) {
    case FLAT_HOST: return "arr";
    case FLAT_COL: return "col";
    case FLAT_CTX: return "ctx";
    }
    return "";
}

/* With the space or star that goes before the name. */
static const char *c_type(const HostEmitter *h, FlatVar v)
{
    const FlatVarInfo *info = host_info(h, v);
    switch (info->kind) {
    case FLAT_HOST: return info->type.rank > 0 ? "DpArr " : NULL;
    case FLAT_COL: return "DpCol ";
    case FLAT_CTX: return "DpCtx *";
    }
    return NULL;
}

void host_type(HostEmitter *h, FlatVar v)
{
    const char *type = c_type(h, v);
    if (type)
        strbuf_add(h->out, type);
    else
        strbuf_printf(h->out, "%s ", emit_type_name(host_info(h, v)->type.scalar));
}

void host_declare(HostEmitter *h, FlatVar v)
{
    host_indent(h);
    host_type(h, v);
    host_var(h, v);
    const FlatVarInfo *info = host_info(h, v);
    bool aggregate = info->kind == FLAT_COL || (info->kind == FLAT_HOST && info->type.rank > 0);
    strbuf_add(h->out, aggregate ? " = {0};\n" : info->kind == FLAT_CTX ? " = NULL;\n" : " = 0;\n");
}

void host_release(HostEmitter *h, FlatVar v)
{
    if (!host_owns(h, v))
        return;
    host_indent(h);
    strbuf_printf(h->out, "dp_%s_release(rt, &", family(h, v));
    host_var(h, v);
    strbuf_add(h->out, ");\n");
}

void host_take(HostEmitter *h, FlatVar v, bool move)
{
    if (!host_owns(h, v)) {
        host_var(h, v);
        return;
    }
    strbuf_printf(h->out, move ? "dp_%s_move(&" : "dp_%s_retain(", family(h, v));
    host_var(h, v);
    strbuf_add(h->out, ")");
}

void host_list(HostEmitter *h, const FlatVar *vars, uint32_t n)
{
    strbuf_add(h->out, "{");
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_add(h->out, ", ");
        host_var(h, vars[i]);
    }
    strbuf_add(h->out, "}");
}

/* ---- ownership ---- */

bool host_dies(const FlatStmt *s, FlatVar v)
{
    for (uint32_t i = 0; i < s->ndies; i++)
        if (s->dies[i] == v)
            return true;
    return false;
}

static bool was_moved(const HostEmitter *h, FlatVar v)
{
    for (uint32_t i = 0; i < h->moved.n; i++)
        if (h->moved.at[i] == v)
            return true;
    return false;
}

bool host_moves(HostEmitter *h, const FlatStmt *s, const FlatVar *taken, uint32_t n, FlatVar v)
{
    if (!host_owns(h, v) || !host_dies(s, v))
        return false;
    uint32_t occurrences = 0;
    for (uint32_t i = 0; i < n; i++)
        occurrences += taken[i] == v;
    if (occurrences != 1)
        return false; /* in a call's arguments, what comes first is not known */
    vec_push(h->plan->arena, &h->moved, v);
    return true;
}

void host_release_dead(HostEmitter *h, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->ndies; i++)
        if (!was_moved(h, s->dies[i]))
            host_release(h, s->dies[i]);
}

/* ---- functions ---- */

void host_fn_name(HostEmitter *h, const FlatFn *fn) { emit_name(h->out, "fn_", fn->index, fn->name); }

static FlatVar result_var(const FlatFn *fn, uint32_t i) { return fn->body->results[i]; }

static void emit_signature(HostEmitter *h, const FlatFn *fn)
{
    h->fn = fn;
    strbuf_add(h->out, "static void ");
    host_fn_name(h, fn);
    strbuf_add(h->out, "(DpRt *rt");
    if (fn->lifted) {
        strbuf_add(h->out, ", DpCtx *");
        host_var(h, fn->ctx);
    }
    for (uint32_t i = 0; i < fn->nparams; i++) {
        strbuf_add(h->out, ", ");
        host_type(h, fn->params[i]);
        host_var(h, fn->params[i]);
    }
    for (uint32_t i = 0; i < fn->body->nresults; i++) {
        strbuf_add(h->out, ", ");
        host_type(h, result_var(fn, i));
        strbuf_printf(h->out, "*out%u", i);
    }
    strbuf_add(h->out, ")");
}

/* No instances: empty results, and no deeper recursion. */
static void emit_empty_return(HostEmitter *h)
{
    const FlatFn *fn = h->fn;
    host_indent(h);
    strbuf_add(h->out, "if (dp_ctx_n(");
    host_var(h, fn->ctx);
    strbuf_add(h->out, ") == 0) {\n");
    h->depth++;
    for (uint32_t i = 0; i < fn->body->nresults; i++) {
        host_indent(h);
        strbuf_printf(h->out, "*out%u = dp_new_col(rt, 0, %u);\n", i,
                      emit_bytes(host_info(h, result_var(fn, i))->type));
    }
    for (uint32_t i = 0; i < fn->nparams; i++)
        host_release(h, fn->params[i]);
    host_release(h, fn->ctx);
    host_line(h, "return;");
    host_close(h);
}

static void emit_results(HostEmitter *h)
{
    for (uint32_t i = 0; i < h->fn->body->nresults; i++) {
        host_indent(h);
        strbuf_printf(h->out, "*out%u = ", i);
        host_take_result(h, h->fn->body, i);
        strbuf_add(h->out, ";\n");
    }
}

/* What a lifted function is called for shows whether its recursion gets anywhere. */
static void emit_enter(HostEmitter *h, const FlatFn *fn)
{
    host_line(h, "DpLevel level;");
    host_indent(h);
    if (!fn->lifted) {
        strbuf_printf(h->out, "dp_enter(rt, &level, \"%s\");\n", fn->scope->name);
        return;
    }
    strbuf_printf(h->out, "dp_enter_lifted(rt, &level, \"%s\", dp_ctx_n(", fn->scope->name);
    host_var(h, fn->ctx);
    strbuf_printf(h->out, "), %u, (const DpCol[]){", fn->nparams);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        strbuf_add(h->out, i ? ", " : "");
        host_var(h, fn->params[i]);
    }
    strbuf_add(h->out, fn->nparams ? "}, (const uint8_t[]){" : "{0}}, (const uint8_t[]){0");
    for (uint32_t i = 0; i < fn->nparams; i++) {
        CoreType t = host_info(h, fn->params[i])->type;
        strbuf_printf(h->out, "%s%u", i ? ", " : "", t.rank > 0 ? emit_element_bytes(t) : 0);
    }
    strbuf_add(h->out, "});\n");
}

static void emit_function(HostEmitter *h, const FlatFn *fn)
{
    strbuf_add(h->out, "\n");
    emit_signature(h, fn);
    strbuf_add(h->out, "\n");
    h->names = arena_array(h->plan->arena, const char *, fn->scope->vars.n + 1);
    h->line = 0;
    host_open(h);
    if (fn->lifted)
        emit_empty_return(h);
    if (fn->recursive)
        emit_enter(h, fn);
    host_block(h, fn->body);
    emit_results(h);
    if (fn->recursive)
        host_line(h, "dp_leave(rt);");
    host_close(h);
}

static void emit_declarations(HostEmitter *h)
{
    strbuf_add(h->out, "\n");
    for (uint32_t i = 0; i < h->program->fns.n; i++) {
        emit_signature(h, h->program->fns.at[i]);
        strbuf_add(h->out, ";\n");
    }
}

/* ---- the file ---- */

static const char prologue[] =
    "#include \"dp_scalar.h\" /* before anything defines `bool` as a macro */\n"
    "#include \"dp_rt.h\"\n"
    "\n"
    "/* Generated code names more than it uses. */\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
    "\n"
    "/* Ownership goes over to the result, or to what `to` held before is given up. */\n"
    "static inline DpArr dp_arr_move(DpArr *a) { DpArr x = *a; *a = (DpArr){0}; return x; }\n"
    "static inline DpCol dp_col_move(DpCol *c) { DpCol x = *c; *c = (DpCol){0}; return x; }\n"
    "static inline DpCtx *dp_ctx_move(DpCtx **c) { DpCtx *x = *c; *c = NULL; return x; }\n"
    "static inline void dp_arr_set(DpRt *rt, DpArr *to, DpArr value)\n"
    "{\n"
    "    DpArr old = *to;\n"
    "    *to = value;\n"
    "    dp_arr_release(rt, &old);\n"
    "}\n"
    "/* The part of length `len` that begins `bytes` behind the start. */\n"
    "static inline DpArr dp_arr_part(DpArr a, uint64_t len, uint64_t bytes)\n"
    "{\n"
    "    DpArr part = dp_arr_retain(a);\n"
    "    part.len = len;\n"
    "    part.addr += bytes;\n"
    "    return part;\n"
    "}\n";

/* A comment must not end early. */
static void emit_comment_text(StrBuf *out, const char *text)
{
    for (; *text; text++) {
        bool ends = text[0] == '*' && text[1] == '/';
        strbuf_addn(out, text, 1);
        if (ends)
            strbuf_add(out, " ");
    }
}

/* All but maps could need more outputs than a kernel may have. */
static bool check_limits(const Plan *plan)
{
    bool ok = true;
    for (uint32_t i = 0; i < plan->kernels.n; i++) {
        const PlanKernel *k = plan->kernels.at[i];
        if (k->nouts <= PLAN_MAX_OUTS)
            continue;
        diag_error(plan->program->core->session, k->stmt->span, DIAG_VALUE_PARTS,
                   "this %s works on values of %u parts; at most %d are supported", plan_kind_name(k->kind), k->nouts,
                   PLAN_MAX_OUTS);
        ok = false;
    }
    return ok;
}

bool emit_opencl_program(StrBuf *host_c, const FlatProgram *p, const char *dp_path)
{
    HostEmitter h = {.out = host_c, .plan = plan_make(p), .program = p};
    if (!check_limits(h.plan))
        return false;
    strbuf_add(host_c, "/* Made by dpc from ");
    emit_comment_text(host_c, dp_path);
    strbuf_add(host_c, ". */\n");
    strbuf_add(host_c, prologue);
    emit_declarations(&h);
    for (uint32_t i = 0; i < p->fns.n; i++)
        emit_function(&h, p->fns.at[i]);
    host_tables(&h, dp_path);
    return true;
}
