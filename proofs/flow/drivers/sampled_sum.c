/* Two steps of a sampled sum; what is summed depends on the secret sample. */
#include "proofs/flow/main.h"
#include FLOW_SOURCE

int param_poisson;
int param_coin;
int public_heads[2];

void flow_main(void)
{
    assay_sampled_sum *sum = NULL;
    assay_sampling_plan plan;
    uint64_t chosen[3];
    size_t num_chosen = 0;
    plan.poisson = param_poisson != 0;
    plan.rate_bits = 2;
    plan.population = 3;
    plan.num_steps = 2;
    plan.dimension = 2;
    plan.step_bits = 0;
    plan.sigma2 = param_a;
    plan.sensitivity2 = param_b;
    plan.coin = param_coin != 0 ? param_c : NULL;
    public_status =
        assay_sampled_sum_new(&sum, &custodian, &plan, "x", &public_error);
    for (int step = 0; public_status == ASSAY_OK && step < 2; step++) {
        int64_t in[2] = {0, 0};
        public_status =
            assay_sampled_sum_coin(sum, &public_heads[step], &public_error);
        if (public_status != ASSAY_OK || !public_heads[step]) {
            continue;
        }
        public_status =
            assay_sampled_sum_draw(sum, chosen, &num_chosen, &public_error);
        for (size_t k = 0; k < num_chosen && k < 3; k++) {
            in[0] += private_data[chosen[k] % 3];
            in[1] -= private_data[chosen[k] % 3];
        }
        if (public_status == ASSAY_OK) {
            public_status =
                assay_sampled_sum_release(sum, public_out, in, &public_error);
        }
    }
}
