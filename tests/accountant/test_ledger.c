/* ring: glue */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accountant/guarantee.h"
#include "accountant/ledger.h"
#include "core/rational.h"

static char path[256];

static void fresh_path(void)
{
    static int number;
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/assay-ledger-%d-%d.db",
                   folder != NULL ? folder : "/tmp", (int)getpid(), number++);
    (void)unlink(path);
}

static assay_ledger *open_with(const char *epsilon, const char *delta,
                               const char *rho)
{
    assay_budget budget;
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *ledger = NULL;
    fresh_path();
    assay_budget_init(&budget);
    if (epsilon != NULL) {
        budget.has_epsilon = 1;
        assert_int_equal(
            assay_rational_parse(budget.epsilon, epsilon, "e", &err), ASSAY_OK);
        assert_int_equal(assay_rational_parse(budget.delta, delta, "d", &err),
                         ASSAY_OK);
    }
    if (rho != NULL) {
        budget.has_rho = 1;
        assert_int_equal(assay_rational_parse(budget.rho, rho, "r", &err),
                         ASSAY_OK);
    }
    assert_int_equal(assay_ledger_create(path, &budget, "test", &err),
                     ASSAY_OK);
    assert_int_equal(assay_ledger_open(&ledger, path, &err), ASSAY_OK);
    assay_budget_clear(&budget);
    return ledger;
}

static void gaussian(assay_event *event, const char *sigma2)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_init(event, ASSAY_DISCRETE_GAUSSIAN);
    assert_int_equal(assay_event_set(event, "sigma2", sigma2, &err), ASSAY_OK);
}

static void charges_until_rho_is_exactly_used(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *ledger = open_with(NULL, NULL, "1/2");
    assay_event event;
    uint64_t rows = 0;
    gaussian(&event, "10"); /* rho = 1/20 */
    for (int i = 0; i < 10; i++) {
        assert_int_equal(assay_ledger_charge(ledger, &event, "step", &err),
                         ASSAY_OK);
    }
    assert_int_equal(assay_ledger_charge(ledger, &event, "step", &err),
                     ASSAY_BUDGET);
    assert_int_equal(assay_ledger_verify(ledger, &rows, &err), ASSAY_OK);
    assert_int_equal(rows, 10);
    assay_budget left;
    assay_budget_init(&left);
    assert_int_equal(assay_ledger_left(&left, ledger, &err), ASSAY_OK);
    assert_int_equal(mpq_sgn(left.rho), 0);
    assay_budget_clear(&left);
    assay_event_clear(&event);
    assay_ledger_close(ledger);
    (void)unlink(path);
}

static void two_handles_see_each_other(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *one = open_with("3", "1e-6", NULL);
    assay_ledger *two = NULL;
    assay_event event;
    int charged = 0;
    gaussian(&event, "100");
    assert_int_equal(assay_ledger_open(&two, path, &err), ASSAY_OK);
    while (assay_ledger_charge(charged % 2 ? one : two, &event, NULL, &err) ==
           ASSAY_OK) {
        charged++;
        assert_in_range(charged, 0, 100);
    }
    assert_int_equal(err.status, ASSAY_BUDGET);
    assert_in_range(charged, 20, 40);
    assert_int_equal(assay_ledger_verify(one, NULL, &err), ASSAY_OK);
    assay_event_list events;
    assert_int_equal(assay_ledger_events(&events, one, &err), ASSAY_OK);
    assert_int_equal(events.num_events, charged);
    assay_event_list_clear(&events);
    assay_ledger_close(one);
    assay_ledger_close(two);
    assay_event_clear(&event);
    (void)unlink(path);
}

static void tamper(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "DROP TRIGGER rows_keep; DROP TRIGGER rows_stay;",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

static void check_tampering(const char *sql)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *ledger = open_with("10", "1e-6", NULL);
    assay_event event;
    gaussian(&event, "100");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(assay_ledger_charge(ledger, &event, NULL, &err),
                         ASSAY_OK);
    }
    tamper(sql);
    assert_int_equal(assay_ledger_verify(ledger, NULL, &err), ASSAY_CORRUPT);
    assay_event_clear(&event);
    assay_ledger_close(ledger);
    (void)unlink(path);
}

static void finds_tampering(void **state)
{
    (void)state;
    check_tampering("UPDATE rows SET body = replace(body, '100', '900') "
                    "WHERE sequence = 2");
    check_tampering("DELETE FROM rows WHERE sequence = 3");
    check_tampering("UPDATE rows SET hash = substr(hash, 2) || '0' "
                    "WHERE sequence = 4");
    check_tampering("UPDATE totals SET count = 1");
    check_tampering("DELETE FROM totals");
}

static void exports_verify_alone(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *ledger = open_with("10", "1e-6", "2");
    assay_event event;
    json_t *all = NULL;
    gaussian(&event, "100");
    assert_int_equal(assay_ledger_charge(ledger, &event, "a", &err), ASSAY_OK);
    assert_int_equal(assay_ledger_charge(ledger, &event, "b", &err), ASSAY_OK);
    assert_int_equal(assay_ledger_export(&all, ledger, &err), ASSAY_OK);
    assert_int_equal(assay_ledger_verify_export(all, &err), ASSAY_OK);
    json_t *row = json_array_get(json_object_get(all, "rows"), 1);
    (void)json_object_set_new(row, "label", json_string("c"));
    assert_int_equal(assay_ledger_verify_export(all, &err), ASSAY_CORRUPT);
    json_decref(all);
    assay_event_clear(&event);
    assay_ledger_close(ledger);
    (void)unlink(path);
}

static void refuses_what_is_no_ledger(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *ledger = NULL;
    assay_budget budget;
    fresh_path();
    assert_int_equal(assay_ledger_open(&ledger, path, &err), ASSAY_IO);
    assert_non_null(strstr(err.message, "no such file")); /* and the remedy */
    assert_non_null(strstr(err.message, "assay ledger create"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("this is no database at all, only a text of some length\n",
                file);
    (void)fclose(file);
    assert_int_equal(assay_ledger_open(&ledger, path, &err), ASSAY_CORRUPT);
    assay_budget_init(&budget);
    assert_int_equal(assay_ledger_create(path, &budget, NULL, &err),
                     ASSAY_INVALID);
    budget.has_rho = 1;
    assert_int_equal(assay_ledger_create(path, &budget, NULL, &err),
                     ASSAY_INVALID); /* it exists */
    assay_budget_clear(&budget);
    (void)unlink(path);
}

/* 10^4 sampled steps: 5.654 by Renyi, 5.193 by pld. */
static void a_planned_budget_may_use_privacy_loss_distributions(void **state)
{
    (void)state;
    for (int planned = 0; planned < 2; planned++) {
        assay_error err = ASSAY_ERROR_INIT;
        assay_ledger *ledger = NULL;
        assay_budget budget, left;
        assay_event event;
        fresh_path();
        assay_budget_init(&budget);
        assay_budget_init(&left);
        budget.has_epsilon = 1;
        budget.planned = planned;
        mpq_set_ui(budget.epsilon, 53, 10);
        mpq_set_ui(budget.delta, 1, 100000);
        assert_int_equal(assay_ledger_create(path, &budget, NULL, &err),
                         ASSAY_OK);
        assert_int_equal(assay_ledger_open(&ledger, path, &err), ASSAY_OK);
        assert_int_equal(assay_ledger_budget(ledger)->planned, planned);
        assay_event_init(&event, ASSAY_GAUSSIAN);
        assert_int_equal(assay_event_set(&event, "sigma", "1.1", &err), 0);
        assert_int_equal(assay_event_set(&event, "sampling", "poisson", &err),
                         0);
        assert_int_equal(assay_event_set(&event, "rate", "1/100", &err), 0);
        event.count = 5000;
        assert_int_equal(assay_ledger_charge(ledger, &event, NULL, &err), 0);
        assert_int_equal(assay_ledger_charge(ledger, &event, NULL, &err),
                         planned ? ASSAY_OK : ASSAY_BUDGET);
        event.count = 1000;
        assert_int_equal(assay_ledger_check(ledger, &event, &err),
                         planned ? ASSAY_BUDGET : ASSAY_OK);
        assert_int_equal(assay_ledger_left(&left, ledger, &err), ASSAY_OK);
        if (planned) { /* 5.3 - 5.1928 */
            assert_true(mpq_get_d(left.epsilon) > 0.106 &&
                        mpq_get_d(left.epsilon) < 0.1075);
        }
        assert_int_equal(assay_ledger_verify(ledger, NULL, &err), ASSAY_OK);
        assay_event_clear(&event);
        assay_budget_clear(&budget);
        assay_budget_clear(&left);
        assay_ledger_close(ledger);
        (void)unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charges_until_rho_is_exactly_used),
        cmocka_unit_test(two_handles_see_each_other),
        cmocka_unit_test(a_planned_budget_may_use_privacy_loss_distributions),
        cmocka_unit_test(finds_tampering),
        cmocka_unit_test(exports_verify_alone),
        cmocka_unit_test(refuses_what_is_no_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
