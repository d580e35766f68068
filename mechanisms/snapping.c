/* ring: glue */
#include "mechanisms/snapping.h"

#include <fenv.h>
#include <math.h>

#include "accountant/event.h"

/* 1 and *out if q is exactly a finite positive double. */
static int exact_double(double *out, const mpq_t q)
{
    mpq_t back;
    double x = mpq_get_d(q);
    if (mpq_sgn(q) <= 0 || !isfinite(x) || x == 0) {
        return 0;
    }
    mpq_init(back);
    mpq_set_d(back, x);
    int same = mpq_equal(back, q);
    mpq_clear(back);
    *out = x;
    return same;
}

static assay_status charge(assay_custodian *custodian, const mpq_t scale,
                           const mpq_t bound, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_event_init(&event, ASSAY_SNAPPING);
    mpq_set(event.scale, scale);
    mpq_set(event.bound, bound);
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

assay_status assay_release_snapping(assay_custodian *custodian, double *out,
                                    double in, const mpq_t scale,
                                    const mpq_t bound, const char *label,
                                    assay_error *err)
{
    double s = 0;
    double b = 0;
    double noise = 0;
    if (!exact_double(&s, scale) || !exact_double(&b, bound)) {
        return assay_fail(err, ASSAY_INVALID,
                          "snapping needs a scale and a bound that are "
                          "positive doubles");
    }
    if (fegetround() != FE_TONEAREST) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "snapping needs rounding to nearest");
    }
    assay_status status = charge(custodian, scale, bound, label, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_snapping_noise(&custodian->tape, &noise, s);
    if (status != ASSAY_OK) {
        return assay_fail(err, status, "no randomness: nothing was released");
    }
    *out = assay_snapping_round(in, noise, s, b);
    return ASSAY_OK;
}
