#!/usr/bin/env bash
# experts train, demonstrate, evaluate and learn selective-dp-sgd from end to end.
. tests/support/commands.sh
learn() { "$assay" learn selective-dp-sgd --experts e.bin --data d.bin --delta 1e-5 -o p.bin --steps 100 --hidden 16 "$@"; }

check train "$assay" experts train --env acrobot --count 4 --bases 1 --iterations 1 --own 1 --hidden 8 -o a.bin --json
check trained jq -e '.experts == 4 and .environment == "acrobot"' out
check rules "$assay" experts train --env cartpole --count 800 --scripted 0.05 -o e.bin
check show-data "$assay" experts demonstrate --experts e.bin --trajectories 1 --cap 60 -o d.bin
check show-csv "$assay" experts demonstrate --experts a.bin --trajectories 1 --cap 5 -o a.csv
check header grep -qx 'expert,trajectory,t,s0,s1,s2,s3,a,r,n0,n1,n2,n3,done' a.csv
check ledger "$assay" ledger create L.db --epsilon 60 --delta 1e-4 --unit expert --planned
check both learn --epsilon 10 --draws 6 --ledger L.db --json
check stages jq -e '.stage1.draws == 6 and .stage2.private_steps + .stage2.plain_steps == 100 and .unit == "one expert"' out
check value "$assay" experts evaluate --policy p.bin --episodes 20 --json
check learned jq -e '.mean_return > 60' out
# six draws that all stop at once: below 1e-9
check only-first learn --epsilon 10 --draws 6 --share 1 --ledger L.db --json
check no-second jq -e '(.stage2 | not) and .stage1.transitions > 0' out
check only-second learn --epsilon 2 --share 0 --ledger L.db --json --learner bcq
check no-first jq -e '(.stage1 | not) and .stage2.coin == "1/2" or .stage2.coin == "1"' out
check sigma learn --epsilon 2 --share 0 --sigma 20 --ledger L.db --json
check within "$assay" ledger verify L.db
check cql "$assay" learn cql --experts e.bin --data d.bin -o q.bin --steps 200
check bcq "$assay" learn bcq --experts e.bin --data d.bin -o q.bin --steps 200 --json
check says-so jq -e '.notion | test("not private")' out
check random "$assay" experts evaluate --random cartpole --json
check blind jq -e '.mean_return > 10 and .mean_return < 40' out

# nothing of this is charged
check fresh "$assay" ledger create F.db --epsilon 10 --delta 1e-5 --unit expert --planned
head -c 1000 e.bin >cut.bin
code experts-cut 4 "cut short" "$assay" learn selective-dp-sgd --experts cut.bin --data d.bin --epsilon 1 --delta 1e-5 --ledger F.db -o p.bin
printf 'x' >bad.bin
code experts-bad 4 "not an Assay checkpoint" "$assay" learn selective-dp-sgd --experts bad.bin --data d.bin --epsilon 1 --delta 1e-5 --ledger F.db -o p.bin
code experts-kind 2 "not a 'experts'" "$assay" learn selective-dp-sgd --experts d.bin --data d.bin --epsilon 1 --delta 1e-5 --ledger F.db -o p.bin
python3 - <<'PY'
import hashlib, struct
b = bytearray(open("e.bin", "rb").read()[:-32])
b[-8:] = struct.pack("<d", float("nan"))
open("nan.bin", "wb").write(bytes(b) + hashlib.sha256(b).digest())
PY
code experts-nan 2 "not a finite number" "$assay" learn selective-dp-sgd --experts nan.bin --data d.bin --epsilon 1 --delta 1e-5 --ledger F.db -o p.bin
head -1 a.csv >empty.csv
code pool-empty 2 "the pool is empty" "$assay" learn selective-dp-sgd --experts e.bin --data empty.csv --epsilon 1 --delta 1e-5 --ledger F.db -o p.bin
code no-draws 2 "" learn --epsilon 1 --draws 0 --ledger F.db
code tiny 2 "" learn --epsilon 1e-12 --draws 5 --ledger F.db
code share 2 "between 0 and 1" learn --epsilon 1 --share 2 --ledger F.db
code no-data 2 "--data" "$assay" learn selective-dp-sgd --experts e.bin --epsilon 1 --delta 1e-5 --ledger F.db -o p.bin
code no-ledger 2 "--ledger" learn --epsilon 1
code over 3 "does not fit" learn --epsilon 11 --share 0 --ledger F.db
check replaced "$assay" ledger create R.db --epsilon 10 --delta 1e-5 --neighbours replace-one
code neighbours 2 "add-remove" learn --epsilon 1 --ledger R.db
check untouched jq -e '.rows | length == 1' <("$assay" ledger export F.db)

# nothing stable: the charge stays, the message says so
check lonely "$assay" experts train --env cartpole --count 3 --scripted 0.05 -o few.bin
code nothing-stable 3 "no prefix was stable" "$assay" learn selective-dp-sgd --experts few.bin --share 1 --draws 1 --epsilon 1 --delta 1e-5 --ledger F.db -o p2.bin
check kept jq -e '.rows | length == 2' <("$assay" ledger export F.db)
check no-policy test ! -e p2.bin
code few-then-noise 3 "does not fit" learn --epsilon 10 --share 0 --ledger F.db

code env-unknown 2 "mars" "$assay" experts train --env mars -o x.bin
code no-verb 2 "no such verb" "$assay" experts fly
code bad-policy 4 "not an Assay checkpoint" "$assay" experts evaluate --policy bad.bin
for verb in train demonstrate evaluate; do
  check "help-$verb" "$assay" experts $verb --help
done
check help-learn "$assay" learn selective-dp-sgd --help
summary
