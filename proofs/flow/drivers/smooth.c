/* The exponent is public here: that its law may follow the data is the
 * assumption under which the event is charged. */
#include "proofs/flow/main.h"
#include FLOW_SOURCE

int param_exponent;

void flow_main(void)
{
    public_status = assay_release_smooth_gaussian(
        &custodian, public_out, private_data, FLOW_LEN, 10, param_exponent,
        param_a, param_b, "x", &public_error);
}
