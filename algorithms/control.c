/* ring: glue */
#include "algorithms/control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/lander_world.h"

#define PI 3.14159265358979323846

/* ---- CartPole: explicit Euler ---- */

enum { CP_GRAVITY, CP_FORCE, CP_CART };

static void cartpole_step(const assay_control *env, double *s, int action,
                          double *reward, int *terminated)
{
    const double pole = 0.1;
    const double half = 0.5;
    const double tau = 0.02;
    double force = action == 1 ? env->p[CP_FORCE] : -env->p[CP_FORCE];
    double total = pole + env->p[CP_CART];
    double polemass_length = pole * half;
    double c = cos(s[2]);
    double n = sin(s[2]);
    double temp = (force + polemass_length * (s[3] * s[3]) * n) / total;
    double angular = (env->p[CP_GRAVITY] * n - c * temp) /
                     (half * (4.0 / 3.0 - pole * (c * c) / total));
    double linear = temp - polemass_length * angular * c / total;
    s[0] = s[0] + tau * s[1];
    s[1] = s[1] + tau * linear;
    s[2] = s[2] + tau * s[3];
    s[3] = s[3] + tau * angular;
    *terminated = s[0] < -2.4 || s[0] > 2.4 || s[2] < -12 * 2 * PI / 360 ||
                  s[2] > 12 * 2 * PI / 360;
    *reward = 1.0;
}

/* ---- Acrobot: one Runge-Kutta step of the book dynamics ---- */

enum { AB_LENGTH, AB_MASS1, AB_MASS2 };

static void acrobot_slope(const assay_control *env, const double *s,
                          double torque, double *out)
{
    const double g = 9.8;
    double m1 = env->p[AB_MASS1];
    double m2 = env->p[AB_MASS2];
    double l1 = env->p[AB_LENGTH];
    double lc = 0.5;
    double inertia = 1.0;
    double t1 = s[0], t2 = s[1], w1 = s[2], w2 = s[3];
    double d1 = m1 * (lc * lc) +
                m2 * ((l1 * l1) + (lc * lc) + 2 * l1 * lc * cos(t2)) + inertia +
                inertia;
    double d2 = m2 * ((lc * lc) + l1 * lc * cos(t2)) + inertia;
    double phi2 = m2 * lc * g * cos(t1 + t2 - PI / 2.0);
    double phi1 = -m2 * l1 * lc * (w2 * w2) * sin(t2) -
                  2 * m2 * l1 * lc * w2 * w1 * sin(t2) +
                  (m1 * lc + m2 * l1) * g * cos(t1 - PI / 2) + phi2;
    double a2 =
        (torque + d2 / d1 * phi1 - m2 * l1 * lc * (w1 * w1) * sin(t2) - phi2) /
        (m2 * (lc * lc) + inertia - (d2 * d2) / d1);
    double a1 = -(d2 * a2 + phi1) / d1;
    out[0] = w1;
    out[1] = w2;
    out[2] = a1;
    out[3] = a2;
}

static double wrap(double x, double low, double high)
{
    double width = high - low;
    while (x > high) {
        x = x - width;
    }
    while (x < low) {
        x = x + width;
    }
    return x;
}

static double bound(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

static void acrobot_step(const assay_control *env, double *s, int action,
                         double *reward, int *terminated)
{
    const double h = 0.2;
    double torque = action - 1;
    double k[4][4];
    double y[4];
    acrobot_slope(env, s, torque, k[0]);
    for (int i = 0; i < 4; i++) {
        y[i] = s[i] + h / 2.0 * k[0][i];
    }
    acrobot_slope(env, y, torque, k[1]);
    for (int i = 0; i < 4; i++) {
        y[i] = s[i] + h / 2.0 * k[1][i];
    }
    acrobot_slope(env, y, torque, k[2]);
    for (int i = 0; i < 4; i++) {
        y[i] = s[i] + h * k[2][i];
    }
    acrobot_slope(env, y, torque, k[3]);
    for (int i = 0; i < 4; i++) {
        s[i] = s[i] + h / 6.0 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    s[0] = wrap(s[0], -PI, PI);
    s[1] = wrap(s[1], -PI, PI);
    s[2] = bound(s[2], -4 * PI, 4 * PI);
    s[3] = bound(s[3], -9 * PI, 9 * PI);
    *terminated = -cos(s[0]) - cos(s[1] + s[0]) > 1.0;
    *reward = *terminated ? 0.0 : -1.0;
}

/* ---- Mountain Car ---- */

static void mountaincar_step(const assay_control *env, double *s, int action,
                             double *reward, int *terminated)
{
    (void)env;
    s[1] += (action - 1) * 0.001 + cos(3 * s[0]) * (-0.0025);
    s[1] = bound(s[1], -0.07, 0.07);
    s[0] += s[1];
    s[0] = bound(s[0], -1.2, 0.6);
    if (s[0] == -1.2 && s[1] < 0) {
        s[1] = 0;
    }
    *terminated = s[0] >= 0.5 && s[1] >= 0;
    *reward = -1.0;
}

/* ---- HIV: stiff-ish equations by Dormand-Prince 5(4) ---- */

enum { HIV_DAYS, HIV_DRUG1, HIV_DRUG2 };

static void hiv_slope(const double *y, double e1, double e2, double *out)
{
    const double k1 = 8e-7, k2 = 1e-4, f = 0.34, delta = 0.7, c = 13;
    const double m1 = 1e-5, m2 = 1e-5, nt = 100, d = 0.01;
    double t1 = y[0], t2 = y[1], i1 = y[2], i2 = y[3], v = y[4], e = y[5];
    double infect1 = (1 - e1) * k1 * v * t1;
    double infect2 = (1 - f * e1) * k2 * v * t2;
    double sick = i1 + i2;
    out[0] = 1e4 - d * t1 - infect1;
    out[1] = 31.98 - d * t2 - infect2;
    out[2] = infect1 - delta * i1 - m1 * e * i1;
    out[3] = infect2 - delta * i2 - m2 * e * i2;
    out[4] = (1 - e2) * nt * delta * sick - c * v -
             ((1 - e1) * k1 * t1 + (1 - f * e1) * k2 * t2) * v;
    out[5] = 1 + 0.3 * sick / (sick + 100) * e -
             0.25 * sick / (sick + 500) * e - 0.1 * e;
}

static const double dp_a[7][6] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
static const double dp_e[7] = {
    71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
    -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

/* One trial step; `next` gets the fifth-order value; returns the error in
 * units of the tolerance. */
static double dp_try(const double *y, double h, double e1, double e2,
                     double *next)
{
    double k[7][6];
    double worst = 0;
    for (int s = 0; s < 7; s++) {
        for (int i = 0; i < 6; i++) {
            double sum = 0;
            for (int j = 0; j < s; j++) {
                sum += dp_a[s][j] * k[j][i];
            }
            next[i] = y[i] + h * sum;
        }
        hiv_slope(next, e1, e2, k[s]);
    }
    for (int i = 0; i < 6; i++) {
        double error = 0;
        for (int s = 0; s < 7; s++) {
            error += dp_e[s] * k[s][i];
        }
        error = fabs(h * error) / (1e-12 + 1e-12 * fabs(next[i]));
        worst = error > worst ? error : worst;
    }
    return worst;
}

static void hiv_step(const assay_control *env, double *s, int action,
                     double *reward, int *terminated)
{
    double e1 = (action & 1) ? 0.7 : 0.0;
    double e2 = (action & 2) ? 0.3 : 0.0;
    double left = env->p[HIV_DAYS];
    double h = 1e-3;
    while (left > 0) {
        double next[6];
        double now = h < left ? h : left;
        double error = dp_try(s, now, e1, e2, next);
        if (error <= 1) {
            memcpy(s, next, sizeof next);
            left -= now;
        }
        h = now * bound(0.9 * pow(error + 1e-30, -0.2), 0.2, 5.0);
    }
    *reward = -0.1 * s[4] - env->p[HIV_DRUG1] * e1 * e1 -
              env->p[HIV_DRUG2] * e2 * e2 + 1e3 * s[5];
    *terminated = 0;
}

/* ---- by name ---- */

static const assay_control known[] = {
    {"cartpole", 4, 2, 500, {9.8, 10.0, 1.0}, NULL, cartpole_step},
    {"acrobot", 4, 3, 500, {1.0, 1.0, 1.0}, NULL, acrobot_step},
    {"mountaincar", 2, 3, 200, {0}, NULL, mountaincar_step},
    {"lunarlander",
     8,
     4,
     1000,
     {10.0, 13.0, 0.6, 0.0, 0.0},
     NULL,
     assay_lander_world_step},
    {"hiv-dt20", 6, 4, 50, {20.0, 2e4, 2e3}, NULL, hiv_step},
    {"hiv-dt5", 6, 4, 200, {5.0, 2e4, 2e3}, NULL, hiv_step},
};

static int parameter_index(const char *name, const char *key, size_t len)
{
    static const struct {
        const char *env;
        const char *key;
        int index;
    } keys[] = {
        {"cartpole", "g", CP_GRAVITY},
        {"cartpole", "F", CP_FORCE},
        {"cartpole", "mc", CP_CART},
        {"acrobot", "l", AB_LENGTH},
        {"acrobot", "m1", AB_MASS1},
        {"acrobot", "m2", AB_MASS2},
        {"lunarlander", "g", ASSAY_LANDER_GRAVITY},
        {"lunarlander", "main", ASSAY_LANDER_MAIN},
        {"lunarlander", "side", ASSAY_LANDER_SIDE},
        {"lunarlander", "wind", ASSAY_LANDER_WIND},
        {"lunarlander", "turb", ASSAY_LANDER_TURBULENCE},
        {"hiv-dt20", "q1", HIV_DRUG1},
        {"hiv-dt20", "q2", HIV_DRUG2},
        {"hiv-dt5", "q1", HIV_DRUG1},
        {"hiv-dt5", "q2", HIV_DRUG2},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i].env, name) == 0 && strlen(keys[i].key) == len &&
            strncmp(keys[i].key, key, len) == 0) {
            return keys[i].index;
        }
    }
    return -1;
}

static assay_status apply_variant(assay_control *env, const char *variant,
                                  assay_error *err)
{
    const char *at = variant;
    while (*at != '\0') {
        size_t len = strcspn(at, "=");
        int index = parameter_index(env->name, at, len);
        char *end = NULL;
        double value;
        if (index < 0 || at[len] != '=') {
            return assay_fail(err, ASSAY_INVALID,
                              "%s has no parameter '%.20s' (cartpole: g, F, "
                              "mc; acrobot: l, m1, m2; lunarlander: g, main, "
                              "side, wind, turb; hiv: q1, q2)",
                              env->name, at);
        }
        value = strtod(at + len + 1, &end);
        int zero = index >= ASSAY_LANDER_WIND &&
                   strcmp(env->name, "lunarlander") == 0; /* may be 0 */
        if (end == at + len + 1 || !(value >= 0) || (value == 0 && !zero) ||
            isinf(value)) {
            return assay_fail(err, ASSAY_INVALID,
                              "'%.20s' must be a positive number", at);
        }
        env->p[index] = value;
        at = *end == ';' ? end + 1 : end;
        if (*end != ';' && *end != '\0') {
            return assay_fail(err, ASSAY_INVALID, "'%.20s' ends badly", at);
        }
    }
    return ASSAY_OK;
}

assay_status assay_control_find(assay_control *out, const char *name,
                                const char *variant, assay_error *err)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) {
            assay_control env = known[i];
            if (variant != NULL) {
                assay_status status = apply_variant(&env, variant, err);
                if (status != ASSAY_OK) {
                    return status;
                }
            }
            if (strcmp(name, "lunarlander") == 0) {
                env.world = assay_lander_world_new(env.p);
                if (env.world == NULL) {
                    return assay_fail(err, ASSAY_MEMORY,
                                      "no memory for a lander");
                }
            }
            *out = env;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID,
                      "no environment '%.40s'; there are cartpole, acrobot, "
                      "mountaincar, lunarlander, hiv-dt20 and hiv-dt5",
                      name);
}

void assay_control_clear(assay_control *env)
{
    assay_lander_world_free(env->world);
    env->world = NULL;
}
