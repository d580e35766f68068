/* ring: glue */
/*
 * The synthetic clinic: patients of four severities whose organs tire under
 * treatment. No number here comes from real patients; docs/experiments/
 * clinic.md explains each one.
 */
#include "algorithms/environments.h"

#define NUM_STRAINS 3u

uint32_t assay_clinic_state(uint32_t severity, uint32_t strain)
{
    return 2 + (severity - 1) * NUM_STRAINS + strain;
}

/* action = antibiotics (bit 0) + vasopressor (bit 1) */
static double chance_better(uint32_t severity, uint32_t action)
{
    static const double none[4] = {0.30, 0.12, 0.05, 0.02};
    double p = none[severity - 1];
    if ((action & 1u) != 0) {
        p += 0.30;
    }
    if ((action & 2u) != 0) {
        p += severity >= 3 ? 0.25 : 0.02;
    }
    return p;
}

static double chance_worse(uint32_t severity, uint32_t strain, uint32_t action)
{
    double p = 0.08 + 0.05 * severity;
    if ((action & 1u) != 0) {
        p -= 0.05;
    }
    if ((action & 2u) != 0 && severity >= 3) {
        p -= 0.10;
    }
    return p + 0.08 * strain;
}

static double chance_strain(uint32_t action)
{
    static const double by_action[4] = {0.0, 0.15, 0.30, 0.50};
    return by_action[action];
}

/* The next severity: 0 is discharged, 5 is dead. */
static void add_severity(double *row, double mass, uint32_t severity,
                         uint32_t strain)
{
    if (severity == 0) {
        row[ASSAY_CLINIC_DISCHARGED] += mass;
    } else if (severity > 4) {
        row[ASSAY_CLINIC_DEAD] += mass;
    } else {
        row[assay_clinic_state(severity, strain)] += mass;
    }
}

static void fill_row(double *row, uint32_t severity, uint32_t strain,
                     uint32_t action)
{
    double better = chance_better(severity, action);
    double worse = chance_worse(severity, strain, action);
    double tired = chance_strain(action);
    for (uint32_t k = 0; k < 2; k++) {
        double mass = k == 1 ? tired : 1.0 - tired;
        uint32_t next = strain + k;
        if (k == 0 && action == 0 && strain > 0) {
            next = strain - 1; /* organs rest without treatment */
        }
        if (next >= NUM_STRAINS) {
            next = NUM_STRAINS - 1;
        }
        add_severity(row, mass * better, severity - 1, next);
        add_severity(row, mass * worse, severity + 1, next);
        add_severity(row, mass * (1.0 - better - worse), severity, next);
    }
}

static double reward_of(uint32_t state)
{
    uint32_t severity;
    if (state == ASSAY_CLINIC_DISCHARGED) {
        return 1.0;
    }
    if (state == ASSAY_CLINIC_DEAD) {
        return 0.0;
    }
    severity = (state - 2) / NUM_STRAINS + 1;
    return (4.0 - severity) / 8.0;
}

void assay_clinic_fill(assay_mdp *mdp, uint32_t horizon)
{
    uint32_t num_states = mdp->shape.num_states;
    for (uint32_t h = 0; h < horizon; h++) {
        for (uint32_t s = 0; s < num_states; s++) {
            for (uint32_t a = 0; a < ASSAY_CLINIC_ACTIONS; a++) {
                size_t pair = assay_shape_pair(&mdp->shape, h, s, a);
                double *row = mdp->transition + pair * num_states;
                mdp->reward[pair] = reward_of(s);
                if (s <= ASSAY_CLINIC_DEAD) {
                    row[s] = 1.0;
                } else {
                    fill_row(row, (s - 2) / NUM_STRAINS + 1,
                             (s - 2) % NUM_STRAINS, a);
                }
            }
        }
    }
    mdp->initial[assay_clinic_state(2, 0)] = 0.4;
    mdp->initial[assay_clinic_state(3, 0)] = 0.4;
    mdp->initial[assay_clinic_state(4, 1)] = 0.2;
}

uint32_t assay_clinic_usual(uint32_t state)
{
    uint32_t severity;
    if (state <= ASSAY_CLINIC_DEAD) {
        return 0;
    }
    severity = (state - 2) / NUM_STRAINS + 1;
    return severity >= 4 ? 3 : 1;
}
