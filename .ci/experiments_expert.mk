# Experiments of the expert level.
.PHONY: experiment-expert experiment-expert-full

experiment-expert: all ## expert-level learning on CartPole and Acrobot (minutes)
	ASSAY=$(BUILD)/assay bash docs/experiments/run_expert.sh

experiment-expert-full: all ## LunarLander, HIV and the paper's network (hours)
	ASSAY=$(BUILD)/assay bash docs/experiments/run_expert.sh full
