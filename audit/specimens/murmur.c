/* ring: glue */
#include "audit/specimens/murmur.h"

static uint32_t rotl(uint32_t x, int k)
{
    return (x << k) | (x >> (32 - k));
}

static uint32_t scramble(uint32_t k)
{
    return rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

uint32_t assay_murmur3(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint32_t h = seed, tail = 0;
    size_t blocks = len / 4;
    for (size_t i = 0; i < blocks; i++, p += 4) {
        uint32_t k = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
                     (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        h = rotl(h ^ scramble(k), 13) * 5 + 0xe6546b64u;
    }
    for (size_t i = len & 3; i > 0; i--) {
        tail = tail << 8 | p[i - 1];
    }
    if ((len & 3) != 0) {
        h ^= scramble(tail);
    }
    h ^= (uint32_t)len;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}
