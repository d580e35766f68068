/* ring: glue */
/*
 * The accountant against tests/data/accounting.json: values of well-known
 * accountants and, where known, the exact value. Ours is never below the exact
 * value, at most 0.1 % above it, and at most 0.5 % above the best peer whose
 * value is possible at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/guarantee.h"
#include "core/rational.h"

static const char *data_path(void)
{
    const char *path = getenv("ASSAY_ACCOUNTING_JSON");
    return path != NULL ? path : "tests/data/accounting.json";
}

/* Peers known to be wrong here: below the exact value, or below our certified
   lower bound, or dropping the count. */
static int counts(const char *peer, const char *id)
{
    if (strcmp(peer, "exact") == 0 || strcmp(peer, "pld_optimistic") == 0 ||
        strcmp(peer, "prv_estimate") == 0) {
        return 0; /* not an upper bound */
    }
    if (strncmp(id, "rr_", 3) == 0 && strcmp(peer, "dp_accounting_pld") == 0) {
        return 0; /* drops the count */
    }
    if (strcmp(id, "exp_e1_T100") == 0 &&
        strcmp(peer, "dp_accounting_rdp") == 0) {
        return 0; /* drops the count */
    }
    return 1;
}

static double best_peer(const json_t *values, const char *id, double exact)
{
    const char *peer;
    json_t *value;
    double best = INFINITY;
    json_object_foreach((json_t *)(size_t)values, peer, value)
    {
        double v = json_number_value(value);
        if (counts(peer, id) && v > 0.0 && v >= exact) {
            best = fmin(best, v);
        }
    }
    return best;
}

static void check_exact(const char *id, const json_t *values,
                        const assay_bound *best)
{
    const char *text = json_string_value(json_object_get(values, "exact"));
    if (text == NULL) {
        return;
    }
    assay_error err = ASSAY_ERROR_INIT;
    mpq_t exact, room;
    mpq_init(exact);
    mpq_init(room);
    assert_int_equal(assay_rational_parse(exact, text, "exact", &err),
                     ASSAY_OK);
    mpq_set_ui(room, 1, 1000); /* 0.1 % */
    /* The file's values were computed from parameters rounded to doubles (0.01
       for scale 100, say): dl_a0.01_T1e4 is 4.37638450926028995..., the file
       has ...29004. Hence 2^-52 of slack. */
    mpq_t half;
    mpq_init(half);
    mpq_div_2exp(half, exact, 52);
    mpq_sub(half, exact, half);
    if (mpq_cmp(best->epsilon, half) < 0) {
        fail_msg("%s: %s gives %.17g below the exact %s", id, best->method,
                 mpq_get_d(best->epsilon), text);
    }
    mpq_mul(room, room, exact);
    mpq_add(room, room, exact);
    if (mpq_cmp(best->epsilon, room) > 0) {
        fail_msg("%s: %s gives %.17g, above the exact %s", id, best->method,
                 mpq_get_d(best->epsilon), text);
    }
    mpq_clear(exact);
    mpq_clear(room);
    mpq_clear(half);
}

static void check_value(const char *id, const assay_event_list *list,
                        const char *delta_text, const json_t *values)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_guarantee g;
    mpq_t delta;
    mpq_init(delta);
    assay_guarantee_init(&g);
    assert_int_equal(assay_rational_parse(delta, delta_text, "delta", &err),
                     ASSAY_OK);
    if (assay_account(&g, list, delta, NULL, &err) != ASSAY_OK) {
        fail_msg("%s: %s", id, err.message);
    }
    check_exact(id, values, &g.bounds[0]);
    const char *text = json_string_value(json_object_get(values, "exact"));
    double exact = text != NULL ? atof(text) * (1 - 1e-12) : 0.0;
    double ours = mpq_get_d(g.bounds[0].epsilon);
    double peer = best_peer(values, id, exact);
    if (ours > peer * 1.005) {
        fail_msg("%s at %s: ours %.10g, a peer's %.10g", id, delta_text, ours,
                 peer);
    }
    double low = json_number_value(json_object_get(values, "pld_optimistic"));
    if (ours < low * (1 - 1e-9)) {
        fail_msg("%s at %s: ours %.12g below the optimistic %.12g", id,
                 delta_text, ours, low);
    }
    print_message("%-28s %-6s %-10s %.10g\n", id, delta_text,
                  g.bounds[0].method, ours);
    assay_guarantee_clear(&g);
    mpq_clear(delta);
}

static void every_case_is_tight_and_never_below(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    json_error_t where;
    json_t *cases = json_load_file(data_path(), 0, &where);
    assert_non_null(cases);
    assert_in_range(json_array_size(cases), 40, 1000);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        const char *id = json_string_value(json_object_get(c, "id"));
        assay_event_list list;
        if (assay_event_list_from_json(&list, c, &err) != ASSAY_OK) {
            fail_msg("%s: %s", id, err.message);
        }
        const char *delta;
        json_t *values;
        json_object_foreach(json_object_get(c, "epsilon_at_delta"), delta,
                            values)
        {
            check_value(id, &list, delta, values);
        }
        assay_event_list_clear(&list);
    }
    json_decref(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_tight_and_never_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
