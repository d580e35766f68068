/* ring: kernel */
/**
 * Where data and noise meet: the only line of the library through which a
 * private integer reaches an output (the declassifier of `make prove-flow`).
 */
#ifndef ASSAY_MECHANISMS_NOISE_H
#define ASSAY_MECHANISMS_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "core/bound.h"

/** out[i] = clamp(in[i] + noise[i]), exact, in [-2^62, 2^62]; the result is
 *  built in `noise`'s place. */
/*@ requires valid: n > 0 ==> \valid(noise + (0 .. n - 1));
    requires readable: n > 0 ==> \valid_read(in + (0 .. n - 1));
    requires apart: \separated(noise + (0 .. n - 1), in + (0 .. n - 1));
    terminates \true;
    exits \false;
    assigns noise[0 .. n - 1];
    ensures value: \forall integer i; 0 <= i < n ==>
      noise[i] == Clip(\old(noise[i]) + in[i], -4611686018427387904,
                       4611686018427387904);
*/
void assay_noise_add(int64_t *noise, const int64_t *in, size_t n);

#endif
