#!/usr/bin/env bash
# Compiles and runs every C block of docs/releases.md and docs/accountant.md: a
# block is the body of a function with a `custodian` and an `err`; one that
# begins with #define stands before all of them. The line
# `<!-- ledger: replace-one -->` above a block chooses its ledger.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/assay-docs.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
docs="docs/releases.md docs/accountant.md"

cat >"$work/examples.c" <<'C'
#include <gmp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "accountant/guarantee.h"
#include "accountant/ledger.h"
#include "core/bound.h"
#include "core/lattice.h"
#include "core/rational.h"
#include "mechanisms/choose.h"
#include "mechanisms/custodian.h"
#include "mechanisms/keys.h"
#include "mechanisms/local.h"
#include "mechanisms/local_report.h"
#include "mechanisms/quantile.h"
#include "mechanisms/query.h"
#include "mechanisms/release.h"
#include "mechanisms/sampled_sum.h"
#include "mechanisms/session.h"
#include "mechanisms/snapping.h"
#include "mechanisms/sparse_vector.h"
#include "mechanisms/tree.h"
static assay_custodian custodian;
static assay_error err = ASSAY_ERROR_INIT;
C
# blocks of macros first
awk '/^```c$/ { getline first; macro = first ~ /^#define/; if (macro) print first; next }
	/^```$/ { macro = 0 } macro' $docs >>"$work/examples.c"
awk '/^<!-- ledger: replace-one -->$/ { replace = 1 }
	/^```c$/ { getline first; if (first ~ /^#define/) next
		printf "static assay_status example_%d(void)\n{\n#line %d \"%s\"\n%s\n", ++n, FNR, FILENAME, first
		kinds = kinds (replace ? "1, " : "0, "); names = names "\"" FILENAME ":" FNR - 1 "\", "
		calls = calls "example_" n ", "; inside = 1; replace = 0; next }
	/^```$/ { if (inside) print "    return ASSAY_OK;\n}"; inside = 0; next }
	inside
	END { print "typedef assay_status example(void);"
		print "static example *const examples[] = {" calls "};"
		print "static const int replaces[] = {" kinds "};"
		print "static const char *const names[] = {" names "};" }' $docs >>"$work/examples.c"
cat >>"$work/examples.c" <<'C'
#line 1 "harness"
static int run(size_t i)
{
    assay_budget budget;
    assay_budget_init(&budget);
    budget.has_epsilon = 1;
    budget.neighbours = replaces[i] ? ASSAY_REPLACE_ONE : ASSAY_ADD_REMOVE;
    mpq_set_ui(budget.epsilon, 100, 1);
    mpq_set_ui(budget.delta, 1, 1000000);
    (void)unlink("L.db");
    if (assay_ledger_create("L.db", &budget, NULL, &err) != ASSAY_OK ||
        assay_custodian_init(&custodian, "L.db", &err) != ASSAY_OK) {
        return 0;
    }
    assay_budget_clear(&budget);
    assay_status status = examples[i]();
    assay_custodian_clear(&custodian);
    return status == ASSAY_OK;
}
int main(void)
{
    int failed = 0;
    size_t n = sizeof examples / sizeof examples[0];
    for (size_t i = 0; i < n; i++) {
        if (!run(i)) {
            failed++;
            printf("%s: %s\n", names[i], err.message);
        }
    }
    printf("%zu passed, %d failed\n", n - (size_t)failed, failed);
    return failed != 0;
}
C
{
	echo "patient,cost"
	for i in 1 2 3 4 5 6 7 8 9; do echo "p$i,$((i * 37))"; done
} >"$work/visits.csv"
libs="-lmpfr -lgmp -lcrypto -lsqlite3 -ljansson -lyaml -lflint-arb -lflint -lfftw3 -lpthread -lm"
# every status is checked: an ignored one is an error
if ! ${CC:-cc} -std=c11 -O1 -g -Wall -Wextra -Werror -Wno-shadow -Wno-unused-function -I. -D_POSIX_C_SOURCE=200809L \
	-D_DEFAULT_SOURCE ${CFLAGS:-} -o "$work/examples" "$work/examples.c" "$build/libassay.a" ${LDFLAGS:-} $libs 2>"$work/log"; then
	head -30 "$work/log"
	echo "0 passed, 1 failed"
	exit 1
fi
cd "$work" && ASAN_OPTIONS=detect_leaks=0 ./examples
