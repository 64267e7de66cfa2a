/* The oracle law on the interpreters: what core says of a program's entries, fused and flat say, too. Entries get
 * random arguments, the same in every run. Where an interpreter runs out of its time, memory or stack, nothing follows.
 */
#include "fuzz.h"

#include "driver/entry.h"
#include "dp_value.h"
#include "testing/value_random.h"

enum { ENTRIES = 3, CASES = 3, MAX_CASES = ENTRIES * CASES };
static const Stage stages[] = {STAGE_CORE, STAGE_FUSED, STAGE_FLAT};
enum { STAGES = sizeof stages / sizeof *stages };
static const EvalLimits limits = {.bytes = (uint64_t)1 << 26, .seconds = 0.5};

typedef struct Text {
    const char *at;
    size_t n;
} Text;

typedef struct Case {
    EntryTypes types;
    DpLeaf *args, *results[STAGES];
    uint32_t nargs;
    bool ok[STAGES];
    EvalError error[STAGES];
} Case;

/* ---- arguments ---- */

static bool make_case(Case *k, const Compilation *c, const CoreEntry *entry, uint32_t number)
{
    *k = (Case){0};
    if (!entry_types_make(&k->types, c, entry->name))
        return false;
    Arena *arena = arena_create();
    Signature signature = signature_plain(arena, k->types.params, entry->nparams);
    Tree *trees = random_arguments(arena, &signature, (RandomCase){1, entry->name, number, 10});
    k->args = calloc((size_t)entry_arg_leaves(&k->types) + 1, sizeof *k->args);
    FUZZ_CHECK(k->args, "no memory");
    for (uint32_t i = 0; i < entry->nparams; i++) {
        tree_to_leaves(k->types.params[i], &trees[i], k->args + k->nargs);
        k->nargs += dp_type_leaves(k->types.params[i]);
    }
    arena_destroy(arena);
    return true;
}

static void free_case(Case *k)
{
    for (int s = 0; s < STAGES; s++) {
        if (k->results[s] && k->ok[s])
            dp_leaves_free(k->results[s], dp_type_leaves(k->types.result));
        free(k->results[s]);
    }
    dp_leaves_free(k->args, k->nargs);
    free(k->args);
    entry_types_free(&k->types);
}

/* ---- comparing ---- */

static bool is_decided(const Case *k, int s) { return k->ok[s] || k->error[s].kind == EVAL_AT_SITE; }

static void run_case(const Compilation *c, Case *k, int s)
{
    k->results[s] = calloc(dp_type_leaves(k->types.result), sizeof *k->results[s]);
    FUZZ_CHECK(k->results[s], "no memory");
    k->ok[s] = entry_eval(c, &k->types, k->args, k->results[s], &k->error[s]);
    FUZZ_CHECK(k->ok[s] || k->error[s].kind != EVAL_INTERNAL, "%s: %s", stage_name(stages[s]), k->error[s].text);
    if (s == 0 || !is_decided(k, 0) || !is_decided(k, s))
        return;
    const char *name = k->types.entry->name;
    FUZZ_CHECK(k->ok[s] == k->ok[0], "%s: %s on core, but %s on %s", name, k->ok[0] ? "a value" : "an error",
               k->ok[s] ? "a value" : "an error", stage_name(stages[s]));
    FUZZ_CHECK(!k->ok[s] || dp_leaves_equal(k->types.result, k->results[0], k->results[s], 0),
               "%s: another value on %s than on core", name, stage_name(stages[s]));
}

static void *run(void *argument)
{
    const Text *text = argument;
    Case cases[MAX_CASES];
    uint32_t n = 0;
    char *messages = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&messages, &length);
    Compilation *c = compilation_create("a.dp");
    c->session->messages = to;
    c->limits = limits;
    c->text = text->at;
    c->text_bytes = text->n;
    bool ok = compile_to(c, STAGE_CORE);
    for (uint32_t i = 0; ok && i < c->core->entries.n && i < ENTRIES; i++)
        for (uint32_t number = 0; number < (c->core->entries.at[i].nparams ? CASES : 1); number++)
            n += make_case(&cases[n], c, &c->core->entries.at[i], 4 * number);
    for (int s = 0; ok && n > 0 && s < STAGES; s++) {
        ok = compile_to(c, stages[s]);
        for (uint32_t i = 0; ok && i < n; i++)
            run_case(c, &cases[i], s);
    }
    for (uint32_t i = 0; i < n; i++)
        free_case(&cases[i]);
    compilation_destroy(c);
    fclose(to);
    free(messages);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Text text = {(const char *)bytes, n};
    fuzz_on_big_stack(run, &text);
    return 0;
}
