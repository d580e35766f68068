/* Example pipeline: count records per person under a limit, ask a sparse
 * vector, and only if it says "above" release the count. */
#include "proofs/flow/main.h"
#include FLOW_SOURCE
#include "core/bound.c"
#include "mechanisms/release.c"

void flow_main(void)
{
    assay_sparse_vector *sv = NULL;
    uint32_t used = 0;
    int64_t count = 0;
    for (size_t i = 0; i < FLOW_LEN; i++) {
        if (private_data[i] > 0) {
            count += assay_take_record(&used, 2);
        }
    }
    public_status =
        assay_sparse_vector_new(&sv, &custodian, 1, 1, param_a, param_b,
                                param_c, "sv", &public_error);
    if (public_status != ASSAY_OK) {
        return;
    }
    public_status = assay_sparse_vector_ask(sv, &public_flag, count, 10,
                                            &public_error);
    if (public_status == ASSAY_OK && public_flag) {
        public_status = assay_release_count(&custodian, public_out, count,
                                            param_a, "count", &public_error);
    }
    assay_sparse_vector_free(sv);
}
