#include "proofs/flow/main.h"
#include FLOW_SOURCE
void flow_main(void)
{
    assay_sparse_vector *sv = NULL;
    public_status =
        assay_sparse_vector_new(&sv, &custodian, 2, 0, param_a, param_b,
                                param_c, "x", &public_error);
    if (public_status == ASSAY_OK) {
        public_status = assay_sparse_vector_ask(sv, &public_flag,
                                                private_data[0], 7,
                                                &public_error);
        public_status = assay_sparse_vector_ask(sv, &public_flag,
                                                private_data[1], 7,
                                                &public_error);
        public_value = assay_sparse_vector_left(sv);
    }
}
