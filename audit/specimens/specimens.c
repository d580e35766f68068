/* ring: glue */
#include "audit/specimens/specimens.h"

#include <string.h>

const assay_specimen *const assay_specimen_groups[] = {
    assay_specimens_noise,   assay_specimens_select,
    assay_specimens_svt,     assay_specimens_ldp,
    assay_specimens_means,   assay_specimens_sums,
    assay_specimens_floats,  assay_specimens_overflow,
    assay_specimens_papers,  assay_specimens_papers_linear,
    assay_specimens_own,     assay_specimens_releases,
    assay_specimens_experts, NULL,
};

const assay_specimen *assay_specimen_find(const char *name)
{
    for (size_t g = 0; assay_specimen_groups[g] != NULL; g++) {
        for (const assay_specimen *s = assay_specimen_groups[g];
             s->name != NULL; s++) {
            if (strcmp(s->name, name) == 0) {
                return s;
            }
        }
    }
    return NULL;
}

static void constant(double *q, size_t from, size_t to, double x)
{
    for (size_t i = from; i < to; i++) {
        q[i] = x;
    }
}

/* The right-hand inputs of the usual patterns; the left is all ones but for
 * the last, the "X shape". */
static void pattern(assay_pair *p, size_t n, int k)
{
    size_t h = n / 2;
    memset(p, 0, sizeof *p);
    constant(p->q[0], 0, n, 1);
    constant(p->q[1], 0, n, 1);
    switch (k) {
    case 0:
        p->q[1][0] = 0;
        break;
    case 1:
        p->q[1][0] = 2;
        break;
    case 2:
        constant(p->q[1], 1, n, 0);
        p->q[1][0] = 2;
        break;
    case 3:
        constant(p->q[1], 1, n, 2);
        p->q[1][0] = 0;
        break;
    case 4:
        constant(p->q[1], 0, h, 2);
        constant(p->q[1], h, n, 0);
        break;
    case 5:
        constant(p->q[1], 0, n, 2);
        break;
    case 6:
        constant(p->q[1], 0, n, 0);
        break;
    default:
        constant(p->q[0], h, n, 0);
        constant(p->q[1], 0, h, 0);
        break;
    }
}

size_t assay_specimen_pairs(const assay_specimen *s, assay_pair *out)
{
    if (s->neighbours == ASSAY_PAIR_GIVEN) {
        memcpy(out, s->pairs, s->num_pairs * sizeof *out);
        return s->num_pairs;
    }
    size_t num = s->neighbours == ASSAY_PAIR_ONE ? 2 : 8;
    for (size_t k = 0; k < num; k++) {
        pattern(&out[k], s->num_inputs, (int)k);
    }
    return num;
}

/* To multiples of 2^-20 within +-2^31: adding and subtracting 1.5 * 2^32 rounds
 * to nearest there. */
ASSAY_SIMD
static void to_lattice(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double y = x[i];
        y = y > 0x1p31 ? 0x1p31 : y;
        y = y < -0x1p31 ? -0x1p31 : y;
        y = y + 0x1.8p32;
        x[i] = y - 0x1.8p32;
    }
}

static assay_status fill(void *ctx, int side, uint64_t first, size_t n,
                         assay_rows *out, assay_error *err)
{
    const assay_specimen_run *run = ctx;
    assay_rng rng;
    (void)err;
    assay_rng_seed(&rng, run->seed, (uint64_t)side, first);
    run->specimen->draw(run->specimen, run->pair.q[side], &rng, n, out);
    for (size_t j = 0; !run->specimen->raw && j < out->width; j++) {
        to_lattice(out->value[j], n);
    }
    return ASSAY_OK;
}

static const char *word(void *ctx, int k)
{
    static const char *const text[] = {"0", "TRUE", "FALSE"};
    (void)ctx;
    return k >= 0 && k < 3 ? text[k] : NULL;
}

assay_source assay_specimen_source(assay_specimen_run *run)
{
    assay_source s = {run->specimen->width, run, 0, fill, word,
                      !run->specimen->fresh};
    return s;
}
