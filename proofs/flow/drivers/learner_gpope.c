/* GPOPE with Poisson samples and with one episode a step, from episodes to
 * weights: two steps, d = 1. */
#include "proofs/flow/main.h"
/* the width of a lattice comes from public parameters */
/*@ assigns *exponent, \result \from x; */
double flow_frexp(double x, int *exponent);
#define frexp(x, e) flow_frexp(x, e)
/*@ assigns \result \from x; */
long long flow_llrint(double x);
#define llrint(x) flow_llrint(x)
/*@ assigns *out \from *a, *b; */
void mpz_fdiv_q(mpz_t out, const mpz_t a, const mpz_t b);
/*@ assigns \result \from *a; */
long mpz_get_si(const mpz_t a);
/*@ assigns *q \from *q; */
void mpq_canonicalize(mpq_t q);
#include "accountant/guarantee.h"
/* calibration is not run here */
#define assay_event_list_init(l, n, u) ((void)(l))
#define assay_event_list_clear(l) ((void)(l))
#define assay_event_list_add(l, e, r) ASSAY_OK
#define assay_guarantee_init(g) ((void)(g))
#define assay_guarantee_clear(g) ((void)(g))
#define assay_account(g, l, d, o, e) ASSAY_OK
#include FLOW_SOURCE
#define charge sampled_charge
#include "mechanisms/sampled_sum.c"
#undef charge
#include "mechanisms/sampled_lattice.c"
#include "core/bound.c"

/* the gradient of an episode: any function of it and of the iterate */
double private_episodes[2];
void assay_ope_gradient(double *out, const assay_episodes *e, size_t episode,
                        double gamma, const double *x)
{
    (void)e;
    out[0] = private_episodes[episode & 1] * gamma + x[0];
    out[1] = private_episodes[episode & 1] - x[1];
}

void assay_ope_move(double *x, size_t dim, assay_step_size size, uint64_t step,
                    uint64_t num_steps, const double *gradient)
{
    double share = (double)step / (double)num_steps;
    x[0] -= size.beta * share * gradient[0];
    x[dim] -= size.dual * share * gradient[dim];
}

double public_theta[1];
int param_poisson;

void flow_main(void)
{
    assay_gpope_params params;
    assay_episodes episodes;
    memset(&episodes, 0, sizeof episodes);
    episodes.dim = 1;
    episodes.num_episodes = 2;
    assay_gpope_params_init(&params);
    params.poisson = param_poisson != 0;
    params.num_steps = 2;
    public_status = assay_gpope(public_theta, &episodes, &params, &custodian,
                                &public_error);
}
