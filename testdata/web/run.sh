#!/usr/bin/env bash
# The review page in a real browser: a review asked for by one process, submitted
# later in headless Chromium, fetched through MCP by another, claimed and resolved;
# and hostile text, with every content-policy violation counted.
#   run.sh [SCREENSHOT-DIRECTORY]
# Wants chromium (Debian's package), Node 20 and the npm registry, for playwright-core and axe-core;
# prints SKIP and ends with 0 where it cannot be had from there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
shots=${1:-}
[ -z "$shots" ] || { mkdir -p "$shots"; shots=$(cd "$shots" && pwd); }
command -v chromium >/dev/null || { echo "missing: chromium" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm_config_fetch_retries=0 timeout 60 npm view playwright-core@1.65.1 version >/dev/null 2>&1 || { echo "SKIP: the npm registry is not reachable"; exit 0; }
npm install --silent --no-audit --no-fund --fetch-retries=1 --prefix "$work/npm" playwright-core@1.65.1 axe-core@4.14.1 || { echo "SKIP: playwright-core cannot be installed from the npm registry"; exit 0; }
(cd "$here/../.." && go build -o "$work/bin/git-runr" ./cmd/git-runr)
cp "$here"/*.mjs "$work/npm/"
WORK="$work" SHOTS="$shots" PATH="$work/bin:$PATH" node "$work/npm/e2e.mjs"
