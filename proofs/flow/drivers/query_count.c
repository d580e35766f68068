#include "proofs/flow/drivers/query.h"
#include FLOW_SOURCE

assay_query query;

void flow_main(void)
{
    assay_answer answer;
    query.kind = ASSAY_QUERY_COUNT;
    public_status = assay_query_run(&answer, &custodian, &query, &public_error);
    if (public_status == ASSAY_OK) {
        public_real = answer.value[0] + answer.low[0] + answer.high[0] +
                      answer.rank_error;
        public_index = answer.n;
    }
}
