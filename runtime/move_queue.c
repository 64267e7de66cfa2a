/* Moves that wait for others.
 *
 * A level of a recursion or a round of a loop selects, merges and joins many small columns; a launch for each costs
 * more than the moves themselves. So they wait in a queue, and go to the device as one launch (kernels/moves.cl) when
 *   - one comes that reads or writes what another one of them writes,
 *   - the queue is full,
 *   - anything else is begun that reads or writes the heap: another kernel, a copy between host and device.
 * Looks at the mailbox are no reason.
 *
 * The memory that they use stays: a block that is freed meanwhile waits, too. So nothing that is allocated later lies
 * where they read or write. */
#include "internal.h"

/* ---- what depends on what ---- */
static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static bool within(uint64_t word, uint64_t start, uint64_t bytes)
{
    return word && !(word & DP_REGULAR) && word >= start && word < start + bytes;
}

/* Does m read what lies there? Paths and offsets are read as whole blocks, and written so. */
static bool reads(const Move *m, uint64_t start, uint64_t bytes)
{
    return within(m->to, start, bytes) || within(m->then, start, bytes) || within(m->from, start, bytes) ||
           within(m->offsets, start, bytes) ||
           (m->kind == MOVE_ELEMENTS ? overlap(m->src, m->read, start, bytes)
                                     : m->kind == MOVE_OFFSETS && within(m->src, start, bytes));
}

/* The parts of a context are put into one column side by side. */
static bool writes_beside(const Move *a, const Move *b)
{
    return a->dst == b->dst && (a->to | a->then) && (b->to | b->then);
}

static bool depends(const Move *m, const Move *on)
{
    return reads(m, on->dst, on->written) || reads(on, m->dst, m->written) ||
           (overlap(m->dst, m->written, on->dst, on->written) && !writes_beside(m, on));
}

/* ---- the queue ---- */
static void free_kept(DpRt *rt)
{
    DpBlock *b = rt->moves.freed;
    rt->moves.freed = NULL;
    for (DpBlock *next; b; b = next) {
        next = b->next_free;
        dp_heap_free(rt, b);
    }
}

static void launch_moves(DpRt *rt, const MoveQueue *q)
{
    uint64_t all = 0, most = 0, bytes = 0;
    Args a = {.n = 2};
    for (uint32_t k = 0; k < MOST_MOVES; k++) {
        const Move m = k < q->n ? q->at[k] : (Move){.n = 0};
        const uint64_t words[MOVE_WORDS] = {
            (uint64_t)m.kind << 32 | m.bytes, m.n, m.dst, m.to, m.then, m.src, m.from, m.offsets};
        dp_args_words(&a, words, MOVE_WORDS);
        all += m.n;
        bytes += m.n * m.bytes;
        most = m.n > most ? m.n : most;
    }
    a.at[0] = all;
    a.at[1] = q->n;
    dp_profile_moved_own(rt, "dp_move", bytes, bytes);
    dp_rt_move(rt, "dp_moves", most, &a);
}

void dp_moves_flush(DpRt *rt)
{
    if (!rt->moves.n)
        return;
    const MoveQueue q = rt->moves;
    const uint32_t at = rt->at;
    rt->moves.n = 0;
    rt->at = q.place;
    launch_moves(rt, &q);
    rt->at = at;
    free_kept(rt);
}

void dp_move_add(DpRt *rt, const Move *m)
{
    MoveQueue *q = &rt->moves;
    if (m->n == 0 || dp_failed(rt))
        return;
    if (rt->starts.offsets && reads(m, rt->starts.offsets->addr, rt->starts.offsets->bytes))
        dp_starts_settle(rt); /* they are not written yet */
    bool alone = q->n == MOST_MOVES || dp_param(rt, PARAM_MOVES) <= q->n;
    for (uint32_t k = 0; k < q->n && !alone; k++)
        alone = depends(m, &q->at[k]);
    if (alone)
        dp_moves_flush(rt);
    if (q->n == 0)
        q->place = rt->at;
    q->at[q->n++] = *m;
}

bool dp_moves_keep(DpRt *rt, DpBlock *b)
{
    MoveQueue *q = &rt->moves;
    bool used = false;
    for (uint32_t k = 0; k < q->n && !used; k++)
        used = reads(&q->at[k], b->addr, b->bytes) || overlap(q->at[k].dst, q->at[k].written, b->addr, b->bytes);
    if (!used)
        return false;
    b->next_free = q->freed;
    q->freed = b;
    return true;
}

/* ---- moves ---- */
void dp_move_copy(DpRt *rt, uint64_t dst, uint64_t src, uint64_t n, uint32_t bytes)
{
    const Move m = {MOVE_ELEMENTS, .bytes = bytes,       .n = n,           .dst = dst,
                    .src = src,    .written = n * bytes, .read = n * bytes};
    dp_move_add(rt, &m);
}

void dp_move_rows(DpRt *rt, const DpCol *col, uint64_t n, Route route, uint64_t dst, uint64_t rows)
{
    const DpBlock *b = col->block;
    const bool lazy = b && b->state == BLOCK_LAZY;
    Move m = {.kind = lazy ? MOVE_VIEWS : MOVE_ELEMENTS,
              .bytes = col->bytes,
              .n = n,
              .dst = dst,
              .to = route.to,
              .then = route.then,
              .src = col->addr,
              .from = route.from,
              .written = rows * col->bytes,
              .read = col->n * col->bytes};
    if (lazy) {
        const uint64_t first = (col->addr - b->addr) / 16;
        const Offsets o = b->contig.offsets;
        m.bytes = b->contig.bytes;
        m.src = b->contig.base + (o.stride ? first * offsets_length(o) * m.bytes : 0);
        m.offsets = o.stride ? o.stride : o.block->addr + 8 * first;
    }
    dp_move_add(rt, &m);
}
