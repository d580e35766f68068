# Control problems are compared bit for bit with recordings: no fused multiply-add.
$(BUILD)/obj/algorithms/control%.o: override CFLAGS += -ffp-contract=off
