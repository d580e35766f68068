/* ring: kernel */
#include "algorithms/visits.h"

/*@ lemma product_bound: \forall integer k, x, y, z;
      0 <= k && 0 <= x <= y && y * k <= z ==> 0 <= x * k <= z;
    lemma product_monotone: \forall integer k, x, y;
      0 <= k && x <= y ==> x * k <= y * k;
    lemma product_less: \forall integer n, m;
      (m - 1) * n == m * n - n;
    lemma product_least: \forall integer n, m;
      0 <= n && 1 <= m ==> n <= n * m;
*/

size_t assay_visits_pair(uint32_t horizon, uint32_t num_states,
                         uint32_t num_actions, uint32_t h, uint32_t s,
                         uint32_t a)
{
    size_t row;
    (void)horizon; /* only the contract needs it */
    //@ ghost uint64_t rows = (uint64_t)horizon * num_states;
    //@ assert below: h * num_states <= (horizon - 1) * num_states;
    //@ assert less: (horizon - 1) * num_states == rows - num_states;
    //@ assert least: rows <= rows * num_actions;
    row = (size_t)h * num_states + s;
    //@ ghost uint64_t last = rows - 1;
    //@ assert state: 0 <= row <= last;
    //@ assert last_less: last * num_actions == rows * num_actions - num_actions;
    //@ assert row_below: 0 <= row * num_actions <= last * num_actions;
    return row * num_actions + a;
}

void assay_visits_add(int64_t *cell, size_t n, size_t pair, size_t triple)
{
    (void)n;
    cell[pair]++;
    cell[triple]++;
}
