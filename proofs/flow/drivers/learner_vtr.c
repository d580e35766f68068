/* LDP-UCRL-VTR with one-hot counts and with the printed statistics: the user's
 * episode becomes a report, the server's model comes from the report alone.
 * S = 2, A = 1, H = 2. */
#include "proofs/flow/main.h"
/* mpz arithmetic of the sensitivity: parameters only */
#define mpz_init_set_ui(z, v) mpz_set_ui(z, v)
/*@ assigns *out \from a, b; */
void mpz_ui_pow_ui(mpz_t out, unsigned long a, unsigned long b);
/*@ assigns *out \from *a, *b; */
void mpz_add(mpz_t out, const mpz_t a, const mpz_t b);
/*@ assigns *out \from *a, b; */
void mpz_add_ui(mpz_t out, const mpz_t a, unsigned long b);
/*@ assigns *out \from *a, b; */
void mpz_mul_2exp(mpz_t out, const mpz_t a, unsigned long b);
/*@ assigns *out \from *a, b; */
void mpz_cdiv_q_ui(mpz_t out, const mpz_t a, unsigned long b);
/*@ assigns *out \from *a; */
void mpz_sqrt(mpz_t out, const mpz_t a);
#include FLOW_SOURCE
#include "algorithms/mdp.c"
#include "algorithms/envrand.c"
#define allocate server_allocate
#include "algorithms/vtr_server.c"
#undef allocate
#include "algorithms/vtr_user.c"

double param_rewards[4];
double public_theta[2];
int param_printed;

void flow_main(void)
{
    assay_vtr_params params;
    assay_vtr_user *user = NULL;
    assay_vtr_server *server = NULL;
    assay_local_reporter *reporter = NULL;
    assay_online_step steps[2];
    assay_shape shape = {2, 1, 2};
    int64_t mine[16];
    int64_t report[16];
    assay_vtr_params_init(&params);
    params.noise = ASSAY_NOISE_GAUSSIAN;
    params.statistics = param_printed ? ASSAY_VTR_PRINTED : ASSAY_VTR_COUNTS;
    public_status = assay_vtr_user_new(&user, &shape, &params, &public_error);
    if (public_status == ASSAY_OK) {
        public_status =
            assay_vtr_server_new(&server, &shape, &params, &public_error);
    }
    if (public_status == ASSAY_OK) {
        public_status = assay_local_reporter_new_gaussian(
            &reporter, &custodian, 16, 2, param_a, param_b, "x",
            &public_error);
    }
    if (public_status != ASSAY_OK) {
        return;
    }
    assay_vtr_user_plan(user, assay_vtr_server_model(server), param_rewards);
    steps[0].s = (uint32_t)private_value & 1u;
    steps[0].a = 0;
    steps[0].s_next = (uint32_t)(private_value >> 1) & 1u;
    assay_vtr_user_statistics(mine, user, steps);
    public_status = assay_local_report(reporter, report, mine, &public_error);
    if (public_status == ASSAY_OK) {
        assay_vtr_server_add(server, report);
        public_theta[0] = assay_vtr_server_model(server)->theta[0];
        public_theta[1] = server->model.theta[1];
    }
}
