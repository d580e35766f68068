/* Names of a flow target: what is called private_* must not reach what is
 * called public_*, the ledger, the tape or an error. */
#ifndef ASSAY_FLOW_MAIN_H
#define ASSAY_FLOW_MAIN_H

#include "proofs/flow/flow.h"

#define FLOW_LEN 3

int64_t flow_tape;
int64_t flow_ledger;

int64_t private_data[FLOW_LEN * FLOW_LEN];
uint64_t private_counts[FLOW_LEN];
uint64_t private_value;
double private_real;

mpq_t param_a;
mpq_t param_b;
mpq_t param_c;
mpq_t param_each[FLOW_LEN];
assay_custodian custodian;

int64_t public_out[FLOW_LEN * FLOW_LEN];
uint8_t public_bits[FLOW_LEN];
uint64_t public_value;
size_t public_index;
double public_real;
int public_flag;
assay_status public_status;
assay_error public_error;

#endif
