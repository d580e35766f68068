#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    assay_local_reporter *reporter = NULL;
    public_status = assay_local_reporter_new_laplace(
        &reporter, &custodian, FLOW_LEN, 4, param_a, param_b, "x",
        &public_error);
    if (public_status == ASSAY_OK) {
        public_status = assay_local_report(reporter, public_out, private_data,
                                           &public_error);
        assay_local_reporter_free(reporter);
    }
}
