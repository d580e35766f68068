#!/usr/bin/env bash
# Experiments of the linear learners: bash docs/experiments/run_linear.sh NAME
# (or make experiment-NAME). Writes docs/experiments/NAME.csv and NAME.svg.
# Environments are seeded, the noise is not.
set -euo pipefail
cd "$(dirname "$0")"
ASSAY=${ASSAY:-build/assay}
[[ "$ASSAY" = /* ]] || ASSAY="$(git rev-parse --show-toplevel)/$ASSAY"
RUNS=${RUNS:-5}
PLOT=${PLOT:-} # PLOT=1 draws again from the CSV that is there

svg() { # svg NAME: gnuplot commands on standard input
  gnuplot -e "set terminal svg size 900,560 font 'sans,13' background '#ffffff'; \
    set output '$1.svg'; set datafile separator ','; set key outside right; \
    set grid lc rgb '#dddddd'" -
}
tidy() { # the lines of a series together, no quotes
  (head -1 "$1" && tail -n +2 "$1" | sort -s -t, -k1,1) | tr -d '"' >"$1.tmp"
  mv "$1.tmp" "$1"
}
gap() { # gap FILE LABEL ARGS...
  local file=$1 label=$2
  shift 2
  "$ASSAY" simulate "$@" --env linear --runs "$RUNS" --json |
    jq -r --arg l "$label" '[$l, .users, .gap, .deviation] | @csv' >>"$file"
}
error() { # error FILE LABEL X ARGS...
  local file=$1 label=$2 x=$3
  shift 3
  "$ASSAY" evaluate "$@" --json |
    jq -r --arg l "$label" --arg x "$x" '[$l, ($x | tonumber), .mspbe, .deviation, .zero, .sigma] | @csv' >>"$file"
}
series() { # series NAME X Y: a log-log plot of all series
  svg "$1" <<G
set logscale xy
set xlabel "$2"
set ylabel "$3"
list = system("awk -F, 'NR>1 && !s[\$1]++ {printf \"\\\\\"%s\\\\\" \", \$1}' $1.csv")
plot for [i=1:words(list)] '$1.csv' using (strcol(1) eq word(list, i) ? \$2 : NaN):(\$3 > 1e-3*${4:-1} ? \$3 : 1e-3*${4:-1}) with linespoints lw 2 lc i pt i title word(list, i)
G
}

experiment_dp_vapvi() {
  local out=dp-vapvi.csv k rho
  echo "series,users,gap,deviation" >"$out"
  for k in 30 100 300 1000 3000 10000; do
    gap "$out" "PEVI" pevi --users $k
    gap "$out" "VAPVI" vapvi --users $k
    for rho in 25 100; do
      gap "$out" "printed rho=$rho" dp-vapvi --users $k --rho $rho --statistics printed
    done
    gap "$out" "printed split rho=25" dp-vapvi --users $k --rho 25 --statistics printed --split
    gap "$out" "step-wise rho=25" dp-vapvi --users $k --rho 25 --statistics stepwise
    for rho in 5 25; do
      gap "$out" "centred rho=$rho" dp-vapvi --users $k --rho $rho
      gap "$out" "free rho=$rho" dp-vapvi --users $k --rho $rho --statistics free
    done
  done
  tidy "$out"
}
plot_dp_vapvi() { series dp-vapvi "users K" "V* - V (2 states, 100 actions, H=20)"; }

experiment_ope_chain() {
  local out=ope-chain.csv m O
  echo "series,episodes,mspbe,deviation,zero,sigma" >"$out"
  for m in 100 300 1000 3000 10000; do
    O="--env chain --episodes $m --runs $RUNS"
    error "$out" "GPOPE one episode eps=0.1" $m gpope $O --epsilon 0.1 --sampling one
    error "$out" "GPOPE Poisson eps=0.1" $m gpope $O --epsilon 0.1
    error "$out" "DP-LSL eps=0.1" $m dp-lsl $O --epsilon 0.1 --lambda $((100 * m))
    error "$out" "DP-LSW eps=0.1" $m dp-lsw $O --epsilon 0.1
    error "$out" "LSTD" $m lstd $O
    error "$out" "predicting zero" $m gtd2 $O --step-size 1e-12
  done
  tidy "$out"
}
plot_ope_chain() { series ope-chain "episodes m (N = m steps)" "MSPBE, exact" 1e-6; }

experiment_ope_steps() {
  local out=ope-steps.csv b
  echo "series,beta,mspbe,deviation,zero,sigma" >"$out"
  for b in 0.01 0.03 0.1 0.3 1; do
    error "$out" "constant" $b gpope --env chain --episodes 3000 --runs "$RUNS" --epsilon 0.1 --step-size $b
    error "$out" "diminishing" $b gpope --env chain --episodes 3000 --runs "$RUNS" --epsilon 0.1 --step-size $b --diminishing
  done
  tidy "$out"
}
plot_ope_steps() { series ope-steps "step size" "MSPBE (chain, m = N = 3000, eps = 0.1)"; }

# large FILE LABEL ENV M BITS N CLIP BETA DUAL RUNS: GPOPE with samples of
# n = M/2^BITS episodes on average; step sizes are for their mean
large() {
  local n
  n=$(awk -v m="$4" -v k="$5" 'BEGIN {print m / 2 ^ k}')
  error "$1" "$2" "$4" gpope --env "$3" --episodes "$4" --epsilon 1 \
    --rate-bits "$5" --steps "$6" --clip "$7" --runs "${10}" \
    --step-size "$(awk -v b="$8" -v n="$n" 'BEGIN {print b / n}')" \
    --dual-step-size "$(awk -v b="$9" -v n="$n" 'BEGIN {print b / n}')"
}
experiment_ope_control() {
  local out=ope-control.csv m k n b d e
  echo "series,episodes,mspbe,deviation,zero,sigma" >"$out"
  while read -r m k n b d; do
    for e in mountaincar mountaincar-off; do
      large "$out" "GPOPE eps=1 $e" $e "$m" "$k" "$n" 0.03 "$b" "$d" 3
    done
    error "$out" "GPOPE eps=1 mountaincar one a step" "$m" gpope --env mountaincar --episodes "$m" --epsilon 1 --clip 0.1 --step-size 1
    error "$out" "LSTD mountaincar" "$m" lstd --env mountaincar --episodes "$m" --runs 3
    error "$out" "WIS-LSTD mountaincar-off" "$m" wis-lstd --env mountaincar-off --episodes "$m" --runs 3
  done <<'T'
300 2 200 50 5
1000 3 500 200 10
3000 5 1000 200 10
10000 6 1000 200 10
T
  while read -r m k n; do
    large "$out" "GPOPE eps=1 hiv-off" hiv-off "$m" "$k" "$n" 0.01 2.5 2 1
    error "$out" "WIS-LSTD hiv-off" "$m" wis-lstd --env hiv-off --episodes "$m"
  done <<'T'
500 2 300
2000 4 500
T
  tidy "$out"
}
plot_ope_control() { series ope-control "episodes m" "MSPBE against fresh episodes" 0.1; }

# The printed noise of GPOPE, what it gives, and what is needed at distance 2h.
experiment_gpope_sigma() {
  local out=gpope-sigma.csv m n eps sigma file
  file=$(mktemp --suffix=.yaml)
  echo "m,N,claimed_epsilon,printed_sigma,true_epsilon,needed_sigma" >"$out"
  while read -r m n eps sigma; do
    printf 'neighbours: replace-one\nevents:\n  - {mechanism: gaussian, sigma: %s, sensitivity: 2, sampling: without-replacement, population: %s, batch: 1, count: %s}\n' "$sigma" "$m" "$n" >"$file"
    true_eps=$("$ASSAY" account "$file" --delta 1e-5 --method pld --json | jq -r '.epsilon' || true)
    needed=$("$ASSAY" evaluate gpope --env chain:3 --episodes "$m" --steps "$n" --epsilon "$eps" --sampling one --json | jq -r .sigma)
    echo "$m,$n,$eps,$sigma,$true_eps,$needed" >>"$out"
  done <<'T'
1000 1000 0.1 3.12
10000 10000 0.1 1.14
1000 1000 1 0.57
10000 100 0.1 0.43
T
  rm -f "$file"
  column -s, -t "$out"
}
plot_gpope_sigma() { :; }

name=${1:-}
case "$name" in
dp-vapvi | ope-chain | ope-steps | ope-control | gpope-sigma) ;;
*)
  echo "usage: run_linear.sh dp-vapvi|ope-chain|ope-steps|ope-control|gpope-sigma" >&2
  exit 2
  ;;
esac
[[ -n "$PLOT" ]] || "experiment_${name//-/_}"
"plot_${name//-/_}"
