/* DP-APVI from counts to policy: S = 2, A = 2, H = 1. */
#include "proofs/flow/main.h"
/* the budget's relation is public: it is fixed when the ledger is made */
assay_budget param_budget;
#define assay_ledger_budget(ledger) (&param_budget)
#include FLOW_SOURCE
#include "mechanisms/release.c"
#include "algorithms/privatizer.c"
#include "algorithms/dp_apvi_plan.c"
#include "algorithms/consistency.c"
#include "algorithms/counts.c"
#include "algorithms/mdp.c"

int64_t private_cells[12];
double param_rewards[4];
uint32_t public_actions[2];

void flow_main(void)
{
    assay_dp_apvi_params params;
    assay_policy *policy = NULL;
    assay_counts counts;
    counts.shape.num_states = 2;
    counts.shape.num_actions = 2;
    counts.shape.horizon = 1;
    counts.num_users = 100;
    counts.num_pairs = 4;
    counts.num_triples = 8;
    counts.cell = private_cells;
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PRACTICAL);
    public_status = assay_dp_apvi_learn(&policy, &counts, param_rewards,
                                        &params, &custodian, &public_error);
    if (public_status == ASSAY_OK) {
        public_actions[0] = policy->action[0];
        public_actions[1] = policy->action[1];
    }
}
