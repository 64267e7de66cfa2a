/* Hole sources as the compiler would emit them, for the tests of the runtime. Words: w0 a contiguous i32 column over
 * the elements, w1 another column or number, as each kernel says. */
#ifndef RUNTIME_HOLES_H
#define RUNTIME_HOLES_H

#include "runtime_waits.h"

enum {
    K_MAP,
    K_SUM,
    K_COMPOSE,
    K_CAPPED,
    K_SCAN,
    K_SCAN_EXCLUSIVE,
    K_PACK,
    K_PACK_SEG,
    K_SCATTER,
    K_COUNT,
    K_HIST_MIN,
    K_HIST_PAIR,
    K_FAIL,
    K_WIDE,
    K_HUGE,
    K_ARRAY,
    K_ROWS,
    K_HIST_SEG,
    K_MAP_MANY,
    K_KERNELS
};

#define WORDS0 "#define DP_WORDS\n#define DP_PASS\n"
#define WORDS1 "#define DP_WORDS , ulong w0\n#define DP_PASS , w0\n"
#define WORDS2 "#define DP_WORDS , ulong w0, ulong w1\n#define DP_PASS , w0, w1\n"
#define WORDS3 "#define DP_WORDS , ulong w0, ulong w1, ulong w2\n#define DP_PASS , w0, w1, w2\n"
#define OUTS1 "#define DP_OUTS , ulong o0\n#define DP_PASS_OUTS , o0\n"
#define OUTS2 "#define DP_OUTS , ulong o0, ulong o1\n#define DP_PASS_OUTS , o0, o1\n"
#define HEAP "__global uchar *heap"
#define INT_VAL "typedef struct { int v0; } dp_val;\n#define DP_FIELDS(F) F(int, v0)\n"
#define PAIR_VAL "typedef struct { uint v0, v1; } dp_val;\n#define DP_FIELDS(F) F(uint, v0) F(uint, v1)\n"
#define BODY "static inline dp_val dp_body(" HEAP ", ulong i, ulong s DP_WORDS)\n"
#define BODY_AT "static inline dp_val dp_body_at(" HEAP ", ulong i, ulong s, long *index DP_WORDS)\n"
#define STORE1(T)                                                                                                      \
    "static inline void dp_store(" HEAP ", ulong i, dp_val v DP_OUTS) { *DP_AT(" T ", o0 + i * sizeof(" T              \
    ")) = v.v0; }\n"
#define STORE2(T)                                                                                                      \
    "static inline void dp_store(" HEAP ", ulong i, dp_val v DP_OUTS)\n"                                               \
    "{ *DP_AT(" T ", o0 + i * sizeof(" T ")) = v.v0; *DP_AT(" T ", o1 + i * sizeof(" T ")) = v.v1; }\n"
#define NEUTRAL(x) "static inline dp_val dp_neutral(" HEAP ", ulong s DP_WORDS) { dp_val v = {" x "}; return v; }\n"
#define OP "static inline dp_val dp_op(" HEAP ", ulong s, dp_val a, dp_val b DP_WORDS)\n"
#define PLAIN_BODY BODY "{ dp_val v = {*DP_AT(int, w0 + 4 * i)}; return v; }\n"

/* One selection, of positions only. */
#define PACK_ONE                                                                                                       \
    "#define DP_WAYS 1\ntypedef struct { uchar v0; } dp_val;\nstatic inline uint dp_ways(dp_val v) { return v.v0; }\n" \
    "#define DP_KEPT_FIRST(F) F(0, 4, uint, o0, (uint)i)\n#define DP_KEPT_REST(F)\n#define DP_KEPT_BYTES 4\n"

/* x -> a x + b, first a's function, then b's: associative, not commutative */
#define COMPOSE_BODY BODY "{ uint x = *DP_AT(uint, w0 + 4 * i); dp_val v = {x | 1, x >> 3}; return v; }\n"
#define COMPOSE_OP OP "{ dp_val v = {a.v0 * b.v0, a.v1 * b.v0 + b.v1}; return v; }\n"

/* 10 or 40 values of 8 bytes */
#define WIDE(n)                                                                                                        \
    WORDS1 "#define DP_OUTS , ulong o0, ulong o1\n#define DP_PASS_OUTS , o0, o1\n"                                     \
           "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 0\n"                                                         \
           "typedef struct { ulong v[" #n "]; } dp_val;\n" BODY "{ dp_val v; for (int k = 0; k < " #n                  \
           "; k++) v.v[k] = *DP_AT(uint, w0 + 4 * i) + k; return v; }\n" OP "{ for (int k = 0; k < " #n                \
           "; k++) a.v[k] = a.v[k] * 31 + b.v[k] - 30 * a.v[k]; return a; }\n"                                         \
           "static inline dp_val dp_neutral(" HEAP ", ulong s DP_WORDS) { dp_val v; for (int k = 0; k < " #n           \
           "; k++) v.v[k] = 0; return v; }\n"                                                                          \
           "static inline void dp_store(" HEAP ", ulong i, dp_val v DP_OUTS)\n"                                        \
           "{ *DP_AT(ulong, o0 + i * 8) = v.v[0]; *DP_AT(ulong, o1 + i * 8) = v.v[" #n " - 1]; }\n"

static const DpKernel test_kernels[K_KERNELS] = {
    [K_MAP] = {.kind = DP_K_MAP,
               .name = "map",
               .place = {"t.dp", 1, "f"},
               .in_bytes = 4, /* x * 2 + segment */
               .source =
                   WORDS1 OUTS1 "#define DP_USES_SEG 1\n" INT_VAL BODY
                                "{ dp_val v = {*DP_AT(int, w0 + 4 * i) * 2 + (int)s}; return v; }\n" STORE1("int"),
               .nwords = 1,
               .nouts = 1,
               .out_bytes = {4},
               .val_bytes = 16},
    [K_SUM] = {.kind = DP_K_REDUCE,
               .name = "sum",
               .place = {"t.dp", 2, "f"},
               .in_bytes = 4,
               .source =
                   WORDS1 OUTS1 "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n" INT_VAL PLAIN_BODY OP
                                "{ a.v0 = (int)((uint)a.v0 + (uint)b.v0); return a; }\n" NEUTRAL("0") STORE1("int"),
               .nwords = 1,
               .nouts = 1,
               .out_bytes = {4},
               .val_size = 4,
               .val_bytes = 16},
    [K_COMPOSE] = {.kind = DP_K_REDUCE,
                   .name = "compose",
                   .place = {"t.dp", 3, "f"},
                   .in_bytes = 4,
                   .source = WORDS1 OUTS2
                   "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 0\n" PAIR_VAL COMPOSE_BODY COMPOSE_OP NEUTRAL("1, 0")
                       STORE2("uint"),
                   .nwords = 1,
                   .nouts = 2,
                   .out_bytes = {4, 4},
                   .val_size = 8,
                   .val_bytes = 16},
    [K_CAPPED] = {.kind = DP_K_REDUCE,
                  .name = "capped",
                  .place = {"t.dp", 4, "f"},
                  .in_bytes = 4, /* min (a + b) cap[s], elements (x & 7) + (s & 1) */
                  .source = WORDS2 OUTS1
                  "#define DP_USES_SEG 1\n#define DP_COMMUTATIVE 0\n" INT_VAL BODY
                  "{ dp_val v = {(*DP_AT(int, w0 + 4 * i) & 7) + (int)(s & 1)}; return v; }\n" OP
                  "{ a.v0 = min(a.v0 + b.v0, *DP_AT(int, w1 + 4 * s)); return a; }\n" NEUTRAL("0") STORE1("int"),
                  .nwords = 2,
                  .nouts = 1,
                  .out_bytes = {4},
                  .val_size = 4,
                  .val_bytes = 16},
    [K_SCAN] = {.kind = DP_K_SCAN,
                .name = "scan",
                .place = {"t.dp", 5, "f"},
                .in_bytes = 4,
                .source = WORDS1 OUTS2
                "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 0\n#define DP_EXCLUSIVE 0\n" PAIR_VAL COMPOSE_BODY
                    COMPOSE_OP NEUTRAL("1, 0") STORE2("uint"),
                .nwords = 1,
                .nouts = 2,
                .out_bytes = {4, 4},
                .val_bytes = 16},
    [K_SCAN_EXCLUSIVE] =
        {.kind = DP_K_SCAN,
         .name = "scan_exclusive",
         .place = {"t.dp", 6, "f"},
         .in_bytes = 4, /* elements with their segment */
         .source = WORDS1 OUTS2
         "#define DP_USES_SEG 1\n#define DP_COMMUTATIVE 0\n#define DP_EXCLUSIVE 1\n" PAIR_VAL BODY
         "{ uint x = *DP_AT(uint, w0 + 4 * i); dp_val v = {x | 1, (x >> 3) + (uint)s}; return v; }\n" COMPOSE_OP
             NEUTRAL("1, 0") STORE2("uint"),
         .nwords = 1,
         .nouts = 2,
         .out_bytes = {4, 4},
         .val_bytes = 16},
    [K_PACK] = {.kind = DP_K_PACK,
                .name = "pack",
                .place = {"t.dp", 7, "f"},
                .in_bytes = 4,
                .source = WORDS1 OUTS2 "#define DP_USES_SEG 0\n" PACK_ONE BODY
                                       "{ dp_val v = {*DP_AT(int, w0 + 4 * i) & 1}; return v; }\n",
                .nwords = 1,
                .nouts = 2,
                .out_bytes = {4, 8},
                .val_bytes = 16,
                .segment_free = DP_SEGMENT_NEVER},
    [K_PACK_SEG] = {.kind = DP_K_PACK,
                    .name = "pack_seg",
                    .place = {"t.dp", 8, "f"},
                    .in_bytes = 4,
                    .source = WORDS1 OUTS2 "#define DP_USES_SEG 1\n" PACK_ONE BODY
                                           "{ dp_val v = {(*DP_AT(int, w0 + 4 * i) + s) & 1}; return v; }\n",
                    .nwords = 1,
                    .nouts = 2,
                    .out_bytes = {4, 8},
                    .val_bytes = 16},
    [K_SCATTER] = {.kind = DP_K_SCATTER,
                   .name = "scatter",
                   .place = {"t.dp", 9, "f"},
                   .in_bytes = 4, /* value x at index w1[i] */
                   .source = WORDS2 OUTS1
                   "#define DP_USES_SEG 0\n" INT_VAL BODY_AT
                   "{ *index = *DP_AT(long, w1 + 8 * i); dp_val v = {*DP_AT(int, w0 + 4 * i)}; return v; }\n" STORE1(
                       "int"),
                   .nwords = 2,
                   .nouts = 1,
                   .out_bytes = {4},
                   .val_bytes = 16},
    [K_COUNT] = {.kind = DP_K_HIST,
                 .name = "count",
                 .place = {"t.dp", 10, "f"},
                 .in_bytes = 4, /* bin x & 15 minus 1: 15 bins, some outside */
                 .source = WORDS1 OUTS1
                 "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 4\n" INT_VAL BODY_AT
                 "{ *index = (*DP_AT(int, w0 + 4 * i) & 15) - 1; dp_val v = {1}; return v; }\n" OP
                 "{ a.v0 += b.v0; return a; }\n" NEUTRAL("0") STORE1(
                     "int") "static inline uint dp_bits(dp_val v) { return (uint)v.v0; }\n"
                            "static inline dp_val dp_from_bits(uint x) { dp_val v = {(int)x}; return v; }\n"
                            "#define DP_HIST_ATOMIC(space, p, v) atomic_add((volatile space int *)(p), (v).v0)\n",
                 .nwords = 1,
                 .nouts = 1,
                 .out_bytes = {4},
                 .val_size = 4,
                 .val_bytes = 16,
                 .across = 4},
    [K_HIST_MIN] = {.kind = DP_K_HIST,
                    .name = "hist_min",
                    .place = {"t.dp", 11, "f"},
                    .in_bytes = 4, /* long, by compare-and-swap */
                    .source = WORDS1 OUTS1
                    "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 8\n"
                    "typedef struct { long v0; } dp_val;\n" BODY_AT
                    "{ int x = *DP_AT(int, w0 + 4 * i); *index = (x & 15) - 1; dp_val v = {x}; return v; }\n" OP
                    "{ a.v0 = min(a.v0, b.v0); return a; }\n" NEUTRAL("1000000000000L") STORE1(
                        "long") "static inline ulong dp_bits(dp_val v) { return (ulong)v.v0; }\n"
                                "static inline dp_val dp_from_bits(ulong x) { dp_val v = {(long)x}; return v; }\n",
                    .nwords = 1,
                    .nouts = 1,
                    .out_bytes = {8},
                    .val_size = 8,
                    .val_bytes = 16,
                    .across = 8},
    [K_HIST_PAIR] =
        {.kind = DP_K_HIST,
         .name = "hist_pair",
         .place = {"t.dp", 12, "f"},
         .in_bytes = 4, /* (sum, max) of x: by sorting */
         .source = WORDS1 OUTS2
         "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 0\n" PAIR_VAL BODY_AT
         "{ uint x = *DP_AT(uint, w0 + 4 * i); *index = (int)(x & 15) - 1; dp_val v = {x, x}; return v; }\n" OP
         "{ a.v0 += b.v0; a.v1 = max(a.v1, b.v1); return a; }\n" NEUTRAL("0, 0") STORE2("uint"),
         .nwords = 1,
         .nouts = 2,
         .out_bytes = {4, 4},
         .val_size = 8,
         .val_bytes = 16},
    [K_FAIL] = {.kind = DP_K_MAP,
                .name = "fail",
                .place = {"t.dp", 13, "f"},
                .fallible = true,
                .in_bytes = 4, /* fails where the element is w1 */
                .source =
                    WORDS2 OUTS1 "#define DP_USES_SEG 0\n" INT_VAL BODY
                                 "{ int x = *DP_AT(int, w0 + 4 * i); if (x == (int)w1) dp_error(heap, 1, 12, 10, 0); "
                                 "dp_val v = {x}; return v; }\n" STORE1("int"),
                .nwords = 2,
                .nouts = 1,
                .out_bytes = {4},
                .val_bytes = 16,
                .segment_free = DP_SEGMENT_NEVER},
    [K_WIDE] = {.kind = DP_K_REDUCE,
                .name = "wide",
                .place = {"t.dp", 14, "f"},
                .in_bytes = 4,
                .source = WIDE(10),
                .nwords = 1,
                .nouts = 2,
                .out_bytes = {8, 8},
                .val_size = 80,
                .val_bytes = 80},
    [K_HUGE] = {.kind = DP_K_REDUCE,
                .name = "huge",
                .place = {"t.dp", 15, "f"},
                .in_bytes = 4,
                .source = WIDE(40),
                .nwords = 1,
                .nouts = 2,
                .out_bytes = {8, 8},
                .val_size = 320,
                .val_bytes = 320},
    [K_ARRAY] = {.kind = DP_K_MAP,
                 .name = "array",
                 .place = {"t.dp", 16, "f"},
                 .in_bytes = 4, /* [x, x + 1, x * x] */
                 .source =
                     WORDS1 OUTS1 "#define DP_USES_SEG 0\n"
                                  "typedef struct { int v0, v1, v2; } dp_val;\n" BODY
                                  "{ int x = *DP_AT(int, w0 + 4 * i); dp_val v = {x, x + 1, x * x}; return v; }\n"
                                  "static inline void dp_store(" HEAP ", ulong i, dp_val v DP_OUTS)\n"
                                  "{ *DP_AT(int, o0 + (i * 3) * 4) = v.v0; *DP_AT(int, o0 + (i * 3 + 1) * 4) = v.v1;"
                                  " *DP_AT(int, o0 + (i * 3 + 2) * 4) = v.v2; }\n",
                 .nwords = 1,
                 .nouts = 1,
                 .out_bytes = {4},
                 .val_bytes = 16,
                 .segment_free = DP_SEGMENT_NEVER},
    [K_ROWS] = {.kind = DP_K_MAP,
                .name = "rows",
                .place = {"t.dp", 17, "f"},
                .in_bytes = 4, /* xs[1:], empty for empty ones: views */
                .source = WORDS1 OUTS1
                "#define DP_USES_SEG 0\n"
                "typedef struct { dp_view v0; } dp_val;\n" BODY
                "{ dp_view x = *DP_AT(dp_view, w0 + 16 * i); bool some = DP_LEN(x) > 0;\n"
                "  dp_val v = {dp_make_view(DP_LEN(x) - some, DP_ADDR(x) + 4 * some)}; return v; }\n" STORE1("dp_view"),
                .nwords = 1,
                .nouts = 1,
                .out_bytes = {16},
                .val_bytes = 16,
                .segment_free = DP_SEGMENT_NEVER},
    [K_HIST_SEG] =
        {.kind = DP_K_HIST,
         .name = "hist_seg",
         .place = {"t.dp", 18, "f"},
         .in_bytes = 4, /* like hist_pair, with an operator that looks at its instance: max below w1[s] */
         .source = WORDS2 OUTS2
         "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 0\n" PAIR_VAL BODY_AT
         "{ uint x = *DP_AT(uint, w0 + 4 * i); *index = (int)(x & 15) - 1; dp_val v = {x, x & 127}; return v; }\n" OP
         "{ a.v0 += b.v0; a.v1 = min(a.v1 + b.v1, *DP_AT(uint, w1 + 4 * s)); return a; }\n" NEUTRAL("0, 0")
             STORE2("uint"),
         .nwords = 2,
         .nouts = 2,
         .out_bytes = {4, 4},
         .val_size = 8,
         .val_bytes = 16},
    [K_MAP_MANY] =
        {.kind = DP_K_MAP,
         .name = "map_many",
         .place = {"t.dp", 19, "f"},
         .in_bytes = 4, /* outputs of all sizes */
         .source = WORDS1
         "#define DP_OUTS , ulong o0, ulong o1, ulong o2\n#define DP_PASS_OUTS , o0, o1, o2\n#define DP_USES_SEG 0\n"
         "typedef struct { uchar v0; ushort v1; ulong v2; } dp_val;\n" BODY
         "{ int x = *DP_AT(int, w0 + 4 * i); dp_val v = {x > 0, (ushort)x, (ulong)x * x}; return v; }\n"
         "static inline void dp_store(" HEAP ", ulong i, dp_val v DP_OUTS)\n"
         "{ *DP_AT(uchar, o0 + i) = v.v0; *DP_AT(ushort, o1 + i * 2) = v.v1; *DP_AT(ulong, o2 + i * 8) = v.v2; }\n",
         .nwords = 1,
         .nouts = 3,
         .out_bytes = {1, 2, 8},
         .val_bytes = 16,
         .segment_free = DP_SEGMENT_NEVER},
};

static const DpSite test_sites[] = {
    {4, NULL, "f.dp", 1, 2, "  x / 0\n   ^^^"},
    {0, NULL, "f.dp", 3, 9, "  entry main = xs[12]\n          ^^^^^^"},
    {3, "n", "f.dp", 2, 1, "  \tg xs\n  ^"},
};

static const DpProgram test_program = {DP_RT_VERSION, "f.dp", test_kernels, K_KERNELS, test_sites, 3,
                                       NULL,          0,      {NULL, NULL}};

#endif
