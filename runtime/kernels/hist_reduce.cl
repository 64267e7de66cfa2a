/* Before carry.cl and reduce.cl: the bins of a sorted histogram as segments. Element i is the value at vals whose number is pos[i]. The
 * operator belongs to the instance whose bin it is: the u32 column whose address stands behind the mailbox, or 0. */
#define DP_ELEMENT(i, s) (*DP_AT(dp_val, vals + DP_VAL_BYTES * (ulong)*DP_AT(uint, pos + 4 * (i))))
#define DP_INSTANCE(s) dp_bin_instance(heap, (s))

static inline ulong dp_bin_instance(DP_HEAP, ulong bin)
{
    return dp_at(heap, *DP_AT(ulong, DP_BIN_INSTANCES), bin) * (*DP_AT(ulong, DP_BIN_INSTANCES) != 0);
}
