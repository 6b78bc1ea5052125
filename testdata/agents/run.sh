#!/usr/bin/env bash
# The agent tools that people have, with git-runr as it is built from here and a scripted
# model on loopback: reviews, runs, faults, hostile checkouts.
#   run.sh [-i] [ARGUMENT OF GO TEST…]   such as: run.sh -run 'Review/codex'; -i only installs
# The tools of package.json are installed once, below AGENTS_CACHE. Prints SKIP and ends
# with 0 where they cannot be had.
set -euo pipefail
cd "$(dirname "$0")"
cache=${AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/git-runr-agents}
export npm_config_fetch_retries=1

skip() { echo "SKIP the agent tools: $*"; exit 0; }
installed() { cmp -s package-lock.json "$cache/installed.json"; }
install() { # npm ci wants the packages of every platform to be there; install wants this one's
  mkdir -p "$cache"
  cp package.json package-lock.json "$cache/"
  (cd "$cache" && npm install --no-audit --no-fund --loglevel=error >"$cache/install.log" 2>&1) || return 1
  cp package-lock.json "$cache/installed.json"
}

command -v npm >/dev/null || skip "npm is not installed"
if ! installed; then
  timeout 60 npm view @openai/codex@0.169.0 version >/dev/null 2>&1 || skip "the npm registry is not reachable"
  install || { tail -5 "$cache/install.log"; skip "npm cannot install them"; }
fi
if [ "${1:-}" = -i ]; then exit; fi
TMPDIR=/var/tmp RUNR_AGENTS=$cache/node_modules/.bin go test -count=1 -parallel 6 -timeout 10m "$@" .
