/* ring: glue */
#include "accountant/moment.h"

#include <math.h>

#include "accountant/numeric.h"
#include "core/rational.h"

static int gaussian_kind(const assay_event *event)
{
    return event->mechanism == ASSAY_GAUSSIAN ||
           event->mechanism == ASSAY_ROUNDED_GAUSSIAN ||
           event->mechanism == ASSAY_DISCRETE_GAUSSIAN;
}

static int laplace_kind(const assay_event *event)
{
    return event->mechanism == ASSAY_LAPLACE ||
           event->mechanism == ASSAY_ROUNDED_LAPLACE;
}

void assay_moment_clear(assay_moment *moment)
{
    assay_cost_clear(&moment->cost);
}

static double near(const mpq_t q)
{
    double log = assay_log_double(q);
    return log > 690.0 ? 1e300 : exp(log);
}

assay_status assay_moment_init(assay_moment *out, const assay_event *event,
                               assay_neighbours neighbours, assay_error *err)
{
    *out = (assay_moment){.event = event};
    assay_cost_init(&out->cost);
    assay_status status = assay_event_cost(&out->cost, event, neighbours, err);
    out->has_curve = event->mechanism == ASSAY_RENYI;
    out->integer_only = event->sampling != ASSAY_SAMPLE_ALL;
    int covered = out->cost.has_rho || out->cost.has_pure || out->has_curve;
    if (event->sampling != ASSAY_SAMPLE_ALL) {
        covered =
            event->group == 1 &&
            (gaussian_kind(event) ||
             (event->sampling == ASSAY_SAMPLE_POISSON && out->cost.has_pure));
    }
    if (status == ASSAY_OK &&
        (!covered || (out->has_curve && event->group > 1))) {
        status = assay_fail(err, ASSAY_UNSUPPORTED,
                            "%s: no theorem here gives its Renyi divergence",
                            assay_mechanism_name(event->mechanism));
    }
    if (status != ASSAY_OK) {
        assay_moment_clear(out);
        return status;
    }
    out->rho = near(out->cost.rho);
    out->epsilon = near(out->cost.epsilon);
    out->rate = event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT
                    ? (double)event->batch / (double)event->population
                    : near(event->rate);
    out->coin = near(event->coin);
    out->mu2 = 2.0 * out->rho;
    out->count = (double)event->count;
    return ASSAY_OK;
}

/* ---- doubles, for the search ---- */

static double log_add(double x, double y)
{
    double top = fmax(x, y);
    return top == -INFINITY ? top : top + log(exp(x - top) + exp(y - top));
}

static double log_binomial(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static double near_poisson(const assay_moment *m, double order)
{
    double sum = -INFINITY;
    double stay = log1p(-m->rate);
    for (unsigned i = 0; i <= (unsigned)order; i++) {
        double k = (double)i;
        double term = log_binomial(order, k) + k * log(m->rate) +
                      0.5 * k * (k - 1) * m->mu2;
        term += k < order ? (order - k) * stay : 0.0;
        sum = log_add(sum, term);
    }
    return sum;
}

static double near_wor(const assay_moment *m, double order)
{
    double two = fmin(4 * expm1(m->mu2), 2 * exp(m->mu2));
    double sum = 0.0;
    for (unsigned i = 2; i <= (unsigned)order; i++) {
        double j = (double)i;
        double term = log_binomial(order, j) + j * log(m->rate);
        term += j < 3 ? log(two) : log(2.0) + 0.5 * j * (j - 1) * m->mu2;
        sum = log_add(sum, term);
    }
    return sum;
}

/* order-a moment of binary randomised response at eps */
static double near_response(double eps, double order)
{
    return log_add(order * eps, (1 - order) * eps) - log_add(0.0, eps);
}

static double near_laplace(double eps, double a)
{
    return log_add(log(a / (2 * a - 1)) + (a - 1) * eps,
                   log((a - 1) / (2 * a - 1)) - a * eps);
}

static double near_curve(const assay_event *event, double order)
{
    double best = INFINITY;
    for (size_t i = 0; i < event->num_orders; i++) {
        if (mpq_get_d(event->curve[2 * i]) >= order * (1 - 1e-12)) {
            best = fmin(best, mpq_get_d(event->curve[2 * i + 1]));
        }
    }
    return (order - 1) * best;
}

static double near_one(const assay_moment *m, double order)
{
    const assay_event *event = m->event;
    if (m->has_curve) {
        return near_curve(event, order);
    }
    if (event->sampling == ASSAY_SAMPLE_POISSON) {
        return gaussian_kind(event)
                   ? near_poisson(m, order)
                   : near_response(log1p(m->rate * expm1(m->epsilon)), order);
    }
    if (event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT) {
        return near_wor(m, order);
    }
    double best = m->cost.has_rho ? order * (order - 1) * m->rho : INFINITY;
    if (m->cost.has_pure) {
        best =
            fmin(best, laplace_kind(event) ? near_laplace(m->epsilon, order)
                                           : near_response(m->epsilon, order));
    }
    return best;
}

double assay_moment_near(const assay_moment *m, double order)
{
    double one = near_one(m, order);
    if (m->coin < 1.0) {
        one = log_add(log1p(-m->coin), log(m->coin) + one);
    }
    return m->count * one;
}

/* ---- balls ---- */

typedef struct balls {
    arb_t a, x, y, z;
} balls;

static void balls_init(balls *b)
{
    arb_init(b->a);
    arb_init(b->x);
    arb_init(b->y);
    arb_init(b->z);
}

static void balls_clear(balls *b)
{
    arb_clear(b->a);
    arb_clear(b->x);
    arb_clear(b->y);
    arb_clear(b->z);
}

/* log(e^{a eps} + e^{(1-a) eps}) - log(1 + e^eps), eps in b->x, a in b->a */
static void ball_response(arb_t out, balls *b, slong prec)
{
    arb_sub_ui(b->z, b->a, 1, prec);
    arb_mul(b->y, b->a, b->x, prec);
    arb_mul(b->z, b->z, b->x, prec);
    arb_neg(b->z, b->z);
    arb_exp(b->y, b->y, prec);
    arb_exp(b->z, b->z, prec);
    arb_add(b->y, b->y, b->z, prec);
    arb_exp(b->z, b->x, prec);
    arb_add_ui(b->z, b->z, 1, prec);
    arb_div(b->y, b->y, b->z, prec);
    arb_log(out, b->y, prec);
}

/* log(a/(2a-1) e^{(a-1) eps} + (a-1)/(2a-1) e^{-a eps}) */
static void ball_laplace(arb_t out, balls *b, slong prec)
{
    arb_sub_ui(b->z, b->a, 1, prec);
    arb_mul(b->y, b->z, b->x, prec);
    arb_exp(b->y, b->y, prec);
    arb_mul(b->y, b->y, b->a, prec);
    arb_mul(b->x, b->x, b->a, prec);
    arb_neg(b->x, b->x);
    arb_exp(b->x, b->x, prec);
    arb_addmul(b->y, b->x, b->z, prec);
    arb_add(b->z, b->z, b->a, prec);
    arb_div(b->y, b->y, b->z, prec);
    arb_log(out, b->y, prec);
}

/* sum over k of C(a,k) (1-q)^(a-k) q^k e^{k(k-1) mu2 / 2}, its logarithm */
static void ball_poisson(arb_t out, const assay_moment *m, ulong order,
                         slong prec)
{
    balls b;
    arb_t sum, stay;
    mpq_t mu2;
    balls_init(&b);
    arb_init(sum);
    arb_init(stay);
    mpq_init(mu2);
    mpq_mul_2exp(mu2, m->cost.rho, 1);
    assay_arb_set_mpq(b.x, m->event->rate, prec);
    arb_sub_ui(stay, b.x, 1, prec);
    arb_neg(stay, stay);
    assay_arb_set_mpq(b.y, mu2, prec);
    for (ulong k = 0; k <= order; k++) {
        arb_mul_ui(b.z, b.y, k * (k - (k > 0)), prec);
        arb_mul_2exp_si(b.z, b.z, -1);
        arb_exp(b.z, b.z, prec);
        arb_bin_uiui(b.a, order, k, prec);
        arb_mul(b.z, b.z, b.a, prec);
        arb_pow_ui(b.a, b.x, k, prec);
        arb_mul(b.z, b.z, b.a, prec);
        arb_pow_ui(b.a, stay, order - k, prec);
        arb_addmul(sum, b.z, b.a, prec);
    }
    arb_log(out, sum, prec);
    mpq_clear(mu2);
    arb_clear(stay);
    arb_clear(sum);
    balls_clear(&b);
}

/* min(4 (e^v - 1), 2 e^v) for v = D_2 = mu2 */
static void wor_second(arb_t out, const arb_t mu2, slong prec)
{
    arb_t t;
    arb_init(t);
    arb_expm1(out, mu2, prec);
    arb_mul_2exp_si(out, out, 2);
    arb_exp(t, mu2, prec);
    arb_mul_2exp_si(t, t, 1);
    if (arb_lt(t, out)) {
        arb_set(out, t);
    }
    arb_clear(t);
}

/* Wang, Balle, Kasiviswanathan 2019, Theorem 9, for a Gaussian:
   1 + C(a,2) q^2 min(4(e^v - 1), 2 e^v) + sum_{j>2} 2 C(a,j) q^j e^{(j-1) D_j}
 */
static void ball_wor(arb_t out, const assay_moment *m, ulong order, slong prec)
{
    balls b;
    arb_t sum;
    mpq_t q;
    balls_init(&b);
    arb_init(sum);
    mpq_init(q);
    mpq_mul_2exp(q, m->cost.rho, 1);
    assay_arb_set_mpq(b.y, q, prec);
    assay_mpz_set_u64(mpq_numref(q), m->event->batch);
    assay_mpz_set_u64(mpq_denref(q), m->event->population);
    mpq_canonicalize(q);
    assay_arb_set_mpq(b.x, q, prec);
    arb_one(sum);
    for (ulong j = 2; j <= order; j++) {
        if (j == 2) {
            wor_second(b.z, b.y, prec);
        } else {
            arb_mul_ui(b.z, b.y, j * (j - 1), prec);
            arb_mul_2exp_si(b.z, b.z, -1);
            arb_exp(b.z, b.z, prec);
            arb_mul_2exp_si(b.z, b.z, 1);
        }
        arb_bin_uiui(b.a, order, j, prec);
        arb_mul(b.z, b.z, b.a, prec);
        arb_pow_ui(b.a, b.x, j, prec);
        arb_addmul(sum, b.z, b.a, prec);
    }
    arb_log(out, sum, prec);
    mpq_clear(q);
    arb_clear(sum);
    balls_clear(&b);
}

static int ball_curve(arb_t out, const assay_event *event, const mpq_t order,
                      slong prec)
{
    mpq_srcptr best = NULL;
    mpq_t value;
    for (size_t i = 0; i < event->num_orders; i++) {
        if (mpq_cmp(event->curve[2 * i], order) >= 0 &&
            (best == NULL || mpq_cmp(event->curve[2 * i + 1], best) < 0)) {
            best = event->curve[2 * i + 1];
        }
    }
    if (best == NULL) {
        return 0;
    }
    mpq_init(value);
    mpq_set_ui(value, 1, 1);
    mpq_sub(value, order, value);
    mpq_mul(value, value, best);
    assay_arb_set_mpq(out, value, prec);
    mpq_clear(value);
    return 1;
}

static void ball_plain(arb_t out, const assay_moment *m, const mpq_t order,
                       slong prec)
{
    balls b;
    arb_t other;
    balls_init(&b);
    arb_init(other);
    arb_pos_inf(out);
    assay_arb_set_mpq(b.a, order, prec);
    if (m->cost.has_pure) {
        assay_arb_set_mpq(b.x, m->cost.epsilon, prec);
        if (laplace_kind(m->event)) {
            ball_laplace(out, &b, prec);
        } else {
            ball_response(out, &b, prec);
        }
    }
    if (m->cost.has_rho) {
        assay_arb_set_mpq(b.x, m->cost.rho, prec);
        arb_sub_ui(other, b.a, 1, prec);
        arb_mul(other, other, b.a, prec);
        arb_mul(other, other, b.x, prec);
        if (!m->cost.has_pure || arb_lt(other, out)) {
            arb_set(out, other);
        }
    }
    arb_clear(other);
    balls_clear(&b);
}

/* eps of a Poisson-sampled pure mechanism, then randomised response */
static void ball_poisson_pure(arb_t out, const assay_moment *m,
                              const mpq_t order, slong prec)
{
    balls b;
    balls_init(&b);
    assay_arb_set_mpq(b.a, order, prec);
    assay_arb_set_mpq(b.x, m->cost.epsilon, prec);
    arb_expm1(b.x, b.x, prec);
    assay_arb_set_mpq(b.y, m->event->rate, prec);
    arb_mul(b.x, b.x, b.y, prec);
    arb_log1p(b.x, b.x, prec);
    ball_response(out, &b, prec);
    balls_clear(&b);
}

static int one_ball(arb_t out, const assay_moment *m, const mpq_t order,
                    slong prec)
{
    const assay_event *event = m->event;
    if (m->has_curve) {
        return ball_curve(out, event, order, prec);
    }
    if (event->sampling == ASSAY_SAMPLE_ALL) {
        ball_plain(out, m, order, prec);
        return 1;
    }
    if (!gaussian_kind(event)) {
        ball_poisson_pure(out, m, order, prec);
        return 1;
    }
    if (mpz_cmp_ui(mpq_denref(order), 1) != 0 ||
        mpz_cmp_ui(mpq_numref(order), 2) < 0 ||
        mpz_cmp_ui(mpq_numref(order), 100000) > 0) {
        return 0;
    }
    ulong a = mpz_get_ui(mpq_numref(order));
    if (event->sampling == ASSAY_SAMPLE_POISSON) {
        ball_poisson(out, m, a, prec);
    } else {
        ball_wor(out, m, a, prec);
    }
    return 1;
}

int assay_moment_ball(arb_t out, const assay_moment *m, const mpq_t order,
                      slong prec)
{
    if (!one_ball(out, m, order, prec)) {
        return 0;
    }
    if (mpq_cmp_ui(m->event->coin, 1, 1) < 0) {
        /* log(1 - c + c e^m) = log1p(c (e^m - 1)) */
        arb_t c;
        arb_init(c);
        assay_arb_set_mpq(c, m->event->coin, prec);
        arb_expm1(out, out, prec);
        arb_mul(out, out, c, prec);
        arb_log1p(out, out, prec);
        arb_clear(c);
    }
    return 1;
}

void assay_moment_cite(assay_bound *bound, const assay_moment *m)
{
    const assay_event *event = m->event;
    if (event->sampling == ASSAY_SAMPLE_POISSON) {
        assay_bound_cite(bound, event->mechanism == ASSAY_DISCRETE_GAUSSIAN
                                    ? "poisson-gaussian-renyi"
                                : gaussian_kind(event)
                                    ? "poisson-gaussian-renyi-continuous"
                                    : "poisson-pure");
    } else if (event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT) {
        assay_bound_cite(bound, "without-replacement-renyi");
    }
    if (!m->has_curve) {
        int pure = m->cost.has_pure;
        assay_bound_cite(bound, pure ? m->cost.pure_id : m->cost.rho_id);
        assay_bound_cite(bound, pure ? m->cost.pure_id2 : m->cost.rho_id2);
        assay_bound_cite(bound, laplace_kind(event) && pure ? "laplace-renyi"
                                : pure                      ? "pure-to-renyi"
                                                            : NULL);
    }
    if (mpq_sgn(m->cost.delta) > 0) {
        assay_bound_cite(bound, "approximate-split");
    }
    if (mpq_cmp_ui(event->coin, 1, 1) < 0) {
        assay_bound_cite(bound, "public-coin");
    }
}
