#include "types/check_internal.h"

/* Tuples, records, sequences, constructors, and access to their parts. */

Type *infer_tuple(Checker *c, Expr *e, Type *hint)
{
    uint32_t n = e->items.n;
    Type *wanted = hint ? type_prune(hint) : NULL;
    bool known = wanted && wanted->kind == TY_TUPLE && wanted->tuple.n == n;
    Type **items = arena_array(c->arena, Type *, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = infer(c, e->items.items[i], known ? wanted->tuple.items[i] : NULL);
    Type *t = type_tuple(c->arena, items, n);
    return too_large(c, e->span, t) ? c->error : t;
}

Type *field_type(const Type *record, Name name)
{
    for (uint32_t i = 0; i < record->record.n; i++) {
        if (record->record.names[i] == name)
            return record->record.items[i];
    }
    return NULL;
}

Type *infer_record(Checker *c, Expr *e, Type *hint)
{
    uint32_t n = e->record.n;
    Type *wanted = hint ? type_prune(hint) : NULL;
    Name *names = arena_array(c->arena, Name, n);
    Span *spans = arena_array(c->arena, Span, n);
    Type **items = arena_array(c->arena, Type *, n);
    for (uint32_t i = 0; i < n; i++) {
        const ExprField *f = &e->record.fields[i];
        names[i] = f->name;
        spans[i] = f->span;
        items[i] = infer(c, f->value, wanted && wanted->kind == TY_RECORD ? field_type(wanted, f->name) : NULL);
    }
    Type *t = named_type(c, TY_RECORD, names, spans, items, n);
    return too_large(c, e->span, t) ? c->error : t;
}

Type *infer_array(Checker *c, Expr *e, Type *hint)
{
    Type *wanted = hint ? type_prune(hint) : NULL;
    Type *element = NULL;
    Why why = {.kind = WHY_NONE};
    uint32_t errors = c->s->error_count;
    for (uint32_t i = 0; i < e->items.n; i++) {
        Expr *item = e->items.items[i];
        if (element) {
            check(c, item, element, &why);
            if (c->s->error_count != errors) /* one message is enough */
                element = c->error;
        } else {
            element = infer(c, item, wanted && wanted->kind == TY_ARRAY ? wanted->element : NULL);
            why = (Why){.kind = WHY_ELEMENT, .span = item->span, .type = element};
        }
    }
    if (!element)
        element = new_var(c, CLASS_ANY);
    add_data_use(c, DATA_ELEMENT, e->items.n ? e->items.items[0]->span : e->span, element);
    return type_array(c->arena, element);
}

/* The context decides which sum; without one, the only declared type with this constructor. */
Type *infer_ctor(Checker *c, Expr *e, Type *hint)
{
    Type *sum = hint ? type_prune(hint) : NULL;
    if (!sum || sum->kind != TY_SUM)
        sum = sum_with_ctor(c, e->ctor.name);
    if (!sum)
        sum = new_var(c, CLASS_ANY);
    Type *payload = NULL;
    if (e->ctor.arg) {
        Type *wanted = sum->kind == TY_SUM ? field_type(sum, e->ctor.name) : NULL;
        payload = infer(c, e->ctor.arg, wanted);
    }
    defer(c, (Deferred){.kind = DEFER_CTOR,
                        .span = e->span,
                        .value_span = e->ctor.arg ? e->ctor.arg->span : e->span,
                        .subject = sum,
                        .result = payload,
                        .name = e->ctor.name});
    return sum;
}

/* ---- indexing ---- */

Type *element_of(Checker *c, const Expr *array, Type *t)
{
    Type *element = new_var(c, CLASS_ANY);
    if (unify(c, t, type_array(c->arena, element)))
        return has_error(t) ? c->error : element;
    if (mentions_error(t))
        return c->error;
    diag_error(c->s, array->span, DIAG_NOT_A_SEQUENCE, "expected a sequence, found %s", describe_type(c, t));
    note_no_sequence(c, array, t);
    return c->error;
}

static void check_index(Checker *c, Expr *index)
{
    if (!index)
        return;
    Type *t = infer(c, index, NULL);
    uint32_t errors = c->s->error_count;
    if (!expect_class(c, index->span, CLASS_INT, t) && c->s->error_count != errors)
        note_index_conversion(c, index, t);
}

Type *infer_index(Checker *c, Expr *e)
{
    Type *t = infer(c, e->index.array, NULL);
    Type *element = element_of(c, e->index.array, t);
    uint32_t errors = c->s->error_count;
    check_index(c, e->index.index);
    return c->s->error_count == errors ? element : c->error;
}

Type *infer_slice(Checker *c, Expr *e)
{
    Type *t = infer(c, e->slice.array, NULL);
    Type *element = element_of(c, e->slice.array, t);
    check_index(c, e->slice.from);
    check_index(c, e->slice.to);
    return has_error(element) ? element : t;
}

Type *infer_update_index(Checker *c, Expr *e, Type *hint)
{
    Type *t = infer(c, e->update_index.array, hint);
    Type *element = element_of(c, e->update_index.array, t);
    check_index(c, e->update_index.index);
    check(c, e->update_index.value, element, NULL);
    return has_error(element) ? element : t;
}

/* The value has the type of the part that it replaces. */
Type *infer_update_part(Checker *c, Expr *e)
{
    Type *part = infer(c, e->update_part.part, NULL);
    solve_deferred(c);
    check(c, e->update_part.value, part, NULL);
    return has_error(part) ? part : c->out->expr_types[e->update_part.whole->id];
}

/* ---- fields and components ---- */

Type *infer_field(Checker *c, Expr *e)
{
    if (c->out->refs[e->id].kind != REF_NONE) /* M.x */
        return infer_name(c, e);
    Type *result = new_var(c, CLASS_ANY);
    Type *t = infer(c, e->field.value, NULL);
    defer(c, (Deferred){.kind = DEFER_FIELD,
                        .span = e->field.name_span,
                        .subject_span = e->field.value->span,
                        .from = e->field.value,
                        .subject = t,
                        .result = result,
                        .name = e->field.name});
    return result;
}

Type *infer_project(Checker *c, Expr *e)
{
    Type *result = new_var(c, CLASS_ANY);
    Type *t = infer(c, e->project.value, NULL);
    defer(c, (Deferred){.kind = DEFER_PROJECT,
                        .span = e->span,
                        .subject_span = e->project.value->span,
                        .from = e->project.value,
                        .subject = t,
                        .result = result,
                        .index = e->project.index});
    return result;
}

Type *infer_update_field(Checker *c, Expr *e, Type *hint)
{
    Type *t = infer(c, e->update_field.record, hint);
    Type *record = type_prune(t);
    Type *wanted = record->kind == TY_RECORD ? field_type(record, e->update_field.name) : NULL;
    Type *value = infer(c, e->update_field.value, wanted);
    defer(c, (Deferred){.kind = DEFER_SET_FIELD,
                        .span = e->update_field.name_span,
                        .subject_span = e->update_field.record->span,
                        .from = e->update_field.record,
                        .value_span = e->update_field.value->span,
                        .subject = t,
                        .result = value,
                        .name = e->update_field.name});
    return t;
}
