#!/bin/sh
# certificate/coqc.sh SOURCE FILE.v
# Checks a generated guarantee with Coq against SOURCE/proofs/coq, compiled to
# SOURCE/build/coq (what is missing or older than its source is compiled first).
# The theorems `guarantee` and, where it is there, `visit_counts` may rest on the axioms of the classical reals only.
# Last line: `guarantee: checked` and exit 0, or the reason and exit 1; exit 2
# if Coq or the theory is missing.
set -u
LC_ALL=C
export LC_ALL
source=$1
file=$(cd "$(dirname "$2")" && pwd)/$(basename "$2") || exit 2
out=$source/build/coq
command -v coqc >/dev/null 2>&1 || { echo "coqc is not installed (Debian: coq libcoq-interval libcoq-coquelicot)"; exit 2; }
[ -e "$source/proofs/coq/_CoqProject" ] || { echo "no theory in $source/proofs/coq; name the source tree with --source"; exit 2; }
mkdir -p "$out" && cd "$out" || exit 2
source=$(cd ../.. && pwd)
flags=$(tr '\n' ' ' <"$source/proofs/coq/_CoqProject")
for d in $(awk '$1 == "-Q" { print $2 }' "$source/proofs/coq/_CoqProject"); do
	mkdir -p "$d"
	for f in "$source/proofs/coq/$d"/*.v; do
		[ -e "$f" ] || continue
		cmp -s "$f" "$d/$(basename "$f")" || cp "$f" "$d/$(basename "$f")"
	done
done
goals="rules/Releases.vo base/PureInterval.vo"
grep -q PureReleases "$file" && goals="$goals rules/PureReleases.vo"
grep -q Sensitivity "$file" && goals="$goals rules/Sensitivity.vo"
last=guarantee
grep -q '^Corollary visit_counts' "$file" && last=visit_counts
{
	printf '%%.vo: %%.v\n\t@echo "coqc $<" >&2; coqc -q %s -w -ambiguous-paths $<\n' "$flags"
	# shellcheck disable=SC2086
	coqdep $flags base/*.v rules/*.v 2>/dev/null | awk '{
		n = index($0, ":"); split(substr($0, 1, n - 1), t, " "); deps = substr($0, n + 1)
		if (t[1] ~ /\.vo$/) { gsub(/[^ ]*\.v( |$)/, "", deps); print t[1] ":" deps } }'
} >certificate.mk
# shellcheck disable=SC2086
if ! make -s -q -f certificate.mk $goals 2>/dev/null; then
	echo "compiling the theory once (a few minutes)" >&2
	make -s -j2 -f certificate.mk $goals >&2 || { echo "the theory does not compile"; exit 2; }
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
{ cat "$file"; printf 'Print Assumptions %s.\n' "$last"; } >"$scratch/guarantee.v"
# shellcheck disable=SC2086
if ! (timeout 120 coqc -q $flags -w -all "$scratch/guarantee.v") >"$scratch/log" 2>&1; then
	tr '\n' ' ' <"$scratch/log" | sed 's/  */ /g' | cut -c1-300
	exit 1
fi
extra=$(awk '/^[A-Za-z_][A-Za-z0-9_.]*( :.*)?$/ && $1 != "Axioms:" { n = $1; sub(/^.*\./, "", n); print n }' "$scratch/log" |
	grep -vxE 'classic|functional_extensionality_dep|sig_forall_dec|sig_not_dec|Closed' | tr '\n' ' ')
if [ -n "$extra" ]; then
	echo "the theorem rests on: $extra"
	exit 1
fi
echo "guarantee: checked"
