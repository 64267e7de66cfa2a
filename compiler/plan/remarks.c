/* --remarks: for each line of the program, its kernels, with what is computed in them, over how many elements, and what
 * they store and why; the rounds of its loops; and where the host waits. Taken from flat and the plan as they are. */
#include "params.h"
#include "plan/emit_text.h"
#include "plan/plan.h"
#include "plan/sizes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum RemarkKind { REMARK_KERNEL, REMARK_NEST, REMARK_LOOP, REMARK_WAIT } RemarkKind;

typedef struct Remark {
    RemarkKind kind;
    uint32_t number; /* in the order of the plan */
    PlanPlace place;
    const PlanKernel *kernel;      /* KERNEL, NEST: the first by lanes, whose elements are the instances */
    bool segmented;                /* KERNEL: a reduction or scan of segments, which has several ways */
    VEC(const char *) versions[2]; /* NEST: kernels of the versions, by lanes and flat */
    unsigned from;                 /* NEST: as many instances make it lanes */
    bool shares;                   /* … where reductions that share what they read are short */
    const char *elements;
    bool regular;
    PlanContents contents;           /* KERNEL */
    const char *types, *bytes;       /* stored; NULL: nothing */
    VEC(const char *) reasons;       /* why it is stored */
    uint32_t launches, waits, loops; /* LOOP: in a round; WAIT: waits, how many */
} Remark;

typedef struct Remarks {
    Plan *plan;
    Sizes sizes; /* of the function at hand */
    Remark *at;  /* the one being made */
    VEC(Remark *) all;
} Remarks;

static Arena *arena_of(const Remarks *r) { return r->plan->arena; }

static Remark *add_remark(Remarks *r, RemarkKind kind, PlanPlace place)
{
    Remark *remark = arena_new(arena_of(r), Remark);
    remark->kind = kind;
    remark->number = r->all.n;
    remark->place = place;
    vec_push(arena_of(r), &r->all, remark);
    return remark;
}

/* ---- what it stores ---- */

static void add_type(StrBuf *out, CoreType t)
{
    strbuf_add(out, out->n ? ", " : "");
    for (uint32_t i = 0; i < t.rank; i++)
        strbuf_add(out, "[");
    strbuf_add(out, scalar_name(t.scalar));
    for (uint32_t i = 0; i < t.rank; i++)
        strbuf_add(out, "]");
}

/* How many elements each of its outputs has. */
static const char *stored_count(const Remarks *r, const PlanKernel *k)
{
    const Sizes *z = &r->sizes;
    FlatVar ctx = k->stmt->body.ctx, size = k->stmt->reduce.size;
    switch (k->kind) {
    case PLAN_MAP:
    case PLAN_SCAN: return sizes_context(z, ctx);
    case PLAN_ARRAY: return arena_printf(arena_of(r), "%u * %s", k->nvalues, sizes_context(z, ctx));
    case PLAN_PACK: return arena_printf(arena_of(r), "at most %s", sizes_context(z, ctx));
    case PLAN_REDUCE: return sizes_context(z, plan_up(k->fn, ctx));
    case PLAN_HIST:
        return sizes_product(z, sizes_context(z, plan_up(k->fn, ctx)),
                             k->fn->vars.at[size].kind == FLAT_HOST ? sizes_scalar(z, size) : "size");
    case PLAN_SCATTER: break;
    }
    return NULL;
}

/* Columns that a reduction stores of its elements. */
static void add_kept(Remarks *r, const PlanKernel *k)
{
    StrBuf types = {0};
    uint32_t each = 0;
    for (uint32_t i = 0; i < flat_kept(k->stmt); i++) {
        const CoreType t = k->fn->vars.at[plan_kept(k, i)].type;
        each += emit_bytes(t);
        add_type(&types, t);
    }
    const char *bytes =
        sizes_product(&r->sizes, arena_printf(arena_of(r), "%u", each), sizes_context(&r->sizes, k->stmt->body.ctx));
    const char *before = r->at->types, *before_bytes = r->at->bytes;
    r->at->types = arena_printf(arena_of(r), "%s%s%s", before ? before : "", before ? ", " : "", types.text);
    r->at->bytes = before ? arena_printf(arena_of(r), "%s + %s", before_bytes, bytes) : bytes;
    strbuf_free(&types);
}

static void set_stored(Remarks *r, const PlanKernel *k)
{
    const char *count = stored_count(r, k);
    bool number = k->kind == PLAN_REDUCE && plan_up(k->fn, k->stmt->body.ctx) == FLAT_ROOT; /* for the host */
    uint32_t bytes = 0, n = k->kind == PLAN_ARRAY && k->nvalues > 0 ? 1 : k->nstored;
    StrBuf types = {0};
    for (uint32_t i = k->kind == PLAN_PACK ? k->stmt->pack.nways : 0; i < n; i++) { /* not the conditions */
        bytes += emit_bytes(k->stored[i]);
        add_type(&types, k->stored[i]);
    }
    if (types.n > 0 && count && !number) {
        r->at->types = arena_printf(arena_of(r), "%s", types.text);
        r->at->bytes = sizes_product(&r->sizes, arena_printf(arena_of(r), "%u", bytes), count);
    }
    strbuf_free(&types);
    if (flat_kept(k->stmt) > 0)
        add_kept(r, k);
}

/* ---- why ---- */

typedef struct Reading {
    Remarks *r;
    FlatVar var; /* what is read */
    const FlatStmt *stmt;
    bool reads;
    int depth;
} Reading;

static void note_read(void *ctx, FlatVar v)
{
    Reading *reading = ctx;
    reading->reads |= v == reading->var;
}

static void add_reason(Reading *reading, const char *what)
{
    Remarks *r = reading->r;
    const char *text = what;
    if (!what)
        return;
    if (reading->stmt && plan_has_place(reading->stmt->span)) {
        PlanPlace at = plan_place_of(r->plan, reading->stmt->span);
        bool here = strcmp(at.file, r->at->place.file) == 0;
        text = arena_printf(arena_of(r), "%s in line %u%s%s", what, at.line, here ? "" : " of ", here ? "" : at.file);
    }
    for (uint32_t i = 0; i < r->at->reasons.n; i++)
        if (strcmp(r->at->reasons.at[i], text) == 0)
            return;
    vec_push(arena_of(r), &r->at->reasons, text);
}

/* How the kernel reads the variable by these inputs; NULL: not at all. */
static const char *inputs_reason(const Reading *reading, const FlatInputs *inputs)
{
    const FlatFn *fn = reading->r->sizes.fn;
    for (uint32_t i = 0; i < inputs->n; i++) {
        const FlatInput *in = &inputs->at[i];
        if (in->var != reading->var || in->kind == IN_POS)
            continue;
        if (in->kind != IN_ELEM && fn->vars.at[in->var].type.rank > 0)
            return "read at other places";
        FlatVar ctx = in->kind == IN_ELEM ? in->ctx : in->kind == IN_COL ? flat_ctx(fn, in->var) : FLAT_ROOT;
        return ctx == reading->stmt->body.ctx ? "read" : "read for each of several";
    }
    return NULL;
}

static const char *kernel_reason(const Reading *reading)
{
    const FlatStmt *s = reading->stmt;
    const char *reason = flat_kind_has_body(s->kind) ? inputs_reason(reading, &s->body.inputs) : NULL;
    if (!reason && flat_kind_has_op(s->kind))
        reason = inputs_reason(reading, &s->reduce.op.inputs);
    if (!reason && s->kind == FLAT_S_SCAN && flat_scan_maps(s))
        reason = inputs_reason(reading, &s->reduce.then.inputs);
    return reason ? reason : "read";
}

/* NULL: it reads no elements. */
static const char *reader_reason(const Reading *reading)
{
    switch (reading->stmt->kind) {
    case FLAT_S_HOST: return "read by the host";
    case FLAT_S_NESTED: /* of an array outside of parallel code, only its own length */
        return reading->r->sizes.fn->vars.at[reading->var].kind == FLAT_HOST ? NULL : "lengths of rows";
    case FLAT_S_SPLIT:
    case FLAT_S_IF: return "a condition";
    case FLAT_S_MERGE: return "joined with other branches";
    case FLAT_S_ARGSORT: return "sorted";
    case FLAT_S_FLATTEN: return "flattened";
    case FLAT_S_UPDATE: return "updated";
    case FLAT_S_LOOP:
    case FLAT_S_LOOP_LIFTED: return "the state of a loop";
    case FLAT_S_CALL:
    case FLAT_S_CALL_LIFTED: return "an argument";
    default: return kernel_reason(reading);
    }
}

static void add_reasons(Remarks *r, FlatVar v, int depth);

/* Other names of the same elements. */
static bool is_alias(FlatKind k) { return k == FLAT_S_VIEWS || k == FLAT_S_ELEMS || k == FLAT_S_SELECT; }

static void follow_alias(const Reading *reading)
{
    const FlatStmt *s = reading->stmt;
    for (uint32_t i = 0; i < s->arrays.n; i++)
        if (s->arrays.arrays[i] == reading->var)
            add_reasons(reading->r, s->outs[i], reading->depth + 1);
}

static void add_block_reasons(void *ctx, FlatBlock *b)
{
    Reading *reading = ctx;
    const FlatStmt *around = reading->stmt;
    for (uint32_t i = 0; i < b->stmts.n; i++) {
        reading->stmt = b->stmts.at[i];
        reading->reads = false;
        flat_stmt_reads(reading->stmt, note_read, reading);
        if (reading->reads && is_alias(reading->stmt->kind))
            follow_alias(reading);
        else if (reading->reads)
            add_reason(reading, reader_reason(reading));
        flat_stmt_blocks(b->stmts.at[i], add_block_reasons, reading);
    }
    reading->stmt = around;
    for (uint32_t i = 0; i < b->nresults; i++)
        if (b->results[i] == reading->var)
            add_reason(reading, !around                     ? "the result"
                                : around->kind == FLAT_S_IF ? "the result of a branch"
                                                            : "the state of a loop");
}

enum { MOST_ALIASES = 8 };

static void add_reasons(Remarks *r, FlatVar v, int depth)
{
    Reading reading = {.r = r, .var = v, .depth = depth};
    if (depth < MOST_ALIASES)
        add_block_reasons(&reading, r->sizes.fn->body);
}

/* ---- kernels ---- */

static void add_kernel(Remarks *r, const PlanKernel *k)
{
    const FlatStmt *s = k->stmt;
    if (!r->sizes.def || r->sizes.fn != k->fn)
        r->sizes = sizes_of(arena_of(r), k->fn);
    r->at = add_remark(r, REMARK_KERNEL, k->place);
    r->at->kernel = k;
    r->at->elements = sizes_context(&r->sizes, s->body.ctx);
    r->at->regular = sizes_regular(&r->sizes, s->body.ctx);
    r->at->segmented = (k->kind == PLAN_REDUCE || k->kind == PLAN_SCAN) && plan_up(k->fn, s->body.ctx) != FLAT_ROOT;
    r->at->contents = plan_contents(r->plan, k);
    set_stored(r, k);
    const bool number = k->kind == PLAN_REDUCE && plan_up(k->fn, s->body.ctx) == FLAT_ROOT;
    const uint32_t first = k->kind == PLAN_MAP ? k->first : k->kind == PLAN_PACK ? s->pack.nways : 0;
    const uint32_t end = first + k->nstored + flat_kept(s);
    for (uint32_t i = number ? k->nstored : first; r->at->types && i < end && i < s->nouts; i++)
        add_reasons(r, s->outs[i], 0);
}

/* ---- loops, and where the host waits ---- */

static void count_block(const PlanBlock *b, Remark *m)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        uint32_t effects = plan_ops[in->op].effects;
        m->launches += (effects & PLAN_LAUNCHES) != 0;
        m->waits += (effects & PLAN_READS_BACK) != 0;
        m->loops += in->op == PLAN_OP_LOOP || in->op == PLAN_OP_CALL;
        for (uint32_t k = 0; k < 2 && in->op != PLAN_OP_LOOP; k++)
            if (in->blocks[k])
                count_block(in->blocks[k], m);
    }
}

/* The kernels of a version, in order. */
static void add_version(Remarks *r, Remark *m, const PlanBlock *b, uint32_t version)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if (plan_ops[in->op].effects & PLAN_LAUNCHES) {
            const PlanKernel *k = r->plan->kernels.at[in->args[0].bits];
            if (version == 0 && !m->kernel)
                m->kernel = k;
            vec_push(arena_of(r), &m->versions[version], k->name);
        }
        for (uint32_t k = 0; k < 2; k++)
            if (in->blocks[k])
                add_version(r, m, in->blocks[k], version);
    }
}

static bool asks_fitted(const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++)
        if (b->instrs.at[i]->op == PLAN_OP_LANES_FITTED)
            return true;
    return false;
}

/* The branch on what MANY gives has the versions; but where lanes may lack memory, the next one has the flattened. */
static void add_nest(Remarks *r, const PlanBlock *b, uint32_t at)
{
    const PlanInstr *many = b->instrs.at[at];
    for (uint32_t i = at + 1; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if (in->op != PLAN_OP_IF || in->args[0].kind != OPERAND_REG || in->args[0].reg != many->args[0].reg)
            continue;
        Remark *m = add_remark(r, REMARK_NEST, plan_place_of(r->plan, many->span));
        m->from = plan_many_param(many);
        m->shares = plan_many_shares(many);
        add_version(r, m, in->blocks[0], 0);
        if (asks_fitted(in->blocks[0]))
            while (++i < b->instrs.n && b->instrs.at[i]->op != PLAN_OP_IF)
                ;
        if (i < b->instrs.n)
            add_version(r, m, b->instrs.at[i]->blocks[1], 1);
        if (m->kernel) {
            r->sizes = sizes_of(arena_of(r), m->kernel->fn);
            m->elements = sizes_context(&r->sizes, m->kernel->stmt->body.ctx);
        }
        return;
    }
}

static void add_plan_block(Remarks *r, const PlanBlock *b)
{
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PlanInstr *in = b->instrs.at[i];
        if (in->op == PLAN_OP_MANY && plan_has_place(in->span))
            add_nest(r, b, i);
        bool loop = in->op == PLAN_OP_LOOP, waits = (plan_ops[in->op].effects & PLAN_READS_BACK) != 0;
        Remark *m = !plan_has_place(in->span) || !(loop || waits)
                        ? NULL
                        : add_remark(r, loop ? REMARK_LOOP : REMARK_WAIT, plan_place_of(r->plan, in->span));
        if (m && waits)
            m->waits = 1;
        for (uint32_t k = 0; k < 2; k++) {
            if (m && loop && in->blocks[k])
                count_block(in->blocks[k], m);
            if (in->blocks[k])
                add_plan_block(r, in->blocks[k]);
        }
    }
}

/* ---- order ---- */

static int compare_remarks(const void *a, const void *b)
{
    const Remark *x = *(Remark *const *)a, *y = *(Remark *const *)b;
    int files = strcmp(x->place.file, y->place.file);
    if (files != 0)
        return files;
    if (x->place.line != y->place.line)
        return x->place.line < y->place.line ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorted; the waits of a line are one. */
static void order_remarks(Remarks *r)
{
    uint32_t n = 0;
    if (r->all.n > 1)
        qsort(r->all.at, r->all.n, sizeof *r->all.at, compare_remarks);
    for (uint32_t i = 0; i < r->all.n; i++) {
        Remark *m = r->all.at[i], *last = n > 0 ? r->all.at[n - 1] : NULL;
        if (last && m->kind == REMARK_WAIT && last->kind == REMARK_WAIT && plan_same_place(&m->place, &last->place))
            last->waits += m->waits;
        else
            r->all.at[n++] = m;
    }
    r->all.n = n;
}

/* ---- as text ---- */

static void print_plural(StrBuf *out, uint32_t n, const char *what)
{
    strbuf_printf(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

/* The words of the parameter that chooses among the ways, but for the one that leaves it to the runtime. */
static void print_ways(StrBuf *out, const Remark *m, const char *quote)
{
    const DpTuning id = m->kernel->kind == PLAN_SCAN ? PARAM_SEGSCAN : PARAM_SEGREDUCE;
    size_t length;
    const char *word = dp_params_word(id, 1, &length);
    for (; *word; word += length + (word[length] != '\0')) {
        length = strcspn(word, " ");
        strbuf_printf(out, "%s%.*s%s%s", quote, (int)length, word, quote, word[length] ? ", " : "");
    }
}

static void print_kernel_text(StrBuf *out, const Remark *m)
{
    const PlanKernel *k = m->kernel;
    strbuf_printf(out, "%s over %s%s%s, kernel %s", plan_kind_name(k->kind), m->elements,
                  m->regular ? "" : " (irregular)", m->contents.by_lanes ? ", each in a lane" : "", k->name);
    if (k->library.file)
        strbuf_printf(out, ", of `%s` (%s:%u)", k->library.function, k->library.file, k->library.line);
    for (uint32_t i = 0; i < m->contents.fused.n; i++)
        strbuf_printf(out, "%s %s:%u `%s`", i ? "," : "\n  with", m->contents.fused.at[i].file,
                      m->contents.fused.at[i].line, m->contents.fused.at[i].function);
    if (m->segmented) {
        strbuf_add(out, "\n  one of these ways, as its segments are: ");
        print_ways(out, m, "");
    }
    if (m->types)
        strbuf_printf(out, "\n  stores %s, %s bytes", m->types, m->bytes);
    for (uint32_t i = 0; i < m->reasons.n; i++)
        strbuf_printf(out, "%s%s", i ? ", " : ": ", m->reasons.at[i]);
}

static void print_names(StrBuf *out, const Remark *m, uint32_t version)
{
    strbuf_add(out, m->versions[version].n ? "" : ": no kernel");
    for (uint32_t i = 0; i < m->versions[version].n; i++)
        strbuf_printf(out, "%s%s", i ? ", " : ": ", m->versions[version].at[i]);
}

static void print_nest_text(StrBuf *out, const Remark *m)
{
    const DpTunings none = {{false}, {0}};
    strbuf_printf(
        out, "nest of %s instances, two versions\n  each in a lane, from %s on (%" PRIu64 ", on a GPU %" PRIu64 ")",
        m->elements ? m->elements : "?", dp_params_name(m->from), dp_params_value(&none, m->from, false),
        dp_params_value(&none, m->from, true));
    if (m->shares)
        strbuf_printf(out, ", where its reductions, which share what they read, are shorter than %s (%" PRIu64 ")",
                      dp_params_name(PARAM_NEST_SHARED), dp_params_value(&none, PARAM_NEST_SHARED, false));
    print_names(out, m, 0);
    strbuf_add(out, "\n  else flattened");
    print_names(out, m, 1);
}

static void print_counts_text(StrBuf *out, const Remark *m)
{
    if (m->kind == REMARK_LOOP) {
        strbuf_add(out, "loop of the host; in a round ");
        print_plural(out, m->launches, "kernel");
        strbuf_add(out, " and ");
    }
    print_plural(out, m->waits, "read-back");
    if (m->loops > 0)
        strbuf_add(out, ", besides those of loops and calls inside");
}

static void print_text(StrBuf *out, const Remark *m)
{
    strbuf_printf(out, "%s:%u: ", m->place.file, m->place.line);
    if (m->kind == REMARK_KERNEL)
        print_kernel_text(out, m);
    else if (m->kind == REMARK_NEST)
        print_nest_text(out, m);
    else
        print_counts_text(out, m);
    strbuf_add(out, "\n");
}

/* ---- as JSON ---- */

static void print_member(StrBuf *out, const char *name, const char *text)
{
    strbuf_printf(out, ",\"%s\":", name);
    if (text)
        diag_json_string(out, text);
    else
        strbuf_add(out, "null");
}

static void print_place(StrBuf *out, const PlanPlace *p)
{
    strbuf_add(out, "{\"file\":");
    diag_json_string(out, p->file);
    strbuf_printf(out, ",\"line\":%u", p->line);
    print_member(out, "function", p->function);
    strbuf_add(out, "}");
}

static void print_kernel_json(StrBuf *out, const Remark *m)
{
    const PlanKernel *k = m->kernel;
    print_member(out, "kernel", k->name);
    print_member(out, "operation", plan_kind_name(k->kind));
    print_member(out, "elements", m->elements);
    strbuf_printf(out, ",\"regular\":%s,\"lane\":%s,\"ways\":", m->regular ? "true" : "false",
                  m->contents.by_lanes ? "true" : "false");
    strbuf_add(out, m->segmented ? "[" : "null");
    if (m->segmented)
        print_ways(out, m, "\"");
    strbuf_add(out, m->segmented ? "],\"library\":" : ",\"library\":");
    if (k->library.file)
        print_place(out, &k->library);
    else
        strbuf_add(out, "null");
    strbuf_add(out, ",\"fused\":[");
    for (uint32_t i = 0; i < m->contents.fused.n; i++) {
        strbuf_add(out, i ? "," : "");
        print_place(out, &m->contents.fused.at[i]);
    }
    strbuf_add(out, "]");
    print_member(out, "types", m->types);
    print_member(out, "bytes", m->bytes);
    strbuf_add(out, ",\"because\":[");
    for (uint32_t i = 0; i < m->reasons.n; i++) {
        strbuf_add(out, i ? "," : "");
        diag_json_string(out, m->reasons.at[i]);
    }
    strbuf_add(out, "]");
}

static void print_nest_json(StrBuf *out, const Remark *m)
{
    print_member(out, "elements", m->elements);
    strbuf_printf(out, ",\"lane_from\":\"%s\"", dp_params_name(m->from));
    if (m->shares)
        strbuf_printf(out, ",\"lane_below\":\"%s\"", dp_params_name(PARAM_NEST_SHARED));
    for (uint32_t version = 0; version < 2; version++) {
        strbuf_add(out, version ? "],\"flat\":[" : ",\"lane\":[");
        for (uint32_t i = 0; i < m->versions[version].n; i++)
            strbuf_printf(out, "%s\"%s\"", i ? "," : "", m->versions[version].at[i]);
    }
    strbuf_add(out, "]");
}

static void print_json(StrBuf *out, const Remark *m)
{
    static const char *const kinds[] = {"kernel", "nest", "loop", "read-back"};
    strbuf_printf(out, "{\"remark\":\"%s\",\"place\":", kinds[m->kind]);
    print_place(out, &m->place);
    if (m->kind == REMARK_KERNEL)
        print_kernel_json(out, m);
    else if (m->kind == REMARK_NEST)
        print_nest_json(out, m);
    else if (m->kind == REMARK_LOOP)
        strbuf_printf(out, ",\"kernels\":%u,\"read_backs\":%u,\"inner\":%u", m->launches, m->waits, m->loops);
    else
        strbuf_printf(out, ",\"read_backs\":%u", m->waits);
    strbuf_add(out, "}\n");
}

void plan_remarks(StrBuf *out, Plan *plan, bool json)
{
    Remarks r = {.plan = plan};
    for (uint32_t i = 0; i < plan->kernels.n; i++)
        add_kernel(&r, plan->kernels.at[i]);
    for (uint32_t i = 0; i < plan->fns.n; i++)
        add_plan_block(&r, plan->fns.at[i]->body);
    order_remarks(&r);
    for (uint32_t i = 0; i < r.all.n; i++)
        if (json)
            print_json(out, r.all.at[i]);
        else
            print_text(out, r.all.at[i]);
}
