// Kernels in the shape of a GPU: work-groups of 256 (compile with -DWG=256), 16 elements a work-item in scans. OpenCL C 1.2, no extensions.

// ---- copy: four 16-byte elements in flight a work-item ----

kernel void copy(global const int4 *restrict from, global int4 *restrict to, uint n)
{
    uint base = get_group_id(0) * 4 * WG + get_local_id(0);
    int4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * WG < n)
            v[k] = from[base + k * WG];
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (base + k * WG < n)
            to[base + k * WG] = v[k];
}

// ---- sum: one kernel; the work-group that ends last adds up what the others left ----

int group_sum(int x, local int *shared)
{
    uint l = get_local_id(0);
    shared[l] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = WG / 2; s > 0; s >>= 1) {
        if (l < s)
            shared[l] += shared[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return shared[0];
}

kernel void sum(global const int *restrict in, uint n, global volatile int *parts, global volatile uint *done, global int *out)
{
    local int shared[WG];
    local uint last;
    uint l = get_local_id(0), all = get_global_size(0), i = get_global_id(0), quads = n / 4;
    global const int4 *in4 = (global const int4 *)in;
    int4 a = 0, b = 0, c = 0, d = 0;
    for (; i + 3 * all < quads; i += 4 * all) {
        a += in4[i];
        b += in4[i + all];
        c += in4[i + 2 * all];
        d += in4[i + 3 * all];
    }
    for (; i < quads; i += all)
        a += in4[i];
    a += b + c + d;
    int rest = 4 * quads + get_global_id(0) < n ? in[4 * quads + get_global_id(0)] : 0;
    int total = group_sum(a.x + a.y + a.z + a.w + rest, shared);
    if (l == 0) {
        parts[get_group_id(0)] = total;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        last = atomic_inc(done) == get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    if (last)
        for (uint k = l; k < get_num_groups(0); k += WG)
            s += parts[k];
    total = group_sum(s, shared);
    if (last && l == 0) {
        out[0] = total;
        *done = 0;
    }
}

// ---- maximum segment sum: a run of consecutive elements a work-item, staged through local memory; tuples (best, prefix, suffix, sum) ----

int4 then(int4 a, int4 b)
{
    return (int4)(max(max(a.x, b.x), a.z + b.y), max(a.y, a.w + b.y), max(a.z + b.w, b.z), a.w + b.w);
}

int4 push(int4 a, int x)
{
    a.w += x;
    a.y = max(a.y, a.w);
    a.z = max(a.z + x, 0);
    a.x = max(a.x, a.z);
    return a;
}

int4 group_then(int4 a, local int4 *shared)
{
    uint l = get_local_id(0);
    shared[l] = a;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 1; s < WG; s <<= 1) {
        if ((l & (2 * s - 1)) == 0)
            shared[l] = then(shared[l], shared[l + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return shared[0];
}

kernel void mssp(global const int *restrict x, uint n, uint run, global int4 *parts)
{
    local int4 staged[4 * (WG + 2)];
    local int4 shared[WG];
    uint l = get_local_id(0);
    size_t base = (size_t)get_group_id(0) * WG * run;
    int4 a = 0;
    for (uint t = 0; t < run; t += 16) {
        int4 v[4];
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            uint q = k * WG + l;
            size_t i = base + (size_t)(q / 4) * run + t + (q % 4) * 4;
            v[k] = i + 3 < n ? *(global const int4 *)(x + i)
                             : (int4)(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            uint q = k * WG + l;
            staged[(q % 4) * (WG + 2) + q / 4] = v[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            int4 u = staged[k * (WG + 2) + l];
            a = push(push(push(push(a, u.x), u.y), u.z), u.w);
        }
    }
    a = group_then(a, shared);
    if (l == 0)
        parts[get_group_id(0)] = a;
}

kernel void mssp_end(global const int4 *parts, uint count, global int *out)
{
    local int4 shared[WG];
    uint l = get_local_id(0), run = (count + WG - 1) / WG;
    int4 a = 0;
    for (uint i = l * run; i < min(count, (l + 1) * run); i++)
        a = then(a, parts[i]);
    a = group_then(a, shared);
    if (l == 0)
        out[0] = a.x;
}

// ---- scans with look-back: plain (FLAGS 0) and segmented by flags (1) ----
//
// A tile's state is one word of 64 bits, so that no fence is needed: the value below; above it what it is (1 the tile's own, 2 with all
// before), whether a segment begins in it (4), and 8 times the number of the launch, so that nothing has to be cleared.

#define ITEMS 16
#define TILE (WG * ITEMS)
#define STRIDE (WG + 2)
#if FLAGS
typedef int2 Element; // value, flag
#define NEUTRAL ((int2)(0, 0))
Element plus(Element a, Element b) { return (int2)(b.y ? b.x : a.x + b.x, a.y | b.y); }
Element element_of(int value, uint flag) { return (int2)(value, flag); }
int value_of(Element a) { return a.x; }
ulong state_of(Element a, uint what, uint launch) { return (ulong)(launch * 8 + what + a.y * 4) << 32 | (uint)a.x; }
Element element_from(ulong s) { return (int2)((int)(uint)s, (int)(s >> 34) & 1); }
#else
typedef int Element;
#define NEUTRAL 0
Element plus(Element a, Element b) { return a + b; }
Element element_of(int value, uint flag) { return value; }
int value_of(Element a) { return a; }
ulong state_of(Element a, uint what, uint launch) { return (ulong)(launch * 8 + what) << 32 | (uint)a; }
Element element_from(ulong s) { return (int)(uint)s; }
#endif

// What the work-items before this one add up to; *all is the sum of the work-group.
Element group_before(Element x, local Element *shared, Element *all)
{
    uint l = get_local_id(0), now = 0;
    shared[l] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < WG; d <<= 1) {
        Element y = shared[now * WG + l];
        if (l >= d)
            y = plus(shared[now * WG + l - d], y);
        now ^= 1;
        shared[now * WG + l] = y;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = shared[now * WG + WG - 1];
    return l ? shared[now * WG + l - 1] : NEUTRAL;
}

// What all tiles before this one add up to: 32 states at a time, until one has all before it.
Element look_back(global volatile ulong *states, int tile, uint launch, local Element *values, local uint *whats, local uint *found)
{
    uint l = get_local_id(0);
    Element before = NEUTRAL;
    for (int at = tile - 1;; at -= 32) {
        if (l < 32) {
            ulong state = (ulong)(launch * 8 + 2) << 32; // before the first tile: nothing
            if (at - (int)l >= 0)
                do
                    state = states[at - (int)l];
                while (state >> 35 != launch || (state >> 32 & 3) == 0);
            values[l] = at - (int)l >= 0 ? element_from(state) : NEUTRAL;
            whats[l] = state >> 32 & 3;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0) {
            uint i = 0;
            for (; i < 32; i++) {
                before = plus(values[i], before);
                if (whats[i] == 2)
                    break;
            }
            *found = i < 32;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (*found)
            return before; // of the first work-item only
    }
}

// Elements go through local memory, so that both sides are read and written by neighbours: 16 of them belong to a work-item.
__attribute__((reqd_work_group_size(WG, 1, 1)))
kernel void scan(global const int *restrict in, global const uchar *restrict flags, global int *restrict out, uint n,
                 global volatile ulong *states, global volatile uint *tickets, uint launch)
{
    local int4 staged[ITEMS / 4 * STRIDE];
    local Element shared[2 * WG], values[32], carry;
    local uint whats[32], found, ticket;
    uint l = get_local_id(0);
    if (l == 0)
        ticket = atomic_inc(tickets) - (launch - 1) * get_num_groups(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    int tile = ticket;
    size_t base = (size_t)tile * TILE;
    int full = base + TILE <= n;
    local int *staged1 = (local int *)staged;
    if (full) {
#pragma unroll
        for (uint k = 0; k < ITEMS / 4; k++) {
            uint q = k * WG + l;
            staged[q % (ITEMS / 4) * STRIDE + q / (ITEMS / 4)] = ((global const int4 *)(in + base))[q];
        }
    } else {
        for (uint i = l; i < TILE; i += WG)
            staged1[(i / 4 % (ITEMS / 4) * STRIDE + i / ITEMS) * 4 + i % 4] = base + i < n ? in[base + i] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    Element r[ITEMS];
#if FLAGS
    uchar f[ITEMS];
    if (full)
        vstore16(((global const uchar16 *)(flags + base))[l], 0, f);
    else
        for (uint k = 0; k < ITEMS; k++)
            f[k] = base + l * ITEMS + k < n ? flags[base + l * ITEMS + k] : 0;
#define FLAG(k) f[k]
#else
#define FLAG(k) 0
#endif
#pragma unroll
    for (uint k = 0; k < ITEMS / 4; k++) {
        int4 u = staged[k * STRIDE + l];
        r[4 * k] = element_of(u.x, FLAG(4 * k));
        r[4 * k + 1] = element_of(u.y, FLAG(4 * k + 1));
        r[4 * k + 2] = element_of(u.z, FLAG(4 * k + 2));
        r[4 * k + 3] = element_of(u.w, FLAG(4 * k + 3));
    }
#pragma unroll
    for (uint k = 1; k < ITEMS; k++)
        r[k] = plus(r[k - 1], r[k]);
    Element all, before = group_before(r[ITEMS - 1], shared, &all);
    if (l == 0)
        states[tile] = state_of(all, tile == 0 ? 2 : 1, launch);
    Element tiles_before = look_back(states, tile, launch, values, whats, &found);
    if (l == 0) {
        states[tile] = state_of(plus(tiles_before, all), 2, launch);
        carry = tiles_before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    before = plus(carry, before);
#pragma unroll
    for (uint k = 0; k < ITEMS / 4; k++)
        staged[k * STRIDE + l] = (int4)(value_of(plus(before, r[4 * k])), value_of(plus(before, r[4 * k + 1])),
                                        value_of(plus(before, r[4 * k + 2])), value_of(plus(before, r[4 * k + 3])));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (full) {
#pragma unroll
        for (uint k = 0; k < ITEMS / 4; k++) {
            uint q = k * WG + l;
            ((global int4 *)(out + base))[q] = staged[q % (ITEMS / 4) * STRIDE + q / (ITEMS / 4)];
        }
    } else {
        for (uint i = l; i < TILE && base + i < n; i += WG)
            out[base + i] = staged1[(i / 4 % (ITEMS / 4) * STRIDE + i / ITEMS) * 4 + i % 4];
    }
}
