/* For kernels of work-groups of 256, in the GPU's shape: scatter_windows.cl and the sorts. */

/* Other devices than NVIDIA's are not asked to unroll loops with barriers. */
#ifdef cl_nv_pragma_unroll
#define DP_UNROLL _Pragma("unroll")
#else
#define DP_UNROLL
#endif

/* The sum of x of the lanes before l. work: 2 * DP_WG, not in use before. Two barriers. */
static inline uint dp_sum_before(uint x, __local uint *work, uint l)
{
    work[l] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) {
        uint sum = 0;
        for (uint j = 16 * l; j < 16 * l + 16; j++) {
            uint one = work[j];
            work[j] = sum;
            sum += one;
        }
        work[DP_WG + l] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = work[l];
    for (uint j = 0; j < l / 16; j++)
        before += work[DP_WG + j];
    return before;
}
