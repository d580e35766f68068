#!/usr/bin/env bash
# Workers and libraries that misbehave: the audit ends with a clear message and
# leaves no process behind.
set -u
cd "$(dirname "$0")/../.."
assay=${BUILD:-build}/assay
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
. tests/support/check.sh
nothing_left() { # name, pattern of command lines
  if pgrep -f "$2" >/dev/null; then
    failed=$((failed + 1))
    echo "FAIL $1: a process is left"
  else
    passed=$((passed + 1))
  fi
}
worker() { # kind, expected exit, pattern, more options...
  local kind=$1 want=$2 pattern=$3
  shift 3
  check "worker $kind" "$want" "$pattern" "$assay" audit --left a --right b --claim eps=1 \
    --samples 5000 --worker "$@" -- python3 tests/data/audit/worker.py "$kind" "$dir/"
}
worker plain 0 "Not refuted"
worker forever 2 "broke the protocol"
worker empty 2 "broke the protocol"
worker silent 0 "silent after 1000 of 5000 outputs; killed" --timeout 5
worker stderr 0 "Not refuted"
worker dies 0 "killed by signal 11 after 4000 outputs"
worker more 0 "did not stop after 5000 outputs"
worker huge 0 "beyond the range of a double"
worker forks 0 "Not refuted"
nothing_left "worker that forks" "[w]orker.py forks $dir/"
check "program with a daemon" 0 "Not refuted" "$assay" audit --left a --right b --claim eps=1 \
  --samples 5000 -- python3 tests/data/audit/worker.py daemon "$dir/" "{runs}"
nothing_left "program with a daemon" "[w]orker.py daemon $dir/"

# The audit itself is killed: its target goes too.
"$assay" audit --left a --right b --claim eps=1 --samples 5000 -- \
  sh -c 'exec sleep 617' "$dir/" >/dev/null 2>&1 &
audit=$!
for _ in $(seq 100); do
  target=$(pgrep -P $audit) && break
  sleep 0.1
done
kill -9 $audit
wait $audit 2>/dev/null
sleep 0.5
# gone, or a zombie that init has not fetched yet
if [[ -n $target && $(ps -o stat= -p "$target") =~ ^(Z.*)?$ ]]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAIL the target outlives a killed audit"
fi

"${CC:-cc}" -shared -fPIC -o "$dir/bad.so" tests/data/audit/library.c || failed=$((failed + 1))
library() { # kind, expected exit, pattern
  check "library $1" "$2" "$3" "$assay" audit --library "$dir/bad.so" --left "$1-0$dir" --right "$1-1$dir" \
    --claim eps=1 --samples 20000 --timeout 3
}
library plain 0 "Not refuted"
library dies 1 "died by signal 11 after [0-9]+ runs of the (left|right) input"
library exits 1 "ended with status 3 after"
library hangs 1 "silent for 3 s after [0-9]+ runs"
library fails 1 "run returned 7"
library prints 0 "Not refuted"
library huge 0 "Not refuted"
library forks 0 "Not refuted"
nothing_left "library that forks" "[f]orks-.$dir 613"
check "no library" 2 "cannot load the library" "$assay" audit --library "$dir/none.so" --left a --right b --claim eps=1
check "no target" 2 "needs assay_target_width" "$assay" audit --library "${BUILD:-build}/libassay.so" \
  --left a --right b --claim eps=1
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
