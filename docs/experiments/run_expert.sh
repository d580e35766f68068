#!/usr/bin/env bash
# Experiments of the expert level: bash docs/experiments/run_expert.sh [full]
# (or make experiment-expert, make experiment-expert-full). Trains experts into
# build/expert/, writes docs/experiments/expert.jsonl (or expert-full.jsonl), one
# line a run, and the page expert.md from it. Environments are seeded, the noise
# is not. PLOT=1 writes the page again from the lines that are there.
set -euo pipefail
cd "$(dirname "$0")"
root=$(git rev-parse --show-toplevel)
ASSAY=${ASSAY:-build/assay}
[[ "$ASSAY" = /* ]] || ASSAY="$root/$ASSAY"
RUNS=${RUNS:-3}
JOBS=${JOBS:-2}
DELTA=${DELTA:-1e-5}
WORK=${WORK:-$root/build/expert}
what=${1:-default}
out=$PWD/expert.jsonl
[[ $what = full ]] && out=$PWD/expert-full.jsonl
export ASSAY DELTA WORK out
mkdir -p "$WORK"

experts() { # experts SET ENV COUNT BASES: the set's experts and demonstrations
  local file=$WORK/$2.$1
  if [[ ! -s $file.bin ]]; then
    "$ASSAY" experts train --env "$2" --count "$3" --bases "$4" --seed 1 --threads "$JOBS" \
      ${ITERATIONS:+--iterations $ITERATIONS} -o "$file.bin"
  fi
  [[ -s $file.data.bin ]] ||
    "$ASSAY" experts demonstrate --experts "$file.bin" --trajectories 1 --cap "$(cap_data "$2")" -o "$file.data.bin"
}
cap_data() { case $1 in hiv-dt20) echo 50 ;; lunarlander) echo 300 ;; *) echo 200 ;; esac; }
cap_test() { case $1 in cartpole) echo 1000 ;; hiv-dt20) echo 50 ;; lunarlander) echo 500 ;; *) echo 200 ;; esac; }
export -f cap_test

# one SET ENV LEARNER METHOD EPSILON DRAWS WIDTH RUN
one() {
  local set=$1 env=$2 learner=$3 method=$4 eps=$5 draws=$6 width=$7 run=$8
  local name=$WORK/run.$set.$env.$learner.$method.$eps.$width.$run
  local file=$WORK/$env.$set share=0 steps=300 said='{}' start=$SECONDS value why=
  rm -f "$name"*
  case $method in
    selective) share=3/4 steps=600 ;;
    prefixes) share=1 steps=600 ;;
  esac
  if [[ $method = open ]]; then
    "$ASSAY" learn "$learner" --experts "$file.bin" --data "$file.data.bin" --hidden "$width" --seed "$run" -o "$name.bin" >/dev/null
  elif [[ $method != random ]]; then
    "$ASSAY" ledger create "$name.db" --epsilon "$eps" --delta "$DELTA" --unit expert --planned >/dev/null
    said=$("$ASSAY" learn selective-dp-sgd --experts "$file.bin" --data "$file.data.bin" --learner "$learner" \
      --epsilon "$eps" --delta "$DELTA" --ledger "$name.db" --share $share --draws "$draws" --coin 1/2 \
      --steps $steps --rate-bits 4 --hidden "$width" --seed "$run" --json -o "$name.bin" 2>"$name.err" || echo '{}')
    why=$(head -1 "$name.err")
  fi
  if [[ $method = random ]]; then
    value=$("$ASSAY" experts evaluate --random "$env" --cap "$(cap_test "$env")" --json)
  elif [[ -s $name.bin ]]; then
    value=$("$ASSAY" experts evaluate --policy "$name.bin" --cap "$(cap_test "$env")" --json)
  else # nothing could be released: nothing was learned
    value='{"mean_return": null}'
  fi
  jq -nc --arg set "$set" --arg env "$env" --arg learner "$learner" --arg method "$method" --arg epsilon "$eps" \
    --argjson width "$width" --argjson run "$run" --argjson said "$said" --argjson value "$value" --argjson seconds $((SECONDS - start)) --arg why "$why" \
    '{set: $set, env: $env, learner: $learner, method: $method, epsilon: $epsilon, width: $width, run: $run,
      return: $value.mean_return, prefixes: $said.stage1.prefixes, transitions: $said.stage1.transitions,
      threshold: $said.stage1.threshold_experts, sigma: $said.stage2.sigma, private_steps: $said.stage2.private_steps,
      seconds: $seconds, why: $why}' >>"$out"
  rm -f "$name"*
}
export -f one

draws() { case $1 in 0.*) echo 2 ;; 1 | 2) echo 5 ;; *) echo 10 ;; esac; } # more budget, more draws
plan() { # plan SET ENV WIDTH LEARNERS EPSILONS: lines of arguments for one
  local l e m r
  echo "$1 $2 - random 0 0 $3 1"
  for l in $4; do
    for r in $(seq "$RUNS"); do
      echo "$1 $2 $l open 0 0 $3 $r"
      for e in $5; do
        for m in dp-sgd selective prefixes; do
          echo "$1 $2 $l $m $e $(draws "$e") $3 $r"
        done
      done
    done
  done
}

if [[ -z ${PLOT:-} ]]; then
  : >"$out"
  {
    if [[ $what = full ]]; then
      for env in lunarlander hiv-dt20; do
        ITERATIONS=${ITERATIONS:-200} experts varied $env "${COUNT:-1000}" 8 >&2
        plan varied $env 32 "cql bcq" "2 10"
      done
      for env in cartpole acrobot; do # the paper's network
        experts varied $env "${COUNT:-3000}" 8 >&2
        plan varied $env 256 cql "2 10"
      done
    else
      for env in cartpole acrobot; do
        experts varied $env "${COUNT:-3000}" 8 >&2
        experts alike $env "${ALIKE:-1000}" 1 >&2
        plan varied $env 32 "cql bcq" "0.5 2 10"
        plan alike $env 32 cql "0.5 2 10"
      done
    fi
  } | xargs -P "$JOBS" -L 1 bash -c 'one "$@"' one
  sort -o "$out" "$out"
fi
python3 expert_page.py "$ASSAY" expert.jsonl expert-full.jsonl >expert.md
