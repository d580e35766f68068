/* UCB-VI with the local privatizer by unary encoding: one user's episode goes
 * onto the board, the next user's policy comes out. S = 2, A = 2, H = 1. */
#include "proofs/flow/main.h"
/* the budget's relation is public: it is fixed when the ledger is made */
assay_budget param_budget;
#define assay_ledger_budget(ledger) (&param_budget)
#include FLOW_SOURCE
#include "algorithms/privatizer.c"
#include "algorithms/mdp.c"
#include "algorithms/envrand.c"
#define allocate online_allocate
#define check online_check
#include "algorithms/online.c"
#undef allocate
#undef check
#define allocate tree_allocate
#include "mechanisms/tree.c"
#undef allocate
#define allocate local_allocate
#include "mechanisms/local_report.c"
#undef allocate
#define charge unary_charge
#include "mechanisms/local_unary.c"
#undef charge
#include "core/bound.c"
#include "mechanisms/tree_nodes.c"

uint32_t public_actions[4];

void flow_main(void)
{
    assay_online_params params;
    assay_online *learner = NULL;
    assay_online_step steps[1];
    assay_shape shape = {2, 2, 1};
    assay_online_params_init(&params);
    params.episodes = 3;
    params.trust = ASSAY_TRUST_LOCAL;
    params.noise = ASSAY_NOISE_UNARY;
    public_status = assay_online_new(&learner, &shape, &params, &custodian,
                                     &public_error);
    if (public_status != ASSAY_OK) {
        return;
    }
    steps[0].s = (uint32_t)private_value & 1u;
    steps[0].a = (uint32_t)(private_value >> 1) & 1u;
    steps[0].s_next = (uint32_t)(private_value >> 2) & 1u;
    steps[0].cost = private_real;
    public_flag = assay_online_plan(learner);
    public_status = assay_board_add(&learner->board, steps, &public_error);
    if (public_status == ASSAY_OK) {
        mark_rows(learner, steps);
        public_flag = assay_online_plan(learner);
        public_actions[0] = learner->policy->action[0];
        public_actions[1] = learner->policy->action[1];
    }
    assay_online_free(learner);
}
