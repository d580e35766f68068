#include "proofs/flow/main.h"
#include FLOW_SOURCE
#include "mechanisms/gap.c"
#include "mechanisms/pick.c"
void flow_main(void)
{
    public_status = assay_choose_permute_and_flip(
        &custodian, &public_index, private_data, FLOW_LEN, param_a, param_b,
        "x", &public_error);
}
