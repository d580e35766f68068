#!/usr/bin/env bash
# The command `experts release` from end to end: thresholds, pools, refusals.
. tests/support/commands.sh
entries() { sqlite3 "$1" 'select count(*) - 1 from rows'; }
release=("$assay" experts release --experts e.bin --epsilon 7.5 --delta 3e-4)

check help "$assay" experts release --help
check experts "$assay" experts train --env cartpole --scripted 0.05 --count 1500 -o e.bin
check ledger "$assay" ledger create L.db --epsilon 7.5 --delta 3e-4 --planned --unit expert
check plan "${release[@]}" --plan --json
check plan-value jq -e '.threshold_experts > 480 and .threshold_experts < 485
  and .epsilon_per_sparse_vector == "190342769/1000000000"' out
check printed "${release[@]}" --plan --json --threshold printed
check printed-value jq -e '.threshold_experts > 652 and .threshold_experts < 653' out
check nothing-charged test "$(entries L.db)" = 0
code no-draws 2 "draws" "${release[@]}" --ledger L.db -o p.csv --draws 0
code bad-word 2 "--threshold" "${release[@]}" --ledger L.db -o p.csv --threshold low
code no-ledger 2 "needs --experts" "${release[@]}" -o p.csv
code too-few 2 "too small to release anything" "${release[@]}" --ledger L.db -o p.csv --population 400
code tiny-epsilon 2 "too small to release anything" "$assay" experts release --experts e.bin \
  --epsilon 1e-14 --delta 3e-4 --ledger L.db -o p.csv
head -c 300 e.bin >cut.bin
code cut-file 4 "" "$assay" experts release --experts cut.bin --epsilon 7.5 --delta 3e-4 --ledger L.db -o p.csv
code no-file 1 "" "$assay" experts release --experts none.bin --epsilon 7.5 --delta 3e-4 --ledger L.db -o p.csv
check still-untouched test "$(entries L.db)" = 0
check no-output test ! -e p.csv

check release "${release[@]}" --ledger L.db -o p.csv
check one-charge test "$(entries L.db)" = 1
check rows test "$(wc -l <p.csv)" -gt 100
check no-names test "$(tail -n +2 p.csv | cut -d, -f1 | sort -u)" = 0
check guarantee jq -e '.unit == "one expert" and .draws == 25 and .prefixes > 0
  and (.over | test("generation"))' p.csv.guarantee.json
code spent 3 "does not fit" "${release[@]}" --ledger L.db -o q.csv
check nothing-more test ! -e q.csv

check data "$assay" experts demonstrate --experts e.bin --trajectories 3 --cap 30 -o d.csv
check ledger2 "$assay" ledger create M.db --epsilon 7.5 --delta 3e-4 --planned --unit expert
code pool-too-small 2 "draws need as many" "${release[@]}" --ledger M.db -o p2.csv --data d.csv
check pool-untouched test "$(entries M.db)" = 0
check logged "${release[@]}" --ledger M.db -o p2.csv --data d.csv --rest r.csv --draws 2
check rest test "$(tail -n +2 r.csv | cut -d, -f2 | sort -u)" = 2
head -1 d.csv >empty.csv
code empty-pool 2 "empty" "${release[@]}" --ledger M.db -o p3.csv --data empty.csv --draws 2

summary
