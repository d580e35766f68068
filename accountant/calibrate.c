/* ring: glue */
#include "accountant/calibrate.h"

#include <math.h>

#include "accountant/event_fields.h"
#include "accountant/numeric.h"

void assay_target_init(assay_target *target)
{
    *target = (assay_target){0};
    mpq_init(target->rho);
    mpq_init(target->epsilon);
    mpq_init(target->delta);
}

void assay_target_clear(assay_target *target)
{
    mpq_clear(target->rho);
    mpq_clear(target->epsilon);
    mpq_clear(target->delta);
}

/* 1: the target is proved. 0: it is not. */
static assay_status meets(int *out, const assay_event_list *list,
                          const assay_target *target,
                          const assay_account_options *options,
                          assay_error *err)
{
    assay_status status;
    if (target->has_rho) {
        mpq_t rho;
        mpq_init(rho);
        status = assay_account_rho(rho, list, err);
        *out = status == ASSAY_OK && mpq_cmp(rho, target->rho) <= 0;
        mpq_clear(rho);
        return status;
    }
    assay_guarantee g;
    assay_guarantee_init(&g);
    status = assay_account(&g, list, target->delta, options, err);
    *out = status == ASSAY_OK &&
           mpq_cmp(g.bounds[0].epsilon, target->epsilon) <= 0;
    assay_guarantee_clear(&g);
    return status;
}

/* A cheap yes is a yes; a cheap no needs the other methods. */
static assay_status meets_quick(int *out, const assay_event_list *list,
                                const assay_target *target,
                                const assay_account_options *options,
                                assay_error *err)
{
    static const assay_account_options cheap = {.cheap = 1};
    if (!target->has_rho && (options == NULL || options->method == NULL)) {
        assay_error ignored = ASSAY_ERROR_INIT;
        if (meets(out, list, target, &cheap, &ignored) == ASSAY_OK && *out) {
            return ASSAY_OK;
        }
    }
    return meets(out, list, target, options, err);
}

typedef enum dial { DIAL_SIGMA, DIAL_SCALE, DIAL_EPSILON, DIAL_NONE } dial;

static dial dial_of(const assay_event *event)
{
    unsigned needs = assay_event_needs(event->mechanism);
    if (event->mechanism == ASSAY_SPARSE_VECTOR ||
        event->mechanism == ASSAY_SNAPPING) {
        return DIAL_NONE;
    }
    return needs & ASSAY_F_SIGMA2    ? DIAL_SIGMA
           : needs & ASSAY_F_SCALE   ? DIAL_SCALE
           : needs & ASSAY_F_EPSILON ? DIAL_EPSILON
                                     : DIAL_NONE;
}

static void set_dial(assay_event *event, dial d, const mpq_t noise)
{
    if (d == DIAL_SIGMA) {
        mpq_mul(event->sigma2, noise, noise);
    } else if (d == DIAL_SCALE) {
        mpq_set(event->scale, noise);
    } else {
        mpq_inv(event->epsilon, noise);
        assay_decimal_outward(event->epsilon, 9, 0);
    }
}

typedef struct search {
    assay_event_list *list;
    size_t which;
    const assay_target *target;
    const assay_account_options *options;
    dial dial;
    int digits;
} search;

/* Whether a noise of `digits` digits at or above x meets the target. */
static assay_status try_noise(int *out, search *s, double x, mpq_t noise,
                              assay_error *err)
{
    mpq_set_d(noise, x);
    assay_decimal_outward(noise, s->digits, 1);
    set_dial(&s->list->events[s->which], s->dial, noise);
    return meets_quick(out, s->list, s->target, s->options, err);
}

static assay_status bracket(search *s, double *low, double *high, mpq_t noise,
                            assay_error *err)
{
    int ok = 0;
    *high = 1.0;
    assay_status status = try_noise(&ok, s, *high, noise, err);
    int up = !ok;
    for (int i = 0; i < 60 && status == ASSAY_OK; i++) {
        double next = up ? *high * 2.0 : *high / 2.0;
        int now = 0;
        status = try_noise(&now, s, next, noise, err);
        if (status == ASSAY_OK && now != ok) {
            *low = up ? *high : next;
            *high = up ? next : *high;
            return ASSAY_OK;
        }
        *high = next;
    }
    return status != ASSAY_OK
               ? status
               : assay_fail(err, ASSAY_UNSUPPORTED,
                            "no noise between 2^-60 and 2^60 fits the target "
                            "exactly: is it below the other events' cost?");
}

static assay_status narrow(search *s, double low, double high, mpq_t best,
                           assay_error *err)
{
    mpq_t noise;
    mpq_init(noise);
    int ok = 0;
    assay_status status = try_noise(&ok, s, high, best, err);
    double width = pow(10.0, -s->digits);
    while (status == ASSAY_OK && high - low > 0.4 * width * high) {
        double middle = 0.5 * (low + high);
        status = try_noise(&ok, s, middle, noise, err);
        if (status == ASSAY_OK && ok) {
            mpq_set(best, noise);
            high = middle;
        } else {
            low = middle;
        }
    }
    mpq_clear(noise);
    return status;
}

static assay_status report(assay_guarantee *achieved,
                           const assay_event_list *list,
                           const assay_target *target,
                           const assay_account_options *options,
                           assay_error *err)
{
    if (achieved == NULL || (target->has_rho && mpq_sgn(target->delta) == 0)) {
        return ASSAY_OK;
    }
    return assay_account(achieved, list, target->delta, options, err);
}

static assay_status check_which(const assay_event_list *list, size_t which,
                                assay_error *err)
{
    return which < list->num_events
               ? ASSAY_OK
               : assay_fail(err, ASSAY_INVALID, "there is no event number %zu",
                            which + 1);
}

assay_status assay_calibrate_noise(assay_event_list *list, size_t which,
                                   const assay_target *target,
                                   const assay_account_options *options,
                                   assay_guarantee *achieved, assay_error *err)
{
    assay_status status = check_which(list, which, err);
    if (status != ASSAY_OK) {
        return status;
    }
    search s = {list,
                which,
                target,
                options,
                dial_of(&list->events[which]),
                target->digits > 0 ? target->digits : 6};
    if (s.dial == DIAL_NONE) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "%s has no single noise to set",
                          assay_mechanism_name(list->events[which].mechanism));
    }
    mpq_t best;
    double low = 0.0;
    double high = 1.0;
    mpq_init(best);
    status = bracket(&s, &low, &high, best, err);
    if (status == ASSAY_OK) {
        status = narrow(&s, low, high, best, err);
    }
    if (status == ASSAY_OK) {
        set_dial(&list->events[which], s.dial, best);
        status = report(achieved, list, target, options, err);
    }
    mpq_clear(best);
    return status;
}

static assay_status try_steps(int *out, search *s, uint64_t count,
                              assay_error *err)
{
    s->list->events[s->which].count = count;
    return meets_quick(out, s->list, s->target, s->options, err);
}

assay_status assay_calibrate_steps(assay_event_list *list, size_t which,
                                   const assay_target *target,
                                   const assay_account_options *options,
                                   assay_guarantee *achieved, assay_error *err)
{
    int ok = 0;
    uint64_t low = 1;
    uint64_t high = 2;
    search s = {list, which, target, options, DIAL_NONE, 0};
    assay_status status = check_which(list, which, err);
    if (status == ASSAY_OK) {
        status = try_steps(&ok, &s, 1, err);
    }
    if (status == ASSAY_OK && !ok) {
        return assay_fail(err, ASSAY_BUDGET,
                          "not even one step fits the target");
    }
    while (status == ASSAY_OK && ok && high < ASSAY_MAX_COUNT / 4) {
        status = try_steps(&ok, &s, high, err);
        low = ok ? high : low;
        high = ok ? 2 * high : high;
    }
    while (status == ASSAY_OK && !ok && high - low > 1) {
        int now = 0;
        uint64_t middle = low + (high - low) / 2;
        status = try_steps(&now, &s, middle, err);
        low = now ? middle : low;
        high = now ? high : middle;
    }
    list->events[which].count = low;
    return status == ASSAY_OK ? report(achieved, list, target, options, err)
                              : status;
}
