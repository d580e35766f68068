/* ring: glue */
/** Helpers shared by the tests. */
#ifndef ASSAY_TESTS_SUPPORT_H
#define ASSAY_TESTS_SUPPORT_H

#include <gmp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mechanisms/sampler.h"

/** An exact number from text; fails the test if it is not one. */
void support_rational(mpq_t out, const char *text);

/** ASSAY_LAW_SCALE (default 1) times n. */
size_t support_samples(size_t n);

/** P[chi-square with `freedom` degrees > x]. */
double support_chi2_p(double x, unsigned freedom);

/** A sampler of the named law ("gaussian", "laplace"); fails the test if the
 *  parameter is refused. */
assay_sampler *support_sampler(const char *law, const char *parameter,
                               assay_route route, int constant_time);

#endif
