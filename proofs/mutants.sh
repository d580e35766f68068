#!/usr/bin/env bash
# Seeds one bug at a time (proofs/code/mutants.tsv: source, function, old text,
# new text) and checks that the proof of that function then fails, while without
# the bug it goes through in the same time. The cache is off. Last line:
# `mutants: N passed, M failed`, where passed means caught.
set -u
cd "$(dirname "$0")/.." || exit 2
out=build/mutants
mkdir -p "$out" build/prove
export WHY3CONFIG=$PWD/build/prove/why3.conf
[[ -s $WHY3CONFIG ]] || why3 config detect >/dev/null 2>&1
share=$(frama-c -print-share-path)
passed=0
failed=0
number=0

prove() { # function file log: sets proved and total
  frama-c -cpp-extra-args="-I. -I$share/libc -D__FRAMAC__" -wp -wp-rte \
    -warn-unsigned-overflow -warn-unsigned-downcast -wp-prover z3,cvc4 \
    -wp-timeout 8 -wp-par "${JOBS:-2}" -wp-cache none -wp-fct "$1" "$2" >"$3" 2>&1
  read -r proved total <<<"$(grep -oE 'Proved goals: +[0-9]+ / [0-9]+' "$3" | tail -1 | grep -oE '[0-9]+' | tr '\n' ' ')"
}

declare -A whole # function of a source: 1 if it is proved without the bug
is_whole() { # source function
  local key=$1:$2
  if [[ -z "${whole[$key]:-}" ]]; then
    prove "$2" "$1" "$out/whole-$2.log"
    whole[$key]=$((${total:-0} > 0 && ${proved:-0} == ${total:-0}))
  fi
  [[ ${whole[$key]} -eq 1 ]]
}

while IFS=$'\t' read -r source fct old new; do
  [[ -z "$source" || "$source" == \#* ]] && continue
  number=$((number + 1))
  if [[ $# -gt 0 && "$source" != *"$1"* ]]; then continue; fi
  mutant=$out/$number-$(basename "$source")
  OLD=$old NEW=$new python3 - "$source" "$mutant" <<'P' || { failed=$((failed + 1)); echo "STALE   $source: $old"; continue; }
import os, sys
text = open(sys.argv[1]).read()
old = os.environ["OLD"]
if text.count(old) < 1:
    sys.exit(1)
open(sys.argv[2], "w").write(text.replace(old, os.environ["NEW"], 1))
P
  if ! gcc -I. -std=c11 -fsyntax-only "$mutant" 2>/dev/null; then
    failed=$((failed + 1))
    echo "BROKEN  $source: $new does not compile"
    continue
  fi
  if ! is_whole "$source" "$fct"; then
    failed=$((failed + 1))
    echo "VACUOUS $source: $fct is not proved without the bug either"
    continue
  fi
  prove "$fct" "$mutant" "$mutant.log"
  if [[ -n "${total:-}" && "$proved" -lt "$total" ]]; then
    passed=$((passed + 1))
    printf 'caught  %-32s %s -> %s (%s of %s goals)\n' "$source" "$old" "$new" "$proved" "$total"
  else
    failed=$((failed + 1))
    printf 'MISSED  %-32s %s -> %s\n' "$source" "$old" "$new"
  fi
done <proofs/code/mutants.tsv
echo "mutants: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
