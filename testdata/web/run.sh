#!/usr/bin/env bash
# Tests the review page in a real browser: one process requests a review, headless Chromium submits it later, and
# another process fetches it through MCP, claims and resolves it. Hostile text is shown as well, and every violation
# of the content policy is counted.
#   run.sh [SCREENSHOT-DIRECTORY]
# Requires chromium (Debian's package), Node 20 and the npm registry, for playwright-core and axe-core. Prints SKIP
# and exits with 0 if the registry does not have them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
shots=${1:-}
[ -z "$shots" ] || { mkdir -p "$shots"; shots=$(cd "$shots" && pwd); }
command -v chromium >/dev/null || { echo "missing: chromium" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm_config_fetch_retries=0 timeout 60 npm view playwright-core@1.65.1 version >/dev/null 2>&1 || { echo "SKIP: the npm registry is not reachable"; exit 0; }
npm install --silent --no-audit --no-fund --fetch-retries=1 --prefix "$work/npm" playwright-core@1.65.1 axe-core@4.14.1 || { echo "SKIP: playwright-core cannot be installed from the npm registry"; exit 0; }
(cd "$here/../.." && go build -o "$work/bin/" ./cmd/...)
cp "$here"/*.mjs "$work/npm/"
WORK="$work" SHOTS="$shots" PATH="$work/bin:$PATH" node "$work/npm/e2e.mjs"
