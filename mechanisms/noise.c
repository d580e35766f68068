/* ring: kernel */
#include "mechanisms/noise.h"

void assay_noise_add(int64_t *noise, const int64_t *in, size_t n)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant done: \forall integer j; 0 <= j < i ==>
          noise[j] == Clip(\at(noise[j], Pre) + in[j], -4611686018427387904,
                           4611686018427387904);
        loop invariant rest: \forall integer j; i <= j < n ==>
          noise[j] == \at(noise[j], Pre);
        loop assigns i, noise[0 .. n - 1];
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        noise[i] = assay_add_clamped(noise[i], in[i]);
    }
}
