/* The checker for flat programs: scopes, kinds, types and contexts of every statement, as flat.h says. The first
 * broken promise ends it. Bodies are checked as scalar core code whose free variables are the body's inputs. */
#include "flat/flat_check.h"

#include <stdarg.h>

static const CoreType type_i64 = {SC_I64, 0}, type_bool = {SC_BOOL, 0};

void flat_check_fail(FlatChecker *c, const char *format, ...)
{
    if (!c->ok)
        return;
    c->ok = false;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_printf(c->why, "flat_check: function %s", c->fn->name);
    if (c->stmt)
        strbuf_printf(c->why, ", %s", flat_kind(c->stmt->kind)->word);
    if (c->stmt && c->program->core->session->files.n > c->stmt->span.file)
        strbuf_printf(c->why, ", line %u",
                      source_linecol(c->program->core->session, c->stmt->span.file, c->stmt->span.start).line);
    strbuf_printf(c->why, ": %s", text);
}

static bool expect(FlatChecker *c, bool holds, const char *what)
{
    if (!holds)
        flat_check_fail(c, "%s", what);
    return holds && c->ok;
}

/* ---- scopes ---- */

static const FlatVarInfo *info_of(const FlatChecker *c, FlatVar v) { return &c->fn->vars.at[v]; }

static void check_ctx_info(FlatChecker *c, FlatVar ctx, const char *what)
{
    if (ctx == FLAT_ROOT)
        return;
    if (ctx >= c->fn->vars.n || info_of(c, ctx)->kind != FLAT_CTX)
        flat_check_fail(c, "%s is not a context", what);
    else if (!c->in_scope[ctx])
        flat_check_fail(c, "%s, %%%u, is not in scope", what, ctx);
}

static void bind(FlatChecker *c, FlatVar v)
{
    if (!expect(c, v < c->fn->vars.n, "a binder's number is out of range"))
        return;
    if (c->bound[v])
        flat_check_fail(c, "%%%u is bound twice", v);
    c->bound[v] = c->in_scope[v] = true;
    vec_push(c->arena, &c->scope, v);
    const FlatVarInfo *info = info_of(c, v);
    if (info->kind == FLAT_COL)
        expect(c, info->ctx != FLAT_ROOT, "a column of depth 0");
    if (info->kind == FLAT_COL)
        check_ctx_info(c, info->ctx, "the context of a column");
    if (info->kind == FLAT_CTX && info->ctx_kind != CTX_FN)
        check_ctx_info(c, info->ctx, "the parent of a context");
}

static void bind_all(FlatChecker *c, const FlatVar *vars, uint32_t n)
{
    /* Contexts first: columns among the same outs may belong to them. */
    for (uint32_t i = 0; i < n; i++)
        if (vars[i] < c->fn->vars.n && info_of(c, vars[i])->kind == FLAT_CTX)
            bind(c, vars[i]);
    for (uint32_t i = 0; i < n; i++)
        if (vars[i] >= c->fn->vars.n || info_of(c, vars[i])->kind != FLAT_CTX)
            bind(c, vars[i]);
}

static void leave_scope(FlatChecker *c, uint32_t height)
{
    while (c->scope.n > height)
        c->in_scope[c->scope.at[--c->scope.n]] = false;
}

static bool use(FlatChecker *c, FlatVar v)
{
    if (v >= c->fn->vars.n)
        flat_check_fail(c, "a variable's number is out of range");
    else if (!c->in_scope[v])
        flat_check_fail(c, "%%%u is used out of scope", v);
    return c->ok;
}

static bool use_ctx(FlatChecker *c, FlatVar v)
{
    return use(c, v) && expect(c, info_of(c, v)->kind == FLAT_CTX, "a context is expected");
}

static bool use_nested(FlatChecker *c, FlatVar v)
{
    return use_ctx(c, v) && expect(c, info_of(c, v)->ctx_kind == CTX_NESTED, "a nested context is expected");
}

/* Is v a variable of context ctx: a column of it, or a host variable if ctx is FLAT_ROOT? */
static bool belongs(FlatChecker *c, FlatVar v, FlatVar ctx, const char *what)
{
    if (!expect(c, v < c->fn->vars.n, "a variable's number is out of range"))
        return false;
    const FlatVarInfo *info = info_of(c, v);
    bool right = ctx == FLAT_ROOT ? info->kind == FLAT_HOST : info->kind == FLAT_COL && info->ctx == ctx;
    if (!right)
        flat_check_fail(c, "%s, %%%u, does not belong to the right context", what, v);
    return right;
}

static void want_type(FlatChecker *c, CoreType found, CoreType expected, const char *what)
{
    if (!core_type_equal(found, expected))
        flat_check_fail(c, "%s is %s of rank %u instead of %s of rank %u", what, scalar_name(found.scalar), found.rank,
                        scalar_name(expected.scalar), expected.rank);
}

/* A variable read, of context ctx and type t. */
static void want(FlatChecker *c, FlatVar v, FlatVar ctx, CoreType t, const char *what)
{
    if (use(c, v) && belongs(c, v, ctx, what))
        want_type(c, info_of(c, v)->type, t, what);
}

/* A variable bound, likewise. */
static void want_out(FlatChecker *c, FlatVar v, FlatVar ctx, CoreType t, const char *what)
{
    if (belongs(c, v, ctx, what))
        want_type(c, info_of(c, v)->type, t, what);
}

static CoreType use_array(FlatChecker *c, FlatVar v, FlatVar ctx, const char *what)
{
    if (!use(c, v) || !belongs(c, v, ctx, what))
        return core_seq(type_bool);
    CoreType t = info_of(c, v)->type;
    return expect(c, t.rank > 0, "an array is expected") ? t : core_seq(type_bool);
}

/* ---- inputs ---- */

static void check_input(FlatChecker *c, FlatVar ctx, const FlatInput *in)
{
    CoreType t = type_i64;
    if (in->kind == IN_HOST) {
        want(c, in->var, FLAT_ROOT, use(c, in->var) ? info_of(c, in->var)->type : t, "a host input");
    } else if (in->kind == IN_COL) {
        if (use(c, in->var) && expect(c, info_of(c, in->var)->kind == FLAT_COL, "a column is expected"))
            expect(c, flat_ctx_is_below(c->fn, ctx, info_of(c, in->var)->ctx), "a column of no ancestor");
    } else if (use_nested(c, in->ctx)) {
        expect(c, flat_ctx_is_below(c->fn, ctx, in->ctx), "elements of no ancestor");
        if (in->kind == IN_ELEM && c->ok)
            t = core_element(use_array(c, in->var, info_of(c, in->ctx)->ctx, "an array of elements"));
    }
    if (!c->ok)
        return;
    if (in->kind == IN_HOST || in->kind == IN_COL)
        t = info_of(c, in->var)->type;
    flat_check_core_bind(c, in->as, t);
}

static void check_inputs(FlatChecker *c, FlatVar ctx, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n && c->ok; i++)
        check_input(c, ctx, &inputs->at[i]);
}

/* Checks the body; its n results' types must be `types`. */
static void check_body(FlatChecker *c, const FlatBody *body, const CoreType *types, uint32_t n)
{
    if (body->ctx != FLAT_ROOT && !use_ctx(c, body->ctx))
        return;
    flat_check_core_begin(c);
    check_inputs(c, body->ctx, &body->inputs);
    flat_check_core_block(c, body->block, types, n);
}

/* The operator of a reduction in context `parent`. */
static void check_op(FlatChecker *c, FlatVar parent, const FlatOp *op, const CoreType *types)
{
    flat_check_core_begin(c);
    check_inputs(c, parent, &op->inputs);
    if (!expect(c, op->op.nparams == 2 * op->k, "an operator has the wrong number of parameters"))
        return;
    for (uint32_t i = 0; i < 2 * op->k && c->ok; i++)
        flat_check_core_bind(c, op->op.params[i], types[i % op->k]);
    flat_check_core_block(c, op->op.body, types, op->k);
    flat_check_core_begin(c);
    for (uint32_t i = 0; i < op->neutral_inputs.n; i++)
        expect(c, op->neutral_inputs.at[i].kind == IN_HOST || op->neutral_inputs.at[i].kind == IN_COL,
               "a neutral element's input is no variable");
    check_inputs(c, parent, &op->neutral_inputs);
    for (uint32_t i = 0; op->neutral && i < op->k && c->ok; i++)
        want_type(c, flat_check_core_atom(c, op->neutral[i]), types[i], "a neutral element");
}

/* ---- statements over bodies ---- */

static CoreType *types_of(FlatChecker *c, const FlatVar *vars, uint32_t n)
{
    CoreType *types = arena_array(c->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (expect(c, vars[i] < c->fn->vars.n, "a variable's number is out of range"))
            types[i] = info_of(c, vars[i])->type;
    return types;
}

static void outs_belong(FlatChecker *c, const FlatStmt *s, FlatVar ctx)
{
    for (uint32_t i = 0; i < s->nouts && c->ok; i++)
        belongs(c, s->outs[i], ctx, "what it binds");
}

/* Arrays that a kernel may write over, and bounds of what stays as it is. */
static void check_over(FlatChecker *c, const FlatStmt *s)
{
    const FlatOver *over = s->kernel.over;
    if (over->rows != FLAT_NO_VAR && use_nested(c, s->body.ctx))
        use_array(c, over->rows, info_of(c, s->body.ctx)->ctx, "what holds the rows it may write over");
    if (over->rows == FLAT_NO_VAR || over->array != FLAT_NO_VAR)
        use_array(c, over->array, FLAT_ROOT, "what it may write over");
    const FlatVar bounds[] = {over->stays.bound, over->in_rows.bound};
    for (uint32_t i = 0; i < 2 && c->ok; i++)
        if (bounds[i] != FLAT_NO_VAR)
            want(c, bounds[i], FLAT_ROOT, type_i64, "a bound of what stays as it is");
}

static void check_map(FlatChecker *c, const FlatStmt *s)
{
    FlatVar ctx = s->kind == FLAT_S_HOST ? FLAT_ROOT : s->body.ctx;
    expect(c, s->body.ctx == ctx, "a host body has a context");
    expect(c, s->kind == FLAT_S_HOST || ctx != FLAT_ROOT, "a kernel at depth 0");
    CoreType *types = types_of(c, s->outs, s->nouts);
    outs_belong(c, s, ctx);
    check_body(c, &s->body, types, s->nouts);
    if (c->ok && s->kind == FLAT_S_KERNEL && s->kernel.over)
        check_over(c, s);
}

static void check_array(FlatChecker *c, const FlatStmt *s)
{
    if (!expect(c, s->nouts == 1 && s->body.block, "an array literal binds one variable"))
        return;
    outs_belong(c, s, s->body.ctx);
    CoreType t = *types_of(c, s->outs, 1);
    if (!expect(c, t.rank > 0, "an array literal is no array"))
        return;
    uint32_t n = s->body.block->nresults;
    CoreType *types = arena_array(c->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        types[i] = core_element(t);
    check_body(c, &s->body, types, n);
}

/* The single context that the statement binds. */
static const FlatVarInfo *out_ctx(FlatChecker *c, FlatVar v, FlatCtxKind kind)
{
    if (!expect(c, v < c->fn->vars.n && info_of(c, v)->kind == FLAT_CTX, "what it binds is no context") ||
        !expect(c, info_of(c, v)->ctx_kind == kind, "what it binds is a context of another kind"))
        return NULL;
    return info_of(c, v);
}

/* A number that the host knows may be that of all instances. */
static bool is_of_host(const FlatChecker *c, FlatVar v)
{
    return v < c->fn->vars.n && info_of(c, v)->kind == FLAT_HOST && info_of(c, v)->type.rank == 0;
}

static void check_nested(FlatChecker *c, const FlatStmt *s)
{
    if (!expect(c, s->nouts == 1, "it binds one context"))
        return;
    const FlatVarInfo *info = out_ctx(c, s->outs[0], CTX_NESTED);
    if (!info || !use(c, s->nested.source))
        return;
    CoreType t = info_of(c, s->nested.source)->type;
    if (!is_of_host(c, s->nested.source) && !belongs(c, s->nested.source, info->ctx, "the source of lengths"))
        return;
    expect(c, t.rank > 0 || core_type_equal(t, type_i64), "the source is neither an array nor a length");
}

/* A column of one of the contexts. */
static void check_packed(FlatChecker *c, const FlatStmt *s, FlatVar v)
{
    if (!expect(c, v < c->fn->vars.n && info_of(c, v)->kind == FLAT_COL, "what it packs is no column"))
        return;
    bool found = false;
    for (uint32_t i = 0; i < s->pack.nways; i++)
        found = found || info_of(c, v)->ctx == s->outs[i];
    expect(c, found, "a packed column belongs to none of its contexts");
}

static void check_pack(FlatChecker *c, const FlatStmt *s)
{
    uint32_t ways = s->pack.nways;
    if (!expect(c, ways >= 1 && ways <= FLAT_MAX_WAYS && ways <= s->nouts, "it binds no context, or too many") ||
        !use_nested(c, s->body.ctx))
        return;
    CoreType *types = arena_array(c->arena, CoreType, s->nouts);
    for (uint32_t i = 0; i < s->nouts && c->ok; i++) {
        const FlatVarInfo *info = i < ways ? out_ctx(c, s->outs[i], CTX_SELECTED) : NULL;
        if (info)
            expect(c, info->ctx == s->body.ctx, "the new context is not selected from the body's");
        else
            check_packed(c, s, s->outs[i]);
        if (c->ok)
            types[i] = i < ways ? type_bool : info_of(c, s->outs[i])->type;
    }
    if (c->ok)
        check_body(c, &s->body, types, s->nouts);
}

/* What the host asks of a context. */
static void check_asked(FlatChecker *c, const FlatStmt *s, CoreType type)
{
    if (expect(c, s->nouts == 1, "it binds one variable") && use_ctx(c, s->ctx))
        want_out(c, s->outs[0], FLAT_ROOT, type, "what it binds");
}

static void check_param(FlatChecker *c, const FlatStmt *s)
{
    if (expect(c, s->nouts == 1, "it binds one variable"))
        want_out(c, s->outs[0], FLAT_ROOT, core_scalar(SC_I64), "what it binds");
}

static void check_few(FlatChecker *c, const FlatStmt *s)
{
    if (!expect(c, s->nouts == 1, "it binds one variable"))
        return;
    want(c, s->few.work, FLAT_ROOT, core_scalar(SC_I64), "a round's work");
    want(c, s->few.wide, FLAT_ROOT, core_scalar(SC_I64), "what of it goes by vectors");
    want_out(c, s->outs[0], FLAT_ROOT, type_bool, "what it binds");
}

static void check_nothing(FlatChecker *c, const FlatStmt *s)
{
    if (expect(c, s->nouts == 1, "it binds one variable") && (s->ctx == FLAT_ROOT || use_ctx(c, s->ctx)))
        want_out(c, s->outs[0], s->ctx, c->fn->vars.at[s->outs[0]].type, "what it binds");
}

static void check_split(FlatChecker *c, const FlatStmt *s)
{
    if (!expect(c, s->nouts == 2, "it binds two contexts") || !use_ctx(c, s->ctx))
        return;
    want(c, s->split.cond, s->ctx, type_bool, "the condition");
    for (uint32_t i = 0; i < 2 && c->ok; i++) {
        const FlatVarInfo *info = out_ctx(c, s->outs[i], CTX_SELECTED);
        if (info)
            expect(c, info->ctx == s->ctx, "the new context is not selected from the old one");
    }
}

/* ---- statements on columns ---- */

static void check_elems(FlatChecker *c, const FlatStmt *s)
{
    if (!use_nested(c, s->ctx) || !expect(c, s->nouts == s->arrays.n, "as many arrays as columns are expected"))
        return;
    for (uint32_t i = 0; i < s->nouts && c->ok; i++) {
        CoreType t = use_array(c, s->arrays.arrays[i], info_of(c, s->ctx)->ctx, "an array");
        want_out(c, s->outs[i], s->ctx, core_element(t), "a column of elements");
    }
}

static bool selected_from(const FlatChecker *c, FlatVar part, FlatVar ctx)
{
    while (part != ctx && info_of(c, part)->ctx_kind == CTX_SELECTED)
        part = info_of(c, part)->ctx;
    return part == ctx;
}

static void check_select(FlatChecker *c, const FlatStmt *s)
{
    if (!use_ctx(c, s->ctx) || !expect(c, s->nouts == s->arrays.n, "as many columns selected as given are expected"))
        return;
    for (uint32_t i = 0; i < s->nouts && c->ok; i++) {
        FlatVar col = s->arrays.arrays[i];
        if (!use(c, col) ||
            !expect(c, selected_from(c, s->ctx, info_of(c, col)->ctx), "only selections may lie between the contexts"))
            return;
        want_out(c, s->outs[i], s->ctx, info_of(c, col)->type, "a column");
    }
}

static void check_views(FlatChecker *c, const FlatStmt *s)
{
    if (!use_ctx(c, s->ctx) || !expect(c, s->nouts == s->arrays.n, "as many arrays as columns are expected"))
        return;
    FlatVar nested = s->ctx;
    if (info_of(c, nested)->ctx_kind == CTX_SELECTED)
        nested = info_of(c, nested)->ctx;
    if (!use_nested(c, nested))
        return;
    for (uint32_t i = 0; i < s->nouts && c->ok; i++) {
        CoreType t = *types_of(c, s->arrays.arrays + i, 1);
        want(c, s->arrays.arrays[i], s->ctx, t, "a column");
        want_out(c, s->outs[i], info_of(c, nested)->ctx, core_seq(t), "an array");
    }
}

static void check_merge(FlatChecker *c, const FlatStmt *s)
{
    if (!use_ctx(c, s->ctx))
        return;
    CoreType *types = types_of(c, s->outs, s->nouts);
    outs_belong(c, s, s->ctx);
    for (uint32_t i = 0; i < s->merge.nparts && c->ok; i++) {
        const FlatPart *part = &s->merge.parts[i];
        if (!use_ctx(c, part->ctx) ||
            !expect(c, selected_from(c, part->ctx, s->ctx), "a part is not selected from the whole"))
            return;
        for (uint32_t k = 0; k < s->nouts && c->ok; k++)
            want(c, part->cols[k], part->ctx, types[k], "a part's column");
    }
}

/* ---- segmented operations ---- */

/* The types of `outs` of a segmented operation, or of their elements. */
static CoreType *element_types(FlatChecker *c, const FlatStmt *s)
{
    CoreType *types = types_of(c, s->outs, s->nouts);
    const uint32_t n = s->kind == FLAT_S_REDUCE ? s->reduce.op.k : s->nouts;
    for (uint32_t i = 0; i < n && c->ok; i++)
        if (expect(c, types[i].rank > 0, "what it binds is no array"))
            types[i] = core_element(types[i]);
    return types;
}

static void check_destinations(FlatChecker *c, const FlatStmt *s, FlatVar parent, const CoreType *elements)
{
    if (!expect(c, s->reduce.ndests == s->nouts, "as many destinations as results are expected"))
        return;
    for (uint32_t i = 0; i < s->nouts && c->ok; i++)
        want(c, s->reduce.dests[i], parent, core_seq(elements[i]), "a destination");
}

/* The context that a scan's prefixes are columns of. */
static FlatVar check_scanned(FlatChecker *c, const FlatStmt *s)
{
    if (!expect(c, s->nouts > 0 && s->outs[0] < c->fn->vars.n, "a scan binds columns"))
        return s->body.ctx;
    FlatVar of = info_of(c, s->outs[0])->ctx, parent = info_of(c, s->body.ctx)->ctx;
    if (of == s->body.ctx || !use_nested(c, of) || !use_nested(c, info_of(c, of)->ctx))
        return of;
    expect(c,
           parent != FLAT_ROOT && info_of(c, parent)->ctx == FLAT_ROOT &&
               info_of(c, info_of(c, of)->ctx)->ctx == FLAT_ROOT,
           "a scan turns what is no rectangle");
    return of;
}

/* A scan that stores what code makes of its prefixes. */
static void check_scan_maps(FlatChecker *c, const FlatStmt *s)
{
    const FlatOp *op = &s->reduce.op;
    const FlatBody *then = &s->reduce.then;
    CoreType *types = arena_array(c->arena, CoreType, op->k + 1);
    if (!expect(c, then->ctx == s->body.ctx && !flat_scan_turns(c->fn, s), "code behind a scan is of another context"))
        return;
    for (uint32_t i = 0; i < op->k; i++)
        if (expect(c, s->reduce.prefixes[i] < c->fn->scope->vars.n, "a prefix's number is out of range"))
            types[i] = core_var_type(c->fn->scope, s->reduce.prefixes[i]);
    check_body(c, &s->body, types, op->k);
    if (c->ok)
        check_op(c, info_of(c, s->body.ctx)->ctx, op, types);
    flat_check_core_begin(c);
    for (uint32_t i = 0; i < op->k && c->ok; i++)
        flat_check_core_bind(c, s->reduce.prefixes[i], types[i]);
    check_inputs(c, then->ctx, &then->inputs);
    flat_check_core_block(c, then->block, types_of(c, s->outs, s->nouts), s->nouts);
}

/* Values of segments, then columns of their elements. */
static void check_reduced(FlatChecker *c, const FlatStmt *s, FlatVar parent)
{
    expect(c, s->reduce.op.k <= s->nouts, "as many results as the operator has are expected");
    for (uint32_t i = 0; i < s->nouts && c->ok; i++)
        belongs(c, s->outs[i], i < s->reduce.op.k ? parent : s->body.ctx, "what it binds");
}

static void check_segmented(FlatChecker *c, const FlatStmt *s)
{
    if (!use_nested(c, s->body.ctx))
        return;
    FlatVar parent = info_of(c, s->body.ctx)->ctx;
    const FlatOp *op = &s->reduce.op;
    if (s->kind == FLAT_S_REDUCE)
        check_reduced(c, s, parent);
    else
        outs_belong(c, s, s->kind == FLAT_S_SCAN ? check_scanned(c, s) : parent);
    if (s->kind == FLAT_S_SCAN && flat_scan_maps(s)) {
        check_scan_maps(c, s);
        return;
    }
    if (!expect(c, op->k + flat_kept(s) == s->nouts || (op->k == 0 && s->kind == FLAT_S_SCATTER),
                "as many results as the operator has are expected"))
        return;
    uint32_t places = flat_kind_places(s->kind);
    expect(c, !flat_reduce_stays(s) || parent == FLAT_ROOT, "only a reduction at depth 0 stays on the device");
    CoreType *types = places || flat_reduce_stays(s) ? element_types(c, s) : types_of(c, s->outs, s->nouts);
    CoreType *body = arena_array(c->arena, CoreType, s->nouts + 1);
    body[0] = type_i64;
    for (uint32_t i = 0; i < s->nouts; i++)
        body[i + places] = types[i];
    if (s->kind == FLAT_S_HIST)
        want(c, s->reduce.size, is_of_host(c, s->reduce.size) ? FLAT_ROOT : parent, type_i64, "the size");
    if (s->kind == FLAT_S_SCATTER)
        check_destinations(c, s, parent, types);
    if (c->ok)
        check_body(c, &s->body, body, s->nouts + places);
    if (c->ok && op->k)
        check_op(c, parent, op, types);
}

/* ---- operations on whole arrays ---- */

static bool use_ctx_or_root(FlatChecker *c, FlatVar ctx) { return ctx == FLAT_ROOT || use_ctx(c, ctx); }

static void check_argsort(FlatChecker *c, const FlatStmt *s)
{
    if (!use_ctx_or_root(c, s->ctx) ||
        !expect(c, s->arrays.nkeys > 0 && s->arrays.nkeys <= s->arrays.n, "it sorts by one key or more"))
        return;
    const uint32_t ncolumns = s->arrays.n - s->arrays.nkeys, positions = s->nouts - ncolumns;
    if (!expect(c, positions <= 1 && s->nouts > 0, "it binds an array for each column, and perhaps the permutation"))
        return;
    if (positions)
        want_out(c, s->outs[0], s->ctx, core_seq(type_i64), "the permutation");
    for (uint32_t i = 0; i < s->arrays.nends; i++)
        want(c, s->arrays.ends[i], FLAT_ROOT, type_i64, "how many of an end are read");
    for (uint32_t i = 0; i < s->arrays.n && c->ok; i++) {
        CoreType t = use_array(c, s->arrays.arrays[i], s->ctx, "a key or column");
        if (expect(c, t.rank == 1, "a key or column is no sequence of scalars") && i >= s->arrays.nkeys)
            want_out(c, s->outs[positions + i - s->arrays.nkeys], s->ctx, t, "a sorted column");
    }
}

static void check_flatten(FlatChecker *c, const FlatStmt *s)
{
    if (!use_ctx_or_root(c, s->ctx) || !expect(c, s->nouts == 1 && s->arrays.n == 1, "it binds one array from one"))
        return;
    CoreType t = use_array(c, s->arrays.arrays[0], s->ctx, "the array");
    if (expect(c, t.rank > 1, "the array's rank is below 2"))
        want_out(c, s->outs[0], s->ctx, core_element(t), "the result");
}

static void check_update(FlatChecker *c, const FlatStmt *s)
{
    if (!use_ctx_or_root(c, s->ctx) || !expect(c, s->nouts == 1, "it binds one array"))
        return;
    CoreType t = use_array(c, s->update.array, s->ctx, "the array");
    want(c, s->update.index, s->ctx, type_i64, "the index");
    want(c, s->update.value, s->ctx, core_element(t), "the value");
    if (c->ok)
        want_out(c, s->outs[0], s->ctx, t, "the result");
}

/* ---- control ---- */

static void check_block(FlatChecker *c, const FlatBlock *b);

/* `from` becomes `to`, at position i of two lists of n: same kind and type; contexts equal, or at the same place of the
 * lists. */
static void check_move(FlatChecker *c, const FlatVar *from, const FlatVar *to, uint32_t n, uint32_t i)
{
    if (!use(c, from[i]) || !expect(c, to[i] < c->fn->vars.n, "a variable's number is out of range"))
        return;
    const FlatVarInfo *a = info_of(c, from[i]), *b = info_of(c, to[i]);
    if (!expect(c, a->kind == b->kind, "a result is of the wrong kind"))
        return;
    if (a->kind != FLAT_CTX)
        want_type(c, a->type, b->type, "a result");
    else
        expect(c, a->ctx_kind == b->ctx_kind, "a context of the wrong kind");
    bool same = a->kind == FLAT_HOST || a->ctx == b->ctx;
    for (uint32_t k = 0; k < n && !same; k++)
        same = from[k] == a->ctx && to[k] == b->ctx;
    if (!same)
        flat_check_fail(c, "%%%u does not belong to the context of %%%u", from[i], to[i]);
}

static void check_moves(FlatChecker *c, const FlatVar *from, uint32_t nfrom, const FlatVar *to, uint32_t n)
{
    if (!expect(c, nfrom == n, "the number of results is wrong"))
        return;
    for (uint32_t i = 0; i < n && c->ok; i++)
        check_move(c, from, to, n, i);
}

/* A block whose results become `to`. Leaves its scope. */
static void check_inner(FlatChecker *c, const FlatBlock *b, const FlatVar *to, uint32_t n)
{
    if (!expect(c, b != NULL, "a block is missing"))
        return;
    const FlatStmt *outer = c->stmt;
    uint32_t height = c->scope.n;
    check_block(c, b);
    if (c->ok)
        c->stmt = outer;
    check_moves(c, b->results, b->nresults, to, n);
    leave_scope(c, height);
}

static void check_cond(FlatChecker *c, const FlatBlock *b, FlatVar ctx)
{
    if (!expect(c, b && b->nresults == 1, "a condition has one result"))
        return;
    const FlatStmt *outer = c->stmt;
    uint32_t height = c->scope.n;
    check_block(c, b);
    if (c->ok)
        c->stmt = outer;
    want(c, b->results[0], ctx, type_bool, "the condition");
    leave_scope(c, height);
}

static void check_if(FlatChecker *c, const FlatStmt *s)
{
    want(c, s->if_.cond, FLAT_ROOT, type_bool, "the condition");
    check_inner(c, s->if_.then_b, s->outs, s->nouts);
    check_inner(c, s->if_.else_b, s->outs, s->nouts);
}

static void check_loop(FlatChecker *c, const FlatStmt *s)
{
    uint32_t n = s->loop.nparams, height = c->scope.n;
    bool is_for = s->loop.index != FLAT_NO_VAR;
    if (is_for)
        want(c, s->loop.count, FLAT_ROOT, type_i64, "the count");
    check_moves(c, s->loop.inits, n, s->loop.params, n);
    bind_all(c, s->loop.params, n);
    if (is_for) {
        want_out(c, s->loop.index, FLAT_ROOT, type_i64, "the index");
        bind(c, s->loop.index);
    } else if (c->ok) {
        check_cond(c, s->loop.cond, FLAT_ROOT);
    }
    if (c->ok)
        check_inner(c, s->loop.body, s->loop.params, n);
    check_moves(c, s->loop.params, n, s->outs, s->nouts);
    leave_scope(c, height);
}

static void check_loop_lifted(FlatChecker *c, const FlatStmt *s)
{
    uint32_t n = s->loop_lifted.nparams, height = c->scope.n;
    FlatVar active = s->loop_lifted.active;
    if (!use_ctx(c, s->ctx) || !expect(c, s->nouts == n, "as many results as parameters are expected"))
        return;
    const FlatVarInfo *info = out_ctx(c, active, CTX_SELECTED);
    if (!info || !expect(c, info->ctx == s->ctx, "the active context is not selected from the loop's"))
        return;
    CoreType *types = types_of(c, s->loop_lifted.params, n);
    for (uint32_t i = 0; i < n && c->ok; i++) {
        want(c, s->loop_lifted.inits[i], s->ctx, types[i], "an initial value");
        want_out(c, s->loop_lifted.params[i], active, types[i], "a parameter");
        want_out(c, s->outs[i], s->ctx, types[i], "a result");
    }
    bind(c, active);
    bind_all(c, s->loop_lifted.params, n);
    if (c->ok)
        check_cond(c, s->loop_lifted.cond, active);
    if (c->ok)
        check_inner(c, s->loop_lifted.body, s->loop_lifted.params, n);
    leave_scope(c, height);
}

/* ---- calls ---- */

static bool check_callee(FlatChecker *c, const FlatFn *fn, bool lifted, uint32_t nargs, uint32_t nresults)
{
    return expect(c, fn && fn->index < c->program->fns.n && c->program->fns.at[fn->index] == fn,
                  "the function is not of the program") &&
           expect(c, fn->lifted == lifted, "the function is not of the right version") &&
           expect(c, fn->nparams == nargs && fn->body->nresults == nresults, "the function has another arity");
}

static void check_call(FlatChecker *c, const FlatStmt *s)
{
    const FlatFn *fn = s->call.fn;
    if (!check_callee(c, fn, false, s->call.nargs, s->nouts))
        return;
    for (uint32_t i = 0; i < s->call.nargs && c->ok; i++)
        want(c, s->call.args[i], FLAT_ROOT, fn->vars.at[fn->params[i]].type, "an argument");
    for (uint32_t i = 0; i < s->nouts && c->ok; i++)
        want_out(c, s->outs[i], FLAT_ROOT, fn->vars.at[fn->body->results[i]].type, "a result");
}

static void check_call_lifted(FlatChecker *c, const FlatStmt *s)
{
    const FlatFn *fn = s->call_lifted.fn;
    if (!check_callee(c, fn, true, s->call_lifted.nargs, s->call_lifted.nresults))
        return;
    expect(c, s->nouts == 0, "outs belong to the sites");
    for (uint32_t k = 0; k < s->call_lifted.nsites && c->ok; k++) {
        const FlatSite *site = &s->call_lifted.sites[k];
        if (!use_ctx(c, site->ctx))
            return;
        for (uint32_t i = 0; i < s->call_lifted.nargs && c->ok; i++)
            want(c, site->args[i], site->ctx, fn->vars.at[fn->params[i]].type, "an argument");
        for (uint32_t i = 0; i < s->call_lifted.nresults && c->ok; i++)
            want_out(c, site->outs[i], site->ctx, fn->vars.at[fn->body->results[i]].type, "a result");
    }
}

static void check_stmt(FlatChecker *c, const FlatStmt *s)
{
    switch (s->kind) {
    case FLAT_S_HOST:
    case FLAT_S_KERNEL: check_map(c, s); break;
    case FLAT_S_ARRAY: check_array(c, s); break;
    case FLAT_S_NESTED: check_nested(c, s); break;
    case FLAT_S_PACK: check_pack(c, s); break;
    case FLAT_S_MANY:
        check_asked(c, s, type_bool);
        if (s->many.length != FLAT_NO_VAR) {
            want(c, s->many.cells, FLAT_ROOT, core_scalar(SC_I64), "the number of cells");
            want(c, s->many.length, FLAT_ROOT, core_scalar(SC_I64), "the length of a cell");
        }
        break;
    case FLAT_S_PARAM: check_param(c, s); break;
    case FLAT_S_FEW: check_few(c, s); break;
    case FLAT_S_MEMORY: check_asked(c, s, (CoreType){SC_U64, 1}); break;
    case FLAT_S_FITTED:
        check_asked(c, s, type_bool);
        for (uint32_t i = 0; i < s->arrays.n && c->ok; i++)
            want(c, s->arrays.arrays[i], s->ctx, c->fn->vars.at[s->arrays.arrays[i]].type, "what a lane gave");
        break;
    case FLAT_S_NOTHING: check_nothing(c, s); break;
    case FLAT_S_SPLIT: check_split(c, s); break;
    case FLAT_S_ELEMS: check_elems(c, s); break;
    case FLAT_S_SELECT: check_select(c, s); break;
    case FLAT_S_VIEWS: check_views(c, s); break;
    case FLAT_S_MERGE: check_merge(c, s); break;
    case FLAT_S_REDUCE:
    case FLAT_S_SCAN:
    case FLAT_S_SCATTER:
    case FLAT_S_HIST: check_segmented(c, s); break;
    case FLAT_S_ARGSORT: check_argsort(c, s); break;
    case FLAT_S_FLATTEN: check_flatten(c, s); break;
    case FLAT_S_UPDATE: check_update(c, s); break;
    case FLAT_S_IF: check_if(c, s); break;
    case FLAT_S_LOOP: check_loop(c, s); break;
    case FLAT_S_LOOP_LIFTED: check_loop_lifted(c, s); break;
    case FLAT_S_CALL: check_call(c, s); break;
    case FLAT_S_CALL_LIFTED: check_call_lifted(c, s); break;
    }
    if (!c->ok)
        return;
    if (s->kind == FLAT_S_CALL_LIFTED)
        for (uint32_t k = 0; k < s->call_lifted.nsites; k++)
            bind_all(c, s->call_lifted.sites[k].outs, s->call_lifted.nresults);
    else
        bind_all(c, s->outs, s->nouts);
}

static void check_block(FlatChecker *c, const FlatBlock *b)
{
    for (uint32_t i = 0; i < b->stmts.n && c->ok; i++) {
        c->stmt = b->stmts.at[i];
        check_stmt(c, b->stmts.at[i]);
    }
    for (uint32_t i = 0; i < b->nresults && c->ok; i++)
        use(c, b->results[i]);
}

/* ---- functions ---- */

static void check_params(FlatChecker *c)
{
    const FlatFn *fn = c->fn;
    if (fn->lifted) {
        if (!out_ctx(c, fn->ctx, CTX_FN))
            return;
        bind(c, fn->ctx);
    }
    FlatVar ctx = fn->lifted ? fn->ctx : FLAT_ROOT;
    for (uint32_t i = 0; i < fn->nparams && c->ok; i++) {
        belongs(c, fn->params[i], ctx, "a parameter");
        bind(c, fn->params[i]);
    }
}

static bool check_fn(FlatChecker *c)
{
    const FlatFn *fn = c->fn;
    c->bound = arena_array(c->arena, bool, fn->vars.n + 1);
    c->in_scope = arena_array(c->arena, bool, fn->vars.n + 1);
    c->core_scope = arena_array(c->arena, uint32_t, fn->scope->vars.n + 1);
    c->core_round = 0;
    c->scope.n = 0;
    check_params(c);
    if (c->ok)
        check_block(c, fn->body);
    if (c->ok)
        c->stmt = NULL;
    for (uint32_t i = 0; i < fn->body->nresults && c->ok; i++)
        belongs(c, fn->body->results[i], fn->lifted ? fn->ctx : FLAT_ROOT, "a result");
    return c->ok;
}

bool flat_check(const FlatProgram *p, StrBuf *why)
{
    FlatChecker c = {.program = p, .why = why, .ok = true, .arena = arena_create()};
    for (uint32_t i = 0; i < p->fns.n && c.ok; i++) {
        c.fn = p->fns.at[i];
        if (expect(&c, c.fn->index == i, "a function's index is not its place"))
            check_fn(&c);
    }
    for (uint32_t i = 0; i < p->entries.n && c.ok; i++) {
        c.fn = p->entries.at[i].fn;
        expect(&c, !c.fn->lifted, "an entry is lifted");
    }
    arena_destroy(c.arena);
    return c.ok;
}
