# Assay: one Makefile for everything. `make help` lists the targets.
.DEFAULT_GOAL := all
SHELL := /bin/bash

VERSION := 0.1.0
SOVERSION := 0
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
CXX ?= g++
WP_CACHE ?= replay

WARN := -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror
OPT ?= -O3
CPPFLAGS += -I. -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE \
            -DASSAY_VERSION='"$(VERSION)"'
BASE_CFLAGS := -std=c11 -g $(OPT) -fPIC -fno-strict-overflow $(WARN)
CFLAGS ?=
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LIBS := -lmpfr -lgmp -lcrypto -lsqlite3 -ljansson -lyaml -lflint-arb -lflint \
        -lfftw3 -lhdf5_serial -llapacke -lopenblas -lbox2d -lstdc++ -lpthread -lm
CPPFLAGS += -I/usr/include/hdf5/serial
LDFLAGS += -L/usr/lib/$(shell $(CC) -dumpmachine 2>/dev/null)/hdf5/serial
# One thin shim is C++ (docs/decisions/005-box2d.md); the linker stays $(CC).
COMPILE_CXX = $(CXX) $(CPPFLAGS) -std=c++11 -g $(OPT) -fPIC -fno-exceptions \
              -ffp-contract=off $(WARN) $(CFLAGS) -MMD -MP -c -o $@ $<
# Nobody reads errno or the flags of floating point after this arithmetic: its
# roots and divisions may go several at once, with the same bits.
$(BUILD)/obj/algorithms/dp_apvi_plan.o $(BUILD)/obj/algorithms/dp_apvi_side.o \
$(BUILD)/obj/algorithms/dp_apvi_side8.o: BASE_CFLAGS += -fno-math-errno -fno-trapping-math
COMPILE = $(CC) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The library is the first four rooms; audit/ is never linked into it.
LIB_SRC := $(wildcard core/*.c accountant/*.c mechanisms/*.c algorithms/*.c)
LIB_CXX_SRC := $(wildcard algorithms/*.cc)
TOOL_SRC := $(wildcard audit/*.c audit/specimens/*.c certificate/*.c cli/*.c)
TEST_SRC := $(wildcard tests/*/test_*.c)
LAW_SRC := $(wildcard tests/*/law_*.c)
FUZZ_SRC := $(wildcard tests/*/fuzz_*.c)
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
# audit/ and certificate/ are part of the tool; their tests link this archive.
TOOL_LIB_SRC := $(filter-out cli/%,$(TOOL_SRC))

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_OBJ := $(call obj,$(LIB_SRC)) $(patsubst %.cc,$(BUILD)/obj/%.o,$(LIB_CXX_SRC))
TOOL_LIB_OBJ := $(call obj,$(TOOL_LIB_SRC))
CLI_OBJ := $(call obj,$(wildcard cli/*.c))
TESTS := $(patsubst %.c,$(BUILD)/%,$(TEST_SRC))
LAWS := $(patsubst %.c,$(BUILD)/%,$(LAW_SRC))
BENCHES := $(patsubst %.c,$(BUILD)/%,$(BENCH_SRC))

.PHONY: all help deps test law fuzz bench lint docs install clean mutants \
        prove prove-theory prove-code prove-flow prove-extract audit audit-full certify \
        test-asan test-clang test-valgrind format

all: $(BUILD)/libassay.a $(BUILD)/libassay.so $(BUILD)/assay ## library, tool

help: ## this list
	@echo "make certify            certify the example deployment: report in build/certify/"
	@echo "make test               unit, edge, law and command tests"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24
	@echo "prove-NAME              the proofs of one unit, e.g. prove-uniform"
	@echo "Variables: BUILD PREFIX DESTDIR CC V=1 WP_CACHE=replay|update|none AUDIT_FLAGS=--json"

deps: $(BUILD)/deps.stamp ## install Debian packages that are missing

$(BUILD)/deps.stamp: .ci/packages.txt
	@mkdir -p $(BUILD)
	@.ci/deps
	@touch $@

V ?= 0
ifeq ($(V),0)
Q := @
endif

.SECONDARY:
$(BUILD)/obj/%.o: %.c | $(BUILD)/deps.stamp
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(COMPILE)

$(BUILD)/obj/%.o: %.cc | $(BUILD)/deps.stamp
	@mkdir -p $(@D)
	@echo "  CXX  $<"
	$(Q)$(COMPILE_CXX)

$(BUILD)/libassay.a: $(LIB_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/libtool.a: $(TOOL_LIB_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/libassay.so: $(LIB_OBJ) core/libassay.map
	@echo "  LD   $@"
	$(Q)$(CC) -shared $(CFLAGS) -Wl,-soname,libassay.so.$(SOVERSION) \
	  -Wl,--version-script,core/libassay.map -Wl,--no-undefined \
	  -o $@ $(LIB_OBJ) $(LDFLAGS) $(LIBS)
	$(Q)ln -sf libassay.so $(BUILD)/libassay.so.$(SOVERSION)

$(BUILD)/assay: $(CLI_OBJ) $(BUILD)/libtool.a $(BUILD)/libassay.a
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $(CLI_OBJ) $(BUILD)/libtool.a $(BUILD)/libassay.a $(LDFLAGS) $(LIBS)

# Test, law and bench programs: one source each, with shared helpers tests/support/*.c
SUPPORT_OBJ := $(call obj,$(wildcard tests/support/*.c))
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(SUPPORT_OBJ) $(BUILD)/libtool.a $(BUILD)/libassay.a
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $< $(SUPPORT_OBJ) $(BUILD)/libtool.a $(BUILD)/libassay.a \
	  $(LDFLAGS) $(LIBS) -lcmocka

test: all $(TESTS) $(LAWS) $(BENCHES) ## every test; ends with "N passed, N failed"
	@BUILD=$(BUILD) tests/run.sh $(TESTS) $(LAWS) -- $(wildcard tests/*/test_*.sh)

test-asan: ## the tests under AddressSanitizer and UBSan
	$(MAKE) BUILD=build/asan CFLAGS="$(SAN_FLAGS)" OPT=-O1 test

test-valgrind: all $(TESTS) ## the unit tests of core and mechanisms under valgrind
	@for t in $(filter $(BUILD)/tests/core/% $(BUILD)/tests/mechanisms/test_t% $(BUILD)/tests/mechanisms/test_samplers,$(TESTS)); do \
	  valgrind -q --error-exitcode=9 --leak-check=full $$t || exit 1; done

test-clang: ## the tests built by clang
	$(MAKE) BUILD=build/clang CC=clang test

law: $(LAWS) ## statistical tests of the sampling laws, large samples
	@BUILD=$(BUILD) ASSAY_LAW_SCALE=20 tests/run.sh $(LAWS)

bench: $(BENCHES) ## print the benchmark tables
	@for b in $(BENCHES); do echo "== $$b"; $$b || exit 1; done

-include $(wildcard .ci/*.mk)
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

clean: ## remove build products
	rm -rf build
