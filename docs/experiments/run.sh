#!/usr/bin/env bash
# Runs one experiment: bash docs/experiments/run.sh NAME (or make experiment-NAME).
# Writes docs/experiments/NAME*.csv and NAME.svg. The environments are seeded,
# the noise is not: numbers of private runs change from run to run.
set -euo pipefail
cd "$(dirname "$0")"
ASSAY=${ASSAY:-build/assay}
[[ "$ASSAY" = /* ]] || ASSAY="$(git rev-parse --show-toplevel)/$ASSAY"
RUNS=${RUNS:-5}
# Runs of one local learner differ by a quarter of the mean; they are short.
LOCAL_RUNS=$((8 * RUNS))
VTR_RUNS=$((20 * RUNS))

# PLOT=1 draws again from the CSV that is there.
PLOT=${PLOT:-}
sim() { "$ASSAY" simulate "$@" --json; }

# row FILE LABEL ARGS... : one line "label,size,mean,deviation" of a simulation
row() {
  local file=$1 label=$2
  shift 2
  sim "$@" | jq -r --arg l "$label" \
    '[$l, (.users // .episodes), (.gap // .regret), .deviation] | @csv' >>"$file"
}

# tidy FILE: no quotes, the lines of a series together
tidy() {
  (head -1 "$1" && tail -n +2 "$1" | sort -s -t, -k1,1) | tr -d '"' >"$1.tmp"
  mv "$1.tmp" "$1"
}

svg() { # svg NAME: gnuplot commands on standard input
  gnuplot -e "set terminal svg size 900,560 font 'sans,13' background '#ffffff'; \
    set output '$1.svg'; set datafile separator ','; set key outside right; \
    set grid lc rgb '#dddddd'" -
}

GAUSS="--privatizer central --noise gaussian"

experiment_dp_apvi() {
  local out=dp-apvi.csv n runs rho
  echo "series,users,gap,deviation" >"$out"
  for n in 100 300 1000 3000 10000 30000 100000 300000 1000000; do
    runs=$RUNS
    for rho in 0.1 1 10; do
      row "$out" "DP-APVI rho=$rho practical" dp-apvi --env clinic --users $n --runs $runs $GAUSS --rho $rho
    done
    row "$out" "DP-APVI rho=1 paper" dp-apvi --env clinic --users $n --runs $runs $GAUSS --rho 1 --preset paper
    row "$out" "DP-APVI rho=1 Hoeffding" dp-apvi --env clinic --users $n --runs $runs $GAUSS --rho 1 --penalty hoeffding
    row "$out" "DP-APVI eps=1 Laplace" dp-apvi --env clinic --users $n --runs $runs --privatizer central --epsilon 1
    row "$out" "APVI practical" dp-apvi --env clinic --users $n --runs $runs
    row "$out" "APVI paper" dp-apvi --env clinic --users $n --runs $runs --preset paper
  done
  row "$out" "DP-APVI rho=1 paper" dp-apvi --env clinic --users 10000000 --runs 1 $GAUSS --rho 1 --preset paper
  row "$out" "APVI paper" dp-apvi --env clinic --users 10000000 --runs 1 --preset paper
  tidy "$out"
}

plot_dp_apvi() {
  svg dp-apvi <<'G'
set logscale xy
set xlabel "trajectories n"
set ylabel "V* - V (clinic, H=8, S=14, A=4)"
set yrange [0.003:4]
list = "'APVI practical' 'APVI paper' 'DP-APVI rho=10 practical' 'DP-APVI rho=1 practical' 'DP-APVI rho=0.1 practical' 'DP-APVI eps=1 Laplace' 'DP-APVI rho=1 Hoeffding' 'DP-APVI rho=1 paper'"
plot for [i=1:words(list)] 'dp-apvi.csv' using (strcol(1) eq word(list, i) ? $2 : NaN):($3 > 0.003 ? $3 : 0.003) with linespoints lw 2 lc i pt i title word(list, i)
G
}

experiment_triples() {
  local out=triples.csv n rho
  echo "series,users,gap,deviation" >"$out"
  for n in 300 1000 3000 10000 30000 100000 300000 1000000; do
    for rho in 0.1 1; do
      row "$out" "full rho=$rho" dp-apvi --env clinic --users $n --runs $((2 * RUNS)) $GAUSS --rho $rho
      row "$out" "quarter rho=$rho" dp-apvi --env clinic --users $n --runs $((2 * RUNS)) $GAUSS --rho $rho --pair-share 1/4
      row "$out" "triples rho=$rho" dp-apvi --env clinic --users $n --runs $((2 * RUNS)) $GAUSS --rho $rho --triples-only
    done
  done
  tidy "$out"
}

plot_triples() {
  svg triples <<'G'
set logscale xy
set xlabel "trajectories n"
set ylabel "V* - V (clinic)"
set yrange [0.003:4]
list = "'full rho=1' 'quarter rho=1' 'triples rho=1' 'full rho=0.1' 'quarter rho=0.1' 'triples rho=0.1'"
plot for [i=1:words(list)] 'triples.csv' using (strcol(1) eq word(list, i) ? $2 : NaN):($3 > 0.003 ? $3 : 0.003) with linespoints lw 2 lc i pt i title word(list, i)
G
}

# curve FILE LABEL ARGS... : appends a regret curve
curve() {
  local file=$1 label=$2 tmp
  shift 2
  tmp=$(mktemp)
  sim "$@" --curve "$tmp" --points 100 >/dev/null
  awk -F, -v l="$label" 'NR > 1 {print l "," $0}' "$tmp" >>"$file"
  rm -f "$tmp"
}

experiment_online() {
  local out=online.csv O="--env riverswim --episodes 1e5 --bonus 0.02 --width 0.001"
  local E="$O --runs $RUNS" L="$O --runs $LOCAL_RUNS --privatizer local"
  echo "series,episode,regret,deviation" >"$out"
  # b = 3 H log K/eps is a level of 2 eps L/log K = 2.954 eps at K = 10^5
  curve "$out" "UCB-VI" private-ucb-vi $E
  curve "$out" "UCB-PO" private-ucb-po $E
  curve "$out" "central Gaussian eps=1" private-ucb-vi $E $GAUSS --epsilon 1 --delta 1e-6
  curve "$out" "same without N(s;a)" private-ucb-vi $E $GAUSS --epsilon 1 --delta 1e-6 --triples-only
  curve "$out" "central Laplace eps=10" private-ucb-vi $E --privatizer central --epsilon 10
  curve "$out" "printed noise eps=10 (true 29.5)" private-ucb-vi $E --privatizer central --epsilon 29.54
  curve "$out" "central Laplace eps=1" private-ucb-vi $E --privatizer central --epsilon 1
  curve "$out" "printed noise eps=1 (true 2.95)" private-ucb-vi $E --privatizer central --epsilon 2.954
  curve "$out" "local Laplace eps=10" private-ucb-vi $L --epsilon 10
  curve "$out" "local Laplace without N(s;a)" private-ucb-vi $L --epsilon 10 --triples-only
  curve "$out" "local unary eps=10" private-ucb-vi $L --noise unary --epsilon 10
  curve "$out" "local printed eps=10 (true 20)" private-ucb-vi $L --epsilon 20
  curve "$out" "UCB-PO central Gaussian eps=1" private-ucb-po $E $GAUSS --epsilon 1 --delta 1e-6
  curve "$out" "PUCB central Laplace eps=10" pucb $E --privatizer central --epsilon 10
  curve "$out" "LDP-OB local Laplace eps=10" ldp-ob $L --epsilon 10
}

plot_online() {
  svg online <<'G'
set xlabel "episodes"
set ylabel "cumulative regret (RiverSwim S=3, H=6)"
set key outside right font ',11'
list = system("awk -F, 'NR>1 && !s[$1]++ {printf \"\\\"%s\\\" \", $1}' online.csv")
plot 1.2191615*x lc rgb '#999999' dt 2 title 'acting at random', \
  for [i=1:words(list)] 'online.csv' using (strcol(1) eq word(list, i) ? $2 : NaN):3 with lines lw 2 lc (1 + (i - 1) % 7) dt 1+(i-1)/7 title word(list, i)
G
}

experiment_vtr() {
  local out=vtr.csv eps rho E="--env riverswim --episodes 1e4 --runs $VTR_RUNS"
  echo "series,episode,regret,deviation" >"$out"
  curve "$out" "UCRL-VTR counts" ucrl-vtr $E --bonus 0.1
  curve "$out" "UCRL-VTR printed statistics" ucrl-vtr $E --bonus 0.15 --statistics printed
  for eps in 1 10 100; do
    curve "$out" "LDP counts eps=$eps" ucrl-vtr $E --bonus 0.03 --privatizer local --noise gaussian --epsilon $eps --delta 1e-5
    curve "$out" "LDP printed statistics eps=$eps" ucrl-vtr $E --bonus 0.1 --statistics printed --privatizer local --noise gaussian --epsilon $eps --delta 1e-5
    # sigma = 4 H^3 sqrt(2 log(2.5 H/delta))/eps as a rho: 4.5 sum (H-h)^4 / (2 sigma^2)
    rho=$(awk -v e=$eps 'BEGIN {s = 4 * 216 * sqrt(2 * log(2.5 * 6 / 1e-5)) / e; printf "%.9f", 4.5 * 979 / (2 * s * s)}')
    curve "$out" "LDP printed noise eps=$eps" ucrl-vtr $E --bonus 0.1 --statistics printed --privatizer local --noise gaussian --rho "$rho"
  done
}

plot_vtr() {
  svg vtr <<'G'
set xlabel "episodes"
set ylabel "cumulative regret (RiverSwim S=3, H=6)"
set key outside right font ',11'
list = system("awk -F, 'NR>1 && !s[$1]++ {printf \"\\\"%s\\\" \", $1}' vtr.csv")
plot 1.2191615*x lc rgb '#999999' dt 2 title 'acting at random', \
  for [i=1:words(list)] 'vtr.csv' using (strcol(1) eq word(list, i) ? $2 : NaN):3 with lines lw 2 lc (1 + (i - 1) % 7) dt 1+(i-1)/7 title word(list, i)
G
}

# What privacy costs, one line a learner.
experiment_cost() {
  local out=cost.csv L="--env riverswim --episodes 1e5 --bonus 0.02 --width 0.001"
  local O="$L --runs $RUNS" V="--env riverswim --episodes 1e4 --runs $VTR_RUNS"
  echo "series,size,loss,deviation" >"$out"
  row "$out" "APVI clinic" dp-apvi --env clinic --users 30000 --runs $RUNS
  row "$out" "DP-APVI clinic rho=1" dp-apvi --env clinic --users 30000 --runs $RUNS $GAUSS --rho 1
  row "$out" "DP-APVI clinic eps=1 (Laplace)" dp-apvi --env clinic --users 30000 --runs $RUNS --privatizer central --epsilon 1
  row "$out" "UCB-VI" private-ucb-vi $O
  row "$out" "UCB-VI central Gaussian eps=1 delta=1e-6" private-ucb-vi $O $GAUSS --epsilon 1 --delta 1e-6
  row "$out" "UCB-VI central Laplace eps=10" private-ucb-vi $O --privatizer central --epsilon 10
  row "$out" "UCB-VI central Laplace eps=1" private-ucb-vi $O --privatizer central --epsilon 1
  row "$out" "UCB-VI local Laplace eps=10" private-ucb-vi $L --runs $LOCAL_RUNS --privatizer local --epsilon 10
  row "$out" "UCRL-VTR" ucrl-vtr $V --bonus 0.1
  row "$out" "UCRL-VTR bonus=1" ucrl-vtr $V --bonus 1
  row "$out" "LDP-UCRL-VTR counts eps=10 delta=1e-5" ucrl-vtr $V --bonus 0.03 --privatizer local --noise gaussian --epsilon 10 --delta 1e-5
  row "$out" "LDP-UCRL-VTR printed statistics eps=10 delta=1e-5" ucrl-vtr $V --bonus 0.1 --statistics printed --privatizer local --noise gaussian --epsilon 10 --delta 1e-5
  tr -d '"' <"$out" >"$out.tmp" && mv "$out.tmp" "$out"
  column -s, -t "$out"
}

name=${1:-}
case "$name" in
dp-apvi | triples | online | vtr | cost) ;;
*)
  echo "usage: run.sh dp-apvi|triples|online|vtr|cost" >&2
  exit 2
  ;;
esac
[[ -n "$PLOT" ]] || "experiment_${name/-/_}"
[[ "$name" == cost ]] || "plot_${name/-/_}"
