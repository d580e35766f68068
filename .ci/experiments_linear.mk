# Experiments of the linear learners and of policy evaluation.
LINEAR_EXPERIMENTS := dp-vapvi ope-chain ope-steps ope-control gpope-sigma

.PHONY: experiments-linear $(addprefix experiment-,$(LINEAR_EXPERIMENTS))

experiments: experiments-linear
experiments-linear: $(addprefix experiment-,$(LINEAR_EXPERIMENTS)) ## linear learners and policy evaluation (minutes)

$(addprefix experiment-,$(LINEAR_EXPERIMENTS)): experiment-%: all
	ASSAY=$(BUILD)/assay bash docs/experiments/run_linear.sh $*
