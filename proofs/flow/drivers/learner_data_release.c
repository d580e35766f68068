/* Two draws of a release of prefixes, two experts, two actions. The trajectory
 * is a draw of data generation (from the tape, by the theorem stable-prefix);
 * who was drawn and what the experts' policies are is private. Their number is
 * fixed here. */
#include "proofs/flow/main.h"
#define ASSAY_MECHANISMS_STABLE_PREFIX_H
#include "accountant/stable.h"
typedef struct assay_stable_prefix assay_stable_prefix;
uint64_t private_who;
/*@ assigns flow_ledger, *err, \result \from flow_ledger, *plan; */
assay_status flow_stable_new(const assay_stable_plan *plan, assay_error *err);
#define assay_stable_prefix_new(out, c, plan, label, err)                      \
    flow_stable_new(plan, err)
/*@ assigns *index \from private_who;
    assigns flow_tape, *err, \result \from flow_tape; */
assay_status flow_stable_draw(uint64_t *index, assay_error *err);
#define assay_stable_prefix_draw(s, index, n, err) flow_stable_draw(index, err)
/*@ assigns *yes, flow_tape, *err, \result \from flow_tape; */
assay_status flow_stable_ask(int *yes, assay_error *err);
/* the query is evaluated, its value meets noise */
#define assay_stable_prefix_ask(s, yes, query, err)                            \
    ((void)(query), flow_stable_ask(yes, err))
#define assay_stable_prefix_free(s) ((void)(s))
#define assay_stable_plan_init(p) ((void)(p))
#define assay_stable_plan_clear(p) ((void)(p))
/*@ assigns *plan, *err, \result \from *plan, *epsilon, *delta; */
assay_status flow_calibrate(assay_stable_plan *plan, const mpq_t epsilon,
                            const mpq_t delta, assay_error *err);
#define assay_stable_calibrate(plan, e, d, err) flow_calibrate(plan, e, d, err)
/*@ assigns *out, *err, \result \from *plan; */
assay_status flow_threshold(int64_t *out, const assay_stable_plan *plan,
                            assay_error *err);
#define assay_stable_threshold(out, plan, err) flow_threshold(out, plan, err)
/*@ assigns *q \from *q; */
void mpq_canonicalize(mpq_t q);
/*@ assigns *q \from a, b; */
void flow_set_si(mpq_t q, long a, unsigned long b);
#define mpq_set_si(q, a, b) flow_set_si(q, a, b)

#include "algorithms/data_source.h"
#define assay_experts_count(e) ((size_t)2)
#define assay_experts_dim(e) ((size_t)1)
#define assay_experts_num_actions(e) 2
#define assay_experts_p_min(e) 0.1
#define assay_policy_least(p) ((int64_t)107374182)
#define assay_data_source_play(s, e, v, t, l, err) ASSAY_OK
#define assay_data_source_logged(s, e, p, n, err) ASSAY_OK
#define assay_data_source_clear(s) ((void)(s))
/*@ assigns \result, flow_tape \from flow_tape; */
assay_status flow_begin(void);
#define assay_data_source_begin(s, who, err) ((void)(who), flow_begin())
/*@ assigns *action, *reward, *done, *more, *state, *next, flow_tape, \result
      \from flow_tape;
    ensures 0 <= *action <= 1; */
assay_status flow_next(int *action, double *reward, int *done, int *more,
                       double *state, double *next);
double flow_state, flow_next_state;
static assay_status flow_row(assay_transition *row, int *more)
{
    row->state = &flow_state;
    row->next_state = &flow_next_state;
    return flow_next(&row->action, &row->reward, &row->done, more, &flow_state,
                     &flow_next_state);
}
#define assay_data_source_next(s, row, more, err) flow_row(row, more)
static void flow_weights(int64_t *weight, size_t i)
{
    weight[0] = private_data[i & 1];
    weight[1] = 1073741824 - private_data[i & 1];
}
#define assay_policy_weights(w, e, i, state, least) flow_weights(w, i)

size_t public_rows;
double public_row[4];
uint32_t public_name[3];
static assay_status flow_add(const assay_transition *row)
{
    public_rows++;
    public_row[0] = *row->state;
    public_row[1] = row->reward;
    public_row[2] = *row->next_state;
    public_row[3] = row->action + 2 * row->done;
    public_name[0] = row->expert;
    public_name[1] = row->trajectory;
    public_name[2] = row->t;
    return ASSAY_OK;
}
#define assay_transitions_add(out, row, err) flow_add(row)
#define assay_transitions_init(out, dim, n) ((out)->num_rows = 0)
#define assay_transitions_clear(out) ((void)(out))
#include FLOW_SOURCE
#include "algorithms/prefix_count.c"
#include "core/bound.c"

assay_data_release_report public_report;

void flow_main(void)
{
    assay_experts experts;
    assay_control env;
    assay_transitions out;
    assay_data_release_params params;
    memset(&params, 0, sizeof params);
    params.num_draws = 2;
    params.cap = 2;
    public_status =
        assay_data_release_play(&out, &public_report, &experts, &env, &params,
                                &custodian, &public_error);
}
