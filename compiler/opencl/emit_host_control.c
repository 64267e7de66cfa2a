/* Blocks, branches, loops and calls of the host program. */
#include "opencl/emit_host_internal.h"

#include "opencl/emit_text.h"

#include <string.h>

/* ---- statements and blocks ---- */

enum { MOST_QUOTED = 200 }; /* bytes: a line that a program wrote may be long, and is quoted often */

/* The line of .dp that a statement comes from, once for all of its statements. */
static void emit_place(HostEmitter *h, const FlatStmt *s)
{
    Session *session = h->program->core->session;
    uint32_t line = source_linecol(session, s->span.file, s->span.start).line, n;
    if (line == h->line && s->span.file == h->file)
        return;
    h->file = s->span.file;
    h->line = line;
    const char *text = source_line(session, s->span.file, line, &n);
    while (n > 0 && (*text == ' ' || *text == '\t'))
        text++, n--;
    if (n > MOST_QUOTED)
        n = MOST_QUOTED;
    host_indent(h);
    strbuf_printf(h->out, "/* %u: ", line);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_addn(h->out, &text[i], 1);
        if (text[i] == '*' || text[i] == '/')
            strbuf_add(h->out, i + 1 < n && (text[i + 1] == '/' || text[i + 1] == '*') ? " " : "");
    }
    strbuf_add(h->out, " */\n");
}

static uint32_t place_number(HostEmitter *h, Span span)
{
    for (uint32_t i = 0; i < h->places.n; i++) {
        Span p = h->places.at[i];
        if (p.file == span.file && p.start == span.start && p.end == span.end)
            return i;
    }
    vec_push(h->plan->arena, &h->places, span);
    return h->places.n - 1;
}

/* What needs memory or calls functions says where it is. */
static void emit_at(HostEmitter *h, const FlatStmt *s)
{
    if (s->kind == FLAT_S_HOST || s->kind == FLAT_S_IF)
        return;
    uint32_t place = place_number(h, s->span);
    if (h->here == place + 1)
        return;
    h->here = place + 1;
    host_indent(h);
    strbuf_printf(h->out, "dp_at(rt, %u);\n", h->program->core->sites.n + place);
}

/* A level of a recursion that cannot be complete is not begun. */
static void emit_demand(HostEmitter *h, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        const FlatVarInfo *info = &h->fn->vars.at[s->outs[i]];
        if (info->kind != FLAT_CTX || info->least_bytes == 0)
            continue;
        emit_at(h, info->least_call);
        host_indent(h);
        strbuf_add(h->out, "dp_need(rt, ");
        host_var(h, s->outs[i]);
        strbuf_printf(h->out, ", %u);\n", info->least_bytes);
    }
}

static void emit_stmt(HostEmitter *h, const FlatStmt *s)
{
    emit_place(h, s);
    emit_at(h, s);
    h->moved.n = 0;
    switch (s->kind) {
    case FLAT_S_KERNEL:
    case FLAT_S_PACK:
    case FLAT_S_REDUCE:
    case FLAT_S_SCAN:
    case FLAT_S_SCATTER:
    case FLAT_S_HIST: host_kernel_stmt(h, s); break;
    case FLAT_S_ARRAY:
        if (s->body.ctx == FLAT_ROOT)
            host_move_stmt(h, s);
        else
            host_kernel_stmt(h, s);
        break;
    case FLAT_S_HOST:
    case FLAT_S_NESTED:
    case FLAT_S_SPLIT:
    case FLAT_S_ELEMS:
    case FLAT_S_SELECT:
    case FLAT_S_VIEWS:
    case FLAT_S_MERGE:
    case FLAT_S_ARGSORT:
    case FLAT_S_FLATTEN:
    case FLAT_S_UPDATE: host_move_stmt(h, s); break;
    case FLAT_S_IF:
    case FLAT_S_LOOP:
    case FLAT_S_LOOP_LIFTED:
    case FLAT_S_CALL:
    case FLAT_S_CALL_LIFTED:
        host_control(h, s);
        h->here = 0;
        return; /* they release themselves: blocks inside have used h->moved */
    }
    emit_demand(h, s);
    host_release_dead(h, s);
}

static void declare_bound(void *ctx, FlatVar v) { host_declare(ctx, v); }

void host_block(HostEmitter *h, const FlatBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++)
        flat_stmt_binds(b->stmts.at[i], declare_bound, h);
    for (uint32_t i = 0; i < b->ndies; i++)
        host_release(h, b->dies[i]);
    h->here = 0;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        emit_stmt(h, b->stmts.at[i]);
}

static bool block_ends(const FlatBlock *b, FlatVar v)
{
    for (uint32_t i = 0; i < b->nends; i++)
        if (b->ends[i] == v)
            return true;
    return false;
}

/* Results are taken in order: the last occurrence moves. */
void host_take_result(HostEmitter *h, const FlatBlock *b, uint32_t i)
{
    bool last = true;
    for (uint32_t j = i + 1; j < b->nresults; j++)
        last = last && b->results[j] != b->results[i];
    host_take(h, b->results[i], last && block_ends(b, b->results[i]));
}

/* "v = result i;" */
static void assign_result(HostEmitter *h, FlatVar v, const FlatBlock *b, uint32_t i)
{
    host_indent(h);
    host_var(h, v);
    strbuf_add(h->out, " = ");
    host_take_result(h, b, i);
    strbuf_add(h->out, ";\n");
}

/* ---- if ---- */

static void emit_branch(HostEmitter *h, const FlatStmt *s, const FlatBlock *b)
{
    h->depth++;
    host_block(h, b);
    for (uint32_t i = 0; i < s->nouts; i++)
        assign_result(h, s->outs[i], b, i);
    h->depth--;
}

static void emit_if(HostEmitter *h, const FlatStmt *s)
{
    host_indent(h);
    strbuf_add(h->out, "if (");
    host_var(h, s->if_.cond);
    strbuf_add(h->out, ") {\n");
    emit_branch(h, s, s->if_.then_b);
    host_line(h, "} else {");
    emit_branch(h, s, s->if_.else_b);
    host_line(h, "}");
    h->moved.n = 0;
    host_release_dead(h, s);
}

/* ---- loops ---- */

typedef struct UsePass {
    FlatVar v;
    bool found;
} UsePass;

static void use_var(void *ctx, FlatVar v)
{
    UsePass *p = ctx;
    p->found |= v == p->v;
}

static void use_block(void *ctx, FlatBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        flat_stmt_reads(b->stmts.at[i], use_var, ctx);
        flat_stmt_blocks(b->stmts.at[i], use_block, ctx);
    }
    for (uint32_t i = 0; i < b->nresults; i++)
        use_var(ctx, b->results[i]);
}

/* Initial values: one that dies at the loop is moved, unless the rounds use it too. */
static void emit_initial_state(HostEmitter *h, const FlatStmt *s, const FlatVar *params, const FlatVar *inits,
                               uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        UsePass uses = {inits[i], false};
        flat_stmt_blocks(s, use_block, &uses);
        host_declare(h, params[i]);
        host_indent(h);
        host_var(h, params[i]);
        strbuf_add(h->out, " = ");
        host_take(h, inits[i], !uses.found && host_moves(h, s, inits, n, inits[i]));
        strbuf_add(h->out, ";\n");
    }
}

static bool in_list(const FlatVar *list, uint32_t n, FlatVar v)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

/* May the parameters be assigned one after the other? Not where a parameter is the next value of another. */
static bool in_order(const FlatBlock *b, const FlatVar *params, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (b->results[i] != params[i] && in_list(params, n, b->results[i]))
            return false;
    return true;
}

/* The next state. The old one needs no release: each parameter died in the body, or is among its results and moves. */
static void emit_next_state(HostEmitter *h, const FlatBlock *b, const FlatVar *params, uint32_t n)
{
    if (in_order(b, params, n)) {
        for (uint32_t i = 0; i < n; i++)
            if (b->results[i] != params[i])
                assign_result(h, params[i], b, i);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        host_indent(h);
        host_type(h, params[i]);
        strbuf_printf(h->out, "next%u = ", i);
        host_take_result(h, b, i);
        strbuf_add(h->out, ";\n");
    }
    for (uint32_t i = 0; i < n; i++) {
        host_indent(h);
        host_var(h, params[i]);
        strbuf_printf(h->out, " = next%u;\n", i);
    }
}

static void emit_final_state(HostEmitter *h, const FlatStmt *s, const FlatVar *params)
{
    for (uint32_t i = 0; i < s->nouts; i++) {
        host_indent(h);
        host_var(h, s->outs[i]);
        strbuf_add(h->out, " = ");
        host_take(h, params[i], true);
        strbuf_add(h->out, ";\n");
    }
}

/* The condition, into a variable `go` of the type given. */
static void emit_condition(HostEmitter *h, const char *type, const FlatBlock *cond)
{
    host_indent(h);
    strbuf_printf(h->out, "%s go;\n", type);
    host_open(h);
    host_block(h, cond);
    host_indent(h);
    strbuf_add(h->out, "go = ");
    host_take_result(h, cond, 0);
    strbuf_add(h->out, ";\n");
    host_close(h);
}

static void emit_for_head(HostEmitter *h, const FlatStmt *s)
{
    host_indent(h);
    strbuf_add(h->out, "for (dp_i64 ");
    host_var(h, s->loop.index);
    strbuf_add(h->out, " = 0; ");
    host_var(h, s->loop.index);
    strbuf_add(h->out, " < ");
    host_var(h, s->loop.count);
    strbuf_add(h->out, "; ");
    host_var(h, s->loop.index);
    strbuf_add(h->out, "++) {\n");
    h->depth++;
}

static void emit_while_head(HostEmitter *h, const FlatStmt *s)
{
    host_line(h, "for (;;) {");
    h->depth++;
    emit_condition(h, "dp_bool", s->loop.cond);
    host_line(h, "if (!go) break;");
}

static bool compactible(const HostEmitter *h, FlatVar v)
{
    const FlatVarInfo *info = host_info(h, v);
    return info->kind != FLAT_CTX && info->type.rank > 0;
}

static bool any_compactible(const HostEmitter *h, const FlatVar *params, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (compactible(h, params[i]))
            return true;
    return false;
}

static void emit_limit(HostEmitter *h, const char *name, const FlatVar *params, uint32_t n)
{
    if (!any_compactible(h, params, n))
        return;
    host_indent(h);
    host_printf(h, "DpLimit %s = dp_limit(rt);\n", name);
}

/* Between two rounds: the state's dead data may go. */
static void emit_compaction(HostEmitter *h, const FlatVar *params, uint32_t n)
{
    if (!any_compactible(h, params, n))
        return;
    host_line(h, "if (dp_crowded(rt, &limit)) {");
    h->depth++;
    for (uint32_t i = 0; i < n; i++) {
        if (!compactible(h, params[i]))
            continue;
        CoreType type = host_info(h, params[i])->type;
        host_indent(h);
        strbuf_printf(h->out, "dp_compact%s(rt, &", host_info(h, params[i])->kind == FLAT_HOST ? "_root" : "");
        host_var(h, params[i]);
        strbuf_printf(h->out, ", %u, %u);\n", type.rank, emit_bytes(core_scalar(type.scalar)));
    }
    host_line(h, "limit = dp_limit(rt);");
    host_close(h);
}

static void emit_loop(HostEmitter *h, const FlatStmt *s)
{
    host_open(h);
    emit_initial_state(h, s, s->loop.params, s->loop.inits, s->loop.nparams);
    emit_limit(h, "limit", s->loop.params, s->loop.nparams);
    FlatVar *moved = h->moved.at;
    uint32_t nmoved = h->moved.n;
    h->moved.at = NULL; /* the blocks' statements start lists of their own */
    h->moved.n = h->moved.cap = 0;
    if (s->loop.index == FLAT_NO_VAR)
        emit_while_head(h, s);
    else
        emit_for_head(h, s);
    host_block(h, s->loop.body);
    emit_next_state(h, s->loop.body, s->loop.params, s->loop.nparams);
    emit_compaction(h, s->loop.params, s->loop.nparams);
    host_close(h);
    emit_final_state(h, s, s->loop.params);
    host_close(h);
    h->moved.at = moved;
    h->moved.n = h->moved.cap = nmoved;
    host_release_dead(h, s);
}

/* ---- loops in a context ---- */

/* The state of the instances that stop goes where they belong; the others' becomes the state. */
static void emit_parking(HostEmitter *h, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->loop_lifted.nparams; i++) {
        CoreType type = host_info(h, s->loop_lifted.params[i])->type;
        host_indent(h);
        strbuf_add(h->out, "dp_park(rt, &");
        host_var(h, s->loop_lifted.params[i]);
        strbuf_add(h->out, ", ");
        host_var(h, s->loop_lifted.active);
        strbuf_add(h->out, ", no, yes, &");
        host_var(h, s->outs[i]);
        strbuf_add(h->out, ", ");
        host_var(h, s->ctx);
        strbuf_printf(h->out, ", %s, %u, %u);\n", type.rank > 0 ? "dp_crowded(rt, &room)" : "false", type.rank,
                      emit_bytes(core_scalar(type.scalar)));
    }
}

/* After the condition: which instances go on. The active set hangs on the loop's context, however many rounds there
 * were. */
static void emit_round_split(HostEmitter *h, const FlatStmt *s)
{
    FlatVar act = s->loop_lifted.active;
    host_line(h, "DpCtx *yes = NULL, *no = NULL;");
    host_indent(h);
    strbuf_add(h->out, "dp_split(rt, ");
    host_var(h, act);
    strbuf_add(h->out, ", &go, &yes, &no);\n");
    host_line(h, "dp_col_release(rt, &go);");
    host_line(h, "if (dp_ctx_n(no) > 0) {");
    h->depth++;
    emit_parking(h, s);
    host_release(h, act);
    host_indent(h);
    host_var(h, act);
    strbuf_add(h->out, " = dp_ctx_below(rt, yes, ");
    host_var(h, s->ctx);
    strbuf_add(h->out, ");\n");
    host_close(h);
    host_line(h, "dp_ctx_release(rt, &yes);");
    host_line(h, "dp_ctx_release(rt, &no);");
    host_indent(h);
    strbuf_add(h->out, "if (dp_ctx_n(");
    host_var(h, act);
    strbuf_add(h->out, ") == 0) break;\n");
}

/* All instances begin as the active ones; outs have a place for each. */
static void emit_lifted_start(HostEmitter *h, const FlatStmt *s)
{
    FlatVar act = s->loop_lifted.active;
    host_declare(h, act);
    host_indent(h);
    host_var(h, act);
    strbuf_add(h->out, " = dp_ctx_retain(");
    host_var(h, s->ctx);
    strbuf_add(h->out, ");\n");
    emit_initial_state(h, s, s->loop_lifted.params, s->loop_lifted.inits, s->loop_lifted.nparams);
    emit_limit(h, "limit", s->loop_lifted.params, s->loop_lifted.nparams);
    emit_limit(h, "room", s->loop_lifted.params, s->loop_lifted.nparams); /* stays */
    for (uint32_t i = 0; i < s->nouts; i++) {
        host_indent(h);
        host_var(h, s->outs[i]);
        strbuf_add(h->out, " = dp_new_col(rt, dp_ctx_n(");
        host_var(h, s->ctx);
        strbuf_printf(h->out, "), %u);\n", emit_bytes(host_info(h, s->outs[i])->type));
    }
}

/* A round's body may let go of the active set where it uses it last; the next condition needs it again. */
static void emit_lifted_round(HostEmitter *h, const FlatStmt *s)
{
    FlatVar act = s->loop_lifted.active;
    host_indent(h);
    strbuf_add(h->out, "DpCtx *running = dp_ctx_retain(");
    host_var(h, act);
    strbuf_add(h->out, ");\n");
    host_block(h, s->loop_lifted.body);
    emit_next_state(h, s->loop_lifted.body, s->loop_lifted.params, s->loop_lifted.nparams);
    emit_compaction(h, s->loop_lifted.params, s->loop_lifted.nparams);
    host_release(h, act);
    host_indent(h);
    host_var(h, act);
    strbuf_add(h->out, " = running;\n");
}

static void emit_lifted_loop(HostEmitter *h, const FlatStmt *s)
{
    FlatVar act = s->loop_lifted.active;
    host_open(h);
    emit_lifted_start(h, s);
    FlatVar *moved = h->moved.at;
    uint32_t nmoved = h->moved.n;
    h->moved.at = NULL;
    h->moved.n = h->moved.cap = 0;
    host_indent(h);
    strbuf_add(h->out, "while (dp_ctx_n(");
    host_var(h, act);
    strbuf_add(h->out, ") > 0) {\n");
    h->depth++;
    emit_condition(h, "DpCol", s->loop_lifted.cond);
    emit_round_split(h, s);
    emit_lifted_round(h, s);
    host_close(h);
    host_release(h, act);
    for (uint32_t i = 0; i < s->loop_lifted.nparams; i++)
        host_release(h, s->loop_lifted.params[i]);
    host_close(h);
    h->moved.at = moved;
    h->moved.n = h->moved.cap = nmoved;
    host_release_dead(h, s);
}

/* ---- calls ---- */

static void emit_call(HostEmitter *h, const FlatStmt *s)
{
    host_indent(h);
    host_fn_name(h, s->call.fn);
    strbuf_add(h->out, "(rt");
    for (uint32_t i = 0; i < s->call.nargs; i++) {
        strbuf_add(h->out, ", ");
        host_take(h, s->call.args[i], host_moves(h, s, s->call.args, s->call.nargs, s->call.args[i]));
    }
    for (uint32_t i = 0; i < s->nouts; i++) {
        strbuf_add(h->out, ", &");
        host_var(h, s->outs[i]);
    }
    strbuf_add(h->out, ");\n");
    host_release_dead(h, s);
}

/* Numbers of instances: n0, n1, … of the sites, and `total`. */
static void emit_site_sizes(HostEmitter *h, const FlatStmt *s)
{
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        host_indent(h);
        strbuf_printf(h->out, "uint64_t n%u = dp_ctx_n(", i);
        host_var(h, s->call_lifted.sites[i].ctx);
        strbuf_add(h->out, ");\n");
    }
    host_indent(h);
    strbuf_add(h->out, "DpCtx *callers = dp_ctx_fn(rt, n0");
    for (uint32_t i = 1; i < s->call_lifted.nsites; i++)
        strbuf_printf(h->out, " + n%u", i);
    strbuf_add(h->out, ");\n");
}

/* Argument j: the sites' columns, one behind the other. */
static void emit_site_argument(HostEmitter *h, const FlatStmt *s, uint32_t j)
{
    const FlatSite *sites = s->call_lifted.sites;
    host_indent(h);
    strbuf_printf(h->out, "DpCol a%u = ", j);
    if (s->call_lifted.nsites == 1) {
        host_take(h, sites[0].args[j], host_moves(h, s, sites[0].args, s->call_lifted.nargs, sites[0].args[j]));
        strbuf_add(h->out, ";\n");
        return;
    }
    strbuf_printf(h->out, "dp_concat(rt, %u, (const DpCol[]){", s->call_lifted.nsites);
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        if (i)
            strbuf_add(h->out, ", ");
        host_var(h, sites[i].args[j]);
    }
    strbuf_add(h->out, "});\n");
}

static bool site_binds(const FlatStmt *s, FlatVar v)
{
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++)
        if (in_list(s->call_lifted.sites[i].outs, s->call_lifted.nresults, v))
            return true;
    return false;
}

/* What dies at the call is released before it; what it binds, and nobody reads, after it. */
static void release_around_call(HostEmitter *h, const FlatStmt *s, bool outs)
{
    for (uint32_t i = 0; i < s->ndies; i++) {
        FlatVar v = s->dies[i];
        if (site_binds(s, v) == outs && !in_list(h->moved.at, h->moved.n, v))
            host_release(h, v);
    }
}

/* Result j: each site gets its slice. */
static void emit_site_result(HostEmitter *h, const FlatStmt *s, uint32_t j)
{
    for (uint32_t i = 0; i < s->call_lifted.nsites; i++) {
        host_indent(h);
        host_var(h, s->call_lifted.sites[i].outs[j]);
        if (s->call_lifted.nsites == 1) {
            strbuf_printf(h->out, " = r%u;\n", j);
            return;
        }
        strbuf_printf(h->out, " = dp_slice_col(rt, &r%u, 0", j);
        for (uint32_t k = 0; k < i; k++)
            strbuf_printf(h->out, " + n%u", k);
        strbuf_printf(h->out, ", n%u);\n", i);
    }
    host_indent(h);
    strbuf_printf(h->out, "dp_col_release(rt, &r%u);\n", j);
}

static void emit_call_lifted(HostEmitter *h, const FlatStmt *s)
{
    host_open(h);
    emit_site_sizes(h, s);
    for (uint32_t j = 0; j < s->call_lifted.nargs; j++)
        emit_site_argument(h, s, j);
    release_around_call(h, s, false);
    for (uint32_t j = 0; j < s->call_lifted.nresults; j++) {
        host_indent(h);
        strbuf_printf(h->out, "DpCol r%u = {0};\n", j);
    }
    host_indent(h);
    host_fn_name(h, s->call_lifted.fn);
    strbuf_add(h->out, "(rt, callers");
    for (uint32_t j = 0; j < s->call_lifted.nargs; j++)
        strbuf_printf(h->out, ", a%u", j);
    for (uint32_t j = 0; j < s->call_lifted.nresults; j++)
        strbuf_printf(h->out, ", &r%u", j);
    strbuf_add(h->out, ");\n");
    for (uint32_t j = 0; j < s->call_lifted.nresults; j++)
        emit_site_result(h, s, j);
    release_around_call(h, s, true);
    host_close(h);
}

void host_control(HostEmitter *h, const FlatStmt *s)
{
    switch ((int)s->kind) {
    case FLAT_S_IF: emit_if(h, s); break;
    case FLAT_S_LOOP: emit_loop(h, s); break;
    case FLAT_S_LOOP_LIFTED: emit_lifted_loop(h, s); break;
    case FLAT_S_CALL: emit_call(h, s); break;
    case FLAT_S_CALL_LIFTED: emit_call_lifted(h, s); break;
    }
}
