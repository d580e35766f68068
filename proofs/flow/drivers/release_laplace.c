#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status = assay_release_laplace(&custodian, public_out,
                                          private_data[0], param_a, param_b,
                                          "x", &public_error);
}
