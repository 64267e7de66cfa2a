/* Properties under `dpc test`: inputs from comments and random ones, on every evaluator; the first that fails is made
 * smaller. */
#include "testing/test_run.h"

#include "testing/value_random.h"
#include "testing/value_shrink.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 3000, DEVICE_ROUND = 48, DEVICE_ROUNDS = 24 };

typedef enum Verdict { HOLDS, IS_FALSE, FAILS } Verdict;

static Verdict verdict_of(const Outcome *o)
{
    if (!o->ok)
        return FAILS;
    return dp_scalar_load(DP_BOOL, o->leaves[0].data, 0) ? HOLDS : IS_FALSE;
}

/* ---- inputs ---- */

/* A property without parameters has one. */
uint32_t property_cases(const TestRun *t, const Subject *s)
{
    return s->types.entry->nparams == 0 && t->options->cases > 1 ? 1 : t->options->cases;
}

/* To be freed with free_leaves. */
static DpLeaf *leaves_of(const Subject *s, const Tree *args)
{
    DpLeaf *leaves = memory_alloc((size_t)s->nargs + 1, sizeof *leaves);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->types.entry->nparams; i++) {
        tree_to_leaves(s->types.params[i], &args[i], leaves + at);
        at += dp_type_leaves(s->types.params[i]);
    }
    return leaves;
}

static void free_leaves(const Subject *s, DpLeaf *leaves)
{
    dp_leaves_free(leaves, s->nargs);
    free(leaves);
}

static Tree *random_case(const TestRun *t, const Subject *s, Arena *arena, uint32_t number)
{
    RandomCase which = {t->options->seed, s->block->name, number, property_cases(t, s)};
    return random_arguments(arena, &s->signature, which);
}

static uint32_t add_job(TestRun *t, const Subject *s, const Tree *args)
{
    DpLeaf *leaves = leaves_of(s, args);
    uint32_t job = device_add(&t->device, s->types.entry->name, s->types.params, s->types.entry->nparams, leaves);
    free_leaves(s, leaves);
    return job;
}

void plan_property(TestRun *t, Subject *s)
{
    s->first_job = t->device.n;
    if (s->failures.n)
        return;
    for (uint32_t i = 0; i < property_cases(t, s); i++) {
        Arena *scratch = arena_create();
        add_job(t, s, random_case(t, s, scratch, i));
        arena_destroy(scratch);
    }
}

/* ---- one input ---- */

static Outcome interpret(const TestRun *t, const Subject *s, const Tree *args)
{
    DpLeaf *leaves = leaves_of(s, args);
    Outcome o = run_interpreter(t, s, leaves);
    free_leaves(s, leaves);
    return o;
}

/* ---- making it smaller ---- */

typedef struct Search {
    TestRun *t;
    const Subject *s;
    Verdict wanted; /* of the input that is made smaller: what stays false does not become an error */
    uint32_t tries, steps;
    Arena *arena;
    /* a round on the device: candidates are gathered, then run together */
    uint32_t skip;
    VEC(Tree *) round;
} Search;

static ShrinkVerdict judge_interpreted(void *data, const Tree *args)
{
    Search *x = data;
    if (x->tries++ >= MOST_TRIES)
        return SHRINK_STOP;
    Outcome o = interpret(x->t, x->s, args);
    Verdict v = verdict_of(&o);
    outcome_free(&o, x->s->types.result);
    return v == x->wanted ? SHRINK_TAKE : SHRINK_NEXT;
}

static ShrinkVerdict gather(void *data, const Tree *args)
{
    Search *x = data;
    if (x->skip > 0) {
        x->skip--;
        return SHRINK_NEXT;
    }
    uint32_t n = x->s->types.entry->nparams;
    Tree *copy = arena_array(x->arena, Tree, n);
    for (uint32_t i = 0; i < n; i++)
        copy[i] = tree_copy(x->arena, &args[i]);
    vec_push(x->arena, &x->round, copy);
    return x->round.n < DEVICE_ROUND ? SHRINK_NEXT : SHRINK_STOP;
}

/* The first of the gathered candidates that fails, or NULL. */
static Tree *run_round(Search *x)
{
    DeviceBatch *device = &x->t->device;
    uint32_t first = device->n;
    for (uint32_t i = 0; i < x->round.n; i++)
        add_job(x->t, x->s, x->round.at[i]);
    for (uint32_t i = 0; i < x->round.n; i++) {
        Outcome o = device_result(device, first + i, device->n, x->s->types.result);
        Verdict v = verdict_of(&o);
        outcome_free(&o, x->s->types.result);
        if (v == x->wanted)
            return x->round.at[i];
    }
    return NULL;
}

static void shrink_on_device(Search *x, Tree *args)
{
    uint32_t seen = 0, n = x->s->types.entry->nparams;
    for (uint32_t k = 0; k < DEVICE_ROUNDS; k++) {
        x->skip = seen;
        x->round.n = 0;
        shrink_step(x->arena, &x->s->signature, args, gather, x);
        if (x->round.n == 0)
            return;
        Tree *smaller = run_round(x);
        seen = smaller ? 0 : seen + x->round.n;
        x->steps += smaller != NULL;
        if (smaller && n)
            memcpy(args, smaller, n * sizeof *args);
    }
}

static void make_smaller(Search *x, Tree *args, int e)
{
    if (e >= PLAN) {
        shrink_on_device(x, args);
        return;
    }
    while (shrink_step(x->arena, &x->s->signature, args, judge_interpreted, x))
        x->steps++;
}

/* ---- reports ---- */

/* What the small input gives, and how to get at it again. number: of the random case, or -1 for an input in the
 * comment. */
static void report(Search *x, const Tree *args, int e, int64_t number)
{
    TestRun *t = x->t;
    Subject *s = (Subject *)x->s;
    uint32_t job = e >= PLAN ? add_job(t, s, args) : 0;
    Outcome o = e >= PLAN ? device_result(&t->device, job, t->device.n, s->types.result) : interpret(t, s, args);
    DpLeaf *leaves = leaves_of(s, args);
    StrBuf text = {0};
    strbuf_add(&text, o.ok ? "  false for\n" : "  fails for\n");
    strbuf_add(&text, "  -- input ");
    print_arguments(&text, s, leaves, 0);
    strbuf_add(&text, "\n");
    if (!o.ok)
        strbuf_printf(&text, "  with %s\n", o.error.text ? o.error.text : "no result");
    if (number >= 0)
        strbuf_printf(&text, "  found by case %u of %u with --seed=%llu", (unsigned)(number + 1), property_cases(t, s),
                      (unsigned long long)t->options->seed);
    else
        strbuf_add(&text, "  found by an input in the comment");
    if (x->steps)
        strbuf_printf(&text, ", made smaller in %u step%s", x->steps, x->steps == 1 ? "" : "s");
    strbuf_add(&text, "\n");
    add_failure(t, &s->failures, e, text.text);
    strbuf_free(&text);
    outcome_free(&o, s->types.result);
    free_leaves(s, leaves);
}

static void failed(TestRun *t, Subject *s, int e, Verdict v, Tree *args, Arena *arena, int64_t number)
{
    Search x = {.t = t, .s = s, .wanted = v, .arena = arena};
    make_smaller(&x, args, e);
    report(&x, args, e, number);
}

/* ---- all inputs ---- */

static bool holds_for_input(TestRun *t, Subject *s, int e, const Input *input)
{
    Outcome o = e >= PLAN ? device_result(&t->device, input->job, t->jobs, s->types.result)
                          : run_interpreter(t, s, input->args);
    Verdict v = verdict_of(&o);
    outcome_free(&o, s->types.result);
    if (v == HOLDS || t->device.unusable)
        return v == HOLDS;
    Arena *arena = arena_create();
    uint32_t n = s->types.entry->nparams;
    Tree *args = arena_array(arena, Tree, n);
    const DpLeaf *at = input->args;
    for (uint32_t i = 0; i < n; i++) {
        args[i] = tree_of_leaves(arena, s->types.params[i], at);
        at += dp_type_leaves(s->types.params[i]);
    }
    failed(t, s, e, v, args, arena, -1);
    arena_destroy(arena);
    return false;
}

static bool holds_for_random(TestRun *t, Subject *s, int e, uint32_t number)
{
    Arena *arena = arena_create();
    Tree *args = random_case(t, s, arena, number);
    Outcome o =
        e >= PLAN ? device_result(&t->device, s->first_job + number, t->jobs, s->types.result) : interpret(t, s, args);
    Verdict v = verdict_of(&o);
    outcome_free(&o, s->types.result);
    if (v != HOLDS && !t->device.unusable)
        failed(t, s, e, v, args, arena, number);
    arena_destroy(arena);
    return v == HOLDS;
}

void run_property(TestRun *t, Subject *s, int e)
{
    for (uint32_t i = 0; i < s->ninputs; i++)
        if (!holds_for_input(t, s, e, &s->inputs[i]))
            return;
    for (uint32_t i = 0; i < property_cases(t, s); i++)
        if (!holds_for_random(t, s, e, i))
            return;
}
