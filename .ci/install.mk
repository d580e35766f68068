# Installing, documentation, linting and fuzzing.
install: all ## install below DESTDIR and PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig \
	  $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BUILD)/assay $(DESTDIR)$(PREFIX)/bin/assay
	install -m 644 $(BUILD)/libassay.a $(DESTDIR)$(PREFIX)/lib/libassay.a
	install -m 755 $(BUILD)/libassay.so $(DESTDIR)$(PREFIX)/lib/libassay.so.$(VERSION)
	ln -sf libassay.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libassay.so.$(SOVERSION)
	ln -sf libassay.so.$(SOVERSION) $(DESTDIR)$(PREFIX)/lib/libassay.so
	for room in core accountant mechanisms algorithms; do \
	  install -d $(DESTDIR)$(PREFIX)/include/assay/$$room; \
	  install -m 644 $$room/*.h $(DESTDIR)$(PREFIX)/include/assay/$$room; done
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' docs/assay.pc.in \
	  >$(DESTDIR)$(PREFIX)/lib/pkgconfig/assay.pc
	install -m 644 docs/assay.1 $(DESTDIR)$(PREFIX)/share/man/man1/assay.1

docs: all ## check that the documents' links resolve
	@.ci/check-docs

LINT_SRC := $(LIB_SRC) $(TOOL_SRC)
FORMAT_SRC := $(LIB_SRC) $(TOOL_SRC) $(wildcard */*.h audit/specimens/*.h tests/*/*.h tests/*/*.c)
lint: | $(BUILD)/deps.stamp ## layout, clang warnings, clang-tidy and cppcheck
	clang-format --dry-run -Werror $(FORMAT_SRC)
	@for f in $(LINT_SRC); do clang $(CPPFLAGS) -std=c11 $(WARN) -fsyntax-only $$f || exit 1; done
	cppcheck -q --error-exitcode=1 --std=c11 -I. --enable=warning,portability \
	  --suppress=missingIncludeSystem --inline-suppr -D__x86_64__ $(LINT_SRC)
	clang-tidy -quiet $(LINT_SRC) -- $(CPPFLAGS) -std=c11 2>/dev/null

FUZZERS := $(patsubst %.c,build/fuzz/%,$(FUZZ_SRC))
FUZZ_SECONDS ?= 20
LIB_CXX_OBJ := $(patsubst %.cc,$(BUILD)/obj/%.o,$(LIB_CXX_SRC))
build/fuzz/%: %.c $(LIB_SRC) $(LIB_CXX_OBJ)
	@mkdir -p $(@D)
	clang $(CPPFLAGS) -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined \
	  -DASSAY_CSV_RECORD='((size_t)64)' \
	  -fno-sanitize-recover=all -o $@ $< $(LIB_SRC) $(LIB_CXX_OBJ) $(LDFLAGS) $(LIBS)
fuzz: $(FUZZERS) ## libFuzzer on every input, FUZZ_SECONDS each
	@set -o pipefail; for f in $(FUZZERS); do echo "== $$f"; mkdir -p $$f.corpus; seeds=$${f#build/fuzz/}.seeds; \
	  [ ! -d $$seeds ] || cp $$seeds/* $$f.corpus; \
	  $$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2000 -print_final_stats=0 $$f.corpus 2>&1 | tail -2 || exit 1; done

format: ## lay out the sources with clang-format
	clang-format -i $(FORMAT_SRC)
