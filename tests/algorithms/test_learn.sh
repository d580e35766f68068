#!/usr/bin/env bash
# The commands data, learn, evaluate-policy and simulate from end to end.
. tests/support/commands.sh
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
check share "$assay" learn dp-apvi --data w.csv $shape --rho 1/10 --pair-share 1/4 --ledger L.db -o h.json
check share-noise jq -e '.guarantee.rho == "1/10" and .guarantee.sigma2_pairs == "320"
  and .guarantee.sigma2_triples == "320/3"' h.json
code share-range 2 "share" "$assay" learn dp-apvi --data w.csv $shape --rho 1/10 --pair-share 1 --ledger L.db -o x.json
code share-of-nothing 2 "--pair-share" "$assay" learn dp-apvi --data w.csv $shape --rho 1/10 --pair-share 1/4 --triples-only --ledger L.db -o x.json
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
sed '5s/.*/1,4,3,4,0,0/' w.csv >bad.csv
bad action-out-of-range 5 "a is 4"
sed '5s/.*/1,9,3,0,0,0/' w.csv >bad.csv
bad step-out-of-range 5 "h is 9"
sed '5s/.*/1,4,3,0,0/' w.csv >bad.csv
bad five-fields 5 "expected six fields"
sed '1s/.*/user,step,s,a,r,s_next/' w.csv >bad.csv
bad header 1 "the first line must be"
head -1 w.csv >bad.csv
bad no-rows 2 "there are no transitions"
sed '5s/.*/1,4,3,0,nan,3/' w.csv >bad.csv
bad nan-reward 5 "r is not a finite"
sed '5d' w.csv >bad.csv
bad missing-step 2 "user 1, who begins here, has no step 4"
sed '5p' w.csv >bad.csv
bad duplicate 6 "user 1 has step 4 twice"
awk -F, -v OFS=, 'NR == 4 {$6 = ($6 + 1) % 14} {print}' w.csv >bad.csv
bad jump 5 "user 1 is in state $(sed -n 5p w.csv | cut -d, -f3) at step 4, but step 3 went to state"
(head -1 bad.csv && tail -n +2 bad.csv | sort -t, -k2,2n -k1,1n) >sorted && mv sorted bad.csv
bad jump-any-order 9002 "user 1 is in state"
check jumps-allowed "$assay" learn apvi --data bad.csv ${shape/from-data-schema/w.csv.schema.json} --allow-jumps -o x.json
rm -f x.json
: >bad.csv
bad empty 1 "the file is empty"
after=$("$assay" ledger show L.db | tail -1)
code users-2-31 2 "2^31" "$assay" data generate --env clinic --users 2147483648 -o big.csv
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
check simulate-tmpdir env TMPDIR="$dir" "$assay" simulate pucb --env riverswim --privatizer central --epsilon 1 --episodes 50
code simulate-no-tmpdir 1 "temporary" env TMPDIR="$dir/nowhere" "$assay" simulate pucb --env riverswim --privatizer central --epsilon 1 --episodes 50
# a progress bar where standard error is a terminal, and only there
terminal() { script -qec "$*" log >/dev/null && grep -q 'release and plan' log; }
if command -v script >/dev/null; then
  check progress-bar terminal "$assay" learn apvi --data w.csv $shape -o x.json
fi
"$assay" learn apvi --data w.csv $shape -o x.json 2>err >/dev/null
check no-bar-in-a-file test ! -s err
check help "$assay" simulate --help
check help-learn "$assay" learn --help
summary
