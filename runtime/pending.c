/* Numbers that the host waits for: begun by what makes them, awaited together.
 *
 * The mailbox begins with DP_OWN_WORDS words of operations that look at once. Behind them each that is begun gets words
 * of its own; when all have been awaited, they are given anew. So a word stays as it is until it is awaited, however
 * often the host looks meanwhile. */
#include "internal.h"

#include <string.h>

static DpPending pending_new(DpRt *rt, uint32_t words, Pending p)
{
    Mail *m = &rt->mail;
    if (dp_failed(rt))
        return 0;
    if (m->open == 0)
        m->used = DP_OWN_WORDS;
    if (m->used + words > DP_MAILBOX_WORDS) { /* plan_check has counted */
        dp_rt_fail(rt, EXIT_DEVICE, "more than %d numbers are waited for", DP_MOST_PENDING);
        return 0;
    }
    DpPending number = m->used;
    m->at[number] = p;
    m->used += words;
    m->open++;
    return number;
}

/* A look brings what has been launched before it. It may come between the beginning and the launch, when the heap is
 * full and blocks are made. */
#define NOT_LAUNCHED UINT64_MAX

/* Packs that nobody waits for leave the words to what is. */
static void make_room(DpRt *rt)
{
    const Mail *m = &rt->mail;
    if (rt->unsettled.n && m->open == rt->unsettled.packs && m->used > DP_OWN_WORDS + DP_UNSETTLED_WORDS)
        dp_rt_look(rt);
}

DpPending dp_pending_begin(DpRt *rt, uint32_t words)
{
    make_room(rt);
    return pending_new(rt, words, (Pending){.begun = NOT_LAUNCHED});
}

void dp_pending_launched(DpRt *rt, DpPending p)
{
    if (p && rt->mail.at[p].begun)
        rt->mail.at[p].begun = ++rt->mail.begun;
}

DpPending dp_pending_known(DpRt *rt, uint64_t number)
{
    make_room(rt);
    return pending_new(rt, 1, (Pending){.known = {number, 0}});
}

uint64_t dp_pending_mail(const DpRt *rt, DpPending p)
{
    return rt->mail.at[p].begun ? DP_MAILBOX + 8 * (uint64_t)p : 0;
}

const uint64_t *dp_pending_read(DpRt *rt, DpPending p)
{
    static const uint64_t none[DP_MAX_OUTS] = {0};
    const Pending *pending = &rt->mail.at[p];
    if (p == 0)
        return none;
    if (pending->begun > rt->mail.arrived)
        dp_rt_look(rt);
    return dp_failed(rt) ? none : pending->begun ? rt->look + DP_MAILBOX / 8 + p : pending->known;
}

void dp_pending_end(DpRt *rt, DpPending p) { rt->mail.open -= p != 0; }

const uint64_t *dp_pending_await(DpRt *rt, DpPending p)
{
    const uint64_t *words = dp_pending_read(rt, p);
    dp_pending_end(rt, p);
    return words;
}

/* ---- elements ---- */
/* addr: 0 if out of range; then a kernel has reported why, and the host has to see that. It is read when it is awaited,
 * and its array kept as it is until then. */
static DpPending begin_element(DpRt *rt, const DpArr *a, uint64_t addr)
{
    DpPending p = dp_pending_begin(rt, 1);
    if (p) {
        dp_pending_launched(rt, p);
        rt->mail.at[p].is_element = true;
        rt->mail.at[p].array = dp_arr_retain(*a);
        rt->mail.at[p].addr = addr;
    }
    return p;
}

/* Zeros where there is none. Its array, to be released. */
static DpArr await_element(DpRt *rt, DpPending p, void *to, uint32_t bytes)
{
    const uint64_t *known = dp_pending_await(rt, p);
    const Pending *e = &rt->mail.at[p];
    if (p == 0)
        return (DpArr){0, 0, NULL};
    if (!e->is_element)
        memcpy(to, known, bytes);
    else if (e->addr)
        dp_rt_fetch(rt, e->addr, to, bytes);
    return e->array;
}

DpPending dp_begin_read(DpRt *rt, const DpArr *a, uint64_t index, DpScalar scalar)
{
    return begin_element(rt, a, index < a->len ? a->addr + index * dp_scalar_bytes(scalar) : 0);
}

/* Element k of an array of equally long rows, one behind the other, need not be looked at. */
static bool known_view(const DpArr *a, uint64_t k, uint64_t view[2])
{
    const DpBlock *b = a->refs && a->refs->n == 1 ? a->refs->blocks[0] : NULL;
    if (!b || !b->contig.offsets.stride)
        return false;
    uint64_t at = (a->addr - b->addr) / 16 + k, length = offsets_length(b->contig.offsets);
    view[0] = length;
    view[1] = b->contig.base + at * length * b->contig.bytes;
    return true;
}

DpPending dp_begin_read_view(DpRt *rt, const DpArr *a, uint64_t index)
{
    uint64_t view[2];
    if (index >= a->len)
        return begin_element(rt, a, 0);
    if (!known_view(a, index, view))
        return begin_element(rt, a, dp_arr_addr(rt, a) + 16 * index);
    DpPending p = dp_pending_known(rt, view[0]);
    if (p) {
        rt->mail.at[p].known[1] = view[1];
        rt->mail.at[p].array = dp_arr_retain(*a);
    }
    return p;
}

DpArr dp_await_view(DpRt *rt, DpPending p)
{
    uint64_t view[2] = {0, 0};
    DpArr out = {0, 0, NULL}, of = await_element(rt, p, view, sizeof view);
    if (view[0] != 0) {
        DpRefs *all = dp_refs_of_arr(rt, &of, 1);
        out = dp_arr_of_block(rt, dp_block_retain(dp_refs_owner(rt, all, view[1])), view[0]);
        dp_refs_release(rt, all);
        out.addr = out.refs ? view[1] : 0;
    }
    dp_arr_release(rt, &of);
    return out;
}

/* ---- scalars ---- */
void dp_await_scalars(DpRt *rt, DpPending p, uint32_t n, const uint8_t *scalars, uint64_t *bits)
{
    if (rt->mail.at[p].is_element) {
        uint64_t element = 0;
        DpArr of = await_element(rt, p, &element, dp_scalar_bytes((DpScalar)scalars[0]));
        bits[0] = dp_scalar_load((DpScalar)scalars[0], &element, 0);
        dp_arr_release(rt, &of);
        return;
    }
    const uint64_t *from = dp_pending_await(rt, p);
    for (uint32_t i = 0; i < n; i++)
        bits[i] = dp_scalar_load((DpScalar)scalars[i], &from[i], 0);
}
