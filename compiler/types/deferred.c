#include "types/check_internal.h"

/* Constraints that unification cannot express wait until their subject is known. They are tried when
 * made, wherever more may have become known (a let, a match, before lambdas), and at the latest when their
 * subject would be generalised; there `p in n` takes a sequence, and the others are errors. */

static bool is_open(const Type *t) { return t->kind == TY_VAR; }

/* ---- records and tuples ---- */

static void no_field(Checker *c, const Deferred *d, Type *record)
{
    diag_error(c->s, d->span, DIAG_NO_FIELD, "%s has no field `%s`", describe_type(c, d->subject), d->name);
    note_known_names(c, record, d->name);
    if (d->kind == DEFER_SET_FIELD && d->from->kind == E_UPDATE_FIELD)
        note_update_of_whole(c, d->from, d->name);
}

static bool try_field(Checker *c, const Deferred *d, Type *t)
{
    if (is_open(t))
        return false;
    if (t->kind != TY_RECORD) {
        if (t->kind != TY_ERROR) {
            diag_error(c->s, d->subject_span, DIAG_NOT_A_RECORD, "expected a record with a field `%s`, found %s",
                       d->name, describe_type(c, t));
            if (d->kind == DEFER_SET_FIELD && t->kind == TY_ARRAY)
                note_set_in_sequence(c, t, d->name);
            else
                note_no_fields(c, t, d->from, d->name);
            note_origin(c, d->from);
        }
        unify(c, d->result, c->error);
        return true;
    }
    for (uint32_t i = 0; i < t->record.n; i++) {
        if (t->record.names[i] != d->name)
            continue;
        Type *field = t->record.items[i];
        if (d->kind == DEFER_SET_FIELD)
            expect(c, d->value_span, field, d->result, NULL);
        else
            expect(c, d->span, d->result, field, NULL);
        return true;
    }
    no_field(c, d, t);
    unify(c, d->result, c->error);
    return true;
}

static bool try_project(Checker *c, const Deferred *d, Type *t)
{
    if (is_open(t))
        return false;
    if (t->kind == TY_TUPLE && d->index < t->tuple.n) {
        expect(c, d->span, d->result, t->tuple.items[d->index], NULL);
        return true;
    }
    if (t->kind == TY_TUPLE) {
        diag_error(c->s, d->span, DIAG_NO_COMPONENT, "%s has no component %u: the first is 0", describe_type(c, t),
                   d->index);
    } else if (t->kind != TY_ERROR) {
        diag_error(c->s, d->subject_span, DIAG_NOT_A_TUPLE, "expected a tuple, found %s", describe_type(c, t));
        if (t->kind == TY_ARRAY)
            diag_note_text(c->s, "an element of a sequence is `xs[%u]`", d->index);
        note_origin(c, d->from);
    }
    unify(c, d->result, c->error);
    return true;
}

/* ---- p in xs, p in n ---- */

static void no_domain(Checker *c, const Deferred *d)
{
    diag_error(c->s, d->span, DIAG_NOT_A_SEQUENCE, "expected a sequence or an integer, found %s",
               describe_type(c, d->subject));
    note_origin(c, d->from);
}

static bool try_each(Checker *c, const Deferred *d, Type *t)
{
    if (t->kind == TY_VAR && t->var.cls == CLASS_ANY)
        return false;
    if (t->kind == TY_ARRAY) {
        expect(c, d->span, d->result, t->element, NULL);
    } else if (t->kind != TY_ERROR && constrain(c, t, CLASS_INT)) {
        expect(c, d->span, d->result, t, NULL); /* 0 ..< n, of n's type */
    } else {
        if (t->kind != TY_ERROR)
            no_domain(c, d);
        unify(c, d->result, c->error);
    }
    return true;
}

/* ---- constructors ---- */

static bool ctor_payload(Checker *c, const Deferred *d, Type *payload)
{
    if (payload && d->result)
        return expect(c, d->value_span, payload, d->result, NULL);
    if (payload)
        diag_error(c->s, d->span, DIAG_CONSTRUCTOR_VALUE, "constructor `#%s` needs a value of type %s", d->name,
                   describe_type(c, payload));
    else if (d->result)
        diag_error(c->s, d->span, DIAG_CONSTRUCTOR_VALUE, "constructor `#%s` takes no value", d->name);
    else
        return true;
    const TypeAlias *alias = type_prune(d->subject)->alias;
    if (alias && !c->s->files.at[alias->def->span.file]->is_stdlib)
        diag_note(c->s, alias->def->name_span, "the type is declared here");
    return false;
}

static void no_constructor(Checker *c, const Deferred *d, Type *t)
{
    diag_error(c->s, d->span, DIAG_NO_CONSTRUCTOR, "%s has no constructor `#%s`", describe_type(c, t), d->name);
    note_known_names(c, t, d->name);
}

static bool try_ctor(Checker *c, const Deferred *d, Type *t)
{
    if (is_open(t) && !t->var.declared && t->var.cls <= CLASS_ORD)
        return false;
    bool good = t->kind == TY_ERROR;
    if (t->kind == TY_SUM) {
        uint32_t i = 0;
        while (i < t->record.n && t->record.names[i] != d->name)
            i++;
        if (i < t->record.n)
            good = ctor_payload(c, d, t->record.items[i]);
        else
            no_constructor(c, d, t);
    } else if (!good) {
        diag_error(c->s, d->span, DIAG_NOT_A_SUM, "expected %s, found a value of a sum type", describe_type(c, t));
    }
    if ((!good || t->kind == TY_ERROR) && d->result)
        unify(c, d->result, c->error);
    return true;
}

/* ---- the list ---- */

static bool try_deferred(Checker *c, const Deferred *d)
{
    Type *t = type_prune(d->subject);
    switch (d->kind) {
    case DEFER_FIELD:
    case DEFER_SET_FIELD: return try_field(c, d, t);
    case DEFER_PROJECT: return try_project(c, d, t);
    case DEFER_EACH: return try_each(c, d, t);
    case DEFER_CTOR: return try_ctor(c, d, t);
    }
    return true;
}

/* What depends on an outer function's type is not to be generalised by an inner one. */
static void tie_level(const Deferred *d)
{
    const Type *t = type_prune(d->subject);
    if (t->kind == TY_VAR && d->result)
        lower_levels(d->result, t->var.level);
}

void defer(Checker *c, Deferred d)
{
    if (try_deferred(c, &d))
        return;
    tie_level(&d);
    vec_push(c->arena, &c->deferred, d);
}

void solve_deferred(Checker *c)
{
    bool progress = c->deferred.n > 0;
    while (progress) {
        uint32_t kept = 0, n = c->deferred.n;
        for (uint32_t i = 0; i < n; i++) {
            Deferred d = c->deferred.at[i];
            if (!try_deferred(c, &d))
                c->deferred.at[kept++] = d;
        }
        c->deferred.n = kept;
        progress = kept > 0 && kept < n;
    }
}

static void decide(Checker *c, const Deferred *d)
{
    if (d->kind == DEFER_EACH) {
        if (!unify(c, d->subject, type_array(c->arena, d->result)))
            no_domain(c, d);
        return;
    }
    if (d->kind == DEFER_CTOR) {
        diag_error(c->s, d->span, DIAG_TYPE_UNKNOWN, "the sum type of `#%s` is not known here; annotate it", d->name);
        Suggestion g = suggest_ctor(c, d->name);
        if (is_ctor(c, d->name))
            diag_note_text(c->s, "several declared types have `#%s`: `(#%s ... : t)`", d->name, d->name);
        else if (g.best)
            diag_note_text(c->s, "did you mean `#%s`?", g.best);
        else
            diag_note_text(c->s, "no declared type has `#%s`", d->name);
    } else {
        diag_error(c->s, d->subject_span, DIAG_TYPE_UNKNOWN, "the type of this is not known here; annotate it");
        bool of_accessor = c->s->files.at[d->from->span.file]->text[d->from->span.start] == '.';
        if (of_accessor)
            diag_note_text(c->s, "a function can say it: `\\(r: t) -> r...`");
        else if (d->from->kind == E_NAME)
            diag_note_text(c->s, "where it is bound: `(%s: t)`", d->from->name);
        note_origin(c, d->from);
    }
    unify(c, d->subject, c->error);
    if (d->result)
        unify(c, d->result, c->error);
}

/* The first that has to be decided now, sequences before errors: they may be what the others wait for. */
static uint32_t next_to_force(const Checker *c, uint32_t level)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < c->deferred.n; i++) {
        const Deferred *d = &c->deferred.at[i];
        if (type_prune(d->subject)->var.level <= level)
            continue;
        if (d->kind == DEFER_EACH)
            return i;
        if (found == UINT32_MAX)
            found = i;
    }
    return found;
}

void force_deferred(Checker *c, uint32_t level)
{
    for (;;) {
        solve_deferred(c); /* from here on all subjects are variables */
        for (uint32_t i = 0; i < c->deferred.n; i++)
            tie_level(&c->deferred.at[i]);
        uint32_t i = next_to_force(c, level);
        if (i == UINT32_MAX)
            return;
        Deferred d = c->deferred.at[i];
        for (uint32_t j = i + 1; j < c->deferred.n; j++)
            c->deferred.at[j - 1] = c->deferred.at[j];
        c->deferred.n--;
        decide(c, &d);
    }
}
