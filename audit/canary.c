/* ring: glue */
#include "audit/canary.h"

#include <stdlib.h>

#include "audit/rng.h"

typedef struct entry {
    double value;
    int in;
} entry;

static int compare(const void *a, const void *b)
{
    double x = ((const entry *)a)->value, y = ((const entry *)b)->value;
    return (x > y) - (x < y);
}

static void release(entry *e, const assay_canary *c)
{
    assay_rng rng;
    assay_rng_seed(&rng, c->seed, 41, 0);
    for (uint64_t i = 0; i < c->canaries; i++) {
        e[i].in = (int)(assay_rng_u64(&rng) >> 63);
        assay_rng_gauss(&rng, &e[i].value, 1, e[i].in, c->sigma);
    }
}

assay_status assay_canary_run(assay_canary_result *out,
                              const assay_canary *canary,
                              const assay_claim *claim, double confidence,
                              assay_error *err)
{
    uint64_t m = canary->canaries, half = canary->guesses / 2;
    if (half == 0 || 2 * half > m || m > 100000000 || !(canary->sigma > 0) ||
        claim->kind != ASSAY_CLAIM_EPS) {
        return assay_fail(err, ASSAY_INVALID,
                          "canaries: 2 <= guesses <= canaries <= 1e8, sigma > "
                          "0 and an eps claim");
    }
    entry *e = malloc(m * sizeof *e);
    if (e == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "canaries: out of memory");
    }
    release(e, canary);
    qsort(e, m, sizeof *e, compare);
    out->right = 0;
    for (uint64_t i = 0; i < half; i++) {
        out->right += (uint64_t)(e[i].in == 0) + (uint64_t)(e[m - 1 - i].in);
    }
    free(e);
    out->lower = assay_bound_one_run(m, 2 * half, out->right, claim->delta,
                                     1 - confidence);
    out->refuted = out->lower > claim->value;
    return ASSAY_OK;
}
