/* ring: glue */
#include "algorithms/rows.h"

#include <string.h>

/* Vectors of four where the compiler has them (GCC, Clang), else one number:
 * the flow analysis reads that. A CPU with wider registers gets its own copy
 * of each function; the arithmetic is the same. */
#if defined(__GNUC__) && !defined(__FRAMAC__)
#define LANES 4
typedef double lane __attribute__((vector_size(32)));
typedef int64_t mask __attribute__((vector_size(32)));
#define SPREAD(x)                                                              \
    {                                                                          \
        (x), (x), (x), (x)                                                     \
    }
#define ADD_UP(s) (((s)[0] + (s)[1]) + ((s)[2] + (s)[3]))
#else
#define LANES 0
#endif

#if LANES == 4 && defined(__x86_64__) && !defined(__clang__) &&                \
    !defined(__SANITIZE_ADDRESS__)
#define HOT __attribute__((target_clones("avx2", "default")))
#else
#define HOT
#endif

#define TOP ((int64_t)1 << 50)

static double load_one(int64_t v)
{
    v = v > 0 ? v : 0;
    return (double)(v < TOP ? v : TOP);
}

static double above_one(double x, double t)
{
    return x - t > 0.0 ? x - t : 0.0;
}

#if LANES == 4
/* Clip, then exact conversion: 2^52 + 2^51 + v has v in its last bits. */
#define MAGIC 0x1.8p52

HOT double assay_row_load(double *x, const int64_t *row, size_t n)
{
    const lane magic = SPREAD(MAGIC);
    const mask top = SPREAD(TOP);
    lane s = SPREAD(0.0);
    lane r = SPREAD(0.0);
    double tail = 0.0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        mask v;
        mask u;
        lane d;
        lane e;
        memcpy(&v, row + i, sizeof v);
        memcpy(&u, row + i + 4, sizeof u);
        v &= v > 0;
        u &= u > 0;
        v = (v & (v < top)) | (top & ~(v < top));
        u = (u & (u < top)) | (top & ~(u < top));
        d = (lane)(v + (mask)magic) - magic;
        e = (lane)(u + (mask)magic) - magic;
        memcpy(x + i, &d, sizeof d);
        memcpy(x + i + 4, &e, sizeof e);
        s += d;
        r += e;
    }
    for (; i < n; i++) {
        x[i] = load_one(row[i]);
        tail += x[i];
    }
    s += r;
    return ADD_UP(s) + tail;
}

HOT double assay_row_above(const double *x, size_t n, double t, double *number)
{
    const lane zero = SPREAD(0.0);
    const lane level = SPREAD(t);
    lane s = zero;
    lane r = zero;
    mask c = SPREAD(0);
    mask b = SPREAD(0);
    double tail = 0.0;
    int64_t count = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        lane v;
        lane u;
        memcpy(&v, x + i, sizeof v);
        memcpy(&u, x + i + 4, sizeof u);
        v -= level;
        u -= level;
        s += (lane)((mask)v & (v > zero));
        r += (lane)((mask)u & (u > zero));
        c -= v > zero;
        b -= u > zero;
    }
    for (; i < n; i++) {
        tail += above_one(x[i], t);
        count += x[i] - t > 0.0;
    }
    s += r;
    c += b;
    *number = (double)(ADD_UP(c) + count);
    return ADD_UP(s) + tail;
}

HOT void assay_row_moments(double out[3], const double *x, const double *v,
                           size_t n, double t)
{
    const lane zero = SPREAD(0.0);
    const lane level = SPREAD(t);
    lane s[3] = {zero, zero, zero};
    lane r[3] = {zero, zero, zero};
    double tail[3] = {0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        lane y;
        lane z;
        lane p;
        lane q;
        memcpy(&y, x + i, sizeof y);
        memcpy(&z, x + i + 4, sizeof z);
        memcpy(&p, v + i, sizeof p);
        memcpy(&q, v + i + 4, sizeof q);
        y -= level;
        z -= level;
        y = (lane)((mask)y & (y > zero));
        z = (lane)((mask)z & (z > zero));
        s[0] += y;
        r[0] += z;
        s[1] += y * p;
        r[1] += z * q;
        s[2] += y * p * p;
        r[2] += z * q * q;
    }
    for (; i < n; i++) {
        double y = above_one(x[i], t);
        tail[0] += y;
        tail[1] += y * v[i];
        tail[2] += y * v[i] * v[i];
    }
    for (size_t k = 0; k < 3; k++) {
        s[k] += r[k];
        out[k] = ADD_UP(s[k]) + tail[k];
    }
}
#else
double assay_row_load(double *x, const int64_t *row, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        x[i] = load_one(row[i]);
        sum += x[i];
    }
    return sum;
}

double assay_row_above(const double *x, size_t n, double t, double *number)
{
    double sum = 0.0;
    double count = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += above_one(x[i], t);
        count += x[i] - t > 0.0 ? 1.0 : 0.0;
    }
    *number = count;
    return sum;
}

void assay_row_moments(double out[3], const double *x, const double *v,
                       size_t n, double t)
{
    double sum[3] = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < n; i++) {
        double y = above_one(x[i], t);
        sum[0] += y;
        sum[1] += y * v[i];
        sum[2] += y * v[i] * v[i];
    }
    memcpy(out, sum, sizeof sum);
}
#endif
