#!/usr/bin/env bash
# Runs test programs, and after "--" test scripts; prints one line each and
# the sum "N passed, N failed". A cmocka program counts each of its tests; any
# other program or script counts as one unless it ends with "N passed, N failed".
set -u
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
  local start=$SECONDS p f
  "$@" >"$log" 2>&1
  local rc=$?
  p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -1)
  f=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s), listed.*/\1/p' "$log" | tail -1)
  if [[ -z "$p" ]]; then
    p=$(sed -n 's/^\(.*: \)\{0,1\}\([0-9]*\) passed, [0-9]* failed$/\2/p' "$log" | tail -1)
    f=$(sed -n 's/^\(.*: \)\{0,1\}[0-9]* passed, \([0-9]*\) failed$/\2/p' "$log" | tail -1)
  fi
  if [[ -z "$p" ]]; then
    if [[ $rc -eq 0 ]]; then p=1; f=0; else p=0; f=1; fi
  fi
  f=${f:-0}
  [[ $rc -ne 0 && $f -eq 0 ]] && f=1
  passed=$((passed + p))
  failed=$((failed + f))
  printf '%-56s %4d passed %3d failed %4d s\n' "${*: -1}" "$p" "$f" $((SECONDS - start))
  if [[ $f -ne 0 ]]; then sed 's/^/    /' "$log" | tail -60; fi
}
scripts=0
for t in "$@"; do
  if [[ "$t" == "--" ]]; then scripts=1; continue; fi
  if [[ $scripts -eq 1 ]]; then run bash "$t"; else run "$t"; fi
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
