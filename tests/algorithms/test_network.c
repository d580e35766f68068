/* ring: glue */
/* Networks: gradients against finite differences, group norms, clipping, Adam,
 * checkpoints. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/checkpoint.h"
#include "algorithms/envrand.h"
#include "algorithms/network.h"

#define ROWS 12

typedef struct fixture {
    assay_network net;
    assay_network_work work;
    double x[ROWS * 5];
    double y[ROWS * 3];
    double *grad, *other;
} fixture;

static void open_fixture(fixture *f, assay_activation activation)
{
    const size_t widths[4] = {5, 9, 7, 3};
    assay_error err = ASSAY_ERROR_INIT;
    assay_envrand rand;
    assert_int_equal(assay_network_init(&f->net, widths, 3, activation, &err),
                     ASSAY_OK);
    assay_network_randomise(&f->net, 7, 1.0);
    assert_int_equal(
        assay_network_work_init(&f->work, &f->net, ROWS, ROWS, &err), ASSAY_OK);
    assay_envrand_init(&rand, 3, 0);
    for (size_t i = 0; i < ROWS * 5; i++) {
        f->x[i] = 2 * assay_envrand_unit(&rand) - 1;
    }
    for (size_t i = 0; i < ROWS * 3; i++) {
        f->y[i] = 2 * assay_envrand_unit(&rand) - 1;
    }
    f->grad = calloc(f->net.num_params, sizeof(double));
    f->other = calloc(f->net.num_params, sizeof(double));
}

static void close_fixture(fixture *f)
{
    free(f->grad);
    free(f->other);
    assay_network_work_clear(&f->work);
    assay_network_clear(&f->net);
}

/* half the squared distance to y, over rows first .. first + num - 1 */
static double loss(fixture *f, size_t first, size_t num)
{
    double sum = 0.0;
    for (size_t r = first; r < first + num; r++) {
        double out[3];
        assay_network_apply(&f->net, f->net.params, f->x + r * 5, out);
        for (size_t i = 0; i < 3; i++) {
            double d = out[i] - f->y[r * 3 + i];
            sum += d * d / 2;
        }
    }
    return sum;
}

static void backward(fixture *f)
{
    double d[ROWS * 3];
    const double *out = assay_network_forward(&f->net, &f->work, f->x, ROWS);
    for (size_t i = 0; i < ROWS * 3; i++) {
        d[i] = out[i] - f->y[i];
    }
    assay_network_backward(&f->net, &f->work, d);
}

static double numeric(fixture *f, size_t i, size_t first, size_t num)
{
    const double h = 1e-6;
    double keep = f->net.params[i];
    double up, down;
    f->net.params[i] = keep + h;
    up = loss(f, first, num);
    f->net.params[i] = keep - h;
    down = loss(f, first, num);
    f->net.params[i] = keep;
    return (up - down) / (2 * h);
}

static double norm2(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

static void gradients_agree_with_finite_differences(void **state)
{
    const assay_activation all[2] = {ASSAY_TANH, ASSAY_RELU};
    (void)state;
    for (int a = 0; a < 2; a++) {
        fixture f;
        open_fixture(&f, all[a]);
        backward(&f);
        assay_network_gradient(&f.net, &f.work, NULL, f.grad);
        for (size_t i = 0; i < f.net.num_params; i++) {
            double want = numeric(&f, i, 0, ROWS);
            if (fabs(want - f.grad[i]) > 1e-6 * (1 + fabs(want))) {
                fail_msg("parameter %zu: %.12g, differences %.12g", i,
                         f.grad[i], want);
            }
        }
        close_fixture(&f);
    }
}

static void one_rows_gradient_agrees_too(void **state)
{
    fixture f;
    (void)state;
    open_fixture(&f, ASSAY_TANH);
    backward(&f);
    assay_network_rows_gradient(&f.net, &f.work, 5, 2, f.grad);
    for (size_t i = 0; i < f.net.num_params; i += 7) {
        double want = numeric(&f, i, 5, 2);
        assert_true(fabs(want - f.grad[i]) < 1e-6 * (1 + fabs(want)));
    }
    close_fixture(&f);
}

static void norms_of_rows_and_groups_need_no_gradients(void **state)
{
    const size_t begin[5] = {0, 1, 4, 4, ROWS}; /* one group is empty */
    double rows[ROWS];
    double groups[4];
    fixture f;
    (void)state;
    open_fixture(&f, ASSAY_RELU);
    backward(&f);
    assay_network_row_norms2(&f.net, &f.work, rows);
    assay_network_group_norms2(&f.net, &f.work, begin, 4, groups);
    for (size_t r = 0; r < ROWS; r++) {
        assay_network_rows_gradient(&f.net, &f.work, r, 1, f.grad);
        assert_true(fabs(rows[r] - norm2(f.grad, f.net.num_params)) <
                    1e-12 * (1 + rows[r]));
    }
    for (size_t g = 0; g < 4; g++) {
        double want = 0.0;
        if (begin[g + 1] > begin[g]) {
            assay_network_rows_gradient(&f.net, &f.work, begin[g],
                                        begin[g + 1] - begin[g], f.grad);
            want = norm2(f.grad, f.net.num_params);
        }
        assert_true(fabs(groups[g] - want) < 1e-12 * (1 + want));
    }
    close_fixture(&f);
}

static void check_clipped(fixture *f, const size_t *begin, size_t num)
{
    double norms[ROWS];
    double scale[ROWS];
    double clip = 0.9;
    backward(f);
    memset(f->other, 0, f->net.num_params * sizeof(double));
    for (size_t g = 0; g < num; g++) {
        double norm;
        assay_network_rows_gradient(&f->net, &f->work, begin[g],
                                    begin[g + 1] - begin[g], f->grad);
        norm = sqrt(norm2(f->grad, f->net.num_params));
        for (size_t i = 0; i < f->net.num_params; i++) {
            f->other[i] += f->grad[i] * (norm > clip ? clip / norm : 1.0);
        }
    }
    assay_network_clipped(&f->net, &f->work, begin, num, clip, norms, scale,
                          f->grad);
    for (size_t i = 0; i < f->net.num_params; i++) {
        assert_true(fabs(f->grad[i] - f->other[i]) < 1e-12);
    }
}

static void clipped_sums_agree_with_clipping_one_by_one(void **state)
{
    const size_t groups[4] = {0, 3, 4, ROWS};
    size_t rows[ROWS + 1];
    fixture f;
    (void)state;
    open_fixture(&f, ASSAY_TANH);
    for (size_t i = 0; i <= ROWS; i++) {
        rows[i] = i;
    }
    check_clipped(&f, rows, ROWS);
    check_clipped(&f, groups, 3);
    close_fixture(&f);
}

static void batches_and_single_rows_agree(void **state)
{
    fixture f;
    const double *out;
    (void)state;
    open_fixture(&f, ASSAY_TANH);
    out = assay_network_forward(&f.net, &f.work, f.x, ROWS);
    for (size_t r = 0; r < ROWS; r++) {
        double one[3];
        assay_network_apply(&f.net, f.net.params, f.x + 5 * r, one);
        for (size_t i = 0; i < 3; i++) {
            assert_true(fabs(one[i] - out[3 * r + i]) < 1e-13);
        }
    }
    close_fixture(&f);
}

static void adam_and_sgd_go_down(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_adam adam;
    fixture f;
    double before;
    (void)state;
    open_fixture(&f, ASSAY_TANH);
    before = loss(&f, 0, ROWS);
    assert_int_equal(assay_adam_init(&adam, f.net.num_params, 1e-2, &err), 0);
    for (int i = 0; i < 300; i++) {
        backward(&f);
        assay_network_gradient(&f.net, &f.work, NULL, f.grad);
        assay_adam_step(&adam, f.net.params, f.grad);
    }
    assert_true(loss(&f, 0, ROWS) < 0.1 * before);
    before = loss(&f, 0, ROWS);
    for (int i = 0; i < 50; i++) {
        backward(&f);
        assay_network_gradient(&f.net, &f.work, NULL, f.grad);
        assay_gradient_limit(f.grad, f.net.num_params, 1.0);
        assay_sgd_step(f.net.params, f.grad, f.net.num_params, 1e-3);
    }
    assert_true(loss(&f, 0, ROWS) < before);
    assay_adam_clear(&adam);
    close_fixture(&f);
}

/* ---- checkpoints ---- */

static void temporary(char path[256])
{
    const char *dir = getenv("TMPDIR");
    int fd;
    (void)snprintf(path, 256, "%s/assay-net-XXXXXX",
                   dir == NULL ? "/tmp" : dir);
    fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
}

static void checkpoints_come_back_bit_for_bit(void **state)
{
    char path[256];
    assay_error err = ASSAY_ERROR_INIT;
    assay_network again;
    fixture f;
    (void)state;
    open_fixture(&f, ASSAY_RELU);
    temporary(path);
    assert_int_equal(assay_network_save(path, &f.net, &err), ASSAY_OK);
    assert_int_equal(assay_network_load(&again, path, &err), ASSAY_OK);
    assert_int_equal(again.num_params, f.net.num_params);
    assert_int_equal(again.activation, ASSAY_RELU);
    assert_memory_equal(again.params, f.net.params,
                        f.net.num_params * sizeof(double));
    assay_network_clear(&again);
    (void)remove(path);
    close_fixture(&f);
}

static void checkpoints_refuse_nan_changes_and_other_kinds(void **state)
{
    char path[256];
    assay_error err = ASSAY_ERROR_INIT;
    assay_network again;
    json_t *header = NULL;
    double *values = NULL;
    size_t num = 0;
    FILE *file;
    fixture f;
    (void)state;
    open_fixture(&f, ASSAY_RELU);
    temporary(path);
    assert_int_equal(assay_network_load(&again, path, &err), ASSAY_CORRUPT);
    f.net.params[3] = NAN;
    assert_int_equal(assay_network_save(path, &f.net, &err), ASSAY_INVALID);
    f.net.params[3] = INFINITY;
    assert_int_equal(assay_network_save(path, &f.net, &err), ASSAY_INVALID);
    f.net.params[3] = 0.25;
    assert_int_equal(assay_network_save(path, &f.net, &err), ASSAY_OK);
    assert_int_equal(
        assay_checkpoint_read(&header, &values, &num, path, "experts", &err),
        ASSAY_INVALID);
    file = fopen(path, "r+b");
    assert_non_null(file);
    (void)fseek(file, -40, SEEK_END);
    (void)fputc(7, file);
    (void)fclose(file);
    assert_int_equal(assay_network_load(&again, path, &err), ASSAY_CORRUPT);
    assert_int_equal(truncate(path, 60), 0);
    assert_int_equal(assay_network_load(&again, path, &err), ASSAY_CORRUPT);
    (void)remove(path);
    close_fixture(&f);
}

static void checkpoints_refuse_sizes_that_disagree(void **state)
{
    char path[256];
    assay_error err = ASSAY_ERROR_INIT;
    assay_network again;
    json_t *header;
    fixture f;
    (void)state;
    open_fixture(&f, ASSAY_RELU);
    temporary(path);
    header = json_pack("{s:o}", "shape", assay_checkpoint_shape(&f.net));
    assert_int_equal(assay_checkpoint_write(path, "network", header,
                                            f.net.params, f.net.num_params - 1,
                                            &err),
                     ASSAY_OK);
    json_decref(header);
    assert_int_equal(assay_network_load(&again, path, &err), ASSAY_INVALID);
    (void)remove(path);
    close_fixture(&f);
}

static void shapes_out_of_range_are_refused(void **state)
{
    const size_t none[2] = {0, 1};
    const size_t wide[2] = {ASSAY_NETWORK_MAX_WIDTH + 1, 1};
    assay_error err = ASSAY_ERROR_INIT;
    assay_network net;
    (void)state;
    assert_int_equal(assay_network_init(&net, none, 1, ASSAY_TANH, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_network_init(&net, wide, 1, ASSAY_TANH, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_network_init(&net, wide, 0, ASSAY_TANH, &err),
                     ASSAY_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree_with_finite_differences),
        cmocka_unit_test(one_rows_gradient_agrees_too),
        cmocka_unit_test(norms_of_rows_and_groups_need_no_gradients),
        cmocka_unit_test(clipped_sums_agree_with_clipping_one_by_one),
        cmocka_unit_test(batches_and_single_rows_agree),
        cmocka_unit_test(adam_and_sgd_go_down),
        cmocka_unit_test(checkpoints_come_back_bit_for_bit),
        cmocka_unit_test(checkpoints_refuse_nan_changes_and_other_kinds),
        cmocka_unit_test(checkpoints_refuse_sizes_that_disagree),
        cmocka_unit_test(shapes_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
