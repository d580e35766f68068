#!/usr/bin/env bash
# Proves the C code: `make prove-code`, or `proofs/code.sh UNIT ...`.
#
# proofs/code/targets.tsv: unit, source, least number of goals. For each:
#   * every goal is proved (WP with runtime errors, unsigned wrap and narrowing,
#     memory model checked, a missing contract is an error)
#   * no smoke test fails (no contradiction in contracts, no dead code)
#   * at least the stated number of goals (an emptied body proves 0 of 0)
#   * a contract that is used without proof ("considered valid") belongs to a
#     function that another unit proves, or that proofs/TRUSTED.md names
# and every file of ring kernel or driver is in the table.
#
# WP_CACHE=replay (default): results of proofs/cache are used, the rest is run;
# update: the same and new results are kept; none: every prover runs.
# Last line: `code: N passed, M failed`; a unit's goals are counted one by one.
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 2
out=build/prove
mkdir -p "$out" proofs/cache
cache=${WP_CACHE:-replay}
jobs=${JOBS:-2}
passed=0
failed=0
complain() { failed=$((failed + 1)); echo "code: FAIL $*"; }

command -v frama-c >/dev/null || { echo "code: frama-c is missing; make deps"; exit 2; }
export WHY3CONFIG=$PWD/$out/why3.conf
[[ -s $WHY3CONFIG ]] || why3 config detect >/dev/null 2>&1
share=$(frama-c -print-share-path)


digest() { # the file and every header of ours that it includes
  gcc -I. -MM "$1" | tr -d '\\' | tr ' ' '\n' | grep -E '\.(c|h)$' | sort -u |
    xargs cat | sha256sum | cut -d' ' -f1
}

prove() { # unit source floor
  local log=$out/$1.log line proved total doomed
  frama-c -cpp-extra-args="-I. -I$share/libc -D__FRAMAC__" \
    -kernel-warn-key annot:missing-spec=abort \
    -wp -wp-rte -warn-unsigned-overflow -warn-unsigned-downcast \
    -wp-smoke-tests -wp-check-memory-model -wp-prover z3,cvc4 \
    -wp-cache "$cache" -wp-cache-dir proofs/cache -wp-cache-print \
    -wp-steps "${WP_STEPS:-20000000}" -wp-timeout "${WP_TIMEOUT:-30}" -wp-par "$jobs" "$2" \
    -then -report -report-classify -report-unclassified-unknown ERROR \
    -report-status -report-output "$out/$1.report.json" \
    >"$log" 2>&1
  line=$(grep -oE 'Proved goals: +[0-9]+ / [0-9]+' "$log" | tail -1)
  proved=$(echo "$line" | grep -oE '[0-9]+' | head -1)
  total=$(echo "$line" | grep -oE '[0-9]+' | tail -1)
  proved=${proved:-0}
  total=${total:-0}
  passed=$((passed + proved))
  doomed=$(grep -cE '\[(Failed|Doomed)\] Smoke|Failed smoke' "$log")
  if [[ $total -eq 0 || $proved -ne $total ]]; then
    complain "$1: $proved of $total goals"
    grep -E '\[(Failed|Timeout|Unknown|Unsuccess)\]|User Error|error' "$log" | head -8
  fi
  [[ $doomed -eq 0 ]] || complain "$1: $doomed smoke tests failed"
  [[ $total -ge $3 ]] || complain "$1: $total goals, at least $3 expected"
  printf '%-24s %5s of %-5s goals\n' "$1" "$proved" "$total"
  printf 'code\t%s\t%s\t%s\t%s\t%s\n' "$1" "$proved" "$total" "$2" "$(digest "$2")" >>"$out/code.tsv"
}

: >"$out/code.tsv"
while IFS=$'\t' read -r unit source floor; do
  [[ -z "$unit" || "$unit" == \#* ]] && continue
  if [[ $# -gt 0 && " $* " != *" $unit "* ]]; then continue; fi
  prove "$unit" "$source" "$floor"
done <proofs/code/targets.tsv

if [[ $# -eq 0 ]]; then
  sed -n 's/.*annotating function \([a-z0-9_]*\).*/\1/p' "$out"/*.log | sort -u >"$out/proved.txt"
  awk '/^--- Properties of Function/ {gsub(/\047/, "", $5); name = $5} /^--- Properties of File|^--- Global/ {name = ""}
       /^\[ Extern/ && name != "" {print name}' "$out"/*.log | sort -u >"$out/used.txt"
  for name in $(comm -23 "$out/used.txt" "$out/proved.txt"); do
    grep -q "\`$name\`" proofs/TRUSTED.md || complain "$name: its contract is used, not proved, and not in TRUSTED.md"
  done
  for f in $(grep -lE '^/\* ring: (kernel|driver) \*/' */*.c); do
    grep -qP "\t$f\t" proofs/code/targets.tsv || complain "$f is in no target"
  done
fi
echo "code: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
