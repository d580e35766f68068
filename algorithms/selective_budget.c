/* ring: glue */
#include "accountant/calibrate.h"
#include "algorithms/selective.h"

/* What came before, and this run at the end. */
static assay_status make_list(assay_event_list *list,
                              const assay_selective_params *params,
                              const assay_event_list *before, assay_error *err)
{
    assay_event event;
    assay_status status;
    assay_event_list_init(list, before->neighbours, before->unit);
    status = assay_event_list_join(list, before, err);
    if (status == ASSAY_OK) {
        assay_selective_event(&event, params);
        status = assay_event_list_add(list, &event, err);
        assay_event_clear(&event);
    }
    return status;
}

static void set_target(assay_target *target, const mpq_t epsilon,
                       const mpq_t delta)
{
    assay_target_init(target);
    mpq_set(target->epsilon, epsilon);
    mpq_set(target->delta, delta);
    target->digits = 3;
}

assay_status assay_selective_calibrate(assay_selective_params *params,
                                       const assay_event_list *before,
                                       const mpq_t epsilon, const mpq_t delta,
                                       int planned, assay_error *err)
{
    const assay_account_options options = {.cheap = !planned};
    assay_event_list list;
    assay_target target;
    assay_status status = make_list(&list, params, before, err);
    set_target(&target, epsilon, delta);
    if (status == ASSAY_OK) {
        status = assay_calibrate_noise(&list, list.num_events - 1, &target,
                                       &options, NULL, err);
    }
    if (status == ASSAY_OK) {
        const assay_event *event = &list.events[list.num_events - 1];
        mpq_div(params->sigma2, event->sigma2, event->sensitivity2);
    }
    assay_target_clear(&target);
    assay_event_list_clear(&list);
    return status;
}

assay_status assay_selective_most_steps(assay_selective_params *params,
                                        const assay_event_list *before,
                                        const mpq_t epsilon, const mpq_t delta,
                                        int planned, assay_error *err)
{
    const assay_account_options options = {.cheap = !planned};
    assay_event_list list;
    assay_target target;
    assay_status status = make_list(&list, params, before, err);
    set_target(&target, epsilon, delta);
    if (status == ASSAY_OK) {
        status = assay_calibrate_steps(&list, list.num_events - 1, &target,
                                       &options, NULL, err);
    }
    if (status == ASSAY_OK) {
        params->num_steps = list.events[list.num_events - 1].count;
    }
    assay_target_clear(&target);
    assay_event_list_clear(&list);
    return status;
}
