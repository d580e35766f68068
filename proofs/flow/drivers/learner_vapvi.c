/* DP-VAPVI with centred and with value-free statistics, from counts to policy:
 * S = 2, A = 1, H = 2, d = 1. */
#include "proofs/flow/main.h"
/* the budget's relation is public: it is fixed when the ledger is made */
assay_budget param_budget;
#define assay_ledger_budget(ledger) (&param_budget)
/*@ assigns *out \from *a, *b; */
void mpq_add(mpq_t out, const mpq_t a, const mpq_t b);
/* linear algebra after a release: results come from arguments */
#include "algorithms/linear_solve.h"
/*@ assigns inverse[0 .. 0], *err, \result \from matrix[0 .. 0], floor; */
assay_status flow_inverse(double *inverse, const double *matrix, double floor,
                          assay_error *err);
#define assay_floor_inverse(inverse, matrix, d, floor, err)                    \
    flow_inverse(inverse, matrix, floor, err)
#define assay_times(y, m, x, d) ((y)[0] = (m)[0] * (x)[0])
#define assay_quadratic(m, x, d) ((m)[0] * (x)[0] * (x)[0])
#include FLOW_SOURCE
#include "algorithms/vapvi_sums.c"
#define charge session_charge
#include "mechanisms/session.c"
#undef charge
#include "algorithms/privatizer.c"
#include "algorithms/mdp.c"
#include "algorithms/envrand.c"

int64_t private_cells[12];
int64_t param_entries[2];
double param_rewards[4];
uint32_t public_actions[4];
int param_free;

double assay_features_dot(const int64_t *row, const double *w, size_t dim)
{
    (void)dim;
    return (double)row[0] * w[0];
}

void flow_main(void)
{
    assay_vapvi_params params;
    assay_policy *policy = NULL;
    assay_counts counts;
    assay_features features;
    counts.shape.num_states = 2;
    counts.shape.num_actions = 1;
    counts.shape.horizon = 2;
    counts.num_users = 100;
    counts.num_pairs = 4;
    counts.num_triples = 8;
    counts.cell = private_cells;
    features.num_rows = 2;
    features.dim = 1;
    features.entry = param_entries;
    assay_vapvi_params_init(&params, 0);
    params.is_private = 1;
    params.statistics = param_free ? ASSAY_VAPVI_FREE : ASSAY_VAPVI_CENTRED;
    public_status =
        assay_vapvi_learn(&policy, &counts, NULL, &features, param_rewards,
                          &params, &custodian, &public_error);
    if (public_status == ASSAY_OK) {
        public_actions[0] = policy->action[0];
        public_actions[3] = policy->action[3];
    }
}
