#!/usr/bin/env bash
# The commands certify, verify and keygen, as a user calls them.
set -u
assay=${BUILD:-build}/assay
here=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
check() { # name, command...
  local name=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name"; fi
}
exits() { # code, command...
  local want=$1 got
  shift
  "$@" >"$dir/out" 2>"$dir/err"
  got=$?
  [[ $got -eq $want ]] || { echo "exit $got, not $want: $*"; cat "$dir/out" "$dir/err"; return 1; }
}
says() { grep -q -- "$1" "$dir/out" "$dir/err" || { echo "does not say '$1'"; cat "$dir/out" "$dir/err"; return 1; }; }

# A source tree of its own: what is proved here is not what is tested here.
src=$dir/source
mkdir -p "$src/proofs/coq" "$src/certificate"
echo 'int unit;' >"$src/unit.c"
printf 'lock\tunit\tproved\ttotal\tsources\tsha256\ncode\tunit\t3\t3\tunit.c\t%s\n' \
  "$(sha256sum <"$src/unit.c" | cut -d' ' -f1)" >"$src/proofs/results.tsv"

mkdir "$src/room"
echo 'int header;' >"$src/room/unit.h"
printf '#include "room/unit.h"\n#include <stdio.h>\n' >"$src/other.c"
printf 'code\tother\t2\t2\tother.c\t%s\n' "$(cat "$src/other.c" "$src/room/unit.h" | sha256sum | cut -d' ' -f1)" >>"$src/proofs/results.tsv"
printf 'theory\tcoq\t2\t2\troom/*.h\t%s\n' "$(sha256sum <"$src/room/unit.h" | cut -d' ' -f1)" >>"$src/proofs/results.tsv"

check "the second derivation includes nothing of the accountant" test -z "$(gcc -I"$here" -MM "$here"/certificate/recheck*.c | grep accountant)"
check keygen exits 0 "$assay" keygen -o "$dir/office"
check "key file is private" test "$(stat -c %a "$dir/office.key")" = 600
check "a key is never replaced" exits 1 "$assay" keygen -o "$dir/office"
check "keygen needs a name" exits 2 "$assay" keygen

for e in clinic census online broken; do
  check "$e: valid manifest" exits 0 "$assay" certify "$here/examples/$e/deployment.yaml" --check
done
printf 'assay: 1\nnam: x\n' >"$dir/bad.yaml"
check "bad manifest" exits 2 "$assay" certify "$dir/bad.yaml" --check
check "bad manifest, place" says "line 2, column 1"
check "no manifest" exits 2 "$assay" certify
check "no such file" exits 1 "$assay" certify "$dir/none.yaml" --check
check "no key" exits 2 env -u ASSAY_SIGNING_KEY "$assay" certify "$here/examples/census/deployment.yaml" -o "$dir/x"
check "a public key cannot sign" exits 2 "$assay" certify "$here/examples/census/deployment.yaml" --key "$dir/office.pub" -o "$dir/x"
check "schema" exits 0 "$assay" certify --schema
check "the committed schema is this one" cmp -s "$dir/out" "$here/docs/schema/deployment.schema.json"

for e in census online; do
  sed -e 's/runs: .*/runs: 2000/' -e 's/confidence: .*/confidence: 0.99999/' -e 's/users: 50000/users: 5000/' -e 's/users: 2000/users: 300/' \
    -e 's/episodes: 2000/episodes: 300/' "$here/examples/$e/deployment.yaml" >"$dir/$e.yaml"
  check "$e" exits 0 "$assay" certify "$dir/$e.yaml" --key "$dir/office.key" -o "$dir/$e" --source "$src"
  for f in certificate.dsse.json certificate.pub guarantee.v ledger.db report.html; do
    check "$e writes $f" test -s "$dir/$e/$f"
  done
  check "$e verifies" exits 0 "$assay" verify "$dir/$e/certificate.dsse.json" --key "$dir/office.pub" --source "$src"
  check "$e: standard envelope" test "$(jq -r .payloadType "$dir/$e/certificate.dsse.json")" = application/vnd.in-toto+json
  check "$e: in-toto statement" test "$(jq -r .payload "$dir/$e/certificate.dsse.json" | base64 -d | jq -r ._type)" = https://in-toto.io/Statement/v1
done
if python3 -c 'import jsonschema' 2>/dev/null; then
  jq -r .payload "$dir/online/certificate.dsse.json" | base64 -d >"$dir/statement"
  check "the statement has the documented schema" exits 0 python3 -c '
import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
    "$dir/statement" "$here/docs/schema/certificate.schema.json"
fi
# OpenSSL alone agrees with the signature over the pre-authentication encoding
jq -r .payload "$dir/census/certificate.dsse.json" | base64 -d >"$dir/payload"
jq -r '.signatures[0].sig' "$dir/census/certificate.dsse.json" | base64 -d >"$dir/sig"
{ printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c <"$dir/payload")"; cat "$dir/payload"; } >"$dir/pae"
check "openssl verifies the signature" exits 0 openssl pkeyutl -verify -pubin -inkey "$dir/office.pub" -rawin -in "$dir/pae" -sigfile "$dir/sig"

check "the key may come from the environment" exits 0 env ASSAY_SIGNING_KEY="$(cat "$dir/office.key")" \
  "$assay" certify "$dir/census.yaml" -o "$dir/again" --source "$src" --json
check "json outcome" test "$(jq -r .certified "$dir/out")" = true
check "an existing ledger" exits 4 "$assay" certify "$dir/census.yaml" --key "$dir/office.key" \
  -o "$dir/more" --ledger "$dir/again/ledger.db" --source "$src"
check "an existing ledger, why" says "budget"
check "no second run in one folder" exits 2 "$assay" certify "$dir/census.yaml" --key "$dir/office.key" -o "$dir/census" --source "$src"

echo '[]' >"$dir/census/employed.json"
check "a changed output" exits 4 "$assay" verify "$dir/census/certificate.dsse.json" --key "$dir/office.pub" --source "$src"
check "a changed output, why" says "employed.json"
echo 'int other;' >"$src/unit.c"
check "a changed source" exits 4 "$assay" verify "$dir/online/certificate.dsse.json" --key "$dir/office.pub" --source "$src"
check "a changed source, why" says "source"
echo 'int unit;' >"$src/unit.c"
check "no certificate" exits 1 "$assay" verify "$dir/none.json" --key "$dir/office.pub"
check "not a certificate" exits 4 "$assay" verify "$dir/office.pub" --key "$dir/office.pub"

sed 's/runs: .*/runs: 400000/' "$here/examples/broken/deployment.yaml" >"$dir/broken.yaml"
check "printed constants are refused" exits 4 "$assay" certify "$dir/broken.yaml" --key "$dir/office.key" -o "$dir/broken" --source "$src"
check "printed constants, why" says "is refuted: claimed epsilon = 2"
check "a report all the same" grep -q COUNTEREXAMPLE "$dir/broken/report.html"
check "and no certificate" test ! -e "$dir/broken/certificate.dsse.json"

# a file of one's own: the manifest names it beside itself
{ echo patient,age,ward; for i in $(seq 1 400); do echo "p$((i % 250)),$((20 + i % 70)),$([[ $((i % 3)) -eq 0 ]] && echo A || echo B)"; done; } >"$dir/visits.csv"
cat >"$dir/visits.yaml" <<'YAML'
assay: 1
name: Visits
purpose: numbers for a newsletter
data: {source: file, path: visits.csv, person: patient, per-person: 2, about: one row is one visit}
privacy: {unit: patient, neighbours: add-remove, trust: central}
budget: {epsilon: 3, delta: 1e-6}
releases:
  - {name: visits, statistic: count, epsilon: 1/2}
  - {name: mean-age, statistic: mean, column: age, bounds: [0, 120], epsilon: 1/2}
  - {name: by-ward, statistic: histogram, column: ward, categories: [A, B], epsilon: 1/2}
  - {name: ages, statistic: histogram, column: age, bounds: [0, 100], bins: 5, epsilon: 1/2}
  - {name: median-age, statistic: quantile, column: age, bounds: [0, 120], epsilon: 1/2}
audit: {runs: 2000, confidence: 0.99999}
YAML
check "a CSV file" exits 0 "$assay" certify "$dir/visits.yaml" --key "$dir/office.key" -o "$dir/visits" --source "$src"
check "a CSV file verifies" exits 0 "$assay" verify "$dir/visits/certificate.dsse.json" --key "$dir/office.pub" --source "$src"
check "a CSV file, epsilon" says "epsilon <= 2.5 at delta = 0"
check "three categories" test "$(jq length "$dir/visits/by-ward.json")" = 3
sed 's/bounds: \[0, 120\], epsilon/epsilon/' "$dir/visits.yaml" >"$dir/unbounded.yaml"
check "bounds are needed" exits 2 "$assay" certify "$dir/unbounded.yaml" --check
check "bounds are needed, place" says "line 9"
echo 'p1,forty,A' >>"$dir/visits.csv"
check "a bad line" exits 2 "$assay" certify "$dir/visits.yaml" --key "$dir/office.key" -o "$dir/bad" --source "$src"

# Coq, where the theory has been compiled before (make prove-theory, certify-coq)
if command -v coqc >/dev/null && [[ -e $here/build/coq/rules/Releases.vo ]] &&
  make -s -C "$here/build/coq" -q -f certificate.mk rules/Releases.vo 2>/dev/null; then
  sed 's/"sources".*//' "$dir/online/guarantee.v" >"$dir/guarantee.v"
  check "Coq accepts the guarantee" exits 0 sh "$here/certificate/coqc.sh" "$here" "$dir/guarantee.v"
  sed -E 's/^(Definition eps : R := )([0-9]+) /\1 (\2 - 1000000000) /' "$dir/guarantee.v" >"$dir/smaller.v"
  check "Coq refuses a smaller epsilon" exits 1 sh "$here/certificate/coqc.sh" "$here" "$dir/smaller.v"
else
  echo "skipped: Coq (no compiled theory in build/coq)"
fi
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
