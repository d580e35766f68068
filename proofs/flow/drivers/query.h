/* The file is private: a scan fills the tally from it. */
#include "proofs/flow/main.h"
#include "proofs/flow/mechanisms.h"
#include "mechanisms/query_scan.h"

int64_t private_file;

/* The lattice and the number of cells come from the public query; counts and
 * sums from the file. */
/*@ assigns tally->lattice, tally->middle, tally->num_cells \from *query;
    assigns tally->count, tally->sum, *err, \result \from *query;
    ensures 1 <= tally->num_cells <= 2; */
assay_status flow_tally_init(assay_tally *tally, const assay_query *query,
                             assay_error *err);
/*@ assigns tally->count, tally->sum, private_data[0 .. 1]
      \from private_file; */
void flow_tally_scan(assay_tally *tally);
/*@ assigns \nothing; */
void flow_tally_clear(assay_tally *tally);
static assay_status flow_scan(assay_tally *tally)
{
    flow_tally_scan(tally);
    tally->cells = private_data;
    return ASSAY_OK; /* bad data is reported to its owner, before a charge */
}
#define assay_tally_init(tally, query, err) flow_tally_init(tally, query, err)
#define assay_tally_scan(tally, query, err) flow_scan(tally)
#define assay_tally_clear(tally) flow_tally_clear(tally)

/*@ assigns \result \from x; */
double log(double x);
/*@ assigns \result \from x; */
double exp(double x);
/*@ assigns \result \from x; */
double ceil(double x);
/*@ assigns \result \from x, e; */
double ldexp(double x, int e);
