#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status = assay_release_count(&custodian, public_out,
                                        private_data[0], param_a, "x",
                                        &public_error);
}
