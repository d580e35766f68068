# The audit's own targets. The samplers of specimens and the scoring loops are
# compiled for speed; sqrt() need not set errno there.
$(BUILD)/obj/audit/%.o: override CFLAGS += -O3 -fno-math-errno -fno-trapping-math
