/* ring: glue */
#include "algorithms/privatizer.h"

#include <string.h>

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
        memmove(out, in, n * sizeof *out);
        return ASSAY_OK;
    }
    if (custodian == NULL || mpq_sgn(budget) <= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "a private release needs a ledger and a budget");
    }
    mpq_init(scale);
    mpq_init(bound);
    assay_mpz_set_u64(mpq_numref(bound), sensitivity);
    assay_privatizer_scale(scale, noise, sensitivity, budget);
    status = noise == ASSAY_NOISE_GAUSSIAN
                 ? assay_release_gaussian_vector(custodian, out, in, n, scale,
                                                 bound, label, err)
                 : assay_release_laplace_vector(custodian, out, in, n, scale,
                                                bound, label, err);
    mpq_clear(scale);
    mpq_clear(bound);
    return status;
}

const char *assay_noise_name(assay_noise noise)
{
    static const char *const name[] = {"none", "gaussian", "laplace"};
    return name[noise];
}
