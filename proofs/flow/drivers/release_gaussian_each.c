#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status = assay_release_gaussian_each(
        &custodian, public_out, private_data, FLOW_LEN,
        (const mpq_t *)param_each, param_b, "x", &public_error);
}
