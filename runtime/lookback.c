/* Words that work-groups of one launch publish for those behind them (kernels/pack.cl, scan.cl): a counter of tickets,
 * 16 bytes in all, then the words. They live from launch to launch and are cleared only when new: each launch has an
 * epoch of its own, and its tickets begin where the last one's ended. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 16 };
#define MOST_EPOCHS ((UINT32_C(1) << 14) - 1)

void dp_lookback_open(DpRt *rt) { rt->lookback = (LookBack){.use = rt->gpu && dp_rt_looks_back(rt)}; }

void dp_lookback_close(DpRt *rt)
{
    dp_block_release(rt, rt->lookback.block);
    rt->lookback = (LookBack){.use = rt->lookback.use};
}

static void renew(DpRt *rt, uint64_t words)
{
    const uint64_t bytes = HEAD_BYTES + 8 * words;
    dp_lookback_close(rt);
    rt->lookback.block = dp_block_new(rt, bytes, 1);
    rt->profile.blocks--; /* not what the program stores */
    void *zeros = calloc(1, bytes);
    if (!zeros)
        dp_rt_fail_host_memory(rt, bytes);
    else if (!dp_failed(rt))
        dp_rt_write(rt, rt->lookback.block->addr, zeros, bytes);
    free(zeros);
    rt->lookback.words = dp_failed(rt) ? 0 : words;
}

void dp_lookback_args(DpRt *rt, Args *a, uint64_t tiles, uint64_t words)
{
    LookBack *b = &rt->lookback;
    if (words * tiles > b->words || b->epoch == MOST_EPOCHS)
        renew(rt, words * tiles > 2 * b->words ? words * tiles : 2 * b->words);
    b->epoch++;
    dp_args_add(a, dp_block_addr(b->block));
    dp_args_add(a, b->epoch);
    dp_args_add(a, b->tickets);
    b->tickets += (uint32_t)tiles;
}
