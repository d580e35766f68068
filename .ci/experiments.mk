# Experiments: each writes its CSV and SVG into docs/experiments/.
EXPERIMENTS := dp-apvi online vtr triples cost

.PHONY: experiments $(addprefix experiment-,$(EXPERIMENTS))

experiments: $(addprefix experiment-,$(EXPERIMENTS)) ## run every experiment (about ten minutes)

$(addprefix experiment-,$(EXPERIMENTS)): experiment-%: all
	ASSAY=$(BUILD)/assay bash docs/experiments/run.sh $*

# How long stable prefixes are (trains experts: several minutes).
.PHONY: experiment-prefixes
experiment-prefixes: all ## stable prefixes by threshold and budget
	ASSAY=$(BUILD)/assay docs/experiments/run_prefixes.sh
