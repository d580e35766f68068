/* Two draws, three questions: the answers come from the tape, whatever the
 * queries are. */
#include "proofs/flow/main.h"
#include "accountant/stable.h"
/* the plan is public: what is computed from it is too */
/*@ assigns *out, *err, \result \from *plan; */
assay_status flow_threshold(int64_t *out, const assay_stable_plan *plan,
                            assay_error *err);
#define assay_stable_threshold(out, plan, err) flow_threshold(out, plan, err)
/*@ assigns *a, *b \from *plan; */
void flow_scales(mpq_t a, mpq_t b, const assay_stable_plan *plan);
#define assay_stable_scales(a, b, plan) flow_scales(a, b, plan)
/*@ assigns *event \from *plan; */
void flow_stable_event(assay_event *event, const assay_stable_plan *plan);
#define assay_stable_event(event, plan) flow_stable_event(event, plan)
#define mpq_inits(a, b, end) (mpq_init(a), mpq_init(b))
#define mpq_clears(a, b, end) (mpq_clear(a), mpq_clear(b))
#include FLOW_SOURCE

assay_stable_plan plan;

void flow_main(void)
{
    assay_stable_prefix *stable = NULL;
    uint64_t who = 0;
    public_status =
        assay_stable_prefix_new(&stable, &custodian, &plan, "x", &public_error);
    for (int draw = 0; public_status == ASSAY_OK && draw < 2; draw++) {
        public_status =
            assay_stable_prefix_draw(stable, &who, 3, &public_error);
        if (public_status == ASSAY_OK) {
            public_status = assay_stable_prefix_ask(
                stable, &public_flag, private_data[0], &public_error);
        }
        if (public_status == ASSAY_OK && public_flag) {
            public_status = assay_stable_prefix_ask(
                stable, &public_flag, private_data[1], &public_error);
        }
    }
    if (public_status == ASSAY_OK) {
        public_value = assay_stable_prefix_left(stable);
    }
}
