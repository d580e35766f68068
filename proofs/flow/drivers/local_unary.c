#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    assay_local_unary *reporter = NULL;
    public_status = assay_local_unary_new(&reporter, &custodian, 1, FLOW_LEN, 4,
                                          1000, "x", &public_error);
    if (public_status == ASSAY_OK) {
        public_status = assay_local_unary_report(
            reporter, public_bits, private_counts, &public_error);
        assay_local_unary_free(reporter);
    }
}
