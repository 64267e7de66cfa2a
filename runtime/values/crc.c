/* CRC-32 (the polynomial 0xedb88320, reflected), eight bytes at a time: table[k][b] is the effect of the byte b with k
 * zero bytes behind it ("slicing by eight"). */
#include "values.h"

void dp_crc_begin(DpCrc *c)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t sum = b;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
        c->table[0][b] = sum;
    }
    for (uint32_t k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++)
            c->table[k][b] = c->table[k - 1][b] >> 8 ^ c->table[0][c->table[k - 1][b] & 0xff];
    c->state = 0xffffffffu;
}

static uint32_t add_eight(const DpCrc *c, uint32_t state, const uint8_t *at)
{
    return c->table[7][(state ^ at[0]) & 0xff] ^ c->table[6][(state >> 8 ^ at[1]) & 0xff] ^
           c->table[5][(state >> 16 ^ at[2]) & 0xff] ^ c->table[4][(state >> 24 ^ at[3]) & 0xff] ^ c->table[3][at[4]] ^
           c->table[2][at[5]] ^ c->table[1][at[6]] ^ c->table[0][at[7]];
}

void dp_crc_add(DpCrc *c, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint32_t state = c->state;
    for (; n >= 8; n -= 8, at += 8)
        state = add_eight(c, state, at);
    for (; n > 0; n--, at++)
        state = state >> 8 ^ c->table[0][(state ^ *at) & 0xff];
    c->state = state;
}

uint32_t dp_crc_end(DpCrc *c)
{
    uint32_t sum = ~c->state;
    c->state = 0xffffffffu;
    return sum;
}
