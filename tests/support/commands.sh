# For tests of commands: `. tests/support/commands.sh` from the top folder.
# Sets $assay, works in a temporary folder that is removed at the end, counts in
# $passed and $failed. End a test with `summary`.
set -u
assay="$PWD/${BUILD:-build}/assay"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0
failed=0

check() { # check NAME COMMAND...: succeeds
  local name=$1
  shift
  if "$@" >out 2>err; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name"
    cat out err
  fi
}

# code NAME CODE TEXT COMMAND...: the exit code, and a text on standard error
code() {
  local name=$1 want=$2 text=$3
  shift 3
  "$@" >out 2>err
  local got=$?
  if [[ $got -eq $want ]] && grep -qF -- "$text" err; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name: exit $got, wanted $want with '$text'"
    cat out err
  fi
}

summary() {
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 ]]
}
