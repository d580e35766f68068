/* ring: glue */
#include "tests/support/support.h"

#include <arb_hypgeom.h>
#include <stdlib.h>
#include <string.h>

#include "core/rational.h"

void support_rational(mpq_t out, const char *text)
{
    assay_error err = ASSAY_ERROR_INIT;
    if (assay_rational_parse(out, text, "test", &err) != ASSAY_OK) {
        fail_msg("%s", err.message);
    }
}

size_t support_samples(size_t n)
{
    const char *scale = getenv("ASSAY_LAW_SCALE");
    double factor = scale == NULL ? 1.0 : atof(scale);
    return (size_t)((double)n * (factor > 0 ? factor : 1.0));
}

double support_chi2_p(double x, unsigned freedom)
{
    arb_t s;
    arb_t z;
    double p;
    arb_init(s);
    arb_init(z);
    arb_set_ui(s, freedom);
    arb_mul_2exp_si(s, s, -1);
    arb_set_d(z, x / 2);
    arb_hypgeom_gamma_upper(z, s, z, 1, 128);
    p = arf_get_d(arb_midref(z), ARF_RND_NEAR);
    arb_clear(s);
    arb_clear(z);
    return p;
}

assay_sampler *support_sampler(const char *law, const char *parameter,
                               assay_route route, int constant_time)
{
    assay_sampler_options options = {route, constant_time};
    assay_error err = ASSAY_ERROR_INIT;
    assay_sampler *sampler = NULL;
    assay_status status;
    mpq_t q;
    mpq_init(q);
    support_rational(q, parameter);
    if (strcmp(law, "gaussian") == 0) {
        status =
            assay_sampler_new_discrete_gaussian(&sampler, q, &options, &err);
    } else {
        status =
            assay_sampler_new_discrete_laplace(&sampler, q, &options, &err);
    }
    mpq_clear(q);
    if (status != ASSAY_OK) {
        fail_msg("%s %s: %s", law, parameter, err.message);
    }
    return sampler;
}
