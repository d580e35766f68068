#!/usr/bin/env bash
# The release command: answers, refusals, exit codes, nothing printed on error.
set -u
assay=${BUILD:-build}/assay
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
check() { # name, then a command that must succeed
  local name=$1
  shift
  if "$@" >"$dir/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    sed 's/^/    /' "$dir/log"
  fi
}
near() { # value low high
  python3 -c "import sys; v, a, b = map(float, sys.argv[1:]); sys.exit(not a <= v <= b)" "$@"
}
ledger() {
  rm -f "$dir/$1"*
  "$assay" ledger create "$dir/$1" "${@:2}"
}
run() { # expected exit code, then arguments; stdout to $dir/out
  local want=$1 got
  shift
  "$assay" release "$@" >"$dir/out" 2>"$dir/err"
  got=$?
  if [[ $want -ne 0 && -s "$dir/out" ]]; then
    echo "printed something on failure"
    return 1
  fi
  if [[ $want -ne 0 && $(wc -l <"$dir/err") -ne 1 ]]; then
    echo "not one line on standard error"
    cat "$dir/err"
    return 1
  fi
  [[ $got -eq $want ]] || { echo "exit $got, expected $want"; cat "$dir/err"; return 1; }
}
field() { jq -r "$1" "$dir/out"; }

python3 - "$dir" <<'PY'
import sys
with open(sys.argv[1] + "/d.csv", "w", newline="") as f:
    f.write("who,age,ward,pay\r\n")
    for i in range(6000):  # 2000 persons, 3 records each
        f.write(f'"p{i % 2000}",{i % 100},{"ABC"[i % 3]},{(i % 200) / 4}\r\n')
PY
d=$dir/d.csv
L=$dir/l.db
ledger l.db --epsilon 1000 --delta 1e-6
with() { run 0 "$@" --ledger "$L" --json; }

check "count of records" with count "$d" --epsilon 10
check "its value" near "$(field .value)" 5990 6010
check "its interval" near "$(field '.interval[1]-.interval[0]')" 0 3
check "its epsilon" near "$(field .epsilon)" 10 10
check "spent" near "$(field .spent)" 10 10
check "left" near "$(field .left)" 990 990
check "count of persons" with count "$d" --person who --epsilon 10
check "its value" near "$(field .value)" 1990 2010
check "two records a person" with count "$d" --person who --per-person 2 --epsilon 10
check "its value" near "$(field .value)" 3990 4010
check "sum" with sum "$d" --column pay --bounds 0,50 --epsilon 10
check "its value" near "$(field .value)" 149150 149350
check "clamped sum" with sum "$d" --column pay --bounds 0,1 --epsilon 10
check "its value" near "$(field .value)" 5900 5970
check "mean" with mean "$d" --column age --bounds 0,100 --epsilon 10
check "its value" near "$(field .value)" 49.3 49.7
check "bins" with histogram "$d" --column age --bounds 0,100 --bins 4 --epsilon 10
check "a bin" near "$(field '.value["25..50"]')" 1490 1510
check "categories" with histogram "$d" --column ward --categories A,B --epsilon 10
check "a category" near "$(field .value.A)" 1990 2010
check "the rest" near "$(field .value.other)" 1990 2010
check "unknown words" with histogram "$d" --column ward --unknown --delta 1e-9 --epsilon 10
check "a word" near "$(field .value.C)" 1990 2010
check "unknown words hide the rare" with histogram "$d" --column who --person who --unknown --delta 1e-9 --epsilon 10
check "none shown" test "$(field '.value | length')" = 0
check "quantile" with quantile "$d" --column age --bounds 0,100 --quantile 0.25 --epsilon 10
check "its value" near "$(field .value)" 24 26
check "another locale" env LC_ALL=de_DE.UTF-8 "$assay" release sum "$d" --column pay --bounds 0,50 --epsilon 10 --ledger "$L" --json
check "its number" jq -e '.value | type == "number"' "$dir/log"
check "standard input" bash -c "'$assay' release count - --epsilon 1 --ledger '$L' <'$d'"

ledger small.db --epsilon 1 --delta 0
check "budget gone" run 3 count "$d" --epsilon 2 --ledger "$dir/small.db"
check "nothing charged" test "$("$assay" ledger show "$dir/small.db" --json | jq '.entries | length')" = 0
check "no epsilon" run 2 count "$d" --ledger "$L"
check "no ledger" run 2 count "$d" --epsilon 1
check "missing ledger" run 1 count "$d" --epsilon 1 --ledger "$dir/none.db"
check "missing file" run 1 count "$dir/none.csv" --epsilon 1 --ledger "$L"
check "unknown query" run 2 median "$d" --epsilon 1 --ledger "$L"
check "unknown column" run 2 sum "$d" --column pays --bounds 0,1 --epsilon 1 --ledger "$L"
check "no bounds" run 2 sum "$d" --column pay --epsilon 1 --ledger "$L"
check "bounds in the wrong order" run 2 sum "$d" --column pay --bounds 2,1 --epsilon 1 --ledger "$L"
check "bad bounds" run 2 sum "$d" --column pay --bounds 0,inf --epsilon 1 --ledger "$L"
check "words are not numbers" run 2 sum "$d" --column ward --bounds 0,1 --epsilon 1 --ledger "$L"
check "it names the line" grep -q "line 2" "$dir/err"
check "epsilon zero" run 2 count "$d" --epsilon 0 --ledger "$L"
check "epsilon nan" run 2 count "$d" --epsilon nan --ledger "$L"
check "per-person without person" run 2 count "$d" --per-person 3 --epsilon 1 --ledger "$L"
check "zero bins" run 2 histogram "$d" --column age --bounds 0,1 --bins 0 --epsilon 1 --ledger "$L"
check "histogram of what" run 2 histogram "$d" --column age --epsilon 1 --ledger "$L"
check "unknown option" run 2 count "$d" --epsilom 1 --ledger "$L"
printf 'a,b\n1,2\n1,2,3\n' >"$dir/ragged.csv"
check "ragged rows" run 2 count "$dir/ragged.csv" --epsilon 1 --ledger "$L"
check "it names the line" grep -q "line 3" "$dir/err"
: >"$dir/empty.csv"
check "empty file" run 2 count "$dir/empty.csv" --epsilon 1 --ledger "$L"
printf 'a,b\n1,"2,5"\n' >"$dir/comma.csv"
check "a decimal comma is not a number" run 2 sum "$dir/comma.csv" --column b --bounds 0,9 --epsilon 1 --ledger "$L"
printf 'a;b\n1;2,5\n' >"$dir/semicolon.csv"
check "semicolons" run 2 sum "$dir/semicolon.csv" --column b --bounds 0,9 --epsilon 1 --ledger "$L"
printf 'a,b\n1,2\0\n' >"$dir/nul.csv"
check "a NUL byte" run 2 count "$dir/nul.csv" --epsilon 1 --ledger "$L"
printf 'a,b\n1,2\r3,4\n' >"$dir/cr.csv"
check "a lone carriage return" run 2 count "$dir/cr.csv" --epsilon 1 --ledger "$L"
giant() { # a line of 1 GB, quoted or not, in 400 MB of memory
  { printf 'a,b\n1,%s' "$1"; head -c 1000000000 /dev/zero | tr '\0' x; } 2>/dev/null |
    (case ${CFLAGS:-} in *sanitize*) ;; *) ulimit -v 400000 ;; esac
     run 2 count - --epsilon 1 --ledger "$L")
}
check "a line of 1 GB" giant ''
check "a quoted line of 1 GB" giant '"'
before=$("$assay" ledger show "$L" --json | jq '.entries | length')
check "refusals charge nothing" test "$before" = 13
check "help" "$assay" release --help

# A full disk: the ledger cannot grow, so nothing is drawn and nothing printed.
if [[ -w /dev/full ]]; then
  check "answer to a full disk" bash -c "! '$assay' release count '$d' --epsilon 1 --ledger '$L' >/dev/full 2>/dev/null"
fi
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
