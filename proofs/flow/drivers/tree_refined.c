#include "proofs/flow/main.h"
#include FLOW_SOURCE
#include "core/bound.c"
#include "mechanisms/tree_nodes.c"

/*@ assigns \result \from x; */
long long llrint(double x);
void flow_main(void)
{
    assay_tree *tree = NULL;
    public_status = assay_tree_new_gaussian(&tree, &custodian, FLOW_LEN, 4,
                                            param_a, param_b, "x",
                                            &public_error);
    if (public_status == ASSAY_OK) {
        public_status = assay_tree_refine(tree, &public_error);
    }
    if (public_status == ASSAY_OK) {
        public_status = assay_tree_add(tree, private_data, public_out,
                                       &public_error);
        public_status = assay_tree_add(tree, private_data + 3, public_out,
                                       &public_error);
        public_value = assay_tree_steps(tree);
        assay_tree_free(tree);
    }
}
