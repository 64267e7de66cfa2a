/* Several moves along paths in one launch: columns selected, merged, joined, and what paths and views are made of (move_queue.c).
 *
 * None of them reads or writes what another one writes. Each is DP_MOVE_WORDS words (struct Move in internal.h), of which kinds use
 * what they need; k = then(to(i)) and j = from(i) are paths (dp_at):
 *
 *     ELEMENTS  dst[k] = src[j], of so many bytes
 *     VIEWS     dst[k] = view j of those that lie one behind the other from `src` on, by offsets
 *     NUMBERS   dst[i] = k, as u32
 *     OFFSETS   dst[i] = offsets[src[i]], of offsets both */
enum { DP_MOVE_ELEMENTS, DP_MOVE_VIEWS, DP_MOVE_NUMBERS, DP_MOVE_OFFSETS };
enum { DP_MOVE_WORDS = 8 };

#define DP_TARGET(i) dp_at(heap, then, dp_at(heap, to, i))
static inline void dp_move_elements(DP_HEAPS, ulong bytes, ulong n, ulong dst, ulong to, ulong then, ulong src, ulong from)
{
    if (!(to | then | from)) {
#define DP_LOOP(T) DP_EACH(i, n) DP_MOVE(T, dst, i, src, i);
        DP_EACH_SIZE(DP_LOOP)
#undef DP_LOOP
        return;
    }
    if (!(to | then | (from & DP_REGULAR))) { /* what sorts and selections do: loads that wait for nothing but their positions */
        __global const uint *position = DP_AT(uint, from);
#define DP_LOOP(T) DP_EACH(i, n) DP_MOVE(T, dst, i, src, position[i]);
        DP_EACH_SIZE(DP_LOOP)
#undef DP_LOOP
        return;
    }
#define DP_LOOP(T) DP_EACH(i, n) DP_MOVE(T, dst, DP_TARGET(i), src, dp_at(heap, from, i));
    DP_EACH_SIZE(DP_LOOP)
#undef DP_LOOP
}

static inline void dp_move_one(DP_HEAPS, const ulong *words)
{
    ulong n = words[1], dst = words[2], to = words[3], then = words[4], src = words[5], from = words[6], offsets = words[7];
    uint kind = (uint)(words[0] >> 32), bytes = (uint)words[0];
    if (kind == DP_MOVE_ELEMENTS) {
        dp_move_elements(heap, out, bytes, n, dst, to, then, src, from);
    } else if (kind == DP_MOVE_VIEWS) {
        DP_EACH(i, n) {
            ulong j = dp_at(heap, from, i), first = DP_OFFSET(offsets, j), end = DP_OFFSET(offsets, j + 1);
            DP_OUT(dp_view, dst)[DP_TARGET(i)] = dp_make_view(end - first, src + first * bytes);
        }
    } else if (kind == DP_MOVE_NUMBERS) {
        DP_EACH(i, n)
            DP_OUT(uint, dst)[i] = (uint)DP_TARGET(i);
    } else {
        DP_EACH(i, n)
            DP_OUT(ulong, dst)[i] = DP_OFFSET(offsets, DP_OFFSET(src, i));
    }
}

/* n: the elements of all. Word j of move k: chosen, as an array of them would lie in each lane's private memory. */
#define DP_MOVE_PARAMETERS(a) ulong a##0, ulong a##1, ulong a##2, ulong a##3, ulong a##4, ulong a##5, ulong a##6, ulong a##7
#define DP_MOVE_WORD(k, j) \
    ((k) < 4 ? ((k) < 2 ? ((k) == 0 ? a##j : b##j) : ((k) == 2 ? c##j : d##j)) \
             : ((k) < 6 ? ((k) == 4 ? e##j : f##j) : ((k) == 6 ? g##j : h##j)))
DP_KERNEL void dp_moves(DP_HEAPS, ulong n, ulong count, DP_MOVE_PARAMETERS(a), DP_MOVE_PARAMETERS(b), DP_MOVE_PARAMETERS(c),
                        DP_MOVE_PARAMETERS(d), DP_MOVE_PARAMETERS(e), DP_MOVE_PARAMETERS(f), DP_MOVE_PARAMETERS(g),
                        DP_MOVE_PARAMETERS(h))
{
    for (uint k = 0; k < count; k++) {
        const ulong words[DP_MOVE_WORDS] = {DP_MOVE_WORD(k, 0), DP_MOVE_WORD(k, 1), DP_MOVE_WORD(k, 2), DP_MOVE_WORD(k, 3),
                                            DP_MOVE_WORD(k, 4), DP_MOVE_WORD(k, 5), DP_MOVE_WORD(k, 6), DP_MOVE_WORD(k, 7)};
        dp_move_one(heap, out, words);
    }
}
