/* Elements of rows, segments, updates ... complete kernels without user code, all of them maps (each.cl). What goes along paths is in
 * moves.cl. */

/* dst[i] = element i - offsets[s] of views[s] */
DP_KERNEL void dp_elems(DP_HEAPS, ulong n, ulong nseg, ulong offsets, ulong bytes, ulong dst, ulong views)
{
#define DP_LOOP(T) \
    DP_EACH_IN_SEGMENT(ulong from = DP_ADDR(DP_AT(dp_view, views)[s]); , DP_MOVE(T, dst, i, from, i - start);)
    DP_EACH_SIZE(DP_LOOP)
#undef DP_LOOP
}

/* dst[i] = s, as u32 */
DP_KERNEL void dp_segments(DP_HEAPS, ulong n, ulong nseg, ulong offsets, ulong dst)
{
    DP_EACH_IN_SEGMENT(, DP_OUT(uint, dst)[i] = (uint)s;)
}

/* dst[i] = pos[i] - offsets[s], as i64: positions within the segments. offsets 0: one segment */
DP_KERNEL void dp_local_positions(DP_HEAPS, ulong n, ulong nseg, ulong offsets, ulong dst, ulong pos)
{
    if (offsets)
        DP_EACH_IN_SEGMENT(, DP_OUT(ulong, dst)[i] = *DP_AT(uint, pos + 4 * i) - start;)
    else
        DP_EACH(i, n)
            DP_OUT(ulong, dst)[i] = *DP_AT(uint, pos + 4 * i);
}

/* flatten, where the inner views are the cells from `inner` on, contiguous over `base` by their offsets. The address of an empty view
 * means nothing. */
DP_KERNEL void dp_flatten_views(DP_HEAPS, ulong n, ulong bytes, ulong dst, ulong views, ulong inner, ulong offsets, ulong base)
{
    DP_EACH(i, n) {
        dp_view v = DP_AT(dp_view, views)[i];
        ulong first = DP_LEN(v) ? (DP_ADDR(v) - inner) / sizeof(dp_view) : 0;
        ulong from = DP_OFFSET(offsets, first), to = DP_OFFSET(offsets, first + DP_LEN(v));
        DP_OUT(dp_view, dst)[i] = dp_make_view(to - from, base + from * bytes);
    }
}

/* data[offsets[i] + index[i]] = values[i], where that is inside segment i */
DP_KERNEL void dp_update(DP_HEAPS, ulong n, ulong bytes, ulong offsets, ulong data, ulong index, ulong values)
{
#define DP_LOOP(T) \
    DP_EACH(i, n) { \
        ulong start = DP_OFFSET(offsets, i), at = *DP_AT(ulong, index + 8 * i); \
        if (at < DP_OFFSET(offsets, i + 1) - start) \
            DP_MOVE(T, data, start + at, values, i); \
    }
    DP_EACH_SIZE(DP_LOOP)
#undef DP_LOOP
}

/* views[i][index[i]] = values[i], where that is inside */
DP_KERNEL void dp_update_views(DP_HEAPS, ulong n, ulong bytes, ulong views, ulong index, ulong values)
{
#define DP_LOOP(T) \
    DP_EACH(i, n) { \
        dp_view v = DP_AT(dp_view, views)[i]; \
        ulong at = *DP_AT(ulong, index + 8 * i); \
        if (at < v.x) \
            DP_MOVE(T, v.y, at, values, i); \
    }
    DP_EACH_SIZE(DP_LOOP)
#undef DP_LOOP
}

/* The lengths of the views that point into one of `count` ascending ranges of addresses and that index[i] lies in, else 0: those to copy
 * before an update. */
DP_KERNEL void dp_lengths_to_own(DP_HEAPS, ulong n, ulong dst, ulong views, ulong index, ulong ranges, ulong count)
{
    DP_EACH(i, n) {
        dp_view v = DP_AT(dp_view, views)[i];
        ulong lo = 0, hi = count; /* the first range that ends behind the view's address */
        while (lo < hi) {
            ulong mid = lo + (hi - lo) / 2;
            if (DP_AT(ulong, ranges)[2 * mid + 1] > v.y)
                hi = mid;
            else
                lo = mid + 1;
        }
        bool shared = lo < count && DP_AT(ulong, ranges)[2 * lo] <= v.y;
        DP_OUT(ulong, dst)[i] = shared && DP_AT(ulong, index)[i] < v.x ? v.x : 0;
    }
}

/* views[i] = the view of segment i, if that has elements */
DP_KERNEL void dp_views_replace(DP_HEAPS, ulong n, ulong bytes, ulong views, ulong offsets, ulong base)
{
    DP_EACH(i, n) {
        ulong from = DP_OFFSET(offsets, i), to = DP_OFFSET(offsets, i + 1);
        if (to > from)
            DP_OUT(dp_view, views)[i] = dp_make_view(to - from, base + from * bytes);
    }
}

/* dst[b] = how many of the `count` ascending u32 keys are below b, for b < n */
DP_KERNEL void dp_bounds(DP_HEAPS, ulong n, ulong dst, ulong keys, ulong count)
{
    DP_EACH(b, n) {
        ulong lo = 0, hi = count;
        while (lo < hi) {
            ulong mid = lo + (hi - lo) / 2;
            if (*DP_AT(uint, keys + 4 * mid) < b)
                lo = mid + 1;
            else
                hi = mid;
        }
        DP_OUT(ulong, dst)[b] = lo;
    }
}

/* Do the views lie one behind the other? Two launches. The first posts where the first element of all must be: the address of
 * the first view that is not empty (mailbox 2), and a 0 (mailbox 3); the second posts a 1 there if a view lies elsewhere. */
DP_KERNEL void dp_contiguous_base(DP_HEAPS, ulong n, ulong offsets, ulong views)
{
    if (get_global_id(0) == 0) {
        ulong k = dp_segment_between(heap, offsets, 0, n, 0);
        *DP_OUT(ulong, DP_MAILBOX + 16) = DP_ADDR(DP_AT(dp_view, views)[dp_skip_empty(heap, offsets, n, k, 0)]);
        *DP_OUT(ulong, DP_MAILBOX + 24) = 0;
    }
}

DP_KERNEL void dp_contiguous(DP_HEAPS, ulong n, ulong bytes, ulong offsets, ulong views)
{
    ulong base = *DP_AT(ulong, DP_MAILBOX + 16);
    DP_EACH(i, n) {
        ulong start = DP_OFFSET(offsets, i);
        dp_view v = DP_AT(dp_view, views)[i];
        if (DP_LEN(v) && DP_ADDR(v) != base + start * bytes)
            *DP_OUT(ulong, DP_MAILBOX + 24) = 1;
    }
}

/* dst[i] = src[i], of 16 bytes: what a copy reaches, for profiles */
DP_KERNEL void dp_copy(DP_HEAPS, ulong n, ulong dst, ulong src)
{
    DP_EACH(i, n)
        DP_OUT(ulong2, dst)[i] = DP_AT(ulong2, src)[i];
}
