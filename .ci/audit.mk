# The audit's own targets. The samplers of specimens and the scoring loops are
# compiled for speed; sqrt() need not set errno there.
$(BUILD)/obj/audit/%.o: override CFLAGS += -O3 -fno-math-errno -fno-trapping-math

AUDIT_SAMPLES ?= 1e7
audit: all ## attack every specimen and Assay's own samplers, 10 million runs each
	$(BUILD)/assay audit catalogue --samples $(AUDIT_SAMPLES) --floor 0.95 $(AUDIT_FLAGS)

audit-full: all ## the same with 200 million runs each
	$(BUILD)/assay audit catalogue --samples 2e8 $(AUDIT_FLAGS)

# Four pictures of bound against samples for docs/audit.md.
audit-curves: all ## draw bound against samples for four specimens
	mkdir -p docs/figures
	for s in Laplace PrefixSum SVT3 FloatLaplace-1; do \
	  $(BUILD)/assay audit curve $$s --samples 3e6 --svg docs/figures/audit-$$s.svg || exit 1; \
	done
.PHONY: audit-curves

# assay-mpi: the audit over the ranks of OpenMPI (libopenmpi-dev, openmpi-bin;
# not needed for anything else).
MPICC ?= mpicc
$(BUILD)/assay-mpi: audit/mpi/assay_mpi.c $(CLI_OBJ) $(BUILD)/libtool.a $(BUILD)/libassay.a
	@echo "  MPI  $@"
	$(Q)$(MPICC) $(CPPFLAGS) -std=c11 $(OPT) $(CFLAGS) -o $@ $< \
	  $(filter-out %/cli/main.o,$(CLI_OBJ)) $(BUILD)/libtool.a $(BUILD)/libassay.a \
	  $(LDFLAGS) $(LIBS)

mpi: $(BUILD)/assay-mpi ## the audit over OpenMPI ranks: build/assay-mpi
.PHONY: mpi
