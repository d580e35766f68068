#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status =
        assay_release_snapping(&custodian, &public_real, private_real, param_a,
                               param_b, "x", &public_error);
}
