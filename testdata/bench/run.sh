#!/usr/bin/env bash
# Measures git-runr against git, in turns within one run, and writes one table.
#   run.sh [small|medium|large] [-keep DIR] [-parts PART,…] [-o FILE] …
# small: 100 and 2,000 reviews, for every change. medium: 100 to 10,000. large: up to 100,000, a million events of
# fifty writers, and ten thousand writers with few events each (an hour, 20 GB).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ "$(uname)" = Linux ] || { echo "SKIP the benches, which read Linux's /proc"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
size=medium
case ${1:-} in small | medium | large) size=$1; shift ;; esac
case $size in
  small) set -- -sizes 100,2000 -rounds 3 -budget 400ms -long 1000 -files 2000 -changed 200 -short 50 "$@" ;;
  medium) set -- -sizes 100,1000,10000 "$@" ;;
  large) set -- -sizes 100,1000,10000,100000 -events 1000000 -short 10000 "$@" ;;
esac
CGO_ENABLED=0 go -C "$here/../.." build -o "$work/" ./cmd/...
go -C "$here/../.." build -o "$work/bench" ./testdata/bench
if [ "$size" != small ]; then
  GOBIN=$work go install github.com/zricethezav/gitleaks/v8@v8.30.1 2>/dev/null && set -- -gitleaks "$work/gitleaks" "$@"
fi
mkdir "$work/repositories"
"$work/bench" -bin "$work/git-runr" -work "$work/repositories" "$@"
