#include "plan/emit_text.h"
#include "plan/plan.h"

#include <assert.h>
#include <string.h>

/* ---- contexts ---- */

FlatVar plan_up(const FlatFn *fn, FlatVar ctx) { return fn->vars.at[ctx].ctx; }

static bool has_segments(const FlatFn *fn, FlatVar ctx)
{
    return fn->vars.at[ctx].ctx_kind == CTX_NESTED && plan_up(fn, ctx) != FLAT_ROOT;
}

Place plan_place(const PlanKernel *k, FlatVar ctx)
{
    FlatVar body = k->stmt->body.ctx;
    if (ctx == body)
        return (Place){.kind = PLACE_I};
    if (!has_segments(k->fn, body))
        return (Place){PLACE_PATH, false, body};
    FlatVar up = plan_up(k->fn, body);
    if (ctx == up)
        return (Place){.kind = PLACE_S};
    return (Place){PLACE_PATH, true, up};
}

/* ---- words ---- */

static bool same_word(const PlanWord *w, PlanWordKind kind, FlatVar var, FlatVar to)
{
    if (w->kind != kind)
        return false;
    switch (kind) {
    case WORD_SCALAR:
    case WORD_LENGTH:
    case WORD_ADDRESS:
    case WORD_COLUMN:
    case WORD_KEPT: return w->var == var;
    case WORD_ROWS: /* by level: plan_row_word */
    case WORD_ROW_LENGTH: return false;
    case WORD_ELEMS:
    case WORD_VIEWS: return w->var == var && w->to == to;
    case WORD_OFFSETS:
    case WORD_PATH: return w->to == to;
    }
    return false;
}

uint32_t plan_find_word(const PlanKernel *k, PlanWordKind kind, FlatVar var, FlatVar to)
{
    for (uint32_t i = 0; i < k->words.n; i++)
        if (same_word(&k->words.at[i], kind, var, to))
            return i;
    return UINT32_MAX;
}

uint32_t plan_word(const PlanKernel *k, PlanWordKind kind, FlatVar var, FlatVar to)
{
    uint32_t w = plan_find_word(k, kind, var, to);
    assert(w != UINT32_MAX && "plan: a word is missing");
    return w;
}

static uint32_t add_word(Plan *plan, PlanKernel *k, PlanWordKind kind, FlatVar var, FlatVar to)
{
    uint32_t found = plan_find_word(k, kind, var, to);
    if (found != UINT32_MAX)
        return found;
    PlanWord w = {.kind = kind, .var = var, .from = FLAT_NO_VAR, .to = to, .bit = PLAN_NO_BIT};
    if ((kind == WORD_ELEMS || kind == WORD_PATH || kind == WORD_ROWS) && k->nbits < PLAN_MAX_BITS)
        w.bit = k->nbits++;
    vec_push(plan->arena, &k->words, w);
    return k->words.n - 1;
}

/* Word `w` is needed in every variant, or (elems given) unless that ELEMS is contiguous. */
static void need_word(Plan *plan, PlanKernel *k, uint32_t w, uint32_t elems)
{
    PlanWord *word = &k->words.at[w];
    if (elems == UINT32_MAX || k->words.at[elems].bit == PLAN_NO_BIT)
        word->always = true;
    else
        vec_push(plan->arena, &word->elems, elems);
}

uint32_t plan_row_word(const PlanKernel *k, FlatVar host, uint32_t level)
{
    for (uint32_t i = 0; i < k->words.n; i++)
        if (k->words.at[i].kind == WORD_ROWS && k->words.at[i].var == host && k->words.at[i].level == level)
            return i;
    return UINT32_MAX;
}

uint32_t plan_add_rows(Plan *plan, PlanKernel *k, FlatVar host, uint32_t level)
{
    uint32_t found = plan_row_word(k, host, level);
    if (found != UINT32_MAX)
        return found;
    uint32_t rows = add_word(plan, k, WORD_ROWS, host, FLAT_NO_VAR);
    k->words.at[rows].level = level;
    add_word(plan, k, WORD_ROW_LENGTH, host, FLAT_NO_VAR); /* right behind */
    need_word(plan, k, plan_word(k, WORD_ADDRESS, host, FLAT_NO_VAR), rows);
    return rows;
}

/* What it takes to have the index into `ctx`. */
static void add_place(Plan *plan, PlanKernel *k, FlatVar ctx, uint32_t elems)
{
    Place place = plan_place(k, ctx);
    if (place.kind != PLACE_PATH)
        return;
    uint32_t w = add_word(plan, k, WORD_PATH, FLAT_NO_VAR, ctx);
    k->words.at[w].from = place.from;
    need_word(plan, k, w, elems);
}

static void add_position(Plan *plan, PlanKernel *k, FlatVar nested, uint32_t elems)
{
    FlatVar up = plan_up(k->fn, nested);
    if (up == FLAT_ROOT)
        return;
    add_place(plan, k, up, elems);
    need_word(plan, k, add_word(plan, k, WORD_OFFSETS, FLAT_NO_VAR, nested), elems);
}

static void add_elem(Plan *plan, PlanKernel *k, const FlatInput *in)
{
    add_place(plan, k, in->ctx, UINT32_MAX);
    if (k->fn->vars.at[in->var].kind == FLAT_HOST) {
        add_word(plan, k, WORD_ADDRESS, in->var, FLAT_NO_VAR);
        return;
    }
    uint32_t elems = add_word(plan, k, WORD_ELEMS, in->var, in->ctx);
    add_word(plan, k, WORD_VIEWS, in->var, in->ctx); /* right behind: both are new, or both were there */
    add_position(plan, k, in->ctx, elems);
}

static void add_input(Plan *plan, PlanKernel *k, const FlatInput *in)
{
    switch (in->kind) {
    case IN_HOST:
        if (k->fn->vars.at[in->var].type.rank == 0) {
            add_word(plan, k, WORD_SCALAR, in->var, FLAT_NO_VAR);
        } else {
            add_word(plan, k, WORD_LENGTH, in->var, FLAT_NO_VAR);
            add_word(plan, k, WORD_ADDRESS, in->var, FLAT_NO_VAR);
        }
        break;
    case IN_COL:
        add_place(plan, k, flat_ctx(k->fn, in->var), UINT32_MAX);
        add_word(plan, k, WORD_COLUMN, in->var, FLAT_NO_VAR);
        break;
    case IN_ELEM: add_elem(plan, k, in); break;
    case IN_POS:
        add_place(plan, k, in->ctx, UINT32_MAX);
        add_position(plan, k, in->ctx, UINT32_MAX);
        break;
    }
}

static void add_inputs(Plan *plan, PlanKernel *k, const FlatInputs *inputs)
{
    for (uint32_t i = 0; i < inputs->n; i++)
        add_input(plan, k, &inputs->at[i]);
}

bool plan_has_op(const PlanKernel *k) { return flat_kind_has_op(k->stmt->kind) && k->stmt->reduce.op.k > 0; }

bool plan_maps(const PlanKernel *k) { return k->kind == PLAN_SCAN && flat_scan_maps(k->stmt); }

FlatVar plan_kept(const PlanKernel *k, uint32_t i) { return k->stmt->outs[k->stmt->reduce.op.k + i]; }

bool plan_stores(const PlanKernel *k, uint32_t j)
{
    bool read = k->kind != PLAN_SCAN || k->stored[j].rank > 0;
    for (uint32_t i = 0; !read && i < k->stmt->ndies; i++)
        if (k->stmt->dies[i] == k->stmt->outs[j])
            return false;
    return true;
}

uint32_t plan_column_elems(const PlanKernel *k, FlatVar column)
{
    for (uint32_t i = 0; i < k->words.n; i++)
        if (k->words.at[i].kind == WORD_ELEMS && k->words.at[i].var == column && k->words.at[i].bit != PLAN_NO_BIT)
            return i;
    return UINT32_MAX;
}

/* Views of which the kernel reads the elements in turn, too: where these are contiguous, a view is a segment of them,
 * and need not be stored. */
static void find_segments(Plan *plan, PlanKernel *k)
{
    for (uint32_t i = 0; i < k->words.n; i++) {
        const FlatVar column = k->words.at[i].var;
        if (k->words.at[i].kind != WORD_COLUMN || k->fn->vars.at[column].type.rank != 1)
            continue;
        const uint32_t elems = plan_column_elems(k, column);
        if (elems == UINT32_MAX)
            continue;
        need_word(plan, k, i, elems);
        need_word(plan, k, add_word(plan, k, WORD_OFFSETS, FLAT_NO_VAR, k->words.at[elems].to), UINT32_MAX);
    }
}

static void add_words(Plan *plan, PlanKernel *k)
{
    add_inputs(plan, k, &k->stmt->body.inputs);
    if (plan_has_op(k)) {
        add_inputs(plan, k, &k->stmt->reduce.op.inputs);
        add_inputs(plan, k, &k->stmt->reduce.op.neutral_inputs);
    }
    if (plan_maps(k))
        add_inputs(plan, k, &k->stmt->reduce.then.inputs);
    for (uint32_t i = 0; i < flat_kept(k->stmt); i++)
        add_word(plan, k, WORD_KEPT, plan_kept(k, i), FLAT_NO_VAR);
    find_segments(plan, k);
    plan_find_rows(plan, k);
}

/* ---- the segment ---- */

static bool place_uses_segment(const PlanKernel *k, FlatVar ctx)
{
    Place place = plan_place(k, ctx);
    return place.kind == PLACE_S || (place.kind == PLACE_PATH && place.from_segment);
}

static void input_segment_use(const Plan *plan, const PlanKernel *k, const FlatInput *in, SegmentUse *use)
{
    if (in->kind == IN_HOST)
        return;
    FlatVar ctx = in->kind == IN_COL ? flat_ctx(k->fn, in->var) : in->ctx;
    use->always |= place_uses_segment(k, ctx);
    FlatVar up = in->kind == IN_COL ? FLAT_ROOT : plan_up(k->fn, ctx);
    if (up == FLAT_ROOT || !place_uses_segment(k, up))
        return;
    uint32_t elems = in->kind == IN_ELEM ? plan_word(k, WORD_ELEMS, in->var, ctx) : UINT32_MAX;
    if (elems == UINT32_MAX || k->words.at[elems].bit == PLAN_NO_BIT)
        use->always = true;
    else
        vec_push(plan->arena, &use->elems, elems);
}

SegmentUse plan_segment_use(const Plan *plan, const PlanKernel *k)
{
    SegmentUse use = {0};
    const FlatInputs *body = &k->stmt->body.inputs;
    for (uint32_t i = 0; i < body->n; i++)
        input_segment_use(plan, k, &body->at[i], &use);
    if (!plan_has_op(k))
        return use;
    const FlatInputs *op = &k->stmt->reduce.op.inputs;
    for (uint32_t i = 0; i < op->n; i++)
        input_segment_use(plan, k, &op->at[i], &use);
    for (uint32_t i = 0; plan_maps(k) && i < k->stmt->reduce.then.inputs.n; i++)
        input_segment_use(plan, k, &k->stmt->reduce.then.inputs.at[i], &use);
    return use;
}

/* ---- kernels ---- */

static PlanKernelKind kernel_kind(FlatKind kind)
{
    static const PlanKernelKind kernels[] = {
#define PLAN_NONE PLAN_MAP
#define KIND(NAME, word, kernel, ...) [FLAT_S_##NAME] = PLAN_##kernel,
#include "flat/kinds.def"
#undef KIND
#undef PLAN_NONE
    };
    return kernels[kind];
}

const char *plan_kind_name(PlanKernelKind kind)
{
    static const char *const names[] = {"map", "array", "pack", "reduce", "scan", "scatter", "hist"};
    return names[kind];
}

/* sizeof(dp_val): fields are aligned to their size, the whole to the widest. */
static uint32_t value_size(const CoreType *types, uint32_t n)
{
    uint32_t at = 0, widest = 1;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bytes = emit_bytes(types[i]);
        at = (at + bytes - 1) / bytes * bytes + bytes;
        widest = bytes > widest ? bytes : widest;
    }
    return (at + widest - 1) / widest * widest;
}

/* The types of the body's results from `first` on: the fields of dp_val. */
static void set_values(Plan *plan, PlanKernel *k, uint32_t first, uint32_t n)
{
    k->first = first;
    k->nvalues = n;
    k->values = arena_array(plan->arena, CoreType, n + 1);
    for (uint32_t i = 0; i < n; i++)
        k->values[i] = core_atom_type(k->fn->scope, k->stmt->body.block->results[first + i]);
    k->val_size = value_size(k->values, n);
    k->val_bytes = k->val_size ? (k->val_size + 15) / 16 * 16 : 16;
    k->stored = k->values;
    k->nstored = n;
    if (!plan_maps(k))
        return;
    const CoreBlock *then = k->stmt->reduce.then.block;
    k->nstored = then->nresults;
    k->stored = arena_array(plan->arena, CoreType, then->nresults + 1);
    for (uint32_t i = 0; i < then->nresults; i++)
        k->stored[i] = core_atom_type(k->fn->scope, then->results[i]);
}

static void note_trust(void *ctx, CoreBlock *b)
{
    bool *trusting = ctx;
    for (uint32_t i = 0; i < b->stmts.n && !*trusting; i++) {
        CoreStmt *s = b->stmts.at[i];
        bool indexes = s->kind == CORE_INDEX || s->kind == CORE_SLICE;
        *trusting = s->kind == CORE_LOOP || core_stmt_soac(s) || (indexes && s->site == CORE_NO_SITE);
        core_stmt_blocks(s, note_trust, trusting);
    }
}

static const char *kernel_name(Plan *plan, const FlatFn *fn, uint32_t number, PlanKernelKind kind)
{
    StrBuf text = {0};
    emit_identifier(&text, fn->name);
    const char *name = arena_printf(plan->arena, "%s_%u_%s", text.n ? text.text : "fn", number, plan_kind_name(kind));
    strbuf_free(&text);
    return name;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'';
}

/* The name behind a word that begins a definition, or NULL. */
static const char *defined_name(const char *line)
{
    while (*line == ' ')
        line++;
    if (strncmp(line, "def ", 4) != 0 && strncmp(line, "entry ", 6) != 0)
        return NULL;
    line = strchr(line, ' ');
    return line + strspn(line, " ");
}

/* The definition around the place: the last one whose line begins before it. */
static const char *function_around(Plan *plan, Span at)
{
    PlanAround *known = &plan->around[at.file];
    const char *text = plan->program->core->session->files.at[at.file]->text, *name = NULL;
    uint32_t i = at.start + 1;
    while (!name && i-- > 0) {
        if (i >= known->from && i < known->to) {
            name = known->name;
            i = known->from;
        } else if (i == 0 || text[i - 1] == '\n') {
            name = defined_name(text + i);
        }
    }
    if (name)
        *known = (PlanAround){i, at.start, name};
    size_t n = 0;
    while (name && is_name_char(name[n]))
        n++;
    return n ? arena_strndup(plan->arena, name, n) : "?";
}

PlanPlace plan_place_of(Plan *plan, Span at)
{
    Session *session = plan->program->core->session;
    return (PlanPlace){session->files.at[at.file]->path, source_linecol(session, at.file, at.start).line,
                       function_around(plan, at)};
}

static uint32_t count_outs(const PlanKernel *k)
{
    switch (k->kind) {
    case PLAN_ARRAY: return 1;
    case PLAN_PACK: return k->nvalues + k->stmt->pack.nways; /* of a context: positions, offsets */
    default: return k->nstored;
    }
}

static void add_kernel(Plan *plan, const FlatFn *fn, const FlatStmt *s, uint32_t number, uint32_t first, uint32_t n)
{
    PlanKernel *k = arena_new(plan->arena, PlanKernel);
    k->index = plan->kernels.n;
    k->kind = kernel_kind(s->kind);
    k->fn = fn;
    k->stmt = s;
    k->name = kernel_name(plan, fn, number, k->kind);
    k->place = plan_place_of(plan, s->span);
    if (s->span.origin)
        k->library = plan_place_of(plan, source_of_origin(plan->program->core->session, s->span.origin));
    set_values(plan, k, first, n);
    note_trust(&k->trusting, s->body.block);
    if (plan_has_op(k))
        note_trust(&k->trusting, s->reduce.op.op.body);
    if (plan_maps(k))
        note_trust(&k->trusting, s->reduce.then.block);
    k->nouts = count_outs(k);
    vec_push(plan->arena, &plan->kernels, k);
    add_words(plan, k);
}

uint32_t plan_add_kernels(Plan *plan, const FlatFn *fn, const FlatStmt *s, uint32_t *number)
{
    uint32_t n = s->body.block->nresults, before = plan->kernels.n;
    if (s->kind == FLAT_S_KERNEL) {
        for (uint32_t first = 0; first < n; first += PLAN_MAX_OUTS)
            add_kernel(plan, fn, s, (*number)++, first, n - first < PLAN_MAX_OUTS ? n - first : PLAN_MAX_OUTS);
        if (n == 0)
            add_kernel(plan, fn, s, (*number)++, 0, 0); /* checks only */
    } else {
        uint32_t places = flat_kind_places(s->kind);
        add_kernel(plan, fn, s, (*number)++, places, n - places - flat_kept(s));
    }
    return plan->kernels.n - before;
}
