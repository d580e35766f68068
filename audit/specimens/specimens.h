/* ring: glue */
/**
 * Specimens: mechanisms of the auditing literature, right and wrong, with
 * their true parameter where it is known and, where a density is known, the
 * exact log-likelihood ratio (so that the audit can be compared with the best
 * possible attacker).
 */
#ifndef ASSAY_AUDIT_SPECIMENS_H
#define ASSAY_AUDIT_SPECIMENS_H

#include "audit/bound.h"
#include "audit/rng.h"
#include "audit/rows.h"

#define ASSAY_SPECIMEN_INPUTS 16
#define ASSAY_SPECIMEN_TABLE 16384

typedef enum assay_specimen_relation {
    ASSAY_PAIR_GIVEN, /* the pairs of the specimen              */
    ASSAY_PAIR_ONE,   /* one answer differs by at most 1         */
    ASSAY_PAIR_ALL    /* every answer may differ by at most 1    */
} assay_specimen_relation;

typedef struct assay_pair {
    double q[2][ASSAY_SPECIMEN_INPUTS];
} assay_pair;

typedef struct assay_specimen assay_specimen;

/** What an oracle computes once for a pair. */
typedef struct assay_oracle {
    const assay_specimen *specimen;
    assay_pair pair;
    double *table; /* ASSAY_SPECIMEN_TABLE * 2 doubles, by side */
} assay_oracle;

struct assay_specimen {
    const char *name;
    const char *note; /* the bug, or "correct" */
    assay_claim claim;
    double truth; /* of the claimed parameter; NAN unknown */
    int violates; /* 1: the claim is false */
    size_t width, num_inputs;
    assay_specimen_relation neighbours;
    size_t num_pairs; /* GIVEN */
    const assay_pair *pairs;
    double param[8];
    void (*draw)(const assay_specimen *s, const double *q, assay_rng *rng,
                 size_t n, assay_rows *out);
    /* oracle: fill o->table (may be NULL), then ln p_left - ln p_right */
    void (*prepare)(assay_oracle *o);
    void (*llr)(const assay_oracle *o, const assay_rows *rows, double *out);
    double search; /* > 0: inputs may be searched in [-search, search] */
    int fresh;     /* 1: drawn from the system's randomness, never the same */
    int slow;      /* a divisor of the usual number of samples */
    int raw;       /* 1: every bit of the double counts; else the ideal real
                      output rounded to multiples of 2^-20 (post-processing) */
};

#define ASSAY_EPS(e, d)                                                        \
    {                                                                          \
        ASSAY_CLAIM_EPS, (e), (d)                                              \
    }

extern const assay_specimen assay_specimens_noise[], assay_specimens_select[],
    assay_specimens_svt[], assay_specimens_ldp[], assay_specimens_means[],
    assay_specimens_sums[], assay_specimens_floats[],
    assay_specimens_overflow[], assay_specimens_papers[],
    assay_specimens_papers_linear[], assay_specimens_own[],
    assay_specimens_releases[], assay_specimens_experts[];

/** All groups, each ending with a NULL name; ends with NULL. */
extern const assay_specimen *const assay_specimen_groups[];

/** Find by name (NULL if none). */
const assay_specimen *assay_specimen_find(const char *name);

/** The specimen's pairs into `out` (room for 8); returns how many. */
size_t assay_specimen_pairs(const assay_specimen *s, assay_pair *out);

typedef struct assay_specimen_run {
    const assay_specimen *specimen;
    assay_pair pair;
    uint64_t seed;
} assay_specimen_run;

/** A source that draws from the specimen; `run` stays the caller's. */
assay_source assay_specimen_source(assay_specimen_run *run);

#endif
