#!/usr/bin/env bash
# The commands data, learn, evaluate-policy and simulate from end to end.
set -u
assay="$PWD/${BUILD:-build}/assay"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0
failed=0
check() { # check NAME COMMAND...
  local name=$1
  shift
  if "$@" >out 2>err; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name"
    cat out err
  fi
}
# code NAME CODE TEXT COMMAND...: the exit code, and a text on standard error
code() {
  local name=$1 want=$2 text=$3
  shift 3
  "$@" >out 2>err
  local got=$?
  if [[ $got -eq $want ]] && grep -qF -- "$text" err; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name: exit $got, wanted $want with '$text'"
    cat out err
  fi
}
shape="--states 14 --actions 4 --horizon 8 --rewards from-data-schema"

check generate "$assay" data generate --env clinic --users 3000 -o w.csv --seed 4
check ledger "$assay" ledger create L.db --rho 2 --neighbours replace-one
check learn "$assay" learn dp-apvi --data w.csv $shape --rho 0.5 --ledger L.db -o p.json
check policy-shape jq -e '.H == 8 and .S == 14 and .A == 4 and (.policy | length) == 8
  and (.policy[0] | length) == 14 and .guarantee.rho == "1/2"
  and .guarantee.sigma2 == "32" and .guarantee.users == 3000' p.json
check evaluate "$assay" evaluate-policy p.json --env clinic --json
check gap jq -e '.gap >= 0 and .optimal > .uniform' out
check laplace "$assay" learn dp-apvi --data w.csv $shape --epsilon 1/2 --ledger L.db -o q.json --triples-only
check laplace-scale jq -e '.guarantee.epsilon == "1/2" and .guarantee.scale == "32"' q.json
check apvi "$assay" learn apvi --data w.csv $shape -o n.json
check apvi-says-so jq -e '.guarantee.notion | test("not private")' n.json
check threads "$assay" learn apvi --data w.csv $shape -o n2.json --threads 3
check same-policy cmp n.json n2.json

# bad data is refused before any charge
before=$("$assay" ledger show L.db | tail -1)
learn() { "$assay" learn dp-apvi --data "$1" --states 14 --actions 4 --horizon 8 \
  --rewards w.csv.schema.json --rho 0.5 --ledger L.db -o bad.json; }
bad() { # bad NAME LINE TEXT: the file bad.csv is refused at this line
  code "$1" 2 "line $2, column 1: bad.csv: $3" learn bad.csv
  [[ ! -e bad.json ]] || { failed=$((failed + 1)); echo "FAIL $1 wrote"; }
}
sed '5s/.*/1,4,99,0,0,0/' w.csv >bad.csv
bad state-out-of-range 5 "s is 99"
sed '5s/.*/1,4,3,0,nan,3/' w.csv >bad.csv
bad nan-reward 5 "r is not a finite"
sed '5d' w.csv >bad.csv
bad missing-step 2 "user 1, who begins here, has no step 4"
sed '5p' w.csv >bad.csv
bad duplicate 6 "user 1 has step 4 twice"
: >bad.csv
bad empty 1 "the file is empty"
after=$("$assay" ledger show L.db | tail -1)
check nothing-charged test "$before" = "$after"

code budget-gone 3 "does not fit" "$assay" learn dp-apvi --data w.csv $shape --rho 5 --ledger L.db -o x.json
check no-policy-without-budget test ! -e x.json
code no-ledger 2 "--ledger" "$assay" learn dp-apvi --data w.csv $shape --rho 1 -o x.json
"$assay" ledger create A.db --rho 1 >/dev/null
code wrong-relation 2 "replace-one" "$assay" learn dp-apvi --data w.csv $shape --rho 1 --ledger A.db -o x.json
code unknown-env 2 "riverswim" "$assay" evaluate-policy p.json --env mars
code wrong-env 2 "S=14" "$assay" evaluate-policy p.json --env riverswim
code unknown-learner 2 "expected" "$assay" learn dqn
printf 's,a,r\n0,0,0.5\n' >r.csv
code rewards-incomplete 2 "has no reward" "$assay" learn apvi --data w.csv --states 14 --actions 4 --horizon 8 --rewards r.csv -o x.json

check simulate "$assay" simulate private-ucb-vi --env riverswim --privatizer central --epsilon 1 --episodes 500 --runs 2 --json --curve c.csv
check simulate-json jq -e '.runs == 2 and .episodes == 500 and .regret > 0' out
check curve test "$(wc -l <c.csv)" -gt 100
check simulate-ledger "$assay" simulate ucrl-vtr --env riverswim --privatizer local --noise gaussian --rho 1 --episodes 300 --ledger L.db --json
check charged-once test "$("$assay" ledger show L.db | grep -c 'ldp-ucrl-vtr')" -eq 1
code simulate-needs-delta 2 "--delta" "$assay" simulate pucb --env riverswim --privatizer central --noise gaussian --epsilon 1
check help "$assay" simulate --help
check help-learn "$assay" learn --help
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
