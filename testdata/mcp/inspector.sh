#!/usr/bin/env bash
# Walks through a review with a client of the Model Context Protocol that nobody here
# wrote: the inspector's command line, from npm. It lists the tools, strictly, then
# creates, lists, gets, claims and resolves a review, each step in a process of its own.
#
#   inspector.sh [GIT-RUNR]   the program to test, else git-runr on PATH
#
# Prints SKIP and ends with 0 where npm cannot be had.
set -euo pipefail

inspector=@modelcontextprotocol/inspector@2.12.0
node=node@22.19.0 # which the inspector needs; used where the installed one is older

fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIP: $*"; exit 0; }

# want TEXT COMMAND…: the command's output holds TEXT.
want() {
  local text=$1 out status=0
  shift
  out=$("$@" 2>&1) || status=$?
  grep -qF -- "$text" <<<"$out" || fail "$* (status $status) lacks \"$text\": $out"
  echo "ok: $text"
}

# inspect METHOD…: one call through the inspector.
inspect() { mcp-inspector --cli --cwd "$repo" "$program" mcp --method "$@"; }
call() { inspect tools/call --tool-name "$@"; }

walk() {
  want '"name": "review_inbox"' inspect tools/list --strict
  inspect tools/list --strict >/dev/null || fail "the tools are not strictly described"
  want 'No submitted reviews found.' call review_inbox --tool-arg action=list
  want 'Review requested (deferred).' call review --tool-arg reviewer=human --tool-arg 'message=mind the gap'
  want 'cannot be claimed' call review_inbox --tool-arg action=claim --tool-arg id=latest
  (cd "$repo" && "$program" inbox comment latest a.txt:1 -m 'say two' && "$program" inbox submit latest --request-changes) >/dev/null
  want '] submitted · 1 comment(s) · a.txt' call review_inbox --tool-arg action=list
  want 'say two' call review_inbox --tool-arg action=get --tool-arg id=latest
  want 'Claimed review' call review_inbox --tool-arg action=claim --tool-arg id=latest --tool-arg actor=inspector
  want 'is claimed by inspector' call review_inbox --tool-arg action=claim --tool-arg id=latest
  want 'Resolved review' call review_inbox --tool-arg action=resolve --tool-arg id=latest --tool-arg actor=inspector
  want 'resolved' call review_inbox --tool-arg action=list --tool-arg status=all
  want 'asks for' call diagnose --tool-arg id=latest
  echo "PASS: $inspector"
}

if [ "${1:-}" = --walk ]; then
  program=$2 repo=$3
  walk
  exit
fi

program=$(command -v "${1:-git-runr}") || fail "no program ${1:-git-runr}"
program=$(realpath "$program")
command -v npx >/dev/null || skip "npx is not installed"
npm_config_fetch_retries=0 timeout 60 npm view "$inspector" version >/dev/null 2>&1 || skip "the npm registry is not reachable"

packages=(-p "$inspector")
if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || a == 22 && b >= 19 ? 0 : 1)'; then
  packages+=(-p "$node")
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm_config_cache=$(npm config get cache 2>/dev/null)
export npm_config_cache HOME=$dir/home GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$dir/home/.gitconfig
mkdir "$HOME" "$dir/repo"
git config --global user.name Ada
git config --global user.email ada@example.com
git -C "$dir/repo" init -q
echo one >"$dir/repo/a.txt"
git -C "$dir/repo" add .
git -C "$dir/repo" commit -q -m first
npx -y "${packages[@]}" -c "bash $(printf %q "$(realpath "$0")") --walk $(printf %q "$program") $(printf %q "$dir/repo")"
