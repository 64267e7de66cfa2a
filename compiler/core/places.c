#include "core/places.h"

bool place_is_value(CoreAtom a, int64_t value) { return core_atom_equal(a, core_i64(value)); }

CoreAtom place_plus(CoreBuilder *b, CoreAtom x, CoreAtom y)
{
    if (x.is_const && y.is_const)
        return core_i64((int64_t)(x.bits + y.bits));
    return place_is_value(x, 0) ? y : place_is_value(y, 0) ? x : build_prim2(b, PRIM_ADD, x, y);
}

CoreAtom place_times(CoreBuilder *b, CoreAtom x, CoreAtom y)
{
    if (x.is_const && y.is_const)
        return core_i64((int64_t)(x.bits * y.bits));
    return place_is_value(x, 1) ? y : place_is_value(y, 1) ? x : build_prim2(b, PRIM_MUL, x, y);
}

CoreAtom place_size_plus(CoreBuilder *b, CoreAtom x, CoreAtom y)
{
    return place_is_value(x, 0) ? y : place_is_value(y, 0) ? x : build_prim2(b, PRIM_SIZE_ADD, x, y);
}

static bool add_term(CoreBuilder *b, Place *place, CoreVar counter, CoreAtom count, CoreAtom factor)
{
    for (uint32_t i = 0; i < place->n; i++)
        if (place->terms[i].counter == counter) {
            place->terms[i].factor = place_plus(b, place->terms[i].factor, factor);
            return true;
        }
    if (place->n == PLACES_TERMS)
        return false;
    place->terms[place->n++] = (struct PlaceTerm){counter, count, factor};
    return true;
}

static bool add_part(const PlaceScope *m, CoreBuilder *b, Place *place, CoreAtom value, CoreAtom factor, uint32_t depth)
{
    const CoreStmt *s = m->def(m->ctx, value);
    const CoreAtom *count = m->counted_to(m->ctx, value);
    if (m->is_outside(m->ctx, value)) {
        place->base = place_plus(b, place->base, place_times(b, value, factor));
        return true;
    }
    if (count)
        return add_term(b, place, value.var, *count, factor);
    if (!s || s->kind != CORE_PRIM || depth == 0)
        return false;
    const CoreAtom *args = s->prim.args;
    switch (s->prim.op) {
    case PRIM_ADD:
    case PRIM_SUB: {
        const CoreAtom second = s->prim.op == PRIM_ADD ? factor : place_times(b, factor, core_i64(-1));
        return add_part(m, b, place, args[0], factor, depth - 1) && add_part(m, b, place, args[1], second, depth - 1);
    }
    case PRIM_MUL:
        if (m->is_outside(m->ctx, args[1]))
            return add_part(m, b, place, args[0], place_times(b, factor, args[1]), depth - 1);
        return m->is_outside(m->ctx, args[0]) &&
               add_part(m, b, place, args[1], place_times(b, factor, args[0]), depth - 1);
    default: return false;
    }
}

bool place_add(const PlaceScope *scope, CoreBuilder *b, Place *place, CoreAtom value, CoreAtom factor)
{
    return add_part(scope, b, place, value, factor, PLACES_DEPTH);
}

bool place_of(const PlaceScope *scope, CoreBuilder *b, Place *place, CoreAtom value)
{
    *place = (Place){.base = core_i64(0)};
    return core_atom_type(b->fn, value).scalar == SC_I64 && place_add(scope, b, place, value, core_i64(1));
}

Reach place_reach(CoreBuilder *b, const Place *place)
{
    Reach r = {core_i64(0), core_i64(0)};
    for (uint32_t i = 0; i < place->n; i++) {
        const CoreAtom f = place->terms[i].factor, zero = core_i64(0);
        const CoreAtom last = place_plus(b, place->terms[i].count, core_i64(-1));
        const CoreAtom far = f.is_const ? core_i64((int64_t)f.bits < 0 ? (int64_t)-f.bits : (int64_t)f.bits)
                                        : build_prim1(b, PRIM_ABS, f);
        const CoreAtom size = place_is_value(far, 1) ? last : build_prim2(b, PRIM_SIZE_MUL, far, last);
        if (!f.is_const) {
            const CoreAtom down = build_prim2(b, PRIM_LT, f, zero);
            r.above = place_size_plus(b, r.above, build_select(b, down, zero, size));
            r.below = place_size_plus(b, r.below, build_select(b, down, size, zero));
        } else if ((int64_t)f.bits < 0) {
            r.below = place_size_plus(b, r.below, size);
        } else {
            r.above = place_size_plus(b, r.above, size);
        }
    }
    return r;
}

bool place_is_counter(const Place *place)
{
    return place->n == 1 && place_is_value(place->base, 0) && place_is_value(place->terms[0].factor, 1);
}
