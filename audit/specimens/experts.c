/* ring: glue */
/*
 * Selective DP-SGD at the expert level, at a size where an audit can see the
 * difference: coin p = 1/5, every expert sampled with q0 = 1/2, noise 2C,
 * N = 20 steps, delta = 1/1000. (At the published sizes the printed formula
 * gives 1.64 and the truth is 2.45; docs/paper-claims.md.) Claims and truths
 * are the accountant's.
 *
 * The attacker sees every noisy sum along the direction of one expert's
 * gradient and the public coins; what is put out is the sum of the steps' log
 * likelihood ratios, a function of that view and the best score there is.
 * Input 1: the expert is there, 0: not. param: p, q0, noise, N, distance.
 */
#include <math.h>

#include "audit/specimens/specimens.h"

#define P(k) (s->param[k])

/* Many draws at once, handed out a few at a time: anew for each block. */
#define POOL 4096

typedef struct pool {
    double x[POOL];
    size_t used;
} pool;

static const double *take_uniform(pool *p, assay_rng *rng, size_t n)
{
    if (p->used + n > POOL) {
        assay_rng_uniform(rng, p->x, POOL);
        p->used = 0;
    }
    p->used += n;
    return p->x + p->used - n;
}

static const double *take_gauss(pool *p, assay_rng *rng, size_t n, double scale)
{
    if (p->used + n > POOL) {
        assay_rng_gauss(rng, p->x, POOL, 0, scale);
        p->used = 0;
    }
    p->used += n;
    return p->x + p->used - n;
}

/* How many of n independent steps happen, each with probability p. */
static size_t happen(pool *from, assay_rng *rng, size_t n, double p)
{
    const double *u = take_uniform(from, rng, n);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        k += u[i] < p ? 1 : 0;
    }
    return k;
}

/* The expert is in `drawn` of the `used` steps: which ones does not matter. */
ASSAY_SIMD
static double score(const double *x, size_t used, size_t drawn,
                    const assay_specimen *s)
{
    double sum = 0;
    double scale = P(4) / (P(2) * P(2));
    for (size_t i = 0; i < used; i++) {
        double at = x[i] + (i < drawn ? P(4) : 0) - P(4) / 2;
        sum += log1p(P(1) * expm1(scale * at));
    }
    return sum;
}

static void draw_selective(const assay_specimen *s, const double *q,
                           assay_rng *rng, size_t n, assay_rows *out)
{
    static _Thread_local pool uniform, gauss;
    uniform.used = gauss.used = POOL;
    for (size_t i = 0; i < n; i++) {
        size_t used = happen(&uniform, rng, (size_t)P(3), P(0));
        size_t drawn = q[0] > 0.5 ? happen(&uniform, rng, used, P(1)) : 0;
        out->value[0][i] =
            score(take_gauss(&gauss, rng, used, P(2)), used, drawn, s);
    }
}

static void llr_selective(const assay_oracle *o, const assay_rows *rows,
                          double *out)
{
    double sign = o->pair.q[0][0] > 0.5 ? 1 : -1;
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = sign * rows->value[0][i];
    }
}

/* One draw of a release of stable prefixes: m experts who prefer action 0, or
 * m - 1 of them and one who prefers action 1 (input 1); two steps, one state.
 * Put out: length and actions of what is released. param: p_min, m, epsilon',
 * threshold. */
static void draw_stable(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    double odd = q[0] > 0.5 ? 1 : 0;
    double bar[ASSAY_ROWS_BLOCK], y[2][ASSAY_ROWS_BLOCK];
    double u[3][ASSAY_ROWS_BLOCK];
    assay_rng_laplace(rng, bar, n, P(3), 2 / P(2));
    for (int t = 0; t < 3; t++) {
        assay_rng_uniform(rng, u[t], n);
        if (t < 2) {
            assay_rng_laplace(rng, y[t], n, 0, 2 / P(2));
        }
    }
    for (size_t i = 0; i < n; i++) {
        int is_odd = u[2][i] * P(1) < odd;
        double alike = 1, other = 1;
        int length = 0, code = 0;
        for (int t = 0; t < 2; t++) {
            int rare = u[t][i] < P(0);
            int action = rare != is_odd;
            alike *= action == 0 ? 1 - P(0) : P(0);
            other *= action == 1 ? 1 - P(0) : P(0);
            if ((P(1) - odd) * alike + odd * other + y[t][i] <= bar[i]) {
                break;
            }
            code += action << t;
            length++;
        }
        out->value[0][i] = length;
        out->value[1][i] = code;
    }
}

static const assay_pair one_zero[] = {{{{1}, {0}}}};

/* A batch of fixed size: where the expert is missing another one takes its
 * place, so the sums differ by 2C; Poisson samples differ by C. */
#define SELECTIVE(label, text, eps, true_eps, bad, distance)                   \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(eps, 0.001),           \
        .truth = true_eps, .violates = bad, .width = 1, .num_inputs = 1,       \
        .num_pairs = 1, .pairs = one_zero,                                     \
        .param = {0.2, 0.5, 2, 20, distance}, .draw = draw_selective,          \
        .llr = llr_selective, .slow = 4                                        \
    }

/* epsilon' = 1 and delta' = 0.001, two steps: (2, 0.002). Shift 15.61 solves
 * exp(-s/2) (1 + s/4)/2 = 0.001, c_min = 1.582. */
#define STABLE(label, text, bad, least, experts, threshold)                    \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(2, 0.002),             \
        .truth = NAN, .violates = bad, .width = 2, .num_inputs = 1,            \
        .num_pairs = 1, .pairs = one_zero,                                     \
        .param = {least, experts, 1, threshold}, .draw = draw_stable           \
    }

const assay_specimen assay_specimens_experts[] = {
    STABLE("StablePrefix", "threshold c_min/p_min and the shift", 0, 0.02, 120,
           79.1 + 15.61),
    STABLE("StablePrefix-low-bar", "threshold c_min without the shift", 1,
           0.001, 20, 1.582),
    SELECTIVE("SelectiveSGD-printed", "q = p b/m though the coin is public",
              0.6357, 1.8043, 1, 1),
    SELECTIVE("SelectiveSGD-corrected",
              "Poisson samples, p times the subsampled Gaussian", 1.8044,
              1.8043, 0, 1),
    SELECTIVE("FixedBatch-as-Poisson", "batches of fixed size differ by 2C",
              1.8044, 5.0628, 1, 2),
    SELECTIVE("FixedBatch-corrected", "accounted with 2C", 5.0629, 5.0628, 0,
              2),
    {.name = NULL},
};
