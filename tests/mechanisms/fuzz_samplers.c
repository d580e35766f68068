/* ring: glue */
/* Parameters and tapes from the fuzzer: no crash, no leak, and a value on the
 * law's support or an error. */
#include <gmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mechanisms/sampler.h"

static uint64_t take(const uint8_t **data, size_t *size)
{
    uint64_t x = 0;
    size_t n = *size < 8 ? *size : 8;
    memcpy(&x, *data, n);
    *data += n;
    *size -= n;
    return x;
}

static assay_status make(assay_sampler **out, unsigned kind, const mpq_t q,
                         long step_bits)
{
    assay_sampler_options options = {kind & 8 ? ASSAY_ROUTE_REJECTION
                                              : ASSAY_ROUTE_INVERSE,
                                     (kind & 16) != 0};
    switch (kind % 5) {
    case 0:
        return assay_sampler_new_discrete_gaussian(out, q, &options, NULL);
    case 1:
        return assay_sampler_new_discrete_laplace(out, q, &options, NULL);
    case 2:
        return assay_sampler_new_geometric(out, q, NULL);
    case 3:
        return assay_sampler_new_rounded_gaussian(out, q, step_bits, NULL);
    default:
        return assay_sampler_new_rounded_laplace(out, q, step_bits, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t words[256];
    unsigned kind = (unsigned)(take(&data, &size) & 0xff);
    uint64_t num = take(&data, &size) >> (kind % 64);
    uint64_t den = take(&data, &size) >> (num % 64);
    size_t count = 0;
    assay_sampler *sampler = NULL;
    assay_tape tape;
    int64_t value = 0;
    mpq_t q;
    while (size > 0 && count < 256) {
        words[count++] = take(&data, &size);
    }
    mpq_init(q);
    mpq_set_ui(q, num, den == 0 ? 1 : den);
    mpq_canonicalize(q);
    if (make(&sampler, kind, q, (long)(kind % 7)) == ASSAY_OK) {
        assay_tape_init_unsafe_recorded(&tape, words, count);
        for (int i = 0; i < 8; i++) {
            assay_status status =
                assay_sampler_one(sampler, &tape, &value, NULL);
            if (status != ASSAY_OK) {
                break;
            }
            if ((kind % 5 == 2 && value < 0) || tape.position > count) {
                abort();
            }
        }
    }
    assay_sampler_free(sampler);
    mpq_clear(q);
    return 0;
}
