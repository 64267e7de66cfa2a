#include "core/eval_budget.h"

#include "dp_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void budget_collected(EvalBudget *b, uint64_t arrays, uint64_t first_collection)
{
    b->live = b->frames + arrays;
    b->collect_at = b->live > first_collection / 2 ? 2 * b->live : first_collection;
    uint64_t room = b->live < b->limit ? b->limit - b->live : 0;
    if (b->collect_at > b->live + room / 2) /* the last room is not for what is dead */
        b->collect_at = b->live + room / 2;
}

void budget_begin(EvalBudget *b, const EvalLimits *limits, uint64_t first_collection)
{
    *b = (EvalBudget){.limit = limits && limits->bytes ? limits->bytes : EVAL_DEFAULT_BYTES};
    budget_collected(b, 0, first_collection);
    if (!limits || limits->seconds <= 0)
        return;
    b->seconds = limits->seconds;
    clock_gettime(CLOCK_MONOTONIC, &b->deadline);
    double whole = limits->seconds < 1e9 ? limits->seconds : 1e9;
    b->deadline.tv_sec += (time_t)whole;
    b->deadline.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
}

bool budget_time_is_up(const EvalBudget *b)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double left = (double)(b->deadline.tv_sec - now.tv_sec) + (double)(b->deadline.tv_nsec - now.tv_nsec) / 1e9;
    return left <= 0;
}

/* The system's zeros are for what is large: for little, calloc costs more than malloc and memset. */
void *eval_zeroed(uint64_t bytes)
{
    enum { LITTLE = 1 << 14 };
    if (bytes > LITTLE)
        return calloc(1, bytes);
    void *p = malloc(bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void eval_error_set(EvalError *error, EvalErrorKind kind, Span span, const char *text)
{
    *error = (EvalError){.kind = kind, .site = CORE_NO_SITE, .span = span};
    snprintf(error->text, sizeof error->text, "%s", text);
}

void budget_fail_memory(const EvalBudget *b, EvalError *error, Span span, uint64_t bytes, uint32_t level,
                        const char *function)
{
    char text[DP_MEMORY_TEXT + DP_LEVEL_TEXT];
    uint64_t there = b->live < b->limit ? b->limit - b->live : 0;
    bool machine = bytes <= there; /* how much it has is not known */
    dp_memory_text(text, bytes, machine ? DP_UNKNOWN_BYTES : there, b->limit);
    dp_level_text(text + strlen(text), level, function);
    eval_error_set(error, EVAL_NO_MEMORY, span, text);
    error->machine = machine;
}

void budget_fail_time(const EvalBudget *b, EvalError *error, Span span)
{
    char text[DP_MEMORY_TEXT];
    snprintf(text, sizeof text, "time limit of %g s reached", b->seconds);
    eval_error_set(error, EVAL_NO_TIME, span, text);
}
