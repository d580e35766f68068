/* ring: glue */
#include "algorithms/observation.h"

#include <math.h>
#include <string.h>

static void see_cartpole(const double *s, double *out)
{
    out[0] = s[0] / 2.4;
    out[1] = s[1] / 2.0;
    out[2] = s[2] / 0.21;
    out[3] = s[3] / 2.0;
}

static void see_acrobot(const double *s, double *out)
{
    out[0] = cos(s[0]);
    out[1] = sin(s[0]);
    out[2] = cos(s[1]);
    out[3] = sin(s[1]);
    out[4] = s[2] / 4.0;
    out[5] = s[3] / 8.0;
}

static void see_mountaincar(const double *s, double *out)
{
    out[0] = (s[0] + 0.3) / 0.9;
    out[1] = s[1] / 0.07;
}

static void see_lunarlander(const double *s, double *out)
{
    memcpy(out, s, 8 * sizeof *s);
}

static void see_hiv(const double *s, double *out)
{
    for (int i = 0; i < 6; i++) {
        out[i] = (log10(fmax(s[i], 1e-2)) - 2.5) / 4.5;
    }
}

assay_status assay_observation_find(assay_observation *out, const char *env,
                                    assay_error *err)
{
    static const struct {
        const char *name;
        assay_observation observation;
    } known[] = {
        {"cartpole", {4, 4, 2, see_cartpole}},
        {"acrobot", {4, 6, 3, see_acrobot}},
        {"mountaincar", {2, 2, 3, see_mountaincar}},
        {"lunarlander", {8, 8, 4, see_lunarlander}},
        {"hiv-dt20", {6, 6, 4, see_hiv}},
        {"hiv-dt5", {6, 6, 4, see_hiv}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, env) == 0) {
            *out = known[i].observation;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID, "no observation of '%.40s'", env);
}
