#include "proofs/flow/drivers/query.h"

/* The words and how many there are come from the file. Memory is assumed to
 * suffice for them: running out of it would tell the owner of the data, before
 * anything is charged. */
char private_text[8];

/*@ assigns tally->words.num_people, tally->words.num_slots \from private_file;
    ensures tally->words.num_people == 2 && tally->words.num_slots == 2; */
void flow_words(assay_tally *tally);
/*@ assigns counts[0 .. 1] \from private_file; */
void flow_counts(int64_t *counts);
static assay_status flow_list(char **names, int64_t *counts)
{
    names[0] = private_text;
    names[1] = private_text;
    flow_counts(counts);
    return ASSAY_OK;
}
#define assay_people_list(table, names, counts, err) flow_list(names, counts)
static assay_status flow_scan_words(assay_tally *tally)
{
    flow_words(tally);
    return flow_scan(tally);
}
#undef assay_tally_scan
#define assay_tally_scan(tally, query, err) flow_scan_words(tally)

static void *flow_calloc(void)
{
    return calloc(8, 64);
}
/*@ assigns \nothing; */
void flow_free(void *p);
#define calloc(n, size) flow_calloc()
#define free(p) flow_free(p)
#include FLOW_SOURCE

assay_query query;
char *public_key;

void flow_main(void)
{
    assay_answer answer;
    query.kind = ASSAY_QUERY_HISTOGRAM;
    query.bins = 0;
    query.num_categories = 0;
    query.unknown_keys = 1;
    public_status = assay_query_run(&answer, &custodian, &query, &public_error);
    if (public_status == ASSAY_OK) {
        public_real = answer.value[0] + answer.low[0] + answer.high[0];
        public_index = answer.n;
        public_key = answer.key[0];
    }
}
