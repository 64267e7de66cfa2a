/* PACK: the u32 indices i < n for which dp_body(i).v0 holds, ascending, at `idx`; with DP_PACK_REST the others at `rest`. n > 0.
 *
 * dp_pack_count counts per chunk (CPU: not for a single chunk, part is 0 then), dp_pack_carries (GPU) makes these exclusive sums,
 * dp_pack_write evaluates the body again and writes. The total goes to the mailbox, to `mail`. CPU: a work-item a chunk, which adds up the
 * counts before its own itself. GPU: a work-group a chunk, in tiles of DP_PACK_ITEMS a lane: flags are made side by side, a lane counts its run, the counts are scanned. Barriers stand in the
 * tile loop only, whose bounds are uniform. Empty segments have no instances. */
#define DP_BODY(i, s) dp_body(heap, (i), (s) DP_PASS)

#if DP_CPU
/* STATEMENT for each i of the chunk [i, hi), with `bool yes`. */
#if DP_SEGMENTED && DP_USES_SEG
#define DP_PACK_WALK(STATEMENT) \
    for (ulong s = i < hi ? DP_SEG_OF(i) : 0; i < hi; s++) { \
        s = DP_SKIP_EMPTY(s, i); \
        for (ulong end = min(hi, DP_SEG_END(s)); i < end; i++) { \
            bool yes = DP_BODY(i, s).v0; \
            STATEMENT \
        } \
    }
#else
#define DP_PACK_WALK(STATEMENT) \
    for (; i < hi; i++) { \
        bool yes = DP_BODY(i, 0).v0; \
        STATEMENT \
    }
#endif

DP_KERNEL void dp_pack_count(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong part DP_WORDS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1);
    uint count = 0;
    DP_PACK_WALK(count += yes;)
    *DP_AT(ulong, part + 8 * chunk) = count;
}

DP_KERNEL void dp_pack_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                             ulong part, ulong idx, ulong rest, ulong mail DP_WORDS)
{
    ulong chunk = get_global_id(0), chunks = get_global_size(0);
    ulong i = dp_chunk_start(n, chunks, chunk), hi = dp_chunk_start(n, chunks, chunk + 1), before = 0;
    for (ulong k = 0; k < chunk; k++)
        before += *DP_AT(ulong, part + 8 * k);
    __global uint *to = (__global uint *)(out + idx) + before;
#if DP_PACK_REST
    __global uint *to_rest = (__global uint *)(out + rest) + (i - before);
    DP_PACK_WALK(if (yes) *to++ = (uint)i; else *to_rest++ = (uint)i;)
#else
    /* Without a branch: an index is written even where it does not count, and the next one that does overwrites it. After the
     * chunk's last one this would spoil the next chunk's place: the last chunk has none behind it, the others stop in time. */
    __global uint *stop = chunk + 1 == chunks ? 0 : to + *DP_AT(ulong, part + 8 * chunk);
    DP_PACK_WALK(if (to == stop) return; *to = (uint)i; to += yes;)
#endif
    if (chunk + 1 == chunks)
        *DP_AT(ulong, mail) = (ulong)(to - (__global uint *)(out + idx));
}

#else /* GPU */
#ifndef DP_PACK_ITEMS
#define DP_PACK_ITEMS 8
#endif
#define DP_PACK_TILE (DP_PACK_ITEMS * DP_WG)

/* Inclusive scan of the lanes' counts c, as in carry.cl. */
#define DP_COUNT_STEP(d, from, to) \
    { \
        if (l >= d) \
            c += sh[from][l - d]; \
        sh[to][l] = c; \
        barrier(CLK_LOCAL_MEM_FENCE); \
    }
#if DP_WG == 256
#define DP_COUNT_STEPS DP_COUNT_STEP(64, 0, 1) DP_COUNT_STEP(128, 1, 0)
#define DP_COUNTED 0
#elif DP_WG == 128
#define DP_COUNT_STEPS DP_COUNT_STEP(64, 0, 1)
#define DP_COUNTED 1
#else
#define DP_COUNT_STEPS
#define DP_COUNTED 0
#endif
#define DP_COUNT_SCAN() \
    sh[0][l] = c; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    DP_COUNT_STEP(1, 0, 1) DP_COUNT_STEP(2, 1, 0) DP_COUNT_STEP(4, 0, 1) DP_COUNT_STEP(8, 1, 0) \
    DP_COUNT_STEP(16, 0, 1) DP_COUNT_STEP(32, 1, 0) DP_COUNT_STEPS

DP_KERNEL void dp_pack_count(DP_HEAP, ulong n, ulong nseg, ulong offsets, ulong part DP_WORDS)
{
    __local uint sh[2][DP_WG];
    uint l = get_local_id(0), c = 0;
    ulong tiles = (n + DP_PACK_TILE - 1) / DP_PACK_TILE;
    ulong lo = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0)) * DP_PACK_TILE;
    ulong hi = min(n, dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1) * DP_PACK_TILE);
    for (ulong i = lo + l; i < hi; i += DP_WG)
        c += DP_BODY(i, DP_USES_SEG ? DP_SEG_OF(i) : 0).v0 != 0;
    DP_COUNT_SCAN()
    if (l == DP_WG - 1)
        *DP_AT(ulong, part + 8 * get_group_id(0)) = c;
}

/* In place: part[k] becomes the sum of those before. One work-group. */
DP_KERNEL void dp_pack_carries(DP_HEAP, ulong chunks, ulong part, ulong mail)
{
    __local ulong sh[2][DP_WG];
    uint l = get_local_id(0);
    ulong lo = dp_chunk_start(chunks, DP_WG, l), hi = dp_chunk_start(chunks, DP_WG, l + 1), c = 0;
    for (ulong k = lo; k < hi; k++)
        c += *DP_AT(ulong, part + 8 * k);
    DP_COUNT_SCAN()
    if (l == DP_WG - 1)
        *DP_AT(ulong, mail) = c;
    c = l ? sh[DP_COUNTED][l - 1] : 0;
    for (ulong k = lo; k < hi; k++) {
        ulong count = *DP_AT(ulong, part + 8 * k);
        *DP_AT(ulong, part + 8 * k) = c;
        c += count;
    }
}

DP_KERNEL void dp_pack_write(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong offsets,
                             ulong part, ulong idx, ulong rest, ulong mail DP_WORDS)
{
    __local uchar flags[DP_PACK_TILE];
    __local uint sh[2][DP_WG];
    uint l = get_local_id(0);
    ulong tiles = (n + DP_PACK_TILE - 1) / DP_PACK_TILE;
    ulong t = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0));
    ulong t_end = dp_chunk_start(tiles, get_num_groups(0), get_group_id(0) + 1);
    ulong before = *DP_AT(ulong, part + 8 * get_group_id(0));
    for (; t < t_end; t++) {
        ulong base = t * DP_PACK_TILE;
        uint count = (uint)min((ulong)DP_PACK_TILE, n - base);
        for (uint j = l; j < count; j += DP_WG)
            flags[j] = DP_BODY(base + j, DP_USES_SEG ? DP_SEG_OF(base + j) : 0).v0 != 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint c = 0, begin = min(l * DP_PACK_ITEMS, count), end = min((l + 1) * DP_PACK_ITEMS, count);
        for (uint j = begin; j < end; j++)
            c += flags[j];
        DP_COUNT_SCAN()
        ulong at = before + (l ? sh[DP_COUNTED][l - 1] : 0);
        for (uint j = begin; j < end; j++) {
            ulong i = base + j;
            if (flags[j]) {
                *(__global uint *)(out + idx + 4 * at) = (uint)i;
                at++;
            }
#if DP_PACK_REST
            else
                *(__global uint *)(out + rest + 4 * (i - at)) = (uint)i;
#endif
        }
        before += sh[DP_COUNTED][DP_WG - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
