/* `dpc test --exercise`: the tests of a course's exercises. They say what is wrong without saying what is right: the
 * input, what the program made of it, where that is wrong, and the hint that the exercise's author left. */
#include "testing/test_run.h"

#include "testing/value_diff.h"

#include <string.h>

enum { VALUE_SHOWN = 300 };

/* Whether the result differs from what is expected; appends where. */
static bool find_difference(StrBuf *place, const Subject *s, const Input *input, const Outcome *o)
{
    Arena *scratch = arena_create();
    Tree got = tree_of_leaves(scratch, s->types.result, o->leaves);
    Tree expected = tree_of_leaves(scratch, s->types.result, input->expected);
    bool differs = value_diff_place(place, s->types.result, &expected, &got);
    arena_destroy(scratch);
    return differs;
}

/* Appends what is wrong; false if nothing is. */
static bool say_mistake(StrBuf *text, const Subject *s, const Input *input, const Outcome *o)
{
    StrBuf place = {0};
    bool wrong;
    if (!o->ok) {
        wrong = !(input->from->error && o->expectable && strstr(outcome_message(o), input->from->error));
        strbuf_printf(text, "your program ends with %s", o->error.text ? o->error.text : "no result");
    } else {
        wrong = !input->expected || find_difference(&place, s, input, o);
        strbuf_add(text, "your program gives ");
        print_result(text, s, o->leaves, VALUE_SHOWN);
        strbuf_add(text, input->expected ? ", which is wrong" : ", and should have ended with an error");
        strbuf_printf(text, "%s%s", place.n ? " " : "", place.n ? place.text : "");
    }
    strbuf_free(&place);
    return wrong;
}

void judge_exercise(TestRun *t, Subject *s, Input *input, int evaluator, const Outcome *o)
{
    StrBuf text = {0};
    strbuf_add(&text, "  ");
    if (s->types.entry->nparams) {
        strbuf_add(&text, "with ");
        print_arguments(&text, s, input->args, VALUE_SHOWN);
        strbuf_add(&text, " ");
    }
    bool wrong = say_mistake(&text, s, input, o);
    strbuf_add(&text, "\n");
    if (input->from->hint)
        strbuf_printf(&text, "  hint: %s\n", input->from->hint);
    if (wrong)
        add_failure(t, &input->failures, evaluator, text.text);
    strbuf_free(&text);
}

void report_exercise(const TestRun *t, const Subject *s, TestCounts *counts)
{
    uint32_t right = 0;
    const Input *first = NULL;
    for (uint32_t i = 0; i < s->ninputs; i++) {
        bool wrong = s->inputs[i].failures.n > 0;
        right += !wrong;
        first = wrong && !first ? &s->inputs[i] : first;
    }
    counts->passed += right;
    counts->failed += s->ninputs - right;
    printf("%s: %s: %u of %u case%s right\n", t->c->path, s->block->name, right, s->ninputs,
           s->ninputs == 1 ? " is" : "s are");
    if (first)
        printf("%s", first->failures.at[0].text);
}
