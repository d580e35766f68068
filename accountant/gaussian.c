/* ring: glue */
/*
 * Gaussian composition in closed form. Releases with Gaussian noise and squared
 * shifts d_i^2 / sigma_i^2 compose, adaptively, to exactly one Gaussian of
 * mu^2 = sum count_i d_i^2 / sigma_i^2 (Dong, Roth, Su 2022, Corollary 3.3),
 * and delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle, Wang
 * 2018, Theorem 8). It is tight: the ball is the truth.
 */
#include "accountant/account.h"
#include "accountant/numeric.h"
#include "accountant/solve.h"
#include "core/rational.h"

/* Phi(x) = erfc(-x / sqrt 2) / 2 */
static void normal_cdf(arb_t out, const arb_t x, slong prec)
{
    arb_t root;
    arb_init(root);
    arb_sqrt_ui(root, 2, prec);
    arb_div(root, x, root, prec);
    arb_neg(root, root);
    arb_hypgeom_erfc(out, root, prec);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(root);
}

static void gaussian_profile(arb_t delta, const mpq_t epsilon,
                             const void *context, slong prec)
{
    mpq_srcptr mu2 = context;
    arb_t mu, e, x, y;
    arb_init(mu);
    arb_init(e);
    arb_init(x);
    arb_init(y);
    assay_arb_set_mpq(mu, mu2, prec);
    arb_sqrt(mu, mu, prec);
    assay_arb_set_mpq(e, epsilon, prec);
    arb_div(x, e, mu, prec); /* eps / mu */
    arb_mul_2exp_si(y, mu, -1);
    arb_sub(y, y, x, prec);
    normal_cdf(delta, y, prec);
    arb_mul_2exp_si(y, mu, -1);
    arb_add(y, y, x, prec);
    arb_neg(y, y);
    normal_cdf(y, y, prec);
    arb_exp(e, e, prec);
    arb_submul(delta, e, y, prec);
    arb_clear(mu);
    arb_clear(e);
    arb_clear(x);
    arb_clear(y);
}

int assay_event_is_gaussian(const assay_event *event)
{
    return event->sampling == ASSAY_SAMPLE_ALL &&
           mpq_cmp_ui(event->coin, 1, 1) == 0 &&
           (event->mechanism == ASSAY_GAUSSIAN ||
            event->mechanism == ASSAY_ROUNDED_GAUSSIAN ||
            event->mechanism == ASSAY_GAUSSIAN_DP ||
            event->mechanism == ASSAY_POST_PROCESSING);
}

assay_status assay_method_gaussian(assay_bound *out, const assay_query *query,
                                   assay_error *err)
{
    const assay_event_list *list = query->events;
    for (size_t i = 0; i < list->num_events; i++) {
        if (!assay_event_is_gaussian(&list->events[i])) {
            return assay_fail(err, ASSAY_UNSUPPORTED,
                              "%s: the Gaussian closed form is for Gaussian "
                              "noise alone",
                              assay_mechanism_name(list->events[i].mechanism));
        }
    }
    mpq_t mu2;
    mpq_init(mu2);
    assay_status status = assay_account_rho(mu2, list, err);
    mpq_mul_2exp(mu2, mu2, 1);
    assay_bound_cite(out, "gaussian-profile");
    assay_bound_cite(out, "compose-gaussian");
    if (status == ASSAY_OK && mpq_sgn(mu2) == 0) {
        out->has_lower = 1;
        mpq_set(query->fixed_epsilon ? out->epsilon : out->delta,
                query->target);
    } else if (status == ASSAY_OK) {
        if (!query->fixed_epsilon && mpq_sgn(query->target) == 0) {
            status = assay_fail(err, ASSAY_UNSUPPORTED,
                                "Gaussian noise needs a delta above 0");
        } else {
            status =
                assay_solve_profile(out, query, gaussian_profile, mu2, err);
        }
    }
    mpq_div_2exp(out->rho, mu2, 1);
    mpq_clear(mu2);
    return status;
}
