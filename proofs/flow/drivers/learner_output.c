/* DP-LSW and DP-LSL: from episodes to weights, d = 2, two episodes of a step.
 * The release is a stub (its guarantee is assumed, not proved): what is checked
 * is that nothing goes around it. The scale, which follows the data, is given
 * to the mechanism and to the caller of a simulation, not to the public. */
#include "proofs/flow/main.h"
/*@ assigns *exponent, \result \from x; */
double flow_frexp(double x, int *exponent);
#define frexp(x, e) flow_frexp(x, e)
/*@ assigns \result \from x; */
long long flow_llrint(double x);
#define llrint(x) flow_llrint(x)
#include "mechanisms/smooth.h"
/*@ assigns out[0 .. n - 1], flow_tape, flow_ledger, *err, \result
      \from flow_tape, flow_ledger, n, *epsilon, *delta; */
assay_status flow_smooth(int64_t *out, size_t n, const mpq_t epsilon,
                         const mpq_t delta, assay_error *err);
#define assay_release_smooth_gaussian(c, out, in, n, bits, e, eps, delta, l,   \
                                      err)                                     \
    flow_smooth(out, n, eps, delta, err)
#include "algorithms/privatizer.h"
#define assay_privatizer_check(c, err) ASSAY_OK
#include FLOW_SOURCE

double private_reward[2];
uint32_t private_at[2];
double private_scale;
double public_theta[2];
int param_kind;

void flow_main(void)
{
    assay_output_params params;
    assay_episodes episodes;
    size_t start[3] = {0, 1, 2};
    memset(&episodes, 0, sizeof episodes);
    memset(&params, 0, sizeof params);
    private_at[0] &= 1;
    private_at[1] &= 1;
    episodes.dim = 2;
    episodes.num_vectors = 2;
    episodes.num_episodes = 2;
    episodes.num_steps = 2;
    episodes.start = start;
    episodes.at = private_at;
    episodes.reward = private_reward;
    params.kind = param_kind != 0 ? ASSAY_LSW : ASSAY_LSL;
    params.gamma = 0.9;
    params.max_reward = 1.0;
    params.lambda = 100.0;
    mpq_init(params.epsilon);
    mpq_init(params.delta);
    public_status = assay_output_evaluate(public_theta, &private_scale,
                                          &episodes, &params, &custodian,
                                          &public_error);
}
