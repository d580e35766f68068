# Sourced by shell tests: needs $dir, counts $passed and $failed.
check() { # name, expected exit, pattern, command...
  local name=$1 want=$2 pattern=$3
  shift 3
  timeout 100 "$@" >"$dir/out" 2>"$dir/err"
  local rc=$?
  if [[ $rc -eq $want ]] && cat "$dir/out" "$dir/err" | grep -qE -- "$pattern"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name: exit $rc (want $want), pattern '$pattern'"
    head -5 "$dir/out" "$dir/err"
  fi
}
