/* ring: glue */
/* The table of persons, and scans by person, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mechanisms/people.h"
#include "mechanisms/query_scan.h"

#define NUM_IDS 3000
#define MAX_ID 40

static uint64_t state = 1;

static unsigned below(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % n);
}

typedef struct model {
    char id[NUM_IDS][MAX_ID];
    size_t len[NUM_IDS];
    uint32_t seen[NUM_IDS];
} model;

/* Identifiers of every length; many differ only in their last byte, or only by
   a zero byte behind. */
static void fill(model *m)
{
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < NUM_IDS; i++) {
        int len = snprintf(m->id[i], MAX_ID, "%0*zu", (int)(i % 36) + 1, i);
        m->len[i] = (size_t)len + (i % 7 == 0 ? 1 : 0);
    }
    for (size_t i = 0; i < NUM_IDS; i++) { /* doubles would share a count */
        for (size_t j = 0; j < i; j++) {
            assert_true(m->len[i] != m->len[j] ||
                        memcmp(m->id[i], m->id[j], m->len[i]) != 0);
        }
    }
}

static void takes_the_first_records_of_each_person(void **unused)
{
    (void)unused;
    static model m;
    assay_error err = ASSAY_ERROR_INIT;
    assay_people people;
    fill(&m);
    assert_int_equal(assay_people_init(&people, 3, &err), ASSAY_OK);
    size_t distinct = 0;
    for (int round = 0; round < 40000; round++) {
        size_t i = below(NUM_IDS);
        int take = -1;
        assert_int_equal(
            assay_people_take(&people, &take, m.id[i], m.len[i], &err),
            ASSAY_OK);
        assert_int_equal(take, m.seen[i] < 3);
        distinct += m.seen[i] == 0;
        m.seen[i]++;
        assert_int_equal(people.num_people, distinct);
    }
    size_t found = 0;
    for (size_t s = 0; s < people.num_slots; s++) {
        const char *id = NULL;
        size_t len = 0;
        uint32_t used = 0;
        found += (size_t)assay_people_at(&people, s, &id, &len, &used);
    }
    assert_int_equal(found, distinct);
    assay_people_clear(&people);
    assay_people_clear(&people);
}

static void a_key_is_found_after_the_table_has_grown(void **unused)
{
    (void)unused;
    assay_error err = ASSAY_ERROR_INIT;
    assay_people people;
    assay_person_key early;
    int take = 0;
    assert_int_equal(assay_people_init(&people, 1, &err), ASSAY_OK);
    assert_int_equal(assay_people_key(&people, &early, "early", 5), 1);
    for (unsigned i = 0; i < 100000; i++) {
        char id[16];
        int len = snprintf(id, sizeof id, "p%u", i);
        assert_int_equal(
            assay_people_take(&people, &take, id, (size_t)len, &err), ASSAY_OK);
        assert_int_equal(take, 1);
    }
    assert_int_equal(assay_people_take_key(&people, &take, &early, &err), 0);
    assert_int_equal(take, 1);
    assert_int_equal(assay_people_take(&people, &take, "early", 5, &err), 0);
    assert_int_equal(take, 0);
    assert_int_equal(people.num_people, 100001);
    assert_int_equal(
        assay_people_key(&people, &early, "a name of more than 24 bytes", 28),
        0);
    assay_people_clear(&people);
}

/* Short and long identifiers mixed, so that the waiting line empties early. */
static void scans_in_file_order_by_person(void **unused)
{
    (void)unused;
    static model m;
    const char *folder = getenv("TMPDIR");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/assay-people-%d.csv",
                   folder != NULL ? folder : "/tmp", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    memset(&m, 0, sizeof m);
    int64_t count = 0;
    int64_t sum = 0;
    (void)fputs("person,cost\n", f);
    for (int row = 0; row < 5000; row++) {
        unsigned who = below(700);
        unsigned cost = below(100);
        (void)fprintf(f,
                      who % 5 == 0 ? "%u and a long name behind\u00e9,%u\n"
                                   : "%u,%u\n",
                      who, cost);
        if (m.seen[who]++ < 4) {
            count++;
            sum += cost;
        }
    }
    (void)fclose(f);
    assay_error err = ASSAY_ERROR_INIT;
    assay_query query;
    assay_tally tally;
    assay_query_init(&query);
    query.kind = ASSAY_QUERY_SUM;
    query.path = path;
    query.person = "person";
    query.column = "cost";
    query.limit = 4;
    query.has_bounds = 1;
    mpq_set_ui(query.hi, 100, 1);
    assert_int_equal(assay_tally_init(&tally, &query, &err), ASSAY_OK);
    assert_int_equal(assay_tally_scan(&tally, &query, &err), ASSAY_OK);
    assert_int_equal(tally.count, count);
    assert_int_equal(tally.sum >> tally.lattice.step_bits, sum);
    assay_tally_clear(&tally);
    assay_query_clear(&query);
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_first_records_of_each_person),
        cmocka_unit_test(a_key_is_found_after_the_table_has_grown),
        cmocka_unit_test(scans_in_file_order_by_person),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
