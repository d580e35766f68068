/* ring: glue */
/**
 * The C samplers on recorded tapes, in the line protocol of oracle.ml.
 *
 * Where the library has two ways (64-bit and GMP, table and digits) both are
 * run; if they differ the answer is `disagree`. Not in C and therefore not
 * answered: below_rational, inverse_table. A bad line ends with status 2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "core/rational.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/big.h"
#include "mechanisms/choose.h"
#include "mechanisms/custodian.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/permutation.h"
#include "mechanisms/sampler_internal.h"
#include "mechanisms/sparse_vector.h"

#define MAX_WORDS 4096
#define MAX_ARGS 64
#define MAX_PERMUTATION 64

typedef struct request {
    char head[512]; /* NAME PARAMETERS */
    const char *name;
    mpz_t arg[MAX_ARGS];
    int num_args;
    assay_sampler *sampler; /* route 1, made once per head */
    assay_cdf *cdf;
    assay_sparse_vector *sparse;
    uint64_t words[MAX_WORDS];
    size_t num_words;
} request;

/* what one way of drawing gave */
typedef struct reply {
    int asked;
    assay_status status;
    uint64_t used;
    char value[512];
} reply;

/* Charges are not what is compared here: they are counted, not written. */
static unsigned charges;
static assay_custodian custodian;

assay_status assay_custodian_charge(assay_custodian *unused,
                                    const assay_event *event,
                                    const char *label, assay_error *err)
{
    (void)unused;
    (void)event;
    (void)label;
    (void)err;
    charges++;
    return ASSAY_OK;
}

static void die(const char *what)
{
    fprintf(stderr, "peer: %s\n", what);
    exit(2);
}

static int is(const request *r, const char *name)
{
    return strcmp(r->name, name) == 0;
}

static int small(const request *r)
{
    for (int i = 0; i < r->num_args; i++) {
        if (!assay_mpz_fits_u64(r->arg[i])) {
            return 0;
        }
    }
    return 1;
}

static uint64_t u64(const request *r, int i)
{
    return assay_mpz_get_u64(r->arg[i]);
}

/* ---- route 2, 64 bits ---- */

static assay_status draw_bit(const request *r, assay_tape *tape, reply *out)
{
    int bit = 0;
    assay_status status = ASSAY_INVALID;
    if (is(r, "bernoulli")) {
        status = assay_bernoulli(tape, u64(r, 0), u64(r, 1), &bit);
    } else if (is(r, "bernoulli_exp_unit")) {
        status = assay_bernoulli_exp_unit(tape, u64(r, 0), u64(r, 1), &bit);
    } else {
        status = assay_bernoulli_exp(tape, u64(r, 0), u64(r, 1), &bit);
    }
    snprintf(out->value, sizeof out->value, "%d", bit);
    return status;
}

static assay_status draw_permutation(const request *r, assay_tape *tape,
                                     reply *out)
{
    uint64_t a[MAX_PERMUTATION];
    size_t n = (size_t)u64(r, 0);
    size_t at = 0;
    assay_status status;
    if (n > MAX_PERMUTATION) {
        die("permutation too long");
    }
    status = assay_permutation(tape, a, n);
    for (size_t i = 0; status == ASSAY_OK && i < n; i++) {
        at += (size_t)snprintf(out->value + at, sizeof out->value - at,
                               "%s%llu", i > 0 ? "," : "",
                               (unsigned long long)a[i]);
    }
    return status;
}

static int gaussian_fits(const request *r, assay_gaussian_64 *g)
{
    mpz_t t;
    int fits;
    mpz_init(t);
    assay_big_gaussian_scale(t, r->arg[0], r->arg[1]);
    g->n = u64(r, 0);
    g->d = u64(r, 1);
    g->t = assay_mpz_get_u64(t);
    fits = mpz_cmp_ui(r->arg[0], 2147483648u) < 0 &&
           mpz_cmp_ui(r->arg[1], 2147483648u) < 0 && g->t < 2147483648u &&
           g->d * g->t < 2147483648u;
    mpz_mul(t, t, t);
    mpz_mul(t, t, r->arg[0]);
    mpz_mul(t, t, r->arg[1]);
    mpz_mul_2exp(t, t, 1);
    fits = fits && assay_mpz_fits_u64(t);
    mpz_clear(t);
    return fits;
}

/* 0 if 64 bits are not enough or there is no such function */
static int draw_64(const request *r, assay_tape *tape, reply *out)
{
    int64_t x = 0;
    uint64_t v = 0;
    assay_gaussian_64 g;
    if (!small(r)) {
        return 0;
    }
    if (strncmp(r->name, "bernoulli", 9) == 0) {
        out->status = draw_bit(r, tape, out);
        return 1;
    }
    if (is(r, "permutation")) {
        out->status = draw_permutation(r, tape, out);
        return 1;
    }
    if (is(r, "uniform")) {
        out->status = assay_uniform_below(tape, u64(r, 0), &v);
        snprintf(out->value, sizeof out->value, "%llu", (unsigned long long)v);
        return 1;
    }
    if (is(r, "geometric")) {
        out->status = assay_geometric(tape, u64(r, 0), u64(r, 1), &x);
    } else if (is(r, "discrete_laplace")) {
        out->status = assay_discrete_laplace(tape, u64(r, 0), u64(r, 1), &x);
    } else if (is(r, "discrete_gaussian") && gaussian_fits(r, &g)) {
        out->status = assay_discrete_gaussian(tape, &g, &x);
    } else {
        return 0;
    }
    snprintf(out->value, sizeof out->value, "%lld", (long long)x);
    return out->status != ASSAY_RANGE;
}

/* ---- route 2, any size ---- */

static int draw_big(const request *r, assay_tape *tape, reply *out)
{
    mpz_t x;
    int asked = 1;
    mpz_init(x);
    if (is(r, "uniform")) {
        out->status = assay_big_uniform(tape, x, r->arg[0]);
    } else if (is(r, "bernoulli_exp")) {
        int bit = 0;
        out->status =
            assay_big_bernoulli_exp(tape, r->arg[0], r->arg[1], &bit);
        mpz_set_si(x, bit);
    } else if (is(r, "geometric")) {
        out->status = assay_big_geometric(tape, x, r->arg[0], r->arg[1]);
    } else if (is(r, "discrete_laplace")) {
        out->status = assay_big_discrete_laplace(tape, x, r->arg[0], r->arg[1]);
    } else if (is(r, "discrete_gaussian")) {
        mpz_t t;
        mpz_init(t);
        assay_big_gaussian_scale(t, r->arg[0], r->arg[1]);
        out->status =
            assay_big_discrete_gaussian(tape, x, r->arg[0], r->arg[1], t);
        mpz_clear(t);
    } else {
        asked = 0;
    }
    if (asked && mpz_sizeinbase(x, 10) + 2 < sizeof out->value) {
        mpz_get_str(out->value, 10, x);
    }
    mpz_clear(x);
    return asked;
}

/* ---- route 1 ---- */

/* args 0, 1: n/d for the Gaussian laws, t/s from (s, t) for the Laplace laws */
static void parameter_of(const request *r, mpq_t out)
{
    int swap = strstr(r->name, "laplace") != NULL;
    mpz_set(mpq_numref(out), r->arg[swap ? 1 : 0]);
    mpz_set(mpq_denref(out), r->arg[swap ? 0 : 1]);
    mpq_canonicalize(out);
}

static assay_cdf_kind kind_of(const request *r)
{
    int rounded = strstr(r->name, "rounded") != NULL;
    if (strstr(r->name, "gaussian") != NULL) {
        return rounded ? ASSAY_CDF_ROUNDED_GAUSSIAN : ASSAY_CDF_GAUSSIAN;
    }
    return rounded ? ASSAY_CDF_ROUNDED_LAPLACE : ASSAY_CDF_LAPLACE;
}

static assay_status new_sampler(request *r, const mpq_t parameter,
                                const assay_sampler_options *options)
{
    long step = r->num_args > 2 ? mpz_get_si(r->arg[2]) : 0;
    switch (kind_of(r)) {
    case ASSAY_CDF_GAUSSIAN:
        return assay_sampler_new_discrete_gaussian(&r->sampler, parameter,
                                                   options, NULL);
    case ASSAY_CDF_LAPLACE:
        return assay_sampler_new_discrete_laplace(&r->sampler, parameter,
                                                  options, NULL);
    case ASSAY_CDF_ROUNDED_GAUSSIAN:
        return assay_sampler_new_rounded_gaussian(&r->sampler, parameter, step,
                                                  NULL);
    default:
        return assay_sampler_new_rounded_laplace(&r->sampler, parameter, step,
                                                 NULL);
    }
}

/* Block length is the library's choice: take the variant that has it. */
static void prepare_blocks(request *r, const mpq_t parameter)
{
    for (int constant_time = 0; constant_time <= 1; constant_time++) {
        assay_sampler_options options = {ASSAY_ROUTE_INVERSE, constant_time};
        if (new_sampler(r, parameter, &options) != ASSAY_OK) {
            continue;
        }
        if ((r->sampler->draw == ASSAY_DRAW_BLOCKS ||
             r->sampler->draw == ASSAY_DRAW_BLOCKS_SCAN) &&
            mpz_cmp_ui(r->arg[2], r->sampler->blocks.bits) == 0) {
            return;
        }
        assay_sampler_free(r->sampler);
        r->sampler = NULL;
    }
    die("no block sampler with this block length");
}

/* Its threshold is drawn from a tape that does not matter: every line resets
   it, which draws again. */
static void prepare_sparse(request *r)
{
    static const uint64_t words[4] = {7, 7, 7, 7};
    mpq_t scale[3];
    for (int i = 0; i < 3; i++) {
        mpq_init(scale[i]);
    }
    for (int i = 0; i < 2; i++) {
        mpz_set(mpq_numref(scale[i]), r->arg[2 * i + 1]);
        mpz_set(mpq_denref(scale[i]), r->arg[2 * i]);
        mpq_canonicalize(scale[i]);
    }
    mpq_set_ui(scale[2], 1, 1);
    assay_tape_init_unsafe_recorded(&custodian.tape, words, 4);
    if (assay_sparse_vector_new(&r->sparse, &custodian, u64(r, 4), 0, scale[0],
                                scale[1], scale[2], NULL, NULL) != ASSAY_OK) {
        die("sparse vector refused");
    }
    assay_tape_clear(&custodian.tape);
    for (int i = 0; i < 3; i++) {
        mpq_clear(scale[i]);
    }
}

static void prepare(request *r)
{
    mpq_t parameter;
    assay_sampler_free(r->sampler);
    assay_cdf_free(r->cdf);
    assay_sparse_vector_free(r->sparse);
    r->sampler = NULL;
    r->cdf = NULL;
    r->sparse = NULL;
    if (is(r, "sparse_vector")) {
        prepare_sparse(r);
        return;
    }
    if (strncmp(r->name, "inverse_", 8) != 0 &&
        strncmp(r->name, "blocks_", 7) != 0) {
        return;
    }
    mpq_init(parameter);
    parameter_of(r, parameter);
    if (strncmp(r->name, "blocks_", 7) == 0) {
        prepare_blocks(r, parameter);
    } else if (new_sampler(r, parameter, NULL) != ASSAY_OK ||
               assay_cdf_new(&r->cdf, kind_of(r), 0, parameter,
                             r->num_args > 2 ? mpz_get_si(r->arg[2]) : 0,
                             NULL) != ASSAY_OK) {
        die("parameter refused");
    }
    mpq_clear(parameter);
}

static int draw_object(request *r, assay_tape *tape, reply *out)
{
    int64_t x = 0;
    if (r->sampler == NULL ||
        (r->cdf != NULL && r->sampler->draw != ASSAY_DRAW_TABLE)) {
        return 0;
    }
    out->status = assay_sampler_one(r->sampler, tape, &x, NULL);
    snprintf(out->value, sizeof out->value, "%lld", (long long)x);
    return 1;
}

static int draw_digits(request *r, assay_tape *tape, reply *out)
{
    int64_t x = 0;
    if (r->cdf != NULL) {
        out->status = assay_cdf_inverse(r->cdf, tape, &x);
    } else if (is(r, "below_exp")) {
        mpq_t gamma;
        int bit = 0;
        mpq_init(gamma);
        mpz_set(mpq_numref(gamma), r->arg[0]);
        mpz_set(mpq_denref(gamma), r->arg[1]);
        mpq_canonicalize(gamma);
        out->status = assay_below_exp(tape, gamma, &bit);
        mpq_clear(gamma);
        x = bit;
    } else {
        return 0;
    }
    snprintf(out->value, sizeof out->value, "%lld", (long long)x);
    return 1;
}

/* ---- mechanisms ---- */

static int64_t score_at(const request *r, int i, int64_t more)
{
    if (!mpz_fits_slong_p(r->arg[i])) {
        die("score out of range");
    }
    return (int64_t)mpz_get_si(r->arg[i]) + more;
}

/* Asks until the tape ends or all positives are used. */
static assay_status ask_all(request *r, reply *out)
{
    int num = (r->num_args - 6) / 2;
    int64_t above = 0;
    size_t at = 0;
    assay_status status = assay_sparse_vector_reset(r->sparse, NULL);
    for (int i = 0; i < num && status == ASSAY_OK; i++) {
        int bit = 0;
        int64_t more = mpz_get_si(r->arg[5]) * above;
        status = assay_sparse_vector_ask(r->sparse, &bit,
                                         score_at(r, 6 + 2 * i, more),
                                         score_at(r, 7 + 2 * i, 0), NULL);
        if (status == ASSAY_BUDGET) {
            return assay_sparse_vector_left(r->sparse) == 0 ? ASSAY_OK
                                                            : status;
        }
        above += bit;
        out->value[at++] = bit ? '1' : '0';
    }
    return status;
}

static assay_status choose_largest(request *r, reply *out)
{
    int64_t score[MAX_ARGS];
    size_t found = 0;
    mpq_t epsilon, one;
    mpq_init(epsilon);
    mpq_init(one);
    for (int i = 2; i < r->num_args; i++) {
        score[i - 2] = score_at(r, i, 0);
    }
    mpz_mul_2exp(mpq_numref(epsilon), r->arg[0], 1); /* scale = 2 / epsilon */
    mpz_set(mpq_denref(epsilon), r->arg[1]);
    mpq_canonicalize(epsilon);
    mpq_set_ui(one, 1, 1);
    assay_status status =
        assay_choose_noisy_max(&custodian, &found, score,
                               (size_t)r->num_args - 2, epsilon, one, NULL,
                               NULL);
    snprintf(out->value, sizeof out->value, "%zu", found);
    mpq_clear(epsilon);
    mpq_clear(one);
    return status;
}

static int draw_mechanism(request *r, assay_tape *tape, reply *out)
{
    if (!is(r, "sparse_vector") && !is(r, "noisy_max")) {
        return 0;
    }
    unsigned before = charges;
    custodian.tape = *tape;
    out->status =
        is(r, "noisy_max") ? choose_largest(r, out) : ask_all(r, out);
    *tape = custodian.tape;
    if (charges != before + 1) {
        die("not charged exactly once");
    }
    return 1;
}

/* ---- lines ---- */

static int draw(request *r, int way, assay_tape *tape, reply *out)
{
    switch (way) {
    case 0:
        return draw_64(r, tape, out);
    case 1:
        return draw_big(r, tape, out);
    case 2:
        return draw_object(r, tape, out);
    case 3:
        return draw_digits(r, tape, out);
    default:
        return draw_mechanism(r, tape, out);
    }
}

static int same(const reply *a, const reply *b)
{
    return a->status == b->status &&
           (a->status != ASSAY_OK ||
            (a->used == b->used && strcmp(a->value, b->value) == 0));
}

static void answer(request *r)
{
    reply first = {0};
    for (int way = 0; way < 5; way++) {
        reply next = {0};
        assay_tape tape;
        assay_tape_init_unsafe_recorded(&tape, r->words, r->num_words);
        next.asked = draw(r, way, &tape, &next);
        next.used = tape.position;
        assay_tape_clear(&tape);
        if (next.asked && first.asked && !same(&first, &next)) {
            puts("disagree");
            return;
        }
        if (next.asked && !first.asked) {
            first = next;
        }
    }
    if (!first.asked) {
        die("no such sampler");
    }
    if (first.status == ASSAY_OK) {
        printf("%s %llu\n", first.value, (unsigned long long)first.used);
    } else {
        puts(first.status == ASSAY_ENTROPY ? "short" : "error");
    }
}

static void parse_head(request *r, const char *line, size_t len)
{
    static char copy[sizeof r->head];
    char *save = NULL;
    char *word;
    if (len >= sizeof r->head) {
        die("line head too long");
    }
    if (strlen(r->head) == len && memcmp(r->head, line, len) == 0) {
        return; /* as before */
    }
    memcpy(r->head, line, len);
    r->head[len] = '\0';
    memcpy(copy, r->head, len + 1);
    r->name = strtok_r(copy, " ", &save);
    r->num_args = 0;
    while ((word = strtok_r(NULL, " ", &save)) != NULL) {
        if (r->num_args == MAX_ARGS ||
            mpz_set_str(r->arg[r->num_args], word, 10) != 0) {
            die("bad parameter");
        }
        r->num_args++;
    }
    if (r->name == NULL || r->num_args == 0) {
        die("bad line");
    }
    prepare(r);
}

static void parse_words(request *r, char *text)
{
    char *end = text;
    r->num_words = 0;
    for (;;) {
        uint64_t word = strtoull(text, &end, 16);
        if (end == text) {
            return;
        }
        if (r->num_words == MAX_WORDS) {
            die("tape too long");
        }
        r->words[r->num_words++] = word;
        text = end;
    }
}

int main(void)
{
    static request r;
    char *line = NULL;
    size_t size = 0;
    for (int i = 0; i < MAX_ARGS; i++) {
        mpz_init(r.arg[i]);
    }
    while (getline(&line, &size, stdin) > 0) {
        char *colon = strchr(line, ':');
        if (colon == NULL) {
            die("bad line");
        }
        parse_head(&r, line, (size_t)(colon - line));
        parse_words(&r, colon + 1);
        answer(&r);
    }
    free(line);
    assay_sampler_free(r.sampler);
    assay_cdf_free(r.cdf);
    assay_sparse_vector_free(r.sparse);
    for (int i = 0; i < MAX_ARGS; i++) {
        mpz_clear(r.arg[i]);
    }
    return 0;
}
