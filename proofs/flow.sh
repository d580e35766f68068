#!/usr/bin/env bash
# make prove-flow: what is released depends on private data only through a
# mechanism. Arguments: names of targets (proofs/flow/targets.tsv), all if none.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 proofs/flow/check.py "$@"
