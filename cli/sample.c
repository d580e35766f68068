/* ring: glue */
/* assay sample: exact noise from a named law. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/rational.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/big.h"
#include "mechanisms/sampler.h"

static const char HELP[] =
    "usage: assay sample LAW PARAMETERS [-n N] [--raw | --json] [--route 1|2]\n"
    "                    [--constant-time]\n"
    "\n"
    "Draws N (1 unless said) independent values; for every k, P[X = k] is the\n"
    "law's to the last digit. Numbers are exact: 7, 7/3, 1.1, 2.5e-6.\n"
    "\n"
    "  assay sample discrete-gaussian --sigma2 100 -n 5\n"
    "  assay sample discrete-laplace --scale 7/3 -n 5 --constant-time\n"
    "  assay sample rounded-gaussian --sigma2 2 --step 2^-10 -n 5\n"
    "  assay sample rounded-laplace --scale 2 --step 2^-10 -n 5\n"
    "  assay sample geometric --scale 10 -n 5\n"
    "  assay sample bernoulli-exp --x 1/2 -n 5\n"
    "  assay sample uniform --below 6 -n 5\n"
    "\n"
    "  --raw            little-endian int64 on standard output\n"
    "  --json           {\"law\": ..., \"values\": [...]}\n"
    "  --route 1|2      1: digits compared lazily, 2: integers only\n"
    "  --constant-time  time and words do not depend on the value\n"
    "                   (discrete laws, scale up to 4096)\n"
    "\n"
    "Rounded laws count steps: a value v stands for v times the step.\n"
    "Exit codes: 0 done, 1 failure, 2 bad input.\n";

enum { N, RAW, JSON, ROUTE, CONSTANT, SIGMA2, SCALE, STEP, X, BELOW, HELP_OPT };

/* What is drawn: a sampler object, or one of the two laws that are not one. */
typedef struct source {
    assay_sampler *sampler;
    mpz_t below; /* uniform, if sampler is NULL and below > 0 */
    mpq_t x;     /* bernoulli-exp otherwise                     */
} source;

static assay_status parse_step(long *bits, const char *text, assay_error *err)
{
    char *end = NULL;
    long k;
    if (text == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "a rounded law needs --step 2^-K");
    }
    if (strcmp(text, "1") == 0) {
        *bits = 0;
        return ASSAY_OK;
    }
    if (strncmp(text, "2^", 2) != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "--step: '%.40s' is not a power of two; write 2^-10",
                          text);
    }
    k = strtol(text + 2, &end, 10);
    if (end == text + 2 || *end != '\0' || k < -200 || k > 60) {
        return assay_fail(err, ASSAY_INVALID,
                          "--step: '%.40s': write 2^K with K from -200 to 60",
                          text);
    }
    *bits = -k;
    return ASSAY_OK;
}

static assay_status parse_parameter(mpq_t q, const assay_option *option,
                                    assay_error *err)
{
    if (option->value == NULL) {
        return assay_fail(err, ASSAY_INVALID, "this law needs %s",
                          option->name);
    }
    return assay_rational_parse_positive(q, option->value, option->name, err);
}

static assay_status parse_options(assay_sampler_options *out,
                                  const assay_option *o, assay_error *err)
{
    out->route = ASSAY_ROUTE_AUTO;
    out->constant_time = o[CONSTANT].value != NULL;
    if (o[ROUTE].value == NULL) {
        return ASSAY_OK;
    }
    if (strcmp(o[ROUTE].value, "1") == 0) {
        out->route = ASSAY_ROUTE_INVERSE;
    } else if (strcmp(o[ROUTE].value, "2") == 0) {
        out->route = ASSAY_ROUTE_REJECTION;
    } else {
        return assay_fail(err, ASSAY_INVALID, "--route is 1 or 2");
    }
    return ASSAY_OK;
}

static assay_status open_discrete(source *s, const char *law,
                                  const assay_option *o, assay_error *err)
{
    int gaussian = strcmp(law, "discrete-gaussian") == 0;
    assay_sampler_options options;
    assay_status status = parse_options(&options, o, err);
    mpq_t q;
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(q);
    status = parse_parameter(q, gaussian ? o + SIGMA2 : o + SCALE, err);
    if (status == ASSAY_OK) {
        status = gaussian ? assay_sampler_new_discrete_gaussian(&s->sampler, q,
                                                                &options, err)
                          : assay_sampler_new_discrete_laplace(&s->sampler, q,
                                                               &options, err);
    }
    mpq_clear(q);
    return status;
}

static assay_status open_rounded(source *s, const char *law,
                                 const assay_option *o, assay_error *err)
{
    int gaussian = strcmp(law, "rounded-gaussian") == 0;
    long bits = 0;
    assay_status status = parse_step(&bits, o[STEP].value, err);
    mpq_t q;
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(q);
    status = parse_parameter(q, gaussian ? o + SIGMA2 : o + SCALE, err);
    if (status == ASSAY_OK) {
        status =
            gaussian
                ? assay_sampler_new_rounded_gaussian(&s->sampler, q, bits, err)
                : assay_sampler_new_rounded_laplace(&s->sampler, q, bits, err);
    }
    mpq_clear(q);
    return status;
}

static assay_status open_geometric(source *s, const assay_option *o,
                                   assay_error *err)
{
    assay_status status;
    mpq_t q;
    mpq_init(q);
    status = parse_parameter(q, o + SCALE, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_new_geometric(&s->sampler, q, err);
    }
    mpq_clear(q);
    return status;
}

static assay_status open_bernoulli_exp(source *s, const assay_option *o,
                                       assay_error *err)
{
    assay_status status;
    if (o[X].value == NULL) {
        return assay_fail(err, ASSAY_INVALID, "this law needs --x");
    }
    status = assay_rational_parse(s->x, o[X].value, "--x", err);
    if (status == ASSAY_OK && mpq_sgn(s->x) < 0) {
        return assay_fail(err, ASSAY_INVALID, "--x must not be negative");
    }
    return status;
}

static assay_status open_uniform(source *s, const assay_option *o,
                                 assay_error *err)
{
    uint64_t below = 0;
    assay_status status;
    if (o[BELOW].value == NULL) {
        return assay_fail(err, ASSAY_INVALID, "this law needs --below");
    }
    status = assay_u64_parse(&below, o[BELOW].value, "--below", err);
    if (status == ASSAY_OK && (below == 0 || below > INT64_MAX)) {
        return assay_fail(err, ASSAY_INVALID, "--below is from 1 to 2^63 - 1");
    }
    assay_mpz_set_u64(s->below, below);
    return status;
}

static assay_status open_source(source *s, const char *law,
                                const assay_option *o, assay_error *err)
{
    int discrete = strncmp(law, "discrete-", 9) == 0;
    if (!discrete && (o[CONSTANT].value != NULL || o[ROUTE].value != NULL)) {
        return assay_fail(err, ASSAY_INVALID,
                          "--route and --constant-time are for discrete-"
                          "gaussian and discrete-laplace");
    }
    if (strcmp(law, "discrete-gaussian") == 0 ||
        strcmp(law, "discrete-laplace") == 0) {
        return open_discrete(s, law, o, err);
    }
    if (strcmp(law, "rounded-gaussian") == 0 ||
        strcmp(law, "rounded-laplace") == 0) {
        return open_rounded(s, law, o, err);
    }
    if (strcmp(law, "geometric") == 0) {
        return open_geometric(s, o, err);
    }
    if (strcmp(law, "bernoulli-exp") == 0) {
        return open_bernoulli_exp(s, o, err);
    }
    if (strcmp(law, "uniform") == 0) {
        return open_uniform(s, o, err);
    }
    return assay_fail(err, ASSAY_INVALID,
                      "unknown law '%.40s'; see `assay sample --help`", law);
}

static assay_status plain_one(source *s, assay_tape *tape, int64_t *out,
                              assay_error *err)
{
    assay_status status;
    if (mpz_sgn(s->below) > 0) {
        uint64_t v = 0;
        status = assay_uniform_below(tape, assay_mpz_get_u64(s->below), &v);
        *out = (int64_t)v;
    } else {
        int bit = 0;
        status = assay_big_bernoulli_exp(tape, mpq_numref(s->x),
                                         mpq_denref(s->x), &bit);
        *out = bit;
    }
    return status == ASSAY_OK
               ? ASSAY_OK
               : assay_fail(err, status, "the random generator failed");
}

static assay_status draw(source *s, assay_tape *tape, int64_t *out, size_t n,
                         assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (s->sampler != NULL) {
        return assay_sampler_fill(s->sampler, tape, out, n, err);
    }
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        status = plain_one(s, tape, out + i, err);
    }
    return status;
}

static int put_values(const int64_t *values, size_t n, int raw, const char *sep,
                      int *first)
{
    if (raw) {
        uint8_t bytes[8];
        for (size_t i = 0; i < n; i++) {
            for (int b = 0; b < 8; b++) {
                bytes[b] = (uint8_t)((uint64_t)values[i] >> (8 * b));
            }
            if (fwrite(bytes, 1, 8, stdout) != 8) {
                return 0;
            }
        }
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (printf("%s%" PRId64, *first ? "" : sep, values[i]) < 0) {
            return 0;
        }
        *first = 0;
    }
    return 1;
}

#define CHUNK 8192

static assay_status stream(source *s, assay_tape *tape, const char *law,
                           uint64_t n, const assay_option *o, assay_error *err)
{
    static int64_t values[CHUNK];
    int raw = o[RAW].value != NULL;
    int json = o[JSON].value != NULL;
    int first = 1;
    int ok = !json || printf("{\"law\": \"%s\", \"values\": [", law) > 0;
    assay_status status = ASSAY_OK;
    while (n > 0 && status == ASSAY_OK && ok) {
        size_t now = n < CHUNK ? (size_t)n : CHUNK;
        status = draw(s, tape, values, now, err);
        ok = status == ASSAY_OK &&
             put_values(values, now, raw, json ? ", " : "\n", &first);
        n -= now;
    }
    OPENSSL_cleanse(values, sizeof values);
    if (status != ASSAY_OK) {
        return status;
    }
    ok = ok && (raw || printf(json ? "]}\n" : "\n") > 0) && fflush(stdout) == 0;
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_IO, "standard output cannot be written");
}

static assay_status run(const char *law, const assay_option *o,
                        assay_error *err)
{
    source s;
    assay_tape tape;
    uint64_t n = 1;
    assay_status status = ASSAY_OK;
    if (o[N].value != NULL) {
        status = assay_u64_parse(&n, o[N].value, "-n", err);
    }
    if (status == ASSAY_OK && (n == 0 || n > (uint64_t)1 << 40)) {
        status = assay_fail(err, ASSAY_INVALID, "-n is from 1 to 2^40");
    }
    if (status == ASSAY_OK && o[RAW].value != NULL && o[JSON].value != NULL) {
        status = assay_fail(err, ASSAY_INVALID, "--raw or --json, not both");
    }
    if (status != ASSAY_OK) {
        return status;
    }
    s.sampler = NULL;
    mpz_init(s.below);
    mpq_init(s.x);
    status = open_source(&s, law, o, err);
    if (status == ASSAY_OK) {
        status = assay_tape_init(&tape, err);
        if (status == ASSAY_OK) {
            status = stream(&s, &tape, law, n, o, err);
            assay_tape_clear(&tape);
        }
    }
    assay_sampler_free(s.sampler);
    mpz_clear(s.below);
    mpq_clear(s.x);
    return status;
}

int assay_cli_sample(int argc, char **argv)
{
    assay_option o[] = {
        [N] = {"-n", 1, NULL},
        [RAW] = {"--raw", 0, NULL},
        [JSON] = {"--json", 0, NULL},
        [ROUTE] = {"--route", 1, NULL},
        [CONSTANT] = {"--constant-time", 0, NULL},
        [SIGMA2] = {"--sigma2", 1, NULL},
        [SCALE] = {"--scale", 1, NULL},
        [STEP] = {"--step", 1, NULL},
        [X] = {"--x", 1, NULL},
        [BELOW] = {"--below", 1, NULL},
        [HELP_OPT] = {"--help", 0, NULL},
        {NULL, 0, NULL},
    };
    assay_error err = ASSAY_ERROR_INIT;
    const char *law = NULL;
    size_t num_plain = 0;
    assay_status status =
        assay_options_parse(o, &law, 1, &num_plain, argc, argv, &err);
    if (status == ASSAY_OK && o[HELP_OPT].value != NULL) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    if (status == ASSAY_OK && num_plain == 0) {
        status = assay_fail(&err, ASSAY_INVALID,
                            "which law? see `assay sample --help`");
    }
    if (status == ASSAY_OK) {
        status = run(law, o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("sample", &err);
}
