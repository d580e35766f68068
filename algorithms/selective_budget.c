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

typedef assay_status calibration(assay_event_list *list, size_t which,
                                 const assay_target *target,
                                 const assay_account_options *options,
                                 assay_guarantee *met, assay_error *err);

/* The last event of `list` becomes what `calibrate` finds for it. */
static assay_status fit(assay_event_list *list, calibration *calibrate,
                        const mpq_t epsilon, const mpq_t delta, int planned,
                        assay_error *err)
{
    const assay_account_options options = {.cheap = !planned};
    assay_target target;
    assay_target_init(&target);
    mpq_set(target.epsilon, epsilon);
    mpq_set(target.delta, delta);
    target.digits = 3;
    assay_status status =
        calibrate(list, list->num_events - 1, &target, &options, NULL, err);
    assay_target_clear(&target);
    return status;
}

assay_status assay_selective_calibrate(assay_selective_params *params,
                                       const assay_event_list *before,
                                       const mpq_t epsilon, const mpq_t delta,
                                       int planned, assay_error *err)
{
    assay_event_list list;
    assay_status status = make_list(&list, params, before, err);
    if (status == ASSAY_OK) {
        status =
            fit(&list, assay_calibrate_noise, epsilon, delta, planned, err);
    }
    if (status == ASSAY_OK) {
        const assay_event *event = &list.events[list.num_events - 1];
        mpq_div(params->sigma2, event->sigma2, event->sensitivity2);
    }
    assay_event_list_clear(&list);
    return status;
}

assay_status assay_selective_most_steps(assay_selective_params *params,
                                        const assay_event_list *before,
                                        const mpq_t epsilon, const mpq_t delta,
                                        int planned, assay_error *err)
{
    assay_event_list list;
    assay_status status = make_list(&list, params, before, err);
    if (status == ASSAY_OK) {
        status =
            fit(&list, assay_calibrate_steps, epsilon, delta, planned, err);
    }
    if (status == ASSAY_OK) {
        params->num_steps = list.events[list.num_events - 1].count;
    }
    assay_event_list_clear(&list);
    return status;
}
