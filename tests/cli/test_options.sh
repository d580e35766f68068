#!/usr/bin/env bash
# Options are read the same way by every command.
set -u
assay=${BUILD:-build}/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
ok() { passed=$((passed + 1)); }
no() { failed=$((failed + 1)); echo "FAIL: $*"; }

printf 'events:\n  - {mechanism: gaussian, sigma2: 4}\n' >"$work/e.yaml"
apart=$("$assay" account "$work/e.yaml" --delta 1e-6 --method zcdp --json | jq .epsilon)
joined=$("$assay" account --delta=1e-6 --method=zcdp --json "$work/e.yaml" | jq .epsilon)
[[ -n $apart && $apart != null && $apart == "$joined" ]] && ok || no "--delta=D: '$apart' and '$joined'"

refuses() { # word in the message, then the command
  local word=$1 out
  shift
  out=$("$assay" "$@" 2>&1 >"$work/out")
  [[ $? -eq 2 && $(wc -l <<<"$out") -eq 1 && $out == *"$word"* && ! -s $work/out ]] && ok || no "$*: $out"
}
e=$work/e.yaml
refuses 'given twice' account "$e" --delta 1e-6 --delta 1e-7
refuses 'takes no value' account "$e" --delta 1e-6 --json=yes
refuses 'needs a value' account "$e" --delta
refuses 'unknown option' account "$e" --deltas 1e-6
refuses 'one event file' account "$e" --delta 1e-6 --epsilon 1
refuses 'unexpected argument' account "$e" other.yaml --delta 1e-6
refuses 'counts from 1' calibrate "$e" --noise --rho 1 --event 0
refuses '12 at most' calibrate "$e" --noise --rho 1 --digits 13
refuses 'an action and one file' ledger show
refuses 'unknown action' ledger burn "$work/l.db"
refuses 'POLICY.json' evaluate-policy --env clinic
refuses '--env NAME' data generate
refuses 'nonsense' nonsense

# Temporary folders go where TMPDIR says, and are gone afterwards.
mkdir "$work/t"
TMPDIR=$work/missing "$assay" simulate private-ucb-vi --env riverswim --privatizer central --epsilon 1 --episodes 10 --runs 1 >/dev/null 2>"$work/err"
grep -q "no temporary folder in $work/missing" "$work/err" && ok || no "TMPDIR: $(cat "$work/err")"
TMPDIR=$work/t "$assay" simulate private-ucb-vi --env riverswim --privatizer central --epsilon 1 --episodes 10 --runs 1 >/dev/null && [[ -z $(ls "$work/t") ]] && ok || no "a temporary folder is left"

for command in account calibrate ledger data evaluate-policy learn simulate; do
  "$assay" "$command" --help | head -1 | grep -q '^usage: assay' && ok || no "$command --help"
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
