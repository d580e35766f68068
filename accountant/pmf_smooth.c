/* ring: glue */
/*
 * Losses with a density: Gaussian and Laplace noise, whole, Poisson-sampled, or
 * sampled without replacement.
 *
 * With Q the law without the record and P0 the law with it, the sampled pair is
 * P = (1-q) Q + q P0 against Q, and l = log(1 - q + q e^z), z the loss of
 * (P0, Q). z is monotone in one real variable:
 *   Gaussian, shift mu:  z > t  iff  x > t/mu + mu/2,  Q: x ~ N(0,1), P0:
 * N(mu,1) Laplace, shift s:    Q(z > t) = e^{-(t+s)/2}/2, P0(z <= t) =
 * e^{-(s-t)/2}/2 for -s <= t < s A cell's masses are differences of tails at
 * its two ends.
 */
#include <arb_hypgeom.h>

#include "accountant/pmf_parts.h"
#include "core/rational.h"

#define MAX_NODES 60000

typedef struct smooth {
    int gaussian;
    int whole; /* q = 1 */
    arb_t shift, rate, stay, root2;
    double shift_near, rate_near, count;
    const assay_grid *grid;
} smooth;

/* P and Q beyond (upper = 1) or up to (upper = 0) a loss. */
typedef struct tails {
    int upper;
    arb_t p, q;
} tails;

int assay_pmf_is_smooth(const assay_event *event)
{
    int kind = event->mechanism == ASSAY_GAUSSIAN ||
               event->mechanism == ASSAY_ROUNDED_GAUSSIAN ||
               event->mechanism == ASSAY_GAUSSIAN_DP ||
               event->mechanism == ASSAY_LAPLACE ||
               event->mechanism == ASSAY_ROUNDED_LAPLACE;
    return kind && (event->sampling == ASSAY_SAMPLE_ALL || event->group == 1);
}

static void set_rate(mpq_t out, const assay_event *event)
{
    mpq_set(out, event->rate);
    if (event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT) {
        assay_mpz_set_u64(mpq_numref(out), event->batch);
        assay_mpz_set_u64(mpq_denref(out), event->population);
        mpq_canonicalize(out);
    }
}

static void smooth_init(smooth *s, const assay_event *event,
                        const assay_grid *grid)
{
    mpq_t value, group;
    slong prec = ASSAY_PMF_PREC;
    mpq_init(value);
    mpq_init(group);
    arb_init(s->shift);
    arb_init(s->rate);
    arb_init(s->stay);
    arb_init(s->root2);
    s->grid = grid;
    s->gaussian = event->mechanism != ASSAY_LAPLACE &&
                  event->mechanism != ASSAY_ROUNDED_LAPLACE;
    assay_mpz_set_u64(mpq_numref(group), event->group);
    if (s->gaussian) {
        mpq_div(value, event->sensitivity2, event->sigma2);
        assay_arb_set_mpq(s->shift, value, prec);
        arb_sqrt(s->shift, s->shift, prec);
    } else {
        mpq_div(value, event->sensitivity, event->scale);
        assay_arb_set_mpq(s->shift, value, prec);
    }
    assay_arb_set_mpq(s->rate, group, prec);
    arb_mul(s->shift, s->shift, s->rate, prec);
    set_rate(value, event);
    assay_arb_set_mpq(s->rate, value, prec);
    s->whole = mpq_cmp_ui(value, 1, 1) == 0;
    mpq_set_ui(group, 1, 1);
    mpq_sub(group, group, value);
    assay_arb_set_mpq(s->stay, group, prec);
    arb_sqrt_ui(s->root2, 2, prec);
    s->shift_near = arf_get_d(arb_midref(s->shift), ARF_RND_NEAR);
    s->rate_near = arf_get_d(arb_midref(s->rate), ARF_RND_NEAR);
    s->count = (double)event->count;
    mpq_clear(value);
    mpq_clear(group);
}

static void smooth_clear(smooth *s)
{
    arb_clear(s->shift);
    arb_clear(s->rate);
    arb_clear(s->stay);
    arb_clear(s->root2);
}

/* ---- balls ---- */

/* z = log((e^l - 1 + q)/q); 0 if l is at or below log(1-q) */
static int inner_loss(arb_t z, const smooth *s, const arb_t loss)
{
    slong prec = ASSAY_PMF_PREC;
    if (s->whole) {
        arb_set(z, loss);
        return 1;
    }
    arb_expm1(z, loss, prec);
    arb_div(z, z, s->rate, prec);
    arb_add_ui(z, z, 1, prec);
    if (!arb_is_positive(z)) {
        return 0;
    }
    arb_log(z, z, prec);
    return 1;
}

/* Phi(-|x|)-style tail: erfc(x / sqrt 2) / 2 */
static void normal_tail(arb_t out, const arb_t x, const smooth *s)
{
    arb_t y;
    arb_init(y);
    arb_div(y, x, s->root2, ASSAY_PMF_PREC);
    arb_hypgeom_erfc(out, y, ASSAY_PMF_PREC);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(y);
}

static void gaussian_tails(tails *t, const arb_t z, const smooth *s)
{
    arb_t x, y;
    slong prec = ASSAY_PMF_PREC;
    arb_init(x);
    arb_init(y);
    arb_div(x, z, s->shift, prec);
    arb_mul_2exp_si(y, s->shift, -1);
    arb_add(x, x, y, prec); /* Q: x ~ N(0,1) */
    arb_sub(y, x, s->shift, prec);
    t->upper = !arb_is_negative(x);
    if (!t->upper) {
        arb_neg(x, x);
        arb_neg(y, y);
    }
    normal_tail(t->q, x, s);
    normal_tail(t->p, y, s);
    arb_clear(x);
    arb_clear(y);
}

static void half_exp(arb_t out, const arb_t x, slong prec)
{
    arb_mul_2exp_si(out, x, -1);
    arb_neg(out, out);
    arb_exp(out, out, prec);
    arb_mul_2exp_si(out, out, -1);
}

static void laplace_tails(tails *t, const arb_t z, const smooth *s)
{
    arb_t x;
    slong prec = ASSAY_PMF_PREC;
    arb_init(x);
    t->upper = 1;
    arb_neg(x, s->shift);
    if (arb_lt(z, x)) { /* everything is above */
        arb_one(t->p);
        arb_one(t->q);
    } else if (arb_ge(z, s->shift)) {
        arb_zero(t->p);
        arb_zero(t->q);
    } else {
        arb_add(x, z, s->shift, prec);
        half_exp(t->q, x, prec);
        arb_sub(x, s->shift, z, prec);
        half_exp(t->p, x, prec);
        arb_sub_ui(t->p, t->p, 1, prec);
        arb_neg(t->p, t->p);
    }
    arb_clear(x);
}

static void tails_beyond(tails *t, const arb_t loss, const smooth *s)
{
    arb_t z;
    slong prec = ASSAY_PMF_PREC;
    arb_init(z);
    if (!inner_loss(z, s, loss)) {
        t->upper = 0;
        arb_zero(t->p);
        arb_zero(t->q);
    } else if (s->gaussian) {
        gaussian_tails(t, z, s);
    } else {
        laplace_tails(t, z, s);
    }
    arb_mul(t->p, t->p, s->rate, prec); /* (1-q) Q + q P0 */
    arb_addmul(t->p, t->q, s->stay, prec);
    arb_clear(z);
}

static void tails_at(tails *t, int64_t index, const smooth *s)
{
    arb_t loss;
    arb_init(loss);
    arb_set_si(loss, index);
    arb_mul_2exp_si(loss, loss, -s->grid->bits);
    tails_beyond(t, loss, s);
    arb_clear(loss);
}

/* Mass between two losses, as a ball. */
static void between(arb_t out, const arb_t low, int low_upper, const arb_t high,
                    int high_upper)
{
    slong prec = ASSAY_PMF_PREC;
    if (low_upper && high_upper) {
        arb_sub(out, low, high, prec);
    } else if (!low_upper && !high_upper) {
        arb_sub(out, high, low, prec);
    } else {
        arb_add(out, low, high, prec);
        arb_sub_ui(out, out, 1, prec);
        if (!low_upper) {
            arb_neg(out, out); /* 1 - low - high */
        }
    }
}

/* ---- nodes: doubles, only for quality ---- */

static double near_inner(const smooth *s, double loss)
{
    return s->whole ? loss : log1p(expm1(loss) / s->rate_near);
}

/* N(0,1) mass of [x, y], without cancellation in either tail */
static double normal_mass(double x, double y)
{
    const double r = 0.70710678118654752;
    return x < 0.0 ? 0.5 * (erfc(-y * r) - erfc(-x * r))
                   : 0.5 * (erfc(x * r) - erfc(y * r));
}

static double clamp(double x, double bound)
{
    return fmax(-bound, fmin(bound, x));
}

/* mass of a cell under P0 and Q, near */
static void near_masses(double *p, double *q, const smooth *s, double low,
                        double high)
{
    double mu = s->shift_near;
    double z0 = near_inner(s, low);
    double z1 = near_inner(s, high);
    z0 = isnan(z0) ? -1e300 : z0;
    z1 = isnan(z1) ? -1e300 : z1;
    if (s->gaussian) {
        double x = fmax(-1e6, z0 / mu + 0.5 * mu);
        double y = fmax(-1e6, z1 / mu + 0.5 * mu);
        *q = normal_mass(x, y);
        *p = normal_mass(x - mu, y - mu);
        return;
    }
    double x = clamp(z0, mu);
    double y = clamp(z1, mu);
    *q = 0.5 * (exp(-0.5 * (x + mu)) - exp(-0.5 * (y + mu)));
    *p = 0.5 * (exp(-0.5 * (mu - y)) - exp(-0.5 * (mu - x)));
}

/* What a cell costs, 1 if it is just allowed. In bulk it moves the logarithm of
   E e^{t loss} by at most t (t+1) width^2 / 8 of its tilted mass, hence epsilon
   by (t+1)/8 width^2; where one run alone can pass epsilon it adds at most
   mass * width / 8 to delta. */
static double cell_cost(const smooth *s, double low, double high)
{
    double p, q;
    double tilt = s->grid->tilt;
    near_masses(&p, &q, s, low, high);
    p = (1.0 - s->rate_near) * q + s->rate_near * p;
    double up = log(p + 1e-300) + tilt * high;
    double down = log(q + 1e-300) - tilt * low;
    double w = high - low;
    double bulk = s->count * (1.0 + tilt) * w * w / 8.0 *
                  exp(fmin(600.0, fmax(up, down) - s->grid->log_scale)) /
                  s->grid->cell;
    double over = high > s->grid->focus ? p : -low > s->grid->focus ? q : 0.0;
    double jump = s->count * over * w / 8.0 / s->grid->jump;
    return fmax(bulk, jump);
}

/* The first and last node. */
static void range(int64_t *first, int64_t *last, const smooth *s)
{
    double h = ldexp(1.0, -s->grid->bits);
    double mu = s->shift_near;
    double top = mu;
    double bottom = -mu;
    if (s->gaussian) {
        double far = sqrt(fmax(0.0, -2.0 * log(s->grid->tail)));
        double sampled =
            sqrt(fmax(0.0, 2.0 * log(s->rate_near / s->grid->tail)));
        top = fmax(far, mu + sampled) * mu - 0.5 * mu * mu;
        bottom = -far * mu - 0.5 * mu * mu;
    }
    if (!s->whole) {
        double q = s->rate_near;
        top = top > 600.0 ? top + log(q) : log1p(q * expm1(top));
        bottom = log1p(q * expm1(bottom));
        top = fmax(top, h);
    }
    *last = (int64_t)ceil(top / h) + 1;
    *first = (int64_t)floor(bottom / h) - 1;
}

/* The next node: as far as the cell's cost allows, in powers of two. */
static int64_t next_node(const smooth *s, int64_t at, int64_t last,
                         int64_t *step)
{
    double h = ldexp(1.0, -s->grid->bits);
    int64_t wide = *step * 2;
    while (wide > 1 &&
           cell_cost(s, (double)at * h, (double)(at + wide) * h) > 1.0) {
        wide /= 2;
    }
    *step = wide;
    int64_t next = at + wide;
    if (at < 0 && next > 0) {
        next = 0; /* zero is a node: sampling without replacement folds there */
    }
    return next < last ? next : last;
}

/* ---- cells to pmfs ---- */

typedef struct builder {
    assay_pmf *remove;
    assay_pmf *add;
    int fold;  /* without replacement */
    int twice; /* both directions differ */
    arb_t placed;
} builder;

static void emit(builder *b, int64_t low, int64_t high, const arb_t p,
                 const arb_t q, int bits)
{
    if (!b->fold) {
        assay_pmf_split(b->remove, low, high, p, q, bits);
        if (b->twice) {
            assay_pmf_split(b->add, -high, -low, q, p, bits);
        }
        return;
    }
    if (low >= 0) {
        assay_pmf_split(b->remove, low, high, p, q, bits);
        assay_pmf_split(b->remove, -high, -low, q, p, bits);
        arb_add(b->placed, b->placed, p, ASSAY_PMF_PREC);
        arb_add(b->placed, b->placed, q, ASSAY_PMF_PREC);
    }
}

/* Below the first node: up to it; to infinity for the reverse direction. */
static void below(builder *b, int64_t first, const tails *t)
{
    if (b->fold) {
        return;
    }
    arb_t p, q;
    arb_init(p);
    arb_init(q);
    arb_set(p, t->p);
    arb_set(q, t->q);
    if (t->upper) {
        arb_sub_ui(p, p, 1, ASSAY_PMF_PREC);
        arb_neg(p, p);
        arb_sub_ui(q, q, 1, ASSAY_PMF_PREC);
        arb_neg(q, q);
    }
    assay_pmf_put(b->remove, first, assay_ball_up(p));
    b->add->infinite = assay_ball_up(q);
    arb_clear(p);
    arb_clear(q);
}

/* Above the last node: to infinity; up to the last for the reverse. */
static void above(builder *b, int64_t last, const tails *t)
{
    arb_t p, q;
    arb_init(p);
    arb_init(q);
    arb_set(p, t->p);
    arb_set(q, t->q);
    if (!t->upper) {
        arb_sub_ui(p, p, 1, ASSAY_PMF_PREC);
        arb_neg(p, p);
        arb_sub_ui(q, q, 1, ASSAY_PMF_PREC);
        arb_neg(q, q);
    }
    b->remove->infinite = assay_ball_up(p);
    if (b->fold) {
        assay_pmf_put(b->remove, -last, assay_ball_up(q));
        arb_add(b->placed, b->placed, p, ASSAY_PMF_PREC);
        arb_add(b->placed, b->placed, q, ASSAY_PMF_PREC);
        arb_sub_ui(b->placed, b->placed, 1, ASSAY_PMF_PREC);
        arb_neg(b->placed, b->placed);
        assay_pmf_put(b->remove, 0, assay_ball_up(b->placed));
    } else if (b->twice) {
        assay_pmf_put(b->add, -last, assay_ball_up(q));
    }
    arb_clear(p);
    arb_clear(q);
}

static size_t walk(builder *b, const smooth *s)
{
    tails old = {0}, new = {0};
    arb_t p, q;
    int64_t at, last, step = 1;
    size_t cells = 0;
    arb_init(old.p);
    arb_init(old.q);
    arb_init(new.p);
    arb_init(new.q);
    arb_init(p);
    arb_init(q);
    range(&at, &last, s);
    if (b->fold && at < 0) {
        at = 0;
    }
    tails_at(&old, at, s);
    below(b, at, &old);
    while (at < last && cells < MAX_NODES) {
        int64_t next = next_node(s, at, last, &step);
        tails_at(&new, next, s);
        between(p, old.p, old.upper, new.p, new.upper);
        between(q, old.q, old.upper, new.q, new.upper);
        emit(b, at, next, p, q, s->grid->bits);
        arb_swap(old.p, new.p);
        arb_swap(old.q, new.q);
        old.upper = new.upper;
        at = next;
        cells++;
    }
    above(b, at, &old);
    arb_clear(old.p);
    arb_clear(old.q);
    arb_clear(new.p);
    arb_clear(new.q);
    arb_clear(p);
    arb_clear(q);
    return at < last ? MAX_NODES : cells;
}

assay_status assay_pmf_smooth(assay_pmf *remove, assay_pmf *add,
                              const assay_event *event, const assay_grid *grid,
                              assay_error *err)
{
    smooth s;
    builder b = {.remove = remove, .add = add};
    b.fold = event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT;
    b.twice = event->sampling == ASSAY_SAMPLE_POISSON;
    smooth_init(&s, event, grid);
    arb_init(b.placed);
    size_t cells = walk(&b, &s);
    arb_clear(b.placed);
    smooth_clear(&s);
    return cells < MAX_NODES
               ? ASSAY_OK
               : assay_fail(err, ASSAY_RANGE,
                            "pld: the losses spread over too many cells");
}

/* ---- lower bounds ----
 *
 * Merging outputs is post-processing: it can only lower the profile. A window
 * of losses with masses p, q becomes one atom of loss log(p/q), which is near
 * the window's centre, and is moved down to the grid. The windows are shifted a
 * little (second order in their width) so that log(p/q) lies just above the
 * centre's grid point: then moving it down costs next to nothing.
 */

/* How far to shift a boundary between windows of width w at loss l. */
static double boundary_shift(const smooth *s, double l, double w, int sign)
{
    double p0, q0, p1, q1;
    near_masses(&p0, &q0, s, l - 0.5 * w, l);
    near_masses(&p1, &q1, s, l, l + 0.5 * w);
    double m0 = (1.0 - s->rate_near) * q0 + s->rate_near * p0;
    double m1 = (1.0 - s->rate_near) * q1 + s->rate_near * p1;
    double slope = m0 > 1e-290 && m1 > 1e-290 ? log(m1 / m0) / (0.5 * w) : 0.0;
    double least = w * w / 24.0; /* -log E e^{-l} against the mean */
    double shift =
        sign > 0 ? 1.1 * (least + w * w / 12.0 * fmax(0.0, -slope))
                 : 1.1 * fmin(0.0, least - w * w / 12.0 * fmax(0.0, slope));
    return fmax(-0.2 * w, fmin(0.2 * w, shift));
}

/* The largest grid index at most log(p/q) (sign 1) or log(q/p) (sign -1), at
   or below `centre`; searches down as far as `limit`. */
static int64_t floor_index(const arb_t p, const arb_t q, int64_t centre,
                           int64_t limit, int bits)
{
    arb_t e, t;
    arb_init(e);
    arb_init(t);
    int64_t at = centre;
    for (; at > limit; at--) {
        arb_set_si(t, at);
        arb_mul_2exp_si(t, t, -bits);
        arb_exp(e, t, ASSAY_PMF_PREC);
        arb_mul(e, e, q, ASSAY_PMF_PREC);
        if (arb_ge(p, e)) {
            break;
        }
    }
    arb_clear(e);
    arb_clear(t);
    return at;
}

typedef struct window_walk {
    tails old, new;
    arb_t p, q, loss;
} window_walk;

static void walk_init(window_walk *w)
{
    arb_init(w->old.p);
    arb_init(w->old.q);
    arb_init(w->new.p);
    arb_init(w->new.q);
    arb_init(w->p);
    arb_init(w->q);
    arb_init(w->loss);
}

static void walk_clear(window_walk *w)
{
    arb_clear(w->old.p);
    arb_clear(w->old.q);
    arb_clear(w->new.p);
    arb_clear(w->new.q);
    arb_clear(w->p);
    arb_clear(w->q);
    arb_clear(w->loss);
}

static void boundary_tails(window_walk *w, const smooth *s, int64_t at,
                           int64_t width, int sign)
{
    double h = ldexp(1.0, -s->grid->bits);
    double l = (double)at * h;
    arb_set_d(w->loss, l + boundary_shift(s, l, (double)width * h, sign));
    tails_beyond(&w->new, w->loss, s);
}

static void put_window(assay_pmf *out, window_walk *w, int64_t from, int64_t to,
                       int sign, int bits)
{
    int64_t width = to - from;
    int64_t centre = sign * (from + width / 2);
    between(w->p, w->old.p, w->old.upper, w->new.p, w->new.upper);
    between(w->q, w->old.q, w->old.upper, w->new.q, w->new.upper);
    if (arb_is_positive(w->p) && arb_is_positive(w->q)) {
        arb_ptr first = sign > 0 ? w->p : w->q;
        arb_ptr second = sign > 0 ? w->q : w->p;
        int64_t limit = centre - 2 * width - 2;
        int64_t at = floor_index(first, second, centre, limit, bits);
        if (at > limit) {
            assay_pmf_put(out, at, assay_ball_down(first));
        }
    }
    arb_swap(w->old.p, w->new.p);
    arb_swap(w->old.q, w->new.q);
    w->old.upper = w->new.upper;
}

static size_t walk_lower(assay_pmf *out, const smooth *s, int sign)
{
    window_walk w = {0};
    int64_t at, last, step = 1;
    size_t cells = 0;
    int bits = s->grid->bits;
    walk_init(&w);
    range(&at, &last, s);
    at = at % 2 == 0 ? at : at - 1;
    last = last % 2 == 0 ? last : last + 1;
    boundary_tails(&w, s, at, 2, sign);
    arb_swap(w.old.p, w.new.p);
    arb_swap(w.old.q, w.new.q);
    w.old.upper = w.new.upper;
    while (at < last && cells < MAX_NODES) {
        int64_t next = next_node(s, at, last, &step);
        next = (next - at) % 2 == 0 ? next : next + 1;
        boundary_tails(&w, s, next, next - at, sign);
        put_window(out, &w, at, next, sign, bits);
        at = next;
        cells++;
    }
    walk_clear(&w);
    return cells;
}

assay_status assay_pmf_smooth_lower(assay_pmf *out, const assay_event *event,
                                    const assay_grid *grid, int add,
                                    assay_error *err)
{
    smooth s;
    smooth_init(&s, event, grid);
    size_t cells = walk_lower(out, &s, add ? -1 : 1);
    smooth_clear(&s);
    return cells < MAX_NODES
               ? ASSAY_OK
               : assay_fail(err, ASSAY_RANGE,
                            "pld: the losses spread over too many cells");
}
