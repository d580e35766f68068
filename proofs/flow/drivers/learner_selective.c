/* Selective DP-SGD, from the experts' gradients to the policy: two steps behind
 * a coin, two experts, two parameters. */
#include "proofs/flow/main.h"
/* the width of a lattice comes from public parameters */
/*@ assigns *exponent, \result \from x; */
double flow_frexp(double x, int *exponent);
#define frexp(x, e) flow_frexp(x, e)
/*@ assigns *out \from *a, *b; */
void mpz_fdiv_q(mpz_t out, const mpz_t a, const mpz_t b);
/*@ assigns \result \from *a; */
long mpz_get_si(const mpz_t a);
#include "algorithms/offline.h"

double private_gradient[2]; /* of either expert */
double private_work;
double public_params[2];
double param_stable;

/* values and gradients: any function of rows and parameters */
assay_status flow_learner(assay_offline *learner, assay_error *err)
{
    (void)err;
    memset(learner, 0, sizeof *learner);
    learner->policy.net.num_params = 2;
    learner->policy.net.params = public_params;
    learner->see.state_dim = 1;
    return ASSAY_OK;
}
void flow_backward(const size_t *rows, double weight)
{
    private_work = private_gradient[rows[0] & 1] * weight + public_params[0];
}
void flow_gradient(double *grad)
{
    grad[0] = private_work;
    grad[1] = public_params[1] - private_work;
}
void flow_follow(const double *grad)
{
    public_params[0] -= grad[0];
    public_params[1] -= grad[1];
}
#define assay_offline_options_init(o, kind, env) memset(o, 0, sizeof *(o))
#define assay_offline_init(l, env, o, rows, err) flow_learner(l, err)
#define assay_offline_clear(l) ((void)(l))
#define assay_offline_backward(l, data, rows, n, w) flow_backward(rows, w)
#define assay_network_rows_gradient(net, work, first, n, grad)                 \
    flow_gradient(grad)
#define assay_offline_follow(l, adam, grad) flow_follow(grad)
#define assay_offline_step(l, data, rows, n)                                   \
    (public_params[0] -= param_stable * (double)(rows)[0])
#define assay_transitions_key(data, first, num)                                \
    ((uint64_t)(private_gradient[(first) & 1] > 0.0))
#define assay_adam_init(adam, n, rate, err) ASSAY_OK
#define assay_adam_clear(adam) ((void)(adam))
#include FLOW_SOURCE
#include "algorithms/group_sum.c"
#include "algorithms/envrand.c"
#define charge sampled_charge
#include "mechanisms/sampled_sum.c"
#undef charge
#include "mechanisms/sampled_lattice.c"
#include "core/bound.c"

uint32_t param_expert[2];
assay_selective_report public_report;

void flow_main(void)
{
    assay_selective_params params;
    assay_transitions stable, pool;
    assay_q_policy policy;
    memset(&stable, 0, sizeof stable);
    memset(&pool, 0, sizeof pool);
    stable.num_rows = 2;
    stable.dim = 1;
    pool.num_rows = 2;
    pool.dim = 1;
    pool.expert = param_expert;
    assay_selective_params_init(&params, ASSAY_CQL, "x");
    params.num_steps = 2;
    params.rows_per_expert = 1;
    params.batch = 1;
    public_status = assay_selective_learn(&policy, &public_report, "x", &stable,
                                          &pool, 2, &params, &custodian,
                                          &public_error);
}
