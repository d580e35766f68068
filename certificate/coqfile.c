/* ring: glue */
#include "certificate/coqfile.h"

#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/recheck.h"
#include "certificate/text.h"

/* "n d" of a positive rational, n as N or positive by context */
static void add_fraction(assay_text *out, const mpq_t q)
{
    void (*release)(void *, size_t) = NULL;
    char *n = mpz_get_str(NULL, 10, mpq_numref(q));
    char *d = mpz_get_str(NULL, 10, mpq_denref(q));
    assay_text_printf(out, "%s %s", n, d);
    mp_get_memory_functions(NULL, NULL, &release);
    release(n, strlen(n) + 1);
    release(d, strlen(d) + 1);
}

static void add_real(assay_text *out, const char *name, const char *rational)
{
    const char *slash = strchr(rational, '/');
    int len = slash != NULL ? (int)(slash - rational) : (int)strlen(rational);
    assay_text_printf(out, "Definition %s : R := %.*s", name, len, rational);
    assay_text_printf(out, " / %s.\n", slash != NULL ? slash + 1 : "1");
}

static int member(mpq_t out, const json_t *event, const char *key)
{
    const char *text = assay_json_text(event, key);
    return assay_recheck_number(out, text != NULL ? text : "1");
}

/* A line with a proof of its own: noise parameter, then sensitivity. */
static int noise_line(assay_text *out, const json_t *event, const char *name,
                      const char *noise, const char *sensitivity)
{
    mpq_t a, b;
    mpq_init(a);
    mpq_init(b);
    int ok = member(a, event, noise) && member(b, event, sensitivity) &&
             mpq_sgn(a) > 0;
    if (ok) {
        assay_text_printf(out, "(%s ", name);
        add_fraction(out, a);
        assay_text_add(out, " ");
        add_fraction(out, b);
        assay_text_add(out, ", ");
    }
    mpq_clear(a);
    mpq_clear(b);
    return ok;
}

/* Any other mechanism, by what it is proved to be elsewhere. */
static int priced_line(assay_text *out, const json_t *event)
{
    assay_recheck_price price;
    assay_recheck_price_init(&price);
    int ok = assay_recheck_event(&price, event, 1);
    if (ok) {
        const char *name = assay_json_text(event, "mechanism");
        assay_text_add(out, strcmp(name, "exponential") == 0 ? "(Ranged "
                            : price.has_epsilon              ? "(Pure "
                                                             : "(Zcdp ");
        add_fraction(out, price.has_epsilon ? price.epsilon : price.rho);
        assay_text_add(out, ", ");
    }
    assay_recheck_price_clear(&price);
    return ok;
}

static assay_status ledger_line(assay_text *out, const json_t *step, int last,
                                assay_error *err)
{
    const json_t *event = assay_json_at(step, "in/event");
    const char *name = assay_json_text(event, "mechanism");
    const char *runs = json_string_value(assay_json_at(step, "in/runs"));
    int ok = name != NULL && runs != NULL &&
             runs[strspn(runs, "0123456789")] == '\0' &&
             json_object_get(event, "group") == NULL;
    assay_text_add(out, "    ");
    if (ok && strcmp(name, "discrete-gaussian") == 0) {
        ok = noise_line(out, event, "Gaussian", "sigma2", "sensitivity2");
    } else if (ok && strcmp(name, "discrete-laplace") == 0) {
        ok = noise_line(out, event, "Laplace", "scale", "sensitivity");
    } else if (ok) {
        ok = priced_line(out, event);
    }
    if (!ok) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "no line of the Coq theory expresses the event '%s'",
                          name != NULL ? name : "?");
    }
    assay_text_printf(out, "%s%%positive)%s  (* %s *)\n", runs, last ? "" : ";",
                      name);
    return ASSAY_OK;
}

static assay_status add_ledger(assay_text *out, const json_t *steps,
                               assay_error *err)
{
    size_t n = 0;
    while (json_is_object(json_array_get(steps, n)) &&
           assay_json_at(json_array_get(steps, n), "in/event") != NULL) {
        n++;
    }
    assay_text_add(out, "Definition ledger : list (line * positive) :=\n  [\n");
    for (size_t i = 0; i < n; i++) {
        assay_status s =
            ledger_line(out, json_array_get(steps, i), i + 1 == n, err);
        if (s != ASSAY_OK) {
            return s;
        }
    }
    assay_text_add(out, "  ].\n");
    return ASSAY_OK;
}

static void add_head(assay_text *out, const json_t *predicate)
{
    assay_text_add(out, "(* The guarantee of a certificate, written by `assay` "
                        "from the certificate alone.\n");
    assay_text_printf(
        out, "   Ledger head: %s\n   Manifest:    %s\n",
        assay_json_text(json_object_get(predicate, "ledger"), "head"),
        assay_json_text(predicate, "deploymentDigest"));
    assay_text_add(
        out, "   A process is any sequence of releases, each chosen with "
             "knowledge of all earlier\n   outputs; it follows the ledger if "
             "its releases are of the kinds that the lines name.\n   Pure and "
             "Zcdp lines: mechanisms that are proved so elsewhere (the "
             "certificate's\n   proof table says where). *)\n"
             "From Coq Require Import Reals Lra List ZArith.\n"
             "From Interval Require Import Tactic.\n"
             "From Assay.base Require Import DP PureInterval.\n"
             "From Assay.rules Require Import Process Vectors Neighbours "
             "Releases");
}

static const char zcdp_proof[] =
    "  follows %s (expand ledger) p ->\n"
    "  dp_mech %s eps delta (run zvec_eq p).\n"
    "Proof.\n"
    "  apply (releases_dp rho order).\n"
    "  - cbv -[Rplus Rmult Rinv Rdiv Rle IZR]; lra.\n"
    "  - unfold order; lra.\n"
    "  - unfold order, rho, eps, delta; interval with (i_prec 128).\n"
    "Qed.\n";

static const char pure_proof[] =
    "  follows %s (expand ledger) p ->\n"
    "  dp_mech %s eps 0 (run zvec_eq p).\n"
    "Proof.\n"
    "  apply (pure_releases_dp _ ledger _ eps p eq_refl).\n"
    "  unfold eps; cbv -[Rplus Rmult Rinv Rdiv Rle IZR]; lra.\n"
    "Qed.\n";

static const char visits_proof[] =
    "\n(* What was released: the visit counts of trajectories of %ld steps, "
    "for "
    "any number of\n   (s, a) pairs and (s, a, s') triples. *)\n"
    "From Assay.rules Require Import Sensitivity.\n"
    "Corollary visit_counts (pairs triples : nat) : dp_mech replace_one eps "
    "%s\n  (run zvec_eq (Release (fun d => %s (prat %s)\n    (sum_query (%ld "
    "* (pairs + triples)) (visits pairs triples %ld) d)) (fun _ => Done))).\n"
    "Proof.\n"
    "  apply guarantee; constructor; [|intros; constructor].\n"
    "  eexists; split; [|reflexivity]; intros d d' A.\n"
    "  destruct (proj%d (visit_counts_sens pairs triples %ld) d d' A) as [E "
    "H].\n"
    "  split; [exact E|]; apply (Rle_trans _ _ _ H); unfold nrat.\n"
    "  simpl Z.of_N; simpl Z.of_nat; lra.\n"
    "Qed.\n";

/* DP-APVI releases all visit counts once: then the theorem's hypothesis is met
   by the statistic itself, and that is stated too. */
static void add_visits(assay_text *out, const json_t *predicate)
{
    const json_t *learner = assay_json_at(predicate, "deployment/learner");
    const json_t *event = assay_json_at(predicate, "derivation/0/in/event");
    const char *runs =
        json_string_value(assay_json_at(predicate, "derivation/0/in/runs"));
    const char *algorithm = assay_json_text(learner, "algorithm");
    const char *only = assay_json_text(learner, "triples-only");
    const char *name = assay_json_text(event, "mechanism");
    const char *relation =
        json_string_value(assay_json_at(predicate, "guarantee/neighbours"));
    int pure =
        json_object_get(json_object_get(predicate, "guarantee"), "rho") == NULL;
    if (algorithm == NULL || strcmp(algorithm, "dp-apvi") != 0 ||
        (only != NULL && strcmp(only, "true") == 0) || runs == NULL ||
        strcmp(runs, "1") != 0 ||
        assay_json_at(predicate, "derivation/1/in/event") != NULL ||
        strcmp(relation, "replace-one") != 0) {
        return;
    }
    int gaussian = strcmp(name, "discrete-gaussian") == 0;
    assay_text noise = ASSAY_TEXT_INIT;
    mpq_t s, n;
    mpq_init(s);
    mpq_init(n);
    if (member(s, event, gaussian ? "sensitivity2" : "sensitivity") &&
        member(n, event, gaussian ? "sigma2" : "scale") &&
        mpz_cmp_ui(mpq_denref(s), 1) == 0 &&
        mpz_divisible_ui_p(mpq_numref(s), 4) &&
        mpz_cmp_ui(mpq_numref(s), 4000) <= 0) {
        long horizon = mpz_get_si(mpq_numref(s)) / 4;
        add_fraction(&noise, n);
        assay_text_printf(out, visits_proof, horizon, pure ? "0" : "delta",
                          gaussian ? "gauss_vec" : "laplace_vec", noise.bytes,
                          horizon, horizon, gaussian ? 1 : 2, horizon);
    }
    assay_text_clear(&noise);
    mpq_clear(s);
    mpq_clear(n);
}

static assay_status write_text(assay_text *out, const json_t *predicate,
                               assay_error *err)
{
    const json_t *g = json_object_get(predicate, "guarantee");
    const json_t *steps = json_object_get(predicate, "derivation");
    const char *relation = assay_json_text(g, "neighbours");
    const char *epsilon = assay_json_text(g, "epsilon");
    const char *delta = assay_json_text(g, "delta");
    const char *rho = assay_json_text(g, "rho");
    const char *method = assay_json_text(g, "method");
    const char *alpha = json_string_value(assay_json_at(
        json_array_get(steps, json_array_size(steps) - 1), "in/alpha"));
    int zcdp = method != NULL && strcmp(method, "zcdp") == 0;
    if (relation == NULL || epsilon == NULL || delta == NULL ||
        (zcdp && (rho == NULL || alpha == NULL))) {
        return assay_fail(err, ASSAY_CORRUPT, "the guarantee is incomplete");
    }
    const char *adj =
        strcmp(relation, "replace-one") == 0 ? "replace_one" : "add_remove";
    add_head(out, predicate);
    assay_text_add(out, zcdp ? ".\n" : " PureReleases.\n");
    assay_text_add(out, "Import ListNotations.\nLocal Open Scope R_scope.\n\n");
    assay_status status = add_ledger(out, steps, err);
    add_real(out, "eps", epsilon);
    if (zcdp) {
        add_real(out, "delta", delta);
        add_real(out, "rho", rho);
        add_real(out, "order", alpha);
    }
    assay_text_add(out, "\nTheorem guarantee (record : Type) (p : process "
                        "(list record) (list Z)) :\n");
    assay_text_printf(out, zcdp ? zcdp_proof : pure_proof, adj, adj);
    add_visits(out, predicate);
    return status;
}

assay_status assay_coq_text(char **out, const json_t *predicate,
                            assay_error *err)
{
    assay_text text = ASSAY_TEXT_INIT;
    assay_status status = write_text(&text, predicate, err);
    if (status == ASSAY_OK && text.failed) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for a file");
    }
    if (status != ASSAY_OK) {
        assay_text_clear(&text);
        return status;
    }
    *out = text.bytes;
    return ASSAY_OK;
}
