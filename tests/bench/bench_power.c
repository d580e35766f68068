/* ring: glue */
/*
 * What the audit's choices certify on average beside the oracle, without the
 * luck of counting: bench_power [SPECIMEN[,SPECIMEN...] [SEED... ]]. Samples by
 * ASSAY_POWER_SAMPLES (ten million).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/catalogue.h"
#include "audit/hindsight.h"

static uint64_t num_samples(void)
{
    const char *text = getenv("ASSAY_POWER_SAMPLES");
    return text == NULL ? 10000000 : (uint64_t)strtod(text, NULL);
}

static double percent(double x, double of)
{
    return 100 * x / of;
}

static double one(const assay_specimen *s, uint64_t seed)
{
    assay_catalogue_row row;
    assay_error err = ASSAY_ERROR_INIT;
    assay_catalogue_options o = {.samples = num_samples(),
                                 .confidence = 0.99,
                                 .seed = seed,
                                 .with_oracle = 1};
    if (assay_catalogue_run(&row, s, &o, &err) != ASSAY_OK) {
        (void)fprintf(stderr, "%s: %s\n", s->name, err.message);
        exit(1);
    }
    double all = row.oracle.bound;
    const assay_hindsight *h = &row.hindsight;
    (void)printf("%-24s %5llu %8.4f %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f %7.1f "
                 "%7.1f %7.1f %7.1f %2d %6.1f %s\n",
                 s->name, (unsigned long long)seed, all,
                 percent(row.oracle.layers, all), percent(h->score[0], all),
                 percent(h->score[1], all), percent(h->slices[0], all),
                 percent(h->slices[1], all), percent(h->events, all),
                 percent(h->layers, all), percent(h->bound, all),
                 percent(row.result.lower, all),
                 percent(h->bound, row.best.bound), row.result.stages,
                 row.seconds, row.result.attacker);
    (void)fflush(stdout);
    return percent(h->bound, all);
}

int main(int argc, char **argv)
{
    char names[4096];
    double sum = 0, least = INFINITY;
    int count = 0;
    (void)snprintf(names, sizeof names, "%s",
                   argc > 1 ? argv[1] : "Laplace,NumericalSVT");
    (void)printf(
        "%-24s %5s %8s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s %2s %6s\n",
        "shares of the oracle (%)", "seed", "oracle", "o.layer", "score 1",
        "score 2", "slice 1", "slice 2", "events", "layers", "chosen", "found",
        "pair", "st", "s");
    for (char *name = strtok(names, ","); name != NULL;
         name = strtok(NULL, ",")) {
        const assay_specimen *s = assay_specimen_find(name);
        double here = 0;
        int num = argc > 2 ? argc - 2 : 1;
        if (s == NULL) {
            (void)fprintf(stderr, "no specimen %s\n", name);
            return 2;
        }
        for (int k = 0; k < num; k++) {
            double share =
                one(s, argc > 2 ? strtoull(argv[k + 2], NULL, 10) : 1);
            here += share;
            sum += share;
            least = fmin(least, share);
            count++;
        }
        (void)printf("%-24s mean of what was chosen %5.1f\n", name, here / num);
    }
    (void)printf("mean %.1f, least %.1f of %d\n", sum / count, least, count);
    return 0;
}
