/* ring: glue */
/* Experts, their files and training; transitions; offline learners. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/checkpoint.h"
#include "algorithms/offline.h"
#include "algorithms/ppo.h"
#include "algorithms/rollout.h"
#include "tests/support/support.h"

static void temporary(char path[256], const char *suffix)
{
    const char *dir = getenv("TMPDIR");
    int fd;
    (void)snprintf(path, 256, "%s/assay-exp-XXXXXX%s",
                   dir == NULL ? "/tmp" : dir, suffix);
    fd = mkstemps(path, (int)strlen(suffix));
    assert_true(fd >= 0);
    (void)close(fd);
}

static assay_experts *scripted(const char *env, size_t count, double p_min)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_experts *e = NULL;
    if (assay_experts_scripted(&e, env, count, p_min, 0.3, 3, &err) !=
        ASSAY_OK) {
        fail_msg("%s", err.message);
    }
    return e;
}

static void probabilities_are_softened(void **state)
{
    const double scores[3] = {800.0, -900.0, 1.0};
    double p[3];
    double sum = 0.0;
    (void)state;
    for (int soft = 0; soft < 2; soft++) {
        assay_soften(p, scores, 3, (assay_softening)soft, 0.02);
        assert_true(fabs(p[0] - 0.96) < 1e-15 && fabs(p[1] - 0.02) < 1e-15);
    }
    for (int a = 0; a < 3; a++) {
        sum += p[a];
    }
    assert_true(fabs(sum - 1.0) < 1e-15);
}

static void experts_come_back_from_their_file(void **state)
{
    char path[256];
    const double s[4] = {0.01, 0.2, -0.03, 0.1};
    double before[3], after[3];
    assay_error err = ASSAY_ERROR_INIT;
    assay_experts *e = scripted("acrobot", 5, 0.05);
    assay_experts *again = NULL;
    (void)state;
    temporary(path, ".bin");
    assert_int_equal(assay_experts_save(path, e, &err), ASSAY_OK);
    assert_int_equal(assay_experts_load(&again, path, &err), ASSAY_OK);
    assert_int_equal(assay_experts_count(again), 5);
    assert_int_equal(assay_experts_dim(again), 4);
    assert_int_equal(assay_experts_num_actions(again), 3);
    assert_string_equal(assay_experts_variant(again, 4), "rule");
    for (size_t i = 0; i < 5; i++) {
        assay_experts_probs(e, i, s, before);
        assay_experts_probs(again, i, s, after);
        assert_memory_equal(before, after, sizeof before);
    }
    assay_experts_free(e);
    assay_experts_free(again);
    (void)remove(path);
}

static void refuse(const char *path, assay_status want, const char *words)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_experts *e = NULL;
    assay_status status = assay_experts_load(&e, path, &err);
    if (status != want || strstr(err.message, words) == NULL) {
        fail_msg("status %d, message '%s', expected '%s'", status, err.message,
                 words);
    }
    assert_null(e);
}

/* A file with a correct digest but one value or header field changed. */
static void write_bad(const char *path, const assay_experts *e,
                      const char *field, json_t *value, size_t num)
{
    assay_error err = ASSAY_ERROR_INIT;
    json_t *header =
        json_pack("{s:s, s:i, s:f, s:s, s:o, s:[s]}", "environment", "cartpole",
                  "count", 1, "p_min", 0.02, "softening", "greedy", "shape",
                  assay_checkpoint_shape(&e->shape), "variants", "rule");
    (void)json_object_set_new(header, field, value);
    assert_int_equal(assay_checkpoint_write(path, "experts", header,
                                            e->shape.params, num, &err),
                     ASSAY_OK);
    json_decref(header);
}

static void bad_experts_files_are_refused(void **state)
{
    char path[256];
    FILE *file;
    assay_error err = ASSAY_ERROR_INIT;
    assay_experts *e = scripted("cartpole", 1, 0.02);
    size_t n = e->shape.num_params;
    (void)state;
    temporary(path, ".bin");
    refuse("/nonexistent/experts.bin", ASSAY_IO, "");
    refuse(path, ASSAY_CORRUPT, "not an Assay checkpoint");
    write_bad(path, e, "count", json_integer(2), n);
    refuse(path, ASSAY_INVALID, "parameters");
    write_bad(path, e, "count", json_integer(0), n);
    refuse(path, ASSAY_INVALID, "1 to");
    write_bad(path, e, "environment", json_string("acrobot"), n);
    refuse(path, ASSAY_INVALID, "do not fit");
    write_bad(path, e, "p_min", json_real(0.7), n);
    refuse(path, ASSAY_INVALID, "p_min");
    write_bad(path, e, "softening", json_string("hard"), n);
    refuse(path, ASSAY_INVALID, "softening");
    write_bad(path, e, "variants", json_array(), n);
    refuse(path, ASSAY_INVALID, "variant");
    e->shape.params[0] = NAN;
    assert_int_equal(assay_experts_save(path, e, &err), ASSAY_INVALID);
    e->shape.params[0] = 1.0;
    assert_int_equal(assay_experts_save(path, e, &err), ASSAY_OK);
    file = fopen(path, "r+b");
    assert_non_null(file);
    (void)fseek(file, -50, SEEK_END);
    (void)fputc('x', file);
    (void)fclose(file);
    refuse(path, ASSAY_CORRUPT, "changed");
    assay_experts_free(e);
    (void)remove(path);
}

static void transitions_come_back_bit_for_bit(void **state)
{
    static const char *const suffix[2] = {".csv", ".bin"};
    assay_error err = ASSAY_ERROR_INIT;
    assay_control env;
    assay_transitions rows, again;
    assay_experts *e = scripted("acrobot", 3, 0.05);
    (void)state;
    assert_int_equal(assay_control_find(&env, "acrobot", NULL, &err), 0);
    assert_int_equal(assay_rollout_all(&rows, e, &env, 2, 50, 1, &err), 0);
    for (int i = 0; i < 2; i++) {
        char path[256];
        temporary(path, suffix[i]);
        assert_int_equal(assay_transitions_save(path, &rows, &err), 0);
        assert_int_equal(assay_transitions_load(&again, path, 4, 3, &err), 0);
        assert_int_equal(again.num_rows, rows.num_rows);
        assert_memory_equal(again.states, rows.states,
                            rows.num_rows * 4 * sizeof(double));
        assert_memory_equal(again.next_states, rows.next_states,
                            rows.num_rows * 4 * sizeof(double));
        assert_memory_equal(again.actions, rows.actions,
                            rows.num_rows * sizeof(int32_t));
        assert_memory_equal(again.expert, rows.expert,
                            rows.num_rows * sizeof(uint32_t));
        assert_memory_equal(again.done, rows.done, rows.num_rows);
        assay_transitions_clear(&again);
        assert_int_equal(assay_transitions_load(&again, path, 6, 4, &err),
                         ASSAY_INVALID);
        (void)remove(path);
    }
    assay_transitions_clear(&rows);
    assay_experts_free(e);
}

static void bad_transitions_are_refused(void **state)
{
    static const char *const lines[] = {
        "0,0,0,1,2,1,0.5,3,4,0", /* action out of range */
        "0,0,0,nan,2,0,0.5,3,4,0", "0,0,0,1,2,0,inf,3,4,0",
        "0,0,0,1,2,0,0.5,3,4,2",   "-1,0,0,1,2,0,0.5,3,4,0",
        "0,0,0.5,1,2,0,0.5,3,4,0",
    };
    char path[256];
    assay_error err = ASSAY_ERROR_INIT;
    assay_transitions rows;
    (void)state;
    temporary(path, ".csv");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        (void)fprintf(f, "expert,trajectory,t,s0,s1,a,r,n0,n1,done\n%s\n",
                      lines[i]);
        (void)fclose(f);
        if (assay_transitions_load(&rows, path, 2, 1, &err) != ASSAY_INVALID) {
            fail_msg("accepted: %s", lines[i]);
        }
    }
    (void)remove(path);
}

static void training_does_not_depend_on_threads(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_experts *e[2] = {NULL, NULL};
    assay_training t;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assay_training_init(&t, "cartpole");
        t.count = 6;
        t.hidden = 16;
        t.num_bases = 2;
        t.base_iterations = 3;
        t.own_iterations = 1;
        t.threads = i + 1;
        assert_int_equal(assay_training_run(&e[i], &t, &err), ASSAY_OK);
    }
    assert_memory_equal(e[0]->shape.params, e[1]->shape.params,
                        6 * e[0]->shape.num_params * sizeof(double));
    assert_string_not_equal(e[0]->variants[0], e[0]->variants[1]);
    assay_experts_free(e[0]);
    assay_experts_free(e[1]);
}

/* Greedy return of a policy network. */
static int act_greedily(const void *policy, const double *seen)
{
    const assay_network *net = policy;
    double x[ASSAY_EXPERTS_MAX_ACTIONS];
    int best = 0;
    assay_network_apply(net, net->params, seen, x);
    for (int a = 1; a < (int)net->widths[net->num_layers]; a++) {
        best = x[a] > x[best] ? a : best;
    }
    return best;
}

static void ppo_solves_cartpole(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_control env;
    assay_experts *e = NULL;
    assay_training t;
    double mean;
    (void)state;
    assay_training_init(&t, "cartpole");
    t.count = 1;
    t.num_bases = 1;
    t.base_iterations = 25;
    t.own_iterations = 0;
    assert_int_equal(assay_control_find(&env, "cartpole", NULL, &err), 0);
    assert_int_equal(assay_training_run(&e, &t, &err), ASSAY_OK);
    mean = assay_rollout_evaluate(NULL, &env, &e->see, act_greedily, &e->shape,
                                  20, 500, 1);
    if (mean < 450.0) {
        fail_msg("mean return %.1f", mean);
    }
    assay_experts_free(e);
}

/* Two thirds of the rows from rules that explore, one third random. */
static void mixed_data(assay_transitions *rows, const assay_control *env)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_transitions bad;
    assay_experts *good = scripted("cartpole", 40, 0.1);
    assay_experts *blind = scripted("cartpole", 40, 0.5);
    assert_int_equal(assay_rollout_all(rows, good, env, 1, 500, 1, &err), 0);
    assert_int_equal(assay_rollout_all(&bad, blind, env, 9, 500, 2, &err), 0);
    assert_int_equal(assay_transitions_join(rows, &bad, &err), 0);
    assay_transitions_clear(&bad);
    assay_experts_free(good);
    assay_experts_free(blind);
}

static void cql_and_bcq_solve_cartpole_from_mixed_data(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_control env;
    assay_transitions rows;
    (void)state;
    assert_int_equal(assay_control_find(&env, "cartpole", NULL, &err), 0);
    mixed_data(&rows, &env);
    for (int kind = 0; kind < 2; kind++) {
        assay_offline learner;
        assay_offline_options o;
        double mean;
        assay_offline_options_init(&o, (assay_offline_kind)kind, "cartpole");
        assert_int_equal(
            assay_offline_init(&learner, "cartpole", &o, 128, &err), 0);
        assert_int_equal(assay_offline_fit(&learner, &rows, 3000, 128, &err),
                         0);
        mean =
            assay_rollout_evaluate(NULL, &env, &learner.see, assay_q_policy_act,
                                   &learner.policy, 100, 500, 7);
        (void)printf("%s: mean return %.1f of 500\n", kind ? "bcq" : "cql",
                     mean);
        if (mean < 450.0) {
            fail_msg("%s: mean return %.1f", kind ? "bcq" : "cql", mean);
        }
        assay_offline_clear(&learner);
    }
    assay_transitions_clear(&rows);
}

static void policies_come_back_from_their_file(void **state)
{
    char path[256];
    assay_error err = ASSAY_ERROR_INIT;
    assay_offline learner;
    assay_offline_options o;
    assay_q_policy again;
    json_t *guarantee = NULL;
    (void)state;
    temporary(path, ".bin");
    assay_offline_options_init(&o, ASSAY_BCQ, "acrobot");
    assert_int_equal(assay_offline_init(&learner, "acrobot", &o, 8, &err), 0);
    assert_int_equal(assay_q_policy_save(path, &learner.policy, NULL, &err), 0);
    assert_int_equal(assay_q_policy_load(&again, &guarantee, path, &err), 0);
    assert_null(guarantee);
    assert_string_equal(again.env, "acrobot");
    assert_int_equal(again.kind, ASSAY_BCQ);
    assert_memory_equal(again.net.params, learner.policy.net.params,
                        again.net.num_params * sizeof(double));
    assay_q_policy_clear(&again);
    assay_offline_clear(&learner);
    (void)remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_are_softened),
        cmocka_unit_test(experts_come_back_from_their_file),
        cmocka_unit_test(bad_experts_files_are_refused),
        cmocka_unit_test(transitions_come_back_bit_for_bit),
        cmocka_unit_test(bad_transitions_are_refused),
        cmocka_unit_test(training_does_not_depend_on_threads),
        cmocka_unit_test(ppo_solves_cartpole),
        cmocka_unit_test(cql_and_bcq_solve_cartpole_from_mixed_data),
        cmocka_unit_test(policies_come_back_from_their_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
