#!/bin/sh
# Ten rounds of 30 s: eight writers, one of which is killed every second, while git gc --prune=now and git pack-refs
# --all run all the time.
cd "$(dirname "$0")/.." || exit
RUNR_SOAK=30s RUNR_SOAK_ROUNDS=10 exec go test ./cmd/git-runr/internal/proctest -run '^TestSoak$' -count=1 -v -timeout 30m
