/* ring: glue */
#include "algorithms/privatizer.h"

#include <string.h>

#include "accountant/guarantee.h"
#include "accountant/ledger.h"
#include "core/rational.h"
#include "mechanisms/release.h"

void assay_privatizer_scale(mpq_t out, assay_noise noise, uint64_t sensitivity,
                            const mpq_t budget)
{
    mpq_t top;
    mpq_init(top);
    assay_mpz_set_u64(mpq_numref(top), sensitivity);
    mpq_div(out, top, budget);
    if (noise == ASSAY_NOISE_GAUSSIAN) {
        mpq_div_2exp(out, out, 1);
    }
    mpq_clear(top);
}

assay_status assay_privatizer_check(const struct assay_custodian *custodian,
                                    assay_error *err)
{
    const assay_budget *budget;
    if (custodian == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "a private learner needs a ledger");
    }
    budget = assay_ledger_budget(custodian->ledger);
    if (budget->neighbours != ASSAY_REPLACE_ONE) {
        return assay_fail(err, ASSAY_INVALID,
                          "the learners protect against replacing a "
                          "trajectory: create the ledger with --neighbours "
                          "replace-one");
    }
    return ASSAY_OK;
}

assay_status assay_privatizer_release(struct assay_custodian *custodian,
                                      assay_noise noise, int64_t *out,
                                      const int64_t *in, size_t n,
                                      uint64_t sensitivity, const mpq_t budget,
                                      const char *label, assay_error *err)
{
    mpq_t scale;
    mpq_t bound;
    assay_status status;
    if (noise == ASSAY_NOISE_NONE) {
        memcpy(out, in, n * sizeof *out);
        return ASSAY_OK;
    }
    if (noise == ASSAY_NOISE_UNARY) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "unary encoding is for local reports");
    }
    if (mpq_sgn(budget) <= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the privacy budget must be greater than zero");
    }
    status = assay_privatizer_check(custodian, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(scale);
    mpq_init(bound);
    assay_mpz_set_u64(mpq_numref(bound), sensitivity);
    assay_privatizer_scale(scale, noise, sensitivity, budget);
    status = noise == ASSAY_NOISE_GAUSSIAN
                 ? assay_release_gaussian_fresh(custodian, out, in, n, scale,
                                                bound, label, err)
                 : assay_release_laplace_fresh(custodian, out, in, n, scale,
                                               bound, label, err);
    mpq_clear(scale);
    mpq_clear(bound);
    return status;
}

assay_status assay_privatizer_rho(mpq_t rho, const mpq_t epsilon,
                                  const mpq_t delta, assay_error *err)
{
    uint64_t low = 0; /* in units of 2^-20 */
    uint64_t high = UINT64_C(1) << 40;
    mpq_t at;
    mpq_t alpha;
    assay_status status = ASSAY_OK;
    mpq_init(at);
    mpq_init(alpha);
    while (status == ASSAY_OK && low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        assay_mpz_set_u64(mpq_numref(rho), middle);
        mpz_set_ui(mpq_denref(rho), 1);
        mpq_div_2exp(rho, rho, 20);
        status = assay_zcdp_epsilon(at, alpha, rho, delta, err);
        if (status == ASSAY_OK && mpq_cmp(at, epsilon) <= 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (status == ASSAY_OK && low == 0) {
        status = assay_fail(err, ASSAY_INVALID,
                            "epsilon is too small for a zCDP budget");
    }
    assay_mpz_set_u64(mpq_numref(rho), low);
    mpz_set_ui(mpq_denref(rho), 1);
    mpq_div_2exp(rho, rho, 20);
    mpq_clear(at);
    mpq_clear(alpha);
    return status;
}

const char *assay_noise_name(assay_noise noise)
{
    static const char *const name[] = {"none", "gaussian", "laplace", "unary"};
    return name[noise];
}
