/* In front of the vector holes, where a kernel has them (DP_W is how many lanes): operations of dp_scalar.h on DP_W neighbouring
 * instances side by side, in clang's vector types. Of dp_add_i32(a, b) the other form is dp_add_i32_w(a, b), with the same result in
 * each lane, to the bit: what has no vector instruction that gives just that goes lane by lane.
 *
 *   dp_i32_w ...   the values of all lanes. Of bool the lanes are ints, -1 or 0: dp_bool_w is a mask, too
 *   near values    i64 numbers of which lane l has base + l: kept as `base`
 *   second ones    likewise base + 2 l
 *
 * A hole never fails: where a lane would, it starts anew, scalar and lane by lane (emit_vector.h). */
#define DP_W_TYPE(N) typedef dp_##N dp_##N##_w __attribute__((ext_vector_type(DP_W)));
DP_W_TYPE(i8) DP_W_TYPE(i16) DP_W_TYPE(i32) DP_W_TYPE(i64) DP_W_TYPE(u8) DP_W_TYPE(u16) DP_W_TYPE(u32) DP_W_TYPE(u64) DP_W_TYPE(f32)
#ifdef DP_HAS_F64
DP_W_TYPE(f64)
#endif
typedef dp_i32_w dp_bool_w;

#define DP_IN_TURN(l) for (uint l = 0; l < DP_W; l++)
#define DP_EACH_LANE(l) _Pragma("unroll") DP_IN_TURN(l)
#define DP_ALL ((dp_bool_w)(-1))
#define DP_W_CONVERT(x, N) __builtin_convertvector((x), dp_##N##_w)
#define DP_W_AS(x, N) __builtin_astype((x), dp_##N##_w)
#define DP_W_MASK(x) __builtin_convertvector((x), dp_bool_w)
#if DP_W == 16
#define DP_LANE_NUMBERS ((dp_i32_w)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#define DP_EVERY_SECOND 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
DP_FN bool dp_any(dp_bool_w x)
{
    int8 a = x.lo | x.hi;
    int4 b = a.lo | a.hi;
    int2 c = b.lo | b.hi;
    return (c.x | c.y) != 0;
}
#elif DP_W == 4
#define DP_LANE_NUMBERS ((dp_i32_w)(0, 1, 2, 3))
#define DP_EVERY_SECOND 0, 2, 5, 7
DP_FN bool dp_any(dp_bool_w x)
{
    int2 c = x.lo | x.hi;
    return (c.x | c.y) != 0;
}
#else
#define DP_LANE_NUMBERS ((dp_i32_w)(0, 1, 2, 3, 4, 5, 6, 7))
#define DP_EVERY_SECOND 0, 2, 4, 6, 9, 11, 13, 15
DP_FN bool dp_any(dp_bool_w x)
{
    int4 b = x.lo | x.hi;
    int2 c = b.lo | b.hi;
    return (c.x | c.y) != 0;
}
#endif

/* ---- lane by lane ---- */
#define DP_W_ONE(name, A, R) \
    DP_FN dp_##R##_w name##_w(dp_##A##_w a) \
    { \
        dp_##R##_w r; \
        DP_EACH_LANE(l) r[l] = name(a[l]); \
        return r; \
    }
#define DP_W_TWO(name, A, R) \
    DP_FN dp_##R##_w name##_w(dp_##A##_w a, dp_##A##_w b) \
    { \
        dp_##R##_w r; \
        DP_EACH_LANE(l) r[l] = name(a[l], b[l]); \
        return r; \
    }
#define DP_W_FN1(N, name) DP_W_ONE(dp_##name##_##N, N, N)
#define DP_W_FN2(N, name) DP_W_TWO(dp_##name##_##N, N, N)

/* ---- arrays of which each lane has its own ---- */
typedef struct dp_views { dp_view at[DP_W]; } dp_views;
DP_FN void dp_store_views(DP_HEAP, ulong address, const dp_views *views)
{
    DP_EACH_LANE(l) *DP_AT(dp_view, address + l * sizeof(dp_view)) = views->at[l];
}

/* ---- private arrays ---- */
#define DP_SET(to, x) (to) = (x)
#define DP_SET_ON(to, x, on, N) (to) = dp_select_##N##_w((on), (x), (to))
#define DP_COPY_ON(to, from, n, on, N) for (int dp_k = 0; dp_k < (n); dp_k++) DP_SET_ON((to)[dp_k], (from)[dp_k], on, N)

/* ---- arrays that lanes make in memory of their own (common.cl) ----
 * All lanes' arrays lie at one place: element k is a vector, a view's address that of the first. Functions are false where there is no room,
 * or where views of different lengths are to become one. */
#define DP_LANE_OPEN_W(memory) \
    const dp_share dp_own = dp_lane_share(heap, memory); \
    const ulong dp_slack = min((dp_own.end - dp_own.base) / 8, 16384UL * DP_W); \
    ulong dp_top = dp_own.base;
DP_FN long dp_most(dp_i64_w x)
{
    long r = x[0];
    DP_EACH_LANE(l) r = max(r, x[l]);
    return r;
}
#define DP_LANE_LOOK_W \
    if (dp_left < 0) { \
        dp_error(heap, DP_NO_ROOM, 0, 0, 0); \
        goto again; \
    }
#define DP_LANE_SPEND_W(statements) DP_LANE_SPEND_MOST(statements) DP_LANE_LOOK_W
#define DP_LANE_ROUND_W(launches) DP_LANE_EARN(launches) DP_LANE_LOOK_W

DP_FN bool dp_wide_make(dp_view *made, ulong *top, dp_share own, ulong n, uint bytes)
{
    const ulong at = *top + 63 & ~63UL;
    if (at > own.end || n > (own.end - at) / (bytes * DP_W))
        return false;
    *top = at + n * (bytes * DP_W);
    *made = dp_make_view(n, at);
    return true;
}
#define DP_WIDE_AT(view, k, bytes) (DP_ADDR(view) + (ulong)(k) * ((bytes) * DP_W))
#define DP_WIDE_LOAD(N, view, k) dp_load_##N##_w(heap, DP_WIDE_AT(view, k, sizeof(dp_##N)))
#define DP_WIDE_STORE(N, view, k, x) dp_store_##N##_w(heap, DP_WIDE_AT(view, k, sizeof(dp_##N)), x)
#define DP_WIDE_STORE_ON(N, view, k, x, on) DP_WIDE_STORE(N, view, k, dp_select_##N##_w((on), (x), DP_WIDE_LOAD(N, view, k)))
/* Element at[l] for each lane: as if it were element at[l] * DP_W + l of one array. */
#define DP_WIDE_PLACES(at) ((at) * (dp_i64_w)(DP_W) + DP_W_CONVERT(DP_LANE_NUMBERS, i64))
#define DP_WIDE_GATHER(N, view, at, on) dp_gather_##N##_w(heap, view, DP_WIDE_PLACES(at), on)
/* Where there is one. */
#define DP_WIDE_SCATTER(N, view, at, x, on) \
    { \
        const dp_i64_w dp_at_w = (at); \
        const dp_##N##_w dp_x_w = (x); \
        const dp_bool_w dp_on_w = (on); \
        DP_EACH_LANE(l) \
        if (dp_on_w[l] && (ulong)dp_at_w[l] < DP_LEN(view)) \
            *DP_AT(dp_##N, DP_ADDR(view) + ((ulong)dp_at_w[l] * DP_W + l) * sizeof(dp_##N)) = dp_lane_##N(dp_x_w, l); \
    }
/* An array of the heap, in all lanes; and one for each. */
#define DP_WIDE_TAKE(N, view, from) \
    for (ulong dp_k = 0; dp_k < DP_LEN(view); dp_k++) \
        DP_WIDE_STORE(N, view, dp_k, dp_wide_##N(*DP_AT(const dp_##N, DP_ADDR(from) + dp_k * sizeof(dp_##N))));
#define DP_WIDE_TAKE_VIEWS(N, view, views) \
    for (ulong dp_from = 0; dp_from < DP_LEN(view) / 4 * 4; dp_from += 4) { \
        dp_##N##_quad quads[DP_W]; \
        dp_##N##_v x[4]; \
        DP_EACH_LANE(l) quads[l] = *DP_AT(const dp_##N##_quad, DP_ADDR((views).at[l]) + dp_from * sizeof(dp_##N)); \
        _Pragma("unroll") for (uint q = 0; q < 4; q++) x[q] = DP_OF_QUADS(dp_##N##_v, quads, q); \
        DP_TURN_QUADS(dp_##N##_v, x) \
        _Pragma("unroll") for (uint q = 0; q < 4; q++) *DP_AT(dp_##N##_m, DP_WIDE_AT(view, dp_from + q, sizeof(dp_##N))) = x[q]; \
    } \
    for (ulong dp_k = DP_LEN(view) / 4 * 4; dp_k < DP_LEN(view); dp_k++) { \
        dp_##N##_v x; \
        DP_EACH_LANE(l) x[l] = *DP_AT(const dp_##N, DP_ADDR((views).at[l]) + dp_k * sizeof(dp_##N)); \
        *DP_AT(dp_##N##_m, DP_WIDE_AT(view, dp_k, sizeof(dp_##N))) = x; \
    }
DP_FN dp_i64_w dp_lengths_of(const dp_views *views)
{
    dp_i64_w r;
    DP_EACH_LANE(l) r[l] = (long)DP_LEN(views->at[l]);
    return r;
}
DP_FN bool dp_views_alike(const dp_views *views)
{
    bool r = true;
    DP_EACH_LANE(l) r &= DP_LEN(views->at[l]) == DP_LEN(views->at[0]);
    return r;
}
/* The length of all rows of all lanes, which have as many; else -1. */
DP_FN long dp_wide_row(DP_HEAP, const dp_views *tables)
{
    const ulong rows = DP_LEN(tables->at[0]), n = rows > 0 ? DP_LEN(*DP_AT(const dp_view, DP_ADDR(tables->at[0]))) : 0;
    bool same = true;
    DP_EACH_LANE(l) {
        same &= DP_LEN(tables->at[l]) == rows;
        for (ulong i = 0; same && i < rows; i++)
            same = DP_LEN(*DP_AT(const dp_view, DP_ADDR(tables->at[l]) + 16 * i)) == n;
    }
    return same ? (long)n : -1;
}
#define DP_WIDE_TABLE(N, view, tables, n) \
    for (ulong dp_row = 0; dp_row < DP_LEN((tables).at[0]); dp_row++) { \
        const dp_view dp_part = dp_make_view((ulong)(n), DP_WIDE_AT(view, dp_row * (ulong)(n), sizeof(dp_##N))); \
        dp_views dp_rows; \
        DP_EACH_LANE(l) dp_rows.at[l] = *DP_AT(const dp_view, DP_ADDR((tables).at[l]) + 16 * dp_row); \
        DP_WIDE_TAKE_VIEWS(N, dp_part, dp_rows) \
    }
/* The lanes that are off get the old array's elements; there must be as many. */
#define DP_WIDE_MIX(N, view, old, on) \
    if (DP_ADDR(view) != DP_ADDR(old)) { \
        if (DP_LEN(view) != DP_LEN(old)) goto again; \
        for (ulong dp_k = 0; dp_k < DP_LEN(view); dp_k++) \
            DP_WIDE_STORE(N, view, dp_k, dp_select_##N##_w((on), DP_WIDE_LOAD(N, view, dp_k), DP_WIDE_LOAD(N, old, dp_k))); \
    }
/* Of arrays of different lengths, nothing behind a lane's own. */
#define DP_WIDE_TAKE_RAGGED(N, view, views) \
    for (ulong dp_k = 0; dp_k < DP_LEN(view); dp_k++) { \
        dp_##N##_v x = 0; \
        DP_EACH_LANE(l) if (dp_k < DP_LEN((views).at[l])) x[l] = *DP_AT(const dp_##N, DP_ADDR((views).at[l]) + dp_k * sizeof(dp_##N)); \
        *DP_AT(dp_##N##_m, DP_WIDE_AT(view, dp_k, sizeof(dp_##N))) = x; \
    }
#define DP_WIDE_GIVE_RAGGED(N, view, given) \
    for (ulong dp_k = 0; dp_k < DP_LEN(view); dp_k++) { \
        const dp_##N##_v x = *DP_AT(const dp_##N##_m, DP_WIDE_AT(view, dp_k, sizeof(dp_##N))); \
        DP_EACH_LANE(l) if (dp_k < DP_LEN((given).at[l])) *DP_AT(dp_##N, DP_ADDR((given).at[l]) + dp_k * sizeof(dp_##N)) = x[l]; \
    }
/* n elements, of all lanes; the new place may overlap if it comes first. */
#define DP_WIDE_PUT(bytes, M) \
    case bytes: \
        for (ulong k = 0; k < n; k++) \
            *DP_AT(dp_##M##_m, to + k * (bytes * DP_W)) = *DP_AT(const dp_##M##_m, from + k * (bytes * DP_W)); \
        break;
#define DP_WIDE_COPIES \
    DP_FN bool dp_wide_copy(DP_HEAP, dp_view *made, ulong *top, dp_share own, dp_view v, uint bytes) \
    { \
        const ulong from = DP_ADDR(v), n = DP_LEN(v); \
        if (!dp_wide_make(made, top, own, n, bytes)) \
            return false; \
        const ulong to = DP_ADDR(*made); \
        switch (to == from ? 0 : bytes) { DP_WIDE_PUT(1, u8) DP_WIDE_PUT(2, u16) DP_WIDE_PUT(4, u32) DP_WIDE_PUT(8, u64) } \
        return true; \
    } \
    /* What lies in [from, to), anew; the rest stays. */ \
    DP_FN bool dp_wide_move(DP_HEAP, dp_view *v, ulong *top, dp_share own, uint bytes, ulong from, ulong to) \
    { \
        return !DP_LANE_LIES(*v, from, to) || dp_wide_copy(heap, v, top, own, *v, bytes); \
    } \
    /* Where arrays stay that lanes give, n elements each. */ \
    DP_FN bool dp_wide_room(DP_HEAP, dp_view memory, ulong n, uint bytes, dp_views *given) \
    { \
        const ulong size = (n * bytes + 15) / 16, room = DP_LANE_GIVEN(memory) / 16; \
        if (size > room / DP_W) \
            return false; \
        const ulong at = atomic_add((volatile __global uint *)DP_AT(uint, DP_ADDR(memory)), (uint)(size * DP_W)); \
        DP_EACH_LANE(l) given->at[l] = dp_make_view(n, DP_ADDR(memory) + DP_LANE_HEADER + 16 * (at + l * size)); \
        return at + size * DP_W <= room; \
    } \
    /* Likewise, n[l] elements. */ \
    DP_FN bool dp_wide_rooms(DP_HEAP, dp_view memory, dp_i64_w n, uint bytes, dp_views *given) \
    { \
        const ulong room = DP_LANE_GIVEN(memory) / 16; \
        ulong size = 0; \
        DP_IN_TURN(l) size = n[l] < 0 || (ulong)n[l] > room * 16 ? room + 1 : min(size + ((ulong)n[l] * bytes + 15) / 16, room + 1); \
        if (size > room) \
            return false; \
        ulong at = atomic_add((volatile __global uint *)DP_AT(uint, DP_ADDR(memory)), (uint)size); \
        if (at + size > room) \
            return false; \
        DP_IN_TURN(l) { \
            given->at[l] = dp_make_view((ulong)n[l], DP_ADDR(memory) + DP_LANE_HEADER + 16 * at); \
            at += ((ulong)n[l] * bytes + 15) / 16; \
        } \
        return true; \
    }
#define DP_WIDE_GIVE(N, view, given) \
    for (ulong dp_from = 0; dp_from < DP_LEN(view) / 4 * 4; dp_from += 4) { \
        dp_##N##_v x[4]; \
        _Pragma("unroll") for (uint q = 0; q < 4; q++) x[q] = *DP_AT(const dp_##N##_m, DP_WIDE_AT(view, dp_from + q, sizeof(dp_##N))); \
        DP_TURN_QUADS(dp_##N##_v, x) \
        DP_EACH_LANE(l) \
        { \
            dp_##N##_quad quad; \
            _Pragma("unroll") for (uint j = 0; j < 4; j++) quad[j] = x[l % 4][l / 4 * 4 + j]; \
            *DP_AT(dp_##N##_quad, DP_ADDR((given).at[l]) + dp_from * sizeof(dp_##N)) = quad; \
        } \
    } \
    for (ulong dp_k = DP_LEN(view) / 4 * 4; dp_k < DP_LEN(view); dp_k++) { \
        const dp_##N##_v x = *DP_AT(const dp_##N##_m, DP_WIDE_AT(view, dp_k, sizeof(dp_##N))); \
        DP_EACH_LANE(l) *DP_AT(dp_##N, DP_ADDR((given).at[l]) + dp_k * sizeof(dp_##N)) = x[l]; \
    }

/* ---- quotients by constants ---- */
/* The upper halves of the products. */
DP_FN dp_u64_w dp_w_mul_hi(dp_u64_w a, dp_u64_w b)
{
    const dp_u64_w low = (dp_u64_w)(0xffffffffUL), al = a & low, ah = a >> 32, bl = b & low, bh = b >> 32;
    const dp_u64_w lh = al * bh, hl = ah * bl, mid = ((al * bl) >> 32) + (lh & low) + (hl & low);
    return ah * bh + (lh >> 32) + (hl >> 32) + (mid >> 32);
}
/* a / d of |a| <= 2^63 by multiplying with m = 2^(64 + shift) / d, rounded up, where 2^shift < d <= 2^(shift + 1) (Granlund and Montgomery,
 * "Division by invariant integers using multiplication", 1994). */
DP_FN dp_i64_w dp_div_by_i64_w(dp_i64_w a, dp_i64 d, dp_u64 m, uint shift)
{
    const dp_i64_w sign = a >> 63;
    const dp_u64_w size = DP_W_AS((a ^ sign) - sign, u64);
    const dp_i64_w q = DP_W_AS(dp_w_mul_hi(size, (dp_u64_w)(m)) >> (ulong)shift, i64);
    return (q ^ sign) - sign;
}
DP_FN dp_i64_w dp_mod_by_i64_w(dp_i64_w a, dp_i64 d, dp_u64 m, uint shift) { return a - dp_div_by_i64_w(a, d, m, shift) * (dp_i64_w)(d); }
/* By d = 2^shift: a negative number is rounded up. */
DP_FN dp_i64_w dp_div_by_power_i64_w(dp_i64_w a, dp_i64 d, uint shift) { return (a + ((a >> 63) & (d - 1))) >> (long)shift; }
DP_FN dp_i64_w dp_mod_by_power_i64_w(dp_i64_w a, dp_i64 d, uint shift)
{
    return a - ((a + ((a >> 63) & (d - 1))) & (dp_i64_w)(-d));
}

/* ---- four by four ---- */
/* Vector q of four has four elements of lane q, of lane q + 4 and so on: turned, vector j has element j of all lanes; and the other way. */
#if DP_W == 16
#define DP_QUAD_LOW 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define DP_QUAD_HIGH 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define DP_QUAD_FIRST 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define DP_QUAD_SECOND 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define DP_OF_QUADS(T, x, q) ((T)((x)[q], (x)[q + 4], (x)[q + 8], (x)[q + 12]))
#elif DP_W == 4
#define DP_QUAD_LOW 0, 4, 1, 5
#define DP_QUAD_HIGH 2, 6, 3, 7
#define DP_QUAD_FIRST 0, 1, 4, 5
#define DP_QUAD_SECOND 2, 3, 6, 7
#define DP_OF_QUADS(T, x, q) ((x)[q])
#else
#define DP_QUAD_LOW 0, 8, 1, 9, 4, 12, 5, 13
#define DP_QUAD_HIGH 2, 10, 3, 11, 6, 14, 7, 15
#define DP_QUAD_FIRST 0, 1, 8, 9, 4, 5, 12, 13
#define DP_QUAD_SECOND 2, 3, 10, 11, 6, 7, 14, 15
#define DP_OF_QUADS(T, x, q) ((T)((x)[q], (x)[q + 4]))
#endif
#define DP_TURN_QUADS(T, x) \
    { \
        const T t0 = __builtin_shufflevector(x[0], x[1], DP_QUAD_LOW), t1 = __builtin_shufflevector(x[0], x[1], DP_QUAD_HIGH); \
        const T t2 = __builtin_shufflevector(x[2], x[3], DP_QUAD_LOW), t3 = __builtin_shufflevector(x[2], x[3], DP_QUAD_HIGH); \
        x[0] = __builtin_shufflevector(t0, t2, DP_QUAD_FIRST); \
        x[1] = __builtin_shufflevector(t0, t2, DP_QUAD_SECOND); \
        x[2] = __builtin_shufflevector(t1, t3, DP_QUAD_FIRST); \
        x[3] = __builtin_shufflevector(t1, t3, DP_QUAD_SECOND); \
    }

/* ---- memory ---- */
/* dp_load_rows: the first n elements of each lane's row, vector by vector. dp_store_rows: n vectors, a row for each lane, one row behind the other.
 * dp_load: all lanes may read. dp_load_second: likewise, every second element, by two vectors of which the last one ends with the last lane's. dp_gather: those that are on, element at[l] each. dp_near_load: at least those that are on, element
 * base + l each, 0 where there is none; `out`, if it is no null, has the lanes for which that is so. Whole vectors are loaded in place, others by a call. */
#define DP_W_MEMORY(N, M) \
    typedef dp_##M dp_##N##_m __attribute__((ext_vector_type(DP_W), aligned(sizeof(dp_##M)))); \
    typedef dp_##M##_w dp_##N##_v; \
    DP_FN dp_##N##_w dp_load_##N##_w(DP_HEAP, ulong address) \
    { \
        return dp_of_memory_##N(*DP_AT(const dp_##N##_m, address)); \
    } \
    DP_FN dp_##N##_w dp_load_second_##N##_w(DP_HEAP, ulong address) \
    { \
        const dp_##N##_m low = *DP_AT(const dp_##N##_m, address), high = *DP_AT(const dp_##N##_m, address + (DP_W - 1) * sizeof(dp_##M)); \
        const dp_##M##_w r = __builtin_shufflevector(low, high, DP_EVERY_SECOND); \
        return dp_of_memory_##N(r); \
    } \
    DP_FN void dp_store_##N##_w(DP_HEAP, ulong address, dp_##N##_w v) \
    { \
        *DP_AT(dp_##N##_m, address) = dp_to_memory_##N(v); \
    } \
    typedef dp_##M dp_##N##_quad __attribute__((ext_vector_type(4), aligned(sizeof(dp_##M)))); \
    DP_FN void dp_load_rows_##N##_w(DP_HEAP, const dp_views *rows, dp_##N##_w *to, ulong n) \
    { \
        _Pragma("unroll") for (ulong from = 0; from < n; from += 4) { \
            const ulong k = min(from, n - 4); \
            dp_##N##_quad quads[DP_W]; \
            dp_##M##_w x[4]; \
            DP_EACH_LANE(l) quads[l] = *DP_AT(const dp_##N##_quad, DP_ADDR(rows->at[l]) + k * sizeof(dp_##M)); \
            _Pragma("unroll") for (uint q = 0; q < 4; q++) x[q] = DP_OF_QUADS(dp_##M##_w, quads, q); \
            DP_TURN_QUADS(dp_##M##_w, x) \
            _Pragma("unroll") for (uint q = 0; q < 4; q++) to[k + q] = dp_of_memory_##N(x[q]); \
        } \
    } \
    DP_FN void dp_store_rows_##N##_w(DP_HEAP, ulong address, const dp_##M##_w *from, ulong n) \
    { \
        _Pragma("unroll") for (ulong at = 0; at < n; at += 4) { \
            const ulong k = min(at, n - 4); \
            dp_##M##_w x[4] = {from[k], from[k + 1], from[k + 2], from[k + 3]}; \
            DP_TURN_QUADS(dp_##M##_w, x) \
            DP_EACH_LANE(l) \
            { \
                dp_##N##_quad quad; \
                _Pragma("unroll") for (uint j = 0; j < 4; j++) quad[j] = x[l % 4][l / 4 * 4 + j]; \
                *DP_AT(dp_##N##_quad, address + (l * n + k) * sizeof(dp_##M)) = quad; \
            } \
        } \
    } \
    DP_FN dp_##N##_w dp_gather_##N##_w(DP_HEAP, dp_view view, dp_i64_w at, dp_bool_w on) \
    { \
        dp_##M##_w r; \
        DP_EACH_LANE(l) r[l] = on[l] ? *DP_AT(const dp_##M, DP_ADDR(view) + (ulong)at[l] * sizeof(dp_##M)) : (dp_##M)0; \
        return dp_of_memory_##N(r); \
    } \
    __attribute__((noinline)) static dp_##N##_w dp_edge_load_##N##_w(DP_HEAP, dp_view view, long base, dp_bool_w on, dp_bool_w *out) \
    { \
        dp_##M##_w r; \
        const long at_most = (long)(DP_LEN(view) - DP_W), from = base < 0 ? 0 : at_most, by = (long)((ulong)base - (ulong)from); \
        if (DP_LEN(view) >= DP_W && by > -DP_W && by < DP_W) { /* the nearest whole vector, moved by so many lanes */ \
            const dp_i32_w number = DP_LANE_NUMBERS + (int)by; \
            dp_##M padded[3 * DP_W] = {0}; \
            *(dp_##N##_m *)(padded + DP_W) = *DP_AT(const dp_##N##_m, DP_ADDR(view) + (ulong)from * sizeof(dp_##M)); \
            if (out) \
                *out |= on & ((number < 0) | (number >= DP_W)); \
            r = *(dp_##N##_m *)(padded + DP_W + by); \
            return dp_of_memory_##N(r); \
        } \
        DP_EACH_LANE(l) \
        { \
            ulong at = (ulong)base + l; \
            bool there = at < DP_LEN(view); \
            r[l] = on[l] && there ? *DP_AT(const dp_##M, DP_ADDR(view) + at * sizeof(dp_##M)) : (dp_##M)0; \
            if (out) \
                (*out)[l] |= on[l] && !there ? -1 : 0; \
        } \
        return dp_of_memory_##N(r); \
    } \
    __attribute__((always_inline)) DP_FN dp_##N##_w dp_near_load_##N##_w(DP_HEAP, dp_view view, long base, dp_bool_w on, dp_bool_w *out) \
    { \
        if (DP_LEN(view) >= DP_W && (ulong)base <= DP_LEN(view) - DP_W) \
            return dp_load_##N##_w(heap, DP_ADDR(view) + (ulong)base * sizeof(dp_##M)); \
        return dp_edge_load_##N##_w(heap, view, base, on, out); \
    } \
    DP_FN dp_##N dp_lane_##N(dp_##N##_w v, uint l) { return (dp_##N)(dp_to_memory_##N(v)[l]); }

#define DP_W_SAME(N) \
    DP_FN dp_##N##_w dp_wide_##N(dp_##N x) { return (dp_##N##_w)(x); } \
    DP_FN dp_##N##_w dp_of_memory_##N(dp_##N##_w x) { return x; } \
    DP_FN dp_##N##_w dp_to_memory_##N(dp_##N##_w x) { return x; } \
    DP_W_MEMORY(N, N)

/* ---- pairs ---- */
/* Of two vectors, one behind the other, each first one of two neighbours, and each second one. */
#if DP_W == 16
#define DP_FIRST_LANES 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define DP_SECOND_LANES 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#else
#define DP_FIRST_LANES 0, 2, 4, 6, 8, 10, 12, 14
#define DP_SECOND_LANES 1, 3, 5, 7, 9, 11, 13, 15
#endif

/* ---- lanes in turn ---- */
/* Lane l of the result has what lane l - d of `a` has, and the first d of them what these lanes of `none` have. */
#if DP_W == 16
#define DP_BEHIND_1 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
#define DP_BEHIND_2 16, 17, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
#define DP_BEHIND_4 16, 17, 18, 19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
#define DP_BEHIND_8 16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7
#else
#define DP_BEHIND_1 8, 0, 1, 2, 3, 4, 5, 6
#define DP_BEHIND_2 8, 9, 0, 1, 2, 3, 4, 5
#define DP_BEHIND_4 8, 9, 10, 11, 0, 1, 2, 3
#endif
#define DP_BEHIND(a, none, d) __builtin_shufflevector((a), (none), DP_BEHIND_##d)
/* The last lane, in all. */
#if DP_W == 16
#define DP_LAST_LANE(a) __builtin_shufflevector((a), (a), 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)
#else
#define DP_LAST_LANE(a) __builtin_shufflevector((a), (a), 7, 7, 7, 7, 7, 7, 7, 7)
#endif

/* ---- every type but bool; S: the signed integer of its width ---- */
#define DP_W_COMPARISONS(N, S) \
    DP_FN dp_bool_w dp_eq_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK(a == b); } \
    DP_FN dp_bool_w dp_ne_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK(a != b); } \
    DP_FN dp_bool_w dp_lt_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK(a < b); } \
    DP_FN dp_bool_w dp_le_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK(a <= b); } \
    DP_FN dp_bool_w dp_gt_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK(a > b); } \
    DP_FN dp_bool_w dp_ge_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK(a >= b); } \
    DP_FN dp_##N##_w dp_select_##N##_w(dp_bool_w c, dp_##N##_w a, dp_##N##_w b) { return DP_W_CONVERT(c, S) ? a : b; } \
    DP_FN dp_##N##_w dp_sign_##N##_w(dp_##N##_w a) \
    { \
        return DP_W_CONVERT(DP_W_CONVERT(a < (dp_##N)0, S) - DP_W_CONVERT(a > (dp_##N)0, S), N); \
    }

/* ---- bool ---- */
DP_FN dp_bool_w dp_wide_bool(dp_bool x) { return (dp_bool_w)(x ? -1 : 0); }
DP_FN dp_bool_w dp_of_memory_bool(dp_u8_w x) { return -DP_W_MASK(x); }
DP_FN dp_u8_w dp_to_memory_bool(dp_bool_w x) { return DP_W_CONVERT(-x, u8); }
DP_W_MEMORY(bool, u8)
DP_FN dp_bool_w dp_and_bool_w(dp_bool_w a, dp_bool_w b) { return a & b; }
DP_FN dp_bool_w dp_or_bool_w(dp_bool_w a, dp_bool_w b) { return a | b; }
DP_FN dp_bool_w dp_xor_bool_w(dp_bool_w a, dp_bool_w b) { return a ^ b; }
DP_FN dp_bool_w dp_not_bool_w(dp_bool_w a) { return ~a; }
DP_FN dp_bool_w dp_min_bool_w(dp_bool_w a, dp_bool_w b) { return a & b; }
DP_FN dp_bool_w dp_max_bool_w(dp_bool_w a, dp_bool_w b) { return a | b; }
DP_FN dp_bool_w dp_mul_bool_w(dp_bool_w a, dp_bool_w b) { return a & b; }
DP_FN dp_bool_w dp_eq_bool_w(dp_bool_w a, dp_bool_w b) { return ~(a ^ b); }
DP_FN dp_bool_w dp_ne_bool_w(dp_bool_w a, dp_bool_w b) { return a ^ b; }
DP_FN dp_bool_w dp_lt_bool_w(dp_bool_w a, dp_bool_w b) { return ~a & b; }
DP_FN dp_bool_w dp_le_bool_w(dp_bool_w a, dp_bool_w b) { return ~a | b; }
DP_FN dp_bool_w dp_gt_bool_w(dp_bool_w a, dp_bool_w b) { return a & ~b; }
DP_FN dp_bool_w dp_ge_bool_w(dp_bool_w a, dp_bool_w b) { return a | ~b; }
DP_FN dp_bool_w dp_less_nan_last_bool_w(dp_bool_w a, dp_bool_w b) { return ~a & b; }
DP_FN dp_bool_w dp_select_bool_w(dp_bool_w c, dp_bool_w a, dp_bool_w b) { return c ? a : b; }

/* ---- integers: U, S the unsigned and the signed type of its width ---- */
#define DP_W_INTEGERS(N, U, S, bits) \
    DP_W_SAME(N) \
    DP_W_COMPARISONS(N, S) \
    DP_FN dp_bool_w dp_less_nan_last_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK(a < b); } \
    DP_FN dp_##N##_w dp_min_##N##_w(dp_##N##_w a, dp_##N##_w b) { return b < a ? b : a; } \
    DP_FN dp_##N##_w dp_max_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a < b ? b : a; } \
    DP_FN dp_##N##_w dp_add_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_AS(DP_W_AS(a, U) + DP_W_AS(b, U), N); } \
    DP_FN dp_##N##_w dp_sub_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_AS(DP_W_AS(a, U) - DP_W_AS(b, U), N); } \
    DP_FN dp_##N##_w dp_mul_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_AS(DP_W_AS(a, U) * DP_W_AS(b, U), N); } \
    DP_FN dp_##N##_w dp_neg_##N##_w(dp_##N##_w a) { return DP_W_AS(-DP_W_AS(a, U), N); } \
    DP_FN dp_##N##_w dp_and_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a & b; } \
    DP_FN dp_##N##_w dp_or_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a | b; } \
    DP_FN dp_##N##_w dp_xor_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a ^ b; } \
    DP_FN dp_##N##_w dp_complement_##N##_w(dp_##N##_w a) { return ~a; } \
    DP_FN dp_##N##_w dp_shl_##N##_w(dp_##N##_w a, dp_##N##_w b) \
    { \
        return DP_W_AS(DP_W_AS(a, U) << (DP_W_AS(b, U) & (dp_##U)(bits - 1)), N); \
    } \
    DP_FN dp_##N##_w dp_shr_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a >> (b & (dp_##N)(bits - 1)); } \
    DP_W_FN2(N, pow) DP_W_FN1(N, popcount) DP_W_FN1(N, clz) DP_W_FN1(N, ctz)

/* Where the divisor is a constant, division is a multiplication. */
#define DP_W_SIGNED(N, U, S, bits) \
    DP_W_INTEGERS(N, U, S, bits) \
    DP_FN dp_##N##_w dp_abs_##N##_w(dp_##N##_w a) { return a < (dp_##N)0 ? dp_neg_##N##_w(a) : a; } \
    DP_FN dp_##N##_w dp_div_##N##_w(dp_##N##_w a, dp_##N##_w b) \
    { \
        dp_##N##_w q = a / (b == (dp_##N)0 || b == (dp_##N)-1 ? (dp_##N##_w)(1) : b); \
        return b == (dp_##N)0 ? (dp_##N##_w)(0) : b == (dp_##N)-1 ? dp_neg_##N##_w(a) : q; \
    } \
    DP_FN dp_##N##_w dp_mod_##N##_w(dp_##N##_w a, dp_##N##_w b) \
    { \
        return a % (b == (dp_##N)0 || b == (dp_##N)-1 ? (dp_##N##_w)(1) : b); \
    }
#define DP_W_UNSIGNED(N, U, S, bits) \
    DP_W_INTEGERS(N, U, S, bits) \
    DP_FN dp_##N##_w dp_abs_##N##_w(dp_##N##_w a) { return a; } \
    DP_FN dp_##N##_w dp_div_##N##_w(dp_##N##_w a, dp_##N##_w b) \
    { \
        dp_##N##_w q = a / (b == (dp_##N)0 ? (dp_##N##_w)(1) : b); \
        return b == (dp_##N)0 ? (dp_##N##_w)(0) : q; \
    } \
    DP_FN dp_##N##_w dp_mod_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a % (b == (dp_##N)0 ? (dp_##N##_w)(1) : b); }
DP_W_SIGNED(i8, u8, i8, 8)
DP_W_SIGNED(i16, u16, i16, 16)
DP_W_SIGNED(i32, u32, i32, 32)
DP_W_SIGNED(i64, u64, i64, 64)
DP_FN dp_i64_w dp_wrap_i64_w(dp_i64_w a, dp_i64_w b)
{
    const dp_i64_w r = dp_select_i64_w(dp_lt_i64_w(a, b), a, a - b);
    const dp_bool_w apart = dp_lt_i64_w(a, (dp_i64_w)(0)) | dp_ge_i64_w(r, b) | dp_lt_i64_w(r, (dp_i64_w)(0));
    return dp_any(apart) ? dp_mod_i64_w(a, b) : r;
}
DP_W_UNSIGNED(u8, u8, i8, 8)
DP_W_UNSIGNED(u16, u16, i16, 16)
DP_W_UNSIGNED(u32, u32, i32, 32)
DP_W_UNSIGNED(u64, u64, i64, 64)
DP_W_TWO(dp_size_add_i64, i64, i64)
DP_W_TWO(dp_size_mul_i64, i64, i64)

/* ---- floats: U, S the integers of its width; rest: all bits but the sign's ---- */
#define DP_W_FLOATS(N, U, S, rest) \
    DP_W_SAME(N) \
    DP_W_COMPARISONS(N, S) \
    DP_FN dp_##N##_w dp_abs_##N##_w(dp_##N##_w a) { return DP_W_AS(DP_W_AS(a, U) & (dp_##U)rest, N); } \
    DP_FN dp_bool_w dp_isnan_##N##_w(dp_##N##_w a) { return DP_W_MASK(a != a); } \
    DP_FN dp_bool_w dp_isinf_##N##_w(dp_##N##_w a) { return DP_W_MASK(dp_abs_##N##_w(a) == (dp_##N)INFINITY); } \
    DP_FN dp_bool_w dp_less_nan_last_##N##_w(dp_##N##_w a, dp_##N##_w b) { return DP_W_MASK((a == a) & ~(a >= b)); } \
    DP_FN dp_##N##_w dp_add_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a + b; } \
    DP_FN dp_##N##_w dp_sub_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a - b; } \
    DP_FN dp_##N##_w dp_mul_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a * b; } \
    DP_FN dp_##N##_w dp_div_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a / b; } \
    DP_FN dp_##N##_w dp_min_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a != a ? b : (b < a ? b : a); } \
    DP_FN dp_##N##_w dp_max_##N##_w(dp_##N##_w a, dp_##N##_w b) { return a != a ? b : (b > a ? b : a); } \
    DP_FN dp_##N##_w dp_neg_##N##_w(dp_##N##_w a) { return -a; } \
    DP_W_FN2(N, mod) DP_W_FN1(N, sqrt) \
    DP_FN dp_##N##_w dp_floor_##N##_w(dp_##N##_w a) { return __builtin_elementwise_floor(a); } \
    DP_FN dp_##N##_w dp_ceil_##N##_w(dp_##N##_w a) { return __builtin_elementwise_ceil(a); } \
    DP_FN dp_##N##_w dp_trunc_##N##_w(dp_##N##_w a) { return __builtin_elementwise_trunc(a); } \
    DP_FN dp_##N##_w dp_round_##N##_w(dp_##N##_w a) { return __builtin_elementwise_roundeven(a); } \
    DP_FN dp_##N##_w dp_fma_##N##_w(dp_##N##_w a, dp_##N##_w b, dp_##N##_w c) \
    { \
        dp_##N##_w r; \
        DP_EACH_LANE(l) r[l] = dp_fma_##N(a[l], b[l], c[l]); \
        return r; \
    }
DP_W_FLOATS(f32, u32, i32, 0x7fffffff)
#ifdef DP_HAS_F64
DP_W_FLOATS(f64, u64, i64, 0x7fffffffffffffff)
#endif

#ifdef DP_ELEMENTARY
_Pragma("OPENCL FP_CONTRACT OFF")
#define DP_W_OF_F64(name) dp_##name##_f64_w
#define DP_W_NEAR(name) dp_##name##_near_w
#define DP_W_OF_F32(name) dp_##name##_short_w
DP_ELEMENTARY(dp_f64_w, dp_i64_w, DP_W_OF_F64)
DP_SINES(dp_f64_w, dp_i64_w, DP_W_NEAR)
DP_SHORT(dp_f64_w, dp_i64_w, DP_W_OF_F32)
#define DP_W_SHORT(name, value) DP_FN dp_f32_w dp_##name##_f32_w(dp_f32_w a) { return DP_W_CONVERT(value, f32); }
#define DP_WIDENED DP_W_CONVERT(a, f64)
DP_W_SHORT(exp, dp_exp_short_w(DP_WIDENED)) DP_W_SHORT(tanh, dp_tanh_short_w(DP_WIDENED))
DP_W_SHORT(log, dp_log_short_w(DP_WIDENED, DP_LOG_E)) DP_W_SHORT(log2, dp_log_short_w(DP_WIDENED, DP_LOG_2))
DP_W_SHORT(log10, dp_log_short_w(DP_WIDENED, DP_LOG_10))
#define DP_W_SHORT_OF_F64(name) \
    DP_FN dp_f32_w dp_##name##_f32_w(dp_f32_w a) { return DP_W_CONVERT(dp_##name##_f64_w(DP_WIDENED), f32); }
DP_W_SHORT_OF_F64(asin) DP_W_SHORT_OF_F64(acos) DP_W_SHORT_OF_F64(atan) DP_W_SHORT_OF_F64(sinh) DP_W_SHORT_OF_F64(cosh)
#define DP_W_SHORT_OF_F64_2(name) \
    DP_FN dp_f32_w dp_##name##_f32_w(dp_f32_w a, dp_f32_w b) { return DP_W_CONVERT(dp_##name##_f64_w(DP_WIDENED, DP_W_CONVERT(b, f64)), f32); }
DP_W_SHORT_OF_F64_2(atan2) DP_W_SHORT_OF_F64_2(hypot)
DP_FN dp_f32_w dp_pow_f32_w(dp_f32_w a, dp_f32_w b) { return DP_W_CONVERT(dp_pow_short_w(DP_WIDENED, DP_W_CONVERT(b, f64)), f32); }
#define DP_W_SINE(name, N, near) \
    DP_FN dp_##N##_w dp_##name##_##N##_w(dp_##N##_w a) \
    { \
        dp_##N##_w r = near; \
        if (dp_any(~DP_W_MASK(dp_abs_##N##_w(a) <= (dp_##N)DP_SINE_MOST))) \
            DP_EACH_LANE(l) r[l] = dp_##name##_##N(a[l]); \
        return r; \
    }
DP_W_SINE(sin, f64, dp_sin_near_w(a)) DP_W_SINE(cos, f64, dp_cos_near_w(a)) DP_W_SINE(tan, f64, dp_tan_near_w(a))
DP_W_SINE(sin, f32, DP_W_CONVERT(dp_sine_short_w(DP_WIDENED, (dp_i64_w)(0)), f32))
DP_W_SINE(cos, f32, DP_W_CONVERT(dp_sine_short_w(DP_WIDENED, (dp_i64_w)(1)), f32))
DP_W_SINE(tan, f32, DP_W_CONVERT(dp_tan_near_w(DP_WIDENED), f32))
DP_CONTRACTION
#else
#define DP_W_ELEMENTARY(N) \
    DP_W_FN1(N, exp) DP_W_FN1(N, log) DP_W_FN1(N, log2) DP_W_FN1(N, log10) DP_W_FN2(N, pow) DP_W_FN1(N, sin) DP_W_FN1(N, cos) DP_W_FN1(N, tan) \
    DP_W_FN1(N, asin) DP_W_FN1(N, acos) DP_W_FN1(N, atan) DP_W_FN2(N, atan2) DP_W_FN1(N, sinh) DP_W_FN1(N, cosh) DP_W_FN1(N, tanh) DP_W_FN2(N, hypot)
DP_W_ELEMENTARY(f32)
#ifdef DP_HAS_F64
DP_W_ELEMENTARY(f64)
#endif
#endif

/* ---- conversions ---- */
#define DP_W_CONVERT_CAST(A, B) DP_FN dp_##B##_w dp_convert_##A##_##B##_w(dp_##A##_w a) { return DP_W_CONVERT(a, B); }
#define DP_W_CONVERT_BOOL(A) DP_FN dp_bool_w dp_convert_##A##_bool_w(dp_##A##_w a) { return DP_W_MASK(a != (dp_##A)0); }
#define DP_W_CONVERT_OF_BOOL(A, B) DP_FN dp_##B##_w dp_convert_bool_##B##_w(dp_bool_w a) { return DP_W_CONVERT(-a, B); }
#define DP_W_CONVERT_INTS(CAST, A) CAST(A, i8) CAST(A, i16) CAST(A, i32) CAST(A, i64) CAST(A, u8) CAST(A, u16) CAST(A, u32) CAST(A, u64)
#define DP_W_CONVERT_FROM_INT(A) DP_W_CONVERT_INTS(DP_W_CONVERT_CAST, A) DP_W_CONVERT_BOOL(A) DP_W_CONVERT_CAST(A, f32)
#define DP_W_CONVERT_EACH_INT(M) M(i8) M(i16) M(i32) M(i64) M(u8) M(u16) M(u32) M(u64)
DP_W_CONVERT_EACH_INT(DP_W_CONVERT_FROM_INT)
DP_W_CONVERT_INTS(DP_W_CONVERT_OF_BOOL, bool)
DP_W_CONVERT_OF_BOOL(bool, f32)
DP_FN dp_bool_w dp_convert_bool_bool_w(dp_bool_w a) { return a; }

#define DP_W_CONVERT_ONE(A, B) DP_W_ONE(dp_convert_##A##_##B, A, B)
#define DP_W_CONVERT_FROM_FLOAT(A) \
    DP_W_CONVERT_INTS(DP_W_CONVERT_ONE, A) DP_W_CONVERT_BOOL(A) DP_W_CONVERT_CAST(A, f32)
DP_W_CONVERT_FROM_FLOAT(f32)
#ifdef DP_HAS_F64
#define DP_W_CONVERT_INT_F64(A) DP_W_CONVERT_CAST(A, f64)
DP_W_CONVERT_EACH_INT(DP_W_CONVERT_INT_F64)
DP_W_CONVERT_OF_BOOL(bool, f64)
DP_W_CONVERT_FROM_FLOAT(f64)
DP_W_CONVERT_CAST(f32, f64)
DP_W_CONVERT_CAST(f64, f64)
#endif

/* ---- near values ---- */
DP_FN dp_i64_w dp_spread(long base) { return base + DP_W_CONVERT(DP_LANE_NUMBERS, i64); }
DP_FN dp_i64_w dp_spread_second(long base) { return base + 2 * DP_W_CONVERT(DP_LANE_NUMBERS, i64); }

/* Conversions as those of ints, where that is the same: processors have no instructions for long ones. */
DP_FN bool dp_near_int(long base) { return base >= 0 && base <= 0x7fffffff - DP_W; }
#define DP_W_NEAR_CONVERT(N) \
    DP_FN dp_##N##_w dp_near_convert_##N(long base) \
    { \
        dp_##N##_w r; \
        if (dp_near_int(base)) \
            r = DP_W_CONVERT((int)base + DP_LANE_NUMBERS, N); \
        else \
            DP_EACH_LANE(l) r[l] = dp_convert_i64_##N((long)((ulong)base + l)); \
        return r; \
    }
DP_W_NEAR_CONVERT(i8) DP_W_NEAR_CONVERT(i16) DP_W_NEAR_CONVERT(i32) DP_W_NEAR_CONVERT(u8) DP_W_NEAR_CONVERT(u16)
DP_W_NEAR_CONVERT(u32) DP_W_NEAR_CONVERT(u64) DP_W_NEAR_CONVERT(f32)
#ifdef DP_HAS_F64
DP_W_NEAR_CONVERT(f64)
#endif

/* The lanes that have less than x: where numbers do not wrap, the first x - base. */
DP_FN dp_bool_w dp_near_lt(long base, long x)
{
    if (base <= 0x7fffffffffffffffL - DP_W) {
        ulong below = base < x ? min((ulong)x - (ulong)base, (ulong)DP_W) : 0;
        return DP_LANE_NUMBERS < (dp_i32_w)((int)below);
    }
    return dp_lt_i64_w(dp_spread(base), dp_wide_i64(x));
}
DP_FN dp_bool_w dp_near_ge(long base, long x) { return ~dp_near_lt(base, x); }
DP_FN dp_bool_w dp_near_le(long base, long x) { return x == 0x7fffffffffffffffL ? DP_ALL : dp_near_lt(base, x + 1); }
DP_FN dp_bool_w dp_near_gt(long base, long x) { return ~dp_near_le(base, x); }
DP_FN dp_bool_w dp_near_eq(long base, long x) { return dp_near_le(base, x) & ~dp_near_lt(base, x); }
DP_FN dp_bool_w dp_near_ne(long base, long x) { return ~dp_near_eq(base, x); }

/* Where an array has an element for each lane. */
DP_FN bool dp_near_there(dp_view view, long base) { return DP_LEN(view) >= DP_W && (ulong)base <= DP_LEN(view) - DP_W; }
DP_FN bool dp_second_there(dp_view view, long base) { return DP_LEN(view) >= 2 * DP_W - 1 && (ulong)base <= DP_LEN(view) - (2 * DP_W - 1); }

/* Does x lie among the lanes, so that they compare with it differently? Or wrap they, then that is not asked. Of min and max:
 * is x ever what is chosen? Of div and mod: does a multiple of x lie among them, or are they or is x negative? Of shr and and: are these bits of them not
 * the same in all lanes? Of low: is x no power of two minus 1, or does a multiple of that power lie among them? */
DP_FN bool dp_wraps(long base) { return base > 0x7fffffffffffffffL - DP_W; }
DP_FN bool dp_parts_eq(long base, long x) { return (ulong)x - (ulong)base < DP_W; }
DP_FN bool dp_parts_ne(long base, long x) { return dp_parts_eq(base, x); }
DP_FN bool dp_parts_lt(long base, long x) { return dp_wraps(base) || (ulong)x - (ulong)base - 1 < DP_W - 1; }
DP_FN bool dp_parts_ge(long base, long x) { return dp_parts_lt(base, x); }
DP_FN bool dp_parts_le(long base, long x) { return dp_wraps(base) || (ulong)x - (ulong)base < DP_W - 1; }
DP_FN bool dp_parts_gt(long base, long x) { return dp_parts_le(base, x); }
DP_FN bool dp_parts_max(long base, long x) { return dp_wraps(base) || base < x; }
DP_FN bool dp_parts_min(long base, long x) { return dp_wraps(base) || base + (DP_W - 1) > x; }
DP_FN bool dp_parts_mod(long base, long x) { return dp_wraps(base) || base < 0 || x < DP_W || dp_wrap_i64(base, x) > x - DP_W; }
DP_FN bool dp_parts_div(long base, long x) { return dp_parts_mod(base, x); }
DP_FN bool dp_parts_shr(long base, long x) { return dp_wraps(base) || base >> (x & 63) != (base + (DP_W - 1)) >> (x & 63); }
DP_FN bool dp_parts_and(long base, long x) { return dp_wraps(base) || (x & (DP_W - 1)) != 0 || (base & x) != ((base + (DP_W - 1)) & x); }
DP_FN bool dp_parts_low(long base, long x) { return dp_wraps(base) || (x & (long)((ulong)x + 1)) != 0 || x < DP_W - 1 || (base & x) > x - (DP_W - 1); }
