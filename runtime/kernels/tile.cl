/* REDUCE, segments that all have one length m, of instances that share what they read (the holes DP_SHAPE ..., from
 * compiler/plan/access.h). Every segment is combined in order, from the neutral element on.
 *
 * The instances are batches of rows x columns: instance j of row i of batch b is (b * rows + i) * columns + j. FLAT: one row.
 *
 * GPU: a work-group takes BM x BN instances of a batch. What they share of the next DP_BK positions is loaded into local memory
 * once, while the step before is computed on; a lane keeps TM x TN values in registers. Where rows and columns end, lanes
 * repeat the last instance and do not store; behind the last position the last one is loaded again, and not used.
 *
 * CPU: a work-item takes BM x BN instances; the loop over neighbouring columns is the innermost, of constant count, and all that it
 * uses lies in arrays, field by field: so that compilers make vectors of it. What columns share is packed first. */
#define DP_FLAT 1
#define DP_ROWS 2
#define DP_BLOCKS 3

#define DP_TILE_PASS(k) row, column, cell, stream, row_k, column_k
#define DP_INSTANCE_AT(i, j) ((base + (i)) * columns + (j))

#if DP_GPU
enum {
    LX = DP_SHAPE == DP_BLOCKS ? 16 : DP_WG, /* lanes side by side */
    LY = DP_WG / LX,
    TM = DP_SHAPE == DP_BLOCKS ? DP_TM : 1,
    TN = DP_TN,
    BM = LY * TM,
    BN = LX * TN,
    BK = DP_SHAPE == DP_BLOCKS ? DP_BK : DP_WG,
    PAD = 4, /* elements, so that lanes that store down a tile meet different banks */
    RUN_BYTES = 16 / sizeof(dp_column_k),
    RUN = DP_SHAPE != DP_BLOCKS ? 1 : RUN_BYTES >= 4 ? (TN < 4 ? TN : 4) : RUN_BYTES >= 2 ? 2 : 1,
    /* Elements that a lane stages. */
    ROW_STAGES = (BM * BK + DP_WG - 1) / DP_WG,
    COLUMN_STAGES = BN * BK / DP_WG,
    STAGED_COLUMNS = DP_COLUMN_BY_K ? COLUMN_STAGES : BN > DP_WG ? BN / DP_WG : 1
};
/* Row p and column q of a lane's, in the tile; RUN columns side by side, so that they are loaded at once. */
#define DP_TILE_ROW(p) (ty * TM + (p))
#define DP_TILE_COLUMN(q) ((q) / RUN * (LX * RUN) + tx * RUN + (q) % RUN)
/* Element number e of the stage: its position and its row or column. */
#define DP_STAGE_E(q) ((q) * DP_WG + l)
#define DP_STAGE_BY_K_K(q) (DP_STAGE_E(q) % BK)
#define DP_STAGE_BY_K_AT(q) (DP_STAGE_E(q) / BK)
#if DP_COLUMN_BY_K
#define DP_STAGE_COLUMN_K(q) DP_STAGE_BY_K_K(q)
#define DP_STAGE_COLUMN_AT(q) DP_STAGE_BY_K_AT(q)
#else
#define DP_STAGE_COLUMN_K(q) (DP_STAGE_E(q) / BN)
#define DP_STAGE_COLUMN_AT(q) (DP_STAGE_E(q) % BN)
#endif

/* The next step's shared values, into registers. */
#if DP_HAS_STREAM
#define DP_FETCH_STREAM(k0) \
    if (l < BK) \
        next_stream = dp_tile_stream(heap, min((k0) + l, last_k) DP_PASS);
#define DP_PUT_STREAM() \
    if (l < BK) \
        streams[l] = next_stream;
#else
#define DP_FETCH_STREAM(k0)
#define DP_PUT_STREAM()
#endif
#if DP_HAS_ROW_K
#define DP_FETCH_ROW_K(k0) \
    _Pragma("unroll") for (uint q = 0; q < ROW_STAGES; q++) \
        next_row_k[q] = dp_tile_row_k(heap, min((k0) + DP_STAGE_BY_K_K(q), last_k), stage_row[q] DP_PASS);
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
        next_column_k[q] = dp_tile_column_k(heap, min((k0) + DP_STAGE_COLUMN_K(q), last_k), stage_column[q % STAGED_COLUMNS] DP_PASS);
#define DP_PUT_COLUMN_K() \
    _Pragma("unroll") for (uint q = 0; q < COLUMN_STAGES; q++) \
        column_ks[DP_STAGE_COLUMN_K(q)][DP_STAGE_COLUMN_AT(q)] = next_column_k[q];
#else
#define DP_FETCH_COLUMN_K(k0)
#define DP_PUT_COLUMN_K()
#endif
#define DP_FETCH(k0) DP_FETCH_STREAM(k0) DP_FETCH_ROW_K(k0) DP_FETCH_COLUMN_K(k0)

/* Position k0 + k for all instances of the lane. */
#define DP_TILE_STEP(k) \
    { \
        dp_stream stream; \
        dp_row_k a[TM]; \
        dp_column_k b[TN]; \
        DP_GET_STREAM(k) DP_GET_ROW_K(k) DP_GET_COLUMN_K(k) \
        _Pragma("unroll") for (uint p = 0; p < TM; p++) _Pragma("unroll") for (uint q = 0; q < TN; q++) { \
            ulong s = DP_INSTANCE_AT(row_at[p], column_at[q]); \
            dp_val x = dp_tile_body(heap, s * m + k0 + (k), s, k0 + (k), row[p], column[q], cell[p * TN + q], stream, a[p], b[q] DP_PASS); \
            v[p * TN + q] = DP_OP(s, v[p * TN + q], x); \
        } \
    }
#if DP_HAS_STREAM
#define DP_GET_STREAM(k) stream = streams[k];
#else
#define DP_GET_STREAM(k) stream.none = 0;
#endif
#if DP_HAS_ROW_K
#define DP_GET_ROW_K(k) _Pragma("unroll") for (uint p = 0; p < TM; p++) a[p] = row_ks[k][DP_TILE_ROW(p)];
#else
#define DP_GET_ROW_K(k) for (uint p = 0; p < TM; p++) a[p].none = 0;
#endif
#if DP_HAS_COLUMN_K
#define DP_GET_COLUMN_K(k) _Pragma("unroll") for (uint q = 0; q < TN; q++) b[q] = column_ks[k][DP_TILE_COLUMN(q)];
#else
#define DP_GET_COLUMN_K(k) for (uint q = 0; q < TN; q++) b[q].none = 0;
#endif

DP_KERNEL void dp_segreduce_tile(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong m, ulong rows,
                                 ulong columns DP_WORDS DP_OUTS)
{
#if DP_HAS_STREAM
    __local dp_stream streams[BK];
    dp_stream next_stream;
#endif
#if DP_HAS_ROW_K
    __local __attribute__((aligned(16))) dp_row_k row_ks[BK][BM == 1 ? 1 : BM + PAD];
    dp_row stage_row[ROW_STAGES];
    dp_row_k next_row_k[ROW_STAGES];
#endif
#if DP_HAS_COLUMN_K
    __local __attribute__((aligned(16))) dp_column_k column_ks[BK][BN + PAD];
    dp_column stage_column[STAGED_COLUMNS];
    dp_column_k next_column_k[COLUMN_STAGES];
#endif
    const uint l = (uint)get_local_id(0), tx = l % LX, ty = l / LX;
    const ulong across = (columns + BN - 1) / BN, down = (rows + BM - 1) / BM, g = get_group_id(0), last_k = m - 1;
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
    for (ulong k0 = 0; k0 < m; k0 += BK) {
        DP_PUT_STREAM()
        DP_PUT_ROW_K()
        DP_PUT_COLUMN_K()
        barrier(CLK_LOCAL_MEM_FENCE);
        DP_FETCH(k0 + BK)
        if (m - k0 >= BK) {
            DP_UNROLL for (uint k = 0; k < BK; k++)
                DP_TILE_STEP(k)
        } else {
            for (uint k = 0; k < m - k0; k++)
                DP_TILE_STEP(k)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint p = 0; p < TM; p++)
#pragma unroll
        for (uint q = 0; q < TN; q++)
            if (i0 + DP_TILE_ROW(p) < rows && j0 + DP_TILE_COLUMN(q) < columns)
                dp_store(out, DP_INSTANCE_AT(row_at[p], column_at[q]), v[p * TN + q] DP_PASS_OUTS);
}

#else /* CPU */
#define DP_WIDE(T, field) || sizeof(T) > 4
enum {
    BN = 0 DP_FIELDS(DP_WIDE) ? 16 : DP_SHAPE == DP_BLOCKS ? 32 : 16,
    TM = DP_SHAPE == DP_BLOCKS ? 4 : 1,
    BM = DP_SHAPE == DP_BLOCKS ? 64 : 1,
    BK = DP_HAS_COLUMN_K ? 256 : 1
};
/* Arrays of a struct's fields, and element x of all of them. */
#define DP_VAL_ARRAY(T, field) T val_##field[BM * BN];
#define DP_VAL_GET(T, field) v.field = val_##field[x];
#define DP_VAL_PUT(T, field) val_##field[x] = v.field;
#define DP_COLUMN_ARRAY(T, field) T column_##field[BN];
#define DP_COLUMN_GET(T, field) c.field = column_##field[x];
#define DP_COLUMN_PUT(T, field) column_##field[x] = c.field;
#define DP_CELL_ARRAY(T, field) T cell_##field[BM * BN];
#define DP_CELL_GET(T, field) e.field = cell_##field[x];
#define DP_CELL_PUT(T, field) cell_##field[x] = e.field;
#define DP_COLUMN_K_ARRAY(T, field) T column_k_##field[BK * BN];
#define DP_COLUMN_K_GET(T, field) b.field = column_k_##field[x];
#define DP_COLUMN_K_PUT(T, field) column_k_##field[x] = b.field;

DP_KERNEL void dp_segreduce_tile(__global uchar *restrict heap, __global uchar *restrict out, ulong n, ulong nseg, ulong m, ulong rows,
                                 ulong columns DP_WORDS DP_OUTS)
{
    DP_FIELDS(DP_VAL_ARRAY)
    DP_COLUMN_FIELDS(DP_COLUMN_ARRAY)
    DP_CELL_FIELDS(DP_CELL_ARRAY)
    DP_COLUMN_K_FIELDS(DP_COLUMN_K_ARRAY)
    const ulong across = (columns + BN - 1) / BN, down = (rows + BM - 1) / BM, tiles = nseg / (rows * columns) * across * down;
    const ulong last = dp_chunk_start(tiles, get_global_size(0), get_global_id(0) + 1);
    for (ulong g = dp_chunk_start(tiles, get_global_size(0), get_global_id(0)); g < last; g++) {
        const ulong j0 = g % across * BN, i0 = g / across % down * BM, base = g / across / down * rows;
        const uint nr = (uint)min(rows - i0, (ulong)BM), nc = (uint)min(columns - j0, (ulong)BN);
        dp_row row[BM];
        for (uint p = 0; p < BM; p++)
            row[p] = dp_tile_row(heap, DP_INSTANCE_AT(i0 + min(p, nr - 1), 0) DP_PASS);
        for (uint x = 0; x < BN; x++) {
            dp_column c = dp_tile_column(heap, DP_INSTANCE_AT(0, j0 + min(x, nc - 1)) DP_PASS);
            DP_COLUMN_FIELDS(DP_COLUMN_PUT)
        }
        for (uint x = 0; x < BM * BN; x++) {
            ulong s = DP_INSTANCE_AT(i0 + min(x / BN, nr - 1), j0 + min(x % BN, nc - 1));
            dp_val v = DP_NEUTRAL(s);
            dp_cell e = dp_tile_cell(heap, s DP_PASS);
            DP_FIELDS(DP_VAL_PUT)
            DP_CELL_FIELDS(DP_CELL_PUT)
        }
        for (ulong k0 = 0, step; k0 < m; k0 += step) {
            step = DP_HAS_COLUMN_K ? min(m - k0, (ulong)BK) : m;
#if DP_HAS_COLUMN_K
            for (uint q = 0; q < BN; q++) {
                uint x = q;
                dp_column c;
                DP_COLUMN_FIELDS(DP_COLUMN_GET)
                for (uint k = 0; k < step; k++) {
                    dp_column_k b = dp_tile_column_k(heap, k0 + k, c DP_PASS);
                    x = k * BN + q;
                    DP_COLUMN_K_FIELDS(DP_COLUMN_K_PUT)
                }
            }
#endif
            for (uint r = 0; r < nr; r += TM)
                for (ulong k = 0; k < step; k++) {
                    dp_stream stream = dp_tile_stream(heap, k0 + k DP_PASS);
                    dp_row_k a[TM];
                    for (uint p = 0; p < TM; p++)
                        a[p] = dp_tile_row_k(heap, k0 + k, row[r + p] DP_PASS);
#pragma unroll
                    for (uint p = 0; p < TM; p++)
                        for (uint q = 0; q < BN; q++) {
                            ulong s = DP_INSTANCE_AT(i0 + min(r + p, nr - 1), j0 + min(q, nc - 1));
                            uint x = q;
                            dp_val v;
                            dp_column c;
                            dp_cell e;
                            dp_column_k b;
                            DP_COLUMN_FIELDS(DP_COLUMN_GET)
                            x = (uint)k * BN + q;
                            DP_COLUMN_K_FIELDS(DP_COLUMN_K_GET)
                            x = (r + p) * BN + q;
                            DP_CELL_FIELDS(DP_CELL_GET)
                            DP_FIELDS(DP_VAL_GET)
                            v = DP_OP(s, v, dp_tile_body(heap, s * m + k0 + k, s, k0 + k, row[r + p], c, e, stream, a[p], b DP_PASS));
                            DP_FIELDS(DP_VAL_PUT)
                        }
                }
        }
        for (uint p = 0; p < nr; p++)
            for (uint q = 0; q < nc; q++) {
                uint x = p * BN + q;
                dp_val v;
                DP_FIELDS(DP_VAL_GET)
                dp_store(out, DP_INSTANCE_AT(i0 + p, j0 + q), v DP_PASS_OUTS);
            }
    }
}
#endif
