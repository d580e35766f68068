/* ring: glue */
/*
 * Columns that lean the same way are taken together: many queries move up or
 * down with the input, and what tells is how many of each kind answered how.
 * Counting over a group needs far fewer parameters than a weight a column.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/smooth.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define LEAN 2.5 /* standard deviations */
#define NEXT 1.4 /* log odds that neighbours lean the same way: 4 to 1 */

/* The median of a group's numbers in the first blocks; NaN if there are few. */
static double median_of(const assay_training *d, uint64_t mask)
{
    double *x = malloc(2 * BLOCK * ASSAY_ROWS_WIDTH * sizeof *x), at = NAN;
    size_t n = 0;
    for (size_t j = 0; x != NULL && j < d->width; j++) {
        for (int side = 0; (mask >> j & 1) != 0 && side < 2; side++) {
            double v[BLOCK];
            const assay_rows *r = &d->rows[side][0];
            assay_feature_numbers(r, (assay_feature){ASSAY_F_RAW, (int)j, 0, 0},
                                  v);
            for (size_t i = 0; i < r->num; i++) {
                if (!isnan(v[i])) {
                    x[n++] = v[i];
                }
            }
        }
    }
    if (n >= 64) {
        qsort(x, n, sizeof *x, assay_compare_doubles);
        at = x[n / 2];
    }
    free(x);
    return at;
}

/* Cells of one column and side: how many, and how many of them are "up". */
typedef struct tally {
    double up[2], all[2];
} tally;

static double lean_of_tally(const tally *t)
{
    double p = (t->up[0] + t->up[1]) / (t->all[0] + t->all[1]);
    double v = p * (1 - p) * (1 / t->all[0] + 1 / t->all[1]);
    return v > 0 ? (t->up[0] / t->all[0] - t->up[1] / t->all[1]) / sqrt(v) : 0;
}

/* How much likelier the left input's cells of a column are up, in standard
 * deviations: numbers above the median, and, in a column with words, numbers
 * rather than words, or the first word if there are no numbers. */
static double lean_of(const assay_training *d, size_t j, int word)
{
    tally size = {{0, 0}, {0, 0}}, kind = {{0, 0}, {0, 0}};
    double middle = median_of(d, UINT64_C(1) << j);
    int mixed = 0;
    for (size_t b = 0; b < 2 * d->num_blocks; b++) {
        const assay_rows *r = &d->rows[b % 2][b / 2];
        mixed |= !r->plain[j];
        for (size_t i = 0; i < r->num; i++) {
            int tag = r->plain[j] ? ASSAY_CELL_NUMBER : r->tag[j][i];
            double x = r->value[j][i];
            if (tag == ASSAY_CELL_NUMBER) {
                size.all[b % 2] += 1;
                size.up[b % 2] += x > middle;
            }
            if (tag != ASSAY_CELL_ABSENT) {
                kind.all[b % 2] += 1;
                kind.up[b % 2] += tag == ASSAY_CELL_NUMBER ||
                                  (isnan(middle) && (int)x == word);
            }
        }
    }
    if (isnan(middle) || !mixed) {
        return lean_of_tally(mixed ? &kind : &size);
    }
    return (lean_of_tally(&kind) + lean_of_tally(&size)) * 0.7071067811865476;
}

static void add_code(assay_encoder *e, const assay_training *d,
                     assay_feature feature)
{
    assay_code c = {.feature = feature, .is_summary = 1};
    if (e->num < ASSAY_CODE_MAX && assay_code_fit(&c, e, d)) {
        e->code[e->num++] = c;
    }
}

/* Columns too weak to tell by themselves go where they lean if most others are
 * decided, or if together they lean more than chance makes them: by two
 * standard deviations, one way or in squares. */
static int lean_together(const double *z, size_t num)
{
    double weak = 0, sum = 0, square = 0;
    for (size_t j = 0; j < num; j++) {
        if (fabs(z[j]) <= LEAN) {
            weak += 1;
            sum += z[j];
            square += z[j] * z[j];
        }
    }
    return 2 * weak < (double)num || fabs(sum) > 2 * sqrt(weak) ||
           square > weak + 2 * sqrt(2 * weak);
}

/* The group of a weak column: where it leans itself, where the next decided
 * columns on both sides lean, and where most of them do. */
static int weak_group(const double *z, size_t num, size_t j)
{
    double odds = 3 * z[j], many[2] = {0.5, 0.5};
    size_t before = num, after = num;
    for (size_t k = 0; k < num; k++) {
        int decided = fabs(z[k]) > LEAN;
        many[z[k] < 0] += decided;
        before = decided && k < j ? k : before;
        after = decided && k > j && after == num ? k : after;
    }
    odds += log(many[0] / many[1]);
    odds += before < num ? copysign(NEXT, z[before]) : 0;
    odds += after < num ? copysign(NEXT, z[after]) : 0;
    return odds < 0;
}

size_t assay_groups_lean(uint64_t mask[2], const assay_training *d,
                         const int *words, size_t num_words)
{
    double z[ASSAY_ROWS_WIDTH];
    size_t leaning = 0;
    mask[0] = mask[1] = 0;
    for (size_t j = 0; j < d->width; j++) {
        z[j] = lean_of(d, j, num_words > 0 ? words[0] : -1);
    }
    int together = lean_together(z, d->width);
    for (size_t j = 0; j < d->width; j++) {
        int decided = fabs(z[j]) > LEAN;
        if (decided || together) {
            int group = decided ? z[j] < 0 : weak_group(z, d->width, j);
            mask[group] |= UINT64_C(1) << j;
            leaning++;
        }
    }
    return leaning;
}

assay_status assay_groups_fit(assay_encoder *out, const assay_training *d,
                              const int *words, size_t num_words,
                              assay_error *err)
{
    uint64_t mask[2];
    memset(out, 0, sizeof *out);
    if (assay_groups_lean(mask, d, words, num_words) < 3) {
        return ASSAY_OK; /* nothing to take together */
    }
    out->code = calloc(ASSAY_CODE_MAX, sizeof *out->code);
    if (out->code == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    for (int g = 0; g < 2; g++) {
        if (mask[g] == 0) {
            continue;
        }
        double middle = median_of(d, mask[g]);
        for (size_t k = 0; k < num_words && k < 2; k++) {
            add_code(
                out, d,
                (assay_feature){ASSAY_F_GROUP_WORDS, words[k], mask[g], 0});
        }
        add_code(out, d, (assay_feature){ASSAY_F_GROUP_NUMBERS, 0, mask[g], 0});
        if (!isnan(middle)) {
            add_code(out, d,
                     (assay_feature){ASSAY_F_GROUP_SIGNS, 0, mask[g], middle});
        }
    }
    return ASSAY_OK;
}
