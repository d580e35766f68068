/* A session of two parts: a draw from one, then from the other. */
#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    assay_session *session = NULL;
    assay_noise_run runs[2] = {{1, param_a}, {2, param_b}};
    public_status = assay_session_new(&session, &custodian, 2, param_c, "x",
                                      &public_error);
    for (size_t part = 0; public_status == ASSAY_OK && part < 2; part++) {
        public_status =
            assay_session_pay(session, part, param_a, 1, &public_error);
        if (public_status == ASSAY_OK) {
            public_status = assay_session_draw(session, part, public_out,
                                               private_data + 3 * part, runs,
                                               2, &public_error);
        }
    }
}
