/* ring: glue */
#include "algorithms/rows.h"

#include <string.h>

#define TOP ((int64_t)1 << 50)

/* Any row, one number after the other. */
static void sum_slowly(assay_row_sums *out, const int64_t *row, const double *v,
                       size_t n, int64_t level)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        int64_t clipped = row[i] < 0 ? 0 : row[i] > TOP ? TOP : row[i];
        double y = (double)clipped;
        if (clipped > level) {
            out->number += 1.0;
            out->weighted[0] += y;
            out->weighted[1] += y * v[i];
            out->weighted[2] += y * v[i] * v[i];
            out->plain[0] += v[i];
            out->plain[1] += v[i] * v[i];
        }
    }
}

/* Vectors of eight where the compiler has them (GCC, Clang); the flow analysis
 * reads the slow way. A CPU with wider registers gets its own copy of the
 * function; the arithmetic is the same. */
#if defined(__GNUC__) && !defined(__FRAMAC__)
#define LANES 8u
typedef double lane __attribute__((vector_size(64)));
typedef double half __attribute__((vector_size(32)));
typedef int64_t mask __attribute__((vector_size(64)));
#define SPREAD(x)                                                              \
    {                                                                          \
        (x), (x), (x), (x), (x), (x), (x), (x)                                 \
    }
#define ZERO SPREAD(0)
#define AHEAD 4096u /* bytes: memory answers while this row is summed */

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define HOT __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define HOT
#endif

#define ADD_UP(out, x)                                                         \
    do {                                                                       \
        half low, high;                                                        \
        memcpy(&low, &(x), sizeof low);                                        \
        memcpy(&high, (const char *)&(x) + sizeof low, sizeof high);           \
        low += high;                                                           \
        (out) = (low[0] + low[1]) + (low[2] + low[3]);                         \
    } while (0)

/* Exact conversion: 2^52 + 2^51 + y has y < 2^51 in its last bits. */
HOT void assay_row_sum(assay_row_sums *out, const int64_t *row, const double *v,
                       size_t n, int64_t level)
{
    const lane magic = SPREAD(0x1.8p52);
    const mask bar = SPREAD(level);
    lane y0 = ZERO, y1 = ZERO, y2 = ZERO, v1 = ZERO, v2 = ZERO;
    mask number = ZERO, bits = ZERO;
    int64_t row_end[LANES] = {0}; /* zeros behind the end */
    double v_end[LANES] = {0.0};
    size_t whole = n - n % LANES;
    memcpy(row_end, row + whole, (n - whole) * sizeof *row);
    memcpy(v_end, v + whole, (n - whole) * sizeof *v);
    for (size_t i = 0; i < n; i += LANES) {
        const int64_t *from = i < whole ? row + i : row_end;
        mask c, in;
        lane x, y;
        __builtin_prefetch((const void *)((uintptr_t)from + AHEAD));
        memcpy(&c, from, sizeof c);
        memcpy(&x, i < whole ? v + i : v_end, sizeof x);
        c &= c > 0;
        bits |= c;
        in = c > bar;
        y = (lane)(c + (mask)magic) - magic;
        y = (lane)((mask)y & in);
        x = (lane)((mask)x & in);
        number -= in;
        y0 += y;
        v1 += x;
        v2 += x * x;
        y *= x;
        y1 += y;
        y2 += y * x;
    }
    bits[0] |= bits[1] | bits[2] | bits[3];
    bits[4] |= bits[5] | bits[6] | bits[7];
    if ((bits[0] | bits[4]) >= TOP) {
        sum_slowly(out, row, v, n, level);
        return;
    }
    number[0] += number[1] + number[2] + number[3];
    number[4] += number[5] + number[6] + number[7];
    out->number = level < 0 ? (double)n : (double)(number[0] + number[4]);
    ADD_UP(out->weighted[0], y0);
    ADD_UP(out->weighted[1], y1);
    ADD_UP(out->weighted[2], y2);
    ADD_UP(out->plain[0], v1);
    ADD_UP(out->plain[1], v2);
}
#else
void assay_row_sum(assay_row_sums *out, const int64_t *row, const double *v,
                   size_t n, int64_t level)
{
    sum_slowly(out, row, v, n, level);
}
#endif
