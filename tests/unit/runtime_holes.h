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
    "static inline void dp_keep(" HEAP ", uint way, ulong at, ulong i, dp_val v DP_OUTS)\n"                            \
    "{ *DP_AT(uint, o0 + 4 * at) = (uint)i; }\n"

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
    [K_MAP] = {DP_K_MAP,
               "map",
               {"t.dp", 1, "f"},
               4, /* x * 2 + segment */
               WORDS1 OUTS1 "#define DP_USES_SEG 1\n" INT_VAL BODY
                            "{ dp_val v = {*DP_AT(int, w0 + 4 * i) * 2 + (int)s}; return v; }\n" STORE1("int"),
               1,
               1,
               {4},
               16,
               0,
               {NULL, 0, NULL},
               0,
               false,
               0},
    [K_SUM] = {DP_K_REDUCE,
               "sum",
               {"t.dp", 2, "f"},
               4,
               WORDS1 OUTS1 "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n" INT_VAL PLAIN_BODY OP
                            "{ a.v0 = (int)((uint)a.v0 + (uint)b.v0); return a; }\n" NEUTRAL("0") STORE1("int"),
               1,
               1,
               {4},
               16,
               0,
               {NULL, 0, NULL},
               0,
               false,
               0},
    [K_COMPOSE] = {DP_K_REDUCE,
                   "compose",
                   {"t.dp", 3, "f"},
                   4,
                   WORDS1 OUTS2
                   "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 0\n" PAIR_VAL COMPOSE_BODY COMPOSE_OP NEUTRAL("1, 0")
                       STORE2("uint"),
                   1,
                   2,
                   {4, 4},
                   16,
                   0,
                   {NULL, 0, NULL},
                   0,
                   false,
                   0},
    [K_CAPPED] = {DP_K_REDUCE,
                  "capped",
                  {"t.dp", 4, "f"},
                  4, /* min (a + b) cap[s], elements (x & 7) + (s & 1) */
                  WORDS2 OUTS1 "#define DP_USES_SEG 1\n#define DP_COMMUTATIVE 0\n" INT_VAL BODY
                               "{ dp_val v = {(*DP_AT(int, w0 + 4 * i) & 7) + (int)(s & 1)}; return v; }\n" OP
                               "{ a.v0 = min(a.v0 + b.v0, *DP_AT(int, w1 + 4 * s)); return a; }\n" NEUTRAL("0")
                                   STORE1("int"),
                  2,
                  1,
                  {4},
                  16,
                  0,
                  {NULL, 0, NULL},
                  0,
                  false,
                  0},
    [K_SCAN] = {DP_K_SCAN,
                "scan",
                {"t.dp", 5, "f"},
                4,
                WORDS1 OUTS2
                "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 0\n#define DP_EXCLUSIVE 0\n" PAIR_VAL COMPOSE_BODY
                    COMPOSE_OP NEUTRAL("1, 0") STORE2("uint"),
                1,
                2,
                {4, 4},
                16,
                0,
                {NULL, 0, NULL},
                0,
                false,
                0},
    [K_SCAN_EXCLUSIVE] =
        {DP_K_SCAN,
         "scan_exclusive",
         {"t.dp", 6, "f"},
         4, /* elements with their segment */
         WORDS1 OUTS2
         "#define DP_USES_SEG 1\n#define DP_COMMUTATIVE 0\n#define DP_EXCLUSIVE 1\n" PAIR_VAL BODY
         "{ uint x = *DP_AT(uint, w0 + 4 * i); dp_val v = {x | 1, (x >> 3) + (uint)s}; return v; }\n" COMPOSE_OP
             NEUTRAL("1, 0") STORE2("uint"),
         1,
         2,
         {4, 4},
         16,
         0,
         {NULL, 0, NULL},
         0,
         false,
         0},
    [K_PACK] = {DP_K_PACK,
                "pack",
                {"t.dp", 7, "f"},
                4,
                WORDS1 OUTS2 "#define DP_USES_SEG 0\n" PACK_ONE BODY
                             "{ dp_val v = {*DP_AT(int, w0 + 4 * i) & 1}; return v; }\n",
                1,
                2,
                {4, 8},
                16,
                0,
                {NULL, 0, NULL},
                DP_SEGMENT_NEVER,
                false,
                0},
    [K_PACK_SEG] = {DP_K_PACK,
                    "pack_seg",
                    {"t.dp", 8, "f"},
                    4,
                    WORDS1 OUTS2 "#define DP_USES_SEG 1\n" PACK_ONE BODY
                                 "{ dp_val v = {(*DP_AT(int, w0 + 4 * i) + s) & 1}; return v; }\n",
                    1,
                    2,
                    {4, 8},
                    16,
                    0,
                    {NULL, 0, NULL},
                    0,
                    false,
                    0},
    [K_SCATTER] = {DP_K_SCATTER,
                   "scatter",
                   {"t.dp", 9, "f"},
                   4, /* value x at index w1[i] */
                   WORDS2 OUTS1
                   "#define DP_USES_SEG 0\n" INT_VAL BODY_AT
                   "{ *index = *DP_AT(long, w1 + 8 * i); dp_val v = {*DP_AT(int, w0 + 4 * i)}; return v; }\n" STORE1(
                       "int"),
                   2,
                   1,
                   {4},
                   16,
                   0,
                   {NULL, 0, NULL},
                   0,
                   false,
                   0},
    [K_COUNT] = {DP_K_HIST,
                 "count",
                 {"t.dp", 10, "f"},
                 4, /* bin x & 15 minus 1: 15 bins, some outside */
                 WORDS1 OUTS1
                 "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 4\n" INT_VAL BODY_AT
                 "{ *index = (*DP_AT(int, w0 + 4 * i) & 15) - 1; dp_val v = {1}; return v; }\n" OP
                 "{ a.v0 += b.v0; return a; }\n" NEUTRAL("0") STORE1(
                     "int") "static inline uint dp_bits(dp_val v) { return (uint)v.v0; }\n"
                            "static inline dp_val dp_from_bits(uint x) { dp_val v = {(int)x}; return v; }\n"
                            "#define DP_HIST_ATOMIC(space, p, v) atomic_add((volatile space int *)(p), (v).v0)\n",
                 1,
                 1,
                 {4},
                 16,
                 0,
                 {NULL, 0, NULL},
                 0,
                 false,
                 4},
    [K_HIST_MIN] = {DP_K_HIST,
                    "hist_min",
                    {"t.dp", 11, "f"},
                    4, /* long, by compare-and-swap */
                    WORDS1 OUTS1
                    "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 8\n"
                    "typedef struct { long v0; } dp_val;\n" BODY_AT
                    "{ int x = *DP_AT(int, w0 + 4 * i); *index = (x & 15) - 1; dp_val v = {x}; return v; }\n" OP
                    "{ a.v0 = min(a.v0, b.v0); return a; }\n" NEUTRAL("1000000000000L") STORE1(
                        "long") "static inline ulong dp_bits(dp_val v) { return (ulong)v.v0; }\n"
                                "static inline dp_val dp_from_bits(ulong x) { dp_val v = {(long)x}; return v; }\n",
                    1,
                    1,
                    {8},
                    16,
                    0,
                    {NULL, 0, NULL},
                    0,
                    false,
                    8},
    [K_HIST_PAIR] =
        {DP_K_HIST,
         "hist_pair",
         {"t.dp", 12, "f"},
         4, /* (sum, max) of x: by sorting */
         WORDS1 OUTS2
         "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 0\n" PAIR_VAL BODY_AT
         "{ uint x = *DP_AT(uint, w0 + 4 * i); *index = (int)(x & 15) - 1; dp_val v = {x, x}; return v; }\n" OP
         "{ a.v0 += b.v0; a.v1 = max(a.v1, b.v1); return a; }\n" NEUTRAL("0, 0") STORE2("uint"),
         1,
         2,
         {4, 4},
         16,
         0,
         {NULL, 0, NULL},
         0,
         false,
         0},
    [K_FAIL] = {DP_K_MAP,
                "fail",
                {"t.dp", 13, "f"},
                4, /* fails where the element is w1 */
                WORDS2 OUTS1 "#define DP_USES_SEG 0\n" INT_VAL BODY
                             "{ int x = *DP_AT(int, w0 + 4 * i); if (x == (int)w1) dp_error(heap, 1, 12, 10, 0); "
                             "dp_val v = {x}; return v; }\n" STORE1("int"),
                2,
                1,
                {4},
                16,
                0,
                {NULL, 0, NULL},
                DP_SEGMENT_NEVER,
                false,
                0},
    [K_WIDE] = {DP_K_REDUCE, "wide", {"t.dp", 14, "f"}, 4, WIDE(10), 1, 2, {8, 8}, 80, 0, {NULL, 0, NULL}, 0, false, 0},
    [K_HUGE] =
        {DP_K_REDUCE, "huge", {"t.dp", 15, "f"}, 4, WIDE(40), 1, 2, {8, 8}, 320, 0, {NULL, 0, NULL}, 0, false, 0},
    [K_ARRAY] = {DP_K_MAP,
                 "array",
                 {"t.dp", 16, "f"},
                 4, /* [x, x + 1, x * x] */
                 WORDS1 OUTS1 "#define DP_USES_SEG 0\n"
                              "typedef struct { int v0, v1, v2; } dp_val;\n" BODY
                              "{ int x = *DP_AT(int, w0 + 4 * i); dp_val v = {x, x + 1, x * x}; return v; }\n"
                              "static inline void dp_store(" HEAP ", ulong i, dp_val v DP_OUTS)\n"
                              "{ *DP_AT(int, o0 + (i * 3) * 4) = v.v0; *DP_AT(int, o0 + (i * 3 + 1) * 4) = v.v1;"
                              " *DP_AT(int, o0 + (i * 3 + 2) * 4) = v.v2; }\n",
                 1,
                 1,
                 {4},
                 16,
                 0,
                 {NULL, 0, NULL},
                 DP_SEGMENT_NEVER,
                 false,
                 0},
    [K_ROWS] = {DP_K_MAP,
                "rows",
                {"t.dp", 17, "f"},
                4, /* xs[1:], empty for empty ones: views */
                WORDS1 OUTS1
                "#define DP_USES_SEG 0\n"
                "typedef struct { dp_view v0; } dp_val;\n" BODY
                "{ dp_view x = *DP_AT(dp_view, w0 + 16 * i); bool some = DP_LEN(x) > 0;\n"
                "  dp_val v = {dp_make_view(DP_LEN(x) - some, DP_ADDR(x) + 4 * some)}; return v; }\n" STORE1("dp_view"),
                1,
                1,
                {16},
                16,
                0,
                {NULL, 0, NULL},
                DP_SEGMENT_NEVER,
                false,
                0},
    [K_HIST_SEG] =
        {DP_K_HIST,
         "hist_seg",
         {"t.dp", 18, "f"},
         4, /* like hist_pair, with an operator that looks at its instance: max below w1[s] */
         WORDS2 OUTS2
         "#define DP_USES_SEG 0\n#define DP_COMMUTATIVE 1\n#define DP_HIST_BYTES 0\n" PAIR_VAL BODY_AT
         "{ uint x = *DP_AT(uint, w0 + 4 * i); *index = (int)(x & 15) - 1; dp_val v = {x, x & 127}; return v; }\n" OP
         "{ a.v0 += b.v0; a.v1 = min(a.v1 + b.v1, *DP_AT(uint, w1 + 4 * s)); return a; }\n" NEUTRAL("0, 0")
             STORE2("uint"),
         2,
         2,
         {4, 4},
         16,
         0,
         {NULL, 0, NULL},
         0,
         false,
         0},
    [K_MAP_MANY] =
        {DP_K_MAP,
         "map_many",
         {"t.dp", 19, "f"},
         4, /* outputs of all sizes */
         WORDS1
         "#define DP_OUTS , ulong o0, ulong o1, ulong o2\n#define DP_PASS_OUTS , o0, o1, o2\n#define DP_USES_SEG 0\n"
         "typedef struct { uchar v0; ushort v1; ulong v2; } dp_val;\n" BODY
         "{ int x = *DP_AT(int, w0 + 4 * i); dp_val v = {x > 0, (ushort)x, (ulong)x * x}; return v; }\n"
         "static inline void dp_store(" HEAP ", ulong i, dp_val v DP_OUTS)\n"
         "{ *DP_AT(uchar, o0 + i) = v.v0; *DP_AT(ushort, o1 + i * 2) = v.v1; *DP_AT(ulong, o2 + i * 8) = v.v2; }\n",
         1,
         3,
         {1, 2, 8},
         16,
         0,
         {NULL, 0, NULL},
         DP_SEGMENT_NEVER,
         false,
         0},
};

static const DpSite test_sites[] = {
    {4, NULL, "f.dp", 1, 2, "x / 0", 3},
    {0, NULL, "f.dp", 3, 9, "entry main = xs[12]", 6},
    {3, "n", "f.dp", 2, 1, "\tg xs", 1},
};

static const DpProgram test_program = {DP_RT_VERSION, "f.dp", test_kernels, K_KERNELS, test_sites, 3, NULL, 0};

#endif
