// Kernels in the shape of a CPU: a contiguous chunk a work-item, work-groups of one; the results of the chunks are put together by the
// second kernel, or by each chunk for itself where they are few.

size_t chunk_at(size_t n, size_t chunk) { return n * chunk / get_global_size(0); }

kernel void sum(global const int *restrict in, ulong n, global int *parts)
{
    size_t g = get_global_id(0), i = chunk_at(n, g), end = chunk_at(n, g + 1);
    int16 a = 0, b = 0;
    for (; i + 32 <= end; i += 32) {
        a += vload16(0, in + i);
        b += vload16(0, in + i + 16);
    }
    a += b;
    int8 e = a.lo + a.hi;
    int4 q = e.lo + e.hi;
    int s = q.x + q.y + q.z + q.w;
    for (; i < end; i++)
        s += in[i];
    parts[g] = s;
}

kernel void sum_end(global const int *parts, uint count, global int *out)
{
    int s = 0;
    for (uint i = 0; i < count; i++)
        s += parts[i];
    out[0] = s;
}

// Tuples (best, prefix, suffix, sum) of sixteen lanes, each a stretch of the chunk.
int4 then(int4 a, int4 b)
{
    return (int4)(max(max(a.x, b.x), a.z + b.y), max(a.y, a.w + b.y), max(b.z, a.z + b.w), a.w + b.w);
}

kernel void mssp(global const int *restrict x, ulong n, global int4 *parts)
{
    size_t g = get_global_id(0), from = chunk_at(n, g), end = chunk_at(n, g + 1), m = (end - from) / 16;
    int16 best = 0, prefix = 0, suffix = 0, sum = 0;
    for (size_t i = from; i < from + m; i++) {
        int16 v = (int16)(x[i], x[i + m], x[i + 2 * m], x[i + 3 * m], x[i + 4 * m], x[i + 5 * m], x[i + 6 * m], x[i + 7 * m],
                          x[i + 8 * m], x[i + 9 * m], x[i + 10 * m], x[i + 11 * m], x[i + 12 * m], x[i + 13 * m],
                          x[i + 14 * m], x[i + 15 * m]);
        sum += v;
        prefix = max(prefix, sum);
        suffix = max(suffix + v, 0);
        best = max(best, suffix);
    }
    int b[16], p[16], s[16], t[16];
    vstore16(best, 0, b);
    vstore16(prefix, 0, p);
    vstore16(suffix, 0, s);
    vstore16(sum, 0, t);
    int4 all = 0;
    for (int l = 0; l < 16; l++)
        all = then(all, (int4)(b[l], p[l], s[l], t[l]));
    for (size_t i = from + 16 * m; i < end; i++)
        all = then(all, (int4)(max(x[i], 0), max(x[i], 0), max(x[i], 0), x[i]));
    parts[g] = all;
}

kernel void mssp_end(global const int4 *parts, uint count, global int *out)
{
    int4 a = 0;
    for (uint i = 0; i < count; i++)
        a = then(a, parts[i]);
    out[0] = a.x;
}

kernel void scan(global const int *restrict in, ulong n, global const int *parts, global int *restrict out)
{
    size_t g = get_global_id(0), end = chunk_at(n, g + 1);
    int s = 0;
    for (size_t k = 0; k < g; k++)
        s += parts[k];
    for (size_t i = chunk_at(n, g); i < end; i++)
        out[i] = s += in[i];
}

kernel void filter_count(global const int *restrict in, ulong n, global int *parts)
{
    size_t g = get_global_id(0), end = chunk_at(n, g + 1);
    int count = 0;
    for (size_t i = chunk_at(n, g); i < end; i++)
        count += in[i] > 0;
    parts[g] = count;
}

kernel void filter_write(global const int *restrict in, ulong n, global const int *parts, global int *restrict out)
{
    size_t g = get_global_id(0), at = 0, i = chunk_at(n, g);
    for (size_t k = 0; k < g; k++)
        at += parts[k];
    for (size_t end = at + parts[g]; at < end; i++) {
        out[at] = in[i];
        at += in[i] > 0;
    }
}
