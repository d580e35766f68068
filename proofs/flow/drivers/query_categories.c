#include "proofs/flow/drivers/query.h"
#include FLOW_SOURCE

assay_query query;
const char *category[1] = {"ward"};

void flow_main(void)
{
    assay_answer answer;
    query.kind = ASSAY_QUERY_HISTOGRAM;
    query.bins = 0;
    query.num_categories = 1;
    query.categories = category;
    query.unknown_keys = 0;
    public_status = assay_query_run(&answer, &custodian, &query, &public_error);
    if (public_status == ASSAY_OK) {
        public_real = answer.value[0] + answer.low[0] + answer.high[0] +
                      answer.rank_error;
        public_index = answer.n;
        public_flag = answer.has_interval;
    }
}
