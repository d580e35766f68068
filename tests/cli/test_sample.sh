#!/usr/bin/env bash
# The `assay sample` command: every law, both outputs, and bad input.
set -u
assay=${BUILD:-build}/assay
passed=0
failed=0
ok() { passed=$((passed + 1)); }
no() { failed=$((failed + 1)); echo "FAIL: $*"; }

gives() { # pattern of all lines, count, arguments
  local pattern=$1 count=$2 out
  shift 2
  out=$("$assay" sample "$@" 2>&1)
  if [[ $? -eq 0 && $(grep -cE "^($pattern)$" <<<"$out") -eq $count && $(wc -l <<<"$out") -eq $count ]]; then
    ok
  else
    no "$* gave ${out:0:80}"
  fi
}
gives '-?[0-9]+' 20 discrete-gaussian --sigma2 100 -n 20
gives '-?[0-9]+' 20 discrete-gaussian --sigma2 100 -n 20 --route 2
gives '-?[0-9]+' 20 discrete-gaussian --sigma2 1e24 -n 20
gives '-?[0-9]+' 20 discrete-gaussian --sigma2 7/3 -n 20 --constant-time
gives '-?[0-9]+' 20 discrete-laplace --scale 0.1 -n 20
gives '-?[0-9]+' 20 rounded-gaussian --sigma2 2 --step 2^-10 -n 20
gives '-?[0-9]+' 20 rounded-gaussian --sigma2 2 --step 2^-40 -n 20
gives '-?[0-9]+' 20 rounded-laplace --scale 2 --step 1 -n 20
gives '[0-9]+' 20 geometric --scale 10 -n 20
gives '0|1' 20 bernoulli-exp --x 1/2 -n 20
gives '1' 20 bernoulli-exp --x 0 -n 20
gives '[0-5]' 20 uniform --below 6 -n 20
gives '0' 3 uniform --below 1 -n 3
gives '0' 9 discrete-gaussian --sigma2 1/1000000 -n 9
gives '-?[0-9]+' 1 discrete-laplace --scale 3

[[ $("$assay" sample uniform --below 6 -n 1000 --raw | wc -c) -eq 8000 ]] && ok || no "--raw length"
"$assay" sample geometric --scale 5 -n 50 --json | jq -e '.law == "geometric" and (.values | length) == 50 and (.values | all(. >= 0))' >/dev/null && ok || no "--json"
[[ $("$assay" sample --help | grep -cE '^  assay sample ') -eq 7 ]] && ok || no "one example a law"

bad() { # arguments: exit code 2, one line on stderr, nothing on stdout
  local out err
  out=$("$assay" sample "$@" 2>"$tmp")
  local rc=$?
  err=$(wc -l <"$tmp")
  if [[ $rc -eq 2 && -z "$out" && $err -eq 1 ]]; then ok; else no "bad input $*: rc $rc, $err lines"; fi
}
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
bad
bad nosuch
bad discrete-gaussian
bad discrete-gaussian --sigma2 0
bad discrete-gaussian --sigma2 -3
bad discrete-gaussian --sigma2 1e400
bad discrete-gaussian --sigma2 1e999999
bad discrete-gaussian --sigma2 nan
bad discrete-gaussian --sigma2 inf
bad discrete-gaussian --sigma2 ''
bad discrete-gaussian --sigma2 1 --sigma2 2
bad discrete-gaussian --sigma2
bad discrete-gaussian --sigma2 1 -n 0
bad discrete-gaussian --sigma2 1 -n -5
bad discrete-gaussian --sigma2 1 -n 18446744073709551616
bad discrete-gaussian --sigma2 1 -n 1e300
bad discrete-gaussian --sigma2 1 --raw --json
bad discrete-gaussian --sigma2 1 --route 3
bad discrete-gaussian --sigma2 1 --route 2 --constant-time
bad discrete-laplace --scale 5000 --constant-time
bad discrete-laplace --scale 1e30
bad uniform --below 0
bad uniform --below 9223372036854775808
bad uniform --below 1.5
bad bernoulli-exp --x -1
bad geometric --scale 10 --constant-time
bad rounded-gaussian --sigma2 1
bad rounded-gaussian --sigma2 1 --step 0.3
bad rounded-gaussian --sigma2 1 --step 2^-999
bad discrete-gaussian --sigma2 1 extra
bad --nosuch

"$assay" sample discrete-gaussian --sigma2 1 -n 100000 >/dev/full 2>/dev/null
[[ $? -eq 1 ]] && ok || no "a full disk is an error"
if strings -a "$assay" | grep -q 'recorded.*tape file'; then no "a recorded tape can be named"; else ok; fi
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
