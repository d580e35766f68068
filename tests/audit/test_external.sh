#!/usr/bin/env bash
# `assay audit` against programs: honest, broken and malicious ones.
set -u
cd "$(dirname "$0")/../.."
assay=${BUILD:-build}/assay
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo 0 >"$dir/a"
echo 1 >"$dir/b"
passed=0
failed=0
. tests/support/check.sh
run() { # kind, samples, more options...
  local kind=$1 n=$2 patience=60
  shift 2
  # a busy machine may need seconds to start an interpreter: only the targets
  # that fall silent on purpose get a short timeout
  [[ $kind =~ ^(silent|forks)$ ]] && patience=5
  # ends at ten times the timeout on each side
  [[ $kind == endless-line ]] && patience=2
  echo "$assay" audit --left "$dir/a" --right "$dir/b" --claim eps=1 \
    --samples "$n" --timeout "$patience" "$@" -- python3 \
    tests/data/audit/target.py "$kind" "{input}" "{runs}" "$dir/"
}
check good 0 "Not refuted" $(run good 20000)
check bad 4 "REFUTED" $(run bad 20000)
check bad_json 4 '"refuted": true' $(run bad 20000 --json)
for field in epsilon_lower delta confidence refuted detection_limit samples \
  event counts attacker seconds; do
  if jq -e "has(\"$field\")" "$dir/out" >/dev/null; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL json field $field"
  fi
done
check words 4 "REFUTED" $(run words 20000)
catalogue=("$assay" audit catalogue --only SUE-bug --samples 100000)
check floor_met 0 "expected" "${catalogue[@]}" --floor 0.9
check floor_missed_by_four_audits 2 "mean of 4 audits" "${catalogue[@]}" --floor 0.9999
check floor_needs_the_oracle 2 "leave out" "${catalogue[@]}" --floor 0.9 --no-oracle
check sequential 4 "REFUTED" $(run bad 20000 --sequential)
check delta 0 "Not refuted" "$assay" audit --left "$dir/a" --right "$dir/b" \
  --claim eps=2.5,delta=1e-3 --samples 5000 -- \
  python3 tests/data/audit/target.py bad "{input}" "{runs}"
check keep 4 "REFUTED" $(run bad 20000 --keep "$dir/kept")
check again 4 "REFUTED" "$assay" audit --from "$dir/kept" --claim eps=1
check again_other_claim 0 "Not refuted" "$assay" audit --from "$dir/kept" --claim mu=4
check worker 4 "REFUTED" $(run worker 20000 --worker)
check timing 4 "REFUTED" $(run worker 3000 --worker --timing)
# the time of an honest worker tells nothing, whatever the machine does meanwhile
check timing_honest 0 "Not refuted" "$assay" audit --left "$dir/a" --right "$dir/b" \
  --claim eps=2.1 --samples 3000 --timeout 60 --worker --timing -- \
  python3 tests/data/audit/target.py worker "{input}" "{runs}" "$dir/"
check forever 0 "did not stop after 5000 outputs" $(run forever 5000)
check endless_line 2 "only 0 outputs|longer than|only 1 outputs" $(run endless-line 2000)
check silent 2 "silent after 0" $(run silent 1000)
check forks 0 "Not refuted" $(run forks 5000)
check stderr 0 "Not refuted" $(run stderr 5000)
check dies 0 "killed by signal 11 after 4999" $(run dies 5000)
check huge 0 "beyond the range of a double" $(run huge 5000)
check garbage 0 "Not refuted|REFUTED" $(run garbage 3000)
check nothing 2 "only 0 outputs" $(run nothing 1000)
check no_program 2 "cannot run" "$assay" audit --left a --right b --claim eps=1 -- ./no-such-program
check no_claim 2 "claim is missing" "$assay" audit --left a --right b -- true
check bad_claim 2 "must not be negative" "$assay" audit --left a --right b --claim eps=-1 -- true
check bad_option 2 "unknown" "$assay" audit --lfet a
check help 0 "usage: assay audit" "$assay" audit --help
check one_run 0 "0.6729" "$assay" audit one-run --canaries 1000 --guesses 100 --right 75 --delta 1e-4 --confidence 0.95
mkdir "$dir/search"
check search 4 "REFUTED" "$assay" audit --search "$dir/search" --rows 3 \
  --domain 0,10 --claim eps=1 --samples 20000 -- python3 \
  tests/data/audit/target.py spread "{input}" "{runs}" "$dir/"
check search_domain 2 "domain is LOW,HIGH" "$assay" audit --search "$dir/search" \
  --rows 3 --claim eps=1 -- true
check canary 0 "refuted: false" "$assay" audit canary --canaries 2000 --guesses 200 --sigma 4 --claim eps=2,delta=1e-5
check canary_broken 4 "refuted: true" "$assay" audit canary --canaries 2000 --guesses 200 --sigma 0.4 --claim eps=2,delta=1e-5
check canary_bad 2 "canaries" "$assay" audit canary --canaries 10 --guesses 200
# only our own: other copies of this test may be running
if pgrep -f "[t]arget.py .* $dir/" >/dev/null; then
  failed=$((failed + 1))
  echo "FAIL orphans"
else
  passed=$((passed + 1))
fi
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
