#include "proofs/flow/main.h"
#include FLOW_SOURCE
#include "core/bound.c"
void flow_main(void)
{
    public_status = assay_release_quantile_cell(
        &custodian, &public_index, private_counts, FLOW_LEN, 1, param_a,
        param_b, "x", &public_error);
}
