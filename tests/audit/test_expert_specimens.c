/* The specimens of the expert level: broken claims are refuted, right ones are
 * not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "audit/audit.h"
#include "audit/specimens/specimens.h"

static assay_audit_result audit(const assay_specimen *s, uint64_t samples)
{
    assay_pair pairs[8];
    assay_audit_result r;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_specimen_pairs(s, pairs), 1);
    assay_specimen_run run = {s, pairs[0], 5};
    assay_source source = assay_specimen_source(&run);
    assay_audit_options o = {
        .claim = s->claim, .samples = samples, .confidence = 0.99, .light = 1};
    if (assay_audit_run(&r, &source, &o, &err) != ASSAY_OK) {
        fail_msg("%s: %s", s->name, err.message);
    }
    return r;
}

static void verdicts_are_the_truth(void **state)
{
    (void)state;
    for (const assay_specimen *s = assay_specimens_experts; s->name != NULL;
         s++) {
        assay_audit_result r = audit(s, 100000);
        /* seeded: the same every time */
        (void)printf("# %s: claim %.4f, at least %.3f, detection limit %.3f\n",
                     s->name, s->claim.value, r.lower, r.detection_limit);
        assert_int_equal(r.refuted, s->violates);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_are_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
