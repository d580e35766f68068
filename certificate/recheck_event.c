/* ring: glue */
/* Prices of single events, written anew from the theorems. */
#include <mpfr.h>
#include <string.h>

#include "certificate/recheck.h"

#define PREC 256

void assay_recheck_price_init(assay_recheck_price *price)
{
    memset(price, 0, sizeof *price);
    mpq_init(price->epsilon);
    mpq_init(price->rho);
}

void assay_recheck_price_clear(assay_recheck_price *price)
{
    mpq_clear(price->epsilon);
    mpq_clear(price->rho);
}

/* A member, or the default where it is left out. */
static int member(mpq_t out, const json_t *event, const char *key,
                  const char *fallback)
{
    const json_t *value = json_object_get(event, key);
    const char *text = json_string_value(value);
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        mpq_set_ui(out, (unsigned long)json_integer_value(value), 1);
        return 1;
    }
    if (value != NULL && text == NULL) {
        return 0;
    }
    return assay_recheck_number(out, text != NULL ? text : fallback);
}

static void cite(assay_recheck_price *out, const char *id)
{
    if (id != NULL && out->num_ids < 4) {
        out->ids[out->num_ids++] = id;
    }
}

/* x * n^power, n from the event (default 1) */
static int times(mpq_t x, const json_t *event, const char *key, int power,
                 const char *fallback)
{
    mpq_t n;
    mpq_init(n);
    int ok = member(n, event, key, fallback);
    for (int i = 0; i < power && ok; i++) {
        mpq_mul(x, x, n);
    }
    mpq_clear(n);
    return ok;
}

static int is_group(const json_t *event)
{
    return json_object_get(event, "group") != NULL;
}

/* rho = group^2 levels D2 / (2 sigma2) */
static int gaussian(assay_recheck_price *out, const json_t *event, int tree,
                    const char *id)
{
    mpq_t d2, s2;
    mpq_init(d2);
    mpq_init(s2);
    int ok = member(d2, event, "sensitivity2", "1") &&
             member(s2, event, "sigma2", NULL) && mpq_sgn(s2) > 0;
    if (ok) {
        mpq_add(s2, s2, s2);
        mpq_div(out->rho, d2, s2);
        ok = times(out->rho, event, "group", 2, "1") &&
             (!tree || times(out->rho, event, "levels", 1, NULL));
    }
    out->has_rho = ok;
    cite(out, id);
    cite(out, is_group(event) ? "group-zcdp" : NULL);
    mpq_clear(d2);
    mpq_clear(s2);
    return ok;
}

/* From epsilon of one person to the group, and to rho = factor epsilon^2. */
static int from_epsilon(assay_recheck_price *out, const json_t *event, int zcdp,
                        const char *id)
{
    int ok = times(out->epsilon, event, "group", 1, "1");
    out->has_epsilon = ok;
    out->has_rho = ok;
    mpq_mul(out->rho, out->epsilon, out->epsilon);
    mpq_div_2exp(out->rho, out->rho, 1);
    cite(out, id);
    if (zcdp) {
        cite(out, "pure-to-zcdp");
    } else {
        cite(out, is_group(event) ? "group-pure" : NULL);
    }
    return ok;
}

static int laplace(assay_recheck_price *out, const json_t *event, int tree,
                   int zcdp, const char *id)
{
    mpq_t d, b;
    mpq_init(d);
    mpq_init(b);
    int ok = member(d, event, "sensitivity", "1") &&
             member(b, event, "scale", NULL) && mpq_sgn(b) > 0;
    if (ok) {
        mpq_div(out->epsilon, d, b);
        ok = !tree || times(out->epsilon, event, "levels", 1, NULL);
    }
    mpq_clear(d);
    mpq_clear(b);
    return ok && from_epsilon(out, event, zcdp, id);
}

/* D/b1 + c k D/b2 with c = 2, or 1 on monotone counts */
static int sparse(assay_recheck_price *out, const json_t *event, int zcdp)
{
    mpq_t d, b, k;
    int monotone = json_object_get(event, "monotone") != NULL;
    mpq_init(d);
    mpq_init(b);
    mpq_init(k);
    int ok = member(d, event, "sensitivity", "1") &&
             member(b, event, "scale", NULL) && mpq_sgn(b) > 0 &&
             member(k, event, "k", "1");
    if (ok) {
        mpq_div(out->epsilon, d, b);
        ok = member(b, event, "scale2", NULL) && mpq_sgn(b) > 0;
    }
    if (ok) {
        mpq_div(d, d, b);
        mpq_mul(d, d, k);
        mpq_add(out->epsilon, out->epsilon, d);
        if (!monotone) {
            mpq_add(out->epsilon, out->epsilon, d);
        }
    }
    mpq_clear(d);
    mpq_clear(b);
    mpq_clear(k);
    return ok &&
           from_epsilon(out, event, zcdp,
                        monotone ? "sparse-vector-monotone" : "sparse-vector");
}

/* ln(1 + k (1-p)/p), rounded up */
static int response(assay_recheck_price *out, const json_t *event, int zcdp)
{
    mpq_t p, k;
    mpfr_t x;
    mpq_init(p);
    mpq_init(k);
    mpfr_init2(x, PREC);
    int ok = member(p, event, "p", NULL) && mpq_sgn(p) > 0 &&
             mpq_cmp_ui(p, 1, 1) <= 0 && member(k, event, "k", "2");
    if (ok) {
        mpq_inv(p, p);
        mpq_set_ui(out->epsilon, 1, 1);
        mpq_sub(p, p, out->epsilon); /* (1-p)/p */
        mpq_mul(p, p, k);
        mpfr_set_q(x, p, MPFR_RNDU);
        mpfr_log1p(x, x, MPFR_RNDU);
        mpfr_get_q(out->epsilon, x);
        out->inexact = 1;
    }
    mpq_clear(p);
    mpq_clear(k);
    mpfr_clear(x);
    return ok && from_epsilon(out, event, zcdp, "randomized-response");
}

static int given(assay_recheck_price *out, const json_t *event, int zcdp,
                 const char *id)
{
    return member(out->epsilon, event, "epsilon", NULL) &&
           from_epsilon(out, event, zcdp, id);
}

static int exponential(assay_recheck_price *out, const json_t *event, int zcdp)
{
    int ok = given(out, event, 0, "exponential");
    mpq_div_2exp(out->rho, out->rho, 2);
    if (zcdp) {
        out->num_ids = 1;
        cite(out, "bounded-range-zcdp");
    }
    return ok;
}

static int given_rho(assay_recheck_price *out, const json_t *event)
{
    int ok = member(out->rho, event, "rho", NULL) &&
             times(out->rho, event, "group", 2, "1");
    out->has_rho = ok;
    cite(out, is_group(event) ? "group-zcdp" : NULL);
    return ok;
}

static int nothing(assay_recheck_price *out)
{
    out->has_epsilon = 1;
    out->has_rho = 1;
    cite(out, "postprocess");
    return 1;
}

int assay_recheck_event(assay_recheck_price *out, const json_t *event, int zcdp)
{
    const char *name = json_string_value(json_object_get(event, "mechanism"));
    int scalar = json_integer_value(json_object_get(event, "dimension")) == 1;
    static const struct {
        const char *name;
        int is_gaussian, is_tree;
        const char *id;
    } noises[] = {
        {"gaussian", 1, 0, "gaussian-continuous"},
        {"rounded-gaussian", 1, 0, "rounded-gaussian-vector"},
        {"discrete-gaussian", 1, 0, "gaussian-vector-zcdp"},
        {"gaussian-dp", 1, 0, "gaussian-dp"},
        {"tree-gaussian", 1, 1, "tree-gaussian"},
        {"laplace", 0, 0, "laplace-continuous"},
        {"rounded-laplace", 0, 0, "rounded-laplace-vector"},
        {"discrete-laplace", 0, 0, "laplace-vector"},
        {"tree-laplace", 0, 1, "tree-laplace"},
    };
    if (name == NULL || json_object_get(event, "sampling") != NULL) {
        return 0;
    }
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        if (strcmp(name, noises[i].name) == 0) {
            const char *id = noises[i].id;
            if (i == 2 && scalar) {
                id = "gaussian-scalar-zcdp";
            }
            return noises[i].is_gaussian
                       ? gaussian(out, event, noises[i].is_tree, id)
                       : laplace(out, event, noises[i].is_tree, zcdp, id);
        }
    }
    if (strcmp(name, "sparse-vector") == 0) {
        return sparse(out, event, zcdp);
    }
    if (strcmp(name, "randomized-response") == 0) {
        return response(out, event, zcdp);
    }
    if (strcmp(name, "exponential") == 0) {
        return exponential(out, event, zcdp);
    }
    if (strcmp(name, "pure") == 0) {
        return given(out, event, zcdp, NULL);
    }
    if (strcmp(name, "noisy-max") == 0 ||
        strcmp(name, "permute-and-flip") == 0) {
        return given(out, event, zcdp, name);
    }
    if (strcmp(name, "zcdp") == 0) {
        return given_rho(out, event);
    }
    return strcmp(name, "post-processing") == 0 ? nothing(out) : 0;
}
