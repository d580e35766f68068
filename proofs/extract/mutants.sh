#!/bin/sh
# Seeds one bug at a time (mutants.tsv: source, samplers, old text, new text) and
# checks that the comparison of extract.sh sees it. Run extract.sh before. Last
# line: `extract-mutants: N passed, M failed`, where passed means caught.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 2
root=$(cd "$here/../.." && pwd) || exit 2
build=${BUILD:-build}
case $build in /*) ;; *) build=$root/$build ;; esac
out=$build/extract
count=${COUNT:-20000}
seed=${SEED:-1}
libs="-ljansson -lflint-arb -lflint -lmpfr -lgmp -lcrypto -lpthread -lm"
tab=$(printf '\t')
passed=0
failed=0
[ -x "$out/oracle" ] || { echo "extract-mutants: run extract.sh first"; exit 2; }
cd "$out" || exit 2
while IFS=$tab read -r source names old new; do
	case $source in '' | \#*) continue ;; esac
	if ! OLD=$old NEW=$new awk '
		{ text = text $0 "\n" }
		END { at = index(text, ENVIRON["OLD"]); if (!at) exit 1
			printf "%s%s%s", substr(text, 1, at - 1), ENVIRON["NEW"],
				substr(text, at + length(ENVIRON["OLD"])) }' "$root/$source" >mutant.c; then
		failed=$((failed + 1)); echo "STALE   $source: $old"; continue
	fi
	${CC:-cc} -std=c11 -O2 -w -I"$root" -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -o mutant \
		"$here/peer.c" mutant.c "$build/libassay.a" ${LDFLAGS:-} $libs || { failed=$((failed + 1)); continue; }
	caught=0
	for name in $names; do
		./oracle gen "$name" "$count" "$seed" >mutant.tapes
		./oracle <mutant.tapes >mutant.coq
		timeout 60 ./mutant <mutant.tapes >mutant.out 2>/dev/null
		cmp -s mutant.coq mutant.out || caught=1
	done
	if [ $caught -eq 1 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1)); echo "MISSED  $source: $new"; fi
done <"$here/mutants.tsv"
rm -f mutant mutant.*
echo "extract-mutants: $passed passed, $failed failed"
[ $failed -eq 0 ]
