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
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# In a container: ranks share one machine, few cores, no network and no ssh.
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
export ASAN_OPTIONS=detect_leaks=0 # OpenMPI's own
ranks() { # number, program and arguments
  timeout 60 mpirun --oversubscribe --bind-to none -n "$@"
}
check() { # what, condition...
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $what"
    head -3 "$dir/err"
  fi
}
plain='if type == "array" then . else [.] end | map(del(.seconds, .total_seconds))'
same() { # number of ranks, arguments of audit: the same JSON as one process
  local n=$1
  shift
  "$build/assay" audit "$@" 2>"$dir/err" | jq "$plain" >"$dir/one"
  ranks "$n" "$build/assay-mpi" audit "$@" 2>"$dir/err" | jq "$plain" >"$dir/many"
  [[ -s $dir/one ]] && cmp -s "$dir/one" "$dir/many"
}
says() { # exit code, text, number of ranks, program and arguments
  local code=$1 text=$2
  shift 2
  ranks "$@" >"$dir/out" 2>"$dir/err"
  [[ $? -eq $code ]] && cat "$dir/out" "$dir/err" | grep -q "$text"
}

check "a specimen on 2 ranks" same 2 catalogue --only Laplace-1 --samples 150000 --no-oracle --json
check "a specimen on 3 ranks" same 3 catalogue --only SVT1 --samples 50000 --no-oracle --json

# A program whose run k is the same whoever does it.
echo 0 >"$dir/a"
echo 1 >"$dir/b"
cat >"$dir/counted" <<'P'
#!/usr/bin/awk -f
function mix(x) { x = (x * 16807 + 12345) % 2147483647; return (x * 48271) % 2147483647 }
BEGIN { getline x < ARGV[1]; runs = ARGV[2]; first = ARGV[3]
  for (k = first; k < first + runs; k++) {
    u = mix(mix(k * 2 + 7 * x + 1) + k) / 2147483647
    print x + int(20 * log(u + 1e-12)) / 10 * (k % 2 ? 1 : -1), (u < 0.3 ? "low" : "high")
  } }
P
chmod +x "$dir/counted"
two=(--left "$dir/a" --right "$dir/b" --claim eps=0.3 --samples 5001)
check "a program on 3 ranks" same 3 "${two[@]}" --json -- "$dir/counted" {input} {runs} {first}
check "kept outputs are those of one process" bash -c '
  '"$build"'/assay audit --left '"$dir/a"' --right '"$dir/b"' --claim eps=9 --samples 5001 \
    --keep '"$dir"'/k1 -- '"$dir"'/counted {input} {runs} {first} >/dev/null
  timeout 60 mpirun --oversubscribe -n 3 '"$build"'/assay-mpi audit --left '"$dir/a"' --right '"$dir/b"' \
    --claim eps=9 --samples 5001 --keep '"$dir"'/k3 -- '"$dir"'/counted {input} {runs} {first} >/dev/null
  cmp -s '"$dir"'/k1/left.txt '"$dir"'/k3/left.txt && cmp -s '"$dir"'/k1/right.txt '"$dir"'/k3/right.txt'

cat >"$dir/lib.c" <<'C'
static unsigned long long at;
int assay_target_width(void) { return 2; }
void assay_target_seek(unsigned long long first) { at = first; }
int assay_target_run(const char *input, unsigned long long runs, double *out)
{
    int right = input[0] == 'b';
    for (unsigned long long k = 0; k < runs; k++) {
        unsigned long long x = (at + k) * 2 + (unsigned long long)right;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull + 99;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        out[2 * k] = (double)(x >> 40) / 16777216.0 * (right ? 1.5 : 1);
        out[2 * k + 1] = (double)((x >> 20) & 3);
    }
    return 0;
}
C
"${CC:-cc}" -shared -fPIC -o "$dir/lib.so" "$dir/lib.c"
check "a library on 2 ranks" same 2 --library "$dir/lib.so" --left a --right b --claim eps=0.5 --samples 20000 --json

# What goes wrong on one rank is said, and nothing hangs.
cat >"$dir/dies" <<'P'
#!/bin/sh
[ "$3" -gt 0 ] && { seq 100 | awk '{ print $1 % 7 }'; exit 9; }
awk -v n="$2" -v s="$(date +%N)" 'BEGIN { srand(s); for (i = 0; i < n; i++) print int(7 * rand()) }'
P
chmod +x "$dir/dies"
check "a program that dies" says 0 'rank 1 on .*exit status 9 after 100' 2 "$build/assay-mpi" audit \
  --left "$dir/a" --right "$dir/b" --claim eps=5 --samples 4000 -- "$dir/dies" {input} {runs} {first}
cat >"$dir/seeded" <<'P'
#!/usr/bin/awk -f
BEGIN { srand(42); for (i = 0; i < ARGV[2]; i++) print rand() }
P
chmod +x "$dir/seeded"
check "a fixed seed" says 2 'ranks 0 and 1 gave the same runs' 3 "$build/assay-mpi" audit \
  "${two[@]}" -- "$dir/seeded" {input} {runs}
check "no such program" says 2 'rank 0 on .*cannot run' 2 "$build/assay-mpi" audit "${two[@]}" -- "$dir/nowhere"
check "a bad option" says 2 'claim' 2 "$build/assay-mpi" audit --left "$dir/a" --right "$dir/b" -- true
check "the plain tool under mpirun" says 2 'mpirun needs assay-mpi' 2 "$build/assay" audit "${two[@]}" -- true

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
