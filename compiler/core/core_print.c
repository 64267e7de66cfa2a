/* The printer for core, in the notation of core.h's example. Nothing reads it back but people and
 * golden tests; so it is complete: every field of every statement shows, sites as the error they raise. */
#include "core/core.h"
#include "params.h"
#include "support/marks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct Printer {
    StrBuf *out;
    const CoreProgram *program;
    const CoreFn *fn;
    int depth;
} Printer;

static void print_type(Printer *p, CoreType t)
{
    for (uint32_t i = 0; i < t.rank; i++)
        strbuf_add(p->out, "[");
    strbuf_add(p->out, scalar_name(t.scalar));
    for (uint32_t i = 0; i < t.rank; i++)
        strbuf_add(p->out, "]");
}

static void print_float(Printer *p, double x, int digits, const char *suffix)
{
    char text[64];
    if (isnan(x)) {
        strbuf_printf(p->out, "nan%s", suffix);
        return;
    }
    snprintf(text, sizeof text, "%.*g", digits, x);
    bool plain = !strpbrk(text, ".ein");
    strbuf_printf(p->out, "%s%s%s", text, plain ? ".0" : "", suffix);
}

/* i64, f64 and bool need no suffix. */
static void print_const(Printer *p, Scalar s, uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float single;
    double wide;
    if (s == SC_BOOL) {
        strbuf_add(p->out, bits ? "true" : "false");
    } else if (s == SC_F32) {
        memcpy(&single, &low, sizeof single);
        print_float(p, (double)single, 9, "f32");
    } else if (s == SC_F64) {
        memcpy(&wide, &bits, sizeof wide);
        print_float(p, wide, 17, "");
    } else if (scalar_is_signed(s)) {
        strbuf_printf(p->out, "%" PRId64 "%s", (int64_t)bits, s == SC_I64 ? "" : scalar_name(s));
    } else {
        strbuf_printf(p->out, "%" PRIu64 "%s", bits, scalar_name(s));
    }
}

static void print_var(Printer *p, CoreVar v)
{
    const char *hint = v < p->fn->vars.n ? p->fn->vars.at[v].hint : "?";
    strbuf_printf(p->out, hint ? "%%%u.%s" : "%%%u", v, hint);
}

static void print_bound(Printer *p, CoreVar v)
{
    print_var(p, v);
    strbuf_add(p->out, " : ");
    if (v < p->fn->vars.n)
        print_type(p, p->fn->vars.at[v].type);
}

static void print_atom(Printer *p, CoreAtom a)
{
    if (a.is_const)
        print_const(p, a.type.scalar, a.bits);
    else
        print_var(p, a.var);
}

static void print_atoms(Printer *p, const CoreAtom *atoms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(p->out, i ? ", " : "");
        print_atom(p, atoms[i]);
    }
}

static void print_bounds(Printer *p, const CoreVar *vars, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(p->out, i ? ", " : "");
        print_bound(p, vars[i]);
    }
}

static void print_block(Printer *p, const CoreBlock *b);

static void print_word_block(Printer *p, const char *word, const CoreBlock *b)
{
    strbuf_printf(p->out, " %s ", word);
    print_block(p, b);
}

static void print_soac(Printer *p, const CoreSoac *s)
{
    strbuf_add(p->out, " ");
    print_atom(p, s->domain);
    if (s->index != CORE_NO_VAR) {
        strbuf_add(p->out, " at ");
        print_var(p, s->index);
    }
    strbuf_add(p->out, " (");
    for (uint32_t i = 0; i < s->ninputs; i++) {
        strbuf_add(p->out, i ? ", " : "");
        print_bound(p, s->elements[i]);
        strbuf_add(p->out, " <- ");
        print_atom(p, s->inputs[i]);
    }
    strbuf_add(p->out, ")");
    if (s->guard)
        print_word_block(p, "guard", s->guard);
    strbuf_add(p->out, " ");
    print_block(p, s->body);
}

static void print_operator(Printer *p, const CoreSoac *s, uint32_t n)
{
    if (s->neutral) {
        strbuf_add(p->out, " neutral (");
        print_atoms(p, s->neutral, n);
        strbuf_add(p->out, ")");
    }
    strbuf_add(p->out, " op (");
    print_bounds(p, s->op.params, s->op.nparams);
    strbuf_add(p->out, ") ");
    print_block(p, s->op.body);
}

static void print_parallel(Printer *p, const CoreStmt *s)
{
    strbuf_printf(p->out, "%s%s%s%s", core_kind(s->kind)->word, s->soac.exclusive ? "x" : "",
                  s->soac.commutative ? "_comm" : "",
                  s->soac.stays   ? "_stays"
                  : s->soac.grows ? "_grows"
                                  : "");
    if (core_kind(s->kind)->length == LENGTH_SIZE) {
        strbuf_add(p->out, " size ");
        print_atom(p, s->soac.size);
    }
    if (s->soac.dests) {
        strbuf_add(p->out, " into (");
        print_atoms(p, s->soac.dests, s->nvars);
        strbuf_add(p->out, ")");
    }
    print_soac(p, &s->soac);
    if (core_stmt_operator(s))
        print_operator(p, &s->soac, s->nvars);
}

static void print_loop(Printer *p, const CoreStmt *s)
{
    strbuf_add(p->out, "loop (");
    for (uint32_t i = 0; i < s->loop.nparams; i++) {
        strbuf_add(p->out, i ? ", " : "");
        print_bound(p, s->loop.params[i]);
        strbuf_add(p->out, " = ");
        print_atom(p, s->loop.inits[i]);
    }
    strbuf_add(p->out, ")");
    if (s->loop.cond) {
        print_word_block(p, "while", s->loop.cond);
        strbuf_add(p->out, " do ");
    } else {
        strbuf_add(p->out, " for ");
        if (s->loop.index == CORE_NO_VAR)
            strbuf_add(p->out, "_");
        else
            print_var(p, s->loop.index);
        strbuf_add(p->out, " < ");
        print_atom(p, s->loop.count);
        strbuf_add(p->out, " do ");
    }
    print_block(p, s->loop.body);
}

static const char *error_word(ErrorKind kind)
{
    switch (kind) {
    case ERR_INDEX: return "index";
    case ERR_SLICE: return "slice";
    case ERR_LENGTHS: return "lengths";
    case ERR_SIZE: return "size";
    case ERR_DIVISION: return "division";
    case ERR_ASSERT: return "assert";
    case ERR_MATCH: return "match";
    case ERR_EMPTY: return "empty";
    case ERR_NEGATIVE: return "negative";
    case ERR_NEST: return "nest";
    case ERR_DEPTH: return "depth";
    }
    return "?";
}

static void print_check(Printer *p, const CoreStmt *s)
{
    strbuf_add(p->out, "check ");
    print_atom(p, s->check.cond);
    if (s->check.nvalues) {
        strbuf_add(p->out, " (");
        print_atoms(p, s->check.values, s->check.nvalues);
        strbuf_add(p->out, ")");
    }
}

static void print_list(Printer *p, const char *word, const CoreAtom *atoms, uint32_t n)
{
    strbuf_printf(p->out, n ? "%s " : "%s", word);
    print_atoms(p, atoms, n);
}

const char *core_many_words(uint32_t of)
{
    static const char *const words[] = {
        [NEST_OF_OPERATIONS] = "",      [NEST_OF_LOOPS] = " loops",    [NEST_OF_STEPS] = " steps",
        [NEST_OF_TRIES] = " tries",     [NEST_OF_CALLS] = " calls",    [NEST_OF_CHAINS] = " chains",
        [NEST_OF_COLUMNS] = " columns", [NEST_OF_VECTORS] = " vectors"};
    return words[of];
}

const char *core_lane_words(uint32_t of)
{
    static const char *const words[] = {
        [LANE_OF_NEST] = "", [LANE_OF_TRY] = " counted", [LANE_OF_ROUNDS] = " counted", [LANE_OF_LOOP] = " whole"};
    return words[of];
}

static void print_many(Printer *p, const CoreStmt *s)
{
    const CoreAtom shared[] = {s->many.cells, s->many.length};
    strbuf_printf(p->out, "many%s", core_many_words(s->many.of));
    if (!s->many.length.is_const || s->many.length.bits)
        print_list(p, " sharing", shared, 2);
}

/* The word and the operands. */
static void print_plain(Printer *p, const CoreStmt *s)
{
    uint32_t n;
    const char *between = " ";
    strbuf_add(p->out, core_kind(s->kind)->word);
    for (const CoreField *f = core_kind(s->kind)->fields; f->kind; f++) {
        const CoreAtom *atoms = core_field_atoms(s, f, &n);
        if (n == 0)
            continue;
        strbuf_add(p->out, between);
        print_atoms(p, atoms, n);
        between = ", ";
    }
}

static void print_operation(Printer *p, const CoreStmt *s)
{
    switch (s->kind) {
    case CORE_ATOM: print_atom(p, s->atom); break;
    case CORE_PRIM: print_list(p, core_prim_name(s->prim.op), s->prim.args, s->prim.nargs); break;
    case CORE_LENGTH:
    case CORE_FLATTEN:
    case CORE_TABLE:
    case CORE_INDEX:
    case CORE_SLICE:
    case CORE_UPDATE:
    case CORE_ARRAY: print_plain(p, s); break;
    case CORE_ARGSORT:
        print_list(p, "argsort", s->argsort.keys, s->argsort.nkeys);
        if (s->argsort.ncolumns)
            print_list(p, core_argsort_positions(s) ? " with" : " of", s->argsort.columns, s->argsort.ncolumns);
        if (s->argsort.nends) {
            print_list(p, " first", s->argsort.ends, 1);
            print_list(p, " last", s->argsort.ends + 1, 1);
        }
        break;
    case CORE_CHECK: print_check(p, s); break;
    case CORE_CHECK_ROWS:
        strbuf_printf(p->out, "check_rows %u below ", s->rows.depth);
        print_atoms(p, s->rows.args, s->rows.nargs);
        break;
    case CORE_IF:
        print_list(p, "if", &s->if_.cond, 1);
        print_word_block(p, "then", s->if_.then_b);
        print_word_block(p, "else", s->if_.else_b);
        break;
    case CORE_LOOP: print_loop(p, s); break;
    case CORE_MANY: print_many(p, s); break;
    case CORE_PARAM: strbuf_printf(p->out, "param %s", dp_params_name(s->param.of)); break;
    case CORE_FEW:
        print_list(p, "few", (CoreAtom[]){s->few.work, s->few.wide}, 2);
        strbuf_printf(p->out, " instead of %u launches, %u on a GPU", s->few.launches, s->few.on_gpu);
        break;
    case CORE_MEMORY:
        strbuf_printf(p->out, "memory%s%s", core_lane_words(s->memory.of), s->memory.gives ? " gives" : "");
        break;
    case CORE_NOTHING: strbuf_add(p->out, "nothing"); break;
    case CORE_FITTED: print_list(p, "fitted", s->fitted.results, s->fitted.n); break;
    case CORE_LANE:
        strbuf_add(p->out, "lane ");
        if (!s->lane.memory.is_const)
            print_list(p, "in", &s->lane.memory, 1);
        strbuf_add(p->out, s->lane.memory.is_const ? "" : " ");
        print_block(p, s->lane.block);
        break;
    case CORE_CALL:
        strbuf_printf(p->out, "call %s (", s->call.fn->name);
        print_atoms(p, s->call.args, s->call.nargs);
        strbuf_add(p->out, ")");
        break;
    case CORE_SOAC: print_parallel(p, s); break;
    }
}

static void print_stmt(Printer *p, const CoreStmt *s)
{
    strbuf_indent(p->out, p->depth);
    marks_begin(p->out, s->span, s);
    print_bounds(p, s->vars, s->nvars);
    strbuf_add(p->out, s->nvars ? " = " : "");
    print_operation(p, s);
    if (s->site != CORE_NO_SITE && s->site < p->program->sites.n) {
        const CoreSite *site = &p->program->sites.at[s->site];
        strbuf_printf(p->out, site->text ? " !%s \"%s\"" : " !%s", error_word(site->kind), site->text);
    }
    marks_end(p->out);
    strbuf_add(p->out, "\n");
}

static void print_block(Printer *p, const CoreBlock *b)
{
    if (b->stmts.n == 0) {
        strbuf_add(p->out, "{ -> ");
        print_atoms(p, b->results, b->nresults);
        strbuf_add(p->out, " }");
        return;
    }
    strbuf_add(p->out, "{\n");
    p->depth++;
    for (uint32_t i = 0; i < b->stmts.n; i++)
        print_stmt(p, b->stmts.at[i]);
    strbuf_indent(p->out, p->depth);
    strbuf_add(p->out, "-> ");
    print_atoms(p, b->results, b->nresults);
    strbuf_add(p->out, "\n");
    p->depth--;
    strbuf_indent(p->out, p->depth);
    strbuf_add(p->out, "}");
}

void core_print_block(StrBuf *out, const CoreProgram *program, const CoreFn *fn, const CoreBlock *b, int depth)
{
    Printer p = {out, program, fn, depth};
    for (uint32_t i = 0; i < b->stmts.n; i++)
        print_stmt(&p, b->stmts.at[i]);
    strbuf_indent(out, depth);
    strbuf_add(out, "-> ");
    print_atoms(&p, b->results, b->nresults);
    strbuf_add(out, "\n");
}

void core_print_var(StrBuf *out, const CoreFn *fn, CoreVar v) { print_var(&(Printer){out, NULL, fn, 0}, v); }

void core_print_stmt(StrBuf *out, const CoreProgram *program, const CoreFn *fn, const CoreStmt *s)
{
    print_stmt(&(Printer){out, program, fn, 0}, s);
}

void core_print_fn(StrBuf *out, const CoreProgram *program, const CoreFn *fn)
{
    Printer p = {out, program, fn, 0};
    marks_begin(out, fn->span, fn);
    strbuf_printf(out, "%sfn %s (", fn->recursive ? "rec " : "", fn->name);
    print_bounds(&p, fn->params, fn->nparams);
    strbuf_add(out, ") : (");
    for (uint32_t i = 0; i < fn->nresults; i++) {
        strbuf_add(out, i ? ", " : "");
        print_type(&p, fn->results[i]);
    }
    strbuf_add(out, ") = ");
    print_block(&p, fn->body);
    marks_end(out);
    strbuf_add(out, "\n");
}

void core_print(StrBuf *out, const CoreProgram *p)
{
    for (uint32_t i = 0; i < p->entries.n; i++)
        strbuf_printf(out, "entry %s = %s\n", p->entries.at[i].name, p->entries.at[i].fn->name);
    for (uint32_t i = 0; i < p->fns.n; i++) {
        strbuf_add(out, "\n");
        core_print_fn(out, p, p->fns.at[i]);
    }
}
