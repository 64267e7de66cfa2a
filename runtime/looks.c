/* While loops whose condition hangs on what a round reduces, and the rounds on nothing that the host waits for
 * (compiler/core/look_ahead.c): several rounds are begun before the host looks at what they have reduced.
 *
 * Until it looks, the host keeps the states that rounds began with. Then it computes the condition of each, in order.
 * The first for which it does not hold is the result: what was computed behind it is dropped. If anything has failed,
 * nobody knows in which round: then the state comes back that was the last to be looked at before, and from there on
 * the host looks in every round, so that only what counts can fail. Nothing that is kept is written over in place.
 *
 * How many rounds are begun grows with those that were executed: at most a fifth of all are for nothing. Where rounds
 * have much to do, waiting costs little beside, and the host looks in each. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { PART_AHEAD = 4, PART_OF_FREE = 8 };

/* A variable of a state. */
struct Looked {
    DpArr arr;
    uint64_t bits; /* a scalar, as in memory, unless it is pending: */
    DpPending late;
    uint32_t word;
    bool ends; /* the last one that reads `late` */
};

static Looked *state(const Looks *l, uint32_t slot) { return &l->kept[(size_t)slot * l->nstate]; }

static void forget_state(DpRt *rt, Looked *s)
{
    for (uint32_t i = 0; i < rt->looks.nstate; i++) {
        dp_arr_release(rt, &s[i].arr);
        if (s[i].ends)
            dp_pending_end(rt, s[i].late);
        s[i] = (Looked){.bits = 0};
    }
}

/* The states from this one on. */
static void forget(DpRt *rt, uint32_t from)
{
    Looks *l = &rt->looks;
    for (uint32_t i = from; i < l->nkept; i++)
        forget_state(rt, state(l, i));
    l->nkept = from < l->nkept ? from : l->nkept;
}

void dp_looks_close(DpRt *rt)
{
    free(rt->looks.kept);
    rt->looks = (Looks){.kept = NULL};
}

void dp_looks(DpRt *rt, uint32_t nstate)
{
    const uint64_t most = dp_param(rt, PARAM_LOOP_LOOKS);
    dp_looks_close(rt);
    rt->looks = (Looks){.nstate = nstate, .most = most};
    rt->looks.kept = calloc((size_t)(most + 2) * nstate + 1, sizeof *rt->looks.kept);
    if (!rt->looks.kept)
        dp_rt_fail_host_memory(rt, (size_t)(most + 2) * nstate * sizeof *rt->looks.kept);
}

void dp_late(DpRt *rt, DpPending p, uint32_t n, const uint8_t *states)
{
    Looks *l = &rt->looks;
    Looked *s = l->kept ? state(l, l->nkept) : NULL;
    for (uint32_t i = 0; s && i < n; i += 2) {
        s[states[i]].late = p;
        s[states[i]].word = states[i + 1];
        s[states[i]].ends = i + 2 == n;
    }
}

/* ---- whether to look ---- */

/* For one more round: in the heap, and words of the mailbox, of which a round takes as many as others. */
static bool has_room(const DpRt *rt)
{
    const Looks *l = &rt->looks;
    const uint64_t used = rt->heap.used, words = (rt->mail.used - DP_OWN_WORDS) / l->begun + 1;
    return rt->mail.used + 2 * words <= DP_MAILBOX_WORDS &&
           (used <= l->used || used - l->used <= (rt->heap.limit - l->used) / PART_OF_FREE);
}

bool dp_look(DpRt *rt)
{
    Looks *l = &rt->looks;
    l->looking = dp_failed(rt) || l->begun >= l->budget || !has_room(rt);
    l->nkept += l->kept != NULL;
    l->next = l->known;
    l->asked = l->restores = false;
    l->goes = true;
    l->begun += !l->looking;
    return true;
}

void dp_keep(DpRt *rt, uint32_t i, DpScalar scalar, const void *value)
{
    const Looks *l = &rt->looks;
    Looked *s = l->kept ? &state(l, l->nkept - 1)[i] : NULL;
    if (s && !s->late)
        memcpy(&s->bits, value, dp_scalar_bytes(scalar));
}

void dp_keep_arr(DpRt *rt, uint32_t i, const DpArr *a)
{
    const Looks *l = &rt->looks;
    if (l->kept && l->most > 1)
        state(l, l->nkept - 1)[i].arr = dp_arr_retain(*a);
}

/* ---- looking ---- */

/* The host has looked at all states, and goes on with this one: how many rounds are begun now? */
static void go_on(DpRt *rt, uint32_t slot)
{
    Looks *l = &rt->looks;
    const uint64_t round = l->begun ? rt->work / l->begun : 0;
    l->executed += l->begun;
    l->budget = round > dp_param(rt, PARAM_LOOKS_WORK) ? 1 : l->executed / PART_AHEAD + 1;
    l->budget = l->budget < l->most ? l->budget : l->most;
    l->begun = 1;
    l->used = rt->heap.used;
    l->known = l->budget > 1;
    rt->work = 0;
    for (uint32_t i = 0; slot > 0 && i < l->nstate; i++) {
        const Looked first = state(l, 0)[i];
        state(l, 0)[i] = state(l, slot)[i];
        state(l, slot)[i] = first;
    }
    forget(rt, l->known);
}

/* What has failed may be behind the loop's end: the first state comes back. */
static bool begin_again(DpRt *rt)
{
    Looks *l = &rt->looks;
    if (!l->kept || !l->known || !dp_rt_recover(rt)) {
        l->goes = false;
        return false;
    }
    forget(rt, 1);
    l->most = 1;
    l->begun = l->next = 0;
    l->asked = l->known = false;
    l->restores = true;
    return dp_look_next(rt, true);
}

bool dp_look_next(DpRt *rt, bool goes)
{
    Looks *l = &rt->looks;
    if (!l->looking)
        return false;
    if (dp_failed(rt))
        return begin_again(rt);
    l->goes = !l->asked || goes;
    l->asked = true;
    if (l->goes && l->next < l->nkept) {
        l->next++;
        return true;
    }
    l->restores |= l->next < l->nkept;
    return false;
}

void dp_looked(DpRt *rt, uint32_t n, const uint8_t *scalars, const uint8_t *states, uint64_t *bits)
{
    const Looks *l = &rt->looks;
    Looked *s = l->kept ? state(l, l->next - 1) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        Looked *v = s ? &s[states[i]] : NULL;
        if (v && v->late)
            v->bits = dp_pending_read(rt, v->late)[v->word];
        bits[i] = v ? dp_scalar_load((DpScalar)scalars[i], &v->bits, 0) : 0;
    }
    for (uint32_t i = 0; s && i < l->nstate; i++) {
        if (s[i].ends)
            dp_pending_end(rt, s[i].late);
        s[i].late = 0;
        s[i].ends = false;
    }
}

void dp_looked_arr(DpRt *rt, uint32_t i, DpArr *a)
{
    const Looks *l = &rt->looks;
    if (!l->restores)
        return;
    dp_arr_release(rt, a);
    *a = dp_arr_retain(state(l, l->next - 1)[i].arr);
}

bool dp_look_goes(DpRt *rt)
{
    Looks *l = &rt->looks;
    if (!l->goes)
        forget(rt, 0);
    else if (l->looking && l->kept)
        go_on(rt, l->next - 1);
    return l->goes;
}
