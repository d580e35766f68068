#!/usr/bin/env bash
# mpirun gives what one process gives. Skipped where there is no OpenMPI.
set -u
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
  echo "no OpenMPI here: skipped"
  echo "0 passed, 0 failed"
  exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
make -s BUILD="$build" "$build/assay-mpi" >"$dir/make" 2>&1 || {
  cat "$dir/make"
  echo "0 passed, 1 failed"
  exit 1
}
root=()
[[ $(id -u) -eq 0 ]] && root=(--allow-run-as-root)
same() { # specimen
  local args=(catalogue --only "$1" --samples 150000 --no-oracle --json)
  "$build/assay" audit "${args[@]}" | jq 'map(del(.seconds,.total_seconds))' >"$dir/one"
  for ranks in 2 3; do
    timeout 200 mpirun "${root[@]}" --oversubscribe -n $ranks "$build/assay-mpi" \
      "${args[@]}" 2>"$dir/err" | jq 'map(del(.seconds,.total_seconds))' >"$dir/many"
    if [[ -s $dir/many ]] && cmp -s "$dir/one" "$dir/many"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAIL $1 with $ranks ranks"
      diff "$dir/one" "$dir/many" | head -5
      head -3 "$dir/err"
    fi
  done
}
same Laplace-1
same SVT1
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
