/* REDUCE, segments that all have one length m, of instances that share what they read (the holes DP_SHAPE ..., from
 * compiler/plan/access.h). Every segment is combined in order, from the neutral element on.
 *
 * The instances are batches of rows x columns: instance j of row i of batch b is (b * rows + i) * columns + j. FLAT: one row.
 *
 * GPU, BLOCKS: a work-group takes BM x BN instances of a batch. What they share of the next DP_BK positions is loaded into local memory
 * once, while the step before is computed on; a lane keeps TM x TN values in registers. Where rows and columns end, lanes
 * repeat the last instance and do not store; behind the last position the last one is loaded again, and not used. Where tiles are
 * few and segments long, these are cut, and each cut's values are stored as `parts`, for dp_segreduce_joined.
 * FLAT, ROWS: a lane has one instance, or, where there are too few for the device, one of DP_PIECES pieces of its segment, which are joined in
 * order at the end: the others are in the same group.
 *
 * CPU: a work-item takes strips of TM rows by BN columns, DP_W of these side by side in vectors, one below the other. Their values stay in
 * registers for BK positions; what columns share of these is packed first, for all the strips. Where batches are many and small (DP_BATCHES),
 * DP_W neighbouring ones are side by side: what they load of a row, and of all columns, is packed so that lanes are batches. */
#define DP_FLAT 1
#define DP_ROWS 2
#define DP_BLOCKS 3
#define DP_BATCHES 8 /* of DP_WAY */

#define DP_TILE_PASS(k) row, column, cell, stream, row_k, column_k
#define DP_INSTANCE_AT(i, j) ((base + (i)) * columns + (j))

#if DP_GPU
enum {
    LX = DP_SHAPE == DP_BLOCKS ? 16 : DP_WG / DP_PIECES, /* lanes side by side */
    LY = DP_SHAPE == DP_BLOCKS ? DP_WG / LX : 1,
    TM = DP_SHAPE == DP_BLOCKS ? DP_TM : 1,
    TN = DP_TN,
    BM = LY * TM,
    BN = LX * TN,
    BK = DP_SHAPE == DP_BLOCKS ? DP_BK : LX * DP_BK,
    STAGED = BK * DP_PIECES, /* positions in local memory */
    STREAM_STAGES = DP_SHAPE == DP_BLOCKS ? 1 : DP_BK,
    PAD = 4, /* elements, so that lanes that store down a tile meet different banks */
    RUN_BYTES = 16 / sizeof(dp_column_k),
    RUN = DP_SHAPE != DP_BLOCKS ? 1 : RUN_BYTES >= 4 ? (TN < 4 ? TN : 4) : RUN_BYTES >= 2 ? 2 : 1,
    /* Elements that a lane stages. */
    ROW_STAGES = DP_SHAPE == DP_BLOCKS ? (BM * BK + DP_WG - 1) / DP_WG : DP_BK,
    COLUMN_STAGES = BN * BK / DP_WG,
    STAGED_COLUMNS = DP_COLUMN_BY_K ? COLUMN_STAGES : BN > DP_WG ? BN / DP_WG : 1
};
#if DP_STRAIGHT_BODY
/* Positions side by side in straight code (roots.cl). From those on of which one is odd a step's rest is done by the usual body. */
enum { MOST_STRAIGHT = 16, RUN_STRAIGHT = BK % MOST_STRAIGHT ? 1 : MOST_STRAIGHT };
#define DP_NOTES_ODD , &odd
#endif
/* Row p and column q of a lane's, in the tile; RUN columns side by side, so that they are loaded at once. */
#define DP_TILE_ROW(p) (ty * TM + (p))
#define DP_TILE_COLUMN(q) ((q) / RUN * (LX * RUN) + tx * RUN + (q) % RUN)
/* Element number e of the stage: its position and its row or column. */
#define DP_STAGE_E(q) ((q) * DP_WG + l)
/* A position of the lane's own piece: number q of those that it stages where it has one instance. */
#define DP_STAGE_OWN(q) (piece * BK + (q) * LX + tx)
#define DP_STAGE_BY_K_K(q) (DP_SHAPE == DP_BLOCKS ? DP_STAGE_E(q) % STAGED : DP_STAGE_OWN(q))
#define DP_STAGE_BY_K_AT(q) (DP_SHAPE == DP_BLOCKS ? DP_STAGE_E(q) / STAGED : 0)
#if DP_COLUMN_BY_K
#define DP_STAGE_COLUMN_K(q) DP_STAGE_BY_K_K(q)
#define DP_STAGE_COLUMN_AT(q) DP_STAGE_BY_K_AT(q)
#else
#define DP_STAGE_COLUMN_K(q) (DP_STAGE_E(q) / BN)
#define DP_STAGE_COLUMN_AT(q) (DP_STAGE_E(q) % BN)
#endif

/* The position that is number e of those staged: of the lane's own piece, where there are several. */
#define DP_STAGED_K(k0, e) min(begin + (k0) + (DP_PIECES > 1 ? (e) % BK : (e)), last_k)

/* The next step's shared values, into registers. */
#if DP_HAS_STREAM
#define DP_FETCH_STREAM(k0) \
    _Pragma("unroll") for (uint q = 0; q < STREAM_STAGES; q++) if (l < STAGED) \
        next_stream[q] = dp_tile_stream(heap, DP_STAGED_K(k0, DP_STAGE_BY_K_K(q)) DP_PASS);
#define DP_PUT_STREAM() \
    _Pragma("unroll") for (uint q = 0; q < STREAM_STAGES; q++) if (l < STAGED) \
        streams[DP_STAGE_BY_K_K(q)] = next_stream[q];
#else
#define DP_FETCH_STREAM(k0)
#define DP_PUT_STREAM()
#endif
#if DP_HAS_ROW_K
#define DP_FETCH_ROW_K(k0) \
    _Pragma("unroll") for (uint q = 0; q < ROW_STAGES; q++) \
        next_row_k[q] = dp_tile_row_k(heap, DP_STAGED_K(k0, DP_STAGE_BY_K_K(q)), stage_row[q] DP_PASS);
#define DP_PUT_ROW_K() \
    _Pragma("unroll") for (uint q = 0; q < ROW_STAGES; q++) \
        row_ks[DP_STAGE_BY_K_K(q)][DP_STAGE_BY_K_AT(q)] = next_row_k[q];
#else
#define DP_FETCH_ROW_K(k0)
#define DP_PUT_ROW_K()
#endif
#if DP_HAS_COLUMN_K
#define DP_FETCH_COLUMN_K(k0) \
    _Pragma("unroll") for (uint q = 0; q < COLUMN_STAGES; q++) \
        next_column_k[q] = dp_tile_column_k(heap, DP_STAGED_K(k0, DP_STAGE_COLUMN_K(q)), stage_column[q % STAGED_COLUMNS] DP_PASS);
#define DP_PUT_COLUMN_K() \
    _Pragma("unroll") for (uint q = 0; q < COLUMN_STAGES; q++) \
        column_ks[DP_STAGE_COLUMN_K(q)][DP_STAGE_COLUMN_AT(q)] = next_column_k[q];
#else
#define DP_FETCH_COLUMN_K(k0)
#define DP_PUT_COLUMN_K()
#endif
#define DP_FETCH(k0) DP_FETCH_STREAM(k0) DP_FETCH_ROW_K(k0) DP_FETCH_COLUMN_K(k0)

/* Position k0 + k of its piece for all instances of the lane; `more`: arguments of the body beyond the usual. */
#define DP_TILE_STEP(k, body, more) \
    { \
        dp_stream stream; \
        dp_row_k a[TM]; \
        dp_column_k b[TN]; \
        DP_GET_STREAM(k) DP_GET_ROW_K(k) DP_GET_COLUMN_K(k) \
        _Pragma("unroll") for (uint p = 0; p < TM; p++) _Pragma("unroll") for (uint q = 0; q < TN; q++) { \
            ulong s = DP_INSTANCE_AT(row_at[p], column_at[q]); \
            dp_val x = body(heap, s * m + begin + k0 + (k), s, begin + k0 + (k), row[p], column[q], cell[p * TN + q], stream, a[p], b[q] more DP_PASS); \
            v[p * TN + q] = DP_OP(s, v[p * TN + q], x); \
        } \
    }
#if DP_HAS_STREAM
#define DP_GET_STREAM(k) stream = streams[piece * BK + (k)];
#else
#define DP_GET_STREAM(k) stream.none = 0;
#endif
#if DP_HAS_ROW_K
#define DP_GET_ROW_K(k) _Pragma("unroll") for (uint p = 0; p < TM; p++) a[p] = row_ks[piece * BK + (k)][DP_TILE_ROW(p)];
#else
#define DP_GET_ROW_K(k) for (uint p = 0; p < TM; p++) a[p].none = 0;
#endif
#if DP_HAS_COLUMN_K
#define DP_GET_COLUMN_K(k) _Pragma("unroll") for (uint q = 0; q < TN; q++) b[q] = column_ks[k][DP_TILE_COLUMN(q)];
#else
#define DP_GET_COLUMN_K(k) for (uint q = 0; q < TN; q++) b[q].none = 0;
#endif

DP_KERNEL void dp_segreduce_tile(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong m, ulong rows,
                                 ulong columns, ulong cuts, ulong parts DP_WORDS DP_OUTS)
{
#if DP_HAS_STREAM
    __local dp_stream streams[STAGED];
    dp_stream next_stream[STREAM_STAGES];
#endif
#if DP_HAS_ROW_K
    __local __attribute__((aligned(16))) dp_row_k row_ks[STAGED][BM == 1 ? 1 : BM + PAD];
    dp_row stage_row[ROW_STAGES];
    dp_row_k next_row_k[ROW_STAGES];
#endif
#if DP_HAS_COLUMN_K
    __local __attribute__((aligned(16))) dp_column_k column_ks[BK][BN + PAD];
    dp_column stage_column[STAGED_COLUMNS];
    dp_column_k next_column_k[COLUMN_STAGES];
#endif
#if DP_PIECES > 1
    __local dp_val joined[DP_WG];
#endif
    const uint l = (uint)get_local_id(0), tx = l % LX, ty = DP_SHAPE == DP_BLOCKS ? l / LX : 0, piece = DP_PIECES > 1 ? l / LX : 0;
    const ulong tiles = get_num_groups(0) / cuts, cut = get_group_id(0) / tiles, g = get_group_id(0) % tiles;
    const ulong each = DP_SHAPE == DP_BLOCKS ? (m + cuts - 1) / cuts : (m + DP_PIECES - 1) / DP_PIECES;
    const ulong begin = (DP_SHAPE == DP_BLOCKS ? cut : piece) * each, end = min(begin + each, m);
    const ulong across = (columns + BN - 1) / BN, down = (rows + BM - 1) / BM, last_k = m - 1;
    const ulong j0 = g % across * BN, i0 = g / across % down * BM, base = g / across / down * rows;
    ulong row_at[TM], column_at[TN];
    dp_row row[TM];
    dp_column column[TN];
    dp_cell cell[TM * TN];
    dp_val v[TM * TN];
#pragma unroll
    for (uint p = 0; p < TM; p++) {
        row_at[p] = min(i0 + DP_TILE_ROW(p), rows - 1);
        row[p] = dp_tile_row(heap, DP_INSTANCE_AT(row_at[p], 0) DP_PASS);
    }
#pragma unroll
    for (uint q = 0; q < TN; q++) {
        column_at[q] = min(j0 + DP_TILE_COLUMN(q), columns - 1);
        column[q] = dp_tile_column(heap, DP_INSTANCE_AT(0, column_at[q]) DP_PASS);
    }
#pragma unroll
    for (uint p = 0; p < TM * TN; p++) {
        ulong s = DP_INSTANCE_AT(row_at[p / TN], column_at[p % TN]);
        cell[p] = dp_tile_cell(heap, s DP_PASS);
        v[p] = DP_NEUTRAL(s);
    }
#if DP_HAS_ROW_K
#pragma unroll
    for (uint q = 0; q < ROW_STAGES; q++)
        stage_row[q] = dp_tile_row(heap, DP_INSTANCE_AT(min(i0 + DP_STAGE_BY_K_AT(q), rows - 1), 0) DP_PASS);
#endif
#if DP_HAS_COLUMN_K
#pragma unroll
    for (uint q = 0; q < STAGED_COLUMNS; q++)
        stage_column[q] = dp_tile_column(heap, DP_INSTANCE_AT(0, min(j0 + DP_STAGE_COLUMN_AT(q), columns - 1)) DP_PASS);
#endif
    DP_FETCH((ulong)0)
    for (ulong k0 = 0; k0 < each; k0 += BK) {
        DP_PUT_STREAM()
        DP_PUT_ROW_K()
        DP_PUT_COLUMN_K()
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_FETCH(k0 + BK)
        if (begin + k0 + BK <= end) {
#if DP_STRAIGHT_BODY
            uint k = 0, odd = 0;
            while (k < BK) {
                const dp_val before = v[0];
                _Pragma("unroll") for (uint e = 0; e < RUN_STRAIGHT; e++)
                    DP_TILE_STEP(k + e, dp_tile_body_straight, DP_NOTES_ODD)
                if (odd >= DP_ODD) {
                    v[0] = before;
                    break;
                }
                k += RUN_STRAIGHT;
            }
            _Pragma("unroll 1") for (; k < BK; k++)
                DP_TILE_STEP(k, dp_tile_body, )
#else
            DP_UNROLL for (uint k = 0; k < BK; k++)
                DP_TILE_STEP(k, dp_tile_body, )
#endif
        } else {
            for (uint k = 0; begin + k0 + k < end; k++)
                DP_TILE_STEP(k, dp_tile_body, )
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#if DP_PIECES > 1
    for (uint d = 1; d < DP_PIECES; d *= 2) {
        joined[l] = v[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (piece % (2 * d) == 0)
            v[0] = DP_OP(DP_INSTANCE_AT(row_at[0], column_at[0]), v[0], joined[l + d * LX]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
#pragma unroll
    for (uint p = 0; p < TM; p++)
#pragma unroll
        for (uint q = 0; q < TN; q++)
            if (piece == 0 && i0 + DP_TILE_ROW(p) < rows && j0 + DP_TILE_COLUMN(q) < columns) {
                const ulong s = DP_INSTANCE_AT(row_at[p], column_at[q]);
                if (DP_SHAPE == DP_BLOCKS && cuts > 1)
                    *(__global dp_val *)(out + parts + (cut * nseg + s) * sizeof(dp_val)) = v[p * TN + q];
                else
                    dp_store(out, s, v[p * TN + q] DP_PASS_OUTS);
            }
}

#if DP_SHAPE == DP_BLOCKS
/* The cuts' values of JOINED segments a group, in order: several items have neighbouring cuts each. */
enum { JOINED = 32, JOINERS = DP_WG / JOINED };
DP_KERNEL void dp_segreduce_joined(DP_HEAP, ulong nseg, ulong cuts, ulong parts DP_WORDS DP_OUTS)
{
    __local dp_val joined[DP_WG];
    const uint l = (uint)get_local_id(0), piece = l / JOINED;
    const ulong segment = (ulong)get_group_id(0) * JOINED + l % JOINED, s = min(segment, nseg - 1);
    const ulong each = (cuts + JOINERS - 1) / JOINERS, end = min((piece + 1) * each, cuts);
    dp_val v = DP_NEUTRAL(s);
    for (ulong c = piece * each; c < end; c++)
        v = DP_OP(s, v, *DP_AT(dp_val, parts + (c * nseg + s) * sizeof(dp_val)));
    joined[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (piece == 0 && segment < nseg) {
        for (uint k = 1; k < JOINERS; k++)
            v = DP_OP(s, v, joined[k * JOINED + l]);
        dp_store(heap, s, v DP_PASS_OUTS);
    }
}
#endif

#else /* CPU */
#if DP_W
#define DP_FIELD_TYPE(N) dp_##N
#define DP_FIELD_LANES(N, place) dp_of_memory_##N(*(const dp_##N##_m *)&(place))
#define DP_TILE_BODY dp_tile_body_w
#define DP_TILE_OP DP_OP_W
enum { W = DP_W };
#else /* vectors of one lane */
typedef dp_val dp_vec;
typedef dp_column dp_column_w;
typedef dp_cell dp_cell_w;
typedef dp_column_k dp_column_k_w;
#define DP_COLUMN_W(F) DP_COLUMN_FIELDS(F)
#define DP_CELL_W(F) DP_CELL_FIELDS(F)
#define DP_COLUMN_K_W(F) DP_COLUMN_K_FIELDS(F)
#define DP_FIELD_TYPE(T) T
#define DP_FIELD_LANES(T, place) (place)
#define DP_TILE_BODY dp_tile_body
#define DP_TILE_OP DP_OP
#define dp_wide(v) (v)
#define dp_lane(v, l) (v)
#define dp_store_w dp_store
typedef dp_row dp_row_w;
typedef dp_row_k dp_row_k_w;
#define DP_ROW_W(F) DP_ROW_FIELDS(F)
#define DP_ROW_K_W(F) DP_ROW_K_FIELDS(F)
enum { W = 1 };
#endif
#if DP_WAY == DP_BATCHES
enum {
    TN = 4, /* columns whose values are in registers together */
    BATCH_BYTES = 32 << 10,
    MOST_COLUMNS = 16,
    BN = MOST_COLUMNS * W,
    ROW_BN = W,
    CELL_BN = TN * W,
    KEPT_ROW = BATCH_BYTES / sizeof(dp_row_k),
    KEPT_COLUMNS = BATCH_BYTES / sizeof(dp_column_k)
};
#else
enum {
    TM = DP_TM,
    NV = DP_TN,
    BN = NV * W,
    PACKED_BYTES = 32 << 10,
    FIT = PACKED_BYTES / (BN * sizeof(dp_column_k)),
    BK = !DP_HAS_COLUMN_K ? 1 : FIT < 16 ? 16 : FIT > 256 ? 256 : FIT,
    FIT_STRIPS = PACKED_BYTES / (TM * NV * sizeof(dp_vec)),
    STRIPS = !DP_HAS_COLUMN_K ? 1 : FIT_STRIPS < 1 ? 1 : FIT_STRIPS > 64 ? 64 : FIT_STRIPS,
    CELL_BN = TM * BN,
    KEPT_COLUMNS = BK * BN
};
#endif
/* A struct's fields as arrays; its element x, put there; and those from x on, as a struct of vectors r. */
#define DP_FIELD_ONE(N, field) +1
#define DP_COLUMN_ARRAY(N, field) DP_FIELD_TYPE(N) column_##field[BN] __attribute__((aligned(64)));
#define DP_COLUMN_PUT(N, field) column_##field[x] = c.field;
#define DP_COLUMN_TAKE(N, field) r.field = DP_FIELD_LANES(N, column_##field[x]);
#define DP_CELL_ARRAY(N, field) DP_FIELD_TYPE(N) cell_##field[CELL_BN] __attribute__((aligned(64)));
#define DP_CELL_PUT(N, field) cell_##field[x] = e.field;
#define DP_CELL_TAKE(N, field) r.field = DP_FIELD_LANES(N, cell_##field[x]);
#define DP_COLUMN_K_ARRAY(N, field) DP_FIELD_TYPE(N) column_k_##field[KEPT_COLUMNS] __attribute__((aligned(64)));
#define DP_COLUMN_K_PUT(N, field) column_k_##field[x] = b.field;
#define DP_COLUMN_K_TAKE(N, field) r.field = DP_FIELD_LANES(N, column_k_##field[x]);
#if DP_WAY == DP_BATCHES
#define DP_ROW_ARRAY(N, field) DP_FIELD_TYPE(N) row_##field[W] __attribute__((aligned(64)));
#define DP_ROW_PUT(N, field) row_##field[l] = r.field;
#define DP_ROW_TAKE(N, field) row.field = DP_FIELD_LANES(N, row_##field[0]);
#define DP_ROW_K_ARRAY(N, field) DP_FIELD_TYPE(N) row_k_##field[KEPT_ROW] __attribute__((aligned(64)));
#define DP_ROW_K_PUT(N, field) row_k_##field[x] = a.field;
#define DP_ROW_K_TAKE(N, field) a.field = DP_FIELD_LANES(N, row_k_##field[k * W]);
#define DP_BATCH_AT(i, j) (((first + l) * rows + (i)) * columns + (j))
#define DP_EACH_BATCH(l) for (uint l = 0; l < W; l++)

DP_KERNEL void dp_segreduce_tile(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong m, ulong rows,
                                 ulong columns DP_WORDS DP_OUTS)
{
    DP_ROW_W(DP_ROW_ARRAY)
    DP_COLUMN_W(DP_COLUMN_ARRAY)
    DP_CELL_W(DP_CELL_ARRAY)
    DP_ROW_K_W(DP_ROW_K_ARRAY)
    DP_COLUMN_K_W(DP_COLUMN_K_ARRAY)
    const ulong batches = nseg / (rows * columns), groups = (batches + W - 1) / W;
    const ulong last = dp_chunk_start(groups, get_global_size(0), get_global_id(0) + 1);
    for (ulong group = dp_chunk_start(groups, get_global_size(0), get_global_id(0)); group < last; group++) {
        const ulong first = min(group * W, batches - W); /* the last ones begin before the rest: some are computed twice */
        for (ulong j = 0; j < columns; j++)
            DP_EACH_BATCH(l)
            {
                ulong x = j * W + l;
                dp_column c = dp_tile_column(heap, DP_BATCH_AT(0, j) DP_PASS);
                DP_COLUMN_W(DP_COLUMN_PUT)
                for (ulong k = 0; DP_HAS_COLUMN_K && k < m; k++) {
                    dp_column_k b = dp_tile_column_k(heap, k, c DP_PASS);
                    x = (j * m + k) * W + l;
                    DP_COLUMN_K_W(DP_COLUMN_K_PUT)
                }
            }
        for (ulong i = 0; i < rows; i++) {
            dp_row_w row = {0};
            DP_EACH_BATCH(l)
            {
                dp_row r = dp_tile_row(heap, DP_BATCH_AT(i, 0) DP_PASS);
                DP_ROW_W(DP_ROW_PUT)
                for (ulong k = 0; DP_HAS_ROW_K && k < m; k++) {
                    const ulong x = k * W + l;
                    dp_row_k a = dp_tile_row_k(heap, k, r DP_PASS);
                    DP_ROW_K_W(DP_ROW_K_PUT)
                }
            }
            DP_ROW_W(DP_ROW_TAKE)
            for (ulong j0 = 0; j0 < columns; j0 += TN) {
                const ulong s = (first * rows + i) * columns + j0;
                dp_column_w column[TN];
                dp_cell_w cell[TN];
                dp_vec v[TN];
#pragma unroll
                for (uint q = 0; q < TN; q++) {
                    const ulong j = min(j0 + q, columns - 1);
                    DP_EACH_BATCH(l)
                    {
                        const uint x = q * W + l;
                        dp_cell e = dp_tile_cell(heap, DP_BATCH_AT(i, j) DP_PASS);
                        DP_CELL_W(DP_CELL_PUT)
                    }
                    {
                        const ulong x = j * W;
                        dp_column_w r = {0};
                        DP_COLUMN_W(DP_COLUMN_TAKE)
                        column[q] = r;
                    }
                    const uint x = q * W;
                    dp_cell_w r = {0};
                    DP_CELL_W(DP_CELL_TAKE)
                    cell[q] = r;
                    v[q] = dp_wide(DP_NEUTRAL(s));
                }
                for (ulong k = 0; k < m; k++) {
                    dp_stream stream = dp_tile_stream(heap, k DP_PASS);
                    dp_row_k_w a = {0};
                    DP_ROW_K_W(DP_ROW_K_TAKE)
#pragma unroll
                    for (uint q = 0; q < TN; q++) {
                        const ulong x = (min(j0 + q, columns - 1) * m + k) * W;
                        dp_column_k_w r = {0};
                        DP_COLUMN_K_W(DP_COLUMN_K_TAKE)
                        v[q] = DP_TILE_OP(s, v[q], DP_TILE_BODY(heap, s * m + k, s, k, row, column[q], cell[q], stream, a, r DP_PASS));
                    }
                }
#pragma unroll
                for (uint q = 0; q < TN; q++)
                    if (j0 + q < columns) {
                        _Pragma("unroll") DP_EACH_BATCH(l) dp_store(out, DP_BATCH_AT(i, j0 + q), dp_lane(v[q], l) DP_PASS_OUTS);
                    }
            }
        }
    }
}
#else
#define DP_PACK(q, k) \
    { \
        const uint x = (k) * BN + (q); \
        dp_column_k b = dp_tile_column_k(heap, k0 + (k), every[q] DP_PASS); \
        DP_COLUMN_K_W(DP_COLUMN_K_PUT) \
    }

DP_KERNEL void dp_segreduce_tile(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong m, ulong rows,
                                 ulong columns DP_WORDS DP_OUTS)
{
    DP_COLUMN_W(DP_COLUMN_ARRAY)
    DP_CELL_W(DP_CELL_ARRAY)
    DP_COLUMN_K_W(DP_COLUMN_K_ARRAY)
    dp_column every[BN];
    dp_vec kept[STRIPS * TM * NV];
    const ulong across = (columns + BN - 1) / BN, strips = (rows + TM - 1) / TM, units = nseg / (rows * columns) * across * strips;
    const ulong last = dp_chunk_start(units, get_global_size(0), get_global_id(0) + 1);
    ulong count;
    for (ulong u = dp_chunk_start(units, get_global_size(0), get_global_id(0)); u < last; u += count) {
#if DP_NEAR_COLUMNS
        /* Lanes are neighbouring columns, which there are as many of: the last ones begin before the rest. */
        const ulong j0 = min(u / strips % across * BN, columns - BN);
#else
        const ulong j0 = u / strips % across * BN;
#endif
        const ulong first = u % strips, base = u / strips / across * rows;
        count = min(min(last - u, strips - first), (ulong)STRIPS);
        for (uint x = 0; x < BN; x++) {
            dp_column c = every[x] = dp_tile_column(heap, DP_INSTANCE_AT(0, min(j0 + x, columns - 1)) DP_PASS);
            DP_COLUMN_W(DP_COLUMN_PUT)
        }
        for (ulong k0 = 0, step; k0 < m; k0 += step) {
            step = DP_HAS_COLUMN_K ? min(m - k0, (ulong)BK) : m;
#if DP_HAS_COLUMN_K && DP_COLUMN_BY_K
            for (uint q = 0; q < BN; q++)
                for (uint k = 0; k < step; k++)
                    DP_PACK(q, k)
#elif DP_HAS_COLUMN_K
            for (uint k = 0; k < step; k++)
                for (uint q = 0; q < BN; q++)
                    DP_PACK(q, k)
#endif
            for (ulong strip = 0; strip < count; strip++) {
                const ulong i0 = (first + strip) * TM;
                dp_row row[TM];
                dp_column_w column[NV];
                dp_cell_w cell[TM * NV];
                dp_vec v[TM * NV];
                for (uint x = 0; 0 DP_CELL_W(DP_FIELD_ONE) && x < TM * BN; x++) {
                    ulong s = DP_INSTANCE_AT(min(i0 + x / BN, rows - 1), min(j0 + x % BN, columns - 1));
                    dp_cell e = dp_tile_cell(heap, s DP_PASS);
                    DP_CELL_W(DP_CELL_PUT)
                }
#pragma unroll
                for (uint p = 0; p < TM; p++)
                    row[p] = dp_tile_row(heap, DP_INSTANCE_AT(min(i0 + p, rows - 1), 0) DP_PASS);
#pragma unroll
                for (uint q = 0; q < NV; q++) {
                    const uint x = q * W;
                    dp_column_w r = {0};
                    DP_COLUMN_W(DP_COLUMN_TAKE)
                    column[q] = r;
                }
#pragma unroll
                for (uint p = 0; p < TM * NV; p++) {
                    const uint x = p * W;
                    dp_cell_w r = {0};
                    DP_CELL_W(DP_CELL_TAKE)
                    cell[p] = r;
                    v[p] = k0 ? kept[strip * TM * NV + p] : dp_wide(DP_NEUTRAL(DP_INSTANCE_AT(min(i0 + p / NV, rows - 1), min(j0 + p % NV * W, columns - 1))));
                }
                for (ulong k = 0; k < step; k++) {
                    dp_stream stream = dp_tile_stream(heap, k0 + k DP_PASS);
                    dp_column_k_w b[NV];
#pragma unroll
                    for (uint q = 0; q < NV; q++) {
                        const uint x = (uint)k * BN + q * W;
                        dp_column_k_w r = {0};
                        DP_COLUMN_K_W(DP_COLUMN_K_TAKE)
                        b[q] = r;
                    }
#pragma unroll
                    for (uint p = 0; p < TM; p++) {
                        dp_row_k a = dp_tile_row_k(heap, k0 + k, row[p] DP_PASS);
#pragma unroll
                        for (uint q = 0; q < NV; q++) {
                            ulong s = DP_INSTANCE_AT(min(i0 + p, rows - 1), min(j0 + q * W, columns - 1));
                            v[p * NV + q] = DP_TILE_OP(s, v[p * NV + q], DP_TILE_BODY(heap, s * m + k0 + k, s, k0 + k, row[p], column[q],
                                                                                     cell[p * NV + q], stream, a, b[q] DP_PASS));
                        }
                    }
                }
#pragma unroll
                for (uint p = 0; p < TM * NV; p++) {
                    const ulong i = i0 + p / NV, j = j0 + p % NV * W;
                    if (k0 + step < m)
                        kept[strip * TM * NV + p] = v[p];
                    else if (i < rows && j + W <= columns)
                        dp_store_w(out, DP_INSTANCE_AT(i, j), v[p] DP_PASS_OUTS);
                    else if (i < rows)
                        for (uint l = 0; j + l < columns; l++)
                            dp_store(out, DP_INSTANCE_AT(i, j + l), dp_lane(v[p], l) DP_PASS_OUTS);
                }
            }
        }
    }
}
#endif
#endif
