/* ring: glue */
/* assay learn selective-dp-sgd, cql and bcq: from the data of experts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger.h"
#include "algorithms/data_release.h"
#include "algorithms/prefix_count.h"
#include "algorithms/rollout.h"
#include "algorithms/selective.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/learn_expert.h"
#include "core/rational.h"

static const char *const HELP =
    "usage: assay learn selective-dp-sgd --experts E.bin --data D --epsilon E\n"
    "         --delta D --ledger L.db -o POLICY.bin\n"
    "       assay learn cql|bcq --experts E.bin --data D -o POLICY.bin\n"
    "                                       the same without privacy\n"
    "\n"
    "A policy from the transitions of many experts; the unit of privacy is "
    "one\n"
    "expert, added or removed. Stage 1 releases prefixes of fresh "
    "trajectories\n"
    "that enough experts would have produced. Stage 2 learns: by a public "
    "coin\n"
    "a step uses these prefixes, or a noisy sum of clipped gradients of a\n"
    "random sample of experts, from --data. Stages 1 and 2 together are\n"
    "(epsilon, delta)-DP, over the generation of the trajectories.\n"
    "\n"
    "  --experts FILE    made by assay experts train\n"
    "  --data FILE       made by assay experts demonstrate (.csv or .bin)\n"
    "  --share X         of epsilon for stage 1 (default 3/4); 0: "
    "expert-level\n"
    "                    DP-SGD, no stage 1; 1: no stage 2, --data not needed\n"
    "  --draws T         trajectories that stage 1 tries (default 10)\n"
    "  --cap L           public length cap of stage 1 (default 200)\n"
    "  --threshold NAME  normalised (default), monotone or printed\n"
    "  --learner NAME    cql (default) or bcq\n"
    "  --coin P          probability of a private step (default 1/2; 1 if\n"
    "                    --share is 0)\n"
    "  --rate-bits K     an expert is in a sample with probability 2^-K (3)\n"
    "  --steps N         of stage 2 (default 600); the noise is the least "
    "that\n"
    "                    fits the budget\n"
    "  --sigma S         noise multiplier; then as many steps as fit\n"
    "  --clip C          norm of an expert's gradient (default 1)\n"
    "  --rows N          transitions of an expert in a step (default 8)\n"
    "  --batch N         of a plain step (default 64)\n"
    "  --hidden N        width of two hidden layers (default 32)\n"
    "  --rate X          Adam, plain steps (default 0.001)\n"
    "  --private-rate X  Adam, private steps (default 0.005)\n"
    "  --alpha X         weight of CQL's penalty (default 1)\n"
    "  --seed N          of the initial network and the choice of rows; "
    "public\n"
    "  --json\n"
    "\n"
    "examples:\n"
    "  assay experts train --env cartpole --count 3000 -o e.bin\n"
    "  assay experts demonstrate --experts e.bin -o d.bin\n"
    "  assay ledger create L.db --epsilon 10 --delta 1e-5 --planned \\\n"
    "    --unit expert\n"
    "  assay learn selective-dp-sgd --experts e.bin --data d.bin \\\n"
    "    --epsilon 10 --delta 1e-5 --ledger L.db -o policy.bin\n"
    "  assay experts evaluate --policy policy.bin\n";

typedef struct options {
    const char *experts, *data, *epsilon, *delta, *ledger, *out;
    const char *share, *threshold, *learner, *coin, *sigma, *clip;
    uint64_t draws, cap, rate_bits, steps, rows, batch, hidden, seed;
    double rate, private_rate, alpha;
    int json, is_private;
} options;

/* What a command works with. */
typedef struct session {
    const options *o;
    assay_selective_params p;
    assay_data_release_params dr;
    assay_data_release_report released;
    assay_experts *experts;
    assay_transitions pool, stable;
    assay_control env;
    mpq_t epsilon, delta, share;
    assay_custodian custodian;
    int open;
    assay_q_policy policy;
    assay_selective_report report;
} session;

int assay_cli_is_expert(const char *learner)
{
    return strcmp(learner, "selective-dp-sgd") == 0 ||
           strcmp(learner, "cql") == 0 || strcmp(learner, "bcq") == 0;
}

static assay_status parse(options *o, int argc, char **argv, assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"experts", ASSAY_FIELD_TEXT, &o->experts},
        {"data", ASSAY_FIELD_TEXT, &o->data},
        {"epsilon", ASSAY_FIELD_TEXT, &o->epsilon},
        {"delta", ASSAY_FIELD_TEXT, &o->delta},
        {"ledger", ASSAY_FIELD_TEXT, &o->ledger},
        {"share", ASSAY_FIELD_TEXT, &o->share},
        {"draws", ASSAY_FIELD_NUMBER, &o->draws},
        {"cap", ASSAY_FIELD_NUMBER, &o->cap},
        {"threshold", ASSAY_FIELD_TEXT, &o->threshold},
        {"learner", ASSAY_FIELD_TEXT, &o->learner},
        {"coin", ASSAY_FIELD_TEXT, &o->coin},
        {"rate-bits", ASSAY_FIELD_NUMBER, &o->rate_bits},
        {"steps", ASSAY_FIELD_NUMBER, &o->steps},
        {"sigma", ASSAY_FIELD_TEXT, &o->sigma},
        {"clip", ASSAY_FIELD_TEXT, &o->clip},
        {"rows", ASSAY_FIELD_NUMBER, &o->rows},
        {"batch", ASSAY_FIELD_NUMBER, &o->batch},
        {"hidden", ASSAY_FIELD_NUMBER, &o->hidden},
        {"rate", ASSAY_FIELD_REAL, &o->rate},
        {"private-rate", ASSAY_FIELD_REAL, &o->private_rate},
        {"alpha", ASSAY_FIELD_REAL, &o->alpha},
        {"seed", ASSAY_FIELD_NUMBER, &o->seed},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status = assay_fields_parse(table, argc, argv, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (o->experts == NULL || o->out == NULL ||
        (o->is_private &&
         (o->epsilon == NULL || o->delta == NULL || o->ledger == NULL))) {
        return assay_fail(err, ASSAY_INVALID,
                          o->is_private ? "needs --experts --epsilon --delta "
                                          "--ledger and -o; see --help"
                                        : "needs --experts --data and -o");
    }
    if (o->rate_bits > 63 || o->rows < 1 || o->rows > 4096 || o->batch < 1 ||
        o->batch > 4096 || o->hidden < 1 ||
        o->hidden > ASSAY_NETWORK_MAX_WIDTH || o->steps < 1) {
        return assay_fail(err, ASSAY_INVALID,
                          "--rows and --batch are 1 to 4096, --hidden 1 to "
                          "%d, --rate-bits at most 63, --steps at least 1",
                          ASSAY_NETWORK_MAX_WIDTH);
    }
    return ASSAY_OK;
}

static assay_status parse_numbers(session *s, assay_error *err)
{
    const options *o = s->o;
    struct {
        mpq_ptr to;
        const char *text, *name;
        int zero; /* may be 0 */
    } all[] = {
        {s->epsilon, o->epsilon, "--epsilon", 0},
        {s->delta, o->delta, "--delta", 0},
        {s->share, o->share, "--share", 1},
        {s->p.coin, o->coin, "--coin", 1},
        {s->p.clip, o->clip, "--clip", 0},
        {s->p.sigma2, o->sigma, "--sigma", 0},
    };
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (status == ASSAY_OK && all[i].text != NULL) {
            status = all[i].zero
                         ? assay_rational_parse(all[i].to, all[i].text,
                                                all[i].name, err)
                         : assay_rational_parse_positive(all[i].to, all[i].text,
                                                         all[i].name, err);
        }
    }
    mpq_mul(s->p.sigma2, s->p.sigma2, s->p.sigma2);
    if (status == ASSAY_OK &&
        (mpq_sgn(s->share) < 0 || mpq_cmp_ui(s->share, 1, 1) > 0 ||
         mpq_sgn(s->p.coin) < 0 || mpq_cmp_ui(s->p.coin, 1, 1) > 0)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--share and --coin are between 0 and 1");
    }
    return status;
}

static int uses_prefixes(const session *s)
{
    return mpq_sgn(s->share) > 0;
}

static int uses_pool(const session *s)
{
    return mpq_cmp_ui(s->share, 1, 1) != 0;
}

/* Everything that can be wrong without looking at the budget. */
static assay_status prepare(session *s, assay_error *err)
{
    static const char *const bars[] = {"printed", "monotone", "normalised",
                                       NULL};
    const options *o = s->o;
    int bar = ASSAY_BAR_NORMALISED;
    assay_status status = parse_numbers(s, err);
    if (status == ASSAY_OK) {
        status =
            assay_fields_word(&bar, o->threshold, "--threshold", bars, err);
    }
    s->dr.bar = (assay_stable_bar)bar;
    s->dr.num_draws = o->draws;
    s->dr.cap = o->cap;
    if (status == ASSAY_OK && uses_pool(s) && o->data == NULL) {
        status = assay_fail(err, ASSAY_INVALID,
                            "needs --data: transitions for stage 2");
    }
    if (status == ASSAY_OK && uses_pool(s)) {
        status = assay_transitions_load(
            &s->pool, o->data, assay_experts_dim(s->experts),
            assay_experts_num_actions(s->experts), err);
    }
    if (status == ASSAY_OK && uses_pool(s) && s->pool.num_rows == 0) {
        status =
            assay_fail(err, ASSAY_INVALID,
                       "%s has no transitions: the pool is empty", o->data);
    }
    if (status == ASSAY_OK) {
        status = assay_control_find(&s->env, s->experts->env, NULL, err);
    }
    return status;
}

/* epsilon times the share; delta times 9/10, or all of it without stage 2 */
static assay_status stage1(session *s, assay_error *err)
{
    mpq_t part;
    assay_status status;
    if (!uses_prefixes(s)) {
        return ASSAY_OK;
    }
    mpq_init(part);
    mpq_set_ui(part, uses_pool(s) ? 9 : 10, 10);
    mpq_canonicalize(part);
    mpq_mul(s->dr.epsilon, s->epsilon, s->share);
    mpq_mul(s->dr.delta, s->delta, part);
    mpq_clear(part);
    status = assay_data_release_play(&s->stable, &s->released, s->experts,
                                     &s->env, &s->dr, &s->custodian, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (s->stable.num_rows == 0 && !uses_pool(s)) {
        return assay_fail(err, ASSAY_BUDGET,
                          "no prefix was stable (threshold %.0f experts): "
                          "there is nothing to learn from; the ledger keeps "
                          "the charge. Fewer --draws or more experts lower "
                          "the threshold",
                          (double)s->released.threshold / ASSAY_PREFIX_UNIT);
    }
    return ASSAY_OK;
}

/* The noise or the steps of stage 2: from parameters alone, never from what
 * stage 1 gave, so that the charges are planned. */
static assay_status plan_stage2(session *s, assay_error *err)
{
    assay_event_list before;
    assay_event event;
    int planned = assay_ledger_budget(s->custodian.ledger)->planned;
    assay_status status = ASSAY_OK;
    if (!uses_pool(s)) {
        mpq_set_ui(s->p.coin, 0, 1);
        return ASSAY_OK;
    }
    if (!uses_prefixes(s)) {
        mpq_set_ui(s->p.coin, 1, 1);
    }
    assay_event_list_init(&before, ASSAY_ADD_REMOVE, "expert");
    if (uses_prefixes(s)) {
        assay_stable_event(&event, &s->released.plan);
        status = assay_event_list_add(&before, &event, err);
        assay_event_clear(&event);
    }
    if (status == ASSAY_OK && s->o->sigma != NULL) {
        status = assay_selective_most_steps(&s->p, &before, s->epsilon,
                                            s->delta, planned, err);
    } else if (status == ASSAY_OK && mpq_sgn(s->p.coin) > 0) {
        status = assay_selective_calibrate(&s->p, &before, s->epsilon, s->delta,
                                           planned, err);
    }
    assay_event_list_clear(&before);
    return status;
}

static assay_status learn_privately(session *s, assay_error *err)
{
    assay_status status = prepare(s, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_init(&s->custodian, s->o->ledger, err);
        s->open = status == ASSAY_OK;
    }
    if (status == ASSAY_OK && assay_custodian_replaces(&s->custodian)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "the ledger must count added or removed experts: "
                            "assay ledger create ... --neighbours add-remove");
    }
    if (status == ASSAY_OK) {
        status = stage1(s, err);
    }
    if (status == ASSAY_OK) {
        status = plan_stage2(s, err);
    }
    if (status == ASSAY_OK) {
        status = assay_selective_learn(
            &s->policy, &s->report, s->experts->env, &s->stable,
            uses_pool(s) ? &s->pool : NULL, assay_experts_count(s->experts),
            &s->p, &s->custodian, err);
    }
    return status;
}

/* All transitions, no noise: the upper bound that private learners face. */
static assay_status learn_openly(session *s, assay_error *err)
{
    assay_offline learner;
    assay_status status;
    if (s->o->data == NULL) {
        return assay_fail(err, ASSAY_INVALID, "needs --data; see --help");
    }
    status = assay_transitions_load(&s->pool, s->o->data,
                                    assay_experts_dim(s->experts),
                                    assay_experts_num_actions(s->experts), err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_offline_init(&learner, s->experts->env, &s->p.offline,
                                s->p.batch, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status =
        assay_offline_fit(&learner, &s->pool, s->p.num_steps, s->p.batch, err);
    if (status == ASSAY_OK) {
        s->policy = learner.policy;
        memset(&learner.policy, 0, sizeof learner.policy);
    }
    assay_offline_clear(&learner);
    return status;
}

static json_t *stage_two(const session *s)
{
    char *coin = assay_rational_text(s->p.coin);
    char *sigma2 = assay_rational_text(s->p.sigma2);
    json_t *json = json_pack(
        "{s:I, s:s, s:s, s:f, s:I, s:I, s:I, s:I}", "steps",
        (json_int_t)s->p.num_steps, "coin", coin, "sigma2", sigma2, "sigma",
        sqrt(mpq_get_d(s->p.sigma2)), "rate_bits", (json_int_t)s->p.rate_bits,
        "private_steps", (json_int_t)s->report.private_steps, "plain_steps",
        (json_int_t)s->report.plain_steps, "dimension",
        (json_int_t)s->report.dimension);
    free(coin);
    free(sigma2);
    return json;
}

static json_t *stage_one(const session *s)
{
    char *step = assay_rational_text(s->released.plan.epsilon);
    char *slack = assay_rational_text(s->released.plan.delta);
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:f, s:s, s:s}", "draws",
                  (json_int_t)s->released.plan.num_draws, "prefixes",
                  (json_int_t)s->released.num_prefixes, "transitions",
                  (json_int_t)s->stable.num_rows, "threshold_experts",
                  (double)s->released.threshold / ASSAY_PREFIX_UNIT,
                  "epsilon_per_sparse_vector", step, "delta_per_draw", slack);
    free(step);
    free(slack);
    return json;
}

/* What was charged, in words; epsilons are the accountant's business. */
static json_t *describe(const session *s)
{
    json_t *json;
    if (!s->o->is_private) {
        return json_pack("{s:s}", "notion", "none: this policy is not private");
    }
    json = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "notion", "approximate DP",
        "epsilon", s->o->epsilon, "delta", s->o->delta, "unit", "one expert",
        "neighbours", "add-remove", "trust", "central", "over",
        "generation of the trajectories, given the experts; the environment "
        "is public");
    if (uses_prefixes(s)) {
        (void)json_object_set_new(json, "stage1", stage_one(s));
    }
    if (mpq_sgn(s->p.coin) > 0) {
        (void)json_object_set_new(json, "stage2", stage_two(s));
    }
    return json;
}

static void show(const session *s, json_t *guarantee)
{
    char *text;
    if (s->o->json) {
        text = json_dumps(guarantee, JSON_COMPACT);
        (void)printf("%s\n", text == NULL ? "{}" : text);
        free(text);
        return;
    }
    if (!s->o->is_private) {
        (void)printf("%s: not private\n", s->o->out);
        return;
    }
    (void)printf("%s: epsilon = %s, delta = %s, one expert added or removed\n",
                 s->o->out, s->o->epsilon, s->o->delta);
    if (uses_prefixes(s)) {
        (void)printf("stage 1: %zu prefixes, %zu transitions; threshold %.0f "
                     "experts\n",
                     s->released.num_prefixes, s->stable.num_rows,
                     (double)s->released.threshold / ASSAY_PREFIX_UNIT);
    }
    (void)printf("stage 2: %" PRIu64 " private steps (noise multiplier %.4g), "
                 "%" PRIu64 " plain steps\n",
                 s->report.private_steps, sqrt(mpq_get_d(s->p.sigma2)),
                 s->report.plain_steps);
}

static void set_params(session *s)
{
    const options *o = s->o;
    s->p.offline.hidden[0] = o->hidden;
    s->p.offline.hidden[1] = o->hidden;
    s->p.offline.rate = o->rate;
    s->p.offline.alpha = o->alpha;
    s->p.offline.seed = o->seed;
    s->p.rate_bits = (unsigned)o->rate_bits;
    s->p.num_steps = o->steps;
    s->p.rows_per_expert = o->rows;
    s->p.batch = o->batch;
    s->p.private_rate = o->private_rate;
}

static assay_status open_session(session *s, const options *o, assay_error *err)
{
    static const char *const kinds[] = {"cql", "bcq", NULL};
    int kind = 0;
    assay_status status;
    memset(s, 0, sizeof *s);
    s->o = o;
    mpq_inits(s->epsilon, s->delta, s->share, NULL);
    assay_data_release_params_init(&s->dr);
    assay_data_release_report_init(&s->released);
    assay_transitions_init(&s->pool, 1, 1);
    assay_transitions_init(&s->stable, 1, 1);
    status = assay_fields_word(&kind, o->learner, "--learner", kinds, err);
    if (status == ASSAY_OK) {
        status = assay_experts_load(&s->experts, o->experts, err);
    }
    assay_selective_params_init(&s->p, (assay_offline_kind)kind,
                                status == ASSAY_OK ? s->experts->env : "");
    set_params(s);
    return status;
}

static void close_session(session *s)
{
    if (s->open) {
        assay_custodian_clear(&s->custodian);
    }
    assay_q_policy_clear(&s->policy);
    assay_transitions_clear(&s->pool);
    assay_transitions_clear(&s->stable);
    assay_control_clear(&s->env);
    assay_experts_free(s->experts);
    assay_data_release_report_clear(&s->released);
    assay_data_release_params_clear(&s->dr);
    assay_selective_params_clear(&s->p);
    mpq_clears(s->epsilon, s->delta, s->share, NULL);
}

static assay_status learn(const options *o, assay_error *err)
{
    session s;
    json_t *guarantee;
    assay_status status = open_session(&s, o, err);
    if (status == ASSAY_OK) {
        status =
            o->is_private ? learn_privately(&s, err) : learn_openly(&s, err);
    }
    if (status == ASSAY_OK) {
        guarantee = describe(&s);
        status = assay_q_policy_save(o->out, &s.policy, guarantee, err);
        if (status == ASSAY_OK) {
            show(&s, guarantee);
        }
        json_decref(guarantee);
    }
    close_session(&s);
    return status;
}

int assay_cli_learn_expert(int argc, char **argv)
{
    options o = {.share = "3/4",
                 .threshold = "normalised",
                 .learner = "cql",
                 .coin = "1/2",
                 .clip = "1",
                 .draws = 10,
                 .cap = 200,
                 .rate_bits = 3,
                 .steps = 600,
                 .rows = 8,
                 .batch = 64,
                 .hidden = 32,
                 .rate = 1e-3,
                 .private_rate = 5e-3,
                 .alpha = 1.0,
                 .seed = 1};
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    o.is_private = strcmp(argv[0], "selective-dp-sgd") == 0;
    if (!o.is_private) {
        o.learner = argv[0];
        o.steps = 4000;
    }
    status = parse(&o, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = learn(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("learn", &err);
}
