#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status =
        assay_release_unary(&custodian, public_bits, private_value, FLOW_LEN,
                            param_a, "x", &public_error);
}
