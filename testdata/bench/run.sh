#!/usr/bin/env bash
# Prints what git-runr costs as ratios against git, measured in turns in one run.
#   run.sh [quick]
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -tags urfave_cli_no_docs -o "$work/git-runr" ./cmd/git-runr
go run ./testdata/bench -bin "$work/git-runr" -work "$work" -rounds "$([ "${1:-}" = quick ] && echo 11 || echo 41)"
