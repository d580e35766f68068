#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status =
        assay_release_response(&custodian, &public_value, private_value, 5,
                               param_a, "x", &public_error);
}
