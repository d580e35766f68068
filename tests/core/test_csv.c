/* ring: glue */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/csv.h"
#include "core/decimal.h"

static char path[64];

static void put(const char *text, size_t len)
{
    (void)snprintf(path, sizeof path, "/tmp/assay-csv.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_true(fwrite(text, 1, len, f) == len);
    assert_int_equal(fclose(f), 0);
}

/* Reads all; returns the status; rows and the last error line. */
static assay_status read_all(const char *text, size_t len, size_t *rows,
                             int *line, char *all, size_t all_len)
{
    assay_csv csv;
    assay_error err = ASSAY_ERROR_INIT;
    int more = 1;
    size_t at = 0;
    put(text, len);
    *rows = 0;
    assay_status status = assay_csv_open(&csv, path, &err);
    int opened = status == ASSAY_OK;
    while (status == ASSAY_OK) {
        status = assay_csv_next(&csv, &more, &err);
        if (status != ASSAY_OK || !more) {
            break;
        }
        ++*rows;
        for (size_t i = 0; i < csv.num_fields; i++) {
            at += (size_t)snprintf(all + at, all_len - at, "[%.*s]",
                                   (int)csv.fields[i].len, csv.fields[i].text);
        }
    }
    if (opened) {
        assay_csv_close(&csv);
    }
    *line = err.line;
    (void)unlink(path);
    return status;
}

#define TEXT(s) s, sizeof(s) - 1

static void good(const char *text, size_t len, size_t rows, const char *want)
{
    char all[400] = "";
    size_t n = 0;
    int line = 0;
    assert_int_equal(read_all(text, len, &n, &line, all, sizeof all), ASSAY_OK);
    assert_int_equal(n, rows);
    assert_string_equal(all, want);
}

static void bad(const char *text, size_t len, int want_line)
{
    char all[400] = "";
    size_t n = 0;
    int line = 0;
    assert_int_equal(read_all(text, len, &n, &line, all, sizeof all),
                     ASSAY_INVALID);
    assert_int_equal(line, want_line);
}

static void records_are_split(void **state)
{
    (void)state;
    good(TEXT("a,b\n1,2\n3,4\n"), 2, "[1][2][3][4]");
    good(TEXT("a,b\r\n1,2\r\n3,4"), 2, "[1][2][3][4]");
    good(TEXT("a,b\n"), 0, "");
    good(TEXT("a,b"), 0, "");
    good(TEXT("a\n\nx\n"), 2, "[][x]");
    good(TEXT("a,b\n1,\n,"), 2, "[1][][][]");
    good(TEXT("\xef\xbb\xbf"
              "a,b\n1,2\n"),
         1, "[1][2]");
}

static void quotes_are_undone(void **state)
{
    (void)state;
    good(TEXT("a,b\n\"x,y\",\"he said \"\"no\"\"\"\n"), 1,
         "[x,y][he said \"no\"]");
    good(TEXT("a,b\n\"l1\nl2\",\"\"\n\"\"\"\",z\n"), 2, "[l1\nl2][][\"][z]");
    good(TEXT("a,b\n1,\"2\""), 1, "[1][2]");
}

static void damage_is_refused_with_its_line(void **state)
{
    (void)state;
    bad(TEXT(""), 0);
    bad(TEXT("a,b\n1,2\n1,2,3\n"), 3);
    bad(TEXT("a,b\n1\n"), 2);
    bad(TEXT("a,b\n1,5,2\n"), 2); /* a decimal comma */
    bad(TEXT("a,b\n1,\0\n"), 2);
    bad(TEXT("a,b\n\"\0\",1\n"), 2);
    bad(TEXT("a,b\n1,2\rx\n"), 2);
    bad(TEXT("a,b\n1,x\"y\"\n"), 2);
    bad(TEXT("a,b\n\"x\"y,1\n"), 2);
    bad(TEXT("a,b\n1,2\n\"x,1\n"), 3);
    bad(TEXT("a,b\n\"l1\nl2\",1\n1\n"), 4);
}

static void giant_lines_are_refused(void **state)
{
    size_t len = 5 * ASSAY_CSV_RECORD;
    char *text = malloc(len);
    (void)state;
    memset(text, 'x', len);
    memcpy(text, "a\n", 2);
    bad(text, len, 2);
    text[2] = '"';
    bad(text, len, 2);
    free(text);
}

/* Records that straddle the blocks of the reader come out whole. */
static void blocks_do_not_matter(void **state)
{
    enum { ROWS = 300000 };
    char *text = malloc(ROWS * 20 + 100);
    size_t len = 0;
    assay_csv csv;
    int more = 1;
    uint64_t sum = 0;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    len += (size_t)sprintf(text, "n,q\r\n");
    for (int i = 0; i < ROWS; i++) {
        len += (size_t)sprintf(text + len, "%d,\"%d\"\"\"\r\n", i, i % 7);
    }
    put(text, len);
    assert_int_equal(assay_csv_open(&csv, path, &err), ASSAY_OK);
    for (uint64_t i = 0;; i++) {
        assert_int_equal(assay_csv_next(&csv, &more, &err), ASSAY_OK);
        if (!more) {
            assert_int_equal(i, ROWS);
            break;
        }
        assert_int_equal(csv.line, i + 2);
        assert_int_equal(csv.fields[1].len, 2);
        assert_int_equal(csv.fields[1].text[0], '0' + (char)(i % 7));
        assert_int_equal(csv.fields[1].text[1], '"');
        sum += strtoull(csv.fields[0].text, NULL, 10);
    }
    assert_true(sum == (uint64_t)ROWS * (ROWS - 1) / 2);
    assert_int_equal(csv.bytes, len);
    assay_csv_close(&csv);
    (void)unlink(path);
    free(text);
}

static int64_t steps(const char *text, int bits)
{
    assay_lattice l;
    int64_t out = -77;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_lattice_parse(&l, bits, "-1000", "1000", &err),
                     ASSAY_OK);
    assay_status status =
        assay_decimal_to_steps(&out, text, strlen(text), &l, &err);
    return status == ASSAY_OK ? out : INT64_MIN;
}

static void decimals_become_exact_steps(void **state)
{
    const char *junk[] = {"",    " ",      "nan", "inf",   "0x10", "1/2",
                          "1,5", "1e",     "--1", "1.2.3", "abc",  ".",
                          "-",   "1e9999", "1 2", "+-1",   "1_0"};
    (void)state;
    assert_int_equal(steps("12", 0), 12);
    assert_int_equal(steps(" -0.5\t", 1), -1);
    assert_int_equal(steps("0.5", 0), 0);
    assert_int_equal(steps("1.5", 0), 2);
    assert_int_equal(steps("2.5", 0), 2);
    assert_int_equal(steps("2.5000000000000000000000001", 0), 3);
    assert_int_equal(steps("+3.25e-1", 10), 333);     /* 332.8 */
    assert_int_equal(steps("0.1", 40), 109951162778); /* 109951162777.6 */
    assert_int_equal(steps("999999999999999999", 0), 1000);
    assert_int_equal(steps("-1e300", 0), -1000);
    assert_int_equal(steps("1e-300", 10), 0);
    assert_int_equal(steps("5.", 0), 5);
    assert_int_equal(steps(".5", 1), 1);
    assert_int_equal(steps("100", -2), 25);
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        if (steps(junk[i], 0) != INT64_MIN) {
            fail_msg("'%s' was taken for a number", junk[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_split),
        cmocka_unit_test(quotes_are_undone),
        cmocka_unit_test(damage_is_refused_with_its_line),
        cmocka_unit_test(giant_lines_are_refused),
        cmocka_unit_test(blocks_do_not_matter),
        cmocka_unit_test(decimals_become_exact_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
