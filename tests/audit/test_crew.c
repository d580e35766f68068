/* ring: glue */
/* The crew: rows in order, the first error, a hand that dies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "audit/crew.h"

typedef struct book {
    size_t next;
    size_t bad, dies; /* indices that fail, or end their process */
} book;

static void work(assay_crew_row *out, void *ctx)
{
    const book *b = ctx;
    if (out->index == b->dies) {
        _exit(1);
    }
    (void)usleep(out->index % 3 == 0 ? 3000 : 100); /* out of order */
    out->again = (int)(out->index * out->index);
    if (out->index == b->bad) {
        out->status =
            assay_fail(&out->err, ASSAY_INVALID, "row %zu is bad", out->index);
    }
}

static assay_status note(const assay_crew_row *row, void *ctx, assay_error *err)
{
    book *b = ctx;
    (void)err;
    assert_int_equal(row->index, b->next);
    assert_int_equal(row->again, b->next * b->next);
    b->next++;
    return ASSAY_OK;
}

static void rows_come_in_order(void **state)
{
    (void)state;
    for (int hands = 1; hands <= 4; hands++) {
        book b = {0, SIZE_MAX, SIZE_MAX};
        assay_error err = ASSAY_ERROR_INIT;
        assert_int_equal(
            assay_crew_run(50, hands, "test", work, note, &b, &err), ASSAY_OK);
        assert_int_equal(b.next, 50);
    }
}

static void the_first_error_ends_it(void **state)
{
    (void)state;
    for (int hands = 1; hands <= 3; hands++) {
        book b = {0, 20, SIZE_MAX};
        assay_error err = ASSAY_ERROR_INIT;
        assert_int_equal(
            assay_crew_run(50, hands, "test", work, note, &b, &err),
            ASSAY_INVALID);
        assert_string_equal(err.message, "row 20 is bad");
        assert_int_equal(b.next, 20);
    }
}

static void a_death_is_reported(void **state)
{
    (void)state;
    book b = {0, SIZE_MAX, 7};
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_crew_run(50, 2, "test", work, note, &b, &err),
                     ASSAY_IO);
    assert_int_equal(b.next, 7); /* what came before it was noted */
    assert_non_null(strstr(err.message, "died"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_order),
        cmocka_unit_test(the_first_error_ends_it),
        cmocka_unit_test(a_death_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
