#!/bin/sh
# Extracts the samplers of proofs/coq/samplers to OCaml and runs them beside the
# C code on recorded tapes: `make prove-extract`, from any directory.
#
#   1. compile proofs/coq/{base,samplers} and Extract.v (in build/extract)
#   2. build the oracle (OCaml, Zarith) and the peer (C, build/libassay.a)
#   3. for each sampler COUNT tapes (default 135000, of which at least 100000 are long enough): random, boundary and
#      tie-forcing words; value and number of words must agree line by line
#
# Needs build/libassay.a (make). COUNT, SEED and NAMES may be set. Last line:
# `extract: N passed, M failed`; the exit code is 0 if M is 0.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 2
root=$(cd "$here/../.." && pwd) || exit 2
build=${BUILD:-build}
case $build in /*) ;; *) build=$root/$build ;; esac
out=$build/extract
count=${COUNT:-135000}
seed=${SEED:-1}
names=${NAMES:-"uniform bernoulli bernoulli_exp_unit bernoulli_exp geometric
	discrete_laplace discrete_gaussian permutation below_exp inverse_gaussian
	inverse_laplace inverse_rounded_gaussian inverse_rounded_laplace
	blocks_gaussian blocks_laplace sparse_vector noisy_max"}
libs="-ljansson -lflint-arb -lflint -lmpfr -lgmp -lcrypto -lpthread -lm"
passed=0
failed=0

for tool in coqc coqdep ocamlfind ocamlopt make; do
	command -v $tool >/dev/null 2>&1 || {
		echo "extract: $tool not found (Debian: coq ocaml-findlib ocaml-nox libzarith-ocaml-dev)"
		exit 2
	}
done
mkdir -p "$out/base" "$out/samplers" && cd "$out" || exit 2

# ---- 1. Coq ----
flags="-Q base Assay.base -Q samplers Assay.samplers"
for f in "$root"/proofs/coq/base/*.v "$root"/proofs/coq/samplers/*.v; do
	rel=$(basename "$(dirname "$f")")/$(basename "$f")
	cmp -s "$f" "$rel" || cp "$f" "$rel"
done
cmp -s "$here/Extract.v" Extract.v || cp "$here/Extract.v" Extract.v
{
	echo "COQC := coqc -q -w -ambiguous-paths $flags"
	echo 'Extract.vo: Extract.v'
	printf '%%.vo: %%.v\n\t@$(COQC) $<\n'
	coqdep $flags base/*.v samplers/*.v Extract.v 2>/dev/null | awk '{
		for (i = 1; i <= NF; i++) if ($i == ":" || $i ~ /:$/) break
		if ($1 !~ /\.vo$/) next
		line = $1 " :"
		for (j = i + 1; j <= NF; j++) if ($j ~ /\.(v|vo)$/) line = line " " $j
		print line }'
} >rules.mk
make -s -j2 -f rules.mk Extract.vo || { echo "extract: coqc failed"; exit 1; }

# ---- 2. programs ----
cp "$here"/digits.ml "$here"/tapes.ml "$here"/oracle.ml . || exit 2
ocamlfind ocamlopt -O3 -w -a -package zarith -linkpkg samplers.mli samplers.ml \
	digits.ml tapes.ml oracle.ml -o oracle 2>ocaml.log || { cat ocaml.log; exit 1; }
[ -e "$build/libassay.a" ] || { echo "extract: $build/libassay.a not found (run make)"; exit 2; }
${CC:-cc} -std=c11 -O2 -g -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror \
	-I"$root" -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE ${CFLAGS:-} -o peer \
	"$here/peer.c" "$build/libassay.a" ${LDFLAGS:-} $libs || exit 1

# ---- 3. compare ----
for name in $names; do
	./oracle gen "$name" "$count" "$seed" >"$name.tapes" || exit 2
	./oracle <"$name.tapes" >"$name.coq" || exit 2
	./peer <"$name.tapes" >"$name.c"
	status=$?
	lines=$(wc -l <"$name.coq")
	short=$(grep -c short "$name.coq")
	if [ $status -eq 0 ] && [ "$lines" -eq "$count" ] && cmp -s "$name.coq" "$name.c"; then
		passed=$((passed + 1))
		echo "extract: $name: $lines tapes agree ($short too short)"
		rm -f "$name.tapes" "$name.coq" "$name.c"
	else
		failed=$((failed + 1))
		echo "extract: FAIL $name (tape, Coq, C):"
		paste -d '|' "$name.tapes" "$name.coq" "$name.c" | awk -F'|' '$2 != $3' | head -3 | cut -c 1-600
	fi
done
echo "extract: $passed passed, $failed failed"
[ $failed -eq 0 ]
