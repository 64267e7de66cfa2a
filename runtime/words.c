/* The argument words of the user's kernels. A device takes a limited number of bytes of arguments (OpenCL guarantees
 * 1,024). Where a kernel has more words than that, they are put into the heap, and the one argument is their address:
 * source.c then says
 *
 *     #define DP_WORDS , ulong dp_words        #define w0 (DP_AT(ulong, dp_words)[0])        …
 *
 * before the kernel's own definitions, which are guarded. All kernels use one block, big enough for each: the queue
 * is in order, so that an earlier kernel has read its words before the next ones are written. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* What templates pass beside words and outputs: at most two heaps and ten numbers. */
enum { OTHER_ARGUMENTS = 12 };

bool dp_words_in_heap(const DpRt *rt, const DpKernel *k)
{
    uint64_t n = (uint64_t)k->nwords + k->nouts + OTHER_ARGUMENTS;
    return k->nwords > 0 && (n > MAX_ARGS || 8 * n > rt->words.most_bytes);
}

/* DP_ARGUMENTS=buffer, for tests: all words of all kernels. */
void dp_words_open(DpRt *rt)
{
    const char *form = getenv("DP_ARGUMENTS");
    rt->words.most_bytes = form && strcmp(form, "buffer") == 0 ? 0 : rt->device->facts.argument_bytes;
}

void dp_words_close(DpRt *rt)
{
    dp_block_release(rt, rt->words.block);
    free(rt->words.written);
    rt->words = (Words){.block = NULL};
}

/* The block, and the host's copy of what it holds. */
static void make_room(DpRt *rt)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < rt->program->nkernels; i++)
        if (rt->program->kernels[i].nwords > most)
            most = rt->program->kernels[i].nwords;
    if (!rt->words.written)
        rt->words.written = calloc(most, sizeof(uint64_t));
    if (!rt->words.written)
        dp_rt_fail_host_memory(rt, most * sizeof(uint64_t));
    rt->words.block = dp_block_new(rt, most, sizeof(uint64_t));
    rt->profile.blocks--; /* not what the program stores */
}

void dp_args_kernel_words(DpRt *rt, Args *a, uint32_t kernel, const uint64_t *words)
{
    const DpKernel *k = &rt->program->kernels[kernel];
    uint64_t bytes = (uint64_t)k->nwords * sizeof(uint64_t);
    if (!dp_words_in_heap(rt, k)) {
        dp_args_words(a, words, k->nwords);
        return;
    }
    if (!rt->words.block && !dp_failed(rt))
        make_room(rt);
    if (dp_failed(rt))
        return;
    if (k->nwords > rt->words.nwritten || memcmp(rt->words.written, words, bytes) != 0) {
        dp_rt_write(rt, rt->words.block->addr, words, bytes);
        memcpy(rt->words.written, words, bytes);
        rt->words.nwritten = dp_failed(rt) ? 0 : k->nwords;
    }
    dp_args_add(a, rt->words.block->addr);
}

void dp_words_define(DpRt *rt, Text *t, const DpKernel *k)
{
    static const char parameters[] = "\n#define DP_WORDS , ulong dp_words\n#define DP_PASS , dp_words\n";
    dp_text_add(rt, t, parameters, sizeof parameters - 1);
    for (uint32_t i = 0; i < k->nwords; i++) {
        char line[80];
        int n = snprintf(line, sizeof line, "#define w%u (DP_AT(ulong, dp_words)[%u])\n", i, i);
        dp_text_add(rt, t, line, (size_t)n);
    }
}
