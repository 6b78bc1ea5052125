#!/usr/bin/env bash
# Prints what git-runr costs as ratios against git, measured in turns in one run.
#   run.sh [quick] [PART]
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rounds=41
if [ "${1:-}" = quick ]; then rounds=11; shift; fi
go build -o "$work/plain" ./cmd/git-runr
CGO_ENABLED=0 go build -tags urfave_cli_no_docs -o "$work/git-runr" ./cmd/git-runr
go build -o "$work/bench" ./testdata/bench
"$work/bench" -bin "$work/git-runr" -plain "$work/plain" -work "$work" -rounds "$rounds" -only "${1:-}"
