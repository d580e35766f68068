#!/usr/bin/env bash
# learn dp-vapvi, simulate dp-vapvi and evaluate from end to end.
. tests/support/commands.sh
shape="--states 2 --actions 100 --horizon 20 --rewards d.csv.schema.json"

check generate "$assay" data generate --env linear --users 300 -o d.csv --seed 4
check generate2 "$assay" data generate --env linear --users 300 -o same.csv --seed 5
awk -F, -v OFS=, 'NR > 1 {$1 += 1000} {print}' same.csv >e.csv
check ledger "$assay" ledger create L.db --rho 30 --neighbours replace-one
check learn "$assay" learn dp-vapvi --data d.csv $shape --features linear --rho 5 --ledger L.db -o p.json --json
check guarantee jq -e '.guarantee.rho == "5" and .guarantee.users == 300 and .guarantee.split == false' p.json
check split "$assay" learn dp-vapvi --data d.csv --data2 e.csv $shape --features linear --rho 5 --ledger L.db -o q.json --statistics printed
check split-users jq -e '.guarantee.users == 600 and .guarantee.split' q.json
code in-both-files 2 "line 2, column 1: same.csv: user 1 is in the other file too" \
  "$assay" learn dp-vapvi --data d.csv --data2 same.csv $shape --features linear --rho 5 --ledger L.db -o x.json
check said-to-be-disjoint "$assay" learn vapvi --data d.csv --data2 same.csv --assume-disjoint $shape -o x.json
rm -f x.json
check spent grep -qE 'spent .*rho 10\b' <("$assay" ledger show L.db)
check free "$assay" learn dp-vapvi --data d.csv $shape --statistics free --rho 1/2 --ledger L.db -o f.json
check vapvi "$assay" learn vapvi --data d.csv $shape -o v.json
check pevi "$assay" learn pevi --data d.csv $shape -o w.json --preset paper
check constant "$assay" learn vapvi --data d.csv $shape -o c.json --preset constant
check constant-is-practical cmp v.json c.json
check diminishing "$assay" learn vapvi --data d.csv $shape -o w.json --preset diminishing
code no-preset 2 "diminishing" "$assay" learn vapvi --data d.csv $shape -o w.json --preset none
check says-so jq -e '.guarantee.notion | test("not private")' v.json
check value "$assay" evaluate-policy v.json --env linear --json
check gap jq -e '.gap < 1' out
check one-hot "$assay" learn vapvi --data d.csv $shape --features one-hot -o o.json
check simulate "$assay" simulate dp-vapvi --env linear --users 200 --rho 10 --split --runs 2 --json
check simulate-json jq -e '.users == 200 and .gap >= 0' out

# features from a file, good and bad
features() { "$assay" learn dp-vapvi --data d.csv $shape --features "$1" --rho 1 --ledger L.db -o bad.json; }
awk 'BEGIN {print "s,a,f1,f2"; for (s = 0; s < 2; s++) for (a = 0; a < 100; a++)
  print s "," a "," (((s == 0) == (a == 0)) ? "3,0" : "0,1e2")}' >f.csv
check file-features "$assay" learn vapvi --data d.csv $shape --features f.csv -o g.json
check file-value "$assay" evaluate-policy g.json --env linear --json
check file-gap jq -e '.gap < 1' out
before=$("$assay" ledger show L.db | tail -1)
sed '3s/.*/0,1,nan,0/' f.csv >b.csv
code nan-feature 2 "is not a finite number" features b.csv
sed '3s/.*/0,100,1,0/' f.csv >b.csv
code feature-out-of-range 2 "is not a state or action" features b.csv
sed '3s/.*/0,0,1,0/' f.csv >b.csv
code feature-twice 2 "already" features b.csv
sed '3d' f.csv >b.csv
code feature-missing 2 "199 of 200 pairs" features b.csv
sed '1s/.*/x,y,f1,f2/' f.csv >b.csv
code feature-header 2 "s,a,f1" features b.csv
: >b.csv
code feature-empty 2 "the file is empty" features b.csv
code no-file 1 "nowhere.csv" features nowhere.csv
for i in $(seq 1 20); do # fuzz: bytes of the file changed at random
  head -c $((RANDOM % 1500)) f.csv >b.csv
  head -c 30 /dev/urandom >>b.csv
  "$assay" learn vapvi --data d.csv $shape --features b.csv -o bad.json >out 2>err
  got=$?
  [[ $got -eq 2 || $got -eq 0 ]] || { failed=$((failed + 1)); echo "FAIL fuzz $i: $got"; }
done
passed=$((passed + 1))
check nothing-charged test "$before" = "$("$assay" ledger show L.db | tail -1)"
code budget-gone 3 "does not fit" "$assay" learn dp-vapvi --data d.csv $shape --rho 50 --ledger L.db -o x.json
check no-policy test ! -e x.json
code no-rho 2 "--rho" "$assay" learn dp-vapvi --data d.csv $shape --ledger L.db -o x.json
code no-ledger 2 "--ledger" "$assay" learn dp-vapvi --data d.csv $shape --rho 1 -o x.json
"$assay" ledger create A.db --epsilon 1 --delta 1e-5 >/dev/null
code wrong-relation 2 "replace-one" "$assay" learn dp-vapvi --data d.csv $shape --rho 1 --ledger A.db -o x.json
code bad-statistics 2 "printed" "$assay" learn vapvi --data d.csv $shape -o x.json --statistics all
check help "$assay" learn dp-vapvi --help

# evaluate
check gpope "$assay" evaluate gpope --env chain --episodes 300 --epsilon 1 --json
check gpope-json jq -e '.mspbe >= 0 and .sigma > 0 and .zero > 0.03' out
check gpope-one "$assay" evaluate gpope --env chain --episodes 300 --sigma 2 --sampling one --json --diminishing
check lstd "$assay" evaluate lstd --env chain --episodes 2000 --json
check lstd-good jq -e '.relative < 0.001' out
check gtd2 "$assay" evaluate gtd2 --env chain:10 --episodes 500 --steps 5000 --step-size 1 --json
check gtd2-good jq -e '.relative < 0.5' out
check dp-lsl "$assay" evaluate dp-lsl --env chain --episodes 300 --epsilon 1 --json
check dp-lsl-assumed jq -e '.notion | test("assumed")' out
printf 'user,s,r,s_next\n1,0,0,1\n1,1,1,end\n2,1,1,end\n' >t.csv
check data-lstd "$assay" evaluate lstd --data t.csv --states 2 --gamma 0.5 --fixed-length 1 -o theta.csv
check data-theta grep -qE "^0,0\.(5|49999999)" theta.csv
check data-gpope "$assay" evaluate gpope --data t.csv --states 2 --steps 10 --rate-bits 1 --epsilon 0.9 --ledger A.db -o theta.csv
check charged grep -q gpope <("$assay" ledger show A.db)
code gpope-budget 3 "does not fit" "$assay" evaluate gpope --data t.csv --states 2 --steps 10 --rate-bits 1 --sigma 0.1 --ledger A.db -o x.csv
check nothing-written test ! -e x.csv
ev() { "$assay" evaluate lstd --data "$1" --states 2; }
printf 'user,s,r,s_next\n2,0,0,1\n1,1,1,end\n' >u.csv
code users-go-back 2 "must not go back" ev u.csv
printf 'user,s,r,s_next\n2,7,0,1\n' >u.csv
code state-range 2 "is not a state" ev u.csv
printf 'user,s,r,s_next\n2,0,inf,1\n' >u.csv
code reward-inf 2 "is not a finite number" ev u.csv
printf 'user,s,r,s_next,w\n2,0,1,1,-1\n' >u.csv
code weight-negative 2 "is negative" ev u.csv
printf 'user,s,r\n2,0,1\n' >u.csv
code column-missing 2 "s_next" ev u.csv
printf 'user,s,r,s_next\n' >u.csv
code no-rows 2 "no steps" ev u.csv
code no-method 2 "METHOD" "$assay" evaluate magic --env chain
code no-rate 2 "--rate-bits" "$assay" evaluate gpope --data t.csv --states 2 --steps 5 --epsilon 1 --ledger A.db
code no-env 2 "mountaincar" "$assay" evaluate lstd --env mars --episodes 10
code real-needs-ledger 2 "--ledger" "$assay" evaluate gpope --data t.csv --states 2 --steps 5 --epsilon 1
check help-evaluate "$assay" evaluate --help
summary
