#include "types/check_internal.h"

/* Patterns are checked against the type of what they take apart. */

bool pat_has_type(const Pat *p)
{
    switch (p->kind) {
    case PAT_NAME:
    case PAT_WILD:
    case PAT_LITERAL: return false;
    case PAT_ASCRIBE: return true;
    case PAT_TUPLE:
        for (uint32_t i = 0; i < p->tuple.n; i++) {
            if (pat_has_type(p->tuple.items[i]))
                return true;
        }
        return false;
    case PAT_RECORD:
        for (uint32_t i = 0; i < p->record.n; i++) {
            if (pat_has_type(p->record.fields[i].pat))
                return true;
        }
        return false;
    case PAT_CTOR: return p->ctor.arg && pat_has_type(p->ctor.arg);
    }
    return false;
}

static void pat_mismatch(Checker *c, const Pat *p, Type *pattern, Type *value)
{
    if (mentions_error(pattern) || mentions_error(value))
        return;
    const char *wanted, *got;
    describe_pair(c, pattern, value, &wanted, &got);
    diag_error(c->s, p->span, DIAG_PATTERN_TYPE, "this pattern is for %s, but the value is %s", wanted, got);
    note_names(c, value, pattern);
    note_alias(c, value, pattern);
}

static void infer_tuple_pat(Checker *c, Pat *p, Type *expected)
{
    uint32_t n = p->tuple.n;
    Type *known = type_prune(expected);
    Type **items;
    if (known->kind == TY_TUPLE && known->tuple.n == n) {
        items = known->tuple.items;
    } else {
        items = arena_array(c->arena, Type *, n);
        for (uint32_t i = 0; i < n; i++)
            items[i] = new_var(c, CLASS_ANY);
        Type *pattern = type_tuple(c->arena, items, n);
        if (!unify(c, expected, pattern))
            pat_mismatch(c, p, pattern, expected);
        if (known->kind != TY_VAR) { /* no messages about the parts */
            for (uint32_t i = 0; i < n; i++)
                items[i] = c->error;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        infer_pat(c, p->tuple.items[i], items[i]);
}

static void infer_record_pat(Checker *c, Pat *p, Type *expected)
{
    uint32_t n = p->record.n;
    Name *names = arena_array(c->arena, Name, n);
    Span *spans = arena_array(c->arena, Span, n);
    Type **items = arena_array(c->arena, Type *, n);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = p->record.fields[i].name;
        spans[i] = p->record.fields[i].span;
        items[i] = new_var(c, CLASS_ANY);
    }
    Type *pattern = named_type(c, TY_RECORD, names, spans, items, n);
    bool good = unify(c, expected, pattern);
    if (!good)
        pat_mismatch(c, p, pattern, expected);
    for (uint32_t i = 0; i < n; i++)
        infer_pat(c, p->record.fields[i].pat, good ? items[i] : c->error);
}

static void infer_literal_pat(Checker *c, Pat *p, Type *expected)
{
    Type *t = infer(c, p->literal, NULL);
    if (!unify(c, expected, t))
        pat_mismatch(c, p, t, expected);
}

static void infer_ctor_pat(Checker *c, Pat *p, Type *expected)
{
    Type *payload = p->ctor.arg ? new_var(c, CLASS_ANY) : NULL;
    if (type_prune(expected)->kind == TY_VAR) {
        Type *sum = sum_with_ctor(c, p->ctor.name);
        if (sum && !unify(c, expected, sum))
            pat_mismatch(c, p, sum, expected);
    }
    defer(c, (Deferred){
                 .kind = DEFER_CTOR, .span = p->span, .subject = expected, .result = payload, .name = p->ctor.name});
    if (payload)
        infer_pat(c, p->ctor.arg, payload);
}

void infer_pat(Checker *c, Pat *p, Type *expected)
{
    c->out->pat_types[p->id] = expected;
    switch (p->kind) {
    case PAT_NAME:
    case PAT_WILD: return;
    case PAT_TUPLE: infer_tuple_pat(c, p, expected); return;
    case PAT_RECORD: infer_record_pat(c, p, expected); return;
    case PAT_ASCRIBE: {
        Type *t = convert_type(c, p->ascribe.type);
        if (!unify(c, t, expected))
            pat_mismatch(c, p, t, expected);
        infer_pat(c, p->ascribe.pat, t);
        return;
    }
    case PAT_LITERAL: infer_literal_pat(c, p, expected); return;
    case PAT_CTOR: infer_ctor_pat(c, p, expected); return;
    }
}
