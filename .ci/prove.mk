# The five locks that are proofs: theory, code, flow; and the checks on them.
prove: prove-theory prove-code prove-flow prove-results ## theory, code and flow

prove-theory: | $(BUILD)/deps.stamp ## Coq: laws, mechanisms, composition
	@proofs/theory.sh

prove-code: | $(BUILD)/deps.stamp ## Frama-C WP on kernels and drivers
	@WP_CACHE=$(WP_CACHE) proofs/code.sh

prove-flow: | $(BUILD)/deps.stamp ## Frama-C dependencies of every release
	@proofs/flow.sh

prove-results: ## write proofs/RESULTS.md from the last runs
	@proofs/results.sh

# one unit: make prove-uniform
prove-%: | $(BUILD)/deps.stamp
	@WP_CACHE=$(WP_CACHE) proofs/code.sh $*

mutants: prove-extract | $(BUILD)/deps.stamp ## every seeded bug must break a proof
	@proofs/mutants.sh
	@proofs/extract/mutants.sh

prove-extract: all | $(BUILD)/deps.stamp ## C against the program extracted from Coq
	@BUILD=$(BUILD) proofs/extract/extract.sh
