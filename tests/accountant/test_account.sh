#!/usr/bin/env bash
# The commands `assay account`, `assay calibrate` and `assay ledger`: what they
# print, and that bad input gets one line and exit code 2.
set -u
build=${BUILD:-build}
assay=$build/assay
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
ok() { passed=$((passed + 1)); }
no() { failed=$((failed + 1)); echo "FAILED: $*"; }

# refuse NAME CODE PATTERN COMMAND...: one line on stderr, nothing on stdout
refuse() {
  local name=$1 code=$2 pattern=$3
  shift 3
  timeout 60 "$@" >"$dir/out" 2>"$dir/err"
  local rc=$?
  if [[ $rc -ne $code ]]; then no "$name: exit $rc, not $code"; return; fi
  if [[ $(wc -l <"$dir/err") -ne 1 || -s "$dir/out" ]]; then no "$name: not one line"; cat "$dir/err"; return; fi
  if ! grep -qE "$pattern" "$dir/err"; then no "$name: $(cat "$dir/err")"; return; fi
  ok
}
bad() { # bad NAME PATTERN YAML
  printf '%s\n' "$3" >"$dir/bad.yaml"
  refuse "$1" 2 "line [0-9]+, column [0-9]+: .*$2" "$assay" account "$dir/bad.yaml" --delta 1e-6
}
e() { printf 'events:\n  - {%s}' "$1"; }

bad "unknown mechanism" "no theorem covers 'teleport'" "$(e 'mechanism: teleport')"
bad "unknown key" "does not take 'colour'" "$(e 'mechanism: pure, epsilon: 1, colour: red')"
bad "negative noise" "negative" "$(e 'mechanism: laplace, scale: -2')"
bad "zero noise" "scale must be positive" "$(e 'mechanism: laplace, scale: 0')"
bad "minus zero" "sigma" "$(e 'mechanism: gaussian, sigma: -0')"
bad "no noise given" "sigma2 must be positive" "$(e 'mechanism: gaussian')"
bad "no epsilon given" "needs epsilon" "$(e 'mechanism: pure')"
bad "rate above one" "lie in" "$(e 'mechanism: gaussian, sigma: 1, sampling: poisson, rate: 1.01')"
bad "rate missing" "needs a rate" "$(e 'mechanism: gaussian, sigma: 1, sampling: poisson')"
bad "rate without sampling" "need sampling" "$(e 'mechanism: gaussian, sigma: 1, rate: 0.1')"
bad "sampling of a vote" "no theorem here covers its sampling|does not take" "$(e 'mechanism: exponential, epsilon: 1, sampling: poisson, rate: 0.1')"
bad "delta of one" "below 1" "$(e 'mechanism: approximate, epsilon: 1, delta: 1')"
bad "nan" "not an exact number" "$(e 'mechanism: pure, epsilon: nan')"
bad "inf" "not an exact number" "$(e 'mechanism: pure, epsilon: .inf')"
bad "overflow" "not an exact number" "$(e 'mechanism: pure, epsilon: 1e999')"
bad "hexadecimal" "not an exact number" "$(e 'mechanism: pure, epsilon: 0x10')"
bad "count zero" "count must be at least 1" "$(e 'mechanism: pure, epsilon: 1, count: 0')"
bad "count negative" "count" "$(e 'mechanism: pure, epsilon: 1, count: -3')"
bad "count fraction" "count" "$(e 'mechanism: pure, epsilon: 1, count: 2.5')"
bad "count huge" "count" "$(e 'mechanism: pure, epsilon: 1, count: 1e30')"
bad "key twice" "twice" "$(e 'mechanism: pure, epsilon: 1, epsilon: 2')"
bad "alias" "alias" $'events:\n  - &a {mechanism: pure, epsilon: 1}\n  - *a'
bad "two documents" "one YAML document" $'events:\n  - {mechanism: pure, epsilon: 1}\n---\nevents: []'
bad "no events" "no events" "neighbours: add-remove"
bad "empty list" "no events" "events: []"
bad "not a map" "map" "- 1"
bad "a scalar event" "an event is a map" $'events:\n  - 3'
bad "neighbours unknown" "neither add-remove nor" $'neighbours: friends\nevents:\n  - {mechanism: pure, epsilon: 1}'
bad "unknown top key" "unknown key" $'budget: 3\nevents:\n  - {mechanism: pure, epsilon: 1}'
bad "mixed relation" "convert the list" $'neighbours: replace-one\nevents:\n  - {mechanism: gaussian, sigma: 1, sampling: poisson, rate: 0.1}'
bad "wrong relation" "replace-one" "$(e 'mechanism: gaussian, sigma: 1, sampling: without-replacement, population: 10, batch: 1')"
bad "batch above population" "batch" $'neighbours: replace-one\nevents:\n  - {mechanism: gaussian, sigma: 1, sampling: without-replacement, population: 10, batch: 11}'
bad "broken YAML" "not YAML" $'events:\n  - {mechanism: pure'
bad "control bytes" "not YAML" $'events:\n  - {mechanism: pure, epsilon: \x01}'
bad "nested values" "single value" "$(e 'mechanism: pure, epsilon: [1]')"
bad "nested garbage" "" "$(printf 'events: '; printf '[%.0s' $(seq 5000))"
bad "nested maps" "" "$(printf 'events: '; printf '{a: %.0s' $(seq 5000))"
bad "parallel of parallel" "parts" "$(e 'mechanism: parallel, parts: [{mechanism: parallel, parts: [{mechanism: pure, epsilon: 1}]}]')"
bad "curve below one" "orders above 1" "$(e 'mechanism: renyi, curve: [[1, 2]]')"
bad "cells without sensitivity" "must be cells" "$(e 'mechanism: discrete-gaussian, sigma2: 9, cells: 4, entry: 1')"
bad "cells without entry" "go together" "$(e 'mechanism: discrete-gaussian, sigma2: 9, sensitivity2: 4, cells: 4')"
bad "file delta" "delta must lie" $'delta: 1\nevents:\n  - {mechanism: pure, epsilon: 1}'

# a file above the limit, ten million events, garbage
head -c 10485760 /dev/zero | tr '\0' 'a' >"$dir/big.yaml"
refuse "10 MB" 2 "line 1, column 1" "$assay" account "$dir/big.yaml" --delta 1e-6
{ echo "events:"; yes -- "- {mechanism: pure, epsilon: 1}" | head -n 1000; } >"$dir/many.yaml"
{ echo "events:"; yes -- "- {}" | head -n 1500000; } >"$dir/empty.yaml"
refuse "events without a mechanism" 2 "line 2, column 3" "$assay" account "$dir/empty.yaml" --delta 1e-6
{ echo "events:"; yes -- "- {}" | head -n 10000000; } >"$dir/ten.yaml"
refuse "ten million events" 2 "line 1, column 1" "$assay" account "$dir/ten.yaml" --delta 1e-6
rm -f "$dir/ten.yaml" "$dir/big.yaml" "$dir/empty.yaml"
head -c 100000 /dev/urandom >"$dir/noise.yaml"
refuse "random bytes" 2 "line" "$assay" account "$dir/noise.yaml" --delta 1e-6

printf 'events:\n  - {mechanism: gaussian, sigma: 2, count: 100}\n' >"$dir/g.yaml"
refuse "delta above one" 2 "delta" "$assay" account "$dir/g.yaml" --delta 1
refuse "delta negative" 2 "delta" "$assay" account "$dir/g.yaml" --delta -1e-6
refuse "delta nan" 2 "exact number" "$assay" account "$dir/g.yaml" --delta nan
refuse "no target" 2 "target" "$assay" account "$dir/g.yaml"
refuse "both targets" 2 "one of" "$assay" account "$dir/g.yaml" --delta 1e-6 --epsilon 1
refuse "unknown option" 2 "unknown" "$assay" account "$dir/g.yaml" --delta 1e-6 --frobnicate
refuse "unknown method" 2 "no method" "$assay" account "$dir/g.yaml" --delta 1e-6 --method magic
refuse "no file" 1 "" "$assay" account "$dir/none.yaml" --delta 1e-6

# what it prints
check() { # check NAME EXPECTED ACTUAL
  if [[ "$2" == "$3" ]]; then ok; else no "$1: expected $2, got $3"; fi
}
json() { "$assay" account "$@" --json; }
check "best method" gaussian "$(json "$dir/g.yaml" --delta 1e-6 | jq -r .method)"
check "delta is exact" 0.000001 "$(json "$dir/g.yaml" --delta 1e-6 | jq -r .delta)"
check "ids are there" true "$(json "$dir/g.yaml" --delta 1e-6 | jq -r '[.methods[].theorems | length > 0] | all')"
check "best first" true "$(json "$dir/g.yaml" --delta 1e-6 | jq -r '[.methods[].epsilon | tonumber] | . == sort')"
check "epsilon swaps" gaussian "$(json "$dir/g.yaml" --epsilon 30 | jq -r .method)"
check "a thousand kinds in one" 1000 "$("$assay" account "$dir/many.yaml" --delta 0 --json --method basic | jq -r .epsilon)"
check "profile" 20 "$(json "$dir/g.yaml" --profile --method gaussian | jq -r '.profile | length')"
check "profile falls" true "$(json "$dir/g.yaml" --profile --method gaussian | jq -r '[.profile[].delta | tonumber] | . == (sort | reverse)')"
if command -v gnuplot >/dev/null; then
  "$assay" account "$dir/g.yaml" --method gaussian --plot "$dir/p.svg" && grep -q '</svg>' "$dir/p.svg" && ok || no "plot"
fi
"$assay" account --help | grep -q examples && ok || no "account --help"
"$assay" ledger --help | grep -q examples && ok || no "ledger --help"

# count n is n events
printf 'events:\n' >"$dir/n.yaml"
for _ in $(seq 50); do echo '  - {mechanism: randomized-response, p: 1/2}' >>"$dir/n.yaml"; done
printf 'events:\n  - {mechanism: randomized-response, p: 1/2, count: 50}\n' >"$dir/one.yaml"
check "50 singles are 50" "$(json "$dir/one.yaml" --delta 1e-6 | jq -r .epsilon)" "$(json "$dir/n.yaml" --delta 1e-6 | jq -r .epsilon)"

# every id printed is a Coq theorem or listed as paper-proved
cat >"$dir/all.yaml" <<'Y'
events:
  - {mechanism: gaussian, sigma: 3}
  - {mechanism: rounded-gaussian, sigma: 3}
  - {mechanism: discrete-gaussian, sigma2: 30, sensitivity2: 2}
  - {mechanism: discrete-gaussian, sigma2: 30, dimension: 1}
  - {mechanism: laplace, scale: 9}
  - {mechanism: rounded-laplace, scale: 9}
  - {mechanism: discrete-laplace, scale: 9, sensitivity: 2}
  - {mechanism: randomized-response, p: 9/10}
  - {mechanism: exponential, epsilon: 1/9}
  - {mechanism: noisy-max, epsilon: 1/9}
  - {mechanism: permute-and-flip, epsilon: 1/9, group: 2}
  - {mechanism: sparse-vector, scale: 20, scale2: 40}
  - {mechanism: sparse-vector, scale: 20, scale2: 40, monotone: true}
  - {mechanism: tree-laplace, scale: 90, leaves: 100}
  - {mechanism: snapping, scale: 9, bound: 1000}
  - {mechanism: approximate, epsilon: 1/9, delta: 1e-9, group: 2}
  - {mechanism: gaussian-dp, mu: 1/3}
  - {mechanism: post-processing}
  - {mechanism: gaussian, sigma: 3, sampling: poisson, rate: 1/9, coin: 1/2}
  - {mechanism: discrete-gaussian, sigma2: 9, sampling: poisson, rate: 1/9}
  - {mechanism: laplace, scale: 3, sampling: poisson, rate: 1/9}
Y
cat >"$dir/rest.yaml" <<'Y'
neighbours: replace-one
events:
  - {mechanism: zcdp, rho: 1/9, group: 2}
  - {mechanism: tree-gaussian, sigma2: 900, leaves: 100}
  - {mechanism: shuffle, epsilon: 1, population: 1000000, delta: 1e-9}
  - {mechanism: gaussian, sigma: 3, sampling: without-replacement, population: 90, batch: 10}
  - {mechanism: parallel, parts: [{mechanism: pure, epsilon: 1/9}]}
Y
sed '/tree-gaussian\|zcdp\|parallel/d' "$dir/rest.yaml" >"$dir/rest2.yaml"
printf 'events:\n  - {mechanism: discrete-laplace, scale: 9, sensitivity: 2, coin: 1/2}\n' >"$dir/dl.yaml"
printf 'events:\n  - {mechanism: pure, epsilon: 1/9, group: 3}\n' >"$dir/pure.yaml"
for f in all rest rest2 g dl pure; do
  "$assay" account "$dir/$f.yaml" --delta 1e-6 --json >"$dir/$f.json" || no "account $f"
done
for id in $(jq -r '.methods[].theorems[]' "$dir"/*.json | sort -u); do
  if grep -rqE "@theorem $id( |$)" proofs/coq || grep -qF -- '`'"$id"'`' proofs/TRUSTED.md; then ok; else no "no theorem $id"; fi
done
check "pld covers all of these" true "$(jq -r '[.methods[].method] | index("pld") != null' "$dir/all.json")"

# calibrate
printf 'events:\n  - {mechanism: laplace, scale: 1, count: 10}\n' >"$dir/c.yaml"
check "calibrated scale" 20 "$("$assay" calibrate "$dir/c.yaml" --noise --epsilon 1/2 --delta 0 --json | jq -r .event.scale)"
check "calibrated steps" 5 "$("$assay" calibrate "$dir/pure.yaml" --steps --epsilon 5/3 --delta 0 --json --method basic | jq -r .event.count)"
check "calibrated rho" 100 "$("$assay" calibrate "$dir/g.yaml" --noise --rho 1/2 --json | jq -r .event.sigma2)"
refuse "not one step" 3 "not even one" "$assay" calibrate "$dir/pure.yaml" --steps --epsilon 1/1000 --delta 0
refuse "no target for calibrate" 2 "give" "$assay" calibrate "$dir/pure.yaml" --steps
refuse "no such event" 2 "no event" "$assay" calibrate "$dir/pure.yaml" --steps --epsilon 1 --delta 0 --event 7

# ledger
"$assay" ledger create "$dir/l.db" --epsilon 10 --delta 1e-6 && ok || no "create"
refuse "never replaced" 2 "exists" "$assay" ledger create "$dir/l.db" --epsilon 10 --delta 1e-6
refuse "no budget" 2 "budget" "$assay" ledger create "$dir/m.db"
refuse "delta alone" 2 "needs --epsilon" "$assay" ledger create "$dir/m.db" --delta 1e-6
refuse "not a ledger" 4 "" "$assay" ledger verify "$dir/g.yaml"
refuse "unknown action" 2 "unknown action" "$assay" ledger burn "$dir/l.db"
[[ -e "$dir/m.db" ]] && no "something was written" || ok
check "show" 0 "$("$assay" ledger show "$dir/l.db" --json | jq -r '.entries | length')"
check "verify" true "$("$assay" ledger verify "$dir/l.db" --json | jq -r .verified)"
check "export" assay-ledger-1 "$("$assay" ledger export "$dir/l.db" | jq -r .format)"
"$assay" ledger create "$dir/p.db" --epsilon 5.3 --delta 1e-5 --planned && ok || no "create planned"
"$assay" ledger show "$dir/p.db" | grep -q ", planned" && ok || no "show planned"
check "planned is in the first row" true "$("$assay" ledger export "$dir/p.db" | jq -r .budget.planned)"
check "and not in others" null "$("$assay" ledger export "$dir/l.db" | jq -r .budget.planned)"

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
