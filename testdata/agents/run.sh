#!/usr/bin/env bash
# Tests common agent tools with git-runr, built from this repository, and a scripted model on loopback: reviews,
# runs, faults, hostile checkouts.
#   run.sh [-i] [-m] [-newest] [ARGUMENT OF GO TEST…]   such as: run.sh -run 'Review/codex'
# -i only installs. -m includes the tools of more/, which doubles the time. -newest installs the newest versions for
# this Node, in a directory of their own, and prints what changed. The tools are installed once, below AGENTS_CACHE.
# Prints SKIP and exits with 0 if they are not available.
set -euo pipefail
cd "$(dirname "$0")"
cache=${AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/git-runr-agents}
export npm_config_fetch_retries=1

skip() { echo "SKIP the agent tools: $*"; exit 0; }
install() { # install FROM TO: npm ci wants the packages of every platform to be there; install wants this one's
  cmp -s "$1/package-lock.json" "$2/installed.json" && return
  timeout 60 npm view @openai/codex@0.169.0 version >/dev/null 2>&1 || skip "the npm registry is not reachable"
  mkdir -p "$2"
  cp "$1/package.json" "$1/package-lock.json" "$2/"
  (cd "$2" && npm install --no-audit --no-fund --loglevel=error >"$2/install.log" 2>&1) || { tail -5 "$2/install.log"; skip "npm cannot install them"; }
  cp "$1/package-lock.json" "$2/installed.json"
}

# newest FROM TO: installs the newest version of each tool, and prints what changed. A tool that requires a newer
# Node than both this one and its pinned version's stays.
newest() {
  local name pinned version wants tools=()
  while read -r name pinned; do
    read -r version wants < <(timeout 60 npm view "$name@latest" version engines.node --json 2>/dev/null |
      node -e '
        const major = (range) => Number((range ?? "0").match(/\d+/)[0]), v = JSON.parse(require("fs").readFileSync(0));
        const pinned = require("child_process").execFileSync("npm", ["view", process.argv[1], "engines.node"], { encoding: "utf8" }).trim() || "0";
        const most = Math.max(major(pinned), major(process.versions.node)), needs = v["engines.node"];
        console.log(v.version ?? v, major(needs) > most ? needs : "")' "$name@$pinned") || skip "the npm registry is not reachable"
    if [ -n "$wants" ]; then
      echo "$name: $pinned stays, $version wants Node $wants"
      version=$pinned
    elif [ "$version" = "$pinned" ]; then
      echo "$name: $pinned is the newest"
    else
      echo "$name: $pinned -> $version"
    fi
    tools+=("$name@$version")
  done < <(node -p 'Object.entries(require(process.argv[1]).dependencies).map((e) => e.join(" ")).join("\n")' "$PWD/$1/package.json")
  mkdir -p "$2"
  [ -e "$2/package.json" ] || echo '{"private":true}' >"$2/package.json"
  (cd "$2" && npm install --no-audit --no-fund --loglevel=error "${tools[@]}" >"$2/install.log" 2>&1) || { tail -5 "$2/install.log"; skip "npm cannot install them"; }
}

only= more= install=install
while :; do
  case ${1:-} in
    -i) only=1 ;;
    -m) more=1 ;;
    -newest) install=newest cache=$cache/newest ;;
    *) break ;;
  esac
  shift
done
command -v npm >/dev/null || skip "npm is not installed"
$install . "$cache"
programs=$cache/node_modules/.bin
if [ "$more" ]; then
  $install more "$cache/more"
  programs=$programs:$cache/more/node_modules/.bin
fi
[ -z "$only" ] || exit 0
TMPDIR=/var/tmp RUNR_AGENTS=$programs go test -count=1 -parallel 6 -timeout 60m "$@" .
