#!/usr/bin/env bash
# How much of the experts' data is stable: thresholds and budgets, CartPole.
# Writes docs/experiments/prefixes.csv. ASSAY is the command, EXPERTS a file of
# trained experts (if it is not given, COUNT are trained here: ten minutes).
set -euo pipefail
cd "$(dirname "$0")/../.."
assay=${ASSAY:-build/assay}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=docs/experiments/prefixes.csv
count=${COUNT:-3000}
experts=${EXPERTS:-}
if [[ -z $experts ]]; then
  experts=$dir/cartpole.experts
  "$assay" experts train --env cartpole --count "$count" --bases 4 -o "$experts"
fi
echo "threshold,epsilon,draws,run,epsilon_draw,threshold_experts,prefixes,transitions" >"$out"
for threshold in printed monotone normalised; do
  for setting in "5 20" "7.5 20" "10 25"; do
    read -r epsilon draws <<<"$setting"
    for run in 1 2 3; do
      rm -f "$dir/L.db"
      "$assay" ledger create "$dir/L.db" --epsilon "$epsilon" --delta 9/10000 --planned --unit expert >"$dir/log"
      "$assay" experts release --experts "$experts" --epsilon "$epsilon" --delta 9/10000 \
        --threshold "$threshold" --draws "$draws" --ledger "$dir/L.db" -o "$dir/p.csv" --json |
        jq -r --arg t "$threshold" --arg e "$epsilon" --arg r "$run" \
          '[$t, $e, .draws, $r, (.epsilon_per_sparse_vector | split("/") | (.[0] | tonumber) / ((.[1] // "1") | tonumber)),
            .threshold_experts, .prefixes, .transitions] | map(tostring) | join(",")' >>"$out"
    done
  done
done
echo "$out"
